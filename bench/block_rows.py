"""The rows of the race of block messages: what is moved, by whom, and what is to be reached.

Here: contenders as functions that move one message and wait for what shows that it was moved.
Not here: how time is taken.
"""

import contextlib
import json
import os
import pickle
import socket
import struct
import subprocess
import sys
import threading
from functools import partial
from multiprocessing import connection

import numpy

import block_rings
import block_streams
import published_blocks
from block_race import Row
from support import block_peer, block_reference as slow
from typedbytes.block import BlockReader, BlockWriter, SharedChannel

WARM_MESSAGES = 5000
JAVA_OPTIONS = ("-Xmx3g", "-XX:+UseParallelGC")  # with it an array of 1 MiB is an ordinary object
#: What a message of 256 MiB takes is young garbage in memory that is there already.
#: Others do better in a heap that is small.
ROOM_FOR_LARGE = ("-Xms1100m", "-Xmn800m", "-XX:-UseAdaptiveSizePolicy", "-XX:+AlwaysPreTouch")


class Peers:
    """Java peers, each started when it is first asked for, and warm."""

    def __init__(self, stack, folder, quick):
        self.stack, self.folder, self.quick = stack, folder, quick
        self.found = {}
        self.acking = {}
        self.nsocks = 0

    def sock(self, mode, wire, kind="tcp", options=()):
        """Return a socket to a peer of this mode and wire for one contender alone; options: more of Java's."""
        self.nsocks += 1
        where = "tcp" if kind == "tcp" else f"unix:{self.folder / 'peer'}{self.nsocks}"
        sock = self.stack.enter_context(block_peer.peer(mode, wire, where, (*JAVA_OPTIONS, *options)))
        if kind == "tcp":
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        reader, writer = BlockReader(sock, wire), BlockWriter(sock, wire)
        for number in range(10 if self.quick else WARM_MESSAGES):
            writer.write(slow.published(number % 9))
            reader.read_bytes(1) if mode == "ack" else reader.read()
        return sock


def rows(peers):
    """Yield all rows, small ones first."""
    yield from files()
    yield from round_trips(peers)
    yield from block_rings.rows(peers, py4j_gateway)
    yield from collections(peers)
    yield from byte_strings(peers)
    yield from tables(peers)
    yield from block_streams.rows(peers.quick)


# -- files ------------------------------------------------------------------------------------------------


def files():
    """Yield the rows without a peer."""
    for nbytes, goal in ((8, 60), (128, 65), (1024, 75), (1 << 20, 350)):
        yield Row(f"write {nbytes} to /dev/null", lambda nbytes=nbytes: writers(nbytes), goal_ns=goal)
    for nbytes, goal in ((8, 50), (128, 52), (1024, 80), (8192, 260)):
        yield Row(f"read {nbytes} from /dev/zero", lambda nbytes=nbytes: readers(nbytes), goal_ns=goal)


def repeated(call, *arguments, times=1000):
    """Return a function that makes a call many times and says how many."""

    def run():
        for _ in range(times):
            call(*arguments)
        return times

    return run


def writers(nbytes):
    """A value and its header to a descriptor."""
    sink = os.open(os.devnull, os.O_WRONLY)
    value = bytes(nbytes)
    raw = open(os.devnull, "wb", buffering=0)
    head = struct.pack(">iii", 1, 0, nbytes)
    return {
        "typedbytes": repeated(BlockWriter(sink, buffer_size=65536).write, [value]),
        "os.write of head + value": repeated(lambda: os.write(sink, head + value)),
        "os.writev": repeated(lambda: os.writev(sink, [head, value])),
        "raw file": repeated(lambda: (raw.write(head), raw.write(value))),
    }


def readers(nbytes):
    """Bytes from a descriptor."""
    source = os.open("/dev/zero", os.O_RDONLY)
    buffered, raw = open("/dev/zero", "rb"), open("/dev/zero", "rb", buffering=0)
    target = bytearray(nbytes)
    return {
        "typedbytes": repeated(BlockReader(source).read_bytes, nbytes),
        "raw readinto": repeated(raw.readinto, target),
        "buffered read": repeated(buffered.read, nbytes),
    }


# -- round trips ------------------------------------------------------------------------------------------


def round_trips(peers):
    """Yield the sizes of the published experiments, answered by one byte."""
    for size in (1, 2, 3, 4, 5, 6, 8, 7, 9, 10):
        ratio = {7: 0.8, 9: 0.9, 10: 0.9}.get(size, 0.7)
        turn = 1 if size > 8 else 20
        yield Row(
            f"round trip size {size}", lambda size=size: trips(peers, size), goal_ratio=ratio, turn=turn, one_cpu=True
        )
    yield Row("batch of 10 messages", lambda: batches(peers, 10), goal_ns=15_000, one_cpu=True)


def ack_sockets(peers):
    """Return the sockets that all round trips share."""
    if not peers.acking:
        for wire in ("bytes", "native"):
            peers.acking[wire] = peers.sock("ack", wire, options=ROOM_FOR_LARGE)
        peers.acking["bounded"] = peers.sock("ack", "bytes", options=ROOM_FOR_LARGE)
        peers.acking["unix"] = peers.sock("ack", "bytes", "unix", ROOM_FOR_LARGE)
        for wire in published_blocks.PARTS:
            peers.acking["published", wire] = peers.sock("ack", wire, options=ROOM_FOR_LARGE)
    return peers.acking


def acked(sock, write, args):
    """Return a function that writes a message and waits for its byte."""
    recv = sock.recv

    def run():
        write(args)
        recv(1)

    return run


def trips(peers, size):
    """One message and its answer."""
    socks, args = ack_sockets(peers), slow.published(size)
    bounded = socks["bounded"]
    found = {
        "typedbytes bytes TCP": acked(socks["bytes"], BlockWriter(socks["bytes"]).write, args),
        "typedbytes bytes TCP, max_inflight 128 KiB": acked(
            bounded, BlockWriter(bounded, max_inflight=1 << 17).write, args
        ),
        "typedbytes bytes Unix": acked(socks["unix"], BlockWriter(socks["unix"]).write, args),
        "typedbytes native TCP": acked(socks["native"], BlockWriter(socks["native"], "native").write, args),
    }
    published = socks["published", "bytes"]
    message = slow.encode("bytes", args) if size < 9 else b"".join(published_blocks.bytes_parts(args))
    found["bound: bytes made before, the same peer"] = acked(published, published.sendall, message)
    found["published bytes, joined"] = acked(published, partial(published_blocks.send_joined, published), args)
    for wire in published_blocks.PARTS:
        sock = socks["published", wire]
        found[f"published {wire}, parts, no delay"] = acked(
            sock, partial(published_blocks.send_parts, sock, wire), args
        )
    return found


def batches(peers, count):
    """The arguments of many calls as one message, and one answer when Java has made objects of all."""
    batch = [slow.published(4)] * count
    calls = published_ack(peers, batch)
    return {**by_sockets(peers, batch), "published joined, one by one": calls}


def by_sockets(peers, args):
    """A message of which Java makes objects, and its answer, over both kinds of socket."""
    found = {}
    for kind in ("tcp", "unix"):
        sock = peers.sock("collect", "native", kind)
        found[f"typedbytes {kind}"] = asked(BlockReader(sock), BlockWriter(sock, "native"), args)
    return found


def asked(reader, writer, args):
    """Return a function that writes a message and reads its answer."""

    def run():
        writer.write(args)
        reader.read()

    return run


def published_ack(peers, batch):
    """The same calls as a message each, and the byte that answers it."""
    sock = ack_sockets(peers)["published", "bytes"]

    def run():
        for args in batch:
            published_blocks.send_joined(sock, args)
            sock.recv(1)

    return run


# -- collections, byte strings, tables --------------------------------------------------------------------


def py4j_gateway(peers):
    """Return Py4J's gateway to a JVM of its own, None where it is not installed."""
    name = "py4j", len(os.sched_getaffinity(0))  # its virtual machine keeps the processors of now
    if name not in peers.found:
        try:
            from py4j.java_gateway import JavaGateway
        except ModuleNotFoundError:
            return None
        gateway = peers.found[name] = JavaGateway.launch_gateway(die_on_exit=True, javaopts=list(JAVA_OPTIONS))
        peers.stack.callback(gateway.shutdown)
    return peers.found[name]


def collections(peers):
    """Yield lists and dicts that become Java's."""
    for name, value, goal in (
        ("list(100)", list(range(100)), 25_000),
        ("dict(100)", {f"key{n}": n for n in range(100)}, 50_000),
    ):
        yield Row(
            f"{name} to a JVM collection", lambda value=value: collected(peers, value), goal_ns=goal, one_cpu=True
        )


def collected(peers, value):
    """A value that Java makes objects of."""
    found = by_sockets(peers, [value])
    for run in found.values():
        for _ in range(10 if peers.quick else WARM_MESSAGES):
            run()
    return {**found, "Py4J": by_py4j(peers, value)}


def by_py4j(peers, value):
    """The same by Py4J: its converters make the collection, by a call for each item."""
    gateway = py4j_gateway(peers)
    if gateway is None:
        return None
    from py4j.java_collections import ListConverter, MapConverter

    converter = ListConverter() if isinstance(value, list) else MapConverter()
    return lambda: converter.convert(value, gateway._gateway_client) and None


def byte_strings(peers):
    """Yield bytes to a JVM and back."""
    for name, nbytes, goal in (
        ("1 KiB", 1024, 24_000),
        ("1 MiB", 1 << 20, 1_000_000),
        ("64 MiB", 64 << 20, 120_000_000),
    ):
        yield Row(
            f"bytes {name} to a JVM and back",
            lambda nbytes=nbytes: echoed(peers, nbytes),
            goal_ns=goal,
            turn=1 if nbytes > 1 << 20 else 20,
            one_cpu=nbytes < 1 << 20,
        )


def echoed(peers, nbytes):
    """Bytes that come back; both ways together."""
    value = os.urandom(nbytes)
    found = {}
    for kind in ("tcp", "unix"):
        sock = peers.sock("echo", "native", kind, ROOM_FOR_LARGE if nbytes > 1 << 20 else ())
        found[f"typedbytes {kind}"] = echo(BlockReader(sock), BlockWriter(sock, "native"), value)
    found["multiprocessing.connection (to Python)"] = by_connection(value)
    found["pickle by sendall (to Python)"] = by_python(peers, value, pickle.dumps, pickle.loads)
    if nbytes <= 1 << 20:
        text = value.hex()
        found["JSON by sendall (to Python)"] = by_python(
            peers, text, lambda text: json.dumps(text).encode(), json.loads
        )
        gateway = py4j_gateway(peers)
        if gateway is not None:
            found["Py4J"] = lambda: gateway.jvm.java.util.Arrays.copyOf(value, nbytes) and None
    return found


def echo(reader, writer, value):
    """Return a function that sends a value and takes it back."""

    def run():
        writer.write([value])
        if len(reader.read()[0]) != len(value):
            raise AssertionError("something else came back")

    return run


ECHO_PYTHON = """
import socket, struct, sys
sock = socket.socket(fileno=int(sys.argv[1]))
while head := sock.recv(8, socket.MSG_WAITALL):
    nbytes, = struct.unpack(">q", head)
    data = bytearray(nbytes)
    view = memoryview(data)
    while view: view = view[sock.recv_into(view):]
    sock.sendall(head)
    sock.sendall(data)
"""


def by_python(peers, value, dumps, loads):
    """Return a function that sends a length and what dumps makes, and reads it back from a copying Python."""
    ours, theirs = socket.socketpair()
    words = [sys.executable, "-c", ECHO_PYTHON, str(theirs.fileno())]
    process = subprocess.Popen(words, pass_fds=[theirs.fileno()])
    theirs.close()
    peers.stack.callback(process.wait)
    peers.stack.callback(ours.close)

    def run():
        data = dumps(value)
        ours.sendall(struct.pack(">q", len(data)))
        ours.sendall(data)
        left = memoryview(bytearray(struct.unpack(">q", ours.recv(8, socket.MSG_WAITALL))[0]))
        back = left
        while left:
            left = left[ours.recv_into(left) :]
        loads(bytes(back))

    return run


def by_connection(value):
    """Return the same by a pipe of multiprocessing, to a thread."""
    ours, theirs = connection.Pipe()

    def answer():
        with contextlib.suppress(EOFError, OSError):
            while True:
                theirs.send_bytes(theirs.recv_bytes())

    threading.Thread(target=answer, daemon=True).start()

    def run():
        ours.send_bytes(value)
        ours.recv_bytes()

    return run


def tables(peers):
    """Yield tables of numbers, as columns."""
    for nrows, ncolumns, goal in ((100, 3, 30_000), (1000, 4, 40_000), (5000, 4, 80_000), (10_000, 4, 120_000)):
        yield Row(
            f"table {nrows}x{ncolumns}", lambda shape=(nrows, ncolumns): table(peers, shape), goal_ns=goal, one_cpu=True
        )
    yield Row("table 500000x2", lambda: table(peers, (500_000, 2)), turn=2)
    yield Row(
        "table 500000x2, made in shared memory",
        lambda: shared_table(peers, 500_000 * 2 * 8),
        goal_ns=200_000,
        one_cpu=True,
    )


def table(peers, shape):
    """Columns to a JVM and its count of them; pyarrow writes and reads its stream in one process."""
    columns = [numpy.arange(shape[0], dtype="f8") for _ in range(shape[1])]
    sock = peers.sock("collect", "native", "unix")
    reader, writer = BlockReader(sock), BlockWriter(sock, "native")
    for _ in range(10 if peers.quick else WARM_MESSAGES if shape[0] < 100_000 else 20):
        writer.write(columns)
        reader.read()

    def ours():
        writer.write(columns)
        reader.read()

    found = {"typedbytes": ours}
    try:
        import pyarrow
    except ModuleNotFoundError:
        return found
    arrow = pyarrow.table({f"c{n}": column for n, column in enumerate(columns)})

    def by_arrow():
        sink = pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_stream(sink, arrow.schema) as stream:
            stream.write_table(arrow)
        pyarrow.ipc.open_stream(sink.getvalue()).read_all()

    return {**found, "pyarrow IPC write + read, no JVM": by_arrow}


def shared_table(peers, nbytes):
    """A table that was made where it lies, to a JVM that has it as a view and gives it back."""
    channel = SharedChannel(peers.sock("ack", "native"), 2 * nbytes)
    peers.stack.callback(channel.close)

    def ours():
        channel.reserve(nbytes).publish()
        channel.flush()

    return {"typedbytes shared memory": ours}
