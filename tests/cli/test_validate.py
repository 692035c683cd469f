"""The command validate: faults, what is accepted, and repairs."""

import io
import os
import pickle
import random
import struct

import pytest

import typedbytes as tb
from support.commands import LIST, ONE, STREAM, TEXT, TWO, bad, fine, good, rows, run
from typedbytes import sequencefile
from typedbytes.cli._records.fault_finder import RecentBytesReader

# Faults
BAD_TEXT = b"\x07\x00\x00\x00\x02\xff\xfe"


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


@pytest.mark.parametrize("nbefore", [1, 2, 50_000])
@pytest.mark.parametrize("options", [[], ["--pairs"]], ids=["values", "pairs"])
def test_a_line_that_is_not_json(nbefore, options, tmp_path, file):
    """The records before it are counted, checked and kept, as those before damage in a stream."""
    path, out = file(b"[1, 2]\n" * nbefore + b"{bad\n[4, 5]\n", "a.json"), tmp_path / "out.tb"
    intact = good("from-json", *options, stdin=b"[1, 2]\n" * nbefore)
    for repair in ([], ["--repair", str(out)]):
        stdout, message = bad(65, "validate", *(options or ["--values"]), *repair, path)
        (row,) = rows(stdout)
        assert message == row["message"] and message.startswith(f"{path}: line {nbefore + 1}: ")
        assert (row["ok"], row["records"], row["bytes"]) == (False, nbefore, len(intact))
        assert row["unit"] == ("pairs" if options else "values")
        assert "lost bytes" not in row  # of typed bytes that were not made
    assert out.read_bytes() == intact


def test_a_line_that_is_not_json_after_a_fault(tmp_path):
    out = str(tmp_path / "out.tb")
    data = good("to-json", stdin=ONE + BAD_TEXT + TWO) + b"}\n1\n"
    stdout, message = bad(65, "validate", "--values", "--repair", out, "-", stdin=data)
    (row,) = rows(stdout)
    assert (row["ok"], row["records"], row["bad"]) == (False, 2, 1)
    assert message.startswith("standard input: STRING is not UTF-8") and "line 4: " in row["message"]
    assert good("cat", out) == ONE + TWO
    table = run("validate", "--values", "--table", stdin=data).stdout.decode()
    assert "line 4: " in table and "offset 5, record 1: STRING is not UTF-8" in table


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


def test_validate(file):
    assert rows(good("validate", stdin=STREAM)) == [fine("standard input", 4, 31)]
    first, second = file(STREAM), file(b"", "b\x1b.tb")
    assert rows(good("validate", first, second)) == [fine(first, 4, 31), fine(second, 0, 0)]
    assert b"b\\x1b.tb" in good("validate", "--table", second)


def test_validate_goes_on_after_a_bad_input(file):
    first, second, third, text = file(ONE), file(b"\x0e", "b.tb"), file(TWO, "c.tb"), file(b"some text\n", "d.txt")
    done = run("validate", first, second, "no", third, text)
    assert done.returncode == 65
    assert [(row["input"], row["ok"]) for row in rows(done.stdout)] == [
        (first, True),
        (second, False),
        (third, True),
        (text, False),
    ]
    assert [line.split(": ")[1] for line in done.stderr.decode().splitlines()] == [second, "no", text]


def test_validate_runs_no_pickle(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "made"),)

    payload = pickle.dumps(Evil(), 2)
    stream = b"\x64" + struct.pack(">i", len(payload)) + payload
    assert rows(bad(65, "validate", stdin=stream)[0])[0]["records"] == 0
    assert good("from-json", stdin=good("to-json", stdin=stream)) == stream
    assert good("cat", stdin=stream) == stream
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "wrong, option",
    [
        (b"\x07\x00\x00\x00\x04caf\xe9", ["--unicode-errors", "surrogateescape"]),
        (b"\x64\x00\x00\x00\x03c\n.", ["--pickle", "raw"]),
    ],
)
def test_options_that_accept_what_decoding_refuses(wrong, option, file):
    stream = ONE + wrong + TWO
    hint = f" ({' '.join(option)} accepts it) at offset 5, record 1"
    report, message = bad(65, "validate", stdin=stream)
    assert message.endswith(hint) and rows(report)[0]["faults"][0]["message"].endswith(hint.partition(" at ")[0])
    assert rows(good("validate", *option, stdin=stream)) == [fine("standard input", 3, len(stream))]
    kept, lost = file(b"", "kept.tb"), file(b"", "lost.tb")
    good("validate", *option, "--values", "--repair", kept, "-", stdin=stream)
    bad(65, "validate", "--values", "--repair", lost, "-", stdin=stream)
    assert (good("cat", kept), good("cat", lost)) == (stream, ONE + TWO)


def test_a_sequencefile_with_text_in_latin_1(file):
    pairs = file(b"", "a.seq")
    good("loadtb", "--overwrite", pairs, stdin=ONE + b"\x07\x00\x00\x00\x04caf\xe9")
    assert " (--unicode-errors surrogateescape accepts it)" in bad(65, "validate", pairs)[1]
    assert rows(good("validate", "--unicode-errors", "surrogateescape", pairs))[0]["records"] == 1
    copy = file(b"", "b.seq")
    assert " (--unicode-errors surrogateescape accepts it)" in bad(65, "validate", "--repair", copy, pairs)[1]
    (row,) = rows(good("validate", "--repair", copy, "--unicode-errors", "surrogateescape", pairs))
    assert row["ok"] and row["lost bytes"] == 0
    assert good("count", copy) == b"1\n"


LATIN_1 = b"\x07\x00\x00\x00\x04caf\xe9"


@pytest.mark.parametrize("after", [b"\x1b", TWO[:-1], b"\x0a\xff\xff\xff\xff"], ids=["a code", "the end", "a count"])
def test_text_of_a_damaged_input_is_not_said_to_be_accepted(after, tmp_path):
    """Bytes that are not UTF-8 are then damaged too, as far as anyone knows, and the option leads nowhere."""
    report, message = bad(65, "validate", stdin=ONE + LATIN_1 + TWO + after)
    assert message.endswith("STRING is not UTF-8: unexpected end of data at its byte 3 at offset 5, record 1")
    assert all("--unicode-errors" not in each["message"] for each in rows(report)[0]["faults"])
    assert rows(report)[0]["bad"] == 2
    bad(65, "validate", "--unicode-errors", "surrogateescape", stdin=ONE + LATIN_1 + TWO + after)


@pytest.mark.parametrize("is_damaged", [False, True])
def test_text_of_a_damaged_sequencefile_is_not_said_to_be_accepted(is_damaged, tmp_path):
    path, copy = tmp_path / "a.seq", tmp_path / "copy.seq"
    with sequencefile.open(path, "w", key_class="IntWritable", value_class="Text") as file:
        start = file.offset
        for text in (b"\x04caf\xe9", b"\x04cafe", b"\x04cafe"):
            file.write_raw(bytes(4), text)
    if is_damaged:
        data = bytearray(path.read_bytes())
        data[start + 17 : start + 21] = b"\x7f\0\0\0"  # the length of the second record
        path.write_bytes(data)
    for words in (("validate",), ("validate", "--repair", copy)):
        done = run(*words, path)
        assert done.returncode == 65 and (b"--unicode-errors" in done.stderr) is not is_damaged


def test_text_inside_a_map_of_java_is_accepted_too(tmp_path):
    with sequencefile.open(tmp_path / "a.seq", "w", key_class="IntWritable", value_class="MapWritable") as file:
        file.write_raw(bytes(4), b"\0" + struct.pack(">i", 1) + b"\x8c\x01a" + b"\x8c\x01\xe9")
    message = bad(65, "validate", tmp_path / "a.seq")[1]
    assert "text is not UTF-8: " in message and " (--unicode-errors surrogateescape accepts it)" in message
    good("validate", "--unicode-errors", "surrogateescape", tmp_path / "a.seq")


def test_validate_wants_utf8_and_cat_does_not():
    stream = b"\x07\x00\x00\x00\x01\xff"
    bad(65, "validate", stdin=stream)
    assert good("cat", stdin=stream) == stream
