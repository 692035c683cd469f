# The groups of a PairReader: runs of adjacent pairs whose encoded keys are equal.

cdef class ReaderGroups:
    """Iterate over the groups of a PairReader; made by its method `groups`."""

    cdef PairReader reader

    def __cinit__(self, PairReader reader not None):
        self.reader = reader

    def __reduce__(self):
        raise TypeError("the groups of a PairReader cannot be pickled")

    def _check_end(self):
        """Raise what _check_end() of the PairReader raises."""
        self.reader._check_end()

    def __iter__(self):
        return self

    def __next__(self):
        cdef PairReader reader = self.reader
        if reader.group is not None:
            reader.group.skip_rest()
            reader.group = None
        reader.enter()
        try:
            found = next_group(reader)
        except BaseException as error:
            reader.fail(error)
        reader.state = OPEN
        if found is NOTHING:
            raise StopIteration
        return found


cdef object next_group(PairReader reader):
    cdef ReadBuffer* buf = &reader.d.buf
    cdef ReaderGroupValues values
    if reader.at_end():
        return NOTHING
    values = ReaderGroupValues.__new__(ReaderGroupValues)
    values.reader = reader
    values.fresh = True
    try:
        reader.mark_value()
    except DecodeError:
        if not reader.raw:
            # Skipping found an error: decode the key to report the first one from left to right, with its path.
            buf.cursor = buf.mark
            buf.mark = NULL
            xdecref(decode_first(&reader.d))
        raise
    values.key = buf.mark[:buf.cursor - buf.mark]
    if reader.raw:
        key = values.key
    else:
        buf.cursor = buf.mark
        key = object_from_stolen(decode_first(&reader.d))
    buf.mark = NULL
    reader.group = values
    reader.value_due = True
    return key, values


cdef class ReaderGroupValues:
    """Iterate over the values of one group, read as they are asked for."""

    cdef PairReader reader
    cdef bytes key            # encoded
    cdef bint fresh           # the group's first key has been read, its value is next
    cdef bint over

    def __reduce__(self):
        raise TypeError("the values of a group cannot be pickled")

    def __iter__(self):
        return self

    def __next__(self):
        self.check()
        if self.over:
            raise StopIteration
        self.enter()
        try:
            found = self.next_value(True)
        except BaseException as error:
            self.reader.fail(error)
        self.reader.state = OPEN
        if found is NOTHING:
            raise StopIteration
        return found

    cdef int check(self) except -1:
        if self.reader is None or self.reader.group is not self:
            raise RuntimeError("the values of this group are gone: the reader has moved on to the next group")
        return 0

    cdef int enter(self) except -1:
        cdef bint due = self.reader.value_due
        self.reader.value_due = False    # the value is this group's
        try:
            self.reader.enter()
        except:
            self.reader.value_due = due
            raise
        return 0

    cdef object next_value(self, bint wanted):
        cdef PairReader reader = self.reader
        if not self.fresh and not self.key_repeats():
            self.over = True
            return NOTHING
        reader.check_signals()
        self.fresh = False
        found = None
        # A record's limit holds for key and value together, as elsewhere.
        reader.d.record_offset = offset_of(&reader.d.buf, reader.d.buf.cursor) - PyBytes_GET_SIZE(self.key)
        if not wanted:
            reader.skip_one_value()
        elif reader.raw:
            reader.d.buf.mark = reader.d.buf.cursor
            reader.skip_one_value()
            found = reader.take_marked()
        else:
            found = object_from_stolen(decode_rest(&reader.d))
        reader.count_record()
        return found

    cdef bint key_repeats(self) except -1:
        # No encoding is a prefix of another, so bytes that start with this key's encoding are this key. Another key may
        # be shorter: only the bytes that decide are requested.
        cdef ReadBuffer* buf = &self.reader.d.buf
        cdef Py_ssize_t nkey = PyBytes_GET_SIZE(self.key)
        cdef const char* key = PyBytes_AS_STRING(self.key)
        while memcmp(buf.cursor, key, min(held(buf), nkey)) == 0:
            if held(buf) >= nkey:
                buf.cursor += nkey
                return True
            if not refill(buf, held(buf) + 1):
                return False
        return False

    cdef int skip_rest(self) except -1:
        if self.over:
            return 0
        self.enter()
        try:
            while self.next_value(False) is not NOTHING:
                pass
        except BaseException as error:
            self.reader.fail(error)
        self.reader.state = OPEN
        return 0
