"""A map task of whole splits that combines its own output, where Hadoop would run the script's combiner on it."""

import io
from collections import Counter

import pytest

import typedbytes as tb
from support.streaming_support import encode, run_script
from typedbytes import Decoder
from typedbytes.streaming import StopEarly
from typedbytes.streaming._combining import CombiningSink

COMBINES = {
    "stream_combine_streamprocessor": "python3+job.py+combine", "stream_map_input": "split",
    "typedbytes_split_format": "typedbytes", "stream_map_output": "typedbytes",
}  # fmt: skip
WORDS = encode(*((number, "the fox the end of the %d" % (number % 5)) for number in range(1000)))
COUNTED = Counter(word for number in range(1000) for word in ("the fox the end of the %d" % (number % 5)).split())

JOB = """
def mapper(key, value):
    for word in value.split():
        yield word, 1

class Combiner:
    def configure(self):
        self.ncalls = 0

    def reduce(self, key, values):
        self.ncalls += 1
        yield key, sum(values)

    def close(self):
        yield "calls", self.ncalls

run(mapper, lambda key, values: (), {combiner}, {options})
"""


def outcome_of(folder, combiner="Combiner", options="", environ=COMBINES):
    outcome = run_script(folder, JOB.format(combiner=combiner, options=options), "map", data=WORDS, environ=environ)
    return outcome, Decoder().decode_pairs(outcome.output) if outcome.code == 0 else None


def test_the_output_is_combined(tmp_path):
    outcome, pairs = outcome_of(tmp_path)
    assert pairs == [*sorted(COUNTED.items(), key=lambda pair: (len(pair[0]), pair[0])), ("calls", len(COUNTED))]


@pytest.mark.parametrize("combiner, options, environ", [
    ("Combiner", "", {**COMBINES, "stream_combine_streamprocessor": ""}),
    ("Combiner", "", {**COMBINES, "stream_map_input": "typedbytes"}), ("None", "", COMBINES),
    ("Combiner", "max_bad=1", COMBINES), ("Combiner", "group_by=lambda key: key", COMBINES),
], ids=["no combiner in the job", "no whole splits", "none in the script", "max_bad", "group_by"])  # fmt: skip
def test_other_output_is_left_to_hadoop(combiner, options, environ, tmp_path):
    _, pairs = outcome_of(tmp_path, combiner, options, environ)
    assert len(pairs) == sum(COUNTED.values())


def test_text_is_left_to_hadoop(tmp_path):
    environ = {**COMBINES, "stream_map_output": "text"}
    outcome = run_script(tmp_path, JOB.format(combiner="Combiner", options=""), "map", data=WORDS, environ=environ)
    assert outcome.output.count(b"the\t1\n") == COUNTED["the"]


def test_an_error_of_the_combiner_fails_the_task(tmp_path):
    outcome, _ = outcome_of(tmp_path, combiner="lambda key, values: [(key, 1 / 0)]")
    assert outcome.code == 1 and "ZeroDivisionError" in outcome.messages and outcome.output == b""


def test_after_an_error_of_the_mapper_no_combiner_is_called(tmp_path):
    text = """
def mapper(key, value):
    yield value, 1
    if key == 900:
        raise LookupError("the mapper's own")

def combiner(key, values):
    print("called")
    raise KeyError("the combiner's")

run(mapper, lambda key, values: (), combiner)
"""
    outcome = run_script(tmp_path, text, "map", data=WORDS, environ=COMBINES)
    assert (outcome.code, outcome.output) == (1, b"") and "the mapper's own" in outcome.messages
    assert "called" not in outcome.messages and "the combiner's" not in outcome.messages


def test_a_combiner_that_stops_early_leaves_the_mapper_alone(tmp_path):
    text = "from typedbytes.streaming import StopEarly\ndef stopping(key, values):\n    raise StopEarly\n" + JOB
    outcome = run_script(tmp_path, text.format(combiner="stopping", options=""), "map", data=WORDS, environ=COMBINES)
    assert (outcome.code, outcome.output) == (0, b""), outcome.messages


class Kept:
    """A sink that takes some bytes at a time."""

    closed = False

    def __init__(self):
        self.taken = bytearray()

    def write(self, data):
        """Take a part."""
        self.taken += data[:1000]
        return len(data[:1000])


@pytest.mark.parametrize("memory", [1, 1 << 12, 1 << 16, 1 << 22])
def test_memory_that_is_full_is_combined_by_itself(memory):
    kept, calls = Kept(), []

    def combiner(key, values):
        values = list(values)
        calls.append(len(values))
        yield key, sum(values)

    sink = CombiningSink(kept, combiner, {}, {}, memory)
    with tb.PairWriter(sink, buffer_size=700) as writer:
        writer.writes((f"w{number * 7919 % 300}", number) for number in range(20_000))
    sink.close()
    expected, found = Counter(), Counter()
    for number in range(20_000):
        expected[f"w{number * 7919 % 300}"] += number
    for key, value in Decoder().decode_pairs(bytes(kept.taken)):
        found[key] += value
    assert found == expected and sum(calls) == 20_000
    assert len(calls) == 300 if memory == 1 << 22 else len(calls) > 300


def test_values_of_a_key_stay_in_order():
    kept = Kept()
    sink = CombiningSink(kept, lambda key, values: [(key, list(values))], {}, {})
    with tb.PairWriter(sink) as writer:
        writer.writes((number % 3, number) for number in range(3000))
    sink.close()
    assert Decoder().decode_pairs(bytes(kept.taken)) == [(key, list(range(key, 3000, 3))) for key in range(3)]


def test_what_stops_early_is_what_was_gathered():
    kept = Kept()

    def combiner(key, values):
        if key == 1:
            raise StopEarly
        yield key, sum(values)

    sink = CombiningSink(kept, combiner, {}, {})
    for _ in range(2):
        sink.write(tb.Encoder().encode_pairs([(0, 1), (1, 1), (2, 1)]))
        sink._combine()
    sink.close()
    assert Decoder().decode_pairs(bytes(kept.taken)) == [(0, 1), (0, 1)]


def test_bytes_that_are_no_pairs_are_an_error():
    sink = CombiningSink(io.BytesIO(), lambda key, values: [], {}, {})
    with pytest.raises(tb.TruncatedError):
        sink.write(tb.dumps("a"))
