"""Secrets in URLs, hidden in what people and their logs get to see.

They are users and passwords, and the keys and signatures in queries. Not here: where text is shown. Invariant: records,
and command lines that are printed to be run, do not pass through here.
"""

from __future__ import annotations

__all__ = ["remember_secrets", "without_secrets"]

_SECRETS: set[str] = set()  # of the URLs so far: errors of file systems quote them without their URL
_MIN_SECRET = 4  # characters: shorter ones occur in any text
_MIN_VALUE = 8  # characters of a query's value: shorter ones are words, as in auth=none
_SPACE = r"\s"
_NOT_AZURE = "(?<!abfs)(?<!abfss)(?<!wasb)(?<!wasbs)"  # whose URLs have the container before the @
_QUERY = (
    r"(?i)([?&][^=&?\s]{0,64}(?:sig|token|secret|pass|pwd|credential|key|auth|delegation)[^=&?\s]{0,64}=)"
    r"((?:[^&#\s'\"]*[^&#\s'\":,;)])?)"
)


def remember_secrets(words):
    """Remember the secrets of words that may be URLs, to hide them wherever they are quoted."""
    for each in words:
        if "://" in each:
            _remember(each, "")


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
