"""What the tests of the core share."""

import gc

import pytest


@pytest.fixture
def few_objects():
    """Leave the collector with what the test makes itself, so that it is quick."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
