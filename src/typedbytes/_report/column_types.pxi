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
        static const uint64_t powers[23] = {
            1u, 5u, 25u, 125u, 625u, 3125u, 15625u, 78125u, 390625u, 1953125u, 9765625u, 48828125u, 244140625u,
            1220703125u, 6103515625u, 30517578125u, 152587890625u, 762939453125u, 3814697265625u, 19073486328125u,
            95367431640625u, 476837158203125u, 2384185791015625u,
        };
        uint64_t bits;
        ptrdiff_t shift;
        memcpy(&bits, &value, 8);
        shift = 1075 - (ptrdiff_t)(bits >> 52) - nplaces;    /* value * 10^nplaces is mantissa * 5^nplaces / 2^shift */
        if (0 < nplaces && nplaces <= 22 && 0 < shift && shift <= 60) {
            const uint64_t mantissa = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
            unsigned __int128 exact, wanted = (unsigned __int128)digits << shift;
            const unsigned __int128 half = (unsigned __int128)1 << (shift - 1);
            exact = (unsigned __int128)mantissa * powers[nplaces];
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
    KEPT_NDIGITS = 15         # every DOUBLE keeps so many

cdef enum CellKind:
    EMPTY_CELL, WHOLE_CELL, REAL_CELL, TEXT_CELL

cdef struct Cell:
    CellKind kind
    bint is_negative_zero
    int64_t whole
    double real               # of a whole number too

cdef uint64_t MAX_KEPT = 10 ** 15
cdef int64_t MAX_WHOLE_DOUBLE = <int64_t>1 << 53    # beyond it a DOUBLE does not hold every integer


cdef class Column:
    # What its cells are so far, and the code of the values that hold them.
    cdef bytes name           # encoded, of a MAP
    cdef bint is_text, has_fractions, has_negative_zero
    cdef int64_t minimum, maximum
    cdef int code

    def __cinit__(self, name):
        self.name, self.code = name, STRING

    cdef bint add(self, const Cell* cell) noexcept:
        # An empty cell fits every type. True: the code is another.
        cdef int before = self.code
        if cell.kind == EMPTY_CELL:
            return False
        if cell.kind == WHOLE_CELL:
            self.minimum, self.maximum = min(self.minimum, cell.whole), max(self.maximum, cell.whole)
            self.has_negative_zero = self.has_negative_zero or cell.is_negative_zero
        elif cell.kind == REAL_CELL:
            self.has_fractions = True
        else:
            self.is_text = True
        self.code = self.chosen()
        return self.code != before

    cdef int chosen(self) noexcept:
        if self.is_text:
            return STRING
        if self.has_fractions:
            return DOUBLE if -MAX_WHOLE_DOUBLE <= self.minimum and self.maximum <= MAX_WHOLE_DOUBLE else STRING
        if self.has_negative_zero:
            return STRING
        return INT if self.minimum >= INT32_MIN and self.maximum <= INT32_MAX else LONG


cdef int read_cell(const unsigned char* p, Py_ssize_t nbytes, Cell* cell) except -1:
    # A number that neither 64 bits nor a DOUBLE keep is a text.
    cdef bint is_negative = nbytes > 0 and p[0] == c"-", is_real = False
    cdef Py_ssize_t i = is_negative, ndigits = 0, nplaces = 0
    cdef uint64_t digits = 0
    cdef JsonNumber number
    if not nbytes:
        cell.kind = EMPTY_CELL
        return 0
    cell.kind = TEXT_CELL
    while i < nbytes and ndigits <= MAX_DIVIDED_NDIGITS:
        if c"0" <= p[i] <= c"9":
            digits = 10 * digits + (p[i] - c"0")
            ndigits += 1
            nplaces += is_real
        elif p[i] == c"." and not is_real:
            is_real = True
        else:
            break
        i += 1
    if i == nbytes and 0 < ndigits <= MAX_DIVIDED_NDIGITS:    # no exponent: most numbers
        if p[i - 1] == c"." or ndigits - nplaces == 0 or p[is_negative] == c"0" and ndigits - nplaces > 1:
            return 0
        if not is_real:
            return append_whole(digits, is_negative, cell)
        cell.real = divided_double(digits, <int>nplaces)
        if cell.real >= 0 and is_kept(cell.real, digits, nplaces):
            cell.kind = REAL_CELL
            cell.real = -cell.real if is_negative else cell.real
            return 0
    elif ndigits == 0:
        return 0
    if scan_number(p, p + nbytes, &number) != p + nbytes or number.end == NULL:
        return 0
    if has_int64(&number):
        return append_whole(number.magnitude, is_negative, cell)
    if number.is_real and is_kept_by_double(&number):
        cell.kind, cell.real = REAL_CELL, double_at(p, nbytes)
    return 0


cdef inline int append_whole(uint64_t magnitude, bint is_negative, Cell* cell) noexcept:
    if magnitude <= <uint64_t>INT64_MAX + is_negative:
        cell.kind = WHOLE_CELL
        cell.whole = <int64_t>(0 - magnitude) if is_negative else <int64_t>magnitude
        cell.is_negative_zero = is_negative and magnitude == 0
        cell.real = -0.0 if cell.is_negative_zero else <double>cell.whole
    return 0


cdef inline bint is_kept(double value, uint64_t digits, Py_ssize_t nplaces) noexcept:
    # Whether it is the DOUBLE of digits / 10^nplaces alone; False: or not known.
    while digits >= MAX_KEPT and digits % 10 == 0:
        digits //= 10
        nplaces -= 1
    return digits < MAX_KEPT or keeps_digits(value, digits, nplaces) > 0


cdef bint is_kept_by_double(const JsonNumber* number) except -1:
    # Whether its DOUBLE has its digits, which infinity has not, and 0.0 only of zeros.
    cdef const unsigned char* p = number.start
    cdef Py_ssize_t ndigits = 0, nzeros = 0
    cdef char* text
    while p < number.end and p[0] | 0x20 != c"e":
        if c"0" <= p[0] <= c"9":
            ndigits += ndigits > 0 or p[0] != c"0"
            nzeros = nzeros + 1 if p[0] == c"0" else 0
        p += 1
    ndigits = max(ndigits - nzeros, 0)    # without the zeros around them
    if p == number.end and ndigits <= KEPT_NDIGITS and p - number.start < NUMBER_NBYTES:
        return True
    text = double_text(fabs(double_at(number.start, number.end - number.start)), c"e", <int>max(ndigits - 1, 0), 0,
                       NULL)
    try:
        return have_same_digits(number.start, number.end, <const unsigned char*>text,
                                <const unsigned char*>text + strlen(text))
    finally:
        PyMem_Free(text)


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
    b'\\x03\\x00\\x00\\x00\\x11'
    >>> types.convert(record)
    (b'\\x03\\x00\\x00\\x00\\x11', -1)
    """

    cdef int nparts
    cdef bytes null
    cdef list columns         # by number, or in the order in which the names came
    cdef dict by_name
    cdef list row             # of MAPs: the columns of the last one, in its order
    cdef readonly long long nchanges    # of types: what was converted before is to be converted again

    def __cinit__(self, *, bint pairs=False, dialect="hadoop"):
        from typedbytes._core import Encoder    # lazy import: the class is made with this module
        self.nparts = 2 if pairs else 1
        self.null = Encoder(dialect=dialect).encode(None)
        self.columns, self.row, self.by_name = [], [], {}

    def add(self, bytes records not None):
        """Take whole records into account, and return them with the types that their columns have now."""
        cdef long long nbefore = self.nchanges
        found = self.converted(records, True)
        return (found if self.nchanges == nbefore else self.converted(records, False))[0]

    def convert(self, bytes records not None):
        """Return whole records with the types of their columns, and the number of one that was not added, which ends
        this, or -1.
        """
        return self.converted(records, False)

    cdef tuple converted(self, bytes records, bint adds):
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
                following = self.walk(p, &out, adds)
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

    cdef const unsigned char* walk(self, const unsigned char* p, WriteBuffer* out, bint adds) except? NULL:
        # Converts a record, and adds it before. NULL without an exception: it was not added.
        cdef Py_ssize_t ncells = self.nparts, i
        cdef bint has_names = p[0] == MAP
        cdef const unsigned char* value
        cdef Column column
        cdef Cell cell
        if self.nparts == 1 and p[0] != STRING:
            ncells = load_i32(p + 1)
            append_bytes_of(out, p, 5)
            p += 5
        for i in range(ncells):
            value = p + 5 + load_i32(p + 1) if has_names else p
            column = self.named(p, value - p, i, adds) if has_names else self.numbered(i, adds)
            if column is None:
                return NULL
            p = value + 5 + load_i32(value + 1)
            if has_names:
                append_bytes_of(out, column.name, len(column.name))
            if adds and not column.is_text or column.code != STRING:
                read_cell(value + 5, p - value - 5, &cell)
                if adds and not column.is_text and column.add(&cell):
                    self.nchanges += 1
            if column.code == STRING:
                append_bytes_of(out, value, p - value)
            elif not self.append_number(column.code, &cell, out):
                return NULL
        return p

    cdef Column numbered(self, Py_ssize_t number, bint adds):
        if number < len(self.columns):
            return <Column>self.columns[number]
        if not adds:
            return None
        column = Column(None)
        self.columns.append(column)
        return column

    cdef Column named(self, const unsigned char* p, Py_ssize_t nbytes, Py_ssize_t number, bint adds):
        cdef Column column
        if number < len(self.row):
            column = <Column>self.row[number]
            if len(column.name) == nbytes and memcmp(<const unsigned char*>column.name, p, nbytes) == 0:
                return column
        name = p[:nbytes]
        column = self.by_name.get(name)
        if column is None and adds:
            column = self.by_name[name] = Column(name)
        if column is not None:
            self.row[number:number + 1] = [column]
        return column

    cdef bint append_number(self, int code, const Cell* cell, WriteBuffer* out) except -1:
        # False: the cell is not of the type.
        if cell.kind == EMPTY_CELL:
            append_bytes_of(out, self.null, len(self.null))
            return True
        reserve(out, 9)
        out.cursor[0] = <unsigned char>code
        if code == DOUBLE and cell.kind != TEXT_CELL:
            store_f64(out.cursor + 1, cell.real)
        elif cell.kind != WHOLE_CELL or code == INT and cell.whole != <int32_t>cell.whole:
            return False
        elif code == INT:
            store_i32(out.cursor + 1, <int32_t>cell.whole)
        else:
            store_i64(out.cursor + 1, cell.whole)
        out.cursor += 5 if code == INT else 9
        return True
