# Bytes to values: one pass over a message, which can stop anywhere when it needs more input, and resumes there.
#
# Invariant: no byte is read twice; no memory is allocated for a declared length before its bytes arrive; a small value
# is decoded in the buffer, a large value is read into its final memory. The error is that of the first malformed byte,
# however the input is split.

cdef enum Phase:
    HEAD           # where a message starts
    COUNT          # the number of values, in a legacy layout
    ARGUMENTS      # type, length and value together
    LINES
    TABLE          # the entries of the header layout and the native format, before the values
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
    # The base class of BlockDecoder and BlockReader.
    cdef ReadBuffer buf
    cdef DecodeOptions options
    cdef PyObject** stack         # owned references: the values of the message so far
    cdef Py_ssize_t nstack
    cdef Py_ssize_t stack_capacity
    cdef PyObject* commands[8]    # owned, or NULL: some of the last commands, short and of ASCII, since they come again
    cdef Entry* entries           # entries of the table, as far as it has been read
    cdef int64_t nentries
    cdef int64_t entries_capacity
    cdef PyObject* large          # owned, bytes: the large value that is being read
    cdef Py_ssize_t nlarge        # the number of its bytes that have been read
    cdef Entry large_entry
    cdef Py_ssize_t nsearched     # in the line layout: bytes from the cursor that contain no LF
    cdef Phase phase
    cdef Phase after_large
    cdef Layout layout            # the layout that the option `wire` names
    cdef Layout message_layout    # the layout of the current message
    cdef int64_t count            # number of values in the message
    cdef int64_t index            # number of the value that is being read
    cdef int64_t frame_left       # bytes to the end of the frame, -1: unknown
    cdef int64_t body_nbytes
    cdef int64_t body_expected    # the sum of the entries so far
    cdef int64_t alignment
    cdef uint32_t crc
    cdef uint32_t id
    cdef int flags
    cdef Py_ssize_t max_bytes
    cdef Py_ssize_t wanted        # bytes that the buffer must hold before parsing can continue
    cdef long long message_offset
    cdef long long record_index
    cdef readonly long long skipped
    cdef bint skip_bad
    cdef object skipped_error     # the error of a message that is being skipped
    cdef object failure           # the error that all later calls raise
    # waiting for input or checking signals: after an error raised here, parsing can continue
    cdef bint is_resumable
    cdef State state

    def __cinit__(self, *args, **options):
        self.state = CLOSED
        self.large = NULL
        self.frame_left = -1

    def __dealloc__(self):
        cdef int i
        self.drop_message()
        for i in range(8):
            Py_XDECREF(self.commands[i])
        PyMem_Free(self.stack)
        PyMem_Free(self.entries)
        release(&self.buf)

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be pickled")

    cdef inline int leave(self) except -1:
        self.state = OPEN if self.failure is None else HAS_FAILED
        return 0

    cdef int configure(self, wire, max_bytes, skip_bad, dict options) except -1:
        self.layout = layout_of(wire)
        self.options = DecodeOptions(**options)
        self.max_bytes = parse_max_bytes(max_bytes)
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

    cdef object make_error(self, type kind, str message, long long offset):
        # The value at `index`, when one is being read.
        inside = self.phase not in (HEAD, COUNT, TRAILER)
        path = f"[{self.index}]" if inside else ""
        if kind is BlockError:
            return BlockError(message, offset, None, path, self.record_index, self.index if inside else None)
        return kind(message, offset, None, path, self.record_index)

    cdef int raise_block_error(self, ReadBuffer* b, Py_ssize_t at, str message) except -1:
        raise self.make_error(BlockError, message, offset_of(b, b.cursor) + at)

    cdef int raise_past_end(self, ReadBuffer* b, Py_ssize_t nbytes) except -1:
        if self.frame_left >= 0 and nbytes > self.frame_left:
            return self.raise_block_error(b, 0, f"a value extends past the end of its message: {nbytes} bytes needed, "
                                        f"{self.frame_left} left")
        raise self.make_error(LimitError, f"a message is longer than max_bytes={self.max_bytes}", self.message_offset)

    cdef int raise_truncated(self, ReadBuffer* b) except -1:
        cdef long long offset = offset_of(b, b.end)
        raise self.make_error(TruncatedError, "input ends inside a message", offset)

    cdef int raise_or_skip(self, object error) except -1:
        # The end of the message is known or will be, so it can be skipped if skip_bad is set.
        if not self.skip_bad:
            raise error
        self.skipped_error = error
        Py_INCREF(None)
        self.push(<PyObject*>None)
        return 0

    # ---- bytes

    cdef inline bint need(self, ReadBuffer* b, Py_ssize_t nbytes) except -1:
        if held(b) >= nbytes and <uint64_t>nbytes <= <uint64_t>self.frame_left and not self.max_bytes:    # -1: unknown
            return True
        return self.need_more(b, nbytes)

    cdef inline bint is_past_end(self, ReadBuffer* b, int64_t nbytes) noexcept:
        # Whether the frame or the message as limited by max_bytes has fewer bytes left.
        if self.frame_left >= 0 and nbytes > self.frame_left:
            return True
        return self.max_bytes and offset_of(b, b.cursor) - self.message_offset > self.max_bytes - nbytes

    cdef bint need_more(self, ReadBuffer* b, Py_ssize_t nbytes) except -1:
        cdef bint found
        if self.is_past_end(b, nbytes):
            return self.raise_past_end(b, nbytes)
        if held(b) >= nbytes:
            return True
        self.is_resumable = True
        found = refill(b, nbytes)
        self.is_resumable = False
        self.wanted = nbytes
        return found

    cdef inline int consume(self, ReadBuffer* b, Py_ssize_t nbytes) except -1:
        self.account(b.cursor, nbytes)
        b.cursor += nbytes
        return 0

    cdef inline void account(self, const unsigned char* p, Py_ssize_t nbytes) noexcept:
        # Count bytes that have been read towards the frame's checksum and length.
        if self.flags & CHECKSUM:
            self.crc = crc32c(self.crc, p, nbytes)
        if self.frame_left >= 0:
            self.frame_left -= nbytes

    # ---- values

    cdef inline int push(self, PyObject* value) except -1:
        # Steals the reference.
        if self.nstack == self.stack_capacity:
            self.grow_stack(value)
        self.stack[self.nstack] = value
        self.nstack += 1
        return 0

    cdef int grow_stack(self, PyObject* value) except -1:
        cdef Py_ssize_t capacity = max(2 * self.stack_capacity, 16)
        cdef PyObject** more = <PyObject**>PyMem_Realloc(self.stack, capacity * sizeof(PyObject*))
        if more == NULL:
            Py_XDECREF(value)
            raise MemoryError
        self.stack = more
        self.stack_capacity = capacity
        return 0

    cdef inline int push_object(self, object value) except -1:
        Py_INCREF(value)
        return self.push(<PyObject*>value)

    cdef int push_text(self, ReadBuffer* b, const unsigned char* p, Py_ssize_t nbytes, bint is_command) except -1:
        cdef PyObject* ascii
        cdef PyObject** slot = NULL
        if is_command and 0 < nbytes <= LONGEST_KEPT_COMMAND:
            slot = &self.commands[(nbytes ^ p[0] ^ p[nbytes - 1]) & 7]
            if slot[0] != NULL and PyUnicode_GET_LENGTH(slot[0]) == nbytes \
                    and memcmp(PyUnicode_DATA(slot[0]), p, nbytes) == 0:
                return self.push_object(<object>slot[0])
        if is_ascii(p, nbytes):
            ascii = new_ascii(nbytes)
            copy_short(ascii_data(ascii), p, nbytes)
            if not is_command:
                return self.push(ascii)
            text = <object>ascii
            Py_XDECREF(ascii)
            command = Command(text)
            if slot != NULL:
                Py_XDECREF(slot[0])
                Py_INCREF(command)
                slot[0] = <PyObject*>command
            return self.push_object(command)
        else:
            try:
                text = text_object(<const char*>p, nbytes, self.options.template.unicode_errors)
            except UnicodeDecodeError as error:
                reraise_memory_error(error)
                return self.raise_or_skip(self.make_error(BlockError, f"text is not UTF-8: {error.reason}",
                                                    offset_of(b, p) + error.start))
        return self.push_object(Command(text) if is_command else text)

    # ---- parsing

    cdef object parse(self, ReadBuffer* b):
        # Returns a Message, or None when more input is needed: `wanted` is the number of bytes
        # that the buffer must hold.
        while True:
            try:
                done = self.run_phases(b)
            except BlockError as error:
                reraise_memory_error(error)
                # The end of a frame with a declared length is known, and the next message follows it.
                if not self.skip_bad or self.message_layout != TOTAL or self.frame_left < 0:
                    raise
                self.skipped_error = error
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
        self.record_index += 1
        if self.skipped_error is not None:
            self.skipped_error = None
            self.skipped += 1
            self.drop_message()
            self.flags = 0
            return None
        message = Message.__new__(Message)
        nvalues = self.nstack
        self.nstack = 0    # the references are stolen, also on failure
        values = tuple_from_stolen(self.stack, nvalues)
        message.values = <tuple>values
        Py_XDECREF(values)
        message.number = <long long>self.id if self.message_layout == NATIVE else -1
        message.wants_reply = self.flags & REPLY_WANTED != 0
        self.flags = 0
        self.shrink_tables()
        return message

    cdef int shrink_tables(self) noexcept:
        # The memory of a message with very many values is not kept.
        if self.entries_capacity > MAX_KEPT:
            PyMem_Free(self.entries)
            self.entries = NULL
            self.entries_capacity = 0
        if self.stack_capacity > MAX_KEPT:
            PyMem_Free(self.stack)
            self.stack = NULL
            self.stack_capacity = 0
        return 0

    cdef bint run_phases(self, ReadBuffer* b) except -1:
        # Returns True when a message is complete.
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
            return self.raise_block_error(b, 0, f"{self.frame_left} bytes remain in the message after its last value")
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
        if not self.record_index & 0xfff:
            self.check_signals()
        self.message_offset = offset_of(b, b.cursor)
        if not self.need(b, 1):
            return False
        self.index = 0
        self.flags = 0
        if b.cursor[0] == NATIVE_START:
            return read_native_head(self, b)
        if self.layout == NATIVE:
            self.raise_block_error(b, 0, f"a native message starts with f5, not {b.cursor[0]:02x}")
        self.message_layout = self.layout
        if self.layout == LINE:
            self.phase = LINES
            self.nsearched = 0
            return True
        if self.layout == TOTAL:
            if not self.need(b, 4):
                return False
            if load_i32(b.cursor) < 4:
                self.raise_block_error(b, 0, f"{load_i32(b.cursor)} bytes cannot hold a message")
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
        if not self.index & SIGNAL_MASK:
            self.check_signals()
        return 0

    cdef int check_signals(self) except -1:
        self.is_resumable = True
        PyErr_CheckSignals()
        self.is_resumable = False
        return 0

    # ---- tables and the values that follow them

    cdef bint read_table(self, ReadBuffer* b) except -1:
        cdef Entry* entry
        cdef bint native = self.message_layout == NATIVE
        cdef Py_ssize_t nbytes = ENTRY_SIZE if native else 8
        while self.nentries < self.count:
            self.index = self.nentries
            if not self.need(b, nbytes):
                return False
            if self.nentries == self.entries_capacity:
                self.grow_table()
            entry = &self.entries[self.nentries]
            if native:
                read_entry(self, b, entry)
            else:
                read_legacy_entry(self, b, entry)
            self.consume(b, nbytes)
            self.nentries += 1
        self.index = 0
        if native:
            if self.body_expected != self.body_nbytes:
                self.phase = HEAD
                self.raise_block_error(b, 0,
                                       f"the body has {self.body_nbytes} bytes, its values have {self.body_expected}")
            self.frame_left = self.body_nbytes
        self.phase = VALUES
        return True

    cdef int grow_table(self) except -1:
        cdef int64_t capacity = max(2 * self.entries_capacity, 16)
        cdef Entry* more = <Entry*>PyMem_Realloc(self.entries, capacity * sizeof(Entry))
        if more == NULL:
            raise MemoryError
        self.entries = more
        self.entries_capacity = capacity
        return 0

    cdef bint read_value(self, ReadBuffer* b) except -1:
        cdef Entry* entry = &self.entries[self.index]
        cdef Py_ssize_t npad, i
        if self.message_layout == NATIVE:
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
                        self.raise_block_error(b, i, "the padding between values is not zero")
                self.consume(b, npad)
        if entry.number >= LARGE_NBYTES:
            return self.start_large_checked(b, entry.code, entry.number)
        if not self.need(b, entry.number):
            return False
        self.push_body(b, entry, b.cursor, NULL)
        self.consume(b, entry.number)
        self.count_value()
        return True

    cdef int push_body(self, ReadBuffer* b, Entry* entry, const unsigned char* p, PyObject* large_object) except -1:
        # large_object: the bytes object whose data starts at `p`, or NULL.
        if self.message_layout != NATIVE:
            if large_object != NULL and entry.code == LEGACY_BYTES:
                Py_INCREF(<object>large_object)
                return self.push(large_object)
            return push_legacy_value(self, b, entry.code, p, entry.number)
        if large_object != NULL and entry.code == BYTES:
            Py_INCREF(<object>large_object)
            return self.push(large_object)
        return push_native(self, b, entry, p, large_object)

    # ---- large values

    cdef bint start_large_checked(self, ReadBuffer* b, int code, int64_t nbytes) except -1:
        if self.is_past_end(b, nbytes):
            self.raise_past_end(b, nbytes)
        return self.start_large(self.entries[self.index] if self.phase == VALUES else Entry(nbytes, code, 0, 0))

    cdef bint start_large(self, Entry entry) except -1:
        self.large_entry = entry
        self.large = new_bytes(NULL, min(entry.number, FIRST_STEP))
        self.nlarge = 0
        self.after_large = self.phase
        self.phase = LARGE_VALUE
        return True

    cdef bint read_large(self, ReadBuffer* b) except -1:
        cdef Py_ssize_t capacity, got
        cdef unsigned char* target
        while self.nlarge < self.large_entry.number:
            capacity = bytes_size(self.large) - self.nlarge
            if capacity == 0:
                # At most twice the bytes that have been read.
                bytes_resize(&self.large, min(self.large_entry.number, 2 * self.nlarge))
                continue
            target = <unsigned char*>bytes_data(self.large) + self.nlarge
            if held(b):
                got = min(capacity, held(b))
                memcpy(target, b.cursor, got)
                b.cursor += got
            elif b.fill != NULL:
                self.is_resumable = True
                got = b.fill(b.source, target, capacity)
                self.is_resumable = False
                b.start_offset += got    # they were not read through the buffer
            else:
                got = 0
            if got == 0:
                self.wanted = 1
                return False
            self.account(target, got)
            self.nlarge += got
        return self.finish_large(b)

    cdef bint finish_large(self, ReadBuffer* b) except -1:
        # Offsets in errors count from a buffer that ends with the value.
        cdef ReadBuffer borrowed
        cdef PyObject* large_object = self.large
        self.large = NULL
        self.phase = self.after_large
        value = <object>large_object    # a reference is held while hooks run
        Py_XDECREF(large_object)
        borrow(&borrowed, <const unsigned char*>bytes_data(large_object), bytes_size(large_object))
        borrowed.start_offset = offset_of(b, b.cursor) - bytes_size(large_object)
        self.push_body(&borrowed, &self.large_entry, borrowed.cursor, large_object)
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
