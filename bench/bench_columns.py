"""Columns: pairs in memory to arrays and back, beside objects of the same values, and structure counted without either.

Here: how columns, our own objects and msgspec go over the same pairs. Invariant: columns are released batch by batch or
held as two whole arrays, as the name says; "memcpy" copies the encoded bytes and nothing else. What has two threads is
by the clock, and so is what it is compared with.
"""

import io
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial

import numpy
import pytest

import typedbytes as tb
from timing import Runner
from typedbytes import columns

try:
    import msgspec
except ModuleNotFoundError:
    msgspec = None

NPAIRS = 2_000_000
SHAPES = ("int_double", "word_long")
NWORDS = 50_000
NESTED = {
    "row": lambda number, word: (number, number / 7, word),
    "map_three_longs": lambda number, word: {word: 2**40, f"{word}0": 2**41 + number, f"{word}1": 2**42},
    "struct_six_fields": lambda number, word: {
        "word": word,
        "number": number,
        "ratio": number / 7,
        "text": word,
        "flag": True,
        "last": 2**40,
    },
    "list_five_doubles": lambda number, word: [number / divisor for divisor in (3, 5, 7, 11, 13)],
}


@lru_cache(maxsize=1)
def arrays(shape, scale):
    """Return the key and the value column of a shape."""
    rng, n = numpy.random.default_rng(7), max(int(NPAIRS * scale), 1)
    if shape == "int_double":
        return rng.integers(-(2**31), 2**31, n, dtype="i4"), rng.random(n)
    words = numpy.array([f"word{number}" for number in range(NWORDS)], object)
    return words[rng.integers(0, NWORDS, n)], rng.integers(2**33, 2**60, n)


@lru_cache(maxsize=1)
def encoded(shape, scale):
    """Return the typed bytes of a shape."""
    if shape in NESTED:
        words = [f"word{number * 7919 % NWORDS}" for number in range(max(int(NPAIRS * scale), 1))]
        return tb.Encoder().encode_pairs([(word, NESTED[shape](number, word)) for number, word in enumerate(words)])
    sink = io.BytesIO()
    columns.write(sink, arrays(shape, scale))
    return sink.getvalue()


@lru_cache(maxsize=1)
def pairs(shape, scale):
    """Return the pairs of a shape as objects."""
    return tb.Decoder().decode_pairs(encoded(shape, scale))


@lru_cache(maxsize=1)
def batch(shape, scale):
    """Return all pairs of a shape as one batch."""
    (whole,) = columns.read(encoded(shape, scale), NPAIRS)
    return whole


class Sink:
    """Take bytes and forget them."""

    def write(self, data):
        return len(data)


def to_arrays(data, **options):
    """Return two columns of all pairs."""
    (whole,) = columns.read(data, NPAIRS, **options)
    return whole.buffers("key"), whole.column("value")


def by_batches(data, **options):
    """Go over the pairs batch by batch, and return their number."""
    with columns.read(data, **options) as reader:
        return sum(len(some.column("value")) for some in reader)


def batches_only(data):
    """Go over the pairs batch by batch without a look at them, and return their number."""
    with columns.read(data) as reader:
        return sum(map(len, reader))


def nested_decoders(shape, scale):
    """Return the decoders of values that are not scalars, by name: the function and its argument."""
    data = encoded(shape, scale)
    return {"columns, released": (batches_only, data), "memcpy": (bytearray, data)}


def copy_halves(data):
    """Return a copy of the bytes that two threads make."""
    source = numpy.frombuffer(data, "u1")
    copy, half = numpy.empty_like(source), len(source) // 2
    with ThreadPoolExecutor(1) as pool:
        task = pool.submit(numpy.copyto, copy[:half], source[:half])
        numpy.copyto(copy[half:], source[half:])
        task.result()
    return copy


def decoders(shape, scale):
    """Return the decoders by name: the function and its argument."""
    data = encoded(shape, scale)
    found = {
        "columns, two arrays": (to_arrays, data),
        "columns, batches": (by_batches, data),
        "columns, batches, 2 threads": (partial(by_batches, threads=2), data),
        "typedbytes": (tb.Decoder().decode_pairs, data),
        "memcpy": (bytearray, data),
        "memcpy, 2 threads": (copy_halves, data),
    }
    if msgspec is not None:
        found["msgspec"] = (msgspec.msgpack.Decoder().decode, msgspec.msgpack.encode(pairs(shape, scale)))
    return found


def to_memory(given):
    """Write columns to memory and return the bytes."""
    sink = io.BytesIO()
    columns.write(sink, given)
    return sink.getbuffer()


def encoders(shape, scale):
    """Return the encoders by name: the function and its argument."""
    given = batch(shape, scale)
    found = {
        "columns, to memory": (to_memory, given),
        "columns, to a sink": (partial(columns.write, Sink()), given),
        "typedbytes": (tb.Encoder().encode_pairs, pairs(shape, scale)),
    }
    if msgspec is not None:
        found["msgspec"] = (msgspec.msgpack.Encoder().encode, pairs(shape, scale))
    return found


def counters(shape, scale):
    """Return the functions that look at structure, by name."""
    data = encoded(shape, scale)
    return {"count": (tb.count, data), "index": (tb.index, data), "memcpy": (bytearray, data)}


OPERATIONS = {
    "decode columns": decoders,
    "encode columns": encoders,
    "scan": counters,
    "decode nested columns": nested_decoders,
}
#: What CPU time does not show. A second processor has slept while one thread worked, and a virtual one takes
#: milliseconds to come back: such a turn lasts for longer than that.
BY_THE_CLOCK = {"columns, batches", "columns, batches, 2 threads", "memcpy, 2 threads"}
LONG_TURN_NS = 40_000_000


def names(operation, shape):
    """Return the contenders that can do this."""
    return list(OPERATIONS[operation](shape, 0.0001))


def runner(operation, shape, contender, scale=1):
    """Return a contender ready to run, or None if it is not installed."""
    found = OPERATIONS[operation](shape, scale)
    if contender not in found:
        return None
    function, given = found[contender]
    times = {"clock": time.perf_counter_ns, "turn_ns": LONG_TURN_NS} if contender in BY_THE_CLOCK else {}
    nbytes = len(given) if contender == "msgspec" and operation == "decode columns" else len(encoded(shape, scale))
    return Runner(contender, function, lambda nround: given, nbytes, is_right(shape, scale), **times)


@lru_cache(maxsize=len(SHAPES) + len(NESTED))
def is_right(shape, scale):
    """Tell whether columns hold the values of the objects, and write the same bytes."""
    some = encoded(shape, min(scale, 0.01))
    (whole,) = columns.read(some, NPAIRS)
    sink = io.BytesIO()
    columns.write(sink, whole)
    if shape in NESTED:
        return sink.getvalue() == some
    expected = tb.Decoder().decode_pairs(some)
    return (
        list(zip(whole.column("key").tolist(), whole.column("value").tolist())) == expected and sink.getvalue() == some
    )


def nvalues(operation, shape, scale=1):
    """Return the number of keys and values."""
    return 2 * max(int(NPAIRS * scale), 1)


def races():
    """Yield the operations and their shapes."""
    for operation in OPERATIONS:
        for shape in NESTED if operation == "decode nested columns" else SHAPES:
            yield operation, shape


CASES = [(*race, name) for race in races() for name in names(*race)]


@pytest.mark.benchmark(timer=time.process_time)
@pytest.mark.parametrize(("operation", "shape", "contender"), CASES)
def bench_columns(measure, scale, operation, shape, contender):
    measure(f"{operation} {shape}", runner(operation, shape, contender, scale), nvalues(operation, shape, scale))
