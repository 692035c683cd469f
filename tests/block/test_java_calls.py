"""Calls between Python and a real JVM, in both directions, over rings and sockets."""

import array
import contextlib
import datetime
import os
import re
import resource
import signal
import socket
import subprocess
import time
import typing
from pathlib import Path

import numpy
import pytest

import typedbytes as tb
from support import block_peer
from support.block_peer import jars
from support.subprocess_runs import SECONDS, within
from typedbytes.block import Command, SharedRing, connect, serve

pytestmark = pytest.mark.hadoop
SOURCE = block_peer.ROOT / "tests/block/CallPeer.java"


@pytest.fixture(autouse=True)
def bounded():
    with within():
        yield


def java(*arguments, options=jars.QUICK_START):
    """Start the peer."""
    folder = jars._made(jars.BUILD / "java-call-peer", [SOURCE, *block_peer.SOURCES], compile_peer)
    command = [
        jars.find_tool("java"), *options, "-cp", f"{folder}:{block_peer.classes()}", "CallPeer", *arguments,
    ]  # fmt: skip
    return subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def compile_peer(folder):
    command = [jars.find_tool("javac"), "-encoding", "UTF-8", "-cp", block_peer.classes(), "-d", folder, SOURCE]
    jars._run(command, "javac could not compile the peer of calls")


@contextlib.contextmanager
def java_server(path=None, options=jars.QUICK_START):
    """Yield the process of a server and its address; it ends with its input."""
    with java("serve", *([path] if path else []), options=options) as process:
        where = process.stdout.readline().strip()
        yield process, (where if path else ("127.0.0.1", int(where)))
        process.stdin.close()
        process.wait(timeout=SECONDS)


def levels(value):
    """Return how many lists are inside each other."""
    count = 0
    while isinstance(value, list):
        value, count = value[0] if value else None, count + 1
    return count


class Visit(typing.NamedTuple):
    user: str
    ms: int


class Day(typing.NamedTuple):
    day: datetime.date
    visits: list[Visit]


@pytest.mark.parametrize("kind", ["unix", "tcp"])
def test_python_calls_java(kind, tmp_path):
    path = tmp_path / "calls" if kind == "unix" else None
    with java_server(path) as (process, address):
        for ring in (True, False):
            with connect(address, ring=ring) as connection:
                assert isinstance(connection.stream, SharedRing) is ring
                assert connection.call(Command("add"), 1, 2.5) == [3.5]
                for value in (None, True, "é", bytes(300_000), [1, {"a": None}], 2**40):
                    assert connection.call(Command("echo"), value) == [value]
                assert connection.call(Command("list"), [1, "b", (2.5,)]) == ["[1, b, [2.5]]"]
                for value in ([], {}, [None, True, 2**31 - 1, 2**31, -0.5, "é", b"\xff"], {"a": [{"b": None}], 2: {}}):
                    assert connection.call(Command("copy"), value) == [value]
                assert connection.call(Command("tuple"), "x") == [("x", 1, 2.5)]
                for numbers in (array.array("d", [1, 2.5]), array.array("h", [2, 5]), numpy.array([[2, 5]], "u1")):
                    (halves,) = connection.call(Command("halves"), numbers)
                    assert (halves.format, halves.shape) == ("d", (2,))
                    assert [2 * half for half in halves] == numpy.ravel(numbers).tolist()
                assert connection.call(Command("visit"), type=Visit) == Visit("ann", 3)
                assert connection.call(Command("visit")) == ["ann", 3]
                day = Day(datetime.date(1970, 1, 3), [Visit("ann", 3)])
                assert connection.call(Command("list"), day) == ["[2, [[ann, 3]]]"]
                assert connection.call(Command("echo"), day, type=Day) == day
                for command, message in (
                    ("fail", 'NumberFormatException: For input string: "no number"'),
                    ("check", r"Exception: checked \?"),
                    ("deep", "StackOverflowError: null"),
                    ("deep list", "IllegalArgumentException: containers nest deeper than 256"),
                    ("assert", "AssertionError: asserted"),
                    ("unnamed", "^IllegalStateException: of no name"),
                    ("lazy", "NoClassDefFoundError: org/example/Missing"),
                    ("strange", "IllegalArgumentException: .*java.lang.Object"),
                    ("other", "IllegalArgumentException: unknown command other; known: add, assert, check, copy, "),
                ):
                    with pytest.raises(tb.CallError, match=message):
                        connection.call(Command(command))
                with pytest.raises(tb.CallError, match=r'the message has no command .*call\(Command\("NAME"\), \.'):
                    connection.call(1)
                assert levels(connection.call(Command("levels"), 256)[0]) == 256
                with pytest.raises(tb.CallError, match="IllegalArgumentException: containers nest deeper than 256"):
                    connection.call(Command("levels"), 257)
                for command, error in (("fail", "NumberFormat"), ("deep", "StackOverflow"), ("strange", "IllegalArg")):
                    with pytest.raises(tb.CallError, match=error):
                        connection.call(Command(command))
                    (last,) = connection.call(Command("last error"))
                    assert last.startswith(f"{command}: java.lang.{error}")
                for number in range(300):
                    assert connection.call(Command("add"), number) == [number]
        process.stdin.close()
        assert process.stdout.read() == "closed\n"
        assert process.wait() == 0
    assert path is None or not path.exists()


def test_java_removes_no_path_but_its_own(tmp_path):
    path = tmp_path / "calls"
    with java_server(path) as (process, _):
        path.unlink()
        path.write_text("of another")
        process.stdin.close()
        assert process.stdout.read() == "closed\n"
    assert path.read_text() == "of another"


def test_java_without_a_descriptor_for_a_client_goes_on():
    with java_server() as (process, address), connect(address, timeout=SECONDS) as connection:
        assert connection.call(Command("add"), 1) == [1]
        used = set(map(int, os.listdir(f"/proc/{process.pid}/fd")))
        _, hard = limits = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        first_free = min(set(range(len(used) + 1)) - used)
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (first_free, hard))
        with socket.create_connection(address):
            time.sleep(0.3)
            assert connection.call(Command("add"), 2) == [2]
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, limits)
        with connect(address, timeout=10) as other:
            assert other.call(Command("add"), 3) == [3]


def test_java_without_memory_for_a_thread_goes_on():
    stack = 1 << 29
    with java_server(options=[*jars.QUICK_START, f"-Xss{stack}"]) as (process, address):
        with connect(address, timeout=SECONDS) as connection:
            assert connection.call(Command("add"), 1) == [1]
            status = Path(f"/proc/{process.pid}/status").read_text()
            used = 1024 * int(re.search(r"^VmSize:\s*([0-9]+) kB", status, re.M)[1])
            _, hard = limits = resource.prlimit(process.pid, resource.RLIMIT_AS)
            resource.prlimit(process.pid, resource.RLIMIT_AS, (used + stack // 2, hard))
            for _ in range(3):
                with socket.create_connection(address, timeout=SECONDS) as refused:
                    assert refused.recv(1) == b""
            assert connection.call(Command("add"), 2) == [2]
            resource.prlimit(process.pid, resource.RLIMIT_AS, limits)
            with connect(address, timeout=SECONDS) as other:
                assert other.call(Command("add"), 3) == [3]
        process.stdin.close()
        assert process.stdout.read().endswith("closed\n")


def test_java_answers_too_late():
    with java_server() as (_, address), connect(address, timeout=30) as connection:
        connection.stream.timeout = 0.05
        with pytest.raises(socket.timeout):
            connection.call(Command("wait"))
        connection.stream.timeout = None
        assert connection.call(Command("add"), 1) == [1]


@pytest.mark.parametrize("ring", [True, False])
def test_java_that_ends_is_noticed(ring):
    with java_server() as (_, address), connect(address, ring=ring) as connection:
        assert connection.call(Command("add"), 1) == [1]
        with pytest.raises((ConnectionError, tb.TruncatedError)):
            connection.call(Command("exit"))


def test_a_client_that_is_killed_does_not_end_java():
    with java_server() as (_, address):
        for _ in range(2):
            child = os.fork()
            if child == 0:
                connect(address).call(Command("add"), 1)
                os.kill(os.getpid(), signal.SIGKILL)
            os.waitpid(child, 0)
        with connect(address) as connection:
            assert connection.call(Command("add"), 1) == [1]


@pytest.mark.parametrize("ring", [True, False])
@pytest.mark.parametrize("kind", ["unix", "tcp"])
def test_java_calls_python(kind, ring, tmp_path):
    handlers = {
        "add": lambda *numbers: sum(numbers),
        "nothing": lambda: None,
        "echo": lambda value: value,
        "list": lambda: [1, ("a", {"b": 2.5})],
        "fail": lambda value: 1 // (value - 1),
        "total": sum,
        "end": lambda: server.close(),
    }
    with serve(tmp_path / "calls" if kind == "unix" else ("127.0.0.1", 0), handlers, ring=ring) as server:
        with java("call", server.address if kind == "unix" else server.address[1]) as process:
            said = process.stdout.read()
    assert said.splitlines() == [
        "true" if ring else "false",
        "[3.5]",
        "[null]",
        "7",
        "[1, [a, {b=2.5}]]",
        "[3.5]",
        "[2]",
        "[2]",
        "ZeroDivisionError; ZeroDivisionError: integer division or modulo by zero",
        "LookupError; LookupError: unknown command other; known: add, echo, end, fail, list, nothing, total",
        "IllegalArgumentException",
        "300",
        "ended",
    ]


@pytest.mark.parametrize("ring", [True, False])
@pytest.mark.parametrize("kind", ["unix", "tcp"])
def test_each_call_after_the_server_was_killed_is_an_error_of_the_connection(kind, ring, tmp_path):
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        where = tmp_path / "calls" if kind == "unix" else ("127.0.0.1", 0)
        server = serve(where, {"add": lambda *numbers: sum(numbers)}, ring=ring)
        os.write(theirs, f"{server.address if kind == 'unix' else server.address[1]}\n".encode())
        server.wait()
    os.close(theirs)
    with os.fdopen(ours) as address, java("outlive", address.readline().strip()) as process:
        first = process.stdout.readline()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert first == "[3.5]\n"
        process.stdin.write("\n")
        process.stdin.close()
        assert process.stdout.read().splitlines() == ["IOException"] * 5


@pytest.mark.parametrize("ring", [True, False])
def test_each_call_after_java_was_killed_is_an_error_of_the_connection(ring):
    with java_server() as (process, address), connect(address, ring=ring) as connection:
        assert connection.call(Command("add"), 1) == [1]
        process.kill()
        process.wait()
        for _ in range(5):
            with pytest.raises((ConnectionError, tb.TruncatedError)):
                connection.call(Command("add"), 1)


def test_java_calls_java_over_the_socket(tmp_path):
    """A virtual machine cannot make a ring, and says so."""
    with java_server(tmp_path / "calls") as (_, address), java("call", address) as process:
        assert process.stdout.readline() == "false\n"
        assert process.stdout.readline() == "[3.5]\n"
        process.kill()


def test_the_classes_are_those_of_java_8():
    versions = {path.read_bytes()[7] for path in block_peer.classes().rglob("*.class")}
    assert versions == {52}
