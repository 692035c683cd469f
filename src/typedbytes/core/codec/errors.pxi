# Errors of both directions. Everything here is out of line: it runs only after a failure.
#
# A raise_* function always raises. It has the return type of its callers, so that they can write `return raise_...`.

CODE_NAMES = {
    BYTES: "BYTES", BYTE: "BYTE", BOOL: "BOOL", INT: "INT", LONG: "LONG", FLOAT: "FLOAT", DOUBLE: "DOUBLE",
    STRING: "STRING",
    VECTOR: "VECTOR", LIST: "LIST", MAP: "MAP", SHORT: "SHORT", NULL_CODE: "NULL", WRITABLE: "WRITABLE",
    PICKLE: "PICKLE",
    BYTESTRING: "BYTESTRING", NDARRAY: "NDARRAY", MARKER: "MARKER",
}


cdef str name_of(int code):
    return CODE_NAMES.get(code) or f"type code {code}"


cdef dict SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


cdef str quoted(str text):
    # As JSON, in ASCII. Without the json module: the C stack may be too small to import anything, and memory short.
    cdef list parts = ['"']
    cdef Py_UCS4 c
    cdef uint32_t above
    for c in text:
        if c in SHORT_ESCAPES:
            parts.append(SHORT_ESCAPES[c])
        elif 0x20 <= c < 0x7f:
            parts.append(c)
        elif c < 0x10000:
            parts.append("\\u%04x" % <uint32_t>c)
        else:
            above = <uint32_t>c - 0x10000
            parts.append("\\u%04x\\u%04x" % (0xd800 | above >> 10, 0xdc00 | above & 0x3ff))
    parts.append('"')
    return "".join(parts)


cdef enum:
    MAX_SHOWN = 1000    # characters of a key, which may be as long as the input, or bytes of an object without a length

cdef str shown_key(PyObject* borrowed):
    key = <object>borrowed
    if type(key) is str:
        return quoted(key) if len(<str>key) <= MAX_SHOWN else quoted((<str>key)[:MAX_SHOWN]) + "..."
    try:
        if type(key) is bytes and len(<bytes>key) > MAX_SHOWN:
            return repr((<bytes>key)[:MAX_SHOWN]) + "..."
        if extent_of(key, MAX_SHOWN) <= MAX_SHOWN:
            return repr(key)
    except Exception:
        pass
    return f"<{type(key).__name__}>"


cdef Py_ssize_t extent_of(object key, Py_ssize_t limit) except -1:
    # About the length of its repr; of what has items, no more than is needed to see that it is above `limit`.
    cdef Py_ssize_t extent = 2
    if type(key) is str or type(key) is bytes:
        return len(key)
    if not isinstance(key, (tuple, frozenset)):
        return memory_nbytes(key)
    for item in key:
        if extent > limit:
            break
        extent += 2 + extent_of(item, limit - extent)
    return extent


cdef bint KNOWS_SIZES = sys.implementation.name != "pypy"    # PyPy's sys.getsizeof always raises TypeError

cdef Py_ssize_t memory_nbytes(object value) except -1:
    if KNOWS_SIZES:
        return sys.getsizeof(value)
    if type(value) is int:
        return 32 + value.bit_length() // 8
    return 128 + (len(value.as_tuple().digits) if Py_TYPE(<PyObject*>value) == DECIMAL_TYPE else 0)


cdef str path_of(PathFrame* frame):
    cdef list parts = []
    while frame != NULL:
        if frame.role == ITEM:
            parts.append(f"[{frame.index}]")
        elif frame.role == KEY:
            parts.append(f".key({frame.index})")
        elif frame.role == FIELD:
            parts.append(f".{<str>(<const RecordType*>frame.key).attributes[frame.index]}")
        elif frame.key != NULL:
            parts.append(f"[{shown_key(frame.key)}]")
        frame = frame.parent
    parts.reverse()
    return "".join(parts)


cdef object decode_error(type kind, Decoding* d, str message, long long offset, int code):
    return kind(with_format_found(d, message), offset, None if code < 0 else code, path_of(d.frame),
                None if d.record_index < 0 else d.record_index)


cdef enum:
    START_NBYTES = 64         # of an input, from which its format is recognised

cdef str with_format_found(Decoding* d, str message):
    # Where the first value is wrong and the input starts as another format does,
    # its name is worth more than what is wrong.
    cdef const unsigned char* start = d.buf.start
    cdef Py_ssize_t nbytes = min(d.buf.end - start, START_NBYTES)
    if d.record_index > 0 or d.buf.start_offset != 0 or nbytes < 2 or start[0] <= MAP:
        return message
    from typedbytes._base.magic import description_of    # lazy import: start-up time
    found = description_of(start[:nbytes])
    return message if found is None else f"this looks like {found}: {message}"


cdef PyObject* raise_format(Decoding* d, str message, int code) except NULL:
    # The cursor is at the type code of the invalid value.
    raise decode_error(FormatError, d, message, offset_of(&d.buf, d.buf.cursor), code)


cdef PyObject* raise_format_at(Decoding* d, str message, long long offset, int code, Exception cause) except NULL:
    raise decode_error(FormatError, d, message, offset, code) from cause


cdef PyObject* raise_refused(Decoding* d, str message, str option, str hint, long long offset, int code,
                             Exception cause) except NULL:
    # What an option of the caller accepts; the hint is the part of the message that says so.
    error = decode_error(FormatError, d, message, offset, code)
    error.option, error.hint = option, hint
    raise error from cause


cdef int raise_truncated(Decoding* d, Py_ssize_t wanted, int code) except -1:
    cdef Py_ssize_t there = held(&d.buf)
    if code < 0 and d.frame != NULL:
        code = d.frame.code
    if code < 0:
        message = "input ends where a value should start"
        if offset_of(&d.buf, d.buf.end) > d.record_offset:
            message = ("input ends after a key, where its value should start: pairs are an even number of values "
                       "(a Reader reads single ones)")
    else:
        message = f"input ends inside {name_of(code)}: at least {max(wanted - there, 1)} more bytes needed"
    raise decode_error(TruncatedError, d, message, offset_of(&d.buf, d.buf.end), code)


cdef PyObject* raise_negative(Decoding* d, Py_ssize_t length, int code) except NULL:
    raise decode_error(FormatError, d, f"negative length or count {length} of {name_of(code)}",
                       offset_of(&d.buf, d.buf.cursor), code)


cdef PyObject* raise_unknown(Decoding* d, int code) except NULL:
    return raise_format(d, f"unknown type code {code}", code)


cdef int raise_unhashable(Decoding* d, int code) except -1:
    raise_format(d, f"{name_of(code)} cannot be a MAP key; map_pairs=True gives the pairs", code)


cdef PyObject* raise_depth(Decoding* d, int code) except NULL:
    raise decode_error(LimitError, d, f"containers nest deeper than max_depth={d.max_depth}",
                       offset_of(&d.buf, d.buf.cursor), code)


cdef int raise_record_limit(Decoding* d) except -1:
    raise decode_error(LimitError, d, f"a record is longer than max_bytes={d.max_bytes}", d.record_offset, -1)


cdef PyObject* raise_colliding(Decoding* d, long long offset) except NULL:
    raise decode_error(LimitError, d,
                       "more than 512 unequal keys of a MAP share one hash value, or fewer that take long to compare",
                       offset, MAP)


cdef PyObject* raise_uncomparable(Decoding* d) except NULL:
    # An exception is set: a key's own, or the interpreter gave up comparing two that are nested deeply.
    if not PyErr_ExceptionMatches(RecursionError):
        return NULL
    PyErr_Clear()
    return raise_deep_keys(d)


cdef PyObject* raise_deep_keys(Decoding* d) except NULL:
    raise decode_error(LimitError, d, "keys of a MAP nest too deep to compare", offset_of(&d.buf, d.buf.cursor), MAP)


cdef int raise_trailing(Decoding* d, str hint) except -1:
    cdef Py_ssize_t nbytes = held(&d.buf)
    raise decode_error(FormatError, d, f"{nbytes} byte{'s' if nbytes > 1 else ''} after the value{hint}",
                       offset_of(&d.buf, d.buf.cursor), d.buf.cursor[0])


cdef int check_limit_of_skipping(Decoding* d, const Skipping* s, SkipOutcome outcome) except -1:
    # Under max_bytes: what the outcome depends on counts before it is there, as in decoding.
    if record_nbytes_read(d) + wanted_nbytes(s, &d.buf, outcome) > d.max_bytes:
        raise_record_limit(d)
    return 0


cdef int raise_skipped(Decoding* d, Skipping* s, SkipOutcome outcome) except -1:
    # Structure alone was walked, so the path is not known.
    d.frame = NULL
    return raise_skip_outcome(d, s, outcome)


cdef int raise_skip_outcome(Decoding* d, Skipping* s, SkipOutcome outcome) except -1:
    cdef int code = s.code
    if outcome == NEEDS_MORE:
        raise_truncated(d, min(wanted_nbytes(s, &d.buf, outcome), PY_SSIZE_T_MAX // 2), code)
    if outcome == TOO_DEEP:
        raise_depth(d, code)
    if outcome == STRAY_MARKER:
        raise_format(d, "MARKER outside a LIST", code)
    if outcome == BAD_LENGTH:
        raise_negative(d, load_length(d.buf.cursor + 1), code)
    raise_unknown(d, code)


cdef str name_of_type(object obj):
    kind = type(obj)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


cdef int raise_encode_type(Encoding* e, object obj) except -1:
    wanted = "pass default= or another pickle=" if e.pickle == RAW \
        else 'pass default=, or pickle="trust" for your own data'
    error = EncodeTypeError(f"cannot encode an object of type {name_of_type(obj)}: {wanted}", path_of(e.frame))
    error.option, error.hint = "default", f": {wanted}"
    raise error


cdef int raise_encode_value(Encoding* e, str message) except -1:
    raise EncodeValueError(message, path_of(e.frame))


cdef int raise_encode_depth(Encoding* e) except -1:
    return raise_encode_value(e, f"containers nest deeper than max_depth={e.max_depth}, or one holds itself")


cdef int raise_too_long(Encoding* e, int code, Py_ssize_t length) except -1:
    return raise_encode_value(e, f"{name_of(code)} of {length} is longer than 2^31-1")


cdef int raise_no_pair(Encoding* e, object item) except -1:
    raise EncodeTypeError(f"items() returned {item!r:.80}, which is not a pair", path_of(e.frame))
