# Reader: from bytes to keys and values, for whole files or splits, and past damage.

from collections import namedtuple

Skipped = namedtuple("Skipped", "offset nbytes nrecords error", module="typedbytes.sequencefile")
Skipped.__doc__ = """A part of a file that a Reader with resync=True has skipped.

offset: where it starts. nbytes: its size, up to the next sync marker or the end of the file; for a record in a block, its
decompressed size. nrecords: None where the damage hides the number. error: what was wrong.
"""

cdef enum Form:
    OBJECTS
    BYTES_PAIR                # the bytes of two Writables, not decoded
    TYPED                     # appended to `typed`
    NOTHING


# What the offset of an error is relative to.
cdef enum ErrorOffset:
    IN_FILE
    IN_DECOMPRESSED_KEY                    # decompressed
    IN_DECOMPRESSED_VALUE


cdef const unsigned char* find_escaped_marker(const unsigned char* p, const unsigned char* end, const unsigned char* escaped_marker) noexcept nogil:
    # Compares at every escape only, and a false match ends within a few bytes.
    while end - p >= ESCAPED_NBYTES:
        p = <const unsigned char*>memchr(p, escaped_marker[0], end - p - ESCAPED_NBYTES + 1)
        if p == NULL or memcmp(p, escaped_marker, ESCAPED_NBYTES) == 0:
            return p
        p += 1
    return NULL


# Called through these types, a function returns -1 or NULL and leaves its exception set for the caller.
ctypedef int (*record_function)(Reader reader, Form form) noexcept
ctypedef PyObject* (*object_function)(WritableClass writable, Decoding* d, const unsigned char* p, Py_ssize_t nbytes, bint is_key) noexcept


cdef int raise_pending() except? -1:
    # Raises the exception that such a call has left set.
    return -1


cdef class Reader:
    """Reader(source, *, start=0, length=None, raw=False, resync=False, pickle='safe', exact=False, map_pairs=False, ext_hook=None, unicode_errors='strict', dialect='hadoop', max_depth=256)\n--\n\nRead a SequenceFile from an object with read(), or from bytes; see `typedbytes.sequencefile.Reader`.

    find_codec: called with a codec's class name, returns a function that takes compressed bytes and a limit and returns bytes.
    find_converters: called with the name of a key or value class that is not built in, returns two functions of a Writable's
    bytes, the first of which returns an object and the second typed bytes; either can be None.
    """

    cdef readonly int version
    cdef readonly str key_class
    cdef readonly str value_class
    cdef readonly str compression
    cdef readonly object codec            # a class name; None: not compressed
    cdef readonly dict metadata
    cdef readonly bytes sync_marker
    cdef readonly list skipped
    cdef DecodeOptions options
    cdef Decoding d                       # the state of decoding one key or value
    cdef Skipping skipping                # checks the typed bytes that are copied
    cdef ReadBuffer file
    cdef WriteBuffer typed
    cdef object source
    cdef object memory                    # a memoryview of the source if that is a buffer
    cdef Source input                     # None: a buffer
    cdef object decompress
    cdef object failure
    cdef WritableClass keys
    cdef WritableClass values
    cdef CompressionType compression_type
    cdef Form form
    cdef State state
    cdef bint resync
    cdef bint owns                        # close() closes the source too
    cdef bint is_empty_split                        # the split ends before the first record
    cdef long long header_end
    cdef long long end                    # sync markers from this offset on belong to the next split
    cdef long long nrecords
    cdef Py_ssize_t max_bytes
    cdef unsigned char escaped_marker[20]         # escape and marker

    # The record, or block, that is being read.
    cdef long long record_offset          # its offset in the file
    cdef long long suspect                # offset of the first bad record since a good one or a sync marker; -1: none
    cdef bint framed                      # its lengths have been read and are consistent
    cdef Py_ssize_t nframed               # its size then; in a block, its decompressed size
    cdef const unsigned char* key
    cdef Py_ssize_t nkey
    cdef const unsigned char* value
    cdef Py_ssize_t nvalue
    cdef bytes value_memory               # the decompressed value
    cdef ErrorOffset error_offset
    cdef PyObject* pair                   # owned, once a record has been decoded
    cdef object last_pair                # the last tuple returned, reused if no other reference to it exists

    # The block that is open, decompressed.
    cdef list block                       # key lengths, keys, value lengths, values
    cdef const unsigned char* block_cursors[4]    # the next byte of each
    cdef Py_ssize_t nblock                # records left in it
    cdef Py_ssize_t declared_count               # records that its header declares, 0: not known
    cdef long long block_end              # its end by its declared lengths

    def __cinit__(self, *args, **options):
        self.state = CLOSED

    def __init__(self, source, *, long long start=0, length=None, raw=False, resync=False, Py_ssize_t max_bytes=LARGEST_RECORD,
                 find_codec=None, find_converters=None, owns=False, **options):
        if self.source is not None:
            raise RuntimeError("a Reader cannot be initialised again")
        if start < 0 or (length is not None and length < 0):
            raise ValueError(f"start and length must not be negative, not {start} and {length}")
        if max_bytes < 1:
            raise ValueError(f"max_bytes must be at least 1, not {max_bytes}")
        self.options = DecodeOptions(**options)
        self.d = self.options.template
        self.d.use_string_cache = True
        self.max_bytes = min(max_bytes, MAX_LENGTH)
        start_skipping(&self.skipping, &self.d)
        self.form = BYTES_PAIR if raw else OBJECTS
        self.resync = resync
        self.skipped = []
        self.suspect = -1
        self.connect(source)
        self.source = source
        try:
            self.read_header()
            self.prepare(find_codec, find_converters)
            self.enter_split(start, length)
        except StopIteration as error:
            raise as_failure(error)
        self.owns = owns
        self.state = OPEN

    cdef int connect(self, source) except -1:
        cdef Py_buffer* view
        if PyObject_CheckBuffer(source):
            memory = memoryview(source)
            self.memory = memory if memory.c_contiguous else memoryview(memory.tobytes())
            view = PyMemoryView_GET_BUFFER(self.memory)
            borrow(&self.file, <const unsigned char*>view.buf, view.len)
            return 0
        self.input = open_source(source, True)
        start_filled(&self.file, READ_SIZE, fill_from, <void*>self.input)
        self.file.read_ahead = True
        return 0

    def __dealloc__(self):
        abandon(&self.d)
        release(&self.file)
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

    # ---- header ----

    cdef int read_header(self) except -1:
        cdef bint compressed, in_blocks
        if self.read_bytes(len(SEQUENCE_FILE)) != SEQUENCE_FILE:
            raise FormatError(f"not a SequenceFile: the file does not start with {SEQUENCE_FILE.decode()}", 0)
        self.version = self.read_bytes(1)[0]
        if not OLDEST <= self.version <= NEWEST:
            raise FormatError(f"unsupported SequenceFile version {self.version}: expected {OLDEST} to {NEWEST}", 3)
        self.key_class, self.value_class = self.read_class_name(), self.read_class_name()
        compressed = self.read_bytes(1) != b"\0"
        in_blocks = self.read_bytes(1) != b"\0"
        if in_blocks and not compressed:
            raise FormatError("the header declares blocks without compression", self.offset_here() - 1)
        self.compression_type = BLOCK if in_blocks else RECORD if compressed else NONE
        self.compression = COMPRESSIONS[self.compression_type]
        if compressed:
            self.codec = self.read_class_name() if self.version >= 5 else DEFAULT_CODEC
        self.metadata = {}
        if self.version >= 6:
            self.read_metadata()
        self.sync_marker = self.read_bytes(SYNC_NBYTES)
        memset(self.escaped_marker, 0xff, 4)
        memcpy(self.escaped_marker + 4, PyBytes_AS_STRING(self.sync_marker), SYNC_NBYTES)
        self.header_end = self.offset_here()
        return 0

    cdef int read_metadata(self) except -1:
        cdef long long offset = self.offset_here()
        cdef int32_t npairs = load_i32(<const unsigned char*>PyBytes_AS_STRING(self.read_bytes(4)))
        if npairs < 0:
            raise FormatError(f"negative metadata count {npairs}", offset)
        for _ in range(npairs):
            name = self.read_text().decode("utf-8", "surrogateescape")
            self.metadata[name] = self.read_text().decode("utf-8", "surrogateescape")
        return 0

    cdef str read_class_name(self):
        cdef long long offset = self.offset_here()
        try:
            return self.read_text().decode("utf-8")
        except UnicodeDecodeError as error:
            raise_without_memory(error)
            raise FormatError("class name is not UTF-8", offset) from error

    cdef bytes read_text(self):
        cdef long long offset = self.offset_here()
        cdef int64_t nbytes
        self.require(1)
        self.require(vint_size(self.file.cursor[0]))
        nbytes = load_vint(self.file.cursor)
        if nbytes < 0:
            raise FormatError(f"negative Text length {nbytes}", offset)
        self.file.cursor += vint_size(self.file.cursor[0])
        return self.read_bytes(self.check_limit(nbytes, offset))

    cdef bytes read_bytes(self, Py_ssize_t nbytes):
        self.require(nbytes)
        self.file.cursor += nbytes
        return PyBytes_FromStringAndSize(<const char*>self.file.cursor - nbytes, nbytes)

    cdef inline long long offset_here(self) noexcept:
        return offset_of(&self.file, self.file.cursor)

    cdef inline int require(self, Py_ssize_t nbytes) except -1:
        # At least nbytes are buffered from the cursor on.
        if held(&self.file) < nbytes and not refill(&self.file, nbytes):
            raise TruncatedError(f"the file ends early: at least {nbytes - held(&self.file)} more bytes needed",
                                 offset_of(&self.file, self.file.end), None, "", self.nrecords if self.header_end else None)
        return 0

    cdef Py_ssize_t check_limit(self, int64_t nbytes, long long offset) except -1:
        if nbytes > self.max_bytes:
            raise LimitError(f"length {nbytes} is greater than max_bytes={self.max_bytes}", offset, None, "",
                             self.nrecords if self.header_end else None)
        return nbytes

    cdef int prepare(self, find_codec, find_converters) except -1:
        if self.compression_type != NONE:
            self.decompress = find_codec(self.codec)
            self.block = [None] * 4
        self.keys = writable_class_of(self.key_class, find_converters)
        self.values = writable_class_of(self.value_class, find_converters)
        return 0

    cdef int enter_split(self, long long start, length) except -1:
        # As in SequenceFileRecordReader, a split has the records after the sync markers that start in it; the first split also
        # has those after the header.
        self.end = INT64_MAX if length is None else min(start + length, INT64_MAX)
        if start <= self.header_end:
            self.is_empty_split = self.header_end >= self.end
            return 0
        self.move_to(start)
        self.find_marker()
        return 0

    # ---- moving ----

    cdef int move_to(self, long long offset) except -1:
        cdef ReadBuffer* b = &self.file
        if b.start_offset <= offset <= offset_of(b, b.end):
            b.cursor = b.start + (offset - b.start_offset)
            return 0
        if self.memory is not None:
            b.cursor = b.end
            return 0
        if not self.can_seek():
            if offset < b.start_offset:
                raise io.UnsupportedOperation("cannot seek backwards: the source is not seekable")
            while offset > offset_of(b, b.end):
                b.cursor = b.end
                if not refill(b, 1):
                    return 0
            b.cursor = b.start + (offset - b.start_offset)
            return 0
        self.source.seek(self.source.tell() - offset_of(b, b.end) + offset)
        self.input.ended = False
        b.start = b.cursor = b.end = b.storage
        b.start_offset = offset
        return 0

    cdef bint can_seek(self) except -1:
        seekable = getattr(self.source, "seekable", None)
        return hasattr(self.source, "seek") if seekable is None else seekable()

    cdef bint find_marker(self) except -1:
        # Moves the cursor to the next sync marker at or after it. False: there is none, and the cursor is at the end.
        cdef ReadBuffer* b = &self.file
        cdef const unsigned char* found
        while True:
            found = find_escaped_marker(b.cursor, b.end, self.escaped_marker)
            if found != NULL:
                b.cursor = found
                return True
            if held(b) >= ESCAPED_NBYTES:
                b.cursor = b.end - (ESCAPED_NBYTES - 1)
            if not refill(b, held(b) + 1):
                b.cursor = b.end
                return False

    # ---- records and blocks ----

    cdef bint advance_to_record(self) except -1:
        # Skips sync markers up to the next record, or stops at the marker of the next block. False: the end of the file or split.
        cdef ReadBuffer* b = &self.file
        self.framed = False
        self.declared_count = 0
        self.error_offset = IN_FILE
        if self.is_empty_split:
            return False
        if b.capacity > b.usual_capacity:
            shrink(b)
        while True:
            self.record_offset = self.offset_here()
            if not held(b) and not refill(b, 1):
                return False
            self.require(4)
            if load_i32(b.cursor) != ESCAPE:
                if self.compression_type == BLOCK:
                    raise self.error("expected a sync marker at the start of a block")
                return True
            self.require(ESCAPED_NBYTES)
            if memcmp(b.cursor, self.escaped_marker, ESCAPED_NBYTES) != 0:
                raise self.error("sync marker differs from that of the header")
            if self.record_offset >= self.end:
                return False
            if self.compression_type == BLOCK:
                return True
            b.cursor += ESCAPED_NBYTES
            self.suspect = -1

    cdef object error(self, str message):
        return FormatError(message, self.record_offset, None, "", self.nrecords)

    cdef bint read_record(self) except -1:
        # Reads the next record whole, moves the cursor past it and checks its lengths. False: there is none.
        cdef ReadBuffer* b = &self.file
        cdef int32_t length
        if not self.advance_to_record():
            return False
        self.require(8)
        length = load_i32(b.cursor)
        self.nkey = load_i32(b.cursor + 4)
        if length < 0 or not 0 <= self.nkey <= length:
            raise self.error(f"key length {self.nkey} does not fit record length {length}")
        self.check_limit(length, self.record_offset)
        self.require(<Py_ssize_t>length + 8)
        self.framed = True
        self.nframed = <Py_ssize_t>length + 8
        self.nvalue = length - self.nkey
        self.key = b.cursor + 8
        self.value = self.key + self.nkey
        b.cursor += self.nframed
        return True

    cdef inline bint read_buffered_record(self) noexcept:
        # The fast path of read_record: no sync marker, and the record is buffered whole. False: use read_record.
        cdef ReadBuffer* b = &self.file
        cdef Py_ssize_t nheld = held(b)
        cdef int64_t length, nkey
        if nheld < 8 or self.compression_type != NONE or self.is_empty_split or b.capacity > b.usual_capacity:
            return False
        length = load_i32(b.cursor)
        nkey = load_i32(b.cursor + 4)
        if not 0 <= nkey <= length <= min(nheld - 8, self.max_bytes):
            return False
        self.record_offset = self.offset_here()
        self.framed = True
        self.nframed = length + 8
        self.nkey = nkey
        self.nvalue = length - nkey
        self.key = b.cursor + 8
        self.value = self.key + nkey
        b.cursor += self.nframed
        return True

    cdef int decompress_value(self) except -1:
        self.value_memory = self.decompressed(self.value, self.nvalue)
        self.value = <const unsigned char*>PyBytes_AS_STRING(self.value_memory)
        self.nvalue = PyBytes_GET_SIZE(self.value_memory)
        return 0

    cdef bytes decompressed(self, const unsigned char* p, Py_ssize_t nbytes):
        try:
            if nbytes < LARGE_VALUE:
                return self.decompress(PyBytes_FromStringAndSize(<const char*>p, nbytes), self.max_bytes)
            memory = PyMemoryView_FromMemory(<char*>p, nbytes, PyBUF_READ)
            try:
                return self.decompress(memory, self.max_bytes)
            finally:
                memory.release()
        except DecodeError as error:
            raise_without_memory(error)
            raise type(error)(error.message, self.record_offset, None, "", self.nrecords) from None

    cdef Py_ssize_t frame_block(self, Py_ssize_t* starts, Py_ssize_t* sizes) except -1:
        # Finds the starts, relative to the cursor, and the sizes of the block's four buffers; returns the size of the block.
        cdef Py_ssize_t at = ESCAPED_NBYTES
        cdef int64_t count = self.block_vint(&at)
        cdef int i
        for i in range(4):
            sizes[i] = self.check_limit(self.block_vint(&at), self.record_offset)
            starts[i] = at
            at += sizes[i]
            self.require(at)
        self.declared_count = count
        self.block_end = self.record_offset + at
        return at

    cdef int64_t block_vint(self, Py_ssize_t* at) except -1:
        cdef int64_t number
        self.require(at[0] + 1)
        self.require(at[0] + vint_size(self.file.cursor[at[0]]))
        number = load_vint(self.file.cursor + at[0])
        if not 0 <= number <= MAX_LENGTH:
            raise self.error(f"invalid count or length {number} in a block")
        at[0] += vint_size(self.file.cursor[at[0]])
        return number

    cdef bint open_block(self) except -1:
        cdef Py_ssize_t starts[4]
        cdef Py_ssize_t sizes[4]
        cdef Py_ssize_t nbytes
        cdef int i
        if not self.advance_to_record():
            return False
        nbytes = self.frame_block(starts, sizes)
        for i in range(4):
            self.block[i] = None    # free it first, for the next to reuse its memory: fresh pages cost as much as decompression
            self.block[i] = self.decompressed(self.file.cursor + starts[i], sizes[i])
        # Blocks are of similar sizes: keep the capacity that held this one for the next.
        self.file.usual_capacity = max(READ_SIZE, min(self.file.capacity, 4 * nbytes))
        for i in range(4):
            self.block_cursors[i] = <const unsigned char*>PyBytes_AS_STRING(self.block[i])
        self.check_lengths(self.block[0], self.block[1], "key")
        self.check_lengths(self.block[2], self.block[3], "value")
        self.file.cursor += nbytes
        self.nblock = self.declared_count
        return True

    cdef int check_lengths(self, bytes lengths, bytes data, str part) except -1:
        # The number of lengths is the block's declared count and their sum the size of the data: later code relies on both.
        cdef const unsigned char* p = <const unsigned char*>PyBytes_AS_STRING(lengths)
        cdef const unsigned char* end = p + PyBytes_GET_SIZE(lengths)
        cdef int64_t left = PyBytes_GET_SIZE(data)
        cdef int64_t length
        cdef Py_ssize_t nlengths = 0
        while p < end:
            if vint_size(p[0]) > end - p:
                raise self.error(f"the last {part} length of a block is truncated")
            length = load_vint(p)
            if not 0 <= length <= left:
                raise self.error(f"{part} length {length} in a block with {left} bytes left")
            left -= length
            nlengths += 1
            p += vint_size(p[0])
        if left or nlengths != self.declared_count:
            raise self.error(f"a block of {self.declared_count} records has {nlengths} {part} lengths and {left} bytes after its {part}s")
        return 0

    cdef bint next_from_block(self) except -1:
        while self.nblock == 0:
            if not self.open_block():
                return False
        self.nblock -= 1
        self.nkey = self.next_length(0)
        self.nvalue = self.next_length(2)
        self.key = self.block_cursors[1]
        self.value = self.block_cursors[3]
        self.block_cursors[1] += self.nkey
        self.block_cursors[3] += self.nvalue
        self.framed = True
        self.nframed = self.nkey + self.nvalue
        return True

    cdef inline Py_ssize_t next_length(self, int which) noexcept:
        cdef const unsigned char* p = self.block_cursors[which]
        self.block_cursors[which] = p + vint_size(p[0])
        return load_vint(p)

    # ---- decoding of a record ----

    cdef int next_record(self, Form form) except -1:
        # Returns 0 at the end of input.
        cdef int got = (<record_function>self.try_next_record)(self, form)
        return got if got >= 0 else self.recover(form)

    cdef int try_next_record(self, Form form) except -1:
        if not (self.next_from_block() if self.compression_type == BLOCK else self.read_buffered_record() or self.read_record()):
            return 0
        if not self.nrecords & 0x3fff:
            PyErr_CheckSignals()
        if self.compression_type == RECORD and form != NOTHING:
            self.decompress_value()
        self.d.record = self.nrecords
        if form == OBJECTS:
            self.make_objects()
        elif form == BYTES_PAIR:
            self.make_bytes()
        elif form == TYPED:
            self.make_typed()
        self.nrecords += 1
        self.suspect = -1
        return 1

    cdef int recover(self, Form form) except -1:
        # Called after try_next_record() has set an exception.
        cdef int got = -1
        while got < 0:
            abandon(&self.d)
            try:
                raise_pending()
            except DecodeError as error:
                raise_without_memory(error)
                failure = self.with_file_offset(error)
                if not self.resync:
                    raise failure from None
                self.skip_damage(failure)
            got = (<record_function>self.try_next_record)(self, form)
        return got

    cdef int make_objects(self) except -1:
        cdef PyObject* key
        cdef PyObject* value
        self.locate_errors_in_key()
        key = new_object(self.keys, &self.d, self.key, self.nkey, True)
        self.locate_errors_in_value()
        value = (<object_function>new_object)(self.values, &self.d, self.value, self.nvalue, False)
        if value == NULL:
            decref(key)
            return -1
        self.pair = self.pair_of(key, value)
        return 0

    cdef int make_bytes(self) except -1:
        key = PyBytes_FromStringAndSize(<const char*>self.key, self.nkey)
        value = PyBytes_FromStringAndSize(<const char*>self.value, self.nvalue)
        incref(<PyObject*>key)
        incref(<PyObject*>value)
        self.pair = self.pair_of(<PyObject*>key, <PyObject*>value)
        return 0

    cdef inline PyObject* pair_of(self, PyObject* key, PyObject* value) except NULL:
        # A caller that unpacks the tuple at once gets the same tuple object again.
        cdef PyObject* pair = pair_from_stolen(<PyObject*>self.last_pair, key, value)
        if pair != <PyObject*>self.last_pair:
            self.last_pair = <object>pair
        return pair

    cdef int make_typed(self) except -1:
        cdef Py_ssize_t before = written(&self.typed)
        try:
            self.locate_errors_in_key()
            copy_typed(self.keys, &self.d, &self.skipping, self.key, self.nkey, &self.typed)
            self.locate_errors_in_value()
            copy_typed(self.values, &self.d, &self.skipping, self.value, self.nvalue, &self.typed)
        except BaseException:
            self.typed.cursor = self.typed.start + before
            raise
        return 0

    cdef inline void locate_errors_in_key(self) noexcept:
        # The offset of an error is one in the file if its bytes are decoded directly, else one in the decompressed key or value.
        self.d.buf.start_offset = 0 if self.compression_type == BLOCK else self.record_offset + 8
        self.error_offset = IN_DECOMPRESSED_KEY if self.compression_type == BLOCK else IN_FILE

    cdef inline void locate_errors_in_value(self) noexcept:
        self.d.buf.start_offset = self.record_offset + 8 + self.nkey if self.compression_type == NONE else 0
        self.error_offset = IN_FILE if self.compression_type == NONE else IN_DECOMPRESSED_VALUE

    cdef object with_file_offset(self, error):
        if self.error_offset == IN_FILE:
            return error
        return type(error)(f"{error.message}, byte {error.offset} of the decompressed {'key' if self.error_offset == IN_DECOMPRESSED_KEY else 'value'}",
                           self.record_offset, error.code, error.path, error.record)

    cdef int skip_damage(self, error) except -1:
        # A bad record with consistent lengths is skipped alone. If the lengths are wrong, everything up to the next sync marker is
        # skipped, including bad records before it that no marker followed: a wrong length of theirs may have led here.
        cdef long long start = self.record_offset
        if self.framed and not self.spans_marker():
            if self.suspect < 0 and self.compression_type != BLOCK:
                self.suspect = start
            self.skipped.append(Skipped(start, self.nframed, 1, error))
            return 0
        if self.suspect >= 0 and self.can_move_to(self.suspect):
            start = self.suspect
            while self.skipped and self.skipped[len(self.skipped) - 1].offset >= start:
                error = self.skipped.pop().error
        self.suspect = -1
        self.find_marker_after(start)
        nrecords = self.declared_count if self.declared_count and self.offset_here() == self.block_end else None
        self.skipped.append(Skipped(start, max(0, self.offset_here() - start), nrecords, error))
        return 0

    cdef int find_marker_after(self, long long start) except -1:
        # The search starts a little before `start`: a record with a wrong length may have consumed the first bytes of a marker.
        cdef long long earlier = max(start - (ESCAPED_NBYTES - 1), self.header_end)
        self.move_to(earlier if self.can_move_to(earlier) else start + 1)
        if self.find_marker() and self.offset_here() == start:
            self.file.cursor += 1
            self.find_marker()
        return 0

    cdef bint can_move_to(self, long long offset) except -1:
        return self.memory is not None or offset >= self.file.start_offset or self.can_seek()

    cdef bint spans_marker(self) noexcept:
        # A record that contains a sync marker has a wrong length. All of it is still buffered.
        return self.compression_type != BLOCK and find_escaped_marker(self.file.cursor - self.nframed, self.file.cursor, self.escaped_marker) != NULL

    cdef inline int enter(self) except -1:
        if self.state != OPEN:
            return self.refuse()
        self.state = BUSY
        return 0

    cdef int refuse(self) except -1:
        return refuse_call(self, self.state, self.failure, "reader")

    cdef int fail(self, error) except -1:
        # Keeps the error: every later call raises it again.
        abandon(&self.d)
        self.failure = as_failure(error)
        self.state = HAS_FAILED
        raise self.failure

    cdef int fail_pending(self) except -1:
        try:
            raise_pending()
        except BaseException as error:
            self.fail(error)

    def __next__(self):
        cdef int got
        self.enter()
        got = (<record_function>self.try_next_record)(self, self.form)
        if got < 0:
            got = (<record_function>self.recover)(self, self.form)
            if got < 0:
                self.fail_pending()
        self.state = OPEN
        if got == 0:
            raise StopIteration
        return as_object(self.pair)

    def read(self, default=None):
        """Return the next (key, value), or `default` at the end."""
        return next(self, default)

    def read_all(self):
        """Return all pairs that are left, as a list."""
        return list(self)

    def read_typed(self, Py_ssize_t nbytes=131072):
        """Return the next whole pairs as a stream of typed bytes, as Hadoop's dumptb writes them; b"" at the end.

        Returns at least `nbytes` bytes, fewer only at the end. Writables without a type code become code 50 with their class
        name. The structure of a TypedBytesWritable is checked. An error after whole pairs is raised by the next call.
        """
        return self.typed_pairs(nbytes, NULL)

    def __read_encoded__(self, Py_ssize_t nbytes):
        """Return what read_typed does, and as int64 numbers the offset of each pair's record, or of its block. Used by columns."""
        cdef WriteBuffer offsets
        offsets.expected = 0
        start_owned(&offsets, 512)
        try:
            data = self.typed_pairs(nbytes, &offsets)
            return data, finish(&offsets)
        finally:
            drop(&offsets)

    cdef bytes typed_pairs(self, Py_ssize_t nbytes, WriteBuffer* offsets):
        # offsets: NULL if the caller does not need them.
        cdef WriteBuffer* out = &self.typed
        if nbytes < 1:
            raise ValueError(f"nbytes must be at least 1, not {nbytes}")
        data, failure = b"", None
        self.enter()
        try:
            start_owned(out, min(nbytes, READ_SIZE) + 512)
            try:
                while written(out) < nbytes and self.next_record(TYPED):
                    if offsets != NULL:
                        append_bytes(offsets, <const unsigned char*>&self.record_offset, sizeof(self.record_offset))
            except Exception as error:
                raise_without_memory(error)
                failure = error    # raised after the pairs before it have been returned
            data = finish(out)
        except BaseException as error:
            self.fail(error)
        if failure is None:
            self.state = OPEN
        elif data:
            self.failure = as_failure(failure)
            self.state = HAS_FAILED
        else:
            self.fail(failure)
        return data

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
                if nskipped == n or not self.next_record(NOTHING):
                    break
                nskipped += 1
        except BaseException as error:
            self.fail(error)
        self.state = OPEN
        return nskipped

    cdef long long skip_blocks(self, long long most) except -1:
        # Skips whole blocks that together have at most `most` records; returns the number of records skipped.
        cdef Py_ssize_t starts[4]
        cdef Py_ssize_t sizes[4]
        cdef Py_ssize_t nbytes
        cdef long long nskipped = 0
        while True:
            try:
                if not self.advance_to_record():
                    return nskipped
                nbytes = self.frame_block(starts, sizes)
                if self.declared_count > most - nskipped:
                    return nskipped
                PyErr_CheckSignals()
                self.file.cursor += nbytes
                self.nrecords += self.declared_count
                nskipped += self.declared_count
            except DecodeError as error:
                raise_without_memory(error)
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
            self.suspect = -1
            self.move_to(offset)
        except BaseException as error:
            self.fail(error)
        self.state = OPEN

    @property
    def offset(self):
        """The offset in the file after the last record read; in a block, after the block."""
        return self.offset_here()

    @property
    def record(self):
        """The number of records returned or skipped."""
        return self.nrecords

    @property
    def closed(self):
        """Whether the Reader is closed."""
        return self.state == CLOSED

    def close(self):
        """Release the source, and close it if the Reader opened it from a path."""
        if self.state == BUSY:
            self.refuse()
        self.state = CLOSED
        release(&self.file)
        if self.memory is not None:
            self.memory.release()
        self.input = self.memory = self.failure = self.block = None
        if self.owns:
            self.owns = False
            self.source.close()
