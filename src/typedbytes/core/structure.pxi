# skip, count, index and Hadoop's hash: what can be computed from encoded bytes without values and without the GIL.

from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memcpy
from cpython.buffer cimport PyBUF_READ, PyBuffer_Release
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.memoryview cimport PyMemoryView_FromMemory

from typedbytes.core.java_hash cimport hash_of, store_hash_suffix

cdef enum:
    SCAN_INTERVAL = 0x10000  # values between two checks for signals, for which the GIL is taken


cdef class Scan:
    # A scan of a buffer, whose view it holds.
    cdef Py_buffer view
    cdef bint has_view
    cdef object memory        # what `view` looks at
    cdef Decoding d
    cdef Skipping skipping

    def __cinit__(self, data, Py_ssize_t offset, dialect, max_depth):
        self.d = (<DecodeOptions>DecodeOptions(dialect=dialect, max_depth=max_depth)).template
        start_skipping(&self.skipping, &self.d)
        self.memory = get_view(data, &self.view)
        self.has_view = True
        borrow(&self.d.buf, <const unsigned char*>self.view.buf, self.view.len)
        if not 0 <= offset <= self.view.len:
            raise ValueError(f"offset {offset} is outside the {self.view.len} bytes given")
        self.d.buf.cursor += offset
        self.d.record_offset = offset

    def __dealloc__(self):
        stop_skipping(&self.skipping)
        if self.has_view:
            PyBuffer_Release(&self.view)

    cdef int check(self, SkipOutcome outcome) except -1:
        if outcome != SKIPPED:
            raise_skipped(&self.d, &self.skipping, outcome)
        return 0


def skip(data, Py_ssize_t offset=0, *, dialect="hadoop", max_depth=256):
    """Return the offset after the one value at `offset` of a bytes-like object.

    Checks structure only: type codes, lengths, MARKERs, depth. Takes `dialect` and `max_depth`. Raises TruncatedError,
    FormatError and LimitError as decoding does.

    >>> skip(b"\\x02\\x01\\x02\\x00")
    2
    """
    cdef Scan scan = Scan(data, offset, dialect, max_depth)
    cdef SkipOutcome outcome
    with nogil:
        outcome = skip_value(&scan.skipping, &scan.d.buf)
    scan.check(outcome)
    return offset_of(&scan.d.buf, scan.d.buf.cursor)


def count(data, *, dialect="hadoop", max_depth=256):
    """Return the number of values in a bytes-like object; options and errors as for `skip`.

    >>> count(b"\\x02\\x01\\x02\\x00")
    2
    """
    cdef Scan scan = Scan(data, 0, dialect, max_depth)
    cdef int64_t nvalues = 0
    while held(&scan.d.buf):
        with nogil:
            outcome = skip_up_to(&scan.skipping, &scan.d.buf, SCAN_INTERVAL, NULL, &nvalues)
        scan.check(outcome)
        PyErr_CheckSignals()
    return nvalues


def advance(data, Py_ssize_t offset, long long nvalues, *, min_nbytes=None, int step=1, dialect="hadoop",
            max_depth=256):
    """Return the offset after n values from the one at `offset` on, None when there are fewer complete ones.

    min_nbytes: stop earlier, after the first multiple of `step` values with at least this many bytes. Raises ValueError
    for an offset outside the data, a negative n, and a `min_nbytes` or `step` below 1.

    >>> advance(b"\\x02\\x01\\x02\\x00", 0, 2), advance(b"\\x02\\x01\\x02", 0, 2)
    (4, None)
    >>> advance(b"\\x02\\x01" * 9, 0, 8, min_nbytes=3, step=2), advance(b"\\x02\\x01" * 9, 0, 8, min_nbytes=5, step=2)
    (4, 8)
    """
    cdef Scan scan = Scan(data, offset, dialect, max_depth)
    cdef const unsigned char* end = scan.d.buf.end
    cdef int64_t nskipped = 0
    cdef SkipOutcome outcome
    if nvalues < 0 or step < 1 or (min_nbytes is not None and min_nbytes < 1):
        raise ValueError(f"expected n >= 0, min_nbytes >= 1 and step >= 1, not {nvalues}, {min_nbytes} and {step}")
    if min_nbytes is not None and min_nbytes <= held(&scan.d.buf):
        # what ends here or before has not reached it
        scan.d.buf.end = scan.d.buf.cursor + <Py_ssize_t>(min_nbytes - 1)
    outcome = skip_values(scan, nvalues, &nskipped)
    if nskipped < nvalues and scan.d.buf.end < end:
        scan.d.buf.end = end
        nvalues = min(nvalues, nskipped + step - nskipped % step)
        if outcome == NEEDS_MORE:
            outcome = skip_value(&scan.skipping, &scan.d.buf)    # goes on within the value
            nskipped += outcome == SKIPPED
        if outcome == SKIPPED:
            outcome = skip_values(scan, nvalues, &nskipped)
    return offset_of(&scan.d.buf, scan.d.buf.cursor) if nskipped == nvalues else None


cdef SkipOutcome skip_values(Scan scan, int64_t max_values, int64_t* nskipped) except *:
    # Skip up to `max_values` values, as far as they are whole.
    cdef SkipOutcome outcome = SKIPPED
    while nskipped[0] < max_values and held(&scan.d.buf) and outcome == SKIPPED:
        with nogil:
            outcome = skip_up_to(
                &scan.skipping, &scan.d.buf, min(max_values - nskipped[0], SCAN_INTERVAL), NULL, nskipped)
        PyErr_CheckSignals()
    return outcome


def index(data, *, dialect="hadoop", max_depth=256):
    """Return the offsets at which the values of a bytes-like object start, as array('q'); options as for `skip`.

    >>> index(b"\\x02\\x01\\x02\\x00")
    array('q', [0, 2])
    """
    from array import array    # lazy import: start-up time
    cdef Scan scan = Scan(data, 0, dialect, max_depth)
    cdef int64_t nvalues = 0
    cdef Py_ssize_t capacity = 0
    cdef long long* offsets = NULL
    cdef long long* larger
    try:
        while held(&scan.d.buf):
            if nvalues == capacity:
                capacity = 1024 if capacity == 0 else 2 * capacity
                larger = <long long*>PyMem_Realloc(offsets, capacity * sizeof(long long))
                if larger == NULL:
                    raise MemoryError
                offsets = larger
            with nogil:
                outcome = skip_up_to(
                    &scan.skipping, &scan.d.buf, min(capacity - nvalues, SCAN_INTERVAL), offsets + nvalues, &nvalues)
            scan.check(outcome)
            PyErr_CheckSignals()
        result = array("q")
        if nvalues:
            result.frombytes(PyMemoryView_FromMemory(<char*>offsets, nvalues * sizeof(long long), PyBUF_READ))
        return result
    finally:
        PyMem_Free(offsets)


def hash_code(encoded):
    """Return Java's hashCode of a TypedBytesWritable of these bytes, a signed 32-bit int: `hash_code(dumps(key))`.

    >>> hash_code(b"\\x03\\x00\\x00\\x00\\x05")
    31399719
    """
    cdef Py_buffer view
    contiguous = get_view(encoded, &view)
    try:
        return hash_of(<const unsigned char*>view.buf, view.len)
    finally:
        PyBuffer_Release(&view)


def partition(encoded, int npartitions):
    """Return the partition of Hadoop's HashPartitioner for a key's encoded bytes: `partition(dumps(key), n)`.

    The bytes are taken as they are, whether or not they are one value.
    Raises ValueError when `npartitions` is not positive.

    >>> partition(b"\\x03\\x00\\x00\\x00\\x05", 2)
    1
    """
    if npartitions < 1:
        raise ValueError(f"the number of partitions must be at least 1, not {npartitions}")
    return (hash_code(encoded) & 0x7fffffff) % npartitions


def joined_with_hash(bytes head, bytes like, bytes key, bytes sign, bytes padding):
    """Return these concatenated, with seven bytes before the padding that make the hash code that of `like`.

    >>> whole = joined_with_hash(b"head ", b"like", b" key", b"!", b"...")
    >>> whole[:14], whole[21:], hash_code(whole[:21]) == hash_code(b"like")
    (b'head like key!', b'...', True)
    """
    cdef Py_ssize_t nfront = len(head) + len(like) + len(key) + len(sign)
    whole = PyBytes_FromStringAndSize(NULL, nfront + 7 + len(padding))
    cdef unsigned char* p = <unsigned char*>PyBytes_AS_STRING(whole)
    cdef unsigned char* end = p
    for part in (head, like, key, sign):
        memcpy(end, PyBytes_AS_STRING(part), PyBytes_GET_SIZE(part))
        end += PyBytes_GET_SIZE(part)
    store_hash_suffix(end, <uint32_t>hash_of(p, nfront),
                      <uint32_t>hash_of(<const unsigned char*>PyBytes_AS_STRING(like), len(like)))
    memcpy(end + 7, PyBytes_AS_STRING(padding), len(padding))
    return whole
