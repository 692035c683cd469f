"""The mean of the numbers under each name: values that are tuples, and a combiner that is not the reducer.

The input is text, a name and a number on each line: ``oslo -3.5``. A line that is not like that is counted and passed
over. A mean of means would be wrong, so what travels is (sum, count).
"""

from typedbytes import streaming


def mapper(offset, line):
    try:
        name, number = line.split()
        number = float(number)
    except ValueError:
        streaming.counter("mean", "lines passed over")
    else:
        yield name, (number, 1)


def added(measures):
    total, count = 0.0, 0
    for part_total, part_count in measures:
        total += part_total
        count += part_count
    return total, count


def combiner(name, measures):
    yield name, added(measures)


def reducer(name, measures):
    total, count = added(measures)
    yield name, {"mean": total / count, "count": count}


if __name__ == "__main__":
    streaming.run(mapper, reducer, combiner)
