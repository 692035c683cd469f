"""The properties of a job, by whichever of their names the engine has."""

from __future__ import annotations

import os
import re

from typedbytes.jobs.hadoop_properties import OLD_NAMES
from typedbytes.streaming.task_environment import variable_of_property

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: Names that only a running task has, and those of which tables of jobs have no need: the old ones by those of now.
_TASK_NAMES = {
    "map.input.file": "mapreduce.map.input.file",
    "map.input.length": "mapreduce.map.input.length",
    "map.input.start": "mapreduce.map.input.start",
    "mapred.cache.localArchives": "mapreduce.job.cache.local.archives",
    "mapred.cache.localFiles": "mapreduce.job.cache.local.files",
    "mapred.jar": "mapreduce.job.jar",
    "mapred.job.id": "mapreduce.job.id",
    "mapred.job.name": "mapreduce.job.name",
    "mapred.local.dir": "mapreduce.job.local.dir",
    "mapred.map.tasks": "mapreduce.job.maps",
    "mapred.task.id": "mapreduce.task.attempt.id",
    "mapred.task.is.map": "mapreduce.task.ismap",
    "mapred.task.partition": "mapreduce.task.partition",
    "mapred.tip.id": "mapreduce.task.id",
    "mapred.work.output.dir": "mapreduce.task.output.dir",
    "user.name": "mapreduce.job.user.name",
}


def jobconf_from_env(variable: str, default: Any = None) -> Any:
    """Return a property that a task finds in its environment, by any of its names."""
    names = map(variable_of_property, _names(variable))
    return next((os.environ[each] for each in names if each in os.environ), default)


def jobconf_from_dict(jobconf: Mapping[str, Any], name: str, default: Any = None) -> Any:
    """Return a property from a dict, by any of its names."""
    return next((jobconf[each] for each in _names(name) if each in jobconf), default)


def translate_jobconf(variable: str, version: str) -> str:
    """Return the name that a property has in a version of Hadoop."""
    old, now = _old_and_now(variable)
    numbers = _numbers(version)
    return now if numbers >= [2] or [0, 21] <= numbers < [1] else old


def translate_jobconf_for_all_versions(variable: str) -> list[str]:
    """Return all names of a property."""
    return sorted(_names(variable))


def translate_jobconf_dict(jobconf: Mapping[str, Any], hadoop_version: str | None = None) -> dict[str, Any]:
    """Return properties under their names in a version of Hadoop, or under all of them."""
    if hadoop_version:
        return {**jobconf, **{translate_jobconf(name, hadoop_version): value for name, value in jobconf.items()}}
    return {each: value for name, value in jobconf.items() for each in _names(name)}


def map_version(version: str, version_map: Any) -> Any:
    """Return the value of the newest version in a dict, or in a list of pairs, that is not newer than this one."""
    if not version_map:
        raise ValueError("version_map must not be empty")
    items = sorted(getattr(version_map, "items", lambda: version_map)(), key=lambda item: _numbers(item[0]))
    numbers = _numbers(version)
    return next((value for name, value in reversed(items) if _numbers(name) <= numbers), items[0][1])


def version_gte(version: str, cmp_version_str: str) -> bool:
    """Return whether a version is another or newer."""
    return _numbers(version) >= _numbers(cmp_version_str)


def uses_yarn(version: str) -> bool:
    """Return whether a version of Hadoop has YARN."""
    return version_gte(version, "2") or (version_gte(version, "0.23") and not version_gte(version, "1"))


def _numbers(version):
    if version is None:
        raise TypeError("a version of Hadoop is expected, not None")
    version = str(version)
    return [int(each) for each in re.findall("[0-9]+", version)]


def _old_and_now(name):
    for old, now in (*_TASK_NAMES.items(), *OLD_NAMES.items()):
        if name in (old, now):
            return old, now
    return name, name


def _names(name):
    return dict.fromkeys([name, *_old_and_now(name)])
