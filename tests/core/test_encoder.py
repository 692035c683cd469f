"""The Encoder: objects of unusual types, default=, options, sorted keys, strings, threads."""

import array
import codecs
import collections
import datetime
import decimal
import enum
import mmap
import pickle
import sys
import sysconfig
import threading
from random import Random

import numpy
import pytest
from hypothesis import given, strategies as st

import typedbytes as tb
from support import reference
from support.encoding_values import ONE, List, Lying, nested
from support.subprocess_runs import in_threads, run_fresh
from support.vectors import outcome

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded, pytest.mark.every_python]

# -- what comes out ---------------------------------------------------------------------------------------


class Number(enum.IntEnum):
    """Be an int."""

    SEVEN = 7


class Flags(enum.IntFlag):
    """Be an int."""

    BOTH = 3


class Named(str, enum.Enum):
    """Be a str."""

    A = "a"


class Int(int):
    """Be an int that shows itself as another."""

    def __index__(self):
        return 99

    __int__ = __index__


class Str(str):
    """Be a str that encodes itself as another."""

    def encode(self, *_):
        return b"other"

    def __len__(self):
        return 1


class Bytes(bytes):
    """Be bytes that show themselves as others."""

    def __len__(self):
        return 1

    def __bytes__(self):
        return b"other"


class Float(float):
    """Be a float that shows itself as another."""

    def __float__(self):
        return 99.0


class Tuple(tuple):
    """Be such a tuple."""

    __iter__, __len__, __getitem__ = List.__iter__, List.__len__, List.__getitem__


class Dict(dict):
    """Be a dict that says what its items are."""

    def items(self):
        return [("said", 1), ("twice", 2)]

    def __len__(self):
        return 99


Point = collections.namedtuple("Point", "x y")

UNUSUAL = {
    "IntEnum": (Number.SEVEN, 7),
    "IntFlag": (Flags.BOTH, 3),
    "str_Enum": (Named.A, "a"),
    "int_subclass": (Int(5), 5),
    "wide_int_subclass": (Int(2**80), 2**80),
    "str_subclass": (Str("text"), "text"),
    "wide_str_subclass": (Str("\u20ac"), "\u20ac"),
    "bytes_subclass": (Bytes(b"data"), b"data"),
    "float_subclass": (Float(1.5), 1.5),
    "list_subclass": (List([1, 2]), [1, 2]),
    "tuple_subclass": (Tuple((1, 2)), (1, 2)),
    "dict_subclass": (Dict(a=1), {"said": 1, "twice": 2}),
    "namedtuple": (Point(1, "a"), (1, "a")),
    "OrderedDict": (collections.OrderedDict([("b", 1), ("a", 2)]), {"b": 1, "a": 2}),
    "defaultdict": (collections.defaultdict(int, a=1), {"a": 1}),
    "Counter": (collections.Counter("aab"), {"a": 2, "b": 1}),
    "bytearray": (bytearray(b"data"), b"data"),
    "memoryview": (memoryview(b"data"), b"data"),
    "view_backwards": (memoryview(b"data")[::-1], b"atad"),
    "view_of_shape": (memoryview(bytes(range(6))).cast("B", (2, 3)), bytes(range(6))),
    "view_of_shorts": (memoryview(array.array("H", [1, 2])), array.array("H", [1, 2]).tobytes()),
    "view_of_nothing": (memoryview(b"")[::2], b""),
    "array": (array.array("d", [1.5]), array.array("d", [1.5]).tobytes()),
    "empty_array": (array.array("q"), b""),
    "array_view": (memoryview(array.array("i", [1, 2, 3]))[::2], array.array("i", [1, 3]).tobytes()),
    "numpy_bool": (numpy.True_, True),
    "none": (None, None),
    "Decimal": (decimal.Decimal("1.50"), decimal.Decimal("1.50")),
    "set": ({1, 2}, {1, 2}),
}


@pytest.mark.parametrize("name", UNUSUAL)
@pytest.mark.parametrize("position", ["alone", "list", "tuple", "value", "sorted"])
def test_unusual_objects_come_back_plain(name, position):
    """Also with the interpreter's public API alone: an int of a subclass has its own value, not that of its __int__."""
    unusual, plain = UNUSUAL[name]
    around = {
        "alone": lambda item: item,
        "list": lambda item: [item, 1],
        "tuple": lambda item: (1, item),
        "value": lambda item: {"a": item, "b": 1},
        "sorted": lambda item: {"b": 1, "a": item},
    }[position]
    found = tb.loads(tb.dumps(around(unusual), sort_keys=position == "sorted"))
    assert found == around(plain)
    inner = {"alone": lambda: found, "list": lambda: found[0], "tuple": lambda: found[1]}.get(
        position, lambda: found["a"]
    )()
    assert type(inner) is type(plain)


SCALARS = {
    "bool_": ("0201", numpy.bool_(True)),
    "int8": ("01fe", numpy.int8(-2)),
    "uint8": ("03000000ff", numpy.uint8(255)),
    "int16": ("03ffff8000", numpy.int16(-(2**15))),
    "uint16": ("030000ffff", numpy.uint16(2**16 - 1)),
    "int32": ("0380000000", numpy.int32(-(2**31))),
    "uint32": ("0400000000ffffffff", numpy.uint32(2**32 - 1)),
    "small_uint32": ("040000000000000001", numpy.uint32(1)),
    "small_uint64": ("04000000000000000e", numpy.uint64(14)),
    "int64": ("048000000000000000", numpy.int64(-(2**63))),
    "small_int64": ("040000000000000001", numpy.int64(1)),
    "float16": ("053fc00000", numpy.float16(1.5)),
    "float32": ("053fc00000", numpy.float32(1.5)),
    "float64": ("063ff8000000000000", numpy.float64(1.5)),
    "infinite": ("057f800000", numpy.float32("inf")),
    "str_": ("070000000161", numpy.str_("a")),
    "bytes_": ("000000000161", numpy.bytes_(b"a")),
}


@pytest.mark.parametrize("name", SCALARS)
def test_numpy_scalars_are_written_by_width(name):
    """Not by value: a small uint64 is no INT."""
    expected, scalar = SCALARS[name]
    assert tb.dumps(scalar).hex() == expected
    assert tb.dumps([scalar]).hex() == f"09{expected}ff"


def test_numpy_scalars_that_have_no_width_here():
    assert tb.loads(tb.dumps(numpy.uint64(2**63))) == 2**63
    assert tb.loads(tb.dumps(numpy.complex64(1 + 2j))) == 1 + 2j
    for scalar in (numpy.datetime64("2020-01-01"), numpy.timedelta64(1, "s"), numpy.longdouble(1), numpy.void(b"ab")):
        with pytest.raises(tb.EncodeTypeError) as caught:
            tb.dumps([scalar])
        assert caught.value.path == "[0]"


@pytest.mark.parametrize(
    "width, scalar, expected", [(32, numpy.int64(1), "0300000001"), (64, numpy.int16(1), "040000000000000001")]
)
def test_a_fixed_width_holds_for_numpy_scalars(width, scalar, expected):
    assert tb.dumps(scalar, int_width=width).hex() == expected


def test_numpy_arrays_are_written_as_npy():
    for items in (
        numpy.arange(6).reshape(2, 3),
        numpy.arange(6)[::2],
        numpy.arange(6).reshape(2, 3).T,
        numpy.array([], "f4"),
        numpy.array(5),
    ):
        found = tb.loads(tb.dumps([items]))[0]
        assert found.dtype == items.dtype
        assert found.shape == items.shape
        assert (found == items).all()
    for items in (numpy.array([None]), numpy.array([{}])):
        with pytest.raises(tb.EncodeTypeError) as caught:
            tb.dumps({"k": [items]})
        assert caught.value.path == '["k"][0]'


def test_without_numpy_nothing_is_missed():
    code = """
        import sys, typedbytes as tb
        sys.modules["numpy"] = None
        try:
            tb.dumps(object())
        except tb.EncodeTypeError as error:
            print(error)
        print(tb.loads(bytes.fromhex("6600000000")))
    """
    assert run_fresh(code).splitlines() == [
        'cannot encode an object of type object: pass default=, or pickle="trust" for your own data',
        "Ext(102, b'')",
    ]


# -- default= ---------------------------------------------------------------------------------------------


def test_default_is_asked_only_for_what_has_no_code():
    asked = []

    def default(obj):
        asked.append(obj)
        return repr(obj)

    value = [1, "a", None, {1: (b"b", 2.5)}, {3}, 2**70, bytearray(b"c"), range(3), {range(2): {}}]
    found = tb.loads(tb.dumps(value, default=default))
    assert asked == [range(3), range(2)]
    assert found == [1, "a", None, {1: (b"b", 2.5)}, {3}, 2**70, b"c", "range(0, 3)", {"range(0, 2)": {}}]


def test_default_is_asked_for_more_with_pickle_off():
    assert tb.loads(tb.dumps([None, {1}], default=repr, pickle="raw")) == ["None", "{1}"]


@pytest.mark.parametrize(
    "default", [lambda obj: obj, lambda obj: type("New", (), {})(), lambda obj: [obj], lambda obj: {1: obj}]
)
def test_a_default_that_comes_to_no_end_is_stopped(default):
    encoder = tb.Encoder(default=default)
    with pytest.raises(tb.EncodeValueError):
        encoder.encode([object()])
    assert encoder.encode(1) == ONE


@pytest.mark.parametrize(
    "error", [ValueError("odd"), StopIteration(), KeyboardInterrupt(), RecursionError(), GeneratorExit()]
)
def test_what_default_raises_goes_through(error):
    def default(obj):
        raise error

    encoder = tb.Encoder(default=default)
    for use in (encoder.encode, lambda thing: encoder.encode_into(thing, bytearray())):
        for thing in (object(), [1, {"k": object()}], {object(): 1}):
            with pytest.raises(type(error)) as caught:
                use(thing)
            assert caught.value is error
    assert encoder.encode([[1]]) == tb.dumps([[1]])


def test_default_may_use_the_encoder_and_others():
    def default(obj):
        return [encoder.encode([1]), tb.loads(tb.dumps({"a": 1}))]

    encoder = tb.Encoder(default=default)
    assert tb.loads(encoder.encode([object(), 2])) == [[tb.dumps([1]), {"a": 1}], 2]


def test_default_that_calls_itself_for_ever_is_a_recursion_error():
    code = """
        import typedbytes as tb
        def default(obj):
            return tb.dumps([obj], default=default)
        try:
            tb.dumps(object(), default=default)
        except RecursionError:
            print("stopped")
    """
    assert run_fresh(code) == "stopped"


# -- Encoder ----------------------------------------------------------------------------------------------

VALUES = [1, "a", [1.5, None], {"k": (b"x" * 1000,)}, "y" * 100_000]


def test_all_ways_to_encode_give_the_same():
    encoder = tb.Encoder()
    whole = b"".join(map(tb.dumps, VALUES))
    assert encoder.encode_all(VALUES) == whole
    assert encoder.encode_all(iter(VALUES)) == whole
    assert encoder.encode_pairs(zip(VALUES, VALUES)) == b"".join(tb.dumps(value) * 2 for value in VALUES)
    assert encoder.encode_pairs([[1, 2]]) == tb.dumps(1) + tb.dumps(2)
    assert (encoder.encode_all([]), encoder.encode_pairs(())) == (b"", b"")
    for value in VALUES:
        target = bytearray()
        assert encoder.encode_into(value, target) == len(target)
        assert target == encoder.encode(value) == tb.dumps(value)


SMALL_SCALARS = [
    7,
    -(2**40),
    2**63,
    -(2**70),
    2**127,
    2**200,
    1.5,
    True,
    b"bytes",
    "text",
    "\u0411",
    bytearray(b"array"),
    None,
    [],
    (),
    {},
]


def small_containers():
    """Yield containers as small as those that are encoded at once, and somewhat larger ones."""
    for count in range(20):
        for scalar in SMALL_SCALARS:
            items = [1] * (count - 1) + [scalar]
            yield from (items, tuple(items), dict(enumerate(items)))
    for nbytes in range(480, 530):  # 512 are as many as are written at once
        yield from (
            ["x" * nbytes],
            ("x" * nbytes,),
            {"": b"x" * nbytes},
            ["x" * (nbytes - 9), 1.5],
            {b"x" * nbytes: True},
        )


@pytest.mark.parametrize(
    "options", [{}, {"int_width": 64}, {"sort_keys": True}, {"max_depth": 1}, {"pickle": "raw"}, {"dialect": "hive"}]
)
def test_small_containers_are_written_as_in_a_stream_and_by_the_reference(options):
    encoder = tb.Encoder(**options)
    for value in [*SMALL_SCALARS, *small_containers()]:
        expected = outcome(reference.dumps, value, **options)
        assert outcome(encoder.encode, value) == expected
        assert outcome(lambda value: encoder.encode_all([value]), value) == expected


@pytest.mark.parametrize("options", [{}, {"max_depth": 1}, {"max_depth": 2}, {"pickle": "raw"}, {"dialect": "hive"}])
def test_points_in_a_list_are_written_as_the_reference_writes_them(options):
    for count in range(7):
        point = [number / 3 for number in range(count)]
        others = [
            [*point[:at], other, *point[at:]] for at in range(count + 1) for other in (1, None, "x", [], Float(2.5))
        ]
        for each in (point, *others):
            for value in ([each], [each, each], [1, each, "x"], {"at": each}, (each,), [[each]]):
                assert outcome(tb.dumps, value, **options) == outcome(reference.dumps, value, **options)


@pytest.mark.parametrize("number", [2**63, 2**64 - 1, -(2**63) - 1, 2**127 - 1, -(2**127), 2**128 - 1])
def test_wide_ints_among_others_in_a_list_are_written_as_the_reference_writes_them(number):
    for count in (2, 3, 100, 2000):
        for value in ([number] * count, [1, number] * count, [1] * count + [number] * count, [number, 2**300] * count):
            assert tb.dumps(value) == reference.dumps(value)
        mixed = [each for each in (2**64 - 1, 2**63, number, True, 2**63 - 1, 1.5) for _ in range(count)]
        assert tb.dumps(mixed) == reference.dumps(mixed)
        assert outcome(tb.dumps, mixed, pickle="raw") == outcome(reference.dumps, mixed, pickle="raw")


@pytest.mark.parametrize("kind", ["é", "название", "名前", "\U0001f600"])
def test_keys_that_repeat_are_written_as_the_reference_writes_them(kind):
    names = [f"{kind} {number}" * repeats for number in range(9) for repeats in (1, 100)]
    records = [dict.fromkeys(names, number) for number in range(4)]
    assert tb.dumps(records) == reference.dumps(records)
    assert [tb.dumps(record) for record in records] == [reference.dumps(record) for record in records]


def test_a_key_with_a_lone_surrogate_fails_each_time():
    key = "ключ \udc80"
    expected = b"".join((b"\x0a\0\0\0\1\x07\0\0\0\x0a", key.encode("utf-8", "surrogateescape"), tb.dumps(1)))
    for _ in range(4):
        with pytest.raises(tb.EncodeValueError, match="lone surrogate"):
            tb.dumps({key: 1})
        assert tb.dumps({key: 1}, unicode_errors="surrogateescape") == expected


def test_only_texts_that_come_again_soon_keep_their_utf8():
    """sys.getsizeof counts the UTF-8 that a str keeps."""
    key, value, once, long = (text.encode().decode() for text in ("ключ", "слово", "раз", "длинный " * 100))
    names = [f"имя {number}" for number in range(50_000)]
    sizes = {text: sys.getsizeof(text) for text in (key, value, once, long, *names)}
    # so many that the encoder looks at them, whatever came before
    tb.dumps([{key: value, "long": long}] * 20_000 + [once])
    tb.dumps([dict.fromkeys(names), names] * 3)
    keeps = not sysconfig.get_config_var("Py_GIL_DISABLED")
    assert [sys.getsizeof(text) > sizes[text] for text in (key, value, once, long)] == [keeps, keeps, False, False]
    assert sum(sys.getsizeof(name) != sizes[name] for name in names) < len(names) / 20


@given(
    st.lists(
        st.sampled_from(["", "a", "ascii", "\xe9", "\u0436" * 7, "\u4e2d\u6587 " * 90, "\U0001f600", "long " * 200])
        | st.text()
        | st.sampled_from([1, None, b"raw", Named.A]),
        max_size=70,
    )
)
def test_texts_in_a_row_are_written_as_each_alone(items):
    alone = [tb.dumps(item) for item in items]
    for _ in range(3):  # a text that comes again has its UTF-8
        assert tb.dumps(items) == b"\x09" + b"".join(alone) + b"\xff"
        assert tb.dumps(tuple(items)) == b"\x08" + len(items).to_bytes(4, "big") + b"".join(alone)


def test_a_lone_surrogate_after_texts_in_a_row_is_refused_where_it_is():
    for count in range(1, 20):
        with pytest.raises(tb.EncodeError, match=rf"at \[{count}\]"):
            tb.dumps([*(["text"] * count), "\ud800", "text"])


def test_texts_at_an_address_that_was_freed_are_written_as_they_are():
    for number in range(20_000):
        text = f"слово {number % 7000:05}"
        assert tb.dumps(text)[5:] == text.encode()
        del text


@pytest.mark.parametrize("options", [{}, {"pickle": "raw"}, {"dialect": "hive"}])
def test_bools_and_none_among_one_another_are_written_and_read_as_the_reference_does(options):
    random = Random(1)
    for length in (*range(1, 12), 70, 3000):
        for choices in ((True, None), (None, False, True), (None, True, 1), (None, 2**64 - 1, False), (None,)):
            for value in (random.choices(choices, k=length), (list(choices) * length)[:length]):
                for each in (value, tuple(value)):
                    assert outcome(tb.dumps, each, **options) == outcome(reference.dumps, each, **options)
    data = reference.dumps([True, None, None, False, 1] * 20)
    for options in ({}, {"exact": True}, {"pickle": "raw"}):
        assert tb.loads(data, **options) == reference.loads(data, **options)


@pytest.mark.parametrize("wrong", [5, None, [1], [(1,)], [(1, 2, 3)], [None]])
def test_what_is_not_an_iterable_of_pairs_is_refused(wrong):
    with pytest.raises((TypeError, ValueError)):
        tb.Encoder().encode_pairs(wrong)


def test_an_encoder_is_as_new_after_each_failure():
    encoder = tb.Encoder()
    bad = [
        object(),
        [[[object()]]],
        {"k": {object(): 1}},
        "\udc80",
        [2**70, ["\udc80"]],
        nested(300, "list"),
        tb.Float(1e300),
    ]
    for wrong in bad:
        for use in (
            encoder.encode,
            lambda value: encoder.encode_all([1, value]),
            lambda value: encoder.encode_pairs([(1, value)]),
        ):
            with pytest.raises(tb.EncodeError):
                use(wrong)
            assert encoder.encode(nested(256, "list")) == b"\x09" * 256 + b"\xff" * 256
            assert encoder.encode_all(VALUES) == tb.Encoder().encode_all(VALUES)


def test_encode_into_writes_at_the_offset_and_leaves_the_rest():
    encoder = tb.Encoder()
    for target in (
        bytearray(b"." * 10),
        memoryview(bytearray(b"." * 10)),
        array.array("B", b"." * 10),
        mmap.mmap(-1, 10),
    ):
        memoryview(target)[:] = b"." * 10
        assert encoder.encode_into(True, target, 3) == 2
        assert bytes(target) == b"...\2\1....."
    assert encoder.encode_into(True, numpy.zeros(3, "u1"), 1) == 2


def test_encode_into_lets_a_bytearray_grow_and_nothing_else():
    encoder, target = tb.Encoder(), bytearray(b"...")
    assert (encoder.encode_into(True, target, 2), target) == (2, b"..\2\1")
    assert (encoder.encode_into(True, target, 4), target) == (2, b"..\2\1\2\1")
    view = memoryview(target)
    with pytest.raises(BufferError):
        encoder.encode_into(True, target, 6)
    view.release()
    for offset in (7, -1, sys.maxsize // 2 + 1, -sys.maxsize - 1):
        with pytest.raises(ValueError, match="offset"):
            encoder.encode_into(True, target, offset)
    with pytest.raises(OverflowError):
        encoder.encode_into(True, target, sys.maxsize + 1)
    for small in (memoryview(bytearray(1)), array.array("B", b"."), numpy.zeros(1, "u1")):
        with pytest.raises(ValueError, match="2 bytes do not fit"):
            encoder.encode_into(True, small)
    assert target == b"..\2\1\2\1"


@pytest.mark.parametrize("wrong", [b"bytes", memoryview(b"bytes"), "text", None, []])
def test_encode_into_needs_a_writable_buffer(wrong):
    with pytest.raises((TypeError, BufferError)):
        tb.Encoder().encode_into(True, wrong)


def test_encode_into_that_fails_leaves_the_buffer():
    target = bytearray(b"....")
    for wrong in (object(), [1, "\udc80"]):
        with pytest.raises(tb.EncodeError):
            tb.Encoder().encode_into(wrong, target, 2)
    assert target == b"...."


def test_encode_into_what_is_encoded():
    target = bytearray(b"abc")
    assert tb.Encoder().encode_into([target, target], target, 3) == 18
    assert tb.loads(target[3:]) == [b"abc", b"abc"]


# -- sort_keys --------------------------------------------------------------------------------------------


def test_sorted_entries_are_in_the_order_of_their_encoded_keys():
    keys = ["b", "a", 1, -1, 2.5, b"a", (1, 2), "aa", False, 2**40, None, 10**30, (1,)]
    encoded = tb.dumps({key: [key] for key in keys}, sort_keys=True)
    found = list(tb.loads(encoded))
    assert found == sorted(keys, key=tb.dumps)
    for order in (keys[::-1], sorted(keys, key=repr)):
        assert tb.dumps({key: [key] for key in order}, sort_keys=True) == encoded


def test_maps_within_values_and_keys_are_sorted_too():
    one, two = {"x": 1, "y": {"p": 1, "q": 2}}, {"y": {"q": 2, "p": 1}, "x": 1}
    assert tb.dumps([one], sort_keys=True) == tb.dumps([two], sort_keys=True)
    assert tb.dumps([one]) != tb.dumps([two])


@pytest.mark.parametrize("npairs", [0, 1, 5, 6, 100, 200, 300])
def test_a_dict_is_written_as_its_items_come_whatever_its_table_is(npairs):
    """The interpreter has tables of several kinds, with gaps where pairs were removed."""
    texts = {f"key {number}": number for number in range(npairs)}
    mixed = {**texts, npairs: None}
    dicts = [texts, mixed, {**texts}, dict(mixed), dict.fromkeys(range(npairs))]
    for n, each in enumerate(dicts):
        assert tb.dumps(each) == reference.dumps(dict(list(each.items())))
        for key in {*list(each)[n % 2 :: 3], *list(each)[-2:]}:
            del each[key]
        assert tb.dumps(each) == reference.dumps(dict(list(each.items())))
        each["last"] = n
        assert tb.dumps(each) == reference.dumps(dict(list(each.items())))
        each.clear()
        assert tb.dumps(each) == reference.dumps({})


def test_a_dict_of_many_keys_is_written_as_its_items_come():
    many = {f"key {number}": True for number in range(45_000)}  # whose places in the table take four bytes
    del many["key 1"]
    assert tb.dumps(many) == reference.dumps(dict(list(many.items())))


def test_attributes_that_instances_share_are_written_in_their_order():
    class Record:
        """Instances share their keys; here one lacks a value, and one has them in another order."""

    records = [Record() for _ in range(3)]
    for record in records:
        record.a, record.b, record.c = 1, 2, 3
    del records[1].b
    del records[2].a
    records[2].a = 4
    for record in records:
        assert tb.dumps(vars(record)) == reference.dumps(dict(list(vars(record).items())))


def test_sorting_does_not_touch_the_dict():
    for kind in (dict, collections.OrderedDict):
        items = kind.fromkeys("cab")
        tb.dumps(items, sort_keys=True)
        assert list(items) == ["c", "a", "b"]


def test_entries_with_equal_keys_stay_in_their_order():
    items = Lying([("b", 1), ("a", 2), ("b", 3), ("a", 4)])
    assert tb.loads(tb.dumps(items, sort_keys=True), map_pairs=True) == [("a", 2), ("a", 4), ("b", 1), ("b", 3)]


# -- strings, options, threads ----------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["\ud800", "a\udfff", "\u20ac" * 100 + "\udc80", "\U0001f600\ud83d"])
def test_lone_surrogates_follow_unicode_errors(text):
    for value in (text, [text], {text: 1}, {1: text}, Str(text)):
        with pytest.raises(tb.EncodeValueError):
            tb.dumps(value)
    for errors in ("surrogatepass", "replace", "ignore", "backslashreplace"):
        data = text.encode("utf-8", errors)
        assert tb.dumps(text, unicode_errors=errors) == b"\7" + len(data).to_bytes(4, "big") + data


HANDLER_RESULTS = {
    "bytes": (lambda error: (b"\xff", error.end), b"\xff"),
    "str": (lambda error: ("?", error.end), b"?"),
    "not_ascii": (lambda error: ("\u20ac", error.end), b"\xe2\x82\xac"),
}

WRONG_HANDLERS = {
    "nothing": lambda error: None,
    "no_place": lambda error: "?",
    "far": lambda error: ("?", 10**9),
    "surrogate": lambda error: ("\udc80", error.end),
    "raises": lambda error: {}["k"],
}


@pytest.fixture
def handler(request):
    """Return a function that registers an error handler under a name of the test's own."""

    def register(function):
        name = f"typedbytes_test_{len(request.node.nodeid)}"
        codecs.register_error(name, function)
        return name

    return register


@pytest.mark.parametrize("name", HANDLER_RESULTS)
def test_an_error_handler_of_the_callers_own(name, handler):
    function, expected = HANDLER_RESULTS[name]
    try:
        "\udc80".encode("utf-8", handler(function))
    except UnicodeEncodeError:
        with pytest.raises(tb.EncodeValueError):
            tb.dumps("a\udc80", unicode_errors=handler(function))
    else:
        assert tb.dumps("a\udc80", unicode_errors=handler(function))[5:] == b"a" + expected


@pytest.mark.parametrize("name", WRONG_HANDLERS)
def test_an_error_handler_that_errs(name, handler):
    with pytest.raises((tb.EncodeValueError, TypeError, IndexError, KeyError)):
        tb.dumps("a\udc80", unicode_errors=handler(WRONG_HANDLERS[name]))


@pytest.mark.parametrize(
    "options, error",
    [
        ({"int_width": 16}, ValueError),
        ({"int_width": "32"}, ValueError),
        ({"pickle": "unsafe"}, ValueError),
        ({"pickle": None}, ValueError),
        ({"default": 5}, TypeError),
        ({"dialect": "java"}, ValueError),
        ({"max_depth": -1}, ValueError),
        ({"max_depth": 2**31}, ValueError),
        ({"max_depth": 10**30}, ValueError),
        ({"max_depth": "deep"}, TypeError),
        ({"max_depth": 2.5}, TypeError),
        ({"unicode_errors": "no_such_handler"}, LookupError),
        ({"unicode_errors": None}, TypeError),
        ({"no_such_option": 1}, TypeError),
    ],
)
def test_wrong_options_are_refused(options, error):
    for use in (tb.Encoder, lambda **options: tb.dumps(1, **options)):
        with pytest.raises(error):
            use(**options)


def test_the_last_options_hold():
    encoder = tb.Encoder(int_width=64)
    encoder.__init__(int_width=32)
    assert encoder.encode(1) == ONE
    with pytest.raises(ValueError):
        encoder.__init__(int_width=5)
    assert encoder.encode(1) == ONE
    assert tb.Encoder.__new__(tb.Encoder).encode(1) == ONE


def test_threads_may_share_an_encoder():
    encoder, found = tb.Encoder(default=lambda obj: [str(obj)]), []
    expected = [encoder.encode([value, range(number)]) for number, value in enumerate(VALUES)]

    def work():
        for _ in range(50):
            found.append([encoder.encode([value, range(number)]) for number, value in enumerate(VALUES)] == expected)

    in_threads(work, [()] * 4)
    assert found == [True] * 200


def test_a_list_that_another_thread_changes_is_written_whole():
    items, stop = ["a" * 100] * 1000, threading.Event()

    def work():
        while not stop.is_set():
            items.clear()
            items.extend([["b" * 50, {"k": 2**3000}]] * 300)

    thread = threading.Thread(target=work)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        for _ in range(100):
            assert tb.count(tb.dumps(items)) == 1
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(before)


def test_a_large_output_before_does_not_weigh_on_small_ones():
    encoder = tb.Encoder()
    encoder.encode("x" * (1 << 24))
    for _ in range(2):
        assert sys.getsizeof(encoder.encode("y" * 70_000)) < 80_000
        assert sys.getsizeof(encoder.encode("y" * 700)) < 800


@pytest.mark.parametrize("value", [{1}, frozenset(), 1j, datetime.date(2020, 1, 2), decimal.Decimal("1.5")], ids=repr)
def test_a_value_type_is_pickled_as_pickle_does_on_request(value):
    encoded = tb.dumps(value, pickle="trust")
    assert (encoded[:1], pickle.loads(encoded[5:]), tb.loads(encoded)) == (b"d", value, value)


def test_encode_takes_its_argument_by_name():
    assert tb.Encoder().encode(obj=1) == tb.dumps(1)
    for arguments, named in [((), {}), ((1, 2), {}), ((), {"value": 1})]:
        with pytest.raises(TypeError):
            tb.Encoder().encode(*arguments, **named)


class Seeming:
    """Be an object that says it is an array, as proxies do."""

    def __init__(self, array):
        self.array = array

    @property
    def __class__(self):
        return type(self.array)

    def __getattr__(self, name):
        return getattr(self.array, name)


def test_every_object_of_a_class_is_written_as_the_first():
    """What a class is, is found once: this does not hold for objects that say by themselves what they are."""
    items = collections.OrderedDict(a=1, b=2)
    items.move_to_end("a")
    for unusual, plain in [*UNUSUAL.values(), (items, {"b": 2, "a": 1})]:
        expected = tb.dumps(unusual)
        assert tb.dumps([unusual] * 3) == b"\x09" + expected * 3 + b"\xff"
        assert list(tb.loads(expected)) == list(plain) if isinstance(plain, dict) else True
    for expected, scalar in SCALARS.values():
        assert tb.dumps([scalar] * 3).hex() == f"09{expected * 3}ff"
    encoder = tb.Encoder(default=lambda obj: "replaced")
    assert encoder.encode_all([Seeming(1), Seeming(numpy.ones(2)), object(), object()]) == (
        tb.dumps("replaced") + tb.dumps(numpy.ones(2)) + 2 * tb.dumps("replaced")
    )


def test_an_ordered_dict_is_sorted_too():
    items = collections.OrderedDict([("bb", 1), ("c", 2), ("a", 3), ("\u00e9", 4)])
    assert list(tb.loads(tb.dumps(items, sort_keys=True))) == ["a", "c", "bb", "\u00e9"]
    assert tb.dumps(collections.Counter(items), sort_keys=True) == tb.dumps(dict(items), sort_keys=True)


class Doubling(collections.OrderedDict):
    """Whose items are others than those that the dict in it has."""

    def __getitem__(self, key):
        return 2 * super().__getitem__(key)


@pytest.mark.parametrize("kind", [collections.OrderedDict, type("Own", (collections.OrderedDict,), {}), Doubling])
@given(st.lists(st.tuples(st.sampled_from(["set", "end", "start", "pop"]), st.integers(0, 9))))
def test_an_ordered_dict_is_written_in_its_order(kind, steps):
    ordered = kind()
    for what, key in steps:
        if what == "set":
            ordered[key] = len(ordered)
        elif key in ordered and what == "pop":
            ordered.popitem(last=False)
        elif key in ordered:
            ordered.move_to_end(key, last=what == "end")
    for options in ({}, {"sort_keys": True}):
        assert tb.dumps(ordered, **options) == tb.dumps(dict(list(ordered.items())), **options)
