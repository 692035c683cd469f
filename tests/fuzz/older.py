"""The names of the older libraries, held against the readers and the encoder of the new ones.

Here: Input, PairedInput, Output and PairedOutput over files of many kinds, with and without handlers. Not here: the
wire. Invariant: an Input returns what a Reader returns, and its file position is where the last value ended.
"""

import io

import typedbytes
from fuzz.choices import Choices
from fuzz.encoding import Objects, Odd, attempt
from fuzz.inputs import TEXTS
from fuzz.streams import ReadPieces, whole
from support.vectors import exact_repr, failure
from typedbytes import legacy
from typedbytes.errors import DecodeError, EncodeError, FormatError


class OneWay(io.RawIOBase):
    """A pipe: it can be read and not sought."""

    def __init__(self, data):
        super().__init__()
        self.file = io.BytesIO(data)

    def readable(self):
        """Say that it can be read."""
        return True

    def readinto(self, target):
        """Fill a buffer."""
        return self.file.readinto(target)


FILES = [
    lambda data, choices: io.BytesIO(data),
    lambda data, choices: io.BufferedReader(io.BytesIO(data), 16),
    lambda data, choices: OneWay(data),
    lambda data, choices: io.BufferedReader(OneWay(data), 8),
    lambda data, choices: ReadPieces(data, choices),
]

HANDLERS = ["strict", "strict", "surrogateescape", "replace"]


def check_older(data):
    """Read a wire by the old names: two bytes of length, the wire, the program."""
    nbytes = int.from_bytes(data[:2], "big")
    wire, choices = data[2 : 2 + nbytes], Choices(data[2 + nbytes :])
    (check_input, check_input, check_paired, check_output)[choices.below(4)](wire, choices)


def make_input(kind, wire, choices):
    """Return an input over a chosen file, its options as a Reader's, and whether handlers walk its containers."""
    options = {"unicode_errors": choices.pick(HANDLERS), "pickle": choices.pick(("safe", "raw"))}
    source = kind(choices.pick(FILES)(wire, choices), options["unicode_errors"], pickle=options["pickle"])
    if choices.below(3) == 2:
        source.register(199, lambda source: source.read_bytes())  # never met: but containers are walked in Python
    return source, options


def plain(value):
    """Return a value with legacy's Bytes as bytes, inside containers too."""
    kind = type(value)
    if kind in (list, tuple):
        return kind([plain(item) for item in value])
    if kind is dict:
        return {plain(key): plain(item) for key, item in value.items()}
    return bytes(value) if kind is legacy.Bytes else value


def check_input(wire, choices, kinds=(legacy.Input, typedbytes.Reader)):
    """Values one by one, and by iteration, in any order."""
    if 199 in wire:
        return  # the handler has this type code
    source, options = make_input(kinds[0], wire, choices)
    expected, trouble = whole(wire, options, kinds[1])
    found, end = [], None
    try:
        while not source.eof:
            take(source, choices, found)
    except DecodeError as error:
        end = error
        check_stays_failed(source)
    check_end(source, found, end, expected, trouble)


def check_paired(wire, choices):
    """Pairs by read and by iteration."""
    check_input(wire, choices, (legacy.PairedInput, typedbytes.PairReader))


def take(source, choices, found):
    """Take some values by read or by iteration; the file is positioned after them."""
    if choices.below(2):
        value = source.read()
        if not source.eof:
            found.append(plain(value))
        return
    most = choices.below(4) + 1
    for value in source:
        found.append(plain(value))
        most -= 1
        if most == 0:
            break
    if choices.below(2) and isinstance(source.file, io.BytesIO):
        assert source.file.tell() == source._offset


def check_end(source, found, end, expected, trouble):
    """The values are those of a Reader, and so is the error; but a key that handlers may hash is read first."""
    assert exact_repr(found) == exact_repr(expected), (found, expected)
    if source._handlers and type(trouble) is FormatError and "MAP key" in str(trouble):
        assert end is not None
    elif source._handlers or end is None or trouble is None:
        assert type(end) is type(trouble), (end, trouble)
    else:
        assert failure(end)[:2] == failure(trouble)[:2], (failure(end), failure(trouble))


def check_stays_failed(source):
    """A failed Input fails again."""
    try:
        source.read()
    except DecodeError:
        return
    raise AssertionError("an Input that failed went on")


class Slow(io.RawIOBase):
    """A file that takes few bytes at a time."""

    def __init__(self):
        super().__init__()
        self.taken = bytearray()

    def writable(self):
        """Say that it can be written."""
        return True

    def write(self, data):
        """Take at most three bytes."""
        self.taken += data[:3]
        return min(3, len(data))


def check_output(wire, choices):
    """Objects are written as the encoder writes them, and payload writers write what reads back."""
    file = Slow()
    output = legacy.Output(file)
    if choices.below(3) == 2:
        output.register(Slow, lambda output, obj: output.write_string("slow"))
    objects, expected = Objects(choices), bytearray()
    for _ in range(4):
        obj = objects.value(3)
        encoded, trouble = attempt(typedbytes.dumps, obj)
        before = len(file.taken)
        found, error = attempt(output.write, obj)
        if output._handlers and type(error) is not type(trouble):
            assert holds_odd(obj), (error, trouble)  # dict() asks no items()
            return
        assert type(error) is type(trouble), (error, trouble)
        if error is not None:
            assert output._handlers or len(file.taken) == before
            del file.taken[before:]
        else:
            expected += encoded
            assert output._handlers or file.taken == expected
            del file.taken[before:]
            file.taken += encoded
    check_payloads(output, file, choices)


def holds_odd(obj):
    """Return whether there is a dict in an object whose items are not pairs."""
    if isinstance(obj, dict):
        return type(obj) is Odd or any(map(holds_odd, [*obj, *obj.values()]))
    return isinstance(obj, (tuple, list)) and any(item is not obj and holds_odd(item) for item in obj)


def check_payloads(output, file, choices):
    """Each write_<type> either refuses its argument or writes one whole value."""
    obj = choices.pick((5, -1, 300, 2**40, 2**70, 1.5, "a", b"a", None, [1], (1, 2), {1: 2}, 1e300, "\ud800", *TEXTS))
    for name in (
        "bytes",
        "byte",
        "bool",
        "int",
        "long",
        "float",
        "double",
        "string",
        "bytestring",
        "vector",
        "list",
        "map",
        "pickle",
    ):
        start = len(file.taken)
        try:
            getattr(output, f"write_{name}")(obj)
        except EncodeError:
            assert output._handlers or len(file.taken) == start
            del file.taken[start:]
        except (TypeError, ValueError):
            assert name in ("vector", "list", "map"), name  # tuple(), list() and dict() say so themselves
        else:
            assert typedbytes.skip(file.taken, start) == len(file.taken)
