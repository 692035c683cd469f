# BlockDecoder: input that is fed in pieces.

cdef class BlockDecoder(Parser):
    "BlockDecoder(wire='bytes', *, max_bytes=None, skip_bad=False, pickle='safe', exact=False, map_pairs=False, " \
        "ext_hook=None, unicode_errors='strict', dialect='hadoop', max_depth=256)\n--\n\n" \
        """Decode messages from input that is split into pieces of any size.

    wire: as for `BlockEncoder`; native messages are always recognised and decoded too. max_bytes: of one
    message, None for no limit. skip_bad: skip malformed messages whose end is known, and count them in
    `skipped`. Other options are those of `Decoder`, for values nested in native messages; exact=True also keeps
    the widths of the message's own numbers.

    After an error, also one that a hook raised, a BlockDecoder stays failed and raises the error again.

    >>> BlockDecoder().feed(bytes.fromhex("00000001000000030000000500000000"))
    [Message((5,)), Message(())]
    """

    def __init__(self, wire="bytes", *, max_bytes=None, skip_bad=False, **options):
        if self.buf.storage != NULL:
            raise RuntimeError("a BlockDecoder cannot be initialised again")
        self.configure(wire, max_bytes, skip_bad, options)
        start_filled(&self.buf, 256, NULL, NULL)
        self.state = OPEN

    @property
    def pending(self):
        """The number of bytes fed that belong to an incomplete message.

        >>> decoder = BlockDecoder(); decoder.feed(bytes(3)); decoder.pending
        []
        3
        """
        return offset_of(&self.buf, self.buf.end) - self.message_offset if self.phase != HEAD else held(&self.buf)

    def feed(self, data):
        """Decode more bytes and return the list of the messages that are now complete.

        Each is a Message: a sequence of its values, with the `id` of a native message. Raises BlockError for
        malformed bytes and LimitError beyond a limit; when complete messages precede the error, they are returned,
        and the next call raises.

        >>> decoder = BlockDecoder("total")
        >>> decoder.feed(bytes.fromhex("000000")), decoder.feed(bytes.fromhex("0400000000"))
        ([], [Message(())])
        """
        cdef Py_buffer view
        cdef list messages = []
        self.enter()
        try:
            contiguous = get_view(data, &view)
            try:
                self.take(<const unsigned char*>view.buf, view.len, messages)
            except BaseException as error:    # the rest of the data is discarded
                self.failure = error
                self.drop_message()
                reraise_memory_error(error)
                if not messages or not isinstance(error, DecodeError):
                    raise
            finally:
                PyBuffer_Release(&view)
        finally:
            self.leave()
        return messages

    def decode(self, data):
        """Decode the bytes of exactly one message, as `BlockEncoder.encode` returns them, and return the Message.

        Raises TruncatedError if they end inside it, BlockError if bytes follow it,
        ValueError while fed bytes of another message are held.

        >>> BlockDecoder("total").decode(BlockEncoder("total").encode([5, "a"]))
        Message((5, 'a'))
        """
        cdef Py_buffer view
        cdef ReadBuffer borrowed
        self.enter()
        try:
            if self.phase != HEAD or held(&self.buf):
                raise ValueError("decode() takes a whole message, but the decoder holds a part of one that was fed")
            contiguous = get_view(data, &view)
            try:
                borrow(&borrowed, <const unsigned char*>view.buf, view.len)
                borrowed.start_offset = offset_of(&self.buf, self.buf.end)
                message = self.parse(&borrowed)
                if message is None:
                    self.raise_truncated(&borrowed)
                if held(&borrowed):
                    self.raise_block_error(&borrowed, 0,
                                           f"expected one message, found {held(&borrowed)} bytes after it")
                self.buf.start_offset = offset_of(&borrowed, borrowed.cursor)
                self.buf.start = self.buf.cursor = self.buf.end = self.buf.storage
            except BaseException as error:
                self.failure = error
                self.drop_message()
                reraise_memory_error(error)
                raise
            finally:
                PyBuffer_Release(&view)
        finally:
            self.leave()
        return message

    def close(self):
        """End the input: TruncatedError when a message is incomplete, or the error that has not been raised yet.

        >>> decoder = BlockDecoder(); decoder.feed(bytes(3))
        []
        >>> decoder.close()
        Traceback (most recent call last):
        typedbytes.errors.TruncatedError: input ends inside a message at offset 3, record 0
        """
        self.enter()
        try:
            if self.phase != HEAD or held(&self.buf):
                self.raise_truncated(&self.buf)
        except TruncatedError as error:
            reraise_memory_error(error)
            self.failure = error
            raise
        finally:
            self.leave()

    cdef int enter(self) except -1:
        if self.buf.storage == NULL:
            raise ValueError("this BlockDecoder was not initialised")
        if not claim_state(&self.state, OPEN, BUSY):
            refuse_call(self, self.state, self.failure, "decoder")
        return 0

    cdef int take(self, const unsigned char* p, Py_ssize_t nbytes, list messages) except -1:
        # Held bytes are completed by only as many as the parser needs; all others are decoded without a copy.
        cdef ReadBuffer borrowed
        cdef Py_ssize_t part
        while held(&self.buf) and nbytes:
            part = min(self.to_add(p, nbytes), nbytes)
            append(&self.buf, p, part)
            p += part
            nbytes -= part
            self.parse_all(&self.buf, messages)
        if nbytes:
            borrow(&borrowed, p, nbytes)
            borrowed.start_offset = offset_of(&self.buf, self.buf.end)
            try:
                self.parse_all(&borrowed, messages)
            finally:
                self.buf.start_offset = offset_of(&borrowed, borrowed.cursor)
                self.buf.start = self.buf.cursor = self.buf.end = self.buf.storage
            append(&self.buf, borrowed.cursor, held(&borrowed))
        shrink(&self.buf)
        return 0

    cdef Py_ssize_t to_add(self, const unsigned char* p, Py_ssize_t nbytes) noexcept:
        cdef const unsigned char* end
        if self.phase != LINES:
            return max(self.wanted - held(&self.buf), 1)
        end = <const unsigned char*>memchr(p, c"\n", nbytes)
        return nbytes if end == NULL else end - p + 1

    cdef int parse_all(self, ReadBuffer* b, list messages) except -1:
        while True:
            message = self.parse(b)
            if message is None:
                return 0
            messages.append(message)
