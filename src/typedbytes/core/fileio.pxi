# Floor 1. Binary files as sources and sinks; see source.pxd.
#
# Always true: a count that a file gives is checked before it is used; none is asked for nothing.

from libc.string cimport memcpy
from cpython.buffer cimport PyBUF_WRITE
from cpython.exc cimport PyErr_CheckSignals
from cpython.memoryview cimport PyMemoryView_FromMemory

import io

cdef enum:
    CHUNK_SIZE = 65536        # of memory that a file gets to keep

cdef class Source:
    # What is not known to let go of memory that it is lent gets other memory, which is copied.

    def __cinit__(self, source):
        name = "readinto1" if type(source) is io.BufferedReader else "readinto"
        self.method = getattr(source, name, None)
        self.lets_go = type(source) in (io.FileIO, io.BytesIO, io.BufferedReader)
        if not callable(self.method) or isinstance(source, io.TextIOBase):
            raise TypeError(f"a source is a binary file with readinto(), not {type(source).__name__}")


cdef Py_ssize_t fill_from(void* source, unsigned char* target, Py_ssize_t room) except -1:
    cdef Source self = <Source>source
    cdef Py_ssize_t nbytes
    PyErr_CheckSignals()
    if self.lets_go:
        view = PyMemoryView_FromMemory(<char*>target, room, PyBUF_WRITE)
        count = self.method(view)
        view.release()
        return checked_nbytes(count, room)
    room = min(room, <Py_ssize_t>CHUNK_SIZE)
    chunk = bytearray(room)
    nbytes = checked_nbytes(self.method(chunk), min(room, len(chunk)))
    memcpy(target, <char*>chunk, nbytes)
    return nbytes


cdef Py_ssize_t checked_nbytes(object count, Py_ssize_t room) except -1:
    if count is None:
        raise BlockingIOError("readinto() found no bytes: a source must not be non-blocking")
    if type(count) is not int or not 0 <= count <= room:
        raise ValueError(f"readinto() returned {count!r} for a buffer of {room} bytes")
    return count


cdef int hand_over(object sink, bytes data) except -1:
    # All of it: a raw file may take a part.
    cdef Py_ssize_t nbytes = 0
    while nbytes < len(data):
        count = sink.write(memoryview(data)[nbytes:] if nbytes else data)
        if count is None and isinstance(sink, io.RawIOBase):
            raise BlockingIOError("write() took no bytes: a sink must not be non-blocking")
        if count is None:
            return 0    # a file that does not count
        if type(count) is not int or not 0 < count <= len(data) - nbytes:
            raise OSError(f"write() returned {count!r} for {len(data) - nbytes} bytes")
        nbytes += count
    return 0
