"""Coalescing by the tasks of asyncio: no message is lost or partial, and no task waits for ever."""

import asyncio
import socket

import pytest

from support import block_reference as slow
from support.coalescing import connected, reading
from support.subprocess_runs import within
from typedbytes.block import AsyncCoalescingWriter, BlockReader, CoalescingWriter

pytestmark = pytest.mark.free_threaded


# -- asyncio ----------------------------------------------------------------------------------------------


def run_async(work, sndbuf=None, wire="bytes"):
    """Run work(sock) in a loop while a thread reads; return what was read."""

    async def main():
        with within():
            await work(ours)
            ours.shutdown(socket.SHUT_WR)

    with connected(sndbuf) as (ours, theirs), reading(theirs, wire) as found:
        ours.setblocking(False)
        asyncio.run(main())
    return found


@pytest.mark.parametrize("wire", slow.WIRES)
def test_nothing_is_lost_by_tasks(wire):
    messages = [slow.published(size) for size in (0, 1, 4, 8, 6, 7, 2)] * 50

    async def work(sock):
        async with AsyncCoalescingWriter(sock, wire) as writer:
            for args in messages:
                await writer.write(args)
        assert writer.stats["messages"] == len(messages) > writer.stats["batches"]

    assert run_async(work, wire=wire) == messages


@pytest.mark.parametrize("max_delay", [0, 0.001])
def test_many_tasks_and_a_small_buffer(max_delay):
    async def work(sock):
        async with AsyncCoalescingWriter(sock, flush_bytes=500, buffer_size=2000, max_delay=max_delay) as writer:

            async def produce(task):
                for number in range(500):
                    await writer.write([task, number, bytes(number)])

            await asyncio.gather(*map(produce, range(8)))
            assert writer.stats["waits"] > 0

    found = run_async(work, 4096)
    assert len(found) == 4000
    for task in range(8):
        assert [message[1] for message in found if message[0] == task] == list(range(500))


def test_large_values_of_tasks():
    messages = [[1], [bytes(500_000), "x"], [2], ["y" * 65_000] * 3, [3], [bytes(70_000)] * 20]

    async def work(sock):
        async with AsyncCoalescingWriter(sock) as writer:
            for args in messages:
                await writer.write(args)

    assert run_async(work, 4096) == messages


def test_large_values_of_tasks_that_wait_for_capacity():
    messages = [[task, bytes(200_000 if task % 2 else 400)] for task in range(8)]

    async def main():
        writer = AsyncCoalescingWriter(ours, flush_bytes=500, buffer_size=500)
        writing = asyncio.gather(*map(writer.write, messages))
        while writer.stats["waits"] <= 4:  # the other end is not read yet
            await asyncio.sleep(0)
        with reading(theirs) as found:
            await writing
            await writer.close()
            ours.shutdown(socket.SHUT_WR)
        assert found == messages

    with connected(4096) as (ours, theirs), within():
        ours.setblocking(False)
        asyncio.run(main())


def test_a_turn_of_the_loop_is_one_batch():
    async def work(sock):
        writer = AsyncCoalescingWriter(sock)
        for turn in range(3):
            for number in range(10):
                await writer.write([number])
            await asyncio.sleep(0.01)
            assert writer.stats["batches"] == turn + 1
        await writer.drain()
        await writer.close()
        await writer.close()
        with pytest.raises(ValueError, match="closed"):
            await writer.write([1])

    assert len(run_async(work)) == 30


def test_a_peer_that_is_gone_is_reported_to_tasks():
    async def main():
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with ours, within():
            writer = AsyncCoalescingWriter(ours, flush_bytes=1000, buffer_size=2000)
            tasks = [asyncio.ensure_future(forever(writer)) for _ in range(5)]
            await asyncio.sleep(0.05)
            theirs.close()
            for task in tasks:
                with pytest.raises((BrokenPipeError, ConnectionResetError)):
                    await task
            with pytest.raises((BrokenPipeError, ConnectionResetError)):
                await writer.close()

    async def forever(writer):
        while True:
            await writer.write([bytes(300)])

    asyncio.run(main())


def test_a_peer_that_goes_while_a_task_drains():
    async def main():
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with ours, within():
            writer = AsyncCoalescingWriter(ours, flush_bytes=1 << 20, buffer_size=1 << 22)
            await writer.write([bytes(60_000)] * 40)
            task = asyncio.ensure_future(writer.drain())
            await asyncio.sleep(0)
            assert not task.done()  # the kernel has not taken all
            theirs.close()
            with pytest.raises((BrokenPipeError, ConnectionResetError)):
                await task

    asyncio.run(main())


def test_a_task_that_is_cancelled_wakes_the_next_one():
    async def work(sock):
        async with AsyncCoalescingWriter(sock, flush_bytes=100, buffer_size=100) as writer:
            tasks = [asyncio.ensure_future(write(writer, number)) for number in range(200)]
            await asyncio.sleep(0)
            for task in tasks[50::2]:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def write(writer, number):
        await writer.write([number, bytes(5000)])

    found = run_async(work, 4096)
    assert [message[0] for message in found] == [*range(50), *range(51, 200, 2)]


def test_what_was_written_by_a_task_may_be_changed():
    async def work(sock):
        async with AsyncCoalescingWriter(sock) as writer:
            value = bytearray(500_000)
            for number in range(5):
                value[:] = bytes([number]) * 500_000
                await writer.write([value])

    assert run_async(work, 4096) == [[bytes([number]) * 500_000] for number in range(5)]


def test_a_close_that_was_cancelled_is_the_end():
    async def main():
        with connected() as (ours, theirs), within():
            ours.setblocking(False)
            theirs.setblocking(False)
            writer = AsyncCoalescingWriter(ours, flush_bytes=1 << 20, buffer_size=1 << 22, max_delay=0.2)
            for _ in range(40):
                await writer.write([bytes(60_000)])
            drain, close = asyncio.ensure_future(writer.drain()), asyncio.ensure_future(writer.close())
            await asyncio.sleep(0)
            close.cancel()
            with pytest.raises(asyncio.CancelledError):
                await close
            with pytest.raises(ValueError, match="closed"):
                await drain
            with pytest.raises(BlockingIOError):
                while theirs.recv(1 << 20):  # there is free capacity again
                    pass
            await asyncio.sleep(0.4)  # longer than a byte may wait
            with pytest.raises(BlockingIOError):
                theirs.recv(1)

    asyncio.run(main())


def test_a_hook_of_a_task_that_re_enters_is_refused():
    async def work(sock):
        def hook(value):
            with pytest.raises(RuntimeError, match="in use"):
                writer.drain().send(None)
            with pytest.raises(RuntimeError, match="in use"):
                next(writer.close().__await__())
            return 5

        async with AsyncCoalescingWriter(sock, default=hook) as writer:
            await writer.write([1])
            await writer.write([None])

    assert run_async(work) == [[1], [5]]


def test_a_sink_that_does_not_block_is_refused():
    with connected() as (ours, _):
        ours.settimeout(60)
        CoalescingWriter(ours).close()
        ours.setblocking(False)
        for sink in (ours, ours.fileno()):
            with pytest.raises(ValueError, match="the sink must block"):
                CoalescingWriter(sink)


def test_a_socket_that_blocks_is_refused():
    async def main():
        with connected() as (ours, _):
            for sink in (ours, ours.fileno()):
                with pytest.raises(ValueError, match="must not block"):
                    AsyncCoalescingWriter(sink)

    asyncio.run(main())


def test_a_flush_in_a_hook_leaves_the_message_whole():
    async def main():
        with connected() as (ours, theirs):
            ours.setblocking(False)
            writer = AsyncCoalescingWriter(ours, "native", default=lambda obj: writer._flush_due() or "from the hook")
            await writer.write([b"first"])
            await writer.write(["before" * 1000, object(), "after"])
            await writer.drain()
            return theirs.recv(1 << 20)

    messages = list(BlockReader(asyncio.run(main()), "native"))
    assert [list(message) for message in messages] == [[b"first"], ["before" * 1000, "from the hook", "after"]]
