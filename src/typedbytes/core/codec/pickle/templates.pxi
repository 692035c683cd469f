# Pickles of our own whose bytes are a template with a few bytes filled in: dates, times, datetimes, timedeltas, complex
# numbers and small flat sets, as whole values. write.pxi and recognise.pxi do the same for such values inside others,
# and for all that this file does not take.

cdef enum:
    TEMPLATE_HEAD = 7         # PICKLE, its length, PROTO 2
    COPIED_ZONE_NBYTES = 64   # are copied of a zone that has fewer: no call
    COMPLEX_NBYTES = 44       # of a pickle
    SET_HEAD = 32             # of a frozenset, which has the longer name, up to the MARK
    SET_END = 4               # APPENDS, TUPLE1, REDUCE, STOP


cdef inline bint is_template_type(PyTypeObject* kind) noexcept:
    return kind == DATETIME_TYPE or kind == DATE_TYPE or kind == TIME_TYPE or kind == DELTA_TYPE \
        or kind == &PyComplex_Type or kind == &PyFrozenSet_Type or kind == &PySet_Type


cdef bint encode_template(Encoding* e, PyTypeObject* kind, PyObject* obj) except -1:
    # False, and nothing is written, for any other value. No Python code runs.
    cdef PyObject* zone
    cdef unsigned char* p
    if kind == DATETIME_TYPE or kind == TIME_TYPE or kind == DATE_TYPE:
        reserve(&e.buf, TEMPLATE_HEAD + MOMENT_NBYTES + max(ZONE_NBYTES + ZONE_END_NBYTES, COPIED_ZONE_NBYTES))
        p = store_moment(e.buf.cursor + TEMPLATE_HEAD, obj, &zone)
        if zone == Py_None:
            memcpy(p, b"\x85R.", 3)
            return end_template(e, p + 3)
        if zone != <PyObject*>WRITTEN_ZONE:
            return False
        if likely(ZONE_NBYTES + ZONE_END_NBYTES <= COPIED_ZONE_NBYTES):
            memcpy(p, ZONE_BYTES, COPIED_ZONE_NBYTES)
        else:
            memcpy(p, ZONE_BYTES, ZONE_NBYTES + ZONE_END_NBYTES)
        return end_template(e, p + ZONE_NBYTES + ZONE_END_NBYTES)
    if kind == DELTA_TYPE:
        reserve(&e.buf, TEMPLATE_HEAD + DELTA_NBYTES + 3)
        p = store_delta(e.buf.cursor + TEMPLATE_HEAD, obj)
        memcpy(p, b"\x87R.", 3)
        return end_template(e, p + 3)
    if kind == &PyComplex_Type:
        reserve(&e.buf, 5 + COMPLEX_NBYTES)
        p = e.buf.cursor + TEMPLATE_HEAD
        memcpy(p, b"c__builtin__\ncomplex\nG", 22)
        store_f64(p + 22, PyComplex_RealAsDouble(obj))
        p[30] = OP_BINFLOAT
        store_f64(p + 31, PyComplex_ImagAsDouble(obj))
        memcpy(p + 39, b"\x86R.", 3)
        return end_template(e, p + 42)
    return (kind == &PyFrozenSet_Type or kind == &PySet_Type) and encode_few_elements(e, kind, obj)


cdef inline bint end_template(Encoding* e, const unsigned char* end) noexcept:
    cdef unsigned char* p = e.buf.cursor
    p[0] = PICKLE
    store_i32(p + 1, <int32_t>(end - p - 5))
    p[5] = OP_PROTO
    p[6] = 2
    e.buf.cursor += end - p
    return True


# Small flat sets. What orders two elements is their bytes: those of an int, and of a text up to its third character,
# are kept as one number, so that most comparisons are of two numbers, and nothing is copied to be sorted.

cdef struct FewElement:
    uint64_t head             # the first eight bytes, padded with zeros
    const char* text          # borrowed; NULL: an int
    Py_ssize_t nbytes


cdef bint encode_few_elements(Encoding* e, PyTypeObject* kind, PyObject* obj) except -1:
    # False for others than 2 to FEW_ELEMENTS ints of 32 bits and ASCII texts.
    cdef PyObject* items[FEW_ELEMENTS]
    cdef FewElement elements[FEW_ELEMENTS]
    cdef FewElement element
    cdef Py_ssize_t n = few_elements(obj, items, FEW_ELEMENTS)
    cdef Py_ssize_t nbytes = SET_HEAD + SET_END
    cdef Py_ssize_t i, j
    cdef bint is_sorted = e.sort_keys or kind == &PyFrozenSet_Type
    cdef unsigned char* p
    if n < 2:
        return False
    for i in range(n):
        if not load_element(items[i], &element) or element.nbytes > FEW_NBYTES:
            return False
        nbytes += element.nbytes
        j = i
        while is_sorted and j > 0 and is_element_before(&element, &elements[j - 1]):
            elements[j] = elements[j - 1]
            j -= 1
        elements[j] = element
    reserve(&e.buf, nbytes + 8)    # eight bytes are stored of each element
    p = e.buf.cursor
    if kind == &PyFrozenSet_Type:
        memcpy(p + TEMPLATE_HEAD, b"c__builtin__\nfrozenset\n](", 25)
        p += SET_HEAD
    else:
        memcpy(p + TEMPLATE_HEAD, b"c__builtin__\nset\n](", 19)
        p += SET_HEAD - 6
    for i in range(n):
        store_i64(p, <int64_t>elements[i].head)
        if elements[i].text != NULL:
            copy_short(p + 5, elements[i].text, elements[i].nbytes - 5)
        p += elements[i].nbytes
    memcpy(p, b"e\x85R.", SET_END)
    return end_template(e, p + SET_END)


cdef inline bint load_element(PyObject* item, FewElement* element) noexcept:
    cdef int64_t number
    cdef Py_ssize_t i, nchars
    cdef int width
    if Py_TYPE(item) == &PyLong_Type:
        if not int_to_i64(item, &number) or number != <int32_t>number:
            return False
        width = (<uint32_t>number > 255) + (<uint32_t>number > 65535)    # as store_small()
        element.head = head_of(0x4a4d4b >> 8 * width & 0xff, <uint32_t>number)
        element.nbytes = 2 + width + (width >> 1)
        element.text = NULL
        return True
    if Py_TYPE(item) != &PyUnicode_Type or not PyUnicode_IS_COMPACT_ASCII(item):
        return False
    nchars = PyUnicode_GET_LENGTH(item)
    element.text = <const char*>ascii_data(item)
    element.nbytes = 5 + nchars
    element.head = head_of(OP_BINUNICODE, <uint32_t>nchars)
    for i in range(min(nchars, 3)):
        element.head |= <uint64_t>element.text[i] << (16 - 8 * i)
    return True


cdef inline uint64_t head_of(int opcode, uint32_t argument) noexcept:
    cdef unsigned char swapped[4]
    store_u32_le(swapped, argument)
    return <uint64_t>opcode << 56 | <uint64_t><uint32_t>load_i32(swapped) << 24


cdef inline bint is_element_before(const FewElement* a, const FewElement* b) noexcept:
    # Texts with the same head have the same length.
    return a.head < b.head or a.head == b.head and memcmp(a.text, b.text, a.nbytes - 5) < 0


# Reading. A template that is not met in all its bytes is left to recognise_global().

cdef PyObject* recognise_template(const unsigned char* p, Py_ssize_t nbytes) noexcept:
    # NULL without an exception: it is none. 20 bytes are there, and the last one is STOP.
    cdef PyObject* value
    if same_fixed(p, b"\x80\x02cdatet", 8):
        value = (<recognise_function>recognise_moment)(p, nbytes)
    elif nbytes == COMPLEX_NBYTES and same_fixed(p, b"\x80\x02c__builtin__\ncomplex\nG", 24):
        value = (<recognise_function>recognise_numbers)(p, nbytes)
    else:
        return NULL
    if value == NULL:
        PyErr_Clear()
    return value


cdef PyObject* recognise_numbers(const unsigned char* p, Py_ssize_t nbytes) except? NULL:
    if p[32] != OP_BINFLOAT or memcmp(p + 41, b"\x86R", 2) != 0:
        return NULL
    return PyComplex_FromDoubles(load_f64(p + 24), load_f64(p + 33))


cdef PyObject* recognise_moment(const unsigned char* p, Py_ssize_t nbytes) except? NULL:
    # The text of a state may have two bytes for one: so many are there before what ends a pickle.
    cdef unsigned char s[10]
    cdef const unsigned char* end = p + nbytes
    cdef PyObject* zone
    bind_datetime()
    if nbytes >= 68 and same_fixed(p + 8, b"ime\ndatetime\nc_codecs\nencode\nX", 30):
        zone = zone_after(load_state(p + 38, s, 10), end)
        if zone != NULL and s[2] < 128 \
                and is_moment(s[0] << 8 | s[1], s[2], s[3], s[4], s[5], s[6], load_microsecond(s + 7)):
            return new_datetime(DATETIME_TYPE, s[0] << 8 | s[1], s[2], s[3], s[4], s[5], s[6], load_microsecond(s + 7),
                                zone)
    elif nbytes >= 58 and same_fixed(p + 8, b"ime\ndate\nc_codecs\nencode\nX", 26):
        zone = zone_after(load_state(p + 34, s, 4), end)
        if zone == Py_None and is_moment(s[0] << 8 | s[1], s[2], s[3], 0, 0, 0, 0):
            return new_date(DATE_TYPE, s[0] << 8 | s[1], s[2], s[3])
    elif nbytes >= 60 and same_fixed(p + 8, b"ime\ntime\nc_codecs\nencode\nX", 26):
        zone = zone_after(load_state(p + 34, s, 6), end)
        if zone != NULL:
            return PyDateTimeAPI.Time_FromTimeAndFold(s[0] & 127, s[1], s[2], load_microsecond(s + 3), zone, s[0] >> 7,
                                                      TIME_TYPE)
    return NULL


cdef inline const unsigned char* load_state(const unsigned char* p, unsigned char* state, int nbytes) noexcept:
    # `p` is at the length of the text that stands for the bytes of a state. Return where the text ends; NULL: it does
    # not stand for a state.
    cdef const unsigned char* end = p + 4 + load_u32_le(p)
    cdef bint is_wide, is_other = False
    cdef int i
    p += 4
    for i in range(nbytes - 2):    # like those of the values before
        if p[0] < 128:
            state[i] = p[0]
            p += 1
        elif p[0] & 0xfe == 0xc2 and p[1] & 0xc0 == 0x80:
            state[i] = <unsigned char>(p[0] << 6 | p[1] & 0x3f)
            p += 2
        else:
            return NULL
    for i in range(nbytes - 2, nbytes):    # as in take_state(): random
        is_wide = p[0] >> 7
        state[i] = <unsigned char>(p[0] << 6 & 0xc0 | p[1] & 0x3f) if is_wide else p[0]
        is_other |= is_wide & (((p[0] & 0xfe) != 0xc2) | ((p[1] & 0xc0) != 0x80))
        p += 1 + is_wide
    return p if p == end and not is_other else NULL


cdef inline PyObject* zone_after(const unsigned char* p, const unsigned char* end) noexcept:
    # The zone, or None, borrowed, of the pickle that has this after its state; NULL: it ends in another way.
    cdef Py_ssize_t nzone
    if p == NULL:
        return NULL
    if end - p == 16:
        return Py_None if same_fixed(p, b"X\x06\0\0\0latin1\x86R\x85R.", 16) else NULL
    nzone = PyBytes_GET_SIZE(READ_ZONE_BYTES)
    if nzone == 0 or end - p != 14 + nzone or not same_fixed(p, b"X\x06\0\0\0latin1\x86R", 13) \
            or memcmp(p + 13, PyBytes_AS_STRING(READ_ZONE_BYTES), nzone) != 0:
        return NULL
    return <PyObject*>READ_ZONE
