"""Steps of a job."""

from __future__ import annotations

from typedbytes.fronts.mrjob.util import cmd_line

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, ClassVar

INPUT, OUTPUT, GENERIC_ARGS = "<input>", "<output>", "<generic args>"

ROLES = "mapper", "combiner", "reducer"
_OF_ROLE: dict[str, tuple[str, ...]] = {
    role: (role, f"{role}_init", f"{role}_final", f"{role}_cmd", f"{role}_pre_filter") for role in ROLES
}
_OF_ROLE["mapper"] += ("mapper_raw",)
FUNCTIONS = tuple(name for names in _OF_ROLE.values() for name in names)


class StepFailedException(Exception):
    """A step of a job has failed; step_num counts from 0."""

    def __init__(
        self, reason: str | None = None, step_num: int | None = None, num_steps: int | None = None,
        step_desc: str | None = None, last_step_num: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(reason)
        self.reason: str | None = reason
        self.step_num: int | None = step_num
        self.num_steps: int | None = num_steps
        self.step_desc: str | None = step_desc
        self.last_step_num: int | None = None if last_step_num == step_num else last_step_num

    def __str__(self) -> str:
        what = self.step_desc
        if what is None and self.step_num is not None:
            last = "" if self.last_step_num is None else f"-{self.last_step_num + 1}"
            what = f"Step{'s' if last else ''} {self.step_num + 1}{last}"
            what += f" of {self.num_steps}" if self.num_steps else ""
        return f"{what or 'Step'} failed{f': {self.reason}' if self.reason else ''}"

    def __repr__(self) -> str:
        names = "reason", "step_num", "num_steps", "step_desc"
        given = ", ".join(f"{each}={getattr(self, each)!r}" for each in names if getattr(self, each) is not None)
        return f"StepFailedException({given})"


def identity_mapper(key: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a pair as it is."""
    yield key, value


def identity_reducer(key: Any, values: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each pair as it is."""
    for value in values:
        yield key, value


class MRStep:
    """A mapper, a combiner and a reducer, each with what comes before and after it, and the properties of the step."""

    def __init__(self, **kwargs: Any) -> None:
        for name in sorted(kwargs):
            if name not in (*FUNCTIONS, "jobconf"):
                raise TypeError(f"MRStep() got an unexpected keyword argument {name!r}")
        if not set(kwargs) & set(FUNCTIONS):
            raise ValueError("Step has no mappers and no reducers")
        self._steps: dict[str, Any] = {**dict.fromkeys((*FUNCTIONS, "jobconf")), **kwargs}
        for role in ROLES:
            self._refuse(f"{role}_cmd", _OF_ROLE[role])
        self._refuse("mapper_raw", ("mapper", "mapper_pre_filter"))

    def _refuse(self, name, others):
        for other in others:
            if other != name and self._steps[name] and self._steps[other]:
                raise ValueError(f"Can't specify both {name} and {other}")

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._steps.items() if value is not None)
        return f"MRStep({given})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MRStep) and self._steps == other._steps

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __getitem__(self, name: str) -> Any:
        found = self._steps[name]
        if found is None and name == "mapper":
            return identity_mapper
        if found is None and name in ("reducer", "combiner") and self.has(name):
            return identity_reducer
        return found

    def has(self, role: str) -> bool:
        """Return whether anything of a role was given."""
        return any(self._steps[name] for name in _OF_ROLE[role])

    @property
    def has_explicit_mapper(self) -> bool:
        """Whether anything of the mapper was given."""
        return self.has("mapper")

    @property
    def has_explicit_combiner(self) -> bool:
        """Whether anything of the combiner was given."""
        return self.has("combiner")

    @property
    def has_explicit_reducer(self) -> bool:
        """Whether anything of the reducer was given."""
        return self.has("reducer")

    def command(self, role: str) -> str | None:
        """Return the command that is the code of a role, as a line for a shell."""
        command = self._steps[f"{role}_cmd"]
        return command if command is None or isinstance(command, str) else cmd_line(command)

    def pre_filter(self, role: str) -> str | None:
        """Return the command through which the lines of a role go first."""
        return self._steps[f"{role}_pre_filter"]

    def description(self, step_num: int = 0) -> dict[str, Any]:
        """Return the step as plain values."""
        found: dict[str, Any] = {"type": "streaming"}
        for role in ROLES:
            if self.has(role) or (role == "mapper" and (step_num == 0 or self.has("combiner"))):
                command, pre_filter = self.command(role), self.pre_filter(role)
                found[role] = {"type": "command", "command": command} if command else {"type": "script"}
                if pre_filter and not command:
                    found[role]["pre_filter"] = pre_filter
        if self._steps["mapper_raw"]:
            found["input_manifest"] = True
        if self._steps["jobconf"]:
            found["jobconf"] = self._steps["jobconf"]
        return found


class _UnsupportedStep:
    """A step that is not of Python on Hadoop Streaming: it can be described, and is refused when the job runs."""

    kind: str = ""
    names: str = ""
    spark: Any

    def __init__(self, **kwargs: Any) -> None:
        for name in self.names.split():
            default: Any = [] if name in ("args", "spark_args") else {} if name == "jobconf" else None
            setattr(self, name, kwargs.pop(name, default))
        types: dict[str, Any] = {
            "args": (list, tuple), "spark_args": (list, tuple), "jobconf": dict, "jar": str, "script": str,
            "main_class": (str, type(None)),
        }  # fmt: skip
        for name, kind in types.items():
            if hasattr(self, name) and not isinstance(getattr(self, name), kind):
                raise TypeError(f"{name} is not of the type that a step takes: {getattr(self, name)!r}")
        if "spark" in self.names.split() and not callable(self.spark):
            raise TypeError(f"spark is not callable: {self.spark!r}")
        if kwargs:
            raise TypeError(f"{type(self).__name__}() got unexpected keyword arguments: {', '.join(sorted(kwargs))}")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(self) == vars(other)

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def description(self, step_num: int = 0) -> dict[str, Any]:
        """Return the step as plain values."""
        return {"type": self.kind, **{name: getattr(self, name) for name in self.names.split() if name != "spark"}}


class JarStep(_UnsupportedStep):
    """A step that is a jar."""

    kind: str = "jar"
    names: str = "jar args jobconf main_class"

    def __init__(self, jar: str, **kwargs: Any) -> None:
        super().__init__(jar=jar, **kwargs)


class SparkStep(_UnsupportedStep):
    """A step of Spark's own API."""

    kind: str = "spark"
    names: str = "spark jobconf spark_args"

    def __init__(self, spark: Any, **kwargs: Any) -> None:
        super().__init__(spark=spark, **kwargs)


class SparkJarStep(_UnsupportedStep):
    """A step that is a jar for Spark."""

    kind: str = "spark_jar"
    names: str = "jar main_class args jobconf spark_args"

    def __init__(self, jar: str, main_class: str, **kwargs: Any) -> None:
        super().__init__(jar=jar, main_class=main_class, **kwargs)


class SparkScriptStep(_UnsupportedStep):
    """A step that is a script for Spark."""

    kind: str = "spark_script"
    names: str = "script args jobconf spark_args"

    def __init__(self, script: str, **kwargs: Any) -> None:
        super().__init__(script=script, **kwargs)
