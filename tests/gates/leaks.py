"""Count what is there after every operation: memory blocks, and on an interpreter for debugging all references.

    python tests/gates/leaks.py [--thorough]    one line for each group of operations that leaks, and a summary

Here: operations over the vectors, and the count. Not here: what is right: an error is as good as a value. Invariant:
what caches fill once does not count, since only what grows in every round does; numbers that the interpreter and the
core share must be referred to as often afterwards as before.
"""

import argparse
import array
import dataclasses
import gc
import io
import pathlib
import sys
import typing

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

try:
    import _testcapi
except ImportError:  # an interpreter without its own test modules
    _testcapi = None

import typedbytes  # noqa: E402
from fuzz import inputs, options as sets, records  # noqa: E402
from fuzz.choices import Choices  # noqa: E402
from fuzz.encoding import FIXED, Objects  # noqa: E402
from gates import figures  # noqa: E402
from typedbytes import _core, block, columns, legacy, sequencefile, sortkey  # noqa: E402
from typedbytes._report import _native as _report  # noqa: E402
from typedbytes._sorting import _native as _sorting  # noqa: E402

WARM_ROUNDS = 3
ROUNDS = 4
WIRES = 150
#: Shared by everybody, so that a reference too few would free them. The ints come from the core, which keeps its own
#: table; only those are counted on interpreters whose own shared objects never die.
SHARED = [
    None,
    True,
    False,
    *map(typedbytes.loads, map(typedbytes.dumps, (-128, 0, 7, 255, 256, 257, 1000, 1023))),
    b"",
    "",
    (),
]

ERRORS = (Exception, KeyboardInterrupt)
REFERENCES = getattr(sys, "gettotalrefcount", int)  # counted where the interpreter does


class BadSource:
    """A source whose second read fails."""

    def __init__(self, data):
        self.parts = [data[: len(data) // 2]]

    def read(self, nbytes):
        """Return the first half, then fail."""
        part = self.parts.pop()
        if len(part) > nbytes:
            self.parts.append(part[nbytes:])
        return part[:nbytes]


class BadSink:
    """A sink that takes a part and then fails."""

    calls = 0

    def write(self, data):
        """Take half of the first bytes."""
        self.calls += 1
        if self.calls > 1:
            raise OSError("no space")
        return max(1, len(data) // 2)


def fed(wire, **options):
    """Feed in thirds, iterate, close."""
    decoder = typedbytes.Decoder(**options)
    for start in range(0, len(wire), len(wire) // 3 + 1):
        decoder.feed(wire[start : start + len(wire) // 3 + 1])
        for _ in decoder:
            pass
    decoder.close()


def groups(wire, **options):
    """Walk groups, taking one value of each."""
    for _, values in typedbytes.PairReader(io.BytesIO(wire), **options).groups():
        next(values)


def copied(wire, **options):
    """Copy to a sink that fails."""
    sink = BadSink()
    writer = typedbytes.Writer(sink, buffer_size=1)
    try:
        writer.copy(typedbytes.Reader(wire, **options))
    finally:
        sink.write = lambda data: len(data)
        writer.close()


def rewritten(wire, **options):
    """Decode and encode again."""
    typedbytes.dumps(typedbytes.loads(wire, **options), pickle=options.get("pickle", "safe"))


def by_old_names(wire, **options):
    """Read by iteration and with handlers."""
    list(legacy.Input(io.BytesIO(wire)))
    source = legacy.Input(io.BytesIO(wire))
    source.register(199, lambda source: source.read_bytes())
    list(source)


def structural(options):
    """Return those options that columns have too."""
    return {name: options[name] for name in ("dialect", "max_depth") if name in options}


def read_as_columns(wire, **options):
    """Read as columns, export them, and write what fits."""
    for policy in ("widen", "split"):
        for batch in columns.read(wire, 5, pairs=False, on_mismatch=policy, **structural(options)):
            batch.__arrow_c_array__(), batch.__arrow_c_stream__(), batch.buffers(0)
            columns.write(io.BytesIO(), batch, pairs=False)


def exchanged(wire, **options):
    """Send the value in a message, and read that, whole and cut."""
    data = block.BlockEncoder("native", checksum=True).encode(
        [typedbytes.loads(wire, **options), wire, "t\xe9xt", bytes(70_000)]
    )
    decoder = block.BlockDecoder(**options)
    decoder.feed(data[:9])
    decoder.feed(data[9:])
    list(block.BlockReader(io.BytesIO(data[:-1]), **options))


def as_messages(wire, **options):
    """Take the bytes themselves for messages."""
    for layout in ("line", "block", "bytes", "type8", "total", "header"):
        try:
            block.BlockDecoder(layout, skip_bad=True, **options).feed(wire)
        except typedbytes.DecodeError:
            pass


def in_a_sequence_file(wire, **options):
    """Keep the bytes in a SequenceFile, and read that in every way."""
    file = io.BytesIO()
    with sequencefile.Writer(file, compression="block") as writer:
        writer.writes([(1, 1), ([1], 2.5)])
        writer.write_raw(b"\0\0\0\x2d" + typedbytes.dumps(b"k" * 40), len(wire).to_bytes(4, "big") + wire)
    for resync in (True, False):
        reader = sequencefile.Reader(file.getvalue(), resync=resync, **options)
        reader.read_typed()
        list(_core.PairIterator(sequencefile.Reader(file.getvalue(), resync=True, **options)))
        list(sequencefile.Reader(io.BytesIO(file.getvalue()), resync=resync, **options))


def counted(wire, **options):
    """Write as lines of JSON, and count."""
    dialect = options.get("dialect", "hadoop")
    for walker in (_report.RecordStatistics(dialect=dialect, npartitions=3, top={}), _report.Schema(dialect=dialect)):
        try:
            walker.write(wire)
        except typedbytes.DecodeError:
            walker.paths() if type(walker) is _report.Schema else walker.by_type(0)
    _report.lines(wire, plain=True, dialect=dialect)
    _report.lines(wire, dialect=dialect)


def sorted_and_merged(wire, **options):
    """Sort values, merge them with themselves, and read the bytes as lines and as what a sort key carries."""
    _sorting.LineReader(io.BytesIO(wire)).read_typed()
    list(_core.PairIterator(_sorting.LineReader(io.BytesIO(wire))))
    attempt(
        sortkey.decode, [2**56 + int.from_bytes(wire[start : start + 7], "big") for start in range(0, len(wire), 7)], {}
    )
    sorter, sink = _sorting.Sorter(nparts=1, **structural(options)), io.BytesIO()
    sorter.fill(io.BytesIO(wire))
    sorter.sort()
    sorter.write(0, sink)
    runs = [sink.getvalue(), sink.getvalue(), wire]
    _sorting.merge(list(map(io.BytesIO, runs)), io.BytesIO(), nparts=1, buffer_size=64, **structural(options))


DECODING = {
    "loads": lambda wire, **options: typedbytes.loads(wire, **options),
    "decode_all": lambda wire, **options: typedbytes.Decoder(**options).decode_all(wire),
    "decode_pairs": lambda wire, **options: typedbytes.Decoder(**options).decode_pairs(wire),
    "reader": lambda wire, **options: list(typedbytes.Reader(io.BytesIO(wire), **options)),
    "reader_of_memory": lambda wire, **options: list(typedbytes.Reader(bytearray(wire), **options)),
    "raw_reader": lambda wire, **options: list(typedbytes.Reader(io.BytesIO(wire), raw=True, **options)),
    "pair_reader": lambda wire, **options: list(typedbytes.PairReader(io.BytesIO(wire), **options)),
    "failing_source": lambda wire, **options: list(typedbytes.Reader(BadSource(wire), **options)),
    "skipping": lambda wire, **options: typedbytes.Reader(io.BytesIO(wire), **options).skip(9),
    "groups": groups,
    "copied": copied,
    "fed": fed,
    "rewritten": rewritten,
    "by_old_names": by_old_names,
    "read_as_columns": read_as_columns,
    "exchanged": exchanged,
    "as_messages": as_messages,
    "in_a_sequence_file": in_a_sequence_file,
    "counted": counted,
    "sorted_and_merged": sorted_and_merged,
    "scans": lambda wire, **options: (typedbytes.index(wire), typedbytes.count(wire), typedbytes.hash_code(wire)),
}


def by_type(data):
    """Decode and encode by a type, whole, in pieces, as pairs and as columns."""
    records.check_alone(data)
    hint, wire = records.HINTS[data[0] % len(records.HINTS)], data[2:]
    for call in (fed, DECODING["reader"], read_by_type):
        attempt(call, wire, {"type": hint})
    attempt(DECODING["pair_reader"], b"\2\1" + wire, {"key_type": bool, "value_type": hint})


def read_by_type(wire, type):
    """Read as the columns of a type."""
    for batch in columns.read(wire, type=type):
        batch.__arrow_c_array__()


def by_a_new_class(data):
    """Make a class, use it, and forget it: no cache keeps the program of what cannot be hashed."""
    cls = dataclasses.make_dataclass("Made", [("a", int), ("b", "list[str]", dataclasses.field(default_factory=list))])
    hint = typing.Annotated[list[cls], []]
    for encoded in (typedbytes.dumps({"a": 1}), typedbytes.dumps({"a": "1"}), data):
        try:
            value = typedbytes.Decoder(type=hint).decode(b"\x09" + encoded + b"\xff")
            typedbytes.Encoder(type=hint).encode(value)
        except typedbytes.DecodeError:
            pass


def typed():
    """Return values that are nearly of a type, each after bytes that choose the type and options."""
    maker = inputs.Maker("leaks")
    return [*inputs.corpus("records"), *(records.shape(maker) for _ in range(10 * WIRES))]


def pairs_of(obj):
    """Return an object twice as a pair."""
    return [(obj, obj), (1, obj)]


def written(obj, **options):
    """Write to a sink that fails; what is buffered is released."""
    sink = io.BytesIO()
    with typedbytes.Writer(sink, buffer_size=1, **options) as writer:
        writer.writes([obj, 1, obj])


def write_failing(obj, **options):
    """Write to a sink that fails, and try again until it is closed."""
    sink = BadSink()
    writer = typedbytes.Writer(sink, buffer_size=1, **options)
    try:
        writer.writes([obj, obj])
    finally:
        sink.write = lambda data: len(data)
        writer.close()


def sent(obj, **options):
    """Send messages to a sink that fails, and to one that does not."""
    block.BlockWriter(io.BytesIO(), "native", **options).writes([[obj, obj], [1]])
    block.BlockWriter(BadSink(), "native", **options).write([bytes(70_000), obj])


def into_a_sequence_file(obj, **options):
    """Write a SequenceFile whose sink fails."""
    writer = sequencefile.Writer(BadSink(), **options)
    try:
        writer.write(obj, 1)
        writer.write(1, obj)
    finally:
        try:
            writer.flush()
        finally:
            writer.close()


ENCODING = {
    "dumps": lambda obj, **options: typedbytes.dumps(obj, **options),
    "encode_all": lambda obj, **options: typedbytes.Encoder(**options).encode_all([1, obj]),
    "encode_pairs": lambda obj, **options: typedbytes.Encoder(**options).encode_pairs(pairs_of(obj)),
    "encode_into": lambda obj, **options: typedbytes.Encoder(**options).encode_into(obj, bytearray(3), 3),
    "writer": written,
    "failing_sink": write_failing,
    "sent": sent,
    "into_a_sequence_file": into_a_sequence_file,
    "as_a_sort_key": lambda obj, **options: sortkey.decode(sortkey.encode((obj, sortkey.Descending(obj)), none="last")),
    "as_a_column": lambda obj, **options: columns.write(io.BytesIO(), [[obj, 1, obj]], pairs=False),
}


def without_memory(wire, **options):
    """Decode, and encode what came of it, with one allocation refused, whichever it is."""
    value = typedbytes.loads(wire)
    for call, subject in ((typedbytes.loads, wire), (typedbytes.dumps, value)):
        for start in range(REFUSED):
            _testcapi.set_nomemory(start, start + 1)
            try:
                call(subject)
            except MemoryError:
                pass
            finally:
                _testcapi.remove_mem_hooks()


#: Decoded and encoded by the core alone: the interpreter itself does not always survive what it has no memory for.
PLAIN_WIRES = [
    typedbytes.dumps(value)
    for value in (
        [2**40] * 300, tuple([number * 1.5] for number in range(200)),
        {2**40 + number: b"b" * 30 for number in range(100)}, ["\u20ac" * 40, "a" * 600, "key"] * 3, [[2**50]] * 9000,
        (2**40, "word" * 9, {"k": (1.5,)}), "\u20ac" * 500, b"b" * 70_000,
    )
]  # fmt: skip
REFUSED = 25  # of the first allocations of a call


def wires():
    """Return the wires that are decoded: vectors, spoiled ones, and what is kept from fuzzing."""
    maker = inputs.Maker("leaks")
    kept = [data[1:] for name in ("bytes", "reference") for data in inputs.corpus(name)]
    return [
        *inputs.seeds(),
        *kept,
        *(maker.wire() for _ in range(WIRES)),
        b"\0\0\2\0\0" + bytes(1000),
        b"\0\0\2\0\0" + bytes(1 << 17),
    ]


def objects():
    """Return the objects that are encoded."""
    maker = inputs.Maker("leaks")
    return [*FIXED, *(Objects(Choices(maker.program())).value(3) for _ in range(WIRES))]


def is_numpys(subject):
    """Return whether NumPy has a hand in it, which keeps things, and counts no references on any interpreter."""
    return (
        b"NUMPY" in subject
        if type(subject) is bytes
        else any(word in repr(subject) for word in ("np.", "numpy", "array("))
    )


def attempt(call, subject, options):
    """Call, and forget what comes of it."""
    try:
        call(subject, **options)
    except ERRORS:
        pass


def grown(call, subjects, tables, shift):
    """Return by how much blocks and references grow in every round at least, each subject with one set of options."""
    marks = array.array("q", [0]) * (2 * (WARM_ROUNDS + ROUNDS))  # counting must not count itself
    for i in range(0, len(marks), 2):
        for number, subject in enumerate(subjects):
            attempt(call, subject, tables[(number + shift) % len(tables)])
        gc.collect()
        marks[i] = sys.getallocatedblocks()
        marks[i + 1] = REFERENCES()
    first = 2 * WARM_ROUNDS
    return [min(marks[i] - marks[i - 2] for i in range(first + kind, len(marks), 2)) for kind in (0, 1)]


def leaking(name, call, subjects, tables, shift):
    """Return what `grown` does, and the shared objects that lost references, of the last of up to three counts.

    The first that finds nothing is the last: caches are full or emptied one day, a leak goes on.
    """
    for _ in range(3):
        before = shared_counts()
        nblocks, nreferences = grown(call, subjects, tables, shift)
        lost = [obj for obj, now, then in zip(SHARED, shared_counts(), before) if now < then - 100]
        if call is by_a_new_class and None in lost:
            lost.remove(None)  # CPython 3.11.2 itself takes up to four from it for each class that is made
        if "NumPy" in name:
            nblocks, nreferences = nblocks - len(subjects) // 10, 0
        if nblocks <= 0 and nreferences <= 0 and not lost:
            break
    return nblocks, nreferences, lost


def shared_counts():
    """Return how often each shared object is referred to; what never dies is always the same."""
    gc.collect()
    return [sys.getrefcount(obj) for obj in SHARED]


def groups_of_operations():
    """Yield each operation with its inputs, those of NumPy apart and several times, and the sets of options for it."""
    for operations, subjects, tables in ((DECODING, wires(), sets.DECODE), (ENCODING, objects(), sets.ENCODE)):
        own = [subject for subject in subjects if not is_numpys(subject)]
        numpys = [subject for subject in subjects if is_numpys(subject)] * 5
        for name, call in operations.items():
            yield name, call, own, tables
            yield f"{name} with NumPy", call, numpys, tables
    yield "by type", by_type, typed(), [{}]
    yield "by a new class", by_a_new_class, typed()[:20], [{}]
    if _testcapi is not None:
        yield "without memory", without_memory, PLAIN_WIRES, [{}]


def main(arguments=None):
    """Count every operation, and say which leak."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--thorough", action="store_true", help="every input with every set of options, not with one")
    thorough = parser.parse_args(arguments).thorough
    if not sys.getallocatedblocks():
        print("this interpreter counts no blocks: is PYTHONMALLOC set?")
        return 2
    gc.freeze()  # hundreds of collections need not look at what was imported
    nbad, noperations = 0, 0
    for name, call, subjects, tables in groups_of_operations():
        for shift in range(len(tables) if thorough else 1):
            nblocks, nreferences, lost = leaking(name, call, subjects, tables, shift)
            noperations += len(subjects)
            if nblocks > 0 or nreferences > 0 or lost:
                nbad += 1
                print(
                    f"{name}, {shift}: {nblocks} blocks, {nreferences} references a round; too few of {lost}",
                    flush=True,
                )
    kind = "blocks and references" if REFERENCES is not int else "blocks"
    print(f"{noperations:,} operations, {WARM_ROUNDS + ROUNDS} times each: {nbad} groups of them leak {kind}")
    figures.report(operations=noperations, counted=kind, leaking=nbad)
    return 1 if nbad else 0


if __name__ == "__main__":
    sys.exit(main())
