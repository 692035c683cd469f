"""What the caller of a BatchReader wants: the types of its columns, which of them, and how their text is encoded.

Here: schemas, names of columns and of encodings, checked. Not here: the text of a type.
"""

import codecs
import sys

from typedbytes.columns import type_strings
from typedbytes.columns._batch import split_name
from typedbytes.errors import FormatError, relocated, with_hint

__all__ = [
    "checked_nbytes", "names_and_types", "options_of_text", "other_text", "projection", "raise_next", "text_encoding",
]  # fmt: skip

_ENCODING_HINT = " (columns.read has encoding= for other text)"

_BATCH_NBYTES = 8 << 20
_ROW_NBYTES = 128
_POLICIES = ("error", "widen", "split")


def checked_nbytes(batch_rows, batch_nbytes, threads, on_mismatch):
    """Return the bytes of a batch; ValueError for an option of a BatchReader that is wrong by itself."""
    if batch_nbytes is None:
        batch_nbytes = max(_BATCH_NBYTES, _ROW_NBYTES * batch_rows)
    if batch_rows < 1 or batch_nbytes < 1 or threads < 1:
        raise ValueError("batch_rows, batch_nbytes and threads must be at least 1")
    if on_mismatch not in _POLICIES:
        raise ValueError(f'on_mismatch must be "error", "widen" or "split", not {on_mismatch!r}')
    return min(batch_nbytes, sys.maxsize)


def names_and_types(schema, pairs, dialect):
    """Return the names of a record's values and their types; None: to be inferred."""
    names = ("key", "value") if pairs else ("value",)
    if schema is None:
        return names, None
    if isinstance(schema, str):
        raise TypeError(f"schema must be a list of {len(names)} types or a dict, not the str {schema!r}")
    if isinstance(schema, dict):
        schema = _in_order(schema, names)
        texts, own = tuple(schema.values()), _arrow_names(schema)
    else:
        texts, own = tuple(schema), names
    if len(texts) != len(names):
        raise ValueError(f"schema must have {len(names)} types, not {len(texts)}")
    types = tuple(map(type_strings.parse, texts))
    for column_type in types:
        if (177 if dialect == "hive" else 11) in type_strings.codes(column_type):
            raise ValueError(f"type {type_strings.format_type(column_type)!r} does not exist in dialect {dialect!r}")
    return own, types


def _in_order(schema, names):
    """Return a schema by the columns' names; one by their own names, or by their numbers, may be in any order."""
    if schema.keys() == set(range(len(names))):
        return {name: schema[number] for number, name in enumerate(names)}
    if schema.keys() == set(names):
        return {name: schema[name] for name in names}
    for name in schema:
        if not isinstance(name, str):
            raise TypeError(f"the columns of a schema have names or the numbers 0 to {len(names) - 1}, not {name!r}")
    return schema


def _arrow_names(names):
    """Return the names of columns; ValueError for one that Arrow cannot have."""
    for name in names:
        if any(each == "\0" or "\ud800" <= each <= "\udfff" for each in name):
            raise ValueError(f"the name of a column is text without NUL and surrogates, not {name!r}")
    return tuple(names)


def projection(columns, names):
    """Return the names of the selected columns, and the path to each within a record; None: all."""
    if columns is None:
        return names, None
    if isinstance(columns, str):
        raise TypeError(f"columns must be a list of names, not the str {columns!r}")
    columns = tuple(columns)
    paths = []
    for name in columns:
        if not isinstance(name, str):
            raise TypeError(f"the name of a column is a str, not {name!r}")
        located = split_name(name, names)
        if located is None:
            raise LookupError(
                f"no column {name!r}: pass names of {', '.join(names)}, or paths to items of VECTORs and fields of MAPs"
            )
        paths.append((located[0], *located[1]))
    return _arrow_names(columns), tuple(paths)


def text_encoding(encoding, errors):
    """Return the names of an encoding of text and of an error handler, None for UTF-8; LookupError for others."""
    info = codecs.lookup(encoding)
    codecs.lookup_error(errors)
    if not getattr(info, "_is_text_encoding", True):
        raise LookupError(f"{encoding!r} is not an encoding of text")
    return None if info.name == "utf-8" and errors == "strict" else (info.name, errors)


def options_of_text(text):
    """Return the options of a Reader that finds what is wrong with a record, whose text may be in this encoding."""
    return {} if text is None else {"unicode_errors": "surrogateescape"}


def other_text(error, column, *where):
    """Return the error of text that is not in the encoding of a column, with the option for it, located in a batch."""
    error.option, error.hint = "unicode_errors", _ENCODING_HINT
    return relocated(error, f"{error.message}{_ENCODING_HINT}, in column {column!r} of the batch", *where)


def raise_next(reader, is_typed):
    """Decode the next record, to raise its error; that of text in another encoding names the option for it."""
    try:
        reader.read()
    except FormatError as error:
        if error.option == "unicode_errors" and not (error.hint or is_typed):
            with_hint(error, _ENCODING_HINT)
        raise
