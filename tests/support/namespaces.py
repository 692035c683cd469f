"""Mount namespaces: file systems of a process and its children alone; one as macOS, without /proc and /dev/shm."""

import os
import subprocess

import pytest

from support.subprocess_runs import program

#: What starts a command that may mount file systems, which no other process sees.
NAMESPACE = [program("unshare"), "--mount", *(["--user", "--map-root-user"] if os.geteuid() else [])]

#: The same without /proc and /dev/shm; the process ID stays that of the command.
WITHOUT_PROC = [
    *NAMESPACE,
    "sh",
    "-c",
    'mount -t tmpfs -o ro none /proc && mount -t tmpfs -o ro none /dev/shm && exec "$@"',
    "sh",
]

NEEDS_NAMESPACES = pytest.mark.skipif(
    subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode != 0,
    reason="this system lets the user have no mount namespace",
)


def needs_no_proc(test):
    """Mark a test that runs something by WITHOUT_PROC."""
    return NEEDS_NAMESPACES(pytest.mark.unsanitized("AddressSanitizer reads /proc")(test))
