"""Jobs on a real cluster on this machine: HDFS and YARN with several nodes, each task in a virtual machine and a process of its own.

``make cluster`` fetches about 190 jars of Hadoop, once, starts the cluster, submits jobs to it by ``typedbytes submit`` as a
user does, and compares what they wrote with what the examples give in this process. Their tasks run on a bare Python that has only
the bundle. A process of YARN takes memory: about 1 GB in all.
"""

import argparse
import contextlib
import random
import sys
import tempfile
import time
from operator import itemgetter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "examples"), str(ROOT / "test_vectors" / "java")]

import inputs  # noqa: E402
import jars  # noqa: E402
import max_temperature  # noqa: E402
import sessions  # noqa: E402
import wordcount  # noqa: E402

import typedbytes as tb  # noqa: E402
from hadoop_cluster import Cluster, ClusterError  # noqa: E402
from portable_jobs import JOBS, lay_out  # noqa: E402
from typedbytes.streaming import testing  # noqa: E402

SIDE_JOB = """\
from typedbytes import streaming

class Job:
    def configure(self):
        self.side = streaming.side_file("lengths")
    def map(self, offset, line):
        self.side.write(b"%d\\n" % len(line))
        yield line, int("no number" if line == "bad" else 1)

streaming.run(Job, max_bad=1)
"""
FAILING_JOB = """\
from typedbytes import streaming

def mapper(offset, line):
    raise LookupError("nothing is known about " + line)

streaming.run(mapper)
"""


def numbered(lines):
    """Return lines as a mapper of text gets them, but for the offsets."""
    return list(enumerate(lines))


def demand(is_so, what, output=""):
    print(f"  {'ok' if is_so else 'FAILED'}  {what}", flush=True)
    if not is_so:
        sys.exit(output)


def check_word_count(cluster):
    lines = [" ".join(random.Random(number).choices(["the", "quick", "brown", "fox", "ü", "лиса"], k=20)) for number in range(2000)]
    for part in range(3):
        (cluster.folder / f"words-{part}.txt").write_text("\n".join(lines[part::3]) + "\n")
    cluster.fs("-mkdir", "-p", "/in/words")
    cluster.fs("-put", *cluster.folder.glob("words-*.txt"), "/in/words")
    words = ("/in/words", "-o", "/out/words", "--reducers", 2, "--combiner", "--read")
    pairs, said = cluster.submit(ROOT / "examples" / "wordcount.py", *words)
    expected = testing.run_job(numbered(lines), wordcount.mapper, wordcount.reducer)
    demand(sorted(pairs) == sorted(expected), "word count: three maps, combiner, two reducers", said)
    demand("typedbytes: wordcount: words: 40000" in said, "its counters are reported", said)


def check_secondary_sort(cluster, script, module, lines):
    path = f"/in/{script}.txt"
    cluster.fs("-mkdir", "-p", "/in")
    (cluster.folder / f"{script}.txt").write_text("\n".join(lines) + "\n")
    cluster.fs("-put", cluster.folder / f"{script}.txt", path)
    words = (path, "-o", f"/out/{script}", "--reducers", 3, "--read")
    pairs, said = cluster.submit(ROOT / "examples" / f"{script}.py", *words)
    expected = testing.run_job(numbered(lines), module.mapper, module.reducer, group_by=itemgetter(0))
    demand(sorted(pairs) == sorted(expected), f"{script}: groups of a prefix of the key, three reducers", said)


def check_max_temperature(cluster):
    check_secondary_sort(cluster, "max_temperature", max_temperature, list(inputs.weather(5000)))


def check_sessions(cluster):
    check_secondary_sort(cluster, "sessions", sessions, list(inputs.log(5000)))


def put_lines(cluster):
    (cluster.folder / "side.txt").write_text("one\nbad\nthree\n")
    cluster.fs("-mkdir", "-p", "/in")
    cluster.fs("-put", "-f", cluster.folder / "side.txt", "/in/side.txt")


def check_side_files(cluster):
    put_lines(cluster)
    (cluster.folder / "side.py").write_text(SIDE_JOB)
    pairs, said = cluster.submit("side.py", "/in/side.txt", "-o", "/out/side", "--reducers", 0, "--read")
    demand(pairs == [("one", 1), ("three", 1)], "a bad record is left out", said)
    demand(cluster.fs("-cat", "/out/side/lengths-m-00000") == b"3\n3\n5\n", "a side file is beside the output, in HDFS", said)
    kept = list(tb.PairReader(cluster.fs("-cat", "/out/side/bad-records-m-00000")))
    demand(kept == [(4, "bad")], "the bad record is kept there too", said)


def check_failures(cluster):
    put_lines(cluster)
    (cluster.folder / "failing.py").write_text(FAILING_JOB)
    words = ("/in/side.txt", "-o", "/out/failing", "--reducers", 0)
    _, said = cluster.submit("failing.py", *words, code=1)
    demand("typedbytes: LookupError: nothing is known about one" in said, "a failing task's own message is reported", said)
    example = ROOT / "examples" / "wordcount.py"
    for words, expected in [
        (("/in/nothing", "-o", "/out/1"), "there is no such input"),
        (("/in/side.txt", "-o", "/out/failing"), "the output folder exists already"),
        (("/in/side.txt", "-o", "/out/2", "--no-bundle"), "the nodes have no typedbytes: submit without --no-bundle"),
        (("/in/side.txt", "-o", "/out/3", "--python", "/nowhere/python3"), "the nodes have no program /nowhere/python3: "),
    ]:
        _, said = cluster.submit(example, *words, code=1)
        demand(expected in said, f"users get: {expected}", said)


def check_portable_jobs(cluster):
    cluster.fs("-mkdir", "-p", "/in")
    for name in JOBS:
        job = lay_out(cluster.folder, name)
        cluster.fs("-put", "-f", cluster.folder / "in.txt", f"/in/{name}.txt")
        words = (f"/in/{name}.txt", "-o", f"/out/{name}", "--reducers", 2, "--read", *job.options, *job.submit_options)
        pairs, said = cluster.submit(f"{name}.py", *words)
        demand(sorted(pairs) == job.output, f"{name}: as here and in a shell's pipe", said)
        if job.side_output:
            others = cluster.fs("-cat", f"/out/{name}/others-*").decode().split()
            demand(sorted(others) == job.side_output, f"{name}: its side file", said)


CHECKS = {
    "words": check_word_count,
    "temperature": check_max_temperature,
    "sessions": check_sessions,
    "side-files": check_side_files,
    "jobs": check_portable_jobs,
    "failures": check_failures,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=3, help="of HDFS and of YARN (3)")
    parser.add_argument("checks", nargs="*", choices=[*CHECKS, []], default=[], help=f"which: {' '.join(CHECKS)} (all)")
    options = parser.parse_args()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="typedbytes-cluster-") as folder:
        with contextlib.closing(Cluster(Path(folder), nnodes=options.nodes, ndatanodes=options.nodes)) as cluster:
            print(f"a cluster of {options.nodes} nodes is up after {time.perf_counter() - started:.1f} s", flush=True)
            for name in options.checks or CHECKS:
                CHECKS[name](cluster)
    print(f"all is well after {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    try:
        main()
    except (jars.MissingToolError, ClusterError) as error:
        sys.exit(str(error))
