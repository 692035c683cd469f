"""A few of the runs of chaos.py: jobs to which something happens at a random moment. ``make chaos`` does 200."""

import pytest

import chaos


@pytest.mark.parametrize("seed", range(4))
def test_a_job_fails_cleanly_or_is_right(seed):
    assert chaos.run_once(seed).split()[0] in ("right", "failed")


def test_output_that_lacks_something_is_found(tmp_path, monkeypatch):
    # the judge itself: what it must not let pass
    (tmp_path / "out").mkdir()
    monkeypatch.setattr(chaos, "pairs_of", lambda folder: [("a", 1)])
    assert chaos._judge(tmp_path, 0, {"a": 1}, "") == "right"
    for code, counts in ((0, {"a": 2}), (0, {"a": 1, "b": 1}), (1, {"a": 1}), (70, {"a": 1})):
        with pytest.raises(chaos.WrongError):
            chaos._judge(tmp_path, code, counts, "")
