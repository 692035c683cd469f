"""What the test suites of typedbytes, ctypedbytes, dumbo and hadoopy asked of these libraries, asked of ours.

Each test says which one it follows; the assertions are the old ones, in our words.
What does not carry over is asserted too, with the way in which it differs.
"""

import datetime
import decimal
import io
import os
import textwrap

import pytest

import typedbytes
from support.local_jobs import pairs_of, run, write_script
from typedbytes import PairReader, PairWriter, Reader, Writer, legacy
from typedbytes.streaming import lib, testing

OBJECTS = [
    True,
    1234,
    3000000000,
    12345,
    1.23,
    "trala",
    "tra\0la",
    (1, 2, 3),
    [1, 2, 3, 4],
    {1: 2, 3: 4},
    {1, 2, 3},
    decimal.Decimal("123.456"),
    datetime.datetime(2010, 6, 1, 12, 30, 15, 999),
]
LETTERS = [(None, letter) for letter in "abaca"]
COUNTED = [("a", 3), ("b", 1), ("c", 1)]


class Plain:
    """What the old suites pickle: an instance of a class of their own."""

    attr = 234


# -- typedbytes and ctypedbytes: testio.py ----------------------------------------------------------------


@pytest.mark.parametrize("read", [iter, lambda source: source.reads()], ids=["typedbytes", "ctypedbytes"])
def test_objects_survive(tmp_path, read):
    with open(tmp_path / "test.bin", "wb") as file:
        legacy.Output(file).writes(OBJECTS)
    with open(tmp_path / "test.bin", "rb") as file:
        assert list(read(legacy.Input(file))) == OBJECTS


@pytest.mark.parametrize("read", [iter, lambda source: source.reads()], ids=["typedbytes", "ctypedbytes"])
def test_pairs_survive(tmp_path, read):
    with open(tmp_path / "test.bin", "wb") as file:
        legacy.PairedOutput(file).writes(enumerate(OBJECTS))
    with open(tmp_path / "test.bin", "rb") as file:
        assert list(read(legacy.PairedInput(file))) == list(enumerate(OBJECTS))


def test_instances_of_own_classes_are_pickled_on_request_only():
    with pytest.raises(TypeError, match='pickle="trust"'):
        typedbytes.dumps(Plain())
    file = io.BytesIO()
    with Writer(file, pickle="trust") as writer:
        writer.write("123")
        writer.write(Plain())
    file.seek(0)
    reader = Reader(file, pickle="trust")
    assert (reader.read(), reader.read().attr) == ("123", 234)
    with pytest.raises(typedbytes.FormatError, match="Plain"):
        list(Reader(io.BytesIO(file.getvalue())))


# -- dumbo: testlib.py, testmapredtest.py, testexamples.py -------------------------------------------------


def test_statistics():
    pairs = testing.run_job([("testkey", i) for i in range(3)], lib.identitymapper, lib.statsreducer, lib.statscombiner)
    ((_, (number, mean, deviation, *_)),) = pairs
    assert (number, mean, deviation) == (3, 1, 1.0)


class CountingMapper:
    def __call__(self, key, value):
        for word in value.split():
            yield word, 1


def test_drivers_of_mappers_and_reducers():
    lines = [(0, "test me"), (1, "hello")]
    assert testing.call_map(CountingMapper, lines) == [("test", 1), ("me", 1), ("hello", 1)]
    pairs = [("test", 1), ("test", 1), ("me", 1), ("hello", 1)]
    assert testing.call_reduce(lib.sumreducer, pairs) == [("test", 2), ("me", 1), ("hello", 1)]
    both = testing.run_job([*lines, (2, "test")], CountingMapper, lib.sumreducer)
    assert sorted(both) == [("hello", 1), ("me", 1), ("test", 2)]
    # not sorted as Python does: Hadoop's order, shorter texts first
    assert both == [("me", 1), ("test", 2), ("hello", 1)]


EXAMPLES = {
    "wordcount": """
        def mapper(key, value):
            for word in value.split():
                yield word, 1

        if __name__ == "__main__":
            streaming.run(mapper, lib.sumreducer, lib.sumreducer)
        """,
    "altwordcount": """
        def mapper(data):
            for key, value in data:
                for word in value.split():
                    yield word, 1

        def reducer(data):
            for key, values in data:
                yield key, sum(values)

        if __name__ == "__main__":
            streaming.run(mapper, reducer, reducer)
        """,
    "oowordcount": """
        class Mapper:
            def __init__(self):
                with open("excludes.txt") as file:
                    self.excludes = {line.strip() for line in file}

            def __call__(self, key, value):
                for word in value.split():
                    if word not in self.excludes:
                        yield word, 1

        if __name__ == "__main__":
            streaming.run(Mapper, lib.sumreducer, lib.sumreducer)
        """,
    "itertwice": """
        def words(key, value):
            for word in value.split():
                yield word, 1

        def frequent(key, values):
            count = sum(values)
            if count > 1:
                yield key, count

        def letters(key, value):
            for letter in key:
                yield letter, 1

        if __name__ == "__main__":
            first = streaming.Step(words, frequent, lib.sumreducer)
            streaming.run(steps=[first, streaming.Step(letters, lib.sumreducer, lib.sumreducer)])
        """,
    "join": """
        def host(key, line):
            yield line.split()

        def entry(key, line):
            yield line.split(None, 1)

        class Named(lib.JoinReducer):
            def primary(self, key, values):
                self.name = next(values)

            def secondary(self, key, values):
                for value in values:
                    yield self.name, value

        def ones(key, value):
            yield key, 1

        if __name__ == "__main__":
            mapper = lib.MultiMapper()
            mapper.add("hostnames", lib.primary(host))
            mapper.add("logs", lib.secondary(entry))
            streaming.run(steps=[streaming.Step(mapper, Named), streaming.Step(ones, lib.sumreducer, lib.sumreducer)])
        """,
    "multicount": """
        def first(key, value):
            for word in value.split():
                yield ("A", word), 1

        class Second:
            def __call__(self, key, value):
                for word in value.split():
                    yield ("B", word), 1

        if __name__ == "__main__":
            mapper = lib.MultiMapper()
            mapper.add("brian", first)
            mapper.add("eno", Second)
            streaming.run(mapper, lib.sumreducer, lib.sumreducer)
        """,
}
FILES = {
    "brian.txt": "Brian is\nnot the Brian\nthe eel Brian\n",
    "eno.txt": "Eno Eno\nBrian\n",
    "excludes.txt": "the\nis\n",
    "hostnames.txt": "1.0.0.1 node1\n1.0.0.2 node2\n",
    "logs.txt": "1.0.0.1 a b\n1.0.0.2 c\n1.0.0.1 d\n1.0.0.3 e\n",
}
OUTPUTS = {
    "wordcount": (["brian.txt"], {"Brian": 3, "is": 1, "not": 1, "the": 2, "eel": 1}),
    "altwordcount": (["brian.txt"], {"Brian": 3, "is": 1, "not": 1, "the": 2, "eel": 1}),
    "oowordcount": (["brian.txt"], {"Brian": 3, "not": 1, "eel": 1}),
    "itertwice": (["brian.txt"], {"B": 1, "r": 1, "i": 1, "a": 1, "n": 1, "t": 1, "h": 1, "e": 1}),
    "join": (["hostnames.txt", "logs.txt"], {"node1": 2, "node2": 1}),
    "multicount": (
        ["brian.txt", "eno.txt"],
        {("A", "Brian"): 3, ("A", "is"): 1, ("A", "not"): 1, ("A", "the"): 2, ("A", "eel"): 1, ("B", "Eno"): 2,
         ("B", "Brian"): 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_run(tmp_path, name):
    for path, text in FILES.items():
        (tmp_path / path).write_text(text)
    inputs, output = OUTPUTS[name]
    imports = "from typedbytes import streaming\nfrom typedbytes.streaming import lib\n"
    script = write_script(tmp_path, imports + textwrap.dedent(EXAMPLES[name]))
    run(script, [tmp_path / path for path in inputs], tmp_path / "out", files=[tmp_path / "excludes.txt"])
    pairs = pairs_of(tmp_path / "out")
    assert (len(pairs), dict(pairs)) == (len(output), output)


# -- hadoopy: test_without_hadoop.py, test_tb.py, test_tb_pipe.py, test_writetb.py, test_wc.py, test_wc_class.py -------

INTS = [(0, 0), (-123, 123), (-1, 1), *((-(2**bits), 2**bits) for bits in (32, 64, 128, 256))]


@pytest.mark.parametrize("pair", [*INTS, ("\xe9", "\xe9")])
def test_a_pair_survives_in_a_file(tmp_path, pair):
    with PairWriter(tmp_path / "pairs.tb") as writer:
        writer.write(*pair)
    with PairReader(tmp_path / "pairs.tb") as reader:
        assert next(reader) == pair


def test_a_pair_is_read_from_a_pipe_as_soon_as_it_is_flushed():
    ends = os.pipe()
    with open(ends[0], "rb") as source, PairReader(source) as reader:
        with open(ends[1], "wb", buffering=0) as sink, PairWriter(sink) as writer:
            for pair in INTS:
                writer.write(*pair)
                writer.flush()
                assert next(reader) == pair
        with pytest.raises(StopIteration):
            next(reader)


def test_a_file_of_100_000_pairs(tmp_path):
    with PairWriter(tmp_path / "pairs.tb") as writer:
        writer.writes((x, x) for x in range(100000))
    with PairReader(tmp_path / "pairs.tb") as reader:
        assert list(reader) == [(x, x) for x in range(100000)]


class LetterCounts:
    def configure(self):
        self.counts = {}

    def map(self, key, value):
        self.counts[value] = self.counts.get(value, 0) + 1

    def close(self):
        yield from self.counts.items()


class Sums:
    def reduce(self, key, values):
        yield key, sum(values)


def test_word_counts_by_functions_and_by_classes():
    assert testing.call_map(LetterCounts, LETTERS) == COUNTED
    assert testing.call_map(lambda key, value: [(value, 1)], LETTERS) == [(letter, 1) for letter in "abaca"]
    assert testing.call_reduce(Sums, testing.shuffle((letter, 1) for letter in "abaca")) == COUNTED
