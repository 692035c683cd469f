"""Columns beside objects: what both make of the same bytes must be the same, whatever the policy and the source.

Here: reading columns by choices, and the exact decoder that each reading is held against. Not here: how columns are
made. Invariant: a batch holds the next records; what ends the reading is the decoder's own error, or a mismatch or a
limit of columns in a record that the decoder can read.
"""

import io
import re

import typedbytes
from fuzz.choices import Choices
from fuzz.guard import Guard
from fuzz.streams import SOURCES, said, taken
from support.column_values import EXACT, as_struct, rows_of
from support.vectors import exact_repr
from typedbytes import columns
from typedbytes.errors import LimitError

GUARD = Guard(1 << 20)
columns._threads._RUN_NBYTES = 1  # threads take turns batch by batch: what is read here is small
HEAD = 10  # bytes of an input that choose; the rest is the stream


NAMES = ("a", "b", "c", "a long name of a field")
SCALARS = (
    lambda rng: rng.choice((0, 1, -1, 2**31 - 1)),
    lambda rng: rng.choice((2**31, 2**53, 2**53 + 1, -(2**63))),
    lambda rng: rng.choice((0.0, 1.5, 2.0**60)),
    lambda rng: rng.choice(("", "x", "\xe9")),
    lambda rng: rng.choice((b"", b"x")),
    lambda rng: rng.random() < 0.5,
    lambda rng: None,
)


def shape(maker):
    """Return bytes that choose, and then a stream: half of them of records that are nearly alike, as a table's."""
    rng = maker.rng
    head = rng.randbytes(HEAD)
    if rng.random() < 0.5:
        return head + maker.wire()
    kinds = [kind_of_value(rng, 0) for _ in range(rng.choice((1, 1, 2)))]
    values = [like_value(rng, kinds[i % len(kinds)]) for i in range(rng.choice((1, 2, 3, 5, 12)) * len(kinds))]
    data = typedbytes.Encoder().encode_all(values)
    return head + (maker.spoiled(data) if rng.random() < 0.2 else data)


def kind_of_value(rng, depth):
    """Return what makes the values of a column: a maker of scalars, or kinds by name, of items, or of one item."""
    form = rng.randrange(6) if depth < 3 else 0
    if form < 3:
        return rng.choice(SCALARS)
    if form == 3:
        return {name: kind_of_value(rng, depth + 1) for name in NAMES[: rng.randrange(1, 5)]}
    if form == 4:
        return tuple(kind_of_value(rng, depth + 1) for _ in range(rng.randrange(1, 4)))
    return [kind_of_value(rng, depth + 1)]


def like_value(rng, kind):
    """Return a value of a kind, now and then another, with some of a dict's fields."""
    if rng.random() < 0.08:
        return rng.choice(SCALARS)(rng)
    if isinstance(kind, dict):
        return {name: like_value(rng, each) for name, each in kind.items() if rng.random() < 0.6}
    if isinstance(kind, tuple):
        return tuple(like_value(rng, each) for each in kind)
    if isinstance(kind, list):
        return [like_value(rng, kind[0]) for _ in range(rng.randrange(4))]
    return kind(rng)


def check_columns(data):
    """Read a stream as columns, in a way that the first bytes choose, and write what was read."""
    choices, stream = Choices(data[:HEAD]), data[HEAD:]
    wire = GUARD.put(stream)
    options = {
        "dialect": ("hadoop", "hadoop", "hive")[choices.below(3)],
        "max_depth": (256, 3, 256, 1)[choices.below(4)],
    }
    pairs = choices.below(2) == 1
    manner = {
        "pairs": pairs,
        "on_mismatch": choices.pick(("error", "widen", "split")),
        "batch_rows": choices.pick((1, 2, 3, 65536)) if len(stream) < 5000 else 1000,
    }
    source = choices.pick(SOURCES)(wire, choices) if choices.below(2) else wire
    threads = choices.pick((1, 1, 1, 2))
    check_reading(wire, source, options, threads=threads, **manner)


def check_reading(wire, source, options, **manner):
    """Read a source as columns, and hold what comes against the decoder."""
    kind = typedbytes.PairReader if manner["pairs"] else typedbytes.Reader
    widens = manner["on_mismatch"] == "widen"
    expected, batches = [], []
    trouble = taken(expected, kind(wire, **EXACT, **options))
    with columns.read(source, **manner, **options) as reader:
        end = taken(batches, reader)
        if end is not None:
            assert said(taken([], reader)) == said(end), "a failed reader went on"
    rows = []
    for batch in batches:
        check_batch(batch, manner, options)
        rows += rows_of(batch, options["dialect"])
    if not manner["pairs"]:
        rows = [value for (value,) in rows]
    if len(rows) > len(expected):
        # What is kept as encoded bytes is only walked, and the payload of a WRITABLE is not looked at.
        assert "Unreadable" in formatted(rows[len(expected)], True), (rows, trouble)
        return
    dialect = options["dialect"]
    assert formatted(as_struct(rows, dialect), widens) == formatted(
        as_struct(expected[: len(rows)], dialect), widens
    ), (rows, expected)
    if isinstance(end, columns.MismatchError):
        assert not widens, end
        check_end(end, wire, rows, expected, trouble)
    elif isinstance(end, LimitError) and not isinstance(trouble, LimitError):
        assert "column" in end.message and end.record == len(rows), end
    else:
        assert said(end) == said(trouble), (said(end), said(trouble))
        assert len(rows) == len(expected)


def formatted(value, widens):
    """Format a value; widened columns have lost the widths of numbers' codes, and integers may be DOUBLEs."""
    text = exact_repr(value)
    if not widens:
        return text
    text = re.sub(r"\b(?:Long|Float)\(([^()]*(?:\([^()]*\))?)\)", r"\1", text)
    return re.sub(r"(?<=\d)\.0\b", "", text)


def check_end(end, wire, rows, expected, trouble):
    """A mismatch names a record and a value in it, in front of any fault of the bytes but those inside a WRITABLE."""
    assert end.record == len(rows), (end.record, len(rows))
    assert wire[end.offset] == end.code, (end.offset, end.code)
    assert trouble is None or trouble.offset >= end.offset or len(expected) > len(rows) or trouble.code == 50, (
        end,
        trouble,
    )


def check_batch(batch, manner, options):
    """A batch has rows, not too many, and gives its bytes back."""
    assert 0 < len(batch) <= manner["batch_rows"]
    sink = io.BytesIO()
    assert columns.write(sink, batch, pairs=manner["pairs"]) == len(batch)
    data = sink.getvalue()
    (again,) = columns.read(
        data, len(batch), list(batch.schema.values()), pairs=manner["pairs"], dialect=options["dialect"]
    )
    assert exact_repr(rows_of(again, options["dialect"])) == exact_repr(rows_of(batch, options["dialect"]))
    check_lent(batch, manner["pairs"])


def check_lent(batch, pairs):
    """Columns that were converted to Arrow once, which some codes do not survive, are converted again unchanged."""
    data = written_by_arrow(batch, pairs)
    try:
        (again,) = columns.read(data, len(batch), pairs=pairs)
    except columns.MismatchError:
        # Arrow's nulls may be items of VECTORs of numbers, which have none where the first record is one
        return
    assert written_by_arrow(again, pairs) == data


def written_by_arrow(batch, pairs):
    """Write a batch as something else that lends its columns."""
    sink = io.BytesIO()
    assert columns.write(sink, Lender(batch.__arrow_c_array__()), pairs=pairs, nulls="value") == len(batch)
    return sink.getvalue()


class Lender:
    """Lend columns by Arrow's interface, and be nothing more."""

    def __init__(self, capsules):
        self.__arrow_c_array__ = lambda: capsules
