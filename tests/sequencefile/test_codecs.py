"""A codec is one row of sequencefile/_codecs.py; here is what else a new one needs, each failing until it is there."""

import re
from pathlib import Path

import pytest

import sequencefiles
from commands import good
from typedbytes import sequencefile
from typedbytes.sequencefile import _codecs

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = [name for name in _codecs._CODECS if name not in _codecs._READ_ONLY]


def test_hadoops_files_of_every_codec_are_read():
    """test_vectors/java makes these files; test_vectors.py and test_hadoop.py run over the list."""
    assert list(_codecs._CODECS) == sequencefiles.CODECS
    assert set(sequencefiles.FORMS) <= {name.split("/")[0] for name in sequencefiles.files()}


@pytest.mark.parametrize("name", _codecs._CODECS)
def test_a_codec_has_a_row_of_the_page_and_an_extra(name):
    class_name, _ = _codecs._CODECS[name]
    row = re.search(rf"^\| `{name}` \| `([\w.]+)`.* \| (.*) \|$", (ROOT / "docs/sequencefile.md").read_text(), re.M)
    assert row and class_name.endswith(row[1])
    assert ("read only" in row[0]) == (name not in WRITTEN)
    extras = re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(), re.M)
    assert row[2].startswith(f"`typedbytes[{name}]`") if name in extras else row[2] == "none"


@pytest.mark.parametrize("name", WRITTEN)
def test_a_codec_that_can_be_written_is_offered(name):
    texts = [good("loadtb", "--help").decode(), good("convert", "--help").decode(), sequencefile.Writer.__doc__]
    texts.append((ROOT / "docs/spark.md").read_text())
    assert all(re.search(rf"\b{name}\b", text) for text in texts)
