"""Lines of JSON and facts about records: what walks over encoded bytes without looking twice must see what the walk sees.

Belongs here: `lines`, `Tally` and `Shape` beside skipping, the slow JSON form and counts by hand; JSON that is nearly right. It
knows nothing of the command. Always true: the bytes looked at end at an unreadable page.
"""

import collections
import json

import typedbytes
from typedbytes import TypeCode
from typedbytes._report import _native as _report
from typedbytes.cli._json_form import encoded_lines
from typedbytes.cli._failure import Failure
from typedbytes.errors import DecodeError

import json_reference
import reference
from fuzz.choices import Choices
from fuzz.decoding import walk
from fuzz.guard import Guard
from vectors import failure

GUARD = Guard(1 << 20)
HEAD = 8  # bytes of an input that choose; the rest is the stream
PARTITIONS = 3
NAMED = ("value", "key")
SPOILS = [
    b"",
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"-",
    b"1e999",
    b"\xff",
    b"\\ud800",
    b"\n",
    b'"map"',
    b'{"ext": [1, ""]}',
]


def check_facts(data):
    """Write one stream as lines, or count it, as the first bytes choose."""
    choices, stream = Choices(data[:HEAD]), data[HEAD:]
    dialect, pairs = choices.pick(("hadoop", "hadoop", "hive")), choices.below(2) == 1
    wire = GUARD.put(stream)
    ends, fault = walk(wire, {"dialect": dialect})
    if fault is None and pairs and len(ends) % 2:
        fault = ("TruncatedError", len(wire), None)
    values = [stream[start:end] for start, end in zip([0, *ends], ends)]
    choices.pick(CHECKS)(choices, wire, values, fault, dialect=dialect, pairs=pairs)


def agreed(fault, call, *arguments, **options):
    """Return what a call gives, None where it raises what the walk found wrong."""
    try:
        result = call(*arguments, **options)
    except DecodeError as error:
        assert failure(error)[:3] == fault, (failure(error), fault)
        return None
    assert fault is None, fault
    return result


def check_lines(choices, wire, values, fault, *, dialect, pairs):
    """Lines are those of the slow form, and hold every byte; those that are spoiled are bytes too, or a Failure."""
    found = agreed(fault, _report.lines, wire, dialect=dialect, pairs=pairs)
    if found is None:
        return
    expected = [json_reference.line(value, dialect) for value in values]
    if pairs:
        expected = [f"[{key}, {value}]" for key, value in zip(expected[::2], expected[1::2])]
    assert found.decode("utf-8").split("\n") == [*expected, ""], found
    assert b"".join(records(found, pairs, dialect)) == b"".join(values), found
    place = choices.below(len(found) + 1)
    spoiled = found[:place] + choices.pick(SPOILS) + found[place + choices.below(3) :]
    try:
        again = b"".join(records(spoiled, pairs, dialect))
    except Failure:
        return
    typedbytes.count(again, dialect=dialect)


def records(text, pairs, dialect):
    """Return the encoded records of lines."""
    return list(encoded_lines(enumerate(text.splitlines(keepends=True)), pairs, dialect))


def check_plain(choices, wire, values, fault, *, dialect, pairs):
    """Plain lines are JSON for everybody, one for each record."""
    found = agreed(fault, _report.lines, wire, dialect=dialect, pairs=pairs, plain=True)
    if found is not None:
        lines = found.decode("utf-8").split("\n")
        assert len(lines) == len(values) // (1 + pairs) + 1 and lines.pop() == ""
        for line in lines:
            json.loads(line, parse_constant=refuse)


def refuse(name):
    """Stand in for NaN and infinities, which equal nothing."""
    raise AssertionError(f"{name} is not JSON")


def check_tally(choices, wire, values, fault, *, dialect, pairs):
    """Types, bytes, frequent keys and partitions are those that one counts by hand; what comes before a fault is counted."""
    top = {}
    tally = _report.Tally(dialect=dialect, pairs=pairs, npartitions=PARTITIONS, top=top)
    agreed(fault, tally.write, wire)
    step = 1 + pairs
    assert tally.nrecords == len(values) // step
    for part in range(step):
        facts, of_part = tally.facts(part), values[part::step]
        counts = collections.Counter(value[0] for value in of_part)
        assert {code: each["count"] for code, each in facts.items()} == counts
        assert sum(each["bytes"] for each in facts.values()) == sum(map(len, of_part))
    assert top == collections.Counter(values[::step])
    places = [reference.partition(value, PARTITIONS) for value in values[::step]]
    assert tally.partitions == [places.count(number) for number in range(PARTITIONS)]


def check_shape(choices, wire, values, fault, *, dialect, pairs):
    """Every value has one path, except STRINGs that name one."""
    shape = _report.Shape(dialect=dialect, pairs=pairs)
    agreed(fault, shape.write, wire)
    found, expected = collections.Counter(), collections.Counter()
    for place, counts in shape.places():
        assert place.startswith(NAMED), place
        found.update(counts)
    for value in values:
        count_codes(value, 0, expected, dialect)
    assert found.pop(TypeCode.STRING, 0) <= expected.pop(TypeCode.STRING, 0)
    assert found == expected


def count_codes(value, offset, found, dialect):
    """Count the type codes of a value and of what it holds; return the offset after it."""
    code = value[offset]
    found[code] += 1
    if code == TypeCode.LIST:
        offset += 1
        while value[offset] != TypeCode.MARKER:
            offset = count_codes(value, offset, found, dialect)
        return offset + 1
    if code not in (TypeCode.VECTOR, TypeCode.MAP):
        return reference.skip(value, offset, dialect=dialect)
    nitems = int.from_bytes(value[offset + 1 : offset + 5], "big") * (1 + (code == TypeCode.MAP))
    offset += 5
    for _ in range(nitems):
        offset = count_codes(value, offset, found, dialect)
    return offset


CHECKS = [check_lines, check_lines, check_plain, check_tally, check_shape]
