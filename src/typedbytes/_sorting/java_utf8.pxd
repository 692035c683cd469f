# Characters as Java's decoder sees them; see java_utf8.h.

cdef extern from "_sorting/java_utf8.h" nogil:
    # The size of the character at p, of nbytes > 0 that are left; negative:
    # the number of bytes that one U+FFFD replaces.
    Py_ssize_t java_character(const unsigned char* p, Py_ssize_t nbytes) noexcept
