# Described classes, from their bytes to typed bytes, which then become objects, columns, or records of a stream.
#
# wire: a record is a MAP from the names of its fields, or a VECTOR if they have none; a list is a LIST, an array of a
# known number of items a VECTOR; null is the pickle of None, in Hive's dialect NULL. errors: FormatError and
# TruncatedError with the path by names of fields and the offset among the bytes of the Writable. limits: counts are
# compared with the bytes that are left; `limit` bounds the typed bytes, since a field's name may be longer than it.

cdef struct ClassFrame:
    ClassFrame* parent
    const ClassNode* node
    Py_ssize_t index
    bint is_key               # the part is a key of a map
    const unsigned char* at   # reading: where the part starts

cdef struct ClassReading:
    const unsigned char* p
    const unsigned char* start
    const unsigned char* end
    Py_ssize_t outer          # offset of the compressed bytes that the part is in; -1: it is in none
    WriteBuffer* out
    ClassFrame* frame
    Py_ssize_t first          # bytes that were in `out` before
    Py_ssize_t limit          # the most bytes that `out` may have
    const unsigned char* null
    Py_ssize_t null_nbytes
    Py_ssize_t depth
    Decoding* d
    PyObject* program         # borrowed


cdef Py_ssize_t read_described(ClassProgram program, Decoding* d, const unsigned char* p, Py_ssize_t nbytes,
                               WriteBuffer* out, Py_ssize_t wanted, bint is_whole, Py_ssize_t depth=0) except -1:
    # Append a value as typed bytes; return the bytes read. wanted: raise at what makes the typed bytes longer than
    # that, -1: nothing. is_whole: the value takes all of the bytes.
    cdef ClassReading r
    cdef Py_ssize_t first = written(out)
    cdef Py_ssize_t used = nbytes
    cdef Py_ssize_t nwritten
    if wanted < 0 and program.is_plain:
        nwritten = store_described(program.root, d.hive, p, &used, out.cursor, out.end - out.cursor, depth)
        if nwritten and (used == nbytes or not is_whole):
            out.cursor += nwritten
            return used
    r.start = r.p = p
    r.end = p + nbytes
    r.outer = -1
    r.out = out
    r.frame = NULL
    r.first = first
    r.limit = first + (MAX_RECORD_NBYTES if wanted < 0 else wanted)
    r.null = NULL_OF_HIVE if d.hive else <const unsigned char*>PICKLED_NONE
    r.null_nbytes = 1 if d.hive else PICKLED_NONE_NBYTES
    r.depth = depth
    r.d = d
    r.program = <PyObject*>program
    read_field(&r, program.root)
    check_produced(&r)
    if is_whole and r.p != r.end:
        raise class_error(&r, FormatError, rest_of(r.end - r.p), r.p)
    return r.p - p

cdef const unsigned char* NULL_OF_HIVE = b"\x0c"


cdef str rest_of(Py_ssize_t nbytes):
    return f"{nbytes} byte{' is' if nbytes == 1 else 's are'} left after the last field"


cdef inline int check_produced(ClassReading* r) except -1:
    if unlikely(written(r.out) > r.limit):
        return raise_produced(r)
    return 0


cdef inline int open_part(ClassReading* r, ClassFrame* frame, const ClassNode* node) except -1:
    frame.parent = r.frame
    frame.node = node
    frame.index = 0
    frame.is_key = False
    frame.at = r.p
    r.frame = frame
    r.depth += 1
    if unlikely(r.depth > MAX_FIELD_DEPTH):
        raise class_error(r, LimitError, f"values nest deeper than {MAX_FIELD_DEPTH}", r.p)
    return 0


cdef inline void close_part(ClassReading* r, ClassFrame* frame) noexcept:
    r.frame = frame.parent
    r.depth -= 1


cdef inline int require_bytes(ClassReading* r, const ClassNode* node, Py_ssize_t nbytes) except -1:
    if unlikely(r.end - r.p < nbytes):
        return raise_short(r, node, nbytes)
    return 0


cdef int read_field(ClassReading* r, const ClassNode* node) except -1:
    return read_field_inline(r, node)


cdef inline int read_field_inline(ClassReading* r, const ClassNode* node) except -1:
    # The scalars; what has parts is out of line.
    cdef WriteBuffer* out = r.out
    cdef FieldKind kind = node.kind
    cdef int64_t number
    if kind == TEXT_FIELD or kind == BYTES_FIELD:
        number = read_count(r, node)
        return append_payload(r, STRING if kind == TEXT_FIELD else BYTES, number)
    if kind <= VLONG_FIELD:
        reserve(out, 9)
        number = read_integer(r, node, kind)
        if kind == LONG_FIELD or kind == VLONG_FIELD:
            out.cursor[0] = LONG
            store_i64(out.cursor + 1, number)
            out.cursor += 9
        elif kind == BYTE_FIELD:
            out.cursor[0] = BYTE
            out.cursor[1] = <unsigned char>number
            out.cursor += 2
        else:
            out.cursor[0] = INT
            store_i32(out.cursor + 1, <int32_t>number)
            out.cursor += 5
        return 0
    if kind == DOUBLE_FIELD or kind == FLOAT_FIELD:
        return append_fixed(r, node, DOUBLE if kind == DOUBLE_FIELD else FLOAT, 8 if kind == DOUBLE_FIELD else 4)
    if kind == BOOLEAN_FIELD:
        require_bytes(r, node, 1)
        reserve(out, 2)
        out.cursor[0] = BOOL
        out.cursor[1] = r.p[0] != 0
        out.cursor += 2
        r.p += 1
        return 0
    if kind == OPTIONAL_FIELD:
        require_bytes(r, node, 1)
        number = r.p[0]
        r.p += 1
        return append_null(r) if number == 0 else read_parts(r, node)
    return read_parts(r, node)


cdef inline int append_fixed(ClassReading* r, const ClassNode* node, int code, Py_ssize_t nbytes) except -1:
    require_bytes(r, node, nbytes)
    reserve(r.out, 1 + nbytes)
    r.out.cursor[0] = code
    memcpy(r.out.cursor + 1, r.p, nbytes)
    r.out.cursor += 1 + nbytes
    r.p += nbytes
    return 0


cdef inline int append_null(ClassReading* r) except -1:
    return append_bytes(r.out, r.null, r.null_nbytes)


cdef inline int append_payload(ClassReading* r, int code, Py_ssize_t nbytes) except -1:
    # The caller has checked that the bytes are there.
    reserve(r.out, 5 + nbytes)
    r.out.cursor[0] = code
    store_i32(r.out.cursor + 1, <int32_t>nbytes)
    copy_short(r.out.cursor + 5, r.p, nbytes)
    r.out.cursor += 5 + nbytes
    r.p += nbytes
    return 0


cdef inline int64_t read_integer(ClassReading* r, const ClassNode* node, FieldKind kind) except? -1:
    cdef int size
    cdef int64_t number
    if kind == VINT_FIELD or kind == VLONG_FIELD:
        require_bytes(r, node, 1)
        size = vint_size(r.p[0])
        require_bytes(r, node, size)
        number = load_vint(r.p)
        if unlikely(not MIN_FIELD[<int>kind] <= number <= MAX_FIELD[<int>kind]):
            raise class_error(r, FormatError, f"{number} does not fit in a vint", r.p)
        r.p += size
        return number
    require_bytes(r, node, FIELD_NBYTES[<int>kind])
    number = load_i32(r.p) if kind == INT_FIELD else load_i64(r.p) if kind == LONG_FIELD \
        else load_i16(r.p) if kind == SHORT_FIELD else <signed char>r.p[0]
    r.p += FIELD_NBYTES[<int>kind]
    return number


cdef inline Py_ssize_t read_count(ClassReading* r, const ClassNode* node) except -1:
    # A count of what takes at least a byte each.
    cdef const unsigned char* at = r.p
    cdef int64_t number = read_integer(r, node, node.count)
    if unlikely(not 0 <= number <= min(r.end - r.p, MAX_LENGTH - 5)):
        return raise_count(r, node, number, at)
    return number


cdef int read_parts(ClassReading* r, const ClassNode* node) except -1:
    cdef FieldKind kind = node.kind
    cdef const unsigned char* at = r.p
    cdef int64_t number
    if kind == RECORD_FIELD:
        return read_fields(r, node)
    if kind == LIST_FIELD:
        return read_items(r, node, read_count(r, node), LIST)
    if kind == ARRAY_FIELD:
        return read_items(r, node, node.nitems, VECTOR)
    if kind == MAP_FIELD:
        return read_pairs(r, node)
    if kind == OPTIONAL_FIELD:
        return read_within(r, node)
    if kind == UTF_FIELD:
        return read_utf(r, node)
    if kind == STRING_FIELD or kind == STRINGS_FIELD:
        number = read_integer(r, node, node.count)
        if number == -1:
            return append_null(r)
        if kind == STRINGS_FIELD and number >= 0:
            return read_items(r, node, number, LIST)
        if not 0 <= number <= r.end - r.p:
            return raise_count(r, node, number, at)
        return append_payload(r, STRING, number)
    if kind == FIXED_FIELD:
        require_bytes(r, node, node.nitems)
        return append_payload(r, BYTES, node.nitems)
    if kind == REST_FIELD:
        if r.end - r.p > MAX_LENGTH - 5:
            return raise_count(r, node, r.end - r.p, at)
        return append_payload(r, BYTES, r.end - r.p)
    if kind == NULL_FIELD:
        return append_null(r)
    if kind == ENUM_FIELD or kind == CHOICE_FIELD:
        number = read_integer(r, node, node.count)
        if not 0 <= number < node.nitems:
            raise class_error(r, FormatError, f"number {number} of {<str>node.shown}, which has {node.nitems}", at)
        if kind == ENUM_FIELD:
            return append_bytes(r.out, node.names[number].p, node.names[number].nbytes)
        return read_within(r, node, number)
    if kind == CONSTANT_FIELD:
        require_bytes(r, node, node.nitems)
        if memcmp(r.p, node.constant, node.nitems):
            raise class_error(r, FormatError, f"expected {<str>node.shown}, found the bytes "
                                              f"{r.p[:node.nitems].hex()}", at)
        r.p += node.nitems
        return 0
    if kind == TABLE_FIELD:
        return read_table(r, node)
    if kind == WITHIN_FIELD:
        return read_counted(r, node)
    if kind == COMPRESSED_FIELD:
        return read_compressed(r, node)
    if kind == CHAR_FIELD:
        return read_char(r, node)
    return read_by_function(r, node)


cdef int read_within(ClassReading* r, const ClassNode* node, Py_ssize_t which=0) except -1:
    cdef ClassFrame frame
    open_part(r, &frame, node)
    read_field(r, node.items[which])
    close_part(r, &frame)
    return 0


cdef int read_fields(ClassReading* r, const ClassNode* node) except -1:
    cdef WriteBuffer* out = r.out
    cdef ClassFrame frame
    cdef const ClassNode* field
    cdef Py_ssize_t i
    open_part(r, &frame, node)
    if not node.is_bare:
        reserve(out, 5)
        out.cursor[0] = VECTOR if node.names == NULL else MAP
        store_i32(out.cursor + 1, <int32_t>node.nshown)
        out.cursor += 5
    for i in range(node.nitems):
        frame.index = i
        frame.at = r.p
        field = node.items[i]
        if node.names != NULL and field.kind != CONSTANT_FIELD:
            reserve(out, node.names[i].nbytes)
            copy_short(out.cursor, node.names[i].p, node.names[i].nbytes)
            out.cursor += node.names[i].nbytes
        read_field_inline(r, field)
        check_produced(r)
    close_part(r, &frame)
    return 0


cdef int read_items(ClassReading* r, const ClassNode* node, Py_ssize_t nitems, int code) except -1:
    cdef ClassFrame frame
    cdef const ClassNode* item = node.items[0]
    cdef Py_ssize_t i
    open_part(r, &frame, node)
    check_left(r, node, nitems, item.min_nbytes)
    reserve(r.out, 5)
    r.out.cursor[0] = code
    r.out.cursor += 1
    if code == VECTOR:
        store_i32(r.out.cursor, <int32_t>nitems)
        r.out.cursor += 4
    for i in range(nitems):
        frame.index = i
        frame.at = r.p
        read_field_inline(r, item)
        check_produced(r)
        if not (i + 1) & SIGNAL_MASK:
            PyErr_CheckSignals()
    if code == LIST:
        reserve(r.out, 1)
        store_code(r.out, MARKER)
    close_part(r, &frame)
    return 0


cdef inline int check_left(ClassReading* r, const ClassNode* node, Py_ssize_t nitems, Py_ssize_t nbytes) except -1:
    # Whether there are enough bytes for so many items that each take at least nbytes, of which there is 1 at least.
    if unlikely(nitems > (r.end - r.p) // max(nbytes, 1)):
        return raise_count(r, node, nitems, r.p)
    return 0


cdef int read_pairs(ClassReading* r, const ClassNode* node) except -1:
    cdef ClassFrame frame
    cdef Py_ssize_t npairs = read_count(r, node)
    cdef Py_ssize_t i
    open_part(r, &frame, node)
    check_left(r, node, npairs, node.items[0].min_nbytes + node.items[1].min_nbytes)
    reserve(r.out, 5)
    store_code(r.out, MAP)
    store_i32(r.out.cursor, <int32_t>npairs)
    r.out.cursor += 4
    for i in range(npairs):
        frame.index = i
        frame.is_key = True
        frame.at = r.p
        read_field_inline(r, node.items[0])
        check_produced(r)
        frame.is_key = False
        frame.at = r.p
        read_field_inline(r, node.items[1])
        check_produced(r)
        if not (i + 1) & SIGNAL_MASK:
            PyErr_CheckSignals()
    close_part(r, &frame)
    return 0


cdef int read_table(ClassReading* r, const ClassNode* node) except -1:
    cdef Py_ssize_t nrows = read_count(r, node)
    cdef Py_ssize_t i
    cdef const unsigned char* lengths = r.p
    cdef int32_t length
    check_left(r, node, nrows, 4)
    r.p += 4 * nrows
    reserve(r.out, 1)
    store_code(r.out, LIST)
    for i in range(nrows):
        length = load_i32(lengths + 4 * i)
        if length < 0:
            raise_count(r, node, length, lengths + 4 * i)
        read_items(r, node, length, LIST)
        check_produced(r)
    reserve(r.out, 1)
    store_code(r.out, MARKER)
    return 0


cdef int read_counted(ClassReading* r, const ClassNode* node) except -1:
    cdef Py_ssize_t nbytes = read_count(r, node)
    cdef const unsigned char* end = r.end
    r.end = r.p + nbytes
    read_within(r, node)
    if r.p != r.end:
        raise class_error(r, FormatError, f"{r.end - r.p} bytes after the value in {<str>node.shown}", r.p)
    r.end = end
    return 0


cdef int read_compressed(ClassReading* r, const ClassNode* node) except -1:
    cdef ClassReading outer = r[0]
    cdef Py_ssize_t nbytes = read_count(r, node)
    cdef bytes data
    from zlib import decompressobj, error as ZlibError    # lazy import: start-up time
    stream = decompressobj()
    try:
        data = stream.decompress(PyBytes_FromStringAndSize(<const char*>r.p, nbytes), MAX_RECORD_NBYTES)
    except ZlibError as error:
        reraise_memory_error(error)
        raise class_error(r, FormatError, f"damaged data in {<str>node.shown}: {error}", r.p) from None
    if stream.unconsumed_tail:
        raise class_error(r, LimitError, f"more than {MAX_RECORD_NBYTES} bytes in {<str>node.shown}", r.p)
    if not stream.eof:
        raise class_error(r, TruncatedError, f"{<str>node.shown} ends inside its compressed data", r.p + nbytes)
    r.outer = offset_in(r, r.p)
    r.start = r.p = <const unsigned char*>PyBytes_AS_STRING(data)
    r.end = r.p + len(data)
    read_within(r, node)
    if r.p != r.end:
        raise class_error(r, FormatError, f"{r.end - r.p} bytes after the value in {<str>node.shown}", r.p)
    r.outer, r.start, r.end = outer.outer, outer.start, outer.end
    r.p = outer.p
    r.p += FIELD_NBYTES[<int>node.count] if node.count < VINT_FIELD else vint_size(r.p[0])
    r.p += nbytes
    return 0


cdef int read_by_function(ClassReading* r, const ClassNode* node) except -1:
    # A function takes the bytes and the depth, and returns typed bytes and the number of bytes used.
    cdef Py_ssize_t nbytes = r.end - r.p
    cdef Py_ssize_t offset
    cdef ClassFrame frame
    cdef bytes typed
    open_part(r, &frame, node)
    view = PyMemoryView_FromMemory(<char*>r.p, nbytes, PyBUF_READ)
    try:
        typed, used = (<tuple>node.functions)[0](view, r.depth)
    except DecodeError as error:
        reraise_memory_error(error)
        offset = min(max(error.offset or 0, 0), nbytes)
        raise class_error(r, type(error), error.message, r.p + offset) from None
    finally:
        view.release()
    if not 0 <= used <= nbytes:
        raise RuntimeError(f"a function that reads {<str>node.shown} used {used} of {nbytes} bytes")
    append_bytes(r.out, <const unsigned char*>PyBytes_AS_STRING(typed), len(typed))
    r.p += <Py_ssize_t>used
    close_part(r, &frame)
    return 0


# ---- errors ----------------------------------------------------------------------------------------------------------

cdef Py_ssize_t offset_in(ClassReading* r, const unsigned char* at) noexcept:
    return at - r.start if r.outer < 0 else r.outer


cdef object class_error(ClassReading* r, kind, str message, const unsigned char* at):
    # With the path, and the offset that a byte has in the input.
    cdef str place = "" if r.outer < 0 else f", byte {at - r.start} of what is decompressed"
    return kind(f"{(<ClassProgram>r.program).class_name}: {message}{place}", r.d.buf.start_offset + offset_in(r, at),
                None, path_of_class(r.frame), r.d.record_index if r.d.record_index >= 0 else None)


cdef str path_of_class(ClassFrame* frame):
    cdef list parts = []
    while frame != NULL:
        if frame.node.kind == RECORD_FIELD and frame.node.names != NULL:
            parts.append("." + frame.node.names[frame.index].p[5:frame.node.names[frame.index].nbytes].decode("utf-8"))
        elif frame.node.kind == MAP_FIELD:
            parts.append(f".key({frame.index})" if frame.is_key else f".value({frame.index})")
        elif frame.node.is_bare:
            pass
        elif frame.node.kind in (RECORD_FIELD, STRINGS_FIELD, LIST_FIELD, ARRAY_FIELD, TABLE_FIELD):
            parts.append(f"[{frame.index}]")
        frame = frame.parent
    parts.reverse()
    return "".join(parts)


cdef int raise_short(ClassReading* r, const ClassNode* node, Py_ssize_t nbytes) except -1:
    cdef Py_ssize_t left = r.end - r.p
    raise class_error(r, TruncatedError, f"expected at least {nbytes} byte{'s' if nbytes > 1 else ''} for "
                                         f"{<str>node.shown}, got {left}", r.end)


cdef int raise_count(ClassReading* r, const ClassNode* node, int64_t count, const unsigned char* at) except -1:
    raise class_error(r, FormatError, f"count {count} of {<str>node.shown} with {r.end - r.p} bytes left", at)


cdef int raise_produced(ClassReading* r) except -1:
    raise class_error(r, LimitError, f"more than {r.limit - r.first} bytes as typed bytes",
                      r.start if r.frame == NULL else r.frame.at)
