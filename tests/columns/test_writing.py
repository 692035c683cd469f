"""Columns that are written: arrays, lists, batches, nulls, and what is refused."""

import array
import collections
import io
import re

import numpy
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given, strategies as st

import typedbytes as tb
from support.column_pairs import pairs_of, read_one, written
from support.subprocess_runs import run_fresh
from typedbytes import columns, sequencefile
from typedbytes.columns import _native

pytestmark = [pytest.mark.newest_python, pytest.mark.lowest]

DTYPES = [
    "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?", ">i4", "<i4", ">f8", ">u2", ">f2", "=i8",
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_are_written_as_numpys_scalars_are(dtype):
    bits = numpy.random.default_rng(3).integers(0, 255, 8 * 300, dtype="u1")
    numbers = bits.view(dtype)[:300] if dtype != "?" else bits[:300] > 99
    numbers = numbers[numbers < 2**63] % 1000 if dtype == "u8" else numbers
    encoder = tb.Encoder(int_width=64 if dtype == "u8" else "auto")  # one code for all, whatever the numbers
    for some in (numbers, numbers[::-3], numbers[:0]):
        assert written([some], pairs=False) == encoder.encode_all(list(some))
        assert written({"key": some, "value": some}) == encoder.encode_pairs(zip(some, some))


@pytest.mark.parametrize("dtype", ["i4", "f8", "u2", ">i8", "?"])
def test_rows_of_an_array_are_vectors(dtype):
    grid = (numpy.arange(60) % 7).astype(dtype).reshape(20, 3)
    for some in (grid, grid[::2], grid[:, ::-1], numpy.asfortranarray(grid), grid[:0], grid[:, :0]):
        assert written([some], pairs=False) == tb.Encoder().encode_all([tuple(row) for row in some])


@pytest.mark.parametrize("dtype", ["U", "S", "O", "c16"])
def test_rows_of_an_array_of_other_things_are_vectors(dtype):
    grid = numpy.array([["1", "22", ""], ["4", "5", "\u20ac"]] if dtype in "UO" else [[1, 22, 3], [4, 5, 6]], dtype)
    for some in (grid, grid[::-1, ::2], grid.T, grid[:, :1]):
        expected = tb.Encoder().encode_all(map(tuple, some))
        assert written([some], pairs=False) == expected and written([some.view(numpy.matrix)], pairs=False) == expected
    assert written([grid[:, :0]], pairs=False) == tb.Encoder().encode_all([(), ()])
    assert written([grid[:0]], pairs=False) == b""


def test_nulls_in_rows_of_an_array():
    grid = numpy.array([["a", None], ["b", "c"]])
    assert written([grid], pairs=False, nulls="hive") == tb.Encoder(dialect="hive").encode_all(
        [("a", None), ("b", "c")]
    )
    with pytest.raises(tb.EncodeValueError, match="null"):
        written([grid], pairs=False)


def test_arrays_of_ctypes_are_columns():
    """Their buffers have no strides."""
    code = """
        import ctypes, io, multiprocessing
        import typedbytes as tb
        from typedbytes import columns
        shared = multiprocessing.Array("d", 3, lock=False)
        shared[:] = [0.5, 1.5, 2.5]
        longs, flags = (ctypes.c_int64 * 3)(1, 2, 3), (ctypes.c_bool * 2)(True, False)
        rows = ((ctypes.c_short * 2) * 3)((1, 2), (3, 4), (5, 6))
        encode = tb.Encoder().encode_all
        for column, values in [
            (longs, map(tb.Long, longs)), (flags, flags), (rows, map(tuple, rows)), ((ctypes.c_int64 * 0)(), []),
            (shared, shared), (((ctypes.c_short * 0) * 2)(), [(), ()]),
            ((ctypes.c_int32.__ctype_be__ * 2)(1, 2), [1, 2]),
        ]:
            sink = io.BytesIO()
            columns.write(sink, [column], pairs=False)
            print(sink.getvalue() == encode(values), end=" ")
    """
    assert run_fresh(code) == " ".join(["True"] * 7)


def test_ints_beyond_a_long_in_rows_of_an_array_are_refused():
    with pytest.raises(tb.EncodeValueError, match="64 bits"):
        written([numpy.array([[2**63, 1], [1, 1]], "u8")], pairs=False)


def test_ints_beyond_a_long_are_refused():
    with pytest.raises(tb.EncodeValueError, match="64 bits"):
        written([numpy.array([1, 2**63], "u8")], pairs=False)


@given(st.lists(st.text(max_size=6) | st.integers() | st.floats(allow_nan=False) | st.binary(max_size=3), max_size=9))
def test_objects_are_written_as_the_encoder_does(values):
    assert written([values], pairs=False) == tb.Encoder().encode_all(values)


def test_other_columns():
    words = ["a", "b\xe9", ""]
    for column in (words, numpy.array(words), numpy.array(words, object), collections.deque(words)):
        assert written([column], pairs=False) == tb.Encoder().encode_all(words)
    assert written([array.array("d", [1.5])], pairs=False) == tb.dumps(1.5)
    both = {"value": (words, numpy.arange(3)), "key": [1, 2, 3]}
    expected = tb.Encoder().encode_pairs(zip([1, 2, 3], zip(words, numpy.arange(3))))
    assert written(both) == expected and written([both["key"], both["value"]]) == expected
    assert written({"a": [1, 2, 3], "b": both["value"]}) == expected
    assert written([((), ())], pairs=False) == b""


NO_CODE = "cannot encode an object of type object: make plain values of such objects first"
REFUSED = [
    ([[1], [1, 2]], tb.EncodeValueError, "the columns differ in length: 1 and 2 rows"),
    ([[1], [2], [3]], tb.EncodeValueError, "expected 2 columns, key and value, not 3"),
    ({"key": [1]}, tb.EncodeValueError, "expected 2 columns, key and value, not 1"),
    (["ab", [1, 2]], tb.EncodeTypeError, "column 'key': expected an array or a sequence of values, not str"),
    ([[1], b"a"], tb.EncodeTypeError, "column 'value': expected an array or a sequence of values, not bytes"),
    ({"value": 5, "key": [1]}, tb.EncodeTypeError,
     "column 'value': expected an array or a sequence of values, not int"),
    ([None, [1]], tb.EncodeTypeError, "column 'key': expected an array or a sequence of values, not NoneType"),
    ([[1], ([1], 5)], tb.EncodeTypeError, "column 'value': expected an array or a sequence of values, not int"),
    (7, tb.EncodeTypeError, "columns must be a dict, a sequence, a table of Arrow, a Batch or a BatchReader, not int"),
    ([[1], [object()]], tb.EncodeTypeError, f"column 'value': {NO_CODE}, at [0]"),
    ([[1] * 6000, [1] * 5000 + [("a", [object()])] * 1000], tb.EncodeTypeError,
     f"column 'value': {NO_CODE}, at [5000][1][0]"),
    ([[1], numpy.ma.masked_array([1], [True])], tb.EncodeTypeError, "column 'value': cannot use a masked array"),
    ([[1, 2], ([1, 2], [1])], tb.EncodeValueError, "column 'value': the columns of a VECTOR differ in length"),
    ([[1], numpy.zeros((1, 2, 2))], tb.EncodeTypeError,
     "column 'value': cannot use a buffer of format 'd' and 3 dimensions"),
    ([[1], numpy.zeros((1, 2, 2), "U1")], tb.EncodeTypeError, "column 'value': cannot use an array of 3 dimensions"),
    ([[1], numpy.array("a")], tb.EncodeTypeError, "column 'value': cannot use an array of 0 dimensions"),
    ([[1], [{1j, "set"}, 2 + 3j, object]], tb.EncodeTypeError, "column 'value': cannot encode an object of type type"),
    ([[1], ["a", "\ud800"]], tb.EncodeValueError,
     "column 'value': str holds a lone surrogate, which UTF-8 cannot encode, at [1]"),
    ({"value": [1], "keys": ["a"]}, tb.EncodeValueError,
     "the columns are named 'value' and 'keys', and 'value' is not the first of a pair: rename one"),
    ({"count": [1], "key": ["a"]}, tb.EncodeValueError,
     "the columns are named 'count' and 'key', and 'key' is not the second of a pair"),
    ([[None], [1]], tb.EncodeValueError, "column 'key': value is null: pass nulls=... to say what to write, at [0]"),
]  # fmt: skip


@pytest.mark.parametrize(("given_columns", "error", "message"), REFUSED)
def test_columns_that_cannot_be_written(given_columns, error, message):
    """A misspelt name in a dict of columns must not exchange keys and values."""
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        written(given_columns)


def test_a_name_that_is_neither_is_that_of_its_position():
    expected = tb.Encoder().encode_pairs([("a", 1)])
    for names in (("key", "n"), ("word", "value"), ("word", "n")):
        assert written(dict(zip(names, (["a"], [1])))) == expected
    # as engines name what they count
    assert written(pyarrow.table({"value": ["a"], "count": pyarrow.array([1], "i4")})) == expected


@pytest.mark.parametrize("names", [("value", "word"), ("n", "key"), ("value", "counts")])
def test_a_table_whose_names_say_the_opposite_of_its_order_is_refused(names):
    table = pyarrow.table(dict(zip(names, ([1, 2], ["a", "b"]))))
    batch = read_one(pairs_of((1, "a")), schema=dict(zip(names, ("int", "string"))))
    # as from frame.groupby(...)[["value"]].sum()
    frame = pandas.DataFrame({names[1]: ["a", "b"], names[0]: [1, 2]}).set_index(names[1])
    for given_columns in (table, table.to_reader(1), polars.DataFrame(table), frame, batch):
        with pytest.raises(
            tb.EncodeValueError, match=f"^the columns are named '{names[0]}' and '{names[1]}'.* of a pair: rename one$"
        ):
            written(given_columns)


def test_values_among_pairs_are_refused():
    sink = io.BytesIO()
    with tb.PairWriter(sink) as writer:
        with pytest.raises(TypeError, match="a PairWriter takes pairs: pairs=False needs a Writer"):
            columns.write(writer, {"value": ["a"]}, pairs=False)
        writer.write("k", 1)
    assert tb.Decoder().decode_pairs(sink.getvalue()) == [("k", 1)]


def test_nulls_among_objects():
    with pytest.raises(tb.EncodeValueError, match=r"null.*at \[1\]"):
        written([["a", None]], pairs=False)
    assert written([["a", None]], pairs=False, nulls="hive") == tb.dumps("a") + b"\x0c"
    assert written([["a", None]], pairs=False, nulls="value") == tb.Encoder().encode_all(["a", None])
    assert written([["a", None]], pairs=False, nulls="value", null_value=-1) == tb.Encoder().encode_all(["a", -1])
    with pytest.raises(ValueError, match="nulls"):
        written([["a"]], pairs=False, nulls="drop")
    with sequencefile.open(io.BytesIO(), "w", key_class="Text", value_class="LongWritable") as writer:
        with pytest.raises(ValueError, match="a type code that SequenceFiles do not have"):
            columns.write(writer, {"key": ["a"], "value": [None]}, nulls="hive")


def test_batches_are_written_as_they_were_read():
    rows = [(tb.Ext(144, b"R"), (None, [tb.Byte(1)], {"a": tb.Float(0.5)})), (tb.Ext(144), (None, [], {}))]
    data = pairs_of(*rows)
    sink = io.BytesIO()
    assert columns.write(sink, columns.read(data, batch_rows=1)) == 2
    assert sink.getvalue() == data
    mixed = pairs_of((1, 2), ("a", 2.5), (None, []))
    assert written(columns.read(mixed, on_mismatch="split")) == mixed
    assert written(columns.read(mixed, schema=["raw", "raw"])) == mixed


def test_rows_that_are_not_there_are_not_written():
    rows = _native.rows_of_encoded(tb.dumps(1) * 2, array.array("q", [0, 5]))
    assert _native.encode_rows([rows], [1], 1, 100, None, 0) == (tb.dumps(1), 1)
    for start, n in ((-1, 1), (0, 3), (2, 1)):
        with pytest.raises(IndexError):
            _native.encode_rows([rows], [start], n, 100, None, 0)


def test_a_row_longer_than_a_vector():
    with pytest.raises(tb.EncodeValueError, match="at most"):
        written([numpy.broadcast_to(numpy.int8(0), (1, 2**31))], pairs=False)


def test_large_columns_are_written_in_parts(tmp_path):
    numbers = numpy.arange(300_000)
    with open(tmp_path / "out", "wb", buffering=0) as sink:
        assert columns.write(sink, [numbers, numbers / 2]) == 300_000
    assert [len(batch) for batch in columns.read(tmp_path / "out", 10**6)] == [300_000]
    batch = read_one(tmp_path / "out", 10**6)
    assert (batch.column(0) == numbers).all() and (batch.column(1) == numbers / 2).all()
    assert (tmp_path / "out").read_bytes()[:18] == pairs_of((numbers[0], 0.0))


SIZES_BEYOND_MEMORY = {
    "numbers": "[numpy.broadcast_to(numpy.uint8(1), (2**62,))] * 2",
    "rows of numbers": "[numpy.broadcast_to(numpy.uint8(1), (2**32, 2**30))] * 2",
    "values of no bytes": (
        "[pyarrow.Array.from_buffers(pyarrow.binary(0), 2**61 - 1, [None, pyarrow.py_buffer(b'')])] * 2"
    ),
    "VECTORs of one length": (
        "[pyarrow.Array.from_buffers(pyarrow.list_(pyarrow.null(), 0), 2**61 - 1, [None], "
        "children=[pyarrow.nulls(0)])] * 2"
    ),
    "items that are nulls": (
        "[pyarrow.Array.from_buffers(pyarrow.large_list(pyarrow.null()), 1, [None, offsets], "
        "children=[pyarrow.Array.from_buffers(pyarrow.null(), 2**62, [None])])] * 2"
    ),
}


@pytest.mark.parametrize("made", SIZES_BEYOND_MEMORY.values(), ids=SIZES_BEYOND_MEMORY)
def test_sizes_beyond_memory_are_memory_errors(made):
    code = """
        import io, sys
        import numpy, pyarrow
        from typedbytes import columns
        offsets = pyarrow.py_buffer(numpy.array([0, 2**62]))
        given = eval(sys.argv[1])
        try:
            columns.write(io.BytesIO(), given, nulls="value", null_value="ab")
        except MemoryError:
            print("MemoryError")
    """
    assert run_fresh(code, made) == "MemoryError"


ROWS_WITHOUT_MEMORY = {
    "empty VECTORs": "numpy.broadcast_to(numpy.empty((1, 0), 'i1'), (2**62, 0))",
    "as many as bytes wrap at": "numpy.broadcast_to(numpy.empty((1, 0), 'i1'), (3689348814741910324, 0))",
    "empty structs": "pyarrow.Array.from_buffers(pyarrow.struct([]), 2**62, [None])",
    "nulls": "pyarrow.Array.from_buffers(pyarrow.null(), 2**62, [None])",
}


@pytest.mark.parametrize("made", ROWS_WITHOUT_MEMORY.values(), ids=ROWS_WITHOUT_MEMORY)
def test_rows_without_end_are_written_in_parts(made):
    code = """
        import sys
        import numpy, pyarrow
        from typedbytes import columns

        class Ended(Exception):
            pass

        class Sink:
            def write(self, data):
                sizes.append(len(data))
                raise Ended

        sizes, column = [], eval(sys.argv[1])
        for given in ([column, column], [(column, column), column]):
            try:
                columns.write(Sink(), given, nulls="value", null_value="ab")
            except Ended:
                print(max(sizes) <= 1 << 20)
    """
    assert run_fresh(code, made) == "True\nTrue"


@pytest.mark.parametrize("step", [1, -1], ids=["grows", "shrinks"])
def test_a_list_that_changes_while_it_is_encoded_is_refused(step):
    class Changing(dict):
        def items(self):
            if step > 0:
                values.extend([7] * 4000)
            else:
                del values[-3:]
            return [(1, 2)]

    values = [None, Changing(), *range(4095)]
    with pytest.raises(RuntimeError, match="the column changed size while it was encoded"):
        written([values], pairs=False, nulls="hive")


@pytest.mark.parametrize("nulls", ["hive", "value"])
def test_objects_beyond_one_chunk_and_their_nulls(nulls):
    values = ["é" * (number % 7) if number % 5 else None for number in range(10_000)]
    expected = tb.Encoder(dialect="hive" if nulls == "hive" else "hadoop")
    assert written([values], pairs=False, nulls=nulls) == expected.encode_all(values)
    assert written([values, (values, [1] * 10_000)], nulls=nulls) == expected.encode_pairs(
        [(value, (value, 1)) for value in values]
    )


def rows_of_numbers():
    return _native.rows_of_buffer(array.array("i", [1, 2]))


def test_rows_are_items_of_one_vector():
    items = rows_of_numbers()
    vectors = _native.rows_of_children([items])
    assert (len(items), len(vectors)) == (0, 2)
    for rows in (items, _native.Rows()):
        with pytest.raises(ValueError, match="these Rows are empty"):
            _native.encode_rows([rows], [0], 0, 100, None, 0)
        with pytest.raises(ValueError, match="Rows of its own"):
            _native.rows_of_children([rows])
    with pytest.raises(TypeError):
        _native.encode_rows([None], [0], 0, 100, None, 0)
    del items
    assert _native.encode_rows([vectors], [0], 2, 100, None, 0) == (tb.Encoder().encode_all([(1,), (2,)]), 2)


def test_rows_of_a_batch_are_items_of_no_vector():
    batch = read_one(pairs_of((1, 2), (3, 4)))
    with pytest.raises(ValueError, match="Rows of its own"):
        _native.rows_of_children([rows_of_numbers(), _native.rows_of_batch(batch, 1)])
    assert written(batch) == pairs_of((1, 2), (3, 4))


def test_a_builder_without_rows():
    builder = _native.Builder(None, 2, None, "error")
    assert builder.last_group() == 0
    for rows in (None, 0, 1):
        with pytest.raises(ValueError, match="0 rows are held"):
            builder.finish(_native.Batch, ("key", "value"), rows)
    builder.append_records(pairs_of((1, 2)), 10)
    for rows in (-1, 2):
        with pytest.raises(ValueError, match="1 rows are held"):
            builder.finish(_native.Batch, ("key", "value"), rows)
    assert len(builder.finish(_native.Batch, ("key", "value"), 1)) == 1
