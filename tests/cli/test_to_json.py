"""The command to-json."""

import datetime
import subprocess
import sys

import pytest

import typedbytes as tb
from support.commands import LINES, LIST, ONE, STREAM, bad, good

pytestmark = pytest.mark.quick


def test_forms_of_json():
    data = tb.dumps({"d": datetime.date(2020, 1, 2)}) + tb.dumps(b"x")
    for command in ("head", "tail", "cat", "sort", "to-json", "slice", "uniq"):
        assert good(command, "--plain", "--values", stdin=data) in (
            b'{"d": "2020-01-02"}\n"x"\n',
            b'"x"\n{"d": "2020-01-02"}\n',
        )
        assert good(command, "--plain", "--pretty", "--values", stdin=data).splitlines()[-1] in (b'"x"', b"}")
    assert good("head", "--pretty", "--pairs", stdin=ONE + LIST) == b'[\n  1,\n  [\n    1,\n    "hi"\n  ]\n]\n'
    assert good("--plain", "head", "--to", "json", stdin=data) == good("head", "--plain", stdin=data)
    for option in "--plain", "--pretty":
        assert bad(64, "head", option, "--to", "block", stdin=data) == (
            b"",
            "--plain and --pretty are forms of JSON, not of block",
        )


@pytest.mark.uncounted("coverage.py imports json")
def test_json_is_written_without_the_json_module(file):
    script = "import sys; from typedbytes.cli import main; main(sys.argv[1:]); sys.exit('json' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", script, "to-json", file(STREAM)], stdout=subprocess.DEVNULL).returncode
        == 0
    )


def test_to_json():
    assert good("to-json", stdin=STREAM) == LINES


def test_dialect_of_json():
    assert good("to-json", "--dialect=hive", stdin=b"\x0b\x00\x05\x0c") == b'{"short": 5}\nnull\n'
    assert good("from-json", "--dialect=hive", stdin=b'{"short": 5}\nnull\n') == b"\x0b\x00\x05\x0c"


def test_control_characters_of_data_stay_out_of_json():
    text = "\x00\x07\x1b[2J\x7f\x9b\u202e".encode()
    lines = good("to-json", stdin=b"\x07\x00\x00\x00\x0c" + text)
    assert lines == b'"\\u0000\\u0007\\u001b[2J\\u007f\\u009b\\u202e"\n'
