"""Write test_vectors/foreign/hadoop/ and sequencefile/: what Hadoop's classes write and read, as JSON lines."""

import subprocess
import sys

import jars

MAIN = "org.typedbytes.vectors.Main"
VALUES = jars.HERE.parent / "foreign" / "hadoop"
SEQUENCE_FILES = jars.HERE.parent / "sequencefile"

#: Interpreted, and with a stack and a heap of known size, so that what runs out does so at the same place every time.
REPEATABLE = ("-Xint", "-Xss1m", "-Xmx4g", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")


def refresh(path, command):
    made = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made.stdout)
    print(f"{path}: {made.stdout.count(10)} vectors")


def of_main(*command):
    return jars.java_command(MAIN, *command, options=REPEATABLE)


if __name__ == "__main__":
    try:
        refresh(VALUES / "golden.jsonl", of_main("golden"))
        refresh(VALUES / "bad.jsonl", of_main("probe", jars.HERE / "probes.tsv"))
        refresh(SEQUENCE_FILES / "records.jsonl", of_main("seqrecords"))
        refresh(SEQUENCE_FILES / "files.jsonl", of_main("seqfiles"))
        refresh(SEQUENCE_FILES / "classes.jsonl", jars.classes_command())
        refresh(SEQUENCE_FILES / "rcfiles.jsonl", jars.classes_command("RcFiles.java"))
        refresh(SEQUENCE_FILES / "avro.jsonl", jars.classes_command("Avro.java"))
        refresh(jars.HERE.parent / "foreign" / "hive" / "rows.jsonl", jars.classes_command("Hive.java"))
    except jars.MissingToolError as error:
        sys.exit(str(error))
