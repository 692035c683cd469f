"""The ways out of the process that Python code can take: none gives exit code 0 before the task is done.

Hadoop asks for nothing but the exit code. A task that calls os._exit(0), that becomes another program, or whose script
catches the SystemExit of run() looks like one that is done, and what it had not written is missing without a word. From
the start of a task to the end of its process, the task's own code decides. Nothing here knows what a code means, and
processes that the task forks leave as they like. What cannot be seen from here is C's own exit().
"""

import atexit
import os

from typedbytes.streaming._report import write_line

UNFINISHED = 1


class Exits:
    """Hold the code that the process ends with, whichever way it leaves."""

    def __init__(self):
        self._pid = os.getpid()
        self._code = UNFINISHED
        self._taken = False
        self._leave = os._exit
        os._exit = self._leave_by_code
        os.execv, os.execve = self._only_when_done(os.execv), self._only_when_done(os.execve)
        atexit.register(self._leave_at_last)

    def settle(self, code):
        """Fix the code of the task and return the SystemExit that ends the process with it."""
        self._code = code
        return TaskExit(self)

    def take(self):
        """Return the code to the interpreter, which asks for it when nobody can catch the SystemExit any more."""
        self._taken = True
        return self._code

    def _decides(self):
        return self._code != 0 and os.getpid() == self._pid

    def _leave_by_code(self, status):
        if self._decides() and status & 0xFF == 0:  # all that is left of it outside
            write_line(f"typedbytes: os._exit({status}) before the task was done: exit code {self._code}")
            status = self._code
        self._leave(status)

    def _only_when_done(self, become):
        def become_another_program(*arguments, **named):
            if self._decides():
                raise RuntimeError("a task cannot become another program; start that as a child")
            become(*arguments, **named)

        return become_another_program

    def _leave_at_last(self):
        if self._decides() and not self._taken:
            write_line(f"typedbytes: the SystemExit of run() was caught: exit code {self._code}")
            self._leave(self._code)


class TaskExit(SystemExit):
    """Ends the process; the code is asked for last of all."""

    def __init__(self, exits):
        super().__init__()
        self._exits = exits

    @property
    def code(self):
        """Return the exit code."""
        return self._exits.take()
