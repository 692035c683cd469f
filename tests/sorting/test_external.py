"""The order of encoded records: what sorted() gives for their bytes, whatever way they are sorted and merged.

That Hadoop has the same order and the same partitions is tested in local/test_beside_hadoop.py.
"""

import io
import math
import pickle
import random
import sys
import threading

import numpy
import pytest
from hypothesis import given, strategies as st

import typedbytes as tb
from support import reference
from support.sort_pairs import made_pairs
from support.strategies import values
from support.subprocess_runs import in_threads, run_fresh
from typedbytes import sortkey
from typedbytes._sorting import external
from typedbytes._sorting._native import SortedRecords, Sorter, merge

pytestmark = pytest.mark.lowest


class Dribble(io.RawIOBase):
    """Give a few bytes at a time."""

    def __init__(self, data, rng):
        self._rest, self._chance = data, rng

    def readinto(self, target):
        nbytes = min(len(target), len(self._rest), self._chance.randrange(1, 40))
        target[:nbytes], self._rest = self._rest[:nbytes], self._rest[nbytes:]
        return nbytes


def joined(pairs):
    return b"".join(key + value for key, value in pairs)


def sorted_by(sorter, data, npartitions=1):
    """Return what a Sorter makes of data, all partitions in turn, and their counts."""
    assert sorter.fill(io.BytesIO(data)) is False
    counts = sorter.sort()
    sink = io.BytesIO()
    nbytes = [sorter.write(partition, sink) for partition in range(npartitions)]
    assert sum(nbytes) == len(data)
    return sink.getvalue(), counts


@pytest.mark.parametrize("npartitions", [1, 2, 7, 256, 65536])
@pytest.mark.parametrize("npairs", [0, 1, 2, 17, 5000])
def test_pairs_are_sorted_by_partition_then_key_and_stay_in_order(npairs, npartitions):
    pairs = made_pairs(random.Random(npairs), npairs)
    data, counts = sorted_by(Sorter(npartitions=npartitions), joined(pairs), npartitions)
    partitions = [reference.partition(key, npartitions) for key, _ in pairs]
    assert data == joined(pair for _, pair in sorted(zip(partitions, pairs), key=lambda each: (each[0], each[1][0])))
    assert (
        counts == [partitions.count(number) for number in range(npartitions)]
        if npartitions < 1000
        else sum(counts) == npairs
    )


@pytest.mark.parametrize("npartitions", [1, 7, 65536])
@pytest.mark.parametrize("npairs", [0, 2, 17, 5000])
def test_reverse_turns_the_keys_around_and_nothing_else(npairs, npartitions):
    pairs = made_pairs(random.Random(npairs), npairs)
    data, _ = sorted_by(Sorter(npartitions=npartitions, reverse=True), joined(pairs), npartitions)
    by_key = sorted(pairs, key=lambda pair: pair[0], reverse=True)  # equal keys stay as they came
    assert data == joined(sorted(by_key, key=lambda pair: reference.partition(pair[0], npartitions)))


def test_reverse_with_temporary_files(tmp_path):
    pairs = made_pairs(random.Random(8), 20_000)
    halves = [io.BytesIO(joined(each)) for each in (pairs[:9000], pairs[9000:])]
    sink = io.BytesIO()
    assert external.sort(halves, sink, memory=1 << 18, folder=str(tmp_path), reverse=True) == len(pairs)
    assert sink.getvalue() == joined(sorted(pairs, key=lambda pair: pair[0], reverse=True))


@pytest.mark.parametrize("secondary", [1, 5, 6, 7, 11, 12, 40])
def test_the_end_of_a_key_chooses_no_partition(secondary):
    # BinaryPartitioner: the hash of the bytes up to (rightOffset + length) % length, with the remainder of Java
    pairs = made_pairs(random.Random(6), 500)
    ends = [1 + int(math.fmod(len(key) - secondary - 1, len(key))) for key, _ in pairs]
    partitions = [reference.partition(key[: max(end, 0)], 7) for (key, _), end in zip(pairs, ends)]
    data, counts = sorted_by(Sorter(npartitions=7, right_offset=-secondary - 1), joined(pairs), 7)
    assert counts == [partitions.count(number) for number in range(7)]
    assert data == joined(pair for _, pair in sorted(zip(partitions, pairs), key=lambda each: (each[0], each[1][0])))


def test_by_partition_keeps_the_order_within():
    pairs = made_pairs(random.Random(5), 1000)
    data, _ = sorted_by(Sorter(npartitions=7, by="partition"), joined(pairs), 7)
    assert data == joined(sorted(pairs, key=lambda pair: reference.partition(pair[0], 7)))


@given(st.lists(values))
def test_values_of_every_kind_are_sorted(objects):
    encoded = [tb.dumps(each) for each in objects]
    assert sorted_by(Sorter(nparts=1), b"".join(encoded))[0] == b"".join(sorted(encoded))


def test_codes_of_hive_are_sorted():
    short, null, end = b"\x0b\x01\x02", b"\x0c", b"\xb1"
    encoded = [end, null, short, b"\xc8\0\0\0\0", b"\x0b\x01\x01", b"\xb0\0\0\0\x01a", b"\x03\0\0\0\x01"] * 5
    assert sorted_by(Sorter(nparts=1, dialect="hive"), b"".join(encoded))[0] == b"".join(sorted(encoded))


def test_keys_alike_for_long_take_no_longer_for_it():
    # each differs from the next only at its end; comparing windows of eight bytes in turn would
    # go over all of them again
    encoded = [tb.dumps(b"k" * 20_000 + number.to_bytes(4, "big")) for number in range(400)]
    encoded += [tb.dumps("k" * number) for number in range(300, 900)] + [
        tb.dumps([0] * number) for number in range(200)
    ]
    shuffled = random.Random(1).sample(encoded, len(encoded))
    assert sorted_by(Sorter(nparts=1), b"".join(shuffled))[0] == b"".join(sorted(encoded))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("ncopies", [1, 2, 13, 40])
def test_keys_that_begin_alike_are_sorted_and_equal_ones_stay_in_order(ncopies, reverse):
    # few of them are sorted otherwise than many
    rng = random.Random(ncopies)
    alike = [sortkey.encode((number, 1 << 60, number % 3)) for number in range(12)]
    alike += [[1 << 57] * number for number in range(6)] + [[1 << 57, "a"], [1 << 57, 1 << 57, None], [[1 << 57]], []]
    alike += ["prefix" * 5 + "x" * number for number in range(12)] + [b"prefix" * number for number in range(4)]
    pairs = [(tb.dumps(key), tb.dumps(rng.random())) for key in alike for _ in range(ncopies)]
    rng.shuffle(pairs)
    in_order = joined(sorted(pairs, key=lambda pair: pair[0], reverse=reverse))
    assert sorted_by(Sorter(reverse=reverse), joined(pairs))[0] == in_order
    sorter = Sorter(reverse=reverse)
    assert sorter.fill(Dribble(joined(pairs), rng)) is False
    sorter.sort()
    sink = io.BytesIO()
    sorter.write(0, sink)
    assert sink.getvalue() == in_order


# -- larger than memory -----------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("memory", [4000, 50_000, 1 << 24])
def test_sorting_with_little_memory_gives_the_same(memory, threads, tmp_path):
    rng = random.Random(memory)
    pairs = made_pairs(rng, 1000)
    half = len(pairs) // 2
    sink = io.BytesIO()
    sources = [Dribble(joined(pairs[:half]), rng), io.BytesIO(), io.BytesIO(joined(pairs[half:]))]
    assert external.sort(sources, sink, memory=memory, threads=threads, folder=tmp_path) == len(pairs)
    assert sink.getvalue() == joined(sorted(pairs, key=lambda pair: pair[0]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("codec", external.CODECS)
@pytest.mark.parametrize("memory", [4000, 50_000, 1 << 24])
def test_runs_in_files_of_every_codec_are_merged(memory, codec, tmp_path):
    pairs = made_pairs(random.Random(memory), 1000)
    source, sink = io.BytesIO(joined(pairs)), io.BytesIO()
    sorter, spills = Sorter(memory=memory), external.Spills(f"{tmp_path}/", codec=codec, memory=memory)
    segments, more = [], True
    while more:
        more = sorter.fill(source)
        segments += spills.add(sorter)
    assert spills.merge(segments, sink) == len(pairs)
    assert sink.getvalue() == joined(sorted(pairs, key=lambda pair: pair[0]))


class Looking(io.BytesIO):
    """A sink that notes whether a folder has files."""

    def __init__(self, folder):
        super().__init__()
        self.folder, self.found_files = folder, False

    def write(self, data):
        self.found_files = self.found_files or any(each.is_file() for each in self.folder.rglob("*"))
        return super().write(data)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("reverse", [False, True])
def test_what_fits_into_the_memory_of_all_threads_goes_to_no_file(threads, reverse, tmp_path):
    pairs = made_pairs(random.Random(3), 5000, nkeys=300)
    by_key = joined(sorted(pairs, key=lambda pair: pair[0], reverse=reverse))
    nbytes = len(by_key) + 32 * len(pairs)  # of records and of what sorts them
    went_to_files = []
    for part in (6, 2, 0.8, 0.5):
        sink = Looking(tmp_path)
        memory = 2 * round(part * nbytes)  # the interpreter takes half, and threads an eighth
        assert external.sort(
            [io.BytesIO(joined(pairs))], sink, memory=memory, threads=threads, folder=tmp_path, reverse=reverse
        ) == len(pairs)
        assert sink.getvalue() == by_key
        went_to_files.append(sink.found_files)
    assert went_to_files == [False, False, True, True]


@pytest.mark.parametrize("threads", [2, 4])
def test_an_error_in_a_thread_that_sorts_comes_out(threads, tmp_path):
    class Removing(Dribble):
        def readinto(self, target):
            for folder in tmp_path.iterdir():
                folder.rmdir()
            return super().readinto(target)

    before = threading.active_count()
    pairs = joined(made_pairs(random.Random(4), 5000))
    with pytest.raises(FileNotFoundError):
        external.sort(
            [Removing(pairs, random.Random(5))], io.BytesIO(), memory=40_000, threads=threads, folder=tmp_path
        )
    assert threading.active_count() == before
    with pytest.raises(tb.TruncatedError) as info:
        external.sort([io.BytesIO(pairs[:-1])], io.BytesIO(), memory=40_000, threads=threads, folder=tmp_path)
    assert info.value.record == 4999
    assert threading.active_count() == before and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("nbytes", [1, 7, 64, 5000, 1 << 20])
def test_sorted_records_are_read_as_they_are_written(nbytes):
    pairs = made_pairs(random.Random(nbytes), 300)
    sorter = Sorter(npartitions=3)
    sorter.fill(io.BytesIO(joined(pairs)))
    with pytest.raises(RuntimeError, match=r"call sort\(\) before"):
        SortedRecords(sorter, 0)
    sorter.sort()
    for partition in range(3):
        sink, target, found = io.BytesIO(), bytearray(nbytes), b""
        sorter.write(partition, sink)
        records = SortedRecords(sorter, partition)
        while n := records.readinto(target):
            found += target[:n]
        assert found == sink.getvalue() and records.readinto(target) == 0
    with pytest.raises(ValueError, match="partition must be less than 3"):
        SortedRecords(sorter, 3)
    for wrong in (None, sorted, object()):
        with pytest.raises(TypeError):
            SortedRecords(wrong, 0)
    with pytest.raises(TypeError):
        SortedRecords.__new__(SortedRecords)
    with pytest.raises((TypeError, BufferError)):
        records.readinto(b"only read")
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(records)
    records = SortedRecords(sorter, 0)
    sorter.clear()
    with pytest.raises(RuntimeError, match=r"call sort\(\) before"):
        records.readinto(target)
    sorter.sort()
    with pytest.raises(RuntimeError, match="cleared"):
        records.readinto(target)


def test_a_record_larger_than_memory_is_sorted_too():
    pairs = [
        (tb.dumps("b" * 300_000), tb.dumps(1)),
        (tb.dumps("a"), tb.dumps("v" * 500_000)),
        (tb.dumps("a"), tb.dumps(2)),
    ]
    sink = io.BytesIO()
    assert external.sort([io.BytesIO(joined(pairs))], sink, memory=5000) == 3
    assert sink.getvalue() == joined(sorted(pairs, key=lambda pair: pair[0]))


@pytest.mark.parametrize("nruns", [0, 1, 2, 3, 8, 33])
@pytest.mark.parametrize("buffer_size", [64, 1 << 18])
def test_merging_is_stable(nruns, buffer_size):
    rng = random.Random(nruns)
    pairs = made_pairs(rng, 2000, nkeys=10) if nruns else []
    cuts = [0, *sorted(rng.randrange(len(pairs) + 1) for _ in range(nruns - 1)), len(pairs)]
    runs = [sorted(pairs[start:end], key=lambda pair: pair[0]) for start, end in zip(cuts, cuts[1:])]
    sink = io.BytesIO()
    sources = [
        Dribble(joined(run), rng) if number % 2 else io.BytesIO(joined(run)) for number, run in enumerate(runs[:nruns])
    ]
    assert merge(sources, sink, buffer_size=buffer_size) == len(pairs)
    assert sink.getvalue() == joined(sorted(pairs, key=lambda pair: pair[0]))


def test_a_temporary_file_that_lost_its_end_is_an_error(tmp_path):
    pairs = made_pairs(random.Random(2), 100)
    for codec in external.CODECS:
        spills, sorter = external.Spills(f"{tmp_path}/{codec}-", codec=codec), Sorter()
        sorter.fill(io.BytesIO(joined(pairs)))
        (segment,) = spills.add(sorter)
        with open(segment.path, "r+b") as file:
            file.truncate(segment.nbytes - len(joined(pairs[-1:])) if codec == "none" else segment.nbytes // 2)
        with pytest.raises(OSError, match="temporary file"):
            spills.merge([segment], io.BytesIO())


def test_records_that_did_not_come_back_are_an_error(tmp_path):
    spills, sorter = external.Spills(f"{tmp_path}/"), Sorter()
    sorter.fill(io.BytesIO(joined(made_pairs(random.Random(2), 100))))
    (segment,) = spills.add(sorter)
    with pytest.raises(OSError, match="101 records"):
        spills.merge([segment._replace(nrecords=101)], io.BytesIO())


@pytest.mark.uncounted("needs an optimised build")
@pytest.mark.unsanitized("it keeps what was freed")
@pytest.mark.parametrize("kinds", ["tiny", "words", "tiny large", "large tiny"])
def test_memory_follows_the_limit_whatever_the_records_are(kinds):
    # of tiny records most of the memory is for what sorts them, of large ones none:
    # what one turn needed the next one must not keep
    code = f"""
        import io
        from support.process_memory import resident
        from typedbytes._sorting._native import Sorter
        RECORDS = {{"tiny": b"\\2\\0\\2\\1" * 1024, "words": (b"\\7\\0\\0\\0\\4word\\3\\0\\0\\0\\1") * 256}}
        RECORDS["large"] = b"\\2\\1\\0\\0\\1\\0\\0" + bytes(65536)
        class Many(io.RawIOBase):
            def __init__(self, kinds):
                self.parts = (RECORDS[kind] for kind in kinds for _ in range((40 << 20) // len(RECORDS[kind])))
                self.rest, self.n = b"", 0
            def readinto(self, target):
                if not self.rest:
                    self.rest = next(self.parts, b"")
                    self.n += len(self.rest)
                nbytes = min(len(target), len(self.rest))
                target[:nbytes], self.rest = self.rest[:nbytes], self.rest[nbytes:]
                return nbytes
        class Count:
            n = 0
            def write(self, data):
                self.n += len(data)
                return len(data)
        before, source, sink, sorter = resident("VmHWM"), Many({kinds.split()}), Count(), Sorter(memory=16 << 20)
        more = True
        while more:
            more = sorter.fill(source)
            sorter.sort()
            sorter.write(0, sink)
            sorter.clear()
        grown = resident("VmHWM") - before
        print(sink.n == source.n > 39 << 20, grown < 18 << 20 or grown)
    """
    assert run_fresh(code) == "True True"


def words_in_a_file(path):
    """Write 4,000,000 records of words."""
    pairs = [b"\7\0\0\0\4%04d\3\0\0\0\1" % (number * 7919 % 10000) for number in range(10000)]
    path.write_bytes(b"".join(pairs) * 400)
    return path


@pytest.mark.uncounted("needs an optimised build")
@pytest.mark.unsanitized("it keeps what was freed")
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_a_process_that_sorts_stays_within_the_limit(threads, tmp_path):
    code = """
        import sys
        from support.process_memory import resident
        from typedbytes._sorting import external
        with open(sys.argv[1], "rb", buffering=0) as source, open(sys.argv[2], "wb", buffering=0) as sink:
            nrecords = external.sort([source], sink, memory=48 << 20, folder=sys.argv[3], threads=int(sys.argv[4]))
        peak = resident("VmHWM")
        print(nrecords, peak <= 48 << 20 or peak)
    """
    assert (
        run_fresh(code, words_in_a_file(tmp_path / "in.tb"), tmp_path / "out.tb", tmp_path, threads) == "4000000 True"
    )


@pytest.mark.uncounted("needs an optimised build")
@pytest.mark.unsanitized("it keeps what was freed")
@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_a_process_that_merges_stays_within_the_limit_whatever_the_codec(codec, tmp_path):
    code = """
        import sys
        from support.process_memory import resident
        from typedbytes._sorting import external
        from typedbytes._sorting._native import Sorter
        memory = external.memory_for_records(48 << 20)
        spills, sorter = external.Spills(sys.argv[3] + "/", codec=sys.argv[4], memory=memory), Sorter(memory=memory)
        segments, more = [], True
        with open(sys.argv[1], "rb", buffering=0) as source, open(sys.argv[2], "wb", buffering=0) as sink:
            while more:
                more = sorter.fill(source)
                segments += spills.add(sorter)
            del sorter
            nrecords = spills.merge(segments, sink)
        peak = resident("VmHWM")
        print(len(segments) > 1, nrecords, peak <= 48 << 20 or peak)
    """
    assert (
        run_fresh(code, words_in_a_file(tmp_path / "in.tb"), tmp_path / "out.tb", tmp_path, codec)
        == "True 4000000 True"
    )


@pytest.mark.unsanitized("it keeps what was freed")
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("nbytes", [100_000, 3 << 20, 20 << 20])
def test_large_records_of_several_threads_stay_within_the_limit_too(threads, nbytes, tmp_path):
    code = """
        import io, random, sys
        from support.process_memory import resident
        from typedbytes._sorting import external
        nbytes, limit = int(sys.argv[1]), 96 << 20
        numbers = random.Random(1).sample(range(240 * 2**20 // nbytes), 240 * 2**20 // nbytes)
        def parts():
            for number in numbers:
                yield b"\\2%c\\0" % (number % 256) + nbytes.to_bytes(4, "big")
                chunk = number.to_bytes(4, "big") * (1 << 14)
                for start in range(0, nbytes, len(chunk)):
                    yield chunk[: nbytes - start]
        class Records(io.RawIOBase):
            parts, rest = parts(), b""
            def readinto(self, target):
                self.rest = self.rest or next(self.parts, b"")
                n = min(len(target), len(self.rest))
                target[:n], self.rest = self.rest[:n], self.rest[n:]
                return n
        class Count:
            nbytes = 0
            def write(self, data):
                self.nbytes += len(data)
                return len(data)
        sink = Count()
        n = external.sort([Records()], sink, memory=limit, folder=sys.argv[2], threads=int(sys.argv[3]))
        peak = resident("VmHWM")
        print(n == len(numbers), sink.nbytes == n * (nbytes + 7), peak <= limit + 2 * nbytes or peak >> 20)
    """
    assert run_fresh(code, nbytes // 4 * 4, tmp_path, threads) == "True True True"


def test_one_thread_sorts_where_no_other_can_be_started(tmp_path, monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    pairs = made_pairs(random.Random(5), 5000)
    sink = io.BytesIO()
    assert external.sort([io.BytesIO(joined(pairs))], sink, memory=40_000, folder=tmp_path) == len(pairs)
    assert sink.getvalue() == joined(sorted(pairs, key=lambda pair: pair[0]))
    with pytest.raises(RuntimeError, match="new thread"):
        external.sort([io.BytesIO(joined(pairs))], sink, memory=40_000, folder=tmp_path, threads=2)
    with pytest.raises(ValueError, match="threads must be at least 1, not 0"):
        external.sort([], sink, threads=0)


def test_sorters_that_take_over_from_one_another_lose_nothing():
    rng = random.Random(9)
    pairs = made_pairs(rng, 300)
    for _ in range(100):
        source, full, sorter = io.BytesIO(joined(pairs)), [], Sorter(memory=rng.randrange(64, 9000))
        while sorter.fill(source):
            following = Sorter(memory=rng.randrange(64, 9000))
            following.put_rest(*sorter.take_rest())
            assert sorter.take_rest()[0] == b"" and following.offset == sorter.offset
            full.append(sorter)
            sorter = following
        runs = []
        for each in [*full, sorter]:
            each.sort()
            runs.append(io.BytesIO())
            each.write(0, runs[-1])
            runs[-1].seek(0)
        sink = io.BytesIO()
        assert merge(runs, sink) == len(pairs)
        assert sink.getvalue() == joined(sorted(pairs, key=lambda pair: pair[0]))


def test_a_sorter_that_cannot_take_over_stays_empty():
    code = """
        import resource
        from typedbytes._sorting._native import Sorter
        sorter, rest = Sorter(), bytes(400 << 20)
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (300 << 20), resource.RLIM_INFINITY))
        try:
            sorter.put_rest(rest, 0, 0)
        except MemoryError:
            print(sorter.take_rest(), sorter.largest)
    """
    assert run_fresh(code) == "(b'', 0, 0) 0"
    sorter = Sorter()
    for offset, record in ((-1, 0), (0, -1), (1 << 62, 0), (0, 1 << 62)):
        with pytest.raises(ValueError, match="no source has"):
            sorter.put_rest(b"", offset, record)
    with pytest.raises(TypeError):
        sorter.put_rest(None, 0, 0)
    sorter.put_rest(b"\2", 5, 1)
    with pytest.raises(ValueError, match="with records"):
        sorter.put_rest(b"", 0, 0)
    assert (sorter.offset, sorter.record) == (5, 1)
    sorter.fill(io.BytesIO(b"\1\2\0"))
    assert sorter.record == 0 and sorter.largest == 4 and sorter.sort() == [1]


@pytest.mark.unsanitized("it cannot run where memory is limited")
def test_memory_that_cannot_be_had_is_an_error_wherever_it_is_wanted():
    # 2 million tiny records want the most for their entries, and as much again to be sorted.
    code = """
        import io, resource
        from typedbytes._sorting._native import Sorter
        data = b"".join(b"\\2%c\\2\\1" % (number % 251) for number in range(251)) * 8000
        def address_space():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[0]) * resource.getpagesize()
        def sort(nbytes):
            sorter, sink = Sorter(memory=1 << 30), io.BytesIO()
            limit = address_space() + nbytes if nbytes else resource.RLIM_INFINITY
            resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
            try:
                sorter.fill(io.BytesIO(data))
                sorter.sort()
                return "sorted"
            except MemoryError:
                return "refused"
            finally:
                resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        found = [sort(nbytes << 20) for nbytes in (1, 6, 12, 24, 48, 72, 96, 120, 144, 0)]
        print(found.index("sorted") >= 5, found == sorted(found))
    """
    assert run_fresh(code) == "True True"


def test_a_codec_without_its_library_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cramjam", None)
    with pytest.raises(ModuleNotFoundError, match=r"the codec lz4 needs a library: pip install 'typedbytes\[lz4\]'"):
        external.Spills(f"{tmp_path}/", codec="lz4")


# -- what is wrong ----------------------------------------------------------------------------------------


def outcome(function):
    try:
        return function()
    except tb.DecodeError as error:
        return type(error), str(error), error.offset, error.code, error.record


def count_by_sorter(source, memory):
    sorter, nrecords = Sorter(memory=memory), 0
    while sorter.fill(source):
        nrecords += sum(sorter.sort())
        sorter.clear()
    return nrecords + sum(sorter.sort())


def test_damage_is_reported_as_a_reader_reports_it():
    rng = random.Random(8)
    good = tb.Encoder().encode_pairs(
        [(i, [1, "a", {"k": (1, 2.5)}]) for i in range(9)] + [("x" * i, b"y" * i) for i in range(9)]
    )
    for _ in range(150):
        bad = bytearray(good)
        offset = rng.randrange(len(bad))
        what = rng.choice(["cut", "change", "flip", "insert"])
        if what == "cut":
            del bad[offset:]
        elif what == "insert":
            bad.insert(offset, rng.choice([255, 9, 8, 10, 0, 7]))
        else:
            bad[offset] = rng.randrange(256) if what == "change" else bad[offset] ^ 1 << rng.randrange(8)
        bad = bytes(bad)
        expected = outcome(lambda: len(list(tb.PairReader(bad, raw=True))))
        assert outcome(lambda: count_by_sorter(io.BytesIO(bad), 1 << 20)) == expected
        assert outcome(lambda: count_by_sorter(Dribble(bad, rng), 400)) == expected
        assert outcome(lambda: merge([io.BytesIO(bad)], io.BytesIO())) == expected


def test_offsets_count_from_the_start_of_each_source():
    sorter = Sorter()
    sorter.fill(Dribble(b"\2\1\2\1" * 20, random.Random(1)))
    assert (sorter.record, sorter.offset) == (0, 0)  # of the source that comes
    with pytest.raises(tb.FormatError) as raised:
        sorter.fill(io.BytesIO(b"\2\1\2\1\2\0\xff"))
    assert (raised.value.offset, raised.value.record) == (6, 1) and (sorter.record, sorter.offset) == (1, 4)
    for use in (sorter.sort, lambda: sorter.fill(io.BytesIO())):
        with pytest.raises(tb.FormatError):
            use()


def test_depth_is_limited():
    with pytest.raises(tb.LimitError):
        Sorter(nparts=1, max_depth=2).fill(io.BytesIO(b"\x09\x09\x09"))
    with pytest.raises(tb.LimitError):
        Sorter(nparts=1, max_depth=0).fill(io.BytesIO(b"\x09\x04" + bytes(8) + b"\xff"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"nparts": 3},
        {"npartitions": 0},
        {"npartitions": 65537},
        {"right_offset": 0},
        {"by": "value"},
        {"dialect": "pig"},
    ],
)
def test_wrong_options_are_refused(wrong):
    with pytest.raises(ValueError, match="."):
        Sorter(**wrong)


@pytest.mark.parametrize("wrong", [{"nparts": 0}, {"buffer_size": 0}, {"dialect": "pig"}])
def test_wrong_options_of_a_merge_are_refused(wrong):
    with pytest.raises(ValueError, match="."):
        merge([], io.BytesIO(), **wrong)


def test_a_sorter_is_made_once():
    with pytest.raises(RuntimeError, match="initialised again"):
        Sorter().__init__()
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(Sorter())
    with pytest.raises(RuntimeError, match="never initialised"):
        Sorter.__new__(Sorter).sort()


def test_steps_out_of_turn_are_refused():
    sorter = Sorter(npartitions=2)
    for early in (lambda: sorter.write(0, io.BytesIO()), sorter.clear):
        with pytest.raises(RuntimeError, match="sort"):
            early()
    sorter.fill(io.BytesIO(b"\2\1\2\1"))
    sorter.sort()
    for late in (sorter.sort, lambda: sorter.fill(io.BytesIO())):
        with pytest.raises(RuntimeError, match="clear"):
            late()
    with pytest.raises(ValueError, match="partition must be less than 2, not 2"):
        sorter.write(2, io.BytesIO())
    sorter.clear()
    assert sorter.sort() == [0, 0]


class Lying:
    """Answer readinto and write with anything."""

    def __init__(self, answer):
        self.answer = answer

    def readinto(self, target):
        return self.answer

    write = readinto


class RawLying(Lying, io.RawIOBase):
    pass


@pytest.mark.parametrize(
    "answer, error",
    [
        (-1, ValueError),
        (10**9, ValueError),
        (2**70, ValueError),
        ("3", TypeError),
        (1.0, TypeError),
        (None, BlockingIOError),
    ],
)
def test_a_source_that_lies_is_not_believed(answer, error):
    with pytest.raises(error):
        Sorter().fill(Lying(answer))


@pytest.mark.parametrize(
    "answer, error",
    [(-1, OSError), (0, OSError), (10**9, OSError), (2**70, OSError), ("3", TypeError), (None, BlockingIOError)],
)
def test_a_sink_that_lies_is_not_believed(answer, error):
    sorter = Sorter()
    sorter.fill(io.BytesIO(b"\2\1\2\1"))
    sorter.sort()
    with pytest.raises(error):
        sorter.write(0, RawLying(answer))


@pytest.mark.parametrize("source", [io.StringIO(), b"bytes", None])
def test_what_cannot_be_read_is_refused(source):
    with pytest.raises(TypeError, match="binary file"):
        Sorter().fill(source)


def test_a_sorter_in_use_refuses_another():
    class Nosy(io.RawIOBase):
        def readinto(self, target):
            sorter.fill(io.BytesIO())

    sorter = Sorter()
    with pytest.raises(RuntimeError, match="in use"):
        sorter.fill(Nosy())


def test_threads_sort_side_by_side():
    data = joined(made_pairs(random.Random(3), 3000))
    expected, _ = sorted_by(Sorter(), data)
    results = []
    in_threads(lambda: results.append(sorted_by(Sorter(), data)[0]), [()] * 4)
    assert results == [expected] * 4


def test_a_number_of_partitions_of_numpy_is_a_number():
    data = tb.Encoder().encode_pairs((number, 0) for number in range(3000))
    sorter = Sorter(npartitions=numpy.uint8(200))
    sorter.fill(io.BytesIO(data))
    assert sum(sorter.sort()) == 3000
