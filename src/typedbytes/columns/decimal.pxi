# Decimal numbers as text, exactly.
#
# In memory a number is an integer in two's complement, of 32 to 256 bits in the order of this machine's bytes, as in
# Arrow, times 10**-scale. As text it is what str() makes of a Decimal with these digits and this exponent:
# BigDecimal.toString has the same rules.

cdef enum:
    MAX_DECIMAL_WIDTH = 32    # bytes of the widest integer
    MAX_LIMBS = 8             # limbs of 32 bits in the widest integer
    DIGITS_CAPACITY = 96      # 256 bits have 78 digits, and 9 are written at a time
    MAX_DECIMAL_NBYTES = 102  # bytes of a text: digits, a sign, a point, up to six zeros before them or an exponent
    CHUNK_DIGITS = 9          # decimal digits that 32 bits hold
    SHORT_NBYTES = 18         # bytes of a text whose digits 64 bits hold

cdef uint32_t CHUNK = 1_000_000_000


cdef inline int load_limbs(uint32_t* limbs, const unsigned char* p, int width) noexcept nogil:
    # The magnitude, least significant limb first; returns whether the number is negative.
    cdef int n = width // 4
    cdef int i
    cdef int is_negative
    cdef uint64_t carry = 1
    for i in range(n):
        memcpy(&limbs[i if LITTLE else n - 1 - i], p + 4 * i, 4)
    is_negative = p[width - 1 if LITTLE else 0] >> 7
    if is_negative:
        for i in range(n):
            carry += <uint32_t>~limbs[i]
            limbs[i] = <uint32_t>carry
            carry >>= 32
    return is_negative


cdef inline int divide(uint32_t* limbs, int n, uint32_t divisor) noexcept nogil:
    # Divide in place, and return the remainder.
    cdef uint64_t rest = 0
    cdef int i
    for i in range(n - 1, -1, -1):
        rest = rest << 32 | limbs[i]
        limbs[i] = <uint32_t>(rest // divisor)
        rest %= divisor
    return <int>rest


cdef int digits_of(uint32_t* limbs, int n, unsigned char* end) noexcept nogil:
    # Write the digits before `end`, at least one, and return their number.
    cdef unsigned char* p = end
    cdef uint64_t number
    cdef uint32_t rest
    cdef int i
    while n > 0 and limbs[n - 1] == 0:
        n -= 1
    while n > 2:
        rest = divide(limbs, n, CHUNK)
        for i in range(CHUNK_DIGITS):
            p -= 1
            p[0] = 48 + rest % 10
            rest //= 10
        while n > 0 and limbs[n - 1] == 0:
            n -= 1
    number = (<uint64_t>limbs[1] << 32 if n > 1 else 0) | (limbs[0] if n > 0 else 0)
    while number or p == end:
        p -= 1
        p[0] = 48 + number % 10
        number //= 10
    return <int>(end - p)


cdef unsigned char* store_decimal(unsigned char* out, const unsigned char* number, int width,
                                  int64_t scale) noexcept nogil:
    cdef uint32_t limbs[MAX_LIMBS]
    cdef unsigned char digits[DIGITS_CAPACITY]
    cdef unsigned char* end = digits + DIGITS_CAPACITY
    cdef unsigned char* head = out
    cdef int is_negative = load_limbs(limbs, number, width)
    cdef int n = digits_of(limbs, width // 4, end)
    cdef int64_t exponent = n - 1 - scale    # of the first digit
    cdef int64_t before = n - scale    # digits before the point
    out += 5
    if is_negative:
        out[0] = b"-"
        out += 1
    if scale < 0 or exponent < -6:
        out = store_scientific(out, end - n, n, exponent)
    elif scale == 0:
        memcpy(out, end - n, n)
        out += n
    else:
        if before <= 0:
            out[0] = b"0"
            out[1] = b"."
            memset(out + 2, b"0", -before)
            out += 2 - before
            before = 0
        else:
            memcpy(out, end - n, before)
            out[before] = b"."
            out += before + 1
        memcpy(out, end - n + before, n - before)
        out += n - before
    store_head(head, STRING, out - head - 5)
    return out


cdef unsigned char* store_scientific(unsigned char* out, const unsigned char* digits, int n,
                                     int64_t exponent) noexcept nogil:
    cdef uint32_t limbs[2]
    cdef unsigned char text[16]
    cdef int64_t magnitude = -exponent if exponent < 0 else exponent
    cdef int nexponent
    out[0] = digits[0]
    out += 1
    if n > 1:
        out[0] = b"."
        memcpy(out + 1, digits + 1, n - 1)
        out += n
    out[0] = b"E"
    out[1] = b"-" if exponent < 0 else b"+"
    limbs[0] = <uint32_t>magnitude
    limbs[1] = <uint32_t>(magnitude >> 32)
    nexponent = digits_of(limbs, 2, text + 16)
    memcpy(out + 2, text + 16 - nexponent, nexponent)
    return out + 2 + nexponent


cdef bint parse_decimal(unsigned char* out, const Column* c, const unsigned char* p, Py_ssize_t nbytes) noexcept nogil:
    # Store the number that a text is. False: it is none, has more digits than the column, or more decimals.
    if nbytes <= SHORT_NBYTES and parse_short(out, c, p, nbytes):
        return True
    return parse_any(out, c, p, nbytes)


cdef inline bint parse_short(unsigned char* out, const Column* c, const unsigned char* p,
                             Py_ssize_t nbytes) noexcept nogil:
    # A text of few digits, without an exponent. False: it may still be a number that fits.
    cdef const unsigned char* end = p + nbytes
    cdef const unsigned char* point = NULL
    cdef const unsigned char* start
    cdef int64_t number = 0
    cdef Py_ssize_t ndigits, ndecimals
    cdef uint32_t digit
    cdef bint is_negative = nbytes > 0 and p[0] == b"-"
    p += is_negative
    start = p
    while p != end:
        digit = <uint32_t>p[0] - 48
        if digit <= 9:
            number = 10 * number + digit
        elif p[0] == b"." and point == NULL:
            point = p
        else:
            return False
        p += 1
    ndigits = end - start - (point != NULL)
    ndecimals = end - point - 1 if point != NULL else 0
    if ndigits == 0 or ndecimals > c.scale or ndigits + c.scale - ndecimals > min(SHORT_NBYTES, c.precision):
        return False
    for _ in range(c.scale - ndecimals):
        number *= 10
    if is_negative:
        number = -number
    memset(out, 0xff if number < 0 else 0, c.width)
    memcpy(out if LITTLE else out + c.width - 8, &number, 8)
    return True


cdef bint parse_any(unsigned char* out, const Column* c, const unsigned char* p, Py_ssize_t nbytes) noexcept nogil:
    cdef const unsigned char* end = p + nbytes
    cdef unsigned char digits[DIGITS_CAPACITY]
    cdef int ndigits = 0    # significant ones
    cdef int64_t exponent = 0    # of the last of them
    cdef int64_t given = 0
    cdef int64_t nzeros = 0    # after the last significant digit
    cdef bint is_negative = nbytes > 0 and p[0] == b"-"
    cdef bint has_digits = False
    cdef bint has_point = False
    cdef bint is_exponent_negative
    if nbytes and (p[0] == b"-" or p[0] == b"+"):
        p += 1
    while p != end:
        if p[0] == b"." and not has_point:
            has_point = True
        elif b"0" <= p[0] <= b"9":
            has_digits = True
            exponent -= has_point
            if p[0] == b"0":
                nzeros += ndigits > 0
            else:
                if ndigits + nzeros >= DIGITS_CAPACITY - CHUNK_DIGITS:
                    return False
                memset(digits + ndigits, 0, nzeros)
                ndigits += <int>nzeros
                nzeros = 0
                digits[ndigits] = p[0] - 48
                ndigits += 1
        else:
            break
        p += 1
    if not has_digits:
        return False
    if p != end:
        if p[0] != b"E" and p[0] != b"e":
            return False
        p += 1
        is_exponent_negative = p != end and p[0] == b"-"
        if p != end and (p[0] == b"-" or p[0] == b"+"):
            p += 1
        if p == end:
            return False
        while p != end:
            if not b"0" <= p[0] <= b"9":
                return False
            given = min(10 * given + p[0] - 48, <int64_t>1 << 40)
            p += 1
        exponent += -given if is_exponent_negative else given
    memset(out, 0, c.width)
    if ndigits == 0:
        return True
    exponent += nzeros + c.scale    # of the last significant digit, in the column's integers
    if exponent < 0 or ndigits + exponent > c.precision:
        return False
    memset(digits + ndigits, 0, exponent)
    store_integer(out, c.width, digits, ndigits + <int>exponent, is_negative)
    return True


cdef void store_integer(unsigned char* out, int width, const unsigned char* digits, int ndigits,
                        bint is_negative) noexcept nogil:
    cdef uint32_t limbs[MAX_LIMBS]
    cdef int n = width // 4
    cdef int i = 0
    cdef int chunk, j
    cdef uint32_t addend, factor
    cdef uint64_t carry
    memset(limbs, 0, 4 * MAX_LIMBS)
    while i < ndigits:
        chunk = min(CHUNK_DIGITS, ndigits - i)
        addend = 0
        factor = 1
        for _ in range(chunk):
            addend = 10 * addend + digits[i]
            factor *= 10
            i += 1
        carry = addend
        for j in range(n):
            carry += <uint64_t>limbs[j] * factor
            limbs[j] = <uint32_t>carry
            carry >>= 32
    if is_negative:
        carry = 1
        for j in range(n):
            carry += <uint32_t>~limbs[j]
            limbs[j] = <uint32_t>carry
            carry >>= 32
    for j in range(n):
        memcpy(out + 4 * j, &limbs[j if LITTLE else n - 1 - j], 4)
