"""Files and folders that get their names when they are whole: what is on the disk by then, and what an error leaves.

Invariant: the order of the system calls is looked at, since no test can stop the machine.
"""

import os
import re
import subprocess
import sys

import pytest

from support.local_jobs import WORD_COUNT, write_script
from support.streaming_support import environment
from support.subprocess_runs import program
from typedbytes._base import atomic

CALLS = re.compile(r"^\d+ +(?:(fsync)\(\d+<(.*)>\)|(rename)\w*\((.*)\)|(mkdir)\w*\(\"(.*)\", .*\)) += 0$", re.M)
UNFINISHED, RESUMED = " <unfinished ...>", re.compile(r"<\.\.\. \w+ resumed>")


def whole_lines(log):
    """Return the lines of strace, each call where it ended: one that another process's interrupts is two lines."""
    begun = {}
    for line in log.splitlines():
        pid = line.split()[0]
        if line.endswith(UNFINISHED):
            begun[pid] = line[: -len(UNFINISHED)]
        elif resumed := RESUMED.search(line):
            yield begun.pop(pid) + line[resumed.end() :]
        else:
            yield line


def calls_of(folder, *words, **options):
    """Return the calls that put a command's output in place in this folder, its own: (name, path or paths)."""
    log = folder.parent / "calls"
    traced = [
        program("strace"), "-f", "-y", "-o", log, "-e", "trace=fsync,rename,renameat,renameat2,mkdir,mkdirat",
        sys.executable, "-m", "typedbytes", *words,
    ]  # fmt: skip
    subprocess.run(traced, cwd=folder, env=environment({"PYTHONDONTWRITEBYTECODE": "1"}), check=True, **options)
    lines = "\n".join(whole_lines(log.read_text()))
    calls = [(found[0] or found[2] or found[4], found[1] or found[3] or found[5]) for found in CALLS.findall(lines)]
    return [(name, re.sub(r"\.\d+\.\w{8}\.partial|-\w{16}", "", what)) for name, what in calls if str(folder) in what]


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "folder"
    made.mkdir()
    return made


@pytest.mark.parametrize(
    "words", [["cat"], ["to-json"], ["convert", "--to", "sequencefile", "--pairs"]], ids=lambda words: words[0]
)
def test_an_output_is_on_the_disk_before_it_has_its_name(folder, words):
    calls = calls_of(folder, *words, "-o", "out", input=b"\2\1\2\1")
    path = folder / "out"
    assert calls == [("fsync", f"{folder}/.out"), ("rename", f'"{folder}/.out", "{path}"'), ("fsync", str(folder))]


def test_a_bundle_is_on_the_disk_before_it_has_its_name(folder):
    calls = calls_of(folder, "bundle", "b.zip")
    assert calls[-3:] == [
        ("fsync", f"{folder}/.b.zip"),
        ("rename", f'"{folder}/.b.zip", "{folder}/b.zip"'),
        ("fsync", str(folder)),
    ]


def test_a_folder_of_partitions_is_on_the_disk_before_it_has_its_name(folder):
    calls = calls_of(folder, "partition", "-n", "2", "-o", "out", input=b"\2\1\2\2")
    parts = [("fsync", f"{folder}/.out/part-{number:05}") for number in (0, 1)]
    renaming = [("fsync", f"{folder}/.out"), ("rename", f'"{folder}/.out", "{folder}/out"'), ("fsync", str(folder))]
    assert calls[0] == ("mkdir", f"{folder}/.out")
    assert sorted(calls[1:3]) == parts
    assert calls[3:] == renaming


def test_a_job_is_on_the_disk_before_it_has_its_name(folder):
    script = write_script(folder, WORD_COUNT)
    (folder / "in.txt").write_text("a b\n")
    calls = calls_of(folder, "run", "-q", script, "in.txt", "-o", "out", "-r", "2")
    done = f"{folder}/.out/output"
    synced = [what for name, what in calls if name == "fsync"]
    for number in (0, 1):
        moved = next(
            i
            for i, (name, what) in enumerate(calls)
            if name == "rename" and what.endswith(f'"{done}/part-{number:05}"')
        )
        attempt = calls[moved][1].split('"')[1]
        assert ("fsync", attempt) in calls[:moved]
    last = calls[-4:]
    assert last == [
        ("fsync", done),
        ("mkdir", f"{folder}/out"),
        ("rename", f'"{done}", "{folder}/out"'),
        ("fsync", str(folder)),
    ]
    assert f"{done}/_SUCCESS" in synced


def test_an_output_folder_replaces_no_existing_folder(folder):
    for taken in ("file", "folder", "link"):
        {
            "file": lambda: (folder / "out").touch(),
            "folder": (folder / "out").mkdir,
            "link": lambda: (folder / "out").symlink_to("nowhere"),
        }[taken]()
        (folder / "new").mkdir()
        with pytest.raises(FileExistsError):
            atomic.name_folder(folder / "new", folder / "out")
        assert sorted(os.listdir(folder)) == ["new", "out"]
        (folder / "new").rmdir()
        (folder / "out").rmdir() if taken == "folder" else (folder / "out").unlink()


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_has_come_meanwhile_is_left(folder, monkeypatch, has_links):
    if not has_links:
        monkeypatch.setattr(
            os, "link", lambda *names: (_ for _ in ()).throw(PermissionError(1, "Operation not permitted"))
        )
    with pytest.raises(FileExistsError), atomic.atomic_file(folder / "out", overwrite=False) as file, file:
        (folder / "out").write_text("theirs")
    assert (os.listdir(folder), (folder / "out").read_text()) == (["out"], "theirs")
    with atomic.atomic_file(folder / "ours", overwrite=False) as file, file:
        file.write(b"ours")
    assert (sorted(os.listdir(folder)), (folder / "ours").read_text()) == (["ours", "out"], "ours")


def test_a_name_that_was_claimed_in_vain_is_given_back(folder, monkeypatch):
    def refuse(*names):
        raise OSError(28, "No space left on device")

    (folder / "new").mkdir()
    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(OSError, match="No space left"):
        atomic.name_folder(folder / "new", folder / "out")
    assert os.listdir(folder) == ["new"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_what_was_there(folder, error):
    (folder / "out").write_text("before")
    with pytest.raises(error), atomic.atomic_file(folder / "out") as file, file:
        file.write(b"half")
        raise error
    with pytest.raises(error), atomic.atomic_folder(folder / "parts") as parts:
        (folder / parts / "part-0").touch()
        raise error
    assert os.listdir(folder) == ["out"]
    assert (folder / "out").read_text() == "before"
    assert not atomic._unfinished


def test_what_is_unfinished_is_removed_at_last(folder, monkeypatch):
    # as when a signal comes while an error is cleaned up
    monkeypatch.setattr(atomic, "_remove", lambda partial: (_ for _ in ()).throw(KeyboardInterrupt))
    for whole, name in ((atomic.atomic_file, "out"), (atomic.atomic_folder, "parts")):
        with pytest.raises(KeyboardInterrupt), whole(folder / name) as made:
            if name == "out":
                made.close()
            raise ValueError
    assert len(os.listdir(folder)) == 2
    monkeypatch.undo()
    atomic.remove_unfinished()
    assert os.listdir(folder) == []


def test_a_folder_that_cannot_be_synced_is_no_error(folder):
    atomic.sync("/proc/self")
    with pytest.raises(FileNotFoundError):
        atomic.sync(folder / "nothing")
