"""The examples as jobs here and of a real Hadoop, with 1, 2 and 7 reducers, with and without combiner.

``python tests/soak/beside_hadoop.py`` runs all cases and says for each whether the part files are equal, record
by record; the suite runs SOME of them. Here: the inputs of the examples and both ways to run them. Invariant:
both read the same files.
"""

import re
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

import typedbytes as tb
from support.hadoop_support import ROOT, SEQUENCE_FILE_INPUT, SEQUENCE_FILE_OUTPUT, hadoop, python_command
from support.local_jobs import parts_of, run, write_words

EXAMPLES = ROOT / "examples"
OF_TUTORIAL = "visits.py of the tutorial"
BINARY_PARTITIONER = "org.apache.hadoop.mapred.lib.BinaryPartitioner"


class Case(namedtuple("Case", "name nreducers combiner")):
    """One way to run an example."""

    def __str__(self):
        return f"{self.name}, {self.nreducers} reducers, {'with' if self.combiner else 'without'} combiner"


def _words(path):
    write_words(path, 2000)


def _measures(path):
    path.write_text("".join(f"city{n % 37} {n % 11 - 3.5}\n" for n in range(900)) + "no number here\n")


def _orders(path):
    lines = [f"customer,{n},Name {n}\n" for n in range(0, 60, 2)] + [f"order,{n * 7 % 60},{n}.5\n" for n in range(300)]
    path.write_text("".join(lines))


def _days(path):
    path.write_text("".join(f"2026-{n % 12 + 1:02}-{n % 28 + 1:02} user{n * n % 41}\n" for n in range(2000)))


def _made(*words):
    """Return a function that writes to a path what inputs.py generates."""

    def make(path):
        with open(path, "wb") as file:
            into = [path] if words[0] == "matrices" else []
            subprocess.run([sys.executable, EXAMPLES / "inputs.py", *words, *into], check=True, stdout=file)

    return make


Example = namedtuple("Example", "make has_combiner secondary is_sequence_file", defaults=(False, 0, False))

EXAMPLE = {
    "wordcount.py": Example(_words, True),
    "mean.py": Example(_measures, True),
    "join.py": Example(_orders),
    "inverted_index.py": Example(_words, True),
    "max_temperature.py": Example(_made("weather", "3000"), secondary=20),
    "sessions.py": Example(_made("log", "3000")),
    "visits.py": Example(_made("log", "3000"), True),
    OF_TUTORIAL: Example(_days, True),
    "matrix.py": Example(_made("matrices", "16"), is_sequence_file=True),
}
ALL = [
    Case(name, nreducers, combiner)
    for name, example in EXAMPLE.items()
    for nreducers in (1, 2, 7)
    for combiner in ([False, True] if example.has_combiner else [False])
]
SOME = [
    Case("wordcount.py", 7, True),
    Case("join.py", 2, False),
    Case("sessions.py", 2, False),
    Case("visits.py", 2, True),
    Case(OF_TUTORIAL, 2, True),
    Case("matrix.py", 1, False),
]


def script_of(name, folder):
    """Return the path of an example; that of the tutorial, which users copy, is written into a new folder."""
    if name != OF_TUTORIAL:
        return EXAMPLES / name
    (text,) = re.findall(r"```python\n(# visits.py\n.*?)```", (ROOT / "docs/tutorial.md").read_text("utf-8"), re.S)
    folder.mkdir()
    (folder / "visits.py").write_text(text, "utf-8")
    return folder / "visits.py"


def both(case, folder):
    """Run a case both ways; return the encoded pairs of Hadoop's part files and of ours."""
    example = EXAMPLE[case.name]
    source = folder / "in"
    example.make(source)
    script = script_of(case.name, folder / "script")
    command = python_command(script)
    options = ["-outputformat", SEQUENCE_FILE_OUTPUT]
    options += ["-inputformat", SEQUENCE_FILE_INPUT] if example.is_sequence_file else []
    options += ["-partitioner", BINARY_PARTITIONER] if example.secondary else []
    job = hadoop().job(
        input=source,
        output=folder / "hadoop",
        mapper=f"{command} map",
        combiner=f"{command} combine" if case.combiner else None,
        reducer=f"{command} reduce",
        nreducers=case.nreducers,
        options=options,
        properties={"mapreduce.partition.binarypartitioner.right.offset": -example.secondary - 1}
        if example.secondary
        else None,
    )
    assert job.code == 0, job.log
    run(
        script, source, folder / "local", reducers=case.nreducers, secondary=example.secondary,
        combiner=None if case.combiner else False, split_size=max(1000, source.stat().st_size // 3),
    )  # fmt: skip
    theirs = [
        list(tb.PairReader(hadoop().dump_pairs(path), raw=True)) for path in sorted((folder / "hadoop").glob("part-*"))
    ]
    return theirs, parts_of(folder / "local")


def main():
    """Run all cases; exit code 1 when one differs."""
    ndifferent = 0
    for case in ALL:
        with tempfile.TemporaryDirectory() as folder:
            theirs, ours = both(case, Path(folder))
        ndifferent += ours != theirs
        print(f"{'same' if ours == theirs else 'DIFFERENT':9} {sum(map(len, theirs)):6} pairs  {case}", flush=True)
    sys.exit(ndifferent > 0)


if __name__ == "__main__":
    main()
