# The order of records: by partition, then by the bytes of their keys, then as they came in.
#
# Goal: as few cache misses a record as there can be. Plan: an entry holds 64 bits of its record, the *window*, and the
# windows alone are sorted, by radix from the top; where they are equal, the next 64 bits are loaded into them and the
# sort goes on. The first window packs what a key begins with (type code and length are five bytes with few values), so
# that most short keys are in it whole. Equal windows hold the same code and length, hence the same number of the key's
# bytes. Rejected: comparing keys in the arena, which touches both records at every comparison; a merge sort of windows,
# a third slower; bench: sort.
#
# Why this is correct: an encoding says itself where it ends, so no key is the beginning of another, and two keys that
# differ do so before either ends. Windows are padded with zeros after the key; the padding never decides between keys
# that differ. Descending order is that of the inverted bits, so equal keys keep their order in both.

cdef struct Entry:
    uint64_t window
    uint32_t start            # of the record in the arena, where equal records are in the order of arrival
    uint32_t nbytes           # of the record

cdef struct Arena:
    unsigned char* bytes      # of the records, and SLACK more
    Skipping measuring        # skips keys that are containers
    int nparts                # values of a record: 2 with a key, 1 when it is its own
    int partition_bits        # of the first window, above the key's
    bint hive
    # all bits set for descending order, which the windows have then; equal keys stay as they came
    uint64_t flip

cdef enum:
    SLACK = 16                # bytes that may be loaded after the last record
    MAX_INSERTION = 16        # entries that are sorted by insertion
    AHEAD = 12                # entries whose records are fetched before they are looked at
    CHECK_SIGNALS_FROM = 0x10000    # entries: smaller parts are sorted without a check for signals
    FIRST_WINDOW = -1
    MAX_PARTITION_BITS = 16
    # lengths below it are one byte of the first window; this byte marks the others, which follow whole
    MIN_LONG_LENGTH = 255


cdef inline bint has_length(int code, bint hive) noexcept nogil:
    # Whether the code is followed by four bytes of length or count.
    if code >= FIRST_APPLICATION:
        return code <= LAST_APPLICATION and not (hive and code == ENDOFRECORD)
    return code == STRING or code == BYTES or code == VECTOR or code == MAP


cdef inline const unsigned char* after_longs(const unsigned char* p, const unsigned char* end) noexcept nogil:
    # Where the LIST at p ends if it is whole and has LONGs alone, as sort keys are, else NULL.
    p += 1
    while end - p >= 9 and p[0] == LONG:
        p += 9
    return p + 1 if p < end and p[0] == MARKER else NULL


cdef inline Py_ssize_t key_nbytes(Arena* a, const Entry* e) noexcept nogil:
    cdef const unsigned char* key = a.bytes + e.start
    cdef const unsigned char* end
    cdef ReadBuffer buf
    if a.nparts == 1:
        return e.nbytes
    if key[0] == STRING or key[0] == BYTES:
        return 5 + load_i32(key + 1)
    if key[0] == INT or key[0] == FLOAT:
        return 5
    if key[0] == LONG or key[0] == DOUBLE:
        return 9
    if key[0] == LIST:
        end = after_longs(key, key + e.nbytes)
        if end != NULL:
            return end - key
    borrow(&buf, key, e.nbytes)
    skip_value(&a.measuring, &buf)
    return buf.cursor - key


cdef inline uint64_t window_at(const unsigned char* key, Py_ssize_t at, Py_ssize_t nkey) noexcept nogil:
    # Eight bytes from `at` on, padded with zeros after the end of the key.
    cdef uint64_t window = <uint64_t>load_i64(key + at)
    cdef Py_ssize_t nbytes = nkey - at
    if nbytes >= 8:
        return window
    return window >> (64 - 8 * nbytes) << (64 - 8 * nbytes) if nbytes > 0 else 0


cdef inline int head_of(const unsigned char* key, bint hive, uint64_t* head, int* nbits) noexcept nogil:
    # The packed code and length, their number of bits, and the number of bytes that they encode. Codes below 15 take
    # four bits, others twelve; a short length takes eight, and a longer one is marked as such and follows whole.
    cdef int code = key[0]
    cdef uint32_t length
    head[0] = code if code < 15 else 15 << 8 | code
    nbits[0] = 4 if code < 15 else 12
    if not has_length(code, hive):
        return 1
    length = <uint32_t>load_i32(key + 1)
    nbits[0] += 8
    if length < MIN_LONG_LENGTH:
        head[0] = head[0] << 8 | length
        return 5
    head[0] = head[0] << 8 | MIN_LONG_LENGTH
    return 1


cdef inline uint64_t first_window(const unsigned char* key, Py_ssize_t nkey, bint hive, uint64_t partition,
                                  int partition_bits) noexcept nogil:
    cdef uint64_t head
    cdef int nbits
    cdef int at = head_of(key, hive, &head, &nbits)
    nbits += partition_bits
    if partition_bits:
        head |= partition << (nbits - partition_bits)
    return head << (64 - nbits) | window_at(key, at, nkey) >> nbits


cdef inline Py_ssize_t first_covered(const unsigned char* key, bint hive, int partition_bits) noexcept nogil:
    # How many of the key's bytes the first window holds whole.
    cdef uint64_t head
    cdef int nbits
    cdef int at = head_of(key, hive, &head, &nbits)
    return at + (64 - nbits - partition_bits) // 8


cdef void sort_few(Arena* a, Entry* e, Py_ssize_t n, Py_ssize_t at) noexcept nogil:
    # By insertion, which compares windows alone. Where they are equal, those that begin where the keys differ are
    # loaded, so calls nest less than n deep.
    cdef Py_ssize_t start = 0, end, deeper
    if not insertion_sort(e, n):
        return
    while start < n:
        end = start + 1
        while end < n and e[end].window == e[start].window:
            end += 1
        if end - start > 1:
            deeper = load_next_windows(a, e + start, end - start, at, True)
            if deeper >= 0:
                sort_few(a, e + start, end - start, deeper)
        start = end


cdef inline bint insertion_sort(Entry* e, Py_ssize_t n) noexcept nogil:
    # Returns whether there are equal windows.
    cdef Entry moving
    cdef Py_ssize_t i, slot
    cdef bint has_equal = False
    for i in range(1, n):
        moving = e[i]
        slot = i
        while slot > 0 and moving.window < e[slot - 1].window:
            e[slot] = e[slot - 1]
            slot -= 1
        has_equal |= slot > 0 and moving.window == e[slot - 1].window
        e[slot] = moving
    return has_equal


cdef Py_ssize_t common_nbytes(Arena* a, const Entry* e, Py_ssize_t n, Py_ssize_t at, Py_ssize_t nkey) noexcept nogil:
    # The number of bytes that all keys have in common with the first, which are compared from `at` on.
    cdef const unsigned char* first = a.bytes + e.start
    cdef const unsigned char* other
    cdef Py_ssize_t i, offset
    for i in range(1, n):
        if i + AHEAD < n:
            fetch_early(a.bytes + e[i + AHEAD].start)
        other = a.bytes + e[i].start
        offset = at
        nkey = min(nkey, <Py_ssize_t>e[i].nbytes)
        if nkey > at and memcmp(other + at, first + at, nkey - at) == 0:
            continue
        while offset < nkey and other[offset] == first[offset]:
            offset += 1
        nkey = offset
    return nkey


cdef Py_ssize_t load_next_windows(Arena* a, Entry* e, Py_ssize_t n, Py_ssize_t at, bint stuck) noexcept nogil:
    # Loads the next window of entries whose windows are equal; returns the offset in the keys after it, or -1 if the
    # keys are equal. stuck: all last windows were equal, so the next one should begin where the keys differ.
    cdef Py_ssize_t nkey, i
    for i in range(min(n, <Py_ssize_t>AHEAD)):
        fetch_early(a.bytes + e[i].start)
    nkey = key_nbytes(a, e)
    if at == FIRST_WINDOW:
        at = first_covered(a.bytes + e.start, a.hive, a.partition_bits)
    if stuck and at < nkey:
        at = common_nbytes(a, e, n, at, nkey)
    if at >= nkey:
        return -1
    for i in range(n):
        if i + AHEAD < n:
            fetch_early(a.bytes + e[i + AHEAD].start)
        e[i].window = window_at(a.bytes + e[i].start, at, key_nbytes(a, &e[i])) ^ a.flip
    return at + 8


cdef int check_signals() except -1 with gil:
    return PyErr_CheckSignals()


cdef int radix_sort(Arena* a, Entry* e, Entry* scratch, Py_ssize_t n, Py_ssize_t at) except -1 nogil:
    # `at`: how many bytes of the keys the windows reach to. The largest part is sorted by this loop and all others by
    # calls, so calls nest no deeper than the logarithm of n.
    cdef uint32_t ends[256]
    cdef uint64_t differing
    cdef Py_ssize_t i, start, size, largest_start, largest_size
    cdef int shift
    cdef bint stuck = False
    while n > MAX_INSERTION:
        if n > CHECK_SIGNALS_FROM:
            check_signals()
        differing = 0
        for i in range(1, n):
            differing |= e[i].window ^ e[0].window
        if differing == 0:
            at = load_next_windows(a, e, n, at, stuck)
            if at < 0:
                return 0
            stuck = True
            continue
        stuck = False
        shift = max(0, highest_bit(differing) - 7)
        scatter(e, scratch, n, shift, ends)
        start = largest_start = largest_size = 0
        for i in range(256):
            size = ends[i] - start
            if size > largest_size:
                largest_start, largest_size = start, size
            start = ends[i]
        start = 0
        for i in range(256):
            if ends[i] - start > 1 and start != largest_start:
                radix_sort(a, e + start, scratch, ends[i] - start, at)
            start = ends[i]
        e += largest_start
        n = largest_size
    sort_few(a, e, n, at)
    return 0


cdef void scatter(Entry* e, Entry* scratch, Py_ssize_t n, int shift, uint32_t* ends) noexcept nogil:
    # Divides entries into 256 parts by eight bits of the window; within a part their order stays.
    cdef uint32_t size, total = 0
    cdef uint64_t part
    cdef Py_ssize_t i
    memset(ends, 0, 256 * sizeof(uint32_t))
    for i in range(n):
        ends[(e[i].window >> shift) & 0xff] += 1
    for i in range(256):
        size = ends[i]
        ends[i] = total
        total += size
    for i in range(n):
        part = (e[i].window >> shift) & 0xff
        scratch[ends[part]] = e[i]
        ends[part] += 1
    memcpy(e, scratch, n * sizeof(Entry))
