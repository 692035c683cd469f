"""The standard error of tasks: counters are added up, other lines are passed on.

The lines are those of Hadoop Streaming: "reporter:counter:group,name,amount" and "reporter:status:text". Invariant: a
line counts here if it counts in Hadoop, with the same amount; as in Hadoop, the counters of an attempt count only once
it has succeeded, and a task or job that exceeds Hadoop's limits fails.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from threading import Lock

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

__all__ = ["HADOOP_COUNTERS", "TASK_COUNTERS", "TASK_GROUPS", "Counters", "Messages", "lines_of", "numbers_of_tasks"]

TASK_COUNTERS = "org.apache.hadoop.mapreduce.TaskCounter"
TASK_GROUPS = TASK_COUNTERS, "Map-Reduce Framework"  # the second is how Hadoop's client calls it
#: Hadoop's own counters that count towards its limits, and their groups, without and with reducers.
HADOOP_COUNTERS = {False: (2, 2), True: (8, 3)}
MAX_COUNTERS, MAX_GROUPS = 120, 50  # mapreduce.job.counters.max and mapreduce.job.counters.groups.max
OWN_PREFIX = "org.apache.hadoop.mapreduce."
TAIL_NLINES = 60  # the last lines of an attempt's messages, kept for an error
PIECE_NBYTES = 1 << 16  # a longer line is passed on in pieces, to bound memory
MAX_REPORT_NBYTES = 1 << 20  # a longer report is passed on as other lines are

_SMALL = "".join(map(chr, range(33)))  # removed by Java's trim()
_LONG = re.compile("[+-]?\\d+")
_SIGN_BIT = 1 << 63


class Counters(dict[str, dict[str, int]]):
    """Amounts by group and name: ``counters["words"]["distinct"]``."""

    def add(self, group: str, name: str, amount: int) -> None:
        """Add an amount to a counter."""
        names = self.setdefault(group, {})
        names[name] = (names.get(name, 0) + amount + _SIGN_BIT) % (2 * _SIGN_BIT) - _SIGN_BIT  # a Java long

    def merge(self, other: Mapping[str, Mapping[str, int]]) -> None:
        """Add all of other counters."""
        for group, names in other.items():
            for name, amount in names.items():
                self.add(group, name, amount)

    def exceeded_limit(self, ncounters: int = 0, ngroups: int = 0) -> str | None:
        """Return which limit of Hadoop these counters exceed, or None.

        ncounters, ngroups: Hadoop's own, which count too.
        """
        groups = [names for group, names in self.items() if not group.startswith(OWN_PREFIX)]
        for what, number, limit in (
            ("counters", sum(map(len, groups)), MAX_COUNTERS - ncounters),
            ("groups of counters", len(groups), MAX_GROUPS - ngroups),
        ):
            if number > limit:
                return f"{number} {what}, more than the {limit} that Hadoop allows a job"
        return None


def numbers_of_tasks(counters: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return the counters of all tasks by their names in Hadoop, such as MAP_INPUT_RECORDS.

    The counters are ours, or those that Hadoop's client prints.

    >>> numbers_of_tasks({"Map-Reduce Framework": {"Map input records": 2}})
    {'MAP_INPUT_RECORDS': 2}
    """
    found = {
        name.upper().replace(" ", "_"): amount
        for group in TASK_GROUPS
        for name, amount in counters.get(group, {}).items()
        if isinstance(amount, int)
    }
    of_splits = counters.get("typedbytes", {}).get("MapInputRecords")  # where Hadoop counts pieces of splits
    return found if of_splits is None else {**found, "MAP_INPUT_RECORDS": of_splits}


class Messages:
    """Handle the lines of one attempt; `exceeded_limit` says which of Hadoop's limits its counters exceed, or is None.

    The lines of a mapper and its combiner arrive at the same time, from a thread for each.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.counters: Counters = Counters()
        self.tail: deque[str] = deque(maxlen=TAIL_NLINES)
        self.exceeded_limit: str | None = None
        self._quiet = quiet
        self._lock = Lock()

    def handle(self, line: bytes, whole: bool = True) -> None:
        """Handle a line of bytes with its line end, if it has one; not whole: a piece of a line."""
        with self._lock:
            if whole and line.startswith(b"reporter:"):
                self._handle_report(line)
            elif line.strip():  # our messages start with an empty line, which is not passed on
                self._pass_on(line)

    def _handle_report(self, line):
        text = line.rstrip(b"\r\n").decode("utf-8", "replace")
        try:
            if text.startswith("reporter:counter:"):
                self._count(text[17:].strip(_SMALL))
            elif not text.startswith("reporter:status:"):  # the status of a task is not shown here
                raise ValueError
        except ValueError:
            self._pass_on(b"cannot parse " + line)

    def _count(self, report):
        group, name, amount = report.rstrip(",").split(",")  # Java's split() drops trailing empty strings
        group, name, number = _shortened(group, 128), _shortened(name, 64), _parse_long(amount)
        if self.exceeded_limit:
            return  # the attempt fails anyway, and a task that counts by keys would fill the memory
        is_new = name not in self.counters.get(group, ())
        self.counters.add(group, name, number)
        if is_new:
            self.exceeded_limit = self.counters.exceeded_limit()

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


def _shortened(name, max_units):
    """Return a name cut as Hadoop does: a character beyond 16 bits counts twice, half of one becomes "?"."""
    units = name.encode("utf-16-le")
    if len(units) <= 2 * max_units:
        return name
    return units[: 2 * max_units - 2].decode("utf-16-le", "surrogatepass").encode("utf-8", "replace").decode()


def _parse_long(text):
    """Return the result of Java's Long.parseLong; raises ValueError where that fails."""
    if not _LONG.fullmatch(text) or max(text) > "\uffff":
        raise ValueError(text)
    digits = text.lstrip("+-").lstrip("0") or "0"
    amount = int(digits) if len(digits) <= 19 else _SIGN_BIT + 1
    amount = -amount if text[0] == "-" else amount
    if not -_SIGN_BIT <= amount < _SIGN_BIT:
        raise ValueError(text)
    return amount


def lines_of(pipe: Any) -> Iterator[tuple[bytes, bool]]:
    """Yield (line, whole) of the lines of a pipe; long lines come in pieces that are not whole.

    Lines end with LF, CR or CR LF.
    """
    held, is_start, after_return = bytearray(), True, False
    while data := pipe.read(PIECE_NBYTES):
        for line in data.splitlines(True):
            if after_return and line == b"\n":  # of a CR LF that was read in two parts
                after_return = False
                continue
            held += line
            ended = line.endswith((b"\n", b"\r"))
            is_report = is_start and held.startswith(b"reporter:")
            if ended or len(held) >= (MAX_REPORT_NBYTES if is_report else PIECE_NBYTES):
                yield bytes(held), is_start and ended
                held.clear()
                is_start = ended
            after_return = line.endswith(b"\r")
    if held:
        yield bytes(held), is_start
