# Column and Table: what is held, who owns it, room for more.

cdef enum Kind:
    FIXED      # scalars of one width: data
    SIZED      # BYTES, STRING, application codes: offsets into data
    ENCODED    # values of any kind as their encoded bytes: offsets into data
    ARRAY      # VECTORs of one arity whose items are scalars of one width: nitems of them a value, in data
    TUPLE      # VECTORs of one arity: a part for each item
    LISTED     # LISTs, or VECTORs of any arity: offsets into one part
    PAIRED     # MAPs: offsets into two parts, keys and mapped values
    UNKNOWN    # items of LISTs and MAPs that have all been empty: nothing
    DOUBTED    # as FIXED: LONGs of others' unsigned numbers, and those that came out negative did not fit

cdef enum:
    CUSHION = 16              # bytes of room behind data, so that short copies have one length
    MOST_LEVELS = 30          # of columns within columns: Arrow's readers allow for twice as many
    MOST_PARTS = 1024         # of a TUPLE, and of its parts' parts together

cdef struct Column:
    Kind kind
    int code                  # type code of each value; of ARRAY: of each item; ENCODED, UNKNOWN: none
    int width                 # bytes of a payload; FIXED, ARRAY
    Py_ssize_t nitems         # ARRAY
    bint wanted               # held; when it is not, a part may be
    bint within               # a part of this TUPLE is wanted by itself
    Column** parts            # owned
    Py_ssize_t nparts
    Py_ssize_t n              # values held
    unsigned char* data       # owned, unless borrowed
    Py_ssize_t used           # bytes
    Py_ssize_t room           # bytes, CUSHION not counted
    int32_t* offsets          # owned, unless borrowed; n + 1 of them
    int64_t* wide_offsets     # owned or borrowed; instead of offsets, where others gave them
    Py_ssize_t offsets_room
    Py_ssize_t checked        # STRING: bytes of data that are known to be UTF-8
    bint borrowed             # data belongs to somebody else
    bint offsets_borrowed     # and so do the offsets
    const unsigned char* valid    # borrowed; a bit for each value, 0: null. NULL: there are no nulls
    Py_ssize_t first_bit      # of value 0 in `valid`

cdef struct Table:
    long owners
    Column** roots            # one for each value of a record
    Py_ssize_t nroots
    Column** shown            # borrowed from the roots' trees: the columns that users see
    Py_ssize_t nshown
    Py_ssize_t n              # rows


cdef int width_of(int code) noexcept nogil:
    # Bytes of a scalar's payload; 0 where there is no one width.
    if code == BYTE or code == BOOL:
        return 1
    if code == INT or code == FLOAT:
        return 4
    if code == LONG or code == DOUBLE:
        return 8
    return 2 if code == SHORT else 0


cdef Column* new_column(Kind kind, int code, Py_ssize_t nparts) except NULL:
    cdef Column* c = <Column*>PyMem_RawCalloc(1, sizeof(Column))
    if c == NULL:
        raise MemoryError
    c.kind = kind
    c.code = code
    c.wanted = True
    c.width = width_of(code) if kind == FIXED or kind == ARRAY else 0
    c.parts = <Column**>PyMem_RawCalloc(max(nparts, 1), sizeof(Column*))
    if c.parts == NULL:
        PyMem_RawFree(c)
        raise MemoryError
    c.nparts = nparts
    return c


cdef bint has_offsets(const Column* c) noexcept nogil:
    return c.kind == SIZED or c.kind == ENCODED or c.kind == LISTED or c.kind == PAIRED


cdef void free_memory(Column* c) noexcept nogil:
    if not c.borrowed:
        let_go(c.data, c.room + CUSHION)
    if not c.offsets_borrowed:
        let_go(c.offsets, c.offsets_room * sizeof(int32_t))
        PyMem_RawFree(c.wide_offsets)
    c.data = NULL
    c.offsets = NULL
    c.wide_offsets = NULL
    c.used = c.room = c.offsets_room = c.checked = 0


cdef void free_parts(Column* c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(c.nparts):
        free_column(c.parts[i])
    c.nparts = 0


cdef void free_column(Column* c) noexcept nogil:
    if c == NULL:
        return
    free_parts(c)
    free_memory(c)
    PyMem_RawFree(c.parts)
    PyMem_RawFree(c)


cdef Table* new_table(tuple types, Py_ssize_t nshown) except NULL:
    # Empty columns of these types, and room for those that users see.
    cdef Table* table = <Table*>PyMem_RawCalloc(1, sizeof(Table))
    if table == NULL:
        raise MemoryError
    table.owners = 1
    table.roots = <Column**>PyMem_RawCalloc(len(types), sizeof(Column*))
    table.shown = <Column**>PyMem_RawCalloc(nshown, sizeof(Column*))
    try:
        if table.roots == NULL or table.shown == NULL:
            raise MemoryError
        for described in types:
            table.roots[table.nroots] = make_column(described)
            table.nroots += 1
    except BaseException:
        leave_table(table)
        raise
    table.nshown = nshown
    return table


cdef void leave_table(Table* table) noexcept nogil:
    # The last owner frees; it may be a thread that never had the GIL.
    cdef Py_ssize_t i
    if table == NULL or remove_owner(&table.owners) > 0:
        return
    for i in range(table.nroots):
        free_column(table.roots[i])
    PyMem_RawFree(table.roots)
    PyMem_RawFree(table.shown)
    PyMem_RawFree(table)


cdef bint reserve_data(Column* c, Py_ssize_t nbytes) noexcept nogil:
    # Room for so many bytes in all, growing by a factor. False: there is no memory.
    cdef Py_ssize_t room = max(nbytes, min(2 * c.room, c.room + (<Py_ssize_t>1 << 30)))
    cdef size_t size
    cdef void* larger
    if c.data != NULL and nbytes <= c.room:
        return True
    size = max(room, 64) + CUSHION
    larger = enlarge_kept(c.data, c.room + CUSHION, &size)
    if larger == NULL:
        return False
    c.data = <unsigned char*>larger
    c.room = size - CUSHION
    return True


cdef bint reserve_payload(Column* c, Py_ssize_t nbytes, Py_ssize_t most) noexcept nogil:
    # As reserve_data, and never more than offsets can say: take_sized asks for room, and for nothing else.
    if not reserve_data(c, min(nbytes, most)):
        return False
    c.room = min(c.room, most)
    return True


cdef bint reserve_offsets(Column* c, Py_ssize_t n) noexcept nogil:
    # Room for the offsets of n values. False: there is no memory.
    cdef size_t size
    cdef void* larger
    if n < c.offsets_room:
        return True
    size = max(n + 1, 2 * c.offsets_room, 16) * sizeof(int32_t)
    larger = enlarge_kept(c.offsets, c.offsets_room * sizeof(int32_t), &size)
    if larger == NULL:
        return False
    c.offsets = <int32_t*>larger
    if c.offsets_room == 0:
        c.offsets[0] = 0
    c.offsets_room = size // sizeof(int32_t)
    return True


cdef inline int64_t offset_at(const Column* c, Py_ssize_t i) noexcept nogil:
    return c.wide_offsets[i] if c.wide_offsets != NULL else c.offsets[i]


cdef void cut(Column* c, Py_ssize_t n) noexcept nogil:
    # Forget the values from n on, those that are not whole among them.
    cdef Py_ssize_t i
    cdef Py_ssize_t nitems = n
    if not c.wanted and not c.within:
        return
    if c.kind == FIXED or c.kind == ARRAY:
        c.used = n * c.width * (c.nitems if c.kind == ARRAY else 1)
    elif has_offsets(c):
        nitems = c.offsets[n] if c.offsets_room else 0
        if c.kind == SIZED or c.kind == ENCODED:
            c.used = nitems
            c.checked = min(c.checked, nitems)
    for i in range(c.nparts):
        cut(c.parts[i], nitems)
    c.n = n


cdef bint copy_rows(Column* to, const Column* c, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    # Append values to a column of the same type. False: there is no memory.
    cdef Py_ssize_t i, before, start, end, nbytes
    if first == last or (not c.wanted and not c.within):
        return True
    if c.kind == FIXED or c.kind == ARRAY:
        nbytes = c.width * (c.nitems if c.kind == ARRAY else 1)
        if not reserve_data(to, to.used + (last - first) * nbytes):
            return False
        memcpy(to.data + to.used, c.data + first * nbytes, (last - first) * nbytes)
        to.used += (last - first) * nbytes
    elif c.kind == TUPLE:
        for i in range(c.nparts):
            if not copy_rows(to.parts[i], c.parts[i], first, last):
                return False
    elif has_offsets(c):
        if not reserve_offsets(to, to.n + last - first):
            return False
        before = to.offsets[to.n]
        start = c.offsets[first]
        end = c.offsets[last]
        for i in range(last - first):
            to.offsets[to.n + i + 1] = <int32_t>(before + c.offsets[first + i + 1] - start)
        for i in range(c.nparts):
            if not copy_rows(to.parts[i], c.parts[i], start, end):
                return False
        if end > start and (c.kind == SIZED or c.kind == ENCODED):
            if not reserve_data(to, to.used + end - start):
                return False
            memcpy(to.data + to.used, c.data + start, end - start)
            to.used += end - start
            to.checked = to.used
    to.n += last - first
    return True
