"""The command schema."""

import pytest

import typedbytes as tb
from support.commands import ONE, PAIR_STREAM, good, rows


def test_schema():
    stream = tb.Encoder().encode_all([{"name": "x", "n": 1}, {"name": None, 5: [1, "a"]}, (1, (2.5, True))])
    found = [(row["place"], row["type"], row["count"]) for row in rows(good("schema", stdin=stream))]
    assert found == [
        ("value", "MAP", 2),
        ("value", "VECTOR", 1),
        ("value['name']", "STRING", 1),
        ("value['name']", "PICKLE", 1),
        ("value['n']", "INT", 1),
        ("value.key()", "INT", 1),
        ("value[*]", "LIST", 1),
        ("value[*][]", "INT", 1),
        ("value[*][]", "STRING", 1),
        ("value[0]", "INT", 1),
        ("value[1]", "VECTOR", 1),
        ("value[1][0]", "DOUBLE", 1),
        ("value[1][1]", "BOOL", 1),
    ]
    pairs = rows(good("schema", "--pairs", stdin=PAIR_STREAM))
    assert pairs == [
        {"place": "key", "type": "STRING", "count": 100, "share": 1.0},
        {"place": "value", "type": "INT", "count": 100, "share": 1.0},
    ]


def test_schema_of_many_names_is_bounded():
    stream = tb.dumps({f"{i}": i for i in range(1000)}) + tb.dumps(tuple(range(1000)))
    found = rows(good("schema", stdin=stream))
    assert len(found) < 140 and sum(row["count"] for row in found) == 2002


@pytest.mark.parametrize("key", [b"\xe9", b"caf\xe9'", b"\\xe9", "caf\u00e9".encode(), b'"\n\xff'])
def test_paths_are_those_that_cut_takes(key):
    """Also of keys that are not UTF-8, each with a path of its own."""
    record = b"\x0a\0\0\0\1\x07" + len(key).to_bytes(4, "big") + key + ONE
    path = rows(good("schema", stdin=record))[1]["place"]
    assert path == f"value[{key.decode('utf-8', 'surrogateescape')!r}]"
    assert good("cut", "-f", path, "--values", stdin=record) == ONE
    assert good("sort", "--by", path, "--values", stdin=record) == record
