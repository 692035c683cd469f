# The inner loop of typedbytes.legacy.
#
# An iteration over an Input takes its values from a Reader that reads ahead, as long as no code has used the Input or its file in
# between; the Input then closes that Reader, and the next step asks for another one.

cdef extern from "Python.h":
    int Py_EnterRecursiveCall(const char* where) except -1
    void Py_LeaveRecursiveCall() noexcept


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
        self.release_reader(error, False)
        return RecordIterator.fail(self, error)

    cdef int release_reader(self, error, bint at_end) except -1:
        cdef Reader reader = self.reader
        self.reader = None
        if reader is not None or error is not None:
            self.leave(reader, error, at_end)
        return 0

    def close(self):
        """End the iteration."""
        self._hold(self.stop)
        self.over = True

    def stop(self):
        self.release_reader(None, False)


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
