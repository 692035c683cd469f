"""A process that has imported a job's script, and that forks for each task of a role.

A task starts in a few milliseconds then, and not with an interpreter, its imports and those of the script. Only a
script to which it makes no difference is forked: one that has started no thread and no process, opened no file, changed
none, written nothing, made no random generator and not asked for what only a task knows, and none of whose files speaks
of random numbers, the time, process IDs or temporary files. The process of any other ends where it would fork, and its
tasks start as before.

It shares a socket with the job, which carries one message for each task: its variables, with its standard files and its
end of a socket of its own, the link. On the link the task says its process ID, then the server its exit code; when the
job closes the link or is gone, the server kills what is left of the task's group. Invariant: the process ID of a task
stays its own until then. This file is a script; it imports nothing of ours before sys.path is that of its script.
"""

from __future__ import annotations

import _imp
import _thread
import atexit
import gc
import os
import resource
import select
import signal
import socket
import sys
import warnings
from _io import BytesIO, StringIO, _IOBase
from contextlib import suppress
from types import FunctionType, GeneratorType, ModuleType

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["COMBINES", "MAX_NBYTES", "STARTED", "TELLING_WORDS", "UNREAD"]

# What it says when it can fork, where map tasks can run the job's combiner too, and elsewhere.
COMBINES, READY = b"c", b"+"
UNREAD = b"\n"  # its standard input, while the script has not read any
STARTED = b"+"  # what a task says before its process ID
MAX_NBYTES = 1 << 16  # of a message
NFILES = 4  # of a message
#: What a script may get from its process before it calls run(), and would then share with other tasks.
TELLING_WORDS = (
    b"random", b"seed", b"secrets", b"uuid", b"tempfile", b"mkdtemp", b"mkstemp", b"getpid",
    b"time()", b"time_ns", b"now(", b"today(", b"perf_counter", b"monotonic", b"multiprocessing", b"register_at_fork",
)  # fmt: skip
TIMERS = signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF
SOURCE_NBYTES = 1 << 20  # at most
#: What a script may do to the world, by the names of sys.audit(); a task's own process would do it again.
CHANGES = {
    "os.exec", "os.fork", "os.forkpty", "os.kill", "os.killpg", "os.link", "os.mkdir", "os.posix_spawn", "os.remove",
    "os.rename", "os.rmdir", "os.spawn", "os.symlink", "os.system", "os.truncate", "pty.spawn", "socket.connect",
    "socket.sendto", "subprocess.Popen",
}  # fmt: skip


class _Server:
    """Fork for each message: fork_for_tasks, which typedbytes.streaming.run calls, returns in tasks only."""

    def __init__(self, channel, names):
        self._channel = channel
        self._variables = os.environ._data  # type: ignore[attr-defined]
        self._watched = _Watched(self._variables, map(os.fsencode, names))
        self._set_variables(self._watched)
        self._has_changed = False
        self._is_loading = True
        self._writes_bytecode, sys.dont_write_bytecode = not sys.dont_write_bytecode, True  # a change too
        sys.addaudithook(self._note_change)
        self._files = _open_files()
        self._poll = select.poll()
        self._exit = None  # of a task
        self._tasks: dict = {}  # by the descriptors of process and link: these two, and the process ID

    def _set_variables(self, variables):
        os.environ._data = os.environb._data = variables  # type: ignore[attr-defined]

    def _note_change(self, event, arguments):
        if self._is_loading and (event in CHANGES or (event == "open" and _writes(*arguments))):
            self._has_changed = True

    def fork_for_tasks(self, process_exit, may_combine):
        """Return in each task, whose exit code process_exit has; may_combine: whether it can run the combiner."""
        if not self._may_fork():
            self._end()
        self._shared = {name for name, module in sys.modules.items() if not _is_own(getattr(module, "__file__", None))}
        self._shared.discard("__main__")
        gc.collect()
        self._has_finalizers = any(map(_has_finalizer, gc.get_objects()))
        gc.freeze()  # so that no task looks at what all share
        os.close(os.pidfd_open(os.getpid()))  # an error ends a server that could not wait for its tasks
        self._channel.send(COMBINES if may_combine else READY)
        self._poll.register(self._channel, select.POLLIN)
        while True:
            # One at a time: the next may be of a descriptor that this one closes. The channel is the first of them.
            descriptor, _ = self._poll.poll()[-1]
            if descriptor != self._channel.fileno():
                self._note(descriptor, *self._tasks[descriptor])
            elif self._fork():
                process_exit.take_over()
                self._exit = process_exit
                return

    def _may_fork(self):
        _flush()
        self._is_loading = False
        sys.dont_write_bytecode = not self._writes_bytecode
        return not (
            self._watched.are_asked
            or self._has_changed
            or os.fstat(2).st_size  # of all that was written
            or os.read(0, 1) != UNREAD
            or _open_files() != self._files
            or sys.gettrace()
            or sys.getprofile()
            or any(any(signal.getitimer(timer)) for timer in TIMERS)
            or signal.getsignal(signal.SIGCHLD) != signal.SIG_DFL  # a task that ends would be lost
            or resource.getrlimit(resource.RLIMIT_CPU)[0] != resource.RLIM_INFINITY  # the limit is for each task
            or _shares_memory()
            or any(map(_tells, _own_files()))
            or _has_generators()
            or _has_threads()
        )

    def _fork(self):
        """Return whether this is the task."""
        message, descriptors, _, _ = socket.recv_fds(self._channel, MAX_NBYTES, NFILES)
        if not message:
            self._end()
        pid = None
        if len(descriptors) == NFILES:  # else there are too many open
            link = socket.socket(fileno=descriptors.pop())
            with suppress(OSError):  # without a task, the job starts it itself
                pid = os.fork()
            if pid == 0:
                try:
                    self._become_task(message, descriptors, link)
                except BaseException:
                    os._exit(1)  # no task, so nothing of the script is called
                return True
        for descriptor in descriptors:
            os.close(descriptor)
        if pid:
            process = os.pidfd_open(pid)
            self._tasks[process] = self._tasks[link.fileno()] = process, link, pid
            for descriptor in (process, link.fileno()):
                self._poll.register(descriptor, select.POLLIN)
        return False

    def _become_task(self, message, descriptors, link):
        os.setsid()
        link.send(STARTED + b"%d" % os.getpid())
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        for process, other_link, _ in {*self._tasks.values()}:
            os.close(process)
            other_link.close()
        self._tasks.clear()
        link.close()
        self._channel.close()
        self._variables.clear()
        self._variables.update(self._watched.items())
        self._set_variables(self._variables)
        for variable in filter(None, os.fsdecode(message).split("\0")):
            name, _, os.environ[name] = variable.partition("=")
        numbers = sys.modules.get("numpy.random")
        if numbers is not None:
            numbers.seed()  # as random does itself

    def _note(self, descriptor, process, link, pid):
        """Note that a task has ended, or that the job is done with it."""
        self._poll.unregister(descriptor)
        if descriptor == process:
            ended: Any = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
            with suppress(OSError):  # the job is gone, or done with it
                link.send(b"%d" % code)
            return
        _kill_group(pid)
        os.waitpid(pid, 0)
        with suppress(KeyError):  # the process had ended before
            self._poll.unregister(process)
        del self._tasks[process], self._tasks[descriptor]
        os.close(process)
        link.close()

    def end_task(self):
        """End a task after its own handlers, without what takes an interpreter longest: to free what all share.

        Where something is left that has an end of its own, the interpreter ends as ever.
        """
        if self._exit is None:
            return
        # of objects that were made since the fork
        if self._has_finalizers or _thread._count() or any(map(_has_end, gc.get_objects())):
            gc.unfreeze()
            return
        code = FunctionType, ModuleType, type
        for name in sys.modules.keys() - self._shared:
            names = getattr(sys.modules[name], "__dict__", {})
            for each in [each for each, value in names.items() if not isinstance(value, code)]:
                del names[each]
        gc.collect()
        _flush()
        self._exit.end_at_once()

    def _end(self):
        for _, _, pid in {*self._tasks.values()}:
            _kill_group(pid)
        os._exit(0)  # what the script has registered for the end of a process is for its tasks


class _Watched(dict):
    """The variables of a process; are_asked: whether for one of a task's own, or for all."""

    def __init__(self, variables, names):
        super().__init__(variables)
        self._names = {*names}
        self.are_asked = False

    def __missing__(self, name):
        self.are_asked = self.are_asked or name in self._names
        raise KeyError(name)

    def __iter__(self):
        self.are_asked = True
        return super().__iter__()


def _writes(path, mode, flags):
    return not isinstance(path, int) and bool(flags & (os.O_WRONLY | os.O_RDWR)) and path != os.devnull


def _has_finalizer(value):
    return isinstance(getattr(type(value), "__del__", None), FunctionType)


def _has_end(value):
    """Return whether the end of an object does more than to free it."""
    if isinstance(value, _IOBase):
        return not (isinstance(value, (BytesIO, StringIO)) or value.closed or _is_ours(value))
    return (isinstance(value, GeneratorType) and value.gi_frame is not None) or _has_finalizer(value)


def _is_ours(file):
    return type(file).__module__ == "typedbytes.streaming._descriptors"


def _flush():
    for file in (sys.stdout, sys.stderr):
        if file is not None:
            file.flush()


def _open_files():
    found = {}
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the folder itself
            found[name] = os.readlink(f"/proc/self/fd/{name}")
    # libffi keeps its own library open
    return {name: path for name, path in found.items() if ".so" not in os.path.basename(path)}


def _own_files():
    """Return the files of the script and of its own modules."""
    paths = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    return [*filter(_is_own, paths), *filter(os.path.isfile, sys.argv)]


_OTHERS = tuple(
    folder + os.sep for folder in (os.path.dirname(os.__file__), os.path.abspath(__file__).rpartition("/jobs/")[0])
)


def _is_own(path):
    """Return whether a module's file is neither Python's, nor ours, nor installed."""
    return path and not path.startswith(_OTHERS) and "site-packages" not in path and "dist-packages" not in path


def _tells(path):
    try:
        with open(path, "rb") as file:
            source = file.read(SOURCE_NBYTES)
    except OSError:
        return True
    return any(word in source for word in TELLING_WORDS)


def _has_generators():
    """Return whether there is a generator of random numbers, but for those that get a new seed in each process."""
    known = [getattr(sys.modules.get(module), name, None) for module, name in _SEEDED]
    known += [getattr(each, "_bit_generator", None) for each in known]
    kinds = "Random", "RandomState", "Generator", "MT19937"
    return any(
        type(each).__name__ in kinds and not any(each is one for one in known)
        for each in gc.get_objects()
        if type(each).__module__
        in ("random", "numpy.random.mtrand", "numpy.random._generator", "numpy.random._mt19937")
    )


_SEEDED = ("random", "_inst"), ("numpy.random.mtrand", "_rand")


def _has_threads():
    """Return whether there are threads that do not end at a fork, as those of OpenBLAS do, which start again."""
    if len(os.listdir("/proc/self/task")) > 1:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a fork beside threads
            pid = os.fork()
        if not pid:
            os._exit(0)
        os.waitpid(pid, 0)
    return len(os.listdir("/proc/self/task")) > 1


def _shares_memory():
    """Return whether there is memory, such as that of a lock of multiprocessing, that tasks would write to together."""
    with open("/proc/self/maps", "rb") as maps:
        return any(line.split(None, 2)[1][1::2] == b"ws" for line in maps)


def _is_shadowing(folder):
    """Return whether a folder has a module that a script there would import, and not the one that this file did."""
    ends = ".py", "/__init__.py", *_imp.extension_suffixes()
    names = sys.modules.keys() - {*sys.builtin_module_names, "site"}
    return any(os.path.exists(f"{folder}/{name}{end}") for name in names if "." not in name for end in ends)


def _kill_group(pid):
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _serve(descriptor, names, *words):
    """Run a script, or after -m a module, which calls run()."""
    is_module = words[0] == "-m"
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.getcwd() if is_module else os.path.dirname(os.path.realpath(words[0]))
        if _is_shadowing(sys.path[0]):
            return
    from typedbytes.streaming.capture import run_as_main
    from typedbytes.streaming.task_environment import TaskStart

    server = _Server(socket.socket(fileno=int(descriptor)), names.split(","))
    if not atexit._ncallbacks():  # a callback of sitecustomize would be called after it
        atexit.register(server.end_task)  # the first to be registered is the last to be called
    TaskStart.hook = server.fork_for_tasks
    sys.argv = [*words[is_module:]]
    if is_module:
        from runpy import run_module

        run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        run_as_main(words[0])


if __name__ == "__main__":
    _serve(*sys.argv[1:])
