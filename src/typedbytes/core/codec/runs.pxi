# Runs in the other direction: items of one exact type. Encoding them runs no Python code.


cdef inline Py_ssize_t try_encode_run(Encoding* e, PyTypeObject* kind, PyObject** items, Py_ssize_t max_items,
                                      Py_ssize_t* run_check) except -1:
    # Encode up to `max_items` items that have the type of the previous item; return their number.
    cdef Py_ssize_t nfound = 0
    if Py_TYPE(items[0]) == kind:
        if kind == &PyLong_Type or kind == &PyFloat_Type or kind == &PyBool_Type or items[0] == Py_None:
            nfound = encode_run(e, items, max_items)
        else:
            nfound = encode_other_run(e, kind, items, min(max_items, MAX_RUN))
    elif kind == &PyBool_Type and items[0] == Py_None or kind == Py_TYPE(Py_None) and Py_TYPE(items[0]) == &PyBool_Type:
        nfound = encode_flag_run(e, items, min(max_items, MAX_RUN))
    run_check[0] = next_run_check(run_check[0], nfound)
    return nfound


cdef Py_ssize_t encode_other_run(Encoding* e, PyTypeObject* kind, PyObject** items, Py_ssize_t max_items) except -1:
    cdef Py_ssize_t nfound = 0
    if kind == &PyUnicode_Type:
        return encode_text_run(e, items, max_items)
    if e.pickle != RAW and is_template_type(kind):
        while nfound < max_items and Py_TYPE(items[nfound]) == kind and encode_template(e, kind, items[nfound]):
            nfound += 1
    return nfound


cdef Py_ssize_t encode_text_run(Encoding* e, PyObject** items, Py_ssize_t max_items) noexcept:
    # Texts that have UTF-8, as far as there is capacity.
    cdef unsigned char* p = e.buf.cursor
    cdef const char* utf8
    cdef Py_ssize_t nfound, nbytes
    for nfound in range(max_items):
        if Py_TYPE(items[nfound]) != &PyUnicode_Type:
            break
        if PyUnicode_IS_COMPACT_ASCII(items[nfound]):
            utf8, nbytes = <const char*>ascii_data(items[nfound]), PyUnicode_GET_LENGTH(items[nfound])
        else:
            utf8 = known_utf8(items[nfound], &nbytes)
        if utf8 == NULL or nbytes > e.buf.end - p - 5 or nbytes > MAX_LENGTH:
            break
        p[0] = STRING
        store_i32(p + 1, <int32_t>nbytes)
        copy_short(p + 5, utf8, nbytes)
        p += 5 + nbytes
    else:
        nfound = max_items
    e.buf.cursor = p
    return nfound


cdef Py_ssize_t encode_run(Encoding* e, PyObject** items, Py_ssize_t max_items) except -1:
    cdef PyTypeObject* kind = Py_TYPE(items[0])
    cdef PyObject** item = items
    cdef PyObject** stop = items + min(max_items, MAX_RUN)
    cdef unsigned char* p
    cdef int64_t number
    cdef uint64_t unsigned
    cdef Py_ssize_t nbytes
    reserve(&e.buf, 9 * (stop - items))    # for all of them
    p = e.buf.cursor
    if kind == &PyLong_Type and e.int_width == 0:
        while item < stop:
            while item < stop and Py_TYPE(item[0]) == kind and int_to_i64_branchless(item[0], &number):
                p += store_int(p, number)
                item += 1
            if item == stop or Py_TYPE(item[0]) != kind or e.pickle == RAW \
                    or e.buf.end - p < WIDE_NBYTES + 9 * (stop - item):
                break
            if int_to_u64(item[0], &unsigned):
                p += store_unsigned(p, unsigned)
                item += 1
                # Unsigned 64-bit numbers usually come together: hash values, for example.
                while item < stop and Py_TYPE(item[0]) == kind and e.buf.end - p >= WIDE_NBYTES + 9 * (stop - item) \
                        and int_to_u64(item[0], &unsigned):
                    p += store_unsigned(p, unsigned)
                    item += 1
                continue
            nbytes = store_wider(p, item[0])
            if nbytes == 0:
                break
            p += nbytes
            item += 1
    elif kind == &PyFloat_Type:
        while item < stop and Py_TYPE(item[0]) == kind:
            p += store_double(p, item[0])
            item += 1
    elif kind == &PyBool_Type:
        while item < stop and Py_TYPE(item[0]) == kind:
            p += store_bool(p, item[0])
            item += 1
    elif items[0] == Py_None and e.pickle != RAW and not e.hive:
        while item < stop and item[0] == Py_None:
            p += store_none(p)
            item += 1
    e.buf.cursor = p
    return item - items


cdef Py_ssize_t encode_flag_run(Encoding* e, PyObject** items, Py_ssize_t max_items) except -1:
    # Bools and None in any order: flags that may be missing.
    cdef unsigned char* p
    cdef Py_ssize_t nfound = 0
    cdef bint writes_none = e.pickle != RAW and not e.hive
    reserve(&e.buf, PICKLED_NONE_NBYTES * max_items)
    p = e.buf.cursor
    while nfound < max_items:
        if Py_TYPE(items[nfound]) == &PyBool_Type:
            p += store_bool(p, items[nfound])
        elif items[nfound] == Py_None and writes_none:
            p += store_none(p)
        else:
            break
        nfound += 1
    e.buf.cursor = p
    return nfound
