# A value that is one scalar or one small container, as most are: encoded and decoded without an Encoding or Decoding of
# its own. Each function returns a new reference, or NULL without an exception: the general path takes the value, or
# reports what is wrong with it.


cdef PyObject* decode_single_scalar(const Decoding* options, const unsigned char* p, Py_ssize_t nbytes,
                                    bint is_key) except? NULL:
    cdef int code
    if nbytes < 2 or options.exact or options.governed:
        return NULL
    code = p[0]
    if code == INT:
        return int_object(load_i32(p + 1)) if nbytes == 5 else NULL
    if code == STRING:
        if nbytes < 5 or load_length(p + 1) != nbytes - 5:
            return NULL
        if nbytes - 5 <= CACHED_LENGTH and options.use_string_cache and (is_key or should_look_up(&STRING_BALANCE)):
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
    return decode_single_other(options, p, nbytes)


cdef PyObject* decode_single_other(const Decoding* options, const unsigned char* p, Py_ssize_t nbytes) except? NULL:
    # None, a wide int, or an empty container.
    cdef int code = p[0]
    if code == PICKLE and nbytes >= 9 and options.pickle != RAW and load_length(p + 1) == nbytes - 5:
        return recognise_none_or_int(p + 5, nbytes - 5)
    if options.max_depth == 0:
        return NULL
    if code == LIST and nbytes == 2 and p[1] == MARKER:
        return list_from_stolen(NULL, 0)
    if code == VECTOR and nbytes == 5 and load_length(p + 1) == 0:
        return tuple_from_stolen(NULL, 0)
    if code == MAP and nbytes == 5 and load_length(p + 1) == 0 and not options.map_pairs:
        return PyDict_New()
    return NULL


cdef PyObject* bytes_of_scalar(const Encoding* options, PyObject* obj) except? NULL:
    cdef PyTypeObject* kind = Py_TYPE(obj)
    cdef PyObject* result
    cdef int64_t number
    if kind == &PyLong_Type and options.int_width == 0:
        if unlikely(not int_to_i64(obj, &number)):
            return bytes_of_wide_int(options, obj)
        result = new_uninitialized_bytes(5 if number == <int32_t>number else 9)
        store_int(<unsigned char*>bytes_data(result), number)
        return result
    if kind == &PyUnicode_Type and PyUnicode_IS_COMPACT_ASCII(obj):
        return single_payload(STRING, ascii_data(obj), PyUnicode_GET_LENGTH(obj))
    if kind == &PyFloat_Type:
        result = new_uninitialized_bytes(9)
        store_double(<unsigned char*>bytes_data(result), obj)
        return result
    if kind == &PyBool_Type:
        result = new_uninitialized_bytes(2)
        store_bool(<unsigned char*>bytes_data(result), obj)
        return result
    if kind == &PyBytes_Type:
        return single_payload(BYTES, bytes_data(obj), bytes_size(obj))
    return bytes_of_bytearray_or_none(options, obj)


cdef PyObject* bytes_of_wide_int(const Encoding* options, PyObject* obj) except? NULL:
    cdef PyObject* result
    cdef Py_ssize_t nbytes
    if options.pickle == RAW:
        return NULL
    result = new_uninitialized_bytes(WIDE_NBYTES)
    nbytes = store_wide(<unsigned char*>bytes_data(result), obj)
    if nbytes == 0:
        decref(result)
        return NULL
    bytes_shorten(&result, nbytes)    # cannot fail where store_wide() knows the digits
    return result


cdef PyObject* bytes_of_bytearray_or_none(const Encoding* options, PyObject* obj) except? NULL:
    cdef PyTypeObject* kind = Py_TYPE(obj)
    if kind == &PyByteArray_Type and not NO_GIL:    # other threads may resize it
        return single_payload(BYTES, PyByteArray_AS_STRING(obj), PyByteArray_GET_SIZE(obj))
    if options.pickle == RAW:
        return NULL
    if obj == Py_None and not options.hive:
        return bytes_of(<const unsigned char*>PICKLED_NONE, <const unsigned char*>PICKLED_NONE + PICKLED_NONE_NBYTES)
    return NULL


cdef inline PyObject* bytes_of(const unsigned char* start, const unsigned char* end) except NULL:
    cdef PyObject* result = new_uninitialized_bytes(end - start)
    copy_short(bytes_data(result), start, end - start)
    return result


cdef inline PyObject* single_payload(int code, const void* data, Py_ssize_t nbytes) except? NULL:
    cdef PyObject* result
    cdef unsigned char* p
    if nbytes > MAX_LENGTH:
        return NULL
    result = new_uninitialized_bytes(5 + nbytes)
    p = <unsigned char*>bytes_data(result)
    p[0] = <unsigned char>code
    store_i32(p + 1, <int32_t>nbytes)
    copy_short(p + 5, data, nbytes)
    return result


# Small containers of scalars and nothing else, as records often are; no Python code runs meanwhile.

cdef enum:
    SMALL_NITEMS = 16        # the keys and values of a dict are items
    SMALL_NBYTES = 512

# The bytes of empty containers: always these same objects.
cdef bytes EMPTY_VECTOR = b"\x08\x00\x00\x00\x00"
cdef bytes EMPTY_LIST = b"\x09\xff"
cdef bytes EMPTY_MAP = b"\x0a\x00\x00\x00\x00"


cdef PyObject* bytes_of_small_container(const Encoding* options, PyObject* obj) except? NULL:
    # Encode a tuple, list or dict. NULL without an exception:
    # it is of a subclass or large, has other items, or the options need the general path.
    cdef unsigned char scratch[SMALL_NBYTES]
    cdef unsigned char* p = scratch
    cdef PyObject* empty
    cdef bint stored
    if options.is_general:
        return NULL
    if NO_GIL:
        stored = try_store_shared(&p, scratch + SMALL_NBYTES, <object>obj)
    else:
        empty = bytes_of_empty(obj)    # not where threads would count the references to one object
        if empty != NULL:
            incref(empty)
            return empty
        stored = try_store_container(&p, scratch + SMALL_NBYTES, obj)
    return bytes_of(scratch, p) if stored else NULL


cdef inline PyObject* bytes_of_empty(PyObject* container) noexcept:
    # Borrowed; NULL without an exception: it is not empty.
    cdef PyTypeObject* kind = Py_TYPE(container)
    if kind == &PyTuple_Type:
        return <PyObject*>EMPTY_VECTOR if PyTuple_GET_SIZE(container) == 0 else NULL
    if kind == &PyList_Type:
        return <PyObject*>EMPTY_LIST if PyList_GET_SIZE(container) == 0 else NULL
    return <PyObject*>EMPTY_MAP if kind == &PyDict_Type and PyDict_GET_SIZE(container) == 0 else NULL


cdef bint try_store_shared(unsigned char** p, unsigned char* end, object obj) noexcept:
    # Of a container that other threads may change: they wait meanwhile.
    with cython.critical_section(obj):
        return try_store_container(p, end, <PyObject*>obj)


cdef inline bint try_store_container(unsigned char** p, unsigned char* end, PyObject* obj) noexcept:
    cdef PyTypeObject* kind = Py_TYPE(obj)
    if kind == &PyTuple_Type:
        return try_store_items(p, end, VECTOR, (<PyTupleObject*>obj).ob_item, PyTuple_GET_SIZE(obj))
    if kind == &PyList_Type:
        return try_store_items(p, end, LIST, list_items(obj), PyList_GET_SIZE(obj))
    return kind == &PyDict_Type and try_store_dict(p, end, obj)


cdef inline bint try_store_items(unsigned char** p, unsigned char* end, int code, PyObject** items,
                                 Py_ssize_t count) noexcept:
    cdef Py_ssize_t i
    if count > SMALL_NITEMS:
        return False
    p[0][0] = <unsigned char>code
    if code == LIST:
        p[0] += 1
        end -= 1    # for the MARKER
    else:
        store_i32(p[0] + 1, <int32_t>count)
        p[0] += 5
    for i in range(count):
        if not try_store_scalar(p, end, items[i]):
            return False
    if code == LIST:
        p[0][0] = MARKER
        p[0] += 1
    return True


cdef inline bint try_store_dict(unsigned char** p, unsigned char* end, PyObject* mapping) noexcept:
    cdef Py_ssize_t npairs = PyDict_GET_SIZE(mapping)
    cdef Py_ssize_t position = 0
    cdef PyObject* key
    cdef PyObject* value
    if npairs > SMALL_NITEMS // 2:
        return False
    p[0][0] = MAP
    store_i32(p[0] + 1, <int32_t>npairs)
    p[0] += 5
    while dict_next(mapping, &position, &key, &value):
        if not try_store_scalar(p, end, key) or not try_store_scalar(p, end, value):
            return False
    return True


cdef inline bint try_store_scalar(unsigned char** p, const unsigned char* end, PyObject* obj) noexcept:
    # Return False and leave the cursor unchanged if the object has another type or does not fit.
    cdef PyTypeObject* kind = Py_TYPE(obj)
    cdef int64_t number
    if unlikely(end - p[0] < 9):
        return False
    if kind == &PyLong_Type and int_to_i64(obj, &number):
        p[0] += store_int(p[0], number)
    elif kind == &PyUnicode_Type and PyUnicode_IS_COMPACT_ASCII(obj):
        return try_store_payload(p, end, STRING, ascii_data(obj), PyUnicode_GET_LENGTH(obj))
    elif kind == &PyFloat_Type:
        p[0] += store_double(p[0], obj)
    elif kind == &PyBool_Type:
        p[0] += store_bool(p[0], obj)
    elif kind == &PyBytes_Type:
        return try_store_payload(p, end, BYTES, bytes_data(obj), bytes_size(obj))
    else:
        return False
    return True


cdef inline bint try_store_payload(unsigned char** p, const unsigned char* end, int code, const void* data,
                                   Py_ssize_t nbytes) noexcept:
    if nbytes > end - p[0] - 5:
        return False
    p[0][0] = <unsigned char>code
    store_i32(p[0] + 1, <int32_t>nbytes)
    copy_short(p[0] + 5, data, nbytes)
    p[0] += 5 + nbytes
    return True
