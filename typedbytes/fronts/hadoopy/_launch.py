"""Starting the job of a script: on Hadoop where its command is found, else on this machine."""

from __future__ import annotations

import os
import sys
import tempfile

from typedbytes.fronts.hadoopy._files import has_hadoop, readtb, rmr, writetb
from typedbytes.fronts.hadoopy._keywords import ASKED, IDENTITY, check_keywords, check_requirements, fields_of

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["launch", "launch_frozen", "launch_local"]


def launch(in_name: Any, out_name: str, script_path: str, **kw: Any) -> dict[str, Any]:
    """Run the job of a script and return a dict whose "output" is an iterator of its pairs.

    Raises JobError; ValueError for a file or a variable that is required and missing; NotSupported.
    """
    return _launch("launch", in_name, out_name, script_path, kw)


def launch_frozen(in_name: Any, out_name: str, script_path: str, **kw: Any) -> dict[str, Any]:
    """Do the same: a job always has what its tasks need of this package with it."""
    return _launch("launch_frozen", in_name, out_name, script_path, kw)


def _launch(function, in_name, out_name, script, kw):
    if ASKED in os.environ:
        sys.exit(f"{script} launches a job where it is asked what it requires")
    check_keywords(function, kw)
    fields = fields_of(kw)
    check_requirements(script, fields, kw)
    inputs = [in_name] if isinstance(in_name, str) else list(in_name)
    if kw.get("remove_output"):
        rmr(out_name)
    if has_hadoop():
        _submit(script, inputs, out_name, fields, kw)
    else:
        _run_here(script, inputs, out_name, fields)
    return {"output": readtb(out_name) if kw.get("use_seqoutput", True) else iter(())}


def launch_local(
    in_name: Any, out_name: str | None, script_path: str, max_input: int | None = None, **kw: Any
) -> dict[str, Any]:
    """Run the job of a script on this machine, also on pairs in memory; out_name: None to write no output.

    identity_mapper: True for the identity in the place of the script's mapper.
    """
    from itertools import islice

    from typedbytes._base.locations import written_parts
    from typedbytes.files import PairReader

    check_keywords("launch_local", kw)
    fields = {**fields_of(kw), "input_format": "auto", "output_format": "pairs"}
    if kw.get("identity_mapper"):
        fields["environment"][IDENTITY] = "1"
    is_path = isinstance(in_name, str) or (
        isinstance(in_name, (list, tuple)) and in_name and isinstance(in_name[0], str)
    )
    pairs: Any = readtb(in_name) if is_path and max_input is not None else in_name
    inputs: Any = pairs if max_input is None else islice(iter(pairs), max_input)
    with tempfile.TemporaryDirectory(prefix="hadoopy-") as folder:
        target = os.path.join(folder, "output")
        _run_here(script_path, inputs, target, fields)
        found = []
        for path in written_parts(target):
            with PairReader(path) as reader:
                found += list(reader)
    if out_name is not None:
        writetb(out_name, found)
    return {"output": iter(found)}


def _run_here(script, inputs, output, fields):
    from typedbytes import local
    from typedbytes.jobs.job import Job

    os.makedirs(os.path.dirname(os.path.abspath(output)), exist_ok=True)
    local.run_job(Job(script, inputs, output, quiet=True, **fields))


def _submit(script, inputs, output, fields, kw):
    from typedbytes import hadoop

    with tempfile.TemporaryDirectory(prefix="hadoopy-") as folder:
        bundle = os.path.join(folder, "typedbytes-bundle.zip")
        hadoop.bundle(bundle)
        python = {} if kw.get("python_cmd", "python") == "python" else {"python": kw["python_cmd"]}
        plan = hadoop.Plan(
            script, inputs, output, bundle=bundle, libjars=[*kw.get("libjars", ())], **python, **fields
        )  # fmt: skip
        hadoop.submit(plan, jar=kw.get("hstreaming"))
