# Where Hadoop sends a key; see java_hash.h.

from libc.stdint cimport int32_t, uint32_t

cdef extern from "core/java_hash.h" nogil:
    # The hash, which starts at 1, after more bytes.
    uint32_t hash_after(uint32_t h, const unsigned char* p, Py_ssize_t nbytes) noexcept
    int32_t hash_of(const unsigned char* p, Py_ssize_t nbytes) noexcept
    void store_hash_suffix(unsigned char* p, uint32_t h, uint32_t wanted) noexcept
    uint32_t partition_of(const unsigned char* p, Py_ssize_t nbytes, uint32_t npartitions) noexcept
    uint32_t partition_of_hash(uint32_t h, uint32_t npartitions) noexcept
