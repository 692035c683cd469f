"""The memory of this process, as the kernel counts it or as Python's allocators do.

Invariant: importing this brings no pytest, whose memory would count.
"""

import contextlib
import os
import tracemalloc


def resident(name):
    """Return a number of the process's memory, in bytes: VmRSS for the present, VmHWM for the maximum.

    The maximum of getrusage includes that of the process's parent.
    """
    with open("/proc/self/status") as file:
        (line,) = (line for line in file if line.startswith(name))
    return int(line.split()[1]) << 10


def peak_of(call):
    """Return the most bytes that Python's allocators held at once during a call."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def held():
    """Return the descriptors of the package's shared memory that this process has."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # that of the listing
            found += [int(name)] if os.readlink(f"/proc/self/fd/{name}").startswith("/memfd:typedbytes") else []
    return found
