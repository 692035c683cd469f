"""Values and their pickles, and parts of pickles that nothing writes.

Here: values, bytes, and what a refusal says. Not here: what a test expects of them. Invariant: the pickles of Python 2
were written by its pickle and cPickle (2.7.18).
"""

import pickle
import sys
import warnings
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from uuid import UUID, SafeUUID, uuid1

import pytest

from typedbytes._core import safe_loads

MAX_EQUAL_HASHES = 512


EAST = timezone(timedelta(hours=5, minutes=30), "IST")


SOME_UUID = UUID("12345678-1234-5678-1234-567812345678")


VALUES = [
    None,
    0,
    -1,
    255,
    -256,
    65535,
    2**31 - 1,
    -(2**31),
    2**63,
    -(2**63) - 1,
    2**128,
    -(2**4000),
    Decimal("123.456"),
    Decimal("-0E-7"),
    Decimal("-Infinity"),
    Decimal("1E+999999"),
    date(2011, 1, 20),
    date.max,
    time(12, 30, 45, 123456),
    time(0, 0, tzinfo=timezone.utc),
    datetime(2011, 1, 20, 12, 30, 45, 123456),
    datetime(2047, 12, 31, 23, 59, 59, 999999),
    datetime(2020, 2, 29, tzinfo=EAST),
    timedelta(-3, 7, 9),
    timedelta.max,
    timezone.utc,
    EAST,
    timezone(timedelta(minutes=-90)),
    set(),
    {1, 2, 3},
    {"text", "\xe9\U0001f600\n\\'\"", "", "lone \ud800"},
    {b"raw\x00\xff\n'\"\\", b""},
    {True, 2.5, None, 1j, Decimal(7), date(2020, 1, 1), SOME_UUID},
    frozenset(),
    frozenset({(1, (2.5, None), frozenset({True}))}),
    {-1, -2, 2**61 - 3, -(2**61)},
    1.5 - 2j,
    SOME_UUID,
    UUID(int=2**128 - 1, is_safe=SafeUUID.unsafe),
    uuid1(),
]


OTHERS = [True, 1.5, "text", b"bytes", (), (1, ("a", frozenset({b"b"})))]


PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


PYTHON2 = {
    b"I01\n.": True,
    b"F1.5\n.": 1.5,
    b"L1180591620717411303424L\n.": 2**70,
    b"\x80\x02\x88.": True,
    b"\x80\x02\x8a\t\x00\x00\x00\x00\x00\x00\x00\x00@.": 2**70,
    b"c__builtin__\nset\np1\n((lp2\nI1\naI2\naI3\natRp3\n.": {1, 2, 3},
    b"\x80\x02c__builtin__\nset\nq\x01]q\x02(K\x01K\x02K\x03e\x85Rq\x03.": {1, 2, 3},
    b"c__builtin__\nset\np1\n((lp2\nS''\naS'xyz'\np3\naS'a\\n\\'\"\\\\\\x00'\np4\natRp5\n.": {"", "xyz", "a\n'\"\\\0"},
    b"\x80\x02c__builtin__\nset\nq\x01]q\x02(U\x00U\x03xyzq\x03U\x02\xff\xfeq\x04e\x85Rq\x05.": {
        "",
        "xyz",
        b"\xff\xfe",
    },
    b"c__builtin__\nset\np1\n((lp2\nV\naV\xe9\\U0001f600\\u000a\\u005c\np3\natRp4\n.": {"", "\xe9\U0001f600\n\\"},
    b"c__builtin__\nfrozenset\np1\n((lp2\nS'a'\naS'b'\natRp3\n.": frozenset("ab"),
    b"c__builtin__\ncomplex\np1\n(F1.5\nF-2\ntRp2\n.": 1.5 - 2j,
    b"cdecimal\nDecimal\np1\n(S'123.456'\ntRp2\n.": Decimal("123.456"),
    b"\x80\x02cdecimal\nDecimal\nq\x01U\x07123.456\x85Rq\x02.": Decimal("123.456"),
    b"cdatetime\ndate\np1\n(S'\\x07\\xdb\\x01\\x14'\ntRp2\n.": date(2011, 1, 20),
    b"\x80\x02cdatetime\ndate\nq\x01U\x04\x07\xdb\x01\x14\x85Rq\x02.": date(2011, 1, 20),
    b"\x80\x02cdatetime\ndate\nq\x01U\x04\x07\x5b\x01\x14\x85Rq\x02.": date(1883, 1, 20),  # this state is UTF-8
    b"cdatetime\ntime\np1\n(S'\\x0c\\x1e-\\x01\\xe2@'\ntRp2\n.": time(12, 30, 45, 123456),
    b"cdatetime\ndatetime\np1\n(S'\\x07\\xdb\\x01\\x14\\x0c\\x1e-\\x01\\xe2@'\ntRp2\n.": datetime(
        2011, 1, 20, 12, 30, 45, 123456
    ),
    b"cdatetime\ntimedelta\np1\n(I-3\nI7\nI9\ntRp2\n.": timedelta(-3, 7, 9),
    b"\x80\x02cdatetime\ntimedelta\nq\x01J\xfd\xff\xff\xffK\x07K\t\x87Rq\x02.": timedelta(-3, 7, 9),
    b"\x80\x02cuuid\nUUID\nq\x01)\x81q\x02}q\x03U\x03intq\x04\x8a\x10xV4\x12xV4\x12xV4\x12xV4\x12sb.": SOME_UUID,
    b"ccopy_reg\n_reconstructor\np1\n(cuuid\nUUID\np2\nc__builtin__\nobject\np3\nNtRp4\n(dp5\nS'int'\np6\n"
    b"L24197857161011715162171839636988778104L\nsb.": SOME_UUID,
    b"\x80\x02c__builtin__\nset\nq\x01]q\x02((K\x02cuuid\nUUID\nq\x03)\x81q\x04}q\x05U\x03intq\x06K\tsbK\x01K\x02K\x03"
    b"\x86q\x07\x86q\x08cdecimal\nDecimal\nq\tU\x014\x85Rq\nU\x01qtq\x0b(K\x01h\x04h\x08h\nU\x01qtq\x0ce\x85Rq\r.": {
        (number, UUID(int=9), (1, (2, 3)), Decimal(4), "q") for number in (1, 2)
    },
}


# Pickles that do not.


def refused(data):
    """Check that a pickle is refused by a ValueError that says how to go on, and return what it says."""
    with warnings.catch_warnings(), pytest.raises(ValueError) as caught:
        warnings.simplefilter("error")
        safe_loads(data)
    message = str(caught.value)
    assert message.isascii() and len(message) < 300
    assert message.endswith('; pass pickle="trust" for data of your own, or pickle="raw" for the bytes')
    return message


def number(value):
    data = pickle.encode_long(value)
    return b"\x8b" + len(data).to_bytes(4, "little") + data


def text(value):
    return b"X" + len(value).to_bytes(4, "little") + value.encode()


def decimal(value):
    return b"cdecimal\nDecimal\n" + text(str(value)) + b"\x85R"


def uuid(value):
    return b"cuuid\nUUID\n)\x81}" + text("int") + number(value) + b"sb"


def set_of(*items):
    return b"\x80\x04\x8f(" + b"".join(items) + b"\x90."


def frozenset_of(*items):
    return b"(" + b"".join(items) + b"\x91"


MODULUS = sys.hash_info.modulus
