"""Two steps with a parameter: words that occur at least `least` times, listed by count."""

from typedbytes import streaming
from typedbytes.streaming import Step, lib, task


def words(offset, line):
    for word in line.split():
        yield word, 1


def frequent(word, counts):
    count = sum(counts)
    if count >= int(task().params["least"]):
        yield word, count


def by_count(word, count):
    yield count, word


def listed(count, words):
    yield count, sorted(words)


if __name__ == "__main__":
    streaming.run(steps=[Step(words, frequent, lib.sumreducer), Step(by_count, listed)])
