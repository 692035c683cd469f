"""Typed records beside msgspec with the same classes: each row in a process of its own, its contenders in turns there.

    python bench/typed_records.py                the record into bench/results, its page into build/bench; some minutes
    python bench/typed_records.py --only carts   the rows with this in their names, into build/bench
    python bench/typed_records.py --quick        a small round of each, into build/bench

Here: processes, passes, the record. Not here: the rows. Invariant: times are of one run, with the release of what was
decoded or without, whichever is worse for us; exit code 1 where a goal is missed.
"""

import argparse
import json
import multiprocessing
import sys

import typed_rows
from timing import Race, Runner


def main():
    import pages  # not in the processes of the contenders, which import this file: it imports matplotlib
    import tables
    from report import environment

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.5, help="for each contender in each pass (%(default)s)")
    parser.add_argument("--npasses", type=int, default=2, help="the least time of all is kept (%(default)s)")
    parser.add_argument("--only", default="", help="measure the rows with this in their names")
    parser.add_argument("--quick", action="store_true", help="show that this still runs")
    options = parser.parse_args()
    if options.quick:
        options.seconds, options.npasses = 0, 1
    folder = pages.PAGES if options.quick or options.only else pages.RECORDS
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"records-{sys.version_info.major}.{sys.version_info.minor}.json"
    chosen = [row for row in typed_rows.rows() if options.only in row.name]
    write_record(path, environment(), measure(chosen, options.seconds, options.npasses))
    record = pages.read(path)
    print(tables.typed_table(record["typed"]))
    print(pages.write(path))
    if not options.quick and any(not row["met"] for row in record["typed"]):
        sys.exit("goals were missed")


def measure(rows, seconds, npasses):
    """Return the results of rows; of all passes, the least times."""
    times = {}
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as process:
        for npass in range(npasses):
            for row in rows:
                print(npass + 1, row.name, file=sys.stderr)
                for contender, found in process.apply(times_of, (row.name, seconds)).items():
                    kept = times.setdefault((row.name, contender), found)
                    times[row.name, contender] = tuple(map(min, kept, found))
    return [result(row, {name: times[row.name, name] for name in ("typedbytes", *row.forms)}) for row in rows]


def times_of(name, seconds):
    """Return the nanoseconds of each contender for one record, without and with the release of the result.

    Called in the row's process.
    """
    row = next(row for row in typed_rows.rows() if row.name == name)
    runs = {form: row.run(form) for form in ("typedbytes", *row.forms)}
    runners = [Runner(form, lambda _, run=run: run(), lambda nround: None, 0, True) for form, run in runs.items()]
    race = Race("typed", name, name, row.nrecords, runners)
    race.run(seconds * len(runners))
    return {form: (entry["ns"], entry["ns_released"]) for form, entry in race.result()["entries"].items()}


def result(row, entries):
    """Return a row as the record has it: the ratio is to the faster of msgspec's forms."""
    ratios = [
        entries["typedbytes"][i] / min(entry[i] for name, entry in entries.items() if name != "typedbytes")
        for i in range(2)
    ]
    reached = round(max(ratios), 3)
    return {"row": row.name, "goal": row.goal, "reached": reached, "met": reached <= row.goal, "entries": entries}


def write_record(path, environment, results):
    """Write the record, one row a line."""
    lines = ",\n".join(map(json.dumps, results))
    path.write_text(f'{{"environment": {json.dumps(environment)},\n"typed": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
