"""Make inputs for the examples: the same every time, and as large as wanted.

python inputs.py weather NLINES              measurements of weather stations, as text to stdout
python inputs.py log NLINES                  requests of visitors of a web site, as text to stdout
python inputs.py matrices NROWS FILE         two square matrices in blocks, as a SequenceFile
"""

import math
import random
import sys

STATIONS = [f"{number:06}-{99999 - number:05}" for number in range(10010, 10490, 13)]
PAGES = ["/", "/about", "/cart", "/help", "/login", "/news", "/search", "/shop"]


def weather(nlines):
    """Yield lines of station, date, degrees and quality: winters, summers, gaps, now and then a broken thermometer."""
    chance = random.Random(1901)
    for _ in range(nlines):
        day = chance.randrange(20 * 365)
        season = 12 * math.sin((day % 365 - 110) / 365 * 2 * math.pi)
        degrees = round(8 + season + chance.gauss(0, 6), 1)
        if chance.random() < 0.01:
            degrees = 9999
        quality = chance.choice("0111145559") if chance.random() < 0.98 else "3"
        date = f"{1901 + day // 365}{day % 365 // 31 + 1:02}{day % 365 % 31 % 28 + 1:02}"
        yield f"{chance.choice(STATIONS)} {date} {degrees} {quality}"


def log(nlines):
    """Yield lines of time, visitor and page: visitors come back after a while, and lines are out of order."""
    chance = random.Random(7)
    clocks = {f"visitor{number}": 1_700_000_000 + chance.randrange(86_400) for number in range(max(nlines // 40, 1))}
    lines = []
    for _ in range(nlines):
        visitor = chance.choice(list(clocks)) if len(clocks) < 50 else f"visitor{chance.randrange(len(clocks))}"
        clocks[visitor] += chance.randrange(1, 600) if chance.random() < 0.85 else chance.randrange(1800, 20_000)
        lines.append(f"{clocks[visitor]} {visitor} {chance.choice(PAGES)}")
    chance.shuffle(lines)
    return lines


def matrices(nrows, path):
    """Write the matrices A and B, whole numbers as doubles, in blocks."""
    import numpy
    from matrix import BLOCKS

    from typedbytes import sequencefile

    chance = numpy.random.default_rng(3)
    size = nrows // BLOCKS
    with sequencefile.open(path, "w") as file:
        for name in "AB":
            whole = chance.integers(-9, 10, (nrows, nrows)).astype("f8")
            for row in range(BLOCKS):
                for column in range(BLOCKS):
                    block = whole[row * size : (row + 1) * size, column * size : (column + 1) * size]
                    file.write((name, row, column), numpy.ascontiguousarray(block))


if __name__ == "__main__":
    if sys.argv[1:] in (["-h"], ["--help"]):
        sys.exit(print(__doc__))
    if len(sys.argv) < 3 or sys.argv[1] not in ("weather", "log", "matrices"):
        sys.exit(__doc__)
    what, number, *rest = sys.argv[1:]
    if what == "matrices":
        matrices(int(number), *rest)
    else:
        sys.stdout.writelines(f"{line}\n" for line in {"weather": weather, "log": log}[what](int(number)))
