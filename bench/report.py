"""Measure everything in one run, all contenders in turn, and write what came of it.

    python bench/report.py                 some ten minutes; bench/results/ gets a .json, a .md and the plots of this Python
    python bench/report.py --only decode   what has that in its name
    python bench/report.py --quick         each once and small, into build/: shows that everything here still runs
    python bench/report.py --render        write the .md and the plots of the .json anew

What belongs here: the order of the run, its record, and its tables. What is always true in it: the tables and plots are made
from the record alone.
"""

import argparse
import json
import platform
import subprocess
import sys
from pathlib import Path

import bench_filters
import bench_objects
import bench_streams
import contenders
import data
import goals
import tables

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
QUICK_RESULTS = HERE.parent / "build" / "bench" / "results"
QUICK_SCALE = 0.01
#: Who is measured with many values: the others' times there say nothing new.
LARGE_CONTENDERS = ("typedbytes", "typedbytes stream", "marshal", "msgspec", "pickle")
#: A filter runs for at least so many rounds: whole processes are long, and the same each time.
FILTER_NROUNDS = 3
FEATURES = ("avx2", "avx512bw", "avx512vbmi")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2, help="how long each race goes on (%(default)s)")
    parser.add_argument("--only", default="", help="measure the races with this in their name")
    parser.add_argument("--quick", action="store_true", help="one small round of each")
    parser.add_argument("--render", action="store_true", help="measure nothing")
    parser.add_argument("--results", type=Path, help="the folder for what comes of it")
    arguments = parser.parse_args()

    folder = arguments.results or (QUICK_RESULTS if arguments.quick else RESULTS)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{sys.implementation.name}-{sys.version_info.major}.{sys.version_info.minor}.json"
    if not arguments.render:
        scale, seconds = (QUICK_SCALE, 0) if arguments.quick else (1, arguments.seconds)
        write_record(path, measure(scale, seconds, arguments.only))
    render(path)


def measure(scale, seconds, only):
    """Return the record of a run."""
    results = []
    for level, operation, shape, make in races(scale):
        name = f"{level} {operation} {shape}"
        if only in name:
            print(name, file=sys.stderr)
            race = make()
            race.run(seconds, FILTER_NROUNDS) if level == "filters" else race.run(seconds)
            results.append(race.result())
    return {"environment": environment(), "races": results}


def races(scale):
    """Yield the level, operation and shape of each race, and the function that makes it ready."""
    for level, room in (("objects", bench_objects), ("streams", bench_streams), ("filters", bench_filters)):
        for operation, shape in room.races():
            yield level, operation, shape, lambda room=room, key=(operation, shape): room.race(*key, scale)
    for operation in ("encode", "decode"):
        for shape in data.SHAPES:
            if shape not in data.ALWAYS_LARGE:
                make = lambda key=(operation, shape): bench_objects.race(*key, scale * data.LARGE, LARGE_CONTENDERS)  # noqa: E731
                yield "objects", operation, f"{shape} large", make


def environment():
    """Return what the times depend on."""
    return {
        **contenders.versions(),
        "compiler": platform.python_compiler(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": from_cpuinfo("model name"),
        "features": [feature for feature in FEATURES if feature in from_cpuinfo("flags").split()],
        "commit": commit(),
    }


def from_cpuinfo(key):
    """Return what Linux says of the processor, nothing elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), "")


def commit():
    """Return what was measured, as git names it; nothing outside a checkout."""
    git = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=HERE, capture_output=True, text=True)
    return git.stdout.strip()


def write_record(path, results):
    """Write the record, one race a line."""
    races = ",\n".join(json.dumps(race) for race in results["races"])
    path.write_text(f'{{"environment": {json.dumps(results["environment"])},\n"races": [\n{races}\n]}}\n')


def render(path):
    """Write tables and, where matplotlib is installed, plots beside a record; print the goals."""
    results = json.loads(path.read_text())
    judgements = goals.judge(results)
    path.with_suffix(".md").write_text(tables.page(results, judgements, path.stem))
    print(tables.goal_table(judgements))
    try:
        import plots
    except ModuleNotFoundError:
        print("no plots: matplotlib is not installed", file=sys.stderr)
    else:
        plots.write(results, path)


if __name__ == "__main__":
    main()
