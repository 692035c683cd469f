"""Whether an engine has started the script, as a task or to ask for its steps."""

from __future__ import annotations

import os

from typedbytes.streaming.task_environment import ROLE_QUERY, ROLES, Captured, Task

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["is_started_by_engine"]


def is_started_by_engine(argv: Sequence[str]) -> bool:
    """Return whether the first word after the script's name is the role of a task."""
    is_asked = ROLE_QUERY in os.environ or bool(Captured.wanted) or bool(Task(os.environ).job_id)
    return len(argv) > 1 and argv[1] in (*ROLES, "steps") and is_asked
