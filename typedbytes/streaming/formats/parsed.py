"""Records whose values are text to be parsed: a line of JSON, or the cells of a row of CSV.

The engine hands over pairs of typed bytes: a line as a STRING; a row as a MAP from the names of the columns to texts,
or as a LIST if it has more or fewer cells than there are names. Invariant: what cannot be parsed is bad input, with the
offset of its line, and can be left out as a bad record.
"""

from __future__ import annotations

from itertools import islice

from typedbytes import Decoder, Encoder
from typedbytes._core import WrappedIterator
from typedbytes.errors import DecodeError
from typedbytes.streaming.formats.typed_bytes import TypedBytesInput, UndecodedInput

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["ParsedInput", "ParsedPairs", "reader_of_texts"]

GROUP_NROWS = 1000  # so many are encoded at once
BLANKS = " \t\n\v\f\r"  # those of bytes.strip()
TEXT_START = 5  # in an encoded STRING, after its type code and its length
TEXTS = ("str", "bytes", "any")  # the kinds of fields for which an empty cell is a value


def reader_of_texts(kind: Any, options: Mapping[str, Any] | None = None) -> Callable[[Mapping[str, str]], Any]:
    """Return a function that makes an instance of a record class of texts by name; DecodeError for what does not fit.

    An empty text for a field that is not text is its default, or None if there is no default and None is of its type.

    >>> import typing
    >>> class Visit(typing.NamedTuple):
    ...     user: str
    ...     seconds: float = 0.0
    >>> reader_of_texts(Visit)({"user": "ann", "seconds": "1.5"}), reader_of_texts(Visit)({"user": "", "seconds": ""})
    (Visit(user='ann', seconds=1.5), Visit(user='', seconds=0.0))
    """
    from typedbytes._records import resolve

    node = resolve(kind)
    defaults: dict[str, dict[str, Any]] = {}  # by field that is not text: what an empty one gives
    for field in node.record.fields if node.kind == "record" else ():
        members = [member.kind for member in field.node.members or [field.node]]
        if not set(members) & set(TEXTS):
            if not field.required:
                defaults[field.key] = {}
            elif "none" in members:
                defaults[field.key] = {field.key: None}
    encode, decode = Encoder().encode, Decoder(**{**(options or {}), "strict": False, "type": kind}).decode

    def read(texts: Mapping[str, str]) -> Any:
        values: dict[str, Any] = {}
        for name, text in texts.items():
            values.update({name: text} if text or name not in defaults else defaults[name])
        return decode(encode(values))

    return read


def _parser(form, options):
    """Return a function that parses a value of the engine's; ValueError or DecodeError for what is not of the form."""
    kind = options.get("value_type")
    others = {name: value for name, value in options.items() if not name.endswith("_type") and name != "buffer_size"}
    if form == "csv":
        read = None if kind is None else reader_of_texts(kind, others)

        def parse_row(row):
            if not isinstance(row, dict):
                raise ValueError(f"a row has {len(row)} cells, not one for each name in the first line: {row!r:.80}")
            return row if read is None else read(row)

        return parse_row
    import json

    loads = json.JSONDecoder(parse_constant=_refuse).decode
    if kind is None:
        return loads
    encode, decode = Encoder().encode, Decoder(**others, type=kind).decode
    return lambda text: decode(encode(loads(text)))


def _refuse(name):
    raise ValueError(f"{name} is not JSON")


class ParsedInput:
    """Read pairs and parse their values; form: "json" or "csv"; options are those of PairReader.

    Blank lines of JSON are left out, as the engine leaves out empty lines of CSV.
    """

    def __init__(self, form: str, source: Any, options: Mapping[str, Any], undecoded: bool) -> None:
        own = {name: value for name, value in options.items() if name != "value_type"}
        inner: Any = (UndecodedInput if undecoded else TypedBytesInput)(source, own)
        self._inner = inner
        self._parse = _parser(form, options)
        self._form = form
        self._failure: DecodeError | None = None
        self.item_bytes: Any = inner.item_bytes
        if undecoded:
            self.decode_key: Any = inner.decode_key
            self.packed: Any = inner.packed

    @property
    def offset(self) -> int:
        """The number of bytes of the records read so far, as the engine hands them over."""
        return self._inner.offset

    @property
    def record(self) -> int:
        """The number of records read so far."""
        return self._inner.record

    def pairs(self) -> Any:
        """Return an iterator of (key, value)."""
        return WrappedIterator(self._pairs())

    def raw_pairs(self) -> Any:
        """Return an iterator of the bytes of keys and values."""
        pairs = self._inner.raw_pairs()
        if self._form != "json":
            return pairs
        return WrappedIterator(pair for pair in pairs if pair[1][TEXT_START:].strip())

    def _pairs(self):
        for key, value in self._inner.pairs():
            if self._form == "json" and not value.strip(BLANKS):
                continue
            try:
                parsed = self._parsed(value, key)
            except DecodeError as error:
                self._failure = error
                raise
            yield key, parsed

    def decode_value(self, item: Any) -> Any:
        """Return the parsed value of a raw pair."""
        return self._parsed(self._inner.decode_value(item), 0)

    def _parsed(self, value, offset):
        try:
            return self._parse(value)
        except (ValueError, RecursionError) as error:
            path = getattr(error, "path", "")
            message = getattr(error, "message", None) or str(error) or "it is nested too deeply"
            number = self._inner.record - 1
            raise DecodeError(f"not {_NAMES[self._form]}: {message}", offset, path=path, record=number) from None

    def failure(self) -> BaseException | None:
        """Return the error the input has failed with, or None."""
        return self._failure or self._inner.failure()

    def check_end(self) -> None:
        """Raise the error of the input, or RuntimeError if its end has not been read."""
        self._inner.check_end()


class ParsedPairs:
    """The same pairs as one stream of typed bytes, from which columns are read.

    Columns take objects of JSON by their class themselves; the texts of a row of CSV are converted here.
    """

    def __init__(self, form: str, source: Any, options: Mapping[str, Any]) -> None:
        own = {"value_type": options["value_type"]} if form == "csv" else {}
        self._pairs = ParsedInput(form, source, own, undecoded=False).pairs()
        self._encode = Encoder().encode_pairs
        self._rest = memoryview(b"")

    @staticmethod
    def columns_options(options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of columns.read: numbers of JSON that differ in width or kind are one column."""
        has_types = any(name == "schema" or name.endswith("type") for name in options)
        return {**({} if has_types else {"on_mismatch": "widen"}), **options}

    def read1(self, nbytes: int) -> memoryview:
        """Return the next bytes, `nbytes` of them at most; none at the end."""
        if not self._rest:
            self._rest = memoryview(self._encode(islice(self._pairs, GROUP_NROWS)))
        front, self._rest = self._rest[:nbytes], self._rest[nbytes:]
        return front


_NAMES = {"json": "a line of JSON that fits", "csv": "a row of CSV that fits"}
