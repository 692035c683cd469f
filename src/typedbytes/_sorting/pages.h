/* Floor 0. Large memory that changes in size: what is held of it is what has been written to. */
#ifndef TYPEDBYTES_PAGES_H
#define TYPEDBYTES_PAGES_H

#include <Python.h>
#include <stddef.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(MREMAP_MAYMOVE) && !defined(__SANITIZE_ADDRESS__)
#define TYPEDBYTES_OWN_PAGES    /* a sanitizer sees more of malloc's memory */
#endif

/* Make memory of `nbytes` larger or smaller. Nothing is copied and nothing stays behind where there can be pages of its own; malloc
   promises that for large memory only. NULL stands for none yet; 0 wanted lets go of it. */
static void *resize_pages(void *memory, size_t nbytes, size_t wanted) {
#if defined(TYPEDBYTES_OWN_PAGES)
    void *resized = MAP_FAILED;
    if (wanted && memory == NULL)
        resized = mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    else if (wanted)
        resized = mremap(memory, nbytes, wanted, MREMAP_MAYMOVE);
    else if (memory != NULL)
        (void)munmap(memory, nbytes);
    if (resized == MAP_FAILED)
        return NULL;
#if defined(MADV_HUGEPAGE)
    if (wanted >= ((size_t)32 << 20))    /* of less memory, the unused rest of two megabytes would be a large part */
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
static void drop_pages(void *memory, size_t kept, size_t nbytes) {
#if defined(TYPEDBYTES_OWN_PAGES)
    size_t start = (kept + 0xffff) & ~(size_t)0xffff;    /* no page is larger */
    if (start < nbytes)
        (void)madvise((unsigned char *)memory + start, nbytes - start, MADV_DONTNEED);
#else
    (void)memory, (void)kept, (void)nbytes;
#endif
}

#endif
