# ReadBuffer and WriteBuffer: small structs with inline checked access; growing and refilling are out of line.
#
# Here: cursors, capacity, growth. Not here: type codes, Python values, files.
# Invariant: start <= cursor <= end; bytes from `mark` (when set) or `cursor` up to `end` survive a refill.

from libc.string cimport memchr, memcmp
from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF

from typedbytes.core.byteorder cimport copy_short
from typedbytes.core.cpython cimport new_uninitialized_bytes, unlikely
from typedbytes.core.refs cimport bytes_data

# Reads at most `capacity` bytes to `target` and returns their number, 0 at the end of input;
# raises what the source raises.
ctypedef Py_ssize_t (*fill_function)(void* source, unsigned char* target, Py_ssize_t capacity) except -1

cdef struct ReadBuffer:
    const unsigned char* cursor    # next byte to read
    const unsigned char* end       # one past the last byte held
    const unsigned char* start     # first byte held
    const unsigned char* mark      # first byte that a refill must keep; NULL: the cursor's
    long long start_offset         # offset in the input of `start`
    unsigned char* storage         # owned memory, NULL when the bytes are borrowed
    Py_ssize_t capacity            # bytes of storage
    Py_ssize_t usual_capacity      # to which storage shrinks after a large value
    fill_function fill             # NULL: the whole input is between start and end
    void* source                   # borrowed, passed to fill
    bint read_ahead                # False: never ask fill for more than is wanted

cdef inline long long offset_of(const ReadBuffer* b, const unsigned char* p) noexcept nogil:
    return b.start_offset + (p - b.start)

cdef inline Py_ssize_t held(const ReadBuffer* b) noexcept nogil:
    return b.end - b.cursor

# The first occurrence of these bytes, one at least; NULL: none.
cdef inline const unsigned char* find_bytes(const unsigned char* p, const unsigned char* end,
                                            const unsigned char* wanted,
                                            Py_ssize_t nbytes) noexcept nogil:
    while end - p >= nbytes:
        p = <const unsigned char*>memchr(p, wanted[0], end - p - nbytes + 1)
        if p == NULL or memcmp(p, wanted, nbytes) == 0:
            return p
        p += 1
    return NULL

cdef void borrow(ReadBuffer* b, const unsigned char* p, Py_ssize_t nbytes) noexcept nogil
# 1: `wanted` bytes are held from the cursor on; 0: the input ends before.
# Pointers into the buffer are stale afterwards.
cdef int refill(ReadBuffer* b, Py_ssize_t wanted) except -1
# Get a view of a bytes-like object; the result may own the bytes, so keep it until the view is released.
cdef object get_view(object data, Py_buffer* view)
# Append bytes to those held (a buffer that is fed instead of filled).
cdef int append(ReadBuffer* b, const unsigned char* p, Py_ssize_t nbytes) except -1
# Insert one byte before the cursor; the buffer must be empty.
cdef int push_back(ReadBuffer* b, unsigned char byte) except -1
# Own `nbytes` of storage, filled from `source` (NULL fill: fed).
cdef int start_filled(ReadBuffer* b, Py_ssize_t nbytes, fill_function fill, void* source) except -1
# Shrink to the usual capacity after a value that needed more.
cdef void shrink(ReadBuffer* b) noexcept
cdef void release(ReadBuffer* b) noexcept


cdef struct WriteBuffer:
    unsigned char* cursor          # where the next byte goes
    unsigned char* end             # one past the reserved bytes
    unsigned char* start           # first byte written
    PyObject* owner                # the bytes object being filled, owned; NULL: borrowed scratch memory
    Py_ssize_t expected            # bytes of the last large output, fewer after small ones; 0: not known

cdef inline int reserve(WriteBuffer* b, Py_ssize_t nbytes) except -1:
    if unlikely(b.end - b.cursor < nbytes):
        return grow(b, nbytes)
    return 0

cdef inline Py_ssize_t written(const WriteBuffer* b) noexcept nogil:
    return b.cursor - b.start

cdef enum:
    LARGE_OUTPUT = 65536
    RESERVED_FRACTION = 16     # reserve 1/16 more than the previous large output
    TOLERATED_FRACTION = 8     # up to 1/8 of a large output may stay allocated after its end
    # what is expected is reserved at once up to here, and when an output is large from here on
    MAX_AT_ONCE = 4 * LARGE_OUTPUT

# These two set every field, whatever was in them; lend_scratch is for a copy of another buffer,
# and leaves `expected` as it is.
cdef inline void start_scratch(WriteBuffer* b, unsigned char* scratch, Py_ssize_t nbytes) noexcept:
    b.expected = 0
    lend_scratch(b, scratch, nbytes)

cdef int start_owned(WriteBuffer* b, Py_ssize_t nbytes) except -1

cdef inline void lend_scratch(WriteBuffer* b, unsigned char* scratch, Py_ssize_t nbytes) noexcept:
    b.owner = NULL
    b.start = b.cursor = scratch
    b.end = scratch + nbytes

cdef int grow(WriteBuffer* b, Py_ssize_t nbytes) except -1
# The bytes object itself, full or not; the buffer is left without memory.
cdef bytes take_owner(WriteBuffer* b)
# A bytes object for the buffer to fill, to which there is no other reference.
cdef void adopt(WriteBuffer* b, bytes owner) noexcept
cdef bytes finish_owned(WriteBuffer* b)

# The bytes written, as a bytes object; the buffer is left empty.
cdef inline bytes finish(WriteBuffer* b):
    cdef PyObject* short
    if b.owner != NULL:
        return finish_owned(b)
    short = new_uninitialized_bytes(written(b))
    copy_short(bytes_data(short), b.start, written(b))
    b.cursor = b.start
    result = <bytes>short
    Py_XDECREF(short)
    return result

cdef inline void drop(WriteBuffer* b) noexcept:
    if b.owner != NULL:
        Py_XDECREF(b.owner)
        b.owner = NULL
    b.start = b.cursor = b.end = NULL
