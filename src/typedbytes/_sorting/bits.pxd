# Instructions without a standard C function; see bits.h.

from libc.stdint cimport uint64_t

cdef extern from "_sorting/bits.h" nogil:
    # 63 to 0; one bit must be set.
    int highest_bit(uint64_t bits) noexcept
    void fetch_early(const void* p) noexcept
