# Arrow's C structures, given and taken.
#
# The layout of each type and the rules of ownership are those of the Arrow C data and C stream interfaces; the names of the
# capsules are those of the Arrow PyCapsule interface. What is given away counts as an owner of its Table, each array for itself,
# because a consumer may keep a child when its parent is gone.

cdef enum:
    EIO = 5                   # what a stream's functions return when its source failed; the message says more
    MOST_TEXT = 32            # bytes of a format

cdef struct SchemaParts:
    char format[MOST_TEXT]
    char* name
    ArrowSchema* children
    ArrowSchema** pointers

cdef struct ArrayParts:
    Table* table              # owned as one of many
    void* bits                # owned: BOOLs as Arrow has them
    const void* buffers[3]
    ArrowArray* children
    ArrowArray** pointers

cdef int64_t NO_OFFSETS[2]    # what an array without values points to


# ---- given ----------------------------------------------------------------------------------------------------------------

cdef void release_schema(ArrowSchema* schema) noexcept nogil:
    cdef SchemaParts* parts = <SchemaParts*>schema.private_data
    cdef int64_t i
    for i in range(schema.n_children):
        if schema.children[i].release != NULL:
            schema.children[i].release(schema.children[i])
    free(parts.name)
    free(parts.children)
    free(parts.pointers)
    free(parts)
    schema.release = NULL


cdef SchemaParts* start_schema(ArrowSchema* schema, const char* format, bytes name, int64_t flags, Py_ssize_t nchildren) except NULL:
    # Releasing is right from here on, whatever happens to the children.
    cdef SchemaParts* parts = <SchemaParts*>calloc(1, sizeof(SchemaParts))
    cdef Py_ssize_t i
    if parts == NULL:
        raise MemoryError
    parts.name = <char*>malloc(len(name) + 1)
    parts.children = <ArrowSchema*>calloc(max(nchildren, 1), sizeof(ArrowSchema))
    parts.pointers = <ArrowSchema**>calloc(max(nchildren, 1), sizeof(ArrowSchema*))
    if parts.name == NULL or parts.children == NULL or parts.pointers == NULL:
        free(parts.name)
        free(parts.children)
        free(parts.pointers)
        free(parts)
        raise MemoryError
    memcpy(parts.name, PyBytes_AS_STRING(name), len(name) + 1)
    memcpy(parts.format, format, strlen(format) + 1)
    for i in range(nchildren):
        parts.pointers[i] = &parts.children[i]
    memset(schema, 0, sizeof(ArrowSchema))
    schema.format = parts.format
    schema.name = parts.name
    schema.flags = flags
    schema.n_children = nchildren
    schema.children = parts.pointers if nchildren else NULL
    schema.private_data = parts
    schema.release = release_schema
    return parts


cdef dict FORMATS = {BYTE: b"c", BOOL: b"b", SHORT: b"s", INT: b"i", LONG: b"l", FLOAT: b"f", DOUBLE: b"g"}


cdef int give_schema(ArrowSchema* schema, const Column* c, bytes name, int64_t flags) except -1:
    cdef SchemaParts* parts
    cdef Py_ssize_t i
    if c.kind == FIXED:
        start_schema(schema, <bytes>FORMATS[c.code], name, flags, 0)
    elif c.kind == SIZED or c.kind == ENCODED:
        start_schema(schema, b"u" if c.code == STRING else b"z", name, flags, 0)
    elif c.kind == UNKNOWN:
        start_schema(schema, b"n", name, flags, 0)
    elif c.kind == ARRAY:
        parts = start_schema(schema, b"+w:%d" % c.nitems, name, flags, 1)
        start_schema(&parts.children[0], <bytes>FORMATS[c.code], b"item", ARROW_FLAG_NULLABLE, 0)
    elif c.kind == TUPLE:
        parts = start_schema(schema, b"+s", name, flags, c.nparts)
        for i in range(c.nparts):
            give_schema(&parts.children[i], c.parts[i], b"%d" % i, ARROW_FLAG_NULLABLE)
    elif c.kind == LISTED:
        parts = start_schema(schema, b"+l", name, flags, 1)
        give_schema(&parts.children[0], c.parts[0], b"item", ARROW_FLAG_NULLABLE)
    else:
        parts = start_schema(schema, b"+m", name, flags, 1)
        parts = start_schema(&parts.children[0], b"+s", b"entries", 0, 2)
        give_schema(&parts.children[0], c.parts[0], b"key", 0)
        give_schema(&parts.children[1], c.parts[1], b"value", ARROW_FLAG_NULLABLE)
    return 0


cdef void release_array(ArrowArray* array) noexcept nogil:
    cdef ArrayParts* parts = <ArrayParts*>array.private_data
    cdef int64_t i
    for i in range(array.n_children):
        if array.children[i].release != NULL:
            array.children[i].release(array.children[i])
    leave_table(parts.table)
    free(parts.bits)
    free(parts.children)
    free(parts.pointers)
    free(parts)
    array.release = NULL


cdef ArrayParts* start_array(ArrowArray* array, Table* table, Py_ssize_t length, Py_ssize_t nbuffers, Py_ssize_t nchildren) except NULL:
    cdef ArrayParts* parts = <ArrayParts*>calloc(1, sizeof(ArrayParts))
    cdef Py_ssize_t i
    if parts == NULL:
        raise MemoryError
    parts.children = <ArrowArray*>calloc(max(nchildren, 1), sizeof(ArrowArray))
    parts.pointers = <ArrowArray**>calloc(max(nchildren, 1), sizeof(ArrowArray*))
    if parts.children == NULL or parts.pointers == NULL:
        free(parts.children)
        free(parts.pointers)
        free(parts)
        raise MemoryError
    for i in range(nchildren):
        parts.pointers[i] = &parts.children[i]
    add_owner(&table.owners)
    parts.table = table
    memset(array, 0, sizeof(ArrowArray))
    array.length = length
    array.n_buffers = nbuffers
    array.buffers = parts.buffers
    array.n_children = nchildren
    array.children = parts.pointers if nchildren else NULL
    array.private_data = parts
    array.release = release_array
    return parts


cdef int give_numbers(ArrowArray* array, Table* table, const Column* c, Py_ssize_t n) except -1:
    cdef ArrayParts* parts = start_array(array, table, n, 2, 0)
    cdef Py_ssize_t i
    cdef unsigned char* bits
    parts.buffers[1] = <const void*>c.data if n else <const void*>NO_OFFSETS
    if c.code == BOOL and n:
        parts.bits = calloc((n + 7) // 8, 1)
        if parts.bits == NULL:
            raise MemoryError
        bits = <unsigned char*>parts.bits
        for i in range(n):
            bits[i >> 3] |= c.data[i] << (i & 7)
        parts.buffers[1] = bits
    return 0


cdef int give_array(ArrowArray* array, Table* table, const Column* c) except -1:
    cdef ArrayParts* parts
    cdef Py_ssize_t i, nitems
    cdef const void* offsets = <const void*>c.offsets if c.offsets != NULL else <const void*>NO_OFFSETS
    if c.kind == FIXED:
        give_numbers(array, table, c, c.n)
    elif c.kind == SIZED or c.kind == ENCODED:
        parts = start_array(array, table, c.n, 3, 0)
        parts.buffers[1] = offsets
        parts.buffers[2] = <const void*>c.data if c.used else <const void*>NO_OFFSETS
    elif c.kind == UNKNOWN:
        start_array(array, table, c.n, 0, 0)
        array.null_count = c.n
    elif c.kind == ARRAY:
        parts = start_array(array, table, c.n, 1, 1)
        give_numbers(&parts.children[0], table, c, c.n * c.nitems)
    elif c.kind == PAIRED:
        nitems = c.parts[0].n
        parts = start_array(array, table, c.n, 2, 1)
        parts.buffers[1] = offsets
        parts = start_array(&parts.children[0], table, nitems, 1, 2)
        give_array(&parts.children[0], table, c.parts[0])
        give_array(&parts.children[1], table, c.parts[1])
    else:
        parts = start_array(array, table, c.n, 2 if c.kind == LISTED else 1, c.nparts)
        parts.buffers[1] = offsets if c.kind == LISTED else NULL
        for i in range(c.nparts):
            give_array(&parts.children[i], table, c.parts[i])
    return 0


cdef void free_schema(object capsule) noexcept:
    cdef ArrowSchema* schema = <ArrowSchema*>PyCapsule_GetPointer(capsule, "arrow_schema")
    if schema.release != NULL:
        schema.release(schema)
    free(schema)


cdef void free_array(object capsule) noexcept:
    cdef ArrowArray* array = <ArrowArray*>PyCapsule_GetPointer(capsule, "arrow_array")
    if array.release != NULL:
        array.release(array)
    free(array)


cdef void free_stream(object capsule) noexcept:
    cdef ArrowArrayStream* stream = <ArrowArrayStream*>PyCapsule_GetPointer(capsule, "arrow_array_stream")
    if stream.release != NULL:
        stream.release(stream)
    free(stream)


cdef class Batch:
    """Hold the columns of some rows, which never change."""

    cdef Table* table
    cdef readonly tuple names

    def __dealloc__(self):
        leave_table(self.table)

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be pickled")

    cdef int check(self) except -1:
        if self.table == NULL:
            raise TypeError("a Batch comes from columns.read")
        return 0

    def __len__(self):
        self.check()
        return self.table.n

    @property
    def _types(self):
        self.check()
        return tuple([describe(self.table.shown[i]) for i in range(self.table.nshown)])

    def _held(self, Py_ssize_t column, path, name):
        # A memoryview of the data or of the offsets of a column or of a part of it.
        self.check()
        cdef Column* c = self.table.shown[column]
        cdef Py_ssize_t i
        cdef Held held = Held()
        for i in path:
            c = c.parts[i]
        held.batch = self
        held.view_column(c, name == "offsets")
        return memoryview(held)

    def __arrow_c_schema__(self):
        """Export the types of the columns as a capsule "arrow_schema"."""
        self.check()
        cdef ArrowSchema* schema = <ArrowSchema*>calloc(1, sizeof(ArrowSchema))
        cdef SchemaParts* parts
        cdef Py_ssize_t i
        if schema == NULL:
            raise MemoryError
        capsule = PyCapsule_New(schema, "arrow_schema", free_schema)
        parts = start_schema(schema, b"+s", b"", 0, self.table.nshown)
        for i in range(self.table.nshown):
            give_schema(&parts.children[i], self.table.shown[i], (<str>self.names[i]).encode("utf-8"), ARROW_FLAG_NULLABLE)
        return capsule

    def __arrow_c_array__(self, requested_schema=None):
        """Export the columns as capsules "arrow_schema" and "arrow_array"; another schema than theirs is not made."""
        schema = self.__arrow_c_schema__()
        cdef ArrowArray* array = <ArrowArray*>calloc(1, sizeof(ArrowArray))
        if array == NULL:
            raise MemoryError
        capsule = PyCapsule_New(array, "arrow_array", free_array)
        self.give(array)
        return schema, capsule

    cdef int give(self, ArrowArray* array) except -1:
        cdef ArrayParts* parts = start_array(array, self.table, self.table.n, 1, self.table.nshown)
        cdef Py_ssize_t i
        for i in range(self.table.nshown):
            give_array(&parts.children[i], self.table, self.table.shown[i])
        return 0


def rows_of_batch(Batch batch not None, Py_ssize_t column):
    """Return the Rows of a column of a Batch, with the types that it was read with."""
    cdef Rows rows = Rows()
    batch.check()
    rows.c = batch.table.shown[column]
    rows.n = batch.table.n
    rows.borrowed = True
    rows.kept.append(batch)
    return rows


cdef class Held:
    # The exporter behind a memoryview: as long as somebody looks, the Batch lives.
    cdef Batch batch
    cdef void* data
    cdef bytes format
    cdef int ndim
    cdef Py_ssize_t itemsize
    cdef Py_ssize_t shape[2]
    cdef Py_ssize_t strides[2]

    cdef int view_column(self, Column* c, bint offsets) except -1:
        self.ndim = 1
        if offsets:
            self.format, self.itemsize = b"i", 4
            self.data = c.offsets if c.offsets != NULL else <void*>NO_OFFSETS
            self.shape[0] = c.n + 1
        else:
            self.format = ITEM_FORMATS[c.code] if c.width else b"B"
            self.itemsize = max(c.width, 1)
            self.data = c.data if c.used else <void*>NO_OFFSETS
            self.shape[0] = c.used // self.itemsize
        if c.kind == ARRAY:
            self.ndim = 2
            self.shape[0] = c.n
            self.shape[1] = c.nitems
        self.strides[self.ndim - 1] = self.itemsize
        if self.ndim == 2:
            self.strides[0] = self.itemsize * c.nitems
        return 0

    def __getbuffer__(self, Py_buffer* view, int flags):
        if flags & PyBUF_WRITABLE:
            raise BufferError("the memory of a Batch never changes")
        view.obj = self
        view.buf = self.data
        view.len = self.shape[0] * self.itemsize * (self.shape[1] if self.ndim == 2 else 1)
        view.readonly = True
        view.itemsize = self.itemsize
        view.format = PyBytes_AS_STRING(self.format)
        view.ndim = self.ndim
        view.shape = self.shape
        view.strides = self.strides
        view.suboffsets = NULL
        view.internal = NULL


cdef dict ITEM_FORMATS = {BYTE: b"b", BOOL: b"?", SHORT: b"h", INT: b"i", LONG: b"q", FLOAT: b"f", DOUBLE: b"d"}


# ---- streams given --------------------------------------------------------------------------------------------------------

cdef struct StreamParts:
    PyObject* source          # owned: next_batch() gives a Batch or None, and arrow_schema() a capsule
    char* message             # owned: of the last error


def arrow_stream(source):
    """Return a capsule "arrow_array_stream" over an object with next_batch() and arrow_schema()."""
    cdef ArrowArrayStream* stream = <ArrowArrayStream*>calloc(1, sizeof(ArrowArrayStream))
    cdef StreamParts* parts = <StreamParts*>calloc(1, sizeof(StreamParts))
    if stream == NULL or parts == NULL:
        free(stream)
        free(parts)
        raise MemoryError
    Py_INCREF(source)
    parts.source = <PyObject*>source
    stream.private_data = parts
    stream.get_schema = stream_schema
    stream.get_next = stream_next
    stream.get_last_error = stream_error
    stream.release = stream_release
    return PyCapsule_New(stream, "arrow_array_stream", free_stream)


cdef int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) noexcept with gil:
    cdef StreamParts* parts = <StreamParts*>stream.private_data
    cdef ArrowSchema* schema
    try:
        capsule = (<object>parts.source).arrow_schema()
        schema = <ArrowSchema*>PyCapsule_GetPointer(capsule, "arrow_schema")
        out[0] = schema[0]
        schema.release = NULL
        return 0
    except BaseException as error:
        return note_error(parts, error)


cdef int stream_next(ArrowArrayStream* stream, ArrowArray* out) noexcept with gil:
    cdef StreamParts* parts = <StreamParts*>stream.private_data
    cdef Batch batch
    try:
        memset(out, 0, sizeof(ArrowArray))
        batch = (<object>parts.source).next_batch()
        if batch is not None:
            batch.give(out)
        return 0
    except BaseException as error:
        if out.release != NULL:
            out.release(out)
        return note_error(parts, error)


cdef int note_error(StreamParts* parts, error) noexcept:
    try:
        text = f"{type(error).__name__}: {error}".encode("utf-8", "replace").replace(b"\0", b" ")
        free(parts.message)
        parts.message = <char*>malloc(len(text) + 1)
        if parts.message != NULL:
            memcpy(parts.message, PyBytes_AS_STRING(text), len(text) + 1)
    except BaseException:    # the number has to say enough
        pass
    return EIO


cdef const char* stream_error(ArrowArrayStream* stream) noexcept with gil:
    return (<StreamParts*>stream.private_data).message


cdef void stream_release(ArrowArrayStream* stream) noexcept with gil:
    cdef StreamParts* parts = <StreamParts*>stream.private_data
    Py_XDECREF(parts.source)
    free(parts.message)
    free(parts)
    stream.release = NULL


# ---- taken ----------------------------------------------------------------------------------------------------------------

cdef class Lent:
    """Hold an array that somebody lent through capsules, with its schema, until nobody uses it any more."""

    cdef ArrowArray array
    cdef object schema            # the capsule

    def __init__(self, schema, array):
        cdef ArrowArray* given
        if not PyCapsule_IsValid(schema, "arrow_schema") or not PyCapsule_IsValid(array, "arrow_array"):
            raise TypeError("__arrow_c_array__() must give capsules of a schema and an array")
        given = <ArrowArray*>PyCapsule_GetPointer(array, "arrow_array")
        if given.release == NULL:
            raise ValueError("the array has been taken already")
        self.schema = schema
        self.array = given[0]
        given.release = NULL

    def __dealloc__(self):
        if self.array.release != NULL:
            self.array.release(&self.array)

    def __len__(self):
        return self.array.length

    cdef ArrowSchema* schema_of(self) except NULL:
        cdef ArrowSchema* schema = <ArrowSchema*>PyCapsule_GetPointer(self.schema, "arrow_schema")
        if schema.release == NULL:
            raise ValueError("the schema has been taken already")
        return schema


cdef class LentStream:
    """Iterate over the arrays of a stream that somebody lent through a capsule."""

    cdef object capsule
    cdef object schema

    def __init__(self, capsule):
        cdef ArrowSchema* schema
        cdef ArrowArrayStream* stream
        if not PyCapsule_IsValid(capsule, "arrow_array_stream"):
            raise TypeError("__arrow_c_stream__() must give a capsule of a stream")
        self.capsule = capsule
        stream = self.stream()
        schema = <ArrowSchema*>calloc(1, sizeof(ArrowSchema))
        if schema == NULL:
            raise MemoryError
        self.schema = PyCapsule_New(schema, "arrow_schema", free_schema)
        if stream.get_schema(stream, schema):
            self.fail()

    cdef ArrowArrayStream* stream(self) except NULL:
        cdef ArrowArrayStream* stream = <ArrowArrayStream*>PyCapsule_GetPointer(self.capsule, "arrow_array_stream")
        if stream.release == NULL:
            raise ValueError("the stream has been taken already")
        return stream

    cdef int fail(self) except -1:
        cdef ArrowArrayStream* stream = self.stream()
        cdef const char* text = stream.get_last_error(stream)
        raise OSError("the stream of columns failed: " + ((<bytes>text).decode("utf-8", "replace") if text != NULL else "no reason given"))

    def __iter__(self):
        return self

    def __next__(self):
        cdef ArrowArrayStream* stream = self.stream()
        cdef ArrowArray* array = <ArrowArray*>calloc(1, sizeof(ArrowArray))
        if array == NULL:
            raise MemoryError
        capsule = PyCapsule_New(array, "arrow_array", free_array)
        if stream.get_next(stream, array):
            self.fail()
        if array.release == NULL:
            raise StopIteration
        return Lent(self.schema, capsule)


def arrow_names(Lent lent not None):
    """Return the names of the fields of a struct, such as a record batch; None for an array of another type."""
    cdef ArrowSchema* schema = lent.schema_of()
    cdef int64_t i
    if strcmp(schema.format, "+s"):
        return None
    return tuple([(<bytes>schema.children[i].name).decode("utf-8") if schema.children[i].name != NULL else "" for i in range(schema.n_children)])


def rows_of_arrow(Lent lent not None, field=None):
    """Return the Rows of an array, or of one field of a struct without nulls.

    Raises EncodeTypeError for types that have no type code, and EncodeValueError for structs that are null.
    """
    cdef ArrowSchema* schema = lent.schema_of()
    cdef ArrowArray* array = &lent.array
    cdef Rows rows = Rows()
    cdef Py_ssize_t i
    rows.n = array.length
    rows.kept.append(lent)
    if field is None:
        rows.c = take_array(schema, array, 0, array.length)
        return rows
    if count_nulls(array, array.offset, array.length):
        raise EncodeValueError("a row is null")
    i = field
    rows.c = take_array(schema.children[i], array.children[i], array.offset, array.length)
    return rows


cdef Py_ssize_t count_nulls(const ArrowArray* array, int64_t offset, int64_t n) noexcept nogil:
    cdef const unsigned char* valid = <const unsigned char*>array.buffers[0] if array.n_buffers else NULL
    cdef int64_t i
    cdef Py_ssize_t nnulls = 0
    if array.null_count == 0 or valid == NULL:
        return 0
    for i in range(offset, offset + n):
        nnulls += not valid[i >> 3] >> (i & 7) & 1
    return nnulls


cdef dict ARROW_NUMBERS = {
    b"c": ("i", 1), b"s": ("i", 2), b"i": ("i", 4), b"l": ("i", 8), b"C": ("u", 1), b"S": ("u", 2), b"I": ("u", 4), b"L": ("u", 8),
    b"e": ("f", 2), b"f": ("f", 4), b"g": ("f", 8),
}


cdef Column* take_array(const ArrowSchema* schema, const ArrowArray* array, int64_t before, int64_t n) except NULL:
    # n values from the one at array.offset + before on; nothing is copied whose memory is what a column has.
    cdef bytes format = schema.format
    cdef int64_t offset = array.offset + before
    cdef Column* c
    if schema.dictionary != NULL:
        c = take_dictionary(schema, array, offset, n)
    elif format in ARROW_NUMBERS:
        c = take_plain(array, offset, n, <tuple>ARROW_NUMBERS[format])
    elif format == b"b":
        c = take_bits(array, offset, n)
    elif format in (b"u", b"z", b"U", b"Z"):
        c = new_column(SIZED, STRING if format in (b"u", b"U") else BYTES, 0)
        lend_offsets(c, array, offset, n, format in (b"U", b"Z"))
        c.data = <unsigned char*>array.buffers[2]
        c.borrowed = True
        c.used = offset_at(c, n) if n else 0
    elif format in (b"vu", b"vz"):
        c = take_views(array, offset, n, STRING if format == b"vu" else BYTES)
    elif format[:2] == b"w:":
        c = new_column(SIZED, BYTES, 0)
        c.data = <unsigned char*>array.buffers[1]
        c.borrowed = True
        c.used = (offset + n) * int(format[2:])
        spread(c, offset, n, int(format[2:]))
    elif format == b"n":
        c = new_column(UNKNOWN, -1, 0)
    else:
        c = take_nested(schema, array, offset, n, format)
    c.n = n
    if format != b"n" and count_nulls(array, offset, n):
        c.valid = <const unsigned char*>array.buffers[0]
        c.first_bit = offset
    return c


cdef Column* take_nested(const ArrowSchema* schema, const ArrowArray* array, int64_t offset, int64_t n, bytes format) except NULL:
    cdef Column* c = NULL
    cdef Py_ssize_t i, nitems
    cdef const ArrowSchema* entries = schema.children[0] if schema.n_children else NULL
    cdef const ArrowArray* held = array.children[0] if array.n_children else NULL
    try:
        if format == b"+s":
            c = new_column(TUPLE, VECTOR, schema.n_children)
            for i in range(schema.n_children):
                c.parts[i] = take_array(schema.children[i], array.children[i], offset, n)
        elif format in (b"+l", b"+L"):
            c = new_column(LISTED, LIST, 1)
            lend_offsets(c, array, offset, n, format == b"+L")
            c.parts[0] = take_array(entries, held, 0, held.length)
        elif format[:3] == b"+w:":
            nitems = int(format[3:])
            c = new_column(LISTED, VECTOR, 1)
            spread(c, offset, n, nitems)
            c.parts[0] = take_array(entries, held, 0, held.length)
            flatten(c, offset, nitems)
        elif format == b"+m":
            c = new_column(PAIRED, MAP, 2)
            lend_offsets(c, array, offset, n, False)
            for i in range(2):
                c.parts[i] = take_array(entries.children[i], held.children[i], held.offset, held.length)
        else:
            raise EncodeTypeError(f"Arrow's type {format.decode('ascii', 'replace')!r} has no type code")
    except BaseException:
        free_column(c)
        raise
    return c


cdef void flatten(Column* c, int64_t offset, Py_ssize_t nitems) noexcept:
    # VECTORs of numbers without nulls are an ARRAY.
    cdef Column* part = c.parts[0]
    if part.kind != FIXED or part.valid != NULL or not part.borrowed:
        return
    c.kind = ARRAY
    c.code = part.code
    c.width = part.width
    c.nitems = nitems
    c.data = part.data + offset * nitems * part.width
    c.borrowed = True
    free_parts(c)


cdef int lend_offsets(Column* c, const ArrowArray* array, int64_t offset, int64_t n, bint wide) except -1:
    c.offsets_borrowed = True
    if n and wide:
        c.wide_offsets = <int64_t*>array.buffers[1] + offset
    elif n:
        c.offsets = <int32_t*>array.buffers[1] + offset
    return 0


cdef int spread(Column* c, int64_t offset, int64_t n, int64_t step) except -1:
    # The offsets of values that all have one size.
    cdef int64_t i
    c.wide_offsets = <int64_t*>malloc((n + 1) * sizeof(int64_t))
    if c.wide_offsets == NULL:
        raise MemoryError
    for i in range(n + 1):
        c.wide_offsets[i] = (offset + i) * step
    return 0


cdef Column* take_plain(const ArrowArray* array, int64_t offset, int64_t n, tuple number) except NULL:
    cdef str kind = number[0]
    cdef int itemsize = number[1]
    cdef Column* c = new_column(FIXED, code_of(kind, itemsize), 0)
    cdef const unsigned char* data = <const unsigned char*>array.buffers[1] + offset * itemsize
    try:
        if itemsize == c.width and kind != "u":
            c.data = <unsigned char*>data
            c.used = n * itemsize
            c.borrowed = True
        else:
            adopt_numbers(c, data, n, itemsize, kind, itemsize, False)
    except BaseException:
        free_column(c)
        raise
    return c


cdef Column* take_bits(const ArrowArray* array, int64_t offset, int64_t n) except NULL:
    cdef Column* c = new_column(FIXED, BOOL, 0)
    cdef const unsigned char* bits = <const unsigned char*>array.buffers[1]
    cdef int64_t i
    if not reserve_data(c, n):
        free_column(c)
        raise MemoryError
    for i in range(n):
        c.data[i] = bits[(offset + i) >> 3] >> ((offset + i) & 7) & 1
    c.used = n
    return c


cdef Column* take_views(const ArrowArray* array, int64_t offset, int64_t n, int code) except NULL:
    # 16 bytes a value: its length, and then up to 12 bytes of it, or 4, the number of a buffer and where in that.
    cdef Column* c = new_column(SIZED, code, 0)
    cdef const unsigned char* view = <const unsigned char*>array.buffers[1] + 16 * offset
    cdef const unsigned char* valid = <const unsigned char*>array.buffers[0]
    cdef int64_t i, total = 0
    cdef int32_t nbytes, number, start
    cdef bint room = True
    c.wide_offsets = <int64_t*>malloc((n + 1) * sizeof(int64_t))
    if c.wide_offsets != NULL:
        for i in range(n):
            c.wide_offsets[i] = total
            if array.null_count == 0 or valid == NULL or valid[(offset + i) >> 3] >> ((offset + i) & 7) & 1:
                memcpy(&nbytes, view + 16 * i, 4)
                total += nbytes
        c.wide_offsets[n] = total
    if c.wide_offsets == NULL or not reserve_data(c, total):
        free_column(c)
        raise MemoryError
    c.used = total
    for i in range(n):
        nbytes = <int32_t>(c.wide_offsets[i + 1] - c.wide_offsets[i])
        if nbytes <= 12:
            memcpy(c.data + c.wide_offsets[i], view + 16 * i + 4, nbytes)
        else:
            memcpy(&number, view + 16 * i + 8, 4)
            memcpy(&start, view + 16 * i + 12, 4)
            memcpy(c.data + c.wide_offsets[i], <const unsigned char*>array.buffers[2 + number] + start, nbytes)
    return c


cdef Column* take_dictionary(const ArrowSchema* schema, const ArrowArray* array, int64_t offset, int64_t n) except NULL:
    # Each value once more, encoded: the wire has no dictionaries.
    cdef Column* c = new_column(ENCODED, -1, 0)
    cdef Column* indices = NULL
    cdef Column* values = NULL
    try:
        indices = take_plain(array, offset, n, <tuple>ARROW_NUMBERS[<bytes>schema.format])
        values = take_array(schema.dictionary, array.dictionary, 0, array.dictionary.length)
        if has_nulls(values):
            raise EncodeTypeError("a null among the values of a dictionary cannot be written")
        values.n = array.dictionary.length
        gather(c, indices, values, array, offset, n)
    except BaseException:
        free_column(c)
        raise
    finally:
        free_column(indices)
        free_column(values)
    return c


cdef int gather(Column* c, const Column* indices, const Column* values, const ArrowArray* array, int64_t offset, int64_t n) except -1:
    cdef const unsigned char* valid = <const unsigned char*>array.buffers[0]
    cdef int64_t i, index, total = 0
    cdef unsigned char* out
    cdef Nulls none
    cdef int32_t narrow
    memset(&none, 0, sizeof(Nulls))
    c.wide_offsets = <int64_t*>calloc(n + 1, sizeof(int64_t))
    if c.wide_offsets == NULL:
        raise MemoryError
    for i in range(n):
        if array.null_count == 0 or valid == NULL or valid[(offset + i) >> 3] >> ((offset + i) & 7) & 1:
            index = index_at(indices, i)
            if not 0 <= index < values.n:
                raise EncodeValueError(f"there is no value {index} in a dictionary of {values.n}", f"[{i}]")
            total += bound_of(values, index, index + 1, 0)
        c.wide_offsets[i + 1] = total
    if not reserve_data(c, total):
        raise MemoryError
    for i in range(n):
        if c.wide_offsets[i + 1] > c.wide_offsets[i]:
            out = put_value(c.data + c.wide_offsets[i], values, index_at(indices, i), &none)
            if out == NULL:
                raise EncodeValueError("a value is longer than 2^31-1", f"[{i}]")
    c.used = total
    return 0


cdef int64_t index_at(const Column* indices, int64_t i) noexcept:
    cdef int64_t broad
    cdef int32_t narrow
    if indices.width == 8:
        memcpy(&broad, indices.data + 8 * i, 8)
        return broad
    if indices.width == 1:
        return <int8_t>indices.data[i]
    memcpy(&narrow, indices.data + 4 * i, 4)
    return narrow
