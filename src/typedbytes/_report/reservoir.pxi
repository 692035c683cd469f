# A sample of records, every set of so many of them equally probable: Li's algorithm L.
#
# Here: which records are drawn, out of chunks of whole ones. Not here: files, their order in the output. Invariant:
# only a record that is drawn is copied.

from libc.math cimport exp, log, log1p

from typedbytes._core cimport skip_up_to

cdef double MAX_AHEAD = 2.0 ** 60


cdef class Reservoir:
    """Reservoir(size, seed, *, dialect='hadoop')\n--\n\nDraw up to `size` records of all chunks.

    seed: an int of 64 bits, the same for the same records. drawn: (number, source, record) of each, where number grows
    along the input. ahead: the number of records to pass over next, of which take() does those that are in its chunk.

    >>> reservoir = Reservoir(1, 5)
    >>> reservoir.take(b"\\x02\\x01", 1, "a file"); reservoir.drawn
    [(0, 'a file', b'\\x02\\x01')]
    """

    cdef readonly list drawn
    cdef public long long ahead
    cdef long long ndrawn     # with those that others have replaced
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
        self.size, self.state, self.drawn, self.probability = size, seed, [], 1

    def __dealloc__(self):
        stop_skipping(&self.skipping)

    def take(self, data, int nparts, source):
        """Draw records of a chunk of whole ones, of `nparts` values each."""
        cdef Py_buffer view
        cdef const unsigned char* start
        checked_nparts(nparts)
        if self.size == 0:
            return
        contiguous = get_view(data, &view)
        try:
            start_records(&self.d, &self.skipping, &view)
            while True:
                self.ahead -= self.skip(self.ahead, nparts)
                if not held(&self.d.buf):
                    return
                start = self.d.buf.cursor
                self.skip(1, nparts)
                self.draw(start[:self.d.buf.cursor - start], source)
                PyErr_CheckSignals()
        finally:
            PyBuffer_Release(&view)

    cdef long long skip(self, long long nrecords, int nparts) except -1:
        # Return how many there were.
        cdef int64_t nvalues = 0
        cdef SkipOutcome outcome = skip_up_to(&self.skipping, &self.d.buf, nrecords * nparts, NULL, &nvalues)
        if outcome != SKIPPED:
            raise_skipped(&self.d, &self.skipping, outcome)
        return nvalues // nparts

    cdef int draw(self, bytes record, source) except -1:
        cdef double passed
        drawn = self.ndrawn, source, record
        self.ndrawn += 1
        if len(self.drawn) < self.size:
            self.drawn.append(drawn)
        else:
            self.drawn[<Py_ssize_t>(self.uniform() * self.size)] = drawn
        if len(self.drawn) == self.size:
            self.probability *= exp(log(1 - self.uniform()) / self.size)
            passed = log(1 - self.uniform()) / log1p(-self.probability) if self.probability < 1 else 0
            self.ahead = <long long>passed if passed < MAX_AHEAD else <long long>MAX_AHEAD
        return 0

    cdef double uniform(self) noexcept:
        # At least 0, less than 1: SplitMix64, whose numbers are the same everywhere.
        cdef uint64_t z
        self.state += <uint64_t>0x9e3779b97f4a7c15
        z = self.state
        z = (z ^ z >> 30) * <uint64_t>0xbf58476d1ce4e5b9
        z = (z ^ z >> 27) * <uint64_t>0x94d049bb133111eb
        return <double>((z ^ z >> 31) >> 11) * 2.0 ** -53
