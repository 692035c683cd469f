"""A job of record classes beside the same job of tuples and dicts: the part files are the same."""

import sys

import pytest

import typedbytes as tb
from soak.beside_hadoop import EXAMPLE, EXAMPLES
from support.local_jobs import pairs_of, parts_of, run, write_script
from typedbytes import sequencefile

UNTYPED = """
from typedbytes import streaming

def mapper(offset, line):
    seconds, visitor, page = line.split()
    yield (visitor, int(seconds) // 86400), {"npages": 1, "first": LONG(int(seconds)), "last": LONG(int(seconds))}

def reducer(key, parts):
    parts = list(parts)
    first, last = min(part["first"] for part in parts), max(part["last"] for part in parts)
    yield key, {"npages": sum(part["npages"] for part in parts), "first": LONG(first), "last": LONG(last)}

streaming.run(mapper, reducer, combiner=reducer)
"""


@pytest.mark.parametrize("combiner", [None, False])
def test_dates_and_records_are_numbers_and_maps(tmp_path, combiner):
    EXAMPLE["visits.py"].make(tmp_path / "in")
    script = write_script(tmp_path, "from typedbytes import Long as LONG\n" + UNTYPED)
    options = {"reducers": 3, "split_size": 20_000, "combiner": combiner}
    run(script, tmp_path / "in", tmp_path / "untyped", **options)
    run(EXAMPLES / "visits.py", tmp_path / "in", tmp_path / "typed", **options)
    assert parts_of(tmp_path / "typed") == parts_of(tmp_path / "untyped")
    pairs = pairs_of(tmp_path / "typed")
    assert sum(visits["npages"] for _, visits in pairs) == 3000
    days = {tuple(line.split()[:2]) for line in (tmp_path / "in").read_text().splitlines()}
    assert {key for key, _ in pairs} == {(visitor, int(seconds) // 86400) for seconds, visitor in days}


def test_records_are_read_by_their_classes(tmp_path, monkeypatch):
    EXAMPLE["visits.py"].make(tmp_path / "in")
    run(EXAMPLES / "visits.py", tmp_path / "in", tmp_path / "out")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    visits = __import__("visits")
    (part,) = tmp_path.glob("out/part-*")
    with sequencefile.Reader(part, key_type=visits.Key, value_type=visits.Visits) as reader:
        key, value = reader.read()
    sys.modules.pop("visits")
    assert type(key) is visits.Key and type(value) is visits.Visits
    assert value.first.date() == key.day == value.last.date() and tb.loads(tb.dumps(key))[0] == key.visitor
