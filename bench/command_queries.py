"""CPU time of the commands that look inside records, beside what users could run instead on the same records.

`make -C bench command-queries` runs it. Each line is a process of its own, all lines in turns, the least CPU of several
runs; what it takes to start is left out: that of the same program on nearly no records. A goal is a ratio to the best
of the alternatives that are installed. It prints the table, and fails where a goal is missed.
"""

import argparse
import importlib.util
import json
import pathlib
import random
import shlex
import shutil
import subprocess
import sys
import tempfile

import typedbytes
from timing import cpu_of_children_ns

FEW = 10  # records of a start

CSV_TO_PAIRS = """
import csv, sys, typedbytes
with typedbytes.PairWriter(sys.stdout.buffer) as writer, open(sys.argv[1], newline="") as file:
    writer.writes(csv.reader(file, delimiter="\\t", quoting=csv.QUOTE_NONE))
"""
CSV_TO_ROWS = """
import csv, sys, typedbytes
with typedbytes.Writer(sys.stdout.buffer) as writer, open(sys.argv[1], newline="") as file:
    writer.writes(map(tuple, csv.reader(file)))
"""
PAIRS_TO_TEXT = """
import sys, typedbytes
sys.stdout.writelines(f"{key}\\t{value}\\n" for key, value in typedbytes.PairReader(open(sys.argv[1], "rb")))
"""
MAPS_TO_CSV = """
import csv, sys, typedbytes
maps = typedbytes.Reader(open(sys.argv[1], "rb"))
first = next(maps)
writer = csv.DictWriter(sys.stdout, list(first), lineterminator="\\n")
writer.writeheader(), writer.writerow(first), writer.writerows(maps)
"""
CUT_BY_READER = """
import sys, typedbytes
with typedbytes.Writer(sys.stdout.buffer) as writer:
    writer.writes(each["n"] for each in typedbytes.Reader(open(sys.argv[1], "rb")))
"""
SORT_IN_MEMORY = """
import sys, operator, typedbytes
pairs = typedbytes.Decoder().decode_pairs(open(sys.argv[1], "rb").read())
pairs.sort(key=operator.itemgetter(1))
sys.stdout.buffer.write(typedbytes.Encoder().encode_pairs(pairs))
"""
SUM_IN_A_DICT = """
import sys, typedbytes
sums = {}
for key, value in typedbytes.PairReader(open(sys.argv[1], "rb")):
    found = sums.get(key)
    if found is None:
        sums[key] = [1, value, value, value]
    else:
        found[0] += 1
        found[1] += value
        found[2], found[3] = min(found[2], value), max(found[3], value)
for key, (n, total, least, most) in sums.items():
    print(key, n, total, least, most, total / n)
"""
POLARS_CUT = """
import sys, polars
polars.scan_ndjson(sys.argv[1]).select("n").collect().write_csv(sys.stdout.buffer, include_header=False)
"""
POLARS_TO_CSV = """
import sys, polars
polars.read_ndjson(sys.argv[1]).write_csv(sys.stdout.buffer)
"""
POLARS_SORT = """
import sys, polars
how = {"has_header": False, "separator": "\\t", "quote_char": None, "new_columns": ["key", "n"]}
found = polars.read_csv(sys.argv[1], **how).sort("n")
found.write_csv(sys.stdout.buffer, include_header=False)
"""
POLARS_SUMS = """
import sys, polars
how = {"has_header": False, "separator": "\\t", "quote_char": None, "new_columns": ["key", "n"]}
found = polars.read_csv(sys.argv[1], **how)
n = polars.col("n")
sums = [n.count().alias("n"), n.sum().alias("s"), n.min().alias("a"), n.max().alias("b"), n.mean().alias("m")]
found = found.group_by("key").agg(sums)
found.write_csv(sys.stdout.buffer)
"""
ORJSON_TO_MAPS = """
import sys, orjson, typedbytes
with typedbytes.Writer(sys.stdout.buffer) as writer, open(sys.argv[1], "rb") as file:
    writer.writes(map(orjson.loads, file))
"""
POLARS_TYPES = """
import sys, polars, typedbytes
with typedbytes.Writer(sys.stdout.buffer) as writer:
    writer.writes(polars.read_csv(sys.argv[1], has_header=False).iter_rows())
"""
GREP_BY_READER = """
import re, sys, typedbytes
search = re.compile("h[a-z]?").search
with typedbytes.PairWriter(sys.stdout.buffer) as writer:
    writer.writes(pair for pair in typedbytes.PairReader(open(sys.argv[1], "rb")) if search(pair[0]))
"""

DIFF_BY_READERS = """
import itertools, sys, typedbytes
ours, theirs = (typedbytes.PairReader(open(sys.argv[1], "rb")) for _ in range(2))
for n, (a, b) in enumerate(itertools.zip_longest(ours, theirs)):
    if a != b:
        print(n, a, b)
"""
DIFF_BY_COUNTERS = """
import collections, sys, typedbytes
ours, theirs = (collections.Counter(typedbytes.PairReader(open(sys.argv[1], "rb"))) for _ in range(2))
print(ours - theirs, theirs - ours)
"""
SLICE_OF_READER = """
import itertools, sys, typedbytes
with typedbytes.PairWriter(sys.stdout.buffer) as writer:
    writer.writes(itertools.islice(typedbytes.PairReader(open(sys.argv[1], "rb")), 5, 900000))
"""
MESSAGES_BY_WRITER = """
import sys, typedbytes
from typedbytes.block import BlockWriter
with BlockWriter(sys.stdout.buffer, "native") as writer:
    for key, value in typedbytes.PairReader(open(sys.argv[1], "rb")):
        writer.write([key, value])
"""
DISTINCT_IN_A_DICT = """
import sys, typedbytes
with typedbytes.PairWriter(sys.stdout.buffer) as writer:
    writer.writes(dict.fromkeys(typedbytes.PairReader(open(sys.argv[1], "rb"))))
"""
POLARS_DISTINCT = """
import sys, polars
how = {"has_header": False, "separator": "\t", "quote_char": None, "new_columns": ["key", "n"]}
polars.read_csv(sys.argv[1], **how).unique(maintain_order=True).write_csv(sys.stdout.buffer, include_header=False)
"""
EACH_VALUE_BY_ZSTD = """
import sys, typedbytes, zstandard
compress, encode = zstandard.ZstdCompressor().compress, typedbytes.Encoder().encode
pairs = typedbytes.PairReader(open(sys.argv[1], "rb"))
sys.stdout.buffer.writelines(encode(key) + compress(encode(value)) for key, value in pairs)
"""

#: By what is done: arguments of ours, in which {} is the folder of the files, its file, the ratio that is the goal, and
#: the alternatives: what they need, what they run and their file.
CASES = {
    "cut key": ("cut -f key --pairs", "pairs.tb", 1.0, [("cut", "cut -f 1", "pairs.tsv")]),
    "cut value.n": (
        "cut -f value.n --values", "maps.tb", 1.0,
        [("", CUT_BY_READER, "maps.tb"), ("polars", POLARS_CUT, "maps.json")],
    ),
    "to-text pairs": ("to-text --pairs", "pairs.tb", 1.0, [("", PAIRS_TO_TEXT, "pairs.tb")]),
    "to-text CSV": (
        "to-text --csv --header --values", "maps.tb", 1.0,
        [("", MAPS_TO_CSV, "maps.tb"), ("polars", POLARS_TO_CSV, "maps.json")],
    ),
    "from-text pairs": ("from-text --pairs", "pairs.tsv", 1.0, [("", CSV_TO_PAIRS, "pairs.tsv")]),
    "from-text CSV": ("from-text --csv", "rows.csv", 1.0, [("", CSV_TO_ROWS, "rows.csv")]),
    "from-text --infer": (
        "from-text --infer --csv", "rows.csv", 1.0, [("polars", POLARS_TYPES, "rows.csv")],
    ),
    "from-json": (
        "from-json", "maps.json", 1.0,
        [("orjson", ORJSON_TO_MAPS, "maps.json"), ("polars", POLARS_TO_CSV, "maps.json")],
    ),
    "grep": (
        "grep h[a-z]? --pairs", "pairs.tb", 1.0, [("", GREP_BY_READER, "pairs.tb")],
    ),
    "head": ("head -n 900000 --pairs", "pairs.tb", 1.0, [("head", "head -n 900000", "pairs.tsv")]),
    "uniq": ("uniq --by key --pairs", "pairs.tb", 1.0, [("uniq", "uniq", "pairs.tsv")]),
    "sort --by value": (
        "sort --by value --threads 1 --pairs", "pairs.tb", 1.0,
        [("", SORT_IN_MEMORY, "pairs.tb"), ("polars", POLARS_SORT, "pairs.tsv"),
         ("sort", "env LC_ALL=C sort --parallel=1 -t '\t' -k 2n", "pairs.tsv")],
    ),
    "aggregate": (
        "aggregate --json --pairs", "pairs.tb", 1.0,
        [("", SUM_IN_A_DICT, "pairs.tb"), ("polars", POLARS_SUMS, "pairs.tsv")],
    ),
    "uniq --all": (
        "uniq --all --pairs", "pairs.tb", 1.0,
        [("", DISTINCT_IN_A_DICT, "pairs.tb"), ("polars", POLARS_DISTINCT, "pairs.tsv")],
    ),
    "slice": ("slice -r 5:900000 --pairs", "pairs.tb", 1.0, [("", SLICE_OF_READER, "pairs.tb")]),
    "diff": ("diff --pairs {}/same.tb", "pairs.tb", 1.0, [("", DIFF_BY_READERS, "pairs.tb")]),
    "diff --unordered": (
        "diff --unordered --pairs {}/same.tb", "pairs.tb", 1.0, [("", DIFF_BY_COUNTERS, "pairs.tb")],
    ),
    "convert --to block": (
        "convert --to block --pairs", "pairs.tb", 1.0, [("", MESSAGES_BY_WRITER, "pairs.tb")],
    ),
    "records by zstd": (
        "convert --to sequencefile --compression record --codec zstd --pairs", "pairs.tb", 1.0,
        [("zstandard", EACH_VALUE_BY_ZSTD, "pairs.tb")],
    ),
    "sample": ("sample -n 10000 --pairs", "pairs.tb", 1.0, [("shuf", "shuf -n 10000", "pairs.tsv")]),
    "sample half": ("sample -n 500000 --pairs", "pairs.tb", 1.0, [("shuf", "shuf -n 500000", "pairs.tsv")]),
}  # fmt: skip


def make_files(folder, nrecords):
    """Write the same pairs and MAPs as typed bytes, text and JSON."""
    rng = random.Random(1)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 12))) for _ in range(50_000)]
    pairs = [(rng.choice(words), rng.randrange(100_000)) for _ in range(nrecords)]
    maps = [{"id": i, "name": key, "n": n, "x": rng.random(), "ok": n % 3 == 0} for i, (key, n) in enumerate(pairs)]
    encoder = typedbytes.Encoder()
    for name in ("pairs.tb", "same.tb"):
        (folder / name).write_bytes(encoder.encode_pairs(pairs))
    (folder / "maps.tb").write_bytes(encoder.encode_all(maps))
    (folder / "pairs.tsv").write_text("".join(f"{key}\t{n}\n" for key, n in pairs))
    (folder / "maps.json").write_text("".join(json.dumps(each) + "\n" for each in maps))
    (folder / "rows.csv").write_text("".join(",".join(map(str, each.values())) + "\n" for each in maps))


def is_installed(name):
    """Return whether a module or a program is there."""
    return not name or importlib.util.find_spec(name) is not None or shutil.which(name) is not None


def command_of(text):
    """Return the words of a command, or of Python for a script."""
    return [sys.executable, "-c", text] if "import" in text else shlex.split(text)


def cpu_ns(words, path):
    """Return the CPU time of a process."""
    before = cpu_of_children_ns()
    subprocess.run([*words, path], check=True, stdout=subprocess.DEVNULL)
    return cpu_of_children_ns() - before


def measured(lines, folder, nrecords, nruns):
    """Return the nanoseconds a record of each line, without its start."""
    least = [[float("inf")] * 2 for _ in lines]
    for _ in range(nruns):
        for (words, name), found in zip(lines, least):
            for i, size in enumerate(("few", "all")):
                here = [word.replace("{}", str(folder / size)) if word[-3:] == ".tb" else word for word in words]
                found[i] = min(found[i], cpu_ns(here, folder / size / name))
    return [(whole - start) / nrecords for start, whole in least]


def main():
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--quick", action="store_true", help="once and small, without goals")
    options = parser.parse_args()
    if options.quick:
        options.records, options.runs = 2000, 1
    missed = []
    with tempfile.TemporaryDirectory() as name:
        for size, nrecords in (("few", FEW), ("all", options.records)):
            (pathlib.Path(name) / size).mkdir()
            make_files(pathlib.Path(name) / size, nrecords)
        print(f"{options.records:,} records, ns of CPU each without the start, the least of {options.runs} runs")
        print(f"{'':<18}{'ours':>8}{'best':>8}{'ratio':>8}{'goal':>6}  best alternative")
        for title in options.only:
            arguments, file, goal, others = CASES[title]
            others = [each for each in others if is_installed(each[0])]
            lines = [([sys.executable, "-m", "typedbytes", *arguments.split()], file)]
            lines += [(command_of(text), path) for _, text, path in others]
            ours_ns, *theirs = measured(lines, pathlib.Path(name), options.records, options.runs)
            best_ns, best = min(zip(theirs, others))
            ratio = ours_ns / best_ns
            name_of_best = best[0] or "a script with this library"
            print(f"{title:<18}{ours_ns:>8.0f}{best_ns:>8.0f}{ratio:>8.2f}{goal:>6.1f}  {name_of_best}", flush=True)
            missed += [title] if ratio > goal else []
    if missed and not options.quick:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
