"""What jobs call to combine options of their own with those of their base class."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["combine_dicts", "combine_envs", "combine_lists", "combine_values"]


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
    """Return all entries of dicts, of which later ones win; None is left out.

    >>> combine_dicts({"a": 1, "b": 2}, None, {"b": 3})
    {'a': 1, 'b': 3}
    """
    return {name: value for each in dicts if each for name, value in each.items()}


def combine_envs(*environments: Mapping[str, str] | None) -> dict[str, str]:
    """Return variables as combine_dicts does, but with later paths before earlier ones.

    >>> combine_envs({"PATH": "/bin"}, {"PATH": "/my", "X": "1"})
    {'PATH': '/my:/bin', 'X': '1'}
    """
    found: dict[str, str] = {}
    for name, value in (item for each in environments if each for item in each.items()):
        is_path = name.endswith("PATH") and found.get(name)
        found[name] = f"{value}:{found[name]}" if is_path else value
    return found
