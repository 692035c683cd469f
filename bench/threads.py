"""What threads gain, with the GIL and without it: wall time of each kind of work by one, two and four threads.

    python bench/threads.py [ROUNDS]        the table of the running interpreter (5 rounds)

Each thread does the same work, so the speed-up is the number of threads times the time of one, by that of all; of
work that is divided among threads it is the time of one by that of all. What one thread takes is measured too for
what the interpreter does by itself: marshal, list.reverse, which locks a list as our encoder does, and a loop in
Python. Least of the rounds.
"""

import marshal
import random
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

import typedbytes as tb
from typedbytes import columns, sequencefile
from typedbytes._sorting import external

NTHREADS = (1, 2, 4)
PAIRS = [(n, f"text {n % 1000}") for n in range(400_000)]
ENCODED = tb.Encoder().encode_pairs(PAIRS) * 20


def records(n):
    """Return a list of n records of four fields."""
    return [{"word": "the", "count": i, "share": i / 7, "tags": ["a", "b", str(i)]} for i in range(n)]


SHARED = records(2000)
DATA, MARSHALLED = tb.dumps(SHARED), marshal.dumps(SHARED)


def calls(ncalls, call):
    """Return work that is many calls, each with the records of the thread that does it."""

    def work(own):
        for _ in range(ncalls):
            call(own)

    return work


def loop(own):
    """Run nothing but Python."""
    total = 0
    for each in range(2_000_000):
        total += each & 7
    return total


def lock_each(own):
    """Reverse the lists of the records, which the interpreter locks one by one without the GIL."""
    for _ in range(300):
        for record in own:
            record["tags"].reverse()


def read_columns(folder, nthreads):
    """Read pairs in memory as columns."""
    for _ in columns.read(ENCODED, 16384, threads=nthreads):
        pass


def read_sequence_file(folder, nthreads):
    """Read a SequenceFile whose blocks are compressed by bzip2."""
    for _ in sequencefile.read(folder / "bzip2.seq", processes=nthreads):
        pass


def sort(folder, nthreads):
    """Sort a file that is several times as large as the memory for it."""
    with open(folder / "pairs.tb", "rb", buffering=0) as source, open(folder / "sorted.tb", "wb", buffering=0) as sink:
        external.sort([source], sink, memory=128 << 20, folder=folder, threads=nthreads)


EACH = {
    "encode, own records": calls(300, tb.dumps),
    "encode, shared records": calls(300, lambda own: tb.dumps(SHARED)),
    "decode": calls(150, lambda own: tb.loads(DATA)),
    "marshal, own records": calls(150, marshal.dumps),
    "marshal, decode": calls(150, lambda own: marshal.loads(MARSHALLED)),
    "list.reverse, own records": lock_each,
    "a loop in Python": loop,
}
DIVIDED = {"columns": read_columns, "SequenceFile, bzip2": read_sequence_file, "sort with temporary files": sort}


def make_files(folder):
    """Write what is read by several threads."""
    rng = random.Random(1)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randrange(2, 9))) for _ in range(20_000)]
    with sequencefile.open(folder / "bzip2.seq", "w", codec="bzip2") as writer:
        writer.writes((number, " ".join(rng.choices(words, k=20))) for number in range(60_000))
    encoded = [tb.dumps(word) + tb.dumps(1) for word in words]
    with open(folder / "pairs.tb", "wb") as file:
        for _ in range(80):
            file.write(b"".join(rng.choices(encoded, k=200_000)))


def seconds_in_threads(work, nthreads):
    """Do the work in each of several threads, which have made their records before; return how long that takes them."""
    ready = threading.Barrier(nthreads)
    times = []

    def run():
        own = records(2000)
        ready.wait()
        start = time.perf_counter()
        work(own)
        times.append((start, time.perf_counter()))

    threads = [threading.Thread(target=run) for _ in range(nthreads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return max(end for _, end in times) - min(start for start, _ in times)


def seconds_divided(work, folder, nthreads):
    """Return how long work takes that is divided among threads."""
    start = time.perf_counter()
    work(folder, nthreads)
    return time.perf_counter() - start


def main():
    """Print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"Python {sys.version.split()[0]}, {'with' if gil else 'without'} the GIL, least of {rounds} rounds\n")
    print("| work | one thread, ms | 2 threads | 4 threads |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        make_files(Path(folder))
        for name, work in EACH.items():
            print_row(name, partial(seconds_in_threads, work), rounds, lambda nthreads: nthreads)
        for name, work in DIVIDED.items():
            print_row(name, partial(seconds_divided, work, Path(folder)), rounds, lambda nthreads: 1)


def print_row(name, take, rounds, share):
    """Print the time of one thread, and what more of them gain; share(nthreads): how many times as much they do."""
    times = [min(take(nthreads) for _ in range(rounds)) for nthreads in NTHREADS]
    gains = [f"{share(nthreads) * times[0] / time:.2f}" for nthreads, time in zip(NTHREADS[1:], times[1:])]
    print(f"| {name} | {times[0] * 1e3:.1f} | {' | '.join(gains)} |", flush=True)


if __name__ == "__main__":
    main()
