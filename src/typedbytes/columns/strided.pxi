# Records of one size: if every value of a record has a fixed width,
# records start at equal distances as long as their codes match.
#
# A block of them is loaded or stored column by column, codes and payloads in one pass. A Leaf is a field at the same
# offset in all of them; the list of leaves is made from the columns, and again when one of them changes its type.

cdef enum:
    MAX_BLOCK = 1024          # records: their bytes and those of their columns fit in the L1 cache
    MIN_BLOCK = 8

cdef struct Leaf:
    # A field at the same offset in every record.
    Py_ssize_t offset
    int code
    int32_t count             # the count that the head of a VECTOR has
    Column* column            # where the payload is stored; NULL: only the code is checked
    Py_ssize_t item           # number of the item in an ARRAY


cdef Py_ssize_t size_of(const Column* c) noexcept nogil:
    # Encoded bytes of every value; 0: they differ.
    cdef Py_ssize_t i, child
    cdef Py_ssize_t total = 5
    if c.kind == FIXED:
        return 1 + c.width
    if c.kind == ARRAY:
        return 5 + c.nitems * (1 + c.width)
    if c.kind != TUPLE:
        return 0
    for i in range(c.nchildren):
        child = size_of(c.children[i])
        if child == 0:
            return 0
        total += child
    return total


cdef Py_ssize_t min_size_of(const Column* c, bint widens) noexcept nogil:
    # The smallest number of encoded bytes of a value.
    cdef Py_ssize_t i
    cdef Py_ssize_t total = 5
    if not is_kept(c) or c.kind == ENCODED or c.kind == VARIABLE_LIST:
        return 1
    if c.kind == FIXED:
        return min(1 + c.width, 5 if widens else 9)
    if c.kind == ARRAY:
        return 5 + c.nitems * min(1 + c.width, 5 if widens else 9)
    for i in range(c.nchildren if c.kind == TUPLE else 0):
        total += min_size_of(c.children[i], widens)
    return total


cdef Py_ssize_t count_leaves(const Column* c) noexcept nogil:
    cdef Py_ssize_t i
    cdef Py_ssize_t total = 1
    if c.kind == ARRAY:
        return 1 + c.nitems
    for i in range(c.nchildren):
        total += count_leaves(c.children[i])
    return total


cdef Py_ssize_t depth_of(const Column* c) noexcept nogil:
    # Levels of nested VECTORs, LISTs and MAPs.
    cdef Py_ssize_t i
    cdef Py_ssize_t deepest = 0
    if not has_children_per_value(c) and c.kind != VARIABLE_LIST and c.kind != MAP_ENTRIES:
        return c.kind == ARRAY
    for i in range(c.nchildren):
        deepest = max(deepest, depth_of(c.children[i]))
    return 1 + deepest


cdef Leaf* list_leaves(Column* c, Leaf* leaf, Py_ssize_t* offset) noexcept nogil:
    cdef Py_ssize_t i
    leaf.offset = offset[0]
    leaf.column = NULL
    leaf.count = 0
    leaf.item = 0
    if c.kind == FIXED:
        leaf.code = c.code
        leaf.column = c if c.wanted else NULL
        offset[0] += 1 + c.width
        return leaf + 1
    leaf.code = VECTOR
    leaf.count = <int32_t>(c.nitems if c.kind == ARRAY else c.nchildren)
    leaf += 1
    offset[0] += 5
    if c.kind == TUPLE:
        for i in range(c.nchildren):
            leaf = list_leaves(c.children[i], leaf, offset)
        return leaf
    for i in range(c.nitems):
        leaf.offset = offset[0]
        leaf.code = c.code
        leaf.column = c if c.wanted else NULL
        leaf.count = 0
        leaf.item = i
        offset[0] += 1 + c.width
        leaf += 1
    return leaf


cdef bint load_leaf(const Leaf* leaf, const unsigned char* p, Py_ssize_t stride, Py_ssize_t n) noexcept nogil:
    # Append this field of n records to its column. False: a code differs, and the column is unchanged.
    cdef Column* c = leaf.column
    cdef unsigned char* out
    cdef Py_ssize_t step
    p += leaf.offset
    if leaf.code == VECTOR:
        return not check_heads(p, stride, VECTOR, leaf.count, n)
    if c == NULL:
        return not check_codes(p, stride, leaf.code, n)
    step = value_size(c)
    out = c.data + c.used + leaf.item * c.width
    if c.width == 8:
        return not load_64s(p, stride, c.code, out, step, n)
    if c.width == 4:
        return not load_32s(p, stride, c.code, out, step, n)
    if c.width == 2:
        return not load_16s(p, stride, c.code, out, step, n)
    if c.code == BOOL:
        return not load_bools(p, stride, BOOL, out, step, n)
    return not load_bytes(p, stride, BYTE, out, step, n)


cdef void store_leaf(const Leaf* leaf, unsigned char* p, Py_ssize_t stride, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
    cdef Column* c = leaf.column
    cdef const unsigned char* source
    cdef Py_ssize_t step, i
    p += leaf.offset
    if c == NULL:
        for i in range(n):
            store_head(p + i * stride, VECTOR, leaf.count)
        return
    step = value_size(c)
    source = c.data + first * step + leaf.item * c.width
    if c.width == 8:
        store_64s(p, stride, c.code, source, step, n)
    elif c.width == 4:
        store_32s(p, stride, c.code, source, step, n)
    elif c.width == 2:
        store_16s(p, stride, c.code, source, step, n)
    elif c.code == BOOL:
        store_bools(p, stride, BOOL, source, step, n)
    else:
        store_bytes(p, stride, BYTE, source, step, n)


cdef void add_rows(Column* c, Py_ssize_t n) noexcept nogil:
    # Count n records of one size whose data has been loaded.
    cdef Py_ssize_t i
    c.n += n
    if c.kind == TUPLE:
        for i in range(c.nchildren):
            add_rows(c.children[i], n)
    elif c.wanted:
        c.used += n * value_size(c)


cdef bint reserve_rows(Column* c, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    if not is_kept(c):
        return True
    if has_fixed_size(c):
        return reserve_data(c, c.used + n * value_size(c))
    if c.kind == TUPLE:
        for i in range(c.nchildren):
            if not reserve_rows(c.children[i], n):
                return False
        return True
    return not has_offsets(c) or reserve_offsets(c, c.n + n)


cdef void expect_as_much(Column* c, const Column* last) noexcept nogil:
    # Expect what the last batch held, and an eighth more.
    cdef Py_ssize_t i
    c.expected = last.used + last.used // 8
    for i in range(c.nchildren):
        expect_as_much(c.children[i], last.children[i])


cdef bint reserve_expected(Column* c, Py_ssize_t min_nbytes, Py_ssize_t nbytes, Py_ssize_t max_held) noexcept nogil:
    # Reserve what is expected of texts and items, and `min_nbytes` of this column,
    # as far as it can come from this number of bytes. False: out of memory.
    cdef Py_ssize_t i
    if not is_kept(c):
        return True
    if c.kind == VARIABLE_LENGTH and c.wanted \
            and not reserve_payload(c, min(nbytes, max(c.expected, min_nbytes)), max_held):
        return False
    for i in range(c.nchildren):
        if has_offsets(c) and c.children[i].kind == FIXED \
                and not reserve_data(c.children[i], min(nbytes, c.children[i].expected)):
            return False
        if not reserve_expected(c.children[i], 0, nbytes, max_held):
            return False
    return True
