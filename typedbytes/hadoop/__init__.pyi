from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, Optional

from typedbytes.errors import TypedBytesError

__all__ = [
    "Done", "JobFailedError", "Plan", "SubmitError", "bundle", "check", "command_of", "dataproc", "emr",
    "jobs_of", "read_output", "submit",
]  # fmt: skip

class SubmitError(TypedBytesError): ...

class JobFailedError(SubmitError):
    report: list[str]
    code: int
    def __init__(self, message: str, report: Sequence[str] = (), code: int = 1) -> None: ...

class Plan:
    script: str
    inputs: list[str]
    output: str
    nreducers: Optional[int]
    combiner: Optional[bool]
    secondary: int
    input_format: str
    output_format: str
    name: str
    python: str
    bundle: Optional[str]
    files: list[str]
    archives: list[str]
    properties: dict[str, str]
    environment: dict[str, str]
    params: dict[str, Any]
    python_versions: list[str]
    arguments: list[str]
    steps: list[list[str]]
    feed: Optional[Literal["splits", "pairs"]]
    feed_jar: Optional[str]
    def __init__(
        self,
        script: str,
        inputs: list[str],
        output: str,
        nreducers: Optional[int] = None,
        combiner: Optional[bool] = None,
        secondary: int = 0,
        input_format: str = "auto",
        output_format: str = "sequencefile",
        name: str = "",
        python: str = "python3",
        bundle: Optional[str] = None,
        files: list[str] = ...,
        archives: list[str] = ...,
        properties: dict[str, str] = ...,
        environment: dict[str, str] = ...,
        params: dict[str, Any] = ...,
        python_versions: list[str] = ...,
        arguments: list[str] = ...,
        steps: list[list[str]] = ...,
        feed: Optional[Literal["splits", "pairs"]] = None,
        feed_jar: Optional[str] = None,
    ) -> None: ...
    def words(self) -> list[str]: ...
    def parts(self) -> list[tuple[str, str]]: ...
    def property_parts(self) -> list[tuple[str, str]]: ...
    def all_properties(self) -> dict[str, str]: ...
    def own_properties(self) -> dict[str, str]: ...
    def other_parts(self) -> list[tuple[str, str]]: ...
    def shell(self, *start: str) -> str: ...

class Done:
    job_id: Optional[str]
    counters: dict[str, dict[str, int]]
    output: str
    steps: tuple[Done, ...]
    def __init__(self, job_id: Optional[str], counters: dict[str, dict[str, int]], output: str, steps: tuple[Done, ...] = ()) -> None: ...

def bundle(
    target: str,
    *,
    modules: Sequence[str] = (),
    wheels: Sequence[str] = (),
    requirements: Sequence[str] = (),
    python_versions: Sequence[str] = (),
    platforms: Sequence[str] = (),
    find_links: Sequence[str] = (),
    say: Callable[[str], Any] = ...,
) -> int: ...
def jobs_of(plan: Plan) -> list[Plan]: ...
def check(plan: Plan, say: Callable[[str], Any] = ...) -> Plan: ...
def command_of(jar: Optional[str] = None, environ: Mapping[str, str] = ...) -> list[str]: ...
def dataproc(plan: Plan, staging: str, cluster: str, region: str, jar: str = ...) -> tuple[dict[str, Any], list[str]]: ...
def emr(plan: Plan, staging: str, cluster: str) -> tuple[list[dict[str, Any]], list[str]]: ...
def read_output(path: str, environ: Mapping[str, str] = ...) -> Iterator[tuple[Any, Any]]: ...
def submit(plan: Plan, *, jar: Optional[str] = None, say: Callable[[str], Any] = ...) -> Done: ...
