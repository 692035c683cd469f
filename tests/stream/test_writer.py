"""Writing: every kind of sink gets the same bytes, whole records only; unwritable objects, close, forks, threads."""

import array
import bz2
import contextlib
import ctypes
import gzip
import io
import itertools
import lzma
import mmap
import os
import pathlib
import socket
import sys
import tempfile
import textwrap
import tracemalloc

import pytest

import typedbytes as tb
from support.subprocess_runs import in_threads, lowest_free_descriptor, run_fresh
from support.writer_sinks import DATA, ENDS, PAIRS, PARTS, VALUES, Sink, collected

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded, pytest.mark.newest_python]

# -- sinks ------------------------------------------------------------------------------------------------


class ShortSink(Sink):
    """Take between one and `most` bytes at a time."""

    def __init__(self, most):
        super().__init__()
        self.sizes = itertools.cycle(range(1, most + 1))

    def write(self, data):
        """Take some."""
        return Sink.write(self, data[: next(self.sizes)])


class Uncounted(Sink):
    """Say nothing about what was taken, as many wrappers do: all was."""

    def write(self, data):
        """Take all."""
        Sink.write(self, data)


class Sendall(Sink):
    """Be like a socket in having sendall."""

    def sendall(self, data):
        """Take all."""
        Sink.write(self, data)

    write = None


@contextlib.contextmanager
def into(sink):
    """Yield a sink in memory and the function that shows its content."""
    yield sink, sink.getvalue


@contextlib.contextmanager
def into_file(path, **options):
    """Yield a file open for writing."""
    with open(path, "wb", **options) as file:
        yield file, lambda: (file.flush(), path.read_bytes())[1]


@contextlib.contextmanager
def into_pipe(wrap):
    """Yield the writing end of a pipe."""
    reading, writing = os.pipe()
    with collected(reading) as result, open(writing, "wb", buffering=0) as file:
        yield wrap(file), lambda: (file.close(), result())[1]


@contextlib.contextmanager
def into_socket(wrap):
    """Yield one end of a pair of sockets."""
    ours, theirs = socket.socketpair()
    with collected(theirs.detach()) as result, ours:
        sink = wrap(ours)
        yield sink, lambda: (sink.close(), ours.close(), result())[2]


@contextlib.contextmanager
def packed(module, path):
    """Yield a compressed file."""
    with module.open(path, "wb") as file:
        yield file, lambda: (file.close(), module.open(path).read())[1]


@contextlib.contextmanager
def spooled():
    """Yield a temporary file that begins in memory."""
    with tempfile.SpooledTemporaryFile(max_size=1000) as file:
        yield file, lambda: (file.seek(0), file.read())[1]


@contextlib.contextmanager
def named(path, kind):
    """Yield a path."""
    yield kind(path), path.read_bytes


@contextlib.contextmanager
def mapped(path):
    """Yield a file as memory, which has write."""
    path.write_bytes(bytes(len(DATA)))
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as pages:
        yield pages, lambda: pages[:]


KINDS = {
    "BytesIO": lambda path: into(io.BytesIO()),
    "only_write": lambda path: into(Sink()),
    "short": lambda path: into(ShortSink(3000)),
    "one_byte": lambda path: into(ShortSink(1)),
    "uncounted": lambda path: into(Uncounted()),
    "sendall": lambda path: into(Sendall()),
    "file": lambda path: into_file(path),
    "raw_file": lambda path: into_file(path, buffering=0),
    "small_buffer": lambda path: into_file(path, buffering=16),
    "pipe": lambda path: into_pipe(lambda file: file),
    "pipe_descriptor": lambda path: into_pipe(lambda file: file.fileno()),
    "buffered_pipe": lambda path: into_pipe(lambda file: open(os.dup(file.fileno()), "wb")),
    "socket": lambda path: into_socket(lambda ours: ours),
    "made_file": lambda path: into_socket(lambda ours: ours.makefile("wb")),
    "made_raw_file": lambda path: into_socket(lambda ours: ours.makefile("wb", 0)),
    "gzip": lambda path: packed(gzip, path),
    "bz2": lambda path: packed(bz2, path),
    "lzma": lambda path: packed(lzma, path),
    "spooled": lambda path: spooled(),
    "str": lambda path: named(path, str),
    "PathLike": lambda path: named(path, pathlib.Path),
    "mmap": lambda path: mapped(path),
}


@pytest.fixture
def path(tmp_path):
    """Return the path of a file to write."""
    return tmp_path / "output.tb"


@pytest.mark.parametrize("buffer_size", [1, 1000, 65_536])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gets_all_values(kind, buffer_size, path):
    with KINDS[kind](path) as (sink, content):
        with tb.Writer(sink, buffer_size=buffer_size) as writer:
            for value, end in zip(VALUES, ENDS[1:]):
                writer.write(value)
                assert writer.offset == end
            assert writer.record == len(VALUES)
        assert (writer.offset, writer.record) == (len(DATA), len(VALUES))
        if kind == "buffered_pipe":
            sink.close()
        assert content() == DATA


FORMS = {
    "write": lambda sink: [tb.Writer.write(sink, value) for value in VALUES],
    "writes": lambda sink: sink.writes(iter(VALUES)),
    "write_raw": lambda sink: [sink.write_raw(part) for part in PARTS],
    "mixed": lambda sink: (sink.writes(VALUES[:5]), sink.write_raw(PARTS[5]), sink.writes(VALUES[6:])),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_writes_the_same(form):
    sink = io.BytesIO()
    with tb.Writer(sink) as writer:
        FORMS[form](writer)
        assert (writer.record, writer.offset) == (len(VALUES), len(DATA))
    assert sink.getvalue() == DATA


PAIR_FORMS = {
    "write": lambda sink: [sink.write(key, value) for key, value in PAIRS],
    "writes": lambda sink: sink.writes(iter(PAIRS)),
    "writes_lists": lambda sink: sink.writes(map(list, PAIRS)),
    "writes_items": lambda sink: sink.writes(dict(enumerate(PAIRS)).values()),
    "write_raw": lambda sink: [sink.write_raw(key, value) for key, value in zip(PARTS[::2], PARTS[1::2])],
}


@pytest.mark.parametrize("form", PAIR_FORMS)
def test_every_form_writes_the_same_pairs(form):
    sink = io.BytesIO()
    with tb.PairWriter(sink) as writer:
        PAIR_FORMS[form](writer)
        assert (writer.record, writer.offset) == (len(PAIRS), len(DATA))
    assert sink.getvalue() == DATA


def test_dump_and_dump_all(path):
    for target in (str(path), path):
        tb.dump(VALUES, target)
        assert path.read_bytes() == tb.dumps(VALUES)
        assert tb.dump_all(iter(VALUES), target) == len(VALUES)
        assert path.read_bytes() == DATA
    sink = io.BytesIO()
    tb.dump("a", sink)
    tb.dump("b", sink, int_width=64)
    assert tb.dump_all([], sink) == 0
    assert sink.getvalue() == tb.dumps("a") + tb.dumps("b")


def test_writes_counts_what_this_call_wrote():
    with tb.Writer(io.BytesIO()) as writer:
        writer.write(1)
        assert [writer.writes([]), writer.writes([1, 2]), writer.writes(iter("abc"))] == [0, 2, 3]


@pytest.mark.parametrize(
    "kind", [bytearray, memoryview, lambda data: array.array("B", data), lambda data: memoryview(data[::-1])[::-1]]
)
def test_write_raw_takes_any_bytes(kind):
    sink = io.BytesIO()
    with tb.Writer(sink) as writer, tb.PairWriter(sink) as pairs:
        writer.write_raw(kind(PARTS[4]))
        writer.flush()
        pairs.write_raw(kind(PARTS[0]), kind(PARTS[1]))
    assert sink.getvalue() == PARTS[4] + PARTS[0] + PARTS[1]


@pytest.mark.parametrize("wrong", ["text", None, 5, [b"\2\1"]])
def test_write_raw_of_what_is_not_bytes_leaves_nothing(wrong):
    sink = io.BytesIO()
    with tb.Writer(sink) as writer, tb.PairWriter(sink) as pairs:
        pairs.write_raw(PARTS[0], PARTS[1])
        for use in (
            lambda: writer.write_raw(wrong),
            lambda: pairs.write_raw(wrong, b"\2\1"),
            lambda: pairs.write_raw(b"\2\1", wrong),
        ):
            with pytest.raises(TypeError):
                use()
        assert (writer.record, writer.offset, pairs.record, pairs.offset) == (0, 0, 1, ENDS[2])
    assert sink.getvalue() == PARTS[0] + PARTS[1]


def test_write_raw_of_a_released_view_leaves_no_key():
    sink, gone = io.BytesIO(), memoryview(b"\2\1")
    gone.release()
    with tb.PairWriter(sink) as writer:
        for use in (lambda: writer.write_raw(b"\2\1", gone), lambda: writer.write_raw(gone, b"\2\1")):
            with pytest.raises(ValueError, match="released"):
                use()
        assert (writer.offset, writer.record) == (0, 0)
    assert sink.getvalue() == b""


# -- what a sink sees -------------------------------------------------------------------------------------


@pytest.mark.parametrize("buffer_size", [1, 50, 1000])
def test_only_whole_records_are_handed_over(buffer_size):
    sink = Sink()
    with tb.Writer(sink, buffer_size=buffer_size) as writer:
        for value in VALUES:
            writer.write(value)
            assert len(sink.getvalue()) in ENDS
            assert writer.offset - len(sink.getvalue()) < buffer_size
    assert [bytes(data) for data in sink.kept] == sink.copies


def test_a_record_goes_out_in_one_write():
    sink = Sink()
    with tb.Writer(sink, buffer_size=1) as writer:
        writer.writes(VALUES)
    assert sink.copies == PARTS


def test_what_a_sink_is_given_cannot_be_changed():
    sink = Sink()
    with tb.Writer(sink) as writer:
        writer.writes(VALUES)
    for data in sink.kept:
        with pytest.raises(TypeError):
            data[0] = 1


def test_nothing_is_handed_over_when_there_is_nothing():
    sink = Sink()
    with tb.Writer(sink) as writer:
        writer.flush()
        writer.writes([])
    assert sink.copies == []


@pytest.mark.parametrize("use", [tb.Writer.flush, tb.Writer.close], ids=["flush", "close"])
def test_flush_reaches_the_file(use, path):
    with path.open("wb") as file:
        writer = tb.Writer(file)
        writer.write(5)
        use(writer)
        assert path.read_bytes() == tb.dumps(5)
        writer.close()
        assert not file.closed


def test_a_descriptor_stays_open():
    reading, writing = os.pipe()
    with tb.Writer(writing) as writer:
        writer.write(5)
    os.close(writing)
    with open(reading, "rb") as file:
        assert file.read() == tb.dumps(5)


def test_huge_records_cost_no_memory_afterwards():
    with open(os.devnull, "wb", buffering=0) as sink, tb.Writer(sink) as writer:
        writer.write(1)
        tracemalloc.start()
        try:
            for _ in range(2):
                writer.write("x" * (8 << 20))
            after = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        assert after < 1 << 20


def test_a_long_stream_costs_no_memory():
    with open(os.devnull, "wb", buffering=0) as sink, tb.Writer(sink) as writer:
        writer.write("warm")
        tracemalloc.start()
        try:
            writer.writes(("a", number) for number in range(200_000))
            assert tracemalloc.get_traced_memory()[1] < 1 << 19
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("size", [511, 512, 513, 65_530, 65_531, 65_536, 66_048, 66_049, 1 << 20])
@pytest.mark.parametrize("buffer_size", [1, 512, 65_536])
def test_records_at_the_seams_of_the_buffer(size, buffer_size):
    values = ["a" * (size - 5), b"b" * (size - 6), 1, "\u00e9" * (size // 2), "\u20ac" * (size // 3)]
    sink = io.BytesIO()
    with tb.Writer(sink, buffer_size=buffer_size) as writer:
        writer.writes(values * 2)
    assert tb.Decoder().decode_all(sink.getvalue()) == values * 2


# -- failing to encode ------------------------------------------------------------------------------------

UNWRITABLE = {
    "type": (object(), tb.EncodeTypeError),
    "late": ([1, {"k": ("x" * 100_000, object())}], tb.EncodeTypeError),
    "surrogate": ("a" * 1000 + "\udc80", tb.EncodeValueError),
    "depth": ([], tb.EncodeValueError),
    "float": (tb.Float(1e300), tb.EncodeValueError),
}

for _ in range(300):
    UNWRITABLE["depth"] = ([UNWRITABLE["depth"][0]], tb.EncodeValueError)


@pytest.mark.parametrize("name", UNWRITABLE)
def test_an_object_that_cannot_be_written_leaves_nothing(name):
    wrong, error = UNWRITABLE[name]
    sink, pairs_sink = io.BytesIO(), io.BytesIO()
    with tb.Writer(sink) as writer, tb.PairWriter(pairs_sink) as pairs:
        for number in range(3):
            writer.write(number)
            pairs.write(number, number)
            before = (writer.offset, writer.record, pairs.offset, pairs.record)
            for use in (
                lambda: writer.write(wrong),
                lambda: pairs.write(wrong, 1),
                lambda: pairs.write(1, wrong),
                lambda: writer.writes([wrong]),
            ):
                with pytest.raises(error):
                    use()
            assert (writer.offset, writer.record, pairs.offset, pairs.record) == before
        assert writer.writes([3]) == 1
        with pytest.raises(error):
            writer.writes([4, wrong, 5])
        with pytest.raises(error):
            pairs.writes([(4, 4), (5, wrong)])
    assert tb.Decoder().decode_all(sink.getvalue()) == [0, 1, 2, 3, 4]
    assert tb.Decoder().decode_pairs(pairs_sink.getvalue()) == [(0, 0), (1, 1), (2, 2), (4, 4)]


@pytest.mark.parametrize("item", [1, "k", (1,), (1, 2, 3), None, ()])
def test_what_is_not_a_pair_leaves_nothing(item):
    sink = io.BytesIO()
    with tb.PairWriter(sink) as writer, pytest.raises((TypeError, ValueError)):
        writer.writes([("a", 1), item])
    assert tb.Decoder().decode_pairs(sink.getvalue()) == [("a", 1)]


def test_an_iterable_that_raises_leaves_what_came_before():
    def values():
        yield 1
        yield 2
        raise LookupError("no more")

    sink = io.BytesIO()
    with tb.Writer(sink) as writer, pytest.raises(LookupError):
        writer.writes(values())
    assert tb.Decoder().decode_all(sink.getvalue()) == [1, 2]


def test_a_hook_that_writes_is_refused_and_the_record_is_whole():
    refused = []

    def default(obj):
        for use in (
            lambda: writer.write(1),
            lambda: writer.writes([1]),
            lambda: writer.write_raw(b"\2\1"),
            writer.flush,
            writer.close,
        ):
            with pytest.raises(RuntimeError, match="in use") as caught:
                use()
            refused.append(caught.value)
        return "replaced"

    sink = io.BytesIO()
    with tb.Writer(sink, default=default) as writer:
        writer.write([object(), 2])
    assert len(refused) == 5
    assert sink.getvalue() == tb.dumps(["replaced", 2])


def test_close_from_a_hook_does_not_close_the_path(path):
    def default(obj):
        with pytest.raises(RuntimeError, match="in use"):
            writer.close()
        return 1

    with tb.Writer(path, default=default) as writer:
        writer.write(object())
    assert path.read_bytes() == tb.dumps(1)


def test_an_iterable_may_use_its_writer():
    def values():
        writer.write("inside")
        yield "outside"
        writer.flush()
        yield "last"

    sink = io.BytesIO()
    with tb.Writer(sink) as writer:
        writer.writes(values())
    assert tb.Decoder().decode_all(sink.getvalue()) == ["inside", "outside", "last"]


def test_a_sink_that_writes_to_its_writer_is_refused():
    class Loop:
        def write(self, data):
            writer.write(1)

    writer = tb.Writer(Loop())
    writer.write(1)
    for use in (writer.flush, writer.close):
        with pytest.raises(RuntimeError, match="in use"):
            use()


# -- the end ----------------------------------------------------------------------------------------------


def test_a_closed_writer_says_so(path):
    for target in (io.BytesIO(), path):
        writer = tb.Writer(target)
        writer.write(1)
        writer.close()
        writer.close()
        for use in (
            lambda: writer.write(1),
            lambda: writer.writes([1]),
            lambda: writer.writes([]),
            lambda: writer.write_raw(b""),
            writer.flush,
        ):
            with pytest.raises(ValueError, match="closed"):
                use()
        assert (writer.offset, writer.record) == (5, 1)


def test_a_with_body_that_raises_keeps_whole_records_and_its_error(path):
    with pytest.raises(LookupError), tb.Writer(path) as writer:
        writer.write(1)
        raise LookupError
    assert path.read_bytes() == tb.dumps(1)


def test_an_error_of_close_does_not_hide_that_of_the_body():
    with pytest.raises(OSError, match="No space left") as caught, tb.Writer("/dev/full") as writer:
        writer.write(1)
        raise LookupError
    assert type(caught.value.__context__) is LookupError


def test_paths_are_closed_whatever_happens(path):
    free = lowest_free_descriptor()
    with pytest.raises(tb.EncodeError):
        tb.dump(object(), path)
    with pytest.raises(TypeError):
        tb.Writer(path, no_such_option=1)
    with pytest.raises(ValueError):
        tb.Writer(path, max_depth=-1)
    for _ in range(3):
        tb.dump(1, path)
    assert lowest_free_descriptor() == free


def test_a_second_init_is_refused_and_changes_nothing(path):
    sink = io.BytesIO()
    writer = tb.Writer(sink)
    writer.write(1)
    with pytest.raises(RuntimeError, match="again"):
        writer.__init__(path)
    writer.close()
    assert not sink.closed
    assert sink.getvalue() == tb.dumps(1)


@pytest.mark.parametrize("kind", [tb.Writer, tb.PairWriter])
def test_a_writer_without_init_is_closed(kind):
    writer = kind.__new__(kind)
    with pytest.raises(ValueError, match="closed"):
        writer.flush()
    assert (writer.offset, writer.record) == (0, 0)
    writer.close()
    del writer


def test_an_init_that_failed_can_be_repeated():
    writer = tb.Writer.__new__(tb.Writer)
    sink = io.BytesIO()
    for wrong, options in [(None, {}), (sink, {"max_depth": -1}), (sink, {"buffer_size": 0}), (sink, {"pickle": 5})]:
        with pytest.raises((TypeError, ValueError)):
            writer.__init__(wrong, **options)
    writer.__init__(sink)
    with writer:
        writer.write(1)
    assert sink.getvalue() == tb.dumps(1)


def test_a_forgotten_writer_warns_and_still_writes():
    sink = io.BytesIO()
    writer = tb.Writer(sink)
    writer.write(1)
    with pytest.warns(ResourceWarning, match="unclosed Writer"):
        del writer
    assert sink.getvalue() == tb.dumps(1)


def test_an_unclosed_writer_whose_sink_fails_warns_and_is_reported_once(monkeypatch):
    class Fails:
        ncalls = 0

        def write(self, data):
            Fails.ncalls += 1
            raise OSError("no space")

    messages = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: messages.append(str(unraisable.exc_value)))
    writer = tb.Writer(Fails())
    writer.write(1)
    with pytest.warns(ResourceWarning, match="unclosed Writer") as caught:
        del writer
    assert len(caught) == 1 and Fails.ncalls == 1 and messages == ["no space"]


def test_bytes_beyond_all_memory_are_a_memory_error_and_leave_nothing():
    # a view that claims more than there can be, of which nothing is looked at
    claimed = (ctypes.c_char * (sys.maxsize // 2)).from_address(ctypes.addressof(ctypes.c_char()))
    sink = Sink()
    with tb.Writer(sink) as writer, tb.PairWriter(sink) as pairs:
        writer.write_raw(b"\2\1")
        with pytest.raises(MemoryError):
            writer.write_raw(claimed)
        with pytest.raises(MemoryError):
            pairs.write_raw(b"\2\1", claimed)
        assert (writer.offset, writer.record, pairs.offset, pairs.record) == (2, 1, 0, 0)
    assert sink.getvalue() == b"\2\1"


def test_a_copy_stops_at_the_record_that_is_too_long():
    parts = [tb.dumps("x" * size) for size in (1, 2, 60, 1)]
    sink = Sink()
    with tb.Writer(sink) as writer, pytest.raises(tb.LimitError) as caught:
        writer.copy(tb.Reader(b"".join(parts), max_bytes=40))
    assert sink.getvalue() == b"".join(parts[:2])
    assert (caught.value.offset, caught.value.record) == (len(sink.getvalue()), 2)


def test_a_forgotten_writer_without_records_is_silent():
    writer = tb.Writer(io.BytesIO())
    writer.write(1)
    writer.flush()
    del writer


def test_a_writer_alive_at_the_end_of_the_interpreter_still_writes(path):
    code = "import sys, typedbytes as tb; writer = tb.Writer(open(sys.argv[1], 'wb', buffering=0)); writer.write(5)"
    run_fresh(code, path, warnings="ignore")
    assert path.read_bytes() == tb.dumps(5)


FORKS = {
    "exit": """
        writer = tb.Writer(sys.argv[1])
        writer.write(b"once")
        if os.fork() == 0:
            sys.exit()
        os.wait()
        writer.close()
    """,
    "exit_in_with": """
        with tb.Writer(sys.argv[1]) as writer:
            writer.write(b"once")
            if os.fork() == 0:
                sys.exit()
            os.wait()
    """,
    "flush": """
        writer = tb.Writer(sys.argv[1])
        writer.write(b"once")
        if os.fork() == 0:
            try:
                writer.flush()
            finally:
                os._exit(0)
        os.wait()
        writer.close()
    """,
    "multiprocessing": """
        import multiprocessing
        writer = tb.Writer(sys.argv[1])
        writer.write(b"once")
        child = multiprocessing.get_context("fork").Process(target=int)
        child.start()
        child.join()
        writer.close()
    """,
}


@pytest.mark.parametrize("name", FORKS)
def test_a_fork_does_not_write_twice(name, path):
    run_fresh("import os, sys, typedbytes as tb\n" + textwrap.dedent(FORKS[name]), path, warnings="ignore")
    assert path.read_bytes() == tb.dumps(b"once")


def test_a_writer_made_in_the_child_writes(path):
    code = """
        import os, sys, typedbytes as tb
        if os.fork() == 0:
            with tb.Writer(sys.argv[1]) as writer:
                writer.write(5)
            os._exit(0)
        os.wait()
    """
    run_fresh(code, path)
    assert path.read_bytes() == tb.dumps(5)


def test_a_writer_refuses_a_second_thread(path):
    refused = []

    def work(number):
        for _ in range(500):
            try:
                writer.write((number, "x" * 100))
                written.append(number)
            except RuntimeError:
                refused.append(number)

    written = []
    with tb.Writer(path, buffer_size=100) as writer:
        in_threads(work, [(number,) for number in range(4)])
        assert writer.record == len(written)
    with tb.Reader(path) as reader:
        assert sorted(number for number, _ in reader) == sorted(written)
    assert len(written) + len(refused) == 2000
