"""The command that runs a job on this machine: its options, progress, errors, and a machine that lacks something.

Here: `typedbytes run` and the limits of a machine. Not here: what a job of local.run_script() does; see test_local.py.
"""

import os
import pathlib
import re
import subprocess
import sys
import tarfile
import threading
import time
import zipfile

import pytest

import typedbytes as tb
from support.local_jobs import RUN, pairs_of, run, write_script
from support.namespaces import NAMESPACE, NEEDS_NAMESPACES, WITHOUT_PROC, needs_no_proc
from support.streaming_support import NO_BYTECODE, environment
from support.subprocess_runs import program
from typedbytes import local
from typedbytes.jobs.counters import Messages

pytestmark = pytest.mark.oldest_python


# -- the command ------------------------------------------------------------------------------------------


def command(*words):
    return [*RUN, *map(str, words)]


def test_the_command_runs_a_job_and_prints_its_counters(words, tmp_path):
    path, script, counts = words
    done = subprocess.run(
        command(
            script, path, "-o", tmp_path / "out", "-r", "2", "--memory", "64M", "--no-combiner",
            "--output-format", "pairs",
        ),
        capture_output=True, env=environment(), text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")
    assert f"TaskCounter: MAP_OUTPUT_RECORDS = {sum(counts.values()):,}\n" in done.stderr
    assert f"typedbytes run: done: {tmp_path}/out, 1 map and 2 reduce tasks" in done.stderr
    assert dict(pairs_of(tmp_path / "out")) == counts


@pytest.mark.parametrize(
    ("words_given", "code", "said"),
    [
        (["job.py", "in.txt", "-o", "in.txt"], 64,
         "typedbytes run: the output in.txt already exists; give another path, or --overwrite to replace it"),
        (["bad.py", "in.txt", "-o", "out", "-r", "2"], 64,
         "bad.py has no reducer: give streaming.run(...) one, or leave out --reducers 2"),
        (["bad.py", "in.txt", "-o", "out", "-D", "mapred.reduce.tasks=2"], 64,
         "give streaming.run(...) one, or leave out -D mapred.reduce.tasks=2"),
        (["bad.py", "in.txt", "-o", "out", "--combiner"], 64,
         "bad.py has no combiner: give streaming.run(...) one, or run the job with --no-combiner"),
        (["job.py", "in.txt", "-o", "out", "--output-format", "xyz"], 64,
         "typedbytes run: --output-format must be one of sequencefile, pairs"),
        (["job.py", "in.txt", "-o", "out", "--input-format", "xyz"], 64,
         "typedbytes run: --input-format must be one of auto"),
        (["job.py", "in.txt", "-o", "out", "-r", "65537"], 64, "typedbytes run: --reducers must be 0 to 65536"),
        (["job.py", "in.txt", "-o", "out", "--processes", "0"], 64,
         "typedbytes run: --processes and --attempts must be at least 1"),
        (["job.py", "in.txt", "-o", "out", "--memory", "1K", "--processes", "2"], 64,
         "typedbytes run: --memory must be at least 2 MiB, one for each of 2 processes, not 1024 bytes"),
        (["job.py", "image", "-o", "out"], 66,
         "--input-format pairs reads it as typed bytes, --input-format text as lines"),
        (["job.py", "in.txt", "-o", "out", "--output-by-key", "--output-format", "text",
          "-D", "mapreduce.output.fileoutputformat.compress=true"], 64,
         "typedbytes run: --output-by-key writes text as it is: leave out mapreduce.output.fileoutputformat.compress"),
        (["nothing.py", "in.txt", "-o", "out"], 64, "typedbytes run: there is no script nothing.py"),
        (["job.py", "nothing", "-o", "out"], 66, "typedbytes run: no such input: nothing"),
        (["job.py", "-o", "out"], 64, "typedbytes run: needs an INPUT (see"),
        (["job.py", "in.txt", "-o", "out", "--memory", "much"], 64, "expected a size such as"),
        (["job.py", "in.txt", "-o", "out", "-r", "two"], 64, "expected an integer of at least 0, not 'two'"),
        (["job.py", "in.txt", "-o", ""], 64, "typedbytes run: the output is an empty path"),
        (["job.py", "in.txt", "-o", "out", "--input-format", "pairs"], 1,
         "it was read as pairs: give its format with --input-format"),
        (["job.py", "-", "in.txt", "-", "-o", "out"], 66,
         "typedbytes run: standard input is given twice among the inputs"),
        (["job.py", "in.txt", "-o", "/proc/out"], 64, "typedbytes run: no folder can be made in /proc: "),
        (["noisy.py", "in.txt", "-o", "out"], 1,
         "its output is truncated: this looks like text, not typed bytes: input ends inside type code 108"),
        (["noisy.py", "in.txt", "-o", "out"], 1,
         "; only pairs of typed bytes may go to standard output, also before streaming.run(...)"),
        (["pair.py", "in.txt", "-o", "out"], 1,
         "typedbytes: returned: tuple, expected pairs of key and value: yield them, or return a list"),
        (["text.py", "in.txt", "-o", "out"], 1, "typedbytes: returned: str, expected pairs of key and value"),
        (["broken.py", "in.txt", "-o", "out"], 64, "No module named 'no_such_module'"),
        (["failing.py", "in.txt", "-o", "out"], 1, "ZeroDivisionError"),
        (["bad.py", "in.txt", "-o", "out"], 1,
         "exit code 65: 2 bad records exceed max_bad=1, and no record so far was good; "
         "the job's own code may be wrong; first error: ValueError: x"),
    ],
)  # fmt: skip
def test_the_command_says_what_is_wrong(words, tmp_path, words_given, code, said):
    write_script(tmp_path, "import no_such_module", "broken.py")
    write_script(
        tmp_path,
        "from typedbytes import streaming\ndef mapper(key, value):\n    raise ValueError('x')\n"
        "streaming.run(mapper, max_bad=1)",
        "bad.py",
    )
    for name, returned in (("failing", "1 / 0"), ("pair", "(key, value)"), ("text", "value"), ("noisy", "[]")):
        start = "print('loading', flush=True)" if name == "noisy" else ""
        write_script(
            tmp_path,
            f"from typedbytes import streaming\n{start}\nstreaming.run(lambda key, value: {returned})",
            f"{name}.py",
        )
    (tmp_path / "image").write_bytes(b"\0\1\2")
    done = subprocess.run(command(*words_given), capture_output=True, env=environment(), text=True, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_name_that_looks_like_an_option_stays_as_it_is_in_a_message(tmp_path):
    write_script(tmp_path, "from typedbytes import streaming\nstreaming.run(lambda *pair: [pair])", "reducers=2.py")
    (tmp_path / "in.txt").write_text("a")
    words = command("reducers=2.py", "in.txt", "-o", "out", "-r", "2")
    done = subprocess.run(words, capture_output=True, env=environment(), text=True, cwd=tmp_path)
    said = "reducers=2.py has no reducer: give streaming.run(...) one, or leave out --reducers 2"
    assert (done.returncode, done.stderr) == (64, f"typedbytes run: {said}\n")


PARAMETERS = """
    import os, sys
    import beside
    from typedbytes import streaming

    limit, unwanted = int(sys.argv[2]), open("stop.txt").read().split()

    def mapper(offset, line):
        for word in line.split():
            if word not in unwanted:
                yield word, limit * int(streaming.task().params["times"])

    def reducer(word, counts):
        yield word, (sum(counts), os.environ["LEVEL"], os.environ["my_limit"], beside.NAME)

    streaming.run(mapper, reducer)
"""


def test_a_job_takes_arguments_variables_properties_and_files(tmp_path):
    (tmp_path / "in.txt").write_text("a b c b\n")
    (tmp_path / "words").write_text("a")
    (tmp_path / "job").mkdir()
    (tmp_path / "modules").mkdir()
    write_script(tmp_path / "modules", "NAME = 'shipped'", "beside.py")
    script = write_script(tmp_path / "job", PARAMETERS)
    options = [
        "--arg", "3", "--env", "LEVEL=x y", "-D", "my.limit=7", "-D", "mapreduce.job.reduces=2", "--param", "times=2",
    ]  # fmt: skip
    options += ["--ship", tmp_path / "words#stop.txt", "--ship", tmp_path / "modules" / "beside.py"]
    done = subprocess.run(
        command(script, "in.txt", "-o", "out", *options), capture_output=True, text=True, cwd=tmp_path,
        env=environment({"TMPDIR": str(tmp_path), "my_limit": "of the shell"}),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert dict(pairs_of(tmp_path / "out")) == {"b": (12, "x y", "7", "shipped"), "c": (6, "x y", "7", "shipped")}
    assert sorted(os.listdir(tmp_path / "out")) == ["_SUCCESS", "part-00000", "part-00001"]
    # the folder of the tasks is gone
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job", "modules", "out", "words"]


def test_with_a_file_shipped_a_task_finds_no_other_as_on_a_cluster(tmp_path):
    (tmp_path / "in.txt").write_text("x\n")
    (tmp_path / "stop.txt").write_text("stop")
    write_script(
        tmp_path, "from typedbytes import streaming\nstreaming.run(lambda key, value: [(open('stop.txt').read(), 1)])"
    )
    for more, code in (["--ship", "in.txt"], 1), (["--ship", "stop.txt"], 0), ([], 0):
        done = subprocess.run(
            command("job.py", "in.txt", "-o", f"out{len(more)}{code}", *more), capture_output=True, text=True,
            env=environment(), cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == code and (code == 0 or "FileNotFoundError" in done.stderr), done.stderr
    for name in "run", "submit":
        told = subprocess.run(
            [*command()[:-1], name, "--help"], capture_output=True, text=True, env=environment({"COLUMNS": "500"})
        ).stdout
        assert (
            "where nothing is shipped, tasks of run find all files of the current folder, those of submit none"
            in " ".join(told.split())
        )


@pytest.mark.parametrize("name", ["data.zip", "data.jar", "data.tar", "data.tar.gz"])
def test_a_job_finds_its_archives_unpacked(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text("x\n")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "words").write_text("stop")
    if "tar" in name:
        with tarfile.open(name, "w:gz" if name.endswith("gz") else "w") as archive:
            archive.add("a")
    else:
        with zipfile.ZipFile(name, "w") as archive:
            archive.write("a/words")
    for output, given, folder in (("out1", name, name), ("out2", f"{name}#known", "known")):
        read = (
            "from typedbytes import streaming\nstreaming.run(lambda key, value: "
            f"[(open({folder + '/a/words'!r}).read(), 1)])"
        )
        words = command(write_script(tmp_path, read), "in.txt", "-o", output, "--archive", given)
        done = subprocess.run(words, capture_output=True, text=True, env=environment({"TMPDIR": str(tmp_path)}))
        assert done.returncode == 0, done.stderr
        assert pairs_of(tmp_path / output) == [("stop", 1)]
    assert sorted(os.listdir(tmp_path)) == sorted(["a", "in.txt", "job.py", name, "out1", "out2"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"archives": ["no.zip"]}, "there is no file no.zip to ship with the job"),
        ({"archives": ["in.txt"]}, "in.txt is not an archive: zip, jar, tar or tar.gz is expected"),
        ({"archives": ["in.txt#job.py"], "files": ["job.py"]},
         "two files are called job.py in the folder of a task: write in.txt#NAME"),
        ({"files": ["no.txt"]}, "there is no file no.txt to ship with the job"),
        ({"files": ["in.txt#../x"]}, "in.txt cannot be called '../x' in the folder of a task"),
        ({"files": ["in.txt", "job.py#in.txt"]},
         "two files are called in.txt in the folder of a task: write job.py#NAME"),
        ({"properties": {"mapreduce.job.reduces": "two"}}, "the property mapreduce.job.reduces is a number, not 'two'"),
        ({"properties": {"stream.map.output": "text"}}, "Hadoop Streaming sets the property stream.map.output"),
        ({"params": {"a b": 1}}, "the name of a parameter has letters, digits and underscores, 'a b' has others"),
        ({"combiner": True}, "has no combiner: give streaming.run"),
    ],
)  # fmt: skip
def test_options_of_a_job_that_cannot_be(tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text("a\n")
    script = write_script(tmp_path, "from typedbytes import streaming\nstreaming.run(lambda key, value: [])")
    with pytest.raises((local.JobError, ValueError), match=re.escape(said)):
        run(script, "in.txt", "out", **options)
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


def test_records_in_memory_are_the_input_of_one_task(words, tmp_path):
    _, script, _ = words
    result = run(script, [(0, "a b"), (4, "b")], tmp_path / "out")
    assert (dict(pairs_of(tmp_path / "out")), result.nmaps) == ({"a": 1, "b": 2}, 1)
    result = local.run(
        "cat", "cat", inputs=((n, [n]) for n in range(3)), output=tmp_path / "copy", input_format="text", quiet=True
    )
    assert pairs_of(tmp_path / "copy") == [(0, [0]), (1, [1]), (2, [2])]


@pytest.mark.parametrize(
    "inputs",
    [[(0, "a", "b")], [(0, object())], [(0, "a"), "in.txt"], ["in.txt", (0, "a")], (0, "a"), [[0, "a"]], [None]],
)
def test_inputs_that_are_neither_paths_nor_pairs(words, tmp_path, inputs):
    _, script, _ = words
    with pytest.raises(local.InputError, match="inputs are paths, or tuples of a key and a value"):
        run(script, inputs, tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


def test_progress_is_reported_in_lines_elsewhere(words, tmp_path):
    path, script, _ = words
    code = "import sys, typedbytes.cli._job.progress as shown; shown.SECONDS_BETWEEN_LINES = 0; "
    code += "import typedbytes.cli; sys.exit(typedbytes.cli.main(sys.argv[1:]))"
    words_given = [str(word) for word in ("run", script, path, "-o", tmp_path / "out", "--split-size", "8000")]
    done = subprocess.run([sys.executable, "-c", code, *words_given], capture_output=True, env=environment(), text=True)
    assert done.returncode == 0, done.stderr
    assert "typedbytes run: map 100 %\n" in done.stderr
    assert "typedbytes run: reduce 100 %\n" in done.stderr


@pytest.mark.uncounted("the limit on files would cut those of the counters")
@pytest.mark.parametrize("output_format", ["sequencefile", "pairs", "text"])
@pytest.mark.parametrize("reducers", [0, 1])
def test_a_limit_on_files_fails_the_job_and_says_so(words, tmp_path, output_format, reducers):
    """Whether a temporary file meets it or a part file."""
    path, script, _ = words
    options = ["--no-combiner", "--output-format", output_format, "--reducers", str(reducers)]
    limited = [
        "bash", "-c", 'ulimit -f 4; exec "$@"', "limited", *command(script, path, "-o", tmp_path / "out", *options),
    ]  # fmt: skip
    done = subprocess.run(limited, capture_output=True, env=environment(NO_BYTECODE), text=True)
    assert done.returncode == 74, done.stderr
    assert "File too large; raise the limit on the size of a file: ulimit -f unlimited" in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


@needs_no_proc
def test_a_job_needs_no_proc(words, tmp_path):
    """Nor shared memory of POSIX for the semaphores of multiprocessing."""
    path, script, counts = words
    options = ["--ship", path, "-r", "2", "--processes", "2", "--split-size", "4K"]
    done = subprocess.run(
        [*WITHOUT_PROC, *command(script, path, "-o", tmp_path / "out", *options)],
        capture_output=True,
        env=environment(),
    )
    assert done.returncode == 0, done.stderr
    assert dict(pairs_of(tmp_path / "out")) == counts


@NEEDS_NAMESPACES
@pytest.mark.parametrize("role", ["--output", "--tmp", "TMPDIR"])
def test_a_file_system_that_is_full_at_any_moment_is_reported_as_that(words, tmp_path, role):
    """It takes some files, and with each attempt one more, until the job is complete."""
    path, script, _ = words
    with zipfile.ZipFile(tmp_path / "files.zip", "w") as archive:
        archive.writestr("one", "1")
        archive.writestr("folder/two", "2")
    folder, other = tmp_path / "full", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    folders = {each: folder if each == role else other for each in ("--output", "--tmp", "TMPDIR")}
    options = ["-q", "--archive", tmp_path / "files.zip", "-o", folders["--output"] / "out", "--tmp", folders["--tmp"]]
    options += ["--split-size", f"{path.stat().st_size // 3}"]
    left = "out\n" if role == "--output" else ""
    codes = []
    while not codes or codes[-1] != 0:
        mount = (
            f'{program("mount")} -t tmpfs -o nr_inodes={len(codes) + 2} tmpfs {folder} && "$@"; code=$?; '
            f"ls -A {folder}; exit $code"
        )
        started = [*NAMESPACE, "sh", "-c", mount, "sh", *command(script, path, *options)]
        given = environment({"TMPDIR": str(folders["TMPDIR"])})
        done = subprocess.run(started, capture_output=True, env=given, text=True)
        codes.append(done.returncode)
        assert (done.returncode, done.stdout) in ((74, ""), (0, left)), done.stderr
        if codes[-1]:
            assert (
                "No space left on device; free disk space, or choose other folders" in done.stderr
                or "[Errno 28]" in done.stderr
            )
    assert len(codes) > 2 and os.listdir(other) == ([] if role == "--output" else ["out"])


def test_threads_that_count_at_once_lose_nothing():
    class Amounts(dict):
        def get(self, name, default):
            found = super().get(name, default)
            time.sleep(0)  # lets another thread at it
            return found

    messages = Messages(quiet=True)
    messages.counters["words"] = Amounts()
    line, each = b"reporter:counter:words,seen,1\n", 500
    counting = [threading.Thread(target=lambda: [messages.handle(line) for _ in range(each)]) for _ in range(3)]
    for thread in counting:
        thread.start()
    for thread in counting:
        thread.join()
    assert messages.counters == {"words": {"seen": 3 * each}}


def bare(*words):
    """Return a command that may do no more than its user: to root a folder without permissions is open."""
    drop = "-dac_override,-dac_read_search"
    return ["setpriv", "--bounding-set", drop, "--inh-caps", drop, *words] if os.geteuid() == 0 else list(words)


def test_a_folder_that_may_not_be_read_or_written_is_named(words, tmp_path):
    path, script, _ = words
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    done = subprocess.run(
        bare(*command(script, path, "-o", closed / "out")), capture_output=True, env=environment(), text=True
    )
    assert (done.returncode, done.stderr) == (
        64,
        f"typedbytes run: no folder can be made in {closed}: Permission denied; choose another path\n",
    )
    closed.chmod(0)
    done = subprocess.run(
        bare(*command(script, closed, "-o", tmp_path / "out")), capture_output=True, env=environment(), text=True
    )
    assert (done.returncode, done.stderr) == (
        66,
        f"typedbytes run: the folder {closed} cannot be read: Permission denied\n",
    )


@pytest.mark.uncounted("the limit on files would cut those of the counters")
def test_standard_input_that_cannot_be_kept_is_an_error(words, tmp_path):
    _, script, _ = words
    limited = ["bash", "-c", 'ulimit -f 4; exec "$@"', "limited", *command(script, "-", "-o", tmp_path / "out")]
    closed = ["bash", "-c", 'exec "$@" <&-', "closed", *command(script, "-", "-o", tmp_path / "out")]
    for words_given, code, said in (
        (limited, 74, "File too large; raise the limit"),
        (closed, 66, "Bad file descriptor"),
    ):
        done = subprocess.run(words_given, input=b"word\n" * 3000, capture_output=True, env=environment(NO_BYTECODE))
        assert done.returncode == code
        assert done.stderr.decode().startswith("typedbytes run: standard input cannot be copied into ")
        assert said in done.stderr.decode()
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


def test_counters_count_when_standard_error_is_not_read(words, tmp_path):
    path, _, _ = words
    script = write_script(
        tmp_path,
        """
        import os
        from typedbytes import streaming

        def mapper(offset, line):
            os.write(2, b"x" * 2000 + b"\\n")
            streaming.counter("lines", "read")

        if __name__ == "__main__":
            streaming.run(mapper)
        """,
    )
    code = (
        "import sys; from typedbytes import local; r = local.run_script(*sys.argv[1:2], inputs=sys.argv[2], "
        "output=sys.argv[3]); "
    )
    code += "print(r.counters['lines']['read'])"
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, script, path, tmp_path / "out"],
            stdout=subprocess.PIPE,
            stderr=writer,
            env=environment(),
        )
    finally:
        os.close(writer)
    assert done.stdout == b"%d\n" % path.read_text("utf-8").count("\n")


def test_few_files_may_be_open(tmp_path):
    (tmp_path / "in.tb").write_bytes(b"\2\0\2\1\2\1\2\0" * 1_000_000)
    code = "import sys; from typedbytes import local; "
    code += (
        "local.run('cat', 'cat', inputs=sys.argv[1], output=sys.argv[2], output_format='pairs', "
        "memory=1 << 20, processes=1)"
    )
    limited = [
        "bash", "-c", 'ulimit -n 40; exec "$@"', "limited", sys.executable, "-c", code, tmp_path / "in.tb",
        tmp_path / "out",
    ]  # fmt: skip
    subprocess.run(limited, check=True, env=environment())
    assert (tmp_path / "out" / "part-00000.tb").read_bytes() == b"\2\0\2\1" * 1_000_000 + b"\2\1\2\0" * 1_000_000


def test_a_job_needs_no_standard_output(words, tmp_path):
    path, script, counts = words
    closed = ["bash", "-c", 'exec "$@" >&-', "closed", *command(script, path, "-o", tmp_path / "out", "-q")]
    done = subprocess.run(closed, stderr=subprocess.PIPE, env=environment())
    assert (done.returncode, done.stderr) == (0, b"")
    assert dict(pairs_of(tmp_path / "out")) == counts


@pytest.mark.unsanitized("its environment has nothing but what a node has, so no sanitizer")
def test_a_program_that_has_the_package_to_itself_is_told_what_its_tasks_lack(tmp_path):
    """Archives of shiv and pex add to their own path alone; a program of PyInstaller has no other Python at all."""
    (tmp_path / "in.txt").write_text("a\n")
    (tmp_path / "job.py").write_text(
        "from typedbytes import streaming\nstreaming.run(lambda offset, line: [(line, 1)])\n"
    )
    folder = str(pathlib.Path(tb.__file__).parents[1])
    python = str(pathlib.Path(sys.base_prefix) / "bin" / "python{}.{}".format(*sys.version_info))
    start = (
        f"import sys; sys.path[:0] = [{folder!r}]; {{}}; from typedbytes import cli; "
        f"sys.argv[1:] = {['run', 'job.py', 'in.txt', '-o', 'out']}; sys.exit(cli.main())"
    )
    plain = {"cwd": tmp_path, "env": {"PATH": os.environ["PATH"]}, "capture_output": True, "text": True}
    done = subprocess.run([python, "-c", start.format("pass")], **plain)
    assert done.returncode == 64 and done.stderr.endswith(f"install it there, or set PYTHONPATH={folder}\n"), (
        done.stderr
    )
    plain["env"]["PYTHONPATH"] = folder
    assert subprocess.run([python, "-c", start.format("pass")], **plain).returncode == 0
    plain["env"]["PEX"] = "job.pex"  # pex sets it for its process, and unsets PYTHONPATH
    done = subprocess.run([python, "-c", start.format("import os; del os.environ['PYTHONPATH']")], **plain)
    assert done.returncode == 64 and done.stderr.endswith("install it there, or make the pex with --venv\n"), (
        done.stderr
    )
    done = subprocess.run([python, "-c", start.format("sys.frozen = True")], **plain)
    assert done.returncode == 64 and "run it by a Python that has typedbytes installed\n" in done.stderr, done.stderr
