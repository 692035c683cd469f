# A single scalar, the most common message: decoded and encoded without a Decoding or Encoding of its own.


cdef PyObject* decode_single_scalar(const Decoding* options, const unsigned char* p, Py_ssize_t nbytes, bint is_key) except? NULL:
    if nbytes < 2 or options.exact or options.max_bytes:
        return NULL
    if nbytes == 2:
        return decode_bool(p + 1) if p[0] == BOOL else decode_byte(p + 1) if p[0] == BYTE else NULL
    if nbytes == 5 and p[0] == INT:
        return int_object(load_i32(p + 1))
    if nbytes == 9 and p[0] == DOUBLE:
        return PyFloat_FromDouble(load_f64(p + 1))
    if nbytes == 9 and p[0] == LONG:
        return int_object(load_i64(p + 1))
    if nbytes >= 5 and load_length(p + 1) == nbytes - 5:
        if p[0] == BYTES:
            return decode_bytes(p + 5, nbytes - 5)
        if p[0] == STRING:
            if nbytes - 5 <= CACHED_LENGTH and options.use_string_cache and (is_key or is_cache_useful()):
                return find_string(p + 5, nbytes - 5, is_key)
            if is_ascii(p + 5, nbytes - 5):
                return decode_ascii(p + 5, nbytes - 5)
    return NULL


cdef PyObject* encode_single_scalar(const Encoding* options, PyObject* obj) except? NULL:
    cdef PyTypeObject* kind = Py_TYPE(obj)
    cdef PyObject* result
    cdef int64_t number
    if kind == &PyLong_Type and options.int_width == 0 and int_to_i64(obj, &number):
        result = new_filled_bytes(5 if number == <int32_t>number else 9)
        store_int(<unsigned char*>bytes_data(result), number)
        return result
    if kind == &PyUnicode_Type and PyUnicode_IS_COMPACT_ASCII(obj):
        return single_payload(STRING, PyUnicode_DATA(obj), PyUnicode_GET_LENGTH(obj))
    if kind == &PyFloat_Type:
        result = new_filled_bytes(9)
        store_double(<unsigned char*>bytes_data(result), obj)
        return result
    if kind == &PyBool_Type:
        result = new_filled_bytes(2)
        store_bool(<unsigned char*>bytes_data(result), obj)
        return result
    if kind == &PyBytes_Type:
        return single_payload(BYTES, bytes_data(obj), bytes_size(obj))
    return NULL


cdef inline PyObject* single_payload(int code, const void* data, Py_ssize_t nbytes) except? NULL:
    cdef PyObject* result
    cdef unsigned char* p
    if nbytes > MAX_LENGTH:
        return NULL
    result = new_filled_bytes(5 + nbytes)
    p = <unsigned char*>bytes_data(result)
    p[0] = <unsigned char>code
    store_i32(p + 1, <int32_t>nbytes)
    copy_short(p + 5, data, nbytes)
    return result
