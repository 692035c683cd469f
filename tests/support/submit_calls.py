"""Calls of typedbytes.hadoop for the tests: a Plan, scripts, the command, and what Hadoop says of a job.

Not here: what a test expects. Invariant: LOG and FAILURE were recorded from Hadoop 3.4.2 and its Java.
"""

import zipfile

from support.hadoop_support import ROOT
from typedbytes import cli, hadoop

JOB = ROOT / "examples" / "wordcount.py"


def plan(*arguments, **options):
    return hadoop.Plan(*(arguments or ("job.py", ["in"], "out")), **options)


def written(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return str(folder / "job.py")


def wheel_of(path, *entries):
    """Write a wheel; an entry is a name, or a name and its bytes, or a ZipInfo and its bytes."""
    with zipfile.ZipFile(path, "w") as wheel:
        for entry in entries:
            name, data = entry if isinstance(entry, tuple) else (entry, b"")
            wheel.writestr(name, data)
    return str(path)


LOG = """\
2026-01-02 03:04:05,678 INFO mapreduce.Job: The url to track the job: http://localhost:8080/
2026-01-02 03:04:05,679 INFO mapreduce.Job: Running job: job_local1234_0001
2026-01-02 03:04:06,690 INFO mapreduce.Job:  map 0% reduce 0%
2026-01-02 03:04:07,690 INFO mapreduce.Job:  map 100% reduce 0%
2026-01-02 03:04:07,691 INFO mapreduce.Job:  map 100% reduce 0%
2026-01-02 03:04:08,690 INFO mapreduce.Job:  map 100% reduce 100%
2026-01-02 03:04:08,700 INFO mapreduce.Job: Counters: 3
\tFile System Counters
\t\tFILE: Number of bytes read=1234
\twords = all
\t\tseen = x=5
\t\tlost=-1
2026-01-02 03:04:08,701 INFO streaming.StreamJob: Output directory: out
"""


FAILURE = """\
typedbytes: task failed: user code failed (exit code 1)
typedbytes: attempt: attempt_1_0001_m_000003_0
Traceback (most recent call last):
  File "job.py", line 2, in <module>
    1 / 0
    ~~^~~
ZeroDivisionError: division by zero
2026-01-02 03:04:05,678 WARN mapred.LocalJobRunner: job_local1_0001
java.lang.Exception: java.lang.RuntimeException: PipeMapRed.waitOutputThreads(): subprocess failed with code 1
"""


def run_command(capfdbinary, *words):
    code = cli.main([*map(str, words)])
    found = capfdbinary.readouterr()
    return code, found.out.decode(), found.err.decode()


STEPS = """
from typedbytes import streaming
from typedbytes.streaming import Step, lib
sums = Step(lib.identitymapper, lib.sumreducer, lib.sumreducer)
streaming.run(steps=[Step(lib.identitymapper)] + [sums] * int(streaming.task().params["times"]))
"""
