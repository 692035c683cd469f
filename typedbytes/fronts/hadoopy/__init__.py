"""The names of hadoopy, by typedbytes: scripts that end with run(...), and drivers that launch them.

Paths are Hadoop's where its command is found, and those of this machine elsewhere; so are the jobs.
"""

from __future__ import annotations

from typedbytes.fronts.hadoopy._command_line import run
from typedbytes.fronts.hadoopy._files import (
    abspath,
    cp,
    exists,
    get,
    isdir,
    isempty,
    ls,
    mkdir,
    mv,
    put,
    readtb,
    rmr,
    stat,
    writetb,
    writetb_parts,
)  # fmt: skip
from typedbytes.fronts.hadoopy._launch import launch, launch_frozen, launch_local
from typedbytes.fronts.hadoopy._records import GroupedValues, Test, TypedBytesFile, counter, status

__all__ = [
    "GroupedValues", "Test", "TypedBytesFile", "abspath", "counter", "cp", "exists", "get", "isdir", "isempty",
    "launch", "launch_frozen", "launch_local", "ls", "mkdir", "mv", "put", "readtb", "rmr", "run", "stat", "status",
    "writetb", "writetb_parts",
]  # fmt: skip
