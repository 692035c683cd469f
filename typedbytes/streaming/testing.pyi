from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Optional

__all__ = ["call_map", "call_reduce", "counted", "run_job", "shuffle"]

_Pairs = list[tuple[Any, Any]]

def call_map(
    mapper: Any,
    pairs: Iterable[tuple[Any, Any]],
    *,
    input_file: Optional[str] = None,
    params: Optional[Mapping[str, str]] = None,
) -> _Pairs: ...
def call_reduce(
    reducer: Any,
    pairs: Iterable[tuple[Any, Any]],
    *,
    group_by: Optional[Callable[[Any], Any]] = None,
    params: Optional[Mapping[str, str]] = None,
) -> _Pairs: ...
def shuffle(pairs: Iterable[tuple[Any, Any]]) -> _Pairs: ...
def run_job(
    pairs: Iterable[tuple[Any, Any]],
    mapper: Any,
    reducer: Any = None,
    combiner: Any = None,
    *,
    group_by: Optional[Callable[[Any], Any]] = None,
    params: Optional[Mapping[str, str]] = None,
) -> _Pairs: ...
def counted() -> AbstractContextManager[dict[tuple[str, str], int]]: ...
