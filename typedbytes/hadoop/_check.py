"""Check a job before it is submitted: its script, what that imports, the files to ship, and its bundle.

Here: what a plan leaves open is taken from the script and the inputs; whether Java can read the command line. Not here:
processes, except that of a script with steps, which is asked for them. Invariant: a job that could not run raises
SubmitError before anything is sent.
"""

from __future__ import annotations

import os
from dataclasses import replace

from typedbytes._base.locations import is_url
from typedbytes.hadoop._bundle import differences, versions_in
from typedbytes.hadoop._input_formats import find_format
from typedbytes.hadoop._python_version import check_python
from typedbytes.hadoop._split_plugin import with_feed
from typedbytes.jobs.errors import CommandError, OptionError, SubmitError
from typedbytes.jobs.fronts import FRONTS
from typedbytes.jobs.modules import is_importable, local_modules, third_party
from typedbytes.jobs.script import NO_SCRIPT, find_steps_by_reading, refuse_own_job
from typedbytes.jobs.source import Source
from typedbytes.jobs.steps import with_settings

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from typedbytes.hadoop._plan import Plan

__all__ = ["check", "check_shipped", "check_words"]


def check(plan: Plan, say: Callable[[str], object] = lambda line: None) -> Plan:
    """Return the plan with what its script and inputs decide: files, reducers, combiner, format.

    Raises SubmitError for a job that cannot run.

    The modules beside the script are added to its files. `say` is called with a line for each requirement that
    only the nodes can meet.
    """
    refuse_own_job(plan.script)
    input_format = find_format(plan.input_format, plan.inputs, say)
    if is_url(plan.script):
        return with_feed(replace(plan, input_format=input_format), say)
    if not os.path.isfile(plan.script):
        raise CommandError(NO_SCRIPT.format(plan.script))
    if not plan.front and not Source(plan.script).calls_any_run:
        say(f"{plan.script} does not call run(...): its tasks may succeed and write nothing")
    check_shipped(plan)
    check_python(plan, say)
    inside = _modules_in(plan.bundle)
    files, others = local_modules(plan.script, inside)
    for path in [*files, *(path for path in plan.files if path.endswith(".py") and not is_url(path))]:
        if _module_of(path) in inside:
            _check_same(path, plan.bundle)
    files = [path for path in files if _module_of(path) not in inside]
    shipped = {_module_of(path) for path in plan.files}
    fronts = set(FRONTS) if plan.front else set()
    for name in sorted(set(third_party(others)) - shipped - inside - fronts):
        if not is_importable(name):
            raise SubmitError(
                f"{plan.script} imports {name}, which is neither beside it nor installed here: correct the name, "
                "ship the file with --ship, or put the package into the bundle with --module or --require"
            )
        say(f"the nodes must have the module {name}, or a bundle that holds it (--require {name})")
    files = [*plan.files, *(path for path in files if path not in plan.files)]
    return with_feed(_with_roles(plan, say, input_format=input_format, files=files), say)


def check_shipped(plan: Plan) -> None:
    """Raise OptionError for a file, archive or bundle that is not there."""
    for path in [*plan.files, *plan.archives, *([plan.bundle] if plan.bundle else [])]:
        name = path.partition("#")[0]
        if not is_url(name) and not os.path.exists(name):
            advice = f": make it with typedbytes bundle {name}" if path == plan.bundle else ""
            raise OptionError(f"there is no file {name} to ship with the job{advice}")


def check_words(words: Iterable[str]) -> None:
    """Raise SubmitError for words of a command line that Java, which decodes them by the locale, cannot read."""
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or "C"
    strange = [word for word in words if not word.isascii()]
    if strange and locale in ("C", "POSIX"):  # Python itself uses UTF-8 then
        raise SubmitError(
            f"Hadoop's Java cannot read {strange[0]!r} in the locale {locale}: export LC_ALL=C.UTF-8, "
            "or another with UTF-8"
        )


def _with_roles(plan, say, **changes):
    """Return the plan with these changes, and with what the roles of its script decide."""
    steps = find_steps_by_reading(plan, say)
    nreducers, _ = plan.asked_reducers
    if nreducers is None:
        nreducers = int(any("reduce" in roles for roles in steps))
    combiner = any("combine" in roles for roles in steps) if plan.combiner is None else plan.combiner
    changes.update(nreducers=nreducers, combiner=combiner)
    if len(steps) > 1:
        return replace(plan, **changes, steps=steps)
    return with_settings(plan, steps[0].settings, **changes, steps=[])


def _modules_in(path):
    if not path or is_url(path):
        return set()
    import zipfile

    versions_in(path)  # raises SubmitError for a file that is not a bundle
    with zipfile.ZipFile(path) as archive:
        parts = [name.split("/") for name in archive.namelist()]
    inside = {part[1] for part in parts if len(part) > 1 and part[0].startswith("cp")}
    return {name.partition(".")[0] for name in inside | {part[0] for part in parts}}


def _module_of(path):
    return os.path.basename(path).partition(".")[0]


def _check_same(path, bundle):
    # If a module is in the bundle and beside the script, tasks import the one in the bundle.
    names = differences(bundle, path)
    if names:
        raise SubmitError(
            f"{names[0]} in the bundle {bundle} differs from {path}, and the tasks would import the bundle's: "
            f"make it again with typedbytes bundle --module {path} {bundle}, or rename one"
        )
