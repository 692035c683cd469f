"""Lines of JSON and statistics of records: unchecked reading must find what the checked walk finds.

Here: `lines`, `RecordStatistics` and `Schema` compared with skipping, the slow JSON form and counts by hand; JSON that
is nearly right. Not here: the command. Invariant: the bytes that are read end at an unreadable page.
"""

import collections
import io
import json

import typedbytes
from fuzz.choices import Choices
from fuzz.decoding import walk
from fuzz.guard import Guard
from support import json_reference, reference
from support.vectors import failure
from typedbytes import PairReader, Reader, TypeCode
from typedbytes._report import _native as _report
from typedbytes.cli._failure import Failure
from typedbytes.cli._forms.json_form import encoded_lines
from typedbytes.errors import DecodeError

GUARD = Guard(1 << 20)
HEAD = 8  # bytes of an input that choose options; the rest is the stream
PARTITIONS = 3
NAMED = ("value", "key")
SPOILS = [
    b"", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"null", b"-", b"1e999", b"\xff", b"\\ud800", b"\n", b'"map"',
    b'{"ext": [1, ""]}',
]  # fmt: skip


def check_report(data):
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
    """Return a call's result; None when it raises the error that the walk found."""
    try:
        result = call(*arguments, **options)
    except DecodeError as error:
        assert failure(error)[:3] == fault, (failure(error), fault)
        return None
    assert fault is None, fault
    return result


def check_lines(choices, wire, values, fault, *, dialect, pairs):
    """Lines are those of the slow form, and hold every byte; damaged ones give bytes too, or a Failure."""
    found = agreed(fault, _report.lines, wire, dialect=dialect, pairs=pairs)
    if found is None:
        return
    expected = [json_reference.line(value, dialect) for value in values]
    if pairs:
        expected = [f"[{key}, {value}]" for key, value in zip(expected[::2], expected[1::2])]
    assert found.decode("utf-8").split("\n") == [*expected, ""], found
    assert b"".join(records(found, pairs, dialect)) == b"".join(values), found
    offset = choices.below(len(found) + 1)
    spoiled = found[:offset] + choices.pick(SPOILS) + found[offset + choices.below(3) :]
    try:
        again = b"".join(records(spoiled, pairs, dialect))
    except Failure:
        return
    typedbytes.count(again, dialect=dialect)


def records(text, pairs, dialect):
    """Return the encoded records of lines."""
    return list(encoded_lines(enumerate(text.splitlines(keepends=True)), pairs, dialect))


def check_plain(choices, wire, values, fault, *, dialect, pairs):
    """Plain lines are standard JSON, one for each record."""
    found = agreed(fault, _report.lines, wire, dialect=dialect, pairs=pairs, plain=True)
    if found is not None:
        lines = found.decode("utf-8").split("\n")
        assert len(lines) == len(values) // (1 + pairs) + 1 and lines.pop() == ""
        for line in lines:
            json.loads(line, parse_constant=refuse)


def refuse(name):
    """Reject NaN and infinities, which standard JSON does not have."""
    raise AssertionError(f"{name} is not JSON")


def counted(choices, walker, wire, fault, *, dialect, pairs):
    """Have a walker count the records, given whole or in pieces; return whether it counted whole records only."""
    if choices.below(2):
        agreed(fault, walker.write, wire)
        return True
    reader = (PairReader if pairs else Reader)(io.BytesIO(wire), buffer_size=64, dialect=dialect)
    agreed(fault, walker.read, reader)
    return fault is None


def check_statistics(choices, wire, values, fault, *, dialect, pairs):
    """Types, bytes, frequent keys and partitions are those counted by hand; records before a fault are counted."""
    top = {}
    statistics = _report.RecordStatistics(dialect=dialect, pairs=pairs, npartitions=PARTITIONS, top=top)
    counted(choices, statistics, wire, fault, dialect=dialect, pairs=pairs)
    step = 1 + pairs
    assert statistics.nrecords == len(values) // step
    for part in range(step):
        by_type, of_part = statistics.by_type(part), values[part::step]
        counts = collections.Counter(value[0] for value in of_part)
        assert {code: each["count"] for code, each in by_type.items()} == counts
        assert sum(each["bytes"] for each in by_type.values()) == sum(map(len, of_part))
    assert top == collections.Counter(values[::step])
    partitions = [reference.partition(value, PARTITIONS) for value in values[::step]]
    assert statistics.partitions == [partitions.count(number) for number in range(PARTITIONS)]


def check_schema(choices, wire, values, fault, *, dialect, pairs):
    """Every value has one path, except STRINGs that name one."""
    schema = _report.Schema(dialect=dialect, pairs=pairs)
    if not counted(choices, schema, wire, fault, dialect=dialect, pairs=pairs):
        return
    found, expected = collections.Counter(), collections.Counter()
    for path, counts in schema.paths():
        assert path.startswith(NAMED), path
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


CHECKS = [check_lines, check_lines, check_plain, check_statistics, check_schema]
