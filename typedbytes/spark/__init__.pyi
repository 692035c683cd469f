from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Optional, Union

from typedbytes.local import Result

__all__ = ["read", "register", "run_script"]

_Path = Union[str, PathLike[str]]

def register(spark: Any) -> None: ...
def read(spark: Any, path: str, schema: Any = None, **options: Any) -> Any: ...
def run_script(
    spark: Any,
    script: _Path,
    arguments: Sequence[str] = (),
    *,
    inputs: Union[_Path, Iterable[_Path], Iterable[tuple[Any, Any]]],
    output: _Path,
    reducers: Optional[int] = None,
    combiner: Optional[bool] = None,
    output_format: Literal["sequencefile", "pairs", "text"] = "sequencefile",
    input_format: Literal["auto", "text", "pairs", "sequencefile"] = "auto",
    secondary: int = 0,
    split_size: Optional[int] = None,
    params: Optional[Mapping[str, Any]] = None,
    environ: Optional[Mapping[str, object]] = None,
    properties: Optional[Mapping[str, object]] = None,
    files: Iterable[_Path] = (),
    archives: Iterable[_Path] = (),
    keep_failed: bool = False,
    quiet: bool = False,
) -> Result: ...
