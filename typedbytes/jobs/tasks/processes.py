"""The processes of a job, and one attempt of a task.

An attempt is a process with three pipes, a thread that writes its input and one that reads its standard error.

Here: starting and ending processes, and finding which failure came first. Not here: what goes through the pipes.
Invariant: an attempt has succeeded only when its process has read all of its input, has closed its output and has exit
code 0; no process outlives its attempt, nor do its children, and none outlives the job, however that ends. Processes
are started by threads of their own, in which no signal is handled: a signal between the start of a process and the
storing of its process ID would leak it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from typedbytes._base.exit_codes import BAD_DATA, NOT_EXECUTABLE, NOT_FOUND, USAGE
from typedbytes._base.pipes import enlarge_pipe
from typedbytes.errors import DecodeError, TruncatedError
from typedbytes.jobs.errors import CommandError
from typedbytes.jobs.history import STOPPED
from typedbytes.jobs.signals import name_of
from typedbytes.jobs.tasks.caretaker import Caretaker
from typedbytes.jobs.tasks.forks import Forks
from typedbytes.jobs.tasks.pipes import make_pipe
from typedbytes.jobs.tasks.sinks import PipeSink
from typedbytes.jobs.tasks.standard_error import StandardError, read_all, read_messages

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from typedbytes.jobs.counters import Messages
    from typedbytes.jobs.tasks.forked_task import ForkedTask

__all__ = ["Processes", "TaskError"]

PIPE_NBYTES = 1 << 20

# Exit codes of typedbytes.streaming and of shells after which another attempt would fail the same way.
FINAL_CODES = {
    USAGE: "it has no code for this role",
    BAD_DATA: "its input is bad",
    NOT_EXECUTABLE: "its command cannot be run",
    NOT_FOUND: "its command was not found",
}

#: What the tracebacks of an exception, and of a group of them, begin with.
TRACEBACKS = "Traceback (most recent call last)", "  + Exception Group Traceback (most recent call last)"


class TaskError(Exception):
    """An attempt failed; `final`: another one would fail the same way."""

    def __init__(self, reason: str, final: bool = False) -> None:
        super().__init__(reason)
        self.final: bool = final


class Processes:
    """The processes of a job, and the caretaker that ends them; a context manager after which none is left."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes] | ForkedTask] = set()
        self.forks: Forks = Forks(partial(self._start_process, is_task=False))
        self.folder: str | None = None  # in which they run; None: that of the job itself
        self.stopped: bool = False
        try:
            self.caretaker: Caretaker = Caretaker()
        except OSError as error:
            raise CommandError(f"no process can be started: {sys.executable}: {error.strerror}") from None

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *error: object) -> None:
        _call_despite_signals(self._end)

    def _end(self):
        self.stop()
        for server in self.forks.close():
            _kill_group(server)
            server.wait()
        self.caretaker.finish()

    def threads(self, nthreads: int) -> AbstractContextManager[ThreadPoolExecutor]:
        """Return a pool of threads to start processes in."""
        return _Threads(self, nthreads)

    def stop(self) -> None:
        """End all processes and start no more."""
        with self._lock:
            self.stopped = True
            for process in self._running:
                _kill_group(process)
        self.forks.stop()

    def may_combine(self, command: Sequence[str] | None, environ: Mapping[str, str]) -> bool:
        """Return whether the map tasks of a command are known to run the combiner where their environment says so."""
        return self.forks.may_combine(command or [], environ)

    def run(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        feed: Callable[[Any], object],
        collect: Callable[[Any], Any],
        messages: Messages,
    ) -> Any:
        """Run a process. feed(sink) writes its input, collect(source) reads its output.

        messages.handle(line) gets its standard error. Returns what collect returns.
        Raises TaskError when the attempt failed.
        """
        process, unread = self._start_with_pipes(command, environ)
        sink = PipeSink(process.stdin)
        feeder = _Thread(self._write_input, process, feed, sink)
        stderr = StandardError(process.stderr)
        message_reader = _Thread(read_messages, stderr, messages)
        with unread:
            try:
                result, failure = _try_call(collect, process.stdout)
                if failure is not None and not isinstance(failure, TruncatedError):
                    # after truncated output the process ends by itself, and its exit code says more
                    self._kill(process)
                process.stdout.close()
                _wait_for_end(process)
            finally:
                self._end_process(process)  # and its children that still run
                stderr.note_process_end()
            has_unread = bool(unread.read(1))  # waits for the feeder; nothing left when it is done and all was read
            sink.is_over = True
            while unread.read(PIPE_NBYTES):  # ends the feeder's last write, also if another process holds this end open
                pass
        for thread in (feeder, message_reader):
            thread.join()
        self._check_outcome(process.returncode, feeder.error, has_unread, failure, messages)
        return result

    def run_without_input(
        self, command: Sequence[str], environ: Mapping[str, str], seconds: float
    ) -> tuple[int, bytes]:
        """Run a command without input and return its exit code and its standard error.

        Raises OSError when it cannot be started, subprocess.TimeoutExpired when it takes longer than `seconds`.
        """
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        process = self._start_process(command, env=environ, bufsize=0, **pipes)
        stderr = StandardError(process.stderr)
        pieces: list[bytes] = []
        reader, waiter = _Thread(read_all, stderr, pieces), _Thread(_wait_for_end, process)
        try:
            waiter.join(seconds)
            if waiter.is_alive():
                raise subprocess.TimeoutExpired(command, seconds)
        finally:
            self._kill(process)
            waiter.join()
            self._end_process(process)
            stderr.note_process_end()
            reader.join()
        return process.returncode, b"".join(pieces)

    def _check_stopped(self):
        if self.stopped:
            raise TaskError(STOPPED, final=True)

    def _start_process(self, command, *, is_task=True, **options):
        with self._lock:
            self._check_stopped()
            process = subprocess.Popen(command, start_new_session=True, cwd=self.folder, **options)
            self.caretaker.add(process.pid)
            if is_task:
                self._running.add(process)
        return process

    def _fork(self, command, environ, stdin):
        """Return a task that was forked, or None."""
        server = self.forks.server_for(command, environ)
        if server is None:
            return None
        (stdout, its_stdout), (stderr, its_stderr) = make_pipe(), make_pipe()
        with its_stdout, its_stderr, self._lock:
            task = None if self.stopped else server.fork(environ, (stdin, its_stdout, its_stderr))
            if task is None:
                stdout.close()
                stderr.close()
                return None
            self.caretaker.add(task.pid)
            self._running.add(task)
        task.stdout, task.stderr = stdout, stderr
        return task

    def _end_process(self, process):
        with self._lock:
            _kill_group(process)
            self._running.discard(process)
            self.caretaker.forget(process.pid)
        process.wait()  # only now may its process ID become that of another process or group

    def _kill(self, process):
        with self._lock:
            if process in self._running:
                _kill_group(process)

    def _start_with_pipes(self, command, environ):
        """Return a process, and our own reading end of its input, which shows what it has not read."""
        unread, stdin = make_pipe()
        try:
            process = self._fork(command, environ, unread) or self._start_process(
                command, env=environ, bufsize=0, stdin=unread, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except BaseException as error:
            unread.close()
            stdin.close()
            if isinstance(error, OSError):
                raise TaskError(f"{command[0]}: {error.strerror}", final=True) from None
            raise
        process.stdin = stdin
        for pipe in (process.stdin, process.stdout):
            enlarge_pipe(pipe)
        return process, unread

    def _write_input(self, process, feed, sink):
        try:
            feed(sink)
        except BrokenPipeError:
            raise
        except BaseException:
            self._kill(process)
            raise
        finally:
            try:
                process.stdin.close()
            except BrokenPipeError:
                pass

    def _check_outcome(self, code, feed_error, has_unread, read_error, messages):
        self._check_stopped()
        if feed_error is not None and not isinstance(feed_error, BrokenPipeError):
            raise feed_error
        if read_error is not None and not isinstance(read_error, DecodeError):
            raise read_error
        if read_error is not None and not isinstance(read_error, TruncatedError):
            raise TaskError(f"its output is not a stream of pairs: {read_error}{_advice(read_error)}")
        if code:
            raise TaskError(_exit_reason(code, messages.tail), final=code in FINAL_CODES)
        if read_error is not None:
            raise TaskError(f"its output is truncated: {read_error}{_advice(read_error)}")
        if feed_error is not None or has_unread:
            raise TaskError(
                "it ended with exit code 0 before it had read all of its input; "
                "a script of typedbytes ends with streaming.run(...)"
            )
        if messages.exceeded_limit:
            raise TaskError(f"it has {messages.exceeded_limit}", final=True)


class _Threads:
    """A pool of threads as a context manager; after an exception it ends the processes they wait for."""

    def __init__(self, processes, nthreads):
        self._processes = processes
        self._pool = ThreadPoolExecutor(nthreads, thread_name_prefix="typedbytes")

    def __enter__(self):
        return self._pool

    def __exit__(self, kind, error, traceback):
        if kind is not None:
            _call_despite_signals(self._stop)
        _call_despite_signals(self._pool.shutdown)

    def _stop(self):
        self._processes.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _call_despite_signals(function):
    """Call a function, and again if a signal interrupts it: ending a job must not stop half-way."""
    try:
        function()
    except BaseException:
        function()
        raise


class _Thread(threading.Thread):
    """Run a function; `error` is what it raised, or None."""

    error = None

    def __init__(self, function, *arguments):
        super().__init__(daemon=True)
        self._call = function, arguments
        self.start()

    def run(self):
        function, arguments = self._call
        try:
            function(*arguments)
        except BaseException as error:
            self.error = error


def _try_call(function, *arguments):
    try:
        return function(*arguments), None
    except Exception as error:
        return None, error


def _exit_reason(code, tail):
    if code < 0:
        return f"it was ended by {name_of(-code)}"
    if code == USAGE and tail and tail[-1].startswith("typedbytes: "):
        return f"exit code {code}: {tail[-1][12:]}"
    too_many = "TooManyBadRecords: "
    if code == BAD_DATA and tail and too_many in tail[-1]:
        return f"exit code {code}: {tail[-1].partition(too_many)[2]}"
    said = FINAL_CODES.get(code) or (_said_last(tail) if tail else "it wrote nothing to standard error")
    return f"exit code {code}: {said}"


def _said_last(tail):
    """Return the last line, or the first of an exception that has several, with which the report of a task ends."""
    lines = list(tail)
    last = next((line.lstrip(" |") for line in reversed(lines) if line.strip(" |+-")), lines[-1])
    for names in ("typedbytes: task failed", TRACEBACKS):
        starts = [number for number, line in enumerate(lines) if line.startswith(names)]
        if not starts:
            return last
        lines = lines[starts[-1] + 1 :]
    texts = (line.removeprefix("  | ") for line in lines)  # which is in front of the lines of a group
    return next((text for text in texts if text.strip() and not text.startswith(" ")), last)


def _advice(error):
    return (
        "" if error.record else "; only pairs of typed bytes may go to standard output, also before streaming.run(...)"
    )


def _wait_for_end(process):
    """Wait until a process has ended; its process ID stays its own until `process.wait()`."""
    if not isinstance(process, subprocess.Popen):
        process.wait_for_end()
        return
    try:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    except (AttributeError, ChildProcessError):  # macOS before Python 3.13; a program that ignores SIGCHLD
        process.wait()


def _kill_group(process):
    # The process has its own session, so its children are ended too.
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
