"""Columns hold what an exact decoder gives for the same bytes, whatever the source, the policy and the batch size; written again, they give the bytes of the encoder.

What belongs here: reading and writing columns, held against the decoder, the reference and the vectors. What this file must
not know: Arrow's consumers, which have a file of their own. What is always true in it: expected values come from objects.
"""

import array
import collections
import contextlib
import ctypes
import doctest
import inspect
import io
import mmap
import os
import pathlib
import signal
import struct
import sys
import threading
import time

import numpy
import pytest
from hypothesis import given, strategies as st

import reference
import typedbytes as tb
from column_pairs import TYPES, like_shaped, many_pairs, pairs_of, read_one, written
from column_values import EXACT, rows_of
from fresh import run_fresh
from fuzz.columns import check_reading
from seeds import short_seeds
from signal_checks import times_checked
from strategies import inputs
from typedbytes import columns
from typedbytes.columns import _native
from vectors import ROOT, Dribble, spell

PLAIN = {"dialect": "hadoop", "max_depth": 256}
POLICIES = ("error", "widen", "split")


def methods_of(kind):
    """Return the public methods and properties of a class that have examples, by name."""
    return [(name, member) for name, member in vars(kind).items() if not name.startswith("_") and ">>>" in (inspect.getdoc(member) or "")]


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
    assert spell([value for (value,) in rows_of(batch)]) == spell(list(tb.Reader(data, **EXACT)))
    assert rows_of(read_one(data, schema=[text], pairs=False)) == rows_of(batch)


@pytest.mark.parametrize("text", ["", "integer", "vector<int", "list<>", "map<int>", "vector<int * 0>", "vector<string * 2>", "ext<7>", "int int",
                                  "vector<int, int...>", "list<int>>", "Int", "int;", "list<" * 40 + "int" + ">" * 40])  # fmt: skip
def test_text_that_is_not_a_type_is_refused(text):
    with pytest.raises(ValueError, match="column"):
        columns.read(b"", schema=[text], pairs=False)


def test_items_of_one_kind_may_be_spelled_out():
    assert read_one(tb.dumps((1, 2)), schema=["vector<int, int>"], pairs=False).schema == {"value": "vector<int * 2>"}
    assert read_one(tb.dumps((1, 2)), schema=["vector<int...>"], pairs=False).schema == {"value": "vector<int...>"}


def test_hives_codes():
    data = bytes.fromhex("0bfffe0c") * 2
    batch = read_one(data, dialect="hive")
    assert batch.schema == {"key": "short", "value": "raw"}
    assert batch.column("key").tolist() == [-2, -2] and batch.column("value").tolist() == [b"\x0c"] * 2


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
    assert spell([row for batch in batches for row in rows_of(batch)]) == spell(list(tb.PairReader(data, **EXACT)))
    sink = io.BytesIO()
    assert sum(columns.write(sink, batch) for batch in batches) == len(pairs)
    assert sink.getvalue() == data


@given(inputs, st.booleans(), st.sampled_from(POLICIES), st.integers(1, 3))
def test_any_bytes(data, pairs, policy, batch_rows):
    for dialect in ("hadoop", "hive"):
        options = {"dialect": dialect, "max_depth": 256}
        source = io.BytesIO(data) if data.startswith(b"SEQ") else data  # in memory that is a SequenceFile
        check_reading(data, source, options, pairs=pairs, on_mismatch=policy, batch_rows=batch_rows, threads=1)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_vector_and_every_cut_of_it(policy):
    for seed in short_seeds():
        for dialect in ("hadoop", "hive"):
            for cut in {len(seed), len(seed) - 1, len(seed) // 2, 1}:
                check_reading(
                    seed[:cut], seed[:cut], {"dialect": dialect, "max_depth": 256}, pairs=False, on_mismatch=policy, batch_rows=9, threads=1
                )
        check_reading(seed * 3, seed * 3, PLAIN, pairs=True, on_mismatch=policy, batch_rows=2, threads=2)


SECONDS = [
    (2**40, 5), (1.5, tb.Float(0.5)), ((2**40, 2**41), (2**42, 7)), ((1, 2, 3), (4, 5, 6)), ((1.5, 2.5), (0.5, tb.Float(0.5))),
    ({"a": 1}, {"b": 2, "c": 3}), ([1], [2, 3]), ([[1]], [[2], [3]]), ((1, "a"), (2, "b")), ("abc", "de"), ((2**40, "a"), (5, "a")),
]  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("first, second", SECONDS, ids=repr)
def test_every_cut_of_a_record_behind_another(first, second, policy):
    start, data = tb.dumps(first), tb.dumps(first) + tb.dumps(second)
    manner = {"pairs": False, "on_mismatch": policy, "batch_rows": 9, "threads": 1}
    for cut in range(len(start), len(data) + 1):
        check_reading(data[:cut], data[:cut], PLAIN, **manner)
    for place in range(len(start), len(data)):
        spoiled = data[:place] + b"\xff" + data[place + 1 :]
        check_reading(spoiled, io.BytesIO(spoiled), PLAIN, **manner)


def test_depth_is_that_of_the_option_whatever_the_schema():
    for value in ([[1]], [5], [(1, 2)], [{"k": 1}], [], {"k": [1]}, (1, [2])):
        for text in ("list<list<int>>", "list<vector<int * 2>>", "map<string, list<int>>", "vector<int, list<int>>"):
            manner = {"pairs": False, "on_mismatch": "error", "batch_rows": 9, "threads": 1, "schema": [text]}
            for max_depth in (1, 2):
                check_reading(tb.dumps(value), tb.dumps(value), {"dialect": "hadoop", "max_depth": max_depth}, **manner)


@pytest.mark.parametrize("text", ["vector<int, vector<int * 2>>", "vector<vector<int * 1>, vector<int * 1>>", "vector<int * 2>"])
def test_depth_is_that_of_the_option_for_records_of_one_size(text):
    values = {"vector<int, vector<int * 2>>": (1, (2, 3)), "vector<int * 2>": (1, 2)}
    data = tb.Encoder().encode_pairs([(values.get(text, ((1,), (2,))), 5)] * 2000)
    for max_depth in (0, 1, 2):
        for threads in (1, 2):
            manner = {"pairs": True, "on_mismatch": "error", "batch_rows": 500, "threads": threads, "schema": [text, "int"]}
            check_reading(data, data, {"dialect": "hadoop", "max_depth": max_depth}, **manner)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "stream").glob("*.tb")) + sorted((ROOT / "foreign").rglob("*.tb")), ids=lambda path: path.stem
)
def test_streams_of_vectors(path):
    data = path.read_bytes()
    for policy in POLICIES:
        for pairs in (False, True):
            check_reading(data, io.BytesIO(data), PLAIN, pairs=pairs, on_mismatch=policy, batch_rows=65536, threads=1)


@given(
    st.lists(st.tuples(st.sampled_from([(1, 1.5), (2**40, 0.25), ("a", (1, 2)), (1, True), (1, tb.Float(0.5))])), max_size=60),
    st.integers(1, 70),
)
def test_records_of_one_size_with_others_between(rows, batch_rows):
    data = pairs_of(*([(3, 4.5)] * 40 + [pair for (pair,) in rows] + [(3, 4.5)] * 20))
    for policy in POLICIES:
        check_reading(data, data, PLAIN, pairs=True, on_mismatch=policy, batch_rows=batch_rows, threads=2)


def test_numbers_become_arrays_of_their_width():
    rows = [(tb.Byte(1), (True, 2, 2**40, tb.Float(0.5), 0.25)), (tb.Byte(-1), (False, -2, -(2**40), tb.Float(-0.5), -0.25))]
    batch = read_one(pairs_of(*rows))
    found = [batch.column("key"), *batch.column("value")]
    assert [column.dtype.name for column in found] == ["int8", "bool", "int32", "int64", "float32", "float64"]
    assert [column.tolist() for column in found[1:]] == [list(items) for items in zip(*(value for _, value in rows))]
    assert all(not column.flags.writeable for column in found)


def test_arrays_are_over_the_memory_of_the_batch_and_keep_it():
    batch = read_one(pairs_of(*((number, (number / 2, number / 4)) for number in range(1000))))
    for place in ("key", "value", "value.1"):
        assert numpy.shares_memory(batch.column(place), batch.column(place))
    kept = batch.column("value"), batch.buffers("key")["data"]
    del batch
    junk = [bytes(16_000) for _ in range(100)]
    assert kept[0].tolist() == [[number / 2, number / 4] for number in range(1000)] and kept[1].tolist() == list(range(1000))
    del junk


def test_nested_columns_by_path():
    batch = read_one(pairs_of(("a", ([1, 2], {"k": "v"}, (1, 2))), ("b", ([], {}, (3, 4)))))
    offsets, items = batch.column("value.0")
    assert offsets.tolist() == [0, 2, 2] and items.tolist() == [1, 2]
    offsets, keys, mapped = batch.column("value.1")
    assert offsets.tolist() == [0, 1, 1] and keys.tolist() == ["k"] and mapped.tolist() == ["v"]
    assert batch.column("value.0.item").tolist() == [1, 2] and batch.column("value.1.value").tolist() == ["v"]
    assert batch.column("value.2.1").tolist() == [2, 4] and batch.column("value.2").tolist() == [[1, 2], [3, 4]]
    for place in (
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
            batch.column(place)


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


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([(1, 2), (1, 2.0)], ("DOUBLE in column 'value', which holds int,", 10 + 5, 6, "", 1)),
        ([(1, 2), ("a", 2)], ("STRING in column 'key', which holds int,", 10, 7, "", 1)),
        ([(1, (1, 2)), (1, (1, 2**40))], ("LONG in column 'value', which holds vector<int * 2>,", 20 + 5 + 5 + 5, 4, "[1]", 1)),
        ([(1, (1, 2)), (1, (1,))], ("VECTOR in column 'value', which holds vector<int * 2>,", 20 + 5, 8, "", 1)),
        ([(1, [1, "a"])], ("STRING in column 'value', which holds int,", 5 + 1 + 5, 7, "[1]", 0)),
        ([(1, ("a", [5, [1, "a"]]))], ("LIST in column 'value', which holds int,", 5 + 5 + 6 + 1 + 5, 9, "[1][1]", 0)),
        ([(1, {1: 2, 3: 4.5})], ("DOUBLE in column 'value', which holds int,", 5 + 5 + 15, 6, ".value(1)", 0)),
        ([(1, {1: 2, "a": 4})], ("STRING in column 'value', which holds int,", 5 + 5 + 10, 7, ".key(1)", 0)),
        ([(1, None), (1, 5)], ("INT in column 'value', which holds ext<100>,", 14 + 5, 3, "", 1)),
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
    assert (error.message, error.offset, error.code, error.path, error.record) == said
    assert spell(found) == spell(before)
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
    found = [(list(batch.schema.values()), len(batch)) for batch in columns.read(data, batch_rows=2, on_mismatch="split")]
    assert found == [(["int", "int"], 2), (["string", "int"], 1), (["int", "int"], 2), (["int", "double"], 1)]
    with pytest.raises(columns.MismatchError):
        list(columns.read(tb.dumps([1, "a"]), pairs=False, on_mismatch="split"))


# -- projection -------------------------------------------------------------------------------------------


@given(like_shaped(), st.integers(1, 5))
def test_a_projection_is_a_part_of_the_whole(pairs, batch_rows):
    data = b"".join(reference.dumps(part) for pair in pairs for part in pair)
    whole = list(columns.read(data, batch_rows))
    for wanted, pick in {("key",): lambda row: row[:1], ("value",): lambda row: row[1:], ("value", "key"): lambda row: row[::-1]}.items():
        batches = list(columns.read(data, batch_rows, columns=wanted))
        assert [batch.names for batch in batches] == [wanted] * len(whole)
        assert spell([rows_of(batch) for batch in batches]) == spell([[pick(row) for row in rows_of(batch)] for batch in whole])


def test_items_of_vectors_can_be_wanted():
    rows = [(number, ("a" * number, (number / 2, number), [number])) for number in range(50)]
    for batch_rows in (7, 100):
        batches = list(columns.read(pairs_of(*rows), batch_rows, columns=["value.1.0", "value.0"]))
        assert [value for batch in batches for value in batch.column("value.1.0")] == [number / 2 for number in range(50)]
        assert [value for batch in batches for value in batch.column(1)] == ["a" * number for number in range(50)]
    with pytest.raises(LookupError):
        next(columns.read(pairs_of(*rows), columns=["value.5"]))
    for place in ("values", "value.\xb2", "value.x", "value.2.item"):
        with pytest.raises(LookupError):
            next(columns.read(pairs_of(*rows), columns=[place]))


def test_what_is_not_wanted_may_be_of_any_kind():
    rows = [(number, (number, "a", 2.5, [], {})[number % 5]) for number in range(40)]
    batch = read_one(pairs_of(*rows), columns=["key"])
    assert batch.column("key").tolist() == list(range(40))
    assert "value" not in batch.schema
    with pytest.raises(tb.TruncatedError):
        list(columns.read(pairs_of(*rows)[:-1], columns=["key"]))


# -- sources ----------------------------------------------------------------------------------------------


def test_paths_descriptors_and_maps(tmp_path):
    data, path = many_pairs(), tmp_path / "pairs.tb"
    path.write_bytes(data)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        for source in (path, str(path), file.fileno(), file, mapped):
            os.lseek(file.fileno(), 0, os.SEEK_SET)
            with columns.read(source, 1000) as reader:
                found = [number for batch in reader for number in batch.column("value").tolist()]
            assert found == [number + 2**33 for number in range(50_000)]


def test_a_pipe():
    data = many_pairs()
    reading, writing = os.pipe()

    def fill():
        with open(writing, "wb") as sink:
            sink.write(data)

    thread = threading.Thread(target=fill)
    thread.start()
    with open(reading, "rb", buffering=0) as source:
        total = sum(int(batch.column(1).sum()) for batch in columns.read(source, 7000))
    thread.join()
    assert total == sum(number + 2**33 for number in range(50_000))


def test_a_source_that_fails():
    class Failing:
        def read(self, nbytes):
            raise OSError("worn out")

    reader = columns.read(Failing())
    for _ in range(2):
        with pytest.raises(OSError, match="worn out"):
            next(reader)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("error", [OSError("worn out"), KeyError("not a byte")], ids=lambda error: type(error).__name__)
def test_rows_before_an_error_of_the_source_are_handed_out(error, threads):
    class Failing:
        def __init__(self, data):
            self.file = io.BytesIO(data)

        def read(self, nbytes):
            found = self.file.read(nbytes)
            if not found:
                raise error
            return found

    reader = columns.read(Failing(pairs_of(*[(number, 1) for number in range(5)])), 2, threads=threads)
    assert [row for _ in range(3) for row in next(reader).column("key").tolist()] == list(range(5))
    with pytest.raises(type(error)) as info:
        next(reader)
    assert info.value is error


def test_records_larger_than_the_buffer():
    rows = [(number, bytes([number]) * 3_000_000) for number in range(3)]
    data = pairs_of(*rows)
    for source in (data, io.BytesIO(data)):
        assert [value for batch in columns.read(source) for value in batch.column("value")] == [value for _, value in rows]
    with pytest.raises(tb.TruncatedError) as info:
        list(columns.read(io.BytesIO(data[:-1])))
    assert (info.value.offset, info.value.record) == (len(data) - 1, 2)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_keep_the_order(threads):
    fixed = pairs_of(*((number, number / 2) for number in range(20_000)))
    for data in (many_pairs(20_000), fixed):
        for source in (data, io.BytesIO(data)):
            one = [rows_of(batch) for batch in columns.read(source, 1500)]
            if source is not data:
                source.seek(0)
            with columns.read(source, 1500, threads=threads) as reader:
                assert [rows_of(batch) for batch in reader] == one


def read_out(source, threads, waits=False, **options):
    """Return the rows of each batch with its types, and what ended the reading."""
    found = []
    with columns.read(source, 3, threads=threads, **options) as reader:
        try:
            for batch in reader:
                found.append((batch.schema, rows_of(batch)))
                if waits:
                    wait_for_others()
        except tb.DecodeError as error:
            return found, (type(error), str(error), error.record, error.offset, error.path)
    return found, None


def wait_for_others():
    """Let the runs that are under way come to their ends."""
    workers = columns._threads._workers
    together = threading.Barrier(len(workers._threads) + 1)
    for _ in workers._threads:
        workers.call(together.wait, 60)
    together.wait(60)


def test_other_threads_decode_ahead():
    for data in (many_pairs(100), pairs_of(*((number, number / 2) for number in range(100)))):
        with columns.read(data, 3, threads=3) as reader:
            assert len(next(reader)) == 3
            wait_for_others()
            ahead = [batch for run in reader._parallel._runs for batch in run.batches]
            assert [len(batch) for batch in ahead] == [3] * 3
            assert list(reader)[:3] == ahead  # they are the very same


def test_the_calling_thread_decodes_a_batch_when_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(columns._threads, "_RUN_NBYTES", 100_000)
    data = pairs_of(*((number, number / 2) for number in range(1000)))
    for threads in (1, 2, 3):
        with columns.read(data, 10, threads=threads) as reader:
            assert len(next(reader)) == 10
            assert not reader._ready, f"{threads} threads: its memory is that of the batch before"


def test_a_look_at_the_schema_changes_nothing():
    data = many_pairs(100)
    for threads in (1, 2):
        with columns.read(data, 3, threads=threads) as reader:
            assert reader.schema == {"key": "string", "value": "long"} and reader.record == 0
            found = [row for batch in reader for row in rows_of(batch)]
            assert found == tb.Decoder().decode_pairs(data) and reader.record == 100


ROWS = {
    # the second fits no column of the first; the third and the fourth together are as long as two of the first
    "fixed": ((7, 0.5), (tb.Float(0.5), 7.5), (2**40, 1.5), (3, tb.Float(2.5))),
    "words": (("ab", 2**40), (b"ab", 2**41), ("abcdef", 2**40), ("ab", 5)),
}


@pytest.mark.parametrize("shape", ROWS)
@pytest.mark.parametrize("policy", POLICIES)
def test_a_fault_at_any_record_is_raised_in_order(shape, policy):
    usual, *others = map(pairs_of, ROWS[shape])
    for place in range(24):
        for spoiled in (others[0], others[1] + others[2], b"\xff", usual[:-1]):
            data = usual * place + spoiled + usual * 10
            one = read_out(data, 1, on_mismatch=policy)
            for threads, waits in ((2, True), (3, False)):
                assert read_out(data, threads, waits, on_mismatch=policy) == one
            assert read_out(io.BytesIO(data), 3, on_mismatch=policy) == one


@pytest.mark.parametrize("shape", ROWS)
def test_threads_and_input_that_ends_anywhere(shape):
    data = pairs_of(ROWS[shape][0]) * 22
    for cut in range(len(data)):
        one = read_out(data[:cut], 1)
        assert read_out(data[:cut], 2, cut % 2) == read_out(data[:cut], 3, cut % 2) == one


def test_threads_and_long_runs(monkeypatch):
    monkeypatch.setattr(columns._threads, "_RUN_NBYTES", 100_000)
    for pairs in (
        [(number, number / 2) for number in range(60_000)],
        [(f"w\xf6rd{number % 997}", number + 2**33) for number in range(60_000)],
    ):
        data = bytearray(pairs_of(*pairs))
        one = [rows_of(batch) for batch in columns.read(data, 2500)]
        assert [rows_of(batch) for batch in columns.read(data, 2500, threads=2)] == one
        assert [rows_of(batch) for batch in columns.read(array.array("B", data), 2500, threads=3)] == one


def test_memory_that_is_used_again_has_one_owner():
    rows = 20_000  # a column of LONGs is large enough for its memory to be kept
    wrong = []

    def read_often(start):
        data, held = pairs_of(*((number, number + 2**40) for number in range(start, start + 3 * rows))), []
        for n in range(30):
            reader = columns.read(data, rows, threads=1 + n % 2)
            for number, batch in enumerate(reader):
                held.append((start + 2**40 + number * rows, batch.column("value")))
                first, values = held[n % len(held)]
                if not (values == numpy.arange(first, first + len(values))).all():
                    wrong.append(first)
            del held[: n % 5]

    threads = [threading.Thread(target=read_often, args=(2**20 * number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_reader_with_threads_that_nobody_finishes():
    data = bytearray(many_pairs())
    reader = columns.read(data, 2500, threads=3)
    next(reader)
    reader.close()
    data.clear()  # it is not used any more
    data = bytearray(many_pairs())
    reader = columns.read(data, 2500, threads=3)
    next(reader)
    del reader
    wait_for_others()
    data.clear()


def test_threads_are_there_for_all_readers():
    found = []
    for _ in range(3):
        read_out(many_pairs(100), 3)
        found.append({thread for thread in threading.enumerate() if thread.name == "columns"})
    assert found[0] == found[1] == found[2] and len(found[0]) >= 2


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_the_child_of_a_fork_has_threads_of_its_own():
    data = many_pairs(100)
    one = read_out(data, 1)
    assert read_out(data, 3) == one
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with columns.read(data, 3, threads=3) as reader:
                next(reader)
                wait_for_others()
                status = 0 if reader._parallel._runs[0].batches and read_out(data, 3) == one else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a signal inside a callback of weakref's
def test_a_signal_leaves_no_thread_at_work():
    here = sys._getframe().f_code

    def interrupt(_, frame):
        if frame.f_code is not here:  # not between two calls of the reader: try statements leave gaps
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise KeyboardInterrupt

    data, nheard, before = bytearray(many_pairs()), 0, signal.signal(signal.SIGALRM, interrupt)
    try:
        for n in range(40):
            reader = columns.read(data, 500, threads=3)
            try:
                delay = 0.0002 * (1 + n % 20)
                signal.setitimer(signal.ITIMER_REAL, delay, delay)
                deadline = time.monotonic() + 1  # a signal is not reported inside such a callback
                while time.monotonic() < deadline:
                    next(reader, None)
            except KeyboardInterrupt:
                nheard += 1
            except RuntimeError as error:  # a signal at the start of a `with` of threading's own locks
                assert str(error) == "release unlocked lock"
            signal.setitimer(signal.ITIMER_REAL, 0)
            reader.close()
            data.append(data.pop())  # it is not used any more
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert nheard > 20


def test_threads_find_the_first_fault():
    data = bytearray(pairs_of(*((number, number / 2) for number in range(20_000))))
    data[14 * 12_345] = 6
    data[14 * 15_000 + 5] = 201
    reader, n = columns.read(bytes(data), 1000, threads=3), 0
    with pytest.raises(columns.MismatchError) as info:
        for batch in reader:
            n += len(batch)
    assert (n, info.value.record, info.value.offset) == (12_345, 12_345, 14 * 12_345)


def test_an_interrupt_at_any_line_leaves_the_reader_usable():
    def interrupt_at(number):
        """Return a function that traces, and raises at the line of this number that typedbytes.columns runs."""
        lines = iter(range(number + 1))

        def trace(frame, event, argument):
            if pathlib.Path(frame.f_code.co_filename).parent != pathlib.Path(columns.__file__).parent:
                return None
            if event == "line" and next(lines) == number:
                sys.settrace(None)
                raise KeyboardInterrupt
            return trace

        return trace

    before = sys.gettrace()
    for number in range(1000):
        reader = columns.read(many_pairs(300), 100)
        sys.settrace(interrupt_at(number))
        try:
            next(reader)
            break
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        with contextlib.suppress(KeyboardInterrupt):  # what the source raised is raised again
            next(reader, None)  # no RuntimeError: no call is in progress
    assert 3 < number < 999


@pytest.mark.parametrize(
    "way", [next, lambda reader: reader.schema, lambda reader: reader.close(), lambda reader: reader.__arrow_c_stream__()]
)
def test_a_source_that_calls_its_reader(way):
    data = many_pairs(3000)
    file = io.BytesIO(data)
    said = []

    class Source:
        def readinto(self, into):
            with pytest.raises(RuntimeError, match="this BatchReader is in use") as info:
                way(reader)
            said.append(info)
            return file.readinto(into)

    reader = columns.read(Source(), 1000)
    assert [row for batch in reader for row in rows_of(batch)] == rows_of(read_one(data))
    assert said and reader.failure is None and next(reader, None) is None


def test_threads_that_share_a_reader():
    # each row is returned once, to one of the threads; a call during another is refused
    code = """
        import threading
        import typedbytes as tb
        from typedbytes import columns
        data = tb.Encoder().encode_pairs([(f"k{number}", number) for number in range(200_000)])
        said = set()
        def drain(reader, found):
            while True:
                try:
                    for batch in reader:
                        found.append(batch.column("value").tolist())
                    return
                except RuntimeError as error:
                    said.add(str(error))
        for nthreads in (1, 2):
            for _ in range(3):
                reader, found = columns.read(data, 60_000, threads=nthreads), []
                threads = [threading.Thread(target=drain, args=(reader, found)) for _ in range(3)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                assert sorted(number for numbers in found for number in numbers) == list(range(200_000)), reader.failure
        print(said <= {"this BatchReader is in use: re-entered from a hook, or used by two threads"})
    """
    assert run_fresh(code) == "True"


def test_options_that_make_no_sense():
    for options in ({"batch_rows": 0}, {"threads": 0}, {"on_mismatch": "ignore"}, {"schema": ["int"]}, {"dialect": "pig"},
                    {"max_depth": -1}, {"schema": ["short", "int"]}, {"schema": ["int", "list<ext<177>>"], "dialect": "hive"},
                    {"schema": ["int", "ext< 177 >"], "dialect": "hive"}, {"schema": ["int", "list<ext<0177>>"], "dialect": "hive"}):  # fmt: skip
        with pytest.raises(ValueError):
            columns.read(b"", **options)


def test_a_closed_reader_reads_no_more():
    reader = columns.read(pairs_of((1, 1)))
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        next(reader)


def test_empty_input_and_empty_batches():
    assert list(columns.read(b"")) == []
    assert columns.read(b"").schema == {"key": "unknown", "value": "unknown"}
    assert columns.read(b"", schema=["int", "list<string>"]).schema == {"key": "int", "value": "list<string>"}


def batches_of(values, most_held, policy="error"):
    """Return the rows of each batch where a column holds so many bytes and items at most."""
    builder, view, found = _native.Builder(None, 1, None, policy, most_held=most_held), memoryview(tb.Encoder().encode_all(values)), []
    while view:
        nbytes, nrows = builder.append_records(view, 10**6)
        assert builder.state in ("limit", "more")
        found.append([row for (row,) in rows_of(builder.finish(columns.Batch, ("value",)))])
        assert len(found[-1]) == nrows > 0
        view = view[nbytes:]
    return found


def test_a_batch_ends_before_offsets_would_wrap():
    for value in (bytes(100), "x" * 100, "\xe9" * 50, [True] * 100, dict.fromkeys(range(100), True), tb.Ext(144, bytes(100))):
        assert batches_of([value] * 25, 1000) == [[list(value.items()) if type(value) is dict else value] * n for n in (10, 10, 5)]
        with pytest.raises(tb.LimitError, match="a column can hold at most 99 bytes or items"):
            batches_of([value], 99)


def test_a_batch_that_grows_ends_before_offsets_would_wrap():
    for value in (bytes(100), "x" * 100, tb.Ext(144, bytes(100))):
        data = tb.dumps(value)
        builder = _native.Builder(None, 1, None, "error", most_held=1000)
        assert builder.append_records(data * 7, 100) == (7 * len(data), 7)
        assert builder.append_records(data * 10, 100) == (3 * len(data), 3) and builder.state == "limit"


def test_a_column_is_not_widened_beyond_its_offsets():
    for rows in ([(1, 2, 3, 4)] * 10 + [(5, 6)], [1] * 10 + ["a"], ["abc"] * 10 + [1], [[1]] * 10 + [(1,)]):
        assert batches_of(rows, 35, "widen") == [rows[:10], rows[10:]]
        assert batches_of(rows, 1000, "widen") == [rows]


def test_signals_are_heard_in_a_long_batch():
    data = pairs_of((1, "a"))
    times = []
    for nrows in (10, 400_000):
        builder, many = _native.Builder(None, 2, None, "error"), data * nrows
        times.append(times_checked(lambda: builder.append_records(many, 10**6)))
        assert builder.nrows == nrows
    assert times[1] - times[0] > 4


def test_an_interrupt_in_a_batch_takes_nothing():
    data, nrows, raised = pairs_of((1, "a")) * 1_000_000, 1_000_000, None
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for _ in range(100):
            builder = _native.Builder(None, 2, None, "error")
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.002)
                builder.append_records(data, nrows)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt as error:
                if error.__traceback__.tb_next:  # it came in the middle
                    raised = error
                    break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert raised is not None and builder.nrows == 0
    assert builder.append_records(data, nrows) == (len(data), nrows)


def test_an_item_of_a_very_wide_vector_is_no_column():
    with pytest.raises(tb.LimitError, match="cannot make a column of one item of a VECTOR with more than 1024 items"):
        columns.read(b"", schema=["vector<int * 2000>"], pairs=False, columns=["value.5"])


# -- writing ----------------------------------------------------------------------------------------------

DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?", ">i4", "<i4", ">f8", ">u2", ">f2", "=i8"]


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
    assert written([grid[:, :0]], pairs=False) == tb.Encoder().encode_all([(), ()]) and written([grid[:0]], pairs=False) == b""


def test_nulls_in_rows_of_an_array():
    grid = numpy.array([["a", None], ["b", "c"]])
    assert written([grid], pairs=False, nulls="hive") == tb.Encoder(dialect="hive").encode_all([("a", None), ("b", "c")])
    with pytest.raises(tb.EncodeValueError, match="null"):
        written([grid], pairs=False)


def test_arrays_of_ctypes_are_columns():
    code = """
        import ctypes, io, multiprocessing
        import typedbytes as tb
        from typedbytes import columns
        shared = multiprocessing.Array("d", 3, lock=False)
        shared[:] = [0.5, 1.5, 2.5]
        longs, flags, rows = (ctypes.c_int64 * 3)(1, 2, 3), (ctypes.c_bool * 2)(True, False), ((ctypes.c_short * 2) * 3)((1, 2), (3, 4), (5, 6))
        encode = tb.Encoder().encode_all
        for column, values in [
            (longs, map(tb.Long, longs)), (flags, flags), (rows, map(tuple, rows)), ((ctypes.c_int64 * 0)(), []), (shared, shared),
            (((ctypes.c_short * 0) * 2)(), [(), ()]), ((ctypes.c_int32.__ctype_be__ * 2)(1, 2), [1, 2]),
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


@pytest.mark.parametrize(
    ("given_columns", "error"),
    [
        ([[1], [1, 2]], tb.EncodeValueError),
        ([[1], [2], [3]], tb.EncodeValueError),
        ({"key": [1]}, tb.EncodeValueError),
        (["ab", [1, 2]], tb.EncodeTypeError),
        ([[1], b"a"], tb.EncodeTypeError),
        (7, tb.EncodeTypeError),
        ([[1], [object()]], tb.EncodeTypeError),
        ([[1], numpy.ma.masked_array([1], [True])], tb.EncodeTypeError),
        ([[1, 2], ([1, 2], [1])], tb.EncodeValueError),
        ([[1], numpy.zeros((1, 2, 2))], tb.EncodeTypeError),
        ([[1], numpy.zeros((1, 2, 2), "U1")], tb.EncodeTypeError),
        ([[1], numpy.array("a")], tb.EncodeTypeError),
        ([[1], numpy.array([[1, 2]], "M8[s]")], tb.EncodeTypeError),
        ([[1], numpy.array([1], "M8[s]")], tb.EncodeTypeError),
        ([[1], [{1j, "set"}, 2 + 3j, object]], tb.EncodeTypeError),
        ([[None], [1]], tb.EncodeValueError),
    ],
)
def test_columns_that_cannot_be_written(given_columns, error):
    with pytest.raises(error):
        written(given_columns)


def test_nulls_among_objects():
    with pytest.raises(tb.EncodeValueError, match=r"null.*at \[1\]"):
        written([["a", None]], pairs=False)
    assert written([["a", None]], pairs=False, nulls="hive") == tb.dumps("a") + b"\x0c"
    assert written([["a", None]], pairs=False, nulls="value") == tb.Encoder().encode_all(["a", None])
    assert written([["a", None]], pairs=False, nulls="value", null_value=-1) == tb.Encoder().encode_all(["a", -1])
    with pytest.raises(ValueError, match="nulls"):
        written([["a"]], pairs=False, nulls="drop")


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
        except ImportError:
            print(held.tolist(), [name for name in ("numpy", "pyarrow") if sys.modules.get(name)])
    """
    assert run_fresh(code) == "[1, 2] []"


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
        ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(held.obj), ctypes.create_string_buffer(200), 1)  # PyBUF_WRITABLE
    assert bytes(held) == b"abc"


def test_no_memory_stays_behind():
    code = """
        import array, gc, io, itertools, sys, tracemalloc
        sys.path[:0] = sys.argv[1:]
        import typedbytes as tb
        from fuzz import inputs
        from typedbytes import columns
        nested = [(n, {"k": [float(n)], "l": []}) for n in range(200)], [((n, n), "text") for n in range(200)], [(n, 1.5) for n in range(200)]
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
                columns.write(io.BytesIO(), [array.array("H", range(len(batch))), (array.array("d", [0.5] * len(batch)), batch.buffers(0)["data"].cast("B")[: len(batch)])])
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
