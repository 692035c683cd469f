# The pickle machine: what builds a plain value, and only that, from a pickle of protocol 0 to 5. What always holds in it:
#
# - nothing is imported, looked up or called by a name from the data: a name is one of those in objects.pxi, or it is refused;
# - no object is changed once it is complete, so no class and no value in use can be reached through BUILD;
# - memory follows the bytes that are there, and time is linear in them: see spend();
# - nothing recurses; containers count their levels as they are made and filled, and one more than PICKLE_DEPTH is refused at
#   once: what walks them, hashing, comparing, printing or freeing, recurses on the C stack, and a thread's may be small;
# - what comes out is of an exact type from the list in objects.pxi, nested PICKLE_DEPTH levels at most.
#
# The hazards are sharing and hashing. Shared tuples unfold to sizes exponential in the data, and every hash walks them; elements
# with equal hashes compare with each other, which is quadratic. Both are charged against a budget of bytes that grows with the
# data: a GET pays for the value as if it were there again, a group of equal hashes pays the square of its size. Mutable
# containers cannot be shared at all, nor a tuple that holds one; that also rules out cycles.
#
# Beside each value on the stack and in the memo is its extent: for a container the bytes of all that it holds, itself included,
# how many levels are inside it, and whether it holds what no plain value does. What holds nothing has none (0).

cdef enum:
    MAX_MARKS = 2 * PICKLE_DEPTH
    FIRST_SLOTS = 32
    # Of an extent: its levels are in the lowest byte, its bytes from SIZE_SHIFT on.
    LEVELS = 0xff
    HOLDS_NAME = 0x100        # a name of objects.pxi
    HOLDS_MUTABLE = 0x200     # a list, dict or set: cannot be an element of a set, nor be shared
    SIZE_SHIFT = 16

cdef struct PickleSlot:
    PyObject* value           # owned
    uint64_t extent

cdef struct PickleMemo:
    PyObject* value           # owned; NULL: a free entry
    uint64_t extent
    uint32_t key
    bint is_measured          # has paid for being walked

cdef struct PickleMachine:
    const unsigned char* start
    const unsigned char* p
    const unsigned char* end
    PickleSlot* stack
    Py_ssize_t nstack
    Py_ssize_t capacity
    PickleMemo* memo          # owned: a hash table with linear probing, NULL: empty
    Py_ssize_t nmemo
    int memo_bits             # log2 of its entries
    uint64_t above            # the extent of a container of what was taken off the stack last, without its own bytes
    int64_t budget
    Py_ssize_t nblank         # UUIDs without a number
    Py_ssize_t nbeyond        # 1: an opcode was looked for at the end
    int nmarks
    bint is_refused           # the exception that is set says all
    Py_ssize_t marks[MAX_MARKS]
    PickleSlot first_slots[FIRST_SLOTS]


cdef object read_pickle(const unsigned char* p, Py_ssize_t nbytes):
    # Raises ValueError for whatever is no plain value: other types, broken bytes, bytes after the end, and pickles made to cost
    # more than their size.
    cdef PickleMachine m
    m.start = m.p = p
    m.end = p + nbytes
    m.stack = m.first_slots
    m.nstack = m.nmemo = m.nblank = m.nbeyond = 0
    m.capacity = FIRST_SLOTS
    m.memo = NULL
    m.memo_bits = m.nmarks = 0
    m.above = 0
    m.is_refused = False
    # Small pickles get somewhat more for their bytes; not much more, since a stream may hold many of them.
    m.budget = (1 << 17) + min(1 << 22, 256 * nbytes) + 64 * nbytes
    try:
        run_opcodes(&m)
        return pickle_result(&m)
    except MemoryError:
        raise
    except Exception as error:
        if m.is_refused:
            raise
        # The types of these vary with the Python version; the caller is promised one.
        reason = f"{type(error).__name__}: {shortened(str(error))}"
    finally:
        release_machine(&m)
    raise ValueError(f"broken pickle at byte {m.p - m.start + m.nbeyond}: {reason}; {GO_ON}")

GO_ON = 'pass pickle="trust" for data of your own, or pickle="raw" for the bytes'


cdef void release_machine(PickleMachine* m) noexcept:
    cdef Py_ssize_t i
    while m.nstack > 0:
        m.nstack -= 1
        decref(m.stack[m.nstack].value)
    if m.stack != m.first_slots:
        PyMem_Free(m.stack)
    if m.memo != NULL:
        for i in range(<Py_ssize_t>1 << m.memo_bits):
            Py_XDECREF(m.memo[i].value)
        PyMem_Free(m.memo)


cdef str shortened(str text):
    return ascii(text[:60])


cdef int refuse_pickle(PickleMachine* m, str what) except -1:
    m.is_refused = True
    raise ValueError(f"pickle refused: {what}; {GO_ON}")


cdef int refuse_depth(PickleMachine* m) except -1:
    return refuse_pickle(m, f"it nests deeper than {PICKLE_DEPTH} levels")


cdef int spend(PickleMachine* m, Py_ssize_t nbytes) except -1:
    m.budget -= nbytes
    if unlikely(m.budget < 0):
        return refuse_pickle(m, "its shared or colliding parts cost more than its size")
    return 0


# The result.

cdef object pickle_result(PickleMachine* m):
    cdef uint64_t extent
    if m.nstack != 1:
        few, many = "not enough values to unpack (expected 1, got 0)", "too many values to unpack (expected 1)"
        raise ValueError(many if m.nstack else few)
    if m.nmarks:
        raise ValueError("a mark is left over")
    if m.p != m.end:
        refuse_pickle(m, f"{m.end - m.p} bytes follow its end")
    value = <object>m.stack[0].value
    extent = m.stack[0].extent
    if type(value) is OpenSet:
        value = set_of(m, (<OpenSet>value).items)
        extent &= ~<uint64_t>HOLDS_MUTABLE
    if extent & (HOLDS_NAME | HOLDS_MUTABLE) or type(value) in (PickledName, list, dict) or m.nblank:
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
    return "function" if type(value) is PickledName else "_OpenSet" if type(value) is OpenSet else type(value).__name__


# Sizes: as sys.getsizeof gives them for these types.

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
        return PyFrozenSet_Type.tp_basicsize + GC_HEAD + set_table_size(value)
    if kind == DECIMAL_TYPE:
        return sys.getsizeof(<object>value)    # it has digits elsewhere
    if kind == <PyTypeObject*>PickledName or kind == &PyList_Type or kind == &PyDict_Type or kind == &PySet_Type:
        return 160    # they are refused where their size would matter
    return kind.tp_basicsize + (GC_HEAD if PyType_HasFeature(kind, Py_TPFLAGS_HAVE_GC) else 0)


# The stack.

cdef inline int push_slot(PickleMachine* m, PyObject* value, uint64_t extent) except -1:
    # Steals the value, also on failure.
    if unlikely(m.nstack == m.capacity):
        enlarge_slots(m, value)
    m.stack[m.nstack].value = value
    m.stack[m.nstack].extent = extent
    m.nstack += 1
    return 0


cdef inline int push_flat(PickleMachine* m, PyObject* value) except -1:
    # What holds nothing. Steals the value; NULL: an exception is set.
    return push_slot(m, value, 0)


cdef int enlarge_slots(PickleMachine* m, PyObject* value) except -1:
    cdef Py_ssize_t capacity = 2 * m.capacity
    cdef PickleSlot* stack = <PickleSlot*>PyMem_Realloc(NULL if m.stack == m.first_slots else m.stack, capacity * sizeof(PickleSlot))
    if stack == NULL:
        decref(value)
        raise MemoryError
    if m.stack == m.first_slots:
        memcpy(stack, m.first_slots, sizeof(m.first_slots))
    m.stack = stack
    m.capacity = capacity
    return 0


cdef inline PickleSlot* top_slot(PickleMachine* m) except NULL:
    if unlikely(m.nstack == 0):
        raise IndexError("list index out of range")
    return &m.stack[m.nstack - 1]


cdef inline uint64_t flags_of(const PickleSlot* slot) noexcept:
    # What a container holds when it holds this.
    cdef PyTypeObject* kind = Py_TYPE(slot.value)
    cdef uint64_t flags = slot.extent & (HOLDS_NAME | HOLDS_MUTABLE)
    if kind == &PyList_Type or kind == &PyDict_Type or kind == &PySet_Type or kind == <PyTypeObject*>OpenSet:
        return flags | HOLDS_MUTABLE
    if kind == <PyTypeObject*>PickledName:
        return flags | HOLDS_NAME
    return flags


cdef int measure_above(PickleMachine* m, Py_ssize_t start) except -1:
    # Reckon the extent of a container of the values from `start` on.
    cdef uint64_t nbytes = 0
    cdef uint64_t flags = 0
    cdef uint64_t levels = 0
    cdef Py_ssize_t i
    for i in range(start, m.nstack):
        flags |= flags_of(&m.stack[i])
        levels = max(levels, m.stack[i].extent & LEVELS)
        nbytes += m.stack[i].extent >> SIZE_SHIFT or <uint64_t>size_of(m.stack[i].value)
    if start < m.nstack:
        levels += 1
    m.above = nbytes << SIZE_SHIFT | flags | levels
    return 0


cdef Py_ssize_t slots_of_last(PickleMachine* m, Py_ssize_t nitems) except -1:
    # Where the last items begin.
    if unlikely(nitems > m.nstack):
        raise IndexError("stack underflow")
    return m.nstack - nitems


cdef Py_ssize_t slots_of_mark(PickleMachine* m) except -1:
    if unlikely(m.nmarks == 0):
        raise IndexError("pop from empty list")
    m.nmarks -= 1
    return min(m.marks[m.nmarks], m.nstack)


cdef inline void drop_slots(PickleMachine* m, Py_ssize_t start) noexcept:
    while m.nstack > start:
        m.nstack -= 1
        decref(m.stack[m.nstack].value)


cdef PyObject* take_tuple(PickleMachine* m, Py_ssize_t start) except NULL:
    # The values from `start` on, which leave the stack; `above` is the extent of what holds them.
    cdef PyObject* result
    cdef Py_ssize_t i
    measure_above(m, start)
    result = new_tuple(m.nstack - start)
    for i in range(start, m.nstack):
        set_tuple_item(result, i - start, m.stack[i].value)
    m.nstack = start
    return result


cdef list take_list(PickleMachine* m, Py_ssize_t start):
    cdef list items = []
    extend_from_slots(m, items, start)
    return items


cdef int extend_from_slots(PickleMachine* m, list target, Py_ssize_t start) except -1:
    cdef Py_ssize_t i
    measure_above(m, start)
    for i in range(start, m.nstack):
        PyList_Append(<PyObject*>target, m.stack[i].value)
    drop_slots(m, start)
    return 0


cdef int push_holder(PickleMachine* m, PyObject* value, uint64_t extent) except -1:
    # A container with the extent of what it holds. Steals it.
    if unlikely(extent & LEVELS > PICKLE_DEPTH):
        decref(value)
        return refuse_depth(m)
    return push_slot(m, value, extent)


cdef int raise_top(PickleMachine* m, uint64_t extent) except -1:
    # Let the container on top hold that much more.
    cdef PickleSlot* slot = &m.stack[m.nstack - 1]
    if unlikely(extent & LEVELS > PICKLE_DEPTH):
        return refuse_depth(m)
    slot.extent = ((slot.extent >> SIZE_SHIFT) + (extent >> SIZE_SHIFT)) << SIZE_SHIFT \
        | (slot.extent | extent) & (HOLDS_NAME | HOLDS_MUTABLE) | max(slot.extent & LEVELS, extent & LEVELS)
    return 0


cdef inline uint64_t with_own_size(uint64_t extent, PyObject* holder) except? 0:
    return extent + (<uint64_t>size_of(holder) << SIZE_SHIFT)


cdef int set_mark(PickleMachine* m) except -1:
    if unlikely(m.nmarks == MAX_MARKS):
        return refuse_depth(m)
    m.marks[m.nmarks] = m.nstack
    m.nmarks += 1
    return 0


cdef PickleSlot* expect_top(PickleMachine* m, PyTypeObject* kind) except NULL:
    cdef PickleSlot* slot = top_slot(m)
    if unlikely(Py_TYPE(slot.value) != kind):
        refuse_pickle(m, f"it adds to an object of type {name_of_kind(<object>slot.value)}")
    return slot


# The memo.

cdef PickleMemo* memo_entry(PickleMachine* m, uint32_t key) noexcept:
    # The entry of a key, or the free one that it would get; there is a free one.
    cdef Py_ssize_t mask = (<Py_ssize_t>1 << m.memo_bits) - 1
    cdef Py_ssize_t i = <Py_ssize_t>((<uint64_t>key * SECRET) >> (64 - m.memo_bits))
    while m.memo[i].value != NULL and m.memo[i].key != key:
        i = i + 1 & mask
    return &m.memo[i]


cdef int enlarge_memo(PickleMachine* m) except -1:
    cdef PickleMemo* old = m.memo
    cdef Py_ssize_t nold = <Py_ssize_t>1 << m.memo_bits if old != NULL else 0
    cdef PickleMemo* memo
    cdef Py_ssize_t i
    cdef int nbits = m.memo_bits + 1 if old != NULL else 3
    memo = <PickleMemo*>PyMem_Calloc(<Py_ssize_t>1 << nbits, sizeof(PickleMemo))
    if memo == NULL:
        raise MemoryError
    m.memo = memo
    m.memo_bits = nbits
    for i in range(nold):
        if old[i].value != NULL:
            memo_entry(m, old[i].key)[0] = old[i]
    PyMem_Free(old)
    return 0


cdef int put_memo(PickleMachine* m, int64_t key) except -1:
    # What four bytes can name.
    cdef PickleMemo* entry
    cdef PickleSlot* slot
    cdef PyObject* old
    if not 0 <= key < <int64_t>1 << 32:
        return refuse_pickle(m, "it stores an object under a number out of range")
    if unlikely(m.nmemo > (m.p - m.start) // 2):
        return refuse_pickle(m, "it stores more objects than it can hold")
    slot = top_slot(m)
    if m.memo == NULL or 4 * m.nmemo >= <Py_ssize_t>3 << m.memo_bits:
        enlarge_memo(m)
    entry = memo_entry(m, <uint32_t>key)
    old = entry.value
    m.nmemo += old == NULL
    incref(slot.value)
    entry.value, entry.extent, entry.key, entry.is_measured = slot.value, slot.extent, <uint32_t>key, False
    Py_XDECREF(old)
    return 0


cdef int get_memo(PickleMachine* m, int64_t key) except -1:
    cdef PickleMemo* entry
    cdef PyTypeObject* kind
    if m.memo == NULL or not 0 <= key < <int64_t>1 << 32:
        raise KeyError(key)
    entry = memo_entry(m, <uint32_t>key)
    if entry.value == NULL:
        raise KeyError(key)
    kind = Py_TYPE(entry.value)
    if kind == &PyList_Type or kind == &PyDict_Type or kind == &PySet_Type or kind == <PyTypeObject*>OpenSet:
        return refuse_pickle(m, f"it shares a {name_of_kind(<object>entry.value)}")
    if kind == &PyTuple_Type or kind == &PyFrozenSet_Type:
        if entry.extent & HOLDS_MUTABLE:
            return refuse_pickle(m, "it shares a tuple that holds a list or dict")
        if not entry.is_measured:    # a level has its price even where it holds next to nothing
            spend(m, (entry.extent >> SIZE_SHIFT) + 512 * ((entry.extent & LEVELS) + 1))
            entry.is_measured = True
        spend(m, entry.extent >> SIZE_SHIFT)
    elif kind == &PyLong_Type or kind == DECIMAL_TYPE:    # their hash is reckoned from the whole of them each time
        spend(m, size_of(entry.value))
    incref(entry.value)
    return push_slot(m, entry.value, entry.extent)
