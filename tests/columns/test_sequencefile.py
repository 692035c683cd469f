"""Columns of SequenceFiles hold what the file's own reader gives, and say where damage is.

Whatever the classes and the compression. Here: columns straight from SequenceFiles. Not here: how columns are filled,
which other files ask. Invariant: expected values come from objects, expected offsets from a Reader.
"""

import bz2
import gzip
import io
import lzma
import os
import threading

import pyarrow
import pytest
from hypothesis import given, settings, strategies as st

import typedbytes as tb
from fuzz.columns import formatted
from support.column_pairs import like_shaped
from support.column_values import EXACT, decoded_null, rows_of
from support.sequencefiles import IO, files, header, record, text
from support.small_sequencefiles import MARKER, written
from support.vectors import exact_repr
from typedbytes import columns, sequencefile

pytestmark = pytest.mark.lowest

MANNERS = [("none", "default"), ("record", "gzip"), ("block", "zstd")]
SIMPLE = {
    "IntWritable": range(-500, 500),
    "LongWritable": range(-(2**40), 2**40, 2**31),
    "VIntWritable": range(-500, 500),
    "VLongWritable": range(-(2**40), 2**40, 2**31),
    "ByteWritable": [number % 256 - 128 for number in range(1000)],
    "DoubleWritable": [number / 3 for number in range(1000)],
    "FloatWritable": [number / 4 for number in range(1000)],
    "BooleanWritable": [number % 3 == 0 for number in range(1000)],
    "Text": [f"w\xf6rd {number}" for number in range(1000)],
    "BytesWritable": [bytes([number % 256]) * (number % 40) for number in range(1000)],
}
TYPES = dict(zip(SIMPLE, ("int", "long", "int", "long", "byte", "double", "float", "bool", "string", "bytes")))


def column(batches, name):
    """Return a column of several batches."""
    return [value for batch in batches for value in batch.column(name).tolist()]


def rows(batches):
    """Return the rows of several batches."""
    return [row for batch in batches for row in rows_of(batch)]


# -- values -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compression, codec", MANNERS)
@pytest.mark.parametrize("name", SIMPLE)
def test_simple_writables_are_the_objects(name, compression, codec):
    pairs = list(zip(SIMPLE[name], SIMPLE["DoubleWritable"]))
    data = written(
        pairs, key_class=name, value_class="DoubleWritable", compression=compression, codec=codec, block_size=3000
    )
    batches = list(columns.read(data, 300))
    assert all(batch.schema == {"key": TYPES[name], "value": "double"} for batch in batches)
    assert [len(batch) for batch in batches] == [300, 300, 300, len(pairs) - 900]
    assert list(zip(column(batches, "key"), column(batches, "value"))) == pairs == sequencefile.Reader(data).read_all()


@pytest.mark.parametrize("name", sorted(files()))
def test_files_that_hadoop_wrote(name):
    data = files()[name]
    pairs = tb.PairReader(sequencefile.Reader(data).read_typed(1 << 30), **EXACT)
    null, no_writable = decoded_null("hadoop"), tb.Writable(f"{IO}NullWritable")
    expected = [tuple(null if value == no_writable else value for value in pair) for pair in pairs]
    assert formatted(rows(columns.read(data, 2, on_mismatch="widen")), True) == formatted(expected, True)


@pytest.mark.parametrize("compression, codec", MANNERS)
@settings(max_examples=30)
@given(
    pairs=like_shaped(), batch_rows=st.integers(1, 5), threads=st.sampled_from([1, 2]), block_size=st.integers(1, 200)
)
def test_typed_bytes(compression, codec, pairs, batch_rows, threads, block_size):
    data = written(pairs, compression=compression, codec=codec, block_size=block_size, sync_interval=50)
    with columns.read(data, batch_rows, threads=threads) as reader:
        batches = list(reader)
    assert [len(batch) for batch in batches[:-1]] == [batch_rows] * (len(batches) - 1)
    assert exact_repr(rows(batches)) == exact_repr(tb.PairReader(tb.Encoder().encode_pairs(pairs), **EXACT).read_all())


def test_policies_projections_and_groups():
    pairs = [(number // 7, number if number % 5 else 2**40) for number in range(200)]
    data = written(pairs, compression="block", block_size=300)
    wide = list(columns.read(data, 64, on_mismatch="widen"))
    assert wide[0].schema == {"key": "int", "value": "long"}
    assert list(zip(column(wide, "key"), column(wide, "value"))) == pairs
    assert [row[1] for row in rows(columns.read(data, on_mismatch="split"))] == [value for _, value in pairs]
    assert column(columns.read(data, columns=["key"]), "key") == [key for key, _ in pairs]
    for batch in columns.read(data, 10, on_mismatch="widen").groups():
        keys = batch.column("key").tolist()
        assert len(keys) == 7 * len(set(keys)) or keys[-1] == pairs[-1][0]


def test_more_pairs_than_are_taken_at_once():
    # Parts of a mebibyte, batches that end elsewhere, threads.
    pairs = [(f"word {number}", (number + 1) * 2**33) for number in range(120_000)]
    data = written(pairs, compression="block", codec="zstd")
    for options in ({}, {"threads": 2}, {"batch_rows": 1000, "threads": 2}):
        with columns.read(data, **options) as reader:
            batches = list(reader)
        assert column(batches, "value") == [value for _, value in pairs]
        assert reader.record == len(pairs) and reader.offset == len(data)


# -- paths and files --------------------------------------------------------------------------------------


def test_paths_and_files_to_read_from(tmp_path):
    pairs = list(zip(SIMPLE["Text"], SIMPLE["IntWritable"]))
    path = tmp_path / "words.seq"
    path.write_bytes(written(pairs, key_class="Text", value_class="IntWritable"))
    given = sequencefile.Reader(path)
    for source in (
        path,
        str(path),
        path.read_bytes(),
        bytearray(path.read_bytes()),
        given,
        sequencefile.Reader(io.BytesIO(path.read_bytes())),
    ):
        with columns.read(source) as reader:
            assert column(reader, "value") == [value for _, value in pairs]
    assert given.read("end") == "end", "a Reader that was given stays open"
    given.close()
    reader = columns.read(path)
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        next(reader)
    with sequencefile.Reader(path) as reader:
        assert reader.read() == pairs[0]
        assert column(columns.read(reader), "value") == [value for _, value in pairs[1:]]


def test_a_pipe_is_not_looked_at(tmp_path):
    path, data = tmp_path / "pipe", tb.dumps(1) + tb.dumps(2)
    os.mkfifo(path)
    thread = threading.Thread(target=path.write_bytes, args=(data,))
    thread.start()
    assert rows(columns.read(path)) == [(1, 2)]
    thread.join()


def test_the_splits_are_the_file():
    pairs = [(number, number / 2) for number in range(3000)]
    data = written(pairs, sync_interval=500)
    found = []
    for start in range(0, len(data), 4321):
        found += rows(columns.read(sequencefile.Reader(data, start=start, length=4321)))
    assert found == pairs


def test_records_are_pairs():
    with pytest.raises(ValueError, match="pairs"):
        columns.read(written([(1, 2)]), pairs=False)


def test_no_record():
    reader = columns.read(written([]))
    assert reader.schema == {"key": "unknown", "value": "unknown"} and list(reader) == []


def test_a_table_of_a_file():
    data = written(zip(SIMPLE["Text"], SIMPLE["IntWritable"]), key_class="Text", value_class="IntWritable")
    table = pyarrow.table(columns.read(data, 77))
    assert table.column("key").to_pylist() == SIMPLE["Text"]
    assert table.column("value").to_pylist() == list(SIMPLE["IntWritable"])


# -- errors -----------------------------------------------------------------------------------------------


def place_of(data, nth):
    """Return where a record of a file starts, or its block."""
    reader, offset = sequencefile.Reader(data), None
    for _ in range(nth + 1):
        before = reader.offset
        reader.skip()
        offset = before if reader.offset != before else offset
    return offset


@pytest.mark.parametrize("compression, codec", MANNERS)
def test_a_mismatch_names_record_and_offset(compression, codec):
    pairs = [("word", number) for number in range(40)] + [("word", (1, "two"))] + [("word", 1)] * 3
    data = written(pairs, compression=compression, codec=codec, block_size=300, sync_interval=1 << 20)
    reader, found = columns.read(data, 7), []
    with pytest.raises(columns.MismatchError, match="VECTOR in column 'value', which holds int") as info:
        for batch in reader:
            found += rows_of(batch)
            assert reader.record == len(found) and reader.offset == place_of(data, len(found))
    assert found == pairs[:40]
    assert (info.value.record, info.value.offset, info.value.code) == (40, place_of(data, 40), 8)


@pytest.mark.parametrize("compression, codec", MANNERS)
def test_text_that_is_not_utf8(compression, codec):
    sink = io.BytesIO()
    with sequencefile.Writer(
        sink, key_class="Text", value_class="Text", compression=compression, codec=codec, sync_marker=MARKER
    ) as writer:
        for number in range(20):
            writer.write_raw(text(b"fine"), text(b"\xff" if number == 11 else b"good"))
    data = sink.getvalue()
    found = []
    with pytest.raises(tb.FormatError, match="UTF-8.* of the pair as typed bytes") as info:
        for batch in columns.read(data, 8):
            found += rows_of(batch)
    assert found == [("fine", "good")] * 11
    assert (info.value.record, info.value.offset) == (11, place_of(data, 11))


@pytest.mark.parametrize("compression, codec", MANNERS)
def test_every_truncation(compression, codec):
    data = written(
        [(f"word {number}", number) for number in range(30)], compression=compression, codec=codec, block_size=120,
        sync_interval=200,
    )  # fmt: skip
    for cut in range(4, len(data)):
        pairs, batches = [], []
        try:
            pairs.extend(sequencefile.Reader(data[:cut]))
            expected = None
        except tb.DecodeError as error:
            expected = error
        try:
            batches.extend(columns.read(data[:cut], 4))
            found = None
        except tb.DecodeError as error:
            found = error
        assert rows(batches) == pairs
        assert type(found) is type(expected) and str(found) == str(expected)


def test_a_record_of_no_pair():
    data = (
        header(f"{IO}IntWritable", f"{IO}IntWritable") + record(b"\0\0\0\1", b"\0\0\0\2") + record(b"\0\0\0\1", b"\0")
    )
    reader = columns.read(data)
    assert rows([next(reader)]) == [(1, 2)]
    for _ in range(2):
        with pytest.raises(tb.FormatError, match="expected 4 bytes for an IntWritable, got 1") as info:
            next(reader)
        assert info.value.record == 1


def test_records_after_damage():
    data = bytearray(written([(number, "x" * 50) for number in range(100)], sync_interval=1000))
    data[place_of(data, 37)] = 0xFF
    reader = sequencefile.Reader(bytes(data), resync=True)
    with pytest.raises(tb.DecodeError):
        list(columns.read(bytes(data)))
    objects = sequencefile.Reader(bytes(data), resync=True)
    assert rows(columns.read(reader)) == objects.read_all()
    assert [each[:3] for each in reader.skipped] == [each[:3] for each in objects.skipped] != []


def test_a_record_that_no_column_holds():
    deep = 1
    for _ in range(31):
        deep = [deep]
    data = written([(1, 2), (3, deep)])
    reader = columns.read(data, on_mismatch="split")
    assert rows([next(reader)]) == [(1, 2)]
    with pytest.raises(tb.LimitError, match="pass a schema with raw") as info:
        next(reader)
    assert (info.value.record, info.value.offset) == (1, place_of(data, 1))


@pytest.mark.parametrize("name, compress", [("gzip", gzip.compress), ("bzip2", bz2.compress), ("xz", lzma.compress)])
def test_a_sequencefile_that_is_compressed_as_a_whole_is_refused_with_advice(name, compress, tmp_path):
    path = tmp_path / "a.seq.packed"
    path.write_bytes(compress(written([("a", 1)])))
    message = (
        f"{path}: a SequenceFile inside {name} data, to be decompressed first "
        "(typedbytes convert --to sequencefile FILE -o OUT does)"
    )
    for read in (columns.read, columns.splits, sequencefile.Reader, sequencefile.read):
        with pytest.raises(tb.FormatError) as caught:
            for _ in read([str(path)] if read is columns.read else str(path)):
                pass
        assert str(caught.value).startswith(message)
    path.write_bytes(compress(tb.dumps(1) * 2))
    assert [len(batch) for batch in columns.read(path)] == [1]
    with pytest.raises(tb.FormatError, match="not a SequenceFile: the file does not start with SEQ"):
        sequencefile.Reader(path)


def test_threads_decompress_the_blocks_ahead_of_their_reader(tmp_path):
    for number in range(2):
        (tmp_path / f"part-{number}").write_bytes(
            written([(n, n) for n in range(20000)], compression="block", block_size=30000)
        )
    with columns.read(tmp_path, 1000, threads=2) as reader:
        next(reader)
        assert any(thread.name.startswith("columns-blocks") for thread in threading.enumerate())
        found = [value for batch in reader for value in batch.column("value").tolist()]
    assert found == [*range(1000, 20000), *range(20000)]


@pytest.mark.parametrize("compression", ["none", "block"])
def test_columns_are_written_in_the_classes_of_a_file(compression):
    sink = io.BytesIO()
    with sequencefile.Writer(sink, key_class="Text", value_class="LongWritable", compression=compression) as writer:
        assert columns.write(writer, {"key": ["a", "b"], "value": pyarrow.array([1, 2])}) == 2
        with pytest.raises(TypeError, match="has pairs"):
            columns.write(writer, [pyarrow.array([1])], pairs=False)
    records = sequencefile.Reader(sink.getvalue(), raw=True).read_all()
    assert records == [(b"\1a", (1).to_bytes(8, "big")), (b"\1b", (2).to_bytes(8, "big"))]


def test_a_reader_of_a_file_says_how_its_text_is_decoded():
    with sequencefile.Writer(sink := io.BytesIO(), key_class="IntWritable", value_class="Text") as writer:
        writer.write_raw(b"\0\0\0\1", b"\4caf\xe9")
    (batch,) = columns.read(sequencefile.Reader(sink.getvalue(), unicode_errors="replace"))
    assert batch.column("value").tolist() == ["caf\ufffd"]
