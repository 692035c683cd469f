"""Records as lines of text, CSV and TSV, and back: what comes out, what comes back, and what is refused."""

import csv
import io
import json
import os
import subprocess
from decimal import Decimal

import pytest
from hypothesis import given, settings, strategies as st

import typedbytes as tb
from support.commands import COMMAND, LIST, ONE, TEXT, TWO, bad, good, until_it_has_read, until_it_waits
from support.subprocess_runs import SECONDS
from typedbytes.cli import main
from typedbytes.cli.commands import from_text

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


@pytest.mark.parametrize("form", ["--csv", "--tsv"])
def test_nulls_in_columns_of_numbers_come_back(form):
    people = [{"name": "Ada", "born": 1815, "score": None}, {"name": "", "born": None, "score": 2.5}]
    text = good("to-text", form, "--header", stdin=tb.Encoder().encode_all(people))
    assert text == b"name,born,score\nAda,1815,\n,,2.5\n".replace(b",", b"," if form == "--csv" else b"\t")
    assert tb.Decoder().decode_all(good("from-text", form, "--header", "--infer", stdin=text)) == people
    hive = good("from-text", form, "--header", "--infer", "--dialect", "hive", stdin=text)
    assert good("to-text", form, "--header", "--dialect", "hive", stdin=hive) == text


def test_a_row_of_one_null():
    numbers = tb.Encoder().encode_all([1, None, float("nan"), "null"])
    assert good("to-text", "--csv", stdin=numbers) == b'1\n""\n""\nnull\n'
    assert good("to-text", stdin=numbers) == b"1\nnull\nnull\nnull\n"


@pytest.mark.parametrize(
    ("text", "texts", "values"),
    [
        ("a\n1\n\n3\n", ["1", "", "3"], [1, None, 3]),
        ('a\r\n1\r\n\r\n""\r\n3', ["1", "", "", "3"], [1, None, None, 3]),
        ("\n\r\na\nx\n\n", ["x", ""], ["x", ""]),
        ('\ufeffa\n\n\n"two\n\nlines"\n', ["", "", "two\n\nlines"], ["", "", "two\n\nlines"]),
        ("a\n\n", [""], [""]),
        ("a\n", [], []),
        ("a\n1\r\r\n", ["1"], [1]),
    ],
)
def test_an_empty_line_is_a_row_where_there_is_one_column(text, texts, values):
    assert values_of(text, "--csv", "--header") == [{"a": value} for value in texts]
    assert values_of(text, "--tsv", "--header", "--infer") == [{"a": value} for value in values]
    assert values_of(text, "--csv") == [("a",), *((value,) for value in texts)]


def test_an_empty_line_is_no_row_where_there_are_several_columns():
    assert values_of("\n\na,b\n1,2\n\n3,4\n\n", "--csv", "--header") == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]
    assert values_of("1,2\n\n3\n\n", "--csv") == [("1", "2"), ("3",)]
    assert values_of("1\n\n2,3\n\n4\n\n", "--csv") == [("1",), ("",), ("2", "3"), ("4",)]
    assert values_of("a,b\n\nc,d\n\n", "--csv", "--pairs") == ["a", "b", "c", "d"]
    assert values_of("\n\n", "--csv") == values_of("\n\n", "--csv", "--header") == []


def test_the_line_of_a_fault_after_empty_lines():
    message = bad(65, "from-text", "--csv", "--header", stdin=b"a\n1\n\n2,3\n")[1]
    assert "line 4: expected 1 fields, as the header has, not 2" in message


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
    assert (
        lines_of(("a", [1, "x"]), ["b", None], "one", {"k": 1}, arguments=["--csv"])
        == 'a,"[1, ""x""]"\nb,\none\n"{""k"": 1}"\n'
    )


def test_header(file):
    people = file("\ufeffname,born\nAda,1815\n\n".encode(), "a.csv"), file(b"born,name\n1906,Grace\n", "b.csv")
    records = good("from-text", "--csv", "--header", *people)
    assert tb.Decoder().decode_all(records) == [{"name": "Ada", "born": "1815"}, {"born": "1906", "name": "Grace"}]
    assert good("to-text", "--csv", "--header", stdin=records) == b"name,born\nAda,1815\nGrace,1906\n"
    assert good("to-text", "--csv", "--header") == good("from-text", "--csv", "--header", stdin=b"name,born\n") == b""


@settings(max_examples=50)
@given(
    rows=st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1).map(tuple)
    )
)
def test_any_row_comes_back(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    first, text, second = (str(folder / name) for name in ("a.tb", "a.csv", "b.tb"))
    with open(first, "wb") as file:
        file.write(ENCODER.encode_all(rows))
    assert (
        main(["to-text", "--from", "typedbytes", "--csv", first, "-o", text])
        == main(["from-text", "--csv", text, "-o", second])
        == 0
    )
    with open(first, "rb") as before, open(second, "rb") as after:
        assert after.read() == before.read()


@pytest.mark.parametrize(
    "arguments, value, message",
    [
        ([], "two\nlines", "a line end in 'two\\\\nlines' (--csv or --tsv puts it in quotes, and to-json escapes it)"),
        ([], "cr\r", "a line end in"),
        (["--csv"], (), "a row has no form without a field (to-json --plain writes [] for it)"),
        (["--csv"], [], "a row has no form without a field (to-json --plain writes [] for it)"),
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
    assert (
        "expected the keys 'hi' once each, not 'hi, hi' at offset 0, record 0"
        in bad(65, "to-text", "--csv", "--header", stdin=twice)[1]
    )


def test_a_separator_in_a_key_is_refused():
    stdout, message = bad(65, "to-text", "--pairs", stdin=ENCODER.encode_pairs([("a", "b\tc"), ("a\tb", 1)]))
    assert stdout == b"a\tb\tc\n"
    assert message.startswith(
        "standard input: the key 'a\\tb' holds the separator (--csv or --tsv puts it in quotes) at offset 14, record 1"
    )


def test_a_separator_that_begins_in_the_key_is_refused():
    stdout, message = bad(
        65, "to-text", "--pairs", "--separator", "aa", stdin=ENCODER.encode_pairs([("ax", "b"), ("xa", "b")])
    )
    assert stdout == b"axaab\n"
    assert message.startswith(
        "standard input: the key 'xa' ends with the beginning of the separator (--csv or --tsv puts it in quotes)"
    )
    assert values_of("axaab\n", "--pairs", "--separator", "aa") == ["ax", "b"]


@pytest.mark.parametrize("rows", [[("\ufeffa", "b"), ("\ufeffa", "b")], [("\ufeff",)], [("\ufeff\ufeff,", "x")]])
def test_a_byte_order_mark_in_the_first_field_comes_back(rows):
    text = lines_of(*rows, arguments=["--csv"])
    assert values_of(text, "--csv") == rows
    records = ENCODER.encode_all([{"\ufeffa": "b"}])
    header = good("to-text", "--csv", "--header", stdin=records)
    assert good("from-text", "--csv", "--header", stdin=header) == records
    pairs = ENCODER.encode_pairs([("\ufeffa", "b")])
    assert good("from-text", "--tsv", "--pairs", stdin=good("to-text", "--tsv", "--pairs", stdin=pairs)) == pairs


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
        (
            ["--csv", "--separator", "ab"],
            "argument --separator: a row needs one character other than a quote or a line end, not 'ab'",
        ),
        (["--pairs", "--separator", ""], "argument --separator: expected text without a line end, not ''"),
        (["--csv", "--tsv"], "argument --tsv: not allowed with argument --csv"),
    ],
)
def test_options_that_do_not_fit(command, arguments, message):
    assert bad(64, command, *arguments)[1].startswith(message)


@pytest.mark.parametrize("form", [["--pairs"], ["--csv"], ["--tsv"], ["--csv", "--pairs"], ["--pairs", "--infer"]])
def test_a_separator_that_is_in_no_text(form):
    """Lines are UTF-8: a byte that is not would separate nothing. What is written may have it."""
    message = bad(64, "from-text", *form, "--separator", "\udce9", stdin=b"1\t2\n")[1]
    assert message == r"argument --separator: expected text in UTF-8, as the lines are, not '\udce9'"
    assert good("to-text", "--pairs", "--separator", "\udce9", stdin=TEXT + ONE) == b"hi\xe91\n"


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


LARGEST = 2**53  # a DOUBLE holds every integer up to here


@pytest.mark.parametrize(
    "cells, values",
    [
        (["1", "-2", "0"], [1, -2, 0]),
        (["5", "-0"], ["5", "-0"]),
        (["0.5", "-0"], [0.5, -0.0]),
        (["1", "2.5", "1e3"], [1.0, 2.5, 1000.0]),
        (["1", "", "3"], [1, None, 3]),
        (["", "0.5"], [None, 0.5]),
        (["", ""], ["", ""]),
        (["1", "x"], ["1", "x"]),
        (["1", " 2"], ["1", " 2"]),
        (["1", "007"], ["1", "007"]),
        (["1", "+1"], ["1", "+1"]),
        (["1.5", "1."], ["1.5", "1."]),
        (["1.5", "1e999"], ["1.5", "1e999"]),
        (["nan", "1"], ["nan", "1"]),
        ([str(2**31 - 1), str(-(2**31))], [2**31 - 1, -(2**31)]),
        (["1", "", str(2**31)], [tb.Long(1), None, tb.Long(2**31)]),
        ([str(-(2**63)), str(2**63 - 1)], [tb.Long(-(2**63)), tb.Long(2**63 - 1)]),
        (["1", str(2**63)], ["1", str(2**63)]),
        (["9" * 5000, "1"], ["9" * 5000, "1"]),
        ([str(LARGEST), str(-LARGEST), "0.5"], [float(LARGEST), float(-LARGEST), 0.5]),
        ([str(LARGEST + 1), "0.5"], [str(LARGEST + 1), "0.5"]),
        (["0.5", str(-LARGEST - 1)], ["0.5", str(-LARGEST - 1)]),
        ([f"{LARGEST + 2}.0", "1.50", "0.1"], [float(LARGEST + 2), 1.5, 0.1]),
        ([f"{LARGEST + 1}.0", "1.50"], [f"{LARGEST + 1}.0", "1.50"]),
        (["1.5", "-1e-400"], ["1.5", "-1e-400"]),
        (["1.2345e-320"], ["1.2345e-320"]),
        (["0.5", "1E-400"], ["0.5", "1E-400"]),
        (["99999999999999.9", "-0.0000000000001"], [99999999999999.9, -1e-13]),
        (["5e-324", "0e-400", "0.00", "6.02214076E+23"], [5e-324, 0.0, 0.0, 6.02214076e23]),
        (
            ["0.30000000000000004", "0.10000000000000001", "1.7976931348623157e308"],
            [0.1 + 0.2, 0.1, 1.7976931348623157e308],
        ),
        (["1.5", "123456789.123456789123"], ["1.5", "123456789.123456789123"]),
        (["0." + "1" * 5000], ["0." + "1" * 5000]),
        (["1." + "0" * 5000], [1.0]),
    ],
)
@pytest.mark.parametrize(("dialect", "kept_nbytes"), [("hadoop", from_text.KEPT_NBYTES), ("hive", 0)])
def test_a_column_of_numbers_has_one_type(cells, values, dialect, kept_nbytes, file, tmp_path, monkeypatch):
    """Whatever the other columns hold, in rows, MAPs, pairs and lines, read once or twice."""
    monkeypatch.setattr(from_text, "KEPT_NBYTES", kept_nbytes)
    encoder = tb.Encoder(dialect=dialect)

    def encoded(text, *arguments):
        assert (
            main(
                [
                    "from-text", "--infer", "--dialect", dialect, *arguments, file(text.encode(), "a"), "-o",
                    str(tmp_path / "b"),
                ]
            )
            == 0
        )  # fmt: skip
        return (tmp_path / "b").read_bytes()

    rows = "".join(f"{cell},x\n" for cell in cells)
    assert encoded(rows, "--csv") == encoder.encode_all([(value, "x") for value in values])
    assert encoded("n,s\n" + rows, "--csv", "--header") == encoder.encode_all(
        [{"n": value, "s": "x"} for value in values]
    )
    assert encoded(rows, "--csv", "--pairs") == encoder.encode_pairs([(value, "x") for value in values])
    assert encoded("".join(f"x\t{cell}\n" for cell in cells), "--pairs") == encoder.encode_pairs(
        [("x", value) for value in values]
    )
    assert encoded("".join(f"{cell}\n" for cell in cells)) == encoder.encode_all(values)


def test_columns_of_several_inputs_and_of_rows_of_several_lengths(file):
    first, second = file(b"a,b\n1,2\n", "a.csv"), file(b"b,a\n0.5,7\n", "b.csv")
    assert list(tb.Reader(good("from-text", "--csv", "--header", "--infer", first, second))) == [
        {"a": 1, "b": 2.0},
        {"b": 0.5, "a": 7},
    ]
    assert values_of("1\n2,3\n\n4,5,x\n", "--csv", "--infer") == [(1,), (2, 3), (4, 5, "x")]
    assert values_of("", "--csv", "--infer") == values_of("a,b\n", "--csv", "--header", "--infer") == []


@pytest.mark.parametrize(("last", "make"), [("0.5", float), ("2147483648", tb.Long), ("x", str)])
def test_a_type_that_the_last_line_changes_is_that_of_all(last, make):
    lines = [*map(str, range(100_000)), last]
    found = good("from-text", "--infer", stdin="\n".join(lines).encode())
    assert found == tb.Encoder().encode_all(map(make, lines))


def test_no_number_without_infer():
    assert values_of("1\n") == ["1"]


ROWS_OF_A_TABLE = b"".join(b"%d,x\n" % number for number in range(20_000)) + b"0.5,y\n"


@pytest.mark.parametrize(
    "how",
    [
        "FILE", "< FILE", "/dev/stdin < FILE", "<(cat FILE)", "/dev/stdin < <(cat FILE)", "< <(gzip < FILE)",
        "- FILE < <(cat FILE)",
    ],
)  # fmt: skip
def test_inputs_of_every_kind_are_read_twice(file, tmp_path, how):
    """And a copy of what can be read only once is removed."""
    (tmp_path / "tmp").mkdir()
    script = (
        f"TMPDIR={tmp_path}/tmp {' '.join(COMMAND)} from-text --csv --infer "
        f"{how.replace('FILE', file(ROWS_OF_A_TABLE, 'a.csv'))}"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=SECONDS)
    assert (done.returncode, done.stderr) == (0, b"")
    expected = [(float(number), "x") for number in range(20_000)] + [(0.5, "y")]
    assert done.stdout == ENCODER.encode_all(expected * (2 if "-" in how.split() else 1))
    assert list((tmp_path / "tmp").iterdir()) == []


def test_the_copy_of_a_pipe_is_removed_after_a_failure_and_a_signal(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    message = bad(65, "from-text", "--csv", "--infer", stdin=b'1\n"b"c\n', env=environment)[1]
    assert (message, list(tmp_path.iterdir())) == ("standard input: line 2: ',' expected after '\"'", [])
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "from-text", "--infer"], input=b"1\n", stdout=full, stderr=subprocess.PIPE, env=environment
        )
    assert (done.returncode, list(tmp_path.iterdir())) == (74, [])
    with subprocess.Popen([*COMMAND, "from-text", "--infer"], stdin=subprocess.PIPE, env=environment) as process:
        process.stdin.write(b"1\n")
        process.stdin.flush()
        until_it_has_read(process)
        until_it_waits(process)
        assert len(list(tmp_path.iterdir())) == 1
        process.terminate()
    assert (process.returncode, list(tmp_path.iterdir())) == (143, [])


@pytest.mark.uncounted("the limit on files would cut those of the counters")
def test_a_pipe_that_does_not_fit_into_temporary_files(tmp_path):
    script = f"ulimit -f 1; exec {' '.join(COMMAND)} from-text --infer"
    done = subprocess.run(["bash", "-c", script], input=b"12345\n" * 10_000, capture_output=True, timeout=SECONDS)
    assert (done.returncode, done.stderr) == (74, b"typedbytes from-text: temporary files: File too large\n")


@pytest.mark.parametrize("changed", [b"x\n2\n", b"1,3\n2\n"])
def test_an_input_that_changes_between_the_readings(file, monkeypatch, capfd, changed):
    path = file(b"1\n2\n", "a.csv")
    monkeypatch.setattr(from_text, "KEPT_NBYTES", 0)
    opened = from_text.opened

    def opened_and_changed(name, source):
        found = opened(name, source)
        monkeypatch.setattr(from_text, "opened", lambda *again: (file(changed, "a.csv"), opened(*again))[1])
        return found

    monkeypatch.setattr(from_text, "opened", opened_and_changed)
    assert main(["from-text", "--csv", "--infer", path]) == 65
    message = f"typedbytes from-text: {path}: line 1: the input has changed since the types of its columns were found\n"
    assert capfd.readouterr().err == message


def test_inferred_columns_become_a_table(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "out.parquet"
    data = good("from-text", "--csv", "--infer", stdin=b"1,2,a\n2.5,,007\n,4294967296,\n")
    good("convert", "--values", "--to", "parquet", "-o", str(path), stdin=data)
    table = parquet.read_table(path)
    (column,) = table.to_pydict().values()
    assert [tuple(row.values()) for row in column] == [(1.0, 2, "a"), (2.5, None, "007"), (None, 2**32, "")]


def test_decimals_are_added_up_exactly():
    stream = ENCODER.encode_pairs([("a", Decimal("0.1")), ("a", Decimal("0.2")), ("a", 1)])
    (line,) = good("aggregate", "--pairs", stdin=stream).splitlines()
    assert json.loads(line, parse_float=Decimal) == {
        "key": "a", "count": 3, "sum": Decimal("1.3"), "min": Decimal("0.1"), "max": 1, "mean": Decimal("1.3") / 3,
    }  # fmt: skip
    assert b'"sum": "NaN"' in good("aggregate", stdin=ENCODER.encode_all([Decimal("NaN")]))
    assert (
        "cannot add this value up: " in bad(65, "aggregate", "--values", stdin=ENCODER.encode_all([Decimal(1), 0.5]))[1]
    )


@pytest.mark.parametrize(
    "numbers, total",
    [
        (["12345678901234567890123456789.5", "1"], "12345678901234567890123456790.5"),
        (["1E+40", "1"], f"{10**40 + 1}"),
        (["1", "1E+40", "-1E+40"], "1"),
        (["1234567890123456789012345678901234.5"], "1234567890123456789012345678901234.5"),
        (["1E-30", "1"], f"1.{'0' * 29}1"),
        (["1E+2000000"], "1E+2000000"),
        (["9" * 10_000], "9" * 10_000),
    ],
)
def test_decimals_of_many_digits_are_added_up_exactly(numbers, total):
    (line,) = good("aggregate", "--values", stdin=ENCODER.encode_all(map(Decimal, numbers))).splitlines()
    found = json.loads(line, parse_float=str, parse_int=str)
    assert (found["sum"], found["count"]) == (total, str(len(numbers)))


@pytest.mark.parametrize(
    "numbers, message",
    [
        (["1E+999999", "1"], "the sum has more than 10000 digits"),
        (["9" * 10_001], "the sum has more than 10000 digits"),
        (["1", "sNaN"], "infinities of both signs have no sum, and signaling NaNs have none"),
        (["sNaN"], "infinities of both signs have no sum, and signaling NaNs have none"),
        (["Infinity", "-Infinity"], "infinities of both signs have no sum, and signaling NaNs have none"),
    ],
)
def test_decimals_without_an_exact_sum_are_refused(numbers, message):
    data = list(map(ENCODER.encode, map(Decimal, numbers)))
    expected = f"cannot add this value up: {message} at offset {len(b''.join(data[:-1]))}, record {len(data) - 1}"
    assert bad(65, "aggregate", "--values", stdin=b"".join(data)) == (b"", f"standard input: {expected}")
