"""The settings of a command: a class has its options as attributes, an object what a command line gives.

Here: how options are declared, those that several commands share, and the types of their values. What an option does is
not known here. Invariant: nothing changes settings once they are parsed.
"""

from __future__ import annotations

import argparse
import sys

from typedbytes._base.sizes import parse_size
from typedbytes.cli._input.formats import INPUTS, NAMES

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Literal, NoReturn

    from typedbytes.cli._parser import Parser

    Dialect = Literal["hadoop", "hive"]

MIN_MEMORY = 64 << 10  # of a sort


class Option:
    """What argparse needs to know of an option or an argument; only one of a group may be given."""

    def __init__(self, spellings: list[tuple[tuple, dict]], group: str | None, words: Iterable[str]) -> None:
        self.spellings = spellings
        self.group = group
        self.words = tuple(words)


def option(*flags: str, group: str | None = None, words: Iterable[str] = (), **keywords: Any) -> Any:
    """Declare an option, or without flags an argument; a shell offers these words for it."""
    return Option([(flags, keywords)], group, words)


def switch(*flags: str, help: str) -> Any:
    """Declare an option without a value."""
    return option(*flags, action="store_true", help=help)


def either(group: str, *options: Any) -> Any:
    """Declare options for one attribute."""
    return Option([each for one in options for each in one.spellings], group, ())


class Settings:
    """What a command line says.

    A subclass has an attribute for each option. Another attribute holds a fixed value, where no option sets it.
    """

    output: str | None = None
    classes: str | None = None

    def __init__(self, words: Mapping[str, Any]) -> None:
        self.__dict__.update(words)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name} is set by the command line alone")

    def output_file(self) -> str | None:
        """Return the path of the file that the output becomes; None: stdout, or the command writes it itself."""
        return self.output

    @classmethod
    def with_defaults(cls, arguments: list[str], parser: Parser) -> list[str]:
        """Return the arguments of the command with those that a file adds."""
        return arguments

    @classmethod
    def about_unknown(cls, words: argparse.Namespace, unknown: list[str]) -> str:
        """Return the end of the message about options that are not known; empty: the parser looks for similar ones."""
        return ""

    @classmethod
    def all_options(cls) -> dict[str, Option]:
        """Return the options by their attributes, first those of base classes."""
        found: dict[str, Option] = {}
        for kind in reversed(cls.__mro__):
            found.update({name: each for name, each in vars(kind).items() if isinstance(each, Option)})
        return found

    @classmethod
    def declare(cls, parser: argparse.ArgumentParser) -> None:
        """Declare the options to a parser."""
        groups: dict = {None: parser}
        for name, declared in cls.all_options().items():
            if declared.group not in groups:
                groups[declared.group] = parser.add_mutually_exclusive_group()
            for flags, keywords in declared.spellings:
                dest = {"dest": name} if flags else {}
                argument = groups[declared.group].add_argument(*flags or [name], **dest, **keywords)
                argument.words = declared.words


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
    """Return the number of bytes for a sort, 64 KiB or more: with less, every few records make a temporary file."""
    nbytes = size(text)
    if nbytes < MIN_MEMORY:
        raise argparse.ArgumentTypeError(f"expected at least 64K, not {text!r}: a number without a unit is in bytes")
    return nbytes


def size(text):
    """Return the number of bytes that an option gives, such as 65536, 64K or 1.5G."""
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


# Options that commands declare in an order of their own.

FILES = option(nargs="*", default=[], metavar="FILE", help="files, folders or URLs; stdin if none, or for -")
DIALECT = option(
    "--dialect", choices=("hadoop", "hive"), default="hadoop", help="hive adds the type codes 11, 12 and 177"
)
OUTPUT = option("-o", "--output", metavar="OUT", help="write to OUT, which is replaced only on success")
PLAIN = switch("--plain", help="natural JSON, which loses types and cannot be converted back")
PRETTY = switch("--pretty", help="JSON with indentation, on several lines for each record")
MEMORY = option(
    "--memory", type=_memory, default=512 << 20, metavar="SIZE", help="the memory to use, such as 4G (512M)"
)
TYPE = option(
    "--type",
    metavar="MODULE:CLASS",
    help="the record class of the values, imported from the current folder or PYTHONPATH",
)
KEY_TYPE = option("--key-type", metavar="MODULE:CLASS", help="of pairs: the type of the keys, such as builtins:str")
CLASSES = option(
    "--classes", metavar="FILE", help="descriptions of classes in SequenceFiles, a line for each: name: fields"
)
RECURSIVE = switch("--recursive", help="read the folders inside a folder too")
KEY_CLASS = option(
    "--key-class", metavar="CLASS", help="sequencefile: the keys as Text, LongWritable, NullWritable and so on"
)
VALUE_CLASS = option("--value-class", metavar="CLASS", help="sequencefile: the values, in the same way")
SERDE = option(
    "--serde",
    choices=("text", "binary"),
    help="RCFile: how Hive wrote the cells: ColumnarSerDe's text, or its default, LazyBinaryColumnarSerDe (text)",
)
UNICODE_ERRORS = option(
    "--unicode-errors",
    choices=("strict", "surrogateescape"),
    default="strict",
    help="surrogateescape decodes text that is not UTF-8",
)


class InputSettings(Settings):
    """Which inputs are read, and as what."""

    files: list[str]
    pairs: bool = False
    is_record_kind_unknown: bool = False  # no option says whether records are pairs
    dialect: Dialect = "hadoop"
    max_bytes: int | None = None
    from_: str | None = None
    recursive: bool = False
    encoding: str | None = None

    @property
    def text_options(self) -> dict[str, str]:
        """How columns.read takes text."""
        return {"encoding": self.encoding} if self.encoding else {}


class FileSettings(InputSettings):
    """FILE... and the limits of what is read from them."""

    files: list[str] = FILES
    pairs: bool = either(
        "records",
        option("--pairs", action="store_true", default=None, help="a record is a pair: a key, then a value"),
        option(
            "--values",
            action="store_false",
            default=None,
            help="a record is a value, even if the input looks like pairs",
        ),
    )
    dialect: Dialect = DIALECT
    max_bytes: int | None = option(
        "--max-bytes", type=positive, metavar="N", help="refuse a record of more than N bytes"
    )
    recursive: bool = RECURSIVE


class StreamSettings(FileSettings):
    """The options of every command that reads records."""

    from_: str | None = option(
        "--from", choices=INPUTS, help="the format of the inputs (default: recognised by their first bytes)"
    )
    classes: str | None = CLASSES


class RecordForm(Settings):
    """How records are written."""

    dialect: Dialect
    to: str | None = None
    plain: bool = False
    pretty: bool = False
    unicode_errors: str = "strict"
    type: str | None = None
    key_type: str | None = None

    @property
    def target(self) -> str | None:
        """The format of the output, None if nothing says it."""
        return self.to


class RecordSettings(StreamSettings, RecordForm):
    """The options of every command that reads records and writes records."""

    to: str | None = option(
        "--to", choices=NAMES, help="the format of the output (default: typedbytes; json on a terminal)"
    )
    output: str | None = OUTPUT
    plain: bool = PLAIN
    pretty: bool = PRETTY
    unicode_errors: str = UNICODE_ERRORS


class ReportForm(Settings):
    """The two forms of a report."""

    json: bool = switch("--json", help="report in lines of JSON (the default, except on a terminal)")
    table: bool = switch("--table", help="report in a table (the default on a terminal)")
    output: str | None = OUTPUT


class ReportSettings(ReportForm, StreamSettings):
    """The options of every command that reads records and reports on them."""


class TextSettings(Settings):
    """The output, and the forms of a line of text."""

    output: str | None = OUTPUT
    delimiter: str | None = either(
        "rows",
        option("--csv", action="store_const", const=",", help="rows with commas between fields"),
        option("--tsv", action="store_const", const="\t", help="rows with TABs between fields"),
    )
    header: bool = switch("--header", help="the first row holds the names of the fields, the keys of MAPs")
    separator: str | None = option(
        "--separator", metavar="SEP", help="what separates fields, or a key from its value (TAB)"
    )


class SequenceFileSettings(InputSettings):
    """FILE..., the dialect, and the limit of what is read from or written to a SequenceFile."""

    files: list[str] = FILES
    dialect: Dialect = DIALECT
    max_bytes: int | None = option(
        "--max-bytes", type=positive, metavar="N", help="refuse a record or block of more than N bytes"
    )
    classes: str | None = CLASSES


def number_option(group: str | None = None) -> Any:
    """Declare how many records a command copies."""
    return option(
        "-n", type=integer, default=10, metavar="N", group=group, help="the number of records (10), also as -5"
    )
