"""What a task reads from its environment and its command line."""

import pytest

from typedbytes.streaming import Task, task
from typedbytes.streaming.task_environment import (
    UsageError,
    count_key_fields,
    find_format,
    find_role,
    find_separator,
    has_text_keys,
)

HADOOP = {"mapreduce_job_id": "job_1_0001"}
PACKAGE = "org.apache.hadoop.streaming.io."
MAP, REDUCE = {"mapreduce_task_ismap": "true"}, {"mapreduce_task_ismap": "false"}

NEW = {
    "mapreduce_job_id": "job_1_0001",
    "mapreduce_task_id": "task_1_0001_m_000003",
    "mapreduce_task_attempt_id": "attempt_1_0001_m_000003_0",
    "mapreduce_task_ismap": "true",
    "mapreduce_task_partition": "3",
    "mapreduce_map_input_file": "hdfs://host/in.txt",
    "mapreduce_map_input_start": "128",
    "mapreduce_map_input_length": "4294967296",
    "mapreduce_task_output_dir": "hdfs://host/out/_temporary/1",
    "mapreduce_job_reduces": "7",
    "typedbytes_step": "2",
    "typedbytes_param_x": "3",
}
OLD = {
    "mapred_job_id": "job_1_0001",
    "mapred_tip_id": "task_1_0001_m_000003",
    "mapred_task_id": "attempt_1_0001_m_000003_0",
    "mapred_task_is_map": "true",
    "mapred_task_partition": "3",
    "map_input_file": "hdfs://host/in.txt",
    "map_input_start": "128",
    "map_input_length": "4294967296",
    "mapred_work_output_dir": "hdfs://host/out/_temporary/1",
    "mapred_reduce_tasks": "7",
    "typedbytes_step": "2",
    "typedbytes_param_x": "3",
}
ATTRIBUTES = {
    "job_id": "job_1_0001",
    "task_id": "task_1_0001_m_000003",
    "attempt_id": "attempt_1_0001_m_000003_0",
    "is_map": True,
    "partition": 3,
    "input_file": "hdfs://host/in.txt",
    "input_start": 128,
    "input_length": 2**32,
    "output_folder": "hdfs://host/out/_temporary/1",
    "nreducers": 7,
    "params": {"x": "3"},
    "step": 2,
}


@pytest.mark.parametrize("environ", [NEW, OLD, {**dict.fromkeys(OLD, "0"), **NEW}])
def test_task_reads_new_and_old_names(environ):
    assert {name: getattr(Task(environ), name) for name in ATTRIBUTES} == ATTRIBUTES


def test_task_outside_hadoop_knows_nothing():
    assert {name: getattr(Task({}), name) for name in ATTRIBUTES} == {**dict.fromkeys(ATTRIBUTES), "params": {}}


def test_task_reads_the_environment_of_the_process(monkeypatch):
    monkeypatch.setenv("mapreduce_task_partition", "7")
    assert task().partition == 7


def test_task_shows_all_it_knows():
    assert repr(Task(NEW)) == "Task(" + ", ".join(f"{name}={value!r}" for name, value in ATTRIBUTES.items()) + ")"


def test_task_of_a_reduce_task():
    assert Task({"mapred_task_is_map": "false"}).is_map is False


@pytest.mark.parametrize("role", ["map", "combine", "reduce"])
@pytest.mark.parametrize("environ", [{}, MAP, REDUCE])
def test_role_on_the_command_line_wins(role, environ):
    assert find_role(["job.py", role, "more"], environ, combines=True) == role


@pytest.mark.parametrize(
    "environ, combines, role",
    [
        (MAP, False, "map"),
        (REDUCE, False, "reduce"),
        (REDUCE, True, "reduce"),
        ({"mapred_task_is_map": "true"}, False, "map"),
    ],
)
def test_role_from_the_environment(environ, combines, role):
    assert find_role(["job.py"], environ, combines) == role


@pytest.mark.parametrize(
    "argv, environ, combines, message",
    [
        (["job.py"], {}, False, "no role given"),
        (["job.py"], MAP, True, "has a combiner"),
        (["job.py", "mapper"], MAP, False, "'mapper' is not a role"),
        (["job.py", ""], MAP, False, "'' is not a role"),
    ],
)
def test_no_role(argv, environ, combines, message):
    with pytest.raises(UsageError, match=message):
        find_role(argv, environ, combines)


@pytest.mark.parametrize(
    "role, direction, environ, expected",
    [
        # Outside Hadoop.
        ("map", "input", {}, "typedbytes"),
        ("reduce", "output", {}, "typedbytes"),
        ("map", "input", {"stream_map_input": "text"}, "text"),
        # Asked for by name.
        ("map", "input", {**HADOOP, "stream_map_input": "typedbytes"}, "typedbytes"),
        ("map", "output", {**HADOOP, "stream_map_output": "rawbytes"}, "rawbytes"),
        ("reduce", "input", {**HADOOP, "stream_reduce_input": "TypedBytes"}, "typedbytes"),
        ("reduce", "output", {**HADOOP, "stream_reduce_output": "text"}, "text"),
        ("combine", "input", {**HADOOP, "stream_reduce_input": "rawbytes", "stream_map_input": "text"}, "rawbytes"),
        ("combine", "output", {**HADOOP, "stream_reduce_output": "typedbytes"}, "typedbytes"),
        # By the class, which Hadoop always names.
        ("map", "input", {**HADOOP, "stream_map_input_writer_class": PACKAGE + "TypedBytesInputWriter"}, "typedbytes"),
        ("map", "output", {**HADOOP, "stream_map_output_reader_class": PACKAGE + "RawBytesOutputReader"}, "rawbytes"),
        ("reduce", "input", {**HADOOP, "stream_reduce_input_writer_class": PACKAGE + "TextInputWriter"}, "text"),
        ("reduce", "output", {**HADOOP, "stream_reduce_output_reader_class": PACKAGE + "TypedBytesOutputReader"},
         "typedbytes"),
        # Hadoop makes text of a name it does not know, and of none.
        ("map", "input",
         {**HADOOP, "stream_map_input": "json", "stream_map_input_writer_class": PACKAGE + "TextInputWriter"}, "text"),
        ("map", "input", {**HADOOP, "stream_map_input": "json"}, "text"),
        ("reduce", "output", HADOOP, "text"),
        ("map", "input", {"mapred_job_id": "job_1_0001"}, "text"),
    ],
)  # fmt: skip
def test_format(role, direction, environ, expected):
    assert find_format(role, direction, environ) == expected


@pytest.mark.parametrize(
    "class_name", [PACKAGE + "KeyOnlyTextInputWriter", "com.example.Columns", "TypedBytesOutputReader"]
)
def test_format_of_a_class_not_known(class_name):
    with pytest.raises(UsageError, match=class_name.rpartition(".")[2]):
        find_format("map", "input", {**HADOOP, "stream_map_input_writer_class": class_name})


@pytest.mark.parametrize(
    "role, direction, environ, expected",
    [
        ("map", "input", {}, b"\t"),
        ("map", "output", {"stream_map_output_field_separator": ","}, b","),
        ("reduce", "input", {"stream_map_input_field_separator": ","}, b"\t"),
        ("combine", "output", {"stream_reduce_output_field_separator": "::"}, b"::"),
        ("reduce", "output", {"stream_reduce_output_field_separator": ""}, b"\t"),
    ],
)
def test_separator(role, direction, environ, expected):
    assert find_separator(role, direction, environ) == expected


@pytest.mark.parametrize(
    "role, environ, expected",
    [
        ("reduce", {}, True),
        ("combine", {}, True),
        ("map", {}, False),
        ("map", {"mapred_input_format_class": "org.apache.hadoop.mapred.TextInputFormat"}, False),
        ("map", {"mapred_input_format_class": "org.apache.hadoop.mapred.SequenceFileInputFormat"}, True),
        ("map", {"mapred_input_format_class": "org.apache.hadoop.mapred.KeyValueTextInputFormat"}, True),
        ("map", {"stream_map_input_ignoreKey": "false"}, True),
        ("map", {"stream_map_input_ignoreKey": "true", "mapred_input_format_class": "a.SequenceFileInputFormat"},
         False),
    ],
)  # fmt: skip
def test_text_keys(role, environ, expected):
    assert has_text_keys(role, environ) is expected


@pytest.mark.parametrize(
    "role, environ, expected",
    [
        ("map", {"stream_num_map_output_key_fields": "2"}, 1),
        ("reduce", {}, 1),
        ("reduce", {"stream_num_map_output_key_fields": "2"}, 2),
        ("reduce", {"stream_num_map_output_key_fields": "2", "stream_map_output_field_separator": "."}, 1),
    ],
)
def test_key_fields(role, environ, expected):
    assert count_key_fields(role, environ) == expected
