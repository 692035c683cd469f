# The inner loop of typedbytes.legacy.
#
# An iteration over an Input takes its values from a Reader that reads ahead, as long as no code has used the Input or its file in
# between; the Input then closes that Reader, and the next step asks for another one.
#
# An Output writes each record to its file at once. To a file with a buffer, to standard output and in writes(), records wait as long
# as an iteration has input that it has read ahead: they are sent before it reads more, ends or is given up, so that a process never
# waits for input with records unsent. The windows of legacy send them in read1(); a file that is read directly is one on a disk.
# Meanwhile the file is guarded: a method of it that is called sends them first.

cdef extern from "Python.h":
    int Py_EnterRecursiveCall(const char* where) except -1
    void Py_LeaveRecursiveCall() noexcept


cdef enum:
    MAX_RETYPED = 256         # containers in containers; deeper ones come from pickles
    MAX_COPIED = 32768        # bytes of a record that are copied to what waits

cdef Reader AHEAD = None             # the reader of the iteration that made the last step
cdef RecordOutput DEFERRED = None    # the output with records that wait


cpdef int send_deferred() except -1:
    """Write what an Output has deferred."""
    cdef RecordOutput output = DEFERRED    # owned: sending clears what may be the last reference
    return 0 if output is None else output.send()


cdef inline bint is_ahead(Reader reader) noexcept:
    return reader is not None and reader.state == OPEN and held(&reader.d.buf) > 0


ctypedef PyObject* (*step_function)(ReadAheadIterator iterator, Reader reader) noexcept    # NULL: as record_function


cdef class ReadAheadIterator(RecordIterator):
    """Iterate over the values or pairs of an Input, with bytes as the class bytes_type.

    open_reader() returns a Reader that reads ahead, or None; read() then returns the next record, or END. leave(reader, error, at_end) is
    called when the iteration no longer uses a reader, and for an error.
    """

    cdef object open_reader
    cdef object read
    cdef object leave
    cdef object bytes_type
    cdef object returned_before    # the pair returned before the last one, reused as that is
    cdef Reader reader

    def __init__(self, open_reader, read, leave, bytes_type):
        self.open_reader = open_reader
        self.read = read
        self.leave = leave
        self.bytes_type = bytes_type

    def __del__(self):
        self.release_reader(None, False)

    def __next__(self):
        # The usual step, without what only the others need.
        cdef Reader reader = self.reader
        cdef PyObject* record
        if self.busy or reader is None or reader is not AHEAD or reader.state != OPEN or DEFERRED is not None and not is_ahead(reader):
            return RecordIterator.__next__(self)
        self.busy = True
        record = (<step_function>self.next_record)(self, reader)
        if record == NULL:
            self.end(reader)
            raise StopIteration
        self.busy = False
        return object_from_stolen(record)

    cdef int end(self, Reader reader) except -1:
        # No record came: at the end of the input, or with an exception set.
        try:
            reader.raise_if_failed()
            self.release_reader(None, True)
        except BaseException as error:
            self.fail(error)
        self.busy = False
        self.over = True
        return 0

    cdef object step(self):
        cdef Reader reader = self.reader
        cdef PyObject* record
        if reader is None or reader.state != OPEN:
            self.reader = None
            reader = self.open_reader()
            if reader is None:
                return self.read()
            self.reader = reader
        follow(reader)
        record = (<step_function>self.next_record)(self, reader)
        if record == NULL:
            reader.raise_if_failed()
            self.release_reader(None, True)
            return NOTHING
        return object_from_stolen(record)

    cdef PyObject* next_record(self, Reader reader) except? NULL:
        # NULL without an exception: the end of input.
        cdef PyObject* parts[2]
        reader.enter()
        if reader.nparts == 1:
            parts[0] = (<record_function>reader.next_record)(reader)
            if parts[0] == NULL:
                return NULL
            reader.state = OPEN
            if may_have_bytes(parts[0]) and not retype_bytes(parts[0], <PyObject*>self.bytes_type, MAX_RETYPED):
                return self.replaced(parts[0], NULL)
            return parts[0]
        if (<parts_function>(<PairReader>reader).next_parts)(<PairReader>reader, &parts[0], &parts[1]) <= 0:
            return NULL
        reader.state = OPEN
        if may_have_bytes(parts[0]) and not retype_bytes(parts[0], <PyObject*>self.bytes_type, MAX_RETYPED):
            parts[0] = self.replaced(parts[0], parts[1])
        if may_have_bytes(parts[1]) and not retype_bytes(parts[1], <PyObject*>self.bytes_type, MAX_RETYPED):
            parts[1] = self.replaced(parts[1], parts[0])
        if Py_REFCNT(<PyObject*>(<PairReader>reader).last_pair) != 1:
            # The caller still holds the last pair; as a rule not the one before.
            (<PairReader>reader).last_pair, self.returned_before = self.returned_before, (<PairReader>reader).last_pair
        return (<PairReader>reader).pair_of(parts[0], parts[1])

    cdef PyObject* replaced(self, PyObject* value, PyObject* other) except NULL:
        # An error releases the other part of the pair too.
        try:
            result = replace_bytes(object_from_stolen(value), self.bytes_type)
        except BaseException:
            xdecref(other)
            raise
        incref(<PyObject*>result)
        return <PyObject*>result

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


cdef bint retype_bytes(PyObject* o, PyObject* bytes_type, int depth) noexcept:
    # Make the bytes in a value ones of another class where nothing else has a reference to them; False: some are left to replace.
    cdef Py_ssize_t i = 0
    cdef PyObject* key
    cdef PyObject* value
    if PyBytes_CheckExact(<object>o):
        return bytes_become(o, bytes_type)
    if not may_have_bytes(o):
        return True
    if PyTuple_CheckExact(<object>o) and PyTuple_GET_SIZE(o) == 0:
        return True    # it is shared
    if Py_REFCNT(o) != 1 or depth == 0:
        return False
    if PyTuple_CheckExact(<object>o):
        while i < PyTuple_GET_SIZE(o) and retype_bytes(PyTuple_GET_ITEM(o, i), bytes_type, depth - 1):
            i += 1
        return i == PyTuple_GET_SIZE(o)
    if PyList_CheckExact(<object>o):
        while i < PyList_GET_SIZE(o) and retype_bytes(PyList_GET_ITEM(o, i), bytes_type, depth - 1):
            i += 1
        return i == PyList_GET_SIZE(o)
    while dict_next(o, &i, &key, &value):
        if not retype_bytes(key, bytes_type, depth - 1) or not retype_bytes(value, bytes_type, depth - 1):
            return False
    return True


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


GUARDED = {"write", "flush", "tell", "seek", "truncate", "close", "fileno"}    # writelines() calls write(), detach() calls flush()


cdef class SendFirst:
    """Call a method of a file, after what waits for it has been sent."""

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
    cdef bint is_guarded        # where records wait, and no method of the file is another one than its class's
    cdef bint may_gather        # no user code can look at the file while an iteration is copied
    cdef WriteBuffer spare      # for the next record
    cdef WriteBuffer waiting    # whole records

    def __cinit__(self, *args, **options):
        self.options = PLAIN_ENCODE

    def __dealloc__(self):
        drop(&self.spare)
        drop(&self.waiting)

    def __configure__(self, dict handlers, bint is_stdout, bint may_gather, **options):
        """Set what write() looks at; is_stdout: the file is a FileIO for standard output. Used by legacy."""
        self.options = EncodeOptions(**options)
        self.handlers = handlers
        self.is_guarded = (is_stdout or type(self.sink) is io.BufferedWriter) and GUARDED.isdisjoint(self.sink.__dict__)
        self.may_defer = self.is_guarded
        self.may_gather = may_gather

    @property
    def file(self):
        """The file; it has all that was written."""
        self.send()
        return self.sink

    @file.setter
    def file(self, file):
        send_deferred()    # an Output that has the same file too: its methods are the guards meanwhile
        self.sink = file
        self.method = file.write if type(file) in (io.BufferedWriter, io.BytesIO, io.FileIO) else None
        self.is_raw = isinstance(file, io.RawIOBase)
        self.may_defer = self.is_guarded = False

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
        if type(records) is ReadAheadIterator and self.may_gather and not self.handlers:
            self.may_defer = True
        try:
            write = self.write
            for record in records:
                write(record)
                record = None    # a reader reuses a tuple to which there is no other reference
        finally:
            self.may_defer = self.is_guarded
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
            self.spare.start = self.spare.cursor = b.start    # by its parts: a copy of all would wait for what was written to the cursor
            self.spare.end = b.end
            self.spare.owner = b.owner

    cdef int write_or_defer(self, WriteBuffer* b) except -1:
        if self.may_defer and is_ahead(AHEAD) and written(b) <= MAX_COPIED:
            return self.defer(b)
        if DEFERRED is not None:
            send_deferred()
        return self.write_to_file(b)

    cdef int defer(self, WriteBuffer* b) except -1:
        global DEFERRED
        if DEFERRED is self and self.waiting.end - self.waiting.cursor < written(b):
            self.send()
        if DEFERRED is not self or self.entry.is_inherited:
            send_deferred()
            if self.waiting.owner == NULL:
                start_owned(&self.waiting, WRITE_SIZE + SCRATCH)
            self.waiting.cursor = self.waiting.start
            if self.is_guarded:
                guard(self.sink)
            DEFERRED = self
        memcpy(self.waiting.cursor, b.start, written(b))
        self.waiting.cursor += written(b)
        return self.send() if written(&self.waiting) >= WRITE_SIZE else 0

    cdef int send(self) except -1:
        global DEFERRED
        if DEFERRED is not self:
            return 0
        DEFERRED = None
        if self.is_guarded:
            unguard(self.sink)
        if self.entry.is_inherited:    # it is the parent's to write
            return adopt_writer(&self.entry)
        return self.write_to_file(&self.waiting)

    cdef int write_to_file(self, WriteBuffer* b) except -1:
        # The file gets the buffer's own bytes, which are filled again if it keeps no reference to them. A file of the caller's gets a copy.
        cdef Py_ssize_t nbytes = written(b)
        cdef Py_ssize_t capacity = b.end - b.start
        cdef Py_ssize_t ntaken
        cdef bytes filled
        if self.method is None:
            return write_all(self.sink, b.start[:nbytes])
        bytes_shorten(&b.owner, nbytes)
        filled = take_owner(b)
        ntaken = checked_written(self.method(filled), nbytes, self.is_raw)
        if ntaken < nbytes:
            write_all(self.sink, memoryview(filled)[ntaken:])
        if b.owner == NULL and bytes_restore(<PyObject*>filled, capacity):
            adopt(b, filled)
        return 0


cdef class PairRecordOutput(RecordOutput):
    """Write pairs as RecordOutput writes values."""

    def write(self, pair):
        """Write a key and its value: both, or neither where no handler is registered.

        Raises as `Output.write`, and ValueError for anything but a pair.

        >>> import io; from typedbytes import PairedOutput
        >>> PairedOutput(io.BytesIO()).write(("key", 1))
        """
        # No cdef method of RecordOutput is overridden here: PairedOutput has the virtual methods of its first base, Output.
        cdef EncodeOptions options = self.options
        cdef Encoding e
        key, value = pair
        if self.handlers:
            self._write_with_handlers((key, value))
            return
        memcpy(&e, &options.template, sizeof(Encoding))
        self.borrow_buffer(&e.buf)
        try:
            encode_pair(&e, <PyObject*>key, <PyObject*>value)
            self.write_or_defer(&e.buf)
        finally:
            self.return_buffer(&e.buf)
