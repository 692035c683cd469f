"""The command tail."""

from __future__ import annotations

from collections import deque

import typedbytes
from typedbytes import _core
from typedbytes.cli._arguments import RecordSettings, number_option
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import REFUSE
from typedbytes.cli._output.records import Records
from typedbytes.cli._records.encoded import nparts

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(RecordSettings):
    """The options of tail."""

    nrecords: int = number_option()


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Copy the last records to stdout, byte for byte.

    Typed bytes cannot be read backwards: all input is read, and the last records are kept in memory.

    examples:
      typedbytes tail -n 3 --pairs part-00000.tb | typedbytes to-json --pairs
    """
    last, inputs = _LastRecords(settings.nrecords, settings.dialect), Inputs(settings, REFUSE)
    with Records(settings, output) as records:
        for name in inputs:
            with inputs.reading(name) as reader:
                records.meet(reader)
                last.read_all(reader)
        for reader, chunk in last.chunks():
            with records.writer(reader) as writer:
                writer.write_raw(chunk)


class _LastRecords:
    """Keep the last records of several readers, in chunks as they arrive."""

    def __init__(self, wanted, dialect):
        self._dialect = dialect
        self._kept: deque = deque()  # (reader, chunk, number of its values)
        self._surplus = -wanted  # records kept beyond the number wanted

    def read_all(self, reader):
        """Read all records that a reader has left."""
        self._reader = reader
        self._nparts = nparts(reader)
        with typedbytes.Writer(self) as writer:
            writer.copy(reader)

    def write(self, chunk):
        """Keep a chunk of whole records."""
        nrecords = typedbytes.count(chunk, dialect=self._dialect) // self._nparts
        self._kept.append((self._reader, bytes(chunk), nrecords))
        self._surplus += nrecords
        while self._kept and self._kept[0][2] <= self._surplus:
            self._surplus -= self._kept.popleft()[2]

    def chunks(self):
        """Yield (reader, bytes of whole records); the first chunk starts with the first record to copy."""
        for reader, chunk, _ in self._kept:
            if self._surplus > 0:
                nvalues = self._surplus * nparts(reader)
                chunk = chunk[_core.advance(chunk, 0, nvalues, dialect=self._dialect) :]
                self._surplus = 0
            yield reader, chunk
