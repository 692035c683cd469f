# Encoded values as lines of JSON, in the lossless form of docs/json-form.md and in its plain one.
#
# Here: one direction, from bytes to text. Not here: files, Python values, the other
# direction. The walk goes over the encoded bytes, because decoding is not lossless: BOOL 5, a MAP with a key twice and
# a MAP and a LIST of VECTORs look alike as Python values. Invariant: a value is passed over with `skip_value` before it
# is written, so that writing it needs no checks.

from libc.math cimport fabs, isfinite, isnan
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy
from cpython.buffer cimport PyBuffer_Release
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Free

from typedbytes._core cimport (
    borrow, DecodeOptions, Decoding, drop, finish, get_view, held, raise_skipped, ReadBuffer, reserve, SIGNAL_MASK,
    skip_value, SkipOutcome, SKIPPED, Skipping, start_owned, start_skipping, stop_skipping, WriteBuffer, written,
)
from typedbytes._report.shortest cimport SHORTEST_NCHARS, shortest_text
from typedbytes.core.byteorder cimport load_f32, load_f64, load_i16, load_i32, load_i64, plain_character
from typedbytes.core.typecode cimport *
from typedbytes.core.refs cimport ADD_DOT_0, double_text

cdef enum:
    FEW_KEYS = 8              # of a MAP are compared one by one

TAG_NAMES = (b"bytes", b"byte", b"bool", b"long", b"float", b"double", b"string", b"vector", b"map", b"writable",
             b"ext", b"short")
TAGS = frozenset(TAG_NAMES)
cdef const char* HEX = b"0123456789abcdef"
cdef const char* BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

# How an ASCII character is written in a string: as itself (0), a backslash and this letter, or 'u' and four digits.
cdef unsigned char ESCAPES[128]
for code in range(128):
    ESCAPES[code] = c"u" if code < 0x20 or code == 0x7f else 0
for code, letter in zip(b'"\\\b\f\n\r\t', b'"\\bfnrt'):
    ESCAPES[code] = letter

cdef struct Walk:
    WriteBuffer out
    Skipping skipping         # looks ahead at the keys of a MAP
    const unsigned char* end  # of the value that is written
    long long work_count
    bint hive
    bint plain


def lines(data, *, bint pairs=False, bint plain=False, dialect="hadoop"):
    """Return the records of a bytes-like object as lines of JSON in UTF-8; with `pairs` a line is [key, value].

    plain: natural JSON, which loses types. Raises TruncatedError, FormatError and LimitError as skipping does.

    >>> lines(b"\\x02\\x01\\x04" + bytes(7) + b"\\x05")
    b'true\\n{"long": 5}\\n'
    """
    cdef DecodeOptions options = DecodeOptions(dialect=dialect)
    cdef Decoding d = options.template
    cdef Skipping skipping
    cdef Walk w
    cdef Py_buffer view
    w.hive, w.plain, w.work_count = d.hive, plain, 0
    w.out.owner = NULL
    d.record_index = 0
    contiguous = get_view(data, &view)
    skipping.pending = w.skipping.pending = NULL
    try:
        start_skipping(&skipping, &d)
        start_skipping(&w.skipping, &d)
        borrow(&d.buf, <const unsigned char*>view.buf, view.len)
        start_owned(&w.out, 2 * view.len + 64)
        while held(&d.buf):
            if pairs:
                append_byte(&w, c"[")
                append_next(&w, &d, &skipping)
                append_text(&w, b", ", 2)
                append_next(&w, &d, &skipping)
                append_byte(&w, c"]")
            else:
                append_next(&w, &d, &skipping)
            append_byte(&w, c"\n")
            d.record_index += 1
        return finish(&w.out)
    finally:
        drop(&w.out)
        stop_skipping(&skipping)
        stop_skipping(&w.skipping)
        PyBuffer_Release(&view)


cdef int append_next(Walk* w, Decoding* d, Skipping* skipping) except -1:
    cdef const unsigned char* start = d.buf.cursor
    cdef SkipOutcome outcome = skip_value(skipping, &d.buf)
    if outcome != SKIPPED:
        raise_skipped(d, skipping, outcome)
    w.end = d.buf.cursor
    append_value(w, start)
    return 0


# The functions below write the value at p, and return the address after it unless its size is fixed.

cdef const unsigned char* append_value(Walk* w, const unsigned char* p) except NULL:
    cdef int code = p[0]
    w.work_count += 1
    if not w.work_count & SIGNAL_MASK:
        PyErr_CheckSignals()
    p += 1
    if code == STRING:
        return append_string(w, p)
    if code == INT:
        append_integer(w, load_i32(p))
        return p + 4
    if code == LONG:
        append_tagged(w, b'{"long": ', load_i64(p), not w.plain and load_i64(p) == <int32_t>load_i64(p))
        return p + 8
    if code == DOUBLE:
        append_double(w, p)
        return p + 8
    if code == FLOAT:
        append_float(w, p)
        return p + 4
    if code == BOOL:
        append_bool(w, p[0])
        return p + 1
    if code == BYTE:
        append_tagged(w, b'{"byte": ', <signed char>p[0], not w.plain)
        return p + 1
    if code == BYTES:
        return append_bytes(w, p)
    if code == VECTOR:
        return append_vector(w, p)
    if code == LIST:
        return append_list(w, p)
    if code == MAP:
        return append_map(w, p)
    if code == WRITABLE:
        return append_writable(w, p)
    if w.hive and code == SHORT:
        append_tagged(w, b'{"short": ', load_i16(p), not w.plain)
        return p + 2
    if w.hive and code == NULL_CODE:
        append_text(w, b"null", 4)
        return p
    if w.hive and code == ENDOFRECORD:
        append_text(w, b"null" if w.plain else b'{"ext": [177, ""]}', 4 if w.plain else 18)
        return p
    if code == PICKLE and not w.hive \
            and memcmp(p - 1, PICKLED_NONE, PICKLED_NONE_NBYTES if load_i32(p) == 4 else 5) == 0:
        append_text(w, b"null", 4)
        return p + 8
    return append_ext(w, code, p)


cdef inline int append_byte(Walk* w, unsigned char byte) except -1:
    reserve(&w.out, 1)
    w.out.cursor[0] = byte
    w.out.cursor += 1
    return 0


cdef inline int append_text(Walk* w, const char* text, Py_ssize_t nbytes) except -1:
    reserve(&w.out, nbytes)
    memcpy(w.out.cursor, text, nbytes)
    w.out.cursor += nbytes
    return 0


cdef int append_bool(Walk* w, unsigned char byte) except -1:
    if byte > 1 and not w.plain:
        return append_tagged(w, b'{"bool": ', byte, True)
    return append_text(w, b"true" if byte else b"false", 4 if byte else 5)


cdef int append_integer(Walk* w, int64_t number) except -1:
    cdef unsigned char digits[24]
    cdef uint64_t rest = -<uint64_t>number if number < 0 else <uint64_t>number
    cdef int first = 24
    while True:
        first -= 1
        digits[first] = c"0" + rest % 10
        rest //= 10
        if rest == 0:
            break
    if number < 0:
        first -= 1
        digits[first] = c"-"
    return append_text(w, <const char*>digits + first, 24 - first)


cdef int append_tagged(Walk* w, bytes tag, int64_t number, bint is_tagged) except -1:
    if is_tagged:
        append_text(w, tag, len(tag))
    append_integer(w, number)
    if is_tagged:
        append_byte(w, c"}")
    return 0


cdef int append_number(Walk* w, double number) except -1:
    # The shortest text that reads back as the same number, as Python's repr.
    cdef char* text
    cdef int nchars
    if fabs(number) < 1e15 and number == <int64_t>number and number != 0:
        append_integer(w, <int64_t>number)
        return append_text(w, b".0", 2)
    reserve(&w.out, SHORTEST_NCHARS)
    nchars = shortest_text(number, <char*>w.out.cursor)
    if nchars:
        w.out.cursor += nchars
        return 0
    text = double_text(number, c"r", 0, ADD_DOT_0, NULL)
    try:
        return append_text(w, text, len(text))
    finally:
        PyMem_Free(text)


cdef int append_double(Walk* w, const unsigned char* p) except -1:
    if isfinite(load_f64(p)):
        return append_number(w, load_f64(p))
    return append_special(w, b'{"double": ', load_f64(p), p, 8)


cdef int append_float(Walk* w, const unsigned char* p) except -1:
    cdef double number = load_f32(p)
    if not isfinite(number):
        return append_special(w, b'{"float": ', number, p, 4)
    if w.plain:
        return append_short_number(w, number)
    append_text(w, b'{"float": ', 10)
    append_number(w, number)
    return append_byte(w, c"}")


cdef int append_short_number(Walk* w, double number) except -1:
    # With as few digits as it takes to read the same FLOAT back.
    cdef char* text
    for precision in range(6, 10):
        text = double_text(number, c"g", precision, ADD_DOT_0, NULL)
        try:
            if precision == 9 or <float>float(text) == <float>number:
                return append_text(w, text, len(text))
        finally:
            PyMem_Free(text)


cdef int append_special(Walk* w, bytes tag, double number, const unsigned char* p, int nbytes) except -1:
    # The bits come from the payload: a signalling NaN of a FLOAT would become a quiet one when converted to a double.
    cdef int i
    if w.plain:
        return append_text(w, b"null", 4)
    append_text(w, tag, len(tag))
    if isnan(number):
        append_text(w, b'"nan:', 5)
        for i in range(nbytes):
            append_byte(w, HEX[p[i] >> 4])
            append_byte(w, HEX[p[i] & 15])
        return append_text(w, b'"}', 2)
    return append_text(w, b'"inf"}' if number > 0 else b'"-inf"}', 6 if number > 0 else 7)


cdef const unsigned char* append_string(Walk* w, const unsigned char* p) except NULL:
    cdef Py_ssize_t nbytes = load_i32(p)
    if not append_utf8(w, p + 4, nbytes):
        if not w.plain:
            append_text(w, b'{"string": ', 11)
        append_base64(w, p + 4, nbytes)
        if not w.plain:
            append_byte(w, c"}")
    return p + 4 + nbytes


cdef const unsigned char* append_bytes(Walk* w, const unsigned char* p) except NULL:
    if w.plain:
        return append_string(w, p)
    append_text(w, b'{"bytes": ', 10)
    append_base64(w, p + 4, load_i32(p))
    append_byte(w, c"}")
    return p + 4 + load_i32(p)


cdef bint append_utf8(Walk* w, const unsigned char* p, Py_ssize_t nbytes) except -1:
    # A JSON string. False, and nothing is written, when the bytes are not UTF-8.
    cdef Py_ssize_t before = written(&w.out)
    cdef const unsigned char* end = p + nbytes
    cdef const unsigned char* run
    cdef uint32_t character
    cdef int width
    reserve(&w.out, nbytes + 2)
    w.out.cursor[0] = c'"'
    w.out.cursor += 1
    while p < end:
        run = p
        while p < end and p[0] < 0x80 and not ESCAPES[p[0]]:
            p += 1
        if p > run:
            memcpy(w.out.cursor, run, p - run)
            w.out.cursor += p - run
        if p == end:
            break
        # Reserve the longest escape and all that follows.
        reserve(&w.out, 6 + (end - p) + 1)
        if p[0] < 0x80:
            append_escape(w, p[0])
            p += 1
            continue
        width = plain_character(p, end, &character)
        if width == 0:
            w.out.cursor = w.out.start + before
            return False
        if is_control(character):
            append_code_unit(w, character)
        else:
            memcpy(w.out.cursor, p, width)
            w.out.cursor += width
        p += width
    w.out.cursor[0] = c'"'
    w.out.cursor += 1
    return True


cdef inline void append_escape(Walk* w, unsigned char byte) noexcept:
    if ESCAPES[byte] == c"u":
        append_code_unit(w, byte)
    else:
        w.out.cursor[0] = c"\\"
        w.out.cursor[1] = ESCAPES[byte]
        w.out.cursor += 2


cdef void append_code_unit(Walk* w, int unit) noexcept:
    memcpy(w.out.cursor, b"\\u", 2)
    w.out.cursor[2] = HEX[unit >> 12]
    w.out.cursor[3] = HEX[unit >> 8 & 15]
    w.out.cursor[4] = HEX[unit >> 4 & 15]
    w.out.cursor[5] = HEX[unit & 15]
    w.out.cursor += 6


cdef inline bint is_control(uint32_t character) noexcept:
    # Control characters of terminals, line ends of some programs, and characters that change the direction of writing.
    return 0x80 <= character <= 0x9f or 0x2028 <= character <= 0x202e or 0x2066 <= character <= 0x2069


cdef int append_base64(Walk* w, const unsigned char* p, Py_ssize_t nbytes) except -1:
    cdef Py_ssize_t i
    cdef unsigned char* out
    cdef int group
    reserve(&w.out, 2 + (nbytes + 2) // 3 * 4)
    out = w.out.cursor
    out[0] = c'"'
    out += 1
    for i in range(0, nbytes - 2, 3):
        group = p[i] << 16 | p[i + 1] << 8 | p[i + 2]
        out[0], out[1], out[2], out[3] = \
            BASE64[group >> 18], BASE64[group >> 12 & 63], BASE64[group >> 6 & 63], BASE64[group & 63]
        out += 4
    i = nbytes // 3 * 3
    if i < nbytes:
        group = p[i] << 16 | (p[i + 1] << 8 if i + 1 < nbytes else 0)
        out[0], out[1] = BASE64[group >> 18], BASE64[group >> 12 & 63]
        out[2] = BASE64[group >> 6 & 63] if i + 1 < nbytes else c"="
        out[3] = c"="
        out += 4
    out[0] = c'"'
    w.out.cursor = out + 1
    return 0


cdef const unsigned char* append_ext(Walk* w, int code, const unsigned char* p) except NULL:
    if w.plain and code == PICKLE and not w.hive:
        return append_plain_pickle(w, p)
    if w.plain:
        return append_string(w, p) if code == BYTESTRING else append_plain_payload(w, p)
    append_text(w, b'{"ext": [', 9)
    append_integer(w, code)
    append_text(w, b", ", 2)
    append_base64(w, p + 4, load_i32(p))
    append_text(w, b"]}", 2)
    return p + 4 + load_i32(p)


cdef const unsigned char* append_plain_payload(Walk* w, const unsigned char* p) except NULL:
    append_base64(w, p + 4, load_i32(p))
    return p + 4 + load_i32(p)


cdef const unsigned char* append_plain_pickle(Walk* w, const unsigned char* p) except NULL:
    # Only the safe types are read; what has no plain form, or is not such a pickle, is base64.
    from typedbytes._core import loads    # imported lazily: reports of other values need no decoder

    try:
        text, is_word = plain_object(loads((p - 1)[:5 + load_i32(p)]))
        data = text.encode()
    except ValueError:    # a DecodeError too
        return append_plain_payload(w, p)
    if is_word:
        append_text(w, data, len(data))
    else:
        append_utf8(w, <const unsigned char*><char*>data, len(data))
    return p + 4 + load_i32(p)


# of ints that are written as numbers: the time that it takes grows with the square of their digits
cdef object NUMBER_LIMIT = 10 ** 4300


cdef tuple plain_object(value):
    # The text of an object in plain JSON, and whether it is written without quotes; raises ValueError if there is none.
    kind = type(value).__name__
    if value is None or kind == "Decimal" and not value.is_finite():
        return "null", True
    if kind == "Decimal":
        return str(value).replace("e", "E"), True    # the thread's decimal context decides between these
    if kind == "int" and abs(value) < NUMBER_LIMIT:
        from decimal import Decimal    # lazy import: start-up time

        return str(Decimal(value)), True    # whatever sys.set_int_max_str_digits() allows
    if kind in ("date", "datetime", "time"):
        return value.isoformat(), False
    if kind in ("UUID", "timedelta", "str"):
        return str(value), False
    raise ValueError(f"an object of type {kind} has no plain form")


cdef const unsigned char* append_writable(Walk* w, const unsigned char* p) except NULL:
    # An "ext" when the class name is longer than the payload or not UTF-8.
    cdef Py_ssize_t nbytes = load_i32(p)
    cdef Py_ssize_t nname = load_i32(p + 4) if nbytes >= 4 else -1
    cdef Py_ssize_t before = written(&w.out)
    if w.plain and nbytes + 5 == ENCODED_NULL_WRITABLE_NBYTES \
            and memcmp(p - 1, ENCODED_NULL_WRITABLE, ENCODED_NULL_WRITABLE_NBYTES) == 0:
        append_text(w, b"null", 4)
        return p + 4 + nbytes
    if w.plain:
        return append_plain_payload(w, p)
    if not 0 <= nname <= nbytes - 4:
        return append_ext(w, WRITABLE, p)
    append_text(w, b'{"writable": [', 14)
    if not append_utf8(w, p + 8, nname):
        w.out.cursor = w.out.start + before
        return append_ext(w, WRITABLE, p)
    append_text(w, b", ", 2)
    append_base64(w, p + 8 + nname, nbytes - 4 - nname)
    append_text(w, b"]}", 2)
    return p + 4 + nbytes


cdef const unsigned char* append_vector(Walk* w, const unsigned char* p) except NULL:
    cdef Py_ssize_t nitems = load_i32(p)
    cdef Py_ssize_t i
    p += 4
    append_text(w, b"[" if w.plain else b'{"vector": [', 1 if w.plain else 12)
    for i in range(nitems):
        if i:
            append_text(w, b", ", 2)
        p = append_value(w, p)
    append_text(w, b"]}", 1 if w.plain else 2)
    return p


cdef const unsigned char* append_list(Walk* w, const unsigned char* p) except NULL:
    cdef bint is_first = True
    append_byte(w, c"[")
    while p[0] != MARKER:
        if not is_first:
            append_text(w, b", ", 2)
        is_first = False
        p = append_value(w, p)
    append_byte(w, c"]")
    return p + 1


cdef const unsigned char* append_map(Walk* w, const unsigned char* p) except NULL:
    # A plain object when all keys are different STRINGs in UTF-8 and it cannot be taken for a tag.
    cdef Py_ssize_t npairs = load_i32(p)
    cdef bint is_object = w.plain or can_be_object(w, p + 4, npairs)
    cdef Py_ssize_t i
    p += 4
    append_text(w, b"{" if is_object else b'{"map": [', 1 if is_object else 9)
    for i in range(npairs):
        if i:
            append_text(w, b", ", 2)
        if not is_object:
            append_byte(w, c"[")
        p = append_name(w, p) if w.plain else append_value(w, p)
        append_text(w, b": " if is_object else b", ", 2)
        p = append_value(w, p)
        if not is_object:
            append_byte(w, c"]")
    append_text(w, b"}" if is_object else b"]}", 1 if is_object else 2)
    return p


cdef const unsigned char* append_name(Walk* w, const unsigned char* p) except NULL:
    # The name of a plain object's member: the JSON form of a key that is not text.
    cdef Py_ssize_t before = written(&w.out)
    p = append_value(w, p)
    if w.out.start[before] != c'"':
        text = w.out.start[before:written(&w.out)]
        w.out.cursor = w.out.start + before
        append_utf8(w, <const unsigned char*>text, len(text))
    return p


cdef bint can_be_object(Walk* w, const unsigned char* p, Py_ssize_t npairs) except -1:
    # Returns whether the keys at p can be the names of an object. The values between them are skipped: each depth does
    # so once, so the work is at most that of the depth allowed.
    cdef ReadBuffer look
    cdef const unsigned char* keys[FEW_KEYS]
    cdef set many = None if npairs <= FEW_KEYS else set()
    cdef Py_ssize_t i, j, nbytes, before = written(&w.out)
    for i in range(npairs):
        if p[0] != STRING:
            return False
        nbytes = load_i32(p + 1)
        if not append_utf8(w, p + 5, nbytes):
            return False
        w.out.cursor = w.out.start + before
        if many is not None:
            key = p[5:5 + nbytes]
            if key in many:
                return False
            many.add(key)
        else:
            for j in range(i):
                if memcmp(keys[j] + 1, p + 1, 4) == 0 and memcmp(keys[j] + 5, p + 5, nbytes) == 0:
                    return False
            keys[i] = p
        p += 5 + nbytes
        borrow(&look, p, w.end - p)
        skip_value(&w.skipping, &look)
        p = look.cursor
    return npairs != 1 or keys[0][5:5 + load_i32(keys[0] + 1)] not in TAGS
