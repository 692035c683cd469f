"""The command aggregate."""

import pytest

import typedbytes as tb
from support.commands import NUMBERS, ONE, PAIR_STREAM, PAIRS, TEXT, TWO, bad, good, rows, sequence_file


def test_aggregate(file):
    found = rows(
        good(
            "aggregate",
            "--pairs",
            file(PAIR_STREAM),
            file(tb.Encoder().encode_pairs([("key 0", 0.5), ("new", -3)]), "b.tb"),
        )
    )
    by_key = {row.pop("key"): row for row in found}
    for i in range(7):
        numbers = [n for _, n in PAIRS if n % 7 == i] + [0.5] * (i == 0)
        expected = {
            "count": len(numbers),
            "sum": sum(numbers),
            "min": min(numbers),
            "max": max(numbers),
            "mean": sum(numbers) / len(numbers),
        }
        assert by_key[f"key {i}"] == expected
    assert list(by_key) == [*(f"key {i}" for i in range(7)), "new"]
    assert by_key["new"] == {"count": 1, "sum": -3, "min": -3, "max": -3, "mean": -3.0}
    assert rows(good("aggregate", "--values", stdin=NUMBERS)) == [
        {"count": 20, "sum": 190, "min": 0, "max": 19, "mean": 9.5}
    ]
    assert good("aggregate", stdin=b"") == b""


def test_aggregate_of_special_numbers():
    numbers = tb.Encoder().encode_all([2**63 - 1, 2**63 - 1])
    assert rows(good("aggregate", "--values", stdin=numbers))[0]["sum"] == 2**64 - 2
    nan = tb.Encoder().encode_all([float("nan"), 2, 1.5])
    assert rows(good("aggregate", "--values", stdin=nan)) == [
        {"count": 3, "sum": "nan", "min": 1.5, "max": 2, "mean": "nan"}
    ]
    assert rows(good("aggregate", "--values", stdin=tb.dumps(float("nan")))) == [
        {"count": 1, "sum": "nan", "mean": "nan"}
    ]


def test_aggregate_leaves_nulls_out():
    pairs = tb.Encoder().encode_pairs([("a", None), ("b", 2), ("a", 1.5), ("c", None), ("b", None)])
    with_nothing = {"key": "c", "count": 0, "sum": 0}
    assert rows(good("aggregate", "--pairs", stdin=pairs)) == [
        {"key": "a", "count": 1, "sum": 1.5, "min": 1.5, "max": 1.5, "mean": 1.5},
        {"key": "b", "count": 1, "sum": 2, "min": 2, "max": 2, "mean": 2.0},
        with_nothing,
    ]
    hive = tb.Encoder(dialect="hive").encode_all([None, 1])
    assert rows(good("aggregate", "--dialect", "hive", "--values", stdin=hive)) == [
        {"count": 1, "sum": 1, "min": 1, "max": 1, "mean": 1.0}
    ]


@pytest.mark.parametrize(
    "wrong, message",
    [
        (TEXT, "cannot add this value up: expected a number, not an object of type str at offset 10, record 1"),
        (b"\x02\x01", "cannot add this value up: expected a number, not an object of type bool at offset 10, record 1"),
        (b"\x07\x00\x00\x00\x01\xff", "STRING is not UTF-8: invalid start byte at its byte 0 at offset 15, record 1"),
    ],
)
def test_what_does_not_add_up(wrong, message):
    assert bad(65, "aggregate", "--pairs", stdin=ONE + TWO + TWO + wrong) == (b"", f"standard input: {message}")


def test_a_sum_that_no_float_holds():
    data = tb.Encoder().encode_all([1.5, 1 << 2000])
    assert "cannot add this value up: int too large" in bad(65, "aggregate", "--values", stdin=data)[1]


def test_aggregate_of_pairs_and_values_together(file):
    assert (
        "some inputs hold pairs and some values" in bad(64, "aggregate", file(ONE), file(sequence_file(), "a.seq"))[1]
    )


def test_shorts_of_hive():
    shorts = good("from-json", "--dialect", "hive", stdin=b'{"short": 5}\n{"short": -7}\n300\nnull\n{"short": 5}\n')
    (row,) = rows(good("aggregate", "--dialect", "hive", "--values", stdin=shorts))
    assert row == {"count": 4, "sum": 303, "min": -7, "max": 300, "mean": 75.75}
    in_order = good("sort", "--by", "value", "--dialect", "hive", "--values", stdin=shorts)
    assert in_order == b"\x0c" + shorts[3:6] + shorts[:3] * 2 + shorts[6:11]
