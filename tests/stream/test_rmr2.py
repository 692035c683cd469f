"""What rmr2 writes in its format `native`: the bytes of its own C++ under R, read as values of Python.

Here: vectors, factors, data frames, files; bytes that rmr2 does not write. Not here: R's own serialization.
"""

import datetime as dt
import random
from math import inf, nan

import pytest

import typedbytes as tb
from support.vectors import names, read_jsonl
from typedbytes import rmr2, sequencefile

VECTORS = read_jsonl("foreign/rmr2/native.jsonl")
BYTES = {each["name"]: bytes.fromhex(each["hex"]) for each in VECTORS}
FRAME = {"n": [1, 2, 3], "s": ["a", "b", None], "t": [True, None, False], "d": [1.0, None, 2.5]}
VALUES = {
    "null": None, "raw": b"\1\2\3", "true": [True], "logical NA": [None], "logicals": [True, False, None],
    "no logicals": [], "integer": [7], "integer NA": [None], "integers": [1, None, -3], "no integers": [],
    "double": [0.5], "double NA": [None], "doubles": [1.5, None, nan, inf, -0.0], "no doubles": [],
    "character": ["a"], "characters": ["a", None, "h\xe9", "", "NA"], "character NA": [None], "no characters": [],
    "list": ([1], ["a"], None, [1.0, 2.0]), "named list": {"a": [1], "b": ["x", "y"]}, "named": {"a": 1.0, "b": 2.0},
    "factor": ["x", "y", None, "x"], "matrix": rmr2.WithAttributes([1, 2, 3, 4, 5, 6], {"dim": [2, 3]}),
    "data frame": FRAME, "data frame of factors": {"n": [1, 2], "f": ["u", "v"]},
    "data frame of one row": {"n": [1], "s": ["a"]}, "no rows": {"n": [], "s": []},
    "row names": rmr2.WithAttributes(
        ([1, 2],), {"names": ["n"], "class": ["data.frame"], "row.names": ["p", "q"]}
    ),
    "date": [dt.date(2026, 5, 1)], "dates": [dt.date(2026, 5, 1), None],
    "template": rmr2.WithAttributes(([], {"n": []}), {"names": ["key", "val"], "rmr.template": [True]}),
}  # fmt: skip


def loads(data):
    return tb.loads(data, ext_hook=rmr2.ext_hook)


@pytest.mark.parametrize("vector", VECTORS, ids=names(VECTORS))
def test_what_rmr2_wrote_is_read(vector):
    found = loads(BYTES[vector["name"]])
    if vector["name"] in ("complex", "function"):
        assert found.code == 144 and found.data.startswith(b"X\n")
    else:
        assert repr(found) == repr(VALUES[vector["name"]])


@pytest.mark.parametrize("vector", VECTORS, ids=names(VECTORS))
def test_bytes_that_are_cut_or_changed_are_values_or_an_error_of_the_data(vector):
    rng = random.Random(vector["name"])
    data = BYTES[vector["name"]]
    for cut in range(len(data)):
        with pytest.raises(tb.TruncatedError):
            loads(data[:cut])
    for _ in range(200):
        changed = bytearray(data)
        for _ in range(rng.randrange(1, 4)):
            changed[rng.randrange(len(changed))] = rng.choice((0, 1, 3, 7, 8, 128, 145, 146, 147, 148, 150, 255))
        try:
            loads(bytes(changed))
        except tb.DecodeError:
            pass


def ext(code, *parts):
    data = b"".join(parts)
    return bytes([code]) + len(data).to_bytes(4, "big") + data


ITEM = bytes.fromhex("070000000161")
WRONG = {
    "a vector without a code": (ext(145), "an empty vector of R"),
    "a vector of texts": (ext(145, b"\7abcd"), "items of the unknown type 7"),
    "half an integer": (ext(145, b"\3\0\0"), "2 bytes after its 0 items"),
    "too few texts": (ext(146, b"\0\0\0\2", ITEM), "has 1 texts"),
    "no count": (ext(146, b"\0\0"), "has 0 texts"),
    "a text that is longer": (ext(146, b"\0\0\0\1", b"\7\0\0\0\2a"), "text 1"),
    "a text of another code": (ext(146, b"\0\0\0\1", b"\3\0\0\0\1a"), "text 1"),
    "an NA with a length": (ext(146, b"\0\0\0\1", b"\x96\0\0\0\1a"), "text 1"),
    "not UTF-8": (ext(146, b"\0\0\0\1", b"\7\0\0\0\1\xff"), "is not UTF-8"),
    "attributes alone": (ext(147, tb.dumps(1)), "attributes of R are not names and values"),
    "too few attributes": (ext(147, tb.dumps(1), ext(146, b"\0\0\0\1", ITEM), tb.dumps(())), "1 names of 0 attributes"),
    "a level that is not there": (
        BYTES["factor"].replace(bytes.fromhex("0000000100000002"), bytes.fromhex("0000000100000009")),
        "with a level that it does not have",
    ),
    "a date beyond": (BYTES["date"].replace(bytes.fromhex("40d41780"), bytes.fromhex("7e000000")), "a date of R"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_rmr2_does_not_write_is_refused(name):
    data, message = WRONG[name]
    with pytest.raises(tb.FormatError, match=message):
        loads(data)


def test_nesting_is_bounded():
    data = tb.dumps(1)
    for _ in range(70):
        data = ext(147, data, ext(146, b"\0\0\0\1", ITEM), tb.dumps((1,)))
    with pytest.raises(tb.LimitError, match="nest deeper than 64"):
        loads(data)


def test_other_codes_stay_what_they_are():
    assert loads(ext(151, b"a")) == tb.Ext(151, b"a") and loads(ext(148, b"a")) == tb.Ext(148, b"a")


def test_a_folder_is_read_without_templates(tmp_path):
    for number in range(2):
        with sequencefile.Writer(tmp_path / f"part-0000{number}") as writer:
            for name in ("template", "data frame", "template"):
                writer.write_raw(*(len(data).to_bytes(4, "big") + data for data in (BYTES["null"], BYTES[name])))
    assert list(rmr2.read(tmp_path)) == [(None, FRAME)] * 2
