# A single scalar or empty container, the most common messages: decoded and encoded without a Decoding or Encoding of its own.


cdef PyObject* decode_single_scalar(const Decoding* options, const unsigned char* p, Py_ssize_t nbytes, bint is_key) except? NULL:
    cdef int code
    if nbytes < 2 or options.exact or options.max_bytes:
        return NULL
    code = p[0]
    if code == INT:
        return int_object(load_i32(p + 1)) if nbytes == 5 else NULL
    if code == STRING:
        if nbytes < 5 or load_length(p + 1) != nbytes - 5:
            return NULL
        if nbytes - 5 <= CACHED_LENGTH and options.use_string_cache and (is_key or is_cache_useful()):
            return find_string(p + 5, nbytes - 5, is_key)
        return decode_ascii(p + 5, nbytes - 5) if is_ascii(p + 5, nbytes - 5) else NULL
    if code == LONG:
        return int_object(load_i64(p + 1)) if nbytes == 9 else NULL
    if code == DOUBLE:
        return PyFloat_FromDouble(load_f64(p + 1)) if nbytes == 9 else NULL
    if code == BOOL:
        return decode_bool(p + 1) if nbytes == 2 else NULL
    if code == BYTE:
        return decode_byte(p + 1) if nbytes == 2 else NULL
    if code == BYTES and nbytes >= 5 and load_length(p + 1) == nbytes - 5:
        return decode_bytes(p + 5, nbytes - 5)
    return decode_single_empty(options, p, nbytes)


cdef PyObject* decode_single_empty(const Decoding* options, const unsigned char* p, Py_ssize_t nbytes) except? NULL:
    cdef int code = p[0]
    if code == PICKLE and nbytes == 9 and options.pickle != RAW and is_pickled_none(p):
        incref(Py_None)
        return Py_None
    if options.max_depth == 0:
        return NULL
    if code == LIST and nbytes == 2 and p[1] == MARKER:
        return list_from_stolen(NULL, 0)
    if code == VECTOR and nbytes == 5 and load_length(p + 1) == 0:
        return tuple_from_stolen(NULL, 0)
    if code == MAP and nbytes == 5 and load_length(p + 1) == 0 and not options.map_pairs:
        return PyDict_New()
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


cdef PyObject* encode_single_empty(const Encoding* options, PyObject* obj) except? NULL:
    # Of a tuple, list or dict; NULL without an exception: it is not empty.
    cdef PyTypeObject* kind = Py_TYPE(obj)
    cdef PyObject* result
    cdef unsigned char* p
    if options.max_depth == 0:
        return NULL
    if kind == &PyList_Type:
        if PyList_GET_SIZE(obj):
            return NULL
        result = new_filled_bytes(2)
        p = <unsigned char*>bytes_data(result)
        p[0] = LIST
        p[1] = MARKER
        return result
    if kind == &PyTuple_Type:
        return NULL if PyTuple_GET_SIZE(obj) else single_payload(VECTOR, NULL, 0)
    return NULL if PyDict_GET_SIZE(obj) else single_payload(MAP, NULL, 0)
