# Sets. What hashing and comparing their elements may cost is charged before they are built; nested tuples and
# frozensets are walked level by level. Keys of MAPs are in core/codec/collisions.pxi.

cdef enum:
    MAX_EQUAL_HASHES = 512
    BLOCK_LENGTH = 256        # elements
    PREFETCH_DISTANCE = 8     # elements between the one at work and the one that is fetched into the cache

# Goal: elements of equal hash are paid for before any two of them are compared, and each element is looked at while it
# is in the cache: they may have been read in any order of their addresses. Plan: a bit for each hash value, selected by
# a secret; block by block, an element whose bit is new goes into the set at once. The others wait until all are hashed,
# and are sorted, with those that had their bit first. Rejected: sorting all, which takes longer than reading them.
cdef struct SetFilling:
    PyObject* target
    PyObject* items           # a list
    Py_ssize_t nitems
    Py_hash_t* hashes
    unsigned char* seen       # bits selected by hash values: set where an element has one
    unsigned char* seen_twice # bits selected by hash values: set where two elements have one
    int shift
    Py_ssize_t nwaiting

cdef struct HashedItem:
    Py_hash_t hash
    PyObject* item            # borrowed from the list of the elements


cdef object frozenset_of(PickleMachine* m, list items):
    if not items:
        # One empty frozenset serves all: a new one each would hold a hundred times the bytes that ask for it.
        return EMPTY_FROZENSET
    made = object_from_stolen(PyFrozenSet_New(NULL))
    fill_set(m, <PyObject*>made, items)
    return made

cdef frozenset EMPTY_FROZENSET = frozenset()


cdef object set_of(PickleMachine* m, list items):
    made = object_from_stolen(PySet_New(NULL))
    fill_set(m, <PyObject*>made, items)
    return made


cdef int fill_set(PickleMachine* m, PyObject* target, list items) except -1:
    cdef SetFilling f
    cdef Py_ssize_t start
    cdef Py_ssize_t nseen = 8
    f.target, f.items, f.nitems, f.nwaiting = target, <PyObject*>items, len(items), 0
    if f.nitems < 2:
        return PySet_Add(target, PyList_GET_ITEM(f.items, 0)) if f.nitems else 0
    f.shift = 64 - 6
    while nseen < 2 * f.nitems:    # 16 bits each
        nseen *= 2
        f.shift -= 1
    f.hashes = <Py_hash_t*>PyMem_Malloc(f.nitems * sizeof(Py_hash_t))
    f.seen = <unsigned char*>PyMem_Calloc(2, nseen)
    f.seen_twice = f.seen + nseen
    try:
        if f.hashes == NULL or f.seen == NULL:
            raise MemoryError
        for start in range(0, f.nitems, BLOCK_LENGTH):
            if start & SIGNAL_MASK == SIGNAL_MASK + 1 - BLOCK_LENGTH:
                handle_signals(m)
            fill_block(&f, start, min(start + BLOCK_LENGTH, f.nitems))
        if f.nwaiting:
            fill_waiting(m, &f)
    finally:
        PyMem_Free(f.hashes)
        PyMem_Free(f.seen)
    return 0


cdef int fill_block(SetFilling* f, Py_ssize_t start, Py_ssize_t end) except -1:
    cdef bint waits[BLOCK_LENGTH]
    cdef PyObject* item
    cdef uint64_t bit
    cdef Py_ssize_t i
    for i in range(start, end):
        if i + 2 * PREFETCH_DISTANCE < f.nitems:
            prefetch(PyList_GET_ITEM(f.items, i + 2 * PREFETCH_DISTANCE))
            prefetch_inside(PyList_GET_ITEM(f.items, i + PREFETCH_DISTANCE))
        item = PyList_GET_ITEM(f.items, i)
        f.hashes[i] = PyObject_Hash(item)
        waits[i - start] = False
        if can_share_hash(item):
            bit = bit_of(f, f.hashes[i])
            if is_in(f.seen, bit):
                put_in(f.seen_twice, bit)
                f.nwaiting += 1
                waits[i - start] = True
            put_in(f.seen, bit)
    for i in range(start, end):
        if i + PREFETCH_DISTANCE < end:
            prefetch_set_entry(f.target, f.hashes[i + PREFETCH_DISTANCE])
        if not waits[i - start]:
            PySet_Add(f.target, PyList_GET_ITEM(f.items, i))
    return 0


cdef inline void prefetch_inside(PyObject* item) noexcept:
    if Py_TYPE(item) == &PyTuple_Type and PyTuple_GET_SIZE(item):
        prefetch(PyTuple_GET_ITEM(item, 0))


cdef inline uint64_t bit_of(const SetFilling* f, Py_hash_t value) noexcept:
    return <uint64_t>value * SECRET >> f.shift


cdef inline bint is_in(const unsigned char* bits, uint64_t bit) noexcept:
    return bits[bit >> 3] >> (bit & 7) & 1


cdef inline void put_in(unsigned char* bits, uint64_t bit) noexcept:
    bits[bit >> 3] |= <unsigned char>(1 << (bit & 7))


cdef int fill_waiting(PickleMachine* m, SetFilling* f) except -1:
    # Each element that waits, and the first with its bit.
    cdef HashedItem* hashed = <HashedItem*>PyMem_Malloc(2 * f.nwaiting * sizeof(HashedItem))
    cdef Py_ssize_t nhashed = 0
    cdef Py_ssize_t i
    cdef PyObject* item
    if hashed == NULL:
        raise MemoryError
    try:
        for i in range(f.nitems):
            item = PyList_GET_ITEM(f.items, i)
            if is_in(f.seen_twice, bit_of(f, f.hashes[i])) and can_share_hash(item):
                hashed[nhashed].hash = f.hashes[i]
                hashed[nhashed].item = item
                nhashed += 1
        qsort(hashed, nhashed, sizeof(HashedItem), &compare_hashes)
        charge_groups(m, hashed, nhashed)
    finally:
        PyMem_Free(hashed)
    for i in range(f.nitems):    # of equal elements the first one stays
        if is_in(f.seen_twice, bit_of(f, f.hashes[i])):
            PySet_Add(f.target, PyList_GET_ITEM(f.items, i))
    return 0


cdef bint can_share_hash(PyObject* item) noexcept:
    # Whether an attacker can choose unequal values of one hash: not where it is salted by the
    # interpreter, or unique to its value.
    cdef PyTypeObject* kind = Py_TYPE(item)
    cdef int64_t number
    if kind == &PyLong_Type:
        return not int_to_i64(item, &number) or not -HASH_MODULUS < number < HASH_MODULUS
    return not (kind == &PyUnicode_Type or kind == &PyBytes_Type or kind == &PyBool_Type or item == Py_None
                or kind == DATE_TYPE)

cdef int64_t HASH_MODULUS = sys.hash_info.modulus


cdef int compare_hashes(const void* a, const void* b) noexcept nogil:
    cdef Py_hash_t first = (<const HashedItem*>a).hash
    cdef Py_hash_t second = (<const HashedItem*>b).hash
    return (first > second) - (first < second)


cdef int charge_groups(PickleMachine* m, const HashedItem* hashed, Py_ssize_t nhashed) except -1:
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t end
    while start < nhashed:
        end = start + 1
        while end < nhashed and hashed[end].hash == hashed[start].hash:
            end += 1
        if end - start > MAX_EQUAL_HASHES:
            return refuse_pickle(m, f"more than {MAX_EQUAL_HASHES} elements of a set share one hash value")
        if end - start > 1:
            charge_comparisons(m, hashed + start, end - start)
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
    if Py_TYPE(holder) == &PyTuple_Type:
        for i in range(PyTuple_GET_SIZE(holder)):
            add_part(level, PyTuple_GET_ITEM(holder, i))
    else:
        for part in <object>holder:
            add_part(level, <PyObject*>part)
    return 0


cdef int charge_comparisons(PickleMachine* m, const HashedItem* group, Py_ssize_t ngroup) except -1:
    # Two quick values compare in steps of the smaller one's size, any two others at worst in the product of both: a
    # frozenset looks up each element of the other, a Decimal converts an int by schoolbook division.
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
            charge_level(m, &level, &size, &is_quick)
            below.nitems = 0
            for i in range(level.nitems):
                if Py_TYPE(level.items[i]) == &PyTuple_Type or Py_TYPE(level.items[i]) == &PyFrozenSet_Type:
                    add_parts(&below, level.items[i])
            level, below = below, level
    finally:
        PyMem_Free(level.items)
        PyMem_Free(below.items)
    return charge(m, size * (ngroup if is_quick else size))


cdef int charge_level(PickleMachine* m, const PartsLevel* level, Py_ssize_t* size, bint* is_quick) except -1:
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
    charge(m, nbytes)
    size[0] += level.nitems + nflat // 16
    return 0


cdef bint has_quick_comparison(PyObject* item) noexcept:
    # Linear in the size, in C.
    cdef PyTypeObject* kind = Py_TYPE(item)
    return kind == &PyLong_Type or kind == &PyUnicode_Type or kind == &PyFloat_Type or kind == &PyBytes_Type \
        or kind == &PyBool_Type or kind == &PyComplex_Type or item == Py_None or kind == DATE_TYPE or kind == DELTA_TYPE
