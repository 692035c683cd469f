"""Streams of keys and values over files and pipes: reading, writing, and copying, which is both.

Here: how each contender reads and writes pairs one after the other, in the fastest way it documents. Invariant:
everyone reads what a library of its own format wrote; opening and closing are not timed, flushing is.
"""

import marshal
import pickle
import subprocess
import time
from functools import lru_cache, partial

import pytest

import data
import old_files
import typedbytes as tb
from timing import Runner

try:
    import msgpack
    import msgspec
except ModuleNotFoundError:
    msgpack = msgspec = None

FOLDER = old_files.FOLDER / "streams"
SHAPES = ("bool", "small_int", "int64", "double", "ascii_8", "word_pairs", "bytes_1k")
#: How many lists of the usual size one stream holds.
NLISTS = 10


# -- reading: from a file to the last pair, or to all of them ---------------------------------------------


def read_typedbytes(source):
    for key, value in tb.PairReader(source):
        pass
    return key, value


def list_typedbytes(source):
    return list(tb.PairReader(source))


def read_typedbytes_raw(source):
    for key, value in tb.PairReader(source, raw=True):
        pass
    return tb.loads(key), tb.loads(value)


def msgpack_pairs(source):
    unpacker = msgpack.Unpacker(source, use_list=False, strict_map_key=False)
    return zip(unpacker, unpacker)


def read_msgpack(source):
    for key, value in msgpack_pairs(source):
        pass
    return key, value


def list_msgpack(source):
    return list(msgpack_pairs(source))


def read_with(load, source):
    try:
        while True:
            key = load(source)
            value = load(source)
    except EOFError:
        return key, value


def list_with(load, source):
    values = []
    try:
        while True:
            values.append(load(source))
    except EOFError:
        return list(zip(values[::2], values[1::2]))


# -- writing: all pairs to a file -------------------------------------------------------------------------


def write_typedbytes(pairs, sink):
    with tb.PairWriter(sink) as writer:
        write = writer.write
        for key, value in pairs:
            write(key, value)


def writes_typedbytes(pairs, sink):
    with tb.PairWriter(sink) as writer:
        writer.writes(pairs)


def write_packed(pack, pairs, sink):
    write = sink.write
    for key, value in pairs:
        write(pack(key))
        write(pack(value))
    sink.flush()


def write_msgpack(pairs, sink):
    write_packed(msgpack.Packer().pack, pairs, sink)


def write_msgspec(pairs, sink):
    write_packed(msgspec.msgpack.Encoder().encode, pairs, sink)


def write_with(dump, pairs, sink):
    for key, value in pairs:
        dump(key, sink)
        dump(value, sink)
    sink.flush()


# -- copying: every pair read and written -----------------------------------------------------------------


def copy_typedbytes(source, sink):
    write_typedbytes(tb.PairReader(source), sink)


def copy_typedbytes_bulk(source, sink):
    writes_typedbytes(tb.PairReader(source), sink)


def copy_typedbytes_raw(source, sink):
    with tb.PairWriter(sink) as writer:
        write_raw = writer.write_raw
        for key, value in tb.PairReader(source, raw=True):
            write_raw(key, value)


def copy_typedbytes_whole(source, sink):
    with tb.PairWriter(sink) as writer:
        writer.copy(tb.PairReader(source))


def copy_msgpack(source, sink):
    write_msgpack(msgpack_pairs(source), sink)


def copy_with(load, dump, source, sink):
    try:
        while True:
            dump(load(source), sink)
            dump(load(source), sink)
    except EOFError:
        sink.flush()


#: By operation and contender: the format of its streams, and the function.
READERS = {
    "typedbytes": ("typedbytes", read_typedbytes),
    "typedbytes list": ("typedbytes", list_typedbytes),
    "typedbytes raw": ("typedbytes", read_typedbytes_raw),
    "msgpack": ("msgpack", read_msgpack),
    "msgpack list": ("msgpack", list_msgpack),
    "pickle": ("pickle", partial(read_with, pickle.load)),
    "marshal": ("marshal", partial(read_with, marshal.load)),
}
WRITERS = {
    "typedbytes": ("typedbytes", write_typedbytes),
    "typedbytes writes": ("typedbytes", writes_typedbytes),
    "msgpack": ("msgpack", write_msgpack),
    "msgspec": ("msgpack", write_msgspec),
    "pickle": ("pickle", partial(write_with, pickle.dump)),
    "marshal": ("marshal", partial(write_with, marshal.dump)),
}
COPIERS = {
    "typedbytes": ("typedbytes", copy_typedbytes),
    "typedbytes bulk": ("typedbytes", copy_typedbytes_bulk),
    "typedbytes raw": ("typedbytes", copy_typedbytes_raw),
    "typedbytes copy": ("typedbytes", copy_typedbytes_whole),
    "msgpack": ("msgpack", copy_msgpack),
    "pickle": ("pickle", partial(copy_with, pickle.load, pickle.dump)),
    "marshal": ("marshal", partial(copy_with, marshal.load, marshal.dump)),
}
#: By format: how all pairs are read, to see whether they are right.
LISTERS = {
    "typedbytes": list_typedbytes,
    "msgpack": list_msgpack,
    "pickle": partial(list_with, pickle.load),
    "marshal": partial(list_with, marshal.load),
}
OPERATIONS = {
    "read file": READERS,
    "read pipe": READERS,
    "write file": WRITERS,
    "copy file": COPIERS,
    "copy pipe": COPIERS,
}


# -- runners ----------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def pairs_of(shape_name, scale):
    """Return the pairs of a stream."""
    shape = data.SHAPES[shape_name]
    items = [item for variant in range(NLISTS) for item in shape.items(variant, scale)]
    return items if shape_name in data.PAIRS else list(zip(items[::2], items[1::2]))


@lru_cache(maxsize=len(OPERATIONS))
def stream(shape_name, format, scale):
    """Return the path of a stream in a format, written now."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{shape_name}-{scale:g}.{format}"
    write = WRITERS[format][1]
    with path.open("wb") as sink:
        write(pairs_of(shape_name, scale), sink)
    return path


class Ends:
    """Where a round reads from and writes to."""

    def __init__(self, path, over):
        self.process = subprocess.Popen(["cat", path], stdout=subprocess.PIPE) if over == "pipe" else None
        self.source = self.process.stdout if self.process else path.open("rb")
        self.sink = (FOLDER / "sink").open("wb")

    def close(self):
        self.source.close()
        self.sink.close()
        if self.process:
            self.process.wait()


def runner(operation, shape_name, contender, scale=1):
    """Return a contender ready to run, or None if it is not installed."""
    format, function = OPERATIONS[operation][contender]
    if format == "msgpack" and msgpack is None:
        return None
    verb, over = operation.split()
    pairs = pairs_of(shape_name, scale)
    path = stream(shape_name, format, scale)
    run = {
        "read": lambda ends: function(ends.source),
        "write": lambda ends: function(pairs, ends.sink),
        "copy": lambda ends: function(ends.source, ends.sink),
    }[verb]
    ready = Runner(contender, run, lambda nround: Ends(path, over), path.stat().st_size, False, Ends.close)
    ready.correct = is_right(ready, verb, format, pairs)
    return ready


def is_right(runner, verb, format, pairs):
    """Run once, and tell whether what was read or written is what it should be."""
    ends = runner.prepare(0)
    result = runner.run(ends)
    runner.finish(ends)
    if verb == "read":
        return result == (pairs if isinstance(result, list) else pairs[-1])
    with (FOLDER / "sink").open("rb") as source:
        return LISTERS[format](source) == pairs


def nvalues(operation, shape_name, scale=1):
    """Return the number of keys and values in a stream."""
    return 2 * len(pairs_of(shape_name, scale))


def names(operation, shape_name):
    """Return the contenders of an operation."""
    return list(OPERATIONS[operation])


def races():
    """Yield the operations and their shapes."""
    return ((operation, shape_name) for operation in OPERATIONS for shape_name in SHAPES)


CASES = [(*race, name) for race in races() for name in names(*race)]


@pytest.mark.benchmark(timer=time.process_time)
@pytest.mark.parametrize(("operation", "shape", "contender"), CASES)
def bench_streams(measure, scale, operation, shape, contender):
    measure(f"{operation} {shape}", runner(operation, shape, contender, scale), nvalues(operation, shape, scale))
