"""Records that are added to a file: what it keeps, and whether its end can be read.

Here: the checks before the first byte is written. Not here: bytes of the format, which a Reader checks. Invariant: a
file that is refused is as it was.
"""

from __future__ import annotations

import os

from typedbytes._base import locations
from typedbytes.errors import DecodeError
from typedbytes.sequencefile import _codecs, _writables
from typedbytes.sequencefile._files import Reader, Writer

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["appending"]

# What a file that is added to keeps.
_KEPT = ("key_class", "value_class", "compression", "codec", "metadata", "version", "sync_marker")
_ESCAPE = b"\xff\xff\xff\xff"  # before each sync marker
_TAIL_NBYTES = 1 << 16  # read first in search of the last sync marker: there is one every 100 KB or less, or each block
_MAX_TAIL_NBYTES = 1 << 24
_ALL = 2**63 - 1


def appending(file: Any, options: dict[str, Any]) -> Writer:
    """Return a Writer at the end of a file, which is made if it is not there or empty."""
    if not isinstance(file, (str, os.PathLike)):
        raise TypeError(f'mode "a" takes a path or a URL, not {type(file).__name__}')
    try:
        nbytes = locations.size(os.fspath(file))
    except FileNotFoundError:
        nbytes = 0
    if not nbytes:
        return Writer(file, **options)
    with Reader(file, raw=True, max_bytes=None) as reader:
        kept = {name: getattr(reader, name) for name in _KEPT}
        _check_kept(file, kept, options)
        _check_end(file, reader, nbytes)
    return Writer(file, **{**options, **kept, "append_at": nbytes})


def _check_kept(file, kept, options):
    """Raise ValueError for an option that is not what the file has."""
    given = {name: options[name] for name in _KEPT if options.get(name) is not None}
    if "codec" in given:
        given["codec"] = _codecs.find(given["codec"], to_write=True).class_name
    for name in ("key_class", "value_class"):
        if name in given:
            given[name] = _writables.full_name(given[name])
    for name, value in given.items():
        if value != kept[name]:
            raise ValueError(f"the {name} of {os.fsdecode(file)} is {kept[name]!r}, not {value!r}: leave it out")


def _check_end(file, reader, nbytes):
    """Raise the error of the records after the last sync marker: what is added would be part of one that is cut."""
    reader.seek(_last_marker(file, _ESCAPE + reader.sync_marker, reader.offset, nbytes))
    try:
        reader.skip(_ALL)
    except DecodeError as error:
        error.message = (
            "no records can be added to a damaged file (typedbytes validate --repair OUT FILE copies the intact ones): "
            + error.message
        )
        error.record = None  # counted from the marker
        raise


def _last_marker(file, marker, start, end):
    """Return the offset of the last marker between two offsets; the first of these if there is none."""
    source, _ = locations.opened(file, "r")
    with source:
        stop, nbytes = end, _TAIL_NBYTES
        while stop > start:
            begin = max(start, stop - nbytes)
            source.seek(begin)
            found = _read(source, min(stop + len(marker) - 1, end) - begin).rfind(marker)
            if found >= 0:
                return begin + found
            stop, nbytes = begin, min(2 * nbytes, _MAX_TAIL_NBYTES)
    return start


def _read(source, nbytes):
    """Return n bytes, fewer at the end: one read of a file may give less than it has."""
    pieces, left = [], nbytes
    while left and (piece := source.read(left)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)
