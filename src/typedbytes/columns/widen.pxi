# What becomes of a column that meets another kind: wider numbers, VECTORs of any arity, encoded values; and runs of equal keys.

cdef void keep_whole(Column* c) noexcept:
    cdef Py_ssize_t i
    c.wanted = True
    for i in range(c.nparts):
        keep_whole(c.parts[i])


cdef bint find(Column* c, Column* wanted, list way) except -1:
    # The way to a column through its value, as in the paths of errors.
    cdef Py_ssize_t i
    if c == wanted:
        return True
    for i in range(c.nparts):
        index = c.parts[i].n - c.offsets[c.n] if has_offsets(c) and c.offsets_room else c.parts[i].n if has_offsets(c) else i
        way.append(f"[{index}]" if c.kind != PAIRED else f".key({index})" if i == 0 else f".value({index})")
        if find(c.parts[i], wanted, way):
            return True
        way.pop()
    return False


cdef void become(Column* c, Column* other) noexcept:
    # Take over what another column is and has; the other is gone.
    cdef bint wanted = c.wanted
    free_parts(c)
    free_memory(c)
    PyMem_RawFree(c.parts)
    c[0] = other[0]
    c.wanted = wanted
    PyMem_RawFree(other)


cdef bint widen(Column* c, Walk* w) except -1:
    # Make a column hold the value at the cursor too; what it holds keeps its meaning, to the bit.
    cdef int code = w.p[0]
    if c.kind == FIXED and widens_to(c.code, code):
        return widen_numbers(c, code)
    if c.kind == ARRAY and code == VECTOR:
        if w.culprit_item < 0:
            return loosen(c, w.most_held)
        if widens_to(c.code, w.culprit_at[0]):
            return widen_numbers(c, w.culprit_at[0])
    encode_whole(c, w.most_held)
    return True


cdef object beyond_held(Py_ssize_t most):
    return LimitError(f"more than a column can hold: {most} bytes or items")


cdef bint widen_numbers(Column* c, int code) except -1:
    cdef Py_ssize_t n = c.used // c.width
    cdef Py_ssize_t i
    cdef size_t size = n * 8 + CUSHION
    cdef unsigned char* wide = <unsigned char*>enlarge_kept(NULL, 0, &size)
    cdef int32_t number
    cdef unsigned char wire[4]
    if wide == NULL:
        raise MemoryError
    for i in range(n):
        memcpy(&number, c.data + 4 * i, 4)
        store_i32(wire, number)
        store_wider(wide + 8 * i, wire, code)
    free_memory(c)
    c.data = wide
    c.used = n * 8
    c.room = size - CUSHION
    c.code = code
    c.width = 8
    return True


cdef bint loosen(Column* c, Py_ssize_t most) except -1:
    # VECTORs of one arity to VECTORs of any.
    cdef Py_ssize_t i
    cdef Column* loose = new_column(LISTED, VECTOR, 1)
    try:
        if c.n * c.nitems > most:
            raise beyond_held(most)
        loose.parts[0] = new_column(FIXED, c.code, 0)
        if not reserve_offsets(loose, c.n):
            raise MemoryError
    except BaseException:
        free_column(loose)
        raise
    for i in range(c.n):
        loose.offsets[i + 1] = <int32_t>((i + 1) * c.nitems)
    loose.n = c.n
    loose.parts[0].data = c.data
    loose.parts[0].used = c.used
    loose.parts[0].room = c.room
    loose.parts[0].n = c.n * c.nitems
    c.data = NULL
    become(c, loose)
    return True


cdef int encode_whole(Column* c, Py_ssize_t most) except -1:
    # Any column to the encoded bytes of its values.
    cdef Py_ssize_t i
    cdef unsigned char* out
    cdef Nulls none
    cdef Column* encoded = new_column(ENCODED, -1, 0)
    memset(&none, 0, sizeof(Nulls))
    try:
        if bound_of(c, 0, c.n, 0) > most:
            raise beyond_held(most)
        if not reserve_offsets(encoded, c.n) or not reserve_payload(encoded, bound_of(c, 0, c.n, 0), most):
            raise MemoryError
    except BaseException:
        free_column(encoded)
        raise
    out = encoded.data
    for i in range(c.n):
        out = put_value(out, c, i, &none)
        encoded.offsets[i + 1] = <int32_t>(out - encoded.data)
    encoded.n = c.n
    encoded.used = out - encoded.data
    become(c, encoded)
    return 0
