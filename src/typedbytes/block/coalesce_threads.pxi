# CoalescingWriter: messages of several threads, sent in batches.

cdef enum:
    IDLE_ROUNDS = 4           # rounds of the timer thread without a byte to send, before it sleeps until it is woken
    SLICE_MS = 50             # the longest wait in one piece, so that signals are handled in time


cdef class CoalescingWriter(OpenWriter):
    "CoalescingWriter(sink, wire='bytes', *, flush_bytes=16384, max_delay=0.0003, buffer_size=65536, " \
        "max_inflight=None, checksum=False, int_width='auto', pickle='safe', default=None, sort_keys=False, " \
        "unicode_errors='strict', dialect='hadoop', max_depth=256)\n--\n\n" \
        """Gather small messages and send them in batches, from one thread or several.

    sink: a socket, descriptor or raw file, in blocking mode. wire and further options: as for `BlockEncoder`.
    flush_bytes: a batch of this size is sent at once. max_delay: seconds that a byte may wait for its batch; None:
    until a batch is full or flush() is called. buffer_size: bytes that may be gathered while a batch is on its way;
    when they are used up, write() waits. max_inflight: bytes that may wait in the kernel's send buffer, which bounds
    the time that a message spends there.

    Messages of one thread keep their order, and messages are never interleaved. close() sends everything and ends the
    thread that max_delay needs, which otherwise keeps the writer in memory; an error of the peer is raised by the next
    call and by every later one. A forked child process can neither write nor send its parent's messages.

    >>> import socket
    >>> ours, theirs = socket.socketpair()
    >>> with CoalescingWriter(ours, max_delay=60) as writer:
    ...     for number in range(3):
    ...         writer.write([number])
    >>> writer.stats["batches"], len(theirs.recv(100))
    (1, 36)
    >>> ours.close(); theirs.close()
    """

    cdef BlockEncoder encoder
    cdef Sink sink
    cdef object failure
    cdef object thread
    cdef pthread_mutex_t mutex
    cdef pthread_cond_t progress  # a batch was sent, or the writer is closing
    cdef pthread_cond_t bytes_ready    # there are bytes to send again, or the writer is closing
    cdef unsigned char* filling
    cdef unsigned char* sending
    cdef Py_ssize_t nsending      # bytes of the batch that is being sent
    cdef Py_ssize_t nsent         # how many of these `nsending` bytes the kernel has accepted
    cdef Py_ssize_t capacity
    cdef Py_ssize_t flush_bytes
    cdef long long delay_ns       # -1: no max_delay
    cdef long long first_byte_ns  # when the first byte was written to the buffer
    cdef long long timeout_ms     # the longest time in which nothing is sent; -1: no timeout
    cdef long long stalled_ns     # time spent in waits since the kernel last accepted something
    cdef long long nswaps         # how often the two buffers were swapped
    cdef Py_ssize_t nwaiting      # threads that wait until another has sent something
    cdef Counts counts
    # thread that holds the mutex and runs Python code; 0: none (the timer thread is never recorded)
    cdef unsigned long holder
    # thread that sends a large message, without the mutex; its signal handlers run meanwhile
    cdef unsigned long large_sender
    cdef int failed               # errno; EPIPE when `failure` is set
    cdef bint is_finalizing       # the interpreter ends: write() returns after everything was sent
    cdef bint error_reported      # a call has raised the error of sending
    cdef bint is_sending
    cdef bint is_asleep
    cdef bint is_running
    cdef bint is_closed
    cdef bint is_ready

    def __cinit__(self, *args, **options):
        cdef int failed = pthread_mutex_init(&self.mutex, NULL) or start_condition(&self.progress) \
            or start_condition(&self.bytes_ready)
        if failed:
            raise_errno(failed)

    def __init__(self, sink, wire="bytes", *, Py_ssize_t flush_bytes=FLUSH_BYTES, max_delay=0.0003,
                 Py_ssize_t buffer_size=COALESCE_BUFFER, max_inflight=None, **options):
        if self.is_ready:
            raise RuntimeError("a CoalescingWriter cannot be initialised again")
        check_sizes(flush_bytes, buffer_size)
        if max_delay is not None and not 0 < max_delay <= 3600:
            raise ValueError(f"max_delay must be above 0 and at most 3600 seconds, not {max_delay}")
        self.sink = descriptor_sink(sink)
        self.sink.writer = <PyObject*>self
        self.encoder = BlockEncoder(wire, **options)
        self.capacity = buffer_size + SCRATCH
        self.flush_bytes = flush_bytes
        self.delay_ns = -1 if max_delay is None else <long long>(max_delay * 1e9)
        timeout = getattr(sink, "gettimeout", lambda: None)()
        if timeout == 0.0 or (timeout is None and not os.get_blocking(self.sink.descriptor)):
            raise ValueError("the sink must block: socket.setblocking(True), or a timeout")
        self.timeout_ms = <long long>(timeout * 1000) if timeout else -1
        bound_inflight(self.sink, max_inflight)
        self.filling = resized(self.filling, self.capacity)    # an __init__ that failed may have left it
        self.sending = resized(self.sending, self.capacity)
        start_scratch(&self.encoder.buf, self.filling, self.capacity)
        if register_writer(self):
            self.disable_buffering()
            max_delay = None    # no thread can be started any more, and none is needed
        self.is_ready = True
        if max_delay is not None:
            self.start_thread()

    cdef int start_thread(self) except -1:
        from threading import Thread
        self.is_running = True
        self.thread = Thread(target=self._run_timer, name="CoalescingWriter", daemon=True)
        self.thread.start()
        return 0

    def __del__(self):
        if not self.is_ready or self.is_closed or self.is_inherited:
            return
        try:
            self.flush_at_exit()
        except BaseException as error:
            report_unraisable(self, error)

    def __dealloc__(self):
        unregister_writer(self)
        if self.encoder is not None and self.encoder.buf.owner == NULL:
            # its memory is self.filling
            self.encoder.buf.start = self.encoder.buf.cursor = self.encoder.buf.end = NULL
        PyMem_Free(self.filling)
        PyMem_Free(self.sending)
        pthread_mutex_destroy(&self.mutex)
        pthread_cond_destroy(&self.progress)
        pthread_cond_destroy(&self.bytes_ready)

    def __reduce__(self):
        raise TypeError("a CoalescingWriter cannot be pickled")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    # ---- at interpreter exit, or when the writer is collected; one with a thread is not before close(),
    # since the thread refers to it

    cdef bint has_unwritten(self) noexcept:
        return self.is_sending or self.nsent < self.nsending or written(&self.encoder.buf) > 0

    cdef int flush_at_exit(self) except -1:
        cdef bint unwritten = self.has_unwritten()
        if self.is_closed or self.is_inherited:
            return 1
        if self.failed:
            return 1 if self.error_reported else self.check_failed()
        if not self.is_finalizing and unwritten:
            warn_unclosed(self, "with unsent messages")
        self.disable_buffering()
        if unwritten:
            self.sink.check_open()
        if self.large_sender == PyThread_get_thread_ident() or pthread_mutex_trylock(&self.mutex) != 0:
            return 0
        self.holder = PyThread_get_thread_ident()
        try:
            self.send_written_so_far()
        finally:
            self.leave()
        return 1

    cdef void disable_buffering(self) noexcept:
        self.is_finalizing = True
        self.flush_bytes = 1

    cdef object release_target(self):
        self.is_closed = True
        return self.sink.target

    # ---- the mutex

    cdef inline int enter(self) except -1:
        self.enter_any()
        if self.is_closed or not self.is_ready or self.failed:
            self.refuse()
        return 0

    cdef inline int enter_any(self) except -1:
        # Also where the writer is closed or has failed.
        cdef unsigned long me = PyThread_get_thread_ident()
        if self.holder == me:
            self.raise_in_use()
        if self.is_inherited:    # the mutex may stay locked for ever, and the parent sends what is in the buffer
            raise_inherited(self)
        self.lock()
        if self.large_sender == me:
            pthread_mutex_unlock(&self.mutex)
            self.raise_in_use()
        self.holder = me
        return 0

    cdef inline void lock(self) noexcept:
        if pthread_mutex_trylock(&self.mutex) != 0:
            with nogil:
                pthread_mutex_lock(&self.mutex)

    cdef inline int leave(self) except -1:
        self.holder = 0
        pthread_mutex_unlock(&self.mutex)
        return 0

    cdef int raise_in_use(self) except -1:
        raise RuntimeError("this CoalescingWriter is in use: re-entered from a hook")

    cdef int refuse(self) except -1:
        self.leave()
        self.check_failed()
        return self.raise_closed()

    cdef int raise_closed(self) except -1:
        raise ValueError("I/O operation on a closed writer")

    cdef int wait(self) except -1:
        # Wait until another thread has sent something, SLICE_MS at most.
        self.counts.waits += 1
        self.nwaiting += 1
        self.holder = 0
        with nogil:
            wait_at_most(&self.progress, &self.mutex, SLICE_MS * 1000000)
        self.nwaiting -= 1
        self.holder = PyThread_get_thread_ident()
        self.check_signals()
        self.check_failed()
        return self.send_full_batches()

    cdef int check_signals(self) except -1:
        PyErr_CheckSignals()
        return self.check_process()

    cdef inline int check_process(self) except -1:
        if self.is_inherited:    # forked by a hook or a signal handler
            raise_inherited(self)
        return 0

    cdef inline int check_failed(self) except -1:
        self.error_reported = self.failed != 0
        if self.failure is not None:
            raise self.failure.with_traceback(None)
        if self.failed:
            raise_errno(self.failed)
        return 0

    # ---- sending
    #
    # One thread at a time sends, and `is_sending` is True meanwhile. The mutex is held, except while send_batch or
    # send_large sends and while a thread waits.
    #
    #   send_batch            once what the kernel takes of a batch
    #   send_until_done       the calling thread: the whole batch, with signals handled
    #   send_full_batches     a thread that has filled a batch, and no longer than until another one waits
    #   send_or_wait          a thread that cannot go on: waits for the thread that sends, or sends if there is none
    #   send_written_so_far   flush() and a writer that ends with the interpreter: what is in both buffers now
    #   send_everything       close(): until both buffers are empty
    #   send_large            write(): a message that does not fit, from its own memory, after all earlier ones
    #   send_overdue_batches  the timer thread: batches that are full or old enough

    cdef int send_batch(self) noexcept nogil:
        # Sends what the descriptor takes at once. The mutex is held on entry and exit and released in between; no
        # other thread is sending. Returns 0 when everything was sent or `failed` is set, and 1 to have signals
        # handled and be called again.
        cdef Py_ssize_t ntaken
        cdef int result = 0
        cdef int failed = 0
        cdef iovec piece
        if self.nsent == self.nsending:
            self.swap_buffers()
        self.is_sending = True
        pthread_mutex_unlock(&self.mutex)
        if self.nsent < self.nsending:
            piece.iov_base = self.sending + self.nsent
            piece.iov_len = self.nsending - self.nsent
            ntaken = send_pieces(self.sink.descriptor, self.sink.is_socket, &piece, 1)
            if ntaken > 0:
                self.nsent += ntaken
                self.stalled_ns = 0
                failed = EINTR    # a signal during a partial write has not interrupted the call: check for it
            else:
                failed = errno if ntaken < 0 else EPIPE
            if failed == EAGAIN:
                failed = self.wait_writable()
        if failed == EINTR:
            result = self.nsent < self.nsending
            failed = 0
        pthread_mutex_lock(&self.mutex)
        self.is_sending = False
        self.failed = failed
        pthread_cond_broadcast(&self.progress)
        return result

    cdef int wait_writable(self) noexcept nogil:
        # Returns ETIMEDOUT, or EINTR to have signals handled and try again: also when the descriptor is writable, since
        # send() may still accept nothing. poll itself fails only with EINTR.
        cdef pollfd one
        cdef long long before = now_ns()
        one.fd = self.sink.descriptor
        one.events = POLLOUT
        one.revents = 0
        poll(&one, 1, SLICE_MS)
        self.stalled_ns += now_ns() - before
        if self.timeout_ms >= 0 and self.stalled_ns > self.timeout_ms * 1000000:
            return ETIMEDOUT
        return EINTR

    cdef void swap_buffers(self) noexcept nogil:
        cdef WriteBuffer* buf = &self.encoder.buf
        cdef unsigned char* empty = self.sending
        self.nsending = buf.cursor - buf.start
        self.nsent = 0
        self.sending = self.filling
        self.filling = empty
        buf.start = buf.cursor = empty
        buf.end = empty + self.capacity
        self.nswaps += 1
        self.counts.batches += self.nsending > 0
        self.counts.largest = max(self.counts.largest, self.nsending)

    cdef int send_until_done(self) except -1:
        # No other thread is sending.
        cdef int interrupted = 1
        self.holder = 0
        while interrupted:
            with nogil:
                interrupted = self.send_batch()
            self.holder = PyThread_get_thread_ident()
            if interrupted:
                self.check_signals()
        return self.check_failed()

    cdef int send_full_batches(self) except -1:
        # Send a full batch, unless another thread is sending: that thread calls this when it has sent its own. A thread
        # that waits sends the next batch, since otherwise one thread could send those of all others without end. What
        # an exception has interrupted is sent by the timer, or by the next call where there is none.
        while not self.is_sending and (
                written(&self.encoder.buf) >= self.flush_bytes or (self.delay_ns < 0 and self.nsent < self.nsending)):
            self.counts.by_size += self.nsent == self.nsending
            self.send_until_done()
            if self.nwaiting:
                break
        return 0

    def _run_timer(self):
        # Runs in the timer thread, which releases the GIL until it ends.
        with nogil:
            self.send_overdue_batches()

    cdef void send_overdue_batches(self) noexcept nogil:
        cdef long long pause, idle_rounds = 0
        cdef Py_ssize_t nfilled
        pthread_mutex_lock(&self.mutex)
        while self.is_running and not self.failed:
            pause = self.delay_ns
            if self.is_sending:
                pthread_cond_wait(&self.progress, &self.mutex)
                continue
            nfilled = self.encoder.buf.cursor - self.encoder.buf.start
            if self.nsent < self.nsending or nfilled:
                idle_rounds = 0
                # first_byte_ns is not that of a batch that is sent in part
                pause = self.first_byte_ns + self.delay_ns - now_ns()
                if self.nsent < self.nsending or nfilled >= self.flush_bytes or pause <= 0:
                    if self.nsent == self.nsending:
                        self.counts.by_size += nfilled >= self.flush_bytes
                        self.counts.by_age += nfilled < self.flush_bytes
                    self.send_batch()
                    continue
            else:
                idle_rounds += 1
                if idle_rounds > IDLE_ROUNDS:
                    self.is_asleep = True
                    pthread_cond_wait(&self.bytes_ready, &self.mutex)
                    self.is_asleep = False
                    idle_rounds = 0
                    continue
            if pause > SLICE_MS * 1000000:
                wait_at_most(&self.bytes_ready, &self.mutex, SLICE_MS * 1000000)    # close() wakes it
                continue
            pthread_mutex_unlock(&self.mutex)
            sleep_ns(pause)
            pthread_mutex_lock(&self.mutex)
        pthread_mutex_unlock(&self.mutex)

    cdef int send_or_wait(self) except -1:
        # Wait until another thread has sent its batch, or send one.
        self.check_process()
        return self.wait() if self.is_sending else self.send_until_done()

    cdef int send_or_wait_open(self) except -1:
        # send_or_wait() before a message is added to the buffer: after close() it would never be sent.
        self.send_or_wait()
        return self.raise_closed() if self.is_closed else 0

    cdef int send_everything(self) except -1:
        while self.is_sending or self.nsent < self.nsending or written(&self.encoder.buf):
            self.send_or_wait()
        return 0

    cdef int send_written_so_far(self) except -1:
        # Send what is in the buffers now: other threads may continue to write.
        cdef long long last = self.nswaps + (written(&self.encoder.buf) > 0)
        while self.nswaps < last or (self.nswaps == last and (self.is_sending or self.nsent < self.nsending)):
            self.send_or_wait()
        return 0

    cdef int send_large(self, Py_ssize_t before) except -1:
        # The message that starts at `before` does not fit: it is removed from the buffer and sent from its own memory,
        # after everything that was written earlier.
        cdef BlockEncoder detached = self.detach_message(before)
        cdef long long last = self.nswaps + (before > 0)
        while self.is_sending or self.nsent < self.nsending or self.nswaps < last:
            self.send_or_wait_open()
        self.is_sending = True
        self.large_sender = PyThread_get_thread_ident()
        self.counts.batches += 1
        self.counts.largest = max(self.counts.largest, detached.nbytes())
        self.leave()
        try:
            detached.send_to(self.sink)
        except BaseException as error:
            self.failure = error
            raise
        finally:
            self.lock()
            self.holder = PyThread_get_thread_ident()
            self.large_sender = 0
            self.is_sending = False
            if self.failure is not None:
                self.failed = EPIPE    # nothing may follow a partial message
            pthread_cond_broadcast(&self.progress)
        return 0

    cdef BlockEncoder detach_message(self, Py_ssize_t before):
        cdef BlockEncoder encoder = self.encoder
        cdef BlockEncoder detached
        cdef Py_ssize_t i
        try:
            detached = BlockEncoder("native")
            detached.append_copy(encoder.buf.start + before, written(&encoder.buf) - before)
        except:
            encoder.drop_external_parts(0)
            raise
        finally:
            encoder.buf.cursor = encoder.buf.start + before
        detached.external_parts, detached.external_capacity = encoder.external_parts, encoder.external_capacity
        detached.nexternal, detached.external_nbytes = encoder.nexternal, encoder.external_nbytes
        encoder.external_parts = NULL
        encoder.nexternal = encoder.external_capacity = encoder.external_nbytes = 0
        for i in range(detached.nexternal):
            detached.external_parts[i].at -= before
        self.restore()
        return detached

    # ---- for users

    def write(self, args, *, id=0, reply=False):
        """Add one message; wait where the buffer is full.

        Arguments and encode errors as for `BlockEncoder.encode`; OSError when the peer is gone or stalls
        beyond the socket's timeout.

        >>> import os
        >>> with CoalescingWriter(os.open(os.devnull, os.O_WRONLY)) as writer:
        ...     writer.write([1])
        """
        cdef BlockEncoder encoder = self.encoder
        cdef Py_ssize_t before
        self.enter()
        try:
            while written(&encoder.buf) > self.capacity - SCRATCH:
                self.send_or_wait_open()
            before = written(&encoder.buf)
            encoder.append_message(args, parse_id(id), reply)
            self.check_process()
            self.counts.messages += 1
            self.counts.bytes += encoder.nbytes() - before
            if encoder.nexternal or encoder.buf.owner != NULL:
                self.send_large(before)
            elif before == 0 and self.delay_ns >= 0:
                self.first_byte_ns = now_ns()
                if self.is_asleep:
                    pthread_cond_broadcast(&self.bytes_ready)
            if not self.is_finalizing:
                self.send_full_batches()
            elif written(&encoder.buf):
                self.counts.by_size += 1
                self.send_written_so_far()
        finally:
            self.restore()
            self.leave()

    cdef int restore(self) except -1:
        # The buffer was reallocated for a message that has been removed again:
        # the messages before it return to `filling`.
        cdef BlockEncoder encoder = self.encoder
        cdef Py_ssize_t nbytes = written(&encoder.buf)
        if encoder.buf.owner == NULL:
            return 0
        memcpy(self.filling, encoder.buf.start, nbytes)
        drop(&encoder.buf)
        start_scratch(&encoder.buf, self.filling, self.capacity)
        encoder.buf.cursor += nbytes
        return 0

    def flush(self):
        """Send all that was written before, and wait until the kernel has it; what others write meanwhile may wait.

        >>> import os
        >>> CoalescingWriter(os.open(os.devnull, os.O_WRONLY)).flush()
        """
        self.enter()
        try:
            self.counts.by_request += 1
            self.send_written_so_far()
            self.send_full_batches()
        finally:
            self.leave()

    def close(self):
        """Send all that was written and stop; the sink stays open. Closing again does nothing.

        Raises what sending raised; the CoalescingWriter is closed all the same.

        >>> import os
        >>> CoalescingWriter(os.open(os.devnull, os.O_WRONLY)).close()
        """
        cdef bint was_closed
        if self.is_closed or not self.is_ready or self.is_inherited:
            return
        self.enter_any()    # raises in a hook: the writer stays open for the outer call
        was_closed, self.is_closed = self.is_closed, True    # messages that are not in the buffer yet are refused
        try:
            self.check_failed()
            if not was_closed:    # by another thread, meanwhile
                self.counts.by_request += 1
                self.send_everything()
        finally:
            self.leave()
            unregister_writer(self)
            self.stop_thread()

    cdef int stop_thread(self) except -1:
        thread = self.thread    # two threads may call close()
        if thread is None:
            return 0
        with nogil:
            pthread_mutex_lock(&self.mutex)
            self.is_running = False
            pthread_cond_broadcast(&self.bytes_ready)
            pthread_cond_broadcast(&self.progress)
            pthread_mutex_unlock(&self.mutex)
        thread.join()
        self.thread = None
        return 0

    @property
    def closed(self):
        """Whether the CoalescingWriter is closed.

        >>> import os
        >>> CoalescingWriter(os.open(os.devnull, os.O_WRONLY)).closed
        False
        """
        return self.is_closed or not self.is_ready

    @property
    def stats(self):
        """The statistics so far, as a dict.

        messages, bytes: written. batches: sent; by_size, by_age, by_request: the reasons. waits: how often a writer
        waited for free capacity. largest: bytes of the largest batch.

        >>> import os
        >>> CoalescingWriter(os.open(os.devnull, os.O_WRONLY)).stats["messages"]
        0
        """
        cdef Counts counts
        if self.holder == PyThread_get_thread_ident() or self.is_inherited:    # of a forked child: see enter_any
            return self.counts
        self.lock()
        counts = self.counts
        pthread_mutex_unlock(&self.mutex)
        return counts


cdef unsigned char* resized(unsigned char* memory, Py_ssize_t nbytes) except NULL:
    memory = <unsigned char*>PyMem_Realloc(memory, nbytes)
    if memory == NULL:
        raise MemoryError
    return memory
