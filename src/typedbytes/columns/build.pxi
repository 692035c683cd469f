# The Builder: decode bytes into the columns of one batch after another.
#
# Goal: decode records of one shape at the speed of memory. Plan: load blocks of records of one size as long as they
# match; walk a block that does not match, and records of other shapes, value by value; then check all texts at once.
# Rejected: a scan of the structure before the decoding, which doubles the cost.

# Functions called through these types leave their exception set, for conclude(). An except clause in between could
# crash: if memory is exhausted, an exception may have no traceback.
ctypedef int (*reserve_function)(Builder builder) noexcept
ctypedef Outcome (*resolve_function)(Builder builder) noexcept

from typedbytes.core.refs cimport run_signal_handlers

cdef enum:
    FOUND_NBYTES = 64         # of a value that is refused, for its error
    MIN_TEXT_NBYTES = 4096    # bytes reserved for a text column at least
    PIECE = 0x2000            # records before `stop_requested` is checked
    SIGNAL_INTERVAL_PIECES = 8    # before signals are checked


cdef class Builder:
    """Decode whole records into the columns of one batch after another.

    types: a description for each value of a record; None: inferred from the first record. nvalues: of a record. paths:
    of each column wanted, (number of the value, name of a part, ...); None: all values. policy: "error", "widen" or
    "split". max_held: limit for the bytes and items of a column, at most what offsets can address. convert: for typed
    columns, a function of the number of an annotation and an encoded value, which returns its declared form or None.
    text: the names of the encoding of STRINGs and of an error handler; None: they have to be UTF-8.
    `append_records` reports in `state` why it stopped.
    """

    cdef tuple types
    cdef tuple paths
    cdef object policy
    cdef object convert
    cdef TextEncoding text
    cdef Py_ssize_t nvalues
    cdef Table* table
    cdef Walk w
    cdef Decoding options         # has the dialect and the depth
    cdef Leaf* leaves
    cdef Py_ssize_t nleaves
    cdef readonly Py_ssize_t stride    # bytes of every record; 0: they differ
    cdef readonly Py_ssize_t min_record_nbytes
    cdef bint is_shallow          # no value of the columns' types is too deep
    cdef Py_ssize_t block         # records to load together next
    cdef bint changed             # a column has changed its type since compute_layout()
    cdef Py_ssize_t max_rows      # number of rows that are wanted in the table
    cdef readonly Py_ssize_t nbytes    # bytes of the encoded records of the table
    cdef const unsigned char* bytes_end    # where the table has as many bytes as wanted; at most the end of the view
    cdef Py_ssize_t piece_end     # number of rows at which `stop_requested` is checked next
    cdef int stop_requested       # set by any thread
    cdef const unsigned char* view_start    # first byte of the view passed to append_records
    cdef const unsigned char* view_end
    cdef readonly str state       # "more", "full", "limit", "broken", "mismatch", "split"
    cdef readonly tuple expected  # after a mismatch: the type of the column
    cdef readonly Py_ssize_t column    # after a mismatch: the number of the value in its record
    cdef readonly Py_ssize_t offset    # after a mismatch: its offset in the view
    cdef readonly int code
    cdef readonly str path
    cdef readonly str key_fault   # after a mismatch: what a struct cannot hold of a MAP; None: another type
    cdef readonly tuple fault     # in a typed column: number of its annotation, what is wrong, item, first bytes

    def __cinit__(self, types, Py_ssize_t nvalues, paths, policy, *, dialect="hadoop", max_depth=256,
                  Py_ssize_t max_held=INT32_MAX, convert=None, text=None):
        self.options = (<DecodeOptions>DecodeOptions(dialect=dialect, max_depth=max_depth)).template
        start_skipping(&self.w.skipping, &self.options)
        self.w.max_depth = self.options.max_depth
        self.w.builder = <PyObject*>self
        self.w.widens = policy == "widen"
        self.w.null = null_of(self.options.hive)
        self.w.max_held = max_held
        self.policy = policy
        self.convert = convert
        self.text = None if text is None else TextEncoding(*text)
        self.types = types
        self.nvalues = nvalues
        self.paths = paths
        self.block = MAX_BLOCK
        if types is not None:
            self.start(self.empty_table(types))

    def __dealloc__(self):
        release_table(self.table)
        stop_skipping(&self.w.skipping)
        PyMem_RawFree(self.leaves)

    def request_stop(self, bint wanted):
        """Ask append_records to return soon, or take that back; any thread may call this at any time."""
        set_flag(&self.stop_requested, wanted)

    @property
    def nrows(self):
        """The number of rows held."""
        return 0 if self.table == NULL else self.table.n

    cdef Table* empty_table(self, tuple types) except NULL:
        cdef Table* table
        cdef list projected = list(types)
        cdef dict within = {}
        for number, *path in self.paths or ():
            within.setdefault(number, []).append(tuple(path))
        for number, paths in within.items():
            projected[number] = project(projected[number], paths)
        table = new_table(tuple(projected), self.nvalues if self.paths is None else len(self.paths))
        try:
            self.mark_wanted(table)
        except BaseException:
            release_table(table)
            raise
        return table

    cdef int mark_wanted(self, Table* table) except -1:
        # Mark the columns whose values are stored, and make `visible` point at those selected.
        cdef Column* c
        cdef Py_ssize_t i, number
        if self.paths is None:
            for i in range(self.nvalues):
                table.visible[i] = table.roots[i]
            return 0
        for i in range(self.nvalues):
            set_wanted(table.roots[i], False)
        for number, path in enumerate(self.paths):
            c = table.roots[<Py_ssize_t>path[0]]
            for name in path[1:]:
                c.has_wanted_child = True
                c = c.children[part_number(c, name)]
            table.visible[number] = c
        for i in range(len(self.paths)):
            mark_all_wanted(table.visible[i])
        for i in range(self.nvalues):
            want_if_all_are(table.roots[i])
        return 0

    cdef void start(self, Table* table) noexcept:
        # Fill this table from now on; release the one before.
        release_table(self.table)
        self.table = table
        self.w.missing_nbytes = 0
        self.compute_layout()

    cdef void compute_layout(self) noexcept:
        # Compute what all records have in common: size, leaves, steps.
        cdef Py_ssize_t i, size
        cdef Py_ssize_t nleaves = 0
        cdef Py_ssize_t depth = 0
        cdef Py_ssize_t offset = 0
        cdef Leaf* leaf
        self.stride = self.min_record_nbytes = 0
        self.changed = False
        for i in range(self.nvalues):
            size = size_of(self.table.roots[i])
            self.min_record_nbytes += min_size_of(self.table.roots[i], self.w.widens)
            self.stride = self.stride + size if size and (i == 0 or self.stride) else 0
            nleaves += count_leaves(self.table.roots[i])
            depth = max(depth, depth_of(self.table.roots[i]))
            drop_steps(self.table.roots[i])
            make_steps(self.table.roots[i])
        self.is_shallow = depth <= self.w.max_depth
        if not self.is_shallow:
            self.stride = 0    # the walk refuses what is too deep
        PyMem_RawFree(self.leaves)
        self.leaves = NULL
        if self.stride and nleaves <= 4 * MAX_CHILDREN:
            self.leaves = <Leaf*>PyMem_RawCalloc(nleaves, sizeof(Leaf))
        if self.leaves == NULL:
            self.stride = 0    # also if there is no memory for the leaves: no blocks then
            return
        leaf = self.leaves
        for i in range(self.nvalues):
            leaf = list_leaves(self.table.roots[i], leaf, &offset)
        self.nleaves = leaf - self.leaves

    def append_records(self, view, Py_ssize_t max_rows, Py_ssize_t max_nbytes=PY_SSIZE_T_MAX, Py_ssize_t start=0):
        """Append the records from `start` on, until there are `max_rows` rows or `max_nbytes` encoded bytes.

        Return the number of bytes and of records used.

        The state afterwards: "more" (the bytes end, maybe inside a record), "full" (there are as many as wanted, or a
        stop was requested), "limit" (the next record does not fit, and raises LimitError as the first of a batch),
        "split" (the next record starts another schema), "mismatch" (the next record has another type, see `expected`,
        `offset`, `code`, `column` and `path`), "broken" (the next record is invalid: decoding it raises the error). If
        this raises, no record has been appended.
        """
        cdef Py_buffer buffer
        PyObject_GetBuffer(view, &buffer, PyBUF_SIMPLE)
        try:
            if not 0 <= start <= buffer.len:
                raise ValueError("start must be within the bytes")
            return self.append_from(<const unsigned char*>buffer.buf + start, buffer.len - start, max_rows, max_nbytes)
        finally:
            PyBuffer_Release(&buffer)
            self.w.p = self.w.end = NULL

    cdef tuple append_from(self, const unsigned char* start, Py_ssize_t nbytes, Py_ssize_t max_rows,
                           Py_ssize_t max_nbytes):
        cdef Py_ssize_t before, missing_nbytes
        cdef Outcome outcome
        cdef bint is_valid = True
        cdef bint is_utf8 = self.text is None
        self.w.p = self.view_start = start
        self.w.end = self.view_end = start + nbytes
        self.w.checks_each = self.w.checks_each_text = False
        self.max_rows = max_rows
        if self.types is None and not self.infer_types(start, nbytes):
            return 0, 0
        before = self.table.n
        missing_nbytes = self.w.missing_nbytes
        self.bytes_end = start + min(nbytes, max(0, max_nbytes - self.nbytes))
        self.piece_end = before + PIECE
        self.reserve()
        with nogil:
            outcome = self.run()
            is_valid = self.values_are_valid(is_utf8)
        if not is_valid:
            self.set_row_count(before)
            self.w.missing_nbytes = missing_nbytes
            self.w.p = start
        if outcome == REFUSED or (not is_valid and (outcome != FAILED or PyErr_ExceptionMatches(LimitError))):
            PyErr_Clear()    # LimitError: the invalid text precedes the limit. What a signal handler raised is kept
            # Rare, and the end of this batch: decode again, checking each value, to find the first invalid one or
            # whether one precedes the value that was refused.
            self.w.checks_each, self.w.checks_each_text = True, is_utf8
            with nogil:
                outcome = self.run()
        try:
            return self.conclude(outcome, before)
        except BaseException:
            self.set_row_count(before)
            raise

    cdef tuple conclude(self, Outcome outcome, Py_ssize_t before):
        if outcome == NO_MEMORY:
            raise MemoryError
        if outcome == COLUMN_FULL or outcome == FAILED:
            try:
                if outcome == COLUMN_FULL:
                    raise missing_limit_error() if self.w.missing_nbytes > MAX_MISSING_NBYTES \
                        else column_limit_error(self.w.max_held)
                raise_pending()
            except LimitError:
                if self.table.n == 0:
                    raise
            self.state = "limit"
        elif outcome == REFUSED:
            self.state = "split" if self.policy == "split" and self.table.n else "mismatch"
        else:
            self.state = "more" if outcome == INCOMPLETE else "broken" if outcome == INVALID else "full"
        self.nbytes += self.w.p - self.view_start
        return self.w.p - self.view_start, self.table.n - before

    cdef bint infer_types(self, const unsigned char* start, Py_ssize_t nbytes) except -1:
        # Infer the types from the first record. False, with the state set: it is incomplete or invalid.
        cdef TypeInference inference
        cdef Outcome outcome = APPENDED
        cdef tuple types
        cdef Py_ssize_t i
        for i in range(self.nvalues):
            if outcome == APPENDED:
                outcome = skip_one(&self.w)
        if outcome != APPENDED:
            self.state = "more" if outcome == INCOMPLETE else "broken"
            return False
        borrow(&inference.buf, start, self.w.p - start)
        inference.skipping = &self.w.skipping
        inference.level = inference.nchildren = 0
        self.w.p = start
        self.w.skipping.max_depth = self.w.max_depth
        try:
            types = describe_values(&inference, self.nvalues)
        finally:
            self.w.skipping.depth = self.w.skipping.tail = 0
        self.start(self.empty_table(types))
        self.types = types
        return True

    cdef int reserve(self) except -1:
        # Reserve capacity for all rows that the bytes can hold, and for as much data and as many
        # items as the last batch had.
        cdef Py_ssize_t nbytes = self.bytes_end - self.w.p
        cdef Py_ssize_t n = min(self.max_rows - self.table.n, nbytes // self.min_record_nbytes)
        cdef Py_ssize_t i
        cdef Column* c
        for i in range(self.nvalues):
            c = self.table.roots[i]
            if not reserve_rows(c, n) or not reserve_expected(c, MIN_TEXT_NBYTES, nbytes, self.w.max_held):
                raise MemoryError
        return 0

    cdef Outcome run(self) noexcept nogil:
        cdef Outcome outcome = APPENDED
        cdef int pieces_left = SIGNAL_INTERVAL_PIECES
        self.w.depth = 0
        while self.table.n < self.max_rows and self.wants_bytes() and outcome == APPENDED \
                and not flag_is_set(&self.stop_requested):
            if self.changed:
                outcome = self.recompute_layout()
            if outcome == APPENDED and self.stride and not self.w.checks_each:
                self.load_blocks()
            if outcome == APPENDED:
                # If records have one size: those that load_blocks did not load.
                outcome = self.walk_records(min(self.piece_end, self.table.n + MIN_BLOCK) if self.stride
                                            else self.piece_end)
            if self.table.n >= self.piece_end:
                self.piece_end += PIECE
                pieces_left -= 1
                if pieces_left == 0:
                    pieces_left = SIGNAL_INTERVAL_PIECES
                    if self.interrupted():
                        return FAILED
        return outcome

    cdef inline bint wants_bytes(self) noexcept nogil:
        # At the end of the view the walk has to say whether a record is incomplete.
        return self.w.p < self.bytes_end or self.bytes_end == self.w.end

    cdef Outcome recompute_layout(self) noexcept with gil:
        self.compute_layout()
        return FAILED if (<reserve_function>self.reserve)(self) < 0 else APPENDED

    cdef bint interrupted(self) noexcept with gil:
        return run_signal_handlers() < 0

    cdef void load_blocks(self) noexcept nogil:
        # A block that does not match is wasted work, so the next one is small;
        # a block that matches makes the next one larger.
        cdef Walk* w = &self.w
        cdef Py_ssize_t i, n
        cdef Py_ssize_t left = min(self.max_rows, self.piece_end) - self.table.n
        cdef bint fits = True
        while True:
            n = min(self.block, min(left, (w.end - w.p) // self.stride))
            n = min(n, (self.bytes_end - w.p + self.stride - 1) // self.stride)    # the last record may pass it
            if n <= 0:
                return
            for i in range(self.nvalues):    # nulls may be shorter than the records that reserve() counted on
                if not reserve_rows(self.table.roots[i], n):
                    return
            for i in range(self.nleaves):
                if not load_leaf(&self.leaves[i], w.p, self.stride, n):
                    fits = False
                    break
            if not fits:
                self.block = MIN_BLOCK
                return
            for i in range(self.nvalues):
                add_rows(self.table.roots[i], n)
            self.table.n += n
            w.p += n * self.stride
            left -= n
            self.block = min(2 * self.block, MAX_BLOCK)

    cdef Outcome walk_records(self, Py_ssize_t max_rows) noexcept nogil:
        cdef Walk* w = &self.w
        cdef const unsigned char* p = w.p
        cdef const unsigned char* end = w.end
        cdef const unsigned char* bytes_end = self.bytes_end
        cdef const unsigned char* next
        cdef const unsigned char* start
        cdef Column** roots = self.table.roots
        cdef Column* c
        cdef Py_ssize_t nvalues = self.nvalues
        cdef Py_ssize_t n = self.table.n
        cdef Py_ssize_t i, missing_nbytes
        cdef bint fast = self.is_shallow and not w.checks_each
        cdef Outcome outcome = APPENDED
        max_rows = min(max_rows, self.max_rows)
        while n < max_rows and not self.changed:
            start = p
            missing_nbytes = w.missing_nbytes
            if p >= bytes_end:
                outcome = INCOMPLETE if p == end else APPENDED
                break
            for i in range(nvalues):
                c = roots[i]
                next = load_one(w, c, n, p, end) if fast and c.wanted else NULL
                if next == NULL:
                    set_length(c, n)
                    w.p = p
                    outcome = append_value(w, c)
                    if outcome != APPENDED:
                        break
                    next = w.p
                p = next
            if outcome != APPENDED:
                # Rows are whole: set_row_count() drops what the columns have of this record,
                # and the next walk starts with it.
                p = start
                if outcome != COLUMN_FULL:    # a count above its limit says which limit was reached: see conclude()
                    w.missing_nbytes = missing_nbytes
                break
            n += 1
        w.p = p
        self.set_row_count(n)
        return APPENDED if outcome == RESTARTED else outcome

    cdef void set_row_count(self, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.nvalues):
            set_length(self.table.roots[i], n)
        self.table.n = n

    cdef bint values_are_valid(self, bint is_utf8) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.nvalues):
            if not check_values(self.table.roots[i], is_utf8):
                return False
        return True

    # A value that its column cannot hold.

    cdef Outcome resolve_mismatch(self) except FAILED:
        # APPENDED: the column has another type now; try the value again.
        cdef Walk* w = &self.w
        cdef Column* c = w.mismatched
        cdef const unsigned char* at = w.p
        cdef Outcome outcome = skip_one(w)
        cdef const unsigned char* after = w.p
        w.p = at
        if outcome != APPENDED:
            return outcome
        if c.typed != NULL:
            return self.resolve_typed(c, after)
        if c.kind == UNKNOWN or has_only_empty_maps(c, at[0]):
            return self.adopt_type(c, after)
        if self.policy == "widen" and not c.has_wanted_child and widen(c, w):
            self.changed = True
            # The column holds encoded values now. Values of this record may have been converted, INTs to DOUBLEs for
            # example: walk it again, and they are stored as they came. Those of earlier records stay converted.
            return RESTARTED if c.kind == ENCODED else APPENDED
        return self.refuse(c)

    cdef Outcome resolve_typed(self, Column* c, const unsigned char* after) except FAILED:
        # The cursor is at a value that a typed column does not hold in its present form.
        cdef Walk* w = &self.w
        cdef const unsigned char* at = w.p
        cdef Outcome outcome = OTHER_TYPE
        if adapt(c, w):
            self.changed = True
            w.fault = NO_FAULT
            return APPENDED
        # Enums have names and aliases
        if not w.converts and (w.fault == NO_FAULT or (w.fault == UNFIT and c.kind == CHOICE)):
            outcome = append_converted(w, c, self.convert(c.typed.number, at[:after - at]), after)
        if outcome == APPENDED:
            w.fault = NO_FAULT
            return CONVERTED
        if w.converts:    # the value in the view is refused, not what it was converted to
            w.fault = NO_FAULT
            return REFUSED
        return outcome if outcome == COLUMN_FULL or outcome == NO_MEMORY else self.refuse(c)

    cdef Outcome refuse(self, Column* c) except FAILED:
        cdef Walk* w = &self.w
        cdef const unsigned char* at = w.p
        cdef Py_ssize_t item = w.mismatched_item if c.kind == ARRAY and at[0] == VECTOR else -1
        self.expected = describe(c)
        self.key_fault = find_key_fault(c, w) if c.typed == NULL and c.kind == STRUCT and at[0] == MAP else None
        steps = self.steps_to(c)
        if item >= 0:
            steps.append(f"[{item}]")
            at = mismatched_at(w)
        if c.typed != NULL:
            self.fault = c.typed.number, describe_fault(w), item, at[:min(w.end - at, FOUND_NBYTES)]
            w.fault = NO_FAULT
        self.column = steps[0]
        self.path = "".join(steps[1:])
        if not self.view_start <= at <= self.view_end:
            raise TypeError(f"the default of {self.path.lstrip('.')} does not fit its column")
        self.offset = at - self.view_start
        self.code = at[0]
        return REFUSED

    cdef Outcome adopt_type(self, Column* c, const unsigned char* after) except FAILED:
        cdef TypeInference inference
        cdef Column* found
        cdef Py_ssize_t i
        cdef bint is_missing = c.null == &MISSING_FIELD
        borrow(&inference.buf, self.w.p, after - self.w.p)
        inference.skipping = &self.w.skipping
        inference.skipping.max_depth = self.w.max_depth
        inference.level = len(self.steps_to(c)) - 1
        inference.nchildren = 0
        try:
            found = make_column(describe_value(&inference))
        finally:
            self.w.skipping.depth = self.w.skipping.tail = 0
        # All rows so far are null, and each takes null_size() in the new type: 8000 bytes in an ARRAY of 1000 DOUBLEs,
        # for 1 or 9 bytes of input. append_value() does not accept such a null after the first value, so it is refused
        # before it too. Missing fields and STRUCTs have a limit of their own.
        if null_size(found) > MAX_NULL_NBYTES and c.n and not is_missing and found.kind != STRUCT:
            free_column(found)
            return self.refuse(c)
        if count_missing(&self.w, null_size(found) * c.n if is_missing or found.kind == STRUCT else 0) != APPENDED:
            free_column(found)
            return COLUMN_FULL
        try:
            for i in range(c.n):
                if c.kind == MAP_ENTRIES and not is_null(c, i):
                    append_empty(found)
                elif append_null(found, c.null if c.null != NULL else self.w.null) != APPENDED:
                    raise MemoryError
        except BaseException:
            free_column(found)
            raise
        replace_column(c, found)
        self.changed = True
        return APPENDED

    cdef list steps_to(self, Column* c):
        # The path to a column: the number of the value in the record, then steps within that value.
        cdef Py_ssize_t i = 0
        cdef list steps = []
        while not find_path(self.table.roots[i], c, steps):
            i += 1
        return [i, *steps]

    @property
    def described(self):
        """The current types; those given for typed columns."""
        if self.table == NULL or self.convert is not None:
            return self.types
        return describe_all(self.table.roots, self.nvalues)

    def forget_types(self):
        """Infer the types from the next record."""
        self.types = None
        release_table(self.table)
        self.table = NULL
        self.nbytes = 0

    def last_group(self):
        """Return the row at which the last run of equal keys starts; the key is the first value of a record."""
        cdef Py_ssize_t i = self.nrows - 1
        if i < 0:
            return 0
        cdef Column* c = self.table.roots[0]
        while i > 0 and same_values(c, i, i - 1):
            i -= 1
        return i

    cdef int transcode_rows(self, Py_ssize_t n, list found) except -1:
        cdef Py_ssize_t i, row
        for i in range(self.nvalues):
            row = transcode(self.table.roots[i], n, self.text, found)
            if row >= 0:
                self.column = i
                raise FormatError(f"STRING is not {self.text.name.decode('ascii')}: {self.text.fault}", None, STRING,
                                  "", row)
        return reserve_transcoded(found)

    def finish(self, kind, tuple names, rows=None):
        """Return the rows held as a Batch of class `kind`, and start the next batch with the current types.

        rows: the number of rows to return; the others are kept for the next batch. Raises ValueError while there are no
        types, and for more rows than there are; FormatError for text that is not in the encoding, with its row, and
        its value in `column`.
        """
        cdef Batch batch = kind.__new__(kind)
        cdef Table* table = self.table
        cdef Table* rest
        cdef Py_ssize_t i
        cdef Py_ssize_t n = self.nrows if rows is None else rows
        cdef list transcoded = []
        if table == NULL or not 0 <= n <= table.n:
            raise ValueError(f"{self.nrows} rows are held, not {n}, or their types are not known")
        if self.text is not None:
            self.transcode_rows(n, transcoded)
        self.types = self.described
        rest = self.empty_table(self.types)
        for i in range(self.nvalues):
            expect_as_much(rest.roots[i], table.roots[i])
            if self.convert is not None:
                adapt_as(rest.roots[i], table.roots[i])
        for i in range(self.nvalues):
            # All that may fail comes before the first row is dropped: after a MemoryError the rows are as they were.
            if not copy_rows(rest.roots[i], table.roots[i], n, table.n) or not reserve_all_bits(table.roots[i]):
                release_table(rest)
                raise MemoryError
        if self.convert is not None and not declare_all(table, self.nvalues, self.w.null):
            release_table(rest)
            self.changed = True
            raise MemoryError
        store_transcoded(transcoded)
        rest.n = table.n - n
        self.nbytes = 0 if rest.n == 0 else <Py_ssize_t>(<double>self.nbytes * rest.n / table.n)    # an estimate
        for i in range(self.nvalues):
            set_length(table.roots[i], n)
            complete_bits(table.roots[i])
        table.n = n
        batch.table = table
        batch.names = names
        self.table = NULL    # the table belongs to the Batch now
        self.start(rest)
        return batch


cdef object missing_limit_error():
    return LimitError(f"the fields that MAPs of a column lack take more than {MAX_MISSING_NBYTES} bytes: "
                      "pass a schema with map or raw")
