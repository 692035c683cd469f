# From values to bytes. A value is looked at once, whatever the wire, and then laid out as the wire wants it.
#
# Always true: what is small is copied into the buffer, what is large is a Part that points to the caller's memory and holds
# it; a message that fails leaves neither bytes nor parts behind.

cdef struct Part:
    Py_ssize_t at                 # bytes of the buffer that come before it
    const unsigned char* p
    Py_ssize_t nbytes
    PyObject* owner               # owned: what `p` points into

cdef struct Value:
    int code                      # of the native message
    int element                   # of an array: which elements
    int ndim
    const Py_ssize_t* shape
    int64_t number
    double real
    const unsigned char* p        # of what has bytes
    Py_ssize_t nbytes

# What a value of the native message is on wire 0; -1: nothing.
cdef int WIRE0_TYPES[64]
for _code in range(64):
    WIRE0_TYPES[_code] = -1
WIRE0_TYPES[BYTES] = WIRE0_TYPES[ARRAY] = WIRE0_BYTES
WIRE0_TYPES[STRING] = WIRE0_STRING
WIRE0_TYPES[COMMAND] = WIRE0_COMMAND
WIRE0_TYPES[BYTE] = WIRE0_TYPES[INT] = WIRE0_INT
WIRE0_TYPES[LONG] = WIRE0_LONG
WIRE0_TYPES[FLOAT] = WIRE0_TYPES[DOUBLE] = WIRE0_DOUBLE

NAMES = {BOOL: "bool", NULL_VALUE: "None"}


cdef class BlockEncoder:
    """Encode messages: sequences of values that another process reads as a whole.

    wire: the layout, "line", "block", "bytes", "type8", "total" or "header" of wire 0, or "native" for wire 1, which 1 names too.
    default: a function that is given a value the wire has no code for and returns one that it has. checksum: end native
    messages with a CRC-32C. Other options are those of `Encoder`, for what is nested in native messages.

    Wire 0 knows Command, str, int of 64 bits, float and bytes-like objects, arrays among them. The native message keeps bool,
    None, arrays of NumPy and array.array with their type and shape, Arrow streams, and everything that TypedBytes can say.

    >>> BlockEncoder().encode([Command("a"), 5]).hex()
    '000000020000000200000001610000000300000005'
    """

    cdef WriteBuffer buf
    cdef Part* parts
    cdef Py_ssize_t nparts
    cdef Py_ssize_t parts_room
    cdef Py_ssize_t nlarge        # bytes of all parts
    cdef Py_ssize_t body_start    # of the native message being written: bytes and parts before its body
    cdef unsigned char* scratch   # what buf starts from
    cdef Py_ssize_t scratch_nbytes
    cdef EncodeOptions options
    cdef object default
    cdef Wire wire
    cdef int flags                # of native messages
    cdef bint busy

    def __cinit__(self, *args, **options):
        self.enlarge(SCRATCH)

    def __init__(self, wire="bytes", *, default=None, checksum=False, **options):
        if self.busy:
            self.refuse()
        self.options = EncodeOptions(default=default, **options)
        self.default = default
        self.wire = checked_wire(wire)
        if checksum and self.wire != NATIVE:
            raise ValueError("wire 0 has no checksum")
        self.flags = (0 if sys.byteorder == "big" else LITTLE_ARRAYS) | (CHECKSUM if checksum else 0)

    def __dealloc__(self):
        self.drop_parts(0)
        drop(&self.buf)
        PyMem_Free(self.parts)
        PyMem_Free(self.scratch)

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be pickled")

    def encode(self, args, *, id=0, reply=False):
        """Encode one message as bytes.

        args: the values, any iterable. id: of a native message, echoed in its reply. reply: one is wanted. Raises
        EncodeTypeError for a value without a code and EncodeValueError for one that does not fit; both say which.

        >>> BlockEncoder("type8").encode(["hi"]).hex()
        '0000000101000000026869'
        """
        self.enter()
        try:
            self.put_message(args, id, reply)
            return self.join()
        finally:
            self.leave()

    def encode_into(self, args, buffer, Py_ssize_t offset=0, *, id=0, reply=False):
        """Encode one message into a writable buffer at `offset` and return the number of bytes written.

        A bytearray grows as far as needed; any other buffer that is too small raises ValueError. When encoding fails the
        buffer is as it was.

        >>> target = bytearray(1)
        >>> BlockEncoder().encode_into([], target, 1), target.hex()
        (4, '0000000000')
        """
        cdef Py_buffer view
        cdef Py_ssize_t nbytes
        self.enter()
        try:
            self.put_message(args, id, reply)
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

        One system call, unless the kernel takes only a part of it; a value of 64 KiB or more goes out from where it lies.
        TCP_NODELAY is set on a TCP socket. Raises what the system says; then a part may have been sent.

        >>> import io
        >>> sink = io.BytesIO(); BlockEncoder().send([], sink), sink.getvalue().hex()
        (4, '00000000')
        """
        cdef Sink target = Sink(sink)
        self.enter()
        try:
            self.put_message(args, id, reply)
            return self.send_to(target)
        finally:
            self.leave()

    cdef int enlarge(self, Py_ssize_t nbytes) except -1:
        # The scratch memory, while it is empty.
        cdef unsigned char* memory = <unsigned char*>PyMem_Realloc(self.scratch, nbytes)
        if memory == NULL:
            raise MemoryError
        self.scratch = memory
        self.scratch_nbytes = nbytes
        start_scratch(&self.buf, memory, nbytes)
        return 0

    cdef inline int enter(self) except -1:
        if self.busy or self.options is None:
            self.refuse()
        self.busy = True
        return 0

    cdef int refuse(self) except -1:
        if self.options is None:
            raise ValueError(f"this {type(self).__name__} was not initialised")
        raise RuntimeError(f"this {type(self).__name__} is in use: a hook or another thread came back to it")

    cdef inline int leave(self) except -1:
        # Back to an empty buffer, in the scratch memory.
        if self.nparts:
            self.drop_parts(0)
        if self.buf.owner != NULL:
            drop(&self.buf)
        if self.buf.start != self.scratch:
            start_scratch(&self.buf, self.scratch, self.scratch_nbytes)
        self.buf.cursor = self.buf.start
        self.busy = False
        return 0

    # ---- what has been encoded

    cdef inline Py_ssize_t nbytes(self) noexcept:
        return written(&self.buf) + self.nlarge

    cdef bytes join(self):
        if self.nparts == 0:
            return finish(&self.buf)
        result = PyBytes_FromStringAndSize(NULL, self.nbytes())
        self.copy_to(<unsigned char*>PyBytes_AS_STRING(result))
        return result

    cdef int copy_to(self, unsigned char* target) except -1:
        cdef Py_ssize_t at = 0
        cdef Py_ssize_t i
        cdef Part* part
        for i in range(self.nparts):
            part = &self.parts[i]
            memcpy(target, self.buf.start + at, part.at - at)
            target += part.at - at
            at = part.at
            with nogil:
                memcpy(target, part.p, part.nbytes)
            target += part.nbytes
        memcpy(target, self.buf.start + at, written(&self.buf) - at)
        return 0

    cdef Py_ssize_t send_to(self, Sink sink) except -1:
        cdef iovec few[2 * FEW_PARTS + 1]
        cdef iovec* pieces = few
        if self.nparts > FEW_PARTS:
            pieces = <iovec*>PyMem_Malloc((2 * self.nparts + 1) * sizeof(iovec))
            if pieces == NULL:
                raise MemoryError
        try:
            sink.send(pieces, self.some_pieces(pieces, 2 * self.nparts + 1, 0))
        finally:
            if pieces != few:
                PyMem_Free(pieces)
        return self.nbytes()

    cdef Py_ssize_t some_pieces(self, iovec* pieces, Py_ssize_t most, Py_ssize_t offset) except -1:
        # The first pieces of what lies behind so many bytes; return their number.
        cdef Py_ssize_t npieces = 0
        cdef Py_ssize_t at = 0
        cdef Py_ssize_t i, end
        for i in range(self.nparts + 1):
            end = self.parts[i].at if i < self.nparts else written(&self.buf)
            if npieces < most and end - at > offset:
                npieces += set_piece(&pieces[npieces], self.buf.start + at + offset, end - at - offset)
            offset = max(offset - (end - at), 0)
            if i < self.nparts:
                if npieces < most and self.parts[i].nbytes > offset:
                    npieces += set_piece(&pieces[npieces], self.parts[i].p + offset, self.parts[i].nbytes - offset)
                offset = max(offset - self.parts[i].nbytes, 0)
            at = end
        return npieces

    cdef int add_part(self, const unsigned char* p, Py_ssize_t nbytes, object owner) except -1:
        cdef Part* more
        cdef Py_ssize_t room
        if self.nparts == self.parts_room:
            room = max(2 * self.parts_room, 4)
            more = <Part*>PyMem_Realloc(self.parts, room * sizeof(Part))
            if more == NULL:
                raise MemoryError
            self.parts = more
            self.parts_room = room
        if nbytes > PY_SSIZE_T_MAX // 4 - self.nlarge:
            raise MemoryError
        self.parts[self.nparts] = Part(written(&self.buf), p, nbytes, <PyObject*>owner)
        Py_INCREF(owner)
        self.nparts += 1
        self.nlarge += nbytes
        return 0

    cdef int drop_parts(self, Py_ssize_t from_index) except -1:
        while self.nparts > from_index:
            self.nparts -= 1
            self.nlarge -= self.parts[self.nparts].nbytes
            Py_XDECREF(self.parts[self.nparts].owner)
        return 0

    # ---- one message

    cdef int put_message(self, object args, object id, bint reply) except -1:
        cdef Py_ssize_t base = written(&self.buf)
        cdef Py_ssize_t nparts = self.nparts
        try:
            if type(args) is not list and type(args) is not tuple:
                if isinstance(args, (str, bytes, bytearray, dict)):
                    raise EncodeTypeError(f"a message is a sequence of values, not {type(args).__name__}")
                args = tuple(args)
            if self.wire == NATIVE:
                put_native(self, args, checked_id(id), reply)
            elif reply or (id is not 0 and id != 0):
                raise EncodeValueError("wire 0 has neither ids nor wanted replies")
            else:
                put_wire0(self, args)
        except:
            self.buf.cursor = self.buf.start + base
            self.drop_parts(nparts)
            raise
        return 0

    cdef int put_values(self, object args, Py_ssize_t count, Py_ssize_t head) except -1:
        # A hook may change the list: each value is held while it is written, and their number has to stay.
        cdef Py_ssize_t i = 0
        cdef Value v
        while i < count and i < len(args):
            value = args[i]
            try:
                owner = self.look_at(value, &v)
                if self.wire == NATIVE:
                    put_entry(self, &v, owner, head + i * ENTRY_SIZE)
                elif self.wire == HEADER:
                    put_with_head(self, &v, owner, head + 8 * i)
                elif self.wire == BLOCK:
                    put_with_head(self, &v, owner, -1)
                elif self.wire == LINE:
                    put_lines(self, &v, owner)
                else:
                    put_value(self, &v, owner)
            except EncodeError as error:
                raise_without_memory(error)
                raise type(error)(error.message, f"[{i}]{error.path}") from None
            i += 1
            if not i & 0x3fff:
                PyErr_CheckSignals()
        if i != count or len(args) != count:
            raise RuntimeError("the message changed size while it was encoded")
        return 0

    # ---- looking at a value: its code, and where its bytes are

    cdef object look_at(self, object value, Value* v):
        # Return what owns the bytes that `v` points to.
        kind = type(value)
        if kind is str:
            v.code = STRING
            return look_at_text(value, v, self.options.template.unicode_errors)
        if kind is int:
            return self.look_at_int(value, v)
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
            return look_at_text(value, v, self.options.template.unicode_errors)
        return self.look_closer(value, v, 0)

    cdef object look_closer(self, object value, Value* v, int nreplaced):
        kind = type(value)
        v.code = -1
        if self.wire == NATIVE and (kind is list or kind is tuple or kind is dict):
            return self.look_at_nested(value, v, nreplaced)    # what else it may be takes time to ask
        if kind is bool:
            v.code = BOOL
            v.number = value is True
        elif value is None:
            v.code = NULL_VALUE
        elif kind is Byte or kind is Long:
            self.look_at_int(value, v)
            v.code = BYTE if kind is Byte else LONG
        elif isinstance(value, float):
            v.code = FLOAT if kind is Float else DOUBLE
            v.real = value
        elif isinstance(value, int):
            return self.look_at_int(value, v)
        elif isinstance(value, str):
            v.code = COMMAND if isinstance(value, Command) else STRING
            return look_at_text(value, v, self.options.template.unicode_errors)
        elif is_numpy_number(value):
            return self.look_at(value.item(), v)
        elif kind is ArrowStream and self.wire == NATIVE:
            owner = look_at_buffer(value.data, v)
            v.code = ARROW
            return owner
        elif PyObject_CheckBuffer(value):
            return look_at_buffer(value, v)
        elif self.wire == NATIVE and is_arrow_table(value):
            return self.look_closer(arrow_stream_of(value), v, nreplaced)
        if v.code >= 0 and (self.wire == NATIVE or WIRE0_TYPES[v.code] >= 0):
            return None
        if self.wire == NATIVE:
            return self.look_at_nested(value, v, nreplaced)
        return self.replaced(value, v, nreplaced)

    cdef inline object look_at_int(self, object number, Value* v):
        if int_to_i64(<PyObject*>number, &v.number):
            v.code = INT if v.number == <int32_t>v.number else LONG
            return None
        if self.wire == NATIVE:
            return self.look_at_nested(number, v, MAX_REPLACED)
        raise EncodeValueError("int does not fit 64 bits")

    cdef object replaced(self, object value, Value* v, int nreplaced):
        if self.default is None:
            name = NAMES.get(v.code) or type(value).__name__
            raise EncodeTypeError(f"wire 0 has no code for {name}: use default= or another wire")
        if nreplaced == MAX_REPLACED:
            raise EncodeValueError(f"default= gave {MAX_REPLACED} replacements within one another")
        replacement = self.default(value)
        if type(replacement) in (str, int, float, bytes, Command):
            return self.look_at(replacement, v)
        return self.look_closer(replacement, v, nreplaced + 1)

    cdef object look_at_nested(self, object value, Value* v, int nreplaced):
        # All that TypedBytes has a code for is carried as its encoded value.
        v.code = NESTED
        if isinstance(value, (tuple, list, dict, Ext, Writable)) or self.default is None:
            data = self.encode_nested(value, self.options)
        else:
            # What the codec has no code for is replaced here: a replacement may be a value with a code of its own.
            try:
                data = self.encode_nested(value, None)
            except EncodeTypeError:
                return self.replaced(value, v, nreplaced)
        v.p = <const unsigned char*>PyBytes_AS_STRING(data)
        v.nbytes = PyBytes_GET_SIZE(data)
        v.code = v.p[0]
        if MAP < v.code < FIRST_APPLICATION:    # Hive's, by an Ext
            raise EncodeTypeError(f"a native message has no type {v.code}")
        return data

    cdef bytes encode_nested(self, object value, EncodeOptions options):
        cdef Encoding e = self.options.template
        cdef unsigned char start[512]
        if options is None:
            e.default = NULL
        start_scratch(&e.buf, start, 512)
        try:
            encode_record(&e, <PyObject*>value)
            return finish(&e.buf)
        finally:
            drop(&e.buf)

    # ---- laying it out

    cdef inline int put_copied(self, const void* p, Py_ssize_t nbytes) except -1:
        reserve(&self.buf, nbytes)
        copy_short(self.buf.cursor, p, nbytes)
        self.buf.cursor += nbytes
        return 0

    cdef inline int put_bytes(self, const unsigned char* p, Py_ssize_t nbytes, object owner) except -1:
        if nbytes < LARGE:
            return self.put_copied(p, nbytes)
        return self.add_part(p, nbytes, owner)


cdef inline int set_piece(iovec* piece, const unsigned char* p, Py_ssize_t nbytes) noexcept:
    piece.iov_base = <void*>p
    piece.iov_len = nbytes
    return nbytes > 0


cdef int check_most(Py_ssize_t number, str what, int64_t most) except -1:
    if number > most:
        raise EncodeValueError(f"a message of {number} {what} is longer than {most}")
    return 0


cdef uint32_t checked_id(object id) except? 0xffffffff:
    if not 0 <= id <= MAX_ENTRIES:
        raise EncodeValueError(f"an id is 0..2^32-1, not {id}")
    return id


cdef Wire checked_wire(object wire) except *:
    found = WIRES.get(wire) if type(wire) in (str, int) else None
    if found is None:
        raise ValueError(f"wire is one of {', '.join(map(repr, WIRES))}, not {wire!r}")
    return found
