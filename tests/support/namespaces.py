"""A system that has neither /proc nor /dev/shm, as macOS: a mount namespace takes both away from a process and its children."""

import os
import shutil
import subprocess

import pytest

_NAMESPACE = ["unshare", "--mount", *(["--user", "--map-root-user"] if os.geteuid() else [])]

#: What starts a command so; the process ID stays that of the command.
WITHOUT_PROC = [*_NAMESPACE, "sh", "-c", 'mount -t tmpfs -o ro none /proc && mount -t tmpfs -o ro none /dev/shm && exec "$@"', "sh"]

NEEDS_NAMESPACES = pytest.mark.skipif(
    not shutil.which("unshare") or subprocess.run([*_NAMESPACE, "true"], capture_output=True).returncode != 0,
    reason="needs a mount namespace of its own",
)
