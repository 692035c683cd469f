"""Passwords in URLs, and signatures in their queries, stay out of what the command writes: messages and reports."""

import pytest

import typedbytes as tb
from commands import run
from typedbytes.cli import main
from typedbytes.cli._failure import without_secrets

fsspec = pytest.importorskip("fsspec")

SECRETS = (b"hunter2", b"s1gn4ture")
PAIRS = tb.Encoder().encode_pairs([("a", 1), ("b", 2)])


@pytest.fixture
def url():
    """Return a function that makes a file in fsspec's memory, whose paths may have any form, and returns its URL, with secrets."""

    def make(data, name):
        found = f"memory://me:hunter2@host/{name}&X-Amz-Signature=s1gn4ture"
        if data is not None:
            with fsspec.open(found, "wb") as file:
                file.write(data)
        return found

    yield make
    fsspec.filesystem("memory").store.clear()


READING = [
    "cat",
    "head",
    "count",
    "stats",
    "schema",
    "freq",
    "sniff",
    "validate",
    "sort",
    "uniq",
    "to-json",
    "to-text",
    "from-json",
    "dumptb",
]


@pytest.mark.parametrize("command", READING)
def test_inputs(command, url, capfdbinary):
    outcomes = set()
    for each in url(PAIRS, "good"), url(PAIRS[:-2], "cut"), url(b"\xff\xff\xff\xff\x08", "arrow"), url(None, "missing"):
        json = ["--json"] if command in ("count", "sniff", "validate") else []
        pairs = [] if command in ("dumptb", "sniff") else ["--pairs"]
        outcomes.add(main([command, *json, *pairs, each]))
        written = b"".join(capfdbinary.readouterr())
        for secret in SECRETS:
            assert secret not in written
    assert outcomes & {65, 66, 74}


@pytest.mark.parametrize("protocol", ["http", "ftp", "nosuch"])
@pytest.mark.parametrize(
    "command", [["convert", "--to", "json"], ["cat", "-o"], ["convert", "--to", "parquet", "-o"], ["loadtb"], ["partition", "-n", "2"]]
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
        ("a=b, /home/me@host/x", "a=b, /home/me@host/x"),
    ],
)
def test_what_is_hidden(text, shown):
    assert without_secrets(text) == shown
