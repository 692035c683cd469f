"""A real JVM on the other side: every size in every layout, echoes of random messages, sums by Java."""

import random
import re
import struct
import subprocess
import zlib

import numpy
import pytest

import typedbytes as tb
from fuzz import java_blocks
from support import block_peer, block_reference as slow
from support.block_calls import formatted
from support.block_messages import answer_sizes, echo_messages
from support.block_peer import jars
from support.subprocess_runs import SECONDS
from typedbytes.block import BlockReader, BlockWriter

pytestmark = pytest.mark.hadoop


def test_the_module_builds_and_its_own_tests_pass(tmp_path):
    said = jars.build_with_maven(block_peer.MODULE, tmp_path)
    ntests = sum(
        path.read_text("utf-8").count("@Test\n") for path in (block_peer.MODULE / "src" / "test").rglob("*.java")
    )
    assert ntests > 10
    assert f"Tests run: {ntests}, Failures: 0, Errors: 0, Skipped: 0" in said
    assert "BUILD SUCCESS" in said


@pytest.mark.parametrize("wire", slow.WIRES)
def test_java_answers_every_size(wire):
    answer_sizes(wire, range(10 if wire == "line" else 11))  # the largest in lines is for block_echo.py


@pytest.mark.parametrize("wire", slow.WIRES)
def test_java_echoes_random_messages(wire):
    rng = random.Random(wire)
    with block_peer.peer("echo", wire) as sock:
        echo_messages(sock, wire, rng, 1500)


def test_java_echoes_the_bits_of_a_nan():
    with block_peer.peer("echo", "native") as sock:
        reader, writer = BlockReader(sock, exact=True), BlockWriter(sock, "native")
        for bits in ("7fa00001", "ffa00001", "7f800001", "7fc00000", "7fffffff", "7f800000"):
            number = tb.loads(bytes.fromhex(f"05{bits}"), exact=True)
            writer.write([number, [number], float(number)])
            one, (other,), double = reader.read()
            assert (type(one), type(other), type(double)) == (tb.Float, tb.Float, float)
            assert {struct.pack(">d", each) for each in (one, other, double)} == {struct.pack(">d", number)}


def test_java_echoes_ids_and_large_values(tmp_path):
    large = [bytes(range(256)) * 30_000, "x" * 300_000, numpy.arange(200_000.0)]
    for where in ("tcp", f"unix:{tmp_path / 'peer'}"):
        with block_peer.peer("echo", "native", where) as sock:
            reader, writer = BlockReader(sock), BlockWriter(sock, "native", checksum=True)
            for id in (0, 7, 2**32 - 1):
                writer.write(large, id=id, reply=True)
                message = reader.read()
                assert (message.id, message.wants_reply) == (id, True)
                assert formatted(message) == formatted(large)


def content(value):
    """Return the bytes of a value that the peer sums up."""
    if isinstance(value, bool) or type(value) is int:
        return struct.pack(">q", value)
    if isinstance(value, float):
        return struct.pack(">d", value)
    return value.encode() if isinstance(value, str) else value


@pytest.mark.parametrize("wire", slow.WIRES)
def test_java_has_read_what_was_written(wire):
    with block_peer.peer("checksum", wire) as sock:
        reader, writer = BlockReader(sock, wire), BlockWriter(sock, wire)
        for size in range(9):
            args = slow.published(size)
            writer.write(args)
            right = zlib.crc32(b"".join(map(content, args)))
            assert reader.read() == [right, len(args)]


def test_java_survives_hostile_messages():
    """What a message declares costs neither memory nor time: lengths, counts at each level, keys of one hash value."""
    wrong, _ = java_blocks.findings(3000, "suite")
    assert not wrong, wrong[:5]


def test_a_virtual_machine_that_ends_is_a_finding(monkeypatch):
    monkeypatch.setattr(java_blocks, "SMALL", ["-XX:MaxDirectMemorySize=1k"])  # no reader can be made
    with pytest.raises(AssertionError, match="ended after 0 of"):
        java_blocks.findings(1, "suite")


def test_java_collects():
    with block_peer.peer("collect", "native") as sock:
        reader, writer = BlockReader(sock), BlockWriter(sock, "native")
        writer.write([list(range(100)), {f"key{n}": n for n in range(50)}, b"raw", (1, [2, 3]), None])
        assert reader.read() == [100 + 100 + 1 + 3 + 1, "ArrayList HashMap byte[] ArrayList null"]


def test_java_over_a_pipe():
    process = subprocess.Popen(
        block_peer.command("echo", "bytes", "pipe"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    messages = [slow.published(size) for size in range(9)] + [[bytes(1_000_000)]]
    reader, writer = BlockReader(process.stdout.fileno()), BlockWriter(process.stdin.fileno())
    for args in messages:
        writer.write(args)
        assert reader.read() == args
    process.stdin.close()
    assert reader.read() is None
    assert process.wait(timeout=SECONDS) == 0
    process.stdout.close()


@pytest.mark.parametrize("section", ["Java answers Python", "Python answers Java", "Records"])
def test_the_guide_calls(section, tmp_path, monkeypatch, capsys):
    guide = (block_peer.ROOT / "docs/guides/python-and-java.md").read_text("utf-8")
    text = guide.partition(f"## {section}\n")[2].partition("\n## ")[0]
    blocks = dict(re.findall(r"^```(java|py|text)\n(.*?)^```$", text, re.S | re.M))
    source = tmp_path / f"{re.search('class (.*) {', blocks['java'])[1]}.java"
    source.write_text(blocks["java"])
    folders = {"typedbytes-block-0.1.0.jar": block_peer.classes()}
    if section == "Records":
        folders["typedbytes-records-0.1.0.jar"] = block_peer.record_classes()
    path = ":".join(map(str, folders.values()))
    subprocess.run([jars.find_tool("javac"), "-cp", path, "-d", tmp_path, source], check=True)
    monkeypatch.chdir(tmp_path)
    code = blocks["py"]
    for jar, folder in folders.items():
        code = code.replace(jar, str(folder))
    exec(code, {})
    assert capsys.readouterr().out == blocks["text"]
