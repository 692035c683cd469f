"""MAPs whose keys are STRINGs as structs: inferred, widened, with missing fields, written back."""

import io
import struct
import tracemalloc

import numpy
import pyarrow
import pytest
from hypothesis import given, strategies as st

import typedbytes as tb
from support import reference
from support.column_values import EXACT, as_struct, rows_of
from support.subprocess_runs import run_fresh
from support.vectors import Dribble, exact_repr
from typedbytes import columns

pytestmark = pytest.mark.lowest

ENCODER = tb.Encoder()
NAMES = ["x", "y", "z", "some longer name", "é", 'a "b"', ""]
SCALARS = [st.integers(-9, 9), st.text(max_size=3), st.floats(), st.booleans(), st.binary(max_size=20), st.none()]
NESTED = [st.lists(st.integers(-9, 9), max_size=3), st.tuples(st.text(max_size=2), st.integers(0, 9)), *SCALARS]


def read(values, *arguments, **options):
    return list(columns.read(ENCODER.encode_all(values), *arguments, pairs=False, **options))


def read_one(values, **options):
    (batch,) = read(values, **options)
    return batch


def objects_of(batch):
    """Return the rows as pyarrow shows them, which has checked the batch."""
    table = pyarrow.record_batch(batch)
    table.validate(full=True)
    return table.column("value").to_pylist()


def written(batch, **options):
    sink = io.BytesIO()
    columns.write(sink, batch, pairs=False, **options)
    return sink.getvalue()


def without_nulls(value):
    """Return a value without the fields that are None, at any level."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


@st.composite
def like_records(draw):
    """Return dicts whose values have a type by name; any of them may be missing, and the names come in any order."""
    kinds = draw(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(NESTED), min_size=2))
    record = st.lists(st.sampled_from(sorted(kinds)), unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: kinds[name] for name in names})
    )
    return draw(st.lists(st.one_of(record, st.none()), min_size=1, max_size=20))


@given(
    like_records(),
    st.sampled_from(["error", "widen", "split"]),
    st.integers(1, 9),
    st.sampled_from([1, 2]),
    st.booleans(),
)
def test_any_records(records, policy, batch_rows, threads, dribbles):
    data = b"".join(reference.dumps(record) for record in records)
    expected = list(tb.Reader(data, **EXACT))
    rows, batches = [], []
    with columns.read(
        Dribble(data) if dribbles else data, batch_rows, pairs=False, on_mismatch=policy, threads=threads
    ) as reader:
        try:
            batches.extend(reader)
        except columns.MismatchError as error:
            assert policy != "widen"
            assert error.record == sum(map(len, batches))
    for batch in batches:
        rows += [value for (value,) in rows_of(batch)]
        pyarrow.record_batch(batch).validate(full=True)
    assert policy != "widen" or len(rows) == len(records)
    assert exact_repr(as_struct(rows)) == exact_repr(as_struct(expected[: len(rows)]))
    again = [value for batch in batches for value in tb.Reader(written(batch), **EXACT)]
    assert exact_repr(as_struct(again)) == exact_repr(as_struct(expected[: len(rows)]))


def test_a_map_with_values_of_several_types_is_a_struct():
    batch = read_one([{"x": 1, "y": "s"}, {"y": "t"}, {}, None, {"y": "u", "x": 5}])
    assert batch.schema == {"value": "struct<x: int, y: string>"}
    assert objects_of(batch) == [
        {"x": 1, "y": "s"},
        {"x": None, "y": "t"},
        {"x": None, "y": None},
        None,
        {"x": 5, "y": "u"},
    ]
    assert written(batch) == ENCODER.encode_all([{"x": 1, "y": "s"}, {"y": "t"}, {}, None, {"x": 5, "y": "u"}])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": 1, "b": 2}, "map<string, int>"),
        ({"a": 1, "b": 1 << 40}, "map<string, long>"),
        ({"a": None, "b": 1, "c": None}, "map<string, int>"),
        ({"a": (1, 2), "b": (1, "x")}, "map<string, raw>"),
        ({"a": 1, 2: "b"}, "map<raw, raw>"),
        ({"a": 1, "b\0": "b"}, "map<string, raw>"),
        ({"a": 1, "b": True}, "struct<a: int, b: bool>"),
        ({"a": "x", "b": b"x"}, "struct<a: string, b: bytes>"),
        ({"a": None, "b": 1, "c": "x"}, "struct<a: unknown, b: int, c: string>"),
        (
            {"a": {"p": 1, "q": "x"}, "b": [{"r": 1, "s": "y"}]},
            "struct<a: struct<p: int, q: string>, b: list<struct<r: int, s: string>>>",
        ),
        ({"a b": 1, "é": "x", '"': 0.5}, 'struct<"a b": int, "é": string, "\\"": double>'),
        ({str(n): n if n else "x" for n in range(257)}, "map<string, raw>"),
    ],
)
def test_what_is_a_struct(value, text):
    with columns.read(ENCODER.encode(value), pairs=False, on_mismatch="widen") as reader:
        assert reader.schema == {"value": text}
    if text.startswith("struct"):
        batch = read_one([value])
        assert batch.schema == {"value": text}
        assert read_one([value], schema=[text]).schema == batch.schema
        assert without_nulls(objects_of(batch)) == without_nulls([value])


def test_widening_adds_fields_and_makes_maps_structs():
    rows = [{"x": 1}, {"x": 2, "w": 3}, {"x": 4, "y": "s"}, {"z": [1.5]}, {"x": 1 << 40}]
    batch = read_one(rows, on_mismatch="widen")
    assert batch.schema == {"value": "struct<x: long, w: int, y: string, z: list<double>>"}
    assert without_nulls(objects_of(batch)) == rows
    assert list(tb.Reader(written(batch))) == rows
    parts = read(rows, 1, on_mismatch="widen")
    assert [list(tb.Reader(written(part))) for part in parts] == [[row] for row in rows]
    assert parts[1].schema == {"value": "map<string, int>"}
    assert parts[-1].schema == {"value": "struct<x: long, y: string, z: list<double>>"}


def test_the_first_maps_may_be_empty():
    rows = [{}, {}, None, {"x": 1, "y": "s"}, {}]
    batch = read_one(rows)
    assert batch.schema == {"value": "struct<x: int, y: string>"}
    assert objects_of(batch)[2] is None and written(batch) == ENCODER.encode_all(rows)
    assert read_one([{}, {1: 2}]).schema == {"value": "map<int, int>"}


def test_a_field_that_is_null_somewhere_is_written_as_null_where_it_is_missing():
    rows = [{"x": 1, "y": "s"}, {"y": "t"}, {"x": None, "y": "u"}]
    assert list(tb.Reader(written(read_one(rows)))) == [rows[0], {"x": None, "y": "t"}, rows[2]]
    assert list(tb.Reader(written(read_one(rows[:2])))) == rows[:2]
    assert list(tb.Reader(written(read_one(rows[:2]), nulls="value", null_value=0))) == [rows[0], {"x": 0, "y": "t"}]


@pytest.mark.parametrize(
    ("pairs", "fault"),
    [
        ([("x", 1), ("z", "s")], "key 'z' in column 'value', which holds struct<x: int, y: string>"),
        ([("x", 1), (1, "s")], "MAP whose keys are not different STRINGs in column"),
        ([("x", 1), ("x", 2)], "MAP whose keys are not different STRINGs in column"),
    ],
)
def test_what_a_struct_does_not_hold(pairs, fault):
    first = ENCODER.encode({"x": 1, "y": "s"})
    other = struct.pack(">Bi", 10, len(pairs)) + b"".join(ENCODER.encode(part) for pair in pairs for part in pair)
    with pytest.raises(columns.MismatchError, match=fault) as caught:
        list(columns.read(first + other, pairs=False))
    assert (caught.value.offset, caught.value.record, caught.value.code) == (len(first), 1, 10)
    (batch,) = columns.read(first + other, pairs=False, on_mismatch="widen")
    if batch.schema == {"value": "raw"}:
        assert written(batch) == first + other
    else:
        assert batch.schema == {"value": "struct<x: int, y: string, z: string>"}


def test_a_value_of_another_type_names_its_field():
    with pytest.raises(columns.MismatchError, match=r"STRING in column 'value', which holds int.*, path \[0\]\['x'\]"):
        read([({"x": 1, "y": "s"}, 1), ({"y": "t", "x": "u"}, 2)])
    rows = [{"x": 1, "y": "s"}, {"y": "t"}, {"x": "u"}, {"y": "v"}]
    batch = read_one(rows, on_mismatch="widen")
    assert batch.schema == {"value": "struct<x: raw, y: string>"} and list(tb.Reader(written(batch))) == rows
    assert objects_of(batch)[1] == {"x": None, "y": "t"} and batch.column("value.x").tolist()[3] is None


def picked(rows, *names):
    """Return the values at paths of names in each row, None where there is none."""
    found = []
    for row in rows:
        values = []
        for name in names:
            value = row
            for step in name.split(".")[1:]:
                value = None if value is None else value[int(step)] if isinstance(value, tuple) else value.get(step)
            values.append(value)
        found.append(values)
    return found


@pytest.mark.parametrize(
    "options", [{}, {"batch_rows": 1}, {"batch_rows": 2, "threads": 2}, {"on_mismatch": "widen"}], ids=str
)
@pytest.mark.parametrize(
    ("rows", "names"),
    [
        (
            [{"id": 1, "price": 2.5, "x": [1]}, {"price": 3.5}, {"id": 7, "y": "q"}, None, {}],
            ["value.price", "value.y", "value.id"],
        ),
        ([{"a": 1, "b": 2}, {"c": 3}, {"b": 4, 5: "other key", "": 6}], ["value.b"]),
        ([None, {"a": {"p": 1, "q": "s"}}, {"a": {"q": "t"}}, {"a": None, "b": 1}], ["value.a.q", "value.b"]),
        ([{"a": (1, 2.5), "b": "s"}, {"b": "x"}, {"a": (2, 4.5)}], ["value.a.1", "value.b"]),
        ([(1, {"a": "x", "n": 1}), (2, {"n": 2}), (3, {})], ["value.1.a", "value.0"]),
        ([{"7": 1, "8": "s"}, {"8": "t"}], ["value.8"]),
        ([{"a": 1}, {}], ["value.nowhere"]),
    ],
)
def test_fields_of_maps_can_be_wanted(rows, names, options):
    batches = read(rows, columns=names, **options)
    assert [batch.names for batch in batches] == [tuple(names)] * len(batches)
    columns_of = [[value for batch in batches for value in batch.column(name).tolist()] for name in names]
    assert [list(row) for row in zip(*columns_of)] == picked(rows, *names)
    for batch in batches:
        pyarrow.record_batch(batch).validate(full=True)


def test_a_wanted_field_that_no_record_has_is_all_null():
    batch = read_one([{"a": 1}, {}], columns=["value.nowhere"])
    assert batch.schema == {"value.nowhere": "unknown"}


def test_a_whole_value_and_a_field_of_it():
    rows = [{"x": 1, "y": "s"}, {"y": "t"}]
    batch = read_one(rows, columns=["value", "value.y"])
    assert objects_of(batch) == [{"x": 1, "y": "s"}, {"x": None, "y": "t"}]
    assert batch.column("value.y").tolist() == ["s", "t"]
    with pytest.raises(columns.MismatchError, match="key 'z' in column 'value'"):
        read([*rows, {"z": 1}], columns=["value", "value.y"])
    for row, name in ({"x": 1}, "x"), ({"x": 1, "y": "s"}, "z"):  # a MAP, a struct
        with pytest.raises(
            LookupError, match=f"no part '{name}' to use as a column in a MAP of which all is wanted too"
        ):
            read([row], columns=["value", f"value.{name}"])


@pytest.mark.parametrize(
    ("row", "name", "fault"),
    [
        (1, "value.x", "no part 'x' to use as a column in a value that is neither a VECTOR nor a MAP"),
        ([1], "value.item", "no part 'item' to use as a column in a value that is neither"),
        ((1, 2), "value.2", "no part '2' to use as a column in a VECTOR of 2 items"),
        ((1, "s"), "value.x", "no part 'x' to use as a column in a VECTOR of 2 items"),
        ({"a": (1, "s"), "b": 1}, "value.a.2", "no part '2' to use as a column in a VECTOR of 2 items"),
        ({"a": (1, 2), "b": "s"}, "value.a.2", "no part '2' to use as a column in a VECTOR of 2 items"),
    ],
)
def test_a_part_that_is_not_there(row, name, fault):
    with pytest.raises(LookupError, match=fault):
        read([row], columns=[name])


def test_what_the_wanted_fields_do_not_hold():
    first = ENCODER.encode({"a": 1, "b": "s"})
    twice = b"\x0a\0\0\0\x02" + ENCODER.encode_all(["a", 1, "a", 2])
    for wire in (first + twice, first + ENCODER.encode(5)):
        with pytest.raises(columns.MismatchError) as caught:
            list(columns.read(wire, pairs=False, columns=["value.a"]))
        assert (caught.value.offset, caught.value.record) == (len(first), 1)
    with pytest.raises(columns.MismatchError, match=r"DOUBLE in column 'value', which holds int.*path \['a'\]"):
        read([{"a": 1}, {"a": 2.5}], columns=["value.a"])
    (batch,) = read([{"a": 1}, {"a": 2.5}], columns=["value.a"], on_mismatch="widen")
    assert batch.column(0).tolist() == [1.0, 2.5]
    other = b"\x0a\0\0\0\x02" + ENCODER.encode_all(["b", 1, "b", 2])  # keys that are not wanted may come twice
    assert read_one([{"a": 1}], columns=["value.a"]).schema == {"value.a": "int"}
    assert [len(batch) for batch in columns.read(first + other, pairs=False, columns=["value.a"])] == [2]
    for cut in range(len(first) + 1, len(first + other)):
        with pytest.raises(tb.TruncatedError):
            list(columns.read((first + other)[:cut], pairs=False, columns=["value.a"]))
    for names in None, ["value.a"]:
        with pytest.raises(tb.FormatError, match="negative length or count -1 of STRING"):
            list(columns.read(first + b"\x0a\0\0\0\1\7\xff\xff\xff\xff", pairs=False, columns=names))


def test_maps_with_many_keys_or_keys_twice_stay_maps():
    many = [{str(n): n} for n in range(300)] + [{"x": "s"}]
    batch = read_one(many, on_mismatch="widen")
    assert batch.schema == {"value": "map<string, raw>"} and list(tb.Reader(written(batch))) == many
    twice = b"\x0a\0\0\0\x02" + ENCODER.encode_all(["x", 1, "x", 2])
    (batch,) = columns.read(twice + ENCODER.encode({"x": "s"}), pairs=False, on_mismatch="widen")
    assert batch.schema == {"value": "map<string, raw>"} and written(batch) == twice + ENCODER.encode({"x": "s"})
    fields = [{"x": 1, "y": "s"}] + [{str(n): n} for n in range(300)]
    batch = read_one(fields, on_mismatch="widen")
    assert batch.schema == {"value": "raw"} and list(tb.Reader(written(batch))) == fields


def test_maps_that_would_lack_much_stay_maps():
    rows = [{f"k{n}": (0.5,) * 1000} for n in range(100)] + [{"k0": "s"}]
    batch = read_one(rows, on_mismatch="widen")
    assert batch.schema == {"value": "map<string, raw>"} and list(tb.Reader(written(batch))) == rows


def test_a_map_with_a_vector_too_long_for_columns_is_no_struct():
    rows = [{"a": 1, "b": (1, "s") * 600}]
    with pytest.raises(columns.MismatchError, match="VECTOR in column 'value', which holds int"):
        read(rows)
    with pytest.raises(
        tb.LimitError, match="more than 1024 items of different types cannot be columns: pass a schema with raw"
    ):
        read(rows, on_mismatch="widen")
    assert list(tb.Reader(written(read_one(rows, schema={"value": "raw"})))) == rows


@pytest.mark.parametrize("name", ["a\0", "\0"])
@pytest.mark.parametrize("other", [None, "b"])
def test_maps_whose_keys_cannot_be_names_stay_maps(name, other):
    rows = [{name: 1}, {other or name: "s"}]
    batch = read_one(rows, on_mismatch="widen")
    assert batch.schema == {"value": "map<string, raw>"} and list(tb.Reader(written(batch))) == rows


def test_nulls_among_maps_that_become_structs():
    rows = [{"a": 1}, None, {}, {"a": 1, "b": "s"}, None]
    wire = tb.Encoder(dialect="hive").encode_all(rows)
    (batch,) = columns.read(wire, pairs=False, on_mismatch="widen", dialect="hive")
    assert batch.schema == {"value": "struct<a: int, b: string>"}
    assert [row and without_nulls(row) for row in objects_of(batch)] == rows
    assert written(batch) == wire


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "float", "double"])
def test_each_size_of_number_in_a_struct(kind):
    rows = [{"a": 1, "b": "s"}, {"a": -2, "b": "t"}]
    column = pyarrow.array(rows, pyarrow.struct([("a", kind), ("b", "string")]))
    assert list(tb.Reader(written([column], structs="map"))) == rows
    assert list(tb.Reader(written([column]))) == [(1, "s"), (-2, "t")]


def test_numpy_has_a_dict_of_fields():
    batch = read_one([{"x": 1, "y": "s", "v": (1.5, 2.5)}, {"y": "t", "v": (3.5, 4.5)}])
    found = batch.column("value")
    assert list(found) == ["x", "y", "v"]
    assert found["x"].tolist() == [1, None] and found["y"].tolist() == ["s", "t"]
    assert numpy.array_equal(batch.column("value.v.1"), [2.5, 4.5])
    held = batch.buffers("value")
    assert held["x"]["valid"][0] & 3 == 1 and bytes(held["y"]["data"]) == b"st"
    with pytest.raises(LookupError, match="no part 'z' in struct<x: int"):
        batch.column("value.z")


def test_arrow_structs_as_maps():
    column = pyarrow.array([{"x": 1, "y": "s"}, {"x": None, "y": "t"}, None])
    with pytest.raises(tb.EncodeValueError, match="value is null"):
        written([column], structs="map")
    assert list(tb.Reader(written([column[:2]], structs="map"))) == [{"x": 1, "y": "s"}, {"y": "t"}]
    assert list(tb.Reader(written([column], structs="map", nulls="value"))) == [
        {"x": 1, "y": "s"},
        {"x": None, "y": "t"},
        None,
    ]
    lists = pyarrow.array([[{"x": 1, "z": {"w": True}}], []])
    assert list(tb.Reader(written([lists], structs="map"))) == [[{"x": 1, "z": {"w": True}}], []]
    assert list(tb.Reader(written([column[:1]]))) == [(1, "s")]
    twins = pyarrow.StructArray.from_arrays([pyarrow.array([1]), pyarrow.array([2])], names=["x", "x"])
    with pytest.raises(tb.EncodeTypeError, match="several fields of one name: x, x"):
        written([twins], structs="map")
    with pytest.raises(ValueError, match='structs must be "vector" or "map"'):
        written([column], structs="dict")


def test_a_number_beyond_long_in_a_struct_is_refused():
    rows = [{"u": 1, "s": "x"}, {"u": 2**63, "s": "y"}]
    column = pyarrow.array(rows, pyarrow.struct([("u", "uint64"), ("s", "string")]))
    assert list(tb.Reader(written([column[:1]], structs="map"))) == rows[:1]
    with pytest.raises(tb.EncodeValueError):
        written([column], structs="map")


def test_round_trip_by_arrow():
    rows = [{"id": n, "name": str(n), "tags": ["a"] * (n % 3)} for n in range(100)]
    table = pyarrow.table(columns.read(ENCODER.encode_all(rows), pairs=False))
    assert written(table, structs="map") == ENCODER.encode_all(rows)


def test_missing_fields_end_a_batch_before_they_take_much_memory():
    wide = {"id": 1, "vector": (0.5,) * 1000}
    rows = [wide] + [{"id": n} for n in range(5000)]
    batches = read(rows)
    assert len(batches) > 1 and sum(map(len, batches)) == len(rows)
    assert max(map(len, batches)) <= (16 << 20) // 8000 + 2
    assert all(batch.schema == batches[0].schema for batch in batches)
    late = [{"id": n, "name": "x"} for n in range(5000)] + [wide]
    batches = read(late, on_mismatch="widen")
    assert sum(map(len, batches)) == len(late)
    assert without_nulls(objects_of(batches[-1]))[-1] == {"id": 1, "vector": list(wide["vector"])}
    lacking = ENCODER.encode([wide] + [{}] * 5000)
    with pytest.raises(tb.LimitError, match="the fields that MAPs of a column lack take more than"):
        list(columns.read(lacking, pairs=False))


def test_type_texts():
    for text in ("struct<x: int>", 'struct<"a b": list<struct<y: bytes>>, short: long>', 'struct<"": int, "1": int>'):
        assert columns.read(b"", schema=[text], pairs=False).schema == {"value": text}
    for text in (
        "struct<>",
        "struct<x>",
        "struct<x: int, x: int>",
        'struct<"x: int>',
        "struct<1: int>",
        "struct<x int>",
        'struct<"\\0": int>',
        "struct<x: short>",
    ):
        with pytest.raises(ValueError, match="is not a column type|does not exist in dialect"):
            columns.read(b"", schema=[text], pairs=False)


def test_a_struct_within_columns_that_are_not_read_is_skipped():
    data = ENCODER.encode_pairs([("a", ({"x": 1, "y": "s"}, 5)), ("b", ({"z": 1}, 6))])
    (batch,) = columns.read(data, columns=["key", "value.1"])
    assert batch.column("value.1").tolist() == [5, 6]


@pytest.mark.uncounted("coverage.py imports json")
def test_json_is_not_imported_for_plain_names():
    run_fresh(
        "import sys, typedbytes as tb; from typedbytes import columns\n"
        "(batch,) = columns.read(tb.dumps({'x': 1, 'y': 's'}), pairs=False)\n"
        "assert batch.schema == {'value': 'struct<x: int, y: string>'} and 'json' not in sys.modules"
    )


@pytest.mark.parametrize(
    "rows",
    [
        [{"b": 1.0}, {"a": 1.0}, {"a": "x"}],
        [{}, {"a": b"x"}, {"a": 1}],
        [None, {"a": 1}, {"a": "x"}],
        [[], [{}], [{"a": 1}], [{"a": "x"}]],
        [{}, {"a": 1}, {"a": 2, "b": "x"}],
    ],
    ids=str,
)
def test_fields_that_are_missing_stay_so_when_maps_become_structs(rows):
    batch = read_one(rows, on_mismatch="widen")
    assert len(objects_of(batch)) == len(rows)
    assert written(batch, structs="map") == ENCODER.encode_all(rows)


def test_text_of_maps_that_become_structs_is_checked():
    bad = ENCODER.encode({"a": "??"}).replace(b"??", b"\xff\xfe")
    with pytest.raises(tb.FormatError, match="STRING is not UTF-8") as caught:
        list(columns.read(bad + ENCODER.encode({"a": "x", "b": 5}), pairs=False, on_mismatch="widen"))
    assert (caught.value.offset, caught.value.record, caught.value.path) == (11, 0, '["a"]')


def test_a_struct_that_is_not_made_leaves_the_count_of_missing_fields():
    wide = (0.5,) * 1000
    records = [({"id": n}, {}) for n in range(1300)]
    records = [({"id": 0, "vector": wide}, {"a": wide}), *records, ({"id": 0}, {"b": "text"}), *records]
    batches = list(columns.read(ENCODER.encode_pairs(records), on_mismatch="widen"))
    assert sum(map(len, batches)) == len(records)
    assert max(map(len, batches)) <= (16 << 20) // 8000 + 2


def test_structs_within_structs_with_long_names_take_little_more_memory_than_their_bytes():
    def nested(name):
        value = {name: 1, "z": "s"}
        for _ in range(27):
            value = {"a": value, "z": "s"}
        return value

    fields = [f"r{number}" for number in range(16)]
    values = [{**dict.fromkeys(fields), "p": 1, "q": "s"}, *({field: nested("k" * 20_000)} for field in fields)]
    data = ENCODER.encode_all(values)
    tracemalloc.start()
    try:
        (batch,) = columns.read(data, pairs=False)
        assert tracemalloc.get_traced_memory()[1] < 8 * len(data)
    finally:
        tracemalloc.stop()
    assert objects_of(batch)[1]["r0"]["z"] == "s"


@pytest.mark.parametrize("length", [1, 7, 8, 39, 40, 41, 300])
def test_names_of_any_length_are_compared_to_their_end(length):
    name = "n" * length
    values = [{name: number, "text": "x" * (number % 20)} for number in range(50)]
    others = [{name[:-1] + "m": 1, "text": "other"}, {name + "n": 2, "text": "longer"}]
    rows = objects_of(read_one([*values, *others, *values], on_mismatch="widen"))
    assert [row[name] for row in rows] == [*range(50), None, None, *range(50)]
    assert [row.get("text") for row in rows] == [value["text"] for value in [*values, *others, *values]]
