"""A few runs of chaos.py, jobs to which something happens at a random moment, here and in Hadoop; and its judge.

``make -C tests/soak chaos`` does 1,000 of them, and 100 in Hadoop.
"""

import os
import random
import signal
import subprocess

import pytest

from soak import chaos
from support import failing_jobs
from typedbytes import dumps
from typedbytes.jobs.tasks.fork_server import TELLING_WORDS


@pytest.mark.parametrize("seed", range(4))
def test_a_job_fails_cleanly_or_is_right(seed):
    run = chaos.run_once(seed, "local")
    assert run.outcome in (chaos.RIGHT, chaos.AS_IT_SHOULD), run.story


@pytest.mark.hadoop
@pytest.mark.parametrize("seed", range(2))
def test_a_job_of_hadoop_fails_or_is_right(seed):
    run = chaos.run_once(seed, "hadoop")
    assert run.outcome in (chaos.RIGHT, chaos.AS_IT_SHOULD), run.story


def test_a_wrong_end_is_found(tmp_path, monkeypatch):
    # the judge itself: what it must not let pass
    def judge(engine, code, counts, has_reason=True, is_limited=False):
        return chaos._judge(tmp_path, engine, code, counts, has_reason, is_limited)

    def wrong(outcome, *arguments):
        with pytest.raises(chaos.WrongError) as raised:
            judge(*arguments)
        assert raised.value.outcome == outcome

    monkeypatch.setattr(chaos, "pairs_of", lambda folder: [("a", 1)])
    assert judge("local", 1, {"a": 1}) == judge("local", 74, {"a": 1}, is_limited=True) == "failed"
    wrong("odd exit code", "local", 74, {"a": 1})
    wrong("wrong", "hadoop", 0, {"a": 1})
    wrong("failed for nothing", "hadoop", 1, {"a": 1}, False)
    (tmp_path / "out").mkdir()
    assert judge("hadoop", 1, {"a": 1}) == "failed"
    wrong("left files", "local", 1, {"a": 1})
    wrong("left files", "local", -9, {"a": 1})
    wrong("wrong", "hadoop", 0, {"a": 1})
    (tmp_path / "out" / "_SUCCESS").touch()
    for code in (129, 130, 143, -signal.SIGKILL):
        assert judge("local", code, {"a": 1}) == "right"
        wrong("left files", "local", code, {"a": 2})
    for engine in chaos.ENGINES:
        assert judge(engine, 0, {"a": 1}) == "right"
        for counts in ({"a": 2}, {"a": 1, "b": 1}):
            wrong("wrong", engine, 0, counts)
    wrong("left files", "local", 1, {"a": 1})
    wrong("odd exit code", "local", 64, {"a": 1})
    monkeypatch.setattr(chaos, "pairs_of", lambda folder: [("a", 1), ("a", 1)])
    wrong("wrong", "local", 0, {"a": 1})


@pytest.mark.parametrize("how", ["environment", "command"])
def test_a_process_that_is_left_is_found(tmp_path, monkeypatch, how):
    monkeypatch.setattr(chaos, "END_SECONDS", 0)
    words = ["sh", "-c", "echo begun; read line", *([str(tmp_path)] if how == "command" else [])]
    variables = {**os.environ, "CHAOS": str(tmp_path)} if how == "environment" else None
    with subprocess.Popen(words, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as left:
        assert left.stdout.readline() == b"begun\n"
        with pytest.raises(chaos.WrongError) as raised:
            chaos._judge(tmp_path, "local", 1, {}, True)
        left.stdin.close()
    assert raised.value.outcome == "left processes"
    assert chaos._judge(tmp_path, "local", 1, {}, True) == "failed"


@pytest.mark.parametrize(
    ("value", "count", "is_right"),
    [
        *((3, 3, True), (2, 3, False), ([3, 0], 3, True), ([2, 0], 3, False), ([4, 1], 3, False)),
        *(
            ([2, 1], 3, True),
            ([1, 1], 3, False),
            ([1, 2], 3, True),
            ([0, 1, "given up"], 3, True),
            ([4, 1, "given up"], 3, False),
        ),
    ],
)
def test_what_an_alarm_may_cost(value, count, is_right):
    assert chaos._agrees([("a", value)], {"a": count}) == is_right


def test_every_fault_is_drawn():
    drawn = {(chaos.drawn(seed, "local")) for seed in range(2000)}
    assert {what for what, _ in drawn} == {*chaos.HARMLESS, *chaos.ALARMS, *chaos.DEADLY}
    assert {disaster for _, disaster in drawn} == set(chaos.DISASTERS)


@pytest.mark.parametrize("what", [*chaos.HARMLESS, *chaos.ALARMS, *chaos.DEADLY])
def test_tasks_of_each_job_can_be_forked(what):
    for job in (chaos.PLAIN, *failing_jobs.JOBS):
        script = chaos._script(random.Random(1), what, job, long="600").encode()
        assert not [word for word in TELLING_WORDS if word in script]


def test_every_job_is_drawn():
    assert {chaos.drawn_job(seed, "nothing") for seed in range(100)} == {chaos.PLAIN, *failing_jobs.JOBS}
    assert {chaos.drawn_job(seed, what) for seed in range(100) for what in chaos.ALARMS} == {chaos.PLAIN}


def test_records_that_are_left_out_must_be_those_that_fail(tmp_path):
    texts = [f"{number} word{number}" for number in range(300)]
    bad = next(text for text in texts if failing_jobs.failing_step(text) is not None)
    good = [text for text in texts if not any(map(failing_jobs.failing_step, (text, *text.split())))][:2]
    assert failing_jobs.failing_step("word1") is None

    def expected(*left_out, lines=(*good, bad), may_fail_elsewhere=False):
        pairs = b"".join(dumps(item) for line in left_out for item in (0, line))
        (tmp_path / "bad-records-m-00000").write_bytes(pairs)
        return failing_jobs.expected_counts(tmp_path, lines, "combining", may_fail_elsewhere)

    counts = dict.fromkeys([word for line in good for word in line.split()], 1)
    assert expected(bad) == expected(bad, may_fail_elsewhere=True) == counts
    assert expected() is expected(bad, bad) is expected(bad, good[0]) is expected(may_fail_elsewhere=True) is None
    assert expected(bad, good[0], may_fail_elsewhere=True) == dict.fromkeys(good[1].split(), 1)
    assert not chaos._agrees([], None)
