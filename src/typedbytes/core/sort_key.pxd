# The parts of a sort key; see sort_key.h.

from libc.stdint cimport int64_t

cdef extern from "core/sort_key.h" nogil:
    enum:
        KEY_END
        KEY_NONE_FIRST
        KEY_NUMBER
        KEY_BINARY
        KEY_TEXT
        KEY_TUPLE
        KEY_NONE_LAST
        KEY_INTEGER
        KEY_FLOATING
        KEY_BOOLEAN
        KEY_NEGATIVE_ZERO
        KEY_NUMBER_NBYTES
        KEY_MASK
        LONG_PAYLOAD
    int64_t KEY_NAN_BITS
    double double_below(int64_t number) noexcept
    unsigned char* store_key_number(unsigned char* p, double below, int above, unsigned char mask) noexcept
    unsigned char* store_key_bytes(unsigned char* p, unsigned char tag, const unsigned char* data,
                                   const unsigned char* end, unsigned char mask) noexcept
