"""Objects to bytes and back, in memory: a whole list in one call, and item by item.

Here: which shape is measured with whom. Invariant: all contenders get equal objects in the same order;
what they are to decode they have encoded themselves.
"""

import time
from collections import deque
from functools import lru_cache, partial

import pytest

import contenders
import data
from timing import Runner

#: Contenders that would be the same as another in these operations, or make no sense there.
LEFT_OUT = {
    "encode": ("typedbytes functions", "msgspec functions", "msgspec typed"),
    "decode": ("typedbytes functions", "msgspec functions"),
    "encode each": ("typedbytes stream", "msgspec typed"),
    "decode each": ("typedbytes stream", "msgspec typed"),
}


@lru_cache(maxsize=2)
def variants(shape_name, scale):
    """Return the lists of a shape that the rounds take in turn."""
    shape = data.SHAPES[shape_name]
    return [shape.items(variant, scale) for variant in range(shape.nvariants(scale))]


def call_each(function, arguments):
    """Call a function with each argument and drop what it gives."""
    deque(map(function, arguments), maxlen=0)


def encode(codec, shape, lists):
    """Return how to encode a list, and how to make one."""
    return codec.dumps, partial(objects, shape, lists)


def decode(codec, shape, lists):
    """Return how to decode a list, and how to find its bytes."""
    encoded = [codec.dumps(items) for items in lists]
    return codec.loads, lambda nround: encoded[nround % len(encoded)]


def encode_each(codec, shape, lists):
    """Return how to encode the items of a list, and how to make one."""
    return partial(call_each, codec.dumps), partial(objects, shape, lists)


def decode_each(codec, shape, lists):
    """Return how to decode the items of a list, and how to find their bytes."""
    encoded = [[codec.dumps(item) for item in items] for items in lists]
    return partial(call_each, codec.loads), lambda nround: encoded[nround % len(encoded)]


def objects(shape, lists, nround):
    """Return the list of a round, fresh where there is text in it."""
    items = lists[nround % len(lists)]
    return data.fresh(items) if shape.name in data.WITH_TEXT else items


OPERATIONS = {"encode": encode, "decode": decode, "encode each": encode_each, "decode each": decode_each}


def runner(operation, shape_name, contender, scale=1):
    """Return a contender ready to run, or None if it is not installed."""
    shape = data.SHAPES[shape_name]
    codec = contenders.codec(contender, shape)
    if codec is None:
        return None
    lists = variants(shape_name, scale)
    run, prepare = OPERATIONS[operation](codec, shape, lists)
    if operation.endswith("each"):
        encoded = [codec.dumps(item) for item in lists[0]]
        return Runner(contender, run, prepare, sum(map(len, encoded)), list(map(codec.loads, encoded)) == lists[0])
    encoded = codec.dumps(lists[0])
    return Runner(contender, run, prepare, len(encoded), codec.loads(encoded) == lists[0])


@lru_cache(maxsize=4)
def nvalues(operation, shape_name, scale=1):
    """Return the number of leaves and containers in a list of a shape."""
    return data.count_values(variants(shape_name, scale)[0])


def names(operation, shape_name):
    """Return the contenders that can do this."""
    shape, left_out = data.SHAPES[shape_name], LEFT_OUT[operation]
    if operation == "encode" and shape_name in data.PICKLED:
        # it stands for msgspec, whose decoder gives text
        left_out = [name for name in left_out if name != "msgspec typed"]
    return [name for name in contenders.CONTENDERS if name not in left_out and contenders.can(name, shape)]


def races():
    """Yield the operations and their shapes."""
    for operation in OPERATIONS:
        for shape_name in data.BY_VALUE if operation.endswith("each") else data.SHAPES:
            yield operation, shape_name


CASES = [(*race, name) for race in races() for name in names(*race)]


@pytest.mark.benchmark(timer=time.process_time)
@pytest.mark.parametrize(("operation", "shape", "contender"), CASES)
def bench_objects(measure, scale, operation, shape, contender):
    measure(f"{operation} {shape}", runner(operation, shape, contender, scale), nvalues(operation, shape, scale))
