"""docs/command-tour.md shows what the commands do: they are run again."""

import pathlib
import sys

import pytest

pytestmark = pytest.mark.once

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import command_tour  # noqa: E402


def test_the_tour_shows_what_comes_out(tmp_path):
    command_tour.make_files(tmp_path)
    page = command_tour.PAGE.read_text()
    text = command_tour.PAGE_HEAD + "\n".join(command_tour.tour(tmp_path, command_tour.SECTIONS))
    assert text.rstrip("\n") + "\n" == page
