"""The visits to a web site by visitor and day, as records: dates and times that Java, Hive and Spark read.

The input is text as inputs.py makes it, ``python inputs.py log 100000``: time in seconds, visitor and page on each
line, in no order. Keys and values are of record classes, which the annotations name: the mapper writes a key as a
VECTOR of text and a number of days, a value as a MAP with times in seconds, and the reducer gets instances again.
"""

import dataclasses
import datetime
from collections.abc import Iterator
from typing import Annotated, NamedTuple

from typedbytes import records, streaming

Moment = Annotated[datetime.datetime, records.UTC, records.Seconds]


class Key(NamedTuple):
    visitor: str
    day: datetime.date


@dataclasses.dataclass
class Visits:
    npages: int
    first: Moment
    last: Moment


def mapper(offset, line) -> Iterator[tuple[Key, Visits]]:
    seconds, visitor, page = line.split()
    moment = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
    yield Key(visitor, moment.date()), Visits(1, moment, moment)


def reducer(key: Key, parts: Iterator[Visits]) -> Iterator[tuple[Key, Visits]]:
    visits = next(parts)
    for part in parts:
        visits.npages += part.npages
        visits.first = min(visits.first, part.first)
        visits.last = max(visits.last, part.last)
    yield key, visits


if __name__ == "__main__":
    streaming.run(mapper, reducer, combiner=reducer)
