"""Move gigabytes through decoding and encoding in one process, over real pipes; its memory has to stay as it was.

    python tests/soak/soak.py            5 GB
    python tests/soak/soak.py 100        100 GB
    python tests/soak/soak.py 1 --seed 7

One process makes the records, one moves them, one compares what arrives with what was made, byte for byte. The one in
the middle is measured: its memory and its descriptors after each way of moving records had its turn once, and at the
end. Exit code 1 when the memory has grown by more than 1 MiB, a descriptor was left open, or a byte was another.

Here: the pipes, the ways, the measuring. Invariant: the same seed moves the same bytes; each turn has pipes, readers
and writers of its own, so that making and closing them is a part of it.
"""

import argparse
import contextlib
import ctypes
import gc
import itertools
import os
import random
import sys
import time

import typedbytes as tb
from gates import figures
from typedbytes import columns

GIGABYTE = 10**9
MEBIBYTE = 1 << 20
MAX_GROWTH = MEBIBYTE
NBLOCKS = 24
BLOCK_NRECORDS = 4000
TURN_NBYTES = GIGABYTE // 4
NFAILURES = 300

# -- records ----------------------------------------------------------------------------------------------


def some_value(rng, depth=0):
    """Return a value of some kind; the same bytes come of it when it was decoded."""
    kind = rng.randrange(14 if depth < 3 else 10)
    if kind < 2:
        return rng.randrange(-(2**31), 2**31)
    if kind < 3:
        return rng.randrange(2**31, 2**63)
    if kind < 5:
        return rng.random()
    if kind < 7:
        return "".join(rng.choices("abcdefgh \xe4\u20ac\U0001f600", k=rng.randrange(40)))
    if kind < 9:
        return rng.choice([True, False, b"", None, tb.Ext(144, b"opaque"), tb.Writable("org.example.It", b"\0\1")])
    if kind < 10:
        return bytes(rng.randrange(300))
    items = [some_value(rng, depth + 1) for _ in range(rng.randrange(6))]
    return {10: items, 11: tuple(items), 12: dict(enumerate(items)), 13: {"name": items, (1, "k"): 2**70}}[kind]


def make_blocks(seed):
    """Return blocks of encoded pairs, with runs of equal keys and now and then a long value."""
    rng, blocks = random.Random(seed), []
    for number in range(NBLOCKS):
        pairs = [(f"key {number} {index // 5}", some_value(rng)) for index in range(BLOCK_NRECORDS)]
        pairs[::1000] = [(key, "long " * rng.randrange(10**5)) for key, _ in pairs[::1000]]
        blocks.append(tb.Encoder().encode_pairs(pairs))
    return blocks


def order(seed, turn, blocks, nbytes):
    """Yield the blocks of a turn one after the other, `nbytes` bytes or a little more."""
    rng = random.Random(f"{seed} {turn}")
    while nbytes > 0:
        block = rng.choice(blocks)
        nbytes -= len(block)
        yield block


# -- ways of moving ---------------------------------------------------------------------------------------


def by_pairs(source, sink):
    """Write each pair that is read."""
    with tb.PairReader(source) as reader, tb.PairWriter(sink) as writer:
        for key, value in reader:
            writer.write(key, value)


def by_groups(source, sink):
    """Write the values of each group."""
    with tb.PairReader(source, buffer_size=8192) as reader, tb.PairWriter(sink) as writer:
        for key, values in reader.groups():
            writer.writes(zip(itertools.repeat(key), values))


def by_raw_pairs(source, sink):
    """Write each pair as the bytes it is."""
    with tb.PairReader(source, raw=True) as reader, tb.PairWriter(sink) as writer:
        for key, value in reader:
            writer.write_raw(key, value)


def by_copy(source, sink):
    """Leave it to the writer."""
    with tb.Reader(source) as reader, tb.Writer(sink) as writer:
        writer.copy(reader)


def by_exact_values(source, sink):
    """Keep the widths, and pickles as they are."""
    with tb.Reader(source, exact=True) as reader, tb.Writer(sink, buffer_size=1000) as writer:
        writer.writes(value for value in reader)


def by_feeding(source, sink):
    """Push what comes, take what is complete."""
    decoder, encoder = tb.Decoder(), tb.Encoder()
    while True:
        data = os.read(source, 100_000)
        decoder.feed(data)
        write_all(sink, encoder.encode_all(decoder))
        if not data:
            return decoder.close()


def by_columns(source, sink):
    """Read a column of keys and one of encoded values, and write both."""
    with columns.read(source, 1000, ["string", "raw"]) as reader, tb.PairWriter(sink) as writer:
        columns.write(writer, reader)


WAYS = [by_pairs, by_groups, by_raw_pairs, by_copy, by_exact_values, by_feeding, by_columns]


def fail_on_purpose(block):
    """Let some of everything fail."""
    for number in range(NFAILURES):
        bad = block[: number * 7] + b"\x0b"
        with contextlib.suppress(tb.DecodeError):
            tb.Decoder().decode_all(bad)
        with contextlib.suppress(tb.DecodeError), tb.PairReader(bad) as reader:
            list(reader.groups())
        with contextlib.suppress(tb.EncodeError):
            tb.dumps([number, {"k": [object()]}])


# -- processes --------------------------------------------------------------------------------------------


def write_all(descriptor, data):
    """Write all of it."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def reads_exactly(descriptor, blocks):
    """Return whether what comes out of a pipe is these blocks and nothing else."""
    with open(descriptor, "rb", buffering=MEBIBYTE) as file:
        return all(file.read(len(block)) == block for block in blocks) and file.read() == b""


def start_child(work, *unused):
    """Start a process that closes `unused` and calls work(); its exit code is 0 unless that returns False or raises."""
    child = os.fork()
    if child == 0:
        code = 2
        try:
            for descriptor in unused:
                os.close(descriptor)
            code = int(work() is False)
        finally:
            os._exit(code)
    return child


def move(way, blocks):
    """Move the blocks, a function that gives them, through pipes; return whether they arrived."""
    source, feeding = os.pipe()
    leaving, sink = os.pipe()
    children = [
        start_child(lambda: [write_all(feeding, block) for block in blocks()], source, leaving, sink),
        start_child(lambda: reads_exactly(leaving, blocks()), source, feeding, sink),
    ]
    os.close(feeding)
    os.close(leaving)
    try:
        way(source, sink)
    finally:
        os.close(source)
        os.close(sink)
    return [os.waitpid(child, 0)[1] for child in children] == [0, 0]


# -- measuring --------------------------------------------------------------------------------------------


def resident_nbytes():
    """Return the memory of this process that is in use."""
    gc.collect()
    # glibc keeps between 4 and 7 MiB of what was freed, as the heap's end happens to be free
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def count_descriptors():
    """Return how many descriptors this process has open."""
    return len(os.listdir("/proc/self/fd"))


def say(text):
    """Tell how far it is."""
    print(text, file=sys.stderr, flush=True)


def soak(gigabytes, seed):
    """Move all of it; return how much that was, the growth of the memory and of the number of open descriptors."""
    blocks, total = make_blocks(seed), round(gigabytes * GIGABYTE)
    turn_nbytes = min(TURN_NBYTES, total // (3 * len(WAYS)))
    moved, began, before = 0, time.monotonic(), None
    for turn in itertools.count():
        if turn == len(WAYS):
            before = resident_nbytes(), count_descriptors()
        if moved >= total and turn % len(WAYS) == 0:
            break
        way = WAYS[turn % len(WAYS)]
        if not move(way, lambda turn=turn: order(seed, turn, blocks, turn_nbytes)):
            raise SystemExit(f"turn {turn} of seed {seed}, {way.__name__}: other bytes arrived")
        fail_on_purpose(blocks[0])
        moved += turn_nbytes
        speed = moved / (time.monotonic() - began) / 1e6
        say(f"{moved / GIGABYTE:.2f} GB, {speed:.0f} MB/s, {resident_nbytes() / MEBIBYTE:.2f} MiB after {way.__name__}")
    return moved, resident_nbytes() - before[0], count_descriptors() - before[1]


def main():
    """Soak, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("gigabytes", nargs="?", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    moved, growth, ndescriptors = soak(options.gigabytes, options.seed)
    say(
        f"memory has grown by {growth / MEBIBYTE:.2f} MiB (at most {MAX_GROWTH / MEBIBYTE:g}), "
        f"descriptors by {ndescriptors}"
    )
    figures.report(gigabytes=moved / GIGABYTE, growth_mebibytes=round(growth / MEBIBYTE, 3), descriptors=ndescriptors)
    return 1 if growth > MAX_GROWTH or ndescriptors else 0


if __name__ == "__main__":
    sys.exit(main())
