# Values to bytes. A value is classified once, for all layouts, and then appended in the layout of the encoder.
#
# Invariant: a small value is copied into the buffer, a large value becomes an ExternalPart, which points to the
# caller's memory and owns a reference to it; a message that cannot be encoded leaves neither bytes nor external parts.

cdef struct ExternalPart:
    Py_ssize_t at                 # offset in the buffer at which the part is inserted
    const unsigned char* p
    Py_ssize_t nbytes
    PyObject* owner               # owned: what `p` points into

cdef struct Value:
    int code                      # type code in a native message
    int element                   # type of the elements of an array
    int ndim
    const Py_ssize_t* shape
    int64_t number
    double real
    const unsigned char* p        # bytes of the value, unless it is a number
    Py_ssize_t nbytes

# The type of a native value in the legacy layouts; -1: none.
cdef int LEGACY_TYPES[64]
for _code in range(64):
    LEGACY_TYPES[_code] = -1
LEGACY_TYPES[BYTES] = LEGACY_TYPES[ARRAY] = LEGACY_BYTES
LEGACY_TYPES[STRING] = LEGACY_STRING
LEGACY_TYPES[COMMAND] = LEGACY_COMMAND
LEGACY_TYPES[BYTE] = LEGACY_TYPES[INT] = LEGACY_INT
LEGACY_TYPES[LONG] = LEGACY_LONG
LEGACY_TYPES[FLOAT] = LEGACY_TYPES[DOUBLE] = LEGACY_DOUBLE

TYPE_NAMES = {BOOL: "bool", NULL_VALUE: "None"}

cdef enum:
    MAX_CLASSES = 512             # number of record classes that an encoder keeps


cdef class Encoded:
    "Encoded(data)\n--\n\n" \
        """Hold the bytes of a VECTOR, LIST or MAP, which a native message has as they are."""

    cdef bytes data

    def __init__(self, bytes data not None):
        if not data or not VECTOR <= data[0] <= MAP:
            raise ValueError("not an encoded VECTOR, LIST or MAP")
        self.data = data


cdef class BlockEncoder:
    "BlockEncoder(wire='bytes', *, checksum=False, int_width='auto', pickle='safe', default=None, sort_keys=False, " \
        "unicode_errors='strict', dialect='hadoop', max_depth=256)\n--\n\n" \
        """Encode messages: sequences of values that another process reads as a whole.

    wire: the layout, one of the legacy layouts "line", "block", "bytes", "type8", "total" and "header", or "native" (or
    1) for the native format. default: a function that is called with a value that the layout has no type for, and
    returns a replacement. checksum: end native messages with a CRC-32C. Other options are those of `Encoder`, for
    values nested in native messages.

    The legacy layouts have types for Command, str, int of 64 bits, float and bytes-like objects, including arrays. The
    native format keeps bool, None, arrays of NumPy and array.array with their type and shape, Arrow streams, and all
    values that TypedBytes can encode.

    >>> BlockEncoder().encode([Command("a"), 5]).hex()
    '000000020000000200000001610000000300000005'
    """

    cdef WriteBuffer buf
    cdef ExternalPart* external_parts
    cdef Py_ssize_t nexternal
    cdef Py_ssize_t external_capacity
    cdef Py_ssize_t external_nbytes    # bytes of all external parts
    # of the native message being written: the number of bytes, external parts included, before its body
    cdef Py_ssize_t body_start
    cdef unsigned char* scratch   # the initial memory of buf
    cdef Py_ssize_t scratch_nbytes
    cdef EncodeOptions options
    cdef object default
    cdef dict class_options       # options for a record that is written by its class; None: none is
    cdef dict classes             # by the address of a class: the class, and its EncodeOptions if it is of records
    cdef Layout layout
    cdef int flags                # flags of native messages
    cdef State state              # OPEN or BUSY

    def __cinit__(self, *args, **options):
        self.enlarge(SCRATCH)

    def __init__(self, wire="bytes", *, default=None, checksum=False, **options):
        if self.state == BUSY:
            self.refuse()
        self.options = EncodeOptions(default=default, **options)
        self.default = default
        self.layout = layout_of(wire)
        if checksum and self.layout != NATIVE:
            raise ValueError("checksum=True needs wire='native': the legacy layouts have no checksum")
        self.flags = (0 if sys.byteorder == "big" else LITTLE_ARRAYS) | (CHECKSUM if checksum else 0)

    def __dealloc__(self):
        self.drop_external_parts(0)
        drop(&self.buf)
        PyMem_Free(self.external_parts)
        PyMem_Free(self.scratch)

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be pickled")

    def encode(self, args, *, id=0, reply=False):
        """Encode one message as bytes.

        args: the values, any iterable. id: of a native message, repeated in its reply. reply: ask for a reply. Raises
        EncodeTypeError for a value that has no type and EncodeValueError for one out of range; both name the value.

        >>> BlockEncoder("type8").encode(["hi"]).hex()
        '0000000101000000026869'
        """
        self.enter()
        try:
            self.append_message(args, parse_id(id), reply)
            return self.join()
        finally:
            self.leave()

    def encode_into(self, args, buffer, Py_ssize_t offset=0, *, id=0, reply=False):
        """Encode one message into a writable buffer at `offset` and return the number of bytes written.

        A bytearray grows as far as needed; any other buffer that is too small raises ValueError.
        When encoding fails the buffer is as it was.

        >>> target = bytearray(1)
        >>> BlockEncoder().encode_into([], target, 1), target.hex()
        (4, '0000000000')
        """
        cdef Py_buffer view
        cdef Py_ssize_t nbytes
        self.enter()
        try:
            self.append_message(args, parse_id(id), reply)
            nbytes = self.nbytes()
            if type(buffer) is bytearray and 0 <= offset <= len(buffer) < offset + nbytes:
                buffer.extend(bytes(offset + nbytes - len(buffer)))
            PyObject_GetBuffer(buffer, &view, PyBUF_WRITABLE)
            try:
                if not 0 <= offset <= view.len - nbytes:
                    raise ValueError(f"{nbytes} bytes do not fit a buffer of {view.len} at offset {offset}")
                self.copy_to(<unsigned char*>view.buf + offset)
            finally:
                PyBuffer_Release(&view)
            return nbytes
        finally:
            self.leave()

    def send(self, args, sink, *, id=0, reply=False):
        """Encode one message and send it to a socket, descriptor or file; return the number of bytes sent.

        Makes one system call, unless the kernel accepts only a part of the message; a value of 64 KiB or more is not
        copied. TCP_NODELAY is set on a TCP socket, and a file object that has flush() and cannot seek is flushed.
        Raises OSError; a part of the message may have been sent by then.

        >>> import io
        >>> sink = io.BytesIO(); BlockEncoder().send([], sink), sink.getvalue().hex()
        (4, '00000000')
        """
        cdef Sink target = open_sink(sink)
        self.enter()
        try:
            self.append_message(args, parse_id(id), reply)
            nbytes = self.send_to(target)
            if target.may_be_awaited:
                target.flush()
            return nbytes
        finally:
            self.leave()

    cdef int enlarge(self, Py_ssize_t nbytes) except -1:
        # Resize the scratch memory, which must be empty.
        cdef unsigned char* memory = <unsigned char*>PyMem_Realloc(self.scratch, nbytes)
        if memory == NULL:
            raise MemoryError
        self.scratch = memory
        self.scratch_nbytes = nbytes
        start_scratch(&self.buf, memory, nbytes)
        return 0

    cdef inline int enter(self) except -1:
        return self.refuse() if self.options is None or not claim_state(&self.state, OPEN, BUSY) else 0

    cdef int refuse(self) except -1:
        if self.options is None:
            raise ValueError(f"this {type(self).__name__} was not initialised")
        return raise_in_use(self)

    cdef inline int leave(self) except -1:
        self.reset()
        self.state = OPEN
        return 0

    cdef inline int reset(self) except -1:
        # Back to an empty buffer, in the scratch memory.
        if self.nexternal:
            self.drop_external_parts(0)
        if self.buf.owner != NULL:
            drop(&self.buf)
        if self.buf.start != self.scratch:
            start_scratch(&self.buf, self.scratch, self.scratch_nbytes)
        self.buf.cursor = self.buf.start
        return 0

    # ---- the encoded bytes

    cdef inline Py_ssize_t nbytes(self) noexcept:
        return written(&self.buf) + self.external_nbytes

    cdef bytes join(self):
        if self.nexternal == 0:
            return finish(&self.buf)
        result = PyBytes_FromStringAndSize(NULL, self.nbytes())
        self.copy_to(<unsigned char*>PyBytes_AS_STRING(result))
        return result

    cdef int copy_to(self, unsigned char* target) except -1:
        cdef Py_ssize_t at = 0
        cdef Py_ssize_t i
        cdef ExternalPart* part
        for i in range(self.nexternal):
            part = &self.external_parts[i]
            memcpy(target, self.buf.start + at, part.at - at)
            target += part.at - at
            at = part.at
            with nogil:
                memcpy(target, part.p, part.nbytes)
            target += part.nbytes
        memcpy(target, self.buf.start + at, written(&self.buf) - at)
        return 0

    cdef Py_ssize_t send_to(self, Sink sink) except -1:
        cdef iovec few[2 * FEW_EXTERNAL_PARTS + 1]
        cdef iovec* pieces = few
        cdef Py_ssize_t npieces
        if self.nexternal > FEW_EXTERNAL_PARTS:
            pieces = <iovec*>PyMem_Malloc((2 * self.nexternal + 1) * sizeof(iovec))
            if pieces == NULL:
                raise MemoryError
        try:
            npieces = self.list_pieces(pieces, 2 * self.nexternal + 1, 0)
            if sink.descriptor >= 0:
                sink.send(pieces, npieces)
            else:
                sink.send_owned(self.list_owned(pieces, npieces))
        finally:
            if pieces != few:
                PyMem_Free(pieces)
        return self.nbytes()

    cdef list list_owned(self, iovec* pieces, Py_ssize_t npieces):
        # A method may keep what it is given: the buffer is copied, once, and external parts are not.
        cdef list owned = []
        cdef Py_ssize_t nexternal = 0
        cdef Py_ssize_t i
        for i in range(npieces):
            if nexternal < self.nexternal and pieces[i].iov_base == <void*>self.external_parts[nexternal].p:
                owned.append(owned_piece(&pieces[i], <object>self.external_parts[nexternal].owner))
                nexternal += 1
            else:
                owned.append(owned_piece(&pieces[i], None))
        return owned

    cdef Py_ssize_t list_pieces(self, iovec* pieces, Py_ssize_t max_pieces, Py_ssize_t offset) except -1:
        # Fill in the pieces that follow `offset` bytes, `max_pieces` at most, and return their number.
        cdef Py_ssize_t npieces = 0
        cdef Py_ssize_t at = 0
        cdef Py_ssize_t i, end
        for i in range(self.nexternal + 1):
            end = self.external_parts[i].at if i < self.nexternal else written(&self.buf)
            if npieces < max_pieces and end - at > offset:
                npieces += set_piece(&pieces[npieces], self.buf.start + at + offset, end - at - offset)
            offset = max(offset - (end - at), 0)
            if i < self.nexternal:
                if npieces < max_pieces and self.external_parts[i].nbytes > offset:
                    npieces += set_piece(&pieces[npieces], self.external_parts[i].p + offset,
                                         self.external_parts[i].nbytes - offset)
                offset = max(offset - self.external_parts[i].nbytes, 0)
            at = end
        return npieces

    cdef int add_external_part(self, const unsigned char* p, Py_ssize_t nbytes, object owner) except -1:
        cdef ExternalPart* more
        cdef Py_ssize_t capacity
        if self.nexternal == self.external_capacity:
            capacity = max(2 * self.external_capacity, 4)
            more = <ExternalPart*>PyMem_Realloc(self.external_parts, capacity * sizeof(ExternalPart))
            if more == NULL:
                raise MemoryError
            self.external_parts = more
            self.external_capacity = capacity
        if nbytes > PY_SSIZE_T_MAX // 4 - self.external_nbytes:
            raise MemoryError
        self.external_parts[self.nexternal] = ExternalPart(written(&self.buf), p, nbytes, <PyObject*>owner)
        Py_INCREF(owner)
        self.nexternal += 1
        self.external_nbytes += nbytes
        return 0

    cdef int drop_external_parts(self, Py_ssize_t from_index) except -1:
        while self.nexternal > from_index:
            self.nexternal -= 1
            self.external_nbytes -= self.external_parts[self.nexternal].nbytes
            Py_XDECREF(self.external_parts[self.nexternal].owner)
        return 0

    # ---- one message

    cdef int append_message(self, object args, uint32_t id, bint reply) except -1:
        cdef Py_ssize_t base = written(&self.buf)
        cdef Py_ssize_t nexternal = self.nexternal
        try:
            if type(args) is not list and type(args) is not tuple:
                if isinstance(args, (str, bytes, bytearray, dict)):
                    raise EncodeTypeError(f"a message is a sequence of values, not {type(args).__name__}")
                args = tuple(args)
            if self.layout == NATIVE:
                append_native_message(self, args, id, reply)
            elif reply or id:
                raise EncodeValueError("id= and reply= need wire='native': the legacy layouts have neither")
            else:
                append_legacy_message(self, args)
        except:
            self.buf.cursor = self.buf.start + base
            self.drop_external_parts(nexternal)
            raise
        return 0

    cdef int append_values(self, object args, Py_ssize_t count, Py_ssize_t head) except -1:
        # A hook may change the list: `value` holds a reference while it is written, and the length must not change.
        cdef Py_ssize_t i = 0
        cdef Value v
        try:
            while i < count and i < PySequence_Fast_GET_SIZE(args):
                value = args[i]
                owner = self.classify(value, &v)
                if self.layout == NATIVE:
                    append_entry(self, &v, owner, head + i * ENTRY_SIZE)
                elif self.layout == HEADER:
                    append_table_value(self, &v, owner, head + 8 * i)
                elif self.layout == BLOCK:
                    append_text_value(self, &v, owner)
                elif self.layout == LINE:
                    append_line_value(self, &v, owner)
                else:
                    append_binary_value(self, &v, owner)
                i += 1
                if not i & SIGNAL_MASK:
                    PyErr_CheckSignals()
        except EncodeError as error:
            reraise_memory_error(error)
            raise type(error)(error.message, f"[{i}]{error.path}") from None
        if i != count or len(args) != count:
            raise RuntimeError("the message changed size while it was encoded")
        return 0

    # ---- classifying a value: its type, and where its bytes are

    cdef object classify(self, object value, Value* v):
        # Returns the owner of the bytes that `v` points to.
        kind = type(value)
        if kind is str:
            v.code = STRING
            return borrow_text(value, v, self.options.template.unicode_errors)
        if kind is int:
            return self.classify_int(value, v)
        if kind is float:
            v.code = DOUBLE
            v.real = value
            return None
        if kind is bytes:
            v.code = BYTES
            v.p = <const unsigned char*>PyBytes_AS_STRING(value)
            v.nbytes = PyBytes_GET_SIZE(value)
            return value
        if kind is Command:
            v.code = COMMAND
            return borrow_text(value, v, self.options.template.unicode_errors)
        return self.classify_other(value, v, 0)

    cdef object classify_other(self, object value, Value* v, int nreplaced):
        kind = type(value)
        v.code = -1
        if self.layout == NATIVE and (kind is list or kind is tuple or kind is dict):
            return self.classify_nested(value, v, nreplaced)    # before the slower checks below
        if kind is bool:
            v.code = BOOL
            v.number = value is True
        elif value is None:
            v.code = NULL_VALUE
            v.number = 0
        elif kind is Byte or kind is Long:
            self.classify_int(value, v)
            v.code = BYTE if kind is Byte else LONG
        elif isinstance(value, float):
            v.code = FLOAT if kind is Float else DOUBLE
            v.real = value
        elif isinstance(value, int):
            return self.classify_int(value, v)
        elif isinstance(value, str):
            v.code = COMMAND if isinstance(value, Command) else STRING
            return borrow_text(value, v, self.options.template.unicode_errors)
        elif is_numpy_number(value):
            return self.classify(value.item(), v)
        elif kind is ArrowStream and self.layout == NATIVE:
            owner = borrow_buffer(value.data, v)
            v.code = ARROW
            return owner
        elif has_buffer(value):
            return borrow_buffer(value, v)
        elif self.layout == NATIVE and is_arrow_table(value):
            return self.classify_other(arrow_stream_of(value), v, nreplaced)
        if v.code >= 0 and (self.layout == NATIVE or LEGACY_TYPES[v.code] >= 0):
            return None
        if self.layout == NATIVE:
            return self.classify_nested(value, v, nreplaced)
        return self.replace_value(value, v, nreplaced)

    cdef inline object classify_int(self, object number, Value* v):
        if int_to_i64(<PyObject*>number, &v.number):
            v.code = INT if v.number == <int32_t>v.number else LONG
            return None
        if self.layout == NATIVE:
            return self.classify_nested(number, v, MAX_REPLACEMENTS_IN_ROW)
        raise EncodeValueError("int does not fit 64 bits")

    cdef object replace_value(self, object value, Value* v, int nreplaced):
        if self.default is None:
            name = TYPE_NAMES.get(v.code) or type(value).__name__
            raise EncodeTypeError(f"the legacy layouts have no type for {name}: pass default=, or use wire='native'")
        if nreplaced == MAX_REPLACEMENTS_IN_ROW:
            raise EncodeValueError(f"default= returned {MAX_REPLACEMENTS_IN_ROW} replacements in a row "
                                   "that cannot be encoded either")
        replacement = self.default(value)
        if type(replacement) in (str, int, float, bytes, Command):
            return self.classify(replacement, v)
        return self.classify_other(replacement, v, nreplaced + 1)

    cdef object classify_nested(self, object value, Value* v, int nreplaced):
        # A value that only TypedBytes has a code for is carried as its encoding.
        v.code = NESTED
        kind = type(value)
        data = None
        if kind is not dict and kind is not list and kind is not tuple:
            data = (<Encoded>value).data if kind is Encoded else self.encode_by_class(value)
        if data is not None:
            pass
        elif isinstance(value, (tuple, list, dict, Ext, Writable)) or self.default is None:
            data = self.encode_nested(value, self.options, True)
        else:
            # What the codec cannot encode is replaced here: the replacement may have a type of its
            # own in a native message.
            try:
                data = self.encode_nested(value, self.options, False)
            except EncodeTypeError:
                return self.replace_value(value, v, nreplaced)
        v.p = <const unsigned char*>PyBytes_AS_STRING(data)
        v.nbytes = PyBytes_GET_SIZE(data)
        v.code = v.p[0]
        if MAP < v.code < FIRST_APPLICATION:    # Hive's, by an Ext
            raise EncodeTypeError(f"a native message has no type {v.code}")
        return data

    cdef bytes encode_by_class(self, object value):
        # A record as the annotations of its class say; None: it is none, or does not fit them.
        if self.class_options is None:
            return None
        kind = type(value)
        address = <size_t><PyObject*>kind    # a class may be equal to others
        kept = self.classes.get(address)
        if kept is None:
            if len(self.classes) >= MAX_CLASSES:
                self.classes.clear()
            kept = self.classes[address] = kind, options_of_class(kind, self.class_options)
        if kept[1] is None:
            return None
        try:
            return self.encode_nested(value, kept[1], True)
        except EncodeError as misfit:
            reraise_memory_error(misfit)
            return None

    cdef bytes encode_nested(self, object value, EncodeOptions options, bint with_default):
        cdef Encoding e = options.template
        cdef unsigned char start[512]
        if not with_default:
            e.default = NULL
        start_scratch(&e.buf, start, 512)
        try:
            encode_record(&e, <PyObject*>value)
            return finish(&e.buf)
        finally:
            drop(&e.buf)

    # ---- appending bytes

    cdef inline int append_copy(self, const void* p, Py_ssize_t nbytes) except -1:
        reserve(&self.buf, nbytes)
        copy_short(self.buf.cursor, p, nbytes)
        self.buf.cursor += nbytes
        return 0

    cdef inline int append_bytes(self, const unsigned char* p, Py_ssize_t nbytes, object owner) except -1:
        if nbytes < LARGE_NBYTES:
            return self.append_copy(p, nbytes)
        return self.add_external_part(p, nbytes, owner)


cdef object options_of_class(kind, dict options):
    # None: it is not a class of records, or its annotations are not types that records can have.
    from typedbytes._base.annotations import is_record_class    # lazy import: of few messages
    if not is_record_class(kind):
        return None
    try:
        return EncodeOptions(type=kind, **options)
    except Exception as error:    # of code in the annotations, too
        reraise_memory_error(error)
        return None


cdef inline int set_piece(iovec* piece, const unsigned char* p, Py_ssize_t nbytes) noexcept:
    piece.iov_base = <void*>p
    piece.iov_len = nbytes
    return nbytes > 0


cdef int check_limit(Py_ssize_t number, str what, int64_t limit) except -1:
    if number > limit:
        raise EncodeValueError(f"a message of {number} {what} is longer than {limit}")
    return 0


cdef uint32_t parse_id(object id) except? 0xffffffff:
    if not 0 <= id <= MAX_ENTRIES:
        raise EncodeValueError(f"id must be 0..2^32-1, not {id}")
    return id


cdef Layout layout_of(object wire) except *:
    found = LAYOUTS.get(wire) if type(wire) in (str, int) else None
    if found is None:
        raise ValueError(f"wire must be one of {', '.join(repr(name) for name in LAYOUTS if name != 1)} "
                         f"or 1, not {wire!r}")
    return found
