# The fast path of described classes: values of the fields that most classes have, without the GIL.
#
# Invariant: what does not fit, in the bytes or in the output, is False, and nothing has happened but writes to spare
# memory. read_described() then reads the value again from its start, makes the output grow, and raises what is wrong at
# its offset. So nothing here has a message, a path or a limit.

cdef enum:
    SPARE_NBYTES = 64         # behind `out_end`: the name of a field and a scalar, or the start of a short text
    SCALAR_NBYTES = 32        # the part of SPARE_NBYTES for what follows a name
    SHORT_TEXT_NBYTES = 16
    MAX_SHORT_NBYTES = 1 << 20    # bytes of a value as typed bytes: signals wait for it

cdef struct Storing:
    const unsigned char* p
    const unsigned char* start
    const unsigned char* end
    unsigned char* out
    unsigned char* out_end    # SPARE_NBYTES before the end
    bint hive


cdef Py_ssize_t store_described(const ClassNode* root, bint hive, const unsigned char* p, Py_ssize_t* nbytes,
                                unsigned char* out, Py_ssize_t capacity, Py_ssize_t depth) noexcept nogil:
    # Write a value as typed bytes; return their number, and in `nbytes` the bytes read. 0: nothing was done.
    cdef Storing s
    s.p = s.start = p
    s.end = p + nbytes[0]
    s.out = out
    s.out_end = out + min(capacity, MAX_SHORT_NBYTES) - SPARE_NBYTES
    s.hive = hive
    if capacity < SPARE_NBYTES or not store_value(&s, root, depth):
        return 0
    nbytes[0] = s.p - p
    return s.out - out


cdef inline bint store_value(Storing* s, const ClassNode* node, Py_ssize_t depth) noexcept nogil:
    if unlikely(s.out > s.out_end):
        return False
    return store_scalar(s, node, &s.p, &s.out) if is_scalar_field(node) else store_parts(s, node, depth)


cdef inline bint is_scalar_field(const ClassNode* node) noexcept nogil:
    return node.kind <= DOUBLE_FIELD or node.kind == TEXT_FIELD or node.kind == BYTES_FIELD


cdef inline bint store_scalar(const Storing* s, const ClassNode* node, const unsigned char** p,
                              unsigned char** to) noexcept nogil:
    # The caller has seen to SCALAR_NBYTES of memory.
    cdef unsigned char* out = to[0]
    cdef FieldKind kind = node.kind
    cdef int64_t number = 0
    if kind == TEXT_FIELD or kind == BYTES_FIELD:
        return load_integer(s, node.count, p, &number) \
            and store_payload(s, STRING if kind == TEXT_FIELD else BYTES, number, p, to)
    if kind <= VLONG_FIELD:
        if unlikely(not load_integer(s, kind, p, &number)):
            return False
        if kind == LONG_FIELD or kind == VLONG_FIELD:
            out[0] = LONG
            store_i64(out + 1, number)
            to[0] = out + 9
        elif kind == BYTE_FIELD:
            out[0] = BYTE
            out[1] = <unsigned char>number
            to[0] = out + 2
        else:
            out[0] = INT
            store_i32(out + 1, <int32_t>number)
            to[0] = out + 5
        return True
    if kind == DOUBLE_FIELD:
        if unlikely(s.end - p[0] < 8):
            return False
        out[0] = DOUBLE
        memcpy(out + 1, p[0], 8)
        p[0] += 8
        to[0] = out + 9
    elif kind == FLOAT_FIELD:
        if unlikely(s.end - p[0] < 4):
            return False
        out[0] = FLOAT
        memcpy(out + 1, p[0], 4)
        p[0] += 4
        to[0] = out + 5
    else:
        if unlikely(s.end == p[0]):
            return False
        out[0] = BOOL
        out[1] = p[0][0] != 0
        p[0] += 1
        to[0] = out + 2
    return True


cdef inline bint load_integer(const Storing* s, FieldKind kind, const unsigned char** p,
                              int64_t* number) noexcept nogil:
    cdef const unsigned char* at = p[0]
    cdef Py_ssize_t size
    if kind == VINT_FIELD or kind == VLONG_FIELD:
        if unlikely(at == s.end):
            return False
        size = vint_size(at[0])
        if size == 1:
            number[0] = <signed char>at[0]
        elif unlikely(s.end - at < size):
            return False
        else:
            number[0] = load_long_vint(at)
            if kind == VINT_FIELD and number[0] != <int32_t>number[0]:
                return False
        p[0] = at + size
        return True
    size = FIELD_NBYTES[<int>kind]
    if unlikely(s.end - at < size):
        return False
    number[0] = load_i32(at) if kind == INT_FIELD else load_i64(at) if kind == LONG_FIELD \
        else load_i16(at) if kind == SHORT_FIELD else <signed char>at[0]
    p[0] = at + size
    return True


cdef inline bint load_count(Storing* s, const ClassNode* node, Py_ssize_t min_nbytes, Py_ssize_t* count) noexcept nogil:
    # A count of what takes at least so many bytes each, or one.
    cdef int64_t number = 0
    if not load_integer(s, node.count, &s.p, &number) or number < 0 or number > (s.end - s.p) // max(min_nbytes, 1):
        return False
    count[0] = number
    return True


cdef inline bint store_payload(const Storing* s, int code, int64_t nbytes, const unsigned char** p,
                               unsigned char** to) noexcept nogil:
    cdef unsigned char* out = to[0]
    if unlikely(nbytes < 0 or nbytes > s.end - p[0] or nbytes > s.out_end + SCALAR_NBYTES - out):
        return False
    out[0] = code
    store_i32(out + 1, <int32_t>nbytes)
    if likely(nbytes <= SHORT_TEXT_NBYTES and s.end - p[0] >= SHORT_TEXT_NBYTES):
        memcpy(out + 5, p[0], SHORT_TEXT_NBYTES)
    else:
        copy_short(out + 5, p[0], nbytes)
    p[0] += nbytes
    to[0] = out + 5 + nbytes
    return True


cdef inline bint store_null(Storing* s) noexcept nogil:
    if s.hive:
        s.out[0] = NULL_OF_HIVE[0]
        s.out += 1
    else:
        memcpy(s.out, <const unsigned char*>PICKLED_NONE, PICKLED_NONE_NBYTES)
        s.out += PICKLED_NONE_NBYTES
    return True


cdef bint store_parts(Storing* s, const ClassNode* node, Py_ssize_t depth) noexcept nogil:
    # What is no number and no text. The caller has seen to SCALAR_NBYTES of memory.
    cdef FieldKind kind = node.kind
    cdef const unsigned char* end = s.end
    cdef int64_t number = 0
    cdef Py_ssize_t count = 0
    cdef bint got
    if depth >= MAX_FIELD_DEPTH:
        return False
    if kind == RECORD_FIELD:
        return store_fields(s, node, depth + 1)
    if kind == OPTIONAL_FIELD:
        if s.p == s.end:
            return False
        s.p += 1
        return store_null(s) if (s.p - 1)[0] == 0 else store_value(s, node.items[0], depth + 1)
    if kind == LIST_FIELD:
        return load_count(s, node, node.items[0].min_nbytes, &count) and store_items(s, node, count, LIST, depth + 1)
    if kind == ARRAY_FIELD:
        return store_items(s, node, node.nitems, VECTOR, depth + 1)
    if kind == MAP_FIELD:
        return store_pairs(s, node, depth + 1)
    if kind == STRING_FIELD or kind == STRINGS_FIELD:
        if not load_integer(s, node.count, &s.p, &number):
            return False
        if number == -1:
            return store_null(s)
        if kind == STRING_FIELD:
            return store_payload(s, STRING, number, &s.p, &s.out)
        return 0 <= number <= s.end - s.p and store_items(s, node, number, LIST, depth + 1)
    if kind == UTF_FIELD:
        if s.end - s.p < 2:
            return False
        count = s.p[0] << 8 | s.p[1]
        if count > s.end - s.p - 2 or not is_ascii(s.p + 2, count):
            return False
        s.p += 2
        return store_payload(s, STRING, count, &s.p, &s.out)
    if kind == FIXED_FIELD or kind == REST_FIELD:
        return store_payload(s, BYTES, node.nitems if kind == FIXED_FIELD else s.end - s.p, &s.p, &s.out)
    if kind == NULL_FIELD:
        return store_null(s)
    if kind == ENUM_FIELD or kind == CHOICE_FIELD:
        if not load_integer(s, node.count, &s.p, &number) or not 0 <= number < node.nitems:
            return False
        return store_name(s, &node.names[number], &s.out) if kind == ENUM_FIELD \
            else store_value(s, node.items[number], depth + 1)
    if kind == CONSTANT_FIELD:
        if s.end - s.p < node.nitems or memcmp(s.p, node.constant, node.nitems):
            return False
        s.p += node.nitems
        return True
    if kind == WITHIN_FIELD and load_count(s, node, 1, &count):
        s.end = s.p + count
        got = store_value(s, node.items[0], depth + 1) and s.p == s.end
        s.end = end
        return got
    return False


cdef inline bint store_name(const Storing* s, const ClassText* name, unsigned char** to) noexcept nogil:
    # The caller has seen to SHORT_NAME_NBYTES of memory.
    if likely(name.nbytes <= SHORT_NAME_NBYTES):
        memcpy(to[0], name.p, SHORT_NAME_NBYTES)
    elif name.nbytes > s.out_end - to[0]:
        return False
    else:
        memcpy(to[0], name.p, name.nbytes)
    to[0] += name.nbytes
    return True


cdef bint store_fields(Storing* s, const ClassNode* node, Py_ssize_t depth) noexcept nogil:
    cdef const ClassNode* field
    cdef const unsigned char* p
    cdef unsigned char* out
    cdef Py_ssize_t i
    if not node.is_bare:
        s.out[0] = VECTOR if node.names == NULL else MAP
        store_i32(s.out + 1, <int32_t>node.nshown)
        s.out += 5
    p = s.p
    out = s.out
    for i in range(node.nitems):
        if unlikely(out > s.out_end):
            return False
        field = node.items[i]
        if node.names != NULL and field.kind != CONSTANT_FIELD and unlikely(not store_name(s, &node.names[i], &out)):
            return False
        if is_scalar_field(field):
            if unlikely(not store_scalar(s, field, &p, &out)):
                return False
            continue
        s.p = p
        s.out = out
        if unlikely(not store_parts(s, field, depth)):
            return False
        p = s.p
        out = s.out
    s.p = p
    s.out = out
    return True


cdef bint store_items(Storing* s, const ClassNode* node, Py_ssize_t nitems, int code,
                      Py_ssize_t depth) noexcept nogil:
    cdef const ClassNode* item = node.items[0]
    cdef const unsigned char* p
    cdef unsigned char* out
    if nitems > (s.end - s.p) // max(item.min_nbytes, 1):
        return False
    s.out[0] = code
    s.out += 1
    if code == VECTOR:
        store_i32(s.out, <int32_t>nitems)
        s.out += 4
    p = s.p
    out = s.out
    if is_scalar_field(item):
        for _ in range(nitems):
            if unlikely(out > s.out_end or not store_scalar(s, item, &p, &out)):
                return False
        s.p = p
        s.out = out
    else:
        for _ in range(nitems):
            if unlikely(s.out > s.out_end or not store_parts(s, item, depth)):
                return False
    if s.out > s.out_end:
        return False
    if code == LIST:
        s.out[0] = MARKER
        s.out += 1
    return True


cdef bint store_pairs(Storing* s, const ClassNode* node, Py_ssize_t depth) noexcept nogil:
    cdef Py_ssize_t npairs = 0
    if not load_count(s, node, node.items[0].min_nbytes + node.items[1].min_nbytes, &npairs):
        return False
    s.out[0] = MAP
    store_i32(s.out + 1, <int32_t>npairs)
    s.out += 5
    for _ in range(npairs):
        if unlikely(not store_value(s, node.items[0], depth) or not store_value(s, node.items[1], depth)):
            return False
    return True
