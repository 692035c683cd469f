"""Values that are not the plain ones of the shapes, long lists of these, and files of JSON, beside other codecs.

    python bench/other_values.py                   the rows below
    python bench/other_values.py --files FOLDER    each *.json of a folder, and each line of *.txt as one list of texts
    python bench/other_values.py --only numpy      the rows with this in their names

Each contender is in a process of its own that holds nothing else, in turns; the least CPU time of all passes. A
contender that gives something else back is left out: Python's own equality says so, with the classes of the values.
"""

import argparse
import collections
import dataclasses
import datetime
import enum
import functools
import importlib.util
import json
import multiprocessing
import pathlib
import random

import contenders
import data
import typedbytes as tb
from timing import Race, Runner

N = 1000
RNG = random.Random(1)
UTC = datetime.timezone.utc
CYRILLIC = ["".join(RNG.choices("абвгдежзиклмнопрст", k=7)) for _ in range(N)]
MOMENTS = [datetime.datetime(2020, 1, 1, tzinfo=UTC) + datetime.timedelta(seconds=i * 977.25) for i in range(N)]
PEERS = ("msgspec", "orjson", "ormsgpack", "marshal", "pickle")
#: Shapes whose long lists are decoded: what a process has freed before changes what the C library does with memory.
LONG = ("bytes_100", "bytes_1k", "bytes_10k", "text_100", "text_1000", "dict_5", "nested", "row_8")


class Number(enum.IntEnum):
    """An int of a class of its own."""

    ONE, TWO, THREE = 1, 2, 3


class Color(enum.Enum):
    """What has its value for others."""

    RED, GREEN, BLUE = "red", "green", "blue"


class Text(str):
    """A str of a class of its own."""


@dataclasses.dataclass
class Point:
    """A record of four fields."""

    x: int
    y: int
    name: str
    weight: float


def numpy_rows():
    """Return rows of scalars and arrays."""
    import numpy as np

    make = np.random.default_rng(1)
    dates = np.arange(100).astype("M8[D]")
    arrays = {"4 doubles": make.random(4), "100 doubles": make.random(100), "100 x 100": make.random((100, 100))}
    arrays |= {"structured": np.zeros(100, "i4,f8"), "U10": np.array(["text"] * 100, "U10"), "M8": dates}
    return {
        "numpy int64": ([np.int64(i * 7919) for i in range(N)], {}, PEERS, "encode"),
        "numpy float32": ([np.float32(i) for i in range(N)], {}, ("ormsgpack", "pickle"), "encode"),
        "numpy bool": ([np.bool_(i % 2) for i in range(N)], {}, ("orjson", "ormsgpack"), "encode"),
        **{
            f"numpy {name}": ([each.copy() for _ in range(20)], {}, ("pickle",), "both")
            for name, each in arrays.items()
        },
        "numpy 1 M doubles": (make.random(1_000_000), {}, ("pickle",), "both"),
    }


def rows():
    """Return what is measured by its name: the object, options of ours, contenders, which directions."""
    small = [{"b": i, "a": 2, "c": "x"} for i in range(N)]
    found = numpy_rows() if importlib.util.find_spec("numpy") else {}
    return {
        **found,
        "dataclass": ([Point(i, i + 1, "name", i / 2) for i in range(N)], {}, ("msgspec", "orjson"), "encode"),
        "dataclass, vars": (
            [Point(i, i + 1, "name", i / 2) for i in range(N)], {"default": vars}, ("msgspec", "orjson"), "encode",
        ),
        "Enum": ([list(Color)[i % 3] for i in range(N)], {}, ("msgspec", "orjson"), "encode"),
        "IntEnum": ([list(Number)[i % 3] for i in range(N)], {}, ("msgspec", "orjson"), "encode"),
        "str subclass": ([Text(f"text {i}") for i in range(N)], {}, ("orjson", "msgspec"), "encode"),
        "OrderedDict": ([collections.OrderedDict(each) for each in small], {}, ("msgspec", "orjson"), "encode"),
        "Counter": ([collections.Counter(f"{i:010}") for i in range(N)], {}, ("msgspec", "orjson"), "encode"),
        "sort_keys": (small, {"sort_keys": True}, ("msgspec sorted", "orjson sorted"), "encode"),
        "aware datetime": (MOMENTS, {}, PEERS, "both"),
        "datetime": ([each.replace(tzinfo=None) for each in MOMENTS], {}, PEERS, "both"),
        "date": ([each.date() for each in MOMENTS], {}, PEERS, "both"),
        "timedelta": ([datetime.timedelta(seconds=i * 1.5) for i in range(N)], {}, PEERS, "encode"),
        "time": ([each.time() for each in MOMENTS], {}, PEERS, "encode"),
        "complex": ([complex(i, -i) for i in range(N)], {}, ("marshal", "pickle"), "both"),
        "memoryview of 100": ([memoryview(bytes(100)) for _ in range(N)], {}, ("msgspec", "ormsgpack"), "encode"),
        "frozenset of 5": ([frozenset(range(i, i + 5)) for i in range(N)], {}, ("msgspec", "marshal"), "encode"),
        "frozenset of 5 texts": (
            [frozenset(f"{i + j}" for j in range(5)) for i in range(N)], {}, ("msgspec", "marshal"), "encode",
        ),
        "Cyrillic words": (CYRILLIC, {}, PEERS, "both"),
        "one-letter texts": ([chr(97 + i % 26) for i in range(N)], {}, PEERS, "both"),
        "texts of 2,200": ([f"{i:010}" * 220 for i in range(N)], {}, PEERS, "both"),
        "True and None": ([True, None] * 500, {}, PEERS, "both"),
        "MAPs of 8 Nones": ([dict.fromkeys("abcdefgh") for _ in range(N)], {}, PEERS, "both"),
        "2 doubles": ([[i / 3, i / 7] for i in range(N)], {}, PEERS, "both"),
        "x, y, z": ([{"x": i / 3, "y": i / 7, "z": i / 9} for i in range(N)], {}, PEERS, "both"),
    }  # fmt: skip


def contender(name, options):
    """Return how a contender encodes and decodes; None where it is not installed."""
    if name == "typedbytes":
        return tb.Encoder(**options).encode, tb.Decoder().decode
    library, _, is_sorted = name.partition(" ")
    plain = contenders.codec(library, None)
    if plain is None:
        return None
    encode = plain.dumps
    if library == "orjson":
        import orjson

        flags = orjson.OPT_SERIALIZE_NUMPY | (orjson.OPT_SORT_KEYS if is_sorted else 0)
        encode = functools.partial(encode, option=flags)
    elif library == "ormsgpack":
        import ormsgpack

        encode = functools.partial(encode, option=ormsgpack.OPT_SERIALIZE_NUMPY)
    elif is_sorted:
        from msgspec import msgpack

        encode = msgpack.Encoder(order="deterministic").encode
    return encode, plain.loads


def find(row, path):
    """Return the object of a row and options of ours."""
    if path:
        return of_file(path), {}
    shape = row.removeprefix("long ")
    return (data.SHAPES[shape].items(0, data.LARGE), {}) if shape != row else rows()[row][:2]


def of_file(path):
    """Return what a file of JSON has, or the lines of another."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    return json.loads(text) if path.endswith(".json") else [line for line in text.splitlines() if line[:1] != "#"]


def is_same(decoded, obj):
    """Return whether a value came back as it was, with the classes of the leaves."""
    if type(decoded) is not type(obj):
        return False
    if isinstance(obj, list):
        return len(decoded) == len(obj) and all(map(is_same, decoded, obj))
    if isinstance(obj, dict):
        return decoded.keys() == obj.keys() and all(is_same(decoded[key], obj[key]) for key in obj)
    return obj.tobytes() == decoded.tobytes() if hasattr(obj, "tobytes") else decoded == obj


def time_of(row, path, name, operation, seconds):
    """Return the nanoseconds of a contender for the object, in the process that this is; None if it cannot do it."""
    obj, options = find(row, path)
    functions = contender(name, options if name == "typedbytes" else {})
    if functions is None:
        return None
    encode, decode = functions
    try:
        encoded = encode(obj)
        if operation == "decode" and not is_same(decode(encoded), obj):
            return None
    except Exception:
        return None
    argument, run = (obj, encode) if operation == "encode" else (encoded, decode)
    runner = Runner(name, run, lambda nround: argument, len(encoded), True)
    Race("", operation, row, 1, [runner]).run(seconds)
    return runner.call_ns


def main():
    """Measure and print a line for each row and direction."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", metavar="FOLDER", type=pathlib.Path, help="measure files in place of the rows")
    parser.add_argument("--only", default="", help="measure the rows with this in their names")
    parser.add_argument("--seconds", type=float, default=0.2, help="for each contender in each pass (%(default)s)")
    parser.add_argument("--npasses", type=int, default=2, help="the least time of all is kept (%(default)s)")
    options = parser.parse_args()
    if options.files:
        paths = sorted(each for each in options.files.iterdir() if each.suffix in (".json", ".txt"))
        chosen = [(each.name, str(each), PEERS, "both") for each in paths]
    else:
        chosen = [(name, "", peers, which) for name, (_, _, peers, which) in rows().items()]
        chosen += [(f"long {shape}", "", (*PEERS, "msgpack"), "decode") for shape in LONG]
    print(f"{'':<38}{'ours, us':>10}{'best':>10}{'ratio':>7}  best")
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as process:
        for name, path, peers, which in chosen:
            for operation in ("encode", "decode") if which == "both" else (which,):
                if options.only not in name:
                    continue
                times = {each: [] for each in ("typedbytes", *peers)}
                for _ in range(options.npasses):
                    for each, found in times.items():
                        found.append(process.apply(time_of, (name, path, each, operation, options.seconds)))
                ours, *theirs = [(min(found), each) for each, found in times.items() if None not in found]
                best = min(theirs, default=(float("nan"), "-"))
                print(
                    f"{name:<30}{operation:<8}{ours[0] / 1000:>10,.1f}{best[0] / 1000:>10,.1f}{ours[0] / best[0]:>7.2f}"
                    f"  {best[1]}", flush=True,
                )  # fmt: skip


if __name__ == "__main__":
    main()
