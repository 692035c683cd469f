"""Drop-in loops that read ahead or write late: no caller, and no other process, can see it."""

import io
import os
import socket
import subprocess
import sys

import pytest

import typedbytes
from support.subprocess_runs import SECONDS
from typedbytes.legacy import Input, Output, PairedInput, PairedOutput

pytestmark = pytest.mark.quick

PAIRS = [(number, "text") for number in range(5000)]
DATA = typedbytes.Encoder().encode_pairs(PAIRS)
WITH_X = b"".join(typedbytes.dumps(key) + typedbytes.dumps(value) + b"x" for key, value in PAIRS)
LOOP = """
import os, sys
from typedbytes import Output, PairedInput, PairedOutput
source, output = PairedInput(sys.stdin.buffer), PairedOutput(sys.stdout.buffer)
for pair in source:
    output.write(pair)
"""


def run(code, data=DATA, unbuffered="1", **options):
    """Return what a program writes to a standard output, without a buffer unless `unbuffered` is empty."""
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    return subprocess.run(
        [sys.executable, "-c", code], input=data, stdout=subprocess.PIPE, env=env, check=True, timeout=SECONDS,
        **options,
    ).stdout  # fmt: skip


class Noting(io.RawIOBase):
    """Keep each piece that is written."""

    def __init__(self):
        self.pieces = []

    def writable(self):
        return True

    def write(self, data):
        self.pieces.append(bytes(data))
        return len(data)


def test_an_unbuffered_standard_output_gets_many_records_in_one_write():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        process = subprocess.Popen(
            [sys.executable, "-c", LOOP],
            stdin=subprocess.PIPE,
            stdout=theirs,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        theirs.close()
        process.stdin.write(DATA)
        process.stdin.close()
        messages = list(iter(lambda: ours.recv(1 << 20), b""))
        assert process.wait(SECONDS) == 0
    assert b"".join(messages) == DATA
    assert len(messages) < len(PAIRS) / 50


def test_an_answer_comes_before_more_input_is_waited_for():
    process = subprocess.Popen(
        [sys.executable, "-c", LOOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    with process:
        answers = PairedInput(process.stdout)
        for question in (("a", 1), ("b", 2)):
            process.stdin.write(typedbytes.dumps(question[0]) + typedbytes.dumps(question[1]))
            assert answers.read() == question
        process.stdin.close()
    assert process.returncode == 0


@pytest.mark.parametrize(
    "body, expected",
    [
        ("output.file.write(b'x')", WITH_X),
        ("sys.stdout.buffer.write(b'x')", WITH_X),
        ("sys.stdout.buffer.writelines([b'x'])", WITH_X),
        ("print(end='x', flush=True)", WITH_X),
        ("sys.stdout.flush(); os.write(1, b'x')", WITH_X),
        (
            "Output(sys.stdout.buffer).write(True)",
            b"".join(typedbytes.Encoder().encode_all([*pair, True]) for pair in PAIRS),
        ),
        ("os.wait() if pair[0] == 7 and os.fork() else pair[0] == 7 and sys.exit()", DATA),
    ],
    ids=["the file", "stdout", "lines", "print", "the descriptor", "another Output", "a forked child"],
)
@pytest.mark.parametrize("unbuffered", ["1", ""], ids=["unbuffered", "buffered"])
def test_what_waits_is_written_once_and_in_order(body, expected, unbuffered):
    assert run(f"{LOOP}    {body}\nassert 'write' not in vars(sys.stdout.buffer)\n", unbuffered=unbuffered) == expected


def test_methods_of_a_file_find_all_records_in_it(tmp_path):
    noffset = 0
    with (tmp_path / "file").open("w+b") as file:
        output = PairedOutput(file)
        for pair in PairedInput(io.BytesIO(DATA)):
            output.write(pair)
            noffset += len(typedbytes.dumps(pair[0]) + typedbytes.dumps(pair[1]))
            if pair[0] % 7 == 0:
                assert file.tell() == noffset
            if pair[0] == 4000:
                file.seek(0)
                file.truncate()
                noffset = 0
        file.seek(0)
        assert file.read() == typedbytes.Encoder().encode_pairs(PAIRS[4001:])
        assert vars(file) == {}
    with (tmp_path / "closed").open("wb") as file:
        output = PairedOutput(file)
        for pair in PairedInput(io.BytesIO(DATA)):
            output.write(pair)
            if pair[0] == 9:
                file.close()
                break
    assert (tmp_path / "closed").read_bytes() == typedbytes.Encoder().encode_pairs(PAIRS[:10])


def test_a_method_that_the_caller_has_replaced_gets_each_record(tmp_path):
    pieces = []
    with (tmp_path / "file").open("wb") as file:
        file.write = pieces.append
        output = PairedOutput(file)
        for pair in PairedInput(io.BytesIO(DATA)):
            output.write(pair)
        assert vars(file) == {"write": pieces.append}
    assert len(pieces) == len(PAIRS) and b"".join(pieces) == DATA


@pytest.mark.parametrize("end", ["break", "sys.exit()", "output.flush(); os._exit(0)", "source.file; os._exit(0)"])
def test_what_waits_is_written_when_a_loop_is_left(end):
    assert run(f"{LOOP}    if pair[0] == 7: {end}\n") == typedbytes.Encoder().encode_pairs(PAIRS[:8])


def test_a_file_may_keep_what_it_is_given():
    class Keeping:
        def __init__(self):
            self.pieces = []
            self.write = self.pieces.append

    sink = Keeping()
    output = PairedOutput(sink)
    for pair in PairedInput(io.BytesIO(DATA)):
        output.write(pair)
    assert {type(piece) for piece in sink.pieces} == {bytes} and len(sink.pieces) == len(PAIRS)
    assert b"".join(sink.pieces) == DATA


def test_records_of_many_sizes_are_written_in_order(tmp_path):
    pairs = [
        (number, bytes([number]) * size)
        for number, size in enumerate([3, 40_000, 70_000, 1, 300_000, 32_760, 32_768, 500_000, 2])
    ]
    for opened in (io.BytesIO(), (tmp_path / "file").open("w+b"), (tmp_path / "raw").open("w+b", buffering=0)):
        with opened as sink:
            output = PairedOutput(sink)
            for pair in pairs:
                output.write(pair)
            output.writes(PairedInput(io.BytesIO(typedbytes.Encoder().encode_pairs(pairs))))
            sink.seek(0)
            assert sink.read() == typedbytes.Encoder().encode_pairs(pairs * 2)


def test_writes_copies_many_records_in_one_call():
    for cls, source in ((PairedOutput, PairedInput), (Output, Input)):
        sink = Noting()
        cls(sink).writes(source(io.BytesIO(DATA)).reads())
        assert b"".join(sink.pieces) == DATA
        assert len(sink.pieces) < 10


@pytest.mark.parametrize("size", [7, 100, 8192])
def test_writes_waits_for_input_with_nothing_unwritten(size):
    sink, encoded = Noting(), [typedbytes.dumps(key) + typedbytes.dumps(value) for key, value in PAIRS[:200]]

    class Pipe(io.RawIOBase):
        given = 0

        def readable(self):
            return True

        def readinto(self, target):
            written = sum(map(len, sink.pieces))
            assert self.given - len(encoded[0]) < written <= self.given
            part = b"".join(encoded)[self.given : self.given + min(size, len(target))]
            target[: len(part)] = part
            self.given += len(part)
            return len(part)

    source = PairedInput(io.BufferedReader(Pipe(), size))
    PairedOutput(sink).writes(source)
    assert b"".join(sink.pieces) == b"".join(encoded)


def test_writes_keeps_the_records_before_an_error():
    sink = Noting()
    with pytest.raises(typedbytes.TruncatedError):
        PairedOutput(sink).writes(PairedInput(io.BytesIO(DATA[:-1])))
    assert b"".join(sink.pieces) == typedbytes.Encoder().encode_pairs(PAIRS[:-1])
    sink = Noting()
    with pytest.raises(typedbytes.EncodeValueError):
        source = Input(io.BytesIO(b"\x02\x01\x07\x00\x00\x00\x01\xff"), "surrogateescape")
        Output(sink).writes(source)
    assert sink.pieces == [b"\x02\x01"]


def test_writes_calls_a_write_that_is_overridden():
    class Negating(Output):
        def write(self, obj):
            super().write(not obj)

    sink = Noting()
    Negating(sink).writes(Input(io.BytesIO(b"\x02\x01\x02\x00")))
    assert sink.pieces == [b"\x02\x00", b"\x02\x01"]


def test_records_that_wait_are_sent_when_their_buffer_is_full(tmp_path):
    text = "text" * 700
    with open(tmp_path / "file", "wb") as file:
        output = Output(file)
        for _, _ in PairedInput(io.BytesIO(DATA)):
            output.write(text)
    assert (tmp_path / "file").read_bytes() == typedbytes.dumps(text) * len(PAIRS)


def test_a_file_that_takes_a_part_and_then_nothing_is_an_error():
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    with open(ours, "rb", buffering=0) as source, open(theirs, "wb", buffering=0) as sink:
        with pytest.raises(BlockingIOError):
            Output(sink).write(b"b" * 200_000)
        taken = source.read(1 << 20)
        assert typedbytes.dumps(b"b" * 200_000).startswith(taken) and taken


def test_a_file_that_shows_more_than_it_gives_is_reported_after_bad_bytes_too():
    class Lying(io.BytesIO):
        def peek(self, nbytes):
            return self.getvalue()

        def read(self, nbytes=-1):
            return b""

    with pytest.raises(OSError, match="gave less than peek"):
        list(Input(Lying(typedbytes.dumps(1) + b"\x0b")))


class WritesItself(Noting):
    """Write to an Output, once, while it writes; to one of another file, or to the one that it is the file of."""

    output, records = None, ()

    def write(self, data):
        output, self.output = self.output, None
        for record in self.records if output else ():
            output.write(record)
        return super().write(data)


def test_records_that_a_file_writes_while_it_writes_are_kept():
    source = iter(Input(io.BytesIO(typedbytes.dumps(1) * 5000)))
    ours, theirs = Noting(), WritesItself()
    output, other = Output(io.BufferedWriter(ours, 16)), Output(io.BufferedWriter(theirs, 16))
    next(source)
    other.write("b" * 100)
    theirs.output, theirs.records = output, ["nested"]
    next(source)
    output.write("first")
    output.file.flush(), other.file.flush()
    assert sorted(typedbytes.Decoder().decode_all(b"".join(ours.pieces))) == ["first", "nested"]


def test_records_that_a_file_writes_to_its_own_output_are_kept():
    source = iter(Input(io.BytesIO(typedbytes.dumps(1) * 5000)))
    file = WritesItself()
    output = Output(io.BufferedWriter(file, 1024))
    file.output, file.records = output, [b"y" * 32000] * 2
    next(source)
    for _ in range(3):
        output.write(b"x" * 32000)
    output.file.flush()
    values = typedbytes.Decoder().decode_all(b"".join(file.pieces))
    assert sorted(value[:1] for value in values) == [b"x"] * 3 + [b"y"] * 2


def test_the_first_record_of_a_child_is_written(tmp_path):
    path = tmp_path / "out.tb"
    with open(path, "wb") as file:
        output = Output(file)
        output.write("parent")
        file.flush()
        if os.fork() == 0:
            for number in Input(io.BytesIO(DATA)):
                output.write(number)
            file.flush()
            os._exit(0)
        assert os.wait()[1] == 0
    assert path.read_bytes() == typedbytes.dumps("parent") + DATA
