"""Comparing two streams of encoded records.

Here: finding differences, each as a row of a report. Always true: records are the same when their bytes are.
"""

from itertools import zip_longest

from typedbytes.cli._reports import short_line


def in_order(first, second, options):
    """Yield the records that differ from the one at the same place; of those beyond the end of the other input the first."""
    for number, (one, other) in enumerate(zip_longest(first, second)):
        if one != other:
            yield {"record": number, "first": _shown(one, options), "second": _shown(other, options)}
        if one is None or other is None:
            return


def counted(first, second, options):
    """Yield the records that are more often in one than in the other, those of the first input first, in its order."""
    from hashlib import blake2b  # its users only

    def digest(record):
        return record if len(record) <= 16 else blake2b(record, digest_size=16).digest()

    surplus, samples = {}, {}
    for records, step in (first, 1), (second, -1):
        for record in records:
            key = digest(record)
            number = surplus.get(key, 0) + step
            if number:
                surplus[key] = number
                samples[key] = record
            else:
                del surplus[key], samples[key]
    for key, number in surplus.items():
        yield {"only in": "first" if number > 0 else "second", "times": abs(number), "value": _shown(samples[key], options)}


def _shown(record, options):
    if record is None:
        return None
    return short_line(record, options)
