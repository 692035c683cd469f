"""Encoded pairs to sort, with keys at every edge of the order."""

import typedbytes as tb

# Lengths at which a key's window changes its form, keys that differ late,
# and one at the beginning of another's payload.
LONG_KEYS = ["x" * n + end for n in (3, 4, 5, 6, 7, 8, 13, 14, 253, 254, 255, 300) for end in ("", "a", "b", "\xff")]

EDGES = [
    *LONG_KEYS,
    *(text.encode() for text in LONG_KEYS),
    *(tb.Ext(code, b"\0" * n) for code in (51, 199) for n in (0, 1, 254, 255)),
    (),
    [],
    {},
]


def made_pairs(rng, npairs, *, nkeys=50):
    """Return pairs of encoded keys, many of them equal, and values that say which came first."""
    keys = [tb.dumps(rng.choice(EDGES)) for _ in range(nkeys)] + [
        tb.dumps(rng.choice("ab") * rng.randrange(20)) for _ in range(nkeys)
    ]
    keys += [tb.dumps(random_value(rng)) for _ in range(nkeys)]
    return [(rng.choice(keys), tb.dumps(number)) for number in range(npairs)]


def random_value(rng, depth=0):
    """Return a value of any type code, containers among them."""
    scalars = [
        *(rng.random() < 0.5, rng.randrange(-300, 300), rng.getrandbits(64) - 2**63, tb.Byte(rng.randrange(-128, 128))),
        *(rng.uniform(-1, 1), tb.Float(rng.random()), "".join(rng.choices("aü狐\0", k=rng.randrange(9)))),
        *(
            rng.randbytes(rng.randrange(9)),
            tb.Ext(rng.randrange(103, 201), b"e" * rng.randrange(3)),
            tb.Writable("W", b"w"),
        ),
    ]
    if depth > 2 or rng.random() < 0.7:
        return rng.choice(scalars)
    items = [random_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return rng.choice([items, tuple(items), dict(enumerate(items))])
