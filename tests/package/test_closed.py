"""What has a close() says whether it was called: every reader and writer found in the public modules."""

import asyncio
import io
import os
import socket

import pytest

import typedbytes as tb
from support.public_classes import closable
from typedbytes import block, columns, hive, legacy, sequencefile


def sequence_file(folder):
    path = folder / "data"
    with sequencefile.Writer(path, key_class="Text", value_class="Text") as writer:
        writer.write("a", "b")
    return path


def map_file(folder):
    data = sequence_file(folder)
    with (
        sequencefile.Writer(folder / "index", key_class="Text", value_class="LongWritable") as writer,
        sequencefile.Reader(data) as reader,
    ):
        writer.write("a", reader.offset)
    return folder


def in_memory(kind):
    return lambda folder: kind(io.BytesIO())


def to_null(kind):
    return lambda folder: kind(os.open(os.devnull, os.O_WRONLY))


def batches_of_a_sequence_file(folder):
    return columns.read(sequence_file(folder))


RECIPES = {
    tb.Reader: in_memory(tb.Reader),
    tb.PairReader: in_memory(tb.PairReader),
    tb.Writer: in_memory(tb.Writer),
    tb.PairWriter: in_memory(tb.PairWriter),
    legacy.Input: in_memory(legacy.Input),
    legacy.PairedInput: in_memory(legacy.PairedInput),
    legacy.Output: in_memory(legacy.Output),
    legacy.PairedOutput: in_memory(legacy.PairedOutput),
    columns.BatchReader: in_memory(columns.BatchReader),
    sequencefile.Reader: lambda folder: sequencefile.Reader(sequence_file(folder)),
    sequencefile.Writer: in_memory(sequencefile.Writer),
    sequencefile.MapFile: lambda folder: sequencefile.MapFile(map_file(folder)),
    hive.RowWriter: lambda folder: hive.RowWriter(io.BytesIO(), "n int"),
    block.BlockReader: in_memory(block.BlockReader),
    block.BlockWriter: in_memory(block.BlockWriter),
    block.CoalescingWriter: to_null(block.CoalescingWriter),
}
COMPILED = [
    tb.Reader, tb.PairReader, tb.Writer, tb.PairWriter, sequencefile.Reader, sequencefile.Writer,
    block.BlockReader, block.BlockWriter, block.CoalescingWriter, block.AsyncCoalescingWriter,
]  # fmt: skip
# tested below: some need an event loop, the others a second thread
ELSEWHERE = (
    block.AsyncCoalescingWriter, block.SharedChannel, block.SharedRing, block.Connection, block.AsyncConnection,
    block.Server,
)  # fmt: skip


def test_every_class_has_a_recipe():
    assert set(closable()) == {*RECIPES, *ELSEWHERE}


@pytest.mark.parametrize("kind", [*RECIPES, *ELSEWHERE], ids=lambda kind: kind.__name__)
def test_closed_is_a_documented_property_of_the_class_and_its_stub(kind):
    assert kind.closed.__doc__.startswith("Whether the ")


@pytest.mark.parametrize("make", [*RECIPES.values(), batches_of_a_sequence_file])
def test_closed_is_false_until_close(make, tmp_path):
    made = make(tmp_path)
    assert made.closed is False
    with made:
        assert made.closed is False
    assert made.closed is True
    made.close()
    assert made.closed is True


@pytest.mark.parametrize("kind", COMPILED)
def test_what_was_never_initialised_is_closed(kind):
    assert kind.__new__(kind).closed is True


def test_a_reader_that_failed_is_not_closed_until_close():
    reader = tb.Reader(b"\x0e")
    with pytest.raises(tb.DecodeError):
        reader.read()
    assert reader.closed is False
    reader.close()
    assert reader.closed is True


def test_a_writer_whose_sink_fails_at_close_is_closed():
    class Full(io.RawIOBase):
        def write(self, data):
            raise OSError("no space left")

    writer = tb.Writer(Full())
    writer.write(1)
    with pytest.raises(OSError, match="no space left"):
        writer.close()
    assert writer.closed is True


def test_an_asynchronous_writer():
    async def main():
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)
            writer = block.AsyncCoalescingWriter(ours)
            assert writer.closed is False
            await writer.close()
            assert writer.closed is True

    asyncio.run(main())


def test_a_shared_channel():
    from concurrent.futures import ThreadPoolExecutor

    ours, theirs = socket.socketpair()
    with ours, theirs, ThreadPoolExecutor() as pool:
        accepted = pool.submit(block.SharedChannel.accept, theirs)
        with block.SharedChannel(ours, 4096) as channel, accepted.result() as other:
            assert (channel.closed, other.closed) == (False, False)
        assert (channel.closed, other.closed) == (True, True)


def test_a_shared_ring_and_its_connection():
    from concurrent.futures import ThreadPoolExecutor

    ours, theirs = socket.socketpair()
    with ours, theirs, ThreadPoolExecutor() as pool:
        accepted = pool.submit(block.SharedRing.accept, theirs)
        with block.SharedRing(ours, 4096) as ring, accepted.result() as other, block.Connection(ring) as connection:
            assert (connection.closed, ring.closed, other.closed) == (False, False, False)
        assert (connection.closed, ring.closed, other.closed) == (True, True, True)


def test_a_server_and_its_clients(tmp_path):
    with block.serve(tmp_path / "calls", {}) as server:
        connections = block.connect(server.address), block.AsyncConnection(block.connect(server.address))
        assert [each.closed for each in (server, *connections)] == [False, False, False]
        for connection in connections:
            connection.close()
            assert connection.closed is True
    assert server.closed is True
