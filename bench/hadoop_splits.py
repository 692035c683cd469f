"""What whole splits save a Hadoop job, beside Hadoop's own way of handing over single pairs.

Real Hadoop Streaming jobs in one warm virtual machine, in turn: the identity map of (int, long) pairs from a
SequenceFile to a SequenceFile, with a mapper that is called for each pair, one that is called once and yields each, one
that is called once and returns the pairs themselves, and one of batches; a filter of text in the first two ways and by
batches; a word count. Wall is that of the whole job as its client sees it, less that of the same job on an empty input;
CPU is that of the virtual machine and of its tasks' processes, less that of the same. An output is deleted at once, so
that no job waits until the outputs of others are on the disk.
"""

import argparse
import random
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "bench"), str(ROOT / "tests")]

from hadoop_identity import ONE_SPLIT, measured  # noqa: E402
from support.hadoop_support import (  # noqa: E402
    SEQUENCE_FILE_INPUT,
    SEQUENCE_FILE_OUTPUT,
    ZSTD,
    Hadoop,
    hadoop,
    python_command,
)
from typedbytes import Long, sequencefile  # noqa: E402

PACKAGE = "org.typedbytes.hadoop"
COMPRESSIONS = {
    "none": {"compression": "none"},
    "block": {"compression": "block"},
    "snappy": {"compression": "block", "codec": "snappy"},
    "zstd": {"compression": "block", "codec": ZSTD},
}
FILTER_OF_BATCHES = """\
import re

import numpy as np

find = re.compile(b"w77 ").finditer


def mapper(batch):
    lines = batch.buffers("value")
    text, offsets = lines["data"], np.frombuffer(lines["offsets"], np.int32)
    found = np.array([match.span() for match in find(text)], int).reshape(-1, 2)
    rows = np.searchsorted(offsets, found[:, 0], "right") - 1
    rows = np.unique(rows[found[:, 1] <= offsets[rows + 1]])  # lines are not separated: a match may go on in the next
    kept = [str(text[start:end], "utf-8") for start, end in zip(offsets[rows], offsets[rows + 1])]
    return {"key": batch.column("key")[rows], "value": kept}


streaming.run(mapper, batch=True)"""
WORDS = """\
def mapper(offset, line):
    for word in line.split():
        yield word, 1


def reducer(word, counts):
    yield word, sum(counts)


streaming.run(mapper, reducer, combiner=reducer)"""
ALL_PAIRS = """\
def mapper(pairs):
    for key, value in pairs:
        yield key, value


streaming.run(mapper)"""
ALL_LINES = """\
def mapper(lines):
    for offset, line in lines:
        if "w77 " in line:
            yield offset, line


streaming.run(mapper)"""
SCRIPTS = {
    "pairs": "streaming.run(lambda key, value: ((key, value),))",
    "all_pairs": ALL_PAIRS,
    "same_pairs": "streaming.run(lambda pairs: pairs)",
    "batches": "streaming.run(lambda batch: batch, batch=True)",
    "filter": "streaming.run(lambda offset, line: ((offset, line),) if 'w77 ' in line else ())",
    "all_lines": ALL_LINES,
    "filter_batches": FILTER_OF_BATCHES,
    "words": WORDS,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=4_000_000)
    parser.add_argument("--megabytes", type=int, default=200, help="of text")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "scripts", nargs="*", choices=[*SCRIPTS, []], default=[], help=f"which: {' '.join(SCRIPTS)} (all)"
    )
    options = parser.parse_args()
    Hadoop.java_options = ()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        make_inputs(folder, options)
        for name, text in SCRIPTS.items():
            (folder / f"{name}.py").write_text(f"from typedbytes import streaming\n\n{text}\n")
        print(
            f"{options.pairs:,} pairs of (int, long), {options.megabytes} MB of text, {options.rounds} rounds, "
            "medians in seconds"
        )
        print(
            f"{'job':<16}{'input':<16}{'wall: pairs':>12}{'splits':>9}{'ratio':>7}"
            f"{'CPU: pairs':>12}{'splits':>9}{'ratio':>7}"
        )
        for number, (script, source) in enumerate(jobs()):
            if options.scripts and script not in options.scripts:
                continue
            report(
                script,
                source,
                [compare(folder, script, source, f"{number}-{turn}") for turn in range(options.rounds + 1)][1:],
            )


def jobs():
    """Return the jobs: a script and its input."""
    return [
        *(
            (script, f"{compression}.seq")
            for script in ("pairs", "all_pairs", "same_pairs", "batches")
            for compression in COMPRESSIONS
        ),
        ("filter", "text.txt"),
        ("all_lines", "text.txt"),
        ("filter_batches", "text.txt"),
        ("words", "text.txt"),
    ]


def make_inputs(folder, options):
    """Write the files that the jobs read, and for each an empty one."""
    for name, how in COMPRESSIONS.items():
        for npairs, file in (options.pairs, f"{name}.seq"), (0, f"empty-{name}.seq"):
            with sequencefile.open(str(folder / file), "w", **how) as writer:
                writer.writes((number, Long(7 * number)) for number in range(npairs))
    rng = random.Random(3)
    words = [f"w{int(rng.paretovariate(0.8)) % 50_000}" for _ in range(100_000)]
    block = "".join(" ".join(rng.choices(words, k=12)) + "\n" for _ in range(15_000))
    (folder / "text.txt").write_text(block * (options.megabytes * 1_000_000 // len(block) + 1))
    (folder / "empty-text.txt").write_text("")


def compare(folder, script, source, number):
    """Return (wall, CPU) by pairs and by splits, each less that of an empty input."""
    found = []
    for feed in ("pairs", "splits"):
        work, empty = (
            run(folder, script, name, feed, f"{number}-{feed}-{name}") for name in (source, f"empty-{source}")
        )
        found.append([max(a - b, 1e-3) for a, b in zip(work, empty)])
    return found


def run(folder, script, source, feed, number):
    """Run one job; return its wall time and CPU time, of the virtual machine and of the tasks."""
    is_text, reduces = source.endswith(".txt"), script == "words"
    path = folder / f"{script}.py"
    how = {"reducer": python_command(path, "reduce"), "combiner": python_command(path, "combine")} if reduces else {}
    classes, properties, io = (SEQUENCE_FILE_INPUT, SEQUENCE_FILE_OUTPUT), {}, "typedbytes"
    if is_text:
        classes = ("org.apache.hadoop.mapred.TextInputFormat", SEQUENCE_FILE_OUTPUT)
    if feed == "splits":
        classes, io = (f"{PACKAGE}.SplitInputFormat", f"{PACKAGE}.SplitOutputFormat"), None
        properties = {
            "stream.io.identifier.resolver.class": f"{PACKAGE}.SplitIdentifierResolver",
            "typedbytes.split.format": "text" if is_text else "sequencefile",
            "stream.map.input": "split", "stream.map.output": "typedbytes" if reduces else "split",
            "stream.reduce.input": "typedbytes", "stream.reduce.output": "split",
        }  # fmt: skip
    output = folder / f"out-{number}"
    wall, machine, tasks = measured(
        lambda: hadoop().job(
            input=folder / source, output=output, mapper=python_command(path, "map"), nreducers=int(reduces), io=io,
            options=("-inputformat", classes[0], "-outputformat", classes[1]), properties={**ONE_SPLIT, **properties},
            **how,
        )
    )  # fmt: skip
    shutil.rmtree(output)
    return wall, machine + tasks


def report(script, source, rounds):
    """Print the medians of a job by pairs and by splits."""
    medians = [[statistics.median(each[feed][kind] for each in rounds) for feed in (0, 1)] for kind in (0, 1)]
    cells = "".join(f"{pairs:>12.2f}{splits:>9.2f}{splits / pairs:>7.2f}" for pairs, splits in medians)
    print(f"{script:<16}{source:<16}{cells}", flush=True)


if __name__ == "__main__":
    main()
