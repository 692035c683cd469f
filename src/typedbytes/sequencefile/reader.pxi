# Reader: from bytes to keys and values, whole files or splits of them, and on behind damage.

from collections import namedtuple

Skipped = namedtuple("Skipped", "offset nbytes nrecords error", module="typedbytes.sequencefile")
Skipped.__doc__ = """Tell what a Reader with resync=True has passed over.

offset: where it starts. nbytes: up to the next sync marker or the end; of a record in a block, its bytes when decompressed.
nrecords: None where the damage hides it. error: what was wrong.
"""

cdef enum Form:
    OBJECTS
    BYTES_PAIR                # a Writable's bytes as they are
    TYPED                     # appended to `typed`
    NOTHING


# What the offsets of errors count in.
cdef enum Place:
    IN_FILE
    IN_KEY                    # decompressed
    IN_VALUE


cdef Py_ssize_t fill_reader(void* source, unsigned char* target, Py_ssize_t room) except -1:
    cdef Reader reader = <Reader>source
    cdef Py_buffer view
    PyErr_CheckSignals()    # what came just before would wait as long as the source does
    if reader.reads_into:
        memory = PyMemoryView_FromMemory(<char*>target, room, PyBUF_WRITE)
        count = reader.method(memory)
        memory.release()
        return check_not_none(count)
    data = check_not_none(reader.method(room))
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"read() must return bytes, not {type(data).__name__}")
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        if view.len > room:
            raise ValueError(f"read() returned {view.len} bytes when {room} were asked for")
        memcpy(target, view.buf, view.len)
        return view.len
    finally:
        PyBuffer_Release(&view)


cdef object check_not_none(object answer):
    if answer is None:
        raise BlockingIOError("the source found no bytes: it must not be non-blocking")
    return answer


cdef const unsigned char* find_needle(const unsigned char* p, const unsigned char* end, const unsigned char* needle) noexcept nogil:
    # The needle is an escape and a marker, so a false start ends within a few bytes.
    while end - p >= ESCAPED_NBYTES:
        p = <const unsigned char*>memchr(p, needle[0], end - p - ESCAPED_NBYTES + 1)
        if p == NULL or memcmp(p, needle, ESCAPED_NBYTES) == 0:
            return p
        p += 1
    return NULL


# With these types an exception is left for the caller to look at: -1 or NULL.
ctypedef int (*record_function)(Reader reader, Form form) noexcept
ctypedef PyObject* (*object_function)(Side side, Decoding* d, const unsigned char* p, Py_ssize_t nbytes, bint is_key) noexcept


cdef int raise_pending() except? -1:
    # Raises the exception that such a call has left.
    return -1


cdef class Reader:
    """Read a SequenceFile from an object with read(), or from bytes; see `typedbytes.sequencefile.Reader`.

    find_codec: called with a codec's class name, gives a function of compressed bytes and a limit that returns bytes.
    find_kind: called with the class name of keys or values that is none of the simple ones, gives a function of a Writable's
    bytes that returns an object, and one that returns typed bytes, or None for either.
    """

    cdef readonly int version
    cdef readonly str key_class
    cdef readonly str value_class
    cdef readonly str compression
    cdef readonly object codec            # a class name, None: not compressed
    cdef readonly dict metadata
    cdef readonly bytes sync_marker
    cdef readonly list skipped
    cdef DecodeOptions options
    cdef Decoding d                       # of one key or value
    cdef Skipping skipping                # over typed bytes that are copied
    cdef ReadBuffer file
    cdef WriteBuffer typed
    cdef object source
    cdef object memory                    # a memoryview of the source, when that is a buffer
    cdef object method
    cdef object decompress
    cdef object failure
    cdef Side keys
    cdef Side values
    cdef Compression manner
    cdef Form form
    cdef State state
    cdef bint reads_into
    cdef bint resync
    cdef bint owns                        # the source is closed with the Reader
    cdef bint over                        # a split before the first record
    cdef long long header_end
    cdef long long end                    # markers from here on belong to the next split
    cdef long long nrecords
    cdef Py_ssize_t max_bytes
    cdef unsigned char needle[20]         # escape and marker

    # The record, or block, that is being read.
    cdef long long record_offset          # where it starts in the file
    cdef long long suspect                # the first of the bad ones since a good one or a marker; -1: there is none
    cdef bint framed                      # its lengths are right
    cdef Py_ssize_t nframed               # its bytes then; of one in a block, when decompressed
    cdef const unsigned char* key
    cdef Py_ssize_t nkey
    cdef const unsigned char* value
    cdef Py_ssize_t nvalue
    cdef bytes value_memory               # what a compressed value has become
    cdef Place place
    cdef PyObject* pair                   # owned, once a record has been made
    cdef object handed_out                # the tuple given last, used again when nobody else holds it

    # The block that is open, decompressed.
    cdef list block                       # key lengths, keys, value lengths, values
    cdef const unsigned char* heads[4]    # what comes next in each
    cdef Py_ssize_t nblock                # records left in it
    cdef Py_ssize_t counted               # records it promises, 0: not known
    cdef long long block_end              # where it says that it ends

    def __cinit__(self, *args, **options):
        self.state = CLOSED

    def __init__(self, source, *, long long start=0, length=None, raw=False, resync=False, Py_ssize_t max_bytes=LARGEST_RECORD,
                 find_codec=None, find_kind=None, owns=False, **options):
        if self.source is not None:
            raise RuntimeError("a Reader cannot be initialised again")
        if start < 0 or (length is not None and length < 0):
            raise ValueError("start and length of a split are not negative")
        if max_bytes < 1:
            raise ValueError(f"max_bytes is at least 1, not {max_bytes}")
        self.options = DecodeOptions(**options)
        self.d = self.options.template
        self.d.remembers = True
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
            self.prepare(find_codec, find_kind)
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
        self.reads_into = type(source) in (io.FileIO, io.BytesIO)    # they keep nothing of the memory they fill
        self.method = source.readinto if self.reads_into else getattr(source, "read1", None) or getattr(source, "read", None)
        if not callable(self.method) or isinstance(source, io.TextIOBase):
            raise TypeError(f"cannot read from a {type(source).__name__}: a binary file with read() is needed")
        self.file.read_ahead = True
        return start_filled(&self.file, READ_SIZE, fill_reader, <void*>self)

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
        if self.take(3) != b"SEQ":
            raise FormatError("not a SequenceFile: it does not start with SEQ", 0)
        self.version = self.take(1)[0]
        if not OLDEST <= self.version <= NEWEST:
            raise FormatError(f"a SequenceFile of version {self.version}: versions {OLDEST} to {NEWEST} are read", 3)
        self.key_class, self.value_class = self.take_name(), self.take_name()
        compressed = self.take(1) != b"\0"
        in_blocks = self.take(1) != b"\0"
        if in_blocks and not compressed:
            raise FormatError("a header that has blocks and no compression", self.offset_here() - 1)
        self.manner = BLOCK if in_blocks else RECORD if compressed else NONE
        self.compression = COMPRESSIONS[self.manner]
        if compressed:
            self.codec = self.take_name() if self.version >= 5 else DEFAULT_CODEC
        self.metadata = {}
        if self.version >= 6:
            self.read_metadata()
        self.sync_marker = self.take(SYNC_NBYTES)
        memset(self.needle, 0xff, 4)
        memcpy(self.needle + 4, PyBytes_AS_STRING(self.sync_marker), SYNC_NBYTES)
        self.header_end = self.offset_here()
        return 0

    cdef int read_metadata(self) except -1:
        cdef long long offset = self.offset_here()
        cdef int32_t npairs = load_i32(<const unsigned char*>PyBytes_AS_STRING(self.take(4)))
        if npairs < 0:
            raise FormatError(f"metadata of {npairs} pairs", offset)
        for _ in range(npairs):
            name = self.take_text().decode("utf-8", "surrogateescape")
            self.metadata[name] = self.take_text().decode("utf-8", "surrogateescape")
        return 0

    cdef str take_name(self):
        cdef long long offset = self.offset_here()
        try:
            return self.take_text().decode("utf-8")
        except UnicodeDecodeError as error:
            raise_without_memory(error)
            raise FormatError("a class name that is not UTF-8", offset) from error

    cdef bytes take_text(self):
        cdef long long offset = self.offset_here()
        cdef int64_t nbytes
        self.need(1)
        self.need(vint_size(self.file.cursor[0]))
        nbytes = load_vint(self.file.cursor)
        if nbytes < 0:
            raise FormatError(f"a Text of {nbytes} bytes", offset)
        self.file.cursor += vint_size(self.file.cursor[0])
        return self.take(self.limited(nbytes, offset))

    cdef bytes take(self, Py_ssize_t nbytes):
        self.need(nbytes)
        self.file.cursor += nbytes
        return PyBytes_FromStringAndSize(<const char*>self.file.cursor - nbytes, nbytes)

    cdef inline long long offset_here(self) noexcept:
        return offset_of(&self.file, self.file.cursor)

    cdef inline int need(self, Py_ssize_t nbytes) except -1:
        # So many bytes are held from the cursor on.
        if held(&self.file) < nbytes and not refill(&self.file, nbytes):
            raise TruncatedError(f"the file ends: at least {nbytes - held(&self.file)} more bytes needed",
                                 offset_of(&self.file, self.file.end), None, "", self.nrecords if self.header_end else None)
        return 0

    cdef Py_ssize_t limited(self, int64_t nbytes, long long offset) except -1:
        if nbytes > self.max_bytes:
            raise LimitError(f"{nbytes} bytes, more than max_bytes={self.max_bytes}", offset, None, "",
                             self.nrecords if self.header_end else None)
        return nbytes

    cdef int prepare(self, find_codec, find_kind) except -1:
        if self.manner != NONE:
            self.decompress = find_codec(self.codec)
            self.block = [None] * 4
        self.keys = side_of(self.key_class, find_kind)
        self.values = side_of(self.value_class, find_kind)
        return 0

    cdef int enter_split(self, long long start, length) except -1:
        # As SequenceFileRecordReader does: a split has the records behind the markers that start in it, the first split those
        # behind the header too.
        self.end = INT64_MAX if length is None else min(start + length, INT64_MAX)
        if start <= self.header_end:
            self.over = self.header_end >= self.end
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
                raise io.UnsupportedOperation("this source cannot go back")
            while offset > offset_of(b, b.end):
                b.cursor = b.end
                if not refill(b, 1):
                    return 0
            b.cursor = b.start + (offset - b.start_offset)
            return 0
        self.source.seek(self.source.tell() - offset_of(b, b.end) + offset)
        b.start = b.cursor = b.end = b.storage
        b.start_offset = offset
        return 0

    cdef bint can_seek(self) except -1:
        seekable = getattr(self.source, "seekable", None)
        return hasattr(self.source, "seek") if seekable is None else seekable()

    cdef bint find_marker(self) except -1:
        # To the next marker at or behind the cursor; False: there is none, and the cursor is at the end.
        cdef ReadBuffer* b = &self.file
        cdef const unsigned char* found
        while True:
            found = find_needle(b.cursor, b.end, self.needle)
            if found != NULL:
                b.cursor = found
                return True
            if held(b) >= ESCAPED_NBYTES:
                b.cursor = b.end - (ESCAPED_NBYTES - 1)
            if not refill(b, held(b) + 1):
                b.cursor = b.end
                return False

    # ---- records and blocks ----

    cdef bint at_record(self) except -1:
        # Behind markers, up to the next record, or up to the marker of the next block. False: the end of the file or the split.
        cdef ReadBuffer* b = &self.file
        self.framed = False
        self.counted = 0
        self.place = IN_FILE
        if self.over:
            return False
        if b.capacity > b.usual_capacity:
            shrink(b)
        while True:
            self.record_offset = self.offset_here()
            if not held(b) and not refill(b, 1):
                return False
            self.need(4)
            if load_i32(b.cursor) != ESCAPE:
                if self.manner == BLOCK:
                    raise self.error("a block does not start with a sync marker")
                return True
            self.need(ESCAPED_NBYTES)
            if memcmp(b.cursor, self.needle, ESCAPED_NBYTES) != 0:
                raise self.error("a sync marker is not that of the header")
            if self.record_offset >= self.end:
                return False
            if self.manner == BLOCK:
                return True
            b.cursor += ESCAPED_NBYTES
            self.suspect = -1

    cdef object error(self, str message):
        return FormatError(message, self.record_offset, None, "", self.nrecords)

    cdef bint take_record(self) except -1:
        # The next record is behind the cursor, whole, and its lengths are right; False: there is none.
        cdef ReadBuffer* b = &self.file
        cdef int32_t length
        if not self.at_record():
            return False
        self.need(8)
        length = load_i32(b.cursor)
        self.nkey = load_i32(b.cursor + 4)
        if length < 0 or not 0 <= self.nkey <= length:
            raise self.error(f"a record of {length} bytes with a key of {self.nkey}")
        self.limited(length, self.record_offset)
        self.need(<Py_ssize_t>length + 8)
        self.framed = True
        self.nframed = <Py_ssize_t>length + 8
        self.nvalue = length - self.nkey
        self.key = b.cursor + 8
        self.value = self.key + self.nkey
        b.cursor += self.nframed
        return True

    cdef inline bint take_held_record(self) noexcept:
        # The usual case of take_record, in few steps: no marker, and no more to be read. False: ask that one.
        cdef ReadBuffer* b = &self.file
        cdef Py_ssize_t nheld = held(b)
        cdef int64_t length, nkey
        if nheld < 8 or self.manner != NONE or self.over or b.capacity > b.usual_capacity:
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

    cdef int inflate_value(self) except -1:
        self.value_memory = self.inflated(self.value, self.nvalue)
        self.value = <const unsigned char*>PyBytes_AS_STRING(self.value_memory)
        self.nvalue = PyBytes_GET_SIZE(self.value_memory)
        return 0

    cdef bytes inflated(self, const unsigned char* p, Py_ssize_t nbytes):
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
        # Where the four buffers of the block start behind the cursor, and their sizes; gives the size of the whole.
        cdef Py_ssize_t at = ESCAPED_NBYTES
        cdef int64_t count = self.block_vint(&at)
        cdef int i
        for i in range(4):
            sizes[i] = self.limited(self.block_vint(&at), self.record_offset)
            starts[i] = at
            at += sizes[i]
            self.need(at)
        self.counted = count
        self.block_end = self.record_offset + at
        return at

    cdef int64_t block_vint(self, Py_ssize_t* at) except -1:
        cdef int64_t number
        self.need(at[0] + 1)
        self.need(at[0] + vint_size(self.file.cursor[at[0]]))
        number = load_vint(self.file.cursor + at[0])
        if not 0 <= number <= MAX_LENGTH:
            raise self.error(f"{number} where a block counts its records or bytes")
        at[0] += vint_size(self.file.cursor[at[0]])
        return number

    cdef bint open_block(self) except -1:
        cdef Py_ssize_t starts[4]
        cdef Py_ssize_t sizes[4]
        cdef Py_ssize_t nbytes
        cdef int i
        if not self.at_record():
            return False
        nbytes = self.frame_block(starts, sizes)
        for i in range(4):
            self.block[i] = None    # whose memory the next one takes: fresh pages cost as much as decompression
            self.block[i] = self.inflated(self.file.cursor + starts[i], sizes[i])
        # Blocks are much alike: the buffer that took this one is kept for the next.
        self.file.usual_capacity = max(READ_SIZE, min(self.file.capacity, 4 * nbytes))
        for i in range(4):
            self.heads[i] = <const unsigned char*>PyBytes_AS_STRING(self.block[i])
        self.check_lengths(self.block[0], self.block[1], "key")
        self.check_lengths(self.block[2], self.block[3], "value")
        self.file.cursor += nbytes
        self.nblock = self.counted
        return True

    cdef int check_lengths(self, bytes lengths, bytes data, str place) except -1:
        # The lengths are as many as the block counts, and together what is there: afterwards they can be trusted.
        cdef const unsigned char* p = <const unsigned char*>PyBytes_AS_STRING(lengths)
        cdef const unsigned char* end = p + PyBytes_GET_SIZE(lengths)
        cdef int64_t left = PyBytes_GET_SIZE(data)
        cdef int64_t length
        cdef Py_ssize_t nlengths = 0
        while p < end:
            if vint_size(p[0]) > end - p:
                raise self.error(f"the last {place} length of a block is cut")
            length = load_vint(p)
            if not 0 <= length <= left:
                raise self.error(f"a {place} of {length} bytes where {left} are left in the block")
            left -= length
            nlengths += 1
            p += vint_size(p[0])
        if left or nlengths != self.counted:
            raise self.error(f"a block of {self.counted} records has {nlengths} {place} lengths and {left} bytes behind its {place}s")
        return 0

    cdef bint take_from_block(self) except -1:
        while self.nblock == 0:
            if not self.open_block():
                return False
        self.nblock -= 1
        self.nkey = self.next_length(0)
        self.nvalue = self.next_length(2)
        self.key = self.heads[1]
        self.value = self.heads[3]
        self.heads[1] += self.nkey
        self.heads[3] += self.nvalue
        self.framed = True
        self.nframed = self.nkey + self.nvalue
        return True

    cdef inline Py_ssize_t next_length(self, int which) noexcept:
        cdef const unsigned char* p = self.heads[which]
        self.heads[which] = p + vint_size(p[0])
        return load_vint(p)

    # ---- what is made of a record ----

    cdef int next_record(self, Form form) except -1:
        # 0: the end of input.
        cdef int got = (<record_function>self.attempt)(self, form)
        return got if got >= 0 else self.recover(form)

    cdef int attempt(self, Form form) except -1:
        if not (self.take_from_block() if self.manner == BLOCK else self.take_held_record() or self.take_record()):
            return 0
        if not self.nrecords & 0x3fff:
            PyErr_CheckSignals()
        if self.manner == RECORD and form != NOTHING:
            self.inflate_value()
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
        # attempt() has left an exception.
        cdef int got = -1
        while got < 0:
            abandon(&self.d)
            try:
                raise_pending()
            except DecodeError as error:
                raise_without_memory(error)
                failure = self.placed(error)
                if not self.resync:
                    raise failure from None
                self.pass_over(failure)
            got = (<record_function>self.attempt)(self, form)
        return got

    cdef int make_objects(self) except -1:
        cdef PyObject* key
        cdef PyObject* value
        self.stand_at_key()
        key = new_object(self.keys, &self.d, self.key, self.nkey, True)
        self.stand_at_value()
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
        # A caller that unpacks the tuple at once gets the same one again.
        cdef PyObject* pair = pair_from_stolen(<PyObject*>self.handed_out, key, value)
        if pair != <PyObject*>self.handed_out:
            self.handed_out = <object>pair
        return pair

    cdef int make_typed(self) except -1:
        cdef Py_ssize_t before = written(&self.typed)
        try:
            self.stand_at_key()
            copy_typed(self.keys, &self.d, &self.skipping, self.key, self.nkey, &self.typed)
            self.stand_at_value()
            copy_typed(self.values, &self.d, &self.skipping, self.value, self.nvalue, &self.typed)
        except BaseException:
            self.typed.cursor = self.typed.start + before
            raise
        return 0

    cdef inline void stand_at_key(self) noexcept:
        # Errors point into the file where its bytes are looked at, and else into the decompressed key or value.
        self.d.buf.start_offset = 0 if self.manner == BLOCK else self.record_offset + 8
        self.place = IN_KEY if self.manner == BLOCK else IN_FILE

    cdef inline void stand_at_value(self) noexcept:
        self.d.buf.start_offset = self.record_offset + 8 + self.nkey if self.manner == NONE else 0
        self.place = IN_FILE if self.manner == NONE else IN_VALUE

    cdef object placed(self, error):
        if self.place == IN_FILE:
            return error
        return type(error)(f"{error.message}, byte {error.offset} of the decompressed {'key' if self.place == IN_KEY else 'value'}",
                           self.record_offset, error.code, error.path, error.record)

    cdef int pass_over(self, error) except -1:
        # A record that is bad by itself is left out alone; where lengths cannot be trusted, all up to the next marker. That is so
        # too for what stood before, when it was bad and had no marker behind it: its own length may have led here.
        cdef long long start = self.record_offset
        if self.framed and not self.spans_marker():
            if self.suspect < 0 and self.manner != BLOCK:
                self.suspect = start
            self.skipped.append(Skipped(start, self.nframed, 1, error))
            return 0
        if self.suspect >= 0 and self.can_move_to(self.suspect):
            start = self.suspect
            while self.skipped and self.skipped[len(self.skipped) - 1].offset >= start:
                error = self.skipped.pop().error
        self.suspect = -1
        self.find_marker_behind(start)
        nrecords = self.counted if self.counted and self.offset_here() == self.block_end else None
        self.skipped.append(Skipped(start, max(0, self.offset_here() - start), nrecords, error))
        return 0

    cdef int find_marker_behind(self, long long start) except -1:
        # One that starts a little before is behind as well: a record that is too short has swallowed its first bytes.
        cdef long long earlier = max(start - (ESCAPED_NBYTES - 1), self.header_end)
        self.move_to(earlier if self.can_move_to(earlier) else start + 1)
        if self.find_marker() and self.offset_here() == start:
            self.file.cursor += 1
            self.find_marker()
        return 0

    cdef bint can_move_to(self, long long offset) except -1:
        return self.memory is not None or offset >= self.file.start_offset or self.can_seek()

    cdef bint spans_marker(self) noexcept:
        # A record with a marker in it is one whose length is wrong. All of it is still held.
        return self.manner != BLOCK and find_needle(self.file.cursor - self.nframed, self.file.cursor, self.needle) != NULL

    cdef inline int enter(self) except -1:
        if self.state != OPEN:
            return self.refuse()
        self.state = BUSY
        return 0

    cdef int refuse(self) except -1:
        if self.state == FAILED:
            raise self.failure.with_traceback(None)
        if self.state == CLOSED:
            raise ValueError("I/O operation on a closed reader")
        raise RuntimeError("this Reader is in use: a hook or another thread came back to it")

    cdef int fail(self, error) except -1:
        # Remember what went wrong, so that every later call raises it again.
        abandon(&self.d)
        self.failure = as_failure(error)
        self.state = FAILED
        raise self.failure

    cdef int fail_pending(self) except -1:
        try:
            raise_pending()
        except BaseException as error:
            self.fail(error)

    def __next__(self):
        cdef int got
        self.enter()
        got = (<record_function>self.attempt)(self, self.form)
        if got < 0:
            got = (<record_function>self.recover)(self, self.form)
            if got < 0:
                self.fail_pending()
        self.state = OPEN
        if got == 0:
            raise StopIteration
        return taken(self.pair)

    def read(self, default=None):
        """Return the next (key, value), or `default` at the end."""
        return next(self, default)

    def read_all(self):
        """Return all pairs that are left, as a list."""
        return list(self)

    def read_typed(self, Py_ssize_t nbytes=131072):
        """Return the next whole pairs as a stream of typed bytes, as Hadoop's dumptb writes them; b"" at the end.

        At least `nbytes` bytes while there are so many. Writables that typed bytes have no code for become code 50 with their
        class name. A TypedBytesWritable is checked for structure. What is wrong behind whole pairs is raised by the next call.
        """
        return self.typed_pairs(nbytes, NULL)

    def _read_typed(self, Py_ssize_t nbytes):
        """Return what read_typed does, and int64 numbers: where the record of each pair starts, or its block. Made for columns."""
        cdef WriteBuffer places
        places.expected = 0
        start_owned(&places, 512)
        try:
            data = self.typed_pairs(nbytes, &places)
            return data, finish(&places)
        finally:
            drop(&places)

    cdef bytes typed_pairs(self, Py_ssize_t nbytes, WriteBuffer* places):
        # places: NULL where nobody asks.
        cdef WriteBuffer* out = &self.typed
        if nbytes < 1:
            raise ValueError(f"nbytes is at least 1, not {nbytes}")
        data, failure = b"", None
        self.enter()
        try:
            start_owned(out, min(nbytes, READ_SIZE) + 512)
            try:
                while written(out) < nbytes and self.next_record(TYPED):
                    if places != NULL:
                        append_bytes(places, <const unsigned char*>&self.record_offset, sizeof(self.record_offset))
            except Exception as error:
                raise_without_memory(error)
                failure = error    # waits until the pairs before it have been taken
            data = finish(out)
        except BaseException as error:
            self.fail(error)
        if failure is None:
            self.state = OPEN
        elif data:
            self.failure = as_failure(failure)
            self.state = FAILED
        else:
            self.fail(failure)
        return data

    def skip(self, long long n=1):
        """Skip n records without making their objects and return how many there were, fewer at the end.

        What is skipped is not decompressed, but for a part of a block.
        """
        cdef long long nskipped = 0
        self.enter()
        try:
            while nskipped < n:
                if self.manner == BLOCK and self.nblock == 0:
                    nskipped += self.skip_blocks(n - nskipped)
                if nskipped == n or not self.next_record(NOTHING):
                    break
                nskipped += 1
        except BaseException as error:
            self.fail(error)
        self.state = OPEN
        return nskipped

    cdef long long skip_blocks(self, long long most) except -1:
        # Whole blocks, as long as they have no more than `most` records; gives how many records they had.
        cdef Py_ssize_t starts[4]
        cdef Py_ssize_t sizes[4]
        cdef Py_ssize_t nbytes
        cdef long long nskipped = 0
        while True:
            try:
                if not self.at_record():
                    return nskipped
                nbytes = self.frame_block(starts, sizes)
                if self.counted > most - nskipped:
                    return nskipped
                PyErr_CheckSignals()
                self.file.cursor += nbytes
                self.nrecords += self.counted
                nskipped += self.counted
            except DecodeError as error:
                raise_without_memory(error)
                if not self.resync:
                    raise
                self.pass_over(error)

    def seek(self, long long offset):
        """Go to a place of the file where a record or the marker of a block starts, such as an index gives."""
        if offset < self.header_end:
            raise ValueError(f"offset {offset} is inside the header, which ends at {self.header_end}")
        self.enter()
        try:
            self.nblock = 0
            self.over = False
            self.suspect = -1
            self.move_to(offset)
        except BaseException as error:
            self.fail(error)
        self.state = OPEN

    @property
    def offset(self):
        """Give the place in the file behind what has been read; in a block, behind the block."""
        return self.offset_here()

    @property
    def record(self):
        """Give the number of records handed out or skipped."""
        return self.nrecords

    def close(self):
        """Let go of the source; it stays open unless the Reader opened it from a path."""
        if self.state == BUSY:
            self.refuse()
        self.state = CLOSED
        release(&self.file)
        if self.memory is not None:
            self.memory.release()
        self.method = self.memory = self.failure = self.block = None
        if self.owns:
            self.owns = False
            self.source.close()
