"""The command schema."""

from __future__ import annotations

from typedbytes._report._native import Schema
from typedbytes.cli._arguments import ReportSettings
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import NOTE
from typedbytes.cli._output.reports import report
from typedbytes.cli._query.statistics import collect, type_name

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(ReportSettings):
    """The options of schema."""


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Report the types at each path in the records, and how many there are.

    A path is written as in error messages: value[0] is the first item of a VECTOR, value[] any item
    of a LIST, value['name'] the value of a MAP for that key. The first 64 items of a VECTOR or a MAP
    have paths of their own, the others are value[] and value[*].

    examples:
      typedbytes schema --pairs part-00000.tb
      typedbytes head -n 1000 big.tb | typedbytes schema --table
    """
    schema, _ = collect(Schema, Inputs(settings, NOTE))
    report(_rows(schema), settings, output)


def _rows(schema):
    for path, counts in schema.paths():
        total = sum(counts.values())
        for code, n in sorted(counts.items(), key=lambda item: -item[1]):
            yield {"place": path, "type": type_name(code), "count": n, "share": n / total}
