"""The command from-json."""

import pytest

from support.commands import LINES, ONE, STREAM, TWO, bad, good


def test_from_json():
    assert good("from-json", stdin=LINES) == STREAM
    assert good("from-json", stdin=b"\n 1 \r\n\t\n2") == ONE + TWO


@pytest.mark.parametrize("line", [b"1", b"[1]", b"[1, 2, 3]", b'{"vector": [1, 2]}'])
def test_a_line_that_is_not_a_pair(line):
    stdout, message = bad(65, "from-json", "--pairs", stdin=b"[1, 2]\n" + line)
    assert stdout == ONE + TWO
    assert message.startswith("standard input: line 2: expected an array of a key and a value, not ")


def test_typedbytes_by_mistake():
    stdout, message = bad(65, "from-json", stdin=STREAM)
    assert stdout == b""
    assert message.startswith("standard input: line 1: not JSON")


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
@pytest.mark.parametrize(
    ("line", "column", "is_cut"),
    [
        (b'{"a":', 6, True),
        (b"[1,", 4, True),
        (b'["abc', 2, True),
        (b'{"a": 1 ', 9, True),
        (b'{"a": 1} 2x', 11, False),
        (b"'a'", 1, False),
    ],
)
def test_the_column_of_what_is_not_json(line, column, is_cut, end):
    message = bad(65, "from-json", stdin=b"1\n" + line + end)[1]
    assert message.startswith(f"standard input: line 2: not JSON at column {column}: ")
    is_string = line == b'["abc' and end
    hint = "; a string ends in the line where it starts" if is_string else "; the input ends inside a value"
    assert message.endswith(hint) is is_cut


def test_a_byte_order_mark_before_lines_of_json(file):
    mark = b"\xef\xbb\xbf"
    path = file(mark + LINES, "a.json")
    assert good("from-json", path, path) == STREAM * 2
    assert good("block", "encode", stdin=mark + b"[1]\n") == good("block", "encode", stdin=b"[1]\n")
    assert good("from-json", stdin=mark) == good("from-json", stdin=mark + b"\n") == b""
    for lines in (LINES, b"1\n", b" [" + b"1," * 99_999 + b"1]\n", b'{"a":\n1}\n', b""):
        assert good("cat", "--values", stdin=mark + lines) == good("from-json", stdin=lines)
        assert good("cat", "--values", file(mark + lines, "b.json")) == good("from-json", stdin=lines)
    for text in (b"one\n", b"1 2\n", b"[INFO] up\n"):
        assert "text that is neither typed bytes nor lines of JSON" in bad(65, "cat", stdin=mark + text)[1]
    assert bad(65, "from-json", stdin=mark + b"'")[1].startswith("standard input: line 1: not JSON at column 1: ")
    assert bad(65, "from-json", stdin=b"1\n" + mark + b"1\n")[1].startswith(
        "standard input: line 2: not JSON at column 1: "
    )


def test_bad_json_is_placed(file):
    path = file(b'1\n\n{"byte": 500}\n2\n', "a.json")
    stdout, message = bad(65, "from-json", path)
    assert stdout == ONE
    form = '{"byte": ...} is a form of the lossless JSON (--plain of from-json and convert reads it as it is)'
    assert message == f"{path}: line 3: expected an integer of 8 bits, not 500; {form}"


def test_max_bytes_of_a_line():
    assert good("from-json", "--max-bytes", "3", stdin=b"1\n  2\n  2") == ONE + TWO + TWO
    stdout, message = bad(65, "from-json", "--max-bytes", "3", stdin=b"1\n   2\n")
    assert (stdout, message) == (ONE, "standard input: line 2: longer than 3 bytes")
