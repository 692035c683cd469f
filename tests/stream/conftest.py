"""What the tests of streams share."""

import pytest


@pytest.fixture
def path(tmp_path):
    """Return the path of a file that does not exist yet."""
    return tmp_path / "input.tb"
