/* Floor 0. Two instructions that C has no name for. */
#ifndef TYPEDBYTES_BITS_H
#define TYPEDBYTES_BITS_H

#include <stdint.h>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

/* The place of the highest bit set, 63 to 0; one must be. */
static inline int highest_bit(uint64_t bits) {
#if defined(_MSC_VER)
    int place = 0;
    while (bits >>= 1) place++;
    return place;
#else
    return 63 - __builtin_clzll(bits);
#endif
}

/* Have a cache line loaded that will be read soon. */
static inline void fetch_early(const void *p) {
#if !defined(_MSC_VER)
    __builtin_prefetch(p);
#else
    (void)p;
#endif
}

#endif
