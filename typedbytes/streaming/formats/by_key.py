"""The output of a job by key: a pair whose key is (folder, key) goes into a file of that folder, in the job's format.

Here: which file a pair is in, and the files. Not here: how a pair is written, and how files become part of the job's
output. Invariant: at most MAX_OPEN files are open; each has whole records of one folder; an attempt that fails leaves
none in the output.
"""

from __future__ import annotations

import os
import typing
from itertools import groupby
from operator import itemgetter

from typedbytes._base.locations import visible_names
from typedbytes._core import write_all
from typedbytes.streaming._reporter import counters
from typedbytes.streaming._sidefiles import side_files
from typedbytes.streaming.formats.record_io import COUNT_NBYTES, checked_pair

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

__all__ = ["ByKeyOutput"]

MAX_OPEN = 64  # files, each with a buffer
MAX_NAME_NBYTES = 255
SUFFIXES = {"pairs": ".tb", "parquet": ".parquet"}
SEPARATOR = "mapreduce_output_textoutputformat_separator"


class ByKeyOutput:
    """Write pairs into the files of their folders; options are those of PairWriter, for the pairs without folders.

    form: the format of the job's output.
    """

    def __init__(self, form: str, options: Mapping[str, Any], environ: Mapping[str, str]) -> None:
        self._form = form
        self._environ = environ
        self._options = dict(options)
        kind = self._options.pop("key_type", None)
        if typing.get_origin(kind) is tuple and len(typing.get_args(kind)) == 2:
            self._options["key_type"] = typing.get_args(kind)[1]
        self._outputs: dict[str, Any] = {}  # the open ones, by folder, that of the last pair at the end
        self._nfiles: dict[str, int] = {}  # made so far, by folder
        self._nclosed = 0  # records
        self._asked: set[str] = set()  # the folders of what was encoded or checked since the last pair was written

    @property
    def record(self) -> int:
        """The number of records written."""
        return self._nclosed + sum(output.record for output, _ in self._outputs.values())

    def writes(self, pairs: Iterable[Any]) -> None:
        """Write every pair of an iterable."""
        for folder, group in groupby(map(_folder_and_pair, pairs), itemgetter(0)):
            output = self._output_of(folder)
            self._close_oldest()
            output.writes(pair for _, pair in group)

    def encoded(self, pair: Any) -> Any:
        """Return a folder, and how its output writes the pair; no output is closed before write_encoded."""
        folder, inner = _folder_and_pair(pair)
        self._asked.add(folder)
        return folder, self._output_of(folder).encoded(inner)

    def check(self, key: Any, value: Any) -> None:
        """Raise the error that writing a pair would raise."""
        folder, inner = _folder_and_pair((key, value))
        self._asked.add(folder)
        self._output_of(folder).check(*inner)

    def write_encoded(self, records: Iterable[Any]) -> None:
        """Write pairs that were encoded before, folder by folder: each by the output that has encoded it."""
        by_folder: dict[str, list[Any]] = {}
        for folder, record in records:
            by_folder.setdefault(folder, []).append(record)
        for folder in self._asked.difference(by_folder) & self._outputs.keys():
            self._outputs[folder][0].write_encoded(())  # what was checked is to stay
        self._asked.clear()
        waiting = {folder: self._outputs.pop(folder) for folder in by_folder}
        self._close_oldest()
        for folder, group in by_folder.items():
            self._outputs[folder] = waiting[folder]
            self._close_oldest()
            waiting[folder][0].write_encoded(group)

    def drop_encoded(self) -> None:
        """Forget the pairs that were encoded or checked since the last were written."""
        for folder in self._asked & self._outputs.keys():
            self._outputs[folder][0].drop_encoded()
        self._asked.clear()
        self._close_oldest()

    def close(self) -> None:
        """Write the rest and close all files."""
        counters.add("typedbytes", "RecordsByKey", self.record)
        while self._outputs:
            self._close(next(iter(self._outputs)))

    def _output_of(self, folder):
        """Return the output of a folder, which has no file before something is written to it."""
        entry = self._outputs.pop(folder, None) or self._opened(folder)
        self._outputs[folder] = entry
        return entry[0]

    def _close_oldest(self):
        """Close the outputs that were used least recently if too many are open."""
        while len(self._outputs) > MAX_OPEN:
            self._close(next(iter(self._outputs)))

    def _opened(self, folder):
        from typedbytes.streaming.formats import output_of_form

        if folder not in self._nfiles:
            _check_folder(folder)
        file = _PartFile(folder, self._form, self._nfiles, self._environ)
        separator = self._environ.get(SEPARATOR) or "\t"
        return output_of_form(self._form, file, self._options, os.fsencode(separator)), file

    def _close(self, folder):
        output, file = self._outputs.pop(folder)
        output.close()
        file.close()
        self._nclosed += output.record


def _folder_and_pair(pair):
    """Return the folder of a pair, and the pair for it."""
    key, value = checked_pair(pair)
    if not isinstance(key, (tuple, list)) or len(key) != 2 or not isinstance(key[0], str):
        raise TypeError(
            "with an output by key, a key is a tuple of a folder, a str, and a key, "
            f"not {type(key).__name__} {key!r:.80}"
        )
    return key[0], (key[1], value)


def _check_folder(folder):
    """Raise ValueError for a folder outside the output, or one that readers of the output would leave out."""
    for name in folder.split("/"):
        nbytes = len(os.fsencode(name))
        is_left_out = name.startswith("part-") or name not in visible_names([name, "part-00000"])
        if not 0 < nbytes <= MAX_NAME_NBYTES or is_left_out or set(name) & set(":\0\n\r\\"):
            raise ValueError(
                f"{folder!r:.300} cannot be a folder of the output: its names, separated by /, have 1 to "
                f"{MAX_NAME_NBYTES} bytes, do not start with part-, _ or a dot, are not those of side files, such as "
                "log-m-00000, and have no colon, backslash or line end"
            )


class _PartFile:
    """A file of a folder, made when something is written to it."""

    def __init__(self, folder, form, nfiles, environ):
        self._folder, self._form = folder, form
        self._nfiles, self._environ = nfiles, environ
        self._file: Any = None
        self._sink: Any = None

    def write(self, data):
        try:
            if self._sink is None:
                number = self._nfiles[self._folder] = self._nfiles.get(self._folder, 0) + 1
                suffix = f"{f'-{number}' if number > 1 else ''}{SUFFIXES.get(self._form, '')}"
                self._file = self._sink = side_files.open_part(self._folder, suffix)
                if self._form == "sequencefile":
                    from typedbytes import sequencefile
                    from typedbytes.streaming.formats.splits import SequenceFileSink, compression_of

                    self._sink = SequenceFileSink(sequencefile.Writer(self._file, **compression_of(self._environ)))
            write_all(self._sink, data)
        except OSError as error:
            side_files.error = error
            raise
        return len(data)

    def close(self):
        """Write what is held, and close the file, if there is one."""
        if self._file is None:
            return
        try:
            if self._sink is not self._file:
                self._sink.close()
            if self._form == "parquet":  # without the number of rows, which is for a pipe
                self._file.truncate(self._file.tell() - COUNT_NBYTES)
            self._file.close()
        except OSError as error:
            side_files.error = error
            raise
