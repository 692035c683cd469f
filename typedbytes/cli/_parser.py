"""The arguments of a command: argparse with our exit codes, and the options that commands share.

Here: everything that knows argparse, imported once a command is known. Not here: what the options do.
Always true: a parser never prints and never exits; a wrong command line is a Failure and help is a text.
"""

import argparse
import os
import sys

from typedbytes.cli._formats import NAMES
from typedbytes.cli._failure import USAGE, Failure

UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


class Parser(argparse.ArgumentParser):
    """Parse the arguments of one command."""

    def __init__(self, name, docstring):
        # A fixed width, because argparse would import shutil to ask the terminal for its own.
        super().__init__(
            prog=f"typedbytes {name}",
            description=_unindented(docstring),
            formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=99),
            add_help=False,
            allow_abbrev=False,
        )
        self.add_argument("-h", "--help", action="store_true", help="show this text and exit")

    def parse(self, arguments):
        """Return the options; options and FILEs may be mixed, and what stands after -- is a FILE however it looks."""
        end = arguments.index("--") if "--" in arguments else len(arguments)
        if not {"-h", "--help"}.isdisjoint(arguments[:end]):
            return argparse.Namespace(help=True)
        options = self.parse_intermixed_args(arguments[:end])
        options.files = options.files + arguments[end + 1 :]
        if "pairs" in options:
            wanted = _wanted_records() if options.pairs is None else options.pairs
            options.is_unsaid = wanted is None
            options.pairs = bool(wanted)
        return options

    def error(self, message):
        """Raise Failure where argparse would print and exit."""
        raise Failure(USAGE, f"{message} (see {self.prog} --help)")


def _wanted_records():
    """Return whether records are pairs, as the environment says, or None."""
    word = os.environ.get("TYPEDBYTES_RECORDS") or None
    if word not in ("pairs", "values", None):
        raise Failure(USAGE, f"TYPEDBYTES_RECORDS in the environment is pairs or values, not {word!r}")
    return None if word is None else word == "pairs"


def _unindented(docstring):
    # From Python 3.13 on the compiler has done it, and under -OO there is nothing to do.
    return "\n".join(line.removeprefix("    ") for line in (docstring or "").splitlines())


def add_file_arguments(parser):
    """Declare FILE... and the limits of what is read from them."""
    parser.add_argument("files", nargs="*", default=[], metavar="FILE", help="files, folders, URLs; - or none is stdin")
    records = parser.add_mutually_exclusive_group()
    records.add_argument("--pairs", action="store_true", default=None, help="a record is a pair: a key, then a value")
    records.add_argument("--values", action="store_false", default=None, dest="pairs", help="a record is a value, also where pairs seem to be")
    parser.add_argument(
        "--dialect", choices=("hadoop", "hive"), default="hadoop", help="hive adds the codes 11, 12 and 177"
    )
    parser.add_argument("--max-bytes", type=positive, metavar="N", help="refuse a record of more than N bytes")


def add_stream_arguments(parser):
    """Declare FILE... and the options of every command that reads records."""
    add_file_arguments(parser)
    parser.add_argument("--from", choices=NAMES, dest="from_", help="what the inputs are (told by their first bytes)")


def add_output_argument(parser):
    """Declare where a command writes to."""
    parser.add_argument("-o", "--output", metavar="OUT", help="write to OUT, which is replaced when all is well")


def add_record_arguments(parser):
    """Declare the options of every command that reads records and writes records."""
    add_stream_arguments(parser)
    parser.add_argument("--to", choices=NAMES, help="what is written (typedbytes; on a terminal json)")
    add_output_argument(parser)


def add_picking_arguments(parser):
    """Declare the options of every command that copies some records, or in another order: it asks whether they are pairs."""
    add_record_arguments(parser)
    parser.set_defaults(picks=True)


def add_report_arguments(parser):
    """Declare the options of every command that reads records and tells something about them."""
    add_stream_arguments(parser)
    add_format_arguments(parser)


def add_format_arguments(parser):
    """Declare the two forms of a report."""
    parser.add_argument("--json", action="store_true", help="report in lines of JSON (the default but on a terminal)")
    parser.add_argument("--table", action="store_true", help="report in a table (the default on a terminal)")
    add_output_argument(parser)


def natural(text, least=0):
    """Return the number that an option gives: `least` or more."""
    # int() refuses thousands of digits; 20 of them are beyond any count here.
    number = int("0" + text.lstrip("0")[:20]) if text.isascii() and text.isdigit() else -1
    if number < least:
        raise argparse.ArgumentTypeError(f"expected a number from {least} on, not {text!r}")
    return min(number, sys.maxsize - 1)


def positive(text):
    """Return the number that an option gives: 1 or more."""
    return natural(text, 1)


def size(text):
    """Return the number of bytes that an option gives, such as 65536, 64K or 1.5G."""
    number, unit = (text[:-1], text[-1].lower()) if text[-1:].lower() in UNITS else (text, "")
    try:
        nbytes = min(int(float(number) * UNITS.get(unit, 1)), sys.maxsize)
    except (ValueError, OverflowError):
        nbytes = 0
    if nbytes < 1:
        raise argparse.ArgumentTypeError(f"expected a size such as 65536, 64K or 1.5G, not {text!r}")
    return nbytes
