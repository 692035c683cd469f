"""A class with parameters and counters, a combiner, and both forms of functions."""

import dumbo
from dumbo.lib import sumreducer


class Mapper:
    def __init__(self):
        self.least = int(self.params["least"])
        self.skipped = self.params.get("skipped", "")

    def __call__(self, key, value):
        for word in value.lower().split():
            if word == self.skipped:
                self.counters["skipped"] += 1
            elif len(word) >= self.least:
                yield word, (1, len(word))


def total(data):
    for key, values in data:
        found = list(values)
        yield key, (sum(one for one, _ in found), sum(length for _, length in found))


def runner(job):
    job.additer(Mapper, total, total)
    job.additer(lambda key, value: [((value[0], key), value[1])], sumreducer)


def starter(program):
    least = program.delopt("least")
    if not least:
        return "give -least"
    program.addparam("least", least)


if __name__ == "__main__":
    dumbo.main(runner, starter)
