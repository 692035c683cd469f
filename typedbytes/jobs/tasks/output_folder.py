"""The output folder of a job: part files as Hadoop names them, all of them at once or none.

Here: formats of part files, and the folder beside the output in which everything grows until the job is done. Not
here: tasks. Invariant: the output folder appears by one rename, with everything in it, on the disk; only attempts
that have succeeded have files in it; a failed job leaves nothing, or what the user asked to keep. Attempts that fail
are removed here, finished steps in steps.py, and the caretaker removes what is left, however the job ends.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from typedbytes import PairReader, PairWriter, sequencefile
from typedbytes._base.atomic import name_folder, sync, sync_contents
from typedbytes._base.compression import compressor
from typedbytes._base.locations import MARK, PART_PREFIX, is_hidden
from typedbytes.errors import TruncatedError
from typedbytes.jobs.errors import InputError, JobError, OutputError, unwritten
from typedbytes.jobs.hadoop_properties import TEXT_CODECS
from typedbytes.jobs.job import LINES
from typedbytes.jobs.messages import option_named
from typedbytes.jobs.paths import absolute
from typedbytes.streaming.formats.record_io import COUNT_NBYTES

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from typedbytes.jobs.job import Path
    from typedbytes.jobs.tasks.caretaker import Caretaker

__all__ = ["OutputFolder", "check_output", "write_part"]

BUFFER_NBYTES = 1 << 18
PARQUET = b"PAR1"  # at the end of a file
_KINDS = {"GzipCodec": "gzip", "BZip2Codec": "bzip2"}  # of codecs; those of the others are zlib's


def check_output(path: Path, overwrite: bool = False) -> str:
    """Return the absolute path of an output; raise OutputError where none can appear.

    overwrite: over that of an earlier job.
    """
    if not os.fspath(path):
        raise OutputError("the output is an empty path")
    if os.fspath(path) == "-":
        raise OutputError("the output is a folder, not standard output: give its path, ./- for one of this name")
    absolute_path = absolute(path)
    parent, name = os.path.split(absolute_path)
    if os.path.lexists(absolute_path):
        if not overwrite:
            hint = "give another path, or " + option_named("overwrite", True) + " to replace it"
            raise OutputError(f"the output {path} already exists", hint=hint)
        if os.path.islink(path) or not os.path.exists(os.path.join(absolute_path, MARK)):
            raise OutputError(
                f"{path} is not the output of a job that has succeeded, and is not overwritten: remove it"
            )
    if not os.path.isdir(parent):
        raise OutputError(f"there is no folder {parent} for the output {name}; create it first")
    return absolute_path


class OutputFolder:
    """The working folder of a job; a context manager that leaves the complete output or nothing.

    attempts: the parent of the attempts' folders.
    """

    def __init__(
        self,
        path: Path,
        caretaker: Caretaker,
        keep_failed: bool = False,
        temporary: Path | None = None,
        overwrite: bool = False,
    ) -> None:
        self.path: str = check_output(path, overwrite)
        self._overwrite = overwrite
        self._keep_failed = keep_failed
        parent, name = os.path.split(self.path)
        if temporary is not None and not os.path.isdir(temporary):
            raise OutputError(f"there is no folder {temporary} for temporary files")
        token = os.urandom(8).hex()
        self._work = os.path.join(parent, f".{name[:50]}-{token}")
        self._spilled = os.path.join(
            absolute(temporary) if temporary is not None else self._work, f"typedbytes-{token}"
        )
        self._done = os.path.join(self._work, "output")
        self.attempts: str = os.path.join(self._work, "attempts")
        self._emptied: list[str] = []  # folders of attempts, for the next ones
        self._caretaker = caretaker
        self._add_to_caretaker()
        try:
            for folder, mode in (
                (self._work, 0o700),
                (self._spilled, 0o700),
                (self._done, 0o777),
                (self.attempts, 0o777),
            ):
                os.mkdir(folder, mode)
        except OSError as error:
            message = f"no folder can be made in {os.path.dirname(error.filename)}: {error.strerror}"
            raise unwritten(OutputError, message, error, "choose another path") from error

    def _add_to_caretaker(self):
        for folder in (self._spilled, self._work):
            self._caretaker.add(folder)

    def attempt_folder(self, attempt: str) -> str:
        """Make the folder of an attempt; files that its task puts there become part of the output."""
        path = os.path.join(self.attempts, attempt)
        try:
            # Making a folder takes ext4 the longer, the more were removed in the last seconds.
            os.rename(self._emptied.pop(), path)
        except IndexError:
            os.mkdir(path)  # not its parents: those of a job that was stopped must not appear again
        return path

    def keep_stdin(self) -> str:
        """Copy standard input into a file, which can be split and read again, and return its path."""
        folder = os.path.join(self._work, "input")
        if os.path.lexists(folder):
            raise InputError("standard input is given twice among the inputs, but can be read only once")
        try:
            os.mkdir(folder)
            with open(os.path.join(folder, "stdin"), "wb") as file, open(0, "rb", closefd=False) as stdin:
                shutil.copyfileobj(stdin, file, BUFFER_NBYTES)
        except OSError as error:
            raise unwritten(
                InputError, f"standard input cannot be copied into {folder}: {error.strerror}", error
            ) from error
        return file.name

    def keep_records(self, pairs: Iterable[Any]) -> str:
        """Write pairs into a file, to be read several times, and return its path; InputError if one is no pair."""
        path = os.path.join(self._work, "records.tb")
        try:
            with open(path, "wb", buffering=0) as file, PairWriter(file, buffer_size=BUFFER_NBYTES) as writer:
                writer.writes(pairs)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"inputs are paths, or tuples of a key and a value that typed bytes can hold: {error}"
            ) from error
        return path

    def spill_prefix(self, attempt: str) -> str:
        """Return what the paths of an attempt's temporary files begin with."""
        return os.path.join(self._spilled, f"{attempt}-")

    def drop_attempt(self, attempt: str) -> None:
        """Remove the folder and the temporary files of an attempt that has failed, unless failed attempts are kept."""
        if self._keep_failed:
            return
        shutil.rmtree(os.path.join(self.attempts, attempt), ignore_errors=True)
        with suppress(OSError):  # they are removed with all others later
            for name in os.listdir(self._spilled):
                if name.startswith(f"{attempt}-"):
                    os.unlink(os.path.join(self._spilled, name))

    def settle_attempt(self, folder: str) -> None:
        """Sync an attempt's files to the disk; attempts may do this at the same time."""
        sync_contents(folder)

    def commit_attempt(self, folder: str) -> None:
        """Move an attempt's files into the output; the folder is empty then and may serve another attempt."""
        self._merge(folder, self._done)
        self._emptied.append(folder)

    def _merge(self, folder, done):
        for name in os.listdir(folder):
            path, target = os.path.join(folder, name), os.path.join(done, name)
            if all(os.path.isdir(each) and not os.path.islink(each) for each in (path, target)):
                self._merge(path, target)
                os.rmdir(path)
                continue
            if os.path.lexists(target):
                raise OutputError(f"two tasks made a file {name} in their output folders")
            os.rename(path, target)

    def take_from(self, folder: str) -> None:
        """Move what the tasks of an earlier step wrote beside their part files into the output."""
        for name in os.listdir(folder):
            if is_hidden(name) or name.startswith(PART_PREFIX):
                continue
            target = os.path.join(self._done, name)
            if os.path.lexists(target):
                raise OutputError(f"two steps made a file {name} in their output folders")
            try:
                os.rename(os.path.join(folder, name), target)
            except OSError as error:
                raise OutputError(
                    f"the file {name} of a step cannot be moved into the output: {error.strerror}"
                ) from None

    def __enter__(self) -> OutputFolder:
        if self._keep_failed:
            for folder in (self._spilled, self._work):
                self._caretaker.forget(folder)
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        try:
            if kind is None:
                self._commit()
                self._add_to_caretaker()
        except JobError as uncommitted:
            self._note_kept_folder(uncommitted)
            raise
        self._note_kept_folder(error)

    def _note_kept_folder(self, error):
        if self._keep_failed and isinstance(error, JobError):
            error.kept = self._work

    def _commit(self):
        try:
            with open(os.path.join(self._done, MARK), "wb") as file:
                pass
            sync(file.name)
            if self._overwrite and os.path.lexists(self.path):
                self._replace()
            else:
                name_folder(self._done, self.path)
        except OSError as error:
            raise unwritten(
                OutputError, f"the output {self.path} cannot be created: {error.strerror}", error
            ) from error

    def _replace(self):
        """Give the output its name in the place of an earlier one, which comes back if that fails."""
        check_output(self.path, overwrite=True)  # another may stand there by now
        earlier = f"{self._work}-replaced"
        os.rename(self.path, earlier)
        try:
            name_folder(self._done, self.path)
        except BaseException:
            os.rename(earlier, self.path)
            raise
        shutil.rmtree(earlier, ignore_errors=True)


def write_part(folder: str, number: int, format_name: str, options: Mapping[str, Any], source: Any = None) -> int:
    """Write the pairs of a source, a task's output, as a part file into an attempt's folder; return their number.

    options: see hadoop_properties.
    """
    return _WRITERS[format_name](os.path.join(folder, f"{PART_PREFIX}{number:05}"), source, **options)


def _write_pairs(path, source):
    with open(f"{path}.tb", "wb", buffering=0) as file:
        return _copy(source, file)


def _write_sequence_file(path, source, **compression):
    from typedbytes.streaming.formats.splits import SequenceFileSink

    with sequencefile.Writer(path, **compression) as writer:
        return _copy(source, SequenceFileSink(writer))


def _copy(source, sink):
    if source is None:
        return 0
    with PairWriter(sink, buffer_size=BUFFER_NBYTES) as writer:
        return writer.copy(PairReader(source, buffer_size=BUFFER_NBYTES))


def _write_text(path, source, separator=b"\t", codec=None):
    nlines, end = 0, b"\n"
    separated = _Separated(separator)
    packer = None if codec is None else compressor(_KINDS.get(codec, "deflate"))
    with open(path + TEXT_CODECS.get(codec, ""), "wb") as file:
        while source is not None and (data := source.read(BUFFER_NBYTES)):
            nlines += data.count(b"\n")
            end = data[-1:]
            data = data if separator == b"\t" else separated.next(data)
            file.write(data if packer is None else packer.compress(data))
        if end != b"\n":  # a last line without its LF, which Hadoop adds
            nlines += 1
            file.write(b"\n" if packer is None else packer.compress(b"\n"))
        if packer is not None:
            file.write(packer.flush())
    return nlines


def _write_csv(path, source, codec=None):
    rows = _Rows(source)
    _write_text(path, None if source is None else rows, codec=codec)
    return max(rows.nlines - 1, 0)


class _Rows:
    """A source of CSV as tasks write it, which counts the lines that end outside quotation marks."""

    def __init__(self, source):
        self._source = source
        self._is_quoted = False
        self.nlines = 0  # the names of the columns among them

    def read(self, nbytes):
        data = self._source.read(nbytes)
        for number, piece in enumerate(data.split(b'"')):
            self._is_quoted ^= number > 0
            self.nlines += 0 if self._is_quoted else piece.count(b"\n")
        return data


def _write_parquet(path, source):
    """Write the file that a task has made, which the number of its rows follows; no file for a task without rows."""
    name = f"{path}.parquet"
    with open(name, "w+b") as file:
        while source is not None and (data := source.read(BUFFER_NBYTES)):
            file.write(data)
        nbytes = file.tell() - COUNT_NBYTES
        file.seek(max(nbytes - len(PARQUET), 0))
        end = file.read()
        if end and not (nbytes > 0 and end.startswith(PARQUET)):
            raise TruncatedError("expected the end of a Parquet file and the number of its rows", nbytes + COUNT_NBYTES)
        file.truncate(max(nbytes, 0))
    if not end:
        os.unlink(name)
    return int.from_bytes(end[len(PARQUET) :], "big")


class _Separated:
    """Replace the first TAB of each line, after the key, by another separator."""

    def __init__(self, separator):
        self._separator = separator
        self._is_in_value = False  # the last line so far goes on after its first TAB

    def next(self, data):
        """Return the next bytes with other separators."""
        *lines, last = data.split(b"\n")
        changed = []
        for line in lines:
            changed.append(line if self._is_in_value else line.replace(b"\t", self._separator, 1))
            self._is_in_value = False
        changed.append(last if self._is_in_value else last.replace(b"\t", self._separator, 1))
        self._is_in_value = self._is_in_value or b"\t" in last
        return b"\n".join(changed)


_WRITERS: dict[str, Any] = {
    "sequencefile": _write_sequence_file, "pairs": _write_pairs, "text": _write_text,
    **dict.fromkeys(LINES, _write_text), "csv": _write_csv, "parquet": _write_parquet,
}  # fmt: skip
