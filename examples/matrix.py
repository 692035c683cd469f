"""The product of two matrices too large for one machine: blocks that are NumPy arrays, multiplied where they meet.

The input is a SequenceFile as inputs.py makes it, ``python inputs.py matrices 64 matrices.seq``: the key ("A", i, j)
or ("B", i, j) and the block in row i and column j, each matrix of BLOCKS x BLOCKS blocks. The output has the same
form, with the key (i, j). A block of the product needs a row of A's blocks and a column of B's, so each block
travels to all that need it.
"""

from typedbytes import streaming

BLOCKS = 4


def mapper(key, block):
    matrix, row, column = key
    if matrix == "A":
        for other in range(BLOCKS):
            yield (row, other), (matrix, column, block)
    else:
        for other in range(BLOCKS):
            yield (other, column), (matrix, row, block)


def reducer(position, blocks):
    sides = {"A": {}, "B": {}}
    for matrix, number, block in blocks:
        sides[matrix][number] = block
    # in a fixed order, since sums of floats depend on it
    yield position, sum(sides["A"][number] @ sides["B"][number] for number in range(BLOCKS))


if __name__ == "__main__":
    streaming.run(mapper, reducer)
