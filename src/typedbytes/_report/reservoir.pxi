# A sample of records, every set of so many of them equally probable: Li's algorithm L.
#
# Here: which records are drawn, out of chunks of whole ones. Not here: files, their order in the output. Invariant:
# only a record that is drawn is copied.

from libc.math cimport exp, log, log1p
from libc.string cimport memmove

from typedbytes._core cimport skip_up_to

cdef double MAX_AHEAD = 2.0 ** 60

cdef enum:
    PIECE_NBYTES = 1 << 16

cdef struct Draw:
    Py_ssize_t end            # of the record, in all of them
    Py_ssize_t slot           # in the sample; the record is of the sample until a later draw has its slot
    Py_ssize_t source         # in the list of sources


cdef class Reservoir:
    """Reservoir(size, seed, *, dialect='hadoop')\n--\n\nDraw up to `size` records of all chunks.

    seed: an int of 64 bits, the same for the same records. ahead: the number of records to pass over next, of which
    take() does those that are in its chunk.

    >>> reservoir = Reservoir(2, 5)
    >>> reservoir.take(b"\\x02\\x01\\x02\\x05", 1, "a file"); list(reservoir.pieces())
    [('a file', b'\\x02\\x01\\x02\\x05')]
    """

    cdef public long long ahead
    cdef WriteBuffer records  # one after the other, also those that others have replaced
    cdef WriteBuffer draws    # a Draw for each of them
    cdef Py_ssize_t* numbers  # of the draws of the sample, by slot
    cdef Py_ssize_t nslots
    cdef Py_ssize_t capacity  # of `numbers`
    cdef Py_ssize_t max_held  # bytes of records and draws at which what has been replaced is dropped
    cdef list sources
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
        start_owned(&self.records, PIECE_NBYTES)
        start_owned(&self.draws, sizeof(Draw))
        self.size, self.state, self.sources, self.probability = size, seed, [], 1

    def __dealloc__(self):
        PyMem_Free(self.numbers)
        drop(&self.records)
        drop(&self.draws)
        stop_skipping(&self.skipping)

    def take(self, data, int nparts, source):
        """Draw records of a chunk of whole ones, of `nparts` values each."""
        cdef Py_buffer view
        cdef const unsigned char* start
        checked_nparts(nparts)
        if self.size == 0:
            return
        if not self.sources or self.sources[len(self.sources) - 1] is not source:
            self.sources.append(source)
        contiguous = get_view(data, &view)
        try:
            start_records(&self.d, &self.skipping, &view)
            while True:
                self.ahead -= self.skip(self.ahead, nparts)
                if not held(&self.d.buf):
                    return
                start = self.d.buf.cursor
                self.skip(1, nparts)
                self.draw(start, self.d.buf.cursor - start)
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

    cdef int draw(self, const unsigned char* record, Py_ssize_t nbytes) except -1:
        cdef double passed
        cdef Py_ssize_t slot = self.nslots
        cdef Draw* draw
        if slot == self.size:
            if self.nheld() > self.max_held:
                self.drop_replaced()
            slot = <Py_ssize_t>(self.uniform() * self.size)
        else:
            if slot == self.capacity:
                self.add_slots(slot + 32)
            self.nslots += 1
        append_bytes_of(&self.records, record, nbytes)
        reserve(&self.draws, sizeof(Draw))
        draw = <Draw*>self.draws.cursor
        draw.end, draw.slot, draw.source = written(&self.records), slot, len(self.sources) - 1
        self.numbers[slot] = self.ndraws()
        self.draws.cursor += sizeof(Draw)
        if self.nslots == self.size:
            self.probability *= exp(log(1 - self.uniform()) / self.size)
            passed = log(1 - self.uniform()) / log1p(-self.probability) if self.probability < 1 else 0
            self.ahead = <long long>passed if passed < MAX_AHEAD else <long long>MAX_AHEAD
        return 0

    cdef int add_slots(self, Py_ssize_t nslots) except -1:
        cdef Py_ssize_t capacity = self.capacity + nslots
        cdef Py_ssize_t* numbers = <Py_ssize_t*>PyMem_Realloc(self.numbers, capacity * sizeof(Py_ssize_t))
        if numbers == NULL:
            raise MemoryError
        self.numbers, self.capacity = numbers, capacity
        return 0

    cdef inline Py_ssize_t ndraws(self) noexcept:
        return written(&self.draws) // <Py_ssize_t>sizeof(Draw)

    cdef inline Py_ssize_t nheld(self) noexcept:
        return written(&self.records) + written(&self.draws)

    cdef int drop_replaced(self) noexcept:
        # What is held may then double: the time that this takes is in proportion to what is drawn.
        cdef Draw* draws = <Draw*>self.draws.start
        cdef Draw draw
        cdef Py_ssize_t number, ndraws = self.ndraws(), start, end = 0
        self.records.cursor, self.draws.cursor = self.records.start, self.draws.start
        for number in range(ndraws):
            draw, start = draws[number], end
            end = draw.end
            if self.numbers[draw.slot] == number:
                self.numbers[draw.slot] = self.ndraws()
                memmove(self.records.cursor, self.records.start + start, end - start)
                self.records.cursor += end - start
                draw.end = written(&self.records)
                (<Draw*>self.draws.cursor)[0] = draw
                self.draws.cursor += sizeof(Draw)
        self.max_held = PIECE_NBYTES + 2 * self.nheld()
        return 0

    def pieces(self):
        """Yield (source, records) in the order of the input: whole records, several at a time if they are short."""
        cdef Draw* draw
        cdef Py_ssize_t number, ndraws, start = 0
        self.drop_replaced()
        ndraws = self.ndraws()
        for number in range(ndraws):
            draw = <Draw*>self.draws.start + number
            if draw.end - start >= PIECE_NBYTES or number + 1 == ndraws or draw[1].source != draw.source:
                piece, start = self.records.start[start:draw.end], draw.end
                yield self.sources[draw.source], piece

    cdef double uniform(self) noexcept:
        # At least 0, less than 1: SplitMix64, whose numbers are the same everywhere.
        cdef uint64_t z
        self.state += <uint64_t>0x9e3779b97f4a7c15
        z = self.state
        z = (z ^ z >> 30) * <uint64_t>0xbf58476d1ce4e5b9
        z = (z ^ z >> 27) * <uint64_t>0x94d049bb133111eb
        return <double>((z ^ z >> 31) >> 11) * 2.0 ** -53
