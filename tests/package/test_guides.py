"""README, tutorial, guides and the command's page: what they say to type runs, and prints what they show."""

import doctest
import os
import pathlib
import re
import subprocess
import sys

import pytest

from support.streaming_support import environment
from typedbytes import sequencefile

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
GUIDES = (each.relative_to(DOCS).as_posix() for each in DOCS.glob("guides/*.md") if each.name != "index.md")
PAGES = ["../README.md", "tutorial.md", "command.md", *sorted(GUIDES)]


MRJOB_SCRIPT = """
from mrjob.job import MRJob

class Count(MRJob):
    def mapper(self, _, line):
        for word in line.split():
            yield word, 1

    def reducer(self, word, counts):
        yield word, sum(counts)

if __name__ == "__main__":
    Count.run()
"""


def run_python(block, folder, names):
    """Save a block that begins with its file's name; run any other as a script in `folder`, after those before."""
    script = re.match(r"# (\w+\.py)\n", block)
    if script:
        (folder / script[1]).write_text(block)
    else:
        exec(block, names)


def run_console(block, folder):
    """Run what follows each `$`, with its lines of `>`, by a shell in `folder`; it prints what the block shows."""
    bin_folder = os.path.dirname(sys.executable)
    environ = environment({"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"})
    for command in re.split(r"^\$ ", block, flags=re.M)[1:]:
        words, *rest = command.splitlines()
        more = [line[2:] for line in rest if re.match(">( |$)", line)]
        expected = "".join(f"{line}\n" for line in rest[len(more) :])
        done = subprocess.run(
            ["bash", "-c", "\n".join([words, *more])], cwd=folder, env=environ, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=True,
        )  # fmt: skip
        assert doctest.OutputChecker().check_output(expected, done.stdout, doctest.ELLIPSIS), (words, done.stdout)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_does_what_it_says(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    if "README" in name:  # which speaks of what the reader has
        (tmp_path / "mr_count.py").write_text(MRJOB_SCRIPT)
        (tmp_path / "counts").mkdir()
        with sequencefile.open(tmp_path / "counts/part-00000", "w") as writer:
            writer.writes([("be", 2), ("or", 1), ("to", 2), ("not", 1)])
    names = {"__name__": "page"}
    blocks = re.findall(r"^```(python|console)\n(.*?)^```$", (DOCS / name).read_text(), re.S | re.M)
    assert blocks
    for language, block in blocks:
        run_python(block, tmp_path, names) if language == "python" else run_console(block, tmp_path)
