"""The highest temperature of each year and its station: a secondary sort, whose first value is the answer.

The input is text as inputs.py makes it, ``python inputs.py weather 100000``: station, date, degrees and a mark for the
quality on each line. A key is the year and the temperature as a descending sort key. The job sorts by both and groups
by the year alone: the reducer is called once for a year and reads no further than the highest; of several stations it
takes the first by name.
"""

from operator import itemgetter

from typedbytes import sortkey, streaming

GOOD = "01459"  # marks of measurements that were checked


def mapper(offset, line):
    station, date, degrees, quality = line.split()
    if quality not in GOOD or degrees == "9999":
        streaming.counter("weather", "measurements passed over")
    else:
        yield (int(date[:4]), sortkey.encode(sortkey.Descending(float(degrees)))), (float(degrees), station)


def reducer(key, measurements):
    highest, station = next(measurements)
    for degrees, other in measurements:
        if degrees < highest:
            break  # and all that follow are lower still
        station = min(station, other)
    yield key[0], (highest, station)


if __name__ == "__main__":
    streaming.run(mapper, reducer, group_by=itemgetter(0))
