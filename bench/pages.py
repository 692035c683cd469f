"""The records in bench/results as pages and plots, which the site shows.

    python bench/pages.py          the pages of all records, into build/bench/

Here: how a record is read, and the commit that it names. Not here: which numbers are in which table or plot.
"""

import json
import subprocess
from pathlib import Path

import goals
import plots
import tables

HERE = Path(__file__).resolve().parent
RECORDS = HERE / "results"
PAGES = HERE.parent / "build" / "bench"


def commit():
    """Return what was measured, as git names it; nothing outside a checkout."""
    git = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=HERE, capture_output=True, text=True)
    return git.stdout.strip()


def read(path):
    """Return a record, in which each entry of a race has its fields by name."""
    record = json.loads(path.read_text())
    for race in record.get("races", ()):
        race["entries"] = {name: dict(zip(record["fields"], entry)) for name, entry in race["entries"].items()}
    return record


def write(path):
    """Write the page of a record, and its plots beside it; return the path of the page."""
    record, target = read(path), PAGES / f"{path.stem}.md"
    PAGES.mkdir(parents=True, exist_ok=True)
    if "rows" in record:
        target.write_text(tables.block_page(record))
    elif "typed" in record:
        target.write_text(tables.typed_page(record))
    else:
        target.write_text(tables.page(record, goals.judge(record), path.stem))
        plots.write(record, target)
    return target


if __name__ == "__main__":
    for path in sorted(RECORDS.glob("*.json")):
        print(write(path))
