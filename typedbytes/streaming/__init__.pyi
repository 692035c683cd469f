from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, Optional, Protocol, Union

from typedbytes.columns import Batch

__all__ = ["StopEarly", "Task", "counter", "run", "status", "task"]

_Pairs = Optional[Iterable[tuple[Any, Any]]]

class _Mapper(Protocol):
    def map(self, key: Any, value: Any, /) -> _Pairs: ...

class _Reducer(Protocol):
    def reduce(self, key: Any, values: Iterator[Any], /) -> _Pairs: ...

_BatchCall = Callable[[Batch], Any]
_MapCall = Union[Callable[[Any, Any], _Pairs], _BatchCall]
_ReduceCall = Union[Callable[[Any, Iterator[Any]], _Pairs], _BatchCall]
_MapJob = Union[_MapCall, _Mapper, type[_Mapper], type[_MapCall]]
_ReduceJob = Union[_ReduceCall, _Reducer, type[_Reducer], type[_ReduceCall]]

class StopEarly(Exception): ...

class Task:
    def __init__(self, environ: Mapping[str, str]) -> None: ...
    @property
    def job_id(self) -> Optional[str]: ...
    @property
    def task_id(self) -> Optional[str]: ...
    @property
    def attempt_id(self) -> Optional[str]: ...
    @property
    def is_map(self) -> Optional[bool]: ...
    @property
    def partition(self) -> Optional[int]: ...
    @property
    def input_file(self) -> Optional[str]: ...
    @property
    def input_start(self) -> Optional[int]: ...
    @property
    def input_length(self) -> Optional[int]: ...

def run(
    mapper: Optional[_MapJob] = None,
    reducer: Optional[_ReduceJob] = None,
    combiner: Optional[_ReduceJob] = None,
    *,
    batch: bool = False,
    argv: Optional[Sequence[str]] = None,
    read_options: Optional[Mapping[str, Any]] = None,
    write_options: Optional[Mapping[str, Any]] = None,
) -> NoReturn: ...
def counter(group: str, name: str, amount: int = 1) -> None: ...
def status(text: str) -> None: ...
def task() -> Task: ...
