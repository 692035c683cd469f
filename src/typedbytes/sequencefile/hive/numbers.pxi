# Numbers and times as Hive's text has them, with the digits of decimals. Text that is none is null, as in Hive.

cdef enum:
    MAX_NUMBER_DIGITS = 120   # significant ones; those after them change no number that a column holds
    EXACT_DIGITS = 15         # digits of a number that a double holds, and times these powers of ten too
    EXACT_EXPONENT = 22
    MAX_EXPONENT = 1 << 20
    MAX_UNSCALED_NBYTES = 48  # bytes of a decimal's integer: its digits are fewer than MAX_NUMBER_DIGITS

cdef struct HiveNumber:
    bint is_negative
    bint has_exponent
    int n                     # number of digits, of which the first is not zero
    int64_t ndecimals         # how many digits are after the point; negative: zeros follow
    unsigned char digits[MAX_NUMBER_DIGITS + 2]    # in ASCII, from the second on

cdef double[23] POWERS = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
                          1e17, 1e18, 1e19, 1e20, 1e21, 1e22]


cdef inline bint is_digit(unsigned char c) noexcept nogil:
    return <unsigned char>(c - 48) <= 9


cdef bint scan_number(const unsigned char* p, const unsigned char* end, HiveNumber* x) noexcept nogil:
    # False: it is none.
    cdef bint has_digits = False
    cdef bint has_point = False
    cdef bint is_exponent_negative
    cdef int64_t exponent = 0
    x.n = 0
    x.ndecimals = 0
    x.is_negative = p != end and p[0] == b"-"
    if p != end and (p[0] == b"-" or p[0] == b"+"):
        p += 1
    while p != end:
        if is_digit(p[0]):
            has_digits = True
            x.ndecimals += has_point
            if x.n == MAX_NUMBER_DIGITS:
                x.ndecimals -= 1
            elif x.n or p[0] != 48:
                x.n += 1
                x.digits[x.n] = p[0]
        elif p[0] == b"." and not has_point:
            has_point = True
        else:
            break
        p += 1
    x.has_exponent = p != end
    if p == end or not has_digits:
        return has_digits and p == end
    if p[0] != b"e" and p[0] != b"E":
        return False
    p += 1
    is_exponent_negative = p != end and p[0] == b"-"
    if p != end and (p[0] == b"-" or p[0] == b"+"):
        p += 1
    if p == end:
        return False
    while p != end and is_digit(p[0]):
        exponent = min(10 * exponent + p[0] - 48, <int64_t>MAX_EXPONENT)
        p += 1
    x.ndecimals -= -exponent if is_exponent_negative else exponent
    return p == end


cdef bint parse_integer(const unsigned char* p, const unsigned char* end, int64_t* number) noexcept nogil:
    # As LazyInteger: decimals are dropped. False: it is none, or of more than 64 bits.
    cdef HiveNumber x
    cdef uint64_t magnitude = 0
    cdef bint is_negative = p != end and p[0] == b"-"
    cdef const unsigned char* at = p + is_negative
    cdef int i
    if end - at <= EXACT_DIGITS:
        while at != end and is_digit(at[0]):
            magnitude = 10 * magnitude + at[0] - 48
            at += 1
    if at != end or at == p + is_negative:
        if not scan_number(p, end, &x) or x.has_exponent or x.n - x.ndecimals > 19:
            return False
        magnitude = 0
        for i in range(<int>(x.n - x.ndecimals) if x.n > x.ndecimals else 0):
            magnitude = 10 * magnitude + x.digits[1 + i] - 48
        if magnitude > <uint64_t>INT64_MAX + x.is_negative:
            return False
    number[0] = <int64_t>(0 - magnitude if is_negative else magnitude)
    return True


cdef bint parse_real(const unsigned char* p, const unsigned char* end, double* number) except -1:
    # As Double.parseDouble. False: it is none.
    cdef HiveNumber x
    cdef uint64_t magnitude = 0
    cdef char text[MAX_NUMBER_DIGITS + 16]
    cdef int i
    strip_spaces(&p, &end)
    if end - p > 1 and ((end - 1)[0] | 0x20) in (b"d", b"f") and (is_digit((end - 2)[0]) or (end - 2)[0] == b"."):
        end -= 1
    if not scan_number(p, end, &x):
        p += p != end and (p[0] == b"-" or p[0] == b"+")
        if end - p == 3 and memcmp(p, b"NaN", 3) == 0:
            number[0] = NAN
        elif end - p == 8 and memcmp(p, b"Infinity", 8) == 0:
            number[0] = -INFINITY if x.is_negative else INFINITY
        else:
            return False
        return True
    if x.n == 0:
        number[0] = 0
    elif x.n <= EXACT_DIGITS and -EXACT_EXPONENT <= x.ndecimals <= EXACT_EXPONENT:
        for i in range(x.n):
            magnitude = 10 * magnitude + x.digits[1 + i] - 48
        number[0] = <double>magnitude / POWERS[x.ndecimals] if x.ndecimals >= 0 else \
            <double>magnitude * POWERS[-x.ndecimals]
    else:
        memcpy(text, x.digits + 1, x.n)
        write_exponent(<unsigned char*>text + x.n, x.ndecimals)[0] = 0
        number[0] = PyOS_string_to_double(text, NULL, NULL)
    if x.is_negative:
        number[0] = -number[0]
    return True


cdef unsigned char* write_exponent(unsigned char* out, int64_t ndecimals) noexcept nogil:
    # Returns the end.
    cdef int64_t left = -ndecimals if ndecimals < 0 else ndecimals
    cdef int64_t divisor = 1
    out[0] = b"E"
    out[1] = b"+" if ndecimals < 0 else b"-"
    out += 2
    while left // divisor >= 10:
        divisor *= 10
    while divisor:
        out[0] = <unsigned char>(48 + left // divisor % 10)
        out += 1
        divisor //= 10
    return out


cdef int append_decimal(WriteBuffer* out, HiveType t, HiveNumber* x) except -1:
    # As Hive fits a number to its column: digits after the last decimal are rounded, half up. 0: it has too many before
    # the point, and is null.
    cdef int64_t dropped = x.ndecimals - t.scale
    cdef unsigned char* first = x.digits + 1
    cdef unsigned char* p
    cdef int i
    if dropped > 0:
        x.ndecimals = t.scale
        if dropped > x.n:
            x.n = 0
        else:
            x.n -= <int>dropped
            if first[x.n] >= b"5":
                x.digits[0] = 48
                i = x.n - 1
                while i >= 0 and first[i] == b"9":
                    first[i] = 48
                    i -= 1
                first[i] += 1
                if i < 0:
                    first -= 1
                    x.n += 1
    if x.n and x.n - x.ndecimals > t.precision - t.scale:
        return 0
    reserve(out, MAX_NUMBER_DIGITS + 32)
    out.cursor[0] = STRING
    p = out.cursor + 5
    if x.n == 0:
        p[0] = 48
        p += 1
    else:
        p[0] = b"-"
        p += x.is_negative
        memcpy(p, first, x.n)
        p = write_exponent(p + x.n, x.ndecimals)
    store_i32(out.cursor + 1, <int32_t>(p - out.cursor - 5))
    out.cursor = p
    return 1


cdef void read_unscaled(HiveNumber* x, const unsigned char* p, Py_ssize_t nbytes) noexcept nogil:
    # The digits of an integer in two's complement, of MAX_UNSCALED_NBYTES at most.
    cdef unsigned char left[MAX_UNSCALED_NBYTES]
    cdef unsigned char* end = x.digits + MAX_NUMBER_DIGITS + 2
    cdef unsigned char* at = end
    cdef unsigned int rest
    cdef Py_ssize_t i
    cdef Py_ssize_t start = 0
    cdef unsigned int carry = 1
    x.is_negative = nbytes > 0 and p[0] >> 7
    for i in range(nbytes - 1, -1, -1):
        if x.is_negative:
            carry += <unsigned char>~p[i]
        else:
            carry = p[i]
        left[i] = <unsigned char>carry
        carry >>= 8
    while start < nbytes:
        rest = 0
        for i in range(start, nbytes):
            rest = rest << 8 | left[i]
            left[i] = <unsigned char>(rest // 10)
            rest %= 10
        while start < nbytes and left[start] == 0:
            start += 1
        at -= 1
        at[0] = <unsigned char>(48 + rest)
    while at != end and at[0] == 48:
        at += 1
    x.n = <int>(end - at)
    memmove(x.digits + 1, at, x.n)


# ---- dates and times: as Hive's lenient parser, in which 2024-02-30 is the first of March ----

cdef int scan_digits(const unsigned char** cursor, const unsigned char* end, int most) noexcept nogil:
    # A number of up to so many digits; -1: there are none, or more.
    cdef const unsigned char* p = cursor[0]
    cdef int number = 0
    while p != end and is_digit(p[0]) and p - cursor[0] < most:
        number = 10 * number + p[0] - 48
        p += 1
    if p == cursor[0] or (p != end and is_digit(p[0])):
        return -1
    cursor[0] = p
    return number


cdef inline bint skip_byte(const unsigned char** cursor, const unsigned char* end, unsigned char c) noexcept nogil:
    cdef bint is_there = cursor[0] != end and cursor[0][0] == c
    cursor[0] += is_there
    return is_there


cdef bint scan_date(const unsigned char** cursor, const unsigned char* end, int64_t* days) noexcept nogil:
    cdef int month, day
    cdef const unsigned char* start = cursor[0]
    cdef int year = scan_digits(cursor, end, 4)
    if cursor[0] - start != 4 or year < 1 or not skip_byte(cursor, end, b"-"):
        return False
    month = scan_digits(cursor, end, 2)
    if month < 1 or not skip_byte(cursor, end, b"-"):
        return False
    day = scan_digits(cursor, end, 2)
    if day < 1:
        return False
    days[0] = days_from_civil(year + (month - 1) // 12, (month - 1) % 12 + 1, 1) + day - 1
    return True


cdef void strip_spaces(const unsigned char** p, const unsigned char** end) noexcept nogil:
    while p[0] != end[0] and p[0][0] <= 32:
        p[0] += 1
    while p[0] != end[0] and (end[0] - 1)[0] <= 32:
        end[0] -= 1


cdef bint parse_date(const unsigned char* p, const unsigned char* end, int64_t* days) noexcept nogil:
    strip_spaces(&p, &end)
    return scan_date(&p, end, days) and (p == end or p[0] == 32)


cdef bint parse_timestamp(const unsigned char* p, const unsigned char* end, int64_t* seconds,
                          int* nanoseconds) noexcept nogil:
    cdef int hour, minute, second
    cdef int ndigits = 0
    cdef int64_t days = 0
    strip_spaces(&p, &end)
    if not scan_date(&p, end, &days) or not (skip_byte(&p, end, 32) or skip_byte(&p, end, b"T")):
        return False
    hour = scan_digits(&p, end, 2)
    if hour < 0 or not skip_byte(&p, end, b":"):
        return False
    minute = scan_digits(&p, end, 2)
    if minute < 0 or not skip_byte(&p, end, b":"):
        return False
    second = scan_digits(&p, end, 2)
    nanoseconds[0] = 0
    if second >= 0 and skip_byte(&p, end, b"."):
        while p != end and is_digit(p[0]) and ndigits < 9:
            nanoseconds[0] = 10 * nanoseconds[0] + p[0] - 48
            ndigits += 1
            p += 1
        for _ in range(9 - ndigits):
            nanoseconds[0] *= 10
    seconds[0] = 86400 * days + 3600 * hour + 60 * minute + second
    return second >= 0 and p == end
