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

#if defined(MREMAP_MAYMOVE) && !defined(__SANITIZE_ADDRESS__)
#define TYPEDBYTES_OWN_PAGES    /* a sanitizer sees more of malloc's memory */
#endif

/* Memory of its own pages, of `nbytes`, made larger or smaller: what is held follows what has been written to, nothing is copied and
   nothing stays behind, which malloc promises of large memory only. NULL stands for none yet; 0 wanted lets go of it. */
static inline void *resize_pages(void *memory, size_t nbytes, size_t wanted) {
#if defined(TYPEDBYTES_OWN_PAGES)
    void *resized = MAP_FAILED;
    if (memory == NULL && wanted)
        resized = mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    else if (wanted)
        resized = mremap(memory, nbytes, wanted, MREMAP_MAYMOVE);
    else if (memory != NULL)
        (void)munmap(memory, nbytes);
    if (resized == MAP_FAILED)
        return NULL;
#if defined(MADV_HUGEPAGE)
    if (wanted >= ((size_t)32 << 20))    /* of less memory, an unused rest of two megabytes would be a large part */
        (void)madvise(resized, wanted, MADV_HUGEPAGE);
#endif
    return resized;
#else
    (void)nbytes;
    if (wanted)
        return PyMem_RawRealloc(memory, wanted);
    PyMem_RawFree(memory);
    return NULL;
#endif
}

/* Give back what was written to behind the first `kept` bytes of such memory, where that can be asked for; the room stays. */
static inline void drop_pages(void *memory, size_t kept, size_t nbytes) {
#if defined(TYPEDBYTES_OWN_PAGES)
    size_t start = (kept + 0xffff) & ~(size_t)0xffff;    /* no page is larger */
    if (start < nbytes)
        (void)madvise((unsigned char *)memory + start, nbytes - start, MADV_DONTNEED);
#else
    (void)memory, (void)kept, (void)nbytes;
#endif
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
