"""The tree of the errors, their messages and their copies."""

import copy
import pathlib
import pickle

import pytest

import typedbytes as tb
from typedbytes import hadoop, local, streaming

pytestmark = pytest.mark.quick


TREE = {
    "EncodeError": (tb.TypedBytesError,),
    "EncodeTypeError": (tb.EncodeError, TypeError),
    "EncodeValueError": (tb.EncodeError, ValueError),
    "DecodeError": (tb.TypedBytesError, ValueError),
    "TruncatedError": (tb.DecodeError, EOFError),
    "LimitError": (tb.DecodeError,),
    "DecodeTypeError": (tb.DecodeError, TypeError),
    "FormatError": (tb.DecodeError,),
    "BlockError": (tb.FormatError,),
    "CallError": (tb.TypedBytesError, RuntimeError),
}


@pytest.mark.parametrize("name", TREE)
def test_the_tree_of_errors(name):
    assert getattr(tb, name).__bases__ == TREE[name]


@pytest.mark.parametrize(
    "error, base",
    [
        (streaming.TooManyBadRecords, tb.TypedBytesError),
        (local.JobError, tb.TypedBytesError),
        (hadoop.SubmitError, local.JobError),
    ],
)
def test_the_errors_of_jobs_are_of_this_library(error, base):
    assert error.__bases__ == (base,)


ERRORS = [
    tb.EncodeTypeError("cannot"),
    tb.EncodeValueError("cannot", '[3]["key"]'),
    tb.DecodeError("odd"),
    tb.TruncatedError("ends", 5, 7, "[0]", 3),
    tb.LimitError("deep", 2**40, None, "x" * 500, 0),
    tb.FormatError("bad", 0, 255),
    tb.DecodeTypeError("expected int", 5, 7, "[1].ms", 2),
    tb.CallError("division by zero", "ZeroDivisionError"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_are_copied_whole(error):
    again = [pickle.loads(pickle.dumps(error, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for found in [*again, copy.copy(error), copy.deepcopy(error)]:
        assert type(found) is type(error)
        assert (str(found), repr(found), found.args, vars(found)) == (str(error), repr(error), error.args, vars(error))


MESSAGES = {
    "nothing": (lambda: tb.loads(b""), "input ends where a value should start at offset 0"),
    "inside": (lambda: tb.loads(b"\x03\0\0"), "input ends inside INT: at least 2 more bytes needed at offset 3"),
    "in_a_list": (lambda: tb.loads(b"\x09\x02\1"),
                  "input ends inside LIST: at least 1 more bytes needed at offset 3, path [1]"),
    "trailing": (lambda: tb.loads(b"\x02\1\x02"), "1 byte after the value: iter_load reads several at offset 2"),
    "unknown": (lambda: tb.loads(b"\x09\x0d"), "unknown type code 13 at offset 1, path [0]"),
    "marker": (lambda: tb.loads(b"\xff"), "MARKER outside a LIST at offset 0"),
    "length": (lambda: tb.loads(b"\7\xff\xff\xff\xff"), "negative length or count -1 of STRING at offset 0"),
    "ext_length": (lambda: tb.loads(b"\x90\xff\xff\xff\xfe"),
                   "negative length or count -2 of type code 144 at offset 0"),
    "count": (lambda: tb.loads(b"\x0a\x80\0\0\0"), "negative length or count -2147483648 of MAP at offset 0"),
    "text": (lambda: tb.loads(b"\7\0\0\0\2a\xff"), "STRING is not UTF-8: invalid start byte at its byte 1 at offset 0"),
    "deep": (lambda: tb.loads(b"\x09\x09", max_depth=1),
             "containers nest deeper than max_depth=1 at offset 1, path [0]"),
    "record": (lambda: list(tb.Reader(b"\x02\1\xff")), "MARKER outside a LIST at offset 2, record 1"),
    "key": (lambda: tb.loads(b"\x0a\0\0\0\1\x09\xff"),
            "LIST cannot be a MAP key; map_pairs=True gives the pairs at offset 5, path .key(0)"),
    "long": (lambda: tb.loads(b"\x02\1", max_bytes=1), "a record is longer than max_bytes=1 at offset 0"),
    "type": (lambda: tb.dumps([{"k": object}]),
             'cannot encode an object of type type: pass default=, or pickle="trust" for your own data, at [0]["k"]'),
    "none": (lambda: tb.dumps(None, pickle="raw"),
             "cannot encode an object of type NoneType: pass default= or another pickle="),
    "own_type": (lambda: tb.dumps(pathlib.PurePosixPath()), "cannot encode an object of type pathlib"),
    "width": (lambda: tb.dumps(2**31, int_width=32), "int does not fit an INT of 32 bits"),
    "wide": (lambda: tb.dumps(2**63, pickle="raw"), "int does not fit 64 bits"),
    "surrogate": (
        lambda: tb.dumps("\udc80"),
        'str holds a lone surrogate, which UTF-8 cannot encode: pass unicode_errors="surrogateescape", for example',
    ),
    "float": (lambda: tb.dumps(tb.Float(1e300)), "number is too large for a FLOAT"),
    "nesting": (lambda: tb.dumps([[]], max_depth=1),
                "containers nest deeper than max_depth=1, or one holds itself, at [0]"),
}  # fmt: skip


@pytest.mark.parametrize("name", MESSAGES)
def test_messages(name):
    use, message = MESSAGES[name]
    with pytest.raises(tb.TypedBytesError) as caught:
        use()
    assert str(caught.value) == message or name == "own_type" and str(caught.value).startswith(message)
