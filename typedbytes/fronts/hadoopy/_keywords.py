"""The keywords of launch(), launch_frozen() and launch_local(): which there are, and what they mean to a Job.

Not here: running a job. Invariant: each is honoured, or has no effect on the records of a job, or is refused.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from typedbytes.fronts.hadoopy._files import has_hadoop
from typedbytes.fronts.refusals import MissingRequirement, NotSupported, UnknownKeyword
from typedbytes.jobs.properties import PARTITIONER_CLASS, REDUCERS

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["ASKED", "IDENTITY", "check_keywords", "check_requirements", "fields_of", "named"]

HONOURED = {
    "cmdenvs", "files", "hstreaming", "input_format", "jobconfs", "libjars", "name", "num_mappers", "num_reducers",
    "output_format", "partitioner", "python_cmd", "remove_output", "required_cmdenvs", "required_files",
    "use_autoinput", "use_seqoutput",
}  # fmt: skip
#: How the script gets to its tasks and is started there, for which a job of ours has its own way.
WITHOUT_EFFECT = {"add_python", "check_script", "copy_script", "make_executable", "pipe", "remove_ext", "script_dir"}
#: Keywords that have one value, and what to do about another.
FIXED = {
    "config": (None, "set HADOOP_CONF_DIR"),
    "poll": (None, "give the pairs as an iterator that waits"),
    "use_typedbytes": (True, "a script gets typed bytes"),
    "wait": (True, "start the driver in the background"),
}
OF_LAUNCH = {*HONOURED, *WITHOUT_EFFECT, *FIXED} - {"poll"}
KEYWORDS = {
    "launch": OF_LAUNCH,
    "launch_frozen": {*OF_LAUNCH, "cache", "frozen_tar_path", "temp_path"},
    "launch_local": {*OF_LAUNCH, "identity_mapper", "poll", "remove_tempdir"},
}
MAPPERS = "mapreduce.job.maps", "mapred.map.tasks"
#: The variable of a task whose script is to have the identity as its mapper.
IDENTITY = "hadoopy_identity_mapper"
#: The variable of a script that is asked for what it requires.
ASKED = "hadoopy_info"


def check_keywords(function: str, keywords: Mapping[str, Any]) -> None:
    """Raise an error for a keyword that a function does not have, or which cannot be honoured."""
    for name, value in keywords.items():
        if name not in KEYWORDS[function]:
            raise UnknownKeyword(f"{function}() has no keyword {name}: leave it out, or correct its name")
        only, cure = FIXED.get(name, (value, ""))
        if value != only:
            raise NotSupported(f"{name}={value!r:.80} is not supported: {cure}")
    partitioner = keywords.get("partitioner")
    if partitioner and (function == "launch_local" or not has_hadoop()):
        raise NotSupported(
            f"partitioner={partitioner!r:.80} is a Java class, which only Hadoop runs: leave it out here"
        )


def fields_of(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a Job for keywords."""
    for name in ("files", "cmdenvs", "jobconfs"):
        if isinstance(keywords.get(name), str):
            raise TypeError("files, jobconfs, and cmdenvs must be iterators of strings and not strings!")
    properties = named("jobconfs", keywords.get("jobconfs", ()))
    # As properties, they win over those that the script itself sets.
    for name, names in (("num_mappers", MAPPERS), ("num_reducers", REDUCERS)):
        if keywords.get(name) is not None and not any(each in properties for each in names):
            properties[names[0]] = str(keywords[name])
    if keywords.get("partitioner"):
        properties[PARTITIONER_CLASS] = keywords["partitioner"]
    return {
        "files": [*keywords.get("files", ())],
        "environment": named("cmdenvs", keywords.get("cmdenvs", ())),
        "properties": properties,
        "name": keywords.get("name") or "",
        "input_format": keywords.get("input_format") or ("auto" if keywords.get("use_autoinput", True) else "text"),
        "output_format": keywords.get("output_format")
        or ("sequencefile" if keywords.get("use_seqoutput", True) else "text"),
        "front": "hadoopy",
    }


def named(option: str, words: Any) -> dict[str, str]:
    """Return words NAME=VALUE as a dict, which may be given as one."""
    if isinstance(words, dict):
        return {str(name): str(value) for name, value in words.items()}
    words = [*words]
    for word in words:
        if "=" not in word:
            raise ValueError(f"{option} are words NAME=VALUE, not {word!r}")
    return dict(word.split("=", 1) for word in words)


def check_requirements(script: str, fields: Mapping[str, Any], keywords: Mapping[str, Any]) -> None:
    """Raise ValueError if a job lacks a file or a variable that its script requires, or the caller."""
    of_script = _information_about(script)
    lacks = []
    for kind, given in (("file", map(os.path.basename, fields["files"])), ("cmdenv", fields["environment"])):
        required = [*of_script.get(f"required_{kind}s", ()), *keywords.get(f"required_{kind}s", ())]
        if missing := sorted({*required} - {*given}):
            lacks.append(f"Missing required {kind}(s), give them by {kind}s=: {', '.join(missing)}")
    if lacks:
        raise MissingRequirement("; ".join(lacks))


def _information_about(script):
    """Return the keywords that a script gives to run(), if its text has any of what it requires: asking takes time."""
    try:
        with open(script, "rb") as file:
            if b"required_" not in file.read():
                return {}
    except OSError:  # what starts it says why
        return {}
    command = [sys.executable, "-m", "typedbytes.fronts", script, "info"]
    done = subprocess.run(command, env={**os.environ, ASKED: "1"}, stdin=subprocess.DEVNULL, capture_output=True)
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):  # it is of another kind, or fails, which its job says
        return {}
