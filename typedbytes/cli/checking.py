"""Commands that read and write nothing but what they found out: count and validate."""

from typedbytes.cli._manners import OK, USAGE, Failure, escaped
from typedbytes.cli._parser import add_stream_arguments
from typedbytes.cli._streams import names, reading, shown, unit

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
        with reading(name, options) as reader:
            while nrecords := reader.skip(SKIP_NRECORDS):
                total += nrecords
    output.line(total)



def validate_arguments(parser):
    """Declare the arguments of validate."""
    add_stream_arguments(parser)
    parser.add_argument("--repair", metavar="OUT", help="copy what is intact of one SequenceFile to OUT")


def validate(options, output):
    """Decode everything and report for each input that it is good, or where it is bad.

    Good is what typedbytes.Reader accepts as it stands: the format in full, STRINGs in UTF-8, keys
    of a MAP that Python can hash, pickles of the safe types only. A bad input is reported on
    stderr, the others are still read, and the exit code is that of the first bad one. --repair
    copies every intact record of a SequenceFile, also behind damage, to another file.

    examples:
      typedbytes validate part-0*.tb
      typedbytes validate --repair good.seq bad.seq
      hadoop jar hadoop-streaming.jar dumptb out | typedbytes validate --pairs
    """
    if options.repair is not None:
        return _repair(options)
    status = OK
    for name in names(options):
        try:
            output.line(f"{_prefix(name, options)}ok: {_size(name, options)}")
        except Failure as failure:
            status = status or failure.status
            failure.report()
    return status


def _repair(options):
    from typedbytes.cli import _sequence_files  # its users only

    if len(names(options)) != 1:
        raise Failure(USAGE, "--repair takes one FILE (see typedbytes validate --help)")
    return _sequence_files.repair(names(options)[0], options)


def _prefix(name, options):
    return f"{escaped(shown(name))}: " if len(options.files) > 1 else ""


def _size(name, options):
    with reading(name, options) as reader:
        for _ in reader:
            pass
        return f"{reader.record} {unit(reader)}, {reader.offset} bytes"
