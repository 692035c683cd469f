"""STRINGs in other encodings than UTF-8."""

import io

import pytest

import typedbytes as tb
from typedbytes import columns, sequencefile

pytestmark = [pytest.mark.free_threaded, pytest.mark.lowest]

TEXTS = {
    "gbk": "中文 and ASCII",
    "latin-1": "café naïve",
    "shift_jis": "日本語\\~",
    "utf-16-le": "any 😀",
    "iso2022_jp": "日本",
    "cp1252": "€",
}


def string(data):
    return b"\x07" + len(data).to_bytes(4, "big") + data


@pytest.mark.parametrize("encoding", TEXTS)
@pytest.mark.parametrize("threads", [1, 2])
def test_strings_become_utf8(encoding, threads):
    text = TEXTS[encoding]
    rows = [(text * (n % 3), n) for n in range(50)]
    data = b"".join(string(value.encode(encoding)) + tb.dumps(n) for value, n in rows)
    with columns.read(data, 7, encoding=encoding, threads=threads) as reader:
        batches = list(reader)
    assert [pair for b in batches for pair in zip(b.column("key"), b.column("value").tolist())] == rows
    assert max(map(len, batches)) == 7


def test_strings_inside_other_values():
    rows = [{"a": ["é", "x"], "b": "ö"}, {"a": [], "b": "plain"}, {"a": ["ü"] * 3, "b": ""}]
    data = tb.Encoder().encode_all(rows)
    for text in "éöü":
        utf8 = text.encode()
        data = data.replace(b"\x07\0\0\0\x02" + utf8, b"\x07\0\0\0\x01" + text.encode("latin-1"))
    for schema in (None, ["struct<a: list<string>, b: string>"]):
        rows_found = []
        for batch in columns.read(data, 2, schema=schema, pairs=False, encoding="latin-1", on_mismatch="widen"):
            sink = io.BytesIO()
            columns.write(sink, batch, pairs=False)
            rows_found += tb.Decoder().decode_all(sink.getvalue())
        assert rows_found == rows


@pytest.mark.parametrize("compression", ["none", "block"])
def test_text_of_a_sequence_file(tmp_path, compression):
    path = tmp_path / "log.seq"
    with sequencefile.Writer(path, key_class="IntWritable", value_class="Text", compression=compression) as writer:
        for n in range(20):
            data = f"caf\xe9 {n}".encode("latin-1")
            writer.write_raw(n.to_bytes(4, "big"), bytes([len(data)]) + data)
    (batch,) = columns.read(path, encoding="latin-1")
    assert batch.column("value").tolist() == [f"caf\xe9 {n}" for n in range(20)]
    (batch,) = columns.read(path, unicode_errors="replace")
    assert batch.column("value")[3] == "caf� 3"
    with pytest.raises(tb.FormatError, match="UTF-8"):
        list(columns.read(path))


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_before_what_is_not_in_the_encoding_come_first(threads):
    good, bad = string("中文".encode("gbk")), string(b"\xff\xff")
    data = b"".join((bad if n == 25 else good) + tb.dumps(n) for n in range(40))
    reader = columns.read(data, 10, encoding="gbk", threads=threads)
    found = []
    with pytest.raises(tb.FormatError, match="STRING is not gbk: .*, in column 'key'") as caught:
        found.extend(reader)
    assert [len(batch) for batch in found] == [10, 10, 5]
    assert threads > 1 or caught.value.record == 25
    lost = columns.read(data, 10, encoding="gbk", unicode_errors="ignore", threads=threads)
    assert [len(batch) for batch in lost] == [10] * 4


def test_other_faults_are_still_found():
    data = string(b"\xe9") + tb.dumps(1)
    with pytest.raises(tb.TruncatedError):
        list(columns.read(data + string(b"\xe9\xe9")[:-1], encoding="latin-1"))
    with pytest.raises(columns.MismatchError):
        list(columns.read(data + string(b"\xe9") + tb.dumps("x"), encoding="latin-1"))
    (batch,) = columns.read(data + tb.dumps(2) + tb.dumps(2), encoding="latin-1", on_mismatch="widen")
    assert batch.schema["key"] == "raw"


@pytest.mark.parametrize("options", [{}, {"unicode_errors": "surrogateescape"}])
def test_text_that_is_not_utf8_names_the_option(options):
    """No error handler may leave surrogates in a column."""
    data = string(b"caf\xe9") + tb.dumps(1)
    with pytest.raises(tb.FormatError, match=r"(?i)is not utf-8: .* \(columns\.read has encoding= for other") as caught:
        columns.read(data, **options).read_all()
    assert caught.value.record == caught.value.offset == 0 and caught.value.option == "unicode_errors"
    assert caught.value.hint in caught.value.message
    with pytest.raises(tb.FormatError, match="not UTF-8: unexpected end of data at its byte 3 at offset 0") as caught:
        columns.read(data, key_type=str, value_type=int).read_all()
    assert caught.value.hint == ""  # a type has no encoding


@pytest.mark.parametrize("options", [{"encoding": "no-such"}, {"encoding": "hex"}, {"unicode_errors": "no-such"}])
def test_what_is_no_encoding_is_refused(options):
    with pytest.raises(LookupError):
        columns.read(b"", **options)


def test_an_encoding_cannot_be_combined_with_a_type():
    with pytest.raises(ValueError, match="encoding cannot be combined"):
        columns.read(b"", type=int, encoding="latin-1")


@pytest.mark.parametrize("value", ["string", "list<string>", "list<list<string>>", "map<string, list<string>>"])
@pytest.mark.parametrize("how", [{"encoding": "utf-16"}, {"encoding": "latin-1"}, {"unicode_errors": "replace"}])
def test_columns_without_values(value, how):
    """They have no offsets yet: neither has a table without rows, nor what is inside empty containers."""
    empty = columns.read(b"", schema=["string", value], **how)
    assert list(empty) == [] and empty.schema == {"key": "string", "value": value}
    for nothing in [[]] if value.startswith("list") else [{}] if value.startswith("map") else [""]:
        pairs = tb.Encoder().encode_pairs([("", nothing)] * 3)
        for batch_rows in (1, 2, 10):
            found = [*columns.read(pairs, schema=["string", value], batch_rows=batch_rows, **how)]
            assert sum(len(batch) for batch in found) == 3


@pytest.mark.parametrize("how", [{}, {"encoding": "latin-1"}, {"unicode_errors": "replace"}])
def test_times_are_within_a_day_however_texts_are_encoded(how):
    for value, kind in ((tb.Long(10**12), "time<ms>"), ([5, 10**15], "list<time<us>>")):
        pairs = tb.Encoder().encode_pairs([("é", value)])
        with pytest.raises(columns.MismatchError, match="(LONG|INT) in column 'value'.* record 0"):
            columns.read(pairs, schema=["string", kind], **how).read_all()


@pytest.mark.parametrize("encoding", ["unicode_escape", "raw_unicode_escape"])
def test_escapes_in_ascii(encoding):
    texts = [b"a\\u00e9", b"x\\u0041y", b"\xe9\\u0041", b"plain"]
    (batch,) = columns.read(b"".join(map(string, texts)), pairs=False, encoding=encoding)
    assert list(batch.column(0)) == [text.decode(encoding) for text in texts]
