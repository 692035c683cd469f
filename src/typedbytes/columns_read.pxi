# Bytes to columns: blocks of records of one size, and the walk for all others.
#
# Goal: like-shaped records at the speed of memory. Plan: where every value of a record has one width, records stand at equal
# distances, as long as their codes say so; a block of them is then loaded column by column, codes and payloads in one pass. The
# block that does not fit, and records of other kinds, are walked value by value. Whatever the walk meets that its column
# does not hold goes to the Builder, which knows the policy; the walk goes on with the column as it is then. Rejected: a walk of
# structure before the columns', which costs as much again.

cdef enum Outcome:
    DONE
    MORE          # the bytes end inside the record
    OTHER         # the value is of another kind than its column
    BROKEN        # no value at all, or too deep: whoever decodes it will say
    FULL          # a column cannot hold more
    REFUSED       # as OTHER, and the policy says no
    FAILED        # an exception is set
    NO_MEMORY

cdef enum:
    MOST_BLOCK = 1024         # records; their bytes and those of their columns stay in the nearest cache
    LEAST_BLOCK = 8
    MOST_PATIENCE = 0xffff    # records before signals are looked at

cdef struct Leaf:
    # A place that every record has at the same distance from its start.
    Py_ssize_t offset
    int code
    int32_t count             # of a VECTOR's head
    Column* column            # where the payload goes; NULL: only the code is looked at
    Py_ssize_t item           # of an ARRAY

cdef struct Walk:
    const unsigned char* p
    const unsigned char* end
    PyObject* builder         # borrowed
    bint widens
    bint careful              # every STRING is checked as it comes
    Py_ssize_t depth
    Py_ssize_t max_depth
    Skipping skipping
    Column* culprit           # the column that the outcome OTHER or REFUSED is about
    Py_ssize_t culprit_item   # of an ARRAY, -1: its count
    const unsigned char* culprit_at    # what was found there, of an ARRAY's item


cdef inline void copy_cushioned(unsigned char* out, const unsigned char* p, Py_ssize_t nbytes, const unsigned char* end) noexcept nogil:
    # Both sides mostly have CUSHION bytes; then a short text is one load and one store, without a branch on its length.
    if often(nbytes <= CUSHION and end - p >= CUSHION):
        memcpy(out, p, CUSHION)
    else:
        copy_short(out, p, nbytes)


cdef inline void store_fixed(unsigned char* out, const unsigned char* p, int code, int width) noexcept nogil:
    cdef int32_t narrow
    cdef int64_t broad
    cdef int16_t short_number
    if width == 8:
        broad = load_i64(p)
        memcpy(out, &broad, 8)
    elif width == 4:
        narrow = load_i32(p)
        memcpy(out, &narrow, 4)
    elif width == 1:
        out[0] = p[0] != 0 if code == BOOL else p[0]
    else:
        short_number = load_i16(p)
        memcpy(out, &short_number, 2)


# The two that most values are: the position behind the value, or NULL for whatever is not plain sailing, and nothing has happened.

cdef inline const unsigned char* take_fixed(Column* c, const unsigned char* p, const unsigned char* end) noexcept nogil:
    if seldom(end - p <= c.width or p[0] != c.code or c.room - c.used < c.width):
        return NULL
    store_fixed(c.data + c.used, p + 1, c.code, c.width)
    c.used += c.width
    c.n += 1
    return p + 1 + c.width


cdef inline const unsigned char* take_sized(Column* c, const unsigned char* p, const unsigned char* end) noexcept nogil:
    cdef Py_ssize_t nbytes
    if seldom(end - p < 5 or p[0] != c.code or c.offsets_room - c.n < 2):
        return NULL
    nbytes = load_i32(p + 1)
    p += 5
    if seldom(nbytes < 0 or nbytes > end - p or nbytes > c.room - c.used):
        return NULL
    copy_cushioned(c.data + c.used, p, nbytes, end)
    c.used += nbytes
    c.n += 1
    c.offsets[c.n] = <int32_t>c.used
    return p + nbytes


cdef Outcome put(Walk* w, Column* c) noexcept nogil:
    # One value of any kind; the cursor stands behind it when that is DONE.
    cdef Outcome outcome
    if not c.wanted and not c.within:
        return pass_over(w)
    while True:
        if c.kind == ENCODED:
            return put_encoded(w, c)
        if w.p == w.end:
            return MORE
        if c.kind == FIXED:
            outcome = put_fixed(w, c)
        elif c.kind == SIZED:
            outcome = put_sized(w, c)
        elif c.kind == UNKNOWN:
            outcome = OTHER
        elif w.depth == w.max_depth:
            outcome = BROKEN if w.p[0] == c.code else OTHER
        else:
            w.depth += 1
            if c.kind == ARRAY:
                outcome = put_array(w, c)
            elif c.kind == TUPLE:
                outcome = put_tuple(w, c)
            elif c.kind == LISTED:
                outcome = put_listed(w, c)
            else:
                outcome = put_paired(w, c)
            w.depth -= 1
        if outcome != OTHER:
            return outcome
        w.culprit = c
        outcome = settle(w)
        if outcome != DONE:
            return outcome


cdef Outcome pass_over(Walk* w) noexcept nogil:
    cdef ReadBuffer buf
    cdef SkipOutcome outcome
    borrow(&buf, w.p, w.end - w.p)
    w.skipping.max_depth = w.max_depth - w.depth
    outcome = skip_value(&w.skipping, &buf)
    w.skipping.depth = w.skipping.tail = 0
    if outcome == SKIPPED:
        w.p = buf.cursor
        return DONE
    return MORE if outcome == NEEDS_MORE else BROKEN


cdef Outcome put_fixed(Walk* w, Column* c) noexcept nogil:
    cdef const unsigned char* next
    if w.p[0] != c.code:
        return put_wider(w, c)
    if w.end - w.p <= c.width:
        return MORE
    if not reserve_data(c, c.used + c.width):
        return NO_MEMORY
    w.p = take_fixed(c, w.p, w.end)
    return DONE


cdef inline bint widens_to(int narrow, int wide) noexcept nogil:
    return (narrow == INT and wide == LONG) or (narrow == FLOAT and wide == DOUBLE)


cdef inline void store_wider(unsigned char* out, const unsigned char* p, int code) noexcept nogil:
    cdef int64_t number
    cdef double real
    if code == LONG:
        number = load_i32(p)
        memcpy(out, &number, 8)
    else:
        real = load_f32(p)
        memcpy(out, &real, 8)


cdef Outcome put_wider(Walk* w, Column* c) noexcept nogil:
    if not w.widens or not widens_to(w.p[0], c.code):
        return OTHER
    if w.end - w.p < 5:
        return MORE
    if not reserve_data(c, c.used + 8):
        return NO_MEMORY
    store_wider(c.data + c.used, w.p + 1, c.code)
    c.used += 8
    c.n += 1
    w.p += 5
    return DONE


cdef Outcome put_sized(Walk* w, Column* c) noexcept nogil:
    cdef Py_ssize_t nbytes
    if w.p[0] != c.code:
        return OTHER
    if w.end - w.p < 5:
        return MORE
    nbytes = load_i32(w.p + 1)
    if nbytes < 0:
        return BROKEN
    if nbytes > w.end - w.p - 5:
        return MORE
    if w.careful and c.code == STRING and not is_text(w.p + 5, nbytes):
        return BROKEN
    return put_bytes(w, c, w.p + 5, nbytes)


cdef Outcome put_bytes(Walk* w, Column* c, const unsigned char* p, Py_ssize_t nbytes) noexcept nogil:
    if nbytes > INT32_MAX - c.used:
        return FULL
    if not reserve_data(c, c.used + nbytes) or not reserve_offsets(c, c.n + 1):
        return NO_MEMORY
    memcpy(c.data + c.used, p, nbytes)
    c.used += nbytes
    c.n += 1
    c.offsets[c.n] = <int32_t>c.used
    w.p = p + nbytes
    return DONE


cdef Outcome put_encoded(Walk* w, Column* c) noexcept nogil:
    cdef const unsigned char* start = w.p
    cdef Outcome outcome = pass_over(w)
    return outcome if outcome != DONE else put_bytes(w, c, start, w.p - start)


cdef Outcome read_count(Walk* w, int code, Py_ssize_t* count) noexcept nogil:
    if w.p[0] != code:
        return OTHER
    if w.end - w.p < 5:
        return MORE
    count[0] = load_i32(w.p + 1)
    return BROKEN if count[0] < 0 else DONE


cdef Outcome put_array(Walk* w, Column* c) noexcept nogil:
    cdef Py_ssize_t count, i
    cdef Py_ssize_t nbytes = c.nitems * c.width
    cdef const unsigned char* p = w.p + 5
    cdef unsigned char* out
    cdef Outcome outcome = read_count(w, VECTOR, &count)
    w.culprit_item = -1    # its count
    if outcome == DONE and count != c.nitems:
        outcome = OTHER
    if outcome != DONE:
        return outcome
    if w.end - p < c.nitems * 2:
        return MORE
    if not reserve_data(c, c.used + nbytes):
        return NO_MEMORY
    out = c.data + c.used
    for i in range(c.nitems):
        if p == w.end:
            return MORE
        if p[0] == c.code:
            if w.end - p <= c.width:
                return MORE
            store_fixed(out, p + 1, c.code, c.width)
            p += 1 + c.width
        elif w.widens and widens_to(p[0], c.code):
            if w.end - p < 5:
                return MORE
            store_wider(out, p + 1, c.code)
            p += 5
        else:
            w.culprit_item = i
            w.culprit_at = p
            return OTHER
        out += c.width
    c.used += nbytes
    c.n += 1
    w.p = p
    return DONE


cdef Outcome put_tuple(Walk* w, Column* c) noexcept nogil:
    cdef Py_ssize_t count, i
    cdef Outcome outcome = read_count(w, VECTOR, &count)
    if outcome == DONE and count != c.nparts:
        outcome = OTHER
    if outcome != DONE:
        return outcome
    w.p += 5
    for i in range(c.nparts):
        outcome = put(w, c.parts[i])
        if outcome != DONE:
            return outcome
    c.n += 1
    return DONE


cdef inline Outcome put_item(Walk* w, Column* part) noexcept nogil:
    cdef const unsigned char* next
    if part.n >= INT32_MAX:
        return FULL
    if part.kind == FIXED:
        next = take_fixed(part, w.p, w.end)
        if next != NULL:
            w.p = next
            return DONE
    return put(w, part)


cdef Outcome put_listed(Walk* w, Column* c) noexcept nogil:
    cdef Py_ssize_t count = 0
    cdef Outcome outcome
    if c.code == LIST:
        if w.p[0] != LIST:
            return OTHER
        w.p += 1
        while True:
            if w.p == w.end:
                return MORE
            if w.p[0] == MARKER:
                w.p += 1
                break
            outcome = put_item(w, c.parts[0])
            if outcome != DONE:
                return outcome
    else:
        outcome = read_count(w, VECTOR, &count)
        if outcome != DONE:
            return outcome
        w.p += 5
        for _ in range(count):
            outcome = put_item(w, c.parts[0])
            if outcome != DONE:
                return outcome
    return end_items(c)


cdef Outcome put_paired(Walk* w, Column* c) noexcept nogil:
    cdef Py_ssize_t count
    cdef Outcome outcome = read_count(w, MAP, &count)
    if outcome != DONE:
        return outcome
    w.p += 5
    for _ in range(count):
        outcome = put_item(w, c.parts[0])
        if outcome == DONE:
            outcome = put_item(w, c.parts[1])
        if outcome != DONE:
            return outcome
    return end_items(c)


cdef Outcome end_items(Column* c) noexcept nogil:
    if not reserve_offsets(c, c.n + 1):
        return NO_MEMORY
    c.n += 1
    c.offsets[c.n] = <int32_t>c.parts[0].n
    return DONE


cdef Outcome settle(Walk* w) noexcept with gil:
    # The cursor stands at a value that the culprit does not hold.
    cdef Builder builder = <Builder>w.builder
    try:
        return builder.settle()
    except BaseException as error:
        builder.error = error
        return FAILED


# ---- text ---------------------------------------------------------------------------------------------------------------

cdef enum:
    TEXT_PIECE = 4096         # bytes that are transcoded at once; where to, nobody looks


cdef bint is_text(const unsigned char* p, Py_ssize_t nbytes) noexcept nogil:
    # Whether the bytes are UTF-8: what transcodes it elsewhere says so too.
    cdef unsigned char scratch[4 * TEXT_PIECE + 64]
    cdef unsigned char greatest
    cdef Py_ssize_t piece, nchars
    cdef bint right
    if is_ascii(p, nbytes):
        return True
    while nbytes > 0:
        piece = min(nbytes, TEXT_PIECE)
        while piece < nbytes and piece > TEXT_PIECE - 4 and p[piece] & 0xc0 == 0x80:
            piece -= 1    # a character is not cut; four bytes that go on are in none
        nchars = utf8_measure(p, piece, &greatest)
        if greatest < 0xc4:
            right = utf8_to_ucs1(p, piece, scratch, nchars)
        elif greatest < 0xf0:
            right = utf8_to_ucs2(p, piece, scratch, nchars)
        else:
            right = utf8_to_ucs4(p, piece, scratch, nchars)
        if not right:
            return False
        p += piece
        nbytes -= piece
    return True


cdef bint check_text(Column* c) noexcept nogil:
    # Whether all STRINGs held are UTF-8. All of them together are, and none begins inside a character: then each is.
    cdef Py_ssize_t i, start
    if not c.wanted and not c.within:
        return True
    for i in range(c.nparts):
        if not check_text(c.parts[i]):
            return False
    if c.kind != SIZED or c.code != STRING or c.checked == c.used:
        return True
    if not is_ascii(c.data + c.checked, c.used - c.checked):
        if not is_text(c.data + c.checked, c.used - c.checked):
            return False
        i = c.n
        while i > 0 and c.offsets[i - 1] >= c.checked:
            i -= 1
            start = c.offsets[i]
            if start < c.used and c.data[start] & 0xc0 == 0x80:
                return False
    c.checked = c.used
    return True


# ---- records of one size -------------------------------------------------------------------------------------------------

cdef Py_ssize_t size_of(const Column* c) noexcept nogil:
    # Bytes of every value on the wire; 0: they differ.
    cdef Py_ssize_t i, part
    cdef Py_ssize_t total = 5
    if c.kind == FIXED:
        return 1 + c.width
    if c.kind == ARRAY:
        return 5 + c.nitems * (1 + c.width)
    if c.kind != TUPLE:
        return 0
    for i in range(c.nparts):
        part = size_of(c.parts[i])
        if part == 0:
            return 0
        total += part
    return total


cdef Py_ssize_t least_of(const Column* c, bint widens) noexcept nogil:
    # Bytes that a value has at least on the wire.
    cdef Py_ssize_t i
    cdef Py_ssize_t total = 5
    if (not c.wanted and not c.within) or c.kind == ENCODED or c.kind == LISTED:
        return 1
    if c.kind == FIXED:
        return min(1 + c.width, 5 if widens else 9)
    if c.kind == ARRAY:
        return 5 + c.nitems * min(1 + c.width, 5 if widens else 9)
    for i in range(c.nparts if c.kind == TUPLE else 0):
        total += least_of(c.parts[i], widens)
    return total


cdef Py_ssize_t count_leaves(const Column* c) noexcept nogil:
    cdef Py_ssize_t i
    cdef Py_ssize_t total = 1
    if c.kind == ARRAY:
        return 1 + c.nitems
    for i in range(c.nparts):
        total += count_leaves(c.parts[i])
    return total


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
    leaf.count = <int32_t>(c.nitems if c.kind == ARRAY else c.nparts)
    leaf += 1
    offset[0] += 5
    if c.kind == TUPLE:
        for i in range(c.nparts):
            leaf = list_leaves(c.parts[i], leaf, offset)
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
    # Load a place of n records behind what its column holds. False: a code is another; the column's values are as before.
    cdef Column* c = leaf.column
    cdef unsigned char* out
    cdef Py_ssize_t step
    p += leaf.offset
    if leaf.code == VECTOR:
        return not check_heads(p, stride, VECTOR, leaf.count, n)
    if c == NULL:
        return not check_codes(p, stride, leaf.code, n)
    step = c.width * (c.nitems if c.kind == ARRAY else 1)
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


cdef void add_rows(Column* c, Py_ssize_t n) noexcept nogil:
    # Of records of one size, loaded already.
    cdef Py_ssize_t i
    c.n += n
    if c.kind == TUPLE:
        for i in range(c.nparts):
            add_rows(c.parts[i], n)
    elif c.wanted:
        c.used += n * c.width * (c.nitems if c.kind == ARRAY else 1)


cdef bint reserve_rows(Column* c, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    if not c.wanted and not c.within:
        return True
    if c.kind == FIXED:
        return reserve_data(c, c.used + n * c.width)
    if c.kind == ARRAY:
        return reserve_data(c, c.used + n * c.nitems * c.width)
    if c.kind == TUPLE:
        for i in range(c.nparts):
            if not reserve_rows(c.parts[i], n):
                return False
        return True
    return not has_offsets(c) or reserve_offsets(c, c.n + n)


# ---- the Builder ---------------------------------------------------------------------------------------------------------

cdef class Builder:
    """Fill the columns of one batch after the other from the bytes of whole records.

    types: a description for each value of a record, None: found in the first record. nvalues: of a record. paths: of each
    column wanted, (value, item, ...); None: all values. policy: "error", "widen" or "split". `take` says in `state` why it stopped.
    """

    cdef tuple types
    cdef tuple paths
    cdef object policy
    cdef Py_ssize_t nvalues
    cdef Table* table
    cdef Walk w
    cdef Decoding options         # of the structure: its depth, its dialect
    cdef Leaf* leaves
    cdef Py_ssize_t nleaves
    cdef readonly Py_ssize_t stride    # bytes of every record; 0: they differ
    cdef Py_ssize_t least         # bytes that a record has at least
    cdef Py_ssize_t block         # records that are loaded together next
    cdef bint changed             # a column is of another kind than when leaves were listed
    cdef Py_ssize_t most          # rows that the table is to have
    cdef Py_ssize_t patience      # rows at which signals are looked at next
    cdef const unsigned char* first    # byte that was given
    cdef object error
    cdef readonly str state       # "more", "full", "broken", "mismatch", "split"
    cdef readonly tuple expected  # of a mismatch: the type of the column
    cdef readonly Py_ssize_t column    # of a mismatch: the number of the value in its record
    cdef readonly Py_ssize_t place    # of a mismatch: bytes from where take() began
    cdef readonly int code
    cdef readonly str path
    cdef dict hints               # bytes that a column's data had last time

    def __cinit__(self, types, Py_ssize_t nvalues, paths, policy, *, dialect="hadoop", max_depth=256):
        self.options = (<DecodeOptions>DecodeOptions(dialect=dialect, max_depth=max_depth)).template
        start_skipping(&self.w.skipping, &self.options)
        self.w.max_depth = self.options.max_depth
        self.w.builder = <PyObject*>self
        self.w.widens = policy == "widen"
        self.policy = policy
        self.types = types
        self.nvalues = nvalues
        self.paths = paths
        self.hints = {}
        self.block = MOST_BLOCK
        if types is not None:
            self.start()

    def __dealloc__(self):
        leave_table(self.table)
        stop_skipping(&self.w.skipping)
        free(self.leaves)

    @property
    def known(self):
        """Give the types, None as long as there was no record."""
        return self.types

    @property
    def nrows(self):
        """Give the number of rows held."""
        return 0 if self.table == NULL else self.table.n

    cdef int start(self) except -1:
        # An empty table of the types.
        cdef Py_ssize_t i
        cdef Table* table
        types = self.types
        for path in self.paths or ():
            types = types[:path[0]] + (opened(types[path[0]], path[1:]),) + types[path[0] + 1:]
        table = <Table*>calloc(1, sizeof(Table))
        if table == NULL:
            raise MemoryError
        table.owners = 1
        leave_table(self.table)
        self.table = table
        table.roots = <Column**>calloc(self.nvalues, sizeof(Column*))
        table.shown = <Column**>calloc(max(self.nvalues, len(self.paths or ())), sizeof(Column*))
        if table.roots == NULL or table.shown == NULL:
            raise MemoryError
        for i in range(self.nvalues):
            table.roots[i] = make_column(types[i])
            table.nroots = i + 1
        self.show()
        return self.plan()

    cdef int show(self) except -1:
        # Say which columns are held.
        cdef Table* table = self.table
        cdef Column* c
        cdef Py_ssize_t i, number
        if self.paths is None:
            for i in range(self.nvalues):
                table.shown[i] = table.roots[i]
            table.nshown = self.nvalues
            return 0
        for i in range(self.nvalues):
            want(table.roots[i], False)
        for number, path in enumerate(self.paths):
            c = table.roots[<Py_ssize_t>path[0]]
            for i in path[1:]:
                c.within = True
                c = c.parts[i]
            table.shown[number] = c
        for i in range(len(self.paths)):
            keep_whole(table.shown[i])
        table.nshown = len(self.paths)
        return 0

    cdef int plan(self) except -1:
        # Find out what all records have in common.
        cdef Py_ssize_t i, size
        cdef Py_ssize_t nleaves = 0
        cdef Py_ssize_t offset = 0
        cdef Leaf* leaf
        self.stride = self.least = 0
        self.changed = False
        for i in range(self.nvalues):
            size = size_of(self.table.roots[i])
            self.least += least_of(self.table.roots[i], self.w.widens)
            self.stride = self.stride + size if size and (i == 0 or self.stride) else 0
            nleaves += count_leaves(self.table.roots[i])
        free(self.leaves)
        self.leaves = NULL
        if not self.stride or nleaves > 4 * MOST_PARTS:
            self.stride = 0
            return 0
        self.leaves = leaf = <Leaf*>calloc(nleaves, sizeof(Leaf))
        if leaf == NULL:
            raise MemoryError
        for i in range(self.nvalues):
            leaf = list_leaves(self.table.roots[i], leaf, &offset)
        self.nleaves = leaf - self.leaves
        return 0

    def take(self, view, Py_ssize_t most):
        """Take records until there are `most` rows, and return how many bytes and how many records were taken.

        The state afterwards: "more" (the bytes end, maybe inside a record), "full" (no more rows), "split" (the next record
        begins another schema), "mismatch" (the next record is of another kind, as `expected`, `place`, `code`, `column` and
        `path` say), "broken" (decoding the next record says what is wrong).
        """
        cdef Py_buffer buffer
        PyObject_GetBuffer(view, &buffer, PyBUF_RECORDS_RO)
        try:
            return self.take_bytes(<const unsigned char*>buffer.buf, buffer.len, most)
        finally:
            PyBuffer_Release(&buffer)
            self.w.p = self.w.end = NULL

    cdef tuple take_bytes(self, const unsigned char* start, Py_ssize_t nbytes, Py_ssize_t most):
        cdef Py_ssize_t before
        cdef Outcome outcome
        cdef bint right = True
        self.w.p = self.first = start
        self.w.end = start + nbytes
        self.w.careful = False
        self.most = most
        if self.types is None and not self.look(start, nbytes):
            return 0, 0
        before = self.table.n
        self.patience = before + MOST_PATIENCE
        self.reserve()
        with nogil:
            outcome = self.run()
            right = self.texts_are_right()
        if not right:
            self.cut_rows(before)
            self.w.p = start
        if not right or outcome == REFUSED:
            # Rare, and the last thing that happens here: once more, to find out which text is wrong, or whether one is in front
            # of what was refused.
            self.w.careful = True
            with nogil:
                outcome = self.run()
        return self.conclude(outcome, before)

    cdef tuple conclude(self, Outcome outcome, Py_ssize_t before):
        if outcome == FAILED:
            error, self.error = self.error, None
            raise error
        if outcome == NO_MEMORY:
            raise MemoryError
        if outcome == FULL and self.table.n == 0:
            raise LimitError("a record has more than a column can hold: 2^31-1 bytes or items")    # its place is added above
        if outcome == REFUSED:
            self.state = "split" if self.policy == "split" and self.table.n else "mismatch"
        else:
            self.state = "more" if outcome == MORE else "broken" if outcome == BROKEN else "full"
        return self.w.p - self.first, self.table.n - before

    cdef bint look(self, const unsigned char* start, Py_ssize_t nbytes) except -1:
        # Find the types in the first record. False, and the state is set: it is not there, or is none.
        cdef Look look
        cdef Outcome outcome = DONE
        cdef Py_ssize_t i
        for i in range(self.nvalues):
            if outcome == DONE:
                outcome = pass_over(&self.w)
        if outcome != DONE:
            self.state = "more" if outcome == MORE else "broken"
            return False
        borrow(&look.buf, start, self.w.p - start)
        look.skipping = &self.w.skipping
        look.level = look.nparts = 0
        self.w.p = start
        self.w.skipping.max_depth = self.w.max_depth
        try:
            self.types = tuple([describe_value(&look) for _ in range(self.nvalues)])
        finally:
            self.w.skipping.depth = self.w.skipping.tail = 0
        self.start()
        return True

    cdef int reserve(self) except -1:
        # Room for the rows that the bytes can hold at most, and for as much data as there was last time.
        cdef Py_ssize_t nbytes = self.w.end - self.w.p
        cdef Py_ssize_t n = min(self.most - self.table.n, nbytes // self.least + 1)
        cdef Py_ssize_t i
        cdef Column* c
        for i in range(self.nvalues):
            c = self.table.roots[i]
            if not reserve_rows(c, n):
                raise MemoryError
            if c.kind == SIZED and c.wanted and not reserve_data(c, min(nbytes, max(<Py_ssize_t>self.hints.get(i, 0), 4096))):
                raise MemoryError
        return 0

    cdef Outcome run(self) noexcept nogil:
        cdef Outcome outcome = DONE
        self.w.depth = 0
        while self.table.n < self.most and outcome == DONE:
            if self.changed:
                outcome = self.plan_again()
            if outcome == DONE and self.stride:
                self.load_blocks()
            if outcome == DONE:
                # Where records have one size: those that a block did not take.
                outcome = self.walk_records(min(self.patience, self.table.n + LEAST_BLOCK) if self.stride else self.patience)
            if self.table.n >= self.patience:
                self.patience += MOST_PATIENCE
                if self.interrupted():
                    return FAILED
        return outcome

    cdef Outcome plan_again(self) noexcept with gil:
        try:
            self.plan()
            self.reserve()
            return DONE
        except MemoryError:
            return NO_MEMORY

    cdef bint interrupted(self) noexcept with gil:
        try:
            PyErr_CheckSignals()
            return False
        except BaseException as error:
            self.error = error
            return True

    cdef void load_blocks(self) noexcept nogil:
        # A block that does not fit was work for nothing, so the next is small; those that fit make the next larger.
        cdef Walk* w = &self.w
        cdef Py_ssize_t i, n
        cdef Py_ssize_t left = min(self.most, self.patience) - self.table.n
        cdef bint fits = True
        while True:
            n = min(self.block, min(left, (w.end - w.p) // self.stride))
            if n == 0:
                return
            for i in range(self.nleaves):
                if not load_leaf(&self.leaves[i], w.p, self.stride, n):
                    fits = False
                    break
            if not fits:
                self.block = LEAST_BLOCK
                return
            for i in range(self.nvalues):
                add_rows(self.table.roots[i], n)
            self.table.n += n
            w.p += n * self.stride
            left -= n
            self.block = min(2 * self.block, MOST_BLOCK)

    cdef Outcome walk_records(self, Py_ssize_t most) noexcept nogil:
        cdef Walk* w = &self.w
        cdef const unsigned char* p = w.p
        cdef const unsigned char* end = w.end
        cdef const unsigned char* next
        cdef const unsigned char* start
        cdef Column** roots = self.table.roots
        cdef Column* c
        cdef Py_ssize_t nvalues = self.nvalues
        cdef Py_ssize_t n = self.table.n
        cdef Py_ssize_t i
        cdef Outcome outcome = DONE
        most = min(most, self.most)
        while n < most and not self.changed:
            start = p
            if p == end:
                outcome = MORE
                break
            for i in range(nvalues):
                c = roots[i]
                next = NULL
                if c.wanted and not w.careful:
                    if c.kind == FIXED:
                        next = take_fixed(c, p, end)
                    elif c.kind == SIZED:
                        next = take_sized(c, p, end)
                if next == NULL:
                    w.p = p
                    outcome = put(w, c)
                    if outcome != DONE:
                        break
                    next = w.p
                p = next
            if outcome != DONE:
                p = start
                break
            n += 1
        w.p = p
        self.table.n = n
        if outcome != DONE:
            self.cut_rows(n)
        return outcome

    cdef void cut_rows(self, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.nvalues):
            cut(self.table.roots[i], n)
        self.table.n = n

    cdef bint texts_are_right(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.nvalues):
            if not check_text(self.table.roots[i]):
                return False
        return True

    # What happens when a value is not of its column's kind.

    cdef Outcome settle(self) except *:
        # DONE: the column is another now, and the value is tried again.
        cdef Walk* w = &self.w
        cdef Column* c = w.culprit
        cdef const unsigned char* at = w.p
        cdef Outcome outcome = pass_over(w)
        cdef const unsigned char* behind = w.p
        w.p = at
        if outcome != DONE:
            return outcome
        if c.kind == UNKNOWN:
            return self.adopt(c, behind)
        if self.policy == "widen" and not c.within and widen(c, w):
            self.changed = True
            return DONE
        self.expected = describe(c)
        way = self.way_to(c)
        if c.kind == ARRAY and at[0] == VECTOR and w.culprit_item >= 0:
            way.append(f"[{w.culprit_item}]")
            at = w.culprit_at
        self.place = at - self.first
        self.code = at[0]
        self.column = way[0]
        self.path = "".join(way[1:])
        return REFUSED

    cdef Outcome adopt(self, Column* c, const unsigned char* behind) except *:
        cdef Look look
        cdef Column* found
        borrow(&look.buf, self.w.p, behind - self.w.p)
        look.skipping = &self.w.skipping
        look.skipping.max_depth = self.w.max_depth
        look.level = len(self.way_to(c)) - 1
        look.nparts = 0
        try:
            found = make_column(describe_value(&look))
        finally:
            self.w.skipping.depth = self.w.skipping.tail = 0
        become(c, found)
        return DONE

    cdef list way_to(self, Column* c):
        # The number of a record's value, and the way through it.
        cdef Py_ssize_t i
        cdef list way = []
        for i in range(self.nvalues):
            if find(self.table.roots[i], c, way):
                return [i, *way]
        return way

    @property
    def described(self):
        """Give the types as they are now."""
        if self.table == NULL:
            return self.types
        return tuple([describe(self.table.roots[i]) for i in range(self.nvalues)])

    def forget_types(self):
        """Let the next record say what the types are."""
        self.types = None
        leave_table(self.table)
        self.table = NULL

    def last_group(self):
        """Return the row at which the last run of equal keys starts; the key is the first value of a record."""
        cdef Column* c = self.table.roots[0]
        cdef Py_ssize_t i = self.table.n - 1
        while i > 0 and same_values(c, i, i - 1):
            i -= 1
        return i

    def finish(self, kind, tuple names, rows=None):
        """Return the rows held as a Batch of this class, and start anew with the types as they are now.

        rows: those from this one on are kept for the next batch.
        """
        cdef Batch batch = kind.__new__(kind)
        cdef Py_ssize_t i
        cdef Py_ssize_t n = self.table.n if rows is None else rows
        for i in range(self.nvalues):
            if self.table.roots[i].kind == SIZED:
                self.hints[i] = self.table.roots[i].used + self.table.roots[i].used // 8
        self.types = self.described
        batch.table = self.table
        batch.names = names
        self.table = NULL
        self.start()
        for i in range(self.nvalues):
            if not copy_rows(self.table.roots[i], batch.table.roots[i], n, batch.table.n):
                raise MemoryError
            cut(batch.table.roots[i], n)
        self.table.n = batch.table.n - n
        batch.table.n = n
        return batch


cdef bint same_values(const Column* c, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    # Whether two values have the same bits; that is, the same encoding.
    cdef Py_ssize_t nbytes, k, part, start, other
    if c.kind == FIXED or c.kind == ARRAY:
        nbytes = c.width * (c.nitems if c.kind == ARRAY else 1)
        return memcmp(c.data + i * nbytes, c.data + j * nbytes, nbytes) == 0
    if c.kind == TUPLE:
        for part in range(c.nparts):
            if not same_values(c.parts[part], i, j):
                return False
        return True
    start = c.offsets[i]
    other = c.offsets[j]
    nbytes = c.offsets[i + 1] - start
    if c.offsets[j + 1] - other != nbytes:
        return False
    if c.kind == SIZED or c.kind == ENCODED:
        return memcmp(c.data + start, c.data + other, nbytes) == 0
    for k in range(nbytes):
        for part in range(c.nparts):
            if not same_values(c.parts[part], start + k, other + k):
                return False
    return True


cdef void keep_whole(Column* c) noexcept:
    cdef Py_ssize_t i
    c.wanted = True
    for i in range(c.nparts):
        keep_whole(c.parts[i])


cdef bint find(Column* c, Column* wanted, list way) except -1:
    # The way to a column through its value, as in the paths of errors.
    cdef Py_ssize_t i
    if c == wanted:
        return True
    for i in range(c.nparts):
        index = c.parts[i].n - c.offsets[c.n] if has_offsets(c) and c.offsets_room else c.parts[i].n if has_offsets(c) else i
        way.append(f"[{index}]" if c.kind != PAIRED else f".key({index})" if i == 0 else f".value({index})")
        if find(c.parts[i], wanted, way):
            return True
        way.pop()
    return False


cdef void become(Column* c, Column* other) noexcept:
    # Take over what another column is and has; the other is gone.
    cdef bint wanted = c.wanted
    free_parts(c)
    free_memory(c)
    free(c.parts)
    c[0] = other[0]
    c.wanted = wanted
    free(other)


cdef bint widen(Column* c, Walk* w) except -1:
    # Make a column hold the value at the cursor too; what it holds keeps its meaning, to the bit.
    cdef int code = w.p[0]
    if c.kind == FIXED and widens_to(c.code, code):
        return widen_numbers(c, code)
    if c.kind == ARRAY and code == VECTOR:
        if w.culprit_item < 0:
            return loosen(c)
        if widens_to(c.code, w.culprit_at[0]):
            return widen_numbers(c, w.culprit_at[0])
    encode_whole(c)
    return True


cdef bint widen_numbers(Column* c, int code) except -1:
    cdef Py_ssize_t n = c.used // c.width
    cdef Py_ssize_t i
    cdef unsigned char* wide = <unsigned char*>malloc(n * 8 + CUSHION)
    cdef int32_t number
    cdef unsigned char wire[4]
    if wide == NULL:
        raise MemoryError
    for i in range(n):
        memcpy(&number, c.data + 4 * i, 4)
        store_i32(wire, number)
        store_wider(wide + 8 * i, wire, code)
    free_memory(c)
    c.data = wide
    c.room = c.used = n * 8
    c.code = code
    c.width = 8
    return True


cdef bint loosen(Column* c) except -1:
    # VECTORs of one arity to VECTORs of any.
    cdef Py_ssize_t i
    cdef Column* loose = new_column(LISTED, VECTOR, 1)
    try:
        if c.n * c.nitems > INT32_MAX:
            raise LimitError("a column cannot hold more than 2^31-1 items")
        loose.parts[0] = new_column(FIXED, c.code, 0)
        if not reserve_offsets(loose, c.n):
            raise MemoryError
    except BaseException:
        free_column(loose)
        raise
    for i in range(c.n):
        loose.offsets[i + 1] = <int32_t>((i + 1) * c.nitems)
    loose.n = c.n
    loose.parts[0].data = c.data
    loose.parts[0].used = c.used
    loose.parts[0].room = c.room
    loose.parts[0].n = c.n * c.nitems
    c.data = NULL
    become(c, loose)
    return True


cdef int encode_whole(Column* c) except -1:
    # Any column to the encoded bytes of its values.
    cdef Py_ssize_t i
    cdef unsigned char* out
    cdef Nulls none
    cdef Column* encoded = new_column(ENCODED, -1, 0)
    memset(&none, 0, sizeof(Nulls))
    try:
        if bound_of(c, 0, c.n, 0) > INT32_MAX:
            raise LimitError("a column cannot hold more than 2^31-1 bytes")
        if not reserve_offsets(encoded, c.n):
            raise MemoryError
        if not reserve_data(encoded, bound_of(c, 0, c.n, 0)):
            raise MemoryError
    except BaseException:
        free_column(encoded)
        raise
    out = encoded.data
    for i in range(c.n):
        out = put_value(out, c, i, &none)
        encoded.offsets[i + 1] = <int32_t>(out - encoded.data)
    encoded.n = c.n
    encoded.used = out - encoded.data
    become(c, encoded)
    return 0
