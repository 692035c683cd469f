# CRC-32C; see crc32c.h.

from libc.stdint cimport uint32_t

cdef extern from "block/crc32c.h" nogil:
    # Once, before the first use; plain: not by the processor's instruction.
    void crc32c_start(bint plain) noexcept
    uint32_t crc32c(uint32_t crc, const unsigned char* p, Py_ssize_t nbytes) noexcept
