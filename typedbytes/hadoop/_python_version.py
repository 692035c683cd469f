"""Whether a bundle fits the Python of the nodes, as far as it is known here.

Not here: what is in a bundle. Invariant: a job whose nodes are said to run a Python that its bundle is not
for is refused before it starts; the nodes themselves are not asked.
"""

import os
import re
import shutil
import subprocess

from typedbytes._base.locations import is_url
from typedbytes.hadoop._bundle import versions_in
from typedbytes.jobs.errors import SubmitError
from typedbytes.jobs.messages import option_named

__all__ = ["check_python"]

VERSION_SCRIPT = "import sys; print('%d.%d' % sys.version_info[:2])"
TIMEOUT_SECONDS = 20


def check_python(plan, say):
    """Raise SubmitError if the bundle is for another Python than the nodes'; `say` what they need if unknown."""
    if not plan.bundle or is_url(plan.bundle):
        return
    versions = versions_in(plan.bundle)
    if not versions:
        return  # that Python has no compiled module of ours
    wanted = " or ".join(sorted(versions, key=lambda version: int(version.partition(".")[2])))
    given = {version: f"the nodes run Python {version}" for version in plan.python_versions}
    reasons = given or _version_of(plan.python)
    if not versions.issuperset(reasons):
        version = sorted(reasons.keys() - versions)[0]
        raise SubmitError(
            f"the bundle {os.path.basename(plan.bundle)} is for Python {wanted}, and {reasons[version]}: "
            "have one made for the nodes with "
            + option_named("python_versions", [version])
            + ", or name their Python by "
            + option_named("python")
            + " and "
            + option_named("python_versions")
        )
    if not reasons:
        say(
            f"the nodes must have Python {wanted} as {plan.python}: if they have another, "
            "give its version with --python-version"
        )


def _version_of(python):
    """Return the version of a Python with how it is known, as a dict; an empty one if it is not known."""
    named = re.search(r"python(3\.\d+)$", python)
    if named:
        return {named[1]: f"--python is {python}"}
    path = shutil.which(python)
    if path is None:
        return {}
    try:
        done = subprocess.run(
            [path, "-I", "-S", "-c", VERSION_SCRIPT],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    found = re.fullmatch(r"(3\.\d+)\n", done.stdout)
    return {found[1]: f"{path} here is Python {found[1]}"} if found else {}
