"""What pydoop's context, factory and properties are, as in its source: mapreduce/api.py and pipes.py of 2.0."""

import pytest

from support.streaming_support import run_module
from typedbytes.fronts.pydoop.mapreduce import emitted


def ran(folder, text, *words, code=0):
    """Run a script on a file, and return what it says and the lines of its output."""
    (folder / "job.py").write_text(text)
    (folder / "in").write_text("a\n")
    words = ["--as", "pydoop", "-q", "-o", "out", "--output-format", "text", *words]
    said = run_module("typedbytes", folder, "run", *words, "job.py", "in", code=code)[1]
    return said, [line for path in sorted(folder.glob("out/part-*")) for line in path.read_text().splitlines()]


CLASSES = """
from pydoop.mapreduce import api, pipes

class Mapper(api.Mapper):
    def map(self, context):
        found = []
        for n in range(3):
            found.append(n)
            context.emit("key", found)

class Reducer(api.Reducer):
    def reduce(self, context):
        found = []
        for value in context.values:
            found.append(value)
            context.emit(context.key, found)

def __main__():
    pipes.run_task(pipes.Factory(Mapper, Reducer))
"""
FUNCTIONS = """
def mapper(key, value, writer):
    found = []
    for n in range(3):
        found.append(n)
        writer.emit("key", found)

def reducer(key, values, writer):
    found = []
    for value in values:
        found.append(value)
        writer.emit(key, found)
"""


@pytest.mark.parametrize("way", [[], ["--inline"]])
@pytest.mark.parametrize("text", [CLASSES, FUNCTIONS], ids=["classes", "functions"])
def test_a_pair_is_as_it_was_when_it_was_emitted(tmp_path, text, way):
    """pipes.py serializes in emit(): what becomes of a list later is not in the pair."""
    _, lines = ran(tmp_path, text, *way)
    assert lines == ["key\t[[0]]", "key\t[[0], [0, 1]]", "key\t[[0], [0, 1], [0, 1, 2]]"]


def test_many_pairs_of_one_call_are_in_a_file(monkeypatch):
    monkeypatch.setattr(emitted, "MEMORY_NBYTES", 10_000)
    pairs = emitted.EmittedPairs()
    for _ in range(2):  # calls
        for n in range(1000):
            pairs.emit(n, "x" * 500 if n % 2 else [n])
            assert pairs._nbytes <= 10_000
        assert list(pairs.pop_all()) == [(n, "x" * 500 if n % 2 else [n]) for n in range(1000)]
        assert list(pairs.pop_all()) == []
    pairs.close()


def test_what_has_no_pickle_is_copied(monkeypatch):
    """It is written as its str: an object of a class of the script, which pickle does not find."""
    monkeypatch.setattr(emitted, "MEMORY_NBYTES", 1000)
    point = type("Point", (), {"__str__": lambda self: f"Point({self.x})"})()
    pairs = emitted.EmittedPairs()
    for point.x in range(100):
        pairs.emit("a", [point])
    lines = iter("b")
    pairs.emit("b", lines)
    found = list(pairs.pop_all())
    assert [str(value[0]) for _, value in found[:-1]] == [f"Point({n})" for n in range(100)]
    assert found[-1] == ("b", lines) or list(found[-1][1]) == ["b"]


READERS = {
    "class": "pipes.run_task(pipes.Factory(Mapper, record_reader_class=Reader))",
    "method": "pipes.run_task(type('F', (pipes.Factory,), {'create_record_reader': lambda _, c: Reader(c)})(Mapper))",
    "writer": "pipes.run_task(type('F', (pipes.Factory,), {'create_record_writer': lambda *_: 1})(Mapper))",
    "own": "pipes.run_task(type('F', (), {'create_record_writer': lambda *_: 1})())",
    "fault": "pipes.run_task(type('F', (pipes.Factory,), {'create_record_reader': lambda *_: 1 / 0})(Mapper))",
}


@pytest.mark.parametrize("way", READERS)
def test_record_readers_and_writers_are_refused_in_one_line(tmp_path, way):
    """A factory that makes none, or a class that is not used, is none."""
    text = f"""
from pydoop.mapreduce import api, pipes
from pydoop.mapreduce.api import RecordWriter

class Reader(api.RecordReader):
    def next(self):
        raise StopIteration

class Mapper(api.Mapper):
    def map(self, context):
        context.emit("a", 1)

class Factory(pipes.Factory):
    def create_record_reader(self, context):
        return super().create_record_reader(context)

def __main__():
    {READERS[way]}
"""
    said, _ = ran(tmp_path, text, code=64)
    reason = "record readers and writers in Python are not supported: write side files"
    assert said.splitlines()[-1] == f"typedbytes run: {reason}" and "Traceback" not in said
    said, lines = ran(tmp_path, text.replace(READERS[way], "pipes.run_task(Factory(Mapper))"))
    assert lines == ["a\t1"]


@pytest.mark.parametrize("text", ["def mapper(key, value, writer):\n    pass\n", "def __main__():\n    pass\n"])
@pytest.mark.parametrize("words", [[], ["in"], ["map"]])
def test_a_script_that_no_engine_has_started_says_what_does(tmp_path, text, words):
    (tmp_path / "job.py").write_text(text)
    said = run_module("typedbytes.fronts", tmp_path, "job.py", *words, code=1)
    assert said == (b"", "a script of pydoop is started by typedbytes run --as pydoop job.py INPUT\n")


def test_the_properties_of_a_job_are_those_of_a_dict(tmp_path):
    text = """
def mapper(key, value, writer, conf):
    for each in (conf, dict(conf), conf.copy(), {**conf}):
        assert len(each) == len(list(each)) == len(each.items()) > 10, each
        assert (each["least"], each["my_own"], each["mapreduce.job.maps"]) == ("3", "4", "1")
        assert not {"PATH", "HOME", "_", "http_proxy"} & {*each}
    assert ("my.own" in conf, conf["my.own"], conf.get("my.own"), conf.get_int("my.own")) == (True, "4", "4", 4)
    assert conf.get("no.own") is None and "no.own" not in conf
    writer.emit("a", 1)
"""
    _, lines = ran(tmp_path, text, "-D", "least=3", "-D", "my.own=4")
    assert lines == ["a\t1"]
