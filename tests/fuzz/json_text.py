"""JSON to records: compiled code must make the bytes, and the messages, that reading it as objects makes.

Here: text that is JSON, nearly JSON, or neither, whole and in pieces. Not here: the other direction (report.py).
Invariant: the bytes that are read end at an unreadable page.
"""

import io
import json

from fuzz.choices import Choices
from fuzz.guard import Guard
from typedbytes import _report
from typedbytes.cli._failure import Failure
from typedbytes.cli._forms.json_form import _TAG_WRITERS, encoded_lines
from typedbytes.cli._input.formats import JSON_PIECE_NBYTES, Opening, lines_of, records_of_json

GUARD = Guard(1 << 20)
HEAD = 6  # bytes of an input that choose options; the rest is the text


class Pieces(io.RawIOBase):
    """Give a text in pieces of one size."""

    def __init__(self, text, nbytes):
        self._text, self._nbytes, self._offset = text, nbytes, 0

    def readable(self):
        """Return True."""
        return True

    def readinto(self, target):
        """Fill the front of a buffer."""
        piece = self._text[self._offset : self._offset + min(self._nbytes, len(target))]
        target[: len(piece)] = piece
        self._offset += len(piece)
        return len(piece)


def outcome(records):
    """Return the bytes of records up to what ends them, and its message."""
    found = []
    try:
        for each in records:
            found.append(each)
    except Failure as failure:
        return b"".join(found), str(failure)
    return b"".join(found), None


def check_json(data):
    """Read one text by both, in pieces as the first bytes choose."""
    choices, text = Choices(data[:HEAD]), data[HEAD:]
    pairs, plain = choices.below(4) == 0, choices.below(2) == 1
    dialect, limit = choices.pick(("hadoop", "hadoop", "hive")), choices.pick((None, None, None, 1 + choices.below(40)))
    nbytes = 1 + choices.below(60)
    lines = lines_of(io.BytesIO(text), "here", limit, JSON_PIECE_NBYTES)
    expected = outcome(encoded_lines(lines, pairs, dialect, plain, limit))
    for source in (io.BytesIO(text), Pieces(text, nbytes)):
        found = outcome(records_of_json(source, Opening("here", pairs, dialect, limit, plain)))
        assert found == expected, (found, expected)
    records = _report.JsonRecords(pairs=pairs, plain=plain, dialect=dialect, max_bytes=limit)
    found = records.take(GUARD.put(text), True)
    assert expected[0].startswith(found)
    # of equal names in plain JSON the last counts: what the others have may be anything
    assert records.is_refused == (expected[1] is not None) or plain, (records.is_refused, expected)


PIECES = (
    "{", "}", "[", "]", ",", ":", '"', "\\", " ", "\n", "\r\n", "\t", "1", "-1", "0", "-0", "01", "2.5", "1e3", "-",
    "1E+400", "12345678901", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "0.1", "1.", "true",
    "false", "null", "NaN", '"a"', '"b"', '"bytes"', '"AAE="', '"A"', '{"long": 5}', '{"double": "inf"}',
    '{"ext": [51, "AA=="]}', '{"writable": ["c", ""]}', '{"map": [["a", 1]]}', '{"vector": [1]}', '{"float": 1e39}',
    '"\\u0061"', '"\\ud83d\\ude00"', '"\\ud800"', '"\\n"', "\u00e9", '"\u20ac"', "\ufeff", "\x00", '{"a": 1}', "[]",
    '{"a": 1, "a": 2}', "[1, 2]", "{}", '{"float": "nan:7fc00000"}', '{"string": "/w=="}', '{"byt\\u0065s": ""}',
    '{"short": 5}',
)  # fmt: skip
TEXTS = ("", "a", "\u00e9\n", "\U0001f600", "x" * 30)
CONTENTS = (5, "AAE=", [1], [[1, 2]], [51, ""], ["c", ""])


def tree(rng, depth=0):
    """Return a random tree."""
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind < 2:
        return (None, rng.random() < 0.5)[kind]
    if kind == 2:
        return rng.randrange(-1 << rng.randrange(1, 64), 1 << rng.randrange(1, 63))
    if kind == 3:
        return rng.choice((0.5, 1e300, rng.random(), -rng.random()))
    if kind == 4:
        return rng.choice(TEXTS)
    if kind == 5:
        return {rng.choice(TAGS): rng.choice(CONTENTS)}
    if kind == 6:
        return {rng.choice(("a", "b", "c", *TAGS)): tree(rng, depth + 1) for _ in range(rng.randrange(4))}
    if kind == 7:
        return {f"name {number}": tree(rng, 4) for number in range(rng.randrange(25))}
    return [tree(rng, depth + 1) for _ in range(rng.randrange(4))]


TAGS = sorted(_TAG_WRITERS)


def shape(maker):
    """Return bytes that choose, then text: mostly JSON in some layout, often spoiled."""
    rng, text = maker.rng, ""
    for _ in range(rng.randrange(1, 6)):
        if rng.random() < 0.9:
            text += json.dumps(tree(rng), indent=rng.choice((None, None, 1)), ensure_ascii=rng.random() < 0.5)
            text += rng.choice(("\n", "\n", " ", "", "\r\n", "\n\n"))
        else:
            text += "".join(rng.choice(PIECES) for _ in range(rng.randrange(12)))
    if rng.random() < 0.3:
        offset = rng.randrange(len(text) + 1)
        text = text[:offset] + rng.choice(PIECES) + text[offset + rng.randrange(3) :]
    if rng.random() < 0.2:
        text = text[: rng.randrange(len(text) + 1)]
    return rng.randbytes(HEAD) + text.encode() + (b"\xff" if rng.random() < 0.03 else b"")
