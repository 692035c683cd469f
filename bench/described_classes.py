"""A described class as columns, beside the decoder that a user writes in plain Python for the same Writable.

    python bench/described_classes.py [--quick] [CONTENDER...]    a table

The file is not compressed, so that zlib hides no decoder. All contenders read the same file from disk to a table of
Arrow: a decoder in Python reads the records of the SequenceFile too, makes a dict of each, and pyarrow makes the table
of the dicts. "stream" is written as the Java is, with a function for each type over a file object; "slices" with all
fields in one function over the bytes of the record, the fastest that was found. Beside them "dicts", which leaves
the table out, and the same records as typed bytes with the fields as a VECTOR, as columns. Invariant: all tables are
equal; times are CPU times of the process, the least of the rounds, contenders in turn.
"""

import argparse
import io
import random
import struct
import time

import pyarrow

import old_files
from typedbytes import columns, sequencefile

CLASSES = {"com.example.Event": "id: long, name: text, tags: list<text>, at: optional<vlong>"}
EVENT = pyarrow.struct(
    {"id": pyarrow.int64(), "name": pyarrow.string(), "tags": pyarrow.list_(pyarrow.string()), "at": pyarrow.int64()}
)
SCHEMA = pyarrow.schema({"key": pyarrow.string(), "value": EVENT})
WORDS = ["start", "stop", "click", "view", "purchase", "login", "error", "scroll"]
SYNC_NBYTES = 16
ESCAPE = -1
LONG = struct.Struct(">q")
LENGTHS = struct.Struct(">ii")


def described(path):
    """Read the table with the class described."""
    return columns.read(path / "events.seq", classes=CLASSES).to_arrow()


def vector(path):
    """Read the fields from VECTORs of typed bytes, in a SequenceFile too."""
    return columns.read(path / "vectors.seq").to_arrow()


def stream(path):
    """Read the table with a function for each type."""
    return pyarrow.Table.from_pylist(stream_dicts(path), SCHEMA)


def slices(path):
    """Read the table with one function for all fields."""
    pairs = list(slice_pairs(path))
    return pyarrow.table([pyarrow.array([key for key, _ in pairs], pyarrow.string()),
                          pyarrow.array([event for _, event in pairs], EVENT)], SCHEMA)  # fmt: skip


def stream_dicts(path):
    """Return a dict for each record."""
    with open(path / "events.seq", "rb") as file:
        skip_header(file)
        return [{"key": read_text(io.BytesIO(key)), "value": read_event(io.BytesIO(value))}
                for key, value in records(file)]  # fmt: skip


# -- as the Java is written ---------------------------------------------------------------------------------------


def read_event(stream):
    return {
        "id": read_long(stream),
        "name": read_text(stream),
        "tags": [read_text(stream) for _ in range(read_int(stream))],
        "at": read_vlong(stream) if read_boolean(stream) else None,
    }


def read_text(stream):
    return stream.read(read_vlong(stream)).decode("utf-8")


def read_boolean(stream):
    return stream.read(1) != b"\0"


def read_int(stream):
    return struct.unpack(">i", stream.read(4))[0]


def read_long(stream):
    return struct.unpack(">q", stream.read(8))[0]


def read_vlong(stream):
    (first,) = struct.unpack("b", stream.read(1))
    if first >= -112:
        return first
    negative = first < -120
    number = int.from_bytes(stream.read(-120 - first if negative else -112 - first), "big")
    return ~number if negative else number


def skip_header(file):
    """Go to the first record, after the names of the classes, two flags, the metadata and the sync marker."""
    file.read(4)
    read_text(file)
    read_text(file)
    file.read(2)
    for _ in range(2 * read_int(file)):
        read_text(file)
    file.read(SYNC_NBYTES)


def records(file):
    """Yield the bytes of keys and values."""
    while head := file.read(4):
        (nbytes,) = struct.unpack(">i", head)
        if nbytes == ESCAPE:
            file.read(SYNC_NBYTES)
            continue
        nkey = read_int(file)
        yield file.read(nkey), file.read(nbytes - nkey)


# -- as fast as plain Python was found to be ----------------------------------------------------------------------


def slice_pairs(path):
    """Yield keys and dicts; lengths of 112 bytes and more are left to vlong_at."""
    with open(path / "events.seq", "rb") as file:
        skip_header(file)
        data = file.read()
    p, end = 0, len(data)
    lengths_at, long_at = LENGTHS.unpack_from, LONG.unpack_from
    while p < end:
        nbytes, nkey = lengths_at(data, p)
        if nbytes == ESCAPE:
            p += 4 + SYNC_NBYTES
            continue
        p += 8
        size, start = vlong_at(data, p) if data[p] > 112 else (data[p], p + 1)
        key = data[start : start + size].decode()
        p = start + size
        (number,) = long_at(data, p)
        size, start = vlong_at(data, p + 8) if data[p + 8] > 112 else (data[p + 8], p + 9)
        p = start + size
        name = data[start:p].decode()
        tags = []
        for _ in range(int.from_bytes(data[p : p + 4], "big")):
            size, start = vlong_at(data, p + 4) if data[p + 4] > 112 else (data[p + 4], p + 5)
            p = start + size - 4
            tags.append(data[start : p + 4].decode())
        at = None
        if data[p + 4]:
            at, p = vlong_at(data, p + 5)
        else:
            p += 5
        yield key, {"id": number, "name": name, "tags": tags, "at": at}


def vlong_at(data, p):
    """Return the number, and the offset after it."""
    first = data[p]
    if first <= 127 or first >= 144:
        return first if first <= 127 else first - 256, p + 1
    nbytes = 136 - first if first < 136 else 144 - first
    number = int.from_bytes(data[p + 1 : p + 1 + nbytes], "big")
    return (~number if first < 136 else number), p + 1 + nbytes


# -- the table ----------------------------------------------------------------------------------------------------

CONTENDERS = {"described": described, "vector": vector, "stream": stream, "slices": slices, "dicts": stream_dicts}


def write(nrecords):
    """Write both files, and return their folder."""
    folder = old_files.FOLDER / f"described-classes-{nrecords}"
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(0)
    events = [
        (f"user{rng.randrange(10**6)}", rng.randrange(1 << 62), rng.choice(WORDS),
         rng.choices(WORDS, k=rng.randrange(4)),
         None if rng.random() < 0.3 else rng.randrange(1_600_000_000_000, 1_700_000_000_000))
        for _ in range(nrecords)
    ]  # fmt: skip
    options = {"key_class": "Text", "value_class": next(iter(CLASSES)), "classes": CLASSES}
    with sequencefile.open(folder / "events.seq", "w", **options) as writer:
        writer.writes((key, dict(zip(EVENT.names, fields))) for key, *fields in events)
    with sequencefile.open(folder / "vectors.seq", "w") as writer:
        writer.writes((key, tuple(fields)) for key, *fields in events)
    return folder


def main():
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few records, one round")
    parser.add_argument("names", nargs="*", metavar="CONTENDER", help=f"which: {' '.join(CONTENDERS)} (all)")
    options = parser.parse_args()
    nrecords, nrounds = (1_000, 1) if options.quick else (200_000, 5)
    path = write(nrecords)
    expected = described(path)
    least = dict.fromkeys(options.names or CONTENDERS, float("inf"))
    for nround in range(nrounds):
        for name in least:
            started = time.process_time()
            made = CONTENDERS[name](path)
            least[name] = min(least[name], time.process_time() - started)
            if nround == 0 and not equal(made, expected):
                raise SystemExit(f"{name}: other values")
            del made
    print("| | ns a record | of described |\n|---|---|---|")
    unit = least.get("described", min(least.values()))
    for name, seconds in least.items():
        print(f"| {name} | {seconds / nrecords * 1e9:,.0f} | {seconds / unit:.2f} |")


def equal(made, expected):
    """Return whether the values are equal, the fields of a VECTOR without their names."""
    if isinstance(made, list):
        return made == expected.to_pylist()
    if made.column_names != expected.column_names or not made["key"].equals(expected["key"]):
        return False
    return all(one.equals(other) for one, other in zip(made["value"].flatten(), expected["value"].flatten()))


if __name__ == "__main__":
    main()
