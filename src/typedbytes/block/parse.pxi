# The way back, from bytes to values: one walk over a message that may stop anywhere for want of more, and goes on where it
# stopped.
#
# Always true: no byte is looked at twice; nothing is allocated that bytes have not backed; what is small is decoded where the
# buffer holds it, what is large grows in its final place. A fault is the first one from left to right, however the input
# came in pieces.

cdef enum Phase:
    HEAD           # where a message starts
    COUNT          # of wire 0
    ARGUMENTS      # type, length and value together
    LINES
    TABLE          # the entries of header and native, before the values
    VALUES
    LARGE_VALUE
    TRAILER        # the checksum
    SKIPPED_FRAME

cdef struct Entry:
    int64_t number         # the value itself, or its length in bytes
    unsigned char code
    unsigned char element
    unsigned char ndim

cdef class Parser:
    # What BlockDecoder and BlockReader share.
    cdef ReadBuffer buf
    cdef DecodeOptions options
    cdef PyObject** stack         # owned references: the values of the message so far
    cdef Py_ssize_t nstack
    cdef Py_ssize_t stack_room
    cdef Entry* entries           # of the table, as far as it has been read
    cdef int64_t nentries
    cdef int64_t entries_room
    cdef PyObject* large          # owned, bytes: the large value that is coming in
    cdef Py_ssize_t nlarge        # of them there
    cdef Entry large_entry
    cdef Py_ssize_t large_head    # bytes of the line wire's search that hold no LF
    cdef Phase phase
    cdef Phase after_large
    cdef Wire wire                # asked for
    cdef Wire message_wire        # found
    cdef int64_t count            # values of the message
    cdef int64_t index            # of the value being read
    cdef int64_t frame_left       # bytes to the end of the frame, -1: it does not say
    cdef int64_t body_nbytes
    cdef int64_t body_expected    # by the entries so far
    cdef int64_t alignment
    cdef uint32_t crc
    cdef uint32_t id
    cdef int flags
    cdef Py_ssize_t max_bytes
    cdef Py_ssize_t wanted        # bytes to be held before the walk can go on
    cdef long long message_offset
    cdef long long record
    cdef readonly long long skipped
    cdef bint skip_bad
    cdef object fault             # of a message that is being skipped
    cdef object failure           # what all later calls raise
    cdef bint is_between          # two steps, for input or a signal: what is raised there tears nothing
    cdef bint busy
    cdef bint closed

    def __cinit__(self, *args, **options):
        self.large = NULL
        self.frame_left = -1

    def __dealloc__(self):
        self.drop_message()
        PyMem_Free(self.stack)
        PyMem_Free(self.entries)
        release(&self.buf)

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be pickled")

    cdef int configure(self, wire, max_bytes, skip_bad, dict options) except -1:
        self.wire = checked_wire(wire)
        self.options = DecodeOptions(**options)
        if max_bytes is not None and max_bytes < 1:
            raise ValueError(f"max_bytes is at least 1, not {max_bytes}")
        self.max_bytes = 0 if max_bytes is None else min(max_bytes, sys.maxsize // 2)
        self.skip_bad = skip_bad
        return 0

    cdef int drop_message(self) except -1:
        while self.nstack:
            self.nstack -= 1
            Py_XDECREF(self.stack[self.nstack])
        Py_XDECREF(self.large)
        self.large = NULL
        return 0

    # ---- errors

    cdef object at_fault(self, type kind, str message, long long offset):
        # The value at `index`, when one is being read.
        inside = self.phase not in (HEAD, COUNT, TRAILER)
        path = f"[{self.index}]" if inside else ""
        if kind is BlockError:
            return BlockError(message, offset, None, path, self.record, self.index if inside else None)
        return kind(message, offset, None, path, self.record)

    cdef int raise_bad(self, ReadBuffer* b, Py_ssize_t at, str message) except -1:
        raise self.at_fault(BlockError, message, offset_of(b, b.cursor) + at)

    cdef int raise_beyond(self, ReadBuffer* b, Py_ssize_t nbytes) except -1:
        if self.frame_left >= 0 and nbytes > self.frame_left:
            return self.raise_bad(b, 0, f"a value goes on behind the end of its message: {nbytes} bytes wanted, "
                                        f"{self.frame_left} left")
        raise self.at_fault(LimitError, f"a message is longer than max_bytes={self.max_bytes}", self.message_offset)

    cdef int raise_truncated(self, ReadBuffer* b) except -1:
        cdef long long offset = offset_of(b, b.end)
        raise self.at_fault(TruncatedError, "input ends inside a message", offset)

    cdef int bad_value(self, object error) except -1:
        # Where the message ends is known or will be: it can be skipped, if that is wanted.
        if not self.skip_bad:
            raise error
        self.fault = error
        Py_INCREF(None)
        self.push(<PyObject*>None)
        return 0

    # ---- bytes

    cdef inline bint need(self, ReadBuffer* b, Py_ssize_t nbytes) except -1:
        if held(b) >= nbytes and self.frame_left < 0 and not self.max_bytes:
            return True
        return self.need_more(b, nbytes)

    cdef bint need_more(self, ReadBuffer* b, Py_ssize_t nbytes) except -1:
        cdef bint found
        if (self.frame_left >= 0 and nbytes > self.frame_left) \
                or (self.max_bytes and offset_of(b, b.cursor) - self.message_offset > self.max_bytes - nbytes):
            return self.raise_beyond(b, nbytes)
        if held(b) >= nbytes:
            return True
        self.is_between = True
        found = refill(b, nbytes)
        self.is_between = False
        self.wanted = nbytes
        return found

    cdef inline int consume(self, ReadBuffer* b, Py_ssize_t nbytes) except -1:
        if self.flags & CHECKSUM:
            self.crc = crc32c(self.crc, b.cursor, nbytes)
        if self.frame_left >= 0:
            self.frame_left -= nbytes
        b.cursor += nbytes
        return 0

    # ---- values

    cdef inline int push(self, PyObject* value) except -1:
        # Takes over the reference.
        if self.nstack == self.stack_room:
            self.deepen(value)
        self.stack[self.nstack] = value
        self.nstack += 1
        return 0

    cdef int deepen(self, PyObject* value) except -1:
        cdef Py_ssize_t room = max(2 * self.stack_room, 16)
        cdef PyObject** more = <PyObject**>PyMem_Realloc(self.stack, room * sizeof(PyObject*))
        if more == NULL:
            Py_XDECREF(value)
            raise MemoryError
        self.stack = more
        self.stack_room = room
        return 0

    cdef inline int push_object(self, object value) except -1:
        Py_INCREF(value)
        return self.push(<PyObject*>value)

    cdef int push_text(self, ReadBuffer* b, const unsigned char* p, Py_ssize_t nbytes, bint is_command) except -1:
        cdef PyObject* ascii
        if is_ascii(p, nbytes):
            ascii = new_ascii(nbytes)
            copy_short(PyUnicode_DATA(ascii), p, nbytes)
            if not is_command:
                return self.push(ascii)
            text = <object>ascii
            Py_XDECREF(ascii)
        else:
            try:
                text = PyUnicode_DecodeUTF8(<const char*>p, nbytes, self.options.template.unicode_errors)
            except UnicodeDecodeError as error:
                raise_without_memory(error)
                return self.bad_value(self.at_fault(BlockError, f"text is not UTF-8: {error.reason}",
                                                    offset_of(b, p) + error.start))
        return self.push_object(Command(text) if is_command else text)

    # ---- the walk

    cdef object parse(self, ReadBuffer* b):
        # A Message, or None: there is no whole one, and `wanted` says how much has to be held first.
        while True:
            try:
                done = self.walk(b)
            except BlockError as error:
                raise_without_memory(error)
                # Inside a frame that says where it ends the next message can be found.
                if not self.skip_bad or self.message_wire != TOTAL or self.frame_left < 0:
                    raise
                self.fault = error
                self.phase = SKIPPED_FRAME
                continue
            if not done:
                return None
            message = self.finish_message()
            if message is not None:
                return message

    cdef object finish_message(self):
        cdef Message message
        cdef PyObject* values
        cdef Py_ssize_t nvalues
        self.phase = HEAD
        self.frame_left = -1
        self.record += 1
        if self.fault is not None:
            self.fault = None
            self.skipped += 1
            self.drop_message()
            self.flags = 0
            return None
        message = Message.__new__(Message)
        nvalues = self.nstack
        self.nstack = 0    # the references are taken over, also when that fails
        values = tuple_from_stolen(self.stack, nvalues)
        message.values = <tuple>values
        Py_XDECREF(values)
        message.number = <long long>self.id if self.message_wire == NATIVE else -1
        message.wants_reply = self.flags & REPLY_WANTED != 0
        self.flags = 0
        self.shrink_tables()
        return message

    cdef int shrink_tables(self) noexcept:
        # Memory of a very long message is not kept.
        if self.entries_room > MOST_KEPT:
            PyMem_Free(self.entries)
            self.entries = NULL
            self.entries_room = 0
        if self.stack_room > MOST_KEPT:
            PyMem_Free(self.stack)
            self.stack = NULL
            self.stack_room = 0
        return 0

    cdef bint walk(self, ReadBuffer* b) except -1:
        # True: a message is complete.
        while True:
            if self.phase == HEAD:
                if not self.read_head(b):
                    return False
            elif self.phase == COUNT:
                if not read_count(self, b):
                    return False
            elif self.phase == ARGUMENTS:
                if self.index == self.count:
                    return self.end_frame(b)
                if not read_arguments(self, b):
                    return False
            elif self.phase == LINES:
                if not read_line_argument(self, b):
                    return False
                if self.phase == HEAD:
                    return True
            elif self.phase == TABLE:
                if not self.read_table(b):
                    return False
            elif self.phase == VALUES:
                if self.index == self.count:
                    self.end_frame(b)
                    if not self.flags & CHECKSUM:
                        return True
                    self.frame_left = -1
                    self.phase = TRAILER
                elif not self.read_value(b):
                    return False
            elif self.phase == LARGE_VALUE:
                if not self.read_large(b):
                    return False
            elif self.phase == TRAILER:
                return read_trailer(self, b)
            else:
                return self.skip_frame(b)

    cdef bint end_frame(self, ReadBuffer* b) except -1:
        if self.frame_left > 0:
            return self.raise_bad(b, 0, f"{self.frame_left} bytes are left in the message behind its last value")
        return True

    cdef bint skip_frame(self, ReadBuffer* b) except -1:
        cdef Py_ssize_t nbytes
        self.drop_message()
        while self.frame_left:
            if not self.need(b, 1):
                return False
            nbytes = min(held(b), self.frame_left)
            self.consume(b, nbytes)
        return True

    cdef bint read_head(self, ReadBuffer* b) except -1:
        if not self.record & 0xfff:
            self.hear_signals()
        self.message_offset = offset_of(b, b.cursor)
        if not self.need(b, 1):
            return False
        self.index = 0
        self.flags = 0
        if b.cursor[0] == NATIVE_START:
            return read_native_head(self, b)
        if self.wire == NATIVE:
            self.raise_bad(b, 0, f"a native message starts with f5, not {b.cursor[0]:02x}")
        self.message_wire = self.wire
        if self.wire == LINE:
            self.phase = LINES
            self.large_head = 0
            return True
        if self.wire == TOTAL:
            if not self.need(b, 4):
                return False
            if load_i32(b.cursor) < 4:
                self.raise_bad(b, 0, f"{load_i32(b.cursor)} bytes cannot hold a message")
            self.consume(b, 4)
            self.frame_left = load_i32(b.cursor - 4)
        self.phase = COUNT
        return True

    cdef inline int push_int(self, int code, int64_t number) except -1:
        if self.options.template.exact:
            return self.push_object(exact_int(code, number))
        return self.push(new_int(number))

    cdef inline int count_value(self) except -1:
        self.index += 1
        if not self.index & 0x3fff:
            self.hear_signals()
        return 0

    cdef int hear_signals(self) except -1:
        self.is_between = True
        PyErr_CheckSignals()
        self.is_between = False
        return 0

    # ---- tables and the values behind them

    cdef bint read_table(self, ReadBuffer* b) except -1:
        cdef Entry* entry
        cdef bint native = self.message_wire == NATIVE
        cdef Py_ssize_t nbytes = ENTRY_SIZE if native else 8
        while self.nentries < self.count:
            self.index = self.nentries
            if not self.need(b, nbytes):
                return False
            if self.nentries == self.entries_room:
                self.lengthen_table()
            entry = &self.entries[self.nentries]
            if native:
                read_entry(self, b, entry)
            else:
                if not 0 <= load_i32(b.cursor) <= WIRE0_DOUBLE:
                    self.raise_bad(b, 0, f"{load_i32(b.cursor)} is no type of wire 0")
                entry.code = b.cursor[3]
                entry.number = load_i32(b.cursor + 4)
                if entry.number < 0:
                    self.raise_bad(b, 4, f"negative length {entry.number}")
            self.consume(b, nbytes)
            self.nentries += 1
        self.index = 0
        if native:
            if self.body_expected != self.body_nbytes:
                self.phase = HEAD
                self.raise_bad(b, 0, f"the body has {self.body_nbytes} bytes and its values {self.body_expected}")
            self.frame_left = self.body_nbytes
        self.phase = VALUES
        return True

    cdef int lengthen_table(self) except -1:
        cdef int64_t room = max(2 * self.entries_room, 16)
        cdef Entry* more = <Entry*>PyMem_Realloc(self.entries, room * sizeof(Entry))
        if more == NULL:
            raise MemoryError
        self.entries = more
        self.entries_room = room
        return 0

    cdef bint read_value(self, ReadBuffer* b) except -1:
        cdef Entry* entry = &self.entries[self.index]
        cdef Py_ssize_t npad, i
        if self.message_wire == NATIVE:
            if is_inline(entry.code):
                push_inline(self, entry)
                self.count_value()
                return True
            npad = -(self.body_nbytes - self.frame_left) & (self.alignment - 1)
            if npad:
                if not self.need(b, npad):
                    return False
                for i in range(npad):
                    if b.cursor[i]:
                        self.raise_bad(b, i, "the bytes between values are not zero")
                self.consume(b, npad)
        if entry.number >= LARGE:
            return self.start_large(b, entry.code, entry.number)
        if not self.need(b, entry.number):
            return False
        self.push_body(b, entry, b.cursor, NULL)
        self.consume(b, entry.number)
        self.count_value()
        return True

    cdef int push_body(self, ReadBuffer* b, Entry* entry, const unsigned char* p, PyObject* whole) except -1:
        # whole: the bytes object that `p` is the start of, when there is one.
        if self.message_wire != NATIVE:
            if whole != NULL and entry.code == WIRE0_BYTES:
                Py_INCREF(<object>whole)
                return self.push(whole)
            return push_wire0(self, b, entry.code, p, entry.number)
        if whole != NULL and entry.code == BYTES:
            Py_INCREF(<object>whole)
            return self.push(whole)
        return push_native(self, b, entry, p, whole)

    # ---- large values

    cdef bint start_large(self, ReadBuffer* b, int code, int64_t nbytes) except -1:
        if (self.frame_left >= 0 and nbytes > self.frame_left) or (
                self.max_bytes and offset_of(b, b.cursor) - self.message_offset > self.max_bytes - nbytes):
            self.raise_beyond(b, nbytes)
        return self.await_large(self.entries[self.index] if self.phase == VALUES else Entry(nbytes, code, 0, 0))

    cdef bint await_large(self, Entry entry) except -1:
        self.large_entry = entry
        self.large = new_bytes(NULL, min(entry.number, FIRST_STEP))
        self.nlarge = 0
        self.after_large = self.phase
        self.phase = LARGE_VALUE
        return True

    cdef bint read_large(self, ReadBuffer* b) except -1:
        cdef Py_ssize_t room, got
        cdef unsigned char* target
        while self.nlarge < self.large_entry.number:
            room = bytes_size(self.large) - self.nlarge
            if room == 0:
                # At most twice what has come in.
                bytes_resize(&self.large, min(self.large_entry.number, 2 * self.nlarge))
                continue
            target = <unsigned char*>bytes_data(self.large) + self.nlarge
            if held(b):
                got = min(room, held(b))
                memcpy(target, b.cursor, got)
                b.cursor += got
            elif b.fill != NULL:
                self.is_between = True
                got = b.fill(b.source, target, room)
                self.is_between = False
                b.start_offset += got    # they passed by the buffer
            else:
                got = 0
            if got == 0:
                self.wanted = 1
                return False
            if self.flags & CHECKSUM:
                self.crc = crc32c(self.crc, target, got)
            if self.frame_left >= 0:
                self.frame_left -= got
            self.nlarge += got
        return self.finish_large(b)

    cdef bint finish_large(self, ReadBuffer* b) except -1:
        # Offsets in errors are reckoned from a buffer that the value ends at.
        cdef ReadBuffer lent
        cdef PyObject* whole = self.large
        self.large = NULL
        self.phase = self.after_large
        value = <object>whole    # held while hooks run
        Py_XDECREF(whole)
        borrow(&lent, <const unsigned char*>bytes_data(whole), bytes_size(whole))
        lent.start_offset = offset_of(b, b.cursor) - bytes_size(whole)
        self.push_body(&lent, &self.large_entry, lent.cursor, whole)
        self.count_value()
        return True


cdef inline PyObject* new_int(int64_t number) except NULL:
    cdef PyObject* value = int_from_i64(number)
    if value == NULL:
        raise MemoryError
    return value


cdef inline PyObject* new_float(double number) except NULL:
    cdef PyObject* value = float_from_f64(number)
    if value == NULL:
        raise MemoryError
    return value
