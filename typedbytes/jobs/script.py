"""Which roles and steps a job's script has: the one answer for every engine.

A script is asked by starting it without input, with a variable that says so. An engine of this machine always asks. For
a cluster the source is read, and the script is asked only what the source leaves open: it may not run on this machine.

Here: words to start a script, its answers, and options of a job that its script lacks a role for. Not here: processes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import typedbytes
from typedbytes._base.exit_codes import OK, TERMINATED, USAGE
from typedbytes.jobs.environment import inherited_variables
from typedbytes.jobs.errors import CommandError, JobError
from typedbytes.jobs.fronts import FRONTS
from typedbytes.jobs.messages import option_named
from typedbytes.jobs.paths import absolute
from typedbytes.jobs.properties import variables_of
from typedbytes.jobs.signals import name_of
from typedbytes.jobs.source import Source, parsed
from typedbytes.streaming.task_environment import COMBINER_ALONE, REFUSAL_LINE, ROLE_QUERY, ROLES, STEP_LINE

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from typedbytes.jobs.job import Commands, Job
    from typedbytes.jobs.tasks.processes import Processes

__all__ = [
    "FUNCTION_START", "NO_SCRIPT", "StepRoles", "check_mappers", "check_steps", "commands_of", "end_nested_job",
    "ends_in_run", "find_steps_by_asking", "find_steps_by_reading", "launcher", "refuse_own_job", "steps_in",
    "variable_of",
]  # fmt: skip

ASK_SECONDS = 60
TASK_OF = "TYPEDBYTES_TASK_OF"  # a variable: the paths of the scripts that this process is a task of
FUNCTION_START = [sys.executable, "-m", "typedbytes.jobs.function_task"]  # the first words of a function's command
NO_SCRIPT = "there is no script {}: give the file that ends with streaming.run(...)"


def find_steps_by_asking(job: Job, processes: Processes) -> list[StepRoles]:
    """Return the roles of each step of a job whose script is started here.

    Raises CommandError, also as check_steps does.
    """
    start = _start_of(job)
    try:
        with open(job.script, "rb") as file:
            source = file.read()
    except OSError as error:
        raise CommandError(f"the script {job.script} cannot be read: {error.strerror}") from None
    is_asked = b"steps" in source or b"params=" in source or job.front  # else it has neither steps nor parameters
    steps = _answered_steps(job, start, processes) if is_asked else []
    if not steps:
        wants_reducer = job.asked_reducers[0] != 0
        asked = [
            role
            for role, is_wanted in (("combine", wants_reducer and job.combiner is not False), ("reduce", wants_reducer))
            if is_wanted
        ]
        # the first answer of a script of ours is about all roles
        groups = [asked[-1:], asked[:-1]] if b"typedbytes" in source else [asked]
        steps = _answered_roles(job, start, groups, processes)
    check_steps(job, steps)
    return steps


def find_steps_by_reading(job: Job, say: Callable[[str], object]) -> list[StepRoles]:
    """Return the same for a script that runs on other machines.

    Where it cannot be asked, it is taken to have a reducer, and say() says so.
    """
    source, processes = Source(job.script), _QueryProcesses()
    start, steps = [sys.executable, *launcher(job), job.script], []
    if source.has_steps or source.has_params or source.is_front or job.front:
        steps = _answered_steps(job, start, processes, "it must run here too, to say what its steps and parameters are")
    if not steps:
        roles = dict(source.roles)
        unsaid = [role for role, has in roles.items() if has is None]
        if unsaid and source.calls_run:
            try:
                (answered, *more) = _answered_roles(job, start, [unsaid], processes)
                steps = [answered, *more] if more else []
                roles.update({role: role in answered for role in unsaid})
            except JobError as error:
                say(f"{error}: it is taken to have a reducer")
        if roles["combine"] and roles["reduce"] is False:
            raise CommandError(f"{job.script}: {COMBINER_ALONE}")
        assumed = {"combine": bool(job.combiner), "reduce": True}
        role_names = (role for role, has in roles.items() if has or (has is None and assumed[role]))
        steps = steps or [StepRoles([*([] if source.has_mapper is False else ["map"]), *role_names])]
    check_steps(job, steps)
    return steps


def commands_of(job: Job, steps: list[StepRoles], start: list[str] | None = None) -> list[Commands]:
    """Return the command of each role for each step, None for a role that the step or the job does without.

    start: the words before the role, by default those that start the script.
    """
    start = _start_of(job) if start is None else start
    wants_reducer = job.asked_reducers[0] != 0
    wanted = {"map": True, "combine": wants_reducer and job.combiner is not False, "reduce": wants_reducer}
    return [
        {
            role: [*start, role, *job.arguments] if is_wanted and role in roles else None
            for role, is_wanted in wanted.items()
        }
        for roles in steps
    ]


def check_steps(job: Job, steps: list[StepRoles]) -> None:
    """Raise CommandError for a step without a mapper, or an option of the job that its script lacks a role for."""
    check_mappers(steps)
    reducers, option = job.asked_reducers
    if len(steps) > 1 and reducers == 0:
        raise CommandError(f"{job.script} has {len(steps)} steps, which need their reducers: leave out " + option)
    if reducers and not any("reduce" in roles for roles in steps):
        raise CommandError(f"{job.script} has no reducer: give streaming.run(...) one, or leave out " + option)
    if job.combiner and not any("combine" in roles for roles in steps):
        raise CommandError(
            f"{job.script} has no combiner: give streaming.run(...) one, or run the job with "
            + option_named("combiner", False)
        )


def check_mappers(steps: list[StepRoles]) -> None:
    """Raise CommandError for a step without a mapper."""
    for number, roles in enumerate(steps, 1):
        if "map" not in roles:
            raise CommandError(
                f"step {number} of {len(steps)} has no mapper: typedbytes.streaming.lib.identitymapper passes pairs on"
            )


class StepRoles(list[str]):
    """The roles of a step, and its settings, as its Step has them."""

    def __init__(self, roles: Iterable[str], settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(roles)
        self.settings: Mapping[str, Any] = settings or {}

    @classmethod
    def parse(cls, text: str) -> StepRoles:
        """Return what a line says after its prefix: the roles, and settings as JSON if there are some."""
        roles, brace, rest = text.partition("{")
        return cls(roles.split(), json.loads(brace + rest) if brace else None)


def steps_in(lines: list[str]) -> list[StepRoles]:
    """Return the roles of each step of a job, from the lines that its script wrote to standard error when it was asked.

    >>> steps_in(["loading", "typedbytes: step: map combine reduce", "typedbytes: step: map"])
    [['map', 'combine', 'reduce'], ['map']]
    """
    return [StepRoles.parse(line[len(STEP_LINE) :]) for line in lines if line.startswith(STEP_LINE)]


def launcher(job: Job) -> list[str]:
    """Return the words between Python and a script: those that put the names of its library where it imports them."""
    return ["-m", "typedbytes.fronts"] if job.front else []


def ends_in_run(job: Job, command: Sequence[str]) -> bool:
    """Return whether a command of a job is Python code that calls streaming.run(), and no other program."""
    if [*command[:3]] == FUNCTION_START:
        return True
    if not job.script or command[0] != sys.executable or absolute(job.script) not in command:
        return False
    return bool(job.front) or _calls_run(job.script)


def _calls_run(script):
    try:
        source = Source(script)
    except CommandError:
        return False
    return source.calls_run or source.is_front


def _start_of(job):
    script = job.script
    if not os.path.isfile(script):
        raise CommandError(NO_SCRIPT.format(script))
    path = absolute(script)
    if os.access(script, os.X_OK) and not script.endswith(".py") and not job.front:
        return [path]
    if getattr(sys, "frozen", False):  # by PyInstaller: sys.executable is this program
        raise CommandError(
            f"a program with a Python of its own cannot start {script}: "
            "run it by a Python that has typedbytes installed"
        )
    return [sys.executable, *launcher(job), path]


# -- a task must not start its own job: each would start it again. A variable names the scripts that a process is a task
# of; on a node of a cluster, where nothing of ours starts it, the words of its command are those of a task.


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


def end_nested_job() -> None:
    """End a task that imports a function from a file whose top level starts a job: with one line, and no traceback."""
    main = sys.modules["__main__"]
    module = getattr(main, "imported_now", "")
    if module and getattr(main.__spec__, "name", "") == FUNCTION_START[-1]:
        sys.exit(
            f"{module} starts a job where a task imports it for its functions: "
            'call run(...) under if __name__ == "__main__"'
        )


def _scripts():
    return [path for path in os.environ.get(TASK_OF, "").split(os.pathsep) if path]


# -- asking


class _QueryProcesses:
    """What asking a script needs of Processes: it has no job, and needs no POSIX."""

    threads = ThreadPoolExecutor

    def run_without_input(self, command, environ, seconds):
        null = subprocess.DEVNULL
        done = subprocess.run(command, env=environ, stdin=null, stdout=null, stderr=subprocess.PIPE, timeout=seconds)
        return done.returncode, done.stderr


def _answered_steps(job, start, processes, hint=None):
    """Return the roles of each step as the script says them, an empty list for a job of one step."""
    return steps_in(_ask(job, start, ["steps"], processes, hint)["steps"] or [])


def _answered_roles(job, start, groups, processes):
    """Return the steps that the script says, asked for one group of roles after the other until it says them.

    A job without any has one step, with a mapper and the roles that it does not refuse.
    """
    answers: dict[str, list[str]] = {}
    for roles in groups:
        found = _ask(job, start, roles, processes)
        answers.update((role, lines) for role, lines in found.items() if lines is not None)
        steps = steps_in(next(iter(answers.values()), []))
        if steps:
            return steps
    return [StepRoles(["map", *answers])]


def _ask(job, start, roles, processes, hint=None):
    """Return, by role, the lines that a script writes when it is asked for it; None for a role that it lacks."""
    # A variable wins over a property of the same name, as it does for tasks.
    given = {**variables_of(job.own_properties()), **job.environment, **variable_of(job.script)}
    environ = {**inherited_variables(), **given, ROLE_QUERY: "1"}
    with processes.threads(len(roles) or 1) as pool:
        answers = {
            role: pool.submit(processes.run_without_input, [*start, role, *job.arguments], environ, ASK_SECONDS)
            for role in roles
        }
        return {role: _lines_of(answer, start, job.script, hint) for role, answer in answers.items()}


def _lines_of(answer, start, script, hint):
    try:
        code, messages = answer.result()
    except OSError as error:
        raise CommandError(f"{start[0]}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise CommandError(
            f"{script} did not end within {ASK_SECONDS} seconds when it was started without input"
        ) from None
    number = code - 128 if code == TERMINATED else -code
    if number > 0:
        raise JobError(f"{script} was ended by {name_of(number)} when it was started without input")
    lines = [
        line
        for line in messages.decode("utf-8", "backslashreplace").splitlines()
        if line.strip() and not line.startswith("reporter:")
    ]
    if code not in (OK, USAGE):
        for line in lines:
            if line.startswith(REFUSAL_LINE):
                raise CommandError(line[len(REFUSAL_LINE) :], lines)
        if start[0] == sys.executable and script.endswith(".py"):
            parsed(script)  # raises CommandError for what is not Python
        said = f": {lines[-1]}" if lines else ""
        raise CommandError(
            f"{script} fails before it reads any input, with exit code {code}{said}",
            lines,
            hint=_hint_at_module(lines) or hint,
        )
    return lines if code == OK else None


def _hint_at_module(lines):
    """Return what to do about a script whose last line is an error of a module that is missing, None for others."""
    missing = re.fullmatch(r"ModuleNotFoundError: No module named '(\w+)(\.?).*", lines[-1] if lines else "")
    if missing is None:
        return None
    if missing[1] in FRONTS and missing[2]:
        return f"it is not among the modules of {missing[1]} that are here: see the guide to old scripts"
    if missing[1] in FRONTS:
        return f"typedbytes run --as {missing[1]} runs the script as it is"
    # it runs from an archive that adds to its own path alone, as those of shiv and pex do
    if missing[1] == "typedbytes":
        folder = os.path.dirname(os.path.dirname(typedbytes.__file__))
        # a pex removes PYTHONPATH
        remedy = "make the pex with --venv" if "PEX" in os.environ else f"set PYTHONPATH={folder}"
        return f"tasks are started by {sys.executable}, which does not have this package: install it there, or {remedy}"
    return f"install the module for {sys.executable}, or correct its name"
