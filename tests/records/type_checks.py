"""What type checkers say of calls with a type: `make types` runs them over this file, and nothing is called."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from typing_extensions import TypedDict, assert_type

import typedbytes as tb


class Visit(NamedTuple):
    user: str
    ms: int


@dataclasses.dataclass
class Page:
    url: str


class Movie(TypedDict):
    title: str


MaybeVisit = Optional[Visit]


def calls(data: bytes, file: io.BytesIO) -> None:
    """What comes out of each door."""
    assert_type(tb.loads(data, type=Visit), Visit)
    assert_type(tb.loads(data, type=Page, strict=False, max_depth=5), Page)
    assert_type(tb.loads(data, type=Movie), Movie)
    assert_type(tb.loads(data, type=int), int)
    assert_type(tb.loads(data, type=list[Visit]), list[Visit])
    assert_type(tb.load(file, type=Visit), Visit)
    assert_type(tb.loads(data), Any)
    assert_type(tb.loads(data, exact=True), Any)
    assert_type(tb.load(file), Any)

    # What is no class to a type checker is Any, and not an error.
    tb.loads(data, type=MaybeVisit).anything  # noqa: B018

    decoder = tb.Decoder(type=Visit)
    assert_type(decoder, tb.Decoder[Visit])
    assert_type(decoder.decode(data), Visit)
    assert_type(decoder.decode_from(data), tuple[Visit, int])
    assert_type(decoder.decode_all(data), list[Visit])
    assert_type(list(decoder), list[Visit])
    assert_type(tb.Decoder(), tb.Decoder[Any])
    assert_type(tb.Decoder(exact=True).decode(data), Any)

    reader = tb.Reader(file, type=Page)
    assert_type(reader, tb.Reader[Page])
    assert_type(list(reader), list[Page])
    assert_type(reader.read_all(), list[Page])
    assert_type(tb.Reader(file), tb.Reader[Any])
    assert_type(tb.iter_load(file, type=Page), tb.Reader[Page])
    assert_type(tb.iter_load(file, raw=True), tb.Reader[Any])
    with tb.Reader(file, type=Visit) as visits:
        for visit in visits:
            assert_type(visit, Visit)

    pairs = tb.PairReader(file, key_type=str, value_type=Visit)
    assert_type(pairs, tb.PairReader[str, Visit])
    assert_type(list(pairs), list[tuple[str, Visit]])
    assert_type(pairs.groups(), Iterator[tuple[str, Iterator[Visit]]])
    assert_type(tb.PairReader(file, value_type=Visit), tb.PairReader[Any, Visit])
    assert_type(tb.PairReader(file, key_type=str), tb.PairReader[str, Any])
    assert_type(tb.PairReader(file), tb.PairReader[Any, Any])

    assert_type(tb.dumps(Visit("ann", 1), type=Visit, omit_none=True), bytes)
    tb.Encoder(type=Visit)
    tb.Writer(file, type=Optional[Visit], omit_none=True)
    tb.PairWriter(file, key_type=str, value_type=Visit)
    tb.dump(Visit("ann", 1), file, type=Visit)
    tb.dump_all([Visit("ann", 1)], file, type=Visit)


def annotated_as_before(data: bytes, decoder: tb.Decoder, reader: tb.Reader, pairs: tb.PairReader) -> Any:
    """Without a type in brackets these mean what they always have."""
    assert_type(next(reader), Any)
    assert_type(decoder.decode(data), Any)
    assert_type(next(pairs), tuple[Any, Any])
    return reader.read().anything
