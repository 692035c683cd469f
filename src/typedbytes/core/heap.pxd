# What the C library does with freed memory; see heap.h.

cdef extern from "core/heap.h":
    # What a value of this size needs stays with the process when it is released.
    void keep_freed(Py_ssize_t value_nbytes) noexcept
