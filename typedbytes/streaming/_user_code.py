"""What a job gives to run(): its steps with their options, and user code as three calls: configure, process, close.

User code may be a function, an object, or a class to instantiate. The methods of an object are looked up first and
called elsewhere, so that an AttributeError inside user code is never taken for a missing method.
"""

from typedbytes.errors import TypedBytesError


class StopEarly(Exception):
    """Raise in a mapper or reducer to end the task successfully before the end of its input.

    Pairs yielded before are kept and close() is called. The rest of the input is read and discarded, unchecked,
    because Hadoop fails a task that leaves input unread.
    """

    def __init__(self, *args):  # which inspect.signature does not find in a compiled base
        super().__init__(*args)


class TooManyBadRecords(TypedBytesError):
    """More records were bad than `max_bad` allows."""


COMBINER_ALONE = "combiner= needs reducer=: without reduce tasks no combiner is called; give a reducer too, or leave the combiner out"


def check_functions(mapper, reducer, combiner):
    """Raise TypeError for a map-only job with a combiner; a script of one role may have its other roles in other scripts."""
    if mapper is not None and combiner is not None and reducer is None:
        raise TypeError(COMBINER_ALONE)


class Step:
    """One step of a job of several: a mapper, a reducer, a combiner and their options, as run() takes them.

    >>> from typedbytes.streaming import lib
    >>> Step(lambda key, value: [(value, 1)], lib.sumreducer).roles
    ['map', 'reduce']
    """

    def __init__(
        self, mapper=None, reducer=None, combiner=None, *, batch=False, group_by=None, max_bad=0, read_options=None, write_options=None
    ):
        check_functions(mapper, reducer, combiner)
        self.functions = {"map": mapper, "combine": combiner, "reduce": reducer}
        self.options = RunOptions(batch, group_by, max_bad, read_options or {}, write_options or {}, getattr(reducer, "partition_by", None))

    @property
    def roles(self):
        """The roles that the step has code for."""
        return [role for role, function in self.functions.items() if function is not None]


class RunOptions:
    """The options of run(), checked."""

    def __init__(self, batch, group_by, max_bad, read_options, write_options, partition_by=None):
        self.batch = batch
        self.group_by = group_by
        self.part_of = partition_by if group_by is None else group_by  # returns the part of a key that chooses its reducer
        self.max_bad = max_bad
        self.read_options = read_options
        self.write_options = write_options
        if batch and (group_by is not None or max_bad):
            raise TypeError("group_by and max_bad are for single pairs, not for batch=True")
        if group_by is not None and partition_by is not None:
            raise TypeError("a reducer with partition_by is called for each key, not for groups: leave out group_by")
        if max_bad < 0:
            raise ValueError(f"max_bad is a number of records or a share of them, not {max_bad}")


METHODS = {"map": "map", "combine": "reduce", "reduce": "reduce"}
# mrjob's names for what is called before the first record and after the last: they would be left out without a word.
MRJOB_NAMES = {"map": "mapper", "combine": "combiner", "reduce": "reducer"}


class UserCode:
    """The user code of a role; configure and close are None where they are not defined."""

    def __init__(self, role, user_function):
        if isinstance(user_function, type):
            user_function = user_function()
        self.configure = getattr(user_function, "configure", None)
        self.process = getattr(user_function, METHODS[role], user_function)
        self.close = getattr(user_function, "close", None)
        if not callable(self.process):
            raise TypeError(f"{user_function!r} is not a function and has no method {METHODS[role]}()")
        for ending, ours in (("init", "configure"), ("final", "close")):
            theirs = f"{MRJOB_NAMES[role]}_{ending}"
            if hasattr(user_function, theirs):
                raise TypeError(f"{user_function!r} has a method {theirs}(), which is not called: name it {ours}()")

    def start(self):
        """Call configure(), if defined."""
        if self.configure is not None:
            self.configure()

    def end(self):
        """Call close(), if defined, and return its pairs."""
        return pairs_of(None if self.close is None else self.close())


def pairs_of(returned):
    """Return the pairs that user code returned, () for None."""
    return () if returned is None else returned
