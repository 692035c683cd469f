"""Measure everything in one run, all contenders in turn, and write the results.

    python bench/report.py                 a quarter of an hour; into bench/results/, with a page in build/bench/
    python bench/report.py --only decode   what has that in its name; the record is in build/bench/ too
    python bench/report.py --vectors 1     text alone, as on a processor without AVX-512; a record of its own
    python bench/report.py --quick         a small round of the first race of each kind, into build/bench/

Here: the order of the run, and its record. Invariant: pages are made from the record alone, and bench/results/ holds
the records of whole runs, and of all races of `--vectors`.
"""

import argparse
import json
import multiprocessing
import platform
import sys
from functools import partial
from pathlib import Path

import bench_columns
import bench_filters
import bench_objects
import bench_streams
import contenders
import data
import goals
import pages
import tables
from timing import MIN_NROUNDS, Race
from typedbytes import _core

QUICK_SCALE = 0.01
LEVELS = {"objects": bench_objects, "streams": bench_streams, "filters": bench_filters, "columns": bench_columns}
#: Contenders measured with many values; the others' times add nothing.
LARGE_CONTENDERS = ("typedbytes", "typedbytes stream", "marshal", "msgspec", "pickle")
#: Minimum rounds of a filter: a whole process takes long and varies little.
FILTER_NROUNDS = 5
#: What the processor can do that times and goals depend on.
FEATURES = ("avx2", "avx512bw", "avx512vbmi")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.5, help="how long each race goes on (%(default)s)")
    parser.add_argument(
        "--npasses",
        type=int,
        default=2,
        help="number of passes; the least time of all is kept, so a busy machine matters less (%(default)s)",
    )
    parser.add_argument("--only", default="", help="measure the races with this in their name")
    parser.add_argument("--quick", action="store_true", help="show that this still runs")
    parser.add_argument(
        "--vectors", type=int, help="widest vectors for text: 0 none, 1 AVX2, 2 AVX-512 (the widest available)"
    )
    arguments = parser.parse_args()

    in_use = _core._limit_vectors(2 if arguments.vectors is None else arguments.vectors)
    vectors = goals.VECTORS[in_use]
    folder = pages.PAGES if arguments.quick or arguments.only else pages.RECORDS
    folder.mkdir(parents=True, exist_ok=True)
    limit = "" if arguments.vectors is None else f"-vectors-{in_use}"
    path = folder / f"{sys.implementation.name}-{sys.version_info.major}.{sys.version_info.minor}{limit}.json"
    if arguments.quick:
        write_record(path, measure(first_of_each(races(QUICK_SCALE)), 0, 1, vectors))
    else:
        chosen = [race for race in races() if arguments.only in " ".join(race[:3])]
        if limit:
            chosen = [race for race in chosen if is_vectorised(*race[:3])]
        write_record(path, measure(chosen, arguments.seconds, arguments.npasses, vectors))
        print(tables.goal_table(goals.judge(pages.read(path))))
    print(pages.write(path))


def races(scale=1):
    """Yield the level, operation and shape of each race, and the function that makes it ready."""
    for level, bench in LEVELS.items():
        for operation, shape in bench.races():
            yield level, operation, shape, partial(make_race, level, operation, shape, scale)
    for operation in ("encode", "decode"):
        for shape in data.SHAPES:
            if shape not in data.ALWAYS_LARGE:
                make = partial(make_race, "objects", operation, shape, scale * data.LARGE, LARGE_CONTENDERS)
                yield "objects", operation, f"{shape} large", make


def is_vectorised(level, operation, shape):
    """Tell whether a race is one of those that are run with other vectors."""
    return level == "objects" and operation in ("encode", "decode") and shape.split()[0] in data.VECTORISED


def make_race(level, operation, shape, scale, wanted=None):
    """Return the race of all contenders that can do this, or of those wanted."""
    bench = LEVELS[level]
    names = [name for name in bench.names(operation, shape) if wanted is None or name in wanted]
    runners = [bench.runner(operation, shape, name, scale) for name in names]
    title = f"{shape} large" if wanted else shape
    return Race(
        level, operation, title, bench.nvalues(operation, shape, scale), [runner for runner in runners if runner]
    )


def first_of_each(races):
    """Yield the first race of each operation."""
    return {operation: (level, operation, *rest) for level, operation, *rest in reversed(list(races))}.values()


def measure(races, seconds, npasses, vectors):
    """Return the record of a run; of all passes, the least times."""
    results = {}
    for npass in range(npasses):
        for *name, make in races:
            print(npass + 1, *name, file=sys.stderr)
            with multiprocessing.get_context("fork").Pool(1) as process:
                result = process.apply(run_race, (make, seconds))
            keep_least(results.setdefault(tuple(name), result), result)
    return {"environment": {**environment(), "vectors": vectors, "passes": npasses}, "races": list(results.values())}


def run_race(make, seconds):
    """Return the result of a race, run in a process of its own.

    A process that has run other races has a fragmented heap, which would scatter the first contender's data. The main
    thread forks each: a child of another thread goes on with that thread's heap, which the C library gives back to
    the system more eagerly.
    """
    race = make()
    race.run(seconds, FILTER_NROUNDS if race.level == "filters" else MIN_NROUNDS)
    return race.result()


def keep_least(kept, result):
    """Take over the times of a result that are less than those kept."""
    for name, entry in result["entries"].items():
        for key in ("ns", "ns_released"):
            kept["entries"][name][key] = min(kept["entries"][name][key], entry[key])


def environment():
    """Return what the times depend on."""
    return {
        **contenders.versions(),
        "compiler": platform.python_compiler(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": from_cpuinfo("model name"),
        "features": [feature for feature in FEATURES if feature in from_cpuinfo("flags").split()],
        "commit": pages.commit(),
    }


def from_cpuinfo(key):
    """Return what Linux says of the processor, nothing elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), "")


def write_record(path, results):
    """Write the record, one race a line."""
    fields = list(next(iter(results["races"][0]["entries"].values())))
    rows = [
        {**race, "entries": {name: list(entry.values()) for name, entry in race["entries"].items()}}
        for race in results["races"]
    ]
    races = ",\n".join(map(json.dumps, rows))
    head = f'{{"environment": {json.dumps(results["environment"])},\n"fields": {json.dumps(fields)},\n'
    path.write_text(f'{head}"races": [\n{races}\n]}}\n')


if __name__ == "__main__":
    main()
