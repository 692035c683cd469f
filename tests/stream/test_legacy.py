"""The drop-in names: what code written for typedbytes and ctypedbytes leans on, and where data is no longer lost.

The golden bytes were written by the originals under Python 2 (test_vectors/foreign/python2).
"""

import datetime
import decimal
import io
import json
import pickle
import struct
import sys

import pytest
from hypothesis import example, given, strategies as st

import typedbytes
from support import vectors
from support.legacy_calls import OBJECTS, READINGS, WAYS, in_both_ways, with_neutral_handler, written
from support.subprocess_runs import run_fresh
from typedbytes import _core, legacy
from typedbytes.legacy import (
    BYTES,
    INT,
    LIST,
    MAP,
    MARKER,
    PICKLE,
    STRING,
    VECTOR,
    Bytes,
    Input,
    Output,
    PairedInput,
    PairedOutput,
)

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded]


PYTHON2 = vectors.ROOT / "foreign/python2"


GOLDENS = json.loads((PYTHON2 / "goldens_py2.json").read_text("ascii"))


NAMES = {"datetime": datetime, "decimal": decimal, "struct": struct}


# The names of the originals.

ORIGINAL_NAMES = {
    Input: (
        "close eof file invalid_typecode lookup read read_bool read_byte read_bytes read_bytestring read_double "
        "read_float read_int read_list read_long read_map read_marker read_pickle read_string read_vector reads "
        "register t unicode_errors TYPECODE_HANDLER_MAP"
    ),
    Output: (
        "close file flush lookup register unicode_errors write write_array write_bool write_byte write_bytes "
        "write_bytestring write_double write_float write_int write_list write_long write_map write_pickle "
        "write_string write_unicode write_vector writes TYPE_HANDLER_MAP"
    ),
}


@pytest.mark.parametrize("cls", [Input, PairedInput, Output, PairedOutput])
def test_every_public_name_of_the_originals_is_there(cls):
    names = ORIGINAL_NAMES[Input if issubclass(cls, Input) else Output].split()
    assert set(names) <= set(dir(cls(io.BytesIO())))


def test_the_tables_of_the_originals_hold_the_methods():
    for code, method in Input.TYPECODE_HANDLER_MAP.items():
        assert method is getattr(Input, f"read_{typedbytes.TypeCode(code).name.lower()}")
    for kind, method in Output.TYPE_HANDLER_MAP.items():
        file = io.BytesIO()
        method(Output(file), kind())
        assert file.getvalue() == written(kind())


def test_a_subclass_may_have_tables_of_its_own():
    class Reversing(Input):
        TYPECODE_HANDLER_MAP = {**Input.TYPECODE_HANDLER_MAP, STRING: lambda source: source.read_string()[::-1]}

    class Shouting(PairedOutput):
        TYPE_HANDLER_MAP = {**Output.TYPE_HANDLER_MAP, str: lambda output, text: output.write_string(text.upper())}

    assert written(("key", ["value"]), cls=Shouting) == written("KEY", ["VALUE"])
    assert list(Reversing(io.BytesIO(written("abc", ["de"], 5)))) == ["cba", ["ed"], 5]


def test_a_marker_is_the_end_of_an_iteration_and_reads_nothing():
    source = Input(io.BytesIO(b"\x02\x01"))
    with pytest.raises(StopIteration):
        source.read_marker()
    assert source.read() is True


def test_an_invalid_typecode_fails_the_input():
    source = Input(io.BytesIO(b"\x02\x01\x09\x78\xff"))
    source.register(0x78, Input.invalid_typecode)
    assert source.read() is True
    for _ in range(2):
        with pytest.raises(typedbytes.FormatError, match="unknown type code 120") as caught:
            source.read()
        assert (caught.value.offset, caught.value.code) == (3, 0x78)


# What the originals' tests and bytes say.


def test_the_constants_are_the_type_codes():
    for name in legacy.__all__:
        constant = getattr(legacy, name)
        if isinstance(constant, int):
            assert constant == typedbytes.TypeCode[name]
    assert (BYTES, MAP, PICKLE, MARKER) == (0, 10, 100, 255)


@pytest.mark.parametrize("golden", GOLDENS["values"], ids=lambda golden: golden["py3"][:40])
def test_a_value_is_written_and_read_as_by_the_originals(golden):
    value = eval(golden["py3"], NAMES)
    data = bytes.fromhex(golden["typedbytes"])
    if data[0] != PICKLE or isinstance(value, (int, type(None))):
        assert written(value) == data
    for producer in ("typedbytes", "ctypedbytes", "hadoopy"):
        for way in WAYS.values():
            got = way(Input(io.BytesIO(bytes.fromhex(golden[producer])))).read()
            assert (got, type(got)) == (value, Bytes if type(value) is bytes else type(value))


@pytest.mark.parametrize("golden", GOLDENS["explicit"], ids=lambda golden: f"{golden['method']} {golden['arg']}")
def test_a_method_writes_and_reads_what_it_is_named_for(golden):
    argument, value = eval(golden["arg"]), eval(golden["value"], NAMES)
    file = io.BytesIO()
    getattr(Output(file), golden["method"])(value if isinstance(value, bytes) else argument)
    assert file.getvalue().hex() == golden["hex"]
    payload = Input(io.BytesIO(file.getvalue()[1:]))
    assert getattr(payload, golden["method"].replace("write", "read"))() == value


@in_both_ways
def test_objects_survive_a_file(tmp_path, way):
    with open(tmp_path / "objects", "wb") as file:
        way_out(way, Output(file)).writes(OBJECTS)
    with open(tmp_path / "objects", "rb") as file:
        assert list(way(Input(file))) == OBJECTS
    with open(tmp_path / "objects", "rb") as file:
        assert list(way(Input(file)).reads()) == OBJECTS


@in_both_ways
def test_pairs_survive_a_file(tmp_path, way):
    with open(tmp_path / "pairs", "wb") as file:
        way_out(way, PairedOutput(file)).writes(enumerate(OBJECTS))
    with open(tmp_path / "pairs", "rb") as file:
        assert list(way(PairedInput(file))) == list(enumerate(OBJECTS))
    with open(tmp_path / "pairs", "rb") as file:
        source = way(PairedInput(file))
        assert [source.read() for _ in OBJECTS] == list(enumerate(OBJECTS))
        assert source.read() is None and source.eof


def way_out(way, output):
    if way is with_neutral_handler:
        output.register(float, Output.write_double)
    return output


@pytest.mark.parametrize("name", ["dict_50.tb", "list_50.tb", "tuple_50.tb"])
@in_both_ways
def test_a_stream_of_the_originals_is_copied_byte_for_byte(name, way):
    data = (PYTHON2 / name).read_bytes()
    source = way(Input(io.BytesIO(data), "surrogateescape"))
    values = [value for _, value in zip(range(3), source)]
    copy = written(*values, unicode_errors="surrogateescape")
    assert len(values) == 3 and copy == data[: len(copy)] and source.file.tell() == len(copy)


class Custom:
    attribute = 234

    def __eq__(self, other):
        return type(other) is Custom


@pytest.mark.parametrize("policy", ["safe", "trust"])
def test_a_decimal_context_does_not_change_a_pickle(policy):
    file = io.BytesIO()
    with decimal.localcontext(decimal.Context(capitals=0)):
        Output(file, pickle=policy).write_pickle(decimal.Decimal("1E+100"))
    assert pickle.loads(file.getvalue()[5:]) == decimal.Decimal("1E+100") and b"1E+100" in file.getvalue()


def test_objects_of_user_defined_classes_need_trust():
    data = written("123", Custom(), pickle="trust")
    source = Input(io.BytesIO(data), pickle="trust")
    assert [source.read(), source.read().attribute] == ["123", 234]
    with pytest.raises(typedbytes.FormatError, match='pass pickle="trust"'):
        list(Input(io.BytesIO(data)))
    with pytest.raises(typedbytes.EncodeTypeError):
        written(Custom())
    assert [type(value) for value in Input(io.BytesIO(data), pickle="raw")] == [str, typedbytes.Ext]


@in_both_ways
def test_bytes_come_back_as_bytes_of_their_own_class(way):
    nested = [b"a", (b"b", {b"k": [b"v"]}), [1]]
    ((first, (second, mapping), _),) = way(Input(io.BytesIO(written(nested))))
    (key, (value,)) = next(iter(mapping.items()))
    assert {type(part) for part in (first, second, key, value)} == {Bytes}
    assert repr(first) == "Bytes(b'a')" and written(first) == written(b"a")
    ((key, value),) = way(PairedInput(io.BytesIO(written(b"k", 1))))
    assert type(key) is Bytes and value == 1


@in_both_ways
@pytest.mark.parametrize("data", [b"", b"\0", b"1", b"12", b"x" * 100, bytes(1 << 20)])
def test_bytes_of_the_class_are_whole_bytes(way, data):
    (value,) = way(Input(io.BytesIO(written(data))))
    assert (type(value), bytes(value), len(value), hash(value)) == (Bytes, data, len(data), hash(data))
    assert {data: 1}[value] == 1 and value.endswith(data) and sys.getsizeof(value) == sys.getsizeof(Bytes(data))
    if data.isdigit():
        assert int(value) == int(data)  # reads up to the zero after the bytes


@in_both_ways
def test_bytes_in_every_container_change_their_class_and_are_released_with_it(way):
    shared = b"shared"
    values = [
        b"",
        b"a",
        b"long " * 9,
        (b"in a tuple", [b"in a list", {b"key": b"value"}]),
        {shared: (shared, [shared])},
    ]
    pickled = typedbytes.dumps(typedbytes.Ext(PICKLE, pickle.dumps([shared, (shared, {"k": shared})], 2)))
    data = written(*values) + pickled
    references = sys.getrefcount(Bytes)

    def classes_in(value):
        if isinstance(value, (tuple, list, dict)):
            items = [*value, *value.values()] if isinstance(value, dict) else value
            return set().union(*map(classes_in, items))
        return {type(value)}

    found = list(way(Input(io.BytesIO(data), pickle="trust")))
    assert found == [*values, [shared, (shared, {"k": shared})]]
    assert [classes_in(value) - {str} for value in found] == [{Bytes}] * 6
    assert list(map(hash, found[:3])) == list(map(hash, values[:3]))
    del found
    assert sys.getrefcount(Bytes) == references


@pytest.mark.parametrize("read", [Input.read, lambda source: next(source.reads())])
@pytest.mark.parametrize("items", [[], [b"bytes"]], ids=["without bytes", "with bytes"])
@pytest.mark.parametrize(
    "wrap", [lambda loop: loop, lambda loop: (loop,), lambda loop: {"key": loop}], ids=["list", "tuple", "dict"]
)
def test_a_pickled_list_that_contains_itself_raises_recursion_error(read, items, wrap):
    """Py_EnterRecursiveCall fails with 1 on Python 3.11, with -1 on others."""
    loop = list(items)
    loop.append(wrap(loop))
    source = Input(io.BytesIO(typedbytes.dumps(typedbytes.Ext(PICKLE, pickle.dumps(loop, 2)))), pickle="trust")
    with pytest.raises(RecursionError):
        read(source)


def test_only_containers_with_bytes_are_copied():
    plain, mixed = [1, ("a", {2: 3.5})], [1, {b"k": 2}, ("a",)]
    assert _core.replace_bytes(plain, Bytes) is plain
    replaced = _core.replace_bytes(mixed, Bytes)
    assert replaced == mixed and replaced[2] is mixed[2] and type(next(iter(replaced[1]))) is Bytes
    assert type(next(iter(mixed[1]))) is bytes


@pytest.mark.parametrize("number", [2**31 - 1, -(2**31), 2**31, -(2**31) - 1, 2**63 - 1, -(2**63), 2**63, 2**70])
def test_ints_take_the_width_they_need(number):
    file = io.BytesIO()
    output = Output(file)
    output.write(number)
    output.write_int(number)
    half = len(file.getvalue()) // 2
    assert file.getvalue()[:half] == file.getvalue()[half:] == typedbytes.dumps(number)
    output.write_long(number)
    assert file.getvalue()[2 * half] == (100 if number >= 2**63 else 4)
    assert list(Input(io.BytesIO(file.getvalue()))) == [number] * 3


def test_text_and_bytes_both_make_a_string():
    file = io.BytesIO()
    output = Output(file)
    output.write_string("\u16a0")
    output.write_unicode("\u16a0")
    output.write_string("\u16a0".encode())
    assert file.getvalue() == typedbytes.dumps("\u16a0") * 3
    output.write_string(bytearray(b"\xff"))
    assert file.getvalue()[-6:] == b"\x07\x00\x00\x00\x01\xff"
    output.write_array(memoryview(b"\x01"))
    assert file.getvalue()[-6:] == b"\x00\x00\x00\x00\x01\x01"


@pytest.mark.parametrize(
    "method, argument, error",
    [
        ("write_byte", 128, ValueError),
        ("write_byte", 1.5, TypeError),
        ("write_int", "1", TypeError),
        ("write_int", 2.0, TypeError),
        ("write_long", None, TypeError),
        ("write_float", "1.5", TypeError),
        ("write_double", 10**400, ValueError),
        ("write_double", None, TypeError),
        ("write_bytes", "text", TypeError),
        ("write_string", 5, TypeError),
        ("write_string", "\ud800", ValueError),
        ("write_bytestring", "text", TypeError),
        ("write_pickle", Custom, TypeError),
        ("write_pickle", [1], TypeError),
        ("write", Custom, TypeError),
        ("write_list", [1, Custom], TypeError),
    ],
)
def test_a_method_refuses_what_its_type_cannot_hold(method, argument, error):
    file = io.BytesIO()
    with pytest.raises(typedbytes.EncodeError) as caught:
        getattr(Output(file), method)(argument)
    assert isinstance(caught.value, error)
    assert file.getvalue() == b""


def test_an_explicit_pickle_follows_the_policy():
    file = io.BytesIO()
    Output(file, pickle="trust").write_pickle([1])
    assert pickle.loads(file.getvalue()[5:]) == [1]
    assert Input(io.BytesIO(file.getvalue()), pickle="trust").read() == [1]
    with pytest.raises(typedbytes.EncodeTypeError):
        Output(file, pickle="raw").write_pickle(1)
    with pytest.raises(typedbytes.EncodeTypeError):
        Output(file, pickle="trust").write_pickle(lambda: None)
    with pytest.raises(ValueError):
        Output(file, pickle="maybe")


# The end of the input, and what only looks like it.


@in_both_ways
def test_none_comes_only_at_the_end(way):
    source = way(Input(io.BytesIO(written(None, 1))))
    assert (source.read(), source.eof) == (None, False)
    assert (source.read(), source.eof) == (1, False)
    assert (source.read(), source.eof) == (None, True)
    assert (source.read(), list(source), source.eof) == (None, [], True)
    assert list(way(Input(io.BytesIO(written(None, None))))) == [None, None]
    assert list(way(PairedInput(io.BytesIO(written(None, None))))) == [(None, None)]


def test_a_file_that_grows_is_read_on():
    file = io.BytesIO(b"\x02\x01")
    source = Input(file)
    assert list(source) == [True]
    file.write(b"\x02\x00")
    file.seek(2)
    assert (source.read(), source.eof) == (False, False)


def outcome(read):
    try:
        return list(read())
    except typedbytes.DecodeError as error:
        return type(error), error.offset, error.code


MALFORMED = [
    b"\xff", b"\x0b\x00\x00", b"\x02\x01\xc9", b"\x08\xff\xff\xff\xff", b"\x0a\x80\x00\x00\x00",
    b"\x08\x00\x00\x00\x02\x02\x01\xff", b"\x08\x7f\xff\xff\xff\x0b", b"\x09\x02\x01\x07\x00\x00\x00\x01\xff\xff",
    b"\x0a\x00\x00\x00\x01\x02\x01\xff", b"\x0a\x00\x00\x00\x01\xff\x02\x01",
    b"\x0a\x00\x00\x00\x01\x02\x01\x00\xff\xff\xff\xff", b"\x64\x00\x00\x00\x10cos\ngetpid\n(tR..",
    b"\x09" * 256 + b"\x02\x01", b"\x09" * 257, b"\x08\x00\x00\x00\x01" * 257, b"\x0a\x00\x00\x00\x01\x02\x01" * 257,
]  # fmt: skip


@pytest.mark.parametrize("reading", READINGS.values(), ids=READINGS)
@in_both_ways
def test_bytes_that_are_not_a_value_raise_as_everywhere(reading, way):
    for data in MALFORMED:
        for prefix in (b"", written(1, [2.5, b"x"])):
            wanted = outcome(lambda data=data, prefix=prefix: typedbytes.Reader(prefix + data))
            source = way(Input(io.BytesIO(prefix + data)))
            assert outcome(reading(source)) == wanted, data
            with pytest.raises(wanted[0]):
                source.read()
            with pytest.raises(wanted[0]):
                list(source)


@pytest.mark.parametrize("reading", READINGS.values(), ids=READINGS)
@in_both_ways
def test_every_cut_raises_truncated(reading, way):
    objects = [1, "text", (1, 2.5), [b"x", {2: "y"}]]
    data = written(*objects)
    whole = [len(written(*objects[:n])) for n in range(len(objects) + 1)]
    for end in range(len(data)):
        got = outcome(reading(way(Input(io.BytesIO(data[:end])))))
        if end in whole:
            assert [value for value in got if value is not None] == objects[: whole.index(end)]
        else:
            assert got[:2] == (typedbytes.TruncatedError, end)


@in_both_ways
def test_a_key_without_a_value_raises(way):
    for data in (b"\x02\x01", b"\x02\x01\x02\x00\x02\x01", b"\x02\x01\x03\x00"):
        for reading in ("read", "reads"):
            wanted = outcome(lambda data=data: typedbytes.PairReader(data))
            assert outcome(READINGS[reading](way(PairedInput(io.BytesIO(data)))))[:2] == wanted[:2]


def test_deep_values_pass_up_to_the_limit():
    for data in (b"\x09" * 256 + b"\xff" * 256, b"\x08\x00\x00\x00\x01" * 255 + b"\x08\x00\x00\x00\x00"):
        value = typedbytes.loads(data)
        assert with_neutral_handler(Input(io.BytesIO(data))).read() == Input(io.BytesIO(data)).read() == value
        file = io.BytesIO()
        way_out(with_neutral_handler, Output(file)).write(value)
        assert file.getvalue() == data


@in_both_ways
def test_a_map_key_must_be_hashable(way):
    data = b"\x0a\x00\x00\x00\x01\x09\xff\x02\x01"
    with pytest.raises(typedbytes.FormatError) as caught:
        way(Input(io.BytesIO(data))).read()
    assert (caught.value.offset, caught.value.code) == (5, LIST)


def map_of(*keys):
    return b"\x0a" + struct.pack(">i", len(keys)) + b"".join(typedbytes.dumps(key) + b"\x02\x01" for key in keys)


def equal_to(number, count):
    return [number + n * sys.hash_info.modulus for n in range(count)]


def test_keys_of_one_hash_are_bounded():
    some, many = ([(number,) for number in equal_to(5, count)] for count in (512, 513))
    assert len(with_neutral_handler(Input(io.BytesIO(map_of(*some)))).read()) == 512
    with pytest.raises(typedbytes.LimitError):
        with_neutral_handler(Input(io.BytesIO(map_of(*many)))).read()


def test_keys_that_compare_slowly_are_bounded():
    decimals = [decimal.Decimal(number) for number in equal_to(5, 50)]
    assert len(with_neutral_handler(Input(io.BytesIO(map_of(*decimals)))).read()) == 50
    long = 5 + (sys.hash_info.modulus << 8 * 30_000)
    for keys in (decimals + [long], [(key,) for key in decimals + [long]]):
        with pytest.raises(typedbytes.LimitError):
            with_neutral_handler(Input(io.BytesIO(map_of(*keys)))).read()


# Handlers that read.


def test_a_handler_reads_its_payload_from_the_file():
    source = Input(io.BytesIO(b"\x78\x00\x02hi\x02\x01\x78\x00\x00"))
    source.register(0x78, lambda source: source.file.read(int.from_bytes(source.file.read(2), "big")))
    assert list(source) == [b"hi", True, b""]


def test_handlers_are_reached_inside_every_container():
    point = b"\x78\x01\x02"
    data = (
        b"\x09"
        + point
        + b"\x08\x00\x00\x00\x02"
        + point
        + point
        + b"\x0a\x00\x00\x00\x01"
        + point
        + point
        + b"\xff"
        + point
    )
    source = Input(io.BytesIO(data))
    source.register(0x78, lambda source: tuple(source.file.read(2)))
    assert list(source) == [[(1, 2), ((1, 2), (1, 2)), {(1, 2): (1, 2)}], (1, 2)]
    source = PairedInput(io.BytesIO(data))
    source.register(0x78, lambda source: tuple(source.file.read(2)))
    assert list(source) == [([(1, 2), ((1, 2), (1, 2)), {(1, 2): (1, 2)}], (1, 2))]


def test_methods_of_the_class_serve_as_handlers():
    data = written("text", ["deep"], b"raw", typedbytes.Ext(120, b"x")) + b"\x64\x00\x00\x00\x04\x80\x02N."
    source = Input(io.BytesIO(data))
    source.register(STRING, Input.read_bytes)
    source.register(BYTES, Input.read_unicode)
    source.register(120, Input.read_bytestring)
    source.register(PICKLE, Input.read_bytes)
    assert list(source) == [b"text", [b"deep"], "raw", b"x", b"\x80\x02N."]


def test_a_handler_may_replace_a_container():
    source = Input(io.BytesIO(written([1, (2, 3)])))
    source.register(VECTOR, lambda source: sum(source.read() for _ in range(source.read_int())))
    assert source.read() == [1, 5]


def test_a_handler_sees_the_code_and_may_return_none():
    source = Input(io.BytesIO(b"\x78\x79"))
    for code in (0x78, 0x79):
        source.register(code, lambda source: None if source.t == 0x78 else source.t)
    assert (source.read(), source.eof, source.read(), source.eof) == (None, False, 0x79, False)


def test_a_handler_registered_during_an_iteration_holds_from_the_next_value_on():
    source = Input(io.BytesIO(written("a", "b", "c")))
    values = []
    for value in source:
        values.append(value)
        source.register(STRING, Input.read_bytes)
    assert values == ["a", b"b", b"c"]


@pytest.mark.parametrize("error", [StopIteration, GeneratorExit, KeyError, EOFError])
def test_what_a_handler_raises_ends_no_iteration_in_silence(error):
    def handler(source):
        raise error("mine")

    for data in (b"\x78", b"\x09\x78\xff", b"\x08\x00\x00\x00\x01\x78", b"\x0a\x00\x00\x00\x01\x78\x02\x01"):
        source = Input(io.BytesIO(data))
        source.register(0x78, handler)
        with pytest.raises(error):
            source.read()
        source = Input(io.BytesIO(data))
        source.register(0x78, handler)
        with pytest.raises((error, RuntimeError)):
            list(source)


def test_an_input_goes_on_after_an_error_of_a_handler():
    source = Input(io.BytesIO(b"\x78\x02\x01"))
    source.register(0x78, lambda source: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        source.read()
    assert source.read() is True


def test_lookup_gives_the_reader_of_a_payload():
    source = Input(io.BytesIO(b"\x00\x00\x00\x05" + written("x")[1:] + written([True])[1:] + b"\x09"))
    assert source.lookup(INT)() == 5
    read_string = source.lookup(STRING)
    source.register(STRING, Input.read_bytes)
    assert read_string() == b"x"
    assert source.lookup(LIST)() == [True]
    with pytest.raises(typedbytes.FormatError):
        source.lookup(11)()


@pytest.mark.parametrize("code", [-1, 255, 256])
def test_only_codes_of_values_have_handlers(code):
    with pytest.raises(ValueError):
        Input(io.BytesIO()).register(code, Input.read_bytes)
    with pytest.raises(ValueError):
        Input(io.BytesIO()).lookup(code)


def test_a_handler_is_of_one_input_or_output_alone():
    data = b"\x78\x00\x00\x00\x01x"
    Input(io.BytesIO(data)).register(0x78, lambda source: 1 / 0)
    assert Input(io.BytesIO(data)).read() == PairedInput(io.BytesIO(data * 2)).read()[0] == typedbytes.loads(data)
    Output(io.BytesIO()).register(int, lambda output, number: 1 / 0)
    assert written(5) == typedbytes.dumps(5)


def test_a_handler_must_be_callable():
    with pytest.raises(TypeError):
        Input(io.BytesIO()).register(STRING, "read")
    with pytest.raises(TypeError):
        Output(io.BytesIO()).register(str, "write")


def test_codes_without_a_handler_are_kept():
    data = written(typedbytes.Ext(120, b"x"), typedbytes.Writable("a.B", b"y"))
    assert written(*Input(io.BytesIO(data))) == data
    assert written(*with_neutral_handler(Input(io.BytesIO(data)))) == data


# Handlers that write.


def test_a_handler_writes_its_object_to_the_file():
    file = io.BytesIO()
    output = Output(file)
    output.register(complex, lambda output, obj: output.file.write(b"\x78" + struct.pack(">dd", obj.real, obj.imag)))
    output.write(1 + 2j)
    output.writes([[1j], (1j,), {1j: 1j}, "text"])
    source = Input(io.BytesIO(file.getvalue()))
    source.register(0x78, lambda source: complex(*struct.unpack(">dd", source.file.read(16))))
    assert list(source) == [1 + 2j, [1j], (1j,), {1j: 1j}, "text"]


def test_handlers_may_replace_what_has_a_code():
    file = io.BytesIO()
    output = Output(file)
    output.register(str, lambda output, obj: output.write_bytes(obj.encode()))
    output.register(list, lambda output, obj: output.write_vector(obj))
    output.writes(["a", ["b"], {"k": ["v"]}, 1])
    assert list(Input(io.BytesIO(file.getvalue()))) == [b"a", (b"b",), {b"k": (b"v",)}, 1]


def test_only_exact_types_have_handlers():
    output = way_out(with_neutral_handler, Output(io.BytesIO()))
    output.register(int, lambda output, obj: output.write_string("int"))
    values = [True, typedbytes.Byte(5), typedbytes.Ext(120, b"x"), typedbytes.Writable("a.B", b""), vectors.Point(1, 2)]
    output.writes(values)
    assert list(Input(io.BytesIO(output.file.getvalue()))) == [True, 5, *values[2:4], ("int", "int")]
    assert output.file.getvalue().startswith(b"\x02\x01\x01\x05")


def test_lookup_gives_the_writer_of_a_type():
    output = Output(io.BytesIO())
    output.lookup(int)(5)
    write_text = output.lookup(str)
    output.register(str, lambda output, obj: output.write_bytes(obj.encode()))
    write_text("x")
    output.lookup(list)(["y"])
    assert list(Input(io.BytesIO(output.file.getvalue()))) == [5, b"x", [b"y"]]


def test_a_value_that_contains_itself_is_refused():
    loop = []
    loop.append(loop)
    for way in WAYS.values():
        with pytest.raises(typedbytes.EncodeError):
            way_out(way, Output(io.BytesIO())).write(loop)
        output = way_out(way, Output(io.BytesIO()))
        with pytest.raises(typedbytes.EncodeError):
            output.write(loop)
        before = len(output.file.getvalue())
        output.write([1])
        assert output.file.getvalue()[before:] == typedbytes.dumps([1])


def test_the_count_of_a_container_is_that_of_its_items():
    items = [1, "drop", 2]
    output = Output(io.BytesIO())
    output.register(str, lambda output, obj: (items.clear(), output.write_string(obj)))
    output.write_vector(items)
    assert Input(io.BytesIO(output.file.getvalue())).read() == (1, "drop", 2)


# Files.


def test_every_write_is_in_the_file_at_once():
    file = io.BytesIO()
    output, pairs = Output(file), PairedOutput(file)
    output.write(True)
    assert file.getvalue() == b"\x02\x01"
    pairs.write((True, False))
    assert file.getvalue() == b"\x02\x01\x02\x01\x02\x00"

    def values():
        yield 1
        assert file.getvalue().endswith(typedbytes.dumps(1))
        output.write("between")
        yield 2

    output.writes(values())
    assert file.getvalue()[6:] == typedbytes.dumps(1) + typedbytes.dumps("between") + typedbytes.dumps(2)


def test_a_failing_value_leaves_the_values_before_it():
    file = io.BytesIO()
    with pytest.raises(typedbytes.EncodeTypeError):
        Output(file).writes([1, [2, Custom()], 3])
    with pytest.raises(typedbytes.EncodeTypeError):
        PairedOutput(file).write((2, Custom()))
    assert file.getvalue() == typedbytes.dumps(1)


# Properties.

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.decimals(allow_nan=False)
)


KEYS = st.booleans() | st.integers() | st.text() | st.binary()


VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(KEYS, inner), max_leaves=12
)


@given(st.lists(VALUES, max_size=4))
def test_any_values_survive_every_way(values):
    data = b"".join(map(typedbytes.dumps, values))
    assert written(*values) == data
    for way in WAYS.values():
        output = way_out(way, Output(io.BytesIO()))
        output.writes(values)
        assert output.file.getvalue() == data
        assert list(way(Input(io.BytesIO(data)))) == values
        assert [*map(type, way(Input(io.BytesIO(data))))] == [
            Bytes if type(value) is bytes else type(value) for value in values
        ]


@given(st.binary(max_size=40))
@example(bytes.fromhex("0a00000001 09"))  # a LIST as a key, which the input does not hold whole
@example(bytes.fromhex("0a00000001 0800000001 09ff 0201"))
@example(bytes.fromhex("0a00000001 0800000001 0a000000"))
def test_random_bytes_are_judged_alike_every_way(data):
    wanted = outcome(lambda: typedbytes.Reader(data))
    for way in WAYS.values():
        got = outcome(way(Input(io.BytesIO(data))).reads)
        assert got == wanted if isinstance(wanted, tuple) else len(got) == len(wanted)


def test_a_list_may_grow_while_its_bytes_are_replaced():
    """A callback of the garbage collector has the list of a pickle that is trusted."""
    code = """
        import gc
        from typedbytes import _core
        from typedbytes.legacy import Bytes
        items = [b"x", *([b"q"] for _ in range(3000))]
        def grow(phase, _):
            gc.callbacks.clear()
            items.extend([b"more"] for _ in range(20_000))
        gc.collect()
        gc.callbacks.append(grow)
        gc.set_threshold(100)
        replaced = _core.replace_bytes(items, Bytes)
        print(len(items), {type(part) for part in [replaced[0], *(item[0] for item in replaced[1:])]})
    """
    assert run_fresh(code, flags=("-X", "dev")) == "23001 {<class 'typedbytes.legacy.Bytes'>}"
