"""The types of columns of text: those that a slow finder in Python gives them."""

import pytest
from hypothesis import given, settings, strategies as st

import typedbytes as tb
from support import column_types
from typedbytes import _report

DIGITS = st.text("0123456789", max_size=20)
SIGNS = st.sampled_from(["", "-"])
DECIMALS = st.builds("{}{}.{}{}".format, SIGNS, st.integers(0, 10**12), DIGITS, st.sampled_from("059"))
NEAR_ONE = st.builds("0.{}{}".format, st.sampled_from(["", "000000", "9" * 15, "0" * 40]), DIGITS)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr), st.floats(0, 1).map(repr),
    st.floats(allow_nan=False, allow_infinity=False).map("{:.17e}".format), st.floats(1e-9, 1e9).map("{:.15f}".format),
    st.integers(-(2**66), 2**66).map(str), DECIMALS, NEAR_ONE,
)  # fmt: skip
CELLS = st.one_of(NUMBERS, st.sampled_from(["", "-0", "007", "1.", ".5", "1e5", "1e400", "1e-400", "0e0", "nan", "+1"]))


def types_of(rows):
    """Return the rows by the compiled finder, and by the slow one, as encoded records."""
    encoded = tb.Encoder().encode_all(rows)
    types, slow = _report.ColumnTypes(), column_types.ColumnTypes()
    added = types.add(encoded)
    for row in rows:
        slow.add(row)
    found, unknown = types.convert(encoded)
    assert unknown == -1 and added == found
    return found, tb.Encoder().encode_all([slow.convert(row) for row in rows])


@settings(max_examples=400)
@given(st.lists(CELLS, min_size=1, max_size=3))
def test_a_column_has_the_type_of_the_slow_finder(cells):
    found, expected = types_of(cells)
    assert found == expected


@settings(max_examples=2000)
@given(NUMBERS)
def test_a_double_is_given_where_it_keeps_the_digits(cell):
    found, expected = types_of([cell])
    assert found == expected


@pytest.mark.parametrize("unit", [1, 10**-6, 10**-12, 123.456, 1e15])
def test_digits_of_neighbours_of_a_double(unit):
    """16 and 17 digits, of which only one in several is that of a DOUBLE."""
    for digits in (15, 16, 17, 18):
        base = int(f"{unit:.17e}".replace(".", "")[:digits])
        for step in range(-40, 40):
            for places in (digits - 1, digits, digits + 5):
                text = str(base + step).rjust(places + 1, "0")
                found, expected = types_of([f"{text[:-places]}.{text[-places:]}"])
                assert found == expected, text


@pytest.mark.parametrize(
    ("cells", "nchanges"),
    [
        (["", "1", "-2", ""], 1),
        (["1", "2147483648", "3"], 2),
        (["1", ".5", "1.5"], 2),
        (["a", "1"], 0),
        (["0", "-0", "0.5", "9007199254740993"], 4),
    ],
)
def test_what_was_added_has_the_types_of_now_until_they_change(cells, nchanges):
    types = _report.ColumnTypes()
    pieces = [(types.add(tb.dumps(cell)), types.nchanges) for cell in cells]
    expected = types.convert(b"".join(map(tb.dumps, cells)))[0]
    assert types.nchanges == nchanges
    assert expected.endswith(b"".join(piece for piece, number in pieces if number == nchanges))


def test_a_record_that_was_not_added_is_reported():
    types = _report.ColumnTypes()
    types.add(tb.Encoder().encode_all([("1", "2")]))
    five, two = (tb.Encoder().encode_all([row]) for row in (("5", "6"), (5, 6)))
    for other in (("1", "2", "3"), ("x", "2"), ("1", "99999999999"), ("1.5", "2")):
        assert types.convert(five + tb.dumps(other)) == (two, 1)
