# Sockets, descriptors and files: system calls without the interpreter's lock, and the reader and the writer over them.
#
# Always true: what a descriptor takes or gives is counted; a call that a signal interrupted goes on; one that would block
# waits as long as the socket's timeout says; where a method of an object does the work, only what it says is believed.

cdef class Sink:
    # Where bytes go: a descriptor of ours to call on, or an object's methods.
    cdef object target
    cdef object method            # takes bytes; NULL descriptor only
    cdef object gather            # sendmsg, where the object has it
    cdef int descriptor           # -1: none
    cdef bint is_socket
    cdef bint in_doubt            # the method raised: it may have taken bytes
    cdef Py_ssize_t sent          # bytes of the message that is on its way, or of the last one

    def __cinit__(self, target):
        self.target = target
        self.descriptor = -1
        if is_descriptor(target):
            self.descriptor = open_descriptor(target)
            self.is_socket = is_socket(self.descriptor)
        elif is_plain(target):
            self.descriptor = open_descriptor(target.fileno())
            self.is_socket = hasattr(target, "sendmsg")
        elif isinstance(target, io.TextIOBase):
            raise TypeError("a binary file is needed, not one opened as text")
        else:
            self.gather = getattr(target, "sendmsg", None)
            self.method = getattr(target, "send", None) or getattr(target, "write", None) or getattr(target, "sendall", None)
            if not callable(self.method):
                raise TypeError(f"cannot write to a {type(target).__name__}: it has neither send nor write")
        set_no_delay(self)

    cdef int check_open(self) except -1:
        # The number of a descriptor that its owner has closed may be another file's.
        if self.descriptor >= 0 and not is_descriptor(self.target) and self.target.fileno() != self.descriptor:
            raise_errno(EBADF)
        return 0

    cdef int send(self, iovec* pieces, Py_ssize_t npieces) except -1:
        cdef Py_ssize_t took
        while npieces:
            if self.descriptor >= 0:
                took = self.call(pieces, npieces)
            else:
                took = self.call_method(pieces, npieces)
            self.sent += took
            while npieces and took >= <Py_ssize_t>pieces.iov_len:
                took -= pieces.iov_len
                pieces += 1
                npieces -= 1
            if npieces:
                pieces.iov_base = <char*>pieces.iov_base + took
                pieces.iov_len -= took
                PyErr_CheckSignals()    # one that came while a part went has interrupted nothing
        return 0

    cdef Py_ssize_t call(self, iovec* pieces, Py_ssize_t npieces) except -1:
        # One system call that took something.
        cdef Py_ssize_t took
        cdef int failed
        cdef int descriptor = self.descriptor
        cdef bint as_socket = self.is_socket
        while True:
            with nogil:
                took = send_pieces(descriptor, as_socket, pieces, npieces)
                failed = errno if took < 0 else EPIPE    # pieces are never empty
            if took > 0:
                return took
            self.recover(failed)

    cdef int recover(self, int failed) except -1:
        if failed == EINTR:
            PyErr_CheckSignals()
        elif failed == EAGAIN:
            wait_for(self.target, self.descriptor, POLLOUT)
        else:
            raise_errno(failed)
        return 0

    cdef Py_ssize_t call_method(self, iovec* pieces, Py_ssize_t npieces) except -1:
        cdef Py_ssize_t nbytes = 0
        cdef list views
        self.in_doubt = True
        if self.gather is not None and npieces > 1:
            npieces = min(npieces, MAX_PIECES)
            views = []
            for i in range(npieces):
                views.append(view_of(&pieces[i]))
                nbytes += pieces[i].iov_len
            took = self.gather(views)
        else:
            views = [view_of(pieces)]
            nbytes = pieces.iov_len
            took = self.method(views[0])
        for view in views:
            view.release()
        if took is None and isinstance(self.target, io.RawIOBase):
            self.in_doubt = False
            raise BlockingIOError("write() took no bytes: a sink must not be non-blocking")
        if took is None:
            took = nbytes    # a file that does not count
        if type(took) is not int or not 0 < took <= nbytes:
            raise OSError(f"{type(self.target).__name__} took {took!r} of {nbytes} bytes")
        self.in_doubt = False
        return took


cdef object view_of(iovec* piece):
    return PyMemoryView_FromMemory(<char*>piece.iov_base, piece.iov_len, PyBUF_READ)


cdef Py_ssize_t send_pieces(int descriptor, bint as_socket, iovec* pieces, Py_ssize_t npieces) noexcept nogil:
    cdef msghdr message
    if npieces > 1:
        if not as_socket:
            return writev(descriptor, pieces, <int>min(npieces, MAX_PIECES))
        memset(&message, 0, sizeof(message))
        message.msg_iov = pieces
        message.msg_iovlen = min(npieces, MAX_PIECES)
        return sendmsg(descriptor, &message, MSG_NOSIGNAL)
    if as_socket:
        return send_bytes(descriptor, pieces.iov_base, pieces.iov_len, MSG_NOSIGNAL)
    return write(descriptor, pieces.iov_base, pieces.iov_len)


cdef bint is_descriptor(object target) except -1:
    return isinstance(target, int) and not isinstance(target, bool)


cdef int open_descriptor(object number) except -1:
    if number < 0:    # a socket that is closed has -1
        raise_errno(EBADF)
    return number


cdef bint is_plain(object target) except -1:
    # Objects that add nothing to their descriptor: others may count, encrypt or buffer.
    if type(target) is io.FileIO:
        return True
    module = sys.modules.get("socket")
    return module is not None and type(target) is module.socket


cdef bint is_socket(int descriptor) noexcept:
    cdef stat_struct found
    return fstat(descriptor, &found) == 0 and S_ISSOCK(found.st_mode)


cdef int set_no_delay(Sink sink) except -1:
    # Else a message of two sends waits for the other side's delayed acknowledgement: 40 ms on Linux.
    cdef int one = 1
    if sink.descriptor >= 0:
        if sink.is_socket:
            setsockopt(sink.descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one))    # it fails for other sockets, rightly
    elif getattr(sink.target, "setsockopt", None) is not None:
        try:
            sink.target.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        except OSError:
            pass
    return 0


cdef int bound_inflight(Sink sink, object max_inflight) except -1:
    cdef int nbytes
    if max_inflight is None:
        return 0
    if not 1 <= max_inflight <= MOST_BUFFER:
        raise ValueError(f"max_inflight is 1..{MOST_BUFFER}, not {max_inflight}")
    nbytes = max_inflight
    if not sink.is_socket or setsockopt(sink.descriptor, SOL_SOCKET, SO_SNDBUF, &nbytes, sizeof(nbytes)) < 0:
        raise ValueError("max_inflight needs a socket")
    setsockopt(sink.descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &nbytes, sizeof(nbytes))    # TCP only, where the kernel knows it
    return 0


cdef int raise_errno(int number) except -1:
    raise OSError(number, os.strerror(number))


cdef int wait_for(object target, int descriptor, short events) except -1:
    # As long as the socket's timeout allows; a signal is heard meanwhile.
    cdef pollfd one
    cdef int found, milliseconds
    timeout = getattr(target, "gettimeout", lambda: 0.0)()
    if timeout == 0.0:
        raise BlockingIOError(EAGAIN, "the descriptor is non-blocking: nothing can be moved now")
    deadline = None if timeout is None else monotonic() + timeout
    while True:
        milliseconds = -1 if deadline is None else max(0, min(int((deadline - monotonic()) * 1000) + 1, 0x7ffffff))
        one.fd = descriptor
        one.events = events
        one.revents = 0
        with nogil:
            found = poll(&one, 1, milliseconds)
        if found > 0:
            return 0
        PyErr_CheckSignals()    # of one descriptor poll fails only when interrupted
        if deadline is not None and monotonic() >= deadline:
            raise sys.modules["socket"].timeout("timed out")


cdef class BlockWriter:
    """Write messages to a socket, descriptor or file object.

    wire and further options: as for `BlockEncoder`. buffer_size: bytes gathered before they are handed over; 0 sends each
    message at once. A message up to 64 KiB is one system call, a larger one too, and values of 64 KiB or more go out from where
    they lie. TCP_NODELAY is set on TCP sockets. max_inflight: bytes that may wait in the kernel's send buffer; with 131072 large
    messages reach a process on the same machine sooner. What fails to encode leaves nothing behind; after a message was sent in part,
    or an object's method raised, which may have taken a part, the BlockWriter stays failed. The sink stays open.

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
    cdef long forks               # when the buffer was last ours; what a child finds in it is its parent's to write
    cdef OpenWriter entry
    cdef bint is_leaving          # the interpreter ends: all goes out at once, and the sink is flushed
    cdef bint is_settled          # it has been since
    cdef bint closed
    cdef bint batched             # a batch is being made: it is sent as a whole

    def __init__(self, sink, wire="bytes", *, Py_ssize_t buffer_size=0, max_inflight=None, **options):
        if self.encoder is not None:
            raise RuntimeError("a BlockWriter cannot be initialised again")
        if not 0 <= buffer_size <= MOST_BUFFER:
            raise ValueError(f"buffer_size is 0..{MOST_BUFFER}, not {buffer_size}")
        self.sink = Sink(sink)
        bound_inflight(self.sink, max_inflight)
        self.buffer_size = buffer_size
        self.encoder = BlockEncoder(wire, **options)
        self.encoder.enlarge(max(LARGE, buffer_size) + SCRATCH)    # what one system call may take
        self.forks = FORKS
        if enlist(&self.entry, self, &BLOCK_WRITER):
            self.hold_nothing()

    def __dealloc__(self):
        strike_off(&self.entry)

    def __reduce__(self):
        raise TypeError("a BlockWriter cannot be pickled")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        if self.encoder is None or self.closed or self.forks != FORKS or not self.encoder.nbytes():
            return
        warn_unclosed(self, "with unwritten messages")
        try:
            if self.failure is None:
                self.sink.check_open()
            self.close()
        except BaseException as error:
            tell_of_forgotten(self, error)

    # ---- the end of the interpreter

    cdef int settle(self) except -1:
        cdef bint holds = self.encoder.nbytes() > 0
        if self.closed or self.failure is not None or self.forks != FORKS or (not holds and is_closed(self.sink.target)):
            return 1
        self.hold_nothing()
        if self.encoder.busy:    # it sends when it comes to the end of its message
            return self.is_settled
        if holds:
            warn_unclosed(self, "with unwritten messages")
            self.sink.check_open()
        self.flush()
        return 1

    cdef void hold_nothing(self) noexcept:
        self.is_leaving = True
        self.buffer_size = 0

    cdef object give_up(self):
        self.closed = True
        return self.sink.target

    cdef int flush_sink(self) except -1:
        flush = getattr(self.sink.target, "flush", None)
        if flush is not None:
            flush()
        self.is_settled = self.is_leaving
        return 0

    cdef inline int enter(self) except -1:
        if self.encoder is None or self.closed:
            raise ValueError("I/O operation on a closed writer")
        if self.failure is not None:
            raise self.failure
        self.encoder.enter()
        if self.forks != FORKS:
            self.encoder.leave()
            self.encoder.busy = True
            self.forks = FORKS
            hook()
        return 0

    cdef inline int send(self) except -1:
        # On success the buffer is empty; when nothing was sent it is as it was.
        cdef BlockEncoder encoder = self.encoder
        cdef Py_ssize_t nbytes = encoder.nbytes()
        if nbytes == 0:
            return 0
        self.sink.sent = 0
        try:
            encoder.send_to(self.sink)
        except BaseException as error:
            if self.sink.sent or self.sink.in_doubt:
                self.failure = error
            raise
        self.offset += nbytes
        encoder.leave()
        encoder.busy = True
        return self.flush_sink() if self.is_leaving else 0

    cdef inline int put(self, args, id, bint reply) except -1:
        cdef BlockEncoder encoder = self.encoder
        cdef Py_ssize_t before = written(&encoder.buf)
        cdef Py_ssize_t nparts = encoder.nparts
        encoder.put_message(args, id, reply)
        if not self.batched:
            self.send_if_due(before, nparts)
        self.record += 1
        return 0

    cdef inline int send_if_due(self, Py_ssize_t before, Py_ssize_t nparts) except -1:
        cdef BlockEncoder encoder = self.encoder
        if encoder.nparts or written(&encoder.buf) >= self.buffer_size:
            try:
                self.send()
            except BaseException:
                # What came last is the caller's again, unless a part of it has gone.
                encoder.buf.cursor = encoder.buf.start + before
                encoder.drop_parts(nparts)
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
            self.encoder.busy = False

    def writes(self, messages):
        """Write every message of an iterable as one batch and return their number: one system call up to 64 KiB.

        >>> import io
        >>> BlockWriter(io.BytesIO()).writes([[1], [2]])
        2
        """
        cdef long long before = self.record
        for args in messages:
            self.enter()
            self.batched = True
            try:
                self.put(args, 0, False)
                if self.encoder.nbytes() >= LARGE:
                    self.send()
            finally:
                self.batched = False
                self.encoder.busy = False
        if self.buffer_size == 0:
            self.flush()
        return self.record - before

    def write_raw(self, data):
        """Write bytes as they are: an answer, or a message that is encoded already.

        >>> import io
        >>> BlockWriter(io.BytesIO()).write_raw(b"1")
        """
        cdef Value v
        cdef Py_ssize_t before
        self.enter()
        before = written(&self.encoder.buf)
        try:
            owner = look_at_buffer(data, &v)
            self.encoder.put_bytes(v.p, v.nbytes, owner)
            self.send_if_due(before, 0)
        finally:
            self.encoder.busy = False

    def flush(self):
        """Hand over what the buffer holds, and flush the file.

        >>> import io
        >>> BlockWriter(io.BytesIO()).flush()
        """
        self.enter()
        try:
            self.send()
            self.flush_sink()
        finally:
            self.encoder.busy = False

    def close(self):
        """Flush and let go of the sink, which stays open; closing again does nothing.

        >>> import io
        >>> BlockWriter(io.BytesIO()).close()
        """
        if self.closed or self.encoder is None:
            return
        try:
            if self.failure is None:
                self.flush()
        finally:
            self.closed = True
            strike_off(&self.entry)


cdef int settle_writer(object writer) except -1:
    return (<BlockWriter>writer).settle()


cdef object give_up_writer(object writer):
    return (<BlockWriter>writer).give_up()

cdef WriterKind BLOCK_WRITER = WriterKind(settle=settle_writer, give_up=give_up_writer, inherit=NULL)


cdef class BlockReader(Parser):
    """Read messages from a socket, descriptor, file object or bytes-like buffer.

    wire, max_bytes, skip_bad and further options: as for `BlockDecoder`. buffer_size: bytes asked for at once; values of
    64 KiB or more are read to where they stay. Iteration gives Messages. After a decode error, or what a hook raised, a
    BlockReader stays failed and raises it again; after a timeout or a signal it goes on where it was. The source stays open.

    >>> list(BlockReader(bytes.fromhex("000000010000000300000005")))
    [Message((5,))]
    """

    cdef object source
    cdef object method            # of an object that is more than its descriptor
    cdef int descriptor
    cdef bint from_socket
    cdef bint ended

    def __init__(self, source, wire="bytes", *, max_bytes=None, skip_bad=False, Py_ssize_t buffer_size=READ_SIZE, **options):
        if self.source is not None:
            raise RuntimeError("a BlockReader cannot be initialised again")
        if not 1 <= buffer_size <= MOST_BUFFER:
            raise ValueError(f"buffer_size is 1..{MOST_BUFFER}, not {buffer_size}")
        self.configure(wire, max_bytes, skip_bad, options)
        self.connect(io.BytesIO(source) if PyObject_CheckBuffer(source) else source)
        start_filled(&self.buf, max(buffer_size, 2 * LARGE), fill_from_source, <void*>self)
        self.buf.read_ahead = True
        self.source = source

    cdef int connect(self, source) except -1:
        self.descriptor = -1
        if is_descriptor(source) or is_plain(source):
            self.descriptor = open_descriptor(source if is_descriptor(source) else source.fileno())
            return 0
        if isinstance(source, io.TextIOBase):
            raise TypeError("a binary file is needed, not one opened as text")
        for name in ("recv", "read1", "read"):
            self.method = getattr(source, name, None)
            if callable(self.method):
                return 0
        raise TypeError(f"cannot read from a {type(source).__name__}: it has neither recv nor read")

    cdef int enter(self) except -1:
        if self.closed or self.source is None:
            raise ValueError("I/O operation on a closed reader")
        if self.failure is not None:
            raise self.failure
        if self.busy:
            raise RuntimeError("this BlockReader is in use: a hook or another thread came back to it")
        self.busy = True
        self.is_between = False
        return 0

    cdef object next_message(self):
        # None: the input has ended between two messages.
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
            if isinstance(error, DecodeError) or not self.is_between:
                self.failure = failure
                self.drop_message()
                raise_without_memory(error)
            if failure is not error:
                raise failure
            raise
        finally:
            self.busy = False

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
        """Read the next message; `default` where the input ends between two.

        Raises BlockError and LimitError as `BlockDecoder.feed`, TruncatedError where the input ends inside a message, and what
        the system says.

        >>> BlockReader(bytes(4)).read()
        Message(())
        """
        message = self.next_message()
        return default if message is None else message

    def read_bytes(self, Py_ssize_t nbytes):
        """Read just so many bytes that belong to no message, such as the byte that answers one on wire 0.

        Raises ValueError inside a message, TruncatedError where the input ends before. When more than 64 KiB come in part, a
        timeout or a signal is the end of the BlockReader too.

        >>> BlockReader(b"1" + bytes(4)).read_bytes(1)
        b'1'
        """
        cdef PyObject* found = NULL
        self.enter()
        try:
            self.check_between_messages()
            if nbytes < 0:
                raise ValueError(f"a number of bytes is not negative: {nbytes}")
            if held(&self.buf) < nbytes and nbytes > LARGE:
                return self.read_many_bytes(nbytes)
            if held(&self.buf) < nbytes and not refill(&self.buf, nbytes):
                self.raise_truncated(&self.buf)
            found = new_bytes(<const char*>self.buf.cursor, nbytes)
            self.buf.cursor += nbytes
            result = <object>found
            Py_XDECREF(found)
            return result
        finally:
            self.busy = False

    cdef int check_between_messages(self) except -1:
        if self.phase != HEAD:
            raise ValueError("a message has been read in part: its rest comes first")
        return 0

    cdef object read_many_bytes(self, Py_ssize_t nbytes):
        # As a large value: to its final place, which grows with what comes in.
        self.frame_left = -1
        self.flags = 0
        self.message_wire = BLOCK
        try:
            self.await_large(Entry(nbytes, WIRE0_BYTES, 0, 0))
            if not self.read_large(&self.buf):
                self.raise_truncated(&self.buf)
            self.nstack -= 1
            result = <object>self.stack[self.nstack]
            Py_XDECREF(self.stack[self.nstack])
            return result
        except BaseException as error:    # what has come is lost with it
            self.failure = error
            raise
        finally:
            self.phase = HEAD
            self.drop_message()

    @property
    def offset(self):
        """Give the number of bytes consumed so far.

        >>> reader = BlockReader(bytes(8)); reader.read(); reader.offset
        Message(())
        4
        """
        return offset_of(&self.buf, self.buf.cursor)

    def detach(self):
        """Return the bytes that were read ahead and not consumed, and close the reader; ValueError inside a message.

        >>> reader = BlockReader(bytes(4) + b"rest"); reader.read(); reader.detach()
        Message(())
        b'rest'
        """
        self.enter()
        self.busy = False
        self.check_between_messages()
        rest = self.buf.cursor[:held(&self.buf)]
        self.close()
        return rest

    def close(self):
        """Let go of the source, which stays open; closing again does nothing.

        >>> BlockReader(b"").close()
        """
        if self.busy:
            self.enter()
        self.closed = True
        self.drop_message()
        release(&self.buf)
        self.method = None


cdef Py_ssize_t fill_from_source(void* source, unsigned char* target, Py_ssize_t room) except -1:
    cdef BlockReader reader = <BlockReader>source
    cdef Py_ssize_t got
    if reader.ended:
        return 0
    PyErr_CheckSignals()
    if reader.descriptor >= 0:
        got = fill_from_descriptor(reader, target, room)
    else:
        got = take_bytes(reader.method, reader.method(min(room, MOST_ASKED)), target, min(room, MOST_ASKED))
    reader.ended = got == 0
    return got


cdef Py_ssize_t fill_from_descriptor(BlockReader reader, unsigned char* target, Py_ssize_t room) except -1:
    cdef Py_ssize_t got
    cdef int failed
    cdef int descriptor = reader.descriptor
    while True:
        with nogil:
            got = read(descriptor, target, room)
            failed = errno
        if got >= 0:
            return got
        if failed == EINTR:
            PyErr_CheckSignals()
        elif failed == EAGAIN:
            wait_for(reader.source, descriptor, POLLIN)
        else:
            raise_errno(failed)


cdef Py_ssize_t take_bytes(object method, object data, unsigned char* target, Py_ssize_t room) except -1:
    cdef Py_buffer view
    name = getattr(method, "__name__", "read")
    if data is None:
        raise BlockingIOError(f"{name}() found no bytes: a source must not be non-blocking")
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"{name}() must return bytes, not {type(data).__name__}")
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        if view.len > room:
            raise ValueError(f"{name}() returned {view.len} bytes when {room} were asked for")
        memcpy(target, view.buf, view.len)
        return view.len
    finally:
        PyBuffer_Release(&view)
