# Keys and values: converts the bytes of Hadoop's simple Writables to objects and back, and to typed bytes; composite
# Writables (arrays, maps) are in typedbytes/sequencefile/_writables.py.

cdef enum Kind:
    TYPED_BYTES
    BYTES_WRITABLE
    TEXT
    INT_WRITABLE
    LONG_WRITABLE
    VINT
    VLONG
    SHORT_WRITABLE
    BYTE_WRITABLE
    FLOAT_WRITABLE
    DOUBLE_WRITABLE
    BOOLEAN
    NULL_WRITABLE
    OTHER                     # converted by a function, or kept as Writable(class_name, data)
    DESCRIBED                 # by a ClassProgram

KINDS = {
    "org.apache.hadoop.typedbytes.TypedBytesWritable": TYPED_BYTES,
    "org.apache.hadoop.io.BytesWritable": BYTES_WRITABLE,
    "org.apache.hadoop.io.Text": TEXT,
    "org.apache.hadoop.io.IntWritable": INT_WRITABLE,
    "org.apache.hadoop.io.LongWritable": LONG_WRITABLE,
    "org.apache.hadoop.io.VIntWritable": VINT,
    "org.apache.hadoop.io.VLongWritable": VLONG,
    "org.apache.hadoop.io.ShortWritable": SHORT_WRITABLE,
    "org.apache.hadoop.io.ByteWritable": BYTE_WRITABLE,
    "org.apache.hadoop.io.FloatWritable": FLOAT_WRITABLE,
    "org.apache.hadoop.io.DoubleWritable": DOUBLE_WRITABLE,
    "org.apache.hadoop.io.BooleanWritable": BOOLEAN,
    "org.apache.hadoop.io.NullWritable": NULL_WRITABLE,
}

# The size of a Writable by its kind; -1: variable.
cdef Py_ssize_t[15] NBYTES = [-1, -1, -1, 4, 8, -1, -1, 2, 1, 4, 8, 1, 0, -1, -1]

# Smallest and largest number by kind, for integers.
cdef int64_t[9] MIN_NUMBER = [0, 0, 0, INT32_MIN, INT64_MIN, INT32_MIN, INT64_MIN, -32768, -128]
cdef int64_t[9] MAX_NUMBER = [0, 0, 0, INT32_MAX, INT64_MAX, INT32_MAX, INT64_MAX, 32767, 127]


cdef class WritableClass:
    # The class of a file's keys or values, and how its bytes are converted.
    cdef str class_name
    cdef int kind             # a Kind
    # OTHER: bytes to object when reading, object to bytes when writing, or None; of any class if it is given
    cdef object function
    cdef object to_typed      # OTHER: bytes to typed bytes; None: written as code 50
    # OTHER, to typed bytes: as if without the function; None: not a class that is built in, nor described
    cdef WritableClass plain
    cdef ClassProgram program    # DESCRIBED
    cdef WriteBuffer typed    # DESCRIBED: a value as typed bytes, before it becomes objects, or bytes of the class

    def __cinit__(self, str class_name, function=None, to_typed=None, ClassProgram program=None):
        self.class_name = class_name
        self.kind = OTHER if function is not None else DESCRIBED if program is not None \
            else KINDS.get(class_name, OTHER)
        self.function = function
        self.to_typed = to_typed
        self.program = program
        if function is not None and (class_name in KINDS or program is not None):
            self.plain = WritableClass(class_name, None, None, program)

    def __dealloc__(self):
        drop(&self.typed)

    cdef int clear_typed(self) except -1:
        # Empty `typed`; after a large value without its memory.
        if self.typed.owner == NULL or self.typed.end - self.typed.start > MAX_TYPED_CAPACITY:
            drop(&self.typed)
            start_owned(&self.typed, 512)
        self.typed.cursor = self.typed.start
        return 0


# VInt and VLong: a first byte from -112 to 127 is the number itself. A lower one encodes how many big-endian bytes
# follow, and whether they are the complement of a negative number (WritableUtils.writeVLong).

cdef inline int vint_size(unsigned char first) noexcept nogil:
    cdef int code = <signed char>first
    return 1 if code >= -112 else -111 - code if code >= -120 else -119 - code


cdef inline int64_t load_vint(const unsigned char* p) noexcept nogil:
    # The caller has checked that all vint_size(p[0]) bytes are available.
    return <signed char>p[0] if <signed char>p[0] >= -112 else load_long_vint(p)


cdef int64_t load_long_vint(const unsigned char* p) noexcept nogil:
    cdef int code = <signed char>p[0]
    cdef uint64_t number = 0
    cdef int i
    for i in range(1, vint_size(p[0])):
        number = number << 8 | p[i]
    return <int64_t>(~number if code < -120 else number)


cdef int store_vint(unsigned char* p, int64_t value) noexcept nogil:
    # Returns the number of bytes written, 9 at most.
    cdef uint64_t number = <uint64_t>(~value if value < 0 else value)
    cdef uint64_t rest = number
    cdef int size = 0
    cdef int i
    if -112 <= value <= 127:
        p[0] = <unsigned char>value
        return 1
    while rest:
        size += 1
        rest >>= 8
    p[0] = <unsigned char>((-120 if value < 0 else -112) - size)
    for i in range(size):
        p[size - i] = <unsigned char>(number >> (8 * i))
    return size + 1


# ---- reading ---------------------------------------------------------------------------------------------------------

cdef object decode_by_class(WritableClass writable, Decoding* d, const unsigned char* p, Py_ssize_t nbytes):
    # wire: as each class of org.apache.hadoop.io writes it. python: bytes, str, int, float, bool, None, or the decoded
    # typed bytes; float32 becomes a double. errors: FormatError at the start of the bytes unless they are exactly one
    # Writable; errors inside typed bytes have their own offset. source: the classes' write() and readFields().
    cdef int64_t number
    if writable.kind == TYPED_BYTES:
        return object_from_stolen(new_typed(d, p, nbytes, False))
    if writable.kind == DESCRIBED:
        return object_from_stolen(new_described(writable, d, p, nbytes, False))
    if NBYTES[writable.kind] >= 0 and NBYTES[writable.kind] != nbytes:
        raise_size(writable, d, NBYTES[writable.kind], nbytes)
    if writable.kind == BYTES_WRITABLE:
        check_bytes_length(writable, d, p, nbytes)
        return PyBytes_FromStringAndSize(<const char*>p + 4, nbytes - 4)
    if writable.kind == TEXT:
        return decode_text_writable(writable, d, p, nbytes)
    if writable.kind <= BYTE_WRITABLE:
        load_number(writable, d, p, nbytes, &number)
        return number
    if writable.kind == FLOAT_WRITABLE:
        return load_f32(p)
    if writable.kind == DOUBLE_WRITABLE:
        return load_f64(p)
    if writable.kind == BOOLEAN:
        return p[0] != 0
    if writable.kind == NULL_WRITABLE:
        return None
    return decode_other_class(writable, d, PyBytes_FromStringAndSize(<const char*>p, nbytes))


cdef inline PyObject* new_object(WritableClass writable, Decoding* d, const unsigned char* p, Py_ssize_t nbytes,
                                 bint is_key) except NULL:
    # decode_by_class with a fast path for the most common kind. After a failure the caller abandons `d`.
    cdef PyObject* value
    if writable.kind == TYPED_BYTES:
        return new_typed(d, p, nbytes, is_key)
    if writable.kind == DESCRIBED:
        return new_described(writable, d, p, nbytes, is_key)
    obj = decode_by_class(writable, d, p, nbytes)
    value = <PyObject*>obj
    incref(value)
    return value


cdef inline bint may_be_scalar(const unsigned char* p, Py_ssize_t nbytes) noexcept:
    # Whether these bytes are a TypedBytesWritable of a string, or of nine bytes at most:
    # what decode_single_scalar is asked for.
    return nbytes > 4 and load_i32(p) == nbytes - 4 and (nbytes <= 13 or p[4] == STRING)


cdef inline PyObject* new_typed(Decoding* d, const unsigned char* p, Py_ssize_t nbytes, bint is_key) except NULL:
    cdef PyObject* value
    if may_be_scalar(p, nbytes):
        value = decode_single_scalar(d, p + 4, nbytes - 4, is_key)
        if value != NULL:
            return value
    check_bytes_length(None, d, p, nbytes)
    d.buf.start = p
    d.buf.cursor = p + 4
    d.buf.end = p + nbytes
    value = decode_first(d) if is_key else decode_record(d)
    if held(&d.buf):
        xdecref(value)
        raise_trailing(d, "")
    return value


cdef inline int check_bytes_length(WritableClass writable, Decoding* d, const unsigned char* p,
                                   Py_ssize_t nbytes) except -1:
    # BytesWritable and TypedBytesWritable: an i32 length and the bytes.
    if nbytes >= 4 and load_i32(p) < 0:
        raise writable_error(d, f"negative length {load_i32(p)} in {class_of(writable)}")
    if nbytes < 4 or load_i32(p) != nbytes - 4:
        raise_size(writable, d, 4 + (load_i32(p) if nbytes >= 4 else 0), nbytes)
    return 0


cdef Py_ssize_t check_text(WritableClass writable, Decoding* d, const unsigned char* p, Py_ssize_t nbytes) except -1:
    # Returns the size of the length before the text.
    cdef int size = vint_size(p[0]) if nbytes else 1
    if nbytes < size:
        raise writable_error(d, f"expected at least {size} byte{'s' if size > 1 else ''} for {class_of(writable)}, "
                                f"got {nbytes}")
    if load_vint(p) != nbytes - size:
        raise writable_error(d, f"Text length {load_vint(p)} with {nbytes - size} bytes left")
    return size


cdef object decode_text_writable(WritableClass writable, Decoding* d, const unsigned char* p, Py_ssize_t nbytes):
    cdef Py_ssize_t size = check_text(writable, d, p, nbytes)
    try:
        return text_object(<const char*>p + size, nbytes - size, d.unicode_errors)
    except UnicodeDecodeError as error:
        reraise_memory_error(error)
        refused = writable_error(d, f"Text is not UTF-8: {error.reason} at its byte {error.start}")
        refused.option = "unicode_errors"
        raise refused from error


cdef int load_number(WritableClass writable, Decoding* d, const unsigned char* p, Py_ssize_t nbytes,
                     int64_t* number) except -1:
    # The caller has checked the sizes of fixed-size kinds.
    if writable.kind == INT_WRITABLE:
        number[0] = load_i32(p)
    elif writable.kind == LONG_WRITABLE:
        number[0] = load_i64(p)
    elif writable.kind == SHORT_WRITABLE:
        number[0] = load_i16(p)
    elif writable.kind == BYTE_WRITABLE:
        number[0] = <signed char>p[0]
    else:
        if nbytes == 0 or vint_size(p[0]) != nbytes:
            raise_size(writable, d, vint_size(p[0]) if nbytes else 1, nbytes)
        number[0] = load_vint(p)
        if not MIN_NUMBER[writable.kind] <= number[0] <= MAX_NUMBER[writable.kind]:
            raise writable_error(d, f"{number[0]} does not fit in a VIntWritable")
    return 0


cdef object decode_other_class(WritableClass writable, Decoding* d, bytes data):
    if writable.function is None:
        return Writable(writable.class_name, data)
    try:
        return writable.function(data)
    except DecodeError as error:
        reraise_memory_error(error)
        raise relocated(error, error.message, d.buf.start_offset + error.offset, error.code, error.path,
                        record_of(d)) from None


cdef object record_of(const Decoding* d):
    # None: not in a file.
    return None if d.record_index < 0 else d.record_index


cdef object writable_error(Decoding* d, str message):
    return FormatError(message, d.buf.start_offset, None, "", record_of(d))


cdef int raise_size(WritableClass writable, Decoding* d, long long wanted, Py_ssize_t nbytes) except -1:
    raise writable_error(d, f"expected {wanted} bytes for {class_of(writable)}, got {nbytes}")


cdef str class_of(WritableClass writable):
    return "a TypedBytesWritable" if writable is None else article(writable)


# ---- to typed bytes --------------------------------------------------------------------------------------------------

cdef int copy_typed(WritableClass writable, Decoding* d, Skipping* skipping, const unsigned char* p, Py_ssize_t nbytes,
                    WriteBuffer* out) except -1:
    # Appends what Hadoop's TypedBytesWritableOutput writes for a Writable,
    # which is what streaming tasks receive and dumptb writes.
    cdef int64_t number
    if writable.kind == OTHER:
        if writable.to_typed is not None:
            encoded = convert_to_typed(writable, d, p, nbytes)
            return append_bytes(out, <const unsigned char*>PyBytes_AS_STRING(encoded), PyBytes_GET_SIZE(encoded))
        if writable.plain is not None:
            writable = writable.plain
    if writable.kind == DESCRIBED:
        read_described(writable.program, d, p, nbytes, out, -1, True)
        return 0
    if NBYTES[writable.kind] >= 0 and NBYTES[writable.kind] != nbytes:
        raise_size(writable, d, NBYTES[writable.kind], nbytes)
    if writable.kind == TYPED_BYTES:
        check_typed(d, skipping, p, nbytes)
        return append_bytes(out, p + 4, nbytes - 4)
    reserve(out, nbytes + 16)
    if writable.kind == BYTES_WRITABLE:
        check_bytes_length(writable, d, p, nbytes)
        store_code(out, BYTES)
        return append_bytes(out, p, nbytes)
    if writable.kind == TEXT:
        number = check_text(writable, d, p, nbytes)
        store_code(out, STRING)
        return append_counted(out, p + number, nbytes - number)
    if writable.kind == BOOLEAN:
        store_code(out, BOOL)
        store_code(out, p[0] != 0)
        return 0
    if writable.kind in (FLOAT_WRITABLE, DOUBLE_WRITABLE, BYTE_WRITABLE):
        store_code(out,
                   FLOAT if writable.kind == FLOAT_WRITABLE else DOUBLE if writable.kind == DOUBLE_WRITABLE else BYTE)
        return append_bytes(out, p, nbytes)
    if writable.kind in (NULL_WRITABLE, SHORT_WRITABLE, OTHER):
        return append_writable(writable, d, p, nbytes, out)
    load_number(writable, d, p, nbytes, &number)
    if writable.kind in (INT_WRITABLE, VINT):
        store_code(out, INT)
        store_i32(out.cursor, <int32_t>number)
        out.cursor += 4
    else:
        store_code(out, LONG)
        store_i64(out.cursor, number)
        out.cursor += 8
    return 0


cdef bytes convert_to_typed(WritableClass writable, Decoding* d, const unsigned char* p, Py_ssize_t nbytes):
    try:
        return writable.to_typed(PyBytes_FromStringAndSize(<const char*>p, nbytes))
    except DecodeError as error:
        reraise_memory_error(error)
        raise relocated(error, error.message, d.buf.start_offset + error.offset, error.code, error.path,
                        record_of(d)) from None


cdef int check_typed(Decoding* d, Skipping* skipping, const unsigned char* p, Py_ssize_t nbytes) except -1:
    # Exactly one value: anything else would shift the values after it in the stream.
    cdef SkipOutcome outcome
    check_bytes_length(None, d, p, nbytes)
    d.buf.start = p
    d.buf.cursor = p + 4
    d.buf.end = p + nbytes
    outcome = skip_value(skipping, &d.buf)
    if outcome != SKIPPED:
        skipping.depth = skipping.tail = 0
        raise_skipped(d, skipping, outcome)
    if held(&d.buf):
        raise_trailing(d, "")
    return 0


cdef inline int pass_value(Decoding* d, Skipping* skipping) except -1:
    # Move the cursor past one value.
    cdef Py_ssize_t nbytes = scalar_nbytes(d.buf.cursor, held(&d.buf))
    d.buf.cursor += nbytes
    return 0 if nbytes else pass_other_value(d, skipping)


cdef int pass_other_value(Decoding* d, Skipping* skipping) except -1:
    cdef SkipOutcome outcome = skip_value(skipping, &d.buf)
    if outcome != SKIPPED:
        raise_skipped(d, skipping, outcome)
    return 0


cdef inline bint is_scalar(const unsigned char* p, Py_ssize_t nbytes) noexcept nogil:
    # Whether these bytes are a valid TypedBytesWritable that holds one scalar of a common type code.
    return nbytes > 4 and load_i32(p) == nbytes - 4 and scalar_nbytes(p + 4, nbytes - 4) == nbytes - 4


cdef inline void store_code(WriteBuffer* out, int code) noexcept:
    # The caller has reserved the capacity.
    out.cursor[0] = code
    out.cursor += 1


cdef inline int append_bytes(WriteBuffer* out, const unsigned char* p, Py_ssize_t nbytes) except -1:
    reserve(out, nbytes)
    copy_short(out.cursor, p, nbytes)
    out.cursor += nbytes
    return 0


cdef inline void store_offset(WriteBuffer* out, long long offset) noexcept nogil:
    # The caller has reserved the capacity.
    memcpy(out.cursor, &offset, sizeof(offset))
    out.cursor += sizeof(offset)


cdef inline int append_counted(WriteBuffer* out, const unsigned char* p, Py_ssize_t nbytes) except -1:
    reserve(out, nbytes + 4)
    store_i32(out.cursor, <int32_t>nbytes)
    out.cursor += 4
    return append_bytes(out, p, nbytes)


cdef int append_writable(WritableClass writable, Decoding* d, const unsigned char* p, Py_ssize_t nbytes,
                         WriteBuffer* out) except -1:
    name = writable.class_name.encode("utf-8")
    if nbytes > MAX_LENGTH - 4 - len(name):
        raise LimitError(f"a {writable.class_name} of {nbytes} bytes is too long for typed bytes: "
                         "at most 2^31-1 with its class name", d.buf.start_offset, None, "", record_of(d))
    reserve(out, 9 + len(name) + nbytes)
    store_code(out, WRITABLE)
    store_i32(out.cursor, <int32_t>(4 + len(name) + nbytes))
    out.cursor += 4
    append_counted(out, <const unsigned char*>PyBytes_AS_STRING(name), len(name))
    return append_bytes(out, p, nbytes)


# ---- writing ---------------------------------------------------------------------------------------------------------

cdef int encode_by_class(WritableClass writable, Encoding* e, object obj) except -1:
    # The reverse of decode_by_class. errors: EncodeTypeError for an object that the class cannot hold, EncodeValueError
    # for a number or text outside its range. The caller discards the bytes that a failure leaves.
    if writable.kind == TYPED_BYTES:
        return encode_typed(e, obj)
    if writable.kind == BYTES_WRITABLE:
        return encode_buffer_writable(writable, e, obj, True)
    if writable.kind == TEXT:
        return encode_text_writable(e, obj)
    if writable.kind == DESCRIBED:
        return encode_described(writable, e, obj)
    reserve(&e.buf, 9)
    if writable.kind <= BYTE_WRITABLE:
        return encode_number(writable, e, obj)
    if writable.kind in (FLOAT_WRITABLE, DOUBLE_WRITABLE):
        return encode_float_writable(writable, e, obj)
    if writable.kind == BOOLEAN:
        if not isinstance(obj, bool):
            raise_type(writable, obj)
        store_code(&e.buf, obj)
        return 0
    if writable.kind == NULL_WRITABLE:
        if obj is not None:
            raise_type(writable, obj)
        return 0
    return encode_other_class(writable, e, obj)


cdef inline int encode_typed(Encoding* e, object obj) except -1:
    # The size is checked here too: the Writer checks a value only after compression, and `encode` checks no record.
    cdef Py_ssize_t start = written(&e.buf)
    cdef Py_ssize_t nbytes
    reserve(&e.buf, 4)
    e.buf.cursor += 4
    encode_record(e, <PyObject*>obj)
    nbytes = written(&e.buf) - start - 4
    check_record(nbytes + 4)
    store_i32(e.buf.start + start, <int32_t>nbytes)
    return 0


cdef inline int encode_part(WritableClass writable, Encoding* e, object obj, bint as_bytes) except -1:
    if as_bytes:
        return encode_buffer_writable(writable, e, obj, False)
    return encode_typed(e, obj) if writable.kind == TYPED_BYTES else encode_by_class(writable, e, obj)


cdef bytes as_writable(const unsigned char* p, Py_ssize_t nbytes):
    # The bytes of a TypedBytesWritable.
    cdef bytes data = PyBytes_FromStringAndSize(NULL, nbytes + 4)
    store_i32(<unsigned char*>PyBytes_AS_STRING(data), <int32_t>nbytes)
    memcpy(PyBytes_AS_STRING(data) + 4, p, nbytes)
    return data


cdef int encode_buffer_writable(WritableClass writable, Encoding* e, object obj, bint with_length) except -1:
    cdef Py_buffer view
    if not has_buffer(obj):
        raise EncodeTypeError(f"expected a bytes-like object for {article(writable)}, not {type(obj).__name__}")
    contiguous = get_view(obj, &view)
    try:
        check_record(view.len)
        if with_length:
            return append_counted(&e.buf, <const unsigned char*>view.buf, view.len)
        return append_bytes(&e.buf, <const unsigned char*>view.buf, view.len)
    finally:
        PyBuffer_Release(&view)


cdef int encode_text_writable(Encoding* e, object obj) except -1:
    if not isinstance(obj, str):
        raise EncodeTypeError(f"expected a str for a Text, not {type(obj).__name__}")
    check_record(len(<str>obj))    # UTF-8 has at least a byte for each character: fail before encoding
    try:
        data = (<str>obj).encode("utf-8",
                                 "strict" if e.unicode_errors == NULL else (<bytes>e.unicode_errors).decode("ascii"))
    except UnicodeEncodeError as error:
        reraise_memory_error(error)
        raise EncodeValueError(f"str cannot be encoded as UTF-8: {error.reason}") from error
    check_record(len(data))
    reserve(&e.buf, 9)
    e.buf.cursor += store_vint(e.buf.cursor, len(data))
    return append_bytes(&e.buf, <const unsigned char*>PyBytes_AS_STRING(data), len(data))


cdef int encode_number(WritableClass writable, Encoding* e, object obj) except -1:
    # The caller has reserved nine bytes.
    cdef int64_t number
    if not isinstance(obj, int) or isinstance(obj, bool):
        raise_type(writable, obj)
    try:
        number = obj
    except OverflowError:
        raise out_of_range(writable, f"an int of {obj.bit_length()} bits") from None
    if not MIN_NUMBER[writable.kind] <= number <= MAX_NUMBER[writable.kind]:
        raise out_of_range(writable, f"the int {number}")
    if writable.kind in (VINT, VLONG):
        e.buf.cursor += store_vint(e.buf.cursor, number)
        return 0
    if writable.kind == INT_WRITABLE:
        store_i32(e.buf.cursor, <int32_t>number)
    elif writable.kind == LONG_WRITABLE:
        store_i64(e.buf.cursor, number)
    elif writable.kind == SHORT_WRITABLE:
        store_i16(e.buf.cursor, <int16_t>number)
    else:
        e.buf.cursor[0] = <unsigned char>number
    e.buf.cursor += NBYTES[writable.kind]
    return 0


cdef object out_of_range(WritableClass writable, str number):
    return EncodeValueError(f"{number} does not fit in {article(writable)} "
                            f"({MIN_NUMBER[writable.kind]} to {MAX_NUMBER[writable.kind]})")


cdef int encode_float_writable(WritableClass writable, Encoding* e, object obj) except -1:
    # The caller has reserved nine bytes.
    cdef double number
    if not isinstance(obj, (float, int)) or isinstance(obj, bool):
        raise_type(writable, obj)
    try:
        number = obj
    except OverflowError:
        raise EncodeValueError(f"an int of {obj.bit_length()} bits is too large for {article(writable)}") from None
    if writable.kind == DOUBLE_WRITABLE:
        if number != obj and number == number:
            raise EncodeValueError(f"an int of {obj.bit_length()} bits is not exactly a DoubleWritable")
        store_f64(e.buf.cursor, number)
    elif not store_f32(e.buf.cursor, number):
        raise EncodeValueError(f"the number {number} is too large for a FloatWritable")
    e.buf.cursor += NBYTES[writable.kind]
    return 0


cdef int encode_other_class(WritableClass writable, Encoding* e, object obj) except -1:
    if type(obj) is Writable:
        if obj.class_name != writable.class_name:
            raise EncodeTypeError(f"expected a {writable.class_name}, not a {obj.class_name}")
        return encode_buffer_writable(writable, e, obj.data, False)
    if writable.function is not None:
        obj = writable.function(obj)
    elif not has_buffer(obj):
        raise EncodeTypeError(f"unknown class {writable.class_name!r}: pass encoders=, "
                              f"or bytes instead of {type(obj).__name__}; "
                              f"known: {', '.join(name.rpartition('.')[2] for name in KINDS)}")
    return encode_buffer_writable(writable, e, obj, False)


cdef str article(WritableClass writable):
    # "an IntWritable", for messages.
    cdef str name = writable.class_name.rpartition(".")[2]
    return f"{'an' if name[:1] in 'AEIO' else 'a'} {name}"


cdef int raise_type(WritableClass writable, object obj) except -1:
    raise EncodeTypeError(f"{article(writable)} cannot hold an object of type {type(obj).__name__}")


# ---- a single Writable --------------------------------------------------------------------------------------------

def decode(str class_name, data, *, find_converters=None, **options):
    """Decode the bytes of one Writable of a class; see `typedbytes.sequencefile.decode`."""
    cdef Py_buffer view
    cdef DecodeOptions checked = DecodeOptions(**options)
    cdef Decoding d = checked.template
    cdef WritableClass writable = writable_class_of(class_name, find_converters)
    contiguous = get_view(data, &view)
    try:
        return decode_by_class(writable, &d, <const unsigned char*>view.buf, view.len)
    finally:
        abandon(&d)
        PyBuffer_Release(&view)


def encode(str class_name, obj, *, function=None, program=None, **options):
    """Encode an object as one Writable of a class; see `typedbytes.sequencefile.encode`."""
    cdef EncodeOptions checked = EncodeOptions(**options)
    cdef Encoding e = checked.template
    start_owned(&e.buf, 64)
    try:
        encode_by_class(WritableClass(class_name, function, None, program), &e, obj)
        return finish(&e.buf)
    finally:
        drop(&e.buf)


cdef WritableClass writable_class_of(str class_name, find_converters, part=None):
    # part: "key", "value", or None for a Writable by itself.
    if find_converters is None:
        return WritableClass(class_name)
    function, to_typed, program = find_converters(class_name, part)
    return WritableClass(class_name, function, to_typed, program)
