# The type of a value and the location of its bytes: text, buffers, NumPy scalars and Arrow tables.

cdef object borrow_text(object text, Value* v, const char* unicode_errors):
    if PyUnicode_IS_COMPACT_ASCII(<PyObject*>text):
        v.p = <const unsigned char*>ascii_data(<PyObject*>text)
        v.nbytes = PyUnicode_GET_LENGTH(<PyObject*>text)
        return text
    PyUnicode_READY(<PyObject*>text)
    if PyUnicode_IS_ASCII(<PyObject*>text):    # an instance of a subclass, such as a Command
        v.p = <const unsigned char*>PyUnicode_DATA(<PyObject*>text)
        v.nbytes = PyUnicode_GET_LENGTH(<PyObject*>text)
        return text
    try:
        data = str.encode(text, "utf-8",
                          "strict" if unicode_errors == NULL else (<bytes>unicode_errors).decode("ascii"))
    except UnicodeEncodeError as error:
        reraise_memory_error(error)
        raise EncodeValueError(f"str cannot be encoded as UTF-8: {error.reason}") from error
    v.p = <const unsigned char*>PyBytes_AS_STRING(data)
    v.nbytes = PyBytes_GET_SIZE(data)
    return data


cdef object borrow_buffer(object value, Value* v):
    # Contiguous bytes are BYTES, everything else is an array with its elements and shape; a memoryview has at most
    # MAX_DIMENSIONS.
    cdef Py_buffer* view
    try:
        memory = memoryview(value)
    except (BufferError, ValueError) as error:
        reraise_memory_error(error)
        raise EncodeTypeError(f"cannot encode an object of type {type(value).__name__}: {error}") from error
    owner = memory if memory.c_contiguous else memory.tobytes()
    view = PyMemoryView_GET_BUFFER(memory)
    v.code = ARRAY
    v.element = element_of(memory.format, memory.itemsize)
    v.ndim = view.ndim
    v.shape = view.shape
    v.nbytes = view.len
    if type(owner) is bytes:
        v.p = <const unsigned char*>PyBytes_AS_STRING(owner)
        owner = (memory, owner)    # the shape is the view's
    else:
        v.p = <const unsigned char*>view.buf
    if view.ndim == 1 and v.element == UNSIGNED_1 and not is_array(value):
        if is_numpy_time(value):
            raise EncodeTypeError(f"cannot encode an object of type {type(value).__name__}: its unit would be lost")
        v.code = BYTES
    return owner


cdef bint is_array(object value):
    # Neither module is imported: if it is not loaded, there are no such objects.
    return isinstance(value, (getattr(sys.modules.get("array"), "array", ()),
                              getattr(sys.modules.get("numpy"), "ndarray", ())))


cdef bint is_numpy_time(object value):
    return isinstance(value, getattr(sys.modules.get("numpy"), "generic", ())) and value.dtype.kind in "mM"


cdef bint is_numpy_number(object value):
    return isinstance(value, getattr(sys.modules.get("numpy"), "generic", ())) and value.dtype.kind in "biuf" \
        and value.dtype.itemsize <= 8    # a longdouble's item() is itself


cdef bint is_arrow_table(object value):
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(value, (arrow.Table, arrow.RecordBatch))


cdef object arrow_stream_of(object table):
    from pyarrow import BufferOutputStream, ipc
    output = BufferOutputStream()
    with ipc.new_stream(output, table.schema) as writer:
        writer.write(table)
    return ArrowStream(output.getvalue())


cdef int element_of(str format, Py_ssize_t itemsize) except -1:
    cdef int element
    letter = format.lstrip("@=" + ("<" if sys.byteorder == "little" else ">!")) if format else "B"
    if itemsize == 1:
        letter = letter.lstrip("<>!")
    if letter == "c":
        letter = "B"
    for element in range(NELEMENTS):
        if ELEMENT_SIZES[element] == itemsize and len(letter) == 1 and letter in ELEMENT_LETTERS[element]:
            return element
    raise EncodeTypeError(f"cannot encode an array of elements {format!r}: "
                          "they must be ints, floats or bools in native byte order")
