"""Files that are written compressed because of their names: complete, or an error."""

import bz2
import errno
import gzip
import lzma
import os

import numpy
import pytest

import typedbytes as tb
from support.subprocess_runs import lowest_free_descriptor, run_fresh
from typedbytes import columns
from typedbytes._base.zstd import zstd

pytestmark = pytest.mark.quick

DECOMPRESS = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress, ".zst": zstd.decompress}
PAIRS = [(f"word {number}", number) for number in range(20_000)]
DATA = tb.Encoder().encode_pairs(PAIRS)


@pytest.fixture(params=DECOMPRESS)
def suffix(request):
    return request.param


def test_the_name_says_how_a_file_is_compressed(suffix, tmp_path):
    path, free = tmp_path / f"a.tb{suffix}", lowest_free_descriptor()
    with tb.PairWriter(path) as writer:
        writer.writes(PAIRS)
    assert DECOMPRESS[suffix](path.read_bytes()) == DATA
    assert list(tb.PairReader(path)) == PAIRS
    tb.dump(1, str(path))
    assert (tb.load(path), DECOMPRESS[suffix](path.read_bytes())) == (1, tb.dumps(1))
    assert tb.dump_all([], f"file://{path}") == 0
    assert (list(tb.Reader(path)), DECOMPRESS[suffix](path.read_bytes())) == ([], b"")
    columns.write(path, {"key": numpy.arange(3), "value": numpy.arange(3)})
    assert list(tb.PairReader(path)) == [(0, 0), (1, 1), (2, 2)]
    assert lowest_free_descriptor() == free


@pytest.mark.parametrize("name", ["a.deflate", "a.snappy", "a.lz4", "a.lzo_deflate", "a.lzo"])
def test_a_name_of_what_is_only_read_leaves_the_file(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"kept")
    for write in (
        lambda: tb.Writer(path),
        lambda: tb.PairWriter(str(path)),
        lambda: tb.PairWriter(f"file://{path}"),
        lambda: tb.dump(1, path),
        lambda: tb.dump_all([1], path),
        lambda: columns.write(path, {"key": numpy.arange(3), "value": numpy.arange(3)}),
    ):
        with pytest.raises(ValueError, match=rf"files named \{path.suffix} are read, not written: use \.gz, "):
            write()
    assert path.read_bytes() == b"kept"


def test_a_full_disk_is_an_error_of_each_call(suffix, tmp_path):
    path, free = tmp_path / f"full{suffix}", lowest_free_descriptor()
    path.symlink_to("/dev/full")
    writer = tb.Writer(path)
    # more than a compressor holds back
    for call in (lambda: writer.write(os.urandom(1 << 21)), writer.flush, writer.close):
        with pytest.raises(OSError) as caught:
            call()
        assert caught.value.errno == errno.ENOSPC
    assert writer.closed and lowest_free_descriptor() == free


def test_a_library_that_is_missing_leaves_the_file(tmp_path):
    (tmp_path / "a.zst").write_bytes(b"kept")
    code = f"""
        import sys, typedbytes as tb
        sys.modules["compression"] = sys.modules["backports"] = None
        try:
            tb.Writer({str(tmp_path / "a.zst")!r})
        except ModuleNotFoundError as error:
            print(error)
    """
    assert run_fresh(code).rstrip().endswith("pip install 'typedbytes[zstd]'")
    assert (tmp_path / "a.zst").read_bytes() == b"kept"


def test_a_forked_child_writes_nothing(suffix, tmp_path):
    path = tmp_path / f"a{suffix}"
    with tb.Writer(path) as writer:
        writer.write("before")
        writer.flush()
        child = os.fork()
        if not child:
            try:
                writer.write("of the child")
                writer.close()
            except OSError:
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
    assert list(tb.Reader(path)) == ["before"]


def test_a_writer_that_was_not_closed_ends_with_the_interpreter(suffix, tmp_path):
    path = tmp_path / f"a{suffix}"
    run_fresh(f"""
        import typedbytes as tb, warnings
        warnings.simplefilter("ignore")
        writer = tb.Writer({str(path)!r})
        writer.write("kept")
    """)
    assert list(tb.Reader(path)) == ["kept"]
