"""The names of dumbo, by typedbytes: jobs of its functions and classes, and its command line.

A job's script is run as ``python -m typedbytes.fronts script.py -input FILE -output OUT [-hadoop yes]``, or by
``typedbytes run --as dumbo script.py INPUT -o FOLDER``.
"""

from __future__ import annotations

from typedbytes.fronts.dumbo import decor, lib
from typedbytes.fronts.dumbo.core import Error, Job, Program, main, run
from typedbytes.fronts.dumbo.decor import *  # noqa: F403, as in dumbo
from typedbytes.fronts.dumbo.lib import *  # noqa: F403
from typedbytes.fronts.dumbo.user_code import Counter

__all__ = ["Counter", "Error", "Job", "Program", "main", "run"]
__all__ += decor.__all__
__all__ += lib.__all__
