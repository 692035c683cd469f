"""How a job asks its script for its roles and steps: nothing of the job runs; other programs are asked as ever."""

import os

from support.local_jobs import pairs_of, run, write_script

TASKS_ALONE = """
    from typedbytes import streaming

    class Mean:
        def configure(self):
            self.log = streaming.side_file("log")
            self.number = streaming.task().partition * 1000
            self.total = self.count = 0

        def __call__(self, key, values):
            for value in values:
                self.total += value
                self.count += 1

        def close(self):
            self.log.write(b"closed")
            yield "mean", self.total / self.count

    if __name__ == "__main__":
        streaming.run(lambda offset, line: [(line, int(line))], Mean)
"""


def test_a_script_that_is_asked_for_its_roles_runs_none_of_its_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text("1\n3\n")
    (tmp_path / "log-r-00000").write_text("mine")
    run(write_script(tmp_path, TASKS_ALONE), "in.txt", "out")
    assert pairs_of(tmp_path / "out") == [("mean", 2.0)]
    assert (tmp_path / "log-r-00000").read_text() == "mine"
    assert (tmp_path / "out" / "log-r-00000").read_text() == "closed"
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py", "log-r-00000", "out"]


def test_a_script_may_run_another_job_before_it_says_what_it_has(tmp_path):
    (tmp_path / "in.txt").write_text("a\n")
    write_script(
        tmp_path, "from typedbytes.streaming import lib, run\nrun(lib.identitymapper, lib.sumreducer)\n", "other.py"
    )
    script = write_script(
        tmp_path,
        """
        import os, sys
        from typedbytes import local, streaming

        here = os.path.dirname(__file__)
        if sys.argv[1] == "reduce":
            output = os.path.join(here, f"other-{os.getpid()}")
            local.run_script(os.path.join(here, "other.py"), inputs=[("a", 1), ("a", 2)], output=output, quiet=True)
        streaming.run(lambda offset, line: [(line, 1)], lambda key, values: [(key, sum(values))])
        """,
    )
    run(script, tmp_path / "in.txt", tmp_path / "out")
    outputs = [name for name in os.listdir(tmp_path) if name.startswith("other-")]
    assert len(outputs) == 2 and all(pairs_of(tmp_path / name) == [("a", 3)] for name in outputs)


def test_a_script_is_started_once_to_ask_it(tmp_path):
    """What it imports may take longer than a task's work."""
    (tmp_path / "in.txt").write_text("a\na\n")
    script = write_script(
        tmp_path,
        """
        import os, sys
        from typedbytes.streaming import lib, run

        with open(os.path.join(os.path.dirname(__file__), "starts"), "a") as file:
            file.write(sys.argv[1] + "\\n")
        run(lambda offset, line: [(line, 1)], lib.sumreducer, lib.sumreducer)
        """,
    )
    run(script, tmp_path / "in.txt", tmp_path / "out")
    assert (tmp_path / "starts").read_text().split() == ["reduce", "map", "combine", "reduce"]
    assert pairs_of(tmp_path / "out") == [("a", 2)]


def test_another_program_has_the_roles_that_it_does_not_refuse(tmp_path):
    (tmp_path / "in.txt").write_text("a\n")
    for refused, nreducers in (("reduce combine", 0), ("combine", 1), ("", 1)):
        script = write_script(
            tmp_path, f'#!/bin/sh\nfor role in {refused}; do [ "$1" = $role ] && exit 64; done\ncat\n', "job"
        )
        script.chmod(0o700)
        assert run(script, tmp_path / "in.txt", tmp_path / f"out-{refused}").nreducers == nreducers
        assert pairs_of(tmp_path / f"out-{refused}") == [(0, "a")]


IMPORTED = """
    from typedbytes.streaming import Step, lib, run

    def main():
        run(steps=[Step(lib.identitymapper), Step(lambda key, value: [(value, key)], lib.identityreducer)])
"""


def test_the_steps_of_a_job_may_be_in_a_module_that_its_script_imports(tmp_path):
    (tmp_path / "in.txt").write_text("a\n")
    write_script(tmp_path, IMPORTED, "real_job.py")
    script = write_script(tmp_path, "from real_job import main\nmain()\n")
    result = run(script, tmp_path / "in.txt", tmp_path / "out")
    assert [step.nreducers for step in result.steps] == [0, 1]
    assert pairs_of(tmp_path / "out") == [("a", 0)]
