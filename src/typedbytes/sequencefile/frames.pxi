# RecordFrames finds records in a file's bytes: header, splits, sync markers, and the key and value of each record.

# What the offset of an error is relative to.
cdef enum OffsetSpace:
    IN_FILE
    IN_DECOMPRESSED_KEY
    IN_DECOMPRESSED_VALUE


cdef class RecordFrames(PairSource):
    """Read the header and the records of a SequenceFile as bytes; the base of Reader, which decodes them."""

    cdef readonly int version
    cdef readonly str key_class
    cdef readonly str value_class
    cdef readonly str compression
    cdef readonly object codec            # a class name; None: not compressed
    cdef readonly dict metadata
    cdef readonly bytes sync_marker
    cdef ReadBuffer file
    cdef object source
    cdef object memory                    # a memoryview of the source if that is a buffer
    cdef Source input                     # None: a buffer
    cdef object decompress
    cdef CompressionType compression_type
    cdef bint is_empty_split              # the split ends before the first record
    cdef long long header_end
    cdef long long end                    # sync markers from this offset on belong to the next split
    cdef long long nrecords
    cdef Py_ssize_t max_bytes
    cdef unsigned char escaped_marker[20]    # escape and marker

    # The record, or block, that is being read.
    cdef long long record_offset          # offset of the record in the file
    cdef long long first_bad_offset       # offset of the first bad record since a good one or a sync marker; -1: none
    cdef bint has_valid_lengths           # the lengths of the record have been read and are consistent
    cdef Py_ssize_t record_nbytes         # valid while has_valid_lengths; in a block, decompressed
    cdef const unsigned char* key
    cdef Py_ssize_t nkey
    cdef const unsigned char* value
    cdef Py_ssize_t nvalue
    cdef bytes value_memory               # the decompressed value
    cdef OffsetSpace error_space

    # The block that is open, decompressed.
    cdef list block                       # key lengths, keys, value lengths, values
    cdef const unsigned char* block_cursors[4]    # the next byte of each of the four
    cdef Py_ssize_t nblock                # records left in the block
    cdef Py_ssize_t declared_count        # records that the block's header declares; 0: not known
    cdef long long block_end              # where the block ends by its declared lengths

    # The blocks after it, while other threads decompress:
    # None, or a deque of each one's offset, count, end, and the future of its four buffers
    cdef object ahead
    cdef Py_ssize_t max_ahead
    cdef object submit                    # calls a function in another thread and returns a future
    # an exception of the source, to be raised after those blocks; None: it had none
    cdef object failure_ahead
    cdef long process                     # id of the process that has the threads

    def __dealloc__(self):
        release(&self.file)

    cdef int connect(self, source) except -1:
        cdef Py_buffer* view
        if has_buffer(source):
            memory = memoryview(source)
            self.memory = memory if memory.c_contiguous else memoryview(memory.tobytes())
            view = PyMemoryView_GET_BUFFER(self.memory)
            borrow(&self.file, <const unsigned char*>view.buf, view.len)
            return 0
        self.input = open_source(source, True)
        start_filled(&self.file, READ_SIZE, fill_from, <void*>self.input)
        self.file.read_ahead = True
        return 0

    # ---- header ----

    cdef int read_header(self) except -1:
        cdef bint compressed, in_blocks
        self.read_start()
        self.version = self.read_bytes(1)[0]
        if not MIN_VERSION <= self.version <= MAX_VERSION:
            raise FormatError(f"unsupported SequenceFile version {self.version}: "
                              f"expected {MIN_VERSION} to {MAX_VERSION}", 3)
        self.key_class, self.value_class = self.read_class_name(), self.read_class_name()
        if self.key_class == OLD_RCFILE_KEY:
            raise FormatError("an RCFile, which columns.read reads: its records are not those of a SequenceFile", 0)
        compressed = self.read_bytes(1) != b"\0"
        in_blocks = self.read_bytes(1) != b"\0"
        if in_blocks and not compressed:
            raise FormatError("the header declares blocks without compression", self.offset_here() - 1)
        self.compression_type = BLOCK if in_blocks else RECORD if compressed else NONE
        self.compression = COMPRESSIONS[self.compression_type]
        self.read_rest_of_header()
        return 0

    cdef int read_rest_of_header(self) except -1:
        # From the codec on.
        if self.compression_type != NONE:
            self.codec = self.read_class_name() if self.version >= 5 else DEFAULT_CODEC
        self.metadata = {}
        if self.version >= 6:
            self.read_metadata()
        self.sync_marker = self.read_bytes(SYNC_NBYTES)
        memset(self.escaped_marker, 0xff, 4)
        memcpy(self.escaped_marker + 4, PyBytes_AS_STRING(self.sync_marker), SYNC_NBYTES)
        self.header_end = self.offset_here()
        return 0

    cdef int read_start(self) except -1:
        # The bytes before the version.
        cdef ReadBuffer* b = &self.file
        cdef Py_ssize_t nstart = len(SEQUENCE_FILE)
        self.require(nstart)
        if b.cursor[:nstart] == SEQUENCE_FILE:
            self.require(nstart + 1)
        if not is_sequence_file(b.cursor[:min(held(b), nstart + 1)]):
            raise FormatError(not_a_sequence_file(b.cursor[:min(held(b), SHOWN_NBYTES)]), 0)
        b.cursor += nstart
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
            reraise_memory_error(error)
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

    cdef inline long long offset_here(self) noexcept nogil:
        return offset_of(&self.file, self.file.cursor)

    cdef inline int require(self, Py_ssize_t nbytes) except -1:
        # At least nbytes are buffered from the cursor on.
        if held(&self.file) < nbytes and not refill(&self.file, nbytes):
            raise TruncatedError(f"the file ends early: at least {nbytes - held(&self.file)} more bytes needed",
                                 offset_of(&self.file, self.file.end), None, "", self.nrecords if self.header_end
                                 else None)
        return 0

    cdef Py_ssize_t check_limit(self, int64_t nbytes, long long offset) except -1:
        if nbytes > self.max_bytes:
            raise LimitError(f"length {nbytes} is greater than max_bytes={self.max_bytes}", offset, None, "",
                             self.nrecords if self.header_end else None)
        return nbytes

    cdef int enter_split(self, long long start, length) except -1:
        # As in SequenceFileRecordReader, a split has the records after the sync markers that start in it; the first
        # split also has those after the header. PyNumber_Index, since sums of NumPy's integers would wrap.
        self.end = INT64_MAX if length is None else min(start + PyNumber_Index(length), INT64_MAX)
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
            found = find_bytes(b.cursor, b.end, self.escaped_marker, ESCAPED_NBYTES)
            if found != NULL:
                b.cursor = found
                return True
            if held(b) >= ESCAPED_NBYTES:
                b.cursor = b.end - (ESCAPED_NBYTES - 1)
            if not refill(b, held(b) + 1):
                b.cursor = b.end
                return False

    cdef int find_marker_after(self, long long start) except -1:
        # The search starts a little before `start`: a record with a wrong length may have consumed the
        # first bytes of a marker.
        cdef long long earlier = max(start - (ESCAPED_NBYTES - 1), self.header_end)
        self.move_to(earlier if self.can_move_to(earlier) else max(start + 1, self.file.start_offset))
        if self.find_marker() and self.offset_here() == start:
            self.file.cursor += 1
            self.find_marker()
        return 0

    cdef bint can_move_to(self, long long offset) except -1:
        return self.memory is not None or offset >= self.file.start_offset or self.can_seek()

    # ---- records and blocks ----

    cdef bint advance_to_record(self) except -1:
        # Skips sync markers up to the next record, or stops at the marker of the next block. False:
        # the end of the file or split.
        cdef ReadBuffer* b = &self.file
        self.has_valid_lengths = False
        self.declared_count = 0
        self.error_space = IN_FILE
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
                self.check_no_header()
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
            self.first_bad_offset = -1

    cdef int check_no_header(self) except -1:
        # The header of another file would be lengths beyond 1 GB, those of the record and of the key,
        # which spell SEQ and the name of a class.
        cdef ReadBuffer* b = &self.file
        cdef Py_ssize_t i
        if load_i32(b.cursor) & ~0xff != HEADER_LENGTH or not is_sequence_file(b.cursor[:4]):
            return 0
        if held(b) < SHORTEST_HEADER and not refill(b, SHORTEST_HEADER):
            return 0
        for i in range(5, SHORTEST_HEADER):
            if not 0x20 < b.cursor[i] < 0x7f:
                return 0
        raise self.error("another SequenceFile starts here: files that were joined byte by byte, "
                         "as by hadoop fs -getmerge, cannot be read; "
                         "typedbytes cat --to sequencefile joins their records")

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
        self.has_valid_lengths = True
        self.record_nbytes = <Py_ssize_t>length + 8
        self.nvalue = length - self.nkey
        self.key = b.cursor + 8
        self.value = self.key + self.nkey
        b.cursor += self.record_nbytes
        return True

    cdef inline bint read_buffered_record(self) noexcept:
        # The fast path of read_record. False: use that.
        cdef ReadBuffer* b = &self.file
        if self.compression_type != NONE or not has_buffered_record(self, &self.nkey, &self.nvalue):
            return False
        self.record_offset = self.offset_here()
        self.has_valid_lengths = True
        self.record_nbytes = self.nkey + self.nvalue + 8
        self.key = b.cursor + 8
        self.value = self.key + self.nkey
        b.cursor += self.record_nbytes
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
            self.raise_at_record(error)

    cdef int raise_at_record(self, error) except -1:
        # An error in compressed bytes, with the offset of their record or block.
        reraise_memory_error(error)
        raise type(error)(error.message, self.record_offset, None, "", self.nrecords) from None

    cdef Py_ssize_t frame_block(self, Py_ssize_t* starts, Py_ssize_t* sizes) except -1:
        # Finds the starts, relative to the cursor, and the sizes of the block's four buffers;
        # returns the size of the block.
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
        if self.ahead is not None and self.take_ahead():
            return True
        if not self.advance_to_record():
            return False
        nbytes = self.frame_block(starts, sizes)
        for i in range(4):
            # free it first, for the next to reuse its memory: fresh pages cost as much as decompression
            self.block[i] = None
            self.block[i] = self.decompressed(self.file.cursor + starts[i], sizes[i])
        self.keep_capacity(nbytes)
        self.enter_block()
        self.file.cursor += nbytes
        return True

    cdef inline void keep_capacity(self, Py_ssize_t nbytes) noexcept:
        # Blocks are of similar sizes: keep the capacity that held this one for the next.
        self.file.usual_capacity = max(READ_SIZE, min(self.file.capacity, 4 * nbytes))

    cdef int enter_block(self) except -1:
        cdef int i
        for i in range(4):
            self.block_cursors[i] = <const unsigned char*>PyBytes_AS_STRING(self.block[i])
        self.check_lengths(self.block[0], self.block[1], "key")
        self.check_lengths(self.block[2], self.block[3], "value")
        self.nblock = self.declared_count
        return 0

    cdef int start_looking_ahead(self, submit, Py_ssize_t nblocks) except -1:
        if self.ahead is not None:
            raise RuntimeError("blocks are decompressed ahead already")
        # A source that cannot go back waits for its blocks: after damage,
        # the first block ahead is where reading goes on.
        if self.compression_type == BLOCK and (self.memory is not None or self.can_seek()):
            self.submit, self.max_ahead, self.process, self.ahead = submit, nblocks, os.getpid(), deque()
        return 0

    cdef bint take_ahead(self) except -1:
        # Opens the first of the blocks ahead. False: there is none, and what ends the file,
        # or is wrong with it, comes next.
        cdef bytes key_lengths, keys, value_lengths, values
        if self.process != os.getpid():    # a forked child has none of the threads
            self.forget_ahead()
            self.ahead = None
            return False
        if self.failure_ahead is None:
            self.look_ahead()
        if not self.ahead:
            if self.failure_ahead is not None:
                error, self.failure_ahead = self.failure_ahead, None
                raise error
            return False
        self.has_valid_lengths = False
        self.error_space = IN_FILE
        self.record_offset, self.declared_count, self.block_end, future = self.ahead[0]
        self.block = [None] * 4    # as in open_block
        try:
            key_lengths, keys, value_lengths, values = future.result()
        except DecodeError as error:
            self.raise_at_record(error)
        self.block = [key_lengths, keys, value_lengths, values]
        self.enter_block()
        self.ahead.popleft()
        return True

    cdef int look_ahead(self) except -1:
        cdef Py_ssize_t starts[4]
        cdef Py_ssize_t sizes[4]
        cdef Py_ssize_t nbytes
        cdef int i
        try:
            while len(self.ahead) < self.max_ahead and self.advance_to_record():
                nbytes = self.frame_block(starts, sizes)
                buffers = []
                for i in range(4):
                    buffers.append(PyBytes_FromStringAndSize(<const char*>self.file.cursor + starts[i], sizes[i]))
                try:
                    future = self.submit(decompress_all, self.decompress, buffers, self.max_bytes)
                except RuntimeError:    # the interpreter ends, and starts no threads
                    self.max_ahead = 0
                    return 0
                self.ahead.append((self.record_offset, self.declared_count, self.block_end, future))
                self.keep_capacity(nbytes)
                self.file.cursor += nbytes
        except DecodeError as error:    # raised again after the records before it, since the cursor has not moved
            reraise_memory_error(error)
        except Exception as error:    # of the source
            self.failure_ahead = error
        return 0

    cdef int forget_ahead(self) except -1:
        # Go back to the first of the blocks ahead.
        if self.ahead:
            offset = self.ahead[0][0]
            self.ahead.clear()
            self.move_to(offset)
        self.failure_ahead = None
        return 0

    cdef int check_lengths(self, bytes lengths, bytes data, str part) except -1:
        # The number of lengths is the block's declared count and their sum the size of the data:
        # later code relies on both.
        cdef const unsigned char* p = <const unsigned char*>PyBytes_AS_STRING(lengths)
        cdef const unsigned char* end = p + PyBytes_GET_SIZE(lengths)
        cdef int64_t left = PyBytes_GET_SIZE(data)
        cdef int64_t length
        cdef uint64_t eight
        cdef Py_ssize_t nlengths = 0
        while p < end:
            if left >= 8 * 127 and end - p >= 8:
                memcpy(&eight, p, 8)
                if eight & 0x8080808080808080U == 0:    # eight lengths of one byte each
                    eight = (eight & 0x00ff00ff00ff00ffU) + (eight >> 8 & 0x00ff00ff00ff00ffU)
                    left -= eight * 0x0001000100010001U >> 48
                    nlengths += 8
                    p += 8
                    continue
            if vint_size(p[0]) > end - p:
                raise self.error(f"the last {part} length of a block is truncated")
            length = load_vint(p)
            if not 0 <= length <= left:
                raise self.error(f"{part} length {length} in a block with {left} bytes left")
            left -= length
            nlengths += 1
            p += vint_size(p[0])
        if left or nlengths != self.declared_count:
            raise self.error(f"a block of {self.declared_count} records has {nlengths} {part} lengths "
                             f"and {left} bytes after its {part}s")
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
        self.has_valid_lengths = True
        self.record_nbytes = self.nkey + self.nvalue
        return True

    cdef inline Py_ssize_t next_length(self, int which) noexcept:
        cdef const unsigned char* p = self.block_cursors[which]
        self.block_cursors[which] = p + vint_size(p[0])
        return load_vint(p)


cdef inline bint has_buffered_record(RecordFrames frames, Py_ssize_t* nkey, Py_ssize_t* nvalue) noexcept nogil:
    # Whether a record without compression is next, no sync marker, and buffered whole, with valid lengths.
    cdef ReadBuffer* b = &frames.file
    cdef Py_ssize_t nheld = held(b)
    cdef int64_t length
    if nheld < 8 or frames.is_empty_split or b.capacity > b.usual_capacity:
        return False
    length = load_i32(b.cursor)
    nkey[0] = load_i32(b.cursor + 4)
    nvalue[0] = length - nkey[0]
    return 0 <= nkey[0] <= length <= min(nheld - 8, frames.max_bytes)


def decompress_all(decompress, buffers, max_bytes):
    decompressed = []
    for each in buffers:
        decompressed.append(decompress(each, max_bytes))
    return decompressed


cdef inline void store_lengths(unsigned char* p, Py_ssize_t nkey, Py_ssize_t nvalue) noexcept:
    # The lengths in a record of two TypedBytesWritables: the record's, the key's, and that of the bytes in each.
    store_i32(p, <int32_t>(nkey + nvalue + 8))
    store_i32(p + 4, <int32_t>(nkey + 4))
    store_i32(p + 8, <int32_t>nkey)
    store_i32(p + 12 + nkey, <int32_t>nvalue)


cdef inline int check_record(Py_ssize_t nbytes) except -1:
    if nbytes > MAX_LENGTH - 8:
        return raise_long_record(nbytes)
    return 0


cdef int raise_long_record(Py_ssize_t nbytes) except -1:
    raise EncodeValueError(f"a record or block of {nbytes} bytes is too long: at most 2^31-9")
