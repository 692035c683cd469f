"""The BatchReader: sources, threads that decode ahead, signals, faults in order, options.

Limits of a column are in test_columns.
"""

import array
import contextlib
import io
import itertools
import mmap
import os
import pathlib
import signal
import sys
import threading
import types

import numpy
import pytest

import typedbytes as tb
from support.column_pairs import many_pairs, pairs_of, read_one, written
from support.column_values import POLICIES, rows_of
from support.reader_sources import Script
from support.signal_checks import times_checked
from support.subprocess_runs import SECONDS, in_threads, run_fresh
from typedbytes import columns
from typedbytes.columns import _native

pytestmark = [pytest.mark.free_threaded, pytest.mark.newest_python, pytest.mark.lowest]


def test_paths_descriptors_and_maps(tmp_path):
    data, path = many_pairs(), tmp_path / "pairs.tb"
    path.write_bytes(data)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        for source in (path, str(path), file.fileno(), file, mapped):
            os.lseek(file.fileno(), 0, os.SEEK_SET)
            with columns.read(source, 1000) as reader:
                found = [number for batch in reader for number in batch.column("value").tolist()]
            assert found == [number + 2**33 for number in range(50_000)]


def test_a_pipe():
    data = many_pairs()
    reading, writing = os.pipe()

    def fill():
        with open(writing, "wb") as sink:
            sink.write(data)

    thread = threading.Thread(target=fill)
    thread.start()
    with open(reading, "rb", buffering=0) as source:
        total = sum(int(batch.column(1).sum()) for batch in columns.read(source, 7000))
    thread.join()
    assert total == sum(number + 2**33 for number in range(50_000))


def test_a_source_that_fails():
    class Failing:
        def read(self, nbytes):
            raise OSError("worn out")

    reader = columns.read(Failing())
    for _ in range(2):
        with pytest.raises(OSError, match="worn out"):
            next(reader)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("error", [OSError("worn out"), KeyError("not a byte")], ids=lambda error: type(error).__name__)
def test_rows_before_an_error_of_the_source_are_handed_out(error, threads):
    reader = columns.read(Script([pairs_of(*[(number, 1) for number in range(5)]), error]), 2, threads=threads)
    assert [row for _ in range(3) for row in next(reader).column("key").tolist()] == list(range(5))
    with pytest.raises(type(error)) as info:
        next(reader)
    assert info.value is error


def test_records_larger_than_the_buffer():
    rows = [(number, bytes([number]) * 3_000_000) for number in range(3)]
    data = pairs_of(*rows)
    for source in (data, io.BytesIO(data)):
        assert [value for batch in columns.read(source) for value in batch.column("value")] == [
            value for _, value in rows
        ]
    with pytest.raises(tb.TruncatedError) as info:
        list(columns.read(io.BytesIO(data[:-1])))
    assert (info.value.offset, info.value.record) == (len(data) - 1, 2)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_keep_the_order(threads):
    fixed = pairs_of(*((number, number / 2) for number in range(20_000)))
    for data in (many_pairs(20_000), fixed):
        for source in (data, io.BytesIO(data)):
            one = [rows_of(batch) for batch in columns.read(source, 1500)]
            if source is not data:
                source.seek(0)
            with columns.read(source, 1500, threads=threads) as reader:
                assert [rows_of(batch) for batch in reader] == one


def read_out(source, threads, waits=False, **options):
    """Return the rows of each batch with its types, and what ended the reading."""
    found = []
    with columns.read(source, 3, threads=threads, **options) as reader:
        try:
            for batch in reader:
                found.append((batch.schema, rows_of(batch)))
                if waits:
                    wait_for_others()
        except tb.DecodeError as error:
            return found, (type(error), str(error), error.record, error.offset, error.path)
    return found, None


def wait_for_others():
    """Let the runs that are under way come to their ends."""
    workers = columns._threads._workers
    together = threading.Barrier(len(workers._threads) + 1)
    for _ in workers._threads:
        workers.call(together.wait, SECONDS)
    together.wait(SECONDS)


def test_other_threads_decode_ahead():
    for data in (many_pairs(100), pairs_of(*((number, number / 2) for number in range(100)))):
        with columns.read(data, 3, threads=3) as reader:
            assert len(next(reader)) == 3
            wait_for_others()
            ahead = [batch for run in reader._parallel._runs for batch in run.batches]
            assert [len(batch) for batch in ahead] == [3] * 3
            assert list(reader)[:3] == ahead  # they are the very same


def test_the_calling_thread_decodes_a_batch_when_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(columns._threads, "_RUN_NBYTES", 100_000)
    data = pairs_of(*((number, number / 2) for number in range(1000)))
    for threads in (1, 2, 3):
        with columns.read(data, 10, threads=threads) as reader:
            assert len(next(reader)) == 10
            assert not reader._assembly.ready, f"{threads} threads: its memory is that of the batch before"


def test_a_look_at_the_schema_changes_nothing():
    """With threads too it loses neither order nor count."""
    data = many_pairs(100)
    for threads in (1, 2):
        with columns.read(data, 3, threads=threads) as reader:
            assert reader.schema == {"key": "string", "value": "long"} and reader.record == 0
            found = [row for batch in reader for row in rows_of(batch)]
            assert found == tb.Decoder().decode_pairs(data) and reader.record == 100


ROWS = {
    # the second fits no column of the first; the third and the fourth together are as long as two of the first
    "fixed": ((7, 0.5), (tb.Float(0.5), 7.5), (2**40, 1.5), (3, tb.Float(2.5))),
    "words": (("ab", 2**40), (b"ab", 2**41), ("abcdef", 2**40), ("ab", 5)),
}


@pytest.mark.parametrize("shape", ROWS)
@pytest.mark.parametrize("policy", POLICIES)
def test_a_fault_at_any_record_is_raised_in_order(shape, policy):
    usual, *others = map(pairs_of, ROWS[shape])
    for index in range(24):
        for spoiled in (others[0], others[1] + others[2], b"\xff", usual[:-1]):
            data = usual * index + spoiled + usual * 10
            one = read_out(data, 1, on_mismatch=policy)
            for threads, waits in ((2, True), (3, False)):
                assert read_out(data, threads, waits, on_mismatch=policy) == one
            assert read_out(io.BytesIO(data), 3, on_mismatch=policy) == one


@pytest.mark.parametrize("shape", ROWS)
def test_threads_and_input_that_ends_anywhere(shape):
    data = pairs_of(ROWS[shape][0]) * 22
    for cut in range(len(data)):
        one = read_out(data[:cut], 1)
        assert read_out(data[:cut], 2, cut % 2) == read_out(data[:cut], 3, cut % 2) == one


def test_threads_and_long_runs(monkeypatch):
    monkeypatch.setattr(columns._threads, "_RUN_NBYTES", 100_000)
    for pairs in (
        [(number, number / 2) for number in range(60_000)],
        [(f"w\xf6rd{number % 997}", number + 2**33) for number in range(60_000)],
    ):
        data = bytearray(pairs_of(*pairs))
        one = [rows_of(batch) for batch in columns.read(data, 2500)]
        assert [rows_of(batch) for batch in columns.read(data, 2500, threads=2)] == one
        assert [rows_of(batch) for batch in columns.read(array.array("B", data), 2500, threads=3)] == one


def test_memory_that_is_used_again_has_one_owner():
    rows = 20_000  # a column of LONGs is large enough for its memory to be kept
    wrong = []

    def read_often(start):
        data, held = pairs_of(*((number, number + 2**40) for number in range(start, start + 3 * rows))), []
        for n in range(30):
            reader = columns.read(data, rows, threads=1 + n % 2)
            for number, batch in enumerate(reader):
                held.append((start + 2**40 + number * rows, batch.column("value")))
                first, values = held[n % len(held)]
                if not (values == numpy.arange(first, first + len(values))).all():
                    wrong.append(first)
            del held[: n % 5]

    in_threads(read_often, [(2**20 * number,) for number in range(4)])
    assert not wrong


def test_a_reader_with_threads_that_is_never_read_to_its_end():
    data = bytearray(many_pairs())
    reader = columns.read(data, 2500, threads=3)
    next(reader)
    reader.close()
    data.clear()  # it is not used any more
    data = bytearray(many_pairs())
    reader = columns.read(data, 2500, threads=3)
    next(reader)
    del reader
    wait_for_others()
    data.clear()


def test_threads_are_there_for_all_readers():
    found = []
    for _ in range(3):
        read_out(many_pairs(100), 3)
        found.append({thread for thread in threading.enumerate() if thread.name == "columns"})
    assert found[0] == found[1] == found[2] and len(found[0]) >= 2


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_the_child_of_a_fork_has_threads_of_its_own():
    data = many_pairs(100)
    one = read_out(data, 1)
    assert read_out(data, 3) == one
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with columns.read(data, 3, threads=3) as reader:
                next(reader)
                wait_for_others()
                status = 0 if reader._parallel._runs[0].batches and read_out(data, 3) == one else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.parametrize("use", ["close", "iterate"])
def test_the_child_of_a_fork_does_not_wait_for_its_parents_threads(use, monkeypatch):
    decodes, goes_on, fill = threading.Event(), threading.Event(), columns._threads._Run._fill

    def wait_and_fill(run, *limits):
        if threading.current_thread().name == "columns":
            decodes.set()
            goes_on.wait(SECONDS)
        return fill(run, *limits)

    monkeypatch.setattr(columns._threads._Run, "_fill", wait_and_fill)
    data = many_pairs(100)
    one = [rows_of(batch) for batch in columns.read(data, 3)]
    with columns.read(data, 3, threads=3) as reader:
        found = [rows_of(next(reader))]
        assert decodes.wait(SECONDS)
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # ends a child that waits
            goes_on = threading.Event()
            goes_on.set()
            with contextlib.suppress(BaseException):
                if use == "iterate":
                    assert found + [rows_of(batch) for batch in reader] == one
                reader.close()
                os._exit(0)
            os._exit(1)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        goes_on.set()
        assert found + [rows_of(batch) for batch in reader] == one
    assert status == 0


# a signal inside a callback of weakref's
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_signal_leaves_no_thread_at_work():
    """Such a thread would keep the interpreter from its end."""
    here = sys._getframe().f_code

    def interrupt(_, frame):
        if frame.f_code is not here:  # not between two calls of the reader: try statements leave gaps
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise KeyboardInterrupt

    data, ninterrupts, before = bytearray(many_pairs()), 0, signal.signal(signal.SIGALRM, interrupt)
    delays = itertools.cycle(0.0002 * (1 + n) for n in range(20))
    try:
        while ninterrupts < 25:
            reader = columns.read(data, 500, threads=3)
            try:
                delay = next(delays)
                signal.setitimer(signal.ITIMER_REAL, delay, delay)
                # it may end before, and no signal is reported inside such a callback
                while next(reader, None) is not None:
                    pass
            except KeyboardInterrupt:
                ninterrupts += 1
            except RuntimeError as error:  # a signal at the start of a `with` of threading's own locks
                assert str(error) == "release unlocked lock"
            signal.setitimer(signal.ITIMER_REAL, 0)
            reader.close()
            data.append(data.pop())  # it is not used any more
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_threads_find_the_first_fault():
    data = bytearray(pairs_of(*((number, number / 2) for number in range(20_000))))
    data[14 * 12_345] = 6
    data[14 * 15_000 + 5] = 201
    reader, n = columns.read(bytes(data), 1000, threads=3), 0
    with pytest.raises(columns.MismatchError) as info:
        for batch in reader:
            n += len(batch)
    assert (n, info.value.record, info.value.offset) == (12_345, 12_345, 14 * 12_345)


def test_an_interrupt_at_any_line_leaves_the_reader_usable():
    def interrupt_at(number):
        """Return a function that traces, and raises at the line of this number that typedbytes.columns runs."""
        lines = iter(range(number + 1))

        def trace(frame, event, argument):
            if pathlib.Path(frame.f_code.co_filename).parent != pathlib.Path(columns.__file__).parent:
                return None
            if event == "line" and next(lines) == number:
                sys.settrace(None)
                raise KeyboardInterrupt
            return trace

        return trace

    before = sys.gettrace()
    for number in range(1000):
        reader = columns.read(many_pairs(300), 100)
        sys.settrace(interrupt_at(number))
        try:
            next(reader)
            break
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        with contextlib.suppress(KeyboardInterrupt):  # what the source raised is raised again
            next(reader, None)  # no RuntimeError: no call is in progress
    assert 3 < number < 999


@pytest.mark.parametrize(
    "way",
    [next, lambda reader: reader.schema, lambda reader: reader.close(), lambda reader: reader.__arrow_c_stream__()],
)
def test_a_source_that_calls_its_reader(way):
    data = many_pairs(3000)
    file = io.BytesIO(data)
    said = []

    class Source:
        def readinto(self, into):
            with pytest.raises(RuntimeError, match="this BatchReader is in use") as info:
                way(reader)
            said.append(info)
            return file.readinto(into)

    reader = columns.read(Source(), 1000)
    assert [row for batch in reader for row in rows_of(batch)] == rows_of(read_one(data))
    assert said and reader.failure is None and next(reader, None) is None


def test_threads_that_share_a_reader():
    # each row is returned once, to one of the threads; a call during another is refused
    code = """
        import threading
        import typedbytes as tb
        from typedbytes import columns
        data = tb.Encoder().encode_pairs([(f"k{number}", number) for number in range(200_000)])
        said = set()
        def drain(reader, found):
            while True:
                try:
                    for batch in reader:
                        found.append(batch.column("value").tolist())
                    return
                except RuntimeError as error:
                    said.add(str(error))
        for nthreads in (1, 2):
            for _ in range(3):
                reader, found = columns.read(data, 60_000, threads=nthreads), []
                threads = [threading.Thread(target=drain, args=(reader, found)) for _ in range(3)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                assert sorted(number for numbers in found for number in numbers) == list(range(200_000)), reader.failure
        print(said <= {"this BatchReader is in use: re-entered from a hook, or used by two threads"})
    """
    assert run_fresh(code) == "True"


def test_options_that_make_no_sense():
    for options in ({"batch_rows": 0}, {"threads": 0}, {"on_mismatch": "ignore"}, {"schema": ["int"]},
                    {"dialect": "pig"}, {"max_depth": -1}, {"schema": ["short", "int"]},
                    {"schema": ["int", "list<ext<177>>"], "dialect": "hive"},
                    {"schema": ["int", "ext< 177 >"], "dialect": "hive"},
                    {"schema": ["int", "list<ext<0177>>"], "dialect": "hive"}):  # fmt: skip
        with pytest.raises(ValueError):
            columns.read(b"", **options)


@pytest.mark.parametrize(
    "names, said",
    [("key", "columns must be a list of names, not the str 'key'"), ([0], "the name of a column is a str, not 0")],
)
def test_columns_that_are_no_list_of_names(names, said):
    with pytest.raises(TypeError, match=f"^{said}$"):
        columns.read(b"", columns=names)


@pytest.mark.parametrize("look", [lambda reader: reader.schema, next])
def test_groups_after_a_batch_are_refused(look):
    """It was cut without regard to keys."""
    data = pairs_of(("a", 1), ("a", 2), ("a", 3), ("b", 4))
    reader = columns.read(data, 2)
    look(reader)
    with pytest.raises(ValueError, match=r"groups\(\) comes before the first batch, and before schema"):
        reader.groups()
    grouped = columns.read(data, 2).groups()
    assert grouped.schema and [len(batch) for batch in grouped.groups()] == [3, 1]


def test_threads_and_a_batch_that_a_read_completes():
    """The bytes before it are at their limit then, and nothing is left to look for."""
    records = [tb.dumps(value) for value in (1, "text", 2.5, "text", *("w" * (number % 7) for number in range(60)))]
    failures = []
    hook, threading.excepthook = threading.excepthook, failures.append
    try:
        for _ in range(100):
            parts = [b"".join(records[start:end]) for start, end in ((0, 2), (2, 8), (8, None))]
            source = types.SimpleNamespace(read=lambda n=-1, parts=parts: parts.pop(0) if parts else b"")
            batches = columns.read(source, 50, pairs=False, batch_nbytes=5, on_mismatch="split", threads=3)
            assert sum(map(len, batches)) == len(records)
    finally:
        threading.excepthook = hook
    assert failures == []


def test_a_closed_reader_reads_no_more():
    reader = columns.read(pairs_of((1, 1)))
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        next(reader)


def test_empty_input_and_empty_batches():
    assert list(columns.read(b"")) == []
    assert columns.read(b"").schema == {"key": "unknown", "value": "unknown"}
    assert columns.read(b"", schema=["int", "list<string>"]).schema == {"key": "int", "value": "list<string>"}


def batches_of(values, max_held, policy="error"):
    """Return the rows of each batch where a column holds at most `max_held` bytes and items."""
    builder, view, found = (
        _native.Builder(None, 1, None, policy, max_held=max_held),
        memoryview(tb.Encoder().encode_all(values)),
        [],
    )
    while view:
        nbytes, nrows = builder.append_records(view, 10**6)
        assert builder.state in ("limit", "more")
        found.append([row for (row,) in rows_of(builder.finish(columns.Batch, ("value",)))])
        assert len(found[-1]) == nrows > 0
        view = view[nbytes:]
    return found


def test_records_are_appended_from_an_offset_within_the_bytes():
    data = tb.Encoder().encode_all([1, 2, 3])
    builder = _native.Builder(None, 1, None, "error")
    assert builder.append_records(data, 10, start=5) == (10, 2)
    assert rows_of(builder.finish(columns.Batch, ("value",))) == [(2,), (3,)]
    assert builder.append_records(data, 10, start=15) == (0, 0)
    for start in (-1, 16):
        with pytest.raises(ValueError, match="start must be within the bytes"):
            builder.append_records(data, 10, start=start)


def test_a_batch_ends_before_offsets_would_wrap():
    for value in (
        bytes(100),
        "x" * 100,
        "\xe9" * 50,
        [True] * 100,
        dict.fromkeys(range(100), True),
        tb.Ext(144, bytes(100)),
    ):
        assert batches_of([value] * 25, 1000) == [
            [list(value.items()) if type(value) is dict else value] * n for n in (10, 10, 5)
        ]
        with pytest.raises(tb.LimitError, match="a column can hold at most 99 bytes or items"):
            batches_of([value], 99)


def test_a_batch_that_grows_ends_before_offsets_would_wrap():
    for value in (bytes(100), "x" * 100, tb.Ext(144, bytes(100))):
        data = tb.dumps(value)
        builder = _native.Builder(None, 1, None, "error", max_held=1000)
        assert builder.append_records(data * 7, 100) == (7 * len(data), 7)
        assert builder.append_records(data * 10, 100) == (3 * len(data), 3) and builder.state == "limit"


def test_a_column_is_not_widened_beyond_its_offsets():
    for rows in ([(1, 2, 3, 4)] * 10 + [(5, 6)], [1] * 10 + ["a"], ["abc"] * 10 + [1], [[1]] * 10 + [(1,)]):
        assert batches_of(rows, 35, "widen") == [rows[:10], rows[10:]]
        assert batches_of(rows, 1000, "widen") == [rows]


def test_signals_are_checked_in_a_long_batch():
    data = pairs_of((1, "a"))
    times = []
    for nrows in (10, 400_000):
        builder, many = _native.Builder(None, 2, None, "error"), data * nrows
        times.append(times_checked(lambda: builder.append_records(many, 10**6)))
        assert builder.nrows == nrows
    assert times[1] - times[0] > 4


def test_an_interrupt_in_a_batch_takes_nothing():
    data, nrows, raised = pairs_of((1, "a")) * 1_000_000, 1_000_000, None
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        while raised is None:
            builder = _native.Builder(None, 2, None, "error")
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.002)
                builder.append_records(data, nrows)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt as error:
                if error.__traceback__.tb_next:  # it came in the middle
                    raised = error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert builder.nrows == 0
    assert builder.append_records(data, nrows) == (len(data), nrows)


def test_what_a_signal_handler_raises_beside_text_that_is_not_utf8():
    data, calls = (pairs_of((1, "a")) + pairs_of((1, "a")).replace(b"a", b"\xff")) * 500_000, []

    def interrupt(*_):
        calls.append(1)
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        while not calls:
            builder = _native.Builder(None, 2, None, "error")
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.002)
                builder.append_records(data, 1_000_000)
                signal.setitimer(signal.ITIMER_REAL, 0)
                assert not calls
            except TimeoutError as error:
                if not error.__traceback__.tb_next:  # it came before or after
                    calls.clear()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert builder.nrows == 0
    assert builder.append_records(data, 1_000_000)[1] == 1


def test_an_item_of_a_very_wide_vector_is_not_a_column():
    with pytest.raises(tb.LimitError, match="cannot make a column of one item of a VECTOR with more than 1024 items"):
        columns.read(b"", schema=["vector<int * 2000>"], pairs=False, columns=["value.5"])


MIXED = [
    [1, "a"],
    [[], [1], ["a"]],
    {"a": 1, 2: "b"},
    {1: "b", "a": 2},
    ([1, None, "a"], 2),
    [(1, 2), (3,)],
    [1, 2.5],
    [1, 2**40],
]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("mixed", MIXED, ids=str)
def test_a_record_of_several_types_is_raw_after_a_split(mixed, threads):
    values = [1, 2, mixed, mixed, 5, (5, 6), mixed]
    data = tb.Encoder().encode_all(values)
    for start, schema in ((0, None), (10, None), (0, ["int"]), (10, ["int"])):
        found = list(columns.read(data[start:], schema=schema, pairs=False, on_mismatch="split", threads=threads))
        assert [(len(batch), batch.schema["value"]) for batch in found] == [(2, "int"), (5, "raw")][start // 10 :]
        assert b"".join(written(batch, pairs=False) for batch in found) == data[start:]
    pairs = tb.Encoder().encode_pairs([(1, 2.5), ("a", mixed), (mixed, mixed)])
    batches = list(columns.read(pairs, on_mismatch="split", threads=threads))
    assert [tuple(batch.schema.values()) for batch in batches] == [("int", "double"), ("string", "raw"), ("raw", "raw")]
    assert b"".join(map(written, batches)) == pairs
    keys = [batch.column("key").tolist() for batch in columns.read(pairs, columns=["key"], on_mismatch="split")]
    assert keys == [[1], ["a"], [tb.dumps(mixed)]]


def test_a_part_of_a_record_of_several_types_is_refused_after_a_split():
    data = tb.Encoder().encode_all([(1, 2), ([1, "a"], 3)])
    found = columns.read(data, columns=["value.1"], pairs=False, on_mismatch="split")
    assert [batch.column(0).tolist() for batch in found] == [[2, 3]]
    found = columns.read(data, columns=["value.0"], pairs=False, on_mismatch="split")
    assert next(found).column(0).tolist() == [1]
    with pytest.raises(
        columns.MismatchError, match=r"STRING in column 'value', which holds int, .* record 1, path \[0\]\[1\]"
    ):
        next(found)


def test_a_later_record_without_a_part_is_refused_where_it_is():
    data = tb.Encoder().encode_all([{"a": 1, "b": 2}, "x", {"a": 5}])
    found = columns.read(data, columns=["value.a"], pairs=False, on_mismatch="split")
    assert next(found).column(0).tolist() == [1]
    with pytest.raises(columns.MismatchError, match="no part 'a' to use as a column .* at offset 27, record 1"):
        next(found)
    with pytest.raises(LookupError, match="no part 'b'"):
        next(columns.read(tb.dumps("x"), columns=["value.b"], pairs=False, on_mismatch="split"))


def test_a_valid_record_that_is_refused_is_located_at_its_start():
    reader = columns.read(pairs_of((1, 2), (3, 4)), 1)
    next(reader)
    with pytest.raises(tb.FormatError, match=r"cannot be a row at offset 10, record 1$"):
        reader._raise("broken")  # no input is known that Builder calls invalid and a Reader does not
