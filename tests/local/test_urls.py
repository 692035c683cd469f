"""Jobs whose inputs and outputs are at URLs: in memory, and on a file system that fails in the words of HDFS.

Here: the same results as by paths, and one line for each error. Not here: stores with servers of their own.
"""

import errno
import gzip
import io
import os

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from support.commands import bad, good
from typedbytes import local, sequencefile
from typedbytes._base.locations import opened, opened_to_recognise
from typedbytes.cli import main

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
    reads_fail = False
    unwritable = None  # what is in the paths that cannot be written

    @classmethod
    def _strip_protocol(cls, path):
        return f"/{path.removeprefix('stack://').strip('/')}"

    def _open(self, path, mode="rb", **how):
        if self.reads_fail if mode == "rb" else self.unwritable is not None and self.unwritable in path:
            raise RuntimeError(STACK)
        return super()._open(path, mode, **how)


@pytest.fixture
def stack():
    fsspec.register_implementation("stack", Stack, clobber=True)
    fs = fsspec.filesystem("stack")
    fs.store.clear()
    fs.pseudo_dirs[:] = [""]
    fs.reads_fail, fs.unwritable = False, None
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


def test_readers_of_a_file_in_memory_have_their_own_offsets(memory):
    """As the tasks have that read its splits at the same time."""
    memory.pipe("/in/a.txt", TEXT)
    files = [opened("memory://in/a.txt", "r")[0], opened_to_recognise("memory://in/a.txt")]
    files[0].seek(1000)
    files.append(opened("memory://in/a.txt", "r")[0])
    assert [file.tell() for file in files] == [1000, 0, 0]
    assert [file.read(10) for file in files] == [TEXT[1000:1010], TEXT[:10], TEXT[:10]]


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
    stack.reads_fail, stack.unwritable = False, ""
    with pytest.raises(local.OutputError) as caught:
        run("stack://in/a.txt", "stack://out", tmp=tmp_path)
    assert str(caught.value) == "stack://out: File does not exist: /x"
    assert not stack.exists("/out") and os.listdir(tmp_path) == []
    stack.unwritable = None
    with pytest.raises(local.OutputError, match="there is no folder"):
        run("stack://in/a.txt", "stack://out", tmp=tmp_path / "none")


@pytest.mark.parametrize("is_earlier", [False, True])
def test_a_quota_that_ends_the_writing_is_an_error_of_writing(stack, tmp_path, monkeypatch, capfd, is_earlier):
    """It was the exit code of a command line that is wrong."""

    def full(self, path, mode="rb", **how):
        if mode != "rb" and path.endswith("/_SUCCESS" if is_earlier else "/part-00000"):
            raise OSError(errno.EDQUOT, "the quota of /out is exceeded", path)
        return MemoryFileSystem._open(self, path, mode, **how)

    if is_earlier:
        stack.pipe({"/out/part-00000": b"earlier", "/out/_SUCCESS": b""})
    monkeypatch.setattr(Stack, "_open", full)
    words = ["run", "--mapper", "cat", "stack://in/a.txt", "-o", "stack://out", "--quiet", "--overwrite"]
    assert main(words) == 74
    message = capfd.readouterr().err
    assert message.startswith("typedbytes run: stack://out: the quota of /out is exceeded") and message.count("\n") == 1
    assert stack.exists("/out/part-00000") is is_earlier


def test_an_output_that_cannot_be_written_may_be_kept_here(stack, tmp_path):
    stack.unwritable = "part-"
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


@pytest.fixture
def earlier(stack):
    """An output that is to be replaced, and what is at the URL."""
    stack.pipe({"/out/part-00000": b"earlier", "/out/_SUCCESS": b""})
    return dict.fromkeys(stack.find("/"))


def test_an_earlier_output_is_there_until_the_new_one_is_copied(stack, earlier, tmp_path):
    stack.unwritable = "/part-"
    with pytest.raises(local.OutputError, match="^stack://out: File does not exist: /x$"):
        run("stack://in/a.txt", "stack://out", overwrite=True)
    assert stack.cat("/out/part-00000") == b"earlier" and stack.find("/") == [*earlier]
    stack.unwritable = "/_SUCCESS"
    message = "^stack://out: File.*; the earlier output is removed, and the new one is in stack://out, complete but for"
    with pytest.raises(local.OutputError, match=message):
        run("stack://in/a.txt", "stack://out", overwrite=True)
    assert lines_of("stack://out/part-00000") == LINES and not stack.exists("/out/_SUCCESS")


def test_an_earlier_output_that_is_removed_is_not_lost_with_the_new_one(stack, earlier, monkeypatch):
    def no_move(self, *paths, **how):
        raise RuntimeError(STACK)

    monkeypatch.setattr(Stack, "mv", no_move)
    with pytest.raises(local.OutputError, match="^stack://out: File does not exist: /x; the earlier") as caught:
        run("stack://in/a.txt", "stack://out", overwrite=True)
    where = str(caught.value).partition("the new one is in ")[2].partition(",")[0]
    assert lines_of(f"{where}/part-00000") == LINES


@pytest.mark.parametrize("overwrite", [False, True])
def test_an_output_that_appears_while_the_job_runs_is_left_alone(memory, tmp_path, overwrite):
    def mapper(key, value):
        memory.pipe("/out/theirs", b"theirs")
        yield key, value

    message = "is not the output of a job that has succeeded" if overwrite else "already exists"
    with pytest.raises(local.OutputError, match=message):
        local.run(mapper, inputs=[(0, "a")], output="memory://out", overwrite=overwrite, inline=True, quiet=True)
    assert memory.find("/") == ["/out/theirs"]


def test_what_appears_while_an_output_is_copied_is_left_alone(stack, monkeypatch):
    real = Stack.makedirs

    def joined(self, path, exist_ok=False):
        real(self, path, exist_ok)
        self.pipe("/out/theirs", b"theirs")

    monkeypatch.setattr(Stack, "makedirs", joined)
    stack.unwritable = "_SUCCESS"
    with pytest.raises(local.OutputError):
        run("stack://in/a.txt", "stack://out")
    assert stack.find("/out") == ["/out/theirs"]


def test_a_file_system_that_is_only_read_is_found_before_the_job(stack, monkeypatch, tmp_path):
    def only_read(self, path, mode="rb", **how):
        if mode != "rb":
            raise NotImplementedError
        return MemoryFileSystem._open(self, path, mode, **how)

    monkeypatch.setattr(Stack, "_open", only_read)
    with pytest.raises(
        local.OutputError, match="^stack://out: nothing can be written there, its file system is read-only"
    ):
        run("stack://none", "stack://out")


def test_nothing_is_left_where_the_folders_of_an_output_were_missing(tmp_path):
    with pytest.raises(local.InputError):
        run(tmp_path / "none", f"file://{tmp_path}/deep/deeper/out")
    assert os.listdir(tmp_path) == []


class OfUnknownLength(MemoryFileSystem):
    """Files that are only read from the start to the end, as a web server without ranges has them."""

    protocol = "unknown"
    nbytes: int | None = None  # what the server says

    @classmethod
    def _strip_protocol(cls, path):
        return f"/{path.removeprefix('unknown://').strip('/')}"

    def size(self, path):
        return self.nbytes

    def _open(self, path, mode="rb", **how):
        return Stream()


class Stream(io.BufferedReader):
    def __init__(self):
        super().__init__(io.BytesIO(TEXT))

    def seek(self, offset, whence=0):
        if offset != self.tell() or whence:
            raise ValueError("Cannot seek streaming HTTP file")
        return offset


@pytest.mark.parametrize("nbytes", [None, len(TEXT)])
def test_a_file_that_cannot_be_sought_in_is_one_split(memory, tmp_path, monkeypatch, nbytes):
    fsspec.register_implementation("unknown", OfUnknownLength, clobber=True)
    monkeypatch.setattr(OfUnknownLength, "nbytes", nbytes)
    memory.pipe("/a.txt", TEXT)
    assert run("unknown://a.txt", tmp_path / "lines", split_size=10_000).nmaps == 1
    assert lines_of(tmp_path / "lines") == LINES
    run("unknown://a.txt", tmp_path / "whole", input_format="file")
    assert list(sequencefile.read(tmp_path / "whole")) == [("unknown://a.txt", TEXT)]


def test_nothing_is_kept_of_a_job_that_has_not_begun(tmp_path, memory):
    (tmp_path / "in.txt").write_text("a line\n")
    with pytest.raises(local.OptionError):
        local.run(
            ["cat"], inputs=tmp_path / "in.txt", output="memory://out", output_format="nope", keep_failed=True,
            tmp=tmp_path, quiet=True,
        )  # fmt: skip
    assert os.listdir(tmp_path) == ["in.txt"]
