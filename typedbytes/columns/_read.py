"""The function that reads columns; its docstring says what the options mean."""

from __future__ import annotations

from typedbytes.columns._reader import BatchReader

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Literal

    from typedbytes._base.options import ClassTexts, Dialect

    Policy = Literal["error", "widen", "split"]
    Serde = Literal["text", "binary"]
    Schema = Mapping[str, str] | Mapping[int, str] | Iterable[str]

__all__ = ["read"]


def read(
    source: Any, batch_rows: int = 65536, schema: Schema | None = None, *, batch_nbytes: int | None = None,
    columns: Sequence[str] | None = None, pairs: bool = True, on_mismatch: Policy = "error", threads: int = 1,
    dialect: Dialect = "hadoop", max_depth: int = 256, encoding: str = "utf-8", unicode_errors: str = "strict",
    recursive: bool = False, type: Any = None, key_type: Any = None, value_type: Any = None,
    classes: ClassTexts = None, serde: Serde = "text",
) -> BatchReader:  # fmt: skip
    """Read a stream of pairs of one shape, or of values, as batches of columns.

    - source: any source that a Reader accepts; the path or the bytes of a SequenceFile, or a Reader of one; a folder of
      part files, a pattern such as `out/part-*`, a list of paths, or a Split: errors then name the file, with the
      offset and the record in it.
    - batch_rows: rows of a batch, fewer in the last one, or if a column would exceed 2^31-1 bytes or items.
    - batch_nbytes: a batch also ends with the record by which it has that many encoded bytes, so that memory does not
      depend on the size of records; None: 8 MiB, or 128 bytes for each of batch_rows if that is more.
    - schema: a type for each value of a record, by order (["string", "long"]), or in a dict with new names in order
      ({"word": "string", "n": "long"}), or with the present names (key and value, or 0 and 1) in any order; None: taken
      from the first record.
    - columns: the names of those wanted, or paths to items of VECTORs, such as "value.1", and to fields of MAPs, such
      as "value.price", which are null where a MAP lacks them; all else is skipped.
    - pairs: whether records are pairs, named key and value, or single values.
    - on_mismatch: what to do with a value of another type than its column: "error" raises MismatchError after the rows
      before it; "widen" changes the column to a type for both (INT to LONG, numbers of several types to DOUBLE unless
      an integer beyond 2**53 would lose digits, VECTORs of one length to VECTORs of any, all else to raw: encoded
      values); "split" ends the batch, and that record sets a new schema, with raw for a value with items of several
      types.
    - threads: the number of decoding threads; each takes one batch or 16 MiB at a time, or a block of a SequenceFile,
      which it decompresses.
    - dialect, max_depth: as for Reader.
    - encoding, unicode_errors: those of the STRINGs, as for Python's `bytes.decode`; columns have them in UTF-8.
    - recursive: read the folders inside a folder too.
    - type: a record class, or any other type of single values, which sets the schema: each field of a record is a
      column.
    - key_type, value_type: the same for pairs. With any of these types values are checked, and may come in all forms
      that a Reader of that type takes; DecodeTypeError says which does not fit.
    - classes: descriptions of classes of SequenceFiles, as for a `sequencefile.Reader`; each is a struct.
    - serde: how Hive wrote the cells of an RCFile, as "text" (ColumnarSerDe) or "binary" (LazyBinaryColumnarSerDe,
      which is Hive's default); a FormatError says where the first cells are binary, and not text.

    The path or the bytes of an RCFile give its rows: schema has names and types for its columns, by order; without one
    they are named 0, 1 and so on, and hold the text, or the bytes, of their cells. Only the columns that are wanted are
    decompressed, and read if the source can seek. Text that is not a value of its type is null, as in Hive.

    The pickle of None, or in Hive's dialect its NULL, and a NullWritable are nulls in a column of any type but raw, and
    ext<100> or ext<50>, which keep them as values. A null is a mismatch as a key of a MAP, as an item of a VECTOR of
    numbers of one type, and in place of a VECTOR that takes more than 128 bytes in a column. If all values of a column
    are null, its type is unknown.

    Returns a BatchReader. Iterating raises TruncatedError, FormatError and LimitError as a Reader does. In a
    SequenceFile the offset of an error is that of the record, or of its block.

    >>> import typedbytes
    >>> data = typedbytes.Encoder().encode_pairs([(1, 0.5), (2, 1.5), (3, 2.5)])
    >>> [batch.column("value").tolist() for batch in read(data, batch_rows=2)]
    [[0.5, 1.5], [2.5]]
    """
    return BatchReader(
        source, batch_rows, schema, batch_nbytes=batch_nbytes, columns=columns, pairs=pairs, on_mismatch=on_mismatch,
        threads=threads, dialect=dialect, max_depth=max_depth, encoding=encoding, unicode_errors=unicode_errors,
        recursive=recursive, type=type, key_type=key_type, value_type=value_type, classes=classes,
        serde=serde,
    )  # fmt: skip
