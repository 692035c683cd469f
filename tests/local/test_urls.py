"""Jobs whose inputs and outputs are at URLs: in memory, and on a file system that fails in the words of HDFS.

Here: the same results as by paths, and one line for each error. Not here: stores with servers of their own.
"""

import gzip
import os

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from support.commands import bad, good
from typedbytes import local, sequencefile

LINES = [f"line {number} of a text" for number in range(3000)]
TEXT = "".join(f"{line}\n" for line in LINES).encode()
STACK = "File does not exist: /x\n" + "".join(f"\tat org.apache.Server.m{n}(Server.java:{n})\n" for n in range(9))


@pytest.fixture
def memory():
    fs = fsspec.filesystem("memory")
    fs.store.clear()
    fs.pseudo_dirs[:] = [""]
    yield fs
    fs.store.clear()


class Stack(MemoryFileSystem):
    """Files that are there, until they are read or written."""

    protocol = "stack"
    store: dict = {}
    pseudo_dirs = [""]
    reads_fail = writes_fail = False

    @classmethod
    def _strip_protocol(cls, path):
        return f"/{path.removeprefix('stack://').strip('/')}"

    def _open(self, path, mode="rb", **how):
        if self.reads_fail if mode == "rb" else self.writes_fail:
            raise RuntimeError(STACK)
        return super()._open(path, mode, **how)


@pytest.fixture
def stack():
    fsspec.register_implementation("stack", Stack, clobber=True)
    fs = fsspec.filesystem("stack")
    fs.store.clear()
    fs.pseudo_dirs[:] = [""]
    fs.reads_fail = fs.writes_fail = False
    fs.pipe("/in/a.txt", TEXT)
    return fs


def run(inputs, output, **how):
    return local.run("cat", **{"inputs": inputs, "output": output, "quiet": True, **how})


def lines_of(output):
    return [line for _, line in sequencefile.read(output)]


def test_files_folders_and_patterns_at_urls_are_inputs(memory, tmp_path):
    memory.pipe({"/in/a.txt": TEXT, "/in/b.gz": gzip.compress(b"more\n"), "/in/_hidden": b"no\n"})
    cases = {
        "memory://in/a.txt": LINES, "memory://in": [*LINES, "more"], "memory://in/*": [*LINES, "more"],
        "memory://in/b.*": ["more"],
    }  # fmt: skip
    for number, (url, expected) in enumerate(cases.items()):
        result = run(url, tmp_path / str(number), split_size=20_000)
        assert sorted(lines_of(tmp_path / str(number))) == sorted(expected)
        if url.endswith("a.txt"):
            assert result.nmaps == 3  # splits as of a path


def test_sequence_files_and_pairs_at_urls_are_inputs(memory, tmp_path):
    with sequencefile.Writer("memory://in/part-00000", sync_interval=1000) as writer:
        writer.writes((n, f"value {n}") for n in range(2000))
    memory.pipe("/in.tb", bytes.fromhex("0300000001070000000161"))
    assert run("memory://in", tmp_path / "a", split_size=10_000).nmaps > 3
    assert sorted(sequencefile.read(tmp_path / "a")) == [(n, f"value {n}") for n in range(2000)]
    run(["memory://in.tb"], tmp_path / "b")
    assert list(sequencefile.read(tmp_path / "b")) == [(1, "a")]


def test_an_output_at_a_url_is_complete_when_its_mark_is_there(memory, tmp_path):
    (tmp_path / "in.txt").write_bytes(TEXT)
    before = sorted(os.listdir(tmp_path))
    result = run(tmp_path / "in.txt", "memory://jobs/out", tmp=tmp_path)
    assert result.output == "memory://jobs/out" and result.records_out == 3000
    assert sorted(memory.find("/jobs/out")) == ["/jobs/out/_SUCCESS", "/jobs/out/part-00000"]
    assert lines_of("memory://jobs/out") == LINES
    assert sorted(os.listdir(tmp_path)) == before
    with pytest.raises(local.OutputError, match="the output memory://jobs/out already exists"):
        run(tmp_path / "in.txt", "memory://jobs/out")
    memory.pipe("/jobs/out/part-00009", b"of the earlier one")
    run("memory://jobs/out/part-00000", "memory://jobs/other/deep")
    run("memory://jobs/other/deep", "memory://jobs/out", overwrite=True)
    assert "/jobs/out/part-00009" not in memory.find("/jobs/out") and lines_of("memory://jobs/out") == LINES
    memory.rm_file("/jobs/out/_SUCCESS")
    with pytest.raises(local.OutputError, match="is not the output of a job that has succeeded"):
        run(tmp_path / "in.txt", "memory://jobs/out", overwrite=True)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("memory://none", "no such file: memory://none"),
        ("memory://none/*", "no such file: memory://none/[*]"),
        ("nothing://in", "nothing://in: Protocol not known: nothing"),
    ],
)
def test_an_input_that_is_not_there_is_one_line(url, message, memory, tmp_path):
    with pytest.raises(local.InputError, match=f"^{message}") as caught:
        run(url, tmp_path / "out")
    assert "\n" not in str(caught.value) and not (tmp_path / "out").exists()


def test_errors_of_a_file_system_are_one_line(stack, tmp_path):
    stack.reads_fail = True
    with pytest.raises(local.InputError) as caught:
        run("stack://in/a.txt", tmp_path / "out")
    assert str(caught.value) == "stack://in/a.txt: File does not exist: /x"
    stack.reads_fail, stack.writes_fail = False, True
    with pytest.raises(local.OutputError) as caught:
        run("stack://in/a.txt", "stack://out", tmp=tmp_path)
    assert str(caught.value) == "stack://out: File does not exist: /x"
    assert not stack.exists("/out") and os.listdir(tmp_path) == []
    with pytest.raises(local.OutputError, match="there is no folder"):
        run("stack://in/a.txt", "stack://out", tmp=tmp_path / "none")


def test_an_output_that_cannot_be_written_may_be_kept_here(stack, tmp_path):
    stack.writes_fail = True
    with pytest.raises(local.OutputError):
        run("stack://in/a.txt", "stack://out", tmp=tmp_path, keep_failed=True)
    (kept,) = os.listdir(tmp_path)
    assert lines_of(tmp_path / kept / "output") == LINES


def test_a_file_that_fails_in_a_task_is_one_line(stack, tmp_path, monkeypatch):
    from typedbytes.jobs.tasks import inputs

    def failing(path):
        raise RuntimeError(STACK)

    monkeypatch.setattr(inputs.remote, "opened", failing)
    with pytest.raises(local.JobError, match="reading the input failed: File does not exist: /x") as caught:
        run("stack://in/a.txt", tmp_path / "out")
    assert "Server.java" not in str(caught.value)


def test_the_command_takes_urls(tmp_path):
    (tmp_path / "in.txt").write_bytes(TEXT)
    url = f"file://{tmp_path}"
    good("run", "--mapper", "cat", f"{url}/in.txt", "-o", f"{url}/out", "--quiet")
    assert (tmp_path / "out" / "part-00000").read_bytes().replace(b"\t\n", b"\n") == TEXT
    assert (tmp_path / "out" / "_SUCCESS").exists()
    message = bad(66, "run", "--mapper", "cat", f"{url}/none.txt", "-o", f"{url}/other", "--quiet")[1]
    assert message == f"no such file: {url}/none.txt"
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "out"]
