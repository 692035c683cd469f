# Sorts encoded records as Hadoop does between map and reduce, without objects and without the GIL.
#
# Here: collecting the records of a stream, sorting them by partition and key, writing them, merging sorted
# streams. Not here: files, compression, how much memory a job has; a source is an object with readinto,
# a sink one with write. The parts:
#     order.pxi   the order itself
#     merge.pxi   many sorted streams into one
#
# Invariant: records are whole and their structure has been checked before they are moved; records with equal keys keep
# the order in which they came; memory follows what has come in.

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memmove, memset
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_RawFree
from cpython.number cimport PyNumber_Index

from typedbytes._sorting.bits cimport fetch_early, highest_bit
from typedbytes._core cimport (
    borrow, BUSY, DecodeOptions, Decoding, fill_from, HAS_FAILED, held, NEEDS_MORE, offset_of, OPEN, open_source,
    raise_skipped, ReadBuffer, refill, refuse_call, release, shrink, skip_scalars, skip_value, SkipOutcome, SKIPPED,
    Skipping, Source, start_filled, start_skipping, State, stop_skipping, write_all,
)
from typedbytes.core.byteorder cimport load_i32, load_i64
from typedbytes.core.java_hash cimport partition_of
from typedbytes.core.refs cimport PY_SSIZE_T_MAX
from typedbytes.core.threads cimport claim_state
from typedbytes.core.memory cimport enlarge
from typedbytes._sorting.pages cimport drop_pages, resize_pages
from typedbytes.core.typecode cimport *

from itertools import accumulate

from typedbytes.errors import LimitError

cdef enum:
    READ_SIZE = 1 << 20       # bytes asked for at once
    WRITE_SIZE = 1 << 20      # bytes written at once
    BATCH = 512               # values whose ends are found at once
    # Bytes of a block from which its pages may be of 2 MB; what is unused of the last one counts in little memory.
    HUGE_FROM = 4 << 20
    HUGE_FROM_IN_LITTLE = 32 << 20
    LITTLE_MEMORY = 128 << 20

# Entries count in 32 bits.
cdef Py_ssize_t MAX_ARENA_NBYTES = min(0xffff0000, PY_SSIZE_T_MAX // 2)


include "order.pxi"


cdef class SortedRecords


# ---- sorting ---------------------------------------------------------------------------------------------------------

cdef class Sorter:
    "Sorter(*, nparts=2, npartitions=1, right_offset=-1, by='key', reverse=False, memory=268435456, " \
        "dialect='hadoop', max_depth=256)\n--\n\n" \
        """Collect the encoded records of a stream and write them sorted, as many at a time as memory allows.

    nparts: 2 for pairs, sorted by their keys; 1 for values, sorted by themselves. npartitions: how many HashPartitioner
    sends the keys to; records are sorted by partition first. right_offset: as of BinaryPartitioner, the last byte that
    the partition depends on, counted from the end of a key. by: "key", or "partition" to leave the
    order within a partition as it was. reverse: the largest key first, within each partition. memory: bytes for
    records, for sorting them and for output; one larger record is accepted all the same. Options of structure as for
    `typedbytes.skip`. The order is that of the encoded bytes, unsigned, as Hadoop sorts TypedBytesWritables; records
    with equal keys stay as they came.

    Used in rounds: `fill` until memory is full or the source ends, `sort`, `write` each partition, `clear`, and again.
    Each round writes one sorted stream; `merge` merges them. Damage raises TruncatedError, FormatError or
    LimitError as PairReader(raw=True) does, with offset and record in the source; the Sorter stays failed then.

    >>> import io
    >>> sorter, sink = Sorter(npartitions=2), io.BytesIO()
    >>> sorter.fill(io.BytesIO(b"\\x02\\x01\\x02\\x00" b"\\x02\\x00\\x02\\x01"))
    False
    >>> sorter.sort()
    [1, 1]
    >>> sorter.write(0, sink), sorter.write(1, sink), sink.getvalue().hex()
    (4, 4, '0201020002000201')
    """

    # `buf` is the arena: from `start` records, from `cursor` bytes that have not been indexed
    cdef Decoding d
    cdef Skipping skipping        # how far the value at the cursor has been skipped
    cdef Arena arena
    cdef Py_ssize_t capacity      # bytes of the arena, SLACK not counted
    cdef Py_ssize_t record_start  # offset in the arena of the record that has not ended
    cdef Py_ssize_t key_end       # where the key of the same record ends in the arena; -1: it has not ended either
    cdef Entry* entries
    cdef Entry* scratch
    cdef Py_ssize_t nentries
    cdef Py_ssize_t largest_nbytes    # bytes of the largest record
    cdef Py_ssize_t entry_capacity
    cdef Py_ssize_t scratch_capacity    # number of entries that `scratch` has memory for
    cdef Py_ssize_t nbytes_touched    # bytes of the arena that have pages, whether or not this round needs them
    cdef Py_ssize_t nentries_touched
    cdef Py_ssize_t nscratch_touched
    cdef Py_ssize_t* record_counts    # by partition
    # where partitions begin among the entries, and where the last one ends; None: not sorted
    cdef list starts
    cdef uint32_t npartitions
    cdef Py_ssize_t secondary     # bytes at the end of a key that the partition does not depend on
    cdef Py_ssize_t memory
    cdef Py_ssize_t huge_from     # bytes of a block whose pages may be large
    cdef Py_ssize_t step          # bytes read at once
    cdef bint by_key
    cdef State state
    cdef object failure

    def __cinit__(self, *args, **options):
        self.key_end = -1

    def __init__(self, *, int nparts=2, Py_ssize_t npartitions=1, Py_ssize_t right_offset=-1, by="key",
                 bint reverse=False, Py_ssize_t memory=1 << 28, dialect="hadoop", max_depth=256):
        if self.record_counts != NULL:
            raise RuntimeError("a Sorter cannot be initialised again")
        if nparts not in (1, 2):
            raise ValueError(f"nparts must be 1 or 2, not {nparts}")
        if not 1 <= npartitions <= 1 << MAX_PARTITION_BITS:
            raise ValueError(f"the number of partitions must be 1 to {1 << MAX_PARTITION_BITS}, not {npartitions}")
        if right_offset >= 0:
            raise ValueError(f"right_offset must be negative, not {right_offset}")
        if by not in ("key", "partition"):
            raise ValueError(f'by must be "key" or "partition", not {by!r}')
        self.d = (<DecodeOptions>DecodeOptions(dialect=dialect, max_depth=max_depth)).template
        self.d.record_index = 0
        borrow(&self.d.buf, NULL, 0)
        stop_skipping(&self.skipping)    # of an __init__ that failed
        stop_skipping(&self.arena.measuring)
        start_skipping(&self.skipping, &self.d)
        start_skipping(&self.arena.measuring, &self.d)
        self.arena.nparts = nparts
        self.arena.hive = dialect == "hive"
        self.arena.flip = ~<uint64_t>0 if reverse else 0
        self.arena.partition_bits = 0 if npartitions == 1 else highest_bit(npartitions - 1) + 1
        self.npartitions = npartitions
        self.secondary = -(right_offset + 1)
        self.by_key = by == "key"
        # without the output buffer
        self.memory = min(memory - min(<Py_ssize_t>WRITE_SIZE, memory // 8), MAX_ARENA_NBYTES)
        self.huge_from = HUGE_FROM_IN_LITTLE if memory < LITTLE_MEMORY else HUGE_FROM
        self.step = max(64, min(<Py_ssize_t>READ_SIZE, memory // 16))
        self.record_counts = <Py_ssize_t*>enlarge(NULL, npartitions * sizeof(Py_ssize_t))
        if self.record_counts == NULL:
            raise MemoryError
        memset(self.record_counts, 0, npartitions * sizeof(Py_ssize_t))

    def __dealloc__(self):
        stop_skipping(&self.skipping)
        stop_skipping(&self.arena.measuring)
        resize_pages(self.arena.bytes, self.capacity + SLACK, 0, 0)
        resize_pages(self.entries, self.entry_capacity * sizeof(Entry), 0, 0)
        resize_pages(self.scratch, self.scratch_capacity * sizeof(Entry), 0, 0)
        PyMem_RawFree(self.record_counts)

    def __reduce__(self):
        raise TypeError("a Sorter cannot be pickled")

    cdef int enter(self, bint as_sorted) except -1:
        if not claim_state(&self.state, OPEN, BUSY):
            refuse_call(self, self.state, self.failure, "sorter")
        if self.record_counts != NULL and as_sorted == (self.starts is not None):
            return 0
        self.state = OPEN
        if self.record_counts == NULL:
            raise RuntimeError("this Sorter was never initialised")
        raise RuntimeError("call sort() before write() or clear()" if as_sorted
                           else "call clear() before the next fill() or sort()")

    cdef int fail(self, error) except -1:
        self.failure = error
        self.state = HAS_FAILED
        raise error

    # -- reading

    def fill(self, source):
        """Read records from a source, a binary file with readinto(), and return whether it may have more.

        True: memory is full; call again with the same source after `clear`. False: the source has ended, between two
        records. Another source can follow; offsets in errors count from its start.
        """
        cdef Source filler = open_source(source, True)
        cdef bint more = True
        self.enter(False)
        try:
            while more and not self.is_full():
                more = self.read_some(filler)
                self.add_entries()
            if not more:
                self.end_source()
        except BaseException as error:
            self.fail(error)
        self.state = OPEN
        return more

    cdef inline Py_ssize_t arena_nbytes(self) noexcept:
        return self.d.buf.end - self.d.buf.start

    cdef inline Py_ssize_t memory_nbytes(self) noexcept:
        return self.arena_nbytes() + 2 * sizeof(Entry) * self.nentries

    cdef Py_ssize_t next_step(self) noexcept:
        # The number of bytes that fit together with their entries, if records have the mean size of those before.
        # Without a whole record there is nothing to sort, so reading always goes on.
        if self.nentries == 0:
            return self.step
        return min(<int64_t>self.step,
                   <int64_t>max(0, self.memory - self.memory_nbytes()) * self.arena_nbytes() // self.memory_nbytes())

    cdef bint is_full(self) noexcept:
        return self.next_step() < max(1, self.step // 16)

    cdef bint read_some(self, Source source) except -1:
        cdef Py_ssize_t nbytes = self.next_step()
        self.return_pages(nbytes)
        self.reserve_arena()
        nbytes = fill_from(<void*>source, self.arena.bytes + self.arena_nbytes(),
                           min(self.capacity - self.arena_nbytes(), nbytes))
        self.d.buf.end += nbytes
        self.nbytes_touched = max(self.nbytes_touched, self.arena_nbytes())
        return nbytes > 0

    cdef void return_pages(self, Py_ssize_t step) noexcept:
        # Goal: stay within the limit when a round of large records follows one of small records, whose entries took
        # much of the memory, or the reverse. Plan: return the pages that this round does not use as soon as the
        # next step does not fit beside them. Rejected: at each `clear`; rounds of one kind would have to fault
        # the same pages in again.
        cdef Py_ssize_t nbytes = self.arena_nbytes() + step
        cdef Py_ssize_t nentries = self.nentries + (<int64_t>step * self.nentries // self.arena_nbytes()
                                                    if self.nentries else 0)
        cdef Py_ssize_t touched = max(self.nbytes_touched, nbytes)
        touched += sizeof(Entry) * (max(self.nentries_touched, nentries) + max(self.nscratch_touched, nentries))
        if touched <= max(self.memory, nbytes + 2 * <Py_ssize_t>sizeof(Entry) * nentries):
            return
        drop_pages(self.arena.bytes, self.arena_nbytes(), self.nbytes_touched)
        drop_pages(self.entries, self.nentries * sizeof(Entry), self.nentries_touched * sizeof(Entry))
        drop_pages(self.scratch, 0, self.nscratch_touched * sizeof(Entry))
        self.nbytes_touched, self.nentries_touched, self.nscratch_touched = self.arena_nbytes(), self.nentries, 0

    cdef int reserve_arena(self) except -1:
        return 0 if self.arena.bytes != NULL and self.arena_nbytes() < self.capacity else self.enlarge_arena()

    cdef int enlarge_arena(self) except -1:
        cdef Py_ssize_t capacity = self.capacity
        cdef Py_ssize_t indexed = self.d.buf.cursor - self.d.buf.start
        cdef Py_ssize_t used = self.arena_nbytes()
        cdef unsigned char* larger
        if capacity == MAX_ARENA_NBYTES:
            raise LimitError(f"a record is longer than {MAX_ARENA_NBYTES} bytes",
                             offset_of(&self.d.buf, self.d.buf.start), record=self.d.record_index)
        capacity = min(max(2 * capacity, READ_SIZE // 4), MAX_ARENA_NBYTES)
        larger = <unsigned char*>resize_pages(self.arena.bytes, self.capacity + SLACK, capacity + SLACK,
                                              self.huge_from)
        if larger == NULL:
            raise MemoryError
        self.capacity = capacity
        self.arena.bytes = larger
        self.d.buf.start = larger
        self.d.buf.cursor = larger + indexed
        self.d.buf.end = larger + used
        return 0

    cdef int add_entries(self) except -1:
        cdef SkipOutcome outcome = SKIPPED
        cdef Entry* larger
        cdef Py_ssize_t capacity
        while held(&self.d.buf) and outcome == SKIPPED:
            if self.nentries == self.entry_capacity:
                capacity = max(2 * self.entry_capacity, 4096)
                larger = <Entry*>resize_pages(self.entries, self.entry_capacity * sizeof(Entry),
                                              capacity * sizeof(Entry), self.huge_from)
                if larger == NULL:
                    raise MemoryError
                self.entries = larger
                self.entry_capacity = capacity
            with nogil:
                outcome = self.index_records()
        self.nentries_touched = max(self.nentries_touched, self.nentries)
        if outcome not in (SKIPPED, NEEDS_MORE):
            raise_skipped(&self.d, &self.skipping, outcome)
        return 0

    cdef SkipOutcome index_records(self) noexcept nogil:
        # Adds an entry for each whole record that is buffered, as far as the capacity for entries goes.
        cdef ReadBuffer* buf = &self.d.buf
        cdef const unsigned char* end
        cdef SkipOutcome outcome = SKIPPED
        cdef long long ends[BATCH + 1]
        cdef int64_t max_values, n, i
        while held(buf) and self.nentries < self.entry_capacity:
            if self.skipping.depth == 0 and self.skipping.tail == 0:
                max_values = min(<Py_ssize_t>BATCH, self.entry_capacity - self.nentries)
                n = skip_scalars(&self.skipping, buf, max_values, ends)
                ends[n] = offset_of(buf, buf.cursor)
                for i in range(n):
                    self.end_value(ends[i + 1] - buf.start_offset)
                if n == max_values or not held(buf):
                    continue
                if buf.cursor[0] == LIST and self.skipping.max_depth > 0:
                    end = after_longs(buf.cursor, buf.end)
                    if end != NULL:
                        buf.cursor = end
                        self.end_value(buf.cursor - buf.start)
                        continue
            outcome = skip_value(&self.skipping, buf)
            if outcome != SKIPPED:
                break
            self.end_value(buf.cursor - buf.start)
        return outcome

    cdef inline void end_value(self, Py_ssize_t end) noexcept nogil:
        if self.arena.nparts == 2 and self.key_end < 0:
            self.key_end = end
        else:
            self.end_record(end if self.arena.nparts == 1 else self.key_end, end)

    cdef inline void end_record(self, Py_ssize_t key_end, Py_ssize_t end) noexcept nogil:
        cdef Entry* entry = self.entries + self.nentries
        cdef const unsigned char* key = self.arena.bytes + self.record_start
        cdef Py_ssize_t nkey = key_end - self.record_start
        cdef uint32_t partition = 0 if self.npartitions == 1 \
            else partition_of(key, self.hashed_nbytes(nkey), self.npartitions)
        entry.window = partition
        if self.by_key:
            entry.window = first_window(key, nkey, self.arena.hive, partition, self.arena.partition_bits)
            entry.window ^= self.arena.flip >> self.arena.partition_bits
        entry.start = <uint32_t>self.record_start
        entry.nbytes = <uint32_t>(end - self.record_start)
        self.largest_nbytes = max(self.largest_nbytes, end - self.record_start)
        self.record_counts[partition] += 1
        self.nentries += 1
        self.d.record_index += 1
        self.record_start = end
        self.key_end = -1

    cdef inline Py_ssize_t hashed_nbytes(self, Py_ssize_t nkey) noexcept nogil:
        # As BinaryPartitioner's arithmetic has it, also where it makes no sense:
        # for a key no longer than the part that only sorts.
        if nkey > self.secondary:
            return nkey - self.secondary
        return 1 if (self.secondary + 1 - nkey) % nkey == 0 else 0

    cdef int end_source(self) except -1:
        cdef ReadBuffer* buf = &self.d.buf
        if self.record_start < buf.end - buf.start:
            outcome = skip_value(&self.skipping, buf)    # reports what is missing
            raise_skipped(&self.d, &self.skipping, outcome)
        self.d.record_index = 0
        buf.start_offset = -self.arena_nbytes()
        return 0

    # -- sorting and writing

    def sort(self):
        """Sort the records read, and return the number of records by partition."""
        self.enter(False)
        try:
            self.make_scratch()
            with nogil:
                radix_sort(&self.arena, self.entries, self.scratch, self.nentries,
                           FIRST_WINDOW if self.by_key else PY_SSIZE_T_MAX)
            counts = []
            for i in range(self.npartitions):
                counts.append(self.record_counts[i])
            self.starts = [0, *accumulate(counts)]
        except BaseException as error:
            self.fail(error)
        self.state = OPEN
        return counts

    cdef int make_scratch(self) except -1:
        cdef Entry* larger
        if self.scratch_capacity < self.nentries:
            larger = <Entry*>resize_pages(self.scratch, self.scratch_capacity * sizeof(Entry),
                                          self.nentries * sizeof(Entry), self.huge_from)
            if larger == NULL:
                raise MemoryError
            self.scratch = larger
            self.scratch_capacity = self.nentries
        self.nscratch_touched = max(self.nscratch_touched, self.nentries)
        return 0

    def write(self, uint32_t partition, sink):
        """Pass the sorted records of a partition to sink.write(), and return the number of bytes.

        A partition can be written again until `clear`.
        """
        cdef SortedRecords records = SortedRecords(self, partition)
        cdef unsigned char* out
        cdef Py_ssize_t nbytes, left, capacity
        self.enter(True)
        try:
            records.check_round()
            nbytes = left = records.nbytes()
            while left > 0:
                data = PyBytes_FromStringAndSize(NULL, min(left, <Py_ssize_t>WRITE_SIZE))
                out, capacity = <unsigned char*>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)
                with nogil:
                    records.copy(out, capacity)
                write_all(sink, data)
                left -= len(data)
        finally:
            self.state = OPEN
        return nbytes

    def clear(self):
        """Remove the sorted records; the first part of the next record is kept."""
        cdef ReadBuffer* buf = &self.d.buf
        cdef Py_ssize_t start = self.record_start
        self.enter(True)
        if start:
            memmove(self.arena.bytes, self.arena.bytes + start, self.arena_nbytes() - start)
        buf.start_offset += start
        buf.cursor -= start
        buf.end -= start
        self.key_end -= start if self.key_end >= 0 else 0
        self.record_start = 0
        self.nentries = self.largest_nbytes = 0
        memset(self.record_counts, 0, self.npartitions * sizeof(Py_ssize_t))
        self.starts = None
        self.state = OPEN

    def take_rest(self):
        """Remove the first part of the next record; return it, its offset and its index: for another's `put_rest`."""
        cdef ReadBuffer* buf = &self.d.buf
        self.enter(False)
        try:
            rest = PyBytes_FromStringAndSize(<const char*>self.arena.bytes + self.record_start,
                                             self.arena_nbytes() - self.record_start)
            offset = offset_of(buf, buf.start + self.record_start)
            buf.cursor = buf.end = buf.start + self.record_start
            self.skipping.depth = self.skipping.tail = 0
            self.key_end = -1
        finally:
            self.state = OPEN
        return rest, offset, self.d.record_index

    def put_rest(self, bytes rest not None, long long offset, long long record):
        """Go on where another Sorter is full, with what its `take_rest` returned. This one must have no records."""
        cdef ReadBuffer* buf = &self.d.buf
        cdef Py_ssize_t nbytes = PyBytes_GET_SIZE(rest)
        self.enter(False)
        try:
            if self.arena_nbytes():
                raise ValueError("a Sorter with records cannot go on where another one is full")
            if not (0 <= offset < 1 << 62 and 0 <= record < 1 << 62):
                raise ValueError(f"no source has offset {offset} and record {record}")
            while self.arena.bytes == NULL or self.capacity < nbytes:
                self.enlarge_arena()
            memcpy(self.arena.bytes, PyBytes_AS_STRING(rest), nbytes)
            buf.end = buf.start + nbytes
            buf.start_offset = offset
            self.d.record_index = record
            self.nbytes_touched = max(self.nbytes_touched, nbytes)
        finally:
            self.state = OPEN

    @property
    def record(self):
        """The number of whole records read from the source."""
        return self.d.record_index

    @property
    def offset(self):
        """The size of these records in bytes."""
        return self.d.buf.start_offset + self.record_start

    @property
    def largest(self):
        """The size of the largest whole record that is held, in bytes."""
        return self.largest_nbytes


cdef class SortedRecords:
    "SortedRecords(sorter, partition)\n--\n\n" \
        """Read the sorted records of a partition, as a binary file with readinto(), until the sorter's next `clear`.

    >>> import io
    >>> sorter, target = Sorter(nparts=1), bytearray(9)
    >>> sorter.fill(io.BytesIO(b"\\x02\\x01" b"\\x02\\x00")), sorter.sort()
    (False, [2])
    >>> SortedRecords(sorter, 0).readinto(target), target.hex()
    (4, '020002010000000000')
    """

    cdef Sorter sorter
    cdef list starts          # of the sorter's round that the records are from
    cdef Py_ssize_t entry     # the next one
    cdef Py_ssize_t copied    # bytes of it that were copied before
    cdef Py_ssize_t end

    def __cinit__(self, Sorter sorter not None, uint32_t partition):
        sorter.enter(True)
        try:
            if partition >= sorter.npartitions:
                raise ValueError(f"partition must be less than {sorter.npartitions}, not {partition}")
            self.sorter = sorter
            self.starts = sorter.starts
            self.entry, self.end = sorter.starts[partition], sorter.starts[partition + 1]
        finally:
            sorter.state = OPEN

    def __reduce__(self):
        raise TypeError("sorted records cannot be pickled")

    def readinto(self, target):
        """Fill the front of a buffer; return the number of bytes."""
        cdef Py_buffer view
        cdef Py_ssize_t nbytes
        PyObject_GetBuffer(target, &view, PyBUF_WRITABLE)
        try:
            self.sorter.enter(True)
            try:
                self.check_round()
                with nogil:
                    nbytes = self.copy(<unsigned char*>view.buf, view.len)
            finally:
                self.sorter.state = OPEN
        finally:
            PyBuffer_Release(&view)
        return nbytes

    cdef int check_round(self) except -1:
        if self.starts is not self.sorter.starts:
            raise RuntimeError("the sorter has been cleared")
        return 0

    cdef Py_ssize_t nbytes(self) noexcept:
        # Of the records from the next one on.
        cdef Py_ssize_t i, total = 0
        for i in range(self.entry, self.end):
            total += self.sorter.entries[i].nbytes
        return total

    cdef Py_ssize_t copy(self, unsigned char* out, Py_ssize_t capacity) noexcept nogil:
        # Returns the number of bytes; less than `capacity` only at the end.
        cdef const unsigned char* records = self.sorter.arena.bytes
        cdef Entry* e = self.sorter.entries
        cdef Py_ssize_t i = self.entry, copied = self.copied, done = 0, nbytes
        while done < capacity and i < self.end:
            if i + 16 < self.end:
                fetch_early(records + e[i + 16].start)
            nbytes = min(capacity - done, e[i].nbytes - copied)
            memcpy(out + done, records + e[i].start + copied, nbytes)
            done += nbytes
            copied += nbytes
            if copied == e[i].nbytes:
                i += 1
                copied = 0
        self.entry, self.copied = i, copied
        return done


include "merge.pxi"
