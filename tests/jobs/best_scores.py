"""Top n: the two best scores of each game; the same function combines."""

from typedbytes import streaming
from typedbytes.streaming import lib


def mapper(offset, line):
    game, player, score = line.split()
    yield game, (int(score), player)


best = lib.nlargestreducer(2)

if __name__ == "__main__":
    streaming.run(mapper, best, combiner=best)
