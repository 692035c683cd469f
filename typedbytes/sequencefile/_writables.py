"""Writables that contain others and name their classes: maps, objects, arrays of primitives.

Here: the self-describing classes of org.apache.hadoop.io. Not here: the simple classes, which are compiled
(writables.pxi). Invariant: no class is decoded that this file does not name; nesting is bounded, and counts are checked
against the bytes that remain.
"""

import struct
from functools import partial
from os import environ

from typedbytes._core import Decoder, Encoder
from typedbytes._types import Byte, Float, Long, Writable
from typedbytes.errors import FormatError, LimitError, TruncatedError
from typedbytes.sequencefile._native import KINDS

__all__ = [
    "CLASSES_FILE",
    "OpaqueError",
    "WritableReader",
    "encode_exactly",
    "find_converters",
    "find_encoder",
    "find_program",
    "format_decimal",
    "full_name",
    "is_known",
    "reader_of",
]

_IO = "org.apache.hadoop.io."
_TYPED_BYTES = KINDS["org.apache.hadoop.typedbytes.TypedBytesWritable"]
_MAX_DEPTH = 64
AVRO = "org.apache.avro.mapred."  # its classes are read by the schema in the header
_LOSSLESS = "surrogateescape"  # text that is not UTF-8, where values are exact
#: The variable with the path of a file of descriptions.
CLASSES_FILE = "TYPEDBYTES_CLASSES"


def full_name(name):
    """Return the full class name for the short name of one of Hadoop's own Writables, any other name unchanged."""
    return _FULL_NAMES.get(name, name)


def by_full_name(functions):
    """Return functions by class name, or none, by full class names."""
    return {full_name(name): function for name, function in dict(functions or {}).items()}


def checked_name(name, encoders, classes=None):
    """Return the full class name for what is to be written; ValueError for a short one close to Hadoop's."""
    if name not in _FULL_NAMES and name not in encoders and "." not in name and find_program(name, classes) is None:
        from difflib import get_close_matches

        for near in get_close_matches(name, _FULL_NAMES, 1, 0.85):
            raise ValueError(
                f"unknown class {name!r}: is it {near}? A class of your own has a package in its name, "
                "or an entry in encoders"
            )
    return full_name(name)


def find_converters(class_name, part=None, *, decoders, classes=None, types=None, options=None):
    """Return functions that decode the bytes of a class and convert them to typed bytes, and its ClassProgram.

    Each can be None. classes: as a caller describes them. types: those of a key, a value, or by itself (None), by
    `part`. options: of a Decoder.
    """
    program = find_program(class_name, classes)
    errors = (options or {}).get("unicode_errors", "strict")
    decode, to_typed = _find_converters(class_name, decoders, None if program is not None else classes, errors)
    if program is not None and class_name not in decoders:
        return None, None, program
    kind = (types or {}).get(part)
    if kind is None or (decode is None and KINDS.get(class_name) == _TYPED_BYTES):
        return decode, to_typed, program
    from typedbytes.sequencefile._record_types import typed_decoder

    return typed_decoder(class_name, kind, decode, options), to_typed, program


def find_encoder(class_name, kind, encoders, classes, options):
    """Return the function that encodes objects as a class, of a type unless that is None, and its ClassProgram.

    Each can be None.
    """
    encode, program = encoders.get(class_name), find_program(class_name, classes)
    if encode is None and program is not None:
        return None, program
    if kind is None or (encode is None and KINDS.get(class_name) == _TYPED_BYTES):
        return encode, None
    from typedbytes.sequencefile._record_types import typed_encoder

    return typed_encoder(class_name, kind, encode, options), None


def find_program(class_name, classes=None):
    """Return the ClassProgram of a class that the caller, the user or this library describes, or None."""
    if not classes and (class_name in KINDS or class_name in _SELF_DESCRIBING) and not environ.get(CLASSES_FILE):
        return None
    from typedbytes.sequencefile._classes import classes_of

    return classes_of(classes).program(class_name)


def is_known(class_name):
    """Return whether the bytes of a class are read by default, maybe by a schema in the header."""
    return (
        class_name in KINDS
        or class_name in _SELF_DESCRIBING
        or class_name.startswith(AVRO)
        or find_program(class_name) is not None
    )


def _find_converters(class_name, decoders, classes, unicode_errors):
    if class_name in decoders:
        decoder = decoders[class_name]
        return decoder, lambda data: Encoder().encode(decoder(data))
    if class_name not in _SELF_DESCRIBING:
        return None, None
    decode_whole = partial(_decode_whole, class_name, classes=classes, unicode_errors=unicode_errors)
    to_typed = (lambda data: encode_exactly(decode_whole(data, exact=True))) if class_name in _MAPS else None
    return partial(decode_whole, exact=False), to_typed


def encode_exactly(value):
    """Encode an exact value as Hadoop's TypedBytesWritableOutput does.

    A map is encoded from its pairs, which may have keys that Python finds equal.
    """
    if type(value) is not _Pairs:
        return Encoder(unicode_errors=_LOSSLESS).encode(value)
    return b"\x0a" + struct.pack(">i", len(value)) + b"".join(encode_exactly(part) for pair in value for part in pair)


class _Pairs(list):
    """The pairs of a map, with keys that can be equal in Python."""


class OpaqueError(Exception):
    """Raised for a class whose size is not known: the bytes are kept undecoded."""


def _decode_whole(class_name, data, exact, classes, unicode_errors):
    body = WritableReader(data, exact, classes, unicode_errors=unicode_errors)
    try:
        value = _SELF_DESCRIBING[class_name](body)
    except OpaqueError:
        return Writable(class_name, data)
    if body.offset != len(data):
        raise FormatError(f"{len(data) - body.offset} bytes after the end of a Writable", body.offset)
    return Writable(class_name, data) if body.is_opaque else value


def format_decimal(number, scale):
    """Return the text of a number that has its last digits, as many as `scale`, after a point."""
    digits = str(abs(number)).rjust(scale + 1, "0")
    text = f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits
    return f"-{text}" if number < 0 else text


class WritableReader:
    """Reads the bytes of a Writable in order."""

    def __init__(self, data, exact, classes=None, depth=0, unicode_errors="strict"):
        self.unicode_errors = _LOSSLESS if exact else unicode_errors
        self.data = data
        self.offset = 0
        self.exact = exact
        self.classes = classes  # as a caller describes them
        self.is_opaque = False  # what was read cannot be represented in Python
        self.depth = depth

    def read_bytes(self, nbytes):
        """Return n bytes."""
        if nbytes < 0:
            raise FormatError(f"negative length {nbytes}", self.offset)
        if nbytes > len(self.data) - self.offset:
            raise TruncatedError("a Writable ends early", len(self.data))
        self.offset += nbytes
        return bytes(self.data[self.offset - nbytes : self.offset])

    def read_number(self, layout):
        """Return a number of a fixed size."""
        return struct.unpack(layout, self.read_bytes(struct.calcsize(layout)))[0]

    def read_count(self):
        """Return a count of items of at least one byte each."""
        number = self.read_number(">i")
        if not 0 <= number <= len(self.data) - self.offset:
            raise FormatError(f"count {number} with {len(self.data) - self.offset} bytes left", self.offset - 4)
        return number

    def read_vint(self):
        """Return a number as WritableUtils.writeVLong writes it."""
        first = self.read_number(">b")
        if first >= -112:
            return first
        nbytes = -112 - first if first >= -120 else -120 - first
        number = int.from_bytes(self.read_bytes(nbytes), "big")
        number = ~number if first < -120 else number
        if not -(2**63) <= number < 2**63:
            raise FormatError("number does not fit in 64 bits", self.offset - nbytes - 1)
        return number

    def read_base128(self, nbits):
        """Return an unsigned number of at most n bits with seven in each byte, the lowest first."""
        start, number = self.offset, 0
        for shift in range(0, nbits, 7):
            byte = self.read_number(">B")
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise FormatError(f"a number of more than {nbits} bits", start)

    def read_text(self, nbytes):
        """Return n bytes of UTF-8 as text."""
        start = self.offset
        return self.decode_text(self.read_bytes(nbytes), start)

    def read_java_text(self):
        """Return text as DataOutput.writeUTF and UTF8 write it: u16 length, modified UTF-8, NUL as two bytes."""
        start = self.offset
        data = self.read_bytes(self.read_number(">H")).replace(b"\xc0\x80", b"\0")
        try:
            halves = data.decode("utf-8", "surrogatepass")
            # with exact the bytes are kept, and names of classes have no surrogates
            return halves if self.exact else halves.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError as error:
            if self.unicode_errors == "strict" and error.encoding != "utf-8":
                raise FormatError("text with half of a surrogate pair", start) from error
            return self.decode_text(data, start)

    def decode_text(self, data, start):
        """Return bytes as text, or raise FormatError with their offset."""
        try:
            return data.decode("utf-8", self.unicode_errors)
        except UnicodeDecodeError as error:
            refused = FormatError(f"text is not UTF-8: {error.reason}", start)
            refused.option = "unicode_errors"
            raise refused from error

    def read_nested(self, read):
        """Read a nested Writable."""
        if self.depth == _MAX_DEPTH:
            raise LimitError(f"Writables nest deeper than {_MAX_DEPTH}", self.offset)
        self.depth += 1
        value = read(self)
        self.depth -= 1
        return value


def _typed_if_exact(kind, read):
    return lambda body: kind(read(body)) if body.exact else read(body)


def _read_bytes(body):
    return body.read_bytes(body.read_number(">i"))


def _read_map(body):
    """Read a MapWritable: its table of class numbers, then pairs, each key and value after the number of its class."""
    classes = dict(_PREDEFINED_CLASSES)
    for _ in range(body.read_number(">b")):
        number = body.read_number(">b")
        classes[number] = body.read_java_text()
    pairs = _Pairs((_read_member(body, classes), _read_member(body, classes)) for _ in range(body.read_count()))
    if body.exact:
        return pairs
    has_keys = not any(isinstance(key, (dict, list)) for key, _ in pairs)
    mapping = dict(pairs) if has_keys else {}
    body.is_opaque |= len(mapping) < len(pairs)  # an int and a long, or true and 1, are one key in Python
    return mapping


def _read_member(body, classes):
    number = body.read_number(">b")
    if number not in classes:
        raise FormatError(f"unknown class number {number}: not in the map's table", body.offset - 1)
    start, class_name = body.offset, classes[number]
    value = body.read_nested(reader_of(class_name, body.classes))
    if body.exact and class_name in _WITHOUT_CODE:
        return Writable(class_name, bytes(body.data[start : body.offset]))
    return value


def reader_of(class_name, classes=None):
    """Return the function that reads a Writable of a class; OpaqueError if no one knows the class."""
    program = find_program(class_name, classes)
    if program is not None:
        return partial(_read_described, program)
    read = _SIMPLE.get(class_name) or _SELF_DESCRIBING.get(class_name)
    if read is None:
        raise OpaqueError(class_name)  # only the class itself knows its size
    return read


def _read_described(program, body):
    typed, body.offset = program.read(body.data, body.offset, body.depth)
    return Decoder(exact=body.exact, unicode_errors=body.unicode_errors).decode(typed)


def _read_object(body):
    """Read an ObjectWritable: its declared class, then the data of that class."""
    declared = body.read_java_text()
    if declared in _PRIMITIVES:
        return _PRIMITIVES[declared](body)
    if declared == "java.lang.String":
        return body.read_java_text()
    if declared.startswith("["):
        return [body.read_nested(_read_object) for _ in range(body.read_count())]
    if declared == f"{_IO}ObjectWritable$NullInstance":
        body.read_java_text()
        return None
    if declared == f"{_IO}ArrayPrimitiveWritable$Internal":
        return _read_primitives(body)
    name = body.read_java_text()
    if name == f"{_IO}ObjectWritable$NullInstance":
        body.read_java_text()
        return None
    return body.read_nested(reader_of(name, body.classes))


def _read_primitives(body):
    """Read an ArrayPrimitiveWritable: the name of the type, a count, the items."""
    start = body.offset
    name = body.read_java_text()
    if name not in _PRIMITIVES or name == "void":
        raise FormatError(f"array of unknown type {name!r:.60}", start)
    return [_PRIMITIVES[name](body) for _ in range(body.read_count())]


def _reader_of_number(layout):
    return lambda body: body.read_number(layout)


_int, _long, _short, _byte = map(_reader_of_number, (">i", ">q", ">h", ">b"))
_float, _double = map(_reader_of_number, (">f", ">d"))


def _read_boolean(body):
    return body.read_number(">B") != 0


_PRIMITIVES = {
    "int": _int,
    "long": _long,
    "short": _short,
    "byte": _byte,
    "float": _float,
    "double": _double,
    "boolean": _read_boolean,
    "char": lambda body: chr(body.read_number(">H")),
    "void": lambda body: None,
}
_SIMPLE = {
    f"{_IO}BytesWritable": _read_bytes,
    f"{_IO}Text": lambda body: body.read_text(body.read_vint()),
    f"{_IO}IntWritable": _int,
    f"{_IO}VIntWritable": lambda body: body.read_vint(),
    f"{_IO}LongWritable": _typed_if_exact(Long, _long),
    f"{_IO}VLongWritable": _typed_if_exact(Long, lambda body: body.read_vint()),
    f"{_IO}ByteWritable": _typed_if_exact(Byte, _byte),
    f"{_IO}FloatWritable": _typed_if_exact(Float, _float),
    f"{_IO}DoubleWritable": _double,
    f"{_IO}BooleanWritable": _read_boolean,
    f"{_IO}ShortWritable": _short,
    f"{_IO}NullWritable": lambda body: None,
    f"{_IO}UTF8": lambda body: body.read_java_text(),
    f"{_IO}MD5Hash": lambda body: body.read_bytes(16),
}


_MAPS = (f"{_IO}MapWritable", f"{_IO}SortedMapWritable")
_SELF_DESCRIBING = {
    **dict.fromkeys(_MAPS, _read_map),
    f"{_IO}ObjectWritable": _read_object,
    f"{_IO}ArrayPrimitiveWritable": _read_primitives,
    f"{_IO}UTF8": _SIMPLE[f"{_IO}UTF8"],
    f"{_IO}MD5Hash": _SIMPLE[f"{_IO}MD5Hash"],
}
_WITHOUT_CODE = {
    f"{_IO}{name}"
    for name in ("ShortWritable", "NullWritable", "UTF8", "MD5Hash", "ObjectWritable", "ArrayPrimitiveWritable")
}

# The predefined classes of every AbstractMapWritable, numbered from -127.
_PREDEFINED_CLASSES = {number: f"{_IO}{name}" for number, name in enumerate([
    "ArrayWritable", "BooleanWritable", "BytesWritable", "FloatWritable", "IntWritable", "LongWritable", "MapWritable",
    "MD5Hash", "NullWritable", "ObjectWritable", "SortedMapWritable", "Text", "TwoDArrayWritable", "VIntWritable",
    "VLongWritable",
], -127)}  # fmt: skip
_FULL_NAMES = {name.rsplit(".", 1)[1]: name for name in (*KINDS, *_SELF_DESCRIBING)}
