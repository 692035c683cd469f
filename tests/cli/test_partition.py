"""The command partition."""

import os

import pytest

import typedbytes as tb
from support.commands import ONE, bad, good

# Order
UNSORTED = [((i * 7919) % 5000 - 2500, "x" * (i % 50)) for i in range(60_000)]


@pytest.mark.parametrize("memory", [[], ["--memory", "1M"]], ids=["at once", "in turns"])
def test_partition(memory, file, tmp_path):
    data = tb.Encoder().encode_pairs(UNSORTED)
    folder = tmp_path / "parts"
    assert good("partition", "-n", "3", *memory, "--pairs", file(data), "-o", str(folder)) == b""
    expected = [[], [], []]
    for pair in UNSORTED:
        expected[tb.partition(tb.dumps(pair[0]), 3)].append(pair)
    assert sorted(os.listdir(folder)) == ["part-00000", "part-00001", "part-00002"]
    for number, pairs in enumerate(expected):
        assert (folder / f"part-{number:05}").read_bytes() == tb.Encoder().encode_pairs(pairs)
    assert (
        bad(74, "partition", "-n", "3", "--pairs", file(data), "-o", str(folder))[1] == f"{folder}: Directory not empty"
    )
    assert sorted(os.listdir(tmp_path)) == ["a.tb", "parts"]
    assert "number of partitions" in bad(64, "partition", "-n", "99999999", "-o", str(tmp_path / "b"), stdin=ONE)[1]
