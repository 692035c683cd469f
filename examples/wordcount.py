"""Count words: the job that everyone starts with.

Hadoop's TextInputFormat gives the mapper the offset of a line and the line; a word is a run of letters, digits and
underscores, in any script.
"""

import re

from typedbytes import streaming

WORD = re.compile(r"\w+")


def mapper(offset, line):
    words = WORD.findall(line)
    streaming.counter("wordcount", "words", len(words))
    for word in words:
        yield word, 1


def reducer(word, counts):
    yield word, sum(counts)


if __name__ == "__main__":
    streaming.run(mapper, reducer, combiner=reducer)
