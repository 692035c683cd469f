"""The command head, and -n of others."""

import pytest

from support.commands import LIST, NUMBERS, ONE, STREAM, TEXT, TWO, bad, good


@pytest.mark.parametrize("command", ["head", "tail", "sample"])
def test_a_number_of_records_as_in_head(command, file):
    for n in (0, 2, 12):
        seed = ["--values", "--seed", "1"] if command == "sample" else []
        assert (
            good(command, f"-{n}", *seed, file(NUMBERS)) == good(command, "-n", str(n), *seed, file(NUMBERS)) != b""
            or n == 0
        )
    assert "argument -n: expected an integer" in bad(64, command, "-2x", stdin=NUMBERS)[1]
    assert "argument -n: expected an integer" in bad(64, command, "-n", "-2", stdin=NUMBERS)[1]


def test_a_number_is_no_option_of_other_commands():
    assert "-2" in bad(66, "cat", "-2")[1]


def test_head_copies_ten():
    assert good("head", stdin=ONE * 11) == ONE * 10


@pytest.mark.parametrize("nvalues, copied", [(0, b""), (1, ONE), (3, ONE + TEXT + LIST), (4, STREAM), (10**30, STREAM)])
def test_head_copies_n(nvalues, copied):
    assert good("head", "-n", str(nvalues), stdin=STREAM) == copied


def test_head_counts_over_files(file):
    assert good("head", "-n", "2", file(ONE), file(TWO + TEXT, "b.tb")) == ONE + TWO


def test_head_does_not_look_further():
    assert good("head", "-n", "1", stdin=ONE + b"\x0e") == ONE
