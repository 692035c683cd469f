"""A few of the runs of chaos.py: jobs to which something happens at a random moment, here and in Hadoop's local mode. ``make chaos`` does 200."""

import pytest

import chaos


@pytest.mark.parametrize("seed", range(4))
def test_a_job_fails_cleanly_or_is_right(seed):
    assert chaos.run_once(seed, "local").split()[0] in ("right", "failed")


@pytest.mark.hadoop
@pytest.mark.parametrize("seed", range(2))
def test_a_job_of_hadoop_fails_or_is_right(seed):
    assert chaos.run_once(seed, "hadoop").split()[0] in ("right", "failed")


def test_a_wrong_end_is_found(tmp_path, monkeypatch):
    # the judge itself: what it must not let pass
    def judge(place, code, counts, has_reason=True):
        return chaos._judge(tmp_path, place, code, counts, has_reason, "")

    def wrong(*arguments):
        with pytest.raises(chaos.WrongError):
            judge(*arguments)

    monkeypatch.setattr(chaos, "pairs_of", lambda folder: [("a", 1)])
    assert judge("local", 1, {"a": 1}) == "failed"
    wrong("hadoop", 0, {"a": 1})
    wrong("hadoop", 1, {"a": 1}, False)
    (tmp_path / "out").mkdir()
    assert judge("hadoop", 1, {"a": 1}) == "failed"
    wrong("local", 1, {"a": 1})
    wrong("hadoop", 0, {"a": 1})
    (tmp_path / "out" / "_SUCCESS").touch()
    assert judge("local", 143, {"a": 1}) == "right"
    wrong("local", 143, {"a": 2})
    for place in chaos.PLACES:
        assert judge(place, 0, {"a": 1}) == "right"
        for code, counts in ((0, {"a": 2}), (0, {"a": 1, "b": 1}), (1, {"a": 1}), (70, {"a": 1})):
            wrong(place, code, counts)
    monkeypatch.setattr(chaos, "pairs_of", lambda folder: [("a", 1), ("a", 1)])
    wrong("local", 0, {"a": 1})
