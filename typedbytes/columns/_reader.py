"""The BatchReader: records of any source to batches, one after another.

Here: where bytes come from, what happens at a value of another type, errors. Not here: the decoding itself, which is compiled, and
how it is divided among threads.
"""

import os

from typedbytes import _core
from typedbytes.columns import _native, _type_strings
from typedbytes.columns._batch import Batch, BatchStream, is_number, split_name
from typedbytes.columns._threads import Parallel
from typedbytes.errors import DecodeError, FormatError, LimitError
from typedbytes.files import PairReader, Reader

__all__ = ["BatchReader", "MismatchError", "read"]

_READ_NBYTES = 1 << 20
_POLICIES = ("error", "widen", "split")
_SEQUENCE_FILE = b"SEQ"
_AS_THEY_ARE = {"exact": True, "pickle": "raw", "map_pairs": True}  # how a record is decoded for its error


class MismatchError(DecodeError):
    """Report a value of another kind than its column; `offset`, `record`, `code` and `path` say which.

    >>> import typedbytes
    >>> list(read(typedbytes.dumps(1) + typedbytes.dumps("a"), schema=["int"], pairs=False))
    Traceback (most recent call last):
    typedbytes.columns.MismatchError: STRING in column 'value', which holds int, at offset 5, record 1
    """

    __module__ = "typedbytes.columns"


def read(
    source, batch_rows=65536, schema=None, *, columns=None, pairs=True, on_mismatch="error", threads=1, dialect="hadoop", max_depth=256
):
    """Read a stream of like-shaped pairs, or of values, as batches of columns.

    source: whatever a Reader takes; the path or the bytes of a SequenceFile, or a Reader of one. batch_rows: rows of a batch,
    fewer in the last one and before a column would pass 2^31-1 bytes or items. schema: a type for each value of a record, by
    name or in order ({"word": "string", "n": "long"}); None: that of the first record. columns: the names, or paths such as
    "value.1", of those wanted; the others are walked over. pairs: whether records are pairs, named key and value, or single
    values. on_mismatch: what happens at a value of another kind than its column: "error" raises MismatchError after the rows
    before it; "widen" makes the column one that holds both (INT to LONG, FLOAT to DOUBLE, VECTORs of one arity to VECTORs of
    any, all else to raw: encoded values); "split" ends the batch and takes a new schema from that record. threads: that
    decode, a batch or 16 MiB each at a time. dialect, max_depth: as for Reader.

    Returns a BatchReader. Iterating raises TruncatedError, FormatError and LimitError as a Reader does. In a SequenceFile the
    offset of an error is where the record starts, or its block.

    >>> import typedbytes
    >>> data = typedbytes.Encoder().encode_pairs([(1, 0.5), (2, 1.5), (3, 2.5)])
    >>> [batch.column("value").tolist() for batch in read(data, batch_rows=2)]
    [[0.5, 1.5], [2.5]]
    """
    return BatchReader(
        source, batch_rows, schema, columns=columns, pairs=pairs, on_mismatch=on_mismatch, threads=threads, dialect=dialect,
        max_depth=max_depth,
    )  # fmt: skip


@_core.step_as_base
class BatchReader(_core.RecordIterator):
    """Iterate over the batches of a stream; made by `read`.

    Arrow's consumers take what is left by `__arrow_c_stream__`, once. After an error it is raised again by every call. Iterating,
    `schema` and `close` raise RuntimeError while another thread, or the source, is in one of them; whoever was first goes on.

    >>> list(BatchReader(b""))
    []
    """

    __module__ = "typedbytes.columns"

    def __init__(
        self, source, batch_rows=65536, schema=None, *, columns=None, pairs=True, on_mismatch="error", threads=1, dialect="hadoop",
        max_depth=256,
    ):  # fmt: skip
        if batch_rows < 1 or threads < 1:
            raise ValueError("batch_rows and threads are at least 1")
        if on_mismatch not in _POLICIES:
            raise ValueError(f'on_mismatch is "error", "widen" or "split", not {on_mismatch!r}')
        self._names, types = _schema(schema, pairs, dialect)
        self._shown, self._paths = _projection(columns, self._names)
        self._batch_rows = batch_rows
        self._policy = on_mismatch
        self._structure = structure = {"dialect": dialect, "max_depth": max_depth}
        self._builder = self._new_builder(types)
        self._is_new = types is None  # the types come from the next record
        self._in_file = _is_sequence_file(source)
        self._reader = (_sequence_file if self._in_file else _stream_reader)(source, pairs, structure)
        self._parallel = Parallel(threads) if threads > 1 else None
        self._memory = _memory_of(source) if threads > 1 and not self._in_file else None
        self._ready = []
        self._source_failure = None  # waits for the rows before it
        self._has_ended = False
        self._most = batch_rows  # rows of the batch that is being filled
        self._whole_groups = False
        self._nrows = 0
        self._start = self._nheld = self._ntaken = self._taken = 0

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    @property
    def record(self):
        """Give the number of records handed out.

        >>> reader = read(b"\\x02\\x01" * 6, batch_rows=2); next(reader).names, reader.record
        (('key', 'value'), 2)
        """
        return self._nrows

    @property
    def offset(self):
        """Give the number of bytes taken from the source for records so far.

        >>> reader = read(b"\\x02\\x01" * 6, batch_rows=2); next(reader).names, reader.offset
        (('key', 'value'), 8)
        """
        return self._taken

    @property
    def failure(self):
        """Give the error that iterating failed with, None as long as it has not.

        >>> read(b"").failure is None
        True
        """
        return self._failure

    def groups(self):
        """Have batches end where a key ends, so that all records of a key are in one; return the reader.

        The records come sorted or grouped by key, as in a reducer; keys are compared by their encoded bytes. A batch has
        more than batch_rows rows when one key has. Not with threads, on_mismatch="split" or a projection.

        >>> import typedbytes
        >>> data = typedbytes.Encoder().encode_pairs([("a", 1), ("a", 2), ("b", 3), ("c", 4)])
        >>> [batch.column("value").tolist() for batch in read(data, batch_rows=3).groups()]
        [[1, 2], [3, 4]]
        """
        if self._parallel is not None or self._policy == "split" or self._paths is not None:
            raise ValueError("batches of whole groups need one thread, one schema and all columns")
        self._whole_groups = True
        return self

    @property
    def schema(self):
        """Give the type of each column as text, by name; the first batch is read for it.

        >>> read(b"").schema
        {'key': 'unknown', 'value': 'unknown'}
        """
        return self._call(self._peek).schema

    def __arrow_c_stream__(self, requested_schema=None):
        """Export all batches that are left as a capsule "arrow_array_stream"."""
        first = self._call(self._peek)
        return _native.arrow_stream(BatchStream(self, first))

    def close(self):
        """Let go of the source; it stays open unless it was opened from a path.

        >>> read(b"").close()
        """
        self._hold(self._close)

    def _close(self):
        if self._parallel is not None:
            self._parallel.close()
        if self._memory is not None:
            self._memory.release()    # a thread that is done may not have let go of it yet
        self._ready = []
        self._reader.close()

    def _new_builder(self, types):
        return _native.Builder(types, len(self._names), self._paths, self._policy, **self._structure)

    def _peek(self):
        """Return the next batch, which stays the next one; an empty one at the end."""
        if not self._ready:
            batch = self._step()
            if batch is _core.END:
                return self._empty()
            self._ready.insert(0, batch)
            self._nrows -= len(batch)    # it is handed out later
        return self._ready[0]

    def _step(self):
        """Return the next batch, END at the end and from then on."""
        if self._has_ended:
            return _core.END
        try:
            batch = self._ready.pop(0) if self._ready else self._next()
        except BaseException:
            self._close()
            raise
        if batch is None:
            self._has_ended = True
            self._close()
            return _core.END
        self._nrows += len(batch)
        return batch

    def _empty(self):
        types = self._builder.described or (("unknown",),) * len(self._names)
        return self._new_builder(types).finish(Batch, self._shown)

    def _next(self):
        """Return the next batch, None at the end of input."""
        wanted = 1
        while self._hand(wanted):
            if self._ready:
                return self._ready.pop(0)
            state = self._builder.state
            if state == "more":
                ended = self._nheld < wanted
                wanted = 2 * self._nheld if self._ntaken == 0 else 1
                if not ended or self._ntaken:
                    continue
            if self._whole_groups and state in ("full", "limit"):
                batch = self._next_groups(state)
                if batch is None:
                    continue
                return batch
            if self._builder.nrows:
                return self._builder.finish(Batch, self._shown)
            if state == "mismatch" and self._policy == "split" and not self._is_new:
                self._forget_types()
                continue
            self._raise(state)
        return self._builder.finish(Batch, self._shown) if self._builder.nrows else None

    def _hand(self, wanted):
        """Let more bytes be taken; False at the end of input, and where the source's error waits for the rows before it."""
        if self._source_failure is not None:
            raise self._source_failure
        self._nheld = 0
        try:
            there = self._reader._hand(self._take, wanted)
        except Exception as error:
            if self._nheld or not self._builder.nrows:
                raise  # at once, when it was not the source's
            self._source_failure = error
            return False
        self._taken = self._reader.offset
        return there

    def _next_groups(self, state):
        """Return the groups that are whole; None when there is but one, which may go on: the batch grows."""
        start = self._builder.last_group()
        if start == 0:
            if state == "limit":
                message = "the records of one key are more than a batch can hold"
                raise LimitError(message, self._reader.offset, None, "", self._reader.record)
            self._most = 2 * self._builder.nrows
            return None
        self._most = self._batch_rows
        return self._builder.finish(Batch, self._shown, start)

    def _take(self, view):
        """Take records from the bytes that are held."""
        self._start, self._nheld = self._reader.offset, len(view)
        nbytes = nrecords = 0
        if self._parallel is not None:
            nbytes, nrecords = self._parallel.take(self, view)
            self._is_new = self._is_new and not nbytes
            if self._ready:
                return nbytes, nrecords
        if self._builder.state == "split" and not self._builder.nrows:
            self._forget_types()
        self._start += nbytes
        try:
            with view[nbytes:] as rest:
                self._ntaken, n = self._builder.append_records(rest, self._most)
        except LimitError as error:
            raise LimitError(error.message, self._start, None, "", self._reader.record) from None
        self._is_new = self._is_new and not self._ntaken
        self._ntaken += nbytes
        return self._ntaken, nrecords + n

    def _forget_types(self):
        self._builder.forget_types()
        self._is_new = True

    def _raise(self, state):
        """Say what is wrong with the record that is next."""
        builder = self._builder
        if state == "mismatch":
            name, found, wanted = self._names[builder.column], _code_name(builder.code), _type_strings.spell(builder.expected)
            offset = self._reader.offset if self._in_file else self._start + builder.place
            raise MismatchError(
                f"{found} in column {name!r}, which holds {wanted},", offset, builder.code, builder.path, self._reader.record
            )
        self._reader.read()
        raise FormatError("a record that decodes, but is no row", self._reader.offset)


def _is_sequence_file(source):
    """Tell whether a source is a Reader of a SequenceFile, or the path or the bytes of one."""
    if hasattr(source, "_read_typed"):
        return True
    if isinstance(source, (str, os.PathLike)):
        if not os.path.isfile(source):
            return False  # a pipe would lose what is looked at
        with open(source, "rb") as file:
            return file.read(len(_SEQUENCE_FILE)) == _SEQUENCE_FILE
    try:
        with memoryview(source) as view:
            return view.cast("B")[: len(_SEQUENCE_FILE)] == _SEQUENCE_FILE
    except (TypeError, ValueError):  # no buffer, or none of bytes in a row
        return False


def _memory_of(source):
    """Return a view of a source whose bytes stay where they are, None of one that is read."""
    try:
        with memoryview(source) as view:
            return view.cast("B") if view.c_contiguous else None
    except (TypeError, ValueError):  # no buffer, or none whose items are known
        return None


def _sequence_file(source, pairs, structure):
    """Return who hands over the pairs of a SequenceFile."""
    from typedbytes import sequencefile    # its users only
    from typedbytes.sequencefile._typed_pairs import TypedPairs

    if not pairs:
        raise ValueError("the records of a SequenceFile are pairs")
    ours = not hasattr(source, "_read_typed")
    reader = sequencefile.Reader(source, **structure) if ours else source
    return TypedPairs(reader, ours, **_AS_THEY_ARE, **structure)


def _stream_reader(source, pairs, structure):
    """Return who hands over the records of a stream."""
    return (PairReader if pairs else Reader)(source, buffer_size=_READ_NBYTES, **_AS_THEY_ARE, **structure)


def _code_name(code):
    from typedbytes._typecodes import TypeCode

    return TypeCode(code).name if code in TypeCode._value2member_map_ else f"type code {code}"


def _schema(schema, pairs, dialect):
    """Return the names of a record's values and their types, None: not known."""
    names = ("key", "value") if pairs else ("value",)
    if schema is None:
        return names, None
    if isinstance(schema, dict):
        texts, own = tuple(schema.values()), tuple(schema)
    else:
        texts, own = tuple(schema), names
    if len(texts) != len(names):
        raise ValueError(f"a schema has {len(names)} types here, not {len(texts)}")
    types = tuple(map(_type_strings.parse, texts))
    for text in map(_type_strings.spell, types):
        if ("ext<177>" if dialect == "hive" else "short") in text:
            raise ValueError(f"there are no values of {text!r} in the dialect {dialect!r}")
    return own, types


def _projection(columns, names):
    """Return the names of the columns shown, and the way to each through a record; None: all."""
    if columns is None:
        return names, None
    paths = []
    for place in columns:
        found = split_name(place, names)
        if found is None or not all(map(is_number, found[1])):
            raise LookupError(f"there is no column {place!r}; those of {', '.join(names)} and items of VECTORs can be wanted")
        paths.append((found[0], *map(int, found[1])))
    return tuple(columns), tuple(paths)
