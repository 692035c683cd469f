# What does not fit its type.

cdef enum:
    MAX_FOUND = 40    # characters of a value that are shown


cdef str shown_value(object value):
    if type(value) is str:
        return quoted(value) if len(<str>value) <= MAX_FOUND else ""
    if type(value) is bytes:
        return repr(value) if len(<bytes>value) <= MAX_FOUND else ""
    if value is None or type(value) in (int, float, bool):
        text = repr(value)
        return text if len(text) <= MAX_FOUND else ""
    return ""


cdef str shown_found(int code, object value):
    # A type code, and the value of a short scalar.
    cdef str shown = shown_value(value)
    if code == NULL_CODE:
        return name_of(code)
    if code == PICKLE and not shown:
        return f"PICKLE of {name_of_type(value)}"
    return f"{name_of(code)} {shown}" if shown else name_of(code)


cdef PyObject* raise_type_at(Decoding* d, str message, long long offset, int code, object cause) except NULL:
    raise decode_error(DecodeTypeError, d, message, offset, code) from cause


cdef PyObject* raise_misfit_at(Decoding* d, const TypeNode* node, str found, long long offset, int code) except NULL:
    return raise_type_at(d, f"expected {<str>node.shown}, found {found}", offset, code, None)


cdef PyObject* raise_misfit(Decoding* d, const TypeNode* node) except NULL:
    return raise_other_than(d, <str>node.shown)


cdef PyObject* raise_other_than(Decoding* d, str expected) except NULL:
    # The cursor is at the type code of what does not fit. A short scalar is decoded, to be shown.
    cdef long long offset = offset_of(&d.buf, d.buf.cursor)
    cdef int code = d.buf.cursor[0]
    cdef bint is_shown = BYTE <= code <= DOUBLE or (d.hive and code in (SHORT, NULL_CODE))
    if not is_shown and SIZES[d.hive][code] in (UNKNOWN, IS_MARKER):
        return decode_value(d)    # raises
    if code == PICKLE:
        is_shown = is_none_ahead(d)
    elif code == STRING or code == BYTES or code == BYTESTRING:
        is_shown = is_short_ahead(d)
    found = () if not is_shown else None if code == PICKLE else shown_ahead(d)
    return raise_type_at(d, f"expected {expected}, found {shown_found(code, found)}", offset, code, None)


cdef bint is_none_ahead(Decoding* d) except -1:
    # Whether the pickle at the cursor is None.
    try:
        require(d, PICKLED_NONE_NBYTES, PICKLE)
    except DecodeError as error:
        reraise_memory_error(error)
        return False
    return is_pickled_none(d.buf.cursor)


cdef bint is_short_ahead(Decoding* d) except -1:
    # Whether the STRING or BYTES at the cursor is short enough to be shown.
    try:
        require(d, 5, d.buf.cursor[0])
    except DecodeError as error:
        reraise_memory_error(error)
        return False
    return 0 <= load_length(d.buf.cursor + 1) <= 4 * MAX_FOUND


cdef object shown_ahead(Decoding* d):
    # The scalar at the cursor; () where it is not whole or not valid: what does not fit comes first.
    try:
        return object_from_stolen(decode_plain(d))
    except DecodeError as error:
        reraise_memory_error(error)
        return ()


cdef PyObject* decode_plain(Decoding* d) except NULL:
    # As decode_value(), without the value types that keep a width.
    cdef flag exact = d.exact
    d.exact = False
    try:
        return decode_value(d)
    finally:
        d.exact = exact


cdef PyObject* raise_missing(Decoding* d, const RecordType* record, Py_ssize_t i, long long offset,
                             int code) except NULL:
    key = (<bytes>record.keys.names[i].p[5:record.keys.names[i].nbytes]).decode("utf-8")
    return raise_type_at(d, f"{<str>record.name}: missing field {quoted(key)}", offset, code, None)


cdef int raise_unknown_field(Decoding* d, const RecordType* record, PathFrame* frame, Py_ssize_t length,
                             long long offset) except -1:
    # The cursor is at the key, a STRING of that length, all of which is there; -1: something else.
    # `offset` is that of the record.
    cdef str shown = "of a key that is not STRING"
    if length >= 0:
        key = (<bytes>d.buf.cursor[5:5 + min(length, 4 * MAX_FOUND)]).decode("utf-8", "replace")
        shown = quoted(key) if len(<str>key) <= MAX_FOUND else quoted((<str>key)[:MAX_FOUND]) + "..."
    d.frame = frame.parent
    raise_type_at(d, f"{<str>record.name}: unknown field {shown}", offset, MAP, None)


cdef PyObject* raise_count(Decoding* d, str name, Py_ssize_t least, Py_ssize_t most, str found, int code) except NULL:
    return raise_count_at(d, name, least, most, found, offset_of(&d.buf, d.buf.cursor), code)


cdef PyObject* raise_count_at(Decoding* d, str name, Py_ssize_t least, Py_ssize_t most, str found, long long offset,
                              int code) except NULL:
    expected = f"{most} item{'' if most == 1 else 's'}" if least == most else f"{least} to {most} items"
    return raise_type_at(d, f"{name}: expected {expected}, found {found}", offset, code, None)


cdef PyObject* raise_by_user(Decoding* d, const RecordType* record, object where, long long offset, int code,
                             Exception error) except NULL:
    # What a constructor, a factory or __post_init__ of the user's has raised.
    return raise_type_at(d, f"{<str>record.name}: {'' if where is None else f'{where}: '}{error}", offset, code, error)
