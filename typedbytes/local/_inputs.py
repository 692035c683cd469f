"""What a job reads: places, the files they stand for, and their splits, as Hadoop's FileInputFormat makes them.

Here: names, sizes, kinds of files and the bytes of a split as pairs of typed bytes. Not here: tasks. Always true: a file belongs
to the job once for each time that a place names it; nothing that a place names is passed over in silence.

A SequenceFile gives the typed bytes that Hadoop's streaming gives to a task. A file of typed bytes, known by its name (.tb or
.typedbytes), gives its pairs and is one split. Anything else is lines of text, as TextInputFormat reads them, decompressed when the
name says so (.gz, .bz2, .zst) and then one split too.
"""

import glob
import os
import stat
from collections import namedtuple

from typedbytes import PairReader, PairWriter
from typedbytes._lines import LineReader
from typedbytes.local._errors import InputError
from typedbytes.sequencefile import Reader

__all__ = ["FORMATS", "Split", "find_files", "make_splits", "open_split"]

BLOCK_NBYTES = 32 << 20    # fs.local.block.size
SLOP = 1.1    # the last split of a file may be so much larger: FileInputFormat.SPLIT_SLOP
CHUNK_NBYTES = 1 << 18

TEXT, PAIRS, SEQUENCE_FILE = "text", "pairs", "sequencefile"
FORMATS = ("auto", TEXT, PAIRS, SEQUENCE_FILE)

# `kind` is one of the three names above; `start` and `length` are bytes of the file.
Split = namedtuple("Split", "path kind start length")


def find_files(places):
    """Return the paths of the files that places stand for: files, patterns, and what folders hold but for names with _ or a dot."""
    return [os.path.abspath(path) for place in places for path in _files_of(os.fspath(place))]


def _files_of(place):
    if os.path.isdir(place):
        return _files_in(place)
    if os.path.exists(place):
        return [_cuttable(place)]
    found = sorted(glob.glob(place))
    if not found:
        raise InputError(f"no such input: {place}")
    return [path for name in found for path in (_files_in(name) if os.path.isdir(name) else [_cuttable(name)])]


def _cuttable(path):
    if stat.S_ISFIFO(os.stat(path).st_mode):
        raise InputError(f"{path} is a pipe, which cannot be cut nor read again: give it as standard input, which is - among the inputs")
    return path


def _files_in(folder):
    try:
        with os.scandir(folder) as entries:
            visible = sorted((entry.name, entry.is_dir()) for entry in entries if not entry.name.startswith(("_", ".")))
    except OSError as error:
        raise InputError(f"the folder {folder} cannot be read: {error.strerror}") from None
    for name, is_dir in visible:
        if is_dir:
            raise InputError(f"{folder} holds the folder {name}; name it as an input of its own, or {os.path.join(folder, '*')}")
    return [_cuttable(os.path.join(folder, name)) for name, _ in visible]


def make_splits(paths, format_name="auto", split_size=None):
    """Return the splits of files, the largest first, which is the order that Hadoop numbers its map tasks in."""
    splits = [split for path in paths for split in _splits_of(path, format_name, split_size or BLOCK_NBYTES)]
    return sorted(splits, key=lambda split: -split.length)


def _splits_of(path, format_name, split_size):
    try:
        nbytes = os.path.getsize(path)
        kind = _kind_of(path) if format_name == "auto" else format_name
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    if kind == PAIRS or _opener_of(path)[0] is not None or nbytes == 0:
        yield Split(path, kind, 0, nbytes)
        return
    start = 0
    while (nbytes - start) / split_size > SLOP:
        yield Split(path, kind, start, split_size)
        start += split_size
    yield Split(path, kind, start, nbytes - start)


def _kind_of(path):
    if path.endswith((".tb", ".typedbytes")):
        return PAIRS
    with open(path, "rb") as file:
        return SEQUENCE_FILE if file.read(3) == b"SEQ" else TEXT


def _opener_of(path):
    """Return the function that opens a compressed file of text, None for others, and what it raises for damage besides OSError and EOFError."""
    if path.endswith(".gz"):
        import gzip
        import zlib

        return gzip.open, zlib.error
    if path.endswith(".bz2"):
        import bz2

        return bz2.open, ()
    if path.endswith(".zst"):
        try:
            from typedbytes._zstd import zstd
        except ModuleNotFoundError:
            raise InputError(f"{path}: reading it needs a library: pip install 'typedbytes[zstd]'") from None
        return zstd.open, zstd.ZstdError
    return None, ()


def open_split(split):
    """Return the split's reader, a context manager: copy_to(sink), `record` pairs copied so far, `position` bytes into the split."""
    return {TEXT: _Lines, PAIRS: _Pairs, SEQUENCE_FILE: _Sequence}[split.kind](split)


class _Chunks:
    """What readers with read_typed() have in common."""

    def copy_to(self, sink):
        """Write all pairs to a sink, which takes all of what it is given."""
        while data := self._reader.read_typed(CHUNK_NBYTES):
            sink.write(data)

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
        opener, self._damage = _opener_of(split.path)
        self._file = self._closes = (opener or _open_raw)(split.path, "rb")
        self._split = split
        try:
            self._file.seek(split.start)
            length = split.length if opener is None else None
            self._reader = LineReader(self._file, start=split.start, length=length)
        except BaseException:
            self._file.close()
            raise

    def copy_to(self, sink):
        """Write all pairs to a sink; raises OSError or EOFError for damage."""
        try:
            super().copy_to(sink)
        except self._damage as error:
            raise OSError(str(error)) from None

    @property
    def position(self):
        """The number of bytes read, of compressed ones at most those of the split."""
        return min(self._file.tell() - self._split.start, self._split.length)


def _open_raw(path, mode):
    return open(path, mode, buffering=0)


class _Sequence(_Chunks):
    """The pairs of a SequenceFile as typed bytes."""

    def __init__(self, split):
        self._split = split
        self._reader = self._closes = Reader(split.path, start=split.start, length=split.length, max_bytes=None)

    @property
    def position(self):
        """The number of bytes read."""
        return max(0, min(self._reader.offset - self._split.start, self._split.length))


class _Pairs(_Chunks):
    """Pairs of typed bytes as they are, checked for structure."""

    def __init__(self, split):
        self._reader = self._closes = PairReader(split.path)

    def copy_to(self, sink):
        """Write all pairs to a sink."""
        with PairWriter(sink, buffer_size=CHUNK_NBYTES) as writer:
            writer.copy(self._reader)

    @property
    def position(self):
        """The number of bytes read."""
        return self._reader.offset
