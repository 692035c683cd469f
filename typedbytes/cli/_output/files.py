"""The output of a command: stdout, or with -o a file that gets its name only when it is complete.

After an error the rest of the buffer is dropped, and a file that -o names is unchanged.
"""

from __future__ import annotations

import io
import os
from contextlib import closing, contextmanager

from typedbytes._base.atomic import atomic_file
from typedbytes._base.locations import is_url
from typedbytes.cli._failure import USAGE, Failure, reason_of
from typedbytes.cli._input import progress

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

BUFFER_NBYTES = 1 << 16

_STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
_FOLDERS_OF_DESCRIPTORS = ("/dev/fd", "/proc/self/fd")


class OutputError(Exception):
    """Raised when an output cannot be written; not an OSError, so that it is not mistaken for an error of an input."""

    def __init__(self, name, error):
        super().__init__(f"{name}: {reason_of(error)}")
        self.is_broken_pipe = isinstance(error, BrokenPipeError)


@contextmanager
def as_output_error(name: str) -> Iterator[None]:
    """Turn an OSError into an OutputError of the output of this name."""
    try:
        yield
    except OSError as error:
        raise OutputError(name, error) from None


class CommandOutput:
    """Write to a raw file, which only this object flushes and closes; without one, to a copy of standard output."""

    def __init__(self, raw: io.RawIOBase | None = None, name: str = "standard output") -> None:
        self._name = name
        with as_output_error(self._name):
            self._raw = open(_standard_output(), "wb", buffering=0) if raw is None else raw
            self._file = io.BufferedWriter(self._raw, BUFFER_NBYTES)
            self.is_terminal: bool = self._raw.isatty()
        self._nbytes = 0

    def __str__(self) -> str:
        return self._name

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Write bytes."""
        if self.is_terminal:
            progress.stop()
        try:
            self._nbytes += self._file.write(data)
        except OSError as error:
            raise OutputError(self._name, error) from None

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self._nbytes

    def line(self, text: str) -> None:
        """Write one line of text, at once on a terminal."""
        self.write(f"{text}\n".encode())
        if self.is_terminal:
            self.flush()

    def flush(self) -> None:
        """Write the buffer to the file."""
        with as_output_error(self._name):
            self._file.flush()

    def refuse_terminal(self) -> None:
        """Raise Failure if this is a terminal, which would take the bytes of a binary format for its own commands."""
        if self.is_terminal:
            raise Failure(
                USAGE,
                "binary output is not written to a terminal: give -o FILE, or pipe it, "
                "for instance to typedbytes to-json",
            )

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._raw.fileno()

    def __enter__(self) -> CommandOutput:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # After an error the buffer is dropped: closing the descriptor first keeps it from being flushed later.
        if kind is not None:
            getattr(self._raw, "abandon", self._raw.close)()
        with as_output_error(self._name), closing(self._raw):
            if kind is None:
                self._file.flush()
                self._file.detach()  # a file of fsspec may not say that it is closed, and would be flushed again


def _standard_output():
    """Return a copy of the standard output, for a closed one a copy that fails only when it is written to."""
    try:
        return os.dup(1)
    except OSError:
        descriptor = os.open(os.devnull, os.O_RDONLY)
        if descriptor != 1:
            os.dup2(descriptor, 1)
            os.close(descriptor)
        return os.dup(1)


@contextmanager
def replace_file(name, overwrite=True, compress=False):
    """Yield a CommandOutput that becomes the file of this name; without overwrite an existing file is a Failure.

    With compress, a suffix such as .gz decides on a compression.
    """
    if name.endswith("/"):
        raise Failure(USAGE, f"{name}: the name of a file does not end in a slash")
    compressed = _compressing(name) if compress else None
    try:
        if not overwrite and _is_file(name):
            raise FileExistsError
        with (
            _open_output(name, overwrite) as raw,
            CommandOutput(raw if compressed is None else compressed(raw), name) as output,
        ):
            yield output
    except FileExistsError:
        raise Failure(USAGE, f"{name}: file exists (--overwrite replaces it)") from None
    except OSError as error:
        raise OutputError(name, error) from None


def refuse_path_of_output(option, path, output):
    """Raise Failure for a second file of a command that is its output, or -, which would be a file of that name."""
    if path == "-" or _descriptor(path) == 1:
        raise Failure(USAGE, f"{option} takes the path of a file: the report goes to standard output")
    if output is not None and not is_url(path) and os.path.realpath(path) == os.path.realpath(output):
        raise Failure(USAGE, f"{option} and -o name the same file, {path}")


def _compressing(name):
    """Return the function that compresses a file of this name; a Failure for a name that is only read."""
    from typedbytes._base.compression import compressing
    from typedbytes._core import write_all

    try:
        return compressing(name, write_all)
    except ValueError as error:
        raise Failure(USAGE, f"{name}: {error}") from None


def _is_file(name):
    """Return whether a file of this name exists and would be replaced."""
    if is_url(name):
        from typedbytes.cli._input.paths import exists

        return exists(name)
    return _descriptor(name) is None and os.path.isfile(name)


@contextmanager
def _open_output(name, overwrite):
    """Yield the raw file; on an error the file of this name is unchanged."""
    if is_url(name):
        from typedbytes.cli._input.paths import create_file_of_url

        with create_file_of_url(name) as file:
            yield file
        return
    descriptor = _descriptor(name)
    if descriptor is not None:
        # Opening the path again would lose the offset and the append mode of the descriptor.
        yield open(os.dup(descriptor), "wb", buffering=0)
        return
    with atomic_file(name, overwrite) as file:
        yield file


def _descriptor(name):
    """Return the descriptor that a name denotes, or None."""
    folder, _, number = name.rpartition("/")
    is_number = folder in _FOLDERS_OF_DESCRIPTORS and number.isascii() and number.isdigit() and len(number) < 10
    return int(number) if is_number else _STANDARD.get(name)
