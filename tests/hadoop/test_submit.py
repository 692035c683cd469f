"""The commands that submit a job, and the Hadoop that they find: a small program instead of the real one.

Here: what needs no Hadoop. Not here: command lines, bundles, and the reading of logs.
"""

import contextlib
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import zipfile

import pytest

import typedbytes as tb
from support.submit_calls import FAILURE, JOB, LOG, STEPS, plan, run_command, wheel_of, written
from typedbytes import cli, hadoop, sequencefile
from typedbytes.cli.main import parser_of
from typedbytes.hadoop import _submit, installed

pytestmark = pytest.mark.usefixtures("no_plug_in")


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
    with pytest.raises(hadoop.SubmitError, match="streaming jar was not found .* as jar;"):
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
        ("<configuration><property><name>fs.defaultFS</name><value>hdfs://h:1</value></property></configuration>",
         "hdfs://h:1"),
        ("<configuration><property><name>fs.defaultFS</name><value>${where}</value></property></configuration>", ""),
        ('<configuration xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="x.xml"/></configuration>', ""),
        ("<configuration><property><name>fs.default.name</name><value>hdfs://h:1</value></property></configuration>",
         "hdfs://h:1"),
    ],
)  # fmt: skip
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


WORDS = ("in", "--output", "out")


VERSION = "{}.{}".format(*sys.version_info)


@pytest.mark.parametrize(
    "words, code, message",
    [
        (["submit"], 64, "typedbytes submit: needs a SCRIPT and an INPUT (see"),
        (["submit", JOB, "-o", "out"], 64, "typedbytes submit: needs an INPUT (see"),
        (["submit", JOB, *WORDS, "--read", "--output-format", "text"], 64, "--read needs SequenceFiles"),
        (["submit", JOB, *WORDS, "--read", "-D", "fs.defaultFS=hdfs://h", "--no-bundle"], 64, "give --output as a URL"),
        (["submit", JOB, "in", "--dry-run"], 64, "--dry-run is for a job with --output FOLDER"),
        (["submit", JOB, *WORDS, "-D", "x", "--no-bundle"], 64, "-D takes NAME=VALUE, not 'x'"),
        (["submit", JOB, *WORDS, "--param", "a-b=c", "--dry-run", "--no-bundle"], 64,
         "letters, digits and underscores, 'a-b' has others"),
        (["submit", JOB, *WORDS, "--env", "=x", "--no-bundle"], 64, "--env takes NAME=VALUE"),
        (["submit", JOB, *WORDS, "--reducers", "-1"], 64, "expected an integer of at least 0"),
        (["submit", JOB, *WORDS, "--dry-run", "--no-bundle", "--require", "x"], 64, "leave out --bundle / --no-bundle"),
        (["submit", JOB, *WORDS, "--dry-run", "--bundle", "b.zip", "--module", "x"], 64,
         "leave out --bundle / --no-bundle"),
        (["submit", JOB, *WORDS, "--dry-run", "--bundle", "b.zip", "--no-bundle"], 64, "not allowed with"),
        (["submit", JOB, *WORDS, "--target", "emr", "--no-bundle"], 64, "needs --staging"),
        (["submit", JOB, *WORDS, "--input-format", "pairs", "--dry-run", "--no-bundle"], 64,
         "works only with typedbytes run"),
        (["submit", JOB, *WORDS, "-D", "tmpfiles=x", "--dry-run", "--no-bundle"], 64,
         "Hadoop Streaming sets the property tmpfiles from -files"),
        (["submit", JOB, *WORDS, "--env", "TMPDIR=x", "--dry-run", "--no-bundle"], 69,
         "Hadoop sets the variable TMPDIR"),
        (["submit", JOB, *WORDS, "--output-format", "texts", "--dry-run", "--no-bundle"], 64,
         "unknown format 'texts'; known: "),
        (["submit", "no.py", *WORDS, "--no-bundle"], 64, "there is no script no.py"),
        (["submit", "wrong.py", *WORDS, "--no-bundle"], 64, "wrong.py is not Python"),
        (["submit", "made.pyc", *WORDS, "--no-bundle"], 64, "made.pyc is compiled Python: name the .py"),
        (["submit", JOB, *WORDS, "--no-bundle", "--ship", "no"], 64, "there is no file no to ship"),
        (["submit", JOB, "in", "--no-bundle", "--ship", "no"], 64, "there is no file no to ship with the job\n"),
        (["submit", JOB, *WORDS, "--bundle", "no.zip"], 64, "there is no file no.zip to ship"),
        (["submit", JOB, *WORDS, "--no-bundle", "--streaming-jar", "no.jar"], 64, "there is no streaming jar no.jar"),
        (["bundle"], 64, "typedbytes bundle: needs the name of one ZIP"),
        (["bundle", "x.tar"], 64, "name of a bundle must end with .zip"),
    ],
)  # fmt: skip
def test_wrong_commands(tmp_path, monkeypatch, capfdbinary, home, words, code, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HADOOP_HOME", str(home("exit 1")))
    (tmp_path / "wrong.py").write_text("run(")
    (tmp_path / "made.pyc").write_bytes(b"\0")
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
        "typedbytes submit: the inputs cannot be looked at from here, and are read as lines of text; "
        "for SequenceFiles give --input-format sequencefile\n",
    )
    found = shlex.split(output.replace("\\\n", ""))
    assert found[:3] == ["hadoop", "jar", "hadoop-streaming.jar"]
    expected = plan(
        str(JOB), ["in"], "out", nreducers=3, combiner=True, bundle="typedbytes-bundle.zip", files=[str(JOB)],
        properties={"a": "b"}, environment={"c": "d"}, params={"x": "a b"}, arguments=["3"],
    )  # fmt: skip
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
    assert output.partition("\n\n")[2].splitlines()[::2] == [first, "aws s3 cp typedbytes-bundle.zip s3://b/j/"]


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
            "b.zip is for Python 3.9, and the nodes run Python 3.11: .* python_versions=..3.11..,",
        ),
        ({"python": "/opt/bin/python3.12"}, "and --python is /opt/bin/python3.12: .* python_versions=..3.12..,"),
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
    assert lines[-9] == "typedbytes submit: ZeroDivisionError: division by zero (job.py, line 2: 1 / 0)"
    assert "typedbytes submit: map 100 %, reduce 100 %" in lines
    assert "typedbytes submit: the job failed: Hadoop's command ended with exit code 1" in lines
    assert lines[-1] == "typedbytes submit: ZeroDivisionError: division by zero"
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
        while child.stderr.readline() != "typedbytes submit: job job_123_0004\n":
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
            "has 2 steps, which need their reducers: leave out nreducers=0",
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


def test_commands_in_messages_have_no_secrets(tmp_path, monkeypatch, home):
    folder = home(f'case "$1" in fs) echo denied; exit 1;; esac; cat {tmp_path}/log')
    (tmp_path / "log").write_text(LOG)
    (folder / "hadoop-streaming.jar").write_bytes(b"")
    monkeypatch.setenv("HADOOP_HOME", str(folder))
    properties = {"fs.s3a.secret.key": "hunter2", "fs.s3a.endpoint": "here"}
    said = []
    job = plan(written(tmp_path, job=STEPS), ["in"], "out", params={"times": 1}, properties=properties)
    hadoop.submit(job, say=said.append)
    failed = [line for line in said if line.endswith("failed: denied")]
    assert failed and all(
        line.startswith("hadoop fs -D 'fs.s3a.secret.key=***' -D fs.s3a.endpoint=here -rm") for line in failed
    )
    shown = r"AWS_SECRET_ACCESS_KEY=\*\*\*'"
    for value, said in (
        ("hunter2\0", "the value of AWS_SECRET_ACCESS_KEY in environment has a NUL"),
        ('hunter2"', shown),
        ("${hunter2}", shown),
    ):
        with pytest.raises(hadoop.SubmitError, match=said) as raised:
            plan("job.py", ["in"], "out", environment={"AWS_SECRET_ACCESS_KEY": value}).words()
        assert "hunter2" not in str(raised.value)


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
        f"typedbytes submit: step {n}: words = all: lost: -1" for n in (1, 2)
    ]
