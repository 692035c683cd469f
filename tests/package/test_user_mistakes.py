"""What a newcomer gets wrong first: the message says what to do, and signatures show what is taken."""

import ast
import inspect
import io
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import typedbytes as tb
from support.public_classes import callables_of
from support.subprocess_runs import SECONDS, run_fresh
from typedbytes import block, columns, local, sequencefile, streaming
from typedbytes.streaming import testing

ROOT = Path(__file__).parents[2]
MODULES = [
    "", ".block", ".columns", ".errors", ".files", ".hadoop", ".legacy", ".local", ".sequencefile", ".sortkey",
    ".spark", ".streaming", ".streaming.lib", ".streaming.testing",
]  # fmt: skip


CALLABLES = {name: found for name, found in callables_of(MODULES) if type(found).__module__ != "operator"}


def test_every_public_callable_has_a_signature():
    assert len(CALLABLES) > 200
    without = []
    for name, found in CALLABLES.items():
        try:
            inspect.signature(found)
        except ValueError:
            without.append(name)
    assert without == []


def test_a_subclass_of_a_class_without_parameters_of_its_own_shows_its_own():
    class Mine(block.Command):
        def __init__(self, text, more):
            pass

    assert list(inspect.signature(Mine).parameters) == ["text", "more"]
    assert list(inspect.signature(block.Command).parameters) == ["text"]


THREE = tb.Encoder().encode_all(["a", 1, "b"])
ODD = (
    "input ends after a key, where its value should start: pairs are an even number of values "
    "(a Reader reads single ones) at offset 17, record 1"
)


@pytest.mark.parametrize(
    "use",
    [
        lambda: list(tb.PairReader(THREE)),
        lambda: list(tb.PairReader(io.BytesIO(THREE), raw=True)),
        lambda: list(tb.PairReader(THREE).groups()),
        lambda: tb.PairReader(THREE).skip(2),
        lambda: list(columns.read(THREE)),
    ],
)
def test_an_odd_number_of_values_is_not_pairs(use):
    with pytest.raises(tb.TruncatedError) as caught:
        use()
    assert str(caught.value) == ODD


def test_an_input_that_ends_elsewhere_is_described_as_before():
    for use in (
        lambda: tb.loads(b""),
        lambda: tb.Decoder().decode_from(b"\x02\1", 2),
        lambda: tb.skip(b""),
        lambda: tb.skip(b"\x02\1", 2),
        lambda: tb.skip(memoryview(THREE), len(THREE), dialect="hive"),
    ):
        with pytest.raises(tb.TruncatedError, match="^input ends where a value should start at offset"):
            use()


def test_a_container_in_itself():
    items: list = []
    items.append(items)
    with pytest.raises(tb.EncodeValueError, match="deeper than max_depth=256, or one holds itself, at"):
        tb.dumps(items)


TWO = tb.Encoder().encode_pairs([("a", 1), ("b", 2)])


@pytest.mark.parametrize("schema", [{"value": "long", "key": "string"}, {1: "long", 0: "string"}, ["string", "long"]])
def test_a_schema_in_each_form(schema):
    (batch,) = columns.read(tb.Encoder(int_width=64).encode_pairs([("a", 1)]), schema=schema)
    assert batch.schema == {"key": "string", "value": "long"}


@pytest.mark.parametrize(
    "schema, kind, message",
    [
        ("string", TypeError, "schema must be a list of 2 types or a dict, not the str 'string'"),
        ({0: "string", 2: "int"}, TypeError, "the columns of a schema have names or the numbers 0 to 1, not 0"),
        (["string", "int32"], ValueError,
         "'int32' is not a column type: byte, bool, int, long, float, double, short, bytes, string, date, "),
        (["string", "pickle"], ValueError, "ext<100> holds pickles"),
    ],
)  # fmt: skip
def test_a_schema_that_is_wrong(schema, kind, message):
    with pytest.raises(kind) as caught:
        columns.read(TWO, schema=schema)
    assert message in str(caught.value)


def test_a_class_that_is_nearly_one_of_hadoops(tmp_path):
    for how in ({"key_class": "IntWriteable"}, {"value_class": "IntWriteable"}):
        with pytest.raises(ValueError, match="unknown class 'IntWriteable': is it IntWritable"):
            sequencefile.Writer(tmp_path / "a", **how)
    assert not (tmp_path / "a").exists()
    sequencefile.Writer(io.BytesIO(), key_class="IntWriteable", encoders={"IntWriteable": bytes}).close()
    sequencefile.Writer(io.BytesIO(), key_class="org.me.IntWriteable").close()


@pytest.mark.parametrize("codec", ["Gzip", "GZIP", "gzip"])
def test_the_name_of_a_codec_in_either_case(codec):
    file = io.BytesIO()
    sequencefile.Writer(file, codec=codec).close()
    assert sequencefile.Reader(file.getvalue()).codec == "org.apache.hadoop.io.compress.GzipCodec"


def test_arrays_of_objects_are_refused():
    with pytest.raises(tb.EncodeTypeError):
        tb.dumps(numpy.array([object()]))


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_an_example_says_what_it_is(path):
    done = subprocess.run(
        [sys.executable, path, "--help"], capture_output=True, text=True, timeout=SECONDS, cwd=path.parent
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert ast.get_docstring(ast.parse(path.read_text())).partition("\n")[0][:40] in done.stdout


def test_an_array_without_numpy_is_kept_as_it_is():
    data = tb.dumps(numpy.arange(3))
    code = f"""
        import sys
        sys.modules["numpy"] = None
        import typedbytes as tb
        value = tb.loads({data!r})
        print(type(value).__name__, value.code, tb.dumps(value) == {data!r})
    """
    assert run_fresh(code) == "Ext 102 True"


@pytest.mark.parametrize(
    "module", ["None", "types.ModuleType('backports')"], ids=["no backports", "backports of others"]
)
def test_a_missing_library_has_its_whole_name(module):
    code = f"""
        import sys, types
        sys.modules["compression"] = None
        sys.modules["backports"] = {module}
        import typedbytes as tb
        from typedbytes import sequencefile
        for function in (lambda: tb.Writer("never.zst"), lambda: sequencefile.Writer("never", codec="zstd")):
            try:
                function()
            except ModuleNotFoundError as error:
                print(error.name, "needs the library backports.zstd: pip install 'typedbytes[zstd]'" in str(error))
    """
    assert run_fresh(code).split("\n") == ["backports.zstd True"] * 2


class Renamed:
    """A mapper and reducer with the methods that mrjob calls around them."""

    def map(self, key, value):
        yield key, value

    def reduce(self, key, values):
        yield from ((key, value) for value in values)

    def mapper_init(self):
        raise AssertionError

    def reducer_final(self):
        raise AssertionError


def test_methods_of_mrjob_are_not_left_out_unsaid():
    with pytest.raises(TypeError, match=r"has a method mapper_init\(\), which is not called: name it configure\(\)"):
        testing.call_map(Renamed, [(1, 2)])
    with pytest.raises(TypeError, match=r"has a method reducer_final\(\), which is not called: name it close\(\)"):
        testing.call_reduce(Renamed, [(1, 2)])


def test_a_function_is_no_step():
    with pytest.raises(TypeError, match=r"steps must hold Step\(mapper, reducer, combiner, ...\) objects, not <.*>"):
        streaming.run(steps=[str.upper])


@pytest.mark.parametrize("data", [b"SEQ", io.BytesIO(b"SEQ"), 0])
def test_read_takes_paths(data):
    with pytest.raises(
        TypeError, match=rf"sequencefile.read takes paths, not a {type(data).__name__}: sequencefile.open reads bytes"
    ):
        sequencefile.read(data)


def combine(key, values):
    yield key, sum(values)


LONELY = "combiner= needs reducer=: without reduce tasks no combiner is called"


def test_a_combiner_without_a_reducer_is_refused_where_a_job_is_given(tmp_path):
    for call in (
        lambda: streaming.run(str.upper, combiner=combine),
        lambda: streaming.Step(str.upper, combiner=combine),
        lambda: testing.run_job([], str.upper, combiner=combine),
        lambda: local.run(combine, combiner=combine, inputs="no such input", output=tmp_path / "out"),
        lambda: local.run("cat", combiner="cat", inputs="no such input", output=tmp_path / "out"),
    ):
        with pytest.raises(TypeError, match=LONELY):
            call()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("job", ["run(print, combiner=print)", "run(steps=[Step(print, combiner=print)])"])
@pytest.mark.parametrize(
    "words", [["run"], ["run", "--no-combiner"], ["submit", "--dry-run", "--no-bundle"]], ids=" ".join
)
def test_a_script_with_a_combiner_and_no_reducer_is_refused_before_it_starts(tmp_path, words, job):
    (tmp_path / "job.py").write_text(f"from typedbytes.streaming import Step, run\n{job}\n")
    (tmp_path / "in.txt").write_text("a\n")
    done = run_command(*words, "job.py", "in.txt", "-o", "out", cwd=tmp_path)
    assert done.returncode == 64 and LONELY in done.stderr.splitlines()[-1], done.stderr
    assert "map task" not in done.stderr and not (tmp_path / "out").exists()
    task = subprocess.run(
        [sys.executable, "job.py", "map"], input=b"", capture_output=True, cwd=tmp_path, timeout=SECONDS
    )
    assert task.returncode == 1
    assert task.stdout == b""
    assert task.stderr.decode().splitlines()[-1].startswith(f"TypeError: {LONELY}")


def run_command(*words, cwd):
    return subprocess.run(
        [sys.executable, "-m", "typedbytes", *words], capture_output=True, text=True, cwd=cwd, timeout=SECONDS
    )


WRONG_ARGUMENTS = [
    ("5", TypeError, "mapper is 5, which is not a function and has no method map()"),
    ("print, 'cat'", TypeError, "reducer is 'cat', which is not a function and has no method reduce()"),
    ("print, print, [print]", TypeError,
     "combiner is [<built-in function print>], which is not a function and has no method reduce()"),
    ("print, batch='no'", TypeError, "batch must be True or False, not 'no'"),
    ("print, print, group_by=0", TypeError, "group_by must be a function of a key, not 0"),
    ("print, max_bad='3'", TypeError, "max_bad must be a number of records or a share of them, not '3'"),
    ("print, max_bad=None", TypeError, "max_bad must be a number of records or a share of them, not None"),
    ("print, max_bad=-1", ValueError, "max_bad must be a number of records or a share of them, not -1"),
    ("print, max_bad=float('nan')", ValueError, "max_bad must be a number of records or a share of them, not nan"),
    ("print, max_bad=1.5", ValueError,
     "max_bad=1.5 is a share of the records, which is at most 1.0: for a number of records give an int"),
    ("print, read_options=3", TypeError, "read_options must be a dict of keywords for PairReader, not 3"),
    ("print, read_options={'bogus': 1}", TypeError,
     "read_options: PairReader() got an unexpected keyword argument 'bogus'"),
    ("print, read_options={'dialect': 'x'}", ValueError, 'read_options: dialect must be "hadoop" or "hive", not \'x\''),
    ("print, read_options={'unicode_errors': 'x'}", LookupError, "read_options: unknown error handler name 'x'"),
    ("print, write_options=[1]", TypeError, "write_options must be a dict of keywords for PairWriter, not [1]"),
    ("print, write_options={'raw': 1}", TypeError,
     "write_options: PairWriter() got an unexpected keyword argument 'raw'"),
    ("print, write_options={'default': 3}", TypeError, "write_options: default must be callable, not int"),
    ("print, batch=True, read_options={'raw': 1}", TypeError,
     "read_options: columns.read() got an unexpected keyword argument 'raw'"),
    ("print, batch=True, read_options=3", TypeError, "read_options must be a dict of keywords for columns.read, not 3"),
    ("print, argv='map'", TypeError, "argv must be a list of words as sys.argv is, not 'map'"),
    ("print, argv=['job.py', 1]", TypeError, "argv must be a list of words as sys.argv is, not ['job.py', 1]"),
    ("steps=Step(print)", TypeError, "steps must be a list of at least one Step(...)"),
    ("steps=5", TypeError, "steps must be a list of at least one Step(...)"),
    ("steps=[Step(print, bogus=1)]", TypeError, "got an unexpected keyword argument 'bogus'"),
    ("print, bogus=1", TypeError, "got an unexpected keyword argument 'bogus'"),
]  # fmt: skip


@pytest.mark.parametrize(
    "arguments, kind, message", WRONG_ARGUMENTS, ids=[arguments for arguments, _, _ in WRONG_ARGUMENTS]
)
def test_a_wrong_argument_of_run_is_named_where_it_is_given(arguments, kind, message):
    with pytest.raises(kind) as caught:
        eval(f"run({arguments})", {"run": streaming.run, "Step": streaming.Step})
    assert message in str(caught.value)
    assert [each.name for each in caught.traceback[2:]] in ([], ["run"])  # no line of the checks


def test_right_arguments_of_steps_of_any_kind():
    class Mapper:
        map = print

    streaming.Step(
        Mapper, print, print, batch=numpy.True_, read_options={"batch_rows": 10}, write_options={"buffer_size": 10}
    )
    streaming.Step(Mapper(), max_bad=numpy.int64(3), read_options={"raw": True, "buffer_size": 10})
    streaming.Step(print, max_bad=1.0, group_by=str)


def test_a_batch_shows_its_rows_and_columns():
    (batch,) = columns.read(TWO)
    assert repr(batch) == "Batch(rows=2, schema={'key': 'string', 'value': 'int'})"
    assert (
        repr(next(columns.read(tb.dumps((1, 2.5)), pairs=False)))
        == "Batch(rows=1, schema={'value': 'vector<int, double>'})"
    )


@pytest.mark.parametrize("kind", [sequencefile.Reader, sequencefile.Writer, columns.Batch, columns.BatchReader])
def test_every_public_attribute_has_a_docstring(kind):
    assert [name for name in dir(kind) if not name.startswith("_") and not inspect.getdoc(getattr(kind, name))] == []


def test_sources_that_are_not_built_say_so(tmp_path):
    """In a checkout, Python finds these before what pip has installed."""
    shutil.copytree(Path(tb.__file__).parent, tmp_path / "typedbytes", ignore=shutil.ignore_patterns("*.so", "*.pyd"))
    done = subprocess.run(
        [sys.executable, "-c", "import typedbytes"], cwd=tmp_path, stderr=subprocess.PIPE, text=True, timeout=SECONDS
    )
    assert done.returncode == 1
    assert "No module named 'typedbytes._core'" in done.stderr
    assert f"{tmp_path / 'typedbytes'} is not built" in done.stderr
    assert "run Python in another folder" in done.stderr
