# The parts of encoded records at given paths, cut out, or as the sort keys of the records that they are in.
#
# Here: the walk along a path, and sort keys, which are those of typedbytes.sortkey. Not here: how paths are written,
# files. Invariant: a record is passed over with `skip_value` before anything in it is looked at.

from libc.math cimport floor
from libc.string cimport memset

from typedbytes._core cimport start_scratch
from typedbytes.core.byteorder cimport is_ascii, store_i32, store_i64
from typedbytes.core.scalars cimport FIXED_NBYTES, scalar_nbytes
from typedbytes.core.sort_key cimport (
    KEY_BINARY, KEY_END, KEY_FLOATING, KEY_INTEGER, KEY_NONE_FIRST, KEY_NUMBER_NBYTES, KEY_TEXT, KEY_TUPLE,
    LONG_PAYLOAD, double_below, store_key_bytes, store_key_number,
)

from typedbytes.errors import DecodeError, EncodeError, LimitError

cdef enum:
    KEY_SCRATCH = 256

cdef struct Number:           # in a sort key
    double below
    int above
    unsigned char kind


cdef class Step:
    # From a value into it: by an index, or by the key of a MAP.
    cdef object key           # an int, which is an index too, or a str
    cdef bytes text           # the STRING of a key that is a str; None: no STRING holds it
    cdef int64_t number

    def __cinit__(self, key):
        self.key = key
        if isinstance(key, int):
            self.number = key
            return
        try:
            self.text = key.encode("utf-8", "surrogateescape")
            if self.text.decode("utf-8", "surrogateescape") != key:
                self.text = None
        except UnicodeEncodeError:
            pass


cdef class Path:
    cdef bint is_key          # the path is in the key of a pair
    cdef tuple steps

    def __cinit__(self, is_key, steps):
        found = []
        for step in steps:
            found.append(Step(step))
        self.is_key, self.steps = is_key, tuple(found)


cdef inline int checked_nparts(int nparts) except -1:
    if not 1 <= nparts <= 2:
        raise ValueError(f"nparts must be 1 or 2, not {nparts}")
    return nparts


cdef class Fields:
    "Fields(paths, *, nkeys=0, null=None, dialect='hadoop')\n--\n\n" \
        """Find the values at paths in records.

    paths: (whether it is in the key of a pair, steps) of each; a step is an index or a key of a MAP. Of equal keys of
    a MAP the last one counts. nkeys: of the first so many paths cut() makes values of their own. null: what is written
    for a value that a record lacks; None: that is a fault.

    >>> Fields([(False, [0])]).cut(b"\\x08\\x00\\x00\\x00\\x01\\x02\\x01", 1)
    (b'\\x02\\x01', None)
    >>> Fields([(False, [1])]).cut(b"\\x08\\x00\\x00\\x00\\x01\\x02\\x01", 1)
    (b'', (0, 0, 0))
    """

    cdef tuple paths
    cdef Py_ssize_t nkeys
    cdef bytes null
    cdef Decoding d
    cdef Skipping skipping
    cdef Skipping inner       # skips values inside a record
    cdef object decoder       # decodes keys of MAPs that only Python can compare
    cdef WriteBuffer out
    cdef WriteBuffer order    # the part of a sort key that sorts
    cdef WriteBuffer kinds    # a byte for each number in it

    def __cinit__(self, paths, *, nkeys=0, null=None, dialect="hadoop"):
        found = []
        for is_key, steps in paths:
            found.append(Path(is_key, steps))
        self.paths, self.nkeys, self.null = tuple(found), nkeys, null
        self.d = (<DecodeOptions>DecodeOptions(dialect=dialect)).template
        start_skipping(&self.skipping, &self.d)
        start_skipping(&self.inner, &self.d)
        self.dialect_decoder(dialect)

    cdef int dialect_decoder(self, dialect) except -1:
        from typedbytes._core import Decoder    # lazy import: the class is made with this module
        self.decoder = Decoder(dialect=dialect, unicode_errors="surrogateescape")
        return 0

    def __dealloc__(self):
        stop_skipping(&self.skipping)
        stop_skipping(&self.inner)
        drop(&self.out)
        drop(&self.order)
        drop(&self.kinds)

    def cut(self, data, int nparts):
        """Return the values of whole records, several as a VECTOR, and the fault that ended this, or None.

        A fault is the offset of a record, its number and that of the path at which it has nothing.
        """
        return self.process_each(data, nparts, None)

    def with_sort_keys(self, data, int nparts, other):
        """Return each record as a pair of its sort key and its BYTES, and the fault that ended this, or None.

        other: makes a sort key of the encoded value of a field, where it has one that is not known here. What it raises
        is in the fault, in the place of the path.
        """
        return self.process_each(data, nparts, other)

    cdef tuple process_each(self, data, int nparts, other):
        cdef Py_buffer view
        cdef const unsigned char* ends[3]
        cdef SkipOutcome outcome
        cdef Py_ssize_t nscalar, missing = -1
        cdef int i
        fault = None
        checked_nparts(nparts)
        contiguous = get_view(data, &view)
        try:
            start_records(&self.d, &self.skipping, &view)
            start_owned(&self.out, view.len + 64)
            while held(&self.d.buf) and fault is None:
                ends[0] = self.d.buf.cursor
                for i in range(nparts):
                    nscalar = scalar_nbytes(self.d.buf.cursor, held(&self.d.buf))
                    self.d.buf.cursor += nscalar
                    outcome = SKIPPED if nscalar else skip_value(&self.skipping, &self.d.buf)
                    if outcome != SKIPPED:
                        raise_skipped(&self.d, &self.skipping, outcome)
                    ends[i + 1] = self.d.buf.cursor
                if other is None:
                    missing = self.append_fields(ends, nparts, self.nkeys)
                else:
                    try:
                        missing = self.append_with_key(ends, nparts, other)
                    except (DecodeError, EncodeError) as error:
                        fault = ends[0] - self.d.buf.start, self.d.record_index, error
                if missing >= 0:
                    fault = ends[0] - self.d.buf.start, self.d.record_index, missing
                self.d.record_index += 1
                if not self.d.record_index & SIGNAL_MASK:
                    PyErr_CheckSignals()
            return finish(&self.out), fault
        finally:
            drop(&self.out)
            self.out.owner = NULL
            PyBuffer_Release(&view)

    cdef Py_ssize_t append_fields(self, const unsigned char** ends, int nparts, Py_ssize_t nkeys) except -2:
        # Returns the number of a path at which there is nothing, and has written nothing then; -1: there is none.
        cdef Py_ssize_t before = written(&self.out), npaths = len(self.paths), i
        cdef const unsigned char* p
        cdef const unsigned char* end
        for i in range(npaths):
            if i == nkeys and npaths - nkeys > 1:
                reserve(&self.out, 5)
                self.out.cursor[0] = VECTOR
                store_i32(self.out.cursor + 1, <int32_t>(npaths - nkeys))
                self.out.cursor += 5
            p = self.field(i, ends, nparts, &end)
            if p == NULL:
                self.out.cursor = self.out.start + before
                return i
            reserve(&self.out, end - p)
            copy_short(self.out.cursor, p, end - p)
            self.out.cursor += end - p
        return -1

    cdef const unsigned char* field(self, Py_ssize_t number, const unsigned char** ends, int nparts,
                                    const unsigned char** end) except? NULL:
        # Where the value at the path of this number starts and ends, or what is written for one that is not there.
        cdef const unsigned char* p = self.find(<Path>self.paths[number], ends, nparts, end)
        if p == NULL and self.null is not None:
            p = self.null
            end[0] = p + len(self.null)
        return p

    cdef const unsigned char* find(self, Path path, const unsigned char** ends, int nparts,
                                   const unsigned char** end) except? NULL:
        # Where the value at a path starts and ends; NULL without an exception: there is none.
        cdef int part = nparts - 1 if not path.is_key else 0
        cdef const unsigned char* p = ends[part]
        end[0] = ends[part + 1]
        for step in path.steps:
            p = self.item(p, end, <Step>step) if p[0] == VECTOR or p[0] == LIST else \
                self.mapped(p, end, <Step>step) if p[0] == MAP else NULL
            if p == NULL:
                return NULL
        return p

    cdef const unsigned char* item(self, const unsigned char* p, const unsigned char** end, Step step) except? NULL:
        cdef int64_t nitems = 0, index = step.number, i
        cdef const unsigned char* first = p + 5
        if not isinstance(step.key, int):
            return NULL
        if p[0] == VECTOR:
            nitems = load_i32(p + 1)
        else:
            p = first = p + 1
            while p[0] != MARKER and (nitems <= index or index < 0):
                p = end_of_value(&self.inner, p, end[0])
                nitems += 1
        if index < 0:
            index += nitems
        if not 0 <= index < nitems:
            return NULL
        p = first
        for i in range(index):
            p = end_of_value(&self.inner, p, end[0])
        end[0] = end_of_value(&self.inner, p, end[0])
        return p

    cdef const unsigned char* mapped(self, const unsigned char* p, const unsigned char** end, Step step) except? NULL:
        cdef Py_ssize_t npairs = load_i32(p + 1), i
        cdef const unsigned char* key = p + 5
        cdef const unsigned char* found = NULL
        cdef const unsigned char* found_end = NULL
        cdef const unsigned char* value
        for i in range(npairs):
            value = end_of_value(&self.inner, key, end[0])
            p = end_of_value(&self.inner, value, end[0])
            if self.is_key(key, value - key, step):
                found, found_end = value, p
            key = p
        end[0] = found_end
        return found

    cdef bint is_key(self, const unsigned char* p, Py_ssize_t nbytes, Step step) except -1:
        # Whether decoding gives this key.
        if p[0] == STRING:
            return step.text is not None and nbytes - 5 == len(step.text) \
                and memcmp(p + 5, <const unsigned char*>step.text, nbytes - 5) == 0
        if p[0] == PICKLE:
            try:
                return self.decoder.decode(p[:nbytes]) in {step.key}
            except (DecodeError, TypeError):    # TypeError: what decoding refuses as a key
                return False
        if not isinstance(step.key, int):
            return False
        if p[0] == DOUBLE:
            return load_f64(p + 1) == <double>step.number
        if p[0] == FLOAT:
            return load_f32(p + 1) == <double>step.number
        return is_integer(p[0], self.d.hive) and integer_at(p) == step.number

    # Sort keys.

    cdef Py_ssize_t append_with_key(self, const unsigned char** ends, int nparts, other) except -2:
        cdef Py_ssize_t nbytes = ends[nparts] - ends[0], start = written(&self.out), missing
        cdef const unsigned char* p
        cdef const unsigned char* end
        if len(self.paths) == 1:
            p = self.field(0, ends, nparts, &end)
            if p == NULL:
                return 0
        else:
            missing = self.append_fields(ends, nparts, 0)
            if missing >= 0:
                return missing
            p, end = self.out.start + start, self.out.cursor
        if nbytes > INT32_MAX:
            raise LimitError(f"a record of {nbytes} bytes is too large to be sorted by a value in it")
        if BYTE <= p[0] <= DOUBLE:
            self.append_key_of_number(p)
        else:
            self.append_key(p, end, start, other)
        reserve(&self.out, 5 + nbytes)
        self.out.cursor[0] = BYTES
        store_i32(self.out.cursor + 1, <int32_t>nbytes)
        copy_short(self.out.cursor + 5, ends[0], nbytes)
        self.out.cursor += 5 + nbytes
        return -1

    cdef int append_key_of_number(self, const unsigned char* p) except -1:
        # What `append_key` writes for a number, without memory of its own.
        cdef unsigned char key[2 * LONG_PAYLOAD]
        cdef Number number = number_at(p)
        memset(key, 0, sizeof(key))
        store_key_number(key, number.below, number.above, 0)
        key[KEY_NUMBER_NBYTES] = number.kind
        return append_longs(&self.out, key, 2)

    cdef int append_key(self, const unsigned char* p, const unsigned char* end, Py_ssize_t start, other) except -1:
        # start: where it is written, over what is there.
        cdef unsigned char order[KEY_SCRATCH]
        cdef unsigned char kinds[KEY_SCRATCH]
        cdef const unsigned char* cursor = p
        cdef Py_ssize_t nlongs
        start_scratch(&self.order, order, KEY_SCRATCH)
        start_scratch(&self.kinds, kinds, KEY_SCRATCH)
        try:
            if self.append_part(&cursor, end):
                append_bytes_of(&self.order, self.kinds.start, written(&self.kinds))
                nlongs = (written(&self.order) + LONG_PAYLOAD - 1) // LONG_PAYLOAD
                reserve(&self.order, LONG_PAYLOAD)
                memset(self.order.cursor, 0, LONG_PAYLOAD)
                self.out.cursor = self.out.start + start
                append_longs(&self.out, self.order.start, nlongs)
            else:
                field = p[:end - p]
                self.out.cursor = self.out.start + start
                append_other_longs(&self.out, other(field))
        finally:
            drop(&self.order)
            drop(&self.kinds)
            self.order.owner = self.kinds.owner = NULL
        return 0

    cdef bint append_part(self, const unsigned char** cursor, const unsigned char* end) except -1:
        # Write the part of a key for the value at the cursor; False: it is not known here.
        cdef const unsigned char* p = cursor[0]
        cdef int code = p[0]
        cdef Py_ssize_t i, nitems
        cursor[0] = end_of_value(&self.inner, p, end)
        if code == STRING:
            if is_utf8(p + 5, cursor[0] - p - 5):
                self.append_counted(KEY_TEXT, p + 5, cursor[0])
            else:
                # sorts as the str that surrogateescape makes of it; no other STRING is that
                text = p[5:cursor[0] - p].decode("utf-8", "surrogateescape").encode("utf-8", "surrogatepass")
                self.append_counted(KEY_TEXT, <bytes>text, <const unsigned char*><bytes>text + len(<bytes>text))
        elif code == BYTES:
            self.append_counted(KEY_BINARY, p + 5, cursor[0])
        elif BYTE <= code <= DOUBLE or code == SHORT and self.d.hive:
            self.append_number(number_at(p))
        elif code == VECTOR:
            nitems = load_i32(p + 1)
            cursor[0] = p + 5
            append_byte_of(&self.order, KEY_TUPLE)
            for i in range(nitems):
                if not self.append_part(cursor, end):
                    return False
            append_byte_of(&self.order, KEY_END)
        elif is_null(p, cursor[0] - p, self.d.hive):
            append_byte_of(&self.order, KEY_NONE_FIRST)
        else:
            return False
        return True

    cdef int append_number(self, Number number) except -1:
        reserve(&self.order, KEY_NUMBER_NBYTES)
        self.order.cursor = store_key_number(self.order.cursor, number.below, number.above, 0)
        return append_byte_of(&self.kinds, number.kind)

    cdef int append_counted(self, unsigned char tag, const unsigned char* p, const unsigned char* end) except -1:
        reserve(&self.order, 2 * (end - p) + 3)
        self.order.cursor = store_key_bytes(self.order.cursor, tag, p, end, 0)
        return 0


cdef inline const unsigned char* end_of_value(Skipping* skipping, const unsigned char* p,
                                             const unsigned char* end) except NULL:
    # Of a value that is known to be whole.
    cdef ReadBuffer look
    if p[0] == STRING or p[0] == BYTES:
        return p + 5 + load_i32(p + 1)
    if p[0] <= DOUBLE:
        return p + FIXED_NBYTES[p[0]]
    borrow(&look, p, end - p)
    skip_value(skipping, &look)
    return look.cursor


cdef inline bint is_null(const unsigned char* p, Py_ssize_t nbytes, bint hive) noexcept:
    # Whether a whole value is None.
    return p[0] == NULL_CODE and hive or p[0] == PICKLE and nbytes == PICKLED_NONE_NBYTES \
        and memcmp(p, PICKLED_NONE, PICKLED_NONE_NBYTES) == 0


cdef inline bint is_integer(int code, bint hive) noexcept:
    return BYTE <= code <= LONG or code == SHORT and hive


cdef inline int64_t integer_at(const unsigned char* p) noexcept:
    # Of what is_integer() says.
    cdef int code = p[0]
    return load_i32(p + 1) if code == INT else load_i64(p + 1) if code == LONG \
        else <signed char>p[1] if code == BYTE else load_i16(p + 1) if code == SHORT else p[1] != 0


cdef inline Number number_at(const unsigned char* p) noexcept:
    # Of an integer, a FLOAT or a DOUBLE. A whole number sorts as an int, as Python compares them.
    cdef int code = p[0]
    cdef int64_t integer
    cdef double real
    if code == DOUBLE or code == FLOAT:
        real = load_f64(p + 1) if code == DOUBLE else load_f32(p + 1)
        if real == floor(real) and -(2.0 ** 63) <= real < 2.0 ** 64:
            return Number(0.0 if real == 0 else real, 0, KEY_INTEGER)
        return Number(real, 0, KEY_FLOATING)
    integer = integer_at(p)
    real = double_below(integer)
    return Number(real, <int>(integer - <int64_t>real), KEY_INTEGER)


cdef bint is_utf8(const unsigned char* p, Py_ssize_t nbytes) noexcept:
    cdef const unsigned char* end = p + nbytes
    cdef uint32_t character
    cdef int width
    if is_ascii(p, nbytes):
        return True
    while p < end:
        width = plain_character(p, end, &character)
        if width == 0:
            return False
        p += width
    return True


cdef inline int append_byte_of(WriteBuffer* b, unsigned char byte) except -1:
    reserve(b, 1)
    b.cursor[0] = byte
    b.cursor += 1
    return 0


cdef inline int append_bytes_of(WriteBuffer* b, const unsigned char* p, Py_ssize_t nbytes) except -1:
    reserve(b, nbytes)
    memcpy(b.cursor, p, nbytes)
    b.cursor += nbytes
    return 0


cdef int append_longs(WriteBuffer* b, const unsigned char* p, Py_ssize_t nlongs) except -1:
    cdef Py_ssize_t i
    reserve(b, 9 * nlongs + 2)
    b.cursor[0] = LIST
    b.cursor += 1
    for i in range(nlongs):
        b.cursor[0] = LONG
        b.cursor[1] = 1
        memcpy(b.cursor + 2, p + LONG_PAYLOAD * i, LONG_PAYLOAD)
        b.cursor += 9
    b.cursor[0] = MARKER
    b.cursor += 1
    return 0


cdef int append_other_longs(WriteBuffer* b, list longs) except -1:
    reserve(b, 9 * len(longs) + 2)
    b.cursor[0] = LIST
    b.cursor += 1
    for number in longs:
        b.cursor[0] = LONG
        store_i64(b.cursor + 1, number)
        b.cursor += 9
    b.cursor[0] = MARKER
    b.cursor += 1
    return 0


cdef class WithoutSortKeys:
    """WithoutSortKeys()\n--\n\nTake the records out of the pairs that Fields.with_sort_keys() makes.

    >>> records = WithoutSortKeys()
    >>> records.take(b"\\x09\\xff\\x00\\x00"), records.take(b"\\x00\\x00\\x02\\x02\\x01")
    (b'', b'\\x02\\x01')
    """

    cdef Py_ssize_t nleft     # of the record that has begun
    cdef bytes rest           # less than a LONG, or than the head of a record

    def __cinit__(self):
        self.rest = b""

    def take(self, bytes data not None):
        """Return what a piece of the pairs has of the records."""
        cdef WriteBuffer out
        cdef const unsigned char* p
        cdef const unsigned char* end
        cdef Py_ssize_t n
        if self.rest:
            data = self.rest + data
        p = data
        end = p + len(data)
        start_owned(&out, len(data) + 1)
        try:
            while p < end:
                if self.nleft:
                    n = min(self.nleft, end - p)
                    copy_short(out.cursor, p, n)
                    out.cursor += n
                    p += n
                    self.nleft -= n
                elif p[0] == LONG and end - p >= 9:
                    p += 9
                elif p[0] == BYTES and end - p >= 5:
                    self.nleft = load_i32(p + 1)
                    p += 5
                elif p[0] == LIST or p[0] == MARKER:
                    p += 1
                else:
                    break
            self.rest = p[:end - p]
            return finish(&out)
        finally:
            drop(&out)
