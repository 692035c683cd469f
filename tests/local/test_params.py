"""Parameters that a job declares: with types, defaults and help, the same for each way to run it."""

import subprocess
import sys
from typing import NamedTuple

import pytest

import typedbytes as tb
from support.local_jobs import RUN, pairs_of, run, write_script
from support.streaming_support import environment
from typedbytes import local, streaming
from typedbytes.streaming import testing

JOB = '''
    """Words of a length."""
    import dataclasses
    import datetime as dt
    from typing import Annotated, Optional
    from typedbytes import streaming

    @dataclasses.dataclass
    class Params:
        day: dt.date
        least: Annotated[int, "letters of a word"] = 1
        share: float = 0.5
        lower: bool = False
        end: Optional[str] = None

    def mapper(offset, line):
        given = streaming.task().params_as(Params)
        yield line, (given.day.year, given.least, given.share, given.lower, given.end)

    def reducer(key, values):
        yield from ((key, value) for value in values)

    if __name__ == "__main__":
        streaming.run({roles}, params=Params)
'''


@pytest.fixture
def job(tmp_path):
    (tmp_path / "in.txt").write_text("a\n")
    return write_script(tmp_path, JOB.format(roles="mapper, reducer"))


GIVEN = {"day": "2026-05-01", "least": "3", "share": "1", "lower": "true", "end": "x"}
#: What is given in the place of some of these, and what is said of it.
WRONG = [
    ({"day": None}, "the parameter day is missing: give --param day=VALUE, of type date"),
    ({"most": "1"}, "the job has no parameter most: its parameters are day, least, share, lower, end"),
    ({"least": "1.5"}, "the parameter least=1.5: expected int"),
    ({"lower": "maybe"}, "the parameter lower=maybe: expected bool"),
]


@pytest.mark.parametrize("inline", [False, True])
def test_parameters_have_their_types_and_defaults(job, tmp_path, inline):
    run(job, tmp_path / "in.txt", tmp_path / "out", params=GIVEN, inline=inline)
    assert pairs_of(tmp_path / "out") == [("a", (2026, 3, 1.0, True, "x"))]
    run(job, tmp_path / "in.txt", tmp_path / "again", params={"day": "2025-01-01", "least": ""}, inline=inline)
    assert pairs_of(tmp_path / "again") == [("a", (2025, 1, 0.5, False, None))]


@pytest.mark.parametrize(("changes", "said"), WRONG)
def test_wrong_parameters_end_the_job_before_it_starts(job, tmp_path, changes, said):
    params = {name: value for name, value in {**GIVEN, **changes}.items() if value is not None}
    for inline in (False, True):
        with pytest.raises(local.CommandError, match=said):
            run(job, tmp_path / "in.txt", tmp_path / "out", params=params, inline=inline)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", [RUN, [*RUN[:-1], "submit", "--no-bundle", "--dry-run", "-o", "out"]])
@pytest.mark.parametrize("roles", ["mapper, reducer", "mapper", "steps=[streaming.Step(mapper, reducer)] * 2"])
def test_the_commands_check_parameters_whatever_the_job_has(tmp_path, command, roles):
    (tmp_path / "in.txt").write_text("a\n")
    write_script(tmp_path, JOB.format(roles=roles))
    words = [*command, "job.py", "in.txt", "--param", "day=2026-05-01"]
    done = subprocess.run([*words, "--param", "least=x"], cwd=tmp_path, env=environment(), capture_output=True)
    assert done.returncode == 64 and b"the parameter least=x: expected int" in done.stderr, done.stderr
    assert done.stdout == b""
    if "steps" not in roles and command is RUN:
        done = subprocess.run([*words, "-q"], cwd=tmp_path, env=environment(), capture_output=True)
        assert done.stdout == b"a\t(2026, 1, 0.5, False, None)\n", done.stderr


def test_the_help_of_the_script_lists_parameters(job, tmp_path):
    done = subprocess.run([sys.executable, job, "--help"], env=environment(), capture_output=True, text=True)
    assert done.returncode == 0 and "Words of a length." in done.stdout
    assert done.stdout.endswith(
        "parameters, as --param NAME=VALUE of typedbytes run and submit:\n"
        "  day    date, required\n"
        "  least  int: letters of a word (1)\n"
        "  share  float (0.5)\n"
        "  lower  bool (False)\n"
        "  end    str | None (None)\n"
    )


def test_a_task_by_hand_checks_them_too(job):
    given = environment({"stream_map_input": "text", "typedbytes_param_day": "2026-05-01"})
    done = subprocess.run([sys.executable, job, "map"], input=b"a\n", env=given, capture_output=True)
    assert list(tb.PairReader(done.stdout)) == [("a", (2026, 1, 0.5, False, None))], done.stderr
    given["typedbytes_param_least"] = "x"
    done = subprocess.run([sys.executable, job, "map"], input=b"a\n", env=given, capture_output=True)
    assert done.returncode == 64 and done.stderr.startswith(b"typedbytes: the parameter least=x: expected int")


def test_parameters_in_unit_tests(job):
    class Params(NamedTuple):
        least: int

    def mapper(key, value):
        yield key, streaming.task().params_as(Params).least

    assert testing.call_map(mapper, [(1, 2)], params={"least": "5"}) == [(1, 5)]
    with pytest.raises(ValueError, match="the parameter least is missing"):
        testing.call_map(mapper, [(1, 2)])
    assert testing.run_script(job, [(0, "a")], params=GIVEN) == [("a", (2026, 3, 1.0, True, "x"))]
    with pytest.raises(ValueError, match="the job has no parameter most"):
        testing.run_script(job, [(0, "a")], params={**GIVEN, "most": "1"})


@pytest.mark.parametrize("params", [int, dict[str, int], 3, "x"])
def test_parameters_are_a_class_with_fields(params):
    with pytest.raises(TypeError):
        streaming.run(lambda key, value: [], params=params, argv=["job.py", "map"])
