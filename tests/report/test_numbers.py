"""Doubles as text: what Python's repr writes."""

import pytest
from hypothesis import given, strategies as st

import typedbytes as tb
from typedbytes import _report

REALS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.one_of(st.floats(1e-5, 1e16), REALS))
def test_numbers_are_written_as_repr_does(number):
    for each in (number, -number):
        assert _report.lines(tb.dumps(each)).decode().rstrip() == repr(each)


@pytest.mark.parametrize("exponent", range(-16, 54))
def test_powers_of_two_and_their_neighbours_are_written_as_repr_does(exponent):
    power = 2.0**exponent
    for number in (power, power * (1 + 2**-52), power * (1 - 2**-53), power / 3, power * 1.5):
        assert _report.lines(tb.dumps(number)).decode().rstrip() == repr(number)
