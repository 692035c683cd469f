"""A job whose output has columns: sales by town and product, and its rows by plain Python."""

from collections import defaultdict

LINES = [f"{town};{product};{amount}" for amount, (town, product) in enumerate(
    [("Köln", "tea"), ("Oslo", "ink, blue"), ("Köln", "tea"), ("Bern", 'a "cup"'), ("Oslo", "tea")] * 3
)]  # fmt: skip

SALES = """
import dataclasses

from typedbytes.streaming import run

@dataclasses.dataclass
class Sales:
    count: int
    total: float
    note: str

def mapper(offset, line):
    town, product, amount = line.split(";")
    yield (town, product), float(amount)

def reducer(key, amounts):
    found = sorted(amounts)
    yield key, Sales(len(found), sum(found), f'{key[0]}, "{key[1]}"\\nin lines')

if __name__ == "__main__":
    run(mapper, reducer)
"""


def expected_rows():
    """Return the rows of the job by plain Python."""
    amounts = defaultdict(list)
    for line in LINES:
        town, product, amount = line.split(";")
        amounts[town, product].append(float(amount))
    return sorted(
        (
            {
                "key1": town, "key2": product, "count": len(found), "total": sum(found),
                "note": f'{town}, "{product}"\nin lines',
            }
            for (town, product), found in amounts.items()
        ),
        key=repr,
    )  # fmt: skip
