"""Decoding with state: input that is fed, hooks that misbehave, keys that collide, signals, memory. Nothing is lost or kept."""

import array
import codecs
import collections
import contextlib
import ctypes
import decimal
import gc
import io
import itertools
import math
import signal
import sys
import threading
import time
import tracemalloc
import weakref

import numpy
import pytest

import typedbytes as tb
from fresh import run_fresh
from signal_checks import times_checked

VALUES = [
    True, 5, 2**40, 1.5, "na\u00efve \U0001f600", b"raw", (1, ("a",)), [1, [2, []]], {"k": None, 3: [b""]}, 2**90,
    "x" * 300, b"y" * 3000, tb.Ext(144, b"z" * 20), tb.Writable("org.example.It", b"\0\1"), [], "last",
]  # fmt: skip
PARTS = [tb.dumps(value) for value in VALUES]
DATA = b"".join(PARTS)
ENDS = list(itertools.accumulate(map(len, PARTS)))
EXT = b"\x90\0\0\0\1x"


def exts(count):
    """Return a LIST of application values."""
    return b"\x09" + EXT * count + b"\xff"


def encoded_map(keys):
    """Return a MAP with these encoded keys; the values are their indices."""
    return b"\x0a" + len(keys).to_bytes(4, "big") + b"".join(key + tb.dumps(index) for index, key in enumerate(keys))


@pytest.fixture
def few_objects():
    """Leave the collector with what the test makes itself, so that it is quick."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


# -- whole buffers ----------------------------------------------------------------------------------------

BUFFERS = {
    "bytes": bytes,
    "bytes_subclass": type("Bytes", (bytes,), {}),
    "bytearray": bytearray,
    "memoryview": memoryview,
    "every_other_byte": lambda data: memoryview(b"".join(bytes([byte, 7]) for byte in data))[::2],
    "backwards": lambda data: memoryview(data[::-1])[::-1],
    "array": lambda data: array.array("b", memoryview(data).cast("b").tolist()),
    "ctypes": lambda data: (ctypes.c_ubyte * len(data)).from_buffer_copy(data),
    "ctypes_chars": lambda data: ctypes.create_string_buffer(data, len(data)),
    "numpy": lambda data: numpy.frombuffer(data, "u1"),
    "numpy_strided": lambda data: numpy.repeat(numpy.frombuffer(data, "u1"), 2)[::2],
    "numpy_column": lambda data: numpy.asfortranarray(numpy.stack([numpy.frombuffer(data, "u1")] * 2, 1))[:, 1],
}


@pytest.mark.parametrize("kind", BUFFERS)
def test_every_buffer_is_decoded(kind):
    make, decoder = BUFFERS[kind], tb.Decoder()
    for value, part in zip(VALUES, PARTS):
        assert tb.loads(make(part)) == value
        assert decoder.decode(make(part)) == value
        assert decoder.decode_from(make(part + b"more")) == (value, len(part))
    assert decoder.decode_all(make(DATA)) == VALUES
    assert decoder.decode_pairs(make(DATA)) == list(zip(VALUES[::2], VALUES[1::2]))
    decoder.feed(make(DATA))
    assert list(decoder) == VALUES


@pytest.mark.parametrize("kind", BUFFERS)
def test_every_buffer_is_scanned(kind):
    data = BUFFERS[kind](DATA)
    assert tb.count(data) == len(VALUES)
    assert list(tb.index(data)) == [0, *ENDS[:-1]]
    assert tb.skip(data, ENDS[3]) == ENDS[4]
    assert tb.hash_code(BUFFERS[kind](PARTS[0])) == tb.hash_code(PARTS[0])
    assert tb.partition(BUFFERS[kind](PARTS[0]), 7) == tb.partition(PARTS[0], 7)


@pytest.mark.parametrize("nvalues", [1023, 1024, 1025, 2048, 2049, 100_000])
def test_many_values_are_scanned(nvalues):
    data = b"\2\1" * nvalues
    assert list(tb.index(data)) == list(range(0, 2 * nvalues, 2))
    assert tb.count(data) == nvalues


def test_shapes_and_formats_are_bytes_in_c_order():
    shorts = array.array("H", [1, 2, 3, 4])
    for view in (
        memoryview(shorts),
        memoryview(shorts).cast("B").cast("H", (2, 2)),
        numpy.asfortranarray(numpy.array(shorts).reshape(2, 2)),
    ):
        assert tb.Decoder(pickle="raw").decode_all(b"\0\0\0\0\x08" + shorts.tobytes()) == [shorts.tobytes()]
        with pytest.raises(tb.DecodeError) as caught:
            tb.loads(view)
        with pytest.raises(tb.DecodeError) as expected:
            tb.loads(shorts.tobytes())
        assert str(caught.value) == str(expected.value)


@pytest.mark.parametrize("wrong", ["text", None, 5, [b"\2\1"], io.BytesIO(b"\2\1")])
def test_what_is_no_buffer_is_refused(wrong):
    decoder = tb.Decoder()
    for use in (
        tb.loads,
        decoder.decode,
        decoder.decode_from,
        decoder.decode_all,
        decoder.decode_pairs,
        decoder.feed,
        tb.skip,
        tb.count,
        tb.index,
    ):
        with pytest.raises(TypeError, match="bytes-like"):
            use(wrong)
    decoder.feed(b"\2\1")
    assert list(decoder) == [True]


def test_decode_from_walks_and_stops_at_the_edges():
    decoder, offset, found = tb.Decoder(), 0, []
    while offset < len(DATA):
        value, offset = decoder.decode_from(DATA, offset)
        found.append(value)
    assert found == VALUES
    for use in (decoder.decode_from, tb.skip):
        for offset in (-1, len(DATA) + 1, 2**62, -(2**63)):
            with pytest.raises(ValueError, match="outside"):
                use(DATA, offset)
        with pytest.raises(OverflowError):
            use(DATA, 2**63)
        with pytest.raises(tb.TruncatedError) as caught:
            use(DATA, len(DATA))
        assert (caught.value.offset, caught.value.code) == (len(DATA), None)


def test_errors_of_decode_all_and_pairs_name_the_record():
    decoder = tb.Decoder()
    for bad, error in [(b"\xff", tb.FormatError), (b"\x03\0", tb.TruncatedError)]:
        with pytest.raises(error) as caught:
            decoder.decode_all(DATA + bad)
        assert (caught.value.record, caught.value.path) == (len(VALUES), "")
        with pytest.raises(error) as caught:
            decoder.decode_pairs(DATA + PARTS[0] + bad)
        assert caught.value.record == len(VALUES) // 2
    with pytest.raises(tb.TruncatedError) as caught:
        decoder.decode_pairs(DATA + PARTS[0])
    assert (caught.value.offset, caught.value.record) == (len(DATA) + 2, len(VALUES) // 2)


def test_a_decoder_is_as_new_after_each_failure():
    decoder = tb.Decoder(max_bytes=10_000)
    for bad in (
        b"",
        b"\xff",
        b"\x09" * 300,
        b"\x09" * 256,
        exts(1)[:-1],
        b"\x0a\0\0\0\1\x09",
        b"\0\x7f\xff\xff\xff",
        b"\7\0\0\0\1\xff",
    ):
        for use in (
            decoder.decode,
            decoder.decode_from,
            lambda data: decoder.decode_all(data + b"\x0b"),
            lambda data: decoder.decode_pairs(data + b"\x0b"),
        ):
            with pytest.raises(tb.DecodeError):
                use(bad)
            assert decoder.decode(b"\x09" * 256 + b"\xff" * 256)
            assert decoder.decode_all(DATA) == VALUES


# -- fed input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 64, 1000, 10**6])
def test_fed_in_pieces(size):
    decoder, found = tb.Decoder(), []
    for offset in range(0, len(DATA), size):
        decoder.feed(DATA[offset : offset + size])
        before = len(found)
        for value in decoder:
            found.append(value)
            assert decoder.pending == min(offset + size, len(DATA)) - ENDS[len(found) - 1]
        assert len(found) == sum(end <= offset + size for end in ENDS) >= before
    assert found == VALUES
    assert decoder.pending == 0
    decoder.close()


def test_fed_at_every_split():
    data = DATA[: ENDS[9]]
    for split in range(len(data) + 1):
        decoder = tb.Decoder()
        decoder.feed(data[:split])
        decoder.feed(b"")
        decoder.feed(data[split:])
        assert list(decoder) == VALUES[:10]


def test_feeding_without_taking_keeps_all():
    decoder = tb.Decoder()
    for number in range(3000):
        decoder.feed(tb.dumps([number, "x" * 100]))
    assert decoder.pending == 3000 * len(tb.dumps([1, "x" * 100]))
    assert [number for number, _ in decoder] == list(range(3000))


def test_nothing_fed_is_nothing():
    decoder = tb.Decoder()
    assert (decoder.pending, list(decoder), next(decoder, "none")) == (0, [], "none")
    decoder.close()
    decoder.close()


@pytest.mark.parametrize("cut", range(1, 20))
def test_close_says_what_is_missing(cut):
    data = tb.dumps([1, {"k": "value"}])
    decoder = tb.Decoder()
    decoder.feed(DATA + data[:-cut])
    assert list(decoder) == VALUES
    with pytest.raises(tb.TruncatedError) as caught:
        decoder.close()
    assert (caught.value.offset, caught.value.record) == (len(DATA) + len(data) - cut, len(VALUES))
    with pytest.raises(tb.TruncatedError) as expected:
        tb.loads(data[:-cut])
    assert (caught.value.code, caught.value.path) == (expected.value.code, expected.value.path)
    with pytest.raises(tb.TruncatedError) as again:
        decoder.close()
    assert str(again.value) == str(caught.value)


@pytest.mark.parametrize("rest", [b"", b"\x03\0", b"\x09" + EXT, b"\xff", b"\x09\x0c", b"\7\0\0\0\1\xff"])
def test_close_drops_no_value(rest):
    decoder, found, said = tb.Decoder(), [], set()
    decoder.feed(DATA[:-3])
    found += [next(decoder), next(decoder)]
    decoder.feed(DATA[-3:] + rest)
    with contextlib.ExitStack() as stack:
        if rest:
            error = stack.enter_context(pytest.raises(tb.DecodeError))
        try:
            decoder.close()
        except tb.DecodeError as failure:
            said.add(str(failure))
        for value in decoder:
            found.append(value)
    assert found == VALUES
    if rest:
        assert (error.value.record, error.value.offset >= len(DATA)) == (len(VALUES), True)
        assert said <= {str(error.value)}


def test_after_close_nothing_can_be_fed():
    decoder = tb.Decoder()
    decoder.feed(b"\2\1")
    decoder.close()
    with pytest.raises(ValueError, match="closed"):
        decoder.feed(b"\2\1")
    assert (list(decoder), decoder.pending, list(decoder)) == ([True], 0, [])


@pytest.mark.parametrize("bad", [b"\xff", b"\x0b", b"\x09\x03\0\0\0\1\x0c", b"\7\0\0\0\1\xff", b"\x09" * 257, b"\x08\xff\xff\xff\xff"])
@pytest.mark.parametrize("size", [1, 10**6])
def test_a_failure_is_final_and_in_its_place(bad, size):
    data, found = DATA + bad + DATA, []
    decoder = tb.Decoder()
    with pytest.raises(tb.DecodeError) as expected:
        tb.loads(bad + DATA)
    with pytest.raises(type(expected.value)) as caught:
        for offset in range(0, len(data), size):
            decoder.feed(data[offset : offset + size])
            found.extend(decoder)
    # list.extend drops what came before an error in one go; what came out by then is in order
    assert found == VALUES[: len(found)]
    assert (caught.value.offset, caught.value.record) == (expected.value.offset + len(DATA), len(VALUES))
    for use in (decoder.close, lambda: list(decoder), lambda: decoder.feed(b"")):
        with pytest.raises(type(expected.value)) as again:
            use()
        assert again.value is caught.value
    assert decoder.decode(PARTS[0]) is True


@pytest.mark.parametrize("size", [1, 10**6])
def test_max_bytes_stops_a_promise_before_it_is_kept(size):
    for head, limit in [(b"\0\0\0\x10\0", 100), (b"\x09" + b"\2\1" * 60, 100), (b"\x08\0\0\0\2\7\0\0\0\x60", 100)]:
        decoder = tb.Decoder(max_bytes=limit)
        decoder.feed(b"\2\1")
        with pytest.raises(tb.LimitError) as caught:
            for offset in range(0, 2 * limit, size):
                decoder.feed((head + bytes(2 * limit))[offset : offset + size])
                list(decoder)
        assert (caught.value.offset, caught.value.record) == (2, 1)


def test_memory_of_fed_input_comes_back():
    decoder = tb.Decoder()
    decoder.feed(DATA)
    list(decoder)
    tracemalloc.start()
    try:
        decoder.feed(tb.dumps("x" * (8 << 20)))
        list(decoder)
        decoder.feed(DATA)
        assert len(list(decoder)) == len(VALUES)
        assert tracemalloc.get_traced_memory()[0] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_bytearray_that_was_fed_is_free():
    decoder, data = tb.Decoder(), bytearray(DATA)
    decoder.feed(data)
    data.clear()
    data.extend(bytes(len(DATA)))
    assert list(decoder) == VALUES


def test_a_decoder_that_was_fed_keeps_its_options():
    decoder = tb.Decoder(exact=True)
    decoder.__init__(exact=False)
    decoder.feed(b"\1\5")
    with pytest.raises(RuntimeError, match="again"):
        decoder.__init__(exact=True)
    assert type(next(decoder)) is int
    assert tb.Decoder.__new__(tb.Decoder).decode(b"\2\1") is True


# -- hooks ------------------------------------------------------------------------------------------------


def test_ext_hook_sees_application_codes_without_a_meaning():
    seen = []
    decoder = tb.Decoder(ext_hook=lambda code, data: seen.append((code, data)) or len(seen))
    codes = [code for code in range(51, 201) if code not in (100, 101, 102)]
    assert decoder.decode_all(b"".join(bytes([code]) + b"\0\0\0\1" + bytes([code]) for code in codes)) == list(range(1, len(codes) + 1))
    assert seen == [(code, bytes([code])) for code in codes]
    assert decoder.decode(b"\x65\0\0\0\1a") == b"a"
    assert decoder.decode(tb.dumps(None)) is None
    assert decoder.decode(tb.dumps(tb.Writable("a", b"b"))) == tb.Writable("a", b"b")
    assert len(seen) == len(codes)


RAISED = [
    LookupError("odd"),
    KeyboardInterrupt(),
    MemoryError(),
    tb.FormatError("theirs", 7),
    RecursionError(),
    GeneratorExit(),
    StopIteration(),
]
WHOLE = ["loads", "decode", "decode_from", "decode_all", "decode_pairs"]


def ways(options):
    """Return the ways to decode a LIST of application values, by name: each takes bytes."""
    decoder = tb.Decoder(**options)

    def fed(data):
        decoder.feed(data)
        return list(decoder)

    return {
        "loads": lambda data: tb.loads(data, **options),
        "decode": decoder.decode,
        "decode_from": decoder.decode_from,
        "decode_all": decoder.decode_all,
        "decode_pairs": lambda data: decoder.decode_pairs(data + b"\2\1"),
        "fed": fed,
        "next_fed": lambda data: decoder.feed(data) or next(decoder, "nothing"),
        "Reader": lambda data: list(tb.Reader(data, **options)),
        "file": lambda data: list(tb.Reader(io.BytesIO(data), **options)),
        "read": lambda data: tb.Reader(io.BytesIO(data), **options).read("nothing"),
        "PairReader": lambda data: list(tb.PairReader(data + b"\2\1", **options)),
        "group_key": lambda data: list(tb.PairReader(data + b"\2\1", **options).groups()),
        "group_value": lambda data: [list(values) for _, values in tb.PairReader(b"\2\1" + data, **options).groups()],
        "load": lambda data: tb.load(io.BytesIO(data), **options),
        "iter_load": lambda data: list(tb.iter_load(data, **options)),
    }


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("way", ways({}))
def test_what_a_hook_raises_comes_out(way, error):
    for fails_at in (1, 2, 5):
        calls = itertools.count(1)

        def hook(code, data):
            if next(calls) == fails_at:
                raise error
            return 0

        # what an iterator would take for its end comes out of one as a RuntimeError
        kind = RuntimeError if type(error) is StopIteration and way not in WHOLE else type(error)
        with pytest.raises(kind) as caught:
            ways({"ext_hook": hook})[way](exts(5))
        assert error in (caught.value, caught.value.__cause__)


def test_a_hook_may_decode_and_encode():
    def hook(code, data):
        other = tb.Decoder(ext_hook=lambda code, data: (code, data))
        other.feed(exts(3))
        return [
            len(list(other)),
            decoder.decode(PARTS[4]),
            tb.loads(tb.dumps({"a": 1})),
            list(tb.Reader(DATA)) == VALUES,
        ]

    decoder = tb.Decoder(ext_hook=hook)
    assert decoder.decode(exts(2)) == [[1, VALUES[4], {"a": 1}, True]] * 2


@pytest.mark.parametrize("use", [lambda d: d.feed(b"\2\1"), next, list, lambda d: d.close(), lambda d: d.__init__()])
def test_a_hook_that_uses_the_fed_decoder_is_refused(use):
    refused = []

    def hook(code, data):
        with pytest.raises(RuntimeError) as caught:
            use(decoder)
        refused.append(caught.value)
        return decoder.pending >= 0

    decoder = tb.Decoder(ext_hook=hook)
    decoder.feed(exts(2) + DATA[: ENDS[9]])
    assert list(decoder) == [[True, True], *VALUES[:10]]
    assert len(refused) == 2


@pytest.mark.parametrize("method", ["decode", "decode_from", "decode_all", "decode_pairs"])
def test_a_hook_that_makes_its_decoder_anew_harms_nothing(method):
    code = f"""
        import typedbytes as tb
        class Hook:
            def __call__(self, code, data):
                try:
                    decoder.__init__(unicode_errors="replace")
                except RuntimeError:
                    pass
                fresh = [Hook() for _ in range(1000)]
                return 5
        decoder = tb.Decoder(ext_hook=Hook(), unicode_errors="".join(["ig", "nore"]))
        print(decoder.{method}(bytes.fromhex("09" + "900000000161" * 4 + "0700000002ff61ff") * (2 if "pairs" in "{method}" else 1)))
    """
    assert "[5, 5, 5, 5, 'a']" in run_fresh(code)


def test_a_hook_cannot_change_what_is_decoded():
    data = bytearray(exts(100))
    refused = []

    def hook(code, payload):
        for use in (data.clear, lambda: data.extend(bytes(10**6)), lambda: data.pop()):
            with pytest.raises(BufferError):
                use()
            refused.append(1)
        return 1

    for way in ("loads", "decode", "decode_from", "decode_all"):
        ways({"ext_hook": hook})[way](data)
    with tb.Reader(data, ext_hook=hook) as reader:
        reader.read()
    assert len(refused) == 1500
    data.clear()


@pytest.mark.usefixtures("few_objects")
@pytest.mark.parametrize("way", ways({}))
def test_a_buffer_is_free_after_a_failure(way):
    def hook(code, payload):
        raise LookupError

    for bad in (exts(1), b"\x09\xfe", b"\x09"):
        data = bytearray(bad)
        try:
            ways({"ext_hook": hook})[way](data)
        except (LookupError, tb.DecodeError):
            pass
        gc.collect()
        data.extend(b"more")


def test_a_hook_sees_no_half_made_tuple():
    code = """
        import gc, typedbytes as tb
        def hook(code, data):
            for obj in gc.get_objects():
                if type(obj) in (tuple, list, dict):
                    repr(type(obj)(obj))[:0], obj == ()
            return gc.collect() and []
        ext, one = b"\\x90\\0\\0\\0\\1x", b"\\x03\\0\\0\\0\\1"
        for data in (b"\\x08\\0\\0\\0\\4" + ext * 4, b"\\x09" + ext * 4 + b"\\xff", b"\\x0a\\0\\0\\0\\2" + (one + ext) * 2):
            tb.loads(data, ext_hook=hook)
            tb.loads(data, ext_hook=hook, map_pairs=True)
            list(tb.PairReader(data + ext, ext_hook=hook))
            list(tb.PairReader(ext + data, ext_hook=hook).groups())
        print("done")
    """
    assert run_fresh(code) == "done"


def test_cycles_with_hooks_are_collected():
    class Holder:
        """Be told when it goes."""

    gone = []

    def make(kind):
        holder = Holder()
        weakref.finalize(holder, gone.append, kind)
        holder.hook = lambda code, data: holder
        if kind == "encoder":
            holder.it = tb.Encoder(default=holder.hook)
        elif kind == "decoder":
            holder.it = tb.Decoder(ext_hook=holder.hook)
            holder.it.feed(exts(3) + EXT)
            next(holder.it)
        elif kind == "writer":
            holder.it = tb.Writer(io.BytesIO(), default=holder.hook)
        else:
            holder.it = (tb.PairReader if "pair" in kind else tb.Reader)(io.BytesIO(EXT * 10), ext_hook=holder.hook)
            next(holder.it)
            if kind == "pair_group":
                holder.groups = holder.it.groups()
                holder.values = next(holder.groups)
        if kind == "failed":
            holder.it = tb.Reader(Failing(holder), ext_hook=holder.hook)
            with contextlib.suppress(OSError):
                holder.it.read()

    class Failing:
        def __init__(self, holder):
            self.holder = holder

        def read(self, nbytes):
            raise OSError(self)

    kinds = ["encoder", "decoder", "writer", "reader", "pair_reader", "pair_group", "failed"]
    for kind in kinds:
        make(kind)
    gc.collect()
    assert sorted(gone) == sorted(kinds)


@pytest.mark.parametrize("kind", ["bytearray", "array", "mmap"])
def test_a_failed_reader_that_is_forgotten_frees_its_memory_quietly(kind):
    code = f"""
        import array, gc, mmap, typedbytes as tb
        def make():
            if "{kind}" == "mmap":
                pages = mmap.mmap(-1, 4096)
                pages[:1] = b"\\xff"
                return pages
            return (bytearray if "{kind}" == "bytearray" else lambda data: array.array("B", data))(b"\\xff")
        def work():
            data = make()
            reader = tb.Reader(data)
            try:
                reader.read()
            except tb.FormatError:
                pass
        work()
        gc.collect()
        print("done")
    """
    assert run_fresh(code) == "done"


# -- error handlers ---------------------------------------------------------------------------------------

BAD_TEXT = b"\x09\7\0\0\0\3a\xffb\xff"
HANDLERS = {
    "replaces": (lambda error: ("?", error.end), None),
    "decodes": (lambda error: (tb.loads(tb.dumps("?")), tb.Decoder().decode_from(tb.dumps(error.end))[0]), None),
    "says_nothing": (lambda error: None, TypeError),
    "says_no_str": (lambda error: (b"?", error.end), TypeError),
    "says_too_far": (lambda error: ("?", 10**9), IndexError),
    "raises": (lambda error: {}["k"], KeyError),
    "raises_itself": (codecs.strict_errors, tb.FormatError),
    "ends_iterations": (lambda error: next(iter(())), StopIteration),
}


@pytest.mark.parametrize("way", ways({}))
@pytest.mark.parametrize("name", HANDLERS)
def test_an_error_handler_of_the_callers_own(name, way):
    handler, error = HANDLERS[name]
    codecs.register_error(f"typedbytes_decode_{name}", handler)
    use = ways({"unicode_errors": f"typedbytes_decode_{name}"})[way]
    if error is None:
        assert "a?b" in str(use(BAD_TEXT))
    else:
        # as for a hook: what would look like the end of an iterator does not
        kind = RuntimeError if error is StopIteration and way not in WHOLE else error
        with pytest.raises(kind):
            use(BAD_TEXT)


# -- keys -------------------------------------------------------------------------------------------------


class Key:
    """Be a key whose hash and equality run code."""

    def __init__(self, value, on_hash=None, on_eq=None):
        self.value, self.on_hash, self.on_eq = value, on_hash, on_eq

    def __hash__(self):
        return self.on_hash() if self.on_hash else 7

    def __eq__(self, other):
        return self.on_eq() if self.on_eq else self.value == other.value


def test_keys_of_a_hook_are_hashed_and_compared():
    found = tb.loads(encoded_map([EXT, b"\x90\0\0\0\1y", EXT]), ext_hook=lambda code, data: Key(data))
    assert [(key.value, value) for key, value in found.items()] == [(b"x", 2), (b"y", 1)]


@pytest.mark.parametrize("where", ["on_hash", "on_eq"])
@pytest.mark.parametrize("error", [LookupError(), KeyboardInterrupt(), StopIteration()])
def test_a_key_that_raises_comes_out(where, error):
    def fail():
        raise error

    decoder = tb.Decoder(ext_hook=lambda code, data: Key(data, **{where: fail}))
    for _ in range(3):
        with pytest.raises(type(error)) as caught:
            decoder.decode(encoded_map([EXT, b"\x90\0\0\0\1y"]))
        assert caught.value is error
    assert decoder.decode(PARTS[0]) is True


def test_a_key_that_decodes_while_it_is_compared():
    decoder = tb.Decoder(ext_hook=lambda code, data: Key(data, on_eq=lambda: decoder.decode(b"\2\0")))
    assert len(decoder.decode(encoded_map([EXT] * 5))) == 5


def test_unhashable_keys_are_refused_in_their_place():
    for key, offset in [
        (b"\x09\xff", 5),
        (b"\x0a\0\0\0\0", 5),
        (b"\x08\0\0\0\2\2\1\x09\xff", 12),
        (tb.dumps({1}), 5),
        (EXT, 5),
    ]:
        data = b"\x0a\0\0\0\1" + key + b"\2\1"
        with pytest.raises(tb.FormatError) as caught:
            tb.loads(data, ext_hook=lambda code, data: [])
        assert (caught.value.offset, caught.value.path[:4]) == (offset, ".key")
        (pair,) = tb.loads(data, map_pairs=True, ext_hook=lambda code, data: [])
        assert pair[1] is True


def test_arrays_are_no_keys():
    data = encoded_map([tb.dumps(numpy.arange(3))])
    with pytest.raises(tb.FormatError) as caught:
        tb.loads(data)
    assert caught.value.offset == 5
    assert (tb.loads(data, map_pairs=True)[0][0] == numpy.arange(3)).all()


def test_equal_keys_the_last_wins_in_the_place_of_the_first():
    keys = [tb.dumps(1), tb.dumps("a"), tb.dumps(1.0), tb.dumps(True), tb.dumps(tb.Long(1)), tb.dumps("a")]
    assert list(tb.loads(encoded_map(keys)).items()) == [(1, 4), ("a", 5)]
    assert tb.loads(encoded_map(keys), map_pairs=True) == [(1, 0), ("a", 1), (1.0, 2), (True, 3), (1, 4), ("a", 5)]


def test_map_pairs_gives_pairs_all_the_way_down():
    value = {1: {2: 3}, ("t",): [{}]}
    assert tb.loads(tb.dumps(value), map_pairs=True) == [(1, [(2, 3)]), (("t",), [[]])]
    encoded = b"\x0a\0\0\0\1" + tb.dumps({1: 2}) + tb.dumps([1])
    assert tb.loads(encoded, map_pairs=True) == [([(1, 2)], [1])]


def test_values_that_are_equal_keep_their_own_keys():
    nan = b"\x06\x7f\xf8\0\0\0\0\0\0"
    found = tb.loads(encoded_map([nan] * 500))
    assert len(found) == 500
    assert all(math.isnan(key) for key in found)


MODULUS = sys.hash_info.modulus
COLLIDING = {
    "nested_vectors": [tb.dumps(tuple((-1, -2)[n >> bit & 1] for bit in range(14))) for n in range(5000)],
    "wide_ints": [tb.dumps(2**64 + n * MODULUS) for n in range(5000)],
    "decimals": [tb.dumps(decimal.Decimal(n * MODULUS)) for n in range(2, 5000)],
}


@pytest.mark.parametrize("name", COLLIDING)
def test_keys_of_one_hash_are_limited(name):
    keys = COLLIDING[name]
    assert len({hash(tb.loads(key)) for key in keys}) == 1
    assert len(tb.loads(encoded_map(keys[:32]))) == 32
    for count in (513, len(keys)):
        with pytest.raises(tb.LimitError, match="share one hash value") as caught:
            tb.loads(encoded_map(keys[:count]))
        assert (caught.value.offset, caught.value.path) == (0, "")
        with pytest.raises(tb.LimitError) as caught:
            tb.loads(b"\x09\2\1" + encoded_map(keys[:count]) + b"\xff")
        assert (caught.value.offset, caught.value.path) == (3, "[1]")
    assert len(tb.loads(encoded_map(keys), map_pairs=True)) == len(keys)


def test_keys_of_one_hash_from_a_hook_are_limited():
    keys = [b"\x90\0\0\0\4" + n.to_bytes(4, "big") for n in range(5000)]
    assert len(tb.loads(encoded_map(keys[:32]), ext_hook=lambda code, data: Key(data))) == 32
    with pytest.raises(tb.LimitError, match="share one hash value"):
        tb.loads(encoded_map(keys), ext_hook=lambda code, data: Key(data))
    assert len(tb.loads(encoded_map(keys), ext_hook=lambda code, data: (data, data))) == 5000


def test_one_key_may_come_as_often_as_it_likes():
    for key in ((1, "a"), 2**100, decimal.Decimal("1.5"), ()):
        found = tb.loads(encoded_map([tb.dumps(key)] * 5000))
        assert found == {key: 4999}


def test_keys_that_are_no_number_are_each_another():
    keys = [tb.dumps(float("nan"))] * 5000
    assert len(tb.loads(encoded_map(keys[:512]))) == 512
    one, other = float("nan"), float("nan")
    if hash(one) != hash(other):  # from Python 3.10 on
        assert len(tb.loads(encoded_map(keys))) == 5000
    else:
        with pytest.raises(tb.LimitError):
            tb.loads(encoded_map(keys))


def test_keys_of_a_hook_whose_size_cannot_be_asked_for():
    class Sizeless(Key):
        def __sizeof__(self):
            raise LookupError

    keys = [b"\x90\0\0\0\4" + n.to_bytes(4, "big") for n in range(40)]
    with contextlib.suppress(LookupError):
        assert len(tb.loads(encoded_map(keys), ext_hook=lambda code, data: Sizeless(data))) == 40


@pytest.mark.parametrize("shape", ["ints", "shifted", "strings", "bytes", "vectors", "floats", "mixed", "long"])
def test_keys_that_do_not_collide_are_not_limited(shape):
    make = {
        "ints": lambda n: n * 7919 - 10**7,
        "shifted": lambda n: n << 40,
        "strings": str,
        "bytes": lambda n: str(n).encode(),
        "vectors": lambda n: (n, (str(n), -n)),
        "floats": lambda n: n * 0.1,
        "mixed": lambda n: [n, str(n), (n,), n + 0.5][n % 4],
        "long": lambda n: (n,) * (3000 if n < 10 else 1),
    }[shape]
    value = {make(n): n for n in range(20_000)}
    assert tb.loads(tb.dumps(value)) == value


@pytest.mark.parametrize("count", [2, 40])
def test_equal_deep_keys_at_a_low_recursion_limit(count):
    key = ()
    for _ in range(200):
        key = (key,)
    data, before = encoded_map([tb.dumps(key)] * count), sys.getrecursionlimit()
    depth, frame = 0, sys._getframe()
    while frame:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(depth + 50)
    try:
        # the interpreter's own comparison may refuse: then as a limit, not as an error of its own
        try:
            found = len(tb.loads(data))
        except tb.LimitError:
            found = 1
    finally:
        sys.setrecursionlimit(before)
    assert found == 1


# -- signals ----------------------------------------------------------------------------------------------


LOOKS_EVERY = 16_384  # items


def many(count, item):
    """Return a function that makes a LIST of `count` encoded items."""
    return lambda: b"\x09" + item * count + b"\xff"


def scattered_map(count):
    """Return a MAP of INTs that a dict finds no order in, to True."""
    pairs = numpy.zeros(count, [("code", "u1"), ("key", ">i4"), ("value", "u1", 2)])
    pairs["code"], pairs["value"] = 3, (2, 1)
    pairs["key"] = numpy.arange(count) * 2654435761 & 0x7FFFFFFF
    return b"\x0a" + count.to_bytes(4, "big") + pairs.tobytes()


MANY = 500_000
BIG_INPUT = {
    "ints": many(MANY, b"\3\7\0\0\0"),
    "strings": many(MANY, b"\7\0\0\0\5abcde"),
    "lists": many(MANY, b"\x09\xff"),
    "deep": many(MANY // 200, b"\x09" * 200 + b"\xff" * 200),
    "vector": lambda: b"\x08" + MANY.to_bytes(4, "big") + b"\3\7\0\0\0" * MANY,
    "map": lambda: scattered_map(MANY),
    "map_of_vectors": lambda: encoded_map([b"\x08\0\0\0\1\3" + number.to_bytes(4, "big") for number in range(MANY)]),
}


@pytest.mark.parametrize("name", BIG_INPUT)
def test_signals_are_heard_while_decoding(name):
    data = BIG_INPUT[name]()
    assert times_checked(lambda: tb.loads(data)) >= MANY // LOOKS_EVERY


def count(iterator):
    """Run an iterator to its end without Python code between its items."""
    return len(collections.deque(iterator, 1))


LONG_WORK = {
    "decode_all": lambda data: tb.Decoder().decode_all(data),
    "decode_pairs": lambda data: tb.Decoder().decode_pairs(data),
    "read_all": lambda data: tb.Reader(data).read_all(),
    "iterate": lambda data: count(tb.Reader(data)),
    "iterate_raw": lambda data: count(tb.Reader(io.BytesIO(data), raw=True)),
    "iterate_pairs": lambda data: count(tb.PairReader(io.BytesIO(data))),
    "iterate_raw_pairs": lambda data: count(tb.PairReader(data, raw=True)),
    "groups": lambda data: count(tb.PairReader(data.replace(b"abcde\3", b"abcde\3\0\0\0\1\3")).groups()),
    "values_of_a_group": lambda data: count(next(tb.PairReader(data).groups())[1]),
    "fed": lambda data: count(fed_whole(data)),
    "skip": lambda data: tb.Reader(data).skip(10**9),
    "copy": lambda data: moved(tb.Writer.copy, tb.Reader(io.BytesIO(data))),
    "writes": lambda data: moved(tb.PairWriter.writes, tb.PairReader(data)),
}


class Nowhere:
    """Take all, in no time and without Python code."""

    write = len


def moved(use, reader):
    """Move all from a reader to a writer."""
    with tb.PairWriter(Nowhere()) if use is tb.PairWriter.writes else tb.Writer(Nowhere()) as writer:
        return use(writer, reader)


def fed_whole(data):
    """Return a Decoder that was fed."""
    decoder = tb.Decoder()
    decoder.feed(data)
    return decoder


@pytest.mark.parametrize("name", LONG_WORK)
def test_signals_are_heard_between_many_values(name):
    data = b"\7\0\0\0\5abcde\3\0\0\0\7" * (MANY // 2)
    assert times_checked(lambda: LONG_WORK[name](data)) >= MANY // 2 // LOOKS_EVERY


@pytest.mark.parametrize("scan", [tb.count, tb.index])
def test_signals_are_heard_while_scanning(scan):
    data = b"\2\1" * MANY
    heard_around = times_checked(lambda: scan(b""))
    assert times_checked(lambda: scan(data)) >= heard_around + MANY // 65_536


BIG_OBJECTS = {
    "ints": lambda: list(range(10**9, 10**9 + MANY)),
    "strings": lambda: ["abcde"] * MANY,
    "lists": lambda: [[]] * MANY,
    "tuple": lambda: (2.5,) * MANY,
    "dict": lambda: dict.fromkeys(range(MANY), 1),
    "dicts": lambda: [{"a": 1}] * MANY,
    "wide_ints": lambda: [2**100] * MANY,
    "values": lambda: [True] * MANY,
}


@pytest.mark.parametrize("name", BIG_OBJECTS)
def test_signals_are_heard_while_encoding(name):
    value = BIG_OBJECTS[name]()
    work = tb.Encoder().encode_all if name == "values" else tb.dumps
    assert times_checked(lambda: work(value)) >= MANY // LOOKS_EVERY


def test_signals_are_heard_while_sorting():
    value = {str(n * 7919 % MANY): n for n in range(MANY)}
    assert times_checked(lambda: tb.dumps(value, sort_keys=True)) >= MANY // LOOKS_EVERY


class Interrupted(Exception):
    """Be raised by a signal handler."""


def interrupted(work):
    """Repeat the work until a signal handler has raised out of it, when about an eighth of it is done."""

    def interrupt(_, frame):
        if frame.f_code is work.__code__:  # not between two repetitions
            signal.setitimer(signal.ITIMER_PROF, 0)
            raise Interrupted

    started = time.process_time()
    work()
    part = (time.process_time() - started) / 8  # of the time it takes when nothing is warm yet
    before = signal.signal(signal.SIGPROF, interrupt)
    try:
        with pytest.raises(Interrupted):
            signal.setitimer(signal.ITIMER_PROF, part, part)
            while True:
                work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def test_after_an_interrupt_all_is_as_before():
    data, decoder, encoder = many(3_000_000, b"\3\7\0\0\0")(), tb.Decoder(), tb.Encoder()
    value = decoder.decode(data)
    interrupted(lambda: decoder.decode(data))
    interrupted(lambda: encoder.encode(value))
    assert gc.isenabled()
    assert decoder.decode(DATA[: ENDS[0]]) is True
    assert encoder.encode(value) == data


def test_an_interrupt_of_a_reader_is_final():
    data = DATA[: ENDS[0]] + many(3_000_000, b"\3\7\0\0\0")() + DATA

    def work():
        with tb.Reader(io.BytesIO(data)) as reader:
            assert reader.read() is True
            try:
                reader.read()
            except Interrupted as error:
                with pytest.raises(Interrupted) as again:
                    reader.read()
                assert again.value is error
                raise

    interrupted(work)


def test_a_signal_handler_may_use_the_codec():
    seen = []
    data = many(1_000_000, b"\3\7\0\0\0")()
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(tb.Decoder().decode_all(tb.Encoder().encode_all(VALUES)) == VALUES))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        assert len(tb.loads(data)) == len(tb.loads(tb.dumps(tb.loads(data)))) == 1_000_000
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert seen
    assert all(seen)


# -- the collector ----------------------------------------------------------------------------------------


def test_decoding_leaves_the_collector_as_it_was():
    data = many(5000, b"\3\7\0\0\0")()
    assert gc.isenabled()
    for bad in (data[:-1], data[:-1] + b"\x0b", data + b"\2"):
        with pytest.raises(tb.DecodeError):
            tb.loads(bad)
        assert gc.isenabled()
    gc.disable()
    try:
        tb.loads(data)
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.fixture
def collector():
    """Have the collector on, before and after."""
    assert gc.isenabled()
    yield
    gc.enable()


def test_a_collector_that_a_handler_of_text_switches_off_stays_off(collector):
    seen = []

    def handle(error):
        seen.append(gc.isenabled())
        gc.disable()
        return "?", error.end

    codecs.register_error("typedbytes-switches-off", handle)
    data = b"\x09" + b"\2\1" * 20_000 + b"\7\0\0\0\1\xff" * 2 + b"\2\1" * 20_000 + b"\xff"
    for decode in (tb.loads, lambda data, **options: next(tb.Reader(data, **options))):
        gc.enable()
        assert decode(data, unicode_errors="typedbytes-switches-off")[20_000:20_002] == ["?", "?"]
        assert not gc.isenabled()
    assert seen == [True, False] * 2


@pytest.mark.parametrize("form", ["one value", "many"])
def test_a_collector_that_a_signal_switches_off_stays_off(form, collector):
    seen, decoding = [], []

    def handle(*_):
        if decoding:  # otherwise the timer sends the next signal
            seen.append(gc.isenabled())
            gc.disable()
            signal.setitimer(signal.ITIMER_REAL, 0)

    data = b"\2\1" * 400_000
    decode = tb.Decoder().decode_all if form == "many" else lambda data: tb.loads(b"\x09" + data + b"\xff")
    before = signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        while not seen:
            decoding.append(True)
            decode(data)
            decoding.clear()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert seen == [True] and not gc.isenabled()


def test_a_hook_runs_with_the_collector_as_it_was():
    seen = []
    data = exts(2000)
    tb.loads(data, ext_hook=lambda code, data: seen.append(gc.isenabled()))
    assert all(seen)


# -- threads ----------------------------------------------------------------------------------------------


def test_threads_may_share_the_decode_methods():
    decoder, found = tb.Decoder(ext_hook=lambda code, data: (code, len(data))), []

    def work():
        for _ in range(30):
            found.append(decoder.decode_all(DATA + exts(50)) == [*VALUES[:12], (144, 20), *VALUES[13:], [(144, 1)] * 50])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 120


def test_two_threads_on_one_fed_decoder_are_told_apart():
    inside, go_on = threading.Event(), threading.Event()

    def hook(code, data):
        inside.set()
        go_on.wait(5)
        return 1

    decoder, found = tb.Decoder(ext_hook=hook), []
    decoder.feed(exts(1))
    thread = threading.Thread(target=lambda: found.extend(decoder))
    thread.start()
    inside.wait(5)
    for use in (lambda: decoder.feed(b"\2\1"), lambda: next(decoder), decoder.close):
        with pytest.raises(RuntimeError, match="in use"):
            use()
    go_on.set()
    thread.join()
    assert found == [[1]]


def test_bytes_that_another_thread_changes_cost_an_error_at_most():
    data, stop = bytearray(b"\x09" + b"\7\0\0\0\5abcde\x08\0\0\0\1\3\0\0\0\1" * 5000 + b"\xff"), threading.Event()
    clean = bytes(data)

    def work():
        chance = itertools.cycle([0, 7, 8, 9, 255, 1])
        while not stop.is_set():
            for offset in range(0, len(data), 97):
                data[offset] = next(chance)
            data[:] = clean

    thread = threading.Thread(target=work)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        for _ in range(50):
            with contextlib.suppress(tb.DecodeError):
                tb.count(data)
            with contextlib.suppress(tb.DecodeError):
                tb.loads(data, ext_hook=lambda code, data: None)
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(before)


def test_values_hold_nothing_of_the_memory_they_came_from():
    data = bytearray(DATA)
    view = memoryview(data)
    reader = tb.Reader(view)
    values, raw = reader.read_all(), list(tb.Reader(view, raw=True))
    decoded = tb.Decoder().decode_all(view)
    reader.close()
    view.release()
    data[:] = b"\xff" * len(data)
    data.clear()
    assert (values, decoded, raw) == (VALUES, VALUES, PARTS)


# -- processes and interpreters ---------------------------------------------------------------------------


def test_another_interpreter_in_the_process_is_refused():
    code = """
        import typedbytes as tb
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        other = interpreters.create()
        try:
            failure = interpreters.run_string(other, "import typedbytes")
            said = failure.msg if failure is not None else ""
        except Exception as error:
            said = str(error)
        interpreters.destroy(other)
        print(tb.loads(tb.dumps([1])), "Interpreter change detected" in said or "does not support loading in subinterpreters" in said)
    """
    assert run_fresh(code) == "[1] True"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_multiprocessing(method):
    code = f"""
        import multiprocessing, typedbytes as tb
        value = [list(range(1000)), {{"k": 2**70}}]
        data = tb.dumps(value)
        with multiprocessing.get_context("{method}").Pool(2) as pool:
            print(pool.map(tb.loads, [data] * 10) == [value] * 10, pool.map(tb.dumps, [value] * 10) == [data] * 10)
    """
    assert run_fresh(code) == "True True"


def test_a_fork_in_the_middle_of_a_decode():
    code = """
        import os, typedbytes as tb
        def hook(code, data):
            forked.append(os.fork())
            return len(forked)
        forked = []
        found = tb.loads(bytes.fromhex("09" + "900000000178" * 2 + "ff"), ext_hook=hook)
        again = tb.loads(tb.dumps([{"k": (1, 2)}]))
        if 0 in forked:
            os._exit(found != [1, 2] or again != [{"k": (1, 2)}])
        print(found, [os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(2)])
    """
    assert run_fresh(code) == "[1, 2] [0, 0]"


def test_the_interpreter_ends_while_readers_and_threads_live():
    code = """
        import atexit, io, os, threading, typedbytes as tb
        def work():
            while True:
                tb.loads(data)
        data = tb.dumps(list(range(100_000)))
        reading, writing = os.pipe()
        reader, groups = tb.Reader(reading), tb.PairReader(io.BytesIO(tb.dumps(1) * 9)).groups()
        key, values = next(groups)
        decoder = tb.Decoder(ext_hook=lambda code, data: decoder)
        decoder.feed(bytes.fromhex("09" + "9000000000" * 3))
        threads = [threading.Thread(target=target, daemon=True) for target in (work, work, reader.read)]
        for thread in threads:
            thread.start()
        atexit.register(lambda: print(next(values), tb.loads(tb.dumps("done"))))
    """
    assert run_fresh(code) == "1 done"


def test_the_package_may_be_loaded_again():
    code = """
        import importlib, typedbytes as tb
        before = tb.Ext
        for module in (tb, tb.errors, tb._types):
            importlib.reload(module)
        print(tb.loads(tb.dumps(before(60, b"x"))) == before(60, b"x"), tb.loads(tb.dumps([tb.Ext(60, b"x")])))
        try:
            tb.loads(b"")
        except EOFError:
            print("missing")
    """
    assert run_fresh(code).splitlines() == ["True [Ext(60, b'x')]", "missing"]


# -- memory -----------------------------------------------------------------------------------------------

DECLARED = [
    bytes([code]) + b"\x7f\xff\xff\xff" + more
    for code in (0, 7, 8, 10, 50, 51, 100, 101, 102, 200)
    for more in (b"", b"\2\1\2\1", b"\x08\x7f\xff\xff\xff" * 50)
]


def test_promises_cost_no_memory_in_a_fresh_process():
    code = f"""
        import io, resource, typedbytes as tb
        def use(data):
            for make in (
                lambda: tb.loads(data), lambda: tb.loads(data, map_pairs=True, exact=True), lambda: tb.skip(data), lambda: tb.count(data),
                lambda: tb.index(data), lambda: tb.Reader(io.BytesIO(data)).read(), lambda: tb.Reader(io.BytesIO(data), raw=True).read(),
                lambda: tb.load(io.BytesIO(data)), lambda: tb.Reader(io.BytesIO(data)).skip(), lambda: (d.feed(data), list(d), d.close()),
                lambda: next(tb.PairReader(io.BytesIO(data)).groups()),
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


@pytest.mark.parametrize("unit", [b"\x09\xff", b"\x08\0\0\0\0", b"\x0a\0\0\0\0", b"\7\0\0\0\0", b"\3\7\0\0\0", b"\1\1", b"\x90\0\0\0\0"])
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
    b"",
    b"\xff",
    b"\x09" + b"\3\7\0\0\0" * 50,
    exts(3)[:-1] + b"\x0b",
    encoded_map([tb.dumps("key")] * 3)[:-1],
    b"\x0a\0\0\0\1\x09",
    b"\x09" * 300,
]


def swallow(call, *arguments, **options):
    """Call, and drop one of our errors."""
    with contextlib.suppress(tb.TypedBytesError, LookupError, OSError, ValueError, RuntimeError, TypeError, StopIteration):
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
        swallow(tb.loads, b"\x09\7\0\0\0\2a\xff", unicode_errors=errors) for errors in ("strict", "replace", "surrogateescape")
    ],
    "decode_all": lambda: (
        tb.Decoder().decode_all(DATA),
        tb.Decoder().decode_pairs(DATA),
        tb.Decoder().decode_from(DATA),
    ),
    "decode_all_fails": lambda: [
        (swallow(tb.Decoder().decode_all, DATA + bad), swallow(tb.Decoder().decode_pairs, DATA + PARTS[0] + bad)) for bad in BAD
    ],
    "strided": lambda: tb.loads(memoryview(PARTS[7][::-1])[::-1]),
    "fed": lambda: fed(DATA),
    "fed_fails": lambda: [swallow(fed, DATA + bad) for bad in BAD],
    "fed_hook_fails": lambda: swallow(fed, exts(3), ext_hook=fail),
    "fed_limit": lambda: swallow(fed, DATA, max_bytes=20),
    "reader": lambda: [list(tb.Reader(source)) for source in (DATA, io.BytesIO(DATA), bytearray(DATA))],
    "reader_raw": lambda: [list(kind(io.BytesIO(DATA), raw=True, buffer_size=64)) for kind in (tb.Reader, tb.PairReader)],
    "reader_fails": lambda: [swallow(list, tb.Reader(io.BytesIO(DATA + bad), buffer_size=64)) for bad in BAD],
    "reader_source_fails": lambda: [
        swallow(list, kind(Source(DATA[:cut]), raw=raw))
        for cut in (1, 4, 100)
        for kind in (tb.Reader, tb.PairReader)
        for raw in (False, True)
    ],
    "reader_refused": lambda: [
        swallow(tb.Reader, io.BytesIO(), **options) for options in ({"max_depth": -1}, {"buffer_size": 0}, {"pickle": "x"})
    ],
    "reader_skip": lambda: (
        tb.Reader(io.BytesIO(DATA)).skip(99),
        tb.Reader(DATA).detach(),
        swallow(tb.Reader(DATA + b"\xff").skip, 99),
    ),
    "pairs": lambda: (list(tb.PairReader(io.BytesIO(DATA))), swallow(list, tb.PairReader(DATA + PARTS[0]))),
    "groups": lambda: (grouped(DATA), grouped(io.BytesIO(DATA), raw=True)),
    "groups_fail": lambda: [swallow(grouped, DATA + PARTS[0] + bad) for bad in BAD],
    "large_bytes": lambda: [swallow(tb.Reader(io.BytesIO(tb.dumps(bytes(1 << 18))[:cut])).read) for cut in (1 << 20, 1 << 17, 100)],
    "writer": lambda: wrote(tb.Writer(io.BytesIO(), buffer_size=100), [*VALUES, object(), 1]),
    "pair_writer": lambda: wrote(tb.PairWriter(io.BytesIO()), [*zip(VALUES, VALUES), (1, object()), (object(), 1)]),
    "writer_sink_fails": lambda: swallow(wrote, tb.Writer(FailingSink(), buffer_size=10), VALUES),
    "scan": lambda: (tb.count(DATA), tb.index(DATA), tb.skip(DATA), tb.hash_code(DATA), tb.partition(DATA, 3)),
    "scan_fails": lambda: [
        (swallow(tb.count, bad), swallow(tb.index, DATA + bad), swallow(tb.skip, bad), swallow(tb.partition, bad, 0)) for bad in BAD
    ],
    "equal_keys": lambda: (
        tb.loads(encoded_map([tb.dumps("key"), tb.dumps((1, "k"))] * 20)),
        tb.loads(b"\x0a\0\0\0\2" + (tb.dumps("k") + exts(2)) * 2, ext_hook=lambda code, data: [data]),
    ),
    "error_handler": lambda: [swallow(tb.loads, BAD_TEXT, unicode_errors=f"typedbytes_decode_{name}") for name in HANDLERS],
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


@pytest.mark.usefixtures("few_objects")
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_leave_no_memory_behind(name):
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
    # their first and last eight bytes are equal, whatever their lengths are; the table of strings must tell them apart
    texts = [chr(letter) * length for letter in range(1, 128) for length in range(26)]
    for order in (texts, texts[::-1], sorted(texts, key=len)):
        assert tb.loads(tb.dumps(order)) == order
        assert list(tb.loads(tb.dumps(dict.fromkeys(order)))) == list(dict.fromkeys(order))


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


def test_making_again_what_could_not_be_made_keeps_nothing():
    reader = tb.Reader.__new__(tb.Reader)

    def fail():
        for _ in range(1000):
            with pytest.raises(TypeError):
                reader.__init__(object())

    assert kept_by(fail) < 100_000


def test_nothing_can_be_put_back_before_memory_nor_before_what_was_read_ahead():
    with pytest.raises(TypeError):
        tb.Reader(b"").__read_payload__(5)
    reader = tb.Reader(io.BytesIO(b"\2\1\2\0"))
    assert reader.__read_code__() == 2
    with pytest.raises(ValueError):
        reader.__read_payload__(2)


def test_a_type_code_read_by_itself_fails_as_all_else():
    class Fails:
        def read(self, nbytes):
            raise LookupError

    reader = tb.Reader(Fails(), read_ahead=False)
    for use in (reader.__read_code__, reader.__read_code__, lambda: reader.__read_payload__(2), reader.read):
        with pytest.raises(LookupError):
            use()


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


@pytest.mark.parametrize("npairs", [1, 5, 6, 7, 1023, 1024, 1025, 5000])
@pytest.mark.parametrize("key", [str, int, lambda number: (number, "b"), lambda number: number if number % 7 else str(number)])
def test_the_last_value_of_a_key_stands_in_the_place_of_the_first(npairs, key):
    keys = [key(index * 7919 % (npairs * 2 // 3 + 1)) for index in range(npairs)]
    pairs = list(zip(keys, range(npairs)))
    data = b"\x0a" + npairs.to_bytes(4, "big") + b"".join(tb.dumps(part) for pair in pairs for part in pair)
    assert list(tb.loads(data).items()) == list(dict(pairs).items())
