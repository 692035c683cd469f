"""What the two demos share: their folder, and Python's standard library as text."""

import argparse
import shutil
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: Marks a folder that a demo has made.
MADE = "made-by-demo"

#: Hadoop likes few large files: the sources are packed into files of about this size, one map task each.
INPUT_FILE_NBYTES = 8 << 20


def demo_folder(description, name):
    """Give the folder for input and output that the command line names, emptied of an earlier demo's."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / name, help="where input and output go")
    folder = parser.parse_args().folder.resolve()
    make_empty(folder)
    return folder


def make_empty(folder):
    """Make the folder, or empty it of what an earlier demo has put there, and exit when it holds anything else."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()) and not (folder / MADE).exists():
        sys.exit(f"{folder} holds what no demo has made: name an empty folder, or one that is not there yet")
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
    (folder / MADE).touch()


def standard_library():
    """Give the source files of the standard library: everything but what was installed beside it."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    beside = {"site-packages", "dist-packages", "__pycache__"}
    return sorted(path for path in stdlib.rglob("*.py") if not beside.intersection(path.relative_to(stdlib).parts))


def pack(sources, folder):
    """Copy the files into a few large ones, each file ending its last line; give the number of bytes."""
    folder.mkdir()
    nbytes = 0
    for source in sources:
        with open(folder / f"sources-{nbytes // INPUT_FILE_NBYTES}.txt", "ab") as packed:
            nbytes += packed.write(source.read_bytes() + b"\n")
    return nbytes


if __name__ == "__main__":
    print(__doc__)
