# Statistics of many records: number, size and range by type, and the partitions of their keys in Hadoop.
#
# Here: counting over encoded bytes. Not here: Python values, files, how statistics are formatted.
# Invariants: bytes are passed over with `skip_value` before they are visited, so that visiting them needs no checks; a
# value is visited in pieces as they come, so that none is held.

from libc.math cimport isnan
from libc.stdint cimport INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from cpython.buffer cimport PyBuffer_Release
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject

from typedbytes._core cimport (
    borrow, check_limit_of_skipping, DecodeOptions, Decoding, get_view, held, NEEDS_MORE, offset_of, raise_skipped,
    ReadBuffer, SIGNAL_MASK, skip_value, SkipOutcome, SKIPPED, Skipping, start_skipping, stop_skipping,
)
from typedbytes.core.byteorder cimport load_f32, load_f64, load_i16, load_i32, load_i64
from typedbytes.core.java_hash cimport hash_after, partition_of, partition_of_hash
from typedbytes.core.typecode cimport *

cdef enum:
    MAX_PARTITIONS = 65536
    MAX_FIELDS = 64           # fields of a VECTOR or a MAP that have paths of their own
    MAX_NAME_NBYTES = 4096    # bytes of the key of such a field
    MAX_OPEN = 256            # containers: max_depth
    ITEMS = -1                # all items of a LIST, or of a VECTOR with more than MAX_FIELDS
    KEYS = -2                 # keys of a MAP that are not names of fields
    VALUES = -3               # values of a MAP whose keys are not names of fields
    MAX_HEAD_NBYTES = 5       # bytes of a type code and a length or count: the start of a value that comes in pieces

cdef struct TypeStatistics:
    int64_t n
    int64_t nbytes            # encoded
    int64_t least             # the smallest whole number; of other types the smallest number of bytes or items
    int64_t most
    double smallest           # the smallest floating-point number, except NaN
    double largest
    double real_total         # the sum of those numbers
    uint64_t total_low        # the sum of the values of which least and most are the extremes, in 128 bits
    int64_t total_high


cdef inline void start_records(Decoding* d, Skipping* s, const Py_buffer* view) noexcept:
    # Of a chunk of whole records. An error in an earlier one may have left a record half skipped.
    s.depth = s.tail = 0
    d.record_index = 0
    borrow(&d.buf, <const unsigned char*>view.buf, view.len)


cdef class Walker:
    """Walk over records and count them: the base of RecordStatistics and Schema.

    >>> walker = Walker()
    >>> walker.write(b"\\x02\\x01\\x02\\x00"); walker.nrecords
    2
    """

    cdef Skipping skipping
    cdef Decoding d
    cdef int nparts
    cdef int part             # the value of the record that is next, or has begun
    cdef bint is_inside       # the value `part` has begun
    cdef bint is_whole        # the input is all there: a record that it cuts is not visited
    cdef long long offset     # in what `read` reads
    cdef long long before     # records counted before that
    cdef Py_ssize_t wanted    # bytes to go on with
    cdef readonly long long nrecords

    def __cinit__(self, *args, bint pairs=False, dialect="hadoop", max_bytes=None, **options):
        self.d = (<DecodeOptions>DecodeOptions(dialect=dialect, max_depth=MAX_OPEN, max_bytes=max_bytes)).template
        self.nparts = 2 if pairs else 1
        start_skipping(&self.skipping, &self.d)

    def __dealloc__(self):
        stop_skipping(&self.skipping)

    cdef int visit(self, int part, const unsigned char* p, Py_ssize_t nbytes, bint is_last) except -1:
        # Called for each piece of a value of a record; the first holds the head of the value.
        return 0

    cdef int restart(self) except -1:
        # Forget a record that has begun.
        self.skipping.depth = self.skipping.tail = 0
        self.part = self.is_inside = False
        return 0

    cdef int walk(self) except -1:
        # Visit what is held, up to the head of a value that is not there as a whole.
        cdef ReadBuffer* buf = &self.d.buf
        cdef const unsigned char* start
        cdef SkipOutcome outcome
        while held(buf):
            start = buf.cursor
            if not self.part and not self.is_inside:
                self.d.record_offset = offset_of(buf, start)
            outcome = skip_value(&self.skipping, buf)
            if self.d.max_bytes:
                self.d.record_index = self.nrecords - self.before
                check_limit_of_skipping(&self.d, &self.skipping, outcome)    # whatever else is in this piece
            if outcome != SKIPPED and (outcome != NEEDS_MORE or self.is_whole):
                self.raise_outcome(outcome)
            if buf.cursor > start:
                self.visit(self.part, start, buf.cursor - start, outcome == SKIPPED)
                self.is_inside = True
            if outcome == NEEDS_MORE:
                return 0
            self.is_inside = False
            self.part += 1
            if self.part == self.nparts:
                self.part = 0
                self.nrecords += 1
                if not self.nrecords & SIGNAL_MASK:
                    PyErr_CheckSignals()
        return 0

    cdef int raise_outcome(self, SkipOutcome outcome) except -1:
        self.d.record_index = self.nrecords - self.before
        raise_skipped(&self.d, &self.skipping, outcome)

    cdef int check_end(self) except -1:
        # At the end of input.
        if self.part or self.is_inside or held(&self.d.buf):
            self.raise_outcome(skip_value(&self.skipping, &self.d.buf))    # says inside which value
        return 0

    def write(self, data):
        """Count the whole records of a bytes-like object; raises as skipping does."""
        cdef Py_buffer view
        contiguous = get_view(data, &view)
        try:
            self.restart()
            self.is_whole = True
            self.before = self.nrecords
            borrow(&self.d.buf, <const unsigned char*>view.buf, view.len)
            self.walk()
            self.check_end()
        finally:
            PyBuffer_Release(&view)

    def read(self, reader):
        """Count the records that a Reader has left, large ones in pieces. Raises as skipping does.

        >>> import typedbytes
        >>> walker = Walker()
        >>> walker.read(typedbytes.Reader(b"\\x02\\x01\\x02\\x00")); walker.nrecords
        2
        """
        self.restart()
        self.is_whole = False
        self.before = self.nrecords - <long long>reader.record
        self.offset = reader.offset
        self.wanted = 1
        while reader.__use_encoded__(self.__use_piece__, self.wanted):
            PyErr_CheckSignals()
        borrow(&self.d.buf, NULL, 0)
        self.d.buf.start_offset = self.offset
        self.check_end()

    def __use_piece__(self, data):
        """Count what is in a piece of the input; return the bytes and the records that were used."""
        cdef Py_buffer view
        cdef Py_ssize_t nbytes
        cdef long long before = self.nrecords
        contiguous = get_view(data, &view)
        try:
            borrow(&self.d.buf, <const unsigned char*>view.buf, view.len)
            self.d.buf.start_offset = self.offset
            self.walk()
            if view.len < self.wanted:    # the last
                self.check_end()
            nbytes = self.d.buf.cursor - self.d.buf.start
            self.wanted = held(&self.d.buf) + 1
            self.offset += nbytes
            return nbytes, self.nrecords - before
        finally:
            PyBuffer_Release(&view)


cdef class RecordStatistics(Walker):
    "RecordStatistics(*, pairs=False, dialect='hadoop', max_bytes=None, npartitions=0, top=None)\n--\n\n" \
        """Count types, sizes and partitions of records.

    pairs: a record is a key and a value. dialect, max_bytes: as for a Reader. npartitions: of HashPartitioner, 0 to
    count none. top: a dict for the number of times that each encoded key (without pairs: value) occurs, or None.

    >>> statistics = RecordStatistics(pairs=True, npartitions=2)
    >>> statistics.write(b"\\x03\\x00\\x00\\x00\\x05\\x02\\x01")
    >>> statistics.by_type(0)
    {3: {'count': 1, 'bytes': 5, 'least': 5, 'most': 5, 'mean': 5.0}}
    >>> statistics.partitions
    [0, 1]
    """

    cdef TypeStatistics types[2][256]
    cdef dict top
    cdef list by_partition
    cdef uint32_t npartitions
    # The value that comes in pieces:
    cdef unsigned char head[MAX_HEAD_NBYTES]
    cdef Py_ssize_t nbytes    # bytes of the pieces so far; 0: the value has not begun
    cdef uint32_t hash
    cdef list pieces

    def __init__(self, *, pairs=False, dialect="hadoop", max_bytes=None, int npartitions=0, dict top=None):
        if not 0 <= npartitions <= MAX_PARTITIONS:
            raise ValueError(f"the number of partitions must be 0 to {MAX_PARTITIONS}, not {npartitions}")
        memset(self.types, 0, sizeof(self.types))
        self.npartitions = npartitions
        self.by_partition = [0] * npartitions
        self.top = top

    @property
    def partitions(self):
        """The number of records that each partition would get.

        >>> RecordStatistics(npartitions=2).partitions
        [0, 0]
        """
        return self.by_partition[:]

    cdef int restart(self) except -1:
        self.nbytes = 0
        return Walker.restart(self)

    cdef int visit(self, int part, const unsigned char* p, Py_ssize_t nbytes, bint is_last) except -1:
        if self.nbytes == 0 and is_last:
            add_value(&self.types[part][p[0]], p, nbytes)
            if part == 0 and self.npartitions:
                self.add_key_in(partition_of(p, nbytes, self.npartitions))
            if part == 0 and self.top is not None:
                self.add_key(p[:nbytes])
            return 0
        if self.nbytes == 0:
            memcpy(self.head, p, min(nbytes, MAX_HEAD_NBYTES))
            self.hash = 1
            self.pieces = []
        self.nbytes += nbytes
        if part == 0 and self.npartitions:
            self.hash = hash_after(self.hash, p, nbytes)
        if part == 0 and self.top is not None:
            self.pieces.append(p[:nbytes])
        if is_last:
            add_value(&self.types[part][self.head[0]], self.head, self.nbytes)
            self.nbytes = 0
            if part == 0 and self.npartitions:
                self.add_key_in(partition_of_hash(self.hash, self.npartitions))
            if part == 0 and self.top is not None:
                self.add_key(b"".join(self.pieces))
                self.pieces = None
        return 0

    cdef int add_key_in(self, uint32_t partition) except -1:
        self.by_partition[partition] += 1
        return 0

    cdef int add_key(self, bytes key) except -1:
        self.top[key] = self.top.get(key, 0) + 1
        return 0

    def by_type(self, int part):
        """Return statistics by type code of one part of the records: part 0 of pairs is the keys, part 1 the values.

        count, bytes; least, most and mean are of numbers, and for all other types of their numbers of bytes or items.

        >>> RecordStatistics().by_type(0)
        {}
        """
        if not 0 <= part < self.nparts:
            raise ValueError(f"part must be less than {self.nparts}, not {part}")
        return {code: as_dict(&self.types[part][code], code) for code in range(256) if self.types[part][code].n}


cdef void add_value(TypeStatistics* s, const unsigned char* p, Py_ssize_t nbytes) noexcept:
    cdef int code = p[0]
    cdef int64_t number
    cdef double point
    s.nbytes += nbytes
    s.n += 1
    if code == FLOAT or code == DOUBLE:
        point = load_f32(p + 1) if code == FLOAT else load_f64(p + 1)
        if isnan(point):
            return
        s.least += 1    # the number of values that are not NaN
        if s.least == 1 or point < s.smallest:
            s.smallest = point
        if s.least == 1 or point > s.largest:
            s.largest = point
        s.real_total += point
        return
    number = measure(p, nbytes)
    if s.n == 1 or number < s.least:
        s.least = number
    if s.n == 1 or number > s.most:
        s.most = number
    s.total_low += <uint64_t>number
    s.total_high += (s.total_low < <uint64_t>number) - (number < 0)


cdef int64_t measure(const unsigned char* p, Py_ssize_t nbytes) noexcept:
    cdef int code = p[0]
    if code == INT or code == VECTOR or code == MAP:
        return load_i32(p + 1)
    if code == LONG:
        return load_i64(p + 1)
    if code == BYTE:
        return <signed char>p[1]
    if code == BOOL:
        return p[1] != 0
    if code == LIST or nbytes == 1:
        return nbytes
    return load_i16(p + 1) if code == SHORT else load_i32(p + 1)


cdef dict as_dict(const TypeStatistics* s, int code):
    found = {"count": s.n, "bytes": s.nbytes}
    if code == FLOAT or code == DOUBLE:
        if s.least:
            found.update(least=s.smallest, most=s.largest, mean=s.real_total / s.least)
        return found
    total = <object>s.total_high * (<object>1 << 64) + s.total_low    # int / int is rounded once
    found.update(least=s.least, most=s.most, mean=total / <object>s.n)
    return found


cdef class Node:
    # The types found at one path inside the records.
    cdef long long counts[256]
    # Node by index + 1 (0 has the hash of b""), by a MAP's key (bytes), or by ITEMS, KEYS or VALUES
    cdef dict parts

    def __cinit__(self):
        memset(self.counts, 0, sizeof(self.counts))
        self.parts = {}

    cdef Node part(self, name):
        node = self.parts.get(name)
        if node is None:
            node = self.parts[name] = Node.__new__(Node)
        return node


cdef struct OpenContainer:
    PyObject* node            # borrowed: no node is dropped from the tree
    PyObject* value_node      # node of the value whose key was visited last, in a MAP
    int code
    int64_t left              # items still to come, in a MAP keys and values
    int64_t nitems
    int64_t index             # number of the next item


cdef class Schema(Walker):
    """Schema(*, pairs=False, dialect='hadoop', max_bytes=None)\n--\n\nFind the types at each path inside records.

    >>> schema = Schema()
    >>> schema.write(b"\\x09\\x03\\x00\\x00\\x00\\x05\\x02\\x01\\xff")
    >>> schema.paths()
    [('value', {9: 1}), ('value[]', {2: 1, 3: 1})]
    """

    cdef Node first
    cdef Node second
    cdef long long work_count
    cdef OpenContainer containers[MAX_OPEN]
    cdef int depth
    cdef int64_t tail         # bytes still to come of a scalar
    cdef bint is_name         # the scalar is the key of a field
    cdef Py_ssize_t name_nbytes    # bytes of that key so far; -1: it is too long for a field
    cdef unsigned char name[MAX_NAME_NBYTES]

    def __cinit__(self, *args, **options):
        self.first, self.second = Node.__new__(Node), Node.__new__(Node)

    def __init__(self, *, pairs=False, dialect="hadoop", max_bytes=None):
        pass    # used by __cinit__; refuses other options

    cdef int restart(self) except -1:
        self.depth = self.tail = self.is_name = False
        return Walker.restart(self)

    cdef int visit(self, int part, const unsigned char* p, Py_ssize_t nbytes, bint is_last) except -1:
        cdef const unsigned char* end = p + nbytes
        cdef Py_ssize_t n
        while p < end:
            if not self.tail:
                p = self.visit_head(part, p)
            n = min(self.tail, end - p)
            if self.is_name and self.name_nbytes >= 0:
                memcpy(self.name + self.name_nbytes, p, n)
                self.name_nbytes += n
            self.tail -= n
            p += n
            if self.is_name and not self.tail:
                self.finish_name()
        return 0

    cdef const unsigned char* visit_head(self, int part, const unsigned char* p) except NULL:
        # Up to what has no items: the rest of a scalar is left in `tail`.
        cdef OpenContainer* parent = &self.containers[self.depth - 1] if self.depth else NULL
        cdef int code = p[0]
        cdef Node node
        if code == MARKER:
            self.depth -= 1
            self.finish_item()
            return p + 1
        if code == STRING and parent != NULL and parent.code == MAP and not parent.index & 1:
            self.is_name = True
            self.tail = load_i32(p + 1)
            self.name_nbytes = 0 if self.tail <= MAX_NAME_NBYTES else -1
            return p + 5
        node = (self.second if part else self.first) if parent == NULL else next_node(parent)
        node.counts[code] += 1
        self.work_count += 1
        if not self.work_count & SIGNAL_MASK:
            PyErr_CheckSignals()
        if code == VECTOR or code == MAP:
            self.open_container(node, code, load_i32(p + 1))
            return p + 5
        if code == LIST:
            self.open_container(node, code, INT64_MAX)
            return p + 1
        self.tail = scalar_size(p, self.d.hive)
        self.finish_item()
        return p

    cdef inline int open_container(self, Node node, int code, int64_t nitems) except -1:
        cdef OpenContainer* container = &self.containers[self.depth]
        container.node, container.code, container.nitems, container.index = <PyObject*>node, code, nitems, 0
        container.left = 2 * nitems if code == MAP else nitems
        if nitems:
            self.depth += 1
        else:
            self.finish_item()
        return 0

    cdef inline void finish_item(self) noexcept:
        # An item may be the last of its container, and that the last of its own.
        cdef OpenContainer* parent
        while self.depth:
            parent = &self.containers[self.depth - 1]
            parent.index += 1
            parent.left -= 1
            if parent.left:
                return
            self.depth -= 1

    cdef int finish_name(self) except -1:
        # A STRING key is part of the path of its value, up to MAX_FIELDS keys.
        cdef OpenContainer* parent = &self.containers[self.depth - 1]
        cdef Node node = <Node>parent.node
        self.is_name = False
        part = VALUES
        if self.name_nbytes >= 0:
            name = self.name[:self.name_nbytes]
            if name in node.parts or len(node.parts) < MAX_FIELDS:
                part = name
        value_node = node.part(part)
        parent.value_node = <PyObject*>value_node
        self.finish_item()
        return 0

    def paths(self):
        """Return (path, number of values by type code) for every path, a record's parts before those inside them."""
        found = []
        names = ("key", "value") if self.nparts == 2 else ("value",)
        for name, node in zip(names, (self.first, self.second)):
            add_paths(found, name, node)
        return found


cdef Py_ssize_t scalar_size(const unsigned char* p, bint hive) noexcept:
    # Of a value without items, whose head is there.
    cdef int code = p[0]
    if code == BYTE or code == BOOL:
        return 2
    if code == INT or code == FLOAT:
        return 5
    if code == LONG or code == DOUBLE:
        return 9
    if hive and code == SHORT:
        return 3
    if hive and (code == NULL_CODE or code == ENDOFRECORD):
        return 1
    return 5 + <Py_ssize_t>load_i32(p + 1)


cdef Node next_node(OpenContainer* parent):
    cdef Node node = <Node>parent.node
    if parent.code == VECTOR:
        return node.part(parent.index + 1 if parent.nitems <= MAX_FIELDS else ITEMS)
    if parent.code == LIST:
        return node.part(ITEMS)
    if parent.index & 1:
        return <Node>parent.value_node
    key_node, value_node = node.part(KEYS), node.part(VALUES)
    parent.value_node = <PyObject*>value_node
    return key_node


cdef int add_paths(list found, str path, Node node) except -1:
    counts = {code: node.counts[code] for code in range(256) if node.counts[code]}
    if counts:
        found.append((path, counts))
    for name, part in node.parts.items():
        add_paths(found, path + suffix(name), part)
    return 0


cdef str suffix(name):
    if type(name) is bytes:
        return f"[{name.decode('utf-8', 'surrogateescape')!r}]"
    if name == ITEMS:
        return "[]"
    if name == KEYS:
        return ".key()"
    return "[*]" if name == VALUES else f"[{name - 1}]"
