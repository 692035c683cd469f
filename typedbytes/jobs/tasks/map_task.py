"""The data of one attempt of a map task: from a split to its mapper, then by the combiner to sorted runs.

Here: both ends of the mapper's pipes. Not here: processes. Invariant: what is combined is sorted again, so that a
combiner that writes other keys than it was given, or another order, spoils nothing.
"""

from __future__ import annotations

from dataclasses import replace

from typedbytes._base.locations import is_url, reason_of
from typedbytes._sorting import Sorter
from typedbytes.errors import DecodeError
from typedbytes.jobs.tasks.input_kinds import CSV, FILE
from typedbytes.jobs.tasks.inputs import open_split
from typedbytes.jobs.tasks.processes import TaskError
from typedbytes.jobs.tasks.sinks import ProgressSink

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from typedbytes._sorting.external import Spills
    from typedbytes.jobs.tasks.inputs import Split

__all__ = ["MapTask", "feed_split"]

GIVE_FORMAT = "give its format with --input-format, in Python with input_format="


def feed_split(split: Split, sink: Any, report_progress: Callable[[int], object]) -> int:
    """Write the pairs of a split to a sink, call report_progress(position) on the way, and return their number.

    Raises TaskError for input that is invalid or cannot be read.
    """
    if split.others:
        return _feed_all([replace(split, others=()), *split.others], sink, report_progress)
    try:
        with open_split(split) as reader:
            reader.copy_to(ProgressSink(sink, lambda nbytes: report_progress(reader.position)))
            return reader.record
    except BrokenPipeError:
        raise
    except DecodeError as error:
        advice = f"typedbytes validate --pairs --repair GOOD {split.path} copies what is intact"
        if not error.record:  # not even the first record is valid
            advice = f"it was read as {split.kind}: {GIVE_FORMAT}, or if that is right, {advice}"
        if split.kind in (CSV, FILE):
            advice = f"correct it, or {GIVE_FORMAT}"
        error.filename = None  # the report of a task names its input
        raise TaskError(f"bad input: {error}; {advice}", final=True) from None
    except ModuleNotFoundError as error:
        raise TaskError(f"the input cannot be read: {error}", final=True) from None
    except (OSError, EOFError) as error:
        reason = reason_of(error) if is_url(split.path) else error
        raise TaskError(f"reading the input failed: {reason}") from None
    except Exception as error:
        if not is_url(split.path):
            raise
        raise TaskError(f"reading the input failed: {reason_of(error)}") from None


def _feed_all(splits, sink, report_progress):
    nrecords = nbytes = 0
    for split in splits:
        try:
            nrecords += feed_split(split, sink, _report_after(nbytes, report_progress))
        except TaskError as error:
            raise TaskError(f"{split.path}: {error}", error.final) from None
        nbytes += split.length
    return nrecords


def _report_after(nbytes, report_progress):
    return lambda position: report_progress(nbytes + position)


class MapTask:
    """Collect a mapper's output; `runs` are its sorted runs, each with a Segment for every partition.

    partitioning: options of a Sorter. combine(feed, collect): runs the combiner as Processes.run runs a process,
    None for a job without one.
    """

    def __init__(
        self, spills: Spills, partitioning: Mapping[str, Any], memory: int, combine: Callable[..., int] | None
    ) -> None:
        self._spills = spills
        self._partitioning = partitioning
        self._memory = memory
        self._combine: Any = combine
        self.runs: list[Any] = []
        self.counted: dict[str, int] = {"SPILLED_RECORDS": 0}
        if combine is not None:
            self.counted.update(COMBINE_INPUT_RECORDS=0, COMBINE_OUTPUT_RECORDS=0)

    def collect(self, source: Any) -> int:
        """Read all pairs of the mapper and return their number."""
        if self._combine is None:
            return self._spill_all(source, self._memory)
        nrecords = 0
        sorter = Sorter(**self._partitioning, memory=self._memory * 2 // 3)
        more = True
        while more:
            more = sorter.fill(source)
            nrecords += self._run_combiner(sorter)
        return nrecords

    def _spill_all(self, source, memory):
        sorter = Sorter(**self._partitioning, memory=memory)
        nrecords = 0
        more = True
        while more:
            more = sorter.fill(source)
            run = self._spills.add(sorter)
            self.runs.append(run)
            nrecords += sum(segment.nrecords for segment in run)
        self.counted["SPILLED_RECORDS"] += nrecords
        return nrecords

    def _run_combiner(self, sorter):
        counts = sorter.sort()

        def feed(sink):
            for partition, count in enumerate(counts):
                if count:
                    sorter.write(partition, sink)

        if sum(counts):
            try:
                combined = self._combine(feed, lambda source: self._spill_all(source, self._memory // 3))
            except TaskError as error:
                raise TaskError(f"its combiner failed: {error}", error.final) from None
            self.counted["COMBINE_INPUT_RECORDS"] += sum(counts)
            self.counted["COMBINE_OUTPUT_RECORDS"] += combined
        sorter.clear()
        return sum(counts)
