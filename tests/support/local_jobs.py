"""Jobs of typedbytes.local for the tests: scripts, inputs, and what is read back of an output.

Not here: what a test expects. Invariant: a job runs in the test's own folder and sees the package
that this test run sees.
"""

import collections
import os
import random
import sys
import textwrap

import typedbytes as tb
from support.streaming_support import environment
from typedbytes import local, sequencefile

#: The command, before the script and the inputs.
RUN = [sys.executable, "-m", "typedbytes", "run"]
TASK_COUNTERS = "org.apache.hadoop.mapreduce.TaskCounter"

WORD_COUNT = """
    from typedbytes import streaming

    def mapper(offset, line):
        for word in line.split():
            yield word, 1

    def reducer(word, counts):
        yield word, sum(counts)

    if __name__ == "__main__":
        streaming.run(mapper, reducer, combiner=reducer)
"""


def write_script(folder, text, name="job.py"):
    """Write a script and return its path."""
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path


def write_words(path, nwords, seed=1):
    """Write lines of words, some of them many times, and return the count of each."""
    rng = random.Random(seed)
    words = [
        f"{rng.choice(['ab', 'ü', 'long word '.strip(), 'x' * 20])}{int(rng.paretovariate(0.7)) % 400}"
        for _ in range(nwords)
    ]
    words = [word for each in words for word in each.split()]
    with open(path, "w", encoding="utf-8") as file:
        for i in range(0, len(words), 7):
            file.write(" ".join(words[i : i + 7]) + "\n")
    return collections.Counter(words)


def run(script, inputs, output, **options):
    """Run a script's job quietly, by the code that this test run sees."""
    options.setdefault("quiet", True)
    options["environ"] = {
        **{name: environment()[name] for name in ("PYTHONPATH", "PYTHONWARNINGS")},
        **options.get("environ", {}),
    }
    return local.run_script(script, inputs=inputs, output=output, **options)


def parts_of(folder):
    """Return the encoded pairs of each part file, in the order of the names."""
    return [raw_pairs(folder / name) for name in sorted(os.listdir(folder)) if name.startswith("part-")]


def raw_pairs(path):
    """Return the encoded pairs of a SequenceFile or a file of typed bytes."""
    if path.suffix == ".tb":
        return list(tb.PairReader(path.read_bytes(), raw=True))
    data = b""
    with sequencefile.Reader(path) as reader:
        while chunk := reader.read_typed():
            data += chunk
    return list(tb.PairReader(data, raw=True))


def pairs_of(folder):
    """Return all pairs of an output."""
    return [(tb.loads(key), tb.loads(value)) for part in parts_of(folder) for key, value in part]


def upper(offset, line):
    yield line.upper(), offset


class Longest:
    """The greatest offset of each line."""

    def configure(self):
        self.nkeys = 0

    def reduce(self, key, values):
        self.nkeys += 1
        yield key, max(values)

    def close(self):
        yield "keys", self.nkeys
