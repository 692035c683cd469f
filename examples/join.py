"""Join customers with their orders: records of two kinds that meet in the reducer under one key.

The input is CSV text of both kinds, distinguished by the first field: ``customer,7,Ada`` and ``order,7,19.90``. The
output has one pair per customer with orders: the name, and the prices in ascending order.
"""

import csv

from typedbytes import streaming


def mapper(offset, line):
    [(kind, customer_id, field)] = csv.reader([line])
    yield int(customer_id), (kind, field)


def reducer(customer_id, records):
    name, prices = None, []
    for kind, field in records:
        if kind == "customer":
            name = field
        else:
            prices.append(float(field))
    if name is None:
        streaming.counter("join", "orders without a customer", len(prices))
    elif prices:
        yield name, sorted(prices)


if __name__ == "__main__":
    streaming.run(mapper, reducer)
