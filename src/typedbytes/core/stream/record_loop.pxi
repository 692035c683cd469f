# The inner loop of a task: each record of its input goes to user code, and what that returns to its output.
#
# Between the reader, the function and the writer nothing is called by name: a pair of a PairReader or of PairRecords is
# not a tuple before the function makes one, and what the function returns is encoded as it is iterated over.

ctypedef int (*loop_function)(RecordLoop loop, object key, object value) noexcept    # -1: an exception is set


cdef inline int process_record(RecordLoop loop, object key, object value) except -1:
    loop.returned = loop.function(key, value)
    return loop.write_returned()


cdef class RecordLoop:
    """Call function(key, value) for each record of an iterable, and write the pairs it returns, if not None.

    takes_all: call function(records) instead, once. `key` and `returned` are those of the record that was processed
    last; END and None before. `value` is that of the record that failed.
    """

    cdef object records
    cdef object function
    cdef object output
    cdef Writer writer        # the output, where its writes() is that of a PairWriter
    cdef readonly object key
    cdef readonly object value
    cdef readonly object returned
    cdef bint takes_all

    def __init__(self, records, function, output, bint takes_all=False):
        self.records = records
        self.function = function
        self.output = output
        self.writer = output if isinstance(output, PairWriter) and type(output).writes is PairWriter.writes else None
        self.key = self.value = NOTHING
        self.takes_all = takes_all

    def __reduce__(self):
        raise TypeError("a RecordLoop cannot be pickled")

    def run(self):
        """Process the records up to their end; raises what reading, the function or writing raises."""
        if self.takes_all:
            self.returned = self.function(self.records)
            self.write_returned()
        elif can_read_key_and_value(self.records):
            while self.process_next(self.records):
                pass
        elif isinstance(self.records, PairRecords):
            while self.process_taken(self.records):
                pass
        else:
            for key, value in self.records:
                self.process(key, value)

    cdef bint process_next(self, PairReader reader) except -1:
        cdef PyObject* key
        cdef PyObject* value
        if not take_key_and_value(reader, &key, &value):
            return False
        self.process(object_from_stolen(key), object_from_stolen(value))
        return True

    cdef bint process_taken(self, PairRecords pairs) except -1:
        cdef PyObject* key
        cdef PyObject* value
        if not pairs.next_pair(&key, &value):
            return False
        self.process(object_from_stolen(key), object_from_stolen(value))
        return True

    cdef inline int process(self, object key, object value) except -1:
        self.key = key
        if (<loop_function>process_record)(self, key, value) < 0:
            self.value = value
            raise_pending()
        return 0

    cdef inline int write_returned(self) except -1:
        if self.returned is None:
            return 0
        if self.writer is None:
            self.output.writes(self.returned)
            return 0
        return self.writer.write_items(self.returned)
