"""Write docs/command-tour.md and docs/cookbook.md: what a user types on real files, and what comes out.

    python docs/command_tour.py

A page holds the output of each command, stdout before stderr, and its exit code unless it is 0. The files are made
from the test vectors, so that everybody gets the same. A test runs the commands again.
"""

import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import typedbytes

ROOT = pathlib.Path(__file__).parents[1]
VECTORS = ROOT / "test_vectors"
MAX_LINES = 12
MAX_CHARACTERS = 110


def _cut(line):
    return line[: MAX_CHARACTERS + 1].rpartition(" ")[0] + " ..."


def make_files(folder):
    """Write the files that the page uses."""
    files = {
        each["name"]: each["hex"]
        for each in map(json.loads, (VECTORS / "sequencefile/files.jsonl").read_text().splitlines())
    }
    (folder / "out").mkdir()
    for number, name in enumerate(["none/typed", "zlib-block/typed", "gzip-record/typed"]):
        name = name if name in files else next(each for each in files if each.endswith("/typed"))
        (folder / f"out/part-{number:05}").write_bytes(bytes.fromhex(files[name]))
    (folder / "out/_SUCCESS").write_bytes(b"")
    for name in ("list_50.tb", "dict_50.tb"):
        (folder / f"python2-{name}").write_bytes((VECTORS / "foreign/python2" / name).read_bytes())
    (folder / "pairs.tb").write_bytes((VECTORS / "foreign/hadoop/golden_pairs.tb").read_bytes())
    words = word_counts(1000)
    (folder / "words.tb").write_bytes(words)
    counts = collections.Counter(word for word, _ in typedbytes.Decoder().decode_pairs(words))
    (folder / "counts.tb").write_bytes(typedbytes.Encoder().encode_pairs(counts.items()))
    offset = typedbytes.index(words)[700]
    (folder / "damaged.tb").write_bytes(words[:offset] + b"\x0e" + words[offset + 1 :])
    (folder / "cut.tb").write_bytes(words[:5000])
    (folder / "empty.tb").write_bytes(b"")
    (folder / "letter.txt").write_text("Dear reader,\nthis is not a stream of typed bytes.\n")
    (folder / "people.csv").write_text('name,born\n"Lovelace, Ada",1815\nGrace Hopper,1906\n')
    people = [{"name": "Lovelace, Ada", "born": 1815}, {"name": "Grace Hopper", "born": 1906}]
    (folder / "people.tb").write_bytes(typedbytes.Encoder().encode_all(people))
    (folder / "lines.json").write_text('{"name": "x", "n": 1}\n["a", {"bytes": "AP8="}]\n')


def word_counts(npairs):
    """Return pairs of words and 1, as the mapper of a word count writes them."""
    chance = random.Random(1)
    letters = "etaoinshrdlu"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(500)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    return typedbytes.Encoder().encode_pairs([(word, 1) for word in chance.choices(words, weights, k=npairs)])


PAGE_HEAD = """\
# A tour of the command

This page is generated: each command was given to a shell, and its output follows. Long output is
cut at `...`, and `[exit code 65]` is what `echo $?` would print. [The command](command.md)
describes each command and option. The files are:

- `out`: the folder of a Hadoop job, SequenceFiles of typed bytes written by Hadoop's own classes
- `pairs.tb`: pairs from Hadoop with keys of every type
- `python2-*.tb`: written by the library for Python 2
- `words.tb`, `counts.tb`: what the mapper of a word count writes, and its reducer
- `damaged.tb`, `cut.tb`: `words.tb` with one byte changed, and with the end missing

"""

SECTIONS = [
    ("What is this file?", ["typedbytes sniff --table *"]),
    (
        "Looking at records",
        [
            "typedbytes head -n 3 --to json out",
            "typedbytes head -2 --pairs words.tb | typedbytes to-json --pairs",
            "typedbytes sample -n 3 --seed 7 --pairs words.tb | typedbytes to-json --pairs",
            "typedbytes slice -r 11:13 python2-list_50.tb | typedbytes to-json",
        ],
    ),
    (
        "Counting and summing up",
        [
            "typedbytes count --table out python2-list_50.tb empty.tb",
            "typedbytes stats --table --pairs -n 3 --reducers 4 words.tb",
            "typedbytes schema --table python2-list_50.tb",
            "typedbytes freq --table --pairs -n 5 words.tb",
        ],
    ),
    (
        "Is it whole?",
        [
            "typedbytes validate --table out/part-* words.tb",
            "typedbytes validate --table --pairs damaged.tb",
            "typedbytes validate --table --pairs --repair intact.tb damaged.tb",
            "typedbytes validate --table -n 1 python2-list_50.tb",
        ],
    ),
    (
        "By mistake",
        [
            "typedbytes cat letter.txt",
            "typedbytes cat missing.tb",
            "typedbytes count --pairs cut.tb",
            "typedbytes cta words.tb",
            "typedbytes head --lines 3 words.tb",
            "typedbytes sort words.tb",
            "typedbytes cat words.tb > /dev/full",
            "typedbytes to-json words.tb | head -n 1",
        ],
    ),
]

COOKBOOK_HEAD = """\
# Cookbook

One line for each purpose, as a shell ran it, with its output; long output is cut at `...`. The
files are those of [the tour](command-tour.md); `people.csv` has a header, `lines.json` lines of
JSON. `--pairs` says that a file of typed bytes has keys and values in turn; SequenceFiles say it
themselves.

"""

COOKBOOK = [
    (
        "Look",
        {
            "The last records": "typedbytes tail -n 2 --pairs --to json words.tb",
            "How many records a folder has": "typedbytes count out",
            "The distinct keys, counted": "typedbytes uniq --all --by key --pairs words.tb | typedbytes count --pairs",
            "How even reducers would be": "typedbytes stats --table --pairs --reducers 3 counts.tb | tail -n 5",
            "A class in Python that fits the data": "typedbytes schema --python --values people.tb | tail -n 4",
        },
    ),
    (
        "Find and compare",
        {
            "Records whose key has a text in it": "typedbytes grep -F det --in key --pairs words.tb -c",
            "Records that match a regular expression": "typedbytes grep '^u.*[st]$' --pairs counts.tb --to json",
            "Whether two files have the same records": "typedbytes sort --pairs words.tb -o sorted.tb; "
            "typedbytes diff --unordered --pairs words.tb sorted.tb && echo equal",
            "One record from the middle": "typedbytes slice -r 500:501 --pairs words.tb --to json",
        },
    ),
    (
        "Sort and sum up",
        {
            "The largest values": "typedbytes sort --by value --reverse --pairs counts.tb | "
            "typedbytes head -3 --pairs --to json",
            "The order that Hadoop gives a reducer": "typedbytes sort --pairs words.tb | "
            "typedbytes tail -2 --pairs --to json",
            "Each key once": "typedbytes uniq --by key --pairs sorted.tb | typedbytes count --pairs",
            "Sums by key": "typedbytes aggregate --pairs words.tb | head -n 1",
            "A field as the key": "typedbytes cut -k value.born -f value.name --values people.tb --to json",
            "Pairs by reducer, a file for each": "typedbytes partition -n 3 --pairs words.tb -o by-reducer && "
            "ls by-reducer",
        },
    ),
    (
        "Convert",
        {
            "A folder of Hadoop to one stream": "typedbytes cat out -o all.tb && typedbytes count --pairs all.tb",
            "To Parquet": "typedbytes convert --pairs counts.tb -o counts.parquet",
            "From Parquet to CSV": "typedbytes convert counts.parquet -o counts.csv && head -n 2 counts.csv",
            "CSV with a header to records": "typedbytes from-text --csv --header --infer people.csv | "
            "typedbytes to-json",
            "Fields of records to CSV": "typedbytes cut -f value.name -f value.n --missing null lines.json | "
            "typedbytes to-text --csv",
            "Lines of JSON to typed bytes and back": "typedbytes from-json lines.json | typedbytes to-json",
            "Bytes as plain JSON": "typedbytes to-json --plain lines.json | tail -n 1",
            "Key, TAB and value": "typedbytes to-text --pairs counts.tb | head -n 2",
            "Lines of text to records": "typedbytes from-text letter.txt | typedbytes count --values",
            "To a SequenceFile of Java's classes": "typedbytes convert --pairs --key-class Text --value-class "
            "LongWritable counts.tb -o counts.seq",
            "What classes a SequenceFile has": "typedbytes sniff counts.seq | grep -o '\"key_class.*'",
            "Hadoop's loadtb and dumptb": "typedbytes loadtb loaded.seq < words.tb && "
            "typedbytes dumptb loaded.seq | cmp - words.tb && echo the same",
            "Compressed, and read again": "typedbytes cat words.tb -o words.tb.gz && "
            "typedbytes count --pairs words.tb.gz",
        },
    ),
    (
        "Check and mend",
        {
            "Whether files are whole": "typedbytes validate out | grep -c '\"ok\": true'",
            "What is intact of a damaged file": "typedbytes validate --pairs --repair good.tb damaged.tb "
            ">/dev/null 2>&1; typedbytes count --pairs good.tb",
            "Text of Python 2": "typedbytes validate --unicode-errors surrogateescape python2-list_50.tb",
            "Messages to a JVM": "typedbytes head -n 1 --to block --pairs words.tb | typedbytes block decode "
            "--wire native",
        },
    ),
]


def environment_of(folder):
    """Return an environment whose typedbytes is that of this tree."""
    shims = folder / ".bin"
    shims.mkdir(exist_ok=True)
    (shims / "typedbytes").write_text(f'#!/bin/sh\nexec {sys.executable} -m typedbytes "$@"\n')
    (shims / "typedbytes").chmod(0o755)
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    return {**inherited, "PATH": f"{shims}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8"}


def shown(command, folder, environment):
    """Run a command in a folder and yield its line, its output, and its exit code unless that is 0."""
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
    yield f"$ {command}"
    lines = (done.stdout + done.stderr).rstrip("\n").splitlines()
    yield from (line if len(line) <= MAX_CHARACTERS else _cut(line) for line in lines[:MAX_LINES])
    if len(lines) > MAX_LINES:
        yield "..."
    if done.returncode:
        yield f"[exit code {done.returncode}]"


def page(head, sections, folder):
    """Run the commands of sections, each with what it is for where that is said, and return the page."""
    environment, lines = environment_of(folder), []
    for title, commands in sections:
        lines += [f"## {title}", "", "```console"]
        for name in commands:
            if isinstance(commands, dict):
                lines += [f"$ # {name}", *shown(commands[name], folder, environment)]
            else:
                lines += shown(name, folder, environment)
        lines += ["```", ""]
    return head + "\n".join(lines[:-1]) + "\n"


PAGES = {"command-tour.md": (PAGE_HEAD, SECTIONS), "cookbook.md": (COOKBOOK_HEAD, COOKBOOK)}


def main():
    """Write the pages."""
    for name, (head, sections) in PAGES.items():
        with tempfile.TemporaryDirectory() as folder:
            make_files(pathlib.Path(folder))
            (ROOT / "docs" / name).write_text(page(head, sections, pathlib.Path(folder)))


if __name__ == "__main__":
    main()
