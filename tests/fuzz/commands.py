"""What commands do with records in compiled code: fields, sort keys, text both ways, sums.

Here: each compared with Python on the decoded values, or with the csv module. Not here: the command. Invariant: the
bytes that are read end at an unreadable page.
"""

import csv
import io
from functools import partial

import typedbytes
from fuzz.choices import Choices
from fuzz.decoding import walk
from fuzz.guard import Guard
from support.vectors import failure
from typedbytes import Decoder, Encoder, _report
from typedbytes.cli._query.value_order import key_of
from typedbytes.errors import DecodeError, EncodeError

GUARD = Guard(1 << 20)
HEAD = 12  # bytes of an input that choose options; the rest is the stream
STEPS = (0, 1, -1, "a", "key", "name", 5)
SEPARATORS = (",", "\t", ";", "\u00e9", "::")


def check_commands(data):
    """Do one of these with one stream, as the first bytes choose."""
    choices, stream = Choices(data[:HEAD]), data[HEAD:]
    choices.pick(CHECKS)(choices, stream)


def whole(choices, stream):
    """Return the stream at the page's end, its values, the values of a record and the fault of a stream, or None."""
    dialect, nparts = choices.pick(("hadoop", "hadoop", "hive")), 1 + choices.below(2)
    wire = GUARD.put(stream)
    ends, fault = walk(wire, {"dialect": dialect})
    values = [stream[start:end] for start, end in zip([0, *ends], ends)]
    return wire, values, nparts, dialect, fault is not None or len(values) % nparts > 0


def refused(call, *arguments, **options):
    """Return what a call gives for a damaged stream: nothing."""
    try:
        call(*arguments, **options)
    except DecodeError as error:
        failure(error)
    except (TypeError, ArithmeticError):
        pass


def check_fields(choices, stream):
    """What is cut out is what Python finds in the decoded values, byte for byte where these are equal."""
    wire, values, nparts, dialect, is_damaged = whole(choices, stream)
    steps = [choices.pick(STEPS) for _ in range(choices.below(3))]
    fields = _report.Fields([(choices.below(2) == 1, steps)], null=b"\x02\x07", dialect=dialect)
    if is_damaged:
        refused(fields.cut, wire, nparts)
        return
    found, fault = fields.cut(wire, nparts)
    assert fault is None
    assert typedbytes.count(found, dialect=dialect) == len(values) // nparts
    if not steps:
        parts = values[::nparts] if nparts == 1 else None
        assert parts is None or found == b"".join(parts)


def check_sort_keys(choices, stream):
    """Sort keys are those of sortkey.encode() for the decoded values, and the records come back."""
    wire, values, nparts, dialect, is_damaged = whole(choices, stream)
    other_key = partial(key_of, Decoder(dialect=dialect, unicode_errors="surrogateescape"))
    fields = _report.Fields([(False, [])], dialect=dialect)
    if is_damaged:
        refused(fields.with_sort_keys, wire, nparts, other_key)
        return
    pairs, fault = fields.with_sort_keys(wire, nparts, other_key)
    records = [b"".join(values[i : i + nparts]) for i in range(0, len(values), nparts)]
    expected = b""
    for number, record in enumerate(records):
        try:
            key = other_key(values[number * nparts + nparts - 1])
        except (DecodeError, EncodeError):
            assert fault is not None and fault[1] == number, (fault, number)
            records = records[:number]
            break
        expected += Encoder().encode_pairs([(key, record)])
    else:
        assert fault is None, fault
    assert pairs == expected
    found, nbytes = _report.WithoutSortKeys(), 1 + choices.below(20)
    pieces = (pairs[start : start + nbytes] for start in range(0, len(pairs), nbytes))
    assert b"".join(map(found.take, pieces)) == b"".join(records)


def check_lines(choices, stream):
    """Rows of texts are those of the csv module; whatever is written has a line for each record."""
    wire, values, nparts, dialect, is_damaged = whole(choices, stream)
    separator = choices.pick(SEPARATORS[:4])
    how = {"pairs": nparts == 2, "rows": choices.below(2) == 1, "dialect": dialect}
    how["header"] = how["rows"] and not how["pairs"] and choices.below(2) == 1
    lines, ends = _report.TextLines(separator.encode(), **how), []
    if is_damaged:
        refused(lines.lines, wire)
        return
    text, fault = lines.lines(wire, ends)
    assert (ends or [0])[-1] == len(text)
    assert text == b"".join(_report.TextLines(separator.encode(), **how).lines(wire)[:1])
    if fault is None and not how["header"]:
        assert len(ends) == len(values) // nparts
    if how["rows"] and b"\0" not in text:
        rows = list(csv.reader(io.StringIO(text.decode(errors="surrogateescape"), newline=""), delimiter=separator))
        assert len(rows) == len(ends)


def check_text(choices, stream):
    """Records of text are those that the csv module reads, in pieces as at once."""
    rows, separator = choices.below(2) == 1, choices.pick(SEPARATORS)
    separator = separator if not rows or len(separator) == 1 else ","
    how = {"pairs": choices.below(3) == 0, "rows": rows}
    how["header"] = rows and not how["pairs"] and choices.below(3) == 0
    nbytes, limit = 1 + choices.below(40), choices.pick((None, None, 1 + choices.below(30)))
    whole_text = _report.TextRecords(separator.encode(), max_bytes=limit, **how)
    found = whole_text.take(GUARD.put(stream), True)
    pieces, parts = _report.TextRecords(separator.encode(), max_bytes=limit, **how), []
    for offset in range(0, len(stream), nbytes):
        parts.append(pieces.take(stream[offset : offset + nbytes], False))
    parts.append(pieces.take(b"", True))
    assert b"".join(parts) == found and pieces.fault == whole_text.fault, (pieces.fault, whole_text.fault)
    if limit is None and rows and not how["header"] and not how["pairs"] and b"\0" not in stream:
        check_rows(stream, separator, found, whole_text.fault)


def check_rows(stream, separator, found, fault):
    """Rows are those of the csv module, up to its error; of an empty line one, while all rows have one field."""
    expected, is_wrong, ncolumns = [], False, 0
    try:
        text = stream.decode().removeprefix("\ufeff")
        lines = [line + "\n" for line in text.split("\n")]
        lines[-1] = lines[-1][:-1]
        for row in csv.reader(filter(None, lines), delimiter=separator, strict=True):
            row = row or [""] * (ncolumns == 1)
            expected += [tuple(row)] if row else []
            ncolumns = max(ncolumns, len(row))
    except csv.Error:
        is_wrong = True
    except UnicodeDecodeError:
        return
    assert Decoder().decode_all(found) == expected
    assert is_wrong == (fault is not None), fault


def check_sums(choices, stream):
    """Counts, sums and extremes are Python's."""
    wire, values, nparts, dialect, is_damaged = whole(choices, stream)
    sums = _report.Sums(Numbers, dialect=dialect)
    if is_damaged:
        refused(sums.add, wire, nparts)
        return
    groups = {}
    for i in range(0, len(values), nparts):
        numbers = groups.setdefault(values[i] if nparts == 2 else None, [])
        value = decoded_number(values[i + nparts - 1], dialect)
        if value is not None:
            numbers.append(value)
    sums.add(wire, nparts)
    assert len(sums) == len(groups)
    for number, (key, numbers) in enumerate(groups.items()):
        assert sums.key(number) == key
        found = sums.number(number)
        if type(found) is tuple and numbers and all(value == value for value in numbers):
            expected = (len(numbers), sum(numbers[1:], numbers[0]), min(numbers), max(numbers))
            assert repr(found[0]) == repr(expected[0]) and repr(found[2:]) == repr(expected[2:]), (found, expected)
    assert sums.lines(0, len(sums), lambda number: "").count(b"\n") == len(sums)


def decoded_number(encoded, dialect):
    """Return a number that is added up in compiled code, None for another value."""
    is_short = encoded[0] == 11 and dialect == "hive"
    return Decoder(dialect=dialect).decode(encoded) if encoded[0] in (1, 3, 4, 5, 6) or is_short else None


class Numbers:
    """What goes on with other values: nothing."""

    def __init__(self, count, total, minimum, maximum):
        self.found = count, total, minimum, maximum

    def add(self, encoded):
        """Pass over a value."""


CHECKS = [check_fields, check_sort_keys, check_lines, check_text, check_sums]


def shape(maker):
    """Return bytes that choose, then records or text."""
    head = maker.rng.randbytes(HEAD)
    if CHECKS[head[0] % len(CHECKS)] is not check_text:
        return head + maker.wire()
    text = "".join(maker.rng.choice(PIECES) for _ in range(maker.rng.randrange(30)))
    return head + text.encode() + (b"\xff" if maker.rng.random() < 0.05 else b"")


PIECES = ('"', '""', ",", ",", "\n", "\n", "\r\n", "\r", "a", "bc", "\u00e9", "\ufeff", "\t", ";", "::", " ", "1.5", "")
