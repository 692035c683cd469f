# RowGroups reads an RCFile: each group of rows has its columns one after the other, compressed on their own, and a key
# with their sizes. What is not wanted is neither read, if the source can seek, nor decompressed.
#
#     header   as a SequenceFile's of version 6 whose classes are RCFile's; or "RCF", 1, boolean compressed, Text codec
#              class when it is, metadata (hive.io.rcfile.column.number among it), 16 bytes of sync marker
#     group    sync markers as in a SequenceFile, i32 length of key and columns, i32 length of the key, i32 that of the
#              compressed key, key, columns
#     key      vint number of rows; for each column its size, its size before compression, and a counted string of the
#              lengths of its cells as vints, where ~n repeats the length before it n times

cdef enum:
    MAX_HIVE_COLUMNS = 1 << 16
    GROUP_HEAD_NBYTES = 12
    HEAD_READ_SIZE = 4096     # a marker, the head of a group, and its key or a part of it

RCFILE_MAGIC = b"RCF\x01"
COLUMN_COUNT = "hive.io.rcfile.column.number"

cdef struct ColumnCursor:     # of a column in the group that is open
    const unsigned char* cell         # the next cell
    const unsigned char* lengths      # the lengths of the cells after it; NULL: the file does not have the column
    int64_t length                    # the length that was read last
    int64_t nrepeats                  # how many further cells have that length


cdef class RowGroups(RecordFrames):
    """Read the rows of an RCFile as typed bytes, each a VECTOR of the columns that are wanted.

    find_types: called with the number of columns, returns the numbers of those wanted, in order, and for each its name
    and its type as the columns module describes it. is_binary: the cells are as LazyBinaryColumnarSerDe writes them,
    not as ColumnarSerDe. hive: nulls are NULLs of Hive's dialect, not pickles. resync: after damage reading goes on at
    the next sync marker, and `skipped` has what lies before it.
    """

    cdef readonly Py_ssize_t ncolumns
    cdef readonly list skipped
    cdef bint resync
    cdef bint is_binary
    cdef bint is_serialization_known
    cdef bint accepts_fractions           # timestamps may have fractions that columns do not hold
    cdef const unsigned char* null
    cdef Py_ssize_t null_nbytes
    cdef tuple wanted
    cdef tuple names
    cdef tuple types                      # HiveTypes
    cdef list group                       # the key of the group, and the cells of its columns
    cdef bytearray cursor_memory
    cdef ColumnCursor* cursors
    cdef Py_ssize_t nrows                 # rows left in the group
    cdef Py_ssize_t column                # the column that is being read, as its number among those wanted
    cdef Py_ssize_t row_start             # offset in `typed` of the row that is being written
    cdef WriteBuffer typed
    cdef State state
    cdef object failure
    cdef object filename
    cdef bint owns

    def __cinit__(self, *args, **options):
        self.state = CLOSED

    def __init__(self, source, *, find_types, find_codec, is_binary=False, hive=False, long long start=0, length=None,
                 Py_ssize_t max_bytes=MAX_RECORD_NBYTES, resync=False, owns=False, filename=None):
        if self.source is not None:
            raise RuntimeError("an RCFile cannot be initialised again")
        self.max_bytes = min(parse_max_bytes(max_bytes), MAX_LENGTH)
        self.is_binary, self.filename = is_binary, filename
        self.is_serialization_known = is_binary
        self.resync = resync
        self.skipped = []
        self.null = NULL_OF_HIVE if hive else <const unsigned char*>PICKLED_NONE
        self.null_nbytes = 1 if hive else PICKLED_NONE_NBYTES
        self.state = BUSY
        try:
            self.connect(source)
            self.source = source
            self.file.read_ahead = False    # until it is known what is wanted of it
            refill(&self.file, HEAD_READ_SIZE)
            self.read_header()
            if self.compression_type != NONE:
                self.decompress = find_codec(self.codec)
            self.wanted, self.names, described = find_types(self.ncolumns)
            self.types = hive_types(described, 1, not is_binary)
            self.cursor_memory = bytearray(max(1, len(self.types)) * sizeof(ColumnCursor))
            self.cursors = <ColumnCursor*>PyByteArray_AS_STRING(self.cursor_memory)
            self.enter_split(start, length)
            # What lies between the columns wanted is then not read with them.
            self.file.read_ahead = len(self.wanted) >= self.ncolumns or self.memory is not None or not self.can_seek()
            self.owns = owns
            self.state = OPEN
        except DecodeError as error:
            raise self.named(error)
        finally:
            if self.state == BUSY:
                self.state = CLOSED

    def __dealloc__(self):
        drop(&self.typed)

    def __reduce__(self):
        raise TypeError("an RCFile cannot be pickled")

    cdef object named(self, error):
        error.filename = self.filename
        return error

    # ---- header ----

    cdef int read_header(self) except -1:
        cdef bint compressed
        cdef int version = 1    # as Hive counts them
        self.require(4)
        if self.file.cursor[:4] == RCFILE_MAGIC:
            self.file.cursor += 4
            compressed = self.read_bytes(1) != b"\0"
        else:
            self.read_start()
            version = 0
            self.version = self.read_bytes(1)[0]
            self.key_class, self.value_class = self.read_class_name(), self.read_class_name()
            if self.version != MAX_VERSION or self.key_class != OLD_RCFILE_KEY:
                raise FormatError("not an RCFile: the file starts with neither RCF and version 1 nor the header of a "
                                  "SequenceFile with the classes of an RCFile", 0)
            compressed = self.read_bytes(1) != b"\0"
            if self.read_bytes(1) != b"\0":
                raise FormatError("the header of an RCFile declares blocks", self.offset_here() - 1)
        self.version = MAX_VERSION    # the rest is as there
        self.compression_type = RECORD if compressed else NONE
        self.compression = COMPRESSIONS[self.compression_type]
        self.read_rest_of_header()
        self.version = version
        count = self.metadata.get(COLUMN_COUNT, "")
        if not (count.isascii() and count.isdigit() and len(count) < 10):
            raise FormatError(f"expected the number of columns as {COLUMN_COUNT} in the metadata, "
                              f"found {count!r:.80}", self.header_end - SYNC_NBYTES)
        self.ncolumns = int(count)
        if self.ncolumns > MAX_HIVE_COLUMNS:
            raise LimitError(f"{count} columns: at most {MAX_HIVE_COLUMNS} are read", self.header_end - SYNC_NBYTES)
        return 0

    # ---- groups ----

    cdef bint next_group(self) except -1:
        # False: the end of the file or split.
        while True:
            try:
                if not self.open_group():
                    return False
                break
            except DecodeError as error:
                reraise_memory_error(error)
                if not self.resync:
                    raise
                self.skip_damage(error)
        if not self.is_serialization_known and self.nrows:
            self.is_serialization_known = True
            check_serialization(self)
        return True

    cdef int skip_damage(self, error) except -1:
        # All of the group: its columns have no other place than the one that its damaged key, or lengths, say.
        cdef long long start = self.record_offset
        self.find_marker_after(start)
        self.skipped.append(Skipped(start, max(0, self.offset_here() - start), None, error))
        return 0

    cdef bint open_group(self) except -1:
        # False: the end of the file or split.
        cdef int32_t length, nkey, ncompressed
        cdef long long first, end
        PyErr_CheckSignals()
        if not self.file.read_ahead:
            refill(&self.file, HEAD_READ_SIZE)
        if not self.advance_to_record():
            return False
        self.require(GROUP_HEAD_NBYTES)
        length = load_i32(self.file.cursor)
        nkey = load_i32(self.file.cursor + 4)
        ncompressed = load_i32(self.file.cursor + 8)
        if ncompressed < 0 or not 0 <= nkey <= length or (self.compression_type == NONE and nkey != ncompressed):
            raise self.error(f"the lengths {length}, {nkey} and {ncompressed} of a row group do not fit each other")
        self.check_limit(max(length, ncompressed), self.record_offset)
        self.require(GROUP_HEAD_NBYTES + <Py_ssize_t>ncompressed)
        self.file.cursor += GROUP_HEAD_NBYTES
        key = self.inflated(ncompressed, nkey)
        first = self.offset_here()
        end = first + length - nkey
        self.read_columns(key, first, end)
        self.move_to(end)
        return True

    cdef bytes inflated(self, Py_ssize_t nbytes, Py_ssize_t size):
        # The next bytes, which are there, before compression.
        cdef bytes data
        if self.compression_type == NONE:
            return self.read_bytes(nbytes)
        data = self.decompressed(self.file.cursor, nbytes)
        if len(data) != size:
            raise self.error(f"expected {size} bytes after decompression, found {len(data)}")
        self.file.cursor += nbytes
        return data

    cdef int read_columns(self, bytes key, long long first, long long end) except -1:
        cdef const unsigned char* p = <const unsigned char*>PyBytes_AS_STRING(key)
        cdef const unsigned char* key_end = p + PyBytes_GET_SIZE(key)
        cdef Py_ssize_t nrows = self.key_number(&p, key_end)
        cdef Py_ssize_t nbytes, size, nlengths, i
        cdef Py_ssize_t column = 0
        cdef ColumnCursor* cursor
        cdef list memory = [key]
        if nrows > self.max_bytes // (2 * max(self.ncolumns, 1)):    # Hive's own estimate of the memory for lengths
            raise LimitError(f"a row group of {nrows} rows is beyond max_bytes={self.max_bytes}", self.record_offset,
                             None, "", self.nrecords)
        self.group = None    # freed first, for the next to reuse
        for i in range(self.ncolumns):
            nbytes, size = self.key_number(&p, key_end), self.key_number(&p, key_end)
            nlengths = self.key_number(&p, key_end)
            if nlengths > key_end - p or nbytes > end - first or (self.compression_type == NONE and nbytes != size):
                raise self.error(f"the sizes {nbytes}, {size} and {nlengths} of column {i} do not fit its row group")
            while column < len(self.wanted) and self.wanted[column] == i:
                self.check_limit(size, self.record_offset)
                self.check_cells(p, p + nlengths, nrows, size)
                self.move_to(first)
                self.require(nbytes)
                memory.append(self.inflated(nbytes, size))
                cursor = &self.cursors[column]
                cursor.cell = <const unsigned char*>PyBytes_AS_STRING(<bytes>memory[len(memory) - 1])
                cursor.lengths = p
                cursor.length = cursor.nrepeats = 0
                column += 1
            p += nlengths
            first += nbytes
        if p != key_end or first != end:
            raise self.error(f"a row group has {key_end - p} bytes after its key and {end - first} after its columns")
        self.group = memory
        self.nrows = nrows
        return 0

    cdef Py_ssize_t key_number(self, const unsigned char** p, const unsigned char* end) except -1:
        cdef int64_t number
        if p[0] == end or vint_size(p[0][0]) > end - p[0]:
            raise self.error("the key of a row group ends early")
        number = load_vint(p[0])
        if not 0 <= number <= MAX_LENGTH:
            raise self.error(f"invalid count or length {number} in the key of a row group")
        p[0] += vint_size(p[0][0])
        return number

    cdef int check_cells(self, const unsigned char* p, const unsigned char* end, int64_t nrows, int64_t size) except -1:
        # There is a length for each row, and they are the column's size together: later code relies on both.
        cdef int64_t length = 0
        cdef int64_t number, count
        while p != end:
            if vint_size(p[0]) > end - p:
                raise self.error("the last length of a cell is truncated")
            number = load_vint(p)
            p += vint_size(p[0])
            count = max(~number, 1) if number < 0 else 1
            length = number if number >= 0 else length
            if count > nrows or (length and count > size // length):
                raise self.error(f"{count} cells of {length} bytes, where {nrows} with {size} bytes are left")
            nrows -= count
            size -= count * length
        if nrows or size:
            raise self.error(f"{nrows} rows and {size} bytes more than a column has cells")
        return 0

    # ---- rows ----

    cdef int append_row(self) except -1:
        cdef Py_ssize_t n = len(self.types)
        cdef ColumnCursor* cursor
        cdef const unsigned char* end
        cdef HiveType t
        self.row_start = written(&self.typed)
        self.append_count(VECTOR, n)
        for self.column in range(n):
            cursor = &self.cursors[self.column]
            if cursor.lengths == NULL:
                self.append_null()
                continue
            read_length(cursor)
            t = <HiveType>self.types[self.column]
            end = cursor.cell + cursor.length
            if not self.is_binary:
                append_text_cell(self, t, cursor.cell, end, 2)
            elif cursor.length == 0:
                self.append_null()
            elif append_binary_cell(self, t, cursor.cell, end, True) != end:
                raise self.cell_error(f"bytes after a value of {cursor.length} bytes")
            cursor.cell = end
            self.check_size()
        return 0

    cdef object cell_error(self, str message):
        return FormatError(f"{message}, in column {self.names[self.column]!r} of Hive's binary serialization",
                           self.record_offset, None, "", self.nrecords)

    cdef inline int check_size(self) except -1:
        if unlikely(written(&self.typed) - self.row_start > MAX_RECORD_NBYTES):
            raise LimitError(f"a row of more than {MAX_RECORD_NBYTES} bytes as typed bytes", self.record_offset, None,
                             "", self.nrecords)
        return 0

    cdef inline int append_null(self) except -1:
        return append_bytes(&self.typed, self.null, self.null_nbytes)

    cdef inline bint is_null_at(self, Py_ssize_t offset) noexcept:
        return self.typed.start[offset] == self.null[0]

    cdef inline int append_payload(self, int code, const unsigned char* p, Py_ssize_t nbytes) except -1:
        reserve(&self.typed, 5 + nbytes)
        store_code(&self.typed, code)
        return append_counted(&self.typed, p, nbytes)

    cdef inline int append_count(self, int code, Py_ssize_t count) except -1:
        reserve(&self.typed, 5)
        store_code(&self.typed, code)
        store_i32(self.typed.cursor, <int32_t>count)
        self.typed.cursor += 4
        return 0

    cdef int end_parts(self, HiveType t, Py_ssize_t start, Py_ssize_t nparts) except -1:
        # Of a LIST, or of what starts with their number.
        if t.code != LIST:
            store_i32(self.typed.start + start + 1, <int32_t>nparts)
            return 0
        reserve(&self.typed, 1)
        store_code(&self.typed, MARKER)
        return 0

    cdef inline int append_name(self, HiveType t, Py_ssize_t i) except -1:
        # Of a field, in a MAP.
        cdef bytes name
        if t.code == MAP:
            name = <bytes>t.names[i]
            append_bytes(&self.typed, <const unsigned char*>PyBytes_AS_STRING(name), PyBytes_GET_SIZE(name))
        return 0

    cdef int append_timestamp(self, HiveType t, int64_t seconds, int nanoseconds) except -1:
        if nanoseconds % t.unit and not self.accepts_fractions:
            kind = "timestamp<us>" if nanoseconds % 1000 == 0 else "bytes" if self.is_binary else "string"
            raise FormatError(f"a timestamp with a fraction that column {self.names[self.column]!r} does not hold: "
                              f"give it the type {kind}", self.record_offset, None, "", self.nrecords)
        return append_integer(&self.typed, LONG, seconds * (1_000_000_000 // t.unit) + nanoseconds // t.unit)

    # ---- as the other readers of columns ----

    def __read_encoded__(self, Py_ssize_t nbytes):
        """Return whole rows, nbytes at least, and the offsets of their groups as int64; none at the end."""
        cdef WriteBuffer offsets
        if not claim_state(&self.state, OPEN, BUSY):
            refuse_call(self, self.state, self.failure, "reader")
        failure = None
        offsets.owner = NULL
        try:
            start_owned(&self.typed, min(max(nbytes, 0), READ_SIZE) + 512)
            start_owned(&offsets, 512)
            try:
                while written(&self.typed) < nbytes and (self.nrows or self.next_group()):
                    if not self.nrows:
                        continue
                    if not self.nrecords & SIGNAL_MASK:
                        PyErr_CheckSignals()
                    self.append_row()
                    self.row_start = written(&self.typed)
                    reserve(&offsets, sizeof(self.record_offset))
                    store_offset(&offsets, self.record_offset)
                    self.nrows -= 1
                    self.nrecords += 1
            except DecodeError as error:
                reraise_memory_error(error)
                self.typed.cursor = self.typed.start + self.row_start
                self.failure = failure = self.named(error)    # raised after the rows before it
            if written(&self.typed) == 0 and failure is not None:
                raise failure
            return finish(&self.typed), finish(&offsets)
        except BaseException as error:
            self.failure = failure = as_failure(error)
            raise
        finally:
            drop(&offsets)
            self.row_start = 0
            self.state = OPEN if failure is None else HAS_FAILED

    @property
    def __programs__(self):
        """None for the keys and the values of a SequenceFile, which this is not."""
        return None, None

    @property
    def record(self):
        """The number of rows read."""
        return self.nrecords

    @property
    def offset(self):
        """The offset in the file after the last group read."""
        return 0 if self.state == CLOSED else self.offset_here()

    def close(self):
        """Release the source, and close it if it was opened from a path."""
        if claim_to_close(self, &self.state) == CLOSED:
            return
        try:
            release(&self.file)
            if self.memory is not None:
                self.memory.release()
            self.input = self.memory = self.group = None
        finally:
            self.state = CLOSED
        if self.owns:
            self.owns = False
            self.source.close()


cdef inline void read_length(ColumnCursor* cursor) noexcept nogil:
    # Of the next cell.
    cdef int64_t number
    if cursor.nrepeats:
        cursor.nrepeats -= 1
        return
    number = load_vint(cursor.lengths)
    cursor.lengths += vint_size(cursor.lengths[0])
    if number < 0:
        cursor.nrepeats = max(~number - 1, 0)
    else:
        cursor.length = number


cdef inline int append_integer(WriteBuffer* out, int code, int64_t number) except -1:
    reserve(out, 9)
    out.cursor[0] = code
    if code == LONG:
        store_i64(out.cursor + 1, number)
        out.cursor += 9
    elif code == INT:
        store_i32(out.cursor + 1, <int32_t>number)
        out.cursor += 5
    elif code == SHORT:
        store_i16(out.cursor + 1, <int16_t>number)
        out.cursor += 3
    else:
        out.cursor[1] = <unsigned char>number
        out.cursor += 2
    return 0


cdef inline int append_bool(WriteBuffer* out, bint is_true) except -1:
    reserve(out, 2)
    out.cursor[0] = BOOL
    out.cursor[1] = is_true
    out.cursor += 2
    return 0


cdef inline int append_real(WriteBuffer* out, int code, double number) except -1:
    cdef float narrow = <float>number    # beyond it infinite, as in Java
    reserve(out, 9)
    out.cursor[0] = code
    if code == DOUBLE:
        store_f64(out.cursor + 1, number)
        out.cursor += 9
    else:
        store_f32(out.cursor + 1, narrow)
        out.cursor += 5
    return 0
