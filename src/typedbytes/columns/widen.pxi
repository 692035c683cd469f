# Change the type of a column that meets a value of another: to wider numbers, VECTORs of any length, encoded values.

cdef void want_whole_column(Column* c) noexcept:
    cdef Py_ssize_t i
    c.wanted = True
    for i in range(c.nparts):
        want_whole_column(c.parts[i])


cdef bint find_path(Column* c, Column* wanted, list steps) except -1:
    # Find the path to a column through its value, as in the paths of errors.
    cdef Py_ssize_t i
    if c == wanted:
        return True
    for i in range(c.nparts):
        index = c.parts[i].n - c.offsets[c.n] if has_offsets(c) and c.offsets_capacity else c.parts[i].n if has_offsets(c) else i
        steps.append(f"[{index}]" if c.kind != MAP_ENTRIES else f".key({index})" if i == 0 else f".value({index})")
        if find_path(c.parts[i], wanted, steps):
            return True
        steps.pop()
    return False


cdef void replace_column(Column* c, Column* other) noexcept:
    # Replace a column by another, which is freed.
    cdef bint wanted = c.wanted
    cdef bint refuses_nulls = c.refuses_nulls
    free_parts(c)
    free_memory(c)
    free_nulls(c)
    PyMem_RawFree(c.parts)
    c[0] = other[0]
    c.wanted = wanted
    c.refuses_nulls = refuses_nulls
    PyMem_RawFree(other)


cdef bint widen(Column* c, Walk* w) except -1:
    # Make a column able to hold the value at the cursor too; the values it holds are unchanged, to the bit.
    cdef int code = w.p[0]
    if c.kind == FIXED and widens_to(c.code, code):
        return widen_numbers(c, code)
    if c.kind == ARRAY and code == VECTOR:
        if w.mismatched_item < 0:
            return widen_arity(c, w.max_held)
        if widens_to(c.code, w.mismatched_at[0]):
            return widen_numbers(c, w.mismatched_at[0])
    encode_column(c, w.max_held)
    return True


cdef object column_limit_error(Py_ssize_t max_held):
    return LimitError(f"a column can hold at most {max_held} bytes or items")


cdef bint widen_numbers(Column* c, int code) except -1:
    cdef Py_ssize_t n = c.used // c.width
    cdef Py_ssize_t i
    cdef size_t size = n * 8 + PADDING
    cdef unsigned char* wide = <unsigned char*>enlarge_kept(NULL, 0, &size)
    cdef int32_t number
    cdef unsigned char encoded[4]
    if wide == NULL:
        raise MemoryError
    for i in range(n):
        memcpy(&number, c.data + 4 * i, 4)
        store_i32(encoded, number)
        store_wider(wide + 8 * i, encoded, code)
    free_memory(c)
    c.data = wide
    c.used = n * 8
    c.capacity = size - PADDING
    c.code = code
    c.width = 8
    return True


cdef bint widen_arity(Column* c, Py_ssize_t max_held) except -1:
    # From VECTORs of one length to VECTORs of any.
    cdef Py_ssize_t i
    cdef Column* listed = new_column(VARIABLE_LIST, VECTOR, 1)
    try:
        if c.n * c.nitems > max_held:
            raise column_limit_error(max_held)
        listed.parts[0] = new_column(FIXED, c.code, 0)
        if not reserve_offsets(listed, c.n):
            raise MemoryError
    except BaseException:
        free_column(listed)
        raise
    for i in range(c.n):
        listed.offsets[i + 1] = <int32_t>((i + 1) * c.nitems)
    listed.n = c.n
    listed.valid = listed.bits = c.bits
    listed.nbits = c.nbits
    listed.bits_capacity = c.bits_capacity
    listed.null = c.null
    c.bits = NULL
    listed.parts[0].data = c.data
    listed.parts[0].used = c.used
    listed.parts[0].capacity = c.capacity
    listed.parts[0].n = c.n * c.nitems
    c.data = NULL
    replace_column(c, listed)
    return True


cdef int encode_column(Column* c, Py_ssize_t max_held) except -1:
    # From any type to the encoded bytes of its values.
    cdef Py_ssize_t i
    cdef unsigned char* out
    cdef Nulls none
    cdef Column* encoded = new_column(ENCODED, -1, 0)
    memset(&none, 0, sizeof(Nulls))
    try:
        if bound_of(c, 0, c.n, 0) > max_held:
            raise column_limit_error(max_held)
        if not reserve_offsets(encoded, c.n) or not reserve_payload(encoded, bound_of(c, 0, c.n, 0), max_held):
            raise MemoryError
    except BaseException:
        free_column(encoded)
        raise
    out = encoded.data
    for i in range(c.n):
        out = write_one_value(out, c, i, &none)
        encoded.offsets[i + 1] = <int32_t>(out - encoded.data)
    encoded.n = c.n
    encoded.used = out - encoded.data
    replace_column(c, encoded)
    return 0
