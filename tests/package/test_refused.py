"""What is refused before anything is written leaves the file at its path as it was."""

import io
import subprocess
import sys

import pytest

import typedbytes as tb
from support.streaming_support import environment
from typedbytes import columns, sequencefile

CALLS = {
    "Writer: unknown option": lambda path: tb.Writer(path, pickel="safe"),
    "Writer: unknown mode": lambda path: tb.Writer(path, "a"),
    "Writer: bad value of an option": lambda path: tb.Writer(path, pickle="yes"),
    "Writer: bad buffer": lambda path: tb.Writer(path, buffer_size=0),
    "PairWriter: bad depth": lambda path: tb.PairWriter(path, max_depth=-1),
    "dump: bad value of an option": lambda path: tb.dump(1, path, pickle="yes"),
    "dump: an object without a type code": lambda path: tb.dump(object(), path),
    "dump_all: not an iterable": lambda path: tb.dump_all(3, path),
    "sequencefile: unknown option": lambda path: sequencefile.open(path, "w", key_clas="Text"),
    "sequencefile: bad metadata": lambda path: sequencefile.open(path, "w", metadata={"a": 3}),
    "sequencefile: bad marker": lambda path: sequencefile.open(path, "w", sync_marker=b"short"),
    "columns: different lengths": lambda path: columns.write(path, {"a": [1], "b": [1, 2]}),
    "columns: too many": lambda path: columns.write(path, {"a": [1], "b": [1], "c": [1]}),
    "columns: an object without a type code": lambda path: columns.write(path, [[object()]], pairs=False),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", ["path", "str"])
def test_a_refused_call_leaves_the_file(tmp_path, name, kind):
    path = tmp_path / "kept"
    path.write_bytes(b"what was there")
    with pytest.raises((TypeError, ValueError)):
        CALLS[name](path if kind == "path" else str(path))
    assert path.read_bytes() == b"what was there"


@pytest.mark.parametrize(
    "make", [tb.Writer, tb.PairWriter, sequencefile.Writer], ids=["values", "pairs", "sequencefile"]
)
def test_a_file_that_is_open_for_reading_is_refused_at_once(tmp_path, make):
    (tmp_path / "kept").write_bytes(b"what was there")
    for buffering in (-1, 0):
        with open(tmp_path / "kept", "rb", buffering) as file, pytest.raises(ValueError, match="not open for writing"):
            make(file)


def test_a_class_with_a_write_of_its_own_is_written_to():
    class Sink(io.RawIOBase):  # io.IOBase's writable() says no
        written = b""

        def write(self, data):
            self.written += bytes(data)
            return len(data)

    sink = Sink()
    with tb.Writer(sink) as writer:
        writer.write(5)
    assert sink.written == tb.dumps(5)


def test_a_repair_without_an_input_leaves_the_file(tmp_path):
    path = tmp_path / "damaged.tb"
    path.write_bytes(b"\2\1\2")
    words = [sys.executable, "-m", "typedbytes", "validate", "--repair", path]
    done = subprocess.run(words, env=environment(), stdin=subprocess.DEVNULL, capture_output=True)
    assert (done.returncode, path.read_bytes()) == (64, b"\2\1\2")
    assert b"typedbytes validate --repair OUT FILE" in done.stderr
