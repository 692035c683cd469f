# BlockReader: messages from a socket, descriptor or file object.

cdef class BlockReader(Parser):
    "BlockReader(source, wire='bytes', *, max_bytes=None, skip_bad=False, buffer_size=262144, pickle='safe', " \
        "exact=False, map_pairs=False, ext_hook=None, unicode_errors='strict', dialect='hadoop', " \
        "max_depth=256)\n--\n\n" \
        """Read messages from a socket, descriptor, file object or bytes-like buffer.

    wire, max_bytes, skip_bad and further options: as for `BlockDecoder`. buffer_size: bytes requested at once, 131072
    at least; values of 64 KiB or more are read into their final memory. Iteration yields Messages. After a decode
    error, or an exception of a hook, a BlockReader stays failed and raises it again; after a timeout or a signal it
    continues where it stopped. The source stays open.

    >>> list(BlockReader(bytes.fromhex("000000010000000300000005")))
    [Message((5,))]
    """

    cdef object source
    cdef Source input             # None: a plain descriptor
    cdef int descriptor
    cdef bint ended               # of a descriptor

    def __init__(self, source, wire="bytes", *, max_bytes=None, skip_bad=False, Py_ssize_t buffer_size=READ_SIZE,
                 **options):
        if self.options is not None:
            raise RuntimeError("a BlockReader cannot be initialised again")
        if not 1 <= buffer_size <= MAX_BUFFER:
            raise ValueError(f"buffer_size must be 1..{MAX_BUFFER}, not {buffer_size}")
        self.configure(wire, max_bytes, skip_bad, options)
        # Values below LARGE_NBYTES are decoded in the buffer. It doubles when it is half full of one, and shrinks after
        # the message: at this size or more it never has to for such values.
        self.connect(io.BytesIO(source) if has_buffer(source) else source, max(buffer_size, 2 * LARGE_NBYTES))
        self.buf.read_ahead = True
        self.source = source
        self.state = OPEN

    cdef int connect(self, source, Py_ssize_t buffer_size) except -1:
        if isinstance(source, Ring):
            return start_filled(&self.buf, buffer_size, fill_from_ring, <void*>source)
        if is_descriptor(source) or has_bare_descriptor(source):
            self.descriptor = open_descriptor(source if is_descriptor(source) else source.fileno())
            return start_filled(&self.buf, buffer_size, fill_from_descriptor, <void*>self)
        self.input = open_source(source, True)
        return start_filled(&self.buf, buffer_size, fill_from, <void*>self.input)

    cdef inline int enter(self) except -1:
        if unlikely(not claim_state(&self.state, OPEN, BUSY)):
            refuse_call(self, self.state, self.failure, "reader")
        self.is_resumable = False
        return 0

    cdef object next_message(self):
        # Returns None where the input ends between two messages.
        self.enter()
        try:
            message = self.parse(&self.buf)
            if message is None and (self.phase != HEAD or held(&self.buf)):
                self.raise_truncated(&self.buf)
            if self.buf.capacity > self.buf.usual_capacity:
                shrink(&self.buf)
            return message
        except BaseException as error:
            failure = as_failure(error)
            if isinstance(error, DecodeError) or not self.is_resumable:
                self.failure = failure
                self.drop_message()
                reraise_memory_error(error)
            if failure is not error:
                raise failure
            raise
        finally:
            self.leave()

    def __iter__(self):
        return self

    def __next__(self):
        message = self.next_message()
        if message is None:
            raise StopIteration
        return message

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def read(self, default=None):
        """Read the next message; return `default` where the input ends between two messages.

        Raises BlockError and LimitError as `BlockDecoder.feed`, TruncatedError where the input ends
        inside a message, and OSError.

        >>> BlockReader(bytes(4)).read()
        Message(())
        """
        message = self.next_message()
        return default if message is None else message

    def read_bytes(self, Py_ssize_t nbytes):
        """Read nbytes bytes that are not part of a message, such as the byte that answers a message in a legacy layout.

        Raises ValueError inside a message. Raises TruncatedError where the input ends too early; the BlockReader then
        stays failed, as after a timeout or a signal in a read of more than 64 KiB.

        >>> BlockReader(b"1" + bytes(4)).read_bytes(1)
        b'1'
        """
        self.enter()
        try:
            self.check_between_messages()
            if nbytes < 0:
                raise ValueError(f"nbytes must not be negative: {nbytes}")
            if held(&self.buf) < nbytes and nbytes > LARGE_NBYTES:
                return self.read_many_bytes(nbytes)
            return self.read_few_bytes(nbytes)
        except BaseException as error:
            failure = as_failure(error)
            if isinstance(error, DecodeError):
                self.failure = failure
            if failure is not error:
                raise failure
            raise
        finally:
            self.leave()

    cdef int check_between_messages(self) except -1:
        if self.phase != HEAD:
            raise ValueError("a message has been read in part: read its rest first")
        return 0

    cdef object read_few_bytes(self, Py_ssize_t nbytes):
        cdef PyObject* found
        if held(&self.buf) < nbytes and not refill(&self.buf, nbytes):
            self.raise_ends_early(nbytes, held(&self.buf))
        found = new_bytes(<const char*>self.buf.cursor, nbytes)
        self.buf.cursor += nbytes
        result = <object>found
        Py_XDECREF(found)
        return result

    cdef int raise_ends_early(self, Py_ssize_t nbytes, Py_ssize_t got) except -1:
        # These bytes are not part of a message: the error names neither a record nor a value.
        cdef long long offset = offset_of(&self.buf, self.buf.end)
        raise TruncatedError(f"input ends {nbytes - got} bytes before the end of the {nbytes} requested", offset)

    cdef object read_many_bytes(self, Py_ssize_t nbytes):
        # As a large value: into its final memory, which grows with the input.
        self.frame_left = -1
        self.flags = 0
        self.message_layout = BLOCK
        try:
            self.start_large(Entry(nbytes, LEGACY_BYTES, 0, 0))
            if not self.read_large(&self.buf):
                self.raise_ends_early(nbytes, self.nlarge)
            self.nstack -= 1
            result = <object>self.stack[self.nstack]
            Py_XDECREF(self.stack[self.nstack])
            return result
        except BaseException as error:    # the bytes read so far are lost
            self.failure = as_failure(error)
            raise self.failure
        finally:
            self.phase = HEAD
            self.drop_message()

    @property
    def offset(self):
        """The number of bytes consumed so far.

        >>> reader = BlockReader(bytes(8)); reader.read(); reader.offset
        Message(())
        4
        """
        return offset_of(&self.buf, self.buf.cursor)

    @property
    def closed(self):
        """Whether the BlockReader is closed.

        >>> reader = BlockReader(b""); reader.close(); reader.closed
        True
        """
        return self.state == CLOSED

    def detach(self):
        """Return the bytes that were read ahead and not consumed, and close the reader; ValueError inside a message.

        >>> reader = BlockReader(bytes(4) + b"rest"); reader.read(); reader.detach()
        Message(())
        b'rest'
        """
        self.enter()
        try:
            self.check_between_messages()
            rest = self.buf.cursor[:held(&self.buf)]
        except BaseException:
            self.leave()
            raise
        self.release_source()
        return rest

    def close(self):
        """Release the source, which stays open; closing again does nothing.

        >>> BlockReader(b"").close()
        """
        if claim_to_close(self, &self.state) != CLOSED:
            self.release_source()

    cdef int release_source(self) except -1:
        self.drop_message()
        release(&self.buf)
        self.state = CLOSED
        self.input = None
        self.source = None
        return 0


cdef Py_ssize_t fill_from_descriptor(void* source, unsigned char* target, Py_ssize_t capacity) except -1:
    # Reads the descriptor directly, unlike Source: no calls into Python per message, the GIL released,
    # the socket's timeout handled by wait_for().
    cdef BlockReader reader = <BlockReader>source
    cdef Py_ssize_t got
    cdef int failed
    cdef int descriptor = reader.descriptor
    if reader.ended:
        return 0
    check_same_descriptor(reader.source, descriptor)
    PyErr_CheckSignals()
    while True:
        with nogil:
            got = read(descriptor, target, min(capacity, <Py_ssize_t>MAX_TRANSFER))
            failed = errno
        if got >= 0:
            reader.ended = got == 0
            return got
        if failed == EINTR:
            PyErr_CheckSignals()
        elif failed == EAGAIN:
            wait_for(reader.source, descriptor, POLLIN)
        else:
            raise_errno(failed)
