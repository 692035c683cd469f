"""The command tail."""

import pytest

import typedbytes as tb
from support.commands import NUMBERS, good, values


@pytest.mark.parametrize("n", [1, 7000, 99_999, 100_000, 200_000])
def test_tail_of_many(n, file):
    pairs = [(i, "x" * (i % 5)) for i in range(100_000)]
    data = tb.Encoder().encode_pairs(pairs)
    assert tb.Decoder().decode_pairs(good("tail", "--pairs", "-n", str(n), stdin=data)) == pairs[-n:]


@pytest.mark.parametrize("n", [0, 1, 3, 20, 50])
def test_tail(n, file):
    assert values(good("tail", "-n", str(n), stdin=NUMBERS)) == list(range(20))[max(0, 20 - n) :]
    assert (
        values(good("tail", "-n", str(n), file(NUMBERS[:35]), file(NUMBERS[35:], "b.tb")))
        == list(range(20))[max(0, 20 - n) :]
    )
