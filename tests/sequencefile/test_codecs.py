"""A codec is one row of sequencefile/_codecs.py; here is what else a new one needs, each failing until it is there."""

import random
import re
import sys
import zlib
from pathlib import Path

import pytest
from isal import isal_zlib

import typedbytes as tb
from fuzz.guard import Guard
from support import sequencefiles
from support.commands import good
from support.subprocess_runs import run_fresh
from support.vectors import outcome
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


def by_zlib(name, monkeypatch):
    """Return the codec as it is without isal."""
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "isal", None)
        return _codecs.find(name)


def compressed_data(name):
    """Yield blocks as zlib writes them, in all its ways, and damaged ones; on both sides of the size for isal."""
    r = random.Random(0)
    wbits = {"default": 15, "gzip": 31}[name]
    for _ in range(2000):
        data = bytes(r.choices(b"abcdefgh\0\xff", k=r.randrange(8000))) + bytes(r.randrange(300))
        stream = zlib.compressobj(r.randrange(10), wbits=wbits, strategy=r.randrange(5))
        block = bytearray(stream.compress(data) + stream.flush())
        if r.random() < 0.2:
            block = block * 2
        yield bytes(block)
        yield bytes(block) + r.randbytes(r.randrange(8))
        block[r.randrange(4)] ^= r.randrange(256)
        yield bytes(block)
        for _ in range(r.randrange(4)):
            block[r.randrange(len(block))] ^= 1 << r.randrange(8)
        yield bytes(block[: r.choice([r.randrange(len(block)), len(block)])])


@pytest.mark.parametrize("name", ["default", "gzip"])
def test_isal_and_zlib_make_the_same_of_all_bytes(name, monkeypatch):
    """And isal reads nothing after them: the next page cannot be touched."""
    slow, edge = by_zlib(name, monkeypatch).decompress, Guard()
    fast, seen = _codecs.find(name).decompress, set()
    for data in compressed_data(name):
        limit = random.Random(len(data)).choice([100, 1 << 20])
        expected = outcome(lambda data, limit=limit: slow(data, limit), data)
        assert outcome(lambda data, limit=limit: fast(data, limit), edge.put(data)) == expected, data.hex()
        seen.add((expected[0], len(data) < _codecs._MIN_ISAL_NBYTES))
    assert len(seen) >= 4


@pytest.mark.parametrize("error", ['ImportError("libisal.so.2")', "ModuleNotFoundError"], ids=["broken", "missing"])
def test_without_isal_there_is_zlib(tmp_path, error):
    (tmp_path / "isal").mkdir()
    (tmp_path / "isal/__init__.py").touch()
    (tmp_path / "isal/isal_zlib.py").write_text(f"raise {error}")
    check = f"""
        import sys, zlib
        sys.path.insert(0, {str(tmp_path)!r})
        from typedbytes.sequencefile import _codecs
        data = bytes(range(256)) * 9
        assert _codecs.find("default").decompress(zlib.compress(data), 9999) == data
        assert "isal.isal_zlib" not in sys.modules
    """
    run_fresh(check)


def test_isal_decompresses_blocks_and_zlib_short_values(monkeypatch):
    calls, start = [], isal_zlib.decompressobj
    monkeypatch.setattr(isal_zlib, "decompressobj", lambda wbits: calls.append(wbits) or start(wbits))
    for name, wbits in (("default", 15), ("gzip", 31)):
        codec = _codecs.find(name, to_write=True)
        for data in (b"a" * 1000, bytes(range(256)) * 4 + random.Random(0).randbytes(1000)):
            assert codec.decompress(codec.compress(data), 1 << 20) == data
        assert calls.pop() == wbits and not calls
