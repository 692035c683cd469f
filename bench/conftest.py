"""How the suites run under pytest-benchmark, each runner alone; `report.py` runs them in turn.

With --benchmark-disable each runs once and small, which shows that it still can.
"""

import contextlib
import itertools
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from timing import collector_frozen  # noqa: E402

collect_ignore = [path.name for path in HERE.iterdir() if not path.name.startswith("bench_")]

SMALL = 0.01
NROUNDS = 30


def pytest_configure(config):
    config.addinivalue_line("python_files", "bench_*.py")
    config.addinivalue_line("python_functions", "bench_*")


@pytest.fixture
def scale(request):
    """The size of what is measured, as a part of the usual one."""
    return SMALL if request.config.option.benchmark_disable else 1


@pytest.fixture
def measure(benchmark):
    """A function that runs a runner for some rounds and says how much it did."""

    def run(group, runner, nvalues):
        if runner is None:
            pytest.fail(
                f"a library that should take part in {group!r} is not installed: make -C bench quick installs all"
            )
        benchmark.group = group
        benchmark.extra_info.update(nbytes=runner.nbytes, nvalues=nvalues, correct=runner.correct)
        rounds, opened = itertools.count(), []

        def setup():
            while opened:
                runner.finish(opened.pop())
            opened.append(runner.prepare(next(rounds)))
            return opened[:], {}

        with collector_frozen() if benchmark.enabled else contextlib.nullcontext():
            benchmark.pedantic(runner.run, setup=setup, rounds=NROUNDS)
        runner.finish(opened.pop())
        assert runner.correct or not runner.name.startswith("typedbytes")

    return run
