# Merges sorted streams: a tournament tree over the first record of each stream.
#
# The order is that of order.pxi; of equal keys that of the earlier stream goes first, so the merge is stable. A stream
# whose next record has the same key needs no new tournament: it has just won against all others with that key.

cdef struct Run:
    ReadBuffer buf            # the first record is at the cursor
    uint64_t window           # first window of the record's key
    Py_ssize_t nkey
    Py_ssize_t nbytes         # bytes of the record
    long long record_index    # the record's number in the stream
    bint over                 # the stream has no more records


cdef class Merging:
    cdef Run* runs
    cdef Py_ssize_t nruns
    # winners: of all at 1, of the children of node i at i, the runs themselves from nruns on
    cdef Py_ssize_t* tree
    cdef list sources             # holds the sources, which the runs borrow
    cdef Decoding d
    cdef Skipping skipping
    cdef Py_ssize_t copied        # bytes of the winner that have been written
    cdef long long nrecords
    cdef int nparts
    cdef bint hive
    cdef uint64_t flip            # all bits set for descending order, as in an Arena

    def __cinit__(self, sources, Py_ssize_t buffer_size, int nparts, bint reverse, dialect, max_depth):
        cdef Py_ssize_t i
        if nparts not in (1, 2):
            raise ValueError(f"nparts must be 1 or 2, not {nparts}")
        if buffer_size < 1:
            raise ValueError(f"buffer_size must be at least 1, not {buffer_size}")
        self.d = (<DecodeOptions>DecodeOptions(dialect=dialect, max_depth=max_depth)).template
        self.sources = []
        for source in sources:
            self.sources.append(open_source(source, True))
        self.nparts = nparts
        self.hive = dialect == "hive"
        self.flip = ~<uint64_t>0 if reverse else 0
        start_skipping(&self.skipping, &self.d)
        self.runs = <Run*>enlarge(NULL, max(1, len(self.sources)) * sizeof(Run))
        self.tree = <Py_ssize_t*>enlarge(NULL, 2 * max(1, len(self.sources)) * sizeof(Py_ssize_t))
        if self.runs == NULL or self.tree == NULL:
            raise MemoryError
        for i, source in enumerate(self.sources):
            start_filled(&self.runs[i].buf, max(buffer_size, 64), fill_from, <void*>source)
            self.runs[i].buf.read_ahead = True
            self.runs[i].record_index = 0
            self.runs[i].over = False
            self.nruns += 1

    def __dealloc__(self):
        for i in range(self.nruns):
            release(&self.runs[i].buf)
        PyMem_RawFree(self.runs)
        PyMem_RawFree(self.tree)
        stop_skipping(&self.skipping)

    cdef int start(self) except -1:
        cdef Py_ssize_t i
        for i in range(self.nruns):
            self.load(&self.runs[i])
            self.tree[self.nruns + i] = i
        for i in range(self.nruns - 1, 0, -1):
            self.tree[i] = self.winner_of(self.tree[2 * i], self.tree[2 * i + 1])
        return 0

    cdef int load(self, Run* run) except -1:
        # Find where the next record ends, reading on as far as that takes.
        cdef ReadBuffer* buf = &run.buf
        cdef int part
        shrink(buf)
        run.over = not held(buf) and not refill(buf, 1)
        if run.over:
            return 0
        buf.mark = buf.cursor
        for part in range(self.nparts):
            self.skip_part(run)
            if part == 0:
                run.nkey = buf.cursor - buf.mark
        self.return_to(run, buf.mark)
        buf.mark = NULL
        return 0

    cdef int skip_part(self, Run* run) except -1:
        cdef SkipOutcome outcome = skip_value(&self.skipping, &run.buf)
        while outcome != SKIPPED:
            if outcome != NEEDS_MORE or not refill(&run.buf, held(&run.buf) + 1):
                self.d.buf = run.buf
                self.d.record_index = run.record_index
                raise_skipped(&self.d, &self.skipping, outcome)
            outcome = skip_value(&self.skipping, &run.buf)
        return 0

    cdef bint load_held(self, Run* run) noexcept nogil:
        # As `load`, for a valid record that is buffered whole; otherwise returns False and changes nothing.
        cdef ReadBuffer* buf = &run.buf
        cdef const unsigned char* start = buf.cursor
        cdef int part
        for part in range(self.nparts):
            if not held(buf) or skip_value(&self.skipping, buf) != SKIPPED:
                self.skipping.depth = self.skipping.tail = 0
                buf.cursor = start
                return False
            if part == 0:
                run.nkey = buf.cursor - start
        self.return_to(run, start)
        return True

    cdef inline void return_to(self, Run* run, const unsigned char* start) noexcept nogil:
        # Go back to the start of a record whose end has been found.
        cdef unsigned char padded[SLACK]
        run.nbytes = run.buf.cursor - start
        run.buf.cursor = start
        if run.buf.end - start >= SLACK:
            run.window = first_window(start, run.nkey, self.hive, 0, 0) ^ self.flip
        else:
            memset(padded, 0, SLACK)
            memcpy(padded, start, min(run.nkey, <Py_ssize_t>SLACK))
            run.window = first_window(padded, run.nkey, self.hive, 0, 0) ^ self.flip

    cdef inline Py_ssize_t winner_of(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        cdef const Run* x = &self.runs[i]
        cdef const Run* y = &self.runs[j]
        cdef int difference
        cdef bint is_before
        if x.over or y.over:
            return j if x.over else i
        if x.window != y.window:
            return i if x.window < y.window else j
        difference = self.compare_rest(x.buf.cursor, x.nkey, y.buf.cursor, y.nkey)
        is_before = difference > 0 if self.flip else difference < 0
        return i if is_before or (difference == 0 and i < j) else j

    cdef inline int compare_rest(self, const unsigned char* x, Py_ssize_t nx, const unsigned char* y,
                                 Py_ssize_t ny) noexcept nogil:
        # Keys with the same window.
        cdef Py_ssize_t at = first_covered(x, self.hive, 0)
        return 0 if nx <= at else memcmp(x + at, y + at, min(nx, ny) - at)

    cdef inline void replay(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t node = (self.nruns + i) >> 1
        while node > 0:
            self.tree[node] = self.winner_of(self.tree[2 * node], self.tree[2 * node + 1])
            node >>= 1

    cdef Py_ssize_t fill(self, unsigned char* out, Py_ssize_t capacity) except -1:
        # Returns the number of bytes merged; less than `capacity` only at the end.
        cdef Py_ssize_t done = 0
        cdef bint needs_input = True
        while done < capacity and not self.runs[self.tree[1]].over:
            with nogil:
                needs_input = self.copy_held(out, capacity, &done)
            if needs_input:
                self.load(&self.runs[self.tree[1]])
                self.replay(self.tree[1])
        return done

    cdef bint copy_held(self, unsigned char* out, Py_ssize_t capacity, Py_ssize_t* done) noexcept nogil:
        # True: more of the winner's stream must be read.
        cdef Run* run
        cdef const unsigned char* key
        cdef uint64_t window
        cdef Py_ssize_t nkey, nbytes
        while done[0] < capacity:
            # never one that is over: `fill` checks, and the loop goes on only with a whole record
            run = &self.runs[self.tree[1]]
            nbytes = min(capacity - done[0], run.nbytes - self.copied)
            memcpy(out + done[0], run.buf.cursor + self.copied, nbytes)
            done[0] += nbytes
            self.copied += nbytes
            if self.copied < run.nbytes:
                return False
            self.copied = 0
            self.nrecords += 1
            run.record_index += 1
            key, nkey, window = run.buf.cursor, run.nkey, run.window
            run.buf.cursor += run.nbytes
            if not self.load_held(run):
                return True
            if run.window != window or run.nkey != nkey or self.compare_rest(key, nkey, run.buf.cursor, nkey) != 0:
                self.replay(self.tree[1])
        return False


def merge(sources, sink, *, int nparts=2, bint reverse=False, Py_ssize_t buffer_size=1 << 18, dialect="hadoop",
          max_depth=256):
    """Merge sorted streams of encoded records, pass them to sink.write(), and return their number.

    sources: binary files with readinto(), such as those that a Sorter has written; their order decides between
    equal keys. buffer_size: bytes held of each source. Other options and errors as for `Sorter`; that a source
    is sorted is not checked.

    >>> import io
    >>> sink = io.BytesIO()
    >>> merge([io.BytesIO(b"\\x02\\x01"), io.BytesIO(b"\\x02\\x00\\x02\\x01")], sink, nparts=1), sink.getvalue().hex()
    (3, '020002010201')
    """
    cdef Merging merging = Merging(sources, buffer_size, nparts, reverse, dialect, max_depth)
    cdef Py_ssize_t nbytes
    if merging.nruns == 0:
        return 0
    merging.start()
    while not merging.runs[merging.tree[1]].over:
        data = PyBytes_FromStringAndSize(NULL, WRITE_SIZE)
        nbytes = merging.fill(<unsigned char*>PyBytes_AS_STRING(data), WRITE_SIZE)
        write_all(sink, data if nbytes == WRITE_SIZE else data[:nbytes])
    return merging.nrecords
