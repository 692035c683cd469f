"""Writes expected.json: what the original mrjob makes of the scripts beside this file.

    python expect.py            by a Python with mrjob 0.7.4 (Apache License 2.0), such as 3.11

The output is that of its part files in the order of their names; its own runner prints them in the order of the folder.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TEXT = (
    "To be, or not to be\nthat is the question\nskip this line\n"
    "to sleep, to dream: ay, there's the rub\nÜber alles be\n"
)
PAIRS = '"b"\t[1, "x"]\n"a"\t{"y": 2}\n"b"\tnull\n[1, 2]\t1.5\n"a"\t{"y": 2}\n'
PLAIN = "b\tone\na\ttwo words\nno value\nb\tthree\nlatin \udce9\tfour\n"
REPR = "'b'\t(1, 'x')\n'a'\t{1}\n'b'\tNone\n"

CASES = [
    ("mr_words.py", [], TEXT),
    ("mr_words.py", ["--least", "2"], TEXT),
    ("mr_steps.py", [], TEXT),
    ("mr_commands.py", ["-r", "local"], TEXT),
    ("mr_files.py", ["--stop", "STOP"], TEXT),
    ("mr_protocols.py", ["--input-protocol", "RawValueProtocol"], TEXT),
    ("mr_protocols.py", ["--input-protocol", "StandardJSONProtocol"], PAIRS),
    *(("mr_protocols.py", ["--input-protocol", "StandardJSONProtocol", "--internal-protocol", name,
                           "--output-protocol", name], PAIRS) for name in ("PickleProtocol", "ReprProtocol")),
    ("mr_protocols.py", ["--input-protocol", "ReprProtocol", "--internal-protocol", "ReprProtocol",
                         "--output-protocol", "ReprValueProtocol"], REPR),
    ("mr_protocols.py", ["--input-protocol", "RawProtocol", "--internal-protocol", "RawProtocol",
                         "--output-protocol", "RawProtocol"], PLAIN),
    ("mr_protocols.py", ["--bytes", "--input-protocol", "BytesProtocol", "--internal-protocol", "BytesProtocol",
                         "--output-protocol", "BytesProtocol"], PLAIN),
    ("mr_protocols.py", ["--bytes", "--input-protocol", "BytesValueProtocol", "--internal-protocol", "BytesProtocol",
                         "--output-protocol", "BytesValueProtocol"], PLAIN),
    ("mr_protocols.py", ["--output-protocol", "StandardJSONValueProtocol"], PAIRS),
]  # fmt: skip


def main():
    """Run the original on each case."""
    found = []
    for script, words, text in CASES:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "in").write_bytes(text.encode("utf-8", "surrogateescape"))
            Path(folder, "STOP").write_text("to be\n")
            out = Path(folder, "out")
            command = [sys.executable, HERE / "scripts" / script, *words, "in", "--no-conf", "-q", "-o", out]
            subprocess.run(command, cwd=folder, check=True, env={**os.environ, "PYTHONHASHSEED": "0"})
            output = b"".join(path.read_bytes() for path in sorted(out.glob("part-*")))
        found.append({"script": script, "words": words, "text": text, "output": output.decode("latin-1")})
    with open(HERE / "expected.json", "w") as file:
        json.dump({"by": "mrjob 0.7.4", "cases": found}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
