"""A sign of life while records are read and none are written.

Hadoop kills a task it has not heard of for ten minutes, and hears only of records that leave and of lines on standard
error. So once a minute the task says how far it is, but only when it has read on or its own code has said ping(): a task
that hangs is not kept alive. Nothing here knows what a record is.
"""

import time
from _thread import allocate_lock, start_new_thread

from typedbytes.streaming import _report

BEAT_SECONDS = 60.0


class Heart:
    """Beat once a minute; ``count`` gives the number of records read so far."""

    def __init__(self, count):
        self._count = count
        self._before = self._progress()

    def start(self):
        """Begin, in a thread that ends with the process."""
        begun = allocate_lock()
        begun.acquire()
        start_new_thread(self._beat_on, (begun.release,))
        begun.acquire()    # a thread that is still being made while the interpreter ends crashes it, before Python 3.12

    def beat(self):
        """Send the status, or nothing when nothing has moved since the last time."""
        now = self._progress()
        if now != self._before:
            self._before = now
            _report.say_status(_report.last_status or f"{now[0]} records read, {_memory_megabytes()} MB of memory at most")

    def _progress(self):
        return self._count(), _report.pings

    def _beat_on(self, tell_begun):
        tell_begun()
        while True:
            time.sleep(BEAT_SECONDS)
            self.beat()


def _memory_megabytes():
    from resource import RUSAGE_SELF, getrusage

    return getrusage(RUSAGE_SELF).ru_maxrss // 1024
