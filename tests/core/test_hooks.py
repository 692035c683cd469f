"""Hooks and error handlers that raise, re-enter, decode, or change what is decoded: errors come out as raised."""

import codecs
import contextlib
import gc
import io
import itertools
import weakref

import pytest

import typedbytes as tb
from support.decoding_values import BAD_TEXT, DATA, ENDS, EXT, HANDLERS, PARTS, VALUES, exts
from support.subprocess_runs import run_fresh

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded, pytest.mark.every_python]

# -- hooks ------------------------------------------------------------------------------------------------


def test_ext_hook_sees_application_codes_without_a_meaning():
    seen = []
    decoder = tb.Decoder(ext_hook=lambda code, data: seen.append((code, data)) or len(seen))
    codes = [code for code in range(51, 201) if code not in (100, 101, 102)]
    assert decoder.decode_all(b"".join(bytes([code]) + b"\0\0\0\1" + bytes([code]) for code in codes)) == list(
        range(1, len(codes) + 1)
    )
    assert seen == [(code, bytes([code])) for code in codes]
    assert decoder.decode(b"\x65\0\0\0\1a") == b"a"
    assert decoder.decode(tb.dumps(None)) is None
    assert decoder.decode(tb.dumps(tb.Writable("a", b"b"))) == tb.Writable("a", b"b")
    assert len(seen) == len(codes)


RAISED = [
    LookupError("odd"), KeyboardInterrupt(), MemoryError(), tb.FormatError("theirs", 7), RecursionError(),
    GeneratorExit(), StopIteration(),
]  # fmt: skip

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
def test_a_hook_that_calls_init_of_its_decoder_again_harms_nothing(method):
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
        data = bytes.fromhex("09" + "900000000161" * 4 + "0700000002ff61ff")
        print(decoder.{method}(data * (2 if "pairs" in "{method}" else 1)))
    """
    assert "[5, 5, 5, 5, 'a']" in run_fresh(code, flags=("-X", "dev"))  # development mode overwrites freed memory


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
        vector, list_ = b"\\x08\\0\\0\\0\\4" + ext * 4, b"\\x09" + ext * 4 + b"\\xff"
        for data in (vector, list_, b"\\x0a\\0\\0\\0\\2" + (one + ext) * 2):
            tb.loads(data, ext_hook=hook)
            tb.loads(data, ext_hook=hook, map_pairs=True)
            list(tb.PairReader(data + ext, ext_hook=hook))
            list(tb.PairReader(ext + data, ext_hook=hook).groups())
        print("done")
    """
    assert run_fresh(code) == "done"


def test_cycles_with_hooks_are_collected():
    class Holder:
        """Record that it is released."""

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
