"""What every conversion uses: pyarrow, the columns of a table, errors as Failures, and what these advise.

Invariant: what is advised works for the input that the message names.
"""

from __future__ import annotations

import os
import shlex
from contextlib import contextmanager

import typedbytes
from typedbytes import columns
from typedbytes._base import locations
from typedbytes._base.codes import STRING
from typedbytes._base.magic import SEQUENCE_FILE_NBYTES, is_sequence_file
from typedbytes.cli._failure import BAD_DATA, UNAVAILABLE, USAGE, Failure, display_name
from typedbytes.columns import type_strings
from typedbytes.errors import DecodeError, LimitError, with_hint
from typedbytes.sequencefile._files import check_readable, header_of

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

#: By format, the command that makes typed bytes of what --widen cannot read twice.
TO_TYPED_BYTES = {"json": "typedbytes from-json", "block": "typedbytes cat"}
_JOINED = "another SequenceFile starts here"
_ENCODING = "--encoding latin-1, or another name, reads other text"


def imported_pyarrow():
    """Return the module pyarrow; raise Failure if it is not installed."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy, which pyarrow imports, starts threads that spin
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise Failure(UNAVAILABLE, "arrow and parquet need the library pyarrow: pip install pyarrow") from None
    return pyarrow


def empty_within(kind):
    """Return the name of the typed bytes whose type is not known in an Arrow type, as all are empty; "": there is none.

    A null as an item of a list is a type of Parquet, as a key or without any field it is not.
    """
    types = imported_pyarrow().types
    if types.is_map(kind):
        return "MAPs" if types.is_null(kind.key_type) else empty_within(kind.key_type) or empty_within(kind.item_type)
    if types.is_struct(kind):
        return next(filter(None, (empty_within(field.type) for field in kind)), "" if kind.num_fields else "VECTORs")
    return empty_within(kind.value_type) if types.is_nested(kind) and hasattr(kind, "value_type") else ""


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
            names = [_name_in(batch.schema.names, name) for name in self._names]
            pairs = [(name, _column(pairs, name)) for name in names]
        if self._flatten:
            pairs = [leaf for name, column in pairs for leaf in _fields(name, column)]
        names, arrays = [name for name, _ in pairs], [array for _, array in pairs]
        return imported_pyarrow().RecordBatch.from_arrays(arrays, names)

    def schema(self, schema: Any) -> Any:
        """Return the schema of the batches that come of those of a schema."""
        pyarrow = imported_pyarrow()
        nothing = [pyarrow.nulls(0, field.type) for field in schema]
        return self.arranged(pyarrow.RecordBatch.from_arrays(nothing, schema=schema)).schema


def _name_in(names, path):
    """Return a path without blanks around it, unless they are part of a column's name."""
    return path if path in names or path.partition(".")[0] in names else path.strip()


def _column(pairs, path):
    """Return a column of (name, column)s, or a field of structs in it: "value.price"."""
    names = [name for name, _ in pairs]
    start, _, rest = path.partition(".")
    name = path if path in names else start
    if names.count(name) > 1:
        raise Failure(USAGE, f"several columns are named {name!r}, and --columns cannot say which")
    column = dict(pairs).get(name)
    if name == path and column is not None:
        return column
    if column is None or not rest or not imported_pyarrow().types.is_struct(column.type):
        raise Failure(USAGE, f"no column {path!r}: there are {', '.join(map(repr, names))}")
    return _column(list(zip((field.name for field in column.type), column.flatten())), rest)


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


def name_table_option(error: DecodeError, is_table: bool = True) -> None:
    """Have the message of a DecodeError name the option of convert by which what is refused is read.

    is_table: the output is a table too, for which alone there is an encoding.
    """
    if error.option == "serde":
        other = f"; {_ENCODING}" if is_table and error.code == STRING else ""
        with_hint(error, f" (Hive's default is --serde binary{other})")
    elif error.option == "unicode_errors" and error.hint:  # that of columns.read; there is none with a type
        with_hint(error, f" ({_ENCODING})")


def widen_advice(form: str) -> str:
    """Return what a message says of a column with values of several types, of an input in this format."""
    command = TO_TYPED_BYTES.get(form)
    return f" ({f'{command} makes typed bytes, of which ' if command else ''}--widen finds a type for all)"


@contextmanager
def repair_advised(name: str, has_limit: bool, target: str = "") -> Iterator[None]:
    """Turn an error in the data of an input into a Failure that names it, if there is a command that repairs it.

    has_limit: larger records are no damage. target: the format of the output, if it is not a table.
    """
    try:
        yield
    except DecodeError as error:
        if target == "block" and error.option == "unicode_errors":
            with_hint(error, " (typedbytes cat --to block --unicode-errors surrogateescape accepts it)")
        advice = "" if has_limit and isinstance(error, LimitError) else repair_advice(error, name)
        if not advice:
            raise
        raise Failure(BAD_DATA, f"{display_name(name)}: {error}{advice}") from None


def repair_advice(error: DecodeError, path: str | None) -> str:
    """Return advice to replace a damaged file by its intact records, if validate can repair it in place.

    Nothing is said of files that were joined, nor where a description of a class, a codec, or an option may be what is
    wrong: the repair would drop intact records.
    """
    if error.option is not None or isinstance(error, columns.MismatchError) or not path:
        return ""
    is_remote = locations.is_url(path)
    if is_remote and ("::" in path or path.startswith("http")):  # what is in an archive is only read
        return ""
    if not is_remote and (path == "-" or not os.path.isfile(path)):  # a pipe may wait for ever
        return ""
    try:
        with locations.opened_to_recognise(path) if is_remote else open(path, "rb") as file:
            if not is_sequence_file(file.read(SEQUENCE_FILE_NBYTES)):
                return ""
            file.seek(0)
            header = header_of(file)
            check_readable(header)
    except Exception:  # each file system has errors of its own
        return ""
    if error.message.startswith((f"{header.key_class}: ", f"{header.value_class}: ", _JOINED)):
        return ""
    quoted = shlex.quote(path)
    return f" (copy it, then typedbytes validate --repair {quoted} {quoted} keeps only the intact records)"


@contextmanager
def as_data_failure(name, is_table=True):
    """Turn errors of pyarrow, and of records that are not columns, into a Failure that names the input, unless None.

    is_table: the output is a table.
    """
    pyarrow = imported_pyarrow()
    try:
        yield
    except typedbytes.DecodeError as error:
        name_table_option(error, is_table)
        raise  # reported as everywhere
    except MemoryError:
        raise  # pyarrow's is also an ArrowException
    except (pyarrow.ArrowException, typedbytes.EncodeError, ValueError) as error:
        # A plain ValueError: the name of a column is not UTF-8, or a column cannot be written.
        if isinstance(error, typedbytes.EncodeError) and error.option == "nulls":
            with_hint(error, ": --dialect hive writes NULL for it")
        raise Failure(BAD_DATA, f"{'' if name is None else f'{display_name(name)}: '}{error}") from None
