"""A process that outlives the job's: it ends the job's remaining processes and removes its remaining files.

It holds one end of a pipe whose other end only the job's process has. That end closes when the job is done and when its process dies
for any reason, SIGKILL included; then the caretaker kills the process groups and removes the folders that were reported to it and not
forgotten. Nothing else removes them, so no signal to the job's process can interrupt that. It runs in a session of its own, out of
reach of the terminal, and ignores every signal that can be ignored. Invariant: a folder is reported before it is created, a process
as soon as its process ID is known.

The class is the job's side; run as a script, this file is the caretaker itself, which imports nothing of ours.
"""

import _signal  # as in a task: signal itself would double the time to start
import os
import shutil
import sys
import time

__all__ = ["Caretaker"]

END_NUMBERS = _signal.SIGHUP, _signal.SIGINT, _signal.SIGTERM
TRIES, SECONDS_BETWEEN = 100, 0.05  # of removing what a process that is dying may still be adding to


class Caretaker:
    """Tell a caretaker what to end and remove: a process group by its ID, a folder by its path."""

    def __init__(self):
        import subprocess  # lazy import: the caretaker itself needs neither
        import threading

        reader, pipe = os.pipe()
        self._pipe: int | None = pipe
        self._lock = threading.Lock()
        self._paths = set()
        try:
            command = [sys.executable, "-I", "-S", os.path.abspath(__file__)]
            self._process = subprocess.Popen(
                command, stdin=reader, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", start_new_session=True
            )
        except BaseException:
            os.close(pipe)
            raise
        finally:
            os.close(reader)

    def add(self, what):
        """Take care of a process group or a folder from now on."""
        self._note("+", what)

    def forget(self, what):
        """Leave a process group or a folder alone from now on."""
        self._note("-", what)

    def _note(self, sign, what):
        with self._lock:
            if isinstance(what, str):
                (self._paths.add if sign == "+" else self._paths.discard)(what)
            if self._pipe is None:
                return
            try:
                os.write(self._pipe, os.fsencode(f"{sign}{what}\0"))
            except BrokenPipeError:
                pass  # the caretaker was killed; the job continues

    def finish(self):
        """End and remove everything, and wait for that; when called again, only wait."""
        with self._lock:
            pipe, self._pipe = self._pipe, None
            if pipe is not None:
                os.close(pipe)
        if self._process.wait() != 0:
            _remove(self._paths)


def main():
    """Read until the job's process is gone, then end and remove."""
    for number in END_NUMBERS:
        _signal.signal(number, _signal.SIG_IGN)
    groups, folders = _reported()
    for group in groups:
        try:
            os.killpg(group, _signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
    _remove(folders)


def _reported():
    cared: set = set()
    rest = b""
    while data := os.read(0, 1 << 16):
        *messages, rest = (rest + data).split(b"\0")
        for message in messages:
            (cared.add if message[:1] == b"+" else cared.discard)(message[1:])
    folders = {each for each in cared if each.startswith(b"/")}
    return map(int, cared - folders), folders


def _remove(folders):
    for folder in folders:
        for _ in range(TRIES):
            shutil.rmtree(folder, ignore_errors=True)
            if not os.path.lexists(folder):
                break
            time.sleep(SECONDS_BETWEEN)


if __name__ == "__main__":
    main()
