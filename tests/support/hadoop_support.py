"""A warm Java virtual machine: Hadoop Streaming jobs in local mode, and Hadoop's own readers of TypedBytes.

Here: talking to the ``serve`` command of test_vectors/java. Not here: what a test expects. Invariant: the
scripts of a job see the package this test run sees; a command that Hadoop does not finish in time ends the
machine, and the test with it.

Without a JDK, Maven or a way to fetch the jars, ``hadoop()`` raises and says what to install: the tests that need
Hadoop fail then. ``-m "not hadoop"`` leaves them out.
"""

import atexit
import functools
import io
import json
import os
import shlex
import struct
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from support.java_view import digits_by_value
from support.streaming_support import environment
from support.subprocess_runs import SECONDS

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test_vectors" / "java"))

import jars  # noqa: E402

SEQUENCE_FILE_INPUT = "SequenceFileInputFormat"
SEQUENCE_FILE_OUTPUT = "org.apache.hadoop.mapred.SequenceFileOutputFormat"


def airlift_codec(name):
    """Return a library's codec for the same bytes as Hadoop's own, which needs native code.

    For Zstd, and before Hadoop 3.3 also for others.
    """
    return f"io.airlift.compress.{name.lower()}.{name}Codec"


ZSTD = airlift_codec("Zstd")

_MAIN = "org.typedbytes.vectors.Main"


def python_command(*words):
    """Return the command of a mapper, a combiner or a reducer: a script and its arguments, run by this Python."""
    return shlex.join([sys.executable, *map(str, words)])


def _lines(splits):
    return "".join(f"{start} {length}\n" for start, length in splits).encode()


@dataclass(frozen=True)
class Job:
    """How a Hadoop Streaming job went."""

    code: int  #: 0 when it succeeded
    counters: dict  #: group name -> counter name -> number; none of a job that never ran
    log: str  #: what Hadoop and the tasks wrote to stderr


@functools.cache
def hadoop():
    """Start the one Hadoop of this test run, or give it again."""
    machine = Hadoop()
    atexit.register(machine.close)
    return machine


class Hadoop:
    """One Java virtual machine that runs command after command."""

    java_options = jars.QUICK_START  #: a bench has none: what it measures must be compiled as on a cluster

    def __init__(self):
        command = jars.java_command(
            _MAIN, "serve", options=[*self.java_options, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Xmx1g"]
        )
        self._temporary_folder = tempfile.TemporaryDirectory(prefix="typedbytes-hadoop-")
        self._folder = Path(self._temporary_folder.name).resolve()
        with open(self._folder / "log", "ab") as log:
            self._machine = subprocess.Popen(
                command, cwd=self._folder, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                text=True,
            )  # fmt: skip
        self._log = open(self._folder / "log", "rb")

    @property
    def pid(self):
        return self._machine.pid

    def close(self):
        self._machine.communicate()
        self._log.close()
        self._temporary_folder.cleanup()

    def job(
        self,
        *,
        input,
        output,
        mapper,
        combiner=None,
        reducer=None,
        nreducers=1,
        io="typedbytes",
        options=(),
        properties=None,
    ):
        """Run a job over typed bytes; ``options`` are further words of Hadoop Streaming's own command line."""
        properties = {
            "hadoop.tmp.dir": self._folder / "tmp",
            "mapreduce.client.progressmonitor.pollinterval": 20,
            "mapreduce.client.completion.pollinterval": 20,
            "mapreduce.job.reduces": nreducers,
            **(properties or {}),
        }
        words = [word for name, value in properties.items() for word in ("-D", f"{name}={value}")]
        words += ["-io", io] if io else []
        words += ["-input", input, "-output", output, "-mapper", mapper]
        words += ["-combiner", combiner] if combiner else []
        words += ["-reducer", reducer] if reducer else []
        code, result, log = self._run("job", *words, *options)
        return Job(code, json.loads(result or b"{}"), log)

    def read_submissions(self, command_lines):
        """Return what a node reads of each command line, a list of words; {"refused": why} for those it never gets."""
        lines = [" ".join(word.encode().hex() for word in words) for words in command_lines]
        return [json.loads(line) for line in self._demand("submission", data="\n".join(lines).encode()).splitlines()]

    def load_pairs(self, pairs, path):
        """Write encoded pairs into a SequenceFile, with Hadoop's loadtb."""
        self._demand("loadtb", path, data=pairs)

    def dump_pairs(self, path):
        """Read the encoded pairs of a SequenceFile, or of all in a folder, with Hadoop's dumptb."""
        return self._demand("dumptb", path)

    def read_sequence_file(self, path):
        """Return the header of a SequenceFile and its records, as Hadoop's reader gives them."""
        header, *records = map(json.loads, digits_by_value(self._demand("seqread", path)).splitlines())
        return header, records

    def split_sequence_file(self, path, splits):
        """Return for each (start, length) the keys that Hadoop's input format gives to that split."""
        lines = self._demand("seqsplits", path, data=_lines(splits)).decode().splitlines()
        return [line.split(",") if line else [] for line in lines]

    def pairs_of_splits(self, kind, path, splits):
        """Return for each (start, length) the pairs, as typed bytes, that Hadoop passes on one by one."""
        data = io.BytesIO(self._demand("splitpairs", kind, path, data=_lines(splits)))
        return [data.read(struct.unpack(">i", data.read(4))[0]) for _ in splits]

    def whole_splits(self, kind, path, splits):
        """Return for each (start, length) the bytes that a task gets, and the environment that its reader adds."""
        data = io.BytesIO(self._demand("splitwhole", kind, path, data=_lines(splits)))
        found = []
        for _ in splits:
            start, length, nbytes = struct.unpack(">qqi", data.read(20))
            told = {"start": start, "length": length} if start >= 0 else {}
            found.append(
                (data.read(nbytes), {f"typedbytes_split_{name}": str(number) for name, number in told.items()})
            )
        return found

    def make_splits(self, kind, path, size):
        """Return the splits of a file, "start length", that whole splits have and that Hadoop makes."""
        return self._demand("splitsizes", kind, path, size).decode().splitlines()

    def write_sequence_file(self, path, compression, codec, *, nrecords, nbytes, sync_interval=0):
        """Write a SequenceFile of numbered records with Hadoop: Text keys, BytesWritables of about `nbytes` bytes."""
        self._demand("seqwrite", path, compression.upper(), codec, nrecords, nbytes, sync_interval)

    def write_map_file(self, path, compression, *, bloom, nrecords):
        """Write a MapFile with Hadoop: Text keys by even numbers, IntWritable values from 0 up."""
        self._demand("mapfile", path, compression.upper(), str(bloom).lower(), nrecords)

    def sequence_file_vectors(self):
        """Return the vectors of SequenceFiles, kinds of records and files, as JSON lines each."""
        return self._demand("seqrecords"), self._demand("seqfiles")

    def golden(self):
        """Return the golden vectors as JSON lines."""
        return self._demand("golden")

    def raw(self, values):
        """Return a stream of values as Hadoop copies a script's output: by readRaw."""
        return self._demand("raw", data=values)

    def rewrite(self, values):
        """Return a stream of values read into Java objects and written again."""
        return self._demand("rewrite", data=values)

    def json(self, values):
        """Return each value of a stream as the Java object it is read into, in tagged JSON."""
        return [json.loads(line) for line in self._demand("json", data=values).splitlines()]

    def partitions(self, keys):
        """Return the hash code of each key of a stream and its partition of 2, 3, 7 and 16."""
        return [json.loads(line) for line in self._demand("place", data=keys).splitlines()]

    def sort(self, keys):
        """Return a stream of keys in the order of Hadoop's sort."""
        return self._demand("sort", data=keys)

    def _demand(self, *words, data=b""):
        code, result, log = self._run(*words, data=data)
        if code:
            raise RuntimeError(f"Hadoop's {words[0]} failed with code {code}:\n{log}")
        return result

    def _run(self, *words, data=b""):
        source, sink = self._folder / "in", self._folder / "out"
        source.write_bytes(data)
        self._log.seek(0, os.SEEK_END)
        timer = threading.Timer(SECONDS, self._machine.kill)
        timer.start()
        try:
            print(source, sink, *words, sep="\t", file=self._machine.stdin, flush=True)
            reply = self._machine.stdout.readline()
        finally:
            timer.cancel()
        log = self._log.read().decode("utf-8", "replace")
        if not reply:
            raise RuntimeError(f"Hadoop's machine ended during {words[0]}:\n{log}")
        return int(reply), sink.read_bytes(), log
