"""Whole buffers: values, structure and encoded bytes must agree with one another and with the reference.

Here: what must hold of any bytes that are decoded, skipped, counted, indexed, read raw. Not here: sources and chunks.
Invariant: the bytes looked at end at an unreadable page.
"""

import typedbytes
from fuzz import options as sets
from fuzz.guard import Guard
from support import reference
from support.vectors import exact_repr, failure
from typedbytes._base import npy
from typedbytes._core import safe_loads
from typedbytes.errors import DecodeError, FormatError, LimitError, TruncatedError

GUARD = Guard(1 << 20)

#: Handlers whose text can be written again under the same name; what the others make is plain text.
TWO_WAYS = ("surrogateescape", "surrogatepass")


def check_buffer(data):
    """Decode and walk one buffer in every way there is; the first byte chooses options."""
    options = sets.DECODE[data[0] % len(sets.DECODE)] if data else {}
    wire = GUARD.put(data[1:])
    limits = sets.limits(options)
    ends, fault = walk(wire, limits)
    check_structure(wire, limits, ends, fault)
    values, trouble = decode(wire, options, ends)
    check_order(wire, ends, fault, trouble, options)
    check_whole_buffer(wire, options, values, trouble)
    check_single(wire, options, values, trouble)
    for value in values:
        check_again(value, options)


def walk(wire, limits):
    """Return the end of each whole value, and the error of the first that is not whole: its class, offset and code."""
    ends, offset = [], 0
    while offset < len(wire):
        try:
            offset = typedbytes.skip(wire, offset, **limits)
        except DecodeError as error:
            return ends, failure(error)[:3]
        assert ends[-1:] < [offset], "skip went nowhere"
        ends.append(offset)
    return ends, None


def check_structure(wire, limits, ends, fault):
    """Count, index and raw readers see the values that skip sees."""
    starts = [0, *ends]
    for call, expected in ((typedbytes.count, len(ends)), (index, starts[:-1] if ends else [])):
        try:
            found = call(wire, **limits)
        except DecodeError as error:
            assert failure(error)[:3] == fault, (call.__name__, failure(error), fault)
        else:
            assert fault is None and found == expected, (call.__name__, found, expected, fault)
    reader = typedbytes.Reader(wire, raw=True, **limits)
    raw = []
    try:
        raw.extend(reader)
    except DecodeError as error:
        assert failure(error)[:3] == fault, (failure(error), fault)
        assert error.record == len(ends)
    else:
        assert fault is None and reader.offset == len(wire)
    assert b"".join(raw) == wire[: starts[-1]] and len(raw) == len(ends)


def index(wire, **limits):
    """Return the offsets of the values as a list."""
    return list(typedbytes.index(wire, **limits))


def decode(wire, options, ends):
    """Return the values up to the first that cannot be decoded, and what that one raises."""
    decoder = typedbytes.Decoder(**options)
    values, offset = [], 0
    try:
        while offset < len(wire):
            value, offset = decoder.decode_from(wire, offset)
            assert ends[len(values)] == offset, (ends, offset)
            values.append(value)
    except sets.DOCUMENTED as error:
        return values, error
    return values, None


def check_order(wire, ends, fault, trouble, options):
    """What decoding finds wrong is not after what the walk finds, and of another kind only where it knows more."""
    if fault is None:
        assert not isinstance(trouble, TruncatedError), "decoding wants more bytes than skip"
    elif not isinstance(trouble, sets.HookError):
        kind, offset, code = fault
        assert trouble is not None, fault
        if type(trouble).__name__ == kind and trouble.offset == offset:
            assert trouble.code == code, (trouble.code, fault)
        else:
            assert isinstance(trouble, (FormatError, LimitError)) and trouble.offset <= offset, (
                failure(trouble),
                fault,
            )
    if isinstance(trouble, LimitError) and "max_depth" in str(trouble):
        assert fault == failure(trouble)[:3], (failure(trouble), fault)
    if isinstance(trouble, DecodeError):
        assert 0 <= trouble.offset <= len(wire)
        assert not isinstance(trouble, TruncatedError) or trouble.offset == len(wire)
        assert str(trouble)


def check_whole_buffer(wire, options, values, trouble):
    """All values at once are the values one by one; the error names the same record."""
    try:
        found = typedbytes.Decoder(**options).decode_all(wire)
    except sets.DOCUMENTED as error:
        check_same(error, trouble)
        assert getattr(error, "record", len(values)) == len(values)
    else:
        assert trouble is None and exact_repr(found) == exact_repr(values)


def check_same(error, trouble):
    """Two errors are the same: ours in class, offset, code and path."""
    assert type(error) is type(trouble), (error, trouble)
    if isinstance(error, DecodeError):
        assert failure(error) == failure(trouble)


def check_single(wire, options, values, trouble):
    """One value alone: as the first of many, or the error that there is more."""
    try:
        value = typedbytes.loads(wire, **options)
    except sets.DOCUMENTED as error:
        if values:
            assert isinstance(error, FormatError) and error.path == "", error
        elif len(wire):
            check_same(error, trouble)
        else:
            assert failure(error) == ("TruncatedError", 0, None, "")
    else:
        assert len(values) == 1 and exact_repr(value) == exact_repr(values[0])


def check_again(value, options):
    """What was decoded can be encoded, and then reads as the same value."""
    if options.get("ext_hook") or options.get("max_bytes"):
        return
    handler = options.get("unicode_errors", "strict")
    encoded = typedbytes.dumps(
        value,
        pickle=options.get("pickle", "safe"),
        dialect=options.get("dialect", "hadoop"),
        unicode_errors=handler if handler in TWO_WAYS else "strict",
    )
    again = typedbytes.loads(encoded, **{**options, "max_depth": 256})
    assert exact_repr(again) == exact_repr(value), encoded.hex()


# -- the reference ----------------------------------------------------------------------------------------


class Walk(reference.Walk):
    """The reference with our own readers of pickles and arrays: those are Python, and tested by themselves."""

    def application(self, start, code, path):
        """Return the value of an application code."""
        if self.exact or not (code == reference.NDARRAY or code == reference.PICKLE and self.pickle == "safe"):
            return super().application(start, code, path)
        payload = self.sized(start, code, path)
        try:
            return (safe_loads if code == reference.PICKLE else npy.loads_array)(payload)
        except Exception:
            raise FormatError("broken payload", offset=start, code=code, path=path) from None


def check_reference(data):
    """Decode every value of a buffer beside the reference; the first byte chooses options."""
    options = sets.DECODE[data[0] % len(sets.DECODE)] if data else {}
    plain = data[1:]
    wire = GUARD.put(plain)
    decoder = typedbytes.Decoder(**options)
    offset = 0
    while True:
        found = outcome(decoder.decode_from, wire, offset)
        expected = outcome(slowly, plain, offset, options)
        assert found == expected, (found, expected)
        check_skip(wire, plain, offset, sets.limits(options))
        if not isinstance(found, str) or offset == len(plain):
            return
        offset = decoder.decode_from(wire, offset)[1]


def slowly(data, offset, options):
    """Return the value at an offset as the reference sees it, and the offset after it."""
    slow = Walk(data, offset, **options)
    return slow.value(), slow.offset


def check_skip(wire, plain, offset, limits):
    """Structure alone is seen alike, but for the path that skip does not know."""
    found = outcome(typedbytes.skip, wire, offset, **limits)
    expected = outcome(reference.skip, plain, offset, **limits)
    assert found == expected or found[:3] == expected[:3] and type(found) is tuple, (found, expected)


def outcome(call, *arguments, **options):
    """Return the spelling of what a call gives, or what its error says, the errors of our hooks among them."""
    try:
        return exact_repr(call(*arguments, **options))
    except DecodeError as error:
        return failure(error)
    except sets.HookError as error:
        return "HookError", str(error)
