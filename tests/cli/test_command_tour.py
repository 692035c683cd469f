"""docs/command-tour.md and docs/cookbook.md show what the commands do: they are run again."""

import pathlib
import sys

import pytest

pytestmark = pytest.mark.once

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import command_tour  # noqa: E402


@pytest.mark.parametrize("name", command_tour.PAGES)
def test_a_page_shows_what_comes_out(name, tmp_path):
    command_tour.make_files(tmp_path)
    assert command_tour.page(*command_tour.PAGES[name], tmp_path) == (ROOT / "docs" / name).read_text()
