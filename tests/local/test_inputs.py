"""What a job on this machine reads: damage in compressed files, which files a pattern means, and what a path means."""

import bz2
import gzip
import io
import lzma
import os
import random
import zlib

import pytest

import typedbytes as tb
from support.local_jobs import pairs_of, run, write_script
from typedbytes import local, sequencefile
from typedbytes._base.zstd import zstd
from typedbytes.jobs.tasks.inputs import make_splits, open_split, with_raw_text
from typedbytes.jobs.tasks.map_task import feed_split
from typedbytes.jobs.tasks.processes import TaskError

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


def bzip2_of(ends, nlines=6000, seed=1):
    """Return a text of random lines, and one stream of several blocks of it."""
    rng = random.Random(seed)
    lines = (rng.randbytes(rng.randrange(60)).hex().encode() + rng.choice(ends) for _ in range(nlines))
    text = b"".join(lines)
    return text, bz2.compress(text, 1)


def lines_of(path, split_size):
    """Return the lines of each split of a file."""
    found = []
    for split in sorted(make_splits([str(path)], split_size=split_size), key=lambda split: split.start):
        sink = io.BytesIO()
        with open_split(split) as reader:
            reader.copy_to(sink)
        found.append([line for _, line in tb.PairReader(sink.getvalue())])
    return found


@pytest.mark.parametrize("ends", [[b"\n"], [b"\r\n", b"\n", b"\r"]], ids=["lf", "any"])
def test_each_line_of_a_bzip2_file_is_in_one_split(ends, tmp_path):
    text, data = bzip2_of(ends)
    path = tmp_path / "in.bz2"
    path.write_bytes(data)
    lines = text.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n")[:-1]
    for size in (3000, 40_000, 51_878, 51_879, len(data)):
        splits = lines_of(path, size)
        assert sum(splits, []) == lines
        assert sum(map(bool, splits)) >= min(len(data) // size, 4) - 1


def test_each_line_of_many_streams_is_in_one_split(tmp_path):
    """As pbzip2 and appending to a file make them."""
    rng = random.Random(3)
    texts = [b"%d " % n * rng.randrange(9) + rng.choice([b"\n", b"", b"\r", b"\r\n\n"]) for n in range(60)]
    path = tmp_path / "in.bz2"
    path.write_bytes(b"".join(map(bz2.compress, texts)) + bytes(8))
    text = b"".join(texts).decode().replace("\r\n", "\n").replace("\r", "\n")
    for size in (*range(1, 12), 40, 41, 100, 1000):
        assert sum(lines_of(path, size), []) == text.split("\n")[:-1] + [text.rpartition("\n")[2]][: text[-1] != "\n"]


def test_a_job_has_a_task_for_each_split_of_a_bzip2_file(tmp_path):
    text, data = bzip2_of([b"\n"])
    (tmp_path / "in.bz2").write_bytes(data)
    job = {"inputs": tmp_path / "in.bz2", "output": tmp_path / "out", "quiet": True, "split_size": 50_000}
    local.run("cut -f2", reducers=0, input_format="text", output_format="text", **job)
    parts = sorted((tmp_path / "out").glob("part-*"))
    assert len(parts) == -(-len(data) // 50_000)


@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda data: data[:60_000] + b"\xff" * 9 + data[60_009:], "damaged bzip2 data"),
        (lambda data: data[:-30], "bzip2 data ends early"),
        (lambda data: data[:-3], "bzip2 data ends early"),
        (lambda data: data + b"no such thing", "no other stream after the end of one"),
        (lambda data: b"abc" + data[3:], "expected bzip2 data"),
        (lambda data: data[:56_000] + bytes.fromhex("314159265359") * 40 + data[56_240:], "damaged bzip2 data"),
    ],
)
def test_a_damaged_bzip2_file_fails_the_job_however_it_is_cut(spoil, message, tmp_path):
    path = tmp_path / "in.bz2"
    path.write_bytes(spoil(bzip2_of([b"\n"])[1]))
    for size in (30_000, 70_000):
        with pytest.raises((OSError, tb.DecodeError), match=message):
            lines_of(path, size)


def test_a_marker_among_the_bits_of_a_block_does_not_end_it(monkeypatch, tmp_path):
    """One block in ten million has the 48 bits of a marker, so a shorter marker is looked for here."""
    from typedbytes._base import bzip2

    text, data = bzip2_of([b"\n"])
    at = data.index(b"\0", 60_000)
    extra = (True, 0, data[at + 1 : at + 6], 0xFF, data[at], 0, 0)
    monkeypatch.setattr(bzip2, "_PATTERNS", [*bzip2._PATTERNS, extra])
    (tmp_path / "in.bz2").write_bytes(data)
    assert sum(lines_of(tmp_path / "in.bz2", 100_000), []) == text.decode().splitlines()


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


def test_text_of_a_compression_that_is_not_known_is_refused_by_its_name(tmp_path):
    path = tmp_path / "in.Z"
    path.write_bytes(b"\xf1 could be\na text\n")
    for input_format in ("auto", "text"):
        with pytest.raises(local.InputError, match="in.Z: expected text, found a name that ends in .Z, a compression"):
            local.run("cat", inputs=path, output=tmp_path / "out", input_format=input_format, quiet=True)


@pytest.mark.parametrize("suffix", ["snappy", "lz4", "lzo", "lzo_deflate", "Z"])
def test_a_sequence_file_may_have_the_suffix_of_a_compression(suffix, tmp_path):
    path = tmp_path / f"in.{suffix}"
    with sequencefile.open(path, "w") as file:
        file.write("a", 1)
    local.run("cat", inputs=path, output=tmp_path / "out", quiet=True)
    assert pairs_of(tmp_path / "out") == [("a", 1)]


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst", "deflate", "lzo"])
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


@pytest.mark.parametrize("kind", ["text", "raw text", "csv", "pairs", "sequencefile", "file"])
@pytest.mark.parametrize("nbytes", ["none", "half", "without the last"])
def test_a_file_that_is_cut_after_its_splits_were_made_fails_the_task(kind, nbytes, tmp_path):
    """Where a record ends, so that only its length can tell."""
    path = tmp_path / "in"
    if kind == "sequencefile":
        with sequencefile.Writer(path, sync_interval=1000) as writer:
            ends = [(writer.write(n, "x" * 30), writer.flush(), path.stat().st_size)[2] for n in range(200)]
    else:
        record = bytes.fromhex("0300000001070000000161") if kind == "pairs" else b"one,two\n"
        path.write_bytes(record * 200)
        ends = [len(record) * (n + 1) for n in range(200)]
    read_as = "text" if kind == "raw text" else kind
    splits = make_splits([str(path)], read_as, 700, in_order=True)
    if kind == "raw text":
        splits = with_raw_text(splits)
    nread = sum(feed_split(split, io.BytesIO(), lambda position: None) for split in splits)
    assert nread == {"csv": 199, "file": 1}.get(kind, 200)
    cut_at = {"none": ends[0], "half": ends[100], "without the last": ends[-2]}[nbytes]
    os.truncate(path, cut_at)
    failed = []
    for split in splits:
        try:
            feed_split(split, io.BytesIO(), lambda position: None)
        except TaskError as error:
            assert "reading the input failed: the file ends before byte" in str(error)
            failed.append(split)
    assert failed == [split for split in splits if split.start + split.length > cut_at]


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


@pytest.mark.parametrize(("name", "given"), [("in.tb", "auto"), ("in.data", "pairs"), ("in.tb.gz", "pairs")])
@pytest.mark.parametrize("npairs", [0, 1, 10_000])
def test_compressed_pairs_are_whole_whatever_their_size(tmp_path, name, given, npairs):
    """The compressed length of few pairs is more than theirs, that of many less."""
    pairs = [(number, "text") for number in range(npairs)]
    (tmp_path / name).write_bytes(gzip.compress(b"".join(tb.dumps(item) for pair in pairs for item in pair)))
    (split,) = make_splits([str(tmp_path / name)], given)
    sink = io.BytesIO()
    with open_split(split) as reader:
        reader.copy_to(sink)
        assert reader.position <= split.length
    assert list(tb.PairReader(sink.getvalue())) == pairs
