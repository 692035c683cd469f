# Export: Batches, their memory as buffers and as Arrow C structures.
#
# The layout of each type and the rules of ownership are those of the Arrow C data and C stream interfaces; the names of
# the capsules are those of the Arrow PyCapsule interface. Each exported array, child arrays included, is an owner of
# its Table, because a consumer may keep a child after releasing the parent.

cdef enum:
    MAX_FORMAT_NBYTES = 32    # bytes of a format string

cdef struct SchemaPrivate:
    char format[MAX_FORMAT_NBYTES]
    char* name
    ArrowSchema* children
    ArrowSchema** pointers
    ArrowSchema* dictionary   # owned

cdef struct ArrayPrivate:
    Table* table              # shared ownership
    void* bits                # owned: BOOLs as a bitmap, times of day as int32
    ArrowArray* dictionary    # owned
    const void* buffers[3]
    ArrowArray* children
    ArrowArray** pointers

cdef int64_t NO_OFFSETS[2]    # the buffer of an array without values


# ---- schemas and arrays ----------------------------------------------------------------------------------------------

cdef void release_schema(ArrowSchema* schema) noexcept nogil:
    cdef SchemaPrivate* private = <SchemaPrivate*>schema.private_data
    cdef int64_t i
    for i in range(schema.n_children):
        if schema.children[i].release != NULL:
            schema.children[i].release(schema.children[i])
    if private.dictionary != NULL and private.dictionary.release != NULL:
        private.dictionary.release(private.dictionary)
    PyMem_RawFree(private.dictionary)
    PyMem_RawFree(private.name)
    PyMem_RawFree(private.children)
    PyMem_RawFree(private.pointers)
    PyMem_RawFree(private)
    schema.release = NULL


cdef SchemaPrivate* start_schema(ArrowSchema* schema, const char* format, bytes name, int64_t flags,
                                 Py_ssize_t nchildren) except NULL:
    # From here on the schema can be released, even if its children are not filled in.
    cdef SchemaPrivate* private = <SchemaPrivate*>PyMem_RawCalloc(1, sizeof(SchemaPrivate))
    cdef Py_ssize_t i
    if private == NULL:
        raise MemoryError
    private.name = <char*>PyMem_RawMalloc(len(name) + 1)
    private.children = <ArrowSchema*>PyMem_RawCalloc(max(nchildren, 1), sizeof(ArrowSchema))
    private.pointers = <ArrowSchema**>PyMem_RawCalloc(max(nchildren, 1), sizeof(ArrowSchema*))
    if private.name == NULL or private.children == NULL or private.pointers == NULL:
        PyMem_RawFree(private.name)
        PyMem_RawFree(private.children)
        PyMem_RawFree(private.pointers)
        PyMem_RawFree(private)
        raise MemoryError
    memcpy(private.name, PyBytes_AS_STRING(name), len(name) + 1)
    memcpy(private.format, format, strlen(format) + 1)
    for i in range(nchildren):
        private.pointers[i] = &private.children[i]
    memset(schema, 0, sizeof(ArrowSchema))
    schema.format = private.format
    schema.name = private.name
    schema.flags = flags
    schema.n_children = nchildren
    schema.children = private.pointers if nchildren else NULL
    schema.private_data = private
    schema.release = release_schema
    return private


cdef dict FORMATS = {BYTE: b"c", BOOL: b"b", SHORT: b"s", INT: b"i", LONG: b"l", FLOAT: b"f", DOUBLE: b"g"}


cdef bytes uuid_metadata():
    # Of a schema; see extension_of.
    cdef list parts = [(1).to_bytes(4, byteorder)]
    for text in (b"ARROW:extension:name", b"arrow.uuid", b"ARROW:extension:metadata", b""):
        parts.append(len(text).to_bytes(4, byteorder) + text)
    return b"".join(parts)


cdef bytes UUID_METADATA = uuid_metadata()


cdef bytes format_of(const Column* c):
    # Of a column whose values take a fixed number of bytes.
    cdef bytes unit = b"smu"[<int>c.unit:<int>c.unit + 1]
    if c.kind == DECIMAL:
        return b"d:%d,%d" % (c.precision, c.scale) + (b"" if c.width == 16 else b",256")
    if c.kind == FIXED_BYTES:
        return b"w:%d" % c.width
    if c.meaning == DATE:
        return b"tdD"
    if c.meaning == TIME:
        return b"tt" + unit
    if c.meaning == DURATION:
        return b"tD" + unit
    if c.meaning == TIMESTAMP or c.meaning == TIMESTAMP_UTC:
        return b"ts" + unit + (b":UTC" if c.meaning == TIMESTAMP_UTC else b":")
    return b"i" if c.kind == CHOICE else <bytes>FORMATS[c.code]


cdef int export_schema(ArrowSchema* schema, const Column* c, bytes name) except -1:
    cdef SchemaPrivate* private
    cdef Py_ssize_t i
    cdef int64_t flags = 0 if c.refuses_nulls else ARROW_FLAG_NULLABLE
    if c.kind != ARRAY and has_fixed_size(c):
        private = start_schema(schema, format_of(c), name, flags, 0)
        if c.kind == FIXED_BYTES:
            schema.metadata = PyBytes_AS_STRING(UUID_METADATA)
        if c.kind == CHOICE:
            private.dictionary = <ArrowSchema*>PyMem_RawCalloc(1, sizeof(ArrowSchema))
            if private.dictionary == NULL:
                raise MemoryError
            export_schema(private.dictionary, c.choices, b"")
            schema.dictionary = private.dictionary
    elif c.kind == VARIABLE_LENGTH or c.kind == ENCODED:
        start_schema(schema, b"u" if c.code == STRING else b"z", name, flags, 0)
    elif c.kind == UNKNOWN:
        start_schema(schema, b"n", name, flags, 0)
    elif c.kind == ARRAY:
        private = start_schema(schema, b"+w:%d" % c.nitems, name, flags, 1)
        start_schema(&private.children[0], <bytes>FORMATS[c.code], b"item", ARROW_FLAG_NULLABLE, 0)
    elif has_children_per_value(c):
        private = start_schema(schema, b"+s", name, flags, c.nchildren)
        for i in range(c.nchildren):
            export_schema(&private.children[i], c.children[i],
                          encoded_name(c.children[i]) if has_names(c) else b"%d" % i)
    elif c.kind == VARIABLE_LIST:
        private = start_schema(schema, b"+l", name, flags, 1)
        export_schema(&private.children[0], c.children[0], b"item")
    else:
        private = start_schema(schema, b"+m", name, flags, 1)
        private = start_schema(&private.children[0], b"+s", b"entries", 0, 2)
        export_schema(&private.children[0], c.children[0], b"key")
        export_schema(&private.children[1], c.children[1], b"value")
    return 0


cdef void release_array(ArrowArray* array) noexcept nogil:
    cdef ArrayPrivate* private = <ArrayPrivate*>array.private_data
    cdef int64_t i
    for i in range(array.n_children):
        if array.children[i].release != NULL:
            array.children[i].release(array.children[i])
    if private.dictionary != NULL and private.dictionary.release != NULL:
        private.dictionary.release(private.dictionary)
    PyMem_RawFree(private.dictionary)
    release_table(private.table)
    PyMem_RawFree(private.bits)
    PyMem_RawFree(private.children)
    PyMem_RawFree(private.pointers)
    PyMem_RawFree(private)
    array.release = NULL


cdef ArrayPrivate* start_array(ArrowArray* array, Table* table, Py_ssize_t length, Py_ssize_t nbuffers,
                               Py_ssize_t nchildren) except NULL:
    cdef ArrayPrivate* private = <ArrayPrivate*>PyMem_RawCalloc(1, sizeof(ArrayPrivate))
    cdef Py_ssize_t i
    if private == NULL:
        raise MemoryError
    private.children = <ArrowArray*>PyMem_RawCalloc(max(nchildren, 1), sizeof(ArrowArray))
    private.pointers = <ArrowArray**>PyMem_RawCalloc(max(nchildren, 1), sizeof(ArrowArray*))
    if private.children == NULL or private.pointers == NULL:
        PyMem_RawFree(private.children)
        PyMem_RawFree(private.pointers)
        PyMem_RawFree(private)
        raise MemoryError
    for i in range(nchildren):
        private.pointers[i] = &private.children[i]
    add_owner(&table.nowners)
    private.table = table
    memset(array, 0, sizeof(ArrowArray))
    array.length = length
    array.n_buffers = nbuffers
    array.buffers = private.buffers
    array.n_children = nchildren
    array.children = private.pointers if nchildren else NULL
    array.private_data = private
    array.release = release_array
    return private


cdef int export_numbers(ArrowArray* array, Table* table, const Column* c, Py_ssize_t n) except -1:
    cdef ArrayPrivate* private = start_array(array, table, n, 2, 0)
    cdef Py_ssize_t i
    cdef unsigned char* bits
    private.buffers[1] = <const void*>c.data if n else <const void*>NO_OFFSETS
    if c.code == BOOL and n:
        private.bits = PyMem_RawCalloc((n + 7) // 8, 1)
        if private.bits == NULL:
            raise MemoryError
        bits = <unsigned char*>private.bits
        for i in range(n):
            bits[i >> 3] |= c.data[i] << (i & 7)
        private.buffers[1] = bits
    if c.meaning == TIME and c.unit != MICROSECONDS and n:
        private.bits = PyMem_RawMalloc(n * sizeof(int32_t))    # the values fit: see is_time_of_day
        if private.bits == NULL:
            raise MemoryError
        for i in range(n):
            (<int32_t*>private.bits)[i] = <int32_t>(<int64_t*>c.data)[i]
        private.buffers[1] = private.bits
    if c.kind == CHOICE:
        private.dictionary = <ArrowArray*>PyMem_RawCalloc(1, sizeof(ArrowArray))
        if private.dictionary == NULL:
            raise MemoryError
        export_array(private.dictionary, table, c.choices)
        array.dictionary = private.dictionary
    return 0


cdef int export_array(ArrowArray* array, Table* table, const Column* c) except -1:
    cdef ArrayPrivate* private
    cdef Py_ssize_t i, nitems
    cdef const void* offsets = <const void*>c.offsets if c.offsets != NULL else <const void*>NO_OFFSETS
    if c.kind != ARRAY and has_fixed_size(c):
        export_numbers(array, table, c, c.n)
    elif c.kind == VARIABLE_LENGTH or c.kind == ENCODED:
        private = start_array(array, table, c.n, 3, 0)
        private.buffers[1] = offsets
        private.buffers[2] = <const void*>c.data if c.used else <const void*>NO_OFFSETS
    elif c.kind == UNKNOWN:
        start_array(array, table, c.n, 0, 0)
        array.null_count = c.n
    elif c.kind == ARRAY:
        private = start_array(array, table, c.n, 1, 1)
        export_numbers(&private.children[0], table, c, c.n * c.nitems)
    elif c.kind == MAP_ENTRIES:
        nitems = c.children[0].n
        private = start_array(array, table, c.n, 2, 1)
        private.buffers[1] = offsets
        private = start_array(&private.children[0], table, nitems, 1, 2)
        export_array(&private.children[0], table, c.children[0])
        export_array(&private.children[1], table, c.children[1])
    else:
        private = start_array(array, table, c.n, 2 if c.kind == VARIABLE_LIST else 1, c.nchildren)
        private.buffers[1] = offsets if c.kind == VARIABLE_LIST else NULL
        for i in range(c.nchildren):
            export_array(&private.children[i], table, c.children[i])
    if c.bits != NULL:
        (<ArrayPrivate*>array.private_data).buffers[0] = <const void*>c.bits
        for i in range(c.n):
            array.null_count += is_null(c, i)
    return 0


cdef void free_schema(object capsule) noexcept:
    cdef ArrowSchema* schema = <ArrowSchema*>PyCapsule_GetPointer(capsule, "arrow_schema")
    if schema.release != NULL:
        schema.release(schema)
    PyMem_RawFree(schema)


cdef void free_array(object capsule) noexcept:
    cdef ArrowArray* array = <ArrowArray*>PyCapsule_GetPointer(capsule, "arrow_array")
    if array.release != NULL:
        array.release(array)
    PyMem_RawFree(array)


cdef void free_stream(object capsule) noexcept:
    cdef ArrowArrayStream* stream = <ArrowArrayStream*>PyCapsule_GetPointer(capsule, "arrow_array_stream")
    if stream.release != NULL:
        stream.release(stream)
    PyMem_RawFree(stream)


cdef class Batch:
    """Batch()\n--\n\nHold the columns of some rows, which never change."""

    cdef Table* table
    cdef readonly tuple names

    def __dealloc__(self):
        release_table(self.table)

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be pickled")

    cdef int check(self) except -1:
        if self.table == NULL:
            raise TypeError("cannot create a Batch directly: use columns.read")
        return 0

    def __len__(self):
        self.check()
        return self.table.n

    @property
    def _types(self):
        self.check()
        return describe_all(self.table.visible, self.table.nvisible)

    def _nvalues(self, Py_ssize_t column, path):
        # The number of values of a column or of a child of it.
        self.check()
        cdef Column* c = self.table.visible[column]
        cdef Py_ssize_t i
        for i in path:
            c = c.children[i]
        return c.n

    def _column_memory(self, Py_ssize_t column, path, name):
        # A memoryview of the data, the offsets or the bits of a column or of a child of it; None: it has no nulls.
        self.check()
        cdef Column* c = self.table.visible[column]
        cdef Py_ssize_t i
        cdef ColumnBuffer held = ColumnBuffer()
        for i in path:
            c = c.children[i]
        if name == "valid" and c.bits == NULL:
            return None
        held.batch = self
        held.view_column(c, name)
        return memoryview(held)

    def __arrow_c_schema__(self):
        """Export the types of the columns as a capsule "arrow_schema"."""
        self.check()
        cdef ArrowSchema* schema = <ArrowSchema*>PyMem_RawCalloc(1, sizeof(ArrowSchema))
        cdef SchemaPrivate* private
        cdef Py_ssize_t i
        if schema == NULL:
            raise MemoryError
        capsule = PyCapsule_New(schema, "arrow_schema", free_schema)
        private = start_schema(schema, b"+s", b"", 0, self.table.nvisible)
        for i in range(self.table.nvisible):
            export_schema(&private.children[i], self.table.visible[i], (<str>self.names[i]).encode("utf-8"))
        return capsule

    def __arrow_c_array__(self, requested_schema=None):
        """Export the columns as capsules "arrow_schema" and "arrow_array"; a requested schema is ignored."""
        schema = self.__arrow_c_schema__()
        cdef ArrowArray* array = <ArrowArray*>PyMem_RawCalloc(1, sizeof(ArrowArray))
        if array == NULL:
            raise MemoryError
        capsule = PyCapsule_New(array, "arrow_array", free_array)
        self.export_to(array)
        return schema, capsule

    cdef int export_to(self, ArrowArray* array) except -1:
        cdef ArrayPrivate* private = start_array(array, self.table, self.table.n, 1, self.table.nvisible)
        cdef Py_ssize_t i
        for i in range(self.table.nvisible):
            export_array(&private.children[i], self.table, self.table.visible[i])
        return 0


cdef class ColumnBuffer:
    # Exports the buffer of a memoryview, which keeps the Batch alive.
    cdef Batch batch
    cdef void* data
    cdef bytes format
    cdef int ndim
    cdef Py_ssize_t itemsize
    cdef Py_ssize_t shape[2]
    cdef Py_ssize_t strides[2]

    cdef int view_column(self, Column* c, str name) except -1:
        self.ndim = 1
        self.strides[0] = 1
        if name == "valid":
            self.format, self.itemsize = b"B", 1
            self.data = c.bits
            self.shape[0] = (c.n + 7) // 8
            return 0
        if name == "offsets":
            self.format, self.itemsize = b"i", 4
            self.data = c.offsets if c.offsets != NULL else <void*>NO_OFFSETS
            self.shape[0] = c.n + 1
        else:
            self.itemsize = c.width if c.kind == FIXED or c.kind == ARRAY or c.kind == CHOICE else 1
            self.format = b"i" if c.kind == CHOICE else <bytes>ITEM_FORMATS[c.code] \
                if c.kind == FIXED or c.kind == ARRAY else b"B"
            self.data = c.data if c.used else <void*>NO_OFFSETS
            self.shape[0] = c.used // self.itemsize
        if name == "data" and (c.kind == ARRAY or c.kind == DECIMAL or c.kind == FIXED_BYTES):
            self.ndim = 2
            self.shape[0] = c.n
            self.shape[1] = c.nitems if c.kind == ARRAY else c.width
        self.strides[self.ndim - 1] = self.itemsize
        if self.ndim == 2:
            self.strides[0] = self.itemsize * self.shape[1]
        return 0

    def __getbuffer__(self, Py_buffer* view, int flags):
        if flags & PyBUF_WRITABLE:
            raise BufferError("the memory of a Batch is read-only")
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


# ---- streams --------------------------------------------------------------------------------------------------------

cdef struct StreamPrivate:
    PyObject* source          # owned: an iterator of Batches with arrow_schema(), which gives a capsule
    char* message             # owned: of the last error


def arrow_stream(source):
    """Return a capsule "arrow_array_stream" over an iterator of Batches with arrow_schema()."""
    cdef ArrowArrayStream* stream = <ArrowArrayStream*>PyMem_RawCalloc(1, sizeof(ArrowArrayStream))
    cdef StreamPrivate* private = <StreamPrivate*>PyMem_RawCalloc(1, sizeof(StreamPrivate))
    if stream == NULL or private == NULL:
        PyMem_RawFree(stream)
        PyMem_RawFree(private)
        raise MemoryError
    Py_INCREF(source)
    private.source = <PyObject*>source
    stream.private_data = private
    stream.get_schema = stream_schema
    stream.get_next = stream_next
    stream.get_last_error = stream_error
    stream.release = stream_release
    return PyCapsule_New(stream, "arrow_array_stream", free_stream)


# Functions called through these types leave their exception set, since an except clause may need memory.
ctypedef int (*schema_function)(StreamPrivate* private, ArrowSchema* out) noexcept
ctypedef int (*next_function)(StreamPrivate* private, ArrowArray* out) noexcept
ctypedef int (*message_function)(StreamPrivate* private) noexcept


cdef int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) noexcept with gil:
    cdef StreamPrivate* private = <StreamPrivate*>stream.private_data
    return keep_error(private) if (<schema_function>export_stream_schema)(private, out) < 0 else 0


cdef int export_stream_schema(StreamPrivate* private, ArrowSchema* out) except -1:
    capsule = (<object>private.source).arrow_schema()
    cdef ArrowSchema* schema = <ArrowSchema*>PyCapsule_GetPointer(capsule, "arrow_schema")
    out[0] = schema[0]
    schema.release = NULL
    return 0


cdef int stream_next(ArrowArrayStream* stream, ArrowArray* out) noexcept with gil:
    cdef StreamPrivate* private = <StreamPrivate*>stream.private_data
    memset(out, 0, sizeof(ArrowArray))
    if (<next_function>export_next)(private, out) == 0:
        return 0
    if out.release != NULL:
        out.release(out)
    return keep_error(private)


cdef int export_next(StreamPrivate* private, ArrowArray* out) except -1:
    cdef Batch batch = next(<object>private.source, None)
    if batch is not None:
        batch.export_to(out)
    return 0


cdef int keep_error(StreamPrivate* private) noexcept:
    # Keep the message of the exception that is set; without memory for it, the caller gets only the error number.
    PyMem_RawFree(private.message)
    private.message = NULL
    if (<message_function>keep_message)(private) < 0:
        PyErr_Clear()
    return EIO    # what a stream's functions return if its source failed


cdef int keep_message(StreamPrivate* private) except -1:
    try:
        raise_pending()
    except BaseException as error:
        text = f"{type(error).__name__}: {error}".encode("utf-8", "replace").replace(b"\0", b" ")
    private.message = <char*>PyMem_RawMalloc(len(text) + 1)
    if private.message != NULL:
        memcpy(private.message, PyBytes_AS_STRING(text), len(text) + 1)
    return 0


cdef const char* stream_error(ArrowArrayStream* stream) noexcept with gil:
    return (<StreamPrivate*>stream.private_data).message


cdef void stream_release(ArrowArrayStream* stream) noexcept with gil:
    cdef StreamPrivate* private = <StreamPrivate*>stream.private_data
    Py_XDECREF(private.source)
    PyMem_RawFree(private.message)
    PyMem_RawFree(private)
    stream.release = NULL
