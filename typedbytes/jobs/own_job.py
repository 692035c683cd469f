"""Refuse to start a job from a task of the same script: else each task would start the job again.

Here: what a task of a script is known by. Not here: starting processes. On this machine a variable names the
scripts that a process is a task of; on a node of a cluster, where nothing of ours starts it, the words of its
command are those of a task.
"""

from __future__ import annotations

import os
import sys

from typedbytes.jobs.errors import CommandError
from typedbytes.streaming.task_environment import REFUSAL_LINE, ROLE_QUERY, ROLES

__all__ = ["refuse_own_job", "variable_of"]

TASK_OF = "TYPEDBYTES_TASK_OF"  # a variable: the paths of the scripts that this process is a task of


def variable_of(script: str) -> dict[str, str]:
    """Return the variable for processes of a script's tasks, which run or say which roles it has."""
    return {TASK_OF: os.pathsep.join([*_scripts(), os.path.realpath(script)])}


def refuse_own_job(script: str) -> None:
    """Raise CommandError where a task of a script is to start the script's job."""
    path = os.path.realpath(script)
    main = getattr(sys.modules["__main__"], "__file__", None)
    has_role = (
        main is not None and os.path.realpath(main) == path and sys.argv[1:2] and sys.argv[1] in (*ROLES, "steps")
    )
    if not has_role and path not in _scripts():
        return
    command = " ".join([os.path.basename(path), *sys.argv[1:2]])
    message = (
        f"{script} starts its own job while it runs as a task of it ({command}): call streaming.run(...) for "
        "every role: with sys.argv[1] one of map, combine, reduce and steps; start the job only otherwise"
    )
    if ROLE_QUERY in os.environ:
        print(f"{REFUSAL_LINE}{message}", file=sys.stderr)
    raise CommandError(message)


def _scripts():
    return [path for path in os.environ.get(TASK_OF, "").split(os.pathsep) if path]
