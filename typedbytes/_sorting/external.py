r"""Sort streams of encoded records that are larger than memory: sorted runs in temporary files, and their merge.

    sort(sources, sink, memory=...)    streams of pairs or values into one sorted stream
    Spills                             runs in a folder, each with a segment for every partition; written and merged
    memory_for_records(memory)         the part of a process's memory that is left for both

Here: files, how many are open at once, and the threads that make them. Not here: the order, which the Sorter has.
Invariant: records with equal keys come out in the order in which they went in; a run that lacks something is an
error, not a shorter run.

>>> import io
>>> sink = io.BytesIO()
>>> sort([io.BytesIO(b"\x02\x01"), io.BytesIO(b"\x02\x00")], sink, nparts=1)
2
>>> sink.getvalue().hex()
'02000201'
"""

from __future__ import annotations

import io
import os
from collections import deque, namedtuple
from itertools import count

from typedbytes._base.atomic import temporary_folder
from typedbytes._sorting._native import SortedRecords, Sorter, merge
from typedbytes._sorting.compression import CODECS, CompressedWriter, DecompressedReader, find_codec

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = ["CODECS", "MAX_FILES", "Segment", "Spills", "memory_for_records", "sort"]

BUFFER_NBYTES = 1 << 16, 1 << 20  # of a file that is merged: minimum and maximum
MAX_FILES = 128  # merged at once, far from what a process may open
# a record beyond this part of a sorter's memory is large: there may be one in each sorter,
# and of each file that is merged
LARGE = 64
INTERPRETER_NBYTES = 24 << 20  # with our modules and a progress bar
THREADS_NBYTES, THREAD_NBYTES = 3 << 20, 1 << 19  # of the modules that start threads, and of each thread

# A part of a file: the records of one partition, in order. largest: bytes of the largest record, 0: not known.
Segment = namedtuple("Segment", "path start nbytes nrecords codec largest", defaults=(0,))


def sort(sources, sink, *, nparts=2, memory=1 << 28, folder=None, threads=1, **options):
    """Sort the records of all sources into one sink, and return their number.

    sources: binary files with readinto(). sink: an object with write(). nparts: 2 for pairs, 1 for values. memory:
    bytes of a process that does nothing else. folder: where temporary files go. threads: how many sort and write
    temporary files while the calling one reads. reverse, dialect, max_depth and errors as for
    `typedbytes._sorting._native.Sorter`.
    """
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    memory = memory_for_records(memory, threads)
    with temporary_folder("typedbytes-sort-", folder) as spill_folder:
        spills = Spills(os.path.join(spill_folder, ""), nparts=nparts, memory=memory, **options)
        with _Rounds(spills, threads, memory, nparts=nparts, **options) as rounds:
            for source in sources:
                while rounds.sorter.fill(source):
                    rounds.start_next()
            segments = rounds.finish()
            if not segments:
                return rounds.merge(sink)
        return spills.merge(segments, sink)


class _Rounds:
    """The rounds of a sort: fill `sorter`, and threads sort and write those that are full; a context manager.

    The sorters share the memory, one for each thread and one more. Nothing is written before all are full. With one
    thread, and from the first large record on, there is one sorter, and no other thread. Invariant: segments are in the
    order in which their records came.
    """

    def __init__(self, spills, threads, memory, **options):
        self._spills = spills
        self._nthreads = threads
        self._nsorters = threads + 1 if threads > 1 else 1
        self._memory = memory
        self._options = options
        self._pool: Any = None
        self._sorted: list = []  # full sorters that are in no file, and the futures of their counts
        self._written: deque = deque()  # full sorters, and the futures of their segments
        self._segments: list = []
        self.sorter: Any = self._new_sorter()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        try:
            self._end_threads()
        except BaseException:  # a second signal: no thread may write into a folder that is being removed
            self._end_threads()
            raise
        self.sorter = None  # no sorter keeps its memory
        self._sorted.clear()
        self._written.clear()

    def _end_threads(self):
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def start_next(self):
        """Leave the full sorter to a thread and go on with another one, which may have to be written first."""
        if self._nsorters == 1:
            self._segments += self._spills.add(self.sorter)
            return
        is_large = self.sorter.largest > max(BUFFER_NBYTES[0], self._memory // self._nsorters // LARGE)
        rest = self.sorter.take_rest()
        if is_large:
            self._finish_all()
            self._nsorters = 1
            self.sorter = None  # its memory is for the one that comes
            self.sorter = self._new_sorter()
        elif not self._written and len(self._sorted) + 1 < self._nsorters:
            self._sorted.append((self.sorter, self._submit(self.sorter.sort)))
            self.sorter = self._new_sorter()
        else:
            self._write_full()
            self.sorter = self._next_written()
        self.sorter.put_rest(*rest)

    def finish(self):
        """Return the segments of all records, none if nothing has been written."""
        if self._written:
            self._finish_all()
        elif self._segments:
            self._segments += self._spills.add(self.sorter)
        return self._segments

    def merge(self, sink):
        """Merge all records, which are in memory, into a sink, and return their number."""
        nrecords = sum(self.sorter.sort())
        if not self._sorted:
            self.sorter.write(0, sink)
            return nrecords
        nrecords += sum(sum(counts.result()) for _, counts in self._sorted)
        sorters = [*(sorter for sorter, _ in self._sorted), self.sorter]
        merge([SortedRecords(sorter, 0) for sorter in sorters], sink, buffer_size=BUFFER_NBYTES[0], **self._options)
        return nrecords

    def _new_sorter(self):
        return Sorter(memory=self._memory // self._nsorters, **self._options)

    def _submit(self, function, *args):
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(self._nthreads, thread_name_prefix="sort")
        return self._pool.submit(function, *args)

    def _write_full(self):
        for sorter, counts in self._sorted:
            self._written.append((sorter, self._submit(self._write_sorted, sorter, counts)))
        self._sorted.clear()
        self._written.append((self.sorter, self._submit(self._spills.add, self.sorter)))

    def _write_sorted(self, sorter, counts):
        return self._spills.write(sorter, counts.result())

    def _next_written(self):
        sorter, segments = self._written.popleft()
        self._segments += segments.result()
        return sorter

    def _finish_all(self):
        self._write_full()
        while self._written:
            self._next_written()


def memory_for_records(memory, threads=1):
    """Return how much of a process's memory is left for records.

    The interpreter takes 24 MiB, or half of less than 48 MiB. threads: of a sort;
    several take more, with the modules that start them, up to an eighth.

    >>> memory_for_records(512 << 20) >> 20
    488
    """
    of_threads = 0 if threads == 1 else min(THREADS_NBYTES + threads * THREAD_NBYTES, memory // 8)
    return memory - min(INTERPRETER_NBYTES, memory // 2) - of_threads


class Spills:
    """Write sorted runs to files and merge them.

    prefix: what the paths of the files begin with, and of no others. codec: the compression of the files, one of
    CODECS. memory: bytes that merging may hold. max_files: how many it may have open. Other options as for `sort`.
    """

    def __init__(
        self, prefix: str, *, codec: str = "none", memory: int = 1 << 28, max_files: int = MAX_FILES, **options: Any
    ) -> None:
        self._prefix = prefix
        self._numbers = count()  # of files
        self._codec = codec
        self._compression = find_codec(codec)  # raise for a missing library now
        self._decompressor_nbytes = 0 if self._compression is None else self._compression.nbytes
        self._memory = memory
        self._max_files = max_files
        self._options = options

    def add(self, sorter: Sorter) -> list[Segment]:
        """Sort the records of a Sorter, write them to a file and clear it; return a Segment for each partition."""
        return self.write(sorter, sorter.sort())

    def write(self, sorter: Sorter, counts: Iterable[int]) -> list[Segment]:
        """Write the records of a sorted Sorter as `add` does; counts: its records by partition."""
        largest = sorter.largest
        with self._new_file() as file:
            segments = [
                self._write_segment(file, nrecords, largest, sorter.write, partition)
                for partition, nrecords in enumerate(counts)
            ]
        sorter.clear()
        return segments

    def merge(self, segments: Iterable[Segment], sink: Any) -> int:
        """Merge segments into a sink, with equal keys in the order of the segments; return the number of records."""
        segments = [segment for segment in segments if segment.nrecords]
        buffer_nbytes = max([BUFFER_NBYTES[0], *(segment.largest for segment in segments)])  # of whole records
        max_segments = max(2, min(self._max_files, self._memory // (buffer_nbytes + self._decompressor_nbytes) - 1))
        while len(segments) > max_segments:
            segments = [
                self._merge_into_file(segments[i : i + max_segments]) for i in range(0, len(segments), max_segments)
            ]
        return self._merge_at_once(segments, sink)

    def _merge_into_file(self, segments):
        with self._new_file() as file:
            nrecords, largest = (
                sum(segment.nrecords for segment in segments),
                max(segment.largest for segment in segments),
            )
            return self._write_segment(file, nrecords, largest, self._merge_at_once, segments)

    def _merge_at_once(self, segments, sink):
        min_nbytes, max_nbytes = BUFFER_NBYTES
        buffer_size = max(min_nbytes, min(max_nbytes, self._memory // (len(segments) + 1) - self._decompressor_nbytes))
        files = []
        try:
            for segment in segments:
                files.append(_open_segment(segment))
            nrecords = merge(files, sink, buffer_size=buffer_size, **self._options)
        finally:
            for file in files:
                file.close()
        expected = sum(segment.nrecords for segment in segments)
        if nrecords != expected:
            raise OSError(
                f"{expected} records were written to temporary files in {os.path.dirname(self._prefix)}, "
                f"and {nrecords} were read back"
            )
        return nrecords

    def _new_file(self):
        return open(f"{self._prefix}{next(self._numbers)}", "xb", buffering=0)

    def _write_segment(self, file, nrecords, largest, write, source):
        start = file.tell()
        if self._compression is None:
            write(source, file)
        else:
            writer = CompressedWriter(file, self._compression.make_compressor())
            write(source, writer)
            writer.finish()
        return Segment(file.name, start, file.tell() - start, nrecords, self._codec, largest)


def _open_segment(segment):
    part = _SegmentReader(segment)
    codec = find_codec(segment.codec)
    return part if codec is None else DecompressedReader(part, codec.make_decompressor())


class _SegmentReader(io.RawIOBase):
    """Read a segment's bytes."""

    def __init__(self, segment):
        self._file = open(segment.path, "rb", buffering=0)
        self._file.seek(segment.start)
        self._left = segment.nbytes

    def readinto(self, target):
        with memoryview(target) as view:
            nbytes = self._file.readinto(view[: self._left])
        if nbytes == 0 and self._left:
            raise OSError(f"the temporary file {self._file.name} lacks {self._left} bytes")
        self._left -= nbytes
        return nbytes

    def close(self):
        self._file.close()
        super().close()
