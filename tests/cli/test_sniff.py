"""The command sniff."""

import io
import os

import pytest

from support.commands import NUMBERS, ONE, PAIR_STREAM, STREAM, good, rows, run, sequence_file
from typedbytes import sequencefile


def test_sniff(file, tmp_path):
    def about(data):
        (row,) = rows(good("sniff", file(data)))
        return row["format"], row.get("holds")

    assert about(PAIR_STREAM) == ("typedbytes", "pairs, it seems")
    assert about(NUMBERS) == ("typedbytes", "values or pairs")
    assert about(STREAM) == ("typedbytes", "values")
    assert about(b"") == ("empty", None)
    assert about(b'{"a": 1}\n') == ("json", "values")
    assert about(b"Dear reader") == ("text", None)
    assert about(b"PAR1\x15\x04\x15\x10") == ("parquet", None)
    assert about(good("cat", "--pairs", "--to", "sequencefile", stdin=PAIR_STREAM)) == ("sequencefile", "pairs")
    assert about(good("cat", "--pairs", "--to", "block", stdin=PAIR_STREAM)) == ("block", "values or pairs")
    assert rows(good("sniff", stdin=ONE + b"\x0e"))[0]["fault"].startswith("unknown type code 14")


def test_sniff_of_a_file_that_cannot_say_its_size():
    assert rows(good("sniff", "/proc/self/limits")) == [{"input": "/proc/self/limits", "format": "text"}]


def test_a_sniffed_guess_ends_at_the_last_value():
    assert rows(good("sniff", stdin=PAIR_STREAM))[0]["holds"] == "pairs, it seems"
    assert rows(good("sniff", stdin=PAIR_STREAM + ONE))[0]["holds"] == "values"


def with_codec(codec):
    sink = io.BytesIO()
    with sequencefile.Writer(sink, key_class="Text", value_class="com.example.Event", codec=codec) as writer:
        writer.write_raw(b"\x01k", b"event")
    return sink.getvalue()


@pytest.fixture
def parts(tmp_path):
    folder = tmp_path / "p"
    folder.mkdir()
    for name, data in (("a", with_codec("gzip")), ("b", sequence_file()), ("c", b""), ("d", ONE * 3 + b"\x0e")):
        (folder / name).write_bytes(data)
    return folder


def test_a_table_has_the_columns_that_say_something(parts):
    lines = [line.split("  ") for line in run("sniff", "--table", "p", cwd=parts.parent).stdout.decode().splitlines()]
    table = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert table[0] == [
        "input",
        "format",
        "key_class",
        "value_class",
        "compression",
        "holds",
        "types",
        "bytes",
        "version",
    ]
    assert table[1][:5] == ["p/a", "sequencefile", "Text", "com.example.Event", "block, gzip"]
    assert table[2][:5] == ["p/b", "sequencefile", "TypedBytesWritable", "TypedBytesWritable", "none"]
    assert table[3] == ["p/c", "empty", "0"]
    assert table[5:] == [["p/d: unknown type code 14 at offset 15, record 3"]]


def test_the_header_is_shown_without_the_library_of_its_codec(file, tmp_path):
    (tmp_path / "cramjam.py").write_text('raise ModuleNotFoundError("", name="cramjam")')
    path = file(with_codec("snappy"))
    done = run("sniff", path, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    (row,) = rows(done.stdout)
    assert (row["key_class"], row["value_class"]) == ("org.apache.hadoop.io.Text", "com.example.Event")
    assert row["codec"].endswith("SnappyCodec") and "pip install 'typedbytes[snappy]'" in row["fault"]
