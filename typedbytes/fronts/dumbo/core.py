"""A job of dumbo, and its command line: a script ends with run(...), with Job().run() or with main(runner)."""

from __future__ import annotations

import copy
import shlex
import sys

from typedbytes import streaming
from typedbytes.fronts.dumbo.command_line import given_to_task, is_given
from typedbytes.fronts.dumbo.local_or_hadoop import run_job
from typedbytes.fronts.dumbo.options import StepOptions, codes_of
from typedbytes.fronts.dumbo.user_code import Params, adapted, combined
from typedbytes.fronts.dumbo.util import Options, fail, named_values, parseargs
from typedbytes.fronts.started import is_started_by_engine

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Error", "Job", "Program", "itermap", "itermapred", "iterreduce", "main", "run"]


class Error(Exception):
    """A job cannot be started; what it says is printed."""


class Job:
    """A job of iterations, each a mapper, a reducer and a combiner."""

    def __init__(self) -> None:
        self.iters: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
        self.initializer: Any = None

    def additer(self, *args: Any, **kwargs: Any) -> int:
        """Add an iteration: mapper, reducer, combiner; input= is the number of the one whose output it reads."""
        self.iters.append((args, kwargs))
        return len(self.iters) - 1

    def getparam(self, key: str, default: Any = None) -> Any:
        """Return a parameter."""
        given = named_values(parseargs(sys.argv[1:]), "param")
        return Params().get(key, given.get(key, default))

    def run(self) -> None:
        """Run the job of the command line, or the task for which an engine has started the script."""
        if is_started_by_engine(sys.argv):
            options = self._options(given_to_task())
            if not is_given():
                _refuse_options_of_job(options)
            streaming.run(steps=list(map(_step_of, self.iters, options)), argv=sys.argv[:2])
        if sys.argv[1:] and not sys.argv[1].startswith("-"):
            fail(f"an option such as -input is the first word, not {sys.argv[1]}")
        given = parseargs(sys.argv[1:])
        run_job(given, self._options(given))

    def _options(self, given):
        """Return the options of each iteration, with those of the command line."""
        last = len(self.iters) - 1
        return [
            StepOptions(*each, given, each[1].get("initializer") or self.initializer, number, number == last)
            for number, each in enumerate(self.iters)
        ]


def run(mapper: Any, reducer: Any = None, combiner: Any = None, **kwargs: Any) -> None:
    """Run a job of one iteration."""
    job = Job()
    job.additer(mapper, reducer, combiner, **kwargs)
    job.run()


def main(runner: Callable[[Job], Any], starter: Any = None, variator: Any = None) -> None:
    """Run the job that a function makes: runner(job) adds its iterations.

    starter(program) may change the options of the command line first; variator(program) gives several programs.
    """
    given = parseargs(sys.argv[1:])
    if not starter or "no" in given["starter"] or is_started_by_engine(sys.argv):
        _run_runner(runner)
        return
    program, code = Program(sys.argv[0], given), 0
    try:
        for each in variator(program) if variator else [program]:
            code = _run_program(each, runner, starter) or code
    except Error as error:
        fail(str(error))
    if code:
        sys.exit(code)


def _run_program(program, runner, starter):
    """Run the job of a program and return its exit code: what ends one leaves the others of a variator."""
    try:
        message = starter(program)
    except Error as error:
        message = str(error) or "the starter has raised Error"
    if message:
        print(f"ERROR: {message}", file=sys.stderr)
        return 1
    sys.argv[1:] = [word for key, value in program.opts for word in (f"-{key}", str(value))]
    try:
        _run_runner(runner)
    except SystemExit as end:
        if not isinstance(end.code, str):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except Exception:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _run_runner(runner):
    job = Job()
    message = runner(job)
    if message:
        sys.exit(message)
    job.run()


class Program:
    """A script and the options with which it is started."""

    def __init__(self, prog: str, opts: Any = None) -> None:
        self.prog: str = prog
        self.opts: Options = opts or Options()
        self.started: bool = False

    def addopt(self, key: str, value: Any) -> None:
        """Add an option."""
        self.opts.add(key, value)

    def delopts(self, key: str) -> list[Any]:
        """Remove an option and return its values."""
        return self.opts.pop(key)

    def delopt(self, key: str) -> Any:
        """Remove an option and return its first value, None without one."""
        return next(iter(self.delopts(key)), None)

    def getopts(self, key: str) -> list[Any]:
        """Return the values of an option."""
        return self.opts[key]

    def getopt(self, key: str) -> Any:
        """Return the first value of an option, None without one."""
        return next(iter(self.getopts(key)), None)

    def addparam(self, key: str, value: Any) -> None:
        """Add a parameter."""
        self.addopt("param", f"{key}={value}")

    def clone(self) -> Program:
        """Return a copy."""
        return copy.deepcopy(self)


def _refuse_options_of_job(options):
    """End the process for an option in the script that its command line has to see: another has started the job."""
    for key, value in (each for step in options for each in step.of_job()):
        fail(f"-{key} {value} in the script is for python -m typedbytes.fronts: start the script by that")


def _step_of(iteration, options):
    args, kwargs = iteration
    mapper, reducer, combiner = codes_of(args, kwargs)
    ends = {
        role: [kwargs.get(f"{role}{end}") for end in ("conf", "close", "cleanup")] for role in ("map", "comb", "red")
    }
    has_reducer = bool(reducer) and options.nreducers != 0
    mapper, reducer, combiner = (
        _with_variables(code, options.environment) if isinstance(code, str) else adapted(code, role, ends[end], options)
        for code, role, end in ((mapper, "map", "map"), (reducer, "reduce", "red"), (combiner, "combine", "comb"))
    )
    if not has_reducer:
        if combiner and (isinstance(mapper, str) or isinstance(combiner, str)):
            fail("a combiner without a reducer runs in the mapper: neither can be a command")
        mapper = combined(mapper, combiner) if combiner else mapper
        reducer = combiner = None
    codes = {"mapper": mapper, "reducer": reducer, "combiner": combiner}
    return streaming.Step(
        **{f"{name}_command" if isinstance(code, str) else name: code for name, code in codes.items()},
        reducers=(options.nreducers or None) if has_reducer else None,
        properties=options.properties,
        inputs=None if kwargs.get("input") is None else [each + 1 for each in options.inputs],
    )


def _with_variables(command, variables):
    """Return a command with more variables in its environment."""
    if not variables:
        return command
    return shlex.join(["env", *(f"{name}={value}" for name, value in variables.items()), "/bin/sh", "-c", command])


# What tests of jobs call


def itermap(data: Any, mapfunc: Any) -> Any:
    """Yield the pairs that a mapper makes of pairs."""
    return iter(adapted(mapfunc, "map").map(iter(data)))


def iterreduce(data: Any, redfunc: Any) -> Any:
    """Yield the pairs that a reducer makes of sorted pairs."""
    from itertools import groupby
    from operator import itemgetter

    groups = ((key, map(itemgetter(1), group)) for key, group in groupby(data, itemgetter(0)))
    return iter(adapted(redfunc, "reduce").reduce(groups))


def itermapred(data: Any, mapfunc: Any, redfunc: Any) -> Any:
    """Yield the pairs that a mapper and a reducer make of pairs."""
    from operator import itemgetter

    return iterreduce(sorted(itermap(data, mapfunc), key=itemgetter(0)), redfunc)
