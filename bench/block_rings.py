"""The rows of calls that are waited for, and of rings in memory beside sockets.

Here: calls through a ring, over sockets, by Py4J; bytes alone, as fast as C moves them; what waiting costs. Not here:
how time is taken. Invariant: processes share a processor, have one each, or have all, for the whole of a row.
"""

import contextlib
import os
import socket
import struct
import threading
import time

from block_race import Row
from soak.block_ring import DrivenRing, driver
from typedbytes.block import Command, Connection, SharedRing

WARM_MESSAGES, WARM_SECONDS = 100_000, 2
ARGUMENTS = [Command("add"), 5, "some text", 2.5, b"bytes", True, None, 2**40]
IDLE_SECONDS = 10
CLOCK_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def rows(peers, py4j_gateway):
    """Yield the rows, with one processor and with all, and calls with a processor for each side."""
    for one_cpu in (True, False):
        where = "one processor" if one_cpu else "all processors"

        def row(name, contenders, *arguments, turn=2000, where=where, one_cpu=one_cpu):
            return Row(f"{name}, {where}", lambda: contenders(peers, *arguments), turn=turn, one_cpu=one_cpu)

        for nbytes in (16, 64, 1024, 65536):
            yield row(f"call of {nbytes} bytes", calls, [os.urandom(nbytes)], py4j_gateway)
        for nvalues in (1, 8):
            yield row(f"call of {nvalues} arguments", calls, ARGUMENTS[:nvalues])
        yield row("64 bytes there and back, in C", echoes, one_cpu, turn=1)
        yield row("calls of four threads", threads, turn=1)
        for nbytes in (16, 64, 1024, 8192):
            yield row(f"messages of {nbytes} bytes one way", one_way, nbytes, turn=1)
        yield row(f"CPU of both sides in {IDLE_SECONDS} s without a call", idle, turn=1)
        yield row("CPU of a JVM in a second, a message each ms", paced, turn=1)

    each = "a processor each"
    for nbytes in (64, 65536):
        yield Row(f"call of {nbytes} bytes, {each}", apart(calls, peers, [os.urandom(nbytes)]), turn=2000)
    for nvalues in (1, 8):
        yield Row(f"call of {nvalues} arguments, {each}", apart(calls, peers, ARGUMENTS[:nvalues]), turn=2000)
    yield Row(f"64 bytes there and back, in C, {each}", apart(echoes, peers, False), turn=1)


def apart(contenders, *arguments):
    """Return the contenders, warm, with this process on one processor and those that they have started on another."""

    def found():
        before = set(children())
        made = contenders(*arguments)
        here, *_, there = sorted(os.sched_getaffinity(0))
        for process in set(children()) - before:
            for thread in os.listdir(f"/proc/{process}/task"):
                os.sched_setaffinity(int(thread), {there})
        os.sched_setaffinity(0, {here})
        return made

    return found


def children():
    """Yield the processes that this one has started."""
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # it has ended
            if int(stat_of(process)[1]) == os.getpid():
                yield process


def stat_of(process):
    """Return the fields of /proc/PID/stat after the name."""
    with open(f"/proc/{process}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()


def streams(peers):
    """Yield the name of each way to a JVM that sends messages back, and its stream."""
    for name, kind in (("ring", "unix"), ("unix", "unix"), ("tcp", "tcp")):
        sock = peers.sock("echo", "native", kind)
        yield f"typedbytes {name}", sock, SharedRing(sock) if name == "ring" else sock


def calls(peers, values, py4j_gateway=lambda peers: None):
    """Values that a JVM sends back: through memory, over sockets, and by a call of one of its methods."""
    found = {}
    for name, _, stream in streams(peers):
        call = Connection(stream).call
        assert list(call(*values)) == values
        found[name] = lambda call=call: call(*values) and None
    gateway = py4j_gateway(peers)
    if gateway is not None:
        same = gateway.jvm.java.util.Objects.requireNonNull
        found["Py4J"] = lambda: same(values[0]) and None
    for run in found.values():
        until = time.monotonic() + WARM_SECONDS
        for _ in range(10 if peers.quick else WARM_MESSAGES):
            run()
            if time.monotonic() > until:
                break
    return found


def echoes(peers, one_cpu):
    """Bytes that a JVM copies, in loops of C, and of Python over a socket."""
    count = 100 if peers.quick else 20_000
    ring = DrivenRing(peers.sock("copy", "native", "unix"))
    found = {"typedbytes ring": lambda: ring.time_echoes(64, count)}
    ring.time_echoes(64, count)
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        while data := theirs.recv(100):
            theirs.send(data)
        os._exit(0)
    theirs.close()
    peers.stack.callback(os.wait)
    peers.stack.callback(ours.close)
    found["Unix socket, both sides in Python"] = lambda: ours.send(bytes(64)) and ours.recv(64) and None
    if not one_cpu:
        found["bound: a cache line"] = lambda: [cache_line(1000 * count)]
    return found


def cache_line(count):
    """Return the nanoseconds that a cache line takes to another processor and back."""
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count()))
    try:
        return driver().time_cache_line(count)
    finally:
        os.sched_setaffinity(0, mine)


def threads(peers):
    """Four threads that share a connection: the time for each call."""
    count = 10 if peers.quick else 3000
    found = {}
    for name, _, stream in streams(peers):
        connection = Connection(stream)

        def run(connection=connection):
            def work():
                for _ in range(count):
                    connection.call(b"x" * 64)

            workers = [threading.Thread(target=work) for _ in range(4)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            return 4 * count

        run()
        found[name] = run
    return found


def one_way(peers, nbytes):
    """Messages, each published by itself and verified: the time for each."""
    count = 1000 if peers.quick else 1_000_000 if nbytes < 1024 else 200_000
    ring = DrivenRing(peers.sock("copy", "native", "unix"))

    def there_and_back():
        ring.drive(count, count, even=nbytes)
        return count

    def by_socket():
        return received(count // 20, lambda sock: repeat(count // 20, sock.sendall, bytes(nbytes)), drain)

    def by_ring():
        return received(
            count,
            lambda sock: DrivenRing(sock).drive(count, 0, even=nbytes),
            lambda sock: DrivenRing.accept(sock).drive(0, count, even=nbytes),
        )

    there_and_back()
    return {
        "typedbytes ring": by_ring,
        "typedbytes ring, to a JVM and back at once": there_and_back,
        "Unix socket, a send each, in Python": by_socket,
    }


def repeat(count, function, argument):
    """Call a function many times."""
    for _ in range(count):
        function(argument)


def drain(sock):
    """Read until the end."""
    while sock.recv(65536):
        pass


def received(count, send, receive):
    """Send to a process that receives; return the nanoseconds of a message."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        receive(theirs)
        os._exit(0)
    theirs.close()
    with ours:
        started = time.perf_counter_ns()
        send(ours)
    assert os.waitpid(child, 0)[1] == 0
    return [(time.perf_counter_ns() - started) / count]


def idle(peers):
    """Both sides wait, after a few calls."""
    sock = peers.sock("echo", "native", "unix")
    ring = SharedRing(sock)
    return {"typedbytes ring": lambda: waited(peers, sock, ring)}


def waited(peers, sock, ring):
    """Wait for a message that does not come; return the CPU time of both processes."""
    ring.call(1)
    before = time.process_time_ns() + cpu_of_peer(sock)
    ring.timeout = 0.01 if peers.quick else IDLE_SECONDS
    with contextlib.suppress(socket.timeout):
        ring.readinto(bytearray(1))
    ring.timeout = None
    return [time.process_time_ns() + cpu_of_peer(sock) - before]


def paced(peers):
    """Calls with pauses that are longer than a side spins: the JVM's CPU time in a second."""
    found = {}
    for name, sock, stream in streams(peers):
        if "tcp" not in name:
            call = Connection(stream).call
            found[name] = lambda sock=sock, call=call: called_each_ms(peers, sock, call)
    return found


def called_each_ms(peers, sock, call):
    """Call for some seconds; return the JVM's CPU time for one of them."""
    seconds = 0.01 if peers.quick else 3
    before, until = cpu_of_peer(sock), time.monotonic() + seconds
    while time.monotonic() < until:
        call(1)
        time.sleep(0.001)
    return [(cpu_of_peer(sock) - before) / seconds]


def cpu_of_peer(sock):
    """Return the CPU time of the process that listens at a Unix socket, in nanoseconds."""
    pid, _, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    fields = stat_of(pid)
    return (int(fields[11]) + int(fields[12])) * CLOCK_TICK_NS
