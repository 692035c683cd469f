# The codec: encode, decode and skip of every type code, side by side.
#
# Here: bytes to values and back, options, the errors of both directions. Not here: files,
# descriptors, what outlives a call. The parts are included because they call one another:
#     core/codec/errors.pxi          errors with offset, code and path
#     core/codec/scalars.pxi         BYTE BOOL INT LONG FLOAT DOUBLE, Hive's SHORT and NULL
#     core/codec/bytes.pxi           BYTES; values with a length in bytes
#     core/codec/strings.pxi         STRING, and the table of strings that repeat
#     core/codec/application.pxi     WRITABLE, PICKLE and the other application codes 50..200
#     core/codec/pickle/             code 100 under the safe policy: opcode_names, types, write;
#                                    recognise, templates, machine, opcodes, objects, sets
#     core/codec/gc_signals.pxi      when the collector is paused and signals are checked
#     core/codec/containers.pxi      VECTOR LIST MAP
#     core/codec/runs.pxi            items of one type in a row, encoded
#     core/codec/collisions.pxi      MAP keys of equal hash
#     core/codec/decode.pxi          dispatch by type code; records
#     core/codec/limits.pxi          max_bytes
#     core/codec/single_scalar.pxi   one scalar or small container and nothing else
#     core/codec/encode.pxi          dispatch by Python type, default=, pickles; records
#     core/codec/families.pxi        classes that are neither exact builtins nor records, found once
#     core/codec/numpy.pxi           NumPy's arrays and scalars
#     core/codec/npy.pxi             the .npy format of arrays of plain numbers
#     core/codec/sort_keys.pxi       MAP entries in the order of their encoded keys
#     core/codec/skip.pxi            structure without values
#     core/codec/records/            values of a type: names, program, errors, dates, values, unions, containers,
#                                    instances, fields, decode; encode, encode_dates, encode_fields
#
# Invariant: no byte is read before the buffer has confirmed that it holds it; memory follows the bytes received, not
# the lengths that they declare; items of open containers are owned by the decoding's stack, which abandon() empties.

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t, INT32_MAX, INT32_MIN, INT64_MAX
from libc.stdlib cimport qsort
from libc.string cimport memchr, memcmp, memcpy, memmove, memset
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.buffer cimport (
    PyBUF_ANY_CONTIGUOUS, PyBUF_CONTIG_RO, PyBUF_FULL_RO, PyBUF_WRITABLE, PyBuffer_IsContiguous, PyBuffer_Release,
    PyObject_GetBuffer,
)
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc, PyMem_RawFree, PyMem_RawMalloc, PyMem_Realloc
from cpython.memoryview cimport PyMemoryView_GET_BUFFER
from cpython.object cimport PyObject, PyTypeObject
from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport Py_INCREF, Py_XDECREF

from typedbytes.core.byteorder cimport *
from typedbytes.core.cpython cimport *
from typedbytes.core.heap cimport keep_freed
from typedbytes.core.refs cimport (
    bytes_data, bytes_size, decref, incref, new_bytes, Py_False, Py_None, PY_SSIZE_T_MAX, Py_True, Py_TYPE, PyBool_Type,
    PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Type, PyBytes_Check, PyBytes_Type, PyDict_Check,
    PyDict_Copy, PyDict_GET_SIZE, PyDict_New, PyDict_SetItem, PyDict_Type, PyErr_Clear, PyErr_ExceptionMatches,
    PyErr_Occurred, PyFloat_AS_DOUBLE, PyFloat_Check, PyFloat_FromDouble, PyFloat_Type, PyList_Check, PyList_GET_ITEM,
    PyList_GET_SIZE, PyList_Type, PyLong_Check, PyLong_FromLong, PyLong_Type, PyObject_Hash, PyTuple_Check,
    PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_Type, PyTupleObject, PyUnicode_AsUTF8AndSize, PyUnicode_Check,
    PyUnicode_DATA, PyUnicode_DecodeUTF8, PyUnicode_GET_LENGTH, PyUnicode_IS_ASCII, PyUnicode_IS_COMPACT_ASCII,
    PyUnicode_KIND, PyUnicode_New, PyUnicode_READY, PyUnicode_Type,
)
from typedbytes.core.scalars cimport FIXED_NBYTES
from typedbytes.core.threads cimport NO_GIL, free_strings_at_thread_end
from typedbytes.core.typecode cimport *

cimport cython
import sys
from codecs import lookup_error

from typedbytes._types import Byte, Ext, Float, Long, Writable
from typedbytes.errors import (
    DecodeError, DecodeTypeError, EncodeError, EncodeTypeError, EncodeValueError, FormatError, LimitError,
    TruncatedError,
)

cdef enum:
    DEFAULT_DEPTH = 256
    DEPTH_LIMIT = 10_000    # far below what the C stack of a main thread allows

# Odd, and different in every process that has hash randomisation.
cdef uint64_t SECRET = <uint64_t>hash("typedbytes") | 1

include "codec/errors.pxi"
include "codec/scalars.pxi"
include "codec/bytes.pxi"
include "codec/strings.pxi"
include "codec/application.pxi"
include "codec/pickle/opcode_names.pxi"
include "codec/pickle/types.pxi"
include "codec/pickle/write.pxi"
include "codec/pickle/recognise.pxi"
include "codec/pickle/templates.pxi"
include "codec/pickle/machine.pxi"
include "codec/pickle/opcodes.pxi"
include "codec/pickle/objects.pxi"
include "codec/pickle/sets.pxi"
include "codec/gc_signals.pxi"
include "codec/containers.pxi"
include "codec/runs.pxi"
include "codec/collisions.pxi"
include "codec/decode.pxi"
include "codec/limits.pxi"
include "codec/single_scalar.pxi"
include "codec/encode.pxi"
include "codec/families.pxi"
include "codec/numpy.pxi"
include "codec/npy.pxi"
include "codec/sort_keys.pxi"
include "codec/skip.pxi"
include "codec/records/names.pxi"
include "codec/records/program.pxi"
include "codec/records/errors.pxi"
include "codec/records/dates.pxi"
include "codec/records/values.pxi"
include "codec/records/unions.pxi"
include "codec/records/containers.pxi"
include "codec/records/instances.pxi"
include "codec/records/fields.pxi"
include "codec/records/decode.pxi"
include "codec/records/encode.pxi"
include "codec/records/encode_dates.pxi"
include "codec/records/encode_fields.pxi"


cdef class DecodeOptions:
    """Hold checked decode options.

    pickle: "safe" builds only the value types from code 100, "trust" is ordinary pickle, "raw" gives Ext(100, data).
    exact: give Byte, Long, Float and Ext where a plain value would lose its width. map_pairs: a MAP as a list of pairs.
    ext_hook: called as ext_hook(code, data) for application codes without a meaning here. unicode_errors: as in
    bytes.decode. dialect: "hadoop" or "hive". max_depth: open containers. max_bytes: of one record, None for no limit.
    type, key_type, value_type: of single values, and of pairs; strict: whether only the forms of a type are taken.
    """

    def __init__(self, *, pickle="safe", exact=False, map_pairs=False, ext_hook=None, unicode_errors="strict",
                 dialect="hadoop", max_depth=DEFAULT_DEPTH, max_bytes=None, type=None, strict=True, key_type=None,
                 value_type=None):
        cdef Decoding* d = &self.template
        memset(d, 0, sizeof(Decoding))
        self.ext_hook = checked_callable("ext_hook", ext_hook)
        self.unicode_errors = parse_error_handler(unicode_errors)
        d.pickle = parse_pickle_policy(pickle)
        d.exact = exact
        d.map_pairs = map_pairs
        d.ext_hook = NULL if ext_hook is None else <PyObject*>ext_hook
        d.unicode_errors = NULL if unicode_errors == "strict" else PyBytes_AS_STRING(self.unicode_errors)
        d.hive = is_hive_dialect(dialect)
        d.max_depth = parse_max_depth(max_depth)
        d.max_bytes = parse_max_bytes(max_bytes)
        d.record_index = -1
        d.last_map_key = CACHE    # any slot: the key after it is only a guess
        d.check_interval = FIRST_INTERVAL
        d.may_pause = ext_hook is None and d.pickle != TRUST
        d.governed = d.max_bytes > 0
        if type is not None or key_type is not None or value_type is not None:
            self.use_types(type, key_type, value_type, strict)

    cdef int use_types(self, value_type, pair_key_type, pair_value_type, strict) except -1:
        cdef TypeProgram program
        self.programs = programs_of(value_type, pair_key_type, pair_value_type, &self.types)
        self.types.is_strict = strict
        self.template.types = &self.types
        self.template.governed = True
        for program in self.programs:
            if program is not None and program.runs_code:
                self.template.may_pause = False
        return 0


cdef tuple programs_of(value_type, pair_key_type, pair_value_type, RecordTypes* types):
    # The programs, which the caller holds, and where they start.
    from typedbytes._records import program_of    # lazy import: start-up time
    of_value = None if value_type is None else program_of(value_type, TypeProgram)
    of_key = None if pair_key_type is None else program_of(pair_key_type, TypeProgram)
    of_pair_value = None if pair_value_type is None else program_of(pair_value_type, TypeProgram)
    types.value, types.pair_key, types.pair_value = root_of(of_value), root_of(of_key), root_of(of_pair_value)
    return of_value, of_key, of_pair_value


cdef class EncodeOptions:
    """Hold checked encode options.

    int_width: "auto" writes INT where it fits and LONG else, 32 and 64 fix it. pickle: "safe" pickles only the value
    types that have no code, "trust" anything, "raw" nothing. default: called with an object that has no type code,
    gives one that has. sort_keys: MAP entries in the order of their encoded keys, and the elements of sets in that of
    their bytes. unicode_errors: as in str.encode. dialect, max_depth: as for decoding. type, key_type, value_type: of
    single values, and of pairs. omit_none: fields that are None are left out of a MAP, where None is their default.
    """

    def __init__(self, *, int_width="auto", pickle="safe", default=None, sort_keys=False, unicode_errors="strict",
                 dialect="hadoop", max_depth=DEFAULT_DEPTH, type=None, omit_none=False, key_type=None, value_type=None):
        cdef Encoding* e = &self.template
        memset(e, 0, sizeof(Encoding))
        if int_width not in ("auto", 32, 64):
            raise ValueError(f'int_width must be "auto", 32 or 64, not {int_width!r}')
        self.default = checked_callable("default", default)
        self.unicode_errors = parse_error_handler(unicode_errors)
        e.int_width = 0 if int_width == "auto" else int_width
        e.pickle = parse_pickle_policy(pickle)
        e.default = NULL if default is None else <PyObject*>default
        e.sort_keys = sort_keys
        e.unicode_errors = NULL if unicode_errors == "strict" else PyBytes_AS_STRING(self.unicode_errors)
        e.hive = is_hive_dialect(dialect)
        e.max_depth = parse_max_depth(max_depth)
        e.is_general = e.max_depth == 0 or e.int_width != 0 or sort_keys
        e.record, e.pair = encode_untyped_record, encode_untyped_pair
        if type is not None or key_type is not None or value_type is not None:
            self.use_types(type, key_type, value_type, omit_none)

    cdef int use_types(self, value_type, pair_key_type, pair_value_type, omit_none) except -1:
        self.programs = programs_of(value_type, pair_key_type, pair_value_type, &self.types)
        self.types.omits_none = omit_none
        self.template.types = &self.types
        self.template.record, self.template.pair = encode_typed_record, encode_typed_record_pair
        return 0


cdef TypeNode* root_of(TypeProgram program) noexcept:
    return NULL if program is None else program.root


cdef object checked_callable(str name, function):
    if function is not None and not callable(function):
        raise TypeError(f"{name} must be callable, not {type(function).__name__}")
    return function


cdef bytes parse_error_handler(name):
    lookup_error(name)
    return name.encode("ascii")


cdef PicklePolicy parse_pickle_policy(policy) except *:
    if policy == "safe":
        return SAFE
    if policy == "trust":
        return TRUST
    if policy == "raw":
        return RAW
    raise ValueError(f'pickle must be "safe", "trust" or "raw", not {policy!r}')


cdef bint is_hive_dialect(dialect) except -1:
    if dialect not in ("hadoop", "hive"):
        raise ValueError(f'dialect must be "hadoop" or "hive", not {dialect!r}')
    return dialect == "hive"


cdef Py_ssize_t parse_max_depth(max_depth) except -1:
    if not 0 <= max_depth <= DEPTH_LIMIT:
        raise ValueError(f"max_depth must be 0 to {DEPTH_LIMIT}, not {max_depth}")
    return max_depth
