"""Commands that tell what is in many records: stats, schema and freq. The counting is compiled."""

import typedbytes
from typedbytes._report._native import Shape, Tally
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._parser import add_report_arguments, natural
from typedbytes.cli._reports import report, report_sections, short_line
from typedbytes.cli._inputs import is_pairs, names, reading


def stats_arguments(parser):
    """Declare the arguments of stats."""
    add_report_arguments(parser)
    parser.add_argument("-n", type=natural, default=0, metavar="N", dest="nkeys", help="tell the N most frequent keys (0)")
    parser.add_argument("--reducers", type=natural, default=0, metavar="N", help="tell how many records each of N reducers would get")


def stats(options, output):
    """Report how many records there are, their bytes, types, and the least, the most and the mean.

    Of numbers these are of their values, of all else of the number of bytes or items. --reducers
    sends keys where Hadoop's HashPartitioner does; a skew of 2 means that the fullest reducer
    gets twice its share.

    examples:
      typedbytes stats --pairs part-0*.tb
      typedbytes stats --pairs -n 10 --reducers 8 < pairs.tb
    """
    top = {} if options.nkeys else None
    if options.reducers > 65536:
        raise Failure(USAGE, "argument --reducers: at most 65536")
    tally, pairs = _all_in(lambda pairs: Tally(pairs=pairs, dialect=options.dialect, npartitions=options.reducers, top=top), options)
    places = ("key", "value") if pairs else ("value",)
    types = [_type_row(place, code, facts) for part, place in enumerate(places) for code, facts in tally.facts(part).items()]
    nbytes = sum(row["bytes"] for row in types)
    sections = {"records": [{"records": tally.nrecords, "unit": "pairs" if pairs else "values", "bytes": nbytes}]}
    if types:
        sections["types"] = types
    if top:
        sections["most frequent"] = _frequent(top, options.nkeys, tally.nrecords, options)
    if options.reducers:
        sections["reducers"] = _reducers(tally.partitions)
    report_sections(sections, options, output)


def _all_in(make, options):
    """Hand the records of all inputs to make(whether they are pairs); return what it made and that."""
    sink = pairs = None
    for name in names(options):
        with reading(name, options, raw=True) as reader:
            if sink is None:
                pairs = is_pairs(reader)
                sink = make(pairs)
            elif pairs != is_pairs(reader):
                raise Failure(USAGE, "inputs of pairs and of values together: --pairs takes all for pairs")
            with typedbytes.Writer(sink) as writer:
                writer.copy(reader)
    return sink, pairs


def _type_row(place, code, facts):
    return {"of": place, "type": _type_name(code), **facts}


def _type_name(code):
    try:
        return typedbytes.TypeCode(code).name
    except ValueError:
        return f"code {code}"


def _frequent(counts, nkeys, nrecords, options):
    order = sorted(counts.items(), key=lambda item: -item[1])
    shown = order[:nkeys] if nkeys else order
    return [{"count": n, "share": n / nrecords, "value": short_line(key, options)} for key, n in shown]


def _reducers(counts):
    mean = sum(counts) / len(counts)
    return [{"reducer": index, "records": n, "skew": n / mean if mean else 0.0} for index, n in enumerate(counts)]


schema_arguments = add_report_arguments


def schema(options, output):
    """Report which types stand at each place of the records, and how many.

    A place is written as in messages about faults: value[0] is the first item of a VECTOR,
    value[] any item of a LIST, value['name'] what a MAP has under that key. Of a VECTOR or a MAP
    the first 64 are told apart, the others are value[] and value[*].

    examples:
      typedbytes schema --pairs part-00000.tb
      typedbytes head -n 1000 big.tb | typedbytes schema --table
    """
    shape, _ = _all_in(lambda pairs: Shape(pairs=pairs, dialect=options.dialect), options)
    report(_places(shape), options, output)


def _places(shape):
    for place, counts in shape.places():
        total = sum(counts.values())
        for code, n in sorted(counts.items(), key=lambda item: -item[1]):
            yield {"place": place, "type": _type_name(code), "count": n, "share": n / total}


def freq_arguments(parser):
    """Declare the arguments of freq."""
    add_report_arguments(parser)
    parser.add_argument("-n", type=natural, default=10, metavar="N", dest="nkeys", help="the N most frequent (10); 0: all")


def freq(options, output):
    """Count how often each value is there, of pairs each key, and report the most frequent.

    Two are the same when their bytes are. All that are different are kept in memory.

    examples:
      typedbytes freq --pairs part-0*.tb
      typedbytes freq -n 0 --json < words.tb
    """
    counts = {}
    tally, _ = _all_in(lambda pairs: Tally(pairs=pairs, dialect=options.dialect, top=counts), options)
    report(_frequent(counts, options.nkeys, tally.nrecords, options), options, output)
