# File objects as where the bytes of a ReadBuffer come from, and where those of a WriteBuffer go.
#
# Here: which method of a file object is called, and a check of what it returns. Not here: what
# the bytes mean; paths and descriptors.

cdef enum ReadMethod:
    READ_INTO         # fills the memory that it is given, and keeps no reference to it
    READ_INTO_COPY    # may keep a reference, so that it gets memory of its own
    READ              # returns bytes

cdef enum:
    MAX_TRANSFER = 0x7ffff000    # bytes of one call: Linux transfers no more, and macOS refuses 2^31

cdef class Source:
    cdef object method
    cdef ReadMethod kind
    cdef bint ended           # the end of the input was reported; the file is not asked again

# read_ahead: False for a method that returns no more than it is asked for, even where it has to wait for all of it.
cdef Source open_source(object file, bint read_ahead)
# A fill_function of a ReadBuffer, whose source is a Source.
cdef Py_ssize_t fill_from(void* source, unsigned char* target, Py_ssize_t capacity) except -1
# The method that takes bytes; raises TypeError where the file has none.
cdef object find_write_method(object file)
# All of the bytes, in as many calls of write() as the file needs.
cpdef int write_all(object file, object data) except -1
# data[start:end] or its first bytes, at most MAX_TRANSFER, in one call of the method;
# returns the number of bytes taken. is_raw: as below.
cdef Py_ssize_t write_part(object method, object data, Py_ssize_t start, Py_ssize_t end, bint is_raw) except -1
# How many of nbytes bytes a file took, by what its method returned; is_raw: None means that it took none.
cdef Py_ssize_t checked_written(object count, Py_ssize_t nbytes, bint is_raw) except -1
