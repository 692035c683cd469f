"""Memory that is refused, at every place where it is asked for: a MemoryError, nothing lost, nothing half-done, and life goes on.

Belongs here: operations, and the sweep over their allocations. What this file must not know: how much memory is used. What is
always true in it: an operation gives the same each time it is called, and a sweep runs in a process of its own, since it may
crash. The allocators of C itself are not seen; the core uses Python's.
"""

import array
import gc
import io
import socket
import sys

import pytest

import typedbytes as tb
from fresh import run_fresh

# many of each, so that what the interpreter keeps for reuse does not hide the places
VALUES = [
    *range(300, 350), *(2**40 + number for number in range(30)), *(number * 1.5 for number in range(30)), *("s%d" % number for number in range(30)),
    "\u20ac" * 3000, b"b" * 3000, [[number] for number in range(1000, 1030)], tuple((number,) for number in range(1000, 1030)),
    {"k%d" % number: {(number, "x"): [number]} for number in range(1000, 1030)}, 2**100, None, tb.Ext(144, b"e" * 20), tb.Writable("a.B", b"w"),
]  # fmt: skip
DATA = b"".join(map(tb.dumps, VALUES))
PAIRS = b"".join(tb.dumps("key%d" % (number // 3)) + tb.dumps([number]) for number in range(60))
FLAGS = tb.dumps([True, False] * 5000)  # of which there are two: only the list itself asks for memory
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


# Made beforehand, and no operation runs more Python code: without memory, Python 3.12.1 and 3.13.0 let go of some things twice.
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


OPERATIONS = {
    "loads": lambda: tb.loads(tb.dumps(VALUES)),
    "loads_exact": lambda: tb.loads(tb.dumps(VALUES), exact=True, map_pairs=True),
    "loads_hook": lambda: tb.loads(tb.dumps([tb.Ext(60, b"x")] * 20), ext_hook=shown),
    "loads_strided": lambda: tb.Decoder().decode_all(memoryview(DATA[::-1])[::-1]),
    "loads_replace": lambda: tb.loads(b"\7\0\0\0\3a\xffb", unicode_errors="replace"),
    "loads_fails": lambda: [
        failing(tb.loads, b"\x09" + PAIRS + bad) for bad in (b"", b"\x0b", b"\x0a\0\0\0\1\x09", b"\x09" * 256)
    ],
    "loads_flags": lambda: tb.loads(FLAGS),
    "loads_tuple_keys": lambda: tb.loads(TUPLE_KEYS),
    "text_fails": lambda: failing(tb.loads, b"\x09\7\0\0\0\1\xff"),
    "name_fails": lambda: failing(tb.loads, b"\x32\0\0\0\5\0\0\0\1\xff"),
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
    "scan": lambda: (tb.count(DATA), tb.index(DATA), tb.skip(PAIRS), tb.hash_code(memoryview(DATA)[::2])),
}
# what to refuse up to, from a start: one allocation, and all that follow. Before Python 3.11 the interpreter gives itself up when
# it has no memory for its own errors
UNTIL = [lambda start: start + 1, lambda start: 0] if sys.version_info >= (3, 11) else [lambda start: start + 1]
CLEAN = 40  # calls in a row that reach no refused allocation end a sweep


def sweep(name):
    """Refuse one allocation of an operation after the other, once and for good; print how often that was a MemoryError."""
    import _testcapi

    operation = OPERATIONS[name]
    expected = operation()
    gc.collect()
    gc.freeze()
    gc.disable()  # it would tell of memory that it lacks itself
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
            assert refused or found == expected, (name, start)
            assert operation() == expected, (name, start)
            gc.collect()  # of a failed Reader and its error: the interpreter has 16 errors for when there is no memory
            nfailed, nclean, start = nfailed + refused, 0 if refused else nclean + 1, start + 1
        print(nfailed)


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_refused_allocation_is_a_memory_error(name):
    nfailed = list(map(int, run_fresh(f"import test_allocation; test_allocation.sweep({name!r})").split()))
    assert len(nfailed) == len(UNTIL)
    assert 0 < nfailed[0] <= nfailed[-1]


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


@pytest.mark.parametrize("make_sink, sizes", [("Kept", [10, 90, 5000, 10, 50_000, 10]), ("Counted", [10, 90, 150] * 3)])
def test_a_writer_without_memory_loses_and_doubles_no_record(make_sink, sizes):
    assert int(run_fresh(f"import test_allocation as t; t.write_again(t.{make_sink}, {sizes})")) >= 4


def test_a_copy_without_memory_loses_no_record():
    assert int(run_fresh("import test_allocation; test_allocation.copy_again()")) >= 2


def test_a_feed_without_memory_has_taken_nothing():
    assert int(run_fresh("import test_allocation; test_allocation.feed_again()")) >= 3  # its room comes in steps
