"""A job, wherever it runs: what local, spark and hadoop have in common.

    Job                                                    script or functions, inputs, output and options
    Result                                                 of a job that has succeeded
    JobError, CommandError, InputError, OutputError, OptionError, SubmitError, JobFailedError

>>> from typedbytes.jobs import Job
>>> Job("wordcount.py", "book.txt", "counts", files="stop.txt").files
['stop.txt']
>>> Job("wordcount.py", "book.txt", "counts", nreducers=-1)
Traceback (most recent call last):
typedbytes.jobs.errors.OptionError: nreducers must be 0 to 65536, not -1
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.jobs.errors import (
        CommandError,
        InputError,
        JobError,
        JobFailedError,
        OptionError,
        OutputError,
        SubmitError,
    )
    from typedbytes.jobs.job import Job
    from typedbytes.jobs.result import Result

__all__ = [
    "CommandError", "InputError", "Job", "JobError", "JobFailedError", "OptionError", "OutputError", "Result",
    "SubmitError",
]  # fmt: skip

_MODULES = {"Job": "typedbytes.jobs.job", "Result": "typedbytes.jobs.result"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'typedbytes.jobs' has no attribute {name!r}")
    # Later than the package: the process of a task that is a function needs none of them.
    return getattr(__import__(_MODULES.get(name, "typedbytes.jobs.errors"), fromlist=[name]), name)


def __dir__() -> list[str]:
    return __all__
