"""What a task has beside its records: side files, a sign of life, groups of several keys.

Here: tasks as child processes, and the folder that Hadoop names. Invariant: a task that fails leaves no file.
"""

import os
import re
import resource
import subprocess
import sys
import types

import pytest

from support.streaming_support import encode, environment, finish, read_message, run_script, start, write_script
from support.subprocess_runs import program, run_fresh
from typedbytes import Decoder, PairReader, loads, sortkey
from typedbytes.streaming import _heartbeat, _reporter, side_file

PAIRS = encode(("a", 1), ("a", 2), ("b", 3))
REDUCE = {"mapreduce_task_ismap": "false", "mapreduce_task_partition": "12"}

# -- side files -------------------------------------------------------------------------------------------

SIDE = """
class Job:
    def configure(self):
        self.file = side_file("seen")
    def process(self, key):
        self.file.write(key.encode() + b"\\n")
    def map(self, key, value):
        self.process(key)
        {then}
    def reduce(self, key, values):
        self.process(key)
from typedbytes.streaming import side_file
run(Job, Job, Job)
"""


@pytest.mark.parametrize("scheme", ["", "file:", "file://"])
@pytest.mark.parametrize("role, environ, name", [("map", {}, "seen-m-00000"), ("reduce", REDUCE, "seen-r-00012")])
def test_a_side_file_lands_where_hadoop_says(tmp_path, scheme, role, environ, name):
    folder = tmp_path / "not" / "there yet"
    environ = {**environ, "mapreduce_task_output_dir": f"{scheme}{folder}"}
    outcome = run_script(tmp_path, SIDE.format(then="pass"), role, data=PAIRS, environ=environ)
    assert outcome.code == 0, outcome.messages
    assert os.listdir(folder) == [name]
    assert (folder / name).read_text().split() == (["a", "a", "b"] if role == "map" else ["a", "b"])


def test_each_process_of_a_combiner_has_files_of_its_own(tmp_path):
    environ = {"mapreduce_task_output_dir": str(tmp_path / "out")}
    for _ in range(2):
        assert run_script(tmp_path, SIDE.format(then="pass"), "combine", data=PAIRS, environ=environ).code == 0
    assert len(os.listdir(tmp_path / "out")) == 2


@pytest.mark.parametrize(
    "then, code", [("1 / 0", 1), ("os._exit(0)", 1), ("os.kill(os.getpid(), 15)", 143), ("sys.exit(0)", 1)]
)
def test_a_task_that_fails_leaves_no_file_of_that_name(tmp_path, then, code):
    environ = {"mapreduce_task_output_dir": str(tmp_path / "out")}
    outcome = run_script(tmp_path, SIDE.format(then=then), "map", data=PAIRS, environ=environ)
    assert outcome.code == code
    assert [name for name in os.listdir(tmp_path / "out") if not name.startswith(".")] == []


@pytest.mark.parametrize("then", ["pass", "self.file.close() if key == 'b' else None"], ids=["open", "closed"])
def test_a_side_file_is_on_the_disk_before_it_has_its_name(tmp_path, then):
    script = write_script(tmp_path, SIDE.format(then=then))
    log, folder = tmp_path / "calls", tmp_path / "out"
    child = subprocess.run(
        [program("strace"), "-f", "-y", "-o", log, "-e", "trace=fsync,rename,renameat,renameat2",
         sys.executable, script, "map"],
        input=PAIRS, capture_output=True, env=environment({"mapreduce_task_output_dir": str(folder)}),
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    calls = re.findall(r"^\d+ +(fsync|rename)\w*\((.*)$", log.read_text(), re.M)
    assert [name for name, of in calls if "seen" in of] == ["fsync", "rename"]


def test_a_fork_of_the_task_takes_no_file_away(tmp_path):
    environ = {"mapreduce_task_output_dir": str(tmp_path / "out")}
    then = "child = os.fork() if key == 'b' else None\n        if child: os.waitpid(child, 0)"
    outcome = run_script(tmp_path, SIDE.format(then=then), "map", data=PAIRS, environ=environ)
    assert outcome.code == 0, outcome.messages
    assert (tmp_path / "out" / "seen-m-00000").read_text().split() == ["a", "a", "b"]


@pytest.mark.parametrize("nbytes", [10, 100_000])
@pytest.mark.parametrize("then", ["", "self.file.flush()", "sys.exit(0)"])
def test_a_fork_of_the_task_writes_nothing_again(tmp_path, nbytes, then):
    """It goes on with a copy of what the task has read and buffered, until it comes to the end of that."""
    script = f"""
from typedbytes.streaming import side_file
class Job:
    def configure(self):
        self.file = side_file("seen")
    def map(self, key, value):
        self.file.write(key.encode() * {nbytes})
        if key == "b":
            child = os.fork()
            if child:
                os.waitpid(child, 0)
            else:
                self.file.write(b"of the child" * {nbytes})
                {then}
        yield key, value
run(Job)
"""
    data = encode(("a", 1), ("b", 2), ("c", 3))
    outcome = run_script(
        tmp_path, script, "map", data=data, environ={"mapreduce_task_output_dir": str(tmp_path / "out")}
    )
    assert (outcome.code, outcome.output) == (0, data), outcome.messages
    assert (tmp_path / "out" / "seen-m-00000").read_bytes() == b"a" * nbytes + b"b" * nbytes + b"c" * nbytes


def test_a_fork_of_the_task_opens_no_side_file(tmp_path):
    """It would be the task's own of that name, emptied: after the task has written it, before it has its name."""
    script = """
from typedbytes.streaming import side_file
read, ready = os.pipe()
class Job:
    def map(self, key, value):
        if key == "a":
            self.child = os.fork()
            if not self.child:
                os.close(ready)
                os.read(read, 1)
                try:
                    side_file("seen")
                finally:
                    os._exit(0)
        yield key, value
    def close(self):
        file = side_file("seen")
        file.write(b"all")
        file.close()
        os.close(ready)
        os.waitpid(self.child, 0)
run(Job)
"""
    environ = {
        "mapreduce_task_output_dir": str(tmp_path / "out"),
        "mapreduce_task_attempt_id": "attempt_1_2_m_000000_0",
    }
    data = encode(("a", 1), ("b", 2))
    outcome = run_script(tmp_path, script, "map", data=data, environ=environ)
    assert (outcome.code, outcome.output) == (0, data), outcome.messages
    assert (tmp_path / "out" / "seen-m-00000").read_bytes() == b"all"


def test_bad_records_of_a_fork_are_not_kept_again(tmp_path):
    script = """
def mapper(key, value):
    if key == 3 and os.fork():
        os.wait()
    raise ValueError
run(mapper, max_bad=1.0)
"""
    data = encode(*((number, "x" * 1000) for number in range(50)))
    outcome = run_script(
        tmp_path, script, "map", data=data, environ={"mapreduce_task_output_dir": str(tmp_path / "out")}
    )
    assert outcome.code == 0, outcome.messages
    kept = PairReader((tmp_path / "out" / "bad-records-m-00000").read_bytes(), raw=True)
    assert [loads(key) for key, _ in kept] == list(range(50))


def test_a_file_that_cannot_be_finished_fails_the_task(tmp_path):
    script = """
from typedbytes.streaming import side_file
class Job:
    def configure(self):
        self.file = side_file("seen")
    def map(self, key, value):
        yield key, value
    def close(self):
        os.unlink(self.file.name)
run(Job)
"""
    outcome = run_script(
        tmp_path, script, "map", data=PAIRS, environ={"mapreduce_task_output_dir": str(tmp_path / "out")}
    )
    assert outcome.code == 74


@pytest.mark.parametrize("name", ["", "a/b", "part-x", "_SUCCESS", ".hidden"])
def test_names_that_belong_to_others(tmp_path, name):
    script = f"from typedbytes.streaming import side_file\nrun(lambda key, value: side_file({name!r}))"
    outcome = run_script(tmp_path, script, "map", data=PAIRS)
    assert outcome.code == 1 and "cannot be the name of a side file" in outcome.lines[-1]


def test_a_name_is_for_one_file(tmp_path):
    script = "from typedbytes.streaming import side_file\nrun(lambda key, value: [(key, side_file('x').write(b''))])"
    outcome = run_script(tmp_path, script, "map", data=PAIRS, environ={"mapreduce_task_output_dir": str(tmp_path)})
    assert outcome.code == 1 and "already exists: open it once per task, in configure()" in outcome.lines[-1]
    with pytest.raises(RuntimeError, match="belong to a task"):
        side_file("x")


SHELL = """\
#!/bin/sh
echo "$@" >> "$LOG"
shift
case "$1" in
-put) shift 2; for last; do :; done; for file; do [ "$file" = "$last" ] || cp -r "$file" "$STORE"; done;;
esac
exit ${CODE:-0}
"""


@pytest.fixture
def shell(tmp_path):
    """Return the environment of a task whose output is on HDFS, with a stand-in for Hadoop's command."""
    home, store = tmp_path / "home", tmp_path / "store"
    (home / "bin").mkdir(parents=True)
    store.mkdir()
    (home / "bin" / "hadoop").write_text(SHELL)
    (home / "bin" / "hadoop").chmod(0o755)
    return {
        "HADOOP_HOME": str(home), "STORE": str(store), "LOG": str(tmp_path / "log"), "TMPDIR": str(tmp_path),
        "mapreduce_task_output_dir": "hdfs://host:8020/out/_temporary/1",
    }  # fmt: skip


def test_a_folder_elsewhere_gets_its_files_by_hadoops_shell(tmp_path, shell):
    outcome = run_script(tmp_path, SIDE.format(then="pass"), "map", data=PAIRS, environ=shell)
    assert outcome.code == 0, outcome.messages
    assert (tmp_path / "store" / "seen-m-00000").read_text() == "a\na\nb\n"
    assert (tmp_path / "log").read_text().splitlines()[0] == "fs -mkdir -p hdfs://host:8020/out/_temporary/1"


BY_KEY = """
run(lambda key, value: [((f"value={value}/x", key), value)])
"""


@pytest.mark.parametrize("code", ["0", "1"])
def test_folders_of_an_output_by_key_are_copied_whole(tmp_path, shell, code):
    """To a folder elsewhere; here nothing is left of them, also where that fails."""
    environ = {**shell, "CODE": code, "typedbytes_output_by_key": "text", "mapreduce_job_reduces": "0"}
    environ["mapreduce_task_attempt_id"] = "attempt_1"
    outcome = run_script(tmp_path, BY_KEY, "map", data=encode(("a", 1), ("b", 2), ("c", 1)), environ=environ)
    assert outcome.code == (0 if code == "0" else 74), outcome.messages
    assert outcome.output == b"" and not list(tmp_path.glob(".attempt*"))
    if code == "0":
        assert (tmp_path / "store" / "value=1" / "x" / "part-00000").read_text() == "a\t1\nc\t1\n"
        assert (tmp_path / "store" / "value=2" / "x" / "part-00000").read_text() == "b\t2\n"


def test_a_shell_that_fails_or_is_missing_fails_the_task(tmp_path, shell):
    outcome = run_script(tmp_path, SIDE.format(then="pass"), "map", data=PAIRS, environ={**shell, "CODE": "1"})
    assert outcome.code == 74 and "side files were not copied to hdfs://host:8020" in outcome.messages
    nowhere = {**shell, "HADOOP_HOME": str(tmp_path), "PATH": str(tmp_path), "CLASSPATH": ""}
    outcome = run_script(tmp_path, SIDE.format(then="pass"), "map", data=PAIRS, environ=nowhere)
    assert outcome.code == 74 and "side files need Hadoop's shell" in outcome.messages


# -- a sign of life ---------------------------------------------------------------------------------------


@pytest.fixture
def heartbeat(monkeypatch):
    monkeypatch.setattr(_reporter, "last_status", None)
    monkeypatch.setattr(_reporter, "pings", 0)
    count = [0]
    heartbeat = _heartbeat.Heartbeat(lambda: count[0])
    heartbeat.count = count
    return heartbeat


def said(capfd):
    return [line for line in capfd.readouterr().err.splitlines() if line]


def test_the_heartbeat_thread_runs_when_start_returns():
    """A process that ends before its thread runs can crash on Python 3.9."""
    # A thread that is still being made while the interpreter ends crashes it, before Python 3.12.
    begun = run_fresh("""
        import _thread
        from typedbytes.streaming._heartbeat import Heartbeat
        for nhearts in range(1, 51):
            Heartbeat(lambda: 0).start()
            assert _thread._count() == nhearts, f"{_thread._count()} of {nhearts}"
        print("begun")
    """)
    assert begun == "begun"


def test_what_a_script_leaves_open_is_written_at_its_end(tmp_path):
    """As Python does at the end of a process, which destroys the script's variables."""
    script = f"""
class Noting:
    def __del__(self, write=os.write):
        write(2, b"destroyed")

log, noting = open({str(tmp_path / "log")!r}, "w"), Noting()

def mapper(key, value):
    log.write("kept")
    yield key, value

run(mapper)
"""
    outcome = run_script(tmp_path, "import os\n" + script, "map", data=PAIRS)
    assert outcome.code == 0 and "destroyed" in outcome.messages
    assert set((tmp_path / "log").read_text().split("kept")) == {""}
    assert "kept" in (tmp_path / "log").read_text()


def test_a_heartbeat_is_sent_when_records_were_read(heartbeat, capfd):
    heartbeat.beat()
    assert said(capfd) == []
    heartbeat.count[0] = 5
    heartbeat.beat()
    (line,) = said(capfd)
    assert line.startswith("reporter:status:5 records read, ") and line.endswith(" MB of memory at most")
    heartbeat.beat()
    assert said(capfd) == []


@pytest.mark.parametrize(("platform", "unit"), [("linux", 1 << 10), ("darwin", 1)])
def test_a_heartbeat_says_memory_in_the_unit_of_the_system(platform, unit, heartbeat, capfd, monkeypatch):
    """The manual of getrusage: ru_maxrss is in bytes on macOS, in KiB on Linux."""
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(resource, "getrusage", lambda _: types.SimpleNamespace(ru_maxrss=(200 << 20) // unit))
    heartbeat.count[0] = 5
    heartbeat.beat()
    assert said(capfd) == ["reporter:status:5 records read, 200 MB of memory at most"]


def test_a_ping_sends_a_heartbeat_and_the_last_status_is_repeated(heartbeat, capfd):
    _reporter.ping()
    heartbeat.beat()
    assert said(capfd)[0].startswith("reporter:status:0 records read")
    _reporter.status("half way")
    heartbeat.count[0] = 1
    heartbeat.beat()
    heartbeat.beat()
    assert said(capfd) == ["reporter:status:half way"] * 2


def test_a_task_that_reads_and_writes_nothing_sends_heartbeats(tmp_path):
    script = """
from typedbytes.streaming import _heartbeat
_heartbeat.BEAT_SECONDS = 0.01
run(lambda key, value: None)
"""
    child = start(tmp_path, script, "map")
    child.stdin.write(PAIRS)
    child.stdin.flush()
    assert read_message(child).startswith(b"reporter:status:")
    assert finish(child).code == 0


# -- groups of several keys -------------------------------------------------------------------------------

GROUPED = """
from operator import itemgetter
def reducer(key, values):
    yield key, {reading}
run(None, reducer, combiner=reducer, group_by=itemgetter(0))
"""
SORTED = encode(*[((word, number), number) for word in "ab" for number in range(3)])


@pytest.mark.parametrize("reading, values", [("list(values)", [0, 1, 2]), ("next(values)", 0), ("None", None)])
def test_one_call_for_the_keys_of_a_group(tmp_path, reading, values):
    outcome = run_script(tmp_path, GROUPED.format(reading=reading), "reduce", data=SORTED)
    assert outcome.code == 0, outcome.messages
    assert Decoder().decode_pairs(outcome.output) == [(("a", 0), values), (("b", 0), values)]


def test_a_combiner_has_every_key_by_itself(tmp_path):
    outcome = run_script(tmp_path, GROUPED.format(reading="sum(values)"), "combine", data=SORTED)
    assert outcome.output == SORTED


def test_groups_are_distinguished_by_encoded_bytes(tmp_path):
    data = encode(*[((one, number), number) for number, one in enumerate([True, 1, 1.0, float("nan"), float("nan")])])
    outcome = run_script(tmp_path, GROUPED.format(reading="len(list(values))"), "reduce", data=data)
    assert [value for key, value in Decoder().decode_pairs(outcome.output)] == [1, 1, 1, 2]


def test_values_of_a_group_used_late(tmp_path):
    script = """
kept = []
def reducer(key, values):
    kept.append(values)
    if len(kept) == 2:
        next(kept[0])
run(None, reducer, group_by=lambda key: key[0])
"""
    outcome = run_script(tmp_path, script, "reduce", data=SORTED)
    assert outcome.code == 1
    assert "the values of a group are gone once the next group is asked for" in outcome.lines[-1]


# -- start-up ---------------------------------------------------------------------------------------------

#: Modules that nothing in a plain task needs; each would be milliseconds of every task of every job.
HEAVY = [
    "argparse", "ast", "dataclasses", "enum", "inspect", "json", "logging", "numpy", "re", "shutil", "signal",
    "subprocess", "tempfile", "threading", "traceback", "typing",
]  # fmt: skip


def test_a_task_starts_with_little(tmp_path):
    script = f"run(lambda key, value: [(sorted(set({HEAVY!r}) & set(sys.modules)), 1)])"
    code = "import sys\nfrom typedbytes.streaming import run\n" + script
    (tmp_path / "bare.py").write_text(code)
    command = [sys.executable, "-S", str(tmp_path / "bare.py"), "map"]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, input=encode((1, 1)), stdout=subprocess.PIPE, env=environ, check=True)
    assert Decoder().decode_pairs(done.stdout) == [([], 1)]


def test_a_sort_key_is_a_key_of_a_job(tmp_path):
    data = encode(*[((1901, sortkey.encode(sortkey.Descending(t))), t) for t in (31.5, 4, -3.25)])
    script = "from typedbytes import sortkey\nrun(None, lambda key, values: [(sortkey.decode(key[1]), list(values))])"
    outcome = run_script(tmp_path, script, "reduce", data=data)
    assert Decoder().decode_pairs(outcome.output) == [(31.5, [31.5]), (4, [4]), (-3.25, [-3.25])]
