"""Threads that encode, decode, and change and share what is encoded: `shared_by_threads.py SECONDS NTHREADS`.

`make test-3.13t` runs it. Each thread has a task at a time, chosen at random. What a thread encodes by itself
comes back as it was; of what threads share, each call gives a right result, RuntimeError or the ValueError of
what is closed; what two threads feed in pieces may also be invalid. An interpreter that crashes ends with a
signal, and one that hangs with a traceback of each thread. Not here: bytearrays that threads resize, which crash
CPython 3.13 without a call of ours.
"""

import collections
import datetime
import decimal
import faulthandler
import io
import os
import random
import sys
import tempfile
import threading
import time
import traceback
import uuid

import typedbytes as tb
from typedbytes import block, columns, sequencefile
from typedbytes._core import PairIterator
from typedbytes._sorting import _native as sorting, external

ZONES = [datetime.timezone(datetime.timedelta(hours=hours)) for hours in range(-12, 12)]
wrong = []
refused = collections.Counter()
shared_list, shared_dict, shared_set = [], {}, set()
shared = {}  # the objects below, each replaced from time to time
encoder, decoder = tb.Encoder(), tb.Decoder()


def make_values(rng):
    """Return a value of every kind, with strings that come again and strings that do not."""
    return [
        [1, 2.5, True, None, b"x" * 50, 2**70, "a" * rng.randrange(40), "€" * rng.randrange(30)],
        {f"k{rng.randrange(20000)}": (1, 2), "key" * rng.randrange(9, 30): 7, "Schlüssel" * rng.randrange(1, 20): 1},
        datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=rng.choice(ZONES)),
        [decimal.Decimal("1.25"), uuid.UUID(int=rng.randrange(2**100)), {1, 2, 3}, frozenset("ab"), 1 + 2j],
    ] * 3


def there_and_back(rng):
    """Encode and decode a value of this thread."""
    value = make_values(rng)
    data = tb.dumps(value)
    found = [
        tb.loads(data),
        decoder.decode(encoder.encode(value)),
        *tb.Reader(io.BytesIO(data)),
        *decoder.decode_all(data * 3),
    ]
    if found != [value] * 6 or tb.count(data * 3) != 3:
        wrong.append(f"{value} became {found}")


def formats_there_and_back(rng):
    """Write and read pairs of this thread in the other formats."""
    first = rng.randrange(10**6)
    pairs = [(number, f"{number % 7} € {number}") for number in range(first, first + 300)]
    data = tb.Encoder().encode_pairs(pairs)
    file = io.BytesIO()
    with sequencefile.Writer(
        file, key_class="IntWritable", value_class="Text", codec=rng.choice([None, "gzip", "bzip2"])
    ) as writer:
        writer.writes(pairs)
    messages = block.BlockDecoder().feed(
        b"".join(block.BlockEncoder("native", checksum=True).encode(pair) for pair in pairs)
    )
    backwards = tb.Encoder().encode_pairs(reversed(pairs))
    if (
        list(sequencefile.Reader(io.BytesIO(file.getvalue()))) != pairs
        or [tuple(message) for message in messages] != pairs
    ):
        wrong.append(f"pairs from {first} on, in a SequenceFile or in messages")
    if sorted_pairs(backwards) != data:
        wrong.append(f"pairs from {first} on, sorted")
    if texts_of(data, rng.randrange(1, 4)) != [text for _, text in pairs]:
        wrong.append(f"pairs from {first} on, in columns")


def sorted_pairs(data):
    """Return encoded pairs in the order of their keys."""
    sorter, sink = sorting.Sorter(), io.BytesIO()
    source = io.BytesIO(data)
    while sorter.fill(source):
        pass
    sorter.sort()
    sorter.write(0, sink)
    return sink.getvalue()


def texts_of(data, nthreads):
    """Return the values of pairs, read as columns."""
    found = []
    for batch in columns.read(data, 50, threads=nthreads):
        text = batch.buffers("value")
        ends = text["offsets"].tolist()
        found += [bytes(text["data"][start:end]).decode() for start, end in zip(ends, ends[1:])]
    return found


def threads_of_their_own(rng):
    """Sort by several threads, with temporary files, and read a SequenceFile whose blocks threads decompress."""
    first = rng.randrange(10**6)
    pairs = [(number, f"{number % 7} € {number}") for number in range(first, first + 3000)]
    data = tb.Encoder().encode_pairs(pairs)
    shuffled, sink = rng.sample(pairs, len(pairs)), io.BytesIO()
    external.sort(
        [io.BytesIO(tb.Encoder().encode_pairs(shuffled))],
        sink,
        memory=rng.choice([1 << 16, 1 << 26]),
        threads=rng.randrange(2, 5),
    )
    if sink.getvalue() != data:
        wrong.append(f"pairs from {first} on, sorted by threads")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "f")
        with sequencefile.Writer(
            path, key_class="IntWritable", value_class="Text", codec="gzip", block_size=5000
        ) as writer:
            writer.writes(pairs)
        if list(sequencefile.read(path, processes=rng.randrange(2, 4))) != pairs:
            wrong.append(f"pairs from {first} on, decompressed by threads")


CHANGES = [
    lambda rng: shared_list.append(make_values(rng)[0]),
    lambda rng: shared_list.extend([rng.random()] * 50),
    lambda rng: shared_list.__delitem__(slice(rng.randrange(30), None)),
    lambda rng: shared_list.__setitem__(slice(None), [[] for _ in range(rng.randrange(60))]),
    lambda rng: shared_list.clear(),
    lambda rng: shared_dict.__setitem__(f"k{rng.randrange(40)}", [rng.random()] * 9),
    lambda rng: shared_dict.__setitem__(
        f"k{rng.randrange(40)}", rng.choice([0.5, f"text {rng.random()}", {"k": f"v{rng.random()}"}])
    ),
    lambda rng: shared_dict.pop(f"k{rng.randrange(40)}", None),
    lambda rng: shared_dict.clear(),
    lambda rng: shared_set.add(rng.randrange(1000)),
    lambda rng: shared_set.clear(),
]


def change(rng):
    """Change the shared containers."""
    for _ in range(300):
        rng.choice(CHANGES)(rng)


def encode_shared(rng):
    """Encode containers while others change them; what comes out must be whole."""
    for value in (shared_list, shared_dict, shared_set, [shared_list, shared_dict, shared_set]):
        try:
            tb.loads(tb.dumps(value, sort_keys=rng.random() < 0.5))
        except RuntimeError:
            refused["changed meanwhile"] += 1


def next_of(iterator, data, rng):
    next(iterator, None)


def write_to(writer, data, rng):
    writer.write(make_values(rng))
    if rng.random() < 0.1:
        writer.flush()


def feed(fed, data, rng):
    fed.feed(data[:1000])
    next(fed, None)


def read_legacy(source, data, rng):
    source.read()


def write_pair_to(output, data, rng):
    output.write((rng.randrange(100), "text"))
    if rng.random() < 0.01:
        output.file = io.BytesIO()


def write_record_to(writer, data, rng):
    writer.write(rng.randrange(100), "text")


def write_message_to(writer, data, rng):
    writer.write([1, "text", b"x" * rng.choice([10, 100_000])])


def encode_message(encoder, data, rng):
    encoder.encode([1, make_values(rng)])


def fill(sorter, data, rng):
    sorter.fill(io.BytesIO(data))
    sorter.sort()
    sorter.write(0, io.BytesIO())
    sorter.clear()


def feed_messages(fed, data, rng):
    fed.feed(MESSAGE[: rng.choice([5, len(MESSAGE)])])


def in_a_file(key_class="IntWritable", value_class="Text"):
    """Return a SequenceFile."""
    file = io.BytesIO()
    with sequencefile.Writer(file, key_class=key_class, value_class=value_class) as writer:
        writer.writes([(number, "text") for number in range(500)])
    return io.BytesIO(file.getvalue())


MESSAGE = block.BlockEncoder("native").encode([1, "text"])
KINDS = {
    "reader": (lambda data: tb.Reader(io.BytesIO(data)), next_of),
    "pairs": (lambda data: tb.PairReader(io.BytesIO(data)), next_of),
    "writer": (lambda data: tb.Writer(io.BytesIO()), write_to),
    "decoder": (lambda data: tb.Decoder(), feed),
    "legacy input": (lambda data: tb.PairedInput(io.BytesIO(data)), read_legacy),
    "legacy iteration": (lambda data: tb.PairedInput(io.BytesIO(data)).reads(), next_of),
    "legacy output": (lambda data: tb.PairedOutput(io.BytesIO()), write_pair_to),
    "SequenceFile reader": (lambda data: sequencefile.Reader(in_a_file()), next_of),
    "pairs of a split": (
        lambda data: PairIterator(sequencefile.Reader(in_a_file("TypedBytesWritable", "TypedBytesWritable"))),
        next_of,
    ),
    "lines of a split": (lambda data: PairIterator(sorting.LineReader(io.BytesIO(b"a line\n\xff\n" * 3000))), next_of),
    "SequenceFile writer": (
        lambda data: sequencefile.Writer(io.BytesIO(), key_class="IntWritable", value_class="Text", codec="gzip"),
        write_record_to,
    ),
    "message encoder": (lambda data: block.BlockEncoder("native"), encode_message),
    "message decoder": (lambda data: block.BlockDecoder("native"), feed_messages),
    "message reader": (lambda data: block.BlockReader(MESSAGE * 300), next_of),
    "message writer": (lambda data: block.BlockWriter(io.BytesIO(), "native"), write_message_to),
    "sorter": (lambda data: sorting.Sorter(), fill),
    "column reader": (lambda data: columns.read(tb.Encoder().encode_pairs([(1, 2.5)] * 3000), 100, threads=2), next_of),
}


FED_IN_PIECES = {"decoder", "message decoder"}  # by several threads, so that the pieces are of no message


def use_shared(rng):
    """Use an object that others use, and sometimes close or replace it."""
    data = b"".join(tb.dumps(make_values(rng)) for _ in range(10))
    name, (make, use) = rng.choice(list(KINDS.items()))
    try:
        if name not in shared or rng.random() < 0.1:
            shared[name] = make(data)
        one = shared[name]
        for _ in range(20):
            use(one, data, rng)
        if rng.random() < 0.05 and hasattr(one, "close"):
            one.close()
    except (RuntimeError, ValueError) as error:  # in use, or closed
        if isinstance(error, tb.DecodeError) and name not in FED_IN_PIECES:
            raise
        refused[type(error).__name__] += 1


def start_threads(rng):
    """Start threads that end soon, and with them what they hold."""
    started = [threading.Thread(target=there_and_back, args=(random.Random(rng.random()),)) for _ in range(3)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()


def work(stop, seed):
    """Do one thing after the other until the time is over."""
    rng = random.Random(seed)
    tasks = [
        *(there_and_back, formats_there_and_back, change, change, encode_shared, encode_shared, use_shared, use_shared),
        *(start_threads, threads_of_their_own),
    ]
    while time.monotonic() < stop and not wrong:
        try:
            rng.choice(tasks)(rng)
        except BaseException:
            wrong.append(traceback.format_exc())


def main():
    seconds, nthreads = float(sys.argv[1]), int(sys.argv[2])
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        sys.exit("this needs a CPython that runs without the GIL")
    faulthandler.enable()
    faulthandler.dump_traceback_later(seconds + 120, exit=True)
    seed = random.randrange(10**6)
    threads = [
        threading.Thread(target=work, args=(time.monotonic() + seconds, seed + number)) for number in range(nthreads)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(
        f"{nthreads} threads, {seconds:g} s, seed {seed}: {len(wrong)} wrong; refused: {dict(refused)}",
        *wrong[:2],
        sep="\n",
        flush=True,
    )
    os._exit(bool(wrong))  # the threads of columns wait for ever


if __name__ == "__main__":
    main()
