"""The files that travel with a job, given as PATH or PATH#NAME. A task itself does not import this."""

import os

__all__ = ["split_link"]


def split_link(text):
    """Return the path and the name in a task's folder of a file given as PATH or PATH#NAME.

    >>> split_link("data/stop.txt"), split_link("data/stop.txt#words")
    (('data/stop.txt', 'stop.txt'), ('data/stop.txt', 'words'))
    """
    path, sign, name = text.partition("#")
    return path, name if sign else os.path.basename(path)
