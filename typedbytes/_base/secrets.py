"""Secrets hidden in what people and their logs get to see.

They are users and passwords in URLs, the keys and signatures in their queries, and the values of properties, variables
and options that are named like a secret. Not here: where text is shown. Invariant: records, and command lines that are
printed to be run, do not pass through here.
"""

from __future__ import annotations

__all__ = ["remember_secrets", "without_secret_values", "without_secrets"]

_SECRETS: set[str] = set()  # seen so far: errors of file systems quote them without their URL or name
_MIN_SECRET = 4  # characters: shorter ones occur in any text
_MIN_VALUE = 8  # characters of the value of a name: shorter ones are words, as in auth=none
_SPACE = r"\s"
_NOT_AZURE = "(?<!abfs)(?<!abfss)(?<!wasb)(?<!wasbs)"  # URLs of Azure have the container before the @
#: What the names of secrets have: a parameter of a query anywhere in its name, others at the end of one of its words,
#: the short ones as a whole word. A key is one word of many names that are no secrets, mapreduce.job.output.key.class.
_WORDS = "secrets?|token|passwords?|passwd|passphrase|pwd|credentials?|signature|delegation"
_SHORT = "pass|sig"
_QUERY = (
    rf"(?i)([?&][^=&?\s]{{0,64}}(?:{_WORDS}|{_SHORT}|key|auth)[^=&?\s]{{0,64}}=)"
    r"((?:[^&#\s'\"]*[^&#\s'\":,;)])?)"
)
#: The same of a name in lower case, with a dot between its words.
_NAME = (
    rf"(?:^|\.)(?:\w*(?:{_WORDS})|{_SHORT}|azure\.sas|(?:auth|authorization)$"
    r"|\w*(?:access|account|api|auth|client|encryption|license|private|secret|shared|signing|storage|subscription)"
    r"\.?keys?)(?:\.|$)"
)
#: The last word of a name for something about a secret: fs.s3a.aws.credentials.provider, token.file.
_ABOUT = r"\.(?:class|count|enabled?|exclude|file|interval|length|lifetime|limit|name|path|providers?|size|type)$"


def remember_secrets(words):
    """Remember the secrets of the words of a command, to hide them wherever they are quoted."""
    for each in words:
        if "://" in each:
            _remember(each, "")
    if any("=" in each or each == "--arg" for each in words):  # else re is not imported: start-up time
        _remember_all([value for _, value in _split(words)], _MIN_VALUE)


def without_secret_values(words):
    """Return the words of a command with the values of what is named like a secret hidden.

    >>> without_secret_values(["-D", "fs.s3a.secret.key=abc", "--env=API_TOKEN=abc", "-Dn.key=1", "--password", "abc"])
    ['-D', 'fs.s3a.secret.key=***', '--env=API_TOKEN=***', '-Dn.key=1', '--password', '***']
    """
    return [f"{name}***" if value else name for name, value in _split(words)]


def _split(words):
    """Yield each word of a command as two parts, of which the second is the value of a secret, or empty."""
    before, secret_of = "", ""  # secret_of: whose option the value of a secret follows
    for word in words:
        given = word.removeprefix("--arg=")
        owner = "script" if given != word or before == "--arg" else "command"
        if secret_of == owner and not given.startswith("-"):
            start = len(word) - len(given)
        elif word.startswith("-") or not before or before.startswith("-"):
            start = _start_of_value(word)
        else:  # an input, maybe in a folder token=2026
            start = len(word)
        yield word[:start], word[start:]
        if word != "--arg":
            secret_of = owner if given.startswith("-") and "=" not in given and _is_secret(given) else ""
        before = word


def _start_of_value(word):
    """Return where the value starts in NAME=VALUE, -DNAME=VALUE, --NAME=VALUE or --env=NAME=VALUE if it is secret."""
    start, sign, name = 0, "=", "--"
    while sign and name.startswith("--"):
        name, sign, value = word[start:].partition("=")
        start += len(name) + len(sign)
        if sign and _is_secret(name.removeprefix("-D")) and value.lower() not in ("true", "false"):
            return start
    return len(word)


def _is_secret(name):
    import re

    if not re.fullmatch(r"[\w.-]+", name):  # a URL, or text with a sign in it
        return False
    words = re.sub("(?<=[a-z0-9])(?=[A-Z])|[._-]+", ".", name).lower()
    return words not in ("pwd", "oldpwd") and re.search(_NAME, words) is not None and re.search(_ABOUT, words) is None


def without_secrets(text):
    """Return text with the user and password in URLs hidden, and the values of keys and signatures in queries.

    >>> without_secrets("ftp://me:pass@host/a: not found"), without_secrets("https://host/a?sig=abc%3D&n=1")
    ('ftp://***@host/a: not found', 'https://host/a?sig=***&n=1')
    """
    if "://" not in text and "=" not in text and not _SECRETS:
        return text
    import re

    _remember(text, _SPACE)
    text = re.sub(_user(_SPACE), "://***@", text)
    for each in sorted(_SECRETS, key=len, reverse=True):
        text = text.replace(each, "***@" if each.endswith("@") else "***")
    return re.sub(_QUERY, r"\1***", text)


def _remember(text, end):
    import re

    for user in re.findall(_user(end), text):
        password = user.partition(":")[2]
        # A library that takes a slash in a password for the end of the host quotes what is before it.
        _remember_all([f"{user}@", password, *re.split("[/?#@]", password)], _MIN_SECRET)
    _remember_all([value for _, value in re.findall(_QUERY, text)], _MIN_VALUE)


def _user(end):
    """Return the pattern of a URL's user and password. end: characters that end a URL.

    They end at the last @ before the path. Where what seems to be the port is not a number,
    a password has a slash, a ? or a #.
    """
    return rf"{_NOT_AZURE}://([^/?#{end}]*|[^/?#@:\[{end}]*:(?!\d*[/?#])(?:(?!://)[^@{end}])*)@"


def _remember_all(secrets, least):
    for secret in secrets:
        if "%" in secret:
            from urllib.parse import unquote

            _SECRETS.update(decoded for decoded in [unquote(secret)] if len(decoded) >= least)
        if len(secret) >= least and secret != "***@":
            _SECRETS.add(secret)
