"""The exit code of the process: Python code cannot end it with 0 before the task is done.

Hadoop looks only at the exit code. A task that calls os._exit(0), that execs another program, or whose script catches
the SystemExit of run() would look successful, and the output not yet written would be lost silently. From the start of
a task to the end of its process, the exit code of the task is used instead. The meaning of other codes is not known
here, and processes forked by the task are not affected. C's exit() cannot be intercepted, nor can os._exit where
something else than a name in a module holds it since before the start: an attribute, a default argument.
"""

import _signal  # signal itself imports enum, half of the start-up time of a task
import atexit
import os
import sys

from typedbytes._base.exit_codes import FAILED, INTERRUPTED, TERMINATED
from typedbytes.streaming._reporter import write_line


class ProcessExit:
    """Hold the exit code of the process, however it ends."""

    def __init__(self):
        self._pid = os.getpid()
        self._code = FAILED  # until the task is done
        self._was_read = False
        self._exit_at_once = os._exit
        replace_in_modules(exits_replaced_by(lambda function: self._exit_now, self._refused_before_the_end))
        atexit.register(self._check_at_exit)

    def take_over(self):
        """Be that of this process, which another has forked."""
        self._pid = os.getpid()

    def end_at_once(self):
        """End the process without the interpreter's own end, if that has read the exit code."""
        if self._was_read:
            self._exit_at_once(self._code)

    def set_code(self, code):
        """Set the exit code of the task and return the SystemExit that ends the process with it."""
        self._code = code
        return TaskExit(self)

    def read_code(self, is_interpreter):
        """Return the code; the interpreter reads it when no code can catch the SystemExit any more."""
        self._was_read = self._was_read or is_interpreter
        return self._code

    def _overrides(self):
        return self._code != 0 and os.getpid() == self._pid

    def _exit_now(self, status):
        if self._overrides() and status & 0xFF == 0:  # the part of a status that a parent process sees
            write_line(f"typedbytes: os._exit({status}) before the task was done: exit code {self._code}")
            status = self._code
        self._exit_at_once(status)

    def _refused_before_the_end(self, exec_function):
        def exec_when_done(*arguments, **named):
            if self._overrides():
                raise RuntimeError("a task cannot exec another program; start a child process")
            exec_function(*arguments, **named)

        return exec_when_done

    def _check_at_exit(self):
        if self._overrides() and not self._was_read:
            write_line(f"typedbytes: the SystemExit of run() was caught: exit code {self._code}")
            self._exit_at_once(self._code)


class TaskExit(SystemExit):
    """Raised to end the process with its `code`."""

    def __init__(self, process_exit):
        super().__init__()
        self._process_exit = process_exit

    @property
    def code(self):  # type: ignore[override]  # the interpreter's own read is distinguished
        """The exit code."""
        return self._process_exit.read_code(is_interpreter=sys._getframe().f_back is None)


def exits_replaced_by(exit_instead, exec_instead):
    """Return what two functions make of os._exit and of os.exec*, by the functions to replace."""
    found = {}
    for module in (os, sys.modules[os.name]):  # a tool may have replaced a function of os, which is one of posix
        found[module._exit] = exit_instead(module._exit)
        for function in (module.execv, module.execve):
            found[function] = exec_instead(function)
    return found


def replace_in_modules(replacements):
    """Replace functions under every name in a module: `from os import _exit` may come before a task starts."""
    by_id = {id(function): replacement for function, replacement in replacements.items()}
    for module in list(sys.modules.values()):
        if isinstance(module, type(sys)):
            # unlike getattr, this loads no module that waits for its first use
            names = object.__getattribute__(module, "__dict__")
            for name, value in list(names.items()):
                if id(value) in by_id:
                    names[name] = by_id[id(value)]


def set_signals():
    """End the process at SIGTERM and SIGINT with exit codes of their own."""
    if hasattr(_signal, "SIGPIPE"):  # not on Windows
        _signal.signal(_signal.SIGPIPE, _signal.SIG_IGN)  # a closed pipe is reported as an error
    _signal.signal(_signal.SIGTERM, _stop)
    _signal.signal(_signal.SIGINT, _stop)


def _stop(signum, frame):
    # Hadoop waits a quarter of a second and discards the attempt: nothing is flushed, and no code may catch this.
    name, code = ("SIGINT", INTERRUPTED) if signum == _signal.SIGINT else ("SIGTERM", TERMINATED)
    write_line(f"typedbytes: stopped by {name}")
    os._exit(code)
