"""Whole splits: the task's side of the Java classes in src/java/hadoop, which hand over files' bytes instead of pairs.

Here: what a split's bytes are, and the same pairs as typed bytes, so that all that reads typed bytes reads splits too,
or as objects; a SequenceFile as the task's output. Not here: when a job uses them. Invariant: the pairs are those that
Hadoop would have passed on one by one; the input is read to its end.
"""

from __future__ import annotations

from typedbytes import dumps, sequencefile
from typedbytes._core import PairIterator
from typedbytes._sorting import LineReader
from typedbytes.streaming.formats.record_io import Input
from typedbytes.streaming.task_environment import TYPED_BYTES_WRITABLE, UsageError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


__all__ = ["SequenceFileSink", "SplitInput", "compression_of", "holds_objects", "open_split"]

CHUNK_NBYTES = 1 << 18
FORMAT = "typedbytes_split_format"
COMPRESSION = "mapreduce_output_fileoutputformat_compress"


def open_split(source: Any, environ: Mapping[str, str]) -> Any:
    """Return a source of the split's pairs as typed bytes: an object with read1()."""
    kind = environ.get(FORMAT)
    if kind == "typedbytes":
        return source
    if kind == "sequencefile":
        return _SplitPairs(sequencefile.Reader(source, max_bytes=None), source)
    if kind == "text":
        start, length = (int(environ[f"typedbytes_split_{name}"]) for name in ("start", "length"))
        return _SplitPairs(LineReader(source, start=start, length=None if length < 0 else length), source)
    raise UsageError(f"unknown split format {kind!r}; known: text, sequencefile, typedbytes")


class _SplitPairs:
    """Read the pairs of a reader with read_typed() as one stream of typed bytes."""

    def __init__(self, reader, source):
        self.reader = reader
        self._source = source
        self._rest = memoryview(b"")

    def read1(self, nbytes):
        """Return the next bytes, `nbytes` of them at most; none at the end."""
        if not self._rest:
            self._rest = memoryview(self.reader.read_typed(CHUNK_NBYTES))
            if not self._rest:
                self.drain()
        front, self._rest = self._rest[:nbytes], self._rest[nbytes:]
        return front

    def drain(self):
        """Discard the bytes after the split's end, of which some were read to find it."""
        buffer = bytearray(CHUNK_NBYTES)
        while self._source.readinto(buffer):
            pass


def holds_objects(split: Any, environ: Mapping[str, str]) -> bool:
    """Return whether the reader of a split gives the objects of its typed bytes, as for text and typed bytes."""
    if environ.get(FORMAT) == "sequencefile":
        return split.reader.key_class == split.reader.value_class == TYPED_BYTES_WRITABLE
    return environ.get(FORMAT) == "text"


class SplitInput(Input):
    """Read the pairs of a split as objects: a copy as typed bytes would take a sixth of the task's time."""

    def __init__(self, split: Any) -> None:
        super().__init__(split.reader)
        self._split = split
        self._start = split.reader.offset
        self._pairs = PairIterator(split.reader)

    @property
    def offset(self) -> int:
        """The number of bytes of the records read so far."""
        return self._reader.offset - self._start

    def pairs(self) -> Any:
        """Return an iterator of (key, value)."""
        return self._pairs

    def item_bytes(self, item: Any) -> bytes:
        """Return a key or value encoded again, which shows widths as we write them."""
        return dumps(item)

    def failure(self) -> BaseException | None:
        """Return the error the input has failed with, or None."""
        return self._pairs._failure

    def check_end(self) -> None:
        """Raise the error of the input, or RuntimeError if its end has not been read."""
        self._pairs._check_end()
        self._split.drain()


class SequenceFileSink:
    """Take whole pairs of typed bytes from a PairWriter, and write them with a writer of SequenceFiles."""

    def __init__(self, writer: sequencefile.Writer) -> None:
        self._writer = writer

    def write(self, data: Any) -> int:
        """Write pairs and return how many bytes of typed bytes they were."""
        self._writer.write_typed(data)
        return len(data)

    def close(self) -> None:
        """Write the rest; the writer's file stays open."""
        self._writer.close()


def compression_of(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return a Writer's options for the compression of the job's output, as SequenceFileOutputFormat has it."""
    if environ.get(COMPRESSION, "false") != "true":
        return {}
    compression = environ.get(f"{COMPRESSION}_type", "RECORD").lower()
    codec = environ.get(f"{COMPRESSION}_codec", "org.apache.hadoop.io.compress.DefaultCodec")
    return {"compression": compression, "codec": codec}
