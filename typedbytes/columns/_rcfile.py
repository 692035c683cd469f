"""The rows of RCFiles as a source of columns: which columns, by their names and types.

Here: what a schema says of the columns of all files. Not here: the format, which sequencefile has. Invariant: every
file is read with the columns of the first; one that a file lacks is null in it.
"""

from __future__ import annotations

from contextlib import closing

from typedbytes._core import Reader
from typedbytes.columns import _sources, _wanted, type_strings
from typedbytes.errors import DecodeError, FormatError, with_hint
from typedbytes.sequencefile._typed_pairs import TypedPairs
from typedbytes.sequencefile.rcfile import SERDES, RCFile, column_types

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["DIALECT", "RowColumns", "types_of_files"]

DIALECT: Any = "hive"  # it has a SHORT, and a null of one byte


class _TypedRows(TypedPairs):
    """Return the rows of an RCFile as typed bytes; is_text: its cells are read as text."""

    _kind = Reader

    def __init__(self, reader, is_text, **options):
        super().__init__(reader, True, **options)
        self._is_text = is_text

    def read(self):
        """Decode the next row to raise its error, with the option by which bytes that are not text may be read."""
        try:
            return super().read()
        except DecodeError as error:
            if self._is_text and error.option == "unicode_errors":
                with_hint(error, ' (Hive\'s default is serde="binary")').option = "serde"
            raise


class RowColumns:
    """The columns of the rows of RCFiles: all or those named, with the types of a schema, or texts, or bytes."""

    def __init__(self, schema: Any, columns: Any, serde: str, max_depth: int) -> None:
        if serde not in SERDES:
            raise ValueError(f'serde must be "text" or "binary", not {serde!r}')
        self._serde = serde
        self._columns = columns
        self._structure: Any = {"dialect": DIALECT, "max_depth": max_depth}
        self._has_schema = schema is not None
        self._names: Any = None  # of the columns of all files
        self._types: Any = None
        if self._has_schema:
            self._names, self._types = _names_and_types(schema)
        self.visible: Any = None  # names, known when a file has been opened
        self.paths: Any = None  # to them in a row
        self.types: Any = None  # of the row

    def open(self, source: Any, *_: Any) -> _TypedRows:
        """Return the source for the rows of an RCFile, or of a split of it."""
        part: dict[str, Any] = {}
        if isinstance(source, _sources.Split):
            part = {"start": source.start, "length": source.length}
            source = source.path
        elif isinstance(source, _sources.OpenRCFile):
            source = source.file
        file = RCFile(source, serde=self._serde, dialect=DIALECT, find_types=self._find_types, **part)
        return _TypedRows(file, self._serde == "text", **_sources.AS_THEY_ARE, **self._structure)

    def _find_types(self, ncolumns):
        """Return the numbers, the names and the types of the columns wanted of a file with so many."""
        if self._names is None:
            self._names, self._types = column_types(ncolumns, self._serde)
        elif not self._has_schema and ncolumns > len(self._names):
            raise FormatError(f"{ncolumns} columns, and the files before have {len(self._names)}: pass a schema", 0)
        names, types = self._names, self._types
        self.visible, paths = _wanted.projection(names if self._columns is None else self._columns, names)
        numbers = tuple(sorted({number for number, *_ in paths}))
        wanted = tuple(names[number] for number in numbers)
        kinds = tuple(types[number] for number in numbers)
        self.types = (("row", tuple(zip(wanted, kinds))),)
        self.paths = tuple((0, names[number], *path) for number, *path in paths)
        return numbers, wanted, kinds


def types_of_files(files: Any, schema: Any, serde: str) -> dict[str, str]:
    """Return the types of the columns of files by name: those of a schema, or as many as the widest file has."""
    if schema is not None:
        names, types = _names_and_types(schema)
    else:
        ncolumns = 0
        for path in files:
            with closing(RCFile(path, serde=serde)) as file:
                ncolumns = max(ncolumns, file.ncolumns)
        names, types = column_types(ncolumns, serde)
    return dict(zip(names, map(type_strings.format_type, types)))


def _names_and_types(schema):
    """Return the names and the types of a schema: a dict by name, or a list of types."""
    if isinstance(schema, str):
        raise TypeError(f"schema must be a list of types or a dict, not the str {schema!r}")
    if not isinstance(schema, dict):
        schema = {str(number): text for number, text in enumerate(schema)}
    for name in schema:
        if not isinstance(name, str):
            raise TypeError(f"the columns of a schema have names, not {name!r}")
    return tuple(schema), tuple(map(type_strings.parse, schema.values()))
