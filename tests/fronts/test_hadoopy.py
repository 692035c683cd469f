"""Keywords of hadoopy's functions, and the command line of its scripts, as in its _runner.py and _job_cli.py."""

import functools
import json
import os

import pytest

import typedbytes
from support.streaming_support import run_module
from typedbytes.fronts import hadoopy

run_front = functools.partial(run_module, "typedbytes.fronts")
PAIRS = [(number, word) for number, word in enumerate(["to", "be", "or", "not", "to", "be"])]
SCRIPT = '''
"""Words and how often they come."""
import os
import hadoopy

def mapper(key, value):
    for word in value.split():
        yield word, 1

def reducer(word, counts):
    yield word, [len(list(counts)), os.environ.get("my_own"), os.environ["mapreduce_job_reduces"]]

class Combiner:
    def reduce(self, word, counts):
        yield word, sum(counts)

    def close(self):
        yield "end", 0

if __name__ == "__main__":
    hadoopy.run(mapper, reducer, {more}doc=__doc__)
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Have an empty folder as the current one, on a machine without Hadoop."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("HADOOP_HOME", raising=False)
    return tmp_path


def script(folder, more="", name="job.py"):
    """Write a script with more keywords of run(), and return its path."""
    (folder / name).write_text(SCRIPT.replace("{more}", more))
    return str(folder / name)


def test_the_identity_mapper_takes_the_place_of_the_scripts(folder):
    found = hadoopy.launch_local(PAIRS, None, script(folder), identity_mapper=True, num_reducers=2)["output"]
    assert sorted(found) == [(number, [1, None, "2"]) for number in range(6)]
    found = hadoopy.launch_local(PAIRS, None, script(folder), identity_mapper=True, num_reducers=0)["output"]
    assert list(found) == PAIRS
    assert len([*hadoopy.launch_local(PAIRS, None, script(folder), identity_mapper=False)["output"]]) == 4


@pytest.mark.parametrize("given, reducers, own", [
    ({}, "3", "script"), ({"num_reducers": 2}, "2", "script"), ({"jobconfs": {"my.own": "launch"}}, "3", "launch"),
    ({"jobconfs": ["mapreduce.job.reduces=4"]}, "4", "script"),
    ({"jobconfs": ["mapred.reduce.tasks=4"], "num_reducers": 2}, "4", "script"),
])  # fmt: skip
@pytest.mark.parametrize("jobconfs", ["['mapred.reduce.tasks=3', 'my.own=script']",
                                      "{'mapred.reduce.tasks': 3, 'my.own': 'script'}"])  # fmt: skip
def test_properties_of_the_script_are_those_that_launch_does_not_set(folder, given, reducers, own, jobconfs):
    path = script(folder, f"jobconfs={jobconfs}, ")
    found = hadoopy.launch_local(PAIRS, None, path, **given)["output"]
    assert {(each, number) for _, (_, each, number) in found} == {(own, reducers)}
    hadoopy.writetb("pairs", PAIRS)
    found = hadoopy.launch("pairs", "out", path, **given)["output"]
    assert {(each, number) for _, (_, each, number) in found} == {(own, reducers)}
    assert len(list((folder / "out").glob("part-*"))) == int(reducers)


def test_the_command_sets_the_properties_of_the_script(folder):
    script(folder, "jobconfs=['mapred.reduce.tasks=3', 'my.own=script'], ")
    (folder / "in").write_text("a b\n")
    for words, expected in (([], b"a\t[1, 'script', '3']\n"), (["-D", "my.own=x"], b"a\t[1, 'x', '3']\n")):
        words = ["run", "--as", "hadoopy", "-q", "job.py", "in", "--output-format", "text", *words]
        assert expected in run_module("typedbytes", folder, *words)[0]


@pytest.mark.parametrize("of_run, given, missing", [
    ("required_files=['a.txt', 'b.txt'], ", {}, "file(s), give them by files=: a.txt, b.txt"),
    ("required_files=['a.txt', 'b.txt'], ", {"files": ["in/a.txt"]}, "file(s), give them by files=: b.txt"),
    ("required_cmdenvs=['X', 'Y'], ", {"cmdenvs": ["X=1"]}, "cmdenv(s), give them by cmdenvs=: Y"),
    ("required_cmdenvs=['X'], ", {"required_files": ["b.txt"]},
     "file(s), give them by files=: b.txt; Missing required cmdenv(s), give them by cmdenvs=: X"),
    ("", {"required_cmdenvs": ["Z"]}, "cmdenv(s), give them by cmdenvs=: Z"),
    ("required_cmdenvs=['X'], required_files=['a.txt'], ", {"cmdenvs": {"X": "1"}, "files": ["in/a.txt"]}, None),
])  # fmt: skip
@pytest.mark.parametrize("name", ["launch", "launch_frozen"])
def test_what_a_script_requires_is_looked_for_before_its_job(folder, of_run, given, missing, name):
    (folder / "in").mkdir()
    (folder / "in" / "a.txt").write_text("")
    hadoopy.writetb("pairs", PAIRS)
    path = script(folder, of_run)
    if missing is None:
        assert len(list(getattr(hadoopy, name)("pairs", "out", path, **given)["output"])) == 4
        return
    with pytest.raises(ValueError) as caught:
        getattr(hadoopy, name)("pairs", "out", path, **given)
    assert str(caught.value) == f"Missing required {missing}"
    assert not os.path.exists("out")
    assert len(list(hadoopy.launch_local(PAIRS, None, path, **given)["output"])) == 4


def test_a_script_that_launches_itself_is_asked_for_its_requirements_once(folder):
    (folder / "job.py").write_text(
        "import sys, hadoopy\n\nif sys.argv[1:2] in (['map'], ['reduce'], ['steps']):\n"
        "    hadoopy.run(lambda key, value: [(value, 1)], required_files=['a.txt'])\nelse:\n"
        "    print('launched', flush=True)\n    print(sorted(hadoopy.launch('pairs', 'out', __file__)['output']))\n"
    )
    hadoopy.writetb("pairs", PAIRS[:2])
    assert run_front(folder, "job.py")[0] == b"launched\n[('be', 1), ('to', 1)]\n"


@pytest.mark.parametrize("name, keywords, message", [
    ("launch", {"identity_mapper": True}, "launch() has no keyword identity_mapper"),
    ("launch", {"max_input": 3}, "launch() has no keyword max_input"),
    ("launch_frozen", {"num_reducer": 3}, "launch_frozen() has no keyword num_reducer"),
    ("launch_local", {"num_reducer": 3}, "launch_local() has no keyword num_reducer"),
    ("launch", {"wait": False}, "wait=False is not supported: start the driver in the background"),
    ("launch", {"use_typedbytes": False}, "use_typedbytes=False is not supported: a script gets typed bytes"),
    ("launch", {"config": "conf"}, "config='conf' is not supported: set HADOOP_CONF_DIR"),
    ("launch_local", {"poll": print}, "poll="),
    ("launch", {"partitioner": "org.x.P"}, "partitioner='org.x.P' is a Java class, which only Hadoop runs"),
    ("launch_local", {"partitioner": "org.x.P"}, "partitioner='org.x.P' is a Java class, which only Hadoop runs"),
    ("launch", {"input_format": "org.x.I"}, ""), ("launch", {"output_format": "org.x.O"}, ""),
])  # fmt: skip
def test_a_keyword_that_is_not_honoured_is_refused_in_one_line(folder, name, keywords, message):
    hadoopy.writetb("pairs", PAIRS)
    with pytest.raises(typedbytes.TypedBytesError) as caught:
        getattr(hadoopy, name)("pairs", "out", script(folder), **keywords)
    assert str(caught.value).startswith(message) and "\n" not in str(caught.value)
    assert not os.path.exists("out")
    if callable(next(iter(keywords.values()))):
        return
    (folder / "drive.py").write_text(f"import hadoopy\nhadoopy.{name}('pairs', 'out', 'job.py', **{keywords!r})\n")
    said = run_front(folder, "drive.py", code=1)[1]
    assert message in said and ("Traceback" not in said or not message)


def test_keywords_without_an_effect_are_taken(folder):
    hadoopy.writetb("pairs", PAIRS)
    more = {
        "copy_script": True, "add_python": False, "pipe": False, "script_dir": "x", "remove_ext": True, "wait": True,
        "check_script": False, "make_executable": False, "use_typedbytes": True, "use_autoinput": True, "config": None,
        "hstreaming": "x.jar", "libjars": ["x.jar"], "python_cmd": "python", "name": "x", "partitioner": False,
    }  # fmt: skip
    assert len(list(hadoopy.launch("pairs", "out", script(folder), num_mappers=2, **more)["output"])) == 4
    frozen = {"frozen_tar_path": "x.tar", "temp_path": "x", "cache": False}
    assert len(list(hadoopy.launch_frozen("pairs", "out2", script(folder), **more, **frozen)["output"])) == 4
    local = {"poll": None, "remove_tempdir": False, "max_input": 4}
    assert len(list(hadoopy.launch_local("pairs", "out3", script(folder), **more, **local)["output"])) == 4


@pytest.mark.parametrize("keywords, fields, properties", [
    ({"partitioner": "org.x.P"}, {}, {"mapred.partitioner.class": "org.x.P"}),
    ({"num_mappers": 7}, {}, {"mapreduce.job.maps": "7"}),
    ({"num_mappers": 7, "jobconfs": ["mapred.map.tasks=8"]}, {}, {"mapred.map.tasks": "8"}),
    ({"use_autoinput": False}, {"input_format": "text"}, {}),
    ({"input_format": "org.x.I", "use_autoinput": False, "output_format": "org.x.O"},
     {"input_format": "org.x.I", "output_format": "org.x.O"}, {}),
    ({}, {"input_format": "auto", "output_format": "sequencefile"}, {}),
    ({"use_seqoutput": False, "libjars": iter(["x.jar"]), "python_cmd": "python9"},
     {"output_format": "text", "libjars": ["x.jar"], "python": "python9"}, {}),
])  # fmt: skip
def test_what_hadoop_is_given(folder, monkeypatch, keywords, fields, properties):
    from typedbytes import hadoop
    from typedbytes.fronts.hadoopy import _files, _keywords, _launch

    plans = []
    monkeypatch.setattr(hadoop, "submit", lambda plan, jar=None: plans.append(plan))
    for module in (_files, _keywords, _launch):
        monkeypatch.setattr(module, "has_hadoop", lambda: True)
    hadoopy.launch("in", "out", script(folder), **keywords)
    (plan,) = plans
    assert {name: getattr(plan, name) for name in fields} == fields
    assert dict(plan.properties) == properties


COMMANDS = [
    (["map"], b"to be\nor not to be", b"to\t1\nbe\t1\nor\t1\nnot\t1\nto\t1\nbe\t1\n"),
    (["pipe", "map"], b"a\n", b"a\t1\n"), (["--log", "debug", "map"], b"a\n", b"a\t1\n"),
    (["combine"], b"a\t1\na\t1\n", b"a\t2\nend\t0\n"), (["reduce"], b"a\t1\na\t1\nb\t\n", b"a\t[2]\nb\t[1]\n"),
    (["map"], b"", b""),
    (["map"], "\xfc \udce9".encode("utf-8", "surrogateescape"), b"\xc3\xbc\t1\n\xe9\t1\n"),
]  # fmt: skip


@pytest.mark.parametrize("words, text, expected", COMMANDS)
def test_a_task_by_hand_reads_and_writes_lines(folder, words, text, expected):
    """doc/internals.rst: echo "a b" | python wc.py map | sort | python wc.py reduce."""
    path = folder / "job.py"
    body = SCRIPT.replace("{more}", "Combiner, ").replace(
        ', os.environ.get("my_own"), os.environ["mapreduce_job_reduces"]', ""
    )
    path.write_text(body.replace("sum(counts)", "sum(map(int, counts))"))
    assert run_front(folder, "job.py", *words, stdin=text) == (expected, "")


def test_a_task_by_hand_gets_offsets_and_reports(folder):
    (folder / "job.py").write_text(
        "import hadoopy\n\ndef mapper(key, value):\n    hadoopy.counter('a', 'b', 2)\n    hadoopy.status('at')\n"
        "    print('printed')\n    return [(key, value.encode()), (None, (1, 2))]\n\nhadoopy.run(mapper)\n"
    )
    expected = "0\ta\xfc\nNone\t(1, 2)\n4\tb\nNone\t(1, 2)\n"
    output, said = run_front(folder, "job.py", "pipe", "map", stdin="a\xfc\nb\n".encode())
    assert (output.decode(), said.count("printed\n")) == (expected, 2)
    assert said.endswith("reporter:counter:a,b,4\n") and "reporter:status:at\n" in said


def test_a_task_by_hand_gets_typed_bytes_where_the_environment_says_so(folder):
    script(folder)
    data = b"".join(typedbytes.dumps(item) for pair in PAIRS for item in pair)
    output, _ = run_front(folder, "job.py", "map", stdin=data, stream_map_input="typedbytes")
    assert typedbytes.Decoder().decode_pairs(output) == [(word, 1) for _, word in PAIRS]


def test_the_information_about_a_script(folder):
    script(folder, "Combiner, jobconfs=['a=b'], required_files=['x'], ")
    found = json.loads(run_front(folder, "job.py", "info")[0])
    assert found == {
        "doc": "Words and how often they come.", "tasks": ["map", "reduce", "combine"], "jobconfs": ["a=b"],
        "required_files": ["x"],
    }  # fmt: skip
    assert run_front(folder, "job.py")[0] == b"Words and how often they come.\n"


def test_a_script_launches_its_own_job(folder):
    script(folder)
    hadoopy.writetb("pairs", PAIRS)
    run_front(
        folder, "job.py", "launch_frozen", "pairs", "out", "-jobconf", "mapred.reduce.tasks=2", "-jobconf", "my.own=x"
    )
    assert sorted(hadoopy.readtb("out"))[0] == ("be", [2, "x", "2"])
    assert "out already exists" in run_front(folder, "job.py", "launch_frozen", "pairs", "out", code=1)[1]
    assert "out_name" in run_front(folder, "job.py", "launch_frozen", "pairs", code=2)[1]


@pytest.mark.parametrize("words, said", [
    (["nonsense"],
     "nonsense is not a command of job.py: it has map, combine, reduce, info and launch_frozen INPUT OUTPUT"),
    (["combine"], "job.py has no combiner: give hadoopy.run() one"),
    (["freeze", "x.tar"], "freeze is not supported: typedbytes bundle makes an archive of what tasks need"),
    (["map", "3", "4"], "map takes no more words, and reads standard input: leave out 3 4"),
    (["reduce"], "a line must have a key, a TAB and a value, not 'no tab'"),
])  # fmt: skip
def test_what_is_wrong_with_a_command_is_said_in_one_line(folder, words, said):
    script(folder)
    assert run_front(folder, "job.py", *words, code=1, stdin=b"no tab\n") == (b"", said + "\n")


def test_a_script_without_words_and_doc_says_what_it_has(folder):
    (folder / "job.py").write_text("import hadoopy\n\nhadoopy.run(print)\n")
    said = "give job.py a command: map, combine, reduce, info or launch_frozen INPUT OUTPUT\n"
    assert run_front(folder, "job.py", code=1) == (b"", said)
