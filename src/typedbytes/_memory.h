/* Floor 0. Memory that several owners share, with the GIL and without: large allocations, a count of owners, and nothing else. */
#ifndef TYPEDBYTES_MEMORY_H
#define TYPEDBYTES_MEMORY_H

#include <Python.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(_MSC_VER)
#include <intrin.h>
#endif

/* PyMem_RawRealloc that asks for large pages where that is a request only: a fresh page costs more than filling it does. */
static void *enlarge(void *memory, size_t nbytes) {
    unsigned char *larger = (unsigned char *)PyMem_RawRealloc(memory, nbytes);
#if defined(MADV_HUGEPAGE)
    if (larger != NULL && nbytes >= ((size_t)4 << 20)) {
        size_t past = (uintptr_t)larger & 4095;
        size_t skipped = past ? 4096 - past : 0;
        (void)madvise(larger + skipped, (nbytes - skipped) & ~(size_t)4095, MADV_HUGEPAGE);
    }
#endif
    return larger;
}

/* Owners are counted without the GIL: whoever takes Arrow's structures may let go of them on a thread of its own. */
static inline void add_owner(long *owners) {
#if defined(_MSC_VER)
    _InterlockedIncrement(owners);
#else
    __atomic_add_fetch(owners, 1, __ATOMIC_RELAXED);
#endif
}

/* The number of owners left. */
static inline long remove_owner(long *owners) {
#if defined(_MSC_VER)
    return _InterlockedDecrement(owners);
#else
    return __atomic_sub_fetch(owners, 1, __ATOMIC_ACQ_REL);
#endif
}

#endif
