# Many small messages in few system calls: the coalescing writers.
#
# Goal: the price of a message is that of encoding it; system calls are shared by a batch. Plan: two buffers. Messages are
# encoded straight into one, while the other is on its way; whoever finds the first full enough sends it, and a thread without
# the interpreter's lock sends what has waited for too long. Rejected: a queue of objects, a timer for each message.
#
# Always true: the mutex guards all that is not the interpreter's, and is never held by someone who waits for the interpreter's
# lock without letting others at it; only the one that set `is_sending` touches the buffer that is on its way; a full buffer
# makes its producers wait.

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
    long long waits           # for room
    long long largest         # bytes of a batch


cdef int check_sizes(Py_ssize_t flush_bytes, Py_ssize_t buffer_size) except -1:
    if not 1 <= flush_bytes <= buffer_size <= MOST_BUFFER:
        raise ValueError(f"flush_bytes is 1..buffer_size and that at most {MOST_BUFFER}, not {flush_bytes} and {buffer_size}")
    return 0


cdef Sink descriptor_sink(object sink):
    cdef Sink found = Sink(sink)
    if found.descriptor < 0:
        raise TypeError(f"a batch goes to a socket, a descriptor or a raw file, not to a {type(sink).__name__}")
    return found
