"""Types of described classes whose bytes a description cannot give: they name the classes of what they hold.

Here: the functions that a ClassProgram calls for them. Not here: Java serialization itself. Invariant: nothing is
imported or called by a name from the data; nesting is bounded, and what is returned is in proportion to the bytes.
"""

from __future__ import annotations

import struct
from functools import partial

from typedbytes._core import Decoder, safe_loads
from typedbytes._types import Long, Writable
from typedbytes.errors import EncodeTypeError, EncodeValueError, FormatError
from typedbytes.sequencefile import _hbase, _writables
from typedbytes.sequencefile._native import encode

__all__ = ["READERS", "named_writable"]

_IO = "org.apache.hadoop.io."


def _node(shown, read, write=None, column="raw"):
    """Return the tree of a type that functions read and write.

    read: from the bytes and the depth, to typed bytes and the number of bytes used. write: from typed bytes to bytes,
    None for a type that cannot be written. column: the type of a column that holds it.
    """
    return "call", shown, "byte", (), None, (read, write, column)


def _encoded(value, offset=0):
    """Encode a value exactly; FormatError for half of a surrogate pair, which typed bytes cannot hold."""
    try:
        return _writables.encode_exactly(value)
    except EncodeValueError as error:
        raise FormatError(error.message, offset) from None


def _reading(shown, read_value, column="raw"):
    """Return a function from classes to the tree of a type whose value a function of a WritableReader reads."""

    def read(data, depth):
        body = _writables.WritableReader(data, True, None, depth)
        value = read_value(body)
        return _encoded(value), body.offset

    return lambda classes: _node(shown, read, column=column)


def _self_describing(name, classes):
    """Return the tree of a Writable that names the classes of its parts."""
    read_value = _writables.reader_of(name)

    def read(data, depth):
        body = _writables.WritableReader(data, True, classes, depth)
        try:
            value = body.read_nested(read_value)
        except _writables.OpaqueError as error:
            raise FormatError(f"it holds a {error}, which is not described", body.offset) from None
        return _encoded(value), body.offset

    short = name.rpartition(".")[2]
    return _node(f"{'an' if short[0] in 'AO' else 'a'} {short}", read)


def named_writable(form, classes):
    """Return the tree of a Writable after the name of its class, which is a Text or of writeUTF."""

    def read(data, depth):
        body = _writables.WritableReader(data, True, classes, depth)
        name = body.read_text(body.read_vint()) if form == "text" else body.read_java_text()
        try:
            value = body.read_nested(_writables.reader_of(name, classes))
        except _writables.OpaqueError:
            raise FormatError(f"class {name!r:.80} is not described", 0) from None
        return _encoded({"class": name, "value": value}), body.offset

    def write(typed):
        value = Decoder(exact=True).decode(typed)
        if type(value) is not dict or value.keys() != {"class", "value"} or type(value["class"]) is not str:
            raise EncodeTypeError('expected a dict of "class" and "value" for a writable')
        name = _writables.full_name(value["class"])
        program = _writables.find_program(name, classes)
        written = encode(f"{_IO}Text", name)
        if form == "utf":
            written = struct.pack(">H", len(written) - 1) + written[1:]
        if type(value["value"]) is Writable:
            return written + value["value"].data
        return written + encode(name, value["value"], program=program)

    return _node("a writable", read, write)


def _read_enum_set(body):
    """Read an EnumSetWritable: the names of its values, each an ObjectWritable of an enum."""
    count = body.read_number(">i")
    if count <= 0:
        body.read_bytes(body.read_number(">i"))  # the name of the enum
        return None if count else []
    if count > len(body.data) // 4:
        raise FormatError(f"count {count} of an EnumSetWritable with {len(body.data) - 4} bytes left", 0)
    names = []
    for _ in range(count):
        body.read_java_text()
        names.append(body.read_java_text())
    return names


def _read_java(body):
    from typedbytes.sequencefile._java_objects import read_object

    value, nbytes = read_object(body.data)
    body.read_bytes(nbytes)
    return value


def _read_pickled_rows(body):
    """Read the BytesWritable of a record of PySpark's saveAsPickleFile: the rows of all batches in a byte[][]."""
    from typedbytes.sequencefile._java_objects import read_object

    content = body.read_bytes(body.read_number(">i"))
    batches, nbytes = read_object(content)
    if nbytes != len(content) or type(batches) is not list or not all(type(each) is bytes for each in batches):
        raise FormatError("expected a serialized byte[][] of pickled batches", 4)
    rows: list = []
    for batch in batches:
        try:
            found = safe_loads(batch, containers=True)
        except ValueError as error:
            raise FormatError(str(error).partition("; pass pickle=")[0], 4) from None
        rows += found if type(found) is list else [found]
    return rows


_TIMESTAMP = "struct<seconds: long, nanos: int>"
_VECTOR = "struct<name: string, size: long, indices: list<int>, values: list<double>>"


def _read_hive_timestamp(body):
    """Read a TimestampWritable: seconds, and as the highest bit says, nanoseconds with their digits reversed."""
    seconds = body.read_number(">i")
    has_more, low = seconds < 0, seconds & 0x7FFFFFFF
    if not has_more:
        return {"seconds": Long(low), "nanos": 0}
    start, number = body.offset, body.read_vint()
    high = body.read_vint() if number < 0 else 0
    digits = str(-1 - number if number < 0 else number)
    if len(digits) > 9 or not -(2**32) <= high < 2**32:
        raise FormatError(f"nanoseconds {number} of a timestamp", start)
    return {"seconds": Long(high << 31 | low), "nanos": int(digits[::-1].ljust(9, "0"))}


def _read_hive_decimal(body):
    """Read a HiveDecimalWritable, as text: a scale, and the bytes of a number without a point."""
    start, scale = body.offset, body.read_vint()
    nbytes = body.read_vint()
    if not 0 <= scale <= 38 or not 1 <= nbytes <= 17:
        raise FormatError(f"a decimal of scale {scale} and {nbytes} bytes", start)
    number = int.from_bytes(body.read_bytes(nbytes), "big", signed=True)
    return _writables.format_decimal(number, scale)


def _read_mahout_vector(body):
    """Read a VectorWritable: flags, size, and all elements or those with their indices."""
    start, flags = body.offset, body.read_number(">B")
    if flags > 15:
        raise FormatError(f"unknown flags {flags} of a vector", start)
    is_dense, is_sequential, has_name, is_lax = (flags >> bit & 1 for bit in range(4))
    size = body.read_base128(35)
    number, nbytes = (">f", 4) if is_lax else (">d", 8)
    count = size if is_dense else body.read_base128(35)
    if count > (len(body.data) - body.offset) // nbytes:
        raise FormatError(f"{count} elements with {len(body.data) - body.offset} bytes left", start)
    indices: list | None = None
    if is_dense:
        values = list(struct.unpack(f">{count}{number[1]}", body.read_bytes(count * nbytes)))
    else:
        indices, values, index = [], [], 0
        for _ in range(count):
            index = index * is_sequential + body.read_base128(35)
            if index >= size:
                raise FormatError(f"index {index} of a vector of {size}", body.offset)
            indices.append(index)
            values.append(body.read_number(number))
    name = body.read_java_text() if has_name else None
    return {"name": name, "size": Long(size), "indices": indices, "values": values}


_JAVA_COLUMNS = {
    "String": "string", "Character": "string", "Boolean": "bool", "Byte": "byte", "Short": "int", "Integer": "int",
    "Long": "long", "Float": "float", "Double": "double",
}  # fmt: skip
READERS = {
    **{
        name: partial(_self_describing, f"{_IO}{short}")
        for short in ("MapWritable", "SortedMapWritable", "ObjectWritable", "ArrayPrimitiveWritable")
        for name in (short, f"{_IO}{short}")
    },
    "EnumSetWritable": _reading("an EnumSetWritable", _read_enum_set, "list<string>"),
    "java": _reading("a serialized Java object", _read_java),
    **{f"java.{name}": _reading(f"a serialized {name}", _read_java, column) for name, column in _JAVA_COLUMNS.items()},
    "pyspark": _reading("pickled rows of PySpark", _read_pickled_rows),
    "hive.Timestamp": _reading("a timestamp of Hive", _read_hive_timestamp, _TIMESTAMP),
    "hive.Decimal": _reading("a decimal of Hive", _read_hive_decimal, "string"),
    "mahout.Vector": _reading("a vector of Mahout", _read_mahout_vector, _VECTOR),
    "hbase.KeyValue": _reading("a key value of HBase", _hbase.read_key_value, _hbase.KEY_VALUE_COLUMN),
    "hbase.Result": _reading("a result of HBase", _hbase.read_result, _hbase.RESULT_COLUMN),
    "hbase.Mutation": _reading("a mutation of HBase", _hbase.read_mutation, _hbase.MUTATION_COLUMN),
}
