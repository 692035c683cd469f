# The pickle machine: what builds a plain value, and only that, from a pickle of protocol 0 to 5.
# What always holds in it:
#
# - nothing is imported, looked up or called by a name from the data:
#   a name is one of those in objects.pxi, or it is refused;
# - no object is changed once it is complete, so no class and no value in use can be reached through BUILD;
# - memory follows the bytes that are there, and time is linear in them: see charge();
# - nothing recurses; containers count their levels as they are made and filled, and one more than PICKLE_DEPTH
#   is refused at once: what walks them, hashing, comparing, printing or freeing, recurses on the C stack, and
#   a thread's may be small;
# - what comes out is of an exact type from the list in objects.pxi, nested PICKLE_DEPTH levels at most.
#
# The hazards are sharing and hashing. Shared tuples unfold to sizes exponential in the data, and every hash walks them;
# elements with equal hashes compare with each other, which is quadratic. Both are charged against a budget of bytes
# that grows with the data: a GET is charged the size of the value that it repeats; n elements of equal hash are charged
# n squared. Mutable containers cannot be shared at all, nor a tuple that holds one; that also rules out cycles.
#
# Beside each value on the stack and in the memo is its extent: its bytes and those of all that it holds, how many
# levels are inside it, and whether it is or holds what no plain value does. So a container's follows from those of its
# items, which may be far from the cache by then: what takes many objects off the stack moves pointers, and does not
# look at what they point to.

cdef enum:
    MAX_MARKS = 2 * PICKLE_DEPTH
    FIRST_SLOTS = 32
    # Of an extent: its levels are in the lowest byte, its bytes from SIZE_SHIFT on.
    LEVELS = 0xff
    HOLDS_NAME = 0x100        # a name of objects.pxi
    HOLDS_MUTABLE = 0x200     # a list, dict or set: cannot be an element of a set, nor be shared
    IS_MEASURED = 0x400       # has paid for being walked
    SIZE_SHIFT = 16
    MUTABLE_SIZE = 160        # bytes of a list, dict or set itself: they are refused where it would matter

cdef struct PickleMemo:
    PyObject* value           # owned
    uint64_t extent

cdef struct PickleMachine:
    const unsigned char* start
    const unsigned char* p
    const unsigned char* end
    PyObject** stack          # owned values
    uint64_t* extents         # an extent for each value of the stack
    Py_ssize_t nstack
    Py_ssize_t capacity
    PickleMemo* memo          # values in the order in which they were memoised
    Py_ssize_t nmemo
    Py_ssize_t memo_capacity
    uint32_t first_key        # key of the first value in the memo
    uint64_t* memo_index      # NULL: each key is one more than the one before it
    int index_bits            # log2 of the number of entries in memo_index
    uint64_t contents_extent  # the extent of a container of what was taken off the stack last, without its own bytes
    int64_t budget
    Py_ssize_t nblank         # number of UUIDs that have no number yet
    bint ran_past_end         # an opcode was looked for at the end
    int nmarks
    bint exception_is_final           # do not wrap the pending exception
    bint needs_position            # add the byte offset to the message of the pending exception
    bint takes_containers     # lists and dicts are values
    Py_ssize_t marks[MAX_MARKS]
    PyObject* first_values[FIRST_SLOTS]
    uint64_t first_extents[FIRST_SLOTS]


cdef object read_pickle(const unsigned char* p, Py_ssize_t nbytes, bint takes_containers=False):
    # takes_containers: lists and dicts are values too. Raises ValueError for whatever is not a plain value: other
    # types, broken bytes, bytes after the end, and pickles made to cost more than their size.
    cdef PickleMachine m
    m.takes_containers = takes_containers
    m.start = m.p = p
    m.end = p + nbytes
    m.stack = m.first_values
    m.extents = m.first_extents
    m.capacity = FIRST_SLOTS
    m.memo = NULL
    m.memo_index = NULL
    m.nstack = m.nmemo = m.memo_capacity = m.nblank = m.ran_past_end = 0
    m.index_bits = m.nmarks = 0
    m.first_key = 0
    m.contents_extent = 0
    m.exception_is_final = m.needs_position = False
    # Small pickles get somewhat more for their bytes; not much more, since a stream may hold many of them.
    m.budget = (1 << 17) + min(1 << 22, 256 * nbytes) + 64 * nbytes
    try:
        run_opcodes(&m)
        return pickle_result(&m)
    except MemoryError:
        raise
    except Exception as error:
        if m.exception_is_final:
            raise
        # What the interpreter raises for a value varies with its version; the caller is given one type.
        reason = str(error) if m.needs_position else f"{type(error).__name__}: {shortened(str(error))}"
    finally:
        release_machine(&m)
    raise ValueError(f"broken pickle at byte {m.p - m.start + m.ran_past_end}: {reason}; {PICKLE_HINT}")

cdef str PICKLE_HINT = 'pass pickle="trust" for data of your own, or pickle="raw" for the bytes'


cdef void release_machine(PickleMachine* m) noexcept:
    cdef Py_ssize_t i
    drop_slots(m, 0)
    if m.stack != m.first_values:
        PyMem_Free(m.stack)
    if m.extents != m.first_extents:
        PyMem_Free(m.extents)
    for i in range(m.nmemo):
        decref(m.memo[i].value)
    PyMem_Free(m.memo)
    PyMem_Free(m.memo_index)


cdef str shortened(str text):
    return ascii(text[:60])


cdef int refuse_pickle(PickleMachine* m, str what) except -1:
    m.exception_is_final = True
    raise ValueError(f"pickle refused: {what}; {PICKLE_HINT}")


cdef int raise_malformed(PickleMachine* m, str what) except -1:
    # The bytes before the cursor, or the lack of more, are not a pickle.
    m.needs_position = True
    raise ValueError(what)


cdef int refuse_depth(PickleMachine* m) except -1:
    return refuse_pickle(m, f"it nests deeper than {PICKLE_DEPTH} levels")


cdef int charge(PickleMachine* m, Py_ssize_t nbytes) except -1:
    m.budget -= nbytes
    if unlikely(m.budget < 0):
        return refuse_pickle(m, "its shared or colliding parts cost more than its size")
    return 0


cdef int handle_signals(PickleMachine* m) except -1:
    m.exception_is_final = True    # what a signal's handler raises is not a fault of the pickle
    check_signals()
    m.exception_is_final = False
    return 0


# The result.

cdef object pickle_result(PickleMachine* m):
    cdef uint64_t extent
    if m.nstack != 1:
        raise_malformed(m, f"it ends with {m.nstack} values on its stack, not one")
    if m.nmarks:
        raise_malformed(m, "it ends with a MARK that no opcode has used")
    if m.p != m.end:
        refuse_pickle(m, f"{m.end - m.p} bytes follow its end")
    value = <object>m.stack[0]
    extent = m.extents[0]
    if type(value) is OpenSet:
        value = set_of(m, (<OpenSet>value).items)
    if type(value) is set:
        extent &= ~<uint64_t>HOLDS_MUTABLE
    if m.takes_containers and not extent & HOLDS_NAME and not m.nblank:
        return value
    if extent & (HOLDS_NAME | HOLDS_MUTABLE) or m.nblank:
        check_plain(m, value)
    elif extent & LEVELS >= PICKLE_DEPTH:
        refuse_depth(m)
    return value


cdef int check_plain(PickleMachine* m, object value) except -1:
    # Level by level, each object of a level once: shared ones may unfold to any number.
    cdef dict level = {id(value): value}
    cdef dict below
    cdef int nlevels = 0
    while level:
        if nlevels == PICKLE_DEPTH:
            return refuse_depth(m)
        strange, unfinished, below = set(), False, {}
        for item in level.values():
            if type(item) in (PickledName, OpenSet, list, dict) or (nlevels and type(item) is set):
                strange.add(name_of_kind(item))
            elif Py_TYPE(<PyObject*>item) == UUID_TYPE and not hasattr(item, "int"):
                unfinished = True
            elif type(item) in (tuple, frozenset, set):
                for part in item:
                    below[id(part)] = part
        if strange or unfinished:
            return refuse_pickle(m, f"it holds {' and '.join(sorted(strange)) or 'an unfinished UUID'}")
        level = below
        nlevels += 1
    return 0


cdef str name_of_kind(object value):
    return "function" if type(value) is PickledName else "set" if type(value) is OpenSet else type(value).__name__


# Sizes: about what sys.getsizeof gives on 64 bits; they only need to be proportional to memory.

cdef enum:
    GC_HEAD = 16

cdef Py_ssize_t size_of(PyObject* value) except -1:
    cdef PyTypeObject* kind = Py_TYPE(value)
    if kind == &PyLong_Type:
        return PyLong_Type.tp_basicsize + ndigits_of(value) * PyLong_Type.tp_itemsize
    if kind == &PyUnicode_Type:
        PyUnicode_READY(value)
        if PyUnicode_IS_ASCII(value):
            return <Py_ssize_t>sizeof(PyASCIIObject) + PyUnicode_GET_LENGTH(value) + 1
        return <Py_ssize_t>sizeof(PyCompactUnicodeObject) + (PyUnicode_GET_LENGTH(value) + 1) * PyUnicode_KIND(value)
    if kind == &PyBytes_Type:
        return PyBytes_Type.tp_basicsize + bytes_size(value)
    if kind == &PyTuple_Type:
        return PyTuple_Type.tp_basicsize + GC_HEAD + PyTuple_GET_SIZE(value) * <Py_ssize_t>sizeof(PyObject*)
    if kind == &PyFrozenSet_Type:
        return PyFrozenSet_Type.tp_basicsize + GC_HEAD + set_table_nbytes(value)
    if kind == DECIMAL_TYPE:
        return memory_nbytes(<object>value)    # a Decimal has digits elsewhere
    return kind.tp_basicsize + (GC_HEAD if PyType_HasFeature(kind, Py_TPFLAGS_HAVE_GC) else 0)


# The stack.

cdef inline int push_slot(PickleMachine* m, PyObject* value, uint64_t extent) except -1:
    # Steals the value, also on failure.
    if unlikely(m.nstack == m.capacity):
        enlarge_slots(m, value)
    m.stack[m.nstack] = value
    m.extents[m.nstack] = extent
    m.nstack += 1
    return 0


cdef inline int push_flat(PickleMachine* m, PyObject* value) except -1:
    # What holds nothing. Steals the value.
    cdef Py_ssize_t nbytes
    try:
        nbytes = size_of(value)
    except:
        decref(value)
        raise
    return push_slot(m, value, <uint64_t>nbytes << SIZE_SHIFT)


cdef int enlarge_slots(PickleMachine* m, PyObject* value) except -1:
    cdef Py_ssize_t capacity = 2 * m.capacity
    cdef PyObject** stack = <PyObject**>enlarged(m.stack, m.first_values, m.nstack * sizeof(PyObject*))
    cdef uint64_t* extents
    if stack != NULL:
        m.stack = stack
        extents = <uint64_t*>enlarged(m.extents, m.first_extents, m.nstack * sizeof(uint64_t))
        if extents != NULL:
            m.extents = extents
            m.capacity = capacity
            return 0
    decref(value)
    raise MemoryError


cdef void* enlarged(void* full, const void* first, Py_ssize_t nbytes) noexcept:
    # Memory of twice as many bytes with the same contents; `first` is not an allocation of its
    # own. NULL: out of memory.
    cdef void* larger = PyMem_Realloc(NULL if full == first else full, 2 * nbytes)
    if larger != NULL and full == first:
        memcpy(larger, first, nbytes)
    return larger


cdef inline int expect_filled(PickleMachine* m) except -1:
    if unlikely(m.nstack == 0):
        return raise_malformed(m, "an opcode stores the value on top of the stack, which is empty")
    return 0


cdef void measure_contents(PickleMachine* m, Py_ssize_t start) noexcept:
    # Reckon the extent of a container of the values from `start` on.
    cdef uint64_t nbytes = 0
    cdef uint64_t flags = 0
    cdef uint64_t levels = 0
    cdef Py_ssize_t i
    for i in range(start, m.nstack):
        flags |= m.extents[i]
        levels = max(levels, m.extents[i] & LEVELS)
        nbytes += m.extents[i] >> SIZE_SHIFT
    if start < m.nstack:
        levels += 1
    m.contents_extent = nbytes << SIZE_SHIFT | flags & (HOLDS_NAME | HOLDS_MUTABLE) | levels


cdef Py_ssize_t start_of_last(PickleMachine* m, Py_ssize_t nitems) except -1:
    # Where the last items begin.
    if unlikely(nitems > m.nstack):
        return raise_malformed(m, f"an opcode takes {nitems} from a stack of {m.nstack}")
    return m.nstack - nitems


cdef Py_ssize_t start_of_mark(PickleMachine* m) except -1:
    if unlikely(m.nmarks == 0):
        return raise_malformed(m, "an opcode takes the values after a MARK, and there is no MARK")
    m.nmarks -= 1
    return min(m.marks[m.nmarks], m.nstack)


cdef inline void drop_slots(PickleMachine* m, Py_ssize_t start) noexcept:
    while m.nstack > start:
        m.nstack -= 1
        decref(m.stack[m.nstack])


cdef PyObject* take_tuple(PickleMachine* m, Py_ssize_t start) except NULL:
    # The values from `start` on, which leave the stack; `contents_extent` is that of what holds them.
    cdef Py_ssize_t nitems = m.nstack - start
    cdef PyObject* result
    measure_contents(m, start)
    m.nstack = start
    result = tuple_from_stolen(m.stack + start, nitems)
    if nitems and not m.contents_extent & HOLDS_MUTABLE:
        PyObject_GC_UnTrack(result)    # no cycle can go through it
    return result


cdef list take_list(PickleMachine* m, Py_ssize_t start):
    cdef Py_ssize_t nitems = m.nstack - start
    measure_contents(m, start)
    m.nstack = start
    return <list>object_from_stolen(list_from_stolen(m.stack + start, nitems))


cdef int move_to_list(PickleMachine* m, list target, Py_ssize_t start) except -1:
    cdef Py_ssize_t nitems = m.nstack - start
    measure_contents(m, start)
    m.nstack = start
    if nitems == 0:
        return 0    # an empty list may have no memory to copy nothing to
    return list_extend_stolen(<PyObject*>target, m.stack + start, nitems)


cdef int push_holder(PickleMachine* m, PyObject* value, uint64_t extent) except -1:
    # A container with the extent of what it holds. Steals it.
    if unlikely(extent & LEVELS > PICKLE_DEPTH):
        decref(value)
        return refuse_depth(m)
    return push_slot(m, value, extent)


cdef int add_to_top_extent(PickleMachine* m, uint64_t extent) except -1:
    # Add the extent of new contents to the container on top of the stack.
    cdef uint64_t* top = &m.extents[m.nstack - 1]
    if unlikely(extent & LEVELS > PICKLE_DEPTH):
        return refuse_depth(m)
    top[0] = ((top[0] >> SIZE_SHIFT) + (extent >> SIZE_SHIFT)) << SIZE_SHIFT \
        | (top[0] | extent) & (HOLDS_NAME | HOLDS_MUTABLE) | max(top[0] & LEVELS, extent & LEVELS)
    return 0


cdef inline uint64_t with_own_size(uint64_t extent, PyObject* holder) except? 0:
    return extent + (<uint64_t>size_of(holder) << SIZE_SHIFT)


cdef int set_mark(PickleMachine* m) except -1:
    if unlikely(m.nmarks == MAX_MARKS):
        return refuse_depth(m)
    m.marks[m.nmarks] = m.nstack
    m.nmarks += 1
    return 0


cdef PyObject* expect_below(PickleMachine* m, Py_ssize_t start, PyTypeObject* kind) except NULL:
    # The value below that slot.
    if unlikely(start == 0):
        raise_malformed(m, "an opcode adds to the object below its values, and there is none")
    if unlikely(Py_TYPE(m.stack[start - 1]) != kind):
        refuse_pickle(m, f"it adds to an object of type {name_of_kind(<object>m.stack[start - 1])}")
    return m.stack[start - 1]


# The memo: entries in the order of storing. Picklers number keys consecutively, so key - first_key is usually the
# index. For other keys, a hash table with linear probing holds the key and the index in one number, so that a
# lookup touches only the table.

cdef inline uint64_t* index_entry(PickleMachine* m, uint32_t key) noexcept:
    # The entry of a key, or the free one (0) that it would get; there is a free one.
    # An entry is a key, and its index in the memo plus 1.
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << m.index_bits) - 1
    cdef Py_ssize_t i = <Py_ssize_t>((<uint64_t>key * SECRET) >> (64 - m.index_bits))
    while m.memo_index[i] != 0 and m.memo_index[i] >> 32 != key:
        i = i + 1 & mask
    return &m.memo_index[i]


cdef inline PickleMemo* find_memo(PickleMachine* m, int64_t key) noexcept:
    # NULL: nothing is stored under it.
    cdef int64_t index
    if not 0 <= key < <int64_t>1 << 32:
        return NULL
    if m.memo_index == NULL:
        index = key - m.first_key
    else:
        index = <int64_t>(index_entry(m, <uint32_t>key)[0] & 0xffffffff) - 1
    return &m.memo[index] if 0 <= index < m.nmemo else NULL


cdef int add_memo(PickleMachine* m, uint32_t key) except -1:
    # One more entry, whose value the caller fills in. There are less than 2**31: each takes a byte of a pickle.
    cdef Py_ssize_t capacity
    cdef PickleMemo* memo
    if m.nmemo == m.memo_capacity:
        capacity = max(8, 2 * m.memo_capacity)
        memo = <PickleMemo*>PyMem_Realloc(m.memo, capacity * sizeof(PickleMemo))
        if memo == NULL:
            raise MemoryError
        m.memo = memo
        m.memo_capacity = capacity
    if m.nmemo == 0:
        m.first_key = key
    if m.memo_index != NULL or key != <int64_t>m.first_key + m.nmemo:
        if 4 * m.nmemo >= <Py_ssize_t>3 << m.index_bits or m.memo_index == NULL:
            enlarge_index(m)
        index_entry(m, key)[0] = new_index_entry(key, m.nmemo)
    m.nmemo += 1
    return 0


cdef inline uint64_t new_index_entry(uint32_t key, Py_ssize_t index) noexcept:
    return <uint64_t>key << 32 | <uint64_t>index + 1


cdef int enlarge_index(PickleMachine* m) except -1:
    # Entries are in the order of what selects them, so those of the old table follow one
    # another in the new one as well.
    cdef uint64_t* old = m.memo_index
    cdef Py_ssize_t nold = <Py_ssize_t>1 << m.index_bits if old != NULL else 0
    cdef int nbits = max(3, m.index_bits + 1)
    cdef Py_ssize_t i
    while 4 * m.nmemo >= <Py_ssize_t>3 << nbits:
        nbits += 1
    m.memo_index = <uint64_t*>PyMem_Calloc(<Py_ssize_t>1 << nbits, sizeof(uint64_t))
    if m.memo_index == NULL:
        m.memo_index = old
        raise MemoryError
    m.index_bits = nbits
    for i in range(nold):
        if old[i]:
            index_entry(m, <uint32_t>(old[i] >> 32))[0] = old[i]
    if old == NULL:
        for i in range(m.nmemo):
            index_entry(m, m.first_key + <uint32_t>i)[0] = new_index_entry(m.first_key + <uint32_t>i, i)
    PyMem_Free(old)
    return 0


cdef int put_memo(PickleMachine* m, int64_t key) except -1:
    # Store the value on top of the stack under a key, which must fit in four bytes, as in LONG_BINPUT.
    cdef PickleMemo* entry
    cdef PyObject* old = NULL
    if not 0 <= key < <int64_t>1 << 32:
        return refuse_pickle(m, "it stores an object under a number out of range")
    if unlikely(m.nmemo > (m.p - m.start) // 2):
        return refuse_pickle(m, "it stores more objects than it can hold")
    expect_filled(m)
    entry = find_memo(m, key)
    if entry == NULL:
        add_memo(m, <uint32_t>key)
        entry = &m.memo[m.nmemo - 1]
    else:
        old = entry.value
    entry.value, entry.extent = m.stack[m.nstack - 1], m.extents[m.nstack - 1]
    incref(entry.value)
    Py_XDECREF(old)
    return 0


cdef int get_memo(PickleMachine* m, int64_t key) except -1:
    cdef PickleMemo* entry = find_memo(m, key)
    cdef PyTypeObject* kind
    if entry == NULL:
        return raise_malformed(m, f"nothing is stored under the number {key}")
    kind = Py_TYPE(entry.value)
    if kind == &PyList_Type or kind == &PyDict_Type or kind == &PySet_Type or kind == <PyTypeObject*>OpenSet:
        return refuse_pickle(m, f"it shares a {name_of_kind(<object>entry.value)}")
    if kind == &PyTuple_Type or kind == &PyFrozenSet_Type:
        if entry.extent & HOLDS_MUTABLE:
            return refuse_pickle(m, "it shares a tuple that holds a list or dict")
        if not entry.extent & IS_MEASURED:    # a level has its price even where it holds next to nothing
            charge(m, (entry.extent >> SIZE_SHIFT) + 512 * ((entry.extent & LEVELS) + 1))
            entry.extent |= IS_MEASURED
        charge(m, entry.extent >> SIZE_SHIFT)
    elif kind == &PyLong_Type or kind == DECIMAL_TYPE:    # their hash is computed from the whole of them each time
        charge(m, entry.extent >> SIZE_SHIFT)
    incref(entry.value)
    return push_slot(m, entry.value, entry.extent & ~<uint64_t>IS_MEASURED)
