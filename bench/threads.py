"""What threads gain, with the GIL and without it: wall time of each kind of work by one, two and four threads.

    python bench/threads.py [ROUNDS]        the table of the running interpreter (5 rounds)

Each thread does the same work, so the speed-up is the number of threads times the time of one, by that of all; of work that is divided
among threads it is the time of one by that of all. What one thread takes is measured too for the standard library's marshal and for a loop in Python: the difference
that the interpreter makes by itself. Least of the rounds.
"""

import marshal
import random
import sys
import tempfile
import threading
import time
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


def encode_own(own):
    """Encode what this thread has made and no other uses."""
    for _ in range(300):
        tb.dumps(own)


def encode_shared(own):
    """Encode the same list as all threads."""
    for _ in range(300):
        tb.dumps(SHARED)


def decode(own):
    """Decode the same bytes as all threads."""
    for _ in range(150):
        tb.loads(DATA)


def dump_by_marshal(own):
    """Encode with the standard library."""
    for _ in range(150):
        marshal.dumps(own)


def load_by_marshal(own):
    """Decode with the standard library."""
    for _ in range(150):
        marshal.loads(MARSHALLED)


def loop(own):
    """Run nothing but Python."""
    total = 0
    for each in range(2_000_000):
        total += each & 7
    return total


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


EACH = {"encode, own records": encode_own, "encode, shared records": encode_shared, "decode": decode}
OTHERS = {"marshal, own records": dump_by_marshal, "marshal, decode": load_by_marshal, "a loop in Python": loop}
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
        for name, work in (*EACH.items(), *OTHERS.items(), *DIVIDED.items()):
            divided = name in DIVIDED
            take = (
                (lambda n, work=work: seconds_divided(work, Path(folder), n))
                if divided
                else lambda n, work=work: seconds_in_threads(work, n)
            )
            times = [min(take(n) for _ in range(rounds)) for n in NTHREADS]
            gains = [times[0] / t * (1 if divided else n) for n, t in zip(NTHREADS[1:], times[1:])]
            print(f"| {name} | {times[0] * 1e3:.1f} | {gains[0]:.2f} | {gains[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
