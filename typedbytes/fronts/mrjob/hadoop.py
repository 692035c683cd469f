"""The name of a runner; the option -r chooses it."""

from __future__ import annotations

from typedbytes.fronts.mrjob.runner import Runner

__all__ = ["HadoopJobRunner"]

HadoopJobRunner = Runner
