"""Input of another format: the error says which it is.

Expected values: the first bytes that the formats' own specifications give, and what Python's compressors write.
"""

import bz2
import gzip
import io
import lzma

import pytest

import typedbytes as tb

pytestmark = [pytest.mark.quick]

STARTS = {
    "a SequenceFile, which typedbytes.sequencefile reads": b"SEQ\x06\x19org.apache.hadoop.io.Text",
    "a block message, which typedbytes.block reads": b"\xf5BB\x01\x00\x00\x00\x00",
    "gzip data, to be decompressed first, as a Reader of a path does": gzip.compress(b"\x02\x01"),
    "bzip2 data, to be decompressed first, as a Reader of a path does": bz2.compress(b"\x02\x01"),
    "xz data, to be decompressed first, as a Reader of a path does": lzma.compress(b"\x02\x01"),
    "zstd data, to be decompressed first, as a Reader of a path does": b"\x28\xb5\x2f\xfd\x20\x02\x11\x00\x00\x02\x01",
    "a Parquet file, not typed bytes": b"PAR1\x15\x04\x15\x10",
    "an Arrow file, not typed bytes": b"ARROW1\x00\x00\xff\xff\xff\xff",
    "an Arrow stream, not typed bytes": b"\xff\xff\xff\xff\x10\x00\x00\x00",
    "an Avro file, not typed bytes": b"Obj\x01\x04\x14avro.codec",
    "an ORC file, not typed bytes": b"ORC\x08\x03\x10\x02",
    "an RCFile, which typedbytes.columns reads": b"RCF\x01\x00\x00",
    "a ZIP archive, not typed bytes": b"PK\x03\x04\x14\x00\x00\x00",
    "JSON, not typed bytes": b'{"a": 1}\n{"a": 2}\n',
    "text, not typed bytes": "größer\t1\n".encode(),
    "text in UTF-16, not typed bytes": "text".encode("utf-16"),
}

READERS = {
    "loads": tb.loads,
    "Reader": lambda data: list(tb.Reader(io.BytesIO(data))),
    "PairReader": lambda data: list(tb.PairReader(io.BytesIO(data))),
    "groups": lambda data: list(tb.PairReader(io.BytesIO(data)).groups()),
    "raw": lambda data: list(tb.Reader(io.BytesIO(data), raw=True)),
    "max_bytes": lambda data: list(tb.Reader(data, max_bytes=1 << 20)),
    "Input": lambda data: list(tb.Input(io.BytesIO(data))),
    "skip": tb.skip,
    "count": tb.count,
}


@pytest.mark.parametrize("how", READERS)
@pytest.mark.parametrize("what", STARTS)
def test_input_of_another_format_is_named(what, how):
    with pytest.raises(tb.DecodeError) as caught:
        READERS[how](STARTS[what])
    assert str(caught.value).startswith(f"this looks like {what}: ")
    assert len(str(caught.value)) > len(f"this looks like {what}: ")


@pytest.mark.parametrize("data", [b"\x02\x01" + start for start in STARTS.values()], ids=STARTS)
def test_a_format_is_looked_for_where_the_input_starts(data):
    with pytest.raises(tb.DecodeError) as caught:
        list(tb.Reader(data))
    assert "looks like" not in str(caught.value)


@pytest.mark.parametrize("how", READERS)
@pytest.mark.parametrize(
    "text", [b"hi\n", b"1\r\n", b"a,b\n", b"\r\nlines of Windows", b"ORCAS swim\n", b"SEQ\tname\n"]
)
def test_text_that_is_short_or_starts_with_an_empty_line(text, how):
    with pytest.raises(tb.DecodeError, match="^this looks like text, not typed bytes: "):
        READERS[how](text)


@pytest.mark.parametrize(
    "data",
    [b"\x90abcd\x00", b"\x64\x00\x00\x01\x00abc", b"\xff\xff\xff\xff\xff\xff", b"abc", b"a\n", b"\ta\n", b"\x1f"],
)
def test_damaged_typed_bytes_are_not_taken_for_another_format(data):
    with pytest.raises(tb.DecodeError) as caught:
        tb.loads(data)
    assert "looks like" not in str(caught.value)
