# Many small messages in few system calls: the coalescing writers.
#
# Goal: a message costs no more than its encoding; one system call sends many. Design: two buffers. Messages are
# encoded directly into one while the other is being sent; the writer that fills the first up to flush_bytes
# sends it, and a thread without the GIL sends what has waited longer than max_delay. Rejected: a queue of
# objects, a timer for each message.
#
# Invariant: no thread waits for the mutex while it holds the GIL; only the thread that set `is_sending` uses the buffer
# that is being sent; writers wait while the buffer is full. The mutex protects all other fields that are not Python
# objects, but some are read without it: `holder` and `is_closed`, by which a call is refused that must not wait for the
# mutex, and what flush_at_exit needs.

cdef enum:
    FLUSH_BYTES = 16384
    COALESCE_BUFFER = 65536

cdef struct Counts:
    long long messages
    long long bytes
    long long batches
    long long by_size
    long long by_age
    long long by_request
    long long waits           # for free capacity
    long long largest         # bytes of the largest batch


cdef int check_sizes(Py_ssize_t flush_bytes, Py_ssize_t buffer_size) except -1:
    if not 1 <= flush_bytes <= buffer_size <= MAX_BUFFER:
        raise ValueError(f"flush_bytes must be 1..buffer_size, and that at most {MAX_BUFFER}, "
                         f"not {flush_bytes} and {buffer_size}")
    return 0


cdef Sink descriptor_sink(object sink):
    cdef Sink found = Sink(sink)
    if found.descriptor < 0:
        raise TypeError(f"the sink must be a socket, a descriptor or a raw file, not a {type(sink).__name__}")
    return found
