"""Jobs in unit tests: mappers, combiners and reducers called as a task calls them, on lists of pairs.

    call_map(mapper, pairs)             the pairs that a mapper makes of pairs
    call_reduce(reducer, pairs)         the pairs that a reducer or a combiner makes of sorted pairs
    shuffle(pairs)                      the pairs in the order in which they reach a reducer
    run_job(pairs, mapper, reducer)     a whole job, also of several steps
    run_script(script, pairs)           the job of a script, with its steps and options
    counted()                           the counters counted inside a with block

Every pair is encoded and decoded, as on Hadoop: a tuple stays a tuple, a NumPy scalar does not stay one. Record classes
in annotations have the same meaning; what comes back is of the types in the return annotation. Hadoop itself, its
processes and files are not here: ``typedbytes run`` has those.

>>> from typedbytes.streaming import lib
>>> run_job([(0, "b a"), (4, "b")], lambda key, line: [(word, 1) for word in line.split()], lib.sumreducer)
[('a', 1), ('b', 2)]
"""

import os
import sys
from contextlib import contextmanager

from typedbytes import Decoder, Encoder, PairReader, dumps
from typedbytes._core import RecordGroups
from typedbytes.streaming import _reporter
from typedbytes.streaming._user_code import Step, StopEarly, UserCode, pairs_of, record_types
from typedbytes.streaming.capture import captured
from typedbytes.streaming.formats.record_io import checked_pair
from typedbytes.streaming.task_environment import PARAM

__all__ = ["call_map", "call_reduce", "counted", "run_job", "run_script", "shuffle"]


def __dir__():
    return __all__


INPUT_FILE = "mapreduce_map_input_file"
STEP_NUMBER = "typedbytes_step"


def call_map(mapper, pairs, *, input_file=None, params=None):
    """Return the pairs that a mapper, a function, object or class as for run(), makes of pairs.

    `input_file` is the value of task().input_file during the call, and `params` are the parameters in task().params.

    >>> call_map(lambda key, value: [(value, key)], [("a", 1)])
    [(1, 'a')]
    """
    variables = _variables(params)
    if input_file is not None:
        variables[INPUT_FILE] = input_file
    with _environment(variables):
        return _decoded(*_called("map", mapper, _encoded(pairs)))


def call_reduce(reducer, pairs, *, group_by=None, params=None):
    """Return the pairs that a reducer or a combiner makes of pairs, grouped by adjacent equal keys.

    `group_by` is that of run(), and `params` are the parameters in task().params.

    >>> call_reduce(lambda key, values: [(key, sum(values))], [("a", 1), ("a", 2), ("b", 3)])
    [('a', 3), ('b', 3)]
    """
    with _environment(_variables(params)):
        return _decoded(*_called("reduce", reducer, _encoded(pairs), group_by))


def shuffle(pairs):
    """Return the pairs sorted by their encoded keys, as Hadoop sorts them; pairs of one key keep their order.

    >>> shuffle([("oslo", 1), ("rom", 2), (-1, 3), (1, 4)])
    [(1, 4), (-1, 3), ('rom', 2), ('oslo', 1)]
    """
    return Decoder().decode_pairs(_sorted(_encoded(pairs)))


def run_job(pairs, mapper=None, reducer=None, combiner=None, *, group_by=None, params=None, steps=None):
    """Return the pairs that a job of one map task and one reduce task makes of pairs.

    `group_by` is that of run(), and `params` are the parameters in task().params. `steps`, in the place of functions,
    is a list of Step, as run() takes it: each gets the pairs that the one before made.

    >>> run_job([(0, 5), (1, 7)], lambda key, value: [("all", value)], lambda key, values: [(key, max(values))])
    [('all', 7)]
    """
    if steps is None:
        steps = [Step(mapper, reducer, combiner, group_by=group_by)]
    elif mapper is not None or reducer is not None or combiner is not None or group_by is not None:
        raise TypeError("steps have functions and options of their own: leave out those of run_job()")
    data, types = _encoded(pairs), {}
    for number, step in enumerate(steps, 1):
        with _environment({**_variables(params), STEP_NUMBER: str(number)} if len(steps) > 1 else _variables(params)):
            data, types = _run_step(step, data)
    return _decoded(data, types)


def run_script(script, pairs, arguments=(), *, params=None):
    """Return the pairs that the job of a script makes of pairs, all in this process: breakpoints work.

    The script calls run(); arguments are the words that follow the role. Its counters are those of counted().
    """
    words = [os.fspath(script), "map", *arguments]
    before = sys.argv, sys.modules["__main__"], sys.path[:]
    try:
        with _environment(_variables(params)):
            steps = captured(*words[:1], words[1:])
            sys.argv = words
            return run_job(pairs, params=params, steps=steps)
    finally:
        sys.argv, sys.modules["__main__"], sys.path[:] = before


def _run_step(step, data):
    """Return the encoded pairs that a step makes of encoded pairs, and the types of its annotations."""
    mapper, combiner, reducer = (step.functions[role] for role in ("map", "combine", "reduce"))
    group_by = step.options.group_by
    if mapper is None:
        raise TypeError("a job needs a mapper: lib.identitymapper passes pairs on")
    data, types = _called("map", mapper, data)
    if combiner is not None:
        data, types = _called("reduce", combiner, _sorted(data))
    if reducer is None:
        return data, types
    data = _sorted(data)
    if group_by is not None:
        decode = Decoder(type=record_types("reduce", reducer)[0].get("key_type")).decode
        data = _sorted(data, lambda key: dumps(group_by(decode(key))))
    return _called("reduce", reducer, data, group_by)


@contextmanager
def counted():
    """Return a context manager whose dict has, after the block, what it counted by (group, name).

    >>> from typedbytes.streaming import counter
    >>> with counted() as amounts:
    ...     counter("words", "seen", 2)
    >>> amounts
    {('words', 'seen'): 2}
    """
    amounts = {}
    before, _reporter.counters = _reporter.counters, _reporter.CounterBuffer()
    try:
        yield amounts
    finally:
        amounts.update(_reporter.counters.pop_unsent())
        _reporter.counters = before


def _called(role, user_function, data, group_by=None):
    """Return the encoded pairs that user code makes of encoded pairs, and the types that its annotations give them."""
    user_code = UserCode(role, user_function)
    reading, writing = user_code.record_types()
    records = PairReader(data, **reading)
    if role == "reduce":
        records = records.groups() if group_by is None else RecordGroups(records, group_by)
    output = []
    try:
        user_code.start()
        if user_code.takes_all:
            returned = [user_code.process(records)]
        else:
            returned = (user_code.process(key, value) for key, value in records)
        for pairs in returned:
            for pair in pairs_of(pairs):  # one by one: StopEarly keeps those before it
                output.append(checked_pair(pair))
        records._check_end()
    except StopEarly:
        pass
    output += map(checked_pair, user_code.end())
    return Encoder(**writing).encode_pairs(output), writing


def _sorted(data, rank=lambda key: key):
    """Return encoded pairs in the order of their encoded keys, or of what a function makes of these."""
    raw = sorted(PairReader(data, raw=True), key=lambda pair: rank(pair[0]))
    return b"".join(item for pair in raw for item in pair)


def _encoded(pairs):
    return Encoder().encode_pairs(pairs)


def _decoded(data, types):
    return Decoder(**types).decode_pairs(data)


def _variables(params):
    return {PARAM + name: str(value) for name, value in (params or {}).items()}


@contextmanager
def _environment(variables):
    before = {name: os.environ.get(name) for name in variables}
    try:
        os.environ.update(variables)
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
