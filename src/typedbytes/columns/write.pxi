# Columns to bytes.
#
# Goal: what the encoder writes for the same values, at the speed of memory. Plan: the size of any run of rows is known from
# offsets alone, or a bound of it where there are nulls; room for all of it is made once, and nothing is asked afterwards. Rows of
# one size are stored column by column in blocks, all others value by value.

cdef struct Nulls:
    const unsigned char* data # what is written for a null, borrowed; NULL: nulls are refused
    Py_ssize_t nbytes
    const char* fault         # of what was refused; NULL: it is a null


cdef const char* TOO_LONG = "a value is longer than 2^31-1"
cdef const char* BEYOND_LONG = "int does not fit a LONG of 64 bits"


cdef inline bint is_null(const Column* c, Py_ssize_t i) noexcept nogil:
    i += c.first_bit
    return c.valid != NULL and not c.valid[i >> 3] >> (i & 7) & 1


cdef bint has_nulls(const Column* c) noexcept nogil:
    cdef Py_ssize_t i
    if c.valid != NULL or c.kind == UNKNOWN:
        return True
    for i in range(c.nparts):
        if has_nulls(c.parts[i]):
            return True
    return False


cdef Py_ssize_t bound_of(const Column* c, Py_ssize_t first, Py_ssize_t last, Py_ssize_t null_nbytes) noexcept nogil:
    # Bytes that these values take at most; exactly as many where there are no nulls.
    cdef Py_ssize_t n = last - first
    cdef Py_ssize_t total = n * null_nbytes if c.valid != NULL or c.kind == UNKNOWN else 0
    cdef Py_ssize_t i, start, end
    if c.kind == FIXED or c.kind == DOUBTED:
        return total + n * (1 + c.width)
    if c.kind == ARRAY:
        return total + n * (5 + c.nitems * (1 + c.width))
    if c.kind == UNKNOWN or n == 0:
        return total
    if c.kind == TUPLE:
        total += 5 * n
        for i in range(c.nparts):
            total += bound_of(c.parts[i], first, last, null_nbytes)
        return total
    start = offset_at(c, first)
    end = offset_at(c, last)
    if c.kind == ENCODED:
        return total + end - start
    if c.kind == SIZED:
        return total + 5 * n + end - start
    total += (2 if c.kind == LISTED and c.code == LIST else 5) * n
    for i in range(c.nparts):
        total += bound_of(c.parts[i], start, end, null_nbytes)
    return total


cdef inline unsigned char* put_head(unsigned char* out, int code, Py_ssize_t count) noexcept nogil:
    out[0] = code
    store_i32(out + 1, <int32_t>count)
    return out + 5


cdef inline unsigned char* put_number(unsigned char* out, const unsigned char* p, int code, int width) noexcept nogil:
    cdef int64_t broad
    cdef int32_t narrow
    cdef int16_t short_number
    out[0] = code
    if width == 8:
        memcpy(&broad, p, 8)
        store_i64(out + 1, broad)
    elif width == 4:
        memcpy(&narrow, p, 4)
        store_i32(out + 1, narrow)
    elif width == 1:
        out[1] = p[0] != 0 if code == BOOL else p[0]
    else:
        memcpy(&short_number, p, 2)
        store_i16(out + 1, short_number)
    return out + 1 + width


cdef inline unsigned char* put_text(unsigned char* out, const Column* c, Py_ssize_t i) noexcept nogil:
    # Room has CUSHION behind it, as data of our own has; what others lent may end where its text does.
    cdef int64_t start = offset_at(c, i)
    cdef Py_ssize_t nbytes = offset_at(c, i + 1) - start
    out = put_head(out, c.code, nbytes)
    if nbytes <= CUSHION and start + CUSHION <= c.used:
        memcpy(out, c.data + start, CUSHION)
    else:
        copy_short(out, c.data + start, nbytes)
    return out + nbytes


cdef unsigned char* put_value(unsigned char* out, const Column* c, Py_ssize_t i, Nulls* nulls) noexcept nogil:
    # The position behind it; NULL: a null, or `fault` says why not.
    cdef Py_ssize_t start, end, item, part
    cdef int64_t number
    if is_null(c, i) or c.kind == UNKNOWN:
        if nulls.data == NULL:
            return NULL
        memcpy(out, nulls.data, nulls.nbytes)
        return out + nulls.nbytes
    if c.kind == FIXED:
        return put_number(out, c.data + i * c.width, c.code, c.width)
    if c.kind == ARRAY:
        out = put_head(out, VECTOR, c.nitems)
        for item in range(c.nitems):
            out = put_number(out, c.data + (i * c.nitems + item) * c.width, c.code, c.width)
        return out
    if c.kind == TUPLE:
        out = put_head(out, VECTOR, c.nparts)
        for part in range(c.nparts):
            out = put_value(out, c.parts[part], i, nulls)
            if out == NULL:
                return NULL
        return out
    if c.kind == DOUBTED:
        memcpy(&number, c.data + i * c.width, 8)
        if number < 0:
            nulls.fault = BEYOND_LONG
            return NULL
        return put_number(out, c.data + i * c.width, c.code, c.width)
    start = offset_at(c, i)
    end = offset_at(c, i + 1)
    if c.kind == ENCODED:
        memcpy(out, c.data + start, end - start)
        return out + (end - start)
    if end - start > INT32_MAX:
        nulls.fault = TOO_LONG
        return NULL
    if c.kind == SIZED:
        return put_text(out, c, i)
    if c.code == LIST:
        out[0] = LIST
        out += 1
    else:
        out = put_head(out, c.code, end - start)
    for item in range(start, end):
        for part in range(c.nparts):
            out = put_value(out, c.parts[part], item, nulls)
            if out == NULL:
                return NULL
    if c.code == LIST:
        out[0] = MARKER
        out += 1
    return out


cdef class Rows:
    """Hold one column that is to be written: memory of others, kept alive, or our own.

    Made by `rows_of_buffer`, `rows_of_encoded`, `rows_of_arrow`, `rows_of_batch` and `rows_of_parts`. len() gives the number of
    values.
    """

    cdef Column* c
    cdef bint borrowed            # the Column is another's too
    cdef list kept                # what owns the memory
    cdef Py_ssize_t n

    def __cinit__(self):
        self.kept = []

    def __dealloc__(self):
        if not self.borrowed:
            free_column(self.c)

    def __len__(self):
        return self.n


def encode_rows(list columns, list starts, Py_ssize_t n, Py_ssize_t most, nulls, Py_ssize_t nbefore):
    """Return the bytes of up to n rows, from each column's own start on, and their number: about `most` bytes, one row at least.

    nulls: the bytes written for a null, None to refuse them. nbefore: rows before these. Raises EncodeValueError with the number of
    the row, those before it counted, as its path.
    """
    cdef Py_ssize_t ncolumns = len(columns)
    cdef Column** c = <Column**>PyMem_RawCalloc(ncolumns, sizeof(Column*))
    cdef Py_ssize_t* first = <Py_ssize_t*>PyMem_RawCalloc(ncolumns, sizeof(Py_ssize_t))
    cdef Py_ssize_t i
    cdef Nulls written
    try:
        if c == NULL or first == NULL:
            raise MemoryError
        memset(&written, 0, sizeof(Nulls))
        if nulls is not None:
            written.data = <const unsigned char*>PyBytes_AS_STRING(nulls)
            written.nbytes = len(nulls)
        for i in range(ncolumns):
            c[i] = (<Rows>columns[i]).c
            first[i] = starts[i]
            if not 0 <= first[i] <= (<Rows>columns[i]).n - n:
                raise IndexError("there are no such rows")
        n = fitting(c, first, ncolumns, n, most, written.nbytes)
        return fill_bytes(c, first, ncolumns, n, bound_of_rows(c, first, ncolumns, n, written.nbytes) + CUSHION, &written, nbefore), n
    finally:
        PyMem_RawFree(c)
        PyMem_RawFree(first)


cdef Py_ssize_t bound_of_rows(Column** c, Py_ssize_t* first, Py_ssize_t ncolumns, Py_ssize_t n, Py_ssize_t null_nbytes) noexcept nogil:
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i
    for i in range(ncolumns):
        total += bound_of(c[i], first[i], first[i] + n, null_nbytes)
    return total


cdef Py_ssize_t fitting(Column** c, Py_ssize_t* first, Py_ssize_t ncolumns, Py_ssize_t n, Py_ssize_t most, Py_ssize_t null_nbytes) noexcept nogil:
    # The rows, at least one, that fill no more than `most` bytes, to within a factor of two.
    while n > 1 and bound_of_rows(c, first, ncolumns, n, null_nbytes) > most:
        n = (n + 1) // 2
    return n


cdef bytes fill_bytes(Column** c, Py_ssize_t* first, Py_ssize_t ncolumns, Py_ssize_t n, Py_ssize_t total, Nulls* nulls, Py_ssize_t nbefore):
    cdef PyObject* filled = new_bytes(NULL, total)
    cdef unsigned char* start = <unsigned char*>bytes_data(filled)
    cdef unsigned char* out = start
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t stride = 0
    cdef Py_ssize_t nleaves = 0
    cdef Py_ssize_t size
    cdef Py_ssize_t i = 0
    cdef Leaf* leaves = NULL
    for i in range(ncolumns):
        size = 0 if has_nulls(c[i]) else size_of(c[i])
        stride = stride + size if size and (i == 0 or stride) else 0
        nleaves += count_leaves(c[i])
    try:
        if stride and nleaves <= 4 * MOST_PARTS:
            leaves = <Leaf*>PyMem_RawCalloc(nleaves, sizeof(Leaf))
            if leaves == NULL:
                raise MemoryError
        with nogil:
            if leaves != NULL:
                out = store_blocks(out, c, first, ncolumns, n, leaves, stride)
            else:
                while row < n and out != NULL:
                    for i in range(ncolumns):
                        if c[i].kind == FIXED and c[i].valid == NULL:
                            out = put_number(out, c[i].data + (first[i] + row) * c[i].width, c[i].code, c[i].width)
                        elif c[i].kind == SIZED and c[i].valid == NULL and c[i].wide_offsets == NULL:
                            out = put_text(out, c[i], first[i] + row)
                        else:
                            out = put_value(out, c[i], first[i] + row, nulls)
                            if out == NULL:
                                break
                    row += 1
        if out == NULL:
            raise_refused(nulls, nbefore + row - 1, i)
        bytes_resize(&filled, out - start)
        result = <bytes>filled
        return result
    finally:
        PyMem_RawFree(leaves)
        Py_XDECREF(filled)


cdef int raise_refused(Nulls* nulls, Py_ssize_t row, Py_ssize_t column) except -1:
    message = nulls.fault.decode("ascii") if nulls.fault != NULL else "a null: nulls= says what to write for it"
    raise EncodeValueError(f"{message}, column {column}", f"[{row}]")


cdef unsigned char* store_blocks(unsigned char* out, Column** c, Py_ssize_t* first, Py_ssize_t ncolumns, Py_ssize_t n,
                                 Leaf* leaves, Py_ssize_t stride) noexcept nogil:
    cdef Leaf* leaf
    cdef Leaf* behind
    cdef Py_ssize_t offset
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t i, block
    while row < n:
        block = min(n - row, MOST_BLOCK)
        leaf = leaves
        offset = 0
        for i in range(ncolumns):
            behind = list_leaves(c[i], leaf, &offset)
            while leaf < behind:
                store_leaf(leaf, out, stride, first[i] + row, block)
                leaf += 1
        out += block * stride
        row += block
    return out
