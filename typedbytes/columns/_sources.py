"""What a BatchReader reads from: a stream of records, a SequenceFile, or memory.

A source is used by an internal protocol, which typedbytes.Reader,
PairReader and the TypedPairs of a SequenceFile implement:

    __use_encoded__(use, nbytes)    call use(view) with whole or partial encoded records, at least nbytes unless fewer
                                    are left; it returns the bytes and records used. Return False, without a call,
                                    at the end of input
    read()                          decode the next record, to raise its error
    offset, record                  where the next record is
    close()
"""

from __future__ import annotations

import os
import sys
from collections import namedtuple

from typedbytes._base import locations, magic
from typedbytes._base.compression import refuse_compressed_sequence_file
from typedbytes.errors import relocated
from typedbytes.files import PairReader, Reader

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NamedTuple

    _Path = str | os.PathLike[str]
    Paths = _Path | Sequence[_Path]

_READ_NBYTES = 1 << 20
_HEAD_NBYTES = 64  # so many tell an RCFile of Hive's first version from other SequenceFiles
# options for decoding an invalid record, to raise its error
AS_THEY_ARE: Any = {"exact": True, "pickle": "raw", "map_pairs": True}

if TYPE_CHECKING:

    class Split(NamedTuple):
        path: _Path
        start: int | None
        length: int | None

else:
    Split = namedtuple("Split", "path start length", module="typedbytes.columns")
Split.__doc__ = """What one process reads of a file: a part of a SequenceFile or RCFile, or all: start and length None.

`read` takes it as a source. It is a tuple, which can be sent to any process.

>>> Split("counts/part-00000", 0, 4096).length
4096
"""


class _RCFileSplit(Split):
    """A split of an RCFile."""

    __slots__ = ()


class OpenRCFile:
    """A file object that has an RCFile, as the command knows."""

    def __init__(self, file: Any) -> None:
        self.file = file


def splits(paths: Paths, split_size: int = 128 << 20, *, recursive: bool = False) -> list[Split]:
    """Return the splits of files: each record is in exactly one, and those of a file are in its order.

    - paths: a path, URL, folder of part files or pattern such as `out/part-*`, or a list of them.
    - split_size: the bytes of a SequenceFile or an RCFile that a split has; it is cut at the sync markers after them.
      Files of typed bytes have none, and are one split each. A file without bytes has no split, unless all are empty.
    - recursive: read the folders inside folders too.

    Raises ValueError for a split_size below 1, FileNotFoundError for what is not there.

    >>> import os, tempfile
    >>> from typedbytes import columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("part-00000", "part-00001"):
    ...         _ = columns.write(os.path.join(folder, name), {"key": ["a"], "value": [1]})
    ...     [sum(map(len, columns.read(split))) for split in splits(folder)]
    [1, 1]
    """
    if split_size < 1:
        raise ValueError(f"split_size must be at least 1, not {split_size}")
    made = []
    files = locations.files(paths, recursive)
    for file in files:
        kind = kind_of(file)
        if kind is None:
            if not is_empty(file):
                made.append(Split(file, None, None))
            continue
        nbytes, make = locations.size(file), _RCFileSplit if kind == "rcfile" else Split
        made += [make(file, start, min(split_size, nbytes - start)) for start in range(0, nbytes, split_size)]
    return made or [Split(file, None, None) for file in files[:1]]


def is_empty(source):
    """Return whether a path or a split is that of a file without bytes, which fits all others."""
    if isinstance(source, Split) and source.start is not None:
        return False  # without asking a server
    path = source.path if isinstance(source, Split) else source
    is_file = locations.is_url(path) or os.path.isfile(path)  # and no pipe
    return is_file and locations.size(os.fspath(path)) == 0


def from_first_with_bytes(files):
    """Return files without those at the start that have no bytes; all if none has any."""
    return next((files[number:] for number, file in enumerate(files) if not is_empty(file)), files)


def kind_of(source):
    """Return "sequencefile" or "rcfile" for a Reader, a split, a path or bytes of one, None for any other source.

    FormatError for a SequenceFile compressed as a whole.
    """
    if is_sequence_reader(source):
        return "sequencefile"
    if isinstance(source, (OpenRCFile, _RCFileSplit)):
        return "rcfile"
    if isinstance(source, Split):
        return None if source.start is None else "sequencefile"  # without opening it
    if locations.is_url(source):
        with locations.opened_to_recognise(source) as file:
            return _kind_by_start(file, source)
    if isinstance(source, (str, os.PathLike)):
        if not os.path.isfile(source):
            return None  # reading from a pipe would consume its bytes
        with open(source, "rb") as file:
            return _kind_by_start(file, source)
    try:
        with memoryview(source) as view:
            return _kind_of_head(view.cast("B")[:_HEAD_NBYTES].tobytes())
    except (TypeError, ValueError):  # not a contiguous buffer
        return None


def _kind_by_start(file, path):
    kind = _kind_of_head(file.read(_HEAD_NBYTES))
    if kind is None:
        file.seek(0)
        refuse_compressed_sequence_file(file, path)
    return kind


def _kind_of_head(head):
    kind = magic.format_of(head)
    return kind if kind in ("sequencefile", "rcfile") else None


def is_sequence_reader(source):
    """Return whether a source is a Reader of a SequenceFile."""
    return _is_of_sequence_file(source, "Reader")


def is_sequence_writer(sink):
    """Return whether a sink is a Writer of a SequenceFile."""
    return _is_of_sequence_file(sink, "Writer")


def _is_of_sequence_file(given, name):
    # Lazy import: a program that has not imported sequencefile, or not yet to its end, cannot have one.
    return isinstance(given, getattr(sys.modules.get("typedbytes.sequencefile"), name, ()))


def files_of(source, recursive):
    """Return the files of a list, a folder or a pattern, and a split itself; None for any other source."""
    if isinstance(source, Split):
        return [source]
    is_path = isinstance(source, (str, os.PathLike))
    name = os.fsdecode(source) if is_path else ""
    is_pattern = locations.is_pattern(name) and not os.path.exists(name)
    if not (isinstance(source, (list, tuple)) or is_pattern or locations.is_url(name) or os.path.isdir(name)):
        return None
    found = locations.files(source, recursive)
    return None if found == [source] else found


class Files:
    """The source for the records of several files in turn; offset and record are those in the current one."""

    def __init__(self, files, kind, rows, pairs, structure, types, ahead, classes):
        self._files = iter(files)
        self._kind = kind  # of the first
        self._rows = rows  # of RCFiles; None: there are none
        self._arguments = pairs, structure, types, ahead, classes
        self._name, self._reader, self.in_file = "", stream(b"", *self._arguments), False
        self._open_next()

    def __use_encoded__(self, use, nbytes):
        while not self._reader.__use_encoded__(use, nbytes):
            if not self._open_next():
                return False
        return True

    def _open_next(self):
        name = next(self._files, None)
        if name is None:
            return False
        kind, self._kind = self._kind or kind_of(name), None
        if self._rows is not None and kind is None and is_empty(name):
            return self._open_next()
        self._reader.close()
        if (kind == "rcfile") is not (self._rows is not None):
            path = os.fsdecode(name.path if isinstance(name, Split) else name)
            raise ValueError(f"{path}: RCFiles and other files cannot be read together")
        self._name, self.in_file = name, kind is not None
        open_one = self._rows.open if self._rows is not None else sequence_file if self.in_file else stream
        self._reader = open_one(name, *self._arguments)
        return True

    def named(self, error):
        """Return an error in the data with the name of the file."""
        path, start, _ = self._name if isinstance(self._name, Split) else (self._name, None, None)
        record = None if start else error.record  # known in the first split only
        found = relocated(error, error.message, error.offset, error.code, error.path, record)
        found.filename = os.fsdecode(path)
        return found

    def read(self):
        """Decode the next record, to raise its error."""
        return self._reader.read()

    @property
    def column_types(self):
        return getattr(self._reader, "column_types", None)

    @property
    def offset(self):
        return self._reader.offset

    @property
    def record(self):
        return self._reader.record

    @property
    def closed(self):
        return self._reader.closed

    def close(self):
        """Close the current file."""
        self._reader.close()


def is_available_at_once(source):
    """Return whether a source is a file or memory, of which the first records are there without waiting for them."""
    if isinstance(source, (str, os.PathLike)):
        return os.path.isfile(source) or os.path.isdir(source)
    return isinstance(source, (list, tuple, bytes, bytearray, memoryview)) or is_sequence_reader(source)


def memory_of(source):
    """Return a view of a source that is in memory, None for one that has to be read."""
    try:
        with memoryview(source) as view:
            return view.cast("B") if view.c_contiguous else None
    except (TypeError, ValueError):  # not a buffer, or of an unknown format
        return None


def sequence_file(source, pairs, structure, types, ahead, classes):
    """Return the source for the pairs of a SequenceFile, which does not look at types.

    ahead: decompresses the blocks, unless a Reader was given. classes: as described.
    """
    from typedbytes import sequencefile
    from typedbytes.sequencefile._typed_pairs import TypedPairs

    if not pairs:
        raise ValueError("the records of a SequenceFile are pairs")
    is_owned = not is_sequence_reader(source)
    if classes is not None and not is_owned:
        raise ValueError("classes cannot be combined with a sequencefile.Reader, which has its own")
    part: dict[str, Any] = {"start": source.start, "length": source.length} if isinstance(source, Split) else {}
    where = source.path if part else source
    reader = sequencefile.Reader(where, classes=classes, **part, **structure) if is_owned else source
    if is_owned:
        ahead.start(reader)
    return TypedPairs(reader, is_owned, **AS_THEY_ARE, **structure)


def stream(source, pairs, structure, types, ahead=None, classes=None):
    """Return the source for the records of a stream; types: the options of a Reader that say what they are."""
    source = source.path if isinstance(source, Split) else source
    return (PairReader if pairs else Reader)(source, buffer_size=_READ_NBYTES, **(types or AS_THEY_ARE), **structure)
