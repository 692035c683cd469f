"""What is copied, shown and compared: value types; and what has a state and is not copied."""

import copy
import io
import pickle

import pytest

import typedbytes as tb

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    "value", [tb.Byte(5), tb.Long(5), tb.Float(1.5), tb.Ext(60, b"a"), tb.Writable("a.B", b"c")], ids=repr
)
def test_value_types_are_copied_shown_and_compared(value):
    for found in (
        pickle.loads(pickle.dumps(value)),
        copy.copy(value),
        copy.deepcopy(value),
        eval(repr(value), vars(tb)),
    ):
        assert (type(found), found) == (type(value), value)
        assert hash(found) == hash(value)
    with pytest.raises(AttributeError):
        value.anything = 1
    assert tb.loads(tb.dumps(value), exact=True) == value


def test_opaque_values_equal_only_their_own_kind():
    ext, writable = tb.Ext(60, b"a"), tb.Writable("a", b"b")
    assert ext != (60, b"a")
    assert (60, b"a") != ext  # noqa: SIM300, the other operand is asked first
    assert ext == tb.Ext(60, bytearray(b"a"))
    assert tuple(ext) == (60, b"a")
    assert writable not in {("a", b"b"), ext}
    (code, data), (name, rest) = ext, writable
    assert (code, data, name, rest) == (ext.code, ext.data, writable.class_name, writable.data)
    assert len(repr(tb.Ext(60, bytes(10**6)))) < 200
    assert len(repr(tb.Writable("n" * 10**6, bytes(10**6)))) < 400


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: tb.Ext(49), ValueError), (lambda: tb.Ext(201), ValueError), (lambda: tb.Ext(0), ValueError),
        (lambda: tb.Ext(255), ValueError), (lambda: tb.Ext("60"), TypeError), (lambda: tb.Ext(60, "text"), TypeError),
        (lambda: tb.Ext(60.5), (TypeError, ValueError)), (lambda: tb.Ext(60, 5), TypeError),
        (lambda: tb.Writable(b"name"), TypeError), (lambda: tb.Writable("name", "text"), TypeError),
        (lambda: tb.Writable("name", 5), TypeError), (lambda: tb.Byte(128), ValueError),
        (lambda: tb.Byte(-129), ValueError), (lambda: tb.Long(2**63), ValueError), (lambda: tb.Byte("x"), ValueError),
        (lambda: tb.Float("x"), ValueError),
    ],
)  # fmt: skip
def test_value_types_refuse_what_they_cannot_hold(make, error):
    with pytest.raises(error):
        make()


def stateful():
    """Return one of each object that has a state of its own."""
    reader = tb.PairReader(io.BytesIO(tb.dumps("k") + tb.dumps("v")))
    groups = reader.groups()
    _, values = next(groups)
    decoder = tb.Decoder()
    decoder.feed(b"\2")
    return [
        tb.Encoder(), decoder, tb.Reader(b""), reader, groups, values, tb.Writer(io.BytesIO()),
        tb.PairWriter(io.BytesIO()),
    ]  # fmt: skip


@pytest.mark.parametrize("index", range(8))
@pytest.mark.parametrize(
    "use",
    [pickle.dumps, copy.copy, copy.deepcopy, lambda obj: obj.__reduce_ex__(2)],
    ids=["pickle", "copy", "deepcopy", "reduce"],
)
def test_what_has_a_state_is_not_copied(use, index):
    with pytest.raises(TypeError):
        use(stateful()[index])


@pytest.mark.parametrize("index", range(8))
def test_what_has_a_state_is_shown_shortly(index):
    assert len(repr(stateful()[index])) < 120


def test_subclasses_may_add_and_not_break():
    class Counting(tb.Reader):
        def __init__(self, source):
            super().__init__(source)
            self.seen = 0

        def __next__(self):
            self.seen += 1
            return super().__next__()

    reader = Counting(b"\2\1\2\0")
    assert (list(reader), reader.seen) == ([True, False], 3)

    class Lazy(tb.Writer):
        def __init__(self):
            pass

    writer = Lazy()
    with pytest.raises(ValueError, match="closed"):
        writer.write(1)
    writer.close()
