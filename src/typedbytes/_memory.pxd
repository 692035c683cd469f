# Floor 0. Large memory and its owners; see _memory.h.

cdef extern from "_memory.h" nogil:
    # PyMem_RawRealloc; NULL: there is no memory, and what there was is as it was.
    void* enlarge(void* memory, size_t nbytes) noexcept
    # Memory of its own pages, its size, and the one wanted: 0 frees it. NULL: there is no memory, and what there was is as it was.
    void* resize_pages(void* memory, size_t nbytes, size_t wanted) noexcept
    # What was written to such memory, but for the `kept` bytes at its start, is gone and takes no memory until it is written to again.
    void drop_pages(void* memory, size_t kept, size_t nbytes) noexcept
    void add_owner(long* owners) noexcept
    # The number of owners left.
    long remove_owner(long* owners) noexcept
