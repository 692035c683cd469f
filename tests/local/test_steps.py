"""Jobs of several steps on this machine: each reads what the one before wrote, and nothing is left between."""

import os
import re
import subprocess
import sys

import pytest

from support.local_jobs import RUN, TASK_COUNTERS, pairs_of, run, write_script
from support.streaming_support import encode, environment
from typedbytes import local
from typedbytes.jobs import Job
from typedbytes.streaming import lib

TWO_STEPS = """
    from typedbytes import streaming
    from typedbytes.streaming import Step, lib, task

    def words(offset, line):
        for word in line.split():
            yield word, 1

    def by_count(word, count):
        yield count, word

    def listed(count, words):
        if "fail" in task().params:
            raise ValueError("as asked")
        yield count, [task().step, *sorted(words)]

    if __name__ == "__main__":
        streaming.run(steps=[Step(words, lib.sumreducer, lib.sumreducer), Step(by_count, listed)])
"""


@pytest.fixture
def job(tmp_path):
    """A job of two steps and its input."""
    (tmp_path / "in.txt").write_text("a rose is a rose\nis a rose\n")
    return write_script(tmp_path, TWO_STEPS), tmp_path / "in.txt"


def test_each_step_reads_what_the_one_before_wrote(job, tmp_path):
    seen = []
    result = run(
        *job, tmp_path / "out", reducers=2, progress=lambda phase, done, total: seen.append(set(os.listdir(tmp_path)))
    )
    assert sorted(pairs_of(tmp_path / "out")) == [(2, [2, "is"]), (3, [2, "a", "rose"])]
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py", "out"]
    assert any(name.endswith("-step1") for names in seen for name in names)  # it was there, and is gone
    assert (result.nmaps, result.nreducers, result.output) == (3, 4, str(tmp_path / "out"))
    counted = result.counters[TASK_COUNTERS]
    assert (counted["MAP_INPUT_RECORDS"], counted["COMBINE_OUTPUT_RECORDS"]) == (2 + 3, 3)


def test_each_step_has_counters_of_its_own(job, tmp_path):
    result = run(*job, tmp_path / "out", reducers=2)
    assert [step.counters[TASK_COUNTERS]["MAP_INPUT_RECORDS"] for step in result.steps] == [2, 3]
    assert [(step.nmaps, step.nreducers, step.output) for step in result.steps] == [
        (1, 2, result.output),
        (2, 2, result.output),
    ]
    assert all(step.seconds < result.seconds and step.steps == () for step in result.steps)
    command = [*RUN, *job, "-o", tmp_path / "again", "-r", "2"]
    lines = subprocess.run(command, env=environment(), capture_output=True, text=True).stderr.splitlines()
    assert "step 1: TaskCounter: MAP_INPUT_RECORDS = 2" in lines
    assert "step 2: TaskCounter: MAP_INPUT_RECORDS = 3" in lines
    assert all(line.startswith(("step 1: ", "step 2: ", "typedbytes run: done: ")) for line in lines)


def test_a_job_of_one_step_has_no_others(job, tmp_path):
    (tmp_path / "one.py").write_text(
        "from typedbytes.streaming import Step, lib, run\nrun(steps=[Step(lib.identitymapper)])\n"
    )
    assert run(tmp_path / "one.py", job[1], tmp_path / "out").steps == ()


def test_steps_need_no_reducer_and_write_any_format(tmp_path):
    (tmp_path / "in.txt").write_text("b\na\n")
    text = "from typedbytes import streaming\nstep = streaming.Step(lambda key, value: [(f'{value}x', f'{value}x')])\n"
    script = write_script(tmp_path, text + "streaming.run(steps=[step] * int(streaming.task().params['times']))\n")
    result = run(script, tmp_path / "in.txt", tmp_path / "out", params={"times": 3}, output_format="text")
    assert (result.nmaps, result.nreducers) == (3, 0)
    assert (tmp_path / "out" / "part-00000").read_text() == "bxxx\tbxxx\naxxx\taxxx\n"


def test_a_step_that_fails_leaves_nothing_and_is_named(job, tmp_path):
    with pytest.raises(
        local.JobError,
        match=re.escape("step 2 of 2: reduce task 0 (3 pairs) failed: exit code 1: ValueError: as asked"),
    ):
        run(*job, tmp_path / "out", params={"fail": 1})
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


LEAVING_OUT = """
    from typedbytes import streaming
    from typedbytes.streaming import Step, side_file

    class Numbers:
        def configure(self):
            self.log = side_file("log")

        def __call__(self, offset, line):
            self.log.write(str(line).encode())
            yield int(line), 1

    if __name__ == "__main__":
        streaming.run(steps=[Step(Numbers, max_bad=2)] * 2)
"""


def test_side_files_of_every_step_end_in_the_output_and_are_no_input(tmp_path):
    (tmp_path / "in.txt").write_text("1\nx\n2\n")
    script = write_script(tmp_path, LEAVING_OUT)
    run(script, tmp_path / "in.txt", tmp_path / "out")
    assert sorted(pairs_of(tmp_path / "out")) == [(1, 1), (1, 1)]
    files = {name: (tmp_path / "out" / name).read_bytes() for name in os.listdir(tmp_path / "out")}
    assert set(files) == {
        "_SUCCESS", "part-00000", "step1-log-m-00000", "step1-bad-records-m-00000", "step2-log-m-00000",
    }  # fmt: skip
    assert files["step1-log-m-00000"] == b"1x2" and files["step1-bad-records-m-00000"].endswith(b"x")
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py", "out"]
    run(script, tmp_path / "out", tmp_path / "again")
    assert sorted(pairs_of(tmp_path / "again")) == [(1, 1), (1, 1)]


OWN_FILES = """
    import os
    from typedbytes import sequencefile, streaming
    from typedbytes.streaming import Step, task

    class Writing:
        def configure(self):
            folder, step = task().output_folder, task().step
            if step == 1:
                with sequencefile.Writer(os.path.join(folder, "pairs")) as writer:
                    writer.write("extra", 1)
                with open(os.path.join(folder, "text"), "w") as file:
                    file.write("no pairs")
            if task().params.get("kind") == "file" or step == 1:
                open(os.path.join(folder, task().params["name"].replace("#", str(step))), "w").close()
            else:
                os.mkdir(os.path.join(folder, task().params["name"].replace("#", str(step))))

        def __call__(self, key, value):
            yield key, value

    if __name__ == "__main__":
        streaming.run(steps=[Step(Writing)] * 2)
"""


def test_files_that_tasks_put_beside_their_output_are_no_input_and_end_in_the_output(tmp_path):
    (tmp_path / "in.txt").write_text("a\n")
    result = run(
        write_script(tmp_path, OWN_FILES),
        tmp_path / "in.txt",
        tmp_path / "out",
        params={"name": "own#", "kind": "file"},
    )
    assert pairs_of(tmp_path / "out") == [(0, "a")] and result.nmaps == 2
    assert sorted(os.listdir(tmp_path / "out")) == ["_SUCCESS", "own1", "own2", "pairs", "part-00000", "text"]
    assert (tmp_path / "out" / "text").read_text() == "no pairs"
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py", "out"]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_files_of_one_name_in_two_steps_fail_the_job(tmp_path, kind):
    (tmp_path / "in.txt").write_text("a\n")
    with pytest.raises(local.OutputError, match="step 2 of 2: two steps made a file same in their output folders"):
        run(
            write_script(tmp_path, OWN_FILES),
            tmp_path / "in.txt",
            tmp_path / "out",
            params={"name": "same", "kind": kind},
        )
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


def test_an_output_that_exists_is_an_error_before_the_first_step(job, tmp_path):
    (tmp_path / "out").mkdir()
    steps = []
    with pytest.raises(local.OutputError, match="already exists"):
        run(*job, tmp_path / "out", progress=lambda phase, done, total: steps.append(phase))
    assert steps == []


@pytest.mark.parametrize(
    ("steps", "options", "said"),
    [
        ("[Step(lib.identitymapper), Step(None, lib.sumreducer)]", {},
         "step 2 of 2 has no mapper: typedbytes.streaming.lib.identitymapper"),
        ("[Step(lib.identitymapper, lib.sumreducer)] * 2", {"reducers": 0}, "has 2 steps, which need their reducers"),
        ("[Step(lib.identitymapper)] * 2", {"reducers": 1}, "has no reducer"),
        ("[Step(lib.identitymapper)] * 2", {"combiner": True}, "has no combiner"),
        ("[]", {}, "TypeError: steps must be a list of at least one Step"),
        ("[Step(lib.identitymapper)], max_bad=1", {}, "TypeError: steps must be a list of at least one Step"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("inline", [False, True])
def test_steps_that_cannot_be(tmp_path, steps, options, said, inline):
    (tmp_path / "in.txt").write_text("a\n")
    script = write_script(tmp_path, f"from typedbytes.streaming import Step, lib, run\nrun(steps={steps})")
    with pytest.raises(local.JobError, match=re.escape(said)):
        run(script, tmp_path / "in.txt", tmp_path / "out", inline=inline, **options)


NO_MAPPER = "^step 1 of 1 has no mapper: typedbytes.streaming.lib.identitymapper passes pairs on$"


@pytest.mark.parametrize("inline", [False, True])
def test_a_job_without_a_mapper_is_refused_in_one_line(tmp_path, inline):
    (tmp_path / "in.txt").write_text("a\n")
    script = write_script(tmp_path, "from typedbytes.streaming import lib, run\nrun(None, lib.identityreducer)")
    with pytest.raises(local.CommandError, match=NO_MAPPER):
        run(script, tmp_path / "in.txt", tmp_path / "out", inline=inline)


@pytest.mark.parametrize("reducer", [lib.identityreducer, "cat"])
@pytest.mark.parametrize("inline", [False, True])
def test_functions_without_a_mapper_are_refused_in_one_line(tmp_path, inline, reducer):
    with pytest.raises(local.CommandError, match=NO_MAPPER):
        local.run(None, reducer, inputs=[(0, "a")], output=tmp_path / "out", inline=inline)
    with pytest.raises(local.CommandError, match=NO_MAPPER):
        local.run_job(Job("", [(0, "a")], tmp_path / "out", functions={"reduce": reducer}, inline=inline))


def task(script, *words, environ=(), data=b""):
    done = subprocess.run([sys.executable, script, *words], input=data, env=environment(environ), capture_output=True)
    return done.returncode, done.stdout, done.stderr.decode()


def test_a_variable_chooses_the_step_of_a_task(job):
    script, _ = job
    assert task(script, "steps") == (0, b"", "typedbytes: step: map combine reduce\ntypedbytes: step: map reduce\n")
    assert task(script, "map", data=encode((0, "a b"))) == (0, encode(("a", 1), ("b", 1)), "")
    assert task(script, "map", data=encode(("a", 7)), environ={"typedbytes_step": "2"}) == (0, encode((7, "a")), "")
    for environ, said in (
        ({"typedbytes_step": "3"}, "there is no step 3 among the 2 of the job"),
        ({"mapreduce_job_id": "job_1_0001"}, "the job has 2 steps: start it by typedbytes run or submit"),
    ):
        code, output, messages = task(script, "map", data=encode((0, "a b")), environ=environ)
        assert (code, output) == (64, b"") and said in messages


def tree(folder):
    """Return the paths of all files in a folder, and their contents."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(
    ("output", "kept"),
    [
        ("out", "out"),
        ("out", "out/deep"),
        ("out", "link"),
        ("steps/step1", "steps"),
        ("steps/step1/out", "steps"),
        ("file://{}/out", "out"),
        ("file://{}/steps/step1", "steps"),
    ],
)
@pytest.mark.parametrize("overwrite", [False, True])
def test_steps_are_not_kept_in_the_output(job, tmp_path, output, kept, overwrite):
    output = output.format(tmp_path) if "{}" in output else str(tmp_path / output)
    (tmp_path / "steps").mkdir()
    if output.endswith("step1/out"):
        (tmp_path / "steps" / "step1").mkdir()
    (tmp_path / "link").symlink_to("out")
    if overwrite:
        run(*job, output)
    before = tree(tmp_path)
    steps = []
    with pytest.raises(local.OutputError, match="step_output would keep step 1 in .*give another folder") as caught:
        run(
            *job, output, step_output=tmp_path / kept, overwrite=overwrite,
            progress=lambda phase, done, total: steps.append(phase),
        )  # fmt: skip
    assert tree(tmp_path) == before and steps == [] and "\n" not in str(caught.value)


def test_kept_steps_are_replaced_with_the_output(job, tmp_path):
    run(*job, tmp_path / "out", step_output=tmp_path / "steps")
    assert sorted(pairs_of(tmp_path / "steps" / "step1")) == [("a", 3), ("is", 2), ("rose", 3)]
    (tmp_path / "in.txt").write_text("new\n")
    hint = "give another path, or overwrite=True to replace it"
    with pytest.raises(local.OutputError, match=f"^the output {tmp_path}/steps/step1 already exists; {hint}$"):
        run(*job, tmp_path / "again", step_output=tmp_path / "steps")
    assert not (tmp_path / "again").exists()
    run(*job, tmp_path / "out", step_output=tmp_path / "steps", overwrite=True)
    assert pairs_of(tmp_path / "steps" / "step1") == [("new", 1)] and pairs_of(tmp_path / "out") == [(1, [2, "new"])]
    assert sorted(os.listdir(tmp_path / "steps")) == ["step1"]


def test_a_folder_of_a_step_that_no_job_has_made_is_found_before_the_first_step(job, tmp_path):
    (tmp_path / "steps" / "step1").mkdir(parents=True)
    (tmp_path / "steps" / "step1" / "mine").touch()
    with pytest.raises(local.OutputError, match="^/.*/steps/step1 is not the output of a job that has succeeded"):
        run(*job, tmp_path / "out", step_output=tmp_path / "steps", overwrite=True)


def test_steps_are_kept_on_this_machine(job, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(local.OutputError, match="^step_output is a folder of this machine, not memory://steps$"):
        run(*job, tmp_path / "out", step_output="memory://steps")
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]
