"""Quote the values of a Hadoop command line, and refuse those that would not reach a node unchanged.

Here: the syntax of Hadoop's options, of Streaming's commands and variables, of the URLs in -files and -archives. Not
here: jobs. Invariant: a value returned here reaches a node unchanged, with any Hadoop 2 or 3; for any other the
functions raise SubmitError with the value.

Older versions of Hadoop (with commons-cli 1.2) strip a double quote from either end of an option's value, and a value
that starts like an option is read as one. A job is sent to the nodes as XML, in which ${name} is replaced by the
property of that name: refused, except in the properties that users give themselves, where they may want it.
"""

import os
import re
from collections import namedtuple

from typedbytes._base.locations import is_url
from typedbytes._base.secrets import without_secret_values
from typedbytes.jobs.errors import OptionError, SubmitError
from typedbytes.jobs.messages import option_named
from typedbytes.jobs.shipped import split_link

__all__ = [
    "Shipped", "assignment", "command", "input_location", "literal", "location", "option", "parse_shipped",
    "safe_title", "unique", "url_path", "variable",
]  # fmt: skip

NOT_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

#: What Java's URI refuses in a path, or treats as syntax; Hadoop parses each URL twice, and decodes it in between.
NOT_URL = re.compile('[\0-\x20\x7f-\x9f"#%,<>?\\[\\\\\\]^`{|}\ud800-\udfff]|\\s')

#: Names that YARN uses in the folder of a task, and those that Python would import as our package.
RESERVED = {
    "container_tokens", "default_container_executor.sh", "default_container_executor_session.sh", "job.jar", "job.xml",
    "jobSubmitDir", "launch_container.sh", "tmp", "typedbytes", "typedbytes.py",
}  # fmt: skip

#: A file shipped with a job: its path or URL, and its name in the folder of a task.
Shipped = namedtuple("Shipped", "path link")


def command(words):
    r"""Return a command that Hadoop Streaming splits into these words.

    It splits at spaces outside of quotes, and has no escapes.

    >>> command(["python3", "it's.py", "map"])
    'python3 "it\'s.py" map'
    """
    text = " ".join(map(_quoted, words))
    before, after = text.startswith(('"', "-")), text.endswith('"')
    return f"{' ' * before}{text}{' ' * after}"


def _quoted(word):
    if not word:
        raise SubmitError("Hadoop Streaming drops an empty word of a command: give it another value")
    if "\0" in word or _is_undecodable(word):
        raise SubmitError(
            f"Hadoop Streaming cannot run {word!r}: it contains NUL or bytes that are not text: rename the file"
        )
    if "'" in word and '"' in word:
        raise SubmitError(
            f"Hadoop Streaming cannot run {word!r}: there are both a ' and a \" in it: rename the file, "
            "or write the command with one kind of quotes"
        )
    if "'" in word:
        return f'"{word}"'
    return f"'{word}'" if " " in word or '"' in word else word


def _is_undecodable(text):
    return any("\ud800" <= char <= "\udfff" for char in text)


def _shown(word):
    return repr(*without_secret_values([word]))


def option(name, value):
    """Return the value of one of Hadoop's options."""
    if not value:
        raise SubmitError(f"Hadoop's option {name} needs a value that is not empty")
    if value.startswith("-"):
        raise SubmitError(
            f"Hadoop reads the value {value!r} of {name} as an option: write a path as ./{value}, or give another name"
        )
    if value.startswith('"') or value.endswith('"'):
        raise SubmitError(
            f"Hadoop strips a double quote from either end of {_shown(value)}, the value of {name}: give it another "
            "value"
        )
    match = NOT_XML.search(value)
    if match:
        raise SubmitError(
            f"Hadoop cannot send {_shown(value)}, the value of {name}, to the nodes: it contains {match[0]!r}"
        )
    return value


def assignment(name, key, value):
    """Return the value of an option -D, NAME=VALUE."""
    if not key or "=" in key or key != key.strip():
        raise OptionError(f"{key!r} is not a name for Hadoop's {name}: a name has no = in it, and no space at its ends")
    if not value:
        raise SubmitError(
            f"{name} {key}= has no value, and Hadoop sends no empty values to the nodes: give it a value, "
            "or leave it out"
        )
    return option(name, f"{key}={value}")


def variable(key, value):
    """Return the value of an option -cmdenv. Hadoop Streaming splits the variables of a task at spaces."""
    if not key or "=" in key:
        raise OptionError(f"{key!r} is not the name of a variable: a name has no = in it")
    if key == "TMPDIR":
        raise SubmitError("Hadoop sets the variable TMPDIR of each task itself: give the tasks another variable")
    word = f"{key}={value}"
    if " " in word:
        (shown,) = without_secret_values([word])
        raise SubmitError(
            f"Hadoop ends the variable {key}={shown[len(key) + 1 :]!r} at its space: "
            "have the script read the value from a file (" + option_named("files") + ")"
        )
    return option("-cmdenv", literal("-cmdenv", word))


def input_location(path):
    """Return the value of an option -input."""
    if _has_comma_outside_braces(path):
        raise SubmitError(
            f"Hadoop reads {path!r}, the value of -input, as several paths: give each as an argument of its own, "
            "or rename the file"
        )
    return location("-input", path)


def location(name, path):
    """Return the value of an option that is one path, as -output."""
    return option(name, literal(name, path))


def literal(name, value):
    """Return a value in which Hadoop replaces nothing."""
    if "${" in value:
        raise SubmitError(
            f"Hadoop replaces ${{...}} in {_shown(value)}, the value of {name}, by a property: write out its value"
        )
    return value


def safe_title(text):
    """Return a text that only people read, changed where it would not reach a node unchanged.

    >>> safe_title('grep "${HOME}"')
    "grep '$ {HOME}'"
    """
    if text.endswith('"'):
        text = text.replace('"', "'")
    return NOT_XML.sub("?", text.replace("${", "$ {"))


def _has_comma_outside_braces(path):
    depth, in_braces = 0, False
    for char in path:
        depth += (char == "{") - (char == "}")
        in_braces = char == "{" or (in_braces and not (char == "}" and depth == 0))
        if char == "," and not in_braces:
            return True
    return False


def parse_shipped(text):
    """Return the path and the link of PATH, or PATH#LINK."""
    return Shipped(*split_link(text))


def unique(*kinds):
    """Return lists of Shipped without duplicates. Raises SubmitError for names that cannot be in one folder."""
    links: dict = {}
    bases: dict = {}
    for kind, files in enumerate(kinds):
        for file in files:
            _check_link(file)
            path = file.path if is_url(file.path) else os.path.abspath(file.path)
            # Hadoop copies files by their base names and links them by their link names:
            # of two equal ones it silently keeps one.
            _check_alone(links, file.link, (path, kind))
            _check_alone(bases, os.path.basename(path), (path,))
    return [list(dict.fromkeys(files)) for files in kinds]


def _check_link(file):
    if file.link in ("", ".", "..", "*") or "/" in file.link or file.link in RESERVED:
        raise SubmitError(
            f"{file.path} cannot be called {file.link!r} in the folder of a task: rename it, or write {file.path}#NAME"
        )


def _check_alone(names, name, given):
    other = names.setdefault(name, given)
    if other != given:
        raise SubmitError(
            f"{other[0]} and {given[0]} are both called {name}, and a task would see only one of them: rename one"
        )


def url_path(name, file):
    """Return an item of the comma-separated value of -files or -archives."""
    given_by_url = is_url(file.path)
    checked = file.path if given_by_url else os.path.abspath(file.path)
    for text, what in (checked, "path"), (file.link, "name"):
        match = NOT_URL.search(text)
        if match:
            raise SubmitError(
                f"Hadoop's {name} cannot ship {text!r}: the {what} contains {match[0]!r}: rename it, "
                "or copy it elsewhere"
            )
    if ":" in file.path and not given_by_url:
        raise SubmitError(f"Hadoop's {name} reads {file.path!r} as a URL: rename it, or copy it elsewhere")
    sent = f"./{file.path}" if file.path.startswith("-") else file.path
    if file.link == os.path.basename(file.path):
        return sent
    if ":" in file.link:  # Java's Path reads the part before it as a scheme
        raise SubmitError(f"Hadoop's {name} reads the name {file.link!r} as a URL: give another name, {file.path}#NAME")
    return f"{sent}#{file.link}"
