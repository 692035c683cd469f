"""Places that are no single file on this machine: folders of part files, patterns, and URLs that fsspec knows.

Here: what they stand for, and opening URLs. Not here: what is read or written there. Always true: names that start with _ or a
dot are no part files, as Hadoop has it.
"""

import glob
import os
from contextlib import contextmanager

from typedbytes.cli._manners import NO_INPUT, UNAVAILABLE, Failure
from typedbytes.sequencefile import _places


def files(place):
    """Return the names of the files that a folder, a pattern or a URL stands for."""
    if "://" in place:
        _filesystem(place)  # what is wrong with the protocol is said here
    matching = _matching(place)
    if not matching:
        raise Failure(NO_INPUT, f"{place}: matches no file")
    found = [name for match in matching for name in _places.parts(match)]
    if not found:
        raise Failure(NO_INPUT, f"{place}: no part files in there")
    return found


def _matching(place):
    if not glob.has_magic(place) or os.path.exists(place):
        return [place]
    if "://" not in place:
        return _wanted(glob.glob(place), place)
    fs, path = _filesystem(place)
    return _wanted(map(fs.unstrip_protocol, fs.glob(path)), place)


def _wanted(found, pattern):
    """Return what a pattern stands for, in order: hidden names only where the pattern starts as they do."""
    first = _name(pattern)[:1]
    return sorted(each for each in found if not _places.is_hidden(_name(each)) or _name(each).startswith(first))


def _name(place):
    return place.rstrip("/").rpartition("/")[2]


def reading_url(place):
    """Open a URL for reading."""
    fs, path = _filesystem(place)
    return fs.open(path, "rb")


@contextmanager
def creating(place):
    """Open a URL for writing; the file is there after the block, and not when that fails."""
    fs, path = _filesystem(place)
    with fs.transaction:
        yield fs.open(path, "wb")


def _filesystem(place):
    try:
        return _places.file_system(place)
    except ImportError as error:  # fsspec itself, or what it needs for this protocol
        raise Failure(UNAVAILABLE, f"{place}: {error}") from None
    except ValueError as error:
        raise Failure(NO_INPUT, f"{place}: {error}") from None
