"""The parser of a command's arguments: argparse with our exit codes, imported once a command is known.

A parser never prints and never exits: a wrong command line is a Failure, and help is a text.
"""

from __future__ import annotations

import argparse
import os
import sys

from typedbytes.cli._failure import USAGE, Failure, nearest

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Format help without colors."""

    # whose argparse imports inspect for the colors, at each start; 3.15 only when it needs them
    if sys.version_info[:2] == (3, 14):

        def _set_color(self, color):
            self._theme = _NoColors()
            self._decolor = str


class _NoColors:
    """A theme of argparse in which each color is the empty text."""

    def __getattr__(self, name):
        return ""


class Parser(argparse.ArgumentParser):
    """Parse the arguments of one command."""

    def __init__(self, name: str, docstring: str | None) -> None:
        # A fixed width: argparse would import shutil to ask for the terminal's.
        super().__init__(
            prog=f"typedbytes {name}",
            description=_unindented(docstring),
            formatter_class=lambda prog: _HelpFormatter(prog, width=99),
            add_help=False,
            allow_abbrev=False,
        )
        self.about_unknown: Callable[[argparse.Namespace, list[str]], str] = lambda options, unknown: ""
        self.color = False  # help is the same text on a terminal and elsewhere
        self.add_argument("-h", "--help", action="store_true", help="show this text and exit")

    @staticmethod
    def asks_for_help(arguments: list[str]) -> bool:
        """Return whether --help is among the options."""
        return not {"-h", "--help"}.isdisjoint(arguments[: _end_of_options(arguments)])

    def parse(self, arguments: list[str]) -> dict[str, Any]:
        """Return what the options say; FILEs may be among the options, and follow after --."""
        end = _end_of_options(arguments)
        options, unknown = self.parse_known_intermixed_args(self._without_negatives(arguments[:end]))
        if unknown:
            option = unknown[0].partition("=")[0]
            cure = self.about_unknown(options, unknown) or nearest(option, self._option_string_actions, 0.75)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{cure}")
        words = {"files": [], **vars(options)}
        words["files"] = words["files"] + arguments[end + 1 :]
        if "patterns" in words:
            words.update(self._pattern_and_files(words))
        if "pairs" in words:
            is_pairs = _record_kind() if words["pairs"] is None else words["pairs"]
            words.update(pairs=bool(is_pairs), is_record_kind_unknown=is_pairs is None)
        return words

    def _pattern_and_files(self, words):
        """Return the pattern of grep, given by -e or as the first word, and the files, which other words are."""
        given = [word for word in (words["pattern"], *words["files"]) if word is not None]
        patterns = words["patterns"] or given[:1]
        if not patterns:
            self.error("the following arguments are required: PATTERN")
        if len(patterns) > 1:
            self.error("argument -e: give it once: 'a|b' matches what either pattern does")
        return {"pattern": patterns[0], "files": given if words["patterns"] else given[1:]}

    def options(self) -> list[argparse.Action]:
        """Return the options, as argparse has them."""
        return [action for action in self._actions if action.option_strings]

    def positionals(self) -> list[argparse.Action]:
        """Return the other arguments."""
        return [action for action in self._actions if not action.option_strings]

    def rivals(self, action: argparse.Action) -> list[argparse.Action]:
        """Return the options that may not be given beside one."""
        groups = [group._group_actions for group in self._mutually_exclusive_groups]
        return [other for group in groups if action in group for other in group if other is not action]

    @staticmethod
    def has_option(arguments: list[str], flag: str) -> bool:
        """Return whether an option is among the arguments, by its long name."""
        given = arguments[: _end_of_options(arguments)]
        return any(word == flag or word.startswith(f"{flag}=") for word in given)

    def _without_negatives(self, arguments):
        """Return the arguments with -3 as -n 3 where records are counted, and a value such as -3: in its option.

        Argparse would refuse either. Of grep, any word after -e is its value.
        """
        options = {name: action for action in self._actions for name in action.option_strings}
        has_count = any(action.dest == "nrecords" for action in self._actions)
        words: list[str] = []
        for argument in arguments:
            before = words[-1] if words else None
            takes_any = before in options and options[before].dest == "patterns"
            if argument[:1] != "-" or not (argument[1:2].isdigit() or takes_any):
                words.append(argument)
            elif before in options and options[before].nargs != 0:
                words[-1] += f"={argument}"
            else:
                words.append(f"-n{argument[1:]}" if has_count else argument)
        return words

    def error(self, message: str) -> NoReturn:
        """Raise Failure where argparse would print and exit."""
        raise Failure(USAGE, f"{message} (see {self.prog} --help)")


def _end_of_options(arguments):
    return arguments.index("--") if "--" in arguments else len(arguments)


def takes_value(action: argparse.Action) -> bool:
    """Return whether a value follows an option."""
    return action.nargs != 0


def value_name(action: argparse.Action) -> str:
    """Return what help calls the value of an option."""
    return str(action.metavar or "|".join(action.choices or [action.dest.upper()]))


def _record_kind():
    """Return whether records are pairs, as the environment says, or None."""
    word = os.environ.get("TYPEDBYTES_RECORDS") or None
    if word not in ("pairs", "values", None):
        raise Failure(USAGE, f"TYPEDBYTES_RECORDS in the environment must be pairs or values, not {word!r}")
    return None if word is None else word == "pairs"


def _unindented(docstring):
    # Python 3.13 and later remove the indentation when they compile; under -OO there are no docstrings.
    return "\n".join(line.removeprefix("    ") for line in (docstring or "").splitlines())
