"""Cycles, depth and small stacks: nested objects are encoded or refused, and never overflow the stack."""

import collections
import sys
import textwrap

import pytest

import typedbytes as tb
from support.encoding_values import ONE, List, nested
from support.subprocess_runs import run_fresh

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded, pytest.mark.every_python]

KINDS = ["list", "tuple", "dict", "subclass", "OrderedDict"]


@pytest.mark.parametrize("sort_keys", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_depth_is_counted_alike_for_all_containers(kind, sort_keys):
    encoder = tb.Encoder(max_depth=256, sort_keys=sort_keys)
    encoded = encoder.encode(nested(256, kind))
    assert tb.skip(encoded) == len(encoded)
    tb.loads(encoded)
    for depth in (257, 300):
        with pytest.raises(tb.EncodeValueError, match="max_depth=256"):
            encoder.encode(nested(depth, kind))
    with pytest.raises(tb.EncodeValueError, match="max_depth=0"):
        tb.dumps(nested(1, kind), max_depth=0)


@pytest.mark.parametrize("kind", ["list", "dict", "subclass", "OrderedDict", "tuple", "key"])
def test_what_holds_itself_is_refused(kind):
    cycle = {
        "list": [],
        "dict": {},
        "subclass": List(),
        "OrderedDict": collections.OrderedDict(),
        "tuple": ([],),
        "key": {},
    }[kind]
    if kind == "tuple":
        cycle[0].append(cycle)
    elif kind == "key":
        cycle[(1, "k")] = (cycle,)
    elif isinstance(cycle, list):
        list.append(cycle, cycle)
    else:
        cycle["k"] = cycle
    encoder = tb.Encoder()
    for _ in range(3):
        with pytest.raises(tb.EncodeValueError, match="deeper"):
            encoder.encode([cycle])
    assert encoder.encode(1) == ONE


STEPS = {"list": "[value]", "tuple": "(value,)", "dict": "{'k': value}", "value_of_key": "{(1, 'k'): value}"}

USES = {
    "encode": "tb.dumps(value)",
    "encode_sorted": "tb.dumps(value, sort_keys=True)",
    "encode_too_deep": "tb.dumps([[value]])",
    "decode": "tb.loads(encoded)",
    "decode_exact": "tb.loads(encoded, exact=True)",
    "decode_pairs": "tb.loads(encoded, map_pairs=True)",
    "decode_bad": "tb.loads(encoded[:-1] + b'\\x0b')",
    "skip": "tb.skip(encoded)",
}


def run_on_a_stack(nkibibytes, prepare, work, *arguments):
    """Run `prepare`, then `work` in a thread with a stack of that size; return what was printed."""
    lines = [
        "import sys, threading, typedbytes as tb", textwrap.dedent(prepare), "def work():",
        textwrap.indent(textwrap.dedent(work), "    "), f"threading.stack_size({nkibibytes} * 1024)",
        "thread = threading.Thread(target=work)", "thread.start()", "thread.join()",
    ]  # fmt: skip
    return run_fresh("\n".join(lines), *arguments)


@pytest.mark.uncounted("needs an optimised build")
@pytest.mark.unsanitized("frames are several times as large")
@pytest.mark.parametrize("step", STEPS)
def test_the_deepest_values_on_a_stack_of_128_kib(step):
    prepare = f"""
        value = 1
        for _ in range(255):
            value = {STEPS[step]}
        encoded = tb.dumps(value)
    """
    work = """
        try:
            eval(sys.argv[1])
        except (tb.DecodeError, tb.EncodeValueError):
            pass
        print(True)
    """
    for name, use in USES.items():
        assert run_on_a_stack(128, prepare, work, use) == "True", name


@pytest.mark.uncounted("needs an optimised build")
@pytest.mark.unsanitized("frames are several times as large")
def test_a_deep_key_on_a_stack_of_128_kib():
    prepare = """
        key = ()
        for _ in range(254):
            key = (key,)
        encoded = b"\\x0a\\0\\0\\0\\2" + (tb.dumps(key) + tb.dumps(True)) * 2
    """
    assert run_on_a_stack(128, prepare, "print(len(tb.loads(encoded)))") == "1"


def test_a_million_items_are_released_on_a_stack_of_128_kib():
    prepare = "encoded = tb.dumps([[number, (number,)] for number in range(250_000)])"
    work = """
        value = tb.loads(encoded)
        del value[:]
        print(tb.loads(encoded) is not None)
    """
    assert run_on_a_stack(128, prepare, work) == "True"


@pytest.mark.unsanitized("frames are several times as large")
def test_a_default_that_nests_on_a_stack_of_256_kib():
    work = """
        try:
            tb.dumps(object(), default=lambda obj: [[[obj]]])
        except tb.EncodeValueError:
            print(True)
    """
    assert run_on_a_stack(256, "", work) == "True"


@pytest.mark.parametrize("kind", KINDS)
def test_a_low_recursion_limit_changes_nothing(kind):
    value, before = nested(256, kind), sys.getrecursionlimit()
    depth, frame = 0, sys._getframe()
    while frame:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(depth + 30)
    try:
        encoded = tb.dumps(value)
    finally:
        sys.setrecursionlimit(before)
    assert encoded == tb.dumps(value)
