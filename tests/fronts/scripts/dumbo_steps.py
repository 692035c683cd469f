"""Steps of which a later one reads two earlier ones, statistics, and the largest values."""

import dumbo
from dumbo.lib import identitymapper, nlargestcombiner, nlargestreducer, statscombiner, statsreducer


def lengths(key, value):
    for word in value.split():
        yield word[0], len(word)


def initials(key, value):
    for word in value.split():
        yield "all", (len(word), word)


if __name__ == "__main__":
    job = dumbo.Job()
    first = job.additer(lengths, statsreducer, statscombiner)
    second = job.additer(initials, nlargestreducer(3), nlargestcombiner(3), input=-1)
    job.additer(identitymapper, dumbo.identityreducer, input=[first, second])
    job.run()
