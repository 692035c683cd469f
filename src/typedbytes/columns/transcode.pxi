# STRINGs in another encoding than UTF-8, or not quite in UTF-8: they become UTF-8 when a batch is finished.

# where escapes give other meanings to the bytes of ASCII
STATEFUL = ("iso2022", "hz", "utf-7", "unicode_escape", "unicode-escape", "raw_unicode_escape", "raw-unicode-escape")


cdef class TextEncoding:
    # How the STRINGs of an input are encoded, and what becomes of bytes that are not.
    cdef bytes name
    cdef bytes errors
    cdef bint extends_ascii       # text in ASCII is the same in it
    cdef str fault                # what is wrong with the value at which transcode() ended

    def __cinit__(self, str name, str errors):
        self.name = name.encode("ascii")
        self.errors = errors.encode("ascii")
        ascii_bytes = bytes(range(128))
        try:
            self.extends_ascii = not name.startswith(STATEFUL) \
                and ascii_bytes.decode(name) == ascii_bytes.decode("ascii")
        except UnicodeError:
            self.extends_ascii = False


cdef Py_ssize_t transcode(Column* c, Py_ssize_t n, TextEncoding text, list found) except -2:
    # Append (address, UTF-8, offsets) of each column of STRINGs to a list, for the first n values. Returns the number
    # of the value of `c` that cannot be decoded, -1 if all can.
    cdef Py_ssize_t i, item
    if n == 0 or not is_kept(c):    # without values there may be no offsets either
        return -1
    for i in range(c.nchildren):
        item = transcode(c.children[i], c.offsets[n] if has_offsets(c) else n, text, found)
        if item >= 0:
            return value_with_item(c, item)
    if c.kind != VARIABLE_LENGTH or c.code != STRING or (text.extends_ascii and is_ascii(c.data, c.used)):
        return -1
    return transcode_values(c, n, text, found)


cdef Py_ssize_t value_with_item(const Column* c, Py_ssize_t item) noexcept nogil:
    cdef Py_ssize_t i = 0
    if not has_offsets(c):
        return item
    while c.offsets[i + 1] <= item:
        i += 1
    return i


cdef Py_ssize_t transcode_values(Column* c, Py_ssize_t n, TextEncoding text, list found) except -2:
    cdef Py_ssize_t i, nbytes
    cdef const unsigned char* p
    cdef list parts = []
    cdef bytes part
    cdef int64_t total = 0
    cdef bytearray offsets = bytearray(sizeof(int32_t) * (n + 1))
    cdef int32_t* ends = <int32_t*>PyByteArray_AS_STRING(offsets)
    for i in range(n):
        p = c.data + c.offsets[i]
        nbytes = c.offsets[i + 1] - c.offsets[i]
        if text.extends_ascii and is_ascii(p, nbytes):
            part = <bytes>p[:nbytes]
        else:
            try:
                part = PyUnicode_Decode(<const char*>p, nbytes, text.name, text.errors).encode("utf-8")
            except UnicodeError as error:
                text.fault = f"{getattr(error, 'reason', error)} at its byte {getattr(error, 'start', 0)}"
                return i
        parts.append(part)
        total += len(part)
        if total > INT32_MAX:
            raise column_limit_error(INT32_MAX)
        ends[i + 1] = <int32_t>total
    found.append((<Py_ssize_t>c, b"".join(parts), offsets))
    return -1


cdef int reserve_transcoded(list found) except -1:
    # For the data of each column; afterwards store_transcoded cannot fail.
    for address, data, _ in found:
        if not reserve_data(<Column*><Py_ssize_t>address, len(data)):
            raise MemoryError
    return 0


cdef int store_transcoded(list found) except -1:
    cdef Column* c
    for address, data, offsets in found:
        c = <Column*><Py_ssize_t>address
        memcpy(c.data, PyBytes_AS_STRING(data), len(data))
        memcpy(c.offsets, PyByteArray_AS_STRING(offsets), len(offsets))
        c.used = c.checked = len(data)
    return 0
