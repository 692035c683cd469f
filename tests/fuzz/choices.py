"""Decisions out of bytes: the same bytes always decide the same.

Here: numbers, picks and pieces of bytes. Not here: what is decided. Invariant: bytes that have run out go on as zeros,
so every input decides everything; a cheap choice takes one byte, so that a change of one byte changes one decision.
"""


class Choices:
    """Bytes read as decisions, from the front."""

    def __init__(self, data):
        self.data = data
        self.offset = 0

    def __bool__(self):
        return self.offset < len(self.data)

    def byte(self):
        """Return the next byte."""
        offset = self.offset
        self.offset = offset + 1
        return self.data[offset] if offset < len(self.data) else 0

    def below(self, limit):
        """Return a number under the limit, from one byte for small limits and three for others."""
        if limit <= 256:
            return self.byte() % limit
        return (self.byte() << 16 | self.byte() << 8 | self.byte()) % limit

    def pick(self, items):
        """Return one of the items."""
        return items[self.below(len(items))]

    def take(self, nbytes):
        """Return the next bytes, fewer at the end."""
        self.offset += nbytes
        return self.data[self.offset - nbytes : self.offset]

    def rest(self):
        """Return all bytes that are left."""
        return self.take(max(0, len(self.data) - self.offset))
