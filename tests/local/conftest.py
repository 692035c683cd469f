"""What tests of jobs on this machine share."""

import pytest

from support.local_jobs import WORD_COUNT, write_script, write_words


@pytest.fixture
def words(tmp_path):
    """A file of words, its script, and the count of each word."""
    counts = write_words(tmp_path / "in.txt", 3000)
    return tmp_path / "in.txt", write_script(tmp_path, WORD_COUNT), counts


@pytest.fixture
def job(tmp_path):
    """The script of a job, beside its input in.txt."""
    (tmp_path / "in.txt").write_text("b a b\n")
    return write_script(tmp_path, WORD_COUNT)
