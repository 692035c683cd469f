"""UTF-8 to and from text, by each kind of loops that the processor has, held against the interpreter's own codec.

Here: which bytes are text, which text they are, and where they stop being text. `LEVEL_NAMES` are the kinds of loops.
"""

import random
import struct

import pytest

import typedbytes as tb
from typedbytes import _core

pytestmark = [pytest.mark.every_python, pytest.mark.quick]

LEVEL_NAMES = ("every processor", "AVX2", "AVX-512")
LEVELS = range(_core._limit_vectors(2) + 1)
#: One character of each length, and of each width of a str.
CHARACTERS = ("a", "é", "ё", "’", "😀")
#: Lengths of what is before a sequence: each offset modulo the widest step.
OFFSETS = range(66)


@pytest.fixture(params=LEVELS, ids=[LEVEL_NAMES[level] for level in LEVELS], autouse=True)
def level(request):
    assert _core._limit_vectors(request.param) == request.param
    yield request.param
    _core._limit_vectors(2)


def string(payload):
    """Return a STRING of bytes that may not be UTF-8."""
    return b"\x07" + struct.pack(">i", len(payload)) + payload


def expected(payload):
    """Return what the interpreter says that the bytes are: text, or why not and where."""
    try:
        return payload.decode()
    except UnicodeDecodeError as error:
        return f"{error.reason} at its byte {error.start}"


def check(payloads):
    """Compare what becomes of byte strings with what the interpreter makes of them, and encode the text again."""
    good = []
    decode = tb.Decoder().decode
    for payload in payloads:
        text = expected(payload)
        try:
            found = decode(string(payload))
        except tb.FormatError as error:
            assert text in str(error), payload
        else:
            assert found == text, payload
            good.append(text)
    encode = tb.Encoder().encode
    for text in good:
        assert encode(text) == string(text.encode()), text


def test_text_of_every_share_of_every_kind():
    rng = random.Random(51)
    for _ in range(300):
        kinds = rng.sample(CHARACTERS[1:], rng.randint(1, 4))
        share = rng.choice((1, 0.5, 0.1, 0.01))
        text = "".join(rng.choice(kinds) if rng.random() < share else "x" for _ in range(rng.randrange(400)))
        check([text.encode()])


@pytest.mark.parametrize("around", CHARACTERS)
def test_each_character_at_each_offset(around):
    check(
        (around * before + inner + around * 70).encode()
        for before in OFFSETS
        for inner in CHARACTERS + ("\uffff", "\U0010ffff")
    )


@pytest.mark.parametrize("around", CHARACTERS)
def test_every_byte_after_every_byte_above_127(around):
    rng = random.Random(52)
    sequences = [bytes((first, second)) for first in range(128, 256) for second in range(256)]
    heads, after = rng.choices([(around * n).encode() for n in OFFSETS], k=len(sequences)), (around * 40).encode()
    check(before + sequence + after for before, sequence in zip(heads, sequences))


@pytest.mark.parametrize("around", CHARACTERS)
def test_sequences_of_three_and_four_bytes_at_the_limits(around):
    rng = random.Random(53)
    leads = (0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xF8, 0xFF)
    followers = (0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xE2)
    sequences = [bytes((lead, second, third, 0x80)) for lead in leads for second in followers for third in followers]
    check(
        (around * rng.choice(OFFSETS)).encode() + sequence[:n] + (around * 40).encode()
        for sequence in sequences
        for n in (3, 4)
    )


@pytest.mark.parametrize("inner", CHARACTERS[1:])
def test_text_cut_short_at_each_length(inner):
    whole = ("x" * 37 + inner * 20 + "y" * 40 + inner).encode()
    check(whole[:n] for n in range(len(whole)))


def test_a_lone_surrogate_at_each_offset():
    encode = tb.Encoder().encode
    for around in ("a", "ё", "😀"):
        for before in OFFSETS:
            with pytest.raises(tb.EncodeValueError, match="lone surrogate"):
                encode(around * before + "\udc80" + around * 40)


@pytest.mark.parametrize("nbytes", [*range(248, 330), 384, 448, 511, 512, 513, 520, 575, 576, 577, 65535, 65536, 65537])
def test_one_byte_that_is_not_ascii_anywhere_in_a_long_text(nbytes):
    text = bytes(33 + i % 89 for i in range(nbytes))
    step = 1 if nbytes < 1000 else 8191
    check([text, *(text[:at] + b"\xff" + text[at + 1 :] for at in range(0, nbytes, step))])
    check(text[:at] + "\u00e9".encode() + text[at + 2 :] for at in range(0, nbytes - 1, 7 * step))


#: What a run of characters of one length may be interrupted by: leads of each length,
#: of characters too long or too great, and others.
INTERRUPTIONS = bytes(
    [0x00, 0x7F, 0x80, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC3, 0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF]
)


@pytest.mark.parametrize("run", ["é" * 24, "ё" * 24, "’" * 24, "😀" * 24, "’" * 12 + "😀" * 12], ids=ascii)
def test_runs_of_one_length_end_at_any_byte(run):
    for before in ("", "a", "aé"):
        payload = (before + run).encode()
        check(payload[:at] + bytes([byte]) + payload[at + 1 :] for at in range(len(payload)) for byte in INTERRUPTIONS)


@pytest.mark.parametrize("every", [1, 2, 5, 50, 400])
def test_long_text_that_starts_as_latin(every):
    rng = random.Random(every)
    texts = []
    for nchars in (*range(500, 530), 700, 1100, 5000):
        text = ["é" if rng.randrange(every) == 0 else "a" for _ in range(nchars)]
        text[rng.randrange(100)] = "ü"
        texts.append("".join(text))
        for other in ("Ā", "߿", "’", "😀"):  # the first of those that Latin-1 lacks, and others
            at = rng.randrange(nchars)
            texts += ["".join([*text[:at], other, *text[at + 1 :]]), "".join([*text, other])]
    payloads = [text.encode() for text in texts]
    damaged = []
    for payload in payloads:
        for byte in INTERRUPTIONS:
            at = rng.randrange(len(payload))
            damaged.append(payload[:at] + bytes([byte]) + payload[at + 1 :])
    check([*payloads, *damaged, *(payload[:-1] for payload in payloads)])


@pytest.mark.parametrize("every", [2, 9, 100])
def test_latin_text_is_like_any_other(every):
    # It may have been made with a capacity of more characters.
    expected = "".join("é" if i % every == 0 else "a" for i in range(2000))
    text = tb.loads(string(expected.encode()))
    assert text == expected
    assert hash(text) == hash(expected)
    assert len(text) == len(text.encode("latin-1")) == 2000
    assert text.upper() == expected.upper()
    text += "z"
    assert text == expected + "z"
    text *= 3
    assert text == (expected + "z") * 3
    assert tb.loads(tb.dumps(text)) == text


@pytest.mark.parametrize(
    "text",
    ["ё" * 8, "ёж" * 20, "aё" * 20, "ёжик " * 9, "\x80" * 33, "߿" * 33, "ࠀ" * 33, "é" * 17 + "a" * 17],
    ids=ascii,
)
def test_runs_of_two_bytes_are_encoded(text):
    for start in range(len(text)):
        for stop in range(start, len(text) + 1):
            assert tb.dumps(text[start:stop]) == string(text[start:stop].encode())


@pytest.mark.parametrize("run", ["ё" * 9, "é" * 8 + "ё", "é" * 16 + "Ā" * 2, "’" * 9, "😀" * 9], ids=ascii)
def test_a_run_that_latin_lacks_after_text_that_starts_as_latin(run):
    """Nearly ASCII at first, so that the text is decoded without measuring it."""
    for before in (250, 263, 500, 700):
        check([("é" + "a" * before + run + "b" * after).encode() for after in (0, 1, 20, 300)])
