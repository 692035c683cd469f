# Statistics of many records: number, size and range by type, and the partitions of their keys in Hadoop.
#
# Here: counting over encoded bytes. Not here: Python values, files, how statistics are formatted.
# Invariant: a record is passed over with `skip_value` before it is read, so that reading it needs no checks.

from libc.math cimport isnan
from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memset
from cpython.buffer cimport PyBuffer_Release
from cpython.exc cimport PyErr_CheckSignals

from typedbytes._core cimport borrow, get_view, held
from typedbytes.core.byteorder cimport load_f32, load_f64, load_i16, load_i32, load_i64
from typedbytes._core cimport *
from typedbytes.core.java_hash cimport partition_of
from typedbytes.core.typecode cimport *

cdef enum:
    MAX_PARTITIONS = 65536
    MAX_FIELDS = 64           # of a VECTOR or a MAP that have paths of their own

cdef struct TypeStatistics:
    int64_t n
    int64_t nbytes            # encoded
    int64_t least             # of whole numbers; of other types the number of bytes or items
    int64_t most
    double smallest           # of floating-point numbers except NaN
    double largest
    double total              # of the values that least and most, or smallest and largest, are of


cdef class Walker:
    """Walk over chunks of whole records and count them: the base of RecordStatistics and Schema.

    >>> walker = Walker()
    >>> walker.write(b"\\x02\\x01\\x02\\x00"); walker.nrecords
    2
    """

    cdef Skipping skipping
    cdef Decoding d
    cdef int nparts
    cdef readonly long long nrecords

    def __cinit__(self, *, bint pairs=False, dialect="hadoop", **options):
        self.d = (<DecodeOptions>DecodeOptions(dialect=dialect)).template
        self.nparts = 2 if pairs else 1
        start_skipping(&self.skipping, &self.d)

    def __dealloc__(self):
        stop_skipping(&self.skipping)

    cdef int visit(self, int part, const unsigned char* p, Py_ssize_t nbytes) except -1:
        # Called for each value of a record.
        return 0

    def write(self, data):
        """Count the whole records of a bytes-like object, such as a Writer passes to its sink; raises as skipping does."""
        cdef Py_buffer view
        cdef int part
        cdef const unsigned char* start
        contiguous = get_view(data, &view)
        try:
            borrow(&self.d.buf, <const unsigned char*>view.buf, view.len)
            while held(&self.d.buf):
                for part in range(self.nparts):
                    start = self.d.buf.cursor
                    outcome = skip_value(&self.skipping, &self.d.buf)
                    if outcome != SKIPPED:
                        raise_skipped(&self.d, &self.skipping, outcome)
                    self.visit(part, start, self.d.buf.cursor - start)
                self.nrecords += 1
                if not self.nrecords & SIGNAL_MASK:
                    PyErr_CheckSignals()
        finally:
            PyBuffer_Release(&view)


cdef class RecordStatistics(Walker):
    """RecordStatistics(*, pairs=False, dialect='hadoop', npartitions=0, top=None)\n--\n\nCount types, sizes and partitions of records.

    pairs: a record is a key and a value. dialect: as for a Reader. npartitions: of HashPartitioner, 0 to count none. top: a
    dict for the number of times that each encoded key (without pairs: value) occurs, or None.

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

    def __init__(self, *, pairs=False, dialect="hadoop", int npartitions=0, dict top=None):
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

    cdef int visit(self, int part, const unsigned char* p, Py_ssize_t nbytes) except -1:
        add_value(&self.types[part][p[0]], p, nbytes)
        if part == 0:
            if self.npartitions:
                index = partition_of(p, nbytes, self.npartitions)
                self.by_partition[index] += 1
            if self.top is not None:
                key = p[:nbytes]
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
        s.total += point
        return
    number = measure(p, nbytes)
    if s.n == 1 or number < s.least:
        s.least = number
    if s.n == 1 or number > s.most:
        s.most = number
    s.total += number


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
            found.update(least=s.smallest, most=s.largest, mean=s.total / s.least)
        return found
    found.update(least=s.least, most=s.most, mean=s.total / s.n)
    return found


cdef class Node:
    # The types found at one path inside the records.
    cdef long long counts[256]
    cdef dict parts           # Node by index, by a MAP's key (bytes), or by one of the names below

    def __cinit__(self):
        memset(self.counts, 0, sizeof(self.counts))
        self.parts = {}

    cdef Node part(self, name):
        node = self.parts.get(name)
        if node is None:
            node = self.parts[name] = Node.__new__(Node)
        return node


cdef class Schema(Walker):
    """Schema(*, pairs=False, dialect='hadoop')\n--\n\nFind the types at each path inside records.

    >>> schema = Schema()
    >>> schema.write(b"\\x09\\x03\\x00\\x00\\x00\\x05\\x02\\x01\\xff")
    >>> schema.paths()
    [('value', {9: 1}), ('value[]', {2: 1, 3: 1})]
    """

    cdef Node first
    cdef Node second
    cdef long long work_count

    def __cinit__(self, *args, **options):
        self.first, self.second = Node.__new__(Node), Node.__new__(Node)

    def __init__(self, *, pairs=False, dialect="hadoop"):
        pass    # used by __cinit__; refuses other options

    cdef int visit(self, int part, const unsigned char* p, Py_ssize_t nbytes) except -1:
        self.visit_value(self.second if part else self.first, p)
        return 0

    cdef const unsigned char* visit_value(self, Node node, const unsigned char* p) except NULL:
        cdef int code = p[0]
        cdef Py_ssize_t i, n
        node.counts[code] += 1
        self.work_count += 1
        if not self.work_count & SIGNAL_MASK:
            PyErr_CheckSignals()
        if code == VECTOR:
            n = load_i32(p + 1)
            p += 5
            for i in range(n):
                p = self.visit_value(node.part(i if n <= MAX_FIELDS else "items"), p)
            return p
        if code == LIST:
            p += 1
            while p[0] != MARKER:
                p = self.visit_value(node.part("items"), p)
            return p + 1
        if code == MAP:
            n = load_i32(p + 1)
            p += 5
            for i in range(n):
                p = self.visit_entry(node, p)
            return p
        return p + self.size(p)

    cdef const unsigned char* visit_entry(self, Node node, const unsigned char* p) except NULL:
        # A STRING key is part of the path of its value, up to MAX_FIELDS keys.
        cdef const unsigned char* key = p
        if p[0] == STRING:
            p += self.size(p)
            name = key[5:p - key]
            if name in node.parts or len(node.parts) < MAX_FIELDS:
                return self.visit_value(node.part(name), p)
        else:
            p = self.visit_value(node.part("keys"), p)
        return self.visit_value(node.part("values"), p)

    cdef Py_ssize_t size(self, const unsigned char* p) noexcept:
        cdef int code = p[0]
        if code == BYTE or code == BOOL:
            return 2
        if code == INT or code == FLOAT:
            return 5
        if code == LONG or code == DOUBLE:
            return 9
        if self.d.hive and code == SHORT:
            return 3
        if self.d.hive and (code == NULL_CODE or code == ENDOFRECORD):
            return 1
        return 5 + load_i32(p + 1)

    def paths(self):
        """Return (path, number of values by type code) for every path, those of a record's parts before those inside them."""
        found = []
        names = ("key", "value") if self.nparts == 2 else ("value",)
        for name, node in zip(names, (self.first, self.second)):
            add_paths(found, name, node)
        return found


cdef int add_paths(list found, str path, Node node) except -1:
    counts = {code: node.counts[code] for code in range(256) if node.counts[code]}
    if counts:
        found.append((path, counts))
    for name, part in node.parts.items():
        add_paths(found, path + suffix(name), part)
    return 0


cdef str suffix(name):
    if name == "items":
        return "[]"
    if name == "keys":
        return ".key()"
    if name == "values":
        return "[*]"
    return f"[{name!r}]" if type(name) is int else f"[{name.decode('utf-8', 'backslashreplace')!r}]"
