"""Reading: every kind of source gives the same values, as soon as they are there, and no failure of a source loses any."""

import array
import bz2
import contextlib
import ctypes
import gc
import gzip
import io
import itertools
import lzma
import mmap
import os
import pathlib
import random
import signal
import socket
import tempfile
import threading
import tracemalloc
import zipfile

import numpy
import pytest

import typedbytes as tb
from fresh import lowest_free_descriptor, run_fresh, within
from typedbytes import sequencefile

VALUES = [
    True, 5, 2**40, 1.5, "na\u00efve \U0001f600", b"raw", (1, ("a",)), [1, [2, []]], {"k": None, 3: [b""]}, 2**90,
    "x" * 300, b"y" * 70_000, tb.Ext(144, b"z" * 20), tb.Writable("org.example.It", b"\0\1"), "last",
]  # fmt: skip
PARTS = [tb.dumps(value) for value in VALUES]
DATA = b"".join(PARTS)
ENDS = list(itertools.accumulate(map(len, PARTS)))

# -- sources ----------------------------------------------------------------------------------------------


class OnlyRead:
    """Have read(n) and nothing else; keep every n."""

    def __init__(self, data, most=1 << 30):
        self.file, self.most, self.asked = io.BytesIO(data), most, []

    def read(self, nbytes):
        """Return at most `most` bytes."""
        self.asked.append(nbytes)
        return self.file.read(min(nbytes, self.most))


class Read1(OnlyRead):
    """Have read1 too, which is the one to use."""

    def read1(self, nbytes):
        """Return at most `most` bytes."""
        return OnlyRead.read(self, nbytes)

    def read(self, nbytes):
        """Wait for all, as a buffered file does."""
        raise AssertionError("read waits for more than there is")


class ReadInto:
    """Have readinto and nothing else; keep the buffers it was given, as it should not."""

    def __init__(self, data):
        self.file, self.kept = io.BytesIO(data), []

    def readinto(self, buffer):
        """Fill the buffer."""
        self.kept.append(buffer)
        return self.file.readinto(buffer)


class ShortRaw(io.RawIOBase):
    """Give between one and nine bytes at a time."""

    def __init__(self, data):
        self.file, self.chance = io.BytesIO(data), random.Random(5)

    def readable(self):
        """Say yes."""
        return True

    def readinto(self, buffer):
        """Fill some of the buffer."""
        return self.file.readinto(memoryview(buffer)[: self.chance.randrange(1, 10)])


class Script:
    """Do at each call what a list says: return a result, or raise an exception."""

    def __init__(self, results):
        self.results, self.ncalls = list(results), 0

    def read(self, nbytes):
        """Do what comes next."""
        self.ncalls += 1
        result = self.results.pop(0)
        if isinstance(result, BaseException):
            raise result
        return result


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


@contextlib.contextmanager
def fed(descriptor, data):
    """Write to a descriptor, and close it, from a thread."""

    def work():
        with open(descriptor, "wb") as file, contextlib.suppress(BrokenPipeError):
            file.write(data)

    thread = threading.Thread(target=work)
    thread.start()
    yield
    thread.join()


@contextlib.contextmanager
def pipe(data):
    """Give the reading end of a pipe as a raw file."""
    reading, writing = os.pipe()
    with fed(writing, data), open(reading, "rb", buffering=0) as file:
        yield file


@contextlib.contextmanager
def connection(data):
    """Give one end of a pair of sockets."""
    ours, theirs = socket.socketpair()
    with fed(theirs.detach(), data), ours:
        yield ours


@contextlib.contextmanager
def made_file(data, buffering):
    """Give a file made of a socket."""
    with connection(data) as ours, ours.makefile("rb", buffering) as file:
        yield file


@contextlib.contextmanager
def packed(module, path, data):
    """Give a compressed file."""
    with module.open(path, "wb") as file:
        file.write(data)
    with module.open(path, "rb") as file:
        yield file


@contextlib.contextmanager
def zipped(path, data):
    """Give the member of an archive."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("it", data)
    with zipfile.ZipFile(path) as archive, archive.open("it") as file:
        yield file


@contextlib.contextmanager
def mapped(path, data):
    """Give a file as memory."""
    path.write_bytes(data)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as pages:
        yield pages


@contextlib.contextmanager
def spooled(data):
    """Give a temporary file that is still in memory."""
    with tempfile.SpooledTemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield file


def written(path, data):
    """Write a file and return its path."""
    path.write_bytes(data)
    return path


def strided(data):
    """Return every other byte of something twice as long."""
    return memoryview(b"".join(bytes([byte, 0]) for byte in data))[::2]


# each gives a context with a source of the bytes; `path` is the place for a file
MEMORY = {
    "bytes": lambda data, path: contextlib.nullcontext(data),
    "bytearray": lambda data, path: contextlib.nullcontext(bytearray(data)),
    "memoryview": lambda data, path: contextlib.nullcontext(memoryview(data)),
    "every_other_byte": lambda data, path: contextlib.nullcontext(strided(data)),
    "backwards": lambda data, path: contextlib.nullcontext(memoryview(data[::-1])[::-1]),
    "array": lambda data, path: contextlib.nullcontext(array.array("B", data)),
    "signed_array": lambda data, path: contextlib.nullcontext(array.array("b", memoryview(data).cast("b").tolist())),
    "ctypes": lambda data, path: contextlib.nullcontext((ctypes.c_char * len(data)).from_buffer_copy(data)),
    "mmap": lambda data, path: mapped(path, data),
}
FILES = {
    "BytesIO": lambda data, path: io.BytesIO(data),
    "file": lambda data, path: open(written(path, data), "rb"),
    "file_for_both": lambda data, path: open(written(path, data), "r+b"),
    "raw_file": lambda data, path: open(written(path, data), "rb", buffering=0),
    "small_buffer": lambda data, path: open(written(path, data), "rb", buffering=16),
    "only_read": lambda data, path: contextlib.nullcontext(OnlyRead(data)),
    "one_byte": lambda data, path: contextlib.nullcontext(OnlyRead(data, 1)),
    "readinto": lambda data, path: contextlib.nullcontext(ReadInto(data)),
    "short_raw": lambda data, path: ShortRaw(data),
    "buffered_short_raw": lambda data, path: io.BufferedReader(ShortRaw(data), 32),
    "pipe": lambda data, path: pipe(data),
    "socket": lambda data, path: connection(data),
    "made_file": lambda data, path: made_file(data, -1),
    "made_raw_file": lambda data, path: made_file(data, 0),
    "gzip": lambda data, path: packed(gzip, path, data),
    "bz2": lambda data, path: packed(bz2, path, data),
    "lzma": lambda data, path: packed(lzma, path, data),
    "zip": lambda data, path: zipped(path, data),
    "spooled": lambda data, path: spooled(data),
}
PLACES = {
    "str": lambda data, path: contextlib.nullcontext(str(written(path, data))),
    "PathLike": lambda data, path: contextlib.nullcontext(written(path, data)),
}
KINDS = {**MEMORY, **FILES, **PLACES}


@pytest.fixture
def path(tmp_path):
    """Return a place for a file."""
    return tmp_path / "input.tb"


@pytest.mark.parametrize("read_ahead", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_all_values(kind, read_ahead, path):
    with KINDS[kind](DATA, path) as source, tb.Reader(source, read_ahead=read_ahead) as reader:
        assert reader.read_all() == VALUES
        assert (reader.offset, reader.record) == (len(DATA), len(VALUES))
        assert reader.read() is None
        assert reader.read("default") == "default"
        assert list(reader) == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_raw_values(kind, path):
    with KINDS[kind](DATA, path) as source, tb.Reader(source, raw=True) as reader:
        for part, end in zip(PARTS, ENDS):
            assert reader.read() == part
            assert reader.offset == end
        assert reader.read() is None


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_pairs(kind, path):
    with KINDS[kind](DATA + tb.dumps("value"), path) as source, tb.PairReader(source) as reader:
        assert list(reader) == list(zip(VALUES[::2], [*VALUES[1::2], "value"]))


@pytest.mark.parametrize("read_ahead", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_tells_where_it_was_cut(kind, read_ahead, path):
    with KINDS[kind](DATA[:-1], path) as source, tb.Reader(source, read_ahead=read_ahead) as reader:
        assert list(itertools.islice(reader, len(VALUES) - 1)) == VALUES[:-1]
        for _ in range(2):
            with pytest.raises(tb.TruncatedError) as caught:
                reader.read()
            assert (caught.value.offset, caught.value.record) == (len(DATA) - 1, len(VALUES) - 1)


# an empty file cannot be mapped
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "mmap"])
def test_every_kind_may_be_empty(kind, path):
    with KINDS[kind](b"", path) as source, tb.Reader(source) as reader:
        assert list(reader) == []
    with KINDS[kind](b"", path) as source, pytest.raises(EOFError):
        tb.load(source)


@pytest.mark.parametrize("kind", KINDS)
def test_load_takes_the_first_value(kind, path):
    with KINDS[kind](DATA, path) as source:
        assert tb.load(source) is True


def test_a_descriptor_is_read_and_stays_open(path):
    with open(written(path, DATA), "rb", buffering=0) as file:
        with tb.Reader(file.fileno()) as reader:
            assert list(reader) == VALUES
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        assert [tb.load(file.fileno()) for _ in VALUES] == VALUES


def test_numpy_arrays_are_memory():
    column = numpy.zeros((len(DATA), 3), numpy.uint8)
    column[:, 1] = numpy.frombuffer(DATA, numpy.uint8)
    assert list(tb.Reader(column[:, 1])) == VALUES
    assert tb.Decoder().decode_all(column[:, 1]) == VALUES


# -- how much is asked for, and when ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["BytesIO", "file", "raw_file", "small_buffer", "gzip", "bz2", "lzma", "spooled"])
def test_load_leaves_the_file_behind_its_value(kind, path):
    with KINDS[kind](DATA, path) as file:
        for value, end in zip(VALUES, ENDS):
            assert tb.load(file) == value
            assert file.tell() == end


def test_without_read_ahead_a_reader_takes_only_its_values(path):
    with open(written(path, DATA), "rb", buffering=0) as file:
        for reader in (tb.Reader(file, read_ahead=False), tb.Reader(file, read_ahead=False, raw=True)):
            file.seek(0)
            for end in ENDS:
                reader.read()
                assert file.tell() == end
            assert reader.detach() == b""


def test_without_read_ahead_skip_and_pairs_are_exact_too(path):
    with open(written(path, DATA), "rb", buffering=0) as file:
        reader = tb.PairReader(file, read_ahead=False)
        reader.read()
        assert file.tell() == ENDS[1]
        assert reader.skip(2) == 2
        assert file.tell() == ENDS[5]


@pytest.mark.parametrize("buffer_size", [64, 1000, 131_072])
def test_no_read_asks_for_nothing_or_for_everything(buffer_size):
    source = OnlyRead(DATA)
    assert list(tb.Reader(source, buffer_size=buffer_size)) == VALUES
    assert all(0 < nbytes <= max(buffer_size, 2 * len(PARTS[11])) for nbytes in source.asked)


@pytest.mark.parametrize("use", [tb.Reader.read, tb.Reader.skip], ids=["read", "skip"])
@pytest.mark.parametrize("raw", [False, True])
def test_without_read_ahead_a_long_value_is_not_read_byte_by_byte(raw, use):
    source = OnlyRead(tb.dumps("x" * 100_000))
    use(tb.Reader(source, read_ahead=False, raw=raw))
    assert len(source.asked) < 50


def test_a_method_that_waits_for_all_is_not_used():
    assert list(tb.Reader(Read1(DATA))) == VALUES


def test_the_end_is_asked_for_once():
    source = Script([DATA[:2], b""])
    reader = tb.Reader(source)
    assert (list(reader), list(reader), reader.read(), reader.skip()) == ([True], [], None, 0)
    assert source.ncalls == 2


@pytest.mark.parametrize("kind", ["readinto", "only_read"])
def test_a_source_may_keep_what_it_was_given(kind):
    source = ReadInto(DATA) if kind == "readinto" else OnlyRead(DATA)
    reader = tb.Reader(source, buffer_size=64)
    first = [reader.read() for _ in range(9)]
    for buffer in getattr(source, "kept", ()):
        memoryview(buffer)[:] = bytes(len(buffer))
    assert first + list(reader) == VALUES


LIVE = {
    "descriptor": lambda file: file.fileno(),
    "raw_file": lambda file: file,
    "buffered": lambda file: io.BufferedReader(file, 1 << 16),
    "socket": lambda file: file,
    "made_file": lambda file: file.makefile("rb"),
}


@contextlib.contextmanager
def live(kind):
    """Give a source that something can be sent to, and the function that sends."""
    if kind in ("socket", "made_file"):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            source = LIVE[kind](ours)
            yield source, theirs.sendall
            if source is not ours:
                source.close()
        return
    reading, writing = os.pipe()
    with open(reading, "rb", buffering=0) as file, open(writing, "wb", buffering=0) as sink:
        yield LIVE[kind](file), sink.write


@pytest.mark.parametrize("read_ahead", [True, False])
@pytest.mark.parametrize("kind", LIVE)
def test_a_value_comes_out_as_soon_as_it_is_in(kind, read_ahead):
    with live(kind) as (source, send), within(5):
        reader = tb.Reader(source, read_ahead=read_ahead)
        for value in VALUES[:11]:
            send(tb.dumps(value))
            assert reader.read() == value


@pytest.mark.parametrize("kind", LIVE)
def test_a_pair_comes_out_as_soon_as_it_is_in(kind):
    with live(kind) as (source, send), within(5):
        for reader in (tb.PairReader(source), tb.PairReader(source, raw=True)):
            for number in range(3):
                send(tb.dumps("key") + tb.dumps(number))
                key, value = reader.read()
                assert (tb.loads(key), tb.loads(value)) == ("key", number) if type(key) is bytes else (key, value)
            reader.detach()


@pytest.mark.parametrize("read_ahead", [True, False])
def test_a_group_goes_on_as_soon_as_its_pair_is_in(read_ahead):
    long, short = tb.dumps("a long key"), tb.dumps("b")
    with live("descriptor") as (source, send), within(5):
        groups = tb.PairReader(source, read_ahead=read_ahead).groups()
        send(long + tb.dumps(1))
        key, values = next(groups)
        assert (key, next(values)) == ("a long key", 1)
        send(long + tb.dumps(2))
        assert next(values) == 2
        # another key ends the group, though it is shorter and nothing follows
        send(short + tb.dumps(3))
        assert list(values) == []
        key, values = next(groups)
        assert (key, next(values)) == ("b", 3)


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
    "source, result, kind, message", WRONG, ids=[f"read_{name}" for name in WRONG_DATA] + [f"readinto_{name}" for name in WRONG_COUNTS]
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
    OSError(5, "it broke"),
    ValueError("closed"),
    MemoryError(),
    KeyboardInterrupt(),
    SystemExit(3),
    GeneratorExit(),
]
PAIR = tb.dumps("k") + tb.dumps("v")


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


@pytest.mark.parametrize("use", [tb.Reader.read, next, tb.Reader.read_all, list], ids=["read", "next", "read_all", "list"])
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


@pytest.mark.parametrize("place", [-1, "/nonexistent/x.tb", pathlib.Path("/nonexistent/x.tb"), "/", "bad\0name"])
def test_a_place_that_cannot_be_opened_raises_at_once(place):
    with pytest.raises((OSError, ValueError)):
        tb.Reader(place)


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
    [(b"\x08\x7f\xff\xff\xff", b"\1\0"), (b"\x0a\x7f\xff\xff\xff", b"\1\0"), (b"\x09", b"\2\1"), (b"\0\x7f\xff\xff\xff", b"a")],
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


@pytest.mark.parametrize("source", [lambda data: data, io.BytesIO, lambda data: OnlyRead(data, 1)], ids=["memory", "file", "bytes"])
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


# -- signals ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def alarm(seconds, handler):
    """Have a real signal delivered again and again."""
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("kind", LIVE)
def test_a_signal_does_not_disturb_a_read(kind):
    seen = []
    with live(kind) as (source, send):
        sender = threading.Timer(0.2, send, [DATA[: ENDS[9]]])
        sender.start()
        with alarm(0.02, lambda *_: seen.append(1)):
            reader = tb.Reader(source)
            assert [reader.read() for _ in range(10)] == VALUES[:10]
        sender.join()
    assert seen


@pytest.mark.parametrize("kind", LIVE)
def test_a_signal_handler_that_raises_ends_a_read_for_good(kind):
    def interrupt(*_):
        raise KeyboardInterrupt

    with live(kind) as (source, send):
        reader = tb.Reader(source)
        send(DATA[:3])
        assert reader.read() is True
        with pytest.raises(KeyboardInterrupt), alarm(0.05, interrupt):
            reader.read()
        send(DATA[3:7])
        with pytest.raises(KeyboardInterrupt):
            reader.read()


def test_a_signal_handler_may_use_another_reader():
    seen = []
    with live("raw_file") as (source, send):
        sender = threading.Timer(0.1, send, [DATA[:2]])
        sender.start()
        with alarm(0.02, lambda *_: seen.append(list(tb.Reader(io.BytesIO(DATA))) == VALUES)):
            assert tb.Reader(source).read() is True
        sender.join()
    assert seen and all(seen)


# -- large values and far offsets -------------------------------------------------------------------------

SIZES = [
    4095,
    4096,
    4097,
    65_530,
    65_531,
    65_535,
    65_536,
    65_537,
    65_538,
    131_066,
    131_067,
    131_072,
    131_073,
    1 << 20,
    (1 << 20) + 1,
    3 << 20,
]
LONG = {
    "bytes": lambda size: b"\0\1\2" * (size // 3) + bytes(size % 3),
    "str": lambda size: "a" * size,
    "wide_str": lambda size: "\u20ac" * (size // 3) + "a" * (size % 3),
    "ext": lambda size: tb.Ext(144, b"e" * size),
    "list": lambda size: [1] * (size // 5),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("form", LONG)
def test_long_values(form, size):
    values = ["before", LONG[form](size), "between", LONG[form](size), 7]
    data = b"".join(map(tb.dumps, values))
    for source, options in [
        (io.BytesIO(data), {}),
        (io.BytesIO(data), {"read_ahead": False}),
        (io.BytesIO(data), {"buffer_size": 64, "max_bytes": size + 100}),
        (OnlyRead(data, 50_001), {}),
        (ReadInto(data), {"buffer_size": 4096}),
    ]:
        reader = tb.Reader(source, **options)
        assert list(reader) == values
        assert reader.offset == len(data)


@pytest.mark.parametrize("form", LONG)
def test_the_buffer_shrinks_after_a_long_value(form):
    small = b"".join(map(tb.dumps, range(1000)))
    reader = tb.Reader(io.BytesIO(tb.dumps(LONG[form](8 << 20)) + small))
    tracemalloc.start()
    try:
        reader.read()
        reader.skip(1)
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert after < 1 << 20
    assert list(reader) == list(range(1, 1000))


@pytest.mark.parametrize("form", ["values", "raw", "pairs", "skip", "fed"])
def test_a_long_stream_costs_no_memory(form):
    part = tb.dumps(["a", 1, {"k": (b"x" * 50, 2.5)}] * 4)
    data = part * 4000
    decoder = tb.Decoder()

    def work():
        if form == "skip":
            assert tb.Reader(io.BytesIO(data)).skip(5000) == 4000
        elif form == "fed":
            for offset in range(0, len(data), 5000):
                decoder.feed(data[offset : offset + 5000])
                for _ in decoder:
                    pass
        else:
            reader = tb.PairReader if form == "pairs" else tb.Reader
            for _ in reader(io.BytesIO(data), raw=form == "raw"):
                pass

    tracemalloc.start()
    try:
        work()
        assert tracemalloc.get_traced_memory()[1] < len(data) + (1 << 19)
    finally:
        tracemalloc.stop()


FAR = [5 + 2**31 - 1, 2 * (5 + 2**31 - 1) + 5]


class Zeros:
    """Read two BYTES of 2**31 - 1 zeros, a 7 after each, and a LIST whose second item is bad."""

    def __init__(self):
        head = b"\0\x7f\xff\xff\xff"
        self.parts = [head, 2**31 - 1, tb.dumps(7), head, 2**31 - 1, tb.dumps(7), b"\x09\x02\x01\x0b"]
        self.zeros = bytes(131_072)

    def read(self, nbytes):
        """Return what comes next, of one part."""
        part = self.parts.pop(0) if self.parts else b""
        if type(part) is bytes:
            assert len(part) <= nbytes
            return part
        if part > nbytes:
            self.parts.insert(0, part - nbytes)
        return self.zeros[: min(part, nbytes)]


def test_offsets_beyond_32_bits_are_exact():
    reader = tb.Reader(Zeros())
    for far in FAR:
        assert (reader.skip(), reader.offset) == (1, far)
        assert (reader.read(), reader.offset) == (7, far + 5)
    with pytest.raises(tb.FormatError) as caught:
        reader.read()
    assert (caught.value.offset, caught.value.record, caught.value.path) == (FAR[1] + 5 + 3, 4, "[1]")


def sparse_file(path):
    """Write a file of the same values; its zeros are holes."""
    with path.open("wb") as file:
        for _ in FAR:
            file.write(b"\0\x7f\xff\xff\xff")
            file.seek(2**31 - 1, os.SEEK_CUR)
            file.write(tb.dumps(7))
    return path


def test_offsets_of_a_scan_beyond_32_bits_are_exact(path):
    with sparse_file(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as pages:
        assert list(tb.index(pages)) == [0, FAR[0], FAR[0] + 5, FAR[1]]
        assert tb.Reader(pages).skip(9) == 4
        assert tb.skip(pages, FAR[0] + 5) == FAR[1]
        assert tb.Decoder().decode_from(pages, FAR[1]) == (7, FAR[1] + 5)


# -- detach, skip, raw, close -----------------------------------------------------------------------------


@pytest.mark.parametrize("nread", range(0, len(VALUES) + 1, 3))
@pytest.mark.parametrize("kind", ["bytes", "BytesIO", "file", "raw_file", "only_read", "one_byte", "pipe", "socket"])
def test_what_was_consumed_and_what_detach_gives_and_what_is_left_are_all(kind, nread, path):
    with KINDS[kind](DATA, path) as source:
        reader = tb.Reader(source, buffer_size=128)
        for _ in range(nread):
            reader.read()
        offset, rest = reader.offset, reader.detach()
        assert offset == (ENDS[nread - 1] if nread else 0)
        if kind in ("pipe", "socket"):
            left = b"".join(iter(lambda: os.read(source.fileno(), 1000), b""))
        else:
            left = b"" if kind == "bytes" else b"".join(iter(lambda: source.read(1000), b""))
        assert DATA[:offset] + rest + left == DATA
        assert reader.offset == offset
        with pytest.raises(ValueError, match="closed"):
            reader.read()
        assert reader.detach() == b""


def test_detach_after_a_limit_gives_what_is_held():
    reader = tb.Reader(io.BytesIO(DATA[:2] + tb.dumps("x" * 20) + b"\2\1"), max_bytes=8)
    assert reader.read() is True
    with pytest.raises(tb.LimitError):
        reader.read()
    assert (reader.offset, reader.detach()) == (2, tb.dumps("x" * 20) + b"\2\1")


@pytest.mark.parametrize("kind", ["bytes", "BytesIO", "one_byte", "pipe"])
def test_skip_counts_what_there_was(kind, path):
    with KINDS[kind](DATA, path) as source:
        reader = tb.Reader(source)
        assert [reader.skip(0), reader.skip(-1), reader.record] == [0, 0, 0]
        assert reader.skip(3) == 3
        assert (reader.read(), reader.record, reader.offset) == (1.5, 4, ENDS[3])
        assert reader.skip(100) == len(VALUES) - 4
        assert (reader.skip(), reader.read(), reader.record, reader.offset) == (0, None, len(VALUES), len(DATA))


@pytest.mark.parametrize("kind, nparts", [(tb.Reader, 1), (tb.PairReader, 2)])
@pytest.mark.parametrize("buffer_size", [64, 100, 4096, None])
def test_skip_stops_between_records(kind, nparts, buffer_size):
    chance = random.Random(buffer_size)
    parts = [tb.dumps(each) for each in chance.choices([1, "word", b"", 2.5, True, 1 << 40, [1, "x"], {"a": (1, 2)}, "long" * 30], k=3000)]
    starts = [0, *itertools.accumulate(map(len, parts))][::nparts]
    nrecords, bad = len(starts) - 1, len(b"".join(parts)) + 5 * (nparts - 1)
    data = b"".join(parts) + tb.dumps(7) * (nparts - 1) + b"\x0b"
    reader = kind(data) if buffer_size is None else kind(io.BytesIO(data), buffer_size=buffer_size)
    while reader.record < nrecords:
        before, wanted = reader.record, chance.choice([1, 2, 3, 50])
        wanted = min(wanted, nrecords - before)
        assert reader.skip(wanted) == wanted
        assert (reader.record, reader.offset) == (before + wanted, starts[before + wanted])
    with pytest.raises(tb.FormatError) as caught:
        reader.skip(10)
    assert (caught.value.record, caught.value.offset) == (nrecords, bad)


@pytest.mark.parametrize("form", ["skip", "raw"])
@pytest.mark.parametrize("bad", [b"\xff", b"\x0b", b"\x09\x08\xff\xff\xff\xff", b"\x09\x0c", b"\x09" * 300, b"\x09\x03\0", b"\0\0\0\0\5ab"])
def test_skip_and_raw_find_what_decoding_finds(form, bad):
    def fault(reader, use):
        use(reader)
        with pytest.raises(tb.DecodeError) as caught:
            use(reader)
        return type(caught.value), caught.value.offset, caught.value.code, caught.value.record

    use = tb.Reader.skip if form == "skip" else tb.Reader.read
    for source in (lambda data: data, io.BytesIO, lambda data: OnlyRead(data, 1)):
        expected = fault(tb.Reader(source(DATA[:2] + bad)), tb.Reader.read)
        assert fault(tb.Reader(source(DATA[:2] + bad), raw=form == "raw"), use) == expected


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("size", [2, 3, 9, 10, 11, 12, 100])
def test_max_bytes_counts_a_whole_record(raw, size):
    encoded = tb.dumps("x" * 4) + tb.dumps("")  # 9 and 5 bytes
    for source in (encoded, io.BytesIO(encoded), OnlyRead(encoded, 1)):
        reader = tb.Reader(source, raw=raw, max_bytes=size)
        if size >= 9:
            assert len(reader.read_all()) == 2
        else:
            with pytest.raises(tb.LimitError) as caught:
                reader.read()
            assert (caught.value.offset, caught.value.record) == (0, 0)


@pytest.mark.parametrize("form", ["pairs", "raw", "groups"])
@pytest.mark.parametrize("size", [8, 9, 13, 14])
def test_max_bytes_counts_a_whole_pair(form, size):
    encoded = tb.dumps("x" * 4) + tb.dumps("")  # 9 and 5 bytes
    reader = tb.PairReader(io.BytesIO(encoded * 2), raw=form == "raw", max_bytes=size)

    def use():
        if form == "groups":
            return [len(list(values)) for _, values in reader.groups()]
        return len(reader.read_all())

    if size >= 14:
        assert use() in (2, [2])
    else:
        with pytest.raises(tb.LimitError) as caught:
            use()
        assert (caught.value.offset, caught.value.record) == (0, 0)


def test_max_bytes_may_be_more_than_there_is_memory():
    assert tb.Reader(io.BytesIO(DATA), max_bytes=2**100).read_all() == VALUES


@pytest.mark.parametrize("raw", [False, True])
def test_a_promise_beyond_max_bytes_is_a_limit_wherever_input_ends(raw):
    for declared in (b"\0\0\0\1\0abc", b"\x09\x07\0\0\1\0abc"):
        with pytest.raises(tb.LimitError):
            tb.Reader(io.BytesIO(declared), max_bytes=20, raw=raw).read()


def test_a_closed_reader_says_so():
    reader = tb.Reader(io.BytesIO(DATA))
    reader.close()
    reader.close()
    for use in (reader.read, reader.skip, reader.read_all, lambda: next(reader), lambda: list(reader)):
        with pytest.raises(ValueError, match="closed"):
            use()
    with pytest.raises(ValueError, match="closed"), reader:
        reader.read()


def test_close_forgets_a_failure():
    reader = tb.Reader(b"\xff")
    with pytest.raises(tb.FormatError):
        reader.read()
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        reader.read()


def test_paths_are_closed_and_files_are_not(path):
    free = lowest_free_descriptor()
    written(path, DATA + b"\xff")
    for place in (str(path), path):
        reader = tb.Reader(place)
        with reader, pytest.raises(tb.FormatError):
            list(reader)
        with tb.Reader(place) as reader:
            reader.detach()
    with path.open("rb") as file, tb.Reader(file) as reader:
        reader.read()
        reader.close()
        assert not file.closed
    with pytest.raises(TypeError):
        tb.Reader(path, no_such_option=1)
    assert lowest_free_descriptor() == free


def test_close_from_a_hook_is_refused_and_changes_nothing(path):
    refused = []

    def hook(code, data):
        for use in (reader.close, reader.detach):
            with pytest.raises(RuntimeError, match="in use") as caught:
                use()
            refused.append(caught.value)
        return len(data)

    written(path, b"\x90\0\0\0\2ab" * 30)
    with tb.Reader(path, ext_hook=hook, buffer_size=64) as reader:
        assert list(reader) == [2] * 30
    assert len(refused) == 60


def test_a_second_init_is_refused_and_changes_nothing(path):
    file = io.BytesIO(DATA)
    reader = tb.Reader(file)
    with pytest.raises(RuntimeError, match="again"):
        reader.__init__(written(path, DATA))
    assert list(reader) == VALUES
    reader.close()
    assert not file.closed


@pytest.mark.parametrize("kind", [tb.Reader, tb.PairReader])
def test_a_reader_without_init_is_closed(kind):
    reader = kind.__new__(kind)
    with pytest.raises(ValueError, match="closed"):
        reader.read()
    assert (reader.offset, reader.record, reader.detach()) == (0, 0, b"")
    reader.close()


def test_an_init_that_failed_can_be_repeated():
    reader = tb.Reader.__new__(tb.Reader)
    for wrong in [(None,), (io.StringIO(),), ("/nonexistent/x",)]:
        with pytest.raises((TypeError, OSError)):
            reader.__init__(*wrong)
    with pytest.raises(ValueError):
        reader.__init__(DATA, max_depth=-1)
    reader.__init__(DATA)
    assert list(reader) == VALUES


@pytest.mark.parametrize(
    "options",
    [{"buffer_size": 0}, {"buffer_size": -1}, {"max_bytes": 0}, {"max_depth": -1}, {"pickle": 1}, {"dialect": "x"}],
)
def test_wrong_options_are_refused(options):
    with pytest.raises(ValueError):
        tb.Reader(DATA, **options)


def test_a_bytearray_is_free_again_after_close():
    data = bytearray(DATA)
    reader = tb.Reader(data)
    reader.read()
    with pytest.raises(BufferError):
        data.append(0)
    reader.close()
    data.append(0)


def test_the_reader_keeps_its_source_alive(path):
    written(path, DATA)
    with contextlib.ExitStack() as stack:
        reader = tb.Reader(stack.enter_context(path.open("rb")), buffer_size=64)
        gc.collect()
        assert list(reader) == VALUES
    reader = tb.Reader(bytearray(DATA))
    gc.collect()
    assert list(reader) == VALUES


def test_a_raw_file_with_read_alone():
    class Raw(io.RawIOBase):
        parts = [b"\x02", b"\x01\x02\x00", b""]

        def read(self, nbytes=-1):
            return self.parts.pop(0)

    assert tb.Reader(Raw()).read_all() == [True, False]


@pytest.mark.parametrize("bad", ["format", "source"])
def test_a_failed_reader_in_a_with_block_leaves_nothing_to_collect(bad):
    class Broken:
        def read(self, nbytes):
            raise OSError("broken")

    def work():
        with tb.Reader(io.BytesIO(b"\xff") if bad == "format" else Broken()) as reader:
            try:
                reader.read()
            except (tb.FormatError, OSError):
                pass

    work()
    gc.collect()
    gc.disable()
    try:
        work()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_failure_raised_again_does_not_grow():
    reader = tb.Reader(b"\xff")
    depths = []
    for _ in range(4):
        with pytest.raises(tb.FormatError) as caught:
            reader.read()
        depths.append(len(caught.traceback))
    assert depths[3] == depths[1]


@pytest.mark.parametrize("raw", [False, True])
def test_pairs_given_stay_as_they_were_given(raw):
    numbers = list(range(100))
    data = b"".join(map(tb.dumps, numbers))
    pairs = list(tb.PairReader(data, raw=raw))
    expected = list(zip(numbers[::2], numbers[1::2]))
    assert [tuple(map(tb.loads, pair)) for pair in pairs] == expected if raw else pairs == expected
    kept, last = [], None
    for pair in tb.PairReader(data, raw=raw):
        kept += [last] if last is not None else []
        last = pair
    assert [*kept, last] == pairs


def test_two_threads_on_one_reader_are_told_apart():
    with live("raw_file") as (source, send):
        reader = tb.Reader(source)
        found = []
        thread = threading.Thread(target=lambda: found.append(reader.read()))
        thread.start()
        refused = 0
        while thread.is_alive() and refused < 100:
            try:
                reader.skip(0)
            except RuntimeError:
                refused += 1
        for use in (reader.read, reader.close, reader.detach):
            with pytest.raises(RuntimeError, match="in use"):
                use()
        send(DATA[:2])
        thread.join()
        assert found == [True]


def test_threads_with_readers_of_their_own_do_not_meet(path):
    written(path, DATA * 3)
    found = []

    def work():
        with tb.Reader(path) as reader:
            found.append(list(reader) == VALUES * 3)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8


# -- groups -----------------------------------------------------------------------------------------------

NAN = float("nan")
GROUPED = {
    "none": [],
    "one": [("a", [1])],
    "adjacent_only": [("a", [1, 2]), ("b", [3]), ("a", [4])],
    "equal_in_python": [(True, [1]), (1, [2]), (1.0, [3]), (tb.Byte(1), [4]), (tb.Long(1), [5]), (tb.Float(1), [6]), ("1", [7]), (b"1", [8])],
    "nan": [(NAN, [1, 2, 3]), (1.5, [4])],
    "zeros": [(0.0, [1]), (-0.0, [2])],
    "containers": [((1,), [1]), ((1, 2), [2, 3]), ([1], [4]), ([1, 2], [5]), ({1: 2}, [6]), ((), [7]), ([], [8])],
    "prefixes": [("", [1]), ("a", [2]), ("ab", [3, 4]), ("abc", [5])],
    "long_keys": [("k" * 5000, [1, 2]), ("k" * 4999 + "l", [3]), ("k" * 5001, [4]), ("k", [5])],
    "long_values": [("a", ["x" * 5000, "y" * 9000]), ("b", ["z" * 7000])],
    "none_as_key": [(None, [None, None]), (False, [None])],
}  # fmt: skip
GROUP_SOURCES = {
    "bytes": lambda data: data,
    "BytesIO": io.BytesIO,
    "one_byte": lambda data: OnlyRead(data, 1),
    "seven_bytes": lambda data: OnlyRead(data, 7),
}


def flat(grouped):
    """Return the pairs of groups, encoded."""
    return tb.Encoder().encode_pairs((key, value) for key, values in grouped for value in values)


def rewritten(key):
    """Return what a key is encoded as after decoding, which loses widths."""
    return tb.dumps(tb.loads(tb.dumps(key)))


@pytest.mark.parametrize("read_ahead", [True, False])
@pytest.mark.parametrize("source", GROUP_SOURCES)
@pytest.mark.parametrize("name", GROUPED)
def test_groups_are_runs_of_equal_encoded_keys(name, source, read_ahead):
    grouped, data = GROUPED[name], flat(GROUPED[name])
    reader = tb.PairReader(GROUP_SOURCES[source](data), buffer_size=64, read_ahead=read_ahead)
    found = [(key, list(values)) for key, values in reader.groups()]
    assert [(tb.dumps(key), values) for key, values in found] == [(rewritten(key), values) for key, values in grouped]
    assert (reader.record, reader.offset) == (sum(len(values) for _, values in grouped), len(data))


@pytest.mark.parametrize("source", GROUP_SOURCES)
@pytest.mark.parametrize("name", GROUPED)
def test_raw_groups_give_encoded_bytes(name, source):
    reader = tb.PairReader(GROUP_SOURCES[source](flat(GROUPED[name])), buffer_size=64, raw=True)
    found = [(key, list(values)) for key, values in reader.groups()]
    assert found == [(tb.dumps(key), list(map(tb.dumps, values))) for key, values in GROUPED[name]]


@pytest.mark.parametrize("nread", [0, 1, 2])
@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("name", GROUPED)
def test_values_not_read_are_skipped(name, raw, nread):
    reader = tb.PairReader(io.BytesIO(flat(GROUPED[name])), buffer_size=64, raw=raw)
    found = [list(itertools.islice(values, nread)) for _, values in reader.groups()]
    expected = [values[:nread] for _, values in GROUPED[name]]
    assert found == ([list(map(tb.dumps, values)) for values in expected] if raw else expected)
    assert reader.record == sum(len(values) for _, values in GROUPED[name])


def test_values_used_late_raise():
    groups = tb.PairReader(flat(GROUPED["adjacent_only"])).groups()
    kept = list(groups)
    for _, values in kept:
        for _ in range(2):
            with pytest.raises(RuntimeError, match="moved on"):
                next(values)
    assert [key for key, _ in kept] == ["a", "b", "a"]


def test_values_read_to_their_end_stay_at_it():
    groups = tb.PairReader(flat(GROUPED["adjacent_only"])).groups()
    _, values = next(groups)
    assert iter(values) is values
    assert (list(values), list(values), next(values, "over")) == ([1, 2], [], "over")


def test_groups_at_their_end_stay_at_it():
    reader = tb.PairReader(flat(GROUPED["one"]))
    groups = reader.groups()
    assert iter(groups) is groups
    assert (len(list(groups)), list(groups), list(reader.groups()), reader.read()) == (1, [], [], None)


def test_groups_may_begin_after_pairs():
    reader = tb.PairReader(flat(GROUPED["adjacent_only"]))
    assert reader.read() == ("a", 1)
    assert [(key, list(values)) for key, values in reader.groups()] == [("a", [2]), ("b", [3]), ("a", [4])]


@pytest.mark.parametrize("use", [next, tb.PairReader.read, tb.PairReader.skip], ids=["next", "read", "skip"])
def test_a_pair_is_not_made_of_a_value_and_the_next_key(use):
    reader = tb.PairReader(flat(GROUPED["adjacent_only"]))
    next(reader.groups())
    with pytest.raises(RuntimeError):
        use(reader)


@pytest.mark.parametrize("source", [bytes, io.BytesIO, lambda data: OnlyRead(data, 1)])
@pytest.mark.parametrize("read_values", [False, True])
@pytest.mark.parametrize("cut", [1, 4, 5, 6, 7, 10])
def test_a_group_cut_short_is_truncated(cut, read_values, source):
    data = (tb.dumps("a") + tb.dumps(1)) * 3
    reader = tb.PairReader(source(data[:-cut]))
    groups = reader.groups()
    _, values = next(groups)
    assert [next(values), next(values)] == [1, 1]
    with pytest.raises(tb.TruncatedError) as caught:
        # a key that is cut short ends the group, and is missed when the next is asked for
        list(values if read_values else ())
        next(groups)
    assert (caught.value.offset, caught.value.record) == (len(data) - cut, 2)
    with pytest.raises(tb.TruncatedError) as again:
        next(groups)
    assert again.value is caught.value


def test_groups_of_a_bad_value_fail_for_good():
    reader = tb.PairReader(tb.dumps("a") + tb.dumps(1) + tb.dumps("a") + b"\xff")
    groups = reader.groups()
    _, values = next(groups)
    assert next(values) == 1
    for use in (values.__next__, groups.__next__, reader.read):
        with pytest.raises(tb.FormatError) as caught:
            use()
        assert (caught.value.offset, caught.value.record) == (17, 1)


@pytest.mark.parametrize(
    "bad",
    [
        b"\xff",
        b"\x09\x0c",
        b"\x03\0",
        b"\7\0\0\0\1\xff",
        b"\x09\7\0\0\0\1\xff\x0c",
        b"\x0a\0\0\0\1\x09\x0c",
        b"\x09" * 300,
    ],
)
def test_a_bad_key_of_a_group_is_told_as_that_of_a_pair(bad):
    def told(use):
        with pytest.raises(tb.DecodeError) as caught:
            use()
        return type(caught.value), caught.value.offset, caught.value.code, caught.value.path, caught.value.record

    data = PAIR + bad
    for source in (bytes, io.BytesIO, lambda data: OnlyRead(data, 1)):
        expected = told(tb.PairReader(source(data)).read_all)
        assert told(lambda: [list(values) for _, values in tb.PairReader(source(data)).groups()]) == expected
        assert told(lambda: [key for key, _ in tb.PairReader(source(data)).groups()]) == expected


def test_a_bad_key_of_a_raw_group_is_told_as_that_of_a_raw_pair():
    for bad in (b"\xff", b"\x09\x0c", b"\x03\0"):
        told = []
        for use in (tb.PairReader.read_all, lambda reader: [list(values) for _, values in reader.groups()]):
            with pytest.raises(tb.DecodeError) as caught:
                use(tb.PairReader(io.BytesIO(PAIR + bad), raw=True))
            told.append((type(caught.value), caught.value.offset, caught.value.code, caught.value.record))
        assert told[0] == told[1]


def test_groups_belong_to_a_reader():
    groups = tb.PairReader(PAIR).groups()
    _, values = next(groups)
    for make in (type(groups), type(groups).__new__):
        for arguments in ([], [None], [tb.Reader(PAIR)]):
            with pytest.raises(TypeError):
                make(*[type(groups)][: make is not type(groups)], *arguments)
    with pytest.raises(RuntimeError):
        next(type(values).__new__(type(values)))


def test_groups_of_a_closed_reader_are_closed():
    reader = tb.PairReader(flat(GROUPED["adjacent_only"]))
    groups = reader.groups()
    _, values = next(groups)
    reader.close()
    for use in (values.__next__, groups.__next__):
        with pytest.raises(ValueError, match="closed"):
            use()


def test_skipping_long_values_of_a_group_costs_no_memory(path):
    with path.open("wb") as file:
        for _ in range(3):
            file.write(tb.dumps("k") + b"\0" + (20 << 20).to_bytes(4, "big"))
            file.seek(20 << 20, os.SEEK_CUR)
        file.write(tb.dumps("l") + tb.dumps(1))
    tracemalloc.start()
    try:
        with tb.PairReader(path) as reader:
            assert [key for key, _ in reader.groups()] == ["k", "l"]
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


# -- pairs that are filled again -----------------------------------------------------------------------------


def stream_of(pairs):
    return tb.PairReader(tb.Encoder().encode_pairs(pairs))


def file_of(pairs):
    sink = io.BytesIO()
    with sequencefile.Writer(sink) as writer:
        writer.writes(pairs)
    return sequencefile.Reader(sink.getvalue())


@pytest.mark.parametrize("reader_of", [stream_of, file_of])
def test_a_pair_that_nobody_holds_is_filled_again(reader_of):
    pairs = [("one", 1), ("two", 2), ("three", [3]), ("four", 4)]
    places = list(map(id, reader_of(pairs)))
    assert len(set(places)) == 1
    assert list(map(hash, reader_of(pairs[:2]))) == [hash(pair) for pair in pairs[:2]]
    reader = reader_of(pairs)
    held = [next(reader), next(reader)]
    assert held == pairs[:2] and next(reader) == pairs[2]
    # One that held atoms alone is no longer looked at by the collector; with a list in it, it must be.
    reader = reader_of(pairs)
    place, was_tracked = id(next(reader)), gc.is_tracked(next(reader))
    pair = next(reader)
    assert (id(pair), pair) == (place, pairs[2]) and gc.is_tracked(pair) and not was_tracked
