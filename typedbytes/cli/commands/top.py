"""The command top."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

import typedbytes
from typedbytes.cli._arguments import RecordSettings, number_option, option, switch
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import CHECK_UNDECIDED
from typedbytes.cli._output.records import Records
from typedbytes.cli._query.fields import Fields
from typedbytes.cli._query.value_order import keyed_chunks
from typedbytes.cli._records.encoded import Encoded, may_have_keys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput

SPARE_NRECORDS = 1 << 12  # records beyond N that are kept before all are sorted
SPARE_NBYTES = 1 << 20  # bytes of such records, or as many as the N records have if those are more


class Settings(RecordSettings):
    """The options of top."""

    nrecords: int = number_option()
    by: list[str] | None = option(
        "--by",
        action="append",
        metavar="PATH",
        help="what to compare: a path as for cut; repeat it to break ties (value)",
    )
    smallest: bool = switch("--smallest", help="the smallest records instead, the smallest first")


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Copy the N largest records to stdout, the largest first.

    Values are compared, also those of pairs, or with --by what is at a path, in the order of
    sort --by: numbers by their size, text by its characters. Among equal records the first are
    copied. The N records are kept in memory.

    examples:
      typedbytes top -n 20 --pairs counts
      typedbytes top --by value.size --by key --pairs logs.tb
      typedbytes top -3 --smallest --values numbers.tb
    """
    from typedbytes import _report

    inputs = Inputs(settings, CHECK_UNDECIDED)
    fields = Fields(settings.by or ["value"], "--by", settings.dialect)
    kept: list = []  # sort keys, with the reader and the rest of the record
    with Records(settings, output) as records:
        for name in inputs:
            with inputs.reading(name) as reader:
                records.meet(reader)
                fields.check(may_have_keys(reader))
                keyed = Encoded(keyed_chunks(reader, settings.dialect, fields))
                _keep(kept, reader, typedbytes.PairReader(keyed, raw=True), settings)
        for reader, group in groupby(kept, itemgetter(1)):
            with records.writer(reader) as writer:
                writer.write_raw(_report.WithoutSortKeys().take(b"".join(key + rest for key, _, rest in group)))


def _keep(kept, reader, keyed, settings):
    """Add the records of a reader that are among the first N of all so far, and leave those in their order."""
    nrecords, is_largest = settings.nrecords, not settings.smallest
    bound = kept[-1][0] if 0 < nrecords == len(kept) else None
    nspare, nkept = 0, _nbytes_of(kept)  # bytes
    for key, rest in keyed:
        if bound is None or (key > bound if is_largest else key < bound):
            kept.append((key, reader, rest))
            nspare += len(key) + len(rest)
            if len(kept) >= nrecords + SPARE_NRECORDS or nspare > max(nkept, SPARE_NBYTES):
                nkept += nspare - _cut(kept, nrecords, is_largest)
                bound = kept[-1][0] if 0 < nrecords == len(kept) else None
                nspare = 0
    _cut(kept, nrecords, is_largest)


def _cut(kept, nrecords, is_largest):
    """Leave the first N records in their order; return the number of bytes that the others had."""
    kept.sort(key=itemgetter(0), reverse=is_largest)  # equals stay in their order
    nbytes = _nbytes_of(kept[nrecords:])
    del kept[nrecords:]
    return nbytes


def _nbytes_of(records):
    return sum(len(key) + len(rest) for key, _, rest in records)
