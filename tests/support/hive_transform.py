"""The query and the script of the guide to TRANSFORM, and rows of every type of its table, by a real Hive.

    make test-hive

Here: the tables. Not here: Hive, which `test_vectors/java/hive` starts. Invariant: what runs is the text of the guide.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test_vectors" / "java"))

import jars  # noqa: E402

GUIDE = (ROOT / "docs" / "guides" / "hive-transform.md").read_text("utf-8")
SCORES = "ann\x0111\neve\x011099511627776\nbob\x01\\N\nzo\u00eb\x019\n"
FOUND = ["ann\t11", "eve\t1099511627776"]
TYPES = ["TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "BOOLEAN", "STRING"]
ROWS = [
    ["-128", "-32768", "-2147483648", "-9223372036854775808", "-1.5", "-1.0E300", "false", "\u20ac"],
    ["127", "32767", "2147483647", "9223372036854775807", "0.5", "0.1", "true", "NULL"],
]
COPY = """\
import sys
from typedbytes import hive

with hive.RowWriter(sys.stdout.buffer, sys.argv[1]) as out:
    for *numbers, text in hive.read_rows(sys.stdin.buffer):
        out.write((*numbers, text or "NULL"))
"""


def main():
    script, query = _block("python\n# best.py"), _block("sql")
    columns = ", ".join(f"c{number} {name}" for number, name in enumerate(TYPES))
    transform = query[query.index("SELECT") : query.rindex(";")]
    everything = transform.replace("name, COALESCE(points, 0)", "*").replace("FROM scores", "FROM every_type")
    everything = everything.replace("python3 best.py", f'python3 copy.py "{columns}"').replace(
        "name STRING, points BIGINT", columns
    )
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "best.py").write_text(script)
        (here / "copy.py").write_text(COPY)
        (here / "scores").write_text(SCORES)
        (here / "every_type").write_text(
            "".join("\x01".join(row).replace("NULL", "\\N") + "\n" for row in ROWS), "utf-8"
        )
        statements = []
        for name, kinds in (("scores", "name STRING, points BIGINT"), ("every_type", columns)):
            statements += [f"CREATE TABLE {name} ({kinds})", f"LOAD DATA LOCAL INPATH '{name}' INTO TABLE {name}"]
        statements += [*map(str.strip, query.split(";")[:-2]), "ADD FILE copy.py", transform, everything]
        command = jars.hive_command(here, *statements)
        (contrib,) = (jars.BUILD / "hive-jars").glob("hive-contrib-*.jar")
        (here / "hive-contrib.jar").symlink_to(contrib)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    found = done.stdout.splitlines()
    if done.returncode or found != [*FOUND, *map("\t".join, ROWS)]:
        sys.exit(f"{done.stderr}\n{done.stdout}")
    print(f"hive: {len(found)} rows of the guide's query and of {len(TYPES)} types agree")


def _block(start):
    """Return the code block of the guide that starts so."""
    return re.search(f"```{re.escape(start)}\n(.*?)```", GUIDE, re.DOTALL)[1]


if __name__ == "__main__":
    main()
