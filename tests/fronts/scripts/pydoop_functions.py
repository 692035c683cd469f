"""Functions with a writer, a combiner, a parameter and counters."""


def mapper(_, text, writer, conf):
    for word in text.split():
        if len(word) >= int(conf["least"]):
            writer.emit(word, 1)
        else:
            writer.count("short words", 1)


def combiner(word, counts, writer):
    writer.count("combiner calls", 1)
    reducer(word, counts, writer)


def reducer(word, counts, writer):
    writer.emit(word, sum(counts))
