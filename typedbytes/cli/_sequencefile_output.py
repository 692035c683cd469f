"""SequenceFiles for the commands: as inputs like others, dumptb and loadtb, which Hadoop has under these names, and repair.

Here: a SequenceFile as a stream of pairs, folders of part files, and a SequenceFile as an output. Not here: the format. Always true: what a command reads of
a SequenceFile is what Hadoop's dumptb writes; damage is told on stderr and in the exit code, also where it was passed over.
"""

from collections import namedtuple
from contextlib import contextmanager

import typedbytes
from typedbytes import sequencefile
from typedbytes.cli._formats import CHUNK_NBYTES
from typedbytes.cli._failure import BAD_DATA, OK, UNAVAILABLE, USAGE, Failure
from typedbytes.cli._output import replacing
from typedbytes.cli._parser import add_output_argument, positive
from typedbytes.cli._record_output import UntilFailure, split
from typedbytes.cli._inputs import is_pairs, names, opened, reading, shown


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


# The output of --to sequencefile.

_IO = "org.apache.hadoop.io."
_TYPED = "org.apache.hadoop.typedbytes.TypedBytesWritable"
_MAPS = (f"{_IO}MapWritable", f"{_IO}SortedMapWritable")

Header = namedtuple("Header", "key_class value_class metadata")


def header_of(reader):
    """Return what the header of a reader's SequenceFile says of its records; of any other reader they are TypedBytesWritables."""
    file = getattr(reader, "sequence_file", None)
    return Header(_TYPED, _TYPED, {}) if file is None else Header(*(getattr(file, each) for each in Header._fields))


def agreed(header, other):
    """Return the header for records of both; raises Failure where they have different classes or metadata."""
    if header[:2] != other[:2]:
        both = " and ".join("/".join(name.rpartition(".")[2] for name in each[:2]) for each in (header, other))
        raise Failure(USAGE, f"inputs of different classes, {both} (typedbytes dumptb FILE... | typedbytes loadtb OUT takes them all)")
    if header.metadata != other.metadata:
        raise Failure(USAGE, "inputs with different metadata, of which a SequenceFile has one")
    return header


class Sink:
    """Write pairs to a SequenceFile of the classes and with the metadata that its inputs have."""

    def __init__(self, options, output):
        self._output = output
        self._how = {name: value for name in ("compression", "codec") if (value := getattr(options, name, None))}
        self._how["dialect"] = options.dialect
        self._header = self._writer = None

    def expect(self, reader):
        """Take the records of this reader next."""
        self._open(reader)
        for name in self._header[:2]:
            if name in _MAPS:
                raise Failure(USAGE, f"a {name.rpartition('.')[2]} is not made again of its typed bytes (typedbytes convert copies such files)")

    def _open(self, reader):
        if not is_pairs(reader):
            raise Failure(USAGE, "a SequenceFile holds pairs: --pairs reads keys and values in turn")
        if self._header is None:
            self._start(header_of(reader))
        else:
            agreed(self._header, header_of(reader))

    def _start(self, header):
        self._header = header
        self._writing = writing(self._output, **header._asdict(), **self._how)
        self._writer = self._writing.__enter__()
        self._raws = [_raw_of(name) for name in header[:2]]

    def copy_raw(self, reader):
        """Copy what has no way back from typed bytes as it is; return whether that was all."""
        self._open(reader)
        if not {*self._header[:2]}.intersection(_MAPS):
            return False
        for key, value in reader.sequence_file:
            self._writer.write_raw(key, value)
        return True

    def write(self, records):
        """Write whole pairs."""
        if self._header[:2] == (_TYPED, _TYPED):
            self._writer.write_typed(records)
            return
        key_raw, value_raw = self._raws
        parts = split(bytes(records), 1, self._how["dialect"])
        for key, value in zip(parts, parts):
            self._writer.write_raw(key_raw(key), value_raw(value))

    def close(self, is_whole):
        """End the file."""
        if self._writer is None and is_whole:
            self._start(Header(_TYPED, _TYPED, {}))
        if self._writer is not None:
            self._writing.__exit__(None, None, None)


def _raw_of(class_name):
    """Return the function that gives the bytes of a class for the typed bytes that a SequenceFile's Reader made of them."""
    if class_name == _TYPED:
        return lambda typed: len(typed).to_bytes(4, "big") + typed
    if class_name in (f"{_IO}{name}Writable" for name in ("Bytes", "Int", "Long", "Byte", "Float", "Double", "Boolean")):
        return lambda typed: typed[1:]
    if class_name == f"{_IO}Text":
        return lambda typed: sequencefile.encode("VIntWritable", len(typed) - 5) + typed[5:]
    if class_name in (f"{_IO}VIntWritable", f"{_IO}VLongWritable"):
        return lambda typed: sequencefile.encode(class_name, int.from_bytes(typed[1:], "big", signed=True))
    start = 9 + len(class_name.encode())
    return lambda typed: typed[start:]  # code 50, two lengths and the name


def _tell(name, skipped):
    """Say on stderr what was passed over; return the exit code."""
    for each in skipped:
        nrecords = "" if each.nrecords is None else f", {each.nrecords} records"
        Failure(BAD_DATA, f"{shown(name)}: passed over {each.nbytes} bytes{nrecords}: {each.error}").report()
    return BAD_DATA if skipped else OK
