# Import: buffers, encoded values and Batches as columns. Memory that has the layout of a Column is not copied.
#
# Rows own what they were imported from; it is released with the last of them.

cdef bint convert_numbers(Column* c, const unsigned char* p, Py_ssize_t n, Py_ssize_t step, str kind, int itemsize,
                          bint swapped) except -1:
    # Copy numbers of any width and byte order, converted to the type code that the encoder writes for NumPy scalars.
    # False: a uint64 is beyond a LONG.
    cdef Py_ssize_t i
    cdef unsigned char item[8]
    cdef int j
    cdef bint is_signed = kind == "i"
    cdef bint is_float = kind == "f"
    cdef uint64_t bits
    cdef int64_t number
    cdef int32_t narrow
    cdef bint fits = True
    c.code = code_of(kind, itemsize)
    c.width = width_of(c.code)
    if not reserve_data(c, saturating_product(n, c.width)):
        raise MemoryError
    c.used = n * c.width
    for i in range(n):
        for j in range(itemsize):
            item[j] = p[i * step + (itemsize - 1 - j if swapped else j)]
        bits = read_bits(item, itemsize)
        if is_float:
            if itemsize == 2:
                narrow = widen_half(<uint16_t>bits)
            else:
                narrow = <int32_t><uint32_t>bits
            if itemsize == 8:
                memcpy(c.data + 8 * i, &bits, 8)
            else:
                memcpy(c.data + 4 * i, &narrow, 4)
            continue
        number = <int64_t>bits
        if is_signed and itemsize < 8 and bits >> (8 * itemsize - 1) & 1:
            number -= <int64_t>1 << (8 * itemsize)
        if c.width == 8:
            fits = fits and (is_signed or number >= 0)
            memcpy(c.data + 8 * i, &number, 8)
        elif c.width == 4:
            narrow = <int32_t>number
            memcpy(c.data + 4 * i, &narrow, 4)
        else:
            c.data[i] = <unsigned char>number
    return fits


cdef uint64_t read_bits(const unsigned char* item, int itemsize) noexcept nogil:
    cdef uint64_t eight
    cdef uint32_t four
    cdef uint16_t two
    if itemsize == 8:
        memcpy(&eight, item, 8)
        return eight
    if itemsize == 4:
        memcpy(&four, item, 4)
        return four
    if itemsize == 2:
        memcpy(&two, item, 2)
        return two
    return item[0]


cdef int32_t widen_half(uint16_t half) noexcept nogil:
    # The bits of the binary32 with the value of a binary16: exact, NaNs keep their payload.
    cdef uint32_t sign = <uint32_t>(half & 0x8000) << 16
    cdef uint32_t exponent = half >> 10 & 0x1f
    cdef uint32_t fraction = half & 0x3ff
    if exponent == 0x1f:
        return <int32_t>(sign | 0x7f800000 | fraction << 13)
    if exponent == 0:
        if fraction == 0:
            return <int32_t>sign
        exponent = 1
        while not fraction & 0x400:
            fraction <<= 1
            exponent -= 1
        fraction &= 0x3ff
    return <int32_t>(sign | (exponent + 112) << 23 | fraction << 13)


cdef int code_of(str kind, int itemsize) except -1:
    # As for NumPy scalars: the narrowest code that holds all numbers of this type.
    if kind == "?":
        return BOOL
    if kind == "f":
        return DOUBLE if itemsize == 8 else FLOAT
    if kind == "i":
        return BYTE if itemsize == 1 else INT if itemsize < 8 else LONG
    return INT if itemsize < 4 else LONG


# The formats of PEP 3118 whose items are numbers; itemsize says how wide.
cdef dict NUMBERS = {**dict.fromkeys("bhilqn", "i"), **dict.fromkeys("BHILQN", "u"), **dict.fromkeys("efd", "f"),
                     "?": "?"}


def rows_of_buffer(data, bytes valid=None):
    """Return the Rows of an object with a buffer of numbers of one or two dimensions; with two, each row is a VECTOR.

    valid: a bit for each number, 0 where it is null; None: no number is. Raises EncodeTypeError for other buffers.
    """
    cdef Rows rows = Rows()
    cdef BufferOwner owner = BufferOwner()
    cdef Py_buffer* view = &owner.view
    cdef Column* c
    # Through a memoryview, which has a format and strides even if its object does not (arrays of ctypes).
    PyObject_GetBuffer(memoryview(data), view, PyBUF_RECORDS_RO)
    owner.has_view = True
    rows.owners.append(owner)
    view_format = (<bytes>view.format).decode("ascii")
    order, letter = (view_format[0], view_format[1:]) if view_format[0] in "@=<>!" else ("@", view_format)
    kind = NUMBERS.get(letter)
    if kind is None or view.ndim not in (1, 2) or (kind == "f" and view.itemsize not in (2, 4, 8)):
        raise EncodeTypeError(f"cannot use a buffer of format {view_format!r} and {view.ndim} dimensions as a column")
    swapped = view.itemsize > 1 and order in "<>!" and (order == "<") != LITTLE
    rows.n = view.shape[0]
    rows.c = c = new_column(FIXED if view.ndim == 1 else ARRAY, code_of(kind, view.itemsize), 0)
    c.nitems = view.shape[1] if view.ndim == 2 else 1
    if c.nitems > INT32_MAX:
        raise EncodeValueError("a VECTOR has at most 2^31-1 items")
    c.n = rows.n
    import_buffer(c, view, kind, swapped)
    if valid is not None:
        borrow_validity(rows, valid)
    return rows


cdef int borrow_validity(Rows rows, bytes valid) except -1:
    rows.c.valid = <const unsigned char*>PyBytes_AS_STRING(valid)
    rows.c.nbits = 8 * len(valid)
    rows.owners.append(valid)
    return 0


cdef int import_buffer(Column* c, Py_buffer* view, str kind, bint swapped) except -1:
    cdef Py_ssize_t nitems = saturating_product(c.n, c.nitems)
    cdef bint fits
    cdef bint is_packed = view.strides[view.ndim - 1] == view.itemsize or c.nitems == 0
    if view.ndim == 2:
        is_packed = is_packed and (c.n < 2 or view.strides[0] == view.itemsize * c.nitems)
    if is_packed and not swapped and view.itemsize == c.width and (kind != "u"):
        c.data = <unsigned char*>view.buf
        c.used = nitems * c.width
        c.borrowed = True
        return 0
    if view.ndim == 1 or nitems == 0:
        fits = convert_numbers(c, <const unsigned char*>view.buf, nitems, view.strides[0], kind, view.itemsize, swapped)
    else:
        fits = convert_grid(c, view, kind, swapped)
    if not fits:
        raise EncodeValueError(BEYOND_LONG.decode("ascii"))
    return 0


cdef bint convert_grid(Column* c, Py_buffer* view, str kind, bint swapped) except -1:
    # Row by row, because the rows may have any stride.
    cdef Py_ssize_t i
    cdef bint fits = True
    cdef Column* row = new_column(FIXED, c.code, 0)
    try:
        if not reserve_data(c, saturating_product(saturating_product(c.n, c.nitems), c.width)):
            raise MemoryError
        for i in range(c.n):
            fits &= convert_numbers(row, <const unsigned char*>view.buf + i * view.strides[0], c.nitems,
                                    view.strides[1], kind, view.itemsize, swapped)
            memcpy(c.data + i * c.nitems * c.width, row.data, c.nitems * c.width)
        c.used = c.n * c.nitems * c.width
    finally:
        free_column(row)
    return fits


cdef class BufferOwner:
    # Owns a buffer and releases it when freed.
    cdef Py_buffer view
    cdef bint has_view

    def __dealloc__(self):
        if self.has_view:
            PyBuffer_Release(&self.view)


def validity_bitmap(list values):
    """Return a bit for each value, 0 where it is None; None if no value is."""
    cdef Py_ssize_t i
    cdef Py_ssize_t n = len(values)
    cdef unsigned char* bits
    for i in range(n):
        if values[i] is None:
            break
    else:
        return None
    found = bytearray(b"\xff") * ((n + 7) // 8)
    bits = <unsigned char*>PyByteArray_AS_STRING(found)
    for i in range(i, n):
        if values[i] is None:
            bits[i >> 3] &= ~(1 << (i & 7))
    return bytes(found)


cdef int allocate_wide_offsets(Column* c, int64_t n) except -1:
    # For n values; the caller fills in all but the first.
    if n >= PY_SSIZE_T_MAX // 8:
        raise MemoryError
    c.wide_offsets = <int64_t*>PyMem_RawMalloc((n + 1) * sizeof(int64_t))
    if c.wide_offsets == NULL:
        raise MemoryError
    c.wide_offsets[0] = 0
    return 0


def rows_of_encoded(bytes data, offsets, bytes valid=None, Py_ssize_t first_bit=0):
    """Return the Rows of encoded values, whose start offsets are an array('q').

    valid, first_bit: what `validity_bitmap` returned, and the bit of the first value.
    """
    cdef Rows rows = Rows()
    cdef Py_buffer starts
    rows.n = len(offsets)
    rows.c = new_column(ENCODED, -1, 0)
    rows.c.n = rows.n
    allocate_wide_offsets(rows.c, rows.n)
    PyObject_GetBuffer(offsets, &starts, PyBUF_SIMPLE)
    memcpy(rows.c.wide_offsets, starts.buf, rows.n * sizeof(int64_t))
    PyBuffer_Release(&starts)
    rows.c.wide_offsets[rows.n] = len(data)
    rows.c.data = <unsigned char*>PyBytes_AS_STRING(data)
    rows.c.borrowed = True
    rows.c.used = len(data)
    rows.owners.append(data)
    if valid is not None:
        rows.c.first_bit = first_bit
        borrow_validity(rows, valid)
    return rows


def rows_of_children(list children):
    """Return the Rows of VECTORs whose items come from these Rows, which are empty afterwards.

    Raises EncodeValueError when they differ in length, and ValueError for Rows of a Batch or that
    have been taken already.
    """
    cdef Rows rows = Rows()
    cdef Rows child
    cdef Py_ssize_t i
    if len({len(child) for child in children}) > 1:
        raise EncodeValueError("the columns of a VECTOR differ in length")
    rows.c = new_column(TUPLE, VECTOR, len(children))
    rows.n = rows.c.n = len(children[0]) if children else 0
    for i, child in enumerate(children):
        if child.c == NULL or child.borrowed:
            raise ValueError("an item of a VECTOR must be Rows of its own")
        rows.owners += child.owners
        rows.c.children[i] = child.c
        child.c = NULL
        child.n = 0
    return rows


def rows_of_batch(Batch batch not None, Py_ssize_t column):
    """Return the Rows of a column of a Batch, with the types that it was read with."""
    cdef Rows rows = Rows()
    batch.check()
    rows.c = batch.table.visible[column]
    rows.n = batch.table.n
    rows.borrowed = True
    rows.owners.append(batch)
    return rows
