"""RCFiles that are nearly right, by any schema: rows come out, or an error of the data with its place in the file.

Here: what must hold of any file. Not here: what rows mean, which Hive's own files say. Invariant: the bytes looked at
end at an unreadable page; the first two bytes choose the schema and the serialization.
"""

from functools import cache

from fuzz.guard import Guard
from support import rcfiles
from support.vectors import read_jsonl
from typedbytes import columns
from typedbytes.errors import DecodeError

GUARD = Guard(1 << 20)
HEAD = 2
MAX_BATCHES = 4  # few bytes may be many rows
SCHEMAS = (
    None, ["string"], ["long", "string", "double"], ["bool", "byte", "short", "int"], ["date", "timestamp<us>"],
    ["decimal<38, 4>", "float", "bytes"], ["list<int>", "map<string, long>", "row<a: int, b: string>"],
    ["list<struct<x: double, y: list<string>>>", "map<int, list<map<string, date>>>"],
    ["timestamp<s>", "decimal<3, 3>"], ["row<a: list<decimal<20, 2>>, b: timestamp<ms>>"],
)  # fmt: skip


PIECES = (
    b"0", b"-", b".", b"e", b"E+", b"7", b"99999999999999999999", b"000000000000000000000000000000", b"NaN", b"\\N",
    b"2024-02-30", b" 23:59:59", b"true", b"\x02", b"\x03", b"\x04", b"/+==", b" ", b"\xc3\xa9", b"f",
)  # fmt: skip


@cache
def seeds():
    """Return Hive's own files."""
    return [bytes.fromhex(vector["hex"]) for vector in read_jsonl("sequencefile/rcfiles.jsonl")]


def shape(maker):
    """Return the choices, and the bytes of a file of Hive's or of cells at random, nearly always spoiled."""
    rng = maker.rng
    data = rng.choice(seeds())
    if rng.random() < 0.6:
        nrows = rng.randrange(5)
        cells = [[cell(rng) for _ in range(nrows)] for _ in range(rng.randrange(4))]
        data = rcfiles.header(len(cells), None) + rcfiles.group(cells, None) * rng.randrange(3)
    return rng.randbytes(HEAD) + (maker.spoiled(data) if rng.random() < 0.8 else data)


def cell(rng):
    """Return pieces of text, or any bytes."""
    if rng.random() < 0.5:
        return b"".join(rng.choices(PIECES, k=rng.randrange(7)))
    return rng.randbytes(rng.choice((0, 1, 2, 5, 9, 30)))


def check_rcfile(data):
    """Read the file; an error of the data has a place in it."""
    choices, content = data[:HEAD].ljust(HEAD, b"\0"), data[HEAD:]
    how = {"schema": SCHEMAS[choices[0] % len(SCHEMAS)], "serde": ("text", "binary")[choices[1] & 1]}
    view = GUARD.put(content)
    if columns._sources.kind_of(view) != "rcfile":
        return
    try:
        with columns.read(view, **how) as reader:
            for _, batch in zip(range(MAX_BATCHES), reader):
                assert len(batch) and len(batch.schema) == len(batch.names)
    except DecodeError as error:
        assert error.offset is None or 0 <= error.offset <= len(content), error
    except ModuleNotFoundError:  # of a codec
        pass
