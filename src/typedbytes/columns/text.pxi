# Whether the values of a column are valid: checked for many at once.

cdef enum:
    TEXT_PIECE = 4096         # bytes transcoded at a time, into a scratch buffer


cdef bint is_text(const unsigned char* p, Py_ssize_t nbytes) noexcept nogil:
    # Whether the bytes are UTF-8, by the same functions as for decoding to str.
    cdef unsigned char scratch[4 * TEXT_PIECE + 64]
    cdef unsigned char greatest
    cdef Py_ssize_t piece, nchars
    cdef bint is_valid
    if is_ascii(p, nbytes):
        return True
    while nbytes > 0:
        piece = min(nbytes, TEXT_PIECE)
        while piece < nbytes and piece > TEXT_PIECE - 4 and p[piece] & 0xc0 == 0x80:
            piece -= 1    # do not split a character; no character has four continuation bytes, so stop after four
        nchars = utf8_measure(p, piece, &greatest)
        if greatest < 0xc4:
            is_valid = utf8_to_ucs1(p, piece, scratch, nchars)
        elif greatest < 0xf0:
            is_valid = utf8_to_ucs2(p, piece, scratch, nchars)
        else:
            is_valid = utf8_to_ucs4(p, piece, scratch, nchars)
        if not is_valid:
            return False
        p += piece
        nbytes -= piece
    return True


cdef bint check_values(Column* c, bint is_utf8) noexcept nogil:
    # Whether all times of day held are within a day, and all STRINGs UTF-8 where they have to be.
    # STRINGs are if their concatenation is, and none starts inside a character.
    cdef Py_ssize_t i, start
    if not is_kept(c):
        return True
    for i in range(c.nchildren):
        if not check_values(c.children[i], is_utf8):
            return False
    if c.meaning == TIME and c.checked != c.used:
        return check_times(c)
    if not is_utf8 or c.kind != VARIABLE_LENGTH or c.code != STRING or c.checked == c.used:
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
