"""Jobs on their way to Hadoop: the command lines, what travels with a job, archives, and messages to users.

Here: everything of typedbytes.hadoop that needs no Hadoop. Invariant:
what Hadoop said in these tests was recorded from Hadoop 3.4.2 and its Java.
"""

import contextlib
import dataclasses
import io
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import zipfile

import pytest

import typedbytes as tb
from support.hadoop_support import ROOT
from typedbytes import cli, hadoop, local, sequencefile
from typedbytes.cli.main import parser_of
from typedbytes.hadoop import _bundle, _split_plugin, _submit, installed
from typedbytes.hadoop._job_log import ADVICE, JobLogParser
from typedbytes.hadoop._task_report import summarize
from typedbytes.jobs import modules
from typedbytes.jobs.source import Source

JOB = ROOT / "examples" / "wordcount.py"
COMPARATOR = "mapreduce.job.output.key.comparator.class=org.apache.hadoop.io.BytesWritable$Comparator"


def plan(*arguments, **options):
    return hadoop.Plan(*(arguments or ("job.py", ["in"], "out")), **options)


# -- command lines ----------------------------------------------------------------------------------------


def test_the_command_line_of_a_small_job():
    assert plan().words() == [
        *("-D", "mapreduce.job.name=job.py", "-D", "mapreduce.job.reduces=1", "-D", COMPARATOR),
        *("-files", "job.py", "-io", "typedbytes", "-input", "in", "-output", "out"),
        *("-inputformat", "org.apache.hadoop.mapred.TextInputFormat"),
        *("-outputformat", "org.apache.hadoop.mapred.SequenceFileOutputFormat"),
        *("-cmdenv", "PYTHONPATH=.", "-mapper", "python3 job.py map", "-reducer", "python3 job.py reduce"),
    ]


def test_the_command_line_of_a_job_on_whole_splits():
    words = plan(
        feed="splits", feed_jar="/opt/plug-in.jar", nreducers=0, input_format="sequencefile", properties={"a.b": "c"}
    ).words()
    assert words == [
        *("-D", "mapreduce.job.name=job.py", "-D", "mapreduce.job.reduces=0"),
        *("-D", "stream.io.identifier.resolver.class=org.typedbytes.hadoop.SplitIdentifierResolver"),
        *(
            "-D",
            "typedbytes.split.format=sequencefile",
            "-D",
            "stream.map.output=split",
            "-D",
            "stream.reduce.input=typedbytes",
        ),
        *("-D", "stream.reduce.output=typedbytes", "-D", "stream.map.input=split"),
        *("-D", "mapreduce.client.libjars.wildcard=false", "-D", "a.b=c"),
        *("-files", "job.py", "-libjars", "/opt/plug-in.jar", "-input", "in", "-output", "out"),
        *(
            "-inputformat",
            "org.typedbytes.hadoop.SplitInputFormat",
            "-outputformat",
            "org.typedbytes.hadoop.SplitOutputFormat",
        ),
        *("-cmdenv", "PYTHONPATH=.", "-mapper", "python3 job.py map"),
    ]


@pytest.mark.parametrize(
    "nreducers, properties, last", [(2, {}, "reduce"), (0, {}, "map"), (1, {"mapreduce.job.reduces": "0"}, "map")]
)
def test_the_last_tasks_write_whole_files(nreducers, properties, last):
    words = plan(
        feed="splits", feed_jar="p.jar", input_format="text", nreducers=nreducers, properties=properties
    ).words()
    assert [word for word in words if word.endswith("output=split")] == [f"stream.{last}.output=split"]


OUTPUT = "mapreduce.output.fileoutputformat.compress"


@pytest.fixture(autouse=True)
def no_plug_in(monkeypatch):
    """What a job gets does not depend on whether the plug-in was made; a test that needs one says so."""
    monkeypatch.setattr(_split_plugin, "JAR", "/none/typedbytes-hadoop.jar")


@pytest.fixture
def job_and_jar(tmp_path):
    """A plan of a job that calls run(), and the path of a plug-in."""
    (tmp_path / "job.py").write_text("from typedbytes import streaming\nstreaming.run(lambda key, value: [])\n")
    (tmp_path / "plug-in.jar").write_bytes(b"")
    hadoop.bundle(str(tmp_path / "b.zip"))
    job = plan(
        str(tmp_path / "job.py"),
        ["in"],
        "out",
        python=sys.executable,
        input_format="text",
        bundle=str(tmp_path / "b.zip"),
    )
    return job, str(tmp_path / "plug-in.jar")


def test_whole_splits_are_chosen_where_the_job_allows_them(job_and_jar):
    job, jar = job_and_jar
    said = []
    chosen = hadoop.check(dataclasses.replace(job, feed_jar=jar), said.append)
    assert chosen.feed == "splits" and "-libjars" in chosen.words() and any("--feed pairs" in line for line in said)
    for changes in (
        {"feed": "pairs"}, {"bundle": None}, {"input_format": "com.example.F"}, {"feed_jar": "/none.jar"},
        {"properties": {"textinputformat.record.delimiter": ";"}},
        {"properties": {OUTPUT: "true", f"{OUTPUT}.codec": "a.B"}},
    ):  # fmt: skip
        checked = hadoop.check(dataclasses.replace(job, **{"feed_jar": jar, **changes}))
        assert checked.feed == "pairs" and "-io" in checked.words(), changes


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            {"input_format": "com.example.F"},
            "its input is neither text nor SequenceFiles but com.example.F; submit it with --feed pairs",
        ),
        ({"properties": {"textinputformat.record.delimiter": ";"}}, "it sets textinputformat.record.delimiter"),
        ({"properties": {"mapred.linerecordreader.maxlength": "9"}}, "it sets mapred.linerecordreader.maxlength"),
        ({"properties": {"stream.io.identifier.resolver.class": "a.B"}}, "it sets stream.io.identifier.resolver.class"),
        (
            {"properties": {"mapreduce.input.linerecordreader.line.maxlength": "9"}},
            "it sets mapreduce.input.linerecordreader.line.maxlength",
        ),
        ({"properties": {"typedbytes.split.format": "text"}}, "it sets typedbytes.split.format"),
        (
            {"properties": {OUTPUT: "true", f"{OUTPUT}.codec": "com.example.LzopCodec"}},
            "unknown codec 'com.example.LzopCodec'",
        ),
        (
            {"properties": {OUTPUT: "true", f"{OUTPUT}.codec": "lzo"}},
            "its tasks cannot write the SequenceFiles that its properties ask for",
        ),
        ({"properties": {OUTPUT: "true", f"{OUTPUT}.type": "FILE"}}, 'compression must be "none", "record" or "block"'),
        ({"feed": "both"}, "feed must be one of splits, pairs, not 'both'"),
        ({"feed_jar": "/none.jar"}, "whole splits need the plug-in /none.jar: run make jar"),
        ({"script": "other.py"}, "does not call run"),
    ],
)
def test_whole_splits_that_a_job_cannot_have_are_refused(changes, message, job_and_jar, tmp_path, monkeypatch):
    job, jar = job_and_jar
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.py").write_text("print()\n")
    with pytest.raises(hadoop.SubmitError, match=re.escape(message)):
        hadoop.check(dataclasses.replace(job, **{"feed": "splits", "feed_jar": jar, **changes}))


def test_the_plug_in_is_staged_for_a_cloud(job_and_jar):
    job, jar = job_and_jar
    steps, commands = hadoop.emr(
        hadoop.check(dataclasses.replace(job, feed="splits", feed_jar=jar)), "s3://b/jobs", "j-1"
    )
    assert "s3://b/jobs/plug-in.jar" in steps[0]["Args"] and any(jar in command for command in commands)


def test_the_command_line_of_a_large_job():
    words = plan(
        "/here/job.py", ["a", "b"], "out", nreducers=7, combiner=True, secondary=20, input_format="sequencefile",
        output_format="com.example.F", name="my job", python="/opt/my python/bin/python3", bundle="/tmp/b.zip",
        files=["x.py"], archives=["y.zip#y"], properties={"a.b": "c,d"}, environment={"LANG": "C", "PYTHONPATH": "y"},
    ).words()  # fmt: skip
    assert words == [
        *("-D", "mapreduce.job.name=my job", "-D", "mapreduce.job.reduces=7", "-D", COMPARATOR),
        *("-D", "mapreduce.partition.binarypartitioner.right.offset=-21", "-D", "a.b=c,d"),
        *("-files", "/here/job.py,x.py", "-archives", "y.zip#y,/tmp/b.zip#typedbytes-bundle", "-io", "typedbytes"),
        *("-input", "a", "-input", "b", "-output", "out"),
        *("-inputformat", "org.apache.hadoop.mapred.SequenceFileInputFormat", "-outputformat", "com.example.F"),
        *("-cmdenv", "LANG=C", "-cmdenv", "PYTHONPATH=typedbytes-bundle:.:y"),
        *("-partitioner", "org.apache.hadoop.mapred.lib.BinaryPartitioner"),
        *(
            "-mapper",
            "'/opt/my python/bin/python3' job.py map",
            "-combiner",
            "'/opt/my python/bin/python3' job.py combine",
        ),
        *("-reducer", "'/opt/my python/bin/python3' job.py reduce"),
    ]


def test_a_job_without_reducers_has_no_options_for_reducers():
    words = plan(nreducers=0, combiner=True, secondary=2).words()
    assert not {"-combiner", "-reducer", "-partitioner"} & set(words)
    assert "mapreduce.job.reduces=0" in words and COMPARATOR not in words


def test_a_users_own_property_wins():
    words = plan(properties={"mapreduce.job.reduces": "9"}).words()
    assert [word for word in words if "job.reduces" in word] == ["mapreduce.job.reduces=9"]


@pytest.mark.parametrize("name", ["mapreduce.job.reduces", "mapred.reduce.tasks"])
def test_the_property_with_the_number_of_reducers_decides_what_the_job_has(name):
    words = plan(nreducers=2, combiner=True, secondary=2, properties={name: "0"}).words()
    assert not {"-combiner", "-reducer", "-partitioner", COMPARATOR} & set(words)
    assert [word for word in words if word.startswith(("mapreduce.job.reduces", "mapred."))] == [
        "mapreduce.job.reduces=0"
    ]
    words = plan(nreducers=0, combiner=True, secondary=2, properties={name: "4"}).words()
    assert {"-combiner", "-reducer", "-partitioner", COMPARATOR, "mapreduce.job.reduces=4"} <= set(words)
    assert not any(word.startswith("mapred.") for word in words)
    words = plan(feed="splits", feed_jar="p.jar", input_format="text", nreducers=0, properties={name: "4"}).words()
    assert [word for word in words if word.endswith("output=split")] == ["stream.reduce.output=split"]


MAP_ONLY = "from typedbytes import streaming\nstreaming.run(lambda key, value: [])\n"


@pytest.mark.parametrize(
    "text, reducers, said",
    [
        (MAP_ONLY, "4", "has no reducer: give streaming.run(...) one, or leave out -D mapreduce.job.reduces=4"),
        ("STEPS", "0", "has 2 steps, which need their reducers: leave out -D mapreduce.job.reduces=0"),
        (MAP_ONLY, "two", "the property mapreduce.job.reduces is a number, not 'two'"),
    ],
)
def test_a_property_with_a_number_of_reducers_that_the_script_cannot_have_is_refused(text, reducers, said, tmp_path):
    script = written(tmp_path, job=STEPS if text == "STEPS" else text)
    options = {"params": {"times": 1}, "input_format": "text", "properties": {"mapreduce.job.reduces": reducers}}
    with pytest.raises(hadoop.SubmitError, match=re.escape(said)):
        hadoop.check(plan(script, ["in"], "out", **options))
    with pytest.raises((local.JobError, ValueError), match=re.escape(said)):
        options = {**options, "inputs": [(1, 2)], "output": tmp_path / "out", "input_format": "auto"}
        local.run_script(script, **options)


def test_a_property_without_reducers_makes_a_checked_job_map_only(tmp_path):
    run = "streaming.run(lambda *pair: [pair], lambda key, values: [], lambda key, values: [])"
    script = written(tmp_path, job=f"from typedbytes import streaming\n{run}\n")
    options = {"properties": {"mapred.reduce.tasks": "0"}, "input_format": "text"}
    checked = hadoop.check(plan(script, ["in"], "out", **options))
    assert checked.nreducers == 0 and not {"-combiner", "-reducer"} & set(checked.words())


def test_a_script_with_one_step_may_go_without_its_reducer(tmp_path):
    script = written(tmp_path, job=STEPS.replace("[Step(lib.identitymapper)] +", ""))
    checked = hadoop.check(plan(script, ["in"], "out", nreducers=0, params={"times": 1}, input_format="text"))
    assert "-reducer" not in checked.words()


def test_a_shell_takes_the_printed_command_apart_again():
    job = plan(python="/opt/my python/bin/python3", properties={"x": "$HOME 'y'"})
    assert shlex.split(job.shell("hadoop", "jar", "s.jar").replace("\\\n", "")) == [
        "hadoop",
        "jar",
        "s.jar",
        *job.words(),
    ]


def test_a_shell_runs_the_printed_command():
    job = plan("job.py", ["a b", "it's", "{c,d}"], "\n\t*!$x`y`\\", name='say "hello" & <bye>')
    text = job.shell("printf", "%s\\0", "hadoop")
    said = subprocess.run(["sh", "-c", text], stdout=subprocess.PIPE, check=True).stdout.decode()
    assert said.split("\0") == ["hadoop", *job.words(), ""]


WRONG = [
    ({"files": ["a,b.py"]}, "the path contains ',': rename it"),
    ({"files": ["a b.py"]}, "the path contains ' '"),
    ({"files": ["a%41.py"]}, "the path contains '%'"),
    ({"files": ["a?.py"]}, r"the path contains '\?'"),
    ({"files": ["a:b.py"]}, "reads 'a:b.py' as a URL"),
    ({"files": ["a.py#b c.py"]}, "the name contains ' '"),
    ({"files": ["a.py#../b.py"]}, "cannot be called '../b.py' in the folder of a task"),
    ({"files": ["a.py#"]}, "cannot be called ''"),
    ({"files": ["job.xml"]}, "cannot be called 'job.xml'"),
    ({"files": ["typedbytes.py"]}, "cannot be called 'typedbytes.py'"),
    ({"files": ["x/*"]}, r"cannot be called '\*'"),
    ({"files": ["a/x.txt", "b/x.txt"]}, "/a/x.txt and .*/b/x.txt are both called x.txt"),
    ({"files": ["a/x.txt#one", "b/x.txt#two"]}, "are both called x.txt"),
    ({"files": ["a/job.py"]}, "are both called job.py"),
    ({"files": ["x.zip"], "archives": ["x.zip"]}, "are both called x.zip"),
    ({"files": ["a.txt", "b.txt#a.txt"]}, "are both called a.txt"),
    ({"archives": ["x.zip#typedbytes-bundle"], "bundle": "b.zip"}, "are both called typedbytes-bundle"),
    ({"archives": ["hdfs://h/a/x.zip", "hdfs://h/b/x.zip"]}, "are both called x.zip"),
    ({"archives": ["hdfs://h/a/%78.zip"]}, "the path contains '%'"),
    ({"bundle": "a,b.zip"}, "the path contains ','"),
    ({"bundle": "a#b.zip"}, "the path contains '#'"),
    ({"script": "a#b.py"}, "the path contains '#'"),
    ({"python": "py\"th'on"}, "there are both a ' and a \" in it"),
    ({"python": ""}, "drops an empty word"),
    ({"python": "a\udcff"}, "it contains NUL or bytes that are not text"),
    ({"python": "a\0"}, "it contains NUL or bytes that are not text"),
    ({"inputs": ["a,b"]}, "reads 'a,b', the value of -input, as several paths"),
    ({"inputs": ["{a,b},c"]}, "as several paths"),
    ({"inputs": ["-input"]}, "reads the value '-input' of -input as an option: write a path as ./-input"),
    ({"inputs": [""]}, "-input needs a value that is not empty"),
    ({"inputs": ['"a"']}, "strips a double quote from either end of .*, the value of -input"),
    ({"inputs": ["/user/${user.name}"]}, "by a property: write out its value"),
    ({"inputs": ["a\udcff"]}, "cannot send"),
    ({"output": "/user/${user.name}"}, "the value of -output, by a property"),
    ({"files": ["x#a:b"]}, "-files reads the name 'a:b' as a URL"),
    ({"archives": ["x.zip#:"]}, "-archives reads the name ':' as a URL"),
    ({"input_format": ""}, "-inputformat needs a value that is not empty"),
    ({"environment": {"A": "x y"}}, "Hadoop ends the variable A='x y' at its space"),
    ({"environment": {"A B": "x"}}, "at its space"),
    ({"environment": {"A=B": "x"}}, "not the name of a variable"),
    ({"environment": {"A": "${user.name}"}}, "the value of -cmdenv, by a property"),
    ({"environment": {"A": 'x"'}}, "strips a double quote from either end of .*, the value of -cmdenv"),
    ({"environment": {"TMPDIR": "x"}}, "sets the variable TMPDIR of each task itself"),
    ({"properties": {"a=b": "x"}}, "'a=b' is not a name for Hadoop's -D"),
    ({"properties": {" a": "x"}}, "' a' is not a name"),
    ({"properties": {"-a": "x"}}, "as an option"),
    ({"properties": {"a": ""}}, "-D a= has no value"),
    ({"params": {"x": "${user.name}"}}, r"in '\${user.name}', the value of typedbytes.param.x, by a property"),
    ({"name": "of ${user.name}"}, r"in 'of \${user.name}', the value of mapreduce.job.name, by a property"),
    ({"script": "${user.name}.py"}, "the path contains '{'"),
    ({"properties": {"a": "\x01"}}, "cannot send 'a=.x01', the value of -D, to the nodes"),
    ({"properties": {"stream.map.input": "text"}}, "-io typedbytes"),
]  # fmt: skip


@pytest.mark.parametrize("wrong, message", WRONG, ids=[str(wrong) for wrong, _ in WRONG])
def test_a_value_that_would_not_reach_a_node_unchanged_is_refused(wrong, message):
    given = {"script": "job.py", "inputs": ["in"], "output": "out", **wrong}
    with pytest.raises(hadoop.SubmitError, match=message):
        hadoop.Plan(**given).words()


def test_hadoop_replaces_what_a_property_asks_for():
    words = plan(properties={"a": "${user.name}", "mapreduce.job.name": "of ${user.name}"}).words()
    assert {"a=${user.name}", "mapreduce.job.name=of ${user.name}"} <= {*words}


def test_a_file_that_is_given_twice_is_shipped_once():
    words = plan(files=["a.py", "./a.py#a.py", "job.py", "a.py"], archives=["x.zip#x", "x.zip#x", "x.zip#y"]).words()
    assert words[words.index("-files") + 1] == "job.py,a.py,./a.py"
    assert words[words.index("-archives") + 1] == "x.zip#x,x.zip#y"


def test_file_names_that_look_like_options_get_a_folder_before_them():
    words = plan("-job.py", ["./-in"], "out", files=["-x.txt"]).words()
    assert words[words.index("-files") + 1] == "./-job.py,./-x.txt"
    assert words[words.index("-mapper") + 1] == "python3 ./-job.py map"


def test_a_script_elsewhere_is_run_by_its_link():
    words = plan("hdfs://h/jobs/job.py#main.py", ["in"], "out").words()
    assert words[words.index("-files") + 1] == "hdfs://h/jobs/job.py#main.py"
    assert words[words.index("-mapper") + 1] == "python3 main.py map"


# -- clouds -----------------------------------------------------------------------------------------------


def test_steps_for_emr():
    steps, commands = hadoop.emr(plan(bundle="b/b.zip", files=["s3://x/y.py"]), "s3://bucket/jobs/", "j-123")
    (step,) = steps
    assert step["Jar"] == "command-runner.jar" and step["Name"] == "job.py"
    words = step["Args"]
    assert words[0] == "hadoop-streaming"
    assert words[words.index("-files") + 1] == "s3://bucket/jobs/job.py,s3://x/y.py"
    assert words[words.index("-archives") + 1] == "s3://bucket/jobs/b.zip#typedbytes-bundle"
    assert commands[:2] == ["aws s3 cp job.py s3://bucket/jobs/", "aws s3 cp b/b.zip s3://bucket/jobs/"]
    assert commands[2] == "aws emr add-steps --cluster-id j-123 --steps file://steps.json"


def test_a_job_for_dataproc():
    job, commands = hadoop.dataproc(plan(properties={"a": "b,c"}), "gs://bucket/jobs", "my-cluster", "europe-west1")
    assert job["placement"] == {"clusterName": "my-cluster"}
    assert job["hadoopJob"]["properties"]["a"] == "b,c"
    assert "-D" not in job["hadoopJob"]["args"]
    words = shlex.split(commands[1])
    assert words[:5] == ["gcloud", "dataproc", "jobs", "submit", "hadoop"]
    assert words[words.index("--") + 1 :] == job["hadoopJob"]["args"]
    (listed,) = (word for word in words if word.startswith("--properties="))
    assert listed.startswith("--properties=^;^mapreduce.job.name=job.py;") and listed.endswith(";a=b,c")


def test_properties_with_semicolons_for_dataproc():
    def listed(value):
        _, commands = hadoop.dataproc(plan(properties={"a": value}), "gs://bucket/jobs", "c", "r")
        (word,) = (word for word in shlex.split(commands[-1]) if word.startswith("--properties=^"))
        return word

    assert listed("b;mapreduce.job.reduces=9").endswith("|a=b;mapreduce.job.reduces=9")
    assert listed("b;c|d").startswith("--properties=^~^mapreduce.job.name=job.py~")
    with pytest.raises(hadoop.SubmitError, match="gcloud cannot separate the properties"):
        listed(";|~@!:+&")


def test_files_are_uploaded_for_emr_unless_their_names_collide():
    steps, commands = hadoop.emr(
        plan("it's a/job.py", ["in"], "out", files=["-x y/one.txt#two.txt"], archives=["s3://b/y.zip#y"]),
        "s3://bucket",
        "j",
    )
    words = steps[0]["Args"]
    assert words[words.index("-files") + 1] == "s3://bucket/job.py,s3://bucket/one.txt#two.txt"
    assert words[words.index("-archives") + 1] == "s3://b/y.zip#y"
    assert [shlex.split(command)[3] for command in commands[:2]] == ["it's a/job.py", "./-x y/one.txt"]
    with pytest.raises(hadoop.SubmitError, match="are both called x.txt"):
        hadoop.emr(plan(files=["a/x.txt#one", "b/x.txt#two"]), "s3://bucket", "j")


# -- modules ----------------------------------------------------------------------------------------------


def written(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return str(folder / "job.py")


def test_modules_beside_a_script_travel_with_it(tmp_path):
    script = written(
        tmp_path,
        job="import os, one\nfrom two import x\nfrom typedbytes import streaming\n",
        one="import three, numpy",
        two="",
        three="import one",
    )
    files, others = modules.local_modules(script)
    assert [os.path.basename(path) for path in files] == ["one.py", "three.py", "two.py"]
    assert others == {"os", "typedbytes", "numpy"}
    assert modules.third_party(others) == ["numpy"]
    assert modules.third_party(["sys", "json", "_io", "zlib", "xml", "no_such_thing"]) == ["no_such_thing"]


def test_what_a_script_may_do_without_is_not_asked_for(tmp_path):
    script = written(
        tmp_path, job="try:\n    import no_such_thing\nexcept ImportError:\n    pass\ndef f():\n    import nor_this\n"
    )
    assert modules.local_modules(script) == ([], set())


def test_a_package_beside_a_script_belongs_into_a_bundle(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text("")
    script = written(tmp_path, job="import mine")
    with pytest.raises(hadoop.SubmitError, match="put it into the bundle with --module .*mine"):
        modules.local_modules(script)


def test_modules_that_are_in_the_bundle(small, tmp_path):
    """Tasks import what lies beside the script, not an older one of the bundle."""
    script = written(tmp_path, job="import mine, one\nrun()", one="a = 1")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text("")
    (tmp_path / "mine.py").write_text("Python imports the package")
    modules = [str(tmp_path / "mine"), str(tmp_path / "one.py")]
    target = str(tmp_path / "b.zip")
    hadoop.bundle(target, modules=modules)
    job = plan(script, ["in"], "out", bundle=target, files=[modules[1]])
    assert hadoop.check(job).files == [modules[1]]
    for path, name in [
        (tmp_path / "one.py", "one.py"),
        (tmp_path / "mine" / "new.py", "mine/new.py"),
        (tmp_path / "mine" / "__init__.py", "mine/__init__.py"),
    ]:
        before = path.read_bytes() if path.exists() else None
        path.write_text("a = 2")
        with pytest.raises(
            hadoop.SubmitError,
            match=f"{name} in the bundle .* differs from .*: make it again with typedbytes bundle --module",
        ):
            hadoop.check(job)
        path.unlink() if before is None else path.write_bytes(before)
    hadoop.check(job)


@pytest.mark.parametrize("text", ["def", "x = \0", "\xff"])
def test_a_script_that_is_not_python(tmp_path, text):
    path = tmp_path / "job.py"
    path.write_text(text, "latin-1")
    with pytest.raises(hadoop.SubmitError, match="is not Python 3"):
        modules.local_modules(str(path))


def test_check_adds_modules_and_names_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = written(tmp_path, job="import one, numpy\none.run()", one="")
    said = []
    checked = hadoop.check(plan(script, ["in"], "out", input_format="text"), said.append)
    assert checked.files == [str(tmp_path / "one.py")]
    assert said == ["the nodes must have the module numpy, or a bundle that holds it (--require numpy)"]
    (tmp_path / "numpy.zip").write_bytes(b"")
    for wrong, message in [
        (plan("no.py", ["in"], "out"), "there is no script no.py"),
        (plan(script, ["in"], "out", files=["no.txt"]), "there is no file no.txt to ship"),
        (plan(script, ["in"], "out", bundle="no.zip"), "make it with typedbytes bundle no.zip"),
        (plan(script, ["in"], "out", bundle="numpy.zip"), "cannot be read .* make it with typedbytes bundle"),
        (plan(written(tmp_path, job="import no_such_thing"), ["in"], "out"), "imports no_such_thing, which is neither"),
    ]:
        with pytest.raises(hadoop.SubmitError, match=message):
            hadoop.check(wrong)
    assert hadoop.check(plan("s3://bucket/job.py", ["in"], "out")).files == []
    hadoop.check(
        plan(written(tmp_path, job="def mapper(key, value): pass"), ["in"], "out", input_format="text"), said.append
    )
    assert said[1:] == [f"{script} does not call run(...): its tasks may succeed and write nothing"]


ROLES = [
    ("from typedbytes import streaming\nstreaming.run(m)", False, False),
    ("from typedbytes import streaming\nstreaming.run(m, r, combiner=None)", False, True),
    ("from typedbytes import streaming as s\ns.run(m, r, c)", True, True),
    ("from typedbytes.streaming import run\nrun(m, reducer=r, combiner=r)", True, True),
    ("import typedbytes.streaming\ntypedbytes.streaming.run(m, r)", False, True),
    ("from typedbytes.streaming import run\nrun(m, r) if x else run(m, r, c)", True, True),
    ("from typedbytes.streaming import run\nrun(m, **jobs)", None, None),
    ("from typedbytes.streaming import run\nrun(*jobs)", None, None),
    ("from typedbytes.streaming import run\nrun(m, *jobs)", None, None),
    ("import subprocess\nsubprocess.run(m, r, c)", None, None),
]


@pytest.mark.parametrize("text, combines, reduces", ROLES, ids=[text.partition("\n")[2] for text, _, _ in ROLES])
def test_the_script_decides_about_its_combiner_and_its_reducer(tmp_path, text, combines, reduces):
    script = written(tmp_path, job=text)
    assert Source(script).roles == {"combine": combines, "reduce": reduces}
    checked = hadoop.check(plan(script, ["in"], "out"))
    assert (checked.combiner, checked.nreducers) == (bool(combines), 0 if reduces is False else 1)
    for options, has in (({"combiner": True}, combines), ({"nreducers": 2}, reduces)):
        expected = (
            pytest.raises(hadoop.SubmitError, match="job.py has no (combiner|reducer): give")
            if has is False
            else contextlib.nullcontext()
        )
        with expected:
            checked = hadoop.check(plan(script, ["in"], "out", **options))
            assert {name: getattr(checked, name) for name in options} == options


def test_the_format_of_inputs_that_can_be_seen(tmp_path, monkeypatch):
    (tmp_path / "core-site.xml").write_text("<configuration/>")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    folder = tmp_path / "in"
    folder.mkdir()
    with sequencefile.open(str(folder / "part-00000"), "w") as file:
        file.write("a", 1)
    (folder / "_SUCCESS").write_bytes(b"")
    (tmp_path / "a.txt").write_text("SEQUENCES are text\n")
    said = []
    found = [
        hadoop.check(plan(str(JOB), [str(path)], "out"), said.append).input_format
        for path in (folder, tmp_path / "a*", f"file://{folder}")
    ]
    assert (found, said) == (["sequencefile", "text", "sequencefile"], [])
    with pytest.raises(
        hadoop.SubmitError, match="part-00000 is a SequenceFile and .*a.txt is not: give the inputs of one kind"
    ):
        hadoop.check(plan(str(JOB), [str(folder), str(tmp_path / "a.txt")], "out"))
    assert hadoop.check(plan(str(JOB), ["hdfs:///in"], "out"), said.append).input_format == "text"
    assert said == ["the inputs are read as lines of text; for SequenceFiles give --input-format sequencefile"]
    assert (
        hadoop.check(plan(str(JOB), ["hdfs:///in"], "out", input_format="com.example.F"), said.append).input_format
        == "com.example.F"
    )


# -- bundles ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Return a bundle with a module, a package and two wheels of the same package for two versions."""
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "mine").mkdir()
    (folder / "mine" / "__init__.py").write_text("number = 5")
    (folder / "single.py").write_text("import other; name = other.name")
    wheels = []
    for tag in ("cp" + "%d%d" % sys.version_info[:2], "cp27"):
        wheels.append(folder / f"other-1.0-{tag}-{tag}-any.whl")
        with zipfile.ZipFile(wheels[-1], "w") as wheel:
            wheel.writestr("other/__init__.py", f"name = {tag!r}")
            wheel.writestr("other-1.0.data/platlib/other_too.py", "")
            wheel.writestr("other-1.0.dist-info/RECORD", "")
    target = folder / "bundle.zip"
    hadoop.bundle(str(target), modules=[str(folder / "mine"), str(folder / "single.py")], wheels=map(str, wheels))
    return target


@pytest.mark.unsanitized("its environment has nothing but what a node has, so no sanitizer")
def test_what_is_in_a_bundle(archive, tmp_path):
    with zipfile.ZipFile(archive) as opened:
        names = opened.namelist()
        opened.extractall(tmp_path)
    assert names == sorted(names)
    assert {
        "typedbytes/__init__.py",
        "typedbytes/streaming/_run.py",
        "mine/__init__.py",
        "single.py",
        "cp27/other/__init__.py",
    } <= set(names)
    assert not [name for name in names if name.endswith((".pyc", ".pyi")) or "dist-info" in name]
    version = "%d.%d" % sys.version_info[:2]
    assert version in _bundle.versions_in(str(archive))
    code = (
        "import typedbytes, mine, single; print(typedbytes.loads(typedbytes.dumps(mine.number)), single.name, "
        "typedbytes.__file__)"
    )
    environ = {"PYTHONPATH": str(tmp_path), "PATH": os.environ["PATH"]}
    said = subprocess.run(
        [sys.executable, "-s", "-c", code], cwd="/", env=environ, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split()
    assert said == ["5", "cp" + version.replace(".", ""), str(tmp_path / "typedbytes" / "__init__.py")]


def test_a_bundle_is_the_same_every_time(archive, tmp_path):
    parts = {
        "modules": [archive.parent / "mine", archive.parent / "single.py"],
        "wheels": sorted(archive.parent.glob("*.whl")),
    }
    hadoop.bundle(str(tmp_path / "again.zip"), **{name: list(map(str, paths)) for name, paths in parts.items()})
    assert (tmp_path / "again.zip").read_bytes() == archive.read_bytes()


def test_bundles_that_cannot_be(tmp_path):
    for target, options, message in [
        ("b.tar", {}, "name of a bundle must end with .zip"),
        ("no/such/b.zip", {}, "no/such/b.zip cannot be written: No such file"),
        ("b.zip", {"modules": ["no.py"]}, "no.py cannot be put into a bundle: No such file"),
        ("b.zip", {"wheels": [__file__]}, "is not a wheel"),
    ]:
        with pytest.raises(hadoop.SubmitError, match=message):
            hadoop.bundle(str(tmp_path / target), **options)
        assert os.listdir(tmp_path) == []


@pytest.fixture
def small(monkeypatch):
    """Have bundles made with next to nothing of our package, since most of it takes long to compress."""

    def add_package(archive):
        for name in ("__init__.py", "_module.cpython-311-x86_64-linux-gnu.so"):
            archive.add(f"typedbytes/{name}", b"of this machine", _bundle.OURS)

    monkeypatch.setattr(_bundle, "_add_package", add_package)


def tree(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return str(folder)


def names_in(target):
    with zipfile.ZipFile(target) as opened:
        return [name for name in opened.namelist() if not name.startswith("typedbytes/")]


def test_what_is_left_out_of_a_module_is_named(small, tmp_path, capfdbinary):
    quiet = [".git/config", ".hg/x", ".svn/x", "__pycache__/x.py", "x.pyc", ".mypy_cache/x"]
    named = [".env", ".hidden/x.py", "x.py~", "x.py.orig", ".x.py.swp", "venv/lib/x.py", "venv/pyvenv.cfg"]
    folder = tree(tmp_path / "mine", "__init__.py", "page.html", "fast.c", "types.pyi", "sub/x.py", *quiet, *named)
    code, output, messages = run_command(capfdbinary, "bundle", tmp_path / "b.zip", "--module", folder)
    assert (code, output) == (0, "")
    assert names_in(tmp_path / "b.zip") == [
        f"mine/{name}" for name in ("__init__.py", "fast.c", "page.html", "sub/x.py", "types.pyi")
    ]
    left_out = [".env", ".hidden", ".x.py.swp", "venv", "x.py.orig", "x.py~"]
    assert messages == f"typedbytes: left out of the bundle: {', '.join(f'{folder}/{name}' for name in left_out)}\n"


def test_links_in_a_module(small, tmp_path):
    """What they lead to outside of it is not packed, and a named pipe is not waited for."""
    folder = tree(tmp_path / "mine", "__init__.py", "sub/x.py")
    tree(tmp_path / "outside", "secret.py")
    (tmp_path / "mine" / "again.py").symlink_to("sub/x.py")
    (tmp_path / "mine" / "other").symlink_to("sub")
    (tmp_path / "link").symlink_to("mine")
    hadoop.bundle(str(tmp_path / "b.zip"), modules=[str(tmp_path / "link")])
    assert names_in(tmp_path / "b.zip") == [
        f"link/{name}" for name in ("__init__.py", "again.py", "other/x.py", "sub/x.py")
    ]
    (tmp_path / "b.zip").unlink()
    link = tmp_path / "mine" / "sub" / "link"
    for goal, message in [
        ("../../outside/secret.py", "is a link to .*/outside/secret.py, outside of .*/mine: copy it"),
        ("../../outside", "outside of"),
        ("/dev/zero", "outside of"),
        ("..", "which it is in: remove the link"),
        ("no-such-file", "cannot be put into a bundle: No such file"),
    ]:
        link.symlink_to(goal)
        with pytest.raises(hadoop.SubmitError, match=f"{link} .*{message}|no-such-file {message}"):
            hadoop.bundle(str(tmp_path / "b.zip"), modules=[folder])
        link.unlink()
    os.mkfifo(tmp_path / "mine" / "pipe")
    with pytest.raises(hadoop.SubmitError, match="pipe cannot be put into a bundle: it is neither a file nor a folder"):
        hadoop.bundle(str(tmp_path / "b.zip"), modules=[folder])
    assert not (tmp_path / "b.zip").exists()


def test_modules_of_one_name(small, tmp_path):
    modules = [tree(tmp_path / "a" / "mine", "__init__.py"), tree(tmp_path / "b" / "mine", "x.py")]
    for wrong in (modules, [tree(tmp_path / "typedbytes", "x.py")]):
        with pytest.raises(hadoop.SubmitError, match="it already contains (mine|typedbytes)"):
            hadoop.bundle(str(tmp_path / "b.zip"), modules=wrong)


def wheel_of(path, *entries):
    """Write a wheel; an entry is a name, or a name and its bytes, or a ZipInfo and its bytes."""
    with zipfile.ZipFile(path, "w") as wheel:
        for entry in entries:
            name, data = entry if isinstance(entry, tuple) else (entry, b"")
            wheel.writestr(name, data)
    return str(path)


def entry_of(name, mode):
    item = zipfile.ZipInfo(name)
    item.external_attr = mode << 16
    return item


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "entries, message",
    [
        (["../../evil.py"], "the name '../../evil.py' has an empty part"),
        (["a/../../evil.py"], "has an empty part, . or .."),
        (["./evil.py"], "has an empty part"),
        (["a//evil.py"], "has an empty part"),
        (["/etc/evil.py"], "'/etc/evil.py' is absolute"),
        (["C:/evil.py"], "is absolute"),
        (["C:evil.py"], "is absolute"),
        (["..\\evil.py"], "has a backslash"),
        (["evil\n.py"], "has characters that are not text"),
        ([(entry_of("evil.py", 0o120777), b"/etc/passwd")], "'evil.py' is there twice, or is a link"),
        ([(entry_of("evil.py", 0o020644), b"")], "or is a link"),
        ([("a.py", b"1"), ("a.py", b"2")], "'a.py' is there twice"),
        ([("a.py", b"1"), ("A.py", b"2")], "both provide A.py, there as a.py"),
        (["a", "a/b.py"], "provides a/b.py, and .* the file a: leave one of them out"),
        (["typedbytes/__init__.py"], "and the typedbytes that runs here both provide typedbytes/__init__.py"),
        (["other-1.data/purelib/../evil.py"], "has an empty part"),
    ],
    ids=str,
)
def test_wheels_with_names_that_cannot_be(small, tmp_path, entries, message):
    wheel = wheel_of(tmp_path / "other-1.0-py3-none-any.whl", *entries)
    with pytest.raises(hadoop.SubmitError, match=message):
        hadoop.bundle(str(tmp_path / "b.zip"), wheels=[wheel])
    assert os.listdir(tmp_path) == ["other-1.0-py3-none-any.whl"]


def test_a_wheel_with_a_nul_in_a_file_name_is_refused(tmp_path):
    wheel = wheel_of(tmp_path / "other-1.0-py3-none-any.whl", "a.py_b.py")
    data = (tmp_path / "other-1.0-py3-none-any.whl").read_bytes()
    (tmp_path / "other-1.0-py3-none-any.whl").write_bytes(data.replace(b"a.py_b.py", b"a.py\0b.py"))
    with pytest.raises(hadoop.SubmitError, match="has characters that are not text"):
        hadoop.bundle(str(tmp_path / "b.zip"), wheels=[wheel])


def test_wheels_that_cannot_be_read(tmp_path):
    path = tmp_path / "other-1.0-py3-none-any.whl"
    data = b"abc" * 100
    wheel_of(path, ("a.py", data))
    whole = path.read_bytes()
    for old, new in [(data, b"x" * len(data)), (b"PK\x01\x02\x14\x03\x14\0\0\0", b"PK\x01\x02\x14\x03\x14\0\1\0")]:
        assert old in whole
        path.write_bytes(whole.replace(old, new))
        with pytest.raises(hadoop.SubmitError, match="other-1.0-py3-none-any.whl is not a wheel: "):
            hadoop.bundle(str(tmp_path / "b.zip"), wheels=[str(path)])


def test_each_wheel_is_where_its_pythons_find_it(small, tmp_path):
    names = [
        "a-1-py2.py3-none-any",
        "b-1-cp39-abi3-linux_x86_64",
        "c-1-cp39.cp310-none-any",
        "d-1-1build-cp311-cp311-linux_x86_64",
    ]
    hadoop.bundle(
        str(tmp_path / "b.zip"), wheels=[wheel_of(tmp_path / f"{name}.whl", f"{name[0]}.py") for name in names]
    )
    assert names_in(tmp_path / "b.zip") == ["a.py", "b.py", "cp310/c.py", "cp311/d.py", "cp39/c.py", "sitecustomize.py"]


def test_releases_that_differ_by_version_of_python_keep_apart(small, tmp_path, monkeypatch):
    found = [
        (wheel_of(tmp_path / f"a-{n}-py3-none-any.whl", ("a.py", b"%d" % n)), version)
        for n, version in ((1, "3.9"), (2, "3.11"))
    ]
    monkeypatch.setattr(_bundle, "_fetched", lambda *arguments: found)
    hadoop.bundle(str(tmp_path / "b.zip"), requirements=["a"], python_versions=["3.9", "3.11"])
    assert names_in(tmp_path / "b.zip") == ["cp311/a.py", "cp39/a.py", "sitecustomize.py"]


def test_compiled_modules_of_a_wheel_of_ours_replace_those_of_this_machine(small, tmp_path):
    compiled = "typedbytes/_module.cpython-311-x86_64-linux-gnu.so"
    wheel = wheel_of(tmp_path / "typedbytes-0.1.0-cp311-cp311-manylinux2014_x86_64.whl", (compiled, b"of old systems"))
    hadoop.bundle(str(tmp_path / "b.zip"), wheels=[wheel])
    with zipfile.ZipFile(tmp_path / "b.zip") as opened:
        assert opened.read(compiled) == b"of old systems"
    wheel = wheel_of(
        tmp_path / "typedbytes-0.0.9-cp311-cp311-manylinux2014_x86_64.whl",
        ("typedbytes/__init__.py", b"another release"),
    )
    with pytest.raises(hadoop.SubmitError, match="both provide typedbytes/__init__.py: leave one of them out"):
        hadoop.bundle(str(tmp_path / "b.zip"), wheels=[wheel])


def test_a_bundle_is_written_beside_and_renamed(small, tmp_path):
    target = tmp_path / "b.zip"
    (tmp_path / "other").write_text("other")
    for name in ("b.zip.part", ".b.zip.part"):
        (tmp_path / name).symlink_to("other")
    hadoop.bundle(str(target))
    before = sorted(os.listdir(tmp_path))
    assert before == [".b.zip.part", "b.zip", "b.zip.part", "other"]
    assert (tmp_path / "other").read_text() == "other"
    with limited_files(100), pytest.raises(hadoop.SubmitError, match="cannot be written: File too large"):
        hadoop.bundle(str(target))
    assert sorted(os.listdir(tmp_path)) == before and zipfile.is_zipfile(target)


def test_what_pip_says_is_on_the_line_of_the_message(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    code, _, message = run_command(capfdbinary, "bundle", tmp_path / "b.zip", "--require", "no_such_package")
    assert code == 69 and message.count("\n") == 1 and "\\n" not in message
    assert (
        "; pip says: Could not find a version that satisfies the requirement no_such_package (from versions: "
        "none); No matching" in message
    )


@contextlib.contextmanager
def limited_files(nbytes):
    """Let files grow to no more than `nbytes` bytes: what a full disk is, but for the number of the error."""
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def test_wheels_that_pip_does_not_find(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(
        hadoop.SubmitError, match="pip found no wheels for Python 3.9: build them with pip wheel .* --find-links"
    ):
        hadoop.bundle(str(tmp_path / "b.zip"), python_versions=["3.9"], find_links=[str(tmp_path)])


# -- what Hadoop says -------------------------------------------------------------------------------------

LOG = """\
2026-01-02 03:04:05,678 INFO mapreduce.Job: The url to track the job: http://localhost:8080/
2026-01-02 03:04:05,679 INFO mapreduce.Job: Running job: job_local1234_0001
2026-01-02 03:04:06,690 INFO mapreduce.Job:  map 0% reduce 0%
2026-01-02 03:04:07,690 INFO mapreduce.Job:  map 100% reduce 0%
2026-01-02 03:04:07,691 INFO mapreduce.Job:  map 100% reduce 0%
2026-01-02 03:04:08,690 INFO mapreduce.Job:  map 100% reduce 100%
2026-01-02 03:04:08,700 INFO mapreduce.Job: Counters: 3
\tFile System Counters
\t\tFILE: Number of bytes read=1234
\twords = all
\t\tseen = x=5
\t\tlost=-1
2026-01-02 03:04:08,701 INFO streaming.StreamJob: Output directory: out
"""
FAILURE = """\
typedbytes: task failed: user code failed (exit code 1)
typedbytes: attempt: attempt_1_0001_m_000003_0
Traceback (most recent call last):
  File "job.py", line 2, in <module>
    1 / 0
    ~~^~~
ZeroDivisionError: division by zero
2026-01-02 03:04:05,678 WARN mapred.LocalJobRunner: job_local1_0001
java.lang.Exception: java.lang.RuntimeException: PipeMapRed.waitOutputThreads(): subprocess failed with code 1
"""


def parsed(text):
    said = []
    log = JobLogParser(said.append)
    for line in text.splitlines(keepends=True):
        log.parse_line(line)
    return log, said


def test_progress_and_counters():
    log, said = parsed(LOG)
    assert said == ["job job_local1234_0001", "map 0 %, reduce 0 %", "map 100 %, reduce 0 %", "map 100 %, reduce 100 %"]
    assert log.counters == {
        "File System Counters": {"FILE: Number of bytes read": 1234},
        "words = all": {"seen = x": 5, "lost": -1},
    }
    assert log.report == [] and log.advice() is None


TASKS = """\
x INFO mapred.LocalJobRunner: Starting task: attempt_local12_0001_m_000000_0
x INFO mapred.MapTask: Processing split: file:/data/in.txt:100+28
x INFO mapreduce.Job:  map 0% reduce 0%
x INFO mapred.LocalJobRunner: Finishing task: attempt_local12_0001_m_000000_0
x INFO mapred.LocalJobRunner: Starting task: attempt_local12_0001_m_000001_0
x INFO mapred.MapTask: Processing split: org.example.Split@12ab
x INFO mapred.LocalJobRunner: Finishing task: attempt_local12_0001_m_000001_0
x INFO mapred.LocalJobRunner: Starting task: attempt_local12_0001_r_000000_0
x INFO mapred.Merger: Down to the last merge-pass, with 1 segments left of total size: 54 bytes
x INFO mapreduce.Job:  map 100% reduce 0%
"""


def test_the_tasks_of_hadoops_local_mode():
    log, _ = parsed(TASKS)
    first, second, third = log.tasks
    assert (first.kind, first.number, first.nbytes, first.source) == (
        "map",
        0,
        28,
        "file:/data/in.txt, bytes 100 to 128",
    )
    assert (second.kind, second.number, second.nbytes, second.source) == ("map", 1, None, "")
    assert (third.kind, third.number, third.nbytes, third.end) == ("reduce", 0, 54, 0.0)
    assert first.start <= first.end <= second.start <= second.end <= third.start
    log.fail_tasks()
    assert [bool(task.failure) for task in log.tasks] == [False, False, True] and third.end


def test_a_cluster_says_only_when_all_tasks_of_a_kind_run():
    log, _ = parsed(LOG + "x INFO mapreduce.Job: Counters: 1\n\tFile Input Format Counters \n\t\tBytes Read=21\n")
    first, second = log.tasks
    assert (first.nbytes, second.nbytes) == (21, None)
    assert [(task.kind, task.number) for task in log.tasks] == [("map", None), ("reduce", None)]
    assert 0 < first.start <= first.end <= second.end and second.start <= second.end


def test_the_url_of_a_job_and_failed_attempts_are_reported():
    _, said = parsed(
        "x INFO mapreduce.Job: The url to track the job: http://host:8088/proxy/application_1_0002/\n"
        "x INFO mapreduce.Job: Task Id : attempt_1_0002_m_000000_0, Status : FAILED\n"
    )
    assert said[0] == "The url to track the job: http://host:8088/proxy/application_1_0002/"
    assert said[1] == "Task Id : attempt_1_0002_m_000000_0, Status : FAILED"


def test_the_report_of_a_failed_task_has_its_own_lines_only():
    log, _ = parsed(LOG + FAILURE + LOG + FAILURE)
    assert log.report[: len(FAILURE.splitlines()) - 2] == FAILURE.splitlines()[:-2]
    assert not [line for line in log.report if "java" in line or "LocalJobRunner" in line]


NODE = "/data/nm-local-dir/usercache/me/appcache/application_1_0002/container_e01_1_0002_01_000003"
PYTHON_FAILURE = f"""\
typedbytes: task failed: user code failed (exit code 1)
typedbytes: attempt: attempt_1_0002_m_000000_ATTEMPT
typedbytes: key: 'b' (070000000162)
Traceback (most recent call last):
  File "{NODE}/typedbytes-bundle/typedbytes/streaming/_run.py", line 294, in _process
    pairs = process(key, value)
            ^^^^^^^^^^^^^^^^^^^
  File "{NODE}/./job.py", line 5, in mapper
    yield helper.parsed(value), ATTEMPT
  File "/data/nm-local-dir/usercache/me/filecache/12/helper.py", line 3, in parsed
    return json.loads(value)
  File "/usr/lib/python3.11/json/__init__.py", line 346, in loads
    return _default_decoder.decode(s)
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
"""


def test_a_failure_on_yarn_starts_with_the_users_own_line():
    log, _ = parsed("".join(PYTHON_FAILURE.replace("ATTEMPT", str(attempt)) + LOG for attempt in range(4)))
    own, lines = summarize(log.report)
    assert own == (
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0) (helper.py, line 3: "
        "return json.loads(value))"
    )
    assert lines[:3] == [
        "task failed: user code failed (exit code 1)",
        "attempt: attempt_1_0002_m_000000_3",
        "key: 'b' (070000000162)",
    ]
    assert [line for line in lines if "File" in line] == [
        '  File "typedbytes-bundle/typedbytes/streaming/_run.py", line 294, in _process',
        '  File "job.py", line 5, in mapper',
        '  File "helper.py", line 3, in parsed',
        '  File "/usr/lib/python3.11/json/__init__.py", line 346, in loads',
    ]
    assert len(lines) == len(PYTHON_FAILURE.splitlines())


def test_a_failure_without_a_line_of_the_user_is_shown_as_it_is():
    text = "".join(
        line for line in PYTHON_FAILURE.splitlines(keepends=True) if "job.py" not in line and "helper.py" not in line
    )
    assert summarize(parsed(text)[0].report)[0] is None
    assert summarize([]) == (None, [])
    started = [
        "Traceback (most recent call last):",
        f'  File "{NODE}/job.py", line 1, in <module>',
        "    import numpy",
        "ModuleNotFoundError: numpy",
    ]
    again = [
        "",
        "During handling of the above exception, another exception occurred:",
        "",
        "Traceback (most recent call last):",
        "OSError: x",
    ]
    assert summarize(started * 2) == (
        "ModuleNotFoundError: numpy (job.py, line 1: import numpy)",
        [started[0], '  File "job.py", line 1, in <module>', *started[2:]],
    )
    assert len(summarize(started * 2 + again)[1]) == len(started + again)


SAID = {
    "Output directory file:/x/out already exists": "give another --output",
    "Input path does not exist: file:/x/in": "the input does not exist",
    "ERROR: JAVA_HOME is not set and could not be found.": "export JAVA_HOME",
    "java.lang.UnsupportedClassVersionError: org/apache/hadoop/x has been compiled by a more recent version": (
        "the Java is too old"
    ),
    "java.lang.UnsupportedOperationException: getSubject is not supported": "the Java is too new",
    "java.lang.reflect.InaccessibleObjectException: Unable to make": "the Java is too new",
    'java.io.IOException: Cannot run program "/x/python3": error=2, No such file or directory': (
        "the nodes have no program /x/python3: give"
    ),
    "ModuleNotFoundError: No module named 'typedbytes._core'": "another version of Python",
    "ModuleNotFoundError: No module named 'typedbytes'": "without --no-bundle",
    "ModuleNotFoundError: No module named 'numpy'": "the nodes have no module numpy: ship",
    "usage: job.py map|combine|reduce": "streaming.run",
    "ImportError: /lib64/libc.so.6: version `GLIBC_2.34' not found": "--platform",
    "Caused by: java.io.IOException: file:/x/in.txt not a SequenceFile": (
        "file:/x/in.txt is not a SequenceFile: read its lines"
    ),
    "Caused by: java.io.EOFException\n\tat java.io.DataInputStream.readFully(x)\n"
    "\tat org.apache.hadoop.io.SequenceFile$Reader.init(x)": "--repair GOOD",
    "LimitExceededException: Too many counters: 121 max=120": "120 counters",
    "java.net.ConnectException: Call From x to y failed on connection exception: Connection refused": "does not answer",
    "org.apache.hadoop.security.AccessControlException: Permission denied: user=x, access=WRITE": (
        "access denied by the cluster"
    ),
    "SafeModeException: Cannot create file. Name node is in safe mode.": "starting up",
    "Container is running beyond physical memory limits": "more memory",
}


@pytest.mark.parametrize("line", SAID, ids=lambda line: line[:40])
def test_each_known_failure_has_its_advice(line):
    assert SAID[line] in parsed(line)[0].advice()


@pytest.mark.parametrize(
    "line, start",
    [
        (
            "ModuleNotFoundError: No module named 'typedbytes_helpers'",
            "the nodes have no module typedbytes_helpers: ship",
        ),
        ("ConnectionRefusedError: [Errno 111] Connection refused", None),  # by a database that the task uses
    ],
)
def test_a_failure_that_looks_like_another_does_not_get_its_advice(line, start):
    advice = parsed(f"Traceback (most recent call last):\n{line}")[0].advice()
    assert advice is None if start is None else advice.startswith(start)


def test_errors_that_java_logs_are_reported():
    log, _ = parsed(
        "INFO: Binding org.apache.hadoop.yarn.webapp.GenericExceptionHandler to GuiceManagedComponentProvider\n"
        "2026-01-02 03:04:05,678 ERROR [main] streaming.PipeMapRed: configuration exception\n"
        "java.lang.RuntimeException: Error in configuring object\n"
        "\tat org.apache.hadoop.util.ReflectionUtils.setJobConf(ReflectionUtils.java:113)\n"
        "Caused by: java.io.FileNotFoundException: /x (Permission denied)\n"
        "\t... 17 more\n"
        "2026-01-02 03:04:05,999 ERROR [main] streaming.StreamJob: Job not successful!\n"
    )
    assert [line[:40] for line in log.errors()] == [
        "2026-01-02 03:04:05,678 ERROR [main] str",
        "java.lang.RuntimeException: Error in con",
        "Caused by: java.io.FileNotFoundException",
    ]


def test_every_advice_is_tested():
    given = {parsed(line)[0].advice() for line in SAID}
    assert len(given) == len(ADVICE)


# -- what is installed ------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path):
    """Return a function that makes a HADOOP_HOME whose command is a script of a shell."""

    def home(text="exit 0"):
        folder = tmp_path / "hadoop-3"
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "hadoop").write_text(f"#!/bin/sh\n{text}\n")
        (folder / "bin" / "hadoop").chmod(0o755)
        return folder

    return home


def test_the_hadoop_command_is_found_by_its_home(home, tmp_path):
    folder = home()
    jar = folder / "share" / "hadoop" / "tools" / "lib" / "hadoop-streaming-3.4.2.jar"
    with pytest.raises(hadoop.SubmitError, match="streaming jar was not found .* --streaming-jar"):
        hadoop.command_of(environ={"HADOOP_HOME": str(folder)})
    jar.parent.mkdir(parents=True)
    jar.write_bytes(b"")
    jar.with_name("hadoop-streaming-3.4.2-sources.jar").write_bytes(b"")
    expected = [str(folder / "bin" / "hadoop"), "jar", str(jar)]
    assert hadoop.command_of(environ={"HADOOP_HOME": str(folder)}) == expected
    assert hadoop.command_of(environ={"PATH": str(folder / "bin")}) == expected
    with pytest.raises(hadoop.SubmitError, match="there is no Hadoop here: put its bin folder"):
        hadoop.command_of(environ={"PATH": str(tmp_path)})
    with pytest.raises(hadoop.SubmitError, match=r"HADOOP_HOME is .*, but it has no bin/hadoop"):
        hadoop.command_of(environ={"HADOOP_HOME": str(tmp_path)})
    with pytest.raises(hadoop.SubmitError, match="there is no streaming jar /no.jar"):
        hadoop.command_of("/no.jar", environ={"HADOOP_HOME": str(folder)})


@pytest.mark.parametrize(
    "text, expected",
    [
        (None, "file:///"),
        ("<configuration/>", "file:///"),
        ("not xml", "file:///"),
        (
            "<configuration><property><name>fs.defaultFS</name><value>hdfs://h:1</value></property></configuration>",
            "hdfs://h:1",
        ),
        ("<configuration><property><name>fs.defaultFS</name><value>${where}</value></property></configuration>", ""),
        ('<configuration xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="x.xml"/></configuration>', ""),
        (
            "<configuration><property><name>fs.default.name</name><value>hdfs://h:1</value></property></configuration>",
            "hdfs://h:1",
        ),
    ],
)
def test_the_default_file_system(tmp_path, text, expected):
    if text is not None:
        (tmp_path / "core-site.xml").write_text(text)
    assert installed.default_file_system({"HADOOP_CONF_DIR": str(tmp_path)}) == expected


def test_output_is_read_from_where_it_is(tmp_path):
    with sequencefile.open(str(tmp_path / "part-00000"), "w") as file:
        file.write("a", 1)
    environ = {"HADOOP_CONF_DIR": str(tmp_path)}
    for location in (str(tmp_path), f"file:{tmp_path}", f"file://{tmp_path}"):
        assert list(hadoop.read_output(location, environ)) == [("a", 1)]


def test_output_that_only_hadoop_can_find(tmp_path, monkeypatch, home):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    with sequencefile.open(str(tmp_path / "out" / "part-00000"), "w") as file:
        file.write("of another job", 1)
    folder = home("echo I am asked; exit 1")
    for environ in ({"PATH": str(folder / "bin")}, {"HADOOP_HOME": str(folder)}):
        with pytest.raises(hadoop.SubmitError, match="I am asked"):
            list(hadoop.read_output("out", environ))
    assert list(hadoop.read_output("out", {"PATH": ""})) == [("of another job", 1)]


def test_output_elsewhere_is_copied_here(tmp_path, home):
    (tmp_path / "out").mkdir()
    for number in (1, 0):
        with sequencefile.open(str(tmp_path / "out" / f"part-0000{number}"), "w") as file:
            file.write(number, "a")
    (tmp_path / "core-site.xml").write_text(
        "<configuration><property><name>fs.defaultFS</name><value>hdfs://h:1/</value></property></configuration>"
    )
    folder = home(f'printf "%s %s %s\\n" "$1" "$2" "$3" > {tmp_path}/said; cp {tmp_path}/out/part-* "$4"')
    environ = {"HADOOP_CONF_DIR": str(tmp_path), "HADOOP_HOME": str(folder)}
    assert list(hadoop.read_output("/out", environ)) == [(0, "a"), (1, "a")]
    assert (tmp_path / "said").read_text() == "fs -get /out/part-*\n"
    assert len(list(hadoop.read_output("hdfs://x/a*[b]{c}?\\", environ))) == 2
    assert (tmp_path / "said").read_text() == "fs -get hdfs://x/a\\*\\[b\\]\\{c\\}\\?\\\\/part-*\n"
    (folder / "bin" / "hadoop").write_text("#!/bin/sh\necho no such file\nexit 1\n")
    with pytest.raises(hadoop.SubmitError, match="could not copy the output hdfs://x/y here: no such file"):
        list(hadoop.read_output("hdfs://x/y", environ))


# -- the commands -----------------------------------------------------------------------------------------


def run_command(capfdbinary, *words):
    code = cli.main([*map(str, words)])
    found = capfdbinary.readouterr()
    return code, found.out.decode(), found.err.decode()


WORDS = ("in", "--output", "out")
VERSION = "{}.{}".format(*sys.version_info)


@pytest.mark.parametrize(
    "words, code, message",
    [
        (["submit"], 64, "submit needs a SCRIPT, an INPUT (see"),
        (["submit", JOB, "-o", "out"], 64, "submit needs a SCRIPT, an INPUT (see"),
        (["submit", JOB, *WORDS, "--read", "--output-format", "text"], 64, "--read needs SequenceFiles"),
        (["submit", JOB, *WORDS, "--read", "-D", "fs.defaultFS=hdfs://h", "--no-bundle"], 64, "give --output as a URL"),
        (["submit", JOB, "in", "--dry-run"], 64, "--dry-run is for a job with --output FOLDER"),
        (["submit", JOB, *WORDS, "-D", "x", "--no-bundle"], 64, "-D takes NAME=VALUE, not 'x'"),
        (
            ["submit", JOB, *WORDS, "--param", "a-b=c", "--dry-run", "--no-bundle"],
            64,
            "letters, digits and underscores, 'a-b' has others",
        ),
        (["submit", JOB, *WORDS, "--env", "=x", "--no-bundle"], 64, "--env takes NAME=VALUE"),
        (["submit", JOB, *WORDS, "--reducers", "-1"], 64, "expected an integer of at least 0"),
        (["submit", JOB, *WORDS, "--dry-run", "--no-bundle", "--require", "x"], 64, "leave out --bundle / --no-bundle"),
        (
            ["submit", JOB, *WORDS, "--dry-run", "--bundle", "b.zip", "--module", "x"],
            64,
            "leave out --bundle / --no-bundle",
        ),
        (["submit", JOB, *WORDS, "--dry-run", "--bundle", "b.zip", "--no-bundle"], 64, "not allowed with"),
        (["submit", JOB, *WORDS, "--target", "emr", "--no-bundle"], 64, "needs --staging"),
        (
            ["submit", JOB, *WORDS, "--input-format", "pairs", "--dry-run", "--no-bundle"],
            64,
            "works only with typedbytes run",
        ),
        (
            ["submit", JOB, *WORDS, "-D", "tmpfiles=x", "--dry-run", "--no-bundle"],
            64,
            "Hadoop Streaming sets the property tmpfiles from -files",
        ),
        (
            ["submit", JOB, *WORDS, "--env", "TMPDIR=x", "--dry-run", "--no-bundle"],
            69,
            "Hadoop sets the variable TMPDIR",
        ),
        (
            ["submit", JOB, *WORDS, "--output-format", "texts", "--dry-run", "--no-bundle"],
            64,
            "unknown format 'texts'; known: ",
        ),
        (["submit", "no.py", *WORDS, "--no-bundle"], 64, "there is no script no.py"),
        (["submit", "wrong.py", *WORDS, "--no-bundle"], 64, "wrong.py is not Python"),
        (["submit", JOB, *WORDS, "--no-bundle", "--ship", "no"], 64, "there is no file no to ship"),
        (["submit", JOB, *WORDS, "--bundle", "no.zip"], 64, "there is no file no.zip to ship"),
        (["submit", JOB, *WORDS, "--no-bundle", "--streaming-jar", "no.jar"], 64, "there is no streaming jar no.jar"),
        (["bundle"], 64, "bundle writes one ZIP"),
        (["bundle", "x.tar"], 64, "name of a bundle must end with .zip"),
    ],
)
def test_wrong_commands(tmp_path, monkeypatch, capfdbinary, home, words, code, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HADOOP_HOME", str(home("exit 1")))
    (tmp_path / "wrong.py").write_text("run(")
    found, output, messages = run_command(capfdbinary, *words)
    assert (found, output) == (code, "")
    assert message in messages


def test_one_job_has_one_set_of_options():
    found = {
        name: {flag: action for action in parser_of(name)._actions for flag in action.option_strings or [action.dest]}
        for name in ("run", "submit")
    }
    shared = {
        *(
            "files", "-o", "--output", "-r", "--reducers", "--combiner", "--no-combiner", "--secondary",
            "--input-format", "--output-format",
        ),
        *("--arg", "--env", "--param", "-D", "--ship", "--archive", "--overwrite", "--as", "--report", "-h", "--help"),
        *("--mapper", "--reducer", "--combine-with", "--profile", "--recursive", "--output-by-key"),
    }  # fmt: skip
    assert found["run"].keys() & found["submit"].keys() == shared | {"--engine"}  # each has its own
    for name in shared:
        one, other = (vars(actions[name]) for actions in found.values())
        assert {**one, "container": None} == {**other, "container": None}


def test_a_job_is_printed_before_it_is_run(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HADOOP_HOME", str(tmp_path))
    words = (
        "submit", JOB, *WORDS, "--reducers", 3, "--combiner", "-D", "a=b", "--env", "c=d", "--param", "x=a b", "--ship",
        JOB, "--arg", 3, "--dry-run", "--bundle", "typedbytes-bundle.zip", "--python-version", VERSION,
    )  # fmt: skip
    assert run_command(capfdbinary, "bundle", "typedbytes-bundle.zip") == (0, "", "")
    code, output, messages = run_command(capfdbinary, *words)
    assert (code, messages) == (
        0,
        "typedbytes: the inputs are read as lines of text; for SequenceFiles give --input-format sequencefile\n",
    )
    found = shlex.split(output.replace("\\\n", ""))
    assert found[:3] == ["hadoop", "jar", "hadoop-streaming.jar"]
    expected = plan(
        str(JOB),
        ["in"],
        "out",
        nreducers=3,
        combiner=True,
        bundle="typedbytes-bundle.zip",
        files=[str(JOB)],
        properties={"a": "b"},
        environment={"c": "d"},
        params={"x": "a b"},
        arguments=["3"],
    )
    assert found[3:] == expected.words()


def test_a_job_that_is_printed_needs_no_bundle(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HADOOP_HOME", str(tmp_path))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text("")
    script = written(tmp_path, job="import mine\nfrom typedbytes import streaming\nstreaming.run(m, r)")
    words = ("submit", script, *WORDS, "--module", "mine", "--python-version", VERSION, "--dry-run")
    code, output, _ = run_command(capfdbinary, *words)
    first, _, command = output.partition("\n")
    assert (code, first) == (0, f"typedbytes bundle typedbytes-bundle.zip --module mine --python-version {VERSION}")
    assert shlex.split(command.replace("\\\n", "")) == [
        "hadoop", "jar", "hadoop-streaming.jar",
        *plan(script, ["in"], "out", bundle="typedbytes-bundle.zip", python_versions=[VERSION]).words(),
    ]  # fmt: skip
    assert not (tmp_path / "typedbytes-bundle.zip").exists()
    code, output, _ = run_command(capfdbinary, *words, "--target", "emr", "--staging", "s3://b/j")
    assert code == 0
    assert output.partition("\n\n")[2].splitlines()[::2] == [
        first,
        "aws s3 cp typedbytes-bundle.zip s3://b/j/",
    ]


def test_submit_makes_the_bundle_of_what_the_job_requires(tmp_path, monkeypatch, capfdbinary, home):
    folder = home(f'while [ "$1" != -archives ]; do shift; done; cp "${{2%#*}}" {tmp_path}/sent.zip')
    (folder / "hadoop-streaming.jar").write_bytes(b"")
    monkeypatch.setenv("HADOOP_HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    script = written(tmp_path, job="import no_such_package\nfrom typedbytes import streaming\nstreaming.run(m, r)")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    (tmp_path / "wheels").mkdir()
    metadata = ("no_such_package-1.dist-info/METADATA", b"Metadata-Version: 2.1\nName: no_such_package\nVersion: 1\n")
    tags = ("no_such_package-1.dist-info/WHEEL", b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    record = ("no_such_package-1.dist-info/RECORD", b"")
    wheel_of(tmp_path / "wheels" / "no_such_package-1-py3-none-any.whl", "no_such_package.py", metadata, tags, record)
    words = ("submit", script, *WORDS, "--input-format", "text", "--python-version", VERSION)
    code, _, messages = run_command(capfdbinary, *words)
    assert (code, "put the package into the bundle with --module or --require" in messages) == (69, True)
    code, _, messages = run_command(
        capfdbinary, *words, "--require", "no_such_package", "--find-links", tmp_path / "wheels"
    )
    assert (code, messages) == (0, "")
    names = zipfile.ZipFile(tmp_path / "sent.zip").namelist()
    assert "typedbytes/streaming/__init__.py" in names
    assert [name for name in names if name.endswith("/no_such_package.py")] == [
        "cp{}{}/no_such_package.py".format(*sys.version_info)
    ]


def test_a_bundle_for_another_python_is_refused(tmp_path, monkeypatch):
    target = str(tmp_path / "b.zip")
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("typedbytes/_core.cpython-39-x86_64-linux-gnu.so", b"")
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\necho 3.7\n")
    python.chmod(0o755)
    for options, message in [
        (
            {"python_versions": ["3.9", "3.11"]},
            "b.zip is for Python 3.9, and the nodes run Python 3.11: .* --python-version 3.11",
        ),
        ({"python": "/opt/bin/python3.12"}, "and --python is /opt/bin/python3.12: .* --python-version 3.12"),
        ({"python": str(python)}, "and .*python3 here is Python 3.7"),
    ]:
        with pytest.raises(hadoop.SubmitError, match=message):
            hadoop.check(plan(str(JOB), ["in"], "out", bundle=target, **options))
    said = []
    for options in (
        {"python_versions": ["3.9"], "python": str(python)},
        {"python": "python3.9"},
        {"python": "no/python3"},
    ):
        hadoop.check(plan(str(JOB), ["in"], "out", bundle=target, input_format="text", **options), said.append)
    assert said == [
        "the nodes must have Python 3.9 as no/python3: if they have another, give its version with --python-version"
    ]


def test_a_job_is_printed_for_clouds(tmp_path, capfdbinary):
    words = ("submit", JOB, *WORDS, "--no-bundle", "--target")
    code, output, _ = run_command(capfdbinary, *words, "emr", "--staging", "s3://b/j", "--cluster", "j-1")
    steps, _, commands = output.partition("\n\n")
    assert code == 0 and json.loads(steps)[0]["Args"][0] == "hadoop-streaming"
    assert commands.splitlines()[-1] == "aws emr add-steps --cluster-id j-1 --steps file://steps.json"
    code, output, _ = run_command(
        capfdbinary, *words, "dataproc", "--staging", "gs://b/j", "--streaming-jar", "file:///x.jar"
    )
    job, _, commands = output.partition("\n\n")
    assert code == 0 and json.loads(job)["hadoopJob"]["mainJarFileUri"] == "file:///x.jar"
    assert "--cluster=CLUSTER --region=REGION --jar=file:///x.jar" in commands


def test_what_hadoops_command_prints_is_shown_to_the_user(tmp_path, monkeypatch, capfdbinary, home):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log").write_text(LOG + FAILURE)
    folder = home(f"cat {tmp_path}/log\nexit 1")
    monkeypatch.setenv("HADOOP_HOME", str(folder))
    (folder / "hadoop-streaming.jar").write_bytes(b"")
    code, output, messages = run_command(capfdbinary, "submit", JOB, *WORDS, "--no-bundle")
    assert (code, output) == (1, "")
    lines = messages.splitlines()
    # first of what is said of the failure
    assert lines[-9] == "typedbytes: ZeroDivisionError: division by zero (job.py, line 2: 1 / 0)"
    assert "typedbytes: map 100 %, reduce 100 %" in lines
    assert "typedbytes: the job failed: Hadoop's command ended with exit code 1" in lines
    assert lines[-1] == "typedbytes: ZeroDivisionError: division by zero"
    assert not (tmp_path / "typedbytes-bundle.zip").exists()


@pytest.mark.parametrize("gathers", [True, False])
def test_the_log_of_a_task_on_another_node_is_read_from_yarn(tmp_path, monkeypatch, capfdbinary, home, gathers):
    folder = home("echo Running job: job_123_0004; exit 1")
    (folder / "hadoop-streaming.jar").write_bytes(b"")
    # they are not there at once
    (tmp_path / "log").write_text(FAILURE)
    asked = f'echo "$@" >> {tmp_path}/asked; [ $(wc -l < {tmp_path}/asked) = 2 ] || exit 255; cat {tmp_path}/log'
    (folder / "bin" / "yarn").write_text(f"#!/bin/sh\n{asked}\n")
    (folder / "bin" / "yarn").chmod(0o755)
    value = str(gathers).lower()
    (tmp_path / "yarn-site.xml").write_text(
        "<configuration><property><name>yarn.log-aggregation-enable</name>"
        f"<value>{value}</value></property></configuration>"
    )
    monkeypatch.setenv("HADOOP_HOME", str(folder))
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    code, _, messages = run_command(capfdbinary, "submit", JOB, *WORDS, "--no-bundle")
    assert code == 1
    assert ("ZeroDivisionError: division by zero" in messages) == gathers
    if gathers:
        assert (
            tmp_path / "asked"
        ).read_text() == "logs -applicationId application_123_0004 -log_files stderr,syslog\n" * 2


def test_submit_returns_the_id_the_output_and_the_counters(tmp_path, monkeypatch, home):
    (tmp_path / "log").write_text(LOG)
    folder = home(f"cat {tmp_path}/log")
    (folder / "hadoop-streaming.jar").write_bytes(b"")
    monkeypatch.setenv("HADOOP_HOME", str(folder))
    said = io.StringIO()
    done = hadoop.submit(plan(str(JOB), ["in"], "out"), say=lambda line: print(line, file=said))
    assert (done.job_id, done.output) == ("job_local1234_0001", "out")
    assert done.counters["words = all"]["lost"] == -1
    assert said.getvalue().count("map") == 3
    with pytest.raises(hadoop.SubmitError, match="does not start: Exec format error|does not start"):
        (folder / "bin" / "hadoop").write_bytes(b"\x7fELF no program")
        hadoop.submit(plan(str(JOB), ["in"], "out"))


def test_a_signal_ends_submit_at_once_and_says_how_to_end_the_job(tmp_path, home):
    folder = home(f"echo $$ > {tmp_path}/pid; echo Running job: job_123_0004; exec sleep 300")
    (folder / "hadoop-streaming.jar").write_bytes(b"")
    environ = {**os.environ, "HADOOP_HOME": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "typedbytes", "submit", str(JOB), *WORDS, "--no-bundle"]
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as child:
        while child.stderr.readline() != "typedbytes: job job_123_0004\n":
            assert child.poll() is None
        child.terminate()
        messages = child.communicate(timeout=60)[1]
    assert child.returncode == 128 + signal.SIGTERM
    assert "the job goes on; to end it: mapred job -kill job_123_0004" in messages
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.parametrize("job_id", ["job_123_0004", "job_local123_0001"])
def test_a_client_that_ignores_a_signal_is_killed(monkeypatch, home, job_id):
    folder = home(f"trap '' TERM; echo Running job: {job_id}; while :; do sleep 0.1; done")
    (folder / "hadoop-streaming.jar").write_bytes(b"")
    monkeypatch.setenv("HADOOP_HOME", str(folder))
    monkeypatch.setattr("typedbytes.hadoop._submit.ENDING_SECONDS", 0.2)
    said = []

    def say(line):
        said.append(line)
        if line == f"job {job_id}":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hadoop.submit(plan(str(JOB), ["in"], "out"), say=say)
    assert said[-1:] == [
        f"job {job_id}" if "local" in job_id else f"the job goes on; to end it: mapred job -kill {job_id}"
    ]


def test_a_client_that_a_signal_ends_is_reported_by_its_name(monkeypatch, home):
    folder = home("kill -9 $$")
    (folder / "hadoop-streaming.jar").write_bytes(b"")
    monkeypatch.setenv("HADOOP_HOME", str(folder))
    with pytest.raises(hadoop.JobFailedError, match="the job failed: Hadoop's command was ended by SIGKILL$"):
        hadoop.submit(plan(str(JOB), ["in"], "out"), say=lambda line: None)


def test_a_command_line_that_java_cannot_read_in_the_locale(monkeypatch, home):
    folder = home("exit 0")
    (folder / "hadoop-streaming.jar").write_bytes(b"")
    monkeypatch.setenv("HADOOP_HOME", str(folder))
    for name, value, is_good in [
        ("LANG", "C.UTF-8", True),
        ("LC_CTYPE", "C", False),
        ("LC_ALL", "POSIX", False),
        ("LC_ALL", "de_DE.UTF-8", True),
    ]:
        for each in ("LANG", "LC_CTYPE", "LC_ALL"):
            monkeypatch.delenv(each, raising=False)
        monkeypatch.setenv(name, value)
        hadoop.submit(plan(str(JOB), ["in"], "out"))
        expected = (
            contextlib.nullcontext()
            if is_good
            else pytest.raises(hadoop.SubmitError, match=f"cannot read '\u00fc' in the locale {value}")
        )
        with expected:
            hadoop.submit(plan(str(JOB), ["\u00fc"], "out"))


def test_typed_bytes_are_the_only_output_of_submit_read(tmp_path, monkeypatch, capfdbinary, home):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "beside-m-00000").write_bytes(b"a side file")
    with sequencefile.open(str(tmp_path / "out" / "part-00000"), "w") as file:
        file.write("a", 1)
    folder = home("exit 0")
    (folder / "hadoop-streaming.jar").write_bytes(b"")
    monkeypatch.setenv("HADOOP_HOME", str(folder))
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    code = cli.main(["submit", str(JOB), "in", "--output", str(tmp_path / "out"), "--no-bundle", "--read"])
    assert code == 0
    assert list(tb.PairReader(capfdbinary.readouterr().out)) == [("a", 1)]


# -- steps ------------------------------------------------------------------------------------------------

STEPS = """
from typedbytes import streaming
from typedbytes.streaming import Step, lib
sums = Step(lib.identitymapper, lib.sumreducer, lib.sumreducer)
streaming.run(steps=[Step(lib.identitymapper)] + [sums] * int(streaming.task().params["times"]))
"""


def test_steps_are_jobs_each_on_the_output_of_the_one_before(tmp_path):
    script = written(tmp_path, job=STEPS)
    options = {
        "params": {"times": 2},
        "properties": {"mapreduce.job.reduces": "3"},
        "input_format": "com.example.F",
        "output_format": "text",
    }
    checked = hadoop.check(plan(script, ["in"], "hdfs:///out/", name="n", **options))
    assert checked.steps == [["map"], ["map", "combine", "reduce"], ["map", "combine", "reduce"]]
    jobs = hadoop.jobs_of(checked)
    between = [job.output for job in jobs[:2]]
    assert re.fullmatch(r"hdfs:///out-\w{8}-step1 hdfs:///out-\w{8}-step2", " ".join(between))
    assert [(job.inputs, job.output) for job in jobs] == [
        (["in"], between[0]),
        ([f"{between[0]}/part-*"], between[1]),
        ([f"{between[1]}/part-*"], "hdfs:///out/"),
    ]
    assert [(job.nreducers, job.combiner) for job in jobs] == [(0, False), (3, True), (3, True)]
    assert [(job.input_format, job.output_format) for job in jobs] == [
        ("com.example.F", "sequencefile"),
        ("sequencefile", "sequencefile"),
        ("sequencefile", "text"),
    ]
    assert [job.all_properties()["typedbytes.step"] for job in jobs] == ["1", "2", "3"]
    assert [job.all_properties()["mapreduce.job.name"] for job in jobs] == [
        f"n, step {number} of 3" for number in (1, 2, 3)
    ]
    assert [job.all_properties()["mapreduce.job.reduces"] for job in jobs] == ["0", "3", "3"]
    assert not any(
        job.combiner for job in hadoop.jobs_of(hadoop.check(plan(script, ["in"], "out", combiner=False, **options)))
    )
    only = hadoop.check(plan(str(JOB), ["in"], "out"))
    assert hadoop.jobs_of(only) == [only]


def test_steps_that_a_script_does_not_say(tmp_path):
    for text, options, message in [
        (
            STEPS,
            {},
            "fails before it reads any input, with exit code 1: KeyError: 'times'; "
            "it must run here too, to say what its steps and parameters are",
        ),
        (
            STEPS,
            {"params": {"a b": 1}},
            "the name of a parameter has letters, digits and underscores, 'a b' has others",
        ),
        (
            STEPS,
            {"params": {"times": 1}, "nreducers": 0},
            "has 2 steps, which need their reducers: leave out --reducers 0",
        ),
        (STEPS, {"params": {"times": 0}, "nreducers": 2}, "has no reducer: give streaming.run"),
        (
            STEPS.replace("Step(lib.identitymapper)]", "Step(None, lib.sumreducer)]"),
            {"params": {"times": 1}},
            "step 1 of 2 has no mapper",
        ),
    ]:
        with pytest.raises(hadoop.SubmitError, match=re.escape(message)):
            hadoop.check(plan(written(tmp_path, job=text), ["in"], "out", **options))


def test_steps_are_printed_for_a_shell(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.setenv("HADOOP_HOME", str(tmp_path))
    words = (
        "submit", written(tmp_path, job=STEPS), *WORDS, "--no-bundle", "--param", "times=1", "-D",
        "fs.defaultFS=hdfs://h",
    )  # fmt: skip
    code, output, _ = run_command(capfdbinary, *words, "--dry-run")
    assert code == 0
    one, two, remove, remove_empty = (shlex.split(each) for each in output.replace("\\\n", "").split(" &&\n"))
    between = one[one.index("-output") + 1]
    assert one[:3] == two[:3] == ["hadoop", "jar", "hadoop-streaming.jar"]
    assert (two[two.index("-input") + 1], two[two.index("-output") + 1]) == (f"{between}/part-*", "out")
    assert remove == [
        "hadoop", "fs", "-D", "fs.defaultFS=hdfs://h", "-rm", "-r", "-f", "-skipTrash", f"{between}/part-*",
        f"{between}/_*",
    ]  # fmt: skip
    assert remove_empty == [
        "hadoop", "fs", "-D", "fs.defaultFS=hdfs://h", "-rmdir", "--ignore-fail-on-non-empty", between,
    ]  # fmt: skip
    code, _, messages = run_command(capfdbinary, *words, "--target", "emr", "--staging", "s3://b/j")
    assert code == 69 and "a job of several steps is not described for emr" in messages


@pytest.mark.parametrize("fails", [False, True])
def test_steps_are_run_one_after_the_other(tmp_path, monkeypatch, home, fails):
    (tmp_path / "log").write_text(LOG)
    folder = home(
        f'echo "$@" >> {tmp_path}/asked; cat {tmp_path}/log; case "$*" in *"-input in "*) exit {int(fails)};; esac'
    )
    (folder / "hadoop-streaming.jar").write_bytes(b"")
    monkeypatch.setenv("HADOOP_HOME", str(folder))
    said = []
    job = plan(written(tmp_path, job=STEPS), ["in"], "out", params={"times": 1})
    with pytest.raises(hadoop.JobFailedError) if fails else contextlib.nullcontext():
        done = hadoop.submit(job, say=said.append)
        assert (done.output, done.counters["words = all"]["lost"]) == ("out", -2)
        assert [(step.job_id, step.counters["words = all"]["lost"]) for step in done.steps] == [(done.job_id, -1)] * 2
        assert [line for line in said if line.startswith("step")] == ["step 1 of 2", "step 2 of 2"]
    asked = (tmp_path / "asked").read_text().splitlines()
    jobs = [line for line in asked if not line.startswith("fs ")]
    assert len(jobs) == (1 if fails else 2)
    (between,) = re.findall(r"-output (out-\w+-step1) ", jobs[0])
    whole = [f"fs -rm -r -f -skipTrash {between}"]
    output = [
        f"fs -rm -r -f -skipTrash {between}/part-* {between}/_*",
        f"fs -rmdir --ignore-fail-on-non-empty {between}",
    ]
    assert asked[len(jobs) :] == (whole if fails else output)


def test_no_step_runs_of_a_job_whose_output_cannot_be_the_input_of_the_next(tmp_path, monkeypatch, home):
    folder = home(f'echo "$@" >> {tmp_path}/asked')
    (folder / "hadoop-streaming.jar").write_bytes(b"")
    monkeypatch.setenv("HADOOP_HOME", str(folder))
    with pytest.raises(hadoop.SubmitError, match="reads 'a,b-.*, the value of -input, as several paths"):
        hadoop.submit(plan(written(tmp_path, job=STEPS), ["in"], "a,b", params={"times": 1}), say=lambda line: None)
    assert not (tmp_path / "asked").exists()


def test_what_is_between_steps_is_left_to_a_job_that_goes_on(tmp_path, monkeypatch, home):
    folder = home(f'echo "$@" >> {tmp_path}/asked; echo Running job: job_123_0004; exec sleep 300')
    (folder / "hadoop-streaming.jar").write_bytes(b"")
    monkeypatch.setenv("HADOOP_HOME", str(folder))
    said = []

    def say(line):
        said.append(line)
        if line == "job job_123_0004":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hadoop.submit(plan(written(tmp_path, job=STEPS), ["in"], "out", params={"times": 1}), say=say)
    (asked,) = (tmp_path / "asked").read_text().splitlines()
    (between,) = re.findall(r"-output (out-\w+-step1) ", asked)
    assert said[-2:] == [
        "the job goes on; to end it: mapred job -kill job_123_0004",
        f"what is between its steps is left; to remove it: hadoop fs -rm -r -f -skipTrash {between}",
    ]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_what_is_left_when_a_removal_is_interrupted_is_named(tmp_path, monkeypatch, home, error):
    folder = home(f'echo "$@" >> {tmp_path}/asked')
    (folder / "hadoop-streaming.jar").write_bytes(b"")
    monkeypatch.setenv("HADOOP_HOME", str(folder))
    run_shell, begun = _submit._run_shell, []

    def fail_first(words, start, say):
        begun.append(words)
        if len(begun) == 1:
            raise error
        run_shell(words, start, say)

    monkeypatch.setattr(_submit, "_run_shell", fail_first)
    said = []
    with pytest.raises(error):
        hadoop.submit(plan(written(tmp_path, job=STEPS), ["in"], "out", params={"times": 2}), say=said.append)
    asked = (tmp_path / "asked").read_text()
    one, two = re.findall(r"-output (out-\w+-step\d) ", asked)
    output = (
        f"hadoop fs -rm -r -f -skipTrash '{one}/part-*' '{one}/_*'; hadoop fs -rmdir --ignore-fail-on-non-empty {one}"
    )
    whole = f"fs -rm -r -f -skipTrash {two}"
    left = output if error is OSError else f"{output}; hadoop {whole}"
    assert said[-1] == f"what is between its steps is left; to remove it: {left}"
    assert asked.splitlines()[2:] == ([whole] if error is OSError else [])


def test_the_counters_of_steps_are_printed_apart(tmp_path, monkeypatch, capfdbinary, home):
    (tmp_path / "log").write_text(LOG)
    folder = home(f"cat {tmp_path}/log")
    (folder / "hadoop-streaming.jar").write_bytes(b"")
    monkeypatch.setenv("HADOOP_HOME", str(folder))
    words = ("submit", written(tmp_path, job=STEPS), *WORDS, "--no-bundle", "--param", "times=1")
    code, _, messages = run_command(capfdbinary, *words)
    assert code == 0
    assert [line for line in messages.splitlines() if "lost" in line] == [
        f"typedbytes: step {n}: words = all: lost: -1" for n in (1, 2)
    ]
