"""An inverted index: for every word the files that hold it, and at which bytes its lines begin.

The input is text, in any number of files; a file is known by its name without the folder. The output has one pair per
word: the word, and a dict from file to an ascending list of offsets, each line once.
"""

import re

from typedbytes import streaming

WORD = re.compile(r"\w+")


class Mapper:
    def configure(self):
        self.file = streaming.task().input_file.rpartition("/")[2]

    def map(self, offset, line):
        for word in sorted(set(WORD.findall(line.lower()))):
            yield word, {self.file: [offset]}


def reducer(word, found):
    index = {}
    for files in found:
        for file, offsets in files.items():
            index.setdefault(file, []).extend(offsets)
    yield word, {file: sorted(index[file]) for file in sorted(index)}


if __name__ == "__main__":
    streaming.run(Mapper, reducer, combiner=reducer)
