# Writer and PairWriter.

cdef class Writer(OpenWriter):
    "Writer(sink, *, buffer_size=65536, int_width='auto', pickle='safe', default=None, sort_keys=False, " \
        "unicode_errors='strict', dialect='hadoop', max_depth=256, type=None, omit_none=False)\n--\n\n" \
        """Write a stream of values to a file object, descriptor, socket or path.

    buffer_size: bytes gathered before they are sent, always as whole records. Other options as for `Encoder`. An
    object that fails to encode writes nothing, and the Writer stays usable. What could not be written stays in the
    buffer: flush() and close() try again, and raise again. Objects and descriptors given stay open; a path or a URL
    is opened and closed by the Writer, and written compressed if its name ends with .gz, .bz2, .xz or .zst: complete
    when the Writer is closed.

    The end of a with block closes the Writer, after an exception too: the file has the whole records written before it,
    and nothing says that others are missing. For a file that is complete or not there, write to another name, and after
    the block os.replace() it.

    A Writer that was not closed writes what it holds when it is deleted, or when the interpreter ends. A failure is
    reported on standard error, and at the end of the interpreter the exit code is 120. Neither happens after
    os._exit(), nor in forked children of multiprocessing before Python 3.13.

    >>> import io
    >>> sink = io.BytesIO()
    >>> with Writer(sink) as writer:
    ...     writer.write(True)
    >>> sink.getvalue().hex()
    '0201'
    """

    cdef EncodeOptions options
    cdef Encoding e
    cdef object sink
    cdef object method            # method of the sink that takes bytes
    cdef bint is_raw              # the sink's write() returns None if it wrote nothing; looked up once: that allocates
    cdef bytes unsent             # holds what the sink has not taken yet
    cdef Py_ssize_t unsent_start  # offset in `unsent` at which that begins
    cdef Py_ssize_t unsent_end    # offset in `unsent` at which that ends
    cdef bytes spare              # memory that the sink has taken from before, and may still hold
    cdef Py_ssize_t buffer_size
    cdef long long sent           # bytes that the sink has taken
    cdef long long nrecords
    cdef State state
    cdef object failure           # the error of the sink's last call, until it takes something
    cdef bint owns                # the sink is closed with the Writer
    cdef bint is_finalizing       # the interpreter exits: every record is sent at once, and the sink is flushed
    cdef bint flushed_at_exit     # the sink has been flushed since is_finalizing was set

    def __cinit__(self, *args, **options):
        self.state = CLOSED

    def __init__(self, sink, *, Py_ssize_t buffer_size=WRITE_SIZE, owns=False, **options):
        if self.sink is not None:
            raise RuntimeError("a Writer cannot be initialised again")
        if buffer_size < 1:
            raise ValueError(f"buffer_size must be at least 1, not {buffer_size}")
        if buffer_size > PY_SSIZE_T_MAX // 4:
            raise MemoryError
        refuse_types(self, options, isinstance(self, PairWriter))
        self.options = EncodeOptions(**options)
        self.e = self.options.template
        self.method = find_write_method(sink)
        self.is_raw = isinstance(sink, io.RawIOBase)
        self.buffer_size = buffer_size
        start_owned(&self.e.buf, buffer_size + SCRATCH)
        self.sink = sink
        self.owns = owns
        self.state = OPEN
        if register_writer(self):
            self.disable_buffering()

    def __dealloc__(self):
        unregister_writer(self)
        drop(&self.e.buf)

    def __del__(self):
        if self.state == CLOSED or self.is_inherited or not self.unsent_nbytes():
            return
        warn_unclosed(self, "with unwritten records")
        try:
            self.close()
        except BaseException as error:
            report_unraisable(self, error)

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be pickled")

    def __enter__(self):
        return self

    def __exit__(self, kind=None, error=None, traceback=None):
        cdef bint is_own = error is not None and error is self.failure
        try:
            self.close()
        except Exception:
            if not is_own:    # else the first one goes on
                raise

    cdef Py_ssize_t unsent_nbytes(self):
        return written(&self.e.buf) + self.unsent_end - self.unsent_start

    cdef int refuse(self) except -1:
        return refuse_call(self, self.state, None, "writer")

    cdef inline int enter(self) except -1:
        if not claim_state(&self.state, OPEN, BUSY):
            return self.refuse()
        if self.is_inherited:
            self.disown()
        return 0

    cdef int disown(self) except -1:
        self.sent += self.unsent_nbytes()
        self.unsent = None
        self.unsent_start = self.unsent_end
        self.e.buf.cursor = self.e.buf.start
        try:
            return adopt_writer(self)
        except BaseException:
            self.state = OPEN
            raise

    # ---- the end of the interpreter

    cdef int flush_at_exit(self) except -1:
        cdef bint unwritten = self.unsent_nbytes() > 0
        if self.state == CLOSED or self.is_inherited or (not unwritten and is_closed(self.sink)):
            return 1
        self.disable_buffering()
        if not claim_state(&self.state, OPEN, BUSY):    # the call in progress sends when its record is complete
            return self.flushed_at_exit
        if unwritten:
            warn_unclosed(self, "with unwritten records")
        if self.owns and type(self.sink) is not io.FileIO:    # a compressed sink completes its file only in close()
            self.send_and_release()
            return 1
        try:
            self.send_and_flush()
        finally:
            self.state = OPEN
        return 1

    cdef void disable_buffering(self) noexcept:
        self.is_finalizing = True
        self.buffer_size = 1

    cdef object release_target(self):
        if self.state != BUSY:
            self.state = CLOSED
        return self.sink

    cdef int flush_sink(self) except -1:
        flush = getattr(self.sink, "flush", None)
        if flush is not None:
            try:
                flush()
            except BaseException as error:
                self.failure = error
                raise
        self.flushed_at_exit = self.is_finalizing
        return 0

    cdef int encode_item(self, object item) except -1:
        return encode_record(&self.e, <PyObject*>item)

    cdef inline int count_record(self) except -1:
        self.nrecords += 1
        if written(&self.e.buf) >= self.buffer_size:
            return self.send()
        return 0

    cdef int send(self) except -1:
        # The bytes are not changed as long as the sink keeps a reference to them.
        cdef Py_ssize_t nbytes = written(&self.e.buf)
        if self.is_inherited:    # forked inside a record
            raise_inherited(self)
        self.send_rest()
        if nbytes:
            filled = self.change_buffers()
            self.unsent = filled
            self.unsent_start, self.unsent_end = 0, nbytes
            self.send_rest()
            if len(filled) <= 4 * (self.buffer_size + SCRATCH):
                self.spare = filled
        return self.flush_sink() if self.is_finalizing else 0

    cdef bytes change_buffers(self):
        # Two buffers in turn: memory that goes back to the system and comes again costs more than writing to it. The
        # full one is released only when there is another.
        cdef WriteBuffer empty = self.e.buf
        spare, self.spare = self.spare, None
        if not NO_GIL and spare is not None and Py_REFCNT(<PyObject*>spare) == 1:
            adopt(&empty, spare)
        else:
            start_owned(&empty, self.buffer_size + SCRATCH)
        filled = take_owner(&self.e.buf)
        self.e.buf = empty
        return filled

    cdef int send_rest(self) except -1:
        while self.unsent is not None:
            try:
                self.count_sent(write_part(self.method, self.unsent, self.unsent_start, self.unsent_end, self.is_raw))
            except BaseException as error:
                if isinstance(error, BlockingIOError):
                    self.count_sent(max(0, getattr(error, "characters_written", 0)))
                self.failure = error
                raise
            PyErr_CheckSignals()
        return 0

    cdef int count_sent(self, Py_ssize_t nbytes) except -1:
        self.failure = None
        self.sent += nbytes
        self.unsent_start += nbytes
        if self.unsent_start >= self.unsent_end:
            self.unsent_start = self.unsent_end
            self.unsent = None
        return 0

    def write(self, obj):
        """Write one value.

        Raises EncodeTypeError or EncodeValueError (nothing of the value is written then) and what the sink raises.

        >>> import io
        >>> Writer(io.BytesIO()).close()
        """
        self.enter()
        try:
            self.encode_item(obj)
            self.count_record()
        finally:
            self.state = OPEN

    def writes(self, iterable):
        """Write every record of an iterable and return their number; a failure keeps the whole records before it.

        >>> import io
        >>> with Writer(io.BytesIO()) as writer:
        ...     writer.writes([1, 2, 3])
        3
        """
        cdef long long before = self.nrecords
        self.write_items(iterable)
        return self.nrecords - before

    cdef int write_items(self, object items) except -1:
        if self.state != OPEN:
            self.refuse()
        for item in items:
            self.enter()
            try:
                self.encode_item(item)
                self.count_record()
            finally:
                self.state = OPEN
            item = None    # before the next step, so that its tuple can be used again
            if not self.nrecords & SIGNAL_MASK:
                PyErr_CheckSignals()
        return 0

    def copy(self, Reader reader not None):
        """Write every record that a Reader has left as its encoded bytes, and return their number.

        Structure is checked, values are not made: a filter that does not look inside runs at the speed of memory. What
        the reader finds wrong is raised after the records before it.

        >>> import io
        >>> with Writer(io.BytesIO()) as writer:
        ...     writer.copy(Reader(b"\\x02\\x01\\x02\\x00"))
        2
        """
        cdef long long before = self.nrecords
        cdef long long nrecords
        cdef Py_ssize_t nbytes
        self.check_copied(reader)
        while True:
            if self.state != OPEN:
                self.refuse()
            nbytes = reader.measure_records(self.buffer_size, &nrecords)
            if nbytes == 0:
                return self.nrecords - before
            self.enter()
            try:
                self.append(reader.d.buf.cursor, nbytes)
                reader.consume_records(nbytes, nrecords)
                self.nrecords += nrecords - 1
                self.count_record()
            finally:
                self.state = OPEN
            PyErr_CheckSignals()

    cdef int check_copied(self, Reader reader) except -1:
        return 0

    cdef int append(self, const unsigned char* p, Py_ssize_t nbytes) except -1:
        reserve(&self.e.buf, nbytes)
        memcpy(self.e.buf.cursor, p, nbytes)
        self.e.buf.cursor += nbytes
        return 0

    def write_raw(self, data):
        """Write the encoded bytes of one whole value as they are; they are not checked.

        >>> import io
        >>> with Writer(io.BytesIO()) as writer:
        ...     writer.write_raw(b"\\x02\\x01")
        """
        self.enter()
        try:
            self.add(data)
            self.count_record()
        finally:
            self.state = OPEN

    def __write_encoded__(self, bytes data, long long nrecords):
        """Write the bytes of whole records without copying them. Used by columns."""
        self.enter()
        try:
            self.send()
            self.nrecords += nrecords
            if data:
                self.unsent = data
                self.unsent_start, self.unsent_end = 0, len(data)
                self.send_rest()
                if self.is_finalizing:
                    self.flush_sink()
        finally:
            self.state = OPEN

    cdef int add(self, data) except -1:
        cdef Py_buffer view
        contiguous = get_view(data, &view)
        try:
            return self.append(<const unsigned char*>view.buf, view.len)
        finally:
            PyBuffer_Release(&view)

    def flush(self):
        """Send all records to the sink and flush it.

        >>> import io
        >>> Writer(io.BytesIO()).flush()
        """
        self.enter()
        try:
            self.send_and_flush()
        finally:
            self.state = OPEN

    cdef int send_and_flush(self) except -1:
        self.send()
        return 0 if self.is_finalizing else self.flush_sink()    # then send() has flushed it

    def close(self):
        """Flush and release the sink; closing again does nothing.

        Raises what the sink raises; the Writer is closed all the same.

        >>> import io
        >>> Writer(io.BytesIO()).close()
        """
        if claim_to_close(self, &self.state) != CLOSED:
            self.send_and_release()

    cdef int send_and_release(self) except -1:
        try:
            if self.is_inherited:
                self.disown()
            self.send_and_flush()
        except BaseException:
            try:
                self.release_sink()
            except Exception:
                pass    # the first error goes on
            raise
        return self.release_sink()

    cdef int release_sink(self) except -1:
        self.state = CLOSED
        self.failure = None    # its frames may hold the Writer
        unregister_writer(self)
        if self.owns:
            self.owns = False
            self.sink.close()
        return 0

    @property
    def offset(self):
        """The number of bytes written so far, those in the buffer included.

        >>> import io
        >>> writer = Writer(io.BytesIO()); writer.write(True); writer.offset
        2
        >>> writer.close()
        """
        return self.sent + self.unsent_nbytes()

    @property
    def record(self):
        """The number of records written so far.

        >>> import io
        >>> writer = Writer(io.BytesIO()); writer.write(True); writer.record
        1
        >>> writer.close()
        """
        return self.nrecords

    @property
    def closed(self):
        """Whether the Writer is closed, also by a close() that raised.

        >>> import io
        >>> writer = Writer(io.BytesIO()); writer.close(); writer.closed
        True
        """
        return self.state == CLOSED


cdef class PairWriter(Writer):
    "PairWriter(sink, *, buffer_size=65536, int_width='auto', pickle='safe', default=None, sort_keys=False, " \
        "unicode_errors='strict', dialect='hadoop', max_depth=256, key_type=None, value_type=None, " \
        "omit_none=False)\n--\n\n" \
        """Write keys and values in turn, as Hadoop Streaming reads them.

    Sinks and options as for `Writer`; a pair is written whole or not at all.

    >>> import io
    >>> sink = io.BytesIO()
    >>> with PairWriter(sink) as writer:
    ...     writer.write("a", True)
    >>> sink.getvalue().hex()
    '0700000001610201'
    """

    cdef int encode_item(self, object item) except -1:
        return encode_item_pair(&self.e, item)

    cdef int check_copied(self, Reader reader) except -1:
        if not isinstance(reader, PairReader):
            raise TypeError("a PairWriter copies pairs: it needs a PairReader")
        return 0

    def writes(self, pairs):
        """Write every (key, value) of an iterable and return their number; a failure keeps the whole pairs before it.

        >>> import io
        >>> with PairWriter(io.BytesIO()) as writer:
        ...     writer.writes([("a", 1), ("b", 2)])
        2
        """
        return Writer.writes(self, pairs)

    cdef int write_items(self, object items) except -1:
        # From a reader or an iterator of pairs to here without a tuple between.
        cdef PyObject* key
        cdef PyObject* value
        if can_read_key_and_value(items):
            while self.require_open() and take_key_and_value(<PairReader>items, &key, &value):
                self.write_taken(key, value)
        elif isinstance(items, PairRecords):
            while self.require_open() and (<PairRecords>items).next_pair(&key, &value):
                self.write_taken(key, value)
        else:
            return Writer.write_items(self, items)
        return 0

    cdef inline bint require_open(self) except -1:
        if self.state != OPEN:
            self.refuse()
        return True

    cdef int write_taken(self, PyObject* stolen_key, PyObject* stolen_value) except -1:
        key, value = object_from_stolen(stolen_key), object_from_stolen(stolen_value)
        self.enter()
        try:
            encode_pair(&self.e, <PyObject*>key, <PyObject*>value)
            self.count_record()
        finally:
            self.state = OPEN
        if not self.nrecords & SIGNAL_MASK:
            PyErr_CheckSignals()
        return 0

    def write(self, key, value):
        """Write one pair; raises as `Writer.write`.

        >>> import io
        >>> with PairWriter(io.BytesIO()) as writer:
        ...     writer.write("a", 1)
        """
        self.enter()
        try:
            encode_pair(&self.e, <PyObject*>key, <PyObject*>value)
            self.count_record()
        finally:
            self.state = OPEN

    def write_raw(self, key, value):
        """Write the encoded bytes of a key and of its value as they are; they are not checked.

        >>> import io
        >>> with PairWriter(io.BytesIO()) as writer:
        ...     writer.write_raw(b"\\x02\\x01", b"\\x02\\x00")
        """
        cdef Py_ssize_t before
        self.enter()
        before = written(&self.e.buf)
        try:
            try:
                self.add(key)
                self.add(value)
            except BaseException:
                self.e.buf.cursor = self.e.buf.start + before
                raise
            self.count_record()
        finally:
            self.state = OPEN
