# Large memory and its owners; see memory.h.

cdef extern from "core/memory.h" nogil:
    # PyMem_RawRealloc; NULL: no memory, and the old block is unchanged.
    void* enlarge(void* memory, size_t nbytes) noexcept
    # The same for blocks that are kept, of `had` bytes; it may allocate more than requested.
    void* enlarge_kept(void* memory, size_t had, size_t* nbytes) noexcept
    # Keeps a block of this size for the next allocation, or frees it.
    void release_memory(void* memory, size_t nbytes) noexcept
    void add_owner(long* owners) noexcept
    # The number of owners left.
    long remove_owner(long* owners) noexcept
    void set_flag(int* flag, int value) noexcept
    bint flag_is_set(const int* flag) noexcept
