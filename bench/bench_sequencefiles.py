"""SequenceFiles beside a plain stream of the same pairs, decompression and decoding alone, and Hadoop's Java.

    python bench/bench_sequencefiles.py    a table; needs a JDK and Maven, as the tests of Hadoop do

Here: how each form is read and written. Invariant: times are CPU times of one thread, the least of many rounds, all
forms in turn; a Java virtual machine is warm, and its start is not counted.
"""

import io
import json
import subprocess
import sys
import time
from functools import lru_cache, partial
from pathlib import Path

import pytest

import data
import old_files
import typedbytes as tb
from timing import Race, Runner
from typedbytes import sequencefile

FOLDER = old_files.FOLDER / "sequencefiles"
SHAPES = ("small_int", "int64", "double", "ascii_8", "word_pairs", "bytes_1k")
NLISTS = 10
FORMS = {
    "sequence": {},
    "sequence record": {"compression": "record"},
    "sequence block": {"compression": "block"},
    "sequence zstd": {"compression": "block", "codec": "zstd"},
    "sequence snappy": {"compression": "block", "codec": "snappy"},
}
#: The same files, whose pairs are read and written as typed bytes.
TYPED = {"sequence typed": "sequence", "sequence snappy typed": "sequence snappy"}
#: What all is held against: the stream of the same pairs.
PLAIN = "pairs"
JAVA_NROUNDS = 12


def read_pairs(source):
    for key, value in tb.PairReader(source):
        pass
    return key, value


def read_sequence(source):
    for key, value in sequencefile.Reader(source):
        pass
    return key, value


def read_typed(source):
    reader = sequencefile.Reader(source)
    while part := reader.read_typed():
        last = part
    return tb.Decoder().decode_pairs(last)[-1]


def write_pairs(pairs, sink):
    with tb.PairWriter(sink) as writer:
        writer.writes(pairs)


def write_sequence(options, pairs, sink):
    with open_writer(options, sink) as writer:
        writer.writes(pairs)


def write_typed(form, encoded, sink):
    with open_writer(FORMS[TYPED[form]], sink) as writer:
        writer.write_typed(encoded)


def open_writer(options, sink):
    return sequencefile.Writer(sink, sync_marker=bytes(range(16)), **options)


@lru_cache(maxsize=1)
def pairs_of(shape_name, scale):
    """Return the pairs of a file."""
    shape = data.SHAPES[shape_name]
    items = [item for variant in range(NLISTS) for item in shape.items(variant, scale)]
    return items if shape_name in data.PAIRS else list(zip(items[::2], items[1::2]))


def write(form, pairs, sink):
    (write_pairs if form == PLAIN else partial(write_sequence, FORMS[form]))(pairs, sink)


def file(shape_name, form, scale):
    """Return the path of a file, written now."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{shape_name}-{scale:g}-{form.replace(' ', '-')}"
    with path.open("wb", buffering=0) as sink:
        write(form, pairs_of(shape_name, scale), sink)
    return path


READERS = {PLAIN: read_pairs, **dict.fromkeys(FORMS, read_sequence), **dict.fromkeys(TYPED, read_typed)}
WRITERS = [PLAIN, *FORMS, *TYPED]
OPERATIONS = {"read": list(READERS), "write": WRITERS}


def runner(operation, shape_name, form, scale=1):
    """Return a form ready to be read or written."""
    pairs = pairs_of(shape_name, scale)
    path = file(shape_name, TYPED.get(form, form), scale)
    nbytes = path.stat().st_size
    if operation == "read":
        ready = Runner(
            form,
            READERS[form],
            lambda nround: path.open("rb", buffering=0),
            nbytes,
            False,
            lambda source: source.close(),
        )
        with path.open("rb", buffering=0) as source:
            ready.correct = READERS[form](source) == pairs[-1]
        return ready
    work = (
        partial(write_typed, form, tb.Encoder().encode_pairs(pairs)) if form in TYPED else partial(write, form, pairs)
    )
    ready = Runner(form, work, lambda nround: io.BytesIO(), nbytes, False)
    sink = io.BytesIO()
    work(sink)
    ready.correct = sink.getvalue() == path.read_bytes()
    return ready


CASES = [(operation, shape, form) for operation, forms in OPERATIONS.items() for shape in SHAPES for form in forms]


@pytest.mark.benchmark(timer=time.process_time)
@pytest.mark.parametrize(("operation", "shape", "form"), CASES)
def bench_sequencefiles(measure, scale, operation, shape, form):
    npairs = len(pairs_of(shape, scale))
    ready = runner(operation, shape, form, scale)
    ready.name = f"typedbytes {form}"
    measure(f"{operation} {shape}", ready, 2 * npairs)


# -- the table --------------------------------------------------------------------------------------------


def main():
    print(
        f"{'nanoseconds a pair':<12} | "
        + " | ".join(f"{name:>15}" for name in (*READERS, "zstd + decode", "Java writables", "Java objects"))
    )
    for shape in SHAPES:
        print(f"read {shape:<13} | " + " | ".join(f"{ns:15.0f}" for ns in reading(shape)), flush=True)
    for shape in SHAPES:
        race = Race(
            "files", "write", shape, len(pairs_of(shape, 1)), [runner("write", shape, form) for form in WRITERS]
        )
        print(f"write {shape:<12} | " + " | ".join(f"{ns:15.0f}" for ns in measured(race)), flush=True)


def reading(shape):
    runners = [runner("read", shape, form) for form in READERS]
    parts, plain = zstd_parts(file(shape, "sequence zstd", 1))
    runners.append(Runner("zstd + decode", lambda nothing: alone(parts, plain), lambda nround: None, 0, True))
    return [
        *measured(Race("files", "read", shape, len(pairs_of(shape, 1)), runners)),
        *java(file(shape, "sequence", 1)),
    ]


def measured(race):
    race.run(3)
    assert all(each.correct for each in race.runners)
    return [each.call_ns / race.nvalues for each in race.runners]


def zstd_parts(path):
    """Return the compressed buffers of a file of blocks, and its pairs as a plain stream in parts as large."""
    from typedbytes.sequencefile import _codecs

    codec = _codecs.find("zstd")
    with sequencefile.Reader(path, raw=True) as reader:
        pairs = reader.read_all()
    keys, values = b"".join(key for key, _ in pairs), b"".join(value for _, value in pairs)
    nblocks = max(1, (len(keys) + len(values)) // 1_000_000)
    parts = [
        codec.compress(side[i * len(side) // nblocks : (i + 1) * len(side) // nblocks])
        for i in range(nblocks)
        for side in (keys, values, bytes(len(pairs)), bytes(len(pairs)))
    ]
    with sequencefile.Reader(path) as reader:
        return parts, reader.read_typed(1 << 40)


def alone(parts, plain):
    """Decompress and decode, and nothing else."""
    from typedbytes.sequencefile import _codecs

    decompress = _codecs.find("zstd").decompress
    for part in parts:
        decompress(part, 1 << 40)
    return read_pairs(plain)


def java(path):
    """Return how long Hadoop's reader takes for a pair: as Writables, and as objects."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test_vectors" / "java"))
    import jars

    command = jars.java_command(
        "org.typedbytes.vectors.Main", "seqtime", path, JAVA_NROUNDS,
        options=("-Xmx2g", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"),
    )  # fmt: skip
    counts = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return counts["writables"] / counts["nrecords"], counts["objects"] / counts["nrecords"]


if __name__ == "__main__":
    main()
