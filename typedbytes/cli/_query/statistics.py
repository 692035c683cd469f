"""Statistics of records, counted by compiled code: stats, schema and freq."""

import typedbytes
from typedbytes.cli._output.reports import json_of
from typedbytes.cli._records.encoded import is_pairs


def collect(kind, inputs, **more):
    """Have a Walker of this kind read the records of all inputs; return it, and whether they are pairs."""
    walker = pairs = None
    nbytes = 0
    for name in inputs:
        with inputs.reading(name) as reader:
            if walker is None or not nbytes:  # an empty input before this one has no kind
                pairs = is_pairs(reader)
                walker = kind(pairs=pairs, dialect=inputs.dialect, max_bytes=inputs.max_bytes, **more)
            walker.read(reader)
            nbytes += reader.offset
    return walker, pairs


def type_name(code):
    """Return the name of a type code."""
    try:
        return typedbytes.TypeCode(code).name
    except ValueError:
        return f"code {code}"


def most_frequent(counts, nkeys, nrecords, dialect, pairs):
    """Return the rows of the values that occur most often: of pairs, their keys."""
    name = "key" if pairs else "value"
    order = sorted(counts.items(), key=lambda item: -item[1])
    shown = order[:nkeys] if nkeys else order
    return [{"count": n, "share": n / nrecords, name: json_of(key, dialect)} for key, n in shown]
