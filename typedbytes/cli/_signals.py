"""An orderly end of the command on SIGHUP, SIGINT and SIGTERM: one exception, which nothing but its own handling outlives.

Here: what a signal does. Not here: what there is to clean up. Always true: the first signal raises Stopped wherever the command is; while
that is handled, by whatever cleans up on its way, further ones do nothing; a signal that was ignored at the start, by nohup say, stays so.
"""

import _signal  # as in a task: signal itself would cost each command its import
import sys

SIGNALS = _signal.SIGHUP, _signal.SIGINT, _signal.SIGTERM


class Stopped(KeyboardInterrupt):
    """The command was told to stop; `status` is its exit code."""

    def __init__(self, number):
        super().__init__(number)
        self.status = 128 + number


class Stoppable:
    """Have the signals raise Stopped for the length of a with block.

    is_last: the process ends with the block. After Stopped, signals then do nothing any more.
    """

    def __init__(self, is_last):
        self._is_last = is_last
        self._before = {}

    def __enter__(self):
        for number in SIGNALS:
            handler = _signal.getsignal(number)
            if handler not in (_signal.SIG_IGN, None):  # None: it is not Python's matter
                try:
                    _signal.signal(number, _stop)
                except ValueError:  # in another thread than the main one, which hears all signals
                    break
                self._before[number] = handler

    def __exit__(self, kind, error, traceback):
        is_over = self._is_last and isinstance(error, Stopped)
        for number, handler in self._before.items():
            _signal.signal(number, _signal.SIG_IGN if is_over else handler)


def _stop(number, frame):
    handled = sys.exc_info()[1]
    while handled is not None:
        if isinstance(handled, Stopped):
            return
        handled = handled.__context__
    raise Stopped(number)
