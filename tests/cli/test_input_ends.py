"""What follows the end of an input in a format that says itself where it ends: read, or refused, but never left out.

A foreign reader that is given an input decides where it ends. pyarrow stops at the end mark of an Arrow stream,
and takes a footer at its word: of two Arrow or Parquet files, one after the other, it returned the records of the
first as those of the second.
"""

import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import threading

import pyarrow
import pytest
from pyarrow import ipc, parquet

import typedbytes as tb
from support.commands import good
from typedbytes import block, sequencefile
from typedbytes._base.zstd import zstd
from typedbytes.cli import main

FIRST = [("a", 1), ("b", 2)]
SECOND = [("c", 3), ("d", 4)]
LONG = [(f"k{n}", n) for n in range(900)]


def batch(pairs):
    keys, values = [key for key, _ in pairs], [value for _, value in pairs]
    return pyarrow.record_batch(
        {"key": pyarrow.array(keys, pyarrow.string()), "value": pyarrow.array(values, pyarrow.int32())}
    )


def arrow(pairs, how=ipc.new_stream, **options):
    file = io.BytesIO()
    with how(file, batch(pairs).schema, **options) as writer:
        if pairs:
            writer.write_batch(batch(pairs))
    return file.getvalue()


def arrow_file(pairs):
    return arrow(pairs, ipc.new_file)


def parquet_file(pairs, **options):
    file = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_batches([batch(pairs)]), file, **options)
    return file.getvalue()


def parquet_with_index(pairs):
    return parquet_file(pairs, write_page_index=True)


def sequence_file(pairs):
    file = io.BytesIO()
    with sequencefile.Writer(
        file, key_class="Text", value_class="IntWritable", codec="gzip", compression="block"
    ) as writer:
        writer.writes(pairs)
    return file.getvalue()


def messages(pairs):
    return b"".join(block.BlockEncoder("native").encode(pair) for pair in pairs)


def compressed(compress):
    return lambda pairs: compress(tb.Encoder().encode_pairs(pairs))


TABLES = {
    "arrow": arrow,
    "arrow-file": arrow_file,
    "parquet": parquet_file,
    "parquet with an index": parquet_with_index,
}
COMPRESSIONS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": zstd.compress}
FORMATS = {
    **TABLES,
    **{kind: compressed(compress) for kind, compress in COMPRESSIONS.items()},
    "arrow in gzip": lambda pairs: gzip.compress(arrow(pairs)),
    "sequencefile": sequence_file,
    "block": messages,
}
# one after the other is what this format calls one input
CONCATENATED = {"arrow", "block", *COMPRESSIONS, "arrow in gzip"}
ARGUMENTS = ["convert", "--pairs", "--to", "json"]


def send(data, writing):
    with contextlib.suppress(BrokenPipeError), open(writing, "wb") as pipe:
        pipe.write(data)


@pytest.fixture(params=["file", "pipe"])
def converted(request, file, capfdbinary):
    """Return a function that converts bytes, by file or pipe, and returns exit code, records and stderr."""

    def convert(data):
        if request.param == "file":
            code = main([*ARGUMENTS, file(data)])
        else:
            reading, writing = os.pipe()
            sender = threading.Thread(target=send, args=(data, writing))
            sender.start()
            with open(reading, "rb"):
                code = main([*ARGUMENTS, f"/dev/fd/{reading}"])
            sender.join()
        stdout, stderr = capfdbinary.readouterr()
        return code, [tuple(json.loads(line)) for line in stdout.splitlines()], stderr.decode()

    return convert


@pytest.mark.parametrize("form", FORMATS)
class TestEnds:
    def test_whole(self, form, converted):
        assert converted(FORMATS[form](FIRST)) == (0, FIRST, "")

    def test_two(self, form, converted):
        code, found, message = converted(FORMATS[form](FIRST) + FORMATS[form](SECOND))
        if form in CONCATENATED:
            assert (code, found, message) == (0, FIRST + SECOND, "")
        else:
            assert code == 65 and "offset" in message
            assert found in ([], FIRST)

    def test_two_of_other_lengths(self, form, converted):
        for first, second in (LONG, SECOND), (FIRST, LONG), ([], SECOND), (FIRST, []):
            code, found, message = converted(FORMATS[form](first) + FORMATS[form](second))
            if form in CONCATENATED:
                assert (code, found, message) == (0, first + second, "")
            elif first or form in TABLES:
                assert code == 65 and "offset" in message
                assert found in ([], first)

    def test_bytes_after_it(self, form, converted):
        for rest in (
            b"garbage",
            b"x",
            b"\xff\xff\xff\xff",
            b"\xff\xff\xff\xff\0\0\0\0",
            b"\xff\xff\xff\xff\xf8\xff\xff\x7f",
        ):
            code, found, message = converted(FORMATS[form](FIRST) + rest)
            assert code == 65, (rest, message)
            assert found in ([], FIRST)

    def test_the_front_of_a_second(self, form, converted):
        second = FORMATS[form](SECOND)
        for nbytes in (1, 3, 4, 7, 9, len(second) // 2 + 3, len(second) - 1):
            code, found, message = converted(FORMATS[form](FIRST) + second[:nbytes])
            assert code == 65, (nbytes, message)
            assert found[: len(FIRST)] in ([], FIRST)

    def test_a_cut(self, form, converted):
        data = FORMATS[form](FIRST)
        for end in (len(data) - 1, len(data) - 5, len(data) // 2 + 3):
            code, found, message = converted(data[:end])
            assert code == 65, (end, message)
            assert found in ([], FIRST[:1], FIRST)

    def test_a_cut_and_a_second(self, form, converted):
        for nbytes in (1, 5, 30):
            code, _, message = converted(FORMATS[form](FIRST)[:-nbytes] + FORMATS[form](SECOND))
            assert code == 65, (nbytes, message)


def test_three_streams_are_read(converted):
    assert converted(3 * arrow(FIRST)) == (0, 3 * FIRST, "")


def test_the_place_of_what_follows_a_stream(converted):
    data = arrow(FIRST)
    other = io.BytesIO()
    with ipc.new_stream(other, pyarrow.schema({"key": pyarrow.string(), "value": pyarrow.int64()})):
        pass
    for rest, expected in (
        (b"garbage", "other data"),
        (other.getvalue(), "an Arrow stream with the columns of the first, found one with others"),
    ):
        code, found, message = converted(data + rest)
        assert (code, found) == (65, FIRST)
        assert expected in message and message.endswith(f" at offset {len(data)}\n")


def test_a_stream_without_its_end_mark(converted):
    """The format allows it, so it is read; but a cut between two batches leaves the same bytes, so with a word."""
    data = arrow(FIRST)[:-8]
    code, found, message = converted(data)
    assert (code, found) == (0, FIRST)
    assert message.endswith(
        f": the Arrow stream has no end mark, and may have been cut between two batches, at offset {len(data)}\n"
    )


def test_a_declared_length_allocates_nothing(converted):
    code, _, message = converted(arrow(FIRST) + b"\xff\xff\xff\xff\xf8\xff\xff\x7f" + bytes(100))
    assert code == 65 and "out of memory" not in message


@pytest.mark.parametrize("form", TABLES)
def test_tables_of_many_batches_and_dictionaries_are_whole(form, converted):
    names = pyarrow.array(["x", "yy", "x"] * 1000).dictionary_encode()
    table = pyarrow.table({"key": names, "value": pyarrow.array(range(3000), pyarrow.int32())})
    file = io.BytesIO()
    if form.startswith("parquet"):
        parquet.write_table(table, file, row_group_size=100, write_page_index=form != "parquet")
    else:
        with (ipc.new_file if form == "arrow-file" else ipc.new_stream)(file, table.schema) as writer:
            writer.write_table(table, 100)
    code, found, message = converted(file.getvalue())
    assert (code, len(found), message) == (0, 3000, "")
    assert found[:3] == [("x", 0), ("yy", 1), ("x", 2)]


def test_a_table_is_not_held_to_what_its_data_spells(converted):
    """Of a Parquet file with an index, as many bytes as the index has are searched for a second file."""
    pairs = [("PAR1PAR1\x15\0\x15" * 100, n) for n in range(100)]
    data = parquet_file(pairs, write_page_index=True, use_dictionary=False, compression="none")
    assert converted(data) == (0, pairs, "")


@pytest.mark.parametrize(
    "options", [{}, {"use_dictionary": False}, {"use_dictionary": False, "write_page_index": True}], ids=str
)
def test_a_parquet_file_without_rows(options, converted):
    """A column without pages has no offset: its last row group may be empty, after others or alone."""
    file = io.BytesIO()
    with parquet.ParquetWriter(file, batch([]).schema, **options) as writer:
        writer.write_table(pyarrow.Table.from_batches([batch([])]))
    assert converted(file.getvalue()) == (0, [], "")
    file = io.BytesIO()
    with parquet.ParquetWriter(file, batch([]).schema, **options) as writer:
        for pairs in [], FIRST, []:
            writer.write_table(pyarrow.Table.from_batches([batch(pairs)]))
    assert converted(file.getvalue()) == (0, FIRST, "")
    code, _, message = converted(file.getvalue() + file.getvalue())
    assert code == 65 and "offset" in message


#: Options of ParquetWriter, where it can write them: pyarrow has wheels for Python 3.9 up to version 21.
BLOOM_FILTERS = [{"bloom_filter_options": {"value": True}}] * (int(pyarrow.__version__.partition(".")[0]) > 21)


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
@pytest.mark.parametrize(
    "more", [{}, *BLOOM_FILTERS], ids=["index", "index and Bloom filter"][: 1 + len(BLOOM_FILTERS)]
)
def test_a_parquet_file_of_parquet_files(compression, more, file, capfdbinary):
    """In the data of its only column another file starts, as one after it would."""
    value = parquet_file(FIRST)
    for nrows in 1, 20, 500:
        data = io.BytesIO()
        table = pyarrow.table({"value": [value] * nrows})
        parquet.write_table(table, data, compression=compression, write_page_index=True, use_dictionary=False, **more)
        code = main(["convert", "--to", "typedbytes", file(data.getvalue())])
        stdout, stderr = capfdbinary.readouterr()
        assert (code, stderr, list(tb.Reader(io.BytesIO(stdout)))) == (0, b"", [(value,)] * nrows)


def test_arrow_files_of_polars_without_rows(converted):
    """Before the first batch polars writes the schema without the mark and the length that Arrow has before it."""
    polars = pytest.importorskip("polars")
    for ending in "", " and a long name" * 100:
        empty = io.BytesIO()
        polars.DataFrame(schema={f"key{ending}": polars.String, f"value{ending}": polars.Int32}).write_ipc(empty)
        assert converted(empty.getvalue()) == (0, [], "")
    code, _, message = converted(arrow_file(FIRST) + empty.getvalue())
    assert code == 65 and "offset" in message


def test_times_and_dates_beyond_their_range_are_no_damage(tmp_path):
    """Other programs write them; pyarrow's full validation refuses them."""
    day = pyarrow.array([90_000, 5], pyarrow.int32()).view(pyarrow.time32("s"))
    date = pyarrow.array([1, 86_400_000], pyarrow.int64()).view(pyarrow.date64())
    batch = pyarrow.record_batch([day, date], names=["day", "date"])
    with pytest.raises(pyarrow.ArrowInvalid):
        batch.validate(full=True)
    with ipc.new_stream(tmp_path / "in.arrow", batch.schema) as writer:
        writer.write_batch(batch)
    assert good("convert", "--to", "parquet", "-o", str(tmp_path / "out.parquet"), str(tmp_path / "in.arrow")) == b""
    assert parquet.read_table(tmp_path / "out.parquet").column("day").cast(pyarrow.int32()).to_pylist() == [
        90_000_000,
        5_000,
    ]  # in milliseconds
