"""The command uniq."""

from __future__ import annotations

from typedbytes.cli._arguments import RecordSettings, option, switch
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import CHECK_UNDECIDED
from typedbytes.cli._output.records import Records
from typedbytes.cli._records.encoded import chunks, may_have_keys, nparts

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(RecordSettings):
    """The options of uniq."""

    by: str = option("--by", choices=("record", "key"), default="record", help="what to compare (record)")
    all: bool = switch("--all", help="compare with all earlier records, not only the previous one")


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Copy records to stdout without those that repeat the one before.

    Records are compared by their bytes; with --by key by those of their keys, and the first pair is
    copied. --all keeps all distinct records in memory; sorted input needs no --all.

    examples:
      typedbytes sort --pairs part-0*.tb | typedbytes uniq --pairs > distinct.tb
      typedbytes uniq --pairs --by key --all < pairs.tb
    """
    from typedbytes import _report

    by_key, distinct, inputs = settings.by == "key", None, Inputs(settings, CHECK_UNDECIDED)
    with Records(settings, output) as records:
        for name in inputs:
            with inputs.reading(name) as reader, records.writer(reader) as writer:
                if by_key and not may_have_keys(reader):
                    raise Failure(USAGE, "argument --by: values have no key (see --pairs)")
                for _, _, chunk in chunks(reader):
                    distinct = distinct or _report.DistinctRecords(
                        nparts(reader), by_key=by_key, all=settings.all, dialect=settings.dialect
                    )
                    writer.write_raw(distinct.take(chunk))
