"""The map task's input by whole splits: objects read at once are those that the split's typed bytes decode to."""

import fcntl
import io
import os
import re

import pytest

from typedbytes import DecodeError, Long, sequencefile
from typedbytes.streaming.formats import open_files, open_input
from typedbytes.streaming.formats.splits import SplitInput, open_split
from typedbytes.streaming.formats.typed_bytes import TypedBytesInput

SPLIT = {"typedbytes_split_format": "sequencefile"}
OTHERS = [("word", [1, (2.5, None)]), ({"a": b"b"}, "\N{SNOWMAN}"), (None, True)]
PAIRS = [(number, Long(7 * number)) for number in range(40)] + OTHERS
READ = [(number, 7 * number) for number in range(40)] + OTHERS
COMPRESSIONS = [{}, {"compression": "record", "codec": "default"}, {"compression": "block", "block_size": 200}]


def split_of(pairs, **options):
    file = io.BytesIO()
    with sequencefile.open(file, "w", sync_marker=b"0123456789abcdef", sync_interval=150, **options) as writer:
        writer.writes(pairs)
    return file.getvalue()


def open_whole(data, options, split=SPLIT):
    return open_input("split", open_split(io.BytesIO(data), split), "map", split, options)


def drive(task_input):
    """Return the error, the pairs with types, and the task's report: the bad record, the number read, if all were."""
    pairs = []
    with pytest.raises((DecodeError, StopIteration)) as raised:
        while True:
            pairs.append(next(task_input.pairs()))
    try:
        task_input.check_end()
        ended = True
    except DecodeError as error:
        ended = error is task_input.failure() is raised.value
    return (
        task_input.failure(),
        repr(pairs),
        type(raised.value),
        getattr(task_input.failure(), "record", None),
        task_input.record,
        ended,
    )


def both_ways(data, split=SPLIT):
    """Return what both inputs give for these bytes: objects at once, and by typed bytes, which any option asks for."""
    ways = [open_whole(data, options, split) for options in ({}, {"max_depth": 256})]
    assert [type(way) for way in ways] == [SplitInput, TypedBytesInput]
    return [drive(way) for way in ways]


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_pairs_are_the_same(compression):
    direct, by_typed_bytes = both_ways(split_of(PAIRS, **compression))
    assert direct == by_typed_bytes == (None, repr(READ), StopIteration, None, len(PAIRS), True)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_errors_are_the_same_wherever_the_split_is_cut_or_damaged(compression):
    data = split_of(PAIRS[:3] + PAIRS[-3:], **compression)
    start = data.index(b"0123456789abcdef") + 16
    nfailures = 0
    for at in range(start, len(data)):
        for damaged in (data[:at], data[:at] + b"\xee" + data[at + 1 :]):
            (error, *direct), (_, *by_typed_bytes) = both_ways(damaged)
            assert direct == by_typed_bytes and direct[-1], at
            if error is not None:
                with pytest.raises(type(error), match=re.escape(str(error))):
                    list(sequencefile.open(damaged))
                nfailures += 1
    assert nfailures > len(data) - start


def test_lines_are_the_same_and_the_rest_of_the_input_is_read():
    data = b"cut off\none\r\ntwo \xff\n" + "drei é\n".encode() + b"of the next split\n" * 100_000
    split = {"typedbytes_split_format": "text", "typedbytes_split_start": "2", "typedbytes_split_length": "22"}
    direct, by_typed_bytes = both_ways(data, split)
    wanted = [(10, "one"), (15, "two \ufffd"), (21, "drei é")]
    assert direct == by_typed_bytes == (None, repr(wanted), StopIteration, None, 3, True)
    source = io.BytesIO(data)
    task_input = open_input("split", open_split(source, split), "map", split, {})
    list(task_input.pairs())
    task_input.check_end()
    assert source.read() == b"" and task_input.offset == 19


def test_an_end_that_was_not_read_is_an_error():
    task_input = open_whole(split_of(PAIRS), {})
    assert next(task_input.pairs()) == PAIRS[0] and task_input.item_bytes(0) == b"\x03\0\0\0\0"
    with pytest.raises(RuntimeError, match="records may be left"):
        task_input.check_end()


@pytest.mark.parametrize("classes", [{"key_class": "IntWritable"}, {"value_class": "LongWritable"}])
def test_other_classes_pass_through_typed_bytes(classes):
    task_input = open_whole(split_of(PAIRS[:40], **classes), {})
    assert isinstance(task_input, TypedBytesInput) and list(task_input.pairs()) == PAIRS[:40]


def test_the_pipe_of_a_whole_split_holds_a_mebibyte():
    get_pipe_size = 1032
    reader, writer = os.pipe()
    with open(reader, "rb", buffering=0) as source, open(writer, "wb", buffering=0) as sink:
        before = fcntl.fcntl(source, get_pipe_size)
        sink.write(split_of(PAIRS))
        split, _ = open_files("split", "typedbytes", source, sink, SPLIT)
        assert fcntl.fcntl(source, get_pipe_size) == (1 << 20 if hasattr(fcntl, "F_SETPIPE_SZ") else before)
        assert split.reader.read() == READ[0]
