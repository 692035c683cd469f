"""Commands: a filter before the mapper, and a reducer."""

from mrjob.job import MRJob
from mrjob.step import MRStep


class MRCommands(MRJob):
    def steps(self):
        return [
            MRStep(mapper_pre_filter="grep -v skip", mapper=self.words, reducer_cmd="sh -c 'cut -f 1 | uniq -c'"),
            MRStep(mapper_cmd="cat", reducer_cmd="cat"),
        ]

    def words(self, _, line):
        for word in line.split():
            yield word, None


if __name__ == "__main__":
    MRCommands.run()
