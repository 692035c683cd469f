"""The memory of this process, as the kernel counts it or as Python's allocators do.

Invariant: importing this brings no pytest, whose memory would count.
"""

import tracemalloc


def resident(name):
    """Return a number of the process's memory, in bytes: VmRSS for that of now, VmHWM for the most there was.

    What getrusage reports as the most begins with that of the process's parent.
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
