# Large memory blocks that can be resized; see pages.h.

cdef extern from "_sorting/pages.h" nogil:
    # Takes a block (NULL: a new one), its size and the new size (0 frees it). Returns NULL without memory;
    # the block is unchanged then.
    void* resize_pages(void* memory, size_t nbytes, size_t new_nbytes, size_t huge_from) noexcept
    # The contents after the first `kept` bytes are lost, and take no memory until they are written to again.
    void drop_pages(void* memory, size_t kept, size_t nbytes) noexcept
