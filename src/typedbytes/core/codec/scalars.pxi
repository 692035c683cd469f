# Values of fixed size. decode_* get a pointer to the payload, whose bytes the caller has checked to be there.

cdef enum:
    MIN_SHARED = -128
    MAX_SHARED = 1023

# Shared ints; filled at import, never freed.
cdef PyObject* SHARED_INTS[MAX_SHARED - MIN_SHARED + 1]

cdef int share_ints() except -1:
    for number in range(MIN_SHARED, MAX_SHARED + 1):
        SHARED_INTS[number - MIN_SHARED] = PyLong_FromLong(number)

share_ints()

cdef PyObject* BOOLS[2]    # a table, because a branch on random bools is mispredicted every other time
BOOLS[0] = Py_False
BOOLS[1] = Py_True


# wire    3 INT: i32. 4 LONG: i64. 1 BYTE: i8, signed.
# python  int both ways; the width follows the number (int_width="auto"); exact=True gives Byte and Long and keeps it.
# errors  EncodeValueError: beyond 64 bits with pickle off, or beyond the fixed width.
# source  Hadoop TypedBytesOutput.writeInt, writeLong, writeByte; vectors int_*, long_*, byte_*.

cdef inline PyObject* int_or_null(int64_t number) noexcept:
    # NULL: an exception is set.
    # One comparison for both limits: the sign of random numbers is mispredicted every other time.
    cdef PyObject* shared
    if <uint64_t>number - <uint64_t>MIN_SHARED <= MAX_SHARED - MIN_SHARED:
        shared = SHARED_INTS[number - MIN_SHARED]
        incref(shared)
        return shared
    return int_from_i64(number)


cdef inline PyObject* int_object(int64_t number) except NULL:
    return int_or_null(number)


cdef inline PyObject* decode_byte(const unsigned char* p) except NULL:
    cdef PyObject* shared = SHARED_INTS[<signed char>p[0] - MIN_SHARED]
    incref(shared)
    return shared


cdef PyObject* exact_int(type kind, int64_t number) except NULL:
    result = kind(number)
    Py_INCREF(result)
    return <PyObject*>result


cdef inline PyObject* decode_long(Decoding* d, const unsigned char* p) except NULL:
    cdef int64_t number = load_i64(p)
    if unlikely(d.exact) and INT32_MIN <= number <= INT32_MAX:
        return exact_int(Long, number)
    return int_object(number)


cdef inline int encode_int(Encoding* e, PyObject* obj) except -1:
    cdef int64_t number
    if unlikely(not int_to_i64(obj, &number)):
        return encode_wide_int(e, obj)
    if unlikely(e.int_width == 64):
        return encode_long(e, obj)
    reserve(&e.buf, 9)
    if unlikely(e.int_width == 32) and not INT32_MIN <= number <= INT32_MAX:
        return raise_encode_value(e, "int does not fit an INT of 32 bits")
    e.buf.cursor += store_int(e.buf.cursor, number)
    return 0


cdef inline Py_ssize_t store_int(unsigned char* p, int64_t number) noexcept:
    # As INT or LONG, as the number needs; return how many bytes. The caller has reserved 9.
    if number == <int32_t>number:
        p[0] = INT
        store_i32(p + 1, <int32_t>number)
        return 5
    p[0] = LONG
    store_i64(p + 1, number)
    return 9


cdef int encode_long(Encoding* e, PyObject* obj) except -1:
    cdef int64_t number
    if not int_to_i64(obj, &number):
        return raise_encode_value(e, "int does not fit a LONG of 64 bits")
    reserve(&e.buf, 9)
    e.buf.cursor[0] = LONG
    store_i64(e.buf.cursor + 1, number)
    e.buf.cursor += 9
    return 0


cdef int encode_byte(Encoding* e, PyObject* obj) except -1:
    cdef int64_t number
    if not int_to_i64(obj, &number) or not -128 <= number <= 127:
        return raise_encode_value(e, "int does not fit a BYTE of 8 bits")
    reserve(&e.buf, 2)
    e.buf.cursor[0] = BYTE
    e.buf.cursor[1] = <unsigned char>(number & 0xff)
    e.buf.cursor += 2
    return 0


# wire    2 BOOL: u8, 0 is false, anything else true.
# python  bool both ways; a true that is not 1 becomes 1.
# errors  none.
# source  Hadoop TypedBytesInput.readBool; vectors bool_*.

cdef inline PyObject* decode_bool(const unsigned char* p) noexcept:
    cdef PyObject* truth = BOOLS[p[0] != 0]
    incref(truth)
    return truth


cdef inline int encode_bool(Encoding* e, PyObject* obj) except -1:
    reserve(&e.buf, 2)
    e.buf.cursor += store_bool(e.buf.cursor, obj)
    return 0


cdef inline Py_ssize_t store_bool(unsigned char* p, PyObject* obj) noexcept:
    p[0] = BOOL
    p[1] = obj == Py_True
    return 2


# wire    6 DOUBLE: binary64. 5 FLOAT: binary32.
# python  float both ways, NaN payloads kept; exact=True gives Float and keeps the width.
# errors  EncodeValueError: a finite Float beyond binary32.
# source  Hadoop TypedBytesOutput.writeDouble, writeFloat; vectors double_*, float_*.

cdef PyObject* decode_float(Decoding* d, const unsigned char* p) except NULL:
    cdef double number = load_f32(p)
    if d.exact:
        result = Float(number)
        Py_INCREF(result)
        return <PyObject*>result
    return PyFloat_FromDouble(number)


cdef inline int encode_double(Encoding* e, PyObject* obj) except -1:
    reserve(&e.buf, 9)
    e.buf.cursor += store_double(e.buf.cursor, obj)
    return 0


cdef inline Py_ssize_t store_double(unsigned char* p, PyObject* obj) noexcept:
    p[0] = DOUBLE
    store_f64(p + 1, PyFloat_AS_DOUBLE(obj))
    return 9


cdef int encode_float(Encoding* e, double number) except -1:
    reserve(&e.buf, 5)
    if not store_f32(e.buf.cursor + 1, number):
        return raise_encode_value(e, "number is too large for a FLOAT")
    e.buf.cursor[0] = FLOAT
    e.buf.cursor += 5
    return 0


# wire    11 SHORT: i16. 12 NULL: nothing. Hive's dialect only.
# python  SHORT: int, exact=True gives Ext(11, payload). NULL: None, both ways.
# errors  elsewhere these codes are unknown.
# source  Hive contrib util.typedbytes.Type; vectors hive_*.

cdef PyObject* decode_short(Decoding* d, const unsigned char* p) except NULL:
    if d.exact:
        return new_ext(SHORT, p, 2)
    return int_object(load_i16(p))


cdef inline PyObject* decode_null() noexcept:
    incref(Py_None)
    return Py_None


cdef int encode_null(Encoding* e) except -1:
    reserve(&e.buf, 1)
    e.buf.cursor[0] = NULL_CODE
    e.buf.cursor += 1
    return 0
