"""Bound what comparing the keys of one MAP may cost when their hash values are equal.

A dict compares keys of equal hash with one another, and for most types equal hashes are easily made. str and bytes
are hashed with a secret, and of numbers in 64 bits only a few share a hash; all other keys are counted here, in
the rare MAP that has many.
"""

__all__ = ["Collisions"]

_MAX_KEYS = 512  # keys that may share one hash value
_FREE_STEPS = 1 << 26  # about a nanosecond each
_STEPS_PER_BYTE = 512  # of the MAP: a mebibyte may take half a second


class Collisions:
    """Count the keys of one MAP that share a hash value.

    >>> collisions = Collisions()
    >>> any(collisions.are_many((n,), 10, 10_000) for n in range(1000))
    False
    """

    def __init__(self):
        self.steps = 0
        self.met = {}

    def are_many(self, key, nbytes, nbytes_of_map):
        """Count a key before it is compared; return whether comparing the keys of its hash may take too long."""
        # Found by text: the hash values themselves may have been chosen to collide in a dict.
        bucket = self.met.setdefault(str(hash(key)), [0, 0, 0])
        nkeys, total, longest = bucket
        slow = _slow_nbytes(key, nbytes)
        self.steps += nkeys * nbytes + total
        if slow:
            # A Decimal is compared with an int by converting it, in the square of both sizes.
            self.steps += nkeys * (256 + max(0, slow + longest - 64) ** 2 // 8)
        bucket[:] = nkeys + 1, total + nbytes, max(longest, slow)
        return nkeys >= _MAX_KEYS or self.steps > _FREE_STEPS + _STEPS_PER_BYTE * nbytes_of_map


def _slow_nbytes(key, nbytes):
    """Return the bytes of a key of `nbytes`, if something in it is not compared in linear time, else 0."""
    rest = [key]
    while rest:
        item = rest.pop()
        if type(item) is tuple:
            rest.extend(item)
        elif type(item) is int:
            if item.bit_length() > 64:
                return nbytes
        elif type(item) not in (str, bytes, bool, float):
            return nbytes
    return 0
