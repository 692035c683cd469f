"""Columns hold what an exact decoder gives for the same bytes, whatever the source, the policy and the batch size.

Here: types, values, text, mismatches and projections, held against the decoder, the reference and the vectors. Not
here: threads and faults of sources (test_reader), writing (test_writing), Arrow's consumers (test_arrow). Invariant:
expected values come from objects.
"""

import ctypes
import doctest
import inspect
import io
import struct
import sys

import numpy
import pytest
from hypothesis import given, strategies as st

import typedbytes as tb
from fuzz.columns import check_reading
from support import reference
from support.column_pairs import TYPES, like_shaped, many_pairs, pairs_of, read_one
from support.column_values import EXACT, POLICIES, rows_of
from support.strategies import inputs
from support.subprocess_runs import run_fresh
from support.vectors import ROOT, Dribble, exact_repr, short_seeds
from typedbytes import columns

pytestmark = [pytest.mark.free_threaded, pytest.mark.newest_python, pytest.mark.lowest]

PLAIN = {"dialect": "hadoop", "max_depth": 256}


def methods_of(kind):
    """Return the public methods and properties of a class that have examples, by name."""
    return [
        (name, member)
        for name, member in vars(kind).items()
        if not name.startswith("_") and ">>>" in (inspect.getdoc(member) or "")
    ]


@pytest.mark.parametrize("name, member", [*methods_of(columns.Batch), *methods_of(columns.BatchReader)])
def test_the_examples_of_methods_run(name, member):
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(doctest.DocTestParser().get_doctest(member.__doc__, dict(vars(columns)), name, None, 0))
    assert runner.tries and not runner.failures


# -- types ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", TYPES)
def test_the_type_is_that_of_the_first_record(text):
    data = tb.dumps(TYPES[text]) * 3
    batch = read_one(data, pairs=False)
    assert batch.schema == {"value": text} and batch.names == ("value",) and len(batch) == 3
    assert exact_repr([value for (value,) in rows_of(batch)]) == exact_repr(list(tb.Reader(data, **EXACT)))
    assert rows_of(read_one(data, schema=[text], pairs=False)) == rows_of(batch)


@pytest.mark.parametrize("text", ["", "integer", "vector<int", "list<>", "map<int>", "vector<int * 0>",
                                  "vector<string * 2>", "ext<7>", "int int", "vector<int, int...>", "list<int>>", "Int",
                                  "int;", "list<" * 40 + "int" + ">" * 40])  # fmt: skip
def test_text_that_is_not_a_type_is_refused(text):
    with pytest.raises(ValueError, match="column"):
        columns.read(b"", schema=[text], pairs=False)


def test_items_of_one_kind_may_be_spelled_out():
    assert read_one(tb.dumps((1, 2)), schema=["vector<int, int>"], pairs=False).schema == {"value": "vector<int * 2>"}
    assert read_one(tb.dumps((1, 2)), schema=["vector<int...>"], pairs=False).schema == {"value": "vector<int...>"}


def test_hives_codes():
    data = bytes.fromhex("0bfffe0c") * 2
    batch = read_one(data, dialect="hive")
    assert batch.schema == {"key": "short", "value": "unknown"}
    assert batch.column("key").tolist() == [-2, -2] and batch.column("value").tolist() == [None] * 2


def test_a_schema_names_the_columns():
    batch = read_one(pairs_of(("a", 1)), schema={"word": "string", "n": "int"})
    assert batch.schema == {"word": "string", "n": "int"} and batch.column("n").tolist() == [1]


def test_rows_before_a_limit_are_handed_out():
    deep = 1
    for _ in range(31):
        deep = [deep]
    data = tb.dumps([]) * 3 + tb.dumps([deep])
    for threads in (1, 2):
        reader = columns.read(data, 2, pairs=False, threads=threads)
        assert [len(next(reader)), len(next(reader))] == [2, 1]
        with pytest.raises(tb.LimitError) as info:
            next(reader)
        assert (info.value.record, info.value.offset) == (3, 6)


def test_a_schema_allocates_nothing():
    for schema in (["vector<double * 2147483647>"], ["vector<long * 2147483647>"]):
        with pytest.raises(columns.MismatchError):
            next(columns.read(tb.dumps((1.5,)), schema=schema, pairs=False, batch_rows=10**9))


def test_values_too_wide_or_deep_for_columns():
    wide = (1, "a") * 600
    deep = 1
    for _ in range(31):
        deep = [deep]
    for value in (wide, deep):
        data = tb.dumps(0) + tb.dumps(value)
        with pytest.raises(tb.LimitError, match="pass a schema with raw for .* at offset 0, record 0"):
            next(columns.read(data))
        assert read_one(data, schema=["int", "raw"]).column(1).tolist() == [tb.dumps(value)]
    many = tuple(range(100_000))
    assert read_one(tb.dumps(many), pairs=False).column(0).shape == (1, 100_000)


# -- values -----------------------------------------------------------------------------------------------

SOURCES = {
    "bytes": lambda data: data,
    "memoryview": lambda data: memoryview(bytearray(data)),
    "file": io.BytesIO,
    "dribble": Dribble,
}


@given(like_shaped(), st.integers(1, 5), st.sampled_from(sorted(SOURCES)), st.sampled_from([1, 2]))
def test_like_shaped_pairs(pairs, batch_rows, source, threads):
    data = b"".join(reference.dumps(part) for pair in pairs for part in pair)
    with columns.read(SOURCES[source](data), batch_rows, threads=threads) as reader:
        batches = list(reader)
    assert [len(batch) for batch in batches[:-1]] == [batch_rows] * (len(batches) - 1)
    assert exact_repr([row for batch in batches for row in rows_of(batch)]) == exact_repr(
        list(tb.PairReader(data, **EXACT))
    )
    sink = io.BytesIO()
    assert sum(columns.write(sink, batch) for batch in batches) == len(pairs)
    assert sink.getvalue() == data


@given(inputs, st.booleans(), st.sampled_from(POLICIES), st.integers(1, 3))
def test_any_bytes(data, pairs, policy, batch_rows):
    """By columns and by values: the same records, and of several faults the same one first."""
    for dialect in ("hadoop", "hive"):
        options = {"dialect": dialect, "max_depth": 256}
        source = io.BytesIO(data) if data.startswith(b"SEQ") else data  # bytes would be one
        check_reading(data, source, options, pairs=pairs, on_mismatch=policy, batch_rows=batch_rows, threads=1)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_vector_and_every_cut_of_it(policy):
    for seed in short_seeds():
        for dialect in ("hadoop", "hive"):
            for cut in {len(seed), len(seed) - 1, len(seed) // 2, 1}:
                check_reading(
                    seed[:cut], seed[:cut], {"dialect": dialect, "max_depth": 256}, pairs=False, on_mismatch=policy,
                    batch_rows=9, threads=1,
                )  # fmt: skip
        check_reading(seed * 3, seed * 3, PLAIN, pairs=True, on_mismatch=policy, batch_rows=2, threads=2)


SECONDS = [
    (2**40, 5), (1.5, tb.Float(0.5)), ((2**40, 2**41), (2**42, 7)), ((1, 2, 3), (4, 5, 6)),
    ((1.5, 2.5), (0.5, tb.Float(0.5))), ({"a": 1}, {"b": 2, "c": 3}), ([1], [2, 3]), ([[1]], [[2], [3]]),
    ((1, "a"), (2, "b")), ("abc", "de"), ((2**40, "a"), (5, "a")),
]  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("first, second", SECONDS, ids=repr)
def test_every_cut_of_a_record_after_another(first, second, policy):
    start, data = tb.dumps(first), tb.dumps(first) + tb.dumps(second)
    manner = {"pairs": False, "on_mismatch": policy, "batch_rows": 9, "threads": 1}
    for cut in range(len(start), len(data) + 1):
        check_reading(data[:cut], data[:cut], PLAIN, **manner)
    for offset in range(len(start), len(data)):
        spoiled = data[:offset] + b"\xff" + data[offset + 1 :]
        check_reading(spoiled, io.BytesIO(spoiled), PLAIN, **manner)


def test_depth_is_that_of_the_option_whatever_the_schema():
    for value in ([[1]], [5], [(1, 2)], [{"k": 1}], [], {"k": [1]}, (1, [2])):
        for text in ("list<list<int>>", "list<vector<int * 2>>", "map<string, list<int>>", "vector<int, list<int>>"):
            manner = {"pairs": False, "on_mismatch": "error", "batch_rows": 9, "threads": 1, "schema": [text]}
            for max_depth in (1, 2):
                check_reading(tb.dumps(value), tb.dumps(value), {"dialect": "hadoop", "max_depth": max_depth}, **manner)


@pytest.mark.parametrize(
    "text", ["vector<int, vector<int * 2>>", "vector<vector<int * 1>, vector<int * 1>>", "vector<int * 2>"]
)
def test_depth_is_that_of_the_option_for_records_of_one_size(text):
    values = {"vector<int, vector<int * 2>>": (1, (2, 3)), "vector<int * 2>": (1, 2)}
    data = tb.Encoder().encode_pairs([(values.get(text, ((1,), (2,))), 5)] * 2000)
    for max_depth in (0, 1, 2):
        for threads in (1, 2):
            manner = {
                "pairs": True,
                "on_mismatch": "error",
                "batch_rows": 500,
                "threads": threads,
                "schema": [text, "int"],
            }
            check_reading(data, data, {"dialect": "hadoop", "max_depth": max_depth}, **manner)


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "stream").glob("*.tb")) + sorted((ROOT / "foreign").rglob("*.tb")),
    ids=lambda path: path.stem,
)
def test_streams_of_vectors(path):
    data = path.read_bytes()
    for policy in POLICIES:
        for pairs in (False, True):
            check_reading(data, io.BytesIO(data), PLAIN, pairs=pairs, on_mismatch=policy, batch_rows=65536, threads=1)


@given(
    st.lists(
        st.tuples(st.sampled_from([(1, 1.5), (2**40, 0.25), ("a", (1, 2)), (1, True), (1, tb.Float(0.5))])), max_size=60
    ),
    st.integers(1, 70),
)
def test_records_of_one_size_with_others_between(rows, batch_rows):
    data = pairs_of(*([(3, 4.5)] * 40 + [pair for (pair,) in rows] + [(3, 4.5)] * 20))
    for policy in POLICIES:
        check_reading(data, data, PLAIN, pairs=True, on_mismatch=policy, batch_rows=batch_rows, threads=2)


@pytest.mark.parametrize("value", [("", 1), ["", ""], {"": ""}, ([("", b"")],)])
def test_empty_texts_within_values(value):
    data = tb.Encoder().encode_all([value] * 5)
    (batch,) = columns.read(data, pairs=False)
    sink = io.BytesIO()
    columns.write(sink, batch, pairs=False)
    assert sink.getvalue() == data


def test_numbers_become_arrays_of_their_width():
    rows = [
        (tb.Byte(1), (True, 2, 2**40, tb.Float(0.5), 0.25)),
        (tb.Byte(-1), (False, -2, -(2**40), tb.Float(-0.5), -0.25)),
    ]
    batch = read_one(pairs_of(*rows))
    found = [batch.column("key"), *batch.column("value")]
    assert [column.dtype.name for column in found] == ["int8", "bool", "int32", "int64", "float32", "float64"]
    assert [column.tolist() for column in found[1:]] == [list(items) for items in zip(*(value for _, value in rows))]
    assert all(not column.flags.writeable for column in found)


def test_arrays_are_over_the_memory_of_the_batch_and_keep_it():
    batch = read_one(pairs_of(*((number, (number / 2, number / 4)) for number in range(1000))))
    for name in ("key", "value", "value.1"):
        assert numpy.shares_memory(batch.column(name), batch.column(name))
    kept = batch.column("value"), batch.buffers("key")["data"]
    del batch
    junk = [bytes(16_000) for _ in range(100)]
    assert kept[0].tolist() == [[number / 2, number / 4] for number in range(1000)]
    assert kept[1].tolist() == list(range(1000))
    del junk


def test_nested_columns_by_path():
    batch = read_one(pairs_of(("a", ([1, 2], {"k": "v"}, (1, 2))), ("b", ([], {}, (3, 4)))))
    offsets, items = batch.column("value.0")
    assert offsets.tolist() == [0, 2, 2] and items.tolist() == [1, 2]
    offsets, keys, mapped = batch.column("value.1")
    assert offsets.tolist() == [0, 1, 1] and keys.tolist() == ["k"] and mapped.tolist() == ["v"]
    assert batch.column("value.0.item").tolist() == [1, 2] and batch.column("value.1.value").tolist() == ["v"]
    assert batch.column("value.2.1").tolist() == [2, 4] and batch.column("value.2").tolist() == [[1, 2], [3, 4]]
    for name in (
        "values",
        "value.3",
        "value.0.items",
        "value.2.2",
        "value.2.x",
        "value.2.1.1",
        "value.2.\xb2",
        "value.2.\u0661",
        "key.0",
        2,
        -1,
    ):
        with pytest.raises(LookupError):
            batch.column(name)


# -- text -------------------------------------------------------------------------------------------------

BAD_TEXTS = [
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xc0\x80",
    b"\xf4\x90\x80\x80",
    b"\xe2\x82",
    b"a" * 5000 + b"\x80",
    b"\xc3\xa9" * 3000 + b"\xc3",
]


def encoded_text(payload):
    """Return a STRING of any bytes."""
    return struct.pack(">Bi", 7, len(payload)) + payload


@pytest.mark.parametrize("bad", BAD_TEXTS, ids=lambda payload: payload[-4:].hex())
@pytest.mark.parametrize("before", [0, 1, 700])
def test_text_that_is_not_utf8(bad, before):
    good = encoded_text("\xe9\u20ac\U0001f600".encode())
    data = good * before + encoded_text(bad) + good
    check_reading(data, data, PLAIN, pairs=False, on_mismatch="error", batch_rows=100, threads=1)
    with pytest.raises(tb.FormatError, match="not UTF-8") as info:
        list(columns.read(data, pairs=False))
    assert (info.value.record, info.value.offset) == (before, len(good) * before)


def test_texts_that_are_utf8_only_together():
    data = encoded_text(b"\xe2\x82") + encoded_text(b"\xac") + encoded_text(b"x")
    with pytest.raises(tb.FormatError) as info:
        list(columns.read(data, pairs=False))
    assert info.value.record == 0


@given(st.lists(st.text(max_size=3000), min_size=1, max_size=20))
def test_long_texts(texts):
    data = tb.Encoder().encode_all(texts)
    assert [text for batch in columns.read(data, pairs=False) for text in batch.column(0)] == texts


# -- mismatches -------------------------------------------------------------------------------------------


HINT = ' (on_mismatch="widen" or "split" continues)'


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([(1, 2), (1, 2.0)], ("DOUBLE in column 'value', which holds int{HINT},", 10 + 5, 6, "", 1)),
        ([(1, 2), ("a", 2)], ("STRING in column 'key', which holds int{HINT},", 10, 7, "", 1)),
        ([(1, (1, 2)), (1, (1, 2**40))],
         ("LONG in column 'value', which holds vector<int * 2>{HINT},", 20 + 5 + 5 + 5, 4, "[1]", 1)),
        ([(1, (1, 2)), (1, (1,))], ("VECTOR in column 'value', which holds vector<int * 2>{HINT},", 20 + 5, 8, "", 1)),
        ([(1, [1, "a"])], ("STRING in column 'value', which holds int{HINT},", 5 + 1 + 5, 7, "[1]", 0)),
        ([(1, ("a", [5, [1, "a"]]))],
         ("LIST in column 'value', which holds int{HINT},", 5 + 5 + 6 + 1 + 5, 9, "[1][1]", 0)),
        ([(1, {1: 2, 3: 4.5})], ("DOUBLE in column 'value', which holds int{HINT},", 5 + 5 + 15, 6, ".value(1)", 0)),
        ([(1, {1: 2, "a": 4})], ("STRING in column 'value', which holds int{HINT},", 5 + 5 + 10, 7, ".key(1)", 0)),
        ([(1, 2**70), (1, 5)],
         ("INT in column 'value', which holds ext<100>{HINT},", 10 + len(tb.dumps(2**70)), 3, "", 1)),
    ],
)  # fmt: skip
def test_a_mismatch_says_what_and_where(rows, said):
    data = pairs_of(*rows)
    before = [row for batch in columns.read(pairs_of(*rows[: said[-1]])) for row in rows_of(batch)]
    reader, found = columns.read(data), []
    with pytest.raises(columns.MismatchError) as info:
        for batch in reader:
            found += rows_of(batch)
    error = info.value
    assert (error.message, error.offset, error.code, error.path, error.record) == (said[0].format(HINT=HINT), *said[1:])
    assert exact_repr(found) == exact_repr(before)
    with pytest.raises(columns.MismatchError):
        next(reader)


def test_widening_keeps_every_value():
    rows = [(1, (1, 2)), (2**40, (3, 4)), (5, (2**40, 6)), (7, (8,)), ("w", (9, 10)), (tb.Float(0.1), 0.1)]
    for n, schema in enumerate(
        [
            {"key": "int", "value": "vector<int * 2>"},
            {"key": "long", "value": "vector<int * 2>"},
            {"key": "long", "value": "vector<long * 2>"},
            {"key": "long", "value": "vector<long...>"},
            {"key": "raw", "value": "vector<long...>"},
            {"key": "raw", "value": "raw"},
        ]
    ):
        batch = read_one(pairs_of(*rows[: n + 1]), on_mismatch="widen")
        assert batch.schema == schema
    assert [tb.loads(piece) for piece in batch.column(0)] == [tb.loads(tb.dumps(key)) for key, _ in rows]
    assert [tb.loads(piece) for piece in batch.column(1)] == [value for _, value in rows]


LAST_EXACT = 2**53  # a DOUBLE has each integer up to it


@pytest.mark.parametrize(
    ("values", "schema"),
    [
        ([1, 2.5], "double"),
        ([2.5, 1], "double"),
        ([1, None, 2.5], "double"),
        ([tb.Float(0.5), 3], "double"),
        ([3, tb.Float(0.5)], "double"),
        ([LAST_EXACT, -LAST_EXACT, 0.5, LAST_EXACT, -LAST_EXACT], "double"),
        ([LAST_EXACT + 1, 0.5], "raw"),
        ([-LAST_EXACT - 1, 0.5], "raw"),
        ([0.5, LAST_EXACT + 1], "raw"),
        ([tb.Float(0.5), -LAST_EXACT - 1], "raw"),
        ([1, 2.5, "x"], "raw"),
        ([1, 2.5, True], "raw"),
        ([(1, 2), (0.5, LAST_EXACT), (tb.Float(0.5), 3)], "vector<double * 2>"),
        ([(1.5, 2.5), (1, LAST_EXACT + 1)], "raw"),
        ([(LAST_EXACT + 1, LAST_EXACT + 1), (1, 0.5)], "raw"),
        ([(1, "x"), (2.5, "y")], "vector<double, string>"),
        ([[1], [2.5, LAST_EXACT]], "list<double>"),
        ([{"a": 1}, {"a": 2.5}], "struct<a: double>"),
        ([{"a": 1, "b": 2}, {"a": 1, "b": 2.5}], "struct<a: int, b: double>"),
        ([{"a": 2.5, "b": 0.5}, {"a": 1, "b": 0.5}], "struct<a: double, b: double>"),
        ([{1: 2}, {3: 2.5}, {4: LAST_EXACT}], "map<int, double>"),
        ([{1: 2.5}, {2: LAST_EXACT + 1}], "map<int, raw>"),
        ([{str(n): n for n in range(300)}, {"x": 2.5}], "map<string, double>"),
    ],
)  # fmt: skip
def test_integers_and_real_numbers_widen_to_double_unless_digits_would_be_lost(values, schema):
    wire = tb.Encoder().encode_all(values)
    for batch_rows in (65536, 1):
        batches = list(columns.read(wire, batch_rows, pairs=False, on_mismatch="widen"))
        sink = io.BytesIO()
        for batch in batches:
            columns.write(sink, batch, pairs=False)
        assert list(tb.Reader(sink.getvalue())) == list(tb.Reader(wire))  # 1 == 1.0
        if batch_rows > 1:
            assert [batch.schema["value"] for batch in batches] == [schema]


def test_widening_floats_is_exact():
    bits = [0x3DCCCCCD, 0x7F800001, 0xFFC00001, 0x80000000, 0x00000001, 0x7F800000]
    data = b"".join(struct.pack(">BI", 5, number) for number in bits) + tb.dumps(0.5)
    (batch,) = columns.read(data, pairs=False, on_mismatch="widen")
    assert [reference.widen(number) for number in bits].__repr__() == batch.column(0)[:-1].tolist().__repr__()
    wide = [struct.unpack(">Q", struct.pack(">d", reference.widen(number)))[0] for number in bits]
    assert batch.column(0).view("u8").tolist()[:-1] == wide


def test_a_wider_type_lasts():
    data = pairs_of((1, 1), (2**40, 1), (1, 1), (1, 1))
    assert [batch.schema["key"] for batch in columns.read(data, batch_rows=2, on_mismatch="widen")] == ["long", "long"]


def test_splitting_starts_a_schema_where_the_kinds_change():
    data = pairs_of((1, 1), (2, 2), ("a", 1), (3, 3), (4, 4), (5, 5.5))
    found = [
        (list(batch.schema.values()), len(batch)) for batch in columns.read(data, batch_rows=2, on_mismatch="split")
    ]
    assert found == [(["int", "int"], 2), (["string", "int"], 1), (["int", "int"], 2), (["int", "double"], 1)]


# -- projection -------------------------------------------------------------------------------------------


@given(like_shaped(), st.integers(1, 5))
def test_a_projection_is_a_part_of_the_whole(pairs, batch_rows):
    data = b"".join(reference.dumps(part) for pair in pairs for part in pair)
    whole = list(columns.read(data, batch_rows))
    for wanted, pick in {
        ("key",): lambda row: row[:1],
        ("value",): lambda row: row[1:],
        ("value", "key"): lambda row: row[::-1],
    }.items():
        batches = list(columns.read(data, batch_rows, columns=wanted))
        assert [batch.names for batch in batches] == [wanted] * len(whole)
        assert exact_repr([rows_of(batch) for batch in batches]) == exact_repr(
            [[pick(row) for row in rows_of(batch)] for batch in whole]
        )


def test_items_of_vectors_can_be_wanted():
    rows = [(number, ("a" * number, (number / 2, number), [number])) for number in range(50)]
    for batch_rows in (7, 100):
        batches = list(columns.read(pairs_of(*rows), batch_rows, columns=["value.1.0", "value.0"]))
        assert [value for batch in batches for value in batch.column("value.1.0")] == [
            number / 2 for number in range(50)
        ]
        assert [value for batch in batches for value in batch.column(1)] == ["a" * number for number in range(50)]
    with pytest.raises(LookupError):
        next(columns.read(pairs_of(*rows), columns=["value.5"]))
    for name in ("values", "value.\xb2", "value.x", "value.2.item"):
        with pytest.raises(LookupError):
            next(columns.read(pairs_of(*rows), columns=[name]))


def test_what_is_not_wanted_may_be_of_any_kind():
    rows = [(number, (number, "a", 2.5, [], {})[number % 5]) for number in range(40)]
    batch = read_one(pairs_of(*rows), columns=["key"])
    assert batch.column("key").tolist() == list(range(40))
    assert "value" not in batch.schema
    with pytest.raises(tb.TruncatedError):
        list(columns.read(pairs_of(*rows)[:-1], columns=["key"]))


# -- what is not there ------------------------------------------------------------------------------------


def test_nothing_is_imported_until_an_array_is_asked_for():
    code = """
        import sys
        sys.modules["numpy"] = None
        import array, io, typedbytes as tb
        from typedbytes import columns
        data = tb.Encoder().encode_pairs([("a", 1), ("b", 2)])
        (batch,) = columns.read(data)
        held = batch.buffers("value")["data"]
        schema, exported = batch.__arrow_c_array__()
        stream = columns.read(data).__arrow_c_stream__()
        sink = io.BytesIO()
        columns.write(sink, {"key": ["a", "b"], "value": array.array("i", held.tolist())})
        assert sink.getvalue() == data
        try:
            batch.column("value")
        except ImportError as error:
            print(held.tolist(), [name for name in ("numpy", "pyarrow") if sys.modules.get(name)], error)
    """
    needed = "a column as an array needs NumPy: pip install 'typedbytes[numpy]'; buffers() and Arrow data do without"
    assert run_fresh(code) == f"[1, 2] [] {needed}"


def test_memory_follows_the_input():
    declared = [
        b"\x07\x7f\xff\xff\xff" + b"abc",
        b"\x08\x7f\xff\xff\xff" + tb.dumps(1) * 10,
        b"\x0a\x7f\xff\xff\xff" + tb.dumps(1) * 10,
        b"\x09" + tb.dumps(1) * 10,
    ]
    code = """
        import resource, sys
        from typedbytes import columns, DecodeError
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for line in sys.argv[1:]:
            data = bytes.fromhex(line)
            for batch_rows in (10, 10**9):
                try:
                    list(columns.read(data, batch_rows, pairs=False))
                except DecodeError as error:
                    assert type(error).__name__ == "TruncatedError" and error.offset == len(data)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2048)
    """
    assert run_fresh(code, *(each.hex() for each in declared)) == "True"


def test_objects_of_columns_cannot_be_pickled_or_made_by_hand():
    import pickle

    with pytest.raises(TypeError):
        pickle.dumps(read_one(pairs_of((1, 1))))
    with pytest.raises(TypeError):
        len(columns.Batch())


def test_the_memory_of_a_batch_cannot_be_changed():
    held = read_one(pairs_of((1, "abc"))).buffers("value")["data"]
    with pytest.raises(BufferError, match="the memory of a Batch is read-only"):
        # PyBUF_WRITABLE
        ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(held.obj), ctypes.create_string_buffer(200), 1)
    assert bytes(held) == b"abc"


def test_no_memory_is_left_allocated():
    code = """
        import array, gc, io, itertools, sys, tracemalloc
        sys.path[:0] = sys.argv[1:]
        import typedbytes as tb
        from fuzz import inputs
        from typedbytes import columns
        makers = lambda n: (n, {"k": [float(n)], "l": []}), lambda n: ((n, n), "text"), lambda n: (n, 1.5)
        nested = [list(map(make, range(200))) for make in makers]
        wires = [tb.Encoder().encode_pairs(pairs) for pairs in nested]
        wires += [wire[:-3] for wire in wires] + [wires[1] + wires[2], wires[2] + wires[1], *inputs.seeds()[::7]]

        def spend():
            for wire, policy in itertools.product(wires, ("error", "widen", "split")):
                for batch_rows in (30, 10_000):
                    try:
                        for batch in columns.read(wire, batch_rows, on_mismatch=policy):
                            batch.__arrow_c_array__(), batch.__arrow_c_stream__()
                            columns.write(io.BytesIO(), batch)
                    except tb.DecodeError:
                        pass
            for batch in columns.read(wires[1], 70).groups():
                len(batch)
            for batch in columns.read(wires[1], 70, columns=["value", "key.1"]):
                keys, halves = array.array("H", range(len(batch))), array.array("d", [0.5] * len(batch))
                columns.write(io.BytesIO(), [keys, (halves, batch.buffers(0)["data"].cast("B")[: len(batch)])])
                try:
                    columns.write(io.BytesIO(), [[1, 2], (array.array("H", [1]), ["a", "b"])])
                except tb.EncodeError:
                    pass

        tracemalloc.start()
        spend()
        marks = []
        for _ in range(4):
            gc.collect()
            marks.append(tracemalloc.get_traced_memory()[0])
            spend()
        # Caches are full one day; a leak grows every time.
        assert min(after - before for before, after in zip(marks, marks[1:])) < 1000, marks
    """
    run_fresh(code, ROOT.parent / "tests")


def test_references_stay_even():
    data = many_pairs(500)
    batch = read_one(data)
    before = sys.getrefcount(batch)
    for _ in range(50):
        batch.column(1), batch.buffers(0), batch.__arrow_c_array__(), batch.__arrow_c_stream__()
    assert sys.getrefcount(batch) == before


@pytest.mark.parametrize("source", [io.BytesIO, Dribble])
def test_the_record_by_which_a_column_becomes_raw_is_encoded_as_it_came(source):
    data = tb.Encoder().encode_all([[-4, 2**53 + 1], [0, "k", -1]])
    (batch,) = columns.read(source(data), pairs=False, on_mismatch="widen")
    assert batch.column("value.item").tolist()[2:] == [tb.dumps(0), tb.dumps("k"), tb.dumps(-1)]


def test_keys_that_become_raw_have_the_groups_of_equal_keys():
    data = tb.Encoder().encode_pairs([((1.5,), 1), ((4, "x"), 2), ((4, "x"), 3)])
    assert [len(batch) for batch in columns.read(data, 1, on_mismatch="widen").groups()] == [1, 2]


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_names_that_arrow_cannot_have(name):
    pairs = tb.Encoder().encode_pairs([(1, {"a": 2})])
    with pytest.raises(ValueError, match="text without NUL and surrogates, not "):
        columns.read(pairs, schema={name: "int", "a": "int"})
    with pytest.raises(ValueError, match="text without NUL and surrogates, not "):
        columns.read(pairs, columns=["key", f"value.{name}"])
