"""An inverted index with a combiner: for each word the documents that have it, in order."""

from typedbytes import streaming


def mapper(offset, line):
    document, text = line.split(": ", 1)
    for word in text.split():
        yield word, [document]


def merge(word, lists):
    yield word, sorted({document for documents in lists for document in documents})


if __name__ == "__main__":
    streaming.run(mapper, merge, combiner=merge)
