# AsyncCoalescingWriter: messages of the tasks of one event loop, sent in batches.

cdef class CompletedAwaitable:
    # An awaitable that is complete: `await` returns at once.
    def __await__(self):
        return NO_STEPS


cdef object NO_STEPS = iter(())
cdef CompletedAwaitable COMPLETED = CompletedAwaitable()


cdef class AsyncCoalescingWriter(OpenWriter):
    "AsyncCoalescingWriter(sink, wire='bytes', *, flush_bytes=16384, max_delay=0.0, buffer_size=65536, " \
        "max_inflight=None, checksum=False, int_width='auto', pickle='safe', default=None, sort_keys=False, " \
        "unicode_errors='strict', dialect='hadoop', max_depth=256)\n--\n\n" \
        """Gather small messages and send them in batches, from the tasks of one event loop.

    sink: a socket that does not block. wire and further options: as for `BlockEncoder`. flush_bytes: a batch of this
    size is sent at once; a smaller one at the next iteration of the loop, or after max_delay seconds. buffer_size:
    bytes that may wait to be sent; beyond that, `await writer.write(...)` waits. It also waits until a value of 64 KiB
    or more has been sent, which is not copied. max_inflight: as for `CoalescingWriter`. A forked child process can
    neither write nor send its parent's messages.

    >>> import asyncio, socket
    >>> async def main():
    ...     ours, theirs = socket.socketpair()
    ...     ours.setblocking(False)
    ...     async with AsyncCoalescingWriter(ours) as writer:
    ...         for number in range(3):
    ...             await writer.write([number])
    ...     print(writer.stats["batches"], len(theirs.recv(100)))
    ...     ours.close(); theirs.close()
    >>> asyncio.run(main())
    1 36
    """

    cdef BlockEncoder encoder
    cdef Sink sink
    cdef object loop
    cdef object failure
    cdef object waiters           # futures of tasks that wait for free capacity, in order
    cdef object drainers          # futures of tasks that wait until everything was sent
    cdef object flush_soon        # bound methods are made once
    cdef Py_ssize_t buffer_size
    cdef Py_ssize_t flush_bytes
    cdef Py_ssize_t nsent         # bytes of the buffer that the kernel has accepted
    cdef double max_delay
    cdef Counts counts
    cdef bint flush_scheduled
    cdef bint is_blocked          # the kernel's buffer is full: the loop calls back when it is not
    cdef bint is_finalizing       # the interpreter ends: the loop is not waited for
    cdef bint error_reported      # a call has raised the error of sending
    cdef bint is_closed

    def __init__(self, sink, wire="bytes", *, Py_ssize_t flush_bytes=FLUSH_BYTES, max_delay=0.0,
                 Py_ssize_t buffer_size=COALESCE_BUFFER, max_inflight=None, **options):
        from asyncio import get_running_loop
        from collections import deque
        if self.encoder is not None:
            raise RuntimeError("an AsyncCoalescingWriter cannot be initialised again")
        check_sizes(flush_bytes, buffer_size)
        if not 0 <= max_delay <= 3600:
            raise ValueError(f"max_delay must be 0..3600 seconds, not {max_delay}")
        self.loop = get_running_loop()
        self.sink = descriptor_sink(sink)
        if getattr(sink, "gettimeout", lambda: 0.0)() != 0.0 or os.get_blocking(self.sink.descriptor):
            raise ValueError("the socket must not block: socket.setblocking(False)")
        bound_inflight(self.sink, max_inflight)
        self.waiters = deque()
        self.drainers = []
        self.flush_soon = self._flush_due
        self.flush_bytes = flush_bytes
        self.buffer_size = buffer_size
        self.max_delay = max_delay
        encoder = BlockEncoder(wire, **options)
        (<BlockEncoder>encoder).enlarge(flush_bytes + SCRATCH)
        if register_writer(self):
            self.disable_buffering()
        self.encoder = encoder

    def __dealloc__(self):
        unregister_writer(self)

    def __del__(self):
        if self.encoder is None:
            return
        try:
            if not self.flush_at_exit():
                raise BlockingIOError(EAGAIN, "the rest cannot be sent: the event loop no longer waits for the socket")
        except BaseException as error:
            report_unraisable(self, error)

    # ---- at interpreter exit, or when the writer is collected: the loop may have been closed

    cdef int flush_at_exit(self) except -1:
        if self.is_closed or self.is_inherited:
            return 1
        if self.failure is not None:
            return 1 if self.error_reported else self.check()
        if not self.unsent_nbytes():
            self.disable_buffering()
            return 1
        if self.encoder.state == BUSY:
            return 0
        if not self.is_finalizing:
            warn_unclosed(self, "with unsent messages")
        self.disable_buffering()
        self.sink.check_open()
        self.send_some()
        if self.unsent_nbytes():
            return 0
        self.encoder.leave()
        self.nsent = 0
        return 1

    cdef void disable_buffering(self) noexcept:
        self.is_finalizing = True
        self.flush_bytes = 1

    cdef object release_target(self):
        self.is_closed = True
        return self.sink.target

    def __reduce__(self):
        raise TypeError("an AsyncCoalescingWriter cannot be pickled")

    async def __aenter__(self):
        return self

    async def __aexit__(self, *exception):
        await self.close()

    cdef int check(self) except -1:
        if self.failure is not None:
            self.error_reported = True
            raise self.failure.with_traceback(None)
        if self.is_closed or self.encoder is None:
            raise ValueError("I/O operation on a closed writer")
        if self.is_inherited:    # the parent sends what is in the buffer
            raise_inherited(self)
        if self.encoder.state == BUSY:
            self.encoder.enter()
        return 0

    def write(self, args, *, id=0, reply=False):
        """Add one message; await the result, which waits only while the buffer is full or a large value is being sent.

        Arguments and errors as for `CoalescingWriter.write`.

        >>> import asyncio, socket
        >>> async def main():
        ...     ours, theirs = socket.socketpair()
        ...     with ours, theirs:
        ...         ours.setblocking(False)
        ...         async with AsyncCoalescingWriter(ours, "type8") as writer:
        ...             await writer.write([1])
        >>> asyncio.run(main())
        """
        if self.failure is not None or self.is_closed or self.encoder is None or self.is_inherited:
            self.check()
        if self.waiters or not self.has_capacity():
            return self._write_later(args, id, reply)
        self.put(args, id, reply)
        return self._wait_drained() if self.encoder.nexternal else COMPLETED

    async def _write_later(self, args, id, reply):
        # Waiting tasks continue one after the other, in the order of their calls, while there is free capacity.
        self.counts.waits += 1
        waiter = self.loop.create_future()
        self.waiters.append(waiter)
        try:
            await waiter
            self.check()
            self.put(args, id, reply)
        finally:
            if waiter in self.waiters:
                self.waiters.remove(waiter)
            self.wake()
        if self.encoder.nexternal:
            await self._wait_drained()

    cdef inline bint has_capacity(self) noexcept:
        return self.unsent_nbytes() < self.buffer_size and not self.encoder.nexternal

    cdef inline Py_ssize_t unsent_nbytes(self) noexcept:
        return self.encoder.nbytes() - self.nsent

    cdef int put(self, args, id, bint reply) except -1:
        cdef BlockEncoder encoder = self.encoder
        cdef Py_ssize_t before = encoder.nbytes()
        encoder.enter()
        try:
            encoder.append_message(args, parse_id(id), reply)
        finally:
            encoder.state = OPEN
        self.counts.messages += 1
        self.counts.bytes += encoder.nbytes() - before
        if self.is_blocked:
            return 0
        if encoder.nbytes() >= self.flush_bytes:
            self.counts.by_size += 1
            return self.send()
        if not self.flush_scheduled:
            self.flush_scheduled = True
            if self.max_delay > 0:
                self.loop.call_later(self.max_delay, self.flush_soon)
            else:
                self.loop.call_soon(self.flush_soon)
        return 0

    # Callbacks of the loop. A forked child that keeps running the loop calls them too, so they check is_inherited.

    def _flush_due(self):
        self.flush_scheduled = False
        if self.can_send() and not self.is_blocked and not self.is_closed and self.failure is None \
                and self.unsent_nbytes():
            self.counts.by_age += 1
            self.send()

    cdef inline bint can_send(self) noexcept:
        # Not while a hook runs another loop inside a message; after it the next flush is scheduled.
        return self.encoder is not None and self.encoder.state != BUSY and not self.is_inherited

    cdef int send(self) except -1:
        # Send as much as the kernel accepts; `_on_writable` sends the rest.
        # An error is raised by the calls that follow.
        cdef Py_ssize_t total = self.encoder.nbytes()
        try:
            self.send_some()
        except OSError as error:
            self.failure = error
        self.counts.batches += 1
        self.counts.largest = max(self.counts.largest, total)
        if self.failure is not None or self.nsent == total:
            self.encoder.leave()
            self.nsent = 0
        elif not self.encoder.nexternal:
            memmove(self.encoder.buf.start, self.encoder.buf.start + self.nsent, total - self.nsent)
            self.encoder.buf.cursor -= self.nsent
            self.nsent = 0
        self.watch(self.encoder.nbytes() > 0)
        self.wake()
        return 0

    cdef int send_some(self) except -1:
        cdef iovec pieces[2 * FEW_EXTERNAL_PARTS + 1]
        cdef BlockEncoder encoder = self.encoder
        cdef Py_ssize_t npieces, ntaken
        cdef Py_ssize_t total = encoder.nbytes()
        self.sink.check_open()
        while self.nsent < total:
            npieces = encoder.list_pieces(pieces, 2 * FEW_EXTERNAL_PARTS + 1, self.nsent)
            ntaken = send_pieces(self.sink.descriptor, self.sink.is_socket, pieces, npieces)
            if ntaken > 0:
                self.nsent += ntaken
            elif ntaken < 0 and errno == EAGAIN:
                return 0
            else:
                raise_errno(errno if ntaken < 0 else EPIPE)    # pieces are never empty
        return 0

    cdef int watch(self, bint wanted) except -1:
        if wanted and not self.is_blocked:
            self.loop.add_writer(self.sink.descriptor, self._on_writable)
        elif not wanted and self.is_blocked:
            self.loop.remove_writer(self.sink.descriptor)
        self.is_blocked = wanted
        return 0

    def _on_writable(self):
        if self.can_send() and self.unsent_nbytes():
            self.send()

    cdef int wake(self) except -1:
        if self.failure is not None or self.is_closed or self.has_capacity():
            while self.waiters:
                waiter = self.waiters.popleft()
                if not waiter.done():
                    waiter.set_result(None)
                    break    # the task just woken wakes the next one
        if self.failure is not None or self.is_closed or not self.unsent_nbytes():
            drainers, self.drainers = self.drainers, []
            for waiter in drainers:
                if not waiter.done():
                    waiter.set_result(None)
        return 0

    async def drain(self):
        """Send all that was written, and wait until the kernel has it.

        >>> import asyncio, socket
        >>> async def main():
        ...     ours, theirs = socket.socketpair()
        ...     with ours, theirs:
        ...         ours.setblocking(False)
        ...         await AsyncCoalescingWriter(ours).drain()
        >>> asyncio.run(main())
        """
        self.check()
        self.counts.by_request += 1
        if not self.is_blocked and self.unsent_nbytes():
            self.send()
        await self._wait_drained()

    async def _wait_drained(self):
        while self.unsent_nbytes() and self.failure is None and not self.is_closed:
            self.drainers.append(self.loop.create_future())
            await self.drainers[len(self.drainers) - 1]
        if self.failure is not None or self.unsent_nbytes():
            self.check()

    async def close(self):
        """Send all that was written and stop; the socket stays open. Closing again does nothing.

        >>> import asyncio, socket
        >>> async def main():
        ...     ours, theirs = socket.socketpair()
        ...     with ours, theirs:
        ...         ours.setblocking(False)
        ...         await AsyncCoalescingWriter(ours).close()
        >>> asyncio.run(main())
        """
        if self.is_closed or self.encoder is None or self.is_inherited:
            return
        if self.encoder.state == BUSY:
            self.encoder.enter()
        try:
            await self.drain()
        finally:
            self.is_closed = True
            unregister_writer(self)
            self.watch(False)
            self.wake()

    @property
    def closed(self):
        """Whether the AsyncCoalescingWriter is closed.

        >>> import asyncio, socket
        >>> async def main():
        ...     ours, theirs = socket.socketpair()
        ...     with ours, theirs:
        ...         ours.setblocking(False)
        ...         return AsyncCoalescingWriter(ours).closed
        >>> asyncio.run(main())
        False
        """
        return self.is_closed or self.encoder is None

    @property
    def stats(self):
        """The statistics so far, as `CoalescingWriter.stats`.

        >>> import asyncio, socket
        >>> async def main():
        ...     ours, theirs = socket.socketpair()
        ...     with ours, theirs:
        ...         ours.setblocking(False)
        ...         return AsyncCoalescingWriter(ours).stats["messages"]
        >>> asyncio.run(main())
        0
        """
        return self.counts
