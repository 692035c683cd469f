"""Count how often C code checks for signals, and send one at a known moment; times depend on the machine.

Here: a signal that is raised again each time it is handled, the count, and a signal that an event causes. Not here:
what is being tested. Invariant: no Python code of this file runs for the signal, so that nothing else handles it.
"""

import contextlib
import ctypes
import functools
import os
import select
import signal
import threading

# Called by the interpreter whenever the signal is handled, with its number and a frame, or by a codec,
# with what a hook is given; C uses the first alone.
_raise_again = ctypes.CDLL(None)["raise"]
_raise_again.argtypes = [ctypes.c_int, ctypes.py_object]


def raising(number):
    """Return a hook that raises a signal and returns 0; the compiled code that calls it handles the signal next."""
    return functools.partial(_raise_again, number)


def times_checked(work):
    """Return how many times signals were checked, at least, while `work()` ran in C."""
    with _endless_signal(signal.SIGUSR1) as count:
        work()
        return count()


@contextlib.contextmanager
def _endless_signal(number):
    """Raise a signal again and again; yield a function that counts how often it came."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    handler_before = signal.signal(number, _raise_again)
    descriptor_before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        signal.raise_signal(number)
        yield lambda: len(os.read(reading, 1 << 20))
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, [number])  # now it waits in the system for the one that takes it
        signal.sigwait([number])
        signal.set_wakeup_fd(descriptor_before)
        signal.signal(number, handler_before)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
        os.close(reading)
        os.close(writing)


@contextlib.contextmanager
def interrupted_when_readable(source):
    """Send SIGALRM to this thread once there is something to read: a large writer is then in its system call."""
    writing_thread, has_ended = threading.get_ident(), threading.Event()

    def interrupt():
        while not has_ended.is_set():
            if select.select([source], [], [], 0.05)[0]:
                return signal.pthread_kill(writing_thread, signal.SIGALRM)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join()
