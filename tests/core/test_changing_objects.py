"""Objects that change while they are encoded: written as they were, or refused; memory stays valid."""

import array
import collections
import gc

import pytest

import typedbytes as tb
from support.machine import NEEDS_64_BITS
from support.subprocess_runs import run_fresh

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded, pytest.mark.every_python]


class Changing:
    """Run something when default= is asked about it."""

    def __init__(self, change):
        self.change = change


def encode_changing(obj, **options):
    """Encode with a default that runs the change and gives 0."""
    return tb.dumps(obj, default=lambda thing: (thing.change(), 0)[1], **options)


LIST_CHANGES = {
    "clear": (lambda items: items.clear(), [0]),
    "pop": (lambda items: items.pop(), [0, "b"]),
    "shrink": (lambda items: items.__delitem__(slice(1, None)), [0]),
    "append": (lambda items: items.append("d"), [0, "b", "c", "d"]),
    "insert": (lambda items: items.insert(0, "z"), [0, 0, "b", "c"]),
    "replace": (lambda items: items.__setitem__(slice(None), ["x", "y"]), [0, "y"]),
    "reverse": (lambda items: items.reverse(), None),
}


@pytest.mark.parametrize("name", LIST_CHANGES)
def test_a_list_that_changes_is_written_whole(name):
    change, expected = LIST_CHANGES[name]
    items = []
    calls = []
    items += [Changing(lambda: calls or (calls.append(1), change(items))), "b", "c"]
    encoded = encode_changing(items)
    assert tb.count(encoded) == 1
    if expected is not None:
        assert tb.loads(encoded) == expected


DICT_CHANGES = {
    "clear": lambda items: items.clear(),
    "delete": lambda items: items.__delitem__("b"),
    "add": lambda items: items.update(z=1),
    "grow": lambda items: items.update(dict.fromkeys(range(100))),
    "swap": lambda items: (items.pop("b"), items.update(y=1)),
    "replace": lambda items: items.update(b=[1]),
    "all_new": lambda items: (items.clear(), items.update(x=1, y=2, z=3)),
}


@pytest.mark.parametrize("sort_keys", [False, True])
@pytest.mark.parametrize("where", ["key", "value", "nested"])
@pytest.mark.parametrize("name", DICT_CHANGES)
def test_a_dict_that_changes_is_written_whole_or_refused(name, where, sort_keys):
    items, calls = {}, []
    changing = Changing(lambda: calls or (calls.append(1), DICT_CHANGES[name](items)))
    if where == "key":
        items[changing] = 5
    else:
        items["a"] = [changing] if where == "nested" else changing
    items.update(b=2, c=3)
    try:
        encoded = encode_changing(items, sort_keys=sort_keys)
    except RuntimeError as error:
        assert "changed" in str(error)
    else:
        assert tb.count(encoded) == 1
        assert len(tb.loads(encoded, map_pairs=True)) == 3


@pytest.mark.parametrize("nbefore", [0, 1, 2, 9])
@pytest.mark.parametrize("kind", [type("Own", (dict,), {}), collections.OrderedDict])
@pytest.mark.parametrize("name", DICT_CHANGES)
def test_a_dict_subclass_that_changes_is_written_as_it_was(name, kind, nbefore):
    items = kind((number, number) for number in range(nbefore))
    calls = []
    items["a"] = Changing(lambda: calls or (calls.append(1), DICT_CHANGES[name](items)))
    items.update(b=[2], c=3)
    written = tb.loads(encode_changing(items), map_pairs=True)
    assert calls
    assert [key for key, _ in written] == [*range(nbefore), "a", "b", "c"]
    assert [value for key, value in written if key != "a"] == [*range(nbefore), [2], 3]


EXPORTERS = {
    "bytearray": (lambda: bytearray(b"data"), lambda held: held.extend(bytes(10**6))),
    "cleared": (lambda: bytearray(b"data"), lambda held: held.clear()),
    "array": (lambda: array.array("B", b"data"), lambda held: held.extend(bytes(10**6))),
    "released": (lambda: memoryview(bytearray(b"data")), lambda held: held.release()),
}


@pytest.mark.parametrize("name", EXPORTERS)
def test_memory_that_changes_before_and_after_it_is_written(name):
    make, change = EXPORTERS[name]
    held = make()
    after = encode_changing([held, Changing(lambda: change(held))])
    assert after == tb.dumps([b"data", 0])
    held = make()
    if name == "released":
        with pytest.raises(ValueError, match="released"):
            encode_changing([Changing(lambda: change(held)), held])
    else:
        before = encode_changing([Changing(lambda: change(held)), held])
        assert before == tb.dumps([0, bytes(held)])


ERROR_HANDLERS = """
    import codecs, gc, sys, typedbytes as tb
    held = {held}
    def handler(error):
        held.clear()
        gc.collect()
        fresh = ["x%d" % number * 9 for number in range(5000)]
        if {raises}:
            raise error
        error.object = "other"
        return "?", error.end
    codecs.register_error("clearing", handler)
    {fill}
    try:
        print(len(tb.dumps(held, unicode_errors="clearing")) > 0)
    except (tb.EncodeValueError, RuntimeError, IndexError) as error:
        print(True)
"""


@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize(
    "held, fill",
    [
        ("{}", "held['key%d' % sys.maxsize] = chr(0xdc80) * 100"),
        ("{}", "held[chr(0xdc80) * 100] = 'value%d' % sys.maxsize"),
        ("{}", "held[chr(0xdc80) * 100] = 2 ** 70 + sys.maxsize"),
        ("[]", "held.append('a' * 1000 + chr(0xdc80) * 1000); held.append('b' * sys.getrecursionlimit())"),
        ("{}", "held['a%d' % sys.maxsize] = {'b%d' % sys.maxsize: chr(0xdc80) * 100}"),
    ],
)
def test_an_error_handler_that_clears_what_is_written_harms_nothing(held, fill, raises):
    assert run_fresh(ERROR_HANDLERS.format(held=held, fill=fill, raises=raises)) == "True"


@pytest.mark.parametrize(
    "fill", ["held[2 ** 5000] = ('v%d' % sys.maxsize) * 100", "held['k%d' % sys.maxsize] = 2 ** 5000"]
)
def test_a_trace_function_that_clears_what_is_written_harms_nothing(fill):
    code = f"""
        import sys, typedbytes as tb
        tb.dumps(2 ** 5000)
        held = {{}}
        def trace(*_):
            held.clear()
            fresh = [("x%d" % number) * 99 for number in range(2000)]
        {fill}
        sys.setprofile(trace)
        try:
            tb.dumps(held)
        except RuntimeError:
            pass
        sys.setprofile(None)
        print(len(held))
    """
    assert run_fresh(code) == "0"


@pytest.mark.parametrize(
    "method, nhooks",
    [("encode", 4), ("encode_all", 4), ("encode_pairs", 8), ("encode_into", 4), ("write", 4), ("sorted", 20)],
)
def test_a_hook_that_calls_init_of_its_encoder_again_harms_nothing(method, nhooks):
    """A call goes on with the options that it began with."""
    code = f"""
        import io, typedbytes as tb
        class Hook:
            def __call__(self, obj):
                try:
                    encoder.__init__(*arguments, unicode_errors="replace")
                except RuntimeError:
                    pass
                fresh = [Hook() for _ in range(1000)]
                return "\\udcff"
        sink, target, things, arguments = io.BytesIO(), bytearray(), [object() for _ in range(4)], []
        options = dict(default=Hook(), unicode_errors="".join(["surrogate", "escape"]))
        if {method!r} == "write":
            arguments = [sink]
            encoder = tb.Writer(*arguments, **options)
            encoder.write(things)
            encoder.close()
            encoded = sink.getvalue()
        else:
            encoder = tb.Encoder(sort_keys=True, **options)
            del options
            encoded = dict(
                encode=lambda: encoder.encode(things),
                encode_all=lambda: encoder.encode_all(things),
                encode_pairs=lambda: encoder.encode_pairs(zip(things, things)),
                encode_into=lambda: target[:encoder.encode_into(things, target)],
                sorted=lambda: encoder.encode(dict.fromkeys(things, things)),
            )[{method!r}]()
        print(encoded.count(b"\\7\\0\\0\\0\\1\\xff"))
    """
    assert run_fresh(code, flags=("-X", "dev")) == str(nhooks)  # development mode overwrites freed memory


# Over the true number of items or characters, which is after the head of all objects, one is written that would not fit
# into memory here. To look at any of the items that are not there would be the end.
FORGED = {
    "bytes": "bytes(100)",
    "ascii": "'a' * 100 + str(number)",
    "latin": "chr(233) * 100 + str(number)",
    "wide": "chr(0x20ac) * 100 + str(number)",
    "tuple": "(number,) * 100",
    "dict": "{number: number, -1: 1}",
}


@NEEDS_64_BITS
@pytest.mark.parametrize("name", FORGED)
@pytest.mark.parametrize("count", [2**31, 2**32, 2**32 + 5, 2**62])
def test_what_is_too_long_is_refused_before_it_is_looked_at(name, count):
    code = f"""
        import ctypes, gc, typedbytes as tb
        gc.disable()
        number = 10**6
        thing = {FORGED[name]}
        length = ctypes.c_ssize_t.from_address(id(thing) + object.__basicsize__)
        encoder, target, true_length = tb.Encoder(), bytearray(), length.value
        into, inside = lambda thing: encoder.encode_into(thing, target), lambda thing: encoder.encode([1, thing])
        for use in (encoder.encode, into, inside):
            length.value = {count}
            try:
                use(thing)
            except tb.EncodeValueError as error:
                said = str(error)
                path = error.path
            else:
                said = "written"
            length.value = true_length
            print(repr(path), said, len(target), encoder.encode(1) == tb.dumps(1))
    """
    for line, path in zip(run_fresh(code).splitlines(), ["", "", "[1]"]):
        assert line.startswith(repr(path))
        assert f" of {count} is longer than 2^31-1" in line
        assert line.endswith(" 0 True")


def test_a_set_that_the_collector_changes_is_written_as_it_was_or_is():
    class Trap:
        def __del__(self):
            values.add("added")

    values = set(range(1000, 1100))
    states = [set(values), {*values, "added"}]
    thresholds = gc.get_threshold()
    gc.disable()
    trap = Trap()
    trap.itself = trap
    del trap
    try:
        gc.set_threshold(1)
        gc.enable()  # it runs at the next container that is made
        data = tb.dumps(values)
    finally:
        gc.set_threshold(*thresholds)
        gc.enable()
    assert tb.loads(data) in states
