"""Descriptions of classes on the command line: --classes, and the variable and the file that need no option.

Here: that commands see the classes. Not here: what a description means.
"""

import io
import json
import os
import shutil
import subprocess

import pyarrow.parquet
import pytest

import typedbytes as tb
from support.commands import COMMAND, bad, good, run
from support.local_jobs import pairs_of
from typedbytes import sequencefile
from typedbytes.cli import main

CLASSES = {"com.example.Event": "id: long, tags: list<text>, at: vlong?"}
TEXT = "com.example.Event: id: long,\n  tags: list<text>, at: vlong?\n"
EVENTS = [{"id": 1, "tags": ["a", "b"], "at": None}, {"id": 2, "tags": [], "at": 5}]
LINES = [{"key": f"k{n}", "value": event} for n, event in enumerate(EVENTS)]


@pytest.fixture
def paths(tmp_path):
    """Write a SequenceFile of events and a file that describes them; return their paths."""
    sink = io.BytesIO()
    how = {"key_class": "Text", "value_class": "com.example.Event", "classes": CLASSES}
    with sequencefile.Writer(sink, **how) as writer:
        writer.writes((f"k{n}", event) for n, event in enumerate(EVENTS))
    (tmp_path / "events.seq").write_bytes(sink.getvalue())
    (tmp_path / "classes").write_text(TEXT)
    return str(tmp_path / "events.seq"), str(tmp_path / "classes")


def test_commands_read_described_classes(paths, tmp_path):
    file, classes = paths
    rows = [json.loads(line) for line in good("to-json", "--plain", "--classes", classes, file).splitlines()]
    assert rows == [[line["key"], line["value"]] for line in LINES]
    head = good("head", "-n", "1", "--classes", classes, file)
    assert tb.Decoder().decode_pairs(head) == [("k0", EVENTS[0])]
    for command in ("cat", "dumptb"):
        assert b"com.example" not in good(command, "--classes", classes, file)
    with open(file, "rb") as source:
        good("loadtb", "--classes", classes, str(tmp_path / "a.seq"), stdin=source.read())
    assert b"com.example" not in good("cat", str(tmp_path / "a.seq"))
    assert b"com.example" in good("cat", file)


def test_convert_makes_a_struct_of_a_described_class(paths, tmp_path):
    file, classes = paths
    good("convert", "--to", "parquet", "--classes", classes, "-o", str(tmp_path / "out.parquet"), file)
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert table.column("value").to_pylist() == EVENTS


def test_the_variable_is_enough(paths):
    file, classes = paths
    environ = {**os.environ, "TYPEDBYTES_CLASSES": classes}
    done = subprocess.run([*COMMAND, "to-json", "--plain", file], capture_output=True, env=environ, check=True)
    assert json.loads(done.stdout.splitlines()[1]) == ["k1", EVENTS[1]]


def test_the_option_leaves_no_trace(paths, monkeypatch, capsys):
    file, classes = paths
    monkeypatch.delenv("TYPEDBYTES_CLASSES", raising=False)
    assert main(["count", "--classes", classes, file]) == 0
    assert "TYPEDBYTES_CLASSES" not in os.environ


def test_a_file_of_descriptions_that_is_wrong_is_an_error_of_the_user(paths, tmp_path):
    file, _ = paths
    (tmp_path / "wrong").write_text("com.example.Event: id: lang\n")
    message = "class com.example.Event: unknown type 'lang'"
    assert message in bad(64, "count", "--classes", str(tmp_path / "wrong"), file)[1]
    assert "No such file" in bad(66, "count", "--classes", str(tmp_path / "missing"), file)[1]
    environ = {**os.environ, "TYPEDBYTES_CLASSES": str(tmp_path / "wrong")}
    assert message in bad(64, "count", file, env=environ)[1]


SCRIPT = """
def mapper(key, value):
    for tag in value["tags"]:
        yield tag, value["id"]

def reducer(key, values):
    yield key, sum(values)

if __name__ == "__main__":
    import typedbytes.streaming
    typedbytes.streaming.run(mapper, reducer)
"""


def test_a_job_reads_described_classes(paths, tmp_path):
    file, classes = paths
    script = tmp_path / "job.py"
    script.write_text(SCRIPT)
    good("run", "--quiet", "--classes", classes, str(script), file, "-o", str(tmp_path / "out"))
    assert sorted(pairs_of(tmp_path / "out")) == [("a", 1), ("b", 1)]


def test_a_class_that_is_not_known_is_noted_once(paths, tmp_path):
    path, classes = paths
    note = (
        "note: com.example.Event is not known: its bytes are left as they are; --classes FILE describes it "
        '(docs: "Classes of your own")\n'
    )
    (tmp_path / "parts").mkdir()
    for name in ("part-0", "part-1"):
        shutil.copy(path, tmp_path / "parts" / name)
    for number, words in enumerate(
        [["sniff"], ["schema"], ["schema", "--python"], ["convert", "--to", "json"], ["convert", "--to", "parquet"],
         ["convert", "--to", "parquet", "--widen"], ["convert", "--to", "parquet", "-o", f"{tmp_path}/table/"]]
    ):  # fmt: skip
        done = run(*words, str(tmp_path / "parts"))
        assert (done.returncode, done.stderr.decode()) == (0, f"typedbytes {words[0]}: {note}")
        good(
            *[word.replace("table", f"other{number}") for word in words], "--classes", classes, str(tmp_path / "parts")
        )


def test_a_copy_of_a_class_that_is_not_known_is_no_news(paths):
    for words in (["convert", "--to", "sequencefile"], ["count"], ["dumptb"], ["cat"]):
        good(*words, paths[0])


def test_classes_of_a_schema_in_the_header_are_known(file):
    names = {"key_class": "Text", "value_class": "org.apache.avro.mapred.AvroValue"}
    sink = io.BytesIO()
    with sequencefile.Writer(sink, **names, metadata={"avro.value.schema": '"long"'}) as writer:
        writer.write("a", 1)
    good("sniff", file(sink.getvalue()))


def test_no_repair_is_advised_where_the_description_is_what_is_wrong(paths, tmp_path):
    """It would leave no record."""
    file, classes = paths
    with open(classes, "w") as changed:
        changed.write(TEXT.replace("vlong?", "vlong?, more: int"))
    os.mkdir(tmp_path / "in")
    shutil.copy(file, tmp_path / "in" / "part-00000")
    words = ["convert", "--to", "parquet", str(tmp_path / "in"), "-o", f"{tmp_path}/out/", "--classes", classes]
    said = bad(65, *words)[1]
    assert "com.example.Event: " in said and "--repair" not in said
