"""Count the words of Python's standard library with a real Hadoop Streaming job on this machine.

The job is the one a cluster would run, by the command that is printed: wordcount.py as mapper, combiner and reducer,
speaking typed bytes, two reducers, a SequenceFile as output. The output is read back with Hadoop's own ``dumptb`` and
``typedbytes.PairReader``, and every count is compared with a plain count in Python.
"""

import collections
import itertools
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

from demo_input import ROOT, demo_folder, pack, standard_library
from wordcount import WORD

import typedbytes as tb

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "test_vectors" / "java"))

try:
    import jars
except ModuleNotFoundError:
    sys.exit("demo_hadoop.py needs the checkout of the sources: it uses test_vectors/java")

STREAMING = "org.apache.hadoop.streaming.HadoopStreaming"
NREDUCERS = 2


def main():
    folder = demo_folder(__doc__, "demo-hadoop")
    jars.class_path()  # what is missing is said now, not after a minute

    sources = standard_library()
    nbytes = pack(sources, folder / "input")
    print(f"input     {len(sources)} source files of Python {sys.version.split()[0]}, {nbytes / 1e6:.1f} MB of text")

    seconds, counters = run_job(folder)
    counts = read_counts(folder / "output")
    expected = plain_count(sources)

    print(f"\n{'word':<12}{'count':>10}")
    for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:10]:
        print(f"{word:<12}{count:>10,}")
    print(f"\n{'counter':<26}{'value':>12}")
    for name, value in counters.items():
        print(f"{name:<26}{value:>12,}")
    print(f"\ntime      {seconds:.1f} s for the job, {nbytes / 1e6 / seconds:.1f} MB/s")
    if counts != expected:
        wrong = sorted(word for word in counts.keys() | expected.keys() if counts.get(word) != expected.get(word))
        sys.exit(f"check     FAILED: {len(wrong)} words differ from a plain count, first {wrong[:5]}")
    print(f"check     {len(counts):,} words, {sum(counts.values()):,} in all: the same as a plain count in Python")


def run_job(folder):
    """Run the job, showing its command; return its time in seconds and its counters."""
    wordcount = shlex.join([sys.executable, str(HERE / "wordcount.py")])
    properties = {
        "hadoop.tmp.dir": folder / "tmp",
        "mapreduce.job.reduces": NREDUCERS,
        "mapreduce.local.map.tasks.maximum": 2,
        # The order of the encoded keys either way; this comparator need not make objects of them first.
        "mapreduce.job.output.key.comparator.class": "org.apache.hadoop.io.BytesWritable$Comparator",
    }
    options = [
        *(("-D", f"{name}={value}") for name, value in properties.items()),
        ("-io", "typedbytes"),
        ("-input", "input"),
        ("-output", "output"),
        ("-outputformat", "org.apache.hadoop.mapred.SequenceFileOutputFormat"),
        ("-mapper", f"{wordcount} map"),
        ("-combiner", f"{wordcount} combine"),
        ("-reducer", f"{wordcount} reduce"),
    ]
    print(
        "job      ",
        " \\\n            ".join(["hadoop jar hadoop-streaming.jar", *map(shlex.join, options)]),
        flush=True,
    )

    command = jars.java_command(STREAMING, *itertools.chain.from_iterable(options))
    start = time.perf_counter()
    with open(folder / "log", "wb") as log:
        code = subprocess.run(command, cwd=folder, stdout=log, stderr=log).returncode
    seconds = time.perf_counter() - start
    log = (folder / "log").read_text("utf-8", "replace")
    if code:
        sys.exit(f"{log[-4000:]}\nthe job failed with code {code}; its log is {folder / 'log'}")
    return seconds, read_counters(log)


def read_counters(log):
    """Give the counters that Hadoop logs at the end of a job: what was read and written, and our own."""
    wanted = r"^\s+((?:Map|Combine|Reduce) (?:in|out)put records|words)=(\d+)$"
    return {name: int(value) for name, value in re.findall(wanted, log, re.MULTILINE)}


def read_counts(folder):
    """Give the job's output, a dict from word to count, through dumptb and our reader."""
    quiet = [*jars.QUICK_START, "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]
    command = jars.java_command(STREAMING, "dumptb", folder, options=quiet)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as dump:
        counts = dict(tb.PairReader(dump.stdout))
    if dump.returncode:
        sys.exit(f"dumptb failed with code {dump.returncode}")
    return counts


def plain_count(sources):
    """Count the words without Hadoop. Both sides take what is not UTF-8 for U+FFFD, which belongs to no word."""
    counts = collections.Counter()
    for source in sources:
        counts.update(WORD.findall(source.read_text("utf-8", "replace")))
    return counts


if __name__ == "__main__":
    try:
        main()
    except jars.MissingToolError as error:
        sys.exit(str(error))
