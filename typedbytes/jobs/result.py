"""The result of a job, whichever engine ran it."""

from __future__ import annotations

from dataclasses import dataclass

from typedbytes.jobs.counters import numbers_of_tasks

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Result"]


@dataclass(frozen=True)
class Result:
    """The result of a job that has succeeded; of a job of several steps, the counters, tasks and seconds are totals.

    nmaps and nreducers are the numbers of its tasks, None where Hadoop does not say;
    job_id is Hadoop's, None elsewhere. A notebook shows it as a table.

    >>> Result("out", {"Map-Reduce Framework": {"Map input records": 3, "Map output records": 2}}).records_in
    3
    """

    output: str
    counters: Mapping[str, Mapping[str, int]]  #: amounts by group and name
    nmaps: int | None = None
    nreducers: int | None = None
    seconds: float = 0.0
    steps: tuple[Result, ...] = ()  #: of a job of several steps: the result of each
    job_id: str | None = None

    @property
    def task_counters(self) -> dict[str, int]:
        """Hadoop's counters of all tasks, by the names MAP_INPUT_RECORDS, COMBINE_OUTPUT_RECORDS and so on."""
        return numbers_of_tasks(self.counters)

    @property
    def records_in(self) -> int:
        """How many records the mapper of the first step has read."""
        return (self.steps[0] if self.steps else self).task_counters.get("MAP_INPUT_RECORDS", 0)

    @property
    def records_out(self) -> int:
        """How many records the output has."""
        last = self.steps[-1] if self.steps else self
        by_key = last.counters.get("typedbytes", {}).get("RecordsByKey", 0)
        return by_key or last.task_counters.get("REDUCE_OUTPUT_RECORDS" if last.nreducers else "MAP_OUTPUT_RECORDS", 0)

    @property
    def bad_records(self) -> int:
        """How many records were left out, as max_bad allows."""
        return self.counters.get("typedbytes", {}).get("BadRecords", 0)

    def _repr_html_(self) -> str:
        from typedbytes.jobs.report import table_of

        return table_of(self)
