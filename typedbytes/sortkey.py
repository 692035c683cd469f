"""Keys whose order is that of Python's values, for Hadoop, which knows only the order of encoded bytes.

    encode(value)       the sort key of a number, a text, bytes or a tuple of those: a list of ints, ready to be yielded
    decode(key)         the value again
    Descending(value)   a part of a tuple, or all of it, in descending order

Hadoop sorts by the bytes of encoded keys: texts by their length first, negative numbers after positive ones. A sort key
is an ordinary key, a LIST of LONGs, that Hadoop sorts as Python sorts the value it was made of. Every number takes two
LONGs, so the encoded key of a single number is 20 bytes long, whatever the number.

>>> import typedbytes as tb
>>> numbers = [10, -3, 2.5, 0, -7]
>>> sorted(numbers, key=tb.dumps)
[0, 10, -7, -3, 2.5]
>>> sorted(numbers, key=lambda number: tb.dumps(encode(number)))
[-7, -3, 0, 2.5, 10]
"""

from typedbytes._sorting import Descending, decode, encode

__all__ = ["Descending", "decode", "encode"]
