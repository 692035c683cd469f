# Layer 1. The out-of-line half of ReadBuffer and WriteBuffer: refilling, growing, releasing.
#
# Always true: memory grows with the bytes that have really come in, never with a length that the input declares;
# a failed allocation leaves the old memory owned exactly once.

from cpython.buffer cimport PyBUF_SIMPLE, PyObject_GetBuffer
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.string cimport memcpy, memmove

from typedbytes.core.cpython cimport bytes_resize

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
    cdef Py_ssize_t done = b.cursor - kept
    cdef unsigned char* storage = b.storage
    cdef Py_ssize_t capacity = b.capacity
    cdef Py_ssize_t free
    if nkept == 0:
        b.start_offset += b.cursor - b.start
        b.start = b.cursor = b.end = kept = storage
        if b.mark != NULL:
            b.mark = storage
    free = b.storage + b.capacity - b.end
    if free >= wanted - (b.end - b.cursor) or (kept == b.start and free > 0):
        return 0
    if nkept >= capacity // 2:
        storage = <unsigned char*>PyMem_Malloc(2 * <size_t>capacity)    # which has none beyond Py_ssize_t
        if storage == NULL:
            raise MemoryError
        capacity *= 2
    memmove(storage, kept, nkept)
    if storage != b.storage:
        PyMem_Free(b.storage)
    b.start_offset += kept - b.start
    b.storage = storage
    b.capacity = capacity
    b.start = storage
    b.cursor = storage + done
    b.end = storage + nkept
    if b.mark != NULL:
        b.mark = storage
    return 0


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
    capacity = max(2 * capacity, used + nbytes)
    if capacity > LARGE_OUTPUT:
        # Asking for the same size again gets the same memory again, whose pages are there; bench: object level, bytes_100.
        capacity = max(capacity, b.expected)
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
    if bytes_size(b.owner) != written(b):
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
