"""The output formats of --to: typed bytes, lines of JSON, block messages; SequenceFiles are in a module of their own.

A sink is given whole records, and what was read before a failure is written.
"""

import itertools
from contextlib import contextmanager

import typedbytes
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._records.decoding import decode_chunk
from typedbytes.cli._records.encoded import is_empty, is_pairs

BUFFER_NBYTES = 1 << 16
TEXT_FORMS = ("json", "text")
_CONTAINERS = frozenset((dict, list, tuple))


def format_of(form, output):
    """Return the name of the format in which records are written. form: a RecordForm."""
    is_json = form.plain or form.pretty
    name = form.target or ("json" if output.is_terminal or is_json else "typedbytes")
    if is_json and name != "json":
        raise Failure(USAGE, f"--plain and --pretty are forms of JSON, not of {name}")
    if name not in TEXT_FORMS:
        output.refuse_terminal()
    if name == "sequencefile":
        refuse_compressed("a SequenceFile", output)
    return name


def refuse_compressed(what, output):
    """Raise Failure for an output of a format that has a compression of its own, but is compressed by its name."""
    from typedbytes._base.compression import suffix_of_compressed

    suffix = suffix_of_compressed(str(output))
    if suffix:
        raise Failure(
            USAGE,
            f"{output}: {what} is not compressed as a whole, which its readers refuse: "
            f"leave out {suffix}, and compress what is in it by convert --codec",
        )


class Records:
    """Write the encoded records of one or more readers to a CommandOutput.

    form: a RecordForm; what more some formats have is a Layout of text,
    or the compression and the codec of a SequenceFile.
    """

    def __init__(self, form, output, **more):
        name = format_of(form, output)
        self._sink = _sink(name, form, output, **more)
        self._is_sequence_file = name == "sequencefile"
        self._is_expected = False  # of a reader some record may have been written
        self._first = None  # until then, the first reader
        # On a terminal each record is shown at once.
        self._nbytes = 1 if output.is_terminal else BUFFER_NBYTES

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        is_complete = False
        try:
            if kind is None and self._first is not None:
                self._sink.expect(self._first)
            is_complete = kind is None
        finally:
            self._sink.close(is_complete)

    @property
    def needs_reader(self):
        """Whether a reader is to be met although none of its records is written: a SequenceFile has its classes."""
        return self._is_sequence_file and not self._is_expected and self._first is None

    def meet(self, reader):
        """Take the classes of a reader of which no record may be written."""
        if self.needs_reader and not is_empty(reader):
            self._first = reader

    @contextmanager
    def writer(self, reader):
        """Yield a Writer of encoded records of the kind this reader gives; key and value may be written separately."""
        if not is_empty(reader):
            self._sink.expect(reader)
            self._is_expected, self._first = True, None
        with typedbytes.Writer(UntilFailure(self._sink.write), buffer_size=self._nbytes) as writer:
            yield writer

    def copy_all(self, inputs):
        """Write all records of all inputs."""
        for name in inputs:
            with inputs.reading(name) as reader:
                self.copy(reader)

    def copy(self, reader):
        """Write all records that a reader has left."""
        if is_empty(reader) or self._is_sequence_file and self._sink.copy_raw(reader):
            return
        with self.writer(reader) as writer:
            writer.copy(reader)


class UntilFailure:
    """Pass chunks of whole records on until that fails: a Writer closed then writes the same chunk again."""

    def __init__(self, write):
        self._write = write
        self._has_failed = False

    def write(self, chunk):
        """Pass a chunk on, unless an earlier one failed."""
        if not self._has_failed:
            self._has_failed = True
            self._write(chunk)
            self._has_failed = False


def _sink(name, form, output, layout=None, **options):
    if name == "typedbytes":
        return _TypedBytes(output)
    if name == "json":
        return _Json(output, form)
    if name == "block":
        return _Messages(output, form.dialect, form.unicode_errors)
    if name == "text":
        from typedbytes.cli._forms.text_form import TextOutput

        return TextOutput(output, form.dialect, layout)
    from typedbytes.cli._output.sequencefile import SequenceFileOutput

    return SequenceFileOutput(output, form.dialect, **options)


class _TypedBytes:
    def __init__(self, output):
        self.write = output.write

    def expect(self, reader):
        """Prepare for the records of this reader."""

    def close(self, is_complete):
        """Write what follows the last record; is_complete: there was no failure."""


class _Json(_TypedBytes):
    def __init__(self, output, form):
        from typedbytes import _report
        from typedbytes.cli._output import terminal

        self._text = _report.lines
        self._form = {"dialect": form.dialect, "plain": form.plain}
        self._indent = terminal.indented if form.pretty else None
        self._colour = terminal.coloured if terminal.wants_colours(output) else None
        self._output = output
        self._pairs = False
        self._shown = None
        if form.type is not None or form.key_type is not None:
            from typedbytes.cli._records.record_type import ShownRecords

            self._shown = ShownRecords(form.type, form.key_type, form.dialect)

    def expect(self, reader):
        """Prepare for the records of this reader."""
        self._pairs = is_pairs(reader)
        if self._shown is not None:
            self._shown.expect(reader)

    def write(self, records):
        """Write records as lines of JSON."""
        for chunk in (records,) if self._shown is None else self._shown.converted(records):
            self._write(chunk)

    def _write(self, records):
        text = self._text(records, pairs=self._pairs, **self._form)
        if self._indent:
            text = self._indent(text.decode()).encode()
        if self._colour:
            text = self._colour(text.decode()).encode()
        self._output.write(text)
        if self._output.is_terminal:
            self._output.flush()


class _Messages(_TypedBytes):
    """Write each record as a native block message: the items of a VECTOR, a key and its value, or one value."""

    def __init__(self, output, dialect, unicode_errors):
        from typedbytes.block import BlockEncoder

        self._encoder = BlockEncoder("native", unicode_errors=unicode_errors)
        self._output = output
        self._dialect = dialect
        options = {"dialect": dialect, "unicode_errors": unicode_errors, "exact": True}  # pickles stay as they are
        self._decoders = [typedbytes.Decoder(**options, map_pairs=each) for each in (False, True)]

    def expect(self, reader):
        """Prepare for the records of this reader."""
        self._is_pairs = is_pairs(reader)
        self._nbytes = self._nrecords = 0  # written of it

    def write(self, records):
        """Write records as messages, up to the first that cannot be one."""
        nparts = 2 if self._is_pairs else 1
        for values in decode_chunk(self._decoded, records, nparts, self._dialect, self._nbytes, self._nrecords):
            messages = []
            try:
                for value in values:
                    messages.append(self._encoder.encode(value if type(value) is tuple else (value,)))
            finally:
                self._nrecords += len(messages)
                self._output.write(b"".join(messages))
        self._nbytes += len(records)

    def _decoded(self, records):
        decodes = (each.decode_pairs if self._is_pairs else each.decode_all for each in self._decoders)
        decoded = (decode(records) for decode in decodes)
        values = next(decoded)
        items = itertools.chain.from_iterable(values) if self._is_pairs else values
        if _CONTAINERS.isdisjoint(map(type, items)):
            return values
        if _has_lost_keys(values, next(decoded)):
            raise typedbytes.FormatError("a MAP has equal keys, and a message can keep only one of them", 0)
        return values


def _has_lost_keys(value, pairs):
    """Return whether a dict in a value has fewer keys than the list of pairs decoded from the same MAP."""
    if type(value) is dict and type(pairs) is list:  # and not out of a pickle
        return len(value) != len(pairs) or any(map(_has_lost_keys, value.values(), (item for _, item in pairs)))
    return type(value) in (tuple, list) and any(map(_has_lost_keys, value, pairs))
