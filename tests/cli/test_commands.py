"""What the commands make of records: ranges, samples, statistics, faults, differences, searches, conversions, outputs."""

import ast
import contextlib
import datetime
import decimal
import hashlib
import io
import json
import os
import random
import subprocess
import sys
import zipfile

import pyarrow
import pyarrow.parquet
import pytest

import typedbytes as tb
from commands import COMMAND, LIST, ONE, STREAM, TEXT, TWO, bad, good, rows, run, until_it_has_read
from subprocess_runs import SECONDS, run_fresh
from typedbytes import sequencefile
from typedbytes.cli import main
from typedbytes.cli.input import formats, progress
from typedbytes.cli.main import parser_of
from typedbytes.cli.output import terminal
from typedbytes.cli.records.fault_finder import RecentBytesReader
from typedbytes.cli.tables import arrow

PAIRS = [(f"key {i % 7}", i) for i in range(100)]
PAIR_STREAM = tb.Encoder().encode_pairs(PAIRS)


def values(stdout):
    return tb.Decoder().decode_all(stdout)


# Ranges and samples

NUMBERS = tb.Encoder().encode_all(range(20))


FROM_THE_END = ["-3:", ":-3", "-9:-2:3", "15:-2", "3:-1:5", "-4:18", "-1:5", "-30:2", "5:-30", "-3:-3", "-0:2", "-9::4"]


@pytest.mark.parametrize("text", [":", "3:", ":5", "2:9:3", "::4", "20:", "5:5", "1::7", *FROM_THE_END])
def test_slice_is_pythons(text, file):
    parts = [int(part) if part else None for part in text.split(":")]
    assert values(good("slice", "-r", text, stdin=NUMBERS)) == list(range(20))[slice(*parts)]
    split = file(NUMBERS[:35]), file(NUMBERS[35:], "b.tb")
    assert values(good("slice", "-r", text, *split)) == list(range(20))[slice(*parts)]


@pytest.mark.parametrize("text", ["5", "-1", "--1:", "1:2:0", "1:2:-1", "1:2:3:4", "a:b", "-a:"])
def test_ranges_that_are_refused(text):
    assert "argument -r" in bad(64, "slice", "-r", text)[1]


MANY = "9" * 5000  # more digits than int() takes of a text


def test_numbers_without_end():
    assert values(good("slice", "-r", f"18:{MANY}", stdin=NUMBERS)) == [18, 19]
    assert values(good("slice", "-r", f"3::{MANY}", stdin=NUMBERS)) == [3]
    assert good("slice", "-r", f"{MANY}:", stdin=NUMBERS) == b""
    assert good("head", "-n", MANY, stdin=NUMBERS) == NUMBERS
    assert good("head", "-n", "0" * 5000 + "3", stdin=NUMBERS) == NUMBERS[:15]
    assert good("sort", "--memory", "1e300", stdin=NUMBERS) == NUMBERS
    assert "expected a size" in bad(64, "sort", "--memory", "1e999", stdin=NUMBERS)[1]
    assert "expected at least 64K, not '1'" in bad(64, "sort", "--memory", "1", stdin=NUMBERS)[1]


def test_slice_from_the_end_of_many_inputs(file):
    seq = file(b"", "a.seq")
    assert run("loadtb", "--overwrite", seq, stdin=PAIR_STREAM[: tb.index(PAIR_STREAM)[20]]).returncode == 0
    written = good("slice", "--pairs", "--to", "json", "--range", "-3:-1", seq, file(ONE + TWO, "b.tb"))
    assert rows(written) == [["key 1", 8], ["key 2", 9]]
    assert bad(65, "slice", "-r", "-1:", stdin=ONE + b"\x0e")[0] == b""


@pytest.mark.parametrize("command", ["head", "tail", "sample"])
def test_a_number_of_records_as_in_head(command, file):
    for n in (0, 2, 12):
        seed = ["--values", "--seed", "1"] if command == "sample" else []
        assert good(command, f"-{n}", *seed, file(NUMBERS)) == good(command, "-n", str(n), *seed, file(NUMBERS)) != b"" or n == 0
    assert "argument -n: expected an integer" in bad(64, command, "-2x", stdin=NUMBERS)[1]
    assert "argument -n: expected an integer" in bad(64, command, "-n", "-2", stdin=NUMBERS)[1]


def test_a_number_is_no_option_of_other_commands():
    assert "-2" in bad(66, "cat", "-2")[1]


def test_forms_of_json():
    data = tb.dumps({"d": datetime.date(2020, 1, 2)}) + tb.dumps(b"x")
    for command in ("head", "tail", "cat", "sort", "to-json", "slice", "uniq"):
        assert good(command, "--plain", "--values", stdin=data) in (b'{"d": "2020-01-02"}\n"x"\n', b'"x"\n{"d": "2020-01-02"}\n')
        assert good(command, "--plain", "--pretty", "--values", stdin=data).splitlines()[-1] in (b'"x"', b"}")
    assert good("head", "--pretty", "--pairs", stdin=ONE + LIST) == b'[\n  1,\n  [\n    1,\n    "hi"\n  ]\n]\n'
    assert good("--plain", "head", "--to", "json", stdin=data) == good("head", "--plain", stdin=data)
    for option in "--plain", "--pretty":
        assert bad(64, "head", option, "--to", "block", stdin=data) == (b"", "--plain and --pretty are forms of JSON, not of block")


def test_slice_does_not_look_further():
    assert values(good("slice", "-r", "1:2", stdin=ONE + TWO + b"\x0e")) == [2]


@pytest.mark.parametrize("n", [1, 7000, 99_999, 100_000, 200_000])
def test_tail_of_many(n, file):
    pairs = [(i, "x" * (i % 5)) for i in range(100_000)]
    data = tb.Encoder().encode_pairs(pairs)
    assert tb.Decoder().decode_pairs(good("tail", "--pairs", "-n", str(n), stdin=data)) == pairs[-n:]


@pytest.mark.parametrize("n", [0, 1, 3, 20, 50])
def test_tail(n, file):
    assert values(good("tail", "-n", str(n), stdin=NUMBERS)) == list(range(20))[max(0, 20 - n) :]
    assert values(good("tail", "-n", str(n), file(NUMBERS[:35]), file(NUMBERS[35:], "b.tb"))) == list(range(20))[max(0, 20 - n) :]


def test_sample(file):
    for seed in range(2):
        sample = values(good("sample", "-n", "5", "--seed", str(seed), stdin=NUMBERS))
        assert len(sample) == 5 and sample == sorted(set(sample)) and set(sample) <= set(range(20))
        assert values(good("sample", "-n", "5", "--seed", str(seed), file(NUMBERS[:35]), file(NUMBERS[35:], "b.tb"))) == sample
    assert values(good("sample", "-n", "99", stdin=NUMBERS)) == list(range(20))
    assert good("sample", "-n", "0", stdin=NUMBERS) == good("sample", "-p", "0", stdin=NUMBERS) == b""
    assert good("sample", "-p", "1", stdin=NUMBERS) == NUMBERS
    assert good("sample", "-p", "1e-310", stdin=NUMBERS) == b""
    assert "from 0 to 1" in bad(64, "sample", "-p", "2")[1]


def test_samples_are_fair():
    from typedbytes.cli.commands import sample

    parser = parser_of("sample")

    class Output:
        is_terminal = False

        def __init__(self):
            self.data = b""

        def refuse_terminal(self):
            pass

        def write(self, data):
            self.data += data

    def drawn(seed):
        output = Output()
        sample.run(sample.Settings(parser.parse(["-n3", "--values", "--to", "typedbytes", f"--seed={seed}"])), output)
        return values(output.data)

    drawing, ours = os.pipe()
    counts = [0] * 20
    stdin = os.dup(0)
    try:
        for seed in range(2000):
            os.write(ours, NUMBERS)
            os.close(ours)
            os.dup2(drawing, 0)
            os.close(drawing)
            for value in drawn(seed):
                counts[value] += 1
            drawing, ours = os.pipe()
    finally:
        os.dup2(stdin, 0)
        for descriptor in (stdin, drawing, ours):
            os.close(descriptor)
    # 300 each, with a standard deviation of 16.
    assert sum(counts) == 6000 and min(counts) > 220 and max(counts) < 380


# Statistics


def test_count_with_a_row_for_each_input(file):
    first, second = file(STREAM), file(b"", "b.tb")
    assert rows(good("count", "--json", first, second)) == [
        {"input": first, "records": 4, "unit": "values", "bytes": 31},
        {"input": second, "records": 0, "unit": "values", "bytes": 0},
    ]


def test_stats():
    found = rows(good("stats", "--pairs", "-n", "2", "--reducers", "3", stdin=PAIR_STREAM))
    by_section = {}
    for row in found:
        by_section.setdefault(row.pop("section"), []).append(row)
    assert by_section["records"] == [{"records": 100, "unit": "pairs", "bytes": len(PAIR_STREAM)}]
    assert by_section["types"] == [
        {"of": "key", "type": "STRING", "count": 100, "bytes": 1000, "least": 5, "most": 5, "mean": 5.0},
        {"of": "value", "type": "INT", "count": 100, "bytes": 500, "least": 0, "most": 99, "mean": 49.5},
    ]
    assert [(row["count"], row["key"]) for row in by_section["most frequent"]] == [(15, "key 0"), (15, "key 1")]
    expected = [0, 0, 0]
    for key, _ in PAIRS:
        expected[tb.partition(tb.dumps(key), 3)] += 1
    assert [row["records"] for row in by_section["reducers"]] == expected
    assert [row["skew"] for row in by_section["reducers"]] == [n / (100 / 3) for n in expected]


def test_stats_of_no_numbers():
    found = good("stats", stdin=tb.Encoder().encode_all([float("inf"), float("-inf"), 1.5])).decode()
    strict = [json.loads(line, parse_constant=pytest.fail) for line in found.splitlines()]
    assert (strict[1]["least"], strict[1]["most"], strict[1]["mean"]) == ("-inf", "inf", "nan")


def test_stats_of_every_type():
    stream = [tb.Byte(-3), True, 5, 2**40, tb.Float(1.5), 2.5, float("nan"), "abc", b"ab", (1, 2), [1], {1: 2}, tb.Ext(60, b"xyz")]
    data = tb.Encoder().encode_all(stream)
    found = {row["type"]: row for row in rows(good("stats", stdin=data)) if row["section"] == "types"}
    assert {name: (row["count"], row.get("least"), row.get("most"), row.get("mean")) for name, row in found.items()} == {
        "BYTES": (1, 2, 2, 2), "BYTE": (1, -3, -3, -3), "BOOL": (1, 1, 1, 1), "INT": (1, 5, 5, 5), "LONG": (1, 2**40, 2**40, 2**40),
        "FLOAT": (1, 1.5, 1.5, 1.5), "DOUBLE": (2, 2.5, 2.5, 2.5), "STRING": (1, 3, 3, 3), "VECTOR": (1, 2, 2, 2), "LIST": (1, 7, 7, 7),
        "MAP": (1, 1, 1, 1), "code 60": (1, 3, 3, 3),
    }  # fmt: skip
    assert sum(row["bytes"] for row in found.values()) == len(data)


def test_schema():
    stream = tb.Encoder().encode_all([{"name": "x", "n": 1}, {"name": None, 5: [1, "a"]}, (1, (2.5, True))])
    found = [(row["place"], row["type"], row["count"]) for row in rows(good("schema", stdin=stream))]
    assert found == [
        ("value", "MAP", 2),
        ("value", "VECTOR", 1),
        ("value['name']", "STRING", 1),
        ("value['name']", "PICKLE", 1),
        ("value['n']", "INT", 1),
        ("value.key()", "INT", 1),
        ("value[*]", "LIST", 1),
        ("value[*][]", "INT", 1),
        ("value[*][]", "STRING", 1),
        ("value[0]", "INT", 1),
        ("value[1]", "VECTOR", 1),
        ("value[1][0]", "DOUBLE", 1),
        ("value[1][1]", "BOOL", 1),
    ]
    pairs = rows(good("schema", "--pairs", stdin=PAIR_STREAM))
    assert pairs == [
        {"place": "key", "type": "STRING", "count": 100, "share": 1.0},
        {"place": "value", "type": "INT", "count": 100, "share": 1.0},
    ]


def test_statistics_of_hives_codes():
    stream = b"\x0b\xff\xfe\x0c\xb1\x08\x00\x00\x00\x03\x0b\x00\x05\x0c\xb1"
    types = [row for row in rows(good("stats", "--dialect", "hive", stdin=stream)) if row["section"] == "types"]
    assert [(row["type"], row["count"], row["bytes"], row["least"]) for row in types] == [
        ("VECTOR", 1, 10, 3), ("SHORT", 1, 3, -2), ("NULL", 1, 1, 1), ("ENDOFRECORD", 1, 1, 1),
    ]  # fmt: skip
    found = [(row["place"], row["type"]) for row in rows(good("schema", "--dialect", "hive", stdin=stream))]
    assert found[4:] == [("value[0]", "SHORT"), ("value[1]", "NULL"), ("value[2]", "ENDOFRECORD")]
    assert good("to-json", "--plain", "--dialect", "hive", stdin=stream) == b"-2\nnull\nnull\n[5, null, null]\n"


def test_schema_of_many_names_is_bounded():
    stream = tb.dumps({f"{i}": i for i in range(1000)}) + tb.dumps(tuple(range(1000)))
    found = rows(good("schema", stdin=stream))
    assert len(found) < 140 and sum(row["count"] for row in found) == 2002


def test_freq():
    found = rows(good("freq", "--pairs", "-n", "0", stdin=PAIR_STREAM))
    assert [(row["key"], row["count"]) for row in found] == [(f"key {i}", 15 if i < 2 else 14) for i in range(7)]
    assert rows(good("freq", stdin=ONE + TWO + ONE))[0] == {"count": 2, "share": 2 / 3, "value": 1}


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


def test_statistics_of_values_and_pairs_together(file):
    both = file(STREAM), file(sequence_file(), "a.seq")
    assert "some inputs hold pairs and some values" in bad(64, "stats", *both)[1]
    assert rows(good("stats", "--pairs", *both))[0]["records"] == 102


def test_sniff(file, tmp_path):
    def about(data):
        (row,) = rows(good("sniff", file(data)))
        return row["format"], row.get("holds")

    assert about(PAIR_STREAM) == ("typedbytes", "pairs, it seems")
    assert about(NUMBERS) == ("typedbytes", "values or pairs")
    assert about(STREAM) == ("typedbytes", "values")
    assert about(b"") == ("typedbytes", "nothing")
    assert about(b'{"a": 1}\n') == ("json", "values")
    assert about(b"Dear reader") == ("text", None)
    assert about(b"PAR1\x15\x04\x15\x10") == ("parquet", None)
    assert about(good("cat", "--pairs", "--to", "sequencefile", stdin=PAIR_STREAM)) == ("sequencefile", "pairs")
    assert about(good("cat", "--pairs", "--to", "block", stdin=PAIR_STREAM)) == ("block", "values or pairs")
    assert rows(good("sniff", stdin=ONE + b"\x0e"))[0]["fault"].startswith("unknown type code 14")


# Faults

BAD_TEXT = b"\x07\x00\x00\x00\x02\xff\xfe"


def test_sniff_of_a_file_that_cannot_say_its_size():
    assert rows(good("sniff", "/proc/self/limits")) == [{"input": "/proc/self/limits", "format": "text"}]


def test_validate_reports_every_fault():
    stream = ONE + BAD_TEXT + TWO + LIST[:1] + BAD_TEXT + b"\xff" + ONE + b"\x09\x02\x01\x0e"
    stdout, message = bad(65, "validate", stdin=stream)
    (row,) = rows(stdout)
    assert message.startswith("standard input: STRING is not UTF-8") and "offset 5, record 1" in message
    assert (row["ok"], row["records"]) == (False, 3)
    assert [(fault["error"], fault["offset"], fault["record"], fault["path"]) for fault in row["faults"]] == [
        ("FormatError", 5, 1, ""),
        ("FormatError", 18, 3, "[0]"),
        ("FormatError", 34, 5, "[1]"),
    ]
    for fault in row["faults"]:
        window = bytes.fromhex(fault["window"])
        assert stream[fault["window offset"] :].startswith(window)
        assert fault["window offset"] <= fault["offset"] < fault["window offset"] + len(window)
    (row,) = rows(run("validate", "-n", "1", stdin=stream).stdout)
    assert len(row["faults"]) == 1 and row["bad"] == 3


def test_validate_shows_bytes_in_a_table():
    lines = run("validate", "--table", stdin=ONE + BAD_TEXT + TWO).stdout.decode().splitlines()
    assert lines[0].split() == ["input", "ok", "records", "unit", "bytes", "bad"]
    assert lines[3].startswith("standard input: offset 5, record 1: STRING is not UTF-8")
    assert lines[4].startswith("00000000   03 00 00 00 01>07 00 00 00 02 ff fe 03 00 00 00  ")


def test_repair_of_a_stream(tmp_path):
    out = tmp_path / "out.tb"
    stream = ONE + BAD_TEXT + TWO + BAD_TEXT + TEXT + b"\x0e" + TWO
    row = rows(bad(65, "validate", "--values", "--repair", str(out), stdin=stream)[0])[0]
    assert out.read_bytes() == ONE + TWO + TEXT
    assert row["records"] == 3 and row["lost bytes"] == len(stream) - len(ONE + TWO + TEXT)
    assert rows(good("validate", "--repair", str(out), "-", stdin=STREAM))[0]["lost bytes"] == 0
    assert out.read_bytes() == STREAM


def test_faults_of_lines_of_json(tmp_path):
    """Their offsets are those of the text, not of the typed bytes made of it."""
    stream = ONE + BAD_TEXT + TWO
    data = good("cat", "--to", "json", stdin=stream)
    out = tmp_path / "out.tb"
    (row,) = rows(bad(65, "validate", "--repair", str(out), stdin=data)[0])
    assert out.read_bytes() == ONE + TWO and row["lost bytes"] == len(BAD_TEXT)
    (fault,) = row["faults"]
    assert (fault["offset"], fault["record"]) == (5, 1)
    assert bytes.fromhex(fault["window"]) == stream and fault["window offset"] == 0


def test_faults_in_a_long_stream(file):
    rng = random.Random(5)
    stream, expected = bytearray(), []
    for number in range(20_000):
        if rng.random() < 0.0005:
            expected.append((len(stream), number))
            stream += BAD_TEXT
        else:
            stream += tb.dumps("x" * rng.randrange(30))
    done = run("validate", "-n", "1000", file(bytes(stream)))
    (row,) = rows(done.stdout)
    assert [(fault["offset"], fault["record"]) for fault in row["faults"]] == expected
    assert row["records"] == 20_000 - len(expected) and row["bytes"] == len(stream)


def test_bytes_that_are_kept_of_a_source():
    data = random.Random(1).randbytes(3_000_000)
    recent = RecentBytesReader(io.BytesIO(data))
    buffer = bytearray(100_000)
    while recent.readinto(buffer):
        pass
    assert recent.kept_bytes(len(data) - 100, len(data) + 5) == (data[-100:], len(data) - 100)
    found, start = recent.kept_bytes(0, len(data))
    assert data.endswith(found) and start == len(data) - len(found) and 1 << 20 <= len(found) < (1 << 20) + 200_000
    assert recent.drain() == len(data)


# Differences, searches, repetitions


def test_diff(file):
    one, other = file(STREAM), file(ONE + TWO + LIST, "b.tb")
    assert good("diff", one, one) == b""
    done = run("diff", one, other)
    assert (done.returncode, done.stderr) == (1, b"")
    assert rows(done.stdout) == [{"record": 1, "first": "hi", "second": 2}, {"record": 3, "first": 2}]
    assert len(rows(run("diff", "-n", "1", one, other).stdout)) == 1
    assert run("diff", "-n", "0", one, other).returncode == 1
    assert run("diff", one, "-", stdin=STREAM).returncode == 0
    assert "two inputs" in bad(64, "diff", one)[1]
    assert bad(66, "diff", one, one + "x")


def test_diff_without_order(file):
    one, other = file(STREAM + ONE), file(TWO + LIST + ONE + ONE + ONE, "b.tb")
    assert run("diff", "--unordered", file(STREAM, "c.tb"), file(TWO + LIST + TEXT + ONE, "d.tb")).returncode == 0
    assert rows(run("diff", "--unordered", one, other).stdout) == [
        {"only in": "first", "times": 1, "value": "hi"},
        {"only in": "second", "times": 1, "value": 1},
    ]


def test_diff_without_order_of_a_record_and_of_a_digest_that_are_the_same_bytes(file):
    """Records that differ cannot be made so that they are counted as one. Two ways that were open:

    The second pair is the digest of the first, by BLAKE2b of 16 bytes without key or salt: a search through some 2**28 pairs like the
    first finds one whose digest is a pair. And where the digests are known beforehand, two records with one digest may be searched for.
    """
    longer, shorter = bytes.fromhex("0400000100119e566d060000000000000000"), bytes.fromhex("03a31fa2280906afa7e154a2db0cffff")
    assert hashlib.blake2b(longer, digest_size=16).digest() == shorter and tb.count(longer) == tb.count(shorter) == 2
    one, other = file(longer), file(shorter, "b.tb")
    done = run("diff", "--unordered", "--pairs", one, other)
    assert done.returncode == 1
    assert [(row["only in"], row["times"]) for row in rows(done.stdout)] == [("first", 1), ("second", 1)]


def test_digests_of_records_are_others_each_time(file, monkeypatch):
    real, digests = hashlib.blake2b, []

    class Recording:
        SALT_SIZE = real.SALT_SIZE

        def __new__(cls, *args, **options):
            digests.append(real(*args, **options).digest())
            return real(*args, **options)

    monkeypatch.setattr(hashlib, "blake2b", Recording)
    same = file(tb.dumps(b"x" * 20)), file(tb.dumps(b"x" * 20), "b.tb")
    for _ in range(2):
        assert main(["diff", "--unordered", "--values", *same]) == 0
    assert digests[0] == digests[1] != digests[2] == digests[3]


def test_a_sniffed_guess_ends_at_the_last_value():
    assert rows(good("sniff", stdin=PAIR_STREAM))[0]["holds"] == "pairs, it seems"
    assert rows(good("sniff", stdin=PAIR_STREAM + ONE))[0]["holds"] == "values"


# Commands that copy some records, or in another order, and what they need besides.
PICKING = {
    "head": ["-n", "3"], "tail": ["-n", "3"], "slice": ["-r", "::2"], "sample": ["-n", "3", "--seed", "1"], "grep": ["key"], "uniq": [], "sort": [],
    "cut": ["-f", "value"],
    "partition": ["-n", "2", "-o", "{}/parts"], "diff": ["--unordered", "{}/pairs.tb"], "validate": ["--repair", "{}/repaired"],
}  # fmt: skip


def picking(command, folder):
    return [command, *(word.format(folder) for word in PICKING[command])]


@pytest.mark.parametrize("command", PICKING)
def test_what_seems_to_be_pairs_is_not_taken_apart(command, tmp_path, capfdbinary, monkeypatch):
    path = tmp_path / "pairs.tb"
    path.write_bytes(PAIR_STREAM)
    arguments = [*picking(command, tmp_path), str(path)]
    assert main(arguments) == 64
    stdout, stderr = capfdbinary.readouterr()
    guess = "the input looks like pairs (STRING INT STRING INT): use --pairs, or --values if that is wrong"
    assert stdout == b"" and stderr.decode().startswith(f"typedbytes: {path}: {guess} (TYPEDBYTES_RECORDS=") and stderr.count(b"\n") == 1
    assert os.listdir(tmp_path) == ["pairs.tb"]
    printed = []
    for word in ("pairs", "values"):
        assert main([*arguments, f"--{word}"]) == 0
        printed.append(capfdbinary.readouterr())
        _remove(tmp_path / "parts")
        monkeypatch.setenv("TYPEDBYTES_RECORDS", word)
        assert main(arguments) == 0
        assert capfdbinary.readouterr() == printed[-1]
        _remove(tmp_path / "parts")
        monkeypatch.delenv("TYPEDBYTES_RECORDS")
    assert command in ("diff", "partition", "uniq") or printed[0] != printed[1]


def _remove(folder):
    for part in folder.glob("*"):
        part.unlink()


def test_the_environment_says_what_a_record_is(capfdbinary, monkeypatch, file):
    path = file(PAIR_STREAM)
    for word, counted in (("pairs", b"100\n"), ("values", b"200\n"), ("", b"200\n")):
        monkeypatch.setenv("TYPEDBYTES_RECORDS", word)
        assert main(["count", path]) == 0 and capfdbinary.readouterr().out == counted
    monkeypatch.setenv("TYPEDBYTES_RECORDS", "pairs")
    assert main(["count", "--values", path]) == 0 and capfdbinary.readouterr().out == b"200\n"
    monkeypatch.setenv("TYPEDBYTES_RECORDS", "both")
    assert main(["count", path]) == 64
    assert b"TYPEDBYTES_RECORDS in the environment must be pairs or values, not 'both'" in capfdbinary.readouterr().err
    assert main(["count", "--values", "--pairs", path]) == 64


@pytest.mark.parametrize(
    "data",
    [b"", ONE + TEXT, (ONE + TEXT) * 2 + ONE, ONE * 20, ONE + TEXT + LIST + TWO, ONE + TEXT + TEXT + ONE, tb.dumps("x" * (1 << 21)) + ONE],
    ids=["none", "two", "odd", "same", "mixed", "swapped", "large"],
)
def test_what_seems_to_be_values_is_taken_for_values(data, file):
    assert good("slice", file(data)) == good("slice", "--values", file(data)) == data


TEXTS = tb.Encoder().encode_pairs([("zeta", "a"), ("alpha", "b"), ("mid", "zz")])
TAKEN_APART = {
    "sort": [],
    "uniq": [],
    "sample": ["-n", "2"],
    "partition": ["-n", "2", "-o", "{}/parts"],
    "convert": ["--to", "parquet", "-o", "{}/a.parquet"],
    "validate": ["--repair", "{}/good.tb"],
    "diff": ["--unordered", "{}/in.tb"],
}


@pytest.mark.parametrize("command", TAKEN_APART)
def test_what_may_be_pairs_of_one_type_is_said_to_be_taken_for_values(command, tmp_path):
    path = tmp_path / "in.tb"
    path.write_bytes(TEXTS)
    words = [command, *(word.format(tmp_path) for word in TAKEN_APART[command]), str(path)]
    done = run(*words)
    note = f"typedbytes: {path}: read as single values: use --pairs for pairs of two STRINGs, or --values to leave out this line"
    assert done.returncode == 0 and set(done.stderr.decode().splitlines()) == {note}
    _remove(tmp_path / "parts")
    assert good(*words[:-1], "--values", words[-1]) == done.stdout or command == "sample"


@pytest.mark.parametrize("command", [["sort"], ["uniq"], ["sample", "-n", "2"], ["convert", "--to", "parquet"]], ids=lambda words: words[0])
def test_an_input_is_not_replaced_before_it_is_clear_what_a_record_is(command, tmp_path):
    (tmp_path / "in.tb").write_bytes(TEXTS)
    os.symlink("in.tb", tmp_path / "link")
    for name in ("in.tb", "link", "./in.tb"):
        message = bad(64, *command, "in.tb", "-o", name, cwd=tmp_path)[1]
        assert message == "in.tb: these may be values, or pairs of two STRINGs: pass --values or --pairs, because -o replaces an input"
    assert (tmp_path / "in.tb").read_bytes() == TEXTS
    good(*command, "--pairs", str(tmp_path / "in.tb"), "-o", str(tmp_path / "in.tb"))


@pytest.mark.parametrize("command", ["count", "to-text", "convert", "freq", "stats"])
def test_commands_that_keep_pairs_together_only_warn(command, file):
    extra = ["--to", "json"] if command == "convert" else []
    done = run(command, *extra, file(PAIR_STREAM))
    assert done.returncode == 0 and b"read as single values, but it looks like pairs (STRING INT STRING INT): use --pairs" in done.stderr
    for word in "--pairs", "--values":
        good(command, *extra, word, file(PAIR_STREAM))


@pytest.mark.parametrize("pairs", [[("z", 1), ("a", 2.5)], [("z", 1), (2, 3), (None, 4)], [("a", [1]), ("b", {"c": 1}), ("d", "e")]])
def test_pairs_of_several_types_are_seen(pairs, file):
    data = tb.Encoder().encode_pairs(pairs)
    assert rows(good("sniff", stdin=data))[0]["holds"] == "pairs, it seems"
    assert "the input looks like pairs" in bad(64, "sort", file(data))[1]


def test_large_pairs_are_seen_too(file):
    pairs = tb.Encoder().encode_pairs([(number, "x" * 200_000) for number in range(2)])
    for arguments, stdin in (((file(pairs),), b""), ((), pairs)):
        assert "INT STRING INT STRING" in bad(64, "tail", *arguments, stdin=stdin)[1]


def test_pairs_in_a_pipe_are_seen_as_they_come():
    """Nothing is waited for: the first pair goes through as two values, and with the second they are known for pairs."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    pair = tb.Encoder().encode_pairs([("a", 1)])
    with subprocess.Popen([*COMMAND, "head", "-n", "9"], **pipes) as process:
        process.stdin.write(pair)
        process.stdin.flush()
        until_it_has_read(process)  # so that the pairs come one by one
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(pair)
            process.stdin.close()
        assert b"looks like pairs (STRING INT STRING INT)" in process.stderr.read()
        assert pair.startswith(process.stdout.read()) and process.wait(SECONDS) == 64


def test_sort_by_value(file):
    pairs = [(f"key {i}", value) for i, value in enumerate([3, -1, 10**12, 2.5, 3, -(2**40), 0, float("inf")])]
    first, second = file(tb.Encoder().encode_pairs(pairs[:3])), file(tb.Encoder().encode_pairs(pairs[3:]), "b.tb")

    def by_value(*arguments):
        return tb.Decoder().decode_pairs(good("sort", "--by", "value", "--pairs", *arguments, first, second))

    assert by_value() == sorted(pairs, key=lambda pair: pair[1])
    assert by_value("--reverse") == sorted(pairs, key=lambda pair: pair[1], reverse=True)
    assert rows(good("sort", "--by", "value", "--to", "json", "--pairs", first)) == [list(pairs[i]) for i in (1, 0, 2)]
    texts = ["b", "", "aa", "caf\u00e9", "a" * 30, "B"]
    assert values(good("sort", "--by", "value", "--values", stdin=tb.Encoder().encode_all(texts))) == sorted(texts)
    seq, out = file(b"", "a.seq"), file(b"", "out.seq")
    good("loadtb", "--overwrite", seq, stdin=tb.Encoder().encode_pairs(pairs))
    good("sort", "--by", "value", "--to", "sequencefile", seq, "-o", out)
    assert tb.Decoder().decode_pairs(good("cat", out)) == sorted(pairs, key=lambda pair: pair[1])


def test_nulls_come_first_in_a_sort():
    numbers = [2, None, -1.5, None, 10]
    sorted_numbers = [None, None, -1.5, 2, 10]
    for dialect in ("hadoop", "hive"):
        words, stdin = ["--by", "value", "--values", "--dialect", dialect], tb.Encoder(dialect=dialect).encode_all(numbers)
        assert tb.Decoder(dialect=dialect).decode_all(good("sort", *words, stdin=stdin)) == sorted_numbers
        assert tb.Decoder(dialect=dialect).decode_all(good("sort", "-r", *words, stdin=stdin)) == sorted_numbers[::-1]
    rows = tb.Encoder().encode_all([(2, "b"), (None, "a"), (2, None)])
    assert values(good("sort", "--by", "[0]", "--by", "[1]", "--values", stdin=rows)) == [(None, "a"), (2, None), (2, "b")]


def test_numbers_of_several_types_that_are_equal_keep_their_order():
    large = 2**63
    numbers = [1.0, 1, True, 0, -0.0, False, 0.0, 1.0, 2**53, 2.0**53, 2**53 + 1, float(large), tb.Byte(1), 0.5]
    data = tb.Encoder().encode_pairs((f"{i:02}", number) for i, number in enumerate(numbers))
    nested = tb.Encoder().encode_pairs((f"{i:02}", ("a", (number, "b"))) for i, number in enumerate(numbers))
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    backwards = sorted(range(len(numbers)), key=numbers.__getitem__, reverse=True)
    for stdin, paths in ((data, ["value"]), (nested, ["value"]), (nested, ["value[0]", "value[1][0]"])):
        by = [word for path in paths for word in ("--by", path)]
        assert [int(key) for key, _ in tb.PairReader(good("sort", "--pairs", *by, stdin=stdin))] == order
        assert [int(key) for key, _ in tb.PairReader(good("sort", "--pairs", "-r", *by, stdin=stdin))] == backwards


def test_sort_by_value_in_little_memory():
    rng = random.Random(2)
    numbers = [rng.randrange(-(10**6), 10**6) for _ in range(20_000)]
    assert values(good("sort", "--by", "value", "--memory", "200K", "--values", stdin=tb.Encoder().encode_all(numbers))) == sorted(numbers)


def test_values_without_an_order(file):
    path = file(ONE + tb.dumps({"a": 1}))
    stdout, message = bad(65, "sort", "--by", "value", "--values", path)
    assert stdout == b"" and message.startswith(f"{path}: cannot sort by this value, only by numbers, texts, bytes and VECTORs of them: ")
    assert message.endswith("object of type dict at offset 5, record 1")
    assert "input ends inside INT" in bad(65, "sort", "--by", "value", "--pairs", stdin=TEXT + ONE[:-1])[1]


RECORD = {"user": {"id": 7, "caf\u00e9's": ("x", [1, tb.Byte(2)])}, 5: "five", "l": []}


@pytest.mark.parametrize(
    "path, field",
    [
        ("value", RECORD),
        ("value['user']['id']", 7),
        ("['user']['id']", 7),
        ("""value['user']["caf\u00e9's"][1][-1]""", tb.Byte(2)),
        ("""['user']['caf\\xe9\\'s'][0]""", "x"),
        ("[5]", "five"),
        ("['l']", []),
    ],
)
def test_cut(path, field):
    record = tb.Encoder().encode(RECORD)
    assert good("cut", "-f", path, "--values", stdin=record * 2) == tb.dumps(field) * 2
    assert good("cut", "--pairs", "-f", path, stdin=TEXT + record) == tb.dumps(field)
    two = good("cut", "--pairs", "-f", path, "-f", "key", stdin=TEXT + record)
    assert two == b"\x08\x00\x00\x00\x02" + tb.dumps(field) + TEXT


@pytest.mark.parametrize("path", ["['no']", "['user'][0]", "['l'][0]", "['l'][-1]", "['5']", "[6]", "['user']['id'][0]"])
def test_fields_that_a_record_lacks(path, file):
    first = tb.dumps({"user": {"id": [0]}, "l": [0], "no": 0, "5": 0, 6: 0}) if path != "['user'][0]" else tb.dumps({"user": [0]})
    records = file(first + tb.dumps(RECORD))
    stdout, message = bad(65, "cut", "-f", path, "--values", records)
    assert stdout == tb.dumps(0)
    assert message == f"{records}: no {path} in the record (--missing null writes null) at offset {len(first)}, record 1"
    assert values(good("cut", "-f", path, "--missing", "null", "--values", records)) == [0, None]


@pytest.mark.parametrize(
    "path, pairs",
    [
        (".a", [("a", 1), ("b", 2), ("a", 3)]),
        (".a", [("a", 1), (["a"], 4), ("a", 2), ("b", 3)]),
        (".a", [("a", "x"), ("a", 2.5), ("b", "y")]),
        ("[1]", [(1, 5), (True, 6)]),
        ("[1]", [(True, 5), (1, 6), (1.0, 7)]),
        ("[1]", [(1, 5), (decimal.Decimal("1.00"), 6)]),
        ("[0]", [(False, 5), ("0", 6)]),
        ("['0']", [(0, 5), ("0", 6), (b"0", 7)]),
    ],
)
def test_of_equal_keys_of_a_map_a_path_leads_to_the_last_value(path, pairs):
    """Every option that takes a path finds what Python's dict, and so decoding, has of these pairs: not the first of equal keys."""
    key = ast.literal_eval(path.strip("[]")) if path[0] == "[" else path[1:]
    wanted = {key: value for key, value in pairs if type(key) is not list}[key]
    record = map_of(*pairs)
    outer = b"\x0a\0\0\0\2" + tb.dumps("m") + ONE + tb.dumps("m") + record
    assert good("cut", "-f", path, "--values", stdin=record) == tb.dumps(wanted)
    assert good("cut", "-f", ".m" + path, "--values", stdin=outer) == tb.dumps(wanted)
    assert good("cut", "-k", path, "-f", "value", "--values", stdin=record) == tb.dumps(wanted) + record
    first = map_of((key, 9), (key, -9))  # the first of its values is the greatest, its last the least
    if type(wanted) is not str:
        assert good("sort", "--by", path, "--values", stdin=record + first) == first + record
        assert good("sort", "--by", path, "--reverse", "--values", stdin=first + record) == record + first


@pytest.mark.parametrize("fields", [["-f", "['user']"], ["-f", "['user']", "-f", "[5]"]], ids=len)
def test_cut_makes_pairs(fields):
    value = tb.dumps(RECORD["user"] if len(fields) == 2 else (RECORD["user"], "five"))
    assert good("cut", "-k", "[5]", *fields, "--values", stdin=tb.dumps(RECORD) * 2) == (tb.dumps("five") + value) * 2
    assert good("cut", "--key", "value[5]", *fields, "--pairs", stdin=TEXT + tb.dumps(RECORD)) == tb.dumps("five") + value
    assert good("cut", "-k", "[0]", "-f", "[1]", "--to", "json", "--values", stdin=tb.dumps((1, "a"))) == b'[1, "a"]\n'
    of_pairs = good("cut", "-k", "key", *fields, "--to", "sequencefile", "--pairs", stdin=TEXT + tb.dumps(RECORD))
    with sequencefile.Reader(io.BytesIO(of_pairs)) as pairs:
        assert list(pairs) == [(tb.loads(TEXT), tb.loads(value))]
    assert "no ['no'] in the record" in bad(65, "cut", "-k", "['no']", *fields, "--values", stdin=tb.dumps(RECORD))[1]
    assert good("cut", "-k", "['no']", *fields, "--missing", "null", "--values", stdin=tb.dumps(RECORD)) == tb.dumps(None) + value
    assert "argument -k: values have no key (see --pairs)" in bad(64, "cut", "-k", "key", *fields, "--values", stdin=LIST)[1]


def test_cut_gives_values(file):
    assert good("cut", "-f", "value[0]", "-f", "key", "--pairs", "--to", "json", stdin=TEXT + LIST) == b'{"vector": [1, "hi"]}\n'
    assert good("cut", "-f", "key", "-f", "value", file(sequence_file())) != b""


@pytest.mark.parametrize("path", ["", "keys", "value.", "value[a]", "value[01]", "value['a]", "value['\\x1']", "value['\\q']", "[1]x"])
def test_paths_that_are_refused(path):
    assert bad(64, "cut", "-f", path, "--values", stdin=LIST)[1].startswith("argument -f: expected a path such as key, value[0] or ")


def test_cut_without_a_field_or_a_key():
    assert "cut needs a field: -f PATH" in bad(64, "cut", stdin=LIST)[1]
    assert "argument -f: values have no key (see --pairs)" in bad(64, "cut", "-f", "key", "--values", stdin=LIST)[1]
    assert "looks like pairs" in bad(64, "cut", "-f", "value", stdin=PAIR_STREAM)[1]


def test_aggregate(file):
    found = rows(good("aggregate", "--pairs", file(PAIR_STREAM), file(tb.Encoder().encode_pairs([("key 0", 0.5), ("new", -3)]), "b.tb")))
    by_key = {row.pop("key"): row for row in found}
    for i in range(7):
        numbers = [n for _, n in PAIRS if n % 7 == i] + [0.5] * (i == 0)
        expected = {
            "count": len(numbers),
            "sum": sum(numbers),
            "min": min(numbers),
            "max": max(numbers),
            "mean": sum(numbers) / len(numbers),
        }
        assert by_key[f"key {i}"] == expected
    assert list(by_key) == [*(f"key {i}" for i in range(7)), "new"]
    assert by_key["new"] == {"count": 1, "sum": -3, "min": -3, "max": -3, "mean": -3.0}
    assert rows(good("aggregate", "--values", stdin=NUMBERS)) == [{"count": 20, "sum": 190, "min": 0, "max": 19, "mean": 9.5}]
    assert good("aggregate", stdin=b"") == b""


def test_aggregate_of_special_numbers():
    numbers = tb.Encoder().encode_all([2**63 - 1, 2**63 - 1])
    assert rows(good("aggregate", "--values", stdin=numbers))[0]["sum"] == 2**64 - 2
    nan = tb.Encoder().encode_all([float("nan"), 2, 1.5])
    assert rows(good("aggregate", "--values", stdin=nan)) == [{"count": 3, "sum": "nan", "min": 1.5, "max": 2, "mean": "nan"}]
    assert rows(good("aggregate", "--values", stdin=tb.dumps(float("nan")))) == [{"count": 1, "sum": "nan", "mean": "nan"}]


def test_aggregate_leaves_nulls_out():
    pairs = tb.Encoder().encode_pairs([("a", None), ("b", 2), ("a", 1.5), ("c", None), ("b", None)])
    with_nothing = {"key": "c", "count": 0, "sum": 0}
    assert rows(good("aggregate", "--pairs", stdin=pairs)) == [
        {"key": "a", "count": 1, "sum": 1.5, "min": 1.5, "max": 1.5, "mean": 1.5},
        {"key": "b", "count": 1, "sum": 2, "min": 2, "max": 2, "mean": 2.0},
        with_nothing,
    ]
    hive = tb.Encoder(dialect="hive").encode_all([None, 1])
    assert rows(good("aggregate", "--dialect", "hive", "--values", stdin=hive)) == [{"count": 1, "sum": 1, "min": 1, "max": 1, "mean": 1.0}]


@pytest.mark.parametrize(
    "wrong, message",
    [
        (TEXT, "cannot add this value up: expected a number, not an object of type str at offset 10, record 1"),
        (b"\x02\x01", "cannot add this value up: expected a number, not an object of type bool at offset 10, record 1"),
        (b"\x07\x00\x00\x00\x01\xff", "STRING is not UTF-8: invalid start byte at its byte 0 at offset 15, record 1"),
    ],
)
def test_what_does_not_add_up(wrong, message):
    assert bad(65, "aggregate", "--pairs", stdin=ONE + TWO + TWO + wrong) == (b"", f"standard input: {message}")


def test_a_sum_that_no_float_holds():
    data = tb.Encoder().encode_all([1.5, 1 << 2000])
    assert "cannot add this value up: int too large" in bad(65, "aggregate", "--values", stdin=data)[1]


def test_aggregate_of_pairs_and_values_together(file):
    assert "some inputs hold pairs and some values" in bad(64, "aggregate", file(ONE), file(sequence_file(), "a.seq"))[1]


@pytest.mark.parametrize(
    "command",
    ["cat", "to-json", "to-text", "tail", "head -n 200", "sample --seed 1 -p 1", "sample -n 200", "grep key", "grep -c .", "uniq", "cut -f value",
     "slice", "slice -r -200:", "count", "diff", "diff --unordered", "freq", "schema", "convert --to json", "cat --to block"],
)  # fmt: skip
def test_pairs_and_values_are_not_mixed(command, file):
    words, single, pairs, nothing = command.split(), file(TEXT * 3), file(sequence_file(), "a.seq"), file(b"", "b.tb")
    expected = "some inputs hold pairs and some values: --pairs reads all as pairs"
    for inputs in ((single, pairs), (pairs, single)):
        assert bad(64, *words, *inputs)[1] == expected
    if words[0] not in ("freq", "schema"):
        done = run(*words, nothing, pairs)
        assert (done.returncode in (0, 1), done.stderr) == (True, b"")
    assert run(*words, "--pairs", pairs, file(ONE + TWO, "c.tb")).returncode in (0, 1)


def test_counts_of_each_input_of_pairs_and_values(file):
    counts = rows(good("count", "--json", file(TEXT * 3), file(sequence_file(), "a.seq")))
    assert [(each["records"], each["unit"]) for each in counts] == [(3, "values"), (100, "pairs")]


def grepped(*arguments, stdin=PAIR_STREAM):
    done = run("grep", *arguments, stdin=stdin)
    assert done.returncode == (0 if done.stdout else 1) and done.stderr == b""
    return tb.Decoder().decode_pairs(done.stdout) if "--pairs" in arguments else values(done.stdout)


def test_grep():
    """Letters that fold to those of the pattern among them, and -0.0."""
    assert grepped("--pairs", "key 3") == [pair for pair in PAIRS if pair[0] == "key 3"]
    assert grepped("--pairs", "--in", "value", "^9") == [pair for pair in PAIRS if str(pair[1]).startswith("9")]
    assert grepped("--pairs", "-v", "--in", "key", "[0-5]") == [pair for pair in PAIRS if pair[0] == "key 6"]
    assert grepped("--pairs", "-v", "KEY", "-i") == []
    assert grepped("--pairs", "-i", "KEY 2") == [pair for pair in PAIRS if pair[0] == "key 2"]
    stream = [b"in bytes", ["in", ("a", {"deep": "list"})], "caf\u00e9", 1.5, True, tb.Ext(99, b"list"), "a.b"]
    data = tb.Encoder().encode_all(stream)
    assert grepped("list", stdin=data) == stream[1:2]
    assert grepped("deep", stdin=data) == stream[1:2]
    assert grepped("CAF\u00c9", "-i", stdin=data) == stream[2:3]
    assert grepped("\u212aey 5", "-i", "--pairs") == [pair for pair in PAIRS if pair[0] == "key 5"]  # the sign of kelvin
    assert grepped(r"^1\.5$", stdin=data) == stream[3:4]
    assert grepped("-F", ".", stdin=data) == [1.5, "a.b"]
    assert grepped("true", stdin=data) == [True]
    assert grepped("-0.0", stdin=tb.Encoder().encode_all([0.0, -0.0])) == [0.0]
    assert str(grepped("-0.0", stdin=tb.Encoder().encode_all([0.0, -0.0]))) == "[-0.0]"
    assert "PATTERN" in bad(64, "grep", "(")[1]
    assert "PATTERN" in bad(64, "grep")[1]
    assert "--in" in bad(64, "grep", "--in", "key", "x", stdin=data)[1]


def test_grep_counts(file):
    first, second = file(PAIR_STREAM), file(PAIR_STREAM, "b.tb")
    assert good("grep", "-c", "--pairs", "key 3", first, second) == b"28\n"
    assert good("grep", "--count", "--pairs", "-v", "key 3", first) == b"86\n"
    assert run("grep", "-c", "--pairs", "nowhere", first).stdout == b"0\n"
    assert run("grep", "-c", "--pairs", "nowhere", first).returncode == 1
    assert bad(65, "grep", "-c", "1", stdin=ONE + b"\x0e")[0] == b""


def test_grep_takes_what_cannot_be_decoded(file):
    # The body of a writable and of a pickle may be wrong in what cat copies.
    wrong = good("from-json", stdin=b'{"ext": [50, ""]}\n')
    data = ONE + wrong + TWO
    assert good("cat", stdin=data) == data
    assert good("grep", "2", stdin=data) == TWO
    assert good("grep", "-v", "2", stdin=data) == ONE + wrong
    assert good("grep", "--pairs", "-v", "nowhere", stdin=ONE + wrong) == ONE + wrong


def test_grep_finds_the_same_with_and_without_its_short_cut():
    rng = random.Random(3)
    data = tb.Encoder().encode_pairs([("".join(rng.choices("ab", k=rng.randrange(8))), "b" * rng.randrange(3)) for _ in range(6000)])
    for text in ("aab", "b\x07"):
        for extra in ([], ["-v", "--in", "key"]):
            assert (
                run("grep", "--pairs", *extra, text, stdin=data).stdout == run("grep", "--pairs", *extra, f"(?:{text})", stdin=data).stdout
            )


def test_uniq(file):
    assert good("uniq", stdin=ONE + ONE + TWO + ONE) == ONE + TWO + ONE
    assert good("uniq", "--all", stdin=ONE + ONE + TWO + ONE) == ONE + TWO
    assert good("uniq", file(ONE), file(ONE + TWO, "b.tb")) == ONE + TWO
    pairs = tb.Encoder().encode_pairs([("a", 1), ("a", 2), ("b", 1), ("a", 3)])
    assert good("uniq", "--pairs", stdin=pairs) == pairs
    assert tb.Decoder().decode_pairs(good("uniq", "--pairs", "--by", "key", stdin=pairs)) == [("a", 1), ("b", 1), ("a", 3)]
    assert tb.Decoder().decode_pairs(good("uniq", "--pairs", "--by", "key", "--all", stdin=pairs)) == [("a", 1), ("b", 1)]
    assert "no key" in bad(64, "uniq", "--by", "key", stdin=ONE)[1]


# Order

UNSORTED = [((i * 7919) % 5000 - 2500, "x" * (i % 50)) for i in range(60_000)]


def test_sort(file):
    data = tb.Encoder().encode_pairs(UNSORTED)
    expected = tb.Encoder().encode_pairs(sorted(UNSORTED, key=lambda pair: tb.dumps(pair[0])))
    assert good("sort", "--pairs", stdin=data) == expected
    assert len(data) > 2_000_000
    for threads in ([], ["--threads", "1"], ["--threads", "7"]):
        assert good("sort", "--pairs", *threads, "--memory", "1M", file(data)) == expected  # with temporary files
    assert "argument --threads: expected an integer" in bad(64, "sort", "--threads", "0", file(data))[1]
    assert good("sort", "--pairs", "--to", "json", stdin=data) == good("to-json", "--pairs", stdin=expected)
    assert good("sort", stdin=TWO + TEXT + ONE) == ONE + TWO + TEXT
    assert good("sort", file(TWO), file(ONE, "b.tb")) == ONE + TWO
    lines = good("to-json", "--pairs", stdin=PAIR_STREAM)
    assert good("sort", "--pairs", stdin=lines) == good("sort", "--pairs", stdin=PAIR_STREAM)


WITHOUT_A_COLLECTOR = """
import gc, os, sys
gc.disable()
from typedbytes.cli import main
before = set(os.listdir("/proc/self/fd"))
stderr, sys.stderr = sys.stderr, None  # without the message
assert main() == 65
sys.stderr = stderr
left = set(os.listdir("/proc/self/fd")) - before
assert not left, [os.readlink(f"/proc/self/fd/{each}") for each in left]
"""


@pytest.mark.parametrize("records", [ONE + b"\x0e", ONE + TWO + ONE[:3]], ids=["damaged", "cut"])
@pytest.mark.parametrize(
    "command", ["sort", "sort --to json", "partition -n 2 -o {}", "cat", "to-json", "uniq", "stats", "tail", "freq", "count"]
)
def test_an_input_with_an_error_is_closed_without_the_collector(command, records, file, tmp_path):
    for options in [], ["--pairs"]:
        run_fresh(WITHOUT_A_COLLECTOR, *command.format(tmp_path / "parts").split(), *options, file(records))


@pytest.mark.parametrize("command", [["sort"], ["partition", "-n", "2", "-o", "parts"]], ids=lambda command: command[0])
def test_damage_is_blamed_on_its_input(command, file, tmp_path):
    first, second = file(ONE + TWO, "a.tb"), file(ONE + b"\x0e", "b.tb")
    stdout, message = bad(65, *command, first, second, cwd=tmp_path)
    assert stdout == b"" and message == f"{second}: unknown type code 14 at offset 5, record 1"
    assert bad(65, *command, "--pairs", file(ONE + TWO + ONE, "c.tb"), cwd=tmp_path)[1].startswith(f"{tmp_path}/c.tb: input ends")
    assert "text that is neither" in bad(65, *command, stdin=b"Dear reader", cwd=tmp_path)[1]
    assert "some inputs hold pairs and some values" in bad(64, *command, first, file(sequence_file(), "d.seq"), cwd=tmp_path)[1]
    assert bad(66, *command, "no.tb", cwd=tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["a.tb", "b.tb", "c.tb", "d.seq"]


def test_an_empty_input_has_no_kind_in_a_sort(file, tmp_path):
    pairs, nothing = file(sequence_file(), "a.seq"), file(b"", "b.tb")
    for inputs in ((nothing, pairs), (pairs, nothing), (nothing, pairs, nothing)):
        assert good("sort", *inputs) == good("sort", pairs)
        file_of_pairs = good("sort", "--by", "value", "--to", "sequencefile", *inputs)
        assert good("cat", stdin=file_of_pairs) == good("sort", "--by", "value", pairs)
        good("partition", "-n", "1", "-o", str(tmp_path / "parts"), *inputs)
        assert (tmp_path / "parts" / "part-00000").read_bytes() == good("cat", pairs)
        (tmp_path / "parts" / "part-00000").unlink()
    assert good("sort", nothing, nothing) == good("sort", "--pairs", nothing) == b""
    assert bad(65, "sort", "--to", "json", nothing, file(b"SEQ", "c.seq"))


@pytest.mark.parametrize(
    "command", [["sort"], ["partition", "-n", "2", "-o", "parts"], ["convert", "--to", "arrow"]], ids=lambda command: command[0]
)
def test_records_beyond_max_bytes_are_refused(command, tmp_path):
    for pairs, number in (([], 2), (["--pairs"], 1)):
        stream = TEXT * 2 + tb.dumps("x" * 20) + TEXT
        assert good("sort", *pairs, "--max-bytes", "32", stdin=stream) == good("sort", *pairs, stdin=stream)
        message = bad(65, *command, *pairs, "--max-bytes", "20", stdin=stream, cwd=tmp_path)[1]
        assert message == bad(65, "cat", *pairs, "--max-bytes", "20", stdin=stream)[1] and message.endswith(f"record {number}")
    assert os.listdir(tmp_path) == []


def sequence_file():
    sink = io.BytesIO()
    with sequencefile.Writer(sink) as writer:
        writer.writes(PAIRS)
    return sink.getvalue()


@pytest.mark.parametrize("memory", [[], ["--memory", "1M"]], ids=["at once", "in turns"])
def test_partition(memory, file, tmp_path):
    data = tb.Encoder().encode_pairs(UNSORTED)
    folder = tmp_path / "parts"
    assert good("partition", "-n", "3", *memory, "--pairs", file(data), "-o", str(folder)) == b""
    expected = [[], [], []]
    for pair in UNSORTED:
        expected[tb.partition(tb.dumps(pair[0]), 3)].append(pair)
    assert sorted(os.listdir(folder)) == ["part-00000", "part-00001", "part-00002"]
    for number, pairs in enumerate(expected):
        assert (folder / f"part-{number:05}").read_bytes() == tb.Encoder().encode_pairs(pairs)
    assert bad(74, "partition", "-n", "3", "--pairs", file(data), "-o", str(folder))[1] == f"{folder}: Directory not empty"
    assert sorted(os.listdir(tmp_path)) == ["a.tb", "parts"]
    assert "number of partitions" in bad(64, "partition", "-n", "99999999", "-o", str(tmp_path / "b"), stdin=ONE)[1]


# Formats


@pytest.mark.parametrize("name", ["json", "sequencefile", "block"])
def test_every_format_and_back(name, file):
    other = good("cat", "--pairs", "--to", name, stdin=PAIR_STREAM)
    assert good("cat", "--pairs", stdin=other) == good("cat", "--pairs", file(other)) == PAIR_STREAM
    assert good("cat", "--pairs", "--from", name, stdin=other) == PAIR_STREAM
    assert good("count", "--pairs", stdin=other) == b"100\n"


# Each process that needs pyarrow costs more than all others of a test.


@pytest.mark.parametrize("name", ["arrow", "parquet"])
def test_tables_and_back(name, file):
    many = good("convert", "--pairs", "--to", name, file(PAIR_STREAM), file(PAIR_STREAM, "b.tb"))
    assert good("convert", "--pairs", "--from", name, "--to", "typedbytes", file(many)) == PAIR_STREAM * 2
    other = {"arrow": "parquet", "parquet": "arrow"}[name]
    same = good("convert", "--from", name, "--to", other, stdin=many)
    assert values(good("convert", "--from", other, "--to", "typedbytes", stdin=same)) == PAIRS * 2
    assert bad(65, "convert", "--from", name, "--to", "typedbytes", stdin=b"no table")


def test_no_tables():
    assert "no records to take the columns from" in bad(65, "convert", "--to", "arrow")[1]
    assert "STRING in column" in bad(65, "convert", "--to", "parquet", stdin=ONE + TEXT)[1]
    assert "expected 2 columns, key and value, not 1" in bad(
        65, "convert", "--pairs", "--from", "arrow", "--to", "json", stdin=good("convert", "--to", "arrow", stdin=ONE)
    )[1]  # fmt: skip


def test_mistakes_of_ours_are_not_blamed_on_the_data():
    with pytest.raises(TypeError, match="ours"), arrow.as_data_failure("table"):
        raise TypeError("ours")


def written_table(name, table):
    sink = io.BytesIO()
    if name == "parquet":
        pyarrow.parquet.write_table(table, sink)
    else:
        with pyarrow.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


@pytest.mark.parametrize("name", ["arrow", "parquet"])
def test_a_table_without_rows_has_columns(name):
    fields = [("a", pyarrow.int32()), pyarrow.field("b", pyarrow.list_(pyarrow.string()), nullable=False)]
    empty = pyarrow.schema(fields).empty_table()
    copied = good("convert", "--from", name, "--to", "parquet", stdin=written_table(name, empty))
    assert pyarrow.parquet.read_table(io.BytesIO(copied)).equals(empty)
    assert good("convert", "--from", name, "--to", "json", "--pairs", stdin=written_table(name, empty)) == b""


def test_a_null_of_a_table():
    data = written_table("parquet", pyarrow.table({"a": [1, None], "b": ["x", "y"]}))
    message = bad(65, "convert", "--from", "parquet", "--to", "json", "--pairs", stdin=data)[1]
    assert message == "standard input: value is null: --dialect hive writes NULL for it, column 0, at [1]"
    hive = good("convert", "--from", "parquet", "--to", "json", "--pairs", "--dialect", "hive", stdin=data)
    assert hive == b'[{"long": 1}, "x"]\n[null, "y"]\n'


@pytest.mark.parametrize("codec", ["none", "gzip", "zstd"])
def test_codecs(codec):
    data = good("convert", "--pairs", "--to", "sequencefile", "--codec", codec, stdin=PAIR_STREAM)
    assert good("dumptb", stdin=data) == PAIR_STREAM
    with sequencefile.Reader(data) as reader:
        assert reader.compression == ("none" if codec == "none" else "block")


def test_a_sequence_file_holds_pairs():
    assert "holds pairs" in bad(64, "cat", "--to", "sequencefile", stdin=ONE)[1]


def test_messages_as_records():
    messages = good("block", "encode", "--wire", "native", stdin=b'["a", 1]\n[{"arrow": "AAE="}, null]\n')
    assert values(good("cat", stdin=messages)) == [("a", 1), (b"\0\1", None)]
    assert (
        "expected a message of two values for a pair, not of 1"
        in bad(65, "cat", "--pairs", stdin=good("block", "encode", "--wire", "native", stdin=b"[1]"))[1]
    )


def map_of(*pairs):
    """Return a MAP of these pairs, equal keys among them."""
    return b"\x0a" + len(pairs).to_bytes(4, "big") + b"".join(tb.dumps(part) for pair in pairs for part in pair)


@pytest.mark.parametrize(
    "record, message",
    [
        (
            BAD_TEXT,
            "STRING is not UTF-8: invalid start byte at its byte 0 (--unicode-errors surrogateescape accepts it) at offset {}, record 3",
        ),
        (map_of(("k", 1), ("k", 2)), "a MAP has equal keys, and a message can keep only one of them at offset {}, record 3"),
        (
            b"\x09" + map_of((1, "int"), (True, "bool")) + b"\xff",
            "a MAP has equal keys, and a message can keep only one of them at offset {}, record 3",
        ),
    ],
    ids=["text", "equal keys", "keys that are equal in Python"],
)
def test_a_record_that_no_message_keeps(record, message):
    """Equal keys of a MAP would be lost. The records before it are written."""
    before = ONE + tb.dumps({"k": [{"k": (1,)}]}) + TEXT
    stdout, error = bad(65, "cat", "--to", "block", stdin=before + record + TWO)
    assert error == f"standard input: {message.format(len(before))}"
    assert good("cat", stdin=stdout) == b"".join(b"\x08\0\0\0\1" + each for each in (ONE, before[len(ONE) : -len(TEXT)], TEXT))
    assert good("cat", "--to", "block", stdin=before) == stdout


@pytest.mark.parametrize("head", [b"", b"S", b"SE", b"\xf5", b"\xf5B", b"\x09", b"1", b"1\n", b"[", b"[1]", b"hell", b"\n"])
def test_an_input_that_ends_early_is_recognised(head):
    assert formats.recognise(head, True) in (*formats.NAMES, "text")


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
        (b"\xef\xbb\xbf1\n", "text"),
    ],
)
def test_other_files_by_mistake(head, name):
    assert formats.recognise(head) == name
    message = bad(65, "cat", stdin=head + bytes(100))[1]
    assert name in message and ("typedbytes convert reads it" in message) == (name in ("parquet", "arrow", "arrow-file"))
    assert bad(65, "cat", "--from", "typedbytes", stdin=head + bytes(100))[1].endswith("record 0")


STARTING_LIKE_BINARY = ["ORCAS swim\n", "ORCHIDÉE\n", "RCF größer\n", "SEQUENCES\n", "SEQ\tname\n", "PAR1S of\n", "ARROWS\n", "ARROW1 a\n"]


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


# Inputs and outputs


@pytest.mark.parametrize("url", ["zip://a::{}", "tar://a::{}", "reference://a", "dir://a", "data://a", "generic://a", "nowhere://a"])
def test_urls_of_what_is_not_there(url, file):
    url = url.format(file(STREAM))
    assert bad(66, "cat", url)[1].startswith(f"{url}: ")
    assert url in bad(66, "cat", "-o", url, stdin=ONE)[1]


def test_an_archive_of_a_file_system(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("part-0", NUMBERS * 1000)
    assert good("cat", f"zip://part-0::{path}") == NUMBERS * 1000
    data = bytearray(path.read_bytes())
    data[40:48] = bytes(8)  # of the compressed bytes
    path.write_bytes(data)
    assert bad(74, "cat", f"zip://part-0::{path}")[1].startswith(f"zip://part-0::{path}: ")


def test_error_of_a_missing_remote_file():
    assert bad(66, "cat", "memory://nope")[1] == "memory://nope: No such file or directory: /nope"


def test_folders_patterns_and_urls(file, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    for name, data in (("part-0", ONE), ("part-1", TWO), ("_SUCCESS", b"x"), (".crc", b"x")):
        (folder / name).write_bytes(data)
    for location in (str(folder), f"{folder}/part-*", f"file://{folder}"):
        assert good("cat", location) == ONE + TWO
    assert good("cat", f"file://{folder}/part-0", f"file://{folder}/*-1") == ONE + TWO
    odd = file(TEXT, "a[1].tb")
    assert good("cat", odd) == TEXT
    assert bad(66, "cat", f"file://{folder}/part-9")
    assert bad(66, "cat", "nothing://a")[1].startswith("nothing://a: Protocol not known")
    assert bad(66, "cat", "-o", "nothing://a", stdin=ONE)
    assert bad(66, "cat", "file:///nowhere/part-*")[1] == "file:///nowhere/part-*: matches no file"


def test_nothing_in_a_folder_is_left_out_silently(tmp_path):
    folder = tmp_path / "out"
    for name in ("_logs", ".tmp"):
        (folder / name).mkdir(parents=True)
    (folder / "part-0").write_bytes(ONE)
    (folder / "part-1").symlink_to("nowhere")
    for location, prefix in ((str(folder), ""), (f"file://{folder}", "file://")):
        stdout, message = bad(66, "cat", location)
        assert stdout == ONE and message == f"{prefix}{folder}/part-1: No such file or directory"
    (folder / "part-1").unlink()
    (folder / "more").mkdir()
    for location in (str(folder), f"file://{folder}"):
        assert bad(66, "cat", location) == (b"", f"{location}: a folder among the part files: {location}/more")
    (folder / "more").rmdir()
    assert good("cat", str(folder)) == good("cat", f"file://{folder}") == ONE


def test_patterns_leave_hidden_names_out(tmp_path):
    for name, data in (("part-0", ONE), ("_SUCCESS", b"x"), (".crc", TWO)):
        (tmp_path / name).write_bytes(data)
    for pattern in (f"{tmp_path}/*", f"file://{tmp_path}/*"):
        assert good("cat", pattern) == ONE
    assert good("cat", f"{tmp_path}/.c*") == good("cat", f"file://{tmp_path}/.c*") == TWO
    assert bad(66, "cat", f"{tmp_path}/?SUCCESS")[1].endswith("?SUCCESS: matches no file")


def test_an_output_is_replaced_when_all_is_well(file, tmp_path):
    out = tmp_path / "out.tb"
    assert good("cat", "-o", str(out), stdin=ONE) == b""
    assert out.read_bytes() == ONE
    out.chmod(0o640)
    bad(65, "cat", "-o", str(out), stdin=TWO + b"\x0e")
    assert out.read_bytes() == ONE and os.listdir(tmp_path) == ["out.tb"]
    link = tmp_path / "link.tb"
    link.symlink_to(out)
    good("cat", "--output", str(link), str(out), "-", stdin=TWO)  # its own input
    assert out.read_bytes() == ONE + TWO and link.is_symlink()
    assert out.stat().st_mode & 0o777 == 0o640
    assert good("-o", "-", "cat", str(out)) == ONE + TWO
    assert bad(74, "cat", "-o", str(tmp_path / "no/out"))[1].endswith("no/out: No such file or directory")
    assert bad(74, "cat", "-o", "/dev/full", stdin=ONE)[1] == "/dev/full: No space left on device"
    good("count", "-o", f"file://{tmp_path}/count", str(out))
    assert (tmp_path / "count").read_bytes() == b"2\n"
    bad(65, "cat", "-o", f"file://{tmp_path}/url", stdin=TWO + b"\x0e")
    assert sorted(os.listdir(tmp_path)) == ["count", "link.tb", "out.tb"]


# fsspec's files in memory stay open
@pytest.mark.filterwarnings("ignore:Exception ignored while finalizing file:pytest.PytestUnraisableExceptionWarning")
def test_an_output_where_names_must_be_free(monkeypatch, file, capfd):
    """HDFS renames to no name that is taken; over HTTP it only says so, and fsspec does not listen."""
    from fsspec.implementations.memory import MemoryFileSystem

    class WebHDFS(MemoryFileSystem):
        protocol, store, cachable, can_rename = "webhdfs", {}, False, True

        @classmethod
        def _strip_protocol(cls, path):
            return path.removeprefix("webhdfs:/")

        def _open(self, path, mode="rb", autocommit=True, **how):
            if autocommit:
                return super()._open(path, mode, **how)
            file = super()._open("/temporary", mode, **how)
            self.store["/temporary"] = file
            file.commit = lambda: self.mv("/temporary", path)
            file.discard = lambda: self.rm_file("/temporary")
            return file

        def mv(self, old, new, **how):
            if self.can_rename and new not in self.store:
                self.store[new] = self.store.pop(old)

    monkeypatch.setitem(sys.modules["fsspec.registry"]._registry, "webhdfs", WebHDFS)
    for data in (ONE, TWO):
        assert main(["cat", "-o", "webhdfs://out", file(data)]) == 0
        assert {name: each.getvalue() for name, each in WebHDFS.store.items()} == {"/out": data}
    assert main(["cat", "-o", "webhdfs://out", file(b"\x0e")]) == 65 and list(WebHDFS.store) == ["/out"]
    capfd.readouterr()
    WebHDFS.can_rename = False
    assert main(["cat", "-o", "webhdfs://new", file(ONE)]) == 74
    assert "webhdfs://new: " in capfd.readouterr().err and list(WebHDFS.store) == ["/out"]


def test_a_pipe_as_output(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen([*COMMAND, "cat", "-o", str(fifo)], stdin=subprocess.PIPE) as process:
        process.stdin.write(STREAM)
        process.stdin.close()
        assert fifo.read_bytes() == STREAM
        assert process.wait(SECONDS) == 0
    assert fifo.is_fifo()


# Tables and progress


def test_table():
    rows = [{"word": "a\u4e00", "n": 5}, {"word": "longer", "n": None, "more": True}]
    assert terminal.table(rows) == ["word    n  more", "a\u4e00     5", "longer     yes"]
    assert terminal.table(rows, 10) == ["word    n\u2026", "a\u4e00     5", "longer   \u2026"]


def test_progress_line():
    assert progress.line("x", 0, 100, 1.0) == "0 B, 0 B/s, 0:01: x"
    assert progress.line("x", 50, 100, 3700.0) == "50 B of 100 B, 50 %, 0 B/s, 1:01:40 left: x"
    assert progress._format_size(10**13) == "10000.0 GB"


# Measuring


def test_bench(file, tmp_path):
    plot = tmp_path / "plot.svg"
    found = rows(good("bench", "--pairs", "--plot", str(plot), file(PAIR_STREAM)))
    assert [row["operation"] for row in found] == ["walk", "decode", "encode", "to JSON"]
    assert all(row["records"] == 100 and row["bytes"] == len(PAIR_STREAM) and row["MB/s"] > 0 for row in found)
    assert plot.read_text().startswith("<svg") and plot.read_text().count("<rect") == 4
    assert "no records" in bad(64, "bench")[1]
    assert bad(65, "bench", stdin=ONE + b"\x07\x00\x00\x00\x01\xff") == (
        b"", "the records to measure: STRING is not UTF-8: invalid start byte at its byte 0 at offset 5, record 1"
    )  # fmt: skip


# The shell


def test_completion_for_bash(tmp_path):
    # All three shells are typed into by tests/soak/shells.py.
    script = tmp_path / "typedbytes"
    script.write_bytes(good("completion", "bash"))

    def completed(*words):
        line = " ".join(f"'{word}'" for word in words)
        command = f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _typedbytes; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path)
        assert done.stderr == ""
        return done.stdout.split()

    assert completed("typedbytes", "co") == ["count", "convert", "completion"]
    assert completed("typedbytes", "cat", "--f") == ["--from"]
    assert completed("typedbytes", "cat", "--from", "") == ["typedbytes", "sequencefile", "json", "block"]
    assert completed("typedbytes", "convert", "--to", "p") == ["parquet"]
    assert completed("typedbytes", "head", "-n", "") == []
    assert completed("typedbytes", "cat", "typed") == ["typedbytes"]
    assert completed("typedbytes", "block", "e") == ["encode", "echo"]
    assert completed("typedbytes", "completion", "--o") == ["--output"]
    assert completed("typedbytes", "grep", "typed") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_every_command_and_option(shell):
    text = good("completion", shell).decode()
    for word in ("validate", "to-json", "repair", "max-bytes", "sequencefile", "unordered"):
        assert word in text
    assert "a shell is bash, zsh or fish" in bad(64, "completion", "ksh")[1]


def test_man_page():
    text = good("man").decode()
    assert text.startswith(".TH TYPEDBYTES 1")
    for word in (".SS head", "\\-\\-max\\-bytes", "typedbytes cat part", ".B 141", "NO_COLOR"):
        assert word in text
    assert not any(line.startswith("'") for line in text.splitlines())


def test_json_is_written_without_the_json_module(file):
    script = "import sys; from typedbytes.cli import main; main(sys.argv[1:]); sys.exit('json' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script, "to-json", file(STREAM)], stdout=subprocess.DEVNULL).returncode == 0


def test_reports_are_json():
    for command in ("stats", "schema", "freq", "sniff", "validate"):
        assert all(isinstance(json.loads(line), dict) for line in good(command, "--json", stdin=STREAM).splitlines())
        assert b"{" not in good(command, "--table", stdin=STREAM)
