# The Builder: bytes to the columns of one batch after the other.
#
# Goal: like-shaped records at the speed of memory. Plan: blocks of records of one size as long as they fit; the block that does
# not, and records of other kinds, are walked value by value. Texts are checked all at once behind that. Rejected: a walk of
# structure before the columns', which costs as much again.

# Called with these types, they leave an exception set, for conclude(): where there is no memory left at all, there may be no
# traceback, and an except clause does not survive that.
ctypedef int (*reserve_function)(Builder builder) noexcept
ctypedef Outcome (*settle_function)(Builder builder) noexcept

cdef extern from "Python.h":
    int look_for_signals "PyErr_CheckSignals"() noexcept


cdef int raise_left() except? -1:
    # Raises the exception that such a call has left.
    return -1


cdef enum:
    PIECE = 0x2000            # records before `stops` is looked at
    MOST_PATIENCE = 8         # pieces before signals are


cdef class Builder:
    """Fill the columns of one batch after the other from the bytes of whole records.

    types: a description for each value of a record, None: found in the first record. nvalues: of a record. paths: of each
    column wanted, (value, item, ...); None: all values. policy: "error", "widen" or "split". most_held: bytes and items of a
    column at most, what offsets can say or less. `take` says in `state` why it stopped.
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
    cdef readonly Py_ssize_t least    # bytes that a record has at least
    cdef Py_ssize_t block         # records that are loaded together next
    cdef bint changed             # a column is of another kind than when leaves were listed
    cdef Py_ssize_t most          # rows that the table is to have
    cdef Py_ssize_t piece_end     # rows at which `stops` is looked at next
    cdef int stops                # see `stop`
    cdef const unsigned char* first    # byte that was given
    cdef readonly str state       # "more", "full", "limit", "broken", "mismatch", "split"
    cdef readonly tuple expected  # of a mismatch: the type of the column
    cdef readonly Py_ssize_t column    # of a mismatch: the number of the value in its record
    cdef readonly Py_ssize_t place    # of a mismatch: bytes from where take() began
    cdef readonly int code
    cdef readonly str path
    cdef dict hints               # bytes that a column's data had last time

    def __cinit__(self, types, Py_ssize_t nvalues, paths, policy, *, dialect="hadoop", max_depth=256, Py_ssize_t most_held=INT32_MAX):
        self.options = (<DecodeOptions>DecodeOptions(dialect=dialect, max_depth=max_depth)).template
        start_skipping(&self.w.skipping, &self.options)
        self.w.max_depth = self.options.max_depth
        self.w.builder = <PyObject*>self
        self.w.widens = policy == "widen"
        self.w.most_held = most_held
        self.policy = policy
        self.types = types
        self.nvalues = nvalues
        self.paths = paths
        self.hints = {}
        self.block = MOST_BLOCK
        if types is not None:
            self.start(self.empty_table(types))

    def __dealloc__(self):
        leave_table(self.table)
        stop_skipping(&self.w.skipping)
        PyMem_RawFree(self.leaves)

    def stop(self, bint wanted):
        """Say whether take() is to end soon; another thread may say so at any time."""
        set_flag(&self.stops, wanted)

    @property
    def nrows(self):
        """Give the number of rows held."""
        return 0 if self.table == NULL else self.table.n

    cdef Table* empty_table(self, tuple types) except NULL:
        cdef Table* table
        for path in self.paths or ():
            types = types[:path[0]] + (opened(types[path[0]], path[1:]),) + types[path[0] + 1:]
        table = new_table(types, self.nvalues if self.paths is None else len(self.paths))
        try:
            self.show(table)
        except BaseException:
            leave_table(table)
            raise
        return table

    cdef int show(self, Table* table) except -1:
        # Say which columns are held.
        cdef Column* c
        cdef Py_ssize_t i, number
        if self.paths is None:
            for i in range(self.nvalues):
                table.shown[i] = table.roots[i]
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
        return 0

    cdef void start(self, Table* table) noexcept:
        # Fill this table from here on; the one before is let go of.
        leave_table(self.table)
        self.table = table
        self.plan()

    cdef void plan(self) noexcept:
        # Find out what all records have in common.
        cdef Py_ssize_t i, size
        cdef Py_ssize_t nleaves = 0
        cdef Py_ssize_t depth = 0
        cdef Py_ssize_t offset = 0
        cdef Leaf* leaf
        self.stride = self.least = 0
        self.changed = False
        for i in range(self.nvalues):
            size = size_of(self.table.roots[i])
            self.least += least_of(self.table.roots[i], self.w.widens)
            self.stride = self.stride + size if size and (i == 0 or self.stride) else 0
            nleaves += count_leaves(self.table.roots[i])
            depth = max(depth, depth_of(self.table.roots[i]))
        if depth > self.w.max_depth:
            self.stride = 0    # what is too deep is for the walk to refuse
        PyMem_RawFree(self.leaves)
        self.leaves = NULL
        if self.stride and nleaves <= 4 * MOST_PARTS:
            self.leaves = <Leaf*>PyMem_RawCalloc(nleaves, sizeof(Leaf))
        if self.leaves == NULL:
            self.stride = 0    # also without memory for a list: then there are no blocks
            return
        leaf = self.leaves
        for i in range(self.nvalues):
            leaf = list_leaves(self.table.roots[i], leaf, &offset)
        self.nleaves = leaf - self.leaves

    def take(self, view, Py_ssize_t most):
        """Take records until there are `most` rows, and return how many bytes and how many records were taken.

        The state afterwards: "more" (the bytes end, maybe inside a record), "full" (no more rows are wanted), "limit" (the next record
        does not fit, and raises LimitError as the first of a batch), "split" (the next record
        begins another schema), "mismatch" (the next record is of another kind, as `expected`, `place`, `code`, `column` and
        `path` say), "broken" (decoding the next record says what is wrong). When it raises it has taken nothing.
        """
        cdef Py_buffer buffer
        PyObject_GetBuffer(view, &buffer, PyBUF_SIMPLE)
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
        self.piece_end = before + PIECE
        self.reserve()
        with nogil:
            outcome = self.run()
            right = self.texts_are_right()
        if not right:
            self.cut_rows(before)
            self.w.p = start
        if not right or outcome == REFUSED:
            PyErr_Clear()
            # Rare, and the last thing that happens here: once more, to find out which text is wrong, or whether one is in front
            # of what was refused.
            self.w.careful = True
            with nogil:
                outcome = self.run()
        try:
            return self.conclude(outcome, before)
        except BaseException:
            self.cut_rows(before)
            raise

    cdef tuple conclude(self, Outcome outcome, Py_ssize_t before):
        if outcome == NO_MEMORY:
            raise MemoryError
        if outcome == FULL or outcome == FAILED:
            try:
                if outcome == FULL:
                    raise beyond_held(self.w.most_held)
                raise_left()
            except LimitError:
                if self.table.n == 0:
                    raise
            self.state = "limit"
        elif outcome == REFUSED:
            self.state = "split" if self.policy == "split" and self.table.n else "mismatch"
        else:
            self.state = "more" if outcome == MORE else "broken" if outcome == BROKEN else "full"
        return self.w.p - self.first, self.table.n - before

    cdef bint look(self, const unsigned char* start, Py_ssize_t nbytes) except -1:
        # Find the types in the first record. False, and the state is set: it is not there, or is none.
        cdef Look look
        cdef Outcome outcome = DONE
        cdef tuple types
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
            types = describe_values(&look, self.nvalues)
        finally:
            self.w.skipping.depth = self.w.skipping.tail = 0
        self.start(self.empty_table(types))
        self.types = types
        return True

    cdef int reserve(self) except -1:
        # Room for the rows that the bytes can hold at most, and for as much data as there was last time.
        cdef Py_ssize_t nbytes = self.w.end - self.w.p
        cdef Py_ssize_t n = min(self.most - self.table.n, nbytes // self.least)
        cdef Py_ssize_t i
        cdef Column* c
        for i in range(self.nvalues):
            c = self.table.roots[i]
            if not reserve_rows(c, n) or (
                    c.kind == SIZED and c.wanted
                    and not reserve_payload(c, min(nbytes, max(<Py_ssize_t>self.hints.get(i, 0), 4096)), self.w.most_held)):
                raise MemoryError
        return 0

    cdef Outcome run(self) noexcept nogil:
        cdef Outcome outcome = DONE
        cdef int patience = MOST_PATIENCE
        self.w.depth = 0
        while self.table.n < self.most and outcome == DONE and not flag_is_set(&self.stops):
            if self.changed:
                outcome = self.plan_again()
            if outcome == DONE and self.stride:
                self.load_blocks()
            if outcome == DONE:
                # Where records have one size: those that a block did not take.
                outcome = self.walk_records(min(self.piece_end, self.table.n + LEAST_BLOCK) if self.stride else self.piece_end)
            if self.table.n >= self.piece_end:
                self.piece_end += PIECE
                patience -= 1
                if patience == 0:
                    patience = MOST_PATIENCE
                    if self.interrupted():
                        return FAILED
        return outcome

    cdef Outcome plan_again(self) noexcept with gil:
        self.plan()
        return FAILED if (<reserve_function>self.reserve)(self) < 0 else DONE

    cdef bint interrupted(self) noexcept with gil:
        return look_for_signals() < 0

    cdef void load_blocks(self) noexcept nogil:
        # A block that does not fit was work for nothing, so the next is small; those that fit make the next larger.
        cdef Walk* w = &self.w
        cdef Py_ssize_t i, n
        cdef Py_ssize_t left = min(self.most, self.piece_end) - self.table.n
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

    cdef Outcome settle(self) except FAILED:
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

    cdef Outcome adopt(self, Column* c, const unsigned char* behind) except FAILED:
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
        # The number of a record's value, and the way through it to one of its columns.
        cdef Py_ssize_t i = 0
        cdef list way = []
        while not find(self.table.roots[i], c, way):
            i += 1
        return [i, *way]

    @property
    def described(self):
        """Give the types as they are now."""
        if self.table == NULL:
            return self.types
        return describe_all(self.table.roots, self.nvalues)

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
        cdef Table* table = self.table
        cdef Table* rest
        cdef Py_ssize_t i
        cdef Py_ssize_t n = table.n if rows is None else rows
        for i in range(self.nvalues):
            if table.roots[i].kind == SIZED:
                self.hints[i] = table.roots[i].used + table.roots[i].used // 8
        self.types = self.described
        rest = self.empty_table(self.types)
        for i in range(self.nvalues):
            if not copy_rows(rest.roots[i], table.roots[i], n, table.n):
                leave_table(rest)
                raise MemoryError
        rest.n = table.n - n
        for i in range(self.nvalues):
            cut(table.roots[i], n)
        table.n = n
        batch.table = table
        batch.names = names
        self.table = NULL    # it is the Batch's
        self.start(rest)
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
