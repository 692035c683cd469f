"""Records that are chosen or given types by compiled code: uniq, slice, grep and from-text --infer.

Here: each compared with Python on the same records. Not here: the command. Invariant: the bytes that are read end at an
unreadable page.
"""

import re
from collections import Counter

from fuzz.choices import Choices
from fuzz.commands import refused, whole
from support.column_types import ColumnTypes
from support.slow_grep import matches
from typedbytes import Decoder, Encoder, _report
from typedbytes.cli.commands import grep

HEAD = 12  # bytes of an input that choose options; the rest is the stream
PATTERNS = (
    "a", "word", "^a", "b.*a", "(a|b)c", "[0-9]", "1", "-", "true", "e", "(?i)WORD", "a{2}", "\u00e9", "(?:ab)+c", "",
)  # fmt: skip
CELLS = (
    "", "0", "-0", "7", "007", "-12", "2147483648", "9223372036854775808", "1.5", "1e5", "1e999", "0.10", "0.0", "x",
    "1.",
)  # fmt: skip


def check_chosen(data):
    """Do one of these with one stream, as the first bytes choose."""
    choices, stream = Choices(data[:HEAD]), data[HEAD:]
    choices.pick(CHECKS)(choices, stream)


def records_of(choices, stream, chosen_of):
    """Return what a ChosenRecords takes, the records and their dialect; None for a damaged stream, which it refuses."""
    wire, values, nparts, dialect, is_damaged = whole(choices, stream)
    chosen = chosen_of(nparts, dialect)
    if is_damaged:
        refused(chosen.take, wire)
        return None
    return chosen.take(wire), [values[i : i + nparts] for i in range(0, len(values), nparts)], dialect


def check_steps(choices, stream):
    """Every nth record is that of a slice."""
    wire, values, nparts, dialect, is_damaged = whole(choices, stream)
    first, step = choices.below(5), 1 + choices.below(4)
    chosen = _report.ChosenRecords(nparts, dialect=dialect)
    if is_damaged:
        refused(chosen.take, wire, first=first, step=step)
        return
    records = [b"".join(values[i : i + nparts]) for i in range(0, len(values), nparts)]
    assert chosen.take(wire, first=first, step=step) == b"".join(records[first::step])


def check_distinct(choices, stream):
    """Records that repeat the one before, or any before, are left out, and counted."""
    by_key, everything = choices.below(2) == 1, choices.below(2) == 1
    found = records_of(
        choices,
        stream,
        lambda nparts, dialect: _report.DistinctRecords(nparts, by_key=by_key, all=everything, dialect=dialect),
    )
    if found is None:
        return
    seen, last, expected = set(), None, b""
    for record in found[1]:
        key = record[0] if by_key else b"".join(record)
        if key != last and not (everything and key in seen):
            expected += b"".join(record)
            seen.add(key)
            last = key
    assert found[0] == expected
    records = [b"".join(record) for record in found[1]]
    counts = _report.RecordCounts(len(found[1][0]) if records else 1, dialect=found[2])
    counts.add(b"".join(records), 1)
    counts.add(b"".join(records[:3]), -1)
    assert dict(counts.surplus()) == Counter(records[3:])


def check_matching(choices, stream):
    """The records that match are those in which a text of a decoded value does."""
    words = {"pattern": choices.pick(PATTERNS), "fixed": choices.below(3) == 0, "part": "any", "dialect": "hadoop"}
    words.update(ignore_case=choices.below(2) == 1, invert=choices.below(2) == 1)
    settings = grep.Settings(words)
    how = grep._search_of(settings)
    part = choices.below(3) - 1

    def matching(nparts, dialect):
        return _report.MatchingRecords(nparts, **{**how, "part": part if nparts == 2 else -1, "dialect": dialect})

    found = records_of(choices, stream, matching)
    if found is None:
        return
    is_plain = settings.fixed or re.escape(settings.pattern) == settings.pattern
    text = re.escape(settings.pattern) if is_plain else settings.pattern
    pattern = re.compile(text, re.IGNORECASE if settings.ignore_case else 0)
    expected = b""
    for record in found[1]:
        part_of_it = part if len(record) == 2 else -1
        if matches(pattern, b"".join(record), len(record), part_of_it, found[2]) != settings.invert:
            expected += b"".join(record)
    assert found[0] == expected


def check_types(choices, stream):
    """Columns have the types that the slow finder gives them."""
    texts = Choices(stream)
    kind, nrecords = choices.below(4), 1 + choices.below(5)
    names = [f"n{number}" for number in range(1 + choices.below(4))]
    rows = [tuple(texts.pick(CELLS) for _ in names) for _ in range(nrecords)]
    records = [row[0] for row in rows] if kind == 0 else rows
    if kind == 1:
        records = [dict(zip(names, row)) if texts.below(2) else dict(zip(names[::-1], row)) for row in rows]
    pairs, dialect = kind == 2, choices.pick(("hadoop", "hive"))
    if pairs:
        records = [(row[0], row[-1]) for row in rows]
    encoder = Encoder(dialect=dialect)
    encode = encoder.encode_pairs if pairs else encoder.encode_all
    slow, types, encoded = ColumnTypes(), _report.ColumnTypes(pairs=pairs, dialect=dialect), encode(records)
    for record in records:
        slow.add(record)
    first = types.add(encode(records[:1]))
    nchanges = types.nchanges
    found = first + types.add(encode(records[1:]))
    expected = encode([slow.convert(record) for record in records])
    assert types.convert(encoded) == (expected, -1) and (types.nchanges > nchanges or found == expected)
    assert Decoder(dialect=dialect).decode_all(types.convert(encode(records[:1]))[0]) is not None


CHECKS = [check_steps, check_distinct, check_matching, check_types]


def shape(maker):
    """Return bytes that choose, then records."""
    return maker.rng.randbytes(HEAD) + maker.wire()
