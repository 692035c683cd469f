# Dispatch by type code. Common values that are in the buffer as a whole are decoded inline; rare, invalid,
# truncated and not yet read ones out of line. So are pickles: the most frequent ones, None and wide ints, here, all
# others in application.pxi.

cdef inline PyObject* decode_value(Decoding* d) except NULL:
    cdef const unsigned char* p = d.buf.cursor
    cdef Py_ssize_t left = d.buf.end - p
    cdef Py_ssize_t length
    cdef int code
    if unlikely(left <= 0):
        return decode_near_end(d)
    code = p[0]
    if code == INT:
        if likely(left >= 5):
            d.buf.cursor = p + 5
            return int_object(load_i32(p + 1))
    elif code == STRING:
        if likely(left >= 5):
            length = load_length(p + 1)
            if likely(0 <= length <= left - 5):
                d.buf.cursor = p + 5 + length
                return decode_short_string(d, p + 5, length)
    elif code == LONG:
        if likely(left >= 9):
            d.buf.cursor = p + 9
            return decode_long(d, p + 1)
    elif code == DOUBLE:
        if likely(left >= 9):
            d.buf.cursor = p + 9
            return PyFloat_FromDouble(load_f64(p + 1))
    elif code == BOOL:
        if likely(left >= 2):
            d.buf.cursor = p + 2
            return decode_bool(p + 1)
    elif code == BYTE:
        if likely(left >= 2 and not d.exact):
            d.buf.cursor = p + 2
            return decode_byte(p + 1)
    elif code == BYTES:
        if likely(left >= 5):
            length = load_length(p + 1)
            if likely(0 <= length <= left - 5):
                d.buf.cursor = p + 5 + length
                return decode_bytes(p + 5, length)
    elif code == VECTOR:
        if likely(left >= 5):
            length = load_length(p + 1)
            if likely(length >= 0):
                return decode_vector(d, length)
    elif code == LIST:
        # decoded here, not in decode_other: a second call per level would overflow the return-address stack sooner
        if likely(d.in_key == 0):
            if left >= 2 and p[1] == MARKER and likely(d.depth < d.max_depth):
                d.buf.cursor = p + 2
                count_items(d, 1)
                return list_from_stolen(NULL, 0)
            return decode_list(d)
    elif code == MAP:
        if likely(left >= 5 and d.in_key == 0):
            length = load_length(p + 1)
            if likely(length >= 0):
                return decode_map(d, length)
    return decode_other(d)


cdef inline PyObject* decode_key(Decoding* d, bint in_map) except NULL:
    # Most keys are short strings that occurred before; in a MAP, usually the key that followed
    # the previous key last time.
    cdef const unsigned char* p = d.buf.cursor
    cdef Py_ssize_t left = d.buf.end - p
    cdef Py_ssize_t length
    if likely(left >= 5 and p[0] == STRING):
        length = load_length(p + 1)
        if likely(0 <= length <= left - 5):
            d.buf.cursor = p + 5 + length
            return decode_map_key(d, p + 5, length) if in_map else decode_pair_key(d, p + 5, length)
    return decode_value(d)


cdef PyObject* decode_near_end(Decoding* d) except NULL:
    require(d, 1, -1)
    return decode_other(d)


cdef PyObject* decode_other(Decoding* d) except NULL:
    # At least the type code is in the buffer.
    cdef const unsigned char* p = d.buf.cursor
    cdef int code = p[0]
    cdef Py_ssize_t length
    cdef PyObject* number
    if code == PICKLE and d.pickle != RAW and not d.exact and held(&d.buf) >= 9:
        # Fast path, without require() and decode_payload(); decode_application() tries the same where they are needed.
        length = load_length(p + 1)
        if 4 <= length <= held(&d.buf) - 5:
            number = (<recognise_function>recognise_none_or_int)(p + 5, length)
            if number != NULL:
                return consume(d, 5 + length, number)
            return decode_whole_pickle(d, length)
    if code == LIST:
        refuse_in_key(d, code)
        return decode_list(d)
    if code < BYTE or code == STRING or FIRST_APPLICATION <= code <= LAST_APPLICATION:
        if code == ENDOFRECORD and d.hive:
            return consume(d, 1, new_ext(code, NULL, 0))
        require(d, 5, code)
        length = load_length(d.buf.cursor + 1)
        if length < 0:
            return raise_negative(d, length, code)
        return decode_payload(d, code, length)
    if code == VECTOR or code == MAP:
        if code == MAP:
            refuse_in_key(d, code)
        if d.depth >= d.max_depth:
            return raise_depth(d, code)
        require(d, 5, code)
        length = load_length(d.buf.cursor + 1)
        if length < 0:
            return raise_negative(d, length, code)
        return decode_vector(d, length) if code == VECTOR else decode_map(d, length)
    return decode_fixed(d, code)


cdef PyObject* decode_whole_pickle(Decoding* d, Py_ssize_t length) except NULL:
    # One that is in the buffer, and neither None nor an int. An exception may be set: no memory for an int.
    cdef PyObject* value
    if d.buf.cursor[7] != OP_GLOBAL and PyErr_Occurred() != NULL:
        return NULL
    if d.pickle == SAFE and d.in_key == 0:
        value = recognise(d.buf.cursor + 5, length)
        if value != NULL:
            return consume(d, 5 + length, value)
    return decode_payload(d, PICKLE, length)


cdef PyObject* decode_fixed(Decoding* d, int code) except NULL:
    if code == BYTE:
        require(d, 2, code)
        if d.exact:
            return consume(d, 2, exact_int(Byte, <signed char>d.buf.cursor[1]))
        return consume(d, 2, decode_byte(d.buf.cursor + 1))
    if code == BOOL:
        require(d, 2, code)
        return consume(d, 2, decode_bool(d.buf.cursor + 1))
    if code == INT:
        require(d, 5, code)
        return consume(d, 5, int_object(load_i32(d.buf.cursor + 1)))
    if code == LONG:
        require(d, 9, code)
        return consume(d, 9, decode_long(d, d.buf.cursor + 1))
    if code == FLOAT:
        require(d, 5, code)
        return consume(d, 5, decode_float(d, d.buf.cursor + 1))
    if code == DOUBLE:
        require(d, 9, code)
        return consume(d, 9, PyFloat_FromDouble(load_f64(d.buf.cursor + 1)))
    if code == MARKER:
        return raise_format(d, "MARKER outside a LIST", code)
    if d.hive and code == SHORT:
        require(d, 3, code)
        return consume(d, 3, decode_short(d, d.buf.cursor + 1))
    if d.hive and code == NULL_CODE:
        return consume(d, 1, decode_null())
    return raise_unknown(d, code)


cdef inline PyObject* consume(Decoding* d, Py_ssize_t nbytes, PyObject* value) noexcept:
    d.buf.cursor += nbytes
    return value


cdef PyObject* decode_payload(Decoding* d, int code, Py_ssize_t length) except NULL:
    # The cursor is at the type code, and the head is in the buffer; the payload may still have to be read.
    cdef PyObject* value
    if code == BYTES and length >= LARGE_BYTES_NBYTES and length > held(&d.buf) - 5 and d.buf.fill != NULL \
            and not d.max_bytes and d.buf.mark == NULL:
        d.buf.cursor += 5
        return read_large_bytes(d, length)
    require(d, 5 + min(length, PY_SSIZE_T_MAX - 5), code)    # avoids overflow where Py_ssize_t has 32 bits
    if code == BYTES:
        value = decode_bytes(d.buf.cursor + 5, length)
    elif code == STRING:
        value = decode_string(d, d.buf.cursor + 5, length)
    else:
        value = decode_application(d, code, d.buf.cursor + 5, length)
    d.buf.cursor += 5 + length
    return value


cdef inline int refuse_in_key(Decoding* d, int code) except -1:
    if unlikely(d.in_key > 0):
        return raise_unhashable(d, code)
    return 0


cdef inline int require(Decoding* d, Py_ssize_t wanted, int code) except -1:
    if likely(held(&d.buf) >= wanted):
        return 0
    return refill_or_raise(d, wanted, code)


cdef int refill_or_raise(Decoding* d, Py_ssize_t wanted, int code) except -1:
    return 0 if refill_record(d, wanted) else raise_truncated(d, wanted, code)


cdef bint refill_record(Decoding* d, Py_ssize_t wanted) except -1:
    # False: the input ends before.
    keep_freed(record_nbytes_read(d))
    if not d.max_bytes:
        return refill_with_collector(d, wanted)
    if record_nbytes_read(d) + wanted > d.max_bytes:
        raise_record_limit(d)
    unhide(d)
    if not refill_with_collector(d, wanted):
        return False
    hide_beyond_limit(d)
    return True


cdef int refill_with_collector(Decoding* d, Py_ssize_t wanted) except -1:
    cdef bint paused = resume_if_paused(d)
    cdef int filled = refill(&d.buf, wanted)
    d.paused = paused and pause_collector()
    return filled


cdef PyObject* decode_record(Decoding* d) except NULL:
    d.record_offset = offset_of(&d.buf, d.buf.cursor)
    return decode_rest(d)


cdef PyObject* decode_rest(Decoding* d) except NULL:
    cdef PyObject* value
    if unlikely(d.governed):
        return decode_governed(d, NULL if d.types == NULL else d.types.value)
    value = decode_value(d)
    end_record(d)
    return value


cdef PyObject* decode_first(Decoding* d) except NULL:
    d.record_offset = offset_of(&d.buf, d.buf.cursor)
    return decode_governed(d, NULL if d.types == NULL else d.types.pair_key)


cdef int decode_pair(Decoding* d, PyObject** key, PyObject** value) except -1:
    # The key waits on the stack, where abandon() finds it when the value fails.
    d.record_offset = offset_of(&d.buf, d.buf.cursor)
    if unlikely(d.governed):
        return decode_governed_pair(d, key, value)
    push(d, decode_key(d, False))
    value[0] = decode_value(d)
    d.nstack -= 1
    key[0] = d.stack[d.nstack]
    end_record(d)
    return 0


cdef void abandon(Decoding* d) noexcept:
    d.frame = NULL
    d.depth = 0
    d.in_key = 0
    end_record(d)
    while d.nstack > 0:
        d.nstack -= 1
        Py_XDECREF(d.stack[d.nstack])
    if d.stack != d.initial_stack:
        PyMem_Free(d.stack)
    d.stack = NULL
    d.stack_capacity = 0
