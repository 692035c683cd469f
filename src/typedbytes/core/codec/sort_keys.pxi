# sort_keys=True: the entries of a MAP in the order of their encoded keys.


cdef struct KeyPlace:
    const unsigned char* start    # of the encoded key
    Py_ssize_t nbytes
    Py_ssize_t index


cdef int compare_keys(const void* a, const void* b) noexcept nogil:
    cdef const KeyPlace* x = <const KeyPlace*>a
    cdef const KeyPlace* y = <const KeyPlace*>b
    cdef int order = memcmp(x.start, y.start, min(x.nbytes, y.nbytes))
    if order == 0:
        order = (x.nbytes > y.nbytes) - (x.nbytes < y.nbytes)
    return order if order else (x.index > y.index) - (x.index < y.index)


cdef int sort_by_encoded_key(Encoding* e, PathFrame* frame, list items) except -1:
    # The keys are encoded side by side in a buffer of their own.
    cdef Py_ssize_t npairs = len(items)
    cdef Py_ssize_t i
    cdef WriteBuffer output = e.buf
    cdef KeyPlace* places = <KeyPlace*>PyMem_Malloc(max(npairs, 1) * sizeof(KeyPlace))
    if places == NULL:
        raise MemoryError
    frame.role = KEY
    try:
        start_owned(&e.buf, 16 * npairs + 64)
        for i in range(npairs):
            places[i].index = frame.index = i
            places[i].nbytes = written(&e.buf)
            encode_value(e, <PyObject*>(<tuple>items[i])[0])
            places[i].nbytes = written(&e.buf) - places[i].nbytes
            check_signals(i)
        places[0].start = e.buf.start
        for i in range(1, npairs):
            places[i].start = places[i - 1].start + places[i - 1].nbytes
        qsort(places, npairs, sizeof(KeyPlace), compare_keys)
        items[:] = [items[places[i].index] for i in range(npairs)]
    finally:
        drop(&e.buf)
        e.buf = output
        PyMem_Free(places)
    frame.index = 0
    return 0
