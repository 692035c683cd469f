"""Lines of JSON as records in compiled code: the bytes and the messages of reading the same text as objects."""

import io
import random
from fractions import Fraction

import pytest
from hypothesis import example, given, settings, strategies as st

import typedbytes as tb
from fuzz.json_text import PIECES, Pieces, outcome
from typedbytes._report import JsonRecords
from typedbytes.cli._forms.json_form import encoded_lines
from typedbytes.cli._input.formats import JSON_PIECE_NBYTES, Opening, lines_of, records_of_json

HOSTILE = [
    b"[" * 100_000,
    b"[" * 256 + b"]" * 256,
    b"[" * 257 + b"]" * 257,
    b'{"a":' * 256 + b'{"long": 1}' + b"}" * 256,
    b'{"a":' * 257 + b"1" + b"}" * 257,
    b'{"vector": [' * 256 + b"]}" * 256,
    b'{"vector": [' * 257 + b"]}" * 257,
    b'{"map": [[0, ' * 200 + b"1" + b"]]}" * 200,
    b'{"vector": [' * 200,
    b"9" * 5000,
    b'{"double": ' + b"9" * 300 + b"}",
    b'{"double": ' + b"9" * 310 + b"}",
    b'{"float": 3.4028235677973366e38}{"float": 3.4028235e38}',
    b"0." + b"1" * 400 + b"e5",
    b"1e-400 -1e-400 -0.0 -0",
    b'{"double": -0}{"float": -0}{"double": -0.0}',
    b"9223372036854775807 -9223372036854775808 9223372036854775808",
    b'"\\ud83d\\ude00" "\\ud83d" ',
    b'"\\ude00\\ud83d"',
    b'{"\\ud800": 1, "\\ud800": 2}',
    b'{"a": "\\ud800", "a": 1}\n{"a": 99999999999999999999, "a": 1, "b": 2}\n1',
    b'{"a": 1, "\\u0061": 2}',
    b'{"byt\\u0065s": "AAE="}',
    b'"a\x00b"',
    b'"abcdefg\x1fhijklmnop"',
    b'"abcdefgh\xc3\xa9ijklmn\\"opq\xc3\xa9"',
    b'{"bytes": "AAA',
    b'{"bytes": "AAA\\',
    b'"\x7f"',
    b"1\x00",
    b'"\xed\xa0\x80"',
    b'"\xc0\x80"',
    b'"\xf4\x90\x80\x80"',
    b'"\xe2\x82',
    b"1\n\xff",
    b'{"bytes": "YR=="}{"bytes": "YQ="}',
    b'{"bytes": "=AAA"}',
    b'{"ext": [50, "AAAAAWE="]}{"ext": [177, ""]}{"ext": [177, "AA=="]}',
    b'{"writable": ["\\u00e9", "AAE="]}',
    b'{"long" :\n5 }',
    b'{"long": 5, "b": 1}{"long": {"long": 5}}',
    b'{"long": }',
    b'{"long": 5 6}',
    b"\xef\xbb\xbf1\n\xef\xbb\xbf2",
    b"\xef\xbb",
    b"[1][2]{}{}[]1",
    b"[1\n][2\n][3\n] x",
    b'{"a": [1,\n2]} 5 [\n\n,]',
    b'"' + b"x" * 70_000 + b'" 1 01',
    b" " * 70_000 + b"1 x",
    b'{"vector": [1, 2\n' + b'{"a": [1, 2, 3]}\n' * 5,
    b'{"bytes": "AA\n"x"\n',
    b'{"float": "a\n',
    b'{"long": 1\n{"a": [1, 2, 3]}\n',
    b'{"float": ' + b"9" * 30 + b" " * 70_000 + b"}",
    b'{"map": [[1, 2], ' + b"[3, 4], " * 9000 + b'[5, 6]]}{"map": [[[1, 2]], 2], "a": 1}',
    b'{"vector": [{"vector": [' * 60 + b"1" + b"]}, 2]}" * 60,
    b'{"vector": [{"vector": [' * 30 + b"1" + b"]}" + b', 2], "a": {"vector": []}}]}' * 29 + b"]}",
    b"{" + b",".join(b'"%d": 1' % number for number in range(40)) + b"}",
    b"{" + b",".join(b'"%d": %d' % (number % 39, number) for number in range(80)) + b"}",
]
MODES = [
    {"pairs": pairs, "plain": plain, "dialect": dialect}
    for pairs in (False, True)
    for plain in (False, True)
    for dialect in ("hadoop", "hive")
]


def both(text, source, pairs, plain, dialect, limit=None):
    """Return what the slow reader makes of a text, and what the compiled one does."""
    lines = lines_of(io.BytesIO(text), "here", limit, JSON_PIECE_NBYTES)
    return (
        outcome(encoded_lines(lines, pairs, dialect, plain, limit)),
        outcome(records_of_json(source, Opening("here", pairs, dialect, limit, plain))),
    )


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_json_is_what_the_slow_reader_makes_of_it(text, end):
    for mode in MODES:
        each = (b"[" + text + b", 1]" if mode["pairs"] else b"true\n" + text) + end
        expected, found = both(each, io.BytesIO(each), **mode)
        assert found == expected


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), max_size=14),
    st.sampled_from(MODES),
    st.integers(1, 20),
    st.none() | st.integers(1, 30),
)
@example(['{"a": 1}', "\n"], MODES[0], 1, None)
def test_any_text_in_any_pieces_is_what_the_slow_reader_makes_of_it(pieces, mode, nbytes, limit):
    text = "".join(pieces).encode()
    expected, found = both(text, Pieces(text, nbytes), **mode, limit=limit)
    assert found == expected


def test_what_is_right_needs_no_slow_reader():
    """Tags, names that come again in plain JSON, values over several lines: none is left to the reader of objects."""
    records = JsonRecords()
    text = b'{"vector": [{"map": [[1, {"double": "nan:7ff8000000000001"}]]}]}\n[\n{"ext": [99, ""]}\n]\n'
    assert records.take(text, True) and not records.is_refused
    plain = JsonRecords(plain=True)
    assert tb.loads(plain.take(b'{"a": 1, "b": 2, "a": 3}', True)) == {"a": 3, "b": 2}
    assert not plain.is_refused


def test_what_is_held_is_the_rest_of_a_line():
    records = JsonRecords()
    assert records.take(b'1\n{"a": 1} [2', False) == tb.dumps(1)
    assert (records.rest, records.nlines, records.is_refused) == (b'{"a": 1} [2', 1, False)
    assert records.take(b"]\n", False) == tb.dumps({"a": 1}) + tb.dumps([2])
    assert records.rest == b""
    assert records.take(b"x\n", False) == b""
    assert (records.rest, records.nlines, records.is_refused) == (b"x\n", 2, True)


@pytest.mark.parametrize(
    "text",
    [
        b'{"vector": [1, 2\n{"a": [1]}\n', b'{"bytes": "AA\n"x"\n', b'{"float": "a\n', b'{"long": [\n[1]\n[2]\n',
        b'{"long": 1\n{"a": [1]}\n', b'{"map": [[0, 01],\n',
    ],
)  # fmt: skip
@pytest.mark.parametrize("inside", [b"", b'{"vector": [', b'{"a": {"map": [[1, '])
def test_what_is_wrong_in_a_tag_is_known_before_the_input_ends(text, inside):
    records = JsonRecords()
    assert records.take(b"1\n" + inside + text, False) == tb.dumps(1)
    assert records.is_refused and records.rest == inside + text


TAGS = [
    '{"float": 99999999999999999999 }', '{"double": 1.5, "a": 2}', '{"map": [[1, [2, 3]], ["a", "b"]]}', '{"long": 5}',
    '{"map": [1, 2], "a": 1}', '{"long": "a,}", "b": {"vector": [1, {"bytes": "AAE="}]}}', '{"double": "inf" }',
    '{"vector": [' * 200 + "1" + "]}" * 200, '{"writable": ["a]", "AAE="]}', '{"ext": [51, "AA=="]}',
    '{"vector": {"vector": [true]}, "a": {"float": -0.5e3}}', "12345678901234567890.5", "[-" + "9" * 300 + "e-3]",
]  # fmt: skip


@pytest.mark.parametrize("nbytes", [1, 3, 50])
def test_what_is_right_is_taken_wherever_it_is_cut(nbytes):
    """Whatever a tag or a number may become: nothing is left to the reader of objects."""
    text = "\n".join(TAGS).encode()
    records, found = JsonRecords(), []
    for i in range(0, len(text), nbytes):
        found.append(records.take(text[i : i + nbytes], False))
        assert not records.is_refused, text[: i + nbytes]
    found.append(records.take(b"", True))
    assert not records.is_refused
    expected = outcome(encoded_lines(lines_of(io.BytesIO(text), "here", None)))
    assert (b"".join(found), None) == (JsonRecords().take(text, True), None) == expected


@pytest.mark.parametrize("nbytes", [(2 << 20) + 1, (2 << 20) + 100, 3 << 20, 5 << 20])
def test_max_bytes_of_a_very_long_line(nbytes):
    """Of what was taken of a line before its rest is left to the reader of objects, too."""
    text = b"1\n" + (b"[1] " * (nbytes // 4 + 1))[:nbytes]
    for end in b"", b"\n", b"\n2\n":
        found = outcome(records_of_json(io.BytesIO(text + end), Opening("here", False, "hadoop", 2 << 20)))[1]
        assert found == "here: line 2: longer than 2097152 bytes"
    right = text[: 2 + (2 << 20)] + b"\n" + b"[1] " * (1 << 17) + b"\n[2"
    found = outcome(records_of_json(io.BytesIO(right), Opening("here", False, "hadoop", 2 << 20)))[1]
    assert found.startswith("here: line 4: not JSON at column 3: ")


def test_a_byte_order_mark_in_a_very_long_line():
    text = b"[1]" + b" " * (1 << 20) + b"\xef\xbb\xbf[2]\n"
    encoded, message = outcome(records_of_json(io.BytesIO(text), Opening("here", False, "hadoop", None)))
    assert encoded == tb.dumps([1]) and message.startswith("here: line 1: not JSON at column ")
    assert (
        outcome(records_of_json(io.BytesIO(b"\xef\xbb\xbf" + text[:-7]), Opening("here", False, "hadoop", None)))[1]
        is None
    )


def test_numbers_are_those_of_python():
    """Of up to 19 digits by a division, of others by the interpreter; some lie between two doubles."""
    rng = random.Random(5)
    texts = ["0.0", "-0.0", "0.5", "9007199254740993.0", "9007199254740992.5", "1.7e308", "0." + "0" * 18 + "1"]
    for _ in range(20_000):
        digits = str(rng.randrange(10 ** rng.randrange(1, 21)))
        nplaces = rng.randrange(1, 21)
        digits = digits.rjust(nplaces + 1, "0")
        texts.append(rng.choice(("", "-")) + digits[:-nplaces] + "." + digits[-nplaces:])
        texts.append(repr(rng.random() * 10.0 ** rng.randrange(-5, 18)))
        half = Fraction(rng.getrandbits(53) * 2 + 1, 1 << rng.randrange(1, 12))  # between two doubles, or near it
        texts.append(f"{half.numerator // half.denominator}.{half.numerator * 10**3 // half.denominator % 1000:03}")
    records = JsonRecords()
    found = tb.Decoder().decode_all(records.take("\n".join(texts).encode(), True))
    assert not records.is_refused and list(map(repr, found)) == [repr(float(text)) for text in texts]
