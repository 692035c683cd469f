"""What tasks say on standard error: counters, which are added up, and all else, which is passed on.

The lines are those of Hadoop Streaming: "reporter:counter:group,name,amount" and "reporter:status:text". Always true: the counters
of an attempt count only once it has succeeded, as in Hadoop; so does Hadoop's limit, which fails the task that goes beyond it.
"""

import re
import sys
from collections import deque
from threading import Lock

__all__ = ["Counters", "Messages"]

MOST_COUNTERS = 120    # mapreduce.job.counters.max
TAIL_NLINES = 60    # of an attempt's messages that an error tells

_COUNTER = re.compile(rb"reporter:counter:([^,]*),([^,]*),([+-]?[0-9]{1,19})\s*$")


class Counters(dict):
    """Amounts by group and name: ``counters["words"]["distinct"]``."""

    def add(self, group, name, amount):
        """Add an amount to a counter."""
        names = self.setdefault(group, {})
        names[name] = names.get(name, 0) + amount

    def merge(self, other):
        """Add all of other counters."""
        for group, names in other.items():
            for name, amount in names.items():
                self.add(group, name, amount)


class Messages:
    """Take the lines of one attempt; `too_many` tells that its counters are more than Hadoop allows.

    A mapper and its combiner are heard at the same time, each by a thread.
    """

    def __init__(self, quiet=False):
        self.counters = Counters()
        self.tail = deque(maxlen=TAIL_NLINES)
        self.status = ""
        self.too_many = False
        self._quiet = quiet
        self._lock = Lock()

    def take(self, line):
        """Take one line of bytes, with its line feed where it has one."""
        with self._lock:
            if line.startswith(b"reporter:"):
                self._take_report(line)
            elif line.strip():    # an empty line comes before each message; it is no line of its own
                self._pass_on(line)

    def _take_report(self, line):
        found = _COUNTER.match(line)
        if found:
            group, name, amount = found.groups()
            self.counters.add(_text(group)[:127], _text(name)[:63], int(amount))
            self.too_many = sum(map(len, self.counters.values())) > MOST_COUNTERS
        elif line.startswith(b"reporter:status:"):
            self.status = _text(line[16:].strip())
        else:
            self._pass_on(b"cannot parse " + line)

    def _pass_on(self, line):
        text = _text(line.rstrip(b"\r\n"))
        self.tail.append(text)
        if not self._quiet and sys.stderr is not None:
            try:
                sys.stderr.write(text + "\n")
            except (OSError, ValueError):
                self._quiet = True    # nobody reads it any more; the counters that come are still wanted


def _text(data):
    return data.decode("utf-8", "backslashreplace")
