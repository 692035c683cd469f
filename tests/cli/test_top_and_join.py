"""The commands top and join, beside Python's own sort and a join of dicts."""

import heapq
import random

import pytest

import typedbytes as tb
from support.commands import STREAM, bad, good, sequence_file
from typedbytes import sequencefile

RNG = random.Random(5)
COUNTS = [(f"word {n % 997}", RNG.choice([n, -n, n / 7, 3])) for n in range(10_000)]
COUNTED = tb.Encoder().encode_pairs(COUNTS)


def pairs(data):
    return tb.Decoder().decode_pairs(data)


@pytest.mark.parametrize("n", [0, 1, 7, 9_999, 20_000])
def test_the_largest_come_first_and_of_equals_those_before(n, file):
    largest = sorted(COUNTS, key=lambda pair: pair[1], reverse=True)[:n]
    assert pairs(good("top", "-n", str(n), "--pairs", stdin=COUNTED)) == largest
    halves = [file(tb.Encoder().encode_pairs(part), f"{i}.tb") for i, part in enumerate((COUNTS[:400], COUNTS[400:]))]
    assert pairs(good("top", "-n", str(n), "--pairs", *halves)) == largest
    smallest = heapq.nsmallest(n, COUNTS, key=lambda pair: pair[1])
    assert pairs(good("top", "-n", str(n), "--smallest", "--pairs", stdin=COUNTED)) == smallest


def test_the_largest_by_paths():
    by_both = sorted(COUNTS, key=lambda pair: (pair[0], pair[1]), reverse=True)[:5]
    assert pairs(good("top", "-5", "--by", "key", "--by", "value", "--pairs", stdin=COUNTED)) == by_both
    numbers = tb.Encoder().encode_all([1, 2.5, None, -7])
    assert good("top", "-2", "--values", stdin=numbers) == tb.Encoder().encode_all([2.5, 1])
    assert "values have no key" in bad(64, "top", "--by", "key", "--values", stdin=numbers)[1]
    assert "no value.a in the record" in bad(65, "top", "--by", "value.a", "--values", stdin=numbers)[1]


def test_a_sequencefile_keeps_its_classes(tmp_path):
    out = tmp_path / "top.seq"
    with sequencefile.open(tmp_path / "in.seq", "w", key_class="Text", value_class="IntWritable") as writer:
        writer.writes([("a", 1), ("b", 3), ("c", 2)])
    good("top", "-n", "2", "--to", "sequencefile", "-o", str(out), str(tmp_path / "in.seq"))
    with sequencefile.open(out) as reader:
        assert (reader.value_class.rpartition(".")[2], list(reader)) == ("IntWritable", [("b", 3), ("c", 2)])


LEFT = [(RNG.randrange(40), n) for n in range(100)]
RIGHT = [(RNG.randrange(20, 60), f"text {n}") for n in range(100)]


@pytest.mark.parametrize(("keep", "left_too", "right_too"), [("matches", 0, 0), ("left", 1, 0), ("all", 1, 1)])
def test_join_is_that_of_dicts(keep, left_too, right_too, file):
    first, second = ([file(tb.Encoder().encode_pairs(side), name)] for side, name in ((LEFT, "a.tb"), (RIGHT, "b.tb")))
    expected = [(key, (value, other)) for key, value in LEFT for there, other in RIGHT if there == key]
    keys = {key for key, _ in LEFT}, {key for key, _ in RIGHT}
    expected += [(key, (value, None)) for key, value in LEFT if left_too and key not in keys[1]]
    expected += [(key, (None, other)) for key, other in RIGHT if right_too and key not in keys[0]]
    expected.sort(key=lambda pair: pair[0])  # values of one key stay in their order
    assert pairs(good("join", "--keep", keep, *first, *second)) == expected
    assert pairs(good("join", "--memory", "64K", "--keep", keep, *first, *second)) == expected


def test_join_of_other_inputs(file):
    found = pairs(good("join", file(sequence_file(), "a.seq"), file(sequence_file(), "b.seq")))
    assert len(found) == sum(len([n for n in range(100) if n % 7 == k]) ** 2 for k in range(7))
    assert good("join", file(b"", "a.tb"), file(COUNTED, "b.tb")) == b""
    assert bad(64, "join", file(STREAM))[1].startswith("needs two inputs")
    assert bad(64, "join", "--values", "a", "b")[1] == "join is for pairs: values have no key"
    assert bad(66, "join", "a", "b")[1] == "a: No such file or directory"
    damaged = file(b"\x0e", "damaged.tb")
    assert bad(65, "join", damaged, damaged)[1].startswith(f"{damaged}: unknown type code 14 at offset 0")
