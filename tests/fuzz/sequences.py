"""SequenceFiles, whole and in pieces, split and repaired: every way to read one must give the same records.

Here: files that are nearly right, and what must hold of reading any bytes at all. Not here: what is in the records.
Invariant: memory that is read ends at an unreadable page; seeds are files that Hadoop wrote.
"""

import functools
import io

import typedbytes
from fuzz import options as sets
from fuzz.choices import Choices
from fuzz.guard import Guard
from fuzz.streams import ReadintoPieces, ReadPieces, SharedPieces, said, same, taken
from support.column_values import EXACT, Unreadable, as_struct, rows_of
from support.sequencefiles import files
from support.vectors import exact_repr
from typedbytes import columns, sequencefile
from typedbytes.errors import DecodeError
from typedbytes.sequencefile._writables import full_name

GUARD = Guard(1 << 20)
HEAD = 8  # bytes of an input that choose; the rest is the file
OPTIONS = [{name: value for name, value in each.items() if name != "max_bytes"} for each in sets.DECODE]
LIMITS = [1 << 16, 1 << 16, 1 << 16, 1 << 20, 300, 40, 1]
SOURCES = [
    lambda data, choices: ReadPieces(data, choices),
    lambda data, choices: ReadintoAndRead(data, choices),
    lambda data, choices: SharedPieces(data, choices),
    lambda data, choices: io.BytesIO(data),
    lambda data, choices: io.BufferedReader(io.BytesIO(data), 16),
]


class ReadintoAndRead(ReadintoPieces, ReadPieces):
    """Offer both; a reader chooses."""


@functools.cache
def seeds():
    """Return the files that Hadoop wrote."""
    return sorted(files().values())


def shape(maker):
    """Return bytes that choose, then a file with some bytes damaged."""
    return maker.rng.randbytes(HEAD) + maker.spoiled(maker.rng.choice(seeds()))


def check_sequence(data):
    """Read one file in two ways that the first bytes choose."""
    choices, file = Choices(data[:HEAD]), data[HEAD:]
    options = {**choices.pick(OPTIONS), "max_bytes": choices.pick(LIMITS)}
    wire = GUARD.put(file)
    expected = whole(wire, options)
    choices.pick(CHECKS)(choices, wire, options, *expected)


def whole(source, options):
    """Return the pairs that a reader gives, and its error."""
    pairs = []
    try:
        reader = sequencefile.Reader(source, **options)
    except DecodeError as error:
        return pairs, error
    trouble = taken(pairs, reader)
    assert reader.record == len(pairs)
    assert all(each.nbytes >= 0 for each in reader.skipped)
    return pairs, trouble


def check_pieces(choices, wire, options, pairs, trouble):
    """However the bytes come in, the same comes out."""
    source = choices.pick(SOURCES)(wire, choices)
    same(*whole(source, options), pairs, trouble)


def check_raw(choices, wire, options, pairs, trouble):
    """Bytes of keys and values decode by themselves to the pairs; where they do not, the reader said so."""
    found, end = whole(wire, {**options, "raw": True})
    assert len(found) >= len(pairs)
    if not found:
        return
    reader = sequencefile.Reader(wire, raw=True, max_bytes=options["max_bytes"])
    if any(full_name(name) != name for name in (reader.key_class, reader.value_class)):
        return  # decode takes a class in no package for Hadoop's of that name
    decode = {name: value for name, value in options.items() if name != "max_bytes"}
    for (key, value), pair in zip(found, pairs):
        again = (
            sequencefile.decode(reader.key_class, key, **decode),
            sequencefile.decode(reader.value_class, value, **decode),
        )
        assert exact_repr(again) == exact_repr(pair)
    assert trouble is not None or (end is None and len(found) == len(pairs))


def check_skipped(choices, wire, options, pairs, trouble):
    """Records that are skipped are only not seen."""
    try:
        reader = sequencefile.Reader(wire, **options)
    except DecodeError:
        return
    found, index = [], 0
    try:
        while True:
            nskipped = reader.skip(choices.below(4))
            index += nskipped
            pair = reader.read()
            if pair is None:
                break
            assert reader.record == index + 1
            found.append((index, pair))
            index += 1
    except sets.DOCUMENTED:
        assert trouble is not None
    else:
        assert trouble is not None or reader.record == len(pairs)
    for index, pair in found:
        if index < len(pairs):
            assert exact_repr(pair) == exact_repr(pairs[index])


def check_typed(choices, wire, options, pairs, trouble):
    """The stream of typed bytes is one of whole pairs."""
    try:
        reader = sequencefile.Reader(wire, **options)
    except DecodeError:
        return
    parts = []
    try:
        while part := reader.read_typed(1 + choices.below(300)):
            parts.append(part)
    except sets.DOCUMENTED as error:
        assert trouble is not None, said(error)
    assert typedbytes.count(b"".join(parts), dialect=options.get("dialect", "hadoop")) == 2 * reader.record
    if trouble is None:
        assert reader.record == len(pairs)


def check_columns(choices, wire, options, pairs, trouble):
    """Columns hold the pairs of the stream of typed bytes, and end with its error or that of one of its records."""
    try:
        reader = sequencefile.Reader(wire, **options)
    except DecodeError:
        return
    parts, batches = [], []
    end = taken(parts, iter(lambda: reader.read_typed(1 + choices.below(300)), b""))
    structure = {name: value for name, value in options.items() if name in ("dialect", "max_depth")}
    expected, typed = [], b"".join(parts)
    # Columns decode text as their reader does, and keep it in UTF-8, which has no surrogates.
    text = {name: value for name, value in options.items() if name == "unicode_errors"}
    fault = taken(expected, typedbytes.PairReader(typed, **EXACT, **structure, **text))
    with columns.read(
        sequencefile.Reader(wire, **options), choices.pick((1, 3, 1000)), on_mismatch="split", **structure
    ) as batch_reader:
        found = taken(batches, batch_reader)
    dialect = structure.get("dialect", "hadoop")
    rows = [row for batch in batches for row in rows_of(batch, dialect)]
    nrecords = len(expected)
    if fault is not None and len(rows) > nrecords:  # a column of encoded values does not decode text
        assert Unreadable in rows[nrecords]
        fault, nrecords = None, typedbytes.count(typed, dialect=dialect) // 2
    as_kept = [
        tuple(value if value is Unreadable and text else other for value, other in zip(*each))
        for each in zip(rows, expected)
    ]
    assert exact_repr(as_struct(rows[: len(as_kept)], dialect)) == exact_repr(as_struct(as_kept, dialect))
    if len(rows) == nrecords and fault is None:
        assert said(found) == said(end)
    else:
        assert found.record == len(rows) and found.offset < len(wire), found


def check_resync(choices, wire, options, pairs, trouble):
    """Only the header, or a hook, ends a reader that goes on; it gives what precedes the damage, and names the rest."""
    try:
        reader = sequencefile.Reader(choices.pick([lambda data: data, io.BytesIO])(wire), resync=True, **options)
    except DecodeError as error:
        assert said(error) == said(trouble)
        return
    found = []
    end = taken(found, reader)
    assert end is None or isinstance(end, sets.HookError)
    assert exact_repr(found[: len(pairs)]) == exact_repr(pairs)
    if end is None:
        assert bool(reader.skipped) == (trouble is not None)
        assert reader.offset == len(wire) or not reader.skipped


def check_splits(choices, wire, options, pairs, trouble):
    """Two splits are the file."""
    if trouble is not None:
        return
    cut = choices.below(len(wire) + 1)
    found = whole(wire, {**options, "length": cut})[0] + whole(io.BytesIO(wire), {**options, "start": cut})[0]
    assert exact_repr(found) == exact_repr(pairs)


def check_copy(choices, wire, options, pairs, trouble):
    """What is written from it reads the same."""
    found, _ = whole(wire, {"raw": True, "max_bytes": options["max_bytes"]})
    if not found:
        return
    reader = sequencefile.Reader(wire, raw=True)
    sink = io.BytesIO()
    with sequencefile.Writer(
        sink, key_class=reader.key_class + ".", value_class=reader.value_class + ".", sync_marker=reader.sync_marker,
        compression=choices.pick(("none", "record", "block")), sync_interval=1 + choices.below(300),
        block_size=1 + choices.below(300), metadata=reader.metadata,
    ) as writer:  # fmt: skip
        for key, value in found:
            writer.write_raw(key, value)
    again = sequencefile.Reader(sink.getvalue(), raw=True)
    assert again.read_all() == found and again.metadata == reader.metadata


CHECKS = [
    check_pieces, check_pieces, check_raw, check_skipped, check_typed, check_columns, check_resync, check_resync,
    check_splits, check_copy,
]  # fmt: skip
