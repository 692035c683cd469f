# The inner loop of typedbytes.legacy.Input.
#
# An iteration over an Input takes its values from a Reader that reads ahead, as long as no code has used the Input or
# its file in between; the Input then closes that Reader, and the next step asks for another one.

from typedbytes.core.refs cimport Py_EnterRecursiveCall, Py_LeaveRecursiveCall

cdef enum:
    MAX_SEARCHED_DEPTH = 256    # containers in containers; deeper ones come from pickles

cdef Reader CURRENT_READER = None    # of the iteration that made the last step


cdef inline bint is_ahead(Reader reader) noexcept:
    return reader is not None and reader.state == OPEN and held(&reader.d.buf) > 0


ctypedef PyObject* (*step_function)(ReadAheadIterator iterator, Reader reader) noexcept    # NULL: as record_function


cdef class ReadAheadIterator(RecordIterator):
    """Iterate over the values or pairs of an Input, with bytes as the class bytes_type.

    open_reader() returns a Reader that reads ahead, or None; read() then returns the next record, or END. leave(reader,
    error, at_end) is called when the iteration no longer uses a reader, and for an error.
    """

    cdef object open_reader
    cdef object read
    cdef object leave
    cdef type bytes_type
    cdef object pair_before_last    # returned before last_pair; the two are reused in turn
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
        if reader is None or reader is not CURRENT_READER or DEFERRED is not None and not is_ahead(reader) \
                or not claim_states(&self.state, &reader.state, OPEN, BUSY):
            return RecordIterator.__next__(self)
        record = (<step_function>self.next_record)(self, reader)
        if record == NULL:
            self.end(reader)
            raise StopIteration
        self.state = OPEN
        return object_from_stolen(record)

    cdef int end(self, Reader reader) except -1:
        # No record came: at the end of the input, or with an exception set.
        try:
            reader.raise_if_failed()
            self.release_reader(None, True)
        except BaseException as error:
            self.fail(error)
        self.state = OPEN
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
        set_current_reader(reader)
        reader.enter()
        record = (<step_function>self.next_record)(self, reader)
        if record == NULL:
            reader.raise_if_failed()
            self.release_reader(None, True)
            return NOTHING
        return object_from_stolen(record)

    cdef PyObject* next_record(self, Reader reader) except? NULL:
        # The caller has entered the reader. NULL without an exception: the end of input.
        cdef PyObject* pair[2]
        if reader.values_per_record == 1:
            pair[0] = (<record_function>reader.next_record)(reader)
            if pair[0] == NULL:
                return NULL
            reader.state = OPEN
            if may_have_bytes(pair[0]) and not has_no_bytes(pair[0], MAX_SEARCHED_DEPTH):
                return self.replaced(pair[0], NULL)
            return pair[0]
        if (<key_value_function>(<PairReader>reader).next_key_and_value)(<PairReader>reader, &pair[0], &pair[1]) <= 0:
            return NULL
        reader.state = OPEN
        if may_have_bytes(pair[0]) and not has_no_bytes(pair[0], MAX_SEARCHED_DEPTH):
            pair[0] = self.replaced(pair[0], pair[1])
        if may_have_bytes(pair[1]) and not has_no_bytes(pair[1], MAX_SEARCHED_DEPTH):
            pair[1] = self.replaced(pair[1], pair[0])
        if not NO_GIL and Py_REFCNT(<PyObject*>(<PairReader>reader).last_pair) != 1:
            # The caller still holds the last pair; as a rule not the one before.
            (<PairReader>reader).last_pair, self.pair_before_last = \
                self.pair_before_last, (<PairReader>reader).last_pair
        return (<PairReader>reader).pair_of(pair[0], pair[1])

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
            set_current_reader(None)
        return 0

    def close(self):
        """End the iteration."""
        self._call_exclusively(self.stop)
        self.over = True

    def stop(self):
        self.release_reader(None, False)


cdef inline int set_current_reader(Reader reader) except -1:
    # Called before a step of the iteration with this reader; None: an iteration is over.
    global CURRENT_READER
    if NO_GIL:
        return 0
    if CURRENT_READER is not reader:
        CURRENT_READER = reader
    return send_deferred() if DEFERRED is not None and not is_ahead(reader) else 0


cdef inline bint may_have_bytes(PyObject* o) noexcept:
    return PyBytes_CheckExact(<object>o) or PyTuple_CheckExact(<object>o) or PyList_CheckExact(<object>o) \
        or PyDict_CheckExact(<object>o)


cdef bint has_no_bytes(PyObject* o, int depth) noexcept:
    # May also be False without bytes: for shared or deeper containers, which replace_bytes searches.
    # Searching shared ones here could take exponential time.
    cdef Py_ssize_t i = 0
    cdef PyObject* key
    cdef PyObject* value
    if not may_have_bytes(o):
        return True
    if PyTuple_CheckExact(<object>o) and PyTuple_GET_SIZE(o) == 0:
        return True    # others use the file too
    if PyBytes_CheckExact(<object>o) or Py_REFCNT(o) != 1 or depth == 0:
        return False
    if PyTuple_CheckExact(<object>o):
        while i < PyTuple_GET_SIZE(o) and has_no_bytes(PyTuple_GET_ITEM(o, i), depth - 1):
            i += 1
        return i == PyTuple_GET_SIZE(o)
    if PyList_CheckExact(<object>o):
        while i < PyList_GET_SIZE(o) and has_no_bytes(PyList_GET_ITEM(o, i), depth - 1):
            i += 1
        return i == PyList_GET_SIZE(o)
    while dict_next(o, &i, &key, &value):
        if not has_no_bytes(key, depth - 1) or not has_no_bytes(value, depth - 1):
            return False
    return True


cpdef object replace_bytes(object value, type bytes_type):
    """Return a value with its bytes as another class, also inside containers; without bytes, the value itself."""
    if PyBytes_CheckExact(value):
        return bytes_as_subclass(<bytes>value, bytes_type)
    if not may_have_bytes(<PyObject*>value):
        return value
    if Py_EnterRecursiveCall(" while bytes are replaced"):    # a container from a pickle may contain itself
        raise_pending()
    try:
        if PyDict_CheckExact(value):
            return replace_in_dict(<dict>value, bytes_type)
        if PyTuple_CheckExact(value):
            items = replace_in_items(value, bytes_type)
            return value if items is value else tuple(<list>items)
        return replace_in_items(value, bytes_type)
    finally:
        Py_LeaveRecursiveCall()


cdef object replace_in_items(object items, type bytes_type):
    # A new list, or the items themselves where none has bytes in it.
    cdef list replaced = None
    cdef Py_ssize_t i
    for i, item in enumerate(items):
        if may_have_bytes(<PyObject*>item):
            new = replace_bytes(item, bytes_type)
            if new is not item:
                if replaced is None:
                    replaced = list(items)
                if i >= len(replaced):    # a list that other code changes meanwhile
                    break
                replaced[i] = new
    return items if replaced is None else replaced


cdef dict replace_in_dict(dict entries, type bytes_type):
    cdef bint has_bytes = False
    for key, value in entries.items():
        if may_have_bytes(<PyObject*>key) or may_have_bytes(<PyObject*>value):
            has_bytes = True
            break
    if not has_bytes:
        return entries
    return {replace_bytes(key, bytes_type): replace_bytes(value, bytes_type) for key, value in entries.items()}


# writelines() calls write(), detach() calls flush()
GUARDED = {"write", "flush", "tell", "seek", "truncate", "close", "fileno"}
