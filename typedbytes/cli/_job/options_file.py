"""Options of jobs in a file: typedbytes.toml, or [tool.typedbytes] of pyproject.toml.

    [run]                        options of run, by their long names: processes = 4, ship = ["stop.txt"]
    [submit]                     options of submit
    [submit.D]                   a table, for options that take NAME=VALUE
    [profile.etl.submit]         what --profile etl adds

Invariant: an option of the file is that of the command line, in front of those that the user gives, which win; one of
a profile wins over one of all runs; options that may be repeated add up. What is wrong in the file is a Failure that
names it.
"""

from __future__ import annotations

import os

from typedbytes._base.secrets import remember_secrets, without_secret_values
from typedbytes.cli._failure import USAGE, Failure, nearest, say_message
from typedbytes.cli._parser import takes_value
from typedbytes.jobs.job import Job

TYPE_CHECKING = False

if TYPE_CHECKING:
    from argparse import Action
    from collections.abc import Iterator, Mapping
    from typing import Any

    from typedbytes.cli._parser import Parser

__all__ = ["words_of_file"]

NAME, PROJECT = "typedbytes.toml", "pyproject.toml"
VARIABLE = "TYPEDBYTES_OPTIONS"
COMMANDS = "run", "submit"


def words_of_file(command: str, arguments: list[str], parser: Parser) -> list[str]:
    """Return the words that a file of options adds to those of a command."""
    path, found = _options()
    sections = _sections(found, path)
    profile = _value_of(arguments, "--profile")
    if profile is not None and f"profile.{profile}" not in sections:
        where = f"in {path}" if path else f"without a file {NAME}, or the variable {VARIABLE} with the path of one"
        raise Failure(USAGE, f"there is no profile {profile} {where}")
    found_options: list[tuple[Action, list[str]]] = []
    for name in (command, f"profile.{profile}.{command}"):
        of_section = [*_options_in(sections.get(name, {}), f"{path}: [{name}]", command, parser)]
        _check(of_section, path, parser)
        found_options = _added(found_options, of_section, parser)
    words = _words_of(each for each in found_options if not _has_rival(arguments, each[0], parser))
    if not words:
        return []
    if not {"-q", "--quiet"} & {*arguments, *words}:
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
            data = _read(path)
            if os.path.basename(path) != PROJECT:
                return path, _parsed(path, data)
            if b"[tool.typedbytes" in data:  # else its syntax is not ours to check
                found = _parsed(path, data)
                for name in ("tool", "typedbytes"):
                    found = dict(_tables({name: found.get(name, {})}, "", None, path))[name]
                return path, found
    return None, {}


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Failure(USAGE, f"{path}: {error.strerror}") from None


def _parsed(path, data):
    try:
        import tomllib
    except ModuleNotFoundError:
        try:
            import tomli as tomllib  # type: ignore[import-not-found, no-redef]
        except ModuleNotFoundError:
            raise Failure(USAGE, f"{path} needs Python 3.11, or the package tomli") from None
    try:
        return tomllib.loads(data.decode())
    except ValueError as error:
        raise Failure(USAGE, f"{path} is not TOML: {error}") from None


def _sections(found, path):
    """Return the sections of a file by their names, such as profile.etl.submit; raises Failure for others."""
    sections = dict(_tables(found, "", (*COMMANDS, "profile"), path))
    for profile, of_profile in _tables(sections.pop("profile", {}), "profile.", None, path):
        sections[profile] = of_profile
        sections.update(_tables(of_profile, f"{profile}.", COMMANDS, path))
    return sections


def _tables(parent, prefix, known, path):
    """Yield the names and the tables in one. known: the names that may be there, None for any."""
    for name, value in parent.items():
        if not isinstance(value, dict):
            where = " or ".join(f"[{prefix}{each}]" for each in known or ("NAME.run",))
            raise Failure(USAGE, f"{path}: {prefix}{name} is not a table: options are in {where}")
        if known and name not in known:
            raise Failure(USAGE, f"{path}: there is no section [{prefix}{name}]{nearest(name, known)}")
        yield f"{prefix}{name}", value


def _check(options, path, parser):
    """Raise a Failure that names the file for options that cannot be those of a command."""
    words = _words_of(options)
    remember_secrets(words)
    try:
        parser.parse(words)
    except Failure as failure:
        raise Failure(failure.status, f"{path}: {failure}") from None


def _added(options, later, parser):
    """Return options and later ones, without those that a later one takes the place of."""
    replaced = []
    for action, words in later:
        if not isinstance(action.default, list):
            replaced += [action, *(parser.rivals(action) if words else ())]
    return [*(each for each in options if each[0] not in replaced), *later]


def _has_rival(arguments, action, parser):
    """Return whether the command line has an option that may not be given beside one of the file."""
    flags = [flag for other in parser.rivals(action) for flag in other.option_strings]
    return any(parser.has_option(arguments, flag) for flag in flags)


def _words_of(options):
    return [word for _, words in options for word in words]


def _options_in(
    options: Mapping[str, Any], where: str, command: str, parser: Parser
) -> Iterator[tuple[Action, list[str]]]:
    """Yield the options of a section, each with its words: none for a switch that is off."""
    known = {
        flag: action
        for action in parser.options()
        for flag in action.option_strings
        if flag not in ("-h", "--help", "--profile")
    }
    named = {flag for each in Job.options(command).values() if each.form == "named" for flag in each.flags}
    for name, value in options.items():
        flag = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
        if flag not in known:
            meant = nearest(name, [each[2:] for each in known if each.startswith("--")])
            raise Failure(USAGE, f"{where} has no option {name}{meant}")
        action = known[flag]
        if isinstance(value, bool) == takes_value(action):
            raise Failure(USAGE, f"{where}: {name} takes {'a value' if takes_value(action) else 'true or false'}")
        if isinstance(value, bool):
            off = f"--no-{flag[2:]}"
            if value or off not in known:
                yield action, [flag] if value else []
            else:
                yield known[off], [off]
            continue
        if isinstance(value, dict) and flag in named:
            items = [f"{key}={_text(item, where, f'{name}.{key}')}" for key, item in value.items()]
        elif isinstance(value, list) and isinstance(action.default, list):
            items = [_text(item, where, name) for item in value]
        else:
            items = [_text(value, where, name)]
        words: list[str] = []
        for item in items:
            if flag in named and "=" not in item:
                raise Failure(USAGE, f"{where}: {name} takes NAME=VALUE, not {item!r}")
            joined = f"{flag}={item}" if len(flag) > 2 else f"{flag}{item}"
            words += [joined] if item.startswith("-") else [flag, item]
        yield action, words


def _text(value, where, name):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int, float)):
        return str(value)
    kind = "table" if isinstance(value, dict) else type(value).__name__
    quoted = ": a name with dots is one in quotes" if kind == "table" and "." in name else ""
    raise Failure(USAGE, f"{where}: {name} takes no {kind}{quoted}")


def _value_of(arguments, flag):
    for argument, following in zip(arguments, [*arguments[1:], None]):
        if argument == flag:
            return following
        if argument.startswith(f"{flag}="):
            return argument.partition("=")[2]
    return None
