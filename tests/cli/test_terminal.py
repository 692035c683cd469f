"""The command on a terminal: tables, colours, the line of progress, Ctrl-C, widths.

The terminals are the system's own (pty).
"""

import contextlib
import fcntl
import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

import typedbytes as tb
from support.commands import COMMAND, LINES, STREAM
from support.subprocess_runs import SECONDS
from typedbytes import sequencefile
from typedbytes.cli._input import progress

pytestmark = [pytest.mark.once, pytest.mark.lowest]

PAIRS = tb.Encoder().encode_pairs([(f"key {i}", i) for i in range(5)])
PAIRS_OF_A_FILE = [(f"key {i}", i) for i in range(50_000)]
ESCAPE = re.compile(r"\x1b\[[0-9;]*[mK]")

# The command, with a line of progress that does not wait a second.
AT_ONCE = (
    "import sys; from typedbytes.cli import main; from typedbytes.cli._input import progress; "
    "progress.DELAY = progress.INTERVAL = 0.0005; sys.exit(main(sys.argv[1:]))"
)


# The command, which also draws the line when it opens an input, reports, or ends: no file is too short for the timer.
AT_EVERY_STEP = """
import sys
from typedbytes.cli import main
from typedbytes.cli._input.progress import Progress

def drawn(step):
    def step_and_draw(self, *arguments):
        step(self, *arguments)
        self._draw()
    return step_and_draw

def end(self, end=Progress.end):
    self._draw()
    end(self)

Progress.add, Progress.report, Progress.end = drawn(Progress.add), drawn(Progress.report), end
sys.exit(main(sys.argv[1:]))
"""


class Terminal:
    """Run a command whose stdout and stderr, or one of them, are a terminal, and read what it shows."""

    def __init__(
        self, *command, columns=80, stdout=True, stderr=True, stdin=subprocess.DEVNULL, cwd=None, **environment
    ):
        self._ours, theirs = pty.openpty()
        self.resize(columns)
        inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        self.process = subprocess.Popen(
            command, stdin=theirs if stdin is None else stdin, stdout=theirs if stdout else subprocess.DEVNULL,
            stderr=theirs if stderr else subprocess.DEVNULL, env={**inherited, "TERM": "xterm", **environment},
            preexec_fn=self._own, cwd=cwd,
        )  # fmt: skip
        os.close(theirs)
        self.text = ""

    @staticmethod
    def _own():
        os.setsid()
        for descriptor in (1, 2):
            if os.isatty(descriptor):
                fcntl.ioctl(descriptor, termios.TIOCSCTTY, 0)
                return

    def resize(self, columns):
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def type(self, keys):
        os.write(self._ours, keys)

    def read(self, until=None):
        """Return all that was shown until a text came, or until the end."""
        while until is None or until not in self.text:
            try:
                data = os.read(self._ours, 4096)
            except OSError:  # the other side is closed
                data = b""
            if not data:
                assert until is None, self.text
                break
            self.text += data.decode()
        return self.text.replace("\r\n", "\n")

    def read_more(self, nlines):
        """Read until the progress line has been drawn `nlines` more times."""
        wanted = self.text.count("\x1b[K") + nlines
        while self.text.count("\x1b[K") < wanted:
            self.text += os.read(self._ours, 4096).decode()

    def close(self):
        os.close(self._ours)

    def end(self):
        text = self.read()
        self.close()
        return text, self.process.wait(SECONDS)


def shown(*arguments, **how):
    return Terminal(*COMMAND, *arguments, **how).end()


def test_reports_are_tables(file):
    path = file(PAIRS)
    text, status = shown("freq", "--pairs", "-n", "2", path)
    assert status == 0
    assert text == '\x1b[1mcount  share  key\x1b[0m\n    1    0.2  "key 0"\n    1    0.2  "key 1"\n'
    assert shown("freq", "--pairs", "-n", "2", path, NO_COLOR="1")[0] == ESCAPE.sub("", text)
    assert shown("freq", "--pairs", "-n", "2", path, TERM="dumb")[0] == ESCAPE.sub("", text)
    assert shown("freq", "--pairs", "-n", "1", "--json", path)[0] == '{"count": 1, "share": 0.2, "key": "key 0"}\n'


def test_records_are_readable(file):
    path = file(PAIRS)
    text, status = shown("head", "-n", "2", "--pairs", path)
    assert status == 0 and "\x1b[32m" in text
    assert ESCAPE.sub("", text) == '["key 0", 0]\n["key 1", 1]\n'
    assert shown("tail", "-n", "1", "--pairs", path, NO_COLOR="1")[0] == '["key 4", 4]\n'
    assert "binary output is not written" in shown("cat", "--to", "typedbytes", file(tb.dumps("plain"), "b.tb"))[0]


def test_data_sends_nothing_to_the_terminal(file):
    path = file(tb.dumps("\x1b]0;title\x07\x9b2J\u202e"))
    for arguments in (["cat", path], ["freq", path], ["diff", path, file(b"", "b.tb")]):
        text, _ = shown(*arguments)
        assert "\x07" not in text and "\x9b" not in text and "\u202e" not in text and "\x1b]" not in text


def test_text_sends_nothing_to_the_terminal(file):
    records = file(tb.Encoder().encode_all([{"a\x1b": "\u202eb\nc"}]))
    assert shown("to-text", "--csv", "--header", records)[0].replace("\r\n", "\n") == 'a\\x1b\n"\\u202eb\\nc"\n'


@pytest.mark.parametrize("columns", [20, 33, 80])
def test_tables_are_as_wide_as_the_terminal(columns, file):
    text, _ = shown("sniff", file(PAIRS), columns=columns, NO_COLOR="1")
    assert max(map(len, text.splitlines())) <= columns
    assert "…" in text


@pytest.mark.parametrize("columns", [80, 100])
def test_sniff_shows_classes_and_compression_on_a_narrow_terminal(columns, tmp_path):
    sink = io.BytesIO()
    with sequencefile.Writer(sink, key_class="LongWritable", value_class="Text", codec="gzip") as writer:
        writer.write(1, "a")
    for name, data in (("part-00000", sink.getvalue()), ("part-00001", b""), ("notes.tb", PAIRS)):
        (tmp_path / name).write_bytes(data)
    names = "part-00000", "part-00001", "notes.tb"
    text, status = shown("sniff", *names, columns=columns, cwd=tmp_path, NO_COLOR="1")
    line = next(line for line in text.splitlines() if "part-00000" in line)
    assert status == 0 and len(line) <= columns
    assert line.split("  ")[:3] == ["part-00000", "sequencefile", "LongWritable"]
    assert "Text" in line and "block, gzip" in line


def test_progress_of_a_pipe():
    reading, writing = os.pipe()
    terminal = Terminal(*COMMAND, "count", "--pairs", stdin=reading, stdout=False)
    os.close(reading)
    os.write(writing, PAIRS)
    text = terminal.read("standard input")
    assert re.search(rf"\r\x1b\[K{len(PAIRS)} B, \d+ B/s, 0:(?!00)\d\d: standard input$", text)
    terminal.resize(20)
    terminal.read_more(2)  # the first line may have been on its way
    before = len(terminal.text)
    terminal.read_more(1)
    os.close(writing)
    text, status = terminal.end()
    assert status == 0 and text.endswith("\r\x1b[K")
    assert max(map(len, text[before:].split("\r\x1b[K"))) < 20


def test_a_terminal_that_is_closed_ends_no_reading():
    reading, writing = os.pipe()
    ignore_hangup = ["sh", "-c", 'trap "" HUP; exec "$0" "$@"']
    terminal = Terminal(*ignore_hangup, sys.executable, "-c", AT_ONCE, "count", stdin=reading, stdout=False)
    os.close(reading)
    terminal.read("standard input")
    terminal.close()
    time.sleep(0.2)  # the line is due hundreds of times
    os.write(writing, STREAM)
    os.close(writing)
    assert terminal.process.wait(SECONDS) == 0


def test_progress_on_a_terminal_of_unknown_width(file):
    path = file(STREAM * 500_000, "a" * 100)
    text, status = Terminal(sys.executable, "-c", AT_ONCE, "count", path, stdout=False, columns=0).end()
    assert status == 0
    assert {len(each) for each in text.split("\r\x1b[K")} == {0, 79}


def until_it_is_held_up(process, path):
    """Wait until a process has been at one offset of a file for half a second, or has ended."""
    offsets = [None]
    while process.poll() is None and not (offsets[-1] and offsets[-50:] == [offsets[-1]] * 50):
        time.sleep(0.01)
        offsets.append(offset_of(process, path))


def offset_of(process, path):
    """Return the offset of a process in a file, None if it has not opened it."""
    folder = Path(f"/proc/{process.pid}")
    with contextlib.suppress(OSError):  # a file is closed meanwhile
        for entry in (folder / "fd").iterdir():
            if os.readlink(entry) == str(path):
                return int((folder / "fdinfo" / entry.name).read_text().split()[1])
    return None


def test_a_stopped_terminal_holds_the_command_up_and_no_more(tmp_path):
    path = tmp_path / ("a" * 200)
    with open(path, "wb") as file:
        file.truncate(5 * 10**8)  # byte strings without a byte
    terminal = Terminal(sys.executable, "-c", AT_ONCE, "count", str(path), stdout=False, columns=500)
    until_it_is_held_up(terminal.process, path)  # the terminal is full, and read below
    text, status = terminal.end()
    assert status == 0, text
    assert text.endswith("\r\x1b[K") and text.count(path.name) > 1


def test_names_send_nothing_to_the_terminal_in_the_line_of_progress(file):
    path = file(STREAM * 500_000, "a\x1b]0;title\x07.tb")
    text, status = Terminal(sys.executable, "-c", AT_ONCE, "count", path, stdout=False, columns=500).end()
    assert status == 0, text
    assert "a\\x1b]0;title\\x07.tb" in text and "\x07" not in text


def test_progress_of_a_file(file):
    path = file(STREAM * 2_000_000)
    text, status = Terminal(sys.executable, "-c", AT_ONCE, "count", path, stdout=False).end()
    assert status == 0
    assert re.search(r"\r\x1b\[K[\d.]+ MB of 62.0 MB, \d+ %, [\d.]+ [MG]B/s, 0:00 left: /", text)
    assert text.endswith("\r\x1b[K")


def test_no_progress_where_records_are_shown_or_the_terminal_cannot_clear_a_line(file):
    path = file(STREAM * 500_000)  # so many show the line of progress in the test above
    text, status = Terminal(sys.executable, "-c", AT_ONCE, "head", "-n", "2000", path).end()
    assert (ESCAPE.sub("", text).rpartition("\r")[2], status) == (LINES.decode() * 500, 0)
    assert Terminal(sys.executable, "-c", AT_ONCE, "count", path, stdout=False, TERM="dumb").end() == ("", 0)


def test_a_report_on_the_terminal_takes_the_place_of_the_line(file):
    path = file(STREAM * 500_000)
    text, status = Terminal(sys.executable, "-c", AT_ONCE, "count", path).end()
    assert status == 0 and " left: /" in text and text.endswith("\r\x1b[K2000000\n")


def test_progress_is_of_all_files_of_a_folder(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    for number in range(4):
        (folder / f"part-{number:05}").write_bytes(tb.Encoder().encode_pairs(PAIRS_OF_A_FILE))
    total = f"{sum(path.stat().st_size for path in folder.iterdir()) / 1e6:.1f} MB"
    other = shutil.copytree(folder, tmp_path / "other")
    for words in (
        ["count"], ["validate", "--pairs"], ["diff", "--pairs", str(other)], ["sort", "--pairs", "-o", "sorted.tb"],
        ["convert", "--pairs", "--to", "parquet", "-o", "a.parquet"],
        ["convert", "--pairs", "--to", "parquet", "--widen", "-o", "b.parquet"],
        ["convert", "--pairs", "--to", "parquet", "-o", "c/"],
    ):  # fmt: skip
        text, status = Terminal(sys.executable, "-c", AT_EVERY_STEP, *words, str(folder), cwd=tmp_path).end()
        assert status == 0, text
        nfiles = 8 if words[0] == "diff" else 4
        by_splits = "--widen" in words or "c/" in words
        assert (f"{total} of {total}, 100 %" if by_splits else f" left: {nfiles} of {nfiles}, ") in text, (words, text)
        assert ("left: sorted records" in text) is (words[0] == "sort"), text


def test_what_is_typed_has_the_terminal_for_itself():
    terminal = Terminal(sys.executable, "-c", AT_ONCE, "from-text", "-o", "/dev/null", stdin=None)
    time.sleep(0.5)
    terminal.type(b"a\n\x04")
    assert terminal.end() == ("a\n", 0)


def test_control_c():
    reading, writing = os.pipe()
    terminal = Terminal(*COMMAND, "count", stdin=reading, stdout=False)
    os.close(reading)
    terminal.read("standard input")  # the line of progress: the command runs
    terminal.type(b"\x03")  # if it comes just before a system call, the next step of the line interrupts that
    text, status = terminal.end()
    os.close(writing)
    assert status == 130
    assert "Traceback" not in text and text.replace("^C", "").endswith("\r\x1b[K")


def test_messages_replace_the_line_of_progress():
    reading, writing = os.pipe()
    terminal = Terminal(*COMMAND, "count", stdin=reading, stdout=False)
    os.close(reading)
    os.write(writing, STREAM)
    terminal.read("standard input")
    os.write(writing, b"\x0e")
    os.close(writing)
    text, status = terminal.end()
    assert status == 65
    assert text.endswith("\r\x1b[Ktypedbytes count: standard input: unknown type code 14 at offset 31, record 4\n")


def damaged_file():
    sink = io.BytesIO()
    with sequencefile.Writer(sink, compression="block", block_size=400) as writer:
        writer.writes((number, "text" * 5) for number in range(1000))
    data = bytearray(sink.getvalue())
    data[len(data) // 2] ^= 0xFF
    return bytes(data)


@pytest.mark.parametrize(
    ("arguments", "data", "note"),
    [
        (["freq"], PAIRS, "standard input: read as single values"),
        (["dumptb", "--resync", "-"], damaged_file(), "standard input: skipped"),
    ],
    ids=["freq", "dumptb"],
)
def test_notes_while_an_input_is_read_replace_the_line_of_progress(arguments, data, note):
    reading, writing = os.pipe()
    terminal = Terminal(sys.executable, "-c", AT_ONCE, *arguments, stdin=reading, stdout=False)
    os.close(reading)
    terminal.read("standard input")
    os.write(writing, data)
    os.close(writing)
    text, _ = terminal.end()
    assert re.search(rf"\r\x1b\[Ktypedbytes {arguments[0]}: {note}[^\x1b]*\n(\r\x1b\[K|$)", text), text
    assert text.count("typedbytes ") == text.count("\r\x1b[Ktypedbytes ")


def test_progress_line():
    assert progress.line("x", 0, 100, 1.0) == "0 B, 0 B/s, 0:01: x"
    assert progress.line("x", 50, 100, 3700.0) == "50 B of 100 B, 50 %, 0 B/s, 1:01:40 left: x"
    assert progress._format_size(10**13) == "10000.0 GB"
