"""The messages of a task on standard error: counters, status, and why it failed.

Hadoop reads standard error line by line and treats those that begin with "reporter:" as messages. Each line is one
write of at most 4096 bytes, which is atomic on a pipe, so lines of threads and children do not mix; a message starts
with a line feed, since other code may have left its line open. A failed write never fails the task. Records and formats
are not known here, but for the error of damaged ones.
"""

import os
import time

# _operator and _thread are loaded already; the modules that wrap them are not: start-up time
from _operator import index
from _thread import RLock

from typedbytes._base.secrets import without_secrets
from typedbytes.errors import DecodeError, TypedBytesError

LINE_NBYTES = 4096
SEND_SECONDS = 10.0
MAX_COUNTERS = 100  # Hadoop kills a job at its 121st counter, and counters of other code count towards it
AMOUNTS = 1 << 64  # number of values of a Java long, half of them negative
GROUP_NCHARS, NAME_NCHARS = 128, 64
#: The files of this package, and those that its compiled modules name as theirs.
OWN_FILES = os.path.dirname(os.path.dirname(__file__)) + os.sep, "src/typedbytes/"

_ONE_LINE = {10: " ", 13: " "}
_ONE_FIELD = {10: " ", 13: " ", 44: ";"}


def write_line(text):
    """Write one line of a message, without secrets: the logs of a task have many readers."""
    _write(without_secrets(text))


def _write(text, start=b""):
    """Write `start` and one line, cut to the length that a pipe takes atomically."""
    data = start + text.translate(_ONE_LINE).encode("utf-8", "backslashreplace")
    if len(data) >= LINE_NBYTES:
        data = data[: LINE_NBYTES - 1].decode("utf-8", "ignore").encode("utf-8")
    if receiver is not None:
        receiver(data.lstrip(b"\n") + b"\n")
        return
    try:
        os.write(2, data + b"\n")
    except OSError:
        pass  # standard error is closed; the records may still be needed


def _send(message):
    prefix = os.environ.get("stream_stderr_reporter_prefix", "reporter:")  # noqa: SIM112, the name is Hadoop's
    _write(prefix + message, b"\n")


def _field(name, nchars):
    # Hadoop cuts longer names itself, one short of its limit; done here, names that become equal share a counter.
    name = str(name).translate(_ONE_FIELD)
    return name if len(name) <= nchars else name[: nchars - 1]


class CounterBuffer:
    """Amounts added since they were last sent, and all names used so far.

    A signal handler may count in the middle of any method here, and raise. So it can take the lock of its own thread
    again, its amount only joins a list while amounts are summed up or sent, and no amount is sent twice.
    """

    def __init__(self):
        self._lock = RLock()
        self._names = set()
        self._added = []  # (key, amount)
        self._amounts = {}
        self._is_busy = False
        self._sent_at = time.monotonic()

    def add(self, group, name, amount):
        """Add an amount, and send all amounts when the last time was SEND_SECONDS ago."""
        key = _field(group, GROUP_NCHARS), _field(name, NAME_NCHARS)
        amount = index(amount)
        if not -AMOUNTS // 2 <= amount < AMOUNTS // 2:
            raise ValueError(f"counter {key} takes amounts of 64 bits, as Hadoop does, not {amount:#x}")
        with self._lock:
            self._add_name(key)
            self._added.append((key, amount))
            self._sum_up(sends=time.monotonic() - self._sent_at >= SEND_SECONDS)

    @property
    def are_used(self):
        """Whether anything was counted."""
        return bool(self._names)

    def restart(self):
        """Forget the amounts and names of an earlier task of this process."""
        with self._lock:
            self._names.clear()
            self._added.clear()
            self._amounts.clear()

    def pop_unsent(self):
        """Return the amounts that were not sent, and clear them."""
        with self._lock:
            self._sum_up(sends=False)
            amounts, self._amounts = self._amounts, {}
        return amounts

    def send(self):
        """Send the amounts."""
        with self._lock:
            self._sum_up(sends=True)

    def _add_name(self, key):
        if key not in self._names and len(self._names) >= MAX_COUNTERS:
            raise ValueError(f"counter {key} exceeds the limit of {MAX_COUNTERS} counters for a task")
        self._names.add(key)

    def _sum_up(self, sends):
        if self._is_busy:
            return  # this is the handler of a signal that has interrupted the rest
        try:
            self._is_busy = True
            while self._added:
                key, amount = self._added.pop()
                amount += self._amounts.get(key, 0)
                self._amounts[key] = (amount + AMOUNTS // 2) % AMOUNTS - AMOUNTS // 2  # as Hadoop adds them
            if sends:
                self._send()
        finally:
            self._is_busy = False

    def _send(self):
        for key in list(self._amounts):
            group, name = key
            # if it is interrupted, nothing says whether it was sent
            _send(f"counter:{group},{name},{self._amounts.pop(key)}")
        self._sent_at = time.monotonic()


counters = CounterBuffer()
receiver = None  # what takes the lines of a task in this process, where there is no standard error of its own
last_status = None  # the last status() of user code, which the heartbeat repeats
pings = 0


def counter(group, name, amount=1):
    """Add an amount to a counter of the job.

    Amounts are added up and sent to Hadoop every ten seconds and at the end of the task. Commas in names
    become semicolons and line ends become spaces; Hadoop cuts a group longer than 128 characters to 127 and
    a name longer than 64 to 63. Raises TypeError for an amount that is not an integer and ValueError for one that
    64 bits do not hold, and for the 101st name: Hadoop fails a job that has more than 120.

    >>> counter("words", "too long")
    >>> counter("words", "letters", 12)
    """
    counters.add(group, name, amount)


def status(text):
    """Send a line of text as the state of the task, at once.

    Line ends in the text become spaces, and at most 4096 bytes are sent.
    """
    global last_status
    last_status = f"{text}"
    send_status(last_status)


def send_status(text):
    """Send a line of text as the state of the task."""
    _send(f"status:{text}")


def ping():
    """Report that the task is alive while it works on a record that takes minutes.

    Hadoop kills a task that is silent for ten minutes. A heartbeat reports once a minute if records were read since; a
    ping() counts like a record.

    >>> ping()
    """
    global pings
    pings += 1


def text_of(error):
    """Return the text of an exception, which may be of user code and have none.

    >>> text_of(ValueError("too long"))
    'too long'
    """
    try:
        return str(error)
    except Exception:
        return "<exception str() failed>"  # as in a traceback


def write_failure(details, error):
    """Write the details, pairs of a name and a text, then the error and its traceback from the user's first line on.

    Where no line of the user is in it, an error of this package's own classes comes without its traceback.
    """
    from traceback import format_exception

    for name, text in details:
        write_line(f"typedbytes: {name}: {text}")
    traceback = _from_user_code(error.__traceback__)
    if traceback is None:
        if isinstance(error, DecodeError):
            return  # the details say it all
        traceback = None if isinstance(error, TypedBytesError) else error.__traceback__
    for part in format_exception(type(error), error, traceback):
        for line in part.splitlines():
            write_line(line)


def _from_user_code(traceback):
    """Return a traceback without its first lines that are of this package; None if all are."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(OWN_FILES):
        traceback = traceback.tb_next
    return traceback
