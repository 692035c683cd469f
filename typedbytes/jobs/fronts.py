"""The older libraries whose scripts run unchanged, by the names of typedbytes.fronts, and how their jobs differ."""

from __future__ import annotations

from collections import namedtuple

__all__ = ["FRONTS", "Front"]

#: reads_in_order: values of a key are in the order of the inputs; writes_lines: of text, without --output-format.
Front = namedtuple("Front", "reads_in_order writes_lines", defaults=(False, False))

FRONTS: dict[str, Front] = {"mrjob": Front(True, True), "dumbo": Front(), "hadoopy": Front(), "pydoop": Front()}
