"""Scripts of mrjob run unchanged, and print what the original printed: expect.py says how that was found."""

import bz2
import functools
import gzip
import json
import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import typedbytes
from support.streaming_support import environment, run_module

HERE = Path(__file__).parent
CASES = json.loads((HERE / "expected.json").read_text())["cases"]
NAMES = [f"{case['script'][:-3]}{''.join(case['words'][-1:])}" for case in CASES]


run_front = functools.partial(run_module, "typedbytes.fronts", PYTHONHASHSEED="0")


def lay_out(folder, case):
    """Write the input of a case."""
    (folder / "in").write_bytes(case["text"].encode("utf-8", "surrogateescape"))
    (folder / "STOP").write_text("to be\n")
    return HERE / "scripts" / case["script"]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_script_prints_what_it_printed(tmp_path, case):
    script = lay_out(tmp_path, case)
    output, _ = run_front(tmp_path, script, *case["words"], "in", "--no-conf", "-q")
    assert output.decode("latin-1") == case["output"].replace(r"\x80\x04", rf"\x80\x{pickle.DEFAULT_PROTOCOL:02}")


@pytest.mark.parametrize("number", [0, 2, 4])
def test_the_runner_local_gives_the_same(tmp_path, number):
    case = CASES[number]
    script = lay_out(tmp_path, case)
    output, _ = run_front(tmp_path, script, "-r", "local", *case["words"], "in", "--no-conf", "-q")
    assert output.decode("latin-1") == case["output"]


@pytest.mark.parametrize("words", [["run", "--inline"], ["run"]])
def test_the_command_runs_the_script_as_mrjobs(tmp_path, words):
    case = CASES[1]
    script = lay_out(tmp_path, case)
    command = [sys.executable, "-m", "typedbytes", *words, "--as", "mrjob", "--quiet", script, "in"]
    arguments = [f"--arg={each}" for each in case["words"]]
    done = subprocess.run([*command, *arguments], cwd=tmp_path, env=environment(), capture_output=True)
    assert done.stdout.decode("latin-1") == case["output"], done.stderr.decode()


def test_one_changed_line_is_the_other_way(tmp_path):
    case = CASES[0]
    text = lay_out(tmp_path, case).read_text().replace("from mrjob.job", "from typedbytes.fronts.mrjob.job")
    (tmp_path / "words.py").write_text(text)
    for words in ([], ["-r", "local"]):
        done = subprocess.run(
            [sys.executable, "words.py", "in", "--no-conf", "-q", *words],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
        )
        assert done.stdout.decode("latin-1") == case["output"], done.stderr.decode()


def test_the_outputs_of_steps_are_kept(tmp_path):
    case = CASES[2]
    script = lay_out(tmp_path, case)
    run_front(tmp_path, script, "in", "-q", "--no-conf", "-o", "out", "--step-output-dir", "steps")
    assert (tmp_path / "out" / "part-00000").read_bytes().decode("latin-1") == case["output"]
    assert sorted(os.listdir(tmp_path / "steps" / "0000")) == ["_SUCCESS", "part-00000"]


def test_files_may_be_urls(tmp_path):
    case = CASES[4]
    script = lay_out(tmp_path, case)
    (tmp_path / "STOP").rename(tmp_path / "words")
    stop, path = f"file://{tmp_path}/words#STOP", f"file://{tmp_path}/in"
    for runner in ("inline", "local"):
        output, _ = run_front(tmp_path, script, "-r", runner, "--stop", stop, path, "--no-conf", "-q")
        assert output.decode("latin-1") == case["output"]


def test_standard_input_is_the_input_without_files(tmp_path):
    case = CASES[0]
    script = lay_out(tmp_path, case)
    output, _ = run_front(tmp_path, script, "--no-conf", "-q", stdin=case["text"].encode())
    assert output.decode("latin-1") == case["output"]


def test_tasks_of_mrjobs_own_words(tmp_path):
    """Scripts are tried as `job.py --mapper < in | sort | job.py --reducer`."""
    case = CASES[1]
    script = lay_out(tmp_path, case)
    mapped, said = run_front(tmp_path, script, "--mapper", stdin=case["text"].encode())
    assert said.count("reporter:counter:lines,read,1\n") == case["text"].count("\n")
    lines = b"".join(sorted(mapped.splitlines(True)))
    output, _ = run_front(tmp_path, script, "--reducer", *case["words"], stdin=lines)
    assert output.decode("latin-1") == case["output"]


def test_an_error_of_the_job_is_its_own(tmp_path):
    script = tmp_path / "job.py"
    script.write_text(
        "from mrjob.job import MRJob\n\nclass J(MRJob):\n    def mapper(self, _, line):\n"
        "        yield 1 / 0, 1\n\nif __name__ == '__main__':\n    J.run()\n"
    )
    (tmp_path / "in").write_text("x\n")
    output, said = run_front(tmp_path, script, "in", "--no-conf", code=1)
    assert output == b""
    assert said.startswith(f'Traceback (most recent call last):\n  File "{script}", line 5, in mapper\n')
    assert said.endswith(
        "ZeroDivisionError: division by zero\nStep 1 of 1 failed: the map task 0 failed: "
        "ZeroDivisionError: division by zero\n"
    )
    _, said = run_front(tmp_path, script, "in", "--no-conf", "-r", "local", code=1)
    assert "ZeroDivisionError: division by zero" in said
    assert "Step 1 of 1 failed" in said
    for inline in ([], ["--inline"]):
        _, said = run_module("typedbytes", tmp_path, "run", "--as", "mrjob", *inline, script, "in", code=1)
        assert "typedbytes: called:" not in said
        for quiet in ("-q", "--quiet"):
            _, said = run_module("typedbytes", tmp_path, "run", "--as", "mrjob", *inline, quiet, script, "in", code=1)
            assert f'File "{script}", line 5, in mapper' in said


def test_an_option_of_the_script_among_those_of_the_command(tmp_path):
    words = ["run", "--as", "mrjob", "job.py", "in.txt", "--least", "5", "--skip=a b", "-x"]
    assert run_module("typedbytes", tmp_path, *words, code=64)[1] == (
        "typedbytes run: unrecognized arguments: --least 5 --skip=a b -x; an option of the script is given as "
        "--arg=--least=5 '--arg=--skip=a b' --arg=-x, and python -m typedbytes.fronts job.py takes the script's own "
        "command line (see typedbytes run --help)\n"
    )


@pytest.mark.parametrize(
    "start", ["-m typedbytes run", "-m typedbytes run --inline", "-m typedbytes run --as mrjob", "-m typedbytes.fronts"]
)
def test_a_script_of_python_2(tmp_path, start):
    """One line says where it is not Python 3, and what changes it."""
    (tmp_path / "old.py").write_text("from mrjob.job import MRJob\n\nprint MRJob\n")
    (tmp_path / "in").write_text("x\n")
    _, module, *words = start.split()
    _, said = run_module(module, tmp_path, *words, "old.py", "in", code=64 if words else 1)
    assert said.count("\n") == 1 and "old.py is not Python 3." in said and "(old.py, line 3)" in said
    assert said.endswith("; where it is Python 2, 2to3 -w, which comes with Python up to 3.12, changes the syntax\n")


def test_options_of_mrjob_conf(tmp_path):
    script = tmp_path / "job.py"
    script.write_text(
        "import os\nfrom mrjob.job import MRJob\nfrom mrjob.compat import jobconf_from_env\n\nclass J(MRJob):\n"
        "    JOBCONF = {'my.own': 'class'}\n"
        "    def mapper(self, _, line):\n"
        "        yield os.environ['MARK'], [jobconf_from_env('my.conf'), jobconf_from_env('my.own')]\n\n"
        "if __name__ == '__main__':\n    J.run()\n"
    )
    (tmp_path / "in").write_text("x\n")
    conf = {"runners": {"inline": {"cmdenv": {"MARK": "!"}, "jobconf": {"my.conf": "file", "my.own": "file"}}}}
    (tmp_path / "mrjob.conf").write_text(json.dumps(conf))
    output, _ = run_front(tmp_path, script, "in", "-q", MRJOB_CONF=str(tmp_path / "mrjob.conf"))
    assert output == b'"!"\t["file", "class"]\n'


def test_null_in_mrjob_conf_unsets_an_option(tmp_path):
    """In the file itself, or one of a file that it includes."""
    body = """
    def mapper(self, _, line):
        from mrjob.compat import jobconf_from_env
        import os
        yield None, [os.environ.get("MARK"), os.environ.get("OTHER"), jobconf_from_env("my.own"), self.beside()]

    def beside(self):
        import os
        return sorted(set(os.listdir()) & {"a", "b"})
    """
    script = written(tmp_path, body, a="", b="")
    own = {"cmdenv": {"MARK": "!", "OTHER": "?"}, "jobconf": {"my.own": "x"}, "upload_files": "a", "label": "x"}
    (tmp_path / "base.conf").write_text(json.dumps({"runners": {"inline": own, "local": None}}))
    own = {"cmdenv": {"MARK": None, "NONE": None}, "jobconf": {"my.own": None}, "upload_files": ["b"], "label": 5}
    conf = {"include": "base.conf", "runners": {"inline": {**own, "libjars": None, "setup": None}}}
    (tmp_path / "mrjob.conf").write_text(json.dumps(conf))
    output, _ = run_front(tmp_path, script, "in", "-q", "-c", "mrjob.conf")
    assert output == b'null\t[null, "?", null, ["a", "b"]]\n' * 3


@pytest.mark.parametrize("data, said", [
    (b"{bad", "it is neither JSON nor YAML: "),
    (b"a: [\x00]", "it is neither JSON nor YAML: "),
    (b"a: !other b", "it is neither JSON nor YAML: "), (b"!clear [a]: b", "it is neither JSON nor YAML: "),
    (b"!clear {a: b}", "it must have names with values, not ClearedValue({'a': 'b'})"),
    (b"include: !clear x", "include must be a path or a list of them, not ClearedValue('x')"),
    (b"a: &a [*a]", "it is neither JSON nor YAML: "),
    (b"[" * 100_000, "it is neither JSON nor YAML: "),
    (b"\xff\xfe", "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
    (b"[1,2]", "it must have names with values, not [1, 2]"),
    (b'"x"', "it must have names with values, not 'x'"),
    (b'{"runners":[1]}', "runners must have names with values, not [1]"),
    (b'{"runners":{"inline":5}}', "runners.inline must have names with values, not 5"),
    (b'{"runners":{"inline":{"jobconf":[1]}}}', "jobconf must have names with values, not [1]"),
    (b'{"runners":{"inline":{"cmdenv":"A=b"}}}', "cmdenv must have names with values, not 'A=b'"),
    (b'{"runners":{"inline":{"upload_files":[5]}}}', "upload_files must be a path or a list of them, not [5]"),
    (b'{"include":5}', "include must be a path or a list of them, not 5"),
])  # fmt: skip
@pytest.mark.parametrize("include", [False, True])
def test_what_is_wrong_with_mrjob_conf_is_said_in_one_line(tmp_path, data, said, include):
    pytest.importorskip("yaml")
    (tmp_path / "in").write_text("to be\n")
    (tmp_path / "bad.conf").write_bytes(data)
    (tmp_path / "mrjob.conf").write_text('{"include": ["bad.conf"]}')
    conf = "mrjob.conf" if include else "bad.conf"
    output, found = run_front(tmp_path, HERE / "scripts" / "mr_words.py", "in", "-c", conf, code=1)
    path = tmp_path / "bad.conf" if include else "bad.conf"
    assert output == b"" and found.count("\n") == 1
    assert found.startswith(f"the configuration {path} cannot be read: {said}")


REDUCES = "the property mapreduce.job.reduces is a number, not 'x'\n"
NAME = "a name in environment must not be empty, nor have = or NUL: ''\n"


@pytest.mark.parametrize("words, conf, said", [
    ([], {"jobconf": {"mapreduce.job.reduces": "x"}}, REDUCES), (["-D", "mapreduce.job.reduces=x"], {}, REDUCES),
    ([], {"cmdenv": {"": "c"}}, NAME), (["--cmdenv", "=x"], {}, NAME),
])  # fmt: skip
@pytest.mark.parametrize("runner", ["inline", "local"])
def test_a_property_or_variable_that_no_job_takes_is_said_in_one_line(tmp_path, runner, words, conf, said):
    (tmp_path / "in").write_text("to be\n")
    (tmp_path / "mrjob.conf").write_text(json.dumps({"runners": {runner: conf}}))
    words = ["in", "-r", runner, "-c", "mrjob.conf", *words]
    found = run_front(tmp_path, HERE / "scripts" / "mr_words.py", *words, code=1)
    assert found == (b"", said)


def test_help_has_the_options_of_the_job(tmp_path):
    output, _ = run_front(tmp_path, HERE / "scripts" / "mr_words.py", "--help")
    assert b"--least LEAST" in output
    assert b"leave out rarer words" in output
    _, said = run_front(tmp_path, HERE / "scripts" / "mr_words.py", "--least", "few", code=2)
    assert "argument --least: invalid int value: 'few'" in said


def test_a_runner_inside_a_program(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["test"])
    from typedbytes.fronts.mrjob.job import MRJob

    class Longest(MRJob):
        def mapper(self, _, line):
            self.increment_counter("lines", "read")
            yield None, len(line)

        def reducer(self, key, lengths):
            yield key, max(lengths)

    job = Longest(["--no-conf"]).sandbox(stdin=[b"one\n", b"three\n"])
    with job.make_runner() as runner:
        runner.run()
        assert list(job.parse_output(runner.cat_output())) == [(None, 5)]
        assert runner.counters() == [{"lines": {"read": 2}}]


def test_a_mapper_of_whole_files(tmp_path):
    (tmp_path / "in").mkdir()
    for name, text in (("a", "x\ny\n"), ("b", "y\n")):
        (tmp_path / "in" / name).write_text(text)
    output, _ = run_front(tmp_path, HERE / "scripts" / "mr_whole_files.py", "in", "-q", "--no-conf")
    assert output == b'"x"\t[["a", "a"]]\n"y"\t[["a", "a"], ["b", "b"]]\n'


def test_whole_files_are_named_by_the_command_line_of_the_library(tmp_path):
    (tmp_path / "in").write_text("a line\n")
    command = ["run", "--as", "mrjob", "--quiet", HERE / "scripts" / "mr_whole_files.py", "in"]
    done = subprocess.run(
        [sys.executable, "-m", "typedbytes", *command], cwd=tmp_path, env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "mapper_raw needs the name of a file on each line, not 'a line': start the script by" in done.stderr


def test_lines_end_where_a_file_ends():
    from typedbytes.fronts.mrjob.util import to_lines

    assert list(to_lines([b"a\nb", b"", b"c", b"d\n", b"", b"e"])) == [b"a\n", b"b", b"cd\n", b"e"]


COLLECTED = """
import os
from mrjob.job import MRJob

class Collected(MRJob):
    def mapper(self, _, line):
        yield "all", line

    def reducer(self, key, values):
        yield key, list(values)

if __name__ == "__main__":
    Collected.run()
"""


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_values_come_in_the_order_of_the_inputs(tmp_path, runner):
    """The original merges the outputs of its map tasks in the order in which the inputs were named."""
    (tmp_path / "job.py").write_text(COLLECTED)
    (tmp_path / "z").write_text("first\n")
    (tmp_path / "a").write_text("second, and longer\n")
    output, _ = run_front(tmp_path, "job.py", "-r", runner, "--no-conf", "-q", "z", "a")
    assert output == b'"all"\t["first", "second, and longer"]\n'


def test_messages_and_paths_are_mrjobs(tmp_path):
    (tmp_path / "job.py").write_text(COLLECTED)
    (tmp_path / "in").write_text("x\n")
    (tmp_path / "out").mkdir()
    output, said = run_front(tmp_path, "job.py", "--no-conf", "in", "--output-dir", "out")
    assert output == b"" and said == "job output is in out\n"
    assert run_front(tmp_path, "job.py", "--no-conf", "in")[1] == ""  # what is temporary is removed
    assert (tmp_path / "out" / "part-00000").read_text() == '"all"\t["x"]\n'
    _, more = run_front(tmp_path, "job.py", "--no-conf", "-v", "in")
    assert "counters: [{}]" in more
    _, said = run_front(tmp_path, "job.py", "--no-conf", "none", code=1)
    assert said == "Input path none does not exist!\n"


def test_files_of_a_method_may_be_one_path_or_none(tmp_path):
    (tmp_path / "job.py").write_text(
        COLLECTED.replace("def mapper", "def files(self):\n        return 'stop'\n\n    def mapper")
        .replace("def mapper", "def archives(self):\n        return None\n\n    def mapper")
        .replace('yield "all", line', "yield sorted(os.listdir()), open('stop').read()")
    )
    (tmp_path / "in").write_text("x\n")
    (tmp_path / "stop").write_text("!")
    output, _ = run_front(tmp_path, "job.py", "--no-conf", "-q", "in")
    assert output == b'["stop"]\t["!"]\n'


@pytest.mark.parametrize("value", [
    None, True, -1, 2**70, 1.5, -1e-300, 1 + 2j, -0.5 - 1j, "caf\xe9'\"\n\x00\t", b"0\xa2", (), (1,), ((1, 2), [3, {}]),
    {"foo": {"bar": 3}, (1, "x"): None}, {1, "a"}, set(), frozenset(), frozenset({1}), bytearray(b"\xff"), range(3),
    range(1, 9, -2),
])  # fmt: skip
def test_the_protocol_of_reprs_reads_what_it_wrote(value):
    from typedbytes.fronts.mrjob.protocol import ReprProtocol

    line = ReprProtocol().write(value, [value])
    assert line == f"{value!r}\t{[value]!r}".encode()
    key, values = ReprProtocol().read(line + b"\t")
    assert (key, values, type(key)) == (value, [value], type(value))


@pytest.mark.parametrize("text, value", [
    (" {1:2 , 'a' :[ ],}", {1: 2, "a": []}), ("(1)", 1), ("( (2),)", (2,)), ("u'a'", "a"), ("- 1", -1),
    ("frozenset([1])", {1}), ("1, 2", (1, 2)), ("xrange(2)", range(2)), ("0x1F", 31), ("1_000", 1000),
    ("float('-inf')", float("-inf")), ("complex('1+2j')", 1 + 2j),
])  # fmt: skip
def test_literals_of_other_spellings(text, value):
    from typedbytes.fronts.mrjob.util import safeeval

    assert safeeval(text) == safeeval(text.encode()) == value


def test_an_expression_may_use_names_that_the_caller_gives():
    from typedbytes.fronts.mrjob.util import safeeval

    assert safeeval("abs(a)", globals={"abs": abs}, locals={"a": -0.2}) == 0.2


CODE = ["().__class__", "[].__class__.__mro__[1].__subclasses__()", "[c for c in (1,)]", "(lambda: 1)()",
        "1 if 1 else 2", "f'{1}'", "9**9**9", "'a' * 9", "1 + 1", "set(range(9))", "bytearray(9)", "frozenset('ab')",
        "set()()", "[*()]", "{**{}}", "(x := 1)", "'a'.join", "(1)[0]", "module.Point(2, 3)"]  # fmt: skip
FAULTY = ["", " ", "(", ")", "[1", "[1 2]", "[,]", "{1: 2, 3}", "{1, 2: 3}", "{1:}", "{[]}", "{[]: 1}", "1 2", "'a",
          "'a' 'b'", "'\\x'", "b'\xe9'", "1e", "07", "0xg", "1\0", "#", "1;", "nul l", "{@#$@#!^&*$%^",
          "1" * 5000 + "x", b"'\xff'"]  # fmt: skip
DEEP = [start * 100_000 + "1" + end * 100_000 for start, end in ("()", "[]", ("{1:", "}"), ("-", ""), ("not ", ""),
        ("1+", ""), ("set(", ")"), ("", "()"), ("", "[0]"), ("", ".a"), ("lambda:", ""), ("1 if 1 else ", ""),
        ("'a'", ""), (" ", "#"))]  # fmt: skip


@pytest.mark.parametrize("text", [*CODE, *FAULTY, *DEEP], ids=lambda text: repr(text[:16]))
def test_data_runs_no_code_and_a_fault_of_it_is_an_error(text):
    from typedbytes.fronts.mrjob.util import safeeval

    with pytest.raises(ValueError):
        safeeval(text)


@pytest.mark.parametrize("text", ["open('/tmp')", "eval('1')", "__import__('os')", "[Point(2, 3)]", "nan"])
def test_only_known_names_are_called(text):
    from typedbytes.fronts.mrjob.util import safeeval

    with pytest.raises(NameError):
        safeeval(text)


def written(folder, body, **files):
    """Write a script with a class of this body, and its files; return its path."""
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "in").write_text("b 2\na 1\nb 1\n")
    script = folder / "job.py"
    script.write_text(
        "import mrjob\nfrom mrjob.job import MRJob\nfrom mrjob.step import MRStep\n\nclass Job(MRJob):\n"
        f"{textwrap.indent(textwrap.dedent(body), '    ')}\nif __name__ == '__main__':\n    Job.run()\n"
    )
    return script


WAYS = {"inline": ["-r", "inline"], "local": ["-r", "local"], "run": [], "run inline": ["--inline"]}


def output_of(way, script, *own):
    """Return what a script with options of its own prints for the file "in"."""
    if "run" in way:
        words = ["run", "--as", "mrjob", "--quiet", *WAYS[way], script, "in", *(f"--arg={each}" for each in own)]
        return run_module("typedbytes", script.parent, *words)[0]
    return run_front(script.parent, script, *own, "in", *WAYS[way], "--no-conf", "-q")[0]


@pytest.mark.parametrize("way", WAYS)
def test_a_comparator_of_a_step_is_for_hadoop(tmp_path, way):
    """As one of the whole job is: here, keys have the order of their lines."""
    script = written(
        tmp_path,
        """
        SORT_VALUES = True

        def steps(self):
            comparator = "org.apache.hadoop.mapred.lib.KeyFieldBasedComparator"
            conf = {"mapreduce.job.output.key.comparator.class": comparator}
            return [MRStep(mapper=self.pairs, reducer=self.lists, jobconf=conf)]

        def pairs(self, _, line):
            key, value = line.split()
            yield key, int(value)

        def lists(self, key, values):
            yield key, list(values)
        """,
    )
    assert output_of(way, script) == b'"a"\t[1]\n"b"\t[1, 2]\n'


@pytest.mark.parametrize("way", WAYS)
def test_a_number_of_reducers_is_not_for_a_job_without_one(tmp_path, way):
    body = 'JOBCONF = {"mapreduce.job.reduces": 2}\n\ndef mapper(self, _, line):\n    yield line[0], line[2]\n'
    assert output_of(way, written(tmp_path, body)) == b'"b"\t"2"\n"a"\t"1"\n"b"\t"1"\n'


@pytest.mark.parametrize("way", WAYS)
def test_a_file_option_is_read_wherever_the_script_reads_it(tmp_path, way):
    """Where it loads its options, too; a file of that name in the current folder is another one."""
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "n").write_text("3")
    body = """
    def configure_args(self):
        super().configure_args()
        self.add_file_arg("--nsteps")

    def load_args(self, args):
        super().load_args(args)
        with open(self.options.nsteps) as file:
            self.nsteps = int(file.read())

    def steps(self):
        return [MRStep(mapper=self.longer)] * self.nsteps

    def longer(self, _, text):
        yield None, text + "+"
    """
    output = output_of(way, written(tmp_path, body, n="1"), "--nsteps", "below/n")
    assert output.splitlines()[0] == b'null\t"b 2+++"'


def test_options_are_combined_by_names_of_mrjob_conf(tmp_path):
    """Which jobs find as mrjob.conf though they import only mrjob.job."""
    body = """
    def jobconf(self):
        return mrjob.conf.combine_dicts(super().jobconf(), {"my.own": "yes"})

    def mapper(self, _, line):
        from mrjob.compat import jobconf_from_env
        yield None, jobconf_from_env("my.own")
    """
    output, _ = run_front(tmp_path, written(tmp_path, body), "in", "--no-conf", "-q")
    assert output == b'null\t"yes"\n' * 3


@pytest.mark.parametrize("sorts_values", ["False", "True"])
@pytest.mark.parametrize("where", [["--reducers", "0"], ["-D", "mapreduce.job.reduces=0"], []], ids=" ".join)
def test_a_job_without_reduce_tasks_writes_the_lines_of_its_mapper(tmp_path, where, sorts_values):
    """The command line may say that there are none, or the class."""
    of_class = f"    JOBCONF = {{'mapreduce.job.reduces': {2 if where else 0}}}\n"
    (tmp_path / "job.py").write_text(
        COLLECTED.replace("(MRJob):\n", f"(MRJob):\n    SORT_VALUES = {sorts_values}\n{of_class}")
    )
    (tmp_path / "in").write_text("to be\nor\n")
    expected = b'"all"\t"to be"\n"all"\t"or"\n'
    if "--reducers" not in where:
        for runner in ("inline", "local"):
            assert run_front(tmp_path, "job.py", "-r", runner, "--no-conf", "-q", "in", *where)[0] == expected
    for inline in ([], ["--inline"]):
        words = ["run", "--as", "mrjob", "-q", *inline, "job.py", "in", *where]
        assert run_module("typedbytes", tmp_path, *words)[0] == expected


@pytest.mark.parametrize("words, expected", [
    (["--output-format", "json"], b'{"key": "be", "value": 2}\n{"key": "to", "value": 1}\n'),
    (["--output-format", "csv"], b"key,value\nbe,2\nto,1\n"),
    (["--output-format", "text"], b'"be"\t2\n"to"\t1\n'),
    (["-o", "-"], typedbytes.dumps("be") + typedbytes.dumps(2) + typedbytes.dumps("to") + typedbytes.dumps(1)),
])  # fmt: skip
def test_another_format_of_the_output_gets_keys_and_values(tmp_path, words, expected):
    """Of the protocol of the output; steps exchange lines all the same."""
    (tmp_path / "job.py").write_text(
        COLLECTED.replace("    def reducer(self, key, values):\n        yield key, list(values)", STEPS)
    )
    (tmp_path / "in").write_text("to\nbe\nbe\n")
    output, _ = run_module("typedbytes", tmp_path, "run", "--as", "mrjob", "-q", *words, "job.py", "in")
    assert output == expected


STEPS = """    def steps(self):
        from mrjob.step import MRStep
        return [MRStep(mapper=self.mapper), MRStep(mapper=lambda _, line: [(line, 1)]), MRStep(reducer=self.reducer)]

    def reducer(self, key, values):
        yield key, sum(values)"""


@pytest.mark.parametrize("command", ["run", "submit"])
@pytest.mark.parametrize("word, message", [
    ("--param=min_least=2", "a script of mrjob gets no --param: give its own options by --arg, as in "
                            "--arg=--min-least=2\n"),
    ("--arg=--least 2", "--arg='--least 2' is not an option of "), ("--arg=2", "--arg='2' is not an option of "),
])  # fmt: skip
def test_options_that_the_script_would_not_get_are_refused(tmp_path, command, word, message):
    (tmp_path / "in").write_text("to be\n")
    words = [command, "--as", "mrjob", HERE / "scripts" / "mr_words.py", "in", "-o", "out", word]
    _, said = run_module("typedbytes", tmp_path, *words, code=64)
    assert said.startswith(f"typedbytes {command}: {message}") and said.count("\n") == 1


@pytest.mark.parametrize("words, said", [
    (["in", "--setup", "x"], "--setup is not supported: a command before each task"),
    (["in", "--py-files", "x.py"], "--py-files is not supported: give the modules with --files"),
    (["in", "-r", "emr"], "-r emr is not here: typedbytes submit --target emr prints the job for it"),
    (["in", "-c", "none.conf"], "the configuration none.conf cannot be read: No such file or directory"),
    (["in", "-o", "out"], "Step 1 of 1 failed: the output out already exists"),
    (["in", "-o", "out", "-r", "local"], "Step 1 of 1 failed: the output out already exists"),
    (["in", "-r", "hadoop"], "Step 1 of 1 failed: there is no Hadoop here: put its bin folder, with the command "
                             "hadoop, on PATH or its home into HADOOP_HOME"),
])  # fmt: skip
def test_what_is_wrong_with_a_command_line_is_said_in_one_line(tmp_path, monkeypatch, words, said):
    """In the words of that command line."""
    monkeypatch.delenv("HADOOP_HOME", raising=False)
    (tmp_path / "in").write_text("to be\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "part-00000").touch()
    variables = {"PATH": str(tmp_path), "MRJOB_CONF": "/dev/null"}
    output, found = run_front(tmp_path, HERE / "scripts" / "mr_words.py", *words, code=1, **variables)
    assert (output, found) == (b"", f"{said}\n")


def test_a_script_is_the_first_word(tmp_path):
    output, _ = run_front(tmp_path, "--help")
    assert output.startswith(b"usage: python -m typedbytes.fronts SCRIPT [ARGUMENT...]\n")
    for words in ([], ["-r", "local", "job.py"]):
        assert run_front(tmp_path, *words, code=1) == (b"", output.decode())
    assert run_front(tmp_path, "nix.py", "in", code=1) == (b"", "there is no script nix.py\n")


@pytest.mark.parametrize("way", ["inline", "local", "run", "run inline"])
def test_what_is_not_a_pair_is_shown_with_its_line(tmp_path, way):
    script = written(tmp_path, "def mapper(self, _, line):\n    yield line[:2], 1\n    yield line\n")
    said = failure_of(way, script)
    wanted = "the mapper yielded 'b 2' (job.py, line 8): a pair of a key and a value is expected\n"
    assert said.endswith(wanted) and "Traceback" not in said
    assert way != "inline" or said == wanted


def failure_of(way, script):
    """Return what is said of a script that fails on the file "in"."""
    if "run" in way:
        return run_module("typedbytes", script.parent, "run", "--as", "mrjob", *WAYS[way], script, "in", code=1)[1]
    return run_front(script.parent, script, "in", *WAYS[way], "--no-conf", code=1)[1]


@pytest.mark.parametrize("command", ["run", "submit"])
@pytest.mark.parametrize("text, said", [
    ("class Job(MRJob):\n    pass\n", "job.py ends without a call of Job.run()\n"),
    ("import os\nos.environ['NONE']\n", "    os.environ['NONE']\n", ),
    ("import os\nos.environ['NONE']\n", "job.py fails before it reads any input: KeyError: 'NONE'\n"),
])  # fmt: skip
def test_a_script_that_starts_no_job(tmp_path, command, text, said):
    (tmp_path / "job.py").write_text(f"from mrjob.job import MRJob\n{text}")
    (tmp_path / "in").write_text("to be\n")
    assert said in run_module("typedbytes", tmp_path, command, "--as", "mrjob", "job.py", "in", "-o", "out", code=64)[1]


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_is_named_twice_is_one(tmp_path, way):
    """By the class, and by the command line."""
    body = "FILES = ['stop']\n\ndef mapper(self, _, line):\n    yield open('stop').read(), line\n"
    script = written(tmp_path, body, stop="!")
    assert output_of(way, script, "--files=stop").startswith(b'"!"\t"b 2"\n')
    assert run_module("typedbytes", tmp_path, "run", "-q", "--as", "mrjob", script, "in", "--ship", "stop")[0]


@pytest.mark.parametrize("library", ["dumbo", "hadoopy", "pydoop"])
def test_a_script_of_another_library_is_refused(tmp_path, library):
    (tmp_path / "in").write_text("to be\n")
    script = HERE / "scripts" / "mr_words.py"
    for command in ("run", "submit"):
        _, said = run_module("typedbytes", tmp_path, command, "--as", library, script, "in", "-o", "out", code=64)
        assert said == f"typedbytes {command}: {script} imports mrjob, not {library}: give --as mrjob\n"


@pytest.mark.parametrize("runner, nbytes, ends", [("local", 3893, ["", "", ""]), ("inline", None, ["", ".gz", ".bz2"])])
def test_a_mapper_of_whole_files_gets_decompressed_ones_on_the_runner_local(tmp_path, runner, nbytes, ends):
    """As bin.py of mrjob 0.7.4 does, in _manifest_download_content(): by gunzip and bunzip2; inline does without."""
    text = "".join(f"{number}\n" for number in range(1, 1001)).encode()
    files = {"s.txt": text, "s.txt.gz": gzip.compress(text), "s.txt.bz2": bz2.compress(text), "s.Z": b"as it is"}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    body = """
    def mapper_raw(self, path, uri):
        import os
        with open(path, "rb") as file:
            yield [os.path.basename(path), os.path.basename(uri)], len(file.read())
    """
    words = [written(tmp_path, body), "-r", runner, "--no-conf", "-q", *files]
    lines = [f'["s.txt{end}", "{name}"]\t{nbytes or len(data)}' for end, (name, data) in zip(ends, files.items())]
    assert run_front(tmp_path, *words)[0].decode().splitlines() == [*lines, '["s.Z", "s.Z"]\t8']


def test_a_command_for_bash():
    """Of util.py of mrjob 0.5.12."""
    from typedbytes.fronts.mrjob.util import bash_wrap

    assert bash_wrap("echo 'a b' | cat") == "bash -c 'echo '\\''a b'\\'' | cat'"
    assert subprocess.check_output(bash_wrap("echo 'a b' | cat"), shell=True) == b"a b\n"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("own, expected", [
    (["--lower"], [True, None, None]), (["--no-lower"], [False, None, None]), (["--low"], [True, None, None]),
    (["--lower", "--no-lower", "--down"], [False, "--down", None]), (["--up", "--no-low"], [False, "--up", None]),
    (["-p-1", "--point=-2", "-p", "3"], [None, None, [-1, -2, 3]]),
])  # fmt: skip
def test_tasks_get_an_option_by_the_name_that_was_given(tmp_path, way, own, expected):
    """job.py, _non_option_kwargs(): extra_args.append(option_string); an action may look at it."""
    body = """
    def configure_args(self):
        from argparse import Action, BooleanOptionalAction

        class Way(Action):
            def __call__(self, parser, namespace, values, option_string=None):
                namespace.way = option_string

        super().configure_args()
        self.add_passthru_arg("--lower", action=BooleanOptionalAction)
        self.add_passthru_arg("--up", "--down", action=Way, nargs=0, dest="way")
        self.add_passthru_arg("-p", "--point", action="append", type=int)

    def reducer(self, _, values):
        yield None, [self.options.lower, self.options.way, self.options.point]

    def mapper(self, _, line):
        yield None, None
    """
    assert json.loads(output_of(way, written(tmp_path, body), *own).partition(b"\t")[2]) == expected
