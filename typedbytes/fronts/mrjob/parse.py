"""What tests of jobs read: the counters and the status that a job in a sandbox has reported."""

from __future__ import annotations

import re
from urllib.parse import urlparse

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = ["is_uri", "parse_mr_job_stderr", "urlparse"]

_COUNTER = re.compile(rb"reporter:counter:([^,]*),([^,]*),(-?\d+)$")
_STATUS = re.compile(rb"reporter:status:(.*)$")


def parse_mr_job_stderr(stderr: bytes | Iterable[bytes], counters: Any = None) -> dict[str, Any]:
    """Return the "counters", "statuses" and "other" lines in what a task has written to standard error."""
    counters = {} if counters is None else counters
    found: dict[str, Any] = {"counters": counters, "statuses": [], "other": []}
    for line in stderr.splitlines(True) if isinstance(stderr, bytes) else stderr:
        text = line.rstrip(b"\r\n")
        counted, said = _COUNTER.match(text), _STATUS.match(text)
        if counted:
            group, name = counted[1].decode(), counted[2].decode()
            names = counters.setdefault(group, {})
            names[name] = names.get(name, 0) + int(counted[3])
        elif said:
            found["statuses"].append(said[1].decode())
        else:
            found["other"].append(line.decode())
    return found


def is_uri(uri: str) -> bool:
    """Return whether a path has a scheme."""
    return "://" in uri and bool(urlparse(uri).scheme)
