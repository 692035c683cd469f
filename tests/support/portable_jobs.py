"""Six jobs as users write them, tests/jobs/*.py, for every way to run a job: inputs, options, outputs, a pipe.

Not here: which engine runs them. Invariant: the same script and the same options give the same pairs everywhere.
"""

from dataclasses import dataclass, field
from pathlib import Path

JOBS_FOLDER = Path(__file__).resolve().parents[1] / "jobs"


@dataclass(frozen=True)
class Job:
    """A script of tests/jobs: the lines that it reads, its options for run and submit, and its pairs, sorted."""

    lines: list
    output: list
    options: list = field(default_factory=list)
    submit_options: list = field(default_factory=list)
    files: dict = field(default_factory=dict)  # to ship: content by name
    variables: dict = field(default_factory=dict)  # of its processes in a shell's pipe
    nsteps: int = 1
    side_output: list = field(default_factory=list)  # lines of the side file "others"


JOBS = {
    "postings": Job(
        lines=["d2: b a b", "d1: a c", "d3: b"], output=[("a", ["d1", "d2"]), ("b", ["d2", "d3"]), ("c", ["d1"])]
    ),
    "orders": Job(
        lines=[
            "order 7 2024-03-01 2.5",
            "customer 7 ada",
            "order 9 2024-01-01 1",
            "order 7 2023-01-31 4",
            "customer 8 bob",
        ],
        output=[((7, "ada"), [4.0, 2.5]), ((8, "bob"), [])],
    ),
    "best_scores": Job(
        lines=["chess ada 7", "go bob 1", "chess bob 9", "chess eve 8"],
        output=[("chess", [(9, "bob"), (8, "eve")]), ("go", [(1, "bob")])],
    ),
    "medians": Job(
        lines=["a 3", "b 10", "a 1", "a 20", "b -5"],
        output=[("a", 3), ("b", 10)],
        submit_options=["--require", "sortedcontainers"],
    ),
    "allowed": Job(
        lines=["a b x", "b y"], output=[("a", 1), ("b", 2)], options=["--ship", "allowed.txt"],
        files={"allowed.txt": "a\nb\n"}, side_output=["x", "y"],
    ),
    "by_count": Job(
        lines=["a rose is a rose", "is a rose not"], output=[(2, ["is"]), (3, ["a", "rose"])],
        options=["--param", "least=2"], variables={"typedbytes_param_least": "2"}, nsteps=2,
    ),
}  # fmt: skip


def lay_out(folder, name):
    """Write a job's script, input and files into a folder."""
    job = JOBS[name]
    files = {
        f"{name}.py": (JOBS_FOLDER / f"{name}.py").read_text("utf-8"),
        "in.txt": "\n".join(job.lines) + "\n",
        **job.files,
    }
    for path, text in files.items():
        (folder / path).write_text(text, "utf-8")
    return job


def shell_pipe(name, python):
    """Return the shell's pipe in which a job is tried by hand."""
    script, step_pipes = f"{python} {name}.py", []
    for step in range(1, JOBS[name].nsteps + 1):
        words = "".join(
            f"{variable}={value} " for variable, value in {**JOBS[name].variables, "typedbytes_step": step}.items()
        )
        input_format = "stream_map_input=text " if step == 1 else ""
        step_pipes.append(
            f"{words}{input_format}{script} map | {python} -m typedbytes sort --pairs | {words}{script} reduce"
        )
    return "cat in.txt | " + " | ".join(step_pipes)
