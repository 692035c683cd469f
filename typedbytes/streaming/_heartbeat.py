"""A heartbeat while records are read and none are written.

Hadoop kills a task after ten minutes without output records or lines on standard error. So once a minute the task
reports its progress, but only when it has read more records or user code has called ping(): a task that hangs is not
kept alive. The content of records is not known here.
"""

import os
import sys
import time
from _thread import allocate_lock, start_new_thread

from typedbytes.streaming import _reporter
from typedbytes.streaming.task_environment import is_local

BEAT_SECONDS = 60.0


class Heartbeat:
    """Report once a minute; ``count()`` returns the number of records read so far."""

    def __init__(self, count):
        self._count = count
        self._before = self._progress()

    def start(self):
        """Start a daemon thread, where silence may end the task."""
        if is_local(os.environ):
            return
        begun = allocate_lock()
        begun.acquire()
        start_new_thread(self._run, (begun.release,))
        begun.acquire()  # before Python 3.12, a thread that is still starting while the interpreter ends crashes it

    def release(self):
        """Drop what belongs to the task, which is done.

        The interpreter destroys no global variable of a script that a thread still reaches, and would not flush a file
        that is one of them.
        """
        self._count = None

    def beat(self):
        """Send the status if there was progress since the last time."""
        now = self._progress()
        if now != self._before:
            self._before = now
            _reporter.send_status(_reporter.last_status or f"{now[0]} records read{_most_memory()}")

    def _progress(self):
        count = self._count
        return (count(), _reporter.pings) if count else self._before

    def _run(self, report_begun):
        report_begun()
        while True:
            time.sleep(BEAT_SECONDS)
            self.beat()


def _most_memory():
    try:
        from resource import RUSAGE_SELF, getrusage
    except ModuleNotFoundError:  # not on Windows
        return ""
    per_mb = 1 << 20 if sys.platform == "darwin" else 1 << 10  # macOS counts bytes, others KiB
    return f", {getrusage(RUSAGE_SELF).ru_maxrss // per_mb} MB of memory at most"
