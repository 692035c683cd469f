"""The input of a job: paths and patterns, the files they name, and splits as Hadoop's FileInputFormat makes.

Here: names, sizes and the bytes of a split as pairs of typed bytes. Not here: which kind a file is, and tasks.
Invariant: a file belongs to the job once for each path that names it; no named file is skipped silently.

A SequenceFile gives the typed bytes that Hadoop's streaming gives to a task, a file of typed bytes its pairs, and text
its lines, as TextInputFormat reads them. Text, JSON and CSV that are compressed are one split, except lines in bzip2,
which are split as in Hadoop. A file whose size is reported as 0 is read to its end: files of /proc and of some file
systems in user space report that.
"""

from __future__ import annotations

import glob
import os
import stat
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import chain, islice

from typedbytes import PairReader, PairWriter
from typedbytes._base.locations import NestedFolderError, is_url, parts, visible_paths
from typedbytes._sorting import LineReader
from typedbytes.errors import DecodeError
from typedbytes.jobs import remote
from typedbytes.jobs.errors import InputError, nested_folder
from typedbytes.jobs.input_formats import formats_of
from typedbytes.jobs.paths import absolute
from typedbytes.jobs.tasks.file_inputs import CsvRows, WholeFile, check_end, has_quotes
from typedbytes.jobs.tasks.input_kinds import (
    BZIP2,
    CSV,
    FILE,
    JSON,
    PAIRS,
    RAW_TEXT,
    SEQUENCE_FILE,
    TEXT,
    decompressed,
    kind_of,
)
from typedbytes.sequencefile import Reader

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from typedbytes.jobs.job import Path

__all__ = ["Split", "find_files", "make_splits", "open_split", "pairs_in", "with_raw_text"]

BLOCK_NBYTES = 32 << 20  # fs.local.block.size
SLOP = 1.1  # the last split of a file may be larger by this factor: FileInputFormat.SPLIT_SLOP
CHUNK_NBYTES = 1 << 18


@dataclass(frozen=True)
class Split:
    """A part of a file; a length of 0 means the whole file."""

    path: str
    kind: str  #: one of the names above
    start: int
    length: int
    codec: str | None = None  #: of compressed text and pairs
    others: tuple[Split, ...] = ()  #: which the same task reads after this one

    @property
    def nbytes(self) -> int:
        """The length of all that the task reads."""
        return self.length + sum(each.length for each in self.others)


def pairs_in(inputs: Iterable[Any]) -> tuple[Iterable[Any] | None, list[Any]]:
    """Return (pairs, []) for an iterable of tuples, (None, paths) for one of paths; else raise InputError."""
    items = iter(inputs)
    first = [*islice(items, 1)]
    if first and isinstance(first[0], tuple):
        return chain(first, items), []
    paths = [*first, *items]
    for item in paths:
        if not isinstance(item, (str, os.PathLike)):
            raise InputError(
                f"inputs are paths, or tuples of a key and a value, as in inputs=[(0, 'a line')], not {item!r}"
            )
    return None, paths


def find_files(paths: Iterable[Path], recursive: bool = False) -> list[str]:
    """Return the files that paths name: files, patterns, and the visible contents of folders."""
    return [absolute(path) for named in paths for path in _files_of(os.fspath(named), recursive)]


def _files_of(path, recursive):
    if is_url(path):
        return remote.find_files(path, recursive)
    names = [path] if os.path.exists(path) else visible_paths(glob.glob(path), path)
    if not names:
        raise InputError(f"no such input: {path}")
    return [
        path for name in names for path in (_files_in(name, recursive) if os.path.isdir(name) else [_regular(name)])
    ]


def _regular(path):
    """Return the path of a regular file; others may never end, and cannot be split or read again."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    if not stat.S_ISREG(mode):
        kind = "pipe" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else "device"
        raise InputError(
            f"{path} is a {kind}, which cannot be split or read again: give it as standard input, with - as the input"
        )
    return path


def _files_in(folder, recursive):
    try:
        return [_regular(path) for path in parts(folder, recursive)]
    except NestedFolderError as error:
        raise nested_folder(error) from None
    except OSError as error:
        raise InputError(f"the folder {folder} cannot be read: {error.strerror}") from None


def make_splits(
    paths: Iterable[str], format_name: str = "auto", split_size: int | None = None, *, in_order: bool = False,
    combines: bool = False,
) -> list[Split]:  # fmt: skip
    """Return the splits of files, the largest first, which is the order that Hadoop numbers its map tasks in.

    in_order: in that of the files. combines: one task reads as many of a kind as are no larger than a split together.
    """
    splits: list[Split] = []
    for path, name in formats_of(paths, format_name):
        with remote.reported(InputError, path) if is_url(path) else nullcontext():
            splits += _splits_of(path, name, split_size or BLOCK_NBYTES)
    if combines:
        splits = _combined(splits, split_size or BLOCK_NBYTES)
    return splits if in_order else sorted(splits, key=lambda split: -split.nbytes)


def _combined(splits, split_size):
    groups: list[list[Split]] = []
    open_groups: dict[str, tuple[list[Split], int]] = {}  # by kind, with its length
    for split in splits:
        group, nbytes = open_groups.get(split.kind, (None, 0))
        if group is None or nbytes + split.length > split_size:
            group, nbytes = [], 0
            groups.append(group)
        group.append(split)
        open_groups[split.kind] = group, nbytes + split.length
    return [replace(first, others=tuple(others)) for first, *others in groups]


def _splits_of(path, format_name, split_size):
    try:
        nbytes = remote.size(path)
        kind, codec = kind_of(path, format_name)
        is_whole = (
            kind in (PAIRS, FILE)
            or (nbytes / split_size > SLOP and not remote.can_seek(path))
            or (codec is not None and (codec != BZIP2 or kind == CSV))
            or (kind == CSV and nbytes > split_size and has_quotes(path))
        )
    except OSError as error:
        if is_url(path):
            raise
        raise InputError(f"{path}: {error.strerror}") from None
    if is_whole or nbytes == 0:
        yield Split(path, kind, 0, nbytes, codec)
        return
    start = 0
    while (nbytes - start) / split_size > SLOP:
        yield Split(path, kind, start, split_size, codec)
        start += split_size
    yield Split(path, kind, start, nbytes - start, codec)


def with_raw_text(splits: Iterable[Split]) -> list[Split]:
    """Return splits of text of which tasks get the lines as they are."""
    return [replace(split, kind=RAW_TEXT, others=(*with_raw_text(split.others),)) for split in splits]


def open_split(split: Split) -> Any:
    """Return the split's reader, a context manager.

    copy_to(sink), `record` pairs copied so far, `position` bytes into the split.
    """
    return _READERS[split.kind](split)


class _Chunks:
    """The base of readers with read_typed()."""

    _reader: Any
    _closes: Any

    def copy_to(self, sink):
        """Write all pairs to a sink, whose write() writes everything."""
        while data := self._read():
            sink.write(data)

    def _read(self):
        return self._reader.read_typed(CHUNK_NBYTES)

    @property
    def record(self):
        """The number of pairs copied."""
        return self._reader.record

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._closes.close()


class _Lines(_Chunks):
    """Lines of text as pairs of an offset and a line."""

    def __init__(self, split):
        self._split = split
        self._file = self._closes = remote.opened(split.path)
        try:
            self._reader = LineReader(self._source(split), start=split.start, length=self._length(split))
        except BaseException:
            self._file.close()
            raise

    def _source(self, split):
        if split.codec == BZIP2 and 0 < split.length < remote.size(split.path):
            from typedbytes._base.bzip2 import Bzip2Split

            return Bzip2Split(self._file, split.start, split.length)
        self._file.seek(split.start)
        return decompressed(self._file, split.codec)

    def _length(self, split):
        return None if split.codec else split.length or None

    def copy_to(self, sink):
        """Write all pairs to a sink; raises OSError for damage."""
        try:
            super().copy_to(sink)
        except DecodeError as error:
            raise OSError(str(error)) from None
        if not self._split.codec:
            check_end(self._file.tell(), self._split)

    @property
    def position(self):
        """The number of bytes read, compressed ones of a compressed file."""
        return min(self._file.tell() - self._split.start, self._split.length)


class _RawLines(_Lines):
    """Lines of text as they are."""

    def _read(self):
        return self._reader.read_lines(CHUNK_NBYTES)


class _Sequence(_Chunks):
    """The pairs of a SequenceFile as typed bytes."""

    def __init__(self, split):
        self._split = split
        self._reader = self._closes = Reader(split.path, start=split.start, length=split.length or None, max_bytes=None)

    def copy_to(self, sink):
        """Write all pairs to a sink; raises OSError for a file of this machine that has been cut."""
        super().copy_to(sink)
        if not is_url(self._split.path):  # of those ReadAhead knows the size
            with suppress(FileNotFoundError):
                check_end(os.path.getsize(self._split.path), self._split)

    @property
    def position(self):
        return max(0, min(self._reader.offset - self._split.start, self._split.length))


class _Pairs(_Chunks):
    """Unchanged pairs of typed bytes, whose structure is checked."""

    def __init__(self, split):
        self._split = split
        self._reader = self._closes = PairReader(split.path)

    def copy_to(self, sink):
        """Write all pairs to a sink."""
        with PairWriter(sink, buffer_size=CHUNK_NBYTES) as writer:
            writer.copy(self._reader)
        if not self._split.codec:
            check_end(self._reader.offset, self._split)

    @property
    def position(self):
        return min(self._reader.offset, self._split.length)


def _open_csv(split):
    file = remote.opened(split.path)
    try:
        return CsvRows(split, decompressed(file, split.codec))
    except BaseException:
        file.close()
        raise


_READERS: dict[str, Any] = {
    TEXT: _Lines, JSON: _Lines, RAW_TEXT: _RawLines, PAIRS: _Pairs, SEQUENCE_FILE: _Sequence, CSV: _open_csv,
    FILE: WholeFile,
}  # fmt: skip
