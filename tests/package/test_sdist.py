"""The source archive: the same bytes each time, small, and made, like the metadata, without the compiler of Cython."""

import email
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile
from contextlib import contextmanager, nullcontext

import pytest
from markdown_it import MarkdownIt

from support.hadoop_support import jars
from support.machine import NEEDS_CHECKOUT

pytestmark = pytest.mark.checkout

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run_setup(*arguments):
    """Run setup.py in the repository."""
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert done.returncode == 0, done.stderr


@contextmanager
def files_that_git_ignores():
    """Have one file of each kind that the build of the documents makes beside its sources."""
    patterns = re.findall(r"^/(docs/.*[^/\n])$", (ROOT / ".gitignore").read_text(), re.M)
    assert patterns
    made = [path for path in (ROOT / pattern.replace("*", "made") for pattern in patterns) if not path.exists()]
    try:
        for path in made:
            path.touch()
        yield
    finally:
        for path in made:
            path.unlink()


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    found = []
    for number in range(2):
        folder = tmp_path_factory.mktemp(f"sdist{number}")
        with jars.alone(ROOT / "setup.py"):  # it puts the archive's files together in the root
            with files_that_git_ignores() if number else nullcontext():
                run_setup("egg_info", f"--egg-base={folder}", "sdist", f"--dist-dir={folder / 'dist'}")
        found += (folder / "dist").iterdir()
    return found


@NEEDS_CHECKOUT
def test_two_source_archives_are_equal_whatever_was_made_meanwhile(archives):
    first, second = archives
    assert first.name == second.name and first.read_bytes() == second.read_bytes()


@NEEDS_CHECKOUT
def test_a_source_archive_is_small_and_has_what_a_build_needs(archives):
    assert archives[0].stat().st_size < 3 << 20
    with tarfile.open(archives[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    listed = subprocess.run(
        ["git", "ls-files", "src", "typedbytes", "tests", "examples"], cwd=ROOT, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert not set(listed.stdout.split()) - names
    assert {"setup.py", "pyproject.toml", "LICENSE", "README.md"} <= names


def test_files_of_a_wheel_have_one_time_wherever_it_is_built(tmp_path, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    run_setup(
        "egg_info", f"--egg-base={tmp_path}", "bdist_wheel", "--skip-build", f"--bdist-dir={tmp_path / 'files'}",
        f"--dist-dir={tmp_path}",
    )  # fmt: skip
    (path,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        assert {item.date_time for item in wheel.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_metadata_needs_no_cython(tmp_path, monkeypatch):
    (tmp_path / "Cython.py").write_text("raise ImportError")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    run_setup("egg_info", f"--egg-base={tmp_path}")
    assert "Name: typedbytes" in (tmp_path / "typedbytes.egg-info" / "PKG-INFO").read_text()


@NEEDS_CHECKOUT
def test_the_links_of_the_description_work_elsewhere(tmp_path):
    """A package index shows the README beside no other file, and gives its headings no anchors."""
    run_setup("egg_info", f"--egg-base={tmp_path}")
    metadata = email.message_from_string((tmp_path / "typedbytes.egg-info" / "PKG-INFO").read_text("utf-8"))
    assert metadata["Description-Content-Type"] == "text/markdown"
    payload = metadata.get_payload()
    text = MarkdownIt("commonmark").enable("table").parse(payload)
    links = [part.attrs["href"] for token in text for part in token.children or () if part.type == "link_open"]
    assert len(links) == len(re.findall(r"\]\(", (ROOT / "README.md").read_text("utf-8"))) > 20
    files = f"https://github.com/typedbytes/typedbytes/blob/v{metadata['Version']}/"
    site = re.search(r'^Documentation = "(.*)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)[1]
    assert links.count(site) == 1
    for link in links:
        if link == site:
            continue
        assert link.startswith(files)
        path, _, anchor = link[len(files) :].partition("#")
        assert (ROOT / path).exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.*)$", (ROOT / path).read_text("utf-8"), re.M)
            assert anchor in [heading.lower().replace(" ", "-") for heading in headings], link
    pictures = re.findall(r'\bsrc(?:set)?="([^"]*)"', payload)
    assert len(pictures) == 2
    for picture in pictures:
        assert picture.startswith(files.replace("/blob/", "/raw/")) and (ROOT / picture[len(files) - 1 :]).exists()


@pytest.mark.parametrize("compiler", ["cc", "/nonexistent/cc", "refuses"])
def test_without_a_compiler_a_build_ends_before_the_translation(compiler, tmp_path, monkeypatch):
    (tmp_path / "Cython.py").write_text("raise ImportError")
    refuses = tmp_path / "refuses"  # as for a header that is missing
    refuses.write_text("#!/bin/sh\nexit 1\n")
    refuses.chmod(0o755)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CC", str(refuses) if compiler == "refuses" else compiler)
    command = [sys.executable, "setup.py", "-q", "build", f"--build-base={tmp_path / 'build'}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert last.startswith(
        "error: building typedbytes needs a C compiler, named by CC or the one that Python was built with, "
        "and Python's headers; "
    )
