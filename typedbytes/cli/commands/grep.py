"""The command grep."""

from __future__ import annotations

import re
import sys
from contextlib import nullcontext
from warnings import catch_warnings, simplefilter

from typedbytes.cli import _arguments as arguments
from typedbytes.cli._arguments import RecordSettings, option, switch
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import REFUSE
from typedbytes.cli._output.records import Records
from typedbytes.cli._records.encoded import chunks, may_have_keys, nparts

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from typedbytes.cli._output.files import CommandOutput

NEVER_IN_A_NUMBER = re.compile(r"[^-+.0-9aefilnrstu]", re.IGNORECASE)  # occurs in no number, and not in true or false


class _PatternSettings(arguments.Settings):
    pattern: str = option(nargs="?", metavar="PATTERN", help="a regular expression of Python")


class Settings(RecordSettings, _PatternSettings):
    """The options of grep."""

    patterns: list[str] | None = option(
        "-e", action="append", metavar="PATTERN", help="a PATTERN that may begin with a dash; other words are FILEs"
    )
    fixed: bool = switch("-F", "--fixed", help="PATTERN is plain text")
    ignore_case: bool = switch("-i", "--ignore-case", help="ignore the case of letters")
    count: bool = switch("-c", "--count", help="print the number of matching records, and no record")
    invert: bool = switch("-v", "--invert", help="copy the records that do not match")
    part: str = option(
        "--in", choices=("any", "key", "value"), default="any", help="the part of a pair to search (any)"
    )


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Copy the records that contain PATTERN to stdout, byte for byte.

    Each STRING and BYTES of a record is searched, also inside containers, and so are its numbers as
    they are written in decimal. A record that cannot be decoded does not match. The exit code is 1
    if no record matches. -c prints the number of matches in all inputs. A text that every match
    has, such as error in 'error.*[0-9]', is looked for first: a PATTERN that has one is found faster.
    -e gives one that begins with a dash, as in -e -1.

    examples:
      typedbytes grep -F hadoop --in key --pairs part-0*.tb | typedbytes to-json --pairs
      typedbytes grep '^(GET|HEAD) ' logs.tb -o requests.tb
    """
    from typedbytes import _report

    options, inputs, nfound = _search_of(settings), Inputs(settings, REFUSE), 0
    copies: Any = nullcontext() if settings.count else Records(settings, output)
    with copies as records:
        for name in inputs:
            with inputs.reading(name) as reader:
                if settings.part != "any" and not may_have_keys(reader):
                    raise Failure(USAGE, f"argument --in: values have no {settings.part} (see --pairs)")
                matching = _report.MatchingRecords(nparts(reader), **options)
                with nullcontext() if settings.count else records.writer(reader) as writer:
                    for _, _, chunk in chunks(reader):
                        found = matching.take(chunk)
                        if writer is not None:
                            writer.write_raw(found)
                nfound += matching.nfound
    if settings.count:
        output.line(str(nfound))
    return 0 if nfound else 1


def _search_of(settings):
    """Return what a MatchingRecords is to know of the pattern."""
    is_fixed = settings.fixed or re.escape(settings.pattern) == settings.pattern
    expression = re.escape(settings.pattern) if is_fixed else settings.pattern
    try:
        with catch_warnings():
            simplefilter("ignore")  # of what a later Python may read differently: its lines of code say nothing here
            pattern = re.compile(expression, re.IGNORECASE if settings.ignore_case else 0)
            text = _required_text(expression, pattern.flags)
    except (re.error, OverflowError) as error:
        raise Failure(USAGE, f"argument PATTERN: {error}") from None
    except RecursionError:
        raise Failure(USAGE, "argument PATTERN: nested too deeply") from None
    is_folded = bool(pattern.flags & re.IGNORECASE)
    return {
        "search": None if is_fixed and not is_folded and _is_utf8(text) else pattern.search,
        "literal": text.encode("utf-8", "surrogateescape"),
        "is_folded": is_folded,
        "may_be_number": NEVER_IN_A_NUMBER.search(text) is None,
        "part": {"any": -1, "key": 0, "value": 1}[settings.part],
        "invert": settings.invert,
        "dialect": settings.dialect,
    }


def _is_utf8(text, errors="strict"):
    try:
        text.encode("utf-8", errors)
    except UnicodeEncodeError:
        return False
    return True


def _required_text(expression, flags):
    """Return a text that is in all that matches, in lower case where case is ignored; empty: none is known.

    It is the longest that no number has, else the longest.
    """
    parser = getattr(re, "_parser" if sys.version_info >= (3, 11) else "sre_parse")
    runs = [""]
    for char in _required_characters(parser.parse(expression, flags)):
        if not _is_utf8(char, "surrogateescape") or flags & re.IGNORECASE and not char.isascii():
            char = ""
        if char:
            runs[-1] += char.lower() if flags & re.IGNORECASE else char
        else:
            runs.append("")
    return max(runs, key=lambda run: (NEVER_IN_A_NUMBER.search(run) is not None, len(run)))


def _required_characters(parsed):
    """Yield the characters that a match has, in their order, and "" where others may be between them."""
    for kind, argument in parsed:
        name = str(kind)
        if name == "LITERAL":
            yield chr(argument)
        elif name == "SUBPATTERN" and not (argument[1] or argument[2]):  # a group that changes no flags
            yield from _required_characters(argument[3])
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and argument[0]:
            yield ""
            yield from _required_characters(argument[2])
            yield ""
        elif name != "AT":
            yield ""
