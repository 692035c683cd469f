# The fast path of the walk: values of the types that their columns have.
#
# load_* store value i of a column, and of each child of a TUPLE, at the position that follows from i alone. They do not update `n` and
# `used`; set_length does that afterwards. They return the position after the value; NULL if it needs the general path (another type,
# incomplete input, no capacity), in which case the column has no more values than before.

cdef inline void copy_padded(unsigned char* out, const unsigned char* p, Py_ssize_t nbytes, const unsigned char* end) noexcept nogil:
    # If both sides have PADDING bytes, which is usual, a short text is one load and one store, without a branch on its length.
    if likely(nbytes <= PADDING and end - p >= PADDING):
        memcpy(out, p, PADDING)
    else:
        copy_short(out, p, nbytes)


cdef inline void store_fixed(unsigned char* out, const unsigned char* p, int code, int width) noexcept nogil:
    cdef int32_t narrow
    cdef int64_t broad
    cdef int16_t short_number
    if width == 8:
        broad = load_i64(p)
        memcpy(out, &broad, 8)
    elif width == 4:
        narrow = load_i32(p)
        memcpy(out, &narrow, 4)
    elif width == 1:
        out[0] = p[0] != 0 if code == BOOL else p[0]
    else:
        short_number = load_i16(p)
        memcpy(out, &short_number, 2)


cdef inline const unsigned char* load_fixed(const Column* c, Py_ssize_t i, const unsigned char* p, const unsigned char* end) noexcept nogil:
    cdef Py_ssize_t width = c.width
    if unlikely(end - p <= width or p[0] != c.code or c.capacity - i * width < width):
        return NULL
    store_fixed(c.data + i * width, p + 1, c.code, width)
    return p + 1 + width


cdef inline const unsigned char* load_variable(
        const Column* c, Py_ssize_t i, const unsigned char* p, const unsigned char* end) noexcept nogil:
    cdef Py_ssize_t nbytes, start
    if unlikely(end - p < 5 or p[0] != c.code or c.offsets_capacity - i < 2):
        return NULL
    nbytes = load_i32(p + 1)
    start = c.offsets[i]
    p += 5
    # `>=`: copy_padded writes PADDING bytes even for an empty text, and a column of capacity 0 may have no memory.
    if unlikely(nbytes < 0 or nbytes > end - p or nbytes >= c.capacity - start):
        return NULL
    copy_padded(c.data + start, p, nbytes, end)
    c.offsets[i + 1] = <int32_t>(start + nbytes)
    return p + nbytes


cdef inline const unsigned char* load_one(
        const Walk* w, const Column* c, Py_ssize_t i, const unsigned char* p, const unsigned char* end) noexcept nogil:
    if c.kind == FIXED:
        return load_fixed(c, i, p, end)
    if c.kind == VARIABLE_LENGTH:
        return load_variable(c, i, p, end)
    return load_nested(w, c, i, p, end)


cdef const unsigned char* load_nested(
        const Walk* w, const Column* c, Py_ssize_t i, const unsigned char* p, const unsigned char* end) noexcept nogil:
    cdef Py_ssize_t count, first, item, child
    if c.kind == TUPLE:
        if unlikely(end - p < 5 or p[0] != VECTOR or load_i32(p + 1) != c.nchildren):
            return NULL
        p += 5
        for child in range(c.nchildren):
            p = load_one(w, c.children[child], i, p, end)
            if unlikely(p == NULL):
                return NULL
        return p
    if c.kind == ARRAY:
        return load_array(c, i, p, end)
    if unlikely(not has_offsets(c) or c.kind == ENCODED or c.offsets_capacity - i < 2):
        return load_struct(w, c, i, p, end) if c.kind == STRUCT else NULL
    first = c.offsets[i]
    if c.code == LIST:
        if unlikely(p == end or p[0] != LIST):
            return NULL
        item = first
        p = load_items_to_marker(w, c.children[0], &item, p + 1, end)
        if unlikely(p == NULL):
            return NULL
    else:
        if unlikely(end - p < 5 or p[0] != c.code):
            return NULL
        count = load_i32(p + 1)
        p += 5
        if unlikely(count < 0 or count > end - p):
            return NULL
        for item in range(first, first + count):
            p = load_one(w, c.children[0], item, p, end)
            if likely(p != NULL) and c.kind == MAP_ENTRIES:
                p = load_one(w, c.children[1], item, p, end)
            if unlikely(p == NULL):
                return NULL
        item = first + count
    if unlikely(item > w.max_held):
        return NULL
    c.offsets[i + 1] = <int32_t>item
    return p


cdef const unsigned char* load_struct(
        const Walk* w, const Column* c, Py_ssize_t i, const unsigned char* p, const unsigned char* end) noexcept nogil:
    # A MAP that has all fields, in their order.
    cdef Py_ssize_t number
    cdef const Column* child
    if unlikely(end - p < 5 or p[0] != MAP or load_i32(p + 1) != c.nchildren):
        return NULL
    p += 5
    for number in range(c.nchildren):
        child = c.children[number]
        if unlikely(end - p < child.key_nbytes or memcmp(p, child.key, child.key_nbytes)):
            return NULL
        p = load_one(w, child, i, p + child.key_nbytes, end)
        if unlikely(p == NULL):
            return NULL
    return p


cdef inline const unsigned char* load_items_to_marker(
        const Walk* w, const Column* c, Py_ssize_t* item, const unsigned char* p, const unsigned char* end) noexcept nogil:
    # The items of a LIST, and its MARKER.
    if c.kind == FIXED and c.width == 8:
        p = load_run(c, 8, item, p, end)
    elif c.kind == FIXED and c.width == 4:
        p = load_run(c, 4, item, p, end)
    while p != end:
        if p[0] == MARKER:
            return p + 1
        p = load_one(w, c, item[0], p, end)
        if unlikely(p == NULL):
            return NULL
        item[0] += 1
    return NULL


cdef inline const unsigned char* load_run(
        const Column* c, Py_ssize_t width, Py_ssize_t* item, const unsigned char* p, const unsigned char* end) noexcept nogil:
    # As many numbers of the column's code as follow each other, are complete and fit; `width` is a constant.
    cdef int code = c.code
    cdef unsigned char* start = c.data + item[0] * width
    cdef unsigned char* out = start
    cdef const unsigned char* out_end = c.data + c.capacity
    while end - p > width and p[0] == code and out_end - out >= width:
        store_fixed(out, p + 1, code, width)
        out += width
        p += 1 + width
    item[0] += (out - start) // width
    return p


cdef inline const unsigned char* load_array(const Column* c, Py_ssize_t i, const unsigned char* p, const unsigned char* end) noexcept nogil:
    cdef Py_ssize_t width = c.width
    cdef Py_ssize_t nbytes = c.nitems * width
    cdef Py_ssize_t first = i * c.nitems
    cdef Py_ssize_t item = first
    if unlikely(end - p < 5 + nbytes + c.nitems or p[0] != VECTOR or load_i32(p + 1) != c.nitems or c.capacity - first * width < nbytes):
        return NULL
    end = p + 5 + nbytes + c.nitems
    if width == 8:
        p = load_run(c, 8, &item, p + 5, end)
    elif width == 4:
        p = load_run(c, 4, &item, p + 5, end)
    else:
        p = load_run(c, width, &item, p + 5, end)
    return p if likely(p == end) else NULL
