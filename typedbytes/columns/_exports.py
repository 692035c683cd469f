"""Columns in the data frames of other libraries, and what a notebook shows of them.

Here: what BatchReader and Batch have in common. Not here: Arrow's structures, through which all goes. The libraries
are imported when they are asked for.
"""

from __future__ import annotations

from typedbytes.errors import TypedBytesError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["Exports", "imported", "shown"]

_SHOWN_ROWS = 10


class Exports:
    """The methods that make data frames."""

    __slots__ = ()

    def to_arrow(self) -> Any:
        """Return a table of pyarrow; of a reader the rows that are left."""
        return self._imported_by(imported("pyarrow").table)

    def to_pandas(self, **options: Any) -> Any:
        """Return a DataFrame of pandas, by pyarrow's `Table.to_pandas`, which has these options."""
        imported("pandas")
        return self.to_arrow().to_pandas(**options)

    def to_polars(self) -> Any:
        """Return a DataFrame of Polars; `scan_polars` reads only what a query needs."""
        return self._imported_by(imported("polars").DataFrame)

    def _imported_by(self, make):
        """Return what a library makes of the rows; instead of its error raise the failure of the reader behind it."""
        try:
            return make(self)
        except Exception as error:
            failure = getattr(self, "failure", None)
            if failure is None or failure is error:
                raise
            raise failure from failure.__cause__ or error

    def __array__(self, *args: Any, **options: Any) -> NoReturn:
        """Refuse to be an array, which would have batches for items: pandas.DataFrame(reader) asks for one."""
        raise TypeError(
            f"a {type(self).__name__} is not one array: to_pandas(), to_polars() and to_arrow() make frames, "
            "and column(name) of a batch an array"
        )

    def _repr_html_(self) -> str | None:
        """Return a table of the first rows, for notebooks."""
        first = self._first_batch()
        if first is None:
            return None
        from html import escape

        try:
            rows = [row.values() for row in imported("pyarrow").record_batch(first).slice(0, _SHOWN_ROWS).to_pylist()]
        except ModuleNotFoundError:
            rows = []
        head = "".join(
            f"<th>{escape(name)}<br><small>{escape(kind)}</small></th>" for name, kind in first.schema.items()
        )
        body = "".join(f"<tr>{''.join(f'<td>{escape(_shown(value))}</td>' for value in row)}</tr>" for row in rows)
        more = "<tr><td>…</td></tr>" if len(first) > len(rows) else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}{more}</tbody></table>"

    def _first_batch(self) -> Any:
        """Return the batch whose rows are shown; None: it is not known without waiting for a source."""
        raise NotImplementedError


def _shown(value):
    text = "null" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def imported(name: str) -> Any:
    """Return a library; ModuleNotFoundError says how to install it."""
    import importlib

    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"this needs the library {name}: pip install {name}", name=name) from error


def shown(reader: Any, can_read: bool) -> str:
    """Return the repr of a BatchReader, with its schema unless that would have to be waited for."""
    name = type(reader).__name__
    if reader.failure is not None:
        return f"<{name}, failed: {reader.failure}>"
    if reader.closed:
        return f"<{name}, closed>"
    try:
        return f"<{name} of {reader.schema}>" if can_read else f"<{name}, not read yet>"
    except (TypedBytesError, OSError, ValueError, RuntimeError) as error:
        return f"<{name}, failed: {error}>"
