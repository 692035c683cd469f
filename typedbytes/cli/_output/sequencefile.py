"""A SequenceFile as an output of commands, with the classes and the metadata of its inputs, or classes by name."""

from __future__ import annotations

from collections import namedtuple
from contextlib import contextmanager

import typedbytes
from typedbytes import sequencefile
from typedbytes.cli._failure import BAD_DATA, UNAVAILABLE, USAGE, Failure
from typedbytes.cli._records.encoded import is_pairs
from typedbytes.sequencefile._classes import is_simple, may_hide_class
from typedbytes.sequencefile._writables import full_name

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

_IO = "org.apache.hadoop.io."
_TYPED = "org.apache.hadoop.typedbytes.TypedBytesWritable"
_MAPS = (f"{_IO}MapWritable", f"{_IO}SortedMapWritable")
Header = namedtuple("Header", "key_class value_class metadata")


@contextmanager
def open_sequencefile(output, **options):
    """Yield a writer of a SequenceFile to a CommandOutput."""
    try:
        writer = sequencefile.Writer(output, **options)
    except ValueError as error:
        raise Failure(USAGE, f"{output}: {error}") from None
    except ImportError as error:
        raise Failure(UNAVAILABLE, f"{output}: {error}") from None
    try:
        yield writer
    finally:
        writer.close()


def write_typed(writer, records):
    """Write whole pairs of typed bytes; raise Failure for one that the classes of the file cannot hold."""
    try:
        writer.write_typed(records)
    except typedbytes.EncodeError as error:
        raise Failure(BAD_DATA, f"cannot write the {error}") from None


def header_of(reader):
    """Return the header of a reader's SequenceFile; for any other reader that of a file of TypedBytesWritables."""
    file = getattr(reader, "sequence_file", None)
    return Header(_TYPED, _TYPED, {}) if file is None else Header(*(getattr(file, each) for each in Header._fields))


def check_same_header(header, other):
    """Return the header for records of both; raise Failure if classes or metadata differ."""
    if header[:2] != other[:2]:
        both = " and ".join("/".join(name.rpartition(".")[2] for name in each[:2]) for each in (header, other))
        raise Failure(
            USAGE,
            f"inputs of different classes, {both} "
            "(typedbytes convert --key-class CLASS --value-class CLASS makes one of both)",
        )
    if header.metadata != other.metadata:
        raise Failure(USAGE, "inputs with different metadata: a SequenceFile has only one")
    return header


class SequenceFileOutput:
    """Write pairs to a SequenceFile with the metadata of its inputs, and with their classes unless others are given."""

    def __init__(self, output, dialect, key_class=None, value_class=None, **options):
        self._output = output
        self._classes = {
            name: full_name(given)
            for name, given in (("key_class", key_class), ("value_class", value_class))
            if given is not None
        }
        self._options = {"dialect": dialect, **options}
        self._header: Any = None
        self._writer: Any = None

    def expect(self, reader):
        """Prepare for the records of this reader."""
        self._open(reader)
        for part, name, before in zip(("key", "value"), self._header, header_of(reader)):
            if name in _MAPS or (name == before and may_hide_class(name, part, self._header.metadata)):
                raise Failure(
                    USAGE,
                    f"the class {name} cannot be made from typed bytes "
                    "(typedbytes convert copies its records, unless it changes a class)",
                )

    def _open(self, reader):
        if not is_pairs(reader):
            raise Failure(
                USAGE,
                "a SequenceFile holds pairs: --pairs reads keys and values in turn, or the two columns of a table",
            )
        header = header_of(reader)._replace(**self._classes)
        if self._header is None:
            self._start(header)
        else:
            check_same_header(self._header, header)

    def _start(self, header):
        self._header = header
        self._writing = open_sequencefile(self._output, **header._asdict(), **self._options)
        self._writer = self._writing.__enter__()

    def copy_raw(self, reader):
        """Copy records of classes that are not simple, if none changes, as they are; return whether this was done.

        Typed bytes may not say all that is in them, and of some there is no writer.
        """
        self._open(reader)
        file, classes = getattr(reader, "sequence_file", None), self._header[:2]
        if file is None or classes != header_of(reader)[:2] or all(map(is_simple, classes)):
            return False
        for key, value in file:
            self._writer.write_raw(key, value)
        return True

    def write(self, records):
        """Write whole pairs."""
        write_typed(self._writer, records)

    def close(self, is_complete):
        """End the file."""
        if self._writer is None and is_complete:
            self._start(Header(_TYPED, _TYPED, {})._replace(**self._classes))
        if self._writer is not None:
            self._writing.__exit__(None, None, None)
