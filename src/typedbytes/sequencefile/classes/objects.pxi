# Described classes as objects, by way of typed bytes: what decodes and encodes those does the rest, types included.

# A function called through this type returns NULL and leaves its exception set. See reader.pxi.
ctypedef PyObject* (*decode_function)(Decoding* d) noexcept


cdef PyObject* new_described(WritableClass writable, Decoding* d, const unsigned char* p, Py_ssize_t nbytes,
                             bint is_key) except NULL:
    cdef WriteBuffer* typed = &writable.typed
    cdef PyObject* value
    writable.clear_typed()
    read_described(writable.program, d, p, nbytes, typed, -1, True)
    d.buf.start = d.buf.cursor = typed.start
    d.buf.end = typed.cursor
    value = (<decode_function>decode_first)(d) if is_key else (<decode_function>decode_record)(d)
    if value == NULL:
        raise_described(writable, d, p, nbytes)
    return value


cdef int raise_described(WritableClass writable, Decoding* d, const unsigned char* p, Py_ssize_t nbytes) except -1:
    # An error in the typed bytes of a value, at its offset in the Writable: there the typed bytes become longer than up
    # to the error.
    cdef WriteBuffer again
    cdef long long offset = d.buf.start_offset
    cdef Py_ssize_t wanted
    try:
        raise_pending()
    except DecodeError as error:
        reraise_memory_error(error)
        wanted = error.offset - offset
        path = error.path
        start_owned(&again, 512)
        try:
            abandon(d)
            read_described(writable.program, d, p, nbytes, &again, wanted, True)
        except DecodeError as place:
            reraise_memory_error(place)
            offset, path = place.offset, place.path
        finally:
            drop(&again)
        raise relocated(error, f"{writable.class_name}: {error.message}", offset, error.code, path,
                        error.record) from None


cdef int encode_described(WritableClass writable, Encoding* e, object obj) except -1:
    # The object's typed bytes are written at the end of the buffer, and replaced.
    cdef Py_ssize_t start = written(&e.buf)
    if type(obj) is Writable:
        return encode_other_class(writable, e, obj)
    writable.clear_typed()
    encode_record(e, <PyObject*>obj)
    write_described(writable.program, e.hive, e.buf.start + start, written(&e.buf) - start, &writable.typed)
    e.buf.cursor = e.buf.start + start
    check_record(written(&writable.typed))
    return append_bytes(&e.buf, writable.typed.start, written(&writable.typed))
