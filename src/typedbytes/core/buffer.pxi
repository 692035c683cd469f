# The out-of-line half of ReadBuffer and WriteBuffer: refilling, growing, releasing.
#
# Invariant: memory grows with the bytes that have really come in, never with a length that the input declares;
# a failed allocation leaves the old memory owned exactly once.

from cpython.buffer cimport PyBUF_SIMPLE, PyObject_GetBuffer
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.string cimport memcpy, memmove

from typedbytes.core.cpython cimport bytes_resize, bytes_shorten
from typedbytes.core.heap cimport keep_freed
from typedbytes.core.refs cimport bytes_data, bytes_size, new_bytes, PY_SSIZE_T_MAX


def keep_freed_memory(Py_ssize_t nbytes=1 << 20):
    """Have the C library keep freed blocks of up to `nbytes`, for what frees and allocates them in turn."""
    keep_freed(nbytes)


cdef void borrow(ReadBuffer* b, const unsigned char* p, Py_ssize_t nbytes) noexcept nogil:
    b.start = b.cursor = p
    b.end = p + nbytes
    b.mark = NULL
    b.start_offset = 0
    b.storage = NULL
    b.fill = NULL


cdef int refill(ReadBuffer* b, Py_ssize_t wanted) except -1:
    cdef Py_ssize_t have, free, got
    if b.fill == NULL:
        return 0
    while b.end - b.cursor < wanted:
        reserve_storage(b, wanted)
        have = b.end - b.cursor
        free = b.storage + b.capacity - b.end
        if not b.read_ahead and free > wanted - have:
            free = wanted - have
        got = b.fill(b.source, <unsigned char*>b.end, free)
        if got == 0:
            return 0
        b.end += got
    return 1


cdef int reserve_storage(ReadBuffer* b, Py_ssize_t wanted) except -1:
    # Move what must be kept to the front, once; enlarge only when the storage is half full of bytes that did come in.
    cdef const unsigned char* kept = b.mark if b.mark != NULL else b.cursor
    cdef Py_ssize_t nkept = b.end - kept
    cdef Py_ssize_t free
    cdef Py_ssize_t done
    cdef unsigned char* storage
    if nkept == 0:
        b.start_offset += b.cursor - b.start
        kept = b.storage
        use_storage(b, b.storage, 0, 0)
    free = b.storage + b.capacity - b.end
    if free >= wanted - (b.end - b.cursor) or (kept == b.start and free > 0):
        return 0
    if kept != b.storage:
        memmove(b.storage, kept, nkept)
        b.start_offset += kept - b.start
        use_storage(b, b.storage, b.cursor - kept, nkept)
    if nkept >= b.capacity // 2:
        # Not copied by us: large memory is moved by its pages, so that there are never two copies of it.
        done = b.cursor - b.start
        storage = <unsigned char*>PyMem_Realloc(b.storage, 2 * <size_t>b.capacity)    # fails beyond Py_ssize_t
        if storage == NULL:
            raise MemoryError
        b.capacity *= 2
        b.storage = storage
        keep_freed(b.capacity)
        use_storage(b, storage, done, nkept)
    return 0


cdef inline void use_storage(ReadBuffer* b, unsigned char* storage, Py_ssize_t done, Py_ssize_t nkept) noexcept:
    # All that is held is at the front of `storage`, and `done` bytes of it were read already.
    b.start = storage
    b.cursor = storage + done
    b.end = storage + nkept
    if b.mark != NULL:
        b.mark = storage


cdef object get_view(object data, Py_buffer* view):
    # A buffer that is not contiguous is copied. (NumPy reports it with a ValueError.)
    try:
        PyObject_GetBuffer(data, view, PyBUF_SIMPLE)
    except (BufferError, ValueError):
        data = memoryview(data).tobytes()
        PyObject_GetBuffer(data, view, PyBUF_SIMPLE)
    return data


cdef int start_filled(ReadBuffer* b, Py_ssize_t nbytes, fill_function fill, void* source) except -1:
    borrow(b, NULL, 0)
    b.storage = <unsigned char*>PyMem_Malloc(nbytes)
    if b.storage == NULL:
        raise MemoryError
    b.start = b.cursor = b.end = b.storage
    b.capacity = b.usual_capacity = nbytes
    b.fill = fill
    b.source = source
    return 0


cdef int append(ReadBuffer* b, const unsigned char* p, Py_ssize_t nbytes) except -1:
    # All or nothing: storage grows in steps, and the last of them may fail for lack of memory.
    cdef Py_ssize_t done = 0
    cdef Py_ssize_t part
    try:
        while done < nbytes:
            reserve_storage(b, held(b) + nbytes - done)
            part = min(nbytes - done, b.storage + b.capacity - b.end)
            memcpy(<unsigned char*>b.end, p + done, part)
            b.end += part
            done += part
    except MemoryError:
        b.end -= done
        raise
    return 0


cdef int push_back(ReadBuffer* b, unsigned char byte) except -1:
    if held(b):
        raise ValueError("bytes are held already")
    b.start_offset += b.cursor - b.start - 1
    b.start = b.cursor = b.storage
    b.storage[0] = byte
    b.end = b.start + 1
    return 0


cdef void shrink(ReadBuffer* b) noexcept:
    cdef Py_ssize_t nheld = b.end - b.cursor
    cdef unsigned char* smaller
    if b.capacity <= b.usual_capacity or nheld > b.usual_capacity // 2 or b.mark != NULL:
        return
    smaller = <unsigned char*>PyMem_Malloc(b.usual_capacity)
    if smaller == NULL:
        return    # keeping the larger one is not an error
    memcpy(smaller, b.cursor, nheld)
    b.start_offset += b.cursor - b.start
    PyMem_Free(b.storage)
    b.storage = smaller
    b.capacity = b.usual_capacity
    b.start = b.cursor = smaller
    b.end = smaller + nheld


cdef void release(ReadBuffer* b) noexcept:
    PyMem_Free(b.storage)
    b.storage = NULL
    b.start_offset += b.cursor - b.start
    b.start = b.cursor = b.end = b.mark = NULL
    b.capacity = 0
    b.fill = NULL


cdef int start_owned(WriteBuffer* b, Py_ssize_t nbytes) except -1:
    b.owner = NULL
    b.start = b.cursor = b.end = NULL
    b.expected = 0
    b.owner = new_bytes(NULL, nbytes)
    b.start = b.cursor = <unsigned char*>bytes_data(b.owner)
    b.end = b.start + nbytes
    return 0


cdef int grow(WriteBuffer* b, Py_ssize_t nbytes) except -1:
    # Output is written into the bytes object that it ends as, so nothing is copied at the end.
    cdef Py_ssize_t used = b.cursor - b.start
    cdef Py_ssize_t capacity = b.end - b.start
    if nbytes > PY_SSIZE_T_MAX // 4 - used:
        raise MemoryError
    if (2 * capacity > LARGE_OUTPUT or b.expected <= MAX_AT_ONCE) \
            and used + nbytes <= b.expected + b.expected // RESERVED_FRACTION:
        # As much as last time and a little more: what was freed is handed out again with its pages, and stays as it is.
        # Twice as much would be mapped, cut and unmapped at each call; bench: encode large_pairs. Grown in two steps,
        # an output of 128 to 192 KiB would leave a freed block below it, and the C library would return its pages.
        capacity = b.expected + b.expected // RESERVED_FRACTION
    else:
        capacity = max(2 * capacity, used + nbytes)
    if b.owner == NULL:
        b.owner = new_bytes(NULL, capacity)
        memcpy(bytes_data(b.owner), b.start, used)
    else:
        bytes_resize(&b.owner, capacity)
    b.start = <unsigned char*>bytes_data(b.owner)
    b.cursor = b.start + used
    b.end = b.start + capacity
    return 0


cdef bytes finish_owned(WriteBuffer* b):
    cdef Py_ssize_t slack = bytes_size(b.owner) - written(b)
    if written(b) > LARGE_OUTPUT and slack <= written(b) // TOLERATED_FRACTION:
        bytes_shorten(&b.owner, written(b))
    elif slack:
        bytes_resize(&b.owner, written(b))
    return take_owner(b)


cdef bytes take_owner(WriteBuffer* b):
    result = <bytes>b.owner
    drop(b)
    return result


cdef void adopt(WriteBuffer* b, bytes owner) noexcept:
    Py_INCREF(owner)
    b.owner = <PyObject*>owner
    b.start = b.cursor = <unsigned char*>bytes_data(b.owner)
    b.end = b.start + bytes_size(b.owner)
