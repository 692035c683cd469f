"""The standard error of tasks: counters are added up, other lines are passed on.

The lines are those of Hadoop Streaming: "reporter:counter:group,name,amount" and "reporter:status:text". Always true: what counts here
counts there, with the same amount; the counters of an attempt count only once it has succeeded, as in Hadoop; so do Hadoop's limits, which
fail the task, or the job, that goes beyond them.
"""

import re
import sys
from collections import deque
from threading import Lock

__all__ = ["Counters", "Messages", "lines_of"]

MOST_COUNTERS, MOST_GROUPS = 120, 50  # mapreduce.job.counters.max and mapreduce.job.counters.groups.max
OWN_PREFIX = "org.apache.hadoop.mapreduce."
TAIL_NLINES = 60  # the last lines of an attempt's messages, kept for an error
PIECE_NBYTES = 1 << 16  # of a line that is passed on before it has ended: it must not fill memory
MOST_REPORT_NBYTES = 1 << 20  # a report must have ended

_SMALL = "".join(map(chr, range(33)))  # what Java's trim() takes off
_LONG = re.compile("[+-]?\\d+")
_SIGN_BIT = 1 << 63


class Counters(dict):
    """Amounts by group and name: ``counters["words"]["distinct"]``."""

    def add(self, group, name, amount):
        """Add an amount to a counter."""
        names = self.setdefault(group, {})
        names[name] = (names.get(name, 0) + amount + _SIGN_BIT) % (2 * _SIGN_BIT) - _SIGN_BIT  # a long of Java's

    def merge(self, other):
        """Add all of other counters."""
        for group, names in other.items():
            for name, amount in names.items():
                self.add(group, name, amount)

    def beyond(self, ncounters=0, ngroups=0):
        """Return what is more than Hadoop allows a job, None when nothing is; with so many counters and groups of its own."""
        groups = [names for group, names in self.items() if not group.startswith(OWN_PREFIX)]
        for what, number, most in (
            ("counters", sum(map(len, groups)), MOST_COUNTERS - ncounters),
            ("groups of counters", len(groups), MOST_GROUPS - ngroups),
        ):
            if number > most:
                return f"{number} {what}, more than the {most} that Hadoop allows a job"
        return None


class Messages:
    """Take the lines of one attempt; `beyond` says which of its counters are more than Hadoop allows, None: none.

    A mapper and its combiner are heard at the same time, each by a thread.
    """

    def __init__(self, quiet=False):
        self.counters = Counters()
        self.tail = deque(maxlen=TAIL_NLINES)
        self.status = ""
        self.beyond = None
        self._quiet = quiet
        self._lock = Lock()

    def take(self, line, whole=True):
        """Take one line of bytes, with its end where it has one; when it is not whole, a piece of one."""
        with self._lock:
            if whole and line.startswith(b"reporter:"):
                self._take_report(line)
            elif line.strip():  # an empty line comes before each message; it is no line of its own
                self._pass_on(line)

    def _take_report(self, line):
        text = line.rstrip(b"\r\n").decode("utf-8", "replace")
        try:
            if text.startswith("reporter:counter:"):
                self._count(text[17:].strip(_SMALL))
            elif text.startswith("reporter:status:"):
                self.status = text[16:].strip(_SMALL)
            else:
                raise ValueError
        except ValueError:
            self._pass_on(b"cannot parse " + line)

    def _count(self, report):
        group, name, amount = report.rstrip(",").split(",")  # split() of Java's leaves empty ends out
        self.counters.add(_cut(group, 128), _cut(name, 64), _long(amount))
        self.beyond = self.counters.beyond()

    def _pass_on(self, line):
        text = _text(line.rstrip(b"\r\n"))
        self.tail.append(text)
        if not self._quiet and sys.stderr is not None:
            try:
                sys.stderr.write(text + "\n")
            except (OSError, ValueError):
                self._quiet = True  # standard error is closed; later counters are still needed


def _text(data):
    return data.decode("utf-8", "backslashreplace")


def _cut(name, most):
    """Return a name as Hadoop cuts it; a character beyond 16 bits is two to Java, and half of one a question mark."""
    units = name.encode("utf-16-le")
    if len(units) <= 2 * most:
        return name
    return units[: 2 * most - 2].decode("utf-16-le", "surrogatepass").encode("utf-8", "replace").decode()


def _long(text):
    """Return what Long.parseLong makes of a text; raises ValueError for what it refuses."""
    if not _LONG.fullmatch(text) or max(text) > "\uffff":
        raise ValueError(text)
    digits = text.lstrip("+-").lstrip("0") or "0"
    amount = int(digits) if len(digits) <= 19 else _SIGN_BIT + 1
    amount = -amount if text[0] == "-" else amount
    if not -_SIGN_BIT <= amount < _SIGN_BIT:
        raise ValueError(text)
    return amount


def lines_of(pipe):
    """Yield (line, whole) of what is read from a pipe: at LF, CR and both a line ends, and a long one comes in pieces that are not whole."""
    held, is_start, after_return = bytearray(), True, False
    while data := pipe.read(PIECE_NBYTES):
        for line in data.splitlines(True):
            if after_return and line == b"\n":  # of a pair that was read in two parts
                after_return = False
                continue
            held += line
            ended = line.endswith((b"\n", b"\r"))
            is_report = is_start and held.startswith(b"reporter:")
            if ended or len(held) >= (MOST_REPORT_NBYTES if is_report else PIECE_NBYTES):
                yield bytes(held), is_start and ended
                held.clear()
                is_start = ended
            after_return = line.endswith(b"\r")
    if held:
        yield bytes(held), is_start
