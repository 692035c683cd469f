"""Passwords in URLs, and signatures in queries, stay out of all that the command and its tasks write.

The secrets are in what a user types, and so are in the errors of any library that quotes it, whole or in parts,
with the URL or without.
"""

import io
import os
import pty
import subprocess
import sys

import fsspec
import pytest

import typedbytes as tb
from support.commands import COMMAND, run
from support.subprocess_runs import SECONDS
from typedbytes._base.secrets import without_secret_values, without_secrets
from typedbytes.cli import main
from typedbytes.cli.registry import COMMANDS

SECRETS = (b"hunter2", b"s1gn4ture")
LOCATION = "me:hunter2@host/{}&X-Amz-Signature=s1gn4ture"
PAIRS = tb.Encoder().encode_pairs([("a", 1), ("b", 2)])
SCRIPT = """
import typedbytes.streaming


def mapper(key, value):
    raise ValueError("ftp://me:hunter2@host/a?sig=s1gn4ture: login with hunter2 was refused")


if __name__ == "__main__":
    typedbytes.streaming.run(mapper)
"""

# What each command is given; in. and out. start the names of files, given as URLs with secrets.
LINES = {
    **dict.fromkeys(
        ["cat", "head", "tail", "sort", "uniq", "to-json", "to-text"], ["--pairs", "in.tb", "-o", "out.tb"]
    ),
    **dict.fromkeys(["count", "sniff", "validate", "stats", "schema", "freq"], ["--json", "in.tb"]),
    "aggregate": ["--pairs", "--json", "in.tb"],
    "slice": ["--pairs", "-r", "0:1", "in.tb", "-o", "out.tb"],
    "sample": ["--pairs", "-n", "1", "in.tb", "-o", "out.tb"],
    "diff": ["in.tb", "in.tb"],
    "grep": ["--pairs", "a", "in.tb", "-o", "out.tb"],
    "cut": ["--pairs", "-f", "key", "in.tb", "-o", "out.tb"],
    "join": ["in.tb", "in.tb", "-o", "out.tb"],
    "top": ["--pairs", "--by", "key", "in.tb", "-o", "out.tb"],
    "partition": ["--pairs", "-n", "2", "in.tb", "-o", "out.tb"],
    "from-json": ["in.json", "-o", "out.tb"],
    "from-text": ["in.json", "-o", "out.tb"],
    "dumptb": ["in.seq", "-o", "out.tb"],
    "loadtb": ["out.seq"],
    "convert": ["--to", "json", "--pairs", "in.tb", "-o", "out.json"],
    "run": ["job.py", "in.tb", "-o", "out"],
    "submit": ["job.py", "in.tb", "-o", "out.tb", "--no-bundle"],
    "bundle": ["out.zip", "--wheel", "in.tb"],
    "bench": ["in.tb"],
    "completion": ["bash", "-o", "out.txt"],
    "man": ["-o", "out.1"],
    "block": ["encode", "in.json"],
}
FAILS = ("partition", "run", "submit", "bundle")  # with a URL, or without Hadoop
UNREACHABLE = (
    ("nosuch", "@host/a?sig=s1gn4ture"),
    ("ftp", "@127.0.0.1:9/a"),
    ("ftp", "/x@127.0.0.1:9/a"),
    ("ftp", "#x@127.0.0.1:9/a"),
    ("ftp", " x@[/a"),
)
FAULTS = ("open.x", "open.os", "read.x", "read.os", "write.x", "write.os", "missing", "cut", "other")


class FaultyFiles(fsspec.AbstractFileSystem):
    """Files that fail at the step in their name, with an OSError if it ends in .os; errors quote the secrets."""

    protocol = "faulty"

    def info(self, path, **how):
        self.fail("info", path)
        return {"name": path, "size": len(PAIRS), "type": "file"}

    def ls(self, path, **how):
        raise NotADirectoryError(path)

    def open(self, path, mode="rb", **how):
        self.fail("open", path)
        return FaultyFile(lambda step: self.fail(step, path))

    @staticmethod
    def fail(step, path):
        if f"/{step}." in path:
            kind = OSError if f"{step}.os" in path else RuntimeError
            raise kind(f"cannot {step} ftp://{path}: hunter2 was refused for me:hunter2@host")


class FaultyFile(io.BytesIO):
    """A file that fails at a step."""

    def __init__(self, fail):
        super().__init__(PAIRS)
        self._fail = fail

    def read(self, nbytes=-1):
        if self.tell():  # after its format was recognised
            self._fail("read")
        return super().read(nbytes)

    def write(self, data):
        self._fail("write")
        return super().write(data)

    def close(self):
        if not self.closed:
            super().close()
            self._fail("close")


fsspec.register_implementation("faulty", FaultyFiles, clobber=True)


@pytest.fixture
def memory():
    """Files in fsspec's memory, whose paths may have any form, and so may hold secrets."""
    with tb.sequencefile.open(good_url("in.seq"), "w") as writer:
        writer.writes(tb.PairReader(PAIRS))
    contents = {"in.tb": PAIRS, "in.json": b"[1, 2]\n", "cut": PAIRS[:-2], "other": b"\xff\xff\xff\xff\x08"}
    for name, data in contents.items():
        with fsspec.open(good_url(name), "wb") as file:
            file.write(data)
    yield
    fsspec.filesystem("memory").store.clear()


def good_url(name):
    return f"memory://{LOCATION.format(name)}"


def url_of_fault(fault):
    return good_url(fault) if fault in ("missing", "cut", "other") else f"faulty://{LOCATION.format(fault)}"


def check(command, words, tmp_path, capfdbinary):
    """Run a command and look for secrets in all that it leaves; return its exit code."""
    status = main([command, *words])
    written = b"".join(capfdbinary.readouterr())
    written += b"".join(each.read_bytes() for each in tmp_path.rglob("*") if each.is_file() and each.name != "job.py")
    assert not any(secret in written for secret in SECRETS), written.decode(errors="replace")
    return status


@pytest.fixture
def pairs_on_stdin(tmp_path):
    (tmp_path / "pairs.tb").write_bytes(PAIRS)
    before = os.dup(0)
    with open(tmp_path / "pairs.tb", "rb") as file:
        os.dup2(file.fileno(), 0)
    yield
    os.dup2(before, 0)
    os.close(before)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command(command, memory, pairs_on_stdin, tmp_path, monkeypatch, capfdbinary):
    """Every command, with URLs that are good and then with one that fails; a new command needs a line of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HADOOP_HOME", str(tmp_path))  # where no Hadoop is
    monkeypatch.setattr("typedbytes.cli.commands.bench.SECONDS", 0.01)
    (tmp_path / "job.py").write_text(SCRIPT)
    names = [number for number, word in enumerate(LINES[command]) if word.startswith(("in.", "out."))]
    words = [good_url(word) if number in names else word for number, word in enumerate(LINES[command])]

    def outcomes(bad_urls):
        lines = [[*words[:number], url, *words[number + 1 :]] for number in names for url in bad_urls]
        return [check(command, line, tmp_path, capfdbinary) for line in lines]

    status = check(command, words, tmp_path, capfdbinary)
    assert (status != 0) == (command in FAILS), status
    assert sum(map(bool, outcomes(url_of_fault(each) for each in FAULTS))) >= 2
    assert (
        all(outcomes([f"{protocol}://me:{SECRETS[0].decode()}{end}" for protocol, end in UNREACHABLE]))
        or command in FAILS
    )
    assert check(command, [*words, f"--nosuch={good_url('a')}"], tmp_path, capfdbinary) == 64


@pytest.mark.parametrize(
    "line", [["count"], ["to-json", "--pairs"], ["dumptb"], ["convert", "--to", "json", "--pairs"]]
)
def test_a_defect(line, memory, tmp_path, capfdbinary):
    """An error that no code expects, as from closing a file, is written with its traceback."""
    assert check(line[0], [*line[1:], url_of_fault("close.x")], tmp_path, capfdbinary) == 70


def test_an_exception_that_the_interpreter_ignores(tmp_path):
    """A generator over an input that is not read to its end is closed when freed: Python writes the error."""
    code = "import sys, test_secrets; from typedbytes.cli import main; main()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", code, "block", "encode", url_of_fault("close.x")],
        capture_output=True,
        timeout=SECONDS,
        env=environment,
    )
    assert b"Exception ignored" in done.stderr and b"cannot close ftp://***@host" in done.stderr
    assert not any(secret in done.stderr for secret in SECRETS), done.stderr


def test_the_plan_of_a_folder(memory, tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    for name in "part-0", "part-1":
        with fsspec.open(good_url(name), "wb") as file:
            file.write(PAIRS if name == "part-0" else PAIRS[:-2])
    words = ["--to", "arrow", "--pairs", good_url("part-0"), good_url("part-1"), "-o", "out/"]
    assert check("convert", words, tmp_path, capfdbinary) == 65
    assert b"part-1" in (tmp_path / "out.unfinished" / "_conversion.json").read_bytes()


def test_the_line_of_progress(tmp_path):
    """A URL of a local file whose folder looks like a password: the command shows its line while it waits."""
    path = tmp_path / LOCATION.format("big.tb")
    path.parent.mkdir()
    path.write_bytes(PAIRS * 100_000)
    ours, theirs = pty.openpty()
    words = [*COMMAND, "cat", "--pairs", f"file://{LOCATION.format('big.tb')}"]
    with subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, "TERM": "xterm"}
    ) as process:
        os.close(theirs)
        shown = b""
        while b"big.tb" not in shown:
            shown += os.read(ours, 4096)
        process.stdout.read()
    os.close(ours)
    assert process.returncode == 0 and b"***@host/big.tb" in shown
    assert not any(secret in shown for secret in SECRETS), shown


def test_a_command_line_that_is_printed_is_whole(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.py").write_text(SCRIPT)
    words = ["job.py", "s3a://me:hunter2@in/a", "-o", "s3a://me:hunter2@out/b", "--no-bundle", "--dry-run"]
    assert main(["submit", *words, "-D", "fs.s3a.secret.key=hunter2"]) == 0
    written, messages = capfdbinary.readouterr()
    assert b"-D fs.s3a.secret.key=hunter2" in written
    assert b"s3a://me:hunter2@in/a" in written and b"s3a://me:hunter2@out/b" in written
    assert b"hunter2" not in messages


@pytest.mark.parametrize(
    "line",
    [
        ["submit", "job.py", "in.tb", "-o", "out.tb", "--no-bundle", "--dry-run", "--target", "emr"],
        ["submit", "job.py", "in.tb", "-o", "out.tb", "--dry-run", "--wheel", "in.whl"],
        ["submit", "job.py", "in.tb", "-o", "out.tb", "--read", "-D", "in.tb"],
        ["run", "in.py", "in.tb", "-o", "out"],
        ["run", "job.py", "pairs.tb", "-o", "out.tb"],
        ["run", "job.py", "pairs.tb", "-o", "out", "--ship", "in.txt"],
        ["run", "job.py", "in.tb", "-o", "out.tb", "--engine", "spark", "--memory", "1G"],
    ],
)
def test_jobs_that_are_refused(line, pairs_on_stdin, tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.py").write_text(SCRIPT)
    words = [good_url(word) if word.startswith(("in.", "out.")) else word for word in line]
    assert check(words[0], words[1:], tmp_path, capfdbinary) != 0


def test_the_report_of_a_task(tmp_path):
    """As the log of a node has it: the input file is a variable that Hadoop sets, and the error is the user's."""
    (tmp_path / "job.py").write_text(SCRIPT)
    environment = {
        "mapreduce_map_input_file": "s3a://me:hunter2@bucket/part-0?sig=s1gn4ture",
        "stream_map_input": "typedbytes",
    }
    done = subprocess.run(
        [sys.executable, "job.py", "map"], cwd=tmp_path, input=PAIRS, capture_output=True, timeout=SECONDS,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert b"input file: s3a://***@bucket/part-0?sig=***\n" in done.stderr
    assert b"ValueError: ftp://***@host/a?sig=***: login" in done.stderr
    assert not any(secret in done.stderr for secret in SECRETS), done.stderr


def test_a_job_that_fails(tmp_path):
    (tmp_path / "job.py").write_text(SCRIPT)
    (tmp_path / "pairs.tb").write_bytes(PAIRS)
    done = run("run", "job.py", "pairs.tb", "-o", "out", cwd=tmp_path)
    assert done.returncode == 1 and b"ValueError: ftp://***@host/a?sig=***" in done.stderr
    assert not any(secret in done.stderr for secret in SECRETS), done.stderr


@pytest.mark.parametrize("protocol", ["http", "ftp", "nosuch"])
@pytest.mark.parametrize(
    "command",
    [
        ["convert", "--to", "json"],
        ["cat", "-o"],
        ["convert", "--to", "parquet", "-o"],
        ["loadtb"],
        ["partition", "-n", "2"],
    ],
)
def test_outputs_and_what_cannot_be_reached(command, protocol, tmp_path):
    address = f"{protocol}://me:hunter2@127.0.0.1:9/a?sig=s1gn4ture"
    done = run(*command, address, stdin=PAIRS)
    assert done.returncode != 0
    for secret in SECRETS:
        assert secret not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("s3a://KEY:SEC@RET@bucket/a", "s3a://***@bucket/a"),
        ("zip://a::ftp://u:p@h/b", "zip://a::ftp://***@h/b"),
        (
            "https://h/a?X-Amz-Credential=x%2Fy&X-Amz-Security-Token=z&part=1",
            "https://h/a?X-Amz-Credential=***&X-Amz-Security-Token=***&part=1",
        ),
        ("url='https://h/a?AWSAccessKeyId=x&Signature=y'", "url='https://h/a?AWSAccessKeyId=***&Signature=***'"),
        ("webhdfs://n:9870/a@b?delegation=x", "webhdfs://n:9870/a@b?delegation=***"),
        ("s3a://KEY:SEC/RET@bucket/a", "s3a://***@bucket/a"),
        ("ftp://me:p#q@h/a?n=1@2", "ftp://***@h/a?n=1@2"),
        ("hdfs://n:9000/a@b, hdfs://[::1]:9000/c@d", "hdfs://n:9000/a@b, hdfs://[::1]:9000/c@d"),
        ("https://h/a?sig=x: not found", "https://h/a?sig=***: not found"),
        ("a=b, /home/me@host/x", "a=b, /home/me@host/x"),
    ],
)
def test_what_is_hidden(text, shown):
    assert without_secrets(text) == shown


# Names of Hadoop's connectors, of databases' and clouds' variables, and what users call them.
NAMES_OF_SECRETS = """
fs.s3a.secret.key fs.s3a.access.key fs.s3a.session.token fs.s3a.bucket.logs.secret.key fs.s3a.encryption.key
fs.s3.awsSecretAccessKey fs.s3.awsAccessKeyId fs.azure.account.key.me.dfs.core.windows.net
fs.azure.account.oauth2.client.secret.me.dfs.core.windows.net fs.azure.sas.fixed.token.me.dfs.core.windows.net
fs.azure.sas.box.me.blob.core.windows.net fs.gs.auth.service.account.private.key fs.oss.accessKeySecret
fs.cosn.userinfo.secretKey dfs.adls.oauth2.credential ssl.server.keystore.password javax.jdo.option.ConnectionPassword
AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AZURE_STORAGE_KEY GITHUB_TOKEN PGPASSWORD MYSQL_PWD DB_PASS OPENAI_API_KEY
APIKEY api_key apiKey access-key secret_key password passwd token auth client-secret authToken X-Amz-Signature
"""
OTHER_NAMES = """
mapreduce.job.keys mapreduce.partition.keycomparator.options mapreduce.partition.keypartitioner.options
mapreduce.job.output.key.class mapreduce.job.output.key.comparator.class stream.num.map.output.key.fields key keys
sort.key group_key max_tokens tokens token_count tokenizer passes compass bypass author design signal assign monkey
fs.s3a.aws.credentials.provider hadoop.security.credential.provider.path fs.azure.account.auth.type fs.s3a.endpoint
fs.azure.account.keyprovider.me fs.gs.auth.service.account.email hadoop.security.authentication password.file
"""
FORMS = "{}={}", "-D{}={}", "--env={}={}", "--{}={}", "--arg=--{}={}"


@pytest.mark.parametrize("form", FORMS)
def test_values_are_hidden_by_their_names(form):
    for name in NAMES_OF_SECRETS.split():
        assert without_secret_values([form.format(name, "x=y")]) == [form.format(name, "***")]
        assert without_secret_values([form.format(name, "true")]) == [form.format(name, "true")]
    for name in OTHER_NAMES.split():
        assert without_secret_values([form.format(name, "x=y")]) == [form.format(name, "x=y")]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("job.py --password x in", "job.py --password *** in"),
        ("--arg --password --arg x", "--arg --password --arg ***"),
        ("--arg=--password --arg x in", "--arg=--password --arg *** in"),
        ("--arg=--password --arg=x", "--arg=--password --arg=***"),
        ("--arg=-q --password x --arg=y", "--arg=-q --password *** --arg=y"),
        ("grep token=5 out/token=5/x", "grep token=5 out/token=5/x"),
        ("--env PWD=/opt --env DB_PWD=x", "--env PWD=/opt --env DB_PWD=***"),
        ("--verify-token -q in", "--verify-token -q in"),
        ("-o out/token=5/x", "-o out/token=5/x"),
        ("password= https://h/?n=1&key=x", "password= https://h/?n=1&key=x"),  # a URL is for without_secrets
    ],
)
def test_values_are_hidden_after_their_options(words, shown):
    assert without_secret_values(words.split()) == shown.split()


def test_a_value_is_hidden_wherever_it_is_quoted(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.py").write_text(SCRIPT.replace('"ftp', 'f"{typedbytes.streaming.task().params} ftp'))
    words = ["job.py", "pairs.tb", "-o", "out", "--param", "api_key=s1gn4ture"]
    (tmp_path / "pairs.tb").write_bytes(PAIRS)
    assert main(["run", *words, "--inline"]) == 1
    messages = capfdbinary.readouterr().err
    assert b"{'api_key': '***'}" in messages and b"s1gn4ture" not in messages


@pytest.mark.parametrize("scheme", ["abfs", "abfss", "wasb", "wasbs"])
def test_the_container_of_azure_is_part_of_the_path(scheme):
    """abfss://container@account.dfs.core.windows.net/path, as Hadoop and adlfs document it: no password."""
    url = f"{scheme}://logs@account.dfs.core.windows.net/2024/a.tb"
    assert without_secrets(f"{url}: not found") == f"{url}: not found"
    assert without_secrets(f"{url}?sig=abc") == f"{url}?sig=***"
