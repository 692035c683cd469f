"""The options of dumbo, wherever they are given, and what becomes of close(): as in its source, commit ca79358.

Options go from additer(opts=), from @opt and `opts` of the codes, and from the command line into one list (run() of
core.py, which calls them in this order); what the list means here is in backends/common.py and backends/unix.py.
"""

import functools

import pytest

from support.streaming_support import run_module

TEXT = "to be or not to be\nthat is the question\n"
RUN = """
if __name__ == "__main__":
    import dumbo
    dumbo.main(runner)
"""
run_front = functools.partial(run_module, "typedbytes.fronts")


def write(folder, text, name="job.py"):
    """Write a script and its input."""
    (folder / "in1").write_text(TEXT)
    (folder / name).write_text(text + RUN)


def output_of(folder, text, *words, source="in1"):
    """Return the lines that a script writes."""
    write(folder, text)
    run_front(folder, "job.py", "-input", source, "-output", "out", *words)
    return (folder / "out").read_text().splitlines()


def said_of(folder, text, *words):
    """Return what a script says that fails, which is one line."""
    write(folder, text)
    output, said = run_front(folder, "job.py", "-input", "in1", "-output", "out", *words, code=1)
    assert output == b"" and said.count("\n") == 1 and not (folder / "out").exists()
    return said


PAIRS = "from dumbo.decor import opt\n\ndef pairs(key, value):\n    yield key, value\n\n"
WORDS = """
def words(key, line):
    for word in line.split():
        yield word, 1

def total(key, counts):
    yield key, sum(counts)
"""
OF_WORDS = [(word, 1) for word in TEXT.split()]


@pytest.mark.parametrize("codes", ["'cat', combiner=total", "words, combiner='wc -l'"])
def test_a_combiner_without_a_reducer_is_no_command(tmp_path, codes):
    said = said_of(tmp_path, f"{WORDS}\ndef runner(job):\n    job.additer({codes})\n")
    assert "a combiner without a reducer runs in the mapper: neither can be a command" in said


def test_what_close_returns_is_not_output(tmp_path):
    """core.py: `if mapclose: mapclose()`, after the outputs; a mapper may iterate over its own close()."""
    text = """
class Sum:
    total = 0

    def __call__(self, data):
        for key, line in data:
            self.total += len(line.split())
        for pair in self.close():
            yield pair

    def close(self):
        yield "total", self.total

class Total:
    def __call__(self, key, counts):
        yield key, sum(counts)

    def close(self):
        return [("no", "no")]

def runner(job):
    job.additer(Sum, Total, Total)
"""
    assert output_of(tmp_path, text) == ["'total'\t10"]


def test_what_close_returns_in_a_wrapper_is_not_output(tmp_path):
    """lib/__init__.py: JoinMapper.close() and MultiMapper.close() call that of their mappers, and return nothing."""
    text = """
import dumbo
from dumbo.decor import secondary

class Pairs:
    def __call__(self, key, value):
        yield 1, value

    def close(self):
        return [("no", "no")]

def runner(job):
    mapper = dumbo.MultiMapper()
    mapper.add("in1", secondary(Pairs))
    mapper.add("in1", Pairs)
    job.additer(mapper)
"""
    assert len(output_of(tmp_path, text)) == 4


def test_lines_of_code_are_pairs(tmp_path):
    """cmd.py: encodepipe -alreadycoded yes, by loadcode() of util.py; an integer of Python 2 may have its L."""
    (tmp_path / "coded").write_text("'be'\t3\n('L1L', 2)\t[10L, None]\n")
    expected = ["'be'\t3", "('L1L', 2)\t[10, None]"]
    text = PAIRS + "def runner(job):\n    job.additer(pairs)\n"
    assert output_of(tmp_path, text, "-inputformat", "code", source="coded") == expected
    for given in ("opts=[('inputformat', 'code')]", "mapper=opt('inputformat', 'code')(pairs)"):
        text = f"{PAIRS}def runner(job):\n    job.additer(*[pairs] * {given.startswith('opts')}, {given})\n"
        assert output_of(tmp_path, text, source="coded") == expected


def test_the_second_iteration_reads_pairs_whatever_the_format(tmp_path):
    """core.py: newopts.add('inputformat', 'code') for what reads an iteration."""
    (tmp_path / "coded").write_text("'be'\t3\n")
    text = PAIRS + "def runner(job):\n    job.additer(pairs)\n    job.additer(pairs)\n"
    assert output_of(tmp_path, text, "-inputformat", "code", source="coded") == ["'be'\t3"]


@pytest.mark.parametrize("line", ["no tab", "'a'\tname", "__import__('os')\t1", "'a'\t(", "\t1"])
def test_a_line_that_is_not_code_fails_the_job(tmp_path, line):
    write(tmp_path, PAIRS + "def runner(job):\n    job.additer(pairs)\n")
    (tmp_path / "coded").write_text(line + "\n")
    words = ["-input", "coded", "-output", "out", "-inputformat", "code"]
    _, said = run_front(tmp_path, "job.py", *words, code=1)
    assert "a line must have the repr of a key, a TAB and that of a value, not " in said.splitlines()[-1]


@pytest.mark.parametrize("where, words", [
    ("job.additer(pairs)", ["-addpath", "yes"]),
    ("job.additer(pairs, opts=[('addpath', 'yes')])", []),
    ("job.additer(opt('addpath', 'yes')(pairs))", []),
    ("job.additer(type('M', (), {'opts': [('addpath', 'yes')], '__call__': lambda self, k, v: [(k, v)]}))", []),
    ("job.additer(pairs); job.additer(pairs)", ["-addpath", "yes"]),  # the second reads an iteration
])  # fmt: skip
def test_keys_get_the_path_of_their_file(tmp_path, where, words):
    """unix.py: encodepipe -addpath yes, whose path is the word of -input."""
    text = f"{PAIRS}def runner(job):\n    {where}\n"
    expected = ["('in1', 0)\t'to be or not to be'", "('in1', 19)\t'that is the question'"]
    assert output_of(tmp_path, text, *words) == expected
    assert output_of(tmp_path, text, *words, "-addpath", "no")[0] == "0\t'to be or not to be'"


VARIABLES = """
import os
from dumbo.decor import opt

class M:
    def __init__(self):
        self.n = self.params["n"]

    def __call__(self, key, value):
        yield self.n, (os.environ["e"], len(value))

@opt("param", "m=7")
def red(key, values):
    yield key, list(values) + [os.environ["m"]]

def runner(job):
    job.additer(M, red, opts=[("param", "n=3"), ("cmdenv", "e=E")])
"""


def test_parameters_and_variables_of_an_iteration(tmp_path):
    """common.py: a param is a cmdenv too; the command line comes last, and so has the last word."""
    assert output_of(tmp_path, VARIABLES) == ["'3'\t[('E', 18), ('E', 20), '7']"]
    found = output_of(tmp_path, VARIABLES, "-param", "n=4", "-cmdenv", "e=F", "-param", "m=a b")
    assert found == ["'4'\t[('F', 18), ('F', 20), 'a b']"]


@pytest.mark.parametrize("inline", [[], ["--inline"]])
def test_parameters_of_an_iteration_by_the_command(tmp_path, inline):
    write(tmp_path, VARIABLES)
    command = ["run", "--as", "dumbo", "-q", *inline, "job.py", "in1", "--output-format", "text"]
    assert run_module("typedbytes", tmp_path, *command)[0] == b"3\t[('E', 18), ('E', 20), '7']\n"
    output, _ = run_module("typedbytes", tmp_path, *command, "--param", "n=5")
    assert output == b"5\t[('E', 18), ('E', 20), '7']\n"


def test_variables_of_a_command(tmp_path):
    text = WORDS + "def runner(job):\n    job.additer('sed \"s/.*/$n/\"', opts=[('param', 'n=a b')])\n"
    assert [line.partition("\t")[0] for line in output_of(tmp_path, text)] == ["'a b'"] * 2


@pytest.mark.parametrize("where, words", [
    ("job.additer(words, total, opts=[('numreducetasks', '0')])", []),
    ("job.additer(words, opt('numreducetasks', '0')(total))", []),
    ("job.additer(words, total, opts=[('numreducetasks', 0)])", ["-numreducetasks", "2"]),
    ("job.additer(words, total)", ["-numreducetasks", "0"]),
    ("job.additer(words, total); job.additer(lambda key, value: [(key, value)], total)", ["-numreducetasks", "0"]),
])  # fmt: skip
def test_without_reduce_tasks_the_output_is_that_of_the_mapper(tmp_path, where, words):
    """unix.py: `numreducetasks[0] == '0'`, which is that of opts= before that of the command line."""
    text = f"from dumbo.decor import opt\n{WORDS}\ndef runner(job):\n    {where}\n"
    assert output_of(tmp_path, text, *words) == [f"{word!r}\t{n}" for word, n in OF_WORDS]


@pytest.mark.parametrize("codes", ["words, combiner=total", "words, total, total, opts=[('numreducetasks', '0')]"])
def test_a_mapper_without_reduce_tasks_combines_its_own_pairs(tmp_path, codes):
    """core.py: the combiner is called in the map task, on sorted pairs."""
    text = f"{WORDS}\ndef runner(job):\n    job.additer({codes})\n"
    expected = {word: TEXT.split().count(word) for word in TEXT.split()}
    assert sorted(output_of(tmp_path, text)) == sorted(f"{word!r}\t{n}" for word, n in expected.items())


def test_an_initializer_may_change_the_options(tmp_path):
    """core.py: initializer(opts)."""
    text = VARIABLES.replace("def runner(job):", "def change(opts):\n    opts.add('param', 'n=9')\n\ndef runner(job):\n"
                             "    job.initializer = change")  # fmt: skip
    assert output_of(tmp_path, text) == ["'9'\t[('E', 18), ('E', 20), '7']"]


def test_several_words_of_an_option_are_several_inputs(tmp_path):
    """util.py: parseargs() joins them; unix.py: `inp.split(' ')`."""
    (tmp_path / "in2").write_text("x\n")
    found = output_of(tmp_path, PAIRS + "def runner(job):\n    job.additer(pairs)\n", "-input", "in2", "in1")
    assert len(found) == 3 + 2


REFUSED = [
    ("parser", "x", "-parser is not supported: parse the value in the mapper"),
    ("record", "x", "-record is not supported: make the record in the mapper"),
    ("libegg", "x.egg", "-libegg is not supported: unpack it, and give its modules with -file"),
    ("delinputs", "yes", "-delinputs is not supported: remove the inputs after the job"),
    ("joinkeys", "yes", "-joinkeys is not supported: mark the mappers with primary and secondary"),
    ("nonsense", "x", "-nonsense is not an option of a job: leave it out, or have a starter take it"),
    ("addpath", "maybe", "-addpath must be one of yes, no, iter, not maybe"),
    ("getpath", "iter", "-getpath must be one of yes, no, not iter"),
    ("overwrite", "", "-overwrite must be one of yes, no, not "),
    ("numreducetasks", "", "-numreducetasks takes a number, not "),
    ("param", "x", "-param takes NAME=VALUE, not x"),
    ("inputformat", "nope", "-inputformat must be one of code, text, auto, sequencefile, not nope"),
]


@pytest.mark.parametrize("key, value, message", REFUSED)
def test_an_option_that_is_not_honoured_is_refused_wherever_it_is_given(tmp_path, key, value, message):
    given = repr((key, value))
    ways = {
        "job.additer(pairs)": [f"-{key}", *([value] if value else [])],
        f"job.additer(pairs, opts=[{given}])": [], f"job.additer(opt{given}(pairs))": [],
    }  # fmt: skip
    for where, words in ways.items():
        said = said_of(tmp_path, f"{PAIRS}def runner(job):\n    {where}\n", *words)
        assert said.startswith(f"ERROR: {message}")


@pytest.mark.parametrize("inline", [[], ["--inline"]])
def test_the_command_refuses_an_option_in_the_script_too(tmp_path, inline):
    for given, message in (
        ("('parser', 'x')", "-parser is not supported: parse the value in the mapper"),
        ("('file', 'x')", "-file x in the script is for python -m typedbytes.fronts: start the script by that"),
    ):
        write(tmp_path, f"{PAIRS}def runner(job):\n    job.additer(pairs, opts=[{given}])\n")
        command = ["run", "--as", "dumbo", *inline, "job.py", "in1", "-o", "out"]
        assert message in run_module("typedbytes", tmp_path, *command, code=64)[1].splitlines()[-1]


@pytest.mark.parametrize("words, message", [
    (["-addpath", "yes"], "-addpath is not for a mapper that is a command"),
    (["-inputformat", "code"], "-inputformat code is not for a mapper that is a command"),
    (["-hadoop", "yes", "-inputformat", "nope"], "-inputformat must be one of code, text, auto, sequencefile, not "),
])  # fmt: skip
def test_what_a_command_as_a_mapper_does_not_get_is_refused(tmp_path, words, message):
    assert said_of(tmp_path, "def runner(job):\n    job.additer('cat')\n", *words).startswith(f"ERROR: {message}")


@pytest.mark.parametrize("option", ["-memlimit", "-pv", "-sortbufsize", "-prog", "-debug", "-checkoutput"])
def test_options_without_an_effect_are_taken(tmp_path, option):
    text = PAIRS + "def runner(job):\n    job.additer(pairs, opts=[('joinkeys', 'no')])\n"
    assert len(output_of(tmp_path, text, option, "no")) == 2


@pytest.mark.parametrize("words, form", [
    (["-inputformat", "sequencefile"], "sequencefile"), (["-inputformat", "code"], "sequencefile"),
    (["-inputformat", "text"], "text"), (["-inputformat", "org.x.Input"], "org.x.Input"), ([], "auto"),
])  # fmt: skip
def test_the_format_of_the_input_on_hadoop(tmp_path, monkeypatch, words, form):
    """streaming.py: code and sequencefile name one class there, and any other class has its own name."""
    from typedbytes import hadoop
    from typedbytes.fronts import dumbo

    plans = []
    monkeypatch.setattr(hadoop, "submit", plans.append)
    monkeypatch.setattr("sys.argv", ["job.py", "-input", "in", "-output", "out", "-hadoop", "yes", *words])
    dumbo.run(print, opts=[("file", "a.txt"), ("nummaptasks", "3"), ("getpath", "yes")])
    (plan,) = plans
    assert (plan.input_format, plan.output_by_key, list(plan.files)) == (form, True, ["a.txt"])
    assert not any(" " in value for value in plan.environment.values())  # Hadoop ends a variable there


def test_the_base_of_classes_for_tests_of_them():
    """mapredtest.py derives classes from the MapRedBase of dumbo.backends.common."""
    import typedbytes.fronts.dumbo.backends.common as ours
    from typedbytes.fronts.dumbo.backends.common import MapRedBase

    made = type("Tested", (MapRedBase,), {})()
    assert made.params.get("no such name") is None and ours.MapRedBase is MapRedBase
    names = "from dumbo.backends.common import MapRedBase\nimport dumbo.backends.common as common\n"
    code = f"import typedbytes.fronts\ntypedbytes.fronts.install()\n{names}assert common.MapRedBase is MapRedBase"
    exec(code, {})


MULTI = """
import dumbo

def runner(job):
    mapper = dumbo.MultiMapper()
    for pattern in ("file:", "data", "in", "in1", "sub/in"):
        mapper.add(pattern, lambda key, value, pattern=pattern: [(pattern, 1)])
    job.additer(mapper, dumbo.sumreducer)
"""


@pytest.mark.parametrize("sources, expected", [
    (["in1"], {"in": 2, "in1": 2}), (["sub/in2"], {"in": 1, "sub/in": 1}),
    (["sub/in2", "in1"], {"in": 3, "in1": 2, "sub/in": 1}), (["{folder}/in1"], {"data": 2, "in": 2, "in1": 2}),
    (["s*b/in?"], {"in": 1, "sub/in": 1}), (["i*"], {"in": 2, "in1": 2}), (["sub"], {"in": 1, "sub/in": 1}),
])  # fmt: skip
def test_the_patterns_of_a_multimapper_are_in_the_path_as_it_was_given(tmp_path, sources, expected):
    """lib/__init__.py: `pattern in path`, which is that of encodepipe: the name of the folder above decides nothing."""
    folder = tmp_path / "data"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "in2").write_text("x\n")
    words = [word for source in sources for word in ("-input", source.format(folder=folder))]
    found = output_of(folder, MULTI, *words[2:], source=words[1])
    assert dict(line.split("\t") for line in found) == {repr(key): str(n) for key, n in expected.items()}


def test_a_multimapper_needs_the_name_of_the_file(tmp_path):
    """A task of several small files has none."""
    write(tmp_path, MULTI)
    (tmp_path / "in2").write_text("x\n")
    command = ["run", "--as", "dumbo", "-q", "--combine-files", "job.py", "in1", "in2", "-o", "out"]
    said = run_module("typedbytes", tmp_path, *command, code=1)[1]
    assert "no mapper was added for the input file whose name is unknown: neither mapreduce_map_input_file" in said


@pytest.mark.parametrize("mapper", [
    "def mapper(data, sep=' '):\n    for key, value in data:\n        yield sep, value",
    "def all_of(sep, data):\n    return [(sep, value) for key, value in data]\n\nmapper = partial(all_of, ' ')",
    "def mapper(*data):\n    return [(' ', value) for key, value in data[0]]",
    "def mapper(*, data=None):\n    pass\n\nmapper = lambda *data, **more: ((' ', value) for key, value in data[0])",
    "class mapper:\n    def __call__(self, data, sep=' '):\n        return [(sep, value) for key, value in data]",
    "class mapper:\n    def map(self, data, sep=' '):\n        return [(sep, value) for key, value in data]",
    "def mapper(key, value, sep=' '):\n    yield sep, value",
    "def pair(sep, key, value):\n    yield sep, value\n\nmapper = partial(pair, ' ')",
    "mapper = partial(lambda key, value, sep: [(sep, value)], sep=' ')",
    "def pair(key, value, sep=' '):\n    yield sep, value\n\nmapper = wraps(pair)(lambda *pair: [(' ', pair[1])])",
])  # fmt: skip
def test_code_that_can_be_called_with_all_records_is(tmp_path, mapper):
    """core.py: itermap() calls mapfunc(data), and mapfunc(key, value) where that is a TypeError."""
    text = f"from functools import partial, wraps\n\n{mapper}\n\ndef runner(job):\n    job.additer(mapper)\n"
    assert output_of(tmp_path, text) == [f"' '\t{line!r}" for line in TEXT.splitlines()]


@pytest.mark.parametrize("reducer", [
    "def reducer(data, n=1):\n    for key, values in data:\n        yield n, len(list(values))",
    "reducer = partial(lambda n, data: [(n, len(list(values))) for key, values in data], 1)",
    "def reducer(key, values, n=1):\n    yield n, len(list(values))",
    "dumbo_reducer = None\nreducer = partial(lambda n, key, values: [(n, len(list(values)))], 1)",
])  # fmt: skip
def test_a_reducer_that_can_be_called_with_all_groups_is(tmp_path, reducer):
    text = (f"from functools import partial\n\n{reducer}\n\ndef runner(job):\n"
            "    job.additer(lambda key, value: [('a', 1)], reducer)\n")  # fmt: skip
    assert output_of(tmp_path, text) == ["1\t2"]


VARIATED = """
import dumbo

def runner(job):
    if job.getparam("n") == "2":
        return "the runner refuses"
    if job.getparam("n") == "5":
        raise KeyError("the runner fails")
    job.additer(lambda key, value: [(value, 1 if job.getparam("n") != "3" else 1 / 0)])

def variator(program):
    for n in range(7):
        found = program.clone()
        found.delopts("output")
        found.addopt("output", f"out{n}")
        found.addparam("n", n)
        yield found
    {end}

def starter(program):
    if program.getopt("output") == "out0":
        return "no 0"
    if program.getopt("output") == "out1":
        raise dumbo.Error("no 1")
    if program.getopt("output") == "out4":
        program.addopt("nonsense", "x")

if __name__ == "__main__":
    dumbo.main(runner, starter, variator)
"""


@pytest.mark.parametrize("end, message", [("pass", None), ("raise dumbo.Error('no more')", "ERROR: no more")])
def test_an_error_of_one_program_leaves_the_others(tmp_path, end, message):
    """core.py, main(): each is started by itself, and the exit code is that of the last that failed, or 1."""
    (tmp_path / "in1").write_text("a\n")
    (tmp_path / "job.py").write_text(VARIATED.replace("{end}", end))
    _, said = run_front(tmp_path, "job.py", "-input", "in1", "-output", "out", code=1)
    for line in ("ERROR: no 0", "ERROR: no 1", "the runner refuses", *filter(None, [message])):
        assert said.splitlines().count(line) == 1, said
    assert "ERROR: -nonsense is not an option of a job" in said and "ZeroDivisionError" in said
    assert "\nKeyError: 'the runner fails'\n" in said
    assert [path.name for path in sorted(tmp_path.glob("out*"))] == ["out6"]
