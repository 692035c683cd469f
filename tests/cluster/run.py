"""Jobs on a real cluster on this machine: HDFS and YARN with several nodes, each task in a JVM and a process.

``make cluster`` fetches about 190 jars of Hadoop, once, starts the cluster, submits jobs to it by ``typedbytes submit``
as a user does, and compares what they wrote with what the examples give in this process. Their tasks run on a bare
Python that has only the bundle. A process of YARN takes memory: about 1 GB in all.
"""

import argparse
import concurrent.futures
import contextlib
import random
import sys
import tempfile
import time
from operator import itemgetter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "examples"), str(ROOT / "test_vectors" / "java")]

import inputs  # noqa: E402
import jars  # noqa: E402
import max_temperature  # noqa: E402
import sessions  # noqa: E402
import wordcount  # noqa: E402

import typedbytes as tb  # noqa: E402
from support.hadoop_cluster import BARE_PYTHON, Cluster, ClusterError  # noqa: E402
from support.portable_jobs import JOBS, lay_out  # noqa: E402
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
# Early in its input, the first attempt of a task gets into the trouble that its parameters name.
TROUBLED_JOB = """\
import os, signal, time
from typedbytes import streaming

PARAMS = streaming.task().params
IS_FIRST = os.environ["mapreduce_task_attempt_id"].endswith("_0")

def get_into_trouble(role):
    if not IS_FIRST or role != PARAMS["role"]:
        return
    if PARAMS["trouble"] == "task":
        os.kill(os.getpid(), signal.SIGKILL)
    elif PARAMS["trouble"] == "jvm":
        os.kill(os.getppid(), signal.SIGKILL)
    elif PARAMS["trouble"] == "node" or os.environ["mapreduce_task_partition"] == "0":
        open(PARAMS["waiting"] + os.environ["mapreduce_task_partition"], "w").close()
        while not os.path.exists(PARAMS["waiting"] + "over"):  # or until it is killed
            time.sleep(0.1)

def mapper(offset, line):
    if line.endswith("50000"):
        get_into_trouble("map")
    yield int(line), line

def reducer(number, lines):
    if number % 100000 == 50000:
        get_into_trouble("reduce")
    for line in lines:
        yield number, line

streaming.run(mapper, reducer)
"""
BY_KEY_JOB = """\
from typedbytes import streaming

def mapper(offset, line):
    for word in line.split():
        yield (f"length={len(word)}", word), 1

streaming.run(mapper, lambda key, counts: [(key, sum(counts))])
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
    lines = [
        " ".join(random.Random(number).choices(["the", "quick", "brown", "fox", "ü", "лиса"], k=20))
        for number in range(2000)
    ]
    for part in range(3):
        (cluster.folder / f"words-{part}.txt").write_text("\n".join(lines[part::3]) + "\n")
    cluster.fs("-mkdir", "-p", "/in/words")
    cluster.fs("-put", *cluster.folder.glob("words-*.txt"), "/in/words")
    words = ("/in/words", "-o", "/out/words", "--reducers", 2, "--combiner", "--read")
    pairs, said = cluster.submit(ROOT / "examples" / "wordcount.py", *words)
    expected = testing.run_job(numbered(lines), wordcount.mapper, wordcount.reducer)
    demand(sorted(pairs) == sorted(expected), "word count: three maps, combiner, two reducers", said)
    demand("typedbytes submit: wordcount: words: 40000" in said, "its counters are reported", said)


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
    demand(
        cluster.fs("-cat", "/out/side/lengths-m-00000") == b"3\n3\n5\n",
        "a side file is beside the output, in HDFS",
        said,
    )
    kept = list(tb.PairReader(cluster.fs("-cat", "/out/side/bad-records-m-00000")))
    demand(kept == [(4, "bad")], "the bad record is kept there too", said)


def check_output_by_key(cluster):
    (cluster.folder / "by_key.py").write_text(BY_KEY_JOB)
    (cluster.folder / "by_key.txt").write_text("to be or not to be\nthe question\n")
    cluster.fs("-mkdir", "-p", "/in")
    cluster.fs("-put", "-f", cluster.folder / "by_key.txt", "/in")
    words = ("/in/by_key.txt", "-o", "/out/by_key", "--reducers", 2, "--output-by-key", "--output-format", "text")
    _, said = cluster.submit("by_key.py", *words)
    found = {n: sorted(cluster.fs("-cat", f"/out/by_key/length={n}/*").decode().splitlines()) for n in (2, 3, 8)}
    expected = {2: ["be\t2", "or\t1", "to\t2"], 3: ["not\t1", "the\t1"], 8: ["question\t1"]}
    demand(found == expected, "an output by key: a folder in HDFS for each", f"{said}{found}")


def check_fronts(cluster):
    for name in ("one", "two"):
        (cluster.folder / name).mkdir()
        (cluster.folder / name / "words").write_text(f"to\n{name}\n")
    script = ROOT / "tests" / "fronts" / "scripts" / "mr_whole_files.py"
    words = ("-r", "hadoop", "--no-conf", "--python-bin", BARE_PYTHON, "one/words", "two/words")
    _, said = cluster.run_python("-m", "typedbytes.fronts", script, *words, code=1)
    demand("there is no Hadoop here" in said, "a task without the command hadoop says so", said)
    for name, folder in (("HADOOP_HOME", "home"), ("HADOOP_CONF_DIR", "conf")):  # as nodes elsewhere have them
        words += ("--cmdenv", f"{name}={cluster.folder / folder}")
    output, said = cluster.run_python("-m", "typedbytes.fronts", script, *words)
    pair = '["words", "words"]'
    expected = f'"one"\t[{pair}]\n"to"\t[{pair}, {pair}]\n"two"\t[{pair}]\n'
    demand(output.decode() == expected, "a script of mrjob: whole files of one name", said)


def check_failures(cluster):
    put_lines(cluster)
    (cluster.folder / "failing.py").write_text(FAILING_JOB)
    words = ("/in/side.txt", "-o", "/out/failing", "--reducers", 0)
    _, said = cluster.submit("failing.py", *words, code=1)
    demand(
        "typedbytes submit: LookupError: nothing is known about one" in said,
        "a failing task's own message is reported",
        said,
    )
    example = ROOT / "examples" / "wordcount.py"
    for words, expected in [
        (("/in/nothing", "-o", "/out/1"), "the input does not exist: look with hadoop fs -ls"),
        (("/in/side.txt", "-o", "/out/failing"), "the output folder exists already"),
        (("/in/side.txt", "-o", "/out/2", "--no-bundle"), "the nodes have no typedbytes: submit without --no-bundle"),
        (
            ("/in/side.txt", "-o", "/out/3", "--python", "/nowhere/python3"),
            "the nodes have no program /nowhere/python3: ",
        ),
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


class TroubledJobs:
    """Jobs on whole splits, whose tasks get into trouble; each record must be there once, or the job must fail."""

    #: More lines than a task can have in its buffers when it gets into trouble:
    #: one whose split is all handed out is not overtaken.
    nfiles, nlines = 4, 400_000

    def __init__(self, cluster):
        self._cluster = cluster
        jars.build_with_maven(jars.SPLITS, cluster.folder / "plug-in", "-DskipTests")
        (cluster.folder / "troubled.py").write_text(TROUBLED_JOB)
        for part in range(self.nfiles):
            (cluster.folder / f"numbers-{part}.txt").write_text("".join(f"{n}\n" for n in self._numbers[part]))
        cluster.fs("-mkdir", "-p", "/in/numbers")
        cluster.fs("-put", "-f", *cluster.folder.glob("numbers-*.txt"), "/in/numbers")

    @property
    def _numbers(self):
        return [range(1 + part * self.nlines, 1 + (part + 1) * self.nlines) for part in range(self.nfiles)]

    def submit(self, name, trouble, role="map", *, code=0, properties=()):
        """Run a job in that trouble and return its pairs and what was said."""
        words = [
            "/in/numbers",
            "-o",
            f"/out/{name}",
            "--reducers",
            2 if role == "reduce" else 0,
            *([] if code else ["--read"]),
        ]
        words += ["--feed", "splits", "--feed-jar", self._cluster.folder / "plug-in" / "typedbytes-hadoop.jar"]
        for param in (f"trouble={trouble}", f"role={role}", f"waiting={self._cluster.folder}/{name}-"):
            words += ["--param", param]
        for each in properties:
            words += ["-D", each]
        return self._cluster.submit("troubled.py", *words, code=code)

    def check(self, what, pairs, said):
        expected = [(number, str(number)) for numbers in self._numbers for number in numbers]
        demand(sorted(pairs) == expected, f"{what}: each record is there once", said)


def check_killed_tasks(cluster):
    jobs = TroubledJobs(cluster)
    again = [f"mapreduce.{role}.maxattempts=2" for role in ("map", "reduce")]
    for trouble, role in [("task", "map"), ("jvm", "map"), ("task", "reduce"), ("jvm", "reduce")]:
        pairs, said = jobs.submit(f"killed-{trouble}-{role}", trouble, role, properties=again)
        jobs.check(f"whole splits, the first attempt of each {role} task killed, its {trouble}", pairs, said)
        demand(f"Failed {role} tasks: {jobs.nfiles if role == 'map' else 2}" in said, "each of them was", said)
    _, said = jobs.submit("killed", "task", code=1)
    left = cluster.fs("-ls", "-R", "/out/killed").decode()
    demand(
        "part-" not in left and "_SUCCESS" not in left,
        "whole splits, killed for good: the job fails and leaves nothing",
        said + left,
    )


def check_speculation(cluster):
    jobs = TroubledJobs(cluster)
    quick = [
        "mapreduce.job.speculative.retry-after-no-speculate=500",
        "mapreduce.job.speculative.retry-after-speculate=1000",
    ]
    for role in ("map", "reduce"):
        pairs, said = jobs.submit(
            f"slow-{role}", "wait", role, properties=[f"mapreduce.{role}.speculative=true", *quick]
        )
        jobs.check(f"whole splits, one {role} task stands still and another attempt overtakes it", pairs, said)
        ntasks = jobs.nfiles if role == "map" else 2
        demand(f"Launched {role} tasks: {ntasks + 1}" in said, f"the {role} task had two attempts", said)


def check_killed_node(cluster):
    jobs = TroubledJobs(cluster)
    with concurrent.futures.ThreadPoolExecutor() as executor:
        # No node is large enough for all: one without the application master has some.
        properties = ["mapreduce.map.maxattempts=2", "mapreduce.map.memory.mb=1024"]
        job = executor.submit(jobs.submit, "node", "node", properties=properties)
        while len(list(cluster.folder.glob("node-*"))) < jobs.nfiles and not job.done():
            time.sleep(0.1)
        ntasks = cluster.kill_node()
        (cluster.folder / "node-over").touch()
        pairs, said = job.result()
    demand(ntasks > 0, "a node with running tasks was killed", said)
    jobs.check("whole splits, a node with tasks killed, of HDFS and of YARN", pairs, said)


CHECKS = {
    "words": check_word_count,
    "temperature": check_max_temperature,
    "sessions": check_sessions,
    "side-files": check_side_files,
    "by-key": check_output_by_key,
    "fronts": check_fronts,
    "jobs": check_portable_jobs,
    "failures": check_failures,
    "killed-tasks": check_killed_tasks,
    "speculation": check_speculation,
    "killed-node": check_killed_node,  # the last: it does not come back
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
