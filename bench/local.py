"""Jobs on one machine, each contender in a process of its own: wall time, CPU time and memory.

    python bench/local.py words GIGABYTES [CONTENDER...]    count the words of that much text
    python bench/local.py sort GIGABYTES [MEMORY]           sort that much of word-count pairs, within MEMORY (512M),
                                                            beside GNU sort
    python bench/local.py files NUMBER                      count the words of that many files of ten lines: a task for
                                                            each, forked or not, and one for many

Contenders of words: typedbytes (the command run), counter (a plain script), duckdb and polars (a query for lines that
are split at spaces), mrjob (its local runner, fetched from the package index into an environment of its own) and hadoop
(its local mode, with the same script); all but the plain script use as many processors as there are. What is counted is
compared. Files go to build/bench-local, and a table to stdout, where a contender that cannot run has its reason.
Invariant: GNU sort gets the same records as text, in the C locale, with the same memory and two threads.
"""

import itertools
import os
import random
import resource
import shutil
import string
import subprocess
import sys
import time
from pathlib import Path

import typedbytes as tb
from typedbytes import sequencefile

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test_vectors" / "java"))
FOLDER = ROOT / "build" / "bench-local"
WORD_COUNT = ROOT / "examples" / "wordcount.py"
MEBIBYTES = 512  # what typedbytes may sort with, and the heap of Hadoop's machine
HEADING = "| | wall s | CPU s | MiB of the largest process | its limit |\n|---|---|---|---|---|"
NWORDS = 60_000  # different ones, with frequencies by rank (Zipf)
LINE_NWORDS = 12

COUNTER = """
import collections, re, sys
counts = collections.Counter()
with open(sys.argv[1], encoding="utf-8") as file:
    for line in file:
        counts.update(re.findall(r"\\w+", line))
with open(sys.argv[2], "w") as out:
    for word in sorted(counts):
        out.write(f"{word}\\t{counts[word]}\\n")
"""

DUCKDB = """
import sys
import duckdb
lines = "read_csv(?, columns={'line': 'VARCHAR'}, delim='\\x01', quote='', header=false, auto_detect=false)"
query = f"select unnest(string_split(line, ' ')) as word, count(*) as n from {lines} group by word order by word"
duckdb.sql(query, params=[sys.argv[1]]).write_csv(sys.argv[2], sep="\\t", header=False)
"""

POLARS = """
import sys
import polars
lines = polars.scan_csv(sys.argv[1], separator="\\x01", quote_char=None, has_header=False, new_columns=["line"])
words = lines.select(polars.col("line").str.split(" ").explode().alias("word"))
words.group_by("word").len().sort("word").sink_csv(sys.argv[2], separator="\\t", include_header=False)
"""

MRJOB = """
import re
from mrjob.job import MRJob

class WordCount(MRJob):
    def mapper(self, _, line):
        for word in re.findall(r"\\w+", line):
            yield word, 1

    def combiner(self, word, counts):
        yield word, sum(counts)

    def reducer(self, word, counts):
        yield word, sum(counts)

if __name__ == "__main__":
    WordCount.run()
"""


def vocabulary():
    """Return words, the short ones first, and their cumulative weights."""
    rng = random.Random(1)
    words = {"".join(rng.choices(string.ascii_lowercase, k=max(2, round(rng.gauss(7, 2.5))))) for _ in range(NWORDS)}
    words = sorted(words, key=lambda word: (len(word), word))
    rng.shuffle(words)
    return words, list(itertools.accumulate(1 / (rank + 2) for rank in range(len(words))))


def picks(nbytes, encoded):
    """Yield batches of numbers that represent random words, about nbytes bytes of them."""
    _, weights = vocabulary()
    rng = random.Random(2)
    done = 0
    while done < nbytes:
        batch = rng.choices(range(len(encoded)), cum_weights=weights, k=120_000)
        yield batch
        done += sum(len(encoded[index]) for index in batch)


def make_text(path, gigabytes):
    """Write lines of words."""
    words, _ = vocabulary()
    with open(path, "w") as file:
        for batch in picks(gigabytes * 1e9, [f"{word} " for word in words]):
            for start in range(0, len(batch), LINE_NWORDS):
                file.write(" ".join([words[index] for index in batch[start : start + LINE_NWORDS]]) + "\n")


def make_pairs(path, text_path, gigabytes):
    """Write (word, 1) as typed bytes and the same records as lines."""
    words, _ = vocabulary()
    encoded = [tb.dumps(word) + tb.dumps(1) for word in words]
    lines = [f"{word}\t1\n" for word in words]
    with open(path, "wb") as pairs, open(text_path, "w") as text:
        for batch in picks(gigabytes * 1e9, encoded):
            pairs.write(b"".join([encoded[index] for index in batch]))
            text.write("".join([lines[index] for index in batch]))


def measured(name, command, limit="none", **how):
    """Run a command, print wall and CPU seconds and its largest process's memory; return if it succeeded."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with open(FOLDER / f"{name}.log", "wb") as log:
        code = subprocess.run(
            [sys.executable, "-c", MEASURE, *map(str, command)], stderr=log, **{"stdout": log, **how}
        ).returncode
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    peak = (FOLDER / f"{name}.log").read_bytes().rpartition(b"peak ")[2].split()
    row = (
        f"{wall:.1f} | {cpu:.1f} | {int(peak[0]) / 1024:.0f} | {limit}"
        if code == 0
        else f"failed, see {FOLDER}/{name}.log | | |"
    )
    print(f"| {name} | {row} |", flush=True)
    return code == 0


# RUSAGE_CHILDREN of a process that starts nothing else: the largest process of the contender, in KiB. Linux gives it
# the processes that the contender leaves behind, such as PySpark's Java, and their CPU time with them.
MEASURE = """
import ctypes, os, resource, subprocess, sys
ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
code = subprocess.run(sys.argv[1:]).returncode
try:
    while os.wait():
        pass
except ChildProcessError:
    pass
print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


def words(gigabytes, contenders):
    """Count words by each contender, and compare."""
    text = FOLDER / f"words-{gigabytes}.txt"
    if not text.exists():
        make_text(text, gigabytes)
    print(f"{text.stat().st_size / 1e9:.2f} GB of text, {os.cpu_count()} processors\n\n{HEADING}", flush=True)
    results = {name: WORDS[name](text, FOLDER / f"out-{name}") for name in contenders}
    results = {name: counts for name, counts in results.items() if counts is not None}
    first = next(iter(results.values()))
    assert all(counts == first for counts in results.values()), {name: len(counts) for name, counts in results.items()}
    print(f"\n{len(first):,} different words, {sum(first.values()):,} in all, the same by {', '.join(results)}")


def count_here(text, output):
    """Return what the example counts, run by this package; None when it fails, here and below."""
    shutil.rmtree(output, ignore_errors=True)
    command = [
        sys.executable, "-m", "typedbytes", "run", "-q", "--memory", f"{MEBIBYTES}M", WORD_COUNT, text, "-o", output,
    ]  # fmt: skip
    if measured("typedbytes", command, f"{MEBIBYTES} MiB for sorting", env=environment()):
        return dict(sequencefile.read(output))


def count_by(name, script):
    """Return a function that returns what one process of a script counts."""

    def count(text, output):
        path = FOLDER / f"{name}-words.py"
        path.write_text(script)
        if measured(name, [sys.executable, path, text, output]):
            return read_lines(output)

    return count


def count_by_mrjob(text, output):
    """Return what mrjob's local runner counts."""
    (FOLDER / "mrjob_job.py").write_text(MRJOB)
    try:
        python = python_with_mrjob()
    except subprocess.CalledProcessError as error:
        print(f"| mrjob | does not install: {error.stdout.strip().splitlines()[-1]} | | | |", flush=True)
        return None
    with open(output, "wb") as out:
        if not measured("mrjob", [python, FOLDER / "mrjob_job.py", "-r", "local", text], stdout=out):
            return None
    return {word.strip('"'): count for word, count in read_lines(output).items()}


def python_with_mrjob():
    """Return the Python of an environment that has mrjob, made when it is not there; raises CalledProcessError."""
    folder = FOLDER / "venv-mrjob"
    python = folder / "bin" / "python"
    for command in (
        [sys.executable, "-m", "venv", folder],
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "mrjob"],
    ):
        subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return python


def count_by_hadoop(text, output):
    """Return what the example counts, run by Hadoop's local mode."""
    import jars

    shutil.rmtree(output, ignore_errors=True)
    properties = {
        "hadoop.tmp.dir": FOLDER / "tmp",
        "mapreduce.local.map.tasks.maximum": os.cpu_count(),
        "mapreduce.job.output.key.comparator.class": "org.apache.hadoop.io.BytesWritable$Comparator",
    }
    script = f"{sys.executable} {WORD_COUNT}"
    words = [word for name, value in properties.items() for word in ("-D", f"{name}={value}")]
    words += [
        "-io", "typedbytes", "-input", text, "-output", output, "-outputformat",
        "org.apache.hadoop.mapred.SequenceFileOutputFormat",
    ]  # fmt: skip
    words += ["-mapper", f"{script} map", "-combiner", f"{script} combine", "-reducer", f"{script} reduce"]
    command = jars.java_command("org.apache.hadoop.streaming.HadoopStreaming", *words, options=[f"-Xmx{MEBIBYTES}m"])
    if measured("hadoop", command, f"{MEBIBYTES} MiB of heap", env=environment()):
        return dict(sequencefile.read(output))


WORDS = {
    "typedbytes": count_here,
    "counter": count_by("counter", COUNTER),
    "duckdb": count_by("duckdb", DUCKDB),
    "polars": count_by("polars", POLARS),
    "mrjob": count_by_mrjob,
    "hadoop": count_by_hadoop,
}


def environment():
    """Return an environment in which this package is found."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def read_lines(path):
    """Return counts from lines of word and count."""
    with open(path, encoding="utf-8") as file:
        return {word: int(count) for word, count in (line.split("\t") for line in file)}


SORT = """
import sys
from typedbytes._sorting import external
with open(sys.argv[1], "rb", buffering=0) as source, open(sys.argv[2], "wb", buffering=0) as sink:
    print(external.sort([source], sink, memory=int(sys.argv[3]), folder=sys.argv[4]), "records")
"""


def sort(gigabytes, memory=512 << 20):
    """Sort pairs by this package and the same records by GNU sort."""
    pairs, text = FOLDER / f"pairs-{gigabytes}.tb", FOLDER / f"pairs-{gigabytes}.txt"
    if not pairs.exists():
        make_pairs(pairs, text, gigabytes)
    print(
        f"{pairs.stat().st_size / 1e9:.2f} GB of pairs, {text.stat().st_size / 1e9:.2f} GB as text\n\n{HEADING}",
        flush=True,
    )
    limit = f"{memory >> 20} MiB"
    sink = FOLDER / "sorted"
    measured("typedbytes", [sys.executable, "-c", SORT, pairs, sink, memory, FOLDER], limit, env=environment())
    with open(sink, "rb") as file:
        check_order(file)
    gnu = [
        "sort", "--stable", "--key=1,1", "--field-separator=\t", "--parallel=2", f"--buffer-size={memory >> 10}K",
        f"--temporary-directory={FOLDER}",
    ]  # fmt: skip
    measured("GNU sort", [*gnu, "-o", sink, text], limit, env={**os.environ, "LC_ALL": "C"})
    sink.unlink()


def files(nfiles):
    """Count words in small files, by tasks that start in each of the ways that there are."""
    folder = FOLDER / f"files-{nfiles}"
    folder.mkdir(exist_ok=True)
    for number in range(nfiles):
        (folder / f"{number}.txt").write_text("".join(f"word{line} other{number % 7}\n" for line in range(10)))
    print(f"{nfiles:,} files of ten lines, {os.cpu_count()} processors\n\n{HEADING}", flush=True)
    command = [sys.executable, "-m", "typedbytes", "run", "-q", "--overwrite", WORD_COUNT, folder, "-o"]
    found = []
    for option in ("--fork", "--no-fork", "--combine-files"):
        output = FOLDER / f"out{option}"
        assert measured(option.strip("-"), [*command, output, option], env=environment())
        found.append(sorted(sequencefile.read(output)))
    assert found[0] == found[1] == found[2]


def check_order(file):
    """See that encoded keys never go back."""
    last = b""
    for key, _ in tb.PairReader(file, raw=True):
        assert key >= last
        last = key


def main(what, size, *words_given):
    """Run what the command line asks for."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    if what == "sort":
        sort(float(size), *(int(word[:-1]) << 20 for word in words_given))
    elif what == "files":
        files(int(size))
    else:
        words(float(size), words_given or WORDS)


if __name__ == "__main__":
    main(*sys.argv[1:])
