"""Records as typed bytes: the codec's own pairs, with the interface of the other formats."""

from __future__ import annotations

from typedbytes import Decoder, Encoder, PairReader, PairWriter, dumps
from typedbytes.streaming.formats.record_io import BUFFER_NBYTES, ReaderInput, checked_pair, value_options

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

MAX_DEPTH = 10_000  # the maximum that a reader accepts


class TypedBytesInput(ReaderInput):
    """Read pairs of typed bytes; options are those of PairReader."""

    def __init__(self, source: Any, options: Mapping[str, Any]) -> None:
        super().__init__(PairReader(source, **{"buffer_size": BUFFER_NBYTES, **options}))

    def item_bytes(self, item: Any) -> bytes:
        """Return a key or value encoded again, which shows widths as we write them."""
        return dumps(item)


class UndecodedInput(TypedBytesInput):
    """Read pairs of typed bytes as they are and decode each by itself; options are those of PairReader."""

    def __init__(self, source: Any, options: Mapping[str, Any]) -> None:
        structural = {name: options[name] for name in ("dialect", "max_bytes", "buffer_size") if name in options}
        super().__init__(source, {**structural, "raw": True, "max_depth": MAX_DEPTH})
        shared = value_options(options)
        self.decode_key: Callable[[Any], Any] = Decoder(**shared, type=options.get("key_type")).decode
        self.decode_value: Callable[[Any], Any] = Decoder(**shared, type=options.get("value_type")).decode

    def packed(self, key: bytes, value: bytes) -> bytes:
        """Return the bytes of a raw pair."""
        return key + value

    def item_bytes(self, item: Any) -> bytes:
        """Return a raw key or value."""
        return item


class TypedBytesOutput(PairWriter):
    """Write pairs of typed bytes; options are those of PairWriter."""

    def __init__(self, sink: Any, options: Mapping[str, Any]) -> None:
        super().__init__(sink, **{"buffer_size": BUFFER_NBYTES, **options})
        self._options = {name: value for name, value in options.items() if name != "buffer_size"}
        self._encoders: Any = None

    def encoders(self) -> Any:
        """Return the functions that encode a key, and a value."""
        if self._encoders is None:
            shared = {**self._options, "key_type": None, "value_type": None}
            kinds = self._options.get("key_type"), self._options.get("value_type")
            self._encoders = [Encoder(**{**shared, "type": kind}).encode for kind in kinds]
        return self._encoders

    def encoded(self, pair: Any) -> Any:
        """Return the two encoded values of a pair."""
        encode_key, encode_value = self.encoders()
        key, value = checked_pair(pair)
        return encode_key(key), encode_value(value)

    def check(self, key: Any, value: Any) -> None:
        """Raise the error that writing a pair would raise, whatever form its key has between map and reduce."""
        TypedBytesOutput.encoded(self, (key, value))

    def write_encoded(self, records: Iterable[Any]) -> None:
        """Write pairs that were encoded before."""
        for key, value in records:
            self.write_raw(key, value)

    def drop_encoded(self) -> None:
        """Do nothing: nothing is kept of a pair that was encoded."""
