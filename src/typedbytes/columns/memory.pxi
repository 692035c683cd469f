# Column and Table: their memory, its owners, reserving capacity.

cdef enum Kind:               # kinds up to DECIMAL have data of one size for each value
    FIXED                     # scalars of one width: data
    ARRAY                     # VECTORs of one arity, items of one fixed-width type: data has nitems for each value
    FIXED_BYTES               # BYTES of one length, `width`
    CHOICE                    # values that are among some: data has the number of each in `choices`, of `width` bytes
    DECIMAL                   # STRINGs of decimal numbers: data has them times 10**scale, as integers of `width` bytes
    VARIABLE_LENGTH           # BYTES, STRING, application codes: offsets into data
    ENCODED                   # values of any kind as their encoded bytes: offsets into data
    TUPLE                     # VECTORs of one arity: a child for each item
    VARIABLE_LIST             # LISTs, or VECTORs of any length: offsets into one child
    MAP_ENTRIES               # MAPs: offsets into two children, keys and mapped values
    STRUCT                    # MAPs whose keys are STRINGs: a child for each key; a MAP may lack some of them
    UNKNOWN                   # items of LISTs and MAPs that have all been empty: no data
    PARTLY_UNFIT              # imported, otherwise as FIXED: some numbers do not fit; they may be nulls, or in no row

cdef enum:
    PADDING = 16              # spare bytes after data, so that short copies have a constant length
    MAX_LEVELS = 30           # levels of columns within columns: Arrow's readers support twice as many
    MAX_CHILDREN = 1024       # TUPLE items and STRUCT fields of an inferred type, at all levels together
    MAX_FIELDS = 256          # fields of a STRUCT that is inferred or widened
    MAX_MISSING_NBYTES = 16 << 20    # memory for missing fields in a batch, which the size of the input does not bound

cdef enum Meaning:
    PLAIN
    DATE                      # days since 1970
    TIME                      # time of day, in the unit
    TIMESTAMP                 # time since 1970 by the wall clock, in the unit
    TIMESTAMP_UTC
    DURATION

cdef enum Unit:
    SECONDS
    MILLISECONDS
    MICROSECONDS

cdef struct Null:
    const unsigned char* data
    Py_ssize_t nbytes

cdef Null PICKLED_NULL = Null(<const unsigned char*>PICKLED_NONE, PICKLED_NONE_NBYTES)
cdef Null HIVE_NULL = Null(b"\x0c", 1)
# a NullWritable of a SequenceFile, as Hadoop writes one as typed bytes
cdef Null NULL_WRITABLE = Null(<const unsigned char*>ENCODED_NULL_WRITABLE, ENCODED_NULL_WRITABLE_NBYTES)
cdef Null MISSING_FIELD = Null(b"", 0)    # a null of a field that its MAP does not have

cdef struct Step              # load.pxi has the steps of the fast path

cdef struct Typed:
    # What a class says of a column. Values may come in other forms than the declared one: narrower numbers, MAPs for
    # VECTORs. While it is filled, a column has the form of its first value, so that these are loaded fast; in a Batch
    # it has the declared one.
    Py_ssize_t number         # number of the annotation, for errors and conversions
    int declared              # type code of the declared form
    bint is_settled           # the column has taken its declared form again
    bint is_required          # a field without a default: a record that lacks it is refused
    bint refuses_none         # a field that is not Optional: its nulls are fields that were missing
    bint forbids_unknown      # a record class that refuses fields which it does not have
    bint allows_extra         # a record class that allows more items in a VECTOR than it has fields
    bint is_record
    unsigned char* fallback   # owned; the encoded default of a field, for records without it. NULL: it is null there
    Py_ssize_t fallback_nbytes
    unsigned char* name       # owned; the name of a field
    Py_ssize_t name_nbytes

cdef struct Column:
    Kind kind
    int code                  # type code of each value, in ARRAY of each item; ENCODED and UNKNOWN have none
    int width                 # bytes of a value in data, in FIXED, ARRAY, DECIMAL, FIXED_BYTES, CHOICE
    int32_t scale             # in DECIMAL: digits after the point
    int32_t precision         # in DECIMAL, unless the column was imported: digits of a number, at most
    Meaning meaning           # in FIXED: what the numbers mean
    Unit unit
    Typed* typed              # owned; what a class says of the column. NULL: nothing
    Column* choices           # owned; in CHOICE: the values, different from each other
    Py_ssize_t longest_choice # in CHOICE, if the column was imported: the encoded bytes of a value, at most
    Py_ssize_t nitems         # in ARRAY: items of each value
    bint wanted               # its values are stored; if not, those of a child may be
    bint has_wanted_child     # this TUPLE or STRUCT has a child that is wanted by itself
    Column** children         # owned
    Py_ssize_t nchildren
    Py_ssize_t n              # number of values
    unsigned char* data       # owned, unless borrowed
    Py_ssize_t used           # bytes of data that hold values
    Py_ssize_t capacity       # bytes that data has memory for, without PADDING
    int32_t* offsets          # owned, unless borrowed; n + 1 of them
    int64_t* wide_offsets     # owned or borrowed; used instead of offsets by some imported columns
    Py_ssize_t offsets_capacity
    Py_ssize_t expected       # bytes of data that the next batch may need, from the last one
    Py_ssize_t checked        # leading bytes of data that are known to be valid: UTF-8, or within a day
    bint borrowed             # data has another owner
    bint offsets_borrowed     # the offsets have another owner
    const unsigned char* valid    # a bit for each value, 0: null; borrowed, or `bits`. NULL: there are no nulls
    Py_ssize_t first_bit      # number of the bit of value 0 in `valid`
    Py_ssize_t nbits          # number of bits in `valid`; values after them are not null
    unsigned char* bits       # owned; all bits from nbits on are 1
    Py_ssize_t bits_capacity  # bytes that `bits` has memory for
    const Null* null          # how the nulls held were encoded; NULL: unknown
    unsigned char* unfit      # owned; in PARTLY_UNFIT: a bit for each value, 1: it does not fit
    const char* refusal       # in PARTLY_UNFIT: why a number does not fit
    bint refuses_nulls        # the column is the keys of MAPs: Arrow has no null there
    bint is_map_value         # the column is the values of MAPs whose keys are STRINGs; several types make it a STRUCT
    unsigned char* key        # owned; the encoded key of a field of a STRUCT
    Py_ssize_t key_nbytes
    Step* steps               # owned; in TUPLE and STRUCT: how to load a value. NULL: there is no fast path
    Py_ssize_t nsteps

cdef struct Table:
    long nowners
    Column** roots            # one for each value of a record
    Py_ssize_t nroots
    Column** visible          # borrowed from the roots' trees: the columns of a Batch
    Py_ssize_t nvisible
    Py_ssize_t n              # rows


# Sizes that are more than fits become PY_SSIZE_T_MAX, which no allocation is asked for: lengths of arrays need not have
# memory behind them, as strides may be 0 and values may take no bytes.

cdef inline Py_ssize_t saturating_sum(Py_ssize_t a, Py_ssize_t b) noexcept nogil:
    return a + b if a <= PY_SSIZE_T_MAX - b else PY_SSIZE_T_MAX


cdef inline Py_ssize_t saturating_product(Py_ssize_t n, Py_ssize_t size) noexcept nogil:
    return n * size if size == 0 or n <= PY_SSIZE_T_MAX // size else PY_SSIZE_T_MAX


cdef int width_of(int code) noexcept nogil:
    # Bytes of a scalar's payload; 0 if the code has no fixed width.
    if code == BYTE or code == BOOL:
        return 1
    if code == INT or code == FLOAT:
        return 4
    if code == LONG or code == DOUBLE:
        return 8
    return 2 if code == SHORT else 0


cdef Column* new_column(Kind kind, int code, Py_ssize_t nchildren) except NULL:
    cdef Column* c = <Column*>PyMem_RawCalloc(1, sizeof(Column))
    if c == NULL:
        raise MemoryError
    c.kind = kind
    c.code = code
    c.wanted = True
    c.width = width_of(code) if kind == FIXED or kind == ARRAY else 0
    c.children = <Column**>PyMem_RawCalloc(max(nchildren, 1), sizeof(Column*))
    if c.children == NULL:
        PyMem_RawFree(c)
        raise MemoryError
    c.nchildren = nchildren
    return c


cdef bint has_children_per_value(const Column* c) noexcept nogil:
    # Whether each child has exactly one value per value of this column.
    return c.kind == TUPLE or c.kind == STRUCT


cdef bint has_offsets(const Column* c) noexcept nogil:
    return c.kind == VARIABLE_LENGTH or c.kind == ENCODED or c.kind == VARIABLE_LIST or c.kind == MAP_ENTRIES


cdef inline bint has_fixed_size(const Column* c) noexcept nogil:
    # Whether each value takes the same number of bytes in `data`.
    return c.kind <= DECIMAL


cdef inline bint is_kept(const Column* c) noexcept nogil:
    return c.wanted or c.has_wanted_child


cdef inline Py_ssize_t value_size(const Column* c) noexcept nogil:
    return c.width * (c.nitems if c.kind == ARRAY else 1)


cdef void free_memory(Column* c) noexcept nogil:
    if not c.borrowed:
        release_memory(c.data, c.capacity + PADDING)
    if not c.offsets_borrowed:
        release_memory(c.offsets, c.offsets_capacity * sizeof(int32_t))
        PyMem_RawFree(c.wide_offsets)
    c.data = NULL
    c.offsets = NULL
    c.wide_offsets = NULL
    c.used = c.capacity = c.offsets_capacity = c.checked = 0


cdef void free_nulls(Column* c) noexcept nogil:
    PyMem_RawFree(c.bits)
    c.bits = NULL
    c.valid = NULL
    c.nbits = c.bits_capacity = 0


cdef void free_children(Column* c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(c.nchildren):
        free_column(c.children[i])
    c.nchildren = 0


cdef void free_column(Column* c) noexcept nogil:
    if c == NULL:
        return
    free_children(c)
    free_column(c.choices)
    free_memory(c)
    free_nulls(c)
    if c.typed != NULL:
        PyMem_RawFree(c.typed.fallback)
        PyMem_RawFree(c.typed.name)
        PyMem_RawFree(c.typed)
    PyMem_RawFree(c.children)
    PyMem_RawFree(c.steps)
    PyMem_RawFree(c.key)
    PyMem_RawFree(c.unfit)
    PyMem_RawFree(c)


cdef Table* new_table(tuple types, Py_ssize_t nvisible) except NULL:
    # Empty columns of these types, and an array for the visible ones.
    cdef Table* table = <Table*>PyMem_RawCalloc(1, sizeof(Table))
    if table == NULL:
        raise MemoryError
    table.nowners = 1
    table.roots = <Column**>PyMem_RawCalloc(len(types), sizeof(Column*))
    table.visible = <Column**>PyMem_RawCalloc(nvisible, sizeof(Column*))
    try:
        if table.roots == NULL or table.visible == NULL:
            raise MemoryError
        for described in types:
            table.roots[table.nroots] = make_column(described)
            table.nroots += 1
    except BaseException:
        release_table(table)
        raise
    table.nvisible = nvisible
    return table


cdef void release_table(Table* table) noexcept nogil:
    # The last owner frees the table; it may be a thread that never held the GIL.
    cdef Py_ssize_t i
    if table == NULL or remove_owner(&table.nowners) > 0:
        return
    for i in range(table.nroots):
        free_column(table.roots[i])
    PyMem_RawFree(table.roots)
    PyMem_RawFree(table.visible)
    PyMem_RawFree(table)


cdef bint reserve_data(Column* c, int64_t nbytes) noexcept nogil:
    # Reserve capacity for nbytes in total. It grows geometrically, but first to what the last batch held.
    # False: out of memory.
    cdef Py_ssize_t capacity = min(2 * c.capacity, c.capacity + (<Py_ssize_t>1 << 30))
    cdef size_t size
    cdef void* larger
    if c.data != NULL and nbytes <= c.capacity:
        return True
    if nbytes > PY_SSIZE_T_MAX - PADDING:
        return False
    if c.capacity < c.expected < capacity:
        capacity = c.expected
    size = max(<Py_ssize_t>nbytes, capacity, 64) + PADDING
    larger = enlarge_kept(c.data, c.capacity + PADDING, &size)
    if larger == NULL:
        return False
    c.data = <unsigned char*>larger
    c.capacity = size - PADDING
    return True


cdef bint reserve_payload(Column* c, Py_ssize_t nbytes, Py_ssize_t max_held) noexcept nogil:
    # As reserve_data, but never more than offsets can address: load_variable checks only the capacity.
    if not reserve_data(c, min(nbytes, max_held)):
        return False
    c.capacity = min(c.capacity, max_held)
    return True


cdef bint reserve_offsets(Column* c, Py_ssize_t n) noexcept nogil:
    # Reserve capacity for the offsets of n values. False: out of memory.
    cdef size_t size
    cdef void* larger
    if n < c.offsets_capacity:
        return True
    size = max(n + 1, 2 * c.offsets_capacity, 16) * sizeof(int32_t)
    larger = enlarge_kept(c.offsets, c.offsets_capacity * sizeof(int32_t), &size)
    if larger == NULL:
        return False
    c.offsets = <int32_t*>larger
    if c.offsets_capacity == 0:
        c.offsets[0] = 0
    c.offsets_capacity = size // sizeof(int32_t)
    return True


cdef inline bint is_null(const Column* c, Py_ssize_t i) noexcept nogil:
    i += c.first_bit
    return c.valid != NULL and i < c.nbits and not c.valid[i >> 3] >> (i & 7) & 1


cdef bint reserve_bits(Column* c, Py_ssize_t n) noexcept nogil:
    # Have bits for n values. False: out of memory.
    cdef Py_ssize_t capacity = max((n + 7) // 8, 2 * c.bits_capacity, 64)
    cdef unsigned char* larger
    if n <= 8 * c.bits_capacity:
        return True
    larger = <unsigned char*>enlarge(c.bits, capacity)
    if larger == NULL:
        return False
    memset(larger + c.bits_capacity, 0xff, capacity - c.bits_capacity)
    c.valid = c.bits = larger
    c.bits_capacity = capacity
    return True


cdef bint mark_null(Column* c, Py_ssize_t i) noexcept nogil:
    # False: out of memory.
    if not reserve_bits(c, i + 1):
        return False
    c.bits[i >> 3] &= ~(1 << (i & 7))
    c.nbits = max(c.nbits, i + 1)
    return True


cdef bint reserve_all_bits(Column* c) noexcept nogil:
    # Have a bit for every value, in columns that have nulls. False: out of memory.
    cdef Py_ssize_t i
    for i in range(c.nchildren):
        if not reserve_all_bits(c.children[i]):
            return False
    return c.bits == NULL or reserve_bits(c, c.n)


cdef void complete_bits(Column* c) noexcept nogil:
    # Give every value a bit, in columns that have nulls and for which reserve_all_bits has returned True.
    cdef Py_ssize_t i
    for i in range(c.nchildren):
        complete_bits(c.children[i])
    if c.bits == NULL:
        return
    if c.nbits == 0:
        free_nulls(c)    # what was null has been dropped again
        return
    c.nbits = c.n


cdef inline int64_t offset_at(const Column* c, Py_ssize_t i) noexcept nogil:
    return c.wide_offsets[i] if c.wide_offsets != NULL else c.offsets[i]


cdef void set_length(Column* c, Py_ssize_t n) noexcept nogil:
    # Make the column hold n values: drop those after, including incomplete ones,
    # or count those that the fast path has loaded.
    cdef Py_ssize_t i
    cdef Py_ssize_t nitems = n
    if not is_kept(c):
        return
    if has_fixed_size(c):
        c.used = n * value_size(c)
        c.checked = min(c.checked, c.used)
    elif has_offsets(c):
        nitems = c.offsets[n] if c.offsets_capacity else 0
        if c.kind == VARIABLE_LENGTH or c.kind == ENCODED:
            c.used = nitems
            c.checked = min(c.checked, nitems)
    for i in range(c.nchildren):
        set_length(c.children[i], nitems)
    for i in range(n, c.nbits):
        c.bits[i >> 3] |= 1 << (i & 7)
    c.nbits = min(c.nbits, n)
    c.n = n


cdef inline void set_kind_of_null(Column* c, const Null* null) noexcept nogil:
    # A column has one kind of null: fields that are missing in some records and null in others are written as null.
    if null != &MISSING_FIELD or c.null == NULL:
        c.null = null


cdef bint copy_rows(Column* to, const Column* c, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    # Append values to a column of the same type. False: out of memory.
    cdef Py_ssize_t i, before, start, end, nbytes
    if first == last or not is_kept(c):
        return True
    for i in range(first, min(last, c.nbits)):
        if is_null(c, i) and not mark_null(to, to.n + i - first):
            return False
    if c.null != NULL:
        set_kind_of_null(to, c.null)
    if has_fixed_size(c):
        nbytes = value_size(c)
        if not reserve_data(to, to.used + (last - first) * nbytes):
            return False
        memcpy(to.data + to.used, c.data + first * nbytes, (last - first) * nbytes)
        to.used += (last - first) * nbytes
    elif has_children_per_value(c):
        for i in range(c.nchildren):
            if not copy_rows(to.children[i], c.children[i], first, last):
                return False
    elif has_offsets(c):
        if not reserve_offsets(to, to.n + last - first):
            return False
        before = to.offsets[to.n]
        start = c.offsets[first]
        end = c.offsets[last]
        for i in range(last - first):
            to.offsets[to.n + i + 1] = <int32_t>(before + c.offsets[first + i + 1] - start)
        for i in range(c.nchildren):
            if not copy_rows(to.children[i], c.children[i], start, end):
                return False
        if end > start and (c.kind == VARIABLE_LENGTH or c.kind == ENCODED):
            if not reserve_data(to, to.used + end - start):
                return False
            memcpy(to.data + to.used, c.data + start, end - start)
            if to.checked == to.used and end <= c.checked:
                to.checked += end - start
            to.used += end - start
    to.n += last - first
    return True


cdef bint same_values(const Column* c, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    # Whether two values have the same bits, that is, the same encoding.
    cdef Py_ssize_t nbytes, k, child, start, other
    if is_null(c, i) != is_null(c, j):
        return False
    if c.kind == UNKNOWN:
        return True
    if has_fixed_size(c):
        nbytes = value_size(c)
        return memcmp(c.data + i * nbytes, c.data + j * nbytes, nbytes) == 0
    if has_children_per_value(c):
        for child in range(c.nchildren):
            if not same_values(c.children[child], i, j):
                return False
        return True
    start = c.offsets[i]
    other = c.offsets[j]
    nbytes = c.offsets[i + 1] - start
    if c.offsets[j + 1] - other != nbytes:
        return False
    if c.kind == VARIABLE_LENGTH or c.kind == ENCODED:
        return memcmp(c.data + start, c.data + other, nbytes) == 0
    for k in range(nbytes):
        for child in range(c.nchildren):
            if not same_values(c.children[child], start + k, other + k):
                return False
    return True
