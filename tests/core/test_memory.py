"""What decoding and encoding allocate, and that it is released, after errors too."""

import contextlib
import decimal
import gc
import io
import random
import socket
import sys
import tracemalloc

import numpy
import pytest

import typedbytes as tb
from support.decoding_values import BAD_TEXT, COLLIDING, DATA, EXT, HANDLERS, PARTS, VALUES, encoded_map, exts
from support.reference import LENGTH_CODES
from support.subprocess_runs import run_fresh
from typedbytes.block import CoalescingWriter
from typedbytes.sequencefile import _native as _sequence

pytestmark = [pytest.mark.codec, pytest.mark.every_python]

DECLARED = [
    bytes([code]) + b"\x7f\xff\xff\xff" + more
    for code in LENGTH_CODES
    for more in (b"", b"\2\1\2\1", b"\x08\x7f\xff\xff\xff" * 50)
]


def test_declared_lengths_cost_no_memory_in_a_fresh_process():
    code = f"""
        import io, resource, typedbytes as tb
        def use(data):
            for make in (
                lambda: tb.loads(data), lambda: tb.loads(data, map_pairs=True, exact=True),
                lambda: tb.skip(data), lambda: tb.count(data), lambda: tb.index(data),
                lambda: tb.Reader(io.BytesIO(data)).read(), lambda: tb.Reader(io.BytesIO(data), raw=True).read(),
                lambda: tb.load(io.BytesIO(data)), lambda: tb.Reader(io.BytesIO(data)).skip(),
                lambda: (d.feed(data), list(d), d.close()), lambda: next(tb.PairReader(io.BytesIO(data)).groups()),
            ):
                d = tb.Decoder()
                try:
                    make()
                except tb.DecodeError:
                    pass
                else:
                    raise AssertionError(data)
        declared = {DECLARED!r}
        use(declared[0])
        use(declared[-1])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for data in declared:
            use(data)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    # 2 MiB, in KiB where the system counts so and in bytes where it counts those
    assert int(run_fresh(code)) < 2048 * (1024 if sys.platform == "darwin" else 1)


@pytest.mark.parametrize(
    "unit", [b"\x09\xff", b"\x08\0\0\0\0", b"\x0a\0\0\0\0", b"\7\0\0\0\0", b"\3\7\0\0\0", b"\1\1", b"\x90\0\0\0\0"]
)
def test_memory_is_bounded_by_the_input(unit):
    data = b"\x09" + unit * 100_000 + b"\xff"
    tracemalloc.start()
    try:
        value = tb.loads(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(value) == 100_000
    assert peak < 40 * len(data) + (1 << 20)


BAD = [
    b"", b"\xff", b"\x09" + b"\3\7\0\0\0" * 50, exts(3)[:-1] + b"\x0b", encoded_map([tb.dumps("key")] * 3)[:-1],
    b"\x0a\0\0\0\1\x09", b"\x09" * 300,
]  # fmt: skip


def swallow(call, *arguments, **options):
    """Call, and drop one of our errors."""
    with contextlib.suppress(
        tb.TypedBytesError, LookupError, OSError, ValueError, RuntimeError, TypeError, StopIteration
    ):
        return call(*arguments, **options)


def fail(*_):
    """Be a hook that raises."""
    raise LookupError


class Source:
    """Give some bytes, then raise."""

    def __init__(self, data):
        self.data = [data, b""]

    def read(self, nbytes):
        return self.data.pop(0) if self.data[0] else fail()


class FailingSink:
    """Raise at every write."""

    write = fail


def fed(data, **options):
    """Feed and take all."""
    decoder = tb.Decoder(**options)
    for offset in range(0, len(data), 7):
        decoder.feed(data[offset : offset + 7])
        list(decoder)
    decoder.close()


def grouped(source, **options):
    """Read some of each group."""
    return [(key, next(values), values) for key, values in tb.PairReader(source, **options).groups()]


def wrote(writer, values):
    """Write values, one of which fails."""
    for value in values:
        swallow(writer.write, *value) if type(writer) is tb.PairWriter else swallow(writer.write, value)
    writer.close()


LEAK_VALUES = [*VALUES, {"a": {(1, 2): [3.5, 2**70]}}, decimal.Decimal("1.5"), {1, "a"}, numpy.arange(3)]

OPERATIONS = {
    "dumps": lambda: [tb.dumps(value, sort_keys=True) for value in LEAK_VALUES],
    "dumps_options": lambda: tb.dumps(LEAK_VALUES, unicode_errors="replace", default=repr),
    "dumps_fails": lambda: [
        swallow(tb.dumps, value) for value in (object(), ["a" * 1000, "\udc80"], {"k": [object()]}, {(1, object()): 1})
    ],
    "dumps_sorted_fails": lambda: swallow(tb.dumps, {"a": 1, (object(),): 2}, sort_keys=True),
    "default_fails": lambda: swallow(tb.dumps, [1, [object()], {"k": object()}], default=fail),
    "default": lambda: tb.dumps([object(), {object(): object()}], default=repr),
    "encode_into": lambda: tb.Encoder().encode_into(VALUES, bytearray()),
    "encode_into_fails": lambda: swallow(tb.Encoder().encode_into, VALUES, memoryview(bytearray(3))),
    "encode_all": lambda: tb.Encoder().encode_all(iter(VALUES)) + tb.Encoder().encode_pairs(zip(VALUES, VALUES)),
    "encode_all_fails": lambda: (
        swallow(tb.Encoder().encode_all, [*VALUES, object()]),
        swallow(tb.Encoder().encode_pairs, [(1, 2), 5]),
    ),
    "loads": lambda: [tb.loads(tb.dumps(value)) for value in LEAK_VALUES],
    "loads_exact": lambda: [tb.loads(tb.dumps(value), exact=True, map_pairs=True) for value in LEAK_VALUES],
    "loads_fails": lambda: [swallow(tb.loads, data) for data in BAD],
    "loads_cut": lambda: [swallow(tb.loads, tb.dumps(LEAK_VALUES[8])[:cut]) for cut in range(20)],
    "hook": lambda: tb.loads(exts(5), ext_hook=lambda code, data: [data]),
    "hook_fails": lambda: swallow(tb.loads, exts(5), ext_hook=fail),
    "hook_key_fails": lambda: [
        swallow(tb.loads, encoded_map([tb.dumps("k"), EXT]), ext_hook=hook) for hook in (fail, lambda code, data: [])
    ],
    "text_fails": lambda: [
        swallow(tb.loads, b"\x09\7\0\0\0\2a\xff", unicode_errors=errors)
        for errors in ("strict", "replace", "surrogateescape")
    ],
    "decode_all": lambda: (
        tb.Decoder().decode_all(DATA),
        tb.Decoder().decode_pairs(DATA),
        tb.Decoder().decode_from(DATA),
    ),
    "decode_all_fails": lambda: [
        (swallow(tb.Decoder().decode_all, DATA + bad), swallow(tb.Decoder().decode_pairs, DATA + PARTS[0] + bad))
        for bad in BAD
    ],
    "strided": lambda: tb.loads(memoryview(PARTS[7][::-1])[::-1]),
    "fed": lambda: fed(DATA),
    "fed_fails": lambda: [swallow(fed, DATA + bad) for bad in BAD],
    "fed_hook_fails": lambda: swallow(fed, exts(3), ext_hook=fail),
    "fed_limit": lambda: swallow(fed, DATA, max_bytes=20),
    "reader": lambda: [list(tb.Reader(source)) for source in (DATA, io.BytesIO(DATA), bytearray(DATA))],
    "reader_raw": lambda: [
        list(kind(io.BytesIO(DATA), raw=True, buffer_size=64)) for kind in (tb.Reader, tb.PairReader)
    ],
    "reader_fails": lambda: [swallow(list, tb.Reader(io.BytesIO(DATA + bad), buffer_size=64)) for bad in BAD],
    "reader_source_fails": lambda: [
        swallow(list, kind(Source(DATA[:cut]), raw=raw))
        for cut in (1, 4, 100)
        for kind in (tb.Reader, tb.PairReader)
        for raw in (False, True)
    ],
    "reader_refused": lambda: [
        swallow(tb.Reader, io.BytesIO(), **options)
        for options in ({"max_depth": -1}, {"buffer_size": 0}, {"pickle": "x"})
    ],
    "reader_skip": lambda: (
        tb.Reader(io.BytesIO(DATA)).skip(99),
        tb.Reader(DATA).detach(),
        swallow(tb.Reader(DATA + b"\xff").skip, 99),
    ),
    "pairs": lambda: (list(tb.PairReader(io.BytesIO(DATA))), swallow(list, tb.PairReader(DATA + PARTS[0]))),
    "groups": lambda: (grouped(DATA), grouped(io.BytesIO(DATA), raw=True)),
    "groups_fail": lambda: [swallow(grouped, DATA + PARTS[0] + bad) for bad in BAD],
    "large_bytes": lambda: [
        swallow(tb.Reader(io.BytesIO(tb.dumps(bytes(1 << 18))[:cut])).read) for cut in (1 << 20, 1 << 17, 100)
    ],
    "writer": lambda: wrote(tb.Writer(io.BytesIO(), buffer_size=100), [*VALUES, object(), 1]),
    "pair_writer": lambda: wrote(tb.PairWriter(io.BytesIO()), [*zip(VALUES, VALUES), (1, object()), (object(), 1)]),
    "writer_sink_fails": lambda: swallow(wrote, tb.Writer(FailingSink(), buffer_size=10), VALUES),
    "scan": lambda: (tb.count(DATA), tb.index(DATA), tb.skip(DATA), tb.hash_code(DATA), tb.partition(DATA, 3)),
    "scan_fails": lambda: [
        (swallow(tb.count, bad), swallow(tb.index, DATA + bad), swallow(tb.skip, bad), swallow(tb.partition, bad, 0))
        for bad in BAD
    ],
    "equal_keys": lambda: (
        tb.loads(encoded_map([tb.dumps("key"), tb.dumps((1, "k"))] * 20)),
        tb.loads(b"\x0a\0\0\0\2" + (tb.dumps("k") + exts(2)) * 2, ext_hook=lambda code, data: [data]),
    ),
    "error_handler": lambda: [
        swallow(tb.loads, BAD_TEXT, unicode_errors=f"typedbytes_decode_{name}") for name in HANDLERS
    ],
    "colliding": lambda: swallow(tb.loads, encoded_map(COLLIDING["wide_ints"][:600])),
    "types": lambda: (
        tb.Ext(60, b"a"),
        tb.Writable("a", b"b"),
        tb.Byte(5),
        tb.Long(5),
        tb.Float(1.5),
        swallow(tb.Byte, 300),
    ),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_leave_no_memory_allocated(name):
    operation = OPERATIONS[name]
    for _ in range(5):
        operation()
    gc.collect()
    left = []
    # what is left is counted three times: caches fill once, a leak each time
    for _ in range(3):
        before = sys.getallocatedblocks()
        for _ in range(20):
            operation()
        gc.collect()
        left.append(sys.getallocatedblocks() - before)
    assert min(left) < 5


def test_numbers_are_freed_whatever_their_memory_held():
    # development mode fills fresh memory with bytes that, as a count of references, mean "never free"
    code = """
        import sys, typedbytes as tb
        numbers = [sign * (1 << bits) - 12345 for bits in range(12, 100) for sign in (1, -1)]
        found = tb.loads(tb.dumps(numbers))
        found += tb.Decoder().decode_all(tb.Encoder(int_width=64).encode_all(range(10_000, 10_100)))
        print(all(0 < sys.getrefcount(number) < 10 for number in found))
    """
    assert run_fresh(code, flags=("-X", "dev")) == "True"


@pytest.mark.parametrize("name", ["loads_fails", "hook_fails", "dumps_fails", "fed_fails", "reader_fails"])
def test_an_error_holds_nothing_of_the_input(name):
    big = b"\x09" + b"\0\0\1\0\0" + bytes(65536) + b"\x0b"
    with pytest.raises(tb.FormatError) as caught:
        {
            "loads_fails": lambda: tb.loads(big),
            "hook_fails": lambda: tb.loads(bytearray(big), ext_hook=fail),
            "dumps_fails": lambda: tb.Decoder().decode_all(big),
            "fed_fails": lambda: fed(big),
            "reader_fails": lambda: tb.Reader(io.BytesIO(big)).read(),
        }[name]()
    error = caught.value
    assert error.__cause__ is None
    assert all(len(repr(argument)) < 200 for argument in error.args)


def test_strings_of_one_letter_keep_their_lengths():
    # their first and last eight bytes are equal, whatever their lengths are; the table of strings must distinguish them
    texts = [chr(letter) * length for letter in range(1, 128) for length in range(26)]
    for order in (texts, texts[::-1], sorted(texts, key=len)):
        assert tb.loads(tb.dumps(order)) == order
        assert list(tb.loads(tb.dumps(dict.fromkeys(order)))) == list(dict.fromkeys(order))


def test_a_word_that_is_met_once_is_not_kept():
    # a string that the table kept would keep a whole arena of the allocator from being given back
    words = [f"once {number:x}" for number in range(5000)]
    found = tb.loads(tb.dumps(words))
    assert found == words
    assert set(map(sys.getrefcount, found)) == set(map(sys.getrefcount, words))


def test_keys_of_any_text_are_shared_by_the_maps_of_a_list():
    code = """
        import typedbytes as tb
        wide = ["ключ" * count for count in (1, 3, 4, 32)]
        for key in ("short", "k" * 24, "k" * 25, "k" * 256, *wide, "é" * 13, "\U0001f600" * 7):
            keys = [next(iter(one)) for one in tb.loads(tb.dumps([{key: 1}] * 6))]
            assert keys == [key] * 6 and all(one is keys[-1] for one in keys[1:]), key
        print("shared")
    """
    assert run_fresh(code) == "shared"


def test_keys_that_never_repeat_are_not_looked_up_until_others_do():
    code = """
        import typedbytes as tb

        different = [{f"key {number}": number} for number in range(40_000)]
        assert tb.loads(tb.dumps(different)) == different
        again = [{"again": number} for number in range(2_000)]
        decoded = tb.loads(tb.dumps(again))
        assert decoded == again
        keys = [next(iter(one)) for one in decoded]
        print(len(set(map(id, keys[:100]))), len(set(map(id, keys[-500:]))))
    """
    assert run_fresh(code) == "100 1"


def test_long_keys_of_a_new_kind_of_record_are_shared_after_many_of_another():
    code = """
        import typedbytes as tb

        for kind in range(4):
            data = tb.dumps([{f"a key of more than 24 bytes: {kind}, {number}": number for number in range(12)}])
            for _ in range(50):
                (last,) = tb.loads(data)
            (again,) = tb.loads(data)
            assert all(key is other for key, other in zip(last, again)), kind
        print("shared")
    """
    assert run_fresh(code) == "shared"


def test_long_keys_that_are_almost_equal_are_distinguished():
    rng = random.Random(8)
    texts = [
        letter * offset + other + letter * (length - offset)
        for length in (24, 25, 32, 100, 255, 256, 300)
        for offset in (0, 8, 12, length)
        for letter in ("k", "ж")
        for other in ("k", "x", "ж")
    ]
    for nkeys in (1, 5, len(texts)):
        maps = [dict.fromkeys(rng.sample(texts, nkeys), 1) for _ in range(3000 // nkeys)]
        found = tb.loads(tb.dumps(maps))
        assert list(map(list, found)) == list(map(list, maps))


@pytest.mark.parametrize("text", [b"\xff", b"key \xff", b"a longer key than others\xff" * 3])
def test_what_an_error_handler_made_of_a_key_is_not_shared(text):
    data = b"\x0a\0\0\0\1\7" + len(text).to_bytes(4, "big") + text + b"\2\1"
    for _ in range(4):
        for handler in ("replace", "surrogateescape"):
            assert tb.loads(data, unicode_errors=handler) == {text.decode("utf-8", handler): True}
        with pytest.raises(tb.FormatError):
            tb.loads(data)


LARGE_LIST = b"\x09" + b"\2\1" * 20_000 + b"\xff"

HELD = []  # what failed, and lives on


@pytest.mark.parametrize("kind", ["reader", "pair_reader", "groups", "decoder"])
def test_the_collector_goes_on_after_an_error(kind):
    bad = b"\x09" + LARGE_LIST + b"\x0b"
    with pytest.raises(tb.DecodeError):
        if kind == "decoder":
            HELD.append(tb.Decoder())
            HELD[-1].feed(bad)
            next(HELD[-1])
        elif kind == "groups":
            HELD.append(tb.PairReader(LARGE_LIST + b"\x0b"))
            next(next(HELD[-1].groups())[1])
        else:
            HELD.append(tb.Reader(bad) if kind == "reader" else tb.PairReader(LARGE_LIST))
            HELD[-1].read()
    assert gc.isenabled()
    HELD.clear()


def kept_by(work):
    """Return how many bytes are still there after work that has been done once before."""
    work()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


OPTIONS = {"key_class": "Text", "value_class": "Text", "sync_marker": bytes(16)}


@pytest.mark.parametrize(
    ("kind", "arguments", "options"),
    [
        (tb.Reader, [object()], {}),
        (_sequence.Reader, [object()], {}),
        (
            _sequence.Writer,
            [io.BytesIO()],
            {**OPTIONS, "compression": "block", "codec": "a.B", "metadata": {"number": 5}},
        ),
    ],
    ids=["Reader", "SequenceFile Reader", "SequenceFile Writer"],
)
def test_making_again_what_could_not_be_made_keeps_nothing(kind, arguments, options):
    made = kind.__new__(kind)

    def fail():
        for _ in range(200):
            with pytest.raises((TypeError, AttributeError)):
                made.__init__(*arguments, **options)

    assert kept_by(fail) < 100_000


def test_making_again_what_there_was_no_memory_for_keeps_nothing():
    import _testcapi as allocations

    ours, theirs = socket.socketpair()

    def fail():
        writer = CoalescingWriter.__new__(CoalescingWriter)
        for number in range(1, 200):
            allocations.set_nomemory(number, number + 1)
            try:
                writer.__init__(ours, max_delay=None)
                break
            except MemoryError:
                pass
            finally:
                allocations.remove_mem_hooks()
        else:
            pytest.fail("there is never enough memory")

    with ours, theirs:
        assert kept_by(fail) < 50_000


def test_feeding_again_what_there_was_no_memory_for_keeps_nothing():
    import _testcapi as allocations

    decoder = tb.Decoder()

    def fail():
        for number in range(100):
            allocations.set_nomemory(1 + number % 2, 2 + number % 2)
            try:
                decoder.feed(b"\2")
            except MemoryError:
                pass
            finally:
                allocations.remove_mem_hooks()
            if decoder.pending:
                return

    assert kept_by(fail) < 50_000
