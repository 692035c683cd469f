"""A job on a real cluster: the same script that ``typedbytes run`` runs here, submitted to Hadoop.

    Plan            the job: script, inputs, output, reducers, formats; Plan.words() is Hadoop Streaming's command line
    submit(plan)    run it on the Hadoop installed here and wait; reports progress, counters and the errors of tasks
    jobs_of(plan)   the plan of each step, of a job of several
    read_output     the pairs that it wrote
    bundle          an archive with our package, for nodes that have only Python
    emr, dataproc   descriptions of the job for Amazon EMR and Google Dataproc

>>> plan = Plan("count.py", ["books"], "counts", nreducers=2, combiner=True)
>>> plan.words()[-6:]
['-mapper', 'python3 count.py map', '-combiner', 'python3 count.py combine', '-reducer', 'python3 count.py reduce']
"""

from __future__ import annotations

from typedbytes.hadoop._bundle import bundle
from typedbytes.hadoop._check import check
from typedbytes.hadoop._clouds import dataproc, emr
from typedbytes.hadoop._plan import Plan
from typedbytes.hadoop._submit import command_of, submit
from typedbytes.hadoop.outputs import read_output
from typedbytes.hadoop.steps import jobs_of
from typedbytes.jobs.errors import JobFailedError, SubmitError
from typedbytes.jobs.result import Result

Done = Result  # the older name

__all__ = [
    "Done", "JobFailedError", "Plan", "Result", "SubmitError", "bundle", "check", "command_of", "dataproc", "emr",
    "jobs_of", "read_output", "submit",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
