# Counts, sums, extremes and means of numbers by their encoded keys.
#
# Here: ints of 64 bits and floats, added up as Python adds them. Not here: all other numbers: where one comes, or a sum
# leaves 64 bits, the group is a Python object from then on.

cdef enum SumKind:
    NO_NUMBERS
    INTEGERS
    REALS
    OBJECT                    # in `others`

cdef struct Sum:
    int64_t count
    SumKind kind
    bint has_order            # not all are NaN
    int64_t total
    int64_t least
    int64_t most
    double real_total
    double smallest
    double largest


cdef enum:
    RECORDS_AHEAD = 32        # the keys of so many are looked up together

cdef int64_t MAX_EXACT = <int64_t>1 << 53    # whole numbers up to here are doubles

cdef struct AddedRecord:
    const unsigned char* start
    const unsigned char* value    # where the key ends
    const unsigned char* end
    Py_hash_t hash            # of the key


cdef class Sums:
    """Sums(other, *, dialect='hadoop')\n--\n\nAdd up numbers.

    other: called with (count, total, minimum, maximum) of the numbers so far for an object that goes on with them by
    its method add(encoded).

    >>> sums = Sums(None)
    >>> sums.add(b"\x03\x00\x00\x00\x05\x03\x00\x00\x00\x07\x04" + bytes(8), 1); sums.number(0)
    (3, 12, 0, 7)
    """

    cdef KeyTable keys        # no bytes: None
    cdef dict others
    cdef Sum* sums
    cdef Py_ssize_t capacity
    cdef object other
    cdef Decoding d
    cdef Skipping skipping
    cdef readonly long long offset    # of the last record, in the bytes given
    cdef readonly long long value_offset
    cdef readonly long long record

    def __cinit__(self, other, *, dialect="hadoop"):
        self.d = (<DecodeOptions>DecodeOptions(dialect=dialect)).template
        self.others, self.other = {}, other
        start_keys(&self.keys)
        start_skipping(&self.skipping, &self.d)

    def __dealloc__(self):
        stop_skipping(&self.skipping)
        free_keys(&self.keys)
        PyMem_Free(self.sums)

    def __len__(self):
        return self.keys.nkeys

    def add(self, data, int nparts):
        """Add the numbers of whole records to those of their keys; one without a key has None.

        Raises what the object of `other` raises; then `offset`, `value_offset` and `record` say where.
        """
        cdef Py_buffer view
        cdef AddedRecord records[RECORDS_AHEAD]
        cdef SkipOutcome outcome = SKIPPED
        cdef int nrecords
        contiguous = get_view(data, &view)
        try:
            self.record = 0
            start_records(&self.d, &self.skipping, &view)
            while held(&self.d.buf):
                nrecords = self.look_ahead(records, nparts, &outcome)
                self.add_records(records, nrecords)
                if outcome != SKIPPED:
                    self.d.record_index = self.record
                    raise_skipped(&self.d, &self.skipping, outcome)
        finally:
            PyBuffer_Release(&view)

    cdef int look_ahead(self, AddedRecord* records, int nparts, SkipOutcome* outcome) except -1:
        # Return how many records there are before something that is none. What a search for their keys needs first is
        # on its way into the cache then, as waiting for it takes longer than all else.
        cdef int n
        cdef AddedRecord* each
        for n in range(RECORDS_AHEAD):
            if not held(&self.d.buf):
                return n
            each = &records[n]
            each.start = each.value = self.d.buf.cursor
            outcome[0] = skip_value(&self.skipping, &self.d.buf)
            if outcome[0] == SKIPPED and nparts == 2:
                each.value = self.d.buf.cursor
                outcome[0] = skip_value(&self.skipping, &self.d.buf)
            if outcome[0] != SKIPPED:
                return n
            each.end = self.d.buf.cursor
            each.hash = hash_bytes(each.start, each.value - each.start)
            prefetch_key(&self.keys, each.hash)
        return RECORDS_AHEAD

    cdef int add_records(self, const AddedRecord* records, int nrecords) except -1:
        cdef int i
        cdef const AddedRecord* each
        for i in range(nrecords):
            each = &records[i]
            self.offset, self.value_offset = each.start - self.d.buf.start, each.value - self.d.buf.start
            self.add_number(self.group(each), each.value, each.end - each.value)
            self.record += 1
            if not self.record & SIGNAL_MASK:
                PyErr_CheckSignals()
        return 0

    cdef Py_ssize_t group(self, const AddedRecord* record) except -1:
        cdef Sum* larger
        cdef Py_ssize_t nkeys = self.keys.nkeys
        if nkeys == self.capacity:    # before there may be another
            larger = <Sum*>PyMem_Realloc(self.sums, max(64, 2 * self.capacity) * sizeof(Sum))
            if larger == NULL:
                raise MemoryError
            self.sums, self.capacity = larger, max(64, 2 * self.capacity)
        cdef Py_ssize_t number = number_of_key(&self.keys, record.start, record.value - record.start, record.hash)
        if number == nkeys:
            memset(&self.sums[number], 0, sizeof(Sum))
        return number

    cdef int add_number(self, Py_ssize_t number, const unsigned char* p, Py_ssize_t nbytes) except -1:
        cdef Sum* s = &self.sums[number]
        cdef int code = p[0]
        cdef int64_t n, total
        if code == DOUBLE or code == FLOAT:
            if s.kind == REALS or s.kind == NO_NUMBERS:
                add_real(s, load_f64(p + 1) if code == DOUBLE else load_f32(p + 1))
                return 0
        elif code != BOOL and is_integer(code, self.d.hive):
            n = integer_at(p)
            if (s.kind == INTEGERS or s.kind == NO_NUMBERS) \
                    and not (n > 0 and s.total > INT64_MAX - n or n < 0 and s.total < INT64_MIN - n):
                s.kind, s.total = INTEGERS, s.total + n
                s.least = n if s.count == 0 else min(s.least, n)
                s.most = n if s.count == 0 else max(s.most, n)
                s.count += 1
                return 0
        elif is_null(p, nbytes, self.d.hive):
            return 0
        other = self.others.get(number)
        if other is None:
            other = self.other(*self.number(number))
        other.add(p[:nbytes])
        self.others[number] = other
        s.kind = OBJECT
        return 0

    def number(self, Py_ssize_t number):
        """Return (count, total, minimum, maximum) of the group of this number, or its object.

        >>> Sums(None).number(0)
        Traceback (most recent call last):
        IndexError: 0
        """
        cdef Sum* s
        if not 0 <= number < self.keys.nkeys:
            raise IndexError(number)
        s = &self.sums[number]
        if s.kind == OBJECT:
            return self.others[number]
        if s.kind == REALS:
            return (s.count, s.real_total, s.smallest if s.has_order else None, s.largest if s.has_order else None)
        return s.count, s.total, s.least if s.count else None, s.most if s.count else None

    def key(self, Py_ssize_t number):
        """Return the encoded key of the group of this number."""
        cdef Py_ssize_t nbytes
        if not 0 <= number < self.keys.nkeys:
            raise IndexError(number)
        nbytes = nbytes_of_key(&self.keys, number)
        return start_of_key(&self.keys, number)[:nbytes] if nbytes else None

    def lines(self, Py_ssize_t first, Py_ssize_t nlines, other):
        """Return the groups from this number on as lines of JSON.

        other: called with the number of a group that is an object, for its line as a str.
        """
        cdef Walk w
        cdef Py_ssize_t number
        w.hive, w.plain, w.work_count = self.d.hive, False, 0
        w.skipping.pending = NULL
        w.out.owner = NULL
        try:
            start_skipping(&w.skipping, &self.d)
            start_owned(&w.out, 4096)
            for number in range(max(first, 0), min(first + nlines, self.keys.nkeys)):
                if self.sums[number].kind == OBJECT:
                    line = other(number).encode()
                    append_text(&w, line, len(line))
                else:
                    self.append_group(&w, number)
                append_byte(&w, c"\n")
            return finish(&w.out)
        finally:
            drop(&w.out)
            stop_skipping(&w.skipping)

    cdef int append_group(self, Walk* w, Py_ssize_t number) except -1:
        cdef Sum* s = &self.sums[number]
        cdef const unsigned char* key = start_of_key(&self.keys, number)
        cdef Py_ssize_t nbytes = nbytes_of_key(&self.keys, number)
        append_byte(w, c"{")
        if nbytes:
            w.end = key + nbytes
            append_text(w, b'"key": ', 7)
            append_value(w, key)
            append_text(w, b", ", 2)
        append_text(w, b'"count": ', 9)
        append_integer(w, s.count)
        append_text(w, b', "sum": ', 9)
        if s.kind == REALS:
            append_real_of(w, s.real_total)
            if s.has_order:
                append_text(w, b', "min": ', 9)
                append_real_of(w, s.smallest)
                append_text(w, b', "max": ', 9)
                append_real_of(w, s.largest)
            append_text(w, b', "mean": ', 10)
            append_real_of(w, s.real_total / <double>s.count)
        else:
            append_integer(w, s.total)
            if s.count:
                append_text(w, b', "min": ', 9)
                append_integer(w, s.least)
                append_text(w, b', "max": ', 9)
                append_integer(w, s.most)
                append_text(w, b', "mean": ', 10)
                # an int's quotient has no error of its own, and that of doubles has none where both are exact
                append_real_of(w, <double>s.total / <double>s.count if -MAX_EXACT <= s.total <= MAX_EXACT
                               else <object>s.total / <object>s.count)
        return append_byte(w, c"}")


cdef inline void add_real(Sum* s, double number) noexcept:
    s.kind = REALS
    s.real_total += number
    s.count += 1
    if number != number:
        return
    if not s.has_order or number < s.smallest:
        s.smallest = number
    if not s.has_order or number > s.largest:
        s.largest = number
    s.has_order = True


cdef int append_real_of(Walk* w, double number) except -1:
    if isfinite(number):
        return append_number(w, number)
    return append_text(w, b'"nan"', 5) if isnan(number) \
        else append_text(w, b'"inf"' if number > 0 else b'"-inf"', 5 if number > 0 else 6)
