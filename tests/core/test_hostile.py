"""Input made to hurt: nesting, declared sizes, collisions, noise. It may cost our own errors, and nothing else."""

import contextlib
import io
import mmap
import random
import sys
import threading

import pytest

import typedbytes
from support.call_variants import WAYS
from support.families import encoded_map
from support.machine import NEEDS_64_BITS
from support.process_memory import peak_of
from support.reference import LENGTH_CODES
from support.subprocess_runs import run_fresh, within
from support.vectors import Dribble, exact_repr, failure, outcome, read_folder

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded, pytest.mark.every_python]

NESTING = {
    "list": b"\x09",
    "vector": b"\x08\0\0\0\1",
    "vector_second": b"\x08\0\0\0\2\x02\0",
    "map_value": b"\x0a\0\0\0\1\x02\1",
    "map_key_vector": b"\x0a\0\0\0\1\x08\0\0\0\1\x02\0",
    "mixed": b"\x09\x08\0\0\0\1\x0a\0\0\0\1\x02\1",
}

MEBIBYTE = 2**20
MAP_KEY = b"\x0a\0\0\0\1"


def fault(call, *args, **options):
    """Return the class and the offset of the error that a call must raise."""
    with pytest.raises(typedbytes.DecodeError) as caught:
        call(*args, **options)
    return failure(caught.value)[:2]


# -- depth ------------------------------------------------------------------------------------------------


def nested_lists(depth):
    """Return LISTs in LISTs, closed."""
    return b"\x09" * depth + b"\xff" * depth


@pytest.mark.parametrize("name", [name for name in NESTING if name != "map_key_vector"])
def test_100_000_levels(name):
    data = NESTING[name] * 100_000
    # the offset of the 257th container: those of one period, repeated
    period = [index for index, byte in enumerate(NESTING[name]) if byte in (8, 9, 10)]
    levels, rest = divmod(256, len(period))
    offset = levels * len(NESTING[name]) + period[rest]

    assert fault(typedbytes.loads, data) == ("LimitError", offset)
    assert fault(typedbytes.skip, data) == ("LimitError", offset)
    assert fault(typedbytes.count, data) == ("LimitError", offset)
    for way in WAYS:
        assert fault(way, [data[: offset + 64]], []) == ("LimitError", offset), way.__name__


def test_100_000_levels_of_keys():
    data = MAP_KEY * 100_000
    assert fault(typedbytes.loads, data) == ("FormatError", 5)
    assert fault(typedbytes.loads, data, map_pairs=True) == ("LimitError", 256 * 5)
    assert fault(typedbytes.skip, data) == ("LimitError", 256 * 5)
    # VECTORs in a key are a key: they count as everything else does
    data = MAP_KEY + b"\x08\0\0\0\1" * 100_000
    assert fault(typedbytes.loads, data) == ("LimitError", 256 * 5)


def test_depth_is_exact():
    for depth in (1, 2, 255, 256):
        value = typedbytes.loads(nested_lists(depth), max_depth=depth)
        assert typedbytes.dumps(value, max_depth=depth) == nested_lists(depth)
        assert typedbytes.skip(nested_lists(depth), max_depth=depth) == 2 * depth
        assert fault(typedbytes.loads, nested_lists(depth), max_depth=depth - 1) == ("LimitError", depth - 1)
        assert fault(typedbytes.skip, nested_lists(depth), max_depth=depth - 1) == ("LimitError", depth - 1)
        with pytest.raises(typedbytes.EncodeValueError) as caught:
            typedbytes.dumps(value, max_depth=depth - 1)
        assert caught.value.path == "[0]" * (depth - 1)


def test_depth_starts_again_after_an_error():
    deep = nested_lists(256)
    decoder, encoder = typedbytes.Decoder(), typedbytes.Encoder()
    for bad in (b"\x09" * 300, b"\x09" * 200 + b"\x0b", b"\x09" * 200, b"\x08\0\0\0\1" * 256 + b"\xff"):
        fault(decoder.decode, bad)
        value = decoder.decode(deep)
        assert outcome(encoder.encode, [value]) == ("EncodeValueError", "[0]" * 256)
        assert encoder.encode(value) == deep


@pytest.mark.unsanitized("frames are several times as large")
def test_a_thread_with_a_small_stack():
    found = []

    def work():
        value = typedbytes.loads(nested_lists(256))
        found.append(typedbytes.dumps(value) == nested_lists(256))
        found.append(fault(typedbytes.loads, b"\x09" * 1000))

    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert found == [True, ("LimitError", 256)]


def test_depth_does_not_hang_on_the_recursion_limit():
    deep = nested_lists(256)
    before = sys.getrecursionlimit()
    frame, used = sys._getframe(), 0
    while frame is not None:
        frame, used = frame.f_back, used + 1
    sys.setrecursionlimit(used + 60)
    try:
        value = typedbytes.loads(deep)
        encoded = typedbytes.dumps(value)
    finally:
        sys.setrecursionlimit(before)
    assert encoded == deep


def cycles():
    """Return values that hold themselves."""
    in_list, in_dict, in_tuple = [], {}, ([],)
    in_list.append(in_list)
    in_dict["self"] = in_dict
    in_tuple[0].append(in_tuple)
    return {"list": in_list, "dict": in_dict, "tuple": in_tuple}


@pytest.mark.parametrize("name", ["list", "dict", "tuple"])
def test_a_value_that_holds_itself(name):
    encoder = typedbytes.Encoder()
    with pytest.raises(typedbytes.EncodeValueError):
        encoder.encode(cycles()[name])
    assert encoder.encode(1) == b"\x03\0\0\0\1"


def test_a_default_that_never_ends():
    with pytest.raises(typedbytes.EncodeError):
        typedbytes.dumps(object(), default=lambda obj: [obj])


# -- declared sizes ---------------------------------------------------------------------------------------

DECLARED = {
    **{f"code_{code}": bytes([code]) + b"\x7f\xff\xff\xff" for code in LENGTH_CODES},
    "bytes_with_some": b"\0\x7f\xff\xff\xffabc",
    "vector_with_items": b"\x08\x7f\xff\xff\xff" + b"\x02\1" * 10,
    "bytes_in_list": b"\x09\0\x7f\xff\xff\xffabc",
}
NESTED_DECLARED = {"vectors": b"\x08\x7f\xff\xff\xff" * 256, "maps": b"\x0a\x7f\xff\xff\xff\x02\1" * 256}


def test_what_is_fed_is_held_once():
    # capacity doubles: twice the bytes at most, and never the old memory beside the new
    data = typedbytes.dumps(bytes(9 * MEBIBYTE))[:-1]

    def feed():
        decoder = typedbytes.Decoder()
        for start in range(0, len(data), 65_536):
            decoder.feed(data[start : start + 65_536])
            assert list(decoder) == []

    assert peak_of(feed) < 2 * len(data) + MEBIBYTE


@pytest.mark.parametrize("name", DECLARED)
def test_declared_lengths_cost_nothing(name):
    data = DECLARED[name]

    assert fault(typedbytes.loads, data) == ("TruncatedError", len(data))
    assert peak_of(lambda: fault(typedbytes.loads, data)) < 64 * 1024
    assert peak_of(lambda: fault(typedbytes.skip, data)) < 64 * 1024
    for source in (io.BytesIO, Dribble):
        assert peak_of(lambda: fault(typedbytes.Reader(source(data)).read)) < 2 * MEBIBYTE


@pytest.mark.parametrize("name", NESTED_DECLARED)
def test_nested_declared_lengths_cost_little(name):
    data = NESTED_DECLARED[name]

    assert fault(typedbytes.loads, data) == ("TruncatedError", len(data))
    assert peak_of(lambda: fault(typedbytes.loads, data)) < MEBIBYTE


def test_lengths_to_which_nothing_can_be_added():
    for code in LENGTH_CODES:
        for nbytes in (*range(2**31 - 20, 2**31), 2**31 - 2**16, 2**30):
            data = bytes([code]) + nbytes.to_bytes(4, "big") + b"\2\1" * 3
            assert fault(typedbytes.loads, data) == ("TruncatedError", len(data))
            assert fault(typedbytes.skip, b"\2\1" + data, 2) == ("TruncatedError", 2 + len(data))
            for way in WAYS:
                assert fault(way, [data], []) == ("TruncatedError", len(data)), way.__name__


def test_negative_lengths_of_every_code():
    for code in (0, 7, 8, 10, *range(50, 201)):
        for nbytes in (-1, -2, -5, -16, -(2**31)):
            data = bytes([code]) + nbytes.to_bytes(4, "big", signed=True) + b"\2\1" * 20
            assert fault(typedbytes.loads, b"\x09" + data) == ("FormatError", 1)
            assert fault(typedbytes.skip, data) == ("FormatError", 0)


@NEEDS_64_BITS
def test_too_long_to_write():
    # pages of an anonymous map exist once they are touched: a length is looked at before any of them is
    with mmap.mmap(-1, 2**31, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ) as pages:
        view = memoryview(pages)
        assert outcome(typedbytes.dumps, [1, view]) == ("EncodeValueError", "[1]")
        view.release()


@NEEDS_64_BITS
@pytest.mark.once  # gigabytes, where every Python does the same
@pytest.mark.parametrize("character", "\xe9\u20ac\ud800\U0001f600")
def test_text_too_long_to_write_once_encoded(character):
    # Few enough characters and too many bytes: a str made by hand in pages that were never written to, which are all
    # one page of zeros. That no memory is used shows that such text is measured before anything is asked for.
    code = """
        import contextlib, ctypes, mmap, resource, sys, typedbytes as tb
        few, width, nchars, no_reserve = chr(int(sys.argv[1])) * 8, int(sys.argv[2]), 2**31 - 8, 0x4000
        pages = mmap.mmap(-1, nchars * width + 8192, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | no_reserve)
        with contextlib.suppress(OSError):  # a kernel without huge pages: the same, after 512 times as many page faults
            pages.madvise(mmap.MADV_HUGEPAGE)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(pages))  # the str lives as long as the process
        address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
        ctypes.memmove(address, id(few), few.__sizeof__())
        ctypes.c_ssize_t.from_address(address + object.__basicsize__).value = nchars
        text = ctypes.cast(address, ctypes.py_object).value
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(text))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            tb.dumps([1, text])
        except tb.EncodeValueError as error:
            print(error, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000)
    """
    width = 1 if character < "\u0100" else 2 if character < "\U00010000" else 4
    nbytes = 2**31 - 8 + 8 * (len(character.encode("utf-8", "surrogatepass")) - 1)
    said = (
        f"STRING of {nbytes} is longer than 2^31-1"
        if character != "\ud800"
        else 'str holds a lone surrogate, which UTF-8 cannot encode: pass unicode_errors="surrogateescape", for example'
    )
    assert run_fresh(code, ord(character), width) == f"{said}, at [1] True"


# -- collisions -------------------------------------------------------------------------------------------


def colliding_vectors(count):
    """Return encoded VECTORs of BYTEs -1 and -2, which have one hash value in Python, as their tuples have."""
    numbers = [b"\1\xff", b"\1\xfe"]
    return [b"\x08\0\0\0\x10" + b"".join(numbers[n >> bit & 1] for bit in range(16)) for n in range(count)]


def test_vector_keys_with_one_hash():
    keys = colliding_vectors(20_000)

    assert len(typedbytes.loads(encoded_map(keys[:512]))) == 512
    assert fault(typedbytes.loads, encoded_map(keys[:513])) == ("LimitError", 0)
    assert fault(typedbytes.loads, encoded_map(keys)) == ("LimitError", 0)
    assert len(typedbytes.loads(encoded_map(keys), map_pairs=True)) == 20_000
    assert typedbytes.skip(encoded_map(keys)) == len(encoded_map(keys))
    # each MAP counts for itself
    two = b"\x09" + encoded_map(keys[:512]) * 2 + b"\xff"
    assert [len(item) for item in typedbytes.loads(two)] == [512, 512]


def test_pickled_keys_with_one_hash():
    """They are charged before they are compared."""
    # the hash of an int is its remainder by a Mersenne prime
    numbers = [2**70 + n * sys.hash_info.modulus for n in range(20_000)]
    keys = [typedbytes.dumps(number) for number in numbers]
    assert len({hash(number) for number in numbers}) == 1

    assert len(typedbytes.loads(encoded_map(keys[:512]))) == 512
    assert fault(typedbytes.loads, encoded_map(keys)) == ("LimitError", 0)


def test_many_keys_without_collisions():
    keys = [typedbytes.dumps((n, str(n))) for n in range(20_000)]
    assert len(typedbytes.loads(encoded_map(keys))) == 20_000


# -- names and messages -----------------------------------------------------------------------------------

NAMES = ["antigravity", "this", "os.system", "../../etc/passwd", "a\0b", "", "\x1b[2J", "x" * 65_536]


def test_the_name_of_a_writable_is_text_and_nothing_is_imported():
    for name in NAMES:
        value = typedbytes.loads(typedbytes.dumps(typedbytes.Writable(name, b"\0\1")))
        assert (type(value), value.class_name, value.data) == (typedbytes.Writable, name, b"\0\1")
    assert not {"antigravity", "this"} & set(sys.modules)


def test_a_pickle_that_is_kept_is_shown_and_not_run(tmp_path):
    payload = b"cos\nmkdir\n(S'%s'\ntR." % str(tmp_path / "made").encode()
    encoded = b"\x64" + len(payload).to_bytes(4, "big") + payload
    for value in (typedbytes.loads(encoded, pickle="raw"), typedbytes.loads(encoded, exact=True)):
        assert (repr(value).startswith("Ext(100, "), len(repr(value)) < 200, value.data) == (True, True, payload)
        assert typedbytes.dumps(value) == encoded
    fault(typedbytes.loads, encoded)
    assert not (tmp_path / "made").exists()


def test_messages_hold_nothing_of_what_lies_around():
    """Nor addresses of objects, as the repr of an item of a .npy header has one."""
    around = b"secret" * 10
    for vector in read_folder("invalid"):
        if vector["direction"] == "decode":
            data = bytes.fromhex(vector["hex"])
            view = memoryview(around + data + around)[len(around) : len(around) + len(data)]
            for dialect in ("hadoop", "hive"):
                assert words(view, dialect) == words(data, dialect)


def words(data, dialect):
    """Return what is said about bytes."""
    try:
        return exact_repr(typedbytes.loads(data, dialect=dialect))
    except typedbytes.DecodeError as error:
        return str(error), repr(error)


# -- hooks ------------------------------------------------------------------------------------------------


def raising(kind):
    """Return a hook that raises an error of this kind."""

    def hook(code, data):
        raise kind("from the hook")

    return hook


HOOKED = b"\x09" + b"\x90\0\0\0\0" * 3 + b"\xff"


@pytest.mark.parametrize("kind", [KeyError, GeneratorExit, RecursionError, KeyboardInterrupt])
def test_what_a_hook_raises_passes(kind):
    with pytest.raises(kind, match="from the hook"):
        typedbytes.loads(HOOKED, ext_hook=raising(kind))
    for way in WAYS:
        with pytest.raises(kind, match="from the hook"):
            way([HOOKED], [], ext_hook=raising(kind))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_hook_cannot_end_an_iteration(way):
    # as in a generator: what would look like the end of the input must not
    with pytest.raises((StopIteration, RuntimeError)):
        way([HOOKED + b"\x02\1"], [], ext_hook=raising(StopIteration))


def test_what_a_default_raises_passes():
    def default(obj):
        raise KeyError("from the default")

    encoder = typedbytes.Encoder(default=default)
    with pytest.raises(KeyError, match="from the default"):
        encoder.encode([1, {"a": object()}])
    assert encoder.encode([1]) == b"\x09\x03\0\0\0\1\xff"


def test_a_hook_may_use_other_decoders():
    data = b"\x09\x90\0\0\0\5\x03\0\0\0\7\xff"
    assert typedbytes.loads(data, ext_hook=lambda code, data: typedbytes.loads(data)) == [7]
    assert list(typedbytes.Reader(data * 2, ext_hook=lambda code, data: typedbytes.loads(data))) == [[7], [7]]


def test_a_default_may_give_what_is_no_value_either():
    with pytest.raises(typedbytes.EncodeError):
        typedbytes.dumps(object(), default=lambda obj: object())


# -- time -------------------------------------------------------------------------------------------------

# each takes some 10 to 100 ms; a quadratic walk would not end

HEAVY = {
    "empty_lists": lambda: b"\x09" + b"\x09\xff" * (MEBIBYTE // 2) + b"\xff",
    "empty_vectors": lambda: b"\x09" + b"\x08\0\0\0\0" * (MEBIBYTE // 5) + b"\xff",
    "empty_maps": lambda: b"\x09" + b"\x0a\0\0\0\0" * (MEBIBYTE // 5) + b"\xff",
    "deep_lists": lambda: b"\x09" + nested_lists(255) * (MEBIBYTE // 510) + b"\xff",
    "wide_ints": lambda: b"\x09" + typedbytes.dumps(2**2000) * (MEBIBYTE // 260) + b"\xff",
    "pickled_none": lambda: b"\x09" + typedbytes.dumps(None) * (MEBIBYTE // 9) + b"\xff",
    "one_long_int": lambda: typedbytes.dumps(2 ** (8 * MEBIBYTE)),
    "one_key_again_and_again": lambda: encoded_map([b"\x07\0\0\0\1a"] * (MEBIBYTE // 8)),
    "keys_of_one_power_of_two": lambda: encoded_map(
        [b"\x04" + (n << 40).to_bytes(8, "big") for n in range(MEBIBYTE // 11)]
    ),
    "text_of_wide_characters": lambda: typedbytes.dumps("\U0001f600" * (MEBIBYTE // 4)),
    "text_that_widens_late": lambda: typedbytes.dumps(["x" * 1000 + "\U0001f600"] * (MEBIBYTE // 1009)),
}


@pytest.mark.parametrize("name", HEAVY)
def test_one_mebibyte_in_time(name):
    data = HEAVY[name]()
    with within():
        typedbytes.loads(data)
        typedbytes.skip(data)
        (value,) = typedbytes.Reader(io.BytesIO(data), buffer_size=4096)


@pytest.mark.parametrize("wrap", [bytes, lambda key: b"\x08\0\0\0\1" + key])
def test_many_nan_keys_come_to_an_end(wrap):
    """Before Python 3.10 all NaNs have one hash value."""
    # a NaN equals none, and before Python 3.10 all of them have one hash
    key = wrap(b"\x06\x7f\xf8" + bytes(6))
    data = encoded_map([key] * (MEBIBYTE // (len(key) + 5)))
    with within(), contextlib.suppress(typedbytes.LimitError):
        assert len(typedbytes.loads(data)) == MEBIBYTE // (len(key) + 5)


@pytest.mark.parametrize(
    "item",
    [
        str,
        lambda k: "\u20ac" * k,
        lambda k: b"%d" % k,
        lambda k: k / 2,
        lambda k: 2**100 + k,
        lambda k: ((k,),),
        lambda k: (k,) * 2049,
    ],
    ids=["ascii", "text", "bytes", "float", "wide", "nested", "long"],
)
def test_many_keys_that_share_buckets_are_all_kept(item):
    # 100 keys in 256 buckets share some
    value = {(item(k), k): k for k in range(100)}
    assert typedbytes.loads(typedbytes.dumps(value)) == value


@pytest.mark.parametrize("value", [[], (), {}])
def test_an_empty_container_is_a_level(value):
    data = typedbytes.dumps(value, max_depth=1)
    assert typedbytes.loads(data, max_depth=1) == value
    assert typedbytes.dumps([value], max_depth=2) == b"\x09" + data + b"\xff"
    for depth, nested, encoded in (0, value, data), (1, [value], b"\x09" + data + b"\xff"):
        with pytest.raises(typedbytes.EncodeError, match="deep"):
            typedbytes.dumps(nested, max_depth=depth)
        with pytest.raises(typedbytes.LimitError):
            typedbytes.loads(encoded, max_depth=depth)


def test_one_byte_at_a_time_in_time():
    data = b"\x09" + b"\x03\0\0\0\1" * 20_000 + b"\xff"
    decoder = typedbytes.Decoder()
    values = []
    with within():
        for n in range(len(data)):
            decoder.feed(data[n : n + 1])
            values.extend(decoder)
    assert values == [[1] * 20_000]


# -- noise ------------------------------------------------------------------------------------------------


def test_noise_costs_a_decode_error():
    rng = random.Random(4)
    codes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 50, 51, 101, 144, 255]
    for nbytes in range(2000):
        size = nbytes % 64
        if nbytes % 2:
            data = bytes(rng.choices(codes, k=size))
        else:
            data = bytes(rng.getrandbits(8) for _ in range(size))
        for dialect in ("hadoop", "hive"):
            outcome(typedbytes.loads, data, dialect=dialect, unicode_errors="replace")
            outcome(typedbytes.skip, data, dialect=dialect)
            outcome(typedbytes.count, data)
        for way in WAYS:
            outcome(way, [data], [])


PAYLOADS = ["636f730a6765747069640a2874522e", "80028a", "80044e2e", "8002580400000061622e", "80027d2e"]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_pickles_cost_a_format_error_or_a_value(payload):
    data = bytes.fromhex(payload)
    encoded = b"\x64" + len(data).to_bytes(4, "big") + data
    found = outcome(typedbytes.loads, encoded)
    assert isinstance(found, str) or found == ("FormatError", 0, 100, "")
