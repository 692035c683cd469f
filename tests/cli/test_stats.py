"""The command stats."""

import json

import pytest

import typedbytes as tb
from support.commands import PAIR_STREAM, PAIRS, STREAM, bad, good, rows, sequence_file


def test_stats():
    found = rows(good("stats", "--pairs", "-n", "2", "--reducers", "3", stdin=PAIR_STREAM))
    by_section = {}
    for row in found:
        by_section.setdefault(row.pop("section"), []).append(row)
    assert by_section["records"] == [{"records": 100, "unit": "pairs", "bytes": len(PAIR_STREAM)}]
    assert by_section["types"] == [
        {"of": "key", "type": "STRING", "count": 100, "bytes": 1000, "least": 5, "most": 5, "mean": 5.0},
        {"of": "value", "type": "INT", "count": 100, "bytes": 500, "least": 0, "most": 99, "mean": 49.5},
    ]
    assert [(row["count"], row["key"]) for row in by_section["most frequent"]] == [(15, "key 0"), (15, "key 1")]
    expected = [0, 0, 0]
    for key, _ in PAIRS:
        expected[tb.partition(tb.dumps(key), 3)] += 1
    assert [row["records"] for row in by_section["reducers"]] == expected
    assert [row["skew"] for row in by_section["reducers"]] == [n / (100 / 3) for n in expected]


def test_stats_of_no_numbers():
    found = good("stats", stdin=tb.Encoder().encode_all([float("inf"), float("-inf"), 1.5])).decode()
    strict = [json.loads(line, parse_constant=pytest.fail) for line in found.splitlines()]
    assert (strict[1]["least"], strict[1]["most"], strict[1]["mean"]) == ("-inf", "inf", "nan")


def test_stats_of_every_type():
    stream = [
        tb.Byte(-3),
        True,
        5,
        2**40,
        tb.Float(1.5),
        2.5,
        float("nan"),
        "abc",
        b"ab",
        (1, 2),
        [1],
        {1: 2},
        tb.Ext(60, b"xyz"),
    ]
    data = tb.Encoder().encode_all(stream)
    found = {row["type"]: row for row in rows(good("stats", stdin=data)) if row["section"] == "types"}
    columns = "count", "least", "most", "mean"
    assert {name: tuple(map(row.get, columns)) for name, row in found.items()} == {
        "BYTES": (1, 2, 2, 2), "BYTE": (1, -3, -3, -3), "BOOL": (1, 1, 1, 1), "INT": (1, 5, 5, 5),
        "LONG": (1, 2**40, 2**40, 2**40), "FLOAT": (1, 1.5, 1.5, 1.5), "DOUBLE": (2, 2.5, 2.5, 2.5),
        "STRING": (1, 3, 3, 3), "VECTOR": (1, 2, 2, 2), "LIST": (1, 7, 7, 7), "MAP": (1, 1, 1, 1),
        "code 60": (1, 3, 3, 3),
    }  # fmt: skip
    assert sum(row["bytes"] for row in found.values()) == len(data)


def test_statistics_of_hives_codes():
    stream = b"\x0b\xff\xfe\x0c\xb1\x08\x00\x00\x00\x03\x0b\x00\x05\x0c\xb1"
    types = [row for row in rows(good("stats", "--dialect", "hive", stdin=stream)) if row["section"] == "types"]
    assert [(row["type"], row["count"], row["bytes"], row["least"]) for row in types] == [
        ("VECTOR", 1, 10, 3), ("SHORT", 1, 3, -2), ("NULL", 1, 1, 1), ("ENDOFRECORD", 1, 1, 1),
    ]  # fmt: skip
    found = [(row["place"], row["type"]) for row in rows(good("schema", "--dialect", "hive", stdin=stream))]
    assert found[4:] == [("value[0]", "SHORT"), ("value[1]", "NULL"), ("value[2]", "ENDOFRECORD")]
    assert good("to-json", "--plain", "--dialect", "hive", stdin=stream) == b"-2\nnull\nnull\n[5, null, null]\n"


def test_statistics_of_values_and_pairs_together(file):
    both = file(STREAM), file(sequence_file(), "a.seq")
    assert "some inputs hold pairs and some values" in bad(64, "stats", *both)[1]
    assert rows(good("stats", "--pairs", *both))[0]["records"] == 102


@pytest.mark.parametrize(
    "numbers",
    [
        [2**62, tb.Long(1), tb.Long(2), -(2**62)],
        [2**63 - 1] * 5 + [-(2**63)] * 5,
        [-(2**63)] * 3,
        [2**63 - 1] * 3,
        [2**53, tb.Long(1), tb.Long(1), tb.Long(1)],
        [-(2**40), tb.Long(-1), tb.Long(1)],
    ],
)
def test_the_mean_of_integers_is_that_of_their_exact_sum(numbers):
    data = tb.Encoder().encode_all(numbers)
    (row,) = [row for row in rows(good("stats", stdin=data)) if row["section"] == "types"]
    (added,) = rows(good("aggregate", "--values", stdin=data))
    assert row["mean"] == added["mean"] == sum(numbers) / len(numbers)
