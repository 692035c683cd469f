"""The Java records that schema prints: a real JVM compiles them, reads the data with them and writes the same bytes."""

import datetime as dt
import importlib
import subprocess
import sys
import uuid
from decimal import Decimal
from pathlib import Path

import pytest

import typedbytes as tb
from support.commands import good

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test_vectors" / "java"))

import jars  # noqa: E402

pytestmark = pytest.mark.hadoop

MAIN = """
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Paths;

public class Main {
    public static void main(String[] names) throws Exception {
        ByteBuffer data = ByteBuffer.wrap(Files.readAllBytes(Paths.get("in.tb")));
        while (data.hasRemaining()) {
            READ
        }
    }
}
"""
READS = {
    "--values": "System.out.write(Records.VALUE.write(Records.VALUE.read(data)));",
    "--pairs": "System.out.write(Records.KEY.write(Records.KEY.read(data)));\n"
    "            System.out.write(Records.VALUE.write(Records.VALUE.read(data)));",
}


@pytest.fixture(scope="module")
def jar(tmp_path_factory):
    """Return the jar of org.typedbytes.records."""
    folder = tmp_path_factory.mktemp("java-records")
    jars.build_with_maven(ROOT / "src" / "java" / "records", folder, "-DskipTests")
    return next(folder.glob("*.jar"))


def round_trip(folder, jar, kind, data, *options):
    """Return the source that schema prints for data, and the bytes that Java writes of what it has read with it."""
    (folder / "in.tb").write_bytes(data)
    (folder / "Records.java").write_bytes(good("schema", kind, *options, "--java", stdin=data))
    (folder / "Main.java").write_text(MAIN.replace("READ", READS[kind]))
    sources = [folder / "Records.java", folder / "Main.java"]
    command = [jars.find_tool("javac"), "-Xlint:all", "-Werror", "-cp", jar, "-d", folder, *sources]
    jars._run(command, "javac could not compile what schema has printed")
    command = [jars.find_tool("java"), *jars.QUICK_START, "-cp", f"{folder}:{jar}", "Main"]
    written = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=True).stdout
    return (folder / "Records.java").read_text(), written


ROWS = [
    {
        "url": "/home", "n": 1, "size": 1 << 40, "f": 1.5, "is_new": True, "raw": b"x", "tags": ["a"],
        "point": (1, 2.5, "x"), "any": (1, 2), "ids": {1: "x"}, "user-id": 7, "class": "y", "note": None,
        "inner": {"a": 1}, "mixed": 5, "b": tb.Byte(3), "s": tb.Float(1.5), "w": tb.Long(4), 'q"\\\n': 1, "é": 2,
        "String": 3, "toString": 4, "list": {"list": {"a": 1}},
    },
    {
        "url": "/", "n": 2, "size": 1 << 41, "f": 2.5, "is_new": False, "raw": b"", "tags": [],
        "point": (2, 1.5, "y"), "any": (1, 2, 3), "ids": {}, "user-id": 8, "class": "z", "note": "s",
        "inner": {"a": 2}, "mixed": "x", "b": tb.Byte(4), "s": tb.Float(2.5), "w": tb.Long(4), 'q"\\\n': 1, "é": 2,
        "String": 3, "toString": 4, "list": {"list": {"a": 1}},
    },
]  # fmt: skip


def test_values(tmp_path, jar):
    data = tb.Encoder().encode_all(ROWS)
    source, written = round_trip(tmp_path, jar, "--values", data)
    assert tb.Decoder(exact=True).decode_all(written) == tb.Decoder(exact=True).decode_all(data)
    assert '@Field(name = "user-id") int userId' in source and "pickles" not in source


def test_shorts_of_hive(tmp_path, jar):
    """They are written as INTs, which every reader has."""
    lines = b'{"a": {"short": 5}, "b": null, "Short": 1}\n{"a": {"short": -6}, "b": {"short": 7}, "Short": 2}\n'
    stream = good("from-json", "--dialect", "hive", stdin=lines)
    source, written = round_trip(tmp_path, jar, "--values", stream, "--dialect", "hive")
    assert tb.Decoder().decode_all(written) == tb.Decoder(dialect="hive").decode_all(stream)
    assert "short a" in source


def test_pairs_and_fields_that_are_missing(tmp_path, jar):
    pairs = [(("a", 1), {"x": 1, "y": 2.5}), (("b", 2), {"x": 2, "": 5})]
    source, written = round_trip(tmp_path, jar, "--pairs", tb.Encoder().encode_pairs(pairs))
    found = tb.Decoder().decode_pairs(written)
    assert found == [(("a", 1), {"x": 1, "y": 2.5}), (("b", 2), {"x": 2, "y": None})]
    assert "// The field whose name is empty is left out" in source


def test_pickles_are_read_when_python_has_written_them_with_the_printed_type(tmp_path, jar, monkeypatch):
    moments = (dt.datetime(2026, 5, 1, 12, tzinfo=dt.timezone.utc), dt.datetime(2026, 5, 1), dt.date(2026, 5, 1))
    values = [(*moments, dt.time(1, 2), dt.timedelta(1), Decimal("1.50"), uuid.UUID(int=5), {3})]
    untyped = tb.Encoder().encode_all(values)
    (tmp_path / "printed_here.py").write_bytes(good("schema", "--values", "--python", stdin=untyped))
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("printed_here")
    typed = tb.Encoder(type=module.Record).encode_all(tb.Decoder(type=module.Record).decode_all(untyped))
    source = good("schema", "--values", "--java", stdin=untyped)
    assert b"// Some values are pickles of Python" in source
    (tmp_path / "in.tb").write_bytes(typed)
    (tmp_path / "Records.java").write_bytes(source)
    (tmp_path / "Main.java").write_text(MAIN.replace("READ", READS["--values"]))
    names = [tmp_path / "Records.java", tmp_path / "Main.java"]
    jars._run([jars.find_tool("javac"), "-cp", jar, "-d", tmp_path, *names], "javac could not compile")
    command = [jars.find_tool("java"), *jars.QUICK_START, "-cp", f"{tmp_path}:{jar}", "Main"]
    assert subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, check=True).stdout == typed
