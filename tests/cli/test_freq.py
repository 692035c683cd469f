"""The command freq."""

from support.commands import ONE, PAIR_STREAM, TWO, good, rows


def test_freq():
    found = rows(good("freq", "--pairs", "-n", "0", stdin=PAIR_STREAM))
    assert [(row["key"], row["count"]) for row in found] == [(f"key {i}", 15 if i < 2 else 14) for i in range(7)]
    assert rows(good("freq", stdin=ONE + TWO + ONE))[0] == {"count": 2, "share": 2 / 3, "value": 1}
