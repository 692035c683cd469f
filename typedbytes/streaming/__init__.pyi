from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BufferedWriter
from typing import Any, NoReturn, Optional, Protocol, TypeVar, Union

from typedbytes.columns import Batch
from typedbytes.errors import TypedBytesError

__all__ = ["Step", "StopEarly", "Task", "TooManyBadRecords", "counter", "ping", "run", "side_file", "status", "task"]

_Params = TypeVar("_Params")
_Pairs = Optional[Iterable[tuple[Any, Any]]]

class _Mapper(Protocol):
    def map(self, key: Any, value: Any, /) -> _Pairs: ...

class _MapperOfAll(Protocol):
    def map(self, pairs: Iterator[tuple[Any, Any]], /) -> _Pairs: ...

class _Reducer(Protocol):
    def reduce(self, key: Any, values: Iterator[Any], /) -> _Pairs: ...

class _ReducerOfAll(Protocol):
    def reduce(self, groups: Iterator[tuple[Any, Iterator[Any]]], /) -> _Pairs: ...

_BatchCall = Callable[[Batch], Any]
_MapCall = Union[Callable[[Any, Any], _Pairs], Callable[[Iterator[tuple[Any, Any]]], _Pairs], _BatchCall]
_ReduceCall = Union[
    Callable[[Any, Iterator[Any]], _Pairs], Callable[[Iterator[tuple[Any, Iterator[Any]]]], _Pairs], _BatchCall
]
_MapJob = Union[_MapCall, _Mapper, _MapperOfAll, type[_Mapper], type[_MapperOfAll], type[_MapCall]]
_ReduceJob = Union[_ReduceCall, _Reducer, _ReducerOfAll, type[_Reducer], type[_ReducerOfAll], type[_ReduceCall]]

class StopEarly(Exception): ...
class TooManyBadRecords(TypedBytesError): ...

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
    @property
    def output_folder(self) -> Optional[str]: ...
    @property
    def nreducers(self) -> Optional[int]: ...
    @property
    def params(self) -> dict[str, str]: ...
    def params_as(self, kind: type[_Params]) -> _Params: ...
    @property
    def step(self) -> Optional[int]: ...

class Step:
    def __init__(
        self,
        mapper: Optional[_MapJob] = None,
        reducer: Optional[_ReduceJob] = None,
        combiner: Optional[_ReduceJob] = None,
        *,
        batch: bool = False,
        group_by: Optional[Callable[[Any], Any]] = None,
        max_bad: float = 0,
        read_options: Optional[Mapping[str, Any]] = None,
        write_options: Optional[Mapping[str, Any]] = None,
        reducers: Optional[int] = None,
        properties: Optional[Mapping[str, object]] = None,
        mapper_command: Optional[str] = None,
        combiner_command: Optional[str] = None,
        reducer_command: Optional[str] = None,
        raw_text: bool = False,
        inputs: Optional[Sequence[int]] = None,
    ) -> None: ...
    @property
    def roles(self) -> list[str]: ...

def run(
    mapper: Optional[_MapJob] = None,
    reducer: Optional[_ReduceJob] = None,
    combiner: Optional[_ReduceJob] = None,
    *,
    batch: bool = False,
    group_by: Optional[Callable[[Any], Any]] = None,
    max_bad: float = 0,
    argv: Optional[Sequence[str]] = None,
    read_options: Optional[Mapping[str, Any]] = None,
    write_options: Optional[Mapping[str, Any]] = None,
    steps: Optional[Sequence[Step]] = None,
    params: Optional[type] = None,
) -> NoReturn: ...
def counter(group: str, name: str, amount: int = 1) -> None: ...
def ping() -> None: ...
def side_file(name: str) -> BufferedWriter: ...
def status(text: str) -> None: ...
def task() -> Task: ...
