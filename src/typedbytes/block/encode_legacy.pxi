# Encoding in the legacy layouts.

cdef int append_legacy_message(BlockEncoder encoder, object args) except -1:
    cdef Py_ssize_t count = len(args)
    cdef Py_ssize_t base = written(&encoder.buf)
    cdef Py_ssize_t external_nbytes = encoder.external_nbytes
    cdef Py_ssize_t total
    cdef Py_ssize_t head = 0
    check_limit(count, "values", MAX_LENGTH)
    reserve(&encoder.buf, 8)
    if encoder.layout == TOTAL:
        encoder.buf.cursor += 4
    if encoder.layout != LINE:
        store_i32(encoder.buf.cursor, <int32_t>count)
        encoder.buf.cursor += 4
    if encoder.layout == HEADER:
        reserve(&encoder.buf, 8 * count)
        head = written(&encoder.buf)
        encoder.buf.cursor += 8 * count
    encoder.append_values(args, count, head)
    if encoder.layout == LINE:
        encoder.append_copy(<const char*>b"e\n", 2)
    if encoder.layout == TOTAL:
        total = written(&encoder.buf) - base - 4 + encoder.external_nbytes - external_nbytes
        check_limit(total, "bytes", MAX_LENGTH)
        store_i32(encoder.buf.start + base, <int32_t>total)
    return 0


cdef inline int legacy_type_of(BlockEncoder encoder, Value* v) except -1:
    cdef int kind = LEGACY_TYPES[v.code]
    if kind <= LEGACY_COMMAND and v.nbytes > MAX_LENGTH:
        raise EncodeValueError(f"{v.nbytes} bytes are more than 2^31-1")
    return kind


# wire    layouts "bytes" and "total": i32 type; then for types 0, 1, 2 an i32 length and the bytes, for 3 an i32, 4 an
#         i64, 5 a binary64. "type8": the type is one byte.
# python  bytes-like, str, Command, int, int, float; back: bytes, str, Command, int, int, float.
# errors  EncodeTypeError: bool, None, containers. EncodeValueError: beyond 64 bits, over 2^31-1 bytes.
# source  docs/block-format.md, the legacy layouts.

cdef inline int append_binary_value(BlockEncoder encoder, Value* v, object owner) except -1:
    cdef unsigned char* p
    cdef int kind
    if v.code == BYTES or v.code == STRING or v.code == COMMAND or v.code == ARRAY:
        kind = legacy_type_of(encoder, v)
        reserve(&encoder.buf, 8)
        p = append_type(encoder, kind)
        store_i32(p, <int32_t>v.nbytes)
        encoder.buf.cursor = p + 4
        return encoder.append_bytes(v.p, v.nbytes, owner)
    kind = LEGACY_TYPES[v.code]
    reserve(&encoder.buf, 12)
    encoder.buf.cursor = store_number(append_type(encoder, kind), kind, v)
    return 0


cdef inline unsigned char* store_number(unsigned char* p, int kind, Value* v) noexcept:
    # Returns the end of the number.
    if kind == LEGACY_INT:
        store_i32(p, <int32_t>v.number)
        return p + 4
    if kind == LEGACY_LONG:
        store_i64(p, v.number)
    else:
        store_f64(p, v.real)
    return p + 8


cdef inline unsigned char* append_type(BlockEncoder encoder, int kind) noexcept:
    if encoder.layout == TYPE8:
        encoder.buf.cursor[0] = <unsigned char>kind
        return encoder.buf.cursor + 1
    store_i32(encoder.buf.cursor, kind)
    return encoder.buf.cursor + 4


# wire    layout "header": i32 type, i32 length of each value, 4 or 8 for a number; then the values as in "bytes".
# python  as above.
# errors  as above.
# source  docs/block-format.md, the legacy layouts.

cdef int append_table_value(BlockEncoder encoder, Value* v, object owner, Py_ssize_t head) except -1:
    cdef unsigned char number[8]
    cdef int kind = legacy_type_of(encoder, v)
    if kind > LEGACY_COMMAND:
        v.nbytes = store_number(number, kind, v) - number
        v.p = number
    store_i32(encoder.buf.start + head, kind)
    store_i32(encoder.buf.start + head + 4, <int32_t>v.nbytes)
    return encoder.append_bytes(v.p, v.nbytes, owner)


# wire    layout "block": i32 type, i32 length, bytes; numbers as decimal text.
# python  as above; a float as its repr.
# errors  as above.
# source  docs/block-format.md, the legacy layouts.

cdef int append_text_value(BlockEncoder encoder, Value* v, object owner) except -1:
    cdef char text[32]
    cdef int kind = LEGACY_TYPES[v.code]
    if kind == LEGACY_INT or kind == LEGACY_LONG:
        v.nbytes = snprintf(text, sizeof(text), "%lld", <long long>v.number)
        v.p = <const unsigned char*>text
    elif kind == LEGACY_DOUBLE:
        owner = repr(v.real).encode("ascii")
        v.nbytes = PyBytes_GET_SIZE(owner)
        v.p = <const unsigned char*>PyBytes_AS_STRING(owner)
    legacy_type_of(encoder, v)
    reserve(&encoder.buf, 8)
    store_i32(encoder.buf.cursor, kind)
    store_i32(encoder.buf.cursor + 4, <int32_t>v.nbytes)
    encoder.buf.cursor += 8
    return encoder.append_bytes(v.p, v.nbytes, owner)


# wire    line: decimal type, LF, text, LF; bytes as base64; in STRING \ CR LF as \\ \r \n,
#         a COMMAND as it is. The end is "e", LF.
# python  as above.
# errors  as above. EncodeValueError: a Command with CR or LF, which end a line.
# source  docs/block-format.md, the legacy layouts.

cdef int append_line_value(BlockEncoder encoder, Value* v, object owner) except -1:
    cdef bytes text
    cdef int kind = legacy_type_of(encoder, v)
    if kind == LEGACY_INT or kind == LEGACY_LONG:
        text = b"%d" % v.number
    elif kind == LEGACY_DOUBLE:
        text = repr(v.real).encode("ascii")
    elif kind == LEGACY_BYTES:
        text = b2a_base64(PyMemoryView_FromMemory(<char*>v.p, v.nbytes, PyBUF_READ), newline=False)
    else:
        text = v.p[:v.nbytes]
        if kind == LEGACY_COMMAND:
            if b"\n" in text or b"\r" in text:
                raise EncodeValueError("a Command in the layout 'line' cannot contain CR or LF")
        else:
            text = text.replace(b"\\", b"\\\\").replace(b"\r", b"\\r").replace(b"\n", b"\\n")
    reserve(&encoder.buf, 2)
    encoder.buf.cursor[0] = <unsigned char>(c"0" + kind)
    encoder.buf.cursor[1] = c"\n"
    encoder.buf.cursor += 2
    encoder.append_bytes(<const unsigned char*>PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text), text)
    return encoder.append_copy(<const char*>b"\n", 1)
