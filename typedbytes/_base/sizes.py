"""Sizes in bytes, as users write them: 65536, 64K, 1.5G."""

from __future__ import annotations

import sys

__all__ = ["UNITS", "parse_size"]

UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def parse_size(text: str) -> int:
    """Return the number of bytes, 1 or more, that a text gives; raises ValueError.

    >>> parse_size("65536"), parse_size("64K"), parse_size("1.5g")
    (65536, 65536, 1610612736)
    """
    number, unit = (text[:-1], text[-1].lower()) if text[-1:].lower() in UNITS else (text, "")
    try:
        nbytes = min(int(float(number) * UNITS.get(unit, 1)), sys.maxsize)
    except (ValueError, OverflowError):
        nbytes = 0
    if nbytes < 1:
        raise ValueError(f"expected a size such as 65536, 64K or 1.5G, not {text!r}")
    return nbytes
