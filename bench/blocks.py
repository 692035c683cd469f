"""Measure block messages beside what moves such data otherwise, in one run, all in turn.

    python bench/blocks.py                 some minutes; into bench/results/blocks.json, its page into build/bench/
    python bench/blocks.py --only bytes    the rows with this in their name; the record is in build/bench/ too
    python bench/blocks.py --quick         each row once and small, likewise

Here: rows and their contenders. Invariant: a row's contenders are measured in turn within each round; a JVM has
answered 5,000 messages before it is measured; times are p50 by the clock that never goes back. Baselines named
"published" are our own re-implementations of published algorithms, in Python as there; Py4J, pyarrow and
multiprocessing.connection are themselves.
"""

import argparse
import array
import contextlib
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(HERE)]

import block_rows  # noqa: E402
import pages  # noqa: E402
import tables  # noqa: E402

ENOUGH, SLOW_NS = 3, 3e8  # a contender this slow, and many times slower than the best, is measured this often


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="measure the rows with this in their name")
    parser.add_argument("--quick", action="store_true", help="show that this still runs")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each row goes on (%(default)s)")
    arguments = parser.parse_args()
    folder = pages.PAGES if arguments.quick or arguments.only else pages.RECORDS
    folder.mkdir(parents=True, exist_ok=True)
    results, processors = [], os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as stack:
        peers = block_rows.Peers(stack, Path(scratch), quick=arguments.quick)
        for row in block_rows.rows(peers):
            if arguments.only in row.name:
                os.sched_setaffinity(0, {max(processors)} if row.one_cpu else processors)
                results.append(measure(row, 0 if arguments.quick else arguments.seconds))
                print(*map(" | ".join, tables.block_rows(results[-1:])), sep="\n", flush=True)
    path, lines = folder / "blocks.json", ",\n".join(map(json.dumps, results))
    path.write_text(f'{{"environment": {json.dumps(environment())},\n"rows": [\n{lines}\n]}}\n')
    print(pages.write(path))


def measure(row, seconds):
    """Run the contenders of a row in turn, and return the times of each."""
    runs = {name: call for name, call in row.contenders().items() if call is not None}
    times = {name: array.array("d") for name in runs}  # a list of floats would take new pages while times are measured
    hopeless = set()
    deadline = time.monotonic() + seconds * len(runs)
    while True:
        for name, call in runs.items():
            if name in hopeless:
                continue
            for _ in range(1 if seconds == 0 else row.turn):
                started = time.perf_counter_ns()
                found = call() or 1
                took = time.perf_counter_ns() - started
                times[name].extend(found if isinstance(found, list) else [took / found])
                if took > 5e8:
                    break
        least = {name: min(found) for name, found in times.items() if found}
        limit = max(5 * min(least.values()), SLOW_NS)
        hopeless |= {name for name in runs if least[name] > limit and len(times[name]) >= ENOUGH}
        if time.monotonic() > deadline:
            break
    entries = {name: summary(found) for name, found in times.items()}
    return {"row": row.name, "goal": row.judge(entries), "entries": entries}


def summary(times):
    """Return the figures of a contender, in nanoseconds."""
    times = sorted(times)
    return {
        "p50": statistics.median(times),
        "mean": statistics.fmean(times),
        "min": times[0],
        "p99": times[min(len(times) - 1, int(len(times) * 0.99))],
        "n": len(times),
    }


def environment():
    """Return what the times depend on."""
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "commit": pages.commit(),
    }


if __name__ == "__main__":
    main()
