"""Folders of part files, read in one thread, with threads that decompress, or by processes, in order or not."""

import io
import os
import random
import signal
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import pytest

import typedbytes as tb
from support.small_sequencefiles import written
from support.subprocess_runs import SECONDS, run_fresh
from typedbytes import sequencefile

pytestmark = [pytest.mark.free_threaded, pytest.mark.lowest]

HAS_GIL = getattr(sys, "_is_gil_enabled", lambda: True)()

THREADS = {"processes": 2}
PROCESSES = {"processes": 2, "decoders": {"not.In.The.Files": bytes}}
WAYS = [{}, THREADS, PROCESSES]


@pytest.mark.parametrize(
    "way, ordered", [({}, False), (THREADS, False), (PROCESSES, True), ({**PROCESSES, "processes": 3}, False)]
)
def test_a_folder_of_part_files(folder, way, ordered):
    root, pairs = folder
    done = []
    found = list(
        sequencefile.read(root, **way, ordered=ordered, split_size=4000, progress=lambda *now: done.append(now))
    )
    assert found == pairs if ordered or "decoders" not in way else sorted(found) == sorted(pairs)
    total = sum((root / f"part-{part:05}").stat().st_size for part in range(3))
    assert done[-1] == (total, total) and done == sorted(done) and len(done) > 10


def test_a_folder_among_part_files_is_not_left_out(folder):
    root, _ = folder
    (root / "part-00003").mkdir()
    with pytest.raises(IsADirectoryError, match="a folder among the part files: .*/part-00003"):
        sequencefile.read(root)


@pytest.mark.parametrize("way", WAYS)
def test_damage_in_one_of_many_files(folder, way):
    root, pairs = folder
    path = root / "part-00001"
    data = bytearray(path.read_bytes())
    data[20000:20010] = bytes(10)
    path.write_bytes(data)
    found = []
    with pytest.raises(tb.DecodeError, match=f"^{path}: "):
        for pair in sequencefile.read(root, **way, ordered=True, split_size=8000):
            found.append(pair)
    assert found == pairs[: len(found)] and len(found) > 1500
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = list(sequencefile.read(root, **way, ordered=True, split_size=8000, resync=True))
    said = [str(each.message) for each in said if each.category is RuntimeWarning]  # a fork may have its own to say
    assert said and all(f"{path}: skipped " in each for each in said)
    assert 0 < len(pairs) - len(found) < 60
    assert set(found) < set(pairs)


def test_reading_many_files_can_be_left(folder):
    root, pairs = folder
    for way in WAYS:
        reading = sequencefile.read(root, **way, ordered=True, split_size=4000)
        assert [next(reading) for _ in range(10)] == pairs[:10]
        reading.close()


def test_a_thread_of_the_pool_that_ends_the_reading_does_not_wait_for_itself(folder, monkeypatch):
    root, _ = folder
    monkeypatch.setattr("typedbytes.sequencefile._parallel.WrappedIterator", iter)  # to see inside
    reading = sequencefile.read(root, **PROCESSES, split_size=4000)
    next(reading)
    results = reading.gi_frame.f_locals["results"]
    said, ended = [], threading.Event()

    def end(done):
        try:
            results.close()
        except BaseException as error:
            said.append(error)
        said.append(threading.current_thread())
        ended.set()

    is_set = threading.Event()
    results.gi_frame.f_locals["pool"].submit(is_set.wait).add_done_callback(end)
    is_set.set()
    assert ended.wait(SECONDS) and len(said) == 1
    assert said != [threading.main_thread()]
    reading.close()


@pytest.mark.parametrize("way", WAYS)
def test_an_error_says_where_in_the_file(folder, way):
    root, pairs = folder
    path = root / "part-00000"
    data = bytearray(path.read_bytes())
    with sequencefile.Reader(path) as reader:
        reader.skip(1000)
        offset = reader.offset
    data[offset + 8 + 4] = 201  # the type code of the key
    path.write_bytes(data)
    for split_size, nrecord in ((1 << 20, 1000), (4000, None)):
        with pytest.raises(tb.FormatError) as info:
            list(sequencefile.read(root, **way, split_size=split_size, ordered=True))
        assert (info.value.offset, info.value.record) == (offset + 12, nrecord), (
            "a later split does not know which record of the file it is"
        )


class HeavyError(Exception):
    """An exception that can be pickled, but not made again."""

    def __init__(self, source, reason):
        super().__init__(f"{source}: {reason}")


class LocalError(Exception):
    """An exception that cannot be pickled."""

    def __reduce__(self):
        raise TypeError("no")


def raises_heavy(data):
    """Fail as a decoder may."""
    raise HeavyError("here", "too heavy")


def raises_local(data):
    """Fail in another way."""
    raise LocalError("only here")


@pytest.mark.parametrize(
    "decoder, message", [(raises_heavy, "HeavyError: here: too heavy"), (raises_local, "LocalError: only here")]
)
def test_an_exception_that_no_process_can_hand_over(decoder, message, tmp_path):
    path = tmp_path / "f"
    path.write_bytes(written([(1, b"1")], key_class="IntWritable", value_class="my.Own"))
    with pytest.raises(RuntimeError, match=f"^{message}$") as info:
        list(sequencefile.read(path, processes=2, decoders={"my.Own": decoder}))
    assert type(info.value) is RuntimeError


class OwnError(Exception):
    """What a decoder raises."""


def troubled(data):
    """Decode numbers as text, with trouble at some of them."""
    number = int(data)
    if number == 250:
        raise OwnError(number)
    if number == 251:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 0:
        time.sleep(0.2)  # the first split comes last
    return number


def own_file(path, numbers):
    """Write a file of a class that `troubled` decodes."""
    path.write_bytes(
        written([(i, b"%d" % i) for i in numbers], key_class="IntWritable", value_class="my.Own", sync_interval=100)
    )
    return {"decoders": {"my.Own": troubled}, "split_size": 500}


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_the_order_is_kept_when_the_first_comes_last(processes, tmp_path):
    options = own_file(tmp_path / "f", range(200))
    done = []
    for ordered in (True, False):
        found = sequencefile.read(
            tmp_path, processes=processes, ordered=ordered, progress=lambda *now: done.append(now), **options
        )
        found = list(found)
        assert (found if ordered else sorted(found)) == [(i, i) for i in range(200)]
        steps = [after - before for (before, _), (after, _) in zip([(0, 0), *done], done)]
        assert sum(steps) == (tmp_path / "f").stat().st_size and sorted(steps)[1:] == [500] * (len(steps) - 1)
        done.clear()


@pytest.mark.parametrize("processes", [1, 2])
def test_what_a_decoder_raises_comes_through(processes, tmp_path):
    options = own_file(tmp_path / "f", [*range(1, 251), *range(300, 400)])
    found = []
    with pytest.raises(OwnError, match="250"):
        for pair in sequencefile.read(tmp_path, processes=processes, ordered=True, **options):
            found.append(pair)
    assert found == [(i, i) for i in range(1, len(found) + 1)] and 200 < len(found) < 250


@pytest.mark.skipif(not HAS_GIL, reason="threads read, not processes")
def test_a_process_that_dies_is_an_error(tmp_path):
    options = own_file(tmp_path / "f", [*range(1, 100), 251, *range(300, 400)])
    with pytest.raises(BrokenProcessPool):
        list(sequencefile.read(tmp_path, processes=2, **options))


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_has_gone(folder, way):
    root, pairs = folder
    reading = sequencefile.read(root, **way, ordered=True)
    (root / "part-00002").unlink()
    found = []
    with pytest.raises(FileNotFoundError, match="part-00002"):
        found.extend(reading)
    assert found == pairs[:3000]


@pytest.mark.parametrize("way", WAYS)
def test_what_progress_raises_comes_through(folder, way):
    root, pairs = folder

    def stop(done, total):
        raise OwnError(done)

    with pytest.raises(OwnError, match="4000"):
        list(sequencefile.read(root, **way, ordered=True, split_size=4000, progress=stop))


CODECS = ["default", "gzip", "bzip2", "zstd"]
if HAS_GIL:  # the library of the others has no wheels for interpreters without it
    CODECS += ["snappy", "lz4"]


def read_out(reader):
    """Return what a reader gives and the error that ends it."""
    found = []
    try:
        for pair in reader:
            found.append(pair)
    except tb.DecodeError as error:
        return found, type(error), str(error), error.offset, error.record
    return found, None


def ahead(data, pool, nblocks=3, **options):
    """Return a Reader whose blocks are decompressed by threads."""
    reader = sequencefile.Reader(data, **options)
    reader.__decompress_ahead__(pool.submit, nblocks)
    return reader


@pytest.fixture
def pool():
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.mark.parametrize("codec", CODECS)
def test_threads_that_decompress_give_what_one_thread_gives(codec, tmp_path, pool):
    pairs = [(f"key {i}", [i, f"text {i % 100}"]) for i in range(3000)]
    data = written(pairs, compression="block", codec=codec, block_size=4000)
    assert list(ahead(data, pool)) == pairs
    (tmp_path / "f").write_bytes(data)
    for split_size in (1000, 5000, 1 << 20):
        assert list(sequencefile.read(tmp_path, processes=3, split_size=split_size)) == pairs
    source = io.BytesIO(data)
    source.seekable = lambda: False
    assert list(ahead(source, pool)) == pairs


def test_threads_that_decompress_have_the_errors_of_one_thread(pool):
    rng = random.Random(5)
    data = written([(f"key {i}", i) for i in range(2000)], compression="block", codec="default", block_size=2000)
    for resync in (False, True):
        failed = 0
        for _ in range(400):
            damaged = bytearray(data[: rng.randrange(len(data) // 2, len(data) + 1)])
            for _ in range(rng.randrange(3)):
                damaged[rng.randrange(200, len(damaged))] ^= 1 << rng.randrange(8)
            one = sequencefile.Reader(bytes(damaged), resync=resync)
            many = ahead(bytes(damaged), pool, rng.randrange(1, 6), resync=resync)
            found = read_out(one)
            assert read_out(many) == found
            assert [each[:3] for each in many.skipped] == [each[:3] for each in one.skipped]
            failed += found[1] is not None or bool(one.skipped)
        assert failed > 100


def test_a_reader_moves_as_before_while_threads_decompress(pool):
    pairs = [(i, i) for i in range(3000)]
    data = written(pairs, compression="block", codec="default", block_size=2000)
    one, many = sequencefile.Reader(data), ahead(data, pool)
    start = one.offset
    for n in (1, 700, 3, 1500, 0, 400):
        assert many.skip(n) == one.skip(n) == n
        assert (many.read(), many.offset, many.record) == (one.read(), one.offset, one.record)
    for reader in (one, many):
        reader.seek(start)
        assert [reader.read() for _ in range(1000)] == pairs[:1000]
    offsets = many.offset, one.offset
    assert offsets[0] == offsets[1]
    many.close()
    with pytest.raises(ValueError, match="closed"):
        many.read()


class Troubled(io.RawIOBase):
    """A source whose n-th read raises an error, once."""

    def __init__(self, data, nth, error):
        self.file, self.nth, self.error, self.ncalls = io.BytesIO(data), nth, error, 0
        self.seek, self.tell, self.seekable = self.file.seek, self.file.tell, self.file.seekable

    def readinto(self, target):
        self.ncalls += 1
        if self.ncalls == self.nth:
            raise self.error
        return self.file.readinto(target)


@pytest.mark.parametrize(
    "error", [OSError("once"), OwnError("of a signal handler"), MemoryError(), KeyboardInterrupt()]
)
@pytest.mark.parametrize("resync", [False, True])
def test_what_the_source_raises_comes_after_the_records_before_it(error, resync, pool):
    rng = random.Random(0)
    pairs = [(rng.random(), i) for i in range(60_000)]
    data = written(pairs, compression="block", codec="zstd", block_size=20_000)
    for nth in (3, 5):
        found = []
        for make in (sequencefile.Reader, lambda source, **options: ahead(source, pool, **options)):
            source, got = Troubled(data, nth, error), []
            reader = make(source, resync=resync)
            with pytest.raises(type(error)) as info:
                for pair in reader:
                    got.append(pair)
            assert info.value is error and source.ncalls == nth
            assert got == pairs[: len(got)]
            found.append(len(got))
        assert found[0] == found[1] > 0 or isinstance(error, KeyboardInterrupt)


def test_a_pipe_is_read_by_one_thread_and_skips_damage(tmp_path):
    data = bytearray(written([(i, i) for i in range(20_000)], compression="block", codec="default", block_size=2000))
    data[len(data) // 2] ^= 1
    found = []
    for processes in (1, 3):
        os.mkfifo(tmp_path / f"pipe{processes}")
        writer = threading.Thread(target=(tmp_path / f"pipe{processes}").write_bytes, args=(data,))
        writer.start()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found.append(list(sequencefile.read(tmp_path / f"pipe{processes}", processes=processes, resync=True)))
        writer.join()
        assert len([each for each in said if each.category is RuntimeWarning]) == 1
    assert found[0] == found[1] and 19_000 < len(found[0]) < 20_000


def test_looking_ahead_begins_once_and_not_while_the_reader_is_used(pool):
    data = written([(i, i) for i in range(2000)], compression="block", codec="default", block_size=500)
    reader = ahead(data, pool)
    with pytest.raises(RuntimeError, match="ahead already"):
        reader.__decompress_ahead__(pool.submit, 3)
    refused = []

    def submit(*call):
        try:
            within.__decompress_ahead__(pool.submit, 3)
        except RuntimeError as error:
            refused.append(error)
        return pool.submit(*call)

    within = sequencefile.Reader(data)
    within.__decompress_ahead__(submit, 3)
    assert list(reader) == list(within) == [(i, i) for i in range(2000)]
    assert len(refused) > 10
    with pytest.raises(ValueError, match="closed"):
        within.close()
        within.__decompress_ahead__(pool.submit, 3)


def test_a_reader_says_where_it_is_after_damage_ahead(pool):
    data = bytearray(written([(i, i) for i in range(2000)], compression="block", codec="default", block_size=500))
    data[len(data) // 2] ^= 1
    one, many = sequencefile.Reader(bytes(data)), ahead(bytes(data), pool)
    assert read_out(one) == read_out(many)
    assert one.offset == many.offset


def test_a_forked_child_goes_on_with_a_reading_of_its_parent(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(written([(i, i) for i in range(2000)], compression="block", codec="default", block_size=500))
    code = """
        import os, signal, sys, warnings
        from typedbytes import sequencefile
        warnings.simplefilter("ignore")    # of a fork beside threads
        reading = sequencefile.read(sys.argv[1], processes=2)
        next(reading)
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            os._exit(sum(1 for _ in reading) != 1999)
        print(os.waitpid(child, 0)[1])
        reading.close()
    """
    assert run_fresh(code, path) == "0"


def test_no_thread_outlives_a_reading_that_failed(tmp_path):
    data = bytearray(written([(i, i) for i in range(2000)], compression="block", codec="default", block_size=500))
    data[len(data) // 2] ^= 1
    (tmp_path / "f").write_bytes(data)
    before = threading.active_count()
    with pytest.raises(tb.DecodeError) as kept:  # and its traceback
        list(sequencefile.read(tmp_path, processes=3))
    deadline = time.monotonic() + SECONDS
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before and kept


@pytest.mark.parametrize("buffers", [None, [b""] * 3, ["", b"", b"", b""], [b"", b"", b"\1", b""]])
def test_blocks_of_another_kind_are_refused(buffers):
    class Future:
        result = staticmethod(lambda: buffers)

    reader = sequencefile.Reader(written([(1, 2)], compression="block", codec="default"))
    reader.__decompress_ahead__(lambda *call: Future, 2)
    with pytest.raises((TypeError, ValueError, tb.FormatError)):
        reader.read()


def test_processes_that_share_nothing(folder):
    root, pairs = folder
    code = f"""
        import multiprocessing
        from typedbytes import sequencefile
        multiprocessing.set_start_method("spawn")
        options = {{"processes": 2, "decoders": {{'not.In.The.Files': bytes}}, "ordered": True, "split_size": 30000}}
        found = list(sequencefile.read({str(root)!r}, **options))
        print(len(found), found[-1])
    """
    assert run_fresh(code) == f"{len(pairs)} {pairs[-1]}"


def test_a_reading_goes_on_while_the_interpreter_ends(folder):
    root, pairs = folder
    code = f"""
        import atexit
        from typedbytes import sequencefile
        reading = sequencefile.read({str(root / "part-00002")!r}, processes=2)
        next(reading)
        atexit.register(lambda: print(sum(1 for _ in reading)))
    """
    assert run_fresh(code) == "1499"


@pytest.mark.parametrize("decoders", ["", "decoders={'not.In.The.Files': bytes}, "])
def test_a_reading_that_is_left_when_the_interpreter_ends(folder, decoders):
    root, pairs = folder
    code = f"""
        from typedbytes import sequencefile
        reading = sequencefile.read({str(root)!r}, processes=2, {decoders}ordered=True, split_size=4000)
        print(next(reading))
    """
    assert run_fresh(code) == str(pairs[0])  # and nothing on standard error


def test_what_reads_is_processes_with_the_gil_and_threads_without_it(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(written([(1, b"1")], key_class="IntWritable", value_class="my.Own"))
    ((_, process),) = sequencefile.read(path, processes=2, decoders={"my.Own": process_of})
    assert (process == os.getpid()) == (not HAS_GIL)


def process_of(data):
    """Return the process that decodes."""
    return os.getpid()


def test_what_read_refuses(tmp_path):
    for options in ({"processes": 0}, {"split_size": 0}):
        with pytest.raises(ValueError):
            sequencefile.read(tmp_path, **options)
    assert list(sequencefile.read(tmp_path)) == list(sequencefile.read([])) == []
    (tmp_path / "empty").touch()
    with pytest.raises(tb.TruncatedError, match="empty: the file ends"):
        list(sequencefile.read(tmp_path))
    with pytest.raises(FileNotFoundError):
        list(sequencefile.read(tmp_path / "no"))
