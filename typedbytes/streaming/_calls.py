"""User code as three calls: configure, process, close.

A job may be a function, an object, or a class to make one of. What an object has is looked up first and
called elsewhere, so that an AttributeError inside user code is never taken for a missing method.
"""

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
