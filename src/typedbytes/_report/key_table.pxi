# Encoded values by number, in the order in which they come: the keys of sums, the records that have been seen.
#
# Here: a hash table, and the bytes of all keys in one piece. Not here: what belongs to a key. Invariants: the hash is
# the interpreter's for bytes, so that no input can choose keys that collide; half of the slots at least are empty.

from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Realloc
from libc.stdint cimport uint64_t
from libc.string cimport memcmp, memset

from typedbytes.core.cpython cimport hash_bytes, prefetch

cdef enum:
    FIRST_SLOTS = 64
    NUMBER_BITS = 40          # of a slot: the number of a key + 1, or 0; the other bits are the first of its hash

cdef struct Key:
    uint64_t hash
    Py_ssize_t end            # in the bytes of all keys; it starts where the one before ends

cdef struct KeyTable:
    uint64_t* slots
    size_t mask               # the number of slots, a power of two, less 1
    Key* keys                 # capacity: half of the slots
    Py_ssize_t nkeys
    WriteBuffer bytes


cdef int start_keys(KeyTable* t) except -1:
    # The memory of a table is zeros before.
    start_owned(&t.bytes, 16 * FIRST_SLOTS)
    return resize_keys(t, FIRST_SLOTS)


cdef void free_keys(KeyTable* t) noexcept:
    PyMem_Free(t.slots)
    PyMem_Free(t.keys)
    drop(&t.bytes)


cdef inline const unsigned char* start_of_key(const KeyTable* t, Py_ssize_t number) noexcept:
    return t.bytes.start + (t.keys[number - 1].end if number else 0)


cdef inline Py_ssize_t nbytes_of_key(const KeyTable* t, Py_ssize_t number) noexcept:
    return t.keys[number].end - (t.keys[number - 1].end if number else 0)


cdef inline void prefetch_key(const KeyTable* t, Py_hash_t hash) noexcept:
    # Have the slot where the search for a key begins brought into the cache.
    prefetch(&t.slots[<uint64_t>hash & t.mask])


cdef inline Py_ssize_t number_of_key(KeyTable* t, const unsigned char* p, Py_ssize_t nbytes, uint64_t hash) except -1:
    # hash: that of these bytes by hash_bytes(). A new key gets the next number.
    cdef uint64_t slot
    cdef size_t i = hash & t.mask
    cdef Py_ssize_t number
    while True:
        slot = t.slots[i]
        if slot == 0:
            return add_key(t, p, nbytes, hash)
        number = <Py_ssize_t>(slot & ((<uint64_t>1 << NUMBER_BITS) - 1)) - 1
        if (slot ^ hash) >> NUMBER_BITS == 0 and nbytes_of_key(t, number) == nbytes \
                and memcmp(start_of_key(t, number), p, nbytes) == 0:
            return number
        i = (i + 1) & t.mask


cdef Py_ssize_t add_key(KeyTable* t, const unsigned char* p, Py_ssize_t nbytes, uint64_t hash) except -1:
    cdef Py_ssize_t number = t.nkeys
    reserve(&t.bytes, nbytes)
    if 2 * <size_t>number > t.mask:
        resize_keys(t, 2 * (t.mask + 1))
    memcpy(t.bytes.cursor, p, nbytes)
    t.bytes.cursor += nbytes
    t.keys[number].hash, t.keys[number].end = hash, written(&t.bytes)
    t.nkeys += 1
    put_in_slot(t, number)
    return number


cdef inline void put_in_slot(KeyTable* t, Py_ssize_t number) noexcept:
    cdef uint64_t hash = t.keys[number].hash
    cdef size_t i = hash & t.mask
    while t.slots[i]:
        i = (i + 1) & t.mask
    t.slots[i] = hash >> NUMBER_BITS << NUMBER_BITS | <uint64_t>(number + 1)


cdef int resize_keys(KeyTable* t, size_t nslots) except -1:
    cdef Key* keys = <Key*>PyMem_Realloc(t.keys, nslots // 2 * sizeof(Key))
    cdef uint64_t* slots
    cdef Py_ssize_t number
    if keys == NULL:
        raise MemoryError
    t.keys = keys
    slots = <uint64_t*>PyMem_Calloc(nslots, sizeof(uint64_t))
    if slots == NULL:
        raise MemoryError
    PyMem_Free(t.slots)
    t.slots, t.mask = slots, nslots - 1
    for number in range(t.nkeys):
        put_in_slot(t, number)
    return 0
