"""The command cat."""

import pytest

from support.commands import LIST, STREAM, TEXT, TWO, good

pytestmark = pytest.mark.quick


def test_cat_copies_stdin():
    assert good("cat", stdin=STREAM) == STREAM


def test_cat_copies_files_and_stdin_in_order(file):
    assert good("cat", file(LIST), "-", file(TWO, "b.tb"), stdin=TEXT) == LIST + TEXT + TWO
