"""End the command in order on SIGHUP, SIGINT and SIGTERM.

The first signal raises Stopped wherever the command is; while that exception is handled and cleanup runs, further
signals do nothing. A signal that was ignored at the start, for example by nohup, stays ignored.
"""

import _signal  # as in a task: signal itself would cost each command its import
import sys

# Windows has no SIGHUP.
SIGNALS = [getattr(_signal, name) for name in ("SIGHUP", "SIGINT", "SIGTERM") if hasattr(_signal, name)]


class Stopped(KeyboardInterrupt):
    """Raised by a signal that ends the command; `status` is the exit code."""

    def __init__(self, number):
        super().__init__(number)
        self.status = 128 + number


class Stoppable:
    """Let the signals raise Stopped during a with block.

    is_last: the process ends with the block; after Stopped, signals stay ignored.
    """

    def __init__(self, is_last):
        self._is_last = is_last
        self._before = {}

    def __enter__(self):
        for number in SIGNALS:
            handler = _signal.getsignal(number)
            if handler not in (_signal.SIG_IGN, None):  # None: not installed from Python
                try:
                    _signal.signal(number, _stop)
                except ValueError:  # not in the main thread, which handles all signals
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
