"""Records that are added to a file which may have been cut: they are read later, or nothing is written.

Here: the end of the file. Not here: what a file keeps, and splits of one that was added to (test_sequencefile.py).
"""

import io
import random
import uuid

import fsspec
import pytest

import typedbytes as tb
from support.commands import run
from typedbytes import sequencefile
from typedbytes._base import locations
from typedbytes.sequencefile import _append

TEXT_INT = {"key_class": "Text", "value_class": "IntWritable"}
FORMS = [("none", None), ("record", "gzip"), ("block", "gzip")]
PAIRS = [("a", 1), ("b", 2), ("c" * 30, 3), ("", 4), ("e", 5)]
DAMAGED = (
    r"no records can be added to a damaged file \(typedbytes validate --repair OUT FILE copies the intact ones\): "
)


@pytest.fixture(params=FORMS, ids=lambda form: form[0])
def form(request):
    compression, codec = request.param
    return {**TEXT_INT, "compression": compression, "codec": codec}


def written(path, pairs, **how):
    with sequencefile.open(path, "w", **how) as writer:
        writer.writes(pairs)
    return path.read_bytes()


@pytest.mark.parametrize("sizes", [{}, {"sync_interval": 1, "block_size": 1}, {"sync_interval": 40, "block_size": 20}])
def test_of_a_file_that_is_cut_anywhere_records_are_read_or_none_are_added(tmp_path, form, sizes):
    path, nadded = tmp_path / "a.seq", 0
    data = written(path, PAIRS, **form, **sizes)
    start = sequencefile.Reader(data).offset
    for nbytes in range(start, len(data) + 1):
        path.write_bytes(data[:nbytes])
        try:
            pairs = sequencefile.Reader(data[:nbytes]).read_all()
        except tb.TruncatedError as error:
            with pytest.raises(tb.TruncatedError, match=DAMAGED + error.message) as caught:
                sequencefile.open(path, "a")
            assert (caught.value.offset, caught.value.record) == (error.offset, None)
            assert str(caught.value.filename) == str(path) and path.read_bytes() == data[:nbytes]
            continue
        with sequencefile.open(path, "a") as writer:
            writer.write("added", 6)
        assert list(sequencefile.read(path)) == [*pairs, ("added", 6)]
        nadded += 1
    assert 1 < nadded < (len(data) - start) / 4


def test_a_block_that_does_not_start_with_a_marker_is_found(tmp_path):
    data = written(tmp_path / "a.seq", PAIRS, **TEXT_INT, codec="gzip")
    (tmp_path / "a.seq").write_bytes(data + bytes(20))
    with pytest.raises(tb.FormatError, match=DAMAGED + "expected a sync marker at the start of a block"):
        sequencefile.open(tmp_path / "a.seq", "a")


def test_a_repaired_file_takes_records(tmp_path, form):
    path = tmp_path / "a.seq"
    path.write_bytes(written(path, PAIRS, **form, block_size=40)[:-3])
    assert run("validate", "--repair", path, path).returncode == 65
    with sequencefile.open(path, "a") as writer:
        writer.write("added", 6)
    assert list(sequencefile.read(path))[-1] == ("added", 6)


def test_at_a_url_it_is_the_same(form):
    url = f"memory://{uuid.uuid4()}"
    fs, name = fsspec.core.url_to_fs(url)
    sink = io.BytesIO()
    with sequencefile.Writer(sink, **form) as writer:
        writer.writes(PAIRS)
    fs.pipe_file(name, sink.getvalue()[:-1])
    with pytest.raises(tb.TruncatedError, match=DAMAGED):
        sequencefile.open(url, "a")
    assert fs.cat_file(name) == sink.getvalue()[:-1]


class CountingFile(io.FileIO):
    nread = 0

    def read(self, nbytes=-1):
        data = super().read(nbytes)
        CountingFile.nread += len(data)
        return data

    def readinto(self, target):
        nbytes = super().readinto(target)
        CountingFile.nread += nbytes or 0
        return nbytes


@pytest.mark.parametrize("sizes", [{"sync_interval": 2000}, {}, {"codec": "default", "block_size": 30_000}])
def test_the_file_is_read_from_its_last_marker_on(tmp_path, monkeypatch, sizes):
    path, generator = tmp_path / "a.seq", random.Random(1)
    pairs = [(number, generator.randbytes(100)) for number in range(30_000)]
    assert len(written(path, pairs, value_class="BytesWritable", **sizes)) > 3_000_000
    monkeypatch.setattr(locations, "opened", lambda file, mode: (CountingFile(file, mode), True))
    monkeypatch.setattr(CountingFile, "nread", 0)
    sequencefile.open(path, "a").close()
    assert 0 < CountingFile.nread < 500_000


@pytest.mark.parametrize("nbytes", [1, 20, 65_516, 65_517, 65_535, 65_536, 65_537, 200_000])
def test_a_long_last_record_is_found_from_the_marker_before_it(tmp_path, monkeypatch, nbytes):
    """The search goes back piece by piece, and a marker may be in two of them."""
    path = tmp_path / "a.seq"
    how = {"key_class": "NullWritable", "value_class": "BytesWritable"}
    data = written(path, [(None, b"x"), (None, bytes(nbytes))], sync_interval=1, **how)
    seen, last_marker = [], _append._last_marker
    monkeypatch.setattr(_append, "_last_marker", lambda *given: seen.append(last_marker(*given)) or seen[-1])
    sequencefile.open(path, "a").close()
    assert seen == [data.rindex(b"\xff\xff\xff\xff" + sequencefile.Reader(data).sync_marker, 0, -1)]
    path.write_bytes(data[:-21])
    with pytest.raises(tb.TruncatedError, match=DAMAGED):
        sequencefile.open(path, "a")
