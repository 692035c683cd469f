# BYTES, and what every value with a length in bytes has in common.

cdef enum:
    LARGE_BYTES_NBYTES = 65536    # from here on a BYTES value is read from a stream straight into its object

# Load a length or count; the caller checks that it is not negative before it moves the cursor.
cdef inline Py_ssize_t load_length(const unsigned char* p) noexcept nogil:
    return load_i32(p)


# wire    0 BYTES: i32 length, that many bytes.
# python  bytes; bytearray, memoryview and array.array are written as their bytes and come back as bytes.
# errors  FormatError at the type code: negative length. EncodeValueError: more than 2^31-1 bytes.
# source  Hadoop TypedBytesOutput.writeBytes; vectors bytes_*.

cdef inline PyObject* decode_bytes(const unsigned char* p, Py_ssize_t nbytes) except NULL:
    cdef PyObject* result
    if nbytes < 2:    # so short ones are shared
        return new_bytes(<const char*>p, nbytes)
    result = new_uninitialized_bytes(nbytes)
    copy_short(bytes_data(result), p, nbytes)
    return result


cdef PyObject* read_large_bytes(Decoding* d, Py_ssize_t nbytes) except NULL:
    # The cursor is after the length. The object grows with the bytes that arrive, to twice their number at most.
    cdef PyObject* result = NULL
    cdef Py_ssize_t have = min(held(&d.buf), nbytes)
    cdef Py_ssize_t capacity = min(nbytes, max(2 * have, 16 * LARGE_BYTES_NBYTES))
    cdef Py_ssize_t got
    result = new_bytes(NULL, capacity)
    try:
        memcpy(bytes_data(result), d.buf.cursor, have)
        d.buf.cursor += have
        while have < nbytes:
            if have == capacity:
                capacity = min(nbytes, 2 * capacity)
                bytes_resize(&result, capacity)
            got = fill_with_collector(d, <unsigned char*>bytes_data(result) + have, capacity - have)
            if got == 0:
                raise_truncated(d, nbytes - have, BYTES)
            have += got
            d.buf.start_offset += got    # they did not go through the buffer
        return result
    except:
        Py_XDECREF(result)
        raise


cdef Py_ssize_t fill_with_collector(Decoding* d, unsigned char* target, Py_ssize_t capacity) except -1:
    cdef bint paused = resume_if_paused(d)
    cdef Py_ssize_t got = d.buf.fill(d.buf.source, target, capacity)
    d.paused = paused and pause_collector()
    return got


cdef inline int encode_head(Encoding* e, int code, Py_ssize_t length) except -1:
    # Reserve `length` bytes after the head.
    if unlikely(length > MAX_LENGTH):
        return raise_too_long(e, code, length)
    reserve(&e.buf, 5 + length)
    e.buf.cursor[0] = <unsigned char>code
    store_i32(e.buf.cursor + 1, <int32_t>length)
    e.buf.cursor += 5
    return 0


cdef inline int encode_payload(Encoding* e, int code, const void* data, Py_ssize_t nbytes) except -1:
    encode_head(e, code, nbytes)
    copy_short(e.buf.cursor, data, nbytes)
    e.buf.cursor += nbytes
    return 0


cdef inline int encode_bytes(Encoding* e, PyObject* obj) except -1:
    return encode_payload(e, BYTES, bytes_data(obj), bytes_size(obj))


cdef inline bint is_one_block(Py_buffer* view) noexcept:
    # A view of nothing may have strides that it refuses to call contiguous.
    if view.ndim == 1 and view.strides[0] == view.itemsize and view.suboffsets == NULL:
        return view.len > 0
    return view.len > 0 and PyBuffer_IsContiguous(view, c"C")


cdef int encode_buffer(Encoding* e, object obj) except -1:
    cdef Py_buffer view
    cdef Py_buffer* found
    if type(obj) is memoryview:
        found = PyMemoryView_GET_BUFFER(obj)
        if not is_one_block(found):
            obj = obj.tobytes()
        elif is_open_view(obj):
            return encode_payload(e, BYTES, found.buf, found.len)    # asking for the buffer takes as long
    PyObject_GetBuffer(obj, &view, PyBUF_CONTIG_RO)
    try:
        return encode_payload(e, BYTES, view.buf, view.len)
    finally:
        PyBuffer_Release(&view)
