"""Arrays in the .npy format: what type code 102 holds.

Here: the two directions between an array and its bytes. Not here: TypedBytes. NumPy is imported
by the first call, never before. What always holds in it: no pickle is written or read, nothing is allocated before
the data is known to fill it exactly, and each direction takes only what the other can give back.

The header is handled here, not by ``numpy.lib.format``: that one warns while it reads or writes the rarer versions,
hands any literal of the data to ``numpy.dtype``, and knows version 3 only in private. The format is NEP 1's.
"""

import ast
import math
import re
import struct
import sys
from functools import lru_cache
from importlib.util import find_spec

_MAGIC = b"\x93NUMPY"
_VERSIONS = {b"\x01\x00": ("<H", "latin-1"), b"\x02\x00": ("<I", "latin-1"), b"\x03\x00": ("<I", "utf-8")}
_ALIGNMENT = 64

# The header is a Python literal, so its cost is many times its size. NumPy has the same limit.
_MAX_HEADER_NBYTES = 10_000
_MAX_HEADER_DEPTH = 32

# Short headers of version 1 that were read before, and what they say: the codec looks here first.
KNOWN: dict = {}
_MAX_KNOWN = 64
_MAX_KNOWN_NBYTES = 512

# Types that hold their values and nothing else: bool, int, float, complex, bytes, str, time, void.
_KINDS = "biufcSUmMV"
_DESCR = re.compile(r"[<>|=][biufcSUmMV][0-9]{1,9}(\[[0-9]*[A-Za-z]+(/[0-9]+)?\])?").fullmatch


def is_available():
    """Return whether NumPy can be imported.

    >>> is_available() in (True, False)
    True
    """
    return sys.modules.get("numpy") is not None or find_spec("numpy") is not None


def dumps_array(array):
    r"""Return an array in the .npy format.

    Raises TypeError for an array that holds Python objects or is masked: only a pickle could keep it.

    >>> import numpy
    >>> dumps_array(numpy.arange(3, dtype="i1"))[-3:]
    b'\x00\x01\x02'
    """
    if _is_masked(array):
        raise TypeError("cannot write a masked array: its mask would be lost")
    is_fortran = array.flags.fnc
    return _header(array.dtype, is_fortran, array.shape) + array.tobytes("F" if is_fortran else "C")


def loads_array(data):
    """Return the array that data in the .npy format holds, as a writable copy.

    Raises ValueError for anything that is not exactly one array of plain numbers, text, times or records of those.

    >>> import numpy
    >>> loads_array(dumps_array(numpy.eye(2))).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    try:
        return _read(data)
    except Exception as error:
        # An invalid literal raises one of a dozen types; callers rely on a single one. The parser raises MemoryError
        # for a literal that nests too deep; elsewhere it is one, when the data is copied.
        if isinstance(error, MemoryError) and len(data) > _MAX_HEADER_NBYTES:
            raise
        reason = ascii(str(error)[:200])
    raise ValueError(f"not an array in .npy format: {reason}")


@lru_cache(maxsize=64)
def plain_dtype(descr):
    """Return the dtype of numbers that a header describes by this text; None for another, and without NumPy.

    >>> plain_dtype("<f8"), plain_dtype("|O")
    (dtype('float64'), None)
    """
    if not is_available() or not _DESCR(descr):
        return None
    try:
        dtype = _dtype(descr)
    except (TypeError, ValueError):
        return None
    return dtype if dtype.kind in "biufc" and dtype.itemsize else None


def _is_masked(array):
    if type(array).__module__ == "numpy":
        return False
    from numpy.ma import MaskedArray

    return isinstance(array, MaskedArray)


def _is_plain(dtype):
    return not dtype.hasobject and dtype.kind in _KINDS and dtype.itemsize > 0


@lru_cache(maxsize=64)
def _header(dtype, is_fortran, shape):
    from numpy.lib.format import dtype_to_descr

    if not _is_plain(dtype):
        raise TypeError(f"cannot write an array of dtype {dtype}: it holds Python objects, or nothing")
    fields = {"descr": dtype_to_descr(dtype), "fortran_order": is_fortran, "shape": shape}
    text = repr(fields)
    version = b"\x01\x00" if text.isascii() else b"\x03\x00"
    width, encoding = _VERSIONS[version]
    literal = text.encode(encoding)
    if len(literal) > _MAX_HEADER_NBYTES - _ALIGNMENT:
        raise TypeError(f"cannot write an array whose dtype takes {len(literal)} bytes to describe")
    prelude = len(_MAGIC) + len(version) + struct.calcsize(width)
    nbytes = -(-(prelude + len(literal) + 1) // _ALIGNMENT) * _ALIGNMENT - prelude
    return _MAGIC + version + struct.pack(width, nbytes) + literal.ljust(nbytes - 1) + b"\n"


def _read(data):
    from numpy import ndarray

    header = bytes(data[: 10 + int.from_bytes(data[8:10], "little")])
    dtype, order, shape, start, nbytes = known = KNOWN.get(header) or _layout(data)
    if nbytes != len(data) - start:
        raise ValueError(f"shape and dtype take {nbytes} bytes, but the data has {len(data) - start}")
    if len(header) == start <= _MAX_KNOWN_NBYTES and len(KNOWN) < _MAX_KNOWN:
        KNOWN[header] = known
    if dtype.names is None:
        return ndarray(shape, dtype, data, start, None, order).copy(order)  # a copy is aligned
    dtype = dtype.newbyteorder("|")  # a copy: the names of its fields can be set
    # Copied as bytes, which keeps the padding of records.
    return ndarray((nbytes,), "u1", data, start).copy().view(dtype).reshape(shape, order=order)


def _layout(data):
    """Return the dtype, the order of the memory, the shape, where the array starts, and its bytes."""
    literal, start = _literal(data)
    descr, is_fortran, shape = _fields(literal)
    dtype = _dtype(descr)
    if not _is_plain(dtype):
        raise ValueError(f"dtype {dtype} holds Python objects, or nothing")
    return dtype, "F" if is_fortran else "C", shape, start, math.prod(shape) * dtype.itemsize


def _literal(data):
    """Return the text of the header, and where the array starts."""
    version = bytes(data[6:8])
    if bytes(data[:6]) != _MAGIC or version not in _VERSIONS:
        raise ValueError("no magic string of version 1, 2 or 3")
    width, encoding = _VERSIONS[version]
    (nbytes,) = struct.unpack_from(width, data, 8)
    start = 8 + struct.calcsize(width)
    if nbytes > min(_MAX_HEADER_NBYTES, len(data) - start):
        raise ValueError(f"a header of {nbytes} bytes")
    return bytes(data[start : start + nbytes]).decode(encoding), start + nbytes


def _evaluate(literal):
    try:
        return ast.literal_eval(literal)
    except ValueError:
        # Its message contains an address in memory.
        raise ValueError("the header is more than a literal of plain values") from None


def _fields(literal):
    _check_literal(literal)
    fields = _evaluate(literal)
    if type(fields) is not dict or fields.keys() != {"descr", "fortran_order", "shape"}:
        raise ValueError("the header is not a dict of descr, fortran_order and shape")
    descr, is_fortran, shape = fields["descr"], fields["fortran_order"], fields["shape"]
    if type(is_fortran) is not bool or type(shape) is not tuple:
        raise ValueError("fortran_order is not a bool, or shape is not a tuple")
    if any(type(length) is not int or length < 0 for length in shape):
        raise ValueError("shape holds something other than lengths")
    return descr, is_fortran, shape


def _check_literal(literal):
    # Python's own parser can exhaust the C stack on operators, some of which are words, and on nested brackets; a
    # header needs no operators and few levels of brackets.
    bare = re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", "''", literal)
    if re.sub(r"[\[\](){},:'0-9 \n]|\b(?:True|False)\b", "", bare):
        raise ValueError("the header is not a plain literal")
    depth = 0
    for character in bare:
        depth += (character in "[({") - (character in "])}")
        if depth > _MAX_HEADER_DEPTH:
            raise ValueError(f"the header nests deeper than {_MAX_HEADER_DEPTH} levels")


def _dtype(descr):
    from numpy.lib.format import descr_to_dtype

    _check_descr(descr)
    return descr_to_dtype(descr)


def _check_descr(descr):
    # A string that is not a type code could name any type that NumPy knows, or warn.
    if type(descr) is str:
        if not _DESCR(descr):
            raise ValueError(f"{ascii(descr[:60])} is not a type of plain values")
        return
    if type(descr) is not list:
        raise ValueError("descr is neither a type nor a list of fields")
    for field in descr:
        _check_descr(field[1])
