# sort_keys=True: the entries of a MAP in the order of their encoded keys.


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
        items[:] = [items[keys[i].index] for i in range(npairs)]
    finally:
        drop(&e.buf)
        e.buf = output
        PyMem_Free(keys)
    frame.index = 0
    return 0
