"""Mappers and reducers that misbehave, as real Hadoop jobs: no job succeeds with output that is wrong or not all there.

Here: what happens between streaming.run and Hadoop itself, which trusts the exit code, takes a stray MARKER for the end
and an open LIST for a whole one. What needs no Hadoop is in streaming/test_exit.py. Invariant: a job is judged by its
pairs in full, against what plain Python gives for the same lines.
"""

import random
import textwrap

import pytest

import typedbytes as tb
from support.hadoop_support import SEQUENCE_FILE_OUTPUT, hadoop, python_command

pytestmark = pytest.mark.hadoop

HEAD = """
import ctypes, os, signal, subprocess, sys, threading, time
import typedbytes as tb
from typedbytes import streaming

HERE = os.path.dirname(os.path.abspath(__file__))
DUE = int(open(os.path.join(HERE, "due")).read())

class Job:
    seen = 0
    def due(self):
        self.seen += 1
        return self.seen == DUE
    def map(self, key, value):
        if self.due():
            self.misbehave()
        yield value, [key, value]
    def misbehave(self):
        pass

class Sums(Job):
    def reduce(self, key, values):
        if self.due():
            self.misbehave()
        yield key, sum(number for number, _ in values)
"""
NLINES = 400  # of 27 bytes: the whole of it fits into a pipe, and many records have gone when a late one is due


@pytest.fixture
def run(tmp_path):
    """Return a function that runs a job of a script over lines, and gives the job and its pairs or None."""

    def run(text, *, due=10, nlines=NLINES, reducer=False, combiner=False):
        lines = [f"{number:06} {'x' * 19}" for number in range(nlines)]
        (tmp_path / "in.txt").write_text("".join(f"{line}\n" for line in lines))
        (tmp_path / "due").write_text(str(due))
        (tmp_path / "job.py").write_text(HEAD + textwrap.dedent(text))
        command = python_command(tmp_path / "job.py")
        job = hadoop().job(
            input=tmp_path / "in.txt", output=tmp_path / "out", mapper=f"{command} map",
            combiner=f"{command} combine" if combiner else None, reducer=f"{command} reduce" if reducer else None,
            nreducers=int(reducer), options=("-outputformat", SEQUENCE_FILE_OUTPUT),
        )  # fmt: skip
        return job, None if job.code else list(tb.PairReader(hadoop().dump_pairs(tmp_path / "out")))

    return run


def mapped(nlines=NLINES):
    """Return the pairs of a mapper that does its work."""
    return [(f"{number:06} {'x' * 19}", [number * 27, f"{number:06} {'x' * 19}"]) for number in range(nlines)]


def reduced(nlines=NLINES):
    """Return the pairs of the reducer that sums up."""
    return [(line, offset) for line, (offset, _) in mapped(nlines)]


def misbehaving(*lines, run="streaming.run(Misbehaving)"):
    """Return a job that does something when its time has come."""
    body = "\n".join(f"        {line}" for line in lines)
    return f"class Misbehaving(Job):\n    def misbehave(self):\n{body}\n{run}\n"


# -- jobs that nothing may disturb ------------------------------------------------------------------------

# each ends its line: what follows on the same one would be no message to Hadoop
NOISE = [
    "os.write(1, b'\\xff\\n')", "sys.stdout.buffer.write(b'\\xff' * 1000 + b'\\n'); sys.stdout.flush()",
    "print('hello')", "os.system('echo hello')", "subprocess.run(['echo', 'hello'], check=True)",
    "ctypes.CDLL(None).puts(b'hello'); ctypes.CDLL(None).fflush(None)", "os.fork()",
    "sys.stderr.write('x' * 5_000_000 + chr(10))", "subprocess.Popen(['sleep', '3'])",
    "assert sys.stdin.buffer.read() == b''",
]  # fmt: skip


def test_noise_of_every_kind_changes_no_record(run):
    job, pairs = run(misbehaving(*NOISE, "streaming.counter('chaos', 'noisy')"))
    assert pairs == mapped(), job.log
    assert job.counters["chaos"] == {"noisy": 1}


def test_a_stray_marker_before_much_output_ends_nothing(run):
    text = """
    class Many(Job):
        def map(self, key, value):
            os.write(1, b"\\xff")
            sys.stdout.buffer.write(b"\\xff")
            for number in range(50_000):
                yield value, number
    streaming.run(Many)
    """
    job, pairs = run(text, nlines=4)
    assert pairs == [(line, number) for line, _ in mapped(4) for number in range(50_000)], job.log


def test_a_reducer_that_leaves_its_values_and_a_noisy_combiner(run):
    text = misbehaving(*NOISE[:3], run="class Noisy(Sums): misbehave = Misbehaving.misbehave")
    text += textwrap.dedent(
        """
        class First(Noisy):
            def reduce(self, key, values):
                if self.due():
                    self.misbehave()
                yield key, values is not None
        class Pass(Noisy):
            def reduce(self, key, values):
                if self.due():
                    self.misbehave()
                return [(key, value) for value in values]
        streaming.run(Misbehaving, First, Pass)
        """
    )
    job, pairs = run(text, reducer=True, combiner=True)
    assert pairs == [(line, True) for line, _ in mapped()], job.log


# -- jobs that must fail ----------------------------------------------------------------------------------

DEATHS = {
    "os._exit with 0": "os._exit(0)",
    "os._exit with 3": "os._exit(3)",
    "sys.exit with 0": "sys.exit(0)",
    "os._exit with 0 in a thread": "threading.Thread(target=os._exit, args=(0,)).start(); time.sleep(60)",
    "another program": "os.execv('/bin/true', ['true'])",
    "SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
    "SIGTERM": "os.kill(os.getpid(), signal.SIGTERM)",
    "abort": "os.abort()",
    "its descriptors closed": "os.closerange(3, 50)",
    "its descriptors opened again": "self.other = [os.dup2(os.open(os.devnull, os.O_RDWR), n) for n in range(3, 9)]",
    "too many counters": "[streaming.counter('chaos', number) for number in range(130)]",
}


@pytest.mark.parametrize("death", DEATHS.values(), ids=DEATHS)
def test_a_death_between_two_records_fails_the_job(run, death):
    job, _ = run(misbehaving(death))
    assert job.code != 0


@pytest.mark.parametrize("death", ["os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)"], ids=["exit", "kill"])
@pytest.mark.parametrize("broken", ["[1, [2, object()]]", "object()"], ids=["in a LIST", "after the key"])
def test_a_death_inside_a_record_fails_the_job(run, broken, death):
    text = f"""
    class Inside(Job):
        def map(self, key, value):
            yield value, {broken} if self.due() else [key]
    def die(obj):
        {death}
    streaming.run(Inside, write_options={{"default": die}})
    """
    job, _ = run(text, due=NLINES)
    assert job.code != 0


@pytest.mark.parametrize("nlines", [4, NLINES, 20_000])
@pytest.mark.parametrize("leave", ["os._exit(0)", "sys.exit(0)"])
def test_input_that_is_not_read_fails_the_job(run, leave, nlines):
    text = f"""
    class Unread(Job):
        def configure(self):
            {leave}
    streaming.run(Unread)
    """
    job, _ = run(text, nlines=nlines)
    assert job.code != 0


@pytest.mark.parametrize("role", ["reducer", "combiner"])
@pytest.mark.parametrize("death", ["os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)"], ids=["exit", "kill"])
def test_a_death_after_the_mapper_fails_the_job(run, death, role):
    roles = {"reducer": "Dying, Sums", "combiner": "Sums, Dying"}[role]
    text = misbehaving(death, run="class Dying(Sums): misbehave = Misbehaving.misbehave")
    job, _ = run(text + f"streaming.run(Job, {roles})\n", reducer=True, combiner=role == "combiner")
    assert job.code != 0


def test_a_script_that_catches_all_fails_the_job(run):
    text = misbehaving("1 / 0", run="")
    job, _ = run(text + "try:\n    streaming.run(Misbehaving)\nexcept BaseException:\n    pass\n")
    assert job.code != 0
    assert "ZeroDivisionError" in job.log


# -- whatever happens, wherever ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_a_job_fails_or_is_right(run, seed):
    rng = random.Random(seed)
    what = rng.choice([*DEATHS.values(), *NOISE])
    due, in_reducer = rng.randrange(1, 2 * NLINES), rng.random() < 0.5
    text = misbehaving(what, run="class Reducing(Sums): misbehave = Misbehaving.misbehave")
    if in_reducer:
        job, pairs = run(text + "streaming.run(Job, Reducing)", due=due, reducer=True)
    else:
        job, pairs = run(text + "streaming.run(Misbehaving)", due=due)
    assert pairs in (None, reduced() if in_reducer else mapped()), job.log
    assert (pairs is None) == (what in DEATHS.values() and due <= NLINES)


# -- what Hadoop does itself ------------------------------------------------------------------------------


def test_output_of_a_reducer_without_input_is_dropped_and_that_is_reported(run):
    text = """
    class Silent(Job):
        def map(self, key, value):
            return None
    class Late(Sums):
        def close(self):
            yield "late", 1
    streaming.run(Silent, Late)
    """
    job, pairs = run(text, reducer=True)
    assert pairs == [], job.log
    assert "a reducer without input has output, which Hadoop discards" in job.log
