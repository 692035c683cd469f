"""Write docs/command-tour.md: what a user types on real files, and what comes out. `make docs-command` runs it.

The commands run here and their output goes into the page as it is, stderr behind stdout, the exit code where it is not 0. Files
are made anew from the test vectors, so that anybody gets the same; the 2 GB stream is made too, and costs about a minute. What
needs a terminal is typed into tmux and captured from it.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import typedbytes

ROOT = pathlib.Path(__file__).parents[1]
PAGE = ROOT / "docs" / "command-tour.md"
VECTORS = ROOT / "test_vectors"
MOST_LINES = 24
MOST_CHARACTERS = 160
BIG_NBYTES = 2_000_000_000


def make_files(folder):
    """Write the files that the page speaks of."""
    files = {each["name"]: each["hex"] for each in map(json.loads, (VECTORS / "sequencefile/files.jsonl").read_text().splitlines())}
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
    place = typedbytes.index(words)[700]
    (folder / "damaged.tb").write_bytes(words[:place] + b"\x0e" + words[place + 1 :])
    (folder / "cut.tb").write_bytes(words[:5000])
    (folder / "empty.tb").write_bytes(b"")
    (folder / "letter.txt").write_text("Dear reader,\nthis is no stream of typed bytes.\n")
    (folder / "lines.json").write_text('{"name": "x", "n": 1}\n["a", {"bytes": "AP8="}]\n')


def word_counts(npairs):
    """Return pairs of words and 1, as the mapper of a word count writes them."""
    chance = random.Random(1)
    letters = "etaoinshrdlu"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(500)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    return typedbytes.Encoder().encode_pairs([(word, 1) for word in chance.choices(words, weights, k=npairs)])


def make_big(folder):
    """Write a stream of 2 GB."""
    block = word_counts(200_000)
    with open(folder / "big.tb", "wb") as file:
        while file.tell() < BIG_NBYTES:
            file.write(block)


PAGE_HEAD = """\
# The command, tried out

This page is made by running what stands in it (`make docs-command`): each command was typed in a shell, and what follows it
came out. Long outputs are cut where `...` stands. [The command](command.md) tells what each command and option means.

`out` holds part files as a Hadoop job leaves them, SequenceFiles of typed bytes written by Hadoop's own classes; `pairs.tb` is
a stream of pairs from Hadoop with keys of every type; `python2-*.tb` were written by the library of Python 2 days; `words.tb` is
the output of a word count's mapper, `damaged.tb` the same with one byte changed, `cut.tb` with the end missing.
"""

SECTIONS = [
    ("What is this file?", ["typedbytes sniff --table *", "typedbytes sniff < pairs.tb"]),
    (
        "Looking at records",
        [
            "typedbytes head -n 3 --to json out",
            "typedbytes tail -n 2 --pairs words.tb | typedbytes to-json --pairs",
            "typedbytes slice -r 2:10:3 --pairs pairs.tb | typedbytes to-json --pairs",
            "typedbytes sample -n 3 --seed 7 --pairs words.tb | typedbytes to-json --pairs",
            "typedbytes slice -r 11:13 python2-list_50.tb | typedbytes to-json",
        ],
    ),
    (
        "Counting and summing up",
        [
            "typedbytes count out",
            "typedbytes count --table out python2-list_50.tb empty.tb",
            "typedbytes stats --table --pairs -n 3 --reducers 4 words.tb",
            "typedbytes stats --pairs words.tb",
            "typedbytes schema --table python2-list_50.tb",
            "typedbytes freq --table --pairs -n 5 words.tb",
        ],
    ),
    (
        "Is it whole?",
        [
            "typedbytes validate --table out/part-* words.tb",
            "typedbytes validate --table --pairs damaged.tb",
            "typedbytes validate --pairs cut.tb",
            "typedbytes validate --table --pairs --repair intact.tb damaged.tb",
            "typedbytes count --pairs intact.tb",
            "typedbytes validate --table -n 1 python2-list_50.tb",
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
            "typedbytes count lines.json",
            "typedbytes from-json lines.json | typedbytes to-json",
            "typedbytes from-json lines.json | typedbytes to-json --plain",
            "typedbytes to-json --pairs pairs.tb | typedbytes from-json --pairs | cmp - pairs.tb && echo the same",
        ],
    ),
    (
        "Filtering, sorting, comparing",
        [
            "typedbytes grep -F det --in key --pairs words.tb | typedbytes count --pairs",
            "typedbytes grep '^u.*[st]$' --pairs words.tb | typedbytes uniq --pairs --all --by key | typedbytes to-json --pairs",
            "typedbytes sort --pairs words.tb -o sorted.tb; typedbytes uniq --by key --pairs sorted.tb | typedbytes count --pairs",
            "typedbytes partition -n 3 --pairs words.tb -o by-reducer; typedbytes count --table --pairs by-reducer",
            "typedbytes diff --unordered --pairs words.tb sorted.tb && echo the same",
            "typedbytes diff --table --pairs -n 2 words.tb sorted.tb",
        ],
    ),
    (
        "Other containers",
        [
            "typedbytes convert --to sequencefile --pairs words.tb -o words.seq",
            "typedbytes sniff --table words.seq; typedbytes cat words.seq | cmp - words.tb && echo the same",
            "typedbytes dumptb out | typedbytes count --pairs",
            "typedbytes loadtb loaded.seq < words.tb; typedbytes count loaded.seq",
            "typedbytes head -n 2 --to block --pairs words.tb | typedbytes block decode --wire native",
            "gzip -c words.tb > words.tb.gz; typedbytes count --pairs words.tb.gz; typedbytes sniff --table words.tb.gz",
            "head -c 1000 words.tb.gz | typedbytes tail -n 1 --pairs --to json",
            "typedbytes convert --to parquet --pairs words.tb -o words.parquet; typedbytes count words.parquet",
        ],
    ),
]

BIG = ("A stream of 2 GB", ["typedbytes count --pairs big.tb", "typedbytes cat --pairs big.tb | cat > /dev/null", "typedbytes tail -n 1 --pairs --to json big.tb", "typedbytes stats --table --pairs --reducers 2 big.tb"])  # fmt: skip


def environment_of(folder):
    """Return an environment in which typedbytes is this one."""
    shims = folder / ".bin"
    shims.mkdir(exist_ok=True)
    (shims / "typedbytes").write_text(f'#!/bin/sh\nexec {sys.executable} -m typedbytes "$@"\n')
    (shims / "typedbytes").chmod(0o755)
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    return {**inherited, "PATH": f"{shims}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8"}


def tour(folder, sections, is_timed=False):
    """Run the commands of sections in a folder and yield the lines of the page."""
    environment = environment_of(folder)
    for title, commands in sections:
        yield f"\n## {title}\n"
        for command in commands:
            before = os.times()
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
            after = os.times()
            yield "```console"
            yield f"$ {command}"
            lines = (done.stdout + done.stderr).rstrip("\n").splitlines()
            yield from (line if len(line) <= MOST_CHARACTERS else line[:MOST_CHARACTERS] + " ..." for line in lines[:MOST_LINES])
            if len(lines) > MOST_LINES:
                yield "..."
            yield "```\n"
            if done.returncode:
                yield f"Exit code {done.returncode}.\n"
            if is_timed:
                cpu = after.children_user + after.children_system - before.children_user - before.children_system
                yield f"{cpu:.1f} s of CPU, all processes together.\n"


class Tmux:
    """A terminal of tmux with a shell in it."""

    def __init__(self, folder, environment):
        self._socket = f"typedbytes-tour-{os.getpid()}"
        self._call("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "-c", str(folder), "bash --norc --noprofile", env=environment)
        self.type("PS1='$ '; clear")

    def _call(self, *arguments, **how):
        return subprocess.run(["tmux", "-L", self._socket, *arguments], check=True, capture_output=True, text=True, **how).stdout

    def type(self, line):
        """Type a line and press Enter."""
        self._call("send-keys", "-l", line)
        self._call("send-keys", "Enter")

    def press(self, key):
        """Press one key, as tmux names it."""
        self._call("send-keys", key)

    def clear(self):
        """Begin with an empty screen."""
        self.type("clear")
        self.wait_for(lambda shown: shown.strip() == "$")

    def shown(self, *how):
        """Return what is on the screen."""
        return self._call("capture-pane", "-p", *how).rstrip("\n")

    def wait_for(self, is_there):
        """Wait until the screen is as it should be, and return it."""
        end = time.monotonic() + 30
        while not is_there(self.shown()):
            if time.monotonic() > end:
                raise TimeoutError(self.shown())
            time.sleep(0.05)
        return self.shown()

    def run(self, line, *how):
        """Type a line on an empty screen, wait for the next prompt, and return the screen without it."""
        self.clear()
        self.type(line)
        self.wait_for(lambda shown: shown.count("$ ") and shown.endswith("$"))
        return self.shown(*how).rsplit("\n", 1)[0]

    def resize(self, columns):
        """Give the terminal another width."""
        self._call("resize-window", "-x", str(columns))

    def end(self):
        """End tmux."""
        self._call("kill-server")


def on_a_terminal(folder):
    """Try what is different on a terminal and yield the lines of the page."""
    terminal = Tmux(folder, environment_of(folder))
    yield "\n## On a terminal\n"
    try:
        yield "Reports are tables, records are lines of JSON (here the escape character of their colours is shown as `^[`):\n"
        yield from console(terminal.run("typedbytes freq -n 3 --pairs words.tb"))
        yield from console(terminal.run("typedbytes head -n 2 --pairs words.tb", "-e").replace("\x1b", "^["))
        yield "Lines are cut where the terminal ends, also when it was made narrower:\n"
        terminal.resize(50)
        yield from console(terminal.run("typedbytes sniff out"))
        terminal.resize(80)
        yield "Long work tells how far it is; Ctrl-C ends it:\n"
        terminal.clear()
        terminal.type("typedbytes validate --pairs big.tb > /dev/null")
        yield from console(terminal.wait_for(lambda shown: " left: big.tb" in shown))
        terminal.press("C-c")
        terminal.wait_for(lambda shown: shown.endswith("\n$"))
        terminal.type("echo $?")
        yield from console(terminal.wait_for(lambda shown: "130" in shown).rsplit("\n", 1)[0])
    finally:
        terminal.end()


def console(text):
    """Return the lines of a block of the page."""
    return ["```console", *(line.rstrip() for line in text.splitlines()), "```\n"]


def main():
    """Write the page."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_files(folder)
        text = PAGE_HEAD + "\n".join(tour(folder, SECTIONS))
        make_big(folder)
        text += "\n" + "\n".join(tour(folder, [BIG], is_timed=True))
        text += "\n" + "\n".join(on_a_terminal(folder))
    PAGE.write_text(text.rstrip("\n") + "\n")


if __name__ == "__main__":
    main()
