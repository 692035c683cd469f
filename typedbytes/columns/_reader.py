"""The BatchReader: reads records from any source, as batches.

Here: reading, the order of batches and errors, whole groups. Not here:
sources, how records become batches, and how that is divided among threads.
"""

from __future__ import annotations

from typedbytes import _core
from typedbytes.columns import _native, _sources, _wanted, type_strings
from typedbytes.columns._assembly import Assembly
from typedbytes.columns._batch import BatchStream, Remaining
from typedbytes.columns._exports import Exports, shown
from typedbytes.columns._threads import BlocksAhead, Parallel
from typedbytes.errors import DecodeError, FormatError, LimitError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Self

    from typedbytes._base.options import ClassTexts, Dialect
    from typedbytes.columns._batch import Batch
    from typedbytes.columns._read import Policy, Schema, Serde

__all__ = ["BatchReader", "MismatchError"]


class MismatchError(DecodeError):
    """Raised for a value of another type than its column; `offset`, `record`, `code` and `path` locate it.

    >>> import typedbytes
    >>> try:
    ...     list(read(typedbytes.dumps(1) + typedbytes.dumps("a"), schema=["int"], pairs=False))
    ... except MismatchError as error:
    ...     print(error.offset, error.record)
    5 1
    """

    __module__ = "typedbytes.columns"


@_core.step_as_base  # otherwise Python looks up __next__ for each batch
class BatchReader(_core.RecordIterator, Exports):
    """Iterate over the batches of a stream; returned by `read`.

    Consumers of Arrow data import the batches that are left by `__arrow_c_stream__`. When they, or a method for all of
    them, have read the last, another such call raises ValueError. After an error every call raises it again.
    Iterating, `schema` and `close` raise RuntimeError if another call of them is in progress, in another thread or in
    the source; that call is not affected.

    >>> list(BatchReader(b""))
    []
    """

    __module__ = "typedbytes.columns"

    if TYPE_CHECKING:

        def __iter__(self) -> Self: ...
        def __next__(self) -> Batch: ...

    def __init__(
        self, source: Any, batch_rows: int = 65536, schema: Schema | None = None, *, batch_nbytes: int | None = None,
        columns: Sequence[str] | None = None, pairs: bool = True, on_mismatch: Policy = "error", threads: int = 1,
        dialect: Dialect = "hadoop", max_depth: int = 256, encoding: str = "utf-8", unicode_errors: str = "strict",
        recursive: bool = False, type: Any = None, key_type: Any = None, value_type: Any = None,
        classes: ClassTexts = None, serde: Serde = "text",
    ) -> None:  # fmt: skip
        nbytes = _wanted.checked_nbytes(batch_rows, batch_nbytes, threads, on_mismatch)
        if unicode_errors == "strict" and _sources.is_sequence_reader(source):
            unicode_errors = source.__unicode_errors__
        text = _wanted.text_encoding(encoding, unicode_errors)
        files = _sources.files_of(source, recursive)
        if files:
            files = _sources.from_first_with_bytes(files)
        kind = _sources.kind_of(source if files is None else next(iter(files), None))
        rows: Any = None
        self._typed: Any = None  # the columns of a class
        names: tuple[str, ...] = ("row",)
        types = visible = paths = convert = None
        if kind == "rcfile":
            if not type is key_type is value_type is classes is None:
                raise ValueError("the columns of an RCFile have a schema, not a type or classes")
            if on_mismatch == "split":
                raise ValueError('on_mismatch="split" infers types again, and those of an RCFile are given')
            from typedbytes.columns import _rcfile

            rows = _rcfile.RowColumns(schema, columns, serde, max_depth)
            dialect = _rcfile.DIALECT
        elif type is key_type is value_type is None:
            names, types = _wanted.names_and_types(schema, pairs, dialect)
            visible, paths = _wanted.projection(columns, names)
        else:
            if schema is not None or on_mismatch != "error" or text is not None:
                raise ValueError(
                    "schema, on_mismatch and encoding cannot be combined with a type, which says what values are"
                )
            from typedbytes.columns import _typed

            self._typed = typed = _typed.columns_of(type, key_type, value_type, dialect, max_depth)
            pairs, names, types, convert = type is None, typed.value_names, typed.types, typed.convert
            visible, paths = typed.projection(columns)
        structure: dict[str, Any] = {"dialect": dialect, "max_depth": max_depth}
        options = {**structure, **_wanted.options_of_text(text)}
        self._rows = rows  # of RCFiles
        self._ahead = BlocksAhead(threads)
        self._open(source, files, kind, rows, pairs, options, self._typed and self._typed.options, self._ahead, classes)
        try:
            if rows:
                visible, paths, types = rows.visible, rows.paths, rows.types
            if types is None and (described := getattr(self._reader, "column_types", None)):
                types = tuple(map(type_strings.parse, described))
            self._assembly = Assembly(
                names, types, visible, paths, batch_rows, nbytes, on_mismatch, structure, convert, text
            )
        except BaseException:
            self._reader.close()
            raise
        is_divided = threads > 1 and not self._in_file
        self._memory = _sources.memory_of(source) if is_divided else None
        self._parallel = Parallel(threads, self._assembly, self._memory) if is_divided else None
        self._source_failure: Exception | None = None  # raised after the rows before it
        self._has_ended = self._was_read = False
        self._whole_groups = False
        self._can_be_shown = _sources.is_available_at_once(source)  # without waiting for it
        self._nrows = self._start = self._nbuffered = self._nused = self._offset = self._batch_offset = 0

    def _open(self, source, files, kind, rows, *arguments):
        self._files = None if files is None else _sources.Files(files, kind, rows, *arguments)
        self._in_file = files is None and kind is not None
        open_one = rows.open if rows else _sources.sequence_file if self._in_file else _sources.stream
        self._reader = self._files or open_one(source, *arguments)

    def __repr__(self) -> str:
        return shown(self, self._can_be_shown or bool(self._assembly.ready))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def record(self) -> int:
        r"""The number of records in the batches returned so far.

        >>> reader = read(b"\x02\x01" * 6, batch_rows=2); next(reader).names, reader.record
        (('key', 'value'), 2)
        """
        return self._nrows

    @property
    def offset(self) -> int:
        r"""The number of bytes of the source used for records so far.

        >>> reader = read(b"\x02\x01" * 6, batch_rows=2); next(reader).names, reader.offset
        (('key', 'value'), 8)
        """
        return self._offset

    @property
    def failure(self) -> BaseException | None:
        """The error that iterating failed with, or None.

        >>> read(b"").failure is None
        True
        """
        return self._failure

    def groups(self) -> Self:
        """End batches only where a key ends, so that all records of a key are in one batch; return the reader.

        The records must be sorted or grouped by key, as in a reducer; keys are compared by their encoded bytes. A
        batch has more than batch_rows rows if one key has. The records of the last key before an error are not
        returned. Cannot be combined with threads, on_mismatch="split" or columns, and comes before the first batch,
        which `schema` reads too.

        >>> import typedbytes
        >>> data = typedbytes.Encoder().encode_pairs([("a", 1), ("a", 2), ("b", 3), ("c", 4)])
        >>> [batch.column("value").tolist() for batch in read(data, batch_rows=3).groups()]
        [[1, 2], [3, 4]]
        """
        if self._parallel is not None or self._assembly.policy == "split" or self._assembly.paths is not None:
            raise ValueError('groups() cannot be combined with threads, on_mismatch="split" or columns')
        if (self._assembly.ready or self._nrows) and not self._whole_groups:
            raise ValueError(
                "groups() comes before the first batch, and before schema, which reads it: a group may end in it"
            )
        self._whole_groups = True
        return self

    @property
    def schema(self) -> dict[str, str]:
        """The type of each column as text, by name; this reads the first batch.

        >>> read(b"").schema
        {'key': 'unknown', 'value': 'unknown'}
        """
        return self._call(self._peek).schema

    def read_all(self) -> list[Batch]:
        r"""Return all batches that are left, as a list.

        >>> read(b"\x02\x01" * 6, batch_rows=2).read_all()[0].column("key").tolist()
        [True, True]
        """
        return list(Remaining(self))

    def _first_batch(self):
        return self._call(self._peek) if self._can_be_shown and not self.closed and self.failure is None else None

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the remaining batches as a capsule "arrow_array_stream"."""
        remaining = Remaining(self)
        return _native.arrow_stream(BatchStream(remaining, self._call(self._peek)))

    @property
    def closed(self) -> bool:
        """Whether the BatchReader is closed.

        >>> reader = read(b""); reader.close(); reader.closed
        True
        """
        return self._reader.closed

    def close(self) -> None:
        """Release the source, which is closed only if it was given as a path.

        >>> read(b"").close()
        """
        self._call_exclusively(self._close)

    def _close(self):
        if self._parallel is not None:
            self._parallel.close()
        if self._memory is not None:
            self._memory.release()  # a worker that has finished may still hold a reference
        self._assembly.ready = []
        self._reader.close()
        self._ahead.close()

    def _peek(self):
        """Return the next batch without consuming it; an empty one at the end."""
        ready = self._assembly.ready
        if not ready:
            batch = self._step()
            if batch is _core.END:
                return self._assembly.empty_batch()
            ready.insert(0, batch)
            self._nrows -= len(batch)  # the batch is returned later
        return ready[0]

    def _step(self):
        """Return the next batch, END at the end and from then on."""
        if self._has_ended:
            return _core.END
        try:
            batch = self._assembly.ready.pop(0) if self._assembly.ready else self._next()
        except BaseException as error:
            self._close()
            if self._files is None or not isinstance(error, DecodeError):
                raise
            raise self._files.named(error) from None
        if batch is None:
            self._has_ended = True
            self._close()
            return _core.END
        self._nrows += len(batch)
        return batch

    def _next(self):
        """Return the next batch, None at the end of input."""
        assembly, nbytes = self._assembly, 1  # to have in the buffer
        while self._read_more(nbytes):
            if assembly.ready:
                return assembly.ready.pop(0)
            state = assembly.builder.state
            if state == "more":
                ended = self._nbuffered < nbytes
                nbytes = 2 * self._nbuffered if self._nused == 0 else 1
                if not ended or self._nused:
                    continue
            if self._whole_groups and state in ("full", "limit"):
                batch = self._next_groups(state)
                if batch is None:
                    continue
                return batch
            batch = self._finish(before_error=True)
            if batch is not None:
                return batch
            if state == "mismatch" and assembly.policy == "split" and not assembly.is_new:
                assembly.forget_types()
                continue
            self._raise(state)
        batch = self._finish(before_error=self._source_failure is not None)
        if batch is None and self._source_failure is not None:
            raise self._source_failure
        return batch

    def _finish(self, before_error):
        """Return the rows held, or None; before an error, not the last group, which may have more records."""
        builder = self._assembly.builder
        nrows = builder.last_group() if before_error and self._whole_groups else builder.nrows
        if not nrows:
            return None
        _core.keep_freed_memory(builder.nbytes)
        try:
            batch = self._assembly.finish(nrows)
        except FormatError as error:  # text in another encoding
            if error.record:
                return self._assembly.finish(error.record)  # the next call raises it
            first = self._reader.record - builder.nrows
            where = self._batch_offset, error.code, "", first if first >= 0 else None
            raise _wanted.other_text(error, self._assembly.names[builder.column], *where) from None
        self._batch_offset = self._reader.offset
        return batch

    def _read_more(self, nbytes):
        """Read and decode; False at the end of input, and after a source's error that rows go before."""
        if self._source_failure is not None:
            raise self._source_failure
        self._nbuffered = 0
        try:
            has_more = self._reader.__use_encoded__(self._decode, nbytes)
        except Exception as error:
            if self._nbuffered or not self._assembly.builder.nrows:
                raise  # decoding failed, or there are no rows before it
            self._source_failure = error
            return False
        self._offset = self._reader.offset
        return has_more

    def _next_groups(self, state):
        """Return the complete groups; None if there is only one, which may continue: the batch grows."""
        start = self._assembly.builder.last_group()
        if start == 0:
            if state == "limit":
                message = "one key has more records than a batch can hold"
                raise LimitError(message, self._reader.offset, None, "", self._reader.record)
            self._assembly.enlarge_batch()
            return None
        return self._assembly.finish(start)

    def _decode(self, view):
        """Decode records from the buffer; return the number of bytes and of records used."""
        assembly = self._assembly
        self._start, self._nbuffered = self._reader.offset, len(view)
        nbytes = nrecords = 0
        if self._parallel is not None and not (self._files and self._files.in_file):
            nbytes, nrecords = self._parallel.decode(view, self._start)
            assembly.is_new = assembly.is_new and not nbytes
            if assembly.ready:
                return nbytes, nrecords
        self._start += nbytes
        try:
            self._nused, n = assembly.append(view, nbytes)
        except LimitError as error:
            raise LimitError(error.message, self._start, None, "", self._reader.record) from None
        except LookupError as error:  # "split" infers types again, and the caller's columns are not in the record
            if self._reader.record:
                raise MismatchError(str(error), self._start, None, "", self._reader.record) from None
            raise
        self._nused += nbytes
        return self._nused, nrecords + n

    def _raise(self, state):
        """Raise the error of the next record."""
        builder = self._assembly.builder
        if state == "mismatch":
            name, expected = self._assembly.names[builder.column], type_strings.format_type(builder.expected)
            found = builder.key_fault or _code_name(builder.code)
            is_in_file = self._in_file or (self._files is not None and self._files.in_file)
            offset = self._reader.offset if is_in_file else self._start + builder.offset
            if self._typed is not None:
                record = self._reader.record
                self._reader.read()
                raise self._typed.mismatch(builder, offset, record)
            ways, column = '"widen" or "split"', f"column {name!r}"
            if self._rows is not None:
                ways, column = '"widen"', "its column"  # which the path of the error names
            hint = f" (on_mismatch={ways} continues)" if self._assembly.policy == "error" else ""
            message = f"{found} in {column}, which holds {expected}{hint},"
            error = MismatchError(message, offset, builder.code, builder.path, self._reader.record)
            error.option, error.hint = "on_mismatch", hint
            raise error
        offset, record = self._reader.offset, self._reader.record
        _wanted.raise_next(self._reader, self._typed is not None)
        raise FormatError("record is valid but cannot be a row", offset, None, "", record)


def _code_name(code):
    from typedbytes._typecodes import TypeCode

    return TypeCode(code).name if code in TypeCode._value2member_map_ else f"type code {code}"
