"""Calls by address: handlers, their errors, rings and sockets, time-outs, ends of either side."""

import contextlib
import dataclasses
import errno
import operator
import os
import pickle
import queue
import signal
import socket
import stat
import sys
import threading
import time
import typing

import pytest

import typedbytes as tb
from support.ring_reference import SlowRing
from support.subprocess_runs import in_threads, within
from typedbytes.block import BlockReader, BlockWriter, Command, Connection, SharedRing, connect, serve

pytestmark = pytest.mark.free_threaded

TCP = ("127.0.0.1", 0)


@pytest.fixture(autouse=True)
def bounded():
    with within():
        yield


HANDLERS = {
    "add": lambda *numbers: sum(numbers),
    "echo": lambda value: value,
    "fail": lambda *values: {}["no such key"],
    "strange": lambda: object(),
    "surrogate": lambda: int("\ud800"),
}


def call(connection, command, *values):
    answer = connection.call(Command(command), *values)
    assert len(answer) == 1
    return answer[0]


@contextlib.contextmanager
def connected(address, handlers=HANDLERS, timeout=None, **options):
    with serve(address, handlers, **options) as server, connect(server.address, timeout=timeout) as connection:
        yield connection


@pytest.fixture(params=["unix", "tcp"])
def address(request, tmp_path):
    return tmp_path / "calls" if request.param == "unix" else TCP


@pytest.mark.parametrize("ring", [True, False])
def test_functions_answer(address, ring):
    with connected(address, ring=ring) as connection:
        assert isinstance(connection.stream, SharedRing) is ring
        assert call(connection, "add") == 0
        assert call(connection, "add", 1, 2.5) == 3.5
        for value in (None, (1, [2, {"a": b"b"}]), "x" * 300_000, bytes(70_000)):
            assert call(connection, "echo", value) == value


@pytest.mark.parametrize("ring", [True, False])
def test_an_exception_of_a_function_is_one_of_the_caller(address, ring):
    with connected(address, ring=ring) as connection:
        for command, kind, message in (
            ("fail", "KeyError", "'no such key'"),
            ("strange", "EncodeTypeError", "cannot encode an object of type object.*"),
            ("surrogate", "ValueError", r".*\\ud800.*"),
            ("other", "LookupError", "unknown command other; known: add, echo, fail, strange, surrogate"),
        ):
            with pytest.raises(tb.CallError, match=f"{kind}: {message}") as caught:
                connection.call(Command(command))
            assert caught.value.kind == kind
        with pytest.raises(tb.CallError, match=r'TypeError: the message has no command .*call\(Command\("NAME"\), \.'):
            connection.call("add", 1)
        assert call(connection, "add", 1, 1) == 2


def test_one_function_takes_all_values(address):
    with connected(address, lambda *values: list(values)) as connection:
        assert connection.call(Command("a"), 1, "b") == [["a", 1, "b"]]
        assert connection.call() == [[]]


class Visit(typing.NamedTuple):
    user: str
    ms: int


@dataclasses.dataclass
class Page:
    url: str
    visits: list[Visit]


@pytest.mark.parametrize("ring", [True, False])
def test_an_answer_of_a_type(tmp_path, ring):
    page = Page("/", [Visit("ann", 3), Visit("bob", 2**40)])
    with connected(tmp_path / "calls", ring=ring) as connection:
        assert connection.call(Command("echo"), page, type=Page) == page
        assert connection.call(Command("echo"), page.visits, type=list[Visit]) == page.visits
        assert connection.call(Command("echo"), 5, type=int) == 5
        assert connection.call(Command("echo"), 5, type=float) == 5.0
        for value, wanted in (("5", int), (page, Visit), (None, int)):
            with pytest.raises(tb.DecodeTypeError):
                connection.call(Command("echo"), value, type=wanted)
        with pytest.raises(tb.CallError):
            connection.call(Command("fail"), type=int)
        assert connection.call(Command("echo"), 1, type=None) == [1]


def test_values_of_an_answer_are_the_fields_of_a_record():
    ours, theirs = socket.socketpair()
    with ours, theirs, Connection(ours) as connection:
        BlockWriter(theirs, "native").write(["ann", 3], id=1)
        assert connection.call(type=Visit) == Visit("ann", 3)
        BlockWriter(theirs, "native").write([], id=2)
        with pytest.raises(tb.DecodeTypeError):
            connection.call(type=Visit)


def test_several_clients_at_once(address):
    started = threading.Barrier(4)

    def meet(number):
        started.wait()
        return number

    with serve(address, {"meet": meet}) as server:
        found = []

        def run(number):
            with connect(server.address) as connection:
                found.append(call(connection, "meet", number))

        in_threads(run, [(number,) for number in range(4)])
        assert sorted(found) == [0, 1, 2, 3]


@pytest.mark.parametrize("without", ["memfd_create", "posix_fallocate"])
def test_a_system_without_the_memory_of_a_ring_uses_the_socket(address, monkeypatch, without):
    monkeypatch.delattr(os, without)
    if without == "posix_fallocate":
        monkeypatch.setattr(os, without, lambda *_: (_ for _ in ()).throw(OSError("no memory")), raising=False)
    with connected(address) as connection:
        assert isinstance(connection.stream, socket.socket)
        assert call(connection, "add", 1, 2) == 3


def test_a_ring_that_the_server_cannot_map_is_not_used(address, monkeypatch):
    from typedbytes.block import _shared_ring

    def refuse(path, nbytes):
        raise tb.BlockError("not here")

    monkeypatch.setattr(_shared_ring, "map_memory", refuse)
    with connected(address) as connection:
        assert isinstance(connection.stream, socket.socket)
        assert call(connection, "add", 1, 2) == 3


def test_a_client_that_asks_for_a_ring_gets_an_offer(tmp_path):
    """As Java does, which cannot make the memory."""
    with serve(tmp_path / "calls", HANDLERS) as server, socket.socket(socket.AF_UNIX) as sock:
        sock.connect(server.address)
        BlockWriter(sock, "native").write([Command("ring")])
        with SharedRing.accept(sock) as ring:
            assert ring.call(Command("add"), 1, 2) == [3]
    with serve(tmp_path / "calls", HANDLERS, ring=False) as server, socket.socket(socket.AF_UNIX) as sock:
        sock.connect(server.address)
        BlockWriter(sock, "native").write([Command("ring")])
        assert BlockReader(sock).read()[0] == "refused"
        assert Connection(sock).call(Command("add"), 1, 2) == [3]


def test_a_client_that_asks_and_refuses_goes_on(tmp_path):
    with serve(tmp_path / "calls", HANDLERS) as server, socket.socket(socket.AF_UNIX) as sock:
        sock.connect(server.address)
        reader, writer = BlockReader(sock), BlockWriter(sock, "native")
        writer.write([Command("ring")])
        assert reader.read()[0] == "ring"
        writer.write([Command("refused"), "no"])
        writer.write([Command("add"), 1, 2], id=7, reply=True)
        assert reader.read() == [3]


def test_the_other_side_may_not_know_of_rings():
    """A server of earlier times answers the offer as any other message."""
    with socket.create_server(TCP) as listener:

        def answer():
            sock, _ = listener.accept()
            with sock:
                for message in BlockReader(sock, "native"):
                    BlockWriter(sock, "native").write(["what is", message[0]], id=message.id)

        thread = threading.Thread(target=answer)
        thread.start()
        with connect(listener.getsockname()) as connection:
            assert isinstance(connection.stream, socket.socket)
            assert connection.call(Command("add")) == ["what is", "add"]
        thread.join()


def test_the_timeout_of_a_client(address):
    done = threading.Event()
    with connected(address, {"wait": done.wait, **HANDLERS}, timeout=30) as connection:
        assert connection.stream.timeout == 30
        connection.stream.timeout = 0.05
        with pytest.raises(socket.timeout):
            call(connection, "wait")
        done.set()
        connection.stream.timeout = None
        assert call(connection, "add", 1) == 1  # the late answer is dropped


@pytest.mark.parametrize("ring", [True, False])
def test_a_late_answer_and_a_request_that_are_large(address, ring):
    """Neither side can send all of its message before the other reads."""
    done = threading.Event()

    def late():
        done.wait()
        return bytes(5_000_000)

    with connected(address, {"late": late, "count": len}, timeout=30, ring=ring) as connection:
        set_timeout(connection.stream, 0.05)
        for _ in range(2):
            with pytest.raises(socket.timeout):
                call(connection, "late")
        done.set()
        set_timeout(connection.stream, 10)
        assert call(connection, "count", bytes(5_000_000)) == 5_000_000


def set_timeout(stream, seconds):
    if isinstance(stream, SharedRing):
        stream.timeout = seconds
    else:
        stream.settimeout(seconds)


def test_a_server_that_never_answers_the_offer():
    with socket.create_server(TCP) as listener, pytest.raises(socket.timeout):
        connect(listener.getsockname(), timeout=0.05)


@pytest.mark.parametrize("ring", [True, False])
def test_the_timeout_of_a_server_ends_a_client_that_is_silent(address, ring):
    with serve(address, HANDLERS, timeout=0.05, ring=ring) as server:
        with pytest.raises((ConnectionError, tb.TruncatedError)):
            with connect(server.address) as connection:
                while True:
                    call(connection, "add", 1)
                    time.sleep(0.2)


@pytest.mark.parametrize("ring", [True, False])
def test_a_close_ends_the_calls_of_others(address, ring):
    entered, leave = threading.Event(), threading.Event()

    def wait():
        entered.set()
        leave.wait()

    server = serve(address, {"wait": wait}, ring=ring)
    failures = []

    def run():
        try:
            call(connection, "wait")
        except (ConnectionError, tb.TruncatedError) as error:
            failures.append(error)

    with connect(server.address) as connection:
        caller = threading.Thread(target=run)
        caller.start()
        entered.wait()
        closer = threading.Thread(target=server.close)
        closer.start()
        caller.join()  # although the handler still runs
        leave.set()
        closer.join()
    assert len(failures) == 1 and server.closed
    server.wait()
    server.close()
    with pytest.raises(OSError):
        connect(server.address)


def test_a_handler_may_close_the_server(address):
    server = serve(address, lambda *_: server.close())
    with connect(server.address) as connection:
        with contextlib.suppress(ConnectionError):
            connection.call(1)
    server.wait()
    assert server.closed


@pytest.mark.parametrize("ring", [True, False])
def test_a_killed_server_is_noticed(tmp_path, ring):
    path = tmp_path / "calls"
    child = os.fork()
    if child == 0:
        serve(path, {"end": lambda: os.kill(os.getpid(), signal.SIGKILL), **HANDLERS}, ring=ring).wait()
    while not path.exists():
        time.sleep(0.01)
    with connect_soon(path) as connection:
        assert call(connection, "add", 1) == 1
        with pytest.raises((ConnectionError, tb.TruncatedError)):
            call(connection, "end")
    os.waitpid(child, 0)
    with connected(path) as connection:  # the path of a server that has ended is used again
        assert call(connection, "add", 2) == 2
    assert not path.exists()


def connect_soon(path):
    while True:
        try:
            return connect(path)
        except ConnectionRefusedError:  # bound, but it does not listen yet
            time.sleep(0.01)


def test_a_killed_client_leaves_nothing(tmp_path):
    with serve(tmp_path / "calls", HANDLERS) as server:
        for _ in range(3):
            child = os.fork()
            if child == 0:
                connection = connect(server.address)
                call(connection, "add", 1)
                os.kill(os.getpid(), signal.SIGKILL)
            os.waitpid(child, 0)
        while server._clients:
            time.sleep(0.001)
        with connect(server.address) as connection:
            assert call(connection, "add", 1) == 1


def test_a_client_that_sends_nonsense_is_disconnected(address):
    with serve(address, HANDLERS, max_bytes=1000) as server:
        for data in (b"GET / HTTP/1.1\r\n\r\n", b"\xf5\x42\x42\x01" + bytes(4) + b"\xff" * 16, b"\xf5"):
            family = socket.AF_UNIX if isinstance(server.address, str) else socket.AF_INET
            with socket.socket(family) as sock:
                sock.connect(server.address)
                sock.sendall(data)
                sock.shutdown(socket.SHUT_WR)
                with contextlib.suppress(ConnectionResetError):
                    assert sock.recv(100) == b""
        with connect(server.address) as connection:
            with pytest.raises((ConnectionError, tb.TruncatedError)):
                call(connection, "echo", bytes(2000))
        with connect(server.address) as connection:
            assert call(connection, "add", 1) == 1


def test_messages_without_a_reply(tmp_path, monkeypatch):
    found, reports = [], queue.SimpleQueue()
    monkeypatch.setattr(threading, "excepthook", reports.put)  # a thread calls it when its connection is closed
    said = "failed to handle a message that wants no reply: "
    handlers = {"note": found.append, "flush": lambda: len(found), "end": sys.exit}
    with serve(tmp_path / "calls", handlers, ring=False) as server:
        with connect(server.address) as connection:
            for number in range(3):
                BlockWriter(connection.stream, "native").write([Command("note"), number])
            assert call(connection, "flush") == 3
            BlockWriter(connection.stream, "native").write([Command("other")])
            with pytest.raises((ConnectionError, tb.TruncatedError)):
                call(connection, "flush")
        assert str(reports.get(timeout=60).exc_value) == f"{said}unknown command other; known: end, flush, note"
        with connect(server.address) as connection:
            BlockWriter(connection.stream, "native").write([Command("end"), "no input"])
            with pytest.raises((ConnectionError, tb.TruncatedError)):
                call(connection, "flush")
        assert str(reports.get(timeout=60).exc_value) == f"{said}no input"
    assert found == [0, 1, 2] and reports.empty()


def test_addresses_that_cannot_be_used(tmp_path):
    path = tmp_path / "calls"
    with pytest.raises(FileNotFoundError, match="calls"):
        connect(path)
    with socket.create_server(TCP) as unused:
        host, port = unused.getsockname()
    with pytest.raises(ConnectionRefusedError, match=f"'{host}:{port}'"):
        connect((host, port))
    with pytest.raises(socket.gaierror, match="'no.host.invalid:1'"):
        connect(("no.host.invalid", 1))
    with serve(path, HANDLERS):
        assert stat.S_ISSOCK(path.stat().st_mode)
        with pytest.raises(OSError, match="in use.*calls"):
            serve(path, HANDLERS)
    assert not path.exists()
    path.write_text("a file")
    with pytest.raises(OSError, match="in use.*calls"):
        serve(path, HANDLERS)
    assert path.read_text() == "a file"
    with pytest.raises(OSError, match="calls"):
        connect(path)


def test_a_path_that_was_removed_does_not_keep_a_server_open(tmp_path):
    with serve(tmp_path / "calls", HANDLERS) as server:
        os.unlink(server.address)
    assert server.closed


def test_a_close_removes_no_path_of_another(tmp_path, monkeypatch):
    path = tmp_path / "calls"
    first = serve(path, HANDLERS)
    path.unlink()
    with serve(path, HANDLERS):
        first.close()
        with connect(path) as connection:
            assert call(connection, "add", 1) == 1
    with serve(path, HANDLERS):
        path.unlink()
        path.write_text("a file")
    assert path.read_text() == "a file"
    path.unlink()
    other = tmp_path / "other"
    other.mkdir()
    (other / "calls").write_text("a file")
    monkeypatch.chdir(tmp_path)
    with serve("calls", HANDLERS):
        monkeypatch.chdir(other)
    assert (other / "calls").read_text() == "a file" and not path.exists()


def test_a_client_cannot_offer_memory_of_another_process(tmp_path):
    """A server of root could be led to write to it."""
    with serve(tmp_path / "calls", HANDLERS) as server, socket.socket(socket.AF_UNIX) as sock:
        sock.connect(server.address)
        reader, writer = BlockReader(sock), BlockWriter(sock, "native")
        writer.write([Command("ring"), f"/proc/{os.getppid()}/fd/3", f"/proc/{os.getpid()}/fd/3", 4096])
        answer = reader.read()
        assert answer[0] == "refused" and "not its own" in answer[1]
        writer.write([Command("add"), 1, 2], id=7, reply=True)
        assert reader.read() == [3]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_a_client_of_another_user_cannot_offer_memory():
    with serve(TCP, HANDLERS) as server:
        os.seteuid(65534)
        try:
            sock = socket.socket()
        finally:
            os.seteuid(0)
        with sock:
            sock.connect(server.address)
            answer, _, files = SlowRing.offer(sock)
            assert answer == ["refused", f"[Errno {errno.EACCES}] this client is of another user"]
            for file in files:
                os.close(file)


def test_no_more_clients_than_allowed(address):
    with serve(address, HANDLERS, max_clients=2) as server:
        with connect(server.address) as first, connect(server.address, ring=False) as second:
            with pytest.raises((ConnectionError, tb.TruncatedError)), connect(server.address, ring=False) as third:
                call(third, "add", 1, 2)
            assert call(first, "add", 1, 2) == call(second, "add", 1, 2) == 3
        while server._clients:
            time.sleep(0.001)
        with connect(server.address) as third:
            assert call(third, "add", 1, 2) == 3
    with pytest.raises(ValueError, match="max_clients"):
        serve(address, HANDLERS, max_clients=0)


def test_an_answer_to_an_offer_is_small():
    def answer():
        sock, _ = listener.accept()
        with sock, contextlib.suppress(OSError):
            BlockReader(sock).read()
            BlockWriter(sock, "native").write([Command("refused"), "x" * 1_000_000])

    with socket.create_server(TCP) as listener:
        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(tb.LimitError):
            connect(listener.getsockname(), timeout=10)
        thread.join()


@pytest.mark.parametrize("ring", [True, False])
def test_errors_of_errors_leave_the_connection(address, ring):
    class Silent(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    def fail():
        raise Silent

    def default(value):
        raise OSError(2, "no such file")

    with connected(address, {"fail": fail, "strange": object}, ring=ring, default=default) as connection:
        for _ in range(2):
            with pytest.raises(tb.CallError, match="Silent: it has no text, because of RuntimeError"):
                call(connection, "fail")
            with pytest.raises(tb.CallError, match="no such file"):
                call(connection, "strange")


@pytest.mark.parametrize("ring", [True, False])
def test_a_function_that_ends_the_process_is_an_error_of_the_caller(address, ring):
    """Of a thread it would end that alone, without a word."""
    with connected(address, {"end": sys.exit, "add": operator.add}, ring=ring) as connection:
        for argument, text in (("no input", "no input"), (3, "3"), (None, "")):
            with pytest.raises(tb.CallError, match=f"SystemExit: {text}"):
                call(connection, "end", argument)
        assert call(connection, "add", 1, 2) == 3


def test_a_client_waits_for_a_full_backlog(tmp_path):
    path = str(tmp_path / "calls")
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as first:
        listener.bind(path)
        listener.listen(0)
        first.connect(path)
        with pytest.raises(socket.timeout):
            connect(path, timeout=0.02, ring=False)
        accepting = threading.Timer(0.05, lambda: listener.accept()[0].close())
        accepting.start()
        connect(path, timeout=10, ring=False).close()
        accepting.join()


def test_options_are_checked_at_once(tmp_path):
    path = tmp_path / "calls"
    for options in ({"timeout": 0}, {"timeout": -1}, {"timeout": 86400 * 30}, {"spin": 2}, {"max_bytes": -1},
                    {"pickle": "other"}, {"default": 5}, {"timeout": "1"}):  # fmt: skip
        for function in (lambda: serve(path, HANDLERS, **options), lambda: connect(path, **options)):
            with pytest.raises((ValueError, TypeError)):
                function()
        assert not path.exists()


def test_one_of_two_servers_starts_on_a_path_that_was_left(tmp_path, monkeypatch):
    """A socket on which its server does not listen yet looks like one that was left."""
    path, barrier, found = str(tmp_path / "calls"), threading.Barrier(2), []
    quick = socket.socket.listen

    def listen(sock, *arguments):
        time.sleep(0.02)
        quick(sock, *arguments)

    def start():
        barrier.wait()
        with contextlib.suppress(OSError):
            found.append(serve(path, HANDLERS))

    monkeypatch.setattr(socket.socket, "listen", listen)
    for _ in range(5):
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(path)
        in_threads(start, [()] * 2)
        assert len(found) == 1
        found.pop().close()


def test_a_forked_child_closes_nothing(tmp_path):
    with serve(tmp_path / "calls", HANDLERS) as server:
        with server._lock:  # as another thread may do, which the child does not have
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                server.close()
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        with connect(server.address) as connection:
            assert call(connection, "add", 1) == 1


@pytest.mark.parametrize("ring", [True, False])
def test_a_forked_child_cannot_call(address, ring):
    """It would take an answer that is its parent's."""
    with connected(address, ring=ring) as connection:
        assert call(connection, "add", 1) == 1
        child = os.fork()
        if child == 0:
            with contextlib.suppress(RuntimeError):
                call(connection, "add", 2)
                os._exit(1)
            connection.close()
            os._exit(0 if connection.closed else 2)
        assert os.waitpid(child, 0)[1] == 0
        assert call(connection, "add", 3) == 3


@pytest.mark.parametrize("ring", [True, False])
def test_a_child_that_is_forked_during_a_call(address, ring):
    """The thread that calls is not in the child, which does not wait for it."""
    entered, leave = threading.Event(), threading.Event()

    def wait():
        entered.set()
        leave.wait()
        return 7

    with connected(address, {"wait": wait}, ring=ring) as connection:
        found = []
        caller = threading.Thread(target=lambda: found.append(call(connection, "wait")))
        caller.start()
        entered.wait()
        child = os.fork()
        if child == 0:
            signal.alarm(5)
            with contextlib.suppress(RuntimeError):
                call(connection, "wait")
                os._exit(1)
            connection.close()
            del connection
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        leave.set()
        caller.join()
        assert found == [7]


def test_what_cannot_be_served_is_refused(tmp_path):
    for handlers in ({"a": 1}, {1: print}, {b"a": print}):
        with pytest.raises(TypeError, match="texts to functions"):
            serve(tmp_path / "calls", handlers)
    with pytest.raises(ValueError, match="'ring'"):
        serve(tmp_path / "calls", {"ring": print})
    with serve(tmp_path / "calls", HANDLERS) as server:
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(server)
        for options in ({"spin": 2}, {"capacity": 5000}):
            with pytest.raises(ValueError):
                connect(server.address, **options)
