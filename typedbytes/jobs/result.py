"""The result of a job, whichever engine ran it."""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Result"]


@dataclass(frozen=True)
class Result:
    """The result of a job that has succeeded; of a job of several steps, the counters, tasks and seconds are totals.

    nmaps and nreducers are the numbers of its tasks, None where Hadoop does not say;
    job_id is Hadoop's, None elsewhere.
    """

    output: str
    counters: Mapping[str, Mapping[str, int]]  #: amounts by group and name
    nmaps: int | None = None
    nreducers: int | None = None
    seconds: float = 0.0
    steps: tuple[Result, ...] = ()  #: of a job of several steps: the result of each
    job_id: str | None = None
