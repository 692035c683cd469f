"""Writes expected_python2.json: what the original dumbo and hadoopy make of the scripts beside this file.

    python expect_python2.py PYTHON2 DUMBO HADOOPY

PYTHON2 is a Python 2.7; DUMBO and HADOOPY are checkouts of their sources (Apache License 2.0, GPL 3), the second after
`PYTHON2 setup.py build_ext --inplace`. Each sorts between map and reduce in an order of its own.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"
FILES = {
    "in.txt": "To be or not to be\nthat is the question\nto sleep to dream\nay there is the rub\n",
    "names": "1 Bern\n2 Oslo\n3 Rome\n",
    "visits": "1 5\n2 7\n1 6\n4 1\n",
}
DUMBO = [
    ("dumbo_words.py", ["-least", "2", "-param", "skipped=is", "-input", "in.txt"]),
    ("dumbo_words.py", ["-least", "4", "-input", "in.txt"]),
    ("dumbo_steps.py", ["-input", "in.txt"]),
    ("dumbo_join.py", ["-input", "names", "-input", "visits"]),
]


def main(python, *checkouts):
    """Run the originals on each case."""
    folder_of_python = f"{os.path.dirname(python)}:{os.environ['PATH']}"
    environs = [{**os.environ, "PYTHONPATH": each, "PATH": folder_of_python} for each in checkouts]
    found = []
    start = [python, "-c", "from dumbo.cmd import dumbo; dumbo()", "start"]
    for script, words in DUMBO:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in FILES.items():
                Path(folder, name).write_text(text)
            command = [*start, SCRIPTS / script, *words, "-output", "out"]
            subprocess.run(command, cwd=folder, check=True, env=environs[0])
            output = Path(folder, "out").read_text()
        found.append({"script": script, "words": words, "output": output})
    driven = subprocess.check_output([python, SCRIPTS / "hadoopy_drive.py"], env=environs[1], text=True)
    commits = [
        subprocess.check_output(["git", "-C", each, "rev-parse", "HEAD"], text=True).strip() for each in checkouts
    ]
    by = f"dumbo {commits[0]} and hadoopy {commits[1]}, by Python 2.7"
    with open(SCRIPTS.parent / "expected_python2.json", "w") as file:
        json.dump({"by": by, "files": FILES, "dumbo": found, "hadoopy": driven}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
