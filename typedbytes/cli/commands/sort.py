"""Commands that put records in Hadoop's order: sort and partition. No value is made of them; the work is compiled.

Here: inputs as sources of typed bytes, and where the sorted records go. Always true: a record is written when all inputs have been
read and found whole.
"""

import io
import os
import tempfile
from contextlib import contextmanager
from itertools import chain

import typedbytes
from typedbytes._sorting import external
from typedbytes._sorting._native import Sorter
from typedbytes._whole import whole_folder
from typedbytes.cli._formats import CHUNK_NBYTES, Encoded, Pairs, limited_source_of
from typedbytes.cli._failure import BAD_DATA, IO_ERROR, USAGE, Failure, because
from typedbytes.cli._output import Unwritten
from typedbytes.cli._parser import add_picking_arguments, add_stream_arguments, positive, size
from typedbytes.cli._record_output import Records
from typedbytes.cli._inputs import blaming, names, opened, recognised, shown, unless_pairs


def sort_arguments(parser):
    """Declare the arguments of sort."""
    add_picking_arguments(parser)
    _add_memory(parser)


def sort(options, output):
    """Sort values by their encoded bytes, and pairs by those of their keys.

    That is the order in which Hadoop gives TypedBytesWritables to a reducer: bytes unsigned, so
    negative numbers stand behind positive ones and short strings before long ones. Records with
    equal keys stay in the order they came in. What does not fit the memory goes into temporary
    files, where TMPDIR says.

    examples:
      typedbytes sort --pairs part-0*.tb -o sorted.tb
      typedbytes sort --memory 4G < big.tb | typedbytes uniq > distinct.tb
    """
    inputs = _Inputs(options)
    with inputs.blamed():
        if output.is_terminal or options.to not in (None, "typedbytes"):
            _sort_for_show(inputs, options, output)
        else:
            _sort_into(output, inputs, options)


def _sort_into(sink, inputs, options):
    sources, nparts = inputs.sources()
    external.sort(sources, sink, nparts=nparts, memory=options.memory, dialect=options.dialect)
    return nparts


def _sort_for_show(inputs, options, output):
    """Sort into a file first: the other formats are made of whole records."""
    with tempfile.TemporaryFile(buffering=0) as file:
        nparts = _sort_into(file, inputs, options)
        file.seek(0)
        reader = inputs.reader_of_sorted(file, nparts)
        with Records(options, output) as records, records.writer(reader) as writer:
            writer.copy(reader)


def partition_arguments(parser):
    """Declare the arguments of partition."""
    add_stream_arguments(parser)
    parser.set_defaults(picks=True)
    _add_memory(parser)
    parser.add_argument("-n", type=positive, required=True, metavar="N", dest="npartitions", help="how many reducers there are")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", dest="folder", help="where part-00000 and so on are written")


def partition(options, output):
    """Write each record to the file of the reducer that Hadoop's HashPartitioner sends its key to.

    The files FOLDER/part-00000 and so on hold typed bytes, the records in the order they came in.
    FOLDER is there when all is well and not before; it may exist already only if it is empty.

    examples:
      typedbytes partition -n 8 --pairs pairs.tb -o by-reducer
    """
    inputs = _Inputs(options)
    with inputs.blamed(), _replacing(options.folder) as folder:
        _partition_into(folder, inputs, options)


def _partition_into(folder, inputs, options):
    sources, nparts = inputs.sources()
    how = {"nparts": nparts, "npartitions": options.npartitions, "memory": external.left_of(options.memory), "dialect": options.dialect}
    try:
        sorter = Sorter(by="partition", **how)
    except ValueError as error:
        raise Failure(USAGE, f"argument -n: {error}") from None
    for source in sources:
        while sorter.fill(source):
            _append(sorter, folder)
    _append(sorter, folder)


def _append(sorter, folder):
    """Append what has been gathered to the files of a folder."""
    for number in range(len(sorter.sort())):
        with open(os.path.join(folder, f"part-{number:05}"), "ab", buffering=0) as file:
            sorter.write(number, file)
    sorter.clear()


@contextmanager
def _replacing(place):
    try:
        with whole_folder(place) as folder:
            yield folder
    except OSError as error:
        raise Unwritten(place, error) from None


class _Inputs:
    """The inputs as sources of typed bytes; what goes wrong while they are read is blamed on the one that is read."""

    def __init__(self, options):
        self._options = options
        self._name = "-"
        self._sequence_file = None  # the first of them, whose classes the output has

    @contextmanager
    def blamed(self):
        """Turn what is wrong with the data into a Failure that names the input, and what is wrong with files into another."""
        try:
            yield
        except typedbytes.DecodeError as error:
            raise Failure(BAD_DATA, f"{shown(self._name)}: {error}") from None
        except OSError as error:
            raise Failure(IO_ERROR, f"temporary files: {because(error)}") from None

    def sources(self):
        """Return an iterator over the sources and the number of values that a record has."""
        found = self._opened()
        first, nparts = next(found)
        return chain([first], (source for source, n in found if self._agrees(n, nparts))), nparts

    def reader_of_sorted(self, file, nparts):
        """Return a reader of the sorted records in a file."""
        how = {"raw": True, "dialect": self._options.dialect}
        if self._sequence_file:
            return Pairs(Encoded(iter(lambda: file.read(CHUNK_NBYTES) or None, None), self._sequence_file), **how)
        return (typedbytes.PairReader if nparts == 2 else typedbytes.Reader)(file, **how)

    def _check_header(self, source, is_first):
        """Of the inputs for a SequenceFile raise Failure unless all have the same classes."""
        from typedbytes.cli._sequencefile_output import agreed, header_of  # its users only

        if is_first:
            self._sequence_file = getattr(source, "sequence_file", None)
            self._header = header_of(source)
        agreed(self._header, header_of(source))

    def _agrees(self, nparts, expected):
        if nparts != expected:
            raise Failure(USAGE, "inputs of pairs and of values together: --pairs takes all for pairs")
        return True

    def _opened(self):
        for number, name in enumerate(names(self._options)):
            with opened(name) as source:
                self._name = name
                form, source = recognised(source, self._options)
                nparts = 2 if self._options.pairs or form == "sequencefile" else 1
                source = unless_pairs(source, form, name, self._options)
                source = limited_source_of(source, form, shown(name), self._options)
                if getattr(self._options, "to", None) == "sequencefile":
                    self._check_header(source, is_first=number == 0)
                yield _Blaming(source, name), nparts


class _Blaming(io.RawIOBase):
    """Read from a source; an OSError there is a Failure that names the input, so that nobody takes it for one of an output."""

    def __init__(self, source, name):
        self._source = source
        self._name = name

    def readinto(self, target):
        """Fill the front of a buffer; return how many bytes that were."""
        with blaming(self._name):
            return self._source.readinto(target)


def _add_memory(parser):
    parser.add_argument("--memory", type=size, default=512 << 20, metavar="SIZE", help="how much may be used, such as 4G (512M)")
