# Writing pickles of plain values: protocol 2, which Python 2 and 3 read, and no memo. Hadoop groups keys by their
# bytes, so these depend on the value alone: not on parts that values share, the decimal context, nor, in a frozenset,
# on the hash seed. What holds values is walked by a stack of its own: that of a thread may be too small.

cdef enum:
    PICKLE_DEPTH = 100
    WIDE_NBYTES = 9 + 17 + 1    # bytes of the pickle of an int of 128 bits
    UNSIGNED_NBYTES = 9 + 9 + 1    # bytes of the pickle of an int of 64 bits without a sign
    LATIN1_NBYTES = 17 + 4 + 13    # bytes that a pickle of bytes has around the text that stands for them
    MOMENT_NBYTES = 19 + 2 * 10 + LATIN1_NBYTES    # the most bytes of a date, time or datetime without its zone
    DELTA_NBYTES = 20 + 3 * 5
    MAX_ZONE_NBYTES = 256    # bytes of a pickled zone that is kept
    ZONE_END_NBYTES = 3      # TUPLE2, REDUCE, STOP
    ZONE_CAPACITY = 256 + 3

# PICKLE, its length, which is filled in, PROTO 2, LONG1.
cdef const char* WIDE_HEAD = b"\x64\x00\x00\x00\x00\x80\x02\x8a"

# The same of an int of 64 bits without a sign, and the number of its bytes.
cdef const char* UNSIGNED_HEAD = b"\x64\x00\x00\x00\x0e\x80\x02\x8a\x09"


cdef inline Py_ssize_t store_unsigned(unsigned char* p, uint64_t number) noexcept:
    memcpy(p, UNSIGNED_HEAD, 9)
    store_u64_le(p + 9, number)
    p[17] = 0
    p[18] = OP_STOP
    return UNSIGNED_NBYTES


cdef inline Py_ssize_t store_wider(unsigned char* p, PyObject* obj) noexcept:
    # Store an int beyond a LONG; return how many bytes. The caller has reserved WIDE_NBYTES. 0, with nothing stored: it
    # has more than 128 bits, or this build cannot read an int's digits.
    cdef Py_ssize_t nbytes = wide_int_to_bytes_le(obj, p + 9)
    if nbytes == 0:
        return 0
    memcpy(p, WIDE_HEAD, 8)
    p[4] = <unsigned char>(nbytes + 5)
    p[8] = <unsigned char>nbytes
    p[9 + nbytes] = OP_STOP
    return nbytes + 10


cdef Py_ssize_t store_wide(unsigned char* p, PyObject* obj) noexcept:
    # As store_wider, with a short way for 64 bits without a sign. Out of line:
    # its callers' other cases are more likely.
    cdef uint64_t number
    return store_unsigned(p, number) if int_to_u64(obj, &number) else store_wider(p, obj)


cdef int encode_wide_int(Encoding* e, PyObject* obj) except -1:
    # Beyond 64 bits: the pickle that the older libraries write, PROTO 2, LONG1, STOP.
    cdef Py_ssize_t nbytes
    if e.pickle == RAW or e.int_width:
        return raise_encode_value(e, "int does not fit 64 bits")
    reserve(&e.buf, WIDE_NBYTES)
    nbytes = store_wide(e.buf.cursor, obj)
    if nbytes:
        e.buf.cursor += nbytes
        return 0
    # Of a subclass, whose methods may give another value, the number itself.
    return encode_safe_pickle(e, <object>obj if Py_TYPE(obj) == &PyLong_Type else int.__pos__(<object>obj))


cdef int encode_ready_pickle(Encoding* e, bytes data) except -1:
    return encode_payload(e, PICKLE, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))


cdef bytes trusted_pickle_of(object obj):
    from pickle import dumps
    return dumps(obj, 2)


cdef int encode_safe_pickle(Encoding* e, object obj) except -1:
    # Code 100 and the pickle of a plain value. TypeError for anything else, subclasses included:
    # pickling those runs or names code of the user's.
    cdef Py_ssize_t offset, total
    cdef unsigned char* p
    reserve(&e.buf, 5)
    offset = written(&e.buf)
    e.buf.cursor += 5
    write_pickle(e, obj)
    total = written(&e.buf) - offset - 5
    if unlikely(total > MAX_LENGTH):
        return raise_too_long(e, PICKLE, total)
    p = e.buf.start + offset
    p[0] = PICKLE
    store_i32(p + 1, <int32_t>total)
    return 0


cdef int write_pickle(Encoding* e, object obj) except -1:
    cdef PyTypeObject* kind = Py_TYPE(<PyObject*>obj)
    if kind == &PyTuple_Type or kind == &PyUnicode_Type or kind == &PyBytes_Type or kind == &PyFloat_Type \
            or kind == &PyBool_Type:
        return raise_unpickled(obj)    # they have type codes of their own
    write_opcodes(e, b"\x80\x02", 2)
    if not write_scalar(e, <PyObject*>obj):
        write_containers(e, obj)
    return write_opcode(e, OP_STOP)


cdef int raise_unpickled(object obj, str hint="") except -1:
    kind = type(obj)
    raise TypeError(f'cannot pickle {kind.__module__}.{kind.__qualname__} under the safe policy: '
                    f'pass pickle="trust" or default={hint}')


cdef inline int write_opcodes(Encoding* e, const char* data, Py_ssize_t nbytes) except -1:
    reserve(&e.buf, nbytes)
    memcpy(e.buf.cursor, data, nbytes)
    e.buf.cursor += nbytes
    return 0


cdef inline int write_opcode(Encoding* e, int opcode) except -1:
    reserve(&e.buf, 1)
    e.buf.cursor[0] = <unsigned char>opcode
    e.buf.cursor += 1
    return 0


cdef bint write_scalar(Encoding* e, PyObject* obj) except -1:
    # False: it holds values. The most likely types first.
    cdef PyTypeObject* kind = Py_TYPE(obj)
    if kind == &PyLong_Type:
        write_int(e, obj)
    elif kind == &PyUnicode_Type:
        write_text(e, obj)
    elif kind == &PySet_Type or kind == &PyFrozenSet_Type or kind == &PyTuple_Type:
        return False
    elif kind == DECIMAL_TYPE:
        write_decimal(e, obj)
    elif kind == DATE_TYPE or kind == DATETIME_TYPE or kind == TIME_TYPE:
        write_moment(e, obj)
    elif kind == UUID_TYPE:
        write_uuid(e, <object>obj)
    elif kind == DELTA_TYPE:
        write_delta(e, obj)
    elif kind == ZONE_TYPE:
        write_zone(e, <object>obj)
    elif obj == Py_None:
        write_opcode(e, OP_NONE)
    elif kind == &PyBool_Type:
        write_opcode(e, OP_NEWTRUE if obj == Py_True else OP_NEWFALSE)
    elif kind == &PyFloat_Type:
        write_float(e, PyFloat_AS_DOUBLE(obj))
    elif kind == &PyComplex_Type:
        write_opcodes(e, b"c__builtin__\ncomplex\n", 21)
        write_float(e, PyComplex_RealAsDouble(obj))
        write_float(e, PyComplex_ImagAsDouble(obj))
        write_opcodes(e, b"\x86R", 2)
    elif kind == &PyBytes_Type:
        if bytes_size(obj):
            write_latin1(e, <const unsigned char*>bytes_data(obj), bytes_size(obj))
        else:
            write_opcodes(e, b"c__builtin__\nbytes\n)R", 21)
    elif bind_module_of(<object>kind):
        return write_scalar(e, obj)
    else:
        raise_unpickled(<object>obj)
    return True


cdef int write_int(Encoding* e, PyObject* obj) except -1:
    cdef int64_t number
    if unlikely(not int_to_i64(obj, &number)) or number != <int32_t>number:
        return write_long(e, obj)
    reserve(&e.buf, 5)
    e.buf.cursor = store_small(e.buf.cursor, <int32_t>number)
    return 0


cdef inline unsigned char* store_small(unsigned char* p, int32_t number) noexcept:
    # Return where it ends; five bytes are stored, which the caller has reserved. Without a branch, which random sizes
    # would mislead.
    cdef int width = (<uint32_t>number > 255) + (<uint32_t>number > 65535)
    p[0] = <unsigned char>(0x4a4d4b >> 8 * width)    # BININT1, BININT2, BININT
    store_u32_le(p + 1, <uint32_t>number)
    return p + 2 + width + (width >> 1)


cdef int write_long(Encoding* e, PyObject* obj) except -1:
    # LONG1 with a length of one byte, LONG4 with one of four. The object may be of a subclass,
    # which may lie about its value.
    cdef Py_ssize_t capacity = 264
    cdef Py_ssize_t nbytes
    cdef unsigned char* p
    reserve(&e.buf, 5 + capacity)
    nbytes = int_to_bytes_le(obj, e.buf.cursor + 5, capacity)
    if unlikely(nbytes < 0):
        capacity = (<Py_ssize_t>int.bit_length(<object>obj)) // 8 + 9
        reserve(&e.buf, 5 + capacity)
        nbytes = int_to_bytes_le(obj, e.buf.cursor + 5, capacity)
        if nbytes < 0:
            nbytes = long_by_python(e.buf.cursor + 5, <object>obj)
    p = e.buf.cursor
    if nbytes < 256:
        p[0] = OP_LONG1
        p[1] = <unsigned char>nbytes
        memmove(p + 2, p + 5, nbytes)
        e.buf.cursor += 2 + nbytes
        return 0
    p[0] = OP_LONG4
    store_u32_le(p + 1, <uint32_t>nbytes)
    e.buf.cursor += 5 + nbytes
    return 0


cdef Py_ssize_t long_by_python(unsigned char* p, object number) except -1:
    value = int.__pos__(number)
    data = value.to_bytes((value if value >= 0 else ~value).bit_length() // 8 + 1, "little", signed=True)
    memcpy(p, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
    return PyBytes_GET_SIZE(data)


cdef int write_float(Encoding* e, double number) except -1:
    reserve(&e.buf, 9)
    e.buf.cursor[0] = OP_BINFLOAT
    store_f64(e.buf.cursor + 1, number)
    e.buf.cursor += 9
    return 0


cdef int write_text_head(Encoding* e, Py_ssize_t nbytes) except -1:
    # BINUNICODE; `nbytes` are reserved after it.
    cdef unsigned char* p
    if nbytes > MAX_LENGTH:
        return raise_too_long(e, PICKLE, nbytes)
    reserve(&e.buf, 5 + nbytes)
    p = e.buf.cursor
    p[0] = OP_BINUNICODE
    store_u32_le(p + 1, <uint32_t>nbytes)
    e.buf.cursor += 5
    return 0


cdef int write_text(Encoding* e, PyObject* obj) except -1:
    PyUnicode_READY(obj)
    if PyUnicode_IS_COMPACT_ASCII(obj):
        return write_text_of(e, <const char*>ascii_data(obj), PyUnicode_GET_LENGTH(obj))
    data = (<str>obj).encode("utf-8", "surrogatepass")
    return write_text_of(e, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))


cdef int write_text_of(Encoding* e, const char* data, Py_ssize_t nbytes) except -1:
    write_text_head(e, nbytes)
    memcpy(e.buf.cursor, data, nbytes)
    e.buf.cursor += nbytes
    return 0


cdef int write_latin1(Encoding* e, const unsigned char* data, Py_ssize_t nbytes) except -1:
    cdef Py_ssize_t i
    cdef Py_ssize_t nchars = nbytes
    for i in range(nbytes):
        nchars += data[i] >> 7
    if nchars > MAX_LENGTH:
        return raise_too_long(e, PICKLE, nchars)
    reserve(&e.buf, nchars + LATIN1_NBYTES)
    e.buf.cursor = store_latin1(e.buf.cursor, data, nbytes)
    return 0


cdef unsigned char* store_latin1(unsigned char* p, const unsigned char* data, Py_ssize_t nbytes) noexcept:
    cdef unsigned char* start = begin_latin1(p)
    cdef Py_ssize_t i
    p = start
    for i in range(nbytes):
        p = store_character(p, data[i])
    return end_latin1(start, p)


# Protocol 2 has no bytes: text, and the codec that makes them of it; Python 2 gets its str. Each returns where it ends.

cdef inline unsigned char* begin_latin1(unsigned char* p) noexcept:
    memcpy(p, b"c_codecs\nencode\nX", 17)
    return p + 21


cdef inline unsigned char* store_character(unsigned char* p, size_t byte) noexcept:
    # Without a branch, by a mask: which bytes are above 127 is random.
    cdef size_t is_wide = byte >> 7
    p[0] = <unsigned char>(byte ^ ((byte ^ (0xc0 | byte >> 6)) & (0 - is_wide)))
    p[1] = <unsigned char>(byte & 0xbf)    # of a wide one; the next byte takes its place otherwise
    return p + 1 + is_wide


cdef inline unsigned char* end_latin1(unsigned char* start, unsigned char* p) noexcept:
    store_u32_le(start - 4, <uint32_t>(p - start))
    memcpy(p, b"X\x06\0\0\0latin1\x86R", 13)
    return p + 13


cdef int write_decimal(Encoding* e, PyObject* obj) except -1:
    cdef PyObject* text
    cdef Py_ssize_t nchars
    cdef void* exponent
    write_opcodes(e, b"cdecimal\nDecimal\n", 17)
    text = PyObject_Str(obj)
    nchars = PyUnicode_GET_LENGTH(text)
    try:
        write_text(e, text)
    finally:
        decref(text)
    # the thread's decimal context decides whether it is "e" or "E"
    exponent = memchr(e.buf.cursor - nchars, c"e", nchars)
    if exponent != NULL:
        (<unsigned char*>exponent)[0] = c"E"
    return write_opcodes(e, b"\x85R", 2)


cdef int write_moment(Encoding* e, PyObject* obj) except -1:
    cdef PyObject* zone
    reserve(&e.buf, MOMENT_NBYTES)
    e.buf.cursor = store_moment(e.buf.cursor, obj, &zone)
    if zone == Py_None:
        return write_opcodes(e, b"\x85R", 2)
    if Py_TYPE(zone) != ZONE_TYPE:
        # Not a ZoneInfo either: decoding its key would open a file by a name from the data,
        # and the moment would depend on that file.
        return raise_unpickled(<object>zone, ", or convert datetimes by .astimezone(datetime.timezone.utc)")
    write_zone(e, <object>zone)
    return write_opcodes(e, b"\x86R", 2)


cdef inline unsigned char* store_moment(unsigned char* p, PyObject* obj, PyObject** zone) noexcept:
    # A date, time or datetime: its numbers packed as __reduce_ex__(4) packs them, with the fold of a repeated hour in
    # the highest bit of the first byte that has one to spare. Return where it ends; the zone is borrowed.
    cdef PyTypeObject* kind = Py_TYPE(obj)
    cdef unsigned char space[10]
    cdef const unsigned char* numbers
    cdef unsigned char* start
    if kind == DATETIME_TYPE:
        memcpy(p, b"cdatetime\ndatetime\nc_codecs\nencode\nX", 36)
        start = p + 40
        numbers = datetime_bytes(obj, space)
        zone[0] = zone_of_datetime(obj)
        p = store_month(start, numbers, PyDateTime_DATE_GET_FOLD(obj))
        return end_latin1(start, store_clock(p, numbers + 3, 5))
    if kind == TIME_TYPE:
        memcpy(p, b"cdatetime\ntime\nc_codecs\nencode\nX", 32)
        start = p + 36
        numbers = time_bytes(obj, space)
        zone[0] = zone_of_time(obj)
        p = store_character(start, numbers[0] | PyDateTime_TIME_GET_FOLD(obj) << 7)
        return end_latin1(start, store_clock(p, numbers + 1, 3))
    memcpy(p, b"cdatetime\ndate\nc_codecs\nencode\nX", 32)
    start = p + 36
    numbers = date_bytes(obj, space)
    zone[0] = Py_None
    p = store_month(start, numbers, 0)
    p[0] = numbers[3]
    return end_latin1(start, p + 1)


cdef inline unsigned char* store_month(unsigned char* p, const unsigned char* numbers, int fold) noexcept:
    # Year and month.
    p[0] = numbers[0]
    return store_character(store_character(p + 1, numbers[1]), numbers[2] | fold << 7)


cdef inline unsigned char* store_clock(unsigned char* p, const unsigned char* numbers, size_t nfirst) noexcept:
    # The first numbers, up to the highest byte of the microsecond, are below 128; its other two bytes follow.
    memcpy(p, numbers, nfirst)
    p = store_character(p + nfirst, numbers[nfirst])
    return store_character(p, numbers[nfirst + 1])


cdef int write_delta(Encoding* e, PyObject* obj) except -1:
    reserve(&e.buf, DELTA_NBYTES)
    e.buf.cursor = store_delta(e.buf.cursor, obj)
    return write_opcodes(e, b"\x87R", 2)


cdef inline unsigned char* store_delta(unsigned char* p, PyObject* obj) noexcept:
    memcpy(p, b"cdatetime\ntimedelta\n", 20)
    p = store_small(p + 20, PyDateTime_DELTA_GET_DAYS(obj))
    p = store_small(p, PyDateTime_DELTA_GET_SECONDS(obj))
    return store_small(p, PyDateTime_DELTA_GET_MICROSECONDS(obj))


# The zone written last, and its bytes: a column of datetimes has one zone or few. Zones never change. What ends the
# pickle of a datetime is after the bytes.
cdef object WRITTEN_ZONE
cdef unsigned char ZONE_BYTES[ZONE_CAPACITY]
cdef Py_ssize_t ZONE_NBYTES


cdef int write_zone(Encoding* e, object zone) except -1:
    global WRITTEN_ZONE, ZONE_NBYTES
    cdef Py_ssize_t offset = written(&e.buf)
    if zone is WRITTEN_ZONE:
        return write_opcodes(e, <const char*>ZONE_BYTES, ZONE_NBYTES)
    write_opcodes(e, b"cdatetime\ntimezone\n", 19)
    arguments = zone.__reduce_ex__(4)[1]    # an offset, and a name if it has one of its own
    for part in arguments:
        if Py_TYPE(<PyObject*>part) != DELTA_TYPE and type(part) is not str:
            return raise_unpickled(part)
        write_scalar(e, <PyObject*>part)
    write_opcodes(e, b"\x85R" if len(arguments) == 1 else b"\x86R", 2)
    if not NO_GIL and written(&e.buf) - offset <= MAX_ZONE_NBYTES:
        ZONE_NBYTES = written(&e.buf) - offset
        memcpy(ZONE_BYTES, e.buf.start + offset, ZONE_NBYTES)
        memcpy(ZONE_BYTES + ZONE_NBYTES, b"\x86R.", ZONE_END_NBYTES)
        WRITTEN_ZONE = zone
    return 0


cdef int write_uuid(Encoding* e, object obj) except -1:
    safety = getattr(obj, "is_safe", None)
    if type(safety) is not SAFE_UUID:
        return raise_unpickled(obj)
    number = obj.int
    if type(number) is not int:
        return raise_unpickled(number)
    write_opcodes(e, b"cuuid\nUUID\n)\x81}", 14)
    if safety is not UNKNOWN_SAFETY:
        write_opcode(e, OP_MARK)
    write_opcodes(e, b"X\x03\0\0\0int", 8)
    write_int(e, <PyObject*>number)
    if safety is UNKNOWN_SAFETY:
        return write_opcodes(e, b"sb", 2)
    write_opcodes(e, b"X\x07\0\0\0is_safe", 12)
    write_scalar(e, <PyObject*>safety.value)
    return write_opcodes(e, b"ub", 2)


# What holds values.

cdef struct OpenPickle:
    PyObject* items        # owned: a tuple, or one of a set's elements
    Py_ssize_t index       # number of the next item
    bint is_set
    bint is_sorted         # elements of the set are written in the order of their bytes
    Py_ssize_t nstarts     # value of WrittenElements.nstarts for the sets around it

cdef struct WrittenElements:
    Py_ssize_t* starts     # offsets in the output, of the elements of all open sets that are sorted
    Py_ssize_t nstarts
    Py_ssize_t capacity


cdef int write_containers(Encoding* e, object obj) except -1:
    cdef OpenPickle stack[PICKLE_DEPTH]
    cdef OpenPickle* opened
    cdef WrittenElements elements
    cdef Py_ssize_t depth = 0
    cdef PyObject* item
    memset(&elements, 0, sizeof(WrittenElements))
    try:
        open_pickled(e, stack, &depth, <PyObject*>obj, &elements)
        while depth:
            opened = &stack[depth - 1]
            if opened.index == PyTuple_GET_SIZE(opened.items):
                close_pickled(e, opened, &elements)
                depth -= 1
                decref(opened.items)
                continue
            item = PyTuple_GET_ITEM(opened.items, opened.index)
            opened.index += 1
            if opened.is_sorted:
                append_start(e, &elements)
            if not write_scalar(e, item):
                open_pickled(e, stack, &depth, item, &elements)
    finally:
        PyMem_Free(elements.starts)
        while depth:
            depth -= 1
            decref(stack[depth].items)
    return 0


cdef int open_pickled(Encoding* e, OpenPickle* stack, Py_ssize_t* depth, PyObject* container,
                      const WrittenElements* elements) except -1:
    cdef OpenPickle* opened = &stack[depth[0]]
    if depth[0] == PICKLE_DEPTH:
        raise TypeError(f"cannot pickle a value nested deeper than {PICKLE_DEPTH} levels")
    opened.index = 0
    opened.is_set = Py_TYPE(container) != &PyTuple_Type
    if opened.is_set:
        opened.items = set_elements(container)
    else:
        incref(container)
        opened.items = container
    # Frozensets are keys, and need no option. Sets are not, and sorting them would take longer than writing them.
    opened.is_sorted = opened.is_set and (e.sort_keys or Py_TYPE(container) == &PyFrozenSet_Type) \
        and PyTuple_GET_SIZE(opened.items) > 1
    opened.nstarts = elements.nstarts
    depth[0] += 1
    if Py_TYPE(container) == &PySet_Type:
        write_opcodes(e, b"c__builtin__\nset\n]", 18)
    elif opened.is_set:
        write_opcodes(e, b"c__builtin__\nfrozenset\n]", 24)
    if PyTuple_GET_SIZE(opened.items) > (1 if opened.is_set else 3):
        write_opcode(e, OP_MARK)
    return 0


cdef int close_pickled(Encoding* e, const OpenPickle* opened, WrittenElements* elements) except -1:
    if not opened.is_set:
        return write_opcodes(e, <const char*>b")\x85\x86\x87t" + min(opened.index, 4), 1)
    if opened.is_sorted:
        sort_elements(e, elements.starts + opened.nstarts, opened.index)
        elements.nstarts = opened.nstarts
    if opened.index:
        write_opcode(e, OP_APPEND if opened.index == 1 else OP_APPENDS)
    return write_opcodes(e, b"\x85R", 2)


cdef int append_start(Encoding* e, WrittenElements* elements) except -1:
    cdef Py_ssize_t* larger
    if elements.nstarts == elements.capacity:
        larger = <Py_ssize_t*>PyMem_Realloc(elements.starts, (2 * elements.capacity + 16) * sizeof(Py_ssize_t))
        if larger == NULL:
            raise MemoryError
        elements.starts = larger
        elements.capacity = 2 * elements.capacity + 16
    elements.starts[elements.nstarts] = written(&e.buf)
    elements.nstarts += 1
    return 0


cdef int sort_elements(Encoding* e, const Py_ssize_t* starts, Py_ssize_t nelements) except -1:
    # The elements end where the output does.
    cdef EncodedKey few[FEW_ELEMENTS]
    cdef unsigned char scratch[FEW_NBYTES]
    cdef Py_ssize_t nbytes = written(&e.buf) - starts[0]
    cdef unsigned char* p = e.buf.start + starts[0]
    cdef EncodedKey* elements = few
    cdef unsigned char* copied = scratch
    cdef Py_ssize_t i
    cdef bint are_few = nelements <= FEW_ELEMENTS and nbytes <= FEW_NBYTES
    if not are_few:
        elements = <EncodedKey*>PyMem_Malloc(nelements * sizeof(EncodedKey) + nbytes)
        copied = <unsigned char*>(elements + nelements)
    if elements == NULL:
        raise MemoryError
    memcpy(copied, p, nbytes)
    for i in range(nelements):
        elements[i].start = copied + (starts[i] - starts[0])
        elements[i].nbytes = (starts[i + 1] if i + 1 < nelements else starts[0] + nbytes) - starts[i]
        elements[i].index = i
    if are_few:
        sort_few(elements, nelements)
    else:
        qsort(elements, nelements, sizeof(EncodedKey), compare_keys)
    for i in range(nelements):
        copy_short(p, elements[i].start, elements[i].nbytes)
        p += elements[i].nbytes
    if not are_few:
        PyMem_Free(elements)
    return 0


cdef enum:
    FEW_ELEMENTS = 16
    FEW_NBYTES = 256

cdef void sort_few(EncodedKey* elements, Py_ssize_t nelements) noexcept:
    # By insertion: no function is called for a comparison.
    cdef EncodedKey moved
    cdef Py_ssize_t i, j
    for i in range(1, nelements):
        moved = elements[i]
        j = i
        while j > 0 and is_before(&moved, &elements[j - 1]):
            elements[j] = elements[j - 1]
            j -= 1
        elements[j] = moved


cdef inline bint is_before(const EncodedKey* x, const EncodedKey* y) noexcept:
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t nbytes = min(x.nbytes, y.nbytes)
    while i < nbytes and x.start[i] == y.start[i]:
        i += 1
    return x.start[i] < y.start[i] if i < nbytes else x.nbytes < y.nbytes


def safe_dumps(obj):
    """Pickle a value of the plain types by protocol 2, as Python 2 and 3 read it.

    Equal scalars and frozensets of them give equal bytes, whichever parts they share: nothing is memoised. Raises
    TypeError for anything else, subclasses included, because pickling those runs or names code of the user's.

    >>> safe_dumps(2**64).hex()
    '80028a090000000000000000012e'
    """
    cdef Encoding e
    memset(&e, 0, sizeof(Encoding))
    start_owned(&e.buf, 64)
    try:
        write_pickle(&e, obj)
        return finish(&e.buf)
    finally:
        drop(&e.buf)
