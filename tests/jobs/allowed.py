"""Side files both ways: words that a shipped file allows are counted, the others are kept beside the output."""

from typedbytes import streaming
from typedbytes.streaming import lib


class Mapper:
    def configure(self):
        with open("allowed.txt") as file:
            self.allowed = set(file.read().split())
        self.others = streaming.side_file("others")

    def map(self, offset, line):
        for word in line.split():
            if word in self.allowed:
                yield word, 1
            else:
                self.others.write(word.encode() + b"\n")


if __name__ == "__main__":
    streaming.run(Mapper, lib.sumreducer, combiner=lib.sumreducer)
