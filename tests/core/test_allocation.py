"""Memory that is refused, at every allocation: a MemoryError, nothing lost, nothing half-done, and life goes on.

Here: operations, and the sweep over their allocations. Not here: how much memory is used. Invariant: an operation gives
the same each time it is called, and a sweep runs in a process of its own, since it may crash. The allocators of C
itself are not seen; the core uses Python's.
"""

import array
import contextlib
import datetime
import decimal
import functools
import gc
import io
import itertools
import os
import pickle
import socket
import sys
import uuid
from pathlib import Path

import pytest

import typedbytes as tb
from support.subprocess_runs import run_fresh
from typedbytes import _core, block, sortkey
from typedbytes._report import _native as _report
from typedbytes._sorting import _native as _sorting
from typedbytes.columns import _native
from typedbytes.sequencefile import _native as _sequence

pytestmark = [pytest.mark.newest_python, pytest.mark.untraced]
on_the_oldest_too = pytest.mark.oldest_python  # the core, as in other files

HERE = Path(__file__).parent

# many of each, so that what the interpreter keeps for reuse does not hide allocations
VALUES = [
    *range(300, 350), *(2**40 + number for number in range(30)), *(number * 1.5 for number in range(30)),
    *("s%d" % number for number in range(30)), "\u20ac" * 3000, b"b" * 3000, [[number] for number in range(1000, 1030)],
    tuple((number,) for number in range(1000, 1030)),
    {"k%d" % number: {(number, "x"): [number]} for number in range(1000, 1030)}, 2**100, None, tb.Ext(144, b"e" * 20),
    tb.Writable("a.B", b"w"), [2**63 + number for number in range(20)],
]  # fmt: skip
DATA = b"".join(map(tb.dumps, VALUES))
PAIRS = b"".join(tb.dumps("key%d" % (number // 3)) + tb.dumps([number]) for number in range(60))
FLAGS = tb.dumps([True, False] * 5000)  # True and False are there: only the list itself asks for memory
TUPLE_KEYS = tb.dumps({(number, "x"): number for number in range(1000, 1040)})
FED = tb.dumps(b"b" * 600_000)


class Kept:
    """Take all, and ask for no memory once it is taken."""

    def __init__(self):
        self.taken = []
        self.write = self.taken.append

    def getvalue(self):
        """Return all."""
        return b"".join(self.taken)


class Counted:
    """Count what is taken; for a number up to 256 there is always memory."""

    def __init__(self):
        self.near, self.far = socket.socketpair()
        self.send = self.near.send

    def getvalue(self):
        """Return all."""
        with self.near, self.far:
            return self.far.recv(1 << 16)


class Short:
    """Take and give a few bytes at a time."""

    def __init__(self, data=b"", most=100):
        self.file, self.taken, self.most = io.BytesIO(data), [], most

    def read(self, nbytes):
        """Return some."""
        return self.file.read(min(nbytes, self.most))

    def write(self, data):
        """Take some."""
        self.taken.append(data[: self.most])
        return len(self.taken[-1])


def fed():
    """Feed in parts, without a Python function on the way: see what is made beforehand, below."""
    decoder, found = tb.Decoder(), []
    for offset in range(0, len(DATA), 2000):
        decoder.feed(DATA[offset : offset + 2000])
        found.extend(decoder)
    decoder.close()
    return found


WRITER = [None]  # the last one: it is closed when there is memory again


def written(kind, values, **options):
    """Return what a Writer writes."""
    sink = Short()
    WRITER[0] = kind(sink, **options)
    WRITER[0].writes(values)
    WRITER[0].close()
    return b"".join(sink.taken)


def close_writer():
    """Close the last Writer, which may hold records that could not go out."""
    if WRITER[0] is not None:
        WRITER[0].close()
        WRITER[0] = None


# Made beforehand, and no operation runs more Python code, such as what recognises another format by its first bytes:
# without memory, Python 3.12.1 and 3.13.0 release some objects twice.
def shown(code, data):
    """Be a hook."""
    return [code, data]


def replaced(obj):
    """Be a default."""
    return ["text"] * 20


def failing(use, *arguments, **options):
    """Return the words of an error of ours."""
    try:
        use(*arguments, **options)
    except tb.TypedBytesError as error:
        return str(error)


# Columns: of every kind, fixed ones by themselves, those that widen, and what Arrow lends.
CONTAINERS = tb.Encoder().encode_pairs(
    (
        "key%d" % (number // 7),
        (
            number,
            "t%d" % number,
            [float(number)] * (number % 3),
            {"k": number},
            (1, 2),
            tb.Ext(144, b"R"),
            ((1.5,), [[b"b"]]),
        ),
    )
    for number in range(60)
)
FIXED = tb.Encoder().encode_pairs((number, (2**40, number, True)) for number in range(3000))
WIDENED = tb.Encoder().encode_pairs(
    [(1, 1.5), (2**40, tb.Float(1.5)), ((1, 2), "text"), ((2**40, 2), b"bytes"), ((1, 2, 3), None)]
    + [("a", [1]), ("b", [2**40]), ("c", {})]
)
GROWING = (
    tb.dumps([[]])
    + tb.dumps([["text%d" % number for number in range(300)], [True] * 500])
    + tb.dumps([{number: (number, 1.5) for number in range(300)}])
)
DEEP = functools.reduce(lambda value, _: (value,), range(30), 5)  # the interpreter keeps no tuple of 30 for reuse
STRUCTS = tb.Encoder().encode_all([{}, {"a": 1, "b": "x", "c": [{"d": 1.5, "e": True}]}, {"b": "y"}] * 50)
STRUCTS_WIDENED = tb.Encoder().encode_all(
    [{"a": 1}, {"b": 2}] * 200 + [{"a": "x"}, {"c": (1, 2)}, {"a": None}, {"c": (3,)}, {1: 2}]
)
MAPS_AND_NULLS = tb.Encoder().encode_all([{"a": 1}, *[{}] * 3000, *[None] * 3000, {"a": "x", "b": 2}])
EMPTY_MAPS_FIRST = tb.dumps({}) * 300 + tb.dumps({"a": 1})
NULLED = tb.Encoder().encode_pairs(([number], {number: True}) for number in range(50))


def taken(data, nvalues=2, policy="error", types=None, paths=None):
    """Return the Batch of some bytes, made as often as it takes."""
    builder = _native.Builder(types, nvalues, paths, policy)
    ntaken, _ = builder.append_records(data, 10**6)
    return builder.finish(_native.Batch, ("key", "value")[:nvalues]), ntaken


def as_bytes(rows):
    """Return the bytes of Rows."""
    return _native.encode_rows(rows, [0] * len(rows), len(rows[0]), 1 << 30, None, 0)


def rewritten(data, nvalues=2, **options):
    """Return what the columns of some bytes are written as, and where that ended."""
    batch, ntaken = taken(data, nvalues, **options)
    return as_bytes([_native.rows_of_batch(batch, number) for number in range(nvalues)]), ntaken


def written_as_maps(data):
    """Return what structs that Arrow lends are written as."""
    batch, _ = taken(data, 1)
    imported = _native.ImportedArray(*batch.__arrow_c_array__(), structs_as_maps=True)
    return as_bytes([_native.rows_of_arrow(imported, 0)])


def mismatched():
    """Return where columns of one kind end."""
    builder = _native.Builder(None, 2, None, "error")
    ntaken = builder.append_records(FIXED + WIDENED, 10**6)
    return ntaken, builder.state, builder.path, builder.expected


def in_groups(data=None, max_rows=40):
    """Return batches that end where a key does."""
    builder = _native.Builder(None, 2, None, "error")
    builder.append_records(data or CONTAINERS, max_rows)
    batches = [
        builder.finish(_native.Batch, ("key", "value"), builder.last_group()),
        builder.finish(_native.Batch, ("key", "value")),
    ]
    return [as_bytes([_native.rows_of_batch(batch, number) for number in (0, 1)]) for batch in batches]


def no_rows_yet():
    """Return a batch of no row, and the next one, which has its nulls."""
    builder = _native.Builder(None, 2, None, "error")
    builder.append_records(NULLS, 10**6)
    batches = [builder.finish(_native.Batch, ("key", "value"), 0), builder.finish(_native.Batch, ("key", "value"))]
    return [as_bytes([_native.rows_of_batch(batch, number) for number in (0, 1)]) for batch in batches]


def through_arrow(data):
    """Export, take back, and write."""
    imported = _native.ImportedArray(*taken(data)[0].__arrow_c_array__())
    return _native.arrow_names(imported), as_bytes([_native.rows_of_arrow(imported, number) for number in (0, 1)])


class OneBatch:
    """A stream of one batch."""

    def __init__(self, batch):
        self._left = [batch]
        self.arrow_schema = batch.__arrow_c_schema__

    def __next__(self):
        if not self._left:
            raise StopIteration
        return self._left.pop()


def through_a_stream(batch):
    """The same as a stream, whose errors are numbers and words."""
    try:
        return [
            as_bytes([_native.rows_of_arrow(imported, 0)])
            for imported in _native.ImportedArrayStream(_native.arrow_stream(OneBatch(batch)))
        ]
    except OSError:
        raise MemoryError from None


@functools.cache
def lent_by_others():
    """Return capsules of arrays that only others make, many of each, since each can be taken once."""
    import pyarrow

    texts = ["a", None, "longer than what a view holds itself", "b"]
    halves = pyarrow.array([1.5, 2.5]).cast(pyarrow.float16())
    columns = [
        pyarrow.array(texts, pyarrow.string_view()), pyarrow.array(["a", "b", "a"]).dictionary_encode(),
        pyarrow.array([b"ab", b"cd"], pyarrow.binary(2)), halves,
        pyarrow.array([[1, 2], [3, 4]], pyarrow.list_(pyarrow.uint16(), 2)), pyarrow.array([True, False]),
    ]  # fmt: skip
    return [[column.__arrow_c_array__() for _ in range(2000)] for column in columns]


def from_others():
    """Write imported data."""
    found = []
    for capsules in lent_by_others():
        rows = _native.rows_of_arrow(_native.ImportedArray(*capsules.pop()))
        found.append(_native.encode_rows([rows], [0], len(rows), 1 << 30, b"\x0c", 0))
    return found


def from_buffers():
    """Write columns of other memory."""
    numbers, grid = array.array("H", range(600)), memoryview(array.array("H", range(600))).cast("B")
    rows = [
        _native.rows_of_buffer(numbers),
        _native.rows_of_buffer(grid.cast("H", [600, 1])),
        _native.rows_of_children(
            [_native.rows_of_buffer(numbers), _native.rows_of_buffer(array.array("d", [0.5]) * 600)]
        ),
        _native.rows_of_encoded(DATA, array.array("q", [0]) * 600),
    ]
    return as_bytes(rows)


# Blocks: of both wires, and those that are wrong.
ARGS = [block.Command("a"), "text", "\u20ac" * 30, 2**40, 1.5, bytes(100), "x" * 70_000]
LARGE = [1, *(bytes([number]) * 66_000 for number in range(9)), "last"]
NESTED = [
    *ARGS,
    None,
    True,
    [1, {"k": (2**70,)}],
    array.array("d", range(30)),
    memoryview(bytes(24)).cast("H", [4, 3]),
    block.ArrowStream(b"arrow"),
    *[7] * 300,
]
BAD_TEXT = block.BlockEncoder().encode(["text"])[:-1] + b"\xff"
BAD_NESTED = block.BlockEncoder("native").encode([1, [[1, "text"]]])[:-3] + b"\x0b" + bytes(2)
NOWHERE = os.open(os.devnull, os.O_WRONLY)


def messages(wire, args):
    """Return messages that were encoded and decoded, whole and in pieces, and how they are spelled again."""
    data = block.BlockEncoder(wire).encode(args)
    decoder, found = block.BlockDecoder(wire), []
    for start in range(0, len(data), 30_000):
        found += decoder.feed(data[start : start + 30_000])
    found += block.BlockReader(Short(data, 30_000), wire)
    return data, [[value.tobytes() if type(value) is memoryview else value for value in message] for message in found]


BATCHES = [None]


def close_batches():
    """Close the last CoalescingWriter: it warns when it is not, and stays failed where a large value was on its way."""
    batches, BATCHES[0] = BATCHES[0], None
    if batches is not None:
        with contextlib.suppress(MemoryError):
            batches.close()


def moved(args):
    """Return what a BlockWriter writes, and what batches count."""
    sink = Short(most=50_000)
    writer = block.BlockWriter(sink)
    writer.write(args)
    writer.write_raw(b"raw" * 100)
    block.BlockEncoder("native").send(args, NOWHERE)
    batches = BATCHES[0] = block.CoalescingWriter(NOWHERE, max_delay=None, flush_bytes=100)
    for message in ([1], args, ["x" * 2000], [2]):
        batches.write(message)
    batches.flush()
    target = bytearray()
    return b"".join(sink.taken), batches.stats, block.BlockEncoder().encode_into(args, target), bytes(target)


# SequenceFiles.
PARTS = [("key%d" % number, (number, "text" * 9)) for number in range(60)]
MARKER = bytes(range(16))


def stored(data, limit=None):
    """Be a codec that compresses nothing."""
    return data


def convert(data):
    """Be a decoder of a class, and what makes it typed bytes."""
    return tb.dumps(data)


def sequence_file(compression, key_class="org.apache.hadoop.typedbytes.TypedBytesWritable", pairs=PARTS, **options):
    """Return the bytes of a SequenceFile."""
    sink = Kept()
    with_codec = {} if compression == "none" else {"codec": "a.Codec", "compress": stored}
    writer = SEQUENCE_WRITER[0] = _sequence.Writer(
        sink, key_class=key_class, value_class=key_class, compression=compression, sync_marker=MARKER,
        sync_interval=200, block_size=300, **with_codec, **options,
    )  # fmt: skip
    writer.writes(pairs)
    writer.close()
    return sink.getvalue()


SEQUENCE_WRITER = [None]
SEQUENCES = {compression: sequence_file(compression) for compression in ("none", "record", "block")}
TEXTS = sequence_file(
    "none",
    "org.apache.hadoop.io.Text",
    [("k\xe9%d" % number, "v" * number) for number in range(50)],
    metadata={"name": "value"},
)
OTHERS = sequence_file("none", "a.B", [(b"key", b"value")] * 30)
FINDERS = {
    "find_codec": {"a.Codec": stored}.__getitem__,
    "find_converters": lambda name, part: (convert, convert, None) if name == "a.B" else (None, None, None),
}


def taken_stubbornly(pairs):
    """Return all pairs of an iterator, asked again after a MemoryError, which it must raise again.

    A pair may be lost.
    """
    found = []
    while True:
        try:
            pair = next(pairs, None)
        except MemoryError:
            pair = next(pairs, None)
        if pair is None:
            return found
        found.append(pair)


def sequence(data, **options):
    """Return all that a SequenceFile gives, in every way."""
    return [
        _sequence.Reader(Short(data), **FINDERS, **options).read_all(),
        _sequence.Reader(data, raw=True, **FINDERS, **options).read_all(),
        _sequence.Reader(data, **FINDERS, **options).read_typed(500),
        _sequence.Reader(data, **FINDERS, **options).skip(50),
        _sequence.Reader(Short(data), start=len(data) // 2, **FINDERS, **options).read_all(),
        _sequence.Reader(data[:700] + b"\x81" + data[701:], resync=True, **FINDERS, **options).skip(1000),
    ]


def typed_to_sequence():
    """Return the SequenceFile of typed bytes."""
    sink = Kept()
    typed = "org.apache.hadoop.typedbytes.TypedBytesWritable"
    writer = SEQUENCE_WRITER[0] = _sequence.Writer(sink, key_class=typed, value_class=typed, sync_marker=MARKER)
    writer.write_typed(PAIRS)
    failing(writer.write_typed, PAIRS[:-1])
    writer.sync()
    writer.close()
    return sink.getvalue()


def one_by_one():
    """Return Writables encoded and decoded by themselves."""
    io_package = "org.apache.hadoop.io."
    values = {
        "Text": "t\xe9xt",
        "BytesWritable": b"bytes" * 9,
        "IntWritable": 7,
        "VLongWritable": 2**40,
        "DoubleWritable": 1.5,
        "BooleanWritable": True,
    }
    encoded = [(io_package + name, _sequence.encode(io_package + name, value)) for name, value in values.items()]
    wrong = [failing(_sequence.decode, name, data + b"x") for name, data in encoded] + [
        failing(_sequence.encode, io_package + "Text", 5)
    ]
    return encoded, [_sequence.decode(name, data) for name, data in encoded], wrong


def close_sequence_writer():
    """Close the last Writer of a SequenceFile: it warns when it is not."""
    writer, SEQUENCE_WRITER[0] = SEQUENCE_WRITER[0], None
    if writer is not None:
        writer.close()


# Sorting, and what the command makes of records.
UNSORTED = [
    b"".join(tb.dumps("key%d" % (number * 37 % 61)) + tb.dumps([number]) for number in range(start, start + 60))
    for start in (0, 60)
]
KEYS = [(1, "text", b"b", 1.5, None), 2**63, (sortkey.Descending("x"), (True, -(2**40)))]


def sorted_runs(data):
    """Return records by partition, and the same merged."""
    runs = []
    for part in data:
        sorter = _sorting.Sorter(npartitions=3, memory=1 << 16)
        source = io.BytesIO(part)
        while sorter.fill(source):
            pass
        sorter.sort()
        runs.append([io.BytesIO() for _ in range(3)])
        for partition, sink in enumerate(runs[-1]):
            sorter.write(partition, sink)
            sink.seek(0)
    merged = io.BytesIO()
    return [_sorting.merge(part, merged, buffer_size=64) for part in zip(*runs)], merged.getvalue()


def tallied():
    """Return what is counted of pairs."""
    statistics, schema = _report.RecordStatistics(pairs=True, npartitions=4), _report.Schema(pairs=True)
    for walker in (statistics, schema):
        walker.write(CONTAINERS)
    return statistics.partitions, statistics.by_type(0), statistics.by_type(1), schema.paths()


NUMBERS = itertools.count()


def new_keys():
    """Decode MAPs with keys of three kinds that were not met before; return whether they come back."""
    number = next(NUMBERS)
    keys = ["k%d" % number, "a key longer than others %d" % number, "ключ, длиннее других %d" % number]
    maps = [{key: 1} for key in keys] * 9  # so often that the cache of keys stays in use
    return tb.loads(tb.dumps(maps)) == maps


# Pickles: sets whose tables grow, shared objects in a memo, deep ones; and columns with nulls at every place.
PICKLED = [
    set(range(400)),
    frozenset(map(str, range(300))),
    {(1, "a"), (2, "b")},
    datetime.date(2020, 1, 2),
    decimal.Decimal("1.25"),
    2**900,
    1j,
    uuid.UUID(int=2**127 + 5),
]
# A string of protocol 0, a number whose size is not one of the interpreter's small ints, elements of one hash.
UNUSUAL = [
    b"S'text'\n.",
    pickle.dumps((decimal.Decimal("1" * 900),), 2),
    b"\x80\x02c__builtin__\nset\n](K\x01\x85G?\xf0\0\0\0\0\0\0\x85e\x85R.",
]
SHARED = [str(number) * 3 for number in range(300)]
MEMOS = pickle.dumps(tuple((text, text, (text,)) for text in SHARED), 2)
OTHER_MEMOS = (
    b"\x80\x02(" + b"".join(b"K\x01r" + (number * 7919).to_bytes(4, "little") for number in range(300)) + b"t."
)
NULLS = tb.Encoder().encode_pairs(
    (
        None if number % 7 == 1 else number,
        None if number % 5 == 2 else ("t%d" % number, None if number % 3 else [number, None], True),
    )
    for number in range(400)
)
# A column whose type comes late; nulls in rows of a fixed size; nulls only in the rows that the next batch gets.
LATE_TYPE = tb.Encoder().encode_pairs([(number, None) for number in range(3000)] + [(1, (1, "t", [1.5], None))])
FIXED_NULLS = tb.Encoder().encode_pairs(
    (number, None if number % 9 == 8 else (2**40, number, True)) for number in range(3000)
)
ONE_NULL = tb.Encoder().encode_pairs((number, (None if number == 3 else number, "t")) for number in range(1200))
NULLS_LAST = tb.Encoder().encode_pairs(
    (number // 50, None if number > 60 else (number, "text")) for number in range(80)
)

OPERATIONS = {
    "columns_late_type": lambda: rewritten(LATE_TYPE),
    "columns_fixed_nulls": lambda: rewritten(FIXED_NULLS),
    "columns_nulls_last": lambda: in_groups(NULLS_LAST, 80),
    "columns_one_null": lambda: rewritten(ONE_NULL),
    "columns_no_rows_yet": no_rows_yet,
    "columns_nulls_of_parts": lambda: taken(NULLS, paths=((1, "0"),))[1],
    "loads_unusual": lambda: [_core.safe_loads(data) for data in UNUSUAL],
    "loads_pickled": lambda: [tb.loads(tb.dumps(value)) for value in PICKLED],
    "loads_memo": lambda: [len(_core.safe_loads(MEMOS)), _core.safe_loads(OTHER_MEMOS)],
    "dumps_pickled": lambda: [tb.dumps(value) for value in PICKLED],
    "columns_with_nulls": lambda: rewritten(NULLS),
    "columns_with_nulls_widen": lambda: rewritten(NULLS + tb.dumps(2**40) + tb.dumps(None), policy="widen"),
    "columns_arrow_nulls": lambda: _native.arrow_names(_native.ImportedArray(*taken(NULLS)[0].__arrow_c_array__())),
    "loads": lambda: tb.loads(tb.dumps(VALUES)),
    "loads_exact": lambda: tb.loads(tb.dumps(VALUES), exact=True, map_pairs=True),
    "loads_hook": lambda: tb.loads(tb.dumps([tb.Ext(60, b"x")] * 20), ext_hook=shown),
    "loads_strided": lambda: tb.Decoder().decode_all(memoryview(DATA[::-1])[::-1]),
    "loads_replace": lambda: tb.loads(b"\7\0\0\0\3a\xffb", unicode_errors="replace"),
    "loads_fails": lambda: [
        failing(tb.loads, b"\x09" + PAIRS + bad) for bad in (b"", b"\x0b", b"\x0a\0\0\0\1\x09", b"\x09" * 256)
    ],
    "loads_flags": lambda: tb.loads(FLAGS),
    "loads_new_keys": new_keys,
    "loads_tuple_keys": lambda: tb.loads(TUPLE_KEYS),
    "text_fails": lambda: failing(tb.loads, b"\x09\7\0\0\0\1\xff"),
    "name_fails": lambda: failing(tb.loads, b"\x09\x32\0\0\0\5\0\0\0\1\xff"),
    "key_fails": lambda: failing(tb.loads, b"\x0a\0\0\0\1" + tb.dumps(tb.Ext(60, b"x")) + b"\2\1", ext_hook=shown),
    "decode_pairs": lambda: tb.Decoder().decode_pairs(PAIRS),
    "fed": fed,
    "reader": lambda: list(tb.Reader(Short(DATA), buffer_size=64)),
    "reader_raw": lambda: list(tb.Reader(Short(DATA), buffer_size=64, raw=True)),
    "reader_exact": lambda: list(tb.Reader(Short(PAIRS), read_ahead=False)),
    "reader_large": lambda: tb.Reader(Short(tb.dumps(b"b" * 100_000), 9000)).read(),
    "pairs": lambda: list(tb.PairReader(Short(PAIRS))),
    "groups": lambda: [(key, list(values)) for key, values in tb.PairReader(Short(PAIRS), buffer_size=64).groups()],
    "pairs_raw": lambda: list(tb.PairReader(Short(PAIRS), buffer_size=64, raw=True)),
    "groups_by": lambda: [
        (key, list(values)) for key, values in _core.RecordGroups(tb.PairReader(Short(PAIRS), buffer_size=64), repr)
    ],
    "text_lines": lambda: list(_core.TextReader(Short(b"a\tb\nlonger than what is short\n"), b"\t", buffer_size=64)),
    "raw_bytes": lambda: list(_core.RawBytesReader(Short(b"\0\0\0\1k\0\0\0\2vv" * 3), buffer_size=64)),
    "kept": lambda: list(_core.WrappedIterator(tb.PairReader(Short(PAIRS)))),
    "groups_raw": lambda: [(key, list(values)) for key, values in tb.PairReader(Short(PAIRS), raw=True).groups()],
    "skips": lambda: tb.PairReader(Short(PAIRS), buffer_size=64).skip(100),
    "dumps": lambda: tb.dumps(VALUES),
    "dumps_sorted": lambda: tb.dumps(VALUES, sort_keys=True),
    "dumps_default": lambda: tb.dumps([object()] * 20, default=replaced),
    "dumps_fails": lambda: failing(tb.dumps, [*VALUES, {"k": object()}]),
    "dumps_fails_by_size": lambda: failing(tb.Encoder(int_width=32).encode, [*VALUES[:30], 2**40]),
    "dumps_text_fails": lambda: failing(tb.dumps, ["\udc80"]),
    "dumps_replace": lambda: tb.dumps(["a\udc80"] * 10, unicode_errors="replace"),
    "dumps_array": lambda: tb.dumps(array.array("d", range(1000))),
    "encode_into": lambda: tb.Encoder().encode_into(VALUES, bytearray()),
    "encode_pairs": lambda: tb.Encoder().encode_pairs(zip(VALUES, VALUES)),
    "writer": lambda: written(tb.Writer, VALUES, buffer_size=500),
    "pair_writer": lambda: written(tb.PairWriter, zip(VALUES, VALUES), buffer_size=500),
    "copy": lambda: written(tb.PairWriter, tb.PairReader(Short(PAIRS)), buffer_size=100),
    "scan": lambda: (
        tb.count(DATA),
        tb.index(DATA),
        tb.index(FLAGS),
        tb.skip(PAIRS),
        tb.hash_code(memoryview(DATA)[::2]),
    ),
    "columns": lambda: rewritten(CONTAINERS),
    "columns_fixed": lambda: rewritten(FIXED),
    "columns_widen": lambda: rewritten(WIDENED, policy="widen"),
    "columns_raw": lambda: rewritten(CONTAINERS, types=(("raw",), ("raw",))),
    "columns_wanted": lambda: rewritten(CONTAINERS, paths=((0,), (1, "1"))),
    "columns_wanted_deep": lambda: rewritten(tb.dumps(DEEP) * 20, 1, paths=((0, *"0" * 27),)),
    "columns_wanted_fields": lambda: taken(STRUCTS, 1, paths=((0, "b"), (0, "nowhere", "y"), (0, "nowhere", "z")))[1],
    "columns_widen_reals": lambda: rewritten(
        tb.Encoder().encode_all([1, 2**40, 2.5, 3, tb.Float(0.5)]), 1, policy="widen"
    ),
    "columns_arrow": lambda: through_arrow(CONTAINERS),
    "columns_stream": lambda: through_a_stream(NULLED_BATCH),
    "columns_growing": lambda: rewritten(GROWING, 1, policy="widen"),
    "columns_nulled": lambda: rewritten(NULLED),
    "columns_widened_items": lambda: rewritten(tb.dumps([2**40] + [5] * 2000), 1, policy="widen"),
    "columns_loosened": lambda: rewritten(tb.dumps((1, 2)) * 30 + tb.dumps((1, 2, 3)), 1, policy="widen"),
    "columns_of_arrays": lambda: rewritten(tb.dumps([(1, 2)] * 500), 1),
    "columns_mismatch": mismatched,
    "columns_structs": lambda: rewritten(STRUCTS, 1),
    "columns_structs_widen": lambda: rewritten(STRUCTS_WIDENED, 1, policy="widen"),
    "columns_maps_and_nulls_widen": lambda: rewritten(MAPS_AND_NULLS, 1, policy="widen"),
    "columns_empty_maps_first": lambda: rewritten(EMPTY_MAPS_FIRST, 1),
    "columns_structs_arrow": lambda: written_as_maps(STRUCTS),
    "columns_groups": in_groups,
    "columns_of_others": from_others,
    "columns_of_buffers": from_buffers,
    **{
        f"block_{wire}": functools.partial(messages, wire, ARGS)
        for wire in ("line", "block", "bytes", "type8", "total", "header")
    },
    "block_native": lambda: messages("native", NESTED),
    "block_moved": lambda: moved(LARGE),
    "block_fails": lambda: [
        failing(block.BlockDecoder().feed, data)
        for data in (BAD_NESTED, BAD_TEXT, b"\xf5abc", bytes(3) + b"\1" + bytes(3) + b"\7")
    ],
    "block_encode_fails": lambda: [
        failing(block.BlockEncoder(wire).encode, [1, bytes(70_000), "\udc80"]) for wire in ("bytes", "native")
    ],
    "block_skips": lambda: block.BlockDecoder("native", skip_bad=True).feed(
        BAD_NESTED + block.BlockEncoder("native").encode([1])
    ),
    "block_reader_fails": lambda: failing(block.BlockReader(BAD_NESTED).read),
    "sequence_paired": lambda: taken_stubbornly(_core.PairIterator(_sequence.Reader(SEQUENCES["none"], **FINDERS))),
    "sequence_block": lambda: sequence(SEQUENCES["block"]),
    "sequence_none": lambda: sequence(SEQUENCES["none"]),
    "sequence_record": lambda: sequence(SEQUENCES["record"]),
    "sequence_texts": lambda: sequence(TEXTS),
    "sequence_others": lambda: sequence(OTHERS),
    **{f"sequence_{compression}_written": functools.partial(sequence_file, compression) for compression in SEQUENCES},
    "sequence_typed_written": typed_to_sequence,
    "sequence_writables": one_by_one,
}
OPERATIONS.update(
    {
        "sort_runs": lambda: sorted_runs(UNSORTED),
        "sort_fails": lambda: [
            failing(_sorting.Sorter().fill, io.BytesIO(UNSORTED[0] + bad)) for bad in (b"\x0b", b"\x07\xff\xff\xff\xff")
        ],
        "sortkey": lambda: [sortkey.decode(sortkey.encode(key, none="last")) for key in KEYS],
        "sortkey_fails": lambda: [
            failing(sortkey.encode, (1, ("x", object()))),
            failing(sortkey.decode, sortkey.encode("text")[:-1]),
        ],
        "command_lines": lambda: _report.lines(DATA),
        "command_tally": tallied,
        "command_lines_read": lambda: _sorting.LineReader(io.BytesIO(b"a line\n" * 100)).read_typed(),
        "command_lines_paired": lambda: taken_stubbornly(
            _core.PairIterator(_sorting.LineReader(io.BytesIO(b"a line\n\xc3\xa9\n\xff\n" * 20)))
        ),
    }
)
NULLED_BATCH = taken(NULLED)[0]
# what to refuse up to, from a start: one allocation, and all that follow. Before Python 3.11 the interpreter gives
# itself up when it has no memory for its own errors
UNTIL = [lambda start: start + 1, lambda start: 0] if sys.version_info >= (3, 11) else [lambda start: start + 1]
# A function of Python that runs for the 1,024th time gets a table, of which 3.9 and 3.10 report a refused allocation as
# SystemError: what an operation runs once a call has its table before the first refusal.
NWARMING = 1 if sys.version_info >= (3, 11) else 1025
CLEAN = 40  # calls in a row that reach no refused allocation end a sweep


def sweep(*names):
    """Refuse one allocation of each operation in turn, once and for good; print how often MemoryError came."""
    for name in names:
        sweep_one(name, OPERATIONS[name])


def sweep_one(name, operation):
    """Do so for one operation, which the collector leaves alone."""
    import _testcapi

    for _ in range(NWARMING):
        expected = operation()
    gc.collect()
    gc.freeze()
    gc.disable()  # the collector would report that it lacks memory itself
    for until in UNTIL:
        nfailed = nclean = start = 0
        while nclean < CLEAN:
            refused = False
            _testcapi.set_nomemory(start, until(start))
            try:
                found = operation()
            except MemoryError:
                refused = True
            finally:
                _testcapi.remove_mem_hooks()
                close_writer()
                close_batches()
                close_sequence_writer()
            assert refused or found == expected, (name, start)
            assert operation() == expected, (name, start)
            gc.collect()  # of a failed Reader and its error: the interpreter has 16 errors for when there is no memory
            nfailed, nclean, start = nfailed + refused, 0 if refused else nclean + 1, start + 1
        print(nfailed)


#: Those of one subject share a process, and so do all the others.
GROUPS = {}
for name in OPERATIONS:
    subject = name.split("_")[0]
    GROUPS.setdefault(subject if subject in ("columns", "block", "sequence", "loads") else "others", []).append(name)


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(names, id=name, marks=on_the_oldest_too if name in ("loads", "others") else ())
        for name, names in GROUPS.items()
    ],
)
def test_every_refused_allocation_is_a_memory_error(names):
    """It becomes no other error on its way, and nothing is released twice, by Cython's code for new objects either."""
    nfailed = list(
        map(
            int,
            run_fresh(
                "import sys, test_allocation; test_allocation.sweep(*sys.argv[1:])", *names, folders=[HERE]
            ).split(),
        )
    )
    assert len(nfailed) == len(UNTIL) * len(names)
    for name, first, last in zip(names, nfailed[:: len(UNTIL)], nfailed[len(UNTIL) - 1 :: len(UNTIL)]):
        assert 0 < first <= last, name


def feed_again():
    """Refuse one allocation of a feed after the other; print how often all that was refused could be fed again."""
    import _testcapi

    nfailed = nclean = start = 0
    while nclean < CLEAN:
        decoder, refused = tb.Decoder(), False
        decoder.feed(b"\2")
        _testcapi.set_nomemory(start, start + 1)
        try:
            decoder.feed(b"\1" + FED)
        except MemoryError:
            refused = True
        finally:
            _testcapi.remove_mem_hooks()
        if refused:
            assert decoder.pending == 1, start
            decoder.feed(b"\1" + FED)
        assert list(decoder) == [True, b"b" * 600_000], start
        nfailed, nclean, start = nfailed + refused, 0 if refused else nclean + 1, start + 1
    print(nfailed)


def copy_again():
    """Refuse one allocation of a copy after the other; print how often all that was refused could be copied again."""
    import _testcapi

    data = b"".join(tb.dumps("x" * size) for size in (10, 5000, 10, 50_000, 10))
    nfailed = nclean = start = 0
    while nclean < CLEAN:
        sink, refused = Kept(), False
        reader, writer = tb.Reader(data), tb.Writer(sink, buffer_size=100)
        _testcapi.set_nomemory(start, start + 1)
        try:
            writer.copy(reader)
        except MemoryError:
            refused = True
        finally:
            _testcapi.remove_mem_hooks()
        assert reader.record == writer.record, start
        writer.copy(reader)
        writer.close()
        assert sink.getvalue() == data and writer.record == 5, start
        nfailed, nclean, start = nfailed + refused, 0 if refused else nclean + 1, start + 1
    print(nfailed)


def write_again(make_sink, sizes):
    """Refuse one allocation of a writer after the other; print how often its records were written all the same."""
    import _testcapi

    values = ["x" * size for size in sizes]
    nfailed = nclean = start = 0
    while nclean < CLEAN:
        sink, nrefused = make_sink(), 0
        writer = tb.Writer(sink, buffer_size=100)
        _testcapi.set_nomemory(start, start + 1)
        try:
            while writer.record < len(values):  # a record that is counted is kept
                try:
                    writer.write(values[writer.record])
                except MemoryError:
                    nrefused += 1
        finally:
            _testcapi.remove_mem_hooks()
        writer.close()
        assert sink.getvalue() == b"".join(map(tb.dumps, values)), start
        nfailed, nclean, start = nfailed + nrefused, 0 if nrefused else nclean + 1, start + 1
    print(nfailed)


@on_the_oldest_too
@pytest.mark.parametrize("make_sink, sizes", [("Kept", [10, 90, 5000, 10, 50_000, 10]), ("Counted", [10, 90, 150] * 3)])
def test_a_writer_without_memory_loses_and_doubles_no_record(make_sink, sizes):
    assert int(run_fresh(f"import test_allocation as t; t.write_again(t.{make_sink}, {sizes})", folders=[HERE])) >= 4


@on_the_oldest_too
def test_a_copy_without_memory_loses_no_record():
    assert int(run_fresh("import test_allocation; test_allocation.copy_again()", folders=[HERE])) >= 2


@on_the_oldest_too
def test_a_feed_without_memory_has_taken_nothing():
    # its buffer grows in steps
    assert int(run_fresh("import test_allocation; test_allocation.feed_again()", folders=[HERE])) >= 3
