"""The commands of a job's tasks: from a script, from functions, or as they are given.

Here: which words start a mapper, a combiner or a reducer. Not here: running them in a job. Invariant: a task is a process of its
own, which finds its code as Hadoop's would: in a file.
"""

import importlib
import os
import re
import shlex
import subprocess
import sys
from operator import attrgetter

import typedbytes
from typedbytes._base.exit_codes import OK, TERMINATED, USAGE
from typedbytes.local._environment import inherited_variables
from typedbytes.local._errors import CommandError, JobError
from typedbytes.local._paths import absolute
from typedbytes.local._signals import name_of
from typedbytes.streaming._job_options import steps_in
from typedbytes.streaming._own_job import OWN_JOB
from typedbytes.streaming._task import ROLE_QUERY

__all__ = ["from_code", "from_script"]

PROBE_SECONDS = 60
PORTED = ("dumbo", "hadoopy", "mrjob")  # libraries with a guide on porting their jobs


def from_code(role, code, reducer=None):
    """Return the words of a command, for a function, a class, a command line or its words; None for None.

    reducer: the job's, whose partition_by its other tasks need too.
    """
    if code is None:
        return None
    if isinstance(code, (str, list, tuple)):
        words = shlex.split(code) if isinstance(code, str) else [os.fspath(word) for word in code]
        if not words:
            raise CommandError(f"{code!r} is a command of no words")
        return words
    return [
        sys.executable,
        "-m",
        "typedbytes.local._function",
        role,
        *_import_path_of(code),
        *(_import_path_of(reducer) if hasattr(reducer, "partition_by") else ()),
    ]


def _import_path_of(code):
    """Return where a process finds a function: the file or the module, and the name in it."""
    name, module = getattr(code, "__qualname__", None), getattr(code, "__module__", None)
    if name is None or module is None or "<" in name:
        raise CommandError(f"{code!r} has no name by which another process can import it: define it at the top level of a module")
    if _found(module, name) != code:
        raise CommandError(
            f"another process would not find {code!r} as {name} of {module}: give it a name of its own at the top level of a module"
        )
    if module != "__main__":
        return module, name
    path = getattr(sys.modules["__main__"], "__file__", None)
    if path is None:
        raise CommandError(f"{name} was defined interactively, where no other process can import it: put it into a file")
    return absolute(path), name


def _found(module, name):
    """Return what has a name in a module, None if nothing has."""
    try:
        return attrgetter(name)(importlib.import_module(module))
    except (ImportError, AttributeError):
        return None


def from_script(processes, script, arguments, combines, nreducers, option, environ=None):
    """Return the commands of a script's roles for each step of its job, asking the script which it has: it is started without input.

    combines: False leaves the combiner out, and True raises CommandError where there is none; so does nreducers, a number of reduce tasks, for
    the reducer, if it is not None. option: where that number is from. environ: more variables.
    """
    reduces = None if nreducers is None else nreducers > 0
    script = os.fspath(script)
    start = _start_of(script)
    commands = {role: [*start, role, *arguments] for role in ("map", "combine", "reduce")}
    wanted = {"map": True, "combine": combines is not False and reduces is not False, "reduce": reduces is not False}
    steps = _ask_for_steps(processes, script, [*start, "steps", *arguments], environ)
    if steps is None:
        commands_to_probe = {role: commands[role] for role in ("combine", "reduce") if wanted[role]}
        found = {role: lines for role, lines in _probe(processes, script, commands_to_probe, environ).items() if lines is not None}
        steps = _steps_in(script, next(iter(found.values()), [])) or [["map", *found]]
    if len(steps) > 1 and reduces is False:
        raise CommandError(f"{script} has {len(steps)} steps, which need their reducers: leave out {option}")
    if reduces and not any("reduce" in roles for roles in steps):
        raise CommandError(f"{script} has no reducer: give streaming.run(...) one, or leave out {option}")
    if combines and not any("combine" in roles for roles in steps):
        raise CommandError(f"{script} has no combiner: give streaming.run(...) one, or run the job without (--no-combiner)")
    return [{role: command if wanted[role] and role in roles else None for role, command in commands.items()} for roles in steps]


def _start_of(script):
    if not os.path.isfile(script):
        raise CommandError(f"there is no script {script}")
    path = absolute(script)
    if os.access(script, os.X_OK) and not script.endswith(".py"):
        return [path]
    if getattr(sys, "frozen", False):  # by PyInstaller: sys.executable is this program
        raise CommandError(f"a program with a Python of its own cannot start {script}: run it by a Python that has typedbytes installed")
    return [sys.executable, path]


def _ask_for_steps(processes, script, command, environ):
    """Return the roles of each step of a script's job, None for a job of one step; only a script that may have some is asked."""
    try:
        with open(script, "rb") as file:
            if b"steps" not in file.read():
                return None
    except OSError as error:
        raise CommandError(f"the script {script} cannot be read: {error.strerror}") from None
    return _steps_in(script, _probe(processes, script, {"steps": command}, environ)["steps"] or []) or None


def _steps_in(script, lines):
    try:
        return steps_in(lines)
    except ValueError as error:
        raise CommandError(f"{script}: {error}") from None


def _probe(processes, script, commands, environ):
    """Return the lines of standard error of a script started with each role, None for a role that it has not; all are started at once."""
    environ = {**inherited_variables(), **(environ or {}), ROLE_QUERY: "1"}
    with processes.threads(len(commands) or 1) as pool:
        answers = {role: pool.submit(processes.run_without_input, command, environ, PROBE_SECONDS) for role, command in commands.items()}
        return {role: _lines_of(answer, commands[role][0], script) for role, answer in answers.items()}


def _advice_on(lines):
    """Return the end of a message about a script whose last line is an error: what to do about a module that is missing."""
    missing = re.fullmatch(r"ModuleNotFoundError: No module named '(\w+).*", lines[-1] if lines else "")
    if missing is None:
        return ""
    if missing[1] in PORTED:
        return f"; typedbytes runs jobs of {missing[1]} once they are ported: docs/guides/port-{missing[1]}.md says how"
    if missing[1] == "typedbytes":  # it runs from an archive that adds to its own path alone, as those of shiv and pex do
        folder = os.path.dirname(os.path.dirname(typedbytes.__file__))
        remedy = "make the pex with --venv" if "PEX" in os.environ else f"set PYTHONPATH={folder}"  # a pex removes PYTHONPATH
        return f"; tasks are started by {sys.executable}, which does not have this package: install it there, or {remedy}"
    return f"; install the module for {sys.executable}, or correct its name"


def _lines_of(answer, program, script):
    try:
        code, messages = answer.result()
    except OSError as error:
        raise CommandError(f"{program}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise CommandError(f"{script} did not end within {PROBE_SECONDS} seconds when it was started without input") from None
    number = code - 128 if code == TERMINATED else -code
    if number > 0:
        raise JobError(f"{script} was ended by {name_of(number)} when it was started without input")
    lines = [
        line for line in messages.decode("utf-8", "backslashreplace").splitlines() if line.strip() and not line.startswith("reporter:")
    ]
    if code not in (OK, USAGE):
        if lines and OWN_JOB in lines[-1]:
            raise CommandError(lines[-1].partition(": ")[2], lines)
        said = f": {lines[-1]}" if lines else ""
        raise CommandError(f"{script} fails before it reads any input, with exit code {code}{said}{_advice_on(lines)}", lines)
    return lines if code == OK else None
