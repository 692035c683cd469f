"""The environment of a task under Hadoop: its role, its formats and its number in the job.

Input is strings from the command line and the environment; output is plain values.
This file does not open, read or print anything, and does not know records.

Hadoop exports the whole job configuration with every character outside [0-9A-Za-z] turned into "_".
New releases set the names mapreduce_... beside the old mapred_... ones; the new name wins here.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

ROLES = ("map", "combine", "reduce")
NAMES = {"map": "mapper", "combine": "combiner", "reduce": "reducer"}  # of the code of each role
COMBINER_ALONE = (
    "combiner= needs reducer=: without reduce tasks no combiner is called; "
    "give a reducer too, or leave the combiner out"
)
FORMATS = ("typedbytes", "rawbytes", "text", "split")
PARAM = "typedbytes_param_"  # prefix of the variable that holds a parameter
STEP_LINE = "typedbytes: step: "  # prefix of the lines that `script steps` prints, one per step, followed by its roles
# how a script that is asked for its roles says on standard error why its job cannot start
REFUSAL_LINE = "typedbytes: refused: "
# A variable, whatever its value. `typedbytes run` starts the script with it, with the null device as input and output,
# to learn what its job has: run() then processes nothing, and says by its exit code whether there is code for the role,
# or on standard error which roles each step has.
ROLE_QUERY = "TYPEDBYTES_HAS_ROLE"
HASH_PARTITIONER = "org.apache.hadoop.mapred.lib.HashPartitioner"
TYPED_BYTES_WRITABLE = "org.apache.hadoop.typedbytes.TypedBytesWritable"
BINARY_PARTITIONER = "org.apache.hadoop.mapred.lib.BinaryPartitioner"
BYTES_COMPARATOR = "org.apache.hadoop.io.BytesWritable$Comparator"  # the default order


def check_functions(mapper: Any, reducer: Any, combiner: Any) -> None:
    """Raise TypeError for a map-only job with a combiner; other roles may be in other scripts."""
    if mapper is not None and combiner is not None and reducer is None:
        raise TypeError(COMBINER_ALONE)


class UsageError(Exception):
    """The command line or the environment does not say how to run the task."""


class ParameterError(UsageError, ValueError):
    """The parameters of a job are not those that it declares."""


class GroupingError(UsageError):
    """The keys of a job cannot be grouped by a part of them."""


class Captured(BaseException):
    """Ends a script that is asked in this process for its steps, where it would run a task."""

    wanted: str = ""  #: what is asked for: "steps" that run() gets, or the "job" of a front
    after: Callable[[dict[str, Any]], object] | None = None  #: called with the names of a script that ends without it

    def __init__(self, found: Any) -> None:
        super().__init__()
        self.found: Any = found


class TaskStart:
    """What run() calls before it starts a task, as hook(process_exit, may_combine).

    In a process that forks for each task it returns in these. may_combine: whether map tasks can run the combiner.
    """

    hook: Callable[[Any, bool], None] | None = None

    @classmethod
    def take_hook(cls) -> Callable[[Any, bool], None] | None:
        """Return the hook, once: a script may call run() again."""
        hook, cls.hook = cls.hook, None
        return hook


def _first(environ, *names):
    for name in names:
        if name in environ:
            return environ[name]
    return None


def _number(text):
    return None if text is None else int(text)


class Task:
    """The settings of the running task attempt, as Hadoop gives them; None for those it does not give."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    @property
    def job_id(self) -> str | None:
        """The job's id, such as ``job_1700000000000_0001``."""
        return _first(self._environ, "mapreduce_job_id", "mapred_job_id")

    @property
    def task_id(self) -> str | None:
        """The task's id, the same for each of its attempts."""
        return _first(self._environ, "mapreduce_task_id", "mapred_tip_id")

    @property
    def attempt_id(self) -> str | None:
        """The attempt's id; unique, so it is safe in the name of a file."""
        return _first(self._environ, "mapreduce_task_attempt_id", "mapred_task_id")

    @property
    def is_map(self) -> bool | None:
        """True in a map task, which includes its combiner, and False in a reduce task."""
        text = _first(self._environ, "mapreduce_task_ismap", "mapred_task_is_map")
        return None if text is None else text == "true"

    @property
    def partition(self) -> int | None:
        """The number of the task among the map tasks or the reduce tasks."""
        return _number(_first(self._environ, "mapreduce_task_partition", "mapred_task_partition"))

    @property
    def input_file(self) -> str | None:
        """The file a map task reads."""
        return _first(self._environ, "mapreduce_map_input_file", "map_input_file")

    @property
    def input_start(self) -> int | None:
        """The byte of the file at which the map task's split begins."""
        return _number(_first(self._environ, "mapreduce_map_input_start", "map_input_start"))

    @property
    def input_length(self) -> int | None:
        """The number of bytes in the map task's split."""
        return _number(_first(self._environ, "mapreduce_map_input_length", "map_input_length"))

    @property
    def output_folder(self) -> str | None:
        """The folder, path or URL, where the attempt's own files are kept until it has succeeded."""
        return _first(self._environ, "mapreduce_task_output_dir", "mapred_work_output_dir")

    @property
    def nreducers(self) -> int | None:
        """The number of reduce tasks of the job."""
        return _number(_first(self._environ, "mapreduce_job_reduces", "mapred_reduce_tasks"))

    @property
    def params(self) -> dict[str, str]:
        """The parameters of the job, by name: each a str, as --param NAME=VALUE of run and submit gives it."""
        nchars = len(PARAM)
        return {name[nchars:]: value for name, value in self._environ.items() if name.startswith(PARAM)}

    def params_as(self, kind: Any) -> Any:
        """Return the parameters as an instance of a class with annotated fields, such as a dataclass.

        Raises ValueError for a parameter that is missing, unknown or of another type.

        >>> from typing import NamedTuple
        >>> class Params(NamedTuple):
        ...     least: int = 1
        >>> Task({"typedbytes_param_least": "3"}).params_as(Params).least
        3
        """
        from typedbytes.streaming._params import read_params

        return read_params(kind, self.params)

    @property
    def step(self) -> int | None:
        """The number of the step, from 1, in a job of several."""
        return _number(_first(self._environ, "typedbytes_step"))

    def __repr__(self) -> str:
        names = [name for name, part in vars(Task).items() if isinstance(part, property)]
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"Task({values})"


def variable_of_property(name: str) -> str:
    """Return the variable in which a task finds a property.

    >>> variable_of_property("my.limit")
    'my_limit'
    """
    return "".join(each if each.isascii() and each.isalnum() else "_" for each in name)


def task() -> Task:
    """Return the settings of the running task attempt, as Hadoop gives them.

    >>> task().partition is None        # outside Hadoop
    True
    """
    return Task(os.environ)


def usage(argv: Sequence[str]) -> str:
    """Return how a job's script is started."""
    return f"usage: {argv[0]} map|combine|reduce, or: typedbytes run {os.path.basename(argv[0])} INPUT -o FOLDER"


def is_query() -> bool:
    """Return whether the process was started to say which roles the script has: with no input and no output.

    A variable that was left in the environment must not keep a task from its input.
    """
    if ROLE_QUERY not in os.environ:
        return False
    null = os.stat(os.devnull)
    try:
        return all(os.path.samestat(os.fstat(descriptor), null) for descriptor in (0, 1))
    except OSError:  # one of them is closed
        return False


def find_role(argv: Sequence[str], environ: Mapping[str, str], combines: bool = False) -> str:
    """Return the role named on the command line, or else the one in the environment.

    Raises UsageError when neither does. A combiner runs inside a map task and the environment does
    not distinguish it from the mapper, so a job that *combines* must name the role of its map tasks.
    """
    if len(argv) > 1:
        if argv[1] not in ROLES:
            raise UsageError(f"{argv[1]!r} is not a role")
        return argv[1]
    is_map = Task(environ).is_map
    if is_map is None:
        raise UsageError("no role given")
    if is_map and combines:
        raise UsageError("no role given, and the job has a combiner")
    return "map" if is_map else "reduce"


def find_step(nsteps: int, environ: Mapping[str, str]) -> int:
    """Return which step of the job to run, from 1; UsageError without a step that the job has."""
    task = Task(environ)
    number = 1 if task.step is None and (nsteps == 1 or not task.job_id) else task.step
    if number is None:
        raise UsageError(
            f"the job has {nsteps} steps: start it by typedbytes run or submit, or choose one by -D typedbytes.step=1"
        )
    if not 1 <= number <= nsteps:
        raise UsageError(f"there is no step {number} among the {nsteps} of the job")
    return number


def _side(role):
    # Hadoop runs a combiner with the reducer's settings.
    return "map" if role == "map" else "reduce"


def find_format(role: str, direction: str, environ: Mapping[str, str]) -> str:
    """Return the format of a role's "input" or "output", one of FORMATS.

    "split": the bytes of a whole split, SequenceFile or text. Hadoop sets the short name only when the job asked for
    one, and the name of its own class always; for a short name it does not know, it uses text. Outside Hadoop the
    answer is typed bytes. Raises UsageError for a class whose records we cannot exchange.
    """
    base = f"stream_{_side(role)}_{direction}"
    name = environ.get(base, "").lower()
    if name == "keyonlytext":  # Hadoop's name of lines without a value
        return "text"
    if name == "split" and role == "combine":  # a combiner has the reducer's settings, and writes for the sort
        return "typedbytes"
    if name in FORMATS:
        return name
    partner = {"input": "writer", "output": "reader"}[direction]
    class_name = environ.get(f"{base}_{partner}_class", "").rpartition(".")[2]
    if class_name:
        return _class_format(class_name, direction.capitalize() + partner.capitalize())
    return "text" if Task(environ).job_id else "typedbytes"


def _class_format(class_name, suffix):
    name = class_name[: -len(suffix)].lower()
    if not class_name.endswith(suffix) or name not in FORMATS:
        raise UsageError(f"unsupported record class {class_name}: use -io typedbytes, rawbytes or text")
    return name


def find_output(environ: Mapping[str, str]) -> str | None:
    """Return what tasks make of the pairs of the job's output: "values", "json", "csv", "parquet"; None: pairs."""
    return environ.get("typedbytes_output")


def find_by_key(environ: Mapping[str, str]) -> str | None:
    """Return the format of an output by key, which tasks write into folders themselves; None: the job has none."""
    return environ.get("typedbytes_output_by_key")


def find_parsed(role: str, environ: Mapping[str, str]) -> str | None:
    """Return what the values of a mapper's input are to be parsed as, "json" or "csv"; None: as nothing."""
    format_name = environ.get("typedbytes_input") if role == "map" else None
    return format_name if format_name in ("json", "csv") else None


def is_last(role: str, environ: Mapping[str, str]) -> bool:
    """Return whether a role's output is that of the job, or of its step."""
    return role == "reduce" or (role == "map" and Task(environ).nreducers == 0)


def has_combiner(environ: Mapping[str, str]) -> bool:
    """Return whether Hadoop runs a combiner of this job, or leaves it to the map tasks."""
    return bool(environ.get("stream_combine_streamprocessor")) or combines_alone(environ)


def is_local(environ: Mapping[str, str]) -> bool:
    """Return whether the job runs on one machine, where no task is ended for its silence."""
    return environ.get("mapreduce_framework_name") == "local"


def combines_alone(environ: Mapping[str, str]) -> bool:
    """Return whether the map tasks run the combiner, since Hadoop would give it the format of the job's output."""
    return environ.get("typedbytes_combines") == "true"


def find_separator(role: str, direction: str, environ: Mapping[str, str]) -> bytes:
    """Return the bytes between key and value in a line of text."""
    return os.fsencode(environ.get(f"stream_{_side(role)}_{direction}_field_separator") or "\t")


def has_text_keys(role: str, environ: Mapping[str, str]) -> bool:
    """Return whether lines of text input hold a key: Hadoop leaves out the offsets of plain text files."""
    if role != "map":
        return True
    ignored = environ.get("stream_map_input_ignoreKey")
    if ignored is not None:
        return ignored != "true"
    return environ.get("mapred_input_format_class", "TextInputFormat").rpartition(".")[2] != "TextInputFormat"


def count_key_fields(role: str, environ: Mapping[str, str]) -> int:
    """Return how many separated fields of a line of text input make up its key."""
    same = find_separator("map", "output", environ) == find_separator("reduce", "input", environ)
    if role == "map" or not same:
        return 1
    return int(environ.get("stream_num_map_output_key_fields", 1))


def find_key_ends(role: str, environ: Mapping[str, str], has_reducer: bool) -> set[tuple[bytes, int]]:
    """Return how the keys in a role's text output are found, as pairs of a separator and a number of fields.

    There are none for output that no reducer reads; has_reducer answers that outside Hadoop.
    """
    nreducers = Task(environ).nreducers
    is_read = role == "combine" or (role == "map" and (has_reducer if nreducers is None else nreducers > 0))
    if not is_read:
        return set()
    nfields = int(environ.get(f"stream_num_{_side(role)}_output_key_fields", 1))
    ends = {(find_separator(role, "output", environ), nfields)}  # by Hadoop
    try:
        if find_format("reduce", "input", environ) == "text":
            ends.add((find_separator("reduce", "input", environ), count_key_fields("reduce", environ)))
    except UsageError:
        pass  # records of a class that only the job's other scripts know
    return ends


def find_secondary(environ: Mapping[str, str]) -> int | None:
    """Return how many bytes at the end of a key do not choose the reducer, or None if the job has its own partitioner.

    Raises GroupingError for options of Hadoop's own partitioners, or of its sort, that are not supported.
    """
    partitioner = environ.get("mapred_partitioner_class", HASH_PARTITIONER)
    if partitioner not in (HASH_PARTITIONER, BINARY_PARTITIONER):
        return None
    comparator = _first(environ, "mapreduce_job_output_key_comparator_class", "mapred_output_key_comparator_class")
    if comparator not in (None, BYTES_COMPARATOR):
        raise GroupingError(
            f"group_by and partition_by need the comparator BytesWritable$Comparator, not {comparator}: leave out "
            "mapreduce.job.output.key.comparator.class, or, if the job's own keys already sort and partition "
            "correctly, name a partitioner (-partitioner)"
        )
    if partitioner == HASH_PARTITIONER:
        return 0
    left, right = (
        int(environ.get(f"mapreduce_partition_binarypartitioner_{side}_offset", end))
        for side, end in (("left", 0), ("right", -1))
    )
    if left or right >= 0:
        raise GroupingError(
            f"group_by and partition_by do not support BinaryPartitioner with the offsets {left} and {right}: "
            "leave out -partitioner"
        )
    return -right - 1
