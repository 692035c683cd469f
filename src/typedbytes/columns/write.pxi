# Columns to bytes.
#
# Goal: the bytes that the encoder writes for the same values, at the speed of memory. Plan: compute the size of some
# rows from the offsets alone (an upper bound if there are nulls), allocate once, and write without further bounds
# checks. Rows of one size are stored column by column in blocks, all others value by value.

cdef struct WriteState:
    # what is written for a null, borrowed; NULL: as it was read, and others are refused
    const unsigned char* null_data
    Py_ssize_t null_nbytes
    const char* refusal       # why a value was refused; NULL: it is null
    const Column* refused     # the column of that value


cdef const char* TOO_LONG = "a value is longer than 2^31-1"
cdef const char* NO_CHOICE = "a dictionary index is out of range"
cdef const char* BEYOND_LONG = "int does not fit a LONG of 64 bits"


cdef unsigned char* refuse(WriteState* state, const Column* c, const char* refusal) noexcept nogil:
    state.refusal = refusal
    state.refused = c
    return NULL


cdef bint has_nulls(const Column* c) noexcept nogil:
    cdef Py_ssize_t i
    if c.valid != NULL or c.kind == UNKNOWN:
        return True
    for i in range(c.nchildren):
        if has_nulls(c.children[i]):
            return True
    return False


cdef Py_ssize_t bound_of(const Column* c, Py_ssize_t first, Py_ssize_t last, Py_ssize_t null_nbytes) noexcept nogil:
    # An upper bound for the encoded size of these values; exact if there are no nulls.
    cdef Py_ssize_t n = last - first
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i, start, end
    if c.valid != NULL or c.kind == UNKNOWN:
        total = saturating_product(n, max(null_nbytes, c.null.nbytes if c.null != NULL else 0))
    if c.kind == FIXED or c.kind == PARTLY_UNFIT:
        return saturating_sum(total, saturating_product(n, 1 + c.width))
    if c.kind == ARRAY:
        return saturating_sum(
            total, saturating_product(n, saturating_sum(5, saturating_product(c.nitems, 1 + c.width))))
    if c.kind == DECIMAL:
        return saturating_sum(total, saturating_product(n, 5 + MAX_DECIMAL_NBYTES))
    if c.kind == FIXED_BYTES:
        return saturating_sum(total, saturating_product(n, 5 + c.width))
    if c.kind == CHOICE:
        return saturating_sum(total, saturating_product(n, longest_choice_of(c)))
    if c.kind == UNKNOWN or n == 0:
        return total
    if has_children_per_value(c):
        total = saturating_sum(total, saturating_product(n, 5))
        for i in range(c.nchildren):
            if c.kind == STRUCT:
                total = saturating_sum(total, saturating_product(n, c.children[i].key_nbytes))
            total = saturating_sum(total, bound_of(c.children[i], first, last, null_nbytes))
        return total
    start = offset_at(c, first)
    end = offset_at(c, last)
    if c.kind == ENCODED:
        return saturating_sum(total, end - start)
    total = saturating_sum(total, saturating_product(n, 2 if c.kind == VARIABLE_LIST and c.code == LIST else 5))
    if c.kind == VARIABLE_LENGTH:
        return saturating_sum(total, end - start)
    for i in range(c.nchildren):
        total = saturating_sum(total, bound_of(c.children[i], start, end, null_nbytes))
    return total


cdef Py_ssize_t longest_choice_of(const Column* c) noexcept nogil:
    cdef Py_ssize_t i
    cdef Py_ssize_t nbytes = 4
    if c.code == -1:
        return c.longest_choice
    for i in range(c.choices.n if c.code == STRING else 0):
        nbytes = max(nbytes, c.choices.offsets[i + 1] - c.choices.offsets[i])
    return 5 + nbytes


cdef inline unsigned char* store_head(unsigned char* out, int code, Py_ssize_t count) noexcept nogil:
    out[0] = code
    store_i32(out + 1, <int32_t>count)
    return out + 5


cdef inline unsigned char* store_number(unsigned char* out, const unsigned char* p, int code, int width) noexcept nogil:
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


cdef inline unsigned char* copy_payload(unsigned char* out, const Column* c, int64_t start,
                                        Py_ssize_t nbytes) noexcept nogil:
    # Our own data and the output have PADDING; imported data may end with its last text.
    if nbytes <= PADDING and start + PADDING <= c.used:
        memcpy(out, c.data + start, PADDING)
    else:
        copy_short(out, c.data + start, nbytes)
    return out + nbytes


cdef inline unsigned char* store_payload(unsigned char* out, const Column* c, Py_ssize_t i) noexcept nogil:
    cdef int64_t start = offset_at(c, i)
    cdef Py_ssize_t nbytes = offset_at(c, i + 1) - start
    return copy_payload(store_head(out, c.code, nbytes), c, start, nbytes)


cdef inline unsigned char* store_encoded(unsigned char* out, const Column* c, Py_ssize_t i) noexcept nogil:
    cdef int64_t start = offset_at(c, i)
    return copy_payload(out, c, start, offset_at(c, i + 1) - start)


cdef unsigned char* store_one_value(unsigned char* out, const Column* c, Py_ssize_t i,
                                    WriteState* state) noexcept nogil:
    # Returns the position after the value; NULL if it was refused: `refusal` says why.
    cdef Py_ssize_t start, end, item, child
    if is_null(c, i) or c.kind == UNKNOWN:
        if state.null_data != NULL:
            memcpy(out, state.null_data, state.null_nbytes)
            return out + state.null_nbytes
        if c.null == NULL:
            return refuse(state, c, NULL)
        memcpy(out, c.null.data, c.null.nbytes)
        return out + c.null.nbytes
    if c.kind == FIXED:
        return store_number(out, c.data + i * c.width, c.code, c.width)
    if c.kind == ARRAY:
        out = store_head(out, VECTOR, c.nitems)
        for item in range(c.nitems):
            out = store_number(out, c.data + (i * c.nitems + item) * c.width, c.code, c.width)
        return out
    if c.kind == TUPLE:
        out = store_head(out, VECTOR, c.nchildren)
        for child in range(c.nchildren):
            out = store_one_value(out, c.children[child], i, state)
            if out == NULL:
                return NULL
        return out
    if c.kind == STRUCT:
        return store_struct(out, c, i, state)
    if c.kind == PARTLY_UNFIT:
        if c.unfit[i >> 3] >> (i & 7) & 1:
            return refuse(state, c, c.refusal)
        return store_number(out, c.data + i * c.width, c.code, c.width)
    if c.kind == DECIMAL:
        return store_decimal(out, c.data + i * c.width, c.width, c.scale)
    if c.kind == FIXED_BYTES:
        memcpy(store_head(out, BYTES, c.width), c.data + i * c.width, c.width)
        return out + 5 + c.width
    if c.kind == CHOICE:
        return store_choice(out, c, i, state)
    if c.kind == ENCODED:
        return store_encoded(out, c, i)
    start = offset_at(c, i)
    end = offset_at(c, i + 1)
    if end - start > INT32_MAX:
        return refuse(state, c, TOO_LONG)
    if c.kind == VARIABLE_LENGTH:
        return store_payload(out, c, i)
    if c.code == LIST:
        out[0] = LIST
        out += 1
    else:
        out = store_head(out, c.code, end - start)
    for item in range(start, end):
        for child in range(c.nchildren):
            out = store_one_value(out, c.children[child], item, state)
            if out == NULL:
                return NULL
    if c.code == LIST:
        out[0] = MARKER
        out += 1
    return out


cdef unsigned char* store_choice(unsigned char* out, const Column* c, Py_ssize_t i, WriteState* state) noexcept nogil:
    # An imported index has 1, 4 or 8 bytes.
    cdef int64_t index
    cdef int32_t narrow
    if c.width == 4:
        memcpy(&narrow, c.data + 4 * i, 4)
        index = narrow
    elif c.width == 8:
        memcpy(&index, c.data + 8 * i, 8)
    else:
        index = <int8_t>c.data[i]
    if not 0 <= index < c.choices.n:
        return refuse(state, c, NO_CHOICE)
    return store_one_value(out, c.choices, index, state)


cdef unsigned char* store_struct(unsigned char* out, const Column* c, Py_ssize_t i, WriteState* state) noexcept nogil:
    # The fields that are not missing.
    cdef unsigned char* head = out
    cdef const Column* child
    cdef Py_ssize_t number
    cdef Py_ssize_t count = 0
    out += 5
    for number in range(c.nchildren):
        child = c.children[number]
        if state.null_data == NULL and child.null == &MISSING_FIELD and (is_null(child, i) or child.kind == UNKNOWN):
            continue
        memcpy(out, child.key, child.key_nbytes)
        out = store_one_value(out + child.key_nbytes, child, i, state)
        if out == NULL:
            return NULL
        count += 1
    store_head(head, MAP, count)
    return out


cdef class Rows:
    """Hold one column to be written, in imported memory, which it keeps alive, or our own.

    Made by `rows_of_buffer`, `rows_of_encoded`, `rows_of_arrow`, `rows_of_batch` and `rows_of_children`.
    len() gives the number of values.
    """

    cdef Column* c
    cdef bint borrowed            # the Column itself belongs to another object
    cdef list owners              # objects that own the memory
    cdef Py_ssize_t n

    def __cinit__(self):
        self.owners = []

    def __dealloc__(self):
        if not self.borrowed:
            free_column(self.c)

    def __len__(self):
        return self.n


def encode_rows(list columns, list starts, Py_ssize_t n, Py_ssize_t max_nbytes, nulls, Py_ssize_t nbefore):
    """Encode up to n rows, about `max_nbytes` bytes but at least one row; return the bytes and the number of rows.

    starts: the first row in each column. nulls: the bytes written for a null, None to refuse them. nbefore: the number
    of rows written before. Raises EncodeValueError whose path is the number of the row, counting those before.
    """
    cdef Py_ssize_t ncolumns = len(columns)
    cdef Column** c = <Column**>PyMem_RawCalloc(ncolumns, sizeof(Column*))
    cdef Py_ssize_t* first = <Py_ssize_t*>PyMem_RawCalloc(ncolumns, sizeof(Py_ssize_t))
    cdef Py_ssize_t i
    cdef WriteState state
    try:
        if c == NULL or first == NULL:
            raise MemoryError
        memset(&state, 0, sizeof(WriteState))
        if nulls is not None:
            state.null_data = <const unsigned char*>PyBytes_AS_STRING(nulls)
            state.null_nbytes = len(nulls)
        for i in range(ncolumns):
            c[i] = (<Rows?>columns[i]).c
            if c[i] == NULL:
                raise ValueError("these Rows are empty: they were never filled, or are items of a VECTOR now")
            first[i] = starts[i]
            if not 0 <= first[i] <= (<Rows>columns[i]).n - n:
                raise IndexError("row range is outside the columns")
        n = nrows_within(c, first, ncolumns, n, max_nbytes, state.null_nbytes)
        return fill_bytes(c, first, ncolumns, n, bound_of_rows(c, first, ncolumns, n, state.null_nbytes), &state,
                          nbefore), n
    finally:
        PyMem_RawFree(c)
        PyMem_RawFree(first)


cdef Py_ssize_t bound_of_rows(Column** c, Py_ssize_t* first, Py_ssize_t ncolumns, Py_ssize_t n,
                              Py_ssize_t null_nbytes) noexcept nogil:
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i
    for i in range(ncolumns):
        total = saturating_sum(total, bound_of(c[i], first[i], first[i] + n, null_nbytes))
    return total


cdef Py_ssize_t nrows_within(Column** c, Py_ssize_t* first, Py_ssize_t ncolumns, Py_ssize_t n, Py_ssize_t max_nbytes,
                             Py_ssize_t null_nbytes) noexcept nogil:
    # A number of rows, at least one, whose bytes are at most `max_nbytes`, to within a factor of two.
    while n > 1 and bound_of_rows(c, first, ncolumns, n, null_nbytes) > max_nbytes:
        n = (n + 1) // 2
    return n


cdef bytes fill_bytes(Column** c, Py_ssize_t* first, Py_ssize_t ncolumns, Py_ssize_t n, Py_ssize_t bound,
                      WriteState* state, Py_ssize_t nbefore):
    if bound > PY_SSIZE_T_MAX - PADDING - 64:    # the head of a bytes object
        raise MemoryError
    cdef PyObject* filled = new_bytes(NULL, bound + PADDING)
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
        if stride and nleaves <= 4 * MAX_CHILDREN:
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
                            out = store_number(out, c[i].data + (first[i] + row) * c[i].width, c[i].code, c[i].width)
                        elif c[i].kind == VARIABLE_LENGTH and c[i].valid == NULL and c[i].wide_offsets == NULL:
                            out = store_payload(out, c[i], first[i] + row)
                        elif c[i].kind == ENCODED and c[i].valid == NULL:
                            out = store_encoded(out, c[i], first[i] + row)
                        else:
                            out = store_one_value(out, c[i], first[i] + row, state)
                            if out == NULL:
                                break
                    row += 1
        if out == NULL:
            raise_refused(state, c[i], nbefore + row - 1, i)
        bytes_resize(&filled, out - start)
        result = <bytes>filled
        return result
    finally:
        PyMem_RawFree(leaves)
        Py_XDECREF(filled)


cdef int raise_refused(WriteState* state, const Column* c, Py_ssize_t row, Py_ssize_t column) except -1:
    cdef list steps = [f"[{row}]"]
    find_part(c, state.refused, steps)
    if state.refusal != NULL:
        raise EncodeValueError(f"{state.refusal.decode('ascii')}, column {column}", "".join(steps))
    hint = ": pass nulls=... to say what to write"
    error = EncodeValueError(f"value is null{hint}, column {column}", "".join(steps))
    error.option, error.hint = "nulls", hint
    raise error


cdef bint find_part(const Column* c, const Column* wanted, list steps) except -1:
    # Find the path to a part of each value; one to items of LISTs and MAPs ends before them.
    cdef Py_ssize_t i
    if c == wanted or (c.choices != NULL and find_part(c.choices, wanted, steps)):
        return True
    for i in range(c.nchildren):
        if has_children_per_value(c):
            steps.append(step_to(c, i))
        if find_part(c.children[i], wanted, steps):
            return True
        if has_children_per_value(c):
            steps.pop()
    return False


cdef unsigned char* store_blocks(unsigned char* out, Column** c, Py_ssize_t* first, Py_ssize_t ncolumns, Py_ssize_t n,
                                 Leaf* leaves, Py_ssize_t stride) noexcept nogil:
    cdef Leaf* leaf
    cdef Leaf* after
    cdef Py_ssize_t offset
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t i, block
    while row < n:
        block = min(n - row, MAX_BLOCK)
        leaf = leaves
        offset = 0
        for i in range(ncolumns):
            after = list_leaves(c[i], leaf, &offset)
            while leaf < after:
                store_leaf(leaf, out, stride, first[i] + row, block)
                leaf += 1
        out += block * stride
        row += block
    return out
