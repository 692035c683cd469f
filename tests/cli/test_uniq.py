"""The command uniq."""

import typedbytes as tb
from support.commands import ONE, TWO, bad, good


def test_uniq(file):
    assert good("uniq", stdin=ONE + ONE + TWO + ONE) == ONE + TWO + ONE
    assert good("uniq", "--all", stdin=ONE + ONE + TWO + ONE) == ONE + TWO
    assert good("uniq", file(ONE), file(ONE + TWO, "b.tb")) == ONE + TWO
    pairs = tb.Encoder().encode_pairs([("a", 1), ("a", 2), ("b", 1), ("a", 3)])
    assert good("uniq", "--pairs", stdin=pairs) == pairs
    assert tb.Decoder().decode_pairs(good("uniq", "--pairs", "--by", "key", stdin=pairs)) == [
        ("a", 1),
        ("b", 1),
        ("a", 3),
    ]
    assert tb.Decoder().decode_pairs(good("uniq", "--pairs", "--by", "key", "--all", stdin=pairs)) == [
        ("a", 1),
        ("b", 1),
    ]
    assert "no key" in bad(64, "uniq", "--by", "key", stdin=ONE)[1]
