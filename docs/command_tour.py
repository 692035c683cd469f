"""Write docs/command-tour.md: what a user types on real files, and what comes out.

    python docs/command_tour.py

The page holds the output of each command, stdout before stderr, and the exit code unless it is 0. The files are made
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
PAGE = ROOT / "docs" / "command-tour.md"
VECTORS = ROOT / "test_vectors"
MAX_LINES = 12
MAX_CHARACTERS = 110


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
cut at `...`. [The command](command.md) describes each command and option. The files are:

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
            "typedbytes slice -r -3: --pairs words.tb | typedbytes to-json --pairs",
            "typedbytes sample -n 3 --seed 7 --pairs words.tb | typedbytes to-json --pairs",
            "typedbytes slice -r 11:13 python2-list_50.tb | typedbytes to-json",
        ],
    ),
    (
        "Counting and summing up",
        [
            "typedbytes count --table out python2-list_50.tb empty.tb",
            "typedbytes stats --table --pairs -n 3 --reducers 4 words.tb",
            "typedbytes stats --pairs words.tb",
            "typedbytes schema --table python2-list_50.tb",
            "typedbytes freq --table --pairs -n 5 words.tb",
            "typedbytes aggregate --table --pairs words.tb | head -n 4",
        ],
    ),
    (
        "Is it whole?",
        [
            "typedbytes validate --table out/part-* words.tb",
            "typedbytes validate --table --pairs damaged.tb",
            "typedbytes validate --table --pairs --repair intact.tb damaged.tb",
            "typedbytes validate --table -n 1 python2-list_50.tb",
            "typedbytes validate --table --unicode-errors surrogateescape python2-list_50.tb",
        ],
    ),
    (
        "By mistake",
        [
            "typedbytes cat letter.txt",
            "typedbytes count empty.tb",
            "typedbytes cat missing.tb",
            "typedbytes count --pairs cut.tb",
            "typedbytes cta words.tb",
            "typedbytes head --lines 3 words.tb",
            "typedbytes sort words.tb",
            "typedbytes cat words.tb > /dev/full",
            "typedbytes to-json words.tb | head -n 1",
        ],
    ),
    (
        "JSON and back",
        [
            "typedbytes from-json lines.json | typedbytes to-json",
            "typedbytes from-json lines.json | typedbytes to-json --plain",
            "typedbytes head -1 --plain --pretty lines.json",
            "typedbytes to-json --pairs pairs.tb | typedbytes from-json --pairs | cmp - pairs.tb && echo the same",
        ],
    ),
    (
        "Text and back",
        [
            "typedbytes to-text --pairs words.tb | head -n 2",
            "typedbytes to-text --pairs words.tb | typedbytes from-text --pairs | typedbytes head -2 --pairs --to json",
            "typedbytes from-text --csv --header people.csv | typedbytes to-json",
            "typedbytes from-text letter.txt | typedbytes to-text",
            "typedbytes from-text --pairs letter.txt",
        ],
    ),
    (
        "Filtering, sorting, comparing",
        [
            "typedbytes grep -F det --in key --pairs words.tb | typedbytes count --pairs",
            "typedbytes sort --reverse --pairs words.tb | typedbytes head -2 --pairs --to json",
            "typedbytes sort --by value --reverse --pairs counts.tb | typedbytes head -3 --pairs --to json",
            "typedbytes grep '^u.*[st]$' --pairs words.tb | typedbytes uniq --pairs --all --by key | "
            "typedbytes to-json --pairs",
            "typedbytes sort --pairs words.tb -o sorted.tb; typedbytes uniq --by key --pairs sorted.tb | "
            "typedbytes count --pairs",
            "typedbytes partition -n 3 --pairs words.tb -o by-reducer; typedbytes count --table --pairs by-reducer",
            "typedbytes cut -f \"value['name']\" -f \"value['n']\" --missing null lines.json | "
            "typedbytes to-text --csv",
            "typedbytes diff --unordered --pairs words.tb sorted.tb && echo the same",
        ],
    ),
    (
        "Other containers",
        [
            "typedbytes convert --to sequencefile --pairs words.tb -o words.seq",
            "typedbytes sniff --table words.seq; typedbytes cat words.seq | cmp - words.tb && echo the same",
            "typedbytes loadtb loaded.seq < words.tb; typedbytes count loaded.seq",
            "typedbytes head -n 2 --to block --pairs words.tb | typedbytes block decode --wire native",
            "gzip -c words.tb > words.tb.gz; typedbytes count --pairs words.tb.gz; "
            "typedbytes sniff --table words.tb.gz",
            "head -c 1000 words.tb.gz | typedbytes tail -n 1 --pairs --to json",
            "typedbytes convert --to parquet --pairs words.tb -o words.parquet; typedbytes count words.parquet",
        ],
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


def tour(folder, sections):
    """Run the commands of sections in a folder and yield the lines of the page."""
    environment = environment_of(folder)
    for title, commands in sections:
        yield f"## {title}\n"
        for command in commands:
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
            yield "```console"
            yield f"$ {command}"
            lines = (done.stdout + done.stderr).rstrip("\n").splitlines()
            yield from (
                line if len(line) <= MAX_CHARACTERS else line[:MAX_CHARACTERS] + " ..." for line in lines[:MAX_LINES]
            )
            if len(lines) > MAX_LINES:
                yield "..."
            yield "```\n"
            if done.returncode:
                yield f"Exit code {done.returncode}.\n"


def main():
    """Write the page."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_files(folder)
        text = PAGE_HEAD + "\n".join(tour(folder, SECTIONS))
    PAGE.write_text(text.rstrip("\n") + "\n")


if __name__ == "__main__":
    main()
