"""Coalescing: no message is lost or partial, no writer waits for ever, whatever threads and peers do."""

import asyncio
import gc
import io
import os
import pickle
import signal
import socket
import subprocess
import threading
import time
from unittest import mock

import pytest

import typedbytes as tb
from soak import block_coalescing
from support import block_reference as slow
from support.coalescing import connected, reading, signalled_when_full, wait_for
from support.subprocess_runs import run_fresh, within
from typedbytes.block import AsyncCoalescingWriter, BlockReader, BlockWriter, CoalescingWriter

pytestmark = pytest.mark.free_threaded


@pytest.mark.parametrize("max_delay", [0.0003, None])
@pytest.mark.parametrize("wire", slow.WIRES)
def test_nothing_is_lost(wire, max_delay):
    messages = [slow.published(size) for size in (0, 1, 4, 8, 6, 7, 2)] * 50
    with connected() as (ours, theirs), reading(theirs, wire) as found:
        with CoalescingWriter(ours, wire, max_delay=max_delay) as writer:
            for args in messages:
                writer.write(args)
        ours.shutdown(socket.SHUT_WR)
    assert found == messages
    stats = writer.stats
    assert stats["messages"] == len(messages)
    assert stats["bytes"] == sum(len(slow.encode(wire, args)) for args in messages)
    assert stats["batches"] < len(messages)


def test_large_values_go_out_in_order():
    messages = [[1], [bytes(200_000), "x"], [2], ["y" * 65_000] * 3, [3], [bytes(70_000)] * 3]
    with connected(4096) as (ours, theirs), reading(theirs) as found:
        with CoalescingWriter(ours, flush_bytes=100, buffer_size=1000) as writer:
            for args in messages:
                writer.write(args)
        ours.shutdown(socket.SHUT_WR)
    assert found == messages


def test_four_producers_a_slow_reader_and_a_small_buffer():
    counts = block_coalescing.run(nthreads=4, nmessages=40_000, sndbuf=4096, slow_every=1 << 18)
    assert counts["messages"] == 40_000
    assert counts["waits"] > 0


def test_a_large_value_waits_for_what_is_on_its_way():
    with connected(4096) as (ours, theirs), within():
        with CoalescingWriter(ours, max_delay=0.001, flush_bytes=60_000) as writer:
            writer.write([bytes(50_000)])
            while not writer.stats["batches"]:  # the other thread sends it, and cannot go on
                time.sleep(0.001)
            thread = threading.Thread(target=lambda: (wait_for(writer, "waits"), found.extend(BlockReader(theirs))))
            found = []
            thread.start()
            writer.write([bytes(200_000)])
            writer.write(["last"])
        ours.shutdown(socket.SHUT_WR)
        thread.join()
    assert found == [[bytes(50_000)], [bytes(200_000)], ["last"]]


@pytest.mark.parametrize(
    ("use", "max_delay", "by_size"),
    [
        (lambda writer: writer.write([bytes(60_000)]), None, 2),
        (lambda writer: (writer.write([bytes(50_000)]), writer.flush()), None, 1),
        (lambda writer: writer.write([bytes(200_000)]), None, 1),
        (lambda writer: writer.write([bytes(50_000)]), 0.1, 1),
    ],
    ids=["by its size", "by a flush", "a large value", "by its age"],
)
def test_a_batch_that_fills_while_another_is_sent_is_sent_too(use, max_delay, by_size):
    with connected(4096) as (ours, theirs), within():
        writer = CoalescingWriter(ours, max_delay=max_delay, flush_bytes=60_000)
        thread = threading.Thread(target=use, args=[writer])
        thread.start()
        wait_for(writer, "batches")  # that thread sends, or the writer's own, and cannot go on
        writer.write(["x" * 60_000])
        reader = BlockReader(theirs)
        reader.read()
        assert reader.read() == ["x" * 60_000]
        thread.join()
        assert writer.stats["by_size"] == by_size
        writer.close()


def test_a_thread_leaves_the_next_batch_to_one_that_waits():
    with connected(4096) as (ours, theirs), within():
        writer = CoalescingWriter(ours, max_delay=None, flush_bytes=60_000)
        first = threading.Thread(target=writer.write, args=[[bytes(60_000)]])
        first.start()
        wait_for(writer, "batches")
        second = threading.Thread(target=lambda: [writer.write(["x" * 60_000]) for _ in range(2)])
        second.start()
        wait_for(writer, "waits")
        theirs.recv(len(slow.encode("bytes", [bytes(60_000)])), socket.MSG_WAITALL)
        first.join()  # nothing of the next batch is read yet
        reader = BlockReader(theirs)
        assert [reader.read(), reader.read()] == [["x" * 60_000]] * 2
        second.join()
        writer.close()


@pytest.mark.parametrize("max_delay", [0.0003, None])
def test_a_socket_with_a_timeout_is_waited_for(max_delay):
    with connected(4096) as (ours, theirs), reading(theirs) as found, within():
        ours.settimeout(20)
        with CoalescingWriter(ours, max_delay=max_delay, flush_bytes=1 << 20, buffer_size=1 << 20) as writer:
            for number in range(2000):
                writer.write([number, bytes(1000)])
        ours.shutdown(socket.SHUT_WR)
    assert found == [[number, bytes(1000)] for number in range(2000)]


def test_a_large_value_that_does_not_go_out_is_the_end():
    with connected() as (ours, theirs), within():
        writer = CoalescingWriter(ours, max_delay=None)
        writer.write([1])
        writer.flush()
        theirs.close()
        with pytest.raises((BrokenPipeError, ConnectionResetError)) as first:
            writer.write([bytes(1_000_000)])
        lengths = []
        for use in (lambda: writer.write([1]), lambda: writer.write([1]), writer.flush, writer.close):
            with pytest.raises((BrokenPipeError, ConnectionResetError)) as again:
                use()
            assert again.value is first.value
            lengths.append(len(again.traceback))
        assert lengths[0] == lengths[1]  # the traceback does not grow


def test_a_full_buffer_makes_its_writer_wait():
    with connected(4096) as (ours, theirs):
        writer = CoalescingWriter(ours, flush_bytes=1000, buffer_size=4000)
        count = 0

        def produce():
            nonlocal count
            for count in range(1, 2001):
                writer.write([bytes(100)])

        thread = threading.Thread(target=produce)
        thread.start()
        before = -1
        while before != count or count == 0:
            before = count
            time.sleep(0.1)
        assert count < 500  # of 224 kB, what two buffers and the kernel take
        with reading(theirs) as found:
            thread.join()
            writer.close()
            ours.shutdown(socket.SHUT_WR)
        assert len(found) == 2000


@pytest.mark.parametrize(("max_delay", "nmessages"), [(0.01, 20), (0.12, 2)])
def test_a_byte_does_not_wait_for_ever(max_delay, nmessages):
    with connected() as (ours, theirs), CoalescingWriter(ours, max_delay=max_delay) as writer, within():
        reader = BlockReader(theirs)
        for number in range(nmessages):
            writer.write([number])
            assert reader.read() == [number]
            time.sleep(0.02 * (number % 3))  # awake and asleep
        assert writer.stats["by_age"] == nmessages


@pytest.mark.unsanitized("AddressSanitizer asks its clock before there is memory")
def test_a_time_of_day_that_is_set_back_delays_nothing(tmp_path):
    # To a wait until a time of day, a clock that runs ahead wherever it is asked is one that is
    # set back during the wait.
    source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <time.h>
        int clock_gettime(clockid_t clock, struct timespec *t) {
            typedef int function(clockid_t, struct timespec *);
            function *usual = (function *)dlsym(RTLD_NEXT, "clock_gettime");
            int result = usual(clock, t);
            if (clock == CLOCK_REALTIME) t->tv_sec += 100000;
            return result;
        }
    """
    (tmp_path / "ahead.c").write_text(source)
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-o", tmp_path / "ahead.so", tmp_path / "ahead.c", "-ldl"],
        check=True,
        capture_output=True,
    )
    code = """
        import socket, sys, time
        from typedbytes.block import CoalescingWriter
        ours, theirs = socket.socketpair()
        theirs.settimeout(60)
        with ours, theirs, CoalescingWriter(ours, max_delay=0.12) as writer:
            writer.write([1])
            print(len(theirs.recv(100)), time.time() > float(sys.argv[1]) + 50_000)
    """
    loaded = " ".join(filter(None, [os.environ.get("LD_PRELOAD"), str(tmp_path / "ahead.so")]))
    with mock.patch.dict(os.environ, LD_PRELOAD=loaded):
        assert run_fresh(code, time.time()) == "12 True"


def test_without_an_age_only_a_flush_sends():
    with connected() as (ours, theirs), CoalescingWriter(ours, max_delay=None) as writer:
        theirs.setblocking(False)
        writer.write([1])
        with pytest.raises(BlockingIOError):
            theirs.recv(1)
        writer.flush()
        assert theirs.recv(100) == slow.encode("bytes", [1])


def test_batches_leave_at_their_size():
    with connected() as (ours, theirs), CoalescingWriter(ours, max_delay=None, flush_bytes=120) as writer:
        for number in range(11):
            writer.write([number])
        assert len(theirs.recv(1000)) == 120
        assert writer.stats == {
            "messages": 11,
            "bytes": 132,
            "batches": 1,
            "by_size": 1,
            "by_age": 0,
            "by_request": 0,
            "waits": 0,
            "largest": 120,
        }


@pytest.mark.parametrize("max_delay", [0.0003, None])
def test_a_peer_that_is_gone_is_reported(max_delay):
    with connected() as (ours, theirs), within():
        writer = CoalescingWriter(ours, max_delay=max_delay)
        writer.write([1])
        theirs.close()
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            while True:
                writer.write([bytes(1000)])
        for use in (lambda: writer.write([1]), writer.flush, writer.close):
            with pytest.raises((BrokenPipeError, ConnectionResetError)):
                use()
        writer.close()


def test_a_killed_peer_gives_an_error_and_no_hang():
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        theirs.recv(1000)
        os.kill(os.getpid(), signal.SIGKILL)
    theirs.close()
    with ours, within():
        writer = CoalescingWriter(ours)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            while True:
                writer.write([bytes(1000)])
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            writer.close()
        os.waitpid(pid, 0)


def test_a_peer_that_stalls_is_reported_after_the_timeout():
    with connected() as (ours, theirs), within():
        ours.settimeout(0.2)
        writer = CoalescingWriter(ours)
        with pytest.raises(TimeoutError):
            while True:
                writer.write([bytes(1000)])
        with pytest.raises(TimeoutError):
            writer.close()


def test_an_interrupt_comes_through_while_a_writer_waits():
    with connected(4096) as (ours, theirs), within():
        writer = CoalescingWriter(ours, flush_bytes=1000, buffer_size=4000)
        count = 0
        with signalled_when_full(ours, signal.default_int_handler), pytest.raises(KeyboardInterrupt):
            while True:
                writer.write([count])
                count += 1
        with reading(theirs) as found:
            writer.write(["after"])
            writer.close()
            ours.shutdown(socket.SHUT_WR)
        numbers = [message[0] for message in found]
        assert numbers[:-1] == list(range(len(numbers) - 1)) and len(numbers) - 1 in (count, count + 1)
        assert numbers[-1] == "after"


@pytest.mark.parametrize("max_delay", [3600, None])
def test_the_rest_of_a_batch_that_was_interrupted_does_not_wait(max_delay):
    with connected(4096) as (ours, theirs), within():
        writer = CoalescingWriter(ours, flush_bytes=60_000, max_delay=max_delay)
        with signalled_when_full(ours, signal.default_int_handler), pytest.raises(KeyboardInterrupt):
            writer.write([bytes(60_000)])
        thread = threading.Thread(target=writer.write, args=[["after"]])  # without max_delay it sends the rest
        thread.start()
        reader = BlockReader(theirs)
        assert reader.read() == [bytes(60_000)]
        thread.join()
        writer.close()
        assert reader.read() == ["after"]


@pytest.mark.parametrize(
    "use",
    [lambda writer: writer.write([1]), CoalescingWriter.flush, CoalescingWriter.close],
    ids=["write", "flush", "close"],
)
def test_a_signal_handler_cannot_use_a_writer_that_sends_a_large_value(use):
    refused = threading.Event()

    def handle(*_):
        with pytest.raises(RuntimeError, match="in use"):
            use(writer)
        refused.set()

    with connected(4096) as (ours, theirs), within():
        writer = CoalescingWriter(ours)
        thread = threading.Thread(target=lambda: (refused.wait(), found.extend(BlockReader(theirs))))
        found = []
        thread.start()
        try:
            with signalled_when_full(ours, handle):
                writer.write([bytes(1_000_000)])
        finally:
            refused.set()
        assert not writer.closed
        writer.write(["after"])
        writer.close()
        ours.shutdown(socket.SHUT_WR)
        thread.join()
    assert found == [[bytes(1_000_000)], ["after"]]


def test_what_is_written_while_another_closes_is_sent_or_refused():
    with connected(4096) as (ours, theirs), within():
        writer = CoalescingWriter(ours, max_delay=None, flush_bytes=1000, buffer_size=4000)
        counts = [0] * 4

        def produce(index):
            with pytest.raises(ValueError, match="closed"):
                while True:
                    writer.write([index, bytes(100)])
                    counts[index] += 1

        threads = [threading.Thread(target=produce, args=[index]) for index in range(4)]
        for thread in threads:
            thread.start()
        wait_for(writer, "waits")
        with reading(theirs) as found:
            writer.close()
            for thread in threads:
                thread.join()
            ours.shutdown(socket.SHUT_WR)
    assert [sum(message[0] == index for message in found) for index in range(4)] == counts


def test_nothing_follows_a_large_value_that_was_sent_in_part():
    large = slow.encode("bytes", [bytes(5_000_000)])
    with connected() as (ours, theirs), within():
        ours.settimeout(0.3)
        writer = CoalescingWriter(ours, flush_bytes=100, buffer_size=100)
        raised = []

        def produce(value):
            try:
                while True:
                    writer.write([value])
            except (TimeoutError, socket.timeout) as error:
                raised.append(error)

        threads = [threading.Thread(target=produce, args=[bytes(5_000_000)])]
        threads[0].start()
        data = bytearray(theirs.recv(1000))  # it is on its way
        threads += [threading.Thread(target=produce, args=["x" * 60]) for _ in range(3)]
        for thread in threads[1:]:
            thread.start()
        threads[0].join()
        theirs.settimeout(0.2)
        with pytest.raises(socket.timeout):
            while True:
                data += theirs.recv(1 << 20)
        for thread in threads:
            thread.join()
        assert large.startswith(data)
        assert len(raised) == 4
        with pytest.raises((TimeoutError, socket.timeout)):
            writer.close()


def test_a_long_delay_does_not_delay_the_end():
    with connected() as (ours, theirs), within():
        with CoalescingWriter(ours, max_delay=3600) as writer:
            writer.write([1])
        assert theirs.recv(100) == slow.encode("bytes", [1])
        CoalescingWriter(ours, max_delay=3600).close()


def test_signals_do_not_make_a_timeout_shorter():
    handled, are_enough = [], threading.Event()

    def handle(*_):
        handled.append(1)
        if len(handled) == 300:
            are_enough.set()

    before = signal.signal(signal.SIGALRM, handle)
    try:
        with connected(4096) as (ours, theirs):
            ours.settimeout(60)
            writer = CoalescingWriter(ours, max_delay=None, flush_bytes=60_000)
            thread = threading.Thread(target=lambda: (are_enough.wait(50), found.extend(BlockReader(theirs))))
            found = []
            thread.start()
            signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
            writer.write([bytes(60_000)])
            writer.close()
            signal.setitimer(signal.ITIMER_REAL, 0)
            ours.shutdown(socket.SHUT_WR)
            thread.join()
        assert found == [[bytes(60_000)]] and len(handled) >= 300
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_hook_cannot_close():
    code = """
        import socket
        from typedbytes.block import CoalescingWriter
        ours, theirs = socket.socketpair()
        with CoalescingWriter(ours, default=lambda value: writer.close()) as writer:
            try:
                writer.write([None])
            except RuntimeError as error:
                print(error)
            writer.write([2])
        print(theirs.recv(100).hex())
        ours.close(); theirs.close()
    """
    said = ["this CoalescingWriter is in use: re-entered from a hook", slow.encode("bytes", [2]).hex()]
    assert run_fresh(code).split("\n") == said


def test_refused_memory_leaves_neither_parts_nor_bytes():
    code = """
        import _testcapi, socket
        from typedbytes.block import BlockReader, CoalescingWriter
        messages = [[1], ["x" * 60_000, "y" * 60_000], ["z" * 70_000, 5], [bytes(100)]]
        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 21)
        nrefused = 0
        with BlockReader(theirs) as reader:
            for number in range(60):
                writer, written = CoalescingWriter(ours, max_delay=None), []
                for args in messages:
                    _testcapi.set_nomemory(number, number + 3)
                    try:
                        writer.write(args)
                    except MemoryError:
                        _testcapi.remove_mem_hooks()
                        nrefused += 1
                    else:
                        _testcapi.remove_mem_hooks()
                        written.append(args)
                writer.write(["end"])
                writer.close()
                for args in [*written, ["end"]]:
                    assert reader.read() == args
        print(nrefused > 5)
        ours.close(); theirs.close()
    """
    assert run_fresh(code) == "True"


def test_unsent_messages_are_warned_of():
    async def forget():
        ours.setblocking(False)
        writer = AsyncCoalescingWriter(ours, max_delay=1000)
        await writer.write([1])
        asyncio.get_running_loop()._scheduled.clear()  # nothing else refers to the writer
        with pytest.warns(ResourceWarning, match="unclosed AsyncCoalescingWriter"):
            del writer
            gc.collect()

    with connected() as (ours, _):
        writer = CoalescingWriter(ours, max_delay=None)
        writer.write([1])
        with pytest.warns(ResourceWarning, match="unclosed CoalescingWriter"):
            del writer
            gc.collect()
        asyncio.run(forget())


def test_what_fails_to_encode_leaves_the_others():
    with connected() as (ours, theirs), reading(theirs) as found:
        with CoalescingWriter(ours, max_delay=None) as writer:
            writer.write([1])
            for bad in ([None], ["x" * 60_000, "y" * 60_000, None]):
                with pytest.raises(tb.EncodeTypeError):
                    writer.write(bad)
            writer.write([2])
        ours.shutdown(socket.SHUT_WR)
    assert found == [[1], [2]]


def test_a_hook_that_re_enters_is_refused():
    with connected() as (ours, _), CoalescingWriter(ours, default=lambda value: writer.write([1])) as writer:
        with pytest.raises(RuntimeError, match="in use"):
            writer.write([None])
        writer.write([2])


def test_statistics_in_a_hook_and_in_a_forked_child():
    code = """
        import os, socket
        from concurrent.futures import ThreadPoolExecutor
        from typedbytes.block import BlockReader, CoalescingWriter

        def hook(value):
            found = writer.stats["messages"]
            with ThreadPoolExecutor(1) as pool:
                return f"{found} messages, exit code {pool.submit(fork, found).result()}"

        def fork(found):    # while the thread in the hook holds the mutex
            if os.fork() == 0:
                os._exit(writer.stats["messages"] != found)
            return os.wait()[1]

        ours, theirs = socket.socketpair()
        with ours, theirs, CoalescingWriter(ours, max_delay=None, default=hook) as writer:
            writer.write([None])
            writer.write([None])
            writer.flush()
            reader = BlockReader(theirs)
            print(*reader.read(), *reader.read(), sep="; ")
    """
    assert run_fresh(code) == "0 messages, exit code 0; 1 messages, exit code 0"


def test_a_child_does_not_send_what_is_its_parent_s():
    code = """
        import os, socket, sys
        from typedbytes.block import CoalescingWriter
        ours, theirs = socket.socketpair()
        writer = CoalescingWriter(ours, max_delay=None)
        writer.write([1])
        if os.fork() == 0:
            for use in (lambda: writer.write([2]), writer.flush):
                try:
                    use()
                except RuntimeError:
                    os.write(1, b"refused ")
            writer.close()
            ours.close(); theirs.close()
            sys.exit()
        os.wait()
        writer.close()
        print(len(theirs.recv(1000)))
        ours.close(); theirs.close()
    """
    assert run_fresh(code) == "refused refused 12"


@pytest.mark.parametrize("message", ["[None]", "['x' * 20_000, None]", "['x' * 100_000, None]"])
@pytest.mark.parametrize("name", ["BlockWriter", "CoalescingWriter"])
def test_a_child_forked_inside_a_message_sends_nothing(name, message):
    code = f"""
        import os, socket
        from typedbytes import block
        def hook(value):
            global child
            child = os.fork()
            return "by hook"
        child, found = -1, []
        ours, theirs = socket.socketpair()
        options = {{"max_delay": None}} if "{name}" == "CoalescingWriter" else {{"buffer_size": 10_000}}
        writer = block.{name}(ours, default=hook, **options)
        writer.write([1])
        try:
            writer.write({message})
        except RuntimeError as error:
            os.write(1, str(error).encode() + b", ")
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        writer.close()
        ours.close()
        found = [len(message) for message in block.BlockReader(theirs)]
        print(found == [1, len({message})])
        theirs.close()
    """
    sent_later = name == "BlockWriter" and message == "[None]"
    refused = "" if sent_later else f"this {name} belongs to the process that created it, "
    assert run_fresh(code) == refused + "True"


@pytest.mark.parametrize("values", ["[bytes(1_000_000)]", "[bytes(50_000)]"])
@pytest.mark.parametrize("name", ["BlockWriter", "CoalescingWriter"])
def test_a_child_forked_by_a_signal_s_handler_sends_nothing(name, values):
    code = f"""
        import os, socket, sys, threading
        from support.coalescing import connected, signalled_when_full
        from typedbytes import block
        def fork(*_):
            global child
            child = os.fork()
            if child:
                forked.set()
        def read():
            forked.wait()
            found.extend(block.BlockReader(theirs))
        child, found, forked = -1, [], threading.Event()
        with connected(4096) as (ours, theirs):
            options = {{"max_delay": None, "flush_bytes": 50_000}} if "{name}" == "CoalescingWriter" else {{}}
            writer = block.{name}(ours, **options)
            reader = threading.Thread(target=read)
            reader.start()
            sender = threading.get_ident()
            with signalled_when_full(ours, fork):
                try:
                    writer.write({values})
                except RuntimeError as error:
                    os.write(1, str(error).encode() + b", ")
                if child == 0:
                    sys.exit()
            os.waitpid(child, 0)
            writer.close()
            ours.shutdown(socket.SHUT_WR)
            reader.join()
        print(found == [{values}])
    """
    assert run_fresh(code) == f"this {name} belongs to the process that created it, True"


@pytest.mark.parametrize("max_delay", [0.0, 3600.0])
def test_a_child_does_not_send_what_tasks_of_its_parent_wrote(max_delay):
    code = f"""
        import asyncio, os, socket
        from typedbytes.block import AsyncCoalescingWriter

        def in_the_child(writer):
            for use in (lambda: writer.write([2]), writer.drain):
                try:
                    next(use().__await__())
                except RuntimeError as error:
                    os.write(1, b"refused " if "belongs to the process" in str(error) else str(error).encode())
            try:
                next(writer.close().__await__())
            except StopIteration:
                os._exit(0)

        async def main():
            ours, theirs = socket.socketpair()
            ours.setblocking(False)
            writer = AsyncCoalescingWriter(ours, max_delay={max_delay})
            await writer.write([1])
            loop = asyncio.get_running_loop()
            if os.fork() == 0:
                loop.call_soon(in_the_child, writer)  # after what sends
                loop.set_exception_handler(lambda *of_this_task: None)  # 3.14's child cannot use this task's
                await asyncio.sleep(0)
            os.wait()
            await writer.close()
            print(len(theirs.recv(1000)))
            ours.close(); theirs.close()

        asyncio.run(main())
    """
    assert run_fresh(code) == "refused refused 12"


@pytest.mark.parametrize("writer_of", [BlockWriter, CoalescingWriter])
def test_bytes_in_flight_are_bounded(writer_of):
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as sock:
        usual = sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
        with writer_of(sock, max_inflight=16_384):
            assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) < usual
            assert sock.getsockopt(socket.IPPROTO_TCP, 25) == 16_384  # TCP_NOTSENT_LOWAT of Linux


@pytest.mark.parametrize(
    "use",
    [
        lambda sink: CoalescingWriter(sink, flush_bytes=0),
        lambda sink: CoalescingWriter(sink, flush_bytes=100, buffer_size=99),
        lambda sink: CoalescingWriter(sink, max_delay=0), lambda sink: CoalescingWriter(sink, max_inflight=0),
        lambda sink: CoalescingWriter(sink, "wire"),
    ],
)  # fmt: skip
def test_options_are_checked(use):
    with connected() as (ours, _):
        with pytest.raises(ValueError):
            use(ours)
    with pytest.raises(TypeError):
        CoalescingWriter(io.BytesIO())


@pytest.mark.parametrize("writer_of", [BlockWriter, CoalescingWriter])
def test_what_is_not_a_socket_has_no_bound(writer_of):
    with open(os.devnull, "wb", buffering=0) as sink, pytest.raises(ValueError, match="max_inflight needs a socket"):
        writer_of(sink, max_inflight=1000)


def test_a_writer_is_made_once_and_never_pickled():
    async def of_tasks():
        ours.setblocking(False)
        for options in ({"max_delay": -1}, {"max_delay": 4000}, {"flush_bytes": 0}):
            with pytest.raises(ValueError):
                AsyncCoalescingWriter(ours, **options)
        check(AsyncCoalescingWriter(ours))

    def check(writer):
        with pytest.raises(RuntimeError, match="initialised again"):
            writer.__init__(ours)
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(writer)

    with connected() as (ours, _):
        with CoalescingWriter(ours) as writer:
            check(writer)
        asyncio.run(of_tasks())


def test_what_was_never_made():
    for use in (
        CoalescingWriter.__new__(CoalescingWriter).write,
        AsyncCoalescingWriter.__new__(AsyncCoalescingWriter).write,
    ):
        with pytest.raises(ValueError, match="closed"):
            use([1])


def test_use_after_close():
    with connected() as (ours, _):
        writer = CoalescingWriter(ours)
        writer.close()
        writer.close()
        for use in (writer.flush, lambda: writer.write([])):
            with pytest.raises(ValueError, match="closed"):
                use()
