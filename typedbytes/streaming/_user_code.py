"""User code as three calls: configure, process, close.

A job may be a function, an object, or a class to make one of. What an object has is looked up first and
called elsewhere, so that an AttributeError inside user code is never taken for a missing method.
"""


class StopEarly(Exception):
    """Raise in a mapper or reducer to end the task well before the end of its input.

    Pairs yielded before are kept and close() is called. The rest of the input is read and dropped, because
    Hadoop fails a task that leaves input behind. The dropped part is not checked.
    """


class TooManyBadRecords(Exception):
    """More records were bad than the job said it could do without."""


METHODS = {"map": "map", "combine": "reduce", "reduce": "reduce"}


class Calls:
    """The calls of a role's user code; configure and close are None when there are none."""

    def __init__(self, role, job):
        if isinstance(job, type):
            job = job()
        self.configure = getattr(job, "configure", None)
        self.process = getattr(job, METHODS[role], job)
        self.close = getattr(job, "close", None)
        if not callable(self.process):
            raise TypeError(f"{job!r} is no function and has no method {METHODS[role]}()")

    def start(self):
        """Call configure() where there is one."""
        if self.configure is not None:
            self.configure()

    def end(self):
        """Call close() where there is one, and return its pairs."""
        return pairs_of(None if self.close is None else self.close())


def pairs_of(returned):
    """Return what user code has returned, nothing for None."""
    return () if returned is None else returned
