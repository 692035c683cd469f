"""Described classes, slow and obvious: the other implementation, which tests compare the compiled one with.

Here: trees of types, made at random; their text; values of them; the bytes of a value, as Java's DataOutput and
Hadoop's WritableUtils write them, and back. Not here: types that Python functions read. Invariant: bytes are walked
once from left to right, and nothing is read beyond them.
"""

import math
import struct
import zlib

NUMBERS = {
    "byte": (">b", 8), "short": (">h", 16), "int": (">i", 32), "long": (">q", 64), "vint": (None, 32),
    "vlong": (None, 64),
}  # fmt: skip
COUNTS = ("byte", "short", "int", "vint", "vlong")
LEAVES = ("byte", "short", "int", "long", "vint", "vlong", "boolean", "float", "double", "char", "text", "string",
          "strings", "utf", "bytes", "fixed", "enum", "null")  # fmt: skip
NAMES = ("id", "name", "tags", "at", "x", "value", "a_name", "n2")
WORDS = ("", "a", "word", "\xe9t\xe9", "\u20ac\0", "\U0001f600!", "x" * 40)


class Refused(Exception):
    """Raised for bytes that are not of the class."""


# ---- trees: (kind, *details) ----


def made_tree(rng, level=0):
    """Return a tree at random."""
    kind = rng.choice(LEAVES + ("record", "list", "array", "table", "map", "optional", "choice", "within", "compressed")
                      * (level < 3) * 2)  # fmt: skip
    if kind in ("text", "bytes"):
        return kind, rng.choice(COUNTS)
    if kind == "fixed":
        return kind, rng.randrange(4)
    if kind == "enum":
        return kind, rng.choice(COUNTS), tuple(rng.sample(NAMES, rng.randrange(1, 4)))
    if kind == "record":
        return made_record(rng, level)
    if kind in ("list", "within"):
        return kind, rng.choice(COUNTS), sized(rng, level + 1)
    if kind == "array":
        return kind, rng.randrange(3), sized(rng, level + 1)
    if kind == "map":
        key = rng.choice([("text", "vint"), ("int",), ("vlong",), ("bytes", "int")])
        return kind, rng.choice(COUNTS), key, made_tree(rng, level + 1)
    if kind in ("table", "optional", "compressed"):
        return kind, sized(rng, level + 1)
    if kind == "choice":
        return kind, (("long",), ("text", "vint"), ("list", "int", ("double",)))
    return (kind,)


def made_record(rng, level=0):
    """Return the tree of a record at random."""
    names = rng.sample(NAMES, rng.randrange(1, 6))
    fields = [(name, made_tree(rng, level + 1)) for name in names]
    if rng.random() < 0.3:
        fields.insert(rng.randrange(len(fields) + 1), ("version", ("constant", "byte", rng.randrange(-128, 128))))
    if rng.random() < 0.2 and len(names) > 1:
        fields = [(None if tree[0] != "constant" else name, tree) for name, tree in fields]
    return "record", tuple(fields)


def sized(rng, level):
    """Return a tree whose values take at least a byte."""
    while True:
        tree = made_tree(rng, level)
        if least(tree):
            return tree


def least(tree):
    """Return the number of bytes that a value takes at least."""
    kind, *rest = tree
    if kind == "null":
        return 0
    if kind == "fixed":
        return rest[0]
    if kind == "array":
        return rest[0] * least(rest[1])
    if kind == "record":
        return sum(least(field) for _, field in rest[0])
    return 1


def text_of(tree):
    """Return the description of a tree."""
    kind, *rest = tree
    if kind in ("text", "bytes"):
        return f"{kind}<{rest[0]}>"
    if kind == "fixed":
        return f"bytes[{rest[0]}]"
    if kind == "enum":
        return f"enum<{', '.join((rest[0], *rest[1]))}>"
    if kind == "constant":
        return f"{rest[0]} = {rest[1]}"
    if kind == "record":
        return f"{{{fields_of(tree)}}}"
    if kind == "list":
        return f"list<{text_of(rest[1])}, {rest[0]}>"
    if kind == "array":
        return f"{text_of(rest[1])}[{rest[0]}]"
    if kind == "table":
        return f"TwoDArrayWritable<{text_of(rest[0])}>"
    if kind == "map":
        return f"map<{text_of(rest[1])}, {text_of(rest[2])}, {rest[0]}>"
    if kind == "optional":
        return f"optional<{text_of(rest[0])}>"
    if kind == "choice":
        return f"GenericWritable<{', '.join(map(text_of, rest[0]))}>"
    if kind == "within":
        return f"counted<{text_of(rest[1])}, {rest[0]}>"
    if kind == "compressed":
        return f"CompressedWritable<{text_of(rest[0])}>"
    return kind


def fields_of(record):
    """Return the description of a record as that of a class."""
    return ", ".join(text_of(tree) if name is None else f"{name}: {text_of(tree)}" for name, tree in record[1])


# ---- values ----


def made_value(rng, tree):
    """Return a value of a tree at random."""
    kind, *rest = tree
    if kind in NUMBERS:
        bits = NUMBERS[kind][1]
        return rng.choice([0, 1, -1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), rng.randrange(-100, 100)])
    if kind == "boolean":
        return rng.random() < 0.5
    if kind in ("float", "double"):
        return rng.choice([0.0, -1.5, 2.0**100, math.inf])
    if kind == "char":
        return rng.choice("a\xe9\u20ac\0")
    if kind in ("text", "utf", "string"):
        return None if kind == "string" and rng.random() < 0.2 else rng.choice(WORDS)
    if kind == "strings":
        return None if rng.random() < 0.2 else [made_value(rng, ("string",)) for _ in range(rng.randrange(3))]
    if kind in ("bytes", "fixed"):
        return rng.randbytes(rest[0] if kind == "fixed" else rng.randrange(5))
    if kind == "enum":
        return rng.choice(rest[1])
    if kind == "null":
        return None
    if kind == "record":
        return record_of(rest[0], [made_value(rng, field) for _, field in rest[0] if field[0] != "constant"])
    if kind in ("list", "table"):
        inner = ("list", "int", rest[0]) if kind == "table" else rest[1]
        return [made_value(rng, inner) for _ in range(rng.randrange(4))]
    if kind == "array":
        return tuple(made_value(rng, rest[1]) for _ in range(rest[0]))
    if kind == "map":
        return {made_value(rng, rest[1]): made_value(rng, rest[2]) for _ in range(rng.randrange(4))}
    if kind == "optional":
        return None if rng.random() < 0.3 else made_value(rng, rest[0])
    if kind == "choice":
        return made_value(rng, rng.choice(rest[0]))
    return made_value(rng, rest[-1])


def record_of(fields, values):
    """Return a record: a dict by name, a tuple, or the value of the only field beside constants."""
    shown = [name for name, field in fields if field[0] != "constant"]
    if None not in shown:
        return dict(zip(shown, values))
    return values[0] if len(values) == 1 < len(fields) else tuple(values)


# ---- bytes ----


def vint(number):
    """Return a number as WritableUtils.writeVLong writes it."""
    if -112 <= number <= 127:
        return struct.pack(">b", number)
    rest = ~number if number < 0 else number
    nbytes = (rest.bit_length() + 7) // 8
    return struct.pack(">b", (-120 if number < 0 else -112) - nbytes) + rest.to_bytes(nbytes, "big")


def number_of(kind, number):
    """Return the bytes of a number; of one that is too large, what a cast of Java's leaves."""
    layout, nbits = NUMBERS[kind]
    return vint(number) if layout is None else (number % (1 << nbits)).to_bytes(nbits // 8, "big")


def java_text(text):
    """Return text in modified UTF-8."""
    units = text.encode("utf-16-be")
    halves = [chr(int.from_bytes(units[i : i + 2], "big")) for i in range(0, len(units), 2)]
    return b"".join(b"\xc0\x80" if each == "\0" else each.encode("utf-8", "surrogatepass") for each in halves)


def encode(tree, value):
    """Return the bytes of a value."""
    kind, *rest = tree
    if kind in NUMBERS:
        return number_of(kind, value)
    if kind == "boolean":
        return bytes([value])
    if kind in ("float", "double"):
        return struct.pack(">f" if kind == "float" else ">d", value)
    if kind == "char":
        return struct.pack(">H", ord(value))
    if kind in ("text", "bytes"):
        data = value.encode() if kind == "text" else value
        return number_of(rest[0], len(data)) + data
    if kind == "utf":
        return struct.pack(">H", len(java_text(value))) + java_text(value)
    if kind == "string":
        return struct.pack(">i", -1) if value is None else encode(("text", "int"), value)
    if kind == "strings":
        return struct.pack(">i", -1) if value is None else encode(("list", "int", ("string",)), value)
    if kind == "fixed":
        return value
    if kind == "enum":
        return number_of(rest[0], rest[1].index(value))
    if kind == "constant":
        return number_of(rest[0], rest[1])
    if kind == "record":
        shown = [field for field in rest[0] if field[1][0] != "constant"]
        values = value.values() if type(value) is dict else value if value_is_tuple(rest[0], shown) else [value]
        left = iter(values)
        return b"".join(encode(field, None if field[0] == "constant" else next(left)) for _, field in rest[0])
    if kind == "list":
        return number_of(rest[0], len(value)) + b"".join(encode(rest[1], item) for item in value)
    if kind == "array":
        return b"".join(encode(rest[1], item) for item in value)
    if kind == "table":
        lengths = b"".join(struct.pack(">i", len(row)) for row in value)
        items = b"".join(encode(rest[0], item) for row in value for item in row)
        return struct.pack(">i", len(value)) + lengths + items
    if kind == "map":
        pairs = b"".join(encode(rest[1], key) + encode(rest[2], item) for key, item in value.items())
        return number_of(rest[0], len(value)) + pairs
    if kind == "optional":
        return b"\0" if value is None else b"\1" + encode(rest[0], value)
    if kind == "choice":
        index = 0 if type(value) is int else 1 if type(value) is str else 2
        return bytes([index]) + encode(rest[0][index], value)
    if kind == "within":
        data = encode(rest[1], value)
        return number_of(rest[0], len(data)) + data
    if kind == "compressed":
        data = zlib.compress(encode(rest[0], value), 1)
        return struct.pack(">i", len(data)) + data
    return b""


def value_is_tuple(fields, shown):
    """Return whether a record without a dict is a tuple, not the value of its only field."""
    return not (shown[0][0] is None and len(shown) == 1 < len(fields))


class Walk:
    """Reads bytes from left to right."""

    def __init__(self, data):
        self.data = data
        self.offset = 0

    def take(self, nbytes):
        """Return the next bytes."""
        if nbytes < 0 or nbytes > len(self.data) - self.offset:
            raise Refused
        self.offset += nbytes
        return self.data[self.offset - nbytes : self.offset]

    def number(self, kind):
        """Return a number."""
        layout, bits = NUMBERS[kind]
        if layout:
            return struct.unpack(layout, self.take(bits // 8))[0]
        (first,) = struct.unpack(">b", self.take(1))
        if first >= -112:
            return first
        data = self.take(-112 - first if first >= -120 else -120 - first)
        number = int.from_bytes(data, "big")
        number = ~number if first < -120 else number
        number = (number + 2**63) % 2**64 - 2**63  # as Java's long
        if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
            raise Refused
        return number

    def value(self, tree):
        """Return a value."""
        kind, *rest = tree
        if kind in NUMBERS:
            return self.number(kind)
        if kind == "boolean":
            return self.take(1) != b"\0"
        if kind in ("float", "double"):
            return struct.unpack(">f" if kind == "float" else ">d", self.take(4 if kind == "float" else 8))[0]
        if kind == "char":
            return self.utf16(self.take(2))
        if kind == "text":
            return self.utf8(self.take(self.number(rest[0])))
        if kind == "bytes":
            return self.take(self.number(rest[0]))
        if kind == "utf":
            return self.java_text(self.take(int.from_bytes(self.take(2), "big")))
        if kind in ("string", "strings"):
            count = self.number("int")
            if count == -1:
                return None
            return self.utf8(self.take(count)) if kind == "string" else self.items(("string",), count)
        if kind == "fixed":
            return self.take(rest[0])
        if kind == "enum":
            return self.one_of(rest[1], rest[0])
        if kind == "null":
            return None
        if kind == "record":
            return record_of(rest[0], self.fields(rest[0]))
        if kind == "list":
            return self.items(rest[1], self.number(rest[0]))
        if kind == "array":
            return tuple(self.value(rest[1]) for _ in range(rest[0]))
        if kind == "table":
            return self.table(rest[0])
        if kind == "map":
            count = self.number(rest[0])
            if count < 0 or count > len(self.data) - self.offset:
                raise Refused
            pairs = [(self.value(rest[1]), self.value(rest[2])) for _ in range(count)]
            return dict(pairs)
        if kind == "optional":
            return None if self.take(1) == b"\0" else self.value(rest[0])
        if kind == "choice":
            return self.value(self.one_of(rest[0], "byte"))
        data = self.take(self.number(rest[0] if kind == "within" else "int"))
        return whole(rest[-1], data if kind == "within" else self.inflated(data))

    def one_of(self, things, kind):
        """Return the thing whose number is next."""
        number = self.number(kind)
        if not 0 <= number < len(things):
            raise Refused
        return things[number]

    def fields(self, fields):
        """Return the values of the fields of a record that are not constants."""
        values = []
        for _, field in fields:
            if field[0] != "constant":
                values.append(self.value(field))
            elif self.number(field[1]) != field[2]:
                raise Refused
        return values

    def items(self, tree, count):
        """Return a list of items."""
        if count < 0 or count > len(self.data) - self.offset:
            raise Refused
        return [self.value(tree) for _ in range(count)]

    def table(self, tree):
        """Return the rows of a TwoDArrayWritable."""
        count = self.number("int")
        if count < 0 or count > len(self.data) - self.offset:
            raise Refused
        return [self.items(tree, length) for length in [self.number("int") for _ in range(count)]]

    @staticmethod
    def utf8(data):
        """Return text."""
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise Refused from None

    @staticmethod
    def utf16(data):
        """Return text of UTF-16 units."""
        try:
            return data.decode("utf-16-be")
        except UnicodeDecodeError:
            raise Refused from None

    def java_text(self, data):
        """Return text from modified UTF-8."""
        try:
            halves = data.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise Refused from None
        if any(ord(each) > 0xFFFF for each in halves):
            raise Refused  # four bytes, which Java does not read
        return self.utf16(halves.encode("utf-16-be", "surrogatepass"))

    @staticmethod
    def inflated(data):
        """Return what is compressed."""
        stream = zlib.decompressobj()
        try:
            content = stream.decompress(data)
        except zlib.error:
            raise Refused from None
        if not stream.eof:
            raise Refused
        return content


def whole(tree, data):
    """Return the value that takes all of the data; Refused if there is none."""
    walk = Walk(data)
    value = walk.value(tree)
    if walk.offset != len(data):
        raise Refused
    return value
