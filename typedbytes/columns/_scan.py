"""Files as a lazy frame of Polars, which reads what a query needs: some columns, some rows. Needs Polars and pyarrow.

Here: what Polars asks for. Not here: the schema of files, and splits in that schema (tables).
"""

from __future__ import annotations

import os

from typedbytes.columns._exports import imported
from typedbytes.columns._read import read
from typedbytes.columns._sources import Split, splits

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from typedbytes.columns._sources import Paths

__all__ = ["scan_polars"]

_SPLIT_NBYTES = 16 << 20
_MERGE = "merge=True takes the schema from all files"
_MAX_NTHREADS = 8  # each holds a split or two as a frame


def scan_polars(
    paths: Paths, *, pairs: bool = True, merge: bool = False, threads: int | None = None,
    split_size: int = _SPLIT_NBYTES, recursive: bool = False, **options: Any,
) -> Any:  # fmt: skip
    """Return a LazyFrame of Polars over files, which are read when it is collected.

    A query reads only the columns that it names, drops rows in each split before the next, and stops when it has the
    rows that it wants, as for `head`.

    - paths: a path, URL, folder of part files or pattern such as `out/part-*`, or a list of them.
    - pairs: as for `read`.
    - merge: take the schema from the first records of all files, not only from those of the first.
    - threads: how many splits are read at once; None: one for each processor.
    - split_size: the bytes of a SequenceFile in a split.
    - recursive: read the folders inside folders too.
    - options: `dialect`, `max_depth`, `encoding`, `unicode_errors`, and the types `type`, `key_type`, `value_type`, or
      for RCFiles `schema` and `serde`, as for `read`.

    Raises FileNotFoundError for what is not there, SchemaError where there are no records, ValueError for `schema`,
    `on_mismatch` and `columns` where there are no RCFiles; collecting it raises what reading raises, and SchemaError
    for records that do not fit the schema.

    >>> import os, tempfile
    >>> from typedbytes import columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = columns.write(os.path.join(folder, "part-00000"), {"key": ["a", "b", "a"], "value": [1, 2, 3]})
    ...     frame = columns.scan_polars(folder)
    ...     frame.filter(frame.collect_schema().names()[0] == "b").select("value").collect().shape
    (0, 1)
    """
    from typedbytes._base import locations

    polars = imported("polars")
    imported("pyarrow")
    found = locations.files(paths, recursive)
    _refuse_options(options, found, pairs)
    source: Any
    if any(options.get(name) is not None for name in ("type", "key_type", "value_type")):
        structure = dict(options)
        source = _Typed(structure, pairs and options.get("type") is None)
    else:
        structure = {"pairs": pairs, **options}
        source = _Inferred(found, structure, merge)
    keywords = {"polars": polars, "paths": found, "source": source, "split_size": split_size}
    nthreads = threads or min(os.cpu_count() or 1, _MAX_NTHREADS)
    schema = polars.from_arrow(source.arrow.empty_table()).schema

    def batches(columns: list[str] | None, predicate: Any, n_rows: int | None, batch_size: int | None) -> Iterator[Any]:
        if n_rows is None:
            return _frames(columns, predicate, nthreads, **keywords)
        first = _limited(_frames(columns, None, 1, **keywords), n_rows)  # counted before the predicate
        return first if predicate is None else (frame.filter(predicate) for frame in first)

    return polars.io.plugins.register_io_source(batches, schema=schema)


def _refuse_options(options, files, pairs):
    """Raise ValueError for an option of `read` that only RCFiles have here, and drop those that are None."""
    from typedbytes.columns import tables

    instead = f"{_MERGE}, and {_types_set(pairs)} it"
    select = "a query names those that it needs, as in select(...)"
    for name, advice in {"schema": instead, "on_mismatch": instead, "columns": select}.items():
        if options.get(name) is None:
            options.pop(name, None)
        elif not tables.are_rcfiles(files):
            raise ValueError(f"scan_polars has {name}= only for RCFiles: {advice}")


def _types_set(pairs):
    return "key_type= and value_type= set" if pairs else "type= sets"


class _Inferred:
    """The schema of the first records, and splits in it."""

    def __init__(self, paths: Any, structure: dict[str, Any], merge: bool) -> None:
        from typedbytes.columns import tables

        types_set = _types_set(structure["pairs"])
        schema = tables.infer_schema(paths, structure, of_all_files=merge)
        if schema is None:
            raise tables.SchemaError(f"there are no records to take the schema from: {types_set} it")
        self._advice = f"{types_set} the schema" if merge else _MERGE
        self._schema = schema
        self._structure = structure
        self.arrow = schema.arrow

    def batches(self, split: Split, columns: list[str] | None) -> Iterator[Any]:
        """Yield the record batches of a split with these columns."""
        from typedbytes.columns import tables

        try:
            yield from tables.batches_of(split, self._schema, self._structure, columns=columns)
        except tables.SchemaError as error:
            if error.option != "merge":
                raise
            raise tables.SchemaError(f"{error.args[0]}: {self._advice}", error.filename) from None


class _Typed:
    """The schema that types have, and splits in it."""

    def __init__(self, keywords: dict[str, Any], pairs: bool) -> None:
        import pyarrow

        self._keywords = keywords
        with read(b"", pairs=pairs, **keywords) as reader:
            self.arrow = pyarrow.RecordBatchReader.from_stream(reader).schema

    def batches(self, split: Split, columns: list[str] | None) -> Iterator[Any]:
        """Yield the record batches of a split with these columns."""
        import pyarrow

        with read(split, columns=columns, **self._keywords) as reader:
            yield from map(pyarrow.record_batch, reader)


def _limited(frames, n_rows):
    """Yield the first rows of frames; no split is read after them."""
    for frame in frames:
        frame = frame.head(n_rows)
        n_rows -= len(frame)
        yield frame
        if n_rows == 0:
            frames.close()
            return


def _frames(columns, predicate, nthreads, *, polars, paths, source, split_size):
    """Yield the rows of each split that a predicate selects, in order; some splits ahead on other threads."""

    def frames_of(split):
        for batch in source.batches(split, columns):
            frame = polars.from_arrow(batch)
            yield frame if predicate is None else frame.filter(predicate)

    all_splits = splits(paths, split_size)
    if nthreads == 1 or len(all_splits) == 1:
        for split in all_splits:
            yield from frames_of(split)
        return
    from collections import deque
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(nthreads, thread_name_prefix="columns-scan")
    try:
        ahead: deque[Any] = deque()
        for split in all_splits:
            ahead.append(pool.submit(lambda split: list(frames_of(split)), split))
            if len(ahead) > nthreads:
                yield from ahead.popleft().result()
        while ahead:
            yield from ahead.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
