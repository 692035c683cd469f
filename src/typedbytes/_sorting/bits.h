/* Two instructions without a standard C function. */
#ifndef TYPEDBYTES_BITS_H
#define TYPEDBYTES_BITS_H

#include <stdint.h>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

/* The index of the highest set bit, 63 to 0; at least one bit must be set. */
static inline int highest_bit(uint64_t bits) {
#if defined(_MSC_VER)
    int index = 0;
    while (bits >>= 1) index++;
    return index;
#else
    return 63 - __builtin_clzll(bits);
#endif
}

/* Prefetch a cache line that will be read soon. */
static inline void fetch_early(const void *p) {
#if !defined(_MSC_VER)
    __builtin_prefetch(p);
#else
    (void)p;
#endif
}

#endif
