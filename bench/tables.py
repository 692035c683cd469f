"""A record as tables in Markdown.

Here: which numbers are in which column. Not here: how anything is measured.
"""

import goals
from contenders import CONTENDERS, YARDSTICKS

#: How titles call the vectors that text was measured with.
TEXT_BY = {"those of every processor": "without AVX2", "AVX2": "without AVX-512", "AVX-512": "with AVX-512"}
OPERATIONS_BOTH = ("decode", "encode")
OPERATIONS = {
    "decode": "Decode: a whole list in one call",
    "encode": "Encode: a whole list in one call",
    "decode each": "Decode: a call for each item",
    "encode each": "Encode: a call for each item",
    "read file": "Streams: read pairs from a file",
    "read pipe": "Streams: read pairs from a pipe",
    "write file": "Streams: write pairs to a file",
    "copy file": "Streams: read pairs from a file and write them to another",
    "copy pipe": "Streams: read pairs from a pipe and write them to a file",
    "decode columns": "Columns: two million pairs to arrays",
    "encode columns": "Columns: two million pairs from arrays",
    "scan": "Columns: structure of two million pairs",
}


#: What the first table of the benchmarks has, and how it calls it.
SUMMARY = {
    "int64": "64-bit ints", "int32": "32-bit ints", "small_int": "ints below 256", "double": "doubles", "bool": "bools",
    "ascii_8": "ASCII text of 8", "text_1000": "other text of 1,000", "bytes_100": "100 bytes",
    "word_pairs": "(word, 1) pairs", "dict_5": "dicts of 5", "nested": "nested records", "date": "dates",
    "decimal": "Decimals", "uuid": "UUIDs", "row_8": "database rows of 8, a field",
}  # fmt: skip


def summary(results):
    """Return the table of what most users have: nanoseconds a value, to decode and to encode."""
    races = {(race["operation"], race["shape"]): race["entries"] for race in results["races"]}
    names = {"typedbytes": (), "marshal": (), "msgspec": ("msgspec typed",), "msgpack": (), "pickle": ()}
    rows = []
    for shape, label in SUMMARY.items():
        row = [label]
        for name, others in names.items():
            found = [each for each in (name, *others) if each in races["decode", shape]][:1]
            times = [races[operation, shape][each]["ns"] for each in found for operation in OPERATIONS_BOTH]
            times = [f"{time:,.0f}" if time >= 100 else number(time, "") for time in times]
            row.append(" / ".join(times) + ("*" if found and found[0] != name else ""))
        rows.append(row)
    return table(("decode / encode, ns", *names), rows)


def page(results, judgements, name):
    """Return the whole report."""
    return "\n".join(
        [
            title_of(results["environment"]),
            "",
            "Made by `make bench`. Times are the least CPU time of many rounds, in which all contenders ran in turn; "
            "`bench/README.md` says how they are taken. An asterisk: what came back is not equal to what went in.",
            "",
            *about(results["environment"]),
            "",
            f"![Plot: the time of each library, divided by the better of marshal and msgspec]({name}-objects.svg)",
            "",
            "## Goals",
            "",
            goal_table(judgements),
            *filter_section(results, name),
            *import_section(results),
            *(line for operation, title in OPERATIONS.items() for line in section(results, operation, title)),
        ]
    )


def title_of(environment):
    """Return the title of a page."""
    return f"# CPython {environment['python'].rpartition('.')[0]}, text {TEXT_BY[environment['vectors']]}"


def about(environment):
    """Yield what the times depend on."""
    for key, value in environment.items():
        yield f"- {key}: {', '.join(value) if isinstance(value, list) else value}"


def goal_table(judgements):
    """Return all goals, met and missed; a column of its own counts in the release of what was decoded."""
    met = sum(judgement.met for judgement in judgements)
    rows = [
        (j.what, number(j.limit, j.unit), number(j.reached, j.unit), number(j.released, j.unit), verdict(j))
        for j in judgements
    ]
    head = ("goal", "at most", "reached", "with release", "")
    return f"{met} of {len(judgements)} met.\n\n" + table(head, rows)


def verdict(judgement):
    """Say whether a goal was met, and if not, by how much it was missed."""
    return "met" if judgement.met else f"**missed by {judgement.reached / judgement.limit - 1:.0%}**"


def number(value, unit):
    """Return a number with three digits or so; nothing for None."""
    if value is None:
        return ""
    digits = 3 if unit == "s" else 2 if value < 10 else 1
    return f"{value:.{digits}f} {unit}".rstrip()


def section(results, operation, title):
    """Yield the tables of one operation: nanoseconds for a value, and ratios to the better yardstick."""
    races = [race for race in results["races"] if race["operation"] == operation]
    if races:
        names = [name for name in columns(races) if any(name in race["entries"] for race in races)]
        yield from ("", f"## {title}", "", "Nanoseconds for a value.", "")
        yield table(("shape", *names), ([race["shape"], *cells(race, names, 1)] for race in races))
        if races[0]["level"] == "objects":
            yield from (
                "",
                f"Ratios to the better of {' and '.join(YARDSTICKS)}, or to pickle where neither has the values.",
                "",
            )
            yield table(("shape", *names), ([race["shape"], *cells(race, names, yardstick(race))] for race in races))


def columns(races):
    """Return the contenders of some races in the order in which they are listed."""
    return list(dict.fromkeys([*CONTENDERS, *(name for race in races for name in race["entries"])]))


def yardstick(race):
    """Return the time of the better yardstick, or of pickle where neither has the values."""
    found = [race["entries"][name]["ns"] for name in YARDSTICKS if name in race["entries"]]
    return min(found) if found else race["entries"]["pickle"]["ns"]


def cells(race, names, unit):
    """Yield the times of a race as multiples of a unit."""
    for name in names:
        entry = race["entries"].get(name)
        yield "" if entry is None else f"{number(entry['ns'] / unit, '')}{'' if entry['correct'] else '*'}"


def filter_section(results, name):
    """Yield the table of whole filters."""
    seconds = goals.filter_seconds(results)
    if seconds:
        contenders = list(next(iter(seconds.values())))
        yield from ("", "## Filters: a whole process from file to file", "")
        yield "CPU seconds. `older` is what the fastest of the older libraries took on another machine, carried over by"
        yield "what an empty process took on both; at the right, parts of what the marshal filter took on the same"
        yield "machine."
        yield from ("", f"![Plot: the time of each filter, divided by that of marshal]({name}-filters.svg)", "")
        head = ("file", *contenders, "typedbytes / marshal", "older / marshal")
        yield table(head, (filter_row(file, seconds[file]) for file in seconds))


def filter_row(name, seconds):
    """Return a row of CPU seconds."""
    ratios = seconds["typedbytes"] / seconds["marshal"], goals.older_to_marshal(name)
    return [name, *(f"{value:.4f}" for value in seconds.values()), *(number(ratio, "") for ratio in ratios)]


def import_section(results):
    """Yield the table of what it takes to start."""
    for race in results["races"]:
        if race["operation"] == "import":
            times = {name: entry["ns"] / 1e6 for name, entry in race["entries"].items()}
            empty = times.pop("empty process")
            yield from ("", "## Starting up", "")
            yield from (f"Milliseconds of CPU time to import, beyond the {empty:.1f} of an empty process.", "")
            yield table(("module", "ms"), ([name, number(time - empty, "")] for name, time in times.items()))


def block_page(record):
    """Return the report of block messages."""
    head = ("row", "contender", "p50", "min", "p99", "goal")
    return "\n".join(
        ["# Block messages", "", *about(record["environment"]), "", table(head, block_rows(record["rows"])), ""]
    )


def block_rows(results):
    """Yield a line of the table for each contender of each row."""
    for result in results:
        for name, entry in result["entries"].items():
            yield (
                result["row"],
                name,
                *(duration(entry[key]) for key in ("p50", "min", "p99")),
                result["goal"].get(name, ""),
            )


def typed_page(record):
    """Return the report of typed records."""
    return "\n".join(
        [
            "# Typed records beside msgspec",
            "",
            "Made by `make -C bench typed`. Nanoseconds of CPU time for one record, with the release of what was "
            "decoded, each contender in a process of its own; `bench/README.md` says more.",
            "",
            *about(record["environment"]),
            "",
            typed_table(record["typed"]),
            "",
        ]
    )


def typed_table(results):
    """Return all rows with their goals. The ratio is to the faster form of msgspec, with the release or without."""
    head = ("row", "typedbytes", "msgspec", "ratio", "goal", "")
    return f"{sum(result['met'] for result in results)} of {len(results)} met.\n\n" + table(
        head, map(typed_row, results)
    )


def typed_row(result):
    """Return the line of a row."""
    ours, *theirs = ((name, number(entry[1], "")) for name, entry in result["entries"].items())
    shown = theirs[0][1] if len(theirs) == 1 else ", ".join(f"{ns} ({name})" for name, ns in theirs)
    verdict = "met" if result["met"] else "**missed**"
    return result["row"], ours[1], shown, f"{result['reached']:.2f}", f"{result['goal']}", verdict


def duration(nanoseconds):
    """Return a time as a person writes it."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def table(head, rows):
    """Return a table in Markdown, numbers to the right."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
