"""Command lines of jobs for Hadoop and for clouds: every word of them, and what no line may carry.

Here: what typedbytes.hadoop makes of a Plan without a Hadoop. Not here: bundles, and how a job runs.
"""

import dataclasses
import re
import shlex
import subprocess
import sys

import pytest

from support.submit_calls import STEPS, plan, run_command, written
from typedbytes import hadoop, local

pytestmark = pytest.mark.usefixtures("no_plug_in")


COMPARATOR = "mapreduce.job.output.key.comparator.class=org.apache.hadoop.io.BytesWritable$Comparator"


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


@pytest.fixture
def job_and_jar(tmp_path):
    """A plan of a job that calls run(), and the path of a plug-in."""
    (tmp_path / "job.py").write_text("from typedbytes import streaming\nstreaming.run(lambda key, value: [])\n")
    (tmp_path / "plug-in.jar").write_bytes(b"")
    hadoop.bundle(str(tmp_path / "b.zip"))
    job = plan(
        str(tmp_path / "job.py"), ["in"], "out", python=sys.executable, input_format="text",
        bundle=str(tmp_path / "b.zip"),
    )  # fmt: skip
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
        ({"input_format": "com.example.F"},
         "its input is neither text nor SequenceFiles but com.example.F; submit it with feed='pairs'"),
        ({"properties": {"textinputformat.record.delimiter": ";"}}, "it sets textinputformat.record.delimiter"),
        ({"properties": {"mapred.linerecordreader.maxlength": "9"}}, "it sets mapred.linerecordreader.maxlength"),
        ({"properties": {"stream.io.identifier.resolver.class": "a.B"}}, "it sets stream.io.identifier.resolver.class"),
        ({"properties": {"mapreduce.input.linerecordreader.line.maxlength": "9"}},
         "it sets mapreduce.input.linerecordreader.line.maxlength"),
        ({"properties": {"typedbytes.split.format": "text"}}, "it sets typedbytes.split.format"),
        ({"properties": {OUTPUT: "true", f"{OUTPUT}.codec": "com.example.LzopCodec"}},
         "unknown codec 'com.example.LzopCodec'"),
        ({"properties": {OUTPUT: "true", f"{OUTPUT}.codec": "lzo"}},
         "its tasks cannot write the SequenceFiles that its properties ask for"),
        ({"properties": {OUTPUT: "true", f"{OUTPUT}.type": "FILE"}}, 'compression must be "none", "record" or "block"'),
        ({"feed": "both"}, "feed must be one of splits, pairs, not 'both'"),
        ({"feed_jar": "/none.jar"}, "whole splits need the plug-in /none.jar: run make jar"),
        ({"script": "other.py"}, "does not call run"),
    ],
)  # fmt: skip
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
        (
            MAP_ONLY,
            "4",
            "has no reducer: give streaming.run(...) one, or leave out properties={'mapreduce.job.reduces': '4'}",
        ),
        ("STEPS", "0", "has 2 steps, which need their reducers: leave out properties={'mapreduce.job.reduces': '0'}"),
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
    ({"environment": {"A=B": "x"}}, "a name in environment must not be empty, nor have = or NUL: 'A=B'"),
    ({"environment": {"A": "${user.name}"}}, "the value of -cmdenv, by a property"),
    ({"environment": {"A": 'x"'}}, "strips a double quote from either end of .*, the value of -cmdenv"),
    ({"environment": {"TMPDIR": "x"}}, "sets the variable TMPDIR of each task itself"),
    ({"properties": {"a=b": "x"}}, "a name in properties must not be empty, nor have = or NUL: 'a=b'"),
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


COMMANDS = {
    'grep "x"': "grep 'x'", 'grep "x" -': 'grep "x" -', "sed s/${a}/b/": "sed s/$ {a}/b/", 'tr -d "\1"': "tr -d '?'",
    "grep x": "grep x", "awk '{n++}'": "awk '{n++}'",
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_job_of_commands_has_a_name_that_reaches_the_nodes(tmp_path, capfdbinary, command):
    (tmp_path / "in").write_text("x")
    words = ["--dry-run", "--no-bundle", "--streaming-jar", "/x/streaming.jar", "-r", "0", "--mapper", command]
    code, out, _ = run_command(capfdbinary, "submit", *words, tmp_path / "in", "-o", tmp_path / "out")
    shown = shlex.split(out)
    assert code == 0 and f"mapreduce.job.name={COMMANDS[command]}" in shown
    assert command in shlex.split(shown[shown.index("-mapper") + 1])


def test_the_name_of_a_job_of_commands_is_refused_as_others_are():
    commands = {"arguments": ["--map", 'grep "x"']}
    assert plan(**commands, name='grep "x"').all_properties()["mapreduce.job.name"] == "grep 'x'"
    with pytest.raises(hadoop.SubmitError, match="strips a double quote from either end of"):
        plan(**commands, name='my "job"').words()


def test_a_script_that_cannot_be_sent_is_refused_by_its_path():
    with pytest.raises(hadoop.SubmitError, match="-files cannot ship .*: the path contains '\"': rename it"):
        plan('my"job"', ["in"], "out").words()


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
