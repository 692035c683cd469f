"""Arrays in the .npy format: what type code 102 holds, and every header that must be refused."""

import ast
import io
import struct
import tracemalloc
import warnings

import numpy
import pytest
from hypothesis import given, strategies as st

import typedbytes
from support.subprocess_runs import run_fresh
from typedbytes._base.npy import dumps_array, is_available, loads_array

pytestmark = [pytest.mark.every_python, pytest.mark.lowest, pytest.mark.quick]

RECORD = [("id", "<i4"), ("point", "<f8", (2, 2)), ("name", "S3")]

ARRAYS = [
    numpy.arange(6).reshape(2, 3),
    numpy.arange(6.0).reshape(2, 3).T,
    numpy.asfortranarray(numpy.arange(24, dtype="<u2").reshape(2, 3, 4)),
    numpy.arange(24).reshape(2, 3, 4)[:, ::2, ::-1],
    numpy.arange(10, dtype="i1")[::3],
    numpy.array(2.5),
    numpy.zeros((0,)),
    numpy.zeros((3, 0, 2), "f4"),
    numpy.zeros((1,) * 30),
    numpy.array([True, False]),
    numpy.arange(3, dtype=">i8"),
    numpy.array([1.5, float("nan"), -0.0], "f2"),
    numpy.ones(2, "longdouble"),
    numpy.array([1 + 2j], "c8"),
    numpy.array(["a", "\u16a0\U0001f600", ""]),
    numpy.array([b"a", b"raw\xff"]),
    numpy.array(["2020-01-01", "NaT"], "M8[D]"),
    numpy.array([3], "m8[25us]"),
    numpy.array([b"12345"], "V5"),
    numpy.zeros(2, RECORD),
    numpy.zeros(2, numpy.dtype([("a", "i1"), ("b", "f8")], align=True)),
    numpy.zeros(2, [("outer", [("inner", "i2"), ("rest", "U2")])]),
    numpy.zeros(2, [("\xe9\u20ac", "i4")]),
    numpy.zeros(2, [("quote's \"\\ \n", "i4")]),
    numpy.zeros(2, [(("a title", "name"), "i4")]),
    numpy.zeros(3, RECORD).view(numpy.recarray),
]


def array_id(array):
    return f"{array.dtype.kind}{array.shape}"[:40]


def assert_same(got, wanted):
    assert type(got) is numpy.ndarray
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    assert got.tobytes() == wanted.tobytes()


# Both directions.


@pytest.mark.parametrize("array", ARRAYS, ids=array_id)
def test_an_array_survives(array):
    assert_same(loads_array(dumps_array(array)), array)


@pytest.mark.parametrize("array", ARRAYS, ids=array_id)
def test_numpy_reads_what_we_write(array):
    loaded = numpy.load(io.BytesIO(dumps_array(array)))
    assert (loaded.dtype, loaded.shape) == (array.dtype, array.shape)
    assert repr(loaded.tolist()) == repr(array.tolist())


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("array", ARRAYS, ids=array_id)
def test_we_read_what_numpy_writes(array, version):
    file = io.BytesIO()
    if version != (3, 0) and not repr(array.dtype).isascii():
        version = (3, 0)
    numpy.lib.format.write_array(file, array, version)
    assert_same(loads_array(file.getvalue()), array)


def test_a_loaded_array_is_writable_aligned_and_owns_its_memory():
    data = dumps_array(numpy.arange(5.0))
    array = loads_array(data)
    assert array.flags.writeable and array.flags.aligned and array.flags.c_contiguous
    array[:] = 7
    assert loads_array(data).tolist() == [0, 1, 2, 3, 4]


def test_the_order_of_the_memory_is_kept():
    array = numpy.asfortranarray(numpy.arange(6).reshape(2, 3))
    assert loads_array(dumps_array(array)).flags.f_contiguous
    assert not loads_array(dumps_array(array)).flags.c_contiguous


def test_the_data_of_a_written_array_starts_on_64_bytes():
    for array in ARRAYS:
        data = dumps_array(array)
        assert (len(data) - array.nbytes) % 64 == 0


def test_the_padding_of_records_is_kept():
    dtype = numpy.dtype([("a", "i1"), ("b", "f8")], align=True)
    array = numpy.frombuffer(bytes(range(32)), dtype)
    assert loads_array(dumps_array(array)).tobytes() == bytes(range(32))


def test_numpy_is_here():
    assert is_available()


# Arrays that are not written.


@pytest.mark.parametrize(
    "array",
    [
        numpy.array([None]),
        numpy.zeros(2, [("a", "O")]),
        numpy.zeros(2, [("a", [("b", "i4"), ("c", "O")])]),
        numpy.ma.array([1, 2], mask=[False, True]),
        numpy.zeros(2, "V0"),
        numpy.zeros(2, numpy.dtype([])),
        numpy.zeros(1, [(f"field {n}", "i4") for n in range(1000)]),
        *(
            [numpy.array(["a"], numpy.dtypes.StringDType())]
            if hasattr(numpy, "dtypes") and hasattr(numpy.dtypes, "StringDType")
            else []
        ),
    ],
    ids=array_id,
)
def test_an_array_that_could_not_be_read_back_is_refused(array):
    with pytest.raises(TypeError, match="cannot write an? "):
        dumps_array(array)


# Bytes that are not read.


def refused(data):
    with warnings.catch_warnings(), pytest.raises(ValueError, match="^not an array in .npy format: ") as caught:
        warnings.simplefilter("error")
        loads_array(data)
    assert str(caught.value).isascii() and len(str(caught.value)) < 900
    return str(caught.value)


def npy(header, data=b"", version=b"\x01\x00", encoding="latin-1"):
    width = "<H" if version == b"\x01\x00" else "<I"
    header = header.encode(encoding)
    return b"\x93NUMPY" + version + struct.pack(width, len(header)) + header + data


def described(descr="'<i4'", fortran_order="False", shape="(2,)", data=b"12345678"):
    return npy(f"{{'descr': {descr}, 'fortran_order': {fortran_order}, 'shape': {shape}, }}\n", data)


def test_the_header_built_by_these_tests_is_valid():
    assert loads_array(described()).tobytes() == b"12345678"
    assert loads_array(described("[('a', '<i2'), ('', '|V2')]")).dtype.itemsize == 4


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x93NUMP",
        b"\x93NUMPY",
        b"\x93NUMPY\x01\x00",
        b"\x93NUMPX\x01\x00\x00\x00",
        b"\x93NUMPY\x04\x00\x00\x00\x00\x00",
        b"\x93NUMPY\x01\x01\x00\x00",
        b"\x93NUMPY\x01\x00\xff\xff{}",
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}",
        b"\x93NUMPY\x02\x00\xff\xff\xff\x7f{}",
        b"\x93NUMPY\x03\x00\x02\x00\x00\x00\xff\xff",
        npy(""),
        npy("{}"),
        npy("[]"),
        npy("1"),
        npy("{'descr': '<i4', 'fortran_order': False}"),
        npy("{'descr': '<i4', 'fortran_order': False, 'shape': (), 'more': 1}", b"1234"),
        npy("{'descr': '<i4', 'fortran_order': False, 'shape': ()", b"1234"),
        npy("{'descr': '<i4', 'fortran_order': False, 'shape': (),}", b"1234") + b"5",
        npy("{'descr': '<i4', 'fortran_order': False, 'shape': (),}" + " " * 10_000, b"1234"),
        npy("__import__('os').getpid()"),
        npy("(lambda: 1)()"),
        npy("(" * 9_000),
        npy("[" * 50 + "]" * 50),
        npy("-" * 9_000 + "1"),
        npy("1" + "+1" * 4_000),
        npy("{" * 200),
        npy("'" * 9_999),
        npy("9" * 9_999),
        npy("not " * 2_000 + "1"),
        npy("f'{1}'"),
    ],
)
def test_a_broken_frame_or_literal_is_refused(data):
    refused(data)


@pytest.mark.parametrize(
    "descr",
    [
        "'O'", "'|O'", "'|O8'", "'object'", "'<i3'", "'i4'", "'<i4,<i4'", "'int32'", "'T'", "'|T16'", "'|S0'", "'|V0'",
        "'<U999999999'", "'<U9999999999999'", "'<M8[fortnight]'", "'<M8[0s]'", "'a5'", "''", "None", "4", "b'<i4'",
        "('<i4', (2,))", "[]", "[()]", "['<i4']", "[('a',)]", "[('a', 'O')]", "[('a', [('b', 'O')])]",
        "[('a', '<i4', (2147483647, 2147483647))]", "[('a', '<i4', (-1,))]", "[('a', '<i4', 'x')]",
        "[('a', '<i4'), ('a', '<i4')]", "[(1, '<i4')]", "[('a', 1)]", "{'names': ['a'], 'formats': ['O']}",
    ],
)  # fmt: skip
def test_a_type_that_is_not_plain_is_refused(descr):
    refused(described(descr))


@pytest.mark.parametrize(
    "shape",
    [
        "[2]", "2", "(-2,)", "(-1, -2)", "(True, 2)", "(2.0,)", "('2',)", "(1,)", "(3,)", "(2, 2)", "(4294967297, 2)",
        "(2305843009213693954,)", "(9223372036854775807, 9223372036854775807)", "(" + "1, " * 65 + "2)",
        "(" + "65536, " * 300 + ")", "(0, 9999999999999999999)",
    ],
)  # fmt: skip
def test_a_shape_that_is_not_the_data_is_refused(shape):
    refused(described(shape=shape))


def test_a_shape_of_nothing_is_still_a_shape():
    refused(described(shape="(0, 99999999999999999999)", data=b""))
    assert loads_array(described(shape="(0, 3)", data=b"")).shape == (0, 3)


@pytest.mark.parametrize("fortran_order", ["0", "None", "'False'", "1"])
def test_an_order_that_is_not_a_bool_is_refused(fortran_order):
    refused(described(fortran_order=fortran_order))


def test_a_declared_length_allocates_nothing():
    data = described(shape="(268435456,)")
    tracemalloc.start()
    refused(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


@pytest.mark.parametrize("word", ["not ", "await ", "lambda:", "1 if 1 else ", "-", "[", "('a', [", "{1:"])
def test_no_header_is_too_much_for_a_small_stack(word):
    """Python's parser recurses, also for operators that are words."""
    header = "{'descr': " + word * (9000 // len(word)) + "1}"
    code = f"""
        import numpy
        from fuzz.pickles import in_small_stack
        from typedbytes._base.npy import loads_array
        try:
            in_small_stack(loads_array, {npy(header)})
        except ValueError as error:
            print(error)
    """
    assert run_fresh(code).startswith("not an array in .npy format: 'the header")


def outcome_of(data):
    """Load bytes that may be broken; anything but an array or a ValueError fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            array = loads_array(data)
        except ValueError:
            return
    assert type(array) is numpy.ndarray and not array.dtype.hasobject


def test_every_truncation_and_every_tail_is_refused():
    for array in ARRAYS:
        data = dumps_array(array)
        for end in {*range(0, len(data), 7), len(data) - 1}:
            refused(data[:end])
        refused(data + b"\0")


def test_every_bit_flip_is_harmless():
    for array in (ARRAYS[0], numpy.zeros(2, RECORD)):
        data = dumps_array(array)
        for offset in range(len(data)):
            for bit in range(8):
                outcome_of(data[:offset] + bytes([data[offset] ^ 1 << bit]) + data[offset + 1 :])


@given(st.text(alphabet="'\"\\[](){},:<>|iufcOSUMV0123456789 TrueFalse\n", max_size=80))
def test_random_headers_are_harmless(header):
    outcome_of(npy(header))
    outcome_of(described(header))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text("<|ifOSV0123", max_size=4),
        lambda inner: st.lists(inner) | st.tuples(inner, inner),
    )
)
def test_random_types_are_harmless(descr):
    outcome_of(described(repr(descr)))
    assert ast.literal_eval(repr(descr)) == descr


@pytest.mark.parametrize("array", ARRAYS, ids=array_id)
def test_the_codec_writes_the_same_bytes_and_reads_them(array):
    """Arrays of plain numbers are written and read by compiled code, others by this module."""
    encoded = typedbytes.dumps(array)
    wanted = loads_array(encoded[5:])
    for _ in range(3):  # what other types are, is known from the second time on
        assert encoded[5:] == dumps_array(array)
        assert typedbytes.dumps(array) == encoded
        found = typedbytes.loads(encoded)
        assert_same(found, wanted)
        assert found.flags.writeable and found.flags.aligned
        assert found.flags.f_contiguous == wanted.flags.f_contiguous
        for cut in (encoded[:-1], encoded + b"\0", encoded[:40]):
            data = cut[5:]
            with pytest.raises(typedbytes.FormatError, match="NDARRAY"):
                typedbytes.loads(b"\x66" + struct.pack(">i", len(data)) + data)


@pytest.mark.parametrize("dtype", ["i4,f8", [("outer", "i4,f8"), ("rest", "U2")]])
def test_names_that_are_set_are_those_of_one_array(dtype):
    array = numpy.zeros(2, dtype)
    encoded = typedbytes.dumps(array)
    for _ in range(3):
        found = typedbytes.loads(encoded)
        assert_same(found, array)
        inner = found.dtype["outer"] if found.dtype.names[0] == "outer" else found.dtype
        inner.names = ("x", "y")
    assert_same(typedbytes.loads(encoded), array)
    array.dtype.names = ("p", "q")
    assert typedbytes.loads(typedbytes.dumps(array)).dtype.names == ("p", "q")


def test_arrays_of_many_types_are_written_as_before():
    """More types than the codec keeps, twice."""
    arrays = [numpy.array([f"{number}"], f"U{number + 1}") for number in range(150)]
    for array in (*arrays, *arrays):
        encoded = typedbytes.dumps(array)
        assert encoded[5:] == dumps_array(array)
        assert_same(typedbytes.loads(encoded), array)


@pytest.mark.parametrize("dtype", ["M8[us]", "U3", "i4,f8", "S2", "V5"])
def test_parts_of_arrays_are_written_as_before(dtype):
    whole = numpy.zeros((4, 6), dtype)
    parts = [whole, whole[::2], whole[:, ::2], whole[:, 1:], whole[0], whole[:, 0], whole[:0], whole[2, 3:4]]
    for array in (*parts, *(part.T for part in parts)):
        assert typedbytes.dumps(array)[5:] == dumps_array(array)


@pytest.mark.parametrize(
    "literal",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f8', 'fortran_order': True, 'shape': (1, 2), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (02,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 0)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (999999999999999999, 999999999999999999)}",
        "{'descr': '<O8', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (16,)} x",
    ],
)
def test_the_codec_takes_the_headers_that_this_module_takes(literal):
    header = literal.encode().ljust(117) + b"\n"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(range(16))
    encoded = bytes([102]) + struct.pack(">i", len(data)) + data
    try:
        expected = loads_array(data)
    except ValueError as error:
        with pytest.raises(typedbytes.FormatError) as caught:
            typedbytes.loads(encoded)
        assert str(error) in str(caught.value)
    else:
        assert_same(typedbytes.loads(encoded), expected)


@pytest.mark.parametrize("header", [b"{'descr': ''", b"{'descr': '<'", b"{'descr': '"])
def test_a_header_that_ends_in_its_dtype(header):
    payload = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
    with pytest.raises(typedbytes.DecodeError):
        typedbytes.loads(b"\x66" + struct.pack(">i", len(payload)) + payload)
