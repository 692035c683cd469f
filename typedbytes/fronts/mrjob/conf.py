"""What jobs call to combine options of their own with those of their base class."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["ClearedValue", "combine_dicts", "combine_envs", "combine_lists", "combine_values"]


def combine_values(*values: Any) -> Any:
    """Return the last value that is not None.

    >>> combine_values(1, 2, None)
    2
    """
    return next((value for value in reversed(values) if value is not None), None)


def combine_lists(*values: Any) -> list[Any]:
    """Return the items of all lists; other values than lists and tuples are items, and None is left out.

    >>> combine_lists(["a"], None, "b")
    ['a', 'b']
    """
    lists = [value if isinstance(value, (list, tuple)) else [value] for value in values if value is not None]
    return [item for items in lists for item in items]


def combine_dicts(*dicts: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return all entries of dicts, of which later ones win; None is left out, and a cleared None removes a name.

    >>> combine_dicts({"a": 1, "b": 2}, None, {"b": 3})
    {'a': 1, 'b': 3}
    """
    return _combined(dicts, lambda name, value, before: value)


def combine_envs(*environments: Mapping[str, str] | None) -> dict[str, str]:
    """Return variables as combine_dicts does, but with later paths before earlier ones, unless they are cleared.

    >>> combine_envs({"PATH": "/bin"}, {"PATH": "/my", "X": "1"})
    {'PATH': '/my:/bin', 'X': '1'}
    """
    return _combined(
        environments, lambda name, value, before: f"{value}:{before}" if name.endswith("PATH") and before else value
    )


def _combined(dicts, join):
    found: dict[str, Any] = {}
    for name, value in (item for each in dicts if each for item in each.items()):
        if isinstance(value, ClearedValue):
            found.pop(name, None)
            if value.value is None:
                continue
            value = value.value
        found[name] = join(name, value, found.get(name))
    return found


class ClearedValue:
    """A value with the tag !clear in mrjob.conf: those of the same name in the files before do not count."""

    def __init__(self, value: Any) -> None:
        self.value: Any = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClearedValue) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"ClearedValue({self.value!r})"
