# Import: Arrow C structures as columns. Memory that has the layout of a Column is not copied.
#
# Rows own what they were imported from; it is released with the last of them. The producer runs in this process: its
# lengths and offsets are trusted, as the Arrow C data interface requires.

cdef class ImportedArray:
    """Own an Arrow array imported from capsules, with its schema, and release it when freed."""

    cdef ArrowArray array
    cdef object schema            # the capsule
    cdef bint structs_as_maps     # structs are MAPs; otherwise VECTORs

    def __init__(self, schema, array, *, structs_as_maps=False):
        cdef ArrowArray* given
        if self.schema is not None:
            raise RuntimeError("an ImportedArray cannot be initialised again")
        if not PyCapsule_IsValid(schema, "arrow_schema") or not PyCapsule_IsValid(array, "arrow_array"):
            raise TypeError("__arrow_c_array__() must return capsules of a schema and an array")
        given = <ArrowArray*>PyCapsule_GetPointer(array, "arrow_array")
        if given.release == NULL:
            raise ValueError("the Arrow array has already been consumed")
        self.schema = schema
        self.structs_as_maps = structs_as_maps
        self.array = given[0]
        given.release = NULL

    def __dealloc__(self):
        if self.array.release != NULL:
            self.array.release(&self.array)

    cdef ArrowSchema* schema_of(self) except NULL:
        cdef ArrowSchema* schema = <ArrowSchema*>PyCapsule_GetPointer(self.schema, "arrow_schema")
        if schema.release == NULL:
            raise ValueError("the Arrow schema has already been consumed")
        return schema


cdef class ImportedArrayStream:
    """Iterate over the arrays of an Arrow stream imported from a capsule."""

    cdef object capsule
    cdef object schema
    cdef bint structs_as_maps

    def __init__(self, capsule, *, structs_as_maps=False):
        cdef ArrowSchema* schema
        cdef ArrowArrayStream* stream
        if not PyCapsule_IsValid(capsule, "arrow_array_stream"):
            raise TypeError("__arrow_c_stream__() must return a capsule of a stream")
        self.capsule = capsule
        self.structs_as_maps = structs_as_maps
        stream = self.stream()
        schema = <ArrowSchema*>PyMem_RawCalloc(1, sizeof(ArrowSchema))
        if schema == NULL:
            raise MemoryError
        self.schema = PyCapsule_New(schema, "arrow_schema", free_schema)
        if stream.get_schema(stream, schema):
            self.fail()

    cdef ArrowArrayStream* stream(self) except NULL:
        cdef ArrowArrayStream* stream = <ArrowArrayStream*>PyCapsule_GetPointer(self.capsule, "arrow_array_stream")
        if stream.release == NULL:
            raise ValueError("the Arrow stream has already been consumed")
        return stream

    cdef int fail(self) except -1:
        cdef ArrowArrayStream* stream = self.stream()
        cdef const char* text = stream.get_last_error(stream)
        raise OSError("the Arrow stream failed: "
                      + ((<bytes>text).decode("utf-8", "replace") if text != NULL else "no reason given"))

    def __iter__(self):
        return self

    def __next__(self):
        cdef ArrowArrayStream* stream = self.stream()
        cdef ArrowArray* array = <ArrowArray*>PyMem_RawCalloc(1, sizeof(ArrowArray))
        if array == NULL:
            raise MemoryError
        capsule = PyCapsule_New(array, "arrow_array", free_array)
        if stream.get_next(stream, array):
            self.fail()
        if array.release == NULL:
            raise StopIteration
        return ImportedArray(self.schema, capsule, structs_as_maps=self.structs_as_maps)


def arrow_names(ImportedArray imported not None):
    """Return the names of the fields of a struct, such as a record batch; None for an array of another type."""
    cdef ArrowSchema* schema = imported.schema_of()
    return None if strcmp(schema.format, "+s") else tuple(field_names_of(schema))


cdef list field_names_of(const ArrowSchema* schema):
    cdef list names = []
    cdef int64_t i
    for i in range(schema.n_children):
        names.append((<bytes>schema.children[i].name).decode("utf-8") if schema.children[i].name != NULL else "")
    return names


def rows_of_arrow(ImportedArray imported not None, field=None):
    """Return the Rows of an array, or of one field of a struct without nulls.

    Raises EncodeTypeError for types that have no type code, and EncodeValueError for structs that are null.
    """
    cdef ArrowSchema* schema = imported.schema_of()
    cdef ArrowArray* array = &imported.array
    cdef Rows rows = Rows()
    cdef Py_ssize_t i
    rows.n = array.length
    rows.owners.append(imported)
    if field is None:
        rows.c = import_array(schema, array, 0, array.length, imported.structs_as_maps)
        return rows
    if count_nulls(array, array.offset, array.length):
        raise EncodeValueError("a row of the struct is null")
    i = field
    rows.c = import_array(schema.children[i], array.children[i], array.offset, array.length, imported.structs_as_maps)
    return rows


cdef inline const unsigned char* validity_of(const ArrowArray* array) noexcept nogil:
    # A bit for each value from the array's own start on, 0: null. NULL: there are no nulls.
    return <const unsigned char*>array.buffers[0] if array.null_count != 0 and array.n_buffers else NULL


cdef inline bint is_valid_at(const unsigned char* valid, int64_t i) noexcept nogil:
    return valid == NULL or valid[i >> 3] >> (i & 7) & 1


cdef Py_ssize_t count_nulls(const ArrowArray* array, int64_t offset, int64_t n) noexcept nogil:
    cdef const unsigned char* valid = validity_of(array)
    cdef int64_t i
    cdef Py_ssize_t nnulls = 0
    if valid == NULL:
        return 0
    for i in range(offset, offset + n):
        nnulls += not is_valid_at(valid, i)
    return nnulls


cdef dict ARROW_NUMBERS = {
    b"c": ("i", 1), b"s": ("i", 2), b"i": ("i", 4), b"l": ("i", 8), b"C": ("u", 1), b"S": ("u", 2), b"I": ("u", 4),
    b"L": ("u", 8),
    b"e": ("f", 2), b"f": ("f", 4), b"g": ("f", 8),
}


cdef Column* import_array(const ArrowSchema* schema, const ArrowArray* array, int64_t before, int64_t n,
                          bint structs_as_maps) except NULL:
    # n values, starting at array.offset + before.
    cdef bytes format = schema.format
    cdef int64_t offset = array.offset + before
    cdef Column* c
    if extension_of(schema) in MEANINGLESS_STORAGE:
        raise no_type_code_error(schema)
    if schema.dictionary != NULL:
        c = import_dictionary(schema, array, offset, n, structs_as_maps)
    elif format in ARROW_NUMBERS:
        c = import_numbers(array, offset, n, <tuple>ARROW_NUMBERS[format])
    elif format == b"b":
        c = import_bools(array, offset, n)
    elif format in (b"u", b"z", b"U", b"Z"):
        c = new_column(VARIABLE_LENGTH, STRING if format in (b"u", b"U") else BYTES, 0)
        borrow_offsets(c, array, offset, n, format in (b"U", b"Z"))
        c.data = <unsigned char*>array.buffers[2]
        c.borrowed = True
        c.used = offset_at(c, n) if n else 0
    elif format in (b"vu", b"vz"):
        c = import_views(array, offset, n, STRING if format == b"vu" else BYTES)
    elif format[:2] == b"w:":
        c = import_fixed_size_binary(array, offset, n, int(format[2:]))
    elif format == b"n":
        c = new_column(UNKNOWN, -1, 0)
    elif format[:3] in ARROW_TIMES:
        c = import_times(array, offset, n, <tuple>ARROW_TIMES[format[:3]], format[:2] == b"tt")
    elif format[:2] == b"d:":
        c = import_decimals(array, offset, n, format)
    else:
        c = import_nested(schema, array, offset, n, format, structs_as_maps)
    c.n = n
    if format != b"n" and count_nulls(array, offset, n):
        c.valid = validity_of(array)
        c.first_bit = offset
        c.nbits = PY_SSIZE_T_MAX
    return c


cdef Column* import_nested(
        const ArrowSchema* schema, const ArrowArray* array, int64_t offset, int64_t n, bytes format,
        bint structs_as_maps) except NULL:
    cdef Column* c = NULL
    cdef Py_ssize_t i, nitems
    cdef const ArrowSchema* entries = schema.children[0] if schema.n_children else NULL
    cdef const ArrowArray* child = array.children[0] if array.n_children else NULL
    try:
        if format == b"+s":
            c = new_column(TUPLE, VECTOR, schema.n_children)
            for i in range(schema.n_children):
                c.children[i] = import_array(schema.children[i], array.children[i], offset, n, structs_as_maps)
            if structs_as_maps:
                convert_to_struct(c, schema)
        elif format in (b"+l", b"+L"):
            c = new_column(VARIABLE_LIST, LIST, 1)
            borrow_offsets(c, array, offset, n, format == b"+L")
            c.children[0] = import_array(entries, child, 0, child.length, structs_as_maps)
        elif format[:3] == b"+w:":
            nitems = int(format[3:])
            c = new_column(VARIABLE_LIST, VECTOR, 1)
            make_even_offsets(c, offset, n, nitems)
            c.children[0] = import_array(entries, child, 0, child.length, structs_as_maps)
            convert_to_array_if_packed(c, offset, nitems)
        elif format == b"+m":
            c = new_column(MAP_ENTRIES, MAP, 2)
            borrow_offsets(c, array, offset, n, False)
            for i in range(2):
                c.children[i] = import_array(entries.children[i], child.children[i], child.offset, child.length,
                                             structs_as_maps)
        else:
            raise no_type_code_error(schema)
    except BaseException:
        free_column(c)
        raise
    return c


cdef dict ARROW_TYPE_NAMES = {
    "ti": "interval", "+u": "union", "+r": "run-end encoded", "+v": "list view",
}


# Extension types whose values are not what their storage holds: numbers of months,
# bytes that are booleans, another system's own.
cdef frozenset MEANINGLESS_STORAGE = frozenset({b"pandas.period", b"pandas.interval", b"arrow.bool8", b"arrow.opaque"})


cdef bytes extension_of(const ArrowSchema* schema):
    # The name of an extension type; None: it is not one. Metadata has an i32 count of pairs, and for each key and value
    # an i32 length and its bytes, with integers in the order of this machine's bytes.
    cdef const char* p = schema.metadata
    cdef int32_t npairs, nbytes
    cdef list texts = []
    if p == NULL:
        return None
    memcpy(&npairs, p, 4)
    p += 4
    for _ in range(2 * npairs):
        memcpy(&nbytes, p, 4)
        texts.append(p[4:4 + nbytes])
        p += 4 + nbytes
    return dict(zip(texts[::2], texts[1::2])).get(b"ARROW:extension:name")


cdef object no_type_code_error(const ArrowSchema* schema):
    cdef str format = (<bytes>schema.format).decode("ascii", "replace")
    cdef str shown = (extension_of(schema) or <bytes>schema.format).decode("utf-8", "replace")
    cdef str name = (<bytes>schema.name).decode("utf-8", "replace") if schema.name != NULL else ""
    cdef str field = f"field {name!r}: " if name else ""
    cdef str kind = ARROW_TYPE_NAMES.get(format[:2], "")
    described = f"{kind} ({shown})" if kind else repr(shown)
    return EncodeTypeError(f"{field}the Arrow type {described} has no type code: cast it to numbers or text first")


cdef int convert_to_struct(Column* c, const ArrowSchema* schema) except -1:
    # Make VECTORs MAPs, whose keys are the names of the fields.
    cdef list names = field_names_of(schema)
    cdef Py_ssize_t i
    if len(set(names)) < len(names):
        raise EncodeTypeError(f"cannot write a struct with several fields of one name: {', '.join(names)}")
    for i in range(c.nchildren):
        set_key(c.children[i], names[i])
        c.children[i].null = &MISSING_FIELD
    c.kind = STRUCT
    c.code = MAP
    return 0


cdef void convert_to_array_if_packed(Column* c, int64_t offset, Py_ssize_t nitems) noexcept:
    # Make VECTORs of numbers without nulls an ARRAY.
    cdef Column* child = c.children[0]
    if child.kind != FIXED or child.valid != NULL or not child.borrowed:
        return
    c.kind = ARRAY
    c.code = child.code
    c.width = child.width
    c.nitems = nitems
    c.data = child.data + offset * nitems * child.width
    c.borrowed = True
    free_children(c)


cdef int borrow_offsets(Column* c, const ArrowArray* array, int64_t offset, int64_t n, bint wide) except -1:
    c.offsets_borrowed = True
    if n and wide:
        c.wide_offsets = <int64_t*>array.buffers[1] + offset
    elif n:
        c.offsets = <int32_t*>array.buffers[1] + offset
    return 0


cdef int make_even_offsets(Column* c, int64_t offset, int64_t n, int64_t step) except -1:
    # The offsets of values that all have the same size.
    cdef int64_t i
    allocate_wide_offsets(c, n)
    for i in range(n + 1):
        c.wide_offsets[i] = (offset + i) * step
    return 0


cdef Column* import_fixed_size_binary(const ArrowArray* array, int64_t offset, int64_t n, int64_t width) except NULL:
    cdef Column* c = new_column(VARIABLE_LENGTH, BYTES, 0)
    c.data = <unsigned char*>array.buffers[1]
    c.borrowed = True
    c.used = (offset + n) * width
    try:
        make_even_offsets(c, offset, n, width)
    except BaseException:
        free_column(c)
        raise
    return c


cdef Column* import_numbers(const ArrowArray* array, int64_t offset, int64_t n, tuple number) except NULL:
    cdef str kind = number[0]
    cdef int itemsize = number[1]
    cdef Column* c = new_column(FIXED, code_of(kind, itemsize), 0)
    cdef const unsigned char* data = <const unsigned char*>array.buffers[1] + offset * itemsize
    try:
        if itemsize == c.width and kind != "u":
            c.data = <unsigned char*>data
            c.used = n * itemsize
            c.borrowed = True
        elif not convert_numbers(c, data, n, itemsize, kind, itemsize, False):
            mark_beyond_long(c, n)
    except BaseException:
        free_column(c)
        raise
    return c


cdef Column* import_bools(const ArrowArray* array, int64_t offset, int64_t n) except NULL:
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


cdef Column* import_views(const ArrowArray* array, int64_t offset, int64_t n, int code) except NULL:
    # 16 bytes per value: its length, then either up to 12 bytes of text, or 4 bytes of it,
    # a buffer number and an offset.
    cdef Column* c = new_column(VARIABLE_LENGTH, code, 0)
    cdef const unsigned char* view = <const unsigned char*>array.buffers[1] + 16 * offset
    cdef const unsigned char* valid = validity_of(array)
    cdef int64_t i, total = 0
    cdef int32_t nbytes, number, start
    try:
        allocate_wide_offsets(c, n)
        for i in range(n):
            if is_valid_at(valid, offset + i):
                memcpy(&nbytes, view + 16 * i, 4)
                total = saturating_sum(total, nbytes)
            c.wide_offsets[i + 1] = total
        if not reserve_data(c, total):
            raise MemoryError
    except BaseException:
        free_column(c)
        raise
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


cdef Column* import_dictionary(
        const ArrowSchema* schema, const ArrowArray* array, int64_t offset, int64_t n,
        bint structs_as_maps) except NULL:
    # Typed bytes have no dictionaries: a value is written each time that it comes.
    cdef Column* c = import_numbers(array, offset, n, <tuple>ARROW_NUMBERS[<bytes>schema.format])
    cdef Py_ssize_t i
    c.kind = CHOICE
    c.code = -1
    try:
        c.choices = import_array(schema.dictionary, array.dictionary, 0, array.dictionary.length, structs_as_maps)
        if has_nulls(c.choices):
            raise EncodeTypeError("cannot write a dictionary with a null among its values")
    except BaseException:
        free_column(c)
        raise
    for i in range(c.choices.n):
        c.longest_choice = max(c.longest_choice, bound_of(c.choices, i, i + 1, 0))
    return c
