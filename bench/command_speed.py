"""Whole-process times of the command beside what users could type instead, on the same records.

`make -C bench command-speed` runs it. Every line is the best of several processes, run in turns, or the only one where
it takes longer than a minute; the answers are compared, and a wrong one ends the run. The records are word counts: GNU
sort gets them as lines of text, the MessagePack tools as a stream of [key, value]. Then what a command costs that has
next to nothing to do, beside a bare Python, and what of the goals is met. It prints the tables.
"""

import argparse
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from operator import itemgetter

import msgpack

import typedbytes

TYPEDBYTES = pathlib.Path(sys.executable).with_name("typedbytes")  # as pip installs it
LONG = 60  # seconds: a command that takes longer is run once

#: What is to be reached: GB of typed bytes for a second of CPU; CPU of the other tools, times ours;
#: CPU above a bare Python's.
MIN_GIGABYTES = {"count": 1.0, "cat": 1.0}
MIN_RATIOS = {"sort": 1.0, "to-json": 1.0}
MAX_START_UP = 0.040
PLAIN_FILTERS = ("cat", "head", "count", "to-json")

MSGPACK_TO_JSON = """
import sys, msgpack, json
write = sys.stdout.write
for record in msgpack.Unpacker(sys.stdin.buffer, read_size=1 << 20):
    write(json.dumps(record) + "\\n")
"""
MSGPACK_TO_ORJSON = """
import sys, msgpack, orjson
write = sys.stdout.buffer.write
for record in msgpack.Unpacker(sys.stdin.buffer, read_size=1 << 20):
    write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
"""
FROM_JSON_TO_MSGPACK = """
import sys, msgpack, json
write, pack = sys.stdout.buffer.write, msgpack.Packer().pack
for line in sys.stdin.buffer:
    write(pack(json.loads(line)))
"""


def make_files(folder, nbytes):
    """Write the same word counts as typed bytes, text, MessagePack and JSON; return the number of pairs."""
    rng = random.Random(1)
    words = ["".join(rng.choices("etaoinshrdlucmfwypvbgkjqxz", k=rng.randint(2, 12))) for _ in range(50_000)]
    pairs = [(word, 1) for word in rng.choices(words, k=200_000)]
    blocks = {
        "pairs.tb": typedbytes.Encoder().encode_pairs(pairs),
        "pairs.txt": "".join(f"{word}\t{n}\n" for word, n in pairs).encode(),
        "pairs.msgpack": b"".join(map(msgpack.Packer().pack, pairs)),
        "pairs.json": "".join(f'["{word}", {n}]\n' for word, n in pairs).encode(),
    }
    nblocks = max(1, nbytes // len(blocks["pairs.tb"]))
    for name, block in blocks.items():
        with open(folder / name, "wb") as file:
            for _ in range(nblocks):
                file.write(block)
    return nblocks * len(pairs)


def lines_of(folder):
    """Return (title, command line); of each title the first is ours."""
    tb = TYPEDBYTES
    scripts = {}
    for name, text in (("json", MSGPACK_TO_JSON), ("orjson", MSGPACK_TO_ORJSON), ("msgpack", FROM_JSON_TO_MSGPACK)):
        scripts[name] = folder / f"{name}_tool.py"
        scripts[name].write_text(text)
    return [
        ("count", f"{tb} count --pairs pairs.tb"),
        ("count", "wc -l pairs.txt"),
        ("cat", f"{tb} cat --pairs pairs.tb > /dev/null"),
        ("cat", "cat pairs.txt > /dev/null"),
        ("sort", f"{tb} sort --pairs pairs.tb -o sorted.tb"),
        ("sort", "LC_ALL=C sort --parallel=2 -S 2G pairs.txt -o sorted.txt"),
        ("partition", f"{tb} partition -n 8 --pairs pairs.tb -o parts"),
        ("grep", f"{tb} grep -F qxz --pairs pairs.tb > found.tb"),
        ("grep", "LC_ALL=C grep -F qxz pairs.txt > found.txt"),
        ("freq", f"{tb} freq --pairs pairs.tb > /dev/null"),
        ("freq", "LC_ALL=C sort -S 2G pairs.txt | uniq -c | sort -rn | head > /dev/null"),
        ("stats", f"{tb} stats --pairs --reducers 8 pairs.tb > /dev/null"),
        ("to-json", f"{tb} to-json --pairs pairs.tb > ours.json"),
        ("to-json", f"{sys.executable} {scripts['json']} < pairs.msgpack > theirs.json"),
        ("to-json", f"{sys.executable} {scripts['orjson']} < pairs.msgpack > theirs_too.json"),
        ("from-json", f"{tb} from-json --pairs pairs.json > back.tb"),
        ("from-json", f"{sys.executable} {scripts['msgpack']} < pairs.json > back.msgpack"),
    ]


def check(folder, titles):
    """Compare what the two sides of the bench came to."""

    def same(one, other):
        subprocess.run(["cmp", one, other], cwd=folder, check=True)

    if "to-json" in titles:
        same("ours.json", "pairs.json")
        same("ours.json", "theirs.json")
    if "from-json" in titles:
        same("back.tb", "pairs.tb")
        same("back.msgpack", "pairs.msgpack")
    if "sort" in titles:
        sums = (
            f"{TYPEDBYTES} to-json --pairs sorted.tb | LC_ALL=C sort | sha256sum",
            "LC_ALL=C sort pairs.json | sha256sum",
        )
        ours, theirs = (
            subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, check=True).stdout
            for command in sums
        )
        assert ours == theirs


def seconds_of(command, folder):
    """Run a command and return its time and that of the processors."""
    subprocess.run(["rm", "-rf", "parts"], cwd=folder, check=True)
    start, before = time.perf_counter(), cpu_seconds()
    subprocess.run(["bash", "-c", command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start, cpu_seconds() - before


def cpu_seconds():
    """Return the time that all child processes have had of the processors."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def best_of(commands, folder, runs):
    """Run all commands in turns and return (seconds, seconds of CPU) of each: those with the least CPU."""
    times = [[] for _ in commands]
    for _ in range(runs):
        for (title, command), found in zip(commands, times):
            if sum(seconds for seconds, _ in found) < LONG:
                found.append(seconds_of(command, folder))
                print(f"{title}: {found[-1][0]:.2f} s, {found[-1][1]:.2f} s of CPU: {command}", file=sys.stderr)
    return [min(found, key=itemgetter(1)) for found in times]


def start_up(folder, runs):
    """Return {command: (least, median)} of CPU seconds above those of a bare Python, which are under "python"."""
    (folder / "one.tb").write_bytes(typedbytes.dumps("one"))
    commands = {
        "python": [sys.executable, "-c", "pass"],
        **{name: [TYPEDBYTES, name, "one.tb"] for name in PLAIN_FILTERS},
    }
    times = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            before = cpu_seconds()
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
            times[name].append(cpu_seconds() - before)
    bare = times["python"]
    found = {
        name: (min(all_of) - min(bare), statistics.median(all_of) - statistics.median(bare))
        for name, all_of in times.items()
    }
    return {**found, "python": (min(bare), statistics.median(bare))}


def judged(commands, best, nbytes, starts):
    """Yield (goal, reached, is met)."""
    titles = {title for title, _ in commands}
    for title in sorted(titles.intersection(MIN_GIGABYTES)):
        least = MIN_GIGABYTES[title]
        (seconds, cpu), *_ = times_of(title, commands, best)
        rate = nbytes / cpu / 1e9
        yield (
            f"{title}: {least:.1f} GB for a second of CPU",
            f"{rate:.2f} ({nbytes / seconds / 1e9:.2f} by the clock)",
            rate >= least,
        )
    for title in sorted(titles.intersection(MIN_RATIOS)):
        least = MIN_RATIOS[title]
        (seconds, cpu), *others = times_of(title, commands, best)
        other_seconds, other_cpu = min(others, key=itemgetter(1))
        ratio = other_cpu / cpu
        yield (
            f"{title}: {least:.1f} times our CPU for the best of the others",
            f"{ratio:.2f} ({other_seconds / seconds:.2f} by the clock)",
            ratio >= least,
        )
    for name in PLAIN_FILTERS:
        least, median = starts[name]
        reached = f"{1000 * least:.1f} ms, median {1000 * median:.1f} ms"
        yield (
            f"{name}: {1000 * MAX_START_UP:.0f} ms of CPU above a bare Python",
            reached,
            max(least, median) < MAX_START_UP,
        )


def times_of(title, commands, best):
    """Return the times of a title, ours first."""
    return [times for (each, _), times in zip(commands, best) if each == title]


def main():
    """Measure and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", nargs="+", metavar="WHAT", help="of the table")
    parser.add_argument("--quick", action="store_true", help="once and small")
    options = parser.parse_args()
    runs = 1 if options.quick else options.runs
    nbytes = 2_000_000 if options.quick else options.megabytes * 1_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        npairs = make_files(folder, nbytes)
        nbytes = (folder / "pairs.tb").stat().st_size
        commands = [each for each in lines_of(folder) if not options.only or each[0] in options.only]
        best = best_of(commands, folder, runs)
        check(folder, {title for title, _ in commands})
        starts = start_up(folder, 3 if options.quick else 30)
        lines = [
            f"{npairs:,} pairs, {nbytes / 1e6:,.0f} MB of typed bytes; whole processes; "
            f"of {runs} runs the one with the least CPU.",
            "", *rows(commands, best, nbytes, folder),
            "",
            f"A bare Python takes {1000 * starts['python'][0]:.1f} ms of CPU, "
            f"median {1000 * starts['python'][1]:.1f} ms.",
            "", *goal_rows(judged(commands, best, nbytes, starts)),
        ]  # fmt: skip
    print(*lines, sep="\n")


def rows(commands, best, nbytes, folder):
    """Yield the lines of the table; rates and ratios are of CPU, which a busy machine leaves as it is."""
    yield "| what | command | s | s of CPU | MB of typed bytes per s of CPU | CPU, times ours |"
    yield "|---|---|--:|--:|--:|--:|"
    ours = {}
    for (title, command), (seconds, cpu) in zip(commands, best):
        shown = (
            command.replace(str(TYPEDBYTES), "typedbytes").replace(sys.executable, "python").replace(f"{folder}/", "")
        )
        ratio = f"{cpu / ours[title]:.1f}" if title in ours else ""
        ours.setdefault(title, cpu)
        cells = [
            title, f"`{shown.replace('|', chr(92) + '|')}`", f"{seconds:.2f}", f"{cpu:.2f}",
            f"{nbytes / cpu / 1e6:,.0f}", ratio,
        ]  # fmt: skip
        yield f"| {' | '.join(cells)} |"


def goal_rows(judgements):
    """Yield the lines of the table of goals."""
    yield "| goal | reached | |"
    yield "|---|---|---|"
    for goal, reached, is_met in judgements:
        yield f"| {goal} | {reached} | {'met' if is_met else 'missed'} |"


if __name__ == "__main__":
    main()
