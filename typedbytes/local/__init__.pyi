from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple, Optional, TypedDict, Union

from typing_extensions import Unpack

from typedbytes.errors import TypedBytesError

__all__ = ["CommandError", "InputError", "JobError", "OutputError", "Result", "run", "run_script"]

_Path = Union[str, PathLike[str]]
_Code = Union[Callable[..., Any], type, str, Sequence[_Path]]

MIN_MEMORY: int
INPUT_FORMATS: tuple[str, ...]
OUTPUT_FORMATS: tuple[str, ...]

class JobError(TypedBytesError):
    tail: list[str]
    kept: Optional[str]
    def __init__(self, message: str, tail: Sequence[str] = ()) -> None: ...

class CommandError(JobError): ...
class InputError(JobError): ...
class OutputError(JobError): ...

class Result(NamedTuple):
    output: str
    counters: Mapping[str, Mapping[str, int]]
    nmaps: int
    nreducers: int
    seconds: float
    steps: tuple[Result, ...] = ()

class _Options(TypedDict, total=False):
    output_format: Literal["sequencefile", "pairs", "text"]
    input_format: Literal["auto", "text", "pairs", "sequencefile"]
    secondary: int
    split_size: Optional[int]
    processes: Optional[int]
    memory: int
    tmp: Optional[_Path]
    codec: Literal["none", "zlib", "lz4", "zstd"]
    attempts: int
    keep_failed: bool
    params: Optional[Mapping[str, object]]
    environ: Optional[Mapping[str, object]]
    properties: Optional[Mapping[str, object]]
    files: Sequence[_Path]
    archives: Sequence[_Path]
    quiet: bool
    progress: Optional[Callable[[Literal["map", "reduce"], int, int], Any]]

def run(
    mapper: _Code,
    reducer: Optional[_Code] = None,
    combiner: Optional[_Code] = None,
    *,
    inputs: Union[_Path, Iterable[_Path], Iterable[tuple[Any, Any]]],
    output: _Path,
    reducers: int = 1,
    name: Optional[str] = None,
    **options: Unpack[_Options],
) -> Result: ...
def run_script(
    script: _Path,
    arguments: Sequence[str] = (),
    *,
    inputs: Union[_Path, Iterable[_Path], Iterable[tuple[Any, Any]]],
    output: _Path,
    reducers: Optional[int] = None,
    combiner: Optional[bool] = None,
    name: Optional[str] = None,
    **options: Unpack[_Options],
) -> Result: ...
