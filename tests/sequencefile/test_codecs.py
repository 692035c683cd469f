"""A codec is one row of sequencefile/_codecs.py; here is what else a new one needs, each failing until it is there."""

import re
from pathlib import Path

import pytest

import typedbytes as tb
from support import sequencefiles
from support.commands import good
from typedbytes import sequencefile
from typedbytes._base.zstd import zstd
from typedbytes.sequencefile import _codecs

pytestmark = pytest.mark.lowest

ROOT = Path(__file__).resolve().parents[2]


def names(*, to_write):
    """Return the codecs that the error for an unknown one offers."""
    with pytest.raises(tb.FormatError) as caught:
        _codecs.find("?", to_write=to_write)
    return re.search("known: (.*), class names", str(caught.value))[1].split(", ")


NAMES, WRITTEN = names(to_write=False), names(to_write=True)


def test_hadoops_files_of_every_codec_are_read():
    """test_vectors/java makes these files; test_vectors.py and test_hadoop.py run over the list."""
    assert sequencefiles.CODECS == NAMES
    assert set(sequencefiles.FORMS) <= {name.split("/")[0] for name in sequencefiles.files()}


@pytest.mark.parametrize("name", NAMES)
def test_a_codec_has_a_row_of_the_page_and_an_extra(name):
    row = re.search(rf"^\| `{name}` \| `([\w.]+)`.* \| (.*) \|$", (ROOT / "docs/sequencefile.md").read_text(), re.M)
    assert row and _codecs.find(name).class_name.endswith(row[1])
    assert ("read only" in row[0]) == (name not in WRITTEN)
    extras = re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(), re.M)
    assert row[2].startswith(f"`typedbytes[{name}]`") if name in extras else row[2] == "none"


def test_each_value_is_a_frame_of_zstandard_by_itself():
    compress = _codecs.find("zstd", to_write=True).compress
    for data in (b"", b"a" * 10, bytes(range(256)) * 1000, memoryview(b"abc" * 100_000), b"a" * 10):
        assert compress(data) == zstd.compress(data)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_codec_that_can_be_written_is_offered(name):
    texts = [good("loadtb", "--help").decode(), good("convert", "--help").decode(), sequencefile.Writer.__doc__]
    texts.append((ROOT / "docs/spark.md").read_text())
    assert all(re.search(rf"\b{name}\b", text) for text in texts)
