"""A process that outlives the job's: it ends the job's remaining processes and removes its remaining files.

It reads a pipe whose other end only the job's process has. It stops at the message that the job is done, and at the end
of the pipe, when that process has died for any reason, SIGKILL included; then it kills the process groups and removes
the folders that were reported to it and not forgotten. It removes whatever is left, however the job ends; attempts that
fail and finished steps are removed earlier. No signal to the job's process can interrupt it: it runs in a session of
its own, out of reach of the terminal, and ignores every signal that can be ignored. Invariant: a folder is reported
before it is created, a process as soon as its process ID is known.

The class is the job's side; run as a script, this file is the caretaker itself, which imports nothing of ours.
"""

from __future__ import annotations

import _signal  # as in a task: signal itself would double the time to start
import os
import shutil
import sys
import time

__all__ = ["Caretaker"]

END_NUMBERS = _signal.SIGHUP, _signal.SIGINT, _signal.SIGTERM
DONE = b"!"  # the message that the job is done
TRIES, SECONDS_BETWEEN = 100, 0.05  # of removing what a process that is dying may still be adding to


class Caretaker:
    """Tell a caretaker what to end and remove: a process group by its ID, a folder by its path."""

    def __init__(self) -> None:
        import subprocess
        import threading

        from typedbytes.jobs.tasks.pipes import make_pipe

        reader, self._pipe = make_pipe()
        self._lock = threading.Lock()
        self._paths: set[str] = set()
        try:
            command = [sys.executable, "-I", "-S", os.path.abspath(__file__)]
            self._process = subprocess.Popen(
                command, stdin=reader, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/",
                start_new_session=True,
            )  # fmt: skip
        except BaseException:
            self._pipe.close()
            raise
        finally:
            reader.close()

    def add(self, what: int | str) -> None:
        """Take care of a process group or a folder from now on."""
        self._note("+", what)

    def forget(self, what: int | str) -> None:
        """Leave a process group or a folder alone from now on."""
        self._note("-", what)

    def _note(self, sign, what):
        with self._lock:
            if isinstance(what, str):
                (self._paths.add if sign == "+" else self._paths.discard)(what)
            if not self._pipe.closed:
                self._send(os.fsencode(f"{sign}{what}"))

    def _send(self, message):
        try:
            self._pipe.write(message + b"\0")
        except BrokenPipeError:
            pass  # the caretaker was killed; the job continues

    def finish(self) -> None:
        """End and remove everything, and wait for that; when called again, only wait."""
        with self._lock:
            if not self._pipe.closed:
                self._send(DONE)
                self._pipe.close()
        if self._process.wait() != 0:
            _remove(self._paths)


def main() -> None:
    """Read until the job is done or its process is gone, then end and remove."""
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
    for message in _messages():
        (cared.add if message[:1] == b"+" else cared.discard)(message[1:])
    folders = {each for each in cared if each.startswith(b"/")}
    return map(int, cared - folders), folders


def _messages():
    rest = b""
    while data := os.read(0, 1 << 16):
        *messages, rest = (rest + data).split(b"\0")
        for message in messages:
            if message == DONE:
                return
            yield message


def _remove(folders):
    for folder in folders:
        for _ in range(TRIES):
            shutil.rmtree(folder, ignore_errors=True)
            if not os.path.lexists(folder):
                break
            time.sleep(SECONDS_BETWEEN)


if __name__ == "__main__":
    main()
