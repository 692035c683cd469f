"""Write test_vectors/foreign/hadoop/: what Hadoop's own classes write and read, a JSON line each."""

import subprocess
import sys

import jars

MAIN = "org.typedbytes.vectors.Main"
FOLDER = jars.HERE.parent / "foreign" / "hadoop"

#: Interpreted, and with a stack and a heap of known size, so that what runs out does so at the same place every time.
REPEATABLE = ("-Xint", "-Xss1m", "-Xmx4g", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")


def refresh(name, *command):
    made = subprocess.run(jars.java_command(MAIN, *command, options=REPEATABLE), stdout=subprocess.PIPE, check=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / name).write_bytes(made.stdout)
    print(f"{FOLDER / name}: {made.stdout.count(10)} vectors")


if __name__ == "__main__":
    try:
        refresh("golden.jsonl", "golden")
        refresh("bad.jsonl", "probe", jars.HERE / "probes.tsv")
        refresh("sequencefile_records.jsonl", "seqrecords")
        refresh("sequencefiles.jsonl", "seqfiles")
    except jars.MissingToolError as error:
        sys.exit(str(error))
