"""The six jobs of tests/jobs by ``typedbytes run`` and in a shell's pipe.

With a real Hadoop they are in tests/hadoop and tests/cluster.
"""

import subprocess
import sys

import pytest

import typedbytes as tb
from support.local_jobs import RUN, pairs_of
from support.portable_jobs import JOBS, lay_out, shell_pipe
from support.streaming_support import environment


@pytest.mark.parametrize("name", JOBS)
def test_run(tmp_path, name):
    job = lay_out(tmp_path, name)
    words = [*RUN, "-q", f"{name}.py", "in.txt", "-o", "out", "--reducers", "2", *job.options]
    subprocess.run(words, cwd=tmp_path, env=environment(), check=True)
    assert sorted(pairs_of(tmp_path / "out")) == job.output
    others = [line for path in sorted((tmp_path / "out").glob("others-*")) for line in path.read_text().splitlines()]
    assert others == job.side_output


@pytest.mark.parametrize("name", JOBS)
def test_pipe(tmp_path, name):
    job = lay_out(tmp_path, name)
    done = subprocess.run(
        shell_pipe(name, sys.executable), shell=True, cwd=tmp_path, env=environment(), capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(tb.PairReader(done.stdout)) == job.output
