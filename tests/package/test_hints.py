"""Errors say which option accepts what they refuse, and that option does."""

import io
import pickle

import pytest

import typedbytes as tb
from typedbytes import columns, sequencefile

LATIN_1 = b"\x07\x00\x00\x00\x04caf\xe9"
REFUSED = b"cos\nsystem\n."  # a function: no safe pickle has one
PICKLE = b"\x64" + len(REFUSED).to_bytes(4, "big") + REFUSED


def read_column(*values, **how):
    return list(columns.read(b"".join(map(tb.dumps, values)), pairs=False, **how))


def write_column(values, **how):
    columns.write(io.BytesIO(), {"value": values}, pairs=False, **how)


@pytest.mark.parametrize(
    "function, option, accepts, has_hint",
    [
        (lambda **how: tb.loads(LATIN_1, **how), "unicode_errors", "surrogateescape", False),
        (lambda **how: sequencefile.decode("Text", b"\x04caf\xe9", **how), "unicode_errors", "surrogateescape", False),
        (lambda **how: tb.loads(PICKLE, **how), "pickle", "raw", True),
        (lambda **how: tb.dumps(object(), **how), "default", str, True),
        (lambda **how: tb.dumps(object(), pickle="raw", **how), "default", str, True),
        (lambda **how: tb.dumps("\ud800", **how), "unicode_errors", "surrogatepass", True),
        (lambda **how: read_column(1, "a", **how), "on_mismatch", "widen", True),
        (lambda **how: write_column([1, None], **how), "nulls", "hive", True),
    ],
    ids=["STRING", "Text", "PICKLE", "object", "object, raw", "surrogate", "column", "null"],
)
def test_the_option_of_a_hint_accepts_what_was_refused(function, option, accepts, has_hint):
    with pytest.raises(tb.TypedBytesError) as caught:
        function()
    error = caught.value
    assert error.option == option and error.hint in error.message and bool(error.hint) is has_hint
    function(**{option: accepts})
    copied = pickle.loads(pickle.dumps(error))
    assert (copied.option, copied.hint, str(copied)) == (option, error.hint, str(error))


@pytest.mark.parametrize("compression", ["none", "record", "block"])
@pytest.mark.parametrize("value, option", [(LATIN_1, "unicode_errors"), (PICKLE, "pickle")], ids=["STRING", "PICKLE"])
def test_a_hint_is_kept_where_an_error_gets_an_offset_in_the_file(value, option, compression, tmp_path):
    path = tmp_path / "part-00000"
    with sequencefile.Writer(str(path), compression=compression) as writer:
        writer.write_typed(tb.dumps(1) + value)
    with sequencefile.Reader(str(path)) as reader, pytest.raises(tb.FormatError) as caught:
        list(reader)
    assert caught.value.option == option and caught.value.hint in caught.value.message


def test_errors_without_an_option_give_no_hint():
    with pytest.raises(tb.FormatError) as caught:
        tb.loads(b"\xff")
    assert (caught.value.option, caught.value.hint) == (None, "")
    with pytest.raises(tb.FormatError) as caught:
        tb.loads(PICKLE[:-1] + b"?", pickle="trust")
    assert (caught.value.option, caught.value.hint) == (None, "")
