"""dumbo.backends.common: what the classes of mappers and reducers have besides their own, for tests of them.

One module has both names; no other part of dumbo.backends is here.
"""

from __future__ import annotations

import sys
from types import ModuleType

from typedbytes.fronts.dumbo.user_code import Counter, Counters, MapRedBase, Params

__all__ = ["Counter", "Counters", "MapRedBase", "Params"]

__path__: list[str] = []  # without it, Python looks for no module inside this one
common: ModuleType = sys.modules[__name__]
sys.modules[f"{__name__}.common"] = common
