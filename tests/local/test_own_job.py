"""A script that starts the job of itself: its tasks, which are the same script, must not start it again.

A script here gives up after a few starts, so that a test fails where processes would start one another without an end.
"""

import re
import subprocess
import sys

import pytest

from support.local_jobs import pairs_of, write_script
from support.streaming_support import environment

SCRIPT = """
    import os, sys
    from typedbytes import hadoop, local, streaming

    def mapper(key, line):
        yield line, 1

    def reducer(key, counts):
        yield key, sum(counts)

    with open("starts.log", "a") as log:
        print(*sys.argv[1:], file=log)
    if len(open("starts.log").readlines()) > 9:
        sys.exit("too many starts")
    {code}
"""
FIXED = "for every role: with sys.argv[1] one of map, combine, reduce and steps; start the job only otherwise"
RUN = "local.run_script(__file__, inputs='in.txt', output='out'{options})"
SUBMIT = "hadoop.submit(hadoop.Plan(__file__, ['in.txt'], 'out', bundle=None))"


def python(folder, *words, code, **variables):
    """Write the script and an input, start the script, and return the finished process and the number of its starts."""
    (folder / "in.txt").write_text("a\nb\na\n")
    write_script(folder, SCRIPT.format(code=code))
    command = [sys.executable, "job.py", *words]
    done = subprocess.run(command, cwd=folder, env={**environment(), **variables}, capture_output=True, text=True)
    return done, len((folder / "starts.log").read_text().splitlines())


OF_FUNCTIONS = """
    from typedbytes import local

    def mapper(key, line):
        yield line, 1

    {guard}local.run(mapper, inputs="in.txt", output="out")
"""


@pytest.mark.parametrize("start", ["job", "other"])
def test_functions_of_a_file_that_starts_a_job(tmp_path, start):
    """A task imports the file for its functions: one line says where the call belongs."""
    (tmp_path / "in.txt").write_text("a\n")
    (tmp_path / "other.py").write_text("import job\n")

    def run(guard):
        write_script(tmp_path, OF_FUNCTIONS.format(guard=guard))
        command = [sys.executable, f"{start}.py"]
        return subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True)

    done = run("")
    said = (
        f"{tmp_path / 'job.py' if start == 'job' else 'job'} starts a job where a task imports it for its functions: "
        'call run(...) under if __name__ == "__main__"\n'
    )
    assert done.returncode == 1 and done.stderr.startswith(said) and done.stderr.count("Traceback") == 1
    assert done.stderr.endswith(f": exit code 1: {said}")
    assert (run("if __name__ == '__main__': ").returncode, (tmp_path / "out").exists()) == (0, start == "job")


@pytest.mark.parametrize(
    "code, options, role, nstarts",
    [
        (
            "streaming.run(mapper, reducer, reducer) if sys.argv[1:] in (['map'], ['reduce']) else {start}",
            "",
            " combine",
            4,
        ),
        ("{start}", ", combiner=False", " reduce", 2),
        ("{start}", ", combiner=False, reducers=0", " map", 2),
        ("sys.argv[1:] = []; {start}", ", combiner=False", "", 2),  # as a parser of options may leave it
        ("'steps'; {start}", ", combiner=False", " steps", 2),
    ],
)
def test_a_task_does_not_start_the_job_of_its_own_script(tmp_path, code, options, role, nstarts):
    done, found = python(tmp_path, code=code.format(start=RUN.format(options=options)))
    last = done.stderr.splitlines()[-1]
    assert re.search(
        rf"CommandError: \S*job\.py starts its own job while it runs as a task of it \(job\.py{role}\): ", last
    ), last
    assert (done.returncode, last.count("Error")) == (1, 2 if role in (" map", " combine") else 1) and found <= nstarts
    assert last.endswith(f"call streaming.run(...) {FIXED}")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("roles", ['("map", "combine", "reduce", "steps")', '("map", "reduce")'])
def test_a_script_that_calls_run_for_every_role_that_it_has_starts_its_job(tmp_path, roles):
    done, _ = python(
        tmp_path,
        code=f"streaming.run(mapper, reducer) if sys.argv[1:] and sys.argv[1] in {roles} else {RUN.format(options='')}",
    )
    assert done.returncode == 0, done.stderr
    assert sorted(pairs_of(tmp_path / "out")) == [("a", 2), ("b", 1)]


def test_a_task_may_start_the_job_of_another_script(tmp_path):
    write_script(tmp_path, "from typedbytes.streaming import lib, run\nrun(lib.identitymapper)\n", "other.py")
    other = "local.run_script('other.py', inputs='in.txt', output='between', quiet=True)"
    code = f"streaming.run(lambda *pair: [(1, {other}.nmaps)], argv=sys.argv, max_bad=0) if sys.argv[1:] else {RUN}"
    (tmp_path / "one.txt").write_text("one line\n")
    done, _ = python(
        tmp_path,
        code=code.format(options="").replace("inputs='in.txt', output='out'", "inputs='one.txt', output='out'"),
    )
    assert done.returncode == 0, done.stderr
    assert pairs_of(tmp_path / "out") == [(1, 1)]


@pytest.mark.parametrize("words", [["combine"], ["map"]])
def test_a_task_on_a_node_does_not_submit_the_job_of_its_own_script(tmp_path, words):
    done, found = python(tmp_path, *words, code=SUBMIT, PATH="/nowhere")  # no variable of ours is there
    last = done.stderr.splitlines()[-1]
    assert re.search(
        rf"CommandError: \S*job\.py starts its own job while it runs as a task of it \(job\.py {words[0]}\): ", last
    ), last
    assert (done.returncode, found) == (1, 1) and last.endswith(f"call streaming.run(...) {FIXED}")


def test_a_script_asked_for_its_steps_does_not_submit_its_job(tmp_path):
    done, found = python(
        tmp_path, code=f"sys.argv[1:] = []; {SUBMIT}; streaming.run(steps=[streaming.Step(mapper)])", PATH="/nowhere"
    )
    last = done.stderr.splitlines()[-1]
    assert re.search(
        r"CommandError: \S*job\.py starts its own job while it runs as a task of it \(job\.py\): ", last
    ), last
    assert (done.returncode, last.count("Error"), found) == (1, 1, 2)
