# Ring: bytes to and from another process through two memories that both map; SharedRing, its public subclass,
# makes the memories.
#
# Here: waiting, time-outs, failures, forks. Not here: how bytes are published and read (ring.h), how both sides agree
# on the memories (typedbytes/block/_shared_ring.py), messages (writer.pxi, reader.pxi, calls.pxi).
#
# Invariant: one thread reads and one writes at a time; a ring with a fault stays failed, and its socket is shut down; a
# forked child does not touch its parent's ring.

cdef extern from "<sys/socket.h>" nogil:
    int shutdown_socket "shutdown"(int descriptor, int how)
    enum: SHUT_RDWR

cdef enum:
    GIL_SPIN_NS = 5000        # most answers come within this time, and releasing the GIL would cost more

RING_IS_SUPPORTED = bool(IS_SUPPORTED)

cdef dict RING_FAULTS = {
    RING_BAD_TAIL: "the other side of the ring says that it has written bytes that cannot be there",
    RING_BAD_HEAD: "the other side of the ring says that it has read bytes that were not written",
    RING_BAD_BELLS: "the other side of the ring wakes this one although it does not sleep",
}


cdef class Ring(OpenWriter):
    # Not public: the base of SharedRing.
    cdef ring_memory ring
    cdef Py_buffer mine           # held while the ring is open: the memory cannot be unmapped
    cdef Py_buffer theirs
    cdef bint is_started
    cdef long long timeout_ms     # of each wait, -1: no timeout
    cdef object failure           # the error that all later calls raise
    cdef object connection        # what call() uses, made when it is first called
    cdef public bint _is_polled   # reading never waits: it raises BlockingIOError, and a bell will come
    cdef State reading
    cdef State writing

    def __cinit__(self, *args, **options):
        self.reading = self.writing = CLOSED

    def __dealloc__(self):
        unregister_writer(self)
        self.stop()

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be pickled")

    def _start(self, mine, theirs, int descriptor, timeout, double spin):
        # Called once by SharedRing; from here on the descriptor is this object's.
        cdef int failed
        if self.is_started:
            raise RuntimeError("a ring cannot be initialised again")
        PyObject_GetBuffer(mine, &self.mine, PyBUF_WRITABLE)
        try:
            PyObject_GetBuffer(theirs, &self.theirs, 0)
        except BaseException:
            PyBuffer_Release(&self.mine)
            raise
        failed = ring_start(&self.ring, <unsigned char*>self.mine.buf, <const unsigned char*>self.theirs.buf,
                            self.mine.len - RING_DATA, descriptor, <long long>(spin * 1e9))
        if failed:
            PyBuffer_Release(&self.mine)
            PyBuffer_Release(&self.theirs)
            raise_errno(failed)
        self.is_started = True
        self.timeout = timeout
        self.reading = self.writing = OPEN
        register_writer(self)

    cdef int stop(self) noexcept:
        # Unmap nothing, but give back what is held.
        if not self.is_started:
            return 0
        self.is_started = False
        if not self.is_inherited:    # the connection is the parent's
            shutdown_socket(self.ring.descriptor, SHUT_RDWR)
        close_descriptor(self.ring.descriptor)
        ring_stop(&self.ring)
        PyBuffer_Release(&self.mine)
        PyBuffer_Release(&self.theirs)
        return 0

    cdef int flush_at_exit(self) except -1:
        return 1    # what was written has been published

    cdef object release_target(self):
        return None

    # ---- bytes

    cdef inline int enter(self, State* state) except -1:
        if unlikely(self.is_inherited):
            raise_inherited(self)
        if unlikely(not claim_state(state, OPEN, BUSY)):
            refuse_call(self, state[0], self.failure, "ring")
        return 0

    cdef inline int leave(self, State* state) except -1:
        if state[0] == BUSY:    # else it was closed in a child that a signal's handler forked
            state[0] = OPEN if self.failure is None else HAS_FAILED
        return 0

    cdef Py_ssize_t read_into(self, unsigned char* target, Py_ssize_t capacity) except -1:
        # At least a byte, or 0 where the other side has closed the ring and all of its bytes have been read.
        self.enter(&self.reading)
        try:
            if not ring_ready(&self.ring, True) and not self.await_ready(&self.ring.reading, True):
                return 0
            return ring_read(&self.ring, target, capacity)
        finally:
            self.leave(&self.reading)

    cdef Py_ssize_t write_some(self, const unsigned char* p, Py_ssize_t nbytes) except -1:
        # Of a message whose writer has entered: between its pieces, signal handlers run.
        if ring_get(&self.ring.ended) or (not ring_ready(&self.ring, False)
                                          and not self.await_ready(&self.ring.writing, False)):
            raise_errno(EPIPE)
        return ring_write(&self.ring, p, nbytes)

    # ---- waiting

    cdef bint await_ready(self, ring_guard* guard, bint for_data) except -1:
        # False when the other side has closed.
        cdef long long now
        cdef bint ready
        self.check_fault()
        if self.ring.spin_ns:
            now = now_ns()
            if now >= guard.paused_until:
                ready = ring_spin(&self.ring, for_data, now + min(self.ring.spin_ns, <long long>GIL_SPIN_NS))
                if not ready and self.ring.spin_ns > GIL_SPIN_NS and not self._is_polled:
                    with nogil:
                        ready = ring_spin(&self.ring, for_data, now + self.ring.spin_ns)
                ring_spun(&self.ring, guard, ready)
                if ready:
                    return True
        return self.is_ready_now() if for_data and self._is_polled else self.sleep_until_ready(for_data)

    cdef bint is_ready_now(self) except -1:
        ring_poll(&self.ring)
        ended = ring_get(&self.ring.ended)    # as below
        if ring_ready(&self.ring, True):
            return True
        self.check_fault()
        if ended:
            return False
        raise BlockingIOError(EAGAIN, "the other side of the ring has written nothing yet")

    cdef bint sleep_until_ready(self, bint for_data) except -1:
        cdef long long timeout_ms = self.timeout_ms
        cdef long long deadline = now_ns() + timeout_ms * 1000000
        cdef long long left = timeout_ms
        while True:
            with nogil:
                ring_sleep(&self.ring, for_data, <int>left)
            ended = ring_get(&self.ring.ended)    # before a last look: what was written earlier is read
            if ring_ready(&self.ring, for_data):
                return True
            self.check_fault()
            if ended:
                return False
            PyErr_CheckSignals()
            if self.is_inherited:    # forked by a signal's handler
                raise_inherited(self)
            if timeout_ms >= 0:
                left = (deadline - now_ns() + 999999) // 1000000
                if left <= 0:
                    raise timeout_error()("timed out")

    cdef int check_fault(self) except -1:
        cdef int fault = ring_get(&self.ring.fault)
        if fault != RING_SOUND:
            shutdown_socket(self.ring.descriptor, SHUT_RDWR)
            self.failure = BlockError(RING_FAULTS[fault])
            raise self.failure
        return 0

    # ---- as a file object, and calls

    def call(self, *values, type=None):
        """Send the values as one native message, and return the Message that answers it; as `Connection.call`."""
        if self.connection is None:
            made = Connection(self)
            lock_writers(True)
            if self.connection is None:    # nor made by another thread meanwhile
                self.connection = made
            lock_writers(False)
        return (<Connection>self.connection).call_with(values, type)

    def readinto(self, buffer):
        """Read bytes into a writable buffer and return their number, at least 1; 0 where the other side has closed.

        Raises BlockError when the other side has broken the ring, and the socket's timeout.
        """
        cdef Py_buffer view
        PyObject_GetBuffer(buffer, &view, PyBUF_WRITABLE)
        try:
            return self.read_into(<unsigned char*>view.buf, view.len) if view.len else 0
        finally:
            PyBuffer_Release(&view)

    def write(self, data):
        """Write all bytes and return their number.

        Raises BrokenPipeError when the other side has closed or ended, BlockError when it has broken the ring, and the
        socket's timeout.
        """
        cdef Py_buffer view
        cdef Py_ssize_t nwritten = 0
        contiguous = get_view(data, &view)
        try:
            self.enter(&self.writing)
            try:
                while nwritten < view.len:
                    nwritten += self.write_some(<const unsigned char*>view.buf + nwritten, view.len - nwritten)
                    if nwritten < view.len:
                        PyErr_CheckSignals()
            finally:
                self.leave(&self.writing)
            return nwritten
        finally:
            PyBuffer_Release(&view)

    def fileno(self):
        """Return the descriptor of the socket that wakes this side up; to be waited for, not to be read."""
        if not self.is_started:
            raise ValueError("the ring is closed")
        return self.ring.descriptor

    @property
    def timeout(self):
        """The seconds that each wait may take, or None for no limit: at first those of the socket."""
        return None if self.timeout_ms < 0 else self.timeout_ms / 1000

    @timeout.setter
    def timeout(self, seconds):
        if seconds is not None and not 0 < seconds <= 86400 * 24:
            raise ValueError(f"timeout is above 0 and at most 24 days in seconds, or None, not {seconds}")
        self.timeout_ms = -1 if seconds is None else max(<long long>(seconds * 1000), 1)

    @property
    def capacity(self):
        """The number of bytes that each direction holds."""
        return self.ring.capacity

    @property
    def closed(self):
        """Whether the ring is closed."""
        return self.reading == CLOSED

    def close(self):
        """End both directions: the other side reads what was written, and then the end. Closing again does nothing.

        A thread that waits to read or write finds the connection ended.
        """
        cdef State before
        cdef long long deadline = now_ns() + 1000000000
        if self.reading == CLOSED:
            return
        if self.is_inherited:    # the connection is the parent's, of which a thread may be inside
            self.release()
            return
        shutdown_socket(self.ring.descriptor, SHUT_RDWR)
        while (self.reading == BUSY or self.writing == BUSY) and now_ns() < deadline:
            with nogil:
                sleep_ns(1000000)
            PyErr_CheckSignals()
        before = claim_to_close(self, &self.reading)    # raises if this thread is inside, as in a signal's handler
        if before == CLOSED:
            return
        try:
            claim_to_close(self, &self.writing)
        except BaseException:
            self.reading = before
            raise
        self.release()

    cdef int release(self) except -1:
        self.reading = self.writing = CLOSED
        unregister_writer(self)
        self.connection = None
        self.stop()
        self._unmap()
        return 0

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


cdef object timeout_error():
    import socket    # lazy import: start-up time
    return socket.timeout


cdef class RingSink(Sink):
    # What a writer of messages sends to: pieces are copied into the ring.

    cdef int check_open(self) except -1:
        return 0

    cdef int send(self, iovec* pieces, Py_ssize_t npieces) except -1:
        cdef Ring ring = <Ring>self.target
        cdef Py_ssize_t ntaken
        ring.enter(&ring.writing)
        try:
            while npieces:
                ntaken = ring.write_some(<const unsigned char*>pieces.iov_base, pieces.iov_len)
                self.sent += ntaken
                pieces.iov_base = <char*>pieces.iov_base + ntaken
                pieces.iov_len -= ntaken
                if pieces.iov_len == 0:
                    pieces += 1
                    npieces -= 1
                if npieces:
                    self.check_signals()
        finally:
            ring.leave(&ring.writing)
        return 0


cdef Sink open_sink(object target):
    return RingSink(target) if isinstance(target, Ring) else Sink(target)


cdef Py_ssize_t fill_from_ring(void* source, unsigned char* target, Py_ssize_t capacity) except -1:
    return (<Ring>source).read_into(target, capacity)
