"""The progress of a job on a terminal: one line with the rate and the time left, with a bar by rich."""

import os
import re
import subprocess
import sys

import pytest

from support.local_jobs import write_script
from support.streaming_support import environment
from support.subprocess_runs import run_on_terminal

AT_ONCE = (
    "import sys; from typedbytes.cli import main; from typedbytes.cli._input import progress; "
    "progress.DELAY = progress.INTERVAL = 0.05; sys.exit(main())"
)
WITHOUT_RICH = f"import sys; sys.modules['rich'] = None; {AT_ONCE}"
SLOW = """
    import time, sys
    from typedbytes import streaming

    def mapper(offset, line):
        if line.endswith("00"):
            print("at the start of", offset, file=sys.stderr)
            time.sleep(0.05)
        yield line, 1

    streaming.run(mapper)
"""


def on_terminal(words, folder, code=WITHOUT_RICH, **variables):
    """Run the command with a terminal as its standard error, and return what that got."""
    status, said = run_on_terminal(
        [sys.executable, "-c", code, *map(str, words)],
        env={**environment(), "TERM": "xterm", **variables},
        cwd=folder,
        stdout=subprocess.DEVNULL,
    )
    return status, said.decode()


@pytest.fixture
def job(tmp_path):
    (tmp_path / "in.txt").write_text("".join(f"{number % 1000:03}\n" for number in range(3000)))
    return write_script(tmp_path, SLOW)


def test_a_line_with_rate_and_time_left(job, tmp_path):
    words = ["run", job, "in.txt", "-o", "out", "--split-size", "4000", "--processes", "1"]
    code, said = on_terminal(words, tmp_path)
    assert code == 0, said
    shown = [piece for piece in re.split(r"\r\x1b\[K", said) if piece.endswith(": map")]
    assert any(re.fullmatch(r"\d\.\d kB of 12\.0 kB, \d+ %, [\d.]+ k?B/s, \d:\d\d left: map", piece) for piece in shown)
    # what a task says begins a line, and is whole
    assert len(re.findall(r"(?m)(?:^|\x1b\[K)at the start of \d+\r$", said)) == 30
    assert re.search(r"\x1b\[Ktypedbytes run: done|\ntypedbytes run: done", said)


def test_a_bar_by_rich(job, tmp_path):
    pytest.importorskip("rich")
    words = ["run", job, "in.txt", "-o", "out", "--split-size", "4000", "--processes", "1"]
    code, said = on_terminal(words, tmp_path, AT_ONCE)
    assert code == 0, said
    assert re.search(r"\r\x1b\[K[^ \r]*\u2501[^ \r]* \d\.\d kB of 12\.0 kB, [^\r]* left: map\r", said), said


def test_a_job_that_fails_leaves_no_line(job, tmp_path):
    job.write_text(job.read_text().replace("yield line, 1", "1 / 0"))
    code, said = on_terminal(["run", job, "in.txt", "-o", "out", "--split-size", "4000"], tmp_path)
    assert code == 1 and "ZeroDivisionError" in said
    assert not re.search(r"left: map[^\r]*typedbytes", said)
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


def test_a_terminal_without_a_cursor_gets_lines(job, tmp_path):
    code, said = on_terminal(["run", job, "in.txt", "-o", "out"], tmp_path, TERM="dumb")
    assert code == 0 and "\x1b" not in said
