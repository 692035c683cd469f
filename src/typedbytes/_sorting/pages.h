/* Large memory blocks that can be resized: only the pages that have been written to take memory. */
#ifndef TYPEDBYTES_PAGES_H
#define TYPEDBYTES_PAGES_H

#include <Python.h>
#include <stddef.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(MREMAP_MAYMOVE) && !defined(__SANITIZE_ADDRESS__)
#define TYPEDBYTES_OWN_PAGES    /* a sanitizer checks malloc's memory better */
#endif

/* Resize memory of `nbytes` to `new_nbytes` bytes. With pages of its own nothing is copied and all freed
 * memory is returned; malloc guarantees that for large blocks only. `memory` is NULL for a new block;
 * `new_nbytes` is 0 to free it. huge_from: the size from which pages may be of 2 MB, the last of them mostly unused. */
static void *resize_pages(void *memory, size_t nbytes, size_t new_nbytes, size_t huge_from) {
#if defined(TYPEDBYTES_OWN_PAGES)
    void *resized = MAP_FAILED;
    if (new_nbytes && memory == NULL)
        resized = mmap(NULL, new_nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    else if (new_nbytes)
        resized = mremap(memory, nbytes, new_nbytes, MREMAP_MAYMOVE);
    else if (memory != NULL)
        (void)munmap(memory, nbytes);
    if (resized == MAP_FAILED)
        return NULL;
#if defined(MADV_HUGEPAGE)
    if (new_nbytes >= huge_from)
        (void)madvise(resized, new_nbytes, MADV_HUGEPAGE);
#else
    (void)huge_from;
#endif
    return resized;
#else
    (void)nbytes, (void)huge_from;
    if (new_nbytes)
        return PyMem_RawRealloc(memory, new_nbytes);
    PyMem_RawFree(memory);
    return NULL;
#endif
}

/* Return the pages after the first `kept` bytes to the system, where that is supported; the size stays the same. */
static void drop_pages(void *memory, size_t kept, size_t nbytes) {
#if defined(TYPEDBYTES_OWN_PAGES)
    size_t start = (kept + 0xffff) & ~(size_t)0xffff;    /* the largest page size */
    if (start < nbytes)
        (void)madvise((unsigned char *)memory + start, nbytes - start, MADV_DONTNEED);
#else
    (void)memory, (void)kept, (void)nbytes;
#endif
}

#endif
