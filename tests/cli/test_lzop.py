"""Files of lzop: those that lzop itself and aircompressor's codec in Hadoop wrote, whole, cut, damaged and hostile."""

import io
import json
import random
import subprocess
import sys
import tracemalloc
import zlib

import pytest
from lzallright import LZOCompressor

import typedbytes as tb
from support.commands import LINES, STREAM, good, rows
from support.local_jobs import pairs_of
from support.sequencefiles import files
from support.vectors import read_jsonl
from typedbytes import columns, local
from typedbytes._base.compression import decompressed
from typedbytes._base.lzop import LzopFile

NOISE = b"".join(((n * n * 2654435761) >> 7 & 0xFFFFFFFF).to_bytes(4, "big") for n in range(1, 200))
CONTENTS = {"empty": b"", "one": b"one line\n", "noise": NOISE, "lines": b"a line of text\n" * 20_000}
FILES = {(each["by"], each["contents"]): bytes.fromhex(each["hex"]) for each in read_jsonl("foreign/lzop/files.jsonl")}
READ = [key for key in FILES if key[0] != "lzop --filter=1"]
SMALL = [key for key in READ if len(FILES[key]) < 1000]
MAGIC = b"\x89LZO\0\r\n\x1a\n"
FLAGS = slice(17, 21)  # in a file


def contents_of(names):
    return b"".join(CONTENTS[name] for name in names.split())


def number(n):
    return n.to_bytes(4, "big")


def header(flags=1, more=b"", method=1, version=0x1040, needed=0x0940):
    """Return the header of a file without a name, with its checksum."""
    head = b"".join(n.to_bytes(2, "big") for n in (version, 0x20A0, needed))
    head += bytes([method, 5]) + number(flags) + bytes(12) + b"\0"
    return MAGIC + head + number(zlib.adler32(head)) + more


def block(data, compressed=None, length=None):
    """Return a block with the checksum of what it holds, stored where that is shorter."""
    packed = min(LZOCompressor().compress(data), data, key=len) if compressed is None else compressed
    return number(len(data) if length is None else length) + number(len(packed)) + number(zlib.adler32(data)) + packed


def read(data, most=None):
    source = LzopFile(io.BytesIO(data))
    return source.read() if most is None else io.BufferedReader(source, 16).read(most)


@pytest.mark.parametrize("key", READ, ids=" ".join)
def test_files_of_lzop_are_read_whatever_their_name(key):
    for name in ("", "part-00000.lzo", "part-00000.gz"):
        source = decompressed(io.BytesIO(FILES[key]), name)
        pieces = iter(lambda: source.read(70_001), b"")
        assert b"".join(pieces) == contents_of(key[1])
        assert source.kind == "lzop"


@pytest.mark.parametrize("key", SMALL, ids=" ".join)
def test_a_file_that_is_cut_anywhere_ends_early(key):
    data, contents = FILES[key], contents_of(key[1])
    assert read(b"") == b""
    for cut in range(1, len(data)):
        source, found = LzopFile(io.BytesIO(data[:cut])), b""
        with pytest.raises(tb.TruncatedError, match="lzop data: ") as caught:
            while piece := source.read(1000):
                found += piece
        assert contents.startswith(found) and caught.value.offset == len(found)


@pytest.mark.parametrize("key", [key for key in SMALL if key[0].startswith("lzop")], ids=" ".join)
def test_each_damaged_byte_is_detected(key):
    """lzop's checksums cover all of it, or lengths do not fit; aircompressor writes none of the blocks."""
    data = FILES[key]
    for at in range(len(data)):
        for change in (1, 0x80, 0xFF):
            with pytest.raises(tb.DecodeError):
                read(data[:at] + bytes([data[at] ^ change]) + data[at + 1 :])


@pytest.mark.parametrize("key", [key for key in READ if "-CC" in key[0] and key[1] == "lines"], ids=" ".join)
def test_the_checksum_of_compressed_bytes_is_checked(key):
    data = bytearray(FILES[key])
    data[200] ^= 1
    with pytest.raises(tb.FormatError, match=r"(adler|crc)32 of the compressed block is"):
        read(bytes(data))


def test_files_after_each_other_are_one():
    data = FILES["lzop", "lines"] + FILES["lzop -CC --crc32", "lines"] + FILES["lzop", "empty"] + FILES["lzop", "one"]
    assert read(data) == 2 * CONTENTS["lines"] + CONTENTS["one"]
    with pytest.raises(tb.FormatError, match="expected the magic number of lzop at offset 9"):
        read(FILES["lzop", "one"] + b"more")


def test_an_extra_field_is_passed():
    """`lzop -t` accepts the first, whose checksum covers the length, and refuses the second."""
    extra, rest = number(5) + b"extra", block(b"one line\n") + number(0)
    assert read(header(0x41, extra + number(zlib.adler32(extra)) + rest)) == b"one line\n"
    with pytest.raises(tb.FormatError, match="adler32 of the extra field"):
        read(header(0x41, extra + number(zlib.adler32(extra[4:])) + rest))


HOSTILE = {
    "filter": (FILES["lzop --filter=1", "lines"], "flags 0x0300080d of lzop are not known"),
    "flags": (header(0x4001), "flags 0x00004001 of lzop are not known"),
    "method": (header(method=128), "method 128 of lzop is not known"),
    "old": (header(version=0x0930), "version 0x0930 of lzop, which needs 0x0940, is not known"),
    "new": (header(version=0x2000, needed=0x2000), "version 0x2000 of lzop"),
    "large": (header(more=number(0xFFFFFFFF)), "block of 4294967295 bytes, more than the 67108864 of lzop"),
    "field": (header(0x41, number(0xFFFFFFFF)), "extra field of 4294967295 bytes"),
    "grown": (header(more=block(b"ab", b"abc")), "block of 2 bytes with 3 compressed bytes"),
    "none": (header(more=block(b"ab", b"")), "block of 2 bytes with 0 compressed bytes"),
    "short": (header(more=block(b"a" * 500, length=501)), "block of 501 bytes has 500"),
    "long": (header(more=block(b"a" * 500, length=499)), "damaged compressed data|block with 499"),
    "bytes": (header(more=block(b"a" * 99, b"\xff" * 50)), "damaged compressed data"),
    "sum": (header(more=number(2) + number(2) + number(7) + b"ab"), "adler32 of the block is 012600c4, not 00000007"),
}


def test_an_error_has_none_of_the_data():
    """A block that does not end where its length says."""
    packed = LZOCompressor().compress(bytes(4 << 20)) + b"\0" * 3
    with pytest.raises(tb.FormatError, match="damaged compressed data: ") as caught:
        read(header(0) + number(4 << 20) + number(len(packed)) + packed)
    assert len(str(caught.value)) < 300 and caught.value.__cause__ is None


@pytest.mark.parametrize("name", HOSTILE)
def test_what_lzop_cannot_have_written_is_refused(name):
    data, message = HOSTILE[name]
    with pytest.raises(tb.FormatError, match=message):
        read(data + number(0))


def test_declared_lengths_do_not_take_memory():
    data = header(more=number(64 << 20) + number(60 << 20) + number(0)) + bytes(1000)
    tracemalloc.start()
    with pytest.raises(tb.TruncatedError):
        read(data)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_random_compressed_bytes_give_data_or_an_error_of_it():
    rng = random.Random(11)
    packed = LZOCompressor().compress(b"a line of text\n" * 50 + NOISE)
    for _ in range(5000):
        data = bytearray(packed)
        for _ in range(rng.randrange(1, 9)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            found = read(header(0, number(1546) + number(len(data)) + bytes(data) + number(0)))
        except tb.DecodeError:
            continue
        assert len(found) == 1546


@pytest.fixture
def packed(tmp_path):
    def write(data, name="part-00000.lzo"):
        """Return the path of a file of lzop with this content."""
        blocks = [block(data[at : at + 1000]) for at in range(0, len(data), 1000)]
        path = tmp_path / name
        path.write_bytes(header() + b"".join(blocks) + number(0))
        return path

    return write


def test_commands_and_readers_take_files_of_lzop(packed):
    for name in ("a.tb.lzo", "a.tb"):
        path = packed(STREAM, name)
        assert good("cat", path) == good("cat", stdin=path.read_bytes()) == good("cat", f"file://{path}") == STREAM
        assert rows(good("sniff", path))[0]["compressed"] == "lzop"
        with tb.Reader(path) as reader:
            assert list(reader) == tb.Decoder().decode_all(STREAM)
    assert good("from-text", packed(LINES)) == good("from-text", stdin=LINES)
    path = packed(files()["none/text-int"])
    assert good("count", path) == good("count", stdin=files()["none/text-int"])
    with pytest.raises(tb.FormatError, match="a SequenceFile inside lzop data, to be decompressed first"):
        columns.read(path)


def test_jobs_take_text_of_lzop(packed, tmp_path):
    lines = b"".join(b"%d\tline %d\n" % (n, n) for n in range(500))
    for number_, path in enumerate([packed(lines), packed(lines, "in.txt")]):
        local.run("cat", inputs=path, output=tmp_path / f"out{number_}", quiet=True)
        assert [line for _, line in pairs_of(tmp_path / f"out{number_}")] == lines.decode().splitlines()
    path = tmp_path / "text.lzo"
    path.write_bytes(b"a line of text\n")
    with pytest.raises(local.JobError, match="expected the magic number of lzop"):
        local.run("cat", inputs=path, output=tmp_path / "bad", quiet=True)


def test_without_the_library_the_extra_is_named(packed):
    script = (
        "import sys; sys.modules['lzallright'] = None; from typedbytes.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    for words in (["cat", packed(STREAM)], ["from-text", packed(LINES)]):
        done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True)
        assert done.returncode == 69 and done.stderr.count("\n") == 1
        assert done.stderr.endswith("lzo needs the library lzallright: pip install 'typedbytes[lzo]'\n")


def test_sniff_says_what_is_inside(packed):
    found = json.loads(good("sniff", packed(files()["none/text-int"])))
    assert (found["format"], found["compressed"]) == ("sequencefile", "lzop")
