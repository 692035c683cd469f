"""The options of a runner in files: mrjob.conf, those that it includes, and those of -c.

Here: reading files, and what options of several mean together. Not here: those of the command line. Invariant: what is
wrong with a file ends the process with one line that names it.
"""

from __future__ import annotations

import json
import os
import sys

from typedbytes.fronts.mrjob.conf import ClearedValue, combine_dicts, combine_envs, combine_lists, combine_values
from typedbytes.fronts.mrjob.options import LISTS, REPEATED
from typedbytes.fronts.mrjob.util import expand_path

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["options_of_files"]

COMBINERS = {
    "cmdenv": combine_envs, "jobconf": combine_dicts, **dict.fromkeys([*LISTS, *REPEATED], combine_lists),
}  # fmt: skip


def options_of_files(alias: str, paths: list[str] | None) -> dict[str, Any]:
    """Return the options of a runner from mrjob.conf, or from the files in its place."""
    if paths is None:
        known = [os.environ.get("MRJOB_CONF"), "~/.mrjob.conf", "/etc/mrjob.conf"]
        paths = [path for path in map(expand_path, known) if path and os.path.exists(path)][:1]
    sources: list[dict[str, Any]] = []
    seen: set[str] = set()
    for path in reversed(paths):
        sources[:0] = _sources(expand_path(path), alias, seen)
    found = {name: _combined(name, sources) for name in dict.fromkeys(name for each in sources for name in each)}
    return {name: value for name, value in found.items() if value is not None}


def _combined(name, sources):
    """Return the value of an option in files, of which the last wins, or adds to those before."""
    values: list[Any] = []
    for value in (each[name] for each in sources if name in each):
        if isinstance(value, ClearedValue):
            values.clear()
            value = value.value
        values.append(value)
    return COMBINERS.get(name, combine_values)(*values)


def _sources(path, alias, seen):
    """Return the options of a file after those of the files that it includes; of a file that was seen there are none.

    What is named last is read first, so that it keeps its rank where another file includes it.
    """
    conf = _named(path, "it", _read(path))
    folder, name = os.path.split(os.path.realpath(path))
    if os.path.join(folder, name) in seen:
        return []
    seen.add(os.path.join(folder, name))
    own = _named(path, f"runners.{alias}", _named(path, "runners", conf.get("runners")).get(alias))
    found = [{name: _checked(path, name, value) for name, value in own.items()}]
    for each in reversed(_listed(path, "include", conf.get("include"))):
        found[:0] = _sources(os.path.join(folder, expand_path(each) or ""), alias, seen)
    return found


def _checked(path, name, value):
    """Return the value of an option; None in one with names removes a name."""
    if isinstance(value, ClearedValue):
        return ClearedValue(_checked(path, name, value.value))
    if name in ("cmdenv", "jobconf"):
        given = _named(path, name, value)
        return {each: ClearedValue(None) if text is None else text for each, text in given.items()}
    return _listed(path, name, value) if name in LISTS else value


def _named(path, name, value):
    if value is not None and not isinstance(value, dict):
        _refuse(path, f"{name} must have names with values, not {value!r:.80}")
    return value or {}


def _listed(path, name, value):
    found = combine_lists(value)
    if not all(isinstance(each, str) for each in found):
        _refuse(path, f"{name} must be a path or a list of them, not {value!r:.80}")
    return found


def _read(path):
    """Return what a file says in JSON or YAML."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, ValueError) as error:
        _refuse(path, getattr(error, "strerror", None) or error)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        try:
            import yaml  # type: ignore[import-untyped]
        except ModuleNotFoundError:
            sys.exit(f"{path} is YAML, which needs PyYAML: pip install pyyaml, or write it as JSON")
    try:
        return _with_clear_in_names(yaml.load(text, _loader(yaml)))
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        _refuse(path, f"it is neither JSON nor YAML: {problem}{f' in line {mark.line + 1}' if mark else ''}")


def _loader(yaml):
    """Return the safe loader of YAML that knows the tag !clear too."""

    def construct(reader, node):
        if isinstance(node, yaml.MappingNode):
            return ClearedValue(reader.construct_mapping(node, deep=True))
        if isinstance(node, yaml.SequenceNode):
            return ClearedValue(reader.construct_sequence(node, deep=True))
        return ClearedValue(yaml.safe_load(node.value))

    loader: Any = type("Loader", (yaml.SafeLoader,), {})  # the constructors of SafeLoader itself are those of all
    loader.add_constructor("!clear", construct)
    return loader


def _with_clear_in_names(item):
    """Return what YAML says with !clear at values alone: the name of one may have it, and in a list it says nothing."""
    if isinstance(item, ClearedValue):
        return ClearedValue(_with_clear_in_names(item.value))
    if isinstance(item, list):
        return [_with_clear_in_names(_uncleared(each)) for each in item]
    if not isinstance(item, dict):
        return item
    cleared = {
        key.value: ClearedValue(_uncleared(value)) for key, value in item.items() if isinstance(key, ClearedValue)
    }
    plain = {key: value for key, value in item.items() if not isinstance(key, ClearedValue)}
    return {key: _with_clear_in_names(value) for key, value in {**plain, **cleared}.items()}


def _uncleared(item):
    return item.value if isinstance(item, ClearedValue) else item


def _refuse(path: str, reason: object) -> NoReturn:
    """End the process with a message."""
    sys.exit(f"the configuration {path} cannot be read: {reason}")
