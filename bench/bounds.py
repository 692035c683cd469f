"""What the worst input takes: time for a mebibyte, growth with the size, and how long a signal waits.

    python bench/bounds.py              measure all of it; exit code 1 when something is beyond its limit
    python bench/bounds.py deep maps    only what has one of these words in its name
    python bench/bounds.py --quick      once each, with the limits as they are

Here: limits, and the measuring against them. Not here: how the input is made (tests/support/families.py and
short_parts.py, tests/core/test_hostile_pickles.py). Invariant: time is CPU time of the process that works, the least of
several rounds, so that a busy machine changes little; the growth is that of a doubling, taken over two of them. Both
sizes of a growth are measured by turns, and each time by a new process: whatever else runs meets both, and neither gets
memory that is in the caches already. Growth and signals are measured without the collector: its turns are the
interpreter's, and depend on what else there is.
"""

import argparse
import contextlib
import gc
import io
import multiprocessing
import os
import signal
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "core")]

import test_hostile_pickles  # noqa: E402

import typedbytes as tb  # noqa: E402
from gates import figures  # noqa: E402
from support import families, short_parts  # noqa: E402

MEBIBYTE = 1 << 20
SECONDS = 1.0  # for a mebibyte
DOUBLING = 2.5  # times as long for twice the size
LATENCY_SECONDS = 0.1  # until a signal is handled
LIMITS = {"seconds": SECONDS, "doubling": DOUBLING, "latency_seconds": LATENCY_SECONDS}
#: A ratio of less says more about the caches than about the input; what grows with the square is soon beyond it.
SHORT_SECONDS = 0.02
NROUNDS = 3
NGROWTH_ROUNDS = 5
NINTERRUPTS = 7


@dataclass
class Line:
    """One line of a table: its name, its numbers as shown, and what of it has a limit."""

    name: str
    numbers: list
    measured: dict

    @property
    def beyond(self):
        """Tell whether something is beyond its limit."""
        return any(number > LIMITS[name] for name, number in self.measured.items())


def cpu_seconds(use, data):
    """Return the CPU time of one use, whatever comes of it."""
    started = time.process_time()
    try:
        use(data)
    except tb.DecodeError:
        pass
    return time.process_time() - started


def least_seconds(use, data, nrounds):
    """Return the least CPU time of several uses."""
    return min(cpu_seconds(use, data) for _ in range(nrounds))


# -- time -------------------------------------------------------------------------------------------------


class Parts:
    """Give 64 KiB at a time, as a pipe does."""

    def __init__(self, data):
        self.file = io.BytesIO(data)

    def read(self, nbytes):
        """Return some."""
        return self.file.read(min(nbytes, 65_536))


WAYS = {
    "loads": tb.loads,
    "exact": lambda data: tb.loads(data, exact=True, map_pairs=True, unicode_errors="backslashreplace"),
    "stream": lambda data: [list(values) for _, values in tb.PairReader(Parts(data)).groups()],
    "skip": tb.skip,
}
#: How bytes of a size are made, and the ways of reading them.
FAMILIES = {
    **{name: (make, WAYS) for name, make in families.FAMILIES.items()},
    **{
        f"pickle: {name}": (lambda n, make=make: families.pickled(make(n)), WAYS)
        for name, make in test_hostile_pickles.FAMILIES.items()
    },
    **{name: (make, {"read": use}) for name, (make, use) in short_parts.FAMILIES.items()},
}


@contextlib.contextmanager
def collector_off():
    """Let nothing be collected."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def growth_of(use, data, four_times_as_much, nrounds):
    """Return how many times as long each of two doublings takes."""
    rounds = [[seconds_alone(use, part) for part in (data, four_times_as_much)] for _ in range(nrounds)]
    least, most = (max(min(seconds), SHORT_SECONDS) for seconds in zip(*rounds))
    return (most / least) ** 0.5


def seconds_alone(use, data):
    """Return the CPU time of one use by a new process, whatever comes of it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, repr(cpu_seconds(use, data)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader) as file:
        seconds = float(file.read())
    os.waitpid(child, 0)
    return seconds


def time_line(name, nrounds):
    """Return the line of a family, measured by a process of its own: memory that others left makes a difference."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        return pool.submit(measured_line, name, nrounds).result()


def measured_line(name, nrounds):
    """Return the time of its slowest way, and how the times of the ways grow, as a line."""
    make, ways = FAMILIES[name]
    whole, four_times_as_much = make(MEBIBYTE), make(4 * MEBIBYTE)
    seconds = {way: least_seconds(use, whole, nrounds) for way, use in ways.items()}
    slowest = max(seconds, key=seconds.get)
    with collector_off():
        growth = max(
            growth_of(use, whole, four_times_as_much, NGROWTH_ROUNDS if nrounds > 1 else 1) for use in ways.values()
        )
    worst = seconds[slowest]
    return Line(name, [f"{worst * 1000:.0f} ms", slowest, f"{growth:.2f}"], {"seconds": worst, "doubling": growth})


# -- signals ----------------------------------------------------------------------------------------------

LONG = 8 * MEBIBYTE


def family(name, way="loads"):
    """Return the use of a long input of a family."""
    data = families.FAMILIES[name](LONG)
    return lambda: WAYS[way](data)


def encoding(value, **options):
    """Return the use that encodes a value."""
    return lambda: tb.dumps(value, **options)


def records(use):
    """Return the use of a stream of very many short records."""
    data = tb.dumps("word") * (LONG // 18 * 8)
    return lambda: use(data)


def copied(data):
    """Move records from a reader to a writer."""
    with tb.Reader(data) as reader, tb.Writer(io.BytesIO()) as writer:
        writer.copy(reader)


LONG_WORK = {
    **{f"decode: {name}": lambda name=name: family(name) for name in (
        "ints", "empty lists", "deep lists", "deep maps", "keys of equal low bits",
        "keys that are not equal to themselves", "maps of keys of one hash", "maps of long keys of one hash",
        "few keys of many items", "texts that widen late", "empty application values", "pickled sets", "arrays",
    )},
    **{f"stream: {name}": lambda name=name: family(name, "stream") for name in (
        "ints", "deep lists", "keys of equal low bits",
    )},
    "decode: one long text": lambda: family("text of wide characters"),
    "skip: lists": lambda: family("empty lists", "skip"),
    "count": lambda: records(tb.count),
    "index": lambda: records(tb.index),
    "records: decode_all": lambda: records(tb.Decoder().decode_all),
    "records: read_all": lambda: records(lambda data: tb.Reader(Parts(data)).read_all()),
    "records: skip": lambda: records(lambda data: tb.Reader(Parts(data)).skip(1 << 40)),
    "records: groups": lambda: records(lambda data: sum(1 for _ in tb.PairReader(Parts(data)).groups())),
    "records: copy": lambda: records(copied),
    "encode: ints": lambda: encoding(list(range(10**9, 10**9 + 4 * 10**6))),
    "encode: lists": lambda: encoding([[]] * 10**7),
    "encode: dict": lambda: encoding(dict.fromkeys(range(2 * 10**6), 1.5)),
    "encode: sorted dict": lambda: encoding({str(number * 7919): number for number in range(10**6)}, sort_keys=True),
    "encode: long text": lambda: encoding("\u20ac" * 4 * LONG),
    "encode: wide ints": lambda: encoding([2**100] * 2 * 10**6),
}  # fmt: skip


class Interrupted(BaseException):
    """Be raised out of the signal's handler."""


def latency(work, after):
    """Return how much CPU time passed between a signal and its handler; None if the work was over before it."""
    handled = []

    def handler(*_):
        handled.append(time.process_time())
        raise Interrupted

    before = signal.signal(signal.SIGPROF, handler)
    due = time.process_time() + after
    try:
        signal.setitimer(signal.ITIMER_PROF, after)
        try:
            kept = work()  # until the timer is off: its release handles no signals
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        del kept
    except (Interrupted, tb.DecodeError):
        pass
    signal.signal(signal.SIGPROF, before)
    return max(handled[0] - due, 0) if handled else None


def latency_line(name, ninterrupts):
    """Return the line of some long work: the time it takes, and the longest that a signal waited in it."""
    work = LONG_WORK[name]()
    with collector_off():
        seconds = least_seconds(lambda _: work(), None, 2)
        found = [latency(work, seconds * (turn + 0.5) / ninterrupts) for turn in range(ninterrupts)]
    handled = [waited for waited in found if waited is not None]
    longest = max(handled, default=0)
    numbers = [f"{seconds * 1000:.0f} ms", f"{longest * 1000:.1f} ms", f"{len(handled)} of {ninterrupts}"]
    return Line(name, numbers, {"latency_seconds": longest})


# -- tables -----------------------------------------------------------------------------------------------


def show(heads, names, make):
    """Print a table line by line and return its lines."""
    print(f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    lines = []
    for name in names:
        gc.collect()
        line = make(name)
        lines.append(line)
        print(f"| {line.name} | {' | '.join(line.numbers)} |{'  <-- beyond the limit' * line.beyond}", flush=True)
    return lines


def chosen(names, words):
    """Return the names that hold one of the words; all without words."""
    return [name for name in names if not words or any(word in name for word in words)]


def main():
    """Measure, print and judge."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("words", nargs="*", help="measure only what has one of these in its name")
    parser.add_argument("--quick", action="store_true", help="measure once each")
    options = parser.parse_args()
    nrounds, ninterrupts = (1, 3) if options.quick else (NROUNDS, NINTERRUPTS)
    gc.freeze()
    lines = show(
        ["1 MiB of", f"CPU time, < {SECONDS:g} s", "slowest way", f"a doubling takes, < {DOUBLING:g}"],
        chosen(FAMILIES, options.words),
        lambda name: time_line(name, nrounds),
    )
    lines += show(
        ["long work", "CPU time", f"a signal waits, < {LATENCY_SECONDS * 1000:g} ms", "signals handled"],
        chosen(LONG_WORK, options.words),
        lambda name: latency_line(name, ninterrupts),
    )
    nbeyond = sum(line.beyond for line in lines)
    print(f"\n{nbeyond} beyond a limit")
    worst = {name: round(max(line.measured.get(name, 0) for line in lines), 3) for name in LIMITS}
    figures.report(inputs=len(lines), beyond=nbeyond, worst=worst)
    return 1 if nbeyond else 0


if __name__ == "__main__":
    sys.exit(main())
