"""Commands that read and write nothing but what they found out: count and validate."""

from typedbytes.cli._manners import OK, Failure, escaped
from typedbytes.cli._parser import add_stream_arguments
from typedbytes.cli._streams import names, reading, shown

SKIP_NRECORDS = 1 << 16

count_arguments = add_stream_arguments


def count(options, output):
    """Print the number of values in all inputs, or of pairs with --pairs.

    Values are skipped by their structure, not decoded. With --pairs a key without a value is an
    error.

    examples:
      typedbytes count part-0*.tb
      typedbytes count --pairs < part-00000.tb
    """
    total = 0
    for name in names(options):
        with reading(name, options, raw=True) as reader:
            while nrecords := reader.skip(SKIP_NRECORDS):
                total += nrecords
    output.line(total)


validate_arguments = add_stream_arguments


def validate(options, output):
    """Decode everything and report for each input that it is good, or where it is bad.

    Good is what typedbytes.Reader accepts as it stands: the format in full, STRINGs in UTF-8, keys
    of a MAP that Python can hash, pickles of the safe types only. A bad input is reported on
    stderr, the others are still read, and the exit code is that of the first bad one.

    examples:
      typedbytes validate part-0*.tb
      hadoop jar hadoop-streaming.jar dumptb out | typedbytes validate --pairs
    """
    status = OK
    for name in names(options):
        try:
            output.line(f"{_prefix(name, options)}ok: {_size(name, options)}")
        except Failure as failure:
            status = status or failure.status
            failure.report()
    return status


def _prefix(name, options):
    return f"{escaped(shown(name))}: " if len(options.files) > 1 else ""


def _size(name, options):
    with reading(name, options) as reader:
        for _ in reader:
            pass
        return f"{reader.record} {'pairs' if options.pairs else 'values'}, {reader.offset} bytes"
