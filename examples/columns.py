"""Totals of the larger measures of each sensor, over columns: mapper and reducer get batches and give columns back.

The input is typed bytes: pairs of a sensor's number and (measure, count). NumPy does the work of a whole batch at once;
a reducer's batch holds all pairs of its sensors, so that a total is never cut in two.
"""

import numpy

from typedbytes import streaming

LEAST = 0.5


def mapper(batch):
    measures, counts = batch.column("value")
    large = measures >= LEAST
    return {"key": batch.column("key")[large], "value": (measures[large], counts[large])}


def reducer(batch):
    sensors = batch.column("key")
    starts = numpy.flatnonzero(numpy.append(True, sensors[1:] != sensors[:-1]))
    measures, counts = batch.column("value")
    return {"key": sensors[starts], "value": (numpy.add.reduceat(measures, starts), numpy.add.reduceat(counts, starts))}


if __name__ == "__main__":
    streaming.run(mapper, reducer, batch=True)
