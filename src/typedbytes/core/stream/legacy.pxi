# The inner loop of typedbytes.legacy.
#
# An iteration over an Input takes its values from a Reader that reads ahead, as long as no code has used the Input or its file in
# between; the Input then closes that Reader, and the next step asks for another one.
#
# An Output writes each record to its file at once. Where that would be a system call for each, and in writes(), records wait as long as
# an iteration has input that it has read ahead: they are sent before it reads more, ends or is given up, so that a process never waits
# for input with records unsent. The windows of legacy send them in read1(); a file that is read directly is one on a disk.

cdef extern from "Python.h":
    int Py_EnterRecursiveCall(const char* where) except -1
    void Py_LeaveRecursiveCall() noexcept


cdef Reader AHEAD = None             # the reader of the iteration that made the last step
cdef RecordOutput DEFERRED = None    # the output with records that wait


cpdef int send_deferred() except -1:
    """Write what an Output has deferred."""
    cdef RecordOutput output = DEFERRED    # owned: sending clears what may be the last reference
    return 0 if output is None else output.send()


cdef inline bint is_ahead(Reader reader) noexcept:
    return reader is not None and reader.state == OPEN and held(&reader.d.buf) > 0


cdef class ReadAheadIterator(RecordIterator):
    """Iterate over the values or pairs of an Input, with bytes as the class bytes_type.

    open_reader() returns a Reader that reads ahead, or None; read() then returns the next record, or END. leave(reader, error, at_end) is
    called when the iteration no longer uses a reader, and for an error.
    """

    cdef object open_reader
    cdef object read
    cdef object leave
    cdef object bytes_type
    cdef Reader reader

    def __init__(self, open_reader, read, leave, bytes_type):
        self.open_reader = open_reader
        self.read = read
        self.leave = leave
        self.bytes_type = bytes_type

    def __del__(self):
        self.release_reader(None, False)

    cdef object step(self):
        cdef Reader reader = self.reader
        if reader is None or reader.state != OPEN:
            self.reader = None
            reader = self.open_reader()
            if reader is None:
                return self.read()
            self.reader = reader
        follow(reader)
        record = self.next_record(reader)
        if record is NOTHING:
            self.release_reader(None, True)
        return record

    cdef inline object next_record(self, Reader reader):
        cdef PyObject* parts[2]
        reader.enter()
        if reader.nparts == 1:
            parts[0] = (<record_function>reader.next_record)(reader)
            if parts[0] != NULL:
                reader.state = OPEN
                return self.converted(parts[0])
        elif (<parts_function>(<PairReader>reader).next_parts)(<PairReader>reader, &parts[0], &parts[1]) > 0:
            reader.state = OPEN
            if may_have_bytes(parts[0]) or may_have_bytes(parts[1]):
                key, value = taken(parts[0]), taken(parts[1])
                return replace_bytes(key, self.bytes_type), replace_bytes(value, self.bytes_type)
            return taken((<PairReader>reader).pair_of(parts[0], parts[1]))
        reader.keep_failure()
        return NOTHING

    cdef inline object converted(self, PyObject* value):
        result = taken(value)
        return replace_bytes(result, self.bytes_type) if may_have_bytes(value) else result

    cdef int fail(self, error) except -1:
        try:
            self.release_reader(error, False)
        except BaseException as another:
            error = another
        return RecordIterator.fail(self, error)

    cdef int release_reader(self, error, bint at_end) except -1:
        cdef Reader reader = self.reader
        self.reader = None
        if reader is not None or error is not None:
            self.leave(reader, error, at_end)
        if reader is not None:
            follow(None)
        return 0

    def close(self):
        """End the iteration."""
        self._hold(self.stop)
        self.over = True

    def stop(self):
        self.release_reader(None, False)


cdef inline int follow(Reader reader) except -1:
    # Called before a step of the iteration with this reader; None: an iteration is over.
    global AHEAD
    if AHEAD is not reader:
        AHEAD = reader
    return send_deferred() if DEFERRED is not None and not is_ahead(reader) else 0


cdef inline bint may_have_bytes(PyObject* o) noexcept:
    return PyBytes_CheckExact(<object>o) or PyTuple_CheckExact(<object>o) or PyList_CheckExact(<object>o) or PyDict_CheckExact(<object>o)


cpdef object replace_bytes(object value, object bytes_type):
    """Return a value with its bytes as another class, those inside containers too; what has no bytes in it is returned as it is."""
    if PyBytes_CheckExact(value):
        return bytes_type(value)
    if not may_have_bytes(<PyObject*>value):
        return value
    Py_EnterRecursiveCall(" while bytes are replaced")    # a container from a pickle may contain itself
    try:
        if PyDict_CheckExact(value):
            return replace_in_dict(<dict>value, bytes_type)
        if PyTuple_CheckExact(value):
            items = replace_in_items(value, bytes_type)
            return value if items is value else tuple(<list>items)
        return replace_in_items(value, bytes_type)
    finally:
        Py_LeaveRecursiveCall()


cdef object replace_in_items(object items, object bytes_type):
    # A new list, or the items themselves where none has bytes in it.
    cdef list replaced = None
    cdef Py_ssize_t i
    for i, item in enumerate(items):
        if may_have_bytes(<PyObject*>item):
            new = replace_bytes(item, bytes_type)
            if new is not item:
                if replaced is None:
                    replaced = list(items)
                replaced[i] = new
    return items if replaced is None else replaced


cdef dict replace_in_dict(dict entries, object bytes_type):
    cdef bint has_bytes = False
    for key, value in entries.items():
        if may_have_bytes(<PyObject*>key) or may_have_bytes(<PyObject*>value):
            has_bytes = True
            break
    if not has_bytes:
        return entries
    return {replace_bytes(key, bytes_type): replace_bytes(value, bytes_type) for key, value in entries.items()}


cdef class RecordOutput(FlushedAtExit):
    """Write values to a file, each in a call of its own. A subclass has _write_with_handlers(record)."""

    cdef EncodeOptions options
    cdef object sink
    cdef object method          # of a sink whose class is the interpreter's; None: looked up in each call
    cdef object handlers
    cdef bint is_raw
    cdef bint may_defer
    cdef bint is_stdout         # without a buffer of its own
    cdef bint may_gather        # no user code can look at the file while an iteration is copied
    cdef WriteBuffer waiting

    def __cinit__(self, *args, **options):
        self.options = PLAIN_ENCODE

    def __dealloc__(self):
        drop(&self.waiting)

    def __configure__(self, handlers, bint is_stdout, bint may_gather, **options):
        """Set what write() looks at. Used by legacy."""
        self.options = EncodeOptions(**options)
        self.handlers = handlers
        self.may_defer = self.is_stdout = is_stdout
        self.may_gather = may_gather

    @property
    def file(self):
        """The file; it has all that was written."""
        self.send()
        return self.sink

    @file.setter
    def file(self, file):
        self.send()
        self.sink = file
        self.method = file.write if type(file) in (io.BufferedWriter, io.BytesIO, io.FileIO) else None
        self.is_raw = isinstance(file, io.RawIOBase)
        self.may_defer = self.is_stdout = False

    def write(self, obj):
        """Write one value.

        Raises EncodeTypeError or EncodeValueError, and what the file raises.

        >>> import io; from typedbytes import Output
        >>> Output(io.BytesIO()).write([1, 2.5, "text"])
        """
        if self.handlers:
            self._write_with_handlers(obj)
        else:
            self.put(encode_object(self.options, obj))

    def writes(self, iterable):
        """Write every value of an iterable; raises as `write`.

        >>> import io; from typedbytes import Output
        >>> Output(io.BytesIO()).writes([1, 2])
        """
        records = iter(iterable)
        if type(records) is ReadAheadIterator and self.may_gather and not self.handlers:
            self.may_defer = True
        try:
            for record in records:
                self.write(record)
        finally:
            self.may_defer = self.is_stdout
            self.send()

    cdef int put(self, bytes data) except -1:
        if self.may_defer and is_ahead(AHEAD):
            return self.defer(data)
        if DEFERRED is not None:
            send_deferred()
        return self.write_now(data)

    cdef int defer(self, bytes data) except -1:
        global DEFERRED
        cdef Py_ssize_t nbytes = PyBytes_GET_SIZE(data)
        if DEFERRED is not self or self.entry.is_inherited:
            send_deferred()
            drop(&self.waiting)
            start_owned(&self.waiting, WRITE_SIZE + SCRATCH)
            DEFERRED = self
        reserve(&self.waiting, nbytes)
        memcpy(self.waiting.cursor, PyBytes_AS_STRING(data), nbytes)
        self.waiting.cursor += nbytes
        return self.send() if written(&self.waiting) >= WRITE_SIZE else 0

    cdef int send(self) except -1:
        global DEFERRED
        if DEFERRED is not self:
            return 0
        DEFERRED = None
        data = finish(&self.waiting)
        if self.entry.is_inherited:    # it is the parent's to write
            return adopt_writer(&self.entry)
        return self.write_now(data) if data else 0

    cdef int write_now(self, bytes data) except -1:
        cdef Py_ssize_t nbytes
        if self.method is None:
            return write_all(self.sink, data)
        nbytes = 0
        if PyBytes_GET_SIZE(data):
            nbytes = checked_written(self.method(data), PyBytes_GET_SIZE(data), self.is_raw)
        return write_all(self.sink, memoryview(data)[nbytes:]) if nbytes < PyBytes_GET_SIZE(data) else 0


cdef class PairRecordOutput(RecordOutput):
    """Write pairs as RecordOutput writes values."""

    def write(self, pair):
        """Write a key and its value: both, or neither where no handler is registered.

        Raises as `Output.write`, and ValueError for anything but a pair.

        >>> import io; from typedbytes import PairedOutput
        >>> PairedOutput(io.BytesIO()).write(("key", 1))
        """
        # No cdef method of RecordOutput is overridden here: PairedOutput has the virtual methods of its first base, Output.
        key, value = pair
        if self.handlers:
            self._write_with_handlers((key, value))
        else:
            self.put(encode_parts(self.options, key, value))


cdef bytes encode_parts(EncodeOptions options, object key, object value):
    cdef Encoding e
    cdef unsigned char scratch[SCRATCH]
    memcpy(&e, &options.template, sizeof(Encoding))
    start_scratch(&e.buf, scratch, SCRATCH)
    try:
        encode_pair(&e, <PyObject*>key, <PyObject*>value)
        return finish_output(options, &e)
    finally:
        drop(&e.buf)
