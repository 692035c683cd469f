"""The report of a task that has failed, on standard error: what it was, where, and what to do.

Here: the lines of the report and their order. Not here: which exit code an error has.
"""

from __future__ import annotations

import os

from typedbytes._base.exit_codes import BAD_DATA, FAILED, INTERNAL, INTERRUPTED, IO_ERROR
from typedbytes.streaming._reporter import write_failure, write_line
from typedbytes.streaming.task_environment import Task

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["fail_task"]

CAUSES = {
    FAILED: "user code failed",
    BAD_DATA: "bad input",
    INTERNAL: "internal error",
    IO_ERROR: "input or output failed",
    INTERRUPTED: "interrupted",
}


def fail_task(
    code: int, error: BaseException, details: Iterable[tuple[str, object]] = (), advice: str | None = None
) -> int:
    """Report an error and return the exit code of its task."""
    task = Task(os.environ)
    cause = f"{CAUSES[code]} (exit code {code})"
    origin = ("attempt", task.attempt_id), ("input file", task.input_file)
    named = [(name, text) for name, text in origin if text is not None]
    write_failure([("task failed", cause), *named, *details], error)
    if advice is not None:
        write_line(f"typedbytes: what to do: {advice}")
    return code
