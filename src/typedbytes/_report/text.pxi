# Encoded records as lines of text: one a line, key, separator and value, or rows as Python's csv module writes them.
#
# Here: bytes to text. Not here: files, what a terminal is shown. Invariant: a record is passed over with `skip_value`
# before it is written; nothing is left of one that has no such form.

from libc.string cimport memchr, memmove

from cpython.mem cimport PyMem_Calloc
from typedbytes._core cimport find_bytes


cdef class TextLines:
    "TextLines(separator, *, pairs=False, rows=False, header=False, dialect='hadoop')\n--\n\n" \
        """Write records as lines of text.

    separator: bytes, of a row those of one character. rows: the items of a VECTOR or LIST, or a key and its value, are
    the fields of a row. header: each value is a MAP, with the keys of the first one.

    >>> TextLines(b",", rows=True).lines(b"\\x08\\x00\\x00\\x00\\x02\\x02\\x01\\x07\\x00\\x00\\x00\\x01,")
    (b'true,","\\n', None)
    """

    cdef Walk w
    cdef Decoding d
    cdef Skipping skipping
    cdef bytes separator
    cdef readonly bint pairs
    cdef bint rows, header
    cdef list columns         # the names in the header that has been written
    cdef dict numbers         # the numbers of the columns by their names
    cdef str fault            # what is wrong with the last record
    cdef readonly long long nrecords    # written by the last call
    cdef bint is_special[256]    # what may have a field be in quotes begins with this byte
    cdef Py_ssize_t nfields   # fields of the row that is being written
    cdef Py_ssize_t first_nbytes    # bytes of the first field of that row

    def __cinit__(self, bytes separator not None, *, bint pairs=False, bint rows=False, bint header=False,
                  dialect="hadoop"):
        self.d = (<DecodeOptions>DecodeOptions(dialect=dialect)).template
        self.w.hive, self.w.plain, self.w.work_count = self.d.hive, True, 0
        self.w.out.owner = NULL
        start_skipping(&self.skipping, &self.d)
        start_skipping(&self.w.skipping, &self.d)
        self.separator, self.pairs, self.rows, self.header = separator, pairs, rows, header
        memset(self.is_special, 0, sizeof(self.is_special))
        for byte in b'"\r\n' + separator[:1]:
            self.is_special[<unsigned char>byte] = True

    def __dealloc__(self):
        stop_skipping(&self.skipping)
        stop_skipping(&self.w.skipping)
        drop(&self.w.out)

    def lines(self, data, list ends=None):
        """Return the lines of whole records, and the fault that ended this, or None.

        ends: gets the offset in the text of the end of each line. A fault is the offset of a record, its number and
        why it has no line.
        """
        cdef Py_buffer view
        cdef const unsigned char* start
        cdef const unsigned char* value
        cdef Py_ssize_t mark
        cdef SkipOutcome outcome
        fault = self.fault = None
        contiguous = get_view(data, &view)
        try:
            start_records(&self.d, &self.skipping, &view)
            start_owned(&self.w.out, view.len + 64)
            while held(&self.d.buf):
                start = value = self.d.buf.cursor
                outcome = skip_value(&self.skipping, &self.d.buf)
                if outcome == SKIPPED and self.pairs:
                    value = self.d.buf.cursor
                    outcome = skip_value(&self.skipping, &self.d.buf)
                if outcome != SKIPPED:
                    raise_skipped(&self.d, &self.skipping, outcome)
                self.w.end = self.d.buf.cursor
                mark = written(&self.w.out)
                if self.header:
                    mark = self.append_named(start, mark, ends)
                elif self.rows:
                    self.append_row(start, mark)
                else:
                    self.append_line(start, value, mark)
                if self.fault is not None:
                    self.w.out.cursor = self.w.out.start + mark
                    fault = start - self.d.buf.start, self.d.record_index, self.fault
                    break
                append_byte(&self.w, c"\n")
                if ends is not None:
                    ends.append(written(&self.w.out))
                self.d.record_index += 1
            self.nrecords = self.d.record_index
            return finish(&self.w.out), fault
        finally:
            drop(&self.w.out)
            self.w.out.owner = NULL
            PyBuffer_Release(&view)

    cdef inline str text_from(self, Py_ssize_t start):
        return self.w.out.start[start:written(&self.w.out)].decode("utf-8", "surrogateescape")

    cdef const unsigned char* append_text_of(self, const unsigned char* p) except NULL:
        # A string or bytes as they are, of everything else the plain JSON, without its quotes.
        cdef Py_ssize_t before = written(&self.w.out), nbytes
        if p[0] == STRING or p[0] == BYTES or p[0] == BYTESTRING:
            nbytes = load_i32(p + 1)
            append_text(&self.w, <const char*>p + 5, nbytes)
            return p + 5 + nbytes
        p = append_value(&self.w, p)
        nbytes = written(&self.w.out) - before
        if self.w.out.start[before] == c'"':
            from json import loads    # lazy import: start-up time
            text = loads(self.text_from(before)).encode()
            self.w.out.cursor = self.w.out.start + before
            append_text(&self.w, text, len(text))
        elif self.rows and nbytes == 4 and memcmp(self.w.out.start + before, b"null", 4) == 0:
            self.w.out.cursor -= 4
        return p

    cdef int append_line(self, const unsigned char* key, const unsigned char* value, Py_ssize_t mark) except -1:
        cdef const unsigned char* found
        cdef Py_ssize_t nkey, nbytes = len(self.separator)
        if self.pairs:
            self.append_text_of(key)
            nkey = written(&self.w.out) - mark
            append_text(&self.w, self.separator, nbytes)
            found = find_bytes(self.w.out.start + mark, self.w.out.cursor, self.separator, nbytes)
            if found - self.w.out.start < mark + nkey:
                how = "ends with the beginning of" if found + nbytes > self.w.out.start + mark + nkey else "holds"
                self.w.out.cursor -= nbytes
                self.fault = (f"the key {short_repr(self.text_from(mark))} {how} the separator "
                              "(--csv or --tsv puts it in quotes)")
                return 0
        self.append_text_of(value)
        nbytes = written(&self.w.out) - mark
        if memchr(self.w.out.start + mark, c"\n", nbytes) != NULL \
                or memchr(self.w.out.start + mark, c"\r", nbytes) != NULL:
            self.fault = (f"a line end in {short_repr(self.text_from(mark))} "
                          "(--csv or --tsv puts it in quotes, and to-json escapes it)")
        return 0

    # Rows.

    cdef int append_row(self, const unsigned char* p, Py_ssize_t mark) except -1:
        cdef Py_ssize_t n = 1
        self.nfields = 0
        if self.pairs:
            n = 2
        elif p[0] == VECTOR:
            n = load_i32(p + 1)
            p += 5
        elif p[0] == LIST:
            p += 1
            while p[0] != MARKER:
                p = self.append_field(p)
            n = 0
        while n:
            p = self.append_field(p)
            n -= 1
        if self.nfields == 0:
            self.fault = "a row has no form without a field"
        return self.end_row(mark)

    cdef const unsigned char* append_field(self, const unsigned char* p) except NULL:
        cdef Py_ssize_t before
        if self.nfields:
            append_text(&self.w, self.separator, len(self.separator))
        before = written(&self.w.out)
        p = self.append_text_of(p)
        self.end_field(before)
        return p

    cdef int end_field(self, Py_ssize_t before) except -1:
        # In quotes, where it holds the separator, a quote or a line end; quotes in it are doubled.
        cdef unsigned char* p = self.w.out.start + before
        cdef unsigned char* end = self.w.out.cursor
        cdef Py_ssize_t nquotes = 0
        cdef bint is_quoted = False
        while p < end:
            if self.is_special[p[0]]:
                nquotes += p[0] == c'"'
                is_quoted = is_quoted or p[0] != <unsigned char>self.separator[0] \
                    or find_bytes(p, min(end, p + len(self.separator)), self.separator, len(self.separator)) != NULL
            p += 1
        if is_quoted:
            reserve(&self.w.out, nquotes + 2)
            p = self.w.out.cursor
            end = p + nquotes + 2
            self.w.out.cursor = end
            end -= 1
            end[0] = c'"'
            while p > self.w.out.start + before:
                p -= 1
                end -= 1
                end[0] = p[0]
                if p[0] == c'"':
                    end -= 1
                    end[0] = c'"'
            p[0] = c'"'
        self.nfields += 1
        if self.nfields == 1:
            self.first_nbytes = written(&self.w.out) - before
        return 0

    cdef int end_row(self, Py_ssize_t mark) except -1:
        # One empty field is in quotes, and what would be a byte order mark without them.
        cdef unsigned char* start
        if self.nfields == 1 and self.first_nbytes == 0:
            append_text(&self.w, b'""', 2)
        elif written(&self.w.out) - mark >= 3 and memcmp(self.w.out.start + mark, b"\xef\xbb\xbf", 3) == 0:
            reserve(&self.w.out, 2)
            start = self.w.out.start + mark
            memmove(start + self.first_nbytes + 2, start + self.first_nbytes,
                    self.w.out.cursor - start - self.first_nbytes)
            memmove(start + 1, start, self.first_nbytes)
            start[0] = start[self.first_nbytes + 1] = c'"'
            self.w.out.cursor += 2
        return 0

    # Rows of MAPs.

    cdef Py_ssize_t append_named(self, const unsigned char* p, Py_ssize_t mark, list ends) except -1:
        # Returns where the row starts: after the header, if that is written now.
        cdef Py_ssize_t npairs, i
        cdef const unsigned char** values
        if p[0] != MAP:
            self.fault = "expected a MAP, whose keys are the header (or leave out --header)"
            return mark
        npairs = load_i32(p + 1)
        if self.columns is None:
            mark = self.append_header(p, mark, ends)
        if npairs != len(self.columns) or npairs == 0:
            return self.refuse_keys(p, mark)
        values = <const unsigned char**>PyMem_Calloc(npairs, sizeof(unsigned char*))
        if values == NULL:
            raise MemoryError
        try:
            self.find_values(p, values, npairs, mark)
            if self.fault is None:
                self.nfields = 0
                for i in range(npairs):
                    self.append_field(values[i])
                self.end_row(mark)
        finally:
            PyMem_Free(values)
        return mark

    cdef int find_values(self, const unsigned char* p, const unsigned char** values, Py_ssize_t npairs,
                         Py_ssize_t mark) except -1:
        cdef const unsigned char* entry = p + 5
        cdef Py_ssize_t i, j, nbytes
        cdef const char* text
        for i in range(npairs):
            if entry[0] == STRING:
                text, nbytes = <const char*>entry + 5, load_i32(entry + 1)
                entry += 5 + nbytes
            else:
                entry = self.append_text_of(entry)
                text, nbytes = <const char*>self.w.out.start + mark, written(&self.w.out) - mark
                self.w.out.cursor -= nbytes
            name = <bytes>self.columns[i]
            j = i
            if nbytes != len(<bytes>name) or memcmp(text, <const char*><bytes>name, nbytes) != 0:
                j = self.numbers.get(text[:nbytes], -1)
            if j < 0 or values[j] != NULL:
                return self.refuse_keys(p, mark)
            values[j] = entry
            entry = end_of_value(&self.w.skipping, entry, self.w.end)
        return 0

    cdef list keys_of(self, const unsigned char* p, Py_ssize_t mark):
        # The texts of the keys of a MAP.
        cdef Py_ssize_t npairs = load_i32(p + 1), i
        keys = []
        p += 5
        for i in range(npairs):
            p = end_of_value(&self.w.skipping, self.append_text_of(p), self.w.end)
            keys.append(self.w.out.start[mark:written(&self.w.out)])
            self.w.out.cursor = self.w.out.start + mark
        return keys

    cdef Py_ssize_t append_header(self, const unsigned char* p, Py_ssize_t mark, list ends) except -1:
        cdef Py_ssize_t before
        self.columns = list(dict.fromkeys(self.keys_of(p, mark)))
        self.numbers = {}
        self.nfields = 0
        for name in self.columns:
            self.numbers[name] = len(self.numbers)
            if self.nfields:
                append_text(&self.w, self.separator, len(self.separator))
            before = written(&self.w.out)
            append_text(&self.w, <bytes>name, len(<bytes>name))
            self.end_field(before)
        if self.columns:
            self.end_row(mark)
            append_byte(&self.w, c"\n")
            if ends is not None:
                ends.append(written(&self.w.out))
        return written(&self.w.out)

    cdef Py_ssize_t refuse_keys(self, const unsigned char* p, Py_ssize_t mark) except -1:
        expected = b", ".join(self.columns).decode("utf-8", "surrogateescape")
        found = b", ".join(self.keys_of(p, mark)).decode("utf-8", "surrogateescape")
        self.fault = f"expected the keys {short_repr(expected)} once each, not {short_repr(found)}"
        return mark


cdef str short_repr(str text):
    return repr(text if len(text) <= 40 else text[:40] + "…")
