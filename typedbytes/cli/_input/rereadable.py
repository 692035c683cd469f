"""Inputs that a command reads twice: what can be read only once, such as a pipe, is copied to a temporary file first.

Here: which inputs these are, and their copies. Invariant: the copies are gone when the command ends, also by a signal.
"""

from __future__ import annotations

import os
from collections import namedtuple
from contextlib import ExitStack, contextmanager

from typedbytes._base.atomic import temporary_folder
from typedbytes._base.locations import is_url
from typedbytes._core import write_all
from typedbytes.cli._failure import IO_ERROR, Failure, reason_of
from typedbytes.cli._input.formats import CHUNK_NBYTES
from typedbytes.cli._input.inputs import opened_as_it_is

__all__ = ["Rereadable", "can_be_read_twice", "rereadable_inputs"]

# Names of files that are open already: opened again, they may go on where the first reading ended.
_OPEN_FILES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")

# The name of an input, and the path to read it at: its own, or that of a copy.
Rereadable = namedtuple("Rereadable", "name path")


@contextmanager
def rereadable_inputs(inputs):
    """Yield a list of the inputs, each a Rereadable; the copies among them last as long as the block."""
    with ExitStack() as stack:
        folder, found = None, []
        for number, name in enumerate(inputs):
            path = name
            if not can_be_read_twice(name):
                with _as_copy_failure():
                    folder = folder or stack.enter_context(temporary_folder("typedbytes-input-"))
                path = os.path.join(folder, str(number))
                _copy(name, path)
            found.append(Rereadable(name, path))
        yield found


def can_be_read_twice(name):
    """Return whether an input is the same when it is opened again; reading reports one that does not exist."""
    if is_url(name):
        return True
    return name != "-" and not name.startswith(_OPEN_FILES) and (os.path.isfile(name) or not os.path.exists(name))


def _copy(name, path):
    """Copy an input to a new file as it is, compressed or not."""
    with _as_copy_failure():
        file = open(path, "xb", buffering=0)
    with file, opened_as_it_is(name) as source:
        for piece in iter(lambda: source.read(CHUNK_NBYTES), b""):
            with _as_copy_failure():
                write_all(file, piece)


@contextmanager
def _as_copy_failure():
    try:
        yield
    except OSError as error:
        raise Failure(IO_ERROR, f"temporary files: {reason_of(error)}") from None
