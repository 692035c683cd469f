# Floor 0. Large memory that changes in size; see pages.h.

cdef extern from "_sorting/pages.h" nogil:
    # Memory, NULL for none yet, its size, and the one wanted: 0 frees it. NULL: there is no memory, and what there was is as it was.
    void* resize_pages(void* memory, size_t nbytes, size_t wanted) noexcept
    # What was written to behind the first `kept` bytes is gone, and takes no memory until it is written to again.
    void drop_pages(void* memory, size_t kept, size_t nbytes) noexcept
