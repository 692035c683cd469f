# BlockWriter: messages to a socket, descriptor or file object.

cdef class BlockWriter(OpenWriter):
    "BlockWriter(sink, wire='bytes', *, buffer_size=0, max_inflight=None, checksum=False, int_width='auto', " \
        "pickle='safe', default=None, sort_keys=False, unicode_errors='strict', dialect='hadoop', " \
        "max_depth=256)\n--\n\n" \
        """Write messages to a socket, descriptor or file object.

    wire and further options: as for `BlockEncoder`. buffer_size: bytes to collect before they are sent; 0 sends
    each message at once, and flushes a file object that has flush() and cannot seek, such as a pipe. A message is
    one system call, and values of 64 KiB or more are neither collected nor copied. TCP_NODELAY is set on TCP
    sockets. max_inflight: bytes that may wait in the kernel's send buffer; with 131072, large messages reach a
    process on the same machine sooner.

    A message that cannot be encoded writes nothing. When a timeout or a signal ends a send that has sent nothing, the
    message of `write` or `write_raw` is not written, earlier ones stay in the buffer, and the BlockWriter can be used
    again. After a partial write, or when a method of the sink raised while messages were sent, which may have written
    a part, it stays failed. `record` counts the messages that were sent or are in the buffer, `offset` the bytes
    sent. The sink stays open.

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
    cdef object sink_error        # the last one
    cdef Py_ssize_t buffer_size
    cdef readonly long long record
    cdef readonly long long offset
    cdef bint is_finalizing       # the interpreter ends: each message is sent at once, and the sink is flushed
    cdef bint flushed_at_exit     # the sink was flushed since
    cdef State state

    def __cinit__(self, *args, **options):
        self.state = CLOSED

    def __init__(self, sink, wire="bytes", *, Py_ssize_t buffer_size=0, max_inflight=None, **options):
        if self.encoder is not None:
            raise RuntimeError("a BlockWriter cannot be initialised again")
        if not 0 <= buffer_size <= MAX_BUFFER:
            raise ValueError(f"buffer_size must be 0..{MAX_BUFFER}, not {buffer_size}")
        self.sink = open_sink(sink)
        self.sink.writer = <PyObject*>self
        bound_inflight(self.sink, max_inflight)
        self.buffer_size = buffer_size
        self.encoder = BlockEncoder(wire, **options)
        # The size of one system call, and SCRATCH more: a small message that crosses that size
        # fits without a reallocation.
        self.encoder.enlarge(max(LARGE_NBYTES, buffer_size) + SCRATCH)
        self.state = OPEN
        if register_writer(self):
            self.disable_buffering()

    def __dealloc__(self):
        unregister_writer(self)

    def __reduce__(self):
        raise TypeError("a BlockWriter cannot be pickled")

    def __enter__(self):
        return self

    def __exit__(self, kind=None, error=None, traceback=None):
        cdef bint is_own = error is not None and error is self.sink_error
        try:
            self.close()
        except Exception:
            if not is_own:    # else the first one goes on
                raise

    def __del__(self):
        if self.state == CLOSED or self.is_inherited or not self.encoder.nbytes():
            return
        warn_unclosed(self, "with unwritten messages")
        try:
            if self.failure is None:
                self.sink.check_open()
            self.close()
        except BaseException as error:
            report_unraisable(self, error)

    def _write_by_class(self, default, pickle):
        # For calls: a value that is a record is written by its class, where it fits it.
        self.encoder.classes = {}
        self.encoder.class_options = {"default": default, "pickle": pickle}

    # ---- at interpreter exit

    cdef int flush_at_exit(self) except -1:
        cdef bint unwritten = self.encoder.nbytes() > 0
        if self.state == CLOSED or self.state == HAS_FAILED or self.is_inherited \
                or (not unwritten and is_closed(self.sink.target)):
            return 1
        self.disable_buffering()
        # the buffer is sent at the end of the message that is being written
        if not claim_state(&self.state, OPEN, BUSY):
            return self.flushed_at_exit
        try:
            if unwritten:
                warn_unclosed(self, "with unwritten messages")
                self.sink.check_open()
            self.send_and_flush()
        finally:
            self.leave()
        return 1

    cdef void disable_buffering(self) noexcept:
        self.is_finalizing = True
        self.buffer_size = 0

    cdef object release_target(self):
        if self.state != BUSY:
            self.state = CLOSED
        return self.sink.target

    cdef int flush_sink(self) except -1:
        try:
            self.sink.flush()
        except BaseException as error:
            self.sink_error = error
            raise
        self.flushed_at_exit = self.is_finalizing
        return 0

    cdef inline int enter(self) except -1:
        if unlikely(not claim_state(&self.state, OPEN, BUSY)):
            refuse_call(self, self.state, self.failure, "writer")
        if unlikely(self.is_inherited):
            self.disown()
        return 0

    cdef int disown(self) except -1:
        # In a forked child: the messages in the buffer are the parent's to send.
        self.encoder.reset()
        try:
            return adopt_writer(self)
        except BaseException:
            self.leave()
            raise

    cdef inline int leave(self) except -1:
        self.state = OPEN if self.failure is None else HAS_FAILED
        return 0

    cdef inline int send(self) except -1:
        # Afterwards the buffer is empty, or unchanged when nothing was sent.
        cdef BlockEncoder encoder = self.encoder
        cdef Py_ssize_t nbytes = encoder.nbytes()
        if nbytes == 0:
            return 0
        if self.is_inherited:    # forked inside a message
            raise_inherited(self)
        self.sink.sent = 0
        try:
            encoder.send_to(self.sink)
        except BaseException as error:
            self.sink_error = error
            if self.sink.sent or self.sink.may_have_sent:
                self.failure = error
            raise
        self.offset += nbytes
        encoder.reset()
        return 0

    cdef inline bint is_due(self, Py_ssize_t buffer_size) noexcept:
        # An external part points to the caller's memory, which is not held back for later messages.
        return self.encoder.nexternal > 0 or written(&self.encoder.buf) >= buffer_size

    cdef inline int send_if_due(self, Py_ssize_t before, Py_ssize_t nexternal) except -1:
        cdef BlockEncoder encoder = self.encoder
        if not self.is_due(self.buffer_size):
            return 0
        try:
            self.send()
        except BaseException:
            # The last message is removed again: the caller may repeat it, unless a part of it was sent.
            encoder.buf.cursor = encoder.buf.start + before
            encoder.drop_external_parts(nexternal)
            raise
        return self.flush_after_send() if self.sink.may_be_awaited else 0

    cdef inline int flush_after_send(self) except -1:
        # Otherwise a buffered file would hold the message back, and its reader would wait for it.
        if self.buffer_size:
            return 0
        try:
            return self.flush_sink()
        except BaseException as error:    # the file has the message: it must not be written again
            self.failure = error
            raise

    def write(self, args, *, id=0, reply=False):
        """Write one message; arguments and encode errors as for `BlockEncoder.encode`.

        >>> import io
        >>> BlockWriter(io.BytesIO()).write([1, 2])
        """
        write_message(self, args, parse_id(id), reply)

    def writes(self, messages):
        """Write every message of an iterable as one batch and return their number.

        One system call sends 64 KiB, or `buffer_size` bytes if that is more; at the end, what is left is sent as after
        `write`. When the iterable raises, or a message cannot be encoded, the messages before it are written. When a
        timeout or a signal ends a send that has sent nothing, the messages taken from the iterable stay in the buffer
        and are counted by `record`: flush() sends them, and they must not be written again.

        >>> import io
        >>> BlockWriter(io.BytesIO()).writes([[1], [2]])
        2
        """
        cdef long long before = self.record
        cdef bint has_more = True
        iterator = iter(messages)
        while has_more:
            try:
                has_more = self.append_batch(iterator)
            except BaseException:
                if self.state == OPEN:    # not failed, nor closed by the iterable
                    self.send_batch()
                raise
            self.send_batch()
        return self.record - before

    cdef bint append_batch(self, iterator) except -1:
        # Append messages until a system call's worth is in the buffer; returns False at the end of the iterable.
        cdef bint is_full
        for args in iterator:
            self.enter()
            try:
                self.encoder.append_message(args, 0, False)
                self.record += 1
                is_full = self.is_finalizing or self.is_due(max(self.buffer_size, <Py_ssize_t>LARGE_NBYTES))
            finally:
                self.leave()
            if is_full:
                return True
        return False

    cdef int send_batch(self) except -1:
        self.enter()
        try:
            if self.is_due(self.buffer_size):
                self.send()
                self.flush_after_send()
        finally:
            self.leave()
        return 0

    def write_raw(self, data):
        """Write bytes unchanged: an answer, or a message that is already encoded.

        >>> import io
        >>> BlockWriter(io.BytesIO()).write_raw(b"1")
        """
        cdef Value v
        cdef Py_ssize_t before, nexternal
        self.enter()
        try:
            before = written(&self.encoder.buf)
            nexternal = self.encoder.nexternal
            owner = borrow_buffer(data, &v)
            self.encoder.append_bytes(v.p, v.nbytes, owner)
            self.send_if_due(before, nexternal)
        finally:
            self.leave()

    def flush(self):
        """Send what the buffer holds, and flush the file.

        >>> import io
        >>> BlockWriter(io.BytesIO()).flush()
        """
        self.enter()
        try:
            self.send_and_flush()
        finally:
            self.leave()

    cdef int send_and_flush(self) except -1:
        self.send()
        return self.flush_sink()

    def close(self):
        """Flush and take no more messages; the sink stays open. Closing again does nothing.

        >>> import io
        >>> BlockWriter(io.BytesIO()).close()
        """
        if claim_to_close(self, &self.state) == CLOSED:
            return
        try:
            if self.failure is None:
                if self.is_inherited:
                    self.disown()
                self.send_and_flush()
        finally:
            self.state = CLOSED
            self.sink_error = None    # its frames may hold the BlockWriter
            unregister_writer(self)

    @property
    def closed(self):
        """Whether the BlockWriter is closed.

        >>> import io
        >>> writer = BlockWriter(io.BytesIO()); writer.close(); writer.closed
        True
        """
        return self.state == CLOSED


cdef inline int write_message(BlockWriter writer, object args, uint32_t id, bint reply) except -1:
    cdef BlockEncoder encoder
    cdef Py_ssize_t before, nexternal
    writer.enter()
    try:
        encoder = writer.encoder
        before = written(&encoder.buf)
        nexternal = encoder.nexternal
        encoder.append_message(args, id, reply)
        writer.send_if_due(before, nexternal)
        writer.record += 1
    finally:
        writer.leave()
    return 0
