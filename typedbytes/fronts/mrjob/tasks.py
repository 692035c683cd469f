"""The tasks of a job: each role as a function of lines, and the Steps that engines run.

Between map and reduce a line has its key, as the protocol writes it, in a form that sorts by its bytes; on Hadoop the
tasks exchange text, as mrjob's do, so that partitioners, comparators and formats of the job see what they expect.
Invariant: lines reach a reducer, and the output, in the order in which mrjob's own runners sort them.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import partial
from operator import itemgetter

from typedbytes import streaming
from typedbytes.fronts.mrjob.step import MRStep
from typedbytes.fronts.refusals import NotAPair, NotSupported
from typedbytes.sortkey import encode
from typedbytes.streaming.commands import lines_through
from typedbytes.streaming.task_environment import NAMES, find_format, find_output, has_text_keys, is_last

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, NoReturn

    from typedbytes.fronts.mrjob.job import MRJob

__all__ = ["properties_of", "run_task", "steps_of"]

TAB = b"\t"
#: What mrjob decompresses for mapper_raw, by the ends of names.
COMPRESSIONS = {".gz": "gzip", ".bz2": "bzip2"}


def run_task(kind: type[MRJob], argv: Sequence[str]) -> NoReturn:
    """Run the task of a role, the first word after the script's name."""
    streaming.run(steps=steps_of(kind, list(argv[2:])), argv=[argv[0], argv[1]])


def steps_of(kind: type[MRJob], words: Sequence[str], job: MRJob | None = None) -> list[streaming.Step]:
    """Return the Steps of a job; words: its options that tasks get.

    job: given in the process of the user (-r inline), where files have their paths, and are read as they are.
    """
    is_inline, job = job is not None, job or kind(list(words))
    return [_step_of(kind, list(words), job, number, step, is_inline) for number, step in enumerate(job.steps())]


def _step_of(kind, words, job, number, step, is_inline):
    if not isinstance(step, MRStep):
        raise NotSupported(f"step {number + 1} is a {type(step).__name__}: only steps of Python run here")
    roles = [role for role, name in NAMES.items() if role == "map" or step.has(name)]
    if "combine" in roles and "reduce" not in roles:
        raise NotSupported(f"step {number + 1} has a combiner and no reducer")
    functions = {role: _RoleCode(kind, words, role, number, "reduce" in roles, is_inline) for role in roles}
    sorts_values = bool(job.sort_values()) and "reduce" in roles and not _is_text()
    return streaming.Step(
        functions["map"], functions.get("reduce"), functions.get("combine"),
        properties=properties_of(step["jobconf"] or {}), raw_text=True,
        group_by=itemgetter(0) if sorts_values else None,
    )  # fmt: skip


def properties_of(jobconf: Mapping[str, Any]) -> dict[str, str]:
    """Return properties as Java writes them; None is left out."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in jobconf.items()
        if value is not None
    }


def _is_text():
    """Return whether the tasks exchange text: on Hadoop. The output of a map task may be that of the job."""
    return os.environ.get("stream_reduce_input", "").lower() == "text"  # noqa: SIM112, the name is Hadoop's


class _RoleCode:
    """The code of a role: called once with all records, it makes lines of them and pairs of the lines it gets back."""

    def __init__(
        self, kind: type[MRJob], words: list[str], role: str, number: int, has_reducer: bool, is_inline: bool
    ) -> None:
        self._kind, self._words, self._role, self._number, self._has_reducer = kind, words, role, number, has_reducer
        self._is_inline = is_inline
        if role == "map":
            self.map = self._process
        else:
            self.reduce = self._process

    def _process(self, records: Iterator[Any]) -> Iterator[Any]:
        name = NAMES[self._role]
        job = self._kind([f"--{name}", f"--step-num={self._number}", *self._words])
        is_text = _is_text()
        writes = self._writes(job, is_text)
        step = job.steps()[self._number]
        lines = self._lines(records, is_text)
        if step["mapper_raw"] and self._role == "map":
            paths = (line.rpartition(TAB)[2].decode() for line in lines)
            files = _copied(paths, os.environ) if is_text else _existing(paths, self._is_inline)
            return writes(_written(job, self._number, name, files))
        return writes(_lines_of_role(job, step, self._number, name, lines))

    def _writes(self, job, is_text):
        """Return the function that makes pairs of the lines that the task writes, in its environment."""
        if self._role == "combine" or (self._has_reducer and not is_last(self._role, os.environ)):
            return _text_pairs if is_text else _pairs_by_value if job.sort_values() else _sorted_pairs
        form = find_output(os.environ) or find_format(self._role, "output", os.environ)
        if form == "text":  # or a format of Hadoop's, which gets pairs of texts
            return _text_pairs
        return _last_pairs if form == "values" or self._is_between(job) else partial(map, job.output_protocol().read)

    def _is_between(self, job):
        """Return whether a later step reads what the task writes."""
        return self._number < len(job.steps()) - 1

    def _lines(self, records, is_text):
        """Yield the lines of records."""
        if self._role != "map":
            if is_text:
                return (_joined(key, value) for key, values in records for value in values)
            return (line for _, lines in records for line in lines)
        if find_format("map", "input", os.environ) == "text" and has_text_keys("map", os.environ):
            return (_joined(key, value) for key, value in records)
        return (value if isinstance(value, bytes) else str(value).encode() for _, value in records)


def _existing(paths: Iterable[str], is_inline: bool) -> Iterator[tuple[str, str]]:
    """Yield the path of each file of this machine, or that of a decompressed copy, and its path, which is its URI too.

    mrjob's runner inline decompresses nothing: is_inline.
    """
    for path in paths:
        if not os.path.exists(path):
            raise FileNotFoundError(
                f"mapper_raw needs the name of a file on each line, not {path!r:.80}: "
                "start the script by python -m typedbytes.fronts, which hands it the names of its inputs"
            )
        with tempfile.TemporaryDirectory() as folder:
            yield (path if is_inline else _decompressed(path, folder)), path


def _copied(paths: Iterable[str], environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield for each path on Hadoop's file system that of a decompressed copy, and its URL."""
    from typedbytes.fronts.file_systems import HadoopFileSystem

    for path in paths:
        url = path if ":" in path else os.path.join(environ["mapreduce_job_working_dir"], path)
        with tempfile.TemporaryDirectory(dir=".") as folder:
            copy = os.path.join(folder, os.path.basename(path))
            HadoopFileSystem().get(url, copy)
            yield _decompressed(copy, folder), url


def _decompressed(path, folder):
    """Return the path of a file's contents: its own, or that of a copy in a folder if its name is of a compression."""
    from typedbytes._base.compression import decompressed_as

    base, suffix = os.path.splitext(os.path.basename(path))
    if suffix not in COMPRESSIONS:
        return path
    copy = os.path.join(folder, base)
    with open(path, "rb") as source, open(copy, "wb") as file:
        shutil.copyfileobj(decompressed_as(source, COMPRESSIONS[suffix]), file)
    return copy


def _lines_of_role(job, step, number, name, lines):
    """Return the lines that a role makes of lines."""
    command, pre_filter = step.command(name), step.pre_filter(name)
    if command:
        return lines_through(command, lines)
    if name == "mapper" and "mapper" not in step.description(number):
        return lines
    if pre_filter:
        lines = lines_through(pre_filter, lines, is_filter=True)
    read, _ = job.pick_protocols(number, name)
    return _written(job, number, name, map(read, lines))


def _written(job, number, name, pairs):
    """Yield the lines of the pairs that a role makes of pairs."""
    _, write = job.pick_protocols(number, name)
    function = {"mapper": job.map_pairs, "combiner": job.combine_pairs, "reducer": job.reduce_pairs}[name]
    made = function(pairs, number)
    for pair in made:
        try:
            key, value = pair
        except (TypeError, ValueError):
            raise NotAPair(
                f"the {name} yielded {pair!r:.80}{_line_of(made)}: a pair of a key and a value is expected"
            ) from None
        line = write(key, value)
        if b"\n" in line:  # a reader would take it for several lines
            yield from line.split(b"\n")
        else:
            yield line


def _line_of(generator):
    """Return where a generator is, or the one whose items it yields, as " (job.py, line 7)"."""
    while getattr(generator, "gi_yieldfrom", None) is not None:
        generator = generator.gi_yieldfrom
    frame = getattr(generator, "gi_frame", None)
    return "" if frame is None else f" ({os.path.basename(frame.f_code.co_filename)}, line {frame.f_lineno})"


def _joined(key, value):
    return key + TAB + value if value else key


def _sorted_pairs(lines: Iterable[bytes]) -> Iterator[tuple[Any, bytes]]:
    for line in lines:
        yield encode(line.partition(TAB)[0]), line


def _pairs_by_value(lines: Iterable[bytes]) -> Iterator[tuple[Any, bytes]]:
    """Yield pairs whose keys have the values in them, so that they are sorted too."""
    for line in lines:
        key, _, value = line.partition(TAB)
        yield (encode(key), encode(value)), line


def _text_pairs(lines: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    for line in lines:
        key, _, value = line.partition(TAB)
        yield key, value


def _last_pairs(lines: Iterable[bytes]) -> Iterator[tuple[Any, bytes]]:
    """Yield pairs of nothing and a line: the output of a step has lines alone."""
    for line in lines:
        yield None, line
