"""The command schema."""

from __future__ import annotations

from typedbytes._report import Schema
from typedbytes.cli._arguments import ReportSettings, either, option
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import NOTE
from typedbytes.cli._output.reports import report
from typedbytes.cli._query.statistics import collect, type_name

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(ReportSettings):
    """The options of schema."""

    language: str | None = either(
        "classes",
        option("--python", action="store_const", const="python", help="print record classes that the values fit"),
        option("--java", action="store_const", const="java", help="print Java records, for org.typedbytes.records"),
    )


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Report the types at each path in the records, and how many there are.

    A path is written as in error messages: value[0] is the first item of a VECTOR, value[] any item
    of a LIST, value['name'] the value of a MAP for that key. The first 64 items of a VECTOR or a MAP
    have paths of their own, the others are value[] and value[*].

    --python prints a module with a class that every value fits, as a type of readers and of other
    commands: MAPs become dataclasses, or dicts where a name is not an identifier, and VECTORs a
    NamedTuple. --java prints Java records. What is missing in some records is optional; what has no
    one type is Any or Object.

    examples:
      typedbytes schema --pairs part-00000.tb
      typedbytes head -n 1000 big.tb | typedbytes schema --table
      typedbytes schema --values --python pages.tb > pages.py
    """
    if settings.language is not None:
        _print_classes(settings, output)
        return None
    schema, _ = collect(Schema, Inputs(settings, NOTE, notes_classes=True))
    report(_rows(schema), settings, output)
    return None


def _print_classes(settings, output):
    from typedbytes.cli._classes.shapes import find_shapes

    shapes = find_shapes(Inputs(settings, NOTE, notes_classes=True))
    if settings.language == "python":
        from typedbytes.cli._classes.python_classes import python_module as source_of
    else:
        from typedbytes.cli._classes.java_classes import java_source as source_of
    for line in source_of(shapes):
        output.line(line)


def _rows(schema):
    for path, counts in schema.paths():
        total = sum(counts.values())
        for code, n in sorted(counts.items(), key=lambda item: -item[1]):
            yield {"place": path, "type": type_name(code), "count": n, "share": n / total}
