# Described classes, from typed bytes, which our own encoder has made of an object, to their bytes: the reverse of
# decode.pxi.
#
# python: a record from a dict by the names of its fields, in any order, or from a tuple or list in their order; a field
# that may be null can be left out of a dict. errors: EncodeTypeError for what a field cannot hold, EncodeValueError for
# a number or text out of its range, with the path.

cdef DecodeOptions ANY_DEPTH = DecodeOptions(max_depth=1000)
cdef DecodeOptions ANY_DEPTH_HIVE = DecodeOptions(max_depth=1000, dialect="hive")

cdef enum:
    MAX_ATTEMPTS = 1 << 16

cdef struct ClassWriting:
    const unsigned char* p
    const unsigned char* end
    WriteBuffer* out
    ClassFrame* frame
    Py_ssize_t depth
    Skipping skipping
    bint is_skipping          # `skipping` has been started
    bint hive
    Py_ssize_t nattempts      # number of choices that were tried
    PyObject* program         # borrowed


cdef int write_described(ClassProgram program, bint hive, const unsigned char* p, Py_ssize_t nbytes,
                         WriteBuffer* out) except -1:
    cdef ClassWriting w
    w.is_skipping = False
    w.hive = hive
    try:
        w.p = p
        w.end = p + nbytes
        w.out = out
        w.frame = NULL
        w.depth = 0
        w.nattempts = 0
        w.program = <PyObject*>program
        write_field(&w, program.root)
    finally:
        if w.is_skipping:
            stop_skipping(&w.skipping)
    return 0


cdef int write_field(ClassWriting* w, const ClassNode* node) except -1:
    cdef FieldKind kind = node.kind
    cdef WriteBuffer* out = w.out
    cdef int64_t number
    cdef double real
    cdef Py_ssize_t nbytes
    if kind <= VLONG_FIELD:
        number = typed_integer(w, node)
        if not MIN_FIELD[<int>kind] <= number <= MAX_FIELD[<int>kind]:
            raise class_value_error(w, f"{number} does not fit in {<str>node.shown}")
        return store_integer(w, kind, number)
    if kind == TEXT_FIELD or kind == STRING_FIELD or kind == BYTES_FIELD or kind == FIXED_FIELD or kind == REST_FIELD:
        if kind == STRING_FIELD and is_typed_null(w):
            return store_integer(w, node.count, -1)
        nbytes = typed_payload(w, node, BYTES if kind >= BYTES_FIELD else STRING)
        if kind == FIXED_FIELD:
            if nbytes != node.nitems:
                raise class_value_error(w, f"expected {node.nitems} bytes for {<str>node.shown}, got {nbytes}")
        elif kind != REST_FIELD:
            store_count(w, node, nbytes)
        append_bytes(out, w.p, nbytes)
        w.p += nbytes
        return 0
    if kind == DOUBLE_FIELD or kind == FLOAT_FIELD:
        real = typed_real(w, node)
        reserve(out, 8)
        if kind == DOUBLE_FIELD:
            store_f64(out.cursor, real)
        elif not store_f32(out.cursor, real):
            raise class_value_error(w, f"the number {real} is too large for {<str>node.shown}")
        out.cursor += 8 if kind == DOUBLE_FIELD else 4
        return 0
    if kind == BOOLEAN_FIELD:
        expect_code(w, node, BOOL, 2)
        reserve(out, 1)
        store_code(out, w.p[1] != 0)
        w.p += 2
        return 0
    if kind == NULL_FIELD:
        if not is_typed_null(w):
            raise class_type_error(w, node)
        return 0
    if kind == OPTIONAL_FIELD:
        nbytes = not is_typed_null(w)
        reserve(out, 1)
        store_code(out, nbytes)
        return write_member(w, node, 0) if nbytes else 0
    if kind == CONSTANT_FIELD:
        return append_bytes(out, node.constant, node.nitems)
    return write_parts(w, node)


cdef int write_parts(ClassWriting* w, const ClassNode* node) except -1:
    cdef FieldKind kind = node.kind
    if kind == RECORD_FIELD:
        return write_record(w, node)
    if kind == STRINGS_FIELD and is_typed_null(w):
        return store_integer(w, node.count, -1)
    if kind == LIST_FIELD or kind == ARRAY_FIELD or kind == STRINGS_FIELD:
        return write_list(w, node)
    if kind == MAP_FIELD:
        return write_map(w, node)
    if kind == TABLE_FIELD:
        return write_table(w, node)
    if kind == UTF_FIELD or kind == CHAR_FIELD:
        return write_java_text(w, node)
    if kind == ENUM_FIELD:
        return write_enum(w, node)
    if kind == CHOICE_FIELD:
        return write_choice(w, node)
    if kind == WITHIN_FIELD:
        return write_counted(w, node)
    if kind == COMPRESSED_FIELD:
        return write_compressed(w, node)
    return write_by_function(w, node)


# ---- typed bytes -----------------------------------------------------------------------------------------------------

cdef inline int code_ahead(ClassWriting* w) noexcept nogil:
    return w.p[0] if w.p < w.end else -1


cdef bint is_typed_null(ClassWriting* w) noexcept:
    # Whether null is at the cursor; it is consumed.
    if w.p < w.end and w.p[0] == NULL_CODE and w.hive:
        w.p += 1
        return True
    if starts_null(w):
        w.p += PICKLED_NONE_NBYTES
        return True
    return False


cdef inline int expect_code(ClassWriting* w, const ClassNode* node, int code, Py_ssize_t nbytes) except -1:
    if code_ahead(w) != code or w.end - w.p < nbytes:
        raise class_type_error(w, node)
    return 0


cdef int64_t typed_integer(ClassWriting* w, const ClassNode* node) except? -1:
    cdef int64_t number
    cdef Py_ssize_t size = scalar_nbytes(w.p, w.end - w.p)
    if size == 0 or w.p[0] not in (BYTE, INT, LONG):
        if code_ahead(w) == PICKLE and not starts_null(w):
            raise class_value_error(w, f"expected a number of at most 64 bits for {<str>node.shown}")
        raise class_type_error(w, node)
    number = <signed char>w.p[1] if w.p[0] == BYTE else load_i32(w.p + 1) if w.p[0] == INT else load_i64(w.p + 1)
    w.p += size
    return number


cdef inline bint starts_null(ClassWriting* w) noexcept:
    return w.end - w.p >= PICKLED_NONE_NBYTES and memcmp(w.p, PICKLED_NONE, PICKLED_NONE_NBYTES) == 0


cdef double typed_real(ClassWriting* w, const ClassNode* node) except? -1.0:
    cdef double number
    cdef int code = code_ahead(w)
    if code != DOUBLE and code != FLOAT:
        return <double>typed_integer(w, node)
    expect_code(w, node, code, 9 if code == DOUBLE else 5)
    number = load_f64(w.p + 1) if code == DOUBLE else load_f32(w.p + 1)
    w.p += 9 if code == DOUBLE else 5
    return number


cdef Py_ssize_t typed_payload(ClassWriting* w, const ClassNode* node, int code) except -1:
    # The length of a STRING or BYTES; the cursor is moved to its bytes.
    cdef int found = code_ahead(w)
    cdef Py_ssize_t nbytes
    if found == BYTESTRING and code == BYTES:
        found = BYTES
    if found != code or w.end - w.p < 5:
        raise class_type_error(w, node)
    nbytes = load_i32(w.p + 1)
    if not 0 <= nbytes <= w.end - w.p - 5:
        raise class_type_error(w, node)
    w.p += 5
    return nbytes


cdef const unsigned char* after_value(ClassWriting* w, const unsigned char* p) except NULL:
    # The end of the value at p. Our own encoder has bounded its depth.
    cdef ReadBuffer value
    cdef Decoding d
    cdef Py_ssize_t nbytes = scalar_nbytes(p, w.end - p)
    if nbytes:
        return p + nbytes
    if not w.is_skipping:
        d = (ANY_DEPTH_HIVE if w.hive else ANY_DEPTH).template
        start_skipping(&w.skipping, &d)
        w.is_skipping = True
    borrow(&value, p, w.end - p)
    if skip_value(&w.skipping, &value) != SKIPPED:
        w.skipping.depth = w.skipping.tail = 0
        raise class_value_error(w, "a value is not whole typed bytes")
    return value.cursor


# ---- the class -------------------------------------------------------------------------------------------------------

cdef int store_integer(ClassWriting* w, FieldKind kind, int64_t number) except -1:
    cdef WriteBuffer* out = w.out
    reserve(out, 9)
    if kind == VINT_FIELD or kind == VLONG_FIELD:
        out.cursor += store_vint(out.cursor, number)
        return 0
    if kind == LONG_FIELD:
        store_i64(out.cursor, number)
    elif kind == INT_FIELD:
        store_i32(out.cursor, <int32_t>number)
    elif kind == SHORT_FIELD:
        store_i16(out.cursor, <int16_t>number)
    else:
        out.cursor[0] = <unsigned char>number
    out.cursor += FIELD_NBYTES[<int>kind]
    return 0


cdef int store_count(ClassWriting* w, const ClassNode* node, int64_t count) except -1:
    if count > MAX_FIELD[<int>node.count] or count > MAX_LENGTH:
        raise class_value_error(w, f"{count} is too much for the count of {<str>node.shown}")
    return store_integer(w, node.count, count)


cdef int insert_count(ClassWriting* w, const ClassNode* node, Py_ssize_t start, int64_t count) except -1:
    # Before the bytes from `start` on.
    cdef Py_ssize_t nbytes = written(w.out) - start
    cdef unsigned char saved[9]
    cdef Py_ssize_t ncount
    store_count(w, node, count)
    ncount = written(w.out) - start - nbytes
    memcpy(saved, w.out.cursor - ncount, ncount)
    memmove(w.out.start + start + ncount, w.out.start + start, nbytes)
    memcpy(w.out.start + start, saved, ncount)
    return 0


cdef inline int open_member(ClassWriting* w, ClassFrame* frame, const ClassNode* node) except -1:
    frame.parent = w.frame
    frame.node = node
    frame.index = 0
    frame.is_key = False
    w.frame = frame
    w.depth += 1
    if w.depth > MAX_FIELD_DEPTH:
        raise class_value_error(w, f"values nest deeper than {MAX_FIELD_DEPTH}")
    return 0


cdef inline void close_member(ClassWriting* w, ClassFrame* frame) noexcept:
    w.frame = frame.parent
    w.depth -= 1


cdef int write_member(ClassWriting* w, const ClassNode* node, Py_ssize_t which) except -1:
    cdef ClassFrame frame
    open_member(w, &frame, node)
    write_field(w, node.items[which])
    close_member(w, &frame)
    return 0


cdef int write_record(ClassWriting* w, const ClassNode* node) except -1:
    cdef ClassFrame frame
    cdef Py_ssize_t i
    open_member(w, &frame, node)
    if node.is_bare:
        for i in range(node.nitems):
            write_field(w, node.items[i])
    elif code_ahead(w) == MAP and node.names != NULL and w.end - w.p >= 5:
        write_by_name(w, node, &frame)
    else:
        write_by_position(w, node, &frame)
    close_member(w, &frame)
    return 0


cdef inline bint is_named(const ClassText* name, const unsigned char* p, const unsigned char* end) noexcept:
    return end - p >= name.nbytes and memcmp(p, name.p, name.nbytes) == 0


cdef int write_by_name(ClassWriting* w, const ClassNode* node, ClassFrame* frame) except -1:
    # Fields in their order are taken as they come; others are looked for among all pairs.
    cdef Py_ssize_t npairs = load_i32(w.p + 1)
    cdef Py_ssize_t nfound = 0
    cdef Py_ssize_t pair = 0    # the one after the field taken last
    cdef const unsigned char* pairs = w.p + 5
    cdef const unsigned char* at = pairs    # its key
    cdef const unsigned char* last = pairs    # the end of the pairs that are known
    cdef Py_ssize_t i
    for i in range(node.nitems):
        frame.index = i
        if node.items[i].kind == CONSTANT_FIELD:
            write_field(w, node.items[i])
            continue
        if pair >= npairs or not is_named(&node.names[i], at, w.end):
            at = find_pair(w, &node.names[i], pairs, npairs, &pair)
            if at == NULL:
                at = pairs
                pair = 0
                write_missing(w, node.items[i])
                continue
        w.p = at + node.names[i].nbytes
        write_field(w, node.items[i])
        nfound += 1
        pair += 1
        at = w.p
        last = max(last, w.p)
    if nfound < npairs:
        raise class_unknown_field(w, node, pairs, npairs)
    w.p = last
    return 0


cdef const unsigned char* find_pair(ClassWriting* w, const ClassText* name, const unsigned char* p, Py_ssize_t npairs,
                                    Py_ssize_t* pair) except? NULL:
    # The key of that name, and the number of its pair; NULL: there is none.
    cdef Py_ssize_t i
    for i in range(npairs):
        if is_named(name, p, w.end):
            pair[0] = i
            return p
        p = after_value(w, after_value(w, p))
    return NULL


cdef int write_missing(ClassWriting* w, const ClassNode* field) except -1:
    if field.kind == OPTIONAL_FIELD or field.kind == STRING_FIELD or field.kind == STRINGS_FIELD:
        return store_integer(w, field.count, 0 if field.kind == OPTIONAL_FIELD else -1)
    if field.kind == NULL_FIELD:
        return 0
    raise class_type_error_of(w, "the field is missing")


cdef object class_unknown_field(ClassWriting* w, const ClassNode* node, const unsigned char* p, Py_ssize_t npairs):
    cdef Py_ssize_t i
    cdef Py_ssize_t field
    w.frame = w.frame.parent
    for i in range(npairs):
        for field in range(node.nitems):
            if node.items[field].kind != CONSTANT_FIELD and is_named(&node.names[field], p, w.end):
                break
        else:
            if p[0] == STRING:
                shown = p[5:5 + load_i32(p + 1)].decode("utf-8", "backslashreplace")
                return class_type_error_of(w, f"{<str>node.shown} has no field {shown!r:.80}")
            return class_type_error_of(w, f"{<str>node.shown} has fields with names, not other keys")
        p = after_value(w, after_value(w, p))
    return class_type_error_of(w, f"{<str>node.shown} has fields that come twice")


cdef int write_by_position(ClassWriting* w, const ClassNode* node, ClassFrame* frame) except -1:
    cdef const unsigned char* start = w.p
    cdef Py_ssize_t i
    cdef Py_ssize_t count = node.nshown
    cdef bint is_list = code_ahead(w) == LIST
    if code_ahead(w) != VECTOR and not is_list or w.end - w.p < (1 if is_list else 5):
        w.frame = frame.parent
        raise class_type_error(w, node)
    if not is_list:
        count = load_i32(w.p + 1)
    w.p += 1 if is_list else 5
    for i in range(node.nitems):
        frame.index = i
        if node.items[i].kind != CONSTANT_FIELD and is_list and code_ahead(w) == MARKER:
            count = -1
        if count != node.nshown:
            break
        write_field(w, node.items[i])
    if count != node.nshown or (is_list and code_ahead(w) != MARKER):
        w.frame = frame.parent
        raise class_type_error_of(w, f"expected {node.nshown} items for {<str>node.shown}")
    w.p += is_list
    return 0


cdef Py_ssize_t write_items(ClassWriting* w, const ClassNode* node, ClassFrame* frame) except -1:
    # The items of a LIST or VECTOR; how many they are.
    cdef bint is_list = code_ahead(w) == LIST
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t count = -1
    if code_ahead(w) != VECTOR and not is_list or w.end - w.p < (1 if is_list else 5):
        w.frame = frame.parent
        raise class_type_error(w, node)
    if not is_list:
        count = load_i32(w.p + 1)
    w.p += 1 if is_list else 5
    while n != count and not (is_list and code_ahead(w) == MARKER):
        frame.index = n
        write_field(w, node.items[0])
        n += 1
        if not n & SIGNAL_MASK:
            PyErr_CheckSignals()
    w.p += is_list
    return n


cdef int write_list(ClassWriting* w, const ClassNode* node) except -1:
    cdef ClassFrame frame
    cdef Py_ssize_t start = written(w.out)
    cdef Py_ssize_t n
    open_member(w, &frame, node)
    n = write_items(w, node, &frame)
    close_member(w, &frame)
    if node.kind != ARRAY_FIELD:
        return insert_count(w, node, start, n)
    if n != node.nitems:
        raise class_value_error(w, f"expected {node.nitems} items for {<str>node.shown}, got {n}")
    return 0


cdef int write_map(ClassWriting* w, const ClassNode* node) except -1:
    cdef ClassFrame frame
    cdef Py_ssize_t npairs, i
    expect_code(w, node, MAP, 5)
    npairs = load_i32(w.p + 1)
    w.p += 5
    store_count(w, node, npairs)
    open_member(w, &frame, node)
    for i in range(npairs):
        frame.index = i
        frame.is_key = True
        write_field(w, node.items[0])
        frame.is_key = False
        write_field(w, node.items[1])
    close_member(w, &frame)
    return 0


cdef int write_table(ClassWriting* w, const ClassNode* node) except -1:
    cdef const unsigned char* start = w.p
    cdef ClassFrame frame
    cdef Py_ssize_t nrows = 0
    cdef Py_ssize_t row, at
    cdef bint is_list = code_ahead(w) == LIST
    if code_ahead(w) != VECTOR and not is_list or w.end - w.p < (1 if is_list else 5):
        raise class_type_error(w, node)
    w.p += 1 if is_list else 5
    if is_list:
        while code_ahead(w) != MARKER:
            w.p = after_value(w, w.p)
            nrows += 1
    else:
        nrows = load_i32(start + 1)
    store_count(w, node, nrows)
    at = written(w.out)
    reserve(w.out, 4 * nrows)
    w.out.cursor += 4 * nrows
    w.p = start + (1 if is_list else 5)
    open_member(w, &frame, node)
    for row in range(nrows):
        store_i32(w.out.start + at + 4 * row, <int32_t>write_items(w, node, &frame))
    close_member(w, &frame)
    w.p += is_list
    return 0


cdef int write_java_text(ClassWriting* w, const ClassNode* node) except -1:
    cdef Py_ssize_t nbytes = typed_payload(w, node, STRING)
    cdef Py_ssize_t start = written(w.out)
    cdef Py_ssize_t n, size = 0
    cdef int unit
    if node.kind == CHAR_FIELD:
        unit = unit_at(w.p, nbytes, &size) if nbytes else -1
        if unit < 0 and nbytes == 1 and w.p[0] == 0:
            unit, size = 0, 1
        if unit < 0 or size != nbytes:
            raise class_value_error(w, f"expected text of one UTF-16 unit for {<str>node.shown}")
        w.p += nbytes
        return store_integer(w, SHORT_FIELD, unit)
    reserve(w.out, 2 + 2 * nbytes)
    n = java_from_utf8(w.out.cursor + 2, w.p, nbytes)
    if n > 65535:
        raise class_value_error(w, f"{<str>node.shown} holds at most 65535 bytes, not {n}")
    w.out.start[start] = <unsigned char>(n >> 8)
    w.out.start[start + 1] = <unsigned char>n
    w.out.cursor += 2 + n
    w.p += nbytes
    return 0


cdef int write_enum(ClassWriting* w, const ClassNode* node) except -1:
    cdef Py_ssize_t i
    if code_ahead(w) != STRING:
        raise class_type_error(w, node)
    for i in range(node.nitems):
        if is_named(&node.names[i], w.p, w.end):
            w.p += node.names[i].nbytes
            return store_integer(w, node.count, i)
    raise class_value_error(w, f"expected one of the names of {<str>node.shown}")


cdef int write_choice(ClassWriting* w, const ClassNode* node) except -1:
    # The first class that the value fits.
    cdef const unsigned char* start = w.p
    cdef Py_ssize_t before = written(w.out)
    cdef ClassFrame* frame = w.frame
    cdef Py_ssize_t depth = w.depth
    cdef Py_ssize_t i
    for i in range(node.nitems):
        w.nattempts += 1
        if w.nattempts > MAX_ATTEMPTS:
            raise class_value_error(w, f"more than {MAX_ATTEMPTS} classes tried for the values of a record")
        try:
            store_integer(w, node.count, i)
            return write_member(w, node, i)
        except (EncodeTypeError, EncodeValueError) as error:
            reraise_memory_error(error)
            w.p, w.frame, w.depth = start, frame, depth
            w.out.cursor = w.out.start + before
    raise class_type_error(w, node)


cdef int write_counted(ClassWriting* w, const ClassNode* node) except -1:
    cdef Py_ssize_t start = written(w.out)
    write_member(w, node, 0)
    return insert_count(w, node, start, written(w.out) - start)


cdef int write_compressed(ClassWriting* w, const ClassNode* node) except -1:
    cdef Py_ssize_t start = written(w.out)
    from zlib import compress    # lazy import: start-up time
    write_member(w, node, 0)
    # level 1, as Hadoop's
    data = compress(PyBytes_FromStringAndSize(<const char*>w.out.start + start, written(w.out) - start), 1)
    w.out.cursor = w.out.start + start
    store_count(w, node, len(data))
    return append_bytes(w.out, <const unsigned char*>PyBytes_AS_STRING(data), len(data))


cdef int write_by_function(ClassWriting* w, const ClassNode* node) except -1:
    cdef const unsigned char* end = after_value(w, w.p)
    cdef bytes data
    function = (<tuple>node.functions)[1]
    if function is None:
        raise class_type_error_of(w, f"{<str>node.shown} can be read, but not written")
    data = function(PyBytes_FromStringAndSize(<const char*>w.p, end - w.p))
    w.p = end
    return append_bytes(w.out, <const unsigned char*>PyBytes_AS_STRING(data), len(data))


# ---- errors ----------------------------------------------------------------------------------------------------------

cdef object class_value_error(ClassWriting* w, str message):
    return EncodeValueError(f"{(<ClassProgram>w.program).class_name}: {message}", path_of_class(w.frame))


cdef object class_type_error_of(ClassWriting* w, str message):
    return EncodeTypeError(f"{(<ClassProgram>w.program).class_name}: {message}", path_of_class(w.frame))


cdef object class_type_error(ClassWriting* w, const ClassNode* node):
    cdef int code = code_ahead(w)
    is_null = starts_null(w) or (code == NULL_CODE and w.hive)
    found = "None" if is_null else TYPE_NAMES.get(code, f"type code {code}")
    return class_type_error_of(w, f"expected {<str>node.shown}, not {found}")


cdef dict TYPE_NAMES = {
    BYTES: "bytes", BYTE: "an int", BOOL: "a bool", INT: "an int", LONG: "an int", FLOAT: "a float", DOUBLE: "a float",
    STRING: "a str", VECTOR: "a tuple", LIST: "a list", MAP: "a dict", WRITABLE: "a Writable",
}
