# Lines of JSON as encoded records, by the grammar of docs/json-form.md, without an object for each value.
#
# Here: JSON that is right. Not here: files, what is wrong with JSON: typedbytes.cli._forms.json_form says it, and is
# given all lines from the first that is not taken. Invariant: nothing is read beyond `end`; what is held is the rest of
# one value and of its line, and it is looked through again only when it has doubled.

from libc.stdint cimport int16_t

from typedbytes.core.byteorder cimport copy_short, load_u64_le, store_f32, store_f64, store_i16
from typedbytes.core.refs cimport PY_SSIZE_T_MAX, PyOS_string_to_double

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    /* The double nearest to digits / 10^nplaces, of up to 19 digits, all of which may be places; -1: not known. */
    static double divided_double(uint64_t digits, int nplaces) {
    #ifdef __SIZEOF_INT128__
        static const uint64_t powers[20] = {
            1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u, 10000000000u,
            100000000000u, 1000000000000u, 10000000000000u, 100000000000000u, 1000000000000000u, 10000000000000000u,
            100000000000000000u, 1000000000000000000u, 10000000000000000000u,
        };
        const uint64_t divisor = powers[nplaces];
        /* With the highest bit of both at the same place the quotient has 63 or 64 bits, more than a double; its last
         * bit says that there is a rest, so that the only rounding is that to a double. */
        const int left = digits ? __builtin_clzll(digits) : 0, more = 63 - __builtin_clzll(divisor);
        const unsigned __int128 dividend = (unsigned __int128)(digits << left) << more;
        const uint64_t quotient = (uint64_t)(dividend / divisor);    /* the rest by a product: sooner */
        const uint64_t power_of_two = (uint64_t)(1023 - left - more) << 52;
        double scale;
        memcpy(&scale, &power_of_two, 8);
        return (double)(quotient | (dividend != (unsigned __int128)quotient * divisor)) * scale;
    #else
        (void)digits, (void)nplaces;
        return -1;
    #endif
    }
    """
    double divided_double(uint64_t digits, int nplaces) noexcept

cdef enum:
    MAX_JSON_DEPTH = 256
    TOKEN_NBYTES = 16         # what is cut by the end of a piece is wrong no earlier than this before it
    LONG_LINE_NBYTES = 1 << 20
    NUMBER_NBYTES = 64
    MAX_DIVIDED_NDIGITS = 19
    MAX_DIGITS = 309          # more are beyond the range of a DOUBLE, and int() may refuse them

cdef struct JsonText:
    WriteBuffer out
    Skipping skipping         # over encoded members
    const unsigned char* end
    const unsigned char* failed_at    # after a function has returned NULL
    long long work_count
    int depth
    bint hive
    bint plain

cdef struct JsonNumber:
    const unsigned char* start
    const unsigned char* end
    uint64_t magnitude        # of up to 19 digits
    Py_ssize_t ndigits        # before the point
    bint is_negative
    bint is_real              # it has a point or an exponent


cdef class JsonRecords:
    "JsonRecords(*, pairs=False, plain=False, dialect='hadoop', max_bytes=None)\n--\n\n" \
        """Read records from pieces of JSON.

    pairs: each value is an array of a key and a value. plain: every object is a MAP. max_bytes: of a line and a value.

    >>> records = JsonRecords()
    >>> records.take(b'true {"long": 5', False), records.take(b'}', True), records.is_refused
    (b'', b'\\x02\\x01\\x04\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x05', False)
    """

    cdef JsonText j
    cdef Decoding d
    cdef WriteBuffer text     # the rest of it
    cdef bint pairs
    cdef Py_ssize_t max_bytes
    cdef Py_ssize_t wanted    # bytes of the rest, before it is looked at again
    cdef readonly Py_ssize_t line_nbytes    # of the line in which the rest begins, before it
    cdef bint is_first        # nothing has been taken
    cdef readonly bint is_refused    # the rest is not JSON of records
    cdef readonly long long nlines    # before the rest

    def __cinit__(self, *, bint pairs=False, bint plain=False, dialect="hadoop", max_bytes=None):
        self.d = (<DecodeOptions>DecodeOptions(dialect=dialect)).template
        self.j.out.owner = NULL
        self.j.hive, self.j.plain, self.pairs, self.is_first = self.d.hive, plain, pairs, True
        self.max_bytes = PY_SSIZE_T_MAX if max_bytes is None else max_bytes
        start_skipping(&self.j.skipping, &self.d)
        start_owned(&self.text, 256)

    def __dealloc__(self):
        stop_skipping(&self.j.skipping)
        drop(&self.text)
        drop(&self.j.out)

    @property
    def rest(self):
        """The text that was not taken, from the start of a line but for very long ones."""
        return self.text.start[:written(&self.text)]

    def take(self, data, bint is_last):
        """Return the encoded records of the lines that end in what has come; then `is_refused` is looked at.

        is_last: no more will come.
        """
        cdef Py_buffer view
        cdef Py_ssize_t nleft
        cdef const unsigned char* p
        cdef bint is_alone = written(&self.text) == 0
        contiguous = get_view(data, &view)
        try:
            p, self.j.end = <const unsigned char*>view.buf, <const unsigned char*>view.buf + view.len
            if not is_alone:
                append_bytes_of(&self.text, p, view.len)
                p, self.j.end = self.text.start, self.text.cursor
            if self.is_refused or self.j.end - p < self.wanted and not is_last:
                return b""
            start_owned(&self.j.out, 2 * (self.j.end - p) + 64)
            p = self.take_values(p, is_last)
            nleft = self.j.end - p
            if is_alone:
                append_bytes_of(&self.text, p, nleft)
            else:
                memmove(self.text.start, p, nleft)
                self.text.cursor = self.text.start + nleft
            self.wanted = 2 * nleft if nleft > SMALL_REST else 0
            return finish(&self.j.out)
        finally:
            drop(&self.j.out)
            self.j.out.owner = NULL
            PyBuffer_Release(&view)

    cdef const unsigned char* take_values(self, const unsigned char* p, bint is_last) except NULL:
        # Returns the start of the rest. Values are taken with the whole of their lines: what is wrong with a line is
        # said by reading it again.
        cdef JsonText* j = &self.j
        cdef const unsigned char* rest = p
        cdef const unsigned char* end
        cdef Py_ssize_t mark = 0
        cdef bint is_right = True
        if self.is_first and j.end - p >= 3 and memcmp(p, b"\xef\xbb\xbf", 3) == 0:
            p += 3
        while is_right:
            while p < j.end and is_json_space(p[0]) and is_right:
                p += 1
                if (p - 1)[0] == c"\n":
                    is_right = self.pass_lines(&rest, p, &mark)
            if is_right and (p - rest > LONG_LINE_NBYTES or p == j.end and is_last):
                is_right = self.pass_lines(&rest, p, &mark)
            if p == j.end or not is_right:
                break
            j.depth = 0
            end = read_two(j, p) if self.pairs else read_json(j, p)
            if end == NULL:
                is_right = not is_last and j.end - j.failed_at < TOKEN_NBYTES \
                    and memchr(j.failed_at, c"\n", j.end - j.failed_at) == NULL
                break
            if end == j.end and not is_last:
                break
            is_right = (end == j.end or is_json_space(end[0]) or is_close(end - 1) and is_open(end)) \
                and (end - p <= self.max_bytes or nchars_of(p, end) <= self.max_bytes)
            p = end
        self.is_refused = not is_right or (j.end - rest - LONG_LINE_NBYTES) // 4 > self.max_bytes
        j.out.cursor = j.out.start + mark
        return rest

    cdef bint pass_lines(self, const unsigned char** rest, const unsigned char* end, Py_ssize_t* mark) noexcept:
        # Take what was read up to this end. False: a line is too long.
        cdef const unsigned char* p = rest[0]
        cdef const unsigned char* found
        cdef Py_ssize_t nbytes = self.line_nbytes
        cdef long long nlines = self.nlines
        while p < end:
            found = <const unsigned char*>memchr(p, c"\n", end - p)
            nbytes += (end if found == NULL else found) - p
            if nbytes > self.max_bytes:
                return False
            if found == NULL:
                break
            p, nbytes = found + 1, 0
            nlines += 1
        self.nlines, self.line_nbytes, self.is_first = nlines, nbytes, False
        rest[0], mark[0] = end, written(&self.j.out)
        return True


cdef inline bint is_json_space(unsigned char byte) noexcept:
    return byte == c" " or byte == c"\n" or byte == c"\r" or byte == c"\t"


cdef inline bint is_open(const unsigned char* p) noexcept:
    return p[0] == c"[" or p[0] == c"{"


cdef inline bint is_close(const unsigned char* p) noexcept:
    return p[0] == c"]" or p[0] == c"}"


cdef Py_ssize_t nchars_of(const unsigned char* p, const unsigned char* end) noexcept:
    # Of text in UTF-8.
    cdef Py_ssize_t found = 0
    while p < end:
        found += (p[0] & 0xc0) != 0x80
        p += 1
    return found


# The functions below append the value whose JSON is at p, and return the address after it. NULL without an exception:
# it is not such a value, or not there as a whole.

cdef inline const unsigned char* not_json(JsonText* j, const unsigned char* p) noexcept:
    j.failed_at = p
    return NULL


cdef inline const unsigned char* after_space(JsonText* j, const unsigned char* p) noexcept:
    while p < j.end and is_json_space(p[0]):
        p += 1
    return p


cdef inline const unsigned char* after_char(JsonText* j, const unsigned char* p, unsigned char wanted) noexcept:
    # After this character, and white space on both sides of it.
    p = after_space(j, p)
    return after_space(j, p + 1) if p < j.end and p[0] == wanted else not_json(j, p)


cdef const unsigned char* read_json(JsonText* j, const unsigned char* p) except? NULL:
    cdef JsonNumber number
    j.work_count += 1
    if not j.work_count & SIGNAL_MASK:
        PyErr_CheckSignals()
    if p == j.end:
        return not_json(j, p)
    if p[0] == c'"':
        return read_string(j, p)
    if p[0] == c"{":
        return read_object(j, p)
    if p[0] == c"[":
        return read_array(j, p, LIST)
    if p[0] == c"t":
        return read_word(j, p, b"true", 4, b"\x02\x01", 2)
    if p[0] == c"f":
        return read_word(j, p, b"false", 5, b"\x02\x00", 2)
    if p[0] == c"n" and j.hive:
        return read_word(j, p, b"null", 4, b"\x0c", 1)
    if p[0] == c"n":
        return read_word(j, p, b"null", 4, <const char*>PICKLED_NONE, PICKLED_NONE_NBYTES)
    if not read_number(j, p, &number):
        return NULL
    return append_json_real(j, &number, DOUBLE) if number.is_real else append_json_integer(j, &number)


cdef const unsigned char* read_word(JsonText* j, const unsigned char* p, const char* word, Py_ssize_t nbytes,
                                    const char* encoded, Py_ssize_t nencoded) except? NULL:
    if j.end - p < nbytes or memcmp(p, word, nbytes) != 0:
        return not_json(j, p)
    append_bytes_of(&j.out, <const unsigned char*>encoded, nencoded)
    return p + nbytes


# Numbers.

cdef const unsigned char* scan_number(const unsigned char* p, const unsigned char* end, JsonNumber* number) noexcept:
    # Returns where the number ends, or cannot go on as one: `end` of it is NULL then.
    cdef Py_ssize_t i
    number.start, number.end, number.magnitude, number.is_real = p, NULL, 0, False
    number.is_negative = p < end and p[0] == c"-"
    p += number.is_negative
    number.ndigits = ndigits_at(p, end)
    if number.ndigits == 0 or p[0] == c"0" and number.ndigits > 1:
        return p
    if number.ndigits <= 19:
        for i in range(number.ndigits):
            number.magnitude = 10 * number.magnitude + (p[i] - c"0")
    p += number.ndigits
    if p < end and p[0] == c".":
        number.is_real = True
        p += 1
        if ndigits_at(p, end) == 0:
            return p
        p += ndigits_at(p, end)
    if p < end and p[0] | 0x20 == c"e":
        number.is_real = True
        p += 1
        if p < end and (p[0] == c"+" or p[0] == c"-"):
            p += 1
        if ndigits_at(p, end) == 0:
            return p
        p += ndigits_at(p, end)
    number.end = p
    return p


cdef inline bint read_number(JsonText* j, const unsigned char* p, JsonNumber* number) noexcept:
    j.failed_at = scan_number(p, j.end, number)
    return number.end != NULL


cdef inline Py_ssize_t ndigits_at(const unsigned char* p, const unsigned char* end) noexcept:
    cdef const unsigned char* start = p
    while p < end and c"0" <= p[0] <= c"9":
        p += 1
    return p - start


cdef inline bint has_int64(const JsonNumber* number) noexcept:
    return not number.is_real and number.ndigits <= 19 \
        and number.magnitude <= <uint64_t>INT64_MAX + number.is_negative


cdef inline int64_t int64_of(const JsonNumber* number) noexcept:
    return <int64_t>(0 - number.magnitude) if number.is_negative else <int64_t>number.magnitude


cdef const unsigned char* append_json_integer(JsonText* j, JsonNumber* number) except? NULL:
    cdef int64_t value
    if not has_int64(number):    # what is cut by the end may go on as a DOUBLE
        return not_json(j, number.end if number.end == j.end and number.ndigits <= MAX_DIGITS else number.start)
    value = int64_of(number)
    reserve(&j.out, 9)
    if value == <int32_t>value:
        j.out.cursor[0] = INT
        store_i32(j.out.cursor + 1, <int32_t>value)
        j.out.cursor += 5
    else:
        j.out.cursor[0] = LONG
        store_i64(j.out.cursor + 1, value)
        j.out.cursor += 9
    return number.end


cdef const unsigned char* append_json_real(JsonText* j, JsonNumber* number, int code) except? NULL:
    # Of an integer the value is that of Python's int, which has no -0.
    cdef double value
    if number.ndigits > MAX_DIGITS:
        return not_json(j, number.start)
    value = 0.0 if not number.is_real and number.magnitude == 0 and number.ndigits == 1 \
        else double_at(number.start, number.end - number.start)
    reserve(&j.out, 9)
    j.out.cursor[0] = <unsigned char>code
    if not isfinite(value) or code == FLOAT and not store_f32(j.out.cursor + 1, value):
        return not_json(j, number.start)
    if code == DOUBLE:
        store_f64(j.out.cursor + 1, value)
    j.out.cursor += 9 if code == DOUBLE else 5
    return number.end


cdef double double_at(const unsigned char* p, Py_ssize_t nbytes) except? -1:
    # Of the text of a number; infinite, where it is beyond the range.
    cdef char digits[NUMBER_NBYTES]
    cdef uint64_t whole = 0
    cdef Py_ssize_t ndigits = 0, nplaces = 0, i = p[0] == c"-"
    cdef bint is_fraction = False
    cdef double value
    while i < nbytes and ndigits <= MAX_DIVIDED_NDIGITS and p[i] | 0x20 != c"e":
        if p[i] == c".":
            is_fraction = True
        else:
            whole = 10 * whole + (p[i] - c"0")
            ndigits += 1
            nplaces += is_fraction
        i += 1
    if i == nbytes and ndigits <= MAX_DIVIDED_NDIGITS:
        value = divided_double(whole, <int>nplaces)
        if value >= 0:
            return -value if p[0] == c"-" else value
    if nbytes >= NUMBER_NBYTES:
        return PyOS_string_to_double(p[:nbytes], NULL, NULL)
    memcpy(digits, p, nbytes)
    digits[nbytes] = 0
    return PyOS_string_to_double(digits, NULL, NULL)


# Text.

cdef const unsigned char* read_string(JsonText* j, const unsigned char* p) except? NULL:
    cdef Py_ssize_t mark = written(&j.out)
    cdef const unsigned char* run
    cdef const unsigned char* start = p + 1
    cdef unsigned char all_bits = 0
    if p == j.end or p[0] != c'"':
        return not_json(j, p)
    reserve(&j.out, 5)
    j.out.cursor[0] = STRING
    j.out.cursor += 5
    p += 1
    while True:
        run = p
        p = end_of_run(p, j.end)
        while p < j.end and p[0] >= 0x20 and p[0] != c'"' and p[0] != c"\\":
            all_bits |= p[0]
            p += 1
        append_bytes_of(&j.out, run, p - run)
        if p == j.end or p[0] < 0x20:
            return not_json(j, p)
        if p[0] == c'"':
            break
        p = read_escape(j, p)
        if p == NULL:
            return NULL
    if all_bits >= 0x80 and not is_utf8(start, p - start) or written(&j.out) - mark > INT32_MAX:
        return not_json(j, start)
    store_i32(j.out.start + mark + 1, <int32_t>(written(&j.out) - mark - 5))
    return p + 1


cdef inline const unsigned char* end_of_run(const unsigned char* p, const unsigned char* end) noexcept:
    # After words of eight characters of ASCII that have no escape, quote or control character among them.
    cdef uint64_t word
    while end - p >= 8:
        word = load_u64_le(p)
        # a borrow from the byte below, and a byte that is not ASCII, may look special too
        if (word | (word - <uint64_t>0x2020202020202020)
                | ((word ^ <uint64_t>0x2222222222222222) - <uint64_t>0x0101010101010101)
                | ((word ^ <uint64_t>0x5c5c5c5c5c5c5c5c) - <uint64_t>0x0101010101010101)) \
                & <uint64_t>0x8080808080808080:
            break
        p += 8
    return p


cdef const unsigned char* read_escape(JsonText* j, const unsigned char* p) except? NULL:
    cdef int unit, low
    cdef unsigned char letter
    if j.end - p < 2:
        return not_json(j, p)
    letter = p[1]
    if letter != c"u":
        letter = c"\b" if letter == c"b" else c"\f" if letter == c"f" else c"\n" if letter == c"n" \
            else c"\r" if letter == c"r" else c"\t" if letter == c"t" \
            else letter if letter == c'"' or letter == c"\\" or letter == c"/" else 0
        if letter == 0:
            return not_json(j, p)
        append_byte_of(&j.out, letter)
        return p + 2
    unit = code_unit_at(j, p)
    p += 6
    if 0xd800 <= unit < 0xdc00:
        low = code_unit_at(j, p)
        p += 6
        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00) if 0xdc00 <= low < 0xe000 else -1
    if unit < 0 or 0xdc00 <= unit < 0xe000:
        return not_json(j, min(p, j.end))
    reserve(&j.out, 4)
    if unit < 0x80:
        append_byte_of(&j.out, <unsigned char>unit)
    elif unit < 0x800:
        append_byte_of(&j.out, <unsigned char>(0xc0 | unit >> 6))
    elif unit < 0x10000:
        append_byte_of(&j.out, <unsigned char>(0xe0 | unit >> 12))
    else:
        append_byte_of(&j.out, <unsigned char>(0xf0 | unit >> 18))
        append_byte_of(&j.out, <unsigned char>(0x80 | unit >> 12 & 0x3f))
    if unit >= 0x800:
        append_byte_of(&j.out, <unsigned char>(0x80 | unit >> 6 & 0x3f))
    if unit >= 0x80:
        append_byte_of(&j.out, <unsigned char>(0x80 | unit & 0x3f))
    return p


cdef int code_unit_at(JsonText* j, const unsigned char* p) noexcept:
    # Of \uXXXX; -1: that is not there.
    cdef int unit = 0, digit, i
    if j.end - p < 6 or p[0] != c"\\" or p[1] != c"u":
        return -1
    for i in range(2, 6):
        digit = hex_digit(p[i])
        if digit < 0:
            return -1
        unit = unit << 4 | digit
    return unit


cdef inline int hex_digit(unsigned char byte) noexcept:
    return byte - c"0" if c"0" <= byte <= c"9" else (byte | 0x20) - c"a" + 10 if c"a" <= byte | 0x20 <= c"f" else -1
