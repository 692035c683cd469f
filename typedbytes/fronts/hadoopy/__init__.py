"""The names of hadoopy, by typedbytes: scripts that end with run(...), and drivers that launch them.

Paths are Hadoop's where its command is found, and those of this machine elsewhere; so are the jobs.
"""

from __future__ import annotations

import os
import tempfile

from typedbytes.fronts.hadoopy._files import (
    abspath,
    cp,
    exists,
    get,
    has_hadoop,
    isdir,
    isempty,
    ls,
    mkdir,
    mv,
    put,
    readtb,
    rmr,
    stat,
    writetb,
    writetb_parts,
)  # fmt: skip
from typedbytes.fronts.hadoopy._records import GroupedValues, Test, TypedBytesFile, counter, status

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "GroupedValues", "Test", "TypedBytesFile", "abspath", "counter", "cp", "exists", "get", "isdir", "isempty",
    "launch", "launch_frozen", "launch_local", "ls", "mkdir", "mv", "put", "readtb", "rmr", "run", "stat", "status",
    "writetb", "writetb_parts",
]  # fmt: skip


def run(mapper: Any = None, reducer: Any = None, combiner: Any = None, **kw: Any) -> bool:
    """Run the task for which an engine has started the script; print doc= and return True where none has."""
    import sys

    from typedbytes import streaming
    from typedbytes.fronts.started import is_started_by_engine
    from typedbytes.streaming import lib

    words = [word for word in sys.argv if word != "pipe"]
    if is_started_by_engine(words):
        codes = (mapper or lib.identitymapper, reducer, combiner if reducer else None)
        streaming.run(steps=[streaming.Step(*codes)], argv=words[:2])
    if kw.get("doc"):
        print(kw["doc"])
    return True


def launch(in_name: Any, out_name: str, script_path: str, **kw: Any) -> dict[str, Any]:
    """Run the job of a script and return a dict whose "output" is an iterator of its pairs. Raises JobError."""
    fields = _fields_of(kw)
    inputs = [in_name] if isinstance(in_name, str) else list(in_name)
    if kw.get("remove_output"):
        rmr(out_name)
    if has_hadoop():
        _submit(script_path, inputs, out_name, fields, kw)
    else:
        _run_here(script_path, inputs, out_name, fields)
    return {"output": readtb(out_name) if kw.get("use_seqoutput", True) else iter(())}


def launch_frozen(in_name: Any, out_name: str, script_path: str, **kw: Any) -> dict[str, Any]:
    """Do the same: a job always has what its tasks need of this package with it."""
    return launch(in_name, out_name, script_path, **kw)


def launch_local(
    in_name: Any, out_name: str | None, script_path: str, max_input: int | None = None, **kw: Any
) -> dict[str, Any]:
    """Run the job of a script on this machine, also on pairs in memory; out_name: None to write no output."""
    from itertools import islice

    from typedbytes._base.locations import written_parts
    from typedbytes.files import PairReader

    is_path = isinstance(in_name, str) or (
        isinstance(in_name, (list, tuple)) and in_name and isinstance(in_name[0], str)
    )
    pairs: Any = readtb(in_name) if is_path and max_input is not None else in_name
    inputs: Any = pairs if max_input is None else islice(iter(pairs), max_input)
    with tempfile.TemporaryDirectory(prefix="hadoopy-") as folder:
        target = os.path.join(folder, "output")
        _run_here(script_path, inputs, target, {**_fields_of(kw), "output_format": "pairs"})
        found = []
        for path in written_parts(target):
            with PairReader(path) as reader:
                found += list(reader)
    if out_name is not None:
        writetb(out_name, found)
    return {"output": iter(found)}


def _fields_of(kw):
    """Return the fields of a Job for hadoopy's keywords."""
    for name in ("files", "cmdenvs", "jobconfs"):
        if isinstance(kw.get(name), str):
            raise TypeError("files, jobconfs, and cmdenvs must be iterators of strings and not strings!")
    reducers = kw.get("num_reducers")
    return {
        "files": [*kw.get("files", ())],
        "environment": _named("cmdenvs", kw.get("cmdenvs", ())),
        "properties": _named("jobconfs", kw.get("jobconfs", ())),
        "name": kw.get("name") or "",
        "nreducers": reducers,
        "output_format": "sequencefile" if kw.get("use_seqoutput", True) else "text",
        "front": "hadoopy",
    }


def _named(option, words):
    if isinstance(words, dict):
        return dict(words)
    words = [*words]
    for word in words:
        if "=" not in word:
            raise ValueError(f"{option} are words NAME=VALUE, not {word!r}")
    return dict(word.split("=", 1) for word in words)


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
        if kw.get("output_format"):
            fields["output_format"] = kw["output_format"]
        if kw.get("input_format"):
            fields["input_format"] = kw["input_format"]
        python = {} if kw.get("python_cmd", "python") == "python" else {"python": kw["python_cmd"]}
        plan = hadoop.Plan(
            script, inputs, output, bundle=bundle, libjars=[*kw.get("libjars", ())], **python, **fields
        )  # fmt: skip
        hadoop.submit(plan, jar=kw.get("hstreaming"))
