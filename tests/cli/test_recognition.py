"""What an input is taken for by its first bytes, and what is said of one that is none of ours.

Expected values: the formats' own specifications, the bytes of other libraries, and what Python's json makes of a line.
"""

import bz2
import gzip
import io
import json
import lzma
import random
import struct
import subprocess
import zlib

import cramjam
import pyarrow
import pyarrow.parquet
import pytest

import typedbytes as tb
from support.commands import COMMAND, ONE, PAIRS, TWO, bad, good, rows
from typedbytes import columns, sequencefile
from typedbytes.cli._input import formats
from typedbytes.sequencefile import _codecs

TEXT = b"a line of text\n" * 500
LZ4 = bytes(cramjam.lz4.compress(TEXT))
SNAPPY = bytes(cramjam.snappy.compress(TEXT))
OTHERS = {"lz4": LZ4, "snappy": SNAPPY}


def written(pairs=(("a", 1),), **how):
    file = io.BytesIO()
    with sequencefile.Writer(file, **how) as writer:
        writer.writes(pairs)
    return file.getvalue()


def text(words):
    return bytes([len(words)]) + words.encode()


RCFILE = "org.apache.hadoop.hive.ql.io.RCFile$"
# As RCFile.Reader.init of Hive has it: the header of a SequenceFile of version 6 with these classes,
# then records of its own.
OLD_RCFILE = (
    b"SEQ\x06" + text(RCFILE + "KeyBuffer") + text(RCFILE + "ValueBuffer") + b"\0\0" + struct.pack(">i", 1)
    + text("hive.io.rcfile.column.number") + text("1") + bytes(range(16)) + struct.pack(">iii", 31, 11, 11) + bytes(31)
)  # fmt: skip


def sniffed(file, data):
    (row,) = rows(good("sniff", file(data)))
    assert rows(good("sniff", stdin=data))[0]["format"] == row["format"]
    return row["format"]


@pytest.mark.parametrize("name", OTHERS)
def test_a_compression_that_is_not_read_is_named(name, file):
    assert sniffed(file, OTHERS[name]) == name
    assert f"not typed bytes but {name} data (to be decompressed first)" in bad(65, "count", file(OTHERS[name]))[1]


def test_few_longs_are_taken_for_lz4():
    """The magic number alone starts one LONG in 2^24; the flags and the block size after it are as specified."""
    for flags in range(256):
        for size in range(256) if flags & 0x3F in (0, 2, 0x3D) else (0x30, 0x40, 0x41, 0x70, 0x80, 0xC0):
            is_lz4 = flags >> 6 == 1 and not flags & 2 and size & 0x8F == 0 and size >> 4 in (4, 5, 6, 7)
            head = b"\x04\x22\x4d\x18" + bytes([flags, size])
            assert formats.recognise(head) == ("lz4" if is_lz4 else "typedbytes")


@pytest.mark.parametrize("data", [OLD_RCFILE, b"RCF\x01\x00" + bytes(100)], ids=["SEQ", "RCF"])
def test_an_rcfile_is_named_and_gives_no_pair(data, file):
    path = file(data)
    assert sniffed(file, data) == "rcfile"
    for command in ("to-json", "count", "validate"):
        stdout, message = bad(65, command, "--pairs", path)
        assert "an RCFile has rows, not pairs" in message
        assert b"records" not in stdout.replace(b'"records": 0', b"")
    for read in (sequencefile.Reader, lambda data: sequencefile.Reader(io.BytesIO(data))):
        with pytest.raises(tb.DecodeError, match="an RCFile"):
            read(data)


LINES_OF_TEXT = [
    "[INFO] started", "[2024-01-01 10:00:00] started", "2024-01-01 10:00:00 started", "127.0.0.1 - - [01/Jan/2024]",
    '"GET / HTTP/1.1" 200', '"a, b",1', "1,2,3", "1\t2", "[section]", "{hello}", "truck 7", "nullable", "12 bottles",
    "-x", "3.5kg", '{"a": 1} trailing', '"open',
]  # fmt: skip
LINES_OF_JSON = [
    '{"a": 1}', "[1, 2]", "12", "-1.5e3", '"text"', "true", "false", "null", " [1]", '"größer"',
    '{"a": "' + "x" * 100_000 + '"}',
]  # fmt: skip


@pytest.mark.parametrize("line", LINES_OF_TEXT + LINES_OF_JSON, ids=lambda line: line[:20])
def test_json_is_what_its_first_line_is(line, file):
    try:
        json.loads(line)
        expected = "json"
    except ValueError:
        expected = "text"
    assert sniffed(file, (line + "\nmore\n").encode()) == expected
    for before in ("", "\n"):
        for end in ("\n", "\r\n", "\n\n", "\n{\n"):
            assert formats.recognise((before + line + end).encode(), True) == expected


def test_several_values_on_the_first_line(file):
    """Those of arrays and objects: numbers and words one after the other are more likely text."""
    for line, name in (
        ('{"a": 1}{"a": 2}', "json"), ('{"a": 1} {"a": 2}', "json"), ("[1][2] [3]", "json"), ('[1] {"a": ', "json"),
        ("[1] {", "json"), ('{"a": 1}\r{"a": 2}\r', "json"), ("{}" * 50_000, "json"), ("[1] [x]", "text"),
        ("[1] 2", "text"), ("1 2", "text"), ('1 {"a": 2}', "text"),
    ):  # fmt: skip
        assert sniffed(file, f"{line}\n".encode()) == name, line


@pytest.mark.parametrize("value", [{"a": [1, {"b": "c"}]}, [1, 2], [[]]], ids=str)
def test_json_of_many_lines_is_json(value, file):
    assert sniffed(file, json.dumps(value, indent=2).encode()) == "json"


def test_the_first_line_may_come_in_pieces():
    for line, name in ((b"[2024-01-01 10:00:00] started\n", "text"), (b'{"a": [1, "\\u00e9\xc3\xa9"]}\n', "json")):
        found = {formats.recognise(line[:n]) for n in range(len(line))}
        assert found == {None} and formats.recognise(line) == name


def test_random_bytes_are_no_typed_bytes(file):
    for seed in range(40):
        data = random.Random(seed).randbytes(1000)
        if tb.TypeCode.BYTES < data[0] < tb.TypeCode.STRING:  # a BYTE or another fixed size may be followed by anything
            continue
        assert sniffed(file, data) == "unknown"
    (row,) = rows(good("sniff", stdin=b"A" * 1000))
    assert row == {"input": "standard input", "format": "text"}
    (row,) = rows(good("sniff", stdin=b"\xc8\x10" + bytes(1000)))
    assert row["format"] == "unknown" and row["fault"].startswith("input ends inside type code 200")
    (row,) = rows(good("sniff", stdin=ONE + TWO + b"\x0e"))
    assert (row["format"], row["types"]) == ("typedbytes", "INT INT")
    assert row["fault"].startswith("unknown type code 14")
    assert rows(good("sniff", "--from", "typedbytes", stdin=ONE + b"\x0e"))[0]["format"] == "typedbytes"


# SequenceFiles


@pytest.mark.parametrize("data", [b"SEQUENCE of words\n", b"SEQ\tname\n"])
def test_a_text_that_begins_with_seq_is_no_sequencefile(data, tmp_path):
    path = tmp_path / "words"
    path.write_bytes(data)
    for source in (data, io.BytesIO(data), str(path)):
        with pytest.raises(tb.FormatError, match="does not start with SEQ and a version, and looks like text"):
            sequencefile.Reader(source)
    for source in (data, str(path), [str(path)]):
        with pytest.raises(tb.DecodeError, match="this looks like text"):
            list(columns.read(source))
    assert columns.splits(str(path)) == [columns.Split(str(path), None, None)]
    path.write_bytes(gzip.compress(data))
    with pytest.raises(tb.DecodeError, match="this looks like text"):
        list(columns.read(str(path)))


@pytest.mark.parametrize("name, compress", [("gzip", gzip.compress), ("bzip2", bz2.compress), ("xz", lzma.compress)])
def test_compressed_bytes_are_named(name, compress):
    data = compress(written())
    for source in (data, io.BytesIO(data), bytearray(data)):
        with pytest.raises(
            tb.FormatError, match=f"looks like {name} data, to be decompressed first .typedbytes convert"
        ):
            sequencefile.Reader(source)


@pytest.mark.parametrize(
    "how", [{}, {"compression": "record"}, {"compression": "block"}, {"key_class": "Text", "version": 5}], ids=str
)
@pytest.mark.parametrize("max_bytes", [1 << 20, None])
def test_files_that_were_joined_byte_by_byte(how, max_bytes, file):
    """As hadoop fs -getmerge joins them: the header of the second would be the lengths of a record."""
    one = written(**how)
    reader = sequencefile.Reader(one + written(**how), max_bytes=max_bytes)
    assert reader.read() == ("a", 1)
    with pytest.raises(tb.FormatError, match="another SequenceFile starts here") as caught:
        reader.read()
    assert (caught.value.offset, caught.value.record) == (len(one), 1)
    assert "getmerge" in bad(65, "count", file(one + one))[1]


def test_a_record_as_long_as_a_header_would_say():
    """1.4 GB: its lengths spell SEQ too, but nothing after them is the name of a class."""
    header = written(())
    for following in (bytes(20), b"\x19" + bytes(20)):
        with pytest.raises(tb.LimitError, match="length 1397051654 is greater than max_bytes"):
            sequencefile.Reader(header + b"SEQ\x06" + following).read()


@pytest.mark.parametrize("codec, name", [("snappy", "snappy"), ("lz4", "lz4"), ("snappy", "lz4"), ("lz4", "snappy")])
def test_data_in_a_codecs_other_format_is_named(codec, name):
    with pytest.raises(
        tb.FormatError, match=f"expected the chunks of Hadoop's codec, found {name} data in a format of its own"
    ):
        _codecs.find(codec).decompress(OTHERS[name], 1 << 28)
    with pytest.raises(tb.LimitError, match="max_bytes=1000"):
        _codecs.find(codec).decompress(_codecs.find(codec, to_write=True).compress(TEXT), 1000)


def test_metadata_is_shown(file):
    (row,) = rows(good("sniff", file(written(metadata={"schema": "a int"}))))
    assert row["metadata"] == {"schema": "a int"}
    assert "metadata" not in rows(good("sniff", file(written())))[0]
    assert b"a int" in good("sniff", "--table", file(written(metadata={"schema": "a int"})))


@pytest.mark.parametrize(
    "head", [b"", b"S", b"SE", b"\xf5", b"\xf5B", b"\x09", b"1", b"1\n", b"[", b"[1]", b"hell", b"\n"]
)
def test_an_input_that_ends_early_is_recognised(head):
    assert formats.recognise(head, True) in ((*formats.NAMES, "text") if head else (formats.EMPTY,))


@pytest.mark.parametrize(
    "head, name",
    [
        (b"PAR1\x15", "parquet"),
        (b"ORC\n\x06", "orc"),
        (b"ORC\x8aF\x00\xe3", "orc"),  # its first five bytes could be text
        (b"RCF\x01\x00", "rcfile"),
        (b"ARROW1\x00\x00", "arrow-file"),
        (b"\xff\xff\xff\xff\x90", "arrow"),
        (b"PK\x03\x04\x14", "zip"),
        (b"Obj\x01\x04", "avro"),
        (b"\xef\xbb\xbfone\n", "text"),
    ],
)
def test_other_files_by_mistake(head, name):
    assert formats.recognise(head) == name
    message = bad(65, "cat", stdin=head + bytes(100))[1]
    assert name in message
    assert ("typedbytes convert reads it" in message) == (name in ("parquet", "arrow", "arrow-file"))
    assert bad(65, "cat", "--from", "typedbytes", stdin=head + bytes(100))[1].endswith("record 0")


STARTING_LIKE_BINARY = [
    *(
        "ORCAS swim\n", "ORCHIDÉE\n", "RCF größer\n", "SEQUENCES\n", "SEQ\tname\n", "PAR1S of\n", "ARROWS\n",
        "ARROW1 a\n",
    ),
]  # fmt: skip


@pytest.mark.parametrize("text", STARTING_LIKE_BINARY)
def test_text_that_starts_like_something_else_is_text(text, file):
    path, head = file(text.encode()), b""
    assert rows(good("sniff", path))[0]["format"] == "text"
    assert rows(good("sniff", stdin=text.encode())) == [{"input": "standard input", "format": "text"}]
    assert "(typedbytes from-text reads lines, CSV and TSV)" in bad(65, "cat", path)[1]
    while formats.recognise(head) is None:  # a byte at a time
        head = text.encode()[: len(head) + 1]
    assert formats.recognise(head) == "text"


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_a_table_that_convert_has_written_is_recognised(tmp_path, form):
    data, table, again = tb.Encoder().encode_pairs(PAIRS), tmp_path / "table", tmp_path / "again"
    good("convert", "--to", form, "--pairs", "-o", table, stdin=data)
    assert good("convert", "--to", "typedbytes", "--pairs", table) == data
    assert good("convert", "--to", "typedbytes", "--pairs", stdin=table.read_bytes()) == data
    good("convert", "--to", "parquet", "--pairs", table, "-o", again)
    assert good("convert", "--to", "typedbytes", "--pairs", again) == data


def test_a_file_of_arrow_is_read(tmp_path):
    pairs = pyarrow.table({"key": ["a", "b"], "value": [1, 2]})
    with pyarrow.ipc.new_file(tmp_path / "file", pairs.schema) as writer:
        writer.write_table(pairs, max_chunksize=1)
    for names, stdin in (([tmp_path / "file"], b""), ([], (tmp_path / "file").read_bytes())):
        data = good("convert", "--to", "typedbytes", "--pairs", *names, stdin=stdin)
        assert tb.Decoder().decode_pairs(data) == [("a", 1), ("b", 2)]


ROWS_THAT_LOOK_OTHERWISE = {
    "tab": ("tsv", "\tname\n0\tann\n1\tbob\n", [[0, "ann"], [1, "bob"]]),
    "not ASCII": ("csv", "été,name\n0,ann\n", [[0, "ann"]]),
    "a control character": ("csv", '"id","note"\n1,"a\x01b"\n', [[1, "a\x01b"]]),
    "another after numbers": ("csv", "1,2\n3,a\x00\x01\n", [[3, "a\0\x01"]]),
    "one letter": ("csv", "a\n", []),
    "a letter and a row": ("tsv", "a\n7\n", [[7]]),
    "JSON": ("csv", '"name"\n"ann"\n', [["ann"]]),
    "a signature that is a word": ("csv", "ORC,PAR1\n1,2\n", [[1, 2]]),
}


@pytest.mark.parametrize("case", ROWS_THAT_LOOK_OTHERWISE)
def test_rows_are_read_by_the_name_of_their_file(case, file):
    form, text, found = ROWS_THAT_LOOK_OTHERWISE[case]
    path = file(text.encode(), f"a.{form}")
    assert [json.loads(line) for line in good("convert", "--plain", "--to", "json", path).splitlines()] == found


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst", ".deflate"])
@pytest.mark.parametrize("form, delimiter", [("csv", b","), ("tsv", b"\t")])
def test_compressed_rows_are_read_by_the_name_of_their_file(form, delimiter, suffix, tmp_path):
    path = tmp_path / f"a.{form}{suffix}"
    text = b"id,name\n1,ann\n".replace(b",", delimiter)
    if suffix == ".deflate":  # is only read
        path.write_bytes(zlib.compress(text))
    else:
        good("convert", "--from", form, "--to", form, "-o", path, stdin=text)
    assert good("convert", "--plain", "--to", "json", path) == b'[1, "ann"]\n'


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("form", ["json", "tb", "arrow"])
def test_a_name_of_rows_does_not_hide_another_format(form, suffix, tmp_path):
    """Those with a signature; without such a name every format is found in what is compressed."""
    table = pyarrow.table({"key": ["a"], "value": [1]})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    pairs = good("convert", "--to", "typedbytes", "--pairs", tmp_path / "a.parquet")
    path = tmp_path / f"a.{form}{suffix}"
    good("convert", tmp_path / "a.parquet", "--pairs", "-o", path)
    assert good("convert", "--to", "typedbytes", "--pairs", path) == pairs
    other = tmp_path / f"b.csv{suffix}"
    for data in (path.read_bytes(), written()) if form == "arrow" else ():
        other.write_bytes(data)
        assert tb.Decoder().decode_pairs(good("convert", "--to", "typedbytes", "--pairs", other)) == [("a", 1)]


def test_no_value_is_taken_for_text():
    for code in range(256):
        for length in (0, 1, 100, 10**6, 10**8):
            head = bytes([code]) + length.to_bytes(4, "big")
            assert formats.recognise(head) not in (None, "text", "json") or 32 <= code < 50 or code in (10, 13)
            if 50 <= code <= 200:
                assert formats.recognise(head) == "typedbytes"


def test_no_more_is_read_than_a_value_has():
    """A value that has come is handed on, though the sender says nothing more."""
    for value in (b"\x09\xff", b"S\x00\x00\x00\x00", b"{\x00\x00\x00\x00", b"\x02\x01"):
        with subprocess.Popen([*COMMAND, "head", "-n", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            process.stdin.write(value)
            process.stdin.flush()
            assert process.stdout.read() == value
            process.stdin.close()


@pytest.mark.parametrize("text", [b'{"a": 1}\n', b"[1, 2]", b'"x"', b"\n\n-1\n", b"true\n", b"null", b"25\n", b"2"])
def test_lines_of_json_are_recognised(text):
    assert good("cat", stdin=text) == good("from-json", stdin=text)
    assert good("count", stdin=text) == b"1\n"
