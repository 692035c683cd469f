"""Arguments that several commands share, and the types of option values. What the options do is not known here."""

from __future__ import annotations

import argparse
import sys

from typedbytes.cli.input.formats import NAMES

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# How a command treats input that looks like pairs when neither --pairs nor --values is given: NOTE reports it, REFUSE fails,
# CHECK_UNDECIDED also examines ambiguous input, which fails only if -o replaces an input.
NOTE, REFUSE, CHECK_UNDECIDED = "note", "refuse", "check_undecided"
MIN_MEMORY = 64 << 10  # of a sort
UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def complete_with(argument: Any, words: Iterable[str]) -> None:
    """Have a shell offer these words for a positional argument."""
    argument.words = tuple(words)


def add_file_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare FILE... and the limits of what is read from them."""
    parser.add_argument("files", nargs="*", default=[], metavar="FILE", help="files, folders or URLs; stdin if none, or for -")
    records = parser.add_mutually_exclusive_group()
    records.add_argument("--pairs", action="store_true", default=None, help="a record is a pair: a key, then a value")
    records.add_argument(
        "--values", action="store_false", default=None, dest="pairs", help="a record is a value, even if the input looks like pairs"
    )
    parser.add_argument("--dialect", choices=("hadoop", "hive"), default="hadoop", help="hive adds the type codes 11, 12 and 177")
    parser.add_argument("--max-bytes", type=positive, metavar="N", help="refuse a record of more than N bytes")


def add_stream_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare FILE... and the options of every command that reads records."""
    add_file_arguments(parser)
    parser.add_argument("--from", choices=NAMES, dest="from_", help="the format of the inputs (default: recognised by their first bytes)")


def add_output_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the output of a command."""
    parser.add_argument("-o", "--output", metavar="OUT", help="write to OUT, which is replaced only on success")


def add_record_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of every command that reads records and writes records."""
    add_stream_arguments(parser)
    parser.add_argument("--to", choices=NAMES, help="the format of the output (default: typedbytes; json on a terminal)")
    add_output_argument(parser)
    add_json_arguments(parser)
    add_unicode_argument(parser)


def add_unicode_argument(parser: argparse.ArgumentParser) -> None:
    """Declare what is accepted where values are made of records: for validate and --to block."""
    handlers = ("strict", "surrogateescape")
    parser.add_argument("--unicode-errors", choices=handlers, default="strict", help="surrogateescape decodes text that is not UTF-8")


def add_json_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the forms of JSON that only people and other programs read."""
    parser.add_argument("--plain", action="store_true", help="natural JSON, which loses types and cannot be converted back")
    parser.add_argument("--pretty", action="store_true", help="JSON with indentation, on several lines for each record")


def add_picking_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of every command that copies only some records or reorders them: it must know whether they are pairs."""
    add_record_arguments(parser)
    parser.set_defaults(pair_check=REFUSE)


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of every command that reads records and reports on them."""
    add_stream_arguments(parser)
    add_format_arguments(parser)
    parser.set_defaults(pair_check=NOTE)


def add_format_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the two forms of a report."""
    parser.add_argument("--json", action="store_true", help="report in lines of JSON (the default, except on a terminal)")
    parser.add_argument("--table", action="store_true", help="report in a table (the default on a terminal)")
    add_output_argument(parser)


def add_number_argument(parser: argparse._ActionsContainer) -> None:
    """Declare how many records a command copies."""
    parser.add_argument("-n", type=integer, default=10, metavar="N", dest="nrecords", help="the number of records (10), also as -5")


def add_text_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the forms of a line of text."""
    rows = parser.add_mutually_exclusive_group()
    rows.add_argument("--csv", action="store_const", const=",", dest="delimiter", help="rows with commas between fields")
    rows.add_argument("--tsv", action="store_const", const="\t", dest="delimiter", help="rows with TABs between fields")
    parser.add_argument("--header", action="store_true", help="the first row holds the names of the fields, the keys of MAPs")
    parser.add_argument("--separator", metavar="SEP", help="what separates fields, or a key from its value (TAB)")


def add_memory_argument(parser: argparse.ArgumentParser) -> None:
    """Declare how much memory a sort may use."""
    parser.add_argument("--memory", type=_memory, default=512 << 20, metavar="SIZE", help="the memory to use, such as 4G (512M)")


def add_sequence_file_limits(parser: argparse.ArgumentParser) -> None:
    """Declare the dialect, and the limit of what is read from or written to a SequenceFile."""
    parser.add_argument("--dialect", choices=("hadoop", "hive"), default="hadoop", help="hive adds the type codes 11, 12 and 177")
    parser.add_argument("--max-bytes", type=positive, metavar="N", help="refuse a record or block of more than N bytes")


def integer(text, minimum=0):
    """Return the number that an option gives: `minimum` or more."""
    # int() refuses thousands of digits; 20 digits exceed any count.
    number = int("0" + text.lstrip("0")[:20]) if text.isascii() and text.isdigit() else -1
    if number < minimum:
        raise argparse.ArgumentTypeError(f"expected an integer of at least {minimum}, not {text!r}")
    return min(number, sys.maxsize - 1)


def positive(text):
    """Return the number that an option gives: 1 or more."""
    return integer(text, 1)


def _memory(text):
    """Return the number of bytes that a sort may use: with less than 64 KiB every few records would need a temporary file."""
    nbytes = parse_size(text)
    if nbytes < MIN_MEMORY:
        raise argparse.ArgumentTypeError(f"expected at least 64K, not {text!r}: a number without a unit is in bytes")
    return nbytes


def parse_size(text):
    """Return the number of bytes that an option gives, such as 65536, 64K or 1.5G."""
    number, unit = (text[:-1], text[-1].lower()) if text[-1:].lower() in UNITS else (text, "")
    try:
        nbytes = min(int(float(number) * UNITS.get(unit, 1)), sys.maxsize)
    except (ValueError, OverflowError):
        nbytes = 0
    if nbytes < 1:
        raise argparse.ArgumentTypeError(f"expected a size such as 65536, 64K or 1.5G, not {text!r}")
    return nbytes
