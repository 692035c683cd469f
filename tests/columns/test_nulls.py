"""Nulls in columns: read, looked at, written back."""

import io
import random

import pyarrow
import pytest
from hypothesis import given, strategies as st

import typedbytes as tb
from support.column_pairs import written
from support.column_values import EXACT, rows_of
from support.subprocess_runs import run_fresh
from support.vectors import exact_repr
from typedbytes import columns, sequencefile

pytestmark = [pytest.mark.free_threaded, pytest.mark.lowest]

SHAPES = [
    st.integers(-5, 5),
    st.text(max_size=20),
    st.booleans(),
    st.tuples(st.floats(), st.floats()),
    st.tuples(st.integers(-5, 5), st.one_of(st.none(), st.text(max_size=3))),
    st.lists(st.one_of(st.none(), st.integers(-5, 5)), max_size=3),
    st.dictionaries(st.text(max_size=2), st.one_of(st.none(), st.binary(max_size=3)), max_size=3),
    st.none(),
]


@given(st.data(), st.sampled_from(SHAPES), st.sampled_from(["hadoop", "hive"]), st.integers(1, 9), st.integers(1, 2))
def test_any_value_may_be_null(data, shape, dialect, batch_rows, threads):
    values = data.draw(st.lists(st.one_of(shape, shape, st.none()), max_size=30))
    encoded = tb.Encoder(dialect=dialect).encode_all(values)
    with columns.read(
        encoded, batch_rows, pairs=False, dialect=dialect, threads=threads, on_mismatch="split"
    ) as reader:
        batches = list(reader)
    rows = [value for batch in batches for (value,) in rows_of(batch, dialect)]
    assert exact_repr(rows) == exact_repr(list(tb.Reader(encoded, dialect=dialect, **EXACT)))
    assert b"".join(written(batch, pairs=False) for batch in batches) == encoded


def test_arrow_sees_them():
    pyarrow = pytest.importorskip("pyarrow")
    values = [(1, "a", [1, None]), None, (None, None, None), (4, "d", [])] * 40
    (batch,) = columns.read(tb.Encoder().encode_pairs(list(enumerate(values))))
    found = pyarrow.record_batch(batch)
    found.validate(full=True)
    assert found.column("key").null_count == 0 and found.column("key").buffers()[0] is None
    assert found.column("value").null_count == 40
    assert found.column("value").to_pylist() == [
        value and {"0": value[0], "1": value[1], "2": value[2]} for value in values
    ]
    assert pyarrow.table(columns.read(tb.dumps(None) * 3, pairs=False)).column(0).null_count == 3


NULL_WRITABLE = tb.dumps(tb.Writable("org.apache.hadoop.io.NullWritable"))


@pytest.mark.parametrize("dialect", ["hadoop", "hive"])
def test_a_null_writable_is_a_null(dialect):
    """Hadoop's jobs write it for a key or a value that is not there, and `hadoop fs -text` prints (null)."""
    encoder = tb.Encoder(dialect=dialect)
    data = b"".join(NULL_WRITABLE + (encoder.encode(n) if n % 2 else NULL_WRITABLE) for n in range(200))
    for n in range(len(data)):
        if n % 997 == 0:
            with pytest.raises(tb.TruncatedError):
                list(columns.read(io.BytesIO(data[: n + 50]), dialect=dialect))
    (batch,) = columns.read(data, dialect=dialect)
    assert batch.schema == {"key": "unknown", "value": "int"}
    assert batch.column("key").tolist() == [None] * 200
    assert batch.column("value").tolist() == [n if n % 2 else None for n in range(200)]
    assert written(batch) == data


@pytest.mark.parametrize("compression", ["none", "block"])
def test_sequence_files_without_keys_have_nulls(compression):
    file = io.BytesIO()
    with sequencefile.Writer(file, key_class="NullWritable", value_class="Text", compression=compression) as writer:
        writer.writes((None, str(n)) for n in range(9))
    (batch,) = columns.read(file.getvalue())
    assert batch.column("key").tolist() == [None] * 9 and batch.column("value").tolist() == list("012345678")


def test_numpy_masks_numbers_and_has_none_among_objects():
    (batch,) = columns.read(tb.Encoder().encode_pairs([("a", (1, 2)), (None, None), ("c", (5, 6))]))
    assert batch.column("key").tolist() == ["a", None, "c"]
    assert batch.column("value").tolist() == [[1, 2], [None, None], [5, 6]]
    assert batch.column("value.1").compressed().tolist() == [2, 6]
    assert batch.buffers("value")["valid"].tolist() == [0b11111101]
    (batch,) = columns.read(tb.dumps(1), pairs=False)
    assert "valid" not in batch.buffers("value") and not hasattr(batch.column("value"), "mask")


def test_few_nulls_divide_no_batch():
    values = [float(number) if number % 10_000 else None for number in range(1, 65_537)]
    data = tb.Encoder().encode_all(values)
    for policy in ("error", "split", "widen"):
        (batch,) = columns.read(data, pairs=False, on_mismatch=policy)
        assert batch.schema == {"value": "double"} and batch.column("value").tolist() == values


def test_nulls_as_they_were_read_or_as_wanted():
    (batch,) = columns.read(b"\x0c" + tb.dumps(7), pairs=False, dialect="hive")
    assert written(batch, pairs=False) == b"\x0c" + tb.dumps(7)
    assert written(batch, pairs=False, nulls="value") == tb.Encoder().encode_all([None, 7])
    assert written(batch, pairs=False, nulls="value", null_value=-1) == tb.Encoder().encode_all([-1, 7])


@pytest.mark.parametrize(
    ("values", "schema"),
    [
        ([1, None, 2**40, None], "long"),
        ([1, None, "a", None], "raw"),
        ([(1, 2), None, (1,), None], "vector<int...>"),
        ([[1], None, 5], "raw"),
        ([{"a": 1}, {None: 1}], "map<raw, int>"),
        ([(1, 2), (1, None)], "raw"),
    ],
)
def test_columns_with_nulls_are_widened(values, schema):
    data = tb.Encoder().encode_all(values)
    (batch,) = columns.read(data, pairs=False, on_mismatch="widen")
    assert batch.schema == {"value": schema}
    assert tb.Decoder().decode_all(written(batch, pairs=False)) == values


@pytest.mark.parametrize("nulls", [0, 1, 1000])
def test_a_wide_struct_may_be_null(nulls):
    """Its nulls share the memory of missing fields, which ends a batch."""
    wide = {f"field {number}": number for number in range(60)}
    wide["name"] = "x"  # else it would be a map
    data = tb.dumps(None) * nulls + tb.dumps(wide) + tb.dumps(None)
    (batch,) = columns.read(data, pairs=False)
    assert pyarrow.record_batch(batch).column(0).to_pylist() == [None] * nulls + [wide, None]
    assert written(batch, pairs=False) == data
    data = tb.dumps(wide) + tb.dumps(None) * 100_000
    batches = list(columns.read(data, batch_rows=10**6, pairs=False))
    assert sum(map(len, batches)) == 100_001
    assert max(pyarrow.record_batch(batch).nbytes for batch in batches) < 20 << 20


@pytest.mark.parametrize("value", [{None: 1}, {1: 2, None: 3}, (1, None)])
def test_what_cannot_be_null(value):
    first = tb.dumps({1: 2} if isinstance(value, dict) else (1, 2))
    with pytest.raises(columns.MismatchError):
        list(columns.read(first + tb.dumps(value), pairs=False))


@pytest.mark.parametrize("dialect", ["hadoop", "hive"])
@pytest.mark.parametrize("values", [[{None: 1}] * 2, [{}, {None: None}], [[{None: 1}], []]])
def test_keys_that_start_with_a_null_are_values(values, dialect):
    data = tb.Encoder(dialect=dialect).encode_all(values)
    batches = columns.read(data, pairs=False, dialect=dialect)
    assert b"".join(written(batch, pairs=False) for batch in batches) == data


@pytest.mark.parametrize("nulls", [0, 1, 1000])
def test_nulls_take_no_memory_that_the_input_does_not_back(nulls):
    wide = tb.dumps(tuple([0.5] * 17))
    assert len(next(columns.read(tb.dumps(tuple([0.5] * 16)) + tb.dumps(None), pairs=False))) == 2
    with pytest.raises(columns.MismatchError):
        list(columns.read(tb.dumps(None) * nulls + wide + tb.dumps(None), pairs=False))


def test_nulls_among_records_of_one_size_at_every_index():
    rng = random.Random(5)
    for _ in range(50):
        values = [None if rng.random() < 0.1 else (number, number / 3) for number in range(rng.randrange(60))]
        for dialect in ("hadoop", "hive"):
            data = tb.Encoder(dialect=dialect).encode_all(values)
            batches = columns.read(data, 25, pairs=False, dialect=dialect)
            assert b"".join(written(batch, pairs=False) for batch in batches) == data


def test_groups_of_null_keys_are_as_of_others():
    for key in (None, "n"):
        data = tb.Encoder().encode_pairs([("", 0), (key, 1), (key, 2), (key, 3), ("", 4), ("", 5), (key, 6)])
        assert [batch.column("value").tolist() for batch in columns.read(data, 2).groups()] == [
            [0],
            [1, 2, 3],
            [4, 5, 6],
        ]


@pytest.mark.parametrize("dialect", ["hadoop", "hive"])
@pytest.mark.parametrize("name", ["number", "a_name_of_more_bytes_than_forty_are", "text", "data", "last"])
def test_any_scalar_of_a_struct_may_be_null(name, dialect):
    pytest.importorskip("pyarrow")
    full = {"number": 5, "a_name_of_more_bytes_than_forty_are": 1 << 40, "text": "t", "data": b"b", "last": 1.5}
    values = [full, {**full, name: None}, full]
    data, first = (tb.Encoder(dialect=dialect).encode_all(each) for each in (values * 50, values[:1]))
    (batch,) = columns.read(data, pairs=False, dialect=dialect)
    assert [row["value"] for row in batch.to_arrow().to_pylist()] == values * 50
    assert written(batch, pairs=False) == data
    for end in range(len(first) + 1, len(data) // 50 - len(first)):
        with pytest.raises(tb.TruncatedError):
            list(columns.read(data[:end], pairs=False, dialect=dialect))


def test_nulls_of_a_record_that_starts_another_batch_are_not_in_the_one_before():
    pytest.importorskip("pyarrow")
    values = [{"a": 1, "b": 2, "c": "z"}, {"a": None, "b": "x", "c": "z"}, {"a": 3, "b": "y", "c": "z"}]
    first, *rest = columns.read(tb.Encoder().encode_all(values), pairs=False, on_mismatch="split")
    assert first.to_arrow()["value"].chunk(0).field("a").null_count == 0
    assert [dict(row["value"]) for batch in rest for row in batch.to_arrow().to_pylist()] == values[1:]


def test_every_cut_of_a_null():
    data = tb.dumps(1) + tb.dumps(None)
    for end in range(len(tb.dumps(1)) + 1, len(data)):
        with pytest.raises(tb.TruncatedError):
            list(columns.read(data[:end], pairs=False))


def test_a_part_of_a_tuple_that_is_always_null_is_an_array_of_none():
    (batch,) = columns.read(tb.Encoder().encode_all([(1, None), (2, None)]), pairs=False)
    numbers, nulls = batch.column("value")
    assert (list(numbers), list(nulls)) == ([1, 2], [None, None])


def test_a_batch_without_memory_for_its_nulls_keeps_them():
    code = """
        import _testcapi, typedbytes as tb
        from typedbytes.columns import _native

        # the bits of the values, whose only null comes early, have to grow when those of the keys have been cut
        pairs = [(0, None if row == 1 else row) for row in range(3000)] + [(None, 5), (None, 6)]
        data = tb.Encoder().encode_pairs(pairs)

        def filled():
            builder = _native.Builder(None, 2, None, "error")
            assert builder.append_records(data, 10**6)[1] == 3002
            return builder

        def batches(builder):
            found = [builder.finish(_native.Batch, ("key", "value"), *rows) for rows in ([3000], [])]
            rows_of = _native.rows_of_batch
            return b"".join(
                _native.encode_rows([rows_of(batch, 0), rows_of(batch, 1)], [0, 0], len(batch), 1 << 30, None, 0)[0]
                for batch in found
            )

        assert batches(filled()) == data
        number = 1
        while True:
            builder = filled()
            _testcapi.set_nomemory(number, number + 1)
            try:
                builder.finish(_native.Batch, ("key", "value"), 3000)
                break
            except MemoryError:
                pass
            finally:
                _testcapi.remove_mem_hooks()
            assert batches(builder) == data, number
            number += 1
        print(number > 5)
    """
    assert run_fresh(code) == "True"


def test_the_schema_of_vectors_with_nulls_reads_them_again():
    """VECTORs of one type are an array without nulls; with them they are columns, and have a type of another name."""
    data = tb.Encoder().encode_all([(None, 2), (1, 2)])
    (batch,) = columns.read(data, pairs=False)
    assert batch.schema == {"value": "tuple<int, int>"}
    (again,) = columns.read(data, schema=batch.schema, pairs=False)
    assert again.schema == batch.schema and [part.tolist() for part in again.column("value")] == [[None, 1], [2, 2]]
    (plain,) = columns.read(tb.dumps((1, 2)), schema=["vector<int, int>"], pairs=False)
    assert plain.column("value").tolist() == [[1, 2]]
