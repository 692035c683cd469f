"""The sessions of each visitor of a web site: runs of requests with less than half an hour between them.

The input is text as inputs.py makes it, ``python inputs.py log 100000``: time in seconds, visitor and page on each
line, in no order. Keys are the visitor and the time as a sort key, and requests are grouped by the visitor alone, so
the reducer sees a visitor's requests in time and keeps none of them. The output has one pair per session: (visitor,
start), and (number of pages, seconds, first page, last page).
"""

from operator import itemgetter

from typedbytes import sortkey, streaming

PAUSE = 1800


def mapper(offset, line):
    seconds, visitor, page = line.split()
    yield (visitor, sortkey.encode(int(seconds))), (int(seconds), page)


def reducer(key, requests):
    visitor = key[0]
    start, first = end, last = next(requests)
    npages = 1
    for seconds, page in requests:
        if seconds - end >= PAUSE:
            yield (visitor, start), (npages, end - start, first, last)
            start, first, npages = seconds, page, 0
        end, last, npages = seconds, page, npages + 1
    yield (visitor, start), (npages, end - start, first, last)


if __name__ == "__main__":
    streaming.run(mapper, reducer, group_by=itemgetter(0))
