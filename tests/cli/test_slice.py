"""The command slice."""

import pytest

import typedbytes as tb
from support.commands import NUMBERS, ONE, PAIR_STREAM, TWO, bad, good, rows, run, values

FROM_THE_END = ["-3:", ":-3", "-9:-2:3", "15:-2", "3:-1:5", "-4:18", "-1:5", "-30:2", "5:-30", "-3:-3", "-0:2", "-9::4"]


@pytest.mark.parametrize("text", [":", "3:", ":5", "2:9:3", "::4", "20:", "5:5", "1::7", *FROM_THE_END])
def test_slice_is_pythons(text, file):
    parts = [int(part) if part else None for part in text.split(":")]
    assert values(good("slice", "-r", text, stdin=NUMBERS)) == list(range(20))[slice(*parts)]
    split = file(NUMBERS[:35]), file(NUMBERS[35:], "b.tb")
    assert values(good("slice", "-r", text, *split)) == list(range(20))[slice(*parts)]


@pytest.mark.parametrize("text", ["5", "-1", "--1:", "1:2:0", "1:2:-1", "1:2:3:4", "a:b", "-a:"])
def test_ranges_that_are_refused(text):
    assert "argument -r" in bad(64, "slice", "-r", text)[1]


MANY = "9" * 5000  # more digits than int() takes of a text


def test_numbers_without_end():
    assert values(good("slice", "-r", f"18:{MANY}", stdin=NUMBERS)) == [18, 19]
    assert values(good("slice", "-r", f"3::{MANY}", stdin=NUMBERS)) == [3]
    assert good("slice", "-r", f"{MANY}:", stdin=NUMBERS) == b""
    assert good("head", "-n", MANY, stdin=NUMBERS) == NUMBERS
    assert good("head", "-n", "0" * 5000 + "3", stdin=NUMBERS) == NUMBERS[:15]
    assert good("sort", "--memory", "1e300", stdin=NUMBERS) == NUMBERS
    assert "expected a size" in bad(64, "sort", "--memory", "1e999", stdin=NUMBERS)[1]
    assert "expected at least 64K, not '1'" in bad(64, "sort", "--memory", "1", stdin=NUMBERS)[1]


def test_slice_from_the_end_of_many_inputs(file):
    seq = file(b"", "a.seq")
    assert run("loadtb", "--overwrite", seq, stdin=PAIR_STREAM[: tb.index(PAIR_STREAM)[20]]).returncode == 0
    written = good("slice", "--pairs", "--to", "json", "--range", "-3:-1", seq, file(ONE + TWO, "b.tb"))
    assert rows(written) == [["key 1", 8], ["key 2", 9]]
    assert bad(65, "slice", "-r", "-1:", stdin=ONE + b"\x0e")[0] == b""


def test_slice_does_not_look_further():
    assert values(good("slice", "-r", "1:2", stdin=ONE + TWO + b"\x0e")) == [2]
