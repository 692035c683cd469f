# Cells in Hive's text serialization (ColumnarSerDe) as typed bytes. Separators are bytes 1 to 8, one for each level,
# of which a column's parts have the second, and those of a MAP two: between pairs, and after the key.

cdef int append_text_cell(RowGroups g, HiveType t, const unsigned char* p, const unsigned char* end,
                          unsigned char separator) except -1:
    cdef WriteBuffer* out = &g.typed
    cdef Py_ssize_t nbytes = end - p
    cdef int64_t number = 0
    cdef int nanoseconds = 0
    cdef double real = 0
    cdef HiveNumber x
    if nbytes == 2 and p[0] == b"\\" and p[1] == b"N":
        return g.append_null()
    if t.kind == HIVE_TEXT:
        return g.append_payload(STRING, p, nbytes)
    if t.kind == HIVE_INTEGER:
        if not parse_integer(p, end, &number) or not t.lowest <= number <= t.highest:
            return g.append_null()
        return append_integer(out, t.code, number)
    if t.kind == HIVE_REAL:
        return append_real(out, t.code, real) if parse_real(p, end, &real) else g.append_null()
    if t.kind == HIVE_BOOL:
        if (nbytes == 4 and is_word(p, b"true", 4)) or (nbytes == 5 and is_word(p, b"false", 5)):
            return append_bool(out, nbytes == 4)
        return g.append_null()
    if t.kind == HIVE_DATE:
        return append_integer(out, INT, number) if parse_date(p, end, &number) else g.append_null()
    if t.kind == HIVE_TIMESTAMP:
        if parse_timestamp(p, end, &number, &nanoseconds):
            return g.append_timestamp(t, number, nanoseconds)
        return g.append_null()
    if t.kind == HIVE_DECIMAL:
        return scan_number(p, end, &x) and append_decimal(out, t, &x) or g.append_null()
    if t.kind == HIVE_BYTES:
        return append_base64(g, p, end)
    return append_text_parts(g, t, p, end, separator)


cdef bint is_word(const unsigned char* p, const unsigned char* word, int nbytes) noexcept nogil:
    cdef int i
    for i in range(nbytes):
        if p[i] | 0x20 != word[i]:
            return False
    return True


cdef int append_text_parts(RowGroups g, HiveType t, const unsigned char* p, const unsigned char* end,
                           unsigned char separator) except -1:
    cdef WriteBuffer* out = &g.typed
    cdef Py_ssize_t start = written(out)
    cdef Py_ssize_t nparts = 0
    cdef Py_ssize_t nfound = 0
    cdef const unsigned char* part_end
    cdef HiveType part
    if t.kind == HIVE_STRUCT:
        g.append_count(t.code, len(t.parts))
        for part in t.parts:
            g.append_name(t, nparts)
            nparts += 1
            if p == NULL:    # the last ones may be missing
                g.append_null()
                continue
            part_end = end_of_part(p, end, separator)
            append_text_cell(g, part, p, part_end, separator + 1)
            p = part_end + 1 if part_end != end else NULL
        return 0
    g.append_count(t.code, 0)
    if t.code == LIST:
        out.cursor -= 4
    if p == end:
        p = NULL
    while p != NULL:
        part_end = end_of_part(p, end, separator)
        nparts += append_text_pair(g, t, p, part_end, separator + 1) if t.kind == HIVE_MAP \
            else append_text_item(g, t, p, part_end, separator + 1)
        p = part_end + 1 if part_end != end else NULL
        g.check_size()
        nfound += 1
        if not nfound & SIGNAL_MASK:
            PyErr_CheckSignals()
    return g.end_parts(t, start, nparts)


cdef inline const unsigned char* end_of_part(const unsigned char* p, const unsigned char* end,
                                             unsigned char separator) noexcept nogil:
    cdef const unsigned char* found = <const unsigned char*>memchr(p, separator, end - p) if p != end else NULL
    return end if found == NULL else found


cdef int append_text_item(RowGroups g, HiveType t, const unsigned char* p, const unsigned char* end,
                          unsigned char separator) except -1:
    append_text_cell(g, <HiveType>t.parts[0], p, end, separator)
    return 1


cdef int append_text_pair(RowGroups g, HiveType t, const unsigned char* p, const unsigned char* end,
                          unsigned char separator) except -1:
    # Returns the number of pairs: Hive drops those whose key is null.
    cdef const unsigned char* key_end = end_of_part(p, end, separator)
    cdef Py_ssize_t start = written(&g.typed)
    append_text_cell(g, <HiveType>t.parts[0], p, key_end, separator + 1)
    if g.is_null_at(start):
        g.typed.cursor = g.typed.start + start
        return 0
    if key_end == end:
        g.append_null()
    else:
        append_text_cell(g, <HiveType>t.parts[1], key_end + 1, end, separator + 1)
    return 1


cdef int append_base64(RowGroups g, const unsigned char* p, const unsigned char* end) except -1:
    # As LazyBinary: bytes that are not base64, of any of its alphabets and with spaces, are as they are.
    cdef WriteBuffer* out = &g.typed
    cdef const unsigned char* at = p
    cdef unsigned char* to
    cdef unsigned int bits = 0
    cdef int nbits = 0
    cdef int sextet
    cdef bint has_ended = False
    reserve(out, 5 + (end - p))
    to = out.cursor + 5
    while at != end:
        sextet = base64_value(at[0])
        if sextet < 0:
            return g.append_payload(BYTES, p, end - p)
        at += 1
        has_ended |= sextet == PAD
        if sextet > 63 or has_ended:
            continue
        bits = bits << 6 | sextet
        nbits += 6
        if nbits >= 8:
            nbits -= 8
            to[0] = <unsigned char>(bits >> nbits)
            to += 1
    if to == out.cursor + 5:
        return g.append_payload(BYTES, p, end - p)
    out.cursor[0] = BYTES
    store_i32(out.cursor + 1, <int32_t>(to - out.cursor - 5))
    out.cursor = to
    return 0

cdef enum:
    PAD = 64
    SPACE = 65


cdef inline int base64_value(unsigned char c) noexcept nogil:
    if <unsigned char>(c - 65) <= 25:
        return c - 65
    if <unsigned char>(c - 97) <= 25:
        return c - 71
    if is_digit(c):
        return c + 4
    if c == b"+" or c == b"-":
        return 62
    if c == b"/" or c == b"_":
        return 63
    if c == b"=":
        return PAD
    return SPACE if c == 32 or c == 10 or c == 13 or c == 9 else -1
