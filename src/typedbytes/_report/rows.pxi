# Lines of text as encoded records: a line, key, separator and value, or rows by the rules of Python's csv module.
#
# Here: text to bytes. Not here: files, types: every text is a STRING. Invariant: what is held is the rest of one row,
# and it is looked through again only when it has doubled.

from typedbytes.core.byteorder cimport copy_short
from typedbytes.core.refs cimport PY_SSIZE_T_MAX

cdef enum:
    SMALL_REST = 65536        # below which a row is looked at each time that more of it comes

cdef enum RowOutcome:
    ROW
    BLANK                     # nothing is in the line
    MORE                      # the row does not end in what is held
    UNFIT                     # there is a fault

cdef enum RowState:
    FIELD_START
    IN_FIELD
    IN_QUOTES
    AFTER_QUOTE               # in a quoted field
    AFTER_END                 # the row has ended: only line ends may follow


cdef class TextRecords:
    "TextRecords(separator, *, pairs=False, rows=False, header=False, max_bytes=None)\n--\n\n" \
        """Read records from pieces of text.

    separator: bytes. rows: each row is a VECTOR, or a key and a value. header: the first row has the keys of the MAPs
    that the others are. max_bytes: of a line.

    >>> records = TextRecords(b"\\t")
    >>> records.take(b"1\\n2", False), records.take(b"", True), records.fault
    (b'\\x07\\x00\\x00\\x00\\x011', b'\\x07\\x00\\x00\\x00\\x012', None)
    """

    cdef WriteBuffer rest     # of the text
    cdef WriteBuffer out
    cdef bytes separator
    cdef bint pairs, rows, has_header, ended
    cdef Py_ssize_t max_bytes
    cdef Py_ssize_t wanted    # bytes of the rest, before it is looked at again
    cdef bint is_first        # no line has been passed
    cdef list names           # in the header, encoded; None: it has not come
    cdef Py_ssize_t ncolumns  # fields of the longest row so far
    cdef readonly long long nlines    # passed
    cdef readonly object fault    # the number of a line, and what is wrong with it

    def __cinit__(self, bytes separator not None, *, bint pairs=False, bint rows=False, bint header=False,
                  max_bytes=None):
        self.out.owner = NULL
        start_owned(&self.rest, 256)
        self.separator, self.pairs, self.rows, self.has_header = separator, pairs, rows, header
        self.max_bytes = PY_SSIZE_T_MAX if max_bytes is None else max_bytes
        self.is_first = True

    def __dealloc__(self):
        drop(&self.rest)
        drop(&self.out)

    def take(self, data, bint is_last, list lines=None):
        """Return the encoded records of the rows that end in what has come; then `fault` is looked at.

        is_last: no more will come. lines: gets the number of the last line of each record.
        """
        cdef Py_buffer view
        cdef const unsigned char* p
        cdef const unsigned char* end
        cdef Py_ssize_t nleft, mark
        cdef RowOutcome outcome = ROW
        contiguous = get_view(data, &view)
        try:
            append_bytes_of(&self.rest, <const unsigned char*>view.buf, view.len)
        finally:
            PyBuffer_Release(&view)
        if written(&self.rest) < self.wanted and not is_last or self.fault is not None:
            return b""
        self.ended = is_last
        p, end = self.rest.start, self.rest.cursor
        start_owned(&self.out, 2 * (end - p) + 64)
        try:
            while p < end and (outcome == ROW or outcome == BLANK):
                mark = written(&self.out)
                outcome = self.read_row(&p, end) if self.rows else self.read_line(&p, end)
                if outcome == UNFIT:
                    self.out.cursor = self.out.start + mark
                elif outcome == ROW and lines is not None:
                    lines.append(self.nlines)
                if not self.nlines & SIGNAL_MASK:
                    PyErr_CheckSignals()
            nleft = end - p
            memmove(self.rest.start, p, nleft)
            self.rest.cursor = self.rest.start + nleft
            self.wanted = 2 * nleft if nleft > SMALL_REST else 0
            return finish(&self.out)
        finally:
            drop(&self.out)
            self.out.owner = NULL

    cdef bint find_line(self, const unsigned char* p, const unsigned char* end, const unsigned char** line_end,
                        RowOutcome* outcome) except -1:
        # The end of the line at p, after its LF. False: it has not come as a whole, or there is a fault.
        cdef const unsigned char* found = <const unsigned char*>memchr(p, c"\n", end - p)
        line_end[0] = end if found == NULL else found + 1
        if (end if found == NULL else found) - p > self.max_bytes:
            outcome[0] = self.refuse(f"longer than {self.max_bytes} bytes")
            return False
        if found == NULL and not self.ended:
            outcome[0] = MORE
            return False
        if not is_utf8(p, line_end[0] - p):
            try:
                p[:line_end[0] - p].decode()
            except UnicodeDecodeError as error:
                outcome[0] = self.refuse(f"not UTF-8 at byte {error.start}")
            return False
        return True

    cdef RowOutcome refuse(self, str message) except *:
        # Of the line after those that were passed.
        self.fault = self.nlines + 1, message
        return UNFIT

    cdef RowOutcome read_line(self, const unsigned char** cursor, const unsigned char* end) except *:
        cdef const unsigned char* p = cursor[0]
        cdef const unsigned char* line_end
        cdef const unsigned char* found
        cdef RowOutcome outcome = MORE
        if not self.find_line(p, end, &line_end, &outcome):
            return outcome
        cursor[0] = line_end
        if (line_end - 1)[0] == c"\n":
            line_end -= 1
        if line_end > p and (line_end - 1)[0] == c"\r":
            line_end -= 1
        if self.pairs:
            found = find_bytes(p, line_end, self.separator, len(self.separator))
            if found == NULL:
                line = p[:line_end - p].decode()
                return self.refuse(f"expected a key, {self.separator.decode()!r} and a value, not {short_repr(line)}")
            self.append_string(p, found)
            p = found + len(self.separator)
        self.append_string(p, line_end)
        self.nlines += 1
        return ROW

    cdef inline int append_string(self, const unsigned char* p, const unsigned char* end) except -1:
        reserve(&self.out, 5 + end - p)
        check_length(end - p)
        self.out.cursor[0] = STRING
        store_i32(self.out.cursor + 1, <int32_t>(end - p))
        copy_short(self.out.cursor + 5, p, end - p)
        self.out.cursor += 5 + (end - p)
        return 0

    # Rows. The states are those of the csv module, in which a line ends with LF or where the text ends.

    cdef RowOutcome read_row(self, const unsigned char** cursor, const unsigned char* end) except *:
        cdef Py_ssize_t mark = written(&self.out), nfields = 0, field = 0, nseparator = len(self.separator)
        cdef long long nlines = self.nlines
        cdef const unsigned char* separator = self.separator
        cdef unsigned char first = separator[0]
        cdef const unsigned char* p = cursor[0]
        cdef const unsigned char* run
        cdef const unsigned char* line_end = p
        cdef RowState state = FIELD_START
        cdef RowOutcome outcome = MORE
        if not self.pairs:
            self.append_head(VECTOR, 0)
        while True:
            if p == end:    # inside quotes
                if not self.ended:
                    return self.give_up(mark, nlines)
                self.nlines -= 1    # its last line is named
                return self.refuse_csv(cursor[0], end)
            if not self.find_line(p, end, &line_end, &outcome):
                if outcome == MORE:
                    return self.give_up(mark, nlines)
                return outcome
            if self.is_first and nlines == self.nlines and line_end - p >= 3 and memcmp(p, b"\xef\xbb\xbf", 3) == 0:
                p += 3
            while p < line_end:
                if state == IN_FIELD:
                    run = p
                    while p < line_end and p[0] != c"\n" and p[0] != c"\r" \
                            and not (p[0] == first and is_at(p, line_end, separator, nseparator)):
                        p += 1
                    append_bytes_of(&self.out, run, p - run)
                    if p < line_end:
                        self.close_field(field)
                        state = AFTER_END
                        if p[0] == first and is_at(p, line_end, separator, nseparator):
                            state = FIELD_START
                            p += nseparator
                elif state == IN_QUOTES:
                    run = p
                    p = <const unsigned char*>memchr(p, c'"', line_end - p)
                    if p == NULL:
                        p = line_end
                    append_bytes_of(&self.out, run, p - run)
                    if p < line_end:
                        state = AFTER_QUOTE
                        p += 1
                elif state == AFTER_END:
                    if p[0] != c"\n" and p[0] != c"\r":
                        return self.refuse_csv(cursor[0], line_end)
                    p += 1
                elif p[0] == c"\n" or p[0] == c"\r":
                    if state == AFTER_QUOTE:
                        self.close_field(field)
                    elif nfields:
                        field = self.open_field(nfields)
                        nfields += 1
                        self.close_field(field)
                    state = AFTER_END
                    p += 1
                elif p[0] == first and is_at(p, line_end, separator, nseparator):
                    if state == FIELD_START:
                        field = self.open_field(nfields)
                        nfields += 1
                    self.close_field(field)
                    state = FIELD_START
                    p += nseparator
                elif state == AFTER_QUOTE:
                    if p[0] != c'"':
                        return self.refuse_csv(cursor[0], line_end)
                    append_byte_of(&self.out, c'"')
                    state = IN_QUOTES
                    p += 1
                else:
                    field = self.open_field(nfields)
                    nfields += 1
                    state = IN_FIELD
                    if p[0] == c'"':
                        state = IN_QUOTES
                        p += 1
            if state != IN_QUOTES:
                break
            self.nlines += 1
        if state == FIELD_START and nfields:
            field = self.open_field(nfields)
            nfields += 1
        if state != AFTER_END and nfields:
            self.close_field(field)
        outcome = self.end_row(mark, nfields)
        if outcome != UNFIT:
            cursor[0] = line_end
            self.is_first = False
            self.nlines += 1
        return outcome

    cdef RowOutcome give_up(self, Py_ssize_t mark, long long nlines) except *:
        self.out.cursor = self.out.start + mark
        self.nlines = nlines
        return MORE

    cdef RowOutcome end_row(self, Py_ssize_t mark, Py_ssize_t nfields) except *:
        cdef unsigned char* head
        if nfields == 0 and self.ncolumns == 1 and not self.pairs:    # an empty line is an empty field then
            self.close_field(self.open_field(0))
            nfields = 1
        head = self.out.start + mark
        if nfields == 0:
            self.out.cursor = head
            return BLANK
        self.ncolumns = max(self.ncolumns, nfields)
        if self.pairs:
            return ROW if nfields == 2 else self.refuse(f"expected a key and a value, not {nfields} fields")
        if not self.has_header:
            check_length(nfields)
            store_i32(head + 1, <int32_t>nfields)
            return ROW
        if self.names is None:
            self.use_header(head, nfields)
            self.out.cursor = head
            return BLANK if self.fault is None else UNFIT
        if nfields != len(self.names):
            return self.refuse(f"expected {len(self.names)} fields, as the header has, not {nfields}")
        head[0] = MAP
        store_i32(head + 1, <int32_t>nfields)
        return ROW

    cdef int use_header(self, unsigned char* head, Py_ssize_t nfields) except -1:
        cdef unsigned char* p = head + 5
        cdef Py_ssize_t i, nbytes
        names = []
        for i in range(nfields):
            nbytes = 5 + load_i32(p + 1)
            names.append(p[:nbytes])
            p += nbytes
        if len(set(names)) < nfields:
            self.refuse("the header has a name twice")
        else:
            self.names = names
        return 0

    cdef inline int append_head(self, int code, Py_ssize_t count) except -1:
        reserve(&self.out, 5)
        self.out.cursor[0] = <unsigned char>code
        store_i32(self.out.cursor + 1, <int32_t>count)
        self.out.cursor += 5
        return 0

    cdef inline Py_ssize_t open_field(self, Py_ssize_t number) except -1:
        # Returns where it starts.
        if self.names is not None and number < len(self.names):
            name = <bytes>self.names[number]
            append_bytes_of(&self.out, name, len(name))
        self.append_head(STRING, 0)
        return written(&self.out)

    cdef inline int close_field(self, Py_ssize_t start) except -1:
        check_length(written(&self.out) - start)
        store_i32(self.out.start + start - 4, <int32_t>(written(&self.out) - start))
        return 0

    cdef RowOutcome refuse_csv(self, const unsigned char* start, const unsigned char* end) except *:
        # In the words of the csv module.
        import csv    # lazy import: start-up time
        text = start[:end - start].decode()
        if self.is_first:
            text = text.removeprefix("\ufeff")
        csv.field_size_limit(INT32_MAX)
        try:
            list(csv.reader(split_after_lf(text), delimiter=self.separator.decode(), strict=True))
        except csv.Error as error:
            message = str(error).partition(" - ")[0]    # what follows is advice to callers of open()
        else:
            message = "not a row"
        return self.refuse(message)


cdef inline bint is_at(const unsigned char* p, const unsigned char* end, const unsigned char* wanted,
                       Py_ssize_t nbytes) noexcept:
    return nbytes == 1 or end - p >= nbytes and memcmp(p, wanted, nbytes) == 0


cdef inline int check_length(Py_ssize_t length) except -1:
    if length > INT32_MAX:
        raise LimitError(f"{length} bytes or fields do not fit a value, which has at most {INT32_MAX}")
    return 0


cdef list split_after_lf(str text):
    lines = []
    first = 0
    while first < len(text):
        end = text.find("\n", first) + 1 or len(text)
        lines.append(text[first:end])
        first = end
    return lines
