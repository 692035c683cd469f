# Writer: from keys and values to bytes, with sync markers and blocks where Hadoop would write them.

# A function called through this type leaves its exception set, for abort_pending(). See reader.pxi.
ctypedef int (*add_function)(Writer writer, PyObject* key, PyObject* value, bint as_bytes) noexcept


cdef class Writer(OpenWriter):
    "Writer(sink, *, metadata=None, version=6, sync_interval=102400, block_size=1000000, int_width='auto', " \
        "pickle='safe', default=None, sort_keys=False, unicode_errors='strict', dialect='hadoop', " \
        "max_depth=256, key_type=None, value_type=None, omit_none=False)\n--\n\n" \
        """Write a SequenceFile to an object with write(); see `typedbytes.sequencefile.Writer`.

    compress: a function that takes bytes and returns them compressed; `codec` is its class name.
    append_at: the size of a file with these settings, to which records are added.
    key_function and value_function: for a class that is not built in, a function that takes an object and
    returns the bytes of its Writable. key_program and value_program: the ClassProgram of a class that is described.
    """

    cdef readonly int version
    cdef readonly str key_class, value_class, compression
    cdef readonly object codec
    cdef readonly dict metadata
    cdef readonly bytes sync_marker
    cdef EncodeOptions options
    cdef RecordTypes key_types, value_types    # for keys and for values alone
    cdef Encoding out                     # the file's bytes
    cdef Encoding block_keys              # BLOCK: the keys of a block
    cdef Encoding value_buffer            # RECORD: one value, before compression. BLOCK: the values of a block
    cdef WriteBuffer key_lengths          # BLOCK: as VInts
    cdef WriteBuffer value_lengths
    cdef object sink
    cdef object method                    # method of the sink that takes bytes
    cdef bint is_raw                      # a sink whose method returns None has taken nothing
    cdef bytes spare                      # bytes already sent, reused as a buffer once no other reference to it exists
    cdef object compress
    cdef WritableClass key_writable
    cdef WritableClass value_writable
    cdef CompressionType compression_type
    cdef State state
    cdef object failure                   # in the state HAS_FAILED: the error that each call raises again
    cdef bint is_typed_uncompressed       # both classes are TypedBytesWritable, without compression
    cdef bint owns                        # close() closes the sink too
    cdef Py_ssize_t block_size
    cdef Py_ssize_t nblock                # records in the block
    cdef Py_ssize_t written_before[3]     # sizes of out, block_keys and value_buffer at the start of the record
    cdef bint in_record                   # a record is being encoded
    cdef bint is_partial                  # a failure now would leave a partial write or a partial block
    cdef long long sync_interval
    cdef long long last_sync              # the offset after the last sync marker
    cdef long long sent                   # bytes that the sink has taken
    cdef long long nrecords
    cdef Py_ssize_t send_threshold        # buffered bytes from which on they are sent to the sink
    cdef bint is_finalizing               # the interpreter exits: every record is sent at once, and the sink flushed
    cdef bint flushed_at_exit             # the sink has been flushed since

    def __cinit__(self, *args, **options):
        self.state = CLOSED

    def __init__(self, sink, *, key_class, value_class, compression="none", codec=None, compress=None, metadata=None,
                 int version=MAX_VERSION, bytes sync_marker, long long sync_interval=SYNC_INTERVAL,
                 Py_ssize_t block_size=BLOCK_NBYTES,
                 key_function=None, value_function=None, key_program=None, value_program=None, owns=False,
                 long long append_at=0, **options):
        if self.sink is not None:
            raise RuntimeError("a Writer cannot be initialised again")
        self.options = EncodeOptions(**options)
        self.key_writable = WritableClass(key_class, key_function, None, key_program)
        self.value_writable = WritableClass(value_class, value_function, None, value_program)
        self.key_class, self.value_class, self.compression, self.codec = key_class, value_class, compression, codec
        self.compression_type = NONE if compression == "none" else RECORD if compression == "record" else BLOCK
        self.is_typed_uncompressed = self.compression_type == NONE and self.key_writable.kind == TYPED_BYTES \
            and self.value_writable.kind == TYPED_BYTES
        self.compress = compress
        self.metadata = dict(metadata or {})
        self.version = version
        self.sync_marker = sync_marker
        self.sync_interval = sync_interval
        self.block_size = block_size
        self.check_arguments(sink)
        self.start_buffers()
        if append_at:
            self.sent = append_at
            if self.compression_type != BLOCK:    # a block starts with a marker
                self.append_marker()
        else:
            self.write_header()
        self.sink = sink
        self.owns = owns
        self.send_threshold = WRITE_SIZE
        self.state = OPEN
        if register_writer(self):
            self.disable_buffering()

    cdef int check_arguments(self, sink) except -1:
        if not MIN_VERSION <= self.version <= MAX_VERSION:
            raise ValueError(f"version must be {MIN_VERSION} to {MAX_VERSION}, not {self.version}")
        if self.version == MIN_VERSION and self.codec is not None and self.codec != DEFAULT_CODEC:
            raise ValueError(f"version 4 supports no codec but DefaultCodec, not {self.codec}")
        if self.version < MAX_VERSION and self.metadata:
            raise ValueError("metadata needs version 6")
        if len(self.sync_marker) != SYNC_NBYTES:
            raise ValueError(f"sync_marker must have {SYNC_NBYTES} bytes, not {len(self.sync_marker)}")
        if self.sync_interval < 1 or not 1 <= self.block_size <= MAX_LENGTH // 2:
            raise ValueError("sync_interval and block_size must be at least 1, and block_size less than 2^30")
        self.method = find_write_method(sink)
        self.is_raw = isinstance(sink, io.RawIOBase)
        return 0

    cdef int use_types(self) except -1:
        # Each value of typed bytes by itself, where key and value are not encoded as a pair.
        self.key_types = self.value_types = self.options.types
        self.key_types.value = self.options.types.pair_key
        self.value_types.value = self.options.types.pair_value
        self.block_keys.types = &self.key_types
        self.value_buffer.types = &self.value_types
        return 0

    cdef int start_buffers(self) except -1:
        self.drop_buffers()    # of an __init__ that failed
        self.out = self.block_keys = self.value_buffer = self.options.template
        if self.out.types != NULL:
            self.use_types()
        start_owned(&self.out.buf, WRITE_CAPACITY)
        if self.compression_type == BLOCK:
            self.start_block()
        if self.compression_type != NONE:
            start_owned(&self.value_buffer.buf, 512)
        return 0

    cdef int start_block(self) except -1:
        start_owned(&self.block_keys.buf, 512)
        start_owned(&self.key_lengths, 512)
        start_owned(&self.value_lengths, 512)
        return 0

    cdef void drop_buffers(self) noexcept:
        drop(&self.out.buf)
        drop(&self.block_keys.buf)
        drop(&self.value_buffer.buf)
        drop(&self.key_lengths)
        drop(&self.value_lengths)

    def __dealloc__(self):
        unregister_writer(self)
        self.drop_buffers()

    def __del__(self):
        if self.state != OPEN or self.is_inherited or (self.is_finalizing and not self.has_unsent()):
            return
        if not self.is_finalizing:    # at exit the warning has been given
            warn_unclosed(self, "of a SequenceFile")
        try:
            self.close()
        except BaseException as error:
            report_unraisable(self, error)

    def __reduce__(self):
        raise TypeError("a Writer cannot be pickled")

    def __enter__(self):
        return self

    def __exit__(self, kind=None, error=None, traceback=None):
        cdef bint is_own = error is not None and error is self.failure
        try:
            self.close()
        except Exception:
            if not is_own:    # else the first one goes on
                raise

    # ---- the file ----

    cdef int write_header(self) except -1:
        cdef WriteBuffer* b = &self.out.buf
        self.append(SEQUENCE_FILE + bytes([self.version]))
        self.append_text(self.key_class)
        self.append_text(self.value_class)
        self.append(bytes([self.compression_type != NONE, self.compression_type == BLOCK]))
        if self.compression_type != NONE and self.version >= 5:
            self.append_text(self.codec)
        if self.version >= 6:
            reserve(b, 4)
            store_i32(b.cursor, len(self.metadata))
            b.cursor += 4
            for name in sorted(self.metadata):
                self.append_text(name)
                self.append_text(self.metadata[name])
        self.append(self.sync_marker)
        return 0

    cdef int append(self, bytes data) except -1:
        return append_bytes(&self.out.buf, <const unsigned char*>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))

    cdef int append_text(self, str text) except -1:
        data = text.encode("utf-8", "surrogateescape")
        self.append_vint(len(data))
        return self.append(data)

    cdef int append_vint(self, int64_t number) except -1:
        reserve(&self.out.buf, 9)
        self.out.buf.cursor += store_vint(self.out.buf.cursor, number)
        return 0

    cdef int append_marker(self) except -1:
        reserve(&self.out.buf, ESCAPED_NBYTES)
        store_i32(self.out.buf.cursor, ESCAPE)
        self.out.buf.cursor += 4
        self.append(self.sync_marker)
        self.last_sync = self.position()
        return 0

    cdef inline long long position(self) noexcept:
        return self.sent + written(&self.out.buf)

    # ---- interpreter exit ----

    cdef int flush_at_exit(self) except -1:
        cdef bint is_first
        # As a plain int: clang before 15 refuses a switch over an atomic one.
        if self.is_inherited or <int>self.state in (CLOSED, HAS_FAILED) \
                or (not self.has_unsent() and is_closed(self.sink)):
            return 1
        is_first = not self.is_finalizing
        self.disable_buffering()
        if not claim_state(&self.state, OPEN, BUSY):    # the call in progress sends at the end of its record
            return self.flushed_at_exit
        if is_first:
            warn_unclosed(self, "of a SequenceFile")
        if self.owns and type(self.sink) is not io.FileIO:    # such a sink may write its file only in close()
            self.send_and_release(True)
            return 1
        try:
            self.send_all()
        except BaseException as error:
            self.fail(error)
        self.state = OPEN
        return 1

    cdef bint has_unsent(self) noexcept:
        return written(&self.out.buf) > 0 or self.nblock > 0

    cdef void disable_buffering(self) noexcept:
        self.is_finalizing = True
        self.send_threshold = self.block_size = 1

    cdef object release_target(self):
        if self.state != BUSY:
            self.state = CLOSED
        return self.sink

    cdef void mark_inherited(self) noexcept:
        # Here, because a test in enter() would be one more for each record.
        if self.state == OPEN:
            self.state = HAS_FAILED

    cdef int flush_sink(self) except -1:
        flush = getattr(self.sink, "flush", None)
        if flush is not None:
            flush()
        self.flushed_at_exit = self.is_finalizing
        return 0

    cdef int send(self) except -1:
        # The sink may keep a reference to the bytes: the buffer is reused only if it has not,
        # and not before the next send.
        cdef Py_ssize_t nwritten = written(&self.out.buf)
        cdef Py_ssize_t ntaken = 0
        cdef Py_ssize_t n
        if self.is_inherited:
            self.refuse()
        self.is_partial = True
        full = take_owner(&self.out.buf)
        spare, self.spare = self.spare, None
        if spare is not None and Py_REFCNT(<PyObject*>spare) == 1:
            adopt(&self.out.buf, spare)
        else:
            start_owned(&self.out.buf, WRITE_CAPACITY)
        while ntaken < nwritten:
            n = write_part(self.method, full, ntaken, nwritten, self.is_raw)
            self.sent += n
            ntaken += n
            PyErr_CheckSignals()
        if len(full) == WRITE_CAPACITY:
            self.spare = full
        if self.is_finalizing:
            self.flush_sink()
        self.is_partial = False
        return 0

    # ---- records ----

    cdef inline int add(self, PyObject* key, PyObject* value, bint as_bytes) except -1:
        if self.is_typed_uncompressed and not as_bytes:
            self.add_plain(key, value)
        else:
            self.add_other(<object>key, <object>value, as_bytes)
        return self.count_record()

    cdef inline int count_record(self) except -1:
        self.in_record = False
        self.nrecords += 1
        if written(&self.out.buf) >= self.send_threshold:
            self.send()
        if not self.nrecords & SIGNAL_MASK:
            PyErr_CheckSignals()
        return 0

    cdef inline int add_plain(self, PyObject* key, PyObject* value) except -1:
        # The fast path of add_record, for typed bytes without compression.
        cdef WriteBuffer* b = &self.out.buf
        cdef Py_ssize_t nkey, nbytes
        self.begin_record()
        # 12 = record, key and inner key lengths; 4 = inner value length
        nkey = encode_spaced_pair(&self.out, key, value, 12, 4)
        nbytes = written(b) - self.written_before[0]
        check_record(nbytes - 8)
        store_lengths(b.cursor - nbytes, nkey, nbytes - nkey - 16)
        return 0

    cdef int add_other(self, object key, object value, bint as_bytes) except -1:
        if self.compression_type != BLOCK:
            return self.add_record(key, value, as_bytes)
        return self.add_to_block(key, value, as_bytes)

    cdef inline int begin_record(self) except -1:
        # Writes a sync marker first if one is due. Not used for records of a block.
        if self.position() - self.last_sync >= self.sync_interval:
            self.append_marker()
        self.written_before[0] = written(&self.out.buf)
        self.in_record = True
        return 0

    cdef void discard_record(self) noexcept:
        # Discards the bytes of a record that failed to encode.
        self.in_record = False
        self.out.buf.cursor = self.out.buf.start + self.written_before[0]
        self.block_keys.buf.cursor = self.block_keys.buf.start + self.written_before[1]
        self.value_buffer.buf.cursor = self.value_buffer.buf.start + self.written_before[2]

    cdef int add_record(self, object key, object value, bint as_bytes) except -1:
        cdef WriteBuffer* b = &self.out.buf
        cdef Py_ssize_t start
        cdef Py_ssize_t nkey
        self.begin_record()
        start = written(b)
        reserve(b, 8)
        b.cursor += 8
        if self.out.types != NULL:
            self.out.types = &self.key_types
        encode_part(self.key_writable, &self.out, key, as_bytes)
        nkey = written(b) - start - 8
        if self.compression_type == NONE:
            if self.out.types != NULL:
                self.out.types = &self.value_types
            encode_part(self.value_writable, &self.out, value, as_bytes)
        else:
            self.append_compressed_value(value, as_bytes)
        check_record(written(b) - start - 8)
        store_i32(b.start + start, <int32_t>(written(b) - start - 8))
        store_i32(b.start + start + 4, <int32_t>nkey)
        return 0

    cdef int append_compressed_value(self, object value, bint as_bytes) except -1:
        cdef WriteBuffer* b = &self.value_buffer.buf
        b.cursor = b.start
        encode_part(self.value_writable, &self.value_buffer, value, as_bytes)
        return self.append(self.compress(PyBytes_FromStringAndSize(<const char*>b.start, written(b))))

    cdef int add_to_block(self, object key, object value, bint as_bytes) except -1:
        self.begin_in_block()
        encode_part(self.key_writable, &self.block_keys, key, as_bytes)
        encode_part(self.value_writable, &self.value_buffer, value, as_bytes)
        return self.finish_in_block()

    cdef inline int begin_in_block(self) except -1:
        self.written_before[0] = written(&self.out.buf)
        self.written_before[1] = written(&self.block_keys.buf)
        self.written_before[2] = written(&self.value_buffer.buf)
        self.in_record = True
        return 0

    cdef inline int finish_in_block(self) except -1:
        cdef WriteBuffer* keys = &self.block_keys.buf
        cdef WriteBuffer* values = &self.value_buffer.buf
        check_record(written(keys) + written(values))
        reserve(&self.key_lengths, 9)
        reserve(&self.value_lengths, 9)
        self.key_lengths.cursor += store_vint(self.key_lengths.cursor, written(keys) - self.written_before[1])
        self.value_lengths.cursor += store_vint(self.value_lengths.cursor, written(values) - self.written_before[2])
        self.nblock += 1
        if written(keys) + written(values) >= self.block_size:
            self.end_block()
        return 0

    cdef int end_block(self) except -1:
        if self.nblock == 0:
            return 0
        self.is_partial = True
        self.append_marker()
        self.append_vint(self.nblock)
        self.append_compressed(finish(&self.key_lengths))
        self.append_compressed(finish(&self.block_keys.buf))
        self.append_compressed(finish(&self.value_lengths))
        self.append_compressed(finish(&self.value_buffer.buf))
        self.nblock = 0
        self.start_block()
        start_owned(&self.value_buffer.buf, 512)
        self.is_partial = False
        return 0

    cdef int append_compressed(self, bytes data) except -1:
        compressed = self.compress(data)
        check_record(len(compressed))    # what a codec cannot make smaller it makes larger
        self.append_vint(len(compressed))
        return self.append(compressed)

    # ---- what users call ----

    cdef inline int enter(self) except -1:
        return 0 if claim_state(&self.state, OPEN, BUSY) else self.refuse()

    cdef int refuse(self) except -1:
        if self.is_inherited and self.state != CLOSED:
            raise_inherited(self)
        cdef int state = self.state    # another thread may close it meanwhile
        return refuse_call(self, state, self.failure if state == HAS_FAILED else None, "writer")

    cdef int abort_record(self, error) except -1:
        # A record that fails to encode, whatever a hook raises, leaves the file unchanged.
        if self.is_partial:
            self.fail(error)
        if self.in_record:
            self.discard_record()
        self.state = OPEN
        raise error

    cdef int fail(self, error) except -1:
        self.failure = error
        self.state = HAS_FAILED
        raise error

    cdef inline int write_one(self, PyObject* key, PyObject* value, bint as_bytes) except -1:
        self.enter()
        if (<add_function>self.add)(self, key, value, as_bytes) < 0:
            self.abort_pending()
        self.state = OPEN
        return 0

    cdef int abort_pending(self) except -1:
        try:
            raise_pending()
        except BaseException as error:
            self.abort_record(error)

    def write(self, key, value):
        """Write one record.

        Raises EncodeTypeError or EncodeValueError for what the classes of the file cannot hold, and writes nothing.
        """
        self.write_one(<PyObject*>key, <PyObject*>value, False)

    def writes(self, pairs):
        """Write every (key, value) of an iterable and return their number; a failure keeps the records before it."""
        cdef long long before = self.nrecords
        for pair in pairs:
            if type(pair) is not tuple or PyTuple_GET_SIZE(<PyObject*>pair) != 2:
                key, value = pair
                pair = (key, value)
            self.write_one(PyTuple_GET_ITEM(<PyObject*>pair, 0), PyTuple_GET_ITEM(<PyObject*>pair, 1), False)
        return self.nrecords - before

    def write_raw(self, key, value):
        """Write a record of the bytes of two Writables without checking them."""
        self.write_one(<PyObject*>key, <PyObject*>value, True)

    def write_typed(self, data):
        """Write the pairs of a stream of typed bytes, as Hadoop's loadtb reads them, and return their number.

        The structure is checked, without decoding what becomes a TypedBytesWritable. For other classes a STRING is a
        Text, an INT a LongWritable that holds it, and so on. Raises DecodeError for data that is not whole pairs, and
        EncodeTypeError or EncodeValueError for a value that a class cannot hold, after writing the pairs before it.
        """
        cdef Py_buffer view
        cdef long long before = self.nrecords
        contiguous = get_view(data, &view)
        try:
            self.enter()
            try:
                copy_pairs(self, <const unsigned char*>view.buf, view.len)
            except BaseException as error:
                self.abort_record(error)
            self.state = OPEN
        finally:
            PyBuffer_Release(&view)
        return self.nrecords - before

    def sync(self):
        """Write a sync marker, at which a reader can start; with block compression, end the block."""
        self.enter()
        try:
            if self.compression_type == BLOCK:
                self.end_block()
            elif self.position() != self.last_sync:
                self.append_marker()
        except BaseException as error:
            self.fail(error)
        self.state = OPEN

    def flush(self):
        """Send complete records to the sink and flush it; records of an open block are sent at its end."""
        self.enter()
        try:
            self.send_and_flush()
        except BaseException as error:
            self.fail(error)
        self.state = OPEN

    cdef int send_and_flush(self) except -1:
        self.send()
        return 0 if self.is_finalizing else self.flush_sink()    # then send() has flushed it

    def close(self):
        """Write the rest and release the sink; closing again does nothing.

        Raises what the sink raises; the Writer is closed even then.
        """
        cdef int before
        if self.state == BUSY:
            self.refuse()    # says more in a forked child
        before = claim_to_close(self, &self.state)
        if before != CLOSED:
            self.send_and_release(before == OPEN)

    cdef int send_all(self) except -1:
        if self.compression_type == BLOCK:
            self.end_block()
        return self.send_and_flush()

    cdef int send_and_release(self, bint is_sound) except -1:
        try:
            if is_sound:
                self.send_all()
        except BaseException:
            try:
                self.release_sink()
            except Exception:
                pass    # the first error goes on
            raise
        return self.release_sink()

    cdef int release_sink(self) except -1:
        self.state = CLOSED
        unregister_writer(self)
        if not NO_GIL:    # there another thread may be raising it
            self.failure = None    # its frames may hold the Writer
        if self.owns and not self.is_inherited:
            self.owns = False
            self.sink.close()
        return 0

    @property
    def offset(self):
        """The number of bytes written, an offset where a reader can start; with blocks, that of the next block."""
        return self.position()

    @property
    def record(self):
        """The number of records written so far."""
        return self.nrecords

    @property
    def closed(self):
        """Whether the Writer is closed."""
        return self.state == CLOSED
