# Records for what decodes them, without the payloads of large BYTES and STRINGs, which need not be held to be checked.
#
# Here: collecting and leaving out. Not here: decoding, what is said of a fault.

from cpython.bytes cimport PyBytes_AS_STRING

from typedbytes.core.byteorder cimport copy_short, store_i32

cdef enum:
    CHUNK_NBYTES = 65536      # bytes of whole records that are passed on together
    LARGE_NBYTES = 65536      # payload of a value from which on most of it is left out
    KEPT_NBYTES = 4096        # payload that is kept of such a value: it may be a key that a path shows


cdef class WholeRecords(Walker):
    "WholeRecords(sink, *, pairs=False, dialect='hadoop', max_bytes=None, leaves_out=True, " \
        "unicode_errors='strict')\n--\n\n" \
        """Call sink(records, left_out) for chunks of whole records.

    A record with large BYTES or STRINGs comes alone, with the first bytes of each; left_out then has (start, offset,
    nbytes, defect) for each: where in the record it starts, where bytes were left out, and where in a STRING the first
    are that are not UTF-8, or None. These are put at the offset.

    >>> records = WholeRecords(lambda records, left_out: print(len(records), left_out))
    >>> records.write(b"\\x02\\x01\\x00\\x00\\x01\\x00\\x00" + bytes(65536)); records.flush()
    2 []
    4101 [(0, 4101, 61440, None)]
    """

    cdef object sink
    cdef bint leaves_out
    cdef object new_decoder
    cdef str unicode_errors
    cdef WriteBuffer out
    cdef Py_ssize_t record_start    # where the record starts in what is written
    cdef list left_out
    cdef int64_t tail         # bytes still to come of a value without items
    cdef bint is_left_out     # these bytes are left out
    cdef object decoder       # checks the bytes of a STRING that are left out; None: there is nothing to check
    cdef long long ndecoded
    cdef Py_ssize_t start     # where the value that is left out starts in what is written
    cdef Py_ssize_t nkept     # bytes that are kept of its payload

    def __cinit__(self, *args, **options):
        start_owned(&self.out, CHUNK_NBYTES)

    def __init__(self, sink, *, pairs=False, dialect="hadoop", max_bytes=None, bint leaves_out=True,
                 unicode_errors="strict"):
        self.sink, self.leaves_out, self.left_out = sink, leaves_out, []
        import codecs    # lazy import: start-up time
        self.new_decoder, self.unicode_errors = codecs.getincrementaldecoder("utf-8"), unicode_errors

    def __dealloc__(self):
        drop(&self.out)

    cdef int restart(self) except -1:
        self.tail = self.is_left_out = False
        return Walker.restart(self)

    cdef int visit(self, int part, const unsigned char* p, Py_ssize_t nbytes, bint is_last) except -1:
        cdef const unsigned char* end = p + nbytes
        cdef Py_ssize_t n
        if is_last and not self.is_inside and nbytes < LARGE_NBYTES:
            self.append(p, nbytes)
        else:
            while p < end:
                if not self.tail:
                    p = self.visit_head(p)
                n = min(self.tail, end - p)
                if self.is_left_out and self.nkept < KEPT_NBYTES:
                    n = min(n, KEPT_NBYTES - self.nkept)
                self.tail -= n
                if not self.is_left_out:
                    self.append(p, n)
                elif self.nkept < KEPT_NBYTES:
                    self.keep(p, n)
                else:
                    self.leave_out(p, n)
                p += n
        if is_last and part == self.nparts - 1:
            self.end_record()
        return 0

    cdef const unsigned char* visit_head(self, const unsigned char* p) except NULL:
        cdef int code = p[0]
        if code == VECTOR or code == MAP:
            self.tail = 5
        elif code == LIST or code == MARKER:
            self.tail = 1
        else:
            self.tail = scalar_size(p, self.d.hive)
        if self.leaves_out and (code == BYTES or code == STRING) and self.tail >= LARGE_NBYTES:
            self.pass_on(self.record_start)
            self.start, self.nkept, self.is_left_out = written(&self.out), 0, True
            self.append(p, 5)
            self.decoder = self.new_decoder(self.unicode_errors) if code == STRING else None
            self.tail -= 5
            return p + 5
        return p

    cdef int keep(self, const unsigned char* p, Py_ssize_t nbytes) except -1:
        # The first bytes, up to the end of a character.
        self.append(p, nbytes)
        self.nkept += nbytes
        if self.nkept < KEPT_NBYTES:
            return 0
        cdef Py_ssize_t nbroken = 0
        if self.decoder is not None:
            try:
                self.decoder.decode((self.out.cursor - KEPT_NBYTES)[:KEPT_NBYTES])
                nbroken = len(self.decoder.getstate()[0])
            except UnicodeDecodeError:    # decoding the record raises it again
                self.decoder = None
        self.ndecoded = KEPT_NBYTES
        self.out.cursor -= nbroken
        store_i32(self.out.start + self.start + 1, KEPT_NBYTES - nbroken)
        self.left_out.append((self.start, written(&self.out), self.tail + nbroken, None))
        return 0

    cdef int leave_out(self, const unsigned char* p, Py_ssize_t nbytes) except -1:
        if self.decoder is not None:
            before = len(self.decoder.getstate()[0])
            try:
                self.decoder.decode(p[:nbytes], self.tail == 0)
            except UnicodeDecodeError as error:
                self.decoder = None
                self.append_defect(error.object[error.start:error.start + 4], self.ndecoded - before + error.start)
            self.ndecoded += nbytes
        self.is_left_out = self.tail > 0
        return 0

    cdef int append_defect(self, bytes defect, long long defect_offset) except -1:
        start, offset, nbytes, _ = self.left_out.pop()
        self.left_out.append((start, offset, nbytes - len(defect), defect_offset))
        self.append(<const unsigned char*>PyBytes_AS_STRING(defect), len(defect))
        store_i32(self.out.start + self.start + 1, <int32_t>(written(&self.out) - self.start - 5))
        return 0

    cdef inline int append(self, const unsigned char* p, Py_ssize_t nbytes) except -1:
        reserve(&self.out, nbytes)
        copy_short(self.out.cursor, p, nbytes)
        self.out.cursor += nbytes
        return 0

    cdef inline int end_record(self) except -1:
        self.record_start = written(&self.out)
        if self.left_out or self.record_start >= CHUNK_NBYTES:
            self.pass_on(self.record_start)
        return 0

    cdef int pass_on(self, Py_ssize_t nbytes) except -1:
        # Pass on nbytes of whole records, and keep those of a record that has begun.
        cdef bytes data
        cdef Py_ssize_t nleft = written(&self.out) - nbytes
        if nbytes == 0:
            return 0
        data = finish(&self.out)
        self.record_start = 0
        start_owned(&self.out, max(CHUNK_NBYTES, nleft))
        self.append(<const unsigned char*>PyBytes_AS_STRING(data) + nbytes, nleft)
        left_out, self.left_out = self.left_out, []
        self.sink(data[:nbytes], left_out)
        return 0

    def flush(self):
        """Pass on the whole records that are left."""
        self.pass_on(self.record_start)
