# The types of columns of text: INT, LONG or DOUBLE where all cells are such numbers in JSON, else STRING.
#
# Here: records of STRINGs, as TextRecords makes them. Not here: text, files. Invariant: the cells of a column become
# values of one type, from which the text of each could be made again, and an empty cell among numbers a null.

from libc.string cimport strlen

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>

    /* Whether the double nearest to digits / 10^nplaces is nearer to it than to a number with another last digit;
     * -1: not known. No product has more than 124 bits: digits * 2^60, and 2^53 * 5^22. */
    static int keeps_digits(double value, uint64_t digits, ptrdiff_t nplaces) {
    #ifdef __SIZEOF_INT128__
        uint64_t bits, five = 1;
        ptrdiff_t shift;
        memcpy(&bits, &value, 8);
        shift = 1075 - (ptrdiff_t)(bits >> 52) - nplaces;    /* value * 10^nplaces is mantissa * 5^nplaces / 2^shift */
        if (0 < nplaces && nplaces <= 22 && 0 < shift && shift <= 60) {
            const uint64_t mantissa = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
            unsigned __int128 exact, wanted = (unsigned __int128)digits << shift;
            const unsigned __int128 half = (unsigned __int128)1 << (shift - 1);
            for (ptrdiff_t i = 0; i < nplaces; i++) five *= 5;
            exact = (unsigned __int128)mantissa * five;
            exact = exact > wanted ? exact - wanted : wanted - exact;
            return exact == half ? -1 : exact < half;
        }
    #endif
        (void)value, (void)digits, (void)nplaces;
        return -1;
    }
    """
    int keeps_digits(double value, uint64_t digits, Py_ssize_t nplaces) noexcept

cdef enum:
    KEPT_NDIGITS = 15         # which every DOUBLE keeps

cdef int64_t MAX_WHOLE_DOUBLE = <int64_t>1 << 53    # beyond it a DOUBLE does not hold every integer


cdef class Column:
    # What its cells are so far, and then the code of its values.
    cdef bytes name           # encoded, of a MAP
    cdef bint is_text, has_numbers, has_fractions, has_negative_zero
    cdef bint has_large       # an integer beyond 64 bits
    cdef int64_t minimum, maximum
    cdef int code             # -1: not yet chosen

    def __cinit__(self, name):
        self.name, self.code = name, -1

    cdef int add(self, const unsigned char* p, Py_ssize_t nbytes) except -1:
        # An empty cell fits every type.
        cdef JsonNumber number
        cdef int64_t whole
        if self.is_text or not nbytes:
            return 0
        self.has_numbers = True
        if is_short_integer(p, nbytes, &whole):
            self.minimum, self.maximum = min(self.minimum, whole), max(self.maximum, whole)
        elif scan_number(p, p + nbytes, &number) != p + nbytes or number.end == NULL:
            self.is_text = True
        elif number.is_real:
            self.has_fractions = True
            self.is_text = not is_kept_by_double(&number)
        elif not has_int64(&number):
            self.has_large = True
        else:
            self.minimum = min(self.minimum, int64_of(&number))
            self.maximum = max(self.maximum, int64_of(&number))
            self.has_negative_zero = self.has_negative_zero or number.is_negative and number.magnitude == 0
        return 0

    cdef int choose(self) noexcept:
        if self.is_text or self.has_large or not self.has_numbers:
            self.code = STRING
        elif self.has_fractions:
            self.code = DOUBLE if -MAX_WHOLE_DOUBLE <= self.minimum and self.maximum <= MAX_WHOLE_DOUBLE else STRING
        elif self.has_negative_zero:
            self.code = STRING
        else:
            self.code = INT if self.minimum >= INT32_MIN and self.maximum <= INT32_MAX else LONG
        return 0


cdef inline bint is_short_integer(const unsigned char* p, Py_ssize_t nbytes, int64_t* whole) noexcept:
    # Most integers, sooner than by scan_number().
    cdef bint is_negative = p[0] == c"-"
    cdef Py_ssize_t i
    cdef int64_t value = 0
    if not 0 < nbytes - is_negative <= 18 or p[is_negative] == c"0" and nbytes > 1:
        return False
    for i in range(is_negative, nbytes):
        if not c"0" <= p[i] <= c"9":
            return False
        value = 10 * value + (p[i] - c"0")
    whole[0] = -value if is_negative else value
    return True


cdef bint is_kept_by_double(const JsonNumber* number) except -1:
    # Whether its DOUBLE has its digits, which infinity has not, and 0.0 only of zeros.
    cdef const unsigned char* p = number.start
    cdef const unsigned char* end = number.end
    cdef Py_ssize_t ndigits = 0, nzeros = 0, nplaces = 0
    cdef uint64_t digits = 0, before = 0
    cdef bint has_exponent = False, is_fraction = False
    cdef double value
    cdef char* text
    cdef int found
    while p < end and not has_exponent:
        if p[0] == c".":
            is_fraction = True
        elif c"0" <= p[0] <= c"9":
            nplaces += is_fraction
            ndigits += ndigits > 0 or p[0] != c"0"
            nzeros = nzeros + 1 if p[0] == c"0" else 0
            digits = 10 * digits + (p[0] - c"0")    # of up to 19
            if nzeros == 0:
                before = digits
        has_exponent = p[0] | 0x20 == c"e"
        p += 1
    ndigits = max(ndigits - nzeros, 0)    # without the zeros around them
    if not has_exponent and ndigits <= KEPT_NDIGITS and end - number.start < NUMBER_NBYTES:
        return True
    value = fabs(double_at(number.start, end - number.start))
    found = -1 if has_exponent or ndigits > 19 else keeps_digits(value, before, nplaces - nzeros)
    if found < 0:
        text = double_text(value, c"e", <int>max(ndigits - 1, 0), 0, NULL)
        try:
            found = have_same_digits(number.start, end, <const unsigned char*>text,
                                     <const unsigned char*>text + strlen(text))
        finally:
            PyMem_Free(text)
    return found > 0


cdef bint have_same_digits(const unsigned char* p, const unsigned char* end, const unsigned char* q,
                           const unsigned char* q_end) noexcept:
    # Of the texts of two numbers, without the zeros around the digits.
    cdef int one = 0, other = 0
    while one == 0:
        one = next_digit(&p, end)
    while other == 0:
        other = next_digit(&q, q_end)
    while one >= 0 or other >= 0:
        if max(one, 0) != max(other, 0):
            return False
        one, other = next_digit(&p, end), next_digit(&q, q_end)
    return True


cdef inline int next_digit(const unsigned char** p, const unsigned char* end) noexcept:
    # -1: there is no more before the exponent.
    while p[0] < end and (p[0][0] == c"." or p[0][0] == c"-"):
        p[0] += 1
    if p[0] == end or not c"0" <= p[0][0] <= c"9":
        return -1
    p[0] += 1
    return (p[0] - 1)[0] - c"0"


cdef class ColumnTypes:
    "ColumnTypes(*, pairs=False, dialect='hadoop')\n--\n\n" \
        """Find the types of columns by all of their records, then convert the same records.

    A record is a VECTOR, a MAP or a pair of STRINGs, whose keys or numbers are the columns, or one STRING.

    >>> types, record = ColumnTypes(), b"\\x07\\x00\\x00\\x00\\x0217"
    >>> types.add(record)
    >>> types.convert(record)
    (b'\\x03\\x00\\x00\\x00\\x11', -1)
    """

    cdef int nparts
    cdef bytes null
    cdef list columns         # by number, or in the order in which the names came
    cdef dict by_name
    cdef list row             # of MAPs: the columns of the last one, in its order

    def __cinit__(self, *, bint pairs=False, dialect="hadoop"):
        from typedbytes._core import Encoder    # lazy import: the class is made with this module
        self.nparts = 2 if pairs else 1
        self.null = Encoder(dialect=dialect).encode(None)
        self.columns, self.row, self.by_name = [], [], {}

    def add(self, bytes records not None):
        """Take whole records into account."""
        cdef const unsigned char* p = records
        cdef const unsigned char* end = p + len(records)
        cdef long long nrecords = 0
        while p < end:
            p = self.walk(p, NULL)
            nrecords += 1
            if not nrecords & SIGNAL_MASK:
                PyErr_CheckSignals()

    def convert(self, bytes records not None):
        """Return whole records with the types of their columns, and the number of one that was not added, which ends
        this, or -1.
        """
        cdef const unsigned char* p = records
        cdef const unsigned char* end = p + len(records)
        cdef const unsigned char* following
        cdef WriteBuffer out
        cdef Py_ssize_t mark
        cdef long long nrecords = 0
        out.owner = NULL
        try:
            start_owned(&out, 2 * len(records) + 64)
            while p < end:
                mark = written(&out)
                following = self.walk(p, &out)
                if following == NULL:
                    out.cursor = out.start + mark
                    return finish(&out), nrecords
                p = following
                nrecords += 1
                if not nrecords & SIGNAL_MASK:
                    PyErr_CheckSignals()
            return finish(&out), -1
        finally:
            drop(&out)

    cdef const unsigned char* walk(self, const unsigned char* p, WriteBuffer* out) except? NULL:
        # Passes over a record, and with an output converts it. NULL without an exception: it was not added.
        cdef Py_ssize_t ncells = self.nparts, i
        cdef bint has_names = p[0] == MAP
        cdef const unsigned char* value
        cdef Column column
        if self.nparts == 1 and p[0] != STRING:
            ncells = load_i32(p + 1)
            if out != NULL:
                put_bytes_of(out, p, 5)
            p += 5
        for i in range(ncells):
            value = p + 5 + load_i32(p + 1) if has_names else p
            column = self.named(p, value - p, i, out != NULL) if has_names else self.numbered(i, out != NULL)
            if column is None:
                return NULL
            p = value + 5 + load_i32(value + 1)
            if out == NULL:
                column.add(value + 5, p - value - 5)
            else:
                if has_names:
                    put_bytes_of(out, column.name, len(column.name))
                if not self.put_cell(column, value, p - value, out):
                    return NULL
        return p

    cdef Column numbered(self, Py_ssize_t number, bint is_known):
        if number < len(self.columns):
            return <Column>self.columns[number]
        if is_known:
            return None
        column = Column(None)
        self.columns.append(column)
        return column

    cdef Column named(self, const unsigned char* p, Py_ssize_t nbytes, Py_ssize_t number, bint is_known):
        cdef Column column
        if number < len(self.row):
            column = <Column>self.row[number]
            if len(column.name) == nbytes and memcmp(<const unsigned char*>column.name, p, nbytes) == 0:
                return column
        name = p[:nbytes]
        column = self.by_name.get(name)
        if column is None and not is_known:
            column = self.by_name[name] = Column(name)
        if column is not None:
            self.row[number:number + 1] = [column]
        return column

    cdef bint put_cell(self, Column column, const unsigned char* p, Py_ssize_t nbytes, WriteBuffer* out) except -1:
        # False: the text is not of the type.
        cdef JsonNumber number
        cdef int64_t whole
        if column.code < 0:
            column.choose()
        reserve(out, 9)
        if column.code == STRING:
            put_bytes_of(out, p, nbytes)
        elif nbytes == 5:
            put_bytes_of(out, self.null, len(self.null))
        elif column.code == DOUBLE:
            if scan_number(p + 5, p + nbytes, &number) != p + nbytes or number.end == NULL:
                return False
            out.cursor[0] = DOUBLE
            store_f64(out.cursor + 1, double_at(p + 5, nbytes - 5))
            out.cursor += 9
        else:
            if not is_short_integer(p + 5, nbytes - 5, &whole):
                if scan_number(p + 5, p + nbytes, &number) != p + nbytes or number.end == NULL \
                        or not has_int64(&number):
                    return False
                whole = int64_of(&number)
            if column.code == INT and whole != <int32_t>whole:
                return False
            out.cursor[0] = <unsigned char>column.code
            if column.code == INT:
                store_i32(out.cursor + 1, <int32_t>whole)
                out.cursor += 5
            else:
                store_i64(out.cursor + 1, whole)
                out.cursor += 9
        return True
