import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Optional, Union

from typedbytes.streaming import Step

__all__ = ["call_map", "call_reduce", "counted", "run_job", "run_script", "shuffle"]

_Pairs = list[tuple[Any, Any]]

def call_map(
    mapper: Any,
    pairs: Iterable[tuple[Any, Any]],
    *,
    input_file: Optional[str] = None,
    params: Optional[Mapping[str, object]] = None,
) -> _Pairs: ...
def call_reduce(
    reducer: Any,
    pairs: Iterable[tuple[Any, Any]],
    *,
    group_by: Optional[Callable[[Any], Any]] = None,
    params: Optional[Mapping[str, object]] = None,
) -> _Pairs: ...
def shuffle(pairs: Iterable[tuple[Any, Any]]) -> _Pairs: ...
def run_job(
    pairs: Iterable[tuple[Any, Any]],
    mapper: Any = None,
    reducer: Any = None,
    combiner: Any = None,
    *,
    group_by: Optional[Callable[[Any], Any]] = None,
    params: Optional[Mapping[str, object]] = None,
    steps: Optional[Sequence[Step]] = None,
) -> _Pairs: ...
def run_script(
    script: Union[str, os.PathLike[str]],
    pairs: Iterable[tuple[Any, Any]],
    arguments: Sequence[str] = (),
    *,
    params: Optional[Mapping[str, object]] = None,
) -> _Pairs: ...
def counted() -> AbstractContextManager[dict[tuple[str, str], int]]: ...
