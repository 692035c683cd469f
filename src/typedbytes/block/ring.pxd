# Two rings of bytes in memory that two processes share; see ring.h.

from libc.stdint cimport uint64_t

cdef extern from "block/ring.h" nogil:
    const bint IS_SUPPORTED "RING_IS_SUPPORTED"
    enum:
        RING_DATA
        RING_SOUND
        RING_BAD_TAIL
        RING_BAD_HEAD
        RING_BAD_BELLS
    ctypedef struct ring_guard:
        long long paused_until
    ctypedef struct ring_memory "ring":
        int descriptor
        uint64_t capacity
        long long spin_ns
        ring_guard reading
        ring_guard writing
        int ended
        int fault
    int ring_start(ring_memory*, unsigned char* mine, const unsigned char* theirs, uint64_t capacity, int descriptor,
                   long long spin_ns)
    void ring_stop(ring_memory*)
    bint ring_ready(ring_memory*, bint for_data)
    size_t ring_read(ring_memory*, unsigned char* target, size_t nbytes)
    size_t ring_write(ring_memory*, const unsigned char* p, size_t nbytes)
    bint ring_spin(ring_memory*, bint for_data, long long until)
    void ring_spun(ring_memory*, ring_guard* guard, bint ready)
    int ring_sleep(ring_memory*, bint for_data, int milliseconds)
    bint ring_poll(ring_memory*)
    int ring_get(const int* flag)
