"""Records that are left out on request: which, what becomes of them, and when that is too many.

Here: tasks as child processes with max_bad. Invariant: what is left out is in the side file,
and what is not is in the output, each once.
"""

import struct

import pytest

import typedbytes as tb
from support.streaming_support import encode, pairs

GOOD = [(number, f"line {number}") for number in range(20)]
BAD_TEXT = b"\x07\x00\x00\x00\x02\xc3\x28"
UNHASHABLE = b"\x0a\x00\x00\x00\x01" + tb.dumps({}) + tb.dumps(1)

MAPPER = """
def mapper(key, value):
    yield key, "first half"
    if key in (3, 7):
        raise LookupError(f"no {value}")
    yield key, value
run(mapper, max_bad=%s)
"""


def side_file(folder, role="m"):
    path = folder / f"bad-records-{role}-00000"
    return list(tb.PairReader(path.read_bytes(), raw=True)) if path.exists() else None


@pytest.mark.parametrize("limit", [2, 5, 0.002, 0.5])
def test_records_that_user_code_fails_for(run_here, tmp_path, limit):
    outcome = run_here(
        MAPPER % limit, "map", data=encode(*GOOD) if limit != 0.002 else encode(*GOOD, *[(9, "x")] * 980)
    )
    expected = [pair for key, value in GOOD if key not in (3, 7) for pair in ((key, "first half"), (key, value))]
    assert pairs(outcome)[: len(expected)] == expected
    assert side_file(tmp_path) == [tuple(map(tb.dumps, GOOD[number])) for number in (3, 7)]
    assert "reporter:counter:typedbytes,BadRecords,2" in outcome.lines
    assert "typedbytes: bad record 1, of 4 read: LookupError: no line 3" in outcome.lines


@pytest.mark.parametrize("limit", [0, 1, 0.05])
def test_too_many(run_here, tmp_path, limit):
    outcome = run_here(MAPPER % limit, "map", data=encode(*GOOD))
    assert (outcome.code, outcome.output) == (65 if limit else 1, b"")
    assert side_file(tmp_path) is None
    assert not list(tmp_path.glob(".bad*"))
    if limit:
        assert outcome.lines[-1].endswith(f"bad records exceed max_bad={limit}; last error: LookupError: no line 7")


MISTAKEN = """
def helper(value):
    return value.foo
def mapper(key, value):
    yield key, helper(value)
def reducer(key, values):
    yield key, [helper(value) for value in values]
run(mapper, reducer, max_bad=%s)
"""
MAY_BE_WRONG = "the job's own code may be wrong"


@pytest.mark.parametrize("role", ["map", "reduce"])
@pytest.mark.parametrize("limit", [3, 0.001])
def test_code_that_fails_for_every_record_is_shown_when_that_is_too_many(run_here, role, limit):
    outcome = run_here(MISTAKEN % limit, role, data=encode(*GOOD))
    said = (
        f"bad records exceed max_bad={limit}, and no record so far was good; {MAY_BE_WRONG}; "
        "first error: AttributeError: "
    )
    assert outcome.code == 65 and said in outcome.lines[-1]
    assert [line.split(", ")[-1] for line in outcome.lines if line.startswith("  File ")][-1] == "in helper"


@pytest.mark.parametrize("role", ["map", "reduce"])
@pytest.mark.parametrize("limit", [20, 1.0])
def test_code_that_fails_for_every_record_is_shown_when_that_is_allowed(run_here, role, limit):
    outcome = run_here(MISTAKEN % limit, role, data=encode(*GOOD))
    assert (outcome.code, outcome.output) == (0, b"")
    start = outcome.lines.index(
        f"typedbytes: no record was good: 20 were left out, as max_bad={limit} allows; {MAY_BE_WRONG}; "
        "its first error follows"
    )
    shown = outcome.lines[start + 1 :]
    assert shown[0] == "Traceback (most recent call last):" and 'job.py", line' in shown[1] and "foo" in "".join(shown)
    assert any("_bad_records.py" in line for line in shown) is False


def test_one_good_record_is_enough_to_say_no_more(run_here):
    outcome = run_here(MAPPER % 2, "map", data=encode(*GOOD[2:4]))
    assert outcome.code == 0 and "no record was good" not in outcome.messages
    assert "no record was good" not in run_here(MAPPER % 2, "map", data=b"").messages


def test_input_that_is_bad_throughout_is_not_taken_for_a_mistake(run_here):
    data = (BAD_TEXT + tb.dumps(1)) * 2
    outcome = run_here(MAPPER % 2, "map", data=data)
    assert outcome.code == 0
    assert (
        "typedbytes: no record was good: 2 were left out, as max_bad=2 allows; first error: FormatError"
        in outcome.messages
    )
    assert "Traceback" not in outcome.messages and MAY_BE_WRONG not in outcome.messages
    assert MAY_BE_WRONG not in run_here(MAPPER % 1, "map", data=data).messages


@pytest.mark.parametrize(
    "bad", [BAD_TEXT, UNHASHABLE, b"\x64\x00\x00\x00\x01\x00"], ids=["text", "key of a MAP", "pickle"]
)
@pytest.mark.parametrize("part", ["key", "value"])
@pytest.mark.parametrize("role", ["map", "reduce", "combine"])
def test_records_that_cannot_be_decoded(run_here, tmp_path, bad, part, role):
    broken = bad + tb.dumps(1) if part == "key" else tb.dumps("b") + bad
    script = "run(lambda key, value: [(key, value)], *[lambda key, values: [(key, list(values))]] * 2, max_bad=1)"
    outcome = run_here(script, role, data=encode(("a", 1), ("b", 2)) + broken + encode(("b", 3), ("c", 4)))
    if role == "map":
        expected = [("a", 1), ("b", 2), ("b", 3), ("c", 4)]
    else:
        expected = [("a", [1]), ("b", [2, 3]), ("c", [4])]
    assert pairs(outcome) == expected
    (path,) = tmp_path.glob("bad-records-*")
    assert path.read_bytes() == broken
    assert path.name.startswith(f"bad-records-{role[0]}-00000")


def test_a_group_that_fails_is_left_out_whole(run_here, tmp_path):
    script = """
def reducer(key, values):
    for value in values:
        yield key, value
        if value == 4:
            raise ValueError
run(None, reducer, max_bad=3)
"""
    data = [("a", 1), ("b", 3), ("b", 4), ("b", 5), ("c", 6)]
    outcome = run_here(script, "reduce", data=encode(*data))
    assert pairs(outcome) == [("a", 1), ("c", 6)]
    assert outcome.lines[0] == "typedbytes: bad records 1 to 3, of 5 read: ValueError: "
    assert side_file(tmp_path, "r") == [(tb.dumps("b"), tb.dumps(value)) for value in (3, 4, 5)]


def test_a_reducer_that_fails_before_its_first_value(run_here, tmp_path):
    script = "run(None, lambda key, values: 1 / 0, max_bad=3)"
    data = [("a", 1), ("a", 2), ("b", 3)]
    assert pairs(run_here(script, "reduce", data=encode(*data))) == []
    assert side_file(tmp_path, "r") == [tuple(map(tb.dumps, pair)) for pair in data]


FAILING_GROUP = """
def reducer(key, values):
    if key == "b":
        {fail}
    yield key, sum(1 for value in values)
run(None, reducer, max_bad={limit})
"""
FAILURES = {
    "before the first value": "1 / 0",
    "after the first value": "next(values); 1 / 0",
    "after the last value": "list(values); 1 / 0",
    "after it has caught an error": "list(zip(values, range(2))); yield key, object()",
}


@pytest.mark.parametrize("limit", [5, 0.8])
@pytest.mark.parametrize("fail", FAILURES.values(), ids=FAILURES)
def test_all_records_of_a_group_that_fails_are_kept_and_counted(run_here, tmp_path, fail, limit):
    group = encode(*[("b", number) for number in range(3)]) + tb.dumps("b") + BAD_TEXT + encode(("b", 9))
    outcome = run_here(
        FAILING_GROUP.format(fail=fail, limit=limit), "reduce", data=encode(("a", 1)) + group + encode(("c", 1))
    )
    assert pairs(outcome) == [("a", 1), ("c", 1)]
    assert sorted(side_file(tmp_path, "r")) == sorted(tb.PairReader(group, raw=True))
    assert "reporter:counter:typedbytes,BadRecords,5" in outcome.lines


@pytest.mark.parametrize("limit", [5, 0.005])
@pytest.mark.parametrize("fail", FAILURES.values(), ids=FAILURES)
def test_a_group_with_more_records_than_may_be_bad_fails_the_task(run_here, tmp_path, fail, limit):
    data = encode(("a", 1), *[("b", number) for number in range(50_000)], ("c", 1))
    outcome = run_here(FAILING_GROUP.format(fail=fail, limit=limit), "reduce", data=data)
    assert (outcome.code, outcome.output) == (65, b"")
    assert outcome.lines[-1].startswith(
        f"typedbytes.streaming._user_code.TooManyBadRecords: 6 bad records exceed max_bad={limit}"
    )
    assert side_file(tmp_path, "r") is None


def test_with_groups_of_several_keys(run_here):
    script = """
def reducer(key, values):
    yield key, list(values)
run(None, reducer, max_bad=2, group_by=lambda key: key[0])
"""
    data = (
        encode((("a", 1), 1), (("a", 2), 2))
        + encode((("a", 3),))[: -0 or None]
        + BAD_TEXT
        + encode((5, 6), (("b", 1), 4))
    )
    assert pairs(run_here(script, "reduce", data=data)) == [(("a", 1), [1, 2]), (("b", 1), [4])]


@pytest.mark.parametrize("output", ["object()", "(1,)", "(1, object())", "5"])
def test_output_that_cannot_be_encoded(run_here, output):
    script = f"run(lambda key, value: [('before', 1), {output}] if key == 3 else [(key, value)], max_bad=1)"
    assert pairs(run_here(script, "map", data=encode(*GOOD))) == [pair for pair in GOOD if pair[0] != 3]


@pytest.mark.parametrize("cut", [b"\x03", b"\x0b", b"\xff", encode((1,)), b"\x07\xff\xff\xff\xff"], ids=repr)
def test_input_without_structure_is_never_left_out(run_here, cut):
    script = "run(lambda key, value: [(key, value)], lambda key, values: [(key, list(values))], max_bad=1.0)"
    for role in ("map", "reduce"):
        outcome = run_here(script, role, data=encode(*GOOD) + cut)
        assert (outcome.code, outcome.output) == (65, b"")


def test_what_is_pairs_before_stopping_early_is_kept(run_here):
    script = """
def mapper(key, value):
    yield key, value
    if key == 2:
        raise StopEarly
run(mapper, max_bad=1)
"""
    assert pairs(run_here(script, "map", data=encode(*GOOD))) == GOOD[:3]


def test_lines_of_text(run_here, tmp_path):
    script = (
        "run(lambda number, line: [(line, 1 // int(line))], lambda key, values: [(key, sum(map(int, "
        "values)))], max_bad=2)"
    )
    text = {
        "stream_map_input": "text",
        "stream_map_output": "text",
        "stream_reduce_input": "text",
        "stream_reduce_output": "text",
    }
    outcome = run_here(script, "map", data=b"1\n0\nx\n2\n", environ=text)
    assert (outcome.code, outcome.output) == (0, b"1\t1\n2\t0\n")
    assert (tmp_path / "bad-records-m-00000").read_bytes() == b"0\nx\n"
    outcome = run_here(script, "reduce", data=b"a\t1\na\t2\nb\tx\nc\t4\n", environ=text)
    assert (outcome.code, outcome.output) == (0, b"a\t3\nc\t4\n")
    assert (tmp_path / "bad-records-r-00000").read_bytes() == b"b\tx\n"


def test_raw_bytes(run_here, tmp_path):
    raw = {"stream_map_input": "rawbytes", "stream_map_output": "rawbytes"}
    record = struct.pack(">i1si1s", 1, b"k", 1, b"v")
    bad = struct.pack(">i1si1s", 1, b"k", 1, b"0")
    outcome = run_here(
        "run(lambda key, value: 1 / (value == b'v') and [(key, value)], max_bad=1)",
        "map",
        data=record + bad + record,
        environ=raw,
    )
    assert (outcome.code, outcome.output) == (0, record * 2)
    assert (tmp_path / "bad-records-m-00000").read_bytes() == bad


@pytest.mark.parametrize("options", ["batch=True, max_bad=1", "batch=True, group_by=len", "max_bad=-1"])
def test_options_that_do_not_go_together(run_here, options):
    outcome = run_here(f"run(lambda batch: batch, {options})", "map", data=b"")
    assert outcome.code == 1
    assert outcome.lines[-1].startswith(("TypeError: ", "ValueError: "))


def test_a_reducer_of_batches_with_its_own_parts_is_refused(run_here):
    script = "def reducer(batch): return batch\nreducer.partition_by = len\nrun(None, reducer, batch=True)"
    outcome = run_here(script, "reduce", data=b"")
    assert outcome.code == 1
    assert outcome.lines[-1] == "TypeError: partition_by is for single pairs, not for batch=True"


def test_only_the_first_are_shown(run_here):
    outcome = run_here("run(lambda key, value: 1 / 0, max_bad=20)", "map", data=encode(*GOOD))
    assert sum(line.startswith("typedbytes: bad record") for line in outcome.lines) == 10
    assert "reporter:counter:typedbytes,BadRecords,20" in outcome.lines


@pytest.mark.parametrize(
    "call", ["breakpoint()", "import pdb; pdb.set_trace()", "import pdb; pdb.Pdb(stdin=None).set_trace()"]
)
@pytest.mark.parametrize("where", ["in the mapper", "in an except clause", "in the reducer", "in group_by"])
def test_a_debugger_is_no_bad_record(run_here, where, call):
    # it has no input in a task: what it then raises must not pass for what is wrong with a record
    script = f"""
def called(place, *pair):
    if place == {where!r}:
        {call}
    return list(pair)
def mapper(key, value):
    try:
        yield called("in the mapper", key, value)
        called("in an except clause")
    except Exception as error:
        raise ValueError(value) from error
def reducer(key, values):
    yield called("in the reducer", key, list(values))
run(mapper, reducer, max_bad=20{", group_by=lambda key: called(where, key)" if where == "in group_by" else ""})
""".replace("called(where", f"called({where!r}")
    outcome = run_here(
        script, "map" if where in ("in the mapper", "in an except clause") else "reduce", data=encode(*GOOD[:2])
    )
    assert (outcome.code, outcome.output) == (1, b"")
    assert "no terminal for a debugger" in outcome.details()["what to do"] and "bad record" not in outcome.messages
