# Reads and writes Hadoop's SequenceFile: header, sync markers, records and blocks, keys and values.
#
# Here: the file format. Not here: paths, URLs, which library implements a codec. A source or
# sink is an object with a method to call; a codec is a function of bytes. The parts:
#     classes/       classes that a line of text describes: program.pxi, their bytes to typed bytes (decode.pxi) and
#                    back (encode.pxi), the fast path of the first (short.pxi), Java's text (text.pxi), objects
#                    (objects.pxi)
#     writables.pxi  keys and values: conversion between Hadoop's Writables and objects, and to typed bytes
#     frames.pxi     header, records, blocks, sync markers, splits
#     reader.pxi     records as objects or typed bytes, resync after damage
#     short_records.pxi  the same for common ones, without the GIL
#     writer.pxi     header, records and blocks, for writing
#     hive/          RCFiles: groups of rows (rcfile.pxi), cells as text (text.pxi, numbers.pxi) and binary
#                    (binary.pxi), and which of the two they are (serialization.pxi)
#
# The format, in Hadoop's terms (org.apache.hadoop.io.SequenceFile, versions 4 to 6; numbers big-endian, VInt is
# WritableUtils.writeVInt, Text is a VInt length and UTF-8):
#     header   "SEQ", version byte, Text key class, Text value class, boolean compressed, boolean block-compressed, Text
#              codec class (from 5 on, when compressed; 4 means DefaultCodec), metadata (from 6 on: i32 count, Text name
#              and Text value each), 16 bytes of sync marker
#     sync     i32 -1, the 16 bytes of the marker; between records every 100 KiB or so, before every block
#     record   i32 length of key and value, i32 length of key, key,
#              value (each value compressed on its own with RECORD compression)
#     block    sync, VInt number of records, then four buffers, each a VInt length and n compressed bytes: the key
#              lengths as VInts, the keys, the value lengths, the values
#
# Invariant: an object that is in use refuses a second use; a reader that failed stays failed; memory is allocated only
# for bytes that have arrived, except for a codec's output, which max_bytes bounds.

# cython: binding=False, embedsignature=True, embedsignature.format=clinic

from libc.stdint cimport INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, int16_t, int32_t, int64_t, uint64_t
from libc.math cimport INFINITY, NAN
from libc.string cimport memchr, memcmp, memcpy, memmove, memset
from cpython.buffer cimport PyBUF_READ, PyBuffer_Release
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals, PyErr_Clear
from cpython.memoryview cimport PyMemoryView_FromMemory, PyMemoryView_GET_BUFFER
from cpython.number cimport PyNumber_Index
from cpython.object cimport PyObject

from typedbytes._core cimport (
    abandon, adopt, borrow, BUSY, claim_to_close, CLOSED, decode_first, decode_record, decode_single_scalar,
    DecodeOptions, Decoding, drop, encode_record, encode_spaced_pair, EncodeOptions, Encoding, fill_from, find_bytes,
    find_write_method, finish, get_view, HAS_FAILED, held, is_closed, offset_of, OPEN, open_source, OpenWriter,
    PairSource, parse_max_bytes, raise_inherited, raise_skipped, raise_trailing, ReadBuffer, RecordTypes, refill,
    refuse_call, register_writer, release, report_unraisable, reserve, shrink, SIGNAL_MASK, skip_value, SkipOutcome,
    SKIPPED, Skipping, Source, start_filled, start_owned, start_skipping, State, stop_skipping, take_owner,
    unregister_writer, warn_unclosed, write_part, WriteBuffer, written,
)
from typedbytes.core.byteorder cimport (
    copy_short, is_ascii, load_f32, load_f64, load_i16, load_i32, load_i64, store_f32, store_f64, store_i16, store_i32,
    store_i64,
)
from typedbytes.core.cpython cimport (
    as_failure, has_buffer, likely, object_from_stolen, pair_from_stolen, raise_pending, reraise_memory_error, unlikely,
)
from typedbytes.core.dates cimport days_from_civil
from typedbytes.core.scalars cimport scalar_nbytes
from typedbytes.core.threads cimport NO_GIL, claim_state
from typedbytes.core.typecode cimport *
from typedbytes.core.refs cimport (
    incref, Py_EnterRecursiveCall, Py_LeaveRecursiveCall, Py_REFCNT, PyOS_string_to_double, PyTuple_GET_ITEM,
    PyTuple_GET_SIZE, text_object, xdecref,
)

import io
import os
from collections import deque, namedtuple

from typedbytes._base.magic import OLD_RCFILE_KEY, SEQUENCE_FILE, is_sequence_file, not_a_sequence_file
from typedbytes._types import Writable
from typedbytes.errors import (
    DecodeError, EncodeError, EncodeTypeError, EncodeValueError, FormatError, LimitError, TruncatedError, relocated,
)

__all__ = ["ClassProgram", "Reader", "RowGroups", "Skipped", "Writer", "decode", "encode"]

cdef enum:
    SYNC_NBYTES = 16
    ESCAPE = -1               # in place of a record's length: a sync marker follows
    ESCAPED_NBYTES = 20       # escape and marker
    HEADER_LENGTH = 0x53455100    # SEQ, and a version, read as a length
    SHORTEST_HEADER = 12      # bytes of a header up to some of its first class name
    SHOWN_NBYTES = 64         # of a file that is none, from which its format is recognised
    MIN_VERSION = 4
    MAX_VERSION = 6
    MAX_SHORT_VINT = 127      # the largest number that a vint holds in one byte
    READ_SIZE = 131072
    WRITE_SIZE = 65536
    WRITE_CAPACITY = WRITE_SIZE + 8192    # the record that fills it rarely makes it grow
    SYNC_INTERVAL = 102400    # bytes between markers: SequenceFile.SYNC_INTERVAL
    BLOCK_NBYTES = 1000000    # keys and values of a block: io.seqfile.compress.blocksize
    MAX_RECORD_NBYTES = 1 << 28
    LARGE_VALUE = 4096        # from this size on, a view is cheaper than a copy
    MAX_TYPED_CAPACITY = 1 << 20    # of a buffer that is kept from one described value to the next

cdef enum CompressionType:
    NONE
    RECORD
    BLOCK

COMPRESSIONS = ("none", "record", "block")
DEFAULT_CODEC = "org.apache.hadoop.io.compress.DefaultCodec"

include "classes/program.pxi"
include "classes/short.pxi"
include "classes/decode.pxi"
include "classes/text.pxi"
include "classes/encode.pxi"
include "writables.pxi"
include "classes/objects.pxi"
include "frames.pxi"
include "reader.pxi"
include "short_records.pxi"
include "writer.pxi"
include "copy_pairs.pxi"
include "hive/types.pxi"
include "hive/numbers.pxi"
include "hive/text.pxi"
include "hive/binary.pxi"
include "hive/serialization.pxi"
include "hive/rcfile.pxi"
