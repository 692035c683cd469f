"""The names of dumbo, by typedbytes: jobs of its functions and classes, and its command line.

A job's script is run as ``python -m typedbytes.fronts script.py -input FILE -output OUT [-hadoop yes]``, or by
``typedbytes run --as dumbo script.py INPUT -o FOLDER``.
"""

from __future__ import annotations

from typedbytes.fronts.dumbo.core import Error, Job, Program, main, run
from typedbytes.fronts.dumbo.decor import opt, primary, secondary
from typedbytes.fronts.dumbo.lib import (
    JoinCombiner,
    JoinMapper,
    JoinReducer,
    MultiMapper,
    PrimaryMapper,
    SecondaryMapper,
    identitymapper,
    identityreducer,
    nlargestcombiner,
    nlargestreducer,
    nsmallestcombiner,
    nsmallestreducer,
    statscombiner,
    statsreducer,
    sumreducer,
    sumsreducer,
)
from typedbytes.fronts.dumbo.user_code import Counter

__all__ = [
    "Counter", "Error", "Job", "JoinCombiner", "JoinMapper", "JoinReducer", "MultiMapper", "PrimaryMapper", "Program",
    "SecondaryMapper", "identitymapper", "identityreducer", "main", "nlargestcombiner", "nlargestreducer",
    "nsmallestcombiner", "nsmallestreducer", "opt", "primary", "run", "secondary", "statscombiner", "statsreducer",
    "sumreducer", "sumsreducer",
]  # fmt: skip
