# Records that do not repeat earlier ones, or are at every nth place, out of chunks of whole records.
#
# Here: comparing encoded bytes. Not here: files, values. Invariant: a record is passed over with `skip_value` before it
# is compared.


cdef class ChosenRecords:
    "ChosenRecords(nparts, *, dialect='hadoop')\n--\n\n" \
        """Choose records of chunks of whole ones: here each `step`th from the number `first` on.

    nparts: values of a record. The base of DistinctRecords and MatchingRecords.

    >>> ChosenRecords(1).take(b"\\x02\\x01\\x02\\x00\\x02\\x05", first=0, step=2)
    b'\\x02\\x01\\x02\\x05'
    """

    cdef Decoding d
    cdef Skipping skipping
    cdef int nparts
    cdef long long due        # the number in the chunk of the next record to choose
    cdef long long step

    def __cinit__(self, int nparts, *args, dialect="hadoop", **options):
        self.d = (<DecodeOptions>DecodeOptions(dialect=dialect)).template
        start_skipping(&self.skipping, &self.d)
        self.nparts = checked_nparts(nparts)

    def __dealloc__(self):
        stop_skipping(&self.skipping)

    cdef bint wants(self, const unsigned char** ends) except -1:
        # ends: of the parts of a record, after its start.
        if self.d.record_index != self.due:
            return False
        self.due += self.step
        return True

    cdef int start_chunk(self) except -1:
        return 0

    cdef int end_chunk(self) except -1:
        return 0

    def take(self, data, *, long long first=0, long long step=1):
        """Return the chosen records of a chunk of whole ones."""
        cdef Py_buffer view
        cdef const unsigned char* ends[3]
        cdef WriteBuffer out
        cdef SkipOutcome outcome
        cdef int i
        self.due, self.step = first, step
        out.owner = NULL
        contiguous = get_view(data, &view)
        try:
            start_records(&self.d, &self.skipping, &view)
            start_owned(&out, 256)
            self.start_chunk()
            while held(&self.d.buf):
                ends[0] = self.d.buf.cursor
                for i in range(self.nparts):
                    outcome = skip_value(&self.skipping, &self.d.buf)
                    if outcome != SKIPPED:
                        raise_skipped(&self.d, &self.skipping, outcome)
                    ends[i + 1] = self.d.buf.cursor
                if self.wants(ends):
                    append_bytes_of(&out, ends[0], ends[self.nparts] - ends[0])
                self.d.record_index += 1
                if not self.d.record_index & SIGNAL_MASK:
                    PyErr_CheckSignals()
            self.end_chunk()
            return finish(&out)
        finally:
            drop(&out)
            PyBuffer_Release(&view)


cdef class DistinctRecords(ChosenRecords):
    "DistinctRecords(nparts, *, by_key=False, all=False, dialect='hadoop')\n--\n\n" \
        """Choose records that do not repeat the one before, in this chunk or at the end of an earlier one.

    by_key: keys are compared, not records. all: with all earlier ones, which are held.

    >>> DistinctRecords(1).take(b"\\x02\\x01\\x02\\x01\\x02\\x05")
    b'\\x02\\x01\\x02\\x05'
    """

    cdef bint by_key
    cdef KeyTable seen        # without slots: only the last is compared
    cdef bytes kept           # what is compared of the last record, from an earlier chunk
    cdef const unsigned char* last    # in this chunk; NULL: there is none
    cdef Py_ssize_t last_nbytes

    def __init__(self, nparts, *, bint by_key=False, bint all=False, dialect="hadoop"):
        self.by_key = by_key
        if all and self.seen.slots == NULL:
            start_keys(&self.seen)

    def __dealloc__(self):
        free_keys(&self.seen)

    cdef int start_chunk(self) except -1:
        self.last = NULL
        if self.kept is not None:
            self.last, self.last_nbytes = <const unsigned char*>self.kept, len(self.kept)
        return 0

    cdef int end_chunk(self) except -1:
        if self.last != NULL:
            self.kept = self.last[:self.last_nbytes]
        return 0

    cdef bint wants(self, const unsigned char** ends) except -1:
        cdef Py_ssize_t nbytes = ends[1 if self.by_key else self.nparts] - ends[0], nseen
        if self.last != NULL and nbytes == self.last_nbytes and memcmp(ends[0], self.last, nbytes) == 0:
            return False
        if self.seen.slots != NULL:
            nseen = self.seen.nkeys
            if number_of_key(&self.seen, ends[0], nbytes, hash_bytes(ends[0], nbytes)) < nseen:
                return False
        self.last, self.last_nbytes = ends[0], nbytes
        return True


cdef class RecordCounts(ChosenRecords):
    "RecordCounts(nparts, *, dialect='hadoop')\n--\n\n" \
        """Count how often each record occurs in one input more than in another; all distinct ones are held.

    >>> counts = RecordCounts(1)
    >>> counts.add(b"\x02\x01\x02\x05\x02\x05", 1); counts.add(b"\x02\x01\x02\x07", -1)
    >>> list(counts.surplus())
    [(b'\x02\x05', 2), (b'\x02\x07', -1)]
    """

    cdef KeyTable records
    cdef int64_t* counts      # by number of the record
    cdef Py_ssize_t capacity
    cdef int64_t times

    def __cinit__(self, *args, **options):
        start_keys(&self.records)

    def __dealloc__(self):
        free_keys(&self.records)
        PyMem_Free(self.counts)

    cdef bint wants(self, const unsigned char** ends) except -1:
        cdef Py_ssize_t nbytes = ends[self.nparts] - ends[0]
        cdef Py_ssize_t number = number_of_key(&self.records, ends[0], nbytes, hash_bytes(ends[0], nbytes))
        cdef Py_ssize_t capacity
        cdef int64_t* counts
        if number >= self.capacity:
            capacity = 2 * (number + 32)
            counts = <int64_t*>PyMem_Realloc(self.counts, capacity * sizeof(int64_t))
            if counts == NULL:
                raise MemoryError
            memset(counts + self.capacity, 0, (capacity - self.capacity) * sizeof(int64_t))
            self.counts, self.capacity = counts, capacity
        self.counts[number] += self.times
        return False

    def add(self, data, int64_t times):
        """Count each record of a chunk of whole ones so many times."""
        self.times = times
        self.take(data)

    def surplus(self):
        """Yield the records that do not add up to 0, each with its sum: those above 0 first."""
        cdef Py_ssize_t number
        for is_more in (True, False):
            for number in range(min(self.records.nkeys, self.capacity)):
                if self.counts[number] and (self.counts[number] > 0) is is_more:
                    yield start_of_key(&self.records, number)[:nbytes_of_key(&self.records, number)], \
                        self.counts[number]
