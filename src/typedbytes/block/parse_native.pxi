# Parsing the native format: head, entries, nested values and checksum. The main loop is in parse.pxi.

# wire    f5 42 42 01, u8 flags, u8 log2 of alignment, u16 0, u32 number of entries, u32 id, u64 length of the body.
# python  Message with id and wants_reply.
# errors  BlockError: wrong start, unknown flags, invalid alignment, reserved bytes that are not zero.
# source  docs/block-format.md, the native format.

cdef bint read_native_head(Parser parser, ReadBuffer* b) except -1:
    cdef const unsigned char* p
    if not parser.need(b, 4):
        return False
    p = b.cursor
    if <uint32_t>load_i32(p) >> 8 != NATIVE_MAGIC >> 8:
        parser.raise_block_error(b, 0, "not a native message: it should start with f54242")
    if p[3] != 1:
        parser.raise_block_error(b, 3, f"unknown version {p[3]} of a native message: only 1 is supported")
    if not parser.need(b, HEAD_SIZE):
        return False
    p = b.cursor
    if p[4] & ~(LITTLE_ARRAYS | CHECKSUM | REPLY_WANTED):
        parser.raise_block_error(b, 4, "the flag for a body in shared memory is not supported" if p[4] & SHARED_BODY
                       else f"unknown flags {p[4]:#04x}: written by a newer version")
    if p[5] not in (0, 3, 6):
        parser.raise_block_error(b, 5, f"the log2 of the alignment must be 0, 3 or 6, not {p[5]}")
    if p[6] or p[7]:
        parser.raise_block_error(b, 6, "reserved bytes are not zero: written by a newer version")
    if p[16] & 0x80:
        parser.raise_block_error(b, 16, "the body is longer than 2^63-1")
    parser.message_layout = NATIVE
    parser.flags = p[4]
    parser.alignment = 1 << p[5]
    parser.count = <uint32_t>load_i32(p + 8)
    parser.id = <uint32_t>load_i32(p + 12)
    parser.body_nbytes = load_i64(p + 16)
    parser.body_expected = 0
    parser.nentries = 0
    parser.crc = 0
    parser.consume(b, HEAD_SIZE)
    parser.phase = TABLE
    return True


# wire    u8 type, u8 element type, u8 number of dimensions, u8 0, u32 0, u64 value or length.
# python  byte, bool, int, long, float and double are stored in the entry; None has no bytes; all others have a body.
# errors  BlockError: unknown type or element, reserved bytes, a value out of range for its type,
#         a body longer than the message's.
# source  docs/block-format.md, the native format.

cdef int read_entry(Parser parser, ReadBuffer* b, Entry* entry) except -1:
    cdef const unsigned char* p = b.cursor
    cdef int64_t number = load_i64(p + 8)
    cdef int code = p[0]
    if not (is_inline(code) or code in (BYTES, STRING, VECTOR, LIST, MAP, ARRAY, ARROW, COMMAND)
            or FIRST_APPLICATION <= code <= LAST_APPLICATION):
        parser.raise_block_error(b, 0, f"unknown type {code} in a native message")
    if code == ARRAY:
        if p[1] >= NELEMENTS:
            parser.raise_block_error(b, 1, f"unknown element type {p[1]}")
        if p[2] > MAX_DIMENSIONS:
            parser.raise_block_error(b, 2, f"an array of {p[2]} dimensions has more than {MAX_DIMENSIONS}")
    elif p[1] or p[2]:
        parser.raise_block_error(b, 1, "an entry that is not an array has an element type or dimensions")
    if p[3] or load_i32(p + 4):
        parser.raise_block_error(b, 3, "reserved bytes are not zero: written by a newer version")
    if is_inline(code):
        if (code == INT and number != <int32_t>number) or (code == BYTE and not -128 <= number <= 127) \
                or (code == BOOL and not 0 <= number <= 1) or (code == NULL_VALUE and number):
            parser.raise_block_error(b, 8, f"{number} is out of range for type {code}")
    else:
        if parser.body_expected & (parser.alignment - 1):
            parser.body_expected = (parser.body_expected | (parser.alignment - 1)) + 1
        if not 0 <= number <= parser.body_nbytes - parser.body_expected:
            parser.raise_block_error(b, 8,
                                     f"a value of {<uint64_t>number} bytes ends after the body of {parser.body_nbytes}")
        parser.body_expected += number
    entry.number = number
    entry.code = <unsigned char>code
    entry.element = p[1]
    entry.ndim = p[2]
    return 0


cdef int push_inline(Parser parser, Entry* entry) except -1:
    cdef unsigned char bits[8]
    if entry.code == NULL_VALUE:
        return parser.push_object(None)
    if entry.code == BOOL:
        return parser.push_object(True if entry.number else False)
    if entry.code != FLOAT and entry.code != DOUBLE:
        return parser.push_int(entry.code, entry.number)
    store_i64(bits, entry.number)
    if entry.code == FLOAT and parser.options.template.exact:
        return parser.push_object(Float(load_f64(bits)))
    return parser.push(new_float(load_f64(bits)))


cdef int push_native(Parser parser, ReadBuffer* b, Entry* entry, const unsigned char* p,
                     PyObject* large_object) except -1:
    cdef Py_ssize_t nbytes = entry.number
    if entry.code == STRING or entry.code == COMMAND:
        return parser.push_text(b, p, nbytes, entry.code == COMMAND)
    if entry.code == BYTES:
        return parser.push(new_bytes(<const char*>p, nbytes))
    if entry.code == ARRAY or entry.code == ARROW:
        body = p[:nbytes] if large_object == NULL else <object>large_object
        return push_view(parser, b, entry, p, body)
    return push_nested(parser, b, entry.code, p, nbytes)


cdef int push_view(Parser parser, ReadBuffer* b, Entry* entry, const unsigned char* p, object body) except -1:
    cdef long long offset = offset_of(b, p)
    if entry.code == ARROW:
        return parser.push_object(ArrowStream(body))
    try:
        view = array_of(body, entry.element, entry.ndim, parser.flags & LITTLE_ARRAYS)
    except ValueError as error:
        reraise_memory_error(error)
        return parser.raise_or_skip(parser.make_error(BlockError, str(error), offset))
    return parser.push_object(view)


cdef int push_nested(Parser parser, ReadBuffer* b, int code, const unsigned char* p, Py_ssize_t nbytes) except -1:
    # One encoded TypedBytes value; its code is repeated in the entry.
    cdef Decoding d = parser.options.template
    cdef PyObject* decoded
    cdef long long offset = offset_of(b, p)
    borrow(&d.buf, p, nbytes)
    if nbytes == 0 or p[0] != code:
        return parser.raise_or_skip(parser.make_error(BlockError,
                                                      f"the nested value does not start with its code {code}", offset))
    keep_freed(nbytes)
    try:
        decoded = decode_record(&d)
        value = <object>decoded
        Py_XDECREF(decoded)
        if held(&d.buf):
            raise_trailing(&d, "")
    except DecodeError as error:
        reraise_memory_error(error)
        return parser.raise_or_skip(nested_error(parser, error, offset))
    finally:
        abandon(&d)
    return parser.push_object(value)


cdef object nested_error(Parser parser, object error, long long offset):
    path = f"[{parser.index}]{error.path}"
    if isinstance(error, LimitError):
        return LimitError(error.message, offset + error.offset, error.code, path, parser.record_index)
    found = BlockError(error.message, offset + error.offset, error.code, path, parser.record_index, parser.index)
    found.__cause__ = error
    return found


cdef bint read_trailer(Parser parser, ReadBuffer* b) except -1:
    cdef int64_t found, right
    if not parser.need(b, 4):
        return False
    found, right = <uint32_t>load_i32(b.cursor), parser.crc
    parser.flags &= ~CHECKSUM
    if found != right:
        error = parser.make_error(BlockError, f"the checksum is {found:08x} and should be {right:08x}",
                                  offset_of(b, b.cursor))
        if not parser.skip_bad:
            raise error
        parser.skipped_error = error
    parser.consume(b, 4)
    return True


cdef object exact_int(int code, int64_t number):
    # As the codec: a plain int is encoded as an INT or, when it is too large for one, as a LONG.
    if code == BYTE:
        return Byte(number)
    return Long(number) if code == LONG and INT32_MIN <= number <= INT32_MAX else number


cdef inline bint is_inline(int code) noexcept:
    return BYTE <= code <= DOUBLE or code == NULL_VALUE
