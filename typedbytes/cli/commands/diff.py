"""The command diff. Records are the same when their bytes are."""

from __future__ import annotations

from itertools import islice

from typedbytes import _core
from typedbytes.cli._arguments import ReportSettings, integer, option, switch
from typedbytes.cli._failure import FAILED, OK, USAGE, Failure
from typedbytes.cli._input import progress
from typedbytes.cli._input.inputs import Inputs, matching_names
from typedbytes.cli._input.pair_detection import CHECK_UNDECIDED
from typedbytes.cli._output.reports import json_of, report
from typedbytes.cli._records.encoded import chunks, nparts, split

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typedbytes.cli._output.files import CommandOutput


class Settings(ReportSettings):
    """The options of diff."""

    unordered: bool = switch("--unordered", help="compare how often each record occurs, in any order")
    ndifferences: int = option("-n", type=integer, default=10, metavar="N", help="report the first N differences (10)")


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Compare two inputs record by record, and report where they differ.

    The exit code is 0 if the inputs hold the same records, byte for byte in typed bytes, and 1 if
    not. --unordered is for outputs of jobs, whose records have no fixed order: it keeps the distinct
    records in memory.

    examples:
      typedbytes diff before.tb after.tb
      typedbytes diff --pairs --unordered out-of-hadoop out-of-here
    """
    if len(settings.files) != 2:
        raise Failure(USAGE, "needs two inputs (see typedbytes diff --help)")
    inputs = Inputs(settings, CHECK_UNDECIDED if settings.unordered else None)
    find = _unordered if settings.unordered else _in_order
    first, second = (_chunks_of(path, inputs) for path in settings.files)
    differences: Iterator = find(first, second, settings.dialect)
    shown_rows = list(islice(differences, settings.ndifferences))
    report(shown_rows, settings, output)
    return FAILED if shown_rows or any(differences) else OK


def _chunks_of(path, inputs):
    """Yield (whole records, their number, the values of each) of an input, or of the part files of a folder."""
    names = matching_names(path, inputs.recursive)
    progress.expect(names)
    for name in names:
        with inputs.reading(name) as reader:
            for _, number, chunk in chunks(reader):
                yield chunk, reader.record - number, nparts(reader)


def _records_of(found, dialect):
    """Yield the encoded records of chunks."""
    for chunk, _, nvalues in found:
        yield from split(chunk, nvalues, dialect)


def _in_order(first, second, dialect):
    """Yield the records that differ from that of the same number, up to the first beyond the end of the other input."""
    number, end = 0, (b"", 0, 1)
    one = other = end
    while True:
        one, other = (found if found[0] else next(more, end) for found, more in ((one, first), (other, second)))
        (here, nhere, nvalues), (there, nthere, _) = one, other
        if not (here and there):
            break
        ncommon = min(nhere, nthere)
        if here.startswith(there) or there.startswith(here):  # the shorter one has ncommon records
            nbytes = min(len(here), len(there))
            one, other = ((chunk[nbytes:], n - ncommon, nvalues) for chunk, n, _ in (one, other))
            number += ncommon
            continue
        ends = [_core.advance(chunk, 0, ncommon * nvalues, dialect=dialect) for chunk in (here, there)]
        same = (split(chunk[:nbytes], nvalues, dialect) for chunk, nbytes in zip((here, there), ends))
        for mine, yours in zip(*same):
            if mine != yours:
                yield {"record": number, "first": _shown(mine, dialect), "second": _shown(yours, dialect)}
            number += 1
        one, other = ((chunk[i:], n - ncommon, nvalues) for i, (chunk, n, _) in zip(ends, (one, other)))
    if here or there:
        left, right = (_shown(next(_records_of([each], dialect), None), dialect) for each in (one, other))
        yield {"record": number, "first": left, "second": right}


def _unordered(first, second, dialect):
    """Yield the records that occur more often in one input than in the other, those of the first input first."""
    from typedbytes._report import RecordCounts  # start-up time

    counts = None
    for found, times in (first, 1), (second, -1):
        for chunk, _, nvalues in found:
            counts = counts or RecordCounts(nvalues, dialect=dialect)
            counts.add(chunk, times)
    for record, number in counts.surplus() if counts else ():
        yield {
            "only in": "first" if number > 0 else "second",
            "times": abs(number),
            "value": _shown(record, dialect),
        }


def _shown(record, dialect):
    return None if record is None else json_of(record, dialect)
