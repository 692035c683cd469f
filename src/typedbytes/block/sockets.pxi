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
