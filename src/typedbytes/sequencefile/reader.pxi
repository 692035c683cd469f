# Reader: from records to keys and values. With resync=True, reading continues after damage: with the next record if the
# lengths are right, else at the next sync marker; a record that contains a marker has a wrong length.

# Functions called through these types return -1 or NULL and leave their exception set, for recover() or fail_pending().
# An except clause in between could crash: if memory is exhausted, an exception may have no traceback.
ctypedef int (*record_function)(Reader reader, RecordForm form) noexcept
ctypedef PyObject* (*scalar_function)(const Decoding* options, const unsigned char* p, Py_ssize_t nbytes,
                                      bint is_key) noexcept
ctypedef PyObject* (*object_function)(WritableClass writable, Decoding* d, const unsigned char* p, Py_ssize_t nbytes,
                                      bint is_key) noexcept

Skipped = namedtuple("Skipped", "offset nbytes nrecords error", module="typedbytes.sequencefile")
Skipped.__doc__ = """A part of a file that a Reader with resync=True has skipped.

offset: where it starts. nbytes: its size, up to the next sync marker or the end of the file; for a record in a block,
its decompressed size. nrecords: None where the damage hides the number. error: what was wrong.
"""

# What short records are: see short_records.pxi.
cdef struct ShortRecords:
    int key_kind              # Kinds
    int value_kind
    const ClassNode* key_root    # root of a described class that is plain; NULL: another class
    const ClassNode* value_root
    bint hive

cdef enum RecordForm:
    OBJECTS                   # a tuple of key and value
    KEY_AND_VALUE             # key and value without a tuple
    BYTES_PAIR                # the bytes of two Writables, not decoded
    TYPED                     # appended to `typed`
    UNDECODED


cdef inline bint is_common(WritableClass writable) noexcept:
    return writable.kind < OTHER or plain_root(writable) != NULL


cdef inline const ClassNode* plain_root(WritableClass writable) noexcept:
    return writable.program.root if writable.kind == DESCRIBED and writable.program.is_plain else NULL


cdef class Reader(RecordFrames):
    "Reader(source, *, start=0, length=None, raw=False, resync=False, pickle='safe', exact=False, map_pairs=False, " \
        "ext_hook=None, unicode_errors='strict', dialect='hadoop', max_depth=256, key_type=None, value_type=None, " \
        "strict=True)\n--\n\n" \
        """Read a SequenceFile from an object with read(), or from bytes; see `typedbytes.sequencefile.Reader`.

    find_codec: called with a codec's class name, returns a function that takes compressed bytes and a limit and returns
    bytes. find_converters: called with the name of a class and "key" or "value", returns two functions of a Writable's
    bytes, the first of which returns an object and the second typed bytes, and the ClassProgram of a class that is
    described; each can be None. Without the first, a class that is described or built in is decoded as such.
    """

    cdef readonly list skipped
    cdef DecodeOptions options
    cdef Decoding d                       # the state of decoding one key or value
    cdef Skipping skipping                # checks the typed bytes that are copied
    cdef WriteBuffer typed
    cdef object failure
    cdef WritableClass key_writable
    cdef WritableClass value_writable
    cdef RecordForm form
    cdef State state
    cdef bint resync
    cdef bint looks_for_markers           # in each record: no decoding would tell that its length is wrong
    cdef ShortRecords short
    cdef bint holds_typed                 # both classes are TypedBytesWritable
    cdef bint holds_common                # records may have a form that is copied without the GIL
    cdef bint owns                        # close() closes the source too
    cdef object filename                  # for errors; None: not opened by its path
    # of the record read last, owned until take_record() takes it: a tuple, or the key alone
    cdef PyObject* made
    cdef PyObject* made_value             # the value of that record, owned, if `made` is the key alone
    cdef object last_pair                 # the last tuple returned, reused if no other reference to it exists

    def __cinit__(self, *args, **options):
        self.state = CLOSED

    def __init__(self, source, *, long long start=0, length=None, raw=False, resync=False,
                 Py_ssize_t max_bytes=MAX_RECORD_NBYTES,
                 find_codec=None, find_converters=None, owns=False, filename=None, **options):
        if self.source is not None:
            raise RuntimeError("a Reader cannot be initialised again")
        if start < 0 or (length is not None and length < 0):
            raise ValueError(f"start and length must not be negative, not {start} and {length}")
        self.options = DecodeOptions(**options)
        self.options.types.value = self.options.types.pair_value    # a key is decoded apart
        self.d = self.options.template
        self.d.use_string_cache = True
        self.max_bytes = min(parse_max_bytes(max_bytes), MAX_LENGTH)
        stop_skipping(&self.skipping)    # of an __init__ that failed
        start_skipping(&self.skipping, &self.d)
        self.form = BYTES_PAIR if raw else OBJECTS
        self.resync = resync
        self.skipped = []
        self.first_bad_offset = -1
        self.filename = filename
        self.state = BUSY    # the source may call close(), or read from this Reader
        try:
            self.connect(source)
            self.source = source
            self.read_header()
            self.prepare(find_codec, find_converters)
            self.enter_split(start, length)
            self.owns = owns
            self.state = OPEN
        except (DecodeError, StopIteration) as error:
            raise self.named(error)
        finally:
            if self.state == BUSY:
                self.state = CLOSED

    def __dealloc__(self):
        abandon(&self.d)
        drop(&self.typed)
        stop_skipping(&self.skipping)

    def __reduce__(self):
        raise TypeError("a Reader cannot be pickled")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __iter__(self):
        return self

    cdef int prepare(self, find_codec, find_converters) except -1:
        if self.compression_type != NONE:
            self.decompress = find_codec(self.codec)
            self.block = [None] * 4
        self.key_writable = writable_class_of(self.key_class, find_converters, "key")
        self.value_writable = writable_class_of(self.value_class, find_converters, "value")
        self.short.key_kind, self.short.value_kind = self.key_writable.kind, self.value_writable.kind
        self.short.key_root, self.short.value_root = plain_root(self.key_writable), plain_root(self.value_writable)
        self.short.hive = self.d.hive
        self.holds_typed = self.short.key_kind == TYPED_BYTES and self.short.value_kind == TYPED_BYTES
        cdef bint are_common = is_common(self.key_writable) and is_common(self.value_writable)
        self.holds_common = self.compression_type != RECORD and are_common
        self.looks_for_markers = self.resync and (self.form == BYTES_PAIR or not are_common)
        return 0

    # ---- decoding of a record ----

    cdef int next_record(self, RecordForm form) except -1:
        # Returns 0 at the end of input.
        cdef int got = (<record_function>self.try_next_record)(self, form)
        return got if got >= 0 else self.recover(form)

    cdef int try_next_record(self, RecordForm form) except -1:
        if not (self.next_from_block() if self.compression_type == BLOCK else self.read_buffered_record()
                or self.read_record()):
            return 0
        if not self.nrecords & SIGNAL_MASK:
            PyErr_CheckSignals()
        if self.looks_for_markers and self.spans_marker():
            raise self.error("record contains a sync marker: its length is wrong")
        if self.compression_type == RECORD and form != UNDECODED:
            self.decompress_value()
        self.d.record_index = self.nrecords
        if form == OBJECTS:
            self.make_pair()
        elif form == KEY_AND_VALUE:
            make_objects(self, &self.made, &self.made_value)
        elif form == BYTES_PAIR:
            self.make_bytes()
        elif form == TYPED:
            self.make_typed()
        self.nrecords += 1
        self.first_bad_offset = -1
        return 1

    cdef int recover(self, RecordForm form) except -1:
        # Called after try_next_record() has set an exception.
        cdef int got = -1
        while got < 0:
            abandon(&self.d)
            try:
                raise_pending()
            except DecodeError as error:
                reraise_memory_error(error)
                failure = self.with_file_offset(error)
                if not self.resync:
                    raise failure from None
                self.skip_damage(failure)
            got = (<record_function>self.try_next_record)(self, form)
        return got

    cdef int make_pair(self) except -1:
        cdef PyObject* key
        cdef PyObject* value
        make_objects(self, &key, &value)
        self.made = self.pair_of(key, value)
        return 0

    cdef int make_bytes(self) except -1:
        key = PyBytes_FromStringAndSize(<const char*>self.key, self.nkey)
        value = PyBytes_FromStringAndSize(<const char*>self.value, self.nvalue)
        incref(<PyObject*>key)
        incref(<PyObject*>value)
        self.made = self.pair_of(<PyObject*>key, <PyObject*>value)
        return 0

    cdef inline PyObject* pair_of(self, PyObject* key, PyObject* value) except NULL:
        # A caller that unpacks the tuple at once gets the same tuple object again.
        cdef PyObject* pair = pair_from_stolen(<PyObject*>self.last_pair, key, value)
        if pair != <PyObject*>self.last_pair:
            self.last_pair = <object>pair
        return pair

    cdef int make_typed(self) except -1:
        cdef Py_ssize_t before = written(&self.typed)
        if self.copy_scalars():
            return 0
        try:
            self.locate_errors_in_key()
            copy_typed(self.key_writable, &self.d, &self.skipping, self.key, self.nkey, &self.typed)
            self.locate_errors_in_value()
            copy_typed(self.value_writable, &self.d, &self.skipping, self.value, self.nvalue, &self.typed)
        except BaseException:
            self.typed.cursor = self.typed.start + before
            raise
        return 0

    cdef inline bint copy_scalars(self) except -1:
        # The fast path of make_typed, for two scalars; False: nothing was done.
        cdef WriteBuffer* out = &self.typed
        cdef Py_ssize_t nkey = self.nkey - 4
        cdef Py_ssize_t nvalue = self.nvalue - 4
        if not (self.holds_typed and is_scalar(self.key, self.nkey) and is_scalar(self.value, self.nvalue)) \
                or nkey > MAX_LENGTH - nvalue:
            return False
        reserve(out, nkey + nvalue)
        copy_short(out.cursor, self.key + 4, nkey)
        copy_short(out.cursor + nkey, self.value + 4, nvalue)
        out.cursor += nkey + nvalue
        return True

    cdef inline void locate_errors_in_key(self) noexcept:
        # The offset of an error is one in the file if its bytes are decoded directly,
        # else one in the decompressed key or value.
        self.d.buf.start_offset = 0 if self.compression_type == BLOCK else self.record_offset + 8
        self.error_space = IN_DECOMPRESSED_KEY if self.compression_type == BLOCK else IN_FILE

    cdef inline void locate_errors_in_value(self) noexcept:
        self.d.buf.start_offset = self.record_offset + 8 + self.nkey if self.compression_type == NONE else 0
        self.error_space = IN_FILE if self.compression_type == NONE else IN_DECOMPRESSED_VALUE

    cdef object with_file_offset(self, error):
        if self.error_space == IN_FILE:
            return error
        part = "key" if self.error_space == IN_DECOMPRESSED_KEY else "value"
        return relocated(error, f"{error.message}, byte {error.offset} of the decompressed {part}",
                         self.record_offset, error.code, error.path, error.record)

    cdef int skip_damage(self, error) except -1:
        # A bad record with consistent lengths is skipped alone. If the lengths are wrong, skip to the next sync marker,
        # and skip the bad records since the last marker with it: one of their lengths may be what is wrong.
        cdef long long start = self.record_offset
        if self.has_valid_lengths and not self.spans_marker():
            if self.first_bad_offset < 0 and self.compression_type != BLOCK:
                self.first_bad_offset = start
            self.skipped.append(Skipped(start, self.record_nbytes, 1, error))
            return 0
        if self.first_bad_offset >= 0 and self.can_move_to(self.first_bad_offset):
            start = self.first_bad_offset
            while self.skipped and self.skipped[len(self.skipped) - 1].offset >= start:
                error = self.skipped.pop().error
        self.first_bad_offset = -1
        self.forget_ahead()
        self.find_marker_after(start)
        nrecords = self.declared_count if self.declared_count and self.offset_here() == self.block_end else None
        self.skipped.append(Skipped(start, max(0, self.offset_here() - start), nrecords, error))
        return 0

    cdef bint spans_marker(self) noexcept:
        # A record that contains a sync marker has a wrong length. All of it is still buffered.
        return self.compression_type != BLOCK \
            and find_bytes(self.file.cursor - self.record_nbytes, self.file.cursor, self.escaped_marker,
                           ESCAPED_NBYTES) != NULL

    cdef inline int enter(self) except -1:
        return 0 if claim_state(&self.state, OPEN, BUSY) else self.refuse()

    cdef int refuse(self) except -1:
        return refuse_call(self, self.state, self.failure, "reader")

    cdef object named(self, error):
        if isinstance(error, DecodeError):
            error.filename = self.filename
        return as_failure(error)

    cdef int keep_failure(self, error) except -1:
        # Every later call raises it again.
        self.failure = self.named(error)
        self.state = HAS_FAILED
        return 0

    cdef int fail(self, error) except -1:
        abandon(&self.d)
        self.keep_failure(error)
        raise self.failure

    cdef int fail_pending(self) except -1:
        try:
            raise_pending()
        except BaseException as error:
            self.fail(error)

    def __next__(self):
        cdef PyObject* pair
        if not take_record(self, self.form, &pair, NULL):
            raise StopIteration
        return object_from_stolen(pair)

    cdef bint take_pair(self, PyObject** key, PyObject** value) except -1:
        # Objects, with raw=True too.
        return take_scalars(self, key, value) or take_record(self, KEY_AND_VALUE, key, value)

    def read(self, default=None):
        """Return the next (key, value), or `default` at the end."""
        return next(self, default)

    def read_all(self):
        """Return all pairs that are left, as a list."""
        return list(self)

    def read_typed(self, Py_ssize_t nbytes=131072):
        """Return the next whole pairs as a stream of typed bytes, as Hadoop's dumptb writes them; b"" at the end.

        Returns at least `nbytes` bytes, fewer only at the end. Writables without a type code become code 50
        with their class name. The structure of a TypedBytesWritable is checked. An error after whole pairs is
        raised by the next call.
        """
        return self.typed_pairs(nbytes, NULL)

    def __read_encoded__(self, Py_ssize_t nbytes):
        """Return what read_typed does, and the offsets of the pairs' records or blocks as int64. Used by columns."""
        cdef WriteBuffer offsets
        start_owned(&offsets, 512)
        try:
            data = self.typed_pairs(nbytes, &offsets)
            return data, finish(&offsets)
        finally:
            drop(&offsets)

    cdef bytes typed_pairs(self, Py_ssize_t nbytes, WriteBuffer* offsets):
        # offsets: NULL if the caller does not need them.
        cdef WriteBuffer* out = &self.typed
        cdef Py_ssize_t nshort
        if nbytes < 1:
            raise ValueError(f"nbytes must be at least 1, not {nbytes}")
        data, failure = b"", None
        self.enter()
        try:
            start_owned(out, min(nbytes, READ_SIZE) + 512)
            try:
                while written(out) < nbytes:
                    if self.holds_common:
                        with nogil:
                            nshort = append_short_records(self, nbytes, offsets)
                        if nshort:
                            continue
                    if not self.next_record(TYPED):
                        break
                    if offsets != NULL:
                        reserve(offsets, sizeof(self.record_offset))
                        store_offset(offsets, self.record_offset)
            except Exception as error:
                reraise_memory_error(error)
                failure = error    # raised after the pairs before it have been returned
            data = finish(out)
        except BaseException as error:
            self.fail(error)
        if failure is None:
            self.state = OPEN
        elif data:
            self.keep_failure(failure)
        else:
            self.fail(failure)
        return data

    @property
    def __programs__(self):
        """The ClassProgram of the keys and that of the values, None for a class that is not described."""
        return self.key_writable.program if self.key_writable.kind == DESCRIBED else None, \
            self.value_writable.program if self.value_writable.kind == DESCRIBED else None

    def __decompress_ahead__(self, submit, Py_ssize_t nblocks):
        """Have up to `nblocks` blocks decompressed ahead by submit(function, ...), which returns a future."""
        self.enter()
        try:
            self.start_looking_ahead(submit, nblocks)
        finally:
            self.state = OPEN

    def skip(self, long long n=1):
        """Skip n records without decoding them and return how many there were, fewer at the end.

        Skipped records and whole blocks are not decompressed.
        """
        cdef long long nskipped = 0
        self.enter()
        try:
            while nskipped < n:
                if self.compression_type == BLOCK and self.nblock == 0:
                    nskipped += self.skip_blocks(n - nskipped)
                if nskipped == n or not self.next_record(UNDECODED):
                    break
                nskipped += 1
        except BaseException as error:
            self.fail(error)
        self.state = OPEN
        return nskipped

    cdef long long skip_blocks(self, long long max_records) except -1:
        # Skips whole blocks that together have at most `max_records` records; returns the number of records skipped.
        cdef Py_ssize_t starts[4]
        cdef Py_ssize_t sizes[4]
        cdef Py_ssize_t nbytes
        cdef long long nskipped = 0
        self.forget_ahead()
        while True:
            try:
                if not self.advance_to_record():
                    return nskipped
                nbytes = self.frame_block(starts, sizes)
                if self.declared_count > max_records - nskipped:
                    return nskipped
                PyErr_CheckSignals()
                self.file.cursor += nbytes
                self.nrecords += self.declared_count
                nskipped += self.declared_count
            except DecodeError as error:
                reraise_memory_error(error)
                if not self.resync:
                    raise
                self.skip_damage(error)

    def seek(self, long long offset):
        """Go to an offset where a record or the sync marker of a block starts, such as one in an index."""
        if offset < self.header_end:
            raise ValueError(f"offset {offset} is inside the header, which ends at {self.header_end}")
        self.enter()
        try:
            self.nblock = 0
            self.is_empty_split = False
            self.first_bad_offset = -1
            self.forget_ahead()
            self.move_to(offset)
        except BaseException as error:
            self.fail(error)
        self.state = OPEN

    @property
    def offset(self):
        """The offset in the file after the last record read; in a block, after the block."""
        return self.ahead[0][0] if self.ahead else self.offset_here()

    @property
    def record(self):
        """The number of records returned or skipped."""
        return self.nrecords

    @property
    def __unicode_errors__(self):
        """The option unicode_errors. Used by columns."""
        cdef const char* errors = self.options.template.unicode_errors
        return "strict" if errors == NULL else errors.decode("ascii")

    @property
    def closed(self):
        """Whether the Reader is closed."""
        return self.state == CLOSED

    def close(self):
        """Release the source, and close it if the Reader opened it from a path."""
        if claim_to_close(self, &self.state) == CLOSED:
            return
        try:
            release(&self.file)
            if self.memory is not None:
                self.memory.release()
            self.input = self.memory = self.block = self.ahead = self.submit = self.failure_ahead = None
            if not NO_GIL:    # there another thread may be raising it
                self.failure = None
        finally:
            self.state = CLOSED
        if self.owns:
            self.owns = False
            self.source.close()


cdef inline int make_objects(Reader reader, PyObject** key, PyObject** value) except -1:
    reader.locate_errors_in_key()
    key[0] = new_object(reader.key_writable, &reader.d, reader.key, reader.nkey, True)
    reader.locate_errors_in_value()
    value[0] = (<object_function>new_object)(reader.value_writable, &reader.d, reader.value, reader.nvalue, False)
    if value[0] == NULL:
        xdecref(key[0])
        return -1
    return 0


cdef inline bint take_record(Reader reader, RecordForm form, PyObject** made, PyObject** made_value) except -1:
    # The next record, as a call from outside; False: the end of input. made_value: only of KEY_AND_VALUE.
    cdef int got
    reader.enter()
    got = (<record_function>reader.try_next_record)(reader, form)
    if got < 0:
        got = (<record_function>reader.recover)(reader, form)
        if got < 0:
            reader.fail_pending()
    made[0] = reader.made    # before another thread may read the next record
    if form == KEY_AND_VALUE:
        made_value[0] = reader.made_value
    reader.state = OPEN
    return got


cdef inline bint take_scalars(Reader reader, PyObject** made, PyObject** made_value) noexcept:
    # The fast path of take_record, for two short values or strings of typed bytes in a record that is there already;
    # False: nothing was done.
    cdef const unsigned char* key
    cdef const unsigned char* value
    cdef Py_ssize_t nkey, nvalue
    cdef bint got = False
    if not reader.holds_typed or not reader.nrecords & SIGNAL_MASK or not claim_state(&reader.state, OPEN, BUSY):
        return False
    if reader.compression_type == NONE:
        if has_buffered_record(reader, &nkey, &nvalue):
            key = reader.file.cursor + 8
            got = make_scalars(reader, key, nkey, key + nkey, nvalue, made, made_value)
            if got:
                reader.file.cursor += nkey + nvalue + 8
    elif reader.nblock:
        nkey, nvalue = reader.block_cursors[0][0], reader.block_cursors[2][0]
        if nkey <= MAX_SHORT_VINT and nvalue <= MAX_SHORT_VINT:
            got = make_scalars(reader, reader.block_cursors[1], nkey, reader.block_cursors[3], nvalue, made, made_value)
        if got:
            reader.nblock -= 1
            reader.block_cursors[0] += 1
            reader.block_cursors[1] += nkey
            reader.block_cursors[2] += 1
            reader.block_cursors[3] += nvalue
    reader.nrecords += got
    reader.state = OPEN
    return got


cdef inline bint make_scalars(Reader reader, const unsigned char* key, Py_ssize_t nkey, const unsigned char* value,
                              Py_ssize_t nvalue,
                              PyObject** made, PyObject** made_value) noexcept:
    # The value first: a key is a scalar more often. Without memory the general path raises again.
    if not (may_be_scalar(key, nkey) and may_be_scalar(value, nvalue)):
        return False
    made_value[0] = (<scalar_function>decode_single_scalar)(&reader.d, value + 4, nvalue - 4, False)
    made[0] = NULL if made_value[0] == NULL \
        else (<scalar_function>decode_single_scalar)(&reader.d, key + 4, nkey - 4, True)
    if made[0] != NULL:
        return True
    xdecref(made_value[0])
    PyErr_Clear()
    return False
