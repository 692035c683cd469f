# Floor 1. Binary files as where the bytes of a ReadBuffer come from, and where whole buffers go.
#
# What belongs here: calling readinto and write and believing nothing that they say. What this file must not know: what bytes mean.

cdef class Source:
    cdef object method
    cdef bint lets_go

# A fill_function of a ReadBuffer, whose source is a Source.
cdef Py_ssize_t fill_from(void* source, unsigned char* target, Py_ssize_t room) except -1
# All of the bytes, in as many calls of write as the sink wants.
cdef int hand_over(object sink, bytes data) except -1
