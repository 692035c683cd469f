"""A join by a secondary sort: the customer comes before the orders, which come by date."""

from operator import itemgetter

from typedbytes import streaming

CUSTOMER, ORDER = 0, 1


def mapper(offset, line):
    kind, number, *fields = line.split()
    if kind == "customer":
        yield (int(number), CUSTOMER, ""), fields[0]
    else:
        date, amount = fields
        yield (int(number), ORDER, date), float(amount)


def reducer(key, values):
    number, kind, _ = key
    if kind == CUSTOMER:
        yield (number, next(values)), list(values)


if __name__ == "__main__":
    streaming.run(mapper, reducer, group_by=itemgetter(0))
