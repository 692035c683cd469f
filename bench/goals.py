"""The goals of a benchmark run, and whether they are met.

Here: limits and the judgement on a run's results. Not here: how anything is measured. Invariant: a ratio is between
times of one run; a goal whose shape was not measured is left out, not met.
"""

from dataclasses import dataclass

from contenders import YARDSTICKS
from data import TEXTS

#: What text is transcoded with, by the number that chooses it.
VECTORS = ("those of every processor", "AVX2", "AVX-512")
MEASURED_PYTHON = "3.11"
#: What other versions of Python may take beyond a limit.
SLACK = 1.1

#: Upper limits of the time, as fractions of that of the faster of marshal and msgspec.
DECODE = {
    "int64": 0.55, "int32": 0.55, "small_int": 0.5, "double": 0.85, "bool": 0.4, "ascii_8": 0.65, "word_pairs": 0.75,
    "tuple_2": 0.75, "wide_int": 0.8, "text_1000": 0.65, "bytes_100": 1.02, "bytes_10k": 1.02, "dict_5": 0.95,
    "dict_100": 0.6, "tuple_keys": 1.0, "nested": 0.45, "none": 1.0, "uint64": 1.0, "bytearray_20": 1.0, "empty": 1.0,
    "ints_5": 1.0, "word_count": 1.0, "deep_20": 1.0, "deep_200": 1.0, "long_keys": 1.0, "many_keys": 1.0,
    "cyrillic_keys": 1.0, **dict.fromkeys(TEXTS, 0.9),
}  # fmt: skip
ENCODE = {
    "int64": 0.5, "int32": 0.75, "small_int": 0.85, "double": 1.05, "bool": 0.7, "ascii_8": 1.0, "word_pairs": 0.95,
    "text_100": 0.6, "text_1000": 0.6, "bytes_100": 1.02, "bytes_1k": 1.02, "bytes_10k": 1.02, "dict_5": 0.85,
    "list_50": 0.75, "none": 1.0, "large_pairs": 0.9, "large_double": 0.9, "uint64": 1.0, "bytearray_20": 1.0,
    "empty": 1.0, "ints_5": 1.0, "word_count": 1.0, "deep_20": 1.0, "deep_200": 1.0, "long_keys": 1.0,
    "cyrillic_keys": 1.0, **dict.fromkeys(TEXTS, 0.9),
}  # fmt: skip
#: The same with vectors of 512 bits.
DECODE_WIDE = {"text_1000": 0.4}

#: Values that are written as pickles: times at most, as parts of those of pickle itself,
#: for a list and for one value at a time.
PICKLED_LIST = {
    "date": 1,
    "datetime": 1,
    "datetime_zone": 1,
    "decimal": 0.5,
    "uuid": 1,
    "int_2048": 0.5,
    "set_100": 1,
    "row_8": 0.5,
}
PICKLED_EACH = 0.5

#: Nanoseconds at most for a key or a value of a stream.
STREAMS = {
    ("read file", "typedbytes"): 20,
    ("read pipe", "typedbytes"): 20,
    ("copy file", "typedbytes"): 30,
    ("copy pipe", "typedbytes"): 30,
    ("copy file", "typedbytes bulk"): 12,
    ("copy pipe", "typedbytes bulk"): 12,
}
STREAM_SHAPES = ("bool", "small_int")

#: Columns: times at most, as parts of those of the better of our objects and msgspec.
COLUMNS = {
    ("decode columns", "int_double", "columns, two arrays"): 1 / 25,
    ("decode columns", "word_long", "columns, two arrays"): 1 / 10,
    ("encode columns", "int_double", "columns, to a sink"): 1 / 15,
}
#: Columns: time at most on two threads, as a part of that on one; both by the clock, so a busy machine misses it.
COLUMN_THREADS = {"int_double": 1 / 1.7}
#: Columns: nanoseconds at most for a kilobyte of typed bytes.
COLUMN_SPEEDS = {
    ("decode columns", "int_double", "columns, two arrays"): 1000 / 1.5,
    ("scan", "int_double", "count"): 1000 / 3,
    ("scan", "word_long", "count"): 1000 / 1,
    ("decode nested columns", "row", "columns, released"): 1000 / 4,
    ("decode nested columns", "map_three_longs", "columns, released"): 1000 / 4,
    ("decode nested columns", "struct_six_fields", "columns, released"): 1000 / 4,
    ("decode nested columns", "list_five_doubles", "columns, released"): 1000 / 6,
}

IMPORT_MS = 8

#: CPU seconds of whole filters with the fastest of the older libraries, under Python 2.7, on another machine. Four
#: figures are estimates: float_100k is taken to be as fast as double_100k, and gb_single as an empty process of theirs;
#: beyond an empty process, bytes_10k takes ten times as long as bytes_1k, and gb_100k ten times as long as a tenth of
#: it did. In the string rows the fastest leave text undecoded.
PREDECESSOR = {
    "double_100k": 0.037, "float_100k": 0.037, "bool_100k": 0.047, "byte_100k": 0.038, "int_100k": 0.055,
    "long_100k": 0.207, "gb_100k": 0.977, "list_50": 0.132, "tuple_50": 0.138, "dict_50": 0.132, "bytes_100_10k": 0.015,
    "bytes_1k_10k": 0.030, "bytes_10k_10k": 0.147, "string_100_10k": 0.0245, "string_1k_10k": 0.061,
    "string_10k_10k": 0.271, "gb_single": 0.017,
}  # fmt: skip
#: An empty process of today's Python on that machine: to carry the figures over,
#: they are scaled by the ratio of empty processes.
PREDECESSOR_EMPTY = 0.011
#: What it took there to load and dump the same objects by marshal, in one call each.
PREDECESSOR_MARSHAL = {
    "int_100k": 0.0160, "double_100k": 0.0062, "bool_100k": 0.0040, "list_50": 0.0782, "string_100_10k": 0.0193,
}  # fmt: skip


#: The loop with the names of the older libraries: time at most, as a part of the natural loop's and
#: of the older libraries'.
DROP_IN_TO_LOOP = 1.3
DROP_IN_TO_OLDER = 0.9
DROP_IN = ("typedbytes drop-in", "typedbytes drop-in bulk", "typedbytes drop-in unbuffered")


@dataclass(frozen=True)
class Judgement:
    """One goal and what came of it, in one unit; `released` is the same with the release of what was decoded."""

    what: str
    unit: str
    limit: float
    reached: float
    released: float = None

    @property
    def met(self):
        return self.reached <= self.limit


def judge(results):
    """Return the judgements on a run's results, in the order of the goals."""
    races = {(race["operation"], race["shape"]): race["entries"] for race in results["races"]}
    slack = 1 if results["environment"]["python"].startswith(MEASURED_PYTHON + ".") else SLACK
    wide = (
        "avx512bw" in results["environment"]["features"]
        and results["environment"].get("vectors", VECTORS[2]) == VECTORS[2]
    )
    return [
        *judge_ratios(races, "decode", {**DECODE, **(DECODE_WIDE if wide else {})}, slack),
        *judge_ratios(races, "encode", ENCODE, slack),
        *judge_pickles(races, slack),
        *judge_calls(races, slack),
        *judge_streams(races, slack),
        *judge_columns(races, results),
        *judge_import(races, slack),
        *judge_filters(results),
    ]


def judge_ratios(races, operation, limits, slack):
    """Yield the judgements on whole lists."""
    for shape, limit in limits.items():
        entries = races.get((operation, shape))
        if entries:
            ours = entries["typedbytes stream" if shape == "word_pairs" else "typedbytes"]
            yield ratio(
                f"{operation} {shape}", limit * slack, ours, [entries[name] for name in YARDSTICKS if name in entries]
            )


def judge_pickles(races, slack):
    """Yield the judgements on values that are written as pickles."""
    for (operation, shape), entries in races.items():
        if shape in PICKLED_LIST and "pickle" in entries and operation.partition(" ")[0] in ("decode", "encode"):
            limit = PICKLED_EACH if operation.endswith("each") else PICKLED_LIST[shape]
            yield ratio(f"{operation} {shape} / pickle", limit * slack, entries["typedbytes"], [entries["pickle"]])


def judge_calls(races, slack):
    """Yield the judgements on calls for one value each, by functions and by objects that are kept."""
    for (operation, shape), entries in races.items():
        for ours, theirs in (("typedbytes", "msgspec"), ("typedbytes functions", "msgspec functions")):
            if operation.endswith("each") and theirs in entries:
                yield ratio(f"{operation} {shape}: {ours} / {theirs}", slack, entries[ours], [entries[theirs]])


def ratio(what, limit, ours, yardsticks):
    """Judge a time as a part of the least of some others."""
    reached, released = (ours[key] / min(entry[key] for entry in yardsticks) for key in ("ns", "ns_released"))
    return Judgement(what, "", limit, reached, released if what.startswith("decode ") else None)


def judge_streams(races, slack):
    """Yield the judgements on streams."""
    for (operation, contender), limit in STREAMS.items():
        for shape in STREAM_SHAPES:
            if (operation, shape) in races:
                entry = races[operation, shape][contender]
                yield Judgement(f"{operation} {shape}: {contender}", "ns", limit * slack, entry["ns"])


def judge_columns(races, results):
    """Yield the judgements on columns: ratios to objects of the same values, and bytes in a time."""
    for (operation, shape, contender), limit in COLUMNS.items():
        entries = races.get((operation, shape))
        if entries:
            yardsticks = [entries[name] for name in ("typedbytes", "msgspec") if name in entries]
            yield ratio(f"{operation} {shape}: {contender}", limit, entries[contender], yardsticks)
    for shape, limit in COLUMN_THREADS.items():
        entries = races.get(("decode columns", shape))
        if entries:
            one, two = entries["columns, batches"], entries["columns, batches, 2 threads"]
            yield ratio(f"decode columns {shape}: two threads / one", limit, two, [one])
    for race in results["races"]:
        for contender, entry in race["entries"].items():
            limit = COLUMN_SPEEDS.get((race["operation"], race["shape"], contender))
            if limit is not None:
                reached = 1000 * entry["ns"] * race["nvalues"] / entry["nbytes"]
                yield Judgement(f"{race['operation']} {race['shape']}: {contender}", "ns/kB", limit, reached)


def judge_import(races, slack):
    """Yield the judgements on the start."""
    entries = races.get(("import", "start"))
    if entries:
        reached = (entries["typedbytes"]["ns"] - entries["empty process"]["ns"]) / 1e6
        yield Judgement("import typedbytes", "ms", IMPORT_MS * slack, reached)


def judge_filters(results):
    """Yield the judgements on the 17 files: a filter of every pair, beside the older libraries' figure."""
    for name, seconds in filter_seconds(results).items():
        yield Judgement(f"filter {name}", "s", seconds["older"], seconds["typedbytes"])
        limit = min(DROP_IN_TO_LOOP * seconds["typedbytes"], DROP_IN_TO_OLDER * seconds["older"])
        for contender in DROP_IN:
            if contender in seconds:
                yield Judgement(f"filter {name}: {contender}", "s", limit, seconds[contender])


def filter_seconds(results):
    """Return CPU seconds by file and by contender, the fastest of the older libraries among them."""
    found = {}
    for race in results["races"]:
        if race["operation"] == "filter":
            seconds = {name: entry["ns"] * race["nvalues"] / 1e9 for name, entry in race["entries"].items()}
            seconds["older"] = PREDECESSOR[race["shape"]] * seconds["empty process"] / PREDECESSOR_EMPTY
            found[race["shape"]] = seconds
    return found


def older_to_marshal(name):
    """Return the older libraries' time as a part of a marshal filter's on the same machine, or None."""
    if name in PREDECESSOR_MARSHAL:
        return PREDECESSOR[name] / (PREDECESSOR_EMPTY + PREDECESSOR_MARSHAL[name])
    return None
