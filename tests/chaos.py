"""Jobs to which something happens at a random moment: none may report success with output that is wrong.

``python tests/chaos.py RUNS`` does so many runs, each from a seed of its own, by turns a job of typedbytes.local and a job of a real
Hadoop in its local mode, and prints what became of them; the suite does a few. Here: disasters, and the judgement of a run. Always true:
a run either has exactly the pairs that plain Python gives for its input, or it had a reason to fail and has left no output that looks
whole; a job of typedbytes.local has left nothing at all then.
"""

import collections
import contextlib
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from hadoop_support import SEQUENCE_FILE_OUTPUT, hadoop, python_command
from local_jobs import pairs_of, write_script, write_words
from streaming_support import environment

SECONDS = 120    # far beyond what a run needs
DONE, STOPPED = 0, (130, 143, -signal.SIGINT, -signal.SIGTERM)    # the last two before the job has begun, or when all is done

# What a task does when its record is due. The first few must not matter; the others must fail the attempt.
HARMLESS = [
    "print('hello'); sys.stdout.flush()",
    "os.write(1, b'\\xff' * 1000)",
    "os.system('echo hello')",
    "sys.stderr.write('x' * 100_000)",
    "subprocess.Popen(['sleep', '2'])",
    "os.fork()",
]
DEADLY = [
    "os._exit(0)",
    "os._exit(3)",
    "sys.exit(0)",
    "1 / 0",
    "os.kill(os.getpid(), signal.SIGKILL)",
    "os.kill(os.getpid(), signal.SIGTERM)",
    "os.abort()",
    "os.closerange(3, 50)",
    "resource.setrlimit(resource.RLIMIT_AS, (1, 1)); bytearray(1 << 24)",
]

SCRIPT = """
    import os, resource, signal, subprocess, sys
    from typedbytes import streaming

    FOLDER = os.path.dirname(os.path.abspath(__file__))
    ROLE, DUE = {role!r}, {due}

    class Job:
        seen = 0

        def happens(self, role):
            self.seen += 1
            if role == ROLE and self.seen == DUE and {often}:
                {what}

        def map(self, offset, line):
            self.happens("map")
            for word in line.split():
                yield word, 1

        def reduce(self, word, counts):
            self.happens(sys.argv[1])
            yield word, sum(counts)

    if __name__ == "__main__":
        streaming.run(Job, Job, combiner=Job)
"""
ONCE = "not os.path.exists(FOLDER + '/happened') and not open(FOLDER + '/happened', 'w').close()"


class WrongError(AssertionError):
    """A run has reported success with wrong output, or left something behind."""


def run_once(seed, place):
    """Do one run in a place, "local" or "hadoop", and return what became of it: a text that begins with right or failed."""
    chance = random.Random(seed)
    run, disasters = PLACES[place]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counts = write_words(folder / "in.txt", chance.choice([50, 2000, 20_000]), seed)
        script, what = _script(chance)
        write_script(folder, script)
        disaster = chance.choice(disasters)
        code = run(chance, folder, disaster)
        has_reason = what in DEADLY or disaster != NOTHING
        return f"{_judge(folder, place, code, counts, has_reason, f'seed {seed}: {what}; {disaster}')} by {what}; {disaster}"


def _script(chance):
    what = chance.choice([*HARMLESS, *DEADLY, "pass"])
    facts = {"role": chance.choice(["map", "combine", "reduce"]), "due": chance.randrange(1, 60), "often": chance.choice(["True", ONCE])}
    return SCRIPT.format(what=what, **facts), what


def _run_here(chance, folder, disaster):
    options = ["-q", "-o", "out", "--processes", chance.choice("12"), "-r", chance.choice("127"), "--attempts", chance.choice("123")]
    options += ["--split-size", chance.choice(["4K", "40K", "1M"]), "--memory", chance.choice(["2M", "16M"])]
    options += ["--codec", chance.choice(["none", "zlib"])] + chance.choice([[], ["--no-combiner"]])
    command = [sys.executable, "-m", "typedbytes", "run", "job.py", "in.txt", *options]
    job = subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with _disturbed(job.pid, disaster, chance):
            return job.wait(SECONDS)
    finally:
        job.kill()
        job.wait()


def _run_on_hadoop(chance, folder, disaster):
    command = python_command(folder / "job.py")
    job = {
        "combiner": chance.choice([None, f"{command} combine"]),
        "nreducers": chance.choice([1, 2, 7]),
        "properties": {
            "mapreduce.local.map.tasks.maximum": chance.choice([1, 2]),
            "mapreduce.task.io.sort.mb": 1,
            "mapreduce.map.sort.spill.percent": chance.choice([0.1, 0.8]),
            "fs.local.block.size": chance.choice([40, 100, 1000]) << 10,    # of a split
            "fs.file.impl.disable.cache": "true",
        },
    }
    with _disturbed(hadoop().pid, disaster, chance):
        return (
            hadoop()
            .job(
                input=folder / "in.txt", output=folder / "out", options=["-outputformat", SEQUENCE_FILE_OUTPUT],
                mapper=f"{command} map", reducer=f"{command} reduce", **job,
            )  # fmt: skip
            .code
        )


@contextlib.contextmanager
def _disturbed(pid, disaster, chance):
    """Have a disaster come over a process, at some moment before the block ends."""
    chance, over = random.Random(chance.random()), threading.Event()

    def disturb():
        with contextlib.suppress(ProcessLookupError):    # it has ended before
            DISASTERS[disaster](pid, chance, over)

    helper = threading.Thread(target=disturb, daemon=True)
    helper.start()
    try:
        yield
    finally:
        over.set()
        helper.join()


def _do_nothing(pid, chance, over):
    pass


def _stop(pid, chance, over):
    if not over.wait(chance.uniform(0, 1.5)):
        os.kill(pid, chance.choice([signal.SIGINT, signal.SIGTERM]))


def _kill_children(pid, chance, over):
    """End processes that the process has started, now and then."""
    while not over.wait(chance.uniform(0.05, 0.5)):
        children = _children_of(pid)
        if children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(children), chance.choice([signal.SIGKILL, signal.SIGTERM]))


def _limit_files(pid, chance, over):
    """From some moment on, let no file of the process grow any more, as on a full disk."""
    most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    if not over.wait(chance.uniform(0, 1.5)):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (chance.choice([16, 64, 256]) << 10, most[1]))
        over.wait()
        resource.prlimit(pid, resource.RLIMIT_FSIZE, most)


def _children_of(pid):
    try:
        return [int(each) for task in os.listdir(f"/proc/{pid}/task") for each in Path(f"/proc/{pid}/task/{task}/children").read_text().split()]
    except FileNotFoundError:
        return []


NOTHING = "nothing"
DISASTERS = {NOTHING: _do_nothing, "a task is killed": _kill_children, "files are limited": _limit_files, "the job is stopped": _stop}

#: By place: what does a run, and what may happen to it; a job in Hadoop's machine cannot be stopped without the machine.
PLACES = {
    "local": (_run_here, [NOTHING, *DISASTERS]),
    "hadoop": (_run_on_hadoop, [NOTHING, *list(DISASTERS)[:-1]]),
}


def _judge(folder, place, code, counts, has_reason, story):
    left = sorted(set(os.listdir(folder)) - {"in.txt", "job.py", "happened"})
    looks_whole = (folder / "out" / "_SUCCESS").exists()
    is_right = looks_whole and left == ["out"] and sorted(pairs_of(folder / "out")) == sorted(counts.items())
    if code == DONE and not is_right:
        raise WrongError(f"success with wrong output: {story}")
    if is_right and (code == DONE or place == "local" and code in STOPPED):
        return "right"
    if place == "local" and code not in (1, *STOPPED):
        raise WrongError(f"exit code {code}: {story}")
    if looks_whole or (place == "local" and left):
        raise WrongError(f"left behind {left}: {story}")
    if not has_reason:
        raise WrongError(f"failed without a reason: {story}")
    return "failed"


def main(nruns, first=0):
    """Do so many runs; exit code 1 when one of them is wrong."""
    became = {place: collections.Counter() for place in PLACES}
    for seed in range(first, first + nruns):
        place = list(PLACES)[seed % len(PLACES)]
        try:
            outcome = run_once(seed, place)
        except WrongError as error:
            outcome = f"WRONG {error}"
        became[place][outcome.split()[0]] += 1
        print(f"{seed:6} {place:6} {outcome}", flush=True)
    became["together"] = sum(became.values(), collections.Counter())
    for place, n in became.items():
        print(f"{place}: {sum(n.values())} runs, {n['right']} right, {n['failed']} failed as they should, {n['WRONG']} wrong")
    sys.exit(became["together"]["WRONG"] > 0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
