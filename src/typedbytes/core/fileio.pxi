# File objects as sources and sinks; see fileio.pxd.
#
# Invariant: a count that a file returns is checked before it is used; a file that is asked for bytes is asked for at
# least one; one that returns None, because it would have to wait, raises BlockingIOError and loses nothing.

from libc.stdint cimport int64_t
from libc.string cimport memcpy
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytearray cimport PyByteArray_FromStringAndSize
from cpython.exc cimport PyErr_CheckSignals
from cpython.memoryview cimport PyMemoryView_FromMemory

from typedbytes.core.cpython cimport int_to_i64

import io

cdef enum:
    MAX_COPY = 1 << 20    # bytes asked for at once where they are copied

cdef class Source:
    # Made by open_source.
    pass


cdef Source open_source(object file, bint read_ahead):
    cdef Source source = Source.__new__(Source)
    source.kind, source.method = find_read_method(file, read_ahead)
    return source


# RawIOBase's own method, which raises NotImplementedError; PyPy has none.
cdef object ABSTRACT_READINTO = getattr(io.RawIOBase, "readinto", None)


cdef tuple find_read_method(object file, bint read_ahead):
    # One raw read a call where there is such a method, so that a value is returned as soon as it has come.
    if isinstance(file, io.TextIOBase):
        raise TypeError("a binary file is needed, not one opened as text")
    if type(file) in (io.FileIO, io.BytesIO):
        return READ_INTO, file.readinto
    if type(file) is io.BufferedReader and type(file.raw) is io.FileIO:
        return READ_INTO, file.readinto1
    for name in ("readinto1", "readinto", "recv_into") if read_ahead else ("readinto", "recv_into"):
        method = getattr(file, name, None)
        if callable(method) and getattr(type(file), name, None) is not ABSTRACT_READINTO:
            return READ_INTO_COPY, method
    for name in ("read1", "read", "recv") if read_ahead else ("read",):
        method = getattr(file, name, None)
        if callable(method):
            return READ, method
    raise TypeError(f"cannot read from a {type(file).__name__}: a binary file with readinto() or read() is needed")


cdef Py_ssize_t fill_from(void* source, unsigned char* target, Py_ssize_t capacity) except -1:
    cdef Source self = <Source>source
    cdef Py_ssize_t nbytes
    if self.ended:
        return 0
    PyErr_CheckSignals()    # a signal that came just before would wait as long as the file does
    if self.kind == READ_INTO:
        view = PyMemoryView_FromMemory(<char*>target, capacity, PyBUF_WRITE)
        nbytes = checked_read(self.method, self.method(view), capacity)
        view.release()
    elif self.kind == READ_INTO_COPY:
        # bytearray(n) is cleared: do not clear much for a method that returns little.
        chunk = PyByteArray_FromStringAndSize(NULL, min(capacity, <Py_ssize_t>MAX_COPY))
        capacity = len(chunk)
        nbytes = checked_read(self.method, self.method(chunk), capacity)
        nbytes = min(nbytes, <Py_ssize_t>len(chunk))    # a method may make it shorter
        memcpy(target, <char*>chunk, nbytes)
    else:
        capacity = min(capacity, <Py_ssize_t>MAX_COPY)
        nbytes = copy_read(self.method, self.method(capacity), target, capacity)
    self.ended = nbytes == 0
    return nbytes


cdef str method_name(object method):
    return getattr(method, "__name__", "read")


cdef int raise_would_block(object method) except -1:
    raise BlockingIOError(f"{method_name(method)}() returned None: the source must be in blocking mode")


cdef Py_ssize_t checked_read(object method, object count, Py_ssize_t capacity) except -1:
    if count is None:
        raise_would_block(method)
    if type(count) is not int:
        raise TypeError(f"{method_name(method)}() must return an int, not {type(count).__name__}")
    if not 0 <= count <= capacity:
        raise ValueError(f"{method_name(method)}() returned {count} for a buffer of {capacity} bytes")
    return count


cdef Py_ssize_t copy_read(object method, object data, unsigned char* target, Py_ssize_t capacity) except -1:
    cdef Py_buffer view
    if data is None:
        raise_would_block(method)
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"{method_name(method)}() must return bytes, not {type(data).__name__}")
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        if view.len > capacity:
            raise ValueError(f"{method_name(method)}() returned {view.len} bytes when {capacity} were asked for")
        memcpy(target, view.buf, view.len)
        return view.len
    finally:
        PyBuffer_Release(&view)


cdef bint is_not_for_writing(object file):
    if not isinstance(file, io.IOBase) or file.writable():
        return False
    # A class may define write() and leave IOBase's own writable(), which always says no.
    cdef object cls = type(file)
    cdef object write = getattr(cls, "write", None)
    return cls.writable is not io.IOBase.writable or write is None or write is io.BufferedIOBase.write


cdef object find_write_method(object file):
    if isinstance(file, io.TextIOBase):
        raise TypeError("a binary file is needed, not one opened as text")
    if is_not_for_writing(file):
        raise ValueError("the file is not open for writing")
    for name in ("write", "send", "sendall"):    # the first two return how much they took
        method = getattr(file, name, None)
        if callable(method):
            return method
    raise TypeError(f"cannot write to a {type(file).__name__}: a binary file with write() is needed, or a socket")


cdef Py_ssize_t checked_written(object count, Py_ssize_t nbytes, bint is_raw) except -1:
    # Allocates no memory where all is well: if that failed, what the file has would be written again.
    cdef int64_t taken
    if count is None:
        if is_raw:
            raise BlockingIOError("write() returned None: the sink must be in blocking mode")
        return nbytes    # a file that does not count
    if type(count) is not int:
        raise TypeError(f"write() must return an int, not {type(count).__name__}")
    if not int_to_i64(<PyObject*>count, &taken) or not 0 < taken <= nbytes:
        raise OSError(f"write() returned {count} for {nbytes} bytes")
    return <Py_ssize_t>taken


cpdef int write_all(object file, object data) except -1:
    """Write all of the bytes, in as many calls of the file's write() as it needs."""
    cdef Py_ssize_t nbytes = 0
    cdef bint is_raw = isinstance(file, io.RawIOBase)
    while nbytes < len(data):
        rest = memoryview(data)[nbytes:] if nbytes else data    # a file of the caller's may accept only bytes
        nbytes += checked_written(file.write(rest), len(data) - nbytes, is_raw)
        PyErr_CheckSignals()    # as after write_part
    return 0


# After a partial write a signal has not made the call fail with EINTR: the caller checks for signals after each call.
cdef Py_ssize_t write_part(object method, object data, Py_ssize_t start, Py_ssize_t end, bint is_raw) except -1:
    end = start + min(end - start, <Py_ssize_t>MAX_TRANSFER)    # so that no sum overflows 32 bits
    rest = memoryview(data)[start:end]    # before anything is taken
    return checked_written(method(rest), end - start, is_raw)
