"""Statistics of records, counted by compiled code: stats, schema and freq."""

import typedbytes
from typedbytes.cli.input.inputs import input_names, reading
from typedbytes.cli.output.reports import json_of
from typedbytes.cli.records.encoded import is_pairs


def collect(kind, options, **more):
    """Have a Walker of this kind read the records of all inputs; return it, and whether they are pairs."""
    walker = pairs = None
    nbytes = 0
    for name in input_names(options):
        with reading(name, options, raw=True) as reader:
            if walker is None or not nbytes:  # an empty input before this one has no kind
                pairs = is_pairs(reader)
                walker = kind(pairs=pairs, dialect=options.dialect, max_bytes=options.max_bytes, **more)
            walker.read(reader)
            nbytes += reader.offset
    return walker, pairs


def type_name(code):
    try:
        return typedbytes.TypeCode(code).name
    except ValueError:
        return f"code {code}"


def most_frequent(counts, nkeys, nrecords, options, pairs):
    """Return the rows of the values that occur most often: of pairs, their keys."""
    name = "key" if pairs else "value"
    order = sorted(counts.items(), key=lambda item: -item[1])
    shown = order[:nkeys] if nkeys else order
    return [{"count": n, "share": n / nrecords, name: json_of(key, options)} for key, n in shown]
