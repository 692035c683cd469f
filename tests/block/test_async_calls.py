"""Calls that an event loop awaits: over rings and sockets, cancelled, closed, with a peer that ends."""

import asyncio
import os
import pickle
import signal
import threading

import pytest

import typedbytes as tb
from support.subprocess_runs import within
from typedbytes.block import AsyncConnection, Command, SharedRing, connect, serve

pytestmark = pytest.mark.free_threaded


leave = threading.Event()
HANDLERS = {
    "wait": leave.wait,
    "add": lambda *numbers: sum(numbers),
    "echo": lambda value: value,
    "late": lambda nbytes: leave.wait() and bytes(nbytes),
    "count": len,
}


@pytest.fixture(params=[True, False], ids=["ring", "socket"])
def server(request, tmp_path):
    leave.clear()
    with within(), serve(tmp_path / "calls", HANDLERS, ring=request.param) as server:
        server.is_ring = request.param
        yield server


def test_calls_are_awaited(server):
    async def main():
        async with AsyncConnection(connect(server.address)) as connection:
            assert isinstance(connection._stream, SharedRing) is server.is_ring
            assert connection.closed is False
            for number in range(200):
                assert await connection.call(Command("add"), number, 1) == [number + 1]
            for value in (bytes(100_000), "x" * 3_000_000, (1, [2]), bytes(range(256)) * 5000):
                assert await connection.call(Command("echo"), value) == [value]
            assert await connection.call(Command("echo"), 5, type=float) == 5.0
            with pytest.raises(tb.CallError, match="unknown command other"):
                await connection.call(Command("other"))
        assert connection.closed is True
        connection.close()
        with pytest.raises(ValueError, match="closed"):
            await connection.call(1)
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(connection)

    asyncio.run(main())


def test_the_loop_goes_on_while_calls_wait(server):
    async def main():
        first, second = (AsyncConnection(connect(server.address)) for _ in range(2))
        async with first, second:
            order = []

            async def call(connection, name, *values):
                await connection.call(Command(name), *values)
                order.append((connection, name))
                if connection is second:
                    leave.set()

            await asyncio.gather(call(first, "wait"), call(first, "add", 1), call(second, "add", 2))
            assert order == [(second, "add"), (first, "wait"), (first, "add")]

    asyncio.run(main())


def test_a_call_that_was_cancelled_is_dropped(server):
    async def main():
        async with AsyncConnection(connect(server.address)) as connection:
            for _ in range(3):
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(connection.call(Command("wait")), 0.01)
            leave.set()
            assert await connection.call(Command("add"), 1, 2) == [3]

    asyncio.run(main())


def test_a_cancelled_answer_and_a_request_that_are_large(server):
    """Neither side can send all of its message before the other reads."""

    async def main():
        async with AsyncConnection(connect(server.address, timeout=10)) as connection:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(connection.call(Command("late"), 5_000_000), 0.02)
            asyncio.get_running_loop().call_later(0.05, leave.set)
            assert await connection.call(Command("count"), bytes(5_000_000)) == [5_000_000]

    asyncio.run(main())


def test_a_close_ends_a_call(server):
    async def main():
        connection = AsyncConnection(connect(server.address))
        task = asyncio.ensure_future(connection.call(Command("wait")))
        await asyncio.sleep(0.02)
        connection.close()
        with pytest.raises(ConnectionAbortedError):
            await task
        leave.set()

    asyncio.run(main())


def test_the_end_of_a_server_is_noticed(server):
    async def main():
        async with AsyncConnection(connect(server.address)) as connection:
            task = asyncio.ensure_future(connection.call(Command("wait")))
            await asyncio.sleep(0.02)
            closer = threading.Thread(target=server.close)
            closer.start()
            with pytest.raises((ConnectionError, tb.TruncatedError)):
                await task
            leave.set()
            closer.join()

    asyncio.run(main())


@pytest.mark.parametrize("ring", [True, False])
def test_a_killed_server_is_noticed(tmp_path, ring):
    async def main():
        async with AsyncConnection(connect(path)) as connection:
            assert await connection.call(Command("add"), 1) == [1]
            task = asyncio.ensure_future(connection.call(Command("wait")))
            await asyncio.sleep(0.02)
            os.kill(child, signal.SIGKILL)
            with pytest.raises((ConnectionError, tb.TruncatedError)):
                await task

    leave.clear()
    path, (reading, writing) = tmp_path / "calls", os.pipe()
    child = os.fork()
    if child == 0:
        server = serve(path, HANDLERS, ring=ring)
        os.write(writing, b"1")
        server.wait()
    os.read(reading, 1)
    with within():
        asyncio.run(main())
    os.waitpid(child, 0)
    os.close(reading)
    os.close(writing)
