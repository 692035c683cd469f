# Sockets, descriptors and files: system calls without the GIL, and the methods of other objects.
#
# Invariant: short reads and writes are counted; a call that a signal interrupted is repeated; one that would
# block waits until the socket's timeout; the return value of an object's method is checked; what a method is
# given stays valid if it is kept.

cdef class Sink:
    # Where bytes are written to: a descriptor, or the methods of an object.
    cdef object target
    cdef object method            # writes bytes; used when there is no descriptor
    cdef object gather            # sendmsg, where the object has it
    cdef int descriptor           # -1: none
    cdef bint is_socket
    cdef bint is_raw              # the method returns None when it has written nothing
    # its bytes may wait in a buffer of the object, and a reader for them: not of a file that can seek
    cdef bint may_be_awaited
    cdef bint may_have_sent       # the method raised: it may have written a part
    cdef Py_ssize_t sent          # bytes sent of the current message, or of the last one
    cdef PyObject* writer         # the owner of this, borrowed; NULL: none

    def __cinit__(self, target):
        self.target = target
        self.descriptor = -1
        if is_descriptor(target):
            self.descriptor = open_descriptor(target)
            self.is_socket = is_socket(self.descriptor)
        elif has_bare_descriptor(target):
            self.descriptor = open_descriptor(target.fileno())
            self.is_socket = hasattr(target, "sendmsg")
        elif isinstance(target, Ring):
            self.descriptor = (<Ring>target).ring.descriptor
        else:
            self.gather = getattr(target, "sendmsg", None)
            self.method = find_write_method(target)
            self.is_raw = isinstance(target, io.RawIOBase)
            self.may_be_awaited = not self.is_raw and not can_seek(target)
        set_no_delay(self)

    cdef int check_open(self) except -1:
        if self.descriptor >= 0:
            check_same_descriptor(self.target, self.descriptor)
        return 0

    cdef int flush(self) except -1:
        # Descriptors have no buffer of this process.
        flush = getattr(self.target, "flush", None) if self.descriptor < 0 else None
        if flush is not None:
            flush()
        return 0

    cdef int send(self, iovec* pieces, Py_ssize_t npieces) except -1:
        cdef Py_ssize_t ntaken
        self.check_open()
        while npieces:
            ntaken = self.call(pieces, npieces)
            self.sent += ntaken
            while npieces and ntaken >= <Py_ssize_t>pieces.iov_len:
                ntaken -= pieces.iov_len
                pieces += 1
                npieces -= 1
            if npieces:
                pieces.iov_base = <char*>pieces.iov_base + ntaken
                pieces.iov_len -= ntaken
                self.check_signals()    # as after write_part
        return 0

    cdef int check_signals(self) except -1:
        PyErr_CheckSignals()
        # forked by a signal handler: the parent sends the rest
        if self.writer != NULL and (<OpenWriter>self.writer).is_inherited:
            raise_inherited(<object>self.writer)
        return 0

    cdef Py_ssize_t call(self, iovec* pieces, Py_ssize_t npieces) except -1:
        # Repeat the system call until it has sent at least a byte.
        cdef Py_ssize_t ntaken
        cdef int failed
        cdef int descriptor = self.descriptor
        cdef bint as_socket = self.is_socket
        while True:
            with nogil:
                ntaken = send_pieces(descriptor, as_socket, pieces, npieces)
                failed = errno if ntaken < 0 else EPIPE    # pieces are never empty
            if ntaken > 0:
                return ntaken
            self.recover(failed)

    cdef int recover(self, int failed) except -1:
        if failed != EINTR and failed != EAGAIN:
            raise_errno(failed)
        if failed == EAGAIN:
            wait_for(self.target, self.descriptor, POLLOUT)
        return self.check_signals()

    cdef int send_owned(self, list pieces) except -1:
        # OwnedPieces, by the methods of an object.
        cdef Py_ssize_t first = 0
        cdef Py_ssize_t ntaken, n
        cdef OwnedPiece piece
        while first < len(pieces):
            ntaken = self.call_method(pieces, first)
            self.sent += ntaken
            while ntaken:
                piece = pieces[first]
                n = min(ntaken, piece.nbytes)
                piece.p += n
                piece.nbytes -= n
                ntaken -= n
                first += piece.nbytes == 0
            if first < len(pieces):
                self.check_signals()    # as after write_part
        return 0

    cdef Py_ssize_t call_method(self, list pieces, Py_ssize_t first) except -1:
        cdef Py_ssize_t nbytes = 0
        cdef list views = []
        for piece in pieces[first:first + (MAX_PIECES if self.gather is not None else 1)]:
            view = memoryview(piece)[:MAX_TRANSFER - nbytes]
            views.append(view)
            nbytes += len(view)
            if nbytes == MAX_TRANSFER:
                break
        self.may_have_sent = True
        count = self.gather(views) if len(views) > 1 else self.method(views[0])
        if count is None and self.is_raw:
            self.may_have_sent = False
        nbytes = checked_written(count, nbytes, self.is_raw)
        self.may_have_sent = False
        return nbytes


cdef bint can_seek(object target):
    try:
        return target.seekable()
    except (AttributeError, OSError, ValueError):    # ValueError: it is closed
        return False


cdef void lend_bytes(Py_buffer* view, const unsigned char* p, Py_ssize_t nbytes) noexcept:
    # All but the owner: Cython has put a None there, which only an assignment in __getbuffer__ gives back,
    # and PyBuffer_FillInfo would not.
    view.buf = <void*>p
    view.len = nbytes
    view.readonly = True
    view.itemsize = 1
    view.format = NULL
    view.ndim = 1
    view.shape = &view.len
    view.strides = &view.itemsize
    view.suboffsets = NULL
    view.internal = NULL


cdef class OwnedPiece:
    # Exports bytes of a message as a buffer, whose memory lives as long as the last view of it.
    cdef object owner
    cdef const unsigned char* p
    cdef Py_ssize_t nbytes

    def __getbuffer__(self, Py_buffer* view, int flags):
        if flags & PyBUF_WRITABLE:
            raise BufferError("a piece of a message cannot be changed")
        lend_bytes(view, self.p, self.nbytes)
        view.obj = self

    def __reduce__(self):
        raise TypeError("a piece of a message cannot be pickled or copied")


cdef OwnedPiece owned_piece(iovec* piece, object owner):
    # owner: None to copy the bytes.
    cdef OwnedPiece owned = OwnedPiece.__new__(OwnedPiece)
    owned.nbytes = piece.iov_len
    owned.p = <const unsigned char*>piece.iov_base
    owned.owner = owner
    if owner is None:
        owned.owner = owned.p[:owned.nbytes]
        owned.p = <const unsigned char*>PyBytes_AS_STRING(owned.owner)
    return owned


cdef Py_ssize_t send_pieces(int descriptor, bint as_socket, iovec* pieces, Py_ssize_t npieces) noexcept nogil:
    # As many of the pieces as one call takes, at most MAX_TRANSFER bytes.
    cdef msghdr message
    cdef Py_ssize_t count = 1
    cdef size_t nbytes = pieces.iov_len
    while count < min(npieces, MAX_PIECES) and nbytes + pieces[count].iov_len <= <size_t>MAX_TRANSFER:
        nbytes += pieces[count].iov_len
        count += 1
    if count > 1:
        if not as_socket:
            return writev(descriptor, pieces, <int>count)
        memset(&message, 0, sizeof(message))
        message.msg_iov = pieces
        message.msg_iovlen = count
        return sendmsg(descriptor, &message, MSG_NOSIGNAL)
    nbytes = min(nbytes, <size_t>MAX_TRANSFER)
    if as_socket:
        return send_bytes(descriptor, pieces.iov_base, nbytes, MSG_NOSIGNAL)
    return write(descriptor, pieces.iov_base, nbytes)


cdef bint is_descriptor(object target) except -1:
    return isinstance(target, int) and not isinstance(target, bool)


cdef int open_descriptor(object number) except -1:
    if number < 0:    # a closed socket has -1
        raise_errno(EBADF)
    return number


cdef bint has_bare_descriptor(object target) except -1:
    # Objects whose methods only call on their descriptor: those of others may count, encrypt or buffer.
    if type(target) is io.FileIO:
        return True
    module = sys.modules.get("socket")
    return module is not None and type(target) is module.socket


cdef int check_same_descriptor(object target, int descriptor) except -1:
    # When the owner has closed the descriptor, its number may be that of another file.
    if not is_descriptor(target) and target.fileno() != descriptor:
        raise_errno(EBADF)
    return 0


cdef bint is_socket(int descriptor) noexcept:
    cdef stat_struct found
    return fstat(descriptor, &found) == 0 and S_ISSOCK(found.st_mode)


cdef int set_no_delay(Sink sink) except -1:
    # Otherwise a message of two sends waits for the delayed acknowledgement of the other side: 40 ms on Linux.
    cdef int one = 1
    if sink.descriptor >= 0:
        if sink.is_socket:
            # fails for sockets other than TCP, which do not need it
            setsockopt(sink.descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one))
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
    if not 1 <= max_inflight <= MAX_BUFFER:
        raise ValueError(f"max_inflight must be 1..{MAX_BUFFER}, not {max_inflight}")
    nbytes = max_inflight
    if not sink.is_socket or setsockopt(sink.descriptor, SOL_SOCKET, SO_SNDBUF, &nbytes, sizeof(nbytes)) < 0:
        raise ValueError("max_inflight needs a socket")
    # TCP only, where the kernel knows it
    setsockopt(sink.descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &nbytes, sizeof(nbytes))
    return 0


cdef int raise_errno(int number) except -1:
    raise OSError(number, os.strerror(number))


cdef int wait_for(object target, int descriptor, short events) except -1:
    # Wait until the socket's timeout; signals are handled meanwhile.
    cdef pollfd one
    cdef int found, milliseconds
    timeout = getattr(target, "gettimeout", lambda: 0.0)()
    if timeout == 0.0:
        raise BlockingIOError(EAGAIN, "the descriptor must be in blocking mode: no bytes can be transferred now")
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
        PyErr_CheckSignals()    # poll on one descriptor fails only with EINTR
        if deadline is not None and monotonic() >= deadline:
            raise sys.modules["socket"].timeout("timed out")
