# A sample of records, every set of so many of them equally probable: Li's algorithm L.
#
# Here: which records are drawn, out of chunks of whole ones. Not here: files, their order in the output. Invariant:
# only a record that is drawn is copied.

from libc.math cimport exp, log, log1p

from typedbytes._core cimport skip_up_to

cdef double MAX_AHEAD = 2.0 ** 60

cdef enum:
    PIECE_NBYTES = 1 << 16


cdef class Reservoir:
    """Reservoir(size, seed, *, dialect='hadoop')\n--\n\nDraw up to `size` records of all chunks.

    seed: an int of 64 bits, the same for the same records. ahead: the number of records to pass over next, of which
    take() does those that are in its chunk.

    >>> reservoir = Reservoir(2, 5)
    >>> reservoir.take(b"\\x02\\x01\\x02\\x05", 1, "a file"); list(reservoir.pieces())
    [('a file', b'\\x02\\x01\\x02\\x05')]
    """

    cdef public long long ahead
    cdef list records         # those of the sample
    cdef int64_t* numbers     # how many were drawn before each of them, also those that others have replaced
    cdef Py_ssize_t capacity  # of `numbers`
    cdef Py_ssize_t ndrawn
    cdef list sources         # [source, how many were drawn up to its end]
    cdef list last            # of `sources`
    cdef Py_ssize_t size
    cdef double probability   # of drawing the next record
    cdef uint64_t state
    cdef Decoding d
    cdef Skipping skipping

    def __cinit__(self, Py_ssize_t size, uint64_t seed, *, dialect="hadoop"):
        self.d = (<DecodeOptions>DecodeOptions(dialect=dialect)).template
        start_skipping(&self.skipping, &self.d)
        if size < 0:
            raise ValueError(f"size must be at least 0, not {size}")
        self.size, self.state, self.records, self.sources, self.probability = size, seed, [], [], 1

    def __dealloc__(self):
        PyMem_Free(self.numbers)
        stop_skipping(&self.skipping)

    def take(self, data, int nparts, source):
        """Draw records of a chunk of whole ones, of `nparts` values each."""
        cdef Py_buffer view
        cdef const unsigned char* start
        checked_nparts(nparts)
        if self.size == 0:
            return
        if self.last is None or self.last[0] is not source:
            self.last = [source, self.ndrawn]
            self.sources.append(self.last)
        contiguous = get_view(data, &view)
        try:
            start_records(&self.d, &self.skipping, &view)
            while True:
                self.ahead -= self.skip(self.ahead, nparts)
                if not held(&self.d.buf):
                    return
                start = self.d.buf.cursor
                self.skip(1, nparts)
                self.draw(start[:self.d.buf.cursor - start])
                PyErr_CheckSignals()
        finally:
            self.last[1] = self.ndrawn
            PyBuffer_Release(&view)

    cdef long long skip(self, long long nrecords, int nparts) except -1:
        # Return how many there were.
        cdef int64_t nvalues = 0
        cdef SkipOutcome outcome = skip_up_to(&self.skipping, &self.d.buf, nrecords * nparts, NULL, &nvalues)
        if outcome != SKIPPED:
            raise_skipped(&self.d, &self.skipping, outcome)
        return nvalues // nparts

    cdef int draw(self, bytes record) except -1:
        cdef double passed
        cdef Py_ssize_t place = len(self.records)
        cdef int64_t* numbers
        if place == self.size:
            place = <Py_ssize_t>(self.uniform() * self.size)
            self.records[place] = record
        else:
            if place == self.capacity:
                numbers = <int64_t*>PyMem_Realloc(self.numbers, 2 * (place + 32) * sizeof(int64_t))
                if numbers == NULL:
                    raise MemoryError
                self.numbers, self.capacity = numbers, 2 * (place + 32)
            self.records.append(record)
        self.numbers[place] = self.ndrawn
        self.ndrawn += 1
        if len(self.records) == self.size:
            self.probability *= exp(log(1 - self.uniform()) / self.size)
            passed = log(1 - self.uniform()) / log1p(-self.probability) if self.probability < 1 else 0
            self.ahead = <long long>passed if passed < MAX_AHEAD else <long long>MAX_AHEAD
        return 0

    def pieces(self):
        """Yield (source, records) in the order of the input: whole records, several at a time if they are short."""
        cdef Py_ssize_t i, end, number = 0, nbytes = 0
        cdef list drawn = [None] * self.ndrawn, piece = []
        for i in range(len(self.records)):
            drawn[self.numbers[i]] = self.records[i]
        for source, end in self.sources:
            while number < end:
                if drawn[number] is not None:    # else another has replaced it
                    piece.append(drawn[number])
                    nbytes += len(<bytes>drawn[number])
                number += 1
                if piece and (nbytes >= PIECE_NBYTES or number == end):
                    yield source, b"".join(piece)
                    piece, nbytes = [], 0

    cdef double uniform(self) noexcept:
        # At least 0, less than 1: SplitMix64, whose numbers are the same everywhere.
        cdef uint64_t z
        self.state += <uint64_t>0x9e3779b97f4a7c15
        z = self.state
        z = (z ^ z >> 30) * <uint64_t>0xbf58476d1ce4e5b9
        z = (z ^ z >> 27) * <uint64_t>0x94d049bb133111eb
        return <double>((z ^ z >> 31) >> 11) * 2.0 ** -53
