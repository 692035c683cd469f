"""Options of a job on this machine that could change what its tasks do; values not text, code by name."""

import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import typedbytes as tb
from support.local_jobs import RUN, Longest, pairs_of, run, upper, write_script
from support.streaming_support import environment
from typedbytes import local
from typedbytes.streaming.task_environment import PARAM

GROUPED = """
    import operator
    from typedbytes import streaming

    def mapper(offset, line):
        streaming.counter("lines", "read")
        yield (offset % 5, offset), 1

    def reducer(key, values):
        yield key[0], sum(values)

    if __name__ == "__main__":
        streaming.run(mapper, reducer, group_by=operator.itemgetter(0))
"""
#: The variables of our own that the package reads, by its sources; and parameters.
SOURCES = Path(tb.__file__).parent.rglob("*.py")
# Those that a user sets apart: TYPEDBYTES_CLASSES names a file.
OURS = {*re.findall(r"\bTYPEDBYTES_[A-Z_]+\b", "".join(path.read_text() for path in SOURCES)), f"{PARAM}x"} - {
    "TYPEDBYTES_CLASSES"
}
MAPRED, BINARY = "org.apache.hadoop.mapred.lib.", "mapreduce.partition.binarypartitioner.right.offset"


@pytest.mark.parametrize(
    "properties",
    [
        {"mapred.partitioner.class": "X"},
        {"mapred.partitioner.class": "X", "mapreduce.job.output.key.comparator.class": "Y"},
        {"mapred.partitioner.class": "X", "mapred.output.key.comparator.class": "Y"},
        {"mapred.partitioner.class": f"{MAPRED}BinaryPartitioner", BINARY: "-6"},
        {"stream.stderr.reporter.prefix": "foo:", "stream.map.output.reader.class": "X",
         "stream.reduce.input.field.separator": ","},
    ],
)  # fmt: skip
@pytest.mark.parametrize("environ", [{}, {"mapred_partitioner_class": "X"}])
def test_properties_that_do_nothing_here_do_nothing_in_the_tasks(tmp_path, properties, environ):
    (tmp_path / "in.txt").write_text("1234567\n" * 100)
    script = write_script(tmp_path, GROUPED)
    result = run(
        script, tmp_path / "in.txt", tmp_path / "out", reducers=4, properties=properties, environ=environ,
        output_format="pairs",
    )  # fmt: skip
    assert sorted(pairs_of(tmp_path / "out")) == [(number, 20) for number in range(5)]
    assert result.counters["lines"]["read"] == 100


BYTES_ORDER = "mapreduce.job.output.key.comparator.class=org.apache.hadoop.io.BytesWritable$Comparator"
ENDS, LENGTH, ORDER = "lines end with LF, CR or CR LF", "lines may have any length", "keys are sorted by their bytes"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["textinputformat.record.delimiter=|"], [ENDS]),
        (["mapreduce.input.linerecordreader.line.maxlength=9"], [LENGTH]),
        (["mapred.linerecordreader.maxlength=9", "textinputformat.record.delimiter=|"], [LENGTH, ENDS]),
        (["mapreduce.job.output.key.comparator.class=org.apache.hadoop.mapred.lib.KeyFieldBasedComparator"], [ORDER]),
        (["mapred.output.key.comparator.class=X"], [ORDER]),
        ([BYTES_ORDER, "my.limit=3"], []),
    ],
)
def test_a_property_that_would_change_the_result_of_hadoop_is_named(tmp_path, words, said):
    (tmp_path / "in.txt").write_text("a|b\n")
    script = write_script(tmp_path, "from typedbytes import streaming; streaming.run(lambda key, line: [(line, 1)])")
    command = [*RUN, str(script), str(tmp_path / "in.txt"), "--output-format", "pairs"]
    for name, more, expected in (
        (
            "out",
            [],
            [
                f"typedbytes run: -D {word.partition('=')[0]} has no effect here: {what}"
                for word, what in zip(words, said)
            ],
        ),
        ("again", ["-q"], []),
    ):
        properties = [word for each in words for word in ("-D", each)]
        done = subprocess.run(
            [*command, "-o", str(tmp_path / name), *more, *properties],
            capture_output=True,
            text=True,
            env=environment(),
        )
        assert done.returncode == 0, done.stderr
        assert [line for line in done.stderr.splitlines() if "effect" in line] == expected
        assert pairs_of(tmp_path / name) == [("a|b", 1)]


def test_an_order_of_its_own_is_refused_for_keys_in_groups(tmp_path):
    (tmp_path / "in.txt").write_text("a\n")
    with pytest.raises(local.JobError, match=r"need the comparator BytesWritable\$Comparator, not X"):
        run(
            write_script(tmp_path, GROUPED),
            tmp_path / "in.txt",
            tmp_path / "out",
            properties={"mapreduce.job.output.key.comparator.class": "X"},
        )


def test_a_variable_that_is_given_reaches_the_tasks_whatever_its_name(tmp_path, monkeypatch):
    names = "stream_url", "map_input_limit", "mapreduce_mine", "mapred_mine", "typedbytes_steps"
    (tmp_path / "in.txt").write_text("a\n")
    script = write_script(
        tmp_path,
        f"""
        import os
        from typedbytes import streaming

        before = [os.environ.get(name) for name in {names}]
        streaming.run(lambda key, value: [(before, [os.environ.get(name) for name in {names}])])
        """,
    )
    for name in names:
        monkeypatch.setenv(name, "of another task")
    environ = dict.fromkeys(names, "given")
    run(script, tmp_path / "in.txt", tmp_path / "out", environ=environ)
    assert pairs_of(tmp_path / "out") == [(["given"] * 5, ["given"] * 5)]
    run(script, tmp_path / "in.txt", tmp_path / "again")
    assert pairs_of(tmp_path / "again") == [([None] * 5, [None] * 5)]


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_variable_of_ours_does_not_change_what_a_pipe_or_a_job_writes(tmp_path, name):
    """It may be left over in the environment of a shell that a task has started."""
    (tmp_path / "in.txt").write_text("a\n")
    code = (
        "from typedbytes import streaming; streaming.run(lambda key, line: [(line, sorted(streaming.task().params))], "
        "lambda key, values: [(key, *values)])"
    )
    script = write_script(tmp_path, code)
    for value in ("1", str(script)):
        given = environment({name: value, "stream_map_input": "text"})
        done = subprocess.run([sys.executable, script, "map"], input=b"a\n", capture_output=True, env=given)
        expected = [] if PARAM not in name else [name[len(PARAM) :]]
        assert (done.returncode, done.stdout) == (0, tb.dumps("a") + tb.dumps(expected)), done.stderr
    command = [*RUN, "job.py", "in.txt", "-o", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, env=environment({name: "1"}))
    assert done.returncode == 0, done.stderr
    assert pairs_of(tmp_path / "out") == [("a", [])]


def test_a_parameter_and_a_property_of_its_name_are_refused(tmp_path):
    (tmp_path / "in.txt").write_text("a\n")
    script = write_script(tmp_path, GROUPED)
    said = "the parameter x is given twice, as the property {} too: leave one out"
    for name in ("typedbytes.param.x", "typedbytes_param_x"):
        with pytest.raises(ValueError, match=re.escape(said.format(name))):
            run(script, tmp_path / "in.txt", tmp_path / "out", params={"x": 1}, properties={name: 2})
        for command in (["run"], ["submit", "--no-bundle", "--dry-run"]):
            words = [*command, script, tmp_path / "in.txt", "-o", tmp_path / "out", "--param", "x=1", "-D", f"{name}=2"]
            done = subprocess.run(
                [sys.executable, "-m", "typedbytes", *map(str, words)],
                capture_output=True,
                text=True,
                env=environment(),
            )
            assert done.returncode == 64 and done.stderr.endswith(f"typedbytes {command[0]}: {said.format(name)}\n"), (
                done.stderr
            )
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


def test_standard_output_is_no_folder(tmp_path):
    (tmp_path / "in.txt").write_text("a\n")
    write_script(tmp_path, GROUPED)
    words = [sys.executable, "-m", "typedbytes", "submit", "--no-bundle", "--dry-run", "job.py", "in.txt", "-o", "-"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, env=environment())
    assert done.returncode == 64 and "--dry-run is for a job with --output" in done.stderr and not done.stdout
    with pytest.raises(local.OutputError, match="is a folder, not standard output"):
        local.run("cat", inputs=[(1, 2)], output="-")
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


BY_NAME = """
    import functools, sys
    from support.local_jobs import upper
    from typedbytes import local

    def doubled(function):
        @functools.wraps(function)
        def double(key, value):
            return [*function(key, value)] * 2
        return double

    @doubled
    def own(key, value):
        yield "own", value

    other = doubled(own)

    class Prefixed:
        @classmethod
        def named(cls, key, value):
            yield cls.__name__, value

        @doubled
        def twice(key, value):
            yield key, value

        def plain(self, key, value):
            yield key, value

    if __name__ == "__main__":
        local.run(eval(sys.argv[1]), inputs="in.txt", output="out", quiet=True)
"""


@pytest.mark.parametrize(
    "code", [functools.wraps(upper)(lambda key, value: []), Longest().reduce, "text".upper, str.upper]
)
def test_what_another_process_would_not_find_by_its_name_is_refused(tmp_path, code):
    (tmp_path / "in.txt").write_text("a\n")
    with pytest.raises(local.CommandError, match="another process"):
        local.run(code, inputs=tmp_path / "in.txt", output=tmp_path / "out", quiet=True)
    with pytest.raises(local.CommandError, match="another process"):
        local.run(upper, code, inputs=tmp_path / "in.txt", output=tmp_path / "out", quiet=True)
    assert os.listdir(tmp_path) == ["in.txt"]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("own", [("own", "a")] * 2),
        ("Prefixed.named", [("Prefixed", "a")]),
        ("Prefixed.twice", [(0, "a")] * 2),
        ("other", None),
        ("doubled(upper)", None),
        ("Prefixed().plain", None),
    ],
)
def test_code_in_the_program_itself_is_found_by_its_name(tmp_path, code, found):
    (tmp_path / "in.txt").write_text("a\n")
    script = write_script(tmp_path, BY_NAME)
    variables = environment({"PYTHONPATH": os.pathsep.join(sys.path)})
    done = subprocess.run([sys.executable, script, code], cwd=tmp_path, env=variables, capture_output=True, text=True)
    if found is None:
        assert "CommandError: another process" in done.stderr and not (tmp_path / "out").exists()
    else:
        assert done.returncode == 0, done.stderr
        assert pairs_of(tmp_path / "out") == found


@pytest.mark.parametrize("command", ["", "  ", [], ()])
def test_a_command_has_words(tmp_path, command):
    (tmp_path / "in.txt").write_text("a\n")
    for codes in (command,), (upper, command), (upper, "cat", command):
        with pytest.raises(local.CommandError, match="a command of no words"):
            local.run(*codes, inputs=tmp_path / "in.txt", output=tmp_path / "out", quiet=True)
    assert os.listdir(tmp_path) == ["in.txt"]


def test_properties_and_variables_may_be_numbers_and_paths(tmp_path):
    (tmp_path / "in.txt").write_text("a\n")
    code = "import os; from typedbytes import streaming; names = 'my_limit', 'LEVEL', 'FOLDER', 'BYTES'; "
    script = write_script(
        tmp_path,
        code + "streaming.run(lambda *pair: [([os.environ[each] for each in names], 1)], lambda *pair: [pair[:1] * 2])",
    )
    properties, environ = {"my.limit": 7, "mapreduce.job.reduces": 2}, {"LEVEL": 3, "FOLDER": tmp_path, "BYTES": b"x"}
    for name in ("out", "again"):
        result = run(script, tmp_path / "in.txt", tmp_path / name, properties=properties, environ=environ)
        assert result.nreducers == 2
        assert pairs_of(tmp_path / name) == [(["7", "3", str(tmp_path), "x"],) * 2]
    result = local.run(
        "cat", "cat", inputs=tmp_path / "in.txt", output=tmp_path / "commands", properties=properties, environ=environ
    )
    assert result.nreducers == 2


def test_a_property_with_reducers_needs_a_reducer(tmp_path):
    said = "the job has no reducer: give run() one, or leave out properties={'mapred.reduce.tasks': '2'}"
    with pytest.raises(ValueError, match=re.escape(said)):
        local.run("cat", inputs=[(1, 2)], output=tmp_path / "out", properties={"mapred.reduce.tasks": 2})
    assert os.listdir(tmp_path) == []
    assert (
        local.run("cat", inputs=[(1, 2)], output=tmp_path / "out", properties={"mapred.reduce.tasks": 0}).nreducers == 0
    )
