# The forms that scalars and flat sets have in pickles of our own and of the older libraries' pickle and cPickle:
# recognised byte by byte and built at once. NULL without an exception means any other pickle, also one whose value
# cannot be built: the machine reads it, and reports what is wrong with it.
#
# A form is PROTO, fixed opcodes with their arguments, and STOP. Each object may be stored in the memo (BINPUT), as
# Python's own picklers do: nothing in a form asks for it.

cdef struct PickleForm:
    const unsigned char* p
    const unsigned char* end    # STOP is there
    bint checks_signals         # an exception is that of a signal handler

# The zone read last, and its bytes; as for writing.
cdef object READ_ZONE
cdef bytes READ_ZONE_BYTES = b""


cdef inline bint is_pickled_unsigned(const unsigned char* p) noexcept:
    # An int of 64 bits without a sign, as it is written. The caller has checked that UNSIGNED_NBYTES are there.
    return memcmp(p, UNSIGNED_HEAD, 9) == 0 and p[16] >= 0x80 and p[17] == 0 and p[18] == OP_STOP


ctypedef PyObject* (*recognise_function)(const unsigned char* p, Py_ssize_t nbytes) noexcept    # NULL: see there


cdef PyObject* recognise_none_or_int(const unsigned char* p, Py_ssize_t nbytes) except? NULL:
    # None and ints: every policy reads them so.
    if nbytes < 4 or p[0] != OP_PROTO or not 2 <= p[1] <= 5 or p[nbytes - 1] != OP_STOP:
        return NULL
    if p[2] == OP_LONG1 and nbytes == 5 + p[3]:
        return int_from_bytes_le(p + 4, p[3])
    if p[2] == OP_NONE and nbytes == 4:
        return decode_null()
    if p[2] == OP_BININT1 and nbytes == 5:
        return int_object(p[3])
    if p[2] == OP_LONG4 and nbytes >= 8 and load_u32_le(p + 3) == nbytes - 8:
        return int_from_bytes_le(p + 7, nbytes - 8)
    return NULL


cdef PyObject* recognise(const unsigned char* p, Py_ssize_t nbytes) except? NULL:
    cdef PickleForm f
    cdef PyObject* value
    if nbytes < 20 or p[0] != OP_PROTO or not 2 <= p[1] <= 5 or p[2] != OP_GLOBAL or p[nbytes - 1] != OP_STOP:
        return NULL
    value = recognise_template(p, nbytes)
    if value != NULL:
        return value
    f.p = p + 3
    f.end = p + nbytes - 1
    f.checks_signals = False
    value = (<form_function>recognise_global)(&f)
    if value == NULL and not f.checks_signals:
        PyErr_Clear()
    return value

ctypedef PyObject* (*form_function)(PickleForm* f) noexcept    # NULL: an exception may be set


cdef PyObject* recognise_global(PickleForm* f) except? NULL:
    if expect(f, b"datetime\n", 9):
        bind_datetime()
        if expect(f, b"date\n", 5):
            return recognise_date(f)
        if expect(f, b"datetime\n", 9):
            return recognise_datetime(f)
        if expect(f, b"time\n", 5):
            return recognise_time(f)
        if expect(f, b"timedelta\n", 10):
            return whole(f, take_delta(f))
    elif expect(f, b"decimal\nDecimal\n", 16):
        return recognise_decimal(f)
    elif expect(f, b"uuid\nUUID\n", 10):
        return recognise_uuid(f)
    elif expect(f, b"__builtin__\n", 12):
        if expect(f, b"set\n", 4):
            return recognise_set(f, PySet_New(NULL))
        if expect(f, b"frozenset\n", 10):
            return recognise_set(f, PyFrozenSet_New(NULL))
        if expect(f, b"complex\n", 8):
            return recognise_complex(f)
    return NULL


cdef inline bint expect(PickleForm* f, const char* expected, Py_ssize_t nbytes) noexcept:
    if f.end - f.p < nbytes or memcmp(f.p, expected, nbytes) != 0:
        return False
    f.p += nbytes
    return True


cdef inline bint expect_opcode(PickleForm* f, unsigned char opcode) noexcept:
    if f.p == f.end or f.p[0] != opcode:
        return False
    f.p += 1
    return True


cdef inline bint expect_stored(PickleForm* f, const char* expected, Py_ssize_t nbytes) noexcept:
    # Also a BINPUT after it.
    if not expect(f, expected, nbytes):
        return False
    skip_put(f)
    return True


cdef inline bint expect_stored_opcode(PickleForm* f, unsigned char opcode) noexcept:
    if not expect_opcode(f, opcode):
        return False
    skip_put(f)
    return True


cdef inline void skip_put(PickleForm* f) noexcept:
    if f.end - f.p >= 2 and f.p[0] == OP_BINPUT:
        f.p += 2


cdef inline PyObject* whole(PickleForm* f, PyObject* value) noexcept:
    # Steal the value, which may be NULL; NULL unless the form ends here.
    if value != NULL and f.p != f.end:
        decref(value)
        return NULL
    return value


cdef inline bint expect_call(PickleForm* f, unsigned char tuple_opcode) noexcept:
    # The tuple of the arguments, REDUCE; the cursor stays where it is if they are not there.
    cdef const unsigned char* start = f.p
    if expect_stored_opcode(f, tuple_opcode) and expect_stored_opcode(f, OP_REDUCE):
        return True
    f.p = start
    return False


cdef bint take_state(PickleForm* f, unsigned char* state, Py_ssize_t nbytes) noexcept:
    # That many bytes: a str of Python 2, bytes, or the latin-1 text that stands for bytes in protocol 2.
    cdef const unsigned char* end
    cdef const unsigned char* p
    cdef Py_ssize_t nchars, i
    cdef bint is_wide, is_other = False
    skip_put(f)
    if f.end - f.p >= 2 + nbytes and f.p[1] == nbytes and (f.p[0] == OP_SHORT_BINSTRING or f.p[0] == OP_SHORT_BINBYTES):
        memcpy(state, f.p + 2, nbytes)
        f.p += 2 + nbytes
        skip_put(f)
        return True
    if not expect_stored(f, b"c_codecs\nencode\n", 16) or f.end - f.p < 5 or f.p[0] != OP_BINUNICODE:
        return False
    p = f.p + 5
    nchars = load_u32_le(f.p + 1)
    if nchars > 2 * nbytes or f.end - p < 2 * nbytes:    # so much is read, and one byte of what follows
        return False
    end = p + nchars
    for i in range(nbytes):    # without a branch: which bytes are above 127 is random
        is_wide = p[0] >> 7
        state[i] = <unsigned char>(p[0] << 6 & 0xc0 | p[1] & 0x3f) if is_wide else p[0]
        is_other |= is_wide & (((p[0] & 0xfe) != 0xc2) | ((p[1] & 0xc0) != 0x80))
        p += 1 + is_wide
    if is_other or p != end:
        return False
    f.p = p
    skip_put(f)
    return expect_stored(f, b"X\x06\0\0\0latin1", 11) and expect_call(f, OP_TUPLE2)


cdef inline int load_microsecond(const unsigned char* p) noexcept:
    return p[0] << 16 | p[1] << 8 | p[2]


cdef inline bint is_moment(int year, int month, int day, int hour, int minute, int second, int microsecond) noexcept:
    return 1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= days_of_month(year, month) and hour < 24 \
        and minute < 60 and second < 60 and microsecond < 1000000


cdef PyObject* recognise_date(PickleForm* f) except? NULL:
    cdef unsigned char s[4]
    if not take_state(f, s, 4) or not expect_call(f, OP_TUPLE1) or f.p != f.end:
        return NULL
    return PyDateTimeAPI.Date_FromDate(s[0] << 8 | s[1], s[2], s[3], DATE_TYPE)


cdef PyObject* recognise_time(PickleForm* f) except? NULL:
    cdef unsigned char s[6]
    if not take_state(f, s, 6):
        return NULL
    zone = take_zone(f)
    if f.p != f.end:
        return NULL
    return PyDateTimeAPI.Time_FromTimeAndFold(s[0] & 127, s[1], s[2], load_microsecond(s + 3), <PyObject*>zone,
                                              s[0] >> 7, TIME_TYPE)


cdef PyObject* recognise_datetime(PickleForm* f) except? NULL:
    cdef unsigned char s[10]
    if not take_state(f, s, 10):
        return NULL
    zone = take_zone(f)
    if f.p != f.end:
        return NULL
    if s[2] < 128 and is_moment(s[0] << 8 | s[1], s[2], s[3], s[4], s[5], s[6], load_microsecond(s + 7)):
        return new_datetime(DATETIME_TYPE, s[0] << 8 | s[1], s[2], s[3], s[4], s[5], s[6], load_microsecond(s + 7),
                            <PyObject*>zone)
    return PyDateTimeAPI.DateTime_FromDateAndTimeAndFold(
        s[0] << 8 | s[1], s[2] & 127, s[3], s[4], s[5], s[6], load_microsecond(s + 7), <PyObject*>zone, s[2] >> 7,
        DATETIME_TYPE)


cdef object take_zone(PickleForm* f):
    # The zone, or None, and the call that it is for. Afterwards the cursor is at the end, or NULL: not a known form.
    global READ_ZONE, READ_ZONE_BYTES
    cdef const unsigned char* start = f.p
    cdef Py_ssize_t nbytes = f.end - start
    if expect_call(f, OP_TUPLE1):
        zone = None
    elif nbytes and nbytes == PyBytes_GET_SIZE(READ_ZONE_BYTES) \
            and memcmp(start, PyBytes_AS_STRING(READ_ZONE_BYTES), nbytes) == 0:
        f.p = f.end
        return READ_ZONE
    else:
        zone = take_new_zone(f)
        if zone is None or not expect_call(f, OP_TUPLE2):
            f.p = NULL
        elif not NO_GIL and f.p == f.end and nbytes <= 256:
            READ_ZONE, READ_ZONE_BYTES = zone, start[:nbytes]
    if f.p != f.end:
        f.p = NULL
    return zone


cdef object take_new_zone(PickleForm* f):
    # None: not a known form.
    cdef PyObject* made = NULL
    if expect_stored(f, b"cdatetime\ntimezone\n", 19) and expect_stored(f, b"cdatetime\ntimedelta\n", 20):
        made = take_delta(f)
    if made == NULL:
        return None
    offset = <object>made
    decref(made)
    if expect_call(f, OP_TUPLE1):
        return Timezone(offset)
    if f.end - f.p >= 5 and f.p[0] == OP_BINUNICODE and load_u32_le(f.p + 1) <= f.end - f.p - 5:
        name = f.p[5:5 + load_u32_le(f.p + 1)].decode("utf-8")
        f.p += 5 + load_u32_le(f.p + 1)
        skip_put(f)
        if expect_call(f, OP_TUPLE2):
            return Timezone(offset, name)
    return None


cdef bint take_small(PickleForm* f, int* number) noexcept:
    cdef Py_ssize_t left = f.end - f.p
    if left >= 2 and f.p[0] == OP_BININT1:
        number[0] = f.p[1]
        f.p += 2
    elif left >= 3 and f.p[0] == OP_BININT2:
        number[0] = f.p[1] | f.p[2] << 8
        f.p += 3
    elif left >= 5 and f.p[0] == OP_BININT:
        number[0] = <int32_t>load_u32_le(f.p + 1)
        f.p += 5
    else:
        return False
    return True


cdef PyObject* take_delta(PickleForm* f) except? NULL:
    # The arguments of a timedelta, and its call.
    cdef int days, seconds, microseconds
    skip_put(f)
    if not take_small(f, &days) or not take_small(f, &seconds) or not take_small(f, &microseconds) \
            or not expect_call(f, OP_TUPLE3):
        return NULL
    return new_delta(days, seconds, microseconds)


cdef PyObject* new_delta(int days, int seconds, int microseconds) except? NULL:
    # NULL without an exception: it is not in its normal form, or out of range.
    if not (-999999999 <= days <= 999999999 and 0 <= seconds < 86400 and 0 <= microseconds < 1000000):
        return NULL
    return PyDateTimeAPI.Delta_FromDelta(days, seconds, microseconds, 0, DELTA_TYPE)


cdef PyObject* recognise_decimal(PickleForm* f) except? NULL:
    cdef const unsigned char* text
    cdef PyObject* value = NULL
    cdef Py_ssize_t nbytes
    skip_put(f)
    if f.end - f.p >= 5 and f.p[0] == OP_BINUNICODE:
        nbytes, text = load_u32_le(f.p + 1), f.p + 5
    elif f.end - f.p >= 2 and f.p[0] == OP_SHORT_BINSTRING:
        nbytes, text = f.p[1], f.p + 2
    else:
        return NULL
    if nbytes > f.end - text:
        return NULL
    f.p = text + nbytes
    skip_put(f)
    if not expect_call(f, OP_TUPLE1) or f.p != f.end or not is_ascii(text, nbytes):
        return NULL
    bind_decimal()
    if HAS_SMALL_DECIMALS:
        value = small_decimal(DECIMAL_TYPE, text, nbytes)
    return value if value != NULL else new_decimal(decode_ascii(text, nbytes))


cdef PyObject* new_decimal(PyObject* text) except NULL:
    # Steals the text.
    kept = <object>text
    decref(text)
    value = decimal_from_text(kept)
    Py_INCREF(value)
    return <PyObject*>value


cdef PyObject* recognise_uuid(PickleForm* f) except? NULL:
    cdef PyObject* value
    skip_put(f)
    if not expect(f, b")\x81", 2):
        return NULL
    skip_put(f)
    if not expect_stored_opcode(f, OP_EMPTY_DICT) \
            or not (expect_stored(f, b"X\x03\0\0\0int", 8) or expect_stored(f, b"U\x03int", 5)):
        return NULL
    # A LONG1 that is not negative, of 128 bits at most; smaller numbers are hardly ever met.
    if f.end - f.p < 5 or f.p[0] != OP_LONG1 or f.end - f.p != 4 + f.p[1] or memcmp(f.end - 2, b"sb", 2) != 0:
        return NULL
    if (f.end - 3)[0] >> 7 or f.p[1] > 17 or (f.p[1] == 17 and (f.end - 3)[0]):
        return NULL
    bind_uuid()
    value = new_uuid()
    try:
        finish_uuid(value, int_from_bytes_le(f.p + 2, f.p[1]), UNKNOWN_SAFETY)
    except:
        decref(value)
        raise
    return value


cdef PyObject* new_uuid() except NULL:
    # Without a number yet.
    return PyType_GenericAlloc(UUID_TYPE, 0)


cdef int finish_uuid(PyObject* value, PyObject* number, object safety) except -1:
    # Steals the number. A UUID refuses to have attributes set, so its class is passed by.
    try:
        PyObject_GenericSetAttr(value, <PyObject*>"int", number)
    finally:
        decref(number)
    return PyObject_GenericSetAttr(value, <PyObject*>"is_safe", <PyObject*>safety)


cdef PyObject* recognise_complex(PickleForm* f) except? NULL:
    cdef double real, imag
    skip_put(f)
    if f.end - f.p < 18 or f.p[0] != OP_BINFLOAT or f.p[9] != OP_BINFLOAT:
        return NULL
    real, imag = load_f64(f.p + 1), load_f64(f.p + 10)
    f.p += 18
    if not expect_call(f, OP_TUPLE2) or f.p != f.end:
        return NULL
    return PyComplex_FromDoubles(real, imag)


# Sets of what has a hash that no one can choose: text, and ints that are their own hash.

cdef PyObject* recognise_set(PickleForm* f, PyObject* target) except? NULL:
    # Steals the set.
    try:
        skip_put(f)
        if not expect_stored_opcode(f, OP_EMPTY_LIST):
            return NULL
        set_reserve(target, count_elements(f[0]))
        if add_elements(f, target) and expect_call(f, OP_TUPLE1) and f.p == f.end:
            incref(target)
            return target
        return NULL
    finally:
        decref(target)


cdef Py_ssize_t count_elements(PickleForm f) noexcept:
    # How many there are before the first opcode of another kind.
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t nbytes
    while f.end - f.p >= 5:
        if f.p[0] == OP_BININT:
            nbytes = 5
        elif f.p[0] == OP_BININT2:
            nbytes = 3
        elif f.p[0] == OP_BININT1:
            nbytes = 2
        elif f.p[0] == OP_BINUNICODE:
            nbytes = 5 + <Py_ssize_t>load_u32_le(f.p + 1)
        elif f.p[0] == OP_SHORT_BINSTRING or f.p[0] == OP_LONG1:
            nbytes = 2 + f.p[1]
        elif f.p[0] == OP_MARK or f.p[0] == OP_APPENDS or f.p[0] == OP_APPEND or f.p[0] == OP_BINPUT:
            f.p += 2 if f.p[0] == OP_BINPUT else 1
            continue
        else:
            break
        if nbytes > f.end - f.p:
            break
        count += 1
        f.p += nbytes
    return count


cdef bint add_elements(PickleForm* f, PyObject* target) except -1:
    cdef Py_ssize_t nadded = 0
    cdef bint many
    while f.p < f.end and f.p[0] != OP_TUPLE1:
        many = expect_opcode(f, OP_MARK)
        while True:
            if not add_element(f, target):
                return False
            nadded += 1
            f.checks_signals = True
            check_signals_at(nadded)
            f.checks_signals = False
            if not many:
                if not expect_opcode(f, OP_APPEND):
                    return False
                break
            if expect_opcode(f, OP_APPENDS):
                break
    return True


cdef bint add_element(PickleForm* f, PyObject* target) except -1:
    cdef PyObject* item
    cdef int number
    cdef Py_ssize_t left = f.end - f.p
    cdef Py_ssize_t nbytes
    if take_small(f, &number):
        item = int_object(number)
    elif left >= 5 and f.p[0] == OP_BINUNICODE:
        nbytes = load_u32_le(f.p + 1)
        if nbytes > left - 5 or not is_ascii(f.p + 5, nbytes):
            return False
        item = decode_ascii(f.p + 5, nbytes)
        f.p += 5 + nbytes
        skip_put(f)
    elif left >= 2 and f.p[0] == OP_SHORT_BINSTRING:
        nbytes = f.p[1]
        if nbytes > left - 2 or not is_ascii(f.p + 2, nbytes):
            return False
        item = decode_ascii(f.p + 2, nbytes)
        f.p += 2 + nbytes
        skip_put(f)
    elif left >= 2 and f.p[0] == OP_LONG1 and f.p[1] <= 7 and f.p[1] <= left - 2:
        # 56 bits, below the modulus of hashes
        item = int_from_bytes_le(f.p + 2, f.p[1])
        f.p += 2 + f.p[1]
    else:
        return False
    set_add_stolen(target, item)
    return True
