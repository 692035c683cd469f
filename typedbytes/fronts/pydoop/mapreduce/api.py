"""The classes that a job derives its own from, and the context that these are given."""

from __future__ import annotations

import json
import os

from typedbytes import streaming
from typedbytes.fronts.pydoop.mapreduce.emitted import EmittedPairs
from typedbytes.fronts.refusals import NotSupported
from typedbytes.streaming.task_environment import Task, variable_of_property

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = [
    "Closable", "Combiner", "Component", "Context", "Counter", "Factory", "JobConf", "Mapper", "Partitioner",
    "RecordReader", "RecordWriter", "Reducer",
]  # fmt: skip

NO_RECORD_IO = "record readers and writers in Python are not supported: write side files"
#: Variables whose names begin so have properties of Hadoop.
HADOOP = ("mapreduce_", "mapred_", "map_input_", "stream_", "dfs_", "fs_", "io_", "yarn_", "hadoop_")


class JobConf(dict[str, str]):
    """The properties of the job, by name.

    A task has them in its environment, where a name has no dots: its entries are those of the names that are known so,
    and of any other name it finds the value.
    """

    def __missing__(self, key: str) -> str:
        try:
            return os.environ[variable_of_property(key)]
        except KeyError:
            raise RuntimeError(f"the job has no property {key}: give it with -D {key}=VALUE") from None

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or variable_of_property(str(key)) in os.environ

    def get(self, key: str, default: Any = None) -> Any:
        """Return a property."""
        return self[key] if key in self else default  # noqa: SIM401, dict.get knows no __missing__

    def get_int(self, key: str, default: Any = None) -> Any:
        """Return a property as an int."""
        return int(self[key]) if key in self else default

    def get_float(self, key: str, default: Any = None) -> Any:
        """Return a property as a float."""
        return float(self[key]) if key in self else default

    def get_bool(self, key: str, default: Any = None) -> Any:
        """Return a property as a bool."""
        return self[key].lower() in ("true", "t", "1") if key in self else default

    def get_json(self, key: str, default: Any = None) -> Any:
        """Return a property that is JSON."""
        return json.loads(self[key]) if key in self else default


def known_properties(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the properties in the environment of a task: Hadoop's with their dots, any other as its variable is named.

    >>> known_properties({"mapreduce_job_reduces": "2", "my_limit": "3", "PATH": "/bin", "no_proxy": "localhost"})
    {'mapreduce.job.reduces': '2', 'my_limit': '3'}
    """
    return {
        name.replace("_", ".") if name.startswith(HADOOP) else name: value
        for name, value in environ.items()
        # Those of the system are in capitals, but for these few.
        if name != name.upper() and name.replace("_", "").isalnum() and not name.endswith("_proxy")
    }


class Counter:
    """A counter of the job."""

    def __init__(self, group: str, name: str) -> None:
        self.group: str = group
        self.name: str = name


class Context(EmittedPairs):
    """What a mapper or a reducer works on: a key with its value or values, and where its output goes."""

    def __init__(self) -> None:
        super().__init__()
        self.key: Any = None
        self.value: Any = None
        self.values: Any = None
        self.job_conf: JobConf = JobConf(known_properties(os.environ))

    def get_input_key(self) -> Any:
        """Return the key."""
        return self.key

    def get_input_value(self) -> Any:
        """Return the value."""
        return self.value

    def get_input_values(self) -> Any:
        """Return the values of the key."""
        return self.values

    def get_job_conf(self) -> JobConf:
        """Return the properties of the job."""
        return self.job_conf

    def progress(self) -> None:
        """Report that the task is alive."""
        streaming.ping()

    def set_status(self, status: str) -> None:
        """Report what the task does."""
        streaming.status(status)

    def get_counter(self, group: str, name: str) -> Counter:
        """Return a counter."""
        return Counter(group, name)

    def increment_counter(self, counter: Counter, amount: int) -> None:
        """Add an amount to a counter."""
        streaming.counter(counter.group, counter.name, amount)

    @property
    def input_split(self) -> Any:
        """The file that the task reads, with its offset and its length."""
        task = Task(os.environ)
        return _Split(task.input_file, task.input_start, task.input_length)


class _Split:
    """A part of a file."""

    def __init__(self, filename, offset, length):
        self.filename, self.offset, self.length = filename, offset, length


class Closable:
    """What is closed after the last record."""

    def close(self) -> Any:
        """Do what is left to do."""


class Component:
    """A part of a job, made by its factory for each task."""

    def __init__(self, context: Any) -> None:
        self.context = context


class Mapper(Component, Closable):
    """A mapper: map(context) is called for each record."""


class Reducer(Component, Closable):
    """A reducer: reduce(context) is called for each key."""


class Combiner(Reducer):
    """A combiner: reduce(context) is called for each key of a part of the pairs."""


class Partitioner(Component):
    """Chooses the reduce task of a key."""

    def partition(self, key: Any, num_of_reduces: int) -> int:
        """Return the number of the task, from 0; another number than that of a task fails the job."""
        raise NotImplementedError


class RecordReader(Component, Closable):
    """What breaks an input into records, which is not supported here: a class that is not used may derive from it."""

    def __init__(self, context: Any) -> None:
        raise NotSupported(NO_RECORD_IO)


class RecordWriter(RecordReader):
    """What writes records into a file, which is not supported here."""


class Factory:
    """Makes the parts of a job."""

    def create_mapper(self, context: Any) -> Any:
        """Return the mapper of a task."""
        raise NotImplementedError

    def create_reducer(self, context: Any) -> Any:
        """Return the reducer of a task, None if the job has none."""
        return None

    def create_combiner(self, context: Any) -> Any:
        """Return the combiner of a task, None if the job has none."""
        return None

    def create_partitioner(self, context: Any) -> Any:
        """Return the partitioner of a task, None for Hadoop's hash."""
        return None

    def create_record_reader(self, context: Any) -> Any:
        """Return None: what breaks an input into records is not in Python."""
        return None

    def create_record_writer(self, context: Any) -> Any:
        """Return None: what writes records is not in Python."""
        return None
