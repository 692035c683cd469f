"""The command block: JSON to messages and back, on every wire, and a peer that answers."""

import json
import os
import signal
import socket
import subprocess

import numpy
import pytest

import typedbytes as tb
from support import block_reference as slow
from support.commands import COMMAND, ONE, TEXT, TWO, bad, good, map_of, rows, values
from typedbytes.block import BlockDecoder, BlockEncoder, BlockReader, BlockWriter, Command

ARGS = [Command("add"), "na\u00efve", 5, 2**40, 1.5, b"raw"]
LINE = b'[{"command": "add"}, "na\xc3\xafve", 5, 1099511627776, 1.5, {"bytes": "cmF3"}]\n'
EVERYTHING = [
    None,
    True,
    [1, {"k": [2.5]}],
    {"command": "x"},
    {"array": 1},
    numpy.arange(6, dtype="f4").reshape(2, 3),
    numpy.zeros((0, 2)),
    2**80,
]


@pytest.mark.parametrize("wire", slow.LAYOUTS)
def test_lines_are_messages_and_messages_lines(wire):
    data = slow.encode(wire, ARGS)
    assert good("block", "encode", "--wire", wire, stdin=LINE + b"\n" + LINE) == data * 2
    assert good("block", "decode", "--wire", wire, stdin=data * 2) == LINE * 2
    assert good("block", "echo", "--wire", wire, stdin=data) == data


def test_native_messages(tmp_path):
    (tmp_path / "data").write_bytes(BlockEncoder("native", checksum=True).encode(EVERYTHING, id=7, reply=True))
    lines = good("block", "decode", str(tmp_path / "data"))
    tree = json.loads(lines)
    assert (tree["id"], tree["reply"], len(tree["args"])) == (7, True, len(EVERYTHING))
    assert tree["args"][3] == {"map": [["command", "x"]]}
    assert tree["args"][5]["shape"] == [2, 3]
    assert good("block", "encode", "--wire", "native", "--checksum", stdin=lines) == (tmp_path / "data").read_bytes()
    assert (
        good("block", "echo", "--wire", "native", "--checksum", str(tmp_path / "data"))
        == (tmp_path / "data").read_bytes()
    )
    (message,) = BlockDecoder().feed(good("block", "encode", "--wire", "native", stdin=b'[{"arrow": "YQ=="}]'))
    assert bytes(message[0].data) == b"a"


@pytest.mark.parametrize(
    "line",
    [b"1", b"{}", b'{"args": 1}', b'{"args": [], "id": "x"}', b'{"args": [], "x": 1}', b"[", b"[true]", b"[null]",
     b'[{"arrow": "?"}]', b'[{"array": "f3", "shape": [1], "data": ""}]',
     b'[{"array": "f8", "shape": [1], "data": ""}]', b'[{"array": "f8", "shape": [-1], "data": ""}]',
     b'[{"string": "/w=="}]', b'[{"map": [[[1], 2]]}]'],
)  # fmt: skip
def test_lines_that_are_not_messages(line):
    assert bad(65, "block", "encode", stdin=b"[1]\n" + line)[0] == slow.encode("bytes", [1])


@pytest.mark.parametrize("address", ["127.0.0.1:99999", b"\xff:0", b"\xff"])
def test_a_peer_that_cannot_listen(address, tmp_path):
    (tmp_path / "\udcff").touch()  # the path is taken
    assert "cannot listen" in bad(64, "block", "peer", "--listen", address, cwd=tmp_path)[1]


def test_a_peer_whose_path_is_not_utf8(tmp_path):
    path = os.fsencode(tmp_path) + b"/peer\xff"
    process = subprocess.Popen(
        [*COMMAND, "block", "peer", "--listen", path, "--connections", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline() == path + b"\n"
    connected(os.fsdecode(path)).close()
    assert process.communicate() == (b"", b"")
    assert process.returncode == 0


def test_messages_that_are_bad():
    out, message = bad(65, "block", "decode", stdin=bytes(4) + b"\xff" * 4)
    assert (out, message) == (b"[]\n", "standard input: negative number of values -1 at offset 4, record 1")
    assert "max_bytes=10" in bad(65, "block", "decode", "--max-bytes", "10", stdin=slow.encode("bytes", [1]))[1]


def test_wrong_usage(tmp_path):
    for words in (
        [],
        ["spin"],
        ["encode", "--wire", "x"],
        ["encode", "--checksum"],
        ["decode", "--max-bytes", "0"],
        ["peer", "--listen", "nowhere:x"],
    ):
        bad(64, "block", *words)
    bad(66, "block", "decode", str(tmp_path / "no"))


@pytest.mark.parametrize("mode", ["ack", "echo"])
@pytest.mark.parametrize("wire", ["bytes", "native"])
def test_the_peer_answers(wire, mode, tmp_path):
    for address in ("127.0.0.1:0", str(tmp_path / "peer")):
        words = ["block", "peer", "--wire", wire, "--mode", mode, "--listen", address, "--connections", "2"]
        process = subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        found = process.stdout.readline().strip()
        for _ in range(2):
            with connected(found) as sock:
                reader, writer = BlockReader(sock, wire), BlockWriter(sock, wire)
                for size in range(9):
                    writer.write(slow.published(size))
                    assert reader.read_bytes(1) == b"1" if mode == "ack" else reader.read() == slow.published(size)
        assert process.communicate() == ("", "")
        assert process.returncode == 0
    assert not (tmp_path / "peer").exists()


def test_a_peer_whose_path_was_removed(tmp_path):
    path = tmp_path / "peer"
    words = [*COMMAND, "block", "peer", "--listen", path, "--connections", "1"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            path.unlink()
        assert process.communicate() == (b"", b"")
    assert process.returncode == 0


def test_the_peer_says_what_was_bad_and_goes_on():
    process = subprocess.Popen([*COMMAND, "block", "peer"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = process.stdout.readline().strip()
    with connected(address) as sock:
        sock.sendall(b"\xff" * 4)
        assert sock.recv(1) == b""
    with connected(address) as sock:
        sock.sendall(bytes(4))
        assert sock.recv(1) == b"1"
        process.send_signal(signal.SIGINT)
        found = process.communicate()
    assert found == ("", "typedbytes block: connection 1: negative number of values -1 at offset 0, record 0\n")
    assert process.returncode == 130


def connected(address):
    """Return a socket to where a peer listens."""
    if "/" not in address:
        host, port = address.split(":")
        return socket.create_connection((host, int(port)))
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(address)
    return sock


# Faults
BAD_TEXT = b"\x07\x00\x00\x00\x02\xff\xfe"


def test_messages_as_records():
    messages = good("block", "encode", "--wire", "native", stdin=b'["a", 1]\n[{"arrow": "AAE="}, null]\n')
    assert values(good("cat", stdin=messages)) == [("a", 1), (b"\0\1", None)]
    assert (
        "expected a message of two values for a pair, not of 1"
        in bad(65, "cat", "--pairs", stdin=good("block", "encode", "--wire", "native", stdin=b"[1]"))[1]
    )


@pytest.mark.parametrize(
    "record, message",
    [
        (BAD_TEXT, "STRING is not UTF-8: invalid start byte at its byte 0 "
         "(--unicode-errors surrogateescape accepts it) at offset {}, record 3"),
        (map_of(("k", 1), ("k", 2)),
         "a MAP has equal keys, and a message can keep only one of them at offset {}, record 3"),
        (b"\x09" + map_of((1, "int"), (True, "bool")) + b"\xff",
         "a MAP has equal keys, and a message can keep only one of them at offset {}, record 3"),
    ],
    ids=["text", "equal keys", "keys that are equal in Python"],
)  # fmt: skip
def test_a_record_that_no_message_keeps(record, message):
    """Equal keys of a MAP would be lost. The records before it are written."""
    before = ONE + tb.dumps({"k": [{"k": (1,)}]}) + TEXT
    stdout, error = bad(65, "cat", "--to", "block", stdin=before + record + TWO)
    assert error == f"standard input: {message.format(len(before))}"
    assert good("cat", stdin=stdout) == b"".join(
        b"\x08\0\0\0\1" + each for each in (ONE, before[len(ONE) : -len(TEXT)], TEXT)
    )
    assert good("cat", "--to", "block", stdin=before) == stdout


def test_text_in_latin_1_in_block_messages():
    wrong = b"\x07\x00\x00\x00\x04caf\xe9"
    written, message = bad(65, "cat", "--to", "block", stdin=ONE + wrong)
    assert rows(good("to-json", stdin=written)) == [{"vector": [1]}]
    assert message.endswith(" (--unicode-errors surrogateescape accepts it) at offset 5, record 1")
    messages = good("cat", "--to", "block", "--unicode-errors", "surrogateescape", stdin=ONE + wrong)
    assert good("cat", stdin=messages) == b"".join(b"\x08\x00\x00\x00\x01" + each for each in (ONE, wrong))
