# Binary block messages: sequences of values that two processes exchange as a whole, in the legacy layouts and the
# native format.
#
# Here: layouts, parsing a message, transferring bytes with one system call. Not here: how a
# descriptor was opened, names of files, the command. docs/block-format.md is the specification.
#     encoder.pxi             values to bytes: the encoder, and what is shared by
#                             encode_legacy.pxi and encode_native.pxi
#     values.pxi              the type of a value, and where its bytes are
#     parse.pxi               bytes to values: the parser, and what is shared by parse_legacy.pxi and parse_native.pxi
#     decoder.pxi             input that is fed in pieces
#     sockets.pxi             system calls on sockets, descriptors and files; used by reader.pxi and writer.pxi
#     ring.pxi                bytes through memory that another process maps too, with ring.h
#     calls.pxi               a request and its reply
#     coalesce.pxi            many messages in few system calls: coalesce_threads.pxi (with pthreads.pxd)
#                             and coalesce_asyncio.pxi
#
# Invariant: a declared length is compared with the bytes that remain; a message is decoded completely or not at all; an
# object in use raises RuntimeError when it is used again.

# Builtin functions are called faster than Cython's own; they carry their signatures in their docstrings.
# cython: binding=False, embedsignature=True, embedsignature.format=clinic

from libc.errno cimport EAGAIN, EBADF, EINTR, EPIPE, ETIMEDOUT, errno
from libc.stdint cimport INT32_MAX, INT32_MIN, int32_t, int64_t, uint32_t, uint64_t
from libc.stdio cimport snprintf
from libc.string cimport memchr, memcmp, memcpy, memmove, memset
from posix.uio cimport iovec, writev
from posix.unistd cimport close as close_descriptor, read, write
from cpython.buffer cimport (
    PyBUF_READ, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer,
)
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.memoryview cimport PyMemoryView_FromMemory, PyMemoryView_GET_BUFFER
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.sequence cimport PySequence_Fast_GET_SIZE

from typedbytes._core cimport (
    abandon, adopt_writer, append, borrow, BUSY, checked_written, claim_to_close, CLOSED, decode_record, DecodeOptions,
    Decoding, drop, encode_record, EncodeOptions, Encoding, fill_from, find_write_method, finish, get_view, HAS_FAILED,
    held, is_closed, MAX_TRANSFER, offset_of, OPEN, open_source, OpenWriter, parse_max_bytes, raise_in_use,
    raise_inherited, raise_trailing, ReadBuffer, refill, refuse_call, register_writer, release, report_unraisable,
    reserve, shrink, SIGNAL_MASK, Source, start_filled, start_scratch, State, unregister_writer, warn_unclosed,
    WriteBuffer, written,
)
from typedbytes.core.byteorder cimport *
from typedbytes.core.cpython cimport (
    ascii_data, as_failure, bytes_resize, float_from_f64, has_buffer, int_from_i64, int_to_i64, new_ascii,
    reraise_memory_error,
    tuple_from_stolen, unlikely,
)
from typedbytes.block.crc32c cimport crc32c, crc32c_start
from typedbytes.block.pthreads cimport *
from typedbytes.block.ring cimport *
from typedbytes.core.heap cimport keep_freed
from typedbytes.core.refs cimport (
    bytes_data, bytes_size, new_bytes, PY_SSIZE_T_MAX, PyOS_string_to_double, PyUnicode_DATA, PyUnicode_GET_LENGTH,
    PyUnicode_IS_ASCII, PyUnicode_IS_COMPACT_ASCII, PyUnicode_READY, text_object,
)
from typedbytes.core.threads cimport claim_state, lock_writers
from typedbytes.core.typecode cimport *

import io
import os
import re
import sys
from binascii import a2b_base64, b2a_base64
from time import monotonic

from typedbytes._core import ParametersOf, dumps, loads
from typedbytes._types import Byte, Ext, Float, Long, Writable
from typedbytes.errors import (
    BlockError, CallError, DecodeError, EncodeError, EncodeTypeError, EncodeValueError, LimitError, TruncatedError,
)

__all__ = [
    "ArrowStream", "AsyncCoalescingWriter", "BlockDecoder", "BlockEncoder", "BlockReader", "BlockWriter",
    "CoalescingWriter", "Command", "Connection", "ELEMENTS", "Encoded", "Message", "RING_IS_SUPPORTED", "Ring",
    "array_view", "element_name",
]

cdef extern from "<sys/socket.h>" nogil:
    cdef struct msghdr:
        iovec* msg_iov
        size_t msg_iovlen
    Py_ssize_t send_bytes "send"(int descriptor, const void* p, size_t nbytes, int flags)
    Py_ssize_t sendmsg(int descriptor, const msghdr* message, int flags)
    int setsockopt(int descriptor, int level, int name, const void* value, unsigned int nbytes)

cdef extern from *:
    """
    #include <netinet/in.h>
    #include <netinet/tcp.h>
    #include <poll.h>
    #include <sys/stat.h>
    #ifndef MSG_NOSIGNAL
    #define MSG_NOSIGNAL 0    /* Python ignores SIGPIPE by itself */
    #endif
    #ifndef TCP_NOTSENT_LOWAT
    #define TCP_NOTSENT_LOWAT -1    /* the call fails, and SO_SNDBUF alone bounds what is in flight */
    #endif
    """
    enum: MSG_NOSIGNAL
    enum: IPPROTO_TCP
    enum: TCP_NODELAY
    enum: TCP_NOTSENT_LOWAT
    enum: SOL_SOCKET
    enum: SO_SNDBUF
    enum: POLLIN
    enum: POLLOUT
    cdef struct pollfd:
        int fd
        short events
        short revents
    int poll(pollfd* descriptors, unsigned long count, int milliseconds) nogil
    ctypedef struct stat_struct "struct stat":
        unsigned int st_mode
    int fstat(int descriptor, stat_struct* found) nogil
    bint S_ISSOCK(unsigned int mode) nogil

cdef enum Layout:
    LINE
    BLOCK
    LAYOUT_BYTES
    TYPE8
    TOTAL
    HEADER
    NATIVE

cdef enum:
    LEGACY_BYTES
    LEGACY_STRING
    LEGACY_COMMAND
    LEGACY_INT
    LEGACY_LONG
    LEGACY_DOUBLE

cdef enum:
    # The types of a native message that TypedBytes has no code for.
    ARRAY = 0x20
    ARROW = 0x21
    NULL_VALUE = 0x22
    COMMAND = 0x23
    NESTED = 0x3f         # only while encoding: replaced by the code of the nested value
    # The flags of a native message.
    LITTLE_ARRAYS = 1
    CHECKSUM = 2
    REPLY_WANTED = 4
    SHARED_BODY = 8

    NATIVE_START = 0xf5
    HEAD_SIZE = 24
    ENTRY_SIZE = 16
    ALIGNMENT_LOG2 = 3    # what we write: enough for every element
    ALIGNMENT = 8
    NELEMENTS = 11
    UNSIGNED_1 = 4        # the index of this element type in ELEMENT_LETTERS
    MAX_DIMENSIONS = 64   # what a buffer of Python can have

    LARGE_NBYTES = 65536  # values of this size or more are not copied
    SCRATCH = 8192        # the initial output buffer, which is reused
    FIRST_STEP = 1 << 20  # the initial allocation for a large value
    READ_SIZE = 262144
    MAX_BUFFER = 1 << 30
    MAX_PIECES = 1024     # what writev takes
    FEW_EXTERNAL_PARTS = 8
    MAX_REPLACEMENTS_IN_ROW = 64
    LONGEST_KEPT_COMMAND = 64
    MAX_KEPT = 4096      # capacity for values and entries that is kept from message to message

cdef uint32_t NATIVE_MAGIC = 0xf5424201
cdef int64_t MAX_ENTRIES = 0xffffffff

LAYOUTS = {
    "line": LINE, "block": BLOCK, "bytes": LAYOUT_BYTES, "type8": TYPE8, "total": TOTAL, "header": HEADER,
    "native": NATIVE, 1: NATIVE,
}

# i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 bool: the letters for each in a buffer's format, and the one that memoryview uses.
cdef tuple ELEMENT_LETTERS = ("b", "hil", "ilq", "lqn", "B", "HIL", "ILQ", "LQN", "f", "d", "?")
ELEMENTS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "bool")
cdef tuple ELEMENT_FORMATS = (b"b", b"h", b"i", b"q", b"B", b"H", b"I", b"Q", b"f", b"d", b"?")
cdef int[11] ELEMENT_SIZES = [1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 1]

cdef object matches_integer = re.compile(rb"-?[0-9]{1,20}").fullmatch
cdef object is_escaped_text = re.compile(rb"(?:[^\\\r]|\\[\\rn])*").fullmatch
cdef object replace_escapes = re.compile(rb"\\(.)").sub
cdef object unescape = lambda found: {b"\\": b"\\", b"r": b"\r", b"n": b"\n"}[found[1]]

crc32c_start(False)


class Command(str):
    """Mark text as a command: what a message asks for, as opposed to its data.

    >>> BlockEncoder().encode([Command("a")]).hex()
    '00000001000000020000000161'
    """

    __slots__ = ()
    __signature__ = ParametersOf(lambda text="": None)

    def __repr__(self):
        return f"Command({str.__repr__(self)})"


class ArrowStream:
    """Hold the unchanged bytes of an Arrow IPC stream in `data`; pyarrow.ipc.open_stream(stream.data) reads it.

    Tables and record batches of pyarrow are encoded as such streams without being wrapped in this class.

    >>> ArrowStream(b"abc").data.nbytes
    3
    """

    __slots__ = ("data",)

    def __init__(self, data):
        self.data = memoryview(data).cast("B")

    def __eq__(self, other):
        return self.data == other.data if type(other) is ArrowStream else NotImplemented

    __hash__ = None

    def __repr__(self):
        return f"<ArrowStream of {self.data.nbytes} bytes>"


cdef class Message:
    """Message()\n--\n\nHold the values of one message, in order: a sequence that equals the list or the tuple of them.

    id: of a native message, None in a legacy layout. wants_reply: the sender asked for a reply.

    >>> message, = BlockDecoder().feed(BlockEncoder("native").encode([1, "a"], id=7))
    >>> message.id, message[1], list(message)
    (7, 'a', [1, 'a'])
    """

    cdef readonly tuple values
    cdef long long number
    cdef readonly bint wants_reply

    def __cinit__(self):
        self.values = ()
        self.number = -1

    @property
    def id(self):
        """The id of a native message, None in a legacy layout.

        >>> BlockDecoder().feed(bytes(4))[0].id
        """
        return None if self.number < 0 else self.number

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        return self.values[index]

    def __iter__(self):
        return iter(self.values)

    def __contains__(self, value):
        return value in self.values

    def __eq__(self, other):
        if isinstance(other, Message):
            return self.values == (<Message>other).values
        if isinstance(other, (list, tuple)):
            return self.values == tuple(other)
        return NotImplemented

    __hash__ = None

    def __reduce__(self):
        raise TypeError("a Message cannot be pickled: pickle list(message) instead")

    def __repr__(self):
        return f"Message({self.values!r})" if self.number < 0 else f"Message({self.values!r}, id={self.number})"


cdef class ArrayBody:
    # Exports the elements that follow a shape as a buffer of that shape.
    cdef bytes owner
    cdef const unsigned char* p
    cdef Py_ssize_t nbytes
    cdef Py_ssize_t itemsize
    cdef int ndim
    cdef bytes format
    cdef Py_ssize_t shape[64]
    cdef Py_ssize_t strides[64]

    def __getbuffer__(self, Py_buffer* view, int flags):
        if flags & PyBUF_WRITABLE:
            raise BufferError("the elements of a message cannot be changed")
        lend_bytes(view, self.p, self.nbytes)
        view.obj = self
        view.itemsize = self.itemsize
        view.ndim = self.ndim
        view.format = <char*>PyBytes_AS_STRING(self.format)
        view.shape = self.shape
        view.strides = self.strides

    def __reduce__(self):
        raise TypeError("the elements of a message cannot be pickled or copied")


cdef object array_of(bytes body, int element, int ndim, bint little):
    # A read-only memoryview; ValueError when the length of the body does not match its shape.
    cdef ArrayBody array = ArrayBody()
    cdef const unsigned char* p = <const unsigned char*>PyBytes_AS_STRING(body)
    cdef Py_ssize_t nbytes = PyBytes_GET_SIZE(body) - 8 * ndim
    cdef Py_ssize_t size = ELEMENT_SIZES[element]
    cdef Py_ssize_t stride = size
    cdef bint empty = False
    cdef int i
    if nbytes < 0:
        raise ValueError(f"an array of {nbytes + 8 * ndim} bytes is too short for {ndim} dimensions")
    for i in range(ndim - 1, -1, -1):
        array.shape[i] = load_i64(p + 8 * i)
        empty |= array.shape[i] == 0
        if array.shape[i] < 0:
            raise ValueError("an array has a negative dimension")
    for i in range(ndim - 1, -1, -1):
        array.strides[i] = stride
        if array.shape[i] > PY_SSIZE_T_MAX // stride:    # also where another length is 0: NumPy rejects such an array
            raise ValueError("the dimensions of an array come to more than 2^63-1 bytes")
        stride *= max(array.shape[i], 1)
    if nbytes != (0 if empty else stride):
        raise ValueError(f"an array of {0 if empty else stride} bytes has a body of {nbytes}")
    array.owner = body
    array.p = p + 8 * ndim
    if size > 1 and little != (sys.byteorder == "little"):
        array.owner = byte_swapped(body[8 * ndim:], size)
        array.p = <const unsigned char*>PyBytes_AS_STRING(array.owner)
    array.nbytes = nbytes
    array.itemsize = size
    array.ndim = ndim
    array.format = ELEMENT_FORMATS[element]
    return memoryview(array)


def array_view(str element, list shape, bytes data):
    """Return little-endian elements as a read-only memoryview of a shape; ValueError for another number of them.

    >>> array_view("i2", [2, 1], bytes([1, 0, 2, 0])).tolist()
    [[1], [2]]
    """
    if element not in ELEMENTS:
        raise ValueError(f"element must be one of {', '.join(ELEMENTS)}, not {element!r}")
    if len(shape) > MAX_DIMENSIONS or not all(type(each) is int and 0 <= each < 2**63 for each in shape):
        raise ValueError(f"a shape has at most {MAX_DIMENSIONS} lengths")
    head = bytearray()
    for each in shape:
        head += each.to_bytes(8, "big")
    return array_of(bytes(head) + data, ELEMENTS.index(element), len(shape), True)


def element_name(view):
    """Return the name of the elements of a memoryview that came out of a message.

    >>> element_name(memoryview(b"abc"))
    'u1'
    """
    return ELEMENTS[element_of(view.format, view.itemsize)]


cdef bytes byte_swapped(bytes items, Py_ssize_t size):
    # Reverses the bytes of each item: with strides, one byte position of all items at a time.
    cdef Py_ssize_t i
    cdef object result = bytearray(len(items))
    for i in range(size):
        result[i::size] = bytearray(items[size - 1 - i::size])
    return bytes(result)


include "encoder.pxi"
include "encode_legacy.pxi"
include "encode_native.pxi"
include "values.pxi"
include "parse.pxi"
include "parse_legacy.pxi"
include "parse_native.pxi"
include "decoder.pxi"
include "sockets.pxi"
include "ring.pxi"
include "writer.pxi"
include "reader.pxi"
include "calls.pxi"
include "coalesce.pxi"
include "coalesce_threads.pxi"
include "coalesce_asyncio.pxi"
