"""Copies of the sources, built with other switches, under build/; the checkout's own extensions stay.

Here: copying and building. Not here: what is run. Invariant: a copy has what git knows and what it does not ignore; a
copy that is up to date is built again only where a source has changed.
"""

import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


def source_files():
    """Return the files of the checkout, relative to its root."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    return [pathlib.Path(name) for name in listed if name and (ROOT / name).is_file()]


def copy_sources(folder):
    """Bring a copy of the sources up to date, touching only what differs; return its path."""
    folder = pathlib.Path(folder)
    for name in source_files():
        ours, theirs = ROOT / name, folder / name
        if not theirs.exists() or ours.read_bytes() != theirs.read_bytes():
            theirs.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ours, theirs)
    return folder


def take_translated(folder):
    """Give a copy the C of the checkout, if that is of its sources: no switch changes it, and making it takes long."""
    newest = max((ROOT / name).stat().st_mtime for name in source_files() if name.parts[0] in ("src", "setup.py"))
    for translated in (BUILD / "cython").rglob("*.c"):
        there = folder / translated.relative_to(ROOT)
        if translated.stat().st_mtime > newest and not there.exists():
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(translated, there)  # newer than the sources of the copy


def take_built(folder):
    """Give a copy, its sources there, the modules of the checkout but the core, where no test needs the switch."""
    for module in ROOT.glob("typedbytes/*/_native.*.so"):
        shutil.copyfile(module, folder / module.relative_to(ROOT))


def build(folder, python=sys.executable, **environment):
    """Build the extensions of a copy in place; switches and compilers go as environment variables."""
    command = [python, "setup.py", "--quiet", "build_ext", "--build-lib=."]  # --inplace builds what is there again
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"building {folder} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")


def copy_and_build(name, python=sys.executable, core_only=False, **environment):
    """Return a copy under build/ with these switches, built; or with its core built, and other modules as they are."""
    folder = copy_sources(BUILD / name)
    take_translated(folder)
    if core_only:
        take_built(folder)
    build(folder, python, **environment)
    return folder


def environment_for(folder, **environment):
    """Return the environment in which Python imports the copy, and nothing of the checkout."""
    return {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{folder / 'tests'}", **environment}


def run(folder, *command, **environment):
    """Run a command in a copy, its output to ours, and return its exit code."""
    return subprocess.run(
        [str(word) for word in command], cwd=folder, env=environment_for(folder, **environment)
    ).returncode
