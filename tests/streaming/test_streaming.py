"""Jobs: what mappers, combiners and reducers get, and what becomes of what they return."""

import inspect
import select
import struct

import pytest

from support.streaming_support import SECONDS, encode, finish, pairs, read_message, run_script, start
from typedbytes import dumps, streaming

pytestmark = [pytest.mark.oldest_python, pytest.mark.quick]

HADOOP = {"mapreduce_job_id": "job_1_0001"}
WORDS = encode((0, "the quick fox"), (14, ""), (15, "the end"))
COUNTS = encode(("a", 1), ("a", 2), ("b", 3))


MAPPERS = {
    "function that yields": """
def mapper(key, value):
    for word in value.split():
        yield word, 1
""",
    "function that returns": """
def mapper(key, value):
    return [(word, 1) for word in value.split()] or None
""",
    "class with map": """
class mapper:
    def map(self, key, value):
        for word in value.split():
            yield word, 1
""",
    "class that is called": """
class mapper:
    def __call__(self, key, value):
        return ((word, 1) for word in value.split())
""",
    "object": """
class Mapper:
    def __init__(self, number):
        self.number = number
    def map(self, key, value):
        return [[word, self.number] for word in value.split()]
mapper = Mapper(1)
""",
}


@pytest.mark.parametrize("mapper", MAPPERS.values(), ids=MAPPERS)
def test_map(tmp_path, mapper):
    outcome = run_script(tmp_path, mapper + "run(mapper)", "map", data=WORDS)
    assert pairs(outcome) == [("the", 1), ("quick", 1), ("fox", 1), ("the", 1), ("end", 1)]
    assert outcome.messages == ""


REDUCERS = {
    "function": """
def reducer(key, values):
    yield key, sum(values)
""",
    "class with reduce": """
class reducer:
    def reduce(self, key, values):
        return [(key, sum(values))]
""",
    "class that is called": """
class reducer:
    def __call__(self, key, values):
        yield key, sum(values)
""",
}


@pytest.mark.parametrize("role", ["reduce", "combine"])
@pytest.mark.parametrize("reducer", REDUCERS.values(), ids=REDUCERS)
def test_reduce(tmp_path, reducer, role):
    outcome = run_script(tmp_path, reducer + "run(None, reducer, reducer)", role, data=COUNTS)
    assert pairs(outcome) == [("a", 3), ("b", 3)]


LIFE = """
class Job:
    def configure(self):
        self.said = ["configure"]
    def map(self, key, value):
        self.said.append(key)
    def reduce(self, key, values):
        self.said.append([key, *values])
    def close(self):
        yield "said", self.said
run(Job, Job)
"""


@pytest.mark.parametrize(
    "role, said", [("map", ["configure", "a", "a", "b"]), ("reduce", ["configure", ["a", 1, 2], ["b", 3]])]
)
def test_configure_and_close(tmp_path, role, said):
    assert pairs(run_script(tmp_path, LIFE, role, data=COUNTS)) == [("said", said)]


YIELDING = """
class Job:
    def configure(self):
        self.number = 1
        {returning}
    def map(self, key, value):
        yield key, self.number
    def reduce(self, key, values):
        yield key, self.number
if __name__ == "__main__":
    run(Job, Job, Job)
"""


@pytest.mark.parametrize(
    "returning, found", [("yield 'start', 1", "generator"), ("return [('start', 1)]", "list"), ("return 7", "int")]
)
@pytest.mark.parametrize("role, method", [("map", "map"), ("reduce", "reduce"), ("combine", "reduce")])
def test_configure_that_returns_something_is_an_error(tmp_path, role, method, returning, found):
    outcome = run_script(tmp_path, YIELDING.format(returning=returning), role, data=COUNTS)
    assert (outcome.code, outcome.output) == (1, b"")
    said = (
        f"TypeError: configure() must return None, not an object of type {found}: it is called before the first record"
    )
    assert outcome.lines[-1] == f"{said}; yield pairs from {method}() at the first record, or from close()"


def test_close_may_return_nothing(tmp_path):
    script = "class Job:\n map = staticmethod(lambda key, value: [(key, value)])\n def close(self): pass\nrun(Job)"
    assert run_script(tmp_path, script, "map", data=COUNTS).output == COUNTS


@pytest.mark.parametrize("role", ["map", "reduce", "combine"])
def test_no_input_gives_no_output(tmp_path, role):
    outcome = run_script(tmp_path, "fail = lambda *pair: 1 / 0\nrun(fail, fail, fail)", role)
    assert (outcome.code, outcome.output, outcome.messages) == (0, b"", "")


def test_output_lost_by_a_reducer_without_input_is_reported(tmp_path):
    outcome = run_script(tmp_path, LIFE, "reduce")
    assert outcome.code == 0
    assert "discards" in outcome.messages


def test_role_from_the_environment(tmp_path):
    script = "run(lambda key, value: [('map', key)], lambda key, values: [('reduce', key)])"
    outcomes = [
        run_script(tmp_path, script, data=COUNTS, environ={"mapreduce_task_ismap": is_map})
        for is_map in ("true", "false")
    ]
    assert [pairs(outcome)[-1] for outcome in outcomes] == [("map", "b"), ("reduce", "b")]


def test_argv_instead_of_the_command_line(tmp_path):
    script = "run(lambda key, value: [(key, value)], argv=['job.py', 'map'])"
    assert run_script(tmp_path, script, "reduce", data=COUNTS).output == COUNTS


def test_options_for_both_directions(tmp_path):
    script = """
def mapper(key, value):
    return [(type(value).__name__, value), ("path", os.path)] if value else [("int", 7)]
run(mapper, read_options={"exact": True}, write_options={"int_width": 64, "default": lambda module: module.__name__})
"""
    outcome = run_script(tmp_path, script, "map", data=dumps(1) + b"\x01\x05" + dumps(1) + b"\x01\x00")
    assert outcome.code == 0, outcome.messages
    assert outcome.output == encode(("Byte",)) + b"\x01\x05" + encode(("path", "posixpath"), ("int",)) + struct.pack(
        ">bq", 4, 7
    )


SAME_TO_PYTHON = [dumps(True), dumps(1), dumps(1.0), struct.pack(">bq", 4, 1), b"\x01\x01", dumps(True)]


def test_groups_are_by_encoded_key(tmp_path):
    script = "run(None, lambda key, values: [(type(key).__name__, len(list(values)))])"
    data = b"".join(key + dumps(None) for key in SAME_TO_PYTHON)
    counted = pairs(run_script(tmp_path, script, "reduce", data=data))
    assert counted == [("bool", 1), ("int", 1), ("float", 1), ("int", 1), ("int", 1), ("bool", 1)]


def test_keys_that_are_not_equal_to_themselves(tmp_path):
    script = "run(None, lambda key, values: [(key != key, list(values))])"
    data = encode((float("nan"), 1), (float("nan"), 2), (1.0, 3))
    assert pairs(run_script(tmp_path, script, "reduce", data=data)) == [(True, [1, 2]), (False, [3])]


@pytest.mark.parametrize(
    "reading, kept", [("pass", []), ("first = next(values)", [0]), ("first = sum(values)", [4950])]
)
def test_values_not_read_are_skipped(tmp_path, reading, kept):
    script = f"""
def reducer(key, values):
    first = None
    {reading}
    yield key, [] if first is None else [first]
run(None, reducer)
"""
    data = encode(*[(key, number) for key in "ab" for number in range(100)])
    assert pairs(run_script(tmp_path, script, "reduce", data=data)) == [("a", kept), ("b", kept)]


def test_values_do_not_outlive_their_group(tmp_path):
    script = """
late = []
def reducer(key, values):
    for old in late:
        next(old)
    late.append(values)
run(None, reducer)
"""
    outcome = run_script(tmp_path, script, "reduce", data=COUNTS)
    assert outcome.code == 1
    assert outcome.lines[-1].startswith("RuntimeError: ")


def test_group_larger_than_any_buffer(tmp_path):
    script = "run(None, lambda key, values: [(key, sum(map(len, values)))])"
    data = encode(("before", "x"), *[("large", "x" * 1000)] * 3000, ("after", "x" * 3_000_000))
    outcome = run_script(tmp_path, script, "reduce", data=data)
    assert pairs(outcome) == [("before", 1), ("large", 3_000_000), ("after", 3_000_000)]


def test_output_larger_than_any_buffer(tmp_path):
    outcome = run_script(
        tmp_path, "run(lambda key, value: [(key, value)] * 3000)", "map", data=encode(("k", "x" * 1000))
    )
    assert outcome.output == encode(("k", "x" * 1000)) * 3000


@pytest.mark.parametrize(
    "given", ['"ab"', '("word", 1)', '["word"]', "[1]", "[(1, 2, 3)]", "[(1,)]", "5", "[None]", '{"word": 1}']
)
@pytest.mark.parametrize("form", ["typedbytes", "rawbytes", "text"])
def test_what_is_not_a_pair_is_not_a_record(tmp_path, given, form):
    environ = {"stream_map_output": form}
    outcome = run_script(tmp_path, f"run(lambda key, value: {given})", "map", data=COUNTS, environ=environ)
    assert (outcome.code, outcome.output) == (1, b"")
    assert outcome.lines[-1].startswith(("TypeError: ", "ValueError: ", "typedbytes.errors.EncodeTypeError: "))


def test_the_report_says_where_a_function_for_other_objects_goes(tmp_path):
    outcome = run_script(tmp_path, "run(lambda key, value: [(key, object())])", "map", data=COUNTS)
    assert outcome.code == 1
    assert 'run(..., write_options={"default": function})' in outcome.details()["what to do"]
    script = 'run(lambda key, value: [(key, 1j.conjugate)], write_options={"default": lambda thing: "made"})'
    assert run_script(tmp_path, script, "map", data=COUNTS).code == 0


def test_a_pair_is_handed_over_as_soon_as_it_is_there(tmp_path):
    child = start(tmp_path, "run(lambda key, value: status(key))", "map")
    for key in ("first", "second"):
        child.stdin.write(encode((key, 1)))
        child.stdin.flush()
        assert select.select([child.stderr], [], [], SECONDS)[0]
        assert read_message(child) == f"reporter:status:{key}".encode()
    assert finish(child).code == 0


def test_counters_and_status(tmp_path):
    script = """
counter("job", "started")
def mapper(key, value):
    counter("job", "records, all", value)
    status(f"at {key}")
run(mapper)
"""
    outcome = run_script(tmp_path, script, "map", data=COUNTS)
    assert (outcome.code, outcome.output) == (0, b"")
    assert outcome.lines == [
        "reporter:status:at a",
        "reporter:status:at a",
        "reporter:status:at b",
        "reporter:counter:job,started,1",
        "reporter:counter:job,records; all,6",
    ]


def test_task_inside_a_job(tmp_path):
    script = "run(lambda key, value: [(task().attempt_id, task().partition)])"
    environ = {"mapreduce_task_attempt_id": "attempt_1", "mapreduce_task_partition": "3"}
    outcome = run_script(tmp_path, script, "map", data=encode((1, 1)), environ=environ)
    assert pairs(outcome) == [("attempt_1", 3)]


# Formats.


def test_text_to_text_is_what_hadoop_speaks_by_default(tmp_path):
    script = "run(lambda number, line: [(word, number) for word in line.split()])"
    outcome = run_script(tmp_path, script, "map", data=b"a b\nc\n", environ=HADOOP)
    assert (outcome.code, outcome.output) == (0, b"a\t0\nb\t0\nc\t1\n")


def test_text_mapper_into_typed_bytes(tmp_path):
    environ = {**HADOOP, "stream_map_input": "text", "stream_map_output": "typedbytes"}
    script = "run(lambda number, line: [(line, number)])"
    assert pairs(run_script(tmp_path, script, "map", data=b"a b\nc\n", environ=environ)) == [("a b", 0), ("c", 1)]


def test_typed_bytes_reducer_into_text(tmp_path):
    environ = {**HADOOP, "stream_reduce_input": "typedbytes", "stream_reduce_output_field_separator": "="}
    script = "run(None, lambda key, values: [(key, sum(values))])"
    assert run_script(tmp_path, script, "reduce", data=COUNTS, environ=environ).output == b"a=3\nb=3\n"


TEXT = {f"stream_{role}_{direction}": "text" for role in ("map", "reduce") for direction in ("input", "output")}
FIELDS, COMBINED_FIELDS = "stream_num_map_output_key_fields", "stream_num_reduce_output_key_fields"
MAP_SEPARATOR, REDUCE_SEPARATOR = "stream_map_output_field_separator", "stream_reduce_input_field_separator"
LINE_AS_KEY = """
def job(key, value):
    yield {key!r}, 1
run(job, {reducer}, {combiner})
"""


@pytest.mark.parametrize(
    "role, key, environ",
    [
        ("map", "a\tb", {}),
        ("map", "a\tb", {"mapreduce_job_reduces": "2"}),
        ("map", "a\tb\tc", {FIELDS: "2"}),
        ("map", "a;b", {MAP_SEPARATOR: ";"}),
        ("map", "a\tb", {MAP_SEPARATOR: ";"}),  # Hadoop finds the key, and the reducer does not
        ("map", "a:", {MAP_SEPARATOR: "::", REDUCE_SEPARATOR: "::"}),
        ("combine", "a\tb", {}),
        ("combine", "a\tb", {FIELDS: "2"}),  # a combiner has the settings of a reducer
    ],
)
def test_a_separator_that_would_end_the_key_of_a_reducer_is_refused(tmp_path, role, key, environ):
    script = LINE_AS_KEY.format(key=key, reducer="job", combiner="job")
    outcome = run_script(tmp_path, script, role, data=b"x\ty\n", environ={**TEXT, **environ})
    assert (outcome.code, outcome.output) == (1, b"")
    assert outcome.lines[-1].startswith("ValueError: a separator inside a key of text")


@pytest.mark.parametrize(
    "role, key, environ, reducer",
    [
        ("map", "a\tb", {FIELDS: "2"}, "job"),
        ("map", "a\tb", {MAP_SEPARATOR: ";", REDUCE_SEPARATOR: ";"}, "job"),
        ("map", "a\tb", {MAP_SEPARATOR: ";", "stream_reduce_input": "typedbytes"}, "job"),
        ("map", "a\tb",
         {MAP_SEPARATOR: ";", "stream_reduce_input_writer_class": "com.example.Columns", "stream_reduce_input": ""},
         "job"),
        ("combine", "a\tb", {FIELDS: "2", COMBINED_FIELDS: "2"}, "job"),
        ("map", "a\tb", {}, None),
        ("map", "a\tb", {"mapreduce_job_reduces": "0"}, "job"),
        ("reduce", "a\tb", {}, "job"),
    ],
)  # fmt: skip
def test_a_separator_inside_a_key_is_kept_where_it_comes_back_or_is_final(tmp_path, role, key, environ, reducer):
    script = LINE_AS_KEY.format(key=key, reducer=reducer, combiner="job" if role == "combine" else None)
    outcome = run_script(tmp_path, script, role, data=b"x\ty\n", environ={**TEXT, **environ})
    separator = environ.get(MAP_SEPARATOR, "\t")
    assert (outcome.code, outcome.output) == (0, f"{key}{separator}1\n".encode())


def test_text_reducer(tmp_path):
    script = "run(None, lambda key, values: [(key, sum(map(int, values)))])"
    outcome = run_script(tmp_path, script, "reduce", data=b"a\t1\na\t2\nb\t3\n", environ=HADOOP)
    assert (outcome.code, outcome.output) == (0, b"a\t3\nb\t3\n")


def test_lines_with_keys_of_a_mapper(tmp_path):
    environ = {**HADOOP, "mapred_input_format_class": "org.apache.hadoop.mapred.KeyValueTextInputFormat"}
    outcome = run_script(tmp_path, "run(lambda key, value: [(value, key)])", "map", data=b"a\t\xff\n", environ=environ)
    assert (outcome.code, outcome.output) == (0, b"\xff\ta\n")


def test_raw_bytes(tmp_path):
    environ = {**HADOOP, "stream_reduce_input": "rawbytes", "stream_reduce_output": "rawbytes"}
    script = "run(None, lambda key, values: [(key, b''.join(values))])"
    data = b"".join(struct.pack(">i", len(item)) + item for item in (b"k", b"1", b"k", b"2", b"", b""))
    outcome = run_script(tmp_path, script, "reduce", data=data, environ=environ)
    assert outcome.output == bytes.fromhex("00000001 6b 00000002 3132 00000000 00000000")


# Ending early.


@pytest.mark.parametrize("form", ["typedbytes", "text", "rawbytes"])
def test_stop_early_drains_the_input(tmp_path, form):
    script = """
class Job:
    left = 2
    def map(self, key, value):
        if not self.left:
            raise StopEarly
        self.left -= 1
        yield b"seen", b""
    def close(self):
        yield b"closed", b""
run(Job)
"""
    record = {"typedbytes": encode(("k", "v")), "text": b"k\tv\n", "rawbytes": bytes.fromhex("000000016b 0000000176")}[
        form
    ]
    child = start(tmp_path, script, "map", environ={"stream_map_input": form})
    child.stdin.write(record * 300_000)  # fails when the task leaves it in the pipe
    outcome = finish(child)
    assert pairs(outcome) == [(b"seen", b""), (b"seen", b""), (b"closed", b"")]


def test_stop_early_keeps_what_was_yielded(tmp_path):
    script = """
def reducer(key, values):
    yield key, 1
    yield key, 2
    raise StopEarly
run(None, reducer)
"""
    assert pairs(run_script(tmp_path, script, "reduce", data=COUNTS)) == [("a", 1), ("a", 2)]


def test_stop_early_before_the_first_record(tmp_path):
    script = """
class Job:
    def configure(self):
        raise StopEarly
    def map(self, key, value):
        return 1 / 0
run(Job)
"""
    assert pairs(run_script(tmp_path, script, "map", data=COUNTS)) == []


BESIDE_STEPS = {
    "mapper": list,
    "reducer": list,
    "combiner": list,
    "batch": True,
    "group_by": list,
    "max_bad": 1,
    "read_options": {"exact": True},
    "write_options": {"int_width": 64},
}


@pytest.mark.parametrize("name", BESIDE_STEPS)
def test_steps_beside_another_argument_are_refused(name):
    with pytest.raises(TypeError, match=r"without other arguments of run\(\)"):
        streaming.run(steps=[streaming.Step(list)], **{name: BESIDE_STEPS[name]})


def test_every_argument_beside_steps_is_among_those_refused():
    of_the_job = {"steps", "argv", "params"}
    assert list(inspect.signature(streaming.run).parameters.keys() - of_the_job - BESIDE_STEPS.keys()) == []
