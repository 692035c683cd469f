"""Pairs that columns can hold: one of each type, and strategies for pairs of one shape."""

import io

from hypothesis import strategies as st

import typedbytes as tb
from typedbytes import columns


def pairs_of(*pairs):
    """Return encoded pairs."""
    return tb.Encoder().encode_pairs(pairs)


def read_one(data, *args, **options):
    """Return the one batch of some bytes."""
    (batch,) = columns.read(data, *args, **options)
    return batch


# Text of a type, its first rows' Python value.
TYPES = {
    "byte": tb.Byte(-7),
    "bool": True,
    "int": -5,
    "long": 2**40,
    "float": tb.Float(0.1),
    "double": 0.1,
    "string": "w\xf6rd",
    "bytes": b"raw",
    "ext<144>": tb.Ext(144, b"R"),
    "ext<50>": tb.Writable("C", b"own"),
    "ext<100>": 2**70,
    "vector<int * 3>": (1, 2, 3),
    "vector<>": (),
    "vector<string, double>": ("a", 1.5),
    "vector<vector<bool * 1>, vector<>>": ((True,), ()),
    "list<long>": [2**33, 2**34],
    "list<unknown>": [],
    "list<list<string>>": [["a"], []],
    "map<string, vector<double * 2>>": {"k": (0.5, 1.5)},
    "map<unknown, unknown>": {},
}

scalar_types = st.sampled_from(["byte", "bool", "int", "long", "float", "double", "string", "bytes", "ext<144>"])

SCALARS = {
    "byte": st.integers(-128, 127).map(tb.Byte),
    "bool": st.booleans(),
    "int": st.integers(-(2**31), 2**31 - 1),
    "long": st.integers(-(2**63), 2**63 - 1).map(
        lambda number: tb.Long(number) if -(2**31) <= number < 2**31 else number
    ),
    "float": st.floats(width=32).map(tb.Float),
    "double": st.floats(),
    "string": st.text(max_size=20),
    "bytes": st.binary(max_size=20),
    "ext<144>": st.binary(max_size=5).map(lambda data: tb.Ext(144, data)),
}


def nested_values(kind):
    """Return a strategy of like-shaped values: a scalar's type, or a container of types."""
    if isinstance(kind, str):
        return SCALARS[kind]
    name, *parts = kind
    if name == "vector":
        return st.tuples(*map(nested_values, parts))
    if name == "list":
        return st.lists(nested_values(parts[0]), max_size=4)
    return st.dictionaries(nested_values(parts[0]), nested_values(parts[1]), max_size=3)


kinds = st.recursive(
    scalar_types,
    lambda kinds: st.one_of(
        st.lists(kinds, max_size=3).map(lambda parts: ("vector", *parts)),
        st.tuples(st.just("list"), kinds),
        # keys without an equality of their own kind, such as NaN, are left out: they are values elsewhere
        st.tuples(st.just("map"), st.sampled_from(["bool", "int", "string", "bytes"]), kinds),
    ),
    max_leaves=5,
)


@st.composite
def like_shaped(draw):
    """Return pairs of one shape."""
    key, value = draw(kinds), draw(kinds)
    return draw(st.lists(st.tuples(nested_values(key), nested_values(value)), min_size=1, max_size=12))


def many_pairs(n=50_000):
    """Return pairs of which a batch has many."""
    return pairs_of(*((f"word{number % 997}", number + 2**33) for number in range(n)))


def written(given, **options):
    """Return the bytes of columns."""
    sink = io.BytesIO()
    columns.write(sink, given, **options)
    return sink.getvalue()
