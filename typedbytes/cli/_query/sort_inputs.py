"""The inputs of sort and partition, as sources of typed bytes. Records are not decoded."""

import io
from contextlib import closing, contextmanager
from itertools import chain

import typedbytes
from typedbytes.cli._failure import BAD_DATA, IO_ERROR, Failure, display_name, reason_of
from typedbytes.cli._input.formats import CHUNK_NBYTES, EMPTY
from typedbytes.cli._input.inputs import as_input_failure, opened
from typedbytes.cli._records.encoded import Encoded, Pairs


class SortInputs:
    """Inputs as sources of typed bytes; an error while they are read names the input being read.

    is_one_file: all records go to one SequenceFile.
    """

    def __init__(self, inputs, is_one_file=False):
        self._inputs = inputs
        self._is_one_file = is_one_file
        self._name = "-"
        self._sequence_file = None  # the first of them, whose classes the output has
        self._header = None  # of the first input
        self._opened = self._open_each()

    @contextmanager
    def name_failures(self):
        """Turn an error in the data into a Failure that names the input, and close the input.

        An OSError is then one of the temporary files.
        """
        try:
            with closing(self._opened):  # not left to the collector: tracebacks refer to it
                yield
        except typedbytes.DecodeError as error:
            raise Failure(BAD_DATA, f"{display_name(self._name)}: {error}") from None
        except OSError as error:
            raise Failure(IO_ERROR, f"temporary files: {reason_of(error)}") from None

    def sources(self):
        """Return an iterator over the sources, and the number of values in a record."""
        first, nparts = next(self._opened, (io.BytesIO(), 2 if self._inputs.pairs else 1))
        return chain([first], (source for source, _ in self._opened)), nparts

    def reader_of_sorted(self, file, nparts):
        """Return a reader of the sorted records in a file."""
        options = {"raw": True, "dialect": self._inputs.dialect}
        if self._sequence_file:
            return Pairs(Encoded(iter(lambda: file.read(CHUNK_NBYTES) or None, None), self._sequence_file), **options)
        return (typedbytes.PairReader if nparts == 2 else typedbytes.Reader)(file, **options)

    def _check_header(self, source):
        """Raise Failure if the inputs for a SequenceFile have different classes; an empty one has none."""
        from typedbytes.cli._output.sequencefile import check_same_header, header_of

        if self._header is None:
            self._sequence_file = getattr(source, "sequence_file", None)
            self._header = header_of(source)
        check_same_header(self._header, header_of(source))

    def _open_each(self):
        inputs = self._inputs
        for name in inputs:
            with opened(name) as source:
                self._name = name
                form, source = inputs.recognised(source, name)
                if form == EMPTY:
                    continue
                nparts = 2 if inputs.pairs or form == "sequencefile" else 1
                source = inputs.source_of(inputs.check_for_pairs(source, form, name), form, name)
                if self._is_one_file:
                    self._check_header(source)
                inputs.check_kind(nparts == 2, name)
                yield _NamedSource(source, name), nparts


class _NamedSource(io.RawIOBase):
    """Read from a source; an OSError becomes a Failure that names the input, unlike one of an output."""

    def __init__(self, source, name):
        self._source = source
        self._name = name

    def readinto(self, target):
        with as_input_failure(self._name):
            return self._source.readinto(target)
