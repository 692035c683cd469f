"""Sources that answer wrongly, raise, time out or end early: the error is the same for every operation after it."""

import io
import os
import pathlib
import socket

import pytest

import typedbytes as tb
from support.reader_sources import DATA, KINDS, PAIR, VALUES, OnlyRead, Script, live, pipe
from support.subprocess_runs import run_fresh

pytestmark = [pytest.mark.debug, pytest.mark.quick]

# -- sources ----------------------------------------------------------------------------------------------


class ScriptInto(Script):
    """Do the same for readinto: bytes are put in place, all else is returned."""

    def readinto(self, buffer):
        """Do what comes next."""
        result = Script.read(self, len(buffer))
        if isinstance(result, bytes):
            buffer[: len(result)] = result
            return len(result)
        return result

    read = None


# -- hostile sources --------------------------------------------------------------------------------------

WRONG_DATA = {
    "str": ("text", TypeError, r"read\(\) must return bytes, not str"),
    "int": (5, TypeError, r"read\(\) must return bytes, not int"),
    "list": ([2, 1], TypeError, r"read\(\) must return bytes, not list"),
    "None": (None, BlockingIOError, "must be in blocking mode"),
    "too_much": (bytes(200_000), ValueError, r"read\(\) returned 200000 bytes when \d+ were asked for"),
}

WRONG_COUNTS = {
    "str": ("2", TypeError, r"readinto\(\) must return an int, not str"),
    "float": (2.0, TypeError, r"readinto\(\) must return an int, not float"),
    "None": (None, BlockingIOError, "must be in blocking mode"),
    "negative": (-1, ValueError, r"readinto\(\) returned -1 for a buffer of \d+ bytes"),
    "too_many": (1 << 20, ValueError, r"readinto\(\) returned 1048576 for a buffer of \d+ bytes"),
    "beyond_64_bits": (1 << 70, ValueError, r"readinto\(\) returned \d+ for a buffer of \d+ bytes"),
}

WRONG = [(Script, *row) for row in WRONG_DATA.values()] + [(ScriptInto, *row) for row in WRONG_COUNTS.values()]


@pytest.mark.parametrize("cut", [2, 4])
@pytest.mark.parametrize(
    "source, result, kind, message", WRONG,
    ids=[f"read_{name}" for name in WRONG_DATA] + [f"readinto_{name}" for name in WRONG_COUNTS]
)  # fmt: skip
def test_a_wrong_answer_is_named_and_final(source, result, kind, message, cut):
    script = source([DATA[:cut], result])
    reader = tb.Reader(script)
    assert reader.read() is True
    for use in (reader.read, reader.skip, lambda: next(reader), reader.read_all):
        with pytest.raises(kind, match=message):
            use()
    assert script.ncalls == 2


@pytest.mark.parametrize("kind", [bytearray, memoryview, type("Bytes", (bytes,), {})])
def test_what_is_bytes_in_all_but_type_is_taken(kind):
    class Source(OnlyRead):
        def read(self, nbytes):
            return kind(OnlyRead.read(self, nbytes))

    assert list(tb.Reader(Source(DATA, 1000))) == VALUES


RAISED = [
    OSError(5, "it broke"), ValueError("closed"), MemoryError(), KeyboardInterrupt(), SystemExit(3), GeneratorExit(),
]  # fmt: skip


def first_value(source, **options):
    """Return a Reader that has given the one value there is, and the way to the next."""
    reader = tb.Reader(source, **options)
    reader.skip(2)
    return reader, reader.read


def first_pair(source):
    """Return a PairReader that has given the one pair there is, and the way to the next."""
    reader = tb.PairReader(source)
    return reader, reader.__next__ if reader.read() == ("k", "v") else None


def first_group(source, use):
    """Return a PairReader in the middle of a group, and a way on."""
    reader = tb.PairReader(source)
    groups = reader.groups()
    _, values = next(groups)
    next(values)
    return reader, {"values": values.__next__, "groups": groups.__next__, "skip": reader.skip}[use]


WAYS_ON = {
    "read": first_value,
    "raw": lambda source: first_value(source, raw=True),
    "exact": lambda source: first_value(source, read_ahead=False),
    "skip": lambda source: (first_value(source)[0],) * 2,
    "pairs": first_pair,
    "values": lambda source: first_group(source, "values"),
    "groups": lambda source: first_group(source, "groups"),
    "skip_pairs": lambda source: first_group(source, "skip"),
}


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("way", WAYS_ON)
def test_what_a_source_raises_goes_through_and_is_final(way, error):
    for taken in range(6):
        source = Script([*(PAIR[n : n + 1] for n in range(len(PAIR))), *(PAIR[n : n + 1] for n in range(taken)), error])
        reader, use = WAYS_ON[way](source)
        use = use.skip if use is reader else use
        for again in (use, use, reader.read, reader.skip, reader.__next__):
            with pytest.raises(type(error)) as caught:
                again()
            assert caught.value is error
        assert source.ncalls == len(PAIR) + taken + 1


@pytest.mark.parametrize(
    "use", [tb.Reader.read, next, tb.Reader.read_all, list], ids=["read", "next", "read_all", "list"]
)
def test_stop_iteration_of_a_source_is_not_the_end(use):
    with pytest.raises(RuntimeError):
        use(tb.Reader(Script([StopIteration()])))


@pytest.mark.parametrize("form", ["groups", "values"])
def test_stop_iteration_of_a_source_is_not_the_end_of_a_group(form):
    reader = tb.PairReader(Script([tb.dumps("k") + tb.dumps(1), StopIteration()]))
    groups = reader.groups()
    _, values = next(groups)
    assert next(values) == 1
    with pytest.raises(RuntimeError):
        list(groups if form == "groups" else values)


@pytest.mark.parametrize("source", [None, 1.5, object(), True, [b"\2\1"], {}, type("Wrong", (), {"read": 3})()])
def test_what_cannot_be_read_is_refused_at_once(source):
    with pytest.raises(TypeError, match="cannot read from"):
        tb.Reader(source)


@pytest.mark.parametrize("text", [io.StringIO("\2\1"), io.TextIOWrapper(io.BytesIO(DATA))])
def test_text_files_are_refused_at_once(text):
    with pytest.raises(TypeError, match="binary"):
        tb.Reader(text)


def test_a_property_that_raises_goes_through():
    class Broken:
        @property
        def read(self):
            raise OSError("no read today")

    with pytest.raises(OSError, match="no read today"):
        tb.Reader(Broken())


@pytest.mark.parametrize("kind", ["BytesIO", "file", "raw_file", "small_buffer"])
def test_a_file_closed_meanwhile_raises(kind, path):
    with KINDS[kind](DATA, path) as file:
        reader = tb.Reader(file, buffer_size=64)
        assert reader.read() is True
    with pytest.raises(ValueError, match="closed"):
        list(reader)
    with pytest.raises(ValueError, match="closed"):
        reader.read()


def test_a_file_cut_short_meanwhile_is_truncated(path):
    # through memory mapped from the file this would be the end of the process
    code = """
        import os, sys, typedbytes as tb
        readers = [tb.Reader(sys.argv[1]), tb.Reader(open(sys.argv[1], "rb", buffering=0)), tb.PairReader(sys.argv[1])]
        print([reader.record for reader in readers if reader.read()])
        os.truncate(sys.argv[1], 1_000_001)
        for reader in readers:
            try:
                reader.skip(10**6)
            except tb.TruncatedError as error:
                print(error.offset)
            reader.close()
    """
    path.write_bytes(tb.dumps(7) * 400_000)
    with open(path, "rb"):
        assert run_fresh(code, path, warnings="ignore").splitlines() == ["[1, 1, 1]", *["1000001"] * 3]


def test_a_descriptor_closed_meanwhile_raises():
    reading, writing = os.pipe()
    os.write(writing, DATA[:2])
    reader = tb.Reader(reading)
    assert reader.read() is True
    os.close(reading)
    os.close(writing)
    with pytest.raises(OSError, match="Bad file descriptor"):
        reader.read()


@pytest.mark.parametrize("path", [-1, "/nonexistent/x.tb", pathlib.Path("/nonexistent/x.tb"), "/", "bad\0name"])
def test_a_path_that_cannot_be_opened_raises_at_once(path):
    with pytest.raises((OSError, ValueError)):
        tb.Reader(path)


def test_a_pipe_closed_inside_a_value(path):
    with pipe(DATA[:-3]) as file, pytest.raises(tb.TruncatedError) as caught:
        list(tb.Reader(file))
    assert (caught.value.offset, caught.value.record) == (len(DATA) - 3, len(VALUES) - 1)


def test_a_source_that_reads_its_reader_is_refused():
    class Loop:
        def read(self, nbytes):
            return reader.read(nbytes)

    reader = tb.Reader(Loop())
    for _ in range(2):
        with pytest.raises(RuntimeError, match="in use"):
            reader.read()


@pytest.mark.parametrize("kind", ["descriptor", "raw_file", "buffered", "socket", "made_file"])
def test_no_bytes_yet_is_not_the_end(kind):
    with live(kind) as (source, send):
        os.set_blocking(source if kind == "descriptor" else source.fileno(), False)
        reader = tb.Reader(source)
        send(DATA[:4])
        assert reader.read() is True
        for _ in range(2):
            with pytest.raises(BlockingIOError):
                reader.read()


def test_a_timeout_of_a_socket_is_not_the_end():
    with live("socket") as (source, send):
        source.settimeout(0.01)
        reader = tb.Reader(source)
        for _ in range(2):
            with pytest.raises((TimeoutError, socket.timeout)):
                reader.read()


class Endless:
    """Give the same bytes for ever; count them."""

    def __init__(self, head, unit):
        self.left, self.unit, self.ngiven = head, unit, 0

    def read(self, nbytes):
        """Return what comes next."""
        given, self.left = (self.left or self.unit * (nbytes // len(self.unit)))[:nbytes], b""
        self.ngiven += len(given)
        return given


@pytest.mark.parametrize("use", [tb.Reader.read, tb.Reader.skip, tb.PairReader.read], ids=["read", "skip", "pair"])
@pytest.mark.parametrize(
    "head, unit",
    [
        (b"\x08\x7f\xff\xff\xff", b"\1\0"),
        (b"\x0a\x7f\xff\xff\xff", b"\1\0"),
        (b"\x09", b"\2\1"),
        (b"\0\x7f\xff\xff\xff", b"a"),
    ],
)
def test_a_record_without_an_end_is_a_limit(head, unit, use):
    source = Endless(head, unit)
    reader = (tb.PairReader if use is tb.PairReader.read else tb.Reader)(source, max_bytes=1 << 20)
    with pytest.raises(tb.LimitError) as caught:
        use(reader)
    assert (caught.value.offset, caught.value.record) == (0, 0)
    assert source.ngiven < 2 << 20


FAULTS = {
    "format": (b"\x09\x0c", tb.FormatError),
    "marker": (b"\xff", tb.FormatError),
    "text": (b"\7\0\0\0\1\xff", tb.FormatError),
    "limit": (b"\x09" * 300, tb.LimitError),
    "cut": (b"\x09\2\1", tb.TruncatedError),
    "length": (b"\0\xff\xff\xff\xff", tb.FormatError),
}

OPERATIONS = {
    "read": lambda reader: reader.read(),
    "next": next,
    "read_all": lambda reader: reader.read_all(),
    "skip": lambda reader: reader.skip(),
    "skip_none": lambda reader: reader.skip(0),
    "copy": lambda reader: (tb.PairWriter if type(reader) is tb.PairReader else tb.Writer)(io.BytesIO()).copy(reader),
    "groups": lambda reader: next(reader.groups()) if type(reader) is tb.PairReader else reader.read(),
}

# skipping looks at structure alone, and has read what a text error is about
BLIND = {"skip", "skip_none", "copy"}


@pytest.mark.parametrize(
    "source", [lambda data: data, io.BytesIO, lambda data: OnlyRead(data, 1)], ids=["memory", "file", "bytes"]
)
@pytest.mark.parametrize("kind", [tb.Reader, tb.PairReader])
@pytest.mark.parametrize("first", OPERATIONS)
@pytest.mark.parametrize("fault", FAULTS)
def test_after_a_fault_every_operation_says_the_same(fault, first, kind, source):
    bad, error = FAULTS[fault]
    for second in OPERATIONS:
        reader = kind(source(PAIR + bad + (b"" if fault == "cut" else PAIR)))
        reader.skip(1 if kind is tb.PairReader else 2)
        use = OPERATIONS["read" if first == "skip_none" or (fault == "text" and first in BLIND) else first]
        with pytest.raises(error) as caught:
            use(reader)
        for again in (OPERATIONS[second], OPERATIONS[first]):
            with pytest.raises(error) as repeated:
                again(reader)
            assert repeated.value is caught.value
        with pytest.raises(RuntimeError, match="again"):
            reader.__init__(PAIR)
        reader.close()
        with pytest.raises(ValueError, match="closed"):
            OPERATIONS[second](reader)
