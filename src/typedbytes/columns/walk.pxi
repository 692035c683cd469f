# The walk: decode values of any size into columns, one after the other.
#
# A value that its column cannot hold is passed to the Builder, which applies the policy; the walk goes on with the column as it is
# then. The cursor of a Walk is at the first byte of a value, or after the last complete one.

cdef enum Outcome:
    DONE
    MORE          # the bytes end inside the record
    OTHER         # the value is of another kind than its column
    BROKEN        # not a valid value, or too deep: decoding it raises the error
    COLUMN_FULL   # it cannot hold more: see max_held
    REFUSED       # as OTHER, and refused by the policy
    FAILED        # an exception is set
    NO_MEMORY

cdef enum:
    MAX_NULL_NBYTES = 128     # that a null may take, which is encoded in 1 or 9

cdef struct Walk:
    const unsigned char* p
    const unsigned char* end
    PyObject* builder         # borrowed
    bint widens
    const Null* null          # what is read as a null
    Py_ssize_t max_held       # bytes of data, and items, of one column: offsets are int32
    bint checks_each_text     # check that each STRING is UTF-8 as it is appended
    Py_ssize_t depth
    Py_ssize_t max_depth
    Skipping skipping
    Column* mismatched        # the column of the outcome OTHER or REFUSED
    Py_ssize_t mismatched_item    # item of an ARRAY; -1: its count
    const unsigned char* mismatched_at    # the encoded value found for that item


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


# The fast path: load_* store value i of a column, and of each part of a TUPLE, at the position that follows from i alone. They do not
# update `n` and `used`; set_length does that afterwards. They return the position after the value; NULL if it needs the general
# path (another type, incomplete input, no capacity), in which case the column has no more values than before.

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
    cdef Py_ssize_t count, first, item, part
    if c.kind == TUPLE:
        if unlikely(end - p < 5 or p[0] != VECTOR or load_i32(p + 1) != c.nparts):
            return NULL
        p += 5
        for part in range(c.nparts):
            p = load_one(w, c.parts[part], i, p, end)
            if unlikely(p == NULL):
                return NULL
        return p
    if c.kind == ARRAY:
        return load_array(c, i, p, end)
    if unlikely(not has_offsets(c) or c.kind == ENCODED or c.offsets_capacity - i < 2):
        return NULL
    first = c.offsets[i]
    if c.code == LIST:
        if unlikely(p == end or p[0] != LIST):
            return NULL
        item = first
        p = load_items_to_marker(w, c.parts[0], &item, p + 1, end)
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
            p = load_one(w, c.parts[0], item, p, end)
            if likely(p != NULL) and c.kind == MAP_ENTRIES:
                p = load_one(w, c.parts[1], item, p, end)
            if unlikely(p == NULL):
                return NULL
        item = first + count
    if unlikely(item > w.max_held):
        return NULL
    c.offsets[i + 1] = <int32_t>item
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


cdef inline const Null* null_of(bint hive) noexcept nogil:
    # The one encoding that is read as a null: Hive's own, or the pickle of None that this library and the older ones write.
    return &HIVE_NULL if hive else &PICKLED_NULL


cdef inline bint is_encoded_null(const Null* null, const unsigned char* p, const unsigned char* end) noexcept nogil:
    return end - p >= null.nbytes and memcmp(p, null.data, null.nbytes) == 0


cdef Py_ssize_t null_size(const Column* c) noexcept nogil:
    # Bytes that a null takes in a column and its parts.
    cdef Py_ssize_t i
    cdef Py_ssize_t total = c.width * (c.nitems if c.kind == ARRAY else 1)
    if has_offsets(c):
        return sizeof(int32_t)
    for i in range(c.nparts):
        total += null_size(c.parts[i])
    return total


cdef Outcome append_null(Column* c, const Null* null) noexcept nogil:
    # Append a value that is null, and so are its parts.
    cdef Py_ssize_t i, nbytes
    cdef Outcome outcome
    if not c.wanted and not c.has_wanted_part:
        return DONE
    if c.kind == FIXED or c.kind == ARRAY:
        nbytes = c.width * (c.nitems if c.kind == ARRAY else 1)
        if not reserve_data(c, c.used + nbytes):
            return NO_MEMORY
        memset(c.data + c.used, 0, nbytes)
        c.used += nbytes
    elif has_offsets(c):
        if not reserve_offsets(c, c.n + 1):
            return NO_MEMORY
        c.offsets[c.n + 1] = c.offsets[c.n]
    elif c.kind == TUPLE:
        for i in range(c.nparts):
            outcome = append_null(c.parts[i], null)
            if outcome != DONE:
                return outcome
    if c.kind != UNKNOWN and not mark_null(c, c.n):
        return NO_MEMORY
    c.null = null
    c.n += 1
    return DONE


cdef Outcome append_value(Walk* w, Column* c) noexcept nogil:
    # Append one value of any type. DONE: the cursor is after it.
    cdef Outcome outcome
    if not c.wanted and not c.has_wanted_part:
        return skip_one(w)
    while True:
        if c.kind == ENCODED:
            return append_encoded(w, c)
        if w.p == w.end:
            return MORE
        if c.kind == FIXED:
            outcome = append_fixed(w, c)
        elif c.kind == VARIABLE_LENGTH:
            outcome = append_variable(w, c)
        elif c.kind == UNKNOWN:
            outcome = OTHER
        elif w.depth == w.max_depth:
            outcome = BROKEN if w.p[0] == (VECTOR if c.kind == ARRAY else c.code) else OTHER
        else:
            w.depth += 1
            if c.kind == ARRAY:
                outcome = append_array(w, c)
            elif c.kind == TUPLE:
                outcome = append_tuple(w, c)
            elif c.kind == VARIABLE_LIST:
                outcome = append_list(w, c)
            else:
                outcome = append_map(w, c)
            w.depth -= 1
        if outcome != OTHER:
            return outcome
        if not c.refuses_nulls and is_encoded_null(w.null, w.p, w.end) and null_size(c) <= MAX_NULL_NBYTES:
            w.p += w.null.nbytes
            return append_null(c, w.null)
        w.mismatched = c
        outcome = resolve_mismatch(w)
        if outcome != DONE:
            return outcome


cdef Outcome skip_one(Walk* w) noexcept nogil:
    cdef ReadBuffer buf
    cdef SkipOutcome outcome
    borrow(&buf, w.p, w.end - w.p)
    w.skipping.max_depth = w.max_depth - w.depth
    outcome = skip_value(&w.skipping, &buf)
    w.skipping.depth = w.skipping.tail = 0
    if outcome == SKIPPED:
        w.p = buf.cursor
        return DONE
    return MORE if outcome == NEEDS_MORE else BROKEN


cdef Outcome append_fixed(Walk* w, Column* c) noexcept nogil:
    if w.p[0] != c.code:
        return append_widened(w, c)
    if w.end - w.p <= c.width:
        return MORE
    if not reserve_data(c, c.used + c.width):
        return NO_MEMORY
    store_fixed(c.data + c.used, w.p + 1, c.code, c.width)
    c.used += c.width
    c.n += 1
    w.p += 1 + c.width
    return DONE


cdef inline bint widens_to(int narrow, int wide) noexcept nogil:
    return (narrow == INT and wide == LONG) or (narrow == FLOAT and wide == DOUBLE)


cdef inline void store_wider(unsigned char* out, const unsigned char* p, int code) noexcept nogil:
    cdef int64_t number
    cdef double real
    if code == LONG:
        number = load_i32(p)
        memcpy(out, &number, 8)
    else:
        real = load_f32(p)
        memcpy(out, &real, 8)


cdef Outcome append_widened(Walk* w, Column* c) noexcept nogil:
    if not w.widens or not widens_to(w.p[0], c.code):
        return OTHER
    if w.end - w.p < 5:
        return MORE
    if not reserve_data(c, c.used + 8):
        return NO_MEMORY
    store_wider(c.data + c.used, w.p + 1, c.code)
    c.used += 8
    c.n += 1
    w.p += 5
    return DONE


cdef Outcome append_variable(Walk* w, Column* c) noexcept nogil:
    cdef Py_ssize_t nbytes
    if w.p[0] != c.code:
        return OTHER
    if w.end - w.p < 5:
        return MORE
    nbytes = load_i32(w.p + 1)
    if nbytes < 0:
        return BROKEN
    if nbytes > w.end - w.p - 5:
        return MORE
    if w.checks_each_text and c.code == STRING and not is_text(w.p + 5, nbytes):
        return BROKEN
    return append_payload(w, c, w.p + 5, nbytes)


cdef Outcome append_payload(Walk* w, Column* c, const unsigned char* p, Py_ssize_t nbytes) noexcept nogil:
    if nbytes > w.max_held - c.used:
        return COLUMN_FULL
    if not reserve_payload(c, c.used + nbytes, w.max_held) or not reserve_offsets(c, c.n + 1):
        return NO_MEMORY
    memcpy(c.data + c.used, p, nbytes)
    c.used += nbytes
    c.n += 1
    c.offsets[c.n] = <int32_t>c.used
    w.p = p + nbytes
    return DONE


cdef Outcome append_encoded(Walk* w, Column* c) noexcept nogil:
    cdef const unsigned char* start = w.p
    cdef Outcome outcome = skip_one(w)
    return outcome if outcome != DONE else append_payload(w, c, start, w.p - start)


cdef Outcome read_count(Walk* w, int code, Py_ssize_t* count) noexcept nogil:
    if w.p[0] != code:
        return OTHER
    if w.end - w.p < 5:
        return MORE
    count[0] = load_i32(w.p + 1)
    return BROKEN if count[0] < 0 else DONE


cdef Outcome append_array(Walk* w, Column* c) noexcept nogil:
    cdef Py_ssize_t count, i
    cdef Py_ssize_t nbytes = c.nitems * c.width
    cdef const unsigned char* p = w.p + 5
    cdef unsigned char* out
    cdef Outcome outcome = read_count(w, VECTOR, &count)
    w.mismatched_item = -1    # its count
    if outcome == DONE and count != c.nitems:
        outcome = OTHER
    if outcome != DONE:
        return outcome
    if w.end - p < c.nitems:
        return MORE
    if not reserve_data(c, c.used + nbytes):
        return NO_MEMORY
    out = c.data + c.used
    for i in range(c.nitems):
        if p == w.end:
            return MORE
        if p[0] == c.code:
            if w.end - p <= c.width:
                return MORE
            store_fixed(out, p + 1, c.code, c.width)
            p += 1 + c.width
        elif w.widens and widens_to(p[0], c.code):
            if w.end - p < 5:
                return MORE
            store_wider(out, p + 1, c.code)
            p += 5
        else:
            w.mismatched_item = i
            w.mismatched_at = p
            return OTHER
        out += c.width
    c.used += nbytes
    c.n += 1
    w.p = p
    return DONE


cdef Outcome append_tuple(Walk* w, Column* c) noexcept nogil:
    cdef Py_ssize_t count, i
    cdef Outcome outcome = read_count(w, VECTOR, &count)
    if outcome == DONE and count != c.nparts:
        outcome = OTHER
    if outcome != DONE:
        return outcome
    w.p += 5
    for i in range(c.nparts):
        outcome = append_value(w, c.parts[i])
        if outcome != DONE:
            return outcome
    c.n += 1
    return DONE


cdef Outcome append_list(Walk* w, Column* c) noexcept nogil:
    cdef Py_ssize_t count = 0
    cdef Outcome outcome
    if c.code == LIST:
        if w.p[0] != LIST:
            return OTHER
        w.p += 1
        while True:
            if w.p == w.end:
                return MORE
            if w.p[0] == MARKER:
                w.p += 1
                break
            outcome = append_value(w, c.parts[0])
            if outcome != DONE:
                return outcome
    else:
        outcome = read_count(w, VECTOR, &count)
        if outcome != DONE:
            return outcome
        w.p += 5
        for _ in range(count):
            outcome = append_value(w, c.parts[0])
            if outcome != DONE:
                return outcome
    return end_items(w, c)


cdef Outcome append_map(Walk* w, Column* c) noexcept nogil:
    cdef Py_ssize_t count
    cdef Outcome outcome = read_count(w, MAP, &count)
    if outcome != DONE:
        return outcome
    w.p += 5
    for _ in range(count):
        outcome = append_value(w, c.parts[0])
        if outcome == DONE:
            outcome = append_value(w, c.parts[1])
        if outcome != DONE:
            return outcome
    return end_items(w, c)


cdef Outcome end_items(const Walk* w, Column* c) noexcept nogil:
    if c.parts[0].n > w.max_held:
        return COLUMN_FULL
    if not reserve_offsets(c, c.n + 1):
        return NO_MEMORY
    c.n += 1
    c.offsets[c.n] = <int32_t>c.parts[0].n
    return DONE


cdef Outcome resolve_mismatch(Walk* w) noexcept with gil:
    # The cursor is at a value that the column `mismatched` cannot hold. FAILED: an exception is set.
    cdef Builder builder = <Builder>w.builder
    return (<resolve_function>builder.resolve_mismatch)(builder)


# ---- text ---------------------------------------------------------------------------------------------------------------

cdef enum:
    TEXT_PIECE = 4096         # bytes transcoded at a time, into a scratch buffer


cdef bint is_text(const unsigned char* p, Py_ssize_t nbytes) noexcept nogil:
    # Whether the bytes are UTF-8, as decided by the functions that also transcode texts elsewhere.
    cdef unsigned char scratch[4 * TEXT_PIECE + 64]
    cdef unsigned char greatest
    cdef Py_ssize_t piece, nchars
    cdef bint right
    if is_ascii(p, nbytes):
        return True
    while nbytes > 0:
        piece = min(nbytes, TEXT_PIECE)
        while piece < nbytes and piece > TEXT_PIECE - 4 and p[piece] & 0xc0 == 0x80:
            piece -= 1    # do not split a character; four continuation bytes are in none
        nchars = utf8_measure(p, piece, &greatest)
        if greatest < 0xc4:
            right = utf8_to_ucs1(p, piece, scratch, nchars)
        elif greatest < 0xf0:
            right = utf8_to_ucs2(p, piece, scratch, nchars)
        else:
            right = utf8_to_ucs4(p, piece, scratch, nchars)
        if not right:
            return False
        p += piece
        nbytes -= piece
    return True


cdef bint check_text(Column* c) noexcept nogil:
    # Whether all STRINGs held are UTF-8: they are if their concatenation is, and none starts inside a character.
    cdef Py_ssize_t i, start
    if not c.wanted and not c.has_wanted_part:
        return True
    for i in range(c.nparts):
        if not check_text(c.parts[i]):
            return False
    if c.kind != VARIABLE_LENGTH or c.code != STRING or c.checked == c.used:
        return True
    if not is_ascii(c.data + c.checked, c.used - c.checked):
        if not is_text(c.data + c.checked, c.used - c.checked):
            return False
        i = c.n
        while i > 0 and c.offsets[i - 1] >= c.checked:
            i -= 1
            start = c.offsets[i]
            if start < c.used and c.data[start] & 0xc0 == 0x80:
                return False
    c.checked = c.used
    return True
