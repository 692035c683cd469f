"""What every conversion to Arrow and Parquet uses: the writer of a file, and errors of pyarrow as Failures."""

from __future__ import annotations

import io
import os
from contextlib import contextmanager

import typedbytes
from typedbytes import columns
from typedbytes.cli._failure import BAD_DATA, UNAVAILABLE, USAGE, Failure, display_name
from typedbytes.columns import type_strings
from typedbytes.errors import with_hint

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any


DELIMITERS = {"csv": ",", "tsv": "\t"}
_SAMPLE_NROWS, _SAMPLE_NBYTES = 1 << 16, 64 << 20  # what decides which columns of Parquet get dictionaries
_REPEATED = 0.95  # of the bytes of its values: a column whose dictionary is at least as large does without
_GROUP_NROWS, _GROUP_NBYTES = 1 << 19, 8 << 20  # a row group of Parquet ends with the batch that reaches one of them


def imported_pyarrow():
    """Return the module pyarrow; raise Failure if it is not installed."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy, which pyarrow imports, starts threads that spin
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise Failure(UNAVAILABLE, "arrow and parquet need the library pyarrow: pip install pyarrow") from None
    return pyarrow


class Groups:
    """Batches that are written together: a row group of Parquet has its own dictionaries, so small ones cost more."""

    def __init__(self, form: str) -> None:
        self._limits = (_GROUP_NROWS, _GROUP_NBYTES) if form == "parquet" else (0, 0)
        self._held: list[Any] = []
        self._nrows = self._nbytes = 0

    def after(self, batch: Any) -> list[Any]:
        """Hold a batch; return the group that is whole with it, or before it."""
        group = self.rest() if self._held and batch.schema != self._held[0].schema else []
        self._held.append(batch)
        self._nrows += batch.num_rows
        self._nbytes += batch.nbytes
        if self._nrows >= self._limits[0] or self._nbytes >= self._limits[1]:
            group += self.rest()
        return group

    def rest(self) -> list[Any]:
        """Return the group that is held, if there is one."""
        held, self._held, self._nrows, self._nbytes = self._held, [], 0, 0
        return [imported_pyarrow().Table.from_batches(held)] if held else []


def table_writer(sink, schema, form, codec):
    """Return a writer of the groups of a schema."""
    pyarrow = imported_pyarrow()
    if form == "arrow":
        return pyarrow.ipc.new_stream(sink, schema)
    if form in DELIMITERS:
        _check_cells(schema)
        return _TextWriter(sink, schema, form)
    _check_parquet(schema)
    return _ParquetWriter(sink, schema, codec or "none")


def _check_cells(schema):
    """Raise Failure for a column whose values no cell of text can hold."""
    types = imported_pyarrow().types
    for field in schema:
        kind = field.type
        if types.is_nested(kind):
            if types.is_struct(kind) and kind.num_fields:
                cure = "--flatten makes columns of its fields"
            else:
                others = "json has it" if _empty_within(kind) else "parquet and json have it"
                cure = f"--columns chooses others, and {others}"
            raise Failure(BAD_DATA, f"the column {field.name} holds {kind}, and a cell of text holds one value: {cure}")


def _check_parquet(schema):
    """Raise Failure for a column whose type Parquet does not have: that of empty MAPs or VECTORs alone."""
    for field in schema:
        what = _empty_within(field.type)
        if what:
            message = (
                f"the column {field.name} holds {field.type}, and Parquet has no type for {what} that are all empty: "
                "--widen looks at all records, and arrow and json have it"
            )
            raise Failure(BAD_DATA, message)


def _empty_within(kind):
    """Return the name of the typed bytes whose type is not known in an Arrow type, as all are empty; "": there is none.

    A null as an item of a list is a type of Parquet, as a key or without any field it is not.
    """
    types = imported_pyarrow().types
    if types.is_map(kind):
        return "MAPs" if types.is_null(kind.key_type) else _empty_within(kind.key_type) or _empty_within(kind.item_type)
    if types.is_struct(kind):
        return next(filter(None, (_empty_within(field.type) for field in kind)), "" if kind.num_fields else "VECTORs")
    return _empty_within(kind.value_type) if types.is_nested(kind) and hasattr(kind, "value_type") else ""


class _ParquetWriter:
    """Writes groups as row groups of Parquet."""

    def __init__(self, sink, schema, codec):
        self._sink = sink
        self._schema = schema
        self._codec = codec
        self._writer = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def write(self, table):
        """Write a group."""
        if self._writer is None:
            self._open(_columns_with_dictionaries(table))
        self._writer.write_table(table)

    def close(self):
        """Write the footer."""
        if self._writer is None:
            self._open(use_dictionary=True)
        self._writer.close()

    def _open(self, use_dictionary):
        self._writer = imported_pyarrow().parquet.ParquetWriter(
            self._sink, self._schema, compression=self._codec, use_dictionary=use_dictionary
        )


def _columns_with_dictionaries(table):
    """Return the paths of the columns of Parquet whose values repeat in the first rows of a table.

    pyarrow writes a dictionary of every column, up to 1 MiB in each row group. Where no value repeats it takes a third
    of the time of the whole file, and a seventh of its bytes.
    """
    first = table.slice(0, _SAMPLE_NROWS)
    chunks = zip(_column_chunks(first, use_dictionary=True), _column_chunks(first, use_dictionary=False))
    return [
        chunk.path_in_schema
        for chunk, plain in chunks
        if chunk.has_dictionary_page
        and chunk.data_page_offset - chunk.dictionary_page_offset < plain.total_uncompressed_size * _REPEATED
    ]


def _column_chunks(table, use_dictionary):
    """Return the metadata of the columns of a table as Parquet."""
    pyarrow, written = imported_pyarrow(), []
    pyarrow.parquet.write_table(
        table,
        pyarrow.MockOutputStream(),
        compression="none",
        write_statistics=False,
        use_dictionary=use_dictionary,
        dictionary_pagesize_limit=_SAMPLE_NBYTES,
        metadata_collector=written,
    )
    group = written[0].row_group(0)
    return [group.column(i) for i in range(group.num_columns)]


class _TextWriter:
    """Writes groups as rows of text; raises Failure for bytes that are not text."""

    def __init__(self, sink, schema, form):
        from pyarrow import csv

        self._form = form
        self._sink = sink
        self._options = {"delimiter": DELIMITERS[form]}
        self._writer = csv.CSVWriter(sink, schema, write_options=csv.WriteOptions(**self._options))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def write(self, table):
        """Write a group."""
        pyarrow = imported_pyarrow()
        try:
            if table.num_columns == 1 and table.column(0).null_count:
                self._sink.write(self._rows_of_one_cell(table))
            else:
                self._writer.write(table)
        except pyarrow.ArrowInvalid:
            for name, column in zip(table.column_names, table.columns):
                if pyarrow.types.is_binary(column.type) and not _is_text(column):
                    message = (
                        f"the column {name} holds bytes that are not UTF-8, and {self._form} is text: typedbytes "
                        f"to-text --{self._form} writes bytes as they are, and typedbytes to-json --plain as base64"
                    )
                    raise Failure(BAD_DATA, message) from None
            raise

    def _rows_of_one_cell(self, table):
        """Return the rows of one column with nulls, each of them as "": an empty line is no row to other readers."""
        from pyarrow import csv

        pyarrow, buffer = imported_pyarrow(), io.BytesIO()
        types, column = pyarrow.types, table.column(0)
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        is_text = types.is_string(kind) or types.is_large_string(kind)
        is_quoted = is_text or types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
        if is_quoted:  # there may be empty lines within its cells
            cells = column.cast(pyarrow.large_string() if is_text else pyarrow.large_binary())
            table = pyarrow.table([cells.fill_null("" if is_text else b"")], table.column_names)
        options = csv.WriteOptions(include_header=False, **self._options)
        with csv.CSVWriter(buffer, table.schema, write_options=options) as writer:
            writer.write(table)
        rows = buffer.getvalue()
        return rows if is_quoted else b"".join(row if row != b"\n" else b'""\n' for row in rows.splitlines(True))

    def close(self):
        """Write what is left."""
        self._writer.close()


def _is_text(column):
    try:
        column.cast("string")
    except imported_pyarrow().ArrowInvalid:
        return False
    return True


class Shape:
    """Which columns a table has: all, or those named, by paths to fields of structs; flatten: their fields by name."""

    def __init__(self, names: list[str] | None, flatten: bool) -> None:
        self._names = names
        self._flatten = flatten

    def arranged(self, batch: Any) -> Any:
        """Return a batch with these columns; raise Failure for one that it does not have."""
        if self._names is None and not self._flatten:
            return batch
        pairs = list(zip(batch.schema.names, batch.columns))
        if self._names is not None:
            pairs = [(name, _column(dict(pairs), name)) for name in self._names]
        if self._flatten:
            pairs = [leaf for name, column in pairs for leaf in _fields(name, column)]
        names, arrays = [name for name, _ in pairs], [array for _, array in pairs]
        return imported_pyarrow().RecordBatch.from_arrays(arrays, names)

    def schema(self, schema: Any) -> Any:
        """Return the schema of the batches that come of those of a schema."""
        pyarrow = imported_pyarrow()
        nothing = [pyarrow.nulls(0, field.type) for field in schema]
        return self.arranged(pyarrow.RecordBatch.from_arrays(nothing, schema=schema)).schema


def _column(columns, path):
    """Return a column, or a field of structs in it: "value.price"."""
    if path in columns:
        return columns[path]
    name, _, rest = path.partition(".")
    if name not in columns or not rest or not imported_pyarrow().types.is_struct(columns[name].type):
        raise Failure(USAGE, f"no column {path!r}: there are {', '.join(map(repr, columns))}")
    kind = columns[name].type
    return _column({kind.field(i).name: each for i, each in enumerate(columns[name].flatten())}, rest)


def _fields(name, column):
    """Yield (name, column) of a column, or of all fields of structs in it."""
    if not imported_pyarrow().types.is_struct(column.type):
        yield name, column
        return
    for i, part in enumerate(column.flatten()):
        yield from _fields(f"{name}.{column.type.field(i).name}", part)


_HELD_AS_BYTES = {
    ("raw",): "values of several types: each is written as bytes, which typedbytes.loads reads",
    ("variable", 100): "pickled values, such as dates and Decimals: each is written as the bytes of its pickle",
}


def notes_on_bytes(schema):
    """Return a line for each kind of values that a table can only hold as bytes, with the paths of its columns.

    schema: the types of the columns by name.
    """
    paths: dict[str, list[str]] = {}
    for name, text in schema.items():
        for path, described in _leaves(name, type_strings.parse(text)):
            if described in _HELD_AS_BYTES:
                paths.setdefault(_HELD_AS_BYTES[described], []).append(path)
    return [f"note: {', '.join(found)}: {what}" for what, found in paths.items()]


def _leaves(path, described):
    """Yield (path, type) of a column without parts, or of those within it."""
    parts = type_strings.parts(described)
    for name, part in parts.items():
        yield from _leaves(f"{path}.{name}", part)
    if not parts:
        yield path, described


def name_serde(error):
    """Have the message of a DecodeError name the option of the command by which an RCFile's cells are read."""
    if error.option == "serde":
        with_hint(error, " (Hive's default is --serde binary)")


@contextmanager
def as_data_failure(name):
    """Turn errors of pyarrow, and of records that are not columns, into a Failure that names the input."""
    pyarrow = imported_pyarrow()
    try:
        yield
    except columns.MismatchError as error:
        with_hint(error, " (--widen finds a type for all)")
        raise
    except typedbytes.DecodeError as error:
        name_serde(error)
        raise  # reported as everywhere
    except MemoryError:
        raise  # pyarrow's is also an ArrowException
    except (pyarrow.ArrowException, typedbytes.EncodeError, ValueError) as error:
        # A plain ValueError: the name of a column is not UTF-8, or a Parquet file has a second schema.
        if isinstance(error, typedbytes.EncodeError) and error.option == "nulls":
            with_hint(error, ": --dialect hive writes NULL for it")
        raise Failure(BAD_DATA, f"{display_name(name)}: {error}") from None
