"""A join of two inputs, chosen by their names."""

import dumbo
from dumbo.decor import primary, secondary
from dumbo.lib import JoinReducer, MultiMapper, sumreducer


@primary
def name(key, value):
    number, _, town = value.partition(" ")
    yield number, town


@secondary
def visit(key, value):
    number, _, count = value.partition(" ")
    yield number, int(count)


class Joined(JoinReducer):
    def __init__(self):
        self.town = "none"

    def primary(self, key, values):
        self.town = list(values)[0]

    def secondary(self, key, values):
        town, self.town = self.town, "none"
        for value in values:
            yield town, value


def runner(job):
    mapper = MultiMapper()
    mapper.add("names", name)
    mapper.add("visits", visit)
    job.additer(mapper, Joined)
    job.additer(dumbo.identitymapper, sumreducer, combiner=sumreducer)


if __name__ == "__main__":
    dumbo.main(runner)
