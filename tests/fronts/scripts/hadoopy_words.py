"""A class and functions, a combiner, counters, and a variable of the job."""

import os

import hadoopy


class Mapper(object):  # noqa: UP004, for Python 2
    def configure(self):
        self.least = int(os.environ["LEAST"])

    def map(self, key, value):
        for word in value.lower().split():
            if len(word) >= self.least:
                yield word, (1, key)
            else:
                hadoopy.counter("words", "short")

    def close(self):
        yield "end", (1, -1)


def combiner(word, values):
    found = list(values)
    yield word, (sum(count for count, _ in found), max(key for _, key in found))


def reducer(word, values):
    for _, (count, key) in combiner(word, values):
        hadoopy.status("at " + word)
        yield word, [count, key, {"half": count / 2.0}, None]


if __name__ == "__main__":
    hadoopy.run(Mapper, reducer, combiner)
