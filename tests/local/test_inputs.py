"""What a job on this machine reads: damage in compressed files, which files a pattern means, and what a path means."""

import bz2
import gzip
import lzma
import os

import pytest

from local_jobs import pairs_of
from typedbytes import local
from typedbytes._zstd import zstd

COMPRESS = [gzip.compress, bz2.compress, lzma.compress, zstd.compress]


@pytest.mark.parametrize("compress", COMPRESS, ids=lambda function: function.__module__)
def test_damage_after_the_first_stream_of_a_file_fails_the_job(compress, tmp_path):
    first, second = compress(b"one\n"), compress(b"two\n")
    for following in (b"no such thing", b"\1" + second[1:], second[:8] + b"\xff" * 8 + second[16:], second[: len(second) // 2]):
        (tmp_path / "in").write_bytes(first + following)
        with pytest.raises(local.JobError, match=r"reading the input failed: .* at offset [4-7]\b"):
            local.run("cat", inputs=tmp_path / "in", output=tmp_path / "out", quiet=True)
        assert os.listdir(tmp_path) == ["in"]


@pytest.mark.parametrize("compress", COMPRESS, ids=lambda function: function.__module__)
def test_all_streams_of_a_file_and_the_zeros_after_them_are_read(compress, tmp_path):
    (tmp_path / "in").write_bytes(compress(b"one\n") + compress(b"two\n") + bytes(8))
    local.run("cat", inputs=tmp_path / "in", output=tmp_path / "out", quiet=True)
    assert pairs_of(tmp_path / "out") == [(0, "one"), (4, "two")]


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst"])
def test_an_empty_file_has_no_lines_however_it_is_called(suffix, tmp_path):
    (tmp_path / f"in.{suffix}").touch()
    local.run("cat", inputs=tmp_path / f"in.{suffix}", output=tmp_path / "out", quiet=True)
    assert pairs_of(tmp_path / "out") == []


@pytest.mark.parametrize(
    ("pattern", "names"), [("*", ["a", "b"]), ("*a*", ["a"]), ("_*", ["_SUCCESS"]), (".a*", [".a.crc"]), ("?SUCCESS", None)]
)
def test_patterns_leave_hidden_names_out_unless_they_start_so(tmp_path, pattern, names):
    (tmp_path / "in").mkdir()
    for name in ("a", "b", "_SUCCESS", ".a.crc"):
        (tmp_path / "in" / name).write_text(f"{name}\n")
    job = {"inputs": tmp_path / "in" / pattern, "output": tmp_path / "out", "quiet": True}
    if names is None:
        with pytest.raises(local.InputError, match=r"no such input: .*\?SUCCESS"):
            local.run("cat", "cat", **job)
    else:
        local.run("cat", "cat", **job)
        assert sorted(line for _, line in pairs_of(tmp_path / "out")) == names
