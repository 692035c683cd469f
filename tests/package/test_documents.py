"""The code of the documents runs, and the names that the guide gives as replacements are there."""

import os
import pathlib
import re
import sys

import pytest

import typedbytes as tb
from support.commands import good
from support.machine import NEEDS_CHECKOUT
from typedbytes.cli.registry import COMMANDS
from typedbytes.streaming import lib, testing

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
BLOCK_COUNTS = {
    "block-format.md": 3,
    "classes.md": 4,
    "format.md": 2,
    "migration.md": 3,
    "records.md": 8,
    "sequencefile.md": 5,
    "streaming.md": 8,
}
PLACES = {"streaming": tb.streaming, "sequencefile": tb.sequencefile, "local": tb.local, "testing": testing, "lib": lib}


@pytest.mark.parametrize("name", BLOCK_COUNTS)
def test_the_code_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / name).read_text(), re.S)
    assert len(blocks) == BLOCK_COUNTS[name]
    if name in ("classes.md", "migration.md", "records.md"):  # one guide, read in order
        blocks = ["\n".join(blocks)]
    for block in blocks:
        exec(block, {"__name__": "document"})


SOURCES = {".h", ".java", ".md", ".pxd", ".pxi", ".py", ".pyi", ".pyx", ".toml"}
NOT_OURS = {"build", ".git", ".hypothesis"}


def source_files():
    """Return the files of the project with lines to measure; built ones and environments are not entered."""
    found = []
    for folder, folders, names in os.walk(DOCS.parent):
        if "pyvenv.cfg" in names:
            folders.clear()
            continue
        folders[:] = sorted(set(folders) - NOT_OURS)
        found += [path for name in sorted(names) if (path := pathlib.Path(folder, name)).suffix in SOURCES]
    return found


FILES = source_files()
PAGES = [path for path in FILES if path.suffix == ".md"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(DOCS.parent).as_posix())
def test_lines_are_short(path):
    """Prose ends at 100 columns, longer links and words apart; code and output at 120; rows of tables anywhere."""
    is_code = False
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if re.match(r" *(```|~~~)", line):
            is_code = not is_code
        elif is_code:
            assert len(line) <= 120, (number, line)
        elif not re.match(r" *\|", line):
            assert len(line) <= 100 or len(line.split()) < 4 and len(line) <= 120, (number, line)


@pytest.mark.parametrize("suffix", sorted(SOURCES - {".md"}))
def test_lines_of_code_are_short(suffix):
    """The formatter leaves long comments and texts alone, and knows Python only."""
    long = [
        (path.relative_to(DOCS.parent).as_posix(), number)
        for path in FILES
        if path.suffix == suffix
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > 120
    ]
    assert long == []


def test_the_supported_pythons_are_said_once_and_rightly():
    root = DOCS.parent
    minors = re.findall(r'"Programming Language :: Python :: 3\.(\d+)"', (root / "pyproject.toml").read_text())
    for name in ("README.md", "docs/platforms.md"):
        assert (
            re.search(r"Python (3\.\d+ to 3\.\d+)", (root / name).read_text())[1] == f"3.{minors[0]} to 3.{minors[-1]}"
        ), name
    assert not re.search(r"3\.\d", (root / "SECURITY.md").read_text())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_of_the_command_names_it(name):
    assert re.search(rf"`{name}\b", (DOCS / "command.md").read_text())


@NEEDS_CHECKOUT
def test_the_pictures_show_the_results_of_today():
    sys.path.insert(0, str(DOCS))
    import pictures

    files = dict(pictures.drawn())
    kept = [name for name in files if "-dark" not in name or name == "speed-dark.svg"]
    assert (len(files), len(kept)) == (12, 7)
    for name in kept:
        assert (pictures.FOLDER / name).read_text() == files[name], "python docs/pictures.py"


def test_the_replacements_are_there():
    rows = re.findall(r"^\| `(.*)` \| (.*) \|$", (DOCS / "migration.md").read_text(), re.M)
    assert len(rows) == 25
    names = [pair for _, now in rows for pair in re.findall(r"`(\w+)\.(\w+)", now) if pair[0] in PLACES]
    assert len(names) == 22
    for place, name in names:
        assert hasattr(PLACES[place], name), (place, name)
    commands = {name for _, now in rows for name in re.findall(r"`(?:typedbytes )?(run|submit|to-\w+) ", now)}
    assert commands == {"run", "submit", "to-text", "to-json"}
    for command in commands:
        assert good(command, "--help")
