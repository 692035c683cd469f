"""What readers and writers open by themselves: compressed files, URLs; what they leave closed."""

import bz2
import gzip
import lzma
import os
import pickle

import pytest

import typedbytes as tb
from support.subprocess_runs import lowest_free_descriptor, run_fresh
from typedbytes import columns, sequencefile
from typedbytes._base.zstd import zstd

pytestmark = pytest.mark.quick

COMPRESS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": zstd.compress}
PAIRS = [(f"word {number}", number) for number in range(20_000)]
DATA = tb.Encoder().encode_pairs(PAIRS)


@pytest.fixture(params=COMPRESS)
def packed(request, tmp_path):
    """Return the path of a compressed file."""
    path = tmp_path / "part-00000"
    path.write_bytes(COMPRESS[request.param](DATA))
    return path


def test_a_compressed_file_is_read_by_its_path(packed):
    free = lowest_free_descriptor()
    with tb.PairReader(packed) as reader:
        assert list(reader) == PAIRS
        assert reader.offset == len(DATA)
    assert list(tb.iter_load(str(packed)))[::2] == [key for key, _ in PAIRS]
    assert tb.load(packed) == PAIRS[0][0]
    assert sum(len(batch) for batch in columns.read(packed, pairs=True)) == len(PAIRS)
    assert lowest_free_descriptor() == free


def test_damage_of_a_compressed_file_is_a_decode_error(packed):
    packed.write_bytes(packed.read_bytes()[:-100])
    with pytest.raises(tb.TruncatedError, match="data ends early at offset"):
        list(tb.Reader(packed))


@pytest.mark.parametrize("reader", [tb.Reader, tb.PairReader, tb.iter_load])
def test_an_error_in_a_file_names_the_file(tmp_path, reader):
    path = tmp_path / "part-00000.tb"
    path.write_bytes(DATA[:100])
    with pytest.raises(tb.TruncatedError) as caught, reader(path) as records:
        list(records)
    assert os.fspath(caught.value.filename) == str(path)
    assert str(caught.value).startswith(f"{path}: input ends inside ")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.offset) == (str(caught.value), 100)
    with open(path, "rb") as file, pytest.raises(tb.TruncatedError) as caught:
        list(reader(file))
    assert caught.value.filename is None
    assert str(caught.value).startswith("input ends inside ")


def test_an_error_in_a_compressed_file_names_the_file(packed):
    packed.write_bytes(COMPRESS["gzip"](DATA[:100]))
    with pytest.raises(tb.TruncatedError, match="part-00000: input ends inside "), tb.Reader(packed) as records:
        list(records)


def test_a_file_that_only_starts_alike_comes_as_it_is(tmp_path):
    values = [tb.Ext(ord("B"), b"Zh91AY")]
    assert tb.dump_all(values, tmp_path / "a.tb") == 1
    with tb.Reader(tmp_path / "a.tb") as reader:
        assert list(reader) == values


def test_a_pipe_is_not_waited_for(tmp_path):
    """Reading the first byte would wait for it."""
    os.mkfifo(tmp_path / "pipe")
    source = os.open(tmp_path / "pipe", os.O_RDWR)
    try:
        with tb.Reader(tmp_path / "pipe") as reader:
            os.write(source, tb.dumps(True))
            assert reader.read() is True
    finally:
        os.close(source)


def test_urls(tmp_path):
    url = f"file://{tmp_path}/a.tb"
    assert tb.dump_all([1, 2], url) == 2
    assert (tmp_path / "a.tb").read_bytes() == tb.Encoder().encode_all([1, 2])
    with tb.Reader(url) as reader:
        assert list(reader) == [1, 2]
    (tmp_path / "a.tb").write_bytes(gzip.compress(DATA))
    assert list(tb.PairReader(url)) == PAIRS
    with pytest.raises(ValueError, match="Protocol not known: nosuch"):
        tb.Reader("nosuch://a/b")


def test_a_library_that_is_missing(tmp_path):
    (tmp_path / "a.zst").write_bytes(zstd.compress(DATA))
    code = f"""
        import sys, typedbytes as tb
        sys.modules["compression"] = sys.modules["backports"] = sys.modules["fsspec"] = None
        for path in ({str(tmp_path / "a.zst")!r}, "s3://bucket/key"):
            try:
                tb.Reader(path)
            except ModuleNotFoundError as error:
                print(error)
    """
    first, second = run_fresh(code).splitlines()
    assert first.startswith("zstd needs the library ") and first.endswith("pip install 'typedbytes[zstd]'")
    assert second == "a URL needs the library fsspec: pip install 'typedbytes[fsspec]'"


def test_what_is_not_needed_is_not_imported(tmp_path):
    tb.dump(1, tmp_path / "a.tb")
    code = f"""
        import sys, typedbytes as tb
        print(tb.load({str(tmp_path / "a.tb")!r}))
        parts = "typedbytes._base.", "typedbytes.sequencefile", "fsspec"
        print([name for name in sys.modules if name.startswith(parts)])
    """
    assert run_fresh(code) == "1\n[]"


@pytest.mark.parametrize(
    "open_writer, read",
    [(tb.PairWriter, tb.PairReader), (sequencefile.Writer, sequencefile.Reader)],
    ids=["typed bytes", "SequenceFile"],
)
def test_a_block_that_fails_leaves_the_records_before_it_as_documented(tmp_path, open_writer, read):
    with pytest.raises(ZeroDivisionError), open_writer(tmp_path / "a") as writer:
        writer.write("a", 1)
        raise ZeroDivisionError
    with read(tmp_path / "a") as reader:
        assert writer.closed and list(reader) == [("a", 1)]
    for documented in open_writer, tb.Writer:
        if documented is not tb.PairWriter:  # its options are those of Writer
            assert "exception" in documented.__doc__ and "os.replace" in documented.__doc__
