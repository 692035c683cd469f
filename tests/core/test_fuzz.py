"""Fuzzing, short: every target on inputs that are the same each time, and proof that the engine sees what it must.

`python tests/fuzz/run.py` runs as long as one likes; what has been found once stays in
tests/fuzz/corpus.txt and runs here too.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from fuzz import engine, inputs, run, targets
from support.subprocess_runs import SECONDS

pytestmark = [pytest.mark.once, pytest.mark.untraced]

RUN = Path(__file__).resolve().parents[1] / "fuzz" / "run.py"
EXECUTIONS = 1000  # the same each time; `make fuzz` goes on where these end


@pytest.fixture
def fuzz(capfd):
    """Return a function that runs the command here, the target in a process, and returns exit code and output."""

    def fuzz(*arguments):
        code = run.main(list(map(str, arguments)))
        printed, errors = capfd.readouterr()
        assert not errors
        return code, printed

    return fuzz


@pytest.mark.parametrize("name", targets.TARGETS)
def test_target(name, tmp_path, fuzz):
    code, table = fuzz("--targets", name, "--executions", EXECUTIONS, "--seed", 1, "--findings", tmp_path)
    assert code == 0, table
    assert f"{EXECUTIONS:,} executions, 0 findings" in table


@pytest.mark.parametrize("name", targets.TARGETS)
def test_what_is_kept_is_run(name):
    kept = inputs.corpus(name)
    assert kept
    for data in kept:
        targets.TARGETS[name].check(data)


SEEN = {
    "planted-raise": "exception",
    "planted-die": "death",
    "planted-hang": "stuck",
    "planted-dawdle": "slow",
    "planted-switch_collector_off": "exception",
    "planted-look_beyond": "death",
}


def test_an_input_is_slow_that_takes_over_a_second():
    assert run.parser().parse_args([]).slow == 1


def test_an_input_that_is_slow_once_is_not_slow(tmp_path, fuzz):
    slow = targets.DAWDLED_SECONDS
    code, table = fuzz(
        "--targets", "planted-dawdle_once", "--executions", 1, "--seed", 1, "--slow", slow, "--findings", tmp_path
    )
    assert code == 0 and "1 executions, 0 findings" in table


@pytest.mark.parametrize("name", SEEN)
def test_the_engine_sees(name, tmp_path, fuzz):
    timeout = 0.5 if name == "planted-hang" else 60
    slow = targets.DAWDLED_SECONDS if name == "planted-dawdle" else engine.SLOW_SECONDS
    code, table = fuzz(
        "--targets", name, "--executions", 1, "--seed", 1, "--timeout", timeout, "--slow", slow, "--findings", tmp_path
    )
    assert code == 1
    assert "1 executions, 1 findings" in table
    assert (tmp_path / f"{name}-{SEEN[name]}-0").exists(), table


def test_a_finding_can_be_run_again(tmp_path):
    (tmp_path / "input").write_bytes(b"\0")
    done = subprocess.run(
        [sys.executable, RUN, "--replay", "planted-raise", tmp_path / "input"],
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert "AssertionError: planted" in done.stderr and done.returncode == 1


def test_the_same_seed_makes_the_same_inputs(monkeypatch):
    def shapes_at(seconds):
        monkeypatch.setattr("time.time", lambda: seconds)
        maker = inputs.Maker("same")
        return [target.shape(maker) for target in targets.TARGETS.values() for _ in range(50)]

    assert shapes_at(0) == shapes_at(1e9)
