"""Outputs: files, pipes, descriptors and stdout, and what cannot be written."""

import os
import shlex
import subprocess
import sys

import pytest

import typedbytes as tb
from support.commands import COMMAND, FILTERS, LINES, ONE, STREAM, TWO, bad, good
from support.subprocess_runs import SECONDS
from typedbytes.cli import main
from typedbytes.cli.registry import COMMANDS

pytestmark = [pytest.mark.oldest_python, pytest.mark.quick]


def test_an_output_is_replaced_when_all_is_well(file, tmp_path):
    out = tmp_path / "out.tb"
    assert good("cat", "-o", str(out), stdin=ONE) == b""
    assert out.read_bytes() == ONE
    out.chmod(0o640)
    bad(65, "cat", "-o", str(out), stdin=TWO + b"\x0e")
    assert out.read_bytes() == ONE and os.listdir(tmp_path) == ["out.tb"]
    link = tmp_path / "link.tb"
    link.symlink_to(out)
    good("cat", "--output", str(link), str(out), "-", stdin=TWO)  # its own input
    assert out.read_bytes() == ONE + TWO and link.is_symlink()
    assert out.stat().st_mode & 0o777 == 0o640
    assert good("-o", "-", "cat", str(out)) == ONE + TWO
    assert bad(74, "cat", "-o", str(tmp_path / "no/out"))[1].endswith("no/out: No such file or directory")
    assert bad(74, "cat", "-o", "/dev/full", stdin=ONE)[1] == "/dev/full: No space left on device"
    good("count", "-o", f"file://{tmp_path}/count", str(out))
    assert (tmp_path / "count").read_bytes() == b"2\n"
    bad(65, "cat", "-o", f"file://{tmp_path}/url", stdin=TWO + b"\x0e")
    assert sorted(os.listdir(tmp_path)) == ["count", "link.tb", "out.tb"]


# fsspec's files in memory stay open
@pytest.mark.filterwarnings("ignore:Exception ignored while finalizing file:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("form", ["sequencefile", "typedbytes", "json"])
def test_a_name_that_ends_in_a_slash_is_not_one_of_a_file(form, file, tmp_path):
    """The slash was dropped, where a folder was meant."""
    path = file(tb.dumps(1))
    message = bad(64, "convert", "--to", form, path, "-o", f"{tmp_path}/out/")[1]
    assert message == f"-o {tmp_path}/out/: {form} is one file; a folder is for arrow, parquet, csv, tsv"
    message = bad(64, "cat", path, "-o", f"{tmp_path}/out/")[1]
    assert message == f"{tmp_path}/out/: the name of a file does not end in a slash"
    assert not (tmp_path / "out").exists()


def test_an_output_where_names_must_be_free(monkeypatch, file, capfd):
    """HDFS renames to no name that is taken; over HTTP it only says so, and fsspec does not listen."""
    from fsspec.implementations.memory import MemoryFileSystem

    class WebHDFS(MemoryFileSystem):
        protocol, store, cachable, can_rename = "webhdfs", {}, False, True

        @classmethod
        def _strip_protocol(cls, path):
            return path.removeprefix("webhdfs:/")

        def _open(self, path, mode="rb", autocommit=True, **how):
            if autocommit:
                return super()._open(path, mode, **how)
            file = super()._open("/temporary", mode, **how)
            self.store["/temporary"] = file
            file.commit = lambda: self.mv("/temporary", path)
            file.discard = lambda: self.rm_file("/temporary")
            return file

        def mv(self, old, new, **how):
            if self.can_rename and new not in self.store:
                self.store[new] = self.store.pop(old)

    monkeypatch.setitem(sys.modules["fsspec.registry"]._registry, "webhdfs", WebHDFS)
    for data in (ONE, TWO):
        assert main(["cat", "-o", "webhdfs://out", file(data)]) == 0
        assert {name: each.getvalue() for name, each in WebHDFS.store.items()} == {"/out": data}
    assert main(["cat", "-o", "webhdfs://out", file(b"\x0e")]) == 65 and list(WebHDFS.store) == ["/out"]
    capfd.readouterr()
    WebHDFS.can_rename = False
    assert main(["cat", "-o", "webhdfs://new", file(ONE)]) == 74
    assert "webhdfs://new: " in capfd.readouterr().err and list(WebHDFS.store) == ["/out"]


def test_a_pipe_as_output(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen([*COMMAND, "cat", "-o", str(fifo)], stdin=subprocess.PIPE) as process:
        process.stdin.write(STREAM)
        process.stdin.close()
        assert fifo.read_bytes() == STREAM
        assert process.wait(SECONDS) == 0
    assert fifo.is_fifo()


OTHERS = [["--help"], ["--version"], ["cat", "-h"], ["man"], ["completion", "bash"], ["cat", "-o", "/dev/stdout"]]


@pytest.mark.parametrize("arguments", FILTERS + OTHERS, ids=" ".join)
def test_full_disk(arguments):
    stdin = LINES if arguments == ["from-json"] else STREAM
    with open("/dev/full", "wb") as stdout:
        done = subprocess.run([*COMMAND, *arguments], input=stdin, stdout=stdout, stderr=subprocess.PIPE)
    assert done.returncode == 74
    command = " ".join(["typedbytes", *[each for each in arguments[:1] if each in COMMANDS]])
    name = "/dev/stdout" if "-o" in arguments else "standard output"
    assert done.stderr.decode() == f"{command}: {name}: No space left on device\n"


def test_full_disk_and_bad_data_are_both_reported():
    with open("/dev/full", "wb") as stdout:
        done = subprocess.run([*COMMAND, "cat"], input=ONE + b"\x0e", stdout=stdout, stderr=subprocess.PIPE)
    assert done.returncode == 74
    assert [line.split(b": ")[1] for line in done.stderr.splitlines()] == [b"standard input", b"standard output"]


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_an_output_that_is_a_descriptor_is_written_at_its_offset(name, file, tmp_path):
    written = file(ONE, "written.tb")
    with open(written, "ab") as stdout:
        done = subprocess.run([*COMMAND, "cat", "-o", name], input=TWO, stdout=stdout, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "written.tb").read_bytes() == ONE + TWO
    assert good("cat", "-o", name, stdin=STREAM) == STREAM
    assert bad(74, "cat", "-o", "/dev/fd/999", stdin=STREAM)[1] == "/dev/fd/999: Bad file descriptor"


def test_an_output_may_be_a_process_of_the_shell(tmp_path):
    command = f"{shlex.join(COMMAND)} cat -o >(cat > {shlex.quote(str(tmp_path / 'copy'))}; echo done)"
    done = subprocess.run(["bash", "-c", command], input=STREAM, capture_output=True, timeout=SECONDS)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"done\n", b"")
    assert (tmp_path / "copy").read_bytes() == STREAM


def test_closed_stdout():
    command = subprocess.list2cmdline([*COMMAND, "count"])
    done = subprocess.run(f"{command} >&-", shell=True, input=STREAM, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (74, b"typedbytes count: standard output: Bad file descriptor\n")


def test_closed_stdout_that_nothing_goes_to(file, tmp_path):
    command = f"{shlex.join(COMMAND)} count {shlex.quote(file(STREAM))} -o {shlex.quote(str(tmp_path / 'found'))}"
    done = subprocess.run(["bash", "-c", f"{command} >&-"], stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "found").read_bytes() == b"4\n"


def test_a_second_file_of_a_command_is_not_its_output(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = file(tb.dumps(1) + tb.dumps("a"))
    for words in (("validate", "--repair"), ("bench", "--plot")):
        message = bad(64, words[0], "--values", words[1], "good.tb", "-o", "good.tb", path)[1]
        assert f"{words[1]} and -o name the same file, good.tb" in message
        for target in ("-", "/dev/stdout"):
            assert "takes the path of a file" in bad(64, words[0], "--values", words[1], target, path)[1]
    assert not os.path.exists("-") and not os.path.exists("good.tb")


@pytest.mark.parametrize("command", ["join", "diff", "cat", "count"])
def test_standard_input_is_read_once(command):
    message = bad(64, command, "--pairs", "-", "-", stdin=tb.dumps("a") + tb.dumps(1))[1]
    assert "standard input is given twice among the inputs, but can be read only once" in message
