"""Pickles that are made to hurt: nested values, shared values, and values in every position.

Here: pickles built of those three, and what must hold of each under the safe policy. Not here: the wire. Invariant: a
pickle is read in a thread with a small stack, so that what recurses on it dies at once.
"""

import sys
import threading
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from uuid import UUID

from typedbytes._core import safe_dumps, safe_loads

STACK_BYTES = 128 * 1024
MAX_DEPTH = 100
MODULUS = sys.hash_info.modulus

#: What is pickled under the safe policy, and what may be inside that.
PICKLED = frozenset(
    {type(None), int, Decimal, date, time, datetime, timedelta, timezone, set, frozenset, complex, UUID}
)
ELEMENTS = PICKLED - {set} | {bool, float, str, bytes, tuple}


def _text(text):
    return b"X" + len(text).to_bytes(4, "little") + text


def _number(value):
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8b" + len(data).to_bytes(4, "little") + data


FROZENSET = b"c__builtin__\nfrozenset\n"
BLANK = b"cuuid\nUUID\n)\x81"

#: One level: what is before and after the value inside. Those of SHARING double it.
NESTING = {
    "TUPLE1": (b"", b"\x85"),
    "TUPLE2": (b"N", b"\x86"),
    "TUPLE2 in front": (b"", b"N\x86"),
    "TUPLE3": (b"NN", b"\x87"),
    "TUPLE": (b"(", b"t"),
    "FROZENSET": (b"(", b"\x91"),
    "frozenset": (FROZENSET + b"]", b"a\x85R"),
    "frozenset of many": (FROZENSET + b"](", b"e\x85R"),
    "frozenset of a LIST": (FROZENSET + b"(", b"l\x85R"),
    "frozenset of a tuple": (FROZENSET + b"]", b"\x85a\x85R"),
    "set": (b"c__builtin__\nset\n]", b"a\x85R"),
    "list in a tuple": (FROZENSET + b"]", b"\x86a"),
    "dict in a tuple": (BLANK + b"}" + _text(b"x"), b"s\x86"),
    "DICT in a tuple": (BLANK + b"(" + _text(b"x"), b"d\x86"),
    "SETITEMS": (BLANK + b"}(" + _text(b"x"), b"u\x86"),
}
SHARING = {
    "two": (b"", b"q\x00h\x00\x86"),
    "two of a tuple": (b"", b"\x85\x94g0\nh\x00\x86q\x00"),
    "three": (b"", b"r\x01\x00\x00\x00j\x01\x00\x00\x00h\x01\x87"),
    "in a frozenset": (b"", b"q\x00(h\x00h\x00t\x85(h\x00\x91\x86"),
}

#: Positions of a value: the bytes before and after it, and what kind of position it is.
POSITIONS = {
    "alone": (b"", b"."),
    "below another": (b"", b"N."),
    "in a set": (b"\x8f(", b"\x90."),
    "twice in a set": (b"\x8f(", b"q\x07h\x07\x90."),
    "in a frozenset": (b"(", b"\x91."),
    "in a frozenset by name": (FROZENSET + b"]", b"a\x85R."),
    "for a module": (b"", b"\x8c\x01a\x93."),
    "for a name": (b"\x8c\x04uuid", b"\x93."),
    "called": (b"", b")R."),
    "made again": (b"", b")\x81."),
    "changed": (b"", b"}" + _text(b"int") + b"K\x01sb."),
    "for arguments": (FROZENSET, b"R."),
    "for arguments of a UUID": (b"cuuid\nUUID\n", b"\x81."),
    "for a text": (b"c_codecs\nencode\n", _text(b"latin1") + b"\x86R."),
    "for an encoding": (b"c_codecs\nencode\n" + _text(b"a"), b"\x86R."),
    "for real": (b"c__builtin__\ncomplex\n", b"F1\n\x86R."),
    "for imaginary": (b"c__builtin__\ncomplex\nF1\n", b"\x86R."),
    "for digits": (b"cdecimal\nDecimal\n", b"\x85R."),
    "for a date": (b"cdatetime\ndate\n", b"\x85R."),
    "for a time": (b"cdatetime\ntime\n", b"\x85R."),
    "for the zone of a time": (b"cdatetime\ntime\nC\x06\x01\x01\x01\0\0\0", b"\x86R."),
    "for a datetime": (b"cdatetime\ndatetime\n", b"\x85R."),
    "for the zone of a datetime": (b"cdatetime\ndatetime\nC\x0a\x07\xdb\x01\x14\x0c\x1e\x2d\x01\xe2\x40", b"\x86R."),
    "for days": (b"cdatetime\ntimedelta\n", b"K\x01K\x01\x87R."),
    "for microseconds": (b"cdatetime\ntimedelta\nK\x01K\x01", b"\x87R."),
    "for an offset": (b"cdatetime\ntimezone\n", b"\x85R."),
    "for the name of a zone": (b"cdatetime\ntimezone\ncdatetime\ntimedelta\nK\x01K\x01K\x01\x87R", b"\x86R."),
    "for a class": (b"ccopy_reg\n_reconstructor\n", b"c__builtin__\nobject\nN\x87R."),
    "for a base": (b"ccopy_reg\n_reconstructor\ncuuid\nUUID\n", b"N\x87R."),
    "for a state": (b"ccopy_reg\n_reconstructor\ncuuid\nUUID\nc__builtin__\nobject\n", b"\x87R."),
    "for the state of a UUID": (BLANK, b"b."),
    "for the int of a UUID": (BLANK + b"}" + _text(b"int"), b"sb."),
    "for is_safe": (BLANK + b"}(" + _text(b"int") + b"K\x01" + _text(b"is_safe"), b"ub."),
    "beside the int of a UUID": (BLANK + b"}(" + _text(b"int") + b"K\x01" + _text(b"x"), b"ub."),
    "for the key of a state": (BLANK + b"}", b"K\x01sb."),
    "dropped": (b"K\x01", b"0."),
    "doubled": (b"", b"2\x86."),
    "persistent": (b"", b"Q."),
    "for an extension": (b"", b"\x82\x01."),
    "for named arguments": (b"cuuid\nUUID\n)", b"\x92."),
    "for an instance": (b"(", b"icollections\nOrderedDict\n."),
    "for an object": (b"(", b"o."),
}

LEAVES = [
    b"N", b"\x88", b"K\x01", b"J\xff\xff\xff\xff", b"\x8a\x00", b"I01\n", b"I7\n", b"L12L\n", b"F1.5\n", b"F-2\n",
    b"G" + bytes(8), b")", b"S'a'\n", b"U\x01\xff", b"\x8c\x01a", b"C\x04\x07\xdb\x01\x14", b"V\\u0031\n", BLANK,
    FROZENSET, FROZENSET + b"]", b"(\x91", BLANK + b"}", b"h\x00", b"g0\n", b"\x94", b"q\x00", b"p4294967296\n",
    b"r\xff\xff\xff\xff", b"\x95\x00\x00\x00\x00\x00\x00\x00\x00", b"\x80\x04",
    b"cdatetime\ntimedelta\nK\x01K\x01K\x01\x87R",
    b"cdatetime\ntimezone\ncdatetime\ntimedelta\nK\x01K\x01K\x01\x87R\x85R",
    b"cdecimal\nDecimal\n" + _text(b"1E+999999") + b"\x85R", b"cdecimal\nDecimal\n" + _text(b"sNaN") + b"\x85R",
    b"cdecimal\nDecimal\n" + _text(b"9" * 5000) + b"\x85R", _text(b"latin1"), _text(b"x" * 300),
    BLANK + b"}" + _text(b"int") + b"K\x01sb", _number(1 << 40_000), _number(7), _number(7 + MODULUS), _number(-1),
    _number(-2),
]  # fmt: skip


def nested(levels, leaf, depth):
    """Return the opcodes of a leaf at this depth; the levels around it are taken in turn from a list of pairs."""
    turns, rest = divmod(depth, len(levels))
    starts, ends = [start for start, _ in levels], [end for _, end in levels]
    outer, inner = b"".join(starts), b"".join(starts[:rest])
    return outer * turns + inner + leaf + b"".join(ends[:rest][::-1]) + b"".join(ends[::-1]) * turns


def shape(maker):
    """Return a pickle: leaves inside levels inside a position, most of them valid."""
    rng = maker.rng
    levels = rng.choices([*NESTING.values(), *SHARING.values()], k=rng.choice((1, 1, 2, 3)))
    depth = rng.choice((0, 1, 2, 5, 9, 20, 60, 98, 99, 100, 101, 102, 150, 3000 if rng.random() < 0.2 else 200))
    leaves = b"".join(rng.choices(LEAVES, k=rng.choice((1, 1, 1, 2, 3))))
    start, end = rng.choice(list(POSITIONS.values()))
    data = start + nested(levels, leaves, depth) + end
    if rng.random() < 0.1 and len(data) < 20_000:
        data = b"(" + data[:-1] * rng.choice((2, 30)) + rng.choice((b"t.", b"\x91.", b"l."))
    return maker.spoiled(data) if rng.random() < 0.3 else data


def in_small_stack(function, *arguments):
    """Call a function in a thread with a small stack; return what it returns, or raise what it raises."""
    outcome = []

    def run():
        try:
            outcome.append((function(*arguments), None))
        except BaseException as error:
            outcome.append((None, error))

    before = threading.stack_size(STACK_BYTES)
    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    value, error = outcome[0]
    if error is not None:
        raise error
    return value


def check_pickle(data):
    """Read a pickle under the safe policy: a ValueError, or a value to show, hash, compare, write and read."""
    in_small_stack(_check, data)


def _check(data):
    try:
        value = safe_loads(data)
    except ValueError as error:
        assert str(error).isascii() and len(str(error)) < 2000
        return
    check_plain(value)
    try:
        repr(value)
    except ValueError as error:
        assert "int" in str(error)  # of too many digits
    if type(value) is Decimal and value.is_snan():
        return  # it compares with nothing
    assert value == value or "NaN" in repr(value)
    if type(value) is not set:
        _hash(value)
    if type(value) in PICKLED:
        again = safe_loads(safe_dumps(value))
        assert type(again) is type(value) and (again == value or "NaN" in repr(value))


def _hash(value):
    try:
        hash(value)
    except TypeError as error:
        assert "signaling NaN" in str(error)


def check_plain(value):
    """Everything in a value is of an exact type from the list, and not deeper than it may be."""
    kinds, level, depth = PICKLED | ELEMENTS, [value], 0
    while level:
        assert {type(item) for item in level} <= kinds
        level = list(
            {id(part): part for item in level if type(item) in (tuple, set, frozenset) for part in item}.values()
        )
        depth += 1
    assert depth <= MAX_DEPTH
