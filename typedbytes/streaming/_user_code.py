"""What a job gives to run(): its steps with their options, and user code as three calls: configure, process, close.

User code may be a function, an object, or a class to instantiate. The methods of an object are looked up first and
called elsewhere, so that an AttributeError inside user code is never taken for a missing method.
"""

import io
import os

from typedbytes.errors import TypedBytesError
from typedbytes.streaming.task_environment import NAMES, STEP_LINE, UsageError, check_functions, is_last


class StopEarly(Exception):
    """Raise in a mapper or reducer to end the task successfully before the end of its input.

    Pairs yielded before are kept and close() is called. The rest of the input is read and discarded, unchecked,
    because Hadoop fails a task that leaves input unread.
    """

    def __init__(self, *args):  # inspect.signature finds none in a compiled base
        super().__init__(*args)


class TooManyBadRecords(TypedBytesError):
    """More records were bad than `max_bad` allows."""


COLUMN_OPTIONS = ("nulls", "null_value", "structs")
METHODS = {"map": "map", "combine": "reduce", "reduce": "reduce"}
CO_VARARGS = 4  # of inspect, whose import takes longer than a short task


class Step:
    """One step of a job: a mapper, a reducer, a combiner and their options, as of run(), and options of its own.

    - reducers: the number of its reduce tasks; properties: those of -D. Both are for this step alone, and win over the
      job's.
    - mapper_command, combiner_command, reducer_command: lines for a shell. A command alone is the code of the role;
      beside a function or a class it is a filter before it. Commands read and write lines, a key, a TAB and a value, as
      under Hadoop Streaming; a mapper's lines of text have no key. Where a command stands between map and reduce, all
      keys and values there are text, sorted by their bytes.
    - raw_text: whether lines of a text input are bytes, as they are, not str.
    - inputs: the numbers of the earlier steps whose output the step reads, from 1; 0 is the input of the job; by
      default it is the step before.

    >>> from typedbytes.streaming import lib
    >>> Step(lambda key, value: [(value, 1)], lib.sumreducer, reducers=1).roles
    ['map', 'reduce']
    >>> Step(mapper_command="grep -i error").roles
    ['map']
    """

    def __init__(
        self,
        mapper=None,
        reducer=None,
        combiner=None,
        *,
        batch=False,
        group_by=None,
        max_bad=0,
        read_options=None,
        write_options=None,
        reducers=None,
        properties=None,
        mapper_command=None,
        combiner_command=None,
        reducer_command=None,
        raw_text=False,
        inputs=None,
    ):
        commands = {"map": mapper_command, "combine": combiner_command, "reduce": reducer_command}
        self.functions = {"map": mapper, "combine": combiner, "reduce": reducer}
        if any(command is not None for command in commands.values()):
            from typedbytes.streaming.commands import with_commands

            is_plain = not (batch or max_bad or group_by or hasattr(reducer, "partition_by"))
            self.functions = with_commands(self.functions, commands, is_plain)
            raw_text = True if mapper_command is not None else raw_text
        mapper, combiner, reducer = self.functions.values()
        check_functions(mapper, reducer, combiner)
        self.settings = settings_of(reducers, properties, raw_text, reducer is not None, inputs)
        for role, function in self.functions.items():
            if not (function is None or callable(function) or hasattr(function, METHODS[role])):
                raise TypeError(
                    f"{NAMES[role]} is {function!r}, which is not a function and has no method {METHODS[role]}()"
                )
        self.options = RunOptions(
            batch, group_by, max_bad, read_options, write_options, getattr(reducer, "partition_by", None)
        )
        # of each role, what its annotations mean: options of PairReader and of PairWriter
        self._types = {role: ({}, {}) if batch else record_types(role, self.functions[role]) for role in METHODS}
        if max_bad:
            for role, function in self.functions.items():
                # the method of a class is known when it has been called
                if not (function is None or isinstance(function, type)):
                    UserCode(role, function).for_each_record()

    def options_of(self, role):
        """Return the options of PairReader and of PairWriter for a role: those given to run() win over annotations."""
        reading, writing = self._types[role]
        return {**reading, **self.options.read_options}, {**writing, **self.options.write_options}

    def check_formats(self, role, input_format, output_format):
        """Raise UsageError if a task's records are not in the form that its code needs."""
        native = {"typedbytes", "split"}
        exchanged = {input_format} if is_last(role, os.environ) else {input_format, output_format}
        if self.options.batch and not exchanged <= native:
            exchange = f"{input_format} as input and {output_format} as output"
            raise UsageError(f"batch=True needs typed bytes as input and between tasks; this task has {exchange}")
        if self._types[role][0] and input_format not in native:
            raise UsageError(
                f"the {NAMES[role]} has a parameter of a record class, which needs typed bytes as input; "
                f"this task has {input_format}"
            )

    @property
    def roles(self):
        """The roles that the step has code for."""
        return [role for role, function in self.functions.items() if function is not None]


def may_combine(step):
    """Return whether a map task of a step can run the combiner itself."""
    options = step.options
    return "combine" in step.roles and not (options.batch or options.max_bad or options.part_of)


def check_steps(steps, others):
    """Raise TypeError if the steps of a job are not a list of at least one Step.

    others: a Step made of the other arguments of run(), which must be the defaults.
    """
    has_others = others.roles or vars(others.options) != vars(Step().options)
    if has_others or not hasattr(steps, "__getitem__") or not len(steps):
        raise TypeError(
            "steps must be a list of at least one Step(...), without other arguments of run(): "
            "give each option to its Step"
        )
    for number, step in enumerate(steps, 1):
        if not isinstance(step, Step):
            raise TypeError(f"steps must hold Step(mapper, reducer, combiner, ...) objects, not {step!r}")
        if any(not 0 <= source < number for source in step.settings.get("inputs", ())):
            raise ValueError(f"step {number} reads only earlier steps, from 1, or 0, not {step.settings['inputs']}")


def step_line(step):
    """Return the line with which a script answers what a step of its job has: its roles, and its settings as JSON."""
    words = step.roles
    if step.settings:
        import json

        words = [*words, json.dumps(step.settings)]
    return STEP_LINE + " ".join(words)


def settings_of(reducers, properties, raw_text, has_reducer, inputs=None):
    """Return what an engine has to know of a step beside its roles, checked."""
    settings: dict = {}
    if reducers is not None:
        if not isinstance(reducers, int) or isinstance(reducers, bool):
            raise TypeError(f"reducers must be a number, not {reducers!r}")
        if reducers < 1 or not has_reducer:
            raise ValueError(f"reducers={reducers} needs a reducer, and is at least 1")
        settings["reducers"] = reducers
    if properties:
        if not hasattr(properties, "items"):
            raise TypeError(f"properties must be a dict, not {properties!r}")
        settings["properties"] = {str(name): str(value) for name, value in properties.items()}
    if raw_text:
        settings["raw_text"] = True
    if inputs is not None:
        settings["inputs"] = [int(number) for number in inputs]
        if not settings["inputs"] or (0 in settings["inputs"] and len(settings["inputs"]) > 1):
            raise ValueError(f"inputs are numbers of steps, or the input of the job alone, 0, not {inputs!r}")
    return settings


def check_words(argv):
    """Raise TypeError if argv is not a list of words, as sys.argv is."""
    if isinstance(argv, str) or not hasattr(argv, "__getitem__") or not all(isinstance(word, str) for word in argv):
        raise TypeError(f"argv must be a list of words as sys.argv is, not {argv!r}")


class RunOptions:
    """The options of run(), checked."""

    def __init__(self, batch, group_by, max_bad, read_options, write_options, partition_by=None):
        self.batch = batch
        self.group_by = group_by
        # returns the part of a key that chooses its reducer
        self.part_of = partition_by if group_by is None else group_by
        self.max_bad = max_bad
        self.read_options = _checked_options("read_options", read_options, "columns.read" if batch else "PairReader")
        self.column_options, write_options = _without_column_options(write_options) if batch else ({}, write_options)
        self.write_options = _checked_options("write_options", write_options, "PairWriter")
        if batch not in (True, False):
            raise TypeError(f"batch must be True or False, not {batch!r}")
        if group_by is not None and not callable(group_by):
            raise TypeError(f"group_by must be a function of a key, not {group_by!r}")
        _check_limit(max_bad)
        if batch and (group_by is not None or max_bad):
            raise TypeError("group_by and max_bad are for single pairs, not for batch=True")
        if batch and partition_by is not None:
            raise TypeError("partition_by is for single pairs, not for batch=True")
        if group_by is not None and partition_by is not None:
            raise TypeError("a reducer with partition_by is called for each key, not for groups: leave out group_by")


def _check_limit(max_bad):
    if not hasattr(max_bad, "__float__"):
        raise TypeError(f"max_bad must be a number of records or a share of them, not {max_bad!r}")
    if not max_bad >= 0:
        raise ValueError(f"max_bad must be a number of records or a share of them, not {max_bad}")
    if isinstance(max_bad, float) and max_bad > 1:
        raise ValueError(
            f"max_bad={max_bad} is a share of the records, which is at most 1.0: for a number of records give an int"
        )


def _without_column_options(options):
    """Return the write_options that columns.write takes, checked, and all others."""
    if not hasattr(options, "keys"):
        return {}, options
    from typedbytes import columns

    taken = {name: options[name] for name in COLUMN_OPTIONS if name in options}
    try:
        columns.write(io.BytesIO(), ([], []), **taken)
    except (TypeError, ValueError) as error:
        raise type(error)(f"write_options: {error}") from None
    return taken, {name: options[name] for name in options if name not in taken}


def _checked_options(name, options, taker):
    """Return options of a step, a dict, or raise the error of what takes them, before any input is read."""
    if not options and (options is None or hasattr(options, "keys")):
        return {}
    if not hasattr(options, "keys"):
        raise TypeError(f"{name} must be a dict of keywords for {taker}, not {options!r}")
    import typedbytes

    take = typedbytes.columns.read if taker == "columns.read" else getattr(typedbytes, taker)
    try:
        take(io.BytesIO(), **options).close()
    except (TypeError, ValueError, LookupError) as error:
        from inspect import signature

        unknown = [option for option in options if option not in signature(take).parameters]
        said = f"{taker}() got an unexpected keyword argument {unknown[0]!r}" if unknown else error
        raise type(error)(f"{name}: {said}") from None
    return options


class UserCode:
    """The user code of a role; configure and close are None where they are not defined.

    takes_all: whether process has a single parameter, an iterator of all records, and is called once.
    """

    def __init__(self, role, user_function):
        if isinstance(user_function, type):
            user_function = user_function()
        self.configure = getattr(user_function, "configure", None)
        self.process = getattr(user_function, METHODS[role], user_function)
        self.close = getattr(user_function, "close", None)
        self._name, self._method = NAMES[role], METHODS[role]
        self._role, self._user_function = role, user_function
        if not callable(self.process):
            raise TypeError(f"{user_function!r} is not a function and has no method {METHODS[role]}()")
        self.takes_all = _takes_all(self.process)
        # mrjob's names for what is called before the first record and after the last:
        # they would be left out without a word.
        for ending, ours in (("init", "configure"), ("final", "close")):
            theirs = f"{NAMES[role]}_{ending}"
            if hasattr(user_function, theirs):
                raise TypeError(f"{user_function!r} has a method {theirs}(), which is not called: name it {ours}()")

    def start(self, write_options=None):
        """Call configure(), if defined; TypeError if it returns anything: a generator's body has not run.

        write_options: those of the task's output, for the wrappers in the user code; None: those of what starts this.
        """
        global starting_options
        before = starting_options
        try:
            starting_options = before if write_options is None else write_options
            returned = None if self.configure is None else self.configure()
        finally:
            starting_options = before
        if returned is not None:
            raise TypeError(
                f"configure() must return None, not an object of type {type(returned).__name__}: "
                "it is called before the first record; "
                f"yield pairs from {self._method}() at the first record, or from close()"
            )

    def for_each_record(self):
        """Return process, to be called for each record; raises TypeError if it takes all records in one call."""
        if self.takes_all:
            raise TypeError(
                f"{self._name} has a single parameter, so it takes all records in one call, "
                "which max_bad and wrappers of mappers do not support: give it two parameters"
            )
        return self.process

    def record_types(self):
        """Return the options of PairReader and of PairWriter that the annotations mean, mostly none."""
        return record_types(self._role, self._user_function)

    def end(self):
        """Call close(), if defined, and return its pairs."""
        return pairs_of(None if self.close is None else self.close())


#: Of PairWriter, while a task starts its user code.
starting_options: dict = {}


def encoder_of_keys():
    """Return the function that encodes a key as the task that is starting writes it, except by its declared type.

    That type may be one of keys with a mark or a folder.
    """
    from typedbytes import Encoder
    from typedbytes.streaming.formats.record_io import value_options

    return Encoder(**value_options(starting_options)).encode


def code_for_each_record(mapper):
    """Return the UserCode of a mapper in another one, which is called for each record."""
    user_code = UserCode("map", mapper)
    user_code.for_each_record()
    return user_code


def record_types(role, user_function):
    """Return the options of PairReader and of PairWriter that the annotations of user code mean, mostly none."""
    if hasattr(user_function, "_record_types") and not isinstance(user_function, type):  # a wrapper of mappers
        return user_function._record_types()
    method = METHODS[role] if hasattr(user_function, METHODS[role]) else "__call__"
    function = user_function if hasattr(user_function, "__code__") else getattr(user_function, method, None)
    if not _is_annotated(function):
        return {}, {}
    from typedbytes.streaming._annotations import types_of

    is_bound = getattr(function, "__self__", None) is not None
    if isinstance(user_function, type) and not is_bound:
        found = next((base.__dict__[method] for base in user_function.__mro__ if method in base.__dict__), None)
        is_bound = not isinstance(found, staticmethod)
    return types_of(role, function, is_bound)


def _is_annotated(function):
    """Return whether a function has annotations that may be of a record class."""
    if getattr(function, "__module__", None) == "typedbytes.streaming.lib":  # our own functions take anything
        return False
    try:
        annotations = getattr(function, "__annotations__", None) or {}
    except NameError:  # from Python 3.14 on: of a name that only type checkers know
        return True
    return any(getattr(annotation, "__module__", None) != "builtins" for annotation in annotations.values())


def _takes_all(function):
    """Return whether a function, method or callable object that is written in Python has a single parameter."""
    function = function if hasattr(function, "__code__") else function.__call__
    code = getattr(function, "__code__", None)
    if type(code) is not type(_takes_all.__code__) or code.co_flags & CO_VARARGS:
        return False
    return code.co_argcount - (getattr(function, "__self__", None) is not None) == 1


def pairs_of(returned):
    """Return the pairs that user code returned, () for None."""
    return () if returned is None else returned
