"""The older libraries whose scripts run unchanged, by the names of typedbytes.fronts, and how their jobs differ."""

from __future__ import annotations

__all__ = ["FRONTS", "Front"]


class Front:
    """What differs in the jobs of a library.

    reads_in_order: the values of a key are in the order of the inputs; writes_lines: of text, without --output-format.
    """

    __slots__ = ("reads_in_order", "writes_lines")

    def __init__(self, reads_in_order: bool = False, writes_lines: bool = False) -> None:
        self.reads_in_order: bool = reads_in_order
        self.writes_lines: bool = writes_lines


FRONTS: dict[str, Front] = {"mrjob": Front(True, True), "dumbo": Front(), "hadoopy": Front(), "pydoop": Front()}
