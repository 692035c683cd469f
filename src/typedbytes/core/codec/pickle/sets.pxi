# Sets: what hashing and comparing their elements may cost is reckoned before they are made.

cdef enum:
    MAX_EQUAL_HASHES = 512

cdef struct HashedItem:
    Py_hash_t hash
    PyObject* item    # borrowed from the list of the elements


cdef object frozenset_of(PickleMachine* m, list items):
    if not items:
        # One empty frozenset serves all: a new one each would hold a hundred times the bytes that ask for it.
        return NOTHING_INSIDE
    if len(items) > 1:
        check_hashes(m, items)
    return frozenset(items)

cdef frozenset NOTHING_INSIDE = frozenset()


cdef object set_of(PickleMachine* m, list items):
    if len(items) > 1:
        check_hashes(m, items)
    return set(items)


cdef bint has_own_hash(PyObject* item) noexcept:
    # Hashes that nobody can choose: salted by the interpreter, or one value each.
    cdef PyTypeObject* kind = Py_TYPE(item)
    cdef int64_t number
    if kind == &PyLong_Type:
        return int_to_i64(item, &number) and -HASH_MODULUS < number < HASH_MODULUS
    return kind == &PyUnicode_Type or kind == &PyBytes_Type or kind == &PyBool_Type or item == Py_None or kind == DATE_TYPE

cdef int64_t HASH_MODULUS = sys.hash_info.modulus


cdef int check_hashes(PickleMachine* m, list items) except -1:
    cdef Py_ssize_t nitems = len(items)
    cdef Py_ssize_t nodd = 0
    cdef Py_ssize_t i
    cdef HashedItem* odd
    cdef PyObject* item
    for i in range(nitems):
        nodd += not has_own_hash(PyList_GET_ITEM(<PyObject*>items, i))
    if nodd < 2:
        return 0
    odd = <HashedItem*>PyMem_Malloc(nodd * sizeof(HashedItem))
    if odd == NULL:
        raise MemoryError
    try:
        nodd = 0
        for i in range(nitems):
            item = PyList_GET_ITEM(<PyObject*>items, i)
            if not has_own_hash(item):
                odd[nodd].hash = PyObject_Hash(item)
                odd[nodd].item = item
                nodd += 1
        qsort(odd, nodd, sizeof(HashedItem), &compare_hashes)
        pay_groups(m, odd, nodd)
    finally:
        PyMem_Free(odd)
    return 0


cdef int compare_hashes(const void* a, const void* b) noexcept nogil:
    cdef Py_hash_t first = (<const HashedItem*>a).hash
    cdef Py_hash_t second = (<const HashedItem*>b).hash
    return (first > second) - (first < second)


cdef int pay_groups(PickleMachine* m, const HashedItem* odd, Py_ssize_t nodd) except -1:
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t end
    while start < nodd:
        end = start + 1
        while end < nodd and odd[end].hash == odd[start].hash:
            end += 1
        if end - start > MAX_EQUAL_HASHES:
            return refuse_pickle(m, f"more than {MAX_EQUAL_HASHES} elements of a set share one hash value")
        if end - start > 1:
            pay_comparisons(m, odd + start, end - start)
        start = end
    return 0


# The parts of some elements, level by level: pointers that are borrowed.

cdef struct PartsLevel:
    PyObject** items
    Py_ssize_t nitems
    Py_ssize_t capacity


cdef int add_part(PartsLevel* level, PyObject* item) except -1:
    cdef Py_ssize_t capacity
    cdef PyObject** items
    if level.nitems == level.capacity:
        capacity = max(64, 2 * level.capacity)
        items = <PyObject**>PyMem_Realloc(level.items, capacity * sizeof(PyObject*))
        if items == NULL:
            raise MemoryError
        level.items = items
        level.capacity = capacity
    level.items[level.nitems] = item
    level.nitems += 1
    return 0


cdef int add_parts(PartsLevel* level, PyObject* holder) except -1:
    cdef Py_ssize_t i
    cdef PyObject* item
    if Py_TYPE(holder) == &PyTuple_Type:
        for i in range(PyTuple_GET_SIZE(holder)):
            add_part(level, PyTuple_GET_ITEM(holder, i))
    else:
        for part in <object>holder:
            add_part(level, <PyObject*>part)
    return 0


cdef int pay_comparisons(PickleMachine* m, const HashedItem* group, Py_ssize_t ngroup) except -1:
    # Two quick values compare in steps of the smaller one's size, any two others at worst in the product of both: a frozenset looks
    # up each element of the other, a Decimal converts an int by schoolbook division.
    cdef PartsLevel level, below
    cdef Py_ssize_t size = 0
    cdef bint is_quick = True
    cdef Py_ssize_t i
    memset(&level, 0, sizeof(level))
    memset(&below, 0, sizeof(below))
    try:
        for i in range(ngroup):
            add_part(&level, group[i].item)
        while level.nitems:
            pay_level(m, &level, &size, &is_quick)
            below.nitems = 0
            for i in range(level.nitems):
                if Py_TYPE(level.items[i]) == &PyTuple_Type or Py_TYPE(level.items[i]) == &PyFrozenSet_Type:
                    add_parts(&below, level.items[i])
            level, below = below, level
    finally:
        PyMem_Free(level.items)
        PyMem_Free(below.items)
    return spend(m, size * (ngroup if is_quick else size))


cdef int pay_level(PickleMachine* m, const PartsLevel* level, Py_ssize_t* size, bint* is_quick) except -1:
    # A level has its price even where it holds next to nothing.
    cdef PyTypeObject* kind
    cdef Py_ssize_t nbytes = 512
    cdef Py_ssize_t nflat = 0
    cdef Py_ssize_t here
    cdef Py_ssize_t i
    for i in range(level.nitems):
        kind = Py_TYPE(level.items[i])
        here = size_of(level.items[i])
        nbytes += here
        if kind != &PyTuple_Type and kind != &PyFrozenSet_Type:
            nflat += here
            is_quick[0] &= has_quick_comparison(level.items[i])
        elif kind == &PyFrozenSet_Type:
            is_quick[0] = False
    spend(m, nbytes)
    size[0] += level.nitems + nflat // 16
    return 0


cdef bint has_quick_comparison(PyObject* item) noexcept:
    # Linear in the size, in C.
    cdef PyTypeObject* kind = Py_TYPE(item)
    return kind == &PyLong_Type or kind == &PyUnicode_Type or kind == &PyFloat_Type or kind == &PyBytes_Type or kind == &PyBool_Type \
        or kind == &PyComplex_Type or item == Py_None or kind == DATE_TYPE or kind == DELTA_TYPE
