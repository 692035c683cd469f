/* Memory that several owners share, with the GIL and without: large blocks, those kept for the next, a count of
   owners, a flag. */
#ifndef TYPEDBYTES_MEMORY_H
#define TYPEDBYTES_MEMORY_H

#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(_MSC_VER)
#include <intrin.h>
#endif

/* PyMem_RawRealloc that asks for large pages where that is a mere request: a fresh page costs more than filling it. */
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

/* Smaller blocks are kept when they are freed, for the next allocation: a fixed number of them, the oldest replaced
 * first. There are never more, kept and held, than were held at one time. A sanitizer has to see every block freed. */
#define MIN_KEPT ((size_t)64 << 10)
#define MAX_KEPT ((size_t)1 << 20)
#define NKEPT 64u

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KEEPS 0
#elif defined(__has_feature)
#define KEEPS \
    (!__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) && !__has_feature(memory_sanitizer))
#else
#define KEEPS 1
#endif

/* The thread that takes a block out of its slot owns it, so no thread waits for another.
 * Its first bytes hold its size. */
static void *kept[NKEPT];
static long ndisplaced;

static inline void *exchange(void **slot, void *block) {
#if defined(_MSC_VER)
    return _InterlockedExchangePointer((void *volatile *)slot, block);
#else
    return __atomic_exchange_n(slot, block, __ATOMIC_ACQ_REL);
#endif
}

static inline int put_into_empty(void **slot, void *block) {
#if defined(_MSC_VER)
    return _InterlockedCompareExchangePointer((void *volatile *)slot, block, NULL) == NULL;
#else
    void *none = NULL;
    return __atomic_compare_exchange_n(slot, &none, block, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
#endif
}

static inline unsigned long next_displaced(void) {
#if defined(_MSC_VER)
    return (unsigned long)_InterlockedIncrement(&ndisplaced);
#else
    return (unsigned long)__atomic_add_fetch(&ndisplaced, 1, __ATOMIC_RELAXED);
#endif
}

/* Keep a block of this size, or free it. */
static void release_memory(void *memory, size_t nbytes) {
    if (KEEPS && memory != NULL && nbytes >= MIN_KEPT && nbytes <= MAX_KEPT) {
        *(size_t *)memory = nbytes;
        for (unsigned i = 0; i < NKEPT; i++)
            if (put_into_empty(&kept[i], memory))
                return;
        memory = exchange(&kept[next_displaced() % NKEPT], memory);
    }
    PyMem_RawFree(memory);
}

/* A kept block of at least this size, and its size. NULL: there is none, and a smaller one was freed in favour of the
 * block that is allocated now: so the blocks kept become as large as those in use. */
static void *take_kept(size_t *nbytes) {
    unsigned smaller = 0;
    for (unsigned i = 0; i < NKEPT; i++) {
        void *block = exchange(&kept[i], NULL);
        if (block != NULL) {
            if (*(size_t *)block >= *nbytes) {
                *nbytes = *(size_t *)block;
                return block;
            }
            PyMem_RawFree(exchange(&kept[i], block));
            smaller = i;
        }
    }
    PyMem_RawFree(exchange(&kept[smaller], NULL));
    return NULL;
}

/* enlarge() for memory that release_memory() frees, of `had` bytes.
 * It may allocate more bytes than requested, and stores how many. */
static void *enlarge_kept(void *memory, size_t had, size_t *nbytes) {
    void *larger = NULL;
    if (KEEPS && *nbytes >= MIN_KEPT && *nbytes <= MAX_KEPT)
        larger = take_kept(nbytes);
    if (larger == NULL)
        return enlarge(memory, *nbytes);
    if (memory != NULL) {
        memcpy(larger, memory, had);
        release_memory(memory, had);
    }
    return larger;
}

/* Owners are counted without the GIL: a consumer of Arrow's structures may release them on a thread of its own. */
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

/* A flag that one thread sets while another checks it from time to time. */
static inline void set_flag(int *flag, int value) {
#if defined(_MSC_VER)
    *(volatile int *)flag = value;
#else
    __atomic_store_n(flag, value, __ATOMIC_RELAXED);
#endif
}

static inline int flag_is_set(const int *flag) {
#if defined(_MSC_VER)
    return *(const volatile int *)flag;
#else
    return __atomic_load_n(flag, __ATOMIC_RELAXED);
#endif
}

#endif
