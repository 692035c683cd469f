"""What our wrappers keep between records, and how a record that fails is taken out of it again.

A wrapper notes what it is about to change. Where the record is left out, whatever failed and however wrappers are
nested, the changes are undone, the last one first. Here: the notes of the current record. Not here: which records are
left out. Invariant: where a record that fails fails the task, nothing is noted.
"""

from __future__ import annotations

UNCHANGING = str, int, float, bool, bytes, type(None)

# the Changes of the task's records; None without max_bad, and where no record is processed
current: Changes | None = None


class Changes:
    """The changes that the current record has made.

    check(key, value) raises an error for a pair that the task's output cannot encode.
    """

    def __init__(self, check):
        self.check = check
        # functions, with their arguments, that undo the changes: to be cleared where the record is complete
        self.notes = []

    def note_attributes(self, obj, *names):
        """Have attributes of an object set as they are now if the record fails."""
        self.notes.append((vars(obj).update, ({name: getattr(obj, name) for name in names},)))

    def note_item(self, lists, key):
        """Have an item of a dict of lists, and the objects in it, be what they are now if the record fails."""
        if key in lists:
            self.notes.append((lists.__setitem__, (key, [copied(part) for part in lists[key]])))
        else:
            self.notes.append((lists.pop, (key, None)))

    def undo(self):
        """Undo all changes."""
        while self.notes:
            function, arguments = self.notes.pop()
            function(*arguments)


def note_attributes(obj, *names):
    """Note attributes of an object as they are now, where a record that fails is left out."""
    if current is not None:
        current.note_attributes(obj, *names)


def copied(part):
    """Return a key or value that stays as it is, whatever user code does to the object."""
    if type(part) in UNCHANGING:
        return part
    from copy import deepcopy

    try:
        return deepcopy(part)
    except TypeError:  # of what has no copy, such as a memoryview
        return part
