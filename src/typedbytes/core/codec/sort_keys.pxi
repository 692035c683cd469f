# sort_keys=True: the entries of a MAP in the order of their encoded keys.


cdef enum:
    MAX_SORTED = 32           # entries of a dict that are sorted on the C stack

ctypedef int (*entries_function)(Encoding* e, PyObject** entries, Py_ssize_t n) noexcept    # -1: an exception is set


cdef int encode_sorted_dict(Encoding* e, object mapping) except -1:
    # Keys that are ASCII have the order of their lengths, and then of their texts: they are sorted before anything is
    # encoded, and held, as the pairs of other dicts are.
    cdef PyObject* entries[2 * MAX_SORTED]
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0, n = 0, i
    cdef int outcome
    if NO_GIL or PyDict_GET_SIZE(<PyObject*>mapping) > MAX_SORTED:
        return encode_items(e, list((<dict>mapping).items()))
    while dict_next(<PyObject*>mapping, &position, &key, &value):
        if Py_TYPE(key) != &PyUnicode_Type or not PyUnicode_IS_COMPACT_ASCII(key):
            return encode_items(e, list((<dict>mapping).items()))
        i = n
        while i > 0 and is_text_before(key, entries[2 * i - 2]):
            entries[2 * i], entries[2 * i + 1] = entries[2 * i - 2], entries[2 * i - 1]
            i -= 1
        entries[2 * i], entries[2 * i + 1] = key, value
        n += 1
    for i in range(2 * n):
        incref(entries[i])
    outcome = (<entries_function>encode_entries)(e, entries, n)
    for i in range(2 * n):
        decref(entries[i])
    return raise_pending() if outcome < 0 else 0


cdef inline bint is_text_before(PyObject* a, PyObject* b) noexcept:
    cdef Py_ssize_t na = PyUnicode_GET_LENGTH(a), nb = PyUnicode_GET_LENGTH(b)
    return na < nb or na == nb and memcmp(ascii_data(a), ascii_data(b), na) < 0


cdef int encode_entries(Encoding* e, PyObject** entries, Py_ssize_t n) except -1:
    cdef PathFrame frame
    open_counted(e, &frame, MAP, n)
    while frame.index < n:
        encode_owned_entry(e, &frame, entries[2 * frame.index], entries[2 * frame.index + 1])
    return close_encoded(e, &frame)


cdef struct EncodedKey:
    const unsigned char* start    # of the encoded key
    Py_ssize_t nbytes
    Py_ssize_t index


cdef int compare_keys(const void* a, const void* b) noexcept nogil:
    cdef const EncodedKey* x = <const EncodedKey*>a
    cdef const EncodedKey* y = <const EncodedKey*>b
    cdef int order = memcmp(x.start, y.start, min(x.nbytes, y.nbytes))
    if order == 0:
        order = (x.nbytes > y.nbytes) - (x.nbytes < y.nbytes)
    return order if order else (x.index > y.index) - (x.index < y.index)


cdef int sort_by_encoded_key(Encoding* e, PathFrame* frame, list items, const TypeNode* key_type) except -1:
    # The keys are encoded side by side in a buffer of their own.
    cdef Py_ssize_t npairs = len(items)
    cdef Py_ssize_t i
    cdef list ordered = []
    cdef WriteBuffer output = e.buf
    cdef EncodedKey* keys = <EncodedKey*>PyMem_Malloc(max(npairs, 1) * sizeof(EncodedKey))
    if keys == NULL:
        raise MemoryError
    frame.role = KEY
    try:
        start_owned(&e.buf, 16 * npairs + 64)
        for i in range(npairs):
            keys[i].index = frame.index = i
            keys[i].nbytes = written(&e.buf)
            if key_type == NULL:
                encode_value(e, <PyObject*>(<tuple>items[i])[0])
            else:
                encode_typed(e, key_type, <PyObject*>(<tuple>items[i])[0])
            keys[i].nbytes = written(&e.buf) - keys[i].nbytes
            check_signals_at(i)
        keys[0].start = e.buf.start
        for i in range(1, npairs):
            keys[i].start = keys[i - 1].start + keys[i - 1].nbytes
        qsort(keys, npairs, sizeof(EncodedKey), compare_keys)
        for i in range(npairs):
            ordered.append(items[keys[i].index])
        items[:] = ordered
    finally:
        drop(&e.buf)
        e.buf = output
        PyMem_Free(keys)
    frame.index = 0
    return 0
