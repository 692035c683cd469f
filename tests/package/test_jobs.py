"""A job is declared once: engines, the command and the errors take what typedbytes.jobs says.

Each test here fails where an option, an error or the context of a task is declared a second time, or in one place only.
"""

import dataclasses
import inspect
import os
import pickle
import re
from pathlib import Path

import pytest

import typedbytes as tb
from support.subprocess_runs import run_fresh
from typedbytes import hadoop, jobs, local, spark
from typedbytes.cli._job.options import values_of
from typedbytes.cli.main import parser_of
from typedbytes.jobs.errors import KEYWORD_OF
from typedbytes.jobs.job import Job
from typedbytes.jobs.script import find_steps_by_reading
from typedbytes.jobs.source import Source
from typedbytes.jobs.tasks.attempt import TaskContext
from typedbytes.local.scheduler import Scheduler
from typedbytes.spark._tasks import _Worker

#: By function: its engine, its parameters that are no options, and the options that it leaves to a Job,
#: or to the session of Spark.
FUNCTIONS = {
    "local.run": (local.run, "local", {"mapper", "reducer", "combiner", "progress"},
                  {"functions", "combiner", "arguments", "front"}),
    "local.run_script": (local.run_script, "local", {"script", "progress"}, {"functions"}),
    "spark.run_script": (spark.run_script, "spark", {"spark", "script"}, {"name", "python"}),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_every_option_of_its_engine_as_a_parameter_with_its_default(name):
    function, engine, others, left_out = FUNCTIONS[name]
    parameters = inspect.signature(function).parameters
    assert not any(each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL) for each in parameters.values())
    field_of = {keyword: field for field, keyword in KEYWORD_OF.items()}
    shown = {field_of.get(name, name): each.default for name, each in parameters.items() if name not in others}
    options = {name for name, option in Job.options().items() if engine in option.engines} - left_out
    assert shown.keys() == options | {"inputs", "output"}
    job = Job("", [], "", 1 if function is local.run else None)
    for option in options:
        assert (shown[option] or None) == (getattr(job, option) or None), option


def test_a_plan_is_a_job_and_takes_what_it_shows():
    assert issubclass(hadoop.Plan, Job)
    assert inspect.signature(hadoop.Plan) == inspect.signature(Job)
    plan = hadoop.Plan("job.py", ["in"], "out", 2, True, 5, feed="pairs")
    assert (plan.nreducers, plan.combiner, plan.secondary, plan.feed) == (2, True, 5, "pairs")
    assert dataclasses.replace(plan, output="other") == hadoop.Plan("job.py", ["in"], "other", 2, True, 5, feed="pairs")
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.output = "other"


def test_an_engine_refuses_the_options_of_others(tmp_path):
    with pytest.raises(hadoop.SubmitError, match="memory is not an option of a job on Hadoop: leave it out"):
        hadoop.Plan("job.py", ["in"], "out", memory=1 << 30)
    with pytest.raises(local.OptionError, match="feed is not an option of a job on this machine: leave it out"):
        local.run_job(Job("job.py", [(1, 2)], str(tmp_path / "out"), feed="pairs"))
    with pytest.raises(local.OptionError, match="functions is not an option of a job on Spark: leave it out"):
        spark.run_job(None, Job("", [(1, 2)], str(tmp_path / "out"), functions={"map": "cat"}))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"nreducers": 65537}, "nreducers must be 0 to 65536, not 65537"),
        ({"secondary": -1}, "secondary must be a number of bytes, not -1"),
        ({"attempts": 0}, "processes and attempts must be at least 1"),
        ({"processes": 0}, "processes and attempts must be at least 1"),
        ({"codec": "zip"}, "codec must be one of none, zlib, lz4, zstd, not 'zip'"),
        ({"feed": "both"}, "feed must be one of splits, pairs, not 'both'"),
        ({"params": {"a b": 1}}, "the name of a parameter has letters, digits and underscores, 'a b' has others"),
        (
            {"properties": {"stream.map.input": "text"}},
            "Hadoop Streaming sets the property stream.map.input from -io typedbytes",
        ),
        ({"properties": {"mapreduce.job.reduces": "two"}}, "the property mapreduce.job.reduces is a number, not 'two'"),
        ({"nreducers": "3"}, "nreducers must be a whole number, not '3'"),
        ({"nreducers": 3.0}, "nreducers must be a whole number, not 3.0"),
        ({"memory": "2G"}, "memory must be a whole number, not '2G'"),
        ({"memory": None}, "memory must be a whole number, not None"),
        ({"inputs": 5}, "inputs must be paths, or tuples of a key and a value, not 5"),
        ({"inputs": b"in"}, "inputs must be paths, or tuples of a key and a value, not b'in'"),
        ({"inputs": None}, "inputs must be paths, or tuples of a key and a value, not None"),
        ({"output": None}, "output must be a path, not None"),
        ({"script": b"job.py"}, "script must be a path, not b'job.py'"),
        ({"report": 5}, "report must be a path, not 5"),
        ({"codec": None}, "codec must be a text, not None"),
        ({"input_format": None}, "input_format must be a text, not None"),
        ({"arguments": "abc"}, "arguments must be a list of words, not the str 'abc'"),
        ({"arguments": [1]}, "arguments must be a list of texts or paths, not [1]"),
        ({"files": [1]}, "files must be a list of texts or paths, not [1]"),
        ({"files": None}, "files must be a list of texts or paths, not None"),
        ({"archives": 5}, "archives must be a list of texts or paths, not 5"),
        ({"environment": {"A": None}}, "A in environment must have a value, not None: leave it out, or give a text"),
        ({"properties": {"a.b": None}}, "a.b in properties must have a value, not None: leave it out, or give a text"),
        ({"properties": "a=b"}, "properties must be a dict of names and values, not a str"),
        ({"environment": ["A=b"]}, "environment must be a dict of names and values, not a list"),
        ({"params": "a=b"}, "params must be a dict of names and values, not a str"),
        ({"params": {1: 2}}, "a name in params must be a text, not 1"),
        ({"environment": {"": "x"}}, "a name in environment must not be empty, nor have = or NUL: ''"),
        ({"environment": {"A=B": "x"}}, "a name in environment must not be empty, nor have = or NUL: 'A=B'"),
        ({"properties": {"a\0": "x"}}, "a name in properties must not be empty, nor have = or NUL: 'a\\x00'"),
        ({"environment": {"A": "x\0y"}}, "the value of A in environment has a NUL, which no variable can hold"),
        ({"properties": {"a.b": b"x\0y"}}, "the value of a.b in properties has a NUL, which no variable can hold"),
        ({"params": {"a": "x\0y"}}, "the value of a in params has a NUL, which no variable can hold"),
        ({"split_size": 0}, "split_size must be at least 1 byte, not 0"),
        ({"memory": 2**70}, "memory must be a number of 64 bits"),
        ({"attempts": 2**70}, "attempts must be a number of 64 bits"),
    ],
)
def test_a_job_is_valid_by_itself(options, said):
    with pytest.raises(jobs.OptionError) as caught:
        Job(**{"script": "job.py", "inputs": ["in"], "output": "out", **options})
    assert str(caught.value).startswith(said)
    for kind in (jobs.JobError, jobs.SubmitError, ValueError, tb.TypedBytesError):
        assert isinstance(caught.value, kind)


@pytest.mark.parametrize(
    ("by_field", "by_keyword", "said"),
    [
        ({"nreducers": -1}, {"reducers": -1}, "{} must be 0 to 65536, not -1"),
        ({"nreducers": "3"}, {"reducers": "3"}, "{} must be a whole number, not '3'"),
        ({"environment": 3}, {"environ": 3}, "{} must be a dict of names and values, not a int"),
        ({"environment": {"A": None}}, {"environ": {"A": None}}, "A in {} must have a value, not None: leave it out"),
        ({"nreducers": 2}, {"reducers": 2}, "job.py has no reducer: give streaming.run(...) one, or leave out {}=2"),
        ({"codec": "zip"}, {"codec": "zip"}, "{} must be one of none, zlib, lz4, zstd, not 'zip'"),
    ],
)
def test_an_error_names_an_option_as_its_caller_does(by_field, by_keyword, said, tmp_path):
    script = tmp_path / "job.py"
    script.write_text("from typedbytes.streaming import run\n\nrun(lambda key, value: [(key, value)])\n")
    job = {"inputs": [(1, 2)], "output": tmp_path / "out"}
    calls = [
        (by_field, lambda: local.run_job(Job(script, **job, **by_field))),
        (by_keyword, lambda: local.run_script(script, **job, **by_keyword)),
    ]
    if "{}=2" not in said:
        calls.append((by_keyword, lambda: local.run("cat", "cat", **job, **by_keyword)))
    if "codec" not in by_keyword:
        calls.append((by_keyword, lambda: spark.run_script(None, script, **job, **by_keyword)))
    for (name,), call in calls:
        with pytest.raises(jobs.JobError) as caught:
            call()
        text = str(caught.value)
        assert re.search(rf"\b{re.escape(said.format(name))}", text) and caught.value.args == (text,)


def test_a_path_in_the_place_of_a_list_is_one_entry():
    given = {"files": "book.txt", "archives": Path("x.zip"), "libjars": "a.jar", "python_versions": "3.11"}
    job = Job("job.py", Path("in"), "out", **given)
    assert {name: getattr(job, name) for name in given} == {name: [str(value)] for name, value in given.items()}
    assert job.inputs == [Path("in")]
    assert Job("job.py", ["in"], "out", files=("a", Path("b"))).files == ["a", "b"]
    assert Job("job.py", ["in"], "out", front=None).front == ""


def test_the_errors_of_all_engines_are_one_tree():
    for name in ("CommandError", "InputError", "JobError", "OptionError", "OutputError"):
        assert getattr(local, name) is getattr(jobs, name)
    assert issubclass(jobs.SubmitError, jobs.JobError) and issubclass(jobs.JobFailedError, jobs.SubmitError)
    for name in ("JobFailedError", "SubmitError", "Result"):
        assert getattr(hadoop, name) is getattr(jobs, name)
    assert hadoop.Done is local.Result is jobs.Result
    kinds = [getattr(jobs, name) for name in jobs.__all__ if name.endswith("Error")]
    assert all(issubclass(kind, tb.TypedBytesError) for kind in kinds) and len(kinds) == 7
    error = jobs.CommandError("it cannot start", ["a line"], hint="mend it")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.tail, again.hint) == ("it cannot start; mend it", ["a line"], "mend it")


def test_the_command_has_each_flag_once_and_the_job_its_value():
    for command in ("run", "submit"):
        actions = [action for action in parser_of(command)._actions if action.dest.startswith("job_")]
        options = Job.options(command)
        assert {action.dest for action in actions} == {option.dest for option in options.values()}
        words = {action.dest: action.default for action in actions}
        values = values_of(words, command)
        assert values.pop("output_format") is None  # what it is depends on where the output goes
        assert Job("a", ["b"], "c", **values) == Job("a", ["b"], "c")


def test_a_table_of_the_documents_has_the_options_that_both_commands_have():
    page = (Path(__file__).parents[2] / "docs" / "hadoop.md").read_text("utf-8")
    cells = re.search(r"with the same defaults:\n\n((?:\|.*\n)+)", page)[1].split("\n")
    shown = [flag for cell in cells for flag in re.findall(r"`(-[\w-]+)", cell.split("|")[1] if cell else "")]
    run, submit = Job.options("run"), Job.options("submit")
    flags = [flag for name in run.keys() & submit.keys() for flag in run[name].flags]
    assert sorted(shown) == sorted([*flags, "-o", "--no-combiner"])


def test_the_contexts_of_tasks_have_what_their_protocol_names():
    assert issubclass(Scheduler, TaskContext) and issubclass(_Worker, TaskContext)
    assert set(TaskContext.__annotations__) == {
        *("job", "commands", "id", "environ", "part_options", "memory", "max_files", "processes", "output")
    }
    for kind in (Scheduler, _Worker):
        assert set(TaskContext.__annotations__) <= set(kind.__init__.__code__.co_names), kind


SAYS_NOTHING = "from typedbytes import streaming\nimport operator\njobs = {jobs}\nstreaming.run(operator.add, **jobs)\n"


@pytest.mark.parametrize(
    ("given", "steps", "said"),
    [
        ("{'reducer': operator.add, 'combiner': operator.add}", [["map", "combine", "reduce"]], []),
        ("{'reducer': operator.add}", [["map", "reduce"]], []),
        ("{}", [["map"]], []),
        (
            "1 / 0",
            [["map", "reduce"]],
            ["with exit code 1: ZeroDivisionError: division by zero: it is taken to have a reducer"],
        ),
    ],
)
def test_a_script_is_asked_what_its_source_leaves_open(tmp_path, given, steps, said):
    script = tmp_path / "job.py"
    script.write_text(SAYS_NOTHING.format(jobs=given))
    assert Source(str(script)).roles == {"combine": None, "reduce": None}
    lines = []
    assert find_steps_by_reading(Job(str(script), ["in"], "out"), lines.append) == steps
    assert [line.partition("input, ")[2] for line in lines] == said


def test_a_script_whose_source_says_it_is_not_started(tmp_path):
    script = tmp_path / "job.py"
    script.write_text("from typedbytes import streaming\nstreaming.run(mapper_of_the_cluster, reducer)\n")
    assert find_steps_by_reading(Job(str(script), ["in"], "out"), print) == [["map", "reduce"]]


def test_the_process_of_a_task_that_is_a_function_loads_no_job():
    code = """
        import sys
        import typedbytes.jobs.function_task
        heavy = {"dataclasses", "typing", "inspect", "typedbytes.jobs.job", "typedbytes.local", "subprocess"}
        print(sorted(heavy & {*sys.modules}))
    """
    assert run_fresh(code) == "[]"
