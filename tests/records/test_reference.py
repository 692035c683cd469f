"""Decoding and encoding by type against the slow reference: same values, same bytes, same errors at the same places.

The types and values are those of `record_types`; `python tests/fuzz/run.py --targets records`
runs as long as one likes.
"""

import random
from decimal import Decimal
from typing import Optional

import pytest
from hypothesis import given, strategies as st

import typedbytes as tb
from fuzz import inputs, records as checks
from support import strategies, typed_reference
from support.record_types import TYPES, made, spelled
from support.strategies import examples

hints = st.sampled_from(list(TYPES.values()))
randoms = st.randoms(use_true_random=False)


@examples(500)
@given(hints, randoms)
def test_values_are_written_as_the_reference_does_and_read_back(hint, rng):
    value = made(rng, hint)
    for options in ({}, {"omit_none": True}, {"dialect": "hive"}, {"sort_keys": True}):
        encoded = checks.outcome_of_dumps(tb.dumps, value, type=hint, **options)
        expected = checks.outcome_of_dumps(typed_reference.dumps, value, hint, **options)
        dialect = options.get("dialect", "hadoop")
        assert checks.typed_bytes_of(encoded, dialect) == checks.typed_bytes_of(expected, dialect)
        if type(encoded) is bytes:
            expected = spelled(value, "sort_keys" in options)
            for decoded in (
                tb.loads(encoded, type=hint, dialect=dialect),
                tb.Decoder(type=hint, dialect=dialect).decode(encoded),
            ):
                assert spelled(decoded, "sort_keys" in options) == expected


@examples(500)
@given(hints, strategies.inputs, st.sampled_from(checks.OPTIONS))
def test_any_bytes(hint, data, options):
    choice = list(TYPES.values()).index(hint)
    checks.check_typed(bytes((choice, checks.OPTIONS.index(options))) + data)


@pytest.mark.parametrize("name", TYPES)
def test_values_nearly_of_the_type(name):
    maker = inputs.Maker(1)
    choice = list(TYPES).index(name)
    for _ in range(200):
        data = checks.shape(maker)
        checks.check_typed(bytes([choice]) + data[1:])


@pytest.mark.parametrize("text", ["null", "NULL", "nulL", "nul", "nulls"])
@pytest.mark.parametrize("hint", [Optional[int], Optional[Decimal], list[Optional[float]], Optional[str], type(None)])
def test_the_text_null_is_none_where_no_text_is_wanted(hint, text):
    data = tb.dumps([text] if hint == list[Optional[float]] else text)
    for strict in (True, False):
        for end in range(1, len(data) + 1):
            found = checks.outcome(tb.Decoder(type=hint, strict=strict).decode_from, data[:end], 0)
            assert found == checks.outcome(checks.slowly, data[:end], hint, {"strict": strict})


@pytest.mark.parametrize("name", TYPES)
def test_every_bit_flipped_and_every_length(name):
    hint = TYPES[name]
    choice = bytes([list(TYPES).index(name), 0])
    encoded = typed_reference.dumps(made(random.Random(3), hint), hint)[:200]
    for n in range(len(encoded)):
        checks.check_typed(choice + encoded[:n])
    for bit in range(8 * len(encoded)):
        data = bytearray(encoded)
        data[bit // 8] ^= 1 << bit % 8
        checks.check_typed(choice + bytes(data))


@pytest.mark.parametrize("name", ["pets", "shapes"])
def test_every_type_code_where_the_tag_of_a_record_is(name):
    """Of a container of any form, alone and as the second item, its payload there or cut short."""
    heads = [bytes([code]) + b"\0\0\0\1" for code in (tb.VECTOR, tb.MAP)] + [bytes([tb.LIST])]
    for options in ({}, {"strict": False}, {"dialect": "hive"}, {"pickle": "raw"}):
        choice = bytes([list(TYPES).index(name), checks.OPTIONS.index(options)])
        for head in heads:
            for code in range(256):
                for key in (b"", tb.dumps("type")):
                    for payload in (b"", b"\0\0\0\1", b"\0\0\0\1p" + bytes(12)):
                        tagged = head + key + bytes([code]) + payload
                        checks.check_typed(choice + b"\x08\0\0\0\1" + tagged)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("text", ["", "00", "00000003", "00000100", "ffffffff", "000000046e756c", "000000044e554c4c"])
def test_text_that_may_be_none(name, text):
    """The text "NULL", cut short too, and lengths that are not its own."""
    choice = bytes([list(TYPES).index(name), checks.OPTIONS.index({"strict": False})])
    for head in (b"", b"\x08\0\0\0\1", b"\x09"):
        checks.check_typed(choice + head + bytes([tb.STRING]) + bytes.fromhex(text))


@examples(300)
@given(hints, hints, randoms)
def test_values_of_another_type_are_refused_as_the_reference_does(hint, other, rng):
    value = made(rng, other)
    encoded = checks.outcome_of_dumps(tb.dumps, value, type=hint)
    expected = checks.outcome_of_dumps(typed_reference.dumps, value, hint)
    assert checks.typed_bytes_of(encoded) == checks.typed_bytes_of(expected)


@examples(300)
@given(strategies.inputs)
def test_any_is_what_is_read_without_a_type(data):
    found = checks.outcome(lambda: tb.Decoder(type=object).decode_from(data))
    assert found == checks.outcome(lambda: tb.Decoder().decode_from(data))
