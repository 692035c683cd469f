# Floor 3. Columns: typed bytes to arrays and back, without an object for each value and without the GIL.
#
# What belongs here: the memory of columns, the walk that fills them, Arrow's structures, the way back to bytes. What this file
# must not know: sources, sinks, NumPy; who imports it hands bytes in and takes bytes out. Its parts:
#     memory.pxi    Column and Table: what is held, who owns it, room for more
#     type.pxi      a column's type, from a description, from a value, back to a description
#     strided.pxi   records of one size, in blocks, both ways
#     walk.pxi      bytes to columns, value by value
#     widen.pxi     a column that meets another kind
#     build.pxi     the Builder: policies, batches; whose turn it is
#     write.pxi     columns to bytes
#     export.pxi    Batches as buffers and as Arrow's structures
#     import.pxi    others' buffers and Arrow's structures as columns
#
# Always true: memory grows with bytes that have come in, never with a count that they promise; a Table is changed by the one
# Builder that makes it, and by nobody once it is a Batch; what a Batch gives away keeps its Table alive.

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t, INT32_MAX
from libc.string cimport memcmp, memcpy, memset, strcmp, strlen
from cpython.buffer cimport PyBUF_RECORDS_RO, PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.exc cimport PyErr_Clear
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New
from cpython.ref cimport Py_INCREF, Py_XDECREF

from typedbytes.columns.arrow cimport *
from typedbytes._core cimport ReadBuffer, borrow, bytes_data, new_bytes
from typedbytes.core.byteorder cimport *
from typedbytes._core cimport *
from typedbytes.core.cpython cimport bytes_resize
from typedbytes.core.memory cimport *
from typedbytes.core.typecode cimport *

from sys import byteorder

from typedbytes.errors import EncodeTypeError, EncodeValueError, LimitError

__all__ = [
    "Batch", "Builder", "Lent", "LentStream", "Rows", "arrow_names", "arrow_stream", "encode_rows", "rows_of_arrow",
    "rows_of_batch", "rows_of_buffer", "rows_of_encoded", "rows_of_parts",
]

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define tb_likely(x) __builtin_expect(!!(x), 1)
    #define tb_unlikely(x) __builtin_expect(!!(x), 0)
    #else
    #define tb_likely(x) (x)
    #define tb_unlikely(x) (x)
    #endif
    """
    bint often "tb_likely"(bint condition) noexcept nogil
    bint seldom "tb_unlikely"(bint condition) noexcept nogil

cdef bint LITTLE = byteorder == "little"

include "memory.pxi"
include "type.pxi"
include "strided.pxi"
include "write.pxi"
include "walk.pxi"
include "widen.pxi"
include "build.pxi"
include "export.pxi"
include "import.pxi"
