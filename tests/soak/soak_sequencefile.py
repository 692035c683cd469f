"""Read and write SequenceFiles of gigabytes in one process, and see that its memory stays as it was.

    python tests/soak/soak_sequencefile.py       5 GB each way
    python tests/soak/soak_sequencefile.py 100   100 GB

Exit code 1 when the memory has grown by more than 1 MiB after the first tenth, or a record was another. Here: files
that are made while they are read, since there may be any number of parts between sync markers. Invariant: every way of
reading goes over the same bytes.
"""

import argparse
import io
import pathlib
import sys
import time

from typedbytes import sequencefile

GIGABYTE = 10**9
MAX_GROWTH = 1 << 20
NRECORDS = 20_000
FORMS = [("none", "default"), ("record", "snappy"), ("block", "zstd")]
PAIRS = [(f"key {i}", (i, i / 3, b"x" * (i % 200))) for i in range(NRECORDS)]


class Endless(io.RawIOBase):
    """Give a header, and the same records up to `nbytes` bytes; measure memory at the first tenth."""

    def __init__(self, head, body, nbytes):
        self.parts = self.repeat(head, body, max(10, nbytes // len(body)))
        self.rest = b""
        self.before = 0

    def repeat(self, head, body, ntimes):
        yield head
        for i in range(ntimes):
            if i == ntimes // 10:
                self.before = resident()
            yield body

    def read1(self, nbytes):
        """Return at most `nbytes` bytes."""
        if not self.rest:
            self.rest = memoryview(next(self.parts, b""))
        part, self.rest = self.rest[:nbytes], self.rest[nbytes:]
        return part


class Counting:
    """Take everything and keep nothing."""

    def __init__(self):
        self.nbytes = 0

    def write(self, data):
        """Take it."""
        self.nbytes += len(data)


def resident():
    """Return the bytes of memory that this process holds."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024


def objects(reader):
    """Make all objects, and look at some."""
    for index, pair in enumerate(reader):
        if index % 997 == 0 and pair != PAIRS[index % NRECORDS]:
            raise SystemExit(f"record {index} is {pair!r}")
    if reader.record == 0 or reader.record % NRECORDS:
        raise SystemExit(f"{reader.record} records")


def typed(reader):
    """Copy as typed bytes."""
    while reader.read_typed():
        pass


def skip(reader):
    """Skip."""
    while reader.skip(10_000):
        pass


def read(compression, codec, nbytes):
    """Yield for each way of reading how many bytes were read, and how memory grew."""
    sink = io.BytesIO()
    with sequencefile.Writer(sink, compression=compression, codec=codec) as writer:
        writer.flush()
        nhead = len(sink.getvalue())
        writer.writes(PAIRS)
        writer.sync()
    head, body = sink.getvalue()[:nhead], sink.getvalue()[nhead:]
    for use in (objects, typed, skip):
        source = Endless(head, body, nbytes)
        with sequencefile.Reader(source) as reader:
            use(reader)
            yield f"read {use.__name__}", reader.offset, resident() - source.before


def write(compression, codec, nbytes):
    """Yield how many bytes were written, and how memory grew."""
    sink, before = Counting(), 0
    with sequencefile.Writer(sink, compression=compression, codec=codec) as writer:
        while sink.nbytes < nbytes:
            writer.writes(PAIRS)
            if not before and sink.nbytes > nbytes // 10:
                before = resident()
    yield "write", sink.nbytes, resident() - before


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("gigabytes", type=float, nargs="?", default=5)
    nbytes = int(parser.parse_args().gigabytes * GIGABYTE)
    bad = False
    for compression, codec in FORMS:
        # What is compressed comes to more, and takes its time.
        share = nbytes if compression == "none" else nbytes // 50
        for way in (read, write):
            started = time.monotonic()
            for name, done, growth in way(compression, codec, share):
                seconds, started = time.monotonic() - started, time.monotonic()
                print(
                    f"{compression:<7}{codec:<8} {name:<13} {done / GIGABYTE:7.2f} GB {seconds:7.1f} s  grown by "
                    f"{growth / 1024:8.0f} KiB",
                    flush=True,
                )
                bad |= growth > MAX_GROWTH
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
