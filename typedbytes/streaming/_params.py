"""Parameters of a job as a class of its own: each with a type, perhaps a default, and a line of help.

Here: texts by name as an instance of the class. Not here: how parameters reach a task. Invariant: a job whose
parameters do not fit ends before it reads any input.
"""

from __future__ import annotations

from typedbytes.errors import DecodeError
from typedbytes.streaming.task_environment import ParameterError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["help_of", "read_params"]


def read_params(kind: Any, texts: Mapping[str, str]) -> Any:
    """Return an instance of a class of parameters; raises ParameterError for texts that do not fit it.

    >>> import typing
    >>> class Params(typing.NamedTuple):
    ...     least: int = 1
    >>> read_params(Params, {"least": "3"}), read_params(Params, {})
    (Params(least=3), Params(least=1))
    """
    from typedbytes.streaming.formats.parsed import reader_of_texts

    fields = _fields(kind)
    names = [field.key for field in fields]
    for name in texts:
        if name not in names:
            raise ParameterError(f"the job has no parameter {name}: its parameters are {', '.join(names) or 'none'}")
    for field in fields:
        if field.required and field.key not in texts:
            raise ParameterError(
                f"the parameter {field.key} is missing: give --param {field.key}=VALUE, of type {field.node.shown}"
            )
    try:
        return reader_of_texts(kind)(texts)
    except DecodeError as error:
        name = error.path.removeprefix(".")
        said = f"the parameter {name}={texts[name]}" if name in texts else "the parameters"
        raise ParameterError(f"{said}: {error.message}") from None


def help_of(kind: Any) -> str:
    """Return what the help of a script says of its parameters.

    >>> import typing
    >>> class Params(typing.NamedTuple):
    ...     day: str
    ...     least: int = 1
    >>> print(help_of(Params))
    parameters, as --param NAME=VALUE of typedbytes run and submit:
      day    str, required
      least  int (1)
    """
    from typedbytes._records.model import MISSING

    fields = _fields(kind)
    width = max([len(field.key) for field in fields], default=0)
    texts, lines = _texts_of(kind), []
    for field in fields:
        said = f": {texts[field.name]}" if texts.get(field.name) else ""
        default = f" ({field.default})" if field.default is not MISSING else ""
        lines.append(f"  {field.key:{width}}  {field.node.shown}{said}{', required' if field.required else default}")
    return "\n".join(["parameters, as --param NAME=VALUE of typedbytes run and submit:", *lines])


def _fields(kind):
    from typedbytes._records import resolve

    node = resolve(kind)
    if node.kind != "record":
        raise TypeError(f"params must be a class with annotated fields, such as a dataclass, not {kind!r}")
    return node.record.fields


def _texts_of(kind):
    """Return the texts that Annotated has for fields."""
    import typing

    hints = typing.get_type_hints(kind, include_extras=True)
    return {
        name: next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, str)), "")
        for name, hint in hints.items()
    }
