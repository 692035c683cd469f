"""Records as lines of text, CSV and TSV, and back: what comes out, what comes back, and what is refused."""

import csv
import io
import json
from decimal import Decimal

import pytest
from hypothesis import given, settings, strategies as st

import typedbytes as tb
from commands import LIST, ONE, TEXT, TWO, bad, good
from typedbytes.cli import main

ENCODER = tb.Encoder()
ROWS = [("a", "b c"), ("x,y", 'say "hi"'), ("two\nlines", "tab\there"), ("", ""), ("cr\rhere", "caf\u00e9")]


def lines_of(*values, arguments=()):
    return good("to-text", *arguments, stdin=ENCODER.encode_all(values)).decode()


def values_of(text, *arguments):
    return tb.Decoder().decode_all(good("from-text", *arguments, stdin=text.encode()))


def test_lines():
    assert lines_of("a", 1, 1.5, True, None, ("x", 2), {"k": ["v"]}, b"caf\xc3\xa9", [b"\xff"]) == (
        'a\n1\n1.5\ntrue\nnull\n["x", 2]\n{"k": ["v"]}\ncaf\u00e9\n["/w=="]\n'
    )
    assert values_of("a\r\n\n\u2028b\nlast") == ["a", "", "\u2028b", "last"]
    assert values_of("") == []


def test_bytes_are_written_as_they_are():
    """Also a STRING that is not UTF-8, and a byte string of the older libraries."""
    values = b"\x00\0\0\0\2\xff\x80" + b"\x07\0\0\0\1\xe9" + b"\x65\0\0\0\1\xfe"
    assert good("to-text", stdin=values) == b"\xff\x80\n\xe9\n\xfe\n"
    assert good("to-text", "--pairs", stdin=values[:7] * 2) == b"\xff\x80\t\xff\x80\n"
    assert good("to-text", "--csv", stdin=b"\x08\0\0\0\2" + values[:7] + ONE) == b"\xff\x80,1\n"
    assert r"a line end in '\udcff\n'" in bad(65, "to-text", stdin=b"\x00\0\0\0\2\xff\n")[1]


def test_pairs():
    assert good("to-text", "--pairs", stdin=TEXT + LIST + ONE + TWO) == b'hi\t[1, "hi"]\n1\t2\n'
    assert values_of("a\tb\tc\n\t\n", "--pairs") == ["a", "b\tc", "", ""]
    assert values_of("a::b:c\n", "--pairs", "--separator", "::") == ["a", "b:c"]
    assert good("to-text", "--pairs", "--separator=: ", stdin=TEXT + ONE) == b"hi: 1\n"


@pytest.mark.parametrize("form", [["--csv"], ["--tsv"], ["--csv", "--separator", ";"]])
def test_rows_come_back(form):
    text = lines_of(*ROWS, arguments=form)
    delimiter = {"--csv": ",", "--tsv": "\t"}[form[0]] if len(form) == 1 else ";"
    assert [tuple(row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)] == ROWS
    assert values_of(text, *form) == ROWS
    pairs = good("to-text", "--pairs", *form, stdin=ENCODER.encode_pairs(ROWS))
    assert pairs.decode() == text
    assert good("from-text", "--pairs", *form, stdin=pairs) == ENCODER.encode_pairs(ROWS)


def test_rows_of_other_values():
    assert lines_of(("a", [1, "x"]), ["b", None], "one", {"k": 1}, arguments=["--csv"]) == 'a,"[1, ""x""]"\nb,null\none\n"{""k"": 1}"\n'


def test_header(file):
    people = file("\ufeffname,born\nAda,1815\n\n".encode(), "a.csv"), file(b"born,name\n1906,Grace\n", "b.csv")
    records = good("from-text", "--csv", "--header", *people)
    assert tb.Decoder().decode_all(records) == [{"name": "Ada", "born": "1815"}, {"born": "1906", "name": "Grace"}]
    assert good("to-text", "--csv", "--header", stdin=records) == b"name,born\nAda,1815\nGrace,1906\n"
    assert good("to-text", "--csv", "--header") == good("from-text", "--csv", "--header", stdin=b"name,born\n") == b""


@settings(max_examples=50)
@given(rows=st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1).map(tuple)))
def test_any_row_comes_back(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    first, text, second = (str(folder / name) for name in ("a.tb", "a.csv", "b.tb"))
    with open(first, "wb") as file:
        file.write(ENCODER.encode_all(rows))
    assert main(["to-text", "--from", "typedbytes", "--csv", first, "-o", text]) == main(["from-text", "--csv", text, "-o", second]) == 0
    with open(first, "rb") as before, open(second, "rb") as after:
        assert after.read() == before.read()


@pytest.mark.parametrize(
    "arguments, value, message",
    [
        ([], "two\nlines", "a line end in 'two\\\\nlines' (--csv or --tsv puts it in quotes, and to-json escapes it)"),
        ([], "cr\r", "a line end in"),
        (["--csv"], (), "a row has no form without a field"),
        (["--csv"], [], "a row has no form without a field"),
        (["--csv", "--header"], "a", "expected a MAP, whose keys are the header"),
        (["--csv", "--header"], {"b": 1}, "expected the keys 'k' once each, not 'b'"),
        (["--csv", "--header"], {"k": 1, "b": 1}, "expected the keys 'k' once each, not 'k, b'"),
        (["--csv", "--header"], {}, "expected the keys 'k' once each, not ''"),
    ],
)
def test_what_has_no_form(arguments, value, message):
    first = ENCODER.encode({"k": "v"} if arguments else "v")
    written = b"k\nv\n" if "--header" in arguments else b'"{""k"": ""v""}"\n' if arguments else b"v\n"
    stdout, found = bad(65, "to-text", *arguments, stdin=first + ENCODER.encode(value) + ONE)
    assert stdout == written
    assert found.startswith(f"standard input: {message.encode().decode('unicode_escape')}")
    assert found.endswith(f" at offset {len(first)}, record 1")


def test_a_key_twice_is_no_row():
    twice = b"\x0a\0\0\0\x02" + TEXT + ONE + TEXT + TWO
    assert "expected the keys 'hi' once each, not 'hi, hi' at offset 0, record 0" in bad(65, "to-text", "--csv", "--header", stdin=twice)[1]


def test_a_separator_in_a_key_is_refused():
    stdout, message = bad(65, "to-text", "--pairs", stdin=ENCODER.encode_pairs([("a", "b\tc"), ("a\tb", 1)]))
    assert stdout == b"a\tb\tc\n"
    assert message.startswith(
        "standard input: the key 'a\\tb' holds the separator (--csv or --tsv puts it in quotes) at offset 14, record 1"
    )


@pytest.mark.parametrize(
    "arguments, text, message",
    [
        ([], b"a\nb\xff", "line 2: not UTF-8 at byte 1"),
        (["--pairs"], b"a\tb\nab\n", "line 2: expected a key, '\\t' and a value, not 'ab'"),
        (["--pairs", "--csv"], b"a,b\na,b,c\n", "line 2: expected a key and a value, not 3 fields"),
        (["--csv"], b'a\n"b\nc', "line 3: unexpected end of data"),
        (["--csv"], b'a\n"b"c\n', "line 2: ',' expected after '\"'"),
        (["--csv", "--header"], b"a,b\n1\n", "line 2: expected 2 fields, as the header has, not 1"),
        (["--csv", "--header"], b"a,a\n1\n", "line 1: the header has a name twice"),
        (["--max-bytes", "3"], b"abcd\n", "line 1: longer than 3 bytes"),
    ],
)
def test_text_that_is_refused(arguments, text, message):
    assert bad(65, "from-text", *arguments, stdin=text)[1] == f"standard input: {message}"


@pytest.mark.parametrize("command", ["to-text", "from-text"])
@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--header"], "argument --header: needs --csv or --tsv, and no --pairs"),
        (["--header", "--csv", "--pairs"], "argument --header: needs --csv or --tsv, and no --pairs"),
        (["--separator", ","], "argument --separator: only --pairs, --csv and --tsv separate anything"),
        (["--csv", "--separator", "ab"], "argument --separator: a row needs one character other than a quote or a line end, not 'ab'"),
        (["--pairs", "--separator", ""], "argument --separator: expected text without a line end, not ''"),
        (["--csv", "--tsv"], "argument --tsv: not allowed with argument --csv"),
    ],
)
def test_options_that_do_not_fit(command, arguments, message):
    assert bad(64, command, *arguments)[1].startswith(message)


def test_header_of_a_sequencefile(tmp_path):
    path = str(tmp_path / "a.seq")
    good("loadtb", path, stdin=ONE + TWO)
    assert "argument --header: needs values, not pairs" in bad(64, "to-text", "--csv", "--header", path)[1]


def test_long_fields():
    long = "x" * 300_000
    assert values_of(f"{long},y\n", "--csv") == [(long, "y")]


def test_an_output_file_is_complete_or_unchanged(file, tmp_path):
    out = file(b"before", "out.txt")
    bad(65, "to-text", "-o", out, stdin=TEXT + b"\x0e")
    assert (tmp_path / "out.txt").read_bytes() == b"before"
    assert good("to-text", "-o", out, stdin=TEXT) == b""
    assert (tmp_path / "out.txt").read_bytes() == b"hi\n"


def test_numbers_are_inferred_where_wanted():
    text = "1,-2,2.5,1e3,007,+1,,x,9223372036854775807,9223372036854775808,-0\n"
    found = [1, -2, 2.5, 1000.0, "007", "+1", "", "x", 2**63 - 1, "9223372036854775808", 0]
    assert [[(type(item), item) for item in row] for row in values_of(text, "--csv", "--infer")] == [[(type(item), item) for item in found]]
    assert values_of("9" * 5000 + "\n1\n", "--infer") == ["9" * 5000, 1]
    assert values_of("1,n\n2,3\n", "--csv", "--header", "--infer") == [{"1": 2, "n": 3}]
    assert values_of("a\t1\n2\tb\n", "--infer", "--pairs") == ["a", 1, 2, "b"]
    assert values_of("1\n") == ["1"]


def test_decimals_are_added_up_exactly():
    stream = ENCODER.encode_pairs([("a", Decimal("0.1")), ("a", Decimal("0.2")), ("a", 1)])
    (line,) = good("aggregate", "--pairs", stdin=stream).splitlines()
    assert json.loads(line, parse_float=Decimal) == {
        "key": "a", "count": 3, "sum": Decimal("1.3"), "min": Decimal("0.1"), "max": 1, "mean": Decimal("1.3") / 3,
    }  # fmt: skip
    assert b'"sum": "NaN"' in good("aggregate", stdin=ENCODER.encode_all([Decimal("NaN")]))
    assert "cannot add this value up: " in bad(65, "aggregate", "--values", stdin=ENCODER.encode_all([Decimal(1), 0.5]))[1]
