"""Keys grouped by a part of them: all keys of a part reach one reducer and are adjacent there.

A job that groups by a part G of its keys K sends, between its map and reduce tasks, instead of each key

    VECTOR of [G, K, LONG]

Hadoop sorts by encoded bytes: by G first, then by K. The LONG is chosen so that the hash of the whole equals the hash
of G, so Hadoop's HashPartitioner sends all keys of a part to the reducer of G. For a BinaryPartitioner that ignores
bytes at the end, as many padding bytes follow the LONG. So a job needs no option for this, and no Java class.

Here: reading and writing that form. Not here: what a part or a record means. Invariant:
keys that arrive without this form are passed on without it, and a job with several reducers refuses them.
"""

from __future__ import annotations

from typedbytes import Encoder, dumps, hash_code
from typedbytes._core import RecordGroups, WrappedIterator, advance, joined_with_hash
from typedbytes.errors import DecodeError, FormatError
from typedbytes.streaming.formats.record_io import checked_pair
from typedbytes.streaming.formats.typed_bytes import MAX_DEPTH, TypedBytesOutput, UndecodedInput
from typedbytes.streaming.task_environment import GroupingError, Task, find_secondary

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

HEAD_NBYTES = 5  # of a VECTOR: its type code and its count
MARK = b"\x04T"  # a LONG and its first byte; its other bytes set the hash and are below 31
LONG_NBYTES = 9
EMPTY_BYTES, FALSE = bytes(5), b"\x02\x00"  # values of five bytes and of two


def find_composite_keys(
    part_of: Callable[[Any], Any], groups_by_part: bool, role: str, formats: Sequence[str], environ: Mapping[str, str]
) -> CompositeKeys | None:
    """Return the CompositeKeys of a job's keys, or None if its tasks pass keys on unchanged.

    They do without a reducer, or with its own partitioner. part_of: returns the part of a key; groups_by_part:
    whether reducers are called for parts. formats: of the role's input and output. Raises GroupingError for a job
    whose keys cannot be grouped so.
    """
    secondary = find_secondary(environ)
    nreducers = Task(environ).nreducers
    if nreducers == 0 or secondary is None:
        return None
    between = {"map": formats[1:], "combine": formats, "reduce": formats[:1]}[role]
    if set(between) != {"typedbytes"}:
        raise GroupingError(
            f"grouping by a part of the keys needs typed bytes between map and reduce, not {' and '.join(between)}: "
            "add -io typedbytes (or -D stream.map.output=typedbytes -D stream.reduce.input=typedbytes)"
        )
    trusts = nreducers is None or (nreducers == 1 and not groups_by_part)
    return CompositeKeys(part_of, groups_by_part and role == "reduce", secondary, None if trusts else nreducers)


class CompositeKeys:
    """The form of a job's keys between map and reduce.

    secondary: bytes at the end of a key that Hadoop's partitioner ignores. nreducers: their number if keys that arrive
    without this form would be grouped wrongly, else None.
    """

    def __init__(
        self, part_of: Callable[[Any], Any], groups_by_part: bool, secondary: int = 0, nreducers: int | None = None
    ) -> None:
        self.part_of: Callable[[Any], Any] = part_of
        self.groups_by_part: bool = groups_by_part
        self.nreducers: int | None = nreducers
        self.input_is_composite: bool | None = None  # whether the keys read have this form; None: no key was read
        odd = secondary % 2 * len(EMPTY_BYTES)
        if secondary < odd:
            raise GroupingError(
                f"--secondary {secondary} cannot be combined with grouping by a part of the key: leave it out, "
                "grouping needs none"
            )
        nfalse = (secondary - odd) // len(FALSE)
        self._padding = EMPTY_BYTES * bool(odd) + FALSE * nfalse
        self._head = b"\x08" + (3 + bool(odd) + nfalse).to_bytes(4, "big")
        self.ntail: int = LONG_NBYTES + secondary
        # the bytes of the key split last, up to the end of its part; None: no key was split
        self.start: bytes | None = None

    def join(self, part: bytes, key: bytes) -> bytes:
        """Return the form of an encoded key with an encoded part."""
        return joined_with_hash(self._head, part, key, MARK, self._padding)

    def split(self, whole: bytes) -> bytes | None:
        """Return the encoded key in a composite key, None for other keys; `start` is equal for keys of a part."""
        if self.start is None or not (whole.startswith(self.start) and whole.startswith(MARK, -self.ntail)):
            start = self.start_of(whole)
            if start is None:
                return None
            self.start = start
        return whole[len(self.start) : -self.ntail]

    def start_of(self, whole: bytes) -> bytes | None:
        """Return the bytes of a composite key up to the end of its part, None for other keys."""
        end = len(whole) - self.ntail
        if not (whole.startswith(self._head) and whole.startswith(MARK, max(end, 0)) and whole.endswith(self._padding)):
            return None
        part_end = advance(whole, HEAD_NBYTES, 1, max_depth=MAX_DEPTH)
        if part_end is None or advance(whole, part_end, 1, max_depth=MAX_DEPTH) != end:
            return None
        hashed = whole[: len(whole) - len(self._padding)]
        return whole[:part_end] if hash_code(hashed) == hash_code(whole[HEAD_NBYTES:part_end]) else None


class CompositeKeyInput(UndecodedInput):
    """Read pairs, of whose keys either all or none are composite; options are those of PairReader."""

    def __init__(self, source: Any, options: Mapping[str, Any], composite_keys: CompositeKeys) -> None:
        super().__init__(source, options)
        self._composite_keys = composite_keys
        self._failure: BaseException | None = None

    def raw_pairs(self) -> Any:
        """Return an iterator of raw pairs, with their original keys."""
        return WrappedIterator(self._split_pairs())

    def _split_pairs(self):
        composite_keys = self._composite_keys
        for whole, value in self._reader:
            key = composite_keys.split(whole)
            if composite_keys.input_is_composite != (key is not None):
                self._set_input_form(key is not None)
            yield (whole if key is None else key), value

    def _set_input_form(self, is_composite):
        composite_keys = self._composite_keys
        if composite_keys.input_is_composite is not None:
            self._failure = FormatError(
                "some keys are in the form for grouping and others are not", self.offset, record=self.record - 1
            )
            raise self._failure
        if not is_composite and composite_keys.nreducers is not None:
            raise GroupingError(
                "the keys come from a mapper without group_by or partition_by, "
                f"and {composite_keys.nreducers} reducers could group them wrongly: "
                "give the same run(...) that mapper too (lib.identitymapper passes pairs on), "
                "or name a partitioner that sends each group to one reducer (-partitioner CLASS)"
            )
        composite_keys.input_is_composite = is_composite

    def groups(self) -> Any:
        """Return an iterator of (key, values) over adjacent pairs of one group."""
        if self._composite_keys.groups_by_part:
            return RecordGroups(self._by_part(), key_of=self._key_of, value_of=self._value_of)
        return RecordGroups(self._split_pairs(), key_of=self._key_of, value_of=self._value_of)

    def _by_part(self):
        # Pairs of one part follow each other, so only the first of their keys is decoded.
        composite_keys, start, ntail = self._composite_keys, None, self._composite_keys.ntail
        for whole, value in self._reader:
            if start is not None and whole.startswith(start) and whole.startswith(MARK, -ntail):
                yield start, b"", value
                continue
            key = composite_keys.split(whole)
            if composite_keys.input_is_composite != (key is not None):
                self._set_input_form(key is not None)
            record = whole if key is None else key, value
            start = None if key is None else composite_keys.start
            yield (self.group_of(record), *record)

    def group_of(self, record: Any) -> bytes | None:
        """Return bytes that are the same for all pairs of a group, of the raw pair that was read last."""
        if not self._composite_keys.groups_by_part:
            return record[0]
        if self._composite_keys.input_is_composite:
            return self._composite_keys.start
        return dumps(self._composite_keys.part_of(self._key_of(*record)))

    def failure(self) -> BaseException | None:
        """Return the error the input has failed with, or None."""
        return self._failure or super().failure()

    def item_bytes(self, item: Any) -> bytes:
        """Return a key or value encoded again, with the widths that we write."""
        return dumps(item)

    def _key_of(self, key, value):
        ntail = self._composite_keys.ntail if self._composite_keys.input_is_composite else 0
        return self._decoded(self.decode_key, key, len(value) + ntail)

    def _value_of(self, value):
        return self._decoded(self.decode_value, value, 0)

    def _decoded(self, decode, item, nafter):
        try:
            return decode(item)
        except DecodeError as error:
            error.offset += self.offset - nafter - len(item)
            error.record = self.record - 1
            self._failure = error
            raise


class CompositeKeyOutput(TypedBytesOutput):
    """Write pairs with composite keys, unless the keys read were plain; options are those of PairWriter."""

    def __init__(self, sink: Any, options: Mapping[str, Any], composite_keys: CompositeKeys) -> None:
        super().__init__(sink, options)
        self._composite_keys = composite_keys
        untyped = {"type": None, "key_type": None, "value_type": None}
        self._encode_part = Encoder(**{**self._options, **untyped}).encode

    def encoded(self, pair: Any) -> Any:
        """Return the composite key and the encoded value of a pair."""
        key, value = checked_pair(pair)
        composite_keys = self._composite_keys
        encoded_key, encoded_value = super().encoded(pair)
        if composite_keys.input_is_composite is False:
            return encoded_key, encoded_value
        return composite_keys.join(self._encode_part(composite_keys.part_of(key)), encoded_key), encoded_value

    def writes(self, pairs: Iterable[Any]) -> Any:
        """Write every pair of an iterable."""
        encoded, write = self.encoded, self.write_raw
        for pair in pairs:
            write(*encoded(pair))
