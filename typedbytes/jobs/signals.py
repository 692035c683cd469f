"""Names of signals.

>>> name_of(9), name_of(34)
('SIGKILL', 'SIGRTMIN')
"""

from __future__ import annotations

import signal

__all__ = ["name_of"]


def name_of(number: int) -> str:
    """Return what to call a signal in a message: Python names only the first and the last of the real-time signals.

    >>> name_of(35), name_of(33)
    ('signal 35 (SIGRTMIN+1)', 'signal 33')
    """
    try:
        return signal.Signals(number).name
    except ValueError:
        first = getattr(signal, "SIGRTMIN", number + 1)  # not everywhere
        return f"signal {number} (SIGRTMIN+{number - first})" if number > first else f"signal {number}"
