"""The command dumptb, which Hadoop has under this name: what is written is what Hadoop's dumptb writes."""

from __future__ import annotations

from typedbytes.cli._arguments import OUTPUT, SequenceFileSettings, switch
from typedbytes.cli._failure import OK
from typedbytes.cli._input.formats import CHUNK_NBYTES, sequence_file_reader
from typedbytes.cli._input.inputs import Inputs, check_if_empty, opened, report_skipped

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(SequenceFileSettings):
    """The options of dumptb."""

    resync: bool = switch("--resync", help="continue after damage at the next sync marker")
    output: str | None = OUTPUT


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Write the pairs of SequenceFiles as typed bytes, as Hadoop's dumptb does.

    All files of a folder are read in the order of their names, except those that start with _ or a
    dot. If it has part-... files, what tasks wrote beside them, such as log-r-00000, is left out too.
    With --resync intact pairs after damage are written too; the damage is reported on stderr, and the
    exit code is still 65.

    examples:
      typedbytes dumptb out | typedbytes to-json --pairs
      typedbytes dumptb hdfs://namenode/user/me/out > pairs.tb
    """
    output.refuse_terminal()
    status = OK
    for name in Inputs(settings):
        with opened(name) as source:
            is_empty, source = check_if_empty(source)
            if is_empty:
                continue
            pairs = sequence_file_reader(source, settings.dialect, settings.max_bytes, resync=settings.resync)
            while data := pairs.read_typed(CHUNK_NBYTES):
                output.write(data)
            status = report_skipped(name, pairs.skipped) or status
    return status
