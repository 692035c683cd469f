"""Running the task of a factory, or of a module of functions."""

from __future__ import annotations

import sys
from itertools import count
from operator import index

from typedbytes import dumps, partition, streaming
from typedbytes.fronts.pydoop.mapreduce import api
from typedbytes.fronts.refusals import NoSuchTask, NotSupported
from typedbytes.streaming.task_environment import task

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

__all__ = ["Factory", "run_module", "run_task"]


class Factory(api.Factory):
    """Makes the parts of a job of their classes."""

    def __init__(
        self, mapper_class: Any, reducer_class: Any = None, combiner_class: Any = None, partitioner_class: Any = None,
        record_writer_class: Any = None, record_reader_class: Any = None,
    ) -> None:  # fmt: skip
        if record_reader_class or record_writer_class:
            raise NotSupported(api.NO_RECORD_IO)
        self._classes = mapper_class, reducer_class, combiner_class, partitioner_class

    def create_mapper(self, context: Any) -> Any:
        """Return the mapper of a task."""
        return self._classes[0](context)

    def create_reducer(self, context: Any) -> Any:
        """Return the reducer of a task, None if the job has none."""
        return self._classes[1](context) if self._classes[1] else None

    def create_combiner(self, context: Any) -> Any:
        """Return the combiner of a task, None if the job has none."""
        return self._classes[2](context) if self._classes[2] else None

    def create_partitioner(self, context: Any) -> Any:
        """Return the partitioner of a task, None for Hadoop's hash."""
        return self._classes[3](context) if self._classes[3] else None


def run_task(factory: Any, **options: Any) -> None:
    """Run the task for which an engine has started the script; options of pydoop's own streams are ignored."""
    context = api.Context()
    _refuse_record_io(factory, context)
    has_reducer = factory.create_reducer(context) is not None
    has_combiner = has_reducer and factory.create_combiner(context) is not None
    partitioner = factory.create_partitioner(context)
    mapper: Any = _Code(factory.create_mapper, "map")
    reducer: Any = _Code(factory.create_reducer, "reduce") if has_reducer else None
    combiner: Any = _Code(factory.create_combiner, "reduce") if has_combiner else None
    if partitioner is not None and reducer is not None:
        reducer.partition_by = _Partition(partitioner)
    streaming.run(steps=[streaming.Step(mapper, reducer, combiner)], argv=sys.argv[:2])


def _refuse_record_io(factory, context):
    """Raise NotSupported if a factory makes a record reader or writer: no engine would call it."""
    for name in ("create_record_reader", "create_record_writer"):
        try:
            made = getattr(factory, name, lambda context: None)(context)
        except Exception as error:  # it looks for what only a record reader has
            raise NotSupported(api.NO_RECORD_IO) from error
        if made is not None:
            raise NotSupported(api.NO_RECORD_IO)


def run_module(names: dict[str, Any]) -> None:
    """Run the task of a script by its names: __main__(), or functions mapper, reducer and combiner."""
    if callable(names.get("__main__")):
        names["__main__"]()
        return
    mapper, reducer, combiner = (names.get(name) for name in ("mapper", "reducer", "combiner"))
    group = names.get("__name__", "pydoop")
    codes: list[Any] = [function and _Functions(function, role, group) for function, role in (
        (mapper, "map"), (reducer, "reduce"), (combiner if reducer else None, "reduce"),
    )]  # fmt: skip
    streaming.run(steps=[streaming.Step(*codes)], argv=sys.argv[:2])


class _Partition:
    """The part of a key, which the hash of Hadoop sends to the reduce task that a partitioner says.

    Engines take no number of a task: they take the hash of a part, the same everywhere. So the parts are integers, the
    first for each task whose encoded bytes have a hash with its number.
    """

    def __init__(self, partitioner: Any) -> None:
        self._partition = partitioner.partition
        self._parts: dict[int, int] = {}
        self._integers = count()

    def __call__(self, key: Any) -> int:
        ntasks = task().nreducers or 1
        if ntasks == 1:  # Hadoop asks no partitioner then
            return 0
        number = index(self._partition(key, ntasks))
        if not 0 <= number < ntasks:
            raise NoSuchTask(
                f"partition() returned {number} for the key {key!r:.80}: it must be from 0 to {ntasks - 1}"
            )
        while number not in self._parts:
            part = next(self._integers)
            self._parts.setdefault(partition(dumps(part), ntasks), part)
        return self._parts[number]


class _Code:
    """A mapper or a reducer of a factory as user code: called once, with all records."""

    partition_by: Any

    def __init__(self, create: Callable[[Any], Any], method: str) -> None:
        self._create, self._method = create, method
        setattr(self, method, self._process)

    def _process(self, records: Iterator[Any]) -> Iterator[Any]:
        context = api.Context()
        try:
            made = self._create(context)
            process = getattr(made, self._method)
            for key, value in records:
                context.key = key
                if self._method == "map":
                    context.value = value
                else:
                    context.values = value
                process(context)
                yield from context.pop_all()
            close = getattr(made, "close", None)
            if close is not None:
                close()
            yield from context.pop_all()
        finally:
            context.close()


class _Functions(_Code):
    """A function of a key, a value or values, a writer, and maybe the properties of the job."""

    def __init__(self, function: Any, method: str, group: str) -> None:
        super().__init__(lambda context: _Called(function, context, group), method)


class _Called:
    """A function in the place of a mapper or a reducer."""

    def __init__(self, function, context, group):
        self._function, self._writer = function, _Writer(context, group)
        self._conf = (context.job_conf,) if function.__code__.co_argcount == 4 else ()

    def map(self, context):
        self._function(context.key, context.value, self._writer, *self._conf)

    def reduce(self, context):
        self._function(context.key, context.values, self._writer, *self._conf)


class _Writer:
    """What functions write by."""

    def __init__(self, context, group):
        self.emit, self.status, self.progress = context.emit, context.set_status, context.progress
        self._group = group

    def count(self, what, howmany):
        """Add an amount to a counter."""
        streaming.counter(self._group, what, howmany)
