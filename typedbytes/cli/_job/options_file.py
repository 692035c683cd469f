"""Options of jobs in a file: typedbytes.toml, or [tool.typedbytes] of pyproject.toml.

    [run]                        options of run, by their long names: processes = 4, ship = ["stop.txt"]
    [submit]                     options of submit
    [submit.D]                   a table, for options that take NAME=VALUE
    [profile.etl.submit]         what --profile etl adds

Invariant: an option of the file is that of the command line, in front of those that the user gives, which win.
"""

from __future__ import annotations

import os

from typedbytes._base.secrets import remember_secrets, without_secret_values
from typedbytes.cli._failure import USAGE, Failure, say_message

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["words_of_file"]

NAME, PROJECT = "typedbytes.toml", "pyproject.toml"
VARIABLE = "TYPEDBYTES_OPTIONS"


def words_of_file(command: str, arguments: list[str]) -> list[str]:
    """Return the words that a file of options adds to those of a command."""
    path, found = _options()
    profile = _value_of(arguments, "--profile")
    if profile is not None and profile not in found.get("profile", {}):
        where = f"in {path}" if path else f"without a file {NAME}, or the variable {VARIABLE} with the path of one"
        raise Failure(USAGE, f"there is no profile {profile} {where}")
    words: list[str] = []
    for part in (found, found.get("profile", {}).get(profile, {})):
        words += _words_of(part.get(command, {}), path)
    remember_secrets(words)
    if words and not {"-q", "--quiet"} & {*arguments, *words}:
        say_message(f"options of {path}: {' '.join(without_secret_values(words))}")
    return words


def _options():
    """Return the path of the file, None if there is none, and what it says."""
    given = os.environ.get(VARIABLE)
    if given and not os.path.isfile(given):
        say_message(f"the variable {VARIABLE} names no file: {given}")
        return None, {}
    for path in [given] if given else (NAME, PROJECT):
        if given or os.path.exists(path):
            with_tool = os.path.basename(path) == PROJECT
            if with_tool and not _mentions_us(path):
                continue
            found = _parsed(path)
            return path, found.get("tool", {}).get("typedbytes", {}) if with_tool else found
    return None, {}


def _mentions_us(path):
    with open(path, "rb") as file:
        return b"[tool.typedbytes" in file.read()


def _parsed(path):
    try:
        import tomllib
    except ModuleNotFoundError:
        try:
            import tomli as tomllib  # type: ignore[import-not-found, no-redef]
        except ModuleNotFoundError:
            raise Failure(USAGE, f"{path} needs Python 3.11, or the package tomli") from None
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise Failure(USAGE, f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise Failure(USAGE, f"{path} is not TOML: {error}") from None


def _words_of(options: dict[str, Any], path: str) -> list[str]:
    words: list[str] = []
    for name, value in options.items():
        flag = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif value is False:
            words += [f"--no-{flag[2:]}"] if flag == "--combiner" else []
        elif isinstance(value, dict):
            words += [word for key, item in value.items() for word in (flag, f"{key}={_text(item)}")]
        elif isinstance(value, list):
            words += [word for item in value for word in (flag, _text(item))]
        elif isinstance(value, (str, int, float)):
            words += [flag, _text(value)]
        else:
            raise Failure(USAGE, f"{path}: {name} is a {type(value).__name__}, which no option takes")
    return words


def _text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def _value_of(arguments, flag):
    for argument, following in zip(arguments, [*arguments[1:], None]):
        if argument == flag:
            return following
        if argument.startswith(f"{flag}="):
            return argument.partition("=")[2]
    return None
