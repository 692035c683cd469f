"""The command as its users meet it: real processes, real files and pipes, every exit code.

The processes run in Python's development mode: a descriptor left open or an exception swallowed while an object is
deallocated would stand on stderr, which every test looks at.
"""

import ast
import functools
import graphlib
import os
import pathlib
import pickle
import pty
import resource
import shlex
import signal
import struct
import subprocess
import sys

import pytest

from commands import COMMAND, LINES, LIST, ONE, STREAM, TEXT, TWO, bad, fine, good, rows, run, until_it_waits
from subprocess_runs import SECONDS
from typedbytes import cli, sequencefile
from typedbytes.cli import main
from typedbytes.cli.main import load, parser_of
from typedbytes.cli.registry import COMMANDS, OPTIONS_WITH_VALUE, OPTIONS_WITHOUT_VALUE

pytestmark = pytest.mark.oldest_python

# Commands that read records from stdin when nothing else is said, with what they need besides. The others have tests of their own.
NEEDED = {"grep": ["grep", "-v", "nowhere"], "convert": ["convert", "--to", "typedbytes"]}
FILTERS = [
    NEEDED.get(name, [name])
    for name in COMMANDS
    if name in (
        "cat", "head", "tail", "slice", "sample", "count", "stats", "schema", "freq", "sniff", "validate", "grep", "uniq", "to-json",
        "from-json", "convert",
    )
]  # fmt: skip

# What the commands do


def test_cat_copies_stdin():
    assert good("cat", stdin=STREAM) == STREAM


def test_cat_copies_files_and_stdin_in_order(file):
    assert good("cat", file(LIST), "-", file(TWO, "b.tb"), stdin=TEXT) == LIST + TEXT + TWO


def test_head_copies_ten():
    assert good("head", stdin=ONE * 11) == ONE * 10


@pytest.mark.parametrize("nvalues, copied", [(0, b""), (1, ONE), (3, ONE + TEXT + LIST), (4, STREAM), (10**30, STREAM)])
def test_head_copies_n(nvalues, copied):
    assert good("head", "-n", str(nvalues), stdin=STREAM) == copied


def test_head_counts_over_files(file):
    assert good("head", "-n", "2", file(ONE), file(TWO + TEXT, "b.tb")) == ONE + TWO


def test_head_does_not_look_further():
    assert good("head", "-n", "1", stdin=ONE + b"\x0e") == ONE


def test_count(file):
    assert good("count", stdin=STREAM) == b"4\n"
    assert good("count", file(STREAM), file(LIST, "b.tb")) == b"5\n"


def test_validate(file):
    assert rows(good("validate", stdin=STREAM)) == [fine("standard input", 4, 31)]
    first, second = file(STREAM), file(b"", "b\x1b.tb")
    assert rows(good("validate", first, second)) == [fine(first, 4, 31), fine(second, 0, 0)]
    assert b"b\\x1b.tb" in good("validate", "--table", second)


def test_validate_goes_on_after_a_bad_input(file):
    first, second, third, text = file(ONE), file(b"\x0e", "b.tb"), file(TWO, "c.tb"), file(b"some text\n", "d.txt")
    done = run("validate", first, second, "no", third, text)
    assert done.returncode == 65
    assert [(row["input"], row["ok"]) for row in rows(done.stdout)] == [(first, True), (second, False), (third, True), (text, False)]
    assert [line.split(": ")[1] for line in done.stderr.decode().splitlines()] == [second, "no", text]


def test_to_json():
    assert good("to-json", stdin=STREAM) == LINES


def test_from_json():
    assert good("from-json", stdin=LINES) == STREAM
    assert good("from-json", stdin=b"\n 1 \r\n\t\n2") == ONE + TWO


@pytest.mark.parametrize("arguments", FILTERS, ids=" ".join)
def test_empty_input(arguments):
    expected = {
        "count": b"0\n",
        "validate": b'{"input": "standard input", "ok": true, "records": 0, "unit": "values", "bytes": 0}\n',
        "stats": b'{"section": "records", "records": 0, "unit": "values", "bytes": 0}\n',
        "sniff": b'{"input": "standard input", "format": "typedbytes", "holds": "nothing", "types": ""}\n',
    }
    if arguments[0] == "grep":
        assert run(*arguments).returncode == 1
    else:
        assert good(*arguments) == expected.get(arguments[0], b"")


# Pairs and dialects


def test_pairs():
    assert good("cat", "--pairs", stdin=STREAM) == STREAM
    assert good("head", "--pairs", "-n", "1", stdin=STREAM) == ONE + TEXT
    assert good("count", "--pairs", stdin=STREAM) == b"2\n"
    assert rows(good("validate", "--pairs", stdin=STREAM)) == [fine("standard input", 2, 31, "pairs")]
    assert good("to-json", "--pairs", stdin=STREAM) == b'[1, "hi"]\n[[1, "hi"], 2]\n'
    assert good("from-json", "--pairs", stdin=b'[1, "hi"]\n[[1, "hi"], 2]\n') == STREAM


@pytest.mark.parametrize(
    "command, written",
    [("cat", ONE + TEXT), ("head", ONE + TEXT), ("count", b""), ("validate", None), ("to-json", b'[1, "hi"]\n')],
)
def test_a_key_without_value(command, written):
    stdout, message = bad(65, command, "--pairs", stdin=ONE + TEXT + TWO)
    assert stdout == written or rows(stdout)[0]["records"] == 1
    assert message.startswith("standard input: ") and "offset 17, record 1" in message


def test_a_pair_does_not_span_files(file):
    bad(65, "count", "--pairs", file(ONE), file(TWO, "b.tb"))


@pytest.mark.parametrize("line", [b"1", b"[1]", b"[1, 2, 3]", b'{"vector": [1, 2]}'])
def test_a_line_that_is_not_a_pair(line):
    stdout, message = bad(65, "from-json", "--pairs", stdin=b"[1, 2]\n" + line)
    assert stdout == ONE + TWO
    assert message.startswith("standard input: line 2: expected an array of a key and a value, not ")


@pytest.mark.parametrize("command", ["cat", "head", "count", "validate", "to-json"])
def test_dialect(command):
    hive = b"\x0b\x00\x05\x0c\xb1"
    assert good(command, "--dialect", "hive", stdin=hive)
    bad(65, command, stdin=hive)


def test_dialect_of_json():
    assert good("to-json", "--dialect=hive", stdin=b"\x0b\x00\x05\x0c") == b'{"short": 5}\nnull\n'
    assert good("from-json", "--dialect=hive", stdin=b'{"short": 5}\nnull\n') == b"\x0b\x00\x05\x0c"


# Damage

READERS = [("cat", ONE), ("head", ONE), ("count", b""), ("validate", None), ("to-json", b"1\n"), ("tail", b""), ("stats", b"")]


def is_written(stdout, expected):
    """Return whether this was written; None means the report of a fault after one good record."""
    if expected is not None:
        return stdout == expected
    (row,) = rows(stdout)
    return row["ok"] is False and row["records"] == 1 and len(row["faults"]) == 1


@pytest.mark.parametrize("command, written", READERS)
def test_records_before_the_damage_are_written(command, written):
    stdout, message = bad(65, command, stdin=ONE + b"\x09\x0e" + TWO)
    assert is_written(stdout, written)
    assert message.startswith("standard input: ")
    assert "offset 6, record 1" in message
    assert message.endswith("path [0]") or command != "validate"


@pytest.mark.parametrize("command, written", READERS)
def test_truncated_input(command, written, file):
    path = file(ONE + LIST[:-1])
    stdout, message = bad(65, command, path)
    assert is_written(stdout, written)
    assert message.startswith(f"{path}: ")
    assert "offset 18, record 1" in message


@pytest.mark.parametrize("command, written", READERS)
def test_marker_is_no_end_of_file(command, written):
    stdout, message = bad(65, command, stdin=ONE + b"\xff" + TWO)
    assert is_written(stdout, written)
    assert "offset 5, record 1" in message


def few_memory():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))


@pytest.mark.parametrize("text", [b"hello world\n", b"key\t1\n" * 10, b"#!/bin/sh\n", "\u00e9t\u00e9\n".encode(), b"\n\nhello", b"hi\n"])
@pytest.mark.parametrize("command", ["cat", "validate"])
def test_text_by_mistake(command, text):
    stdout, message = bad(65, command, stdin=text)
    assert "text that is neither typed bytes nor lines of JSON" in message or "record 0" in message
    # "hello" declares 1.7 GB, which must not be allocated.
    stdout, message = bad(65, command, "--from", "typedbytes", stdin=text, preexec_fn=few_memory)
    assert "record 0" in message


@pytest.mark.parametrize("text", [b'{"a": 1}\n', b"[1, 2]", b'"x"', b"\n\n-1\n", b"true\n", b"null", b"25\n", b"2"])
def test_lines_of_json_are_recognised(text):
    assert good("cat", stdin=text) == good("from-json", stdin=text)
    assert good("count", stdin=text) == b"1\n"


def test_typedbytes_by_mistake():
    stdout, message = bad(65, "from-json", stdin=STREAM)
    assert stdout == b""
    assert message.startswith("standard input: line 1: not JSON")


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
@pytest.mark.parametrize(
    ("line", "column", "is_cut"),
    [(b'{"a":', 6, True), (b"[1,", 4, True), (b'["abc', 2, True), (b'{"a": 1 ', 9, True), (b'{"a": 1} 2x', 11, False), (b"'a'", 1, False)],
)
def test_the_column_of_what_is_not_json(line, column, is_cut, end):
    message = bad(65, "from-json", stdin=b"1\n" + line + end)[1]
    assert message.startswith(f"standard input: line 2: not JSON at column {column}: ")
    is_string = line == b'["abc' and end
    hint = "; a string ends in the line where it starts" if is_string else "; the input ends inside a value"
    assert message.endswith(hint) is is_cut


def test_a_byte_order_mark_before_lines_of_json(file):
    mark = b"\xef\xbb\xbf"
    path = file(mark + LINES, "a.json")
    assert good("from-json", path, path) == STREAM * 2
    assert good("block", "encode", stdin=mark + b"[1]\n") == good("block", "encode", stdin=b"[1]\n")
    assert good("from-json", stdin=mark) == good("from-json", stdin=mark + b"\n") == b""
    assert bad(65, "from-json", stdin=mark + b"'")[1].startswith("standard input: line 1: not JSON at column 1: ")
    assert bad(65, "from-json", stdin=b"1\n" + mark + b"1\n")[1].startswith("standard input: line 2: not JSON at column 1: ")


def test_bad_json_is_placed(file):
    path = file(b'1\n\n{"byte": 500}\n2\n', "a.json")
    stdout, message = bad(65, "from-json", path)
    assert stdout == ONE
    assert message == f"{path}: line 3: expected an integer of 8 bits, not 500"


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


def test_text_in_latin_1_in_block_messages():
    wrong = b"\x07\x00\x00\x00\x04caf\xe9"
    written, message = bad(65, "cat", "--to", "block", stdin=ONE + wrong)
    assert rows(good("to-json", stdin=written)) == [{"vector": [1]}]
    assert message.endswith(" (--unicode-errors surrogateescape accepts it) at offset 5, record 1")
    messages = good("cat", "--to", "block", "--unicode-errors", "surrogateescape", stdin=ONE + wrong)
    assert good("cat", stdin=messages) == b"".join(b"\x08\x00\x00\x00\x01" + each for each in (ONE, wrong))


def test_a_sequencefile_with_text_in_latin_1(file):
    pairs = file(b"", "a.seq")
    good("loadtb", "--overwrite", pairs, stdin=ONE + b"\x07\x00\x00\x00\x04caf\xe9")
    assert " (--unicode-errors surrogateescape accepts it)" in bad(65, "validate", pairs)[1]
    assert rows(good("validate", "--unicode-errors", "surrogateescape", pairs))[0]["records"] == 1
    copy = file(b"", "b.seq")
    assert " (--unicode-errors surrogateescape accepts it)" in bad(65, "validate", "--repair", copy, pairs)[1]
    assert good("validate", "--repair", copy, "--unicode-errors", "surrogateescape", pairs) == b""
    assert good("count", copy) == b"1\n"


BAD_TEXT = b"\x07\x00\x00\x00\x04caf\xe9"


@pytest.mark.parametrize("after", [b"\x1b", TWO[:-1], b"\x0a\xff\xff\xff\xff"], ids=["a code", "the end", "a count"])
def test_text_of_a_damaged_input_is_not_said_to_be_accepted(after, tmp_path):
    """Bytes that are not UTF-8 are then damaged too, as far as anyone knows, and the option leads nowhere."""
    report, message = bad(65, "validate", stdin=ONE + BAD_TEXT + TWO + after)
    assert message.endswith("STRING is not UTF-8: unexpected end of data at its byte 3 at offset 5, record 1")
    assert all("--unicode-errors" not in each["message"] for each in rows(report)[0]["faults"]) and rows(report)[0]["bad"] == 2
    bad(65, "validate", "--unicode-errors", "surrogateescape", stdin=ONE + BAD_TEXT + TWO + after)


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


def test_text_inside_a_map_of_java_is_not_said_to_be_accepted(tmp_path):
    """`unicode_errors` does not reach it."""
    with sequencefile.open(tmp_path / "a.seq", "w", key_class="IntWritable", value_class="MapWritable") as file:
        file.write_raw(bytes(4), b"\0" + struct.pack(">i", 1) + b"\x8c\x01a" + b"\x8c\x01\xe9")
    for options in ((), ("--unicode-errors", "surrogateescape")):
        message = bad(65, "validate", *options, tmp_path / "a.seq")[1]
        assert "text is not UTF-8: " in message and "accepts it" not in message


def test_validate_wants_utf8_and_cat_does_not():
    stream = b"\x07\x00\x00\x00\x01\xff"
    bad(65, "validate", stdin=stream)
    assert good("cat", stdin=stream) == stream


@pytest.mark.parametrize("command", ["cat", "count", "validate", "to-json"])
def test_max_bytes(command):
    assert good(command, "--max-bytes", "14", stdin=STREAM)
    message = bad(65, command, "--max-bytes", "13", stdin=ONE + LIST + TWO)[1]
    assert "offset 5, record 1" in message


def test_max_bytes_of_a_line():
    assert good("from-json", "--max-bytes", "3", stdin=b"1\n  2\n  2") == ONE + TWO + TWO
    stdout, message = bad(65, "from-json", "--max-bytes", "3", stdin=b"1\n   2\n")
    assert (stdout, message) == (ONE, "standard input: line 2: longer than 3 bytes")


# Control characters


def test_control_characters_of_data_stay_out_of_messages():
    key = b"\x07\x00\x00\x00\x05\x1b[2J\n"
    message = bad(65, "validate", stdin=b"\x0a\x00\x00\x00\x01" + key + b"\x0e")[1]
    assert "offset 15, record 0" in message and "[2J" in message


def test_control_characters_of_names_stay_out_of_messages(tmp_path):
    message = bad(66, "cat", str(tmp_path / "\x1b]2J\n"))[1]
    assert message.endswith("\\x1b]2J\\n: No such file or directory")
    assert "\\x1b[2J\\n: matches no file" in bad(66, "cat", str(tmp_path / "\x1b[2J\n"))[1]
    assert "\\x1b" in bad(64, "\x1b[2J")[1]
    assert "\\x1b" in bad(64, "cat", "--\x1b[2J")[1]


def test_control_characters_of_data_stay_out_of_json():
    text = "\x00\x07\x1b[2J\x7f\x9b\u202e".encode()
    lines = good("to-json", stdin=b"\x07\x00\x00\x00\x0c" + text)
    assert lines == b'"\\u0000\\u0007\\u001b[2J\\u007f\\u009b\\u202e"\n'


# The command line


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "no command"),
        (["--pairs"], "no command"),
        (["cta"], "no command 'cta'; did you mean cat? (see"),
        (["xyz"], "no command 'xyz' (see"),
        (["-"], "no command"),
        (["--memory", "4G", "sort"], "option --memory must follow the command: typedbytes COMMAND --memory 4G (see"),
        (["-n", "3", "head"], "option -n must follow the command: typedbytes COMMAND -n 3"),
        (["--memory=4G", "xyz"], "no command 'xyz' (see"),
        (["--pairs", "cta"], "no command 'cta'; did you mean cat? (see"),
        (["-o", "x", "cta"], "no command 'cta'; did you mean cat? (see"),
        (["cat", "--pears"], "unrecognized arguments: --pears"),
        (["cat", "--pair"], "unrecognized arguments: --pair"),
        (["cat", "--dialect", "pig"], "argument --dialect: invalid choice"),
        (["cat", "--dialect"], "argument --dialect: expected one argument"),
        (["cat", "-n", "1"], "unrecognized arguments: -n"),
        (["head", "-n", "-1"], "argument -n: expected"),
        (["head", "-n", "x"], "argument -n: expected an integer of at least 0, not 'x'"),
        (["cat", "--max-bytes", "1e3"], "argument --max-bytes: expected an integer of at least 1, not '1e3'"),
        (["cat", "--max-bytes", "0"], "argument --max-bytes: expected an integer of at least 1, not '0'"),
        (["from-json", "--max-bytes", "0"], "argument --max-bytes: expected an integer of at least 1, not '0'"),
        (["dumptb", "--max-bytes", "0", "a"], "argument --max-bytes: expected an integer of at least 1, not '0'"),
        (["block", "decode", "--max-bytes", "0"], "argument --max-bytes: expected an integer of at least 1, not '0'"),
        (["cat", "--version"], "unrecognized arguments: --version"),
    ],
)
def test_usage_errors(arguments, message):
    assert bad(64, *arguments)[1].startswith(message)


def test_options_may_be_anywhere(file):
    first, second = file(ONE + TWO), file(STREAM, "b.tb")
    for arguments in (
        ["count", "--pairs", first, second],
        ["--pairs", "count", first, second],
        ["count", first, second, "--pairs"],
        ["count", first, "--pairs", second],
        ["--max-bytes", "99", "--dialect", "hive", "count", first, "--pairs", second],
    ):
        assert good(*arguments) == b"3\n"


def test_a_file_may_be_named_like_an_option(file, tmp_path):
    file(ONE + ONE, "-n")
    file(TWO + TWO, "cat")
    for arguments in ["cat", "./-n", "cat"], ["cat", "--pairs", "--", "-n", "cat"], ["--", "cat", "-n", "cat"]:
        done = run(*arguments, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, ONE + ONE + TWO + TWO, b"")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(command):
    text = good(command, "--help").decode()
    assert text.startswith((f"usage: typedbytes {command} ", f"usage: typedbytes {command}\n"))
    assert f"\n  typedbytes {command}" in text or f"| typedbytes {command}" in text
    assert max(map(len, text.splitlines())) < 100
    assert good("-h", command).decode() == good("help", command).decode() == text


def test_help():
    text = good("--help").decode()
    assert text == good("-h").decode() == good("help").decode()
    assert "no command 'cta'" in bad(64, "help", "cta")[1]
    assert all(f"\n  {command} " in text for command in COMMANDS)


def test_version():
    name, version = good("--version").decode().split()
    assert name == "typedbytes" and version[0].isdigit()
    assert good("-V") == good("--version")


def test_nothing_heavy_is_imported(file):
    """Such as inspect, which argparse imports on Python 3.14 to colour its help."""
    script = (
        "import sys; before = set(sys.modules); from typedbytes.cli import main; main(sys.argv[1:]);"
        "print(*set(sys.modules) - before, file=sys.stderr)"
    )

    def imported(*arguments):
        done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True)
        return set(done.stderr.split())

    heavy = {"numpy", "shutil", "inspect", "typing", "subprocess", "logging", "asyncio", "socket", "tempfile"}
    assert not imported("--help") & (heavy | {"argparse", "json", "re"})
    assert not imported("count", file(STREAM)) & (heavy | {"json"})
    assert not imported("to-json", file(STREAM)) & heavy


# Input and output that fail


def test_inputs_that_cannot_be_opened(tmp_path):
    assert bad(66, "cat", str(tmp_path / "no"))[1] == f"{tmp_path}/no: No such file or directory"
    assert bad(66, "from-json", str(tmp_path))[1] == f"{tmp_path}: no part files in it"
    assert bad(66, "cat", f"{tmp_path}/part-*")[1] == f"{tmp_path}/part-*: matches no file"
    unreadable = tmp_path / "unreadable.tb"
    unreadable.symlink_to(unreadable)
    assert bad(66, "validate", str(unreadable))[1] == f"{unreadable}: Too many levels of symbolic links"


def test_records_before_a_missing_input_are_written(file):
    path = file(ONE)
    assert bad(66, "cat", path, path + "x")[0] == ONE


def test_closed_stdin():
    command = subprocess.list2cmdline([*COMMAND, "count"])
    done = subprocess.run(f"{command} <&-", shell=True, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (66, b"", b"typedbytes: standard input: closed\n")


@pytest.mark.parametrize("arguments", FILTERS, ids=" ".join)
def test_stdin_that_cannot_be_read(arguments, tmp_path):
    with open(tmp_path / "written", "wb") as stdin:
        done = subprocess.run([*COMMAND, *arguments], stdin=stdin, capture_output=True)
    assert (done.returncode, done.stdout) == (74, b"")
    assert done.stderr == b"typedbytes: standard input: Bad file descriptor\n"


NON_BLOCKING = {"to-json": STREAM, "from-json": LINES, "cat": b"\x1f\x8b\x08" + bytes(7), "sort": STREAM}


@pytest.mark.parametrize("arguments", [each for each in [*FILTERS, ["sort"]] if each != ["sniff"]], ids=" ".join)
def test_stdin_that_does_not_wait(arguments):
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.write(writing, NON_BLOCKING.get(arguments[0], STREAM))
    done = subprocess.run([*COMMAND, *arguments], stdin=reading, capture_output=True, timeout=SECONDS)
    os.close(writing)
    os.close(reading)
    message = b"standard input: the source must be in blocking mode"
    assert (done.returncode, done.stderr) == (74, b"typedbytes: " + message + b"\n")


OTHERS = [["--help"], ["--version"], ["cat", "-h"], ["man"], ["completion", "bash"], ["cat", "-o", "/dev/stdout"]]


@pytest.mark.parametrize("arguments", FILTERS + OTHERS, ids=" ".join)
def test_full_disk(arguments):
    stdin = LINES if arguments == ["from-json"] else STREAM
    with open("/dev/full", "wb") as stdout:
        done = subprocess.run([*COMMAND, *arguments], input=stdin, stdout=stdout, stderr=subprocess.PIPE)
    assert done.returncode == 74
    name = b"/dev/stdout" if "-o" in arguments else b"standard output"
    assert done.stderr == b"typedbytes: " + name + b": No space left on device\n"


def test_full_disk_and_bad_data_are_both_reported():
    with open("/dev/full", "wb") as stdout:
        done = subprocess.run([*COMMAND, "cat"], input=ONE + b"\x0e", stdout=stdout, stderr=subprocess.PIPE)
    assert done.returncode == 74
    assert [line.split(b": ")[1] for line in done.stderr.splitlines()] == [b"standard input", b"standard output"]


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_an_output_that_is_a_descriptor_is_written_at_its_offset(name, file, tmp_path):
    written = file(ONE, "written.tb")
    with open(written, "ab") as stdout:
        done = subprocess.run([*COMMAND, "cat", "-o", name], input=TWO, stdout=stdout, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "written.tb").read_bytes() == ONE + TWO
    assert good("cat", "-o", name, stdin=STREAM) == STREAM
    assert bad(74, "cat", "-o", "/dev/fd/999", stdin=STREAM)[1] == "/dev/fd/999: Bad file descriptor"


def test_an_output_may_be_a_process_of_the_shell(tmp_path):
    command = f"{shlex.join(COMMAND)} cat -o >(cat > {shlex.quote(str(tmp_path / 'copy'))}; echo done)"
    done = subprocess.run(["bash", "-c", command], input=STREAM, capture_output=True, timeout=SECONDS)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"done\n", b"")
    assert (tmp_path / "copy").read_bytes() == STREAM


def test_closed_stdout():
    command = subprocess.list2cmdline([*COMMAND, "count"])
    done = subprocess.run(f"{command} >&-", shell=True, input=STREAM, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (74, b"typedbytes: standard output: Bad file descriptor\n")


def test_closed_stdout_that_nothing_goes_to(file, tmp_path):
    command = f"{shlex.join(COMMAND)} count {shlex.quote(file(STREAM))} -o {shlex.quote(str(tmp_path / 'found'))}"
    done = subprocess.run(["bash", "-c", f"{command} >&-"], stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "found").read_bytes() == b"4\n"


def test_closed_stderr():
    command = f"{shlex.join(COMMAND)} cat 2>&-"
    done = subprocess.run(["bash", "-c", command], input=ONE + b"\x0e", stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (65, ONE)


def test_stderr_that_cannot_be_written_leaves_the_exit_code():
    with open("/dev/full", "wb") as stderr:
        done = subprocess.run([*COMMAND, "cat"], input=b"\x0e", stdout=subprocess.PIPE, stderr=stderr)
    assert (done.returncode, done.stdout) == (65, b"")


def test_out_of_memory(tmp_path):
    path = tmp_path / "sparse.tb"
    path.write_bytes(ONE + b"\x00\x10\x00\x00\x00")
    os.truncate(path, 1 << 30)
    assert bad(70, "cat", str(path), preexec_fn=few_memory) == (b"", "out of memory")


# Pipes and signals


@pytest.mark.parametrize("command", ["cat", "to-json", "from-json"])
def test_reader_that_goes_away(command, file):
    path = file((b"1\n" if command == "from-json" else ONE) * 200_000)
    with subprocess.Popen([*COMMAND, command, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.read(2)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_reader_that_went_away_before_the_only_write(file):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*COMMAND, "count", file(STREAM)], stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_pipeline(file):
    tool = shlex.join(COMMAND)
    path = shlex.quote(file(STREAM * 50_000))
    pipeline = f"{tool} cat {path} | {tool} to-json | {tool} from-json | {tool} head -n 3 | {tool} count"
    done = subprocess.run(["bash", "-c", pipeline], capture_output=True)
    assert (done.stdout, done.stderr) == (b"3\n", b"")


def test_interrupt():
    pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # a shell's background job ignores the signal, and so would its children
    default = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen([*COMMAND, "cat"], preexec_fn=default, **pipes) as process:
        process.stdin.write(ONE * 20_000)
        process.stdin.flush()
        assert process.stdout.read(5) == ONE
        until_it_waits(process)  # for a reader of its output, which fills a pipe: now the signal interrupts a system call
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 130
        assert process.stderr.read() == b""


def test_a_terminal_sees_each_line_at_once():
    ours, theirs = pty.openpty()
    environment = {**os.environ, "NO_COLOR": "1"}
    with subprocess.Popen([*COMMAND, "to-json"], stdin=subprocess.PIPE, stdout=theirs, env=environment) as process:
        process.stdin.write(ONE)
        process.stdin.flush()
        shown = b""
        while not shown.endswith(b"\n"):  # a terminal may give a line in parts
            shown += os.read(ours, 100)
        assert shown == b"1\r\n"
        process.stdin.close()
        assert process.wait(SECONDS) == 0
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize("command", ["cat", "count", "validate"])
def test_big_stream(command, file):
    block = b"\x00" + struct.pack(">i", 1 << 20) + bytes(1 << 20)
    path = file(STREAM * 25_000 + block * 32)
    nbytes = os.path.getsize(path)
    with open(path, "rb") as stdin:
        done = subprocess.run([*COMMAND, command], stdin=stdin, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    if command == "cat":
        assert len(done.stdout) == nbytes
    else:
        assert done.stdout == b"100032\n" or rows(done.stdout) == [fine("standard input", 100_032, nbytes)]


# In this process: main gives its exit code back and leaves stdout open.


def test_main_returns_and_leaves_stdout_open(file, capfd):
    path = file(STREAM)
    assert main(["count", path]) == 0
    assert main(["count", path + "x"]) == 66
    assert main(["to-json", path]) == 0
    out, err = capfd.readouterr()
    assert out == "4\n" + LINES.decode()
    assert err == f"typedbytes: {path}x: No such file or directory\n"


@pytest.mark.parametrize("stderr", ["open", "closed"])
def test_an_error_of_the_command_itself_is_no_result(stderr, file, capfd, monkeypatch):
    def fail(options, output):
        """Fail."""
        output.write(b"part of the output")
        raise KeyError("a defect")

    monkeypatch.setattr(load("grep"), "run", fail)
    if stderr == "closed":
        monkeypatch.setattr(sys, "stderr", None)
    assert main(["grep", "hi", file(STREAM)]) == 70
    out, err = capfd.readouterr()
    assert out == "" and (stderr == "closed" or (err.startswith("Traceback") and err.endswith("KeyError: 'a defect'\n")))


def test_modules_use_each_other_in_one_direction():
    folder = pathlib.Path(cli.__file__).parent
    modules = [
        path.relative_to(folder).with_suffix("").as_posix().replace("/", ".") for path in folder.rglob("*.py") if path.name != "__init__.py"
    ]
    used = {module: set() for module in modules}
    for module in modules:
        for node in ast.walk(ast.parse((folder / (module.replace(".", "/") + ".py")).read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("typedbytes.cli"):
                inside = node.module[len("typedbytes.cli.") :]
                used[module] |= {inside, *(f"{inside}.{each.name}".lstrip(".") for each in node.names)} & set(modules)
    assert used["input.inputs"] >= {"input.formats", "failure"} and used["commands.to_json"] >= {"commands.cat"}
    assert not any(other.startswith("commands.") for module in modules if not module.startswith("commands.") for other in used[module])
    # import_module closes no circle either: it is called by main alone, which no other module uses.
    calls = {module for module in modules if "import_module" in (folder / (module.replace(".", "/") + ".py")).read_text()}
    assert calls == {"main"} and not any("main" in others for others in used.values())
    list(graphlib.TopologicalSorter(used).static_order())  # a CycleError names the circle


def test_options_that_may_precede_a_command():
    actions = [
        action for name in ("cat", "count") for action in parser_of(name)._actions if action.option_strings and action.dest != "help"
    ]
    for expected, takes_value in (OPTIONS_WITH_VALUE, True), (OPTIONS_WITHOUT_VALUE, False):
        assert set(expected) == {each for action in actions if (action.nargs != 0) is takes_value for each in action.option_strings}


def test_each_command_is_a_module():
    folder = pathlib.Path(cli.__file__).parent / "commands"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == {command.replace("-", "_") for command in COMMANDS}
