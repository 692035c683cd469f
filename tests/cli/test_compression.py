"""Compressed inputs of the command: the files of four other programs' libraries, whole, in pieces, cut and damaged."""

import bz2
import functools
import gzip
import io
import itertools
import json
import lzma
import os
import random
import subprocess
import sys
import zlib

import pytest

import typedbytes as tb
from support.commands import LINES, STREAM, bad, good, run
from support.sequencefiles import files
from typedbytes import local, sequencefile
from typedbytes._base.compression import decompressed
from typedbytes._base.zstd import zstd
from typedbytes.sequencefile import Writer, _codecs, _native

pytestmark = pytest.mark.lowest

COMPRESS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": zstd.compress}
KINDS = list(COMPRESS)

WORDS = random.Random(1).choices(["a", "bee", "sea", "deep"], k=40_000)
NUMBERS = {word: random.Random(word).random() for word in WORDS[:100]}
PAIRS = tb.Encoder().encode_pairs([(word, NUMBERS[word]) for word in WORDS])


class Pipe(io.RawIOBase):
    """Give a few bytes at a time."""

    def __init__(self, data, most):
        self._file = io.BytesIO(data)
        self._most = most

    def readable(self):
        return True

    def readinto(self, target):
        piece = self._file.read(min(self._most, len(target)))
        target[: len(piece)] = piece
        return len(piece)


@functools.cache
def packed_pairs(kind):
    return COMPRESS[kind](PAIRS)


def read(data, most=1 << 20, wanted=1 << 17):
    source = decompressed(Pipe(data, most))
    return b"".join(iter(lambda: source.read(wanted), b""))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("most, wanted", [(1 << 20, 1 << 17), (7, 1000), (1000, 7)])
def test_all_comes_out(kind, most, wanted):
    packed = packed_pairs(kind)
    assert read(packed, most, wanted) == PAIRS
    assert decompressed(io.BytesIO(packed)).read(5) == PAIRS[:5]
    several = packed + COMPRESS[kind](b"") + COMPRESS[kind](b"more") + bytes(1000)
    assert read(several, most, wanted) == PAIRS + b"more"
    assert read(COMPRESS[kind](b"")) == b""


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_is_reported_at_every_offset(kind):
    packed = COMPRESS[kind](PAIRS[:200])
    for end in range(10, len(packed)):
        with pytest.raises(tb.TruncatedError, match=f"{kind} data ends early at offset"):
            read(packed[:end])
    with pytest.raises(tb.FormatError, match=f"damaged {kind} data: .* at offset 200"):
        read(packed + b"no more of it")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("trailer", [b"", bytes(5)], ids=["inside", "after"])
def test_a_pipe_that_does_not_wait_is_not_at_its_end(kind, trailer):
    packed = COMPRESS[kind](STREAM)
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with open(reading, "rb", buffering=0) as pipe, open(writing, "wb", buffering=0) as sender:
        sender.write(packed + trailer if trailer else packed[:30])
        source = decompressed(pipe)
        found = source.read(len(STREAM)) if trailer else b""
        for _ in range(2):
            with pytest.raises(BlockingIOError, match="the source must be in blocking mode"):
                for byte in iter(lambda: source.read(1), b""):
                    found += byte
        sender.write(b"" if trailer else packed[30:])
        sender.close()
        assert found + source.read() == STREAM


def test_a_pipe_that_does_not_wait_before_its_first_bytes():
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with open(reading, "rb", buffering=0) as pipe, open(writing, "wb", buffering=0):
        with pytest.raises(BlockingIOError, match="the source must be in blocking mode"):
            decompressed(pipe)


@pytest.mark.parametrize("kind", KINDS)
def test_little_input_makes_much_output_a_piece_at_a_time(kind):
    source = decompressed(io.BytesIO(COMPRESS[kind](bytes(20_000_000))))
    assert len(source.read(1000)) <= 1000
    assert 0 < len(source.read(100_000)) <= 100_000


@pytest.mark.parametrize("data", [b"", b"\x1f", b"BZh9", b"BZh91AY", b"BZ", b"\x28\xb5\x2f", b"\xfd7zXZ", STREAM])
def test_what_only_starts_alike_comes_as_it_is(data):
    assert read(data) == data
    assert decompressed(io.BytesIO(data)).read() == data


@pytest.mark.parametrize("kind", KINDS)
def test_commands_take_compressed_inputs(kind, file):
    packed = file(packed_pairs(kind), "a.tb")
    assert good("cat", packed) == PAIRS
    assert good("count", stdin=COMPRESS[kind](STREAM)) == b"4\n"
    (row,) = map(json.loads, good("sniff", packed).splitlines())
    assert (row["compressed"], row["format"], row["holds"]) == (kind, "typedbytes", "pairs, it seems")


def test_every_format_may_be_compressed(file):
    container = io.BytesIO()
    with Writer(container, key_class="Text", value_class="Text") as writer:
        writer.write("a", "b")
    packed = file(gzip.compress(container.getvalue()), "part-00000.gz")
    expected = tb.Encoder().encode_pairs([("a", "b")])
    assert good("cat", packed) == good("sort", packed) == good("dumptb", packed) == expected
    assert good("from-json", stdin=bz2.compress(LINES)) == good("cat", stdin=gzip.compress(LINES)) == STREAM


def test_deflate_is_known_by_its_name(tmp_path):
    """Zlib's format has no signature, and Hadoop's DefaultCodec goes by the name."""
    path = tmp_path / "a.deflate"
    for level in range(10):
        path.write_bytes(zlib.compress(PAIRS, level))
        with tb.PairReader(path) as reader:
            assert list(reader) == tb.Decoder().decode_pairs(PAIRS)
    assert good("cat", path) == good("cat", f"file://{path}") == PAIRS
    assert json.loads(good("sniff", path))["compressed"] == "deflate"
    path.write_bytes(zlib.compress(b"one\ntwo\n"))
    assert good("from-text", path) == good("from-text", stdin=b"one\ntwo\n")
    path.write_bytes(zlib.compress(LINES)[:-1])
    assert "deflate data ends early" in bad(65, "cat", path)[1]
    for data in (STREAM, LINES, b"", b"\x78"):  # what is not zlib's keeps its meaning
        path.write_bytes(data)
        assert run("cat", path).stdout == run("cat", stdin=data).stdout
    path.write_bytes(b"text\n")
    assert good("from-text", path) == good("from-text", stdin=b"text\n")


def written_by_hadoop(codec):
    """Return (compressed, contents) of what Hadoop's codec of this name has written into SequenceFiles."""
    found = []

    def keeping(name):
        decompress = _codecs.find(name).decompress

        def decompress_and_keep(data, limit):
            contents = decompress(data, limit)
            found.append((bytes(data), contents))
            return contents

        return decompress_and_keep

    for name, data in files().items():
        if name.startswith(f"{codec}-"):
            list(_native.Reader(data, find_codec=keeping, raw=True))
    return found


CHUNKED = {"snappy": ".snappy", "lz4": ".lz4", "lzo": ".lzo_deflate"}


@pytest.mark.parametrize("codec", CHUNKED)
def test_files_that_hadoops_other_codecs_have_written_whole(codec, tmp_path):
    """By the name, as CompressionCodecFactory: their chunks have no signature."""
    samples = written_by_hadoop(codec)
    assert len(samples) > 20
    for data, contents in samples:
        for most in (1, 3, 1 << 20):
            source = io.BufferedReader(decompressed(Pipe(data, most), f"part-0{CHUNKED[codec]}"), 16)
            assert source.read() == contents
        nblocks = 0
        for cut in range(1, len(data)):
            try:
                part = decompressed(io.BytesIO(data[:cut]), f"part-0{CHUNKED[codec]}").readall()
            except tb.TruncatedError as error:
                assert codec in str(error)
            else:  # between two blocks, as Hadoop too takes it for the end
                nblocks += 1
                assert part == contents[: len(part)] != contents
        assert nblocks <= len(data) // 1000
    assert decompressed(io.BytesIO(b""), f"part-0{CHUNKED[codec]}").readall() == b""


@pytest.mark.parametrize("codec", ["snappy", "lz4"])
def test_every_reader_goes_by_the_name_of_hadoops_codec(codec, tmp_path):
    compress = _codecs.find(codec).compress
    text, path = b"".join(b"%d\tline %d\n" % (n, n) for n in range(50000)), tmp_path / f"part-00000{CHUNKED[codec]}"
    path.write_bytes(compress(text[: len(text) // 2]) + compress(text[len(text) // 2 :]))
    assert good("from-text", path) == good("from-text", stdin=text)
    assert good("from-text", "--pairs", path) == good("from-text", "--pairs", stdin=text)
    assert json.loads(good("sniff", path))["compressed"] == codec
    local.run("cat", inputs=path, output=tmp_path / "out", quiet=True)
    assert len(list(sequencefile.read(tmp_path / "out"))) == 50000
    path.write_bytes(compress(PAIRS))
    assert good("cat", path) == good("cat", f"file://{path}") == PAIRS
    with tb.PairReader(path) as reader:
        assert list(reader) == tb.Decoder().decode_pairs(PAIRS)
    path.write_bytes(compress(PAIRS)[:-1])
    assert f"{codec} data: compressed data ends inside a chunk" in bad(65, "cat", path)[1]
    path.write_bytes(gzip.compress(PAIRS))  # its name says another codec
    assert "gzip" in bad(65, "cat", path)[1]
    path.write_bytes(b"\xff\x06\0\0sNaPpY" + bytes(20))
    message = bad(65, "cat", path)[1]
    assert "expected the chunks of Hadoop's codec, found snappy data in a format of its own" in message


def test_a_sequence_file_keeps_its_meaning_whatever_its_name(tmp_path):
    for suffix in (".snappy", ".lz4", ".lzo_deflate"):
        path = tmp_path / f"part-00000{suffix}"
        path.write_bytes(files()["none/text-int"])
        assert int(good("count", path)) > 0 and json.loads(good("sniff", path))["format"] == "sequencefile"


def test_lines_of_a_compression_that_is_not_known_are_refused(tmp_path):
    path = tmp_path / "a.Z"
    path.write_bytes(b"could be text\n")
    for options in ((), ("--csv",), ("--tsv", "--infer")):
        stdout, message = bad(65, "from-text", *options, path)
        assert stdout == b""
        assert message.startswith(
            f"{path}: expected text, found a name that ends in .Z, a compression that is not known"
        )


# frames of RFC 8878
SKIPPABLE = [bytes([first]) + b"\x2a\x4d\x18" + b"\x03\x00\x00\x00abc" for first in range(0x50, 0x60)]


@pytest.mark.parametrize("frame", SKIPPABLE, ids=lambda frame: f"{frame[0]:x}")
def test_zstandard_may_start_with_a_frame_to_skip(frame, file):
    packed = frame + zstd.compress(PAIRS)
    assert read(packed) == read(frame + packed, 7, 1000) == PAIRS and read(frame) == b""
    with tb.PairReader(file(packed, "a.tb")) as reader:
        assert list(reader) == tb.Decoder().decode_pairs(PAIRS)
    with pytest.raises(tb.DecodeError, match="this looks like zstd data"):
        tb.loads(packed)


def test_commands_take_zstandard_that_starts_with_a_frame_to_skip(file):
    packed = file(SKIPPABLE[0] + zstd.compress(PAIRS), "p.zst")
    assert good("count", "--pairs", packed) == b"40000\n"
    assert json.loads(good("sniff", packed))["compressed"] == "zstd"


@pytest.mark.parametrize("contents", [b"", b"ab"], ids=["nothing", "less"])
def test_a_frame_that_ends_before_its_size_is_damaged_whatever_the_reads(contents):
    # 2 MiB are declared, and the last block is empty: the program zstd says "Data corruption detected"
    block = (len(contents) << 3).to_bytes(3, "little") + contents
    frame = b"\x28\xb5\x2f\xfd\xa0" + (2 << 20).to_bytes(4, "little") + block + b"\1\0\0"
    for most, wanted in itertools.product((1, 7, 1 << 20), (1, 3, 1 << 17, 4 << 20)):
        with pytest.raises(tb.FormatError, match="damaged zstd data"):
            read(frame, most, wanted)
    with pytest.raises(tb.FormatError, match="damaged compressed data"):
        _codecs.find("zstd").decompress(frame, 1 << 30)


@pytest.mark.parametrize("code", range(0x50, 0x60))
def test_application_codes_of_the_frames_to_skip_are_typed_bytes(code, file):
    for payload in b"", b"*M\x18", bytes(0x2A4D):
        data = tb.dumps(tb.Ext(code, payload))
        assert read(data) == read(data, 1) == good("cat", stdin=data) == data
        with tb.Reader(file(data, f"{len(payload)}.tb")) as reader:
            assert list(reader) == [tb.Ext(code, payload)]


def test_damage(file):
    packed = gzip.compress(PAIRS)
    cut = file(packed[:-1000], "cut.gz")
    written, message = bad(65, "cat", "--pairs", cut)
    assert PAIRS.startswith(written) and len(written) > len(PAIRS) // 2
    assert message.startswith(f"{cut}: gzip data ends early at offset ")
    repaired = cut + ".tb"
    done = run("validate", "--pairs", "--repair", repaired, cut)
    assert done.returncode == 65 and json.loads(done.stdout)["faults"][0]["error"] == "TruncatedError"
    with open(repaired, "rb") as kept:
        assert kept.read() == written
    assert b'"fault": "bzip2 data ends early' in good("sniff", file(bz2.compress(PAIRS)[:100], "cut.bz2"))
    assert "damaged gzip data" in bad(65, "dumptb", "--resync", file(packed[:2] + bytes(30), "bad.gz"))[1]


def test_a_library_that_is_missing(file):
    packed = file(COMPRESS["zstd"](STREAM), "a.zst")
    script = (
        "import sys; sys.modules['compression'] = sys.modules['backports'] = None; from typedbytes.cli import main; "
        "sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run([sys.executable, "-c", script, "cat", packed], capture_output=True, text=True)
    assert done.returncode == 69 and done.stderr.endswith("pip install 'typedbytes[zstd]'\n")
