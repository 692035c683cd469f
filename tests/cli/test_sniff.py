"""The command sniff."""

from support.commands import NUMBERS, ONE, PAIR_STREAM, STREAM, good, rows


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
