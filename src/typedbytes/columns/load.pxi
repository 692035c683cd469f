# The fast path of the walk: values of the types that their columns have.
#
# A TUPLE or STRUCT has a list of steps, made when the types are known and again when one of them changes; those within
# it are parts of its list. A step compares the bytes before a payload that every value has there (type codes, counts of
# VECTORs, keys of a STRUCT), and stores the payload in the column of that item.
#
# load_* store value i of a column, and of each child of a TUPLE, at the position that follows from i alone. They do not
# update `n` and `used`; set_length does that afterwards. They return the position after the value; NULL if it needs the
# general path (another type, incomplete input, no capacity), in which case the column has no more values than before.
# Nulls of scalars within a TUPLE or STRUCT are loaded too: set_length drops the bits beyond the last value.

cdef enum:
    HEAD_NBYTES = 8
    # of a key whose bytes are part of heads; a longer one is compared by itself,
    # so that a column has a few steps at most
    MAX_HEAD_KEY_NBYTES = 40

cdef enum StepKind:
    LOAD_VARIABLE     # a length, and so many bytes
    LOAD_8            # a number of 8 bytes
    LOAD_4
    LOAD_NUMBER       # a number of another width
    LOAD_ONE          # a whole value
    COMPARE_KEY       # the key of the field `column`
    LOAD_NOTHING      # the bytes compared are all

cdef struct Step:
    StepKind kind
    uint64_t head             # the bytes compared, as a little-endian number
    uint64_t head_mask
    Py_ssize_t head_nbytes
    Column* column
    # bytes that must be there for this step and those after it, up to the next length; HEAD_NBYTES at least
    Py_ssize_t needed
    Py_ssize_t needed_after   # bytes that must be there after a length and what it counts, up to the next length

cdef struct Steps:
    Step* first
    Py_ssize_t n
    Py_ssize_t capacity
    unsigned char head[HEAD_NBYTES]    # compared by the next step
    Py_ssize_t head_nbytes


cdef void drop_steps(Column* c) noexcept nogil:
    cdef Py_ssize_t i
    PyMem_RawFree(c.steps)
    c.steps = NULL
    for i in range(c.nchildren):
        drop_steps(c.children[i])


cdef void make_steps(Column* c) noexcept nogil:
    # For this column and those within it, as far as there is memory: without its steps a column has no fast path.
    cdef Py_ssize_t i
    cdef Steps steps
    if not c.wanted or not has_children_per_value(c):
        for i in range(c.nchildren):
            make_steps(c.children[i])
        return
    memset(&steps, 0, sizeof(Steps))
    if add_value(&steps, c) and end_head(&steps):
        c.steps = steps.first
        c.nsteps = steps.n
        compute_needs(c)
    else:
        PyMem_RawFree(steps.first)


cdef void compute_needs(Column* c) noexcept nogil:
    cdef Py_ssize_t i
    cdef Py_ssize_t needed = 0    # by the steps after this one
    cdef Step* step
    for i in range(c.nsteps - 1, -1, -1):
        step = &c.steps[i]
        step.needed_after = 0
        if step.kind == LOAD_VARIABLE or step.kind == LOAD_ONE:
            step.needed_after = needed
            needed = 0
        needed = step.needed = max(step.head_nbytes + payload_size(step) + needed, HEAD_NBYTES)


cdef Py_ssize_t payload_size(const Step* step) noexcept nogil:
    # Of LOAD_VARIABLE the length alone, of LOAD_ONE nothing.
    if step.kind == LOAD_VARIABLE:
        return 4
    if step.kind == COMPARE_KEY:
        return step.column.key_nbytes
    return step.column.width if step.kind == LOAD_8 or step.kind == LOAD_4 or step.kind == LOAD_NUMBER else 0


cdef bint add_step(Steps* steps, StepKind kind, Column* c) noexcept nogil:
    # False: out of memory.
    cdef Step* step
    cdef Py_ssize_t capacity = max(2 * steps.capacity, 8)
    if steps.n == steps.capacity:
        step = <Step*>enlarge(steps.first, capacity * sizeof(Step))
        if step == NULL:
            return False
        steps.first = step
        steps.capacity = capacity
    memset(steps.head + steps.head_nbytes, 0, HEAD_NBYTES - steps.head_nbytes)
    step = &steps.first[steps.n]
    step.kind = kind
    step.head = load_u64_le(steps.head)
    step.head_mask = ~<uint64_t>0 >> 8 * (HEAD_NBYTES - steps.head_nbytes) if steps.head_nbytes else 0
    step.head_nbytes = steps.head_nbytes
    step.column = c
    steps.head_nbytes = 0
    steps.n += 1
    return True


cdef bint add_head(Steps* steps, const unsigned char* p, Py_ssize_t nbytes) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(nbytes):
        if steps.head_nbytes == HEAD_NBYTES and not end_head(steps):
            return False
        steps.head[steps.head_nbytes] = p[i]
        steps.head_nbytes += 1
    return True


cdef bint end_head(Steps* steps) noexcept nogil:
    return steps.head_nbytes == 0 or add_step(steps, LOAD_NOTHING, NULL)


cdef bint add_key(Steps* steps, Column* field) noexcept nogil:
    if field.key_nbytes <= MAX_HEAD_KEY_NBYTES:
        return add_head(steps, field.key, field.key_nbytes)
    return add_step(steps, COMPARE_KEY, field)


cdef bint add_value(Steps* steps, Column* c) noexcept nogil:
    cdef Py_ssize_t i
    cdef unsigned char head[5]
    head[0] = <unsigned char>c.code
    if c.kind == VARIABLE_LENGTH:
        return add_head(steps, head, 1) and add_step(steps, LOAD_VARIABLE, c)
    if c.kind == FIXED:
        return add_head(steps, head, 1) \
            and add_step(steps, LOAD_8 if c.width == 8 else LOAD_4 if c.width == 4 else LOAD_NUMBER, c)
    if not has_children_per_value(c):
        make_steps(c)    # of what is in it
        return add_step(steps, LOAD_ONE, c)
    store_i32(head + 1, <int32_t>c.nchildren)
    if not add_head(steps, head, 5):
        return False
    for i in range(c.nchildren):
        if c.kind == STRUCT and not add_key(steps, c.children[i]) or not add_value(steps, c.children[i]):
            return False
    return True


cdef inline void copy_padded(unsigned char* out, const unsigned char* p, Py_ssize_t nbytes,
                             const unsigned char* end) noexcept nogil:
    # If both sides have PADDING bytes, which is usual, a short text is one load and one store,
    # without a branch on its length.
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


# load_fixed and load_variable could call load_number and load_variable_payload, which steps use;
# records of two scalars would then take 1.07 of the time.

cdef inline const unsigned char* load_fixed(const Column* c, Py_ssize_t i, const unsigned char* p,
                                            const unsigned char* end) noexcept nogil:
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
    cdef Py_ssize_t count, first, item
    if c.steps != NULL:
        return load_steps(w, c, i, p, end)
    if c.kind == ARRAY:
        return load_array(c, i, p, end)
    if c.kind == DECIMAL or c.kind == FIXED_BYTES or c.kind == CHOICE:
        return load_special(c, i, p, end)
    if unlikely(not has_offsets(c) or c.kind == ENCODED or c.offsets_capacity - i < 2):
        return NULL
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


cdef inline const unsigned char* load_number(const Column* c, Py_ssize_t width, Py_ssize_t i,
                                             const unsigned char* p) noexcept nogil:
    if unlikely(c.capacity - i * width < width):
        return NULL
    store_fixed(c.data + i * width, p, c.code, <int>width)
    return p + width


cdef inline const unsigned char* load_variable_payload(
        const Column* c, Py_ssize_t i, const unsigned char* p, const unsigned char* end) noexcept nogil:
    # The length is there.
    cdef Py_ssize_t nbytes, start
    if unlikely(c.offsets_capacity - i < 2):
        return NULL
    nbytes = load_i32(p)
    start = c.offsets[i]
    p += 4
    # `>=`: copy_padded writes PADDING bytes even for an empty text, and a column of capacity 0 may have no memory.
    if unlikely(nbytes < 0 or nbytes > end - p or nbytes >= c.capacity - start):
        return NULL
    copy_padded(c.data + start, p, nbytes, end)
    c.offsets[i + 1] = <int32_t>(start + nbytes)
    return p + nbytes


cdef const unsigned char* load_steps(
        const Walk* w, const Column* c, Py_ssize_t i, const unsigned char* p, const unsigned char* end) noexcept nogil:
    # A VECTOR; or a MAP that has all fields, in their order.
    cdef const Step* step = c.steps
    cdef const Step* last = step + c.nsteps
    if unlikely(end - p < step.needed):
        return NULL
    while step != last:
        if unlikely((load_u64_le(p) ^ step.head) & step.head_mask != 0):
            p = load_null(w, step, i, p, end)
            step += 1
            if p == NULL or (step != last and end - p < step.needed):
                return NULL
            continue
        p += step.head_nbytes
        if step.kind == LOAD_VARIABLE:
            p = load_variable_payload(step.column, i, p, end)
            if unlikely(p == NULL or end - p < step.needed_after):
                return NULL
        elif step.kind == LOAD_8:
            p = load_number(step.column, 8, i, p)
            if unlikely(p == NULL):
                return NULL
        elif step.kind == LOAD_4:
            p = load_number(step.column, 4, i, p)
            if unlikely(p == NULL):
                return NULL
        elif step.kind == LOAD_NUMBER:
            p = load_number(step.column, step.column.width, i, p)
            if unlikely(p == NULL):
                return NULL
        elif step.kind == LOAD_ONE:
            p = load_one(w, step.column, i, p, end)
            if unlikely(p == NULL or end - p < step.needed_after):
                return NULL
        elif step.kind == COMPARE_KEY:
            if unlikely(memcmp(p, step.column.key, step.column.key_nbytes)):
                return NULL
            p += step.column.key_nbytes
        step += 1
    return p


cdef const unsigned char* load_null(const Walk* w, const Step* step, Py_ssize_t i, const unsigned char* p,
                                    const unsigned char* end) noexcept nogil:
    # A null in place of a scalar: its head up to the type code is next.
    cdef Column* c = step.column
    if step.kind == LOAD_NOTHING or step.kind == LOAD_ONE or step.kind == COMPARE_KEY \
            or c.refuses_nulls or c.typed != NULL or (load_u64_le(p) ^ step.head) & (step.head_mask >> 8) != 0:
        return NULL
    p += step.head_nbytes - 1
    if not starts_with(w.null, p, end):
        return NULL
    if c.kind == VARIABLE_LENGTH:
        if c.offsets_capacity - i < 2:
            return NULL
        c.offsets[i + 1] = c.offsets[i]
    elif c.capacity - i * c.width < c.width:
        return NULL
    else:
        memset(c.data + i * c.width, 0, c.width)
    if not mark_null(c, i):
        return NULL
    set_kind_of_null(c, w.null)
    return p + w.null.nbytes


cdef inline const unsigned char* load_items_to_marker(
        const Walk* w, const Column* c, Py_ssize_t* item, const unsigned char* p,
        const unsigned char* end) noexcept nogil:
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
        const Column* c, Py_ssize_t width, Py_ssize_t* item, const unsigned char* p,
        const unsigned char* end) noexcept nogil:
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


cdef inline const unsigned char* load_array(const Column* c, Py_ssize_t i, const unsigned char* p,
                                            const unsigned char* end) noexcept nogil:
    cdef Py_ssize_t width = c.width
    cdef Py_ssize_t nbytes = c.nitems * width
    cdef Py_ssize_t first = i * c.nitems
    cdef Py_ssize_t item = first
    if unlikely(end - p < 5 + nbytes + c.nitems or p[0] != VECTOR or load_i32(p + 1) != c.nitems
                or c.capacity - first * width < nbytes):
        return NULL
    end = p + 5 + nbytes + c.nitems
    if width == 8:
        p = load_run(c, 8, &item, p + 5, end)
    elif width == 4:
        p = load_run(c, 4, &item, p + 5, end)
    else:
        p = load_run(c, width, &item, p + 5, end)
    return p if likely(p == end) else NULL
