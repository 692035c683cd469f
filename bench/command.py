"""Whole-process times of the command beside what users could type instead, on the same records. `make bench-command` runs it.

Every line is the best of several processes, run in turns; the answers are compared, and a wrong one ends the run. The records are
word counts: GNU sort gets them as lines of text, the MessagePack tools as a stream of [key, value]. The table goes into
bench/results/command.md.
"""

import argparse
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time
from operator import itemgetter

import msgpack

import typedbytes

RESULTS = pathlib.Path(__file__).parent / "results" / "command.md"

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
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlucmfwypvbgkjqxz", k=chance.randint(2, 12))) for _ in range(50_000)]
    pairs = [(word, 1) for word in chance.choices(words, k=200_000)]
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
    tb = f"{sys.executable} -m typedbytes"
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
        ("grep", "LC_ALL=C grep -F -c qxz pairs.txt"),
        ("freq", f"{tb} freq --pairs pairs.tb > /dev/null"),
        ("freq", "LC_ALL=C sort -S 2G pairs.txt | uniq -c | sort -rn | head > /dev/null"),
        ("stats", f"{tb} stats --pairs --reducers 8 pairs.tb > /dev/null"),
        ("to-json", f"{tb} to-json --pairs pairs.tb > ours.json"),
        ("to-json", f"{sys.executable} {scripts['json']} < pairs.msgpack > theirs.json"),
        ("to-json", f"{sys.executable} {scripts['orjson']} < pairs.msgpack > theirs_too.json"),
        ("from-json", f"{tb} from-json --pairs pairs.json > back.tb"),
        ("from-json", f"{sys.executable} {scripts['msgpack']} < pairs.json > back.msgpack"),
    ]


def check(folder):
    """Compare what the two sides of the bench came to."""

    def same(one, other):
        subprocess.run(["cmp", one, other], cwd=folder, check=True)

    same("ours.json", "pairs.json")
    same("ours.json", "theirs.json")
    same("back.tb", "pairs.tb")
    same("back.msgpack", "pairs.msgpack")
    ours = subprocess.run(f"{sys.executable} -m typedbytes to-json --pairs sorted.tb | sort | sha256sum", shell=True, cwd=folder, capture_output=True)
    assert ours.stdout == subprocess.run("sort pairs.json | sha256sum", shell=True, cwd=folder, capture_output=True).stdout


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


def main():
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="once and small, and no table")
    options = parser.parse_args()
    runs = 1 if options.quick else options.runs
    nbytes = 2_000_000 if options.quick else options.megabytes * 1_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        npairs = make_files(folder, nbytes)
        nbytes = (folder / "pairs.tb").stat().st_size
        commands = lines_of(folder)
        best = [min(times, key=itemgetter(1)) for times in zip(*([seconds_of(command, folder) for _, command in commands] for _ in range(runs)))]
        check(folder)
        table = list(rows(commands, best, nbytes, folder))
    text = f"{npairs:,} pairs, {nbytes / 1e6:,.0f} MB of typed bytes; whole processes; of {runs} runs the one with the least CPU.\n\n" + "\n".join(table) + "\n"
    print(text)
    if not options.quick:
        RESULTS.write_text("# The command beside other tools\n\n" + text)


def rows(commands, best, nbytes, folder):
    """Yield the lines of the table; rates and ratios are of CPU, which a busy machine leaves as it is."""
    yield "| what | command | s | s of CPU | MB of typed bytes per s of CPU | CPU, times ours |"
    yield "|---|---|--:|--:|--:|--:|"
    ours = {}
    for (title, command), (seconds, cpu) in zip(commands, best):
        shown = command.replace(f"{sys.executable} -m typedbytes", "typedbytes").replace(sys.executable, "python").replace(f"{folder}/", "")
        ratio = f"{cpu / ours[title]:.1f}" if title in ours else ""
        ours.setdefault(title, cpu)
        cells = [title, f"`{shown.replace('|', chr(92) + '|')}`", f"{seconds:.2f}", f"{cpu:.2f}", f"{nbytes / cpu / 1e6:,.0f}", ratio]
        yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
