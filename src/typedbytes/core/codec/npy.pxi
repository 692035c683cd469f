# The .npy format of arrays of plain numbers, with one copy of the numbers. typedbytes._base.npy has the rest of it, and
# what is wrong with a header.

cdef enum:
    NPY_PRELUDE = 10          # magic string, version, length of the header
    NPY_ALIGNMENT = 64
    NPY_HEADER = 1024         # bytes that hold every header that is written here
    NPY_MAX_NDIM = 32
    NPY_MAX_DESCR = 8
    NPY_MAX_DTYPES = 64

cdef bytes NPY_MAGIC = b"\x93NUMPY\x01\x00"
cdef dict NPY_DTYPES = {}     # of the text of a plain number's type: its dtype and size
cdef object new_array         # numpy.empty
cdef object new_view          # numpy.ndarray
cdef dict NPY_KNOWN           # of headers that typedbytes._base.npy has read: what they say; None: it has read none
cdef char NATIVE_ORDER = c"<" if sys.byteorder == "little" else c">"


cdef inline char kind_of_format(const char* format) noexcept:
    # NumPy's letter for the kind of a number with this format of a buffer; 0: no plain number of this processor.
    if format[0] == c"Z" and format[1] != 0 and format[2] == 0:
        return c"c"
    if format[0] == 0 or format[1] != 0:
        return 0
    if memchr(b"bhilq", format[0], 5) != NULL:
        return c"i"
    if memchr(b"BHILQ", format[0], 5) != NULL:
        return c"u"
    if memchr(b"efdg", format[0], 4) != NULL:
        return c"f"
    return c"b" if format[0] == c"?" else 0


cdef bint encode_plain_array(Encoding* e, object array) except -1:
    # False, and nothing is written, for an array that typedbytes._base.npy has to write.
    cdef unsigned char header[NPY_HEADER]
    cdef Py_buffer view
    cdef Py_ssize_t nbytes
    try:
        PyObject_GetBuffer(array, &view, PyBUF_FULL_RO)
    except (BufferError, ValueError):    # times have no format of a buffer
        return False
    try:
        nbytes = store_npy_header(header, &view)
        if nbytes:
            encode_head(e, NDARRAY, nbytes + view.len)
            memcpy(e.buf.cursor, header, nbytes)
            memcpy(e.buf.cursor + nbytes, view.buf, view.len)
            e.buf.cursor += nbytes + view.len
        return nbytes > 0
    finally:
        PyBuffer_Release(&view)


cdef Py_ssize_t store_npy_header(unsigned char* header, Py_buffer* view) except -1:
    # Return how many bytes it takes; 0: it is not written here.
    cdef char kind = kind_of_format(view.format)
    cdef bint is_fortran = not PyBuffer_IsContiguous(view, c"C")
    cdef unsigned char* p = header + NPY_PRELUDE
    cdef Py_ssize_t i, nbytes
    if kind == 0 or view.ndim > NPY_MAX_NDIM or is_fortran and not PyBuffer_IsContiguous(view, c"F"):
        return 0
    memcpy(header, PyBytes_AS_STRING(NPY_MAGIC), 8)
    p = store_text(p, b"{'descr': '")
    p[0] = c"|" if view.itemsize == 1 else NATIVE_ORDER
    p[1] = kind
    p = store_text(store_digits(p + 2, view.itemsize), b"', 'fortran_order': True, 'shape': (" if is_fortran
                   else b"', 'fortran_order': False, 'shape': (")
    for i in range(view.ndim):
        p = store_digits(p if i == 0 else store_text(p, b", "), view.shape[i])
    p = store_text(p, b",)}" if view.ndim == 1 else b")}")
    nbytes = (p + 1 - header + NPY_ALIGNMENT - 1) // NPY_ALIGNMENT * NPY_ALIGNMENT
    memset(p, c" ", nbytes - (p - header))
    header[nbytes - 1] = c"\n"
    header[8] = <unsigned char>((nbytes - NPY_PRELUDE) & 0xff)
    header[9] = <unsigned char>((nbytes - NPY_PRELUDE) >> 8)
    return nbytes


cdef inline unsigned char* store_text(unsigned char* p, bytes text) noexcept:
    memcpy(p, PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))
    return p + PyBytes_GET_SIZE(text)


cdef unsigned char* store_digits(unsigned char* p, Py_ssize_t number) noexcept:
    cdef unsigned char digits[20]
    cdef int first = 20
    while first == 20 or number:
        first -= 1
        digits[first] = c"0" + <unsigned char>(number % 10)
        number //= 10
    memcpy(p, digits + first, 20 - first)
    return p + 20 - first


cdef object decode_plain_array(const unsigned char* p, Py_ssize_t nbytes):
    # The array; None for what typedbytes._base.npy has to read or refuse, an empty array too. No memory is taken before
    # the shape is known to fit the data.
    cdef Py_ssize_t shape[NPY_MAX_NDIM]
    cdef Py_ssize_t ndim = 0, total, i
    cdef const unsigned char* end
    cdef const unsigned char* descr
    cdef bint is_fortran
    cdef Py_buffer view
    if nbytes < NPY_PRELUDE or memcmp(p, PyBytes_AS_STRING(NPY_MAGIC), 8) != 0:
        return None
    end = p + nbytes
    nbytes -= NPY_PRELUDE + (p[8] | p[9] << 8)
    p += NPY_PRELUDE
    if nbytes < 0:
        return None
    end -= nbytes    # of the header
    if not pass_text(&p, end, b"{'descr': '"):
        return None
    descr = p
    p = <const unsigned char*>memchr(p, c"'", min(end - p, NPY_MAX_DESCR))
    if p == NULL or p - descr < 2:
        return None
    if memchr(b"biufc", descr[1], 5) == NULL:    # of no plain number
        return None
    dtype = NPY_DTYPES.get(descr[:p - descr]) or plain_dtype(descr[:p - descr])
    is_fortran = pass_text(&p, end, b"', 'fortran_order': True, 'shape': (")
    if dtype is None or not is_fortran and not pass_text(&p, end, b"', 'fortran_order': False, 'shape': ("):
        return None
    total = dtype[1]
    while ndim < NPY_MAX_NDIM and pass_length(&p, end, &shape[ndim]):
        if shape[ndim] > nbytes // total:
            return None
        total *= shape[ndim]
        ndim += 1
        if not pass_text(&p, end, b", "):
            break
    if total != nbytes or ndim == 1 and not pass_text(&p, end, b","):
        return None
    if not pass_text(&p, end, b"), }") and not pass_text(&p, end, b")}"):
        return None
    while p < end and p[0] == c" ":
        p += 1
    if end - p != 1 or p[0] != c"\n":
        return None
    lengths = []
    for i in range(ndim):
        lengths.append(shape[i])
    array = new_array(tuple(lengths), dtype[0], "F" if is_fortran else "C")
    PyObject_GetBuffer(array, &view, PyBUF_WRITABLE | PyBUF_ANY_CONTIGUOUS)
    memcpy(view.buf, end, nbytes)
    PyBuffer_Release(&view)
    return array


cdef object plain_dtype(bytes descr):
    global new_array
    from typedbytes._base.npy import plain_dtype
    dtype = plain_dtype(descr.decode("latin-1"))
    if dtype is None:
        return None
    from numpy import empty
    new_array = empty
    if len(NPY_DTYPES) < NPY_MAX_DTYPES:
        NPY_DTYPES[descr] = (dtype, dtype.itemsize)
    return dtype, dtype.itemsize


# Arrays of texts, times and records: what the header of one says is found out once.

cdef struct ArrayInterface:    # NumPy's PyArrayInterface
    int two
    int ndim
    char kind
    int itemsize
    int flags
    Py_ssize_t* shape
    Py_ssize_t* strides
    void* data
    PyObject* descr


cdef int bind_known_arrays() except -1:
    global new_array, new_view, NPY_KNOWN
    if NPY_KNOWN is None:
        from numpy import empty, ndarray
        from typedbytes._base.npy import KNOWN
        new_array, new_view, NPY_KNOWN = empty, ndarray, KNOWN
    return 0


cdef object decode_known_array(const unsigned char* p, Py_ssize_t nbytes):
    # The array; None for what typedbytes._base.npy has to read or refuse.
    cdef Py_ssize_t nheader
    cdef tuple known
    cdef Py_buffer view
    if NPY_KNOWN is None or nbytes < NPY_PRELUDE:
        return None
    nheader = NPY_PRELUDE + (p[8] | p[9] << 8)
    if nheader > nbytes:
        return None
    known = NPY_KNOWN.get(p[:nheader])
    if known is None:
        return None
    dtype, order, shape, _, total = known
    if total != nbytes - nheader:
        return None
    if dtype.names is None:
        array = new_array(shape, dtype, order)
        data = array.__array_struct__
        memcpy((<ArrayInterface*>PyCapsule_GetPointer(data, NULL)).data, p + nheader, nbytes - nheader)
        return array
    # The bytes as they are, with the padding of records. The names of its fields can be set: each has its own dtype.
    data = new_array(total, "u1")
    PyObject_GetBuffer(data, &view, PyBUF_WRITABLE)
    memcpy(view.buf, p + nheader, nbytes - nheader)
    PyBuffer_Release(&view)
    return new_view(shape, dtype.newbyteorder("|"), data, 0, None, order)


cdef inline bint pass_text(const unsigned char** p, const unsigned char* end, bytes text) noexcept:
    cdef Py_ssize_t nbytes = PyBytes_GET_SIZE(text)
    if end - p[0] < nbytes or memcmp(p[0], PyBytes_AS_STRING(text), nbytes) != 0:
        return False
    p[0] += nbytes
    return True


cdef inline bint pass_length(const unsigned char** p, const unsigned char* end, Py_ssize_t* length) noexcept:
    # A number of at most 18 digits that is not 0 and does not begin with one.
    cdef const unsigned char* start = p[0]
    length[0] = 0
    while p[0] < end and c"0" <= p[0][0] <= c"9" and p[0] - start < 18:
        length[0] = 10 * length[0] + (p[0][0] - c"0")
        p[0] += 1
    return p[0] > start and start[0] != c"0"
