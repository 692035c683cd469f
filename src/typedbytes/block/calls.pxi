# Connection: a request and its reply in one call, over a ring or a socket, from several threads.
#
# Invariant: a reply repeats the id of its request. One whose caller gave up, after a timeout or a signal, is read and
# dropped before the next request is sent: otherwise each side could wait for the other to read. Waiting for another
# thread's call is without the GIL. A forked child has no connection: it would take replies that are its parent's.

cdef extern from "<unistd.h>" nogil:
    int process_id "getpid"()

cdef extern from *:
    """
    static inline int load_shared(const void *state) {
        return __atomic_load_n((const int *)state, __ATOMIC_SEQ_CST);
    }
    static inline void store_shared(void *state, int value) {
        __atomic_store_n((int *)state, value, __ATOMIC_SEQ_CST);
    }
    static inline int add_shared(int *count, int more) {
        return __atomic_add_fetch(count, more, __ATOMIC_SEQ_CST);
    }
    """
    int load_shared(const void* state) nogil
    void store_shared(void* state, int value) nogil
    int add_shared(int* count, int more) nogil


cdef class Connection:
    "Connection(stream, *, max_bytes=None, default=None, pickle='safe')\n--\n\n" \
        """Call another process: each call sends a native message and returns the one that answers it.

    stream: a SharedRing, or a socket. max_bytes: of a reply. default, pickle: as for `BlockEncoder` and `BlockDecoder`.
    A value that is a record is written by its class, as `typedbytes.dumps(..., type=)` does, if it fits it.
    Several threads may call; one call at a time is on its way. After an error of the stream a Connection stays failed;
    after a timeout or a signal it goes on, unless a part of the request was sent: the next call waits for the late
    reply, drops it, and then sends its own request. A forked child may only close it.

    >>> import socket, threading
    >>> ours, theirs = socket.socketpair()
    >>> def answer():
    ...     for message in BlockReader(theirs, "native"):
    ...         BlockWriter(theirs, "native").write([sum(message[1:])], id=message.id)
    >>> thread = threading.Thread(target=answer); thread.start()
    >>> with Connection(ours) as connection:
    ...     connection.call(Command("add"), 1, 2.5)
    Message((3.5,), id=1)
    >>> ours.close(); thread.join(); theirs.close()
    """

    cdef readonly object stream
    cdef BlockWriter writer
    cdef BlockReader reader
    cdef pthread_mutex_t mutex    # for threads that wait only
    cdef pthread_cond_t freed
    cdef int nwaiting             # atomic
    cdef unsigned long caller     # the thread that calls
    cdef uint32_t id
    cdef readonly bint _is_behind    # the reply to the last request is still to come
    cdef int process              # the one that may call
    cdef State state

    def __cinit__(self, *args, **options):
        cdef int failed = pthread_mutex_init(&self.mutex, NULL) or start_condition(&self.freed)
        if failed:
            raise_errno(failed)
        self.process = process_id()
        self.state = CLOSED

    def __init__(self, stream, *, max_bytes=None, default=None, pickle="safe"):
        if self.writer is not None:
            raise RuntimeError("a Connection cannot be initialised again")
        if not isinstance(stream, Ring) and not has_bare_descriptor(stream):
            raise TypeError(f"a Connection is over a SharedRing or a socket, not {type(stream).__name__}")
        self.reader = BlockReader(stream, "native", max_bytes=max_bytes, pickle=pickle)
        self.writer = BlockWriter(stream, "native", default=default, pickle=pickle)
        self.writer._write_by_class(default, pickle)
        self.stream = stream
        self.state = OPEN

    def __dealloc__(self):
        if self.process == process_id():    # a forked child would wait for threads that it does not have
            pthread_mutex_destroy(&self.mutex)
            pthread_cond_destroy(&self.freed)

    def __reduce__(self):
        raise TypeError("a Connection cannot be pickled")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def call(self, *values, type=None):
        """Send the values as one message, and wait for the message that answers it.

        type: of the answer, such as a record class: what is returned is then the only value of the message, or all of
        them as the fields of a record, as `typedbytes.loads(..., type=type)` reads it.

        Raises CallError where the other side could not answer, EncodeError for a value without a type, BlockError for a
        reply that is malformed or answers no request, ConnectionError or TruncatedError when the other side has ended,
        DecodeTypeError for an answer of another type, and the timeout of the stream.
        """
        return self.call_with(values, type)

    cdef object call_with(self, tuple values, object type):
        self.enter()
        try:
            self.send(values)
            reply = self.receive()
        finally:
            self.leave()
        return answer_of(reply, type)

    def _start(self, values):
        # For AsyncConnection: a call in two steps, between which nothing else calls.
        self.enter()
        try:
            self.send(values)
        finally:
            self.leave()

    def _drop(self):
        # Before _start where _is_behind.
        self.enter()
        try:
            self.receive()
        finally:
            self.leave()

    def _finish(self, type):
        self.enter()
        try:
            reply = self.receive()
        finally:
            self.leave()
        return answer_of(reply, type)

    cdef int send(self, values) except -1:
        if unlikely(self._is_behind):
            self.receive()
        write_message(self.writer, values, <uint32_t>(self.id + 1), True)
        self.id += 1
        self._is_behind = True
        return 0

    cdef Message receive(self):
        cdef Message reply
        found = self.reader.next_message()
        if found is None:
            raise ConnectionResetError("the other side has closed the connection")
        reply = <Message>found
        if <uint32_t>reply.number != self.id:
            raise BlockError(f"expected the reply to message {self.id}, not to {reply.number}")
        self._is_behind = False
        return reply

    # ---- one call at a time

    cdef inline int enter(self) except -1:
        if unlikely(self.writer is not None and self.writer.is_inherited):
            raise_inherited(self)
        if unlikely(not claim_state(&self.state, OPEN, BUSY)):
            self.wait_for_turn()
        self.caller = PyThread_get_thread_ident()
        return 0

    cdef int wait_for_turn(self) except -1:
        if self.state == BUSY and self.caller == PyThread_get_thread_ident():
            raise_in_use(self)    # from a hook or a signal's handler
        while not claim_state(&self.state, OPEN, BUSY):
            if self.state == CLOSED:
                raise ValueError("the Connection is closed")
            with nogil:
                pthread_mutex_lock(&self.mutex)
                add_shared(&self.nwaiting, 1)
                if load_shared(&self.state) == BUSY:
                    wait_at_most(&self.freed, &self.mutex, 50000000)    # so that signals are handled
                add_shared(&self.nwaiting, -1)
                pthread_mutex_unlock(&self.mutex)
            PyErr_CheckSignals()
        return 0

    cdef inline int leave(self) except -1:
        self.caller = 0
        return self.free(OPEN)

    cdef inline int free(self, State state) except -1:
        store_shared(&self.state, state)
        if unlikely(add_shared(&self.nwaiting, 0)):
            pthread_mutex_lock(&self.mutex)
            if state == OPEN:
                pthread_cond_signal(&self.freed)
            else:
                pthread_cond_broadcast(&self.freed)
            pthread_mutex_unlock(&self.mutex)
        return 0

    @property
    def closed(self):
        """Whether the Connection is closed."""
        return self.state == CLOSED

    def close(self):
        """Close the stream, after the call of another thread if there is one. Closing again does nothing."""
        if self.state == CLOSED:
            return
        if self.writer.is_inherited:    # in a forked child: a thread that it does not have may be inside
            self.state = CLOSED
            self.stream.close()
            return
        self.enter()
        try:
            self.reader.close()
            self.writer.close()
            self.stream.close()
        finally:
            self.caller = 0
            self.free(CLOSED)


cdef object answer_of(Message reply, object type):
    cdef tuple values = reply.values
    if len(values) == 3 and isinstance(values[0], Command) and values[0] == "error":
        raise CallError(f"{values[2]}", f"{values[1]}")
    if type is None:
        return reply
    return loads(dumps(values[0] if len(values) == 1 else values), type=type)
