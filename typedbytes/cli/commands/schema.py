"""The command schema."""

from typedbytes._report._native import Shape
from typedbytes.cli._arguments import add_report_arguments
from typedbytes.cli._reports import report
from typedbytes.cli._statistics import collect, type_name

add_arguments = add_report_arguments


def run(options, output):
    """Report which types stand at each place of the records, and how many.

    A place is written as in messages about faults: value[0] is the first item of a VECTOR,
    value[] any item of a LIST, value['name'] what a MAP has under that key. Of a VECTOR or a MAP
    the first 64 are told apart, the others are value[] and value[*].

    examples:
      typedbytes schema --pairs part-00000.tb
      typedbytes head -n 1000 big.tb | typedbytes schema --table
    """
    shape, _ = collect(lambda pairs: Shape(pairs=pairs, dialect=options.dialect), options)
    report(_places(shape), options, output)


def _places(shape):
    for place, counts in shape.places():
        total = sum(counts.values())
        for code, n in sorted(counts.items(), key=lambda item: -item[1]):
            yield {"place": place, "type": type_name(code), "count": n, "share": n / total}
