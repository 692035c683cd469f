"""Two jobs on this machine, without Java: count the words of real text, and join its functions with their calls.

The text is Python's own standard library. Both jobs run by the command that is printed, on the engine of
``typedbytes run``; a cluster would run the same scripts. The results are shown as a table and as Arrow, and compared
with a plain count in Python.
"""

import collections
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pyarrow
from calls import CALL
from demo_input import demo_folder, pack, standard_library
from wordcount import WORD

from typedbytes import columns

HERE = Path(__file__).resolve().parent
DEFINITION = re.compile(r"^ *def (\w+)\(", re.M)


def main():
    folder = demo_folder(__doc__, "demo")
    sources = [path for path in standard_library() if "test" not in path.parent.parts]
    nbytes = pack(sources, folder / "input")
    print(f"input     {len(sources)} source files of Python {sys.version.split()[0]}, {nbytes / 1e6:.1f} MB of text")
    text = b"\n".join(path.read_bytes() for path in (folder / "input").iterdir()).decode("utf-8", "replace")
    definitions = [
        (name, source.name) for source in sources for name in DEFINITION.findall(source.read_text("utf-8", "replace"))
    ]
    (folder / "definitions.txt").write_text("".join(f"{name}\t{file}\n" for name, file in definitions))

    run("wordcount.py", folder, "input", "counts")
    counts = pyarrow.table(columns.read(folder / "counts", schema={"word": "string", "n": "int"}))
    show(counts.sort_by([("n", "descending")]).slice(length=8))
    check("words", dict(zip(*counts.to_pydict().values())), collections.Counter(WORD.findall(text)))

    run("calls.py", folder, "definitions.txt input", "calls")
    calls = pyarrow.table(columns.read(folder / "calls")).flatten()
    calls = calls.rename_columns(["function", "file", "nfiles", "calls"])
    show(calls.sort_by([("calls", "descending")]).slice(length=8))
    print(f"\nas Arrow\n{calls.schema}\n")
    defined = {name for name, file in definitions}
    lines = (line for line in text.splitlines() if not line.lstrip().startswith(("def ", "class ")))
    expected = collections.Counter(name for line in lines for name in CALL.findall(line) if name in defined)
    check("functions", dict(zip(calls["function"].to_pylist(), calls["calls"].to_pylist())), expected)


def run(script, folder, inputs, output):
    """Run a script of this folder as a job, and say how long it took."""
    words = ["run", str(HERE / script), *inputs.split(), "-o", output, "--reducers", "2", "--quiet"]
    print("\njob      ", shlex.join(["typedbytes", *words]), flush=True)
    start = time.perf_counter()
    if subprocess.run([sys.executable, "-m", "typedbytes", *words], cwd=folder).returncode:
        sys.exit("check     FAILED: the job has failed")
    print(f"time      {time.perf_counter() - start:.1f} s\n")


def show(table):
    """Print the rows of a table, text to the left, numbers to the right."""
    for name, column in zip(table.column_names, table.columns):
        print(f"{name:<18}" if pyarrow.types.is_string(column.type) else f"{name:>10}", end="")
    for row in table.to_pylist():
        print()
        for cell in row.values():
            print(f"{cell:<18}" if isinstance(cell, str) else f"{cell:>10,}", end="")
    print()


def check(subject, found, expected):
    """Compare what a job found with a plain count; end with exit code 1 where they differ."""
    if found != expected:
        wrong = sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
        sys.exit(f"check     FAILED: {len(wrong)} {subject} differ from a plain count, first {wrong[:5]}")
    print(f"\ncheck     {len(found):,} {subject}, {sum(found.values()):,} in all: the same as a plain count in Python")


if __name__ == "__main__":
    main()
