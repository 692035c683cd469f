"""Encoding objects that are unusual or mean harm: an object comes out right, or an error names it; nothing half-done is seen."""

import array
import codecs
import collections
import ctypes
import decimal
import enum
import mmap
import sys
import textwrap
import threading
import types

import numpy
import pytest

import typedbytes as tb
from fresh import run_fresh

ONE = tb.dumps(1)

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


class List(list):
    """Be a list that iterates over something else and is of another length."""

    def __iter__(self):
        return iter("other")

    def __len__(self):
        return 99

    def __getitem__(self, index):
        return "other"


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
@pytest.mark.parametrize("place", ["alone", "list", "tuple", "value", "sorted"])
def test_unusual_objects_come_back_plain(name, place):
    unusual, plain = UNUSUAL[name]
    around = {
        "alone": lambda item: item,
        "list": lambda item: [item, 1],
        "tuple": lambda item: (1, item),
        "value": lambda item: {"a": item, "b": 1},
        "sorted": lambda item: {"b": 1, "a": item},
    }[place]
    found = tb.loads(tb.dumps(around(unusual), sort_keys=place == "sorted"))
    assert found == around(plain)
    inner = {"alone": lambda: found, "list": lambda: found[0], "tuple": lambda: found[1]}.get(place, lambda: found["a"])()
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


@pytest.mark.parametrize("width, scalar, expected", [(32, numpy.int64(1), "0300000001"), (64, numpy.int16(1), "040000000000000001")])
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
    assert run_fresh(code).splitlines() == ["cannot encode an object of type object", "Ext(102, b'')"]


# -- what is refused --------------------------------------------------------------------------------------

Thing = type("Thing", (), {"__module__": "far.away", "__repr__": lambda self: 1 / 0})
Array = type("array", (), {"__module__": "array"})
Uuid = type("UUID", (), {"__module__": "uuid"})
Index = type("Index", (), {"__index__": lambda self: 5})


REFUSED = {
    "object": object(),
    "class": object,
    "function": len,
    "module": sys,
    "generator": (number for number in [1]),
    "range": range(3),
    "mapping": types.MappingProxyType({}),
    "items": {}.items(),
    "deque": collections.deque(),
    "iterator": iter([]),
    "Ellipsis": ...,
    "repr_raises": Thing(),
    "array_by_name": Array(),
    "UUID_by_name": Uuid(),
    "ctypes": ctypes.c_int(5),
    "an_index_only": Index(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_type_code_is_named_with_its_path(name):
    thing = REFUSED[name]
    for around, path in [
        (thing, ""),
        ([1, thing], "[1]"),
        ({"k": (thing,)}, '["k"][0]'),
        ({1: {2.5: thing}}, "[1][2.5]"),
        ({'a"b\n': thing}, '["a\\"b\\n"]'),
        ({(1, "a"): [thing]}, "[(1, 'a')][0]"),
    ]:
        with pytest.raises(tb.EncodeTypeError) as caught:
            tb.dumps(around)
        assert caught.value.path == path
    with pytest.raises(TypeError, match=f"cannot encode an object of type .*{type(thing).__name__}"):
        tb.dumps(thing)


def give_up():
    """Raise as a system without memory does."""
    raise MemoryError


class NotPickled:
    """Be pickled by what the test says, or raise it."""

    def __init__(self, way):
        self.way = way

    def __reduce__(self):
        if isinstance(self.way, BaseException):
            raise self.way
        return self.way, ()


@pytest.mark.parametrize("thing", [lambda: None, NotPickled(LookupError("no")), NotPickled(tb.EncodeValueError("no", "[9]"))])
def test_what_pickle_cannot_write_is_named_with_its_path(thing):
    with pytest.raises(tb.EncodeTypeError, match="^cannot pickle an object of type .*, at \\[0\\]$") as caught:
        tb.dumps([thing], pickle="trust")
    assert caught.value.path == "[0]"


def test_memory_that_a_pickle_lacks_is_no_fault_of_the_object_or_of_the_bytes():
    for error in (MemoryError(), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            tb.dumps([NotPickled(error)], pickle="trust")
    data = tb.dumps([NotPickled(give_up)], pickle="trust")
    with pytest.raises(MemoryError):
        tb.loads(data, pickle="trust")
    assert tb.loads(tb.dumps([1])) == [1]


def test_a_key_that_cannot_be_written_is_counted():
    with pytest.raises(tb.EncodeTypeError) as caught:
        tb.dumps({"a": 1, len: 2})
    assert caught.value.path == ".key(1)"
    with pytest.raises(tb.EncodeTypeError) as caught:
        tb.dumps({"a": 1, (1, len): 2}, sort_keys=True)
    assert caught.value.path == ".key(1)[1]"


def test_a_path_of_keys_that_cannot_be_shown():
    class Key:
        def __repr__(self):
            raise LookupError

    with pytest.raises(tb.EncodeValueError) as caught:
        tb.dumps({Key(): ["\udc80"]}, default=lambda obj: "key")
    assert caught.value.path == "[<Key>][0]"


def test_a_long_path_is_shown_in_part():
    deep = len
    for number in range(100):
        deep = {f"key{number}": deep}
    with pytest.raises(tb.EncodeTypeError) as caught:
        tb.dumps(deep)
    assert caught.value.path.count("[") == 100
    assert len(str(caught.value)) < 250


OPAQUE = {
    "Ext_without_data": lambda: tuple.__new__(tb.Ext, (60, None)),
    "Ext_of_str": lambda: tuple.__new__(tb.Ext, (60, "text")),
    "Ext_of_nothing": lambda: tuple.__new__(tb.Ext, ()),
    "Ext_of_numbers": lambda: tuple.__new__(tb.Ext, (1, 2, 3)),
    "Ext_beyond_200": lambda: tuple.__new__(tb.Ext, (300, b"")),
    "Ext_of_INT": lambda: tuple.__new__(tb.Ext, (3, b"")),
    "Ext_of_MARKER": lambda: tuple.__new__(tb.Ext, (255, b"")),
    "Writable_without_data": lambda: tuple.__new__(tb.Writable, ("name", None)),
    "Writable_without_name": lambda: tuple.__new__(tb.Writable, (None, b"")),
    "Writable_of_a_name": lambda: tuple.__new__(tb.Writable, ("name",)),
    "wide_Long": lambda: int.__new__(tb.Long, 2**70),
    "wide_Byte": lambda: int.__new__(tb.Byte, 300),
    "Byte_beyond_64_bits": lambda: int.__new__(tb.Byte, 2**70),
}


@pytest.mark.parametrize("name", OPAQUE)
def test_a_value_type_forged_is_refused(name):
    for pickle in ("safe", "raw"):
        with pytest.raises(tb.EncodeValueError):
            tb.dumps([OPAQUE[name]()], pickle=pickle)


class Lying(dict):
    """Give as items what the test says."""

    def __init__(self, items):
        super().__init__(a=1)
        self.said = items

    def items(self):
        return self.said


LIES = {
    "none": [None],
    "empty": [()],
    "one": [(1,)],
    "three": [(1, 2, 3)],
    "int": [5],
    "str": ["ab"],
    "not_iterable": 5,
    "None": None,
}


@pytest.mark.parametrize("sort_keys", [False, True])
@pytest.mark.parametrize("name", LIES)
def test_items_that_lie_are_refused(name, sort_keys):
    code = f"""
        import typedbytes as tb
        class Lying(dict):
            def items(self):
                return {LIES[name]!r}
        try:
            print(tb.dumps(Lying(a=1), sort_keys={sort_keys}))
        except (TypeError, ValueError) as error:
            print("refused")
    """
    assert run_fresh(code) == "refused"


def test_items_that_are_good_pairs_are_written():
    assert tb.loads(tb.dumps(Lying(iter([("a", 1)])))) == {"a": 1}
    assert tb.loads(tb.dumps(Lying({"a": 1}.items()), sort_keys=True)) == {"a": 1}


def test_a_released_view_is_refused():
    view = memoryview(b"data")
    view.release()
    with pytest.raises(ValueError, match="released"):
        tb.dumps([view])
    pages = mmap.mmap(-1, 100)
    with pytest.raises(tb.EncodeTypeError):
        tb.dumps(pages)
    pages.close()


# -- objects that change while they are written -----------------------------------------------------------


class Changing:
    """Run something when default= is asked about it."""

    def __init__(self, change):
        self.change = change


def encode_changing(obj, **options):
    """Encode with a default that runs the change and gives 0."""
    return tb.dumps(obj, default=lambda thing: (thing.change(), 0)[1], **options)


LIST_CHANGES = {
    "clear": (lambda items: items.clear(), [0]),
    "pop": (lambda items: items.pop(), [0, "b"]),
    "shrink": (lambda items: items.__delitem__(slice(1, None)), [0]),
    "append": (lambda items: items.append("d"), [0, "b", "c", "d"]),
    "insert": (lambda items: items.insert(0, "z"), [0, 0, "b", "c"]),
    "replace": (lambda items: items.__setitem__(slice(None), ["x", "y"]), [0, "y"]),
    "reverse": (lambda items: items.reverse(), None),
}


@pytest.mark.parametrize("name", LIST_CHANGES)
def test_a_list_that_changes_is_written_whole(name):
    change, expected = LIST_CHANGES[name]
    items = []
    calls = []
    items += [Changing(lambda: calls or (calls.append(1), change(items))), "b", "c"]
    encoded = encode_changing(items)
    assert tb.count(encoded) == 1
    if expected is not None:
        assert tb.loads(encoded) == expected


DICT_CHANGES = {
    "clear": lambda items: items.clear(),
    "delete": lambda items: items.__delitem__("b"),
    "add": lambda items: items.update(z=1),
    "grow": lambda items: items.update(dict.fromkeys(range(100))),
    "swap": lambda items: (items.pop("b"), items.update(y=1)),
    "replace": lambda items: items.update(b=[1]),
    "all_new": lambda items: (items.clear(), items.update(x=1, y=2, z=3)),
}


@pytest.mark.parametrize("sort_keys", [False, True])
@pytest.mark.parametrize("where", ["key", "value", "nested"])
@pytest.mark.parametrize("name", DICT_CHANGES)
def test_a_dict_that_changes_is_written_whole_or_refused(name, where, sort_keys):
    items, calls = {}, []
    changing = Changing(lambda: calls or (calls.append(1), DICT_CHANGES[name](items)))
    if where == "key":
        items[changing] = 5
    else:
        items["a"] = [changing] if where == "nested" else changing
    items.update(b=2, c=3)
    try:
        encoded = encode_changing(items, sort_keys=sort_keys)
    except RuntimeError as error:
        assert "changed" in str(error)
    else:
        assert tb.count(encoded) == 1
        assert len(tb.loads(encoded, map_pairs=True)) == 3


EXPORTERS = {
    "bytearray": (lambda: bytearray(b"data"), lambda held: held.extend(bytes(10**6))),
    "cleared": (lambda: bytearray(b"data"), lambda held: held.clear()),
    "array": (lambda: array.array("B", b"data"), lambda held: held.extend(bytes(10**6))),
    "released": (lambda: memoryview(bytearray(b"data")), lambda held: held.release()),
}


@pytest.mark.parametrize("name", EXPORTERS)
def test_memory_that_changes_before_and_after_it_is_written(name):
    make, change = EXPORTERS[name]
    held = make()
    after = encode_changing([held, Changing(lambda: change(held))])
    assert after == tb.dumps([b"data", 0])
    held = make()
    if name == "released":
        with pytest.raises(ValueError, match="released"):
            encode_changing([Changing(lambda: change(held)), held])
    else:
        before = encode_changing([Changing(lambda: change(held)), held])
        assert before == tb.dumps([0, bytes(held)])


def test_a_dict_subclass_that_changes_is_written_as_it_was():
    items = collections.OrderedDict()
    items["a"] = Changing(items.clear)
    items["b"] = [1]
    assert tb.loads(encode_changing(items)) == {"a": 0, "b": [1]}


ERROR_HANDLERS = """
    import codecs, gc, sys, typedbytes as tb
    held = {held}
    def handler(error):
        held.clear()
        gc.collect()
        fresh = ["x%d" % number * 9 for number in range(5000)]
        if {raises}:
            raise error
        error.object = "other"
        return "?", error.end
    codecs.register_error("clearing", handler)
    {fill}
    try:
        print(len(tb.dumps(held, unicode_errors="clearing")) > 0)
    except (tb.EncodeValueError, RuntimeError, IndexError) as error:
        print(True)
"""


@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize(
    "held, fill",
    [
        ("{}", "held['key%d' % sys.maxsize] = chr(0xdc80) * 100"),
        ("{}", "held[chr(0xdc80) * 100] = 'value%d' % sys.maxsize"),
        ("{}", "held[chr(0xdc80) * 100] = 2 ** 70 + sys.maxsize"),
        ("[]", "held.append('a' * 1000 + chr(0xdc80) * 1000); held.append('b' * sys.getrecursionlimit())"),
        ("{}", "held['a%d' % sys.maxsize] = {'b%d' % sys.maxsize: chr(0xdc80) * 100}"),
    ],
)
def test_an_error_handler_that_clears_what_is_written_harms_nothing(held, fill, raises):
    assert run_fresh(ERROR_HANDLERS.format(held=held, fill=fill, raises=raises)) == "True"


@pytest.mark.parametrize("fill", ["held[2 ** 5000] = ('v%d' % sys.maxsize) * 100", "held['k%d' % sys.maxsize] = 2 ** 5000"])
def test_a_trace_function_that_clears_what_is_written_harms_nothing(fill):
    code = f"""
        import sys, typedbytes as tb
        tb.dumps(2 ** 5000)
        held = {{}}
        def trace(*_):
            held.clear()
            fresh = [("x%d" % number) * 99 for number in range(2000)]
        {fill}
        sys.setprofile(trace)
        try:
            tb.dumps(held)
        except RuntimeError:
            pass
        sys.setprofile(None)
        print(len(held))
    """
    assert run_fresh(code) == "0"


@pytest.mark.parametrize("method", ["encode", "encode_all", "encode_pairs", "encode_into", "write", "sorted"])
def test_a_hook_that_makes_its_encoder_anew_harms_nothing(method):
    code = f"""
        import io, typedbytes as tb
        class Hook:
            def __call__(self, obj):
                try:
                    encoder.__init__(*arguments, unicode_errors="replace")
                except RuntimeError:
                    pass
                fresh = [Hook() for _ in range(1000)]
                return 5
        things, arguments = [object() for _ in range(4)], []
        if {method!r} == "write":
            arguments = [io.BytesIO()]
            encoder = tb.Writer(*arguments, default=Hook())
            encoder.write(things)
            encoder.close()
        else:
            encoder = tb.Encoder(default=Hook(), sort_keys=True)
            dict(
                encode=lambda: encoder.encode(things),
                encode_all=lambda: encoder.encode_all(things),
                encode_pairs=lambda: encoder.encode_pairs(zip(things, things)),
                encode_into=lambda: encoder.encode_into(things, bytearray(100)),
                sorted=lambda: encoder.encode(dict.fromkeys(things, things)),
            )[{method!r}]()
        print("done")
    """
    assert run_fresh(code) == "done"


# Over the true number of items or characters, which is after the head of all objects, one is written that would not fit
# into memory here. To look at any of the items that are not there would be the end.
FORGED = {
    "bytes": "bytes(100)",
    "ascii": "'a' * 100 + str(number)",
    "latin": "chr(233) * 100 + str(number)",
    "wide": "chr(0x20ac) * 100 + str(number)",
    "tuple": "(number,) * 100",
    "dict": "{number: number, -1: 1}",
}


@pytest.mark.parametrize("name", FORGED)
@pytest.mark.parametrize("count", [2**31, 2**32, 2**32 + 5, 2**62])
def test_what_is_too_long_is_refused_before_it_is_looked_at(name, count):
    code = f"""
        import ctypes, gc, typedbytes as tb
        gc.disable()
        number = 10**6
        thing = {FORGED[name]}
        length = ctypes.c_ssize_t.from_address(id(thing) + object.__basicsize__)
        encoder, target, true_length = tb.Encoder(), bytearray(), length.value
        for use in (encoder.encode, lambda thing: encoder.encode_into(thing, target), lambda thing: encoder.encode([1, thing])):
            length.value = {count}
            try:
                use(thing)
            except tb.EncodeValueError as error:
                said = str(error)
                path = error.path
            else:
                said = "written"
            length.value = true_length
            print(repr(path), said, len(target), encoder.encode(1) == tb.dumps(1))
    """
    for line, path in zip(run_fresh(code).splitlines(), ["", "", "[1]"]):
        assert line.startswith(repr(path))
        assert f" of {count} is longer than 2^31-1" in line
        assert line.endswith(" 0 True")


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


@pytest.mark.parametrize("default", [lambda obj: obj, lambda obj: type("New", (), {})(), lambda obj: [obj], lambda obj: {1: obj}])
def test_a_default_that_comes_to_no_end_is_stopped(default):
    encoder = tb.Encoder(default=default)
    with pytest.raises(tb.EncodeValueError):
        encoder.encode([object()])
    assert encoder.encode(1) == ONE


@pytest.mark.parametrize("error", [ValueError("odd"), StopIteration(), KeyboardInterrupt(), RecursionError(), GeneratorExit()])
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


# -- cycles, depth, small stacks --------------------------------------------------------------------------


def nested(depth, kind):
    """Return containers of a kind within one another."""
    value = {"list": [], "tuple": (), "dict": {}, "subclass": List(), "OrderedDict": collections.OrderedDict()}[kind]
    for _ in range(depth - 1):
        value = {
            "list": [value],
            "tuple": (value,),
            "dict": {"k": value},
            "subclass": List([value]),
            "OrderedDict": collections.OrderedDict(k=value),
        }[kind]
    return value


KINDS = ["list", "tuple", "dict", "subclass", "OrderedDict"]


@pytest.mark.parametrize("sort_keys", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_depth_is_counted_alike_for_all_containers(kind, sort_keys):
    encoder = tb.Encoder(max_depth=256, sort_keys=sort_keys)
    encoded = encoder.encode(nested(256, kind))
    assert tb.skip(encoded) == len(encoded)
    tb.loads(encoded)
    for depth in (257, 300):
        with pytest.raises(tb.EncodeValueError, match="max_depth=256"):
            encoder.encode(nested(depth, kind))
    with pytest.raises(tb.EncodeValueError, match="max_depth=0"):
        tb.dumps(nested(1, kind), max_depth=0)


@pytest.mark.parametrize("kind", ["list", "dict", "subclass", "OrderedDict", "tuple", "key"])
def test_what_holds_itself_is_refused(kind):
    cycle = {
        "list": [],
        "dict": {},
        "subclass": List(),
        "OrderedDict": collections.OrderedDict(),
        "tuple": ([],),
        "key": {},
    }[kind]
    if kind == "tuple":
        cycle[0].append(cycle)
    elif kind == "key":
        cycle[(1, "k")] = (cycle,)
    elif isinstance(cycle, list):
        list.append(cycle, cycle)
    else:
        cycle["k"] = cycle
    encoder = tb.Encoder()
    for _ in range(3):
        with pytest.raises(tb.EncodeValueError, match="deeper"):
            encoder.encode([cycle])
    assert encoder.encode(1) == ONE


STEPS = {"list": "[value]", "tuple": "(value,)", "dict": "{'k': value}", "value_of_key": "{(1, 'k'): value}"}
USES = {
    "encode": "tb.dumps(value)",
    "encode_sorted": "tb.dumps(value, sort_keys=True)",
    "encode_too_deep": "tb.dumps([[value]])",
    "decode": "tb.loads(encoded)",
    "decode_exact": "tb.loads(encoded, exact=True)",
    "decode_pairs": "tb.loads(encoded, map_pairs=True)",
    "decode_bad": "tb.loads(encoded[:-1] + b'\\x0b')",
    "skip": "tb.skip(encoded)",
}


def run_on_a_stack(nkibibytes, prepare, work, *arguments):
    """Run `prepare`, then `work` in a thread with a stack of that size; return what was printed."""
    lines = [
        "import sys, threading, typedbytes as tb",
        textwrap.dedent(prepare),
        "def work():",
        textwrap.indent(textwrap.dedent(work), "    "),
        f"threading.stack_size({nkibibytes} * 1024)",
        "thread = threading.Thread(target=work)",
        "thread.start()",
        "thread.join()",
    ]
    return run_fresh("\n".join(lines), *arguments)


@pytest.mark.parametrize("step", STEPS)
def test_the_deepest_values_on_a_stack_of_128_kib(step):
    prepare = f"""
        value = 1
        for _ in range(255):
            value = {STEPS[step]}
        encoded = tb.dumps(value)
    """
    work = """
        try:
            eval(sys.argv[1])
        except (tb.DecodeError, tb.EncodeValueError):
            pass
        print(True)
    """
    for name, use in USES.items():
        assert run_on_a_stack(128, prepare, work, use) == "True", name


def test_a_deep_key_on_a_stack_of_128_kib():
    prepare = """
        key = ()
        for _ in range(254):
            key = (key,)
        encoded = b"\\x0a\\0\\0\\0\\2" + (tb.dumps(key) + tb.dumps(True)) * 2
    """
    assert run_on_a_stack(128, prepare, "print(len(tb.loads(encoded)))") == "1"


def test_a_million_items_are_let_go_on_a_stack_of_128_kib():
    prepare = "encoded = tb.dumps([[number, (number,)] for number in range(250_000)])"
    work = """
        value = tb.loads(encoded)
        del value[:]
        print(tb.loads(encoded) is not None)
    """
    assert run_on_a_stack(128, prepare, work) == "True"


def test_a_default_that_nests_on_a_stack_of_256_kib():
    work = """
        try:
            tb.dumps(object(), default=lambda obj: [[[obj]]])
        except tb.EncodeValueError:
            print(True)
    """
    assert run_on_a_stack(256, "", work) == "True"


@pytest.mark.parametrize("kind", KINDS)
def test_a_low_recursion_limit_changes_nothing(kind):
    value, before = nested(256, kind), sys.getrecursionlimit()
    depth, frame = 0, sys._getframe()
    while frame:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(depth + 30)
    try:
        encoded = tb.dumps(value)
    finally:
        sys.setrecursionlimit(before)
    assert encoded == tb.dumps(value)


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


@pytest.mark.parametrize("wrong", [5, None, [1], [(1,)], [(1, 2, 3)], [None]])
def test_what_is_no_iterable_of_pairs_is_refused(wrong):
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


def test_encode_into_places_and_leaves_the_rest():
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
    for offset in (7, -1, 2**62, -(2**63)):
        with pytest.raises(ValueError, match="offset"):
            encoder.encode_into(True, target, offset)
    with pytest.raises(OverflowError):
        encoder.encode_into(True, target, 2**63)
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


def test_sorted_entries_stand_in_the_order_of_their_encoded_keys():
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

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
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
