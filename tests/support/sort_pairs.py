"""Encoded pairs to sort, with keys at every edge of the order."""

import typedbytes as tb

# Lengths at which a key's window changes its form, keys that differ late, and one at the beginning of another's payload.
LONG_KEYS = ["x" * n + end for n in (3, 4, 5, 6, 7, 8, 13, 14, 253, 254, 255, 300) for end in ("", "a", "b", "\xff")]

EDGES = [
    *LONG_KEYS,
    *(text.encode() for text in LONG_KEYS),
    *(tb.Ext(code, b"\0" * n) for code in (51, 199) for n in (0, 1, 254, 255)),
    (),
    [],
    {},
]


def made_pairs(chance, npairs, *, nkeys=50):
    """Return pairs of encoded keys, many of them equal, and values that say which came first."""
    keys = [tb.dumps(chance.choice(EDGES)) for _ in range(nkeys)] + [
        tb.dumps(chance.choice("ab") * chance.randrange(20)) for _ in range(nkeys)
    ]
    keys += [tb.dumps(random_value(chance)) for _ in range(nkeys)]
    return [(chance.choice(keys), tb.dumps(number)) for number in range(npairs)]


def random_value(chance, depth=0):
    """Return a value of any type code, containers among them."""
    scalars = [
        *(chance.random() < 0.5, chance.randrange(-300, 300), chance.getrandbits(64) - 2**63, tb.Byte(chance.randrange(-128, 128))),
        *(chance.uniform(-1, 1), tb.Float(chance.random()), "".join(chance.choices("aü狐\0", k=chance.randrange(9)))),
        *(chance.randbytes(chance.randrange(9)), tb.Ext(chance.randrange(103, 201), b"e" * chance.randrange(3)), tb.Writable("W", b"w")),
    ]
    if depth > 2 or chance.random() < 0.7:
        return chance.choice(scalars)
    items = [random_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return chance.choice([items, tuple(items), dict(enumerate(items))])
