"""The drop-in names on files: files that take less or lie, positions, pipes, and sources that fail."""

import bz2
import gzip
import io
import os
import threading

import pytest

import typedbytes
from support.legacy_calls import OBJECTS, READINGS, WAYS, in_both_ways, written
from typedbytes.legacy import Input, Output, PairedInput, PairedOutput

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded]


class Sparing(io.RawIOBase):
    """Take at most three bytes at a time, or what `answer` says."""

    def __init__(self, answer=None):
        self.taken = b""
        self.answer = answer

    def writable(self):
        return True

    def write(self, data):
        if self.answer is not None:
            return self.answer(data)
        self.taken += bytes(data[:3])
        return min(3, len(data))


def test_a_file_that_takes_fewer_bytes_gets_them_all():
    file = Sparing()
    Output(file).writes(OBJECTS)
    assert file.taken == written(*OBJECTS)


@pytest.mark.parametrize(
    "answer, error",
    [
        (lambda data: 0, OSError),
        (lambda data: len(data) + 1, OSError),
        (lambda data: -1, OSError),
        (lambda data: None, BlockingIOError),
    ],
)
def test_a_file_that_lies_about_what_it_took_is_an_error(answer, error):
    sparing = Sparing(lambda data: None)
    sparing.answer = answer
    with pytest.raises(error):
        Output(sparing).write(1)


class Plain:
    """Offer nothing but what the originals asked for, and note it."""

    def __init__(self, data=b""):
        self.data, self.position, self.asked = data, 0, []

    def read(self, nbytes):
        self.asked.append(nbytes)
        data = self.data[self.position : self.position + nbytes]
        self.position += nbytes
        return data

    def write(self, data):
        assert type(data) is bytes
        self.data += data


def test_a_file_needs_only_read_or_write():
    file = Plain()
    Output(file).writes(OBJECTS)
    assert file.data == written(*OBJECTS)
    for way in WAYS.values():
        source = Plain(file.data)
        assert list(way(Input(source))) == OBJECTS
        assert min(source.asked) > 0 and max(source.asked) <= len(file.data)


def test_text_files_are_refused(tmp_path):
    for cls in (Input, Output, PairedInput, PairedOutput):
        with pytest.raises(TypeError):
            cls(io.StringIO())


def opened_files(path, data):
    """Yield the same data as every kind of file, with what says at which offset each one is."""
    path.write_bytes(data)
    yield io.BytesIO(data)
    for buffering in (0, 7, -1):
        with open(path, "rb", buffering=buffering) as file:
            yield file
    with open(path, "r+b") as file:
        yield file
    for module in (gzip, bz2):
        with module.open(path.with_suffix(".packed"), "wb") as file:
            file.write(data)
        with module.open(path.with_suffix(".packed"), "rb") as file:
            yield file
    with os.fdopen(piped(data), "rb", buffering=0) as file:
        yield file
    with os.fdopen(piped(data), "rb") as file:
        yield file


def piped(data):
    """Return the end of a pipe that holds some data, and nothing after it."""
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    return reading


@in_both_ways
def test_the_position_is_exact(tmp_path, way):
    data = written(*OBJECTS)
    starts = [len(written(*OBJECTS[:n])) for n in range(len(OBJECTS))]
    for taken in (1, 4, len(OBJECTS) - 1):
        rest = data[starts[taken] :]
        for take in (take_by_read, take_by_iteration, take_by_both):
            for file in opened_files(tmp_path / "data", data):
                source = way(Input(file))
                assert take(source, taken) == OBJECTS[:taken]
                assert file.read(len(rest)) == rest


def take_by_read(source, count):
    return [source.read() for _ in range(count)]


def take_by_iteration(source, count):
    values = []
    for value in source:
        values.append(value)
        if len(values) == count:
            return values


def take_by_both(source, count):
    return take_by_iteration(source, 1) + [source.read() for _ in range(1, count)]


def test_the_file_is_right_while_an_iteration_runs(tmp_path):
    for file in opened_files(tmp_path / "data", b"\x02\x01rest\x02\x00\x02\x01"):
        source = Input(file)
        values = iter(source)
        assert next(values) is True
        assert source.file.read(4) == b"rest"
        assert (next(values), source.read(), next(values, "end")) == (False, True, "end")


def test_iterations_may_be_mixed(tmp_path):
    numbers = list(range(30))
    for file in opened_files(tmp_path / "data", written(*numbers)):
        source = Input(file)
        one, two = iter(source), source.reads()
        got = [number for _ in range(10) for number in (next(one), source.read(), next(two))]
        assert got == numbers and list(two) == list(one) == []


def test_a_closed_file_is_left_alone():
    for file in (io.BytesIO(written(1, 2)), io.BufferedReader(io.BytesIO(written(1, 2)))):
        source = Input(file)
        values = iter(source)
        assert next(values) == 1
        file.close()
        values.close()
        with pytest.raises(ValueError):
            source.read()


def test_a_source_that_fails_leaves_the_input_failed():
    class Failing(io.RawIOBase):
        answers = [b"\x02\x01\x02", OSError("gone"), b"\x00\x02\x01"]

        def readable(self):
            return True

        def readinto(self, target):
            answer = self.answers.pop(0) if self.answers else b""
            if isinstance(answer, OSError):
                raise answer
            target[: len(answer)] = answer
            return len(answer)

    source = Input(io.BufferedReader(Failing()))
    values = iter(source)
    assert next(values) is True
    with pytest.raises(OSError, match="gone"):
        next(values)
    with pytest.raises(OSError, match="gone"):
        source.read()


def test_a_peek_that_lies_is_an_error():
    class Liar(Plain):
        def peek(self, nbytes):
            return b"\x02\x01\x02\x01"

    with pytest.raises(OSError):
        list(Input(Liar(b"\x02")))


@pytest.mark.parametrize("buffering", [0, -1])
@pytest.mark.parametrize("reading", ["read", "reads"])
def test_values_come_out_of_a_pipe_as_soon_as_they_are_in_it(buffering, reading):
    reading_end, writing_end = os.pipe()
    with os.fdopen(reading_end, "rb", buffering=buffering) as source, os.fdopen(writing_end, "wb", buffering=0) as sink:
        output, values = Output(sink), READINGS[reading](Input(source))()
        watchdog = threading.Timer(20, sink.close)
        watchdog.start()
        for obj in (1, "text", b"x" * 20_000, [1, 2]):
            output.write(obj)
            assert next(iter(values)) == obj
        output.write(3)
        watchdog.cancel()


def test_close_flush_and_with_reach_the_file(tmp_path):
    with Output(open(tmp_path / "out", "wb")) as output:
        output.write(1)
        output.flush()
        assert (tmp_path / "out").read_bytes() == typedbytes.dumps(1)
    assert output.file.closed
    with Input(open(tmp_path / "out", "rb")) as source:
        assert next(iter(source)) == 1
    assert source.file.closed


def test_the_file_and_the_unicode_errors_may_change():
    source = Input(io.BytesIO(b"\x07\x00\x00\x00\x01\xff" * 3))
    source.unicode_errors = "replace"
    assert (source.read(), source.unicode_errors) == ("\ufffd", "replace")
    values = source.reads()
    assert next(values) == "\ufffd"
    source.unicode_errors = "strict"
    with pytest.raises(typedbytes.FormatError) as caught:
        next(values)
    assert caught.value.offset == 12
    source = Input(io.BytesIO(b"\x02\x01"))
    assert source.read() is True
    source.file = io.BytesIO(b"\x02\x00")
    assert source.read() is False
    output = Output(io.BytesIO())
    with pytest.raises(typedbytes.EncodeValueError):
        output.write("\udcff")
    output.unicode_errors = "surrogateescape"
    output.write("\udcff")
    assert output.file.getvalue() == b"\x07\x00\x00\x00\x01\xff"
    with pytest.raises(LookupError):
        Input(io.BytesIO(), "no such handler")
