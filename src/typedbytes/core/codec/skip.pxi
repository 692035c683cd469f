# Skip: walk the structure of a value without creating objects, without the GIL,
# and in pieces when input comes in pieces.

cdef enum:
    UNKNOWN = 0
    HAS_LENGTH = -1
    HAS_COUNT = -2
    HAS_MARKER = -3
    IS_MARKER = -4

cdef enum:
    CACHE_LINE = 64
    FETCHED_AHEAD = 256       # bytes between the cursor and what is brought into the cache
    MAX_FETCHED = 512         # bytes of a payload: after a longer one it costs more than it saves

# Size of a value by its type code, type code included, or one of the names above; in Hadoop's and in Hive's dialect.
cdef signed char SIZES[2][256]

cdef int fill_sizes() except -1:
    for code in range(256):
        SIZES[0][code] = HAS_LENGTH if FIRST_APPLICATION <= code <= LAST_APPLICATION else UNKNOWN
    for code in range(BYTE, DOUBLE + 1):
        SIZES[0][code] = FIXED_NBYTES[code]
    for code, size in ((BYTES, HAS_LENGTH), (STRING, HAS_LENGTH), (VECTOR, HAS_COUNT), (LIST, HAS_MARKER),
                       (MAP, HAS_COUNT), (MARKER, IS_MARKER)):
        SIZES[0][code] = size
    for code in range(256):
        SIZES[1][code] = SIZES[0][code]
    for code in (SHORT, NULL_CODE, ENDOFRECORD):
        SIZES[1][code] = 1 + hive_payload_size(code)

fill_sizes()


cdef int start_skipping(Skipping* s, const Decoding* d) except -1:
    s.depth = 0
    s.tail = 0
    s.code = -1
    s.max_depth = d.max_depth
    s.hive = d.hive
    s.pending = <int64_t*>PyMem_RawMalloc((d.max_depth + 1) * sizeof(int64_t))
    if s.pending == NULL:
        raise MemoryError
    return 0


cdef void stop_skipping(Skipping* s) noexcept:
    PyMem_RawFree(s.pending)
    s.pending = NULL


cdef int64_t wanted_nbytes(const Skipping* s, const ReadBuffer* buf, SkipOutcome outcome) noexcept nogil:
    # How many bytes from the cursor on the outcome depends on; after NEEDS_MORE that is more than are held.
    cdef int size
    if outcome == SKIPPED:
        return 0
    if outcome == BAD_LENGTH:
        return 5
    if outcome != NEEDS_MORE or buf.cursor == buf.end and s.tail == 0:
        return 1
    if s.tail > 0:
        return s.tail
    size = SIZES[s.hive][buf.cursor[0]]
    return size if size > 0 else 5


cdef inline void prefetch_payload(const unsigned char* p, int64_t nbytes) noexcept nogil:
    # Before a step over a payload: the processor does not foresee where the heads of such values are,
    # and waits for memory at each.
    cdef const unsigned char* end = p + FETCHED_AHEAD + nbytes
    if nbytes < CACHE_LINE or nbytes > MAX_FETCHED:
        return
    p += FETCHED_AHEAD
    while p < end:
        prefetch(p)
        p += CACHE_LINE


cdef inline int64_t skip_run(const signed char* sizes, const unsigned char** cursor, const unsigned char* end,
                             int64_t max_values) noexcept nogil:
    # Skip the scalars that are there as a whole, `max_values` of them or fewer, within a container; return how many.
    cdef const unsigned char* p = cursor[0]
    cdef int64_t n = 0
    cdef int64_t length
    cdef int size
    while n < max_values and p < end:
        size = sizes[p[0]]
        if size > 0:
            if unlikely(end - p < size):
                break
            p += size
        elif size == HAS_LENGTH:
            if unlikely(end - p < 5):
                break
            length = load_length(p + 1)
            if unlikely(length < 0 or length > end - p - 5):
                break
            prefetch_payload(p, length)
            p += 5 + length
        else:
            break
        n += 1
    cursor[0] = p
    return n


cdef int64_t skip_scalars(const Skipping* s, ReadBuffer* buf, int64_t max_values, long long* offsets) noexcept nogil:
    # Skip scalars, `max_values` of them or fewer, and return how many: the cursor may be at a container, at
    # anything invalid or at the end. Their offsets are stored in `offsets` unless that is NULL. The
    # Skipping is at a value boundary.
    if offsets == NULL:
        return skip_scalars_inline(s, buf, max_values, NULL)
    return skip_scalars_inline(s, buf, max_values, offsets)


cdef inline int64_t skip_scalars_inline(const Skipping* s, ReadBuffer* buf, int64_t max_values,
                                        long long* offsets) noexcept nogil:
    # Goal: streams of scalars at a few cycles a value. Plan: two codes of fixed size are remembered, so that the size
    # of a value that has one of them is not a load that the next value depends on, and a loop without offsets does not
    # ask for them at each value (a quarter of its time); bench: scan.
    cdef const signed char* sizes = SIZES[s.hive]
    cdef const unsigned char* p = buf.cursor
    cdef const unsigned char* end = buf.end
    cdef int64_t n = 0
    cdef int64_t length
    cdef int code, one_code = -1, other_code = -1
    cdef Py_ssize_t one_size = 0, other_size = 0
    while n < max_values and p < end:
        code = p[0]
        if offsets != NULL:
            offsets[n] = offset_of(buf, p)
        if code == one_code:
            if unlikely(end - p < one_size):
                break
            p += one_size
        elif code == other_code:
            if unlikely(end - p < other_size):
                break
            p += other_size
        elif sizes[code] == HAS_LENGTH:
            if unlikely(end - p < 5):
                break
            length = load_length(p + 1)
            if unlikely(length < 0 or length > end - p - 5):
                break
            prefetch_payload(p, length)
            p += 5 + length
        elif sizes[code] > 0:
            other_code, other_size = one_code, one_size
            one_code, one_size = code, sizes[code]
            continue
        else:
            break
        n += 1
    buf.cursor = p
    return n


cdef SkipOutcome skip_up_to(Skipping* s, ReadBuffer* buf, int64_t max_values, long long* offsets,
                            int64_t* nskipped) noexcept nogil:
    # Skip up to `max_values` values; the number of complete ones is added to the count.
    cdef SkipOutcome outcome = SKIPPED
    cdef int64_t n = 0
    while n < max_values and held(buf):
        n += skip_scalars(s, buf, max_values - n, NULL if offsets == NULL else offsets + n)
        if n == max_values or not held(buf):
            break
        if offsets != NULL:
            offsets[n] = offset_of(buf, buf.cursor)
        outcome = skip_value(s, buf)
        if outcome != SKIPPED:
            break
        n += 1
    nskipped[0] += n
    return outcome


cdef SkipOutcome skip_value(Skipping* s, ReadBuffer* buf) noexcept nogil:
    # An entry of `pending` is (values still to come) << 8 | type code of the container; a LIST's number stays 1.
    # When the outcome is NEEDS_MORE, `buf.cursor` and `s` say where to go on.
    cdef const signed char* sizes = SIZES[s.hive]
    cdef const unsigned char* p = buf.cursor
    cdef const unsigned char* end = buf.end
    cdef int64_t length
    cdef int size
    while True:
        if unlikely(s.tail > 0):
            length = min(s.tail, end - p)
            s.tail -= length
            p += length
            if s.tail > 0:
                buf.cursor = p
                return NEEDS_MORE
        else:
            if s.depth > 0:
                # All but the last: that one may end its container.
                if s.pending[s.depth - 1] & 0xff == LIST:
                    skip_run(sizes, &p, end, INT64_MAX)
                else:
                    s.pending[s.depth - 1] -= skip_run(sizes, &p, end, (s.pending[s.depth - 1] >> 8) - 1) << 8
            buf.cursor = p
            if unlikely(p == end):
                s.code = s.pending[s.depth - 1] & 0xff if s.depth else -1
                return NEEDS_MORE
            s.code = p[0]
            size = sizes[p[0]]
            if size > 0:
                if unlikely(end - p < size):
                    return NEEDS_MORE
                p += size
            elif size == HAS_LENGTH:
                if unlikely(end - p < 5):
                    return NEEDS_MORE
                length = load_length(p + 1)
                if unlikely(length < 0):
                    return BAD_LENGTH
                p += 5
                if unlikely(length > end - p):
                    s.tail = length
                    continue
                p += length
            elif size == HAS_COUNT:
                if unlikely(s.depth == s.max_depth):
                    return TOO_DEEP
                if unlikely(end - p < 5):
                    return NEEDS_MORE
                length = load_length(p + 1)
                if unlikely(length < 0):
                    return BAD_LENGTH
                p += 5
                if length > 0:
                    s.pending[s.depth] = (length * 2 if s.code == MAP else length) << 8 | s.code
                    s.depth += 1
                    continue
            elif size == HAS_MARKER:
                if unlikely(s.depth == s.max_depth):
                    return TOO_DEEP
                p += 1
                s.pending[s.depth] = 1 << 8 | LIST
                s.depth += 1
                continue
            elif size == IS_MARKER:
                if s.depth == 0 or s.pending[s.depth - 1] & 0xff != LIST:
                    return STRAY_MARKER
                p += 1
                s.depth -= 1
            else:
                return BAD_CODE
        # A value was skipped; it may have been the last of its container, and that the last of its own.
        while s.depth > 0 and s.pending[s.depth - 1] & 0xff != LIST:
            s.pending[s.depth - 1] -= 256
            if s.pending[s.depth - 1] >= 256:
                break
            s.depth -= 1
        if s.depth == 0:
            buf.cursor = p
            return SKIPPED
