# Columns: typed bytes to arrays and back, without an object for each value and without the GIL.
#
# Here: the memory of columns, decoding into them, encoding from them, Arrow's structures. Not here: sources, sinks,
# NumPy; the caller passes bytes in and gets bytes back. The parts:
#     memory.pxi         Column and Table: their memory, its owners, reserving capacity
#     type.pxi           a column's type: from a description, from a value, back to a description
#     strided.pxi        blocks of records of one size, decoded and encoded
#     walk.pxi           bytes to columns, value by value
#     load.pxi           the same for values of the types that their columns have
#     text.pxi           whether STRINGs are UTF-8
#     transcode.pxi      STRINGs in other encodings
#     decimal.pxi        decimal numbers as text, and back
#     typed.pxi          columns that a class describes
#     widen.pxi          a column that meets a value of another type
#     build.pxi          the Builder: mismatch policies, batches
#     write.pxi          columns to bytes
#     export.pxi         Batches as buffers and as Arrow structures
#     import_buffer.pxi  buffers, encoded values and Batches as columns
#     import_arrow.pxi   Arrow structures of other libraries as columns
#     import_times.pxi   dates, times and decimals of Arrow
#
# Invariants: memory grows with the bytes received, never with a declared count; a Table is changed only by the Builder
# that fills it, and never once it belongs to a Batch; everything exported from a Batch keeps its Table alive.

from libc.errno cimport EIO
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t, INT32_MAX, INT64_MAX
from libc.string cimport memchr, memcmp, memcpy, memset, strcmp, strlen
from cpython.buffer cimport PyBUF_RECORDS_RO, PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.exc cimport PyErr_Clear, PyErr_ExceptionMatches
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.unicode cimport PyUnicode_Decode

from typedbytes.columns.arrow cimport *
from typedbytes._core cimport (
    borrow, DecodeOptions, Decoding, NEEDS_MORE, ReadBuffer, skip_value, SkipOutcome, SKIPPED, Skipping, start_skipping,
    stop_skipping,
)
from typedbytes.core.byteorder cimport *
from typedbytes.core.cpython cimport bytes_resize, likely, raise_pending, unlikely
from typedbytes.core.dates cimport (
    civil_time, days_from_civil, MICROSECONDS_OF_DAY, parse_iso_date, parse_iso_datetime, parse_iso_duration,
    parse_iso_time,
)
from typedbytes.core.memory cimport *
from typedbytes.core.refs cimport bytes_data, new_bytes, PY_SSIZE_T_MAX
from typedbytes.core.typecode cimport *

from sys import byteorder

from typedbytes.errors import EncodeTypeError, EncodeValueError, FormatError, LimitError

__all__ = [
    "Batch", "Builder", "ImportedArray", "ImportedArrayStream", "Rows", "arrow_names", "arrow_stream", "encode_rows",
    "rows_of_arrow", "rows_of_batch", "rows_of_buffer", "rows_of_children", "rows_of_encoded", "validity_bitmap",
]

cdef bint LITTLE = byteorder == "little"

include "memory.pxi"
include "type.pxi"
include "strided.pxi"
include "decimal.pxi"
include "write.pxi"
include "walk.pxi"
include "load.pxi"
include "text.pxi"
include "transcode.pxi"
include "typed.pxi"
include "widen.pxi"
include "build.pxi"
include "export.pxi"
include "import_buffer.pxi"
include "import_arrow.pxi"
include "import_times.pxi"
