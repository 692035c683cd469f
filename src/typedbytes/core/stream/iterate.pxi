# Iterators that raise their error again, and groups of what any iterator yields.
#
# An exception that passes through a generator finishes it, and its next step reports the end: input that was cut short
# looks whole. So each iterator between an input and the caller's code is a RecordIterator. It steps in C, where no
# signal handler runs between reading a record and returning it; a step that fails in any way is the last one, and every
# later call raises its error.

from typedbytes.core.refs cimport PyIter_Next

END = NOTHING    # for steps made in Python


cdef class RecordIterator:
    """Iterate over what `_step()` returns, up to END; after an error every call raises it again."""

    cdef object failure
    cdef State state              # OPEN or BUSY
    cdef bint over

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be pickled")

    def __iter__(self):
        return self

    def __next__(self):
        if self.over:
            raise StopIteration
        self.enter()
        try:
            item = self.step()
        except BaseException as error:
            self.fail(error)
        self.state = OPEN
        if item is NOTHING:
            self.over = True
            raise StopIteration
        return item

    cdef object step(self):
        return self._step()

    cdef inline int enter(self) except -1:
        if self.failure is not None:
            raise self.failure.with_traceback(None)
        return 0 if claim_state(&self.state, OPEN, BUSY) else raise_in_use(self)

    cdef int fail(self, error) except -1:
        self.failure = as_failure(error)
        self.state = OPEN
        raise self.failure

    @property
    def _failure(self):
        """The error that iterating failed with, or None."""
        return self.failure

    def _call(self, function):
        """Call a function as a step is called, and return its result."""
        self.enter()
        try:
            result = function()
        except BaseException as error:
            self.fail(error)
        self.state = OPEN
        return result

    def _call_exclusively(self, function):
        """Call a function, also after an error, and return its result; no step can be taken meanwhile."""
        if not claim_state(&self.state, OPEN, BUSY):
            self.enter()
        try:
            return function()
        finally:
            self.state = OPEN

    def _check_end(self):
        """Raise what iterating failed with, or RuntimeError where its end has not been reached."""
        if self.failure is not None:
            raise self.failure.with_traceback(None)
        if not self.over:
            raise RuntimeError(f"the end of a {type(self).__name__} has not been reached: records may be left")


cdef class WrappedIterator(RecordIterator):
    """Iterate over an iterator; after an error, raise it again, where a generator would report the end."""

    cdef object iterator

    def __cinit__(self, *args, **options):
        self.iterator = iter(())

    def __init__(self, iterator):
        self.iterator = iter(iterator)

    cdef object step(self):
        cdef PyObject* item = PyIter_Next(self.iterator)
        return NOTHING if item == NULL else object_from_stolen(item)

    def close(self):
        """Close the iterator, which is then at its end."""
        self._call_exclusively(self.iterator.close)
        self.over = True


# -1: an exception is set
ctypedef int (*take_pair_function)(PairRecords pairs, PyObject** key, PyObject** value) noexcept
# NULL: the same
ctypedef PyObject* (*pair_function)(PyObject* last, PyObject* key, PyObject* value) noexcept


cdef class PairSource:
    cdef bint take_pair(self, PyObject** key, PyObject** value) except -1:
        raise NotImplementedError


cdef class PairRecords(RecordIterator):
    """Iterate over pairs, which a RecordLoop or a PairWriter takes without a tuple for each."""

    cdef object last_pair     # the last tuple returned, reused if no other reference to it exists

    cdef bint take_pair(self, PyObject** key, PyObject** value) except -1:
        # The next pair, as new references; False: the end.
        raise NotImplementedError

    def __next__(self):
        cdef PyObject* key
        cdef PyObject* value
        cdef PyObject* pair
        if not step_pair(self, &key, &value, &pair):
            raise StopIteration
        return object_from_stolen(pair)

    cdef bint next_pair(self, PyObject** key, PyObject** value) except -1:
        # False: the end of the pairs.
        return step_pair(self, key, value, NULL)

    cdef int fail_pending(self) except -1:
        try:
            raise_pending()
        except BaseException as error:
            self.fail(error)


cdef inline bint step_pair(PairRecords pairs, PyObject** key, PyObject** value, PyObject** pair) except -1:
    # pair: NULL, or for a tuple of both, which takes over their references. False: the end.
    cdef int got
    if pairs.over:
        return False
    pairs.enter()
    got = (<take_pair_function>pairs.take_pair)(pairs, key, value)
    if got > 0 and pair != NULL:
        pair[0] = (<pair_function>pair_from_stolen)(<PyObject*>pairs.last_pair, key[0], value[0])
        if pair[0] == NULL:
            got = -1
        elif pair[0] != <PyObject*>pairs.last_pair:
            pairs.last_pair = <object>pair[0]
    if got < 0:
        pairs.fail_pending()
    pairs.over = not got
    pairs.state = OPEN
    return got


cdef class PairIterator(PairRecords):
    """Iterate over the pairs of a PairSource."""

    cdef PairSource source

    def __cinit__(self, PairSource source not None):
        self.source = source

    cdef bint take_pair(self, PyObject** key, PyObject** value) except -1:
        return self.source.take_pair(key, value)


cdef class RecordGroups(RecordIterator):
    """Iterate over runs of adjacent records as (key, values); for records that do not come from a PairReader.

    Records are (key, value), grouped by key, or by the encoding of group_by(key) if given; or (group_key, key, value),
    grouped by group_key. key_of(key, value) and value_of(value) make what is returned.
    """

    cdef object records
    cdef object group_by
    cdef object key_of
    cdef object value_of
    cdef object group_key     # of the record that was read last
    cdef object key
    cdef object value
    cdef bint due
    cdef bint ended           # the records
    cdef RecordGroupValues group     # the one whose values come next

    def __cinit__(self, *args, **options):
        self.records = iter(())

    def __init__(self, records, group_by=None, key_of=None, value_of=None):
        self.records = iter(records)
        self.group_by = group_by
        self.key_of = key_of
        self.value_of = value_of

    cdef object step(self):
        cdef RecordGroupValues group = self.group
        if group is not None:
            while self.has_next(group):
                self.due = False
            self.group = None
        if not self.due and not self.read_record():
            return NOTHING
        group = RecordGroupValues.__new__(RecordGroupValues)
        group.groups = self
        group.group_key = self.group_key
        self.group = group
        return (self.key if self.key_of is None else self.key_of(self.key, self.value)), group

    cdef bint has_next(self, RecordGroupValues group) except -1:
        if not self.due and not self.read_record():
            return False
        return self.group_key is group.group_key or self.group_key == group.group_key

    cdef object taken_value(self):
        value, self.value = self.value, None
        self.due = False
        return value if self.value_of is None else self.value_of(value)

    cdef bint read_record(self) except -1:
        cdef PyObject* item
        cdef tuple record
        if self.ended:
            return False
        item = PyIter_Next(self.records)
        if item == NULL:
            self.ended = True
            return False
        record = object_from_stolen(item)
        if len(record) < 2:
            raise ValueError(f"a record is (key, value) or (group_key, key, value), not {record!r}")
        self.key, self.value = record[len(record) - 2], record[len(record) - 1]
        self.group_key = record[0]
        record = None    # a reader reuses a tuple to which there is no other reference
        if self.group_by is not None:
            group_key = self.group_by(self.key)
            self.group_key = encode_object(<PyObject*>DEFAULT_ENCODE, <PyObject*>group_key)
        self.due = True
        return True


cdef class RecordGroupValues:
    """Iterate over the values of one group, until the next group is asked for."""

    cdef RecordGroups groups
    cdef object group_key

    def __reduce__(self):
        raise TypeError("the values of a group cannot be pickled")

    def __iter__(self):
        return self

    def __next__(self):
        cdef RecordGroups groups = self.groups
        cdef bint there = False
        value = None
        if groups is None or groups.group is not self:
            raise RuntimeError("the values of a group are gone once the next group is asked for")
        groups.enter()
        try:
            there = groups.has_next(self)
            if there:
                value = groups.taken_value()
        except BaseException as error:
            groups.fail(error)
        groups.state = OPEN
        if not there:
            raise StopIteration
        return value
