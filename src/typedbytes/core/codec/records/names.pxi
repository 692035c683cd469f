# Names in encoded form: the keys of records, and the texts of Enums and Literals, found without making a str.


cdef inline bint starts_with(const EncodedName* name, const unsigned char* p, Py_ssize_t left) noexcept:
    # Whether these bytes start with this STRING. Two words decide about most.
    if unlikely(left < name.nheld):
        return left >= name.nbytes and memcmp(p, name.p, name.nbytes) == 0
    return ((load_u64_le(p) ^ name.first) & name.mask) \
        | ((load_u64_le(p + name.last_offset) ^ name.last) & name.mask) == 0 \
        and (name.nbytes <= 16 or memcmp(p + 8, name.p + 8, name.nbytes - 16) == 0)


cdef inline uint64_t hash_name(const unsigned char* p, Py_ssize_t nbytes) noexcept:
    # `p` is at the type code; there are five bytes at least.
    cdef short_words words = load_short(p + 5, nbytes - 5) if nbytes <= 5 + CACHED_LENGTH \
        else load_long(p + 5, nbytes - 5)
    return mix_short(&words, nbytes)


cdef Py_ssize_t look_up_name(const NameTable* table, const unsigned char* p, Py_ssize_t nbytes) noexcept:
    # The index of the name with exactly these bytes, of which there are five at least; -1: none.
    cdef Py_ssize_t slot, nslots, index
    if nbytes > table.max_nbytes:
        return -1
    nslots = <Py_ssize_t>1 << (64 - table.shift)
    slot = hash_name(p, nbytes) >> table.shift
    while table.slots[slot]:
        index = <Py_ssize_t>table.slots[slot] - 1
        if table.names[index].nbytes == nbytes and memcmp(table.names[index].p, p, nbytes) == 0:
            return index
        slot = (slot + 1) & (nslots - 1)
    return -1


cdef int fill_name(EncodedName* name, bytes encoded) noexcept:
    # The caller holds the bytes.
    cdef unsigned char words[8]
    name.p = <const unsigned char*>PyBytes_AS_STRING(encoded)
    name.nbytes = PyBytes_GET_SIZE(encoded)
    name.nheld = max(name.nbytes, 8)
    name.last_offset = name.nheld - 8
    memset(words, 0, 8)
    memset(words, 0xff, min(name.nbytes, 8))
    name.mask = load_u64_le(words)
    memset(words, 0, 8)
    memcpy(words, name.p, min(name.nbytes, 8))
    name.first = load_u64_le(words)
    memcpy(words, name.p + max(name.nbytes - 8, 0), min(name.nbytes, 8))
    name.last = load_u64_le(words)
    return 0


cdef bytes encoded_name(str text):
    cdef bytes utf8 = text.encode("utf-8")
    cdef unsigned char head[5]
    head[0] = STRING
    store_i32(head + 1, <int32_t>len(utf8))
    return head[:5] + utf8
