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

    cdef int push_wire0(self, ReadBuffer* b, int kind, const unsigned char* p, Py_ssize_t nbytes) except -1:
        # A value whose number is not text.
        if kind == WIRE0_BYTES:
            return self.push(new_bytes(<const char*>p, nbytes))
        if kind <= WIRE0_COMMAND:
            return self.push_text(b, p, nbytes, kind == WIRE0_COMMAND)
        return self.push_number_text(b, kind, p, nbytes)

    cdef int push_number_text(self, ReadBuffer* b, int kind, const unsigned char* p, Py_ssize_t nbytes) except -1:
        cdef bytes text = p[:nbytes]
        try:
            if kind == WIRE0_DOUBLE and b"\0" not in text:
                return self.push_object(PyOS_string_to_double(text, NULL, NULL))
            if kind != WIRE0_DOUBLE and INTEGER_TEXT(text):
                number = int(text)
                if (-2**31 <= number < 2**31) if kind == WIRE0_INT else (-2**63 <= number < 2**63):
                    return self.push_int(INT if kind == WIRE0_INT else LONG, number)
        except ValueError:
            pass
        return self.bad_value(self.at_fault(BlockError, f"{text[:40]!r} is no number of type {kind}", offset_of(b, p)))

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
                if not self.read_count(b):
                    return False
            elif self.phase == ARGUMENTS:
                if self.index == self.count:
                    return self.end_frame(b)
                if not self.read_arguments(b):
                    return False
            elif self.phase == LINES:
                if not self.read_line_argument(b):
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
                return self.read_trailer(b)
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

    # ---- wire 0

    cdef bint read_head(self, ReadBuffer* b) except -1:
        if not self.record & 0xfff:
            self.hear_signals()
        self.message_offset = offset_of(b, b.cursor)
        if not self.need(b, 1):
            return False
        self.index = 0
        self.flags = 0
        if b.cursor[0] == NATIVE_START:
            return self.read_native_head(b)
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

    cdef bint read_count(self, ReadBuffer* b) except -1:
        if not self.need(b, 4):
            return False
        self.count = load_i32(b.cursor)
        if self.count < 0:
            self.raise_bad(b, 0, f"negative number of values {self.count}")
        self.consume(b, 4)
        self.nentries = 0
        self.phase = TABLE if self.message_wire == HEADER else ARGUMENTS
        return True

    cdef bint read_arguments(self, ReadBuffer* b) except -1:
        cdef Py_ssize_t ntype = 1 if self.message_wire == TYPE8 else 4
        cdef bint as_text = self.message_wire == BLOCK
        cdef int kind
        cdef int32_t length
        while self.index < self.count:
            if not self.need(b, ntype):
                return False
            kind = b.cursor[0] if ntype == 1 else load_i32(b.cursor)
            if not 0 <= kind <= WIRE0_DOUBLE:
                self.raise_bad(b, 0, f"{kind} is no type of wire 0")
            if kind <= WIRE0_COMMAND or as_text:
                if not self.need(b, ntype + 4):
                    return False
                length = load_i32(b.cursor + ntype)
                if length < 0:
                    self.raise_bad(b, ntype, f"negative length {length}")
                if length >= LARGE:
                    self.consume(b, ntype + 4)
                    return self.start_large(b, kind, length)
                if not self.need(b, ntype + 4 + length):
                    return False
                self.push_wire0(b, kind, b.cursor + ntype + 4, length)
                self.consume(b, ntype + 4 + length)
            else:
                length = 4 if kind == WIRE0_INT else 8
                if not self.need(b, ntype + length):
                    return False
                if kind == WIRE0_INT:
                    self.push_int(INT, load_i32(b.cursor + ntype))
                elif kind == WIRE0_LONG:
                    self.push_int(LONG, load_i64(b.cursor + ntype))
                else:
                    self.push(new_float(load_f64(b.cursor + ntype)))
                self.consume(b, ntype + length)
            self.count_value()
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

    # ---- the wire of lines

    cdef bint read_line_argument(self, ReadBuffer* b) except -1:
        cdef Py_ssize_t first, second
        cdef int kind
        if not self.need(b, 2):
            return False
        if b.cursor[1] != c"\n" or not (b.cursor[0] == c"e" or c"0" <= b.cursor[0] <= c"5"):
            self.raise_bad(b, 0, "a type of one digit, or the end line, should stand here")
        if b.cursor[0] == c"e":
            self.consume(b, 2)
            self.phase = HEAD
            return True
        second = self.find_line_end(b, 2)
        if second < 0:
            return False
        kind = b.cursor[0] - c"0"
        self.push_line(b, kind, b.cursor + 2, second - 2)
        self.consume(b, second + 1)
        self.large_head = 0
        self.count_value()
        return True

    cdef Py_ssize_t find_line_end(self, ReadBuffer* b, Py_ssize_t at) except -2:
        # The offset from the cursor of the LF at or behind `at`; what was searched before is not searched again.
        cdef const unsigned char* found
        cdef Py_ssize_t start = max(at, self.large_head)
        while True:
            if held(b) > start:
                found = <const unsigned char*>memchr(b.cursor + start, c"\n", held(b) - start)
                if found != NULL:
                    self.need(b, found - b.cursor + 1)    # the limit of a message
                    return found - b.cursor
                start = held(b)
            self.large_head = start
            if not self.need(b, start + 1):
                return -1

    cdef int push_line(self, ReadBuffer* b, int kind, const unsigned char* p, Py_ssize_t nbytes) except -1:
        cdef bytes text = p[:nbytes]
        if kind == WIRE0_BYTES:
            try:
                data = a2b_base64(text)
                if b2a_base64(data, newline=False) == text:
                    return self.push_object(data)
            except ValueError:
                pass
            return self.bad_value(self.at_fault(BlockError, "bytes are not in base64", offset_of(b, p)))
        if kind > WIRE0_COMMAND:
            return self.push_number_text(b, kind, p, nbytes)
        if b"\\" in text or b"\r" in text:
            if not ESCAPED_TEXT(text):
                return self.bad_value(self.at_fault(
                    BlockError, "a backslash escapes neither itself nor CR nor LF, or a CR stands bare", offset_of(b, p)))
            text = ESCAPE(UNESCAPED, text)
        return self.push_text_of(b, p, text, kind == WIRE0_COMMAND)

    cdef int push_text_of(self, ReadBuffer* b, const unsigned char* p, bytes text, bint is_command) except -1:
        # An offset inside unescaped text means nothing: the text starts at `p`.
        try:
            decoded = PyUnicode_DecodeUTF8(text, len(text), self.options.template.unicode_errors)
        except UnicodeDecodeError as error:
            raise_without_memory(error)
            return self.bad_value(self.at_fault(BlockError, f"text is not UTF-8: {error.reason}", offset_of(b, p)))
        return self.push_object(Command(decoded) if is_command else decoded)

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
                self.read_entry(b, entry)
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
                self.push_inline(entry)
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
            return self.push_wire0(b, entry.code, p, entry.number)
        if whole != NULL and entry.code == BYTES:
            Py_INCREF(<object>whole)
            return self.push(whole)
        return self.push_native(b, entry, p, whole)

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

    # ---- wire 1

    # wire    f5 42 42 01, u8 flags, u8 log2 of alignment, u16 0, u32 number of entries, u32 id, u64 length of the body.
    # python  Message with id and wants_reply.
    # errors  BlockError: another start, unknown flags, another alignment, reserved bytes that are not zero.
    # source  docs/block-format.md, wire 1.

    cdef bint read_native_head(self, ReadBuffer* b) except -1:
        cdef const unsigned char* p
        if not self.need(b, 4):
            return False
        p = b.cursor
        if <uint32_t>load_i32(p) >> 8 != NATIVE_MAGIC >> 8:
            self.raise_bad(b, 0, "this is no native message: it should start with f54242")
        if p[3] != 1:
            self.raise_bad(b, 3, f"a message of version {p[3]}, of which only 1 is known")
        if not self.need(b, HEAD_SIZE):
            return False
        p = b.cursor
        if p[4] & ~(LITTLE_ARRAYS | CHECKSUM | REPLY_WANTED):
            self.raise_bad(b, 4, "the body lies in shared memory, and there is none here" if p[4] & SHARED_BODY
                           else f"unknown flags {p[4]:#04x}: written by a newer version")
        if p[5] not in (0, 3, 6):
            self.raise_bad(b, 5, f"the log2 of the alignment is 0, 3 or 6, not {p[5]}")
        if p[6] or p[7]:
            self.raise_bad(b, 6, "reserved bytes are not zero: written by a newer version")
        if p[16] & 0x80:
            self.raise_bad(b, 16, "the body is longer than 2^63-1")
        self.message_wire = NATIVE
        self.flags = p[4]
        self.alignment = 1 << p[5]
        self.count = <uint32_t>load_i32(p + 8)
        self.id = <uint32_t>load_i32(p + 12)
        self.body_nbytes = load_i64(p + 16)
        self.body_expected = 0
        self.nentries = 0
        self.crc = 0
        self.consume(b, HEAD_SIZE)
        self.phase = TABLE
        return True

    # wire    u8 type, u8 element type, u8 number of dimensions, u8 0, u32 0, u64 value or length.
    # python  byte, bool, int, long, float, double stand in the entry; None has none; all others have a body.
    # errors  BlockError: unknown type or element, reserved bytes, a value beyond its type, a body longer than the message's.
    # source  docs/block-format.md, wire 1.

    cdef int read_entry(self, ReadBuffer* b, Entry* entry) except -1:
        cdef const unsigned char* p = b.cursor
        cdef int64_t number = load_i64(p + 8)
        cdef int code = p[0]
        if not (is_inline(code) or code in (BYTES, STRING, VECTOR, LIST, MAP, ARRAY, ARROW, COMMAND)
                or FIRST_APPLICATION <= code <= LAST_APPLICATION):
            self.raise_bad(b, 0, f"{code} is no type of a native message")
        if code == ARRAY:
            if p[1] >= NELEMENTS:
                self.raise_bad(b, 1, f"{p[1]} is no element type")
            if p[2] > MAX_DIMENSIONS:
                self.raise_bad(b, 2, f"an array of {p[2]} dimensions has more than {MAX_DIMENSIONS}")
        elif p[1] or p[2]:
            self.raise_bad(b, 1, "only an array has elements and dimensions")
        if p[3] or load_i32(p + 4):
            self.raise_bad(b, 3, "reserved bytes are not zero: written by a newer version")
        if is_inline(code):
            if (code == INT and number != <int32_t>number) or (code == BYTE and not -128 <= number <= 127) \
                    or (code == BOOL and not 0 <= number <= 1) or (code == NULL_VALUE and number):
                self.raise_bad(b, 8, f"{number} is no value of type {code}")
        else:
            if self.body_expected & (self.alignment - 1):
                self.body_expected = (self.body_expected | (self.alignment - 1)) + 1
            if not 0 <= number <= self.body_nbytes - self.body_expected:
                self.raise_bad(b, 8, f"a value of {<uint64_t>number} bytes ends behind the body of {self.body_nbytes}")
            self.body_expected += number
        entry.number = number
        entry.code = <unsigned char>code
        entry.element = p[1]
        entry.ndim = p[2]
        return 0

    cdef int push_inline(self, Entry* entry) except -1:
        cdef unsigned char bits[8]
        if entry.code == NULL_VALUE:
            return self.push_object(None)
        if entry.code == BOOL:
            return self.push_object(True if entry.number else False)
        if entry.code != FLOAT and entry.code != DOUBLE:
            return self.push_int(entry.code, entry.number)
        store_i64(bits, entry.number)
        if entry.code == FLOAT and self.options.template.exact:
            return self.push_object(Float(load_f64(bits)))
        return self.push(new_float(load_f64(bits)))

    cdef int push_native(self, ReadBuffer* b, Entry* entry, const unsigned char* p, PyObject* whole) except -1:
        cdef Py_ssize_t nbytes = entry.number
        if entry.code == STRING or entry.code == COMMAND:
            return self.push_text(b, p, nbytes, entry.code == COMMAND)
        if entry.code == BYTES:
            return self.push(new_bytes(<const char*>p, nbytes))
        if entry.code == ARRAY or entry.code == ARROW:
            body = p[:nbytes] if whole == NULL else <object>whole
            return self.push_view(b, entry, p, body)
        return self.push_nested(b, entry.code, p, nbytes)

    cdef int push_view(self, ReadBuffer* b, Entry* entry, const unsigned char* p, object body) except -1:
        cdef long long offset = offset_of(b, p)
        if entry.code == ARROW:
            return self.push_object(ArrowStream(body))
        try:
            view = array_of(body, entry.element, entry.ndim, self.flags & LITTLE_ARRAYS)
        except ValueError as error:
            raise_without_memory(error)
            return self.bad_value(self.at_fault(BlockError, str(error), offset))
        return self.push_object(view)

    cdef int push_nested(self, ReadBuffer* b, int code, const unsigned char* p, Py_ssize_t nbytes) except -1:
        # One encoded TypedBytes value, whose code the entry repeats.
        cdef Decoding d = self.options.template
        cdef PyObject* decoded
        cdef long long offset = offset_of(b, p)
        borrow(&d.buf, p, nbytes)
        if nbytes == 0 or p[0] != code:
            return self.bad_value(self.at_fault(BlockError, f"the nested value does not start with its code {code}", offset))
        try:
            decoded = decode_record(&d)
            value = <object>decoded
            Py_XDECREF(decoded)
            if held(&d.buf):
                raise_trailing(&d)
        except DecodeError as error:
            raise_without_memory(error)
            return self.bad_value(self.nested_error(error, offset))
        finally:
            abandon(&d)
        return self.push_object(value)

    cdef object nested_error(self, object error, long long offset):
        path = f"[{self.index}]{error.path}"
        if isinstance(error, LimitError):
            return LimitError(error.message, offset + error.offset, error.code, path, self.record)
        found = BlockError(error.message, offset + error.offset, error.code, path, self.record, self.index)
        found.__cause__ = error
        return found

    cdef bint read_trailer(self, ReadBuffer* b) except -1:
        cdef int64_t found, right
        if not self.need(b, 4):
            return False
        found, right = <uint32_t>load_i32(b.cursor), self.crc
        self.flags &= ~CHECKSUM
        if found != right:
            error = self.at_fault(BlockError, f"the checksum is {found:08x} and should be {right:08x}", offset_of(b, b.cursor))
            if not self.skip_bad:
                raise error
            self.fault = error
        self.consume(b, 4)
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


cdef object exact_int(int code, int64_t number):
    # As the codec: a plain int goes back to an INT or, when it is too large for one, to a LONG.
    if code == BYTE:
        return Byte(number)
    return Long(number) if code == LONG and INT32_MIN <= number <= INT32_MAX else number


cdef inline bint is_inline(int code) noexcept:
    return BYTE <= code <= DOUBLE or code == NULL_VALUE


cdef class BlockDecoder(Parser):
    """Decode messages from input that comes in pieces of any size.

    wire: as for `BlockEncoder`; native messages are told apart from those of wire 0 and decoded too. max_bytes: of one message,
    None for no limit. skip_bad: pass over messages that are wrong but whose end is known, and count them in `skipped`. Other
    options are those of `Decoder`, for what is nested in native messages; exact=True keeps the widths of a message's own numbers
    too.

    After an error, a hook's too, a BlockDecoder stays failed and raises it again.

    >>> BlockDecoder().feed(bytes.fromhex("00000001000000030000000500000000"))
    [Message((5,)), Message(())]
    """

    def __init__(self, wire="bytes", *, max_bytes=None, skip_bad=False, **options):
        if self.buf.storage != NULL:
            raise RuntimeError("a BlockDecoder cannot be initialised again")
        self.configure(wire, max_bytes, skip_bad, options)
        start_filled(&self.buf, 256, NULL, NULL)

    @property
    def pending(self):
        """Give the number of bytes fed that belong to a message that is not complete.

        >>> decoder = BlockDecoder(); decoder.feed(bytes(3)); decoder.pending
        []
        3
        """
        return offset_of(&self.buf, self.buf.end) - self.message_offset if self.phase != HEAD else held(&self.buf)

    def feed(self, data):
        """Take more bytes and return the list of the messages that are complete now.

        Each is a Message: a sequence of its values, and the `id` of a native one. Raises BlockError for bytes that break the
        wire's rules and LimitError beyond a limit; when messages came before the fault, they are returned, and the next call
        raises.

        >>> decoder = BlockDecoder("total")
        >>> decoder.feed(bytes.fromhex("000000")), decoder.feed(bytes.fromhex("0400000000"))
        ([], [Message(())])
        """
        cdef Py_buffer view
        cdef list messages = []
        self.enter()
        try:
            contiguous = get_view(data, &view)
            try:
                self.take(<const unsigned char*>view.buf, view.len, messages)
            except BaseException as error:    # the rest of the data goes with it
                self.failure = error
                self.drop_message()
                raise_without_memory(error)
                if not messages or not isinstance(error, DecodeError):
                    raise
            finally:
                PyBuffer_Release(&view)
        finally:
            self.busy = False
        return messages

    def close(self):
        """Say that no more will be fed: TruncatedError when a message is not complete, or the error that is still due.

        >>> decoder = BlockDecoder(); decoder.feed(bytes(3))
        []
        >>> decoder.close()
        Traceback (most recent call last):
        typedbytes.errors.TruncatedError: input ends inside a message at offset 3, record 0
        """
        self.enter()
        self.busy = False
        if self.phase != HEAD or held(&self.buf):
            try:
                self.raise_truncated(&self.buf)
            except TruncatedError as error:
                raise_without_memory(error)
                self.failure = error
                raise

    cdef int enter(self) except -1:
        if self.failure is not None:
            raise self.failure
        if self.buf.storage == NULL:
            raise ValueError("this BlockDecoder was not initialised")
        if self.busy:
            raise RuntimeError("this BlockDecoder is in use: a hook or another thread came back to it")
        self.busy = True
        return 0

    cdef int take(self, const unsigned char* p, Py_ssize_t nbytes, list messages) except -1:
        # Bytes that were held are completed by just as many as are wanted; all others are decoded from where they lie.
        cdef ReadBuffer lent
        cdef Py_ssize_t part
        while held(&self.buf) and nbytes:
            part = min(self.to_add(p, nbytes), nbytes)
            append(&self.buf, p, part)
            p += part
            nbytes -= part
            self.parse_all(&self.buf, messages)
        if nbytes:
            borrow(&lent, p, nbytes)
            lent.start_offset = offset_of(&self.buf, self.buf.end)
            try:
                self.parse_all(&lent, messages)
            finally:
                self.buf.start_offset = offset_of(&lent, lent.cursor)
                self.buf.start = self.buf.cursor = self.buf.end = self.buf.storage
            append(&self.buf, lent.cursor, held(&lent))
        shrink(&self.buf)
        return 0

    cdef Py_ssize_t to_add(self, const unsigned char* p, Py_ssize_t nbytes) noexcept:
        cdef const unsigned char* end
        if self.phase != LINES:
            return max(self.wanted - held(&self.buf), 1)
        end = <const unsigned char*>memchr(p, c"\n", nbytes)
        return nbytes if end == NULL else end - p + 1

    cdef int parse_all(self, ReadBuffer* b, list messages) except -1:
        while True:
            message = self.parse(b)
            if message is None:
                return 0
            messages.append(message)
