# Cells in Hive's binary serialization (LazyBinaryColumnarSerDe) as typed bytes. A cell without bytes is null, and the
# byte bf an empty text. In a cell, what has a variable length starts with it: texts with a vint, parts of parts with an
# i32. Bits before the values say which of them are not null.

cdef const unsigned char* append_binary_cell(RowGroups g, HiveType t, const unsigned char* p, const unsigned char* end,
                                             bint is_whole) except NULL:
    # Returns the end of the value. is_whole: it is a cell, of which it takes all bytes.
    cdef WriteBuffer* out = &g.typed
    cdef int64_t number
    if t.kind == HIVE_TEXT or t.kind == HIVE_BYTES:
        if not is_whole:
            number = read_vint(g, &p, end)
            require_size(g, p, end, number)
            end = p + number
        elif t.kind == HIVE_TEXT and end - p == 1 and p[0] == EMPTY_TEXT:
            p = end
        g.append_payload(t.code, p, end - p)
        return end
    if t.kind == HIVE_INTEGER or t.kind == HIVE_DATE:
        if t.code == BYTE or t.code == SHORT:
            require_size(g, p, end, 1 if t.code == BYTE else 2)
            number = <signed char>p[0] if t.code == BYTE else load_i16(p)
            p += 1 if t.code == BYTE else 2
        else:
            number = read_vint(g, &p, end)
            if t.code == INT and not INT32_MIN <= number <= INT32_MAX:
                raise g.cell_error(f"{number} does not fit in an int")
        append_integer(out, t.code, number)
        return p
    if t.kind == HIVE_REAL:
        require_size(g, p, end, 4 if t.code == FLOAT else 8)
        append_real(out, t.code, load_f32(p) if t.code == FLOAT else load_f64(p))
        return p + (4 if t.code == FLOAT else 8)
    if t.kind == HIVE_BOOL:
        require_size(g, p, end, 1)
        append_bool(out, p[0] != 0)
        return p + 1
    if t.kind == HIVE_TIMESTAMP:
        return append_binary_timestamp(g, t, p, end)
    if t.kind == HIVE_DECIMAL:
        return append_binary_decimal(g, t, p, end)
    if not is_whole:
        require_size(g, p, end, 4)
        number = load_i32(p)
        p += 4
        require_size(g, p, end, number)
        end = p + number
    p = append_binary_fields(g, t, p, end) if t.kind == HIVE_STRUCT else append_binary_parts(g, t, p, end)
    if p != end and not is_whole:
        raise g.cell_error(f"{end - p} bytes after the parts of a value")
    return p

cdef enum:
    EMPTY_TEXT = 0xbf


cdef inline int require_size(RowGroups g, const unsigned char* p, const unsigned char* end, int64_t nbytes) except -1:
    if unlikely(not 0 <= nbytes <= end - p):
        raise g.cell_error(f"expected a value of {nbytes} bytes, found {end - p}")
    return 0


cdef inline int64_t read_vint(RowGroups g, const unsigned char** p, const unsigned char* end) except? -1:
    cdef int64_t number
    require_size(g, p[0], end, 1)
    require_size(g, p[0], end, vint_size(p[0][0]))
    number = load_vint(p[0])
    p[0] += vint_size(p[0][0])
    return number


cdef const unsigned char* append_binary_timestamp(RowGroups g, HiveType t, const unsigned char* p,
                                                  const unsigned char* end) except NULL:
    # 31 bits of the seconds, and a flag: the digits of the fraction follow, in the reverse order, as a vint. Its
    # complement means that the other bits of the seconds follow.
    cdef int64_t seconds, reversed_digits, more
    cdef int64_t fraction = 0
    cdef int ndigits = 0
    require_size(g, p, end, 4)
    seconds = load_i32(p)
    p += 4
    if seconds < 0:
        seconds &= 0x7fffffff
        reversed_digits = read_vint(g, &p, end)
        if reversed_digits < 0:
            reversed_digits = ~reversed_digits
            more = read_vint(g, &p, end)
            if not -MAX_HIVE_SECONDS >> 31 <= more <= MAX_HIVE_SECONDS >> 31:
                raise g.cell_error("a timestamp beyond the years that a column holds")
            seconds += more * (<int64_t>1 << 31)
        while reversed_digits and ndigits < 10:
            fraction = 10 * fraction + reversed_digits % 10
            reversed_digits //= 10
            ndigits += 1
        for _ in range(9 - ndigits):
            fraction *= 10
        if fraction >= 1_000_000_000:
            raise g.cell_error(f"a timestamp with {fraction} nanoseconds")
    g.append_timestamp(t, seconds, <int>fraction)
    return p

cdef int64_t MAX_HIVE_SECONDS = 400_000_000_000    # 9999 years, and what fits in 64 bits as microseconds


cdef const unsigned char* append_binary_decimal(RowGroups g, HiveType t, const unsigned char* p,
                                                const unsigned char* end) except NULL:
    cdef HiveNumber x
    cdef int64_t nbytes
    x.ndecimals = read_vint(g, &p, end)
    nbytes = read_vint(g, &p, end)
    require_size(g, p, end, nbytes)
    if nbytes > MAX_UNSCALED_NBYTES or not -MAX_EXPONENT <= x.ndecimals <= MAX_EXPONENT:
        raise g.cell_error(f"a decimal of {nbytes} bytes with {x.ndecimals} decimals")
    read_unscaled(&x, p, nbytes)
    if not append_decimal(&g.typed, t, &x):
        g.append_null()
    return p + nbytes


cdef const unsigned char* append_binary_fields(RowGroups g, HiveType t, const unsigned char* p,
                                               const unsigned char* end) except NULL:
    cdef Py_ssize_t n = len(t.parts)
    cdef Py_ssize_t i
    cdef int bits = 0
    cdef HiveType part
    g.append_count(t.code, n)
    for i in range(n):
        if i % 8 == 0:
            bits = p[0] if p != end else 0    # the last fields may be missing
            p += p != end
        part = <HiveType>t.parts[i]
        g.append_name(t, i)
        if bits >> i % 8 & 1:
            p = append_binary_cell(g, part, p, end, False)
        else:
            g.append_null()
    return p


cdef const unsigned char* append_binary_parts(RowGroups g, HiveType t, const unsigned char* p,
                                              const unsigned char* end) except NULL:
    cdef Py_ssize_t start = written(&g.typed)
    cdef int per_value = 2 if t.kind == HIVE_MAP else 1
    cdef int64_t count = read_vint(g, &p, end)
    cdef const unsigned char* bits = p
    cdef Py_ssize_t i
    cdef Py_ssize_t before = 0
    cdef Py_ssize_t nparts = 0
    cdef bint has_value
    if not 0 <= count <= 8 * (end - p) or (count * per_value + 7) // 8 > end - p:
        raise g.cell_error(f"a count of {count} in a value with {end - p} bytes left")
    p += (count * per_value + 7) // 8
    g.append_count(t.code, 0)
    if t.code == LIST:
        g.typed.cursor -= 4
    for i in range(count * per_value):
        has_value = bits[i // 8] >> i % 8 & 1
        if per_value == 2 and i % 2 == 0:
            before = written(&g.typed)
        if has_value:
            p = append_binary_cell(g, <HiveType>t.parts[i % per_value], p, end, False)
        else:
            g.append_null()
        if per_value == 2 and i % 2 == 1 and g.is_null_at(before):    # as in text
            g.typed.cursor = g.typed.start + before
        elif per_value == 1 or i % 2 == 1:
            nparts += 1
        g.check_size()
        if not (i + 1) & SIGNAL_MASK:
            PyErr_CheckSignals()
    g.end_parts(t, start, nparts)
    return p
