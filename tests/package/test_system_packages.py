"""What the tests need beside Python is installed by .ci/system-packages, or named by it before anything is done."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from support.subprocess_runs import program

ROOT = pathlib.Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.once

#: Of packages that no Debian or Ubuntu is without: util-linux and libc-bin.
ESSENTIAL = {"unshare", "localedef"}

#: What comes with a package of another name: binutils with gcc.
COMES_WITH = {"readelf": "gcc"}


def named_where_nothing_is(purpose, folder):
    """Return what system-packages wants where there is Python alone, and no package manager."""
    for name in ("sh", "dirname"):
        (folder / name).symlink_to(shutil.which(name))
    done = subprocess.run(
        [ROOT / ".ci/system-packages", purpose, sys.executable],
        env={"PATH": str(folder)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    message, names = line.split(": ")
    assert message == "install these first, by the names that they have on this system"
    return set(names.split())


def test_every_program_that_the_tests_need_is_named(tmp_path):
    """The smallest Debian 13 has no mount."""
    needed = {
        name
        for path in (ROOT / "tests").rglob("*.py")
        for name in re.findall(r'\bprogram\("(\w+)"\)', path.read_text())
    }
    assert {"mount", "strace"} <= needed
    packages = {COMES_WITH.get(name, name) for name in needed - ESSENTIAL}
    assert packages | {"gcc", "libc6-dev", "maven"} <= named_where_nothing_is("test", tmp_path)


def test_a_build_needs_no_more_than_a_compiler(tmp_path):
    assert named_where_nothing_is("build", tmp_path) == {"gcc", "libc6-dev"}


def test_a_program_that_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="strace was not found: make system-packages installs it"):
        program("strace")
