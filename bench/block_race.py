"""A row of the race of block messages.

Here: what a row is, and whether its goal is reached. Not here: what is moved.
"""

from dataclasses import dataclass
from typing import Callable


@dataclass
class Row:
    """One row: its name, its contenders, and its goal.

    contenders: called once, gives name -> function that moves messages and gives how many (None: one), or their times
    in nanoseconds as a list. goal_ns: p50 at most; goal_ratio: the same as a part of the best that is not ours.
    one_cpu: both ends share a processor, so that a round trip costs the work and not what it takes to wake another
    processor up (on a virtual machine 5 to 50 us, from one run to the next).
    """

    name: str
    contenders: Callable
    goal_ns: float = None
    goal_ratio: float = None
    turn: int = 20
    figure: str = "p50"
    one_cpu: bool = False

    def judge(self, entries):
        """Return for each contender of ours whether the goal is met."""
        others = [entry[self.figure] for name, entry in entries.items() if not name.startswith(("typedbytes", "bound"))]
        limits = [self.goal_ns] if self.goal_ns else []
        limits += [self.goal_ratio * min(others)] if self.goal_ratio and others else []
        if not limits:
            return {}
        found = {}
        for name, entry in entries.items():
            if name.startswith("typedbytes"):
                part = entry[self.figure] / min(limits)
                found[name] = f"met: {part:.2f} of it" if part <= 1 else f"missed: {part:.2f} of it"
        return found
