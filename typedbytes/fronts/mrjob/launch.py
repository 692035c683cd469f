"""The older name of the class that has a job's options."""

from __future__ import annotations

from typedbytes.fronts.mrjob.job import MRJob

__all__ = ["MRJobLauncher"]

MRJobLauncher = MRJob
