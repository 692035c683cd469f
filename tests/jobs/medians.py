"""A job with a dependency: the median of each key's numbers, by a sorted list of sortedcontainers."""

from sortedcontainers import SortedList

from typedbytes import streaming


def mapper(offset, line):
    name, number = line.split()
    yield name, int(number)


def reducer(name, numbers):
    ordered = SortedList(numbers)
    yield name, ordered[len(ordered) // 2]


if __name__ == "__main__":
    streaming.run(mapper, reducer)
