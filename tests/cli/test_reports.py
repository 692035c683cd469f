"""Reports of commands: what is in their lines of JSON and in their tables."""

import json

import typedbytes as tb
from support.commands import ONE, STREAM, TWO, good, rows, run
from typedbytes.cli._output import terminal


def test_values_in_reports_are_json(file):
    values = [{"caf\u00e9": [1, b"x"]}, None, 2**40, "x" * 300, "\x9b"]
    first, second = file(tb.Encoder().encode_all(values)), file(b"", "b.tb")
    forms = [{"caf\u00e9": [1, {"bytes": "eA=="}]}, None, 2**40, "x" * 300, "\x9b"]
    assert [row["value"] for row in rows(good("freq", "-n", "0", first))] == forms
    differences = rows(run("diff", "--unordered", "--values", first, second).stdout)
    assert [row["value"] for row in differences] == forms
    assert rows(run("diff", first, second).stdout)[0] == {"record": 0, "first": forms[0]}
    assert rows(good("freq", "--pairs", stdin=ONE + TWO))[0]["key"] == 1
    table = good("freq", "-n", "0", "--table", first).decode()
    assert f'"{"x" * 198}\u2026\n' in table and "\\u009b" in table


def test_table():
    rows = [{"word": "a\u4e00", "n": 5}, {"word": "longer", "n": None, "more": True}]
    assert terminal.table(rows) == ["word    n  more", "a\u4e00     5", "longer     yes"]
    assert terminal.table(rows, 10) == ["word    n\u2026", "a\u4e00     5", "longer   \u2026"]


def test_reports_are_json():
    for command in ("stats", "schema", "freq", "sniff", "validate"):
        assert all(isinstance(json.loads(line), dict) for line in good(command, "--json", stdin=STREAM).splitlines())
        assert b"{" not in good(command, "--table", stdin=STREAM)
