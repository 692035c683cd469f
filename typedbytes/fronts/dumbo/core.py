"""A job of dumbo, and its command line: a script ends with run(...), with Job().run() or with main(runner)."""

from __future__ import annotations

import copy
import io
import os
import shutil
import sys
import tempfile
from contextlib import suppress

from typedbytes import streaming
from typedbytes.fronts.dumbo.user_code import Params, adapted
from typedbytes.fronts.dumbo.util import Options, dumpcode, dumptext, fail, named_values, number_of, parseargs
from typedbytes.fronts.refusals import text_without_options
from typedbytes.fronts.started import is_started_by_engine

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Error", "Job", "Program", "itermap", "itermapred", "iterreduce", "main", "run"]

#: Options whose values are words of the command line, by the keyword of a Job that takes them.
FORMATS = {"text": "text", "code": "sequencefile", "sequencefile": "sequencefile", "raw": "values"}


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
            steps = [_step_of(number, *each, initializer=self.initializer) for number, each in enumerate(self.iters)]
            streaming.run(steps=steps, argv=sys.argv[:2])
        _run_job(parseargs(sys.argv[1:]), [kwargs.get("opts") for _, kwargs in self.iters])


def run(mapper: Any, reducer: Any = None, combiner: Any = None, **kwargs: Any) -> None:
    """Run a job of one iteration."""
    job = Job()
    job.additer(mapper, reducer, combiner, **kwargs)
    job.run()


def main(runner: Callable[[Job], Any], starter: Any = None, variator: Any = None) -> None:
    """Run the job that a function makes: runner(job) adds its iterations.

    starter(program) may change the options of the command line first; variator(program) gives several programs.
    """
    if starter and not is_started_by_engine(sys.argv):
        program = Program(sys.argv[0], parseargs(sys.argv[1:]))
        for each in variator(program) if variator else [program]:
            try:
                message = starter(each)
            except Error as error:
                message = str(error)
            if message:
                fail(message)
            sys.argv[1:] = [word for key, value in each.opts for word in (f"-{key}", str(value))]
            _run_runner(runner)
        return
    _run_runner(runner)


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


def _step_of(number, args, kwargs, initializer=None):
    mapper, reducer, combiner = [*args, None, None, None][:3]
    mapper, reducer = kwargs.get("mapper", mapper), kwargs.get("reducer", reducer)
    combiner = kwargs.get("combiner", combiner)
    initializer = kwargs.get("initializer") or initializer
    if initializer is not None:
        initializer()
    ends = {
        role: [kwargs.get(f"{role}{end}") for end in ("conf", "close", "cleanup")] for role in ("map", "comb", "red")
    }
    opts = Options()
    for each in (kwargs.get("opts"), getattr(mapper, "opts", None), getattr(reducer, "opts", None)):
        opts += each or ()
    given = kwargs.get("input")
    given = [given] if isinstance(given, int) else given
    commands: dict[str, Any] = {
        f"{name}_command": code
        for name, code in (("mapper", mapper), ("combiner", combiner), ("reducer", reducer))
        if isinstance(code, str)
    }
    codes = [
        None if isinstance(code, str) else adapted(code, role, *ends[end])
        for code, role, end in ((mapper, "map", "map"), (reducer, "reduce", "red"), (combiner, "combine", "comb"))
    ]
    nreducers = number_of(opts, "numreducetasks")
    return streaming.Step(
        *codes, **commands, reducers=nreducers if nreducers and reducer else None,
        properties=named_values(opts, "jobconf"),
        inputs=None if given is None else [each + 1 for each in given],
    )  # fmt: skip


def _run_job(opts: Options, of_steps: list[Any]) -> None:
    """Run the job of a script by the options of its command line."""
    from typedbytes.jobs.errors import JobError
    from typedbytes.jobs.job import Job as OurJob

    inputs, output = opts["input"], opts["output"]
    if not inputs:
        fail("No input path specified")
    if not output:
        fail("No output path specified")
    files, archives = opts["file"], opts["cachearchive"]
    output_format = (opts["outputformat"] or ["code"])[0]
    fields: dict[str, Any] = {
        "nreducers": number_of(opts, "numreducetasks"),
        "files": files, "archives": archives, "name": (opts["name"] or [""])[0],
        "properties": named_values(opts, "jobconf", "hadoopconf"),
        "environment": named_values(opts, "cmdenv", "param"),
        "front": "dumbo",
    }  # fmt: skip
    overwrite = "yes" in opts["overwrite"]
    is_on_hadoop = opts["hadoop"] and opts["hadoop"][0] not in ("no", "local")
    if not is_on_hadoop:
        _check_file(output[0], output_format, inputs)
    try:
        if is_on_hadoop:
            _run_on_hadoop(opts, fields, inputs, output[0], FORMATS.get(output_format, output_format), overwrite)
            return
        with tempfile.TemporaryDirectory(prefix="dumbo-") as folder:
            target = os.path.join(folder, "output")
            from typedbytes import local

            local.run_job(OurJob(sys.argv[0], inputs, target, output_format="pairs", quiet=False, **fields))
            try:
                _write_file(target, output[0], output_format)
            except OSError as error:
                fail(f"{output[0]}: {error.strerror}")
    except JobError as error:
        fail(text_without_options(error))


def _run_on_hadoop(opts, fields, inputs, output, output_format, overwrite):
    from typedbytes import hadoop

    python = opts["python"]
    more = {"python": python[0]} if python else {}
    folder = tempfile.mkdtemp(prefix="dumbo-")
    try:
        bundle = os.path.join(folder, "typedbytes-bundle.zip")
        hadoop.bundle(bundle)
        plan = hadoop.Plan(
            sys.argv[0], inputs, output, output_format=output_format, libjars=opts["libjar"], overwrite=overwrite,
            output_by_key="yes" in opts["getpath"], bundle=bundle, **more, **fields,
        )  # fmt: skip
        hadoop.submit(plan)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check_file(path, output_format, inputs):
    """Fail before the job if there is no such format, or if the file cannot be made, or replaces what the job reads."""
    if output_format not in FORMATS:
        fail(f"-outputformat must be one of {', '.join(FORMATS)}, not {output_format}")
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        fail(f"-output takes the path of a file, in a folder that is there, not {path}")
    if os.path.exists(path) and any(os.path.samefile(path, each) for each in _files_here([sys.argv[0], *inputs])):
        fail(f"-output {path} is the script or an input, which it would replace: give another path")


def _files_here(paths):
    """Yield the files of this machine that inputs are; one that is not there is left to the job."""
    from typedbytes._base.locations import files, is_url

    for each in paths:
        path = each[len("file://") :] if each.startswith("file:///") else each
        if not is_url(path):
            with suppress(OSError):
                yield from filter(os.path.exists, files(path, recursive=True))


def _write_file(folder, path, output_format):
    """Write the pairs of a folder into one file, as lines of text or of reprs."""
    from typedbytes import PairReader
    from typedbytes._base.atomic import atomic_file
    from typedbytes._base.locations import written_parts

    dump = dumptext if output_format == "text" else dumpcode
    with atomic_file(path) as raw, io.BufferedWriter(raw) as file:
        for part in written_parts(folder):
            with PairReader(part) as pairs:
                if output_format == "raw":
                    pieces = (value if isinstance(value, bytes) else str(value) for _, value in pairs)
                else:
                    pieces = (f"{key}\t{value}\n" for key, value in dump(pairs))
                for piece in pieces:
                    file.write(piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogateescape"))


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
