# The sizes of scalars; see scalars.h.

cdef extern from "core/scalars.h" nogil:
    const unsigned char* FIXED_NBYTES
    Py_ssize_t scalar_nbytes(const unsigned char* p, Py_ssize_t nheld) noexcept
