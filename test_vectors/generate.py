"""Write the vectors of this folder, or check that the files are what this script writes.

Here: the description of every vector, its bytes spelled by hand or by struct, its value in the notation of README.md.
Not here: typedbytes, or any other codec. Invariant: the same script writes the same files.

    python test_vectors/generate.py            write the files
    python test_vectors/generate.py --check    say which files differ, and fail if any does
"""

import argparse
import json
import pathlib
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parent

BAD_CODES = [*range(11, 50), *range(201, 255)]
SIZED_CODES = [0, 7, 50, 51, 100, 101, 102, 144, 200]
OBJECT = "org.apache.hadoop.io.ObjectWritable"


# -- bytes ------------------------------------------------------------------------------------------------


def wire(*parts):
    """Join bytes, given as bytes or as hex with spaces for the eye."""
    return b"".join(part if isinstance(part, bytes) else bytes.fromhex(part) for part in parts)


def i32(number):
    return struct.pack(">i", number)


def i64(number):
    return struct.pack(">q", number)


def sized(code, *payload):
    """Write a code, a length and that many bytes."""
    payload = wire(*payload)
    return wire(bytes([code]), i32(len(payload)), payload)


def string(text):
    return sized(7, text.encode("utf-8"))


def integer(number):
    return wire("03", i32(number))


def long(number):
    return wire("04", i64(number))


def vector(*items):
    return wire("08", i32(len(items)), *items)


def list_(*items):
    return wire("09", *items, "ff")


def map_(*keys_and_values):
    return wire("0a", i32(len(keys_and_values) // 2), *keys_and_values)


def writable(name, *payload):
    name = name.encode("utf-8")
    return sized(50, i32(len(name)), name, *payload)


def long1(nbytes, number):
    """Write the pickle of an int: PROTO 2, LONG1 with nbytes little-endian bytes, STOP."""
    return sized(100, "80 02 8a", bytes([nbytes]), number.to_bytes(nbytes, "little", signed=True), "2e")


def npy(header, *payload):
    """Write version 1.0 of the .npy format: magic, header length, header padded to 128 bytes in all; items."""
    header = header.encode("ascii").ljust(128 - 10 - 1) + b"\n"
    return wire(b"\x93NUMPY\x01\x00", struct.pack("<H", len(header)), header, *payload)


INT16S = npy("{'descr': '<i2', 'fortran_order': False, 'shape': (3,)}", "01 00", "ff ff", "00 80")
DOUBLES = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2)}", struct.pack("<2d", 0.5, -2.0))
NO_ITEMS = npy("{'descr': '|b1', 'fortran_order': False, 'shape': (0,)}")
OBJECTS = npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "80 02 5d 71 00 4e 61 2e")


# -- vectors ----------------------------------------------------------------------------------------------


class Vectors:
    """The vectors of one file, in the order of their description."""

    def __init__(self, path):
        self.path = path
        self.lines = []

    def add(self, line):
        if any(line["name"] == other["name"] for other in self.lines):
            raise ValueError(f"{self.path}: two vectors have the name {line['name']}")
        self.lines.append({name: value for name, value in line.items() if value != {}})

    def both(self, name, data, value, decode=(), encode=()):
        """Decode to the value, and encode to the bytes."""
        self.valid("both", name, data, value, decode, encode)

    def decode(self, name, data, value, **options):
        """Decode only: another form of the value is the one that is written."""
        self.valid("decode", name, data, value, options, {})

    def encode(self, name, data, value, **options):
        """Encode only: the value is read back as another one."""
        self.valid("encode", name, data, value, {}, options)

    def valid(self, direction, name, data, value, decode, encode):
        self.add(
            {
                "name": name,
                "direction": direction,
                "hex": wire(data).hex(),
                "value": value,
                "decode": dict(decode),
                "encode": dict(encode),
            }
        )

    def refuse(self, name, data, error, offset, code, path="", skip=True, direction="decode", **options):
        """Fail to decode. Skipping fails in the same way (True), does not fail (False), or fails as `skip` says."""
        self.add(
            {
                "name": name,
                "direction": direction,
                "hex": wire(data).hex(),
                "error": error,
                "offset": offset,
                "code": code,
                "path": path,
                "skip": [error, offset, code] if skip is True else skip or None,
                "decode": options,
            }
        )

    def unwritable(self, name, value, error, path="", **options):
        """Fail to encode."""
        self.add({"name": name, "direction": "encode", "value": value, "error": error, "path": path, "encode": options})

    def text(self):
        return "".join(json.dumps(line) + "\n" for line in self.lines)


# -- valid ------------------------------------------------------------------------------------------------


def numbers():
    file = Vectors("valid/numbers.jsonl")

    for number in (0, 1, -1, 126, 127, -127, -128):
        data = wire("01", struct.pack(">b", number))
        file.decode(f"byte_{number}", data, str(number))
        file.both(f"byte_{number}_exact", data, f"Byte({number})", {"exact": True})

    file.both("bool_false", "02 00", "False")
    file.both("bool_true", "02 01", "True")
    for byte in (2, 5, 127, 128, 255):
        file.decode(f"bool_{byte}", bytes([2, byte]), "True")

    near = (0, 1, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**24, 2**30 - 1, 2**30, 2**31 - 2, 2**31 - 1)
    for number in sorted({*near, *(-number for number in near), -(2**31)}):
        file.both(f"int_{number}", integer(number), str(number))

    far = (2**31, 2**31 + 1, 2**32 - 1, 2**32, 2**53, 2**53 + 1, 2**60, 2**62, 2**63 - 2, 2**63 - 1)
    for number in sorted({*far, *(-number for number in far), -(2**31) - 1, -(2**63)} - {-(2**31)}):
        file.both(f"long_{number}", long(number), str(number))
        file.both(f"long_{number}_exact", long(number), str(number), {"exact": True})
    for number in (0, 1, -1, 255, 2**31 - 1, -(2**31)):
        file.decode(f"long_{number}", long(number), str(number))
        file.both(f"long_{number}_exact", long(number), f"Long({number})", {"exact": True})

    for bits, value in (
        ("00000000", "0.0"),
        ("80000000", "-0.0"),
        ("3f800000", "1.0"),
        ("bfc00000", "-1.5"),
        ("3dcccccd", "0.10000000149011612"),
        ("7f7fffff", "3.4028234663852886e+38"),
        ("ff7fffff", "-3.4028234663852886e+38"),
        ("00800000", "1.1754943508222875e-38"),
        ("007fffff", "1.1754942106924411e-38"),
        ("00000001", "1.401298464324817e-45"),
        ("7f800000", "inf"),
        ("ff800000", "-inf"),
        ("7fc00000", "double(0x7ff8000000000000)"),
        ("ffc00000", "double(0xfff8000000000000)"),
        ("7fc00001", "double(0x7ff8000020000000)"),
        ("7fffffff", "double(0x7fffffffe0000000)"),
        ("7f800001", "double(0x7ff0000020000000)"),
    ):
        file.decode(f"float_{bits}", wire("05", bits), value)
        file.both(f"float_{bits}_exact", wire("05", bits), f"Float({value})", {"exact": True})
    file.encode("float_0.1", "05 3dcccccd", "Float(0.1)")
    file.encode("float_rounded_to_even", "05 4b800000", "Float(16777217.0)")
    file.encode("float_rounded_to_max", "05 7f7fffff", "Float(3.4028235677973362e+38)")
    file.encode("float_rounded_to_zero", "05 80000000", "Float(-1e-46)")
    file.encode("float_payload_cut", "05 7fc00000", "Float(double(0x7ff8000000000001))")
    # a NaN whose payload is cut off altogether must not become infinity
    file.encode("float_payload_lost", "05 7fc00000", "Float(double(0x7ff0000000000001))")

    for bits, value in (
        ("0000000000000000", "0.0"),
        ("8000000000000000", "-0.0"),
        ("3ff0000000000000", "1.0"),
        ("bff8000000000000", "-1.5"),
        ("3fb999999999999a", "0.1"),
        ("400921fb54442d18", "3.141592653589793"),
        ("4340000000000000", "9007199254740992.0"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("0010000000000000", "2.2250738585072014e-308"),
        ("000fffffffffffff", "2.225073858507201e-308"),
        ("0000000000000001", "5e-324"),
        ("7ff0000000000000", "inf"),
        ("fff0000000000000", "-inf"),
        ("7ff8000000000000", "double(0x7ff8000000000000)"),
        ("fff8000000000000", "double(0xfff8000000000000)"),
        ("7ff8000000000123", "double(0x7ff8000000000123)"),
        ("7ff0000000000001", "double(0x7ff0000000000001)"),
        ("ffffffffffffffff", "double(0xffffffffffffffff)"),
    ):
        file.both(f"double_{bits}", wire("06", bits), value)
    return file


def sized_values():
    file = Vectors("valid/bytes_and_strings.jsonl")

    file.both("bytes_empty", "00 00000000", "b''")
    file.both("bytes_nul", "00 00000001 00", "b'\\x00'")
    file.both("bytes_codes", "00 00000004 ff 0a 09 07", "b'\\xff\\n\\t\\x07'")
    file.both("bytes_256", sized(0, bytes(range(256))), repr(bytes(range(256))))
    file.encode("bytes_bytearray", "00 00000002 61 62", "bytearray(b'ab')")
    file.encode("bytes_memoryview", "00 00000002 61 62", "memoryview(b'ab')")
    file.encode("bytes_memoryview_strided", "00 00000003 61 63 65", "memoryview(b'abcdef')[::2]")
    file.encode("bytes_memoryview_backwards", "00 00000003 63 62 61", "memoryview(b'abc')[::-1]")
    file.encode("bytes_array", "00 00000003 01 02 ff", "array('B', [1, 2, 255])")
    file.encode("bytes_array_wide", "00 00000004 02 02 01 01", "array('H', [514, 257])")

    for name, text in (
        ("empty", ""),
        ("ascii", "hello world"),
        ("nul", "a\0b"),
        ("controls", "\t\r\n\x1b\x7f"),
        ("first_2byte", "\x80"),
        ("latin1", "\xe9"),
        ("latin1_last", "\xff"),
        ("last_2byte", "\u07ff"),
        ("first_3byte", "\u0800"),
        ("euro", "\u20ac"),
        ("below_surrogates", "\ud7ff"),
        ("above_surrogates", "\ue000"),
        ("bom", "\ufeffx"),
        ("last_3byte", "\uffff"),
        ("first_4byte", "\U00010000"),
        ("emoji", "\U0001f600"),
        ("last_4byte", "\U0010ffff"),
        ("combining", "e\u0301"),
        ("runes", "\u16a0\u16c7\u16bb"),
        ("every_width", "a\xe9\u20ac\U0001f600z"),
    ):
        file.both(f"string_{name}", string(text), ascii(text))
    # around the widths in which a kernel may look at many bytes at once
    for nbytes in (7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65):
        file.both(f"string_ascii_{nbytes}", string("x" * nbytes), repr("x" * nbytes))
        for name, character in (("latin1", "\xe9"), ("euro", "\u20ac"), ("emoji", "\U0001f600")):
            text = character + "x" * (nbytes - len(character.encode("utf-8")))
            file.both(f"string_{name}_then_ascii_{nbytes}", string(text), ascii(text))
            file.both(f"string_ascii_then_{name}_{nbytes}", string(text[::-1]), ascii(text[::-1]))
    return file


def containers():
    file = Vectors("valid/containers.jsonl")
    one, two, a, b = integer(1), integer(2), string("a"), string("b")

    file.both("vector_empty", "08 00000000", "()")
    file.both("vector_one", vector(one), "(1,)")
    file.both(
        "vector_mixed", vector("02 01", one, "06 3ff8000000000000", a, "00 00000001 62"), "(True, 1, 1.5, 'a', b'b')"
    )
    file.both("vector_nested", vector(one, vector(two, vector()), vector()), "(1, (2, ()), ())")
    file.both("vector_of_lists", vector(list_(one), list_()), "([1], [])")
    file.both("vector_300", vector(*[one] * 300), f"({', '.join(['1'] * 300)})")
    file.encode("vector_from_namedtuple", vector(one, two), "Point(1, 2)")

    file.both("list_empty", "09 ff", "[]")
    file.both("list_one", list_(one), "[1]")
    file.both("list_minus_one", list_(integer(-1)), "[-1]")
    file.both("list_with_marker_bytes", list_("00 00000002 ff ff", "07 00000002 c3 bf"), "[b'\\xff\\xff', '\\xff']")
    file.decode("list_byte_minus_one", "09 01 ff ff", "[-1]")
    file.both("list_nested", list_(list_(one), list_(), list_(list_(a))), "[[1], [], [['a']]]")
    file.both("list_of_vectors", list_(vector(one), vector()), "[(1,), ()]")
    file.both("list_of_maps", list_(map_(), map_(a, one)), "[{}, {'a': 1}]")
    file.both("list_300", list_(*["02 00"] * 300), f"[{', '.join(['False'] * 300)}]")

    file.both("map_empty", "0a 00000000", "{}")
    file.both("map_one", map_(a, one), "{'a': 1}")
    file.both("map_order_kept", map_(b, two, a, one), "{'b': 2, 'a': 1}")
    file.both("map_nested", map_(a, map_(b, map_())), "{'a': {'b': {}}}")
    file.both("map_of_containers", map_(a, list_(one), b, vector(two)), "{'a': [1], 'b': (2,)}")
    file.both(
        "map_key_kinds",
        map_(
            wire("00 00000001 61"), one, "02 00", one, integer(7), one, long(2**40), one, "06 3fe0000000000000", one,
            a, one, vector(), one, vector(one, a), one, writable("C"), one, sized(51, "61"), one,
        ),
        "{b'a': 1, False: 1, 7: 1, 1099511627776: 1, 0.5: 1, 'a': 1, (): 1, (1, 'a'): 1, Writable('C', b''): 1, "
        "Ext(51, b'a'): 1}",
    )  # fmt: skip
    file.both("map_key_none", map_(sized(100, "80 02 4e 2e"), one), "{None: 1}")
    file.both("map_key_wide_int", map_(long1(9, 2**64), one), "{18446744073709551616: 1}")
    file.both("map_key_nested_vector", map_(vector(vector(one), vector()), a), "{((1,), ()): 'a'}")
    file.both("map_nan_keys", map_("06 7ff8000000000000", one, "06 7ff8000000000000", two),
              "{double(0x7ff8000000000000): 1, double(0x7ff8000000000000): 2}")  # fmt: skip
    # the position of the first and the value of the last, as in a dict and in Java's maps
    file.decode("map_duplicate", map_(a, one, b, one, a, two), "{'a': 2, 'b': 1}")
    file.decode("map_equal_across_types", map_(one, a, "02 01", b, "06 3ff0000000000000", one), "{1: 1}")
    file.decode("map_equal_across_widths", map_(long(1), a, one, b), "{1: 'b'}")
    file.decode("map_equal_across_widths_exact", map_(long(1), a, one, b), "{Long(1): 'b'}", exact=True)
    file.decode("map_equal_zeros", map_("06 0000000000000000", a, "06 8000000000000000", b), "{0.0: 'b'}")
    file.decode("map_duplicate_vector", map_(vector(one), one, vector(one), two), "{(1,): 2}")
    file.encode("map_from_ordereddict", map_(b, one, a, two), "OrderedDict([('b', 1), ('a', 2)])")

    file.both("everything_nested", vector(one, vector(a, list_("02 01", map_(two, "06 400c000000000000")))),
              "(1, ('a', [True, {2: 3.5}]))")  # fmt: skip
    file.both(
        "none_inside", list_(sized(100, "80 02 4e 2e"), map_(a, sized(100, "80 02 4e 2e"))), "[None, {'a': None}]"
    )
    file.both("exact_inside", map_("01 05", list_(long(5), "05 3fc00000", "02 01")),
              "{Byte(5): [Long(5), Float(1.5), True]}", {"exact": True})  # fmt: skip
    return file


def application_codes():
    file = Vectors("valid/application_codes.jsonl")

    file.both("writable_null", writable("org.apache.hadoop.io.NullWritable"),
              "Writable('org.apache.hadoop.io.NullWritable', b'')")  # fmt: skip
    file.both("writable_text", writable("org.apache.hadoop.io.Text", "02 68 69"),
              "Writable('org.apache.hadoop.io.Text', b'\\x02hi')")  # fmt: skip
    file.both("writable_no_name", writable(""), "Writable('', b'')")
    file.both("writable_no_name_with_data", writable("", "00 ff"), "Writable('', b'\\x00\\xff')")
    file.both("writable_strange_name", writable("../\0\xe9\u20ac\U0001f600"),
              "Writable('../\\x00\\xe9\\u20ac\\U0001f600', b'')")  # fmt: skip
    file.both("writable_inside", vector(writable(OBJECT, "00"), integer(1)), f"(Writable('{OBJECT}', b'\\x00'), 1)")

    for code in (51, 63, 99, 103, 127, 128, 143, 149, 177, 199, 200):
        file.both(f"ext_{code}_empty", sized(code), f"Ext({code}, b'')")
        file.both(f"ext_{code}", sized(code, "ab cd"), f"Ext({code}, b'\\xab\\xcd')")
    # the codes of R's rmr2 stay closed: serialized, typed vector, character vector, with attributes, NULL
    file.both("rmr2_serialize", sized(144, "58 0a 00 00 00 02"), "Ext(144, b'X\\n\\x00\\x00\\x00\\x02')")
    file.both(
        "rmr2_vector", sized(145, "03", i32(1), i32(2)), "Ext(145, b'\\x03\\x00\\x00\\x00\\x01\\x00\\x00\\x00\\x02')"
    )
    file.both(
        "rmr2_strings", sized(146, i32(1), string("a")), "Ext(146, b'\\x00\\x00\\x00\\x01\\x07\\x00\\x00\\x00\\x01a')"
    )
    file.both("rmr2_attributes", sized(147, integer(1)), "Ext(147, b'\\x03\\x00\\x00\\x00\\x01')")
    file.both("rmr2_null", "94 00000000", "Ext(148, b'')")

    file.decode("bytestring", sized(101, b"abc"), "b'abc'")
    file.decode("bytestring_not_utf8", sized(101, "ff"), "b'\\xff'")
    file.both("bytestring_exact", sized(101, b"abc"), "Ext(101, b'abc')", {"exact": True})

    file.decode("hook", sized(144, "ab"), "(144, b'\\xab')", ext_hook="pair")
    file.decode("hook_inside", list_(sized(51, "ab"), map_(sized(200), integer(1))), "[1, {0: 1}]", ext_hook="length")
    # codes with a meaning of their own do not go to the hook
    file.decode("hook_not_asked", list_(sized(101, b"a"), sized(100, "80 02 4e 2e"), writable("C")),
                "[b'a', None, Writable('C', b'')]", ext_hook="length")  # fmt: skip

    file.both("array", sized(102, INT16S), "ndarray('<i2', (3,), '0100ffff0080')")
    file.both("array_2d", sized(102, DOUBLES), "ndarray('<f8', (1, 2), '000000000000e03f00000000000000c0')")
    file.both("array_empty", sized(102, NO_ITEMS), "ndarray('|b1', (0,), '')")
    file.both("array_inside", map_(string("a"), sized(102, INT16S)), "{'a': ndarray('<i2', (3,), '0100ffff0080')}")
    file.decode("array_by_numpy", sized(102, npy("{'descr': '<i2', 'fortran_order': False, 'shape': (1,), }", "ff ff")),
                "ndarray('<i2', (1,), 'ffff')")  # fmt: skip
    file.both("array_exact", sized(102, INT16S), f"Ext(102, {INT16S!r})", {"exact": True})
    file.decode("hook_not_asked_exact", list_(sized(100), sized(101), sized(102), sized(103)),
                "[Ext(100, b''), Ext(101, b''), Ext(102, b''), 0]", exact=True, ext_hook="length")  # fmt: skip
    file.decode("array_exact_unread", sized(102, "00"), "Ext(102, b'\\x00')", exact=True)
    return file


def pickles():
    file = Vectors("valid/pickles.jsonl")
    none = "80 02 4e 2e"

    file.both("none", sized(100, none), "None")
    file.both("none_trust", sized(100, none), "None", {"pickle": "trust"}, {"pickle": "trust"})
    file.both("none_raw", sized(100, none), "Ext(100, b'\\x80\\x02N.')", {"pickle": "raw"}, {"pickle": "raw"})
    file.both("none_exact", sized(100, none), "Ext(100, b'\\x80\\x02N.')", {"exact": True})
    file.both("unreadable_raw", sized(100, "63 6f 73"), "Ext(100, b'cos')", {"pickle": "raw"})
    file.both("unreadable_exact", sized(100), "Ext(100, b'')", {"exact": True})

    for name, nbytes, number in (
        ("2**63", 9, 2**63),
        ("-2**63-1", 9, -(2**63) - 1),
        ("2**64-1", 9, 2**64 - 1),
        ("2**64", 9, 2**64),
        ("2**71-1", 9, 2**71 - 1),
        ("2**71", 10, 2**71),
        ("-2**71", 9, -(2**71)),
        ("2**127-1", 16, 2**127 - 1),
        ("-2**127", 16, -(2**127)),
        ("2**128", 17, 2**128),
        ("2**2039-1", 255, 2**2039 - 1),
    ):
        file.both(f"int_{name}", long1(nbytes, number), str(number))
    wide = 2**2039
    file.both(
        "int_2**2039", sized(100, "80 02 8b", struct.pack("<i", 256), wide.to_bytes(256, "little"), "2e"), str(wide)
    )
    # narrow ints, as an explicit write_pickle of the older libraries leaves them
    file.decode("int_binint1", sized(100, "80 02 4b 07 2e"), "7")
    file.decode("int_binint2", sized(100, "80 02 4d 00 01 2e"), "256")
    file.decode("int_binint", sized(100, "80 02 4a fe ff ff ff 2e"), "-2")
    file.decode("int_long1_short", sized(100, "80 02 8a 01 05 2e"), "5")
    file.decode("int_long1_empty", sized(100, "80 02 8a 00 2e"), "0")

    # the other value types are read only: which opcodes say them is the pickler's own choice
    floats = struct.pack(">BdBd", 0x47, 0.0, 0x47, 1.0)
    file.decode("complex", sized(100, "80 02", b"c__builtin__\ncomplex\n", floats, "86 52 2e"), "1j")
    file.decode("set", sized(100, "80 02", b"c__builtin__\nset\n", "5d 4b 01 61 85 52 2e"), "set([1])")
    file.decode("set_empty", sized(100, "80 02", b"c__builtin__\nset\n", "5d 85 52 2e"), "set([])")
    file.decode(
        "frozenset", sized(100, "80 02", b"c__builtin__\nfrozenset\n", "5d 4b 01 61 85 52 2e"), "frozenset([1])"
    )
    file.decode("decimal", sized(100, "80 02", b"cdecimal\nDecimal\n", "58 07 00 00 00", b"123.456", "85 52 2e"),
                "Decimal('123.456')")  # fmt: skip
    file.decode("timedelta", sized(100, "80 02", b"cdatetime\ntimedelta\n", "4b 01 4b 02 4b 03 87 52 2e"),
              "datetime.timedelta(days=1, seconds=2, microseconds=3)")  # fmt: skip
    # Python 3 carries the bytes of a date through protocol 2 as text and names the codec that undoes it
    latin1 = wire("58 06 00 00 00", b"latin1", "86 52")
    file.decode("date", sized(100, "80 02", b"cdatetime\ndate\nc_codecs\nencode\n", "58 05 00 00 00",
                              b"\x07\xc3\x9b\x01\x14", latin1, "85 52 2e"), "datetime.date(2011, 1, 20)")  # fmt: skip
    file.decode("key", map_(sized(100, "80 02", b"cdecimal\nDecimal\n", "58 01 00 00 00", b"1", "85 52 2e"),
                          integer(1)), "{Decimal('1'): 1}")  # fmt: skip
    # with the memo, as pickle.dumps writes them
    file.decode(
        "complex_memo", sized(100, "80 02", b"c__builtin__\ncomplex\n", "71 00", floats, "86 71 01 52 71 02 2e"), "1j"
    )
    file.decode("set_memo", sized(100, "80 02", b"c__builtin__\nset\n", "71 00 5d 71 01 4b 01 61 85 71 02 52 71 03 2e"),
                "set([1])")  # fmt: skip
    file.decode("decimal_memo", sized(100, "80 02", b"cdecimal\nDecimal\n", "71 00 58 07 00 00 00", b"123.456",
                                      "71 01 85 71 02 52 71 03 2e"), "Decimal('123.456')")  # fmt: skip
    # Python 2 carried them as its own str, and so did its Decimal
    file.decode("date_python2", sized(100, "80 02", b"cdatetime\ndate\n", "71 01 55 04 07 db 01 14 85 52 71 02 2e"),
                "datetime.date(2011, 1, 20)")  # fmt: skip
    file.decode("datetime_python2", sized(100, "80 02", b"cdatetime\ndatetime\n",
                                          "71 01 55 0a 07 db 01 14 0c 1e 2d 01 e2 40 85 52 71 02 2e"),
                "datetime.datetime(2011, 1, 20, 12, 30, 45, 123456)")  # fmt: skip
    file.decode("decimal_python2", sized(100, "80 02", b"cdecimal\nDecimal\n", "71 01 55 03", b"1.5", "85 52 71 02 2e"),
                "Decimal('1.5')")  # fmt: skip
    # only trust runs what a pickle names
    file.decode("list_trust", sized(100, "80 02 5d 71 00 4b 01 61 2e"), "[1]", pickle="trust")
    file.decode("class_trust", sized(100, "80 02", b"ccollections\nOrderedDict\n", "71 00 29 52 71 01 2e"),
                "OrderedDict()", pickle="trust")  # fmt: skip
    return file


def hive():
    file = Vectors("valid/hive.jsonl")
    dialect = {"dialect": "hive"}
    exact = {"dialect": "hive", "exact": True}

    for number in (0, 1, -1, 32767, -32768):
        payload = struct.pack(">h", number)
        file.decode(f"short_{number}", wire("0b", payload), str(number), **dialect)
        file.both(f"short_{number}_exact", wire("0b", payload), f"Ext(11, {payload!r})", exact, dialect)
    file.both("null", "0c", "None", dialect, dialect)
    file.both("null_exact", "0c", "None", exact, dialect)
    file.both("null_without_pickle", "0c", "None", {**dialect, "pickle": "raw"}, {**dialect, "pickle": "raw"})
    file.encode("null_ext", "0c", "Ext(12, b'')", **dialect)
    file.both("endofrecord", "b1", "Ext(177, b'')", dialect, dialect)
    file.decode("endofrecord_hook_not_asked", "b1", "Ext(177, b'')", **dialect, ext_hook="pair")
    file.both("row", list_(string("a"), integer(1), "0c", "b1"), "['a', 1, None, Ext(177, b'')]", dialect, dialect)
    file.both("null_key", map_("0c", "0c"), "{None: None}", dialect, dialect)
    file.both("list_of_nulls", "09 0c 0c ff", "[None, None]", dialect, dialect)
    file.decode("pickled_none", sized(100, "80 02 4e 2e"), "None", **dialect)
    file.both(
        "neighbour_codes", list_(sized(176), sized(178, "01")), "[Ext(176, b''), Ext(178, b'\\x01')]", dialect, dialect
    )
    return file


def options():
    file = Vectors("valid/options.jsonl")
    a, b, one, two = string("a"), string("b"), integer(1), integer(2)

    for number in (0, 1, -1, 2**31 - 1, -(2**31)):
        file.both(f"int_width_32_{number}", integer(number), str(number), {}, {"int_width": 32})
        file.both(f"int_width_64_{number}", long(number), str(number), {}, {"int_width": 64})
    file.both("int_width_64_max", long(2**63 - 1), str(2**63 - 1), {}, {"int_width": 64})
    file.both("int_width_64_min", long(-(2**63)), str(-(2**63)), {}, {"int_width": 64})
    file.both("int_width_64_inside", map_(long(1), list_(long(2))), "{1: [2]}", {}, {"int_width": 64})
    file.both("int_width_64_bool", "02 01", "True", {}, {"int_width": 64})

    # keys in the order of their encoded bytes: code first, then length, then text; negative INTs after positive ones
    file.encode(
        "sort_keys_strings", map_(a, one, b, two, string("aa"), one), "{'aa': 1, 'b': 2, 'a': 1}", sort_keys=True
    )
    file.encode("sort_keys_ints", map_(one, a, two, a, integer(-1), a), "{-1: 'a', 2: 'a', 1: 'a'}", sort_keys=True)
    file.encode("sort_keys_mixed", map_("00 00000001 61", one, one, one, a, one, vector(), one),
                "{(): 1, 'a': 1, 1: 1, b'a': 1}", sort_keys=True)  # fmt: skip
    file.encode("sort_keys_inside", list_(map_(a, map_(a, one, b, one), b, map_())),
                "[{'b': {}, 'a': {'b': 1, 'a': 1}}]", sort_keys=True)  # fmt: skip
    file.encode("sort_keys_equal_bytes", map_("06 7ff8000000000000", b, "06 7ff8000000000000", a),
                "{double(0x7ff8000000000000): 'b', double(0x7ff8000000000000): 'a'}", sort_keys=True)  # fmt: skip

    file.decode("map_pairs_empty", "0a 00000000", "[]", map_pairs=True)
    file.decode("map_pairs", map_(a, one, b, two, a, two), "[('a', 1), ('b', 2), ('a', 2)]", map_pairs=True)
    file.decode("map_pairs_equal_keys", map_(one, a, "02 01", b), "[(1, 'a'), (True, 'b')]", map_pairs=True)
    file.decode("map_pairs_list_key", map_(list_(one), a), "[([1], 'a')]", map_pairs=True)
    file.decode("map_pairs_map_key", map_(map_(a, one), map_()), "[([('a', 1)], [])]", map_pairs=True)
    file.decode("map_pairs_deep_list_key", map_(vector(one, list_()), a), "[((1, []), 'a')]", map_pairs=True)

    # what is no UTF-8, by the ways of bytes.decode and str.encode
    for handler, value in (
        ("replace", "'a\\ufffd(z'"),
        ("ignore", "'a(z'"),
        ("backslashreplace", "'a\\\\xc3(z'"),
    ):
        file.decode(f"unicode_{handler}", sized(7, "61 c3 28 7a"), value, unicode_errors=handler)
    for name, data, value in (
        ("overlong_nul", "c0 80", "'\\ufffd\\ufffd'"),
        ("surrogate", "ed a0 80", "'\\ufffd\\ufffd\\ufffd'"),
        ("beyond_unicode", "f4 90 80 80", "'\\ufffd\\ufffd\\ufffd\\ufffd'"),
        ("cut", "e2 82", "'\\ufffd'"),
    ):
        file.decode(f"unicode_replace_{name}", sized(7, data), value, unicode_errors="replace")
    escape = {"unicode_errors": "surrogateescape"}
    file.both("unicode_surrogateescape", sized(7, "61 ff"), "'a\\udcff'", escape, escape)
    file.both("unicode_surrogateescape_all", sized(7, bytes(range(128, 256))),
              ascii(bytes(range(128, 256)).decode("utf-8", "surrogateescape")), escape, escape)  # fmt: skip
    file.both("unicode_surrogateescape_good", string("\xe9\u20ac"), "'\\xe9\\u20ac'", escape, escape)
    file.both(
        "unicode_surrogateescape_key",
        map_(sized(7, "ff"), sized(7, "fe 61")),
        "{'\\udcff': '\\udcfea'}",
        escape,
        escape,
    )
    passed = {"unicode_errors": "surrogatepass"}
    file.both("unicode_surrogatepass", sized(7, "ed a0 80"), "'\\ud800'", passed, passed)
    file.encode("unicode_encode_replace", sized(7, b"a?b"), "'a\\ud83db'", unicode_errors="replace")
    file.encode("unicode_encode_ignore", sized(7, b"ab"), "'a\\ud83db'", unicode_errors="ignore")

    file.encode("default", sized(0, b"Thing()"), "Thing()", default="bytes")
    file.encode("default_inside", list_(map_(a, string("Thing()"))), "[{'a': Thing()}]", default="repr")
    # what a default gives stands in the place of the object: no level deeper
    file.encode("default_at_full_depth", list_(string("Thing()")), "[Thing()]", default="repr", max_depth=1)
    file.encode("default_not_asked", list_(one, a), "[1, 'a']", default="repr")
    file.encode("subclass_of_int", integer(7), "Colour.RED")
    file.both("max_depth_0", integer(1), "1", {"max_depth": 0}, {"max_depth": 0})
    file.both("max_depth_1", list_(one), "[1]", {"max_depth": 1}, {"max_depth": 1})
    deep = {"max_depth": 3}
    file.both("max_depth_3", list_(vector(map_(a, one)), vector(map_())), "[({'a': 1},), ({},)]", deep, deep)
    file.decode("max_bytes", list_(one, a), "[1, 'a']", max_bytes=13)

    for code, value in (
        (wire("01 05"), "numpy.int8(5)"),
        (integer(5), "numpy.int16(5)"),
        (integer(5), "numpy.int32(5)"),
        (long(5), "numpy.int64(5)"),
        (integer(255), "numpy.uint8(255)"),
        (integer(65535), "numpy.uint16(65535)"),
        (long(2**32 - 1), "numpy.uint32(4294967295)"),
        (long(2**63 - 1), "numpy.uint64(9223372036854775807)"),
        (wire("05 3fc00000"), "numpy.float16(1.5)"),
        (wire("05 3fc00000"), "numpy.float32(1.5)"),
        (wire("06 3ff8000000000000"), "numpy.float64(1.5)"),
        (wire("02 01"), "numpy.bool_(True)"),
    ):
        file.encode(value.replace("numpy.", "numpy_"), code, value)
    return file


# -- invalid ----------------------------------------------------------------------------------------------


def type_codes():
    file = Vectors("invalid/type_codes.jsonl")

    for code in BAD_CODES:
        file.refuse(f"code_{code}", wire(bytes([code]), "00 00 00 01 aa"), "FormatError", 0, code)
    file.refuse("code_in_vector", vector(integer(1), "0b"), "FormatError", 10, 11, "[1]")
    file.refuse("code_in_list", list_("31"), "FormatError", 1, 49, "[0]")
    file.refuse("code_as_key", map_(integer(1), integer(1), "c9", integer(1)), "FormatError", 15, 201, ".key(1)")
    file.refuse("code_as_value", map_(string("k"), "fe"), "FormatError", 11, 254, '["k"]')

    file.refuse("marker", "ff", "FormatError", 0, 255)
    file.refuse("marker_before_more", wire("ff", integer(1)), "FormatError", 0, 255)
    file.refuse("marker_in_vector", wire("08 00000002 ff", integer(1)), "FormatError", 5, 255, "[0]")
    file.refuse("marker_in_vector_in_list", wire("09 08 00000001 ff ff"), "FormatError", 6, 255, "[0][0]")
    file.refuse("marker_as_key", wire("0a 00000001 ff", integer(1)), "FormatError", 5, 255, ".key(0)")
    file.refuse("marker_as_value", wire("0a 00000001", string("k"), "ff"), "FormatError", 11, 255, '["k"]')

    for code, name in ((11, "short"), (12, "null")):
        file.refuse(f"hive_{name}_without_hive", wire(bytes([code]), "00 01"), "FormatError", 0, code)
    for code in (10 + 3, 49, 201, 254):
        file.refuse(f"hive_code_{code}", bytes([code]), "FormatError", 0, code, dialect="hive")
    return file


def lengths():
    file = Vectors("invalid/lengths.jsonl")

    for code in [*SIZED_CODES, 8, 10]:
        for length in (-1, -2, -5, -(2**31)):
            file.refuse(f"code_{code}_length_{length}", wire(bytes([code]), i32(length)), "FormatError", 0, code)
        path = {8: "[0]", 10: ".key(0)"}.get(code, "")
        for length in (2**31 - 1, 2**31 - 6):
            file.refuse(
                f"code_{code}_length_{length}", wire(bytes([code]), i32(length)), "TruncatedError", 5, code, path
            )
    file.refuse("negative_before_more", wire("00 ffffffff", b"data"), "FormatError", 0, 0)
    file.refuse("negative_in_list", wire("09", integer(1), "07 ffffffff", integer(2), "ff"), "FormatError", 6, 7, "[1]")
    file.refuse("negative_in_vector", wire("08 00000001 07 ffffffff"), "FormatError", 5, 7, "[0]")
    file.refuse("negative_key", wire("0a 00000001 00 fffffffe"), "FormatError", 5, 0, ".key(0)")
    file.refuse("negative_value", wire("0a 00000001", string('a"b'), "0a ffffffff"), "FormatError", 13, 10, '["a\\"b"]')
    # counts are promises: what is wrong first, from left to right, is the error
    file.refuse("promise_then_bad_code", wire("08 7fffffff 0b"), "FormatError", 5, 11, "[0]")
    file.refuse("promise_then_nothing", wire("08 7fffffff", integer(1)), "TruncatedError", 10, 8, "[1]")
    file.refuse("map_promise_then_key", wire("0a 7fffffff", integer(1)), "TruncatedError", 10, 10, "[1]")
    file.refuse("payload_comes_before_its_meaning", wire("32 00000010 ffffffff"), "TruncatedError", 9, 50)

    return file


def trailing():
    file = Vectors("invalid/trailing.jsonl")
    alone = {"direction": "loads", "skip": False}

    file.refuse("int", wire(integer(1), "aa bb cc"), "FormatError", 5, 170, **alone)
    file.refuse("list", wire(list_(integer(1)), "ff"), "FormatError", 7, 255, **alone)
    file.refuse("string_empty", "07 00000000 00", "FormatError", 5, 0, **alone)
    file.refuse("second_value", wire("02 01", integer(1)), "FormatError", 2, 3, **alone)
    file.refuse("hive_null", "0c 0c", "FormatError", 1, 12, **alone, dialect="hive")
    return file


def truncations():
    file = Vectors("invalid/truncations.jsonl")

    file.refuse("nothing", "", "TruncatedError", 0, None)
    # a code that is missing: the code of the container around it, the path of the missing value
    for name, data, code, *path in (
        ("byte", "01", 1),
        ("bool", "02", 2),
        ("int", "03 00 00 00", 3),
        ("long", "04 00 00 00 00 00 00 00", 4),
        ("float", "05 3f", 5),
        ("double", "06 00", 6),
        ("bytes_length", "00 00 00", 0),
        ("bytes", "00 00000005 aa bb", 0),
        ("string_length", "07", 7),
        ("string", "07 00000005 61 62", 7),
        ("string_inside_character", "07 00000003 e2 82", 7),
        ("vector_count", "08 00", 8),
        ("vector_nothing", "08 00000001", 8, "[0]"),
        ("vector_items", wire("08 00000002", integer(1)), 8, "[1]"),
        ("list_nothing", "09", 9, "[0]"),
        ("list_marker", wire("09", integer(1)), 9, "[1]"),
        ("map_count", "0a 00 00 00", 10),
        ("map_nothing", "0a 00000001", 10, ".key(0)"),
        ("map_value", wire("0a 00000001", integer(1)), 10, "[1]"),
        ("map_second_key", wire("0a 00000002", integer(1), integer(1)), 10, ".key(1)"),
        ("writable", "32 00000004 00 00", 50),
        ("pickle", "64 00000004 80 02", 100),
        ("application_code", "c8 00000001", 200),
    ):
        file.refuse(name, data, "TruncatedError", len(wire(data)), code, *path)
    file.refuse("inside_vector", wire("08 00000002", integer(1), "03"), "TruncatedError", 11, 3, "[1]")
    file.refuse("inside_list", "09 03 00 00", "TruncatedError", 4, 3, "[0]")
    file.refuse("inside_key", "0a 00000001 07", "TruncatedError", 6, 7, ".key(0)")
    file.refuse("inside_value", wire("0a 00000001", string("k"), "02"), "TruncatedError", 12, 2, '["k"]')
    file.refuse(
        "inside_deep", wire("09", "0a 00000001", integer(7), "08 00000001"), "TruncatedError", 16, 8, "[0][7][0]"
    )
    file.refuse("inside_vector_key", wire("0a 00000001 08 00000002", integer(1)), "TruncatedError", 15, 8, ".key(0)[1]")
    file.refuse("hive_short", "0b 00", "TruncatedError", 2, 11, dialect="hive")
    file.refuse("hive_endofrecord_without_hive", "b1", "TruncatedError", 1, 177)
    return file


def contents():
    file = Vectors("invalid/contents.jsonl")
    one, a = integer(1), string("a")

    for name, data in (
        ("lone_continuation", "80"),
        ("lone_start", "c3 28"),
        ("cut", "61 e2 82"),
        ("cut_4byte", "f0 9f 98"),
        ("overlong_nul", "c0 80"),
        ("overlong_slash", "e0 80 af"),
        ("overlong_4byte", "f0 80 80 af"),
        ("surrogate", "ed a0 80"),
        ("surrogate_pair", "ed a0 bd ed b8 80"),
        ("beyond_unicode", "f4 90 80 80"),
        ("five_bytes", "f8 88 80 80 80"),
        ("ff", "ff"),
        ("after_32_ascii", wire(b"x" * 32, "ff")),
        ("before_32_ascii", wire("ff", b"x" * 32)),
    ):
        file.refuse(f"utf8_{name}", sized(7, data), "FormatError", 0, 7, skip=False)
    file.refuse("utf8_in_list", list_(one, sized(7, "ff")), "FormatError", 6, 7, "[1]", skip=False)
    file.refuse("utf8_key", map_(sized(7, "ff"), one), "FormatError", 5, 7, ".key(0)", skip=False)
    file.refuse(
        "utf8_surrogatepass_still", sized(7, "ff"), "FormatError", 0, 7, skip=False, unicode_errors="surrogatepass"
    )

    file.refuse("key_list", map_(list_(one), a), "FormatError", 5, 9, ".key(0)", skip=False)
    file.refuse("key_map", map_(one, a, map_(), a), "FormatError", 16, 10, ".key(1)", skip=False)
    file.refuse("key_vector_with_list", map_(vector(one, list_()), a), "FormatError", 15, 9, ".key(0)[1]", skip=False)
    file.refuse(
        "key_vector_with_map", map_(vector(vector(map_())), a), "FormatError", 15, 10, ".key(0)[0][0]", skip=False
    )
    file.refuse(
        "key_list_inside", vector(map_(one, map_(list_(), a))), "FormatError", 20, 9, "[0][1].key(0)", skip=False
    )
    # met before its content is looked at
    file.refuse("key_list_cut", "0a 00000001 09", "FormatError", 5, 9, ".key(0)", skip=["TruncatedError", 6, 9])
    file.refuse("key_map_negative", "0a 00000001 0a ffffffff", "FormatError", 5, 10, ".key(0)")
    set_ = sized(100, "80 02", b"c__builtin__\nset\n", "71 00 5d 71 01 85 71 02 52 71 03 2e")
    file.refuse("key_pickled_set", map_(set_, a), "FormatError", 5, 100, ".key(0)", skip=False)
    file.refuse("key_vector_with_set", map_(vector(one, set_, "0b"), a), "FormatError", 15, 100, ".key(0)[1]",
                skip=["FormatError", 51, 11])  # fmt: skip
    file.refuse("key_array", map_(sized(102, INT16S), a), "FormatError", 5, 102, ".key(0)", skip=False)

    for name, payload in (
        ("empty", ""),
        ("short", "00 00 00"),
        ("negative", "ff ff ff ff"),
        ("most_negative", "80 00 00 00"),
        ("too_long", "00 00 00 01"),
        ("too_long_by_one", "00 00 00 03 61 62"),
        ("longest", "7f ff ff ff 61"),
        ("not_utf8", "00 00 00 01 ff 61"),
        ("surrogate", "00 00 00 03 ed a0 80"),
    ):
        file.refuse(f"writable_{name}", sized(50, payload), "FormatError", 0, 50, skip=False)
    file.refuse("writable_inside", list_(one, writable("C"), sized(50)), "FormatError", 16, 50, "[2]", skip=False)
    # the name of a class is never subject to the handler of the STRINGs
    file.refuse("writable_not_utf8_escape", sized(50, "00 00 00 01 ff"), "FormatError", 0, 50, skip=False,
                unicode_errors="surrogateescape")  # fmt: skip

    for name, payload in (
        ("empty", ""),
        ("no_stop", "80 02 4e"),
        ("no_protocol_no_stop", "4e"),
        ("nothing_to_give", "80 02 2e"),
        ("unknown_opcode", "80 02 ff 2e"),
        ("protocol_beyond", "80 ff 4e 2e"),
        ("long1_cut", "80 02 8a 09 00 2e"),
        ("long4_negative", "80 02 8b ff ff ff ff 2e"),
        ("getpid", wire(b"cos\ngetpid\n(tR.")),
        ("system", wire("80 02", b"cposix\nsystem\n", "58 04 00 00 00", b"true", "85 52 2e")),
        ("builtin_eval", wire("80 02", b"c__builtin__\neval\n", "58 01 00 00 00", b"1", "85 52 2e")),
        ("builtin_getattr", wire("80 02", b"c__builtin__\ngetattr\n", "2e")),
        ("stack_global", wire("80 04 8c 02", b"os", "8c 06", b"system", "93 2e")),
        ("class_only", wire("80 02", b"cos\nsystem\n", "2e")),
        ("instance", wire(b"(ios\ngetpid\n.")),
        ("extension_registry", "80 02 82 01 2e"),
        ("persistent_id", wire(b"P1\n.")),
        ("codec", wire("80 02", b"c_codecs\nencode\n", "58 00 00 00 00 58 04 00 00 00", b"zlib", "86 52 2e")),
        ("missing_memo", "80 02 68 05 2e"),
        ("decimal_of_nonsense", wire("80 02", b"cdecimal\nDecimal\n", "58 01 00 00 00", b"x", "85 52 2e")),
    ):
        file.refuse(f"pickle_{name}", sized(100, payload), "FormatError", 0, 100, skip=False)
    file.refuse("pickle_inside", map_(a, list_(one, sized(100))), "FormatError", 17, 100, '["a"][1]', skip=False)
    file.refuse("pickle_broken_trust", sized(100, "80 02 2e"), "FormatError", 0, 100, skip=False, pickle="trust")

    for name, payload in (
        ("empty", ""),
        ("magic", "00"),
        ("version", wire(b"\x93NUMPY\x09\x00", "76 00", INT16S[10:])),
        ("header_cut", INT16S[:60]),
        ("header_nonsense", npy("{'descr': nonsense}")),
        ("items_missing", INT16S[:-1]),
        ("items_too_many", INT16S + b"\0"),
        ("objects", OBJECTS),
    ):
        file.refuse(f"array_{name}", sized(102, payload), "FormatError", 0, 102, skip=False)
    return file


def limits():
    file = Vectors("invalid/limits.jsonl")
    one, a = integer(1), string("a")

    for name, data, code in (("vector", vector(), 8), ("list", list_(), 9), ("map", map_(), 10)):
        file.refuse(f"depth_0_{name}", data, "LimitError", 0, code, max_depth=0)
    file.refuse("depth_1_in_list", list_(one, list_()), "LimitError", 6, 9, "[1]", max_depth=1)
    file.refuse("depth_1_in_vector", vector(vector()), "LimitError", 5, 8, "[0]", max_depth=1)
    file.refuse("depth_1_in_map", map_(a, map_()), "LimitError", 11, 10, '["a"]', max_depth=1)
    file.refuse("depth_1_in_key", map_(vector(), a), "LimitError", 5, 8, ".key(0)", max_depth=1)
    file.refuse("depth_2", list_(one, vector(map_())), "LimitError", 11, 10, "[1][0]", max_depth=2)
    # the code alone is enough: neither its count nor anything behind it is looked at
    file.refuse("depth_before_count", "09 08", "LimitError", 1, 8, "[0]", max_depth=1)
    file.refuse("depth_before_negative_count", "09 0a ffffffff", "LimitError", 1, 10, "[0]", max_depth=1)
    file.refuse("depth_after_bad_code", "09 0b 09", "FormatError", 1, 11, "[0]", max_depth=1)

    file.refuse("bytes_inside_int", one, "LimitError", 0, None, skip=False, max_bytes=4)
    file.refuse("bytes_inside_list", list_(one, a), "LimitError", 0, None, "[2]", skip=False, max_bytes=12)
    file.refuse("bytes_inside_item", list_(one, a), "LimitError", 0, None, "[1]", skip=False, max_bytes=11)
    file.refuse(
        "bytes_before_end", "00 00000064 aa", "LimitError", 0, None, skip=["TruncatedError", 6, 0], max_bytes=104
    )
    file.refuse("bytes_after_end", "00 00000064 aa", "TruncatedError", 6, 0, max_bytes=105)
    file.refuse("bytes_after_bad_code", "09 0b", "FormatError", 1, 11, "[0]", max_bytes=2)

    # (-1, ...) and (-2, ...): hash(-1) is hash(-2), so ten of them make 1,024 tuples with one hash
    keys = [vector(*[wire("01", "fe" if n >> bit & 1 else "ff") for bit in range(10)]) for n in range(513)]
    pairs = [part for key in keys for part in (key, "02 01")]
    file.refuse("keys_with_one_hash", map_(*pairs), "LimitError", 0, 10, skip=False)
    return file


def unwritable():
    file = Vectors("invalid/unwritable.jsonl")

    file.unwritable("thing", "Thing()", "EncodeTypeError")
    file.unwritable("thing_in_list", "[1, Thing()]", "EncodeTypeError", "[1]")
    file.unwritable("thing_in_vector", "((), (Thing(),))", "EncodeTypeError", "[1][0]")
    file.unwritable("thing_in_map", "{'a': [{1: Thing()}]}", "EncodeTypeError", '["a"][0][1]')
    file.unwritable("thing_as_key", "{1: 1, Thing(): 1}", "EncodeTypeError", ".key(1)")
    file.unwritable("thing_in_key", "{(1, Thing()): 1}", "EncodeTypeError", ".key(0)[1]")
    for value in ("None", "set([1])", "Decimal('1')", "1j", "datetime.date(2011, 1, 20)"):
        file.unwritable(f"no_pickle_{value}", value, "EncodeTypeError", pickle="raw")
    file.unwritable("no_pickle_inside", "[1, None]", "EncodeTypeError", "[1]", pickle="raw")

    for power, number in (("2**63", 2**63), ("-2**63-1", -(2**63) - 1), ("2**200", 2**200)):
        file.unwritable(f"int_{power}_no_pickle", str(number), "EncodeValueError", pickle="raw")
        file.unwritable(f"int_{power}_in_32", str(number), "EncodeValueError", int_width=32)
        file.unwritable(f"int_{power}_in_64", str(number), "EncodeValueError", int_width=64)
    for number in (2**31, -(2**31) - 1, 2**63 - 1):
        file.unwritable(f"int_{number}_in_32", str(number), "EncodeValueError", int_width=32)
    file.unwritable("int_in_32_inside", "{'a': (2147483648,)}", "EncodeValueError", '["a"][0]', int_width=32)
    file.unwritable("float_beyond", "Float(3.4028235677973366e+38)", "EncodeValueError")
    file.unwritable("float_far_beyond", "[Float(-1e+300)]", "EncodeValueError", "[0]")

    file.unwritable("surrogate_high", "'a\\ud83db'", "EncodeValueError")
    file.unwritable("surrogate_low", "'\\ude00'", "EncodeValueError")
    file.unwritable("surrogate_escaped", "['\\udcff']", "EncodeValueError", "[0]")
    file.unwritable("surrogate_not_escapable", "'\\ud83d'", "EncodeValueError", unicode_errors="surrogateescape")
    file.unwritable("surrogate_as_key", "{'\\ud800': 1}", "EncodeValueError", ".key(0)")
    file.unwritable("surrogate_in_class_name", "Writable('\\ud800', b'')", "EncodeValueError")

    for value in ("Ext(11, b'ab')", "Ext(12, b'')"):
        file.unwritable(f"{value}_without_hive", value, "EncodeValueError")
    for value in ("Ext(11, b'a')", "Ext(11, b'abc')", "Ext(12, b'a')", "Ext(177, b'a')"):
        file.unwritable(f"{value}_in_hive", value, "EncodeValueError", dialect="hive")

    file.unwritable("depth_0", "()", "EncodeValueError", max_depth=0)
    file.unwritable("depth_1", "[1, {}]", "EncodeValueError", "[1]", max_depth=1)
    file.unwritable("depth_2", "{'a': ([],)}", "EncodeValueError", '["a"][0]', max_depth=2)
    file.unwritable("depth_in_key", "{((),): 1}", "EncodeValueError", ".key(0)[0]", max_depth=2)
    file.unwritable("array_of_objects", "numpy.array([None])", "EncodeTypeError")
    return file


# -- streams ----------------------------------------------------------------------------------------------


def streams():
    """Describe the streams: a .tb file each, and a line that says what is in it."""
    a, one = string("a"), integer(1)
    files = {}
    described = Vectors("stream/index.jsonl")

    def stream(name, kind, parts, values, error=None, **options):
        files[f"stream/{name}.tb"] = wire(*parts)
        described.add({"name": name, "kind": kind, "values": values, "error": error, "decode": options})

    stream("empty", "values", [], [])
    stream("one", "values", [one], ["1"])
    stream(
        "values",
        "values",
        ["02 01", one, long(2**40), "06 3ff8000000000000", a, "00 00000001 62", vector(one), list_(a, list_()),
         map_(a, one), writable("C", "00"), sized(144, "ab"), sized(100, "80 02 4e 2e")],
        ["True", "1", "1099511627776", "1.5", "'a'", "b'b'", "(1,)", "['a', []]", "{'a': 1}", "Writable('C', b'\\x00')",
         "Ext(144, b'\\xab')", "None"],
    )  # fmt: skip
    stream("exact", "values", ["01 01", "05 3fc00000", long(1), sized(101, b"a")],
           ["Byte(1)", "Float(1.5)", "Long(1)", "Ext(101, b'a')"], exact=True)  # fmt: skip
    stream("hive", "values", [a, "0c", "b1", "0b 0001", "b1"], ["'a'", "None", "Ext(177, b'')", "1", "Ext(177, b'')"],
           dialect="hive")  # fmt: skip
    stream("longer_than_a_buffer", "values", [sized(0, b"x" * 70_000), one, sized(7, b"y" * 200_000)],
           ["b'x' * 70000", "1", "'y' * 200000"])  # fmt: skip
    stream("many", "values", [integer(n) for n in range(1000)], [str(n) for n in range(1000)])

    stream("pairs", "pairs", [a, one, vector(a, one), list_(), map_(), "02 00"],
           ["('a', 1)", "(('a', 1), [])", "({}, False)"])  # fmt: skip
    stream("pairs_empty", "pairs", [], [])
    stream("pairs_grouped", "pairs", [a, one, a, integer(2), string("b"), one, one, one, "02 01", one, long(1), one],
           ["('a', 1)", "('a', 2)", "('b', 1)", "(1, 1)", "(True, 1)", "(1, 1)"])  # fmt: skip

    # what was whole before the fault is handed out; record counts values (pairs) from 0
    stream("cut_in_value", "values", [one, a, "03 00"], ["1", "'a'"],
           {"error": "TruncatedError", "offset": 13, "code": 3, "path": "", "record": 2})  # fmt: skip
    stream("cut_in_list", "values", [one, "09", one], ["1"],
           {"error": "TruncatedError", "offset": 11, "code": 9, "path": "[1]", "record": 1})  # fmt: skip
    stream("marker", "values", [one, "ff", one], ["1"],
           {"error": "FormatError", "offset": 5, "code": 255, "path": "", "record": 1})  # fmt: skip
    stream("bad_item", "values", [one, list_(a, "0b"), one], ["1"],
           {"error": "FormatError", "offset": 12, "code": 11, "path": "[1]", "record": 1})  # fmt: skip
    stream("too_long", "values", [one, list_(one), one], ["1"],
           {"error": "LimitError", "offset": 5, "code": None, "path": "[1]", "record": 1}, max_bytes=6)  # fmt: skip
    stream("pairs_cut_after_key", "pairs", [a, one, a], ["('a', 1)"],
           {"error": "TruncatedError", "offset": 17, "code": None, "path": "", "record": 1})  # fmt: skip
    stream("pairs_cut_in_value", "pairs", [a, one, a, "07 00"], ["('a', 1)"],
           {"error": "TruncatedError", "offset": 19, "code": 7, "path": "", "record": 1})  # fmt: skip
    stream("pairs_marker_as_value", "pairs", [a, one, a, "ff"], ["('a', 1)"],
           {"error": "FormatError", "offset": 17, "code": 255, "path": "", "record": 1})  # fmt: skip
    files[described.path] = described.text().encode("ascii")
    return files


def described_files():
    """Return every file that this script writes, by its path in this folder."""
    files = {}
    for describe in (
        numbers,
        sized_values,
        containers,
        application_codes,
        pickles,
        hive,
        options,
        type_codes,
        lengths,
        trailing,
        truncations,
        contents,
        limits,
        unwritable,
    ):
        file = describe()
        files[file.path] = file.text().encode("ascii")
    return {**files, **streams()}


def differing(files):
    """Return the paths whose files are missing, other than described, or described nowhere."""
    there = {
        path.relative_to(ROOT).as_posix(): path.read_bytes()
        for folder in ("valid", "invalid", "stream")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.is_file()
    }
    return sorted(path for path in files.keys() | there.keys() if files.get(path) != there.get(path))


def main():
    parser = argparse.ArgumentParser(description="Write the vectors of this folder.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if a file is not what would be written"
    )
    arguments = parser.parse_args()
    files = described_files()
    if arguments.check:
        paths = differing(files)
        for path in paths:
            print(f"{path} is not what generate.py describes", file=sys.stderr)
        return 1 if paths else 0
    for path, data in files.items():
        target = ROOT / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
