# Whether cells that are to be text are binary. No header says so, it is what Hive writes by default, and as text all
# numbers would be nulls. The first cells of each column of numbers, times or parts are read as both. One that is not of
# the binary serialization shows that the column is text, and one with bytes that no text has, that it is not: other
# text that is not a value is a null, as in Hive.

cdef enum:
    MAX_CELLS_TRIED = 1000

cdef int check_serialization(RowGroups g) except -1:
    # Of the group that is open.
    cdef Py_ssize_t i
    for i in range(len(g.types)):
        if g.cursors[i].lengths == NULL or not has_binary_cells(g, <HiveType>g.types[i], g.cursors[i]):
            continue
        hint = ' (Hive\'s default is serde="binary")'
        error = FormatError(f"the cells of column {g.names[i]!r} are binary, not text{hint}", g.record_offset, None, "",
                            g.nrecords)
        error.option, error.hint = "serde", hint
        raise error
    return 0


cdef bint has_binary_cells(RowGroups g, HiveType t, ColumnCursor cursor) except -1:
    cdef bint has_parts = t.kind == HIVE_LIST or t.kind == HIVE_MAP or t.kind == HIVE_STRUCT
    cdef const unsigned char* p
    cdef const unsigned char* end
    cdef Py_ssize_t ncells = 0
    cdef Py_ssize_t nvalues = 0    # of values that could be text too: the text 7 is also a binary int
    cdef bint is_value
    cdef bint is_foreign = False
    if t.kind == HIVE_TEXT or t.kind == HIVE_BYTES:
        return False
    for _ in range(min(g.nrows, <Py_ssize_t>MAX_CELLS_TRIED)):
        read_length(&cursor)
        p = cursor.cell
        end = cursor.cell = p + cursor.length
        if p == end or (t.code == SHORT and is_text_null(p, end)):
            continue
        is_value = not has_parts and is_text_value(g, t, p, end)
        if not is_binary_value(g, t, p, end) and (has_parts or is_value or not has_control(p, end, False)):
            return False
        ncells += 1
        nvalues += is_value
        if not is_value and not is_foreign:
            is_foreign = has_control(p, end, not has_parts) or not (has_parts or is_utf8(p, end))
    # A byte of the binary serialization may be a letter, but few numbers are then values as text.
    return is_foreign or ((t.kind == HIVE_INTEGER or t.kind == HIVE_DATE) and 2 * nvalues < ncells)


cdef bint is_binary_value(RowGroups g, HiveType t, const unsigned char* p, const unsigned char* end) except -1:
    cdef Py_ssize_t before = written(&g.typed)
    if is_text_null(p, end) and t.code != SHORT:
        return False
    g.accepts_fractions = True
    try:
        return append_binary_cell(g, t, p, end, True) == end
    except DecodeError as error:
        reraise_memory_error(error)
        return False
    finally:
        g.accepts_fractions = False
        g.typed.cursor = g.typed.start + before


cdef bint is_text_value(RowGroups g, HiveType t, const unsigned char* p, const unsigned char* end) except -1:
    cdef Py_ssize_t before = written(&g.typed)
    g.accepts_fractions = True
    try:
        append_text_cell(g, t, p, end, 2)
        return not g.is_null_at(before)
    finally:
        g.accepts_fractions = False
        g.typed.cursor = g.typed.start + before


cdef bint is_text_null(const unsigned char* p, const unsigned char* end) noexcept nogil:
    return end - p == 2 and p[0] == b"\\" and p[1] == b"N"


cdef bint has_control(const unsigned char* p, const unsigned char* end, bint with_separators) noexcept nogil:
    # A byte that text does not have, but as white space, or as a separator.
    while p != end:
        if p[0] < (9 if with_separators else 2) or 14 <= p[0] < 32:
            return True
        p += 1
    return False


cdef bint is_utf8(const unsigned char* p, const unsigned char* end) except -1:
    try:
        PyBytes_FromStringAndSize(<const char*>p, end - p).decode("utf-8")
    except UnicodeDecodeError as error:
        reraise_memory_error(error)
        return False
    return True
