"""User code as three calls: configure, process, close.

A job may be a function, an object, or a class to instantiate. The methods of an object are looked up first and
called elsewhere, so that an AttributeError inside user code is never taken for a missing method.
"""

from typedbytes.errors import TypedBytesError


class StopEarly(Exception):
    """Raise in a mapper or reducer to end the task successfully before the end of its input.

    Pairs yielded before are kept and close() is called. The rest of the input is read and discarded, unchecked,
    because Hadoop fails a task that leaves input unread.
    """


class TooManyBadRecords(TypedBytesError):
    """More records were bad than `max_bad` allows."""


METHODS = {"map": "map", "combine": "reduce", "reduce": "reduce"}


class UserCode:
    """The user code of a role; configure and close are None where they are not defined."""

    def __init__(self, role, job):
        if isinstance(job, type):
            job = job()
        self.configure = getattr(job, "configure", None)
        self.process = getattr(job, METHODS[role], job)
        self.close = getattr(job, "close", None)
        if not callable(self.process):
            raise TypeError(f"{job!r} is not a function and has no method {METHODS[role]}()")

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
