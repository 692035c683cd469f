"""TypedBytes, slow and obvious: the other implementation, which tests compare the compiled one with.

Here: decode, encode and skip of single values, and Java's hash, written from the format's description and from our own
decisions, never from the compiled sources. Not here: buffers, streams, caches, speed. Invariant: bytes are walked once
from left to right, and the first thing that is wrong is the error.
"""

import array
import collections
import datetime
import decimal
import io
import json
import pickle
import struct
import uuid

import numpy

from typedbytes._types import Byte, Ext, Float, Int, Long, Writable
from typedbytes.errors import EncodeTypeError, EncodeValueError, FormatError, LimitError, TruncatedError

BYTES, BYTE, BOOL, INT, LONG, FLOAT, DOUBLE, STRING, VECTOR, LIST, MAP = range(11)
SHORT, NULL, ENDOFRECORD = 11, 12, 177  # Hive's dialect only
WRITABLE, PICKLE, BYTESTRING, NDARRAY, MARKER = 50, 100, 101, 102, 255
APPLICATION = range(50, 201)
# Each code with a length; of the application codes those with a meaning, and some of the others.
LENGTH_CODES = (BYTES, STRING, VECTOR, MAP, WRITABLE, 51, PICKLE, BYTESTRING, NDARRAY, 144, 200)
INT_RANGE = range(-(2**31), 2**31)
LONG_RANGE = range(-(2**63), 2**63)
SHOWN_LENGTH = 1000  # of a key that is text or bytes, in a path
MAX_COLLISIONS = 512  # keys of one MAP with one hash value, where the data chooses the hash

END_OF_LIST = object()


# -- decode -----------------------------------------------------------------------------------------------


class Walk:
    """One pass over one value: the bytes, the offset in them, the options."""

    def __init__(
        self,
        data,
        offset=0,
        *,
        pickle="safe",
        exact=False,
        map_pairs=False,
        ext_hook=None,
        unicode_errors="strict",
        dialect="hadoop",
        max_depth=256,
        max_bytes=None,
    ):
        self.data = bytes(data)
        self.start = self.offset = offset
        self.pickle = pickle
        self.exact = exact
        self.map_pairs = map_pairs
        self.ext_hook = ext_hook
        self.unicode_errors = unicode_errors
        self.hive = dialect == "hive"
        self.max_depth = max_depth
        self.max_bytes = max_bytes

    def take(self, nbytes, code, path):
        """Return the next nbytes. The limit is looked at before the end, because a stream would stop asking there."""
        if self.max_bytes is not None and nbytes > self.start + self.max_bytes - self.offset:
            raise LimitError("record too long", offset=self.start, code=None, path=path)
        if nbytes > len(self.data) - self.offset:
            raise TruncatedError("input ends early", offset=len(self.data), code=code, path=path)
        taken = self.data[self.offset : self.offset + nbytes]
        self.offset += nbytes
        return taken

    def number(self, layout, code, path):
        """Return the next number, laid out as struct says."""
        return struct.unpack(layout, self.take(struct.calcsize(layout), code, path))[0]

    def size(self, start, code, path):
        """Return the next length or count, which must not be negative."""
        size = self.number(">i", code, path)
        if size < 0:
            raise FormatError("negative length", offset=start, code=code, path=path)
        return size

    def sized(self, start, code, path):
        """Return the bytes after a length."""
        return self.take(self.size(start, code, path), code, path)

    def value(self, path="", depth=0, container=None, in_key=False):
        """Return the value here, or END_OF_LIST; `container` is the type code of its container."""
        start = self.offset
        code = self.take(1, container, path)[0]
        if code == MARKER and container == LIST:
            return END_OF_LIST
        if code in (LIST, MAP) and in_key and not self.map_pairs:
            raise FormatError("key cannot be hashed", offset=start, code=code, path=path)
        if code in (VECTOR, LIST, MAP):
            if depth + 1 > self.max_depth:
                raise LimitError("too deep", offset=start, code=code, path=path)
            if code == VECTOR:
                items = []
                for n in range(self.size(start, code, path)):
                    items.append(self.value(f"{path}[{n}]", depth + 1, code, in_key))
                return tuple(items)
            if code == LIST:
                items = []
                while True:
                    item = self.value(f"{path}[{len(items)}]", depth + 1, code, in_key)
                    if item is END_OF_LIST:
                        return items
                    items.append(item)
            pairs = []
            hashes = collections.Counter()
            for n in range(self.size(start, code, path)):
                key_start = self.offset
                key = self.value(f"{path}.key({n})", depth + 1, code, in_key=True)
                if not self.map_pairs:
                    hashes[hash(key)] += self.data[key_start] in (VECTOR, PICKLE)
                    if hashes[hash(key)] > MAX_COLLISIONS:
                        raise LimitError("too many keys with one hash", offset=start, code=code, path=path)
                value = self.value(f"{path}[{key_text(key)}]", depth + 1, code, in_key)
                pairs.append((key, value))
            return pairs if self.map_pairs else dict(pairs)
        value = self.scalar(start, code, path)
        if in_key and not self.map_pairs:
            try:
                hash(value)
            except TypeError:
                raise FormatError("key cannot be hashed", offset=start, code=code, path=path) from None
        return value

    def scalar(self, start, code, path):
        """Return a value that holds no other value."""
        if code == BYTES:
            return self.sized(start, code, path)
        if code == BYTE:
            number = self.number(">b", code, path)
            return Byte(number) if self.exact else number
        if code == BOOL:
            return self.number(">B", code, path) != 0
        if code == INT:
            return self.number(">i", code, path)
        if code == LONG:
            number = self.number(">q", code, path)
            return Long(number) if self.exact and number in INT_RANGE else number
        if code == FLOAT:
            number = widen(self.number(">I", code, path))
            return Float(number) if self.exact else number
        if code == DOUBLE:
            return self.number(">d", code, path)
        if code == STRING:
            try:
                return self.sized(start, code, path).decode("utf-8", self.unicode_errors)
            except UnicodeDecodeError:
                raise FormatError("not UTF-8", offset=start, code=code, path=path) from None
        if self.hive:
            if code == SHORT:
                payload = self.take(2, code, path)
                return Ext(SHORT, payload) if self.exact else struct.unpack(">h", payload)[0]
            if code == NULL:
                return None
            if code == ENDOFRECORD:
                return Ext(code, b"")
        if code in APPLICATION:
            return self.application(start, code, path)
        raise FormatError("no such type code here", offset=start, code=code, path=path)

    def application(self, start, code, path):
        """Return the value of an application code."""
        payload = self.sized(start, code, path)
        try:
            if code == WRITABLE:
                return writable(payload)
            if code == PICKLE and self.pickle != "raw" and not self.exact:
                return unpickle(payload, self.pickle)
            if code == NDARRAY and not self.exact:
                return read_npy(payload)
        except Exception:
            raise FormatError("broken payload", offset=start, code=code, path=path) from None
        if code == BYTESTRING and not self.exact:
            return payload
        if code in (PICKLE, BYTESTRING, NDARRAY):
            return Ext(code, payload)
        return Ext(code, payload) if self.ext_hook is None else self.ext_hook(code, payload)


def decode_from(data, offset=0, **options):
    """Return the value at offset and the offset after it."""
    walk = Walk(data, offset, **options)
    return walk.value(), walk.offset


def loads(data, **options):
    """Return the one value that data is."""
    value, end = decode_from(data, **options)
    if end < len(data):
        raise FormatError("bytes after the value", offset=end, code=data[end], path="")
    return value


def decode_all(data, **options):
    """Return every value of a stream."""
    values, offset = [], 0
    while offset < len(data):
        value, offset = decode_from(data, offset, **options)
        values.append(value)
    return values


def key_text(key):
    """Return a MAP's key as paths exact_repr it."""
    spelled = json.dumps if type(key) is str else repr
    if type(key) in (str, bytes) and len(key) > SHOWN_LENGTH:
        return spelled(key[:SHOWN_LENGTH]) + "..."
    return spelled(key)


def widen(bits):
    """Return the float of a binary32's bits; a NaN keeps its payload, which hardware would change."""
    if bits & 0x7F800000 == 0x7F800000:
        return struct.unpack(">d", struct.pack(">Q", bits >> 31 << 63 | 0x7FF << 52 | (bits & 0x007FFFFF) << 29))[0]
    return struct.unpack(">f", struct.pack(">I", bits))[0]


def writable(payload):
    """Return the Writable of a WRITABLE's payload: i32 length of the class name, the name, the Writable's own bytes."""
    (nbytes,) = struct.unpack(">i", payload[:4])
    if not 0 <= nbytes <= len(payload) - 4:
        raise ValueError("class name longer than the payload")
    return Writable(payload[4 : 4 + nbytes].decode("utf-8"), payload[4 + nbytes :])


def read_npy(payload):
    """Return the array of a file in .npy format."""
    file = io.BytesIO(payload)
    array = numpy.lib.format.read_array(file, allow_pickle=False)
    if file.read():
        raise ValueError("bytes after the array")
    return array


# -- pickles ----------------------------------------------------------------------------------------------

PICKLED_TYPES = (
    type(None), int, set, frozenset, complex, decimal.Decimal, uuid.UUID, datetime.date, datetime.datetime,
    datetime.time, datetime.timedelta, datetime.timezone,
)  # fmt: skip
ELEMENT_TYPES = (*PICKLED_TYPES, bool, float, str, bytes, tuple)  # what else may be inside a set


def is_plain(value, types=PICKLED_TYPES):
    """Return whether a value and what is in it are of the value types."""
    inside = value if isinstance(value, (set, frozenset, tuple)) else ()
    return type(value) in types and all(is_plain(item, ELEMENT_TYPES) for item in inside)


def latin1(text, encoding):
    """Replace codecs.encode, by which protocol 2 carries the bytes inside a date."""
    if encoding != "latin1":
        raise pickle.UnpicklingError("only latin1")
    return text.encode("latin1")


class SafeUnpickler(pickle._Unpickler):
    """An unpickler that can build the value types and nothing else: the one in Python, whose stack can be seen."""

    ALLOWED = {
        ("builtins", "set"): set,
        ("builtins", "frozenset"): frozenset,
        ("builtins", "complex"): complex,
        ("decimal", "Decimal"): decimal.Decimal,
        ("uuid", "UUID"): uuid.UUID,
        ("datetime", "date"): datetime.date,
        ("datetime", "time"): datetime.time,
        ("datetime", "datetime"): datetime.datetime,
        ("datetime", "timedelta"): datetime.timedelta,
        ("datetime", "timezone"): datetime.timezone,
        ("_codecs", "encode"): latin1,
    }

    def find_class(self, module, name):
        module = "builtins" if module == "__builtin__" else module
        try:
            return self.ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"{module}.{name} is not a value type") from None


def unpickle(payload, policy):
    """Return what a pickle holds, under the policy "safe" or "trust"."""
    file = io.BytesIO(payload)
    if policy == "trust":
        return pickle.Unpickler(file, encoding="latin1").load()
    unpickler = SafeUnpickler(file, encoding="latin1")
    value = unpickler.load()
    if not is_plain(value, ELEMENT_TYPES) or unpickler.stack or unpickler.metastack or file.read():
        raise pickle.UnpicklingError("not one value of the value types")
    return value


class PlainPickler(pickle.Pickler):
    """A pickler of protocol 2 that keeps the fold of a repeated hour, which protocol 2 drops."""

    def reducer_override(self, obj):
        has_fold = isinstance(obj, (datetime.datetime, datetime.time)) and obj.fold
        return obj.__reduce_ex__(4) if has_fold else NotImplemented


def pickled(obj):
    """Return an object pickled by protocol 2; which opcodes say it is the pickler's own choice."""
    file = io.BytesIO()
    PlainPickler(file, protocol=2).dump(obj)
    return file.getvalue()


# -- encode -----------------------------------------------------------------------------------------------


def dumps(obj, **options):
    """Return obj as one value."""
    return Encoding(**options).value(obj)


class Encoding:
    """The options of an encoder."""

    def __init__(
        self,
        *,
        int_width="auto",
        pickle="safe",
        default=None,
        sort_keys=False,
        unicode_errors="strict",
        dialect="hadoop",
        max_depth=256,
    ):
        self.int_width = int_width
        self.pickle = pickle
        self.default = default
        self.sort_keys = sort_keys
        self.unicode_errors = unicode_errors
        self.hive = dialect == "hive"
        self.max_depth = max_depth

    def value(self, obj, path="", depth=0):
        """Return the bytes of one value."""
        if isinstance(obj, (bool, numpy.bool_)):
            return bytes([BOOL, bool(obj)])
        if isinstance(obj, Byte):
            return self.number(BYTE, ">b", obj, path)
        if isinstance(obj, Int):
            return self.number(INT, ">i", obj, path)
        if isinstance(obj, Long):
            return self.number(LONG, ">q", obj, path)
        if isinstance(obj, numpy.integer):
            return self.numpy_integer(obj, path)
        if isinstance(obj, int):
            return self.integer(obj, path)
        if isinstance(obj, (Float, numpy.float16, numpy.float32)):
            return bytes([FLOAT]) + narrow(float(obj), path)
        if isinstance(obj, float):
            return struct.pack(">Bd", DOUBLE, obj)
        if isinstance(obj, str):
            try:
                return sized(STRING, obj.encode("utf-8", self.unicode_errors))
            except UnicodeEncodeError:
                raise EncodeValueError("lone surrogate", path=path) from None
        if isinstance(obj, (bytes, bytearray)):
            return sized(BYTES, bytes(obj))
        if isinstance(obj, (memoryview, array.array)):
            return sized(BYTES, obj.tobytes())
        if isinstance(obj, (tuple, list, dict)) and not isinstance(obj, (Ext, Writable)):
            if depth + 1 > self.max_depth:
                raise EncodeValueError("too deep", path=path)
            if isinstance(obj, dict):
                pairs = []
                for n, (key, value) in enumerate(obj.items()):
                    key_bytes = self.value(key, f"{path}.key({n})", depth + 1)
                    pairs.append((key_bytes, self.value(value, f"{path}[{key_text(key)}]", depth + 1)))
                if self.sort_keys:
                    pairs.sort(key=lambda pair: pair[0])
                return struct.pack(">Bi", MAP, len(pairs)) + b"".join(key + value for key, value in pairs)
            items = b"".join(self.value(item, f"{path}[{n}]", depth + 1) for n, item in enumerate(obj))
            if isinstance(obj, tuple):
                return struct.pack(">Bi", VECTOR, len(obj)) + items
            return bytes([LIST]) + items + bytes([MARKER])
        return self.special(obj, path, depth)

    def special(self, obj, path, depth):
        """Return the bytes of what is no plain value."""
        if isinstance(obj, Ext):
            return self.extension(obj, path)
        if isinstance(obj, Writable):
            try:
                name = obj.class_name.encode("utf-8")
            except UnicodeEncodeError:
                raise EncodeValueError("lone surrogate", path=path) from None
            return sized(WRITABLE, struct.pack(">i", len(name)) + name + obj.data)
        if isinstance(obj, numpy.ndarray):
            return sized(NDARRAY, self.write_npy(obj, path))
        if obj is None and self.hive:
            return bytes([NULL])
        if self.pickle == "trust" or self.pickle == "safe" and is_plain(obj):
            return sized(PICKLE, pickled(obj))
        if self.default is not None:
            return self.value(self.default(obj), path, depth)
        raise EncodeTypeError(f"no type code for {type(obj).__name__}", path=path)

    def number(self, code, layout, number, path):
        """Return a number of one width."""
        try:
            return bytes([code]) + struct.pack(layout, number)
        except struct.error:
            raise EncodeValueError("number too big", path=path) from None

    def integer(self, number, path):
        """Return an INT or a LONG, or by itself the pickle of what is wider than both."""
        if self.int_width == 32 or self.int_width == "auto" and number in INT_RANGE:
            return self.number(INT, ">i", number, path)
        if self.int_width == 64 or number in LONG_RANGE:
            return self.number(LONG, ">q", number, path)
        if self.pickle == "raw":
            raise EncodeValueError("number too big", path=path)
        return sized(PICKLE, pickled(int(number)))

    def numpy_integer(self, number, path):
        """Return a NumPy integer by its own width."""
        if isinstance(number, numpy.int8):
            return self.number(BYTE, ">b", int(number), path)
        if number.dtype.itemsize < 4 or isinstance(number, numpy.int32):
            return self.number(INT, ">i", int(number), path)
        return self.number(LONG, ">q", int(number), path)

    def extension(self, obj, path):
        """Return an application code, or one of Hive's codes in Hive's dialect."""
        fixed = {SHORT: 2, NULL: 0, ENDOFRECORD: 0} if self.hive else {}
        if obj.code in fixed:
            if len(obj.data) != fixed[obj.code]:
                raise EncodeValueError("wrong length for this code", path=path)
            return bytes([obj.code]) + obj.data
        if obj.code not in APPLICATION:
            raise EncodeValueError("not an application code", path=path)
        return sized(obj.code, obj.data)

    def write_npy(self, values, path):
        """Return an array in version 1.0 of the .npy format; its header fills a multiple of 64 bytes."""
        if values.dtype.hasobject:
            raise EncodeTypeError("array of objects", path=path)
        is_fortran = values.flags.f_contiguous and not values.flags.c_contiguous
        header = repr({"descr": values.dtype.str, "fortran_order": is_fortran, "shape": values.shape})
        header = header.ljust((len(header) + 11 + 63) // 64 * 64 - 11) + "\n"
        return b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode("ascii") + values.tobytes("A")


def sized(code, payload):
    """Return a code, a length and that many bytes."""
    return struct.pack(">Bi", code, len(payload)) + payload


def narrow(number, path):
    """Return the bytes of the nearest binary32; a NaN keeps the payload that fits, and stays a NaN if none does."""
    if number != number:
        (bits,) = struct.unpack(">Q", struct.pack(">d", number))
        payload = bits >> 29 & 0x007FFFFF or 0x00400000
        return struct.pack(">I", bits >> 63 << 31 | 0x7F800000 | payload)
    try:
        return struct.pack(">f", number)
    except OverflowError:
        raise EncodeValueError("number too big", path=path) from None


# -- structure --------------------------------------------------------------------------------------------


def skip(data, offset=0, **limits):
    """Return the offset after the value at offset, without decoding it."""
    return skip_value(Walk(data, offset, **limits))


def skip_value(walk, depth=0):
    """Return the offset after the value here, which has that many containers around it."""
    open_containers = []  # (code, number of values still to come, None in a LIST)
    while True:
        start = walk.offset
        code = walk.take(1, open_containers[-1][0] if open_containers else None, "")[0]
        if code == MARKER and open_containers and open_containers[-1][1] is None:
            open_containers.pop()
        elif code in (VECTOR, LIST, MAP):
            if depth + len(open_containers) + 1 > walk.max_depth:
                raise LimitError("too deep", offset=start, code=code, path="")
            nvalues = None if code == LIST else walk.size(start, code, "") * (2 if code == MAP else 1)
            open_containers.append((code, nvalues))
            if nvalues != 0:
                continue
            open_containers.pop()
        elif walk.hive and code in (SHORT, NULL, ENDOFRECORD):
            walk.take(2 if code == SHORT else 0, code, "")
        elif code in (BYTES, STRING) or code in APPLICATION:
            walk.sized(start, code, "")
        elif code <= DOUBLE:
            walk.take({BYTE: 1, BOOL: 1, INT: 4, LONG: 8, FLOAT: 4, DOUBLE: 8}[code], code, "")
        else:
            raise FormatError("no such type code here", offset=start, code=code, path="")
        # one value is complete; with it perhaps the containers it was the last value of
        while open_containers and open_containers[-1][1] is not None:
            container, nvalues = open_containers.pop()
            if nvalues > 1:
                open_containers.append((container, nvalues - 1))
                break
        if not open_containers:
            return walk.offset


def index(data, **limits):
    """Return where each value of a stream starts."""
    starts, offset = [], 0
    while offset < len(data):
        starts.append(offset)
        offset = skip(data, offset, **limits)
    return starts


# -- Java -------------------------------------------------------------------------------------------------


def hash_code(encoded):
    """Return Java's hashCode of a TypedBytesWritable: WritableComparator.hashBytes, in 32 bits."""
    code = 1
    for byte in encoded:
        signed = byte - 256 if byte > 127 else byte
        code = (31 * code + signed) & 0xFFFFFFFF
    return code - 2**32 if code >= 2**31 else code


def partition(encoded, npartitions):
    """Return the reducer that Hadoop's HashPartitioner sends a key to."""
    return (hash_code(encoded) & 0x7FFFFFFF) % npartitions
