"""Words and how often they come: a combiner, a counter and an option of the job's own."""

import re

from mrjob.job import MRJob

WORD = re.compile(r"[\w']+")


class MRWords(MRJob):
    def configure_args(self):
        super().configure_args()
        self.add_passthru_arg("--least", type=int, default=1, help="leave out rarer words")

    def mapper(self, _, line):
        self.increment_counter("lines", "read")
        for word in WORD.findall(line):
            yield word.lower(), 1

    def combiner(self, word, counts):
        yield word, sum(counts)

    def reducer(self, word, counts):
        total = sum(counts)
        if total >= self.options.least:
            yield word, total


if __name__ == "__main__":
    MRWords.run()
