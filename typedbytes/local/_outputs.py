"""The output folder of a job: part files as Hadoop names them, all of them at once or none.

Here: formats of part files, and the folder beside the output in which everything grows until the job is done. Not here: tasks.
Always true: the output folder appears by one rename, with everything in it; an attempt's files come into it only when the attempt
has succeeded; what a failed job leaves is nothing, or what the user asked to keep.
"""

import os
import shutil
import tempfile

from typedbytes import PairReader, PairWriter, sequencefile
from typedbytes.local._errors import InputError, JobError, OutputError

__all__ = ["FORMATS", "Output"]

BUFFER_NBYTES = 1 << 18


class Output:
    """The place where a job works; a context manager that leaves the output or nothing."""

    def __init__(self, path, format_name, keep_failed=False, temporary=None):
        self.path = os.path.abspath(path)
        self._format_name = format_name
        self._keep_failed = keep_failed
        if os.path.lexists(self.path):
            raise OutputError(f"the output {path} is there already; name another, or remove it: a job replaces nothing")
        parent, name = os.path.split(self.path)
        if not os.path.isdir(parent):
            raise OutputError(f"there is no folder {parent} to put the output {name} in; make it first")
        if temporary is not None and not os.path.isdir(temporary):
            raise OutputError(f"there is no folder {temporary} for temporary files")
        self._work = self._spilled = None
        try:
            self._work = tempfile.mkdtemp(prefix=f".{name}-", dir=parent)
            self._spilled = tempfile.mkdtemp(prefix="typedbytes-", dir=temporary or self._work)
            self._done = self._folder("output")
        except BaseException as error:
            self._remove_folders()
            if isinstance(error, OSError):
                raise OutputError(f"no folder can be made in {os.path.dirname(error.filename)}: {error.strerror}; name another place") from None
            raise

    def _folder(self, *names):
        path = os.path.join(self._work, *names)
        os.makedirs(path)
        return path

    def attempt_folder(self, attempt):
        """Make the folder of an attempt; files that its task puts there become part of the output."""
        return self._folder("attempts", attempt)

    def keep_stdin(self):
        """Copy standard input into a file, which can be cut and read again, and return its path."""
        folder = os.path.join(self._work, "input")
        if os.path.lexists(folder):
            raise InputError("standard input is among the inputs twice, and can be read once")
        try:
            os.mkdir(folder)
            with open(os.path.join(folder, "stdin"), "wb") as file, open(0, "rb", closefd=False) as stdin:
                shutil.copyfileobj(stdin, file, BUFFER_NBYTES)
        except OSError as error:
            raise InputError(f"standard input cannot be copied into {folder}: {error.strerror}") from None
        return file.name

    def spill_folder(self, attempt):
        """Make the folder of an attempt's temporary files."""
        path = os.path.join(self._spilled, attempt)
        os.mkdir(path)
        return path

    def drop_attempt(self, attempt):
        """Remove both folders of an attempt that has failed, unless what failed is kept."""
        if not self._keep_failed:
            for folder in (os.path.join(self._work, "attempts", attempt), os.path.join(self._spilled, attempt)):
                shutil.rmtree(folder, ignore_errors=True)

    def write_part(self, number, folder, source=None):
        """Write the pairs of a source, a task's output, as a part file in an attempt's folder; return their number."""
        return _WRITERS[self._format_name](os.path.join(folder, f"part-{number:05}"), source)

    def commit_attempt(self, folder):
        """Move an attempt's files into the output."""
        for name in os.listdir(folder):
            target = os.path.join(self._done, name)
            if os.path.lexists(target):
                raise OutputError(f"two tasks made a file {name} in their output folders")
            os.rename(os.path.join(folder, name), target)
        os.rmdir(folder)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if kind is not None and self._keep_failed:
            if isinstance(error, JobError):
                error.kept = self._work
            return
        try:
            if kind is None:
                self._commit()
        finally:
            self._remove_folders()

    def _remove_folders(self):
        try:
            self._remove_all()
        except BaseException:    # a signal that comes now is not to leave them
            self._remove_all()
            raise

    def _remove_all(self):
        for folder in (self._spilled, self._work):
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)

    def _commit(self):
        try:
            with open(os.path.join(self._done, "_SUCCESS"), "wb"):
                pass
            os.rename(self._done, self.path)
        except OSError as error:
            raise OutputError(f"the output {self.path} cannot be put in place: {error.strerror}") from None


def _write_pairs(path, source):
    with open(f"{path}.tb", "wb", buffering=0) as file:
        return _copy(source, file)


def _write_sequence_file(path, source):
    with sequencefile.Writer(path) as writer:
        return _copy(source, _Records(writer))


def _copy(source, sink):
    if source is None:
        return 0
    with PairWriter(sink, buffer_size=BUFFER_NBYTES) as writer:
        return writer.copy(PairReader(source, buffer_size=BUFFER_NBYTES))


class _Records:
    """Take whole pairs as records of a SequenceFile."""

    def __init__(self, writer):
        self._writer = writer

    def write(self, data):
        """Write them."""
        self._writer.write_typed(data)


def _write_text(path, source):
    nlines = 0
    with open(path, "wb") as file:
        while source is not None and (data := source.read(BUFFER_NBYTES)):
            file.write(data)
            nlines += data.count(b"\n")
    return nlines


_WRITERS = {"sequencefile": _write_sequence_file, "pairs": _write_pairs, "text": _write_text}
FORMATS = tuple(_WRITERS)
