# Parsing the legacy layouts. The main loop, and what is shared with the native format, is in parse.pxi.

cdef int push_legacy_value(Parser parser, ReadBuffer* b, int kind, const unsigned char* p, Py_ssize_t nbytes) except -1:
    # A value with a length. Numbers are text in the layout "block", and binary after a table.
    if kind == LEGACY_BYTES:
        return parser.push(new_bytes(<const char*>p, nbytes))
    if kind <= LEGACY_COMMAND:
        return parser.push_text(b, p, nbytes, kind == LEGACY_COMMAND)
    if parser.message_layout == HEADER:
        return push_number(parser, kind, p)
    return push_number_text(parser, b, kind, p, nbytes)


cdef inline Py_ssize_t number_nbytes(int kind) noexcept:
    return 4 if kind == LEGACY_INT else 8


cdef inline int push_number(Parser parser, int kind, const unsigned char* p) except -1:
    if kind == LEGACY_INT:
        return parser.push_int(INT, load_i32(p))
    if kind == LEGACY_LONG:
        return parser.push_int(LONG, load_i64(p))
    return parser.push(new_float(load_f64(p)))


cdef int push_number_text(Parser parser, ReadBuffer* b, int kind, const unsigned char* p, Py_ssize_t nbytes) except -1:
    cdef bytes text = p[:nbytes]
    try:
        if kind == LEGACY_DOUBLE and b"\0" not in text:
            return parser.push_object(PyOS_string_to_double(text, NULL, NULL))
        if kind != LEGACY_DOUBLE and matches_integer(text):
            number = int(text)
            if (-2**31 <= number < 2**31) if kind == LEGACY_INT else (-2**63 <= number < 2**63):
                return parser.push_int(INT if kind == LEGACY_INT else LONG, number)
    except ValueError:
        pass
    return parser.raise_or_skip(parser.make_error(BlockError, f"{text[:40]!r} is not a number of type {kind}",
                                                  offset_of(b, p)))


cdef bint read_count(Parser parser, ReadBuffer* b) except -1:
    if not parser.need(b, 4):
        return False
    parser.count = load_i32(b.cursor)
    if parser.count < 0:
        parser.raise_block_error(b, 0, f"negative number of values {parser.count}")
    parser.consume(b, 4)
    parser.nentries = 0
    parser.phase = TABLE if parser.message_layout == HEADER else ARGUMENTS
    return True


cdef bint read_arguments(Parser parser, ReadBuffer* b) except -1:
    cdef Py_ssize_t ntype = 1 if parser.message_layout == TYPE8 else 4
    cdef bint as_text = parser.message_layout == BLOCK
    cdef int kind
    cdef int32_t length
    while parser.index < parser.count:
        if not parser.need(b, ntype):
            return False
        kind = b.cursor[0] if ntype == 1 else load_i32(b.cursor)
        if not 0 <= kind <= LEGACY_DOUBLE:
            parser.raise_block_error(b, 0, f"unknown type {kind} in a legacy layout")
        if kind <= LEGACY_COMMAND or as_text:
            if not parser.need(b, ntype + 4):
                return False
            length = load_i32(b.cursor + ntype)
            if length < 0:
                parser.raise_block_error(b, ntype, f"negative length {length}")
            if length >= LARGE_NBYTES:
                parser.consume(b, ntype + 4)
                return parser.start_large_checked(b, kind, length)
            if not parser.need(b, ntype + 4 + length):
                return False
            push_legacy_value(parser, b, kind, b.cursor + ntype + 4, length)
            parser.consume(b, ntype + 4 + length)
        else:
            length = number_nbytes(kind)
            if not parser.need(b, ntype + length):
                return False
            push_number(parser, kind, b.cursor + ntype)
            parser.consume(b, ntype + length)
        parser.count_value()
    return True


cdef int read_legacy_entry(Parser parser, ReadBuffer* b, Entry* entry) except -1:
    cdef int kind = load_i32(b.cursor)
    cdef int32_t length = load_i32(b.cursor + 4)
    if not 0 <= kind <= LEGACY_DOUBLE:
        parser.raise_block_error(b, 0, f"unknown type {kind} in a legacy layout")
    if length < 0:
        parser.raise_block_error(b, 4, f"negative length {length}")
    if kind > LEGACY_COMMAND and length != number_nbytes(kind):
        parser.raise_block_error(b, 4, f"a number of type {kind} has {number_nbytes(kind)} bytes, not {length}")
    entry.code = kind
    entry.number = length
    return 0


cdef bint read_line_argument(Parser parser, ReadBuffer* b) except -1:
    cdef Py_ssize_t line_end
    cdef int kind
    if not parser.need(b, 2):
        return False
    if b.cursor[1] != c"\n" or not (b.cursor[0] == c"e" or c"0" <= b.cursor[0] <= c"5"):
        parser.raise_block_error(b, 0, "expected a line with a type digit 0..5, or the end line")
    if b.cursor[0] == c"e":
        parser.consume(b, 2)
        parser.phase = HEAD
        return True
    line_end = find_line_end(parser, b, 2)
    if line_end < 0:
        return False
    kind = b.cursor[0] - c"0"
    push_line(parser, b, kind, b.cursor + 2, line_end - 2)
    parser.consume(b, line_end + 1)
    parser.nsearched = 0
    parser.count_value()
    return True


cdef Py_ssize_t find_line_end(Parser parser, ReadBuffer* b, Py_ssize_t at) except -2:
    # The offset from the cursor of the first LF at or after `at`; no byte is searched twice.
    cdef const unsigned char* found
    cdef Py_ssize_t start = max(at, parser.nsearched)
    while True:
        if held(b) > start:
            found = <const unsigned char*>memchr(b.cursor + start, c"\n", held(b) - start)
            if found != NULL:
                parser.need(b, found - b.cursor + 1)    # raises if the line exceeds the message limit
                return found - b.cursor
            start = held(b)
        parser.nsearched = start
        if not parser.need(b, start + 1):
            return -1


cdef int push_line(Parser parser, ReadBuffer* b, int kind, const unsigned char* p, Py_ssize_t nbytes) except -1:
    cdef bytes text = p[:nbytes]
    if kind == LEGACY_BYTES:
        try:
            data = a2b_base64(text)
            if b2a_base64(data, newline=False) == text:
                return parser.push_object(data)
        except ValueError:
            pass
        return parser.raise_or_skip(parser.make_error(BlockError, "bytes are not valid base64", offset_of(b, p)))
    if kind > LEGACY_COMMAND:
        return push_number_text(parser, b, kind, p, nbytes)
    if kind == LEGACY_COMMAND:
        if b"\r" in text:
            return parser.raise_or_skip(parser.make_error(BlockError, "a CR in a COMMAND, where it ends a line",
                                                          offset_of(b, p)))
    elif b"\\" in text or b"\r" in text:
        if not is_escaped_text(text):
            return parser.raise_or_skip(parser.make_error(
                BlockError, "invalid escape sequence, or a CR that is not escaped", offset_of(b, p)))
        text = replace_escapes(unescape, text)
    return push_text_of(parser, b, p, text, kind == LEGACY_COMMAND)


cdef int push_text_of(Parser parser, ReadBuffer* b, const unsigned char* p, bytes text, bint is_command) except -1:
    # An offset in unescaped text is not one in the input, so the error has that of the start of the text, `p`.
    try:
        decoded = text_object(text, len(text), parser.options.template.unicode_errors)
    except UnicodeDecodeError as error:
        reraise_memory_error(error)
        return parser.raise_or_skip(parser.make_error(BlockError, f"text is not UTF-8: {error.reason}",
                                                      offset_of(b, p)))
    return parser.push_object(Command(decoded) if is_command else decoded)
