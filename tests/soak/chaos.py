"""Jobs to which something happens at a random moment: none reports success with wrong output, or leaves anything.

``python tests/soak/chaos.py LOCAL HADOOP`` runs LOCAL jobs of typedbytes.local, two at a time, and HADOOP jobs of a
real Hadoop in its local mode, each from a seed of its own; it prints how each ended and counts that by fault. The suite
does a few. Here: faults, and the judgement of a run. Invariant: a run either has exactly the pairs that plain Python
gives for its input, without the records in its side files, or it had a reason to fail and has left no output that looks
whole; a job of typedbytes.local has left no other file, and no job a process.
"""

import argparse
import collections
import contextlib
import functools
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gates import figures
from support import failing_jobs
from support.hadoop_support import SEQUENCE_FILE_OUTPUT, hadoop, python_command
from support.local_jobs import RUN, pairs_of, write_script, write_words
from support.streaming_support import NO_BYTECODE, environment

SECONDS = 120  # far beyond what a run needs
END_SECONDS = 15  # seconds until what has been killed must be gone
DONE, FAILED, IO_ERROR = 0, 1, 74
ENDS = signal.SIGHUP, signal.SIGINT, signal.SIGTERM
# A job that was stopped: the last ones before it has begun, or when all is done.
STOPPED = (*(128 + number for number in ENDS), *(-number for number in ENDS), -signal.SIGKILL)

HANGS = "a task that hangs"
# What a task does when its record is due, by name. These must not matter,
HARMLESS = {
    "nothing": "pass",
    "stray output": "print('hello'); sys.stdout.flush(); os.system('echo hello'); os.write(1, b'hello\\n')",
    "a stray marker": "os.write(1, b'\\xff' * 1000 + b'\\n')",
    "output of C": "ctypes.CDLL(None).puts(b'hello'); ctypes.CDLL(None).fflush(None)",
    "many messages": "sys.stderr.write('x' * 100_000 + chr(10))",
    "a child left running": "subprocess.Popen(['sleep', LONG])",
    "a fork": "os.fork()",
    "ticks": "signal.signal(signal.SIGALRM, lambda *given: None); signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)",
}
# these may fail the attempt,
ALARMS = {"an alarm, then the next group": "GIVE_UP", "an alarm, then on": "GO_ON"}
# and these must, if they come to it.
DEADLY = {
    "os._exit(0)": "os._exit(0)",
    "os._exit(3)": "os._exit(3)",
    "sys.exit(0)": "sys.exit(0)",
    "an exception": "1 / 0",
    "SIGKILL": "os.kill(own(), signal.SIGKILL)",
    "SIGTERM": "os.kill(own(), signal.SIGTERM)",
    "a real-time signal": "os.kill(own(), numbers.randrange(signal.SIGRTMIN, signal.SIGRTMAX + 1))",
    "abort": "os.abort()",
    "closed descriptors": "os.closerange(3, 50)",
    "no memory": "resource.setrlimit(resource.RLIMIT_AS, (1, 1)); bytearray(1 << 24)",
    HANGS: "time.sleep(float(LONG))",
    "SIGKILL inside a record": "return [1, [2, object()]]    # which default_ is asked for",
    "os._exit(0) inside a record": "return [1, [3, object()]]",
}

SCRIPT = """
    import ctypes, importlib, os, resource, signal, subprocess, sys, time
    from typedbytes import streaming

    # Not named in the source, since tasks of a script that names them are not forked.
    numbers = importlib.import_module("ran" "dom")
    own = getattr(os, "get" "pid")

    FOLDER = os.path.dirname(os.path.abspath(__file__))
    ROLE, DUE, GIVE_UP, GO_ON = {role!r}, {due}, 1, 2
    ALARM, LONG = {alarm}, {long!r}

    class Alarm(Exception):
        pass

    is_armed = False

    def ring(number, frame):
        if is_armed:    # another thread may learn of it late
            raise Alarm

    def arm():
        global is_armed
        is_armed = numbers.uniform(0, 1) < 0.1
        if is_armed:
            signal.setitimer(signal.ITIMER_REAL, numbers.uniform(1e-6, 4e-5))

    def disarm():
        global is_armed
        is_armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)

    def default(obj):
        os.kill(own(), signal.SIGKILL) if {by_signal} else os._exit(0)

    class Job:
        seen = 0

        def happens(self, role):
            self.seen += 1
            if role == ROLE and self.seen == DUE and {often}:
                {what}

        def map(self, offset, line):
            value = self.happens("map") or 1
            for word in line.split():
                yield word, value

        def reduce(self, word, counts):
            instead = self.happens(sys.argv[1])
            if not ALARM:
                yield word, instead or sum(counts)
            elif sys.argv[1] == "reduce":
                yield word, self.alarmed(counts)
            else:
                for count in counts:
                    yield word, count

        def close(self):
            disarm()    # whatever ticks: the interpreter's end knows no handlers

        def alarmed(self, counts):
            # what is counted, and how often the alarm has come: of what came then,
            # one value may be lost between two steps of this
            total = nalarms = 0
            signal.signal(signal.SIGALRM, ring)
            while True:
                try:
                    arm()
                    for count in counts:
                        total += count
                    disarm()
                    return [total, nalarms]
                except Alarm:
                    nalarms += 1
                    if ALARM == GIVE_UP:
                        return [total, nalarms, "given up"]

{definitions}
    if __name__ == "__main__":
        streaming.run({call})
"""
PLAIN, PLAIN_CALL = "word count", 'Job, Job, combiner=Job, write_options={"default": default}'
ONCE = "not os.path.exists(FOLDER + '/happened') and not open(FOLDER + '/happened', 'w').close()"


class WrongError(AssertionError):
    """A run reported success with wrong output, left something, or failed for nothing: `outcome`, of BAD."""

    def __init__(self, outcome, story=""):
        super().__init__(story or outcome)
        self.outcome = outcome


Run = collections.namedtuple("Run", "seed engine job what disaster outcome story")

RIGHT, AS_IT_SHOULD = "right", "failed"
WRONG, LEFT_FILES, LEFT_PROCESSES, NO_REASON, ODD_CODE = (
    "wrong", "left files", "left processes", "failed for nothing", "odd exit code",
)  # fmt: skip
BAD = (WRONG, LEFT_FILES, LEFT_PROCESSES, NO_REASON, ODD_CODE)


def run_once(seed, engine):
    """Do one run on an engine, "local" or "hadoop", and return the Run."""
    what, disaster = drawn(seed, engine)
    rng, run = random.Random(seed), ENGINES[engine][0]
    job = drawn_job(seed, what)
    with tempfile.TemporaryDirectory(prefix="chaos-") as name:
        folder = Path(name)
        counts = write_words(folder / "in.txt", rng.choice([200, 1000, 5000]), seed)
        # Hadoop ends no children of tasks
        write_script(folder, _script(rng, what, job, long="600" if engine == "local" else "2"))
        code = run(rng, folder, disaster)
        has_reason = what not in HARMLESS or disaster != NOTHING
        story = f"{job}; {what}; {disaster}; exit code {code}"
        try:
            if job != PLAIN:
                _left_after_wait(lambda: processes_of(folder))  # then its side files stay as they are
                lines = (folder / "in.txt").read_text(encoding="utf-8").splitlines()
                counts = failing_jobs.expected_counts(folder / "out", lines, job, what not in HARMLESS)
            outcome = _judge(folder, engine, code, counts, has_reason, disaster == LIMITED)
        except WrongError as error:
            outcome, story = error.outcome, f"{error}: {story}"
        for pid in processes_of(folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    return Run(seed, engine, job, what, disaster, outcome, story)


def drawn(seed, engine):
    """Return which faults a run has: what its tasks do, by turns, and what comes over it."""
    all_that_tasks_do = [*HARMLESS, *ALARMS, *DEADLY]
    _, disasters = ENGINES[engine]
    what, rng = all_that_tasks_do[seed % len(all_that_tasks_do)], random.Random(seed)
    if what == HANGS and engine == "local":
        return what, rng.choice(STOPPING)  # only this ends it
    return what, rng.choice([NOTHING] * len(disasters) + disasters)


def drawn_job(seed, what):
    """Return the name of the job of a run; only the plain one knows alarms."""
    return PLAIN if what in ALARMS else random.Random(~seed).choice([PLAIN, *failing_jobs.JOBS])


def _script(rng, what, job, **fields):
    fields = {
        **fields,
        "role": rng.choice(["map", "combine", "reduce"]),
        "due": rng.randrange(1, 25),
        "often": rng.choice(["True", ONCE]),
    }
    fields["by_signal"] = what.startswith("SIGKILL")
    fields["call"], fields["definitions"] = (
        (PLAIN_CALL, "") if job == PLAIN else (failing_jobs.call(job, rng), failing_jobs.definitions())
    )
    return SCRIPT.format(what={**HARMLESS, **DEADLY}.get(what, "pass"), alarm=ALARMS.get(what), **fields)


def _run_here(rng, folder, disaster):
    options = [
        "-q", "-o", "out", "--processes", rng.choice("12"), "-r", rng.choice("1124"), "--attempts", rng.choice("123"),
    ]  # fmt: skip
    options += ["--split-size", rng.choice(["1K", "4K", "16K", "1M"]), "--memory", rng.choice(["2M", "16M"])]
    options += ["--codec", rng.choice(["none", "zlib"])] + rng.choice([[], ["--no-combiner"]])
    options += rng.choice([[], [], ["--no-fork"]])
    command = [*RUN, "job.py", "in.txt", *options]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    # a shell's background job ignores some signals, and so would its children
    before_exec = functools.partial(_restore_default_handlers, ENDS)
    job = subprocess.Popen(
        command, cwd=folder, env=environment({"CHAOS": str(folder), **NO_BYTECODE}), preexec_fn=before_exec, **quiet
    )
    try:
        with _with_disaster(job.pid, disaster, rng):
            return job.wait(SECONDS)
    finally:
        job.kill()
        job.wait()


def _restore_default_handlers(numbers):
    for number in numbers:
        signal.signal(number, signal.SIG_DFL)


def _run_on_hadoop(rng, folder, disaster):
    command = python_command(folder / "job.py")
    job = {
        "combiner": rng.choice([None, f"{command} combine"]),
        "nreducers": rng.choice([1, 1, 2, 4]),
        "properties": {
            "mapreduce.local.map.tasks.maximum": rng.choice([1, 2]),
            "mapreduce.task.io.sort.mb": 1,
            "mapreduce.map.sort.spill.percent": rng.choice([0.1, 0.8]),
            "fs.local.block.size": rng.choice([16, 40, 1000]) << 10,  # of a split
            "fs.file.impl.disable.cache": "true",
        },
    }
    with _with_disaster(hadoop().pid, disaster, rng):
        return (
            hadoop()
            .job(
                input=folder / "in.txt", output=folder / "out", options=["-outputformat", SEQUENCE_FILE_OUTPUT],
                mapper=f"{command} map", reducer=f"{command} reduce", **job,
            )  # fmt: skip
            .code
        )  # fmt: skip


# -- disasters ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _with_disaster(pid, disaster, rng):
    """Let a disaster happen to a process, at some moment before the block ends."""
    rng, over = random.Random(rng.random()), threading.Event()

    def disturb():
        with contextlib.suppress(ProcessLookupError):  # it has ended before
            DISASTERS[disaster](pid, rng, over)

    helper = threading.Thread(target=disturb, daemon=True)
    helper.start()
    try:
        yield
    finally:
        over.set()
        helper.join()


def _do_nothing(pid, rng, over):
    pass


def _is_over(rng, over):
    """Wait for a moment in the life of a job and return whether it is over before that."""
    return over.wait(rng.uniform(0, 0.9))


def _send(number, pid, rng, over):
    if not _is_over(rng, over):
        os.kill(pid, number)


def _send_many(pid, rng, over):
    """Send several signals within 40 ms."""
    if not _is_over(rng, over):
        for _ in range(rng.randrange(2, 7)):
            os.kill(pid, rng.choice(ENDS))
            time.sleep(rng.uniform(0, 0.01))


def _end_tasks(number, pid, rng, over):
    """End a few of the processes that the process has started, one after the other."""
    for _ in range(rng.randrange(1, 4)):
        if over.wait(rng.uniform(0.02, 0.5)):
            break
        # and those that are forked from one, but not what Hadoop itself starts
        started = [each for child in _children_of(pid) for each in (child, *_children_of(child))]
        tasks = [each for each in started if b"job.py" in _proc_file_of(each, "cmdline")]
        if tasks:
            with contextlib.suppress(ProcessLookupError):
                os.kill(rng.choice(tasks), number)


def _end_caretaker(pid, rng, over):
    if not _is_over(rng, over):
        for child in filter(_is_caretaker, _children_of(pid)):
            os.kill(child, signal.SIGKILL)


def _limit_files(pid, rng, over):
    """From some moment on, let no file of the process grow any more, as on a full disk."""
    most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    if not _is_over(rng, over):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (rng.choice([1, 4, 16, 64]) << 10, most[1]))
        over.wait()
        resource.prlimit(pid, resource.RLIMIT_FSIZE, most)


def _children_of(pid):
    try:
        return [
            int(each)
            for task in os.listdir(f"/proc/{pid}/task")
            for each in Path(f"/proc/{pid}/task/{task}/children").read_text().split()
        ]
    except (FileNotFoundError, ProcessLookupError):
        return []


def _is_caretaker(pid):
    return b"caretaker.py" in _proc_file_of(pid, "cmdline")


def _proc_file_of(pid, name):
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:  # it has ended, or is another user's
        return b""


NOTHING, LIMITED = "nothing", "files are limited"
# What comes over the processes that the job has started, here and in Hadoop, and over its own files,
OF_TASKS = {
    "a task is sent SIGKILL": functools.partial(_end_tasks, signal.SIGKILL),
    "a task is sent SIGTERM": functools.partial(_end_tasks, signal.SIGTERM),
    "a task is sent SIGRTMIN+3": functools.partial(_end_tasks, signal.SIGRTMIN + 3),
    LIMITED: _limit_files,
}
# and over the job's process, which in Hadoop would be the machine of all jobs.
STOPS = {
    "the job is sent SIGHUP": functools.partial(_send, signal.SIGHUP),
    "the job is sent SIGINT": functools.partial(_send, signal.SIGINT),
    "the job is sent SIGTERM": functools.partial(_send, signal.SIGTERM),
    "the job is sent SIGKILL": functools.partial(_send, signal.SIGKILL),
    "the job is sent many signals": _send_many,
}
STOPPING = list(STOPS)
OF_JOBS = {**STOPS, "its caretaker is killed": _end_caretaker}
DISASTERS = {NOTHING: _do_nothing, **OF_TASKS, **OF_JOBS}

#: By engine: the function that does a run, and the disasters that may befall it.
ENGINES = {"local": (_run_here, [*OF_TASKS, *OF_JOBS]), "hadoop": (_run_on_hadoop, [*OF_TASKS])}


# -- judgement ----------------------------------------------------------------------------------------------


def processes_of(folder):
    """Return the processes whose command or environment names a folder."""
    name = os.fsencode(folder)
    return [
        int(pid)
        for pid in os.listdir("/proc")
        if pid.isdigit() and any(name in _proc_file_of(pid, each) for each in ("cmdline", "environ"))
    ]


def _files_in(folder):
    return sorted(set(os.listdir(folder)) - {"in.txt", "job.py", "happened"})


def _left_after_wait(look):
    """Wait until nothing is found, END_SECONDS at most; return what is found then."""
    deadline = time.monotonic() + END_SECONDS
    while (found := look()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _judge(folder, engine, code, counts, has_reason, is_limited=False):
    if processes := _left_after_wait(lambda: processes_of(folder)):
        raise WrongError(LEFT_PROCESSES, str([_proc_file_of(pid, "cmdline") for pid in processes]))
    # Nothing is left running, so nothing more is removed either: what is there stays.
    left = _files_in(folder)
    looks_whole = (folder / "out" / "_SUCCESS").exists()
    is_right = looks_whole and left == ["out"] and _agrees(pairs_of(folder / "out"), counts)
    if code == DONE and not is_right:
        raise WrongError(WRONG)
    if is_right and (code == DONE or engine == "local" and code in STOPPED):
        return RIGHT
    if engine == "local" and code not in (FAILED, *STOPPED, *([IO_ERROR] if is_limited else [])):
        raise WrongError(ODD_CODE)
    if looks_whole or (engine == "local" and left):
        raise WrongError(LEFT_FILES, str(left))
    if not has_reason:
        raise WrongError(NO_REASON)
    return AS_IT_SHOULD


def _agrees(pairs, counts):
    """Return whether an output has each word once, with its count.

    Where an alarm came as often as it says, one may be missing each time.
    """
    if counts is None:
        return False
    found = dict(pairs)
    return (
        len(pairs) == len(found)
        and found.keys() == counts.keys()
        and all(_is_count(found[word], counts[word]) for word in counts)
    )


def _is_count(value, count):
    if not isinstance(value, list):
        return value == count
    total, nalarms, *given_up = value
    return 0 <= total <= count if given_up and nalarms else count - nalarms <= total <= count


# -- many runs ----------------------------------------------------------------------------------------------


def main(nlocal, nhadoop, first):
    """Do a number of runs on each engine; return whether all were as expected."""
    runs = []
    for engine, number, side_by_side in (("local", nlocal, 2), ("hadoop", nhadoop, 1)):
        with ThreadPoolExecutor(side_by_side) as pool:
            for run in pool.map(functools.partial(run_once, engine=engine), range(first, first + number)):
                runs.append(run)
                print(
                    f"{run.seed:6} {run.engine:6} {run.outcome.upper() if run.outcome in BAD else run.outcome}: "
                    f"{run.story}",
                    flush=True,
                )
    counted = collections.Counter(run.outcome for run in runs)
    by_fault = collections.defaultdict(collections.Counter)
    for run in runs:
        for fault in (f"job: {run.job}", f"task: {run.what}", f"outside: {run.disaster}"):
            by_fault[fault][run.outcome] += 1
    for fault, outcomes in sorted(by_fault.items()):
        print(f"{fault:45} {', '.join(f'{number} {outcome}' for outcome, number in outcomes.most_common())}")
    counts = {outcome.replace(" ", "_"): counted[outcome] for outcome in (RIGHT, AS_IT_SHOULD, *BAD)}
    nfaults = sum(not fault.startswith("job: ") for fault in by_fault)
    figures.report(local=nlocal, hadoop=nhadoop, faults=nfaults, of_each=by_fault, **counts)
    return not any(counted[outcome] for outcome in BAD)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "nlocal", nargs="?", type=int, default=1000, metavar="LOCAL", help="jobs of typedbytes.local (1000)"
    )
    parser.add_argument("nhadoop", nargs="?", type=int, default=100, metavar="HADOOP", help="jobs of Hadoop (100)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    options = parser.parse_args()
    sys.exit(not main(options.nlocal, options.nhadoop, options.first))
