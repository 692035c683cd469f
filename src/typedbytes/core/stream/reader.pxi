# Reader and PairReader.

cdef class Reader:
    "Reader(source, *, raw=False, read_ahead=True, buffer_size=131072, pickle='safe', exact=False, map_pairs=False, " \
        "ext_hook=None, unicode_errors='strict', dialect='hadoop', max_depth=256, max_bytes=None, type=None, " \
        "strict=True)\n--\n\n" \
        """Read a stream of values from a file object, descriptor, socket, path or bytes-like buffer.

    raw: give each value as its encoded bytes, without decoding it. read_ahead: False reads no byte beyond the value
    that is returned, so that the file's position is exact. buffer_size: bytes asked for at once. Other options as for
    `Decoder`. Iteration gives the values; after an error the Reader stays failed and raises that error again. Objects
    and descriptors given stay open; a path, or a URL that fsspec knows, is opened and closed by the Reader, and a
    compressed file decompressed: gzip, bzip2, xz or Zstandard, recognised by its first bytes.

    >>> list(Reader(b"\\x02\\x01\\x02\\x00"))
    [True, False]
    """

    cdef DecodeOptions options
    cdef Decoding d
    cdef Skipping skipping
    cdef object source
    # A memoryview of a buffer source: unlike a Py_buffer, it stays valid when the collector breaks a cycle.
    cdef object memory
    cdef Source input         # fills d.buf; None: the source is a buffer, and all of it is in memory
    cdef object failure
    cdef State state
    cdef bint raw
    cdef bint owns            # the source is closed with the Reader
    cdef bint value_due       # the key of a group has been read: only the group may read its value
    cdef int values_per_record

    def __cinit__(self, *args, **options):
        self.state = CLOSED
        self.values_per_record = 1

    def __init__(self, source, *, raw=False, read_ahead=True, Py_ssize_t buffer_size=READ_SIZE, owns=False, **options):
        if self.source is not None:
            raise RuntimeError("a Reader cannot be initialised again")
        if buffer_size < 1:
            raise ValueError(f"buffer_size must be at least 1, not {buffer_size}")
        refuse_types(self, options, self.values_per_record == 2)
        self.options = DecodeOptions(**options)
        self.options.types.value = self.options.types.pair_value if self.values_per_record == 2 \
            else self.options.types.value
        self.d = self.options.template
        self.d.use_string_cache = True
        self.d.record_index = 0
        self.raw = raw
        stop_skipping(&self.skipping)    # of an __init__ that failed
        start_skipping(&self.skipping, &self.d)
        self.connect(source, read_ahead, max(buffer_size, 64))
        self.source = source
        self.owns = owns
        self.state = OPEN

    cdef int connect(self, source, bint read_ahead, Py_ssize_t buffer_size) except -1:
        cdef Py_buffer* view
        if not has_buffer(source):
            self.input = open_source(source, read_ahead)
            start_filled(&self.d.buf, buffer_size, fill_from, <void*>self.input)
            self.d.buf.read_ahead = read_ahead
            return 0
        memory = memoryview(source)
        self.memory = memory if memory.c_contiguous else memoryview(memory.tobytes())
        view = PyMemoryView_GET_BUFFER(self.memory)
        keep_freed(view.len)
        borrow(&self.d.buf, <const unsigned char*>view.buf, view.len)
        return 0

    def __dealloc__(self):
        abandon(&self.d)
        release(&self.d.buf)
        stop_skipping(&self.skipping)

    @classmethod
    def __class_getitem__(cls, parameters):
        """Return the class: `Reader[Visit]` says of what type its values are."""
        return cls

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be pickled")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __iter__(self):
        return self

    cdef int refuse(self) except -1:
        cdef int state = self.state    # another thread may close it meanwhile
        if state != OPEN:
            refuse_call(self, state, self.failure if state == HAS_FAILED else None, "reader")
        return self.refuse_value_due() if self.value_due else raise_in_use(self)    # until a moment ago

    cdef int refuse_value_due(self) except -1:
        raise RuntimeError("groups() has read a key: read its value from the group, or go to the next group, "
                           "before using the reader")

    cdef inline int enter(self) except -1:
        if unlikely(self.value_due or not claim_state(&self.state, OPEN, BUSY)):
            return self.refuse()
        return 0

    cdef int fail(self, error) except -1:
        # Remember what went wrong, so that every later call raises it again; the collector must not stay switched off.
        abandon(&self.d)
        try:
            if self.owns and isinstance(error, DecodeError):    # opened by path or URL
                error.filename = getattr(self.source, "name", None)
        finally:
            self.failure = as_failure(error)
            self.state = HAS_FAILED
        raise self.failure

    cdef bint at_end(self) except -1:
        return not held(&self.d.buf) and not refill(&self.d.buf, 1)

    cdef PyObject* next_record(self) except? NULL:
        # NULL without an exception: the end of input, between records.
        cdef PyObject* value
        if self.at_end():
            return NULL
        self.check_signals()
        value = self.next_raw() if self.raw else decode_record(&self.d)
        self.count_record()
        return value

    cdef inline int check_signals(self) except -1:
        # A consumer in C may take any number of records before the interpreter looks at signals again.
        if not self.d.record_index & SIGNAL_MASK:
            PyErr_CheckSignals()
        return 0

    cdef inline void count_record(self) noexcept:
        self.d.record_index += 1
        if self.d.buf.capacity > self.d.buf.usual_capacity:
            shrink(&self.d.buf)

    cdef PyObject* next_raw(self) except NULL:
        self.mark_value()
        result = self.take_marked()
        incref(<PyObject*>result)
        return <PyObject*>result

    cdef bytes take_marked(self):
        result = self.d.buf.mark[:self.d.buf.cursor - self.d.buf.mark]
        self.d.buf.mark = NULL
        return result

    cdef int mark_value(self) except -1:
        # Walk one value, the record's first; afterwards it lies between mark and cursor.
        self.d.record_offset = offset_of(&self.d.buf, self.d.buf.cursor)
        self.d.buf.mark = self.d.buf.cursor
        return self.skip_one_value()

    cdef int skip_one_value(self) except -1:
        cdef ReadBuffer* buf = &self.d.buf
        cdef SkipOutcome outcome
        while True:
            outcome = skip_value(&self.skipping, buf)
            if self.d.max_bytes:
                check_limit_of_skipping(&self.d, &self.skipping, outcome)
            if outcome == SKIPPED:
                return 0
            if outcome != NEEDS_MORE \
                    or not refill(buf, min(wanted_nbytes(&self.skipping, buf, outcome), held(buf) + READ_SIZE)):
                raise_skipped(&self.d, &self.skipping, outcome)

    def __next__(self):
        cdef PyObject* value
        self.enter()
        value = (<record_function>self.next_record)(self)
        if value == NULL:
            self.raise_if_failed()
            raise StopIteration
        self.state = OPEN
        return object_from_stolen(value)

    cdef int raise_if_failed(self) except -1:
        # After NULL: re-raise the pending exception as the Reader's failure; return 0 at the end of the input.
        cdef PyObject* kind
        cdef PyObject* value
        cdef PyObject* trace
        PyErr_Fetch(&kind, &value, &trace)
        if kind == NULL:
            self.state = OPEN
            return 0
        PyErr_NormalizeException(&kind, &value, &trace)
        if trace != NULL:
            PyException_SetTraceback(value, trace)
        xdecref(kind)
        xdecref(trace)
        return self.fail(object_from_stolen(value))

    def read(self, default=None):
        """Return the next value, or `default` at the end of input.

        >>> Reader(b"").read() is None
        True
        """
        return next(self, default)

    def read_all(self):
        """Return all values that are left, as a list.

        >>> Reader(b"\\x02\\x01\\x02\\x00").read_all()
        [True, False]
        """
        self.enter()
        try:
            values = self.list_records()
        except BaseException as error:
            self.fail(error)
        self.state = OPEN
        return values

    cdef list list_records(self):
        cdef list records = []
        cdef PyObject* record = self.next_record()
        while record != NULL:
            records.append(object_from_stolen(record))
            record = self.next_record()
        return records

    def skip(self, long long n=1):
        """Skip n records without making their values; returns how many there were, fewer at the end of input.

        >>> reader = Reader(b"\\x02\\x01\\x02\\x00"); reader.skip(1), reader.read()
        (1, False)
        """
        cdef long long skipped = 0
        cdef long long nrecords
        if n < 1 and self.state == OPEN:
            return 0    # a failed or closed Reader still raises below
        self.enter()
        try:
            while skipped < n and not self.at_end():
                nrecords = self.skip_scalar_records(held(&self.d.buf), n - skipped)
                if nrecords:
                    PyErr_CheckSignals()
                else:
                    self.skip_record()
                    nrecords = 1
                skipped += nrecords
        except BaseException as error:
            self.fail(error)
        self.state = OPEN
        return skipped

    cdef int skip_record(self) except -1:
        cdef int i
        self.check_signals()
        self.d.record_offset = offset_of(&self.d.buf, self.d.buf.cursor)
        for i in range(self.values_per_record):
            self.skip_one_value()
        self.d.record_index += 1
        return 0

    cdef long long skip_scalar_records(self, Py_ssize_t nbytes, int64_t max_records) noexcept:
        # Skip at most `max_records` whole scalar records within the next nbytes;
        # return their number, 0 if max_bytes is set.
        cdef ReadBuffer* buf = &self.d.buf
        cdef const unsigned char* start = buf.cursor
        cdef const unsigned char* end = buf.end
        cdef int64_t nvalues
        if self.d.max_bytes:
            return 0
        buf.end = start + min(nbytes, held(buf))
        nvalues = skip_scalars(&self.skipping, buf, min(max_records, SCALARS_AT_ONCE) * self.values_per_record, NULL)
        if nvalues % self.values_per_record:
            buf.cursor = start    # go back to the key whose value is not among them
            nvalues = skip_scalars(&self.skipping, buf, nvalues - 1, NULL)
        buf.end = end
        self.d.record_index += nvalues // self.values_per_record
        return nvalues // self.values_per_record

    cdef Py_ssize_t measure_records(self, Py_ssize_t enough, long long* nrecords) except -1:
        # Walk whole records, until `enough` bytes or until more would have to be read, and return the size of those
        # after the cursor; 0 at the end of input. They are consumed by `consume_records`. An error after them is
        # raised by the next call.
        cdef Py_ssize_t nbytes = 0
        cdef long long before = self.d.record_index
        self.enter()
        try:
            if not self.at_end():
                self.d.buf.mark = self.d.buf.cursor
                self.skip_record()
                nbytes = self.d.buf.cursor - self.d.buf.mark
                while nbytes < enough \
                        and (self.skip_scalar_records(enough - nbytes, SCALARS_AT_ONCE) or self.skip_held_record()):
                    nbytes = self.d.buf.cursor - self.d.buf.mark
                self.d.buf.cursor = self.d.buf.mark
                self.d.buf.mark = NULL
        except BaseException as error:
            self.fail(error)
        nrecords[0] = self.d.record_index - before
        self.d.record_index = before
        self.state = OPEN
        return nbytes

    cdef void consume_records(self, Py_ssize_t nbytes, long long nrecords) noexcept:
        self.d.buf.cursor += nbytes
        self.d.record_index += nrecords

    def __read_records__(self, Py_ssize_t nbytes):
        """Return the encoded bytes of the next whole records, `nbytes` of them or a few more, and fewer where more
        would have to be waited for; b"" at the end of input. Used by the command.
        """
        cdef long long nrecords
        cdef Py_ssize_t nmeasured = self.measure_records(nbytes, &nrecords)
        records = self.d.buf.cursor[:nmeasured]
        self.consume_records(nmeasured, nrecords)
        return records

    def __use_encoded__(self, use, Py_ssize_t nbytes_wanted):
        """Call use(view) with the bytes in the buffer, at least nbytes_wanted if the input has them.

        It returns the bytes and records used. Return False, without a call, at the end of input. The view is released
        when the call returns. Used by columns.
        """
        cdef ReadBuffer* buf = &self.d.buf
        cdef Py_ssize_t nbytes, nrecords
        self.enter()
        try:
            there = held(buf) >= nbytes_wanted or refill(buf, nbytes_wanted) or held(buf) > 0
            if there:
                view = PyMemoryView_FromMemory(<char*>buf.cursor, held(buf), PyBUF_READ)
                try:
                    nbytes, nrecords = use(view)
                finally:
                    view.release()
                self.consume_records(min(nbytes, held(buf)), nrecords)
                shrink(buf)
        except BaseException as error:
            self.fail(error)
        self.state = OPEN
        return there

    def _check_end(self):
        """Raise what reading failed with, or RuntimeError where the end of the input has not been read."""
        if self.state != OPEN:
            self.refuse()
        if self.value_due or held(&self.d.buf) or not (self.input is None or self.input.ended):
            raise RuntimeError(f"the end of the input of a {type(self).__name__} has not been read: "
                               "records may be left")

    @property
    def _failure(self):
        """The error that reading failed with, or None."""
        return self.failure

    cdef bint skip_held_record(self) noexcept:
        # Return False and leave the cursor unchanged unless the next record is complete and valid.
        cdef ReadBuffer* buf = &self.d.buf
        cdef const unsigned char* start = buf.cursor
        cdef int i
        for i in range(self.values_per_record):
            if skip_value(&self.skipping, buf) != SKIPPED:
                self.skipping.depth = self.skipping.tail = 0
                buf.cursor = start
                return False
        if self.d.max_bytes and buf.cursor - start > self.d.max_bytes:
            buf.cursor = start
            return False
        self.d.record_index += 1
        return True

    @property
    def offset(self):
        """The number of bytes consumed: where the next record starts.

        >>> reader = Reader(b"\\x02\\x01"); reader.read(), reader.offset
        (True, 2)
        """
        return offset_of(&self.d.buf, self.d.buf.cursor)

    @property
    def record(self):
        """The number of records returned or skipped.

        >>> reader = Reader(b"\\x02\\x01"); reader.read(), reader.record
        (True, 1)
        """
        return self.d.record_index

    @property
    def closed(self):
        """Whether the Reader is closed.

        >>> reader = Reader(b""); reader.close(); reader.closed
        True
        """
        return self.state == CLOSED

    def detach(self):
        """Close the Reader and return the bytes that were read ahead but not consumed.

        >>> reader = Reader(b"\\x02\\x01\\x02\\x00"); reader.read(), reader.detach().hex()
        (True, '0200')
        """
        cdef int before = claim_to_close(self, &self.state)
        if before == CLOSED:
            return b""
        try:
            rest = self.d.buf.cursor[:held(&self.d.buf)]
        except BaseException:    # no memory for them
            self.state = before
            raise
        self.release_source()
        return rest

    def close(self):
        """Release the source; it stays open unless the Reader opened it from a path.

        >>> Reader(b"").close()
        """
        if claim_to_close(self, &self.state) != CLOSED:
            self.release_source()

    cdef int release_source(self) except -1:
        try:
            abandon(&self.d)
            release(&self.d.buf)
            if self.memory is not None:
                self.memory.release()
            self.input = self.memory = None
            if not NO_GIL:    # there another thread may be raising it
                self.failure = None    # its frames may hold the Reader
        finally:
            self.state = CLOSED
        if self.owns:
            self.owns = False
            self.source.close()
        return 0

    # Used by legacy, which reads a type code and its payload separately.

    def __read_code__(self):
        """Return the next type code, or -1 at the end of input."""
        cdef int code = -1
        self.enter()
        try:
            if not self.at_end():
                code = self.d.buf.cursor[0]
                self.d.buf.cursor += 1
        except BaseException as error:
            self.fail(error)
        self.state = OPEN
        return code

    def __read_payload__(self, unsigned char code):
        """Return the value whose type code has been consumed already."""
        if self.state == OPEN:
            if self.input is None:
                raise TypeError("bytes can be put back into a stream only")
            push_back(&self.d.buf, code)
        return next(self)


ctypedef PyObject* (*record_function)(Reader reader) noexcept    # NULL: end of input, or an exception is set
# Negative: an exception is set.
ctypedef int (*key_value_function)(PairReader reader, PyObject** key, PyObject** value) noexcept


cdef class PairReader(Reader):
    "PairReader(source, *, raw=False, read_ahead=True, buffer_size=131072, pickle='safe', exact=False, " \
        "map_pairs=False, ext_hook=None, unicode_errors='strict', dialect='hadoop', max_depth=256, max_bytes=None, " \
        "key_type=None, value_type=None, strict=True)\n--\n\n" \
        """Read alternating keys and values, as Hadoop Streaming gives them, as (key, value) tuples.

    Sources and options as for `Reader`; raw=True gives both as encoded bytes.
    A key without a value raises TruncatedError.

    >>> list(PairReader(b"\\x02\\x01\\x02\\x00"))
    [(True, False)]
    """

    cdef object last_pair        # the tuple returned last, reused when there is no other reference to it
    cdef ReaderGroupValues group        # the one whose values come next

    def __cinit__(self, *args, **options):
        self.values_per_record = 2

    cdef PyObject* next_record(self) except? NULL:
        cdef PyObject* key
        cdef PyObject* value
        if self.raw:
            return NULL if self.at_end() else self.next_raw_pair()
        if not self.next_key_and_value(&key, &value):
            return NULL
        return self.pair_of(key, value)

    cdef bint next_key_and_value(self, PyObject** key, PyObject** value) except -1:
        # False: the end of input.
        if self.at_end():
            return False
        self.check_signals()
        decode_pair(&self.d, key, value)
        self.count_record()
        return True

    cdef inline PyObject* pair_of(self, PyObject* key, PyObject* value) except NULL:
        # A caller that unpacks the tuple at once gets the same one again.
        cdef PyObject* pair = pair_from_stolen(<PyObject*>self.last_pair, key, value)
        if pair != <PyObject*>self.last_pair:
            self.last_pair = <object>pair
        return pair

    cdef PyObject* next_raw_pair(self) except NULL:
        cdef ReadBuffer* buf = &self.d.buf
        cdef Py_ssize_t nkey
        self.check_signals()
        self.mark_value()
        nkey = buf.cursor - buf.mark
        self.skip_one_value()
        pair = (buf.mark[:nkey], (buf.mark + nkey)[:buf.cursor - buf.mark - nkey])
        buf.mark = NULL
        self.count_record()
        incref(<PyObject*>pair)
        return <PyObject*>pair

    def groups(self):
        """Iterate over runs of adjacent pairs whose encoded keys are equal, as (key, values).

        Hadoop groups by encoded bytes, and so does this: True, 1 and 1.0 are three keys, one NaN is one key. `values`
        is an iterator that reads on demand; going on to the next group skips what was left of it, and using it
        afterwards raises RuntimeError.

        >>> pairs = Encoder().encode_pairs([("a", 1), ("a", 2), ("b", 3)])
        >>> [(key, sum(values)) for key, values in PairReader(pairs).groups()]
        [('a', 3), ('b', 3)]
        """
        return ReaderGroups(self)


cdef inline bint take_key_and_value(PairReader reader, PyObject** key, PyObject** value) except -1:
    # The next pair, as a call from outside; False: the end of input.
    reader.enter()
    if (<key_value_function>reader.next_key_and_value)(reader, key, value) <= 0:
        reader.raise_if_failed()
        return False
    reader.state = OPEN
    return True


cdef inline bint can_read_key_and_value(object items) except -1:
    # Whether they are a PairReader whose pairs may be taken apart:
    # iteration over them would give the same keys and values.
    return isinstance(items, PairReader) and not (<PairReader>items).raw \
        and type(items).__next__ is PairReader.__next__ and type(items).__iter__ is PairReader.__iter__
