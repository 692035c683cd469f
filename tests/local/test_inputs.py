"""What a job on this machine reads: damage in compressed files, which files a pattern means, and what a path means."""

import bz2
import gzip
import lzma
import os
import zlib

import pytest

from support.local_jobs import pairs_of, run, write_script
from typedbytes import local, sequencefile
from typedbytes._base.zstd import zstd

COMPRESS = [gzip.compress, bz2.compress, lzma.compress, zstd.compress]


@pytest.mark.parametrize("compress", COMPRESS, ids=lambda function: function.__module__)
def test_damage_after_the_first_stream_of_a_file_fails_the_job(compress, tmp_path):
    first, second = compress(b"one\n"), compress(b"two\n")
    for following in (
        b"no such thing",
        b"\1" + second[1:],
        second[:8] + b"\xff" * 8 + second[16:],
        second[: len(second) // 2],
    ):
        (tmp_path / "in").write_bytes(first + following)
        with pytest.raises(local.JobError, match=r"reading the input failed: .* at offset [4-7]\b"):
            local.run("cat", inputs=tmp_path / "in", output=tmp_path / "out", quiet=True)
        assert os.listdir(tmp_path) == ["in"]


@pytest.mark.parametrize("compress", COMPRESS, ids=lambda function: function.__module__)
def test_all_streams_of_a_file_and_the_zeros_after_them_are_read(compress, tmp_path):
    (tmp_path / "in").write_bytes(compress(b"one\n") + compress(b"two\n") + bytes(8))
    local.run("cat", inputs=tmp_path / "in", output=tmp_path / "out", quiet=True)
    assert pairs_of(tmp_path / "out") == [(0, "one"), (4, "two")]


def test_small_text_of_hadoops_default_codec_is_not_lines(tmp_path):
    """Without a NUL, zlib's bytes could be text in some encoding."""
    texts = (
        "".join(f"{number}\tword {number * 7919 % 1000}\n" for number in range(start, start + 20)).encode()
        for start in range(500)
    )
    found = [text for text in texts if b"\0" not in zlib.compress(text)]
    assert len(found) > 50
    (tmp_path / "in").mkdir()
    for number, text in enumerate(found[:10]):
        (tmp_path / "in" / f"{number}.deflate").write_bytes(zlib.compress(text))
    for input_format in ("auto", "text"):
        local.run("cat", inputs=tmp_path / "in", output=tmp_path / input_format, input_format=input_format, quiet=True)
        lines = [line for _, line in pairs_of(tmp_path / input_format)]
        assert sorted(lines) == sorted(b"".join(found[:10]).decode().splitlines())


@pytest.mark.parametrize("suffix", ["lzo", "Z"])
def test_text_of_a_compression_that_is_not_known_is_refused_by_its_name(suffix, tmp_path):
    path = tmp_path / f"in.{suffix}"
    path.write_bytes(b"\xf1 could be\na text\n")
    for input_format in ("auto", "text"):
        with pytest.raises(
            local.InputError, match=f"in.{suffix}: expected text, found a name that ends in .{suffix}, a compression"
        ):
            local.run("cat", inputs=path, output=tmp_path / "out", input_format=input_format, quiet=True)


@pytest.mark.parametrize("suffix", ["snappy", "lz4", "lzo", "lzo_deflate", "Z"])
def test_a_sequence_file_may_have_the_suffix_of_a_compression(suffix, tmp_path):
    path = tmp_path / f"in.{suffix}"
    with sequencefile.open(path, "w") as file:
        file.write("a", 1)
    local.run("cat", inputs=path, output=tmp_path / "out", quiet=True)
    assert pairs_of(tmp_path / "out") == [("a", 1)]


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst", "deflate"])
def test_an_empty_file_has_no_lines_however_it_is_called(suffix, tmp_path):
    (tmp_path / f"in.{suffix}").touch()
    local.run("cat", inputs=tmp_path / f"in.{suffix}", output=tmp_path / "out", quiet=True)
    assert pairs_of(tmp_path / "out") == []


@pytest.mark.parametrize(
    ("pattern", "names"),
    [("*", ["a", "b"]), ("*a*", ["a"]), ("_*", ["_SUCCESS"]), (".a*", [".a.crc"]), ("?SUCCESS", None)],
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


def test_a_path_means_what_it_means_to_the_system(tmp_path, monkeypatch):
    """`link/..` is the parent of what the link leads to."""
    (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "link").symlink_to(tmp_path / "elsewhere" / "deep")
    for folder in ("elsewhere", "here"):
        (tmp_path / folder / "in.txt").write_text(f"{folder}\n")
        write_script(
            tmp_path / folder,
            f"from typedbytes import streaming\nstreaming.run(lambda key, value: [({folder!r}, value)])",
        )
    monkeypatch.chdir(tmp_path / "here")
    run("link/../job.py", "link/../in.txt", "link/../out", files=["link/../in.txt#shipped"])
    assert pairs_of(tmp_path / "elsewhere" / "out") == [("elsewhere", "elsewhere")]
    assert sorted(os.listdir(tmp_path / "here")) == ["in.txt", "job.py", "link"]
    assert sorted(os.listdir(tmp_path / "elsewhere")) == ["deep", "in.txt", "job.py", "out"]


@pytest.mark.parametrize("output", ["", "dangling", "dangling/", "."])
def test_an_output_that_cannot_be_is_an_error_before_the_job(tmp_path, monkeypatch, output):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "in.txt").write_text("a\n")
    phases = []
    with pytest.raises(local.OutputError, match="already exists|the output is an empty path"):
        local.run(
            "cat", inputs="in.txt", output=output, quiet=True, progress=lambda phase, done, total: phases.append(phase)
        )
    assert phases == [] and sorted(os.listdir(tmp_path)) == ["dangling", "in.txt"]
