"""A SequenceFile as an output of commands, with the classes and the metadata of its inputs."""

from __future__ import annotations

from collections import namedtuple
from contextlib import contextmanager

from typedbytes import sequencefile
from typedbytes.cli._failure import UNAVAILABLE, USAGE, Failure
from typedbytes.cli._records.encoded import is_pairs, split

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from typing import Any

_IO = "org.apache.hadoop.io."
_TYPED = "org.apache.hadoop.typedbytes.TypedBytesWritable"
_MAPS = (f"{_IO}MapWritable", f"{_IO}SortedMapWritable")
Header = namedtuple("Header", "key_class value_class metadata")


@contextmanager
def open_sequencefile(output, **how):
    """Yield a writer of a SequenceFile to a CommandOutput."""
    try:
        writer = sequencefile.Writer(output, **how)
    except ValueError as error:
        raise Failure(USAGE, f"{output}: {error}") from None
    except ImportError as error:
        raise Failure(UNAVAILABLE, f"{output}: {error}") from None
    try:
        yield writer
    finally:
        writer.close()


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
            f"inputs of different classes, {both} (typedbytes dumptb FILE... "
            "| typedbytes loadtb OUT converts them all)",
        )
    if header.metadata != other.metadata:
        raise Failure(USAGE, "inputs with different metadata: a SequenceFile has only one")
    return header


class SequenceFileOutput:
    """Write pairs to a SequenceFile with the classes and the metadata of its inputs."""

    def __init__(self, output, dialect, **how):
        self._output = output
        self._how = {"dialect": dialect, **how}
        self._header: Any = None
        self._writer: Any = None

    def expect(self, reader):
        """Prepare for the records of this reader."""
        self._open(reader)
        for name in self._header[:2]:
            if name in _MAPS:
                raise Failure(
                    USAGE,
                    f"a {name.rpartition('.')[2]} cannot be made from its typed bytes "
                    "(typedbytes convert copies such files)",
                )

    def _open(self, reader):
        if not is_pairs(reader):
            raise Failure(USAGE, "a SequenceFile holds pairs: --pairs reads keys and values in turn")
        if self._header is None:
            self._start(header_of(reader))
        else:
            check_same_header(self._header, header_of(reader))

    def _start(self, header):
        self._header = header
        self._writing = open_sequencefile(self._output, **header._asdict(), **self._how)
        self._writer = self._writing.__enter__()
        self._converters = [_converter_of(name) for name in header[:2]]

    def copy_raw(self, reader):
        """Copy records that cannot be made from typed bytes as they are; return whether this was done."""
        self._open(reader)
        if not {*self._header[:2]}.intersection(_MAPS):
            return False
        for key, value in reader.sequence_file:
            self._writer.write_raw(key, value)
        return True

    def write(self, records):
        """Write whole pairs."""
        if self._header[:2] == (_TYPED, _TYPED):
            self._writer.write_typed(records)
            return
        convert_key, convert_value = self._converters
        parts = split(bytes(records), 1, self._how["dialect"])
        for key, value in zip(parts, parts):
            self._writer.write_raw(convert_key(key), convert_value(value))

    def close(self, is_complete):
        """End the file."""
        if self._writer is None and is_complete:
            self._start(Header(_TYPED, _TYPED, {}))
        if self._writer is not None:
            self._writing.__exit__(None, None, None)


def _converter_of(class_name):
    """Return the function that converts the typed bytes of a SequenceFile's Reader back to the bytes of a class."""
    if class_name == _TYPED:
        return lambda typed: len(typed).to_bytes(4, "big") + typed
    if class_name in (
        f"{_IO}{name}Writable" for name in ("Bytes", "Int", "Long", "Byte", "Float", "Double", "Boolean")
    ):
        return lambda typed: typed[1:]
    if class_name == f"{_IO}Text":
        return lambda typed: sequencefile.encode("VIntWritable", len(typed) - 5) + typed[5:]
    if class_name in (f"{_IO}VIntWritable", f"{_IO}VLongWritable"):
        return lambda typed: sequencefile.encode(class_name, int.from_bytes(typed[1:], "big", signed=True))
    start = 9 + len(class_name.encode())
    return lambda typed: typed[start:]  # code 50, two lengths and the name
