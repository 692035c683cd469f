"""What a Python task costs a Hadoop job: the identity map of (int, long) pairs by /bin/cat, and by us.

Real Hadoop Streaming jobs in one warm virtual machine, with ``-io typedbytes``, a SequenceFile as input, one split, no
reducer, and the output thrown away after the reader of the pipe. The jobs take turns. Wall is that of the whole job as
its client sees it; CPU is that of the virtual machine and of the task's process, each of them.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.hadoop_support import SEQUENCE_FILE_INPUT, hadoop, python_command  # noqa: E402
from typedbytes import Long, sequencefile  # noqa: E402

OPTIONS = ("-inputformat", SEQUENCE_FILE_INPUT, "-outputformat", "org.apache.hadoop.mapred.lib.NullOutputFormat")
GOAL = 1.15
ONE_SPLIT = {"mapreduce.input.fileinputformat.split.minsize": 2**40}

YIELDING = """\
from typedbytes import streaming

def mapper(key, value):
    yield key, value

streaming.run(mapper)
"""
RETURNING = """\
from typedbytes import streaming
streaming.run(lambda key, value: ((key, value),))
"""
BATCHES = """\
from typedbytes import streaming
streaming.run(lambda batch: batch, batch=True)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        with sequencefile.open(str(folder / "in.seq"), "w") as file:
            file.writes((number, Long(7 * number)) for number in range(options.pairs))
        contenders = {"/bin/cat": "/bin/cat"}
        for name, text in {"yield": YIELDING, "return": RETURNING, "batch=True": BATCHES}.items():
            (folder / f"{len(name)}.py").write_text(text)
            contenders[name] = python_command(folder / f"{len(name)}.py", "map")
        figures = {name: [] for name in contenders}
        for turn in range(options.rounds + 1):
            for number, (name, mapper) in enumerate(contenders.items()):
                figure = run(folder, mapper, f"{turn}-{number}", options.pairs)
                figures[name] += [figure] if turn else []  # the first round warms the virtual machine
    report(figures, options)


def run(folder, mapper, number, npairs):
    """Run one job; return its wall time and the CPU time of the virtual machine and of its children."""

    def start():
        job = hadoop().job(
            input=folder / "in.seq", output=folder / f"out-{number}", mapper=mapper, nreducers=0, options=OPTIONS,
            properties=ONE_SPLIT,
        )  # fmt: skip
        if not job.code and job.counters["org.apache.hadoop.mapreduce.TaskCounter"]["MAP_OUTPUT_RECORDS"] != npairs:
            sys.exit(f"the job did not do its work:\n{job.log}")
        return job

    return measured(start)


def measured(start):
    """Run a job; return its wall time and the CPU time of the virtual machine and of its children."""
    before, started = cpu_seconds(), time.perf_counter()
    job = start()
    wall = time.perf_counter() - started
    after = cpu_seconds()
    if job.code:
        sys.exit(f"the job failed:\n{job.log}")
    return wall, after[0] - before[0], after[1] - before[1]


def cpu_seconds():
    """Return the CPU seconds of the virtual machine so far, and of the processes that it started and that ended."""
    fields = Path(f"/proc/{hadoop().pid}/stat").read_text().rpartition(")")[2].split()
    ticks = os.sysconf("SC_CLK_TCK")
    return sum(map(int, fields[11:13])) / ticks, sum(map(int, fields[13:15])) / ticks


def report(figures, options):
    """Print a row for each mapper: least and median wall time, how the medians compare with cat's, median CPU."""
    cat = statistics.median(wall for wall, _, _ in figures["/bin/cat"])
    print(
        f"{options.pairs:,} pairs of (int, long), {options.rounds} rounds; "
        f"to cat: the median wall time by that of cat, {GOAL} at most"
    )
    print(f"{'mapper':<12}{'least':>8}{'median':>9}{'to cat':>8}{'':9}{'CPU: JVM':>10}{'task':>8}")
    for name, rounds in figures.items():
        walls, machine, task = zip(*rounds)
        ratio = statistics.median(walls) / cat
        verdict = "" if name == "/bin/cat" else "reached" if ratio <= GOAL else "missed"
        print(
            f"{name:<12}{min(walls):>7.2f}s{statistics.median(walls):>8.2f}s{ratio:>8.2f} {verdict:8}"
            f"{statistics.median(machine):>9.2f}s{statistics.median(task):>7.2f}s"
        )


if __name__ == "__main__":
    main()
