"""Jobs on this machine to which something happens at a random moment: none may report success with output that is wrong.

``python tests/chaos.py RUNS`` does so many runs, each from a seed of its own, and prints what became of them; the suite does a few. Here:
disasters, and the judgement of a run. Always true: a run either has exactly the pairs that plain Python gives for its input, or it
failed and has left no output folder and nothing beside it.
"""

import collections
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from local_jobs import pairs_of, write_script, write_words
from streaming_support import environment

SECONDS = 120    # far beyond what a run needs
DONE, FAILED = 0, (1, 130, 143, -signal.SIGINT, -signal.SIGTERM)    # those two before the job has begun

# What a task does when its record is due. The first few must not matter; the others must fail the attempt.
HARMLESS = [
    "print('hello'); sys.stdout.flush()",
    "os.write(1, b'\\xff' * 1000)",
    "os.system('echo hello')",
    "sys.stderr.write('x' * 100_000)",
    "subprocess.Popen(['sleep', '9'])",
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


def run_once(seed):
    """Do one run and return what became of it: a text."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counts = write_words(folder / "in.txt", chance.choice([50, 2000, 20_000]), seed)
        script, what = _script(chance)
        write_script(folder, script)
        code, disaster = _run(chance, folder)
        return f"{_judge(folder, code, counts, f'seed {seed}: {what}; {disaster}')} by {what}; {disaster}"


def _script(chance):
    what = chance.choice([*HARMLESS, *DEADLY, "pass"])
    facts = {"role": chance.choice(["map", "combine", "reduce"]), "due": chance.randrange(1, 60), "often": chance.choice(["True", ONCE])}
    return SCRIPT.format(what=what, **facts), what


def _run(chance, folder):
    options = ["-q", "-o", "out", "--processes", chance.choice("12"), "-r", chance.choice("127"), "--attempts", chance.choice("123")]
    options += ["--split-size", chance.choice(["4K", "40K", "1M"]), "--memory", chance.choice(["2M", "16M"])]
    options += ["--codec", chance.choice(["none", "zlib"])] + chance.choice([[], ["--no-combiner"]])
    command = [sys.executable, "-m", "typedbytes", "run", "job.py", "in.txt", *options]
    disaster = chance.choice(["nothing", "nothing", "a task is killed", "the job is stopped", "files are limited"])
    if disaster == "files are limited":
        command = ["bash", "-c", f'ulimit -f {chance.choice([1, 8, 64])}; exec "$@"', "limited", *command]
    job = subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if disaster == "a task is killed":
        threading.Thread(target=_kill_children, args=(job, random.Random(chance.random())), daemon=True).start()
    elif disaster == "the job is stopped":
        time.sleep(chance.uniform(0, 1.5))
        job.send_signal(chance.choice([signal.SIGINT, signal.SIGTERM]))
    try:
        return job.wait(SECONDS), disaster
    finally:
        job.kill()
        job.wait()


def _kill_children(job, chance):
    """End processes of the job now and then, as long as it lasts."""
    while job.poll() is None:
        time.sleep(chance.uniform(0.05, 0.5))
        children = _children_of(job.pid)
        if children:
            try:
                os.kill(chance.choice(children), chance.choice([signal.SIGKILL, signal.SIGTERM]))
            except ProcessLookupError:
                pass


def _children_of(pid):
    try:
        return [int(each) for task in os.listdir(f"/proc/{pid}/task") for each in Path(f"/proc/{pid}/task/{task}/children").read_text().split()]
    except FileNotFoundError:
        return []


def _judge(folder, code, counts, story):
    left = sorted(set(os.listdir(folder)) - {"in.txt", "job.py", "happened"})
    if code == DONE:
        if left != ["out"] or dict(pairs_of(folder / "out")) != counts:
            raise WrongError(f"success with wrong output: {story}")
        return "right"
    if code not in FAILED:
        raise WrongError(f"exit code {code}: {story}")
    if left:
        raise WrongError(f"left behind {left}: {story}")
    return "failed"


def main(nruns, first=0):
    """Do so many runs; exit code 1 when one of them is wrong."""
    became, nwrong = collections.Counter(), 0
    for seed in range(first, first + nruns):
        try:
            outcome = run_once(seed)
        except WrongError as error:
            outcome = f"WRONG {error}"
            nwrong += 1
        became[outcome.split()[0]] += 1
        print(f"{seed:6} {outcome}", flush=True)
    print(", ".join(f"{n} {name}" for name, n in became.items()))
    sys.exit(nwrong > 0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
