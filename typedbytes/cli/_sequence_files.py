"""SequenceFiles for the commands: as inputs like others, dumptb and loadtb, which Hadoop has under these names, and repair.

Here: a SequenceFile as a stream of pairs, and folders of part files. Not here: the format. Always true: what a command reads of
a SequenceFile is what Hadoop's dumptb writes; damage is told on stderr and in the exit code, also where it was passed over.
"""

from contextlib import contextmanager

import typedbytes
from typedbytes import sequencefile
from typedbytes.cli._formats import CHUNK_NBYTES
from typedbytes.cli._manners import BAD_DATA, OK, UNAVAILABLE, USAGE, Failure
from typedbytes.cli._outputs import replacing
from typedbytes.cli._parser import add_output_argument, positive
from typedbytes.cli._records import UntilFailure
from typedbytes.cli._streams import names, opened, reading, shown


def reader(source, options, **how):
    """Return a reader of the pairs as objects."""
    limit = {} if options.max_bytes is None else {"max_bytes": options.max_bytes}
    return sequencefile.Reader(source, dialect=options.dialect, **limit, **how)


def dumptb_arguments(parser):
    """Declare the arguments of dumptb."""
    parser.add_argument("files", nargs="*", default=[], metavar="FILE", help="files, folders, URLs; - or none is stdin")
    _add_limits(parser)
    parser.add_argument("--resync", action="store_true", help="go on behind damage at the next sync marker")
    add_output_argument(parser)


def dumptb(options, output):
    """Write the pairs of SequenceFiles as typed bytes, as Hadoop's dumptb does.

    Of a folder all files are read, in the order of their names, but for those that start with _
    or a dot. With --resync what is intact behind damage is written too; the damage is told on
    stderr, and the exit code is 65 all the same.

    examples:
      typedbytes dumptb out | typedbytes to-json --pairs
      typedbytes dumptb hdfs://namenode/user/me/out > pairs.tb
    """
    status = OK
    for name in names(options):
        with opened(name) as source, reader(source, options, resync=options.resync) as pairs:
            while data := pairs.read_typed(CHUNK_NBYTES):
                output.write(data)
            status = _tell(name, pairs.skipped) or status
    return status


def loadtb_arguments(parser):
    """Declare the arguments of loadtb."""
    parser.add_argument("files", nargs="*", default=[], metavar="FILE", help="the SequenceFile: a path or URL")
    _add_limits(parser)
    parser.add_argument("--compression", choices=("none", "record", "block"), default="record", help="of values or blocks (record)")
    parser.add_argument("--codec", default="default", metavar="NAME", help="default, gzip, bzip2, snappy, lz4, zstd (default)")
    parser.add_argument("--overwrite", action="store_true", help="replace a FILE that exists, when all is well")


def loadtb(options, output):
    """Read pairs from stdin, in any format, and write them to a SequenceFile, as Hadoop's loadtb does.

    Keys and values become TypedBytesWritables. Without options the file is compressed as Hadoop
    does by default. FILE is there when all is well and not before; one that exists is an error, or
    with --overwrite is replaced then.

    examples:
      typedbytes from-json --pairs pairs.json | typedbytes loadtb part-00000
      typedbytes loadtb --compression block --codec zstd --overwrite out.seq < pairs.tb
    """
    if len(options.files) != 1:
        raise Failure(USAGE, "loadtb writes one FILE (see typedbytes loadtb --help)")
    (name,) = options.files
    how = {"compression": options.compression, "codec": options.codec, "dialect": options.dialect}
    options.pairs = True
    with replacing(name, options.overwrite) as file, reading("-", options, raw=True) as pairs, writing(file, **how) as writer:
        with typedbytes.PairWriter(UntilFailure(writer.write_typed)) as copy:
            copy.copy(pairs)


def repair(source, name, options):
    """Copy what is intact of a SequenceFile to another, of the same classes and codec; tell what is not, and return the exit code."""
    with reader(source, options, raw=True, resync=True) as damaged:
        how = {each: getattr(damaged, each) for each in ("key_class", "value_class", "version", "compression", "metadata")}
        bad = []
        # The input may be what is replaced: its name is given to the copy when that is whole.
        with replacing(options.repair) as file, writing(file, codec=damaged.codec or "default", **how) as writer:
            for index, (start, key, value) in enumerate(_with_starts(damaged)):
                try:
                    _decode(damaged.key_class, key, "key", options)
                    _decode(damaged.value_class, value, "value", options)
                except typedbytes.DecodeError as error:
                    error.offset, error.record = start, index
                    bad.append(sequencefile.Skipped(start, len(key) + len(value), 1, error))
                else:
                    writer.write_raw(key, value)
        return _tell(name, sorted(damaged.skipped + bad, key=lambda each: each.offset))


def _with_starts(damaged):
    """Yield each key and value behind where its record starts, or its block, or the marker in front of either."""
    start = end = damaged.offset
    for key, value in damaged:
        if damaged.offset != end:
            start, end = max([end, *(each.offset + each.nbytes for each in damaged.skipped[-1:])]), damaged.offset
        yield start, key, value


def _decode(class_name, data, part, options):
    """Decode a key or a value, for the errors that this raises; their messages say where in it."""
    try:
        sequencefile.decode(class_name, data, dialect=options.dialect)
    except typedbytes.DecodeError as error:
        error.message += f", byte {error.offset} of the {part}"
        raise


def _add_limits(parser):
    parser.add_argument("--dialect", choices=("hadoop", "hive"), default="hadoop", help="hive adds the codes 11, 12 and 177")
    parser.add_argument("--max-bytes", type=positive, metavar="N", help="refuse a record or block of more than N bytes")


@contextmanager
def writing(output, **how):
    """Give a writer of a SequenceFile to an Output."""
    try:
        writer = sequencefile.Writer(output, **how)
    except ValueError as error:
        raise Failure(USAGE, f"{output}: {error}") from None
    except ImportError as error:
        raise Failure(UNAVAILABLE, f"{output}: {error}") from None
    try:
        yield writer
    finally:
        writer.close()


def _tell(name, skipped):
    """Say on stderr what was passed over; return the exit code."""
    for each in skipped:
        nrecords = "" if each.nrecords is None else f", {each.nrecords} records"
        Failure(BAD_DATA, f"{shown(name)}: passed over {each.nbytes} bytes{nrecords}: {each.error}").report()
    return BAD_DATA if skipped else OK
