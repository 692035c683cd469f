"""Functions with a single parameter, called once with an iterator of all records: dumbo's second interface."""

import re

import pytest

from support.streaming_support import encode, pairs, run_script
from typedbytes import sequencefile, streaming
from typedbytes.streaming import lib, testing
from typedbytes.streaming._user_code import UserCode

WORDS = encode((0, "the quick fox"), (14, ""), (15, "the end"))
COUNTS = encode(("a", 1), ("a", 2), ("b", 3))
SPLIT = {"stream_map_input": "split", "stream_map_output": "split", "typedbytes_split_format": "sequencefile"}

BODY = """
        for key, value in records:
            for word in value.split():
                yield word, 1
"""
MAPPERS = {
    "function": f"def mapper(records):{BODY}",
    "lambda": "mapper = lambda records: ((word, 1) for _, value in records for word in value.split())",
    "method of a class": f"class mapper:\n    def map(self, records):{BODY}",
    "class that is called": f"class mapper:\n    def __call__(self, records):{BODY}",
    "object": f"class Mapper:\n    def map(self, records):{BODY}\nmapper = Mapper()",
    "static method": f"class mapper:\n    @staticmethod\n    def map(records):{BODY}",
    "class method": f"class mapper:\n    @classmethod\n    def map(cls, records):{BODY}",
    "keyword beside it": f"def mapper(records, *, one=1):{BODY}",
}
REDUCERS = {
    "function": "def reducer(groups):\n    for key, values in groups:\n        yield key, sum(values)\n",
    "class": (
        "class reducer:\n    def reduce(self, groups):\n        return [(key, sum(values)) for key, values in groups]\n"
    ),
}


@pytest.mark.parametrize("mapper", MAPPERS.values(), ids=MAPPERS)
def test_map(tmp_path, mapper):
    outcome = run_script(tmp_path, mapper + "\nrun(mapper)", "map", data=WORDS)
    assert pairs(outcome) == [("the", 1), ("quick", 1), ("fox", 1), ("the", 1), ("end", 1)]
    assert outcome.messages == ""


@pytest.mark.parametrize("role", ["reduce", "combine"])
@pytest.mark.parametrize("reducer", REDUCERS.values(), ids=REDUCERS)
def test_reduce(tmp_path, reducer, role):
    outcome = run_script(tmp_path, reducer + "run(None, reducer, reducer)", role, data=COUNTS)
    assert pairs(outcome) == [("a", 3), ("b", 3)]


def test_it_is_called_once_between_configure_and_close(tmp_path):
    script = """
class Job:
    def configure(self):
        self.said = ["configure"]
    def map(self, records):
        self.said += ["map", *records]
    def close(self):
        yield "said", self.said
run(Job)
"""
    said = ["configure", "map", ("a", 1), ("a", 2), ("b", 3)]
    assert pairs(run_script(tmp_path, script, "map", data=COUNTS)) == [("said", said)]
    assert pairs(run_script(tmp_path, script, "map", data=b"")) == [("said", said[:2])]


def two_parameters(key, value=None):
    return [(key, value)]


def any_parameters(*arguments):
    return [arguments]


@pytest.mark.parametrize(
    "function", [two_parameters, any_parameters, lib.identitymapper, min], ids=["two", "any number", "of lib", "in C"]
)
def test_others_are_called_for_each_record(function):
    assert not UserCode("map", function).takes_all


def test_a_group_is_called_with_its_keys_by_group_by(tmp_path):
    script = "run(None, lambda groups: ((key, [*values]) for key, values in groups), group_by=lambda key: key[0])"
    data = encode(((1, "a"), 1), ((1, "b"), 2), ((2, "a"), 3))
    assert pairs(run_script(tmp_path, script, "reduce", data=data)) == [((1, "a"), [1, 2]), ((2, "a"), [3])]


def test_text(tmp_path):
    environ = {
        "stream_map_input": "text",
        "stream_map_output": "text",
        "mapred_input_format_class": "org.apache.hadoop.mapred.TextInputFormat",
    }
    script = "run(lambda lines: ((line.upper(), number) for number, line in lines))"
    outcome = run_script(tmp_path, script, "map", data=b"a b\nc\n", environ=environ)
    assert (outcome.code, outcome.output) == (0, b"A B\t0\nC\t1\n")


FORMS = {
    "handed on": "lambda records: records",
    "taken apart": "lambda records: ((key, value) for key, value in records)",
    "kept": "lambda records: list(records)",
    "filtered": "lambda records: filter(None, records)",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_whole_splits(tmp_path, form):
    wanted = [(number, "x" * (number % 7)) for number in range(5000)]
    with sequencefile.open(
        str(tmp_path / "in.seq"), "w", compression="block", codec="default", block_size=5000
    ) as writer:
        writer.writes(wanted)
    outcome = run_script(tmp_path, f"run({form})", "map", data=(tmp_path / "in.seq").read_bytes(), environ=SPLIT)
    assert outcome.code == 0, outcome.messages
    assert list(sequencefile.open(outcome.output)) == wanted
    assert "typedbytes,MapInputRecords,5000" in outcome.messages


def test_a_combiner_of_a_whole_split_is_called_for_all_that_was_gathered(tmp_path):
    script = """
class Combiner:
    ncalls = 0
    def reduce(self, groups):
        self.ncalls += 1
        for key, values in groups:
            yield key, sum(values)
    def close(self):
        yield "calls", self.ncalls
run(lambda key, value: ((word, 1) for word in value.split()), Combiner, Combiner)
"""
    environ = {"stream_combine_streamprocessor": "c", "stream_map_input": "split", "stream_map_output": "typedbytes"}
    outcome = run_script(
        tmp_path, script, "map", data=WORDS, environ={**environ, "typedbytes_split_format": "typedbytes"}
    )
    assert pairs(outcome) == [("end", 1), ("fox", 1), ("the", 2), ("quick", 1), ("calls", 1)]


def test_a_combiner_that_leaves_groups_fails_the_task(tmp_path):
    script = "run(lambda key, value: [(value, 1)], lambda key, values: (), lambda groups: [(next(groups)[0], 1)])"
    environ = {"stream_combine_streamprocessor": "c", "stream_map_input": "split", "stream_map_output": "typedbytes"}
    outcome = run_script(
        tmp_path, script, "map", data=WORDS, environ={**environ, "typedbytes_split_format": "typedbytes"}
    )
    assert (outcome.code, outcome.output) == (1, b"") and "records may be left" in outcome.messages


@pytest.mark.parametrize("role, argument", [("map", "mapper=job"), ("reduce", "reducer=job")])
@pytest.mark.parametrize("body", ["return None", "return [(next(records)[0], 1)]", "yield next(records)[0], 1"])
def test_what_leaves_records_fails(tmp_path, role, argument, body):
    outcome = run_script(tmp_path, f"def job(records):\n    {body}\nrun({argument})", role, data=COUNTS)
    assert (outcome.code, outcome.output) == (1, b"")
    assert "records may be left" in outcome.messages
    assert "or raise StopEarly" in outcome.details()["called"]


def test_stop_early_keeps_what_was_yielded_and_leaves_the_rest(tmp_path):
    script = """
def mapper(records):
    for key, value in records:
        yield key, value
        if value == 2:
            raise StopEarly
run(mapper)
"""
    assert pairs(run_script(tmp_path, script, "map", data=COUNTS * 100_000)) == [("a", 1), ("a", 2)]


def test_an_error_says_how_the_function_was_called(tmp_path):
    outcome = run_script(tmp_path, "run(lambda line: [(line.upper(), 1)])", "map", data=WORDS)
    assert (outcome.code, outcome.output) == (1, b"")
    assert outcome.details()["called"].startswith("once, because it has a single parameter")
    assert outcome.details()["input read"] == "0 records, 0 bytes"


def test_values_end_where_the_next_group_is_asked_for(tmp_path):
    outcome = run_script(
        tmp_path,
        "run(None, lambda groups: [(key, sum(values)) for key, values in list(groups)])",
        "reduce",
        data=COUNTS,
    )
    assert (outcome.code, outcome.output) == (1, b"") and "the values of this group are gone" in outcome.messages


def test_lines_are_only_to_be_iterated_over(tmp_path):
    script = "def mapper(lines):\n    lines.skip(1)\n    yield from lines\nrun(mapper)"
    outcome = run_script(tmp_path, script, "map", data=b"a\tb\n", environ={"stream_map_input": "text"})
    assert (outcome.code, outcome.output) == (1, b"")
    assert "TextReader' object has no attribute 'skip'" in outcome.messages


def test_what_is_not_an_iterable_of_pairs_is_named(tmp_path):
    outcome = run_script(tmp_path, "run(lambda records: len(list(records)))", "map", data=WORDS)
    assert (outcome.code, outcome.details()["returned"]) == (
        1,
        "int, expected pairs of key and value: yield them, or return a list",
    )


@pytest.mark.parametrize("role, argument", [("map", "mapper=job"), ("reduce", "reducer=job")])
def test_bad_input_fails_the_task_though_the_function_catches_it(tmp_path, role, argument):
    script = f"""
def job(records):
    try:
        for key, value in records:
            yield key, 1
    except Exception:
        yield "caught", 1
run({argument})
"""
    outcome = run_script(tmp_path, script, role, data=COUNTS[:-2])
    assert (outcome.code, outcome.output) == (65, b"")


WHOLE = "takes all records in one call, which max_bad and wrappers of mappers do not support: give it two parameters"


@pytest.mark.parametrize(
    "arguments", [(lambda records: records,), (None, lambda groups: ()), (None, min, lambda groups: ())], ids=len
)
def test_max_bad_needs_a_call_for_each_record(arguments):
    with pytest.raises(TypeError, match="er has a single parameter, so it " + re.escape(WHOLE)):
        streaming.Step(*arguments, max_bad=1)
    streaming.Step(*arguments)


def test_max_bad_needs_that_of_a_class_too(tmp_path):
    script = "class Job:\n    def map(self, records):\n        return records\nrun(Job, max_bad=1)"
    outcome = run_script(tmp_path, script, "map", data=COUNTS)
    assert (outcome.code, outcome.output) == (1, b"")
    assert f"TypeError: mapper has a single parameter, so it {WHOLE}" in outcome.messages


def multi(mapper):
    found = lib.MultiMapper()
    found.add("", mapper)
    return found


@pytest.mark.parametrize("wrap", [lib.primary, lib.secondary, lib.Combining, multi])
def test_wrappers_need_a_call_for_each_record(wrap):
    with pytest.raises(TypeError, match=re.escape(WHOLE)):
        testing.call_map(wrap(lambda records: records), [("a", 1)])


def test_in_unit_tests():
    def mapper(records):
        for _, line in records:
            for word in line.split():
                yield word, 1

    def reducer(groups):
        for key, values in groups:
            yield key, sum(values)

    assert testing.call_map(mapper, [(0, "b a"), (4, "b")]) == [("b", 1), ("a", 1), ("b", 1)]
    assert testing.call_reduce(reducer, [("a", 1), ("a", 2), ("b", 3)]) == [("a", 3), ("b", 3)]
    assert testing.call_reduce(reducer, [((1, 2), 1), ((1, 3), 2)], group_by=lambda key: key[0]) == [((1, 2), 3)]
    assert testing.run_job([(0, "b a"), (4, "b")], mapper, reducer, reducer) == [("a", 1), ("b", 2)]
    with pytest.raises(RuntimeError, match="records may be left"):
        testing.call_map(lambda records: [next(records)], [("a", 1), ("b", 2)])
