"""The legacy layouts against the bytes that the published programs write, by their digests.

The programs are those of bartdag/javapythonperfbench at commit 83535f4: `writeprotocolperf.py` under Python 3 with a
socket that records, `WriteProtocolApplication` under JDK 17, both with known bytes instead of random ones. Only `total`
was changed: its call of `encode_bytes_total` lacks `total=True` and fails as published. No layout may be compared with
our own idea of it alone: `header` once had decimal text in the specification, in both of our sides, in the reference
and in the baseline, and binary numbers in the original.
"""

import hashlib
import sys

import pytest

from support import block_peer, block_reference as slow
from support.block_calls import formatted
from typedbytes.block import BlockDecoder, BlockEncoder, BlockReader, Command

sys.path.append(str(block_peer.ROOT / "bench"))

import published_blocks  # noqa: E402

SIZES = (*range(11), "edges")
EDGES = [
    Command("a\\n"), "\\ \r\n \\n \u00e9\U0001f600\0", -(2**31), 2**31 - 1, -(2**63), 2**63 - 1,
    0.1, 1e16, 1e-7, -0.0, float("inf"), float("-inf"), float("nan"), b"", bytes(range(256)), "",
]  # fmt: skip

#: The start of the SHA-256 of each message, in the order of SIZES; 9 and 10 have 256 KiB and 1 MiB of bytes.
WRITTEN_BY_PYTHON = {
    "line": "a2bbdb2de53523b8 6d65ac958555839e 4d08d6edf825c50b 350ceca0a09c4a07 f97bcf5a7561967a 7be0bfc0299debbe "
            "ac4f4c1a820f3e45 acc69989a183b3eb 0bcdaad019591598 e0be9b873c997dd5 ffe89f4b15c86323 9dec4c95e550dcf3",
    "block": "df3f619804a92fdb 75b8e13f9b0c8983 d763412c02ca11b2 353b9f8798ca4339 971a96625d81b6cd d22efb5ec5e0971e "
             "97f5b9f5f0f00e37 a300249d3e6c147c 1c3fe32cdc691a31 8b916d7d3ae8f657 6c9d8759fd72b714 07886d8b497c5aba",
    "bytes": "df3f619804a92fdb 75b8e13f9b0c8983 d763412c02ca11b2 353b9f8798ca4339 ee3d65dcb1a0685b 5157bb8edababb69 "
             "70f0b940b99fd622 a300249d3e6c147c 1c3fe32cdc691a31 8b916d7d3ae8f657 6c9d8759fd72b714 5bea7bf23ad9d6d9",
    "type8": "df3f619804a92fdb ea02a3fd12c16c98 4a094a5435bc26cf 928be0fd4a5fa2dd f8e9dca3e6cb8af3 339be553bda7cef6 "
             "b3acde36f5263d61 ea8917a67e25e927 f500c08fe3b480ec a5c90c3a5e58143d b79a01c8e0b32d8c d574cab3a34603d6",
    "total": "525c3368aba80a60 5ce6dc16c0333613 d8cca19460622143 bbb839653133c375 76db1c0d4660fbfc 90f12489953cc6ff "
             "eac58cb727dba9fa baacdf89f0ae5d9d e4a494433cf86ad3 f1707cc345f3f406 d125b6d2c46d1620 37250f3a26e3daac",
    "header": "df3f619804a92fdb 75b8e13f9b0c8983 a6ccc4d4d6a181a3 6cc8ee98b48c1ccf 3929ece07c20afb2 600797d4ca1e0ea1 "
              "ab387e8fbf5de367 7801ad3ec606293a de81c5913b3470a6 2185d6299ec25c9f 8c83bba73330248e 56f4f4ba4a636b0a",
}  # fmt: skip

HEADER_4 = (
    "00000004 0000000200000001 0000000100000005 0000000300000004 0000000100000005 61 68656c6c6f d0f1db05 68656c6c6f"
)


def arguments(size):
    """Return what was sent."""
    return (
        EDGES
        if size == "edges"
        else slow.published(size, {9: bytes(range(256)) * 1024, 10: bytes(range(256)) * 4096}.get(size))
    )


def digest_of(wire, size):
    """Return the digest of a message that was published."""
    return WRITTEN_BY_PYTHON[wire].split()[SIZES.index(size)]


def start_of_digest(data):
    """Return as much of a digest as is kept here."""
    return hashlib.sha256(data).hexdigest()[:16]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("wire", slow.LAYOUTS)
def test_messages_have_the_published_bytes(wire, size):
    args = arguments(size)
    for data in (
        BlockEncoder(wire).encode(args),
        slow.encode(wire, args),
        b"".join(published_blocks.PARTS[wire](args)),
    ):
        assert start_of_digest(data) == digest_of(wire, size)
    (message,) = BlockDecoder(wire).feed(data)
    assert formatted(message) == formatted(args)
    assert [type(value) for value in message] == [type(value) for value in args]
    assert formatted(slow.decode(wire, data)[0][0][1]) == formatted(args)


def test_the_published_header():
    assert BlockEncoder("header").encode(slow.published(4)) == bytes.fromhex(HEADER_4)


#: Of the published Java writer, which spells doubles in lines in its own way.
EDGES_IN_LINES_BY_JAVA = "470b3b8627b63fb5"


@pytest.mark.hadoop
@pytest.mark.parametrize("wire", slow.LAYOUTS)
def test_java_writes_the_published_bytes_again(wire):
    with block_peer.peer("echo", wire) as sock:
        reader = BlockReader(sock, wire)
        for size in SIZES:
            args = arguments(size)
            data = BlockEncoder(wire).encode(args)
            sock.sendall(data)
            if size == "edges" and wire in ("line", "block"):
                assert formatted(reader.read()) == formatted(args)
            else:
                assert start_of_digest(reader.read_bytes(len(data))) == digest_of(wire, size)


@pytest.mark.hadoop
def test_java_writes_doubles_in_lines_as_the_published_java_does():
    with block_peer.peer("echo", "line") as sock:
        sock.sendall(BlockEncoder("line").encode(EDGES))
        lines = sock.makefile("rb")
        data = b"".join(iter(lines.readline, b"e\n")) + b"e\n"
        assert start_of_digest(data) == EDGES_IN_LINES_BY_JAVA
