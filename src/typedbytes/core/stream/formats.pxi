# The two formats of Hadoop Streaming that are not typed bytes, read as pairs: lines of text, and raw bytes.
#
# wire    text: a line, ended by LF. If a separator is set, the key ends at its nth occurrence, or at the last if
#         there are fewer; if none is set, the line is the value. raw bytes: i32 length of the key, the key, i32
#         length of the value, the value.
# python  text: two str, bytes that are not UTF-8 as lone surrogates; a line without a separator in it is a key with "",
#         and where none is given the key is the number of the line, from 0. raw=True and raw bytes: bytes as they are.
# errors  text: none, the last line may lack its LF. raw bytes: TruncatedError where the input ends,
#         FormatError at a negative length.

from typedbytes.core.refs cimport text_object

cdef class FormatReader(PairRecords):
    """Read pairs from a source, of any kind that a Reader reads; the base of both formats. raw: as bytes."""

    cdef ReadBuffer buf
    cdef Source source
    cdef long long nrecords
    cdef bint raw

    def __init__(self, source, *, bint raw=False, Py_ssize_t buffer_size=READ_SIZE):
        if self.source is not None:
            raise RuntimeError(f"a {type(self).__name__} cannot be initialised again")
        filler = open_source(io.BytesIO(source) if has_buffer(source) else source, True)
        start_filled(&self.buf, max(buffer_size, 64), fill_from, <void*>filler)
        self.buf.read_ahead = True
        self.source = filler
        self.raw = raw

    def __dealloc__(self):
        release(&self.buf)

    cdef bint start_record(self) except -1:
        # False: the end of the input.
        if not self.nrecords & SIGNAL_MASK:
            PyErr_CheckSignals()
        return held(&self.buf) > 0 or refill(&self.buf, 1) > 0

    cdef inline void end_record(self, Py_ssize_t nbytes) noexcept:
        self.buf.cursor += nbytes
        self.nrecords += 1
        if self.buf.capacity > self.buf.usual_capacity:
            shrink(&self.buf)

    def groups(self):
        """Iterate over runs of adjacent pairs with the same key, as (key, values)."""
        return RecordGroups(self)

    @property
    def record(self):
        """The number of pairs read."""
        return self.nrecords

    @property
    def offset(self):
        """The number of bytes of the pairs read."""
        return offset_of(&self.buf, self.buf.cursor)


cdef inline void set_key_and_value(PyObject** key, PyObject** value, object key_made, object value_made) noexcept:
    incref(<PyObject*>key_made)
    incref(<PyObject*>value_made)
    key[0], value[0] = <PyObject*>key_made, <PyObject*>value_made


cdef class TextReader(FormatReader):
    """Read lines as pairs; nfields: of the key, separated as key and value are."""

    cdef bytes separator
    cdef Py_ssize_t nfields

    def __init__(self, source, separator=None, Py_ssize_t nfields=1, **options):
        if separator == b"":
            raise ValueError("the separator must have at least one byte")
        FormatReader.__init__(self, source, **options)
        self.separator = separator
        self.nfields = nfields

    cdef bint take_pair(self, PyObject** key, PyObject** value) except -1:
        cdef Py_ssize_t nbytes
        if not self.start_record():
            return False
        nbytes = self.find_line()
        if self.separator is None:
            set_key_and_value(key, value, self.nrecords, self.item(self.buf.cursor, nbytes))
        else:
            self.split(nbytes, key, value)
        self.end_record(min(nbytes + 1, held(&self.buf)))
        return True

    cdef Py_ssize_t find_line(self) except -1:
        # The size of the line at the cursor, without its LF.
        cdef ReadBuffer* buf = &self.buf
        cdef Py_ssize_t nseen = 0
        cdef const unsigned char* line_feed
        while True:
            line_feed = <const unsigned char*>memchr(buf.cursor + nseen, c"\n", held(buf) - nseen)
            if line_feed != NULL:
                return line_feed - buf.cursor
            nseen = held(buf)
            if not refill(buf, nseen + 1):
                return nseen

    cdef int split(self, Py_ssize_t nbytes, PyObject** key, PyObject** value) except -1:
        cdef const unsigned char* line = self.buf.cursor
        cdef const unsigned char* end = line + nbytes
        cdef const unsigned char* rest = line
        cdef const unsigned char* wanted = <const unsigned char*>PyBytes_AS_STRING(self.separator)
        cdef const unsigned char* found
        cdef Py_ssize_t nseparator = PyBytes_GET_SIZE(self.separator)
        cdef Py_ssize_t nfound = 0
        while nfound != self.nfields:
            found = find_bytes(rest, end, wanted, nseparator)
            if found == NULL:
                break
            rest = found + nseparator
            nfound += 1
        if nfound == 0:
            set_key_and_value(key, value, self.item(line, nbytes), self.item(end, 0))
        else:
            set_key_and_value(key, value, self.item(line, rest - nseparator - line), self.item(rest, end - rest))
        return 0

    cdef inline object item(self, const unsigned char* p, Py_ssize_t nbytes):
        if self.raw:
            return PyBytes_FromStringAndSize(<const char*>p, nbytes)
        return text_object(<const char*>p, nbytes, "surrogateescape")


cdef class RawBytesReader(FormatReader):
    """Read pairs of bytes."""

    cdef bint take_pair(self, PyObject** key, PyObject** value) except -1:
        cdef ReadBuffer* buf = &self.buf
        cdef Py_ssize_t nkey, nvalue
        if not self.start_record():
            return False
        nkey = self.find_item(0)
        if held(buf) == 4 + nkey and not refill(buf, 4 + nkey + 1):
            self.raise_cut("input ended between key and value")
        nvalue = self.find_item(4 + nkey)
        set_key_and_value(key, value, PyBytes_FromStringAndSize(<const char*>buf.cursor + 4, nkey),
                          PyBytes_FromStringAndSize(<const char*>buf.cursor + 4 + nkey + 4, nvalue))
        self.end_record(4 + nkey + 4 + nvalue)
        return True

    cdef Py_ssize_t find_item(self, Py_ssize_t start) except -1:
        # The size of the item whose length is `start` bytes after the cursor; all of it is held then. Memory grows with
        # the bytes that have come, not with the declared length.
        cdef ReadBuffer* buf = &self.buf
        cdef Py_ssize_t nbytes
        if held(buf) < start + 4 and not refill(buf, start + 4):
            self.raise_cut("input ended inside a length")
        nbytes = load_i32(buf.cursor + start)
        if nbytes < 0:
            raise FormatError(f"length {nbytes} is negative", offset_of(buf, buf.cursor + start), record=self.nrecords)
        start += 4
        while held(buf) - start < nbytes:
            if not refill(buf, held(buf) + min(nbytes - (held(buf) - start), READ_SIZE)):
                self.raise_cut(f"input ended inside an item of {nbytes} bytes")
        return nbytes

    cdef int raise_cut(self, str message) except -1:
        raise TruncatedError(message, offset_of(&self.buf, self.buf.end), record=self.nrecords)
