# Where Hadoop sends a key; see java_hash.h.

from libc.stdint cimport int32_t, uint32_t

cdef extern from "core/java_hash.h" nogil:
    int32_t hash_of(const unsigned char* p, Py_ssize_t nbytes) noexcept
    void store_hash_suffix(unsigned char* p, uint32_t h, uint32_t wanted) noexcept
    uint32_t partition_of(const unsigned char* p, Py_ssize_t nbytes, uint32_t npartitions) noexcept
