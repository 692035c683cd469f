"""How the path of an error shows keys."""

import json
import tracemalloc

import pytest
from hypothesis import example, given, strategies as st

import typedbytes as tb

pytestmark = [pytest.mark.every_python, pytest.mark.quick]


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example('"\\\b\f\n\r\t\x00\x1f\x7f\x80\U0001f600~ ')
def test_text_keys_are_shown_as_json_in_ascii(key):
    try:
        tb.dumps({key: object()})
    except tb.EncodeTypeError as error:
        assert error.path == f"[{json.dumps(key)}]"
    else:
        raise AssertionError("an object was encoded")


def path_of(key):
    with pytest.raises(tb.EncodeTypeError) as caught:
        tb.dumps({key: object()})
    return caught.value.path


def test_long_keys_are_cut():
    assert path_of("x" * 1000) == f"[{json.dumps('x' * 1000)}]"
    assert path_of("x" * 999 + "\xe9y") == f"[{json.dumps('x' * 999 + chr(233))}...]"
    assert path_of(b"x" * 1000) == f"[{b'x' * 1000}]"
    assert path_of(b"x" * 1001) == f"[{b'x' * 1000}...]"
    for key in ((1, "x" * 900), tb.Ext(60, b"x" * 900), frozenset([2**70]), 2**1000):
        assert path_of(key) == f"[{key!r}]"
    long = [
        (1, ("x" * 1000,)),
        ("x" * 500,) * 2,
        (0,) * 500,
        tb.Ext(60, bytes(1001)),
        tb.Writable("x" * 1001, b""),
        frozenset(["x" * 1001]),
    ]
    for key in [*long, 1 << 9000]:
        assert path_of(key) == f"[<{type(key).__name__}>]"


@pytest.mark.parametrize(
    "key",
    ["\xe9" * 1_000_000, b"x" * 2_000_000, ("x" * 2_000_000, 1), (b"\xff", "x") * 200_000],
    ids=["str", "bytes", "text", "items"],
)
def test_a_key_of_the_input_costs_an_error_little(key):
    """Quoted whole, a long key would take 35 times its memory, and 2 s for each megabyte."""
    data = b"\x0a\0\0\0\1" + tb.dumps(key) + b"\x0b"
    tracemalloc.start()
    try:
        with pytest.raises(tb.FormatError):
            tb.loads(b"\x08\0\0\0\2" + data[5:])  # the same as a VECTOR, whose items are not shown
        least = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        with pytest.raises(tb.FormatError) as caught:
            tb.loads(data)
        assert len(caught.value.path) < 10_000
        assert tracemalloc.get_traced_memory()[1] < least + 200_000
    finally:
        tracemalloc.stop()
