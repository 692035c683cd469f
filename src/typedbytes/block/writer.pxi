# BlockWriter: messages to a socket, descriptor or file object.

cdef class BlockWriter:
    """BlockWriter(sink, wire='bytes', *, buffer_size=0, max_inflight=None, checksum=False, int_width='auto', pickle='safe', default=None, sort_keys=False, unicode_errors='strict', dialect='hadoop', max_depth=256)\n--\n\nWrite messages to a socket, descriptor or file object.

    wire and further options: as for `BlockEncoder`. buffer_size: bytes to collect before they are sent; 0 sends each message at
    once. A message is one system call, and values of 64 KiB or more are not copied. TCP_NODELAY is set on TCP sockets.
    max_inflight: bytes that may wait in the kernel's send buffer; with 131072, large messages reach a process on the same machine
    sooner. A message that cannot be encoded writes nothing; after a partial write, or when a method of the sink raised, which may
    have written a part, the BlockWriter stays failed. The sink stays open.

    >>> import io
    >>> sink = io.BytesIO()
    >>> with BlockWriter(sink) as writer:
    ...     writer.write(["hi"])
    >>> sink.getvalue().hex()
    '0000000100000001000000026869'
    """

    cdef BlockEncoder encoder
    cdef Sink sink
    cdef object failure
    cdef Py_ssize_t buffer_size
    cdef readonly long long record
    cdef readonly long long offset
    cdef OpenWriter entry
    cdef bint is_finalizing       # the interpreter ends: each message is sent at once, and the sink is flushed
    cdef bint flushed_at_exit     # the sink was flushed since
    cdef State state
    cdef bint in_writes           # writes() decides when to send: put() does not

    def __cinit__(self, *args, **options):
        self.state = CLOSED

    def __init__(self, sink, wire="bytes", *, Py_ssize_t buffer_size=0, max_inflight=None, **options):
        if self.encoder is not None:
            raise RuntimeError("a BlockWriter cannot be initialised again")
        if not 0 <= buffer_size <= MAX_BUFFER:
            raise ValueError(f"buffer_size must be 0..{MAX_BUFFER}, not {buffer_size}")
        self.sink = Sink(sink)
        bound_inflight(self.sink, max_inflight)
        self.buffer_size = buffer_size
        self.encoder = BlockEncoder(wire, **options)
        self.encoder.enlarge(max(LARGE_NBYTES, buffer_size) + SCRATCH)    # the size of one system call
        self.state = OPEN
        if register_writer(&self.entry, self, &BLOCK_WRITER):
            self.disable_buffering()

    def __dealloc__(self):
        unregister_writer(&self.entry)

    def __reduce__(self):
        raise TypeError("a BlockWriter cannot be pickled")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        if self.state == CLOSED or self.entry.is_inherited or not self.encoder.nbytes():
            return
        warn_unclosed(self, "with unwritten messages")
        try:
            if self.failure is None:
                self.sink.check_open()
            self.close()
        except BaseException as error:
            report_unraisable(self, error)

    # ---- at interpreter exit

    cdef int flush_at_exit(self) except -1:
        cdef bint unwritten = self.encoder.nbytes() > 0
        if self.state == CLOSED or self.state == HAS_FAILED or self.entry.is_inherited or (not unwritten and is_closed(self.sink.target)):
            return 1
        self.disable_buffering()
        if self.state == BUSY:    # it is sent at the end of the message that is being written
            return self.flushed_at_exit
        if unwritten:
            warn_unclosed(self, "with unwritten messages")
            self.sink.check_open()
        self.flush()
        return 1

    cdef void disable_buffering(self) noexcept:
        self.is_finalizing = True
        self.buffer_size = 0

    cdef object release_target(self):
        if self.state != BUSY:
            self.state = CLOSED
        return self.sink.target

    cdef int flush_sink(self) except -1:
        flush = getattr(self.sink.target, "flush", None)
        if flush is not None:
            flush()
        self.flushed_at_exit = self.is_finalizing
        return 0

    cdef inline int enter(self) except -1:
        if unlikely(self.entry.is_inherited) and self.state == OPEN:
            self.encoder.reset()
            adopt_writer(&self.entry)
        if unlikely(not claim_state(&self.state, OPEN, BUSY)):
            refuse_call(self, self.state, self.failure, "writer")
        return 0

    cdef inline int leave(self) except -1:
        self.state = OPEN if self.failure is None else HAS_FAILED
        return 0

    cdef inline int send(self) except -1:
        # Afterwards the buffer is empty, or unchanged when nothing was sent.
        cdef BlockEncoder encoder = self.encoder
        cdef Py_ssize_t nbytes = encoder.nbytes()
        if nbytes == 0:
            return 0
        if self.entry.is_inherited:    # forked inside a message
            raise_inherited(self)
        self.sink.sent = 0
        try:
            encoder.send_to(self.sink)
        except BaseException as error:
            if self.sink.sent or self.sink.may_have_sent:
                self.failure = error
            raise
        self.offset += nbytes
        encoder.reset()
        return self.flush_sink() if self.is_finalizing else 0

    cdef inline int put(self, args, id, bint reply) except -1:
        cdef BlockEncoder encoder = self.encoder
        cdef Py_ssize_t before = written(&encoder.buf)
        cdef Py_ssize_t nexternal = encoder.nexternal
        encoder.append_message(args, id, reply)
        if not self.in_writes:
            self.send_if_due(before, nexternal)
        self.record += 1
        return 0

    cdef inline int send_if_due(self, Py_ssize_t before, Py_ssize_t nexternal) except -1:
        cdef BlockEncoder encoder = self.encoder
        if encoder.nexternal or written(&encoder.buf) >= self.buffer_size:
            try:
                self.send()
            except BaseException:
                # The last message is removed again: the caller may repeat it, unless a part of it was sent.
                encoder.buf.cursor = encoder.buf.start + before
                encoder.drop_external_parts(nexternal)
                raise
        return 0

    def write(self, args, *, id=0, reply=False):
        """Write one message; arguments and encode errors as for `BlockEncoder.encode`.

        >>> import io
        >>> BlockWriter(io.BytesIO()).write([1, 2])
        """
        self.enter()
        try:
            self.put(args, id, reply)
        finally:
            self.leave()

    def writes(self, messages):
        """Write every message of an iterable as one batch and return their number: one system call up to 64 KiB.

        >>> import io
        >>> BlockWriter(io.BytesIO()).writes([[1], [2]])
        2
        """
        cdef long long before = self.record
        for args in messages:
            self.enter()
            self.in_writes = True
            try:
                self.put(args, 0, False)
                if self.encoder.nbytes() >= LARGE_NBYTES:
                    self.send()
            finally:
                self.in_writes = False
                self.leave()
        if self.buffer_size == 0:
            self.flush()
        return self.record - before

    def write_raw(self, data):
        """Write bytes unchanged: an answer, or a message that is already encoded.

        >>> import io
        >>> BlockWriter(io.BytesIO()).write_raw(b"1")
        """
        cdef Value v
        cdef Py_ssize_t before
        self.enter()
        before = written(&self.encoder.buf)
        try:
            owner = borrow_buffer(data, &v)
            self.encoder.append_bytes(v.p, v.nbytes, owner)
            self.send_if_due(before, 0)
        finally:
            self.leave()

    def flush(self):
        """Send what the buffer holds, and flush the file.

        >>> import io
        >>> BlockWriter(io.BytesIO()).flush()
        """
        self.enter()
        try:
            self.send()
            self.flush_sink()
        finally:
            self.leave()

    def close(self):
        """Flush and release the sink, which stays open; closing again does nothing.

        >>> import io
        >>> BlockWriter(io.BytesIO()).close()
        """
        if self.state == CLOSED:
            return
        if self.state == BUSY:
            raise_in_use(self)
        try:
            if self.failure is None:
                self.flush()
        finally:
            self.state = CLOSED
            unregister_writer(&self.entry)

    @property
    def closed(self):
        """Whether the BlockWriter is closed.

        >>> import io
        >>> writer = BlockWriter(io.BytesIO()); writer.close(); writer.closed
        True
        """
        return self.state == CLOSED


cdef int flush_writer_at_exit(object writer) except -1:
    return (<BlockWriter>writer).flush_at_exit()


cdef object release_target_of_writer(object writer):
    return (<BlockWriter>writer).release_target()

cdef WriterKind BLOCK_WRITER = WriterKind(flush_at_exit=flush_writer_at_exit, release_target=release_target_of_writer, mark_inherited=NULL)
