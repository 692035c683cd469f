"""Write files.jsonl beside this script: what lzop, and aircompressor's LzopCodec in Hadoop, make of a few inputs."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "java"))
import jars  # noqa: E402

NOISE = b"".join(((n * n * 2654435761) >> 7 & 0xFFFFFFFF).to_bytes(4, "big") for n in range(1, 200))
INPUTS = {"empty": b"", "one": b"one line\n", "noise": NOISE, "lines": b"a line of text\n" * 20_000}
OPTIONS = ["", "-1", "-9", "--crc32", "-F", "-CC", "-CC --crc32", "-P"]
CODEC = "io.airlift.compress.lzo.LzopCodec"


def of(command, data):
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout


def rows():
    for name, data in INPUTS.items():
        for options in OPTIONS if name == "lines" else ["", "-CC"]:
            yield f"lzop {options}".strip(), name, of(["lzop", *options.split()], data)
        yield CODEC, name, of(jars.java_command("org.typedbytes.vectors.Main", "compress", CODEC), data)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("one", "lines"):
            (Path(folder) / name).write_bytes(INPUTS[name])
        packed = subprocess.run(["lzop", "-c", "one", "lines"], cwd=folder, stdout=subprocess.PIPE, check=True).stdout
        yield "lzop of two files", "one lines", packed
    yield "lzop --filter=1", "lines", of(["lzop", "--filter=1"], INPUTS["lines"])


with open(HERE / "files.jsonl", "w", encoding="ascii") as file:
    for by, names, packed in rows():
        size = sum(len(INPUTS[name]) for name in names.split())
        file.write(json.dumps({"by": by, "contents": names, "nbytes": size, "hex": packed.hex()}) + "\n")
