"""Two steps with init and final, values in order, and keys that are lists."""

from mrjob.job import MRJob
from mrjob.step import MRStep


class MRSteps(MRJob):
    SORT_VALUES = True

    def steps(self):
        return [
            MRStep(
                mapper_init=self.start, mapper=self.pairs, mapper_final=self.end, reducer=self.total,
                jobconf={"mapreduce.job.reduces": "1"},
            ),  # fmt: skip
            MRStep(reducer_init=self.begin, reducer=self.ranked, reducer_final=self.count),
        ]  # fmt: skip

    def start(self):
        self.nlines = 0

    def pairs(self, _, line):
        self.nlines += 1
        words = line.split()
        for first, second in zip(words, words[1:]):
            yield [first, second], {"n": 1}

    def end(self):
        yield ["", "lines"], {"n": self.nlines}

    def total(self, words, values):
        yield words[0], (sum(value["n"] for value in values), words[1])

    def begin(self):
        self.nkeys = 0

    def ranked(self, first, values):
        self.nkeys += 1
        yield first, list(values)

    def count(self):
        self.increment_counter("keys", "seen", self.nkeys)


if __name__ == "__main__":
    MRSteps.run()
