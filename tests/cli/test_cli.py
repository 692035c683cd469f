"""The command as its users meet it: real processes, real files and pipes, every exit code.

The processes run in Python's development mode: a descriptor left open or an exception swallowed while an object is
deallocated would stand on stderr, which every test looks at.
"""

import ast
import graphlib
import os
import pathlib
import pty
import re
import resource
import shlex
import signal
import struct
import subprocess
import sys

import pytest

from support.commands import (
    COMMAND,
    FILTERS,
    LINES,
    LIST,
    ONE,
    STREAM,
    TEXT,
    TWO,
    bad,
    fine,
    good,
    rows,
    run,
    until_it_waits,
)
from support.subprocess_runs import SECONDS
from typedbytes import cli
from typedbytes.cli import main
from typedbytes.cli.main import load, parser_of
from typedbytes.cli.registry import COMMANDS, OPTIONS_WITH_VALUE, OPTIONS_WITHOUT_VALUE

pytestmark = [pytest.mark.oldest_python, pytest.mark.quick]


@pytest.mark.parametrize("arguments", FILTERS, ids=" ".join)
def test_empty_input(arguments):
    expected = {
        "count": b"0\n",
        "validate": b'{"input": "standard input", "ok": true, "records": 0, "unit": "values", "bytes": 0}\n',
        "stats": b'{"section": "records", "records": 0, "unit": "values", "bytes": 0}\n',
        "sniff": b'{"input": "standard input", "format": "empty"}\n',
    }
    if arguments[0] == "grep":
        assert run(*arguments).returncode == 1
    else:
        assert good(*arguments) == expected.get(arguments[0], b"")


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


@pytest.mark.parametrize("command", ["cat", "head", "count", "validate", "to-json"])
def test_dialect(command):
    hive = b"\x0b\x00\x05\x0c\xb1"
    assert good(command, "--dialect", "hive", stdin=hive)
    bad(65, command, stdin=hive)


# Damage
READERS = [
    ("cat", ONE),
    ("head", ONE),
    ("count", b""),
    ("validate", None),
    ("to-json", b"1\n"),
    ("tail", b""),
    ("stats", b""),
]


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


@pytest.mark.unsanitized("AddressSanitizer cannot start where memory is limited")
@pytest.mark.parametrize(
    "text", [b"hello world\n", b"key\t1\n" * 10, b"#!/bin/sh\n", "\u00e9t\u00e9\n".encode(), b"\n\nhello", b"hi\n"]
)
@pytest.mark.parametrize("command", ["cat", "validate"])
def test_text_by_mistake(command, text):
    stdout, message = bad(65, command, stdin=text)
    assert "text that is neither typed bytes nor lines of JSON" in message or "record 0" in message
    # "hello" declares 1.7 GB, which must not be allocated.
    stdout, message = bad(65, command, "--from", "typedbytes", stdin=text, preexec_fn=few_memory)
    assert "record 0" in message


@pytest.mark.parametrize("command", ["cat", "count", "validate", "to-json"])
def test_max_bytes(command):
    assert good(command, "--max-bytes", "14", stdin=STREAM)
    message = bad(65, command, "--max-bytes", "13", stdin=ONE + LIST + TWO)[1]
    assert "offset 5, record 1" in message


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
        (["to-csv"], "no command 'to-csv'; did you mean to-text --csv? (see"),
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
    assert good("-V") == good("version") == good("--version")


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


def test_closed_stderr():
    command = f"{shlex.join(COMMAND)} cat 2>&-"
    done = subprocess.run(["bash", "-c", command], input=ONE + b"\x0e", stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (65, ONE)


def test_stderr_that_cannot_be_written_leaves_the_exit_code():
    with open("/dev/full", "wb") as stderr:
        done = subprocess.run([*COMMAND, "cat"], input=b"\x0e", stdout=subprocess.PIPE, stderr=stderr)
    assert (done.returncode, done.stdout) == (65, b"")


@pytest.mark.unsanitized("AddressSanitizer cannot start where memory is limited")
def test_out_of_memory(tmp_path):
    path = tmp_path / "sparse.tb"
    path.write_bytes(ONE + b"\x00\x10\x00\x00\x00")
    os.truncate(path, 1 << 30)
    assert bad(70, "cat", str(path), preexec_fn=few_memory) == (b"", "out of memory")


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
    with subprocess.Popen([*COMMAND, "cat"], **pipes) as process:
        process.stdin.write(ONE * 20_000)
        process.stdin.flush()
        assert process.stdout.read(5) == ONE
        # for a reader of its output, which fills a pipe: now the signal interrupts a system call
        until_it_waits(process)
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
    assert err == f"typedbytes count: {path}x: No such file or directory\n"


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
    assert out == ""
    assert stderr == "closed" or (err.startswith("Traceback") and err.endswith("KeyError: 'a defect'\n"))


def test_an_error_that_took_the_place_of_a_signal_is_no_defect(file, capfd, monkeypatch):
    """argparse, interrupted while it reads options and files in any order, restores what it has not saved yet."""
    import argparse

    class Stopping(argparse.Action):
        @property
        def save_nargs(self):
            return self.nargs

        @save_nargs.setter
        def save_nargs(self, value):
            raise KeyboardInterrupt

        @save_nargs.deleter
        def save_nargs(self):
            raise AttributeError("save_nargs")

    def parse(parser, words):
        action = Stopping([], "files")
        try:
            action.save_nargs = action.nargs
        finally:
            del action.save_nargs

    monkeypatch.setattr("typedbytes.cli._parser.Parser.parse", parse)
    assert main(["grep", "hi", file(STREAM)]) == 130
    assert capfd.readouterr() == ("", "")


def test_modules_use_each_other_in_one_direction():
    folder = pathlib.Path(cli.__file__).parent
    modules = [
        path.relative_to(folder).with_suffix("").as_posix().replace("/", ".")
        for path in folder.rglob("*.py")
        if path.name != "__init__.py"
    ]
    used = {module: set() for module in modules}
    for module in modules:
        for node in ast.walk(ast.parse((folder / (module.replace(".", "/") + ".py")).read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("typedbytes.cli"):
                inside = node.module[len("typedbytes.cli.") :]
                used[module] |= {inside, *(f"{inside}.{each.name}".lstrip(".") for each in node.names)} & set(modules)
    assert used["_input.inputs"] >= {"_input.formats", "_failure"}
    assert used["commands.cat"] >= {"_input.inputs", "_output.records"}
    assert not any(
        other.startswith("commands.")
        for module in modules
        if not module.startswith("commands.")
        for other in used[module]
    )
    # import_module closes no circle either: it is called by main alone, which no other module uses.
    calls = {
        module for module in modules if "import_module" in (folder / (module.replace(".", "/") + ".py")).read_text()
    }
    assert calls == {"main"} and not any("main" in others for others in used.values())
    list(graphlib.TopologicalSorter(used).static_order())  # a CycleError names the circle


def test_options_that_may_precede_a_command():
    actions = [
        action
        for name in ("cat", "count")
        for action in parser_of(name)._actions
        if action.option_strings and action.dest != "help"
    ]
    for expected, takes_value in (OPTIONS_WITH_VALUE, True), (OPTIONS_WITHOUT_VALUE, False):
        assert set(expected) == {
            each for action in actions if (action.nargs != 0) is takes_value for each in action.option_strings
        }


def test_each_command_is_a_module():
    folder = pathlib.Path(cli.__file__).parent / "commands"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == {
        command.replace("-", "_") for command in COMMANDS
    }


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_settings_are_typed_and_do_not_change(command):
    """argparse's own Namespace takes any attribute: helpers wrote to it what others, or the next input, then read."""
    kind = load(command).Settings
    typed = {name for each in kind.__mro__ for name in vars(each).get("__annotations__", ())}
    words = {action.dest: action.default for action in parser_of(command)._actions}
    # a Job has the types of its options
    assert {name for name in words if not name.startswith("job_")} - {"help"} <= typed
    settings = kind(words)
    for name in words.keys() - {"help"}:
        assert getattr(settings, name) is words[name]
        with pytest.raises(AttributeError):
            setattr(settings, name, None)


def test_no_option_is_asked_for_by_a_name_that_a_command_may_lack():
    folder = pathlib.Path(cli.__file__).parent
    asking = re.compile(r"getattr\((?:options|settings)\b|\b(?:options|settings)\.\w+ = ")
    found = {path.stem for path in folder.rglob("*.py") if asking.search(path.read_text())}
    assert found == set()
