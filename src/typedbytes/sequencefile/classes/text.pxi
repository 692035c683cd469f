# The text of DataOutput.writeUTF: a u16 count of bytes, and UTF-8 in which NUL has two bytes and each half of a
# surrogate pair three. It becomes UTF-8, and the reverse.

cdef int read_utf(ClassReading* r, const ClassNode* node) except -1:
    cdef Py_ssize_t nbytes, n
    require_bytes(r, node, 2)
    nbytes = r.p[0] << 8 | r.p[1]
    if r.end - r.p - 2 < nbytes:
        r.p += 2
        return raise_short(r, node, nbytes)
    r.p += 2
    if is_ascii(r.p, nbytes):
        return append_payload(r, STRING, nbytes)
    reserve(r.out, 5 + nbytes)    # never more than this
    n = utf8_from_java(r.out.cursor + 5, r.p, nbytes)
    if n < 0:
        raise class_error(r, FormatError, "text is not modified UTF-8, or has half of a surrogate pair", r.p + ~n)
    r.out.cursor[0] = STRING
    store_i32(r.out.cursor + 1, <int32_t>n)
    r.out.cursor += 5 + n
    r.p += nbytes
    return 0


cdef inline int unit_at(const unsigned char* p, Py_ssize_t nbytes, Py_ssize_t* size) noexcept nogil:
    # The UTF-16 unit at p, and its size; -1: there is none.
    cdef int unit
    if p[0] < 0x80:
        size[0] = 1
        return p[0]
    if p[0] & 0xe0 == 0xc0 and nbytes >= 2 and p[1] & 0xc0 == 0x80:
        size[0] = 2
        unit = (p[0] & 0x1f) << 6 | p[1] & 0x3f
        return unit if unit >= 0x80 or unit == 0 else -1
    if p[0] & 0xf0 == 0xe0 and nbytes >= 3 and p[1] & 0xc0 == 0x80 and p[2] & 0xc0 == 0x80:
        size[0] = 3
        unit = (p[0] & 0x0f) << 12 | (p[1] & 0x3f) << 6 | p[2] & 0x3f
        return unit if unit >= 0x800 else -1
    return -1


cdef inline unsigned char* put_character(unsigned char* out, unsigned int c) noexcept nogil:
    if c < 0x80:
        out[0] = <unsigned char>c
        return out + 1
    if c < 0x800:
        out[0] = <unsigned char>(0xc0 | c >> 6)
        out[1] = <unsigned char>(0x80 | c & 0x3f)
        return out + 2
    if c < 0x10000:
        out[0] = <unsigned char>(0xe0 | c >> 12)
        out[1] = <unsigned char>(0x80 | c >> 6 & 0x3f)
        out[2] = <unsigned char>(0x80 | c & 0x3f)
        return out + 3
    out[0] = <unsigned char>(0xf0 | c >> 18)
    out[1] = <unsigned char>(0x80 | c >> 12 & 0x3f)
    out[2] = <unsigned char>(0x80 | c >> 6 & 0x3f)
    out[3] = <unsigned char>(0x80 | c & 0x3f)
    return out + 4


cdef Py_ssize_t utf8_from_java(unsigned char* out, const unsigned char* p, Py_ssize_t nbytes) noexcept nogil:
    # The bytes written, nbytes at most; ~offset: of what is wrong.
    cdef unsigned char* start = out
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t size = 0
    cdef Py_ssize_t next_size = 0
    cdef int unit, low
    while i < nbytes:
        unit = unit_at(p + i, nbytes - i, &size)
        if unit < 0 or 0xdc00 <= unit <= 0xdfff:
            return ~i
        if 0xd800 <= unit <= 0xdbff:
            low = unit_at(p + i + size, nbytes - i - size, &next_size) if i + size < nbytes else -1
            if not 0xdc00 <= low <= 0xdfff:
                return ~i
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
            i += next_size
        i += size
        out = put_character(out, unit)
    return out - start


cdef int read_char(ClassReading* r, const ClassNode* node) except -1:
    # A UTF-16 unit as text of one character.
    cdef unsigned int unit
    cdef unsigned char* end
    require_bytes(r, node, 2)
    unit = r.p[0] << 8 | r.p[1]
    if 0xd800 <= unit <= 0xdfff:
        raise class_error(r, FormatError, "a char that is half of a surrogate pair", r.p)
    reserve(r.out, 8)
    end = put_character(r.out.cursor + 5, unit)
    r.out.cursor[0] = STRING
    store_i32(r.out.cursor + 1, <int32_t>(end - r.out.cursor - 5))
    r.out.cursor = end
    r.p += 2
    return 0


cdef Py_ssize_t java_from_utf8(unsigned char* out, const unsigned char* p, Py_ssize_t nbytes) noexcept nogil:
    # The bytes written, 2 * nbytes at most. The text is UTF-8, perhaps with halves of surrogate pairs, which stay.
    cdef unsigned char* start = out
    cdef Py_ssize_t i = 0
    cdef unsigned int c
    while i < nbytes:
        if p[i] == 0:
            out[0] = 0xc0
            out[1] = 0x80
            out += 2
            i += 1
        elif p[i] < 0xf0 or nbytes - i < 4:
            out[0] = p[i]
            out += 1
            i += 1
        else:
            c = ((p[i] & 7) << 18 | (p[i + 1] & 0x3f) << 12 | (p[i + 2] & 0x3f) << 6 | p[i + 3] & 0x3f) - 0x10000
            out = put_character(put_character(out, 0xd800 + (c >> 10)), 0xdc00 + (c & 0x3ff))
            i += 4
    return out - start
