"""Bytes that other programs wrote: Hadoop's own Java classes, and the older Python libraries under Python 2."""

import datetime
import decimal
import hashlib
import io
import json
import struct

import pytest

import typedbytes
from support.java_view import bits_only, java_view
from support.vectors import double, exact_repr, names, outcome, read_jsonl
from typedbytes import Byte, Float

GOLDEN = read_jsonl("foreign/hadoop/golden.jsonl")
BAD = read_jsonl("foreign/hadoop/bad.jsonl")


# -- Hadoop: what Java wrote ------------------------------------------------------------------------------


def shape(tagged):
    """Return which containers Java wrote: VECTOR from an ArrayList, LIST from any other List."""
    (tag, content), *_ = tagged.items()
    if tag in ("vector", "list"):
        return [tag, *map(shape, content)]
    if tag == "map":
        return [tag, *([shape(key), shape(item)] for key, item in content)]
    return []


def our_shape(value):
    """Return the same of a decoded value."""
    if type(value) in (tuple, list):
        return [{tuple: "vector", list: "list"}[type(value)], *map(our_shape, value)]
    if type(value) is dict:
        return ["map", *([our_shape(key), our_shape(item)] for key, item in value.items())]
    return []


# Java's reader puts keys into a TreeMap, which compares only keys of one class
UNREADABLE_IN_JAVA = {"map_mixed_keys": "{1: 'int', 'x': 'str'}", "map_vector_key": "{(1, 2): 'tuplekey'}"}


@pytest.mark.parametrize("vector", GOLDEN, ids=names(GOLDEN))
def test_golden(vector):
    data = bytes.fromhex(vector["hex"])
    value = typedbytes.loads(data, exact=True)

    if vector["name"] in UNREADABLE_IN_JAVA:
        assert vector["read"]["error"] == "java.lang.ClassCastException"
        assert exact_repr(value) == UNREADABLE_IN_JAVA[vector["name"]]
    else:
        assert java_view(value) == bits_only(vector["read"]["ok"])
    if vector["kind"] == "TypedBytesOutput.write":
        assert our_shape(value) == shape(vector["source"])
    assert typedbytes.loads(data) == value or value != value
    assert typedbytes.dumps(value).hex() == vector["hex"]
    assert typedbytes.skip(data) == len(data)


@pytest.mark.parametrize("vector", GOLDEN + BAD, ids=names(GOLDEN + BAD))
def test_hash_and_partition(vector):
    data = bytes.fromhex(vector["hex"])

    assert typedbytes.hash_code(data) == vector["hashCode"]
    for npartitions, expected in vector["partition"].items():
        assert typedbytes.partition(data, int(npartitions)) == expected


def test_golden_pairs(vector_root):
    data = (vector_root / "foreign/hadoop/golden_pairs.tb").read_bytes()
    pairs = typedbytes.Decoder(exact=True).decode_pairs(data)

    assert len(pairs) == 336
    assert typedbytes.Encoder().encode_pairs(pairs) == data
    file = io.BytesIO()
    with typedbytes.PairReader(io.BytesIO(data), exact=True) as reader, typedbytes.PairWriter(file) as writer:
        assert writer.writes(reader) == 336
    assert file.getvalue() == data
    assert b"".join(key + value for key, value in typedbytes.PairReader(data, raw=True)) == data


# -- Hadoop: what is wrong, and what Java makes of it -----------------------------------------------------

DEEP = "[0]" * 256

# a value: Java and we agree, or its reader is more patient than ours; a failure: class, offset, code, path
BAD_OUTCOMES = {
    "empty": ("TruncatedError", 0, None, ""),
    "unknown_code_12": ("FormatError", 0, 12, ""),
    "unknown_code_49": ("FormatError", 0, 49, ""),
    "unknown_code_202": ("FormatError", 0, 202, ""),
    "appcode_100": ("FormatError", 0, 100, ""),
    "appcode_148": "Ext(148, b'\\xab\\xcd')",
    "appcode_177": "Ext(177, b'\\xab\\xcd')",
    "appcode_199": "Ext(199, b'\\xab\\xcd')",
    "appcode_100_len0": ("FormatError", 0, 100, ""),
    "hive_endofrecord_177_bare": ("TruncatedError", 1, 177, ""),
    "hive_null_12_bare": ("FormatError", 0, 12, ""),
    "hive_short_11": ("FormatError", 0, 11, ""),
    "bool_2": "True",
    "bool_80": "True",
    "trunc_int": ("TruncatedError", 3, 3, ""),
    "trunc_long": ("TruncatedError", 5, 4, ""),
    "trunc_float": ("TruncatedError", 2, 5, ""),
    "trunc_double": ("TruncatedError", 2, 6, ""),
    "trunc_byte": ("TruncatedError", 1, 1, ""),
    "trunc_bytes_len": ("TruncatedError", 3, 0, ""),
    "trunc_bytes_body": ("TruncatedError", 7, 0, ""),
    "trunc_string_len": ("TruncatedError", 1, 7, ""),
    "trunc_string_body": ("TruncatedError", 7, 7, ""),
    "trunc_appcode_body": ("TruncatedError", 6, 100, ""),
    "trunc_vector_items": ("TruncatedError", 10, 8, "[1]"),
    "trunc_vector_midint": ("TruncatedError", 11, 3, "[1]"),
    "trunc_list_no_marker": ("TruncatedError", 6, 9, "[1]"),
    "trunc_list_empty": ("TruncatedError", 1, 9, "[0]"),
    "trunc_list_midint": ("TruncatedError", 4, 3, "[0]"),
    "trunc_map_after_key": ("TruncatedError", 10, 10, "[1]"),
    "neg_len_bytes_-1": ("FormatError", 0, 0, ""),
    "neg_len_string_-1": ("FormatError", 0, 7, ""),
    "neg_len_string_-2": ("FormatError", 0, 7, ""),
    "neg_len_vector_-1": ("FormatError", 0, 8, ""),
    "neg_len_map_-1": ("FormatError", 0, 10, ""),
    "neg_len_app_-5": ("FormatError", 0, 100, ""),
    "huge_len_bytes_max": ("TruncatedError", 5, 0, ""),
    "huge_len_bytes_max-5": ("TruncatedError", 5, 0, ""),
    "huge_len_string_max": ("TruncatedError", 5, 7, ""),
    "huge_len_vector_max": ("TruncatedError", 5, 8, "[0]"),
    "huge_len_map_max": ("TruncatedError", 5, 10, ".key(0)"),
    "huge_bytes_1e9": ("TruncatedError", 6, 0, ""),
    "marker_in_vector": ("FormatError", 5, 255, "[0]"),
    "marker_in_map_key": ("FormatError", 5, 255, ".key(0)"),
    "marker_in_map_value_str": ("FormatError", 11, 255, '["k"]'),
    "list_null_string_inside": ("FormatError", 6, 7, "[1]"),
    "vector_null_string_inside": ("FormatError", 5, 7, "[0]"),
    "string_overlong": ("FormatError", 0, 7, ""),
    "string_trunc_utf8": ("FormatError", 0, 7, ""),
    "trailing_bytes": ("FormatError", 5, 170, ""),
    "double_snan": "double(0x7ff0000000000001)",
    "float_snan": "double(0x7ff0000020000000)",
    "double_nan_payload": "double(0x7ff8000000000123)",
    "double_neg_nan": "double(0xfff8000000000000)",
    "writable_text": "Writable('org.apache.hadoop.io.Text', b'\\x02hi')",
    "writable_not_writable": "Writable('java.lang.Object', b'')",
    "writable_len0": ("FormatError", 0, 50, ""),
    "map_mixed_numeric": "{1: 'b'}",
    "map_bool_bytes_keys": "{True: 1}",
    "map_bytes_keys": "{b'b': 1, b'a': 2}",
    "list_of_list_depth_5000": ("LimitError", 256, 9, DEEP),
    "list_of_list_depth_100000": ("LimitError", 256, 9, DEEP),
}


def test_every_bad_input_has_an_outcome():
    assert [vector["name"] for vector in BAD] == list(BAD_OUTCOMES)


@pytest.mark.parametrize("vector", BAD, ids=names(BAD))
def test_bad(vector):
    assert outcome(typedbytes.loads, bytes.fromhex(vector["hex"])) == BAD_OUTCOMES[vector["name"]]


@pytest.mark.parametrize("name", ["string_overlong", "string_trunc_utf8"])
def test_bad_text_as_java_reads_it(name):
    (vector,) = (vector for vector in BAD if vector["name"] == name)
    read = typedbytes.loads(bytes.fromhex(vector["hex"]), unicode_errors="replace")
    assert read == vector["read"]["ok"]["string"]


def test_bad_text_where_java_differs():
    # one U+FFFD for a surrogate and two for a pair in Java; Python replaces each of the bytes
    for data, nreplaced in (("eda080", 3), ("eda0bdedb880", 6)):
        encoded = b"\x07" + struct.pack(">i", len(data) // 2) + bytes.fromhex(data)
        assert typedbytes.loads(encoded, unicode_errors="replace") == "\ufffd" * nreplaced


# -- Python 2: typedbytes.py, ctypedbytes, hadoopy --------------------------------------------------------


def python2_goldens(root):
    """Return what the three libraries wrote."""
    return json.loads((root / "foreign/python2/goldens_py2.json").read_text("ascii"))


def python_value(expression):
    """Return the value of an expression from the goldens."""
    return eval(expression, {"datetime": datetime, "decimal": decimal, "struct": struct})


def test_values_of_all_three_libraries(vector_root):
    vectors = python2_goldens(vector_root)["values"]
    assert len(vectors) == 41
    for vector in vectors:
        for library in ("typedbytes", "ctypedbytes", "hadoopy"):
            value = typedbytes.loads(bytes.fromhex(vector[library]))
            assert exact_repr(value) == exact_repr(python_value(vector["py3"])), (library, vector["py3"])


def test_written_as_typedbytes_py_wrote(vector_root):
    for vector in python2_goldens(vector_root)["values"]:
        value = python_value(vector["py3"])
        written = typedbytes.dumps(value)
        if isinstance(value, (set, decimal.Decimal, datetime.date, complex)):
            # the same code and protocol; what follows differs as the picklers of Python 2 and 3 do
            assert written[0] == 100 and written[5:7] == b"\x80\x02"
            assert exact_repr(typedbytes.loads(written)) == exact_repr(value)
        else:
            assert written.hex() == vector["typedbytes"], vector["py3"]


def test_explicit_writes(vector_root):
    vectors = python2_goldens(vector_root)["explicit"]
    assert len(vectors) == 14
    for vector in vectors:
        data = bytes.fromhex(vector["hex"])
        assert exact_repr(typedbytes.loads(data)) == exact_repr(python_value(vector["value"])), vector["method"]
        assert typedbytes.dumps(typedbytes.loads(data, exact=True)) == data, vector["method"]


@pytest.mark.parametrize("name", ["list_50", "tuple_50", "dict_50"])
def test_streams_with_text_that_is_not_utf8(name, vector_root):
    data = (vector_root / f"foreign/python2/{name}.tb").read_bytes()
    options = {"unicode_errors": "surrogateescape"}
    values = typedbytes.Decoder(**options).decode_all(data)

    assert {type(value).__name__ for value in values} == {name[: -len("_50")]}
    assert len(values) == typedbytes.count(data) == 100
    assert typedbytes.Encoder(**options).encode_all(values) == data
    file = io.BytesIO()
    with typedbytes.Reader(io.BytesIO(data), **options) as reader, typedbytes.Writer(file, **options) as writer:
        assert writer.writes(reader) == 100
    assert file.getvalue() == data
    assert b"".join(typedbytes.Reader(data, raw=True)) == data
    error, _, code, _ = outcome(typedbytes.Decoder().decode_all, data)
    assert (error, code) == ("FormatError", 7)


# the first value of each kind, as the benchmark of the older libraries wrote them
GB_SINGLE = [
    b"abcdefg",
    b"01234",
    Byte(83),
    Byte(12),
    True,
    False,
    13413,
    164,
    8589934592,
    17179869184,
    Float(12.5),
    Float(15.25),
    double(0x41006278FBE76C8B),
    double(0x3FBF8B8FEB9AEE2D),
    "abcdefg",
    "01234",
    (1, "a", True),
    (1, 0.25, ()),
    [1, "a", True],
    [1, 0.25, []],
    {"1": 3, 5: True},
    {"1": 3, (3, 4): True},
]


def test_one_value_of_each_kind(vector_root):
    data = (vector_root / "foreign/python2/gb_single.tb").read_bytes()

    assert [exact_repr(value) for value in typedbytes.Reader(data, exact=True)] == [
        exact_repr(value) for value in GB_SINGLE
    ]
    assert typedbytes.Encoder().encode_all(GB_SINGLE) == data
    assert typedbytes.Decoder().decode_all(data) == GB_SINGLE


def test_sums(vector_root):
    folder = vector_root / "foreign/python2"
    sums = dict(reversed(line.split()) for line in (folder / "SHA256SUMS").read_text("ascii").splitlines())
    files = sorted(folder.glob("*.tb"))
    assert [file.stem for file in files] == ["dict_50", "gb_single", "list_50", "tuple_50"]
    for file in files:
        assert hashlib.sha256(file.read_bytes()).hexdigest() == sums[file.name]
