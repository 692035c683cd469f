# Writer: keys and values to bytes, with markers and blocks where Hadoop would put them.

cdef class Writer:
    """Write a SequenceFile to an object with write(); see `typedbytes.sequencefile.Writer`.

    compress: a function of bytes that returns them compressed, with `codec` the class name it goes by. key_function and
    value_function: of an object, give the bytes of a Writable of a class that is none of the simple ones.
    """

    cdef readonly int version
    cdef readonly str key_class
    cdef readonly str value_class
    cdef readonly str compression
    cdef readonly object codec
    cdef readonly dict metadata
    cdef readonly bytes sync_marker
    cdef EncodeOptions options
    cdef Encoding out                     # the file's bytes
    cdef Encoding first                   # BLOCK: the keys of a block
    cdef Encoding second                  # RECORD: a value before compression. BLOCK: the values of a block
    cdef WriteBuffer key_lengths          # BLOCK: as VInts
    cdef WriteBuffer value_lengths
    cdef object sink
    cdef bytes spare                      # sent, to be written into again once nobody else holds it
    cdef object compress
    cdef Side keys
    cdef Side values
    cdef Compression manner
    cdef State state
    cdef bint plain                       # typed bytes, not compressed
    cdef bint owns                        # the sink is closed with the Writer
    cdef Py_ssize_t block_size
    cdef Py_ssize_t nblock                # records in the block
    cdef Py_ssize_t written_before[3]     # to out, first and second, when the record was begun
    cdef bint begun                       # a record is not whole yet
    cdef bint torn                        # bytes are on the way to the sink, or a block is half made
    cdef long long sync_interval
    cdef long long last_sync              # where the file stood behind the last marker
    cdef long long sent                   # bytes that the sink has taken
    cdef long long nrecords
    cdef Py_ssize_t send_from             # bytes of the file that are handed over
    cdef bint is_inherited                # by a forked child: what it finds here is its parent's to write
    cdef bint is_leaving                  # the interpreter ends: all goes out at once, and the sink is flushed
    cdef bint is_settled                  # it has been since
    cdef OpenWriter entry

    def __cinit__(self, *args, **options):
        self.state = CLOSED

    def __init__(self, sink, *, key_class, value_class, compression="none", codec=None, compress=None, metadata=None,
                 int version=NEWEST, bytes sync_marker, long long sync_interval=SYNC_INTERVAL, Py_ssize_t block_size=BLOCK_NBYTES,
                 key_function=None, value_function=None, owns=False, **options):
        if self.sink is not None:
            raise RuntimeError("a Writer cannot be initialised again")
        self.options = EncodeOptions(**options)
        self.keys = Side(key_class, key_function)
        self.values = Side(value_class, value_function)
        self.key_class, self.value_class, self.compression, self.codec = key_class, value_class, compression, codec
        self.manner = NONE if compression == "none" else RECORD if compression == "record" else BLOCK
        self.plain = self.manner == NONE and self.keys.kind == TYPED_BYTES and self.values.kind == TYPED_BYTES
        self.compress = compress
        self.metadata = dict(metadata or {})
        self.version = version
        self.sync_marker = sync_marker
        self.sync_interval = sync_interval
        self.block_size = block_size
        self.check_arguments(sink)
        self.start_buffers()
        self.write_header()
        self.sink = sink
        self.owns = owns
        self.send_from = WRITE_SIZE
        self.state = OPEN
        if enlist(&self.entry, self, &SEQUENCE_WRITER):
            self.hold_nothing()

    cdef int check_arguments(self, sink) except -1:
        if not OLDEST <= self.version <= NEWEST:
            raise ValueError(f"versions {OLDEST} to {NEWEST} are written, not {self.version}")
        if self.version == OLDEST and self.codec is not None and self.codec != DEFAULT_CODEC:
            raise ValueError("version 4 has no other codec than DefaultCodec")
        if self.version < NEWEST and self.metadata:
            raise ValueError("metadata needs version 6")
        if len(self.sync_marker) != SYNC_NBYTES:
            raise ValueError(f"a sync marker has {SYNC_NBYTES} bytes, not {len(self.sync_marker)}")
        if self.sync_interval < 1 or not 1 <= self.block_size <= MAX_LENGTH // 2:
            raise ValueError("sync_interval and block_size are at least 1, and block_size is below 2^30")
        if isinstance(sink, io.TextIOBase) or not callable(getattr(sink, "write", None)):
            raise TypeError(f"cannot write to a {type(sink).__name__}: a binary file with write() is needed")
        return 0

    cdef int start_buffers(self) except -1:
        self.out = self.first = self.second = self.options.template
        start_owned(&self.out.buf, WRITE_ROOM)
        if self.manner == BLOCK:
            self.start_block()
        if self.manner != NONE:
            start_owned(&self.second.buf, 512)
        return 0

    cdef int start_block(self) except -1:
        start_owned(&self.first.buf, 512)
        start_owned(&self.key_lengths, 512)
        start_owned(&self.value_lengths, 512)
        return 0

    def __dealloc__(self):
        strike_off(&self.entry)
        drop(&self.out.buf)
        drop(&self.first.buf)
        drop(&self.second.buf)
        drop(&self.key_lengths)
        drop(&self.value_lengths)

    def __del__(self):
        if self.state != OPEN or (self.is_leaving and not self.holds()):
            return
        if not self.is_leaving:    # it has been said
            warn_unclosed(self, "of a SequenceFile")
        try:
            self.close()
        except BaseException as error:
            tell_of_forgotten(self, error)

    def __reduce__(self):
        raise TypeError("a Writer cannot be pickled")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    # ---- the file ----

    cdef int write_header(self) except -1:
        cdef WriteBuffer* b = &self.out.buf
        self.put(b"SEQ" + bytes([self.version]))
        self.put_text(self.key_class)
        self.put_text(self.value_class)
        self.put(bytes([self.manner != NONE, self.manner == BLOCK]))
        if self.manner != NONE and self.version >= 5:
            self.put_text(self.codec)
        if self.version >= 6:
            reserve(b, 4)
            store_i32(b.cursor, len(self.metadata))
            b.cursor += 4
            for name in sorted(self.metadata):
                self.put_text(name)
                self.put_text(self.metadata[name])
        self.put(self.sync_marker)
        return 0

    cdef int put(self, bytes data) except -1:
        return append_bytes(&self.out.buf, <const unsigned char*>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))

    cdef int put_text(self, str text) except -1:
        data = text.encode("utf-8", "surrogateescape")
        self.put_vint(len(data))
        return self.put(data)

    cdef int put_vint(self, int64_t number) except -1:
        reserve(&self.out.buf, 9)
        self.out.buf.cursor += store_vint(self.out.buf.cursor, number)
        return 0

    cdef int put_marker(self) except -1:
        reserve(&self.out.buf, ESCAPED_NBYTES)
        store_i32(self.out.buf.cursor, ESCAPE)
        self.out.buf.cursor += 4
        self.put(self.sync_marker)
        self.last_sync = self.position()
        return 0

    cdef inline long long position(self) noexcept:
        return self.sent + written(&self.out.buf)

    # ---- the end of the interpreter ----

    cdef int settle(self) except -1:
        if self.state == CLOSED or self.state == FAILED or (not self.holds() and is_closed(self.sink)):
            return 1
        if not self.is_leaving and self.state == OPEN:
            warn_unclosed(self, "of a SequenceFile")
        self.hold_nothing()
        if self.state == BUSY:    # it sends when it comes to the end of its record
            return self.is_settled
        if self.owns and type(self.sink) is not io.FileIO:    # it may write its file only when it is closed
            self.close()
            return 1
        if self.manner == BLOCK:
            self.sync()
        self.flush()
        return 1

    cdef bint holds(self) noexcept:
        return written(&self.out.buf) > 0 or self.nblock > 0

    cdef void hold_nothing(self) noexcept:
        self.is_leaving = True
        self.send_from = self.block_size = 1

    cdef object give_up(self):
        if self.state != BUSY:
            self.state = CLOSED
        return self.sink

    cdef void inherit(self) noexcept:
        self.is_inherited = True
        if self.state == OPEN:
            self.state = FAILED

    cdef int flush_sink(self) except -1:
        flush = getattr(self.sink, "flush", None)
        if flush is not None:
            flush()
        self.is_settled = self.is_leaving
        return 0

    cdef int send(self) except -1:
        # The sink may keep the bytes: they are written over only if it has not, and not before it has had the next ones.
        cdef Py_ssize_t nwritten = written(&self.out.buf)
        if self.is_inherited:
            self.refuse()
        self.torn = True
        full = take_owner(&self.out.buf)
        spare, self.spare = self.spare, None
        if spare is not None and Py_REFCNT(<PyObject*>spare) == 1:
            adopt(&self.out.buf, spare)
        else:
            start_owned(&self.out.buf, WRITE_ROOM)
        view = memoryview(full)[:nwritten]
        while len(view):
            count = self.sink.write(view)
            if count is None and isinstance(self.sink, io.RawIOBase):
                raise BlockingIOError("write() took no bytes: a sink must not be non-blocking")
            nbytes = len(view) if count is None else count
            if not 0 < nbytes <= len(view):
                raise OSError(f"write() returned {count} for {len(view)} bytes")
            self.sent += nbytes
            view = view[nbytes:]
            PyErr_CheckSignals()
        if len(full) == WRITE_ROOM:
            self.spare = full
        if self.is_leaving:
            self.flush_sink()
        self.torn = False
        return 0

    # ---- records ----

    cdef inline int add(self, PyObject* key, PyObject* value, bint as_bytes) except -1:
        if self.plain and not as_bytes:
            self.add_plain(key, value)
        else:
            self.add_other(<object>key, <object>value, as_bytes)
        return self.count_record()

    cdef inline int count_record(self) except -1:
        self.begun = False
        self.nrecords += 1
        if written(&self.out.buf) >= self.send_from:
            self.send()
        if not self.nrecords & 0x3fff:
            PyErr_CheckSignals()
        return 0

    cdef inline int add_plain(self, PyObject* key, PyObject* value) except -1:
        # add_record of typed bytes that are not compressed, the usual case, in few steps.
        cdef WriteBuffer* b = &self.out.buf
        cdef Py_ssize_t nkey, nbytes
        self.begin_record()
        nkey = encode_apart(&self.out, key, value, 12, 4)
        nbytes = written(b) - self.written_before[0]
        check_record(nbytes - 8)
        store_lengths(b.cursor - nbytes, nkey, nbytes - nkey - 16)
        return 0

    cdef int copy_plain(self, const unsigned char* key, Py_ssize_t nkey, Py_ssize_t nvalue) except -1:
        # The same for a pair that is encoded, its value right behind its key.
        cdef WriteBuffer* b = &self.out.buf
        self.begin_record()
        check_record(nkey + nvalue + 8)
        reserve(b, nkey + nvalue + 16)
        store_lengths(b.cursor, nkey, nvalue)
        memcpy(b.cursor + 12, key, nkey)
        memcpy(b.cursor + 16 + nkey, key + nkey, nvalue)
        b.cursor += nkey + nvalue + 16
        return 0

    cdef int add_other(self, object key, object value, bint as_bytes) except -1:
        if self.manner != BLOCK:
            return self.add_record(key, value, as_bytes)
        return self.add_to_block(key, value, as_bytes)

    cdef inline int begin_record(self) except -1:
        # Behind a marker, when one is due. Not for a record of a block.
        if self.position() - self.last_sync >= self.sync_interval:
            self.put_marker()
        self.written_before[0] = written(&self.out.buf)
        self.begun = True
        return 0

    cdef void take_back(self) noexcept:
        # What a record that could not be made has left.
        self.begun = False
        self.out.buf.cursor = self.out.buf.start + self.written_before[0]
        self.first.buf.cursor = self.first.buf.start + self.written_before[1]
        self.second.buf.cursor = self.second.buf.start + self.written_before[2]

    cdef int add_record(self, object key, object value, bint as_bytes) except -1:
        cdef WriteBuffer* b = &self.out.buf
        cdef Py_ssize_t start
        cdef Py_ssize_t nkey
        self.begin_record()
        start = written(b)
        reserve(b, 8)
        b.cursor += 8
        encode_side(self.keys, &self.out, key, as_bytes)
        nkey = written(b) - start - 8
        if self.manner == NONE:
            encode_side(self.values, &self.out, value, as_bytes)
        else:
            self.put_compressed_value(value, as_bytes)
        check_record(written(b) - start - 8)
        store_i32(b.start + start, <int32_t>(written(b) - start - 8))
        store_i32(b.start + start + 4, <int32_t>nkey)
        return 0

    cdef int put_compressed_value(self, object value, bint as_bytes) except -1:
        cdef WriteBuffer* b = &self.second.buf
        b.cursor = b.start
        encode_side(self.values, &self.second, value, as_bytes)
        return self.put(self.compress(PyBytes_FromStringAndSize(<const char*>b.start, written(b))))

    cdef int add_to_block(self, object key, object value, bint as_bytes) except -1:
        cdef WriteBuffer* keys = &self.first.buf
        cdef WriteBuffer* values = &self.second.buf
        self.written_before[0] = written(&self.out.buf)
        self.written_before[1] = written(keys)
        self.written_before[2] = written(values)
        self.begun = True
        encode_side(self.keys, &self.first, key, as_bytes)
        encode_side(self.values, &self.second, value, as_bytes)
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
        self.torn = True
        self.put_marker()
        self.put_vint(self.nblock)
        self.put_compressed(finish(&self.key_lengths))
        self.put_compressed(finish(&self.first.buf))
        self.put_compressed(finish(&self.value_lengths))
        self.put_compressed(finish(&self.second.buf))
        self.nblock = 0
        self.start_block()
        start_owned(&self.second.buf, 512)
        self.torn = False
        return 0

    cdef int put_compressed(self, bytes data) except -1:
        compressed = self.compress(data)
        self.put_vint(len(compressed))
        return self.put(compressed)

    # ---- what users call ----

    cdef inline int enter(self) except -1:
        if self.state != OPEN:
            return self.refuse()
        self.state = BUSY
        return 0

    cdef int refuse(self) except -1:
        if self.state == CLOSED:
            raise ValueError("I/O operation on a closed writer")
        if self.is_inherited:
            raise RuntimeError("this Writer belongs to the process that made it")
        if self.state == FAILED:
            raise ValueError("this Writer has failed: what its sink took of the last records is not known")
        raise RuntimeError("this Writer is in use: a hook or another thread came back to it")

    cdef int leave(self, error) except -1:
        # A record that cannot be made, whatever a hook raises, leaves the file as it was.
        if self.torn:
            self.fail(error)
        if self.begun:
            self.take_back()
        self.state = OPEN
        raise error

    cdef int fail(self, error) except -1:
        self.state = FAILED
        raise error

    cdef inline int write_one(self, PyObject* key, PyObject* value, bint as_bytes) except -1:
        self.enter()
        if (<add_function>self.add)(self, key, value, as_bytes) < 0:
            self.leave_pending()
        self.state = OPEN
        return 0

    cdef int leave_pending(self) except -1:
        try:
            raise_pending()
        except BaseException as error:
            self.leave(error)

    def write(self, key, value):
        """Write one record.

        Raises EncodeTypeError or EncodeValueError for what the classes of the file cannot hold; nothing is written then.
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
        """Write a record of the bytes of two Writables as they are; they are not checked."""
        self.write_one(<PyObject*>key, <PyObject*>value, True)

    def write_typed(self, data):
        """Write the pairs of a stream of typed bytes, as Hadoop's loadtb reads them, and return their number.

        The classes of the file have to be TypedBytesWritable. Structure is checked, values are not made. Raises DecodeError
        where there are no whole pairs; those before it are written.
        """
        cdef Py_buffer view
        cdef long long before = self.nrecords
        if self.keys.kind != TYPED_BYTES or self.values.kind != TYPED_BYTES:
            raise TypeError(f"typed bytes are not what a file from {self.key_class} to {self.value_class} holds")
        self.enter()
        contiguous = get_view(data, &view)
        try:
            self.add_stream(<const unsigned char*>view.buf, view.len)
        except BaseException as error:
            self.leave(error)
        finally:
            PyBuffer_Release(&view)
        self.state = OPEN
        return self.nrecords - before

    cdef int add_stream(self, const unsigned char* p, Py_ssize_t nbytes) except -1:
        cdef DecodeOptions options = DecodeOptions(dialect="hive" if self.options.template.hive else "hadoop",
                                                   max_depth=self.options.template.max_depth)
        cdef Decoding d = options.template
        cdef Skipping skipping
        cdef const unsigned char* key
        cdef const unsigned char* value
        borrow(&d.buf, p, nbytes)
        start_skipping(&skipping, &d)
        try:
            while held(&d.buf):
                d.record = self.nrecords
                key = d.buf.cursor
                pass_value(&d, &skipping)
                value = d.buf.cursor
                pass_value(&d, &skipping)
                if self.plain:
                    self.copy_plain(key, value - key, d.buf.cursor - value)
                else:
                    self.add_other(as_writable(key, value - key), as_writable(value, d.buf.cursor - value), True)
                self.count_record()
        finally:
            stop_skipping(&skipping)
        return 0

    def sync(self):
        """Write a sync marker, at which a reader can start; in a file of blocks, end the block."""
        self.enter()
        try:
            if self.manner == BLOCK:
                self.end_block()
            elif self.position() != self.last_sync:
                self.put_marker()
        except BaseException as error:
            self.fail(error)
        self.state = OPEN

    def flush(self):
        """Hand what is complete over to the sink and flush it; the records of a block wait for its end."""
        self.enter()
        try:
            self.send()
            if not self.is_leaving:    # send() has
                self.flush_sink()
        except BaseException as error:
            self.fail(error)
        self.state = OPEN

    def close(self):
        """Write what is left and let go of the sink; closing again does nothing.

        Raises what the sink raises; the Writer is closed all the same.
        """
        if self.state == CLOSED:
            return
        if self.state == BUSY:
            self.refuse()
        try:
            if self.state == OPEN:
                if self.manner == BLOCK:
                    self.sync()
                self.flush()
        finally:
            self.state = CLOSED
            strike_off(&self.entry)
            if self.owns and not self.is_inherited:
                self.owns = False
                self.sink.close()

    @property
    def offset(self):
        """Give the bytes written so far: a place from which a reader can go on, in a file of blocks the next block's."""
        return self.position()

    @property
    def record(self):
        """Give the number of records written so far."""
        return self.nrecords


cdef int settle_writer(object writer) except -1:
    return (<Writer>writer).settle()


cdef object give_up_writer(object writer):
    return (<Writer>writer).give_up()


cdef void inherit_writer(PyObject* writer) noexcept:
    (<Writer>writer).inherit()

cdef WriterKind SEQUENCE_WRITER = WriterKind(settle=settle_writer, give_up=give_up_writer, inherit=inherit_writer)


cdef int pass_value(Decoding* d, Skipping* skipping) except -1:
    cdef SkipOutcome outcome = skip_value(skipping, &d.buf)
    if outcome != SKIPPED:
        raise_skipped(d, skipping, outcome)
    return 0


cdef bytes as_writable(const unsigned char* p, Py_ssize_t nbytes):
    # The bytes of a TypedBytesWritable.
    cdef bytes data = PyBytes_FromStringAndSize(NULL, nbytes + 4)
    store_i32(<unsigned char*>PyBytes_AS_STRING(data), <int32_t>nbytes)
    memcpy(PyBytes_AS_STRING(data) + 4, p, nbytes)
    return data


ctypedef int (*add_function)(Writer writer, PyObject* key, PyObject* value, bint as_bytes) noexcept    # -1: an exception is set


cdef inline int encode_side(Side side, Encoding* e, object obj, bint as_bytes) except -1:
    if as_bytes:
        return encode_buffer(e, obj, False)
    return encode_typed(e, obj) if side.kind == TYPED_BYTES else encode_writable(side, e, obj)


cdef inline void store_lengths(unsigned char* p, Py_ssize_t nkey, Py_ssize_t nvalue) noexcept:
    # Of a record of two TypedBytesWritables; its own, its key's, and behind those each one's.
    store_i32(p, <int32_t>(nkey + nvalue + 8))
    store_i32(p + 4, <int32_t>(nkey + 4))
    store_i32(p + 8, <int32_t>nkey)
    store_i32(p + 12 + nkey, <int32_t>nvalue)


cdef inline int check_record(Py_ssize_t nbytes) except -1:
    if nbytes > MAX_LENGTH - 8:
        return raise_long_record(nbytes)
    return 0


cdef int raise_long_record(Py_ssize_t nbytes) except -1:
    raise EncodeValueError(f"a record or block of {nbytes} bytes is longer than 2^31-9")
