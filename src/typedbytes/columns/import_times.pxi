# Dates, times and durations of Arrow as numbers: days of an INT, microseconds of a LONG.
# What is in these units already is not copied.
#
# A number that does not fit is refused when its value is written: it may be under a null, or outside the rows written.

cdef const char* NO_WHOLE_MICROSECONDS = "nanoseconds that are not a whole number of microseconds"
cdef const char* NO_WHOLE_DAYS = "milliseconds of a date that are not a whole number of days"
cdef const char* BEYOND_MICROSECONDS = "time does not fit a LONG of microseconds"
cdef const char* BEYOND_DAYS = "date does not fit an INT of days"
cdef const char* OUTSIDE_THE_DAY = "time of day that is not within a day"

cdef enum:
    DAY_MILLISECONDS = 86_400_000

# By the first bytes of a format, which a time zone may follow: type code, bytes of an item,
# what to multiply it by, what to divide it by.
cdef dict ARROW_TIMES = {
    b"tdD": (INT, 4, 1, 1), b"tdm": (INT, 8, 1, DAY_MILLISECONDS),
    b"tts": (LONG, 4, 1_000_000, 1), b"ttm": (LONG, 4, 1000, 1), b"ttu": (LONG, 8, 1, 1), b"ttn": (LONG, 8, 1, 1000),
    b"tss": (LONG, 8, 1_000_000, 1), b"tsm": (LONG, 8, 1000, 1), b"tsu": (LONG, 8, 1, 1), b"tsn": (LONG, 8, 1, 1000),
    b"tDs": (LONG, 8, 1_000_000, 1), b"tDm": (LONG, 8, 1000, 1), b"tDu": (LONG, 8, 1, 1), b"tDn": (LONG, 8, 1, 1000),
}


cdef int mark_unfit(Column* c, Py_ssize_t i, Py_ssize_t n, const char* refusal) except -1:
    # Value i of n is refused when it is written.
    if c.unfit == NULL:
        c.unfit = <unsigned char*>PyMem_RawCalloc(n // 8 + 1, 1)
        if c.unfit == NULL:
            raise MemoryError
    c.kind = PARTLY_UNFIT
    c.refusal = refusal
    c.unfit[i >> 3] |= 1 << (i & 7)
    return 0


cdef int mark_beyond_long(Column* c, Py_ssize_t n) except -1:
    # Of LONGs that were copied from uint64, the negative ones were 2^63 or more.
    cdef Py_ssize_t i
    for i in range(n):
        if c.data[8 * i + (7 if LITTLE else 0)] & 0x80:
            mark_unfit(c, i, n, BEYOND_LONG)
    return 0


cdef Column* import_times(const ArrowArray* array, int64_t offset, int64_t n, tuple unit,
                          bint is_time_of_day) except NULL:
    cdef int code, itemsize
    cdef int64_t factor, divisor
    cdef const unsigned char* data
    cdef Column* c
    code, itemsize, factor, divisor = unit
    c = new_column(FIXED, code, 0)
    data = <const unsigned char*>array.buffers[1] + offset * itemsize if n else NULL
    c.used = n * c.width
    try:
        if factor == 1 and divisor == 1:
            c.data = <unsigned char*>data
            c.borrowed = True
        else:
            if not reserve_data(c, c.used):
                raise MemoryError
            convert_times(c, data, n, itemsize, factor, divisor)
        if is_time_of_day:
            check_times_of_day(c, n)
    except BaseException:
        free_column(c)
        raise
    return c


cdef int convert_times(Column* c, const unsigned char* data, int64_t n, int itemsize, int64_t factor,
                       int64_t divisor) except -1:
    cdef int64_t i, number
    cdef int32_t narrow
    cdef int64_t limit = INT64_MAX // factor
    for i in range(n):
        if itemsize == 4:
            memcpy(&narrow, data + 4 * i, 4)
            number = narrow
        else:
            memcpy(&number, data + 8 * i, 8)
        if number % divisor:
            mark_unfit(c, i, n, NO_WHOLE_DAYS if c.code == INT else NO_WHOLE_MICROSECONDS)
            number = 0
        number //= divisor
        if number > limit or number < -limit:
            mark_unfit(c, i, n, BEYOND_MICROSECONDS)
            number = 0
        number *= factor
        if c.code == LONG:
            memcpy(c.data + 8 * i, &number, 8)
            continue
        narrow = <int32_t>number
        if narrow != number:
            mark_unfit(c, i, n, BEYOND_DAYS)
        memcpy(c.data + 4 * i, &narrow, 4)
    return 0


cdef int check_times_of_day(Column* c, int64_t n) except -1:
    cdef const int64_t* times = <const int64_t*>c.data
    cdef int64_t i
    for i in range(n):
        if not 0 <= times[i] < MICROSECONDS_OF_DAY:
            mark_unfit(c, i, n, OUTSIDE_THE_DAY)
    return 0


cdef Column* import_decimals(const ArrowArray* array, int64_t offset, int64_t n, bytes format) except NULL:
    # The format has the precision, the scale, and the number of bits if that is not 128.
    cdef list numbers = format[2:].split(b",")
    cdef Column* c = new_column(DECIMAL, STRING, 0)
    try:
        c.scale = int(numbers[1])
        c.width = int(numbers[2]) // 8 if len(numbers) == 3 else 16
        if c.width > MAX_DECIMAL_WIDTH:
            raise EncodeTypeError(f"the Arrow type decimal ({format.decode('ascii')}) is wider than 256 bits")
    except BaseException:
        free_column(c)
        raise
    c.used = n * c.width
    c.data = <unsigned char*>array.buffers[1] + offset * c.width if n else NULL
    c.borrowed = True
    return c
