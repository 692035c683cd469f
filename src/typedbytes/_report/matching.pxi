# Records with a text that matches: first by bytes that every match has, then each text by itself.
#
# Here: finding bytes, the texts of a record. Not here: what a pattern means: a function of a text says whether it
# matches. Invariant: a text is whole, and numbers are texts as Python writes them.

from typedbytes.core.refs cimport text_object

cdef enum:
    NUMBER_TEXT_NBYTES = 32


cdef class MatchingRecords(ChosenRecords):
    "MatchingRecords(nparts, literal, search=None, *, is_folded=False, may_be_number=False, part=-1, invert=False, " \
        "dialect='hadoop')\n--\n\n" \
        """Choose records in which search(text) is true for a STRING, BYTES, a number or a truth value.

    literal: bytes that each text that matches has; may_be_number: a number may have them too. search: None: a text that
    has the literal matches. is_folded: the literal is in lower case, and its ASCII letters match as in re.IGNORECASE.
    part: 0 or 1: of the key or of the value of a pair alone. invert: choose the other records.

    >>> MatchingRecords(1, b"b").take(b"\\x07\\x00\\x00\\x00\\x02ab\\x07\\x00\\x00\\x00\\x01a")
    b'\\x07\\x00\\x00\\x00\\x02ab'
    """

    cdef object search
    cdef object decoder       # what it refuses does not match
    cdef object pickle_decoder    # of numbers that are pickled
    cdef bytes literal
    cdef bint is_folded, invert, may_be_number
    cdef int part_wanted
    cdef bint may_start[256]    # a folded literal, with this byte
    cdef readonly long long nfound
    cdef const unsigned char* hit    # first place of the literal, from a record on; NULL: not looked for

    def __init__(self, nparts, bytes literal not None, search=None, *, bint is_folded=False, bint may_be_number=False,
                 int part=-1, bint invert=False, dialect="hadoop"):
        self.search, self.literal, self.is_folded, self.invert = search, literal, is_folded, invert
        if not -1 <= part < self.nparts:
            raise ValueError(f"part must be less than {self.nparts}, not {part}")
        self.part_wanted, self.may_be_number = part, may_be_number
        from typedbytes._core import Decoder    # lazy import: the class is made with this module
        self.decoder = Decoder(dialect=dialect, pickle="raw", map_pairs=True, unicode_errors="surrogateescape",
                               exact=True)
        self.pickle_decoder = Decoder(dialect=dialect)
        if is_folded and literal:
            for byte in range(256):
                self.may_start[byte] = folded(byte) == self.literal[0]
            for byte, letter in zip(b"\xe2\xc5\xc4", b"ksi"):
                self.may_start[byte] = self.literal[0] == letter

    cdef int start_chunk(self) except -1:
        self.hit = NULL
        return 0

    cdef bint wants(self, const unsigned char** ends) except -1:
        cdef bint is_match = self.may_match(ends[0], ends[self.nparts])
        if is_match:
            is_match = self.matches(ends[max(self.part_wanted, 0)],
                                    ends[self.nparts if self.part_wanted < 0 else self.part_wanted + 1])
            is_match = is_match and self.can_be_decoded(ends[0], ends[self.nparts])
        self.nfound += is_match != self.invert
        return is_match != self.invert

    cdef bint may_match(self, const unsigned char* p, const unsigned char* end) noexcept:
        if self.may_be_number:
            return True
        if self.hit == NULL or self.hit < p:
            self.hit = self.find(p, self.d.buf.end)
            if self.hit == NULL:
                self.hit = self.d.buf.end
        return self.hit < end

    cdef const unsigned char* find(self, const unsigned char* p, const unsigned char* end) noexcept:
        cdef const unsigned char* literal = <const unsigned char*>self.literal
        cdef Py_ssize_t nbytes = len(self.literal)
        if not nbytes:
            return p
        if not self.is_folded:
            return find_bytes(p, end, literal, nbytes)
        while p < end:
            if self.may_start[p[0]] and is_folded_at(p, end, literal, nbytes):
                return p
            p += 1
        return NULL

    cdef bint can_be_decoded(self, const unsigned char* p, const unsigned char* end) except -1:
        # The structure is right; what else may be wrong is in a WRITABLE.
        cdef const unsigned char* start = p
        while p < end:
            if p[0] == WRITABLE:
                try:
                    self.decoder.decode_all(start[:end - start])
                except DecodeError:
                    return False
                return True
            p += head_nbytes(p, self.d.hive)
        return True

    cdef bint matches(self, const unsigned char* p, const unsigned char* end) except -1:
        # Whether a text of the values from here on matches.
        cdef const unsigned char* next_value
        cdef int code
        while p < end:
            code = p[0]
            next_value = p + head_nbytes(p, self.d.hive)
            if code == STRING or code == BYTES:
                if self.is_match(p + 5, next_value - p - 5):
                    return True
            elif self.may_be_number and self.number_matches(p, next_value - p):
                return True
            p = next_value
        return False

    cdef bint is_match(self, const unsigned char* p, Py_ssize_t nbytes) except -1:
        if self.find(p, p + nbytes) == NULL:
            return False
        return self.search is None or self.search(text_object(<const char*>p, nbytes, b"surrogateescape")) is not None

    cdef bint number_matches(self, const unsigned char* p, Py_ssize_t nbytes) except -1:
        cdef unsigned char digits[NUMBER_TEXT_NBYTES]
        cdef int code = p[0]
        cdef Walk w
        w.hive, w.plain = self.d.hive, True
        start_scratch(&w.out, digits, NUMBER_TEXT_NBYTES)
        if code == BOOL:
            append_bool(&w, p[1])
        elif is_integer(code, self.d.hive):
            append_integer(&w, integer_at(p))
        elif code == DOUBLE or code == FLOAT:
            append_repr(&w, load_f64(p + 1) if code == DOUBLE else load_f32(p + 1))
        else:
            return code == PICKLE and self.pickle_matches(p, nbytes)
        return self.is_match(w.out.start, written(&w.out))

    cdef bint pickle_matches(self, const unsigned char* p, Py_ssize_t nbytes) except -1:
        # A number that has no type code of its own.
        if is_null(p, nbytes, self.d.hive):
            return False
        try:
            text = text_of_number(self.pickle_decoder.decode(p[:nbytes]))
        except ValueError:    # a DecodeError too
            return False
        return self.is_match(<bytes>text, len(<bytes>text))


cdef bytes text_of_number(value):
    # As plain JSON writes it; NaN and infinities as repr(float). ValueError: it is not a number.
    cdef str kind = type(value).__name__
    if kind == "Decimal" and value.is_nan():
        return b"nan"    # a signaling one is not compared, and not made a float
    if kind == "float" or kind == "Decimal" and value.is_infinite():
        return repr(float(value)).encode()
    if kind != "int" and kind != "Decimal":
        raise ValueError("not a number")
    return plain_object(value)[0].encode()


cdef int append_repr(Walk* w, double number) except -1:
    if isfinite(number):
        return append_number(w, number)
    if isnan(number):
        return append_text(w, b"nan", 3)
    return append_text(w, b"inf" if number > 0 else b"-inf", 3 if number > 0 else 4)


cdef inline Py_ssize_t head_nbytes(const unsigned char* p, bint hive) noexcept:
    # Of a scalar all of it, of a container what is before its items.
    if p[0] == LIST or p[0] == MARKER:
        return 1
    return 5 if p[0] == VECTOR or p[0] == MAP else scalar_size(p, hive)


cdef inline unsigned char folded(unsigned char byte) noexcept:
    return byte | 0x20 if c"A" <= byte <= c"Z" else byte


cdef bint is_folded_at(const unsigned char* p, const unsigned char* end, const unsigned char* literal,
                       Py_ssize_t nbytes) noexcept:
    # Beside letters of both cases, k matches the sign of kelvin, s the long s, and i those with two dots or none.
    cdef Py_ssize_t i
    for i in range(nbytes):
        if p == end:
            return False
        if folded(p[0]) == literal[i]:
            p += 1
        elif literal[i] == c"k" and end - p >= 3 and memcmp(p, b"\xe2\x84\xaa", 3) == 0:
            p += 3
        elif literal[i] == c"s" and end - p >= 2 and memcmp(p, b"\xc5\xbf", 2) == 0 \
                or literal[i] == c"i" and end - p >= 2 and p[0] == 0xc4 and (p[1] == 0xb0 or p[1] == 0xb1):
            p += 2
        else:
            return False
    return True
