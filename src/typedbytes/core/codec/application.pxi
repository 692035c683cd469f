# The application codes: values of other programs, under a code of theirs.

# wire    50..200 application codes: i32 length, that many bytes.
#         50 WRITABLE: the bytes are i32 length of the class name, class name, the Writable's own bytes.
#         100 PICKLE, 101 a byte string of typedbytes.py, 102 NDARRAY: an array in .npy format.
# python  Writable; any picklable value type or Ext by policy; bytes; ndarray; Ext or what ext_hook makes of it.
# errors  FormatError at the type code: negative length, class name out of bounds or not UTF-8, pickle refused or
#         broken, bytes that are not an .npy array. EncodeTypeError: an array of objects.
# source  Hadoop TypedBytesWritableOutput.writeWritable, typedbytes.py; vectors ext_*, writable_*, pickle_*, ndarray_*.

cdef inline bint is_pickled_none(const unsigned char* p) noexcept:
    # The caller has checked that nine bytes are there.
    return memcmp(p, PICKLED_NONE, PICKLED_NONE_NBYTES) == 0


cdef PyObject* decode_application(Decoding* d, int code, const unsigned char* p, Py_ssize_t nbytes) except NULL:
    # The cursor is still at the type code, whose offset errors report. Nothing is read from `p` after a hook has run.
    cdef long long offset = offset_of(&d.buf, d.buf.cursor)
    cdef PyObject* number
    if code == PICKLE:
        if d.pickle == RAW or d.exact:
            return new_ext(code, p, nbytes)
        number = recognise_none_or_int(p, nbytes)
        if number != NULL:
            return number
        value = decode_pickle(d, p, nbytes)
    elif code == WRITABLE:
        value = decode_writable(d, p, nbytes)
    elif code == BYTESTRING:
        return new_ext(code, p, nbytes) if d.exact else decode_bytes(p, nbytes)
    elif code == NDARRAY:
        if d.exact:
            return new_ext(code, p, nbytes)
        value = decode_plain_array(p, nbytes)
        if value is None:
            value = decode_known_array(p, nbytes)
        if value is None:
            value = decode_ndarray(d, p[:nbytes])
    elif d.ext_hook == NULL:
        return new_ext(code, p, nbytes)
    else:
        value = (<object>d.ext_hook)(code, p[:nbytes])
    if d.in_key:
        refuse_unhashable(d, value, offset, code)
    Py_INCREF(value)
    return <PyObject*>value


cdef PyObject* new_ext(int code, const unsigned char* p, Py_ssize_t nbytes) except NULL:
    value = Ext(code, p[:nbytes])
    Py_INCREF(value)
    return <PyObject*>value


cdef int refuse_unhashable(Decoding* d, object value, long long offset, int code) except -1:
    try:
        hash(value)
    except TypeError as error:
        reraise_memory_error(error)
        raise_format_at(d, f"{type(value).__name__} cannot be a MAP key", offset, code, error)
    return 0


cdef object decode_writable(Decoding* d, const unsigned char* p, Py_ssize_t nbytes):
    cdef Py_ssize_t nname
    if nbytes < 4:
        raise_format(d, "WRITABLE has no class name", WRITABLE)
    nname = load_length(p)
    if not 0 <= nname <= nbytes - 4:
        raise_format(d, f"WRITABLE of {nbytes} bytes has a class name of {nname}", WRITABLE)
    try:
        name = p[4:4 + nname].decode("utf-8")
    except UnicodeDecodeError as error:
        reraise_memory_error(error)
        raise_format_at(d, "the class name of a WRITABLE is not UTF-8", offset_of(&d.buf, d.buf.cursor), WRITABLE,
                        error)
    return Writable(name, p[4 + nname:nbytes])


cdef object decode_pickle(Decoding* d, const unsigned char* p, Py_ssize_t nbytes):
    cdef PyObject* value
    if d.pickle == SAFE:
        value = recognise(p, nbytes)
        if value != NULL:
            found = <object>value
            decref(value)
            return found
    try:
        if d.pickle == TRUST:
            from pickle import loads
            # Python 2 wrote 8-bit str; latin-1 is what its datetimes and arrays need.
            return loads(p[:nbytes], encoding="latin-1")
        return read_pickle(p, nbytes)
    except Exception as error:
        reraise_memory_error(error)
        trusted = d.pickle == TRUST    # then no other option accepts it
        raise_refused(d, f"PICKLE: {error}", None if trusted else "pickle", "" if trusted else f"; {PICKLE_HINT}",
                      offset_of(&d.buf, d.buf.cursor), PICKLE, error)


cdef object decode_ndarray(Decoding* d, bytes data):
    from typedbytes._base.npy import is_available, loads_array
    if not is_available():
        return Ext(NDARRAY, data)
    try:
        array = loads_array(data)
        bind_known_arrays()
        return array
    except ValueError as error:
        reraise_memory_error(error)
        raise_format_at(d, f"NDARRAY: {error}", offset_of(&d.buf, d.buf.cursor), NDARRAY, error)


cdef int encode_ext(Encoding* e, object ext) except -1:
    cdef int code
    cdef bytes data
    cdef Py_ssize_t hive_nbytes
    if len(ext) != 2 or type(ext[0]) is not int or type(ext[1]) is not bytes:
        return raise_encode_value(e, f"{ext!r:.80} was not made by Ext")
    code, data = ext
    hive_nbytes = hive_payload_size(code)
    if not e.hive or hive_nbytes < 0:
        if not FIRST_APPLICATION <= code <= LAST_APPLICATION:
            return raise_encode_value(e, f"code {code} has no payload with a length; "
                                         "codes 11 and 12 exist in Hive's dialect only")
        return encode_payload(e, code, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
    if len(data) != hive_nbytes:
        return raise_encode_value(e, f"{name_of(code)} has a payload of {hive_nbytes} bytes in Hive's dialect, "
                                     f"not {len(data)}")
    reserve(&e.buf, 1 + hive_nbytes)
    e.buf.cursor[0] = <unsigned char>code
    memcpy(e.buf.cursor + 1, PyBytes_AS_STRING(data), hive_nbytes)
    e.buf.cursor += 1 + hive_nbytes
    return 0


cdef Py_ssize_t hive_payload_size(int code) noexcept:
    # Payload size of the codes that Hive's dialect writes without a length; -1 for all others.
    return 2 if code == SHORT else 0 if code == NULL_CODE or code == ENDOFRECORD else -1


cdef int encode_writable(Encoding* e, object writable) except -1:
    cdef bytes name
    cdef bytes data
    if len(writable) != 2 or type(writable[0]) is not str or type(writable[1]) is not bytes:
        return raise_encode_value(e, f"{writable!r:.80} was not made by Writable")
    data = writable[1]
    try:
        name = writable[0].encode("utf-8")
    except UnicodeEncodeError as error:
        reraise_memory_error(error)
        raise EncodeValueError("class name cannot be encoded as UTF-8", path_of(e.frame)) from error
    encode_head(e, WRITABLE, 4 + len(name) + len(data))
    store_i32(e.buf.cursor, <int32_t>len(name))
    memcpy(e.buf.cursor + 4, PyBytes_AS_STRING(name), len(name))
    memcpy(e.buf.cursor + 4 + len(name), PyBytes_AS_STRING(data), len(data))
    e.buf.cursor += 4 + len(name) + len(data)
    return 0
