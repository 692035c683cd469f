"""JSON as other programs write it: indented, several values on a line, names that occur twice.

Python's json says what each value is.
"""

import io
import json
import tracemalloc

import pytest
from hypothesis import given, strategies as st

import typedbytes as tb
from support.commands import bad, good
from typedbytes.cli._failure import Failure
from typedbytes.cli._forms.json_form import encoded_lines
from typedbytes.cli._input.formats import lines_of

LONGS = st.integers(-(2**63), 2**63 - 1)
LEAVES = (
    st.none()
    | st.booleans()
    | LONGS
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text('aé"\\[]{}:, \u2028😀')
)
TREES = st.recursive(LEAVES, lambda each: st.lists(each) | st.dictionaries(st.text('ab"]'), each), max_leaves=12)
LAYOUTS = st.tuples(st.sampled_from([None, 0, 2, "\t"]), st.booleans(), st.sampled_from(["\n", " ", "\r\n", "\n\n \t"]))


def decoded(text, nbytes=1 << 20, max_bytes=None, **how):
    lines = lines_of(io.BytesIO(text if isinstance(text, bytes) else text.encode()), "here", max_bytes, nbytes)
    return [tb.loads(each) for each in encoded_lines(lines, max_bytes=max_bytes, **how)]


@given(st.sampled_from([1, 2, 7, 1 << 20]), st.lists(st.tuples(TREES, LAYOUTS)))
def test_values_in_any_layout_and_in_pieces(nbytes, values):
    text = "".join(
        json.dumps(tree, indent=indent, ensure_ascii=is_ascii) + end for tree, (indent, is_ascii, end) in values
    )
    expected = [tb.loads(tb.dumps(tree)) for tree, _ in values]
    assert decoded(text, nbytes, plain=True) == decoded(text.rstrip(), nbytes, plain=True) == expected


STREAM = (
    tb.dumps({"a": {"b": [1, {}]}, "c": b"\0"})
    + tb.dumps([])
    + tb.dumps([[[1.5], "x"], None])
    + tb.dumps("}{")
    + tb.dumps((1, {2: 3}))
)


def test_what_to_json_writes_with_indentation():
    pretty = good("to-json", "--pretty", stdin=STREAM)
    assert pretty.count(b"\n") > 20
    assert (
        good("from-json", stdin=pretty) == good("cat", "--to", "typedbytes", "--from", "json", stdin=pretty) == STREAM
    )
    assert good("from-json", stdin=b" ".join(pretty.split(b"\n"))) == STREAM
    pairs = tb.Encoder().encode_pairs([("k", {"n": [1]}), ("l", [])])
    assert good("from-json", "--pairs", stdin=good("to-json", "--pairs", "--pretty", stdin=pairs)) == pairs


def test_inputs_do_not_continue_each_other(file):
    first, second = file(b"1", "a.json"), file(b"2", "b.json")
    assert good("from-json", first, second) == tb.dumps(1) + tb.dumps(2)
    assert bad(65, "from-json", file(b"[\n1,\n", "c.json"), second)[1].startswith(
        f"{first[:-6]}c.json: line 2: not JSON at column 3: "
    )


@pytest.mark.parametrize(
    "text", ['{"a": 1, "b": 2, "a": 3}', '[{"x": {"a": [], "a": {}}}]', '{"bytes": 1, "bytes": 2}']
)
def test_a_name_that_occurs_twice(text):
    """The last one counts, as for Python's json, and as for a MAP with equal keys that is decoded."""
    (found,) = decoded(text, plain=True)
    assert list(map(repr, [found])) == list(map(repr, [json.loads(text)]))
    with pytest.raises(Failure, match=r'here: line 1: a name occurs twice in an object; \{"map": '):
        decoded(text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("1\n[2,\n3\n4]", "line 4: not JSON at column 1: "),
        ('{"a": 1\n{"b": 2}\n', "line 2: not JSON at column 1: "),
        ("[1]\n[2}\n", "line 2: not JSON at column 3: "),
        ("{} {}\n[\n1]\n3 '", "line 4: not JSON at column 3: "),
        ("1 01", "line 1: not JSON at column 4: Extra data"),
        ("truefalse", "line 1: not JSON at column 5: Extra data"),
        ('1"a"', "line 1: not JSON at column 2: Extra data"),
        ("{}]", "line 1: not JSON at column 3: "),
        ("[\n\n1,\nNaN]", "line 1: NaN is not JSON"),
        ('{"a":\n"b\nc"}', "line 2: not JSON at column 1: Unterminated string"),
    ],
)
@pytest.mark.parametrize("nbytes", [1, 1 << 20])
def test_what_is_not_json_is_located(text, place, nbytes):
    with pytest.raises(Failure) as caught:
        decoded(text, nbytes, plain=True)
    assert str(caught.value).startswith(f"here: {place}")
    assert "double" not in str(caught.value)


def test_objects_without_anything_between_them():
    assert decoded('{}{"a": 1}[2][]\n') == [{}, {"a": 1}, [2], []]


@pytest.mark.parametrize(
    "text", [b'{"a": [1]}\n', b'{"a": [1]} ', b'{"a":\n[1]}', b'{"a":\n[1]\n}\n', b'"0123456789" ']
)
def test_memory_is_that_of_a_value(text):
    lines = lines_of(io.BytesIO(text * (300_000 // len(text))), "here", None, 1 << 12)
    values = encoded_lines(lines, plain=True)
    tracemalloc.start()
    try:
        nvalues = sum(1 for _ in values)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert nvalues == 300_000 // len(text)
    assert peak < 250_000


def test_the_time_for_a_long_value_grows_with_its_length():
    """A value on many lines, or in many pieces, is not decoded again for each of them."""
    text = "[\n" + "[\n]\n,\n" * 50_000 + "0\n]\n"
    for each in text, text.replace("\n", ""):
        (found,) = decoded(each, 1 << 10)
        assert len(found) == 50_001


def test_max_bytes_of_a_value_on_several_lines():
    text = "[\n1,\n2\n]\n" * 10
    assert decoded(text, max_bytes=10) == [[1, 2]] * 10
    with pytest.raises(Failure, match="here: line 1: longer than 6 bytes"):
        decoded(text, max_bytes=6)
    assert decoded("[1]\n[\n1,\n2]\n", max_bytes=7) == [[1], [1, 2]]
    with pytest.raises(Failure, match="here: line 2: longer than 6 bytes"):  # the line that is too long ends the value
        decoded("[1]\n[\n1,\n2]\n", max_bytes=6)
    assert decoded("1\n2\n" * 100, max_bytes=2) == [1, 2] * 100
    for last in ("[\n1\n] 22 3", "[\n1\n][ 22]"):  # where no newline ends the line, each value counts alone
        assert len(decoded(last, max_bytes=7)) == 2 + last.count("3")
