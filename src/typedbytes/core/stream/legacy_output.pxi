# The inner loop of typedbytes.legacy.Output.
#
# An Output writes each record to its file at once. If the file has a buffer or is standard output, and in writes() for
# any file, records are deferred while the iteration that made the last step has input that it has read ahead: they are
# sent before it reads more, ends or is given up, so that a process never waits for input with records unsent. The files
# of typedbytes/legacy/_read_ahead.py send them in read1(); a file that is read directly is seekable, and reading it
# does not wait. While records are deferred, the methods of the file are replaced by ones that send them first, where
# they can be: it is guarded.
#
# Threads may share an Output: a record is written as a whole. Without the GIL they take turns,
# and no record is deferred.

cimport cython

cdef enum:
    MAX_COPIED = 32768    # bytes of a record that are copied to the deferred ones

cdef RecordOutput DEFERRED = None    # the output with deferred records


cpdef int send_deferred() except -1:
    """Write what an Output has deferred."""
    cdef RecordOutput output = DEFERRED    # owned: sending clears what may be the last reference
    return 0 if output is None else output.send()


cdef class SendFirst:
    """Call a method of a file, after the records deferred for it have been sent."""

    cdef object file
    cdef object method    # of the class

    def __call__(self, *args, **options):
        send_deferred()
        return self.method(self.file, *args, **options)


cdef int guard(object file) except -1:
    # An attribute of a file comes before the method of its class.
    cdef SendFirst first
    for name in GUARDED:
        first = SendFirst.__new__(SendFirst)
        first.file, first.method = file, getattr(type(file), name)
        file.__dict__[name] = first
    return 0


cdef int unguard(object file) except -1:
    for name in GUARDED:
        if type(file.__dict__.get(name)) is SendFirst:
            del file.__dict__[name]
    return 0


cdef class RecordOutput(FlushedAtExit):
    """Write values to a file, each in a call of its own. A subclass has _write_with_handlers(record)."""

    cdef EncodeOptions options
    cdef object sink
    cdef object method          # of a sink whose class is the interpreter's; None: looked up in each call
    cdef dict handlers
    cdef bint is_raw
    cdef bint may_defer
    cdef bint can_guard         # the file's methods can be replaced by SendFirst: none is overridden on the object
    cdef readonly bint _file_failed  # the last call of the file raised
    # to any file: neither an overridden write() nor pickling runs user code between two records
    cdef bint may_defer_in_writes
    cdef WriteBuffer spare      # for the next record
    cdef WriteBuffer deferred   # whole records

    def __cinit__(self, *args, **options):
        self.options = DEFAULT_ENCODE

    def __dealloc__(self):
        drop(&self.spare)
        drop(&self.deferred)

    def __configure__(self, dict handlers, bint is_stdout, bint may_defer_in_writes, **options):
        """Set what write() looks at; is_stdout: the file is a FileIO for standard output. Used by legacy."""
        self.options = EncodeOptions(**options)
        self.handlers = handlers
        self.can_guard = (is_stdout or type(self.sink) is io.BufferedWriter) and GUARDED.isdisjoint(self.sink.__dict__)
        self.may_defer = self.can_guard
        self.may_defer_in_writes = may_defer_in_writes

    def __call_file__(self, function, *args):
        """Call a method of the file, or a function that does. Used by legacy."""
        self._file_failed = True
        function(*args)
        self._file_failed = False

    @property
    def file(self):
        """The file; it has all that was written."""
        self.send()
        return self.sink

    @file.setter
    def file(self, file):
        # another Output may have the same file, whose methods are replaced while records are deferred
        send_deferred()
        method = file.write if type(file) in (io.BufferedWriter, io.BytesIO, io.FileIO) else None
        is_raw = isinstance(file, io.RawIOBase)
        with cython.critical_section(self):
            self.sink, self.method, self.is_raw = file, method, is_raw
            self.may_defer = self.can_guard = False

    def write(self, obj):
        """Write one value.

        Raises EncodeTypeError or EncodeValueError, and what the file raises.

        >>> import io; from typedbytes import Output
        >>> Output(io.BytesIO()).write([1, 2.5, "text"])
        """
        cdef EncodeOptions options = self.options
        cdef Encoding e
        if self.handlers:
            self._write_with_handlers(obj)
            return
        memcpy(&e, &options.template, sizeof(Encoding))
        with cython.critical_section(self):
            self.borrow_buffer(&e.buf)
            try:
                encode_record(&e, <PyObject*>obj)
                self.write_or_defer(&e.buf)
            finally:
                self.return_buffer(&e.buf)

    def writes(self, iterable):
        """Write every value of an iterable; raises as `write`.

        >>> import io; from typedbytes import Output
        >>> Output(io.BytesIO()).writes([1, 2])
        """
        records = iter(iterable)
        if type(records) is ReadAheadIterator and self.may_defer_in_writes and not self.handlers:
            self.may_defer = True
        try:
            write = self.write
            for record in records:
                write(record)
                record = None    # a reader reuses a tuple to which there is no other reference
        finally:
            self.may_defer = self.can_guard
            self.send()

    cdef int borrow_buffer(self, WriteBuffer* b) except -1:
        # Memory for a record; not in self meanwhile, since encoding and writing may call code that writes another one.
        if self.spare.owner == NULL:
            return start_owned(b, WRITE_SIZE + SCRATCH)
        b.start = b.cursor = self.spare.start
        b.end = self.spare.end
        b.owner = self.spare.owner
        self.spare.owner = NULL
        return 0

    cdef void return_buffer(self, WriteBuffer* b) noexcept:
        if self.spare.owner != NULL or b.end - b.start > 4 * (WRITE_SIZE + SCRATCH):
            drop(b)
        else:
            # field by field: a copy of the struct would stall on the recent store to `cursor`
            self.spare.start = self.spare.cursor = b.start
            self.spare.end = b.end
            self.spare.owner = b.owner

    cdef int write_or_defer(self, WriteBuffer* b) except -1:
        if self.may_defer and is_ahead(CURRENT_READER) and written(b) <= MAX_COPIED:
            return self.defer(b)
        if DEFERRED is not None:
            send_deferred()
        return self.write_to_file(b)

    cdef int defer(self, WriteBuffer* b) except -1:
        if not self.can_defer_more(b):
            send_deferred()
            if DEFERRED is None:
                self.start_deferring()
            # the file that was written to has written records itself, which are deferred now
            if not self.can_defer_more(b):
                return self.write_to_file(b)
        memcpy(self.deferred.cursor, b.start, written(b))
        self.deferred.cursor += written(b)
        return self.send() if written(&self.deferred) >= WRITE_SIZE else 0

    cdef inline bint can_defer_more(self, WriteBuffer* b) noexcept:
        return DEFERRED is self and not self.is_inherited and self.deferred.end - self.deferred.cursor >= written(b)

    cdef int start_deferring(self) except -1:
        global DEFERRED
        if self.deferred.owner == NULL:
            start_owned(&self.deferred, WRITE_SIZE + SCRATCH)
        self.deferred.cursor = self.deferred.start
        DEFERRED = self
        if self.can_guard:
            guard(self.sink)
        return 0

    cdef int send(self) except -1:
        global DEFERRED
        if DEFERRED is not self:
            return 0
        DEFERRED = None
        if self.can_guard:
            unguard(self.sink)
        if self.is_inherited:    # the parent writes it
            return adopt_writer(self)
        return self.write_to_file(&self.deferred)

    cdef int write_to_file(self, WriteBuffer* b) except -1:
        # The file gets the buffer's own bytes, which are filled again if it keeps no reference to them.
        # A file of the caller's gets a copy.
        cdef Py_ssize_t nbytes = written(b)
        cdef Py_ssize_t capacity = b.end - b.start
        cdef Py_ssize_t ntaken
        cdef bytes filled
        self._file_failed = True
        if self.method is None:
            write_all(self.sink, b.start[:nbytes])
            self._file_failed = False
            return 0
        bytes_shorten(&b.owner, nbytes)
        filled = take_owner(b)
        ntaken = checked_written(self.method(filled), nbytes, self.is_raw)
        if ntaken < nbytes:
            write_all(self.sink, memoryview(filled)[ntaken:])
        self._file_failed = False
        if b.owner == NULL and bytes_restore(<PyObject*>filled, capacity):
            adopt(b, filled)
        return 0


cdef class PairRecordOutput(RecordOutput):
    """Write pairs as RecordOutput writes values."""

    def write(self, pair):
        """Write a key and its value. An error writes neither, unless a handler is registered.

        Raises as `Output.write`, and what unpacking `pair` raises: TypeError or ValueError.

        >>> import io; from typedbytes import PairedOutput
        >>> PairedOutput(io.BytesIO()).write(("key", 1))
        """
        # No cdef method of RecordOutput is overridden here: PairedOutput has the virtual methods
        # of its first base, Output.
        cdef EncodeOptions options = self.options
        cdef Encoding e
        key, value = pair
        if self.handlers:
            self._write_with_handlers((key, value))
            return
        memcpy(&e, &options.template, sizeof(Encoding))
        with cython.critical_section(self):
            self.borrow_buffer(&e.buf)
            try:
                encode_pair(&e, <PyObject*>key, <PyObject*>value)
                self.write_or_defer(&e.buf)
            finally:
                self.return_buffer(&e.buf)
