"""The tasks of a job in this process, one after the other: breakpoint() and print() work, and functions of a notebook.

Here: what a process has otherwise: the input and output of an attempt, its environment, its messages. Not here: which
task runs when. Invariant: a task reads and writes the same bytes as in a process of its own; after it, this process has
its own environment, current folder and streams again. What a task leaves in modules stays there.
"""

from __future__ import annotations

import os
import sys
import tempfile
from concurrent.futures import Future
from contextlib import contextmanager

from typedbytes.jobs.environment import inherited_variables
from typedbytes.jobs.errors import CommandError, JobError
from typedbytes.jobs.properties import variables_of
from typedbytes.jobs.script import NO_SCRIPT, StepRoles, check_mappers, check_steps, variable_of
from typedbytes.jobs.source import parsed
from typedbytes.jobs.tasks.caretaker import Caretaker
from typedbytes.streaming import _reporter
from typedbytes.streaming._reporter import text_of
from typedbytes.streaming._run import TaskRun
from typedbytes.streaming._sidefiles import side_files
from typedbytes.streaming.capture import NoCallError, captured, environment_of, write_error
from typedbytes.streaming.exit_guard import ExitGuard, leave_forked
from typedbytes.streaming.task_environment import Task

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    from typedbytes.jobs.counters import Messages
    from typedbytes.jobs.job import Job
    from typedbytes.streaming import Step

    _Result = TypeVar("_Result")

__all__ = ["InlineTasks"]

SPOOLED_NBYTES = 32 << 20  # of an input or an output that are kept in memory


class InlineTasks:
    """The Processes of a job whose tasks run in this process.

    steps: None for those of its script. is_reporting: whether the traceback of an error is written to standard error.
    """

    def __init__(self, steps: Sequence[Step] | None = None, is_reporting: bool = True) -> None:
        self._steps = steps
        self._is_reporting = is_reporting
        self._script: str = ""
        self.folder: str | None = None
        self.stopped: bool = False

    def __enter__(self) -> InlineTasks:
        self.caretaker: Caretaker = Caretaker()
        self._before = sys.modules["__main__"], sys.argv, sys.path[:]
        self._exit_guard = ExitGuard()
        self._exit_guard.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._exit_guard.finish()
        sys.modules["__main__"], sys.argv, sys.path[:] = self._before
        self.caretaker.finish()

    def find_steps(self, job: Job) -> list[StepRoles]:
        """Return the roles of each step."""
        asked = self._steps is None
        steps: Any
        steps = self._steps = self._steps_of(job) if self._steps is None else self._steps
        roles = [StepRoles(step.roles, step.settings) for step in steps]
        if asked:
            check_steps(job, roles)
        else:
            check_mappers(roles)
        return roles

    def threads(self, nthreads: int) -> _NoThreads:
        """Return a pool that calls each function at once."""
        return _NoThreads()

    def may_combine(self, command: Sequence[str] | None, environ: Mapping[str, str]) -> bool:
        """Return False: a task is one of its role alone."""
        return False

    def run(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        feed: Callable[[Any], object],
        collect: Callable[[Any], Any],
        messages: Messages,
    ) -> Any:
        """Run the task of a role, the first word of its command; as Processes.run."""
        role, before = command[0], sys.argv
        step = (self._steps or ())[int(environ.get("typedbytes_step", "1")) - 1]
        with _Spool() as source, _Spool() as sink:
            feed(source)
            source.rewind()
            try:
                sys.argv = [self._script, role, *command[1:]] if self._script else before
                with _in_environment(environ, self.folder, messages):
                    _InlineRun(role, step).run(source, sink, self._is_reporting)
            except JobError as error:
                error.tail = list(messages.tail)
                raise
            finally:
                sys.argv = before
            sink.rewind()
            return collect(sink)

    def _steps_of(self, job):
        """Return the steps of a script, which runs up to its call of run()."""
        if not os.path.isfile(job.script):
            raise CommandError(NO_SCRIPT.format(job.script))
        # Unlike abspath(), getcwd() raises where the current folder is gone, which is not an error of the script.
        self._script = os.path.normpath(os.path.join(os.getcwd(), job.script))
        given = {**variables_of(job.own_properties()), **job.environment, **variable_of(job.script)}
        try:
            with _in_folder(self.folder):
                return captured(self._script, ["steps", *job.arguments], {**inherited_variables(), **given})
        except NoCallError as error:
            raise CommandError(str(error)) from None
        except (Exception, SystemExit) as error:
            if isinstance(error, SyntaxError):
                parsed(job.script)  # raises CommandError where it is the script's, and not that of a module
            if self._is_reporting and isinstance(error, Exception):
                write_error(error)
            message = f"{job.script} fails before it reads any input: {type(error).__name__}: {text_of(error)}"
            raise CommandError(message) from error


class _NoThreads:
    """A pool of no threads."""

    def __enter__(self) -> _NoThreads:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def submit(self, function: Callable[..., _Result], *arguments: object) -> Future[_Result]:
        """Call a function; its error is raised here."""
        future: Future[_Result] = Future()
        future.set_result(function(*arguments))
        return future


class _InlineRun(TaskRun):
    """A task whose errors are raised, not reported by an exit code."""

    def run(self, source, sink, is_reporting=True):
        """Do the task. Raises JobError from what failed."""
        self._source, self._sink = source, sink
        process = os.getpid()
        side_files.start(self._role)
        try:
            self._open()
            self._work()
            self._finish()
        except BaseException as error:
            if os.getpid() != process:
                leave_forked(error)
            self._drop_output()
            if isinstance(error, KeyboardInterrupt):
                raise
            if is_reporting:
                write_error(error)
            said = f": {text_of(error)}" if text_of(error) else ""
            task = f"{self._role} task {Task(os.environ).partition or 0}"
            raise JobError(f"the {task} failed: {type(error).__name__}{said}") from error
        finally:
            side_files.start(None)


class _Spool:
    """The input or the output of a task, in memory as long as it is short."""

    error = None

    def __init__(self):
        self._file = tempfile.SpooledTemporaryFile(SPOOLED_NBYTES)  # noqa: SIM115, closed with the spool
        self._has_ended = False
        self._owner = os.getpid()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()

    def write(self, data):
        self.check()
        return self._file.write(data)

    def rewind(self):
        """Go to the start, to read what was written."""
        self._file.seek(0)

    def read(self, nbytes=-1):
        return self._file.read(nbytes)

    def readinto(self, buffer):
        """Read into a buffer and return the number of bytes, 0 at the end."""
        self.check()
        data = self._file.read(len(memoryview(buffer).cast("B")))
        memoryview(buffer).cast("B")[: len(data)] = data
        self._has_ended = not data
        return len(data)

    def check_end(self):
        """Raise RuntimeError where the end of the input has not been read."""
        if not self._has_ended:
            raise RuntimeError("the task is done, but the end of its input has not been read: records may be left")

    def check(self):
        """Raise OSError in another process."""
        if os.getpid() != self._owner:
            raise OSError("the records belong to the process of the job, not to one forked from it")

    def close(self):
        """Leave the file open: it is read next."""


@contextmanager
def _in_environment(environ: Mapping[str, str], folder: str | None, messages: Messages) -> Iterator:
    """Have the environment, the folder and the messages of a task, and standard error in the place of its output."""
    streams = sys.stdout, _reporter.receiver
    try:
        sys.stdout = sys.stderr
        _reporter.counters.restart()
        _reporter.receiver = messages.handle  # type: ignore[assignment]
        with _in_folder(folder), environment_of(environ):
            yield
    finally:
        sys.stdout, _reporter.receiver = streams


@contextmanager
def _in_folder(folder: str | None) -> Iterator:
    """Have the folder of the files that travel with the job as the current one, if there are such files.

    Afterwards the current folder is the earlier one again, whatever a task has made of it.
    """
    here = os.getcwd()
    if folder is not None:
        os.chdir(folder)
        sys.path.insert(0, folder)
    try:
        yield
    finally:
        os.chdir(here)
        if folder is not None:
            sys.path.remove(folder)
